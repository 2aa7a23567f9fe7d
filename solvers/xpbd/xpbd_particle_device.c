/* Buffers and pipelines at binding, dispatches at activation, uploads in a step. */
#include "xpbd_particle_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "xpbd_airs_spv.h"
#include "xpbd_attachments_spv.h"
#include "xpbd_bounces_spv.h"
#include "xpbd_contacts_spv.h"
#include "xpbd_edges_spv.h"
#include "xpbd_load_spv.h"
#include "xpbd_near_pairs_spv.h"
#include "xpbd_predict_spv.h"
#include "xpbd_springs_spv.h"
#include "xpbd_store_spv.h"
#include "xpbd_tets_spv.h"
#include "xpbd_tris_spv.h"

#define LOCAL 64u
#define BODY_WORDS 54u
#define PAIR_WORDS 8u

_Static_assert(sizeof(xp_body) == BODY_WORDS * sizeof(float), "the shaders read bodies as they lie here");

/* Words of a bundle, and multipliers of an element, by kind. */
static const uint32_t bundle_words[XP_KINDS] = {sizeof(xp_airs) / 4, sizeof(xp_springs) / 4, sizeof(xp_tris) / 4, sizeof(xp_edges) / 4, sizeof(xp_tets) / 4};
static const uint32_t lambdas[XP_KINDS] = {1, 1, 3, 1, 2};

typedef struct motion_push {
  uint32_t count, known;
  float h, inv_h;
} motion_push;

typedef struct element_push {
  uint32_t count, nobody;
  int32_t damping;
  uint32_t keep, fresh;
  float h, springy, damped, zero;
} element_push;

typedef struct touch_push {
  uint32_t count, fresh;
  float h, inv_h, threshold, most;
  uint32_t own_bodies;
} touch_push;

typedef struct near_push {
  uint32_t color, serial, nobody;
  float zero;
} near_push;

#define CALL(k, ...) SB_COMPUTE_CALL(k, __VA_ARGS__)

/* ---- buffers ---- */

static const void *bundle_at(const xp_cloth *c, uint32_t kind, uint32_t bundle) { return xp_bundle_particles(c, kind, bundle); }

/* Words of the bundles of one kind in the schedule's order; gaps hold nobody. */
static void fill_bundles(xp_particle_device *s, sb_compute_calls *k, uint32_t kind)
{
  const xp_schedule *order = &s->schedule;
  size_t words = bundle_words[kind], total = order->places[kind] * words;
  uint32_t *data = malloc((total + 1) * sizeof *data);
  if (!data) {
    sb_compute_no_memory(k);
    return;
  }
  for (uint32_t i = 0; i < order->places[kind]; i++) {
    uint32_t *to = data + i * words, b = order->order[kind][i];
    if (b != XP_NONE) memcpy(to, bundle_at(s->cloth, kind, b), words * sizeof *to);
    for (uint32_t w = 0; b == XP_NONE && w < words; w++) to[w] = s->cloth->particles.count;
  }
  sb_compute_fill_buffer(k, &s->words[kind], data, total * sizeof *data);
  free(data);
  s->lambda[kind] = s->none;
  if (s->cloth->spring_lambda) sb_compute_make_buffer(k, &s->lambda[kind], (uint64_t)order->places[kind] * XP_WIDTH * lambdas[kind] * sizeof(float));
}

static void fill_spring_damping(xp_particle_device *s, sb_compute_calls *k)
{
  const float *from = s->cloth->spring_damping;
  uint32_t places = s->schedule.places[XP_SPRING];
  s->spring_damping = s->none;
  if (!from) return;
  float *data = calloc((size_t)places * XP_WIDTH + 1, sizeof *data);
  if (!data) {
    sb_compute_no_memory(k);
    return;
  }
  for (uint32_t i = 0; i < places; i++) {
    uint32_t b = s->schedule.order[XP_SPRING][i];
    if (b != XP_NONE) memcpy(data + (size_t)i * XP_WIDTH, from + (size_t)b * XP_WIDTH, XP_WIDTH * sizeof *data);
  }
  sb_compute_fill_buffer(k, &s->spring_damping, data, (uint64_t)places * XP_WIDTH * sizeof *data);
  free(data);
}

/* What is fixed of each particle. */
static void fill_particles(xp_particle_device *s, sb_compute_calls *k)
{
  const xp_particles *p = &s->cloth->particles;
  const sb_model *m = s->bind->model;
  uint64_t rows = (uint64_t)p->count + 1;
  uint32_t *world = malloc(rows * sizeof *world);
  float *radius = malloc(rows * sizeof *radius);
  if (!world || !radius) sb_compute_no_memory(k);
  for (uint32_t i = 0; !k->status && i < p->count; i++) {
    world[i] = (uint32_t)m->deformable_world[m->particle_deformable[p->index[i]]];
    radius[i] = m->particle_radius[p->index[i]];
  }
  sb_compute_make_buffer(k, &s->x, rows * 16);
  sb_compute_make_buffer(k, &s->v, rows * 16);
  sb_compute_fill_buffer(k, &s->d, p->d, rows * 16);
  sb_compute_fill_buffer(k, &s->index, p->index, p->count * sizeof(uint32_t));
  sb_compute_fill_buffer(k, &s->world, world, p->count * sizeof *world);
  sb_compute_fill_buffer(k, &s->radius, radius, p->count * sizeof *radius);
  sb_compute_fill_buffer(k, &s->gravity, m->gravity, 3ull * m->world_count * sizeof(float));
  CALL(k, state_buffer, "particle_q", &s->state_q);
  CALL(k, state_buffer, "particle_qd", &s->state_qd);
  free(world);
  free(radius);
}

void xp_attachments_mark_linked(const xp_touches *t, bool *linked)
{
  for (uint32_t i = 0; i < t->attachment_count; i++)
    if (t->attachments[i].body < t->bodies->own) linked[t->attachments[i].particle] = true;
}

void xp_attachment_words(const xp_attachment *a, float *to)
{
  memcpy(to, &a->body, sizeof *to);
  memcpy(to + 1, a->point, sizeof a->point);
  to[4] = a->stiffness, to[5] = a->damping;
}

/* Attachments by particle, each particle's in their order; not those of particles that an own body holds. */
static void fill_attachments(xp_particle_device *s, sb_compute_calls *k)
{
  const xp_touches *t = s->touches;
  uint32_t n = s->cloth->particles.count;
  uint32_t *first = calloc((size_t)n + 2, sizeof *first), *row = malloc(((size_t)n + 1) * sizeof *row), *start = malloc(((size_t)n + 2) * sizeof *start);
  float *items = calloc((size_t)t->attachment_count * XP_ATTACHMENT_WORDS + 1, sizeof *items);
  bool *linked = calloc((size_t)n + 1, sizeof *linked);
  if (!first || !row || !start || !items || !linked) {
    sb_compute_no_memory(k);
  } else {
    xp_attachments_mark_linked(t, linked);
    for (uint32_t i = 0; i < t->attachment_count; i++) first[t->attachments[i].particle + 1] += !linked[t->attachments[i].particle];
    uint32_t rows = 0, at = 0;
    for (uint32_t i = 0; i < n; i++) {
      uint32_t count = first[i + 1];
      first[i + 1] = first[i] + count;
      if (!count) continue;
      row[rows] = i;
      start[rows++] = at;
      at += count;
    }
    start[rows] = at;
    for (uint32_t i = 0; i < t->attachment_count; i++)
      if (!linked[t->attachments[i].particle]) xp_attachment_words(&t->attachments[i], items + (size_t)first[t->attachments[i].particle]++ * XP_ATTACHMENT_WORDS);
    s->attached_rows = rows;
    sb_compute_fill_buffer(k, &s->held, row, rows * sizeof *row);
    sb_compute_fill_buffer(k, &s->held_start, start, ((uint64_t)rows + 1) * sizeof *start);
    sb_compute_fill_buffer(k, &s->held_items, items, (uint64_t)at * XP_ATTACHMENT_WORDS * sizeof *items);
    sb_compute_make_buffer(k, &s->held_kept, (uint64_t)at * 3 * sizeof(float));
  }
  free(first);
  free(row);
  free(start);
  free(items);
  free(linked);
}

/* Room for what comes every tick. */
static void make_tick_buffers(xp_particle_device *s, sb_compute_calls *k)
{
  const sb_host *host = s->bind->host;
  uint64_t rows = (uint64_t)s->cloth->particles.count + 1, contacts = (uint64_t)s->bind->particle_contact_capacity + 1;
  sb_compute_make_buffer(k, &s->contacts, contacts * XP_CONTACT_WORDS * sizeof(float));
  sb_compute_make_buffer(k, &s->contacts_kept, contacts * XP_CONTACT_KEPT_WORDS * sizeof(float));
  if (s->there && s->there->particle_capacity)
    s->contact_start = s->there->particle_start;
  else
    sb_compute_make_buffer(k, &s->contact_start, rows * sizeof(uint32_t));
  s->start = host->alloc(host->context, rows * sizeof *s->start);
  s->items = host->alloc(host->context, contacts * XP_CONTACT_WORDS * sizeof *s->items);
  uint64_t pairs = s->bind->near_pair_capacity;
  if (pairs) {
    sb_compute_make_buffer(k, &s->near_pairs, pairs * PAIR_WORDS * sizeof(uint32_t));
    sb_compute_make_buffer(k, &s->near_start, (XP_NEAR_GROUPS + 1u) * sizeof(uint32_t));
    sb_compute_make_buffer(k, &s->near_groups, 3u * XP_NEAR_GROUPS * sizeof(uint32_t));
    s->pair_words = host->alloc(host->context, pairs * PAIR_WORDS * sizeof *s->pair_words);
  }
  if (!s->start || !s->items || (pairs && !s->pair_words)) sb_compute_no_memory(k);
}

/* ---- pipelines ---- */

static void make_pipelines(xp_particle_device *s, sb_compute_calls *k)
{
  SB_COMPUTE_PIPELINE(k, &s->motion[XP_MOTION_LOAD], xpbd_load, 6, motion_push);
  SB_COMPUTE_PIPELINE(k, &s->motion[XP_MOTION_PREDICT], xpbd_predict, 5, motion_push);
  SB_COMPUTE_PIPELINE(k, &s->motion[XP_MOTION_STORE], xpbd_store, 6, motion_push);
  SB_COMPUTE_PIPELINE(k, &s->elements[XP_AIR], xpbd_airs, 5, element_push);
  SB_COMPUTE_PIPELINE(k, &s->elements[XP_SPRING], xpbd_springs, 5, element_push);
  SB_COMPUTE_PIPELINE(k, &s->elements[XP_TRI], xpbd_tris, 5, element_push);
  SB_COMPUTE_PIPELINE(k, &s->elements[XP_EDGE], xpbd_edges, 5, element_push);
  SB_COMPUTE_PIPELINE(k, &s->elements[XP_TET], xpbd_tets, 5, element_push);
  SB_COMPUTE_PIPELINE(k, &s->touch[XP_TOUCH_HOLD], xpbd_attachments, 7, touch_push);
  SB_COMPUTE_PIPELINE(k, &s->touch[XP_TOUCH_SOLVE], xpbd_contacts, 8, touch_push);
  SB_COMPUTE_PIPELINE(k, &s->touch[XP_TOUCH_BOUNCE], xpbd_bounces, 10, touch_push);
  SB_COMPUTE_PIPELINE(k, &s->near_solve, xpbd_near_pairs, 4, near_push);
}

sb_status xp_particle_device_bind(xp_particle_device *s, sb_compute_calls *k, const sb_bind *bind, const xp_cloth *cloth, xp_bodies *bodies, const xp_touches *touches, xp_near *near,
                                  const sb_device_contacts *there, uint32_t bodies_of)
{
  s->bind = bind;
  s->cloth = cloth;
  s->bodies = bodies;
  s->touches = touches;
  s->near = near;
  s->there = there;
  s->bodies_of = bodies_of;
  if (!k->status && !xp_schedule_make(&s->schedule, cloth)) sb_compute_no_memory(k);
  sb_compute_make_buffer(k, &s->none, 4);
  for (uint32_t kind = 0; !k->status && kind < XP_KINDS; kind++) fill_bundles(s, k, kind);
  if (!k->status) fill_spring_damping(s, k);
  if (!k->status) fill_particles(s, k);
  if (!k->status) fill_attachments(s, k);
  if (!k->status) make_tick_buffers(s, k);
  make_pipelines(s, k);
  return k->status;
}

void xp_particle_device_free(xp_particle_device *s) { xp_schedule_drop(&s->schedule); }

/* ---- the graph of a tick ---- */

static void dispatch(sb_compute_calls *k, uint32_t graph, uint32_t pipeline, const sb_binding *bindings, const void *push, uint64_t threads)
{
  CALL(k, dispatch, graph, pipeline, bindings, push, (uint32_t)((threads + LOCAL - 1) / LOCAL));
}

void xp_particles_record_motion(xp_particle_device *s, sb_compute_calls *k, uint32_t graph, uint32_t pass, bool known)
{
  motion_push push = {s->cloth->particles.count, known, s->settings.h, s->settings.inv_h};
  const sb_binding predict[5] = {sb_whole_buffer(s->x), sb_whole_buffer(s->d), sb_whole_buffer(s->v), sb_whole_buffer(s->world), sb_whole_buffer(s->gravity)};
  const sb_binding state[6] = {sb_whole_buffer(s->x), sb_whole_buffer(s->d), sb_whole_buffer(s->v), sb_whole_buffer(s->index), sb_whole_buffer(s->state_q), sb_whole_buffer(s->state_qd)};
  dispatch(k, graph, s->motion[pass], pass == XP_MOTION_PREDICT ? predict : state, &push, push.count);
  CALL(k, barrier, graph);
}

/* Bundles of one kind on one level, in as many dispatches as bindings and workgroups allow. */
static void solve_bundles(xp_particle_device *s, sb_compute_calls *k, uint32_t graph, uint32_t kind, const xp_level *level, element_push push)
{
  uint64_t bytes = (uint64_t)bundle_words[kind] * 4, most = k->compute->binding_bytes_max / bytes;
  if (most > (uint64_t)k->compute->groups_max * LOCAL / XP_WIDTH) most = (uint64_t)k->compute->groups_max * LOCAL / XP_WIDTH;
  most = most / XP_LEVEL_ALIGN * XP_LEVEL_ALIGN;
  for (uint64_t i = 0; i < level->count[kind]; i += most) {
    uint64_t first = level->first[kind] + i, count = level->count[kind] - i < most ? level->count[kind] - i : most;
    uint64_t lambda = XP_WIDTH * sizeof(float) * lambdas[kind], damping = XP_WIDTH * sizeof(float);
    push.count = (uint32_t)(count * XP_WIDTH);
    const sb_binding bindings[5] = {
        sb_whole_buffer(s->x), sb_whole_buffer(s->d), {.buffer = s->words[kind], .offset = first * bytes, .bytes = count * bytes},
        kind == XP_SPRING && s->spring_damping != s->none ? (sb_binding){.buffer = s->spring_damping, .offset = first * damping, .bytes = count * damping} : sb_whole_buffer(s->none),
        push.keep ? (sb_binding){.buffer = s->lambda[kind], .offset = first * lambda, .bytes = count * lambda} : sb_whole_buffer(s->none)};
    dispatch(k, graph, s->elements[kind], bindings, &push, push.count);
  }
}

/* Level after level. */
void xp_particles_record_elements(xp_particle_device *s, sb_compute_calls *k, uint32_t graph, uint32_t kinds, uint32_t iteration, bool damping)
{
  const xp_schedule *order = &s->schedule;
  element_push push = {.nobody = s->cloth->particles.count, .damping = damping, .keep = s->cloth->spring_lambda != NULL, .fresh = iteration == 0,
                       .h = s->settings.h, .springy = damping ? 0.0f : 1.0f, .damped = damping ? 1.0f : 0.0f, .zero = 0.0f};
  for (uint32_t l = 0; l < order->level_count; l++) {
    bool any = false;
    for (uint32_t kind = 0; kind < XP_KINDS; kind++) {
      if (!(kinds >> kind & 1u) || !order->levels[l].count[kind]) continue;
      solve_bundles(s, k, graph, kind, &order->levels[l], push);
      any = true;
    }
    if (any) CALL(k, barrier, graph);
  }
}

void xp_particles_record_touches(xp_particle_device *s, sb_compute_calls *k, uint32_t graph, uint32_t pass, uint32_t iteration)
{
  touch_push push = {.count = pass == XP_TOUCH_HOLD ? s->attached_rows : s->cloth->particles.count, .fresh = iteration == 0, .h = s->settings.h, .inv_h = s->settings.inv_h,
                     .threshold = s->bodies->threshold, .most = pass == XP_TOUCH_BOUNCE ? s->bodies->push * s->settings.h : 0.0f, .own_bodies = s->bodies->own};
  const sb_binding held[7] = {sb_whole_buffer(s->x), sb_whole_buffer(s->d), sb_whole_buffer(s->bodies_of), sb_whole_buffer(s->held_start), sb_whole_buffer(s->held_items), sb_whole_buffer(s->held_kept), sb_whole_buffer(s->held)};
  const sb_binding contacts[10] = {sb_whole_buffer(s->x), sb_whole_buffer(s->d), sb_whole_buffer(s->bodies_of), sb_whole_buffer(s->contact_start), sb_whole_buffer(s->contacts), sb_whole_buffer(s->contacts_kept),
                                   sb_whole_buffer(s->world), sb_whole_buffer(s->radius), sb_whole_buffer(s->v), sb_whole_buffer(s->gravity)};
  if (!push.count) return;
  dispatch(k, graph, s->touch[pass], pass == XP_TOUCH_HOLD ? held : contacts, &push, push.count);
  CALL(k, barrier, graph);
}

/* Colour after colour, then those beyond them one after another. */
void xp_particles_record_near(xp_particle_device *s, sb_compute_calls *k, uint32_t graph, uint32_t groups)
{
  const sb_binding bindings[4] = {sb_whole_buffer(s->x), sb_whole_buffer(s->d), sb_whole_buffer(s->near_pairs), sb_whole_buffer(s->near_start)};
  for (uint32_t color = 0; color < groups; color++) {
    near_push push = {.color = color, .serial = color == XP_NEAR_COLORS, .nobody = s->cloth->particles.count, .zero = 0.0f};
    CALL(k, dispatch_indirect, graph, s->near_solve, bindings, &push, s->near_groups, 12ull * color);
    CALL(k, barrier, graph);
  }
}

/* ---- the step ---- */

void xp_particles_send_contacts(xp_particle_device *s, sb_compute_calls *k, const sb_particle_contacts *c)
{
  const xp_particles *p = &s->cloth->particles;
  uint32_t at = 0;
  for (uint32_t i = 0; i < p->count; i++) {
    s->start[i] = at;
    for (uint32_t j = c->particle_start[p->index[i]]; j < c->particle_start[p->index[i] + 1]; j++, at++) {
      float *to = s->items + (size_t)at * XP_CONTACT_WORDS;
      uint32_t body = c->body[j] < 0 ? s->bodies->nobody : s->bodies->record[c->body[j]];
      memcpy(to, &body, sizeof *to);
      memcpy(to + 1, c->point + 3 * (size_t)j, 3 * sizeof *to);
      memcpy(to + 4, c->normal + 3 * (size_t)j, 3 * sizeof *to);
      to[7] = c->friction[j], to[8] = c->restitution[j];
    }
  }
  s->start[p->count] = at;
  CALL(k, upload, s->contact_start, 0, s->start, ((uint64_t)p->count + 1) * sizeof *s->start);
  CALL(k, upload, s->contacts, 0, s->items, (uint64_t)at * XP_CONTACT_WORDS * sizeof *s->items);
}

/* Pairs in the order in which they are solved, and how many workgroups each colour takes. */
uint32_t xp_particles_send_near(xp_particle_device *s, sb_compute_calls *k, const sb_step *step)
{
  const sb_near_pairs *n = step->near_pairs;
  uint32_t groups[3 * XP_NEAR_GROUPS], used = 0;
  xp_near_begin(s->near, step);
  for (uint32_t i = 0; i < n->count; i++) {
    uint32_t pair = s->near->order[i], *to = s->pair_words + (size_t)i * PAIR_WORDS;
    xp_near_records(s->near, pair, to);
    to[4] = (uint32_t)n->kind[pair];
    memcpy(to + 5, &n->side[pair], sizeof *to);
    memcpy(to + 6, &n->thickness[pair], sizeof *to);
    memcpy(to + 7, &n->friction[pair], sizeof *to);
  }
  for (uint32_t c = 0; c < XP_NEAR_GROUPS; c++) {
    uint32_t pairs = s->near->start[c + 1] - s->near->start[c];
    if (pairs) used = c + 1;
    groups[3 * c] = c == XP_NEAR_COLORS ? pairs > 0 : (pairs + LOCAL - 1) / LOCAL;
    groups[3 * c + 1] = groups[3 * c + 2] = 1;
  }
  CALL(k, upload, s->near_pairs, 0, s->pair_words, (uint64_t)n->count * PAIR_WORDS * sizeof *s->pair_words);
  CALL(k, upload, s->near_start, 0, s->near->start, sizeof s->near->start);
  CALL(k, upload, s->near_groups, 0, groups, sizeof groups);
  return used;
}
