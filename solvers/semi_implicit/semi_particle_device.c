/* Buffers and pipelines at binding, stiffnesses at activation, dispatches of a substep, uploads in a step. */
#include "semi_particle_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "semi_edges_spv.h"
#include "semi_holds_spv.h"
#include "semi_move_spv.h"
#include "semi_nears_spv.h"
#include "semi_springs_spv.h"
#include "semi_tets_spv.h"
#include "semi_touches_spv.h"
#include "semi_tris_spv.h"

#define LOCAL 64u
#define BODY_FLOATS 24u
#define TOUCH_WORDS 9u /* of one contact over all arrays */
#define NEAR_WORDS 8u  /* of one near pair, likewise */

/* Words of an element, forces of an element. */
static const uint32_t row_words[SI_TOUCHES] = {[SI_SPRINGS] = 5, [SI_TRIS] = 13, [SI_EDGES] = 7, [SI_TETS] = 17, [SI_HOLDS] = 7};

typedef struct element_push {
  uint32_t count, slot, pressing;
} element_push;

typedef struct meet_push {
  uint32_t capacity, pressing, holds;
  float omega, zeta, dt, zero;
} meet_push;

typedef struct move_push {
  uint32_t count, touching, near;
  float dt, zero;
} move_push;

#define CALL(...) SB_COMPUTE_CALL(calls, __VA_ARGS__)

/* ---- rows of elements ---- */

static void put_wholes(uint32_t *row, uint32_t at, const int32_t *particles, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++) row[at + i] = (uint32_t)(particles[i] < 0 ? particles[0] : particles[i]);
}

static void put_floats(uint32_t *row, uint32_t at, const float *from, uint32_t n) { memcpy(row + at, from, n * sizeof *from); }

/* As the shaders read it. An edge at a border has its first corner again for the missing one. */
static void fill_row(const si_particle_device *s, si_kind kind, uint32_t i, uint32_t *row)
{
  const si_particles *p = s->p;
  const sb_model *m = p->model;
  uint32_t e;
  switch (kind) {
  case SI_SPRINGS:
    e = p->springs[i];
    put_wholes(row, 0, m->spring_indices + 2 * (size_t)e, 2);
    put_floats(row, 2, m->spring_rest_length + e, 1);
    put_floats(row, 3, p->spring_ke + i, 1);
    put_floats(row, 4, m->spring_damping + e, 1);
    break;
  case SI_TRIS:
    e = p->tris[i];
    put_wholes(row, 0, m->tri_indices + 3 * (size_t)e, 3);
    put_floats(row, 3, m->tri_pose + 4 * (size_t)e, 4);
    put_floats(row, 7, m->tri_area + e, 1);
    put_floats(row, 8, m->tri_ke + e, 1);
    put_floats(row, 9, m->tri_ka + e, 1);
    put_floats(row, 10, m->tri_kd + e, 1);
    put_floats(row, 11, m->tri_drag + e, 1);
    put_floats(row, 12, m->tri_lift + e, 1);
    break;
  case SI_EDGES:
    e = p->edges[i];
    put_wholes(row, 0, m->edge_indices + 4 * (size_t)e, 4);
    put_floats(row, 4, m->edge_rest_angle + e, 1);
    put_floats(row, 5, m->edge_bending_ke + e, 1);
    put_floats(row, 6, m->edge_bending_kd + e, 1);
    break;
  case SI_TETS:
    e = p->tets[i];
    put_wholes(row, 0, m->tet_indices + 4 * (size_t)e, 4);
    put_floats(row, 4, m->tet_pose + 9 * (size_t)e, 9);
    put_floats(row, 13, m->tet_volume + e, 1);
    put_floats(row, 14, m->tet_k_mu + e, 1);
    put_floats(row, 15, m->tet_k_lambda + e, 1);
    put_floats(row, 16, m->tet_k_damp + e, 1);
    break;
  default:
    e = p->holds[i];
    put_wholes(row, 0, m->attachment_particle + e, 1);
    row[1] = m->attachment_body[e] < 0 ? m->body_count : (uint32_t)m->attachment_body[e];
    put_floats(row, 2, m->attachment_point + 3 * (size_t)e, 3);
    put_floats(row, 5, p->hold_ke + i, 1);
    put_floats(row, 6, p->hold_kd + i, 1);
  }
}

static void send_elements(si_particle_device *s, si_kind kind, sb_compute_calls *calls)
{
  uint32_t words = row_words[kind], count = s->p->count[kind];
  uint32_t *rows = malloc(((size_t)count * words + 1) * sizeof *rows);
  if (!rows) {
    sb_compute_no_memory(calls);
    return;
  }
  for (uint32_t i = 0; i < count; i++) fill_row(s, kind, i, rows + (size_t)i * words);
  CALL(upload, s->words[kind], 0, rows, (uint64_t)count * words * sizeof *rows);
  free(rows);
}

/* ---- buffers ---- */

/* Own particles with world and weight; weight and radius of all. */
static void fill_particles(si_particle_device *s, sb_compute_calls *calls)
{
  const sb_model *m = s->p->model;
  uint32_t *own = malloc(((size_t)s->p->own_count + 1) * 16);
  float *all = malloc(((size_t)m->particle_count + 1) * 8);
  if (!own || !all) sb_compute_no_memory(calls);
  for (uint32_t i = 0; !calls->status && i < s->p->own_count; i++) {
    uint32_t p = s->p->own[i], *row = own + 4 * (size_t)i;
    row[0] = p;
    row[1] = (uint32_t)m->deformable_world[m->particle_deformable[p]];
    memcpy(row + 2, m->particle_inv_mass + p, sizeof *row);
    row[3] = 0;
  }
  for (uint32_t p = 0; !calls->status && p < m->particle_count; p++) all[2 * (size_t)p] = m->particle_inv_mass[p], all[2 * (size_t)p + 1] = m->particle_radius[p];
  sb_compute_fill_buffer(calls, &s->own, own, 16ull * s->p->own_count);
  sb_compute_fill_buffer(calls, &s->particles, all, 8ull * m->particle_count);
  free(own);
  free(all);
}

static void make_buffers(si_particle_device *s, sb_compute_calls *calls)
{
  const sb_bind *b = s->bind;
  const si_particles *p = s->p;
  uint64_t particles = b->model->particle_count, touches = b->particle_contact_capacity, nears = b->near_pair_capacity, slots = p->slot[SI_HOLDS] + p->count[SI_HOLDS];
  CALL(state_buffer, "particle_q", &s->q);
  CALL(state_buffer, "particle_qd", &s->qd);
  for (int kind = 0; kind < SI_TOUCHES; kind++) sb_compute_make_buffer(calls, &s->words[kind], 4ull * row_words[kind] * p->count[kind]);
  sb_compute_make_buffer(calls, &s->force, slots * 12);
  s->body_stride = (((uint64_t)b->model->body_count + 1) * BODY_FLOATS * sizeof(float) + SB_COMPUTE_ALIGNMENT - 1) / SB_COMPUTE_ALIGNMENT * SB_COMPUTE_ALIGNMENT;
  sb_compute_make_buffer(calls, &s->bodies, s->body_stride * s->settings.substeps);
  sb_compute_make_buffer(calls, &s->touches, touches * TOUCH_WORDS * 4);
  sb_compute_make_buffer(calls, &s->touch_force, touches * 12);
  sb_compute_make_buffer(calls, &s->touch_start, (particles + 1) * 4);
  sb_compute_make_buffer(calls, &s->nears, nears * NEAR_WORDS * 4);
  sb_compute_make_buffer(calls, &s->near_force, nears * SI_NEAR_FLOATS * 4);
  sb_compute_make_buffer(calls, &s->near_first, (particles + 1) * 4);
  sb_compute_make_buffer(calls, &s->near_entry, nears * 16);
  sb_compute_make_buffer(calls, &s->share, particles * 4);
  sb_compute_make_buffer(calls, &s->counts, 8);
  sb_compute_make_buffer(calls, &s->groups, 24);
  if (s->pressing) {
    sb_compute_make_buffer(calls, &s->presses.presses, (p->count[SI_HOLDS] + touches) * 24);
    sb_compute_make_buffer(calls, &s->presses.first, 4ull * b->model->body_count + 8);
    sb_compute_make_buffer(calls, &s->presses.list, (p->count[SI_HOLDS] + touches) * 4);
    s->press_list = b->host->alloc(b->host->context, (p->count[SI_HOLDS] + touches + b->model->body_count + 2) * 4);
    if (!s->press_list) sb_compute_no_memory(calls);
  } else {
    sb_compute_make_buffer(calls, &s->presses.presses, 4); /* bound, and not written */
  }
  sb_compute_fill_buffer(calls, &s->first, p->first, (particles + 1) * 4);
  sb_compute_fill_buffer(calls, &s->entry, p->entry, 4ull * p->first[particles]);
  sb_compute_fill_buffer(calls, &s->gravity, b->model->gravity, 12ull * b->model->world_count);
  fill_particles(s, calls);
  s->body_rows = b->host->alloc(b->host->context, s->body_stride * s->settings.substeps);
  if (!s->body_rows) sb_compute_no_memory(calls);
}

void si_particle_device_bind(si_particle_device *s, const sb_bind *bind, const si_particles *particles, bool pressing, const si_settings *settings, sb_compute_calls *calls)
{
  s->bind = bind;
  s->p = particles;
  s->pressing = pressing;
  s->settings = *settings;
  make_buffers(s, calls);
  SB_COMPUTE_PIPELINE(calls, &s->elements[SI_SPRINGS], semi_springs, 4, element_push);
  SB_COMPUTE_PIPELINE(calls, &s->elements[SI_TRIS], semi_tris, 4, element_push);
  SB_COMPUTE_PIPELINE(calls, &s->elements[SI_EDGES], semi_edges, 4, element_push);
  SB_COMPUTE_PIPELINE(calls, &s->elements[SI_TETS], semi_tets, 4, element_push);
  SB_COMPUTE_PIPELINE(calls, &s->elements[SI_HOLDS], semi_holds, 6, element_push);
  SB_COMPUTE_PIPELINE(calls, &s->meet[0], semi_touches, 9, meet_push);
  SB_COMPUTE_PIPELINE(calls, &s->meet[1], semi_nears, 8, meet_push);
  SB_COMPUTE_PIPELINE(calls, &s->move, semi_move, 12, move_push);
}

void si_particle_device_activate(si_particle_device *s, const si_settings *settings, sb_compute_calls *calls)
{
  s->settings = *settings;
  for (int kind = 0; kind < SI_TOUCHES && !calls->status; kind++) send_elements(s, (si_kind)kind, calls);
}

/* ---- dispatches ---- */

sb_binding si_particle_device_bodies(const si_particle_device *s, uint32_t substep)
{
  return (sb_binding){.buffer = s->bodies, .offset = substep * s->body_stride, .bytes = s->body_stride};
}

void si_particle_device_record_forces(si_particle_device *s, uint32_t graph, uint32_t substep, bool touching, bool near, sb_compute_calls *calls)
{
  const sb_binding bodies = si_particle_device_bodies(s, substep), presses = sb_whole_buffer(s->presses.presses);
  for (int kind = 0; kind < SI_TOUCHES; kind++) {
    const element_push push = {s->p->count[kind], s->p->slot[kind], s->pressing};
    const sb_binding bindings[6] = {sb_whole_buffer(s->q), sb_whole_buffer(s->qd), sb_whole_buffer(s->words[kind]), kind == SI_HOLDS ? bodies : sb_whole_buffer(s->force), sb_whole_buffer(s->force), presses};
    CALL(dispatch, graph, s->elements[kind], bindings, &push, (push.count + LOCAL - 1) / LOCAL);
  }
  for (uint32_t which = 0; which < 2; which++) {
    if (!(which ? near : touching)) continue;
    const meet_push push = {which ? s->bind->near_pair_capacity : s->bind->particle_contact_capacity, s->pressing, s->p->count[SI_HOLDS],
                            s->settings.contact_omega, s->settings.contact_zeta, s->settings.dt, 0.0f};
    const sb_binding bindings[9] = {sb_whole_buffer(s->q), sb_whole_buffer(s->qd), sb_whole_buffer(which ? s->nears : s->touches), bodies, sb_whole_buffer(which ? s->near_force : s->touch_force),
                                    sb_whole_buffer(s->particles), sb_whole_buffer(s->share), sb_whole_buffer(s->counts), presses};
    CALL(dispatch_indirect, graph, s->meet[which], bindings, &push, s->groups, 12ull * which);
  }
}

void si_particle_device_record_moves(si_particle_device *s, uint32_t graph, bool touching, bool near, sb_compute_calls *calls)
{
  const move_push push = {s->p->own_count, touching, near, s->settings.dt, 0.0f};
  const sb_binding bindings[12] = {sb_whole_buffer(s->q), sb_whole_buffer(s->qd), sb_whole_buffer(s->own), sb_whole_buffer(s->first), sb_whole_buffer(s->entry), sb_whole_buffer(s->force), sb_whole_buffer(s->touch_force),
                                   sb_whole_buffer(s->touch_start), sb_whole_buffer(s->near_force), sb_whole_buffer(s->near_first), sb_whole_buffer(s->near_entry), sb_whole_buffer(s->gravity)};
  CALL(dispatch, graph, s->move, bindings, &push, (push.count + LOCAL - 1) / LOCAL);
}

/* ---- the step ---- */

/* As gather_met() of the lane code has a body; the one after the last stands for the world. */
static void put_body(const si_particles *p, const si_tick *t, uint32_t body, float *row)
{
  const sb_model *m = p->model;
  memset(row, 0, BODY_FLOATS * sizeof *row);
  row[6] = 1.0f;
  if (body == m->body_count) return;
  uint32_t other = p->other_of[body];
  memcpy(row, other ? p->other_q + 7 * (size_t)(other - 1) : t->state->body_q + 7 * (size_t)body, 7 * sizeof *row);
  memcpy(row + 7, m->body_com + 3 * (size_t)body, 3 * sizeof *row);
  memcpy(row + 10, other ? p->other_qd + 6 * (size_t)(other - 1) : t->state->body_qd + 6 * (size_t)body, 6 * sizeof *row);
  row[16] = t->inv_mass[body];
  memcpy(row + 17, t->inv_inertia + 6 * (size_t)body, 6 * sizeof *row);
  row[23] = t->share[body];
}

static void send_bodies(si_particle_device *s, si_particles *p, const sb_step *step, const si_tick *t, sb_compute_calls *calls)
{
  for (uint32_t n = 0; n < s->settings.substeps; n++) {
    float *rows = s->body_rows + n * (s->body_stride / sizeof(float));
    si_particles_move_others(p, step, n, s->settings.substeps, s->settings.dt);
    for (uint32_t b = 0; b <= p->model->body_count; b++) put_body(p, t, b, rows + (size_t)b * BODY_FLOATS);
  }
  CALL(upload, s->bodies, 0, s->body_rows, s->body_stride * s->settings.substeps);
}

typedef struct part_of_buffer {
  const void *data;
  uint32_t at, words; /* of one element, in words: where its array begins, how many it has */
} part_of_buffer;

static void send_arrays(uint32_t buffer, uint64_t capacity, uint64_t count, const part_of_buffer *parts, size_t n, sb_compute_calls *calls)
{
  for (size_t i = 0; i < n; i++) CALL(upload, buffer, capacity * parts[i].at * 4, parts[i].data, count * parts[i].words * 4);
}

/* Bodies of contacts as rows: the world after the last one. */
static const int32_t *body_rows_of(si_particle_device *s, const sb_particle_contacts *c, int32_t *scratch)
{
  int32_t world = (int32_t)s->p->model->body_count;
  for (uint32_t i = 0; i < c->count; i++) scratch[i] = c->body[i] < 0 ? world : c->body[i];
  return scratch;
}

static void send_touches(si_particle_device *s, const sb_particle_contacts *c, sb_compute_calls *calls)
{
  int32_t *rows = (int32_t *)(void *)s->p->touch_force; /* room for 3 words a contact, which the CPU's loops do not use here */
  const part_of_buffer parts[] = {{c->particle, 0, 1}, {body_rows_of(s, c, rows), 1, 1}, {c->friction, 2, 1}, {c->point, 3, 3}, {c->normal, 6, 3}};
  send_arrays(s->touches, s->bind->particle_contact_capacity, c->count, parts, sizeof parts / sizeof *parts, calls);
  CALL(upload, s->touch_start, 0, c->particle_start, ((uint64_t)s->p->model->particle_count + 1) * 4);
}

static void send_nears(si_particle_device *s, const sb_near_pairs *c, sb_compute_calls *calls)
{
  const part_of_buffer parts[] = {{c->particles, 0, 4}, {c->kind, 4, 1}, {c->side, 5, 1}, {c->thickness, 6, 1}, {c->friction, 7, 1}};
  uint64_t particles = s->p->model->particle_count;
  send_arrays(s->nears, s->bind->near_pair_capacity, c->count, parts, sizeof parts / sizeof *parts, calls);
  CALL(upload, s->near_first, 0, s->p->near_first, (particles + 1) * 4);
  CALL(upload, s->near_entry, 0, s->p->near_entry, 4ull * s->p->near_first[particles]);
}

/* By body: what attachments and then contacts do to it, as si_particles_add_wrench has them. */
static void send_presses(si_particle_device *s, const si_particles *p, sb_compute_calls *calls)
{
  uint32_t bodies = p->model->body_count, holds = p->count[SI_HOLDS], n = 0, *first = s->press_list, *list = first + bodies + 1;
  for (uint32_t b = 0; b < bodies; b++) {
    first[b] = n;
    for (uint32_t i = p->hold_first[b]; i < p->hold_first[b + 1]; i++) list[n++] = p->hold_list[i];
    for (uint32_t i = p->touch_first[b]; i < p->touch_first[b + 1]; i++) list[n++] = holds + p->touch_list[i];
  }
  first[bodies] = n;
  CALL(upload, s->presses.first, 0, first, 4ull * bodies + 4);
  CALL(upload, s->presses.list, 0, list, 4ull * n);
}

void si_particle_device_send(si_particle_device *s, si_particles *p, const sb_step *step, const si_tick *tick, sb_compute_calls *calls)
{
  const uint32_t counts[2] = {step->particle_contacts->count, step->near_pairs->count};
  const uint32_t groups[6] = {(counts[0] + LOCAL - 1) / LOCAL, 1, 1, (counts[1] + LOCAL - 1) / LOCAL, 1, 1};
  if (counts[0] || p->count[SI_HOLDS]) send_bodies(s, p, step, tick, calls);
  if (s->pressing) send_presses(s, p, calls);
  if (counts[0]) send_touches(s, step->particle_contacts, calls);
  if (counts[1]) send_nears(s, step->near_pairs, calls);
  if (counts[0] || counts[1]) CALL(upload, s->share, 0, p->share, 4ull * p->model->particle_count);
  CALL(upload, s->counts, 0, counts, sizeof counts);
  CALL(upload, s->groups, 0, groups, sizeof groups);
}
