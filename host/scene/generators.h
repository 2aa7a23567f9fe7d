/* Scenes made by parameters. Private to the scene layer; the list for help is in scene.h. */
#ifndef SAMEBIT_HOST_GENERATORS_H
#define SAMEBIT_HOST_GENERATORS_H

#include "model_builder.h"
#include "scene.h"

/* Fills the builder with the scene `name`. Unknown names, keys and values out of range are errors with the nearest
 * name. file_limit: the most bytes that it may read. */
sb_status generator_build(const char *name, const char *where, const sb_scene_param *params, size_t param_count,
                          uint64_t file_limit, sb_model_builder *builder, sb_diagnostics *diag);

#endif
