/* The xpbd solver plugin: extended position based dynamics in small steps, over particles and their elements. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden_hashes.h"
#include "samebit/solver_tools.h"
#include "xpbd_setup.h"

enum { XP_PARAM_SUBSTEPS, XP_PARAM_ITERATIONS, XP_PARAM_COUNT };

static const sb_param_desc params[XP_PARAM_COUNT] = {
    [XP_PARAM_SUBSTEPS] = {sizeof(sb_param_desc), SB_PARAM_INT, "substeps", "1", "steps that a tick is divided into", NULL, 8, 1, 1024},
    [XP_PARAM_ITERATIONS] = {sizeof(sb_param_desc), SB_PARAM_INT, "iterations", "1",
                             "passes over all constraints within a substep; stiffnesses do not depend on it", NULL, 1, 1, 1024},
};

static const sb_solver_desc desc = {
    .struct_size = sizeof(sb_solver_desc),
    .handles = SB_HANDLES_PARTICLES | SB_HANDLES_CLOTH | SB_HANDLES_SOFT,
    .id = "xpbd",
    .version = "0.1.0",
    .vendor = "Samebit",
    .text = "Rope, cloth, soft bodies and rigid bodies by extended position based dynamics in small steps.",
    .mode = {SB_MODE_CROSS_PLATFORM, SB_MODE_OFF},
    .mode_reason = {"fixed order of colours, shared maths, no atomics", "has no Vulkan backend yet"},
    .params = params,
    .param_count = XP_PARAM_COUNT,
    .param_size = sizeof(sb_param_desc),
    .golden_size = sizeof(sb_golden),
};

typedef struct xp_solver {
  sb_bind bind;
  xp_settings settings;
  xp_cloth cloth;
  xp_tick tick;
  uint32_t first_group; /* of the parallel loop */
} xp_solver;

static sb_status solver_create(void **instance)
{
  *instance = calloc(1, sizeof(xp_solver));
  return *instance ? SB_OK : SB_E_MEMORY;
}

static void solver_destroy(void *instance) { free(instance); }

static sb_status solver_bind(void *instance, const sb_bind *bind, char *error, uint32_t error_size)
{
  xp_solver *s = instance;
  sb_status status = sb_check_bind_cpu(bind, "xpbd", error, error_size);
  if (status) return status;
  s->bind = *bind;
  s->settings = (xp_settings){.substeps = (uint32_t)bind->params[XP_PARAM_SUBSTEPS], .iterations = (uint32_t)bind->params[XP_PARAM_ITERATIONS]};
  status = xp_cloth_bind(&s->cloth, &s->bind, s->settings.iterations > 1);
  if (status) snprintf(error, error_size, "out of memory for %u particles", bind->particle_count);
  return status;
}

static sb_status solver_activate(void *instance, uint32_t mode, float dt, char *error, uint32_t error_size)
{
  xp_solver *s = instance;
  (void)mode;
  sb_status status = sb_check_dt(dt, error, error_size);
  if (status) return status;
  s->settings.h = dt / (float)s->settings.substeps;
  s->settings.inv_h = 1.0f / s->settings.h;
  return SB_OK;
}

static void solver_deactivate(void *instance) { (void)instance; }

/* ---- the tick ---- */

static xp_group *group_at(xp_solver *s, uint32_t chunk) { return &s->cloth.graph.groups[s->first_group + chunk]; }

/* Chunks of phase 0 are the parts: each holds its own particles. */
static void load_chunk(void *user, uint32_t chunk)
{
  xp_solver *s = user;
  const xp_group *g = group_at(s, chunk);
  const xp_particles *p = &s->cloth.particles;
  for (uint32_t i = g->first_particle; i < g->end_particle; i++)
    for (uint32_t k = 0; k < 3; k++) {
      p->x[4 * (size_t)i + k] = s->bind.state->particle_q[3 * (size_t)p->index[i] + k];
      p->v[4 * (size_t)i + k] = s->bind.state->particle_qd[3 * (size_t)p->index[i] + k];
    }
}

static void store_chunk(void *user, uint32_t chunk)
{
  xp_solver *s = user;
  const xp_group *g = group_at(s, chunk);
  const xp_particles *p = &s->cloth.particles;
  SB_LANE_DISPATCH(s->bind.lanes, xp_finish, &s->tick, g->first_particle, g->end_particle);
  for (uint32_t i = g->first_particle; i < g->end_particle; i++)
    for (uint32_t k = 0; k < 3; k++) {
      s->bind.state->particle_q[3 * (size_t)p->index[i] + k] = p->x[4 * (size_t)i + k];
      s->bind.state->particle_qd[3 * (size_t)p->index[i] + k] = p->v[4 * (size_t)i + k];
    }
}

static void element_chunk(void *user, uint32_t chunk)
{
  xp_solver *s = user;
  const xp_group *g = group_at(s, chunk);
  if (g->first_particle < g->end_particle && s->tick.iteration == 0) SB_LANE_DISPATCH(s->bind.lanes, xp_predict, &s->tick, g);
  SB_LANE_DISPATCH(s->bind.lanes, xp_elements, &s->tick, g);
}

static void run_phase(xp_solver *s, uint32_t phase, sb_chunk_fn fn)
{
  const xp_graph *g = &s->cloth.graph;
  s->first_group = g->phase_group[phase];
  s->bind.host->parallel_for(s->bind.host->context, g->phase_group[phase + 1] - s->first_group, fn, s);
}

static void substep(xp_solver *s, bool first)
{
  s->tick.first_substep = first;
  for (uint32_t i = 0; i < s->settings.iterations; i++) {
    s->tick.iteration = i;
    for (uint32_t phase = 0; phase < s->cloth.graph.phase_count; phase++) run_phase(s, phase, element_chunk);
  }
}

static sb_status solver_step(void *instance, const sb_step *step, char *error, uint32_t error_size)
{
  xp_solver *s = instance;
  const xp_cloth *c = &s->cloth;
  sb_status status = sb_check_step(step, error, error_size);
  if (status) return status;
  s->tick = (xp_tick){.settings = s->settings, .model = s->bind.model, .state = s->bind.state, .particles = c->particles, .springs = c->springs,
                      .spring_damping = c->spring_damping, .airs = c->airs, .tris = c->tris, .edges = c->edges, .tets = c->tets,
                      .spring_lambda = c->spring_lambda, .tri_lambda = c->tri_lambda, .edge_lambda = c->edge_lambda, .tet_lambda = c->tet_lambda};
  run_phase(s, 0, load_chunk);
  for (uint32_t i = 0; i < s->settings.substeps; i++) substep(s, i == 0);
  run_phase(s, 0, store_chunk);
  return SB_OK;
}

static const sb_solver_api api = {
    .struct_size = sizeof(sb_solver_api), .desc = &desc, .create = solver_create, .bind = solver_bind,
    .activate = solver_activate, .step = solver_step, .deactivate = solver_deactivate, .destroy = solver_destroy,
};
static const sb_solver_api *const solvers[] = {&api};
static const sb_solver_factory factory = {sizeof(sb_solver_factory), 1, solvers};

static const void *get_factory(const char *id) { return strcmp(id, SB_SOLVER_FACTORY_ID) ? NULL : &factory; }

SB_DEFINE_PLUGIN(xpbd, 1u | 4u | 8u, NULL, get_factory);
