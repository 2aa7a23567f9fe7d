/* What the parts of the MJCF reader share. Private to the scene layer. */
#ifndef SAMEBIT_HOST_MJCF_H
#define SAMEBIT_HOST_MJCF_H

#include "scene.h"
#include "scene_tree.h"
#include "xml_input.h"

/* Elements whose attributes default classes can give. All actuator shortcuts share one. */
typedef enum mjcf_kind { MJCF_NONE, MJCF_GEOM, MJCF_JOINT, MJCF_PAIR, MJCF_ACTUATOR, MJCF_EQUALITY, MJCF_TENDON, MJCF_SITE, MJCF_MESH } mjcf_kind;

typedef enum mjcf_choice { MJCF_FALSE, MJCF_TRUE, MJCF_AUTO } mjcf_choice;

/* Sections in which an element's name means something else than below a body. */
typedef enum mjcf_section { MJCF_IN_BODY, MJCF_IN_EQUALITY, MJCF_IN_TENDON, MJCF_IN_SENSOR, MJCF_IN_FLEX } mjcf_section;

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

/* A file of the scene: the main one, what it includes and what it attaches. */
typedef struct mjcf_file {
  char *path;
  int32_t from;  /* the file that includes or attaches it, -1 for the main one */
  int32_t model; /* that it is part of */
} mjcf_file;

/* What <compiler> says. */
typedef struct mjcf_compiler {
  bool degrees;
  bool autolimits;
  mjcf_choice inertia_from_geom;
  double group_range[2];
  double total_mass, bound_mass, bound_inertia;
  bool balance_inertia;
  bool strip_path; /* files are named without their folders */
  const char *mesh_dir, *asset_dir; /* NULL without */
  char euler[4];
} mjcf_compiler;

/* The main model, and those that <asset><model> names. */
typedef struct mjcf_model {
  xmlNode *owner; /* root of the document that names it; NULL for the main one */
  const xmlNode *node;
  xmlDoc *doc; /* once loaded; its own attachments and replicas are in place */
  int32_t file;
  mjcf_compiler compiler;
} mjcf_model;

/* A <flexcomp>: where it stands. */
typedef struct mjcf_flex {
  const xmlNode *node;
  int32_t link; /* -1 for the world */
  double X[7];  /* in the link */
} mjcf_flex;

typedef struct mjcf_hfield {
  uint32_t rows, columns;
  double size[4]; /* m: half extents along x and y, height of the highest point, thickness of what is below the lowest */
  double *height; /* 0 to 1, row by row; owned */
  geometry_place place;
  bool placed; /* in the builder */
} mjcf_hfield;

#define MJCF_MAX_FILES 64
#define MJCF_MAX_MODELS 64
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
  mjcf_model models[MJCF_MAX_MODELS];
  int32_t model_count;
  uint64_t copied; /* bytes that attach and replicate have added, roughly */
  uint32_t replicate_count;
  /* <default>; class 0 is the main one */
  mjcf_class classes[MJCF_MAX_CLASSES];
  mjcf_entry entries[MJCF_MAX_ENTRIES];
  int32_t class_count, entry_count;
  name_map class_names;
  /* <actuator>: model actuator of each in file order, -1 for what is not supported */
  int32_t *actuators;
  uint32_t actuator_count, actuator_capacity;
  name_map actuator_names;
  name_map sensor_names;
  name_map tendon_names; /* to tendons of the model, or MJCF_LEFT_OUT */
  /* <asset>: heightfields */
  mjcf_hfield *hfields;
  uint32_t hfield_count;
  name_map hfield_names;
  mjcf_flex *flexes;
  uint32_t flex_count;
  uint64_t mesh_bytes; /* that mesh and heightfield files may still have */
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

/* mjcf.c */
void mjcf_read_compiler(mjcf *m, const xmlNode *root, mjcf_compiler *compiler);
/* Settings of the model that a node came from. */
const mjcf_compiler *mjcf_compiler_of(const mjcf *m, const xmlNode *node);

/* mjcf_files.c: puts the content of included files in the place of <include> everywhere below a root. */
void mjcf_include(mjcf *m, xmlNode *root);
/* Adds a record of the file that a node names; -1 after an error. */
int32_t mjcf_add_file(mjcf *m, const xmlNode *node);
/* Parses a file of the record; NULL after an error. */
xmlDoc *mjcf_parse_file(mjcf *m, const xmlNode *node, int32_t file);
/* Record of the file that a node came from. */
int32_t mjcf_file_of(const mjcf *m, const xmlNode *node);
void mjcf_files_clear(mjcf *m);

/* mjcf_copy.c: what attach and replicate share. */
/* Kinds of names that elements refer to. */
typedef enum mjcf_space {
  MJCF_BODY_NAME,
  MJCF_JOINT_NAME,
  MJCF_GEOM_NAME,
  MJCF_SITE_NAME,
  MJCF_CAMERA_NAME,
  MJCF_TENDON_NAME,
  MJCF_ACTUATOR_NAME,
  MJCF_SPACES
} mjcf_space;
/* Names, which belong to the document. All zero is empty. */
typedef struct mjcf_names {
  name_map in[MJCF_SPACES];
} mjcf_names;
/* Adds the names of the bodies, joints, geoms and so on at and below a node. */
void mjcf_names_collect(mjcf *m, const xmlNode *node, mjcf_names *names);
void mjcf_names_clear(mjcf_names *names);
/* Calls visit, in an order in which names come before what refers to them, for each element of the sections below a root
 * that refers to one of the names, with whether all its references are to such (the world counts as one). Names of tendons
 * and actuators that visit takes (returns true for) are added. */
typedef bool (*mjcf_visit)(void *user, const char *section, xmlNode *element, bool all);
void mjcf_each_dependent(mjcf *m, xmlNode *root, mjcf_names *names, mjcf_visit visit, void *user);
/* Gives everything at and below a node new names, and with `only` those references that are to its names, else all. */
void mjcf_rename(mjcf *m, xmlNode *node, const mjcf_names *only, const char *prefix, const char *suffix);
/* Bytes that a copy takes, roughly. */
uint64_t mjcf_cost(const xmlNode *node);
/* Takes `bytes` for `what`; false after an error when that is too much. */
bool mjcf_spend(mjcf *m, const xmlNode *what, double bytes);
/* A copy that knows which file it came from; NULL after an error. */
xmlNode *mjcf_copy(mjcf *m, xmlNode *node, xmlDoc *doc);
/* A new element at the place of another; NULL after an error. */
xmlNode *mjcf_element(mjcf *m, const xmlNode *at, const char *name);

/* mjcf_attach.c: puts bodies of other models in the place of <attach> everywhere below a root. */
void mjcf_attach(mjcf *m, xmlNode *root);
void mjcf_models_clear(mjcf *m);

/* mjcf_replicate.c: puts copies, each inside an element MJCF_REPLICA, in the place of <replicate> everywhere below a root. */
void mjcf_replicate(mjcf *m, xmlNode *root);
/* No parsed file has such a name. */
#define MJCF_REPLICA " replica"
/* The defaults of an attached model are in the root as an element of this name. */
#define MJCF_ATTACHED_DEFAULT " default"

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
/* <frame> or MJCF_REPLICA, and its pose. */
bool mjcf_is_frame(const xmlNode *node);
void mjcf_frame_pose(mjcf *m, const xmlNode *node, double X[7]);

/* The path of a file that an attribute of node names, below folder (NULL for none) beside the node's own file; free() it. */
char *mjcf_asset_path(const mjcf *m, const xmlNode *node, const char *folder, const char *file);

/* mjcf_asset.c */
void mjcf_read_assets(mjcf *m);
void mjcf_assets_clear(mjcf *m);
/* Completes the shape of a geom of type mesh or hfield; false after an error. *index: of the tree's meshes. */
bool mjcf_mesh_of(const mjcf_source *s, int32_t *index);
bool mjcf_hfield_shape(const mjcf_source *s, sb_build_shape *shape);

/* mjcf_flex.c: notes a <flexcomp> for when there are bodies; builds all of them. */
void mjcf_note_flex(mjcf *m, const xmlNode *node, int32_t link, const double frame[7]);
void mjcf_read_flexes(mjcf *m);

/* mjcf_body.c */
void mjcf_read_world(mjcf *m);
/* mjcf_constraint.c */
void mjcf_read_equalities(mjcf *m);
void mjcf_read_tendons(mjcf *m);
/* mjcf_sensor.c */
void mjcf_read_sensors(mjcf *m);
/* mjcf_rest.c */
/* Calls read for every element inside the sections of that name. */
void mjcf_each_in(mjcf *m, const char *section, void (*read)(mjcf *, const xmlNode *));
/* The number behind a name that an attribute must give; -1 after an error. */
int32_t mjcf_refer(mjcf *m, const xmlNode *node, const char *attribute, const name_map *map, const char *kind);
void mjcf_read_contact(mjcf *m);
void mjcf_read_actuators(mjcf *m);
void mjcf_read_keyframe(mjcf *m);

#endif
