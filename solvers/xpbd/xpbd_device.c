/* Buffers and pipelines at binding, graphs at activation, uploads in a step. */
#include "xpbd_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "xpbd_airs_spv.h"
#include "xpbd_attachments_spv.h"
#include "xpbd_bounces_spv.h"
#include "xpbd_contacts_spv.h"
#include "xpbd_taken_spv.h"
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
#define ATTACHMENT_WORDS 6u
#define CONTACT_WORDS 9u
#define TOUCH_WORDS 7u
#define PAIR_WORDS 8u
#define NEAR_GROUPS (XP_NEAR_COLORS + 1u) /* the last one is serial */

/* Colours of near pairs that a graph goes through. */
static const uint32_t near_steps[XP_NEAR_STEPS] = {0, 8, 24, NEAR_GROUPS};

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
} touch_push;

typedef struct near_push {
  uint32_t color, serial, nobody;
  float zero;
} near_push;

/* A device and the calls to it. */
typedef struct chain {
  xp_device *s;
  sb_compute_calls calls;
} chain;

#define CALL(k, ...) SB_COMPUTE_CALL(&(k)->calls, __VA_ARGS__)

/* ---- buffers ---- */

static const void *bundle_at(const xp_cloth *c, uint32_t kind, uint32_t bundle) { return xp_bundle_particles(c, kind, bundle); }

typedef struct taken_push {
  uint32_t particles, capacity, nobody;
} taken_push;

/* Words of the bundles of one kind in the schedule's order; gaps hold nobody. */
static void fill_bundles(chain *k, uint32_t kind)
{
  xp_device *s = k->s;
  const xp_schedule *order = &s->schedule;
  size_t words = bundle_words[kind], total = order->places[kind] * words;
  uint32_t *data = malloc((total + 1) * sizeof *data);
  if (!data) {
    sb_compute_no_memory(&k->calls);
    return;
  }
  for (uint32_t i = 0; i < order->places[kind]; i++) {
    uint32_t *to = data + i * words, b = order->order[kind][i];
    if (b != XP_NONE) memcpy(to, bundle_at(s->cloth, kind, b), words * sizeof *to);
    for (uint32_t w = 0; b == XP_NONE && w < words; w++) to[w] = s->cloth->particles.count;
  }
  sb_compute_fill_buffer(&k->calls, &s->words[kind], data, total * sizeof *data);
  free(data);
  s->lambda[kind] = s->none;
  if (s->cloth->spring_lambda) sb_compute_make_buffer(&k->calls, &s->lambda[kind], (uint64_t)order->places[kind] * XP_WIDTH * lambdas[kind] * sizeof(float));
}

static void fill_spring_damping(chain *k)
{
  xp_device *s = k->s;
  const float *from = s->cloth->spring_damping;
  uint32_t places = s->schedule.places[XP_SPRING];
  s->spring_damping = s->none;
  if (!from) return;
  float *data = calloc((size_t)places * XP_WIDTH + 1, sizeof *data);
  if (!data) {
    sb_compute_no_memory(&k->calls);
    return;
  }
  for (uint32_t i = 0; i < places; i++) {
    uint32_t b = s->schedule.order[XP_SPRING][i];
    if (b != XP_NONE) memcpy(data + (size_t)i * XP_WIDTH, from + (size_t)b * XP_WIDTH, XP_WIDTH * sizeof *data);
  }
  sb_compute_fill_buffer(&k->calls, &s->spring_damping, data, (uint64_t)places * XP_WIDTH * sizeof *data);
  free(data);
}

/* What is fixed of each particle. */
static void fill_particles(chain *k)
{
  xp_device *s = k->s;
  const xp_particles *p = &s->cloth->particles;
  const sb_model *m = s->bind->model;
  uint64_t rows = (uint64_t)p->count + 1;
  uint32_t *world = malloc(rows * sizeof *world);
  float *radius = malloc(rows * sizeof *radius);
  if (!world || !radius) sb_compute_no_memory(&k->calls);
  for (uint32_t i = 0; !k->calls.status && i < p->count; i++) {
    world[i] = (uint32_t)m->deformable_world[m->particle_deformable[p->index[i]]];
    radius[i] = m->particle_radius[p->index[i]];
  }
  sb_compute_make_buffer(&k->calls, &s->x, rows * 16);
  sb_compute_make_buffer(&k->calls, &s->v, rows * 16);
  sb_compute_fill_buffer(&k->calls, &s->d, p->d, rows * 16);
  sb_compute_fill_buffer(&k->calls, &s->index, p->index, p->count * sizeof(uint32_t));
  sb_compute_fill_buffer(&k->calls, &s->world, world, p->count * sizeof *world);
  sb_compute_fill_buffer(&k->calls, &s->radius, radius, p->count * sizeof *radius);
  sb_compute_fill_buffer(&k->calls, &s->gravity, m->gravity, 3ull * m->world_count * sizeof(float));
  CALL(k, state_buffer, "particle_q", &s->state_q);
  CALL(k, state_buffer, "particle_qd", &s->state_qd);
  free(world);
  free(radius);
}

/* Attachments by particle, each particle's in their order. */
static void fill_attachments(chain *k)
{
  xp_device *s = k->s;
  const xp_touches *t = s->touches;
  uint32_t n = s->cloth->particles.count;
  uint32_t *first = calloc((size_t)n + 2, sizeof *first), *row = malloc(((size_t)n + 1) * sizeof *row), *start = malloc(((size_t)n + 2) * sizeof *start);
  float *items = calloc((size_t)t->attachment_count * ATTACHMENT_WORDS + 1, sizeof *items);
  if (!first || !row || !start || !items) {
    sb_compute_no_memory(&k->calls);
  } else {
    for (uint32_t i = 0; i < t->attachment_count; i++) first[t->attachments[i].particle + 1]++;
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
    for (uint32_t i = 0; i < t->attachment_count; i++) {
      const xp_attachment *a = &t->attachments[i];
      float *to = items + (size_t)first[a->particle]++ * ATTACHMENT_WORDS;
      memcpy(to, &a->body, sizeof *to);
      memcpy(to + 1, a->point, sizeof a->point);
      to[4] = a->stiffness, to[5] = a->damping;
    }
    s->attached_rows = rows;
    sb_compute_fill_buffer(&k->calls, &s->held, row, rows * sizeof *row);
    sb_compute_fill_buffer(&k->calls, &s->held_start, start, ((uint64_t)rows + 1) * sizeof *start);
    sb_compute_fill_buffer(&k->calls, &s->held_items, items, (uint64_t)t->attachment_count * ATTACHMENT_WORDS * sizeof *items);
    sb_compute_make_buffer(&k->calls, &s->held_kept, (uint64_t)t->attachment_count * 3 * sizeof(float));
  }
  free(first);
  free(row);
  free(start);
  free(items);
}

/* Room for what comes every tick. */
static void make_tick_buffers(chain *k)
{
  xp_device *s = k->s;
  const sb_host *host = s->bind->host;
  uint64_t rows = (uint64_t)s->cloth->particles.count + 1, contacts = (uint64_t)s->bind->particle_contact_capacity + 1;
  uint64_t bodies = (uint64_t)s->bodies->nobody + 1, substeps = s->bodies->moving ? s->settings.substeps : 1;
  s->body_stride = (bodies * BODY_WORDS * sizeof(float) + SB_COMPUTE_ALIGNMENT - 1) / SB_COMPUTE_ALIGNMENT * SB_COMPUTE_ALIGNMENT;
  sb_compute_make_buffer(&k->calls, &s->bodies_of, s->body_stride * substeps);
  sb_compute_make_buffer(&k->calls, &s->contact_start, rows * sizeof(uint32_t));
  sb_compute_make_buffer(&k->calls, &s->contacts, contacts * CONTACT_WORDS * sizeof(float));
  sb_compute_make_buffer(&k->calls, &s->contacts_kept, contacts * TOUCH_WORDS * sizeof(float));
  s->start = host->alloc(host->context, rows * sizeof *s->start);
  s->items = host->alloc(host->context, contacts * CONTACT_WORDS * sizeof *s->items);
  s->body_records = host->alloc(host->context, s->body_stride * substeps);
  uint64_t pairs = s->bind->near_pair_capacity;
  if (pairs) {
    sb_compute_make_buffer(&k->calls, &s->near_pairs, pairs * PAIR_WORDS * sizeof(uint32_t));
    sb_compute_make_buffer(&k->calls, &s->near_start, (NEAR_GROUPS + 1u) * sizeof(uint32_t));
    sb_compute_make_buffer(&k->calls, &s->near_groups, 3u * NEAR_GROUPS * sizeof(uint32_t));
    s->pair_words = host->alloc(host->context, pairs * PAIR_WORDS * sizeof *s->pair_words);
  }
  if (!s->start || !s->items || !s->body_records || (pairs && !s->pair_words)) sb_compute_no_memory(&k->calls);
  if (k->calls.status) return;
  memcpy(s->body_records, s->bodies->bodies, bodies * BODY_WORDS * sizeof(float));
  CALL(k, upload, s->bodies_of, 0, s->body_records, bodies * BODY_WORDS * sizeof(float));
}

/* Contacts of all particles, with bodies that stay where they are, can be taken where they lie. */
static void take_contacts(xp_device *s)
{
  bool all = s->cloth->particles.count == s->bind->model->particle_count && !s->bodies->moving && !s->bind->near_pair_capacity;
  s->there = all ? s->bind->host->get_extension(s->bind->host->context, SB_DEVICE_CONTACTS_EXTENSION_ID) : NULL;
  if (s->there && s->there->particle_capacity) s->contact_start = s->there->particle_start;
}

/* ---- pipelines ---- */

static void make_pipelines(chain *k)
{
  xp_device *s = k->s;
  SB_COMPUTE_PIPELINE(&k->calls, &s->motion[0], xpbd_load, 6, motion_push);
  SB_COMPUTE_PIPELINE(&k->calls, &s->motion[1], xpbd_predict, 5, motion_push);
  SB_COMPUTE_PIPELINE(&k->calls, &s->motion[2], xpbd_store, 6, motion_push);
  SB_COMPUTE_PIPELINE(&k->calls, &s->elements[XP_AIR], xpbd_airs, 5, element_push);
  SB_COMPUTE_PIPELINE(&k->calls, &s->elements[XP_SPRING], xpbd_springs, 5, element_push);
  SB_COMPUTE_PIPELINE(&k->calls, &s->elements[XP_TRI], xpbd_tris, 5, element_push);
  SB_COMPUTE_PIPELINE(&k->calls, &s->elements[XP_EDGE], xpbd_edges, 5, element_push);
  SB_COMPUTE_PIPELINE(&k->calls, &s->elements[XP_TET], xpbd_tets, 5, element_push);
  SB_COMPUTE_PIPELINE(&k->calls, &s->touch[0], xpbd_attachments, 7, touch_push);
  SB_COMPUTE_PIPELINE(&k->calls, &s->touch[1], xpbd_contacts, 8, touch_push);
  SB_COMPUTE_PIPELINE(&k->calls, &s->touch[2], xpbd_bounces, 10, touch_push);
  SB_COMPUTE_PIPELINE(&k->calls, &s->near_solve, xpbd_near_pairs, 4, near_push);
  SB_COMPUTE_PIPELINE(&k->calls, &s->taken, xpbd_taken, 3, taken_push);
}

static sb_status refuse(bool jacobi, char *error, uint32_t error_size)
{
  if (jacobi) {
    snprintf(error, error_size, "order = jacobi does not run on the backend vulkan; use order = gauss_seidel, or backend = cpu");
    return SB_E_UNSUPPORTED;
  }
  return SB_OK;
}

sb_status xp_device_bind(xp_device *s, const sb_bind *bind, const xp_cloth *cloth, xp_bodies *bodies, const xp_touches *touches, xp_near *near,
                         char *error, uint32_t error_size)
{
  s->bind = bind;
  s->cloth = cloth;
  s->bodies = bodies;
  s->touches = touches;
  s->near = near;
  sb_status status = refuse(s->jacobi, error, error_size);
  if (status) return status;
  s->compute = sb_find_compute(bind, error, error_size);
  if (!s->compute) return SB_E_UNSUPPORTED;
  chain k = {s, {s->compute, SB_OK, error, error_size}};
  if (!xp_schedule_make(&s->schedule, cloth)) sb_compute_no_memory(&k.calls);
  sb_compute_make_buffer(&k.calls, &s->none, 4);
  for (uint32_t kind = 0; !k.calls.status && kind < XP_KINDS; kind++) fill_bundles(&k, kind);
  if (!k.calls.status) fill_spring_damping(&k);
  if (!k.calls.status) fill_particles(&k);
  if (!k.calls.status) fill_attachments(&k);
  if (!k.calls.status) make_tick_buffers(&k);
  if (!k.calls.status) take_contacts(s);
  make_pipelines(&k);
  return k.calls.status;
}

void xp_device_free(xp_device *s) { xp_schedule_drop(&s->schedule); }

/* ---- the graph of a tick ---- */

static void dispatch(chain *k, uint32_t graph, uint32_t pipeline, const sb_binding *bindings, const void *push, uint64_t threads)
{
  CALL(k, dispatch, graph, pipeline, bindings, push, (uint32_t)((threads + LOCAL - 1) / LOCAL));
}

static void barrier(chain *k, uint32_t graph) { CALL(k, barrier, graph); }

static void move_particles(chain *k, uint32_t graph, uint32_t pass, bool known)
{
  xp_device *s = k->s;
  motion_push push = {s->cloth->particles.count, known, s->settings.h, s->settings.inv_h};
  const sb_binding predict[5] = {sb_whole_buffer(s->x), sb_whole_buffer(s->d), sb_whole_buffer(s->v), sb_whole_buffer(s->world), sb_whole_buffer(s->gravity)};
  const sb_binding state[6] = {sb_whole_buffer(s->x), sb_whole_buffer(s->d), sb_whole_buffer(s->v), sb_whole_buffer(s->index), sb_whole_buffer(s->state_q), sb_whole_buffer(s->state_qd)};
  dispatch(k, graph, s->motion[pass], pass == 1 ? predict : state, &push, push.count);
  barrier(k, graph);
}

/* Bundles of one kind on one level, in as many dispatches as bindings and workgroups allow. */
static void solve_bundles(chain *k, uint32_t graph, uint32_t kind, const xp_level *level, element_push push)
{
  xp_device *s = k->s;
  uint64_t bytes = (uint64_t)bundle_words[kind] * 4, most = s->compute->binding_bytes_max / bytes;
  if (most > (uint64_t)s->compute->groups_max * LOCAL / XP_WIDTH) most = (uint64_t)s->compute->groups_max * LOCAL / XP_WIDTH;
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

/* One pass over the kinds of a mask, level after level. */
static void solve_elements(chain *k, uint32_t graph, uint32_t kinds, uint32_t iteration, bool damping)
{
  xp_device *s = k->s;
  const xp_schedule *order = &s->schedule;
  element_push push = {.nobody = s->cloth->particles.count, .damping = damping, .keep = s->cloth->spring_lambda != NULL, .fresh = iteration == 0,
                       .h = s->settings.h, .springy = damping ? 0.0f : 1.0f, .damped = damping ? 1.0f : 0.0f, .zero = 0.0f};
  for (uint32_t l = 0; l < order->level_count; l++) {
    bool any = false;
    for (uint32_t kind = 0; kind < XP_KINDS; kind++) {
      if (!(kinds >> kind & 1u) || !order->levels[l].count[kind]) continue;
      solve_bundles(k, graph, kind, &order->levels[l], push);
      any = true;
    }
    if (any) barrier(k, graph);
  }
}

static sb_binding bodies_of(const xp_device *s, uint32_t substep)
{
  return (sb_binding){.buffer = s->bodies_of, .offset = s->bodies->moving ? substep * s->body_stride : 0, .bytes = s->body_stride};
}

static void touch_particles(chain *k, uint32_t graph, uint32_t pass, uint32_t substep, uint32_t iteration)
{
  xp_device *s = k->s;
  touch_push push = {.count = pass == 0 ? s->attached_rows : s->cloth->particles.count, .fresh = iteration == 0, .h = s->settings.h,
                     .inv_h = s->settings.inv_h, .threshold = s->bodies->threshold, .most = pass == 2 ? s->bodies->push * s->settings.h : 0.0f};
  const sb_binding held[7] = {sb_whole_buffer(s->x), sb_whole_buffer(s->d), bodies_of(s, substep), sb_whole_buffer(s->held_start), sb_whole_buffer(s->held_items), sb_whole_buffer(s->held_kept), sb_whole_buffer(s->held)};
  const sb_binding contacts[10] = {sb_whole_buffer(s->x), sb_whole_buffer(s->d), bodies_of(s, substep), sb_whole_buffer(s->contact_start), sb_whole_buffer(s->contacts), sb_whole_buffer(s->contacts_kept),
                                   sb_whole_buffer(s->world), sb_whole_buffer(s->radius), sb_whole_buffer(s->v), sb_whole_buffer(s->gravity)};
  if (!push.count) return;
  dispatch(k, graph, s->touch[pass], pass == 0 ? held : contacts, &push, push.count);
  barrier(k, graph);
}

/* Colour after colour, then those beyond them one after another. */
static void part_near_pairs(chain *k, uint32_t graph, uint32_t groups)
{
  xp_device *s = k->s;
  const sb_binding bindings[4] = {sb_whole_buffer(s->x), sb_whole_buffer(s->d), sb_whole_buffer(s->near_pairs), sb_whole_buffer(s->near_start)};
  for (uint32_t color = 0; color < groups; color++) {
    near_push push = {.color = color, .serial = color == XP_NEAR_COLORS, .nobody = s->cloth->particles.count, .zero = 0.0f};
    CALL(k, dispatch_indirect, graph, s->near_solve, bindings, &push, s->near_groups, 12ull * color);
    barrier(k, graph);
  }
}

static void record_tick(chain *k, uint32_t graph, bool touching, uint32_t near_groups)
{
  xp_device *s = k->s;
  const uint32_t all = (1u << XP_KINDS) - 1u;
  if (touching && s->there) {
    const taken_push push = {s->cloth->particles.count, s->there->particle_capacity, s->bodies->nobody};
    const sb_binding bindings[3] = {sb_whole_buffer(s->there->particle_contacts), sb_whole_buffer(s->there->particle_start), sb_whole_buffer(s->contacts)};
    dispatch(k, graph, s->taken, bindings, &push, push.capacity);
    barrier(k, graph);
  }
  move_particles(k, graph, 0, true);
  for (uint32_t n = 0; n < s->settings.substeps && !k->calls.status; n++) {
    move_particles(k, graph, 1, n == 0 || touching);
    for (uint32_t i = 0; i < s->settings.iterations; i++) {
      solve_elements(k, graph, i == 0 ? all : all & ~(1u << XP_AIR), i, false);
      touch_particles(k, graph, 0, n, i);
      part_near_pairs(k, graph, near_groups);
      if (touching) touch_particles(k, graph, 1, n, i);
    }
    if (s->cloth->damped) solve_elements(k, graph, s->cloth->damped, 0, true);
    part_near_pairs(k, graph, near_groups);
    if (touching) touch_particles(k, graph, 2, n, 0);
  }
  move_particles(k, graph, 2, touching);
}

sb_status xp_device_activate(xp_device *s, xp_settings settings, char *error, uint32_t error_size)
{
  chain k = {s, {s->compute, SB_OK, error, error_size}};
  if (s->graphs_made && s->graph_h == settings.h) return SB_OK;
  s->settings = settings;
  for (uint32_t touching = 0; touching < (s->there && !s->there->particle_capacity ? 1u : 2u); touching++)
    for (uint32_t n = 0; n < (s->bind->near_pair_capacity ? XP_NEAR_STEPS : 1u); n++) {
      uint32_t *graph = &s->graphs[touching][n];
      CALL(&k, create_graph, graph);
      record_tick(&k, *graph, touching, near_steps[n]);
      CALL(&k, finish_graph, *graph);
    }
  s->graphs_made = !k.calls.status;
  s->graph_h = settings.h;
  return k.calls.status;
}

/* ---- the step ---- */

static void send_contacts(chain *k, const sb_particle_contacts *c)
{
  xp_device *s = k->s;
  const xp_particles *p = &s->cloth->particles;
  uint32_t at = 0;
  for (uint32_t i = 0; i < p->count; i++) {
    s->start[i] = at;
    for (uint32_t j = c->particle_start[p->index[i]]; j < c->particle_start[p->index[i] + 1]; j++, at++) {
      float *to = s->items + (size_t)at * CONTACT_WORDS;
      uint32_t body = c->body[j] < 0 ? s->bodies->nobody : s->bodies->record[c->body[j]];
      memcpy(to, &body, sizeof *to);
      memcpy(to + 1, c->point + 3 * (size_t)j, 3 * sizeof *to);
      memcpy(to + 4, c->normal + 3 * (size_t)j, 3 * sizeof *to);
      to[7] = c->friction[j], to[8] = c->restitution[j];
    }
  }
  s->start[p->count] = at;
  CALL(k, upload, s->contact_start, 0, s->start, ((uint64_t)p->count + 1) * sizeof *s->start);
  CALL(k, upload, s->contacts, 0, s->items, (uint64_t)at * CONTACT_WORDS * sizeof *s->items);
}

/* Pairs in the order in which they are solved, and how many workgroups each colour takes. */
static void send_near_pairs(chain *k, const sb_near_pairs *n)
{
  xp_device *s = k->s;
  uint32_t groups[3 * NEAR_GROUPS];
  for (uint32_t i = 0; i < n->count; i++) {
    uint32_t pair = s->near->order[i], *to = s->pair_words + (size_t)i * PAIR_WORDS;
    xp_near_records(s->near, pair, to);
    to[4] = (uint32_t)n->kind[pair];
    memcpy(to + 5, &n->side[pair], sizeof *to);
    memcpy(to + 6, &n->thickness[pair], sizeof *to);
    memcpy(to + 7, &n->friction[pair], sizeof *to);
  }
  for (uint32_t c = 0; c < NEAR_GROUPS; c++) {
    uint32_t pairs = s->near->start[c + 1] - s->near->start[c];
    groups[3 * c] = c == XP_NEAR_COLORS ? pairs > 0 : (pairs + LOCAL - 1) / LOCAL;
    groups[3 * c + 1] = groups[3 * c + 2] = 1;
  }
  CALL(k, upload, s->near_pairs, 0, s->pair_words, (uint64_t)n->count * PAIR_WORDS * sizeof *s->pair_words);
  CALL(k, upload, s->near_start, 0, s->near->start, sizeof s->near->start);
  CALL(k, upload, s->near_groups, 0, groups, sizeof groups);
}

/* Others' bodies, where each substep has them. */
static void send_bodies(chain *k)
{
  xp_device *s = k->s;
  size_t bytes = ((size_t)s->bodies->nobody + 1) * sizeof(xp_body);
  for (uint32_t n = 0; n < s->settings.substeps; n++) {
    xp_bodies_obstacles(s->bodies, n);
    memcpy((char *)s->body_records + n * s->body_stride, s->bodies->bodies, bytes);
  }
  CALL(k, upload, s->bodies_of, 0, s->body_records, s->body_stride * s->settings.substeps);
}

/* The first graph that goes through all colours of this tick. */
static uint32_t near_step(const xp_near *n)
{
  uint32_t used = NEAR_GROUPS, step = 0;
  while (used && n->start[used] == n->start[used - 1]) used--;
  while (near_steps[step] < used) step++;
  return step;
}

sb_status xp_device_step(xp_device *s, const sb_step *step, char *error, uint32_t error_size)
{
  chain k = {s, {s->compute, SB_OK, error, error_size}};
  if (s->there) {
    CALL(&k, run, s->graphs[s->there->particle_capacity > 0][0]);
    return k.calls.status;
  }
  bool touching = step->particle_contacts->count > 0, near = step->near_pairs->count > 0;
  if (touching) send_contacts(&k, step->particle_contacts);
  if (near) {
    xp_near_begin(s->near, step);
    send_near_pairs(&k, step->near_pairs);
  }
  if (s->bodies->moving && (touching || s->attached_rows)) {
    xp_bodies_meet(s->bodies, step);
    send_bodies(&k);
  }
  CALL(&k, run, s->graphs[touching][near ? near_step(s->near) : 0]);
  return k.calls.status;
}
