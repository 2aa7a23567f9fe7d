/* What the parts of the MJCF reader share. Private to the scene layer. */
#ifndef SAMEBIT_HOST_MJCF_H
#define SAMEBIT_HOST_MJCF_H

#include "scene.h"
#include "scene_tree.h"
#include "xml_input.h"

/* Elements whose attributes default classes can give. All actuator shortcuts share one. */
typedef enum mjcf_kind { MJCF_NONE, MJCF_GEOM, MJCF_JOINT, MJCF_PAIR, MJCF_ACTUATOR, MJCF_EQUALITY, MJCF_TENDON, MJCF_SITE } mjcf_kind;

typedef enum mjcf_choice { MJCF_FALSE, MJCF_TRUE, MJCF_AUTO } mjcf_choice;

/* Sections in which an element's name means something else than below a body. */
typedef enum mjcf_section { MJCF_IN_BODY, MJCF_IN_EQUALITY, MJCF_IN_TENDON } mjcf_section;

/* What a name stands for when its element is left out. */
#define MJCF_LEFT_OUT INT32_MAX

/* An element inside <default>. */
typedef struct mjcf_entry {
  const xmlNode *node;
  mjcf_kind kind;
  int32_t next; /* of the same class, the one before it in the file; -1 at the end */
} mjcf_entry;

typedef struct mjcf_class {
  const char *name;
  int32_t parent;
  int32_t last; /* entry */
} mjcf_class;

/* A file of the scene: the main one and what it includes. */
typedef struct mjcf_file {
  char *path;
  int32_t from; /* the file that includes it, -1 for the main one */
} mjcf_file;

#define MJCF_MAX_FILES 64
#define MJCF_MAX_CLASSES 1024
#define MJCF_MAX_ENTRIES 8192
#define MJCF_MAX_CHAIN 64

typedef struct mjcf {
  xml_input *in;
  const sb_scene_request *request;
  sb_model_builder *builder;
  scene_tree tree;
  xmlNode *root;
  uint64_t remaining;
  mjcf_file files[MJCF_MAX_FILES];
  int32_t file_count;
  /* <compiler> */
  bool degrees;
  bool autolimits;
  mjcf_choice inertia_from_geom;
  double group_range[2];
  double total_mass, bound_mass, bound_inertia;
  bool balance_inertia;
  char euler[4];
  /* <default>; class 0 is the main one */
  mjcf_class classes[MJCF_MAX_CLASSES];
  mjcf_entry entries[MJCF_MAX_ENTRIES];
  int32_t class_count, entry_count;
  name_map class_names;
  /* <actuator>: model actuator of each in file order, -1 for what is not supported */
  int32_t *actuators;
  uint32_t actuator_count, actuator_capacity;
  name_map actuator_names;
  name_map tendon_names; /* to tendons of the model, or MJCF_LEFT_OUT */
} mjcf;

/* An element together with the class that completes it. */
typedef struct mjcf_source {
  mjcf *m;
  const xmlNode *node;
  mjcf_kind kind;
  int32_t class; /* -1 for none */
} mjcf_source;

/* The whole reader: fills the builder from the document's root. Errors go to in. */
void mjcf_read(xml_input *in, const sb_scene_request *request, xmlNode *root, uint64_t remaining,
               sb_model_builder *builder);

/* mjcf_schema.c */
bool mjcf_check(mjcf *m, const xmlNode *node);
bool mjcf_check_in(mjcf *m, const xmlNode *node, mjcf_section section);

/* mjcf_files.c: puts the content of included files in the place of <include> everywhere below the root. */
void mjcf_include(mjcf *m);
void mjcf_files_clear(mjcf *m);

/* mjcf_default.c */
void mjcf_read_defaults(mjcf *m);
/* Class of an element: its class attribute, or else `inherited`. */
mjcf_source mjcf_source_of(mjcf *m, const xmlNode *node, mjcf_kind kind, int32_t inherited);
/* Index of the class that the attribute names, `inherited` without the attribute; an error when there is no such class.
 */
int32_t mjcf_class_of(mjcf *m, const xmlNode *node, const char *attribute, int32_t inherited);
/* Text of an attribute, from the element or its classes. `at` says where it stands, `level` how far away (0 the
 * element). */
const char *mjcf_text(const mjcf_source *s, const char *name, const xmlNode **at, int *level);
/* Each leaves values as they were and returns false when the attribute is absent or wrong (then with an error). */
bool mjcf_numbers(const mjcf_source *s, const char *name, double *values, size_t count);
bool mjcf_some_numbers(const mjcf_source *s, const char *name, double *values, size_t lower, size_t upper,
                       size_t *found);
/* A number that must not be below `lower`. */
bool mjcf_number_from(const mjcf_source *s, const char *name, double lower, double *value);
bool mjcf_mask(const mjcf_source *s, const char *name, uint32_t *value);
int mjcf_word(const mjcf_source *s, const char *name, const char *const *words, int fallback);
mjcf_choice mjcf_flag(const mjcf_source *s, const char *name, mjcf_choice fallback);
/* Whether a range counts: limited true, or auto with autolimits and the range given. */
bool mjcf_limited(const mjcf_source *s, const char *limited, const char *range);
/* A range whose first number is not above its second. */
bool mjcf_range(const mjcf_source *s, const char *name, double range[2]);
/* pos and one of quat, axisangle, euler, xyaxes, zaxis. */
void mjcf_pose(const mjcf_source *s, double X[7]);

/* mjcf_body.c */
void mjcf_read_world(mjcf *m);
/* mjcf_constraint.c */
void mjcf_read_equalities(mjcf *m);
void mjcf_read_tendons(mjcf *m);
/* mjcf_rest.c */
/* Calls read for every element inside the sections of that name. */
void mjcf_each_in(mjcf *m, const char *section, void (*read)(mjcf *, const xmlNode *));
/* The number behind a name that an attribute must give; -1 after an error. */
int32_t mjcf_refer(mjcf *m, const xmlNode *node, const char *attribute, const name_map *map, const char *kind);
void mjcf_read_contact(mjcf *m);
void mjcf_read_actuators(mjcf *m);
void mjcf_read_keyframe(mjcf *m);

#endif
