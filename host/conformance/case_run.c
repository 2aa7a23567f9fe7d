/* Micro-scenes for cases. */
#include "case_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collision.h"
#include "model_builder.h"

bool sb_case_fits(const sb_solver_api *api, const sb_micro_scene *scene) { return (api->desc->handles & scene->handles) == scene->handles; }

static bool note(sb_case_run *r, sb_diagnostics *diag)
{
  r->code = diag->count ? diag->items[0].code : SB_CODE_MEMORY;
  for (size_t i = 0; i < diag->count; i++)
    if (diag->items[i].severity == SB_ERROR) {
      r->code = diag->items[i].code;
      snprintf(r->text, sizeof r->text, "%s", diag->items[i].message);
      break;
    }
  sb_diagnostics_clear(diag);
  return false;
}

static sb_model_store *empty_model(void)
{
  sb_model_builder *b = sb_builder_create();
  sb_model_store *store = NULL;
  if (b && sb_builder_finalise(b, "empty", &store, NULL)) store = NULL;
  sb_builder_free(b);
  return store;
}

/* The micro-scenes do not bounce. A model's arrays are memory of its store, so one that nobody else has may be changed. */
static void add_bounce(sb_case_run *r)
{
  const sb_model *m = sb_model_store_view(r->model);
  for (uint32_t s = 0; s < m->shape_count; s++) ((float *)m->shape_restitution)[s] = 0.5f;
}

bool sb_case_open(sb_case_run *r, const sb_solver_api *api, const char *scene, const double *params, uint32_t mode)
{
  return sb_case_open_with(r, api, scene, false, params, mode);
}

bool sb_case_open_with(sb_case_run *r, const sb_solver_api *api, const char *scene, bool bounce, const double *params, uint32_t mode)
{
  sb_diagnostics diag = {0};
  *r = (sb_case_run){.code = SB_CODE_COUNT};
  r->one = *scene ? sb_micro_scene_model(scene) : empty_model();
  if (!r->one || sb_model_store_replicate(r->one, 1, 0, &r->model, &diag)) return note(r, &diag);
  if (bounce) add_bounce(r);
  const sb_model *m = sb_model_store_view(r->model);
  double values[SB_CASE_MAX_PARAMS];
  uint32_t longest = m->body_count > m->particle_count ? m->body_count : m->particle_count;
  uint32_t *indices = calloc((size_t)longest + 1, sizeof *indices);
  for (uint32_t i = 0; indices && i < longest; i++) indices[i] = i;
  for (uint32_t i = 0; i < api->desc->param_count && i < SB_CASE_MAX_PARAMS; i++) values[i] = params ? params[i] : api->desc->params[i].value;
  sb_sim_part part = {.name = "case", .api = api, .params = values, .bodies = indices, .body_count = m->body_count, .particles = indices,
                      .particle_count = m->particle_count, .mode = mode};
  sb_sim_config config = {.model = r->model, .parts = &part, .part_count = 1, .dt_numerator = 1, .dt_denominator = 240, .mode = mode, .threads = 1,
                          .broad_phase = SB_BROAD_SAP, .speculative_margin = 0.01f, .seed = 1};
  bool ok = indices && !sb_sim_create(&config, &r->sim, &diag);
  free(indices);
  if (!ok) return note(r, &diag);
  sb_diagnostics_clear(&diag);
  return true;
}

bool sb_case_step(sb_case_run *r, uint32_t ticks)
{
  sb_diagnostics diag = {0};
  for (uint32_t t = 0; t < ticks; t++)
    if (sb_sim_step(r->sim, &diag)) return note(r, &diag);
  sb_diagnostics_clear(&diag);
  return true;
}

void sb_case_close(sb_case_run *r)
{
  sb_sim_destroy(r->sim);
  sb_model_store_free(r->model);
  sb_model_store_free(r->one);
  r->sim = NULL;
  r->model = r->one = NULL;
}
