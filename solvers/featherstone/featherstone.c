/* The featherstone solver plugin: reduced coordinates, articulated-body algorithm, penalty contact. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "featherstone_data.h"
#include "golden_hashes.h"
#include "samebit/solver_tools.h"

static const sb_param_desc params[FS_PARAM_COUNT] = {
    [FS_PARAM_SUBSTEPS] = {sizeof(sb_param_desc), SB_PARAM_INT, "substeps", "1", "steps that a tick is divided into", NULL, 1, 1, 256},
    [FS_PARAM_CONTACT_FREQUENCY] = {sizeof(sb_param_desc), SB_PARAM_FLOAT, "contact_frequency", "Hz",
                                    "natural frequency of a contact spring against the mass it carries; higher is stiffer", NULL, 200, 0.1, 10000},
    [FS_PARAM_CONTACT_DAMPING] = {sizeof(sb_param_desc), SB_PARAM_FLOAT, "contact_damping_ratio", "1",
                                  "damping of a contact; 1 is critical, 0 bounces", NULL, 1, 0, 100},
    [FS_PARAM_LIMIT_FREQUENCY] = {sizeof(sb_param_desc), SB_PARAM_FLOAT, "limit_frequency", "Hz",
                                  "natural frequency of a joint limit's spring; higher is stiffer", NULL, 100, 0.1, 10000},
    [FS_PARAM_LIMIT_DAMPING] = {sizeof(sb_param_desc), SB_PARAM_FLOAT, "limit_damping_ratio", "1",
                                "damping of a joint limit; 1 is critical, 0 bounces", NULL, 1, 0, 100},
    [FS_PARAM_INTEGRATOR] = {sizeof(sb_param_desc), SB_PARAM_CHOICE, "integrator", "1",
                             "midpoint: second order for articulations; euler: symplectic Euler, first order, a quarter cheaper",
                             "euler|midpoint", 1, 0, 1},
};

static const sb_golden goldens[] = {SB_GOLDENS_FEATHERSTONE};

static const sb_solver_desc desc = {
    .struct_size = sizeof(sb_solver_desc),
    .handles = SB_HANDLES_RIGID | SB_HANDLES_JOINTS | SB_HANDLES_CONTACT,
    .id = "featherstone",
    .version = "0.1.0",
    .vendor = "Samebit",
    .text = "Articulated bodies in reduced coordinates, O(n), with soft contact; joints cannot drift apart.",
    .mode = {SB_MODE_CROSS_PLATFORM, SB_MODE_OFF},
    .mode_reason = {"fixed order, shared maths, no atomics", "has no Vulkan backend yet"},
    .params = params,
    .goldens = goldens,
    .param_count = FS_PARAM_COUNT,
    .golden_count = sizeof goldens / sizeof goldens[0],
    .param_size = sizeof(sb_param_desc),
    .golden_size = sizeof(sb_golden),
};

static sb_status solver_create(void **instance)
{
  *instance = calloc(1, sizeof(fs_solver));
  return *instance ? SB_OK : SB_E_MEMORY;
}

static void solver_destroy(void *instance) { free(instance); }

static sb_status solver_bind(void *instance, const sb_bind *bind, char *error, uint32_t error_size)
{
  fs_solver *s = instance;
  sb_status status = sb_check_bind_cpu(bind, "featherstone", error, error_size);
  if (status) return status;
  s->bind = *bind;
  s->settings = (fs_settings){
      .substeps = (uint32_t)bind->params[FS_PARAM_SUBSTEPS],
      .step = {.midpoint = bind->params[FS_PARAM_INTEGRATOR] != 0,
               .limit_omega = (float)(SB_TWO_PI * bind->params[FS_PARAM_LIMIT_FREQUENCY]),
               .limit_zeta = (float)bind->params[FS_PARAM_LIMIT_DAMPING]},
      .contact_omega = (float)(SB_TWO_PI * bind->params[FS_PARAM_CONTACT_FREQUENCY]),
      .contact_zeta = (float)bind->params[FS_PARAM_CONTACT_DAMPING],
  };
  ab_request request = {.bind = &s->bind, .bodies = bind->bodies, .body_count = bind->body_count, .solver = "featherstone"};
  status = ab_setup(&s->forest, &request, error, error_size);
  if (status) return status;
  const sb_host *host = bind->host;
  uint64_t bodies = bind->model->body_count, contacts = bind->contact_capacity;
  s->touched = host->alloc(host->context, s->forest.bundle_count + 1);
  s->forces = host->alloc(host->context, (contacts + 1) * sizeof *s->forces);
  s->body_first = host->alloc(host->context, (bodies + 2) * sizeof *s->body_first);
  s->body_contact = host->alloc(host->context, (contacts + 1) * 2 * sizeof *s->body_contact);
  if (s->touched && s->forces && s->body_first && s->body_contact) return SB_OK;
  snprintf(error, error_size, "out of memory");
  return SB_E_MEMORY;
}

static sb_status solver_activate(void *instance, uint32_t mode, float dt, char *error, uint32_t error_size)
{
  fs_solver *s = instance;
  (void)mode;
  sb_status status = sb_check_dt(dt, error, error_size);
  if (status) return status;
  s->settings.step.dt = dt / (float)s->settings.substeps;
  return SB_OK;
}

static void solver_deactivate(void *instance) { (void)instance; }

/* ---- the tick ---- */

static void run_chunk(void *user, uint32_t chunk)
{
  fs_solver *s = user;
  const ab_bundle *b = &s->forest.bundles[chunk];
  if (s->touched[chunk])
    SB_LANE_DISPATCH(s->bind.lanes, fs_bundle_load, &s->tick, b);
  else
    SB_LANE_DISPATCH(s->bind.lanes, fs_bundle_run, &s->tick, b);
}

static void place_chunk(void *user, uint32_t chunk)
{
  fs_solver *s = user;
  if (s->touched[chunk]) SB_LANE_DISPATCH(s->bind.lanes, fs_bundle_place, &s->tick, &s->forest.bundles[chunk], s->ahead);
}

static void advance_chunk(void *user, uint32_t chunk)
{
  fs_solver *s = user;
  if (s->touched[chunk]) SB_LANE_DISPATCH(s->bind.lanes, fs_bundle_advance, &s->tick, &s->forest.bundles[chunk]);
}

static void store_chunk(void *user, uint32_t chunk)
{
  fs_solver *s = user;
  if (s->touched[chunk]) SB_LANE_DISPATCH(s->bind.lanes, fs_bundle_store, &s->tick, &s->forest.bundles[chunk]);
}

static sb_status solver_step(void *instance, const sb_step *step, char *error, uint32_t error_size)
{
  fs_solver *s = instance;
  const sb_host *host = s->bind.host;
  sb_status status = sb_check_step(step, error, error_size);
  if (status) return status;
  s->tick = (fs_tick){.settings = s->settings, .state = s->bind.state, .contacts = step->contacts, .forces = s->forces,
                      .body_first = s->body_first, .body_contact = s->body_contact};
  bool touched = fs_list_contacts(s, step->contacts);
  host->parallel_for(host->context, s->forest.bundle_count, run_chunk, s);
  if (!touched) return SB_OK;
  for (uint32_t i = 0; i < s->settings.substeps; i++) {
    s->ahead = true;
    host->parallel_for(host->context, s->forest.bundle_count, place_chunk, s);
    fs_contact_forces(s);
    host->parallel_for(host->context, s->forest.bundle_count, advance_chunk, s);
  }
  s->ahead = false;
  host->parallel_for(host->context, s->forest.bundle_count, place_chunk, s);
  host->parallel_for(host->context, s->forest.bundle_count, store_chunk, s);
  return SB_OK;
}

static const sb_solver_api api = {
    .struct_size = sizeof(sb_solver_api), .desc = &desc, .create = solver_create, .bind = solver_bind,
    .activate = solver_activate, .step = solver_step, .deactivate = solver_deactivate, .destroy = solver_destroy,
};
static const sb_solver_api *const solvers[] = {&api};
static const sb_solver_factory factory = {sizeof(sb_solver_factory), 1, solvers};

static const void *get_factory(const char *id) { return strcmp(id, SB_SOLVER_FACTORY_ID) ? NULL : &factory; }

SB_DEFINE_PLUGIN(featherstone, 1u | 4u | 8u, NULL, get_factory);
