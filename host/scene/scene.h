/* Scenes: the one way from what a user names (file or generator) to a finalised model.
 *
 *   generator:NAME   a scene made by parameters (sb_generator_list)
 *   *.xml            MJCF, or URDF when its root element is <robot>
 *   *.urdf           the same rule: the root element decides
 *   anything else    by content: cooked bytes or XML
 *
 * Cooking gives the same bytes on every machine. What a file asks for and Samebit does not support is a warning with
 * the code SCENE_UNSUPPORTED, once for each kind of element and attribute; names it does not know are SCENE_UNKNOWN. */
#ifndef SAMEBIT_HOST_SCENE_H
#define SAMEBIT_HOST_SCENE_H

#include "model_store.h"

typedef struct sb_scene_param {
  const char *key;
  const char *value;
  const char *where; /* "file:line" of the setting; may be NULL */
} sb_scene_param;

/* All zero but `scene` is a good request. Strings are the caller's and are not kept. */
typedef struct sb_scene_request {
  const char *scene; /* path or generator:NAME */
  const char *where; /* where the scene was asked for; may be NULL */
  const sb_scene_param *params;
  size_t param_count; /* for generators; an error for files */
  const char *const *package_dirs;
  size_t package_dir_count; /* searched for package:// */
  const char *key;          /* keyframe of an MJCF file to start from; NULL for none */
  bool floating_base;       /* URDF: root link on a FREE joint instead of fixed to the world */
  bool ground;              /* adds the plane z = 0 unless the scene has a plane */
  const double *gravity;    /* 3 numbers, m/s^2, in place of the scene's own; NULL to keep those */
  uint64_t max_file_size;   /* bytes, all files of the scene together; 0 for 16 MiB, cooked bytes 1 GiB */
} sb_scene_request;

/* On success *out is the caller's to free with sb_model_store_free. On failure it is NULL and `diag` says why. */
sb_status sb_scene_load(const sb_scene_request *request, sb_model_store **out, sb_diagnostics *diag);

typedef struct sb_generator_param {
  const char *name;
  const char *unit;
  const char *fallback; /* the value when it is not given */
  double lower, upper;  /* allowed range */
  bool integer;
  const char *const *choices; /* NULL-ended words in place of numbers; NULL for a number */
  const char *text;
  bool path; /* of a file, in place of a number; it has no default */
} sb_generator_param;

typedef struct sb_generator {
  const char *name;
  const char *text;
  const sb_generator_param *params;
  size_t param_count;
} sb_generator;

/* All generators, for help. */
const sb_generator *sb_generator_list(size_t *count);

#endif
