/* The entry point of the scene layer: decides what a scene is and finishes the model. */
#include "scene.h"

#include "fp_env.h"

#include "generators.h"
#include "model_builder.h"
#include "scene_file.h"
#include "xml_scene.h"

#include <stdlib.h>
#include <string.h>

#define GENERATOR_PREFIX "generator:"
#define COOKED_LIMIT (UINT64_C(1) << 30)
#define XML_LIMIT (UINT64_C(16) << 20) /* a parsed tree takes up to 30 times the memory of its text */

static bool has_plane(sb_model_builder *b)
{
  for (int32_t i = 0; i < sb_builder_shape_count(b); i++)
    if (sb_builder_shape(b, i)->type == SB_SHAPE_PLANE) return true;
  return false;
}

/* What the request adds to any scene that is built here. */
static sb_status finish(const sb_scene_request *request, sb_model_builder *b, sb_model_store **out,
                        sb_diagnostics *diag)
{
  if (request->ground && !has_plane(b)) {
    sb_build_shape plane = sb_build_shape_default();
    plane.type = SB_SHAPE_PLANE;
    sb_builder_add_shape(b, &plane, "ground");
  }
  if (request->gravity) sb_builder_set_gravity(b, request->gravity);
  return sb_builder_finalise(b, request->scene, out, diag);
}

static sb_status load_generator(const sb_scene_request *request, sb_model_store **out, sb_diagnostics *diag)
{
  if (request->key)
    return sb_report(diag, SB_ERROR, SB_CODE_SCENE_REFERENCE, request->where,
                     "a generator has no keyframes, so '%s' cannot be found", request->key);
  sb_model_builder *b = sb_builder_create();
  if (!b) return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, request->where, "no memory to build the scene");
  sb_status status = generator_build(request->scene + strlen(GENERATOR_PREFIX), request->where, request->params,
                                     request->param_count, request->max_file_size ? request->max_file_size : XML_LIMIT, b, diag);
  if (status == SB_OK) status = finish(request, b, out, diag);
  sb_builder_free(b);
  return status;
}

/* Cooked bytes are taken as they are: what would change them is an error. */
static sb_status load_cooked(const sb_scene_request *request, const char *bytes, size_t size, sb_model_store **out,
                             sb_diagnostics *diag)
{
  const char *change = request->key ? "a keyframe" : request->gravity ? "gravity" : request->ground ? "a ground" : NULL;
  if (change)
    return sb_report(diag, SB_ERROR, SB_CODE_SCENE_VALUE, request->where,
                     "%s is a cooked model and cannot be given %s; cook the scene again with it", request->scene,
                     change);
  return sb_model_store_from_bytes(bytes, size, request->scene, out, diag);
}

static sb_status load_file(const sb_scene_request *request, sb_model_store **out, sb_diagnostics *diag)
{
  if (request->param_count)
    return sb_report(
        diag, SB_ERROR, SB_CODE_SCENE_PARAMETER, request->params[0].where ? request->params[0].where : request->where,
        "parameter '%s' belongs to generators, but the scene is the file %s", request->params[0].key, request->scene);
  uint64_t remaining = request->max_file_size ? request->max_file_size : COOKED_LIMIT;
  char *bytes;
  size_t size;
  sb_status status = scene_file_read(request->scene, request->where, &remaining, &bytes, &size, diag);
  if (status != SB_OK) return status;
  if (size >= 8 && !memcmp(bytes, "SBMODEL\n", 8)) {
    status = load_cooked(request, bytes, size, out, diag);
  } else if (!request->max_file_size && size > XML_LIMIT) {
    status = sb_report(diag, SB_ERROR, SB_CODE_SCENE_SIZE, request->where, "%s is larger than the %llu bytes allowed",
                       request->scene, (unsigned long long)XML_LIMIT);
  } else {
    if (!request->max_file_size) remaining = XML_LIMIT - size;
    sb_model_builder *b = sb_builder_create();
    status = b ? xml_scene_build(request, bytes, size, remaining, b, diag)
               : sb_report(diag, SB_ERROR, SB_CODE_MEMORY, request->where, "no memory to build the scene");
    if (status == SB_OK) status = finish(request, b, out, diag);
    sb_builder_free(b);
  }
  free(bytes);
  return status;
}

sb_status sb_scene_load(const sb_scene_request *request, sb_model_store **out, sb_diagnostics *diag)
{
  *out = NULL;
  if (!request->scene || !*request->scene)
    return sb_report(diag, SB_ERROR, SB_CODE_SCENE_FILE, request->where, "no scene was named");
  bool generated = !strncmp(request->scene, GENERATOR_PREFIX, strlen(GENERATOR_PREFIX));
  sb_fp_env saved = sb_fp_env_enter(); /* numbers are read the same way whatever the caller's settings */
  sb_status status = generated ? load_generator(request, out, diag) : load_file(request, out, diag);
  sb_fp_env_leave(saved);
  return status;
}
