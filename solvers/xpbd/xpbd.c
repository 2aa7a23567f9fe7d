/* The xpbd solver plugin: extended position based dynamics in small steps, over particles with their elements and rigid bodies with their joints. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden_hashes.h"
#include "samebit/solver_tools.h"
#include "xpbd_bodies.h"
#include "xpbd_jacobi.h"
#ifdef SAMEBIT_VULKAN
#include "xpbd_device.h"
#endif
#include "xpbd_near.h"
#include "xpbd_setup.h"
#include "xpbd_touch.h"

enum { XP_PARAM_SUBSTEPS, XP_PARAM_ITERATIONS, XP_PARAM_RESTITUTION_THRESHOLD, XP_PARAM_MAX_PUSH, XP_PARAM_ORDER, XP_PARAM_COUNT };

static const sb_param_desc params[XP_PARAM_COUNT] = {
    [XP_PARAM_SUBSTEPS] = {sizeof(sb_param_desc), SB_PARAM_INT, "substeps", "1", "steps that a tick is divided into", NULL, 8, 1, 1024},
    [XP_PARAM_ITERATIONS] = {sizeof(sb_param_desc), SB_PARAM_INT, "iterations", "1",
                             "passes over all constraints within a substep; stiffnesses do not depend on it", NULL, 1, 1, 1024},
    [XP_PARAM_RESTITUTION_THRESHOLD] = {sizeof(sb_param_desc), SB_PARAM_FLOAT, "restitution_threshold", "m/s",
                                        "approach speeds below this do not bounce", NULL, 0.5, 0, 1000},
    [XP_PARAM_MAX_PUSH] = {sizeof(sb_param_desc), SB_PARAM_FLOAT, "contact_push_velocity", "m/s",
                           "the fastest that overlap is pushed apart", NULL, 3, 0, 1000},
    [XP_PARAM_ORDER] = {sizeof(sb_param_desc), SB_PARAM_CHOICE, "order", "1",
                        "how the elements between particles are solved within an iteration: one colour after another, or all at once and summed (which needs more iterations)",
                        "gauss_seidel|jacobi", 0, 0, 1},
};

enum { XP_ORDER_GAUSS_SEIDEL, XP_ORDER_JACOBI };

static const sb_golden goldens[] = {SB_GOLDENS_XPBD};

static const sb_solver_desc desc = {
    .struct_size = sizeof(sb_solver_desc),
    .handles = SB_HANDLES_RIGID | SB_HANDLES_JOINTS | SB_HANDLES_CONTACT | SB_HANDLES_PARTICLES | SB_HANDLES_CLOTH | SB_HANDLES_SOFT,
    .id = "xpbd",
    .version = "0.1.0",
    .vendor = "Samebit",
    .text = "Rope, cloth, soft bodies and rigid bodies by extended position based dynamics in small steps.",
#ifdef SAMEBIT_VULKAN
    .mode = {SB_MODE_CROSS_PLATFORM, SB_MODE_CROSS_PLATFORM},
    .mode_reason = {"fixed order of colours, shared maths, no atomics", "the CPU's kernels, each particle's constraints in the CPU's order"},
#else
    .mode = {SB_MODE_CROSS_PLATFORM, SB_MODE_OFF},
    .mode_reason = {"fixed order of colours, shared maths, no atomics", "this build has no shaders"},
#endif
    .params = params,
    .goldens = goldens,
    .param_count = XP_PARAM_COUNT,
    .golden_count = sizeof goldens / sizeof goldens[0],
    .param_size = sizeof(sb_param_desc),
    .golden_size = sizeof(sb_golden),
};

typedef struct xp_solver {
  sb_bind bind;
  xp_settings settings;
  xp_cloth cloth;
  xp_bodies bodies;
  xp_touches touches;
  xp_near near;
  xp_jacobi jacobi;
  xp_tick tick;
#ifdef SAMEBIT_VULKAN
  xp_device device; /* on the backend vulkan */
#endif
  bool touching;        /* some particle touches something this tick */
  uint32_t first_group; /* of the parallel loop */
} xp_solver;

static sb_status solver_create(void **instance)
{
  *instance = calloc(1, sizeof(xp_solver));
  return *instance ? SB_OK : SB_E_MEMORY;
}

/* What runs on a device is there only where the plugin was built with shaders. */
#ifdef SAMEBIT_VULKAN
static sb_status check_bind(const sb_bind *bind, char *error, uint32_t error_size) { return sb_check_bind(bind, error, error_size); }
static bool on_device(const xp_solver *s) { return s->bind.backend == SB_BACKEND_VULKAN; }

static sb_status bind_device(xp_solver *s, char *error, uint32_t error_size)
{
  s->device.settings = s->settings;
  s->device.jacobi = s->jacobi.on;
  return on_device(s) ? xp_device_bind(&s->device, &s->bind, &s->cloth, &s->bodies, &s->touches, &s->near, error, error_size) : SB_OK;
}

static sb_status activate_device(xp_solver *s, char *error, uint32_t error_size)
{
  return on_device(s) ? xp_device_activate(&s->device, s->settings, error, error_size) : SB_OK;
}

static sb_status step_device(xp_solver *s, const sb_step *step, char *error, uint32_t error_size) { return xp_device_step(&s->device, step, error, error_size); }

static void free_device(xp_solver *s) { xp_device_free(&s->device); }
#else
static sb_status check_bind(const sb_bind *bind, char *error, uint32_t error_size) { return sb_check_bind_cpu(bind, "xpbd", error, error_size); }
static bool on_device(const xp_solver *s) { return (void)s, false; }
static sb_status bind_device(xp_solver *s, char *error, uint32_t error_size) { return (void)s, (void)error, (void)error_size, SB_OK; }
static sb_status activate_device(xp_solver *s, char *error, uint32_t error_size) { return (void)s, (void)error, (void)error_size, SB_OK; }
static sb_status step_device(xp_solver *s, const sb_step *step, char *error, uint32_t error_size)
{
  return (void)s, (void)step, (void)error, (void)error_size, SB_E_UNSUPPORTED;
}
static void free_device(xp_solver *s) { (void)s; }
#endif

static void solver_destroy(void *instance)
{
  free_device(instance);
  free(instance);
}

static sb_status solver_bind(void *instance, const sb_bind *bind, char *error, uint32_t error_size)
{
  xp_solver *s = instance;
  sb_status status = check_bind(bind, error, error_size);
  if (status) return status;
  s->bind = *bind;
  s->settings = (xp_settings){.substeps = (uint32_t)bind->params[XP_PARAM_SUBSTEPS], .iterations = (uint32_t)bind->params[XP_PARAM_ITERATIONS]};
  status = xp_cloth_bind(&s->cloth, &s->bind, s->settings.iterations > 1);
  s->jacobi.on = bind->params[XP_PARAM_ORDER] == XP_ORDER_JACOBI;
  if (!status && s->jacobi.on) status = xp_jacobi_bind(&s->jacobi, &s->bind, &s->cloth);
  if (!status) status = xp_near_bind(&s->near, &s->bind, &s->cloth);
  if (status) {
    snprintf(error, error_size, "out of memory for %u particles", bind->particle_count);
    return status;
  }
  s->bodies.push = (float)bind->params[XP_PARAM_MAX_PUSH];
  s->bodies.threshold = (float)bind->params[XP_PARAM_RESTITUTION_THRESHOLD];
  status = xp_bodies_bind(&s->bodies, &s->bind, error, error_size);
  if (status) return status;
  status = xp_touches_bind(&s->touches, &s->bind, &s->cloth, &s->bodies);
  if (status) {
    snprintf(error, error_size, "out of memory for %u particle contacts", bind->particle_contact_capacity);
    return status;
  }
  return bind_device(s, error, error_size);
}

static sb_status solver_activate(void *instance, uint32_t mode, float dt, char *error, uint32_t error_size)
{
  xp_solver *s = instance;
  (void)mode;
  sb_status status = sb_check_dt(dt, error, error_size);
  if (status) return status;
  s->settings.h = dt / (float)s->settings.substeps;
  s->settings.inv_h = 1.0f / s->settings.h;
  s->bodies.h = s->settings.h;
  s->bodies.inv_h = s->settings.inv_h;
  s->bodies.substeps = s->settings.substeps;
  return activate_device(s, error, error_size);
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
      p->d[4 * (size_t)i + k] = 0.0f;
      p->x[4 * (size_t)i + k] = s->bind.state->particle_q[3 * (size_t)p->index[i] + k];
      p->v[4 * (size_t)i + k] = s->bind.state->particle_qd[3 * (size_t)p->index[i] + k];
    }
}

static void store_chunk(void *user, uint32_t chunk)
{
  xp_solver *s = user;
  const xp_group *g = group_at(s, chunk);
  const xp_particles *p = &s->cloth.particles;
  if (!s->tick.velocities_known) SB_LANE_DISPATCH(s->bind.lanes, xp_finish, &s->tick, g->first_particle, g->end_particle);
  for (uint32_t i = g->first_particle; i < g->end_particle; i++)
    for (uint32_t k = 0; k < 3; k++) {
      s->bind.state->particle_q[3 * (size_t)p->index[i] + k] = p->x[4 * (size_t)i + k] + p->d[4 * (size_t)i + k];
      s->bind.state->particle_qd[3 * (size_t)p->index[i] + k] = p->v[4 * (size_t)i + k];
    }
}

static void touch_chunk(void *user, uint32_t chunk)
{
  xp_solver *s = user;
  xp_touches_part(&s->touches, group_at(s, chunk), s->tick.iteration);
}

/* Velocities at the end of the substep, for contacts to change. */
static void velocity_chunk(void *user, uint32_t chunk)
{
  xp_solver *s = user;
  const xp_group *g = group_at(s, chunk);
  xp_touches_keep_ahead(&s->touches, g);
  SB_LANE_DISPATCH(s->bind.lanes, xp_finish, &s->tick, g->first_particle, g->end_particle);
  xp_touches_bounce_part(&s->touches, g);
}

static void element_chunk(void *user, uint32_t chunk)
{
  xp_solver *s = user;
  const xp_group *g = group_at(s, chunk);
  if (g->first_particle < g->end_particle && s->tick.iteration == 0) SB_LANE_DISPATCH(s->bind.lanes, xp_predict, &s->tick, g);
  SB_LANE_DISPATCH(s->bind.lanes, xp_elements, &s->tick, g);
}

/* Under Jacobi: before the elements, and after them. */
static void predict_chunk(void *user, uint32_t chunk)
{
  xp_solver *s = user;
  SB_LANE_DISPATCH(s->bind.lanes, xp_predict, &s->tick, group_at(s, chunk));
}

static void solve_chunk(void *user, uint32_t chunk)
{
  xp_solver *s = user;
  if (s->tick.damping)
    SB_LANE_DISPATCH(s->bind.lanes, xp_damping, &s->tick, group_at(s, chunk));
  else
    SB_LANE_DISPATCH(s->bind.lanes, xp_elements, &s->tick, group_at(s, chunk));
}

static void gather_chunk(void *user, uint32_t chunk)
{
  xp_solver *s = user;
  const xp_group *g = group_at(s, chunk);
  uint32_t all = (1u << XP_KINDS) - 1u, stiff = s->tick.iteration ? all & ~(1u << XP_AIR) : all;
  xp_jacobi_gather(&s->jacobi, &s->cloth.particles, s->tick.damping ? s->tick.damping : stiff, g->first_particle, g->end_particle);
}

static void damping_chunk(void *user, uint32_t chunk)
{
  xp_solver *s = user;
  SB_LANE_DISPATCH(s->bind.lanes, xp_damping, &s->tick, group_at(s, chunk));
}

static void run_phase(xp_solver *s, uint32_t phase, sb_chunk_fn fn)
{
  const xp_graph *g = &s->cloth.graph;
  s->first_group = g->phase_group[phase];
  s->bind.host->parallel_for(s->bind.host->context, g->phase_group[phase + 1] - s->first_group, fn, s);
}

/* All groups at once: they write what is their own elements'. */
static void solve_at_once(xp_solver *s)
{
  s->first_group = 0;
  s->bind.host->parallel_for(s->bind.host->context, s->cloth.graph.group_count, solve_chunk, s);
  run_phase(s, 0, gather_chunk);
}

static void iterate(xp_solver *s, uint32_t iteration)
{
  s->tick.iteration = iteration;
  if (s->jacobi.on) {
    if (iteration == 0) run_phase(s, 0, predict_chunk);
    solve_at_once(s);
  } else {
#ifdef SAMEBIT_MUTANT_MERGED_PHASES
  /* The planted fault: groups that share parts run at once. */
  s->first_group = 0;
  s->bind.host->parallel_for(s->bind.host->context, s->cloth.graph.group_count, element_chunk, s);
#else
    for (uint32_t phase = 0; phase < s->cloth.graph.phase_count; phase++) run_phase(s, phase, element_chunk);
#endif
  }
  xp_bodies_joints(&s->bodies, iteration);
  xp_touches_attachments(&s->touches, iteration);
  xp_near_solve(&s->near);
  xp_bodies_contacts(&s->bodies, iteration);
  if (!s->touching) return;
  run_phase(s, 0, touch_chunk);
  xp_touches_shared(&s->touches, iteration);
}

/* Once in a substep, after everything that is stiff. */
static void damp(xp_solver *s)
{
  s->tick.damping = s->cloth.damped;
  if (s->jacobi.on && s->cloth.damped)
    solve_at_once(s);
  else
    for (uint32_t phase = 0; phase < s->cloth.graph.phase_count && s->cloth.damped; phase++) run_phase(s, phase, damping_chunk);
  s->tick.damping = 0;
}

static void substep(xp_solver *s, uint32_t number)
{
  s->tick.velocities_known = number == 0 || s->touching;
  xp_bodies_predict(&s->bodies, number);
  for (uint32_t i = 0; i < s->settings.iterations; i++) iterate(s, i);
  damp(s);
#ifndef SAMEBIT_MUTANT_NEAR_PAIRS_ONCE /* the planted fault: what comes after near pairs may undo them */
  xp_near_solve(&s->near);
#endif
  if (s->touching) {
    run_phase(s, 0, velocity_chunk);
    xp_touches_bounce_shared(&s->touches);
  }
  xp_bodies_velocities(&s->bodies);
}

static sb_status solver_step(void *instance, const sb_step *step, char *error, uint32_t error_size)
{
  xp_solver *s = instance;
  const xp_cloth *c = &s->cloth;
  sb_status status = sb_check_step(step, error, error_size);
  if (status) return status;
  if (on_device(s)) return step_device(s, step, error, error_size);
  s->tick = (xp_tick){.settings = s->settings, .model = s->bind.model, .state = s->bind.state, .particles = c->particles, .springs = c->springs,
                      .spring_damping = c->spring_damping, .airs = c->airs, .tris = c->tris, .edges = c->edges, .tets = c->tets,
                      .spring_lambda = c->spring_lambda, .tri_lambda = c->tri_lambda, .edge_lambda = c->edge_lambda, .tet_lambda = c->tet_lambda};
  if (s->jacobi.on) s->tick.slots = s->jacobi.slots, s->tick.slot_base = s->jacobi.base, s->tick.share = s->jacobi.share;
  s->touching = step->particle_contacts->count > 0;
  run_phase(s, 0, load_chunk);
  xp_bodies_begin(&s->bodies, step);
  xp_touches_begin(&s->touches, step);
  xp_near_begin(&s->near, step);
  for (uint32_t i = 0; i < s->settings.substeps; i++) substep(s, i);
  s->tick.velocities_known = s->touching;
  run_phase(s, 0, store_chunk);
  xp_bodies_finish(&s->bodies);
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
