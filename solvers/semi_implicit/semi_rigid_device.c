/* Buffers and pipelines at binding, dispatches of a substep, uploads in a step. */
#include "semi_rigid_device.h"

#include <string.h>

#include "semi_rigid_bodies_spv.h"
#include "semi_rigid_contacts_spv.h"
#include "semi_rigid_places_spv.h"

#define LOCAL 64u
#define FIXED_WORDS 16u
#define CONTACT_WORDS 14u /* of one contact over all arrays; behind them the number of contacts */

typedef struct rigid_push {
  uint32_t count, world, capacity, last, pressing;
  float omega, zeta, dt, zero;
} rigid_push;

#define CALL(...) SB_COMPUTE_CALL(calls, __VA_ARGS__)

/* ---- buffers ---- */

static void fill_fixed(si_rigid_device *s, const si_tick *t, sb_compute_calls *calls)
{
  const sb_model *m = s->bind->model;
  for (uint32_t b = 0; b < m->body_count; b++) {
    float *to = s->scratch + FIXED_WORDS * (size_t)b;
    to[0] = t->inv_mass[b];
    memcpy(to + 1, t->inertia + 6 * (size_t)b, 6 * sizeof *to);
    memcpy(to + 7, t->inv_inertia + 6 * (size_t)b, 6 * sizeof *to);
    memcpy(to + 13, m->body_com + 3 * (size_t)b, 3 * sizeof *to);
  }
  memset(s->scratch + FIXED_WORDS * (size_t)m->body_count, 0, FIXED_WORDS * sizeof *s->scratch);
  sb_compute_fill_buffer(calls, &s->fixed, s->scratch, FIXED_WORDS * sizeof *s->scratch * ((uint64_t)m->body_count + 1));
  uint32_t *rows = (uint32_t *)(void *)s->scratch;
  for (uint32_t i = 0; i < t->moved_count; i++) {
    uint32_t b = t->moved[i];
    const uint32_t row[4] = {b, (uint32_t)m->body_world[b], (uint32_t)m->joint_q_start[b], (uint32_t)m->joint_qd_start[b]};
    memcpy(rows + 4 * (size_t)i, row, sizeof row);
  }
  sb_compute_fill_buffer(calls, &s->moved, rows, 16ull * t->moved_count);
}

static void make_buffers(si_rigid_device *s, const si_tick *t, sb_compute_calls *calls)
{
  uint64_t bodies = (uint64_t)s->bind->model->body_count + 1, contacts = (uint64_t)s->bind->contact_capacity + 1;
  fill_fixed(s, t, calls);
  sb_compute_fill_buffer(calls, &s->gravity, s->bind->model->gravity, 12ull * s->bind->model->world_count);
  sb_compute_make_buffer(calls, &s->forces, contacts * sizeof(si_wrench_pair));
  sb_compute_make_buffer(calls, &s->contacts, (contacts * CONTACT_WORDS + 1) * 4);
  sb_compute_make_buffer(calls, &s->share, bodies * 4);
  sb_compute_make_buffer(calls, &s->first, (bodies + 1) * 4);
  sb_compute_make_buffer(calls, &s->list, contacts * 8);
  sb_compute_make_buffer(calls, &s->groups, 12);
  CALL(state_buffer, "body_q", &s->body_q);
  CALL(state_buffer, "body_qd", &s->body_qd);
  CALL(state_buffer, "body_f", &s->body_f);
  CALL(state_buffer, "joint_q", &s->joint_q);
  CALL(state_buffer, "joint_qd", &s->joint_qd);
}

void si_rigid_device_bind(si_rigid_device *s, const sb_bind *bind, const si_tick *t, const si_settings *settings, sb_compute_calls *calls)
{
  s->bind = bind;
  s->settings = *settings;
  s->moved_count = t->moved_count;
  uint64_t most = calls->compute->binding_bytes_max / (CONTACT_WORDS * 4) - 2, rows = ((uint64_t)bind->model->body_count + 1) * FIXED_WORDS;
  if (bind->contact_capacity > most) {
    snprintf(calls->error, calls->error_size, "this device can see %llu contacts at once, and contact_capacity is %u: set contact_capacity in [collision], or use backend = cpu",
             (unsigned long long)most, bind->contact_capacity);
    calls->status = SB_E_UNSUPPORTED;
    return;
  }
  s->scratch = bind->host->alloc(bind->host->context, (rows > bind->contact_capacity ? rows : bind->contact_capacity) * sizeof *s->scratch);
  if (!s->scratch) sb_compute_no_memory(calls);
  if (!calls->status) make_buffers(s, t, calls);
  SB_COMPUTE_PIPELINE(calls, &s->contact_pass, semi_rigid_contacts, 6, rigid_push);
  SB_COMPUTE_PIPELINE(calls, &s->body_pass, semi_rigid_bodies, 14, rigid_push);
  SB_COMPUTE_PIPELINE(calls, &s->place_pass, semi_rigid_places, 4, rigid_push);
}

/* ---- dispatches ---- */

static rigid_push push_of(const si_rigid_device *s)
{
  const si_settings *set = &s->settings;
  return (rigid_push){.count = s->moved_count, .world = s->bind->model->body_count, .capacity = s->bind->contact_capacity,
                      .omega = set->contact_omega, .zeta = set->contact_zeta, .dt = set->dt};
}

static uint32_t groups_of(uint32_t count) { return (count + LOCAL - 1) / LOCAL; }

void si_rigid_device_record_places(si_rigid_device *s, uint32_t graph, sb_binding records, sb_compute_calls *calls)
{
  const rigid_push push = push_of(s);
  const sb_binding bindings[4] = {sb_whole_buffer(s->body_q), sb_whole_buffer(s->body_qd), sb_whole_buffer(s->moved), records};
  CALL(dispatch, graph, s->place_pass, bindings, &push, groups_of(push.count));
}

void si_rigid_device_record_forces(si_rigid_device *s, uint32_t graph, sb_compute_calls *calls)
{
  const rigid_push push = push_of(s);
  const sb_binding bindings[6] = {sb_whole_buffer(s->body_q), sb_whole_buffer(s->body_qd), sb_whole_buffer(s->fixed), sb_whole_buffer(s->forces), sb_whole_buffer(s->contacts), sb_whole_buffer(s->share)};
  CALL(dispatch_indirect, graph, s->contact_pass, bindings, &push, s->groups, 0);
}

void si_rigid_device_record_moves(si_rigid_device *s, uint32_t graph, const si_presses *presses, bool last, sb_compute_calls *calls)
{
  rigid_push push = push_of(s);
  push.last = last;
  push.pressing = presses != NULL;
  /* what is not read is bound to the contacts' lists */
  const si_presses p = presses ? *presses : (si_presses){s->forces, s->first, s->list};
  const sb_binding bindings[14] = {sb_whole_buffer(s->body_q), sb_whole_buffer(s->body_qd), sb_whole_buffer(s->fixed), sb_whole_buffer(s->forces), sb_whole_buffer(s->moved), sb_whole_buffer(s->body_f),
                                   sb_whole_buffer(s->gravity), sb_whole_buffer(s->first), sb_whole_buffer(s->list), sb_whole_buffer(s->joint_q), sb_whole_buffer(s->joint_qd),
                                   sb_whole_buffer(p.presses), sb_whole_buffer(p.first), sb_whole_buffer(p.list)};
  CALL(dispatch, graph, s->body_pass, bindings, &push, groups_of(push.count));
}

/* ---- the step ---- */

/* Bodies of contacts as rows: the world after the last one. */
static const void *rows_of(si_rigid_device *s, const int32_t *bodies, uint32_t count)
{
  int32_t *rows = (int32_t *)(void *)s->scratch;
  for (uint32_t i = 0; i < count; i++) rows[i] = bodies[i] < 0 ? (int32_t)s->bind->model->body_count : bodies[i];
  return rows;
}

static void send(si_rigid_device *s, uint32_t at, uint32_t words, const void *data, uint32_t count, sb_compute_calls *calls)
{
  CALL(upload, s->contacts, (uint64_t)s->bind->contact_capacity * at * 4, data, (uint64_t)count * words * 4);
}

void si_rigid_device_send(si_rigid_device *s, const si_tick *t, sb_compute_calls *calls)
{
  const sb_contacts *c = t->contacts;
  const uint32_t bodies = s->bind->model->body_count, groups[3] = {groups_of(c->count), 1, 1};
  send(s, 0, 1, rows_of(s, c->body_a, c->count), c->count, calls);
  send(s, 1, 1, rows_of(s, c->body_b, c->count), c->count, calls);
  send(s, 2, 3, c->friction, c->count, calls);
  send(s, 5, 3, c->point_a, c->count, calls);
  send(s, 8, 3, c->point_b, c->count, calls);
  send(s, 11, 3, c->normal, c->count, calls);
  send(s, CONTACT_WORDS, 1, &c->count, 1, calls);
  CALL(upload, s->groups, 0, groups, sizeof groups);
  CALL(upload, s->share, 0, t->share, 4ull * bodies);
  CALL(upload, s->first, 0, t->contact_first, 4ull * (bodies + 1));
  CALL(upload, s->list, 0, t->body_contact, 4ull * t->contact_first[bodies]);
}
