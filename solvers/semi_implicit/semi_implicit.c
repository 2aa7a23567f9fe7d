/* The semi_implicit solver plugin: rigid bodies in maximal coordinates, symplectic Euler, attachment joints, penalty contact. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden_hashes.h"
#include "samebit/solver_tools.h"
#include "semi_particles.h"
#ifdef SAMEBIT_VULKAN
#include "semi_device.h"
#endif

#include "samebit/maths.h"

enum {
  SI_PARAM_SUBSTEPS,
  SI_PARAM_JOINT_FREQUENCY,
  SI_PARAM_JOINT_DAMPING,
  SI_PARAM_CONTACT_FREQUENCY,
  SI_PARAM_CONTACT_DAMPING,
  SI_PARAM_LIMIT_FREQUENCY,
  SI_PARAM_LIMIT_DAMPING,
  SI_PARAM_COUNT
};

static const sb_param_desc params[SI_PARAM_COUNT] = {
    [SI_PARAM_SUBSTEPS] = {sizeof(sb_param_desc), SB_PARAM_INT, "substeps", "1", "steps that a tick is divided into", NULL, 1, 1, SI_MOST_SUBSTEPS},
    [SI_PARAM_JOINT_FREQUENCY] = {sizeof(sb_param_desc), SB_PARAM_FLOAT, "joint_frequency", "Hz",
                                  "natural frequency of the attachments that hold joints together; never above 1 / (4 pi substep)", NULL,
                                  100000, 0.1, 100000},
    [SI_PARAM_JOINT_DAMPING] = {sizeof(sb_param_desc), SB_PARAM_FLOAT, "joint_damping_ratio", "1",
                                "damping of the attachments; 1 is critical", NULL, 1, 0, 1},
    [SI_PARAM_CONTACT_FREQUENCY] = {sizeof(sb_param_desc), SB_PARAM_FLOAT, "contact_frequency", "Hz",
                                    "natural frequency of a contact spring against the mass it carries; higher is stiffer", NULL, 200, 0.1, 10000},
    [SI_PARAM_CONTACT_DAMPING] = {sizeof(sb_param_desc), SB_PARAM_FLOAT, "contact_damping_ratio", "1",
                                  "damping of a contact; 1 is critical, 0 bounces", NULL, 1, 0, 100},
    [SI_PARAM_LIMIT_FREQUENCY] = {sizeof(sb_param_desc), SB_PARAM_FLOAT, "limit_frequency", "Hz",
                                  "natural frequency of a joint limit's spring; higher is stiffer", NULL, 100, 0.1, 10000},
    [SI_PARAM_LIMIT_DAMPING] = {sizeof(sb_param_desc), SB_PARAM_FLOAT, "limit_damping_ratio", "1",
                                "damping of a joint limit; 1 is critical, 0 bounces", NULL, 1, 0, 100},
};

static const sb_golden goldens[] = {SB_GOLDENS_SEMI_IMPLICIT};

static const sb_solver_desc desc = {
    .struct_size = sizeof(sb_solver_desc),
    .handles = SB_HANDLES_RIGID | SB_HANDLES_JOINTS | SB_HANDLES_CONTACT | SB_HANDLES_PARTICLES | SB_HANDLES_CLOTH | SB_HANDLES_SOFT,
    .id = "semi_implicit",
    .version = "0.1.0",
    .vendor = "Samebit",
    .text = "Rigid bodies in maximal coordinates, particles, cloth and soft bodies; explicit forces, symplectic Euler, stiff attachments for joints, soft contact.",
#ifdef SAMEBIT_VULKAN
    .mode = {SB_MODE_CROSS_PLATFORM, SB_MODE_CROSS_PLATFORM},
    .mode_reason = {"fixed order, shared maths, no atomics", "the CPU's kernels, forces gathered in the CPU's order"},
#else
    .mode = {SB_MODE_CROSS_PLATFORM, SB_MODE_OFF},
    .mode_reason = {"fixed order, shared maths, no atomics", "this build has no shaders"},
#endif
    .params = params,
    .goldens = goldens,
    .param_count = SI_PARAM_COUNT,
    .golden_count = sizeof goldens / sizeof goldens[0],
    .param_size = sizeof(sb_param_desc),
    .golden_size = sizeof(sb_golden),
};

#define MAX_GROUPS 256u

typedef struct si_solver {
  sb_bind bind;
  si_settings settings;
  float contact_omega, joint_omega; /* rad/s as asked; activate caps them to what the substep holds */
  si_joint_group *groups;
  uint32_t group_count;
  uint32_t *moved, moved_count;
  float *inertia, *inv_inertia, *slowness, *inv_mass, *share, *joint_share;
  uint32_t *child_first, *child, *contact_first, *body_contact;
  si_wrench_pair *joints, *forces;
  si_particles particles;
  si_tick tick;
#ifdef SAMEBIT_VULKAN
  si_device device; /* on the backend vulkan */
#endif
  const si_joint_group *group_now; /* of the parallel loop */
  bool measure, slides_have_armature;
#ifdef SAMEBIT_MUTANT_HIDDEN_STATE
  uint32_t ticks_seen;
#endif
#ifdef SAMEBIT_MUTANT_TASK_ORDER_SUM
  float *arrived; /* 6 for each body */
  char arrival_lock;
#endif
} si_solver;

static sb_status solver_create(void **instance)
{
  *instance = calloc(1, sizeof(si_solver));
  return *instance ? SB_OK : SB_E_MEMORY;
}

static void solver_destroy(void *instance) { free(instance); }

/* ---- a device ---- */

/* What runs on a device is there only where the plugin was built with shaders. */
#ifdef SAMEBIT_VULKAN
static sb_status check_bind(const sb_bind *bind, char *error, uint32_t error_size) { return sb_check_bind(bind, error, error_size); }
static bool on_device(const si_solver *s) { return s->bind.backend == SB_BACKEND_VULKAN; }

/* After everything else is bound. */
static sb_status bind_device(si_solver *s, char *error, uint32_t error_size)
{
  if (!on_device(s)) return SB_OK;
  if (s->group_count) {
    snprintf(error, error_size, "semi_implicit moves free bodies on the backend vulkan, and body %u has a joint; use backend = cpu", s->groups[0].bodies[0]);
    return SB_E_UNSUPPORTED;
  }
  const si_tick fixed = {.inertia = s->inertia, .inv_inertia = s->inv_inertia, .inv_mass = s->inv_mass, .moved = s->moved, .moved_count = s->moved_count};
  return si_device_bind(&s->device, &s->bind, s->bind.particle_count ? &s->particles : NULL, &fixed, &s->settings, error, error_size);
}

static sb_status activate_device(si_solver *s, char *error, uint32_t error_size)
{
  return on_device(s) ? si_device_activate(&s->device, &s->settings, error, error_size) : SB_OK;
}

static sb_status step_device(si_solver *s, const sb_step *step, char *error, uint32_t error_size)
{
  return si_device_step(&s->device, &s->particles, step, &s->tick, error, error_size);
}
#else
static sb_status check_bind(const sb_bind *bind, char *error, uint32_t error_size) { return sb_check_bind_cpu(bind, "semi_implicit", error, error_size); }
static bool on_device(const si_solver *s) { return (void)s, false; }
static sb_status bind_device(si_solver *s, char *error, uint32_t error_size) { return (void)s, (void)error, (void)error_size, SB_OK; }
static sb_status activate_device(si_solver *s, char *error, uint32_t error_size) { return (void)s, (void)error, (void)error_size, SB_OK; }
static sb_status step_device(si_solver *s, const sb_step *step, char *error, uint32_t error_size)
{
  return (void)s, (void)step, (void)error, (void)error_size, SB_E_UNSUPPORTED;
}
#endif

/* ---- setup ---- */

static bool is_jointed(const sb_model *m, uint32_t body)
{
  return m->joint_type[body] != SB_JOINT_FREE && !(m->body_flags[body] & SB_BODY_STATIC);
}

static sb_status check_joints(const si_solver *s, char *error, uint32_t error_size)
{
  const sb_model *m = s->bind.model;
  for (uint32_t i = 0; i < s->bind.body_count; i++) {
    uint32_t body = s->bind.bodies[i], turns = 0, slides = 0, dof = (uint32_t)m->joint_qd_start[body];
    if (m->joint_type[body] == SB_JOINT_BALL &&
        (m->joint_limit_upper[dof] < SB_NO_LIMIT || m->joint_stiffness[dof] != 0.0f || m->joint_friction[dof] != 0.0f ||
         m->joint_target_ke[dof] != 0.0f)) {
      snprintf(error, error_size, "the ball joint of body %u has a limit, spring, dry friction or drive; semi_implicit gives ball "
                                  "joints damping and armature only", body);
      return SB_E_UNSUPPORTED;
    }
    for (uint32_t d = 0; m->joint_type[body] == SB_JOINT_AXES && d < m->joint_dof_count[body]; d++)
      m->dof_kind[dof + d] == SB_DOF_ANGULAR ? turns++ : slides++;
    if (turns > 3 || slides > 3) {
      snprintf(error, error_size, "the joint of body %u has %u angular and %u linear dofs; semi_implicit takes at most 3 of each", body,
               turns, slides);
      return SB_E_UNSUPPORTED;
    }
    if (!(m->body_flags[body] & SB_BODY_STATIC) && !(m->body_inv_mass[body] > 0.0f)) {
      snprintf(error, error_size, "body %u has no mass, which semi_implicit cannot move; use featherstone, or give it a mass", body);
      return SB_E_UNSUPPORTED;
    }
  }
  return SB_OK;
}

static bool fits_group(const sb_model *m, const si_joint_group *g, uint32_t body)
{
  if (g->type != m->joint_type[body]) return false;
  if (g->type != SB_JOINT_AXES) return true;
  if (g->dof_count != m->joint_dof_count[body]) return false;
  for (uint32_t d = 0; d < g->dof_count; d++)
    if (g->dof_kind[d] != m->dof_kind[(uint32_t)m->joint_qd_start[body] + d]) return false;
  return true;
}

/* Joints of one kind together; within a kind in body order. */
static bool make_groups(si_solver *s)
{
  const sb_model *m = s->bind.model;
  const sb_host *host = s->bind.host;
  s->groups = host->alloc(host->context, MAX_GROUPS * sizeof *s->groups);
  uint8_t *group_of = calloc((size_t)m->body_count + 1, 1);
  bool ok = s->groups && group_of;
  for (uint32_t i = 0; ok && i < s->bind.body_count; i++) {
    uint32_t body = s->bind.bodies[i], g = 0;
    if (!is_jointed(m, body)) continue;
    while (g < s->group_count && !fits_group(m, &s->groups[g], body)) g++;
    if (g == s->group_count) {
      /* 1 FIXED, 1 BALL and 2 + 4 + ... + 64 sequences of dof kinds: always fewer than MAX_GROUPS */
      si_joint_group *fresh = &s->groups[s->group_count++];
      fresh->type = m->joint_type[body];
      fresh->dof_count = fresh->type == SB_JOINT_AXES ? m->joint_dof_count[body] : 0;
      for (uint32_t d = 0; d < fresh->dof_count; d++) fresh->dof_kind[d] = (uint8_t)m->dof_kind[(uint32_t)m->joint_qd_start[body] + d];
    }
    s->groups[g].count++;
    group_of[body] = (uint8_t)g;
  }
  for (uint32_t g = 0; ok && g < s->group_count; g++) {
    uint32_t *bodies = host->alloc(host->context, s->groups[g].count * sizeof *bodies), n = 0;
    ok = bodies != NULL;
    for (uint32_t i = 0; ok && i < s->bind.body_count; i++) {
      uint32_t body = s->bind.bodies[i];
      if (is_jointed(m, body) && group_of[body] == g) bodies[n++] = body;
    }
    s->groups[g].bodies = bodies;
  }
  free(group_of);
  return ok;
}

/* Inertia with the armature of the body's own joint added about each angular axis, and along each linear one: exact while the parent
 * rests. */
static void set_inertia(si_solver *s, uint32_t body)
{
  const sb_model *m = s->bind.model;
  const float *from = m->body_inertia + 6 * (size_t)body;
  S33 sum = s33(from[0], from[1], from[2], from[3], from[4], from[5]), mass = s33(1.0f, 1.0f, 1.0f, 0.0f, 0.0f, 0.0f);
  uint32_t dof = (uint32_t)m->joint_qd_start[body];
  if (m->joint_type[body] == SB_JOINT_BALL) {
    float a = m->joint_armature[dof];
    sum = s33_add(sum, s33(a, a, a, 0.0f, 0.0f, 0.0f));
  }
  for (uint32_t d = 0; m->joint_type[body] == SB_JOINT_AXES && d < m->joint_dof_count[body]; d++) {
    bool angular = m->dof_kind[dof + d] == SB_DOF_ANGULAR;
    if (!angular && m->joint_armature[dof + d] > 0.0f) s->slides_have_armature = true;
    const float *axis = m->joint_axis + 3 * (size_t)(dof + d);
    V3 a = v3(axis[0], axis[1], axis[2]), b = v3_scale(a, m->joint_armature[dof + d] * (angular ? 1.0f : m->body_inv_mass[body]));
    S33 *to = angular ? &sum : &mass;
    *to = s33_add(*to, s33(a.x * b.x, a.y * b.y, a.z * b.z, a.x * b.y, a.x * b.z, a.y * b.z));
  }
  S33 inverse = s33_inverse(sum), slow = s33_inverse(mass);
  memcpy(s->slowness + 6 * (size_t)body, &slow, sizeof slow);
  memcpy(s->inertia + 6 * (size_t)body, &sum, sizeof sum);
  memcpy(s->inv_inertia + 6 * (size_t)body, &inverse, sizeof inverse);
  s->inv_mass[body] = m->body_inv_mass[body];
}

static void link_children(si_solver *s)
{
  const sb_model *m = s->bind.model;
  uint32_t bodies = m->body_count;
  /* counting sort; ascending bodies keep children in order */
  for (uint32_t g = 0; g < s->group_count; g++)
    for (uint32_t i = 0; i < s->groups[g].count; i++) {
      int32_t parent = m->joint_parent[s->groups[g].bodies[i]];
      if (parent >= 0) s->child_first[parent + 2]++;
    }
  for (uint32_t b = 0; b < bodies; b++) s->child_first[b + 2] += s->child_first[b + 1];
  for (uint32_t i = 0; i < s->bind.body_count; i++) {
    uint32_t body = s->bind.bodies[i];
    int32_t parent = m->joint_parent[body];
    if (is_jointed(m, body) && parent >= 0) s->child[s->child_first[parent + 1]++] = body;
  }
}

/* How many forces a body's joints may put on it: position and orientation of each, and each dof. */
static void count_joint_share(si_solver *s)
{
  const sb_model *m = s->bind.model;
  for (uint32_t g = 0; g < s->group_count; g++)
    for (uint32_t i = 0; i < s->groups[g].count; i++) {
      uint32_t body = s->groups[g].bodies[i];
      float n = (float)(2u + s->groups[g].dof_count);
      s->joint_share[body] += n;
      if (m->joint_parent[body] >= 0) s->joint_share[m->joint_parent[body]] += n;
    }
}

static bool take_memory(si_solver *s)
{
  const sb_host *host = s->bind.host;
  uint64_t bodies = (uint64_t)s->bind.model->body_count + 1, contacts = (uint64_t)s->bind.contact_capacity + 1;
  struct {
    void *slot;
    uint64_t bytes;
  } wanted[] = {
      {&s->slowness, bodies * 24},     {&s->moved, bodies * 4},         {&s->inertia, bodies * 24},     {&s->inv_inertia, bodies * 24},
      {&s->inv_mass, bodies * 4},      {&s->share, bodies * 4},        {&s->joint_share, bodies * 4},
      {&s->child_first, bodies * 4 + 8}, {&s->child, bodies * 4},      {&s->contact_first, bodies * 4 + 8},
#ifdef SAMEBIT_MUTANT_TASK_ORDER_SUM
      {&s->arrived, bodies * 24},
#endif
      {&s->body_contact, contacts * 8}, {&s->joints, bodies * sizeof *s->joints}, {&s->forces, contacts * sizeof *s->forces},
  };
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
    void *block = host->alloc(host->context, wanted[i].bytes);
    if (!block) return false;
    memcpy(wanted[i].slot, &block, sizeof block);
  }
  return true;
}

static sb_status solver_bind(void *instance, const sb_bind *bind, char *error, uint32_t error_size)
{
  si_solver *s = instance;
  sb_status status = check_bind(bind, error, error_size);
  if (status) return status;
  s->bind = *bind;
  s->joint_omega = (float)(SB_TWO_PI * bind->params[SI_PARAM_JOINT_FREQUENCY]);
  s->contact_omega = (float)(SB_TWO_PI * bind->params[SI_PARAM_CONTACT_FREQUENCY]);
  s->settings = (si_settings){.substeps = (uint32_t)bind->params[SI_PARAM_SUBSTEPS],
                              .joint_zeta = (float)bind->params[SI_PARAM_JOINT_DAMPING],
                              .contact_zeta = (float)bind->params[SI_PARAM_CONTACT_DAMPING],
                              .limit_omega = (float)(SB_TWO_PI * bind->params[SI_PARAM_LIMIT_FREQUENCY]),
                              .limit_zeta = (float)bind->params[SI_PARAM_LIMIT_DAMPING]};
  status = check_joints(s, error, error_size);
  if (status) return status;
  if (!take_memory(s) || !make_groups(s) || (bind->particle_count && !si_particles_bind(&s->particles, bind, s->inv_mass))) {
    snprintf(error, error_size, "out of memory");
    return SB_E_MEMORY;
  }
  for (uint32_t i = 0; i < bind->body_count; i++) {
    uint32_t body = bind->bodies[i];
    if (bind->model->body_flags[body] & SB_BODY_STATIC) continue;
    s->moved[s->moved_count++] = body;
    set_inertia(s, body);
  }
  link_children(s);
  count_joint_share(s);
  return bind_device(s, error, error_size);
}

/* The explicit step holds an attachment up to omega dt = 1/2. */
static float cap_omega(float omega, float dt) { return omega * dt < 0.5f ? omega : 0.5f / dt; }

static sb_status solver_activate(void *instance, uint32_t mode, float dt, char *error, uint32_t error_size)
{
  si_solver *s = instance;
  (void)mode;
  sb_status status = sb_check_dt(dt, error, error_size);
  if (status) return status;
  s->settings.dt = dt / (float)s->settings.substeps;
  s->settings.joint_omega = cap_omega(s->joint_omega, s->settings.dt);
  s->settings.contact_omega = s->contact_omega;
  if (s->bind.particle_count) si_particles_activate(&s->particles, &s->bind, s->settings.dt, s->settings.substeps);
  return activate_device(s, error, error_size);
}

static void solver_deactivate(void *instance) { (void)instance; }

/* ---- the tick ---- */

/* Each body is shared among its joints' forces and its contacts, those with particles among them. */
static void list_contacts(si_solver *s, const sb_step *step)
{
  const sb_contacts *c = step->contacts;
  uint32_t bodies = s->bind.model->body_count;
  sb_list_body_contacts(c, bodies, s->contact_first, s->body_contact);
  for (uint32_t b = 0; b < bodies; b++) {
    s->share[b] = s->joint_share[b] + (float)(s->contact_first[b + 1] - s->contact_first[b]);
  }
  if (s->bind.particle_count) si_particles_begin(&s->particles, step, s->share);
  for (uint32_t b = 0; b < bodies; b++) s->share[b] = s->share[b] < 1.0f ? 1.0f : s->share[b];
}

static uint32_t chunks(uint32_t count) { return (count + SI_CHUNK - 1) / SI_CHUNK; }
static uint32_t chunk_end(uint32_t chunk, uint32_t count)
{
  return (chunk + 1) * SI_CHUNK < count ? (chunk + 1) * SI_CHUNK : count;
}

static void joint_chunk(void *user, uint32_t chunk)
{
  si_solver *s = user;
  SB_LANE_DISPATCH(s->bind.lanes, si_joints, &s->tick, s->group_now, chunk * SI_CHUNK, chunk_end(chunk, s->group_now->count), s->measure);
}

#ifdef SAMEBIT_MUTANT_TASK_ORDER_SUM
/* The planted fault: contact forces are added to bodies as tasks finish. */
static void add_as_they_come(si_solver *s, uint32_t first, uint32_t end)
{
  const sb_contacts *c = s->tick.contacts;
  while (__atomic_test_and_set(&s->arrival_lock, __ATOMIC_ACQUIRE)) continue;
  for (uint32_t i = first; i < end; i++)
    for (int k = 0; k < 6; k++) {
      if (c->body_a[i] >= 0) s->arrived[6 * c->body_a[i] + k] += s->forces[i].a[k];
      if (c->body_b[i] >= 0) s->arrived[6 * c->body_b[i] + k] += s->forces[i].b[k];
    }
  __atomic_clear(&s->arrival_lock, __ATOMIC_RELEASE);
}
#endif

static void contact_chunk(void *user, uint32_t chunk)
{
  si_solver *s = user;
  SB_LANE_DISPATCH(s->bind.lanes, si_contacts, &s->tick, chunk * SI_CHUNK, chunk_end(chunk, s->tick.contacts->count));
#ifdef SAMEBIT_MUTANT_TASK_ORDER_SUM
  add_as_they_come(s, chunk * SI_CHUNK, chunk_end(chunk, s->tick.contacts->count));
#endif
}

static void particle_force_chunk(void *user, uint32_t chunk)
{
  si_solver *s = user;
  uint32_t first, end;
  si_kind kind = si_particles_chunk(&s->particles, chunk, &first, &end);
  SB_LANE_DISPATCH(s->bind.lanes, si_particle_forces, &s->tick, kind, first, end);
}

static void particle_move_chunk(void *user, uint32_t chunk)
{
  si_solver *s = user;
  uint32_t first = chunk * SI_ELEMENT_CHUNK, end = first + SI_ELEMENT_CHUNK < s->particles.own_count ? first + SI_ELEMENT_CHUNK : s->particles.own_count;
  SB_LANE_DISPATCH(s->bind.lanes, si_particle_moves, &s->tick, first, end);
}

static void body_chunk(void *user, uint32_t chunk)
{
  si_solver *s = user;
  SB_LANE_DISPATCH(s->bind.lanes, si_bodies, &s->tick, chunk * SI_CHUNK, chunk_end(chunk, s->moved_count));
}

static void run_joints(si_solver *s, bool measure)
{
  const sb_host *host = s->bind.host;
  s->measure = measure;
  for (uint32_t g = 0; g < s->group_count; g++) {
    s->group_now = &s->groups[g];
    host->parallel_for(host->context, chunks(s->groups[g].count), joint_chunk, s);
  }
}

/* Free joints repeat their body's pose and velocity. */
static void copy_free_joints(const si_solver *s)
{
  const sb_model *m = s->bind.model;
  const sb_state *state = s->bind.state;
  for (uint32_t i = 0; i < s->moved_count; i++) {
    uint32_t body = s->moved[i];
    if (m->joint_type[body] != SB_JOINT_FREE) continue;
    memcpy(state->joint_q + m->joint_q_start[body], state->body_q + 7 * (size_t)body, 7 * sizeof(float));
    memcpy(state->joint_qd + m->joint_qd_start[body], state->body_qd + 6 * (size_t)body, 6 * sizeof(float));
  }
}

static sb_status solver_step(void *instance, const sb_step *step, char *error, uint32_t error_size)
{
  si_solver *s = instance;
  const sb_host *host = s->bind.host;
  sb_status status = sb_check_step(step, error, error_size);
  if (status) return status;
  s->tick = (si_tick){.settings = s->settings, .model = s->bind.model, .state = s->bind.state, .contacts = step->contacts,
                      .inertia = s->inertia, .inv_inertia = s->inv_inertia, .inv_mass = s->inv_mass,
                      .slowness = s->slides_have_armature ? s->slowness : NULL, .share = s->share,
                      .joints = s->joints, .forces = s->forces, .child_first = s->child_first, .child = s->child,
                      .contact_first = s->contact_first, .body_contact = s->body_contact, .moved = s->moved,
                      .moved_count = s->moved_count};
#ifdef SAMEBIT_MUTANT_TASK_ORDER_SUM
  s->tick.arrived = s->arrived;
#endif
#ifdef SAMEBIT_MUTANT_HIDDEN_STATE
  /* The planted fault: the damping of limits grows over the ticks of this instance, which no registered array counts. */
  s->tick.settings.limit_zeta *= 1.0f - 1.0f / (float)(++s->ticks_seen + 1u);
#endif
  if (s->bind.particle_count) s->tick.particles = &s->particles;
  list_contacts(s, step);
  if (on_device(s)) return step_device(s, step, error, error_size);
  for (uint32_t i = 0; i < s->settings.substeps; i++) {
    run_joints(s, false);
#ifdef SAMEBIT_MUTANT_TASK_ORDER_SUM
    memset(s->arrived, 0, (size_t)s->bind.model->body_count * 6 * sizeof *s->arrived);
#endif
    host->parallel_for(host->context, chunks(step->contacts->count), contact_chunk, s);
    if (s->bind.particle_count) {
      si_particles_move_others(&s->particles, step, i, s->settings.substeps, s->settings.dt);
      host->parallel_for(host->context, si_particles_chunks(&s->particles), particle_force_chunk, s);
    }
    host->parallel_for(host->context, chunks(s->moved_count), body_chunk, s);
    if (s->bind.particle_count)
      host->parallel_for(host->context, (s->particles.own_count + SI_ELEMENT_CHUNK - 1) / SI_ELEMENT_CHUNK, particle_move_chunk, s);
  }
  run_joints(s, true);
  copy_free_joints(s);
  return SB_OK;
}

static const sb_solver_api api = {
    .struct_size = sizeof(sb_solver_api), .desc = &desc, .create = solver_create, .bind = solver_bind,
    .activate = solver_activate, .step = solver_step, .deactivate = solver_deactivate, .destroy = solver_destroy,
};
static const sb_solver_api *const solvers[] = {&api};
static const sb_solver_factory factory = {sizeof(sb_solver_factory), 1, solvers};

static const void *get_factory(const char *id) { return strcmp(id, SB_SOLVER_FACTORY_ID) ? NULL : &factory; }

SB_DEFINE_PLUGIN(semi_implicit, 1u | 4u | 8u, NULL, get_factory);
