/* The steel solver plugin: rigid bodies with hard contact, soft-step sub-stepping, graph colours, lanes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden_hashes.h"
#include "samebit/solver_tools.h"
#ifdef SAMEBIT_VULKAN
#include "steel_device.h"
#endif
#include "steel_graph.h"
#include "steel_observe.h"
#include "steel_sleep.h"
#include "steel_tree.h"

enum {
  ST_PARAM_SUBSTEPS,
  ST_PARAM_CONTACT_FREQUENCY,
  ST_PARAM_CONTACT_DAMPING,
  ST_PARAM_MAX_PUSH,
  ST_PARAM_RESTITUTION_THRESHOLD,
  ST_PARAM_SLEEP_TICKS,
  ST_PARAM_SLEEP_SPEED,
  ST_PARAM_JOINT_FREQUENCY,
  ST_PARAM_ITERATIONS,
  ST_PARAM_OBSERVABLES,
  ST_PARAM_COUNT
};

static const sb_param_desc params[ST_PARAM_COUNT] = {
    [ST_PARAM_SUBSTEPS] = {sizeof(sb_param_desc), SB_PARAM_INT, "substeps", "1", "steps that a tick is divided into", NULL, 4, 1, 64},
    [ST_PARAM_CONTACT_FREQUENCY] = {sizeof(sb_param_desc), SB_PARAM_FLOAT, "contact_frequency", "Hz",
                                    "how fast overlap is pushed apart, twice as fast against the world; never above a quarter of the "
                                    "substep rate", NULL, 30, 0.1, 10000},
    [ST_PARAM_CONTACT_DAMPING] = {sizeof(sb_param_desc), SB_PARAM_FLOAT, "contact_damping_ratio", "1",
                                  "damping of that push; well above 1, so that pushing apart does not bounce", NULL, 5, 0, 100},
    [ST_PARAM_MAX_PUSH] = {sizeof(sb_param_desc), SB_PARAM_FLOAT, "contact_push_velocity", "m/s",
                           "the fastest that overlap is pushed apart", NULL, 3, 0, 1000},
    [ST_PARAM_RESTITUTION_THRESHOLD] = {sizeof(sb_param_desc), SB_PARAM_FLOAT, "restitution_threshold", "m/s",
                                        "approach speeds below this do not bounce", NULL, 1, 0, 1000},
    [ST_PARAM_SLEEP_TICKS] = {sizeof(sb_param_desc), SB_PARAM_INT, "sleep_ticks", "1",
                              "an island all of whose bodies have been slow for so many ticks sleeps; 0: none does", NULL, 0, 0, 1000000},
    [ST_PARAM_SLEEP_SPEED] = {sizeof(sb_param_desc), SB_PARAM_FLOAT, "sleep_speed", "m/s",
                              "slow is what has less kinetic energy than its mass at this speed", NULL, 0.05, 0, 1000},
    [ST_PARAM_JOINT_FREQUENCY] = {sizeof(sb_param_desc), SB_PARAM_FLOAT, "joint_frequency", "Hz",
                                  "how fast errors of joint limits, tendon limits and equality constraints go; never above a quarter of the "
                                  "substep rate", NULL, 60, 0.1, 10000},
    [ST_PARAM_ITERATIONS] = {sizeof(sb_param_desc), SB_PARAM_INT, "iterations", "1",
                             "passes over the rows of articulations (contacts, limits, loops, tendons) within a substep", NULL, 2, 1, 64},
    [ST_PARAM_OBSERVABLES] = {sizeof(sb_param_desc), SB_PARAM_BOOL, "observables", "1",
                              "keeps body_qdd, body_parent_f (joint reaction wrench) and contact_force as part of the state", NULL, 0, 0, 1},
};

static const sb_golden goldens[] = {SB_GOLDENS_STEEL};

static const sb_solver_desc desc = {
    .struct_size = sizeof(sb_solver_desc),
    .handles = SB_HANDLES_RIGID | SB_HANDLES_JOINTS | SB_HANDLES_CONTACT | SB_HANDLES_EQUALITIES | SB_HANDLES_TENDONS,
    .id = "steel",
    .version = "0.1.0",
    .vendor = "Samebit",
    .text = "Rigid bodies and articulations with hard contact, friction cones, joint limits, loops and tendons; warm-started soft steps.",
#ifdef SAMEBIT_VULKAN
    .mode = {SB_MODE_CROSS_PLATFORM, SB_MODE_CROSS_PLATFORM},
    .mode_reason = {"fixed order of colours, shared maths, no atomics", "the CPU's kernels, colour after colour in the CPU's order"},
#else
    .mode = {SB_MODE_CROSS_PLATFORM, SB_MODE_OFF},
    .mode_reason = {"fixed order of colours, shared maths, no atomics", "this build has no shaders"},
#endif
    .params = params,
    .goldens = goldens,
    .param_count = ST_PARAM_COUNT,
    .golden_count = sizeof goldens / sizeof goldens[0],
    .param_size = sizeof(sb_param_desc),
    .golden_size = sizeof(sb_golden),
};

typedef struct st_solver {
  sb_bind bind;
  st_settings settings;
  float contact_omega; /* as asked */
  st_graph graph;
  st_sleep sleep;
  st_forest forest;
  st_observe observe;
  float limit_omega; /* as asked */
  uint32_t *record, *moved;
  uint32_t moved_count;
  uint32_t linked; /* bodies of articulations and constraints */
  st_body *bodies;
  st_warm *warms;
  st_frame *frames;
  float *masses, *blocks;
  float *cache; /* registered: ST_CACHE_FLOATS per contact */
  st_tick tick;
#ifdef SAMEBIT_VULKAN
  st_device device; /* on the backend vulkan */
#endif
  /* of the parallel loop */
  uint32_t first, end;
  uint32_t pass;
} st_solver;

static sb_status solver_create(void **instance)
{
  *instance = calloc(1, sizeof(st_solver));
  return *instance ? SB_OK : SB_E_MEMORY;
}

static void solver_destroy(void *instance) { free(instance); }

/* ---- a device ---- */

/* What runs on a device is there only where the plugin was built with shaders. */
#ifdef SAMEBIT_VULKAN
static sb_status check_bind(const sb_bind *bind, char *error, uint32_t error_size) { return sb_check_bind(bind, error, error_size); }
static bool on_device(const st_solver *s) { return s->bind.backend == SB_BACKEND_VULKAN; }

/* After everything else is bound. Masses say here only who moves, which is all that manifolds ask. */
static sb_status bind_device(st_solver *s, char *error, uint32_t error_size)
{
  const char *missing = s->linked ? "articulations and constraints" : s->sleep.ticks ? "sleep" : s->observe.on ? "observables" : NULL;
  if (!on_device(s)) return SB_OK;
  if (missing) {
    snprintf(error, error_size, "steel moves free bodies alone on the backend vulkan, without %s; use backend = cpu", missing);
    return SB_E_UNSUPPORTED;
  }
  for (uint32_t r = 0; r < s->moved_count; r++) s->masses[8 * (size_t)r] = s->bind.model->body_inv_mass[s->moved[r]] * s->frames[r].own;
  return st_device_bind(&s->device, &s->bind, s->moved_count, s->record, s->moved, s->frames, s->bodies, error, error_size);
}

static sb_status activate_device(st_solver *s, char *error, uint32_t error_size)
{
  return on_device(s) ? st_device_activate(&s->device, s->settings, error, error_size) : SB_OK;
}
#else
static sb_status check_bind(const sb_bind *bind, char *error, uint32_t error_size) { return sb_check_bind_cpu(bind, "steel", error, error_size); }
static bool on_device(const st_solver *s) { return (void)s, false; }
static sb_status bind_device(st_solver *s, char *error, uint32_t error_size) { return (void)s, (void)error, (void)error_size, SB_OK; }
static sb_status activate_device(st_solver *s, char *error, uint32_t error_size) { return (void)s, (void)error, (void)error_size, SB_OK; }
#endif

/* ---- setup ---- */

static bool take_memory(st_solver *s)
{
  const sb_host *host = s->bind.host;
  uint64_t bodies = (uint64_t)s->bind.model->body_count + 1, contacts = (uint64_t)s->bind.contact_capacity;
  /* every manifold in a bundle of its own, or one partly used bundle for each colour and number of points */
  uint64_t bundles = contacts + (ST_MAX_COLORS + 1) * ST_MAX_POINTS;
  struct {
    void *slot;
    uint64_t bytes;
  } wanted[] = {
      {&s->record, bodies * 4},
      {&s->moved, bodies * 4},
      {&s->bodies, bodies * sizeof(st_body)},
      {&s->warms, bodies * sizeof(st_warm)},
      {&s->frames, bodies * sizeof(st_frame)},
      {&s->masses, bodies * 32},
      {&s->graph.manifolds, (contacts + ST_FIND_CHUNK) * sizeof(st_manifold)},
      {&s->graph.found, (contacts / ST_FIND_CHUNK + 1) * 4},
#ifdef SAMEBIT_MUTANT_ARRIVAL_COLOURS
      {&s->graph.arrival, (contacts / ST_FIND_CHUNK + 1) * 4},
#endif
      {&s->graph.color, contacts + ST_FIND_CHUNK},
      {&s->graph.used_colors, (bodies + 1) * 4},
      {&s->graph.order, contacts * 4 + 4},
      {&s->graph.bundles, bundles * sizeof(st_bundle)},
      {&s->blocks, st_block_floats(contacts, s->bind.lanes) * sizeof(float)},
  };
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
    void *block = host->alloc(host->context, wanted[i].bytes);
    if (!block) return false;
    memcpy(wanted[i].slot, &block, sizeof block);
  }
  return true;
}

static void add_record(st_solver *s, uint32_t body, float own)
{
  const sb_model *m = s->bind.model;
  uint32_t record = s->moved_count++;
  s->record[body] = record;
  s->moved[record] = body;
  s->frames[record].own = own;
  s->frames[record].awake = 1.0f;
  memcpy(s->frames[record].inertia, m->body_inertia + 6 * (size_t)body, 6 * sizeof(float));
  memcpy(s->frames[record].inv_inertia, m->body_inv_inertia + 6 * (size_t)body, 6 * sizeof(float));
}

/* Own free bodies, then everybody else's moving bodies as obstacles. The record after them is what does not move. */
static void number_records(st_solver *s, const uint32_t *tree_bodies, uint32_t tree_body_count)
{
  const sb_model *m = s->bind.model;
  for (uint32_t b = 0; b < m->body_count; b++) s->record[b] = ST_NOBODY;
  for (uint32_t i = 0; i < tree_body_count; i++)
    if (!(m->body_flags[tree_bodies[i]] & SB_BODY_STATIC)) s->record[tree_bodies[i]] = ST_LINK;
  for (uint32_t i = 0; i < s->bind.body_count; i++) {
    uint32_t b = s->bind.bodies[i];
    if (s->record[b] == ST_NOBODY && !(m->body_flags[b] & SB_BODY_STATIC)) add_record(s, b, 1.0f);
  }
  for (uint32_t b = 0; b < m->body_count; b++)
    if (s->record[b] == ST_NOBODY && !(m->body_flags[b] & SB_BODY_STATIC)) add_record(s, b, 0.0f);
  s->bodies[s->moved_count].dq[3] = 1.0f;
  s->frames[s->moved_count].turn[3] = 1.0f;
}

static sb_status bind_articulations(st_solver *s, char *error, uint32_t error_size)
{
  uint32_t *bodies = s->bind.host->alloc(s->bind.host->context, ((uint64_t)s->bind.body_count + 1) * sizeof *bodies);
  uint32_t count = bodies ? st_forest_find(&s->bind, bodies) : ST_NONE;
  if (count == ST_NONE) {
    snprintf(error, error_size, "out of memory for the articulations of %u bodies", s->bind.body_count);
    return SB_E_MEMORY;
  }
  s->linked = count;
  number_records(s, bodies, count);
  return count ? st_forest_bind(&s->forest, &s->bind, bodies, count, s->record, s->moved_count, error, error_size) : SB_OK;
}

static sb_status solver_bind(void *instance, const sb_bind *bind, char *error, uint32_t error_size)
{
  st_solver *s = instance;
  sb_status status = check_bind(bind, error, error_size);
  if (status) return status;
  s->bind = *bind;
  s->graph.lanes = on_device(s) ? 1 : bind->lanes;
  s->contact_omega = (float)(SB_TWO_PI * bind->params[ST_PARAM_CONTACT_FREQUENCY]);
  s->forest.iterations = (uint32_t)bind->params[ST_PARAM_ITERATIONS];
  s->limit_omega = (float)(SB_TWO_PI * bind->params[ST_PARAM_JOINT_FREQUENCY]);
  s->settings = (st_settings){.substeps = (uint32_t)bind->params[ST_PARAM_SUBSTEPS],
                              .contact_zeta = (float)bind->params[ST_PARAM_CONTACT_DAMPING],
                              .max_push = (float)bind->params[ST_PARAM_MAX_PUSH],
                              .restitution_threshold = (float)bind->params[ST_PARAM_RESTITUTION_THRESHOLD]};
  if (!take_memory(s)) {
    snprintf(error, error_size, "out of memory for %u contacts", bind->contact_capacity);
    return SB_E_MEMORY;
  }
  sb_array_desc cache = {.struct_size = sizeof cache, .type = SB_TYPE_F32, .domain = SB_DOMAIN_CONTACT, .components = ST_CACHE_FLOATS,
                         .count = bind->contact_capacity, .lane_block = 1, .name = "contact_impulse"};
  void *data;
  status = bind->host->register_array(bind->host->context, &cache, &data);
  if (status) return status;
  s->cache = data;
  status = bind_articulations(s, error, error_size);
  if (status) return status;
  float sleep_speed = (float)bind->params[ST_PARAM_SLEEP_SPEED];
  s->sleep = (st_sleep){.ticks = (uint32_t)bind->params[ST_PARAM_SLEEP_TICKS], .speed2 = sleep_speed * sleep_speed};
  status = st_sleep_bind(&s->sleep, bind, error, error_size);
  if (status) return status;
  s->observe.on = bind->params[ST_PARAM_OBSERVABLES] != 0;
  status = st_observe_bind(&s->observe, &s->bind, error, error_size);
  s->forest.tick.impulse = s->observe.impulse;
  return status ? status : bind_device(s, error, error_size);
}

static sb_status solver_activate(void *instance, uint32_t mode, float dt, char *error, uint32_t error_size)
{
  st_solver *s = instance;
  (void)mode;
  sb_status status = sb_check_dt(dt, error, error_size);
  if (status) return status;
  float h = dt / (float)s->settings.substeps, cap = (float)(SB_TWO_PI * 0.25) / h;
  s->settings.h = h;
  s->settings.inv_h = 1.0f / h;
  s->settings.contact_omega = s->contact_omega < cap ? s->contact_omega : cap;
  s->forest.tick.step = (ab_settings){.dt = h, .midpoint = true};
  s->forest.tick.limit_omega = s->limit_omega < cap ? s->limit_omega : cap;
  return activate_device(s, error, error_size);
}

static void solver_deactivate(void *instance) { (void)instance; }

/* ---- passes ---- */

enum { PASS_LOAD, PASS_PUSH, PASS_MOVE, PASS_KEEP, PASS_COUNT, PASS_CLEAR, PASS_FIND, PASS_PREPARE, PASS_WARM, PASS_SOLVE, PASS_RELAX, PASS_RESTITUTION, PASS_STORE };

/* Elements in one chunk of a parallel loop; bodies are a multiple of 8. */
#define BUNDLE_CHUNK 16u
#define BODY_CHUNK 256u

static uint32_t chunk_size(uint32_t pass) { return pass <= PASS_COUNT ? BODY_CHUNK : pass <= PASS_FIND ? ST_FIND_CHUNK : BUNDLE_CHUNK; }

static void run_pass(st_solver *s, uint32_t lanes, uint32_t pass, uint32_t first, uint32_t end)
{
  const st_tick *t = &s->tick;
  switch (pass) {
  case PASS_LOAD: SB_LANE_DISPATCH(lanes, st_bodies_load, t, first, end); break;
  case PASS_PUSH: SB_LANE_DISPATCH(lanes, st_bodies_push, t, first, end); break;
  case PASS_MOVE: SB_LANE_DISPATCH(lanes, st_bodies_move, t, first, end); break;
  case PASS_KEEP: SB_LANE_DISPATCH(lanes, st_bodies_store, t, first, end); break;
  case PASS_COUNT: st_sleep_count(&s->sleep, t, first, end); break;
  case PASS_CLEAR: memset(t->cache + (size_t)first * ST_CACHE_FLOATS, 0, (size_t)(end - first) * ST_CACHE_FLOATS * sizeof(float)); break;
  case PASS_FIND: st_graph_find(&s->graph, t, first, end); break;
  case PASS_PREPARE: SB_LANE_DISPATCH(lanes, st_prepare, t, first, end); break;
  case PASS_WARM: SB_LANE_DISPATCH(lanes, st_warm_start, t, first, end); break;
  case PASS_SOLVE: SB_LANE_DISPATCH(lanes, st_solve, t, first, end, false); break;
  case PASS_RELAX: SB_LANE_DISPATCH(lanes, st_solve, t, first, end, true); break;
  case PASS_RESTITUTION: SB_LANE_DISPATCH(lanes, st_restitution, t, first, end); break;
  default: SB_LANE_DISPATCH(lanes, st_store, t, first, end); break;
  }
}

static void pass_chunk(void *user, uint32_t chunk)
{
  st_solver *s = user;
  uint32_t size = chunk_size(s->pass);
  uint32_t first = s->first + chunk * size, end = first + size < s->end ? first + size : s->end;
  run_pass(s, s->bind.lanes, s->pass, first, end);
}

static void run_chunks(st_solver *s, uint32_t pass, uint32_t first, uint32_t end)
{
  uint32_t size = chunk_size(pass);
  s->pass = pass;
  s->first = first;
  s->end = end;
  s->bind.host->parallel_for(s->bind.host->context, (end - first + size - 1) / size, pass_chunk, s);
}

/* The serial group: one manifold after another, on this thread and in one lane. */
static void run_serial(st_solver *s, uint32_t pass)
{
  const uint32_t *start = s->graph.color_bundle;
  run_pass(s, 1, pass, start[ST_MAX_COLORS], start[ST_MAX_COLORS + 1]);
}

/* Colour after colour, then the serial group. */
static void run_colors(st_solver *s, uint32_t pass)
{
  const uint32_t *start = s->graph.color_bundle;
  for (uint32_t c = 0; c < ST_MAX_COLORS; c++)
    if (start[c] < start[c + 1]) run_chunks(s, pass, start[c], start[c + 1]);
  run_serial(s, pass);
}

/* All manifolds at once, where they do not touch bodies. */
static void run_manifolds(st_solver *s, uint32_t pass)
{
  run_chunks(s, pass, 0, s->graph.color_bundle[ST_MAX_COLORS]);
  run_serial(s, pass);
}

/* Bodies to records, contacts to constraints. Prepared constraints hold all that the cache said. */
static void begin_tick(st_solver *s, const sb_step *step)
{
  uint32_t bodies = s->moved_count;
  if (s->sleep.ticks) st_sleep_wake(&s->sleep, &s->tick);
  st_observe_begin(&s->observe, &s->tick);
  run_chunks(s, PASS_LOAD, 0, bodies);
  run_chunks(s, PASS_FIND, 0, step->contacts->count);
  st_graph_build(&s->graph, step->contacts->count, bodies);
  run_manifolds(s, PASS_PREPARE);
  st_forest_begin(&s->forest, &s->tick);
  if (s->sleep.ticks) st_sleep_keep_before(&s->sleep, &s->tick);
  run_chunks(s, PASS_CLEAR, 0, step->contacts->count);
  if (s->sleep.ticks) st_sleep_keep_after(&s->sleep, &s->tick);
}

static void substep(st_solver *s, bool first)
{
  uint32_t bodies = s->moved_count;
  bool coupled = st_forest_is_coupled(&s->forest);
  if (coupled) st_forest_phase(&s->forest, ST_PREDICT, first);
  run_chunks(s, PASS_PUSH, 0, bodies);
  if (first) run_colors(s, PASS_WARM);
  if (coupled) st_forest_phase(&s->forest, ST_WARM, first);
  run_colors(s, PASS_SOLVE);
  if (coupled) st_forest_phase(&s->forest, ST_SOLVE, first);
  run_chunks(s, PASS_MOVE, 0, bodies);
  if (coupled) st_forest_phase(&s->forest, ST_DRIFT, first);
  run_colors(s, PASS_RELAX);
  if (coupled) st_forest_phase(&s->forest, ST_RELAX, first);
}

static void end_tick(st_solver *s)
{
  run_colors(s, PASS_RESTITUTION);
  if (st_forest_is_coupled(&s->forest)) st_forest_phase(&s->forest, ST_RESTITUTE, false);
  run_manifolds(s, PASS_STORE);
  st_forest_store(&s->forest);
  run_chunks(s, PASS_KEEP, 0, s->moved_count);
  st_observe_end(&s->observe, &s->tick, &s->bind);
  if (!s->sleep.ticks) return;
  run_chunks(s, PASS_COUNT, 0, s->moved_count);
  st_sleep_islands(&s->sleep, &s->tick, &s->graph);
}

/* Manifolds and colours here, unless contacts lie there; the rest there. */
static sb_status step_device(st_solver *s, const sb_step *step, char *error, uint32_t error_size)
{
#ifdef SAMEBIT_VULKAN
  if (!s->device.there) {
    run_chunks(s, PASS_FIND, 0, step->contacts->count);
    st_graph_build(&s->graph, step->contacts->count, s->moved_count);
  }
  return st_device_step(&s->device, &s->tick, &s->graph, error, error_size);
#else
  return (void)s, (void)step, (void)error, (void)error_size, SB_E_UNSUPPORTED;
#endif
}

static sb_status solver_step(void *instance, const sb_step *step, char *error, uint32_t error_size)
{
  st_solver *s = instance;
  sb_status status = sb_check_step(step, error, error_size);
  if (status) return status;
  uint32_t bodies = s->moved_count;
  s->tick = (st_tick){.settings = s->settings, .model = s->bind.model, .state = s->bind.state, .contacts = step->contacts,
                      .match = step->match, .record = s->record, .bodies = s->bodies, .warms = s->warms, .frames = s->frames, .masses = s->masses, .nobody = bodies,
                      .moved = s->moved, .moved_count = bodies, .manifolds = s->graph.manifolds, .order = s->graph.order,
                      .bundles = s->graph.bundles, .blocks = s->blocks, .cache = s->cache};
  if (on_device(s)) return step_device(s, step, error, error_size);
  begin_tick(s, step);
  st_forest_run_alone(&s->forest);
  for (uint32_t i = 0; i < s->settings.substeps; i++) substep(s, i == 0);
  end_tick(s);
  return SB_OK;
}

static const sb_solver_api api = {
    .struct_size = sizeof(sb_solver_api), .desc = &desc, .create = solver_create, .bind = solver_bind,
    .activate = solver_activate, .step = solver_step, .deactivate = solver_deactivate, .destroy = solver_destroy,
};
static const sb_solver_api *const solvers[] = {&api};
static const sb_solver_factory factory = {sizeof(sb_solver_factory), 1, solvers};

static const void *get_factory(const char *id) { return strcmp(id, SB_SOLVER_FACTORY_ID) ? NULL : &factory; }

SB_DEFINE_PLUGIN(steel, 1u | 4u | 8u, NULL, get_factory);
