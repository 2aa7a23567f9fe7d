/* Creation and the tick. */
#include "sim_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fp_env.h"
#include "samebit/solver_tools.h"

/* ---- services for solvers ---- */

static void host_log(void *context, uint32_t level, const char *text)
{
  const sim_part *part = context;
  fprintf(stderr, "%s: %s: %s\n", level ? "warning" : "note", part->name, text);
}

static void *host_alloc(void *context, uint64_t bytes)
{
  sim_part *part = context;
  if (bytes > SIZE_MAX - 128) return NULL;
  const sb_memory_source *source = part->sim->registry.memory;
  size_t size = ((size_t)bytes + 63) / 64 * 64;
  void **blocks = realloc(part->blocks, (part->block_count + 1) * sizeof *blocks);
  if (!blocks) return NULL;
  part->blocks = blocks;
  /* calloc leaves large blocks to the system's zero pages: what a plugin reserves and never touches costs nothing. */
  char *block = source ? source->take(source->context, part->name, (size_t)bytes) : calloc(1, size + 64);
  if (!block) return NULL;
  part->blocks[part->block_count++] = block;
  return source ? block : block + (64 - (uintptr_t)block % 64);
}

static sb_status host_register(void *context, const sb_array_desc *desc, void **data)
{
  sim_part *part = context;
  *data = NULL;
  if (desc->struct_size == sizeof *desc && desc->domain == SB_DOMAIN_CONTACT && !part->contact_start) {
    sb_status status = sb_contact_cache_start(part);
    if (status) return status;
  }
  return sb_registry_add_for(&part->sim->registry, part->name, desc, part->contact_start,
                             sb_collision_get_usage(part->sim->collision).contact_capacity, data, part->error, sizeof part->error);
}

static void host_parallel_for(void *context, uint32_t chunk_count, sb_chunk_fn fn, void *user)
{
  sim_part *part = context;
  part->sim->chunk_fp_faults += sb_thread_pool_run(part->sim->pool, chunk_count, fn, user);
}

static const void *host_extension(void *context, const char *id)
{
  sim_part *part = context;
  if (!strcmp(id, SB_DEVICE_CONTACTS_EXTENSION_ID)) return sb_sim_share_contacts(part);
  return part->device && !strcmp(id, SB_COMPUTE_EXTENSION_ID) ? part->device->compute : NULL;
}

static void run_collision_tasks(void *self, uint32_t chunk_count, void (*fn)(void *, uint32_t), void *user)
{
  sb_sim *sim = self;
  sim->chunk_fp_faults += sb_thread_pool_run(sim->pool, chunk_count, fn, user);
}

/* ---- creation ---- */

static sb_status create_state(sb_sim *sim, sb_diagnostics *diag)
{
  const uint32_t domain[] = {
#define SB_X_DOMAIN(DOMAIN, name, comps, doc) SB_DOMAIN_##DOMAIN,
      SB_STATE_ARRAYS(SB_X_DOMAIN)
#undef SB_X_DOMAIN
  };
  const char *names[] = {
#define SB_X_NAME(DOMAIN, name, comps, doc) #name,
      SB_STATE_ARRAYS(SB_X_NAME)
#undef SB_X_NAME
  };
  const uint32_t components[] = {
#define SB_X_COMPONENTS(DOMAIN, name, comps, doc) comps,
      SB_STATE_ARRAYS(SB_X_COMPONENTS)
#undef SB_X_COMPONENTS
  };
  float **slots[] = {
#define SB_X_SLOT(DOMAIN, name, comps, doc) &sim->state.name,
      SB_STATE_ARRAYS(SB_X_SLOT)
#undef SB_X_SLOT
  };
  sim->state.struct_size = sizeof sim->state;
  for (size_t i = 0; i < sizeof domain / sizeof domain[0]; i++) {
    sb_array_desc desc = {.struct_size = sizeof desc, .type = SB_TYPE_F32, .domain = domain[i], .components = components[i],
                          .count = sim->registry.domain_count[domain[i]], .lane_block = 1, .name = names[i]};
    char error[256];
    void *data;
    sb_status status = sb_registry_add(&sim->registry, "state", &desc, &data, error, sizeof error);
    if (status) return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, "state", "%s", error);
    *slots[i] = data;
  }
  return SB_OK;
}

static void copy_floats(float *to, const float *from, size_t count)
{
  if (count) memcpy(to, from, count * sizeof *to);
}

/* State of tick 0, from the model. */
static void set_initial_state(sb_sim *sim)
{
  const sb_model *m = sim->model;
  for (size_t i = 0; i < sim->registry.count; i++)
    memset(sim->registry.arrays[i].data, 0, sim->registry.arrays[i].words * sizeof(uint32_t));
  for (uint32_t p = 0; p < sim->part_count; p++)
    if (sim->parts[p].match) sb_contact_cache_refresh(&sim->parts[p]);
  copy_floats(sim->state.body_q, m->body_q, (size_t)m->body_count * 7);
  copy_floats(sim->state.body_qd, m->body_qd, (size_t)m->body_count * 6);
  copy_floats(sim->state.joint_q, m->joint_q, m->coord_count);
  copy_floats(sim->state.joint_qd, m->joint_qd, m->dof_count);
  copy_floats(sim->state.joint_target_q, m->joint_target_q, m->dof_count);
  copy_floats(sim->state.joint_target_qd, m->joint_target_qd, m->dof_count);
  copy_floats(sim->state.actuator_ctrl, m->actuator_ctrl, m->actuator_count);
  copy_floats(sim->state.particle_q, m->particle_q, (size_t)m->particle_count * 3);
  copy_floats(sim->state.particle_qd, m->particle_qd, (size_t)m->particle_count * 3);
}

static sb_status note_first_hash(sb_sim *sim, sb_diagnostics *diag)
{
  memset(sim->history_tick, 0xff, SB_HASH_HISTORY * sizeof *sim->history_tick);
  sim->history_tick[sim->tick % SB_HASH_HISTORY] = sim->tick;
  return sb_sim_hash_all(sim, &sim->history[sim->tick % SB_HASH_HISTORY], NULL, diag);
}

/* After a call of a solver. What it did to the environment is put right, and is an error above Off; `call` says which it was. */
static sb_status check_environment(const sim_part *part, uint32_t mode, const char *call, sb_diagnostics *diag)
{
  if (sb_fp_env_is_standard()) return SB_OK;
  const char *fault = sb_fp_env_fault();
  sb_fp_env_enter();
  if (mode == SB_MODE_OFF) return SB_OK;
  return sb_report(diag, SB_ERROR, SB_CODE_MODE_FP_ENVIRONMENT, part->name,
                   "%s of the solver changed the floating-point environment (%s); it must leave rounding and subnormal settings alone", call, fault);
}

static sb_status activate_parts(sb_sim *sim, sb_diagnostics *diag)
{
  for (uint32_t p = 0; p < sim->part_count; p++) {
    sim_part *part = &sim->parts[p];
    if (part->active) part->api->deactivate(part->instance);
    part->active = false;
    sb_status checked = check_environment(part, sim->mode, "deactivate", diag);
    if (checked) return checked;
    char error[512] = "";
    sb_sim_enter_device(part, false);
    sb_status status = part->api->activate(part->instance, part->mode, sim->dt, error, sizeof error);
    sb_sim_leave_device(part);
    error[sizeof error - 1] = 0;
    checked = check_environment(part, sim->mode, "activate", diag);
    if (!checked) checked = sb_sim_device_failure(sim, part, status, "activate", error, diag);
    if (checked) return checked;
    if (status) return sb_report(diag, SB_ERROR, SB_CODE_SOLVER_REFUSED, part->name, "the solver does not start: %s", error);
    part->active = true;
  }
  return SB_OK;
}

/* The ABI promises ascending bodies and whole articulations. */
static bool bodies_are_whole(const sb_model *m, const sb_sim_part *config)
{
  uint32_t at = 0;
  for (uint32_t i = 0; i < config->body_count; i++) {
    uint32_t body = config->bodies[i];
    if (body >= m->body_count || (i && body <= config->bodies[i - 1])) return false;
    int32_t parent = m->joint_parent[body];
    if (parent < 0) continue;
    uint32_t low = 0, high = i;
    while (low < high) {
      at = low + (high - low) / 2;
      if (config->bodies[at] < (uint32_t)parent)
        low = at + 1;
      else
        high = at;
    }
    if (low == i || config->bodies[low] != (uint32_t)parent) return false;
  }
  return true;
}

static bool has_particle(const sb_sim_part *config, int32_t particle)
{
  return sb_has_body(config->particles, config->particle_count, particle);
}

/* Ascending particles and whole deformables. */
static bool particles_are_whole(const sb_model *m, const sb_sim_part *config)
{
  uint32_t i = 0;
  while (i < config->particle_count) {
    uint32_t p = config->particles[i];
    if (p >= m->particle_count) return false;
    uint32_t d = (uint32_t)m->particle_deformable[p], first = (uint32_t)m->deformable_first_particle[d], n = m->deformable_particles[d];
    if (p != first || n > config->particle_count - i || (i && p <= config->particles[i - 1])) return false;
    for (uint32_t k = 0; k < n; k++)
      if (config->particles[i + k] != first + k) return false;
    i += n;
  }
  return true;
}

/* What the solver must handle for the particles that it is given: SB_HANDLES_* bits. */
static uint32_t needed_for_particles(const sb_model *m, const sb_sim_part *config)
{
  uint32_t needed = config->particle_count ? SB_HANDLES_PARTICLES : 0u;
  for (uint32_t t = 0; t < m->tri_count && config->particle_count; t++)
    if (has_particle(config, m->tri_indices[3 * (size_t)t])) {
      needed |= SB_HANDLES_CLOTH;
      break;
    }
  for (uint32_t e = 0; e < m->edge_count && config->particle_count; e++)
    if (has_particle(config, m->edge_indices[4 * (size_t)e])) {
      needed |= SB_HANDLES_CLOTH;
      break;
    }
  for (uint32_t t = 0; t < m->tet_count && config->particle_count; t++)
    if (has_particle(config, m->tet_indices[4 * (size_t)t])) {
      needed |= SB_HANDLES_SOFT;
      break;
    }
  return needed;
}

static sb_status check_part_particles(const sb_sim *sim, const sb_sim_part *config, sb_diagnostics *diag)
{
  if (!particles_are_whole(sim->model, config))
    return sb_report(diag, SB_ERROR, SB_CODE_BODY_SPLIT, config->name,
                     "the particles of a part must be ascending, inside the model, and whole deformables");
  uint32_t missing = needed_for_particles(sim->model, config) & ~config->api->desc->handles;
  if (!missing) return SB_OK;
  return sb_report(diag, SB_ERROR, SB_CODE_SOLVER_REFUSED, config->name,
                   "%s does not handle %s; give the scene's deformables to another solver, such as xpbd",
                   config->api->desc->id,
                   missing & SB_HANDLES_PARTICLES ? "particles" : missing & SB_HANDLES_CLOTH ? "triangles and bending edges" : "tetrahedra");
}

static sb_status bind_part(sb_sim *sim, sim_part *part, const sb_sim_part *config, sb_diagnostics *diag)
{
  if (!bodies_are_whole(sim->model, config))
    return sb_report(diag, SB_ERROR, SB_CODE_BODY_SPLIT, config->name,
                     "the bodies of a part must be ascending, inside the model, and hold the parent of each body that has one");
  sb_status checked = check_part_particles(sim, config, diag);
  if (checked) return checked;
  part->sim = sim;
  part->api = config->api;
  part->mode = config->mode;
  part->body_count = config->body_count;
  part->particle_count = config->particle_count;
  snprintf(part->name, sizeof part->name, "%s", config->name);
  size_t param_count = config->api->desc->param_count;
  part->params = malloc((param_count + 1) * sizeof *part->params);
  part->bodies = malloc(((size_t)config->body_count + 1) * sizeof *part->bodies);
  part->particles = malloc(((size_t)config->particle_count + 1) * sizeof *part->particles);
  if (!part->params || !part->bodies || !part->particles || part->api->create(&part->instance))
    return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, part->name, "no memory for the solver");
  checked = check_environment(part, sim->mode, "create", diag);
  if (checked) return checked;
  if (param_count) memcpy(part->params, config->params, param_count * sizeof *part->params);
  if (config->body_count) memcpy(part->bodies, config->bodies, config->body_count * sizeof *part->bodies);
  if (config->particle_count) memcpy(part->particles, config->particles, config->particle_count * sizeof *part->particles);
  if (config->backend == SB_BACKEND_VULKAN) {
    sb_status given = sb_sim_give_device(sim, part, diag);
    if (given) return given;
  }
  part->host = (sb_host){.struct_size = sizeof(sb_host), .context = part, .log = host_log, .alloc = host_alloc,
                         .register_array = host_register, .parallel_for = host_parallel_for,
                         .get_extension = host_extension};
  uint32_t lanes = sim->lanes;
  while (config->lanes && lanes > 1 && !(config->lanes & lanes)) lanes = lanes == 8 ? 4 : 1;
  sb_bind bind = {.struct_size = sizeof bind, .backend = config->backend, .lanes = lanes,
                  .body_count = config->body_count, .particle_count = config->particle_count, .particles = part->particles,
                  .contact_capacity = sb_collision_get_usage(sim->collision).contact_capacity,
                  .particle_contact_capacity = sb_collision_get_usage(sim->collision).particle_contact_capacity,
                  .near_pair_capacity = sb_collision_get_usage(sim->collision).near_pair_capacity, .seed = sim->seed, .bodies = part->bodies, .params = part->params,
                  .model = sim->model, .state = &sim->state, .host = &part->host};
  char error[512] = "";
  sb_sim_enter_device(part, false);
  sb_status status = part->api->bind(part->instance, &bind, error, sizeof error);
  sb_sim_leave_device(part);
  error[sizeof error - 1] = 0;
  checked = check_environment(part, sim->mode, "bind", diag);
  if (!checked) checked = sb_sim_device_failure(sim, part, status, "bind", error, diag);
  if (checked) return checked;
  if (!status) return SB_OK;
  if (!error[0]) snprintf(error, sizeof error, "%s", part->error[0] ? part->error : "no reason given");
  sb_status refused = sb_report(diag, SB_ERROR, SB_CODE_SOLVER_REFUSED, part->name, "%s cannot simulate this scene: %s", part->api->desc->id, error);
  /* on a device a solver may handle less than its descriptor says, and a shader may break the rules of the mode */
  return config->backend != SB_BACKEND_CPU && (status == SB_E_UNSUPPORTED || status == SB_E_MODE) ? status : refused;
}

static sb_status create_collision(sb_sim *sim, const sb_sim_config *config, sb_diagnostics *diag)
{
  sb_collision_settings settings = sb_collision_default_settings();
  settings.broad_phase = config->broad_phase;
  settings.contact_capacity = config->contact_capacity;
  settings.pair_capacity = config->pair_capacity;
  settings.particle_contact_capacity = config->particle_contact_capacity;
  settings.near_pair_capacity = config->near_pair_capacity;
  settings.triangle_capacity = config->triangle_capacity;
  settings.speculative_margin = config->speculative_margin;
  settings.ccd_bodies = config->ccd_bodies;
  settings.ccd_body_count = config->ccd_body_count;
  settings.lanes = sim->lanes;
  settings.truncate = sim->mode == SB_MODE_OFF; /* counted there; above Off an overflow stops the run */
  if (sb_collision_create(sim->model, &settings, &sim->collision))
    return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, "collision", "no memory for the collision pipeline");
  return SB_OK;
}

static uint64_t fold_bytes(uint64_t hash, const void *bytes, size_t size)
{
  for (size_t i = 0; i < size; i++) hash = (hash ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3u; /* FNV-1a */
  return hash;
}

static uint64_t fold_number(uint64_t hash, uint64_t number)
{
  for (int i = 0; i < 8; i++) hash = (hash ^ (number >> (8 * i) & 0xffu)) * 0x100000001b3u;
  return hash;
}

static uint64_t hash_setup(const sb_sim_config *config)
{
  uint64_t h = fold_number(fold_number(0xcbf29ce484222325u, config->seed), (uint64_t)config->coupling);
  uint32_t margin;
  memcpy(&margin, &config->speculative_margin, sizeof margin);
  h = fold_number(h, margin);
  for (uint32_t i = 0; i < config->ccd_body_count; i++) h = fold_number(h, config->ccd_bodies[i]);
  for (uint32_t p = 0; p < config->part_count; p++) {
    const sb_sim_part *part = &config->parts[p];
    const sb_solver_desc *desc = part->api->desc;
    h = fold_bytes(h, desc->id, strlen(desc->id) + 1);
    h = fold_bytes(h, desc->version, strlen(desc->version) + 1);
    for (uint32_t i = 0; i < desc->param_count; i++) {
      uint64_t bits;
      memcpy(&bits, &part->params[i], sizeof bits);
      h = fold_number(h, bits);
    }
    for (uint32_t i = 0; i < part->body_count; i++) h = fold_number(h, part->bodies[i]);
    for (uint32_t i = 0; i < part->particle_count; i++) h = fold_number(h, part->particles[i]);
  }
  return h;
}

sb_status sb_sim_create(const sb_sim_config *config, sb_sim **out, sb_diagnostics *diag)
{
  *out = NULL;
  if (config->dt_numerator == 0 || config->dt_denominator == 0 || config->dt_numerator >= 1u << 24 ||
      config->dt_denominator >= 1u << 24)
    return sb_report(diag, SB_ERROR, SB_CODE_SIM_DT, "world.dt",
                     "dt %u/%u s: both numbers must be whole, above 0 and below 16777216", config->dt_numerator,
                     config->dt_denominator);
  sb_sim *sim = calloc(1, sizeof *sim);
  if (!sim) return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, "simulation", "no memory");
  sb_fp_env saved = sb_fp_env_enter();
  sim->store = config->model;
  sim->model = sb_model_store_view(config->model);
  sim->dt_numerator = config->dt_numerator;
  sim->dt_denominator = config->dt_denominator;
  sim->dt = (float)config->dt_numerator / (float)config->dt_denominator;
  sim->mode = config->mode;
  sim->seed = config->seed;
  sim->disturb = config->disturb;
  sim->setup_hash = hash_setup(config);
  sim->lanes = config->lanes && config->lanes <= sb_cpu_lanes() ? config->lanes : sb_cpu_lanes();
  sim->part_count = config->part_count;
  sim->parts = calloc(config->part_count ? config->part_count : 1, sizeof *sim->parts);
  sim->history = calloc(SB_HASH_HISTORY, sizeof *sim->history);
  sim->history_tick = calloc(SB_HASH_HISTORY, sizeof *sim->history_tick);
  sim->body_q_before = calloc((size_t)sim->model->body_count * 7 + 1, sizeof *sim->body_q_before);
  sb_status status = SB_OK;
  if (!sim->parts || !sim->history || !sim->history_tick || !sim->body_q_before || sb_registry_init(&sim->registry, sim->model) ||
      sb_thread_pool_create(config->threads ? config->threads : 1, config->shuffle, &sim->pool))
    status = sb_report(diag, SB_ERROR, SB_CODE_MEMORY, "simulation", "no memory for state or threads");
  sim->registry.memory = config->memory;
  if (!status) status = create_state(sim, diag);
  if (!status && sb_sim_hash_start(sim)) status = sb_report(diag, SB_ERROR, SB_CODE_MEMORY, "simulation", "no memory for hashes");
  if (!status) status = create_collision(sim, config, diag);
  if (!status) status = sb_sim_open_device(sim, config, diag);
  if (!status) status = sb_sim_place_collision(sim, config, diag);
  if (!status) status = sb_coupling_create(sim, config, diag);
  if (!status) set_initial_state(sim); /* solvers may look at it while they bind */
  for (uint32_t p = 0; !status && p < sim->part_count; p++) status = bind_part(sim, &sim->parts[p], &config->parts[p], diag);
  if (!status) status = sb_sim_create_constraints(sim, diag);
  if (!status) status = sb_sensors_create(sim, diag);
  if (!status && config->events) status = sb_events_create(sim, diag);
  if (!status) status = sb_sim_settle_device(sim, diag);
  if (!status) status = sb_sim_reset(sim, diag);
  sb_fp_env_leave(saved);
  if (status) {
    sb_sim_destroy(sim);
    return status;
  }
  *out = sim;
  return SB_OK;
}

void sb_sim_destroy(sb_sim *sim)
{
  if (!sim) return;
  sb_fp_env saved = sb_fp_env_enter();
  for (uint32_t p = 0; sim->parts && p < sim->part_count; p++) {
    sim_part *part = &sim->parts[p];
    if (part->active) part->api->deactivate(part->instance);
    if (part->instance) part->api->destroy(part->instance);
    sb_fp_env_enter(); /* whatever they did to it */
    for (size_t b = 0; b < part->block_count; b++) sb_memory_give(sim->registry.memory, part->blocks[b]);
    free(part->blocks);
    free(part->params);
    free(part->bodies);
    free(part->particles);
    free(part->contact_start);
    free(part->match);
  }
  free(sim->parts);
  sb_sim_close_device(sim);
  sb_collision_destroy(sim->collision);
  sb_thread_pool_destroy(sim->pool);
  sb_registry_free(&sim->registry);
  sb_coupling_free(sim);
  free(sim->tendons);
  free(sim->gears);
  free(sim->pins);
  free(sim->touching);
  free(sim->touched);
  free(sim->events);
  free(sim->body_q_before);
  free(sim->past_q);
  free(sim->past_qd);
  free(sim->history);
  free(sim->history_tick);
  free(sim->hash_start);
  free(sim->hash_sums);
  free(sim);
  sb_fp_env_leave(saved);
}

sb_status sb_sim_reset(sb_sim *sim, sb_diagnostics *diag)
{
  sb_fp_env saved = sb_fp_env_enter();
  sim->tick = 0;
  sim->failed = false;
  sim->owed_seconds = 0;
  sim->stats = (sb_sim_stats){0};
  set_initial_state(sim);
  sb_sim_claim(sim, true);
  sb_status status = activate_parts(sim, diag);
  sb_events_reset(sim);
  sb_sensors_note_past(sim);
  if (!status) sb_sensors_evaluate(sim, 0);
  if (!status) status = note_first_hash(sim, diag);
  sb_fp_env_leave(saved);
  return status;
}

/* ---- the tick ---- */

/* The force of a motor on a tendon, at the joints that the tendon runs over. */
static void pull_tendon(sb_sim *sim, uint32_t tendon, float force)
{
  const sb_model *m = sim->model;
  uint32_t first = (uint32_t)m->tendon_first_term[tendon];
  for (uint32_t i = first; i < first + m->tendon_terms[tendon]; i++)
    sim->state.joint_f[m->tendon_term_dof[i]] += m->tendon_term_coef[i] * force;
}

/* Motors add force, servo actuators set targets; the control is clamped to its range. */
static void apply_actuators(sb_sim *sim)
{
  const sb_model *m = sim->model;
  if (m->dof_count) memset(sim->state.joint_f, 0, m->dof_count * sizeof(float));
  for (uint32_t a = 0; a < m->actuator_count; a++) {
    float ctrl = sim->state.actuator_ctrl[a];
    ctrl = ctrl < m->actuator_ctrl_lower[a] ? m->actuator_ctrl_lower[a] : ctrl;
    ctrl = ctrl > m->actuator_ctrl_upper[a] ? m->actuator_ctrl_upper[a] : ctrl;
    int32_t dof = m->actuator_dof[a];
    float gear = m->actuator_gear[a];
    if (m->actuator_tendon[a] >= 0)
      pull_tendon(sim, (uint32_t)m->actuator_tendon[a], gear * ctrl);
    else if (m->actuator_kind[a] == SB_ACTUATOR_MOTOR)
      sim->state.joint_f[dof] += gear * ctrl;
    else if (m->actuator_kind[a] == SB_ACTUATOR_POSITION)
      sim->state.joint_target_q[dof] = ctrl / gear;
    else
      sim->state.joint_target_qd[dof] = ctrl / gear;
  }
}

static void note_overlap(sb_sim *sim, float deepest)
{
  if (!(deepest > sim->stats.largest_penetration)) return;
  sim->stats.largest_penetration = deepest;
  sim->stats.penetration_tick = sim->tick;
}

uint32_t sb_sim_list_buffers(const sb_sim *sim, sb_sim_buffer out[SB_SIM_BUFFERS])
{
  sb_collision_usage u = sb_collision_get_usage(sim->collision);
  uint32_t n = 0;
  out[n++] = (sb_sim_buffer){"pairs", "pairs", "pair_capacity", u.pair_count, u.pair_peak, u.pair_capacity};
  if (sim->collides_there && (u.triangle_capacity || u.triangle_count))
    out[n++] = (sb_sim_buffer){"triangles", "triangles of heightfields", "triangle_capacity", u.triangle_count, u.triangle_peak, u.triangle_capacity};
  out[n++] = (sb_sim_buffer){"contacts", "contacts", "contact_capacity", u.contact_count, u.contact_peak, u.contact_capacity};
  if (!sim->model->particle_count) return n;
  out[n++] = (sb_sim_buffer){"particle_contacts", "contacts of particles", "particle_contact_capacity", u.particle_contact_count,
                             u.particle_contact_peak, u.particle_contact_capacity};
  out[n++] = (sb_sim_buffer){"near_pairs", "near pairs of particles", "near_pair_capacity", u.near_pair_count, u.near_pair_peak, u.near_pair_capacity};
  return n;
}

static sb_status report_overflow(const sb_sim *sim, sb_diagnostics *diag)
{
  sb_sim_buffer b[SB_SIM_BUFFERS];
  uint32_t n = sb_sim_list_buffers(sim, b), i = 0;
  while (i + 1 < n && b[i].count <= b[i].capacity) i++;
  char where[64];
  snprintf(where, sizeof where, "collision.%s", b[i].key);
  return sb_report(diag, SB_ERROR, SB_CODE_CAPACITY_COLLISION, where, "tick %llu needs %u %s, capacity is %u: set %s = %u in [collision]",
                   (unsigned long long)sim->tick, b[i].count, b[i].what, b[i].capacity, b[i].key, b[i].count * 5 / 4);
}

/* What the pipeline's counts mean: too many stop the run above Off. */
static sb_status judge_counts(sb_sim *sim, bool overflow, sb_diagnostics *diag)
{
  if (overflow && sim->mode > SB_MODE_OFF) return report_overflow(sim, diag);
  if (overflow) sim->stats.overflow_ticks++;
  note_overlap(sim, sb_collision_get_usage(sim->collision).deepest);
  return SB_OK;
}

static sb_status collide(sb_sim *sim, sb_diagnostics *diag)
{
  sb_collision_tasks tasks = {sim, run_collision_tasks};
  sb_status status = sim->collides_there ? sb_sim_collide_there(sim, diag)
                                         : sb_collision_step_moving(sim->collision, sim->state.body_q, sim->state.body_qd, sim->dt, &tasks);
  bool overflow = status == SB_E_CAPACITY;
  if (sim->collides_there && status && !overflow) return status;
  if (!sim->particles_there && sb_collision_meets_particles(sim->collision) && (!status || (overflow && sim->mode == SB_MODE_OFF))) {
    sb_status pulled = sb_sim_pull(sim, true, diag);
    if (pulled) return pulled;
    status = sb_collision_step_particles(sim->collision, sim->state.particle_q, sim->state.particle_qd, &tasks);
    overflow = overflow || status == SB_E_CAPACITY;
  }
  if (status && status != SB_E_CAPACITY)
    return sb_report(diag, SB_ERROR, SB_CODE_NUMERIC_COLLISION, "collision", "tick %llu: the collision pipeline failed",
                     (unsigned long long)sim->tick);
  if (sim->contacts_stay) return SB_OK; /* counted when the tick's work there is done */
  status = judge_counts(sim, overflow, diag);
  if (!status) sb_events_find(sim);
  return status;
}

static sb_status step_part(sb_sim *sim, sim_part *part, sb_diagnostics *diag)
{
  static const sb_contacts nothing = {.struct_size = sizeof nothing};
  static const sb_particle_contacts no_particles = {.struct_size = sizeof no_particles};
  uint32_t index = (uint32_t)(part - sim->parts);
  sb_step step = {.struct_size = sizeof step, .tick = sim->tick, .dt = sim->dt, .body_q_before = sim->body_q_before,
                  .particle_contacts = sb_coupling_particle_contacts(sim, index), .near_pairs = sb_coupling_near_pairs(sim, index),
                  .contacts = sb_coupling_contacts(sim, index), .match = part->match};
  if (part->takes_contacts) {
    step.contacts = &nothing;
    step.particle_contacts = &no_particles;
    step.match = NULL;
  } else if (part->match) {
    sb_contact_cache_match(part, step.contacts);
  }
  char error[512] = "";
  sb_status handed = sb_sim_hand_over(sim, part, diag);
  if (handed) return handed;
  sim->chunk_fp_faults = 0;
  sim->at_work = part->name;
  sb_sim_enter_device(part, true);
  sb_status status = part->api->step(part->instance, &step, error, sizeof error);
  sb_sim_leave_device(part);
  sim->at_work = NULL;
  error[sizeof error - 1] = 0;
  sb_sim_take_back(sim, part);
  bool own_fault = !sb_fp_env_is_standard();
  if (own_fault || sim->chunk_fp_faults) {
    const char *fault = own_fault ? sb_fp_env_fault() : "in a parallel task";
    sb_fp_env_enter();
    if (sim->mode > SB_MODE_OFF)
      return sb_report(diag, SB_ERROR, SB_CODE_MODE_FP_ENVIRONMENT, part->name,
                       "tick %llu: the solver changed the floating-point environment (%s); it must leave rounding and "
                       "subnormal settings alone",
                       (unsigned long long)sim->tick, fault);
  }
  if (part->match && !part->takes_contacts) sb_contact_cache_keep(part, step.contacts);
  char when[32];
  snprintf(when, sizeof when, "tick %llu", (unsigned long long)sim->tick);
  sb_status failure = sb_sim_device_failure(sim, part, status, when, error, diag);
  if (failure) return failure;
  if (status)
    return sb_report(diag, SB_ERROR, SB_CODE_SOLVER_FAILED, part->name, "tick %llu: %s",
                     (unsigned long long)sim->tick, error[0] ? error : "the solver failed without a reason");
  return SB_OK;
}

static const char *part_of_body(const sb_sim *sim, int32_t body)
{
  for (uint32_t p = 0; body >= 0 && p < sim->part_count; p++)
    for (uint32_t i = 0; i < sim->parts[p].body_count; i++)
      if (sim->parts[p].bodies[i] == (uint32_t)body) return sim->parts[p].name;
  return "?";
}

static const char *part_of_particle(const sb_sim *sim, uint32_t particle)
{
  for (uint32_t p = 0; p < sim->part_count; p++)
    if (sb_has_body(sim->parts[p].particles, sim->parts[p].particle_count, (int32_t)particle)) return sim->parts[p].name;
  return "?";
}

static sb_status report_bad_number(const sb_sim *sim, sb_diagnostics *diag)
{
  sb_status pulled = sb_sim_pull(sim, true, diag);
  for (size_t i = 0; i < sim->registry.count && !pulled; i++) {
    const sb_array *a = &sim->registry.arrays[i];
    uint32_t element, component;
    if (!sb_array_first_bad(a, sim->model->world_count, &element, &component)) continue;
    int32_t body = sb_array_body(&sim->registry, a, element);
    uint32_t word = a->data[sb_array_word(a, element, component)];
    if (a->domain == SB_DOMAIN_PARTICLE) {
      uint32_t d = (uint32_t)sim->model->particle_deformable[element];
      return sb_report(diag, SB_ERROR, SB_CODE_NUMERIC_NOT_FINITE, part_of_particle(sim, element),
                       "tick %llu: %s in %s[%u] component %u, particle %u of deformable \"%s\"; use a smaller dt or more substeps, or a "
                       "softer material",
                       (unsigned long long)sim->tick, (a->data[sb_array_word(a, element, component)] & 0x7fffffu) ? "NaN" : "infinity", a->name,
                       element, component, element - (uint32_t)sim->model->deformable_first_particle[d],
                       sb_model_store_name(sim->store, SB_NAME_DEFORMABLE, d));
    }
    const char *body_name = body >= 0 ? sb_model_store_name(sim->store, SB_NAME_BODY, (uint32_t)body) : "";
    return sb_report(diag, SB_ERROR, SB_CODE_NUMERIC_NOT_FINITE, part_of_body(sim, body),
                     "tick %llu: %s in %s[%u] component %u, body %d \"%s\"; use a smaller dt or more substeps, or look at the "
                     "forces on this body",
                     (unsigned long long)sim->tick, (word & 0x7fffffu) ? "NaN" : "infinity", a->name, element, component, body,
                     body_name);
  }
  return pulled;
}

/* Before the solvers: what the host does with state. */
static sb_status begin_on_host(sb_sim *sim, sb_diagnostics *diag)
{
  sb_status status = sb_sim_pull(sim, false, diag);
  if (status) return status;
  sb_sim_claim(sim, false);
  sb_sensors_note_past(sim);
  apply_actuators(sim);
  sb_sim_apply_constraints(sim);
  return SB_OK;
}

static sb_status end_on_host(sb_sim *sim, sb_diagnostics *diag)
{
  sb_status status = sb_sim_pull(sim, false, diag);
  if (status) return status;
  sb_sim_claim(sim, false);
  sb_sensors_evaluate(sim, sim->tick + 1);
  return SB_OK;
}

static sb_status step_inside(sb_sim *sim, sb_diagnostics *diag)
{
  /* where all stays on the device, the host has a part only after it has been given the state */
  bool touched = sim->resident && sb_sim_is_touched(sim);
  sb_status status = sim->resident && !touched ? SB_OK : begin_on_host(sim, diag);
  if (!status) status = collide(sim, diag);
  if (status) return status;
  if (sim->disturb) sb_sim_disturb(sim);
  if (!sim->contacts_stay) copy_floats(sim->body_q_before, sim->state.body_q, (size_t)sim->model->body_count * 7);
  for (uint32_t p = 0; !status && p < sim->part_count; p++) status = step_part(sim, &sim->parts[p], diag);
  if (!status && !sim->resident) status = end_on_host(sim, diag);
  if (!status) status = sb_sim_clear_forces(sim, touched, diag);
  if (status) return status;
  bool bad = false;
  uint64_t hash;
  status = sb_sim_hash_all(sim, &hash, &bad, diag);
  if (!status && sim->contacts_stay) {
    status = sb_sim_count_contacts(sim, diag);
    if (!status || status == SB_E_CAPACITY) status = judge_counts(sim, status == SB_E_CAPACITY, diag);
  }
  if (status) return status;
  if (bad && sim->mode > SB_MODE_OFF) return report_bad_number(sim, diag);
  if (bad) sim->stats.not_finite_ticks++;
  sim->tick++;
  sim->history[sim->tick % SB_HASH_HISTORY] = hash;
  sim->history_tick[sim->tick % SB_HASH_HISTORY] = sim->tick;
  return SB_OK;
}

sb_status sb_sim_step(sb_sim *sim, sb_diagnostics *diag)
{
  if (sim->failed)
    return sb_report(diag, SB_ERROR, SB_CODE_SIM_STOPPED, "simulation", "tick %llu failed; reset or restore before stepping on",
                     (unsigned long long)sim->tick);
  sb_fp_env saved = sb_fp_env_enter();
  sb_status status = step_inside(sim, diag);
  sim->failed = status != SB_OK;
  sb_fp_env_leave(saved);
  return status;
}

sb_status sb_sim_advance(sb_sim *sim, double seconds, uint32_t *ticks, sb_diagnostics *diag)
{
  double dt = (double)sim->dt_numerator / (double)sim->dt_denominator;
  uint32_t done = 0;
  sb_status status = SB_OK;
  if (seconds > 0) sim->owed_seconds += seconds;
  while (!status && sim->owed_seconds >= dt) {
    status = sb_sim_step(sim, diag);
    if (!status) sim->owed_seconds -= dt, done++;
  }
  if (ticks) *ticks = done;
  return status;
}

const char *sb_sim_at_work(const sb_sim *sim) { return sim->at_work; }
uint64_t sb_sim_tick(const sb_sim *sim) { return sim->tick; }
const sb_registry *sb_sim_registry(const sb_sim *sim)
{
  sb_sim_pull(sim, true, NULL);
  return &sim->registry;
}

const sb_near_pairs *sb_sim_near_pairs(const sb_sim *sim) { return sb_collision_near_pairs(sim->collision); }
sb_state *sb_sim_state(sb_sim *sim)
{
  sb_sim_pull(sim, true, NULL);
  sb_sim_claim(sim, true);
  return &sim->state;
}

const sb_contact_event *sb_sim_events(const sb_sim *sim, uint32_t *count)
{
  *count = sim->event_count;
  return sim->events;
}

const float *sb_sim_sensor_data(const sb_sim *sim) { return sim->sensor_data; }

sb_sim_stats sb_sim_statistics(const sb_sim *sim)
{
  sb_sim_stats stats = sim->stats;
  sb_collision_usage c = sb_collision_get_usage(sim->collision);
  stats.contact_peak = c.contact_peak;
  stats.contact_capacity = c.contact_capacity;
  stats.pair_peak = c.pair_peak;
  stats.pair_capacity = c.pair_capacity;
  stats.state_bytes = 0;
  for (size_t i = 0; i < sim->registry.count; i++) stats.state_bytes += sim->registry.arrays[i].words * sizeof(uint32_t);
  return stats;
}
