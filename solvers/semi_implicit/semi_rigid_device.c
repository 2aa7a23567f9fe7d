/* Buffers and pipelines at binding, the graph at activation, uploads in a step. */
#include "semi_rigid_device.h"

#include <string.h>

#include "semi_rigid_bodies_spv.h"
#include "semi_rigid_contacts_spv.h"

#define LOCAL 64u
#define FIXED_WORDS 16u
#define CONTACT_WORDS 14u /* of one contact over all arrays; behind them the number of contacts */

typedef struct rigid_push {
  uint32_t count, world, capacity, last;
  float omega, zeta, dt, zero;
} rigid_push;

/* A device and the calls to it. */
typedef struct chain {
  si_rigid_device *s;
  sb_compute_calls calls;
} chain;

#define CALL(k, ...) SB_COMPUTE_CALL(&(k)->calls, __VA_ARGS__)

/* ---- buffers ---- */

static void fill_fixed(chain *k, const si_tick *t)
{
  si_rigid_device *s = k->s;
  const sb_model *m = s->bind->model;
  for (uint32_t b = 0; b < m->body_count; b++) {
    float *to = s->scratch + FIXED_WORDS * (size_t)b;
    to[0] = t->inv_mass[b];
    memcpy(to + 1, t->inertia + 6 * (size_t)b, 6 * sizeof *to);
    memcpy(to + 7, t->inv_inertia + 6 * (size_t)b, 6 * sizeof *to);
    memcpy(to + 13, m->body_com + 3 * (size_t)b, 3 * sizeof *to);
  }
  memset(s->scratch + FIXED_WORDS * (size_t)m->body_count, 0, FIXED_WORDS * sizeof *s->scratch);
  sb_compute_fill_buffer(&k->calls, &s->fixed, s->scratch, FIXED_WORDS * sizeof *s->scratch * ((uint64_t)m->body_count + 1));
  uint32_t *rows = (uint32_t *)(void *)s->scratch;
  for (uint32_t i = 0; i < t->moved_count; i++) {
    uint32_t b = t->moved[i];
    const uint32_t row[4] = {b, (uint32_t)m->body_world[b], (uint32_t)m->joint_q_start[b], (uint32_t)m->joint_qd_start[b]};
    memcpy(rows + 4 * (size_t)i, row, sizeof row);
  }
  sb_compute_fill_buffer(&k->calls, &s->moved, rows, 16ull * t->moved_count);
}

static void make_buffers(chain *k, const si_tick *t)
{
  si_rigid_device *s = k->s;
  uint64_t bodies = (uint64_t)s->bind->model->body_count + 1, contacts = (uint64_t)s->bind->contact_capacity + 1;
  fill_fixed(k, t);
  sb_compute_fill_buffer(&k->calls, &s->gravity, s->bind->model->gravity, 12ull * s->bind->model->world_count);
  sb_compute_make_buffer(&k->calls, &s->forces, contacts * sizeof(si_wrench_pair));
  sb_compute_make_buffer(&k->calls, &s->contacts, (contacts * CONTACT_WORDS + 1) * 4);
  sb_compute_make_buffer(&k->calls, &s->share, bodies * 4);
  sb_compute_make_buffer(&k->calls, &s->first, (bodies + 1) * 4);
  sb_compute_make_buffer(&k->calls, &s->list, contacts * 8);
  sb_compute_make_buffer(&k->calls, &s->groups, 12);
  CALL(k, state_buffer, "body_q", &s->body_q);
  CALL(k, state_buffer, "body_qd", &s->body_qd);
  CALL(k, state_buffer, "body_f", &s->body_f);
  CALL(k, state_buffer, "joint_q", &s->joint_q);
  CALL(k, state_buffer, "joint_qd", &s->joint_qd);
}

sb_status si_rigid_device_bind(si_rigid_device *s, const sb_bind *bind, const si_tick *t, const si_settings *settings, char *error, uint32_t error_size)
{
  s->bind = bind;
  s->settings = *settings;
  s->moved_count = t->moved_count;
  s->compute = sb_find_compute(bind, error, error_size);
  if (!s->compute) return SB_E_UNSUPPORTED;
  uint64_t most = s->compute->binding_bytes_max / (CONTACT_WORDS * 4) - 2;
  if (bind->contact_capacity > most) {
    snprintf(error, error_size, "this device can see %llu contacts at once, and contact_capacity is %u: set contact_capacity in [collision], or use backend = cpu",
             (unsigned long long)most, bind->contact_capacity);
    return SB_E_UNSUPPORTED;
  }
  chain k = {s, {s->compute, SB_OK, error, error_size}};
  uint64_t rows = ((uint64_t)bind->model->body_count + 1) * FIXED_WORDS;
  s->scratch = bind->host->alloc(bind->host->context, (rows > bind->contact_capacity ? rows : bind->contact_capacity) * sizeof *s->scratch);
  if (!s->scratch) sb_compute_no_memory(&k.calls);
  if (!k.calls.status) make_buffers(&k, t);
  SB_COMPUTE_PIPELINE(&k.calls, &s->contact_pass, semi_rigid_contacts, 6, rigid_push);
  SB_COMPUTE_PIPELINE(&k.calls, &s->body_pass, semi_rigid_bodies, 11, rigid_push);
  return k.calls.status;
}

/* ---- the graph of a tick ---- */

static void record_substep(chain *k, bool last)
{
  si_rigid_device *s = k->s;
  const si_settings *set = &s->settings;
  const rigid_push push = {s->moved_count, s->bind->model->body_count, s->bind->contact_capacity, last, set->contact_omega, set->contact_zeta, set->dt, 0.0f};
  const sb_binding contacts[6] = {sb_whole_buffer(s->body_q), sb_whole_buffer(s->body_qd), sb_whole_buffer(s->fixed), sb_whole_buffer(s->forces), sb_whole_buffer(s->contacts), sb_whole_buffer(s->share)};
  const sb_binding bodies[11] = {sb_whole_buffer(s->body_q), sb_whole_buffer(s->body_qd), sb_whole_buffer(s->fixed), sb_whole_buffer(s->forces), sb_whole_buffer(s->moved), sb_whole_buffer(s->body_f),
                                 sb_whole_buffer(s->gravity), sb_whole_buffer(s->first), sb_whole_buffer(s->list), sb_whole_buffer(s->joint_q), sb_whole_buffer(s->joint_qd)};
  CALL(k, dispatch_indirect, s->graph, s->contact_pass, contacts, &push, s->groups, 0);
  CALL(k, barrier, s->graph);
  CALL(k, dispatch, s->graph, s->body_pass, bodies, &push, (push.count + LOCAL - 1) / LOCAL);
  CALL(k, barrier, s->graph);
}

sb_status si_rigid_device_activate(si_rigid_device *s, const si_settings *settings, char *error, uint32_t error_size)
{
  chain k = {s, {s->compute, SB_OK, error, error_size}};
  if (s->graph_made && s->graph_dt == settings->dt) return SB_OK;
  s->settings = *settings;
  CALL(&k, create_graph, &s->graph);
  for (uint32_t n = 0; n < s->settings.substeps && !k.calls.status; n++) record_substep(&k, n + 1 == s->settings.substeps);
  CALL(&k, finish_graph, s->graph);
  s->graph_made = !k.calls.status;
  s->graph_dt = settings->dt;
  return k.calls.status;
}

/* ---- the step ---- */

/* Bodies of contacts as rows: the world after the last one. */
static const void *rows_of(si_rigid_device *s, const int32_t *bodies, uint32_t count)
{
  int32_t *rows = (int32_t *)(void *)s->scratch;
  for (uint32_t i = 0; i < count; i++) rows[i] = bodies[i] < 0 ? (int32_t)s->bind->model->body_count : bodies[i];
  return rows;
}

static void send(chain *k, uint32_t at, uint32_t words, const void *data, uint32_t count)
{
  si_rigid_device *s = k->s;
  CALL(k, upload, s->contacts, (uint64_t)s->bind->contact_capacity * at * 4, data, (uint64_t)count * words * 4);
}

sb_status si_rigid_device_step(si_rigid_device *s, const si_tick *t, char *error, uint32_t error_size)
{
  chain k = {s, {s->compute, SB_OK, error, error_size}};
  const sb_contacts *c = t->contacts;
  const uint32_t bodies = s->bind->model->body_count, groups[3] = {(c->count + LOCAL - 1) / LOCAL, 1, 1};
  send(&k, 0, 1, rows_of(s, c->body_a, c->count), c->count);
  send(&k, 1, 1, rows_of(s, c->body_b, c->count), c->count);
  send(&k, 2, 3, c->friction, c->count);
  send(&k, 5, 3, c->point_a, c->count);
  send(&k, 8, 3, c->point_b, c->count);
  send(&k, 11, 3, c->normal, c->count);
  send(&k, CONTACT_WORDS, 1, &c->count, 1);
  CALL(&k, upload, s->groups, 0, groups, sizeof groups);
  CALL(&k, upload, s->share, 0, t->share, 4ull * bodies);
  CALL(&k, upload, s->first, 0, t->contact_first, 4ull * (bodies + 1));
  CALL(&k, upload, s->list, 0, t->body_contact, 4ull * t->contact_first[bodies]);
  CALL(&k, run, s->graph);
  return k.calls.status;
}
