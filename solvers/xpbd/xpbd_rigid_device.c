/* Buffers and pipelines at binding, dispatches at activation, uploads in a step. */
#include "xpbd_rigid_device.h"

#include <stdlib.h>
#include <string.h>

#include "xpbd_bodies_load_spv.h"
#include "xpbd_bodies_predict_spv.h"
#include "xpbd_bodies_store_spv.h"
#include "xpbd_manifolds_bounce_spv.h"
#include "xpbd_manifolds_part_spv.h"
#include "xpbd_manifolds_solve_spv.h"
#include "xpbd_manifolds_warm_spv.h"
#include "xpbd_multipliers_keep_spv.h"
#include "xpbd_multipliers_take_spv.h"

#define LOCAL 64u
#define FIXED_WORDS 17u
#define TOUCH_WORDS 4u
#define GROUPS_CONTACTS (XP_MAX_COLORS + 2u) /* entry of `groups` for all contacts */

_Static_assert(sizeof(xp_touch_state) == TOUCH_WORDS * sizeof(float), "the shaders read multipliers as they lie here");
_Static_assert(XP_MAX_COLORS <= 32, "a body's colours are a mask of 32 bits there");

enum { BODIES_LOAD, BODIES_PREDICT, BODIES_STORE };
enum { WARM, SOLVE, PART, BOUNCE };
enum { TAKE, KEEP };

typedef struct body_push {
  uint32_t own, count;
  float h;
} body_push;

typedef struct manifold_push {
  uint32_t color, serial, back, capacity, own;
  float h, inv_h, most, threshold, zero;
} manifold_push;

typedef struct multiplier_push {
  uint32_t capacity, count_at;
} multiplier_push;

#define CALL(k, ...) SB_COMPUTE_CALL(k, __VA_ARGS__)

/* ---- buffers ---- */

/* Of each own body: itself, its world, where its joint's coordinates and dofs begin, 1/kg, inertia and inverse; and in its record what it answers to a force. */
static void fill_fixed(xp_rigid_device *s, sb_compute_calls *k)
{
  xp_bodies *b = s->bodies;
  const sb_model *m = s->bind->model;
  for (uint32_t r = 0; r < b->own; r++) {
    uint32_t body = b->body[r], *to = s->words + FIXED_WORDS * (size_t)r;
    const uint32_t words[4] = {body, (uint32_t)m->body_world[body], (uint32_t)m->joint_q_start[body], (uint32_t)m->joint_qd_start[body]};
    memcpy(to, words, sizeof words);
    memcpy(to + 4, m->body_inv_mass + body, sizeof *to);
    memcpy(to + 5, b->inertia + 6 * (size_t)r, 6 * sizeof *to);
    memcpy(to + 11, b->inv_inertia + 6 * (size_t)r, 6 * sizeof *to);
    memcpy(b->bodies[r].m, b->slowness + 6 * (size_t)r, sizeof b->bodies[r].m);
  }
  sb_compute_fill_buffer(k, &s->fixed, s->words, (uint64_t)b->own * FIXED_WORDS * sizeof *s->words);
  sb_compute_fill_buffer(k, &s->live, b->bodies, ((uint64_t)b->nobody + 1) * sizeof *b->bodies);
}

/* Where contacts lie there already: they, what they continue, and what was kept of them; manifolds and colours are made there too. */
static void share_contacts(xp_rigid_device *s, sb_compute_calls *k)
{
  const xp_bodies *b = s->bodies;
  const contact_graph_rules rules = {.max_colors = XP_MAX_COLORS, .max_points = 0, .words = 1};
  uint32_t bodies = s->bind->model->body_count, *words = calloc((size_t)bodies + 1, sizeof *words);
  if (!words) {
    sb_compute_no_memory(k);
    return;
  }
  for (uint32_t i = 0; i < bodies; i++) words[i] = 2 * b->record[i] + (b->record[i] < b->own);
  contact_graph_make(&s->graph, k, s->bind, s->there, rules, b->nobody, words);
  free(words);
  s->contacts = s->there->contacts;
  s->match = s->there->match;
  s->manifolds = s->graph.manifolds;
  s->starts = s->graph.starts;
  s->groups = s->graph.groups;
  CALL(k, state_buffer, "contact_push", &s->cache);
}

static void make_contact_buffers(xp_rigid_device *s, sb_compute_calls *k)
{
  uint64_t contacts = (uint64_t)s->bind->contact_capacity + 1;
  sb_compute_make_buffer(k, &s->kept, contacts * TOUCH_WORDS * sizeof(float));
  if (s->there) {
    share_contacts(s, k);
    return;
  }
  sb_compute_make_buffer(k, &s->manifolds, contacts * 16);
  sb_compute_make_buffer(k, &s->starts, CONTACT_GRAPH_STARTS(XP_MAX_COLORS) * sizeof(uint32_t));
  sb_compute_make_buffer(k, &s->groups, 3 * CONTACT_GRAPH_GROUPS(XP_MAX_COLORS) * sizeof(uint32_t));
  sb_compute_make_buffer(k, &s->contacts, contacts * SB_CONTACT_WORDS * sizeof(uint32_t));
}

static void make_buffers(xp_rigid_device *s, sb_compute_calls *k)
{
  uint64_t substeps = s->others_of ? s->settings.substeps : 1;
  fill_fixed(s, k);
  sb_compute_fill_buffer(k, &s->gravity, s->bind->model->gravity, 3ull * s->bind->model->world_count * sizeof(float));
  sb_compute_make_buffer(k, &s->others, s->others_stride * substeps);
  if (!s->bodies->own) {
    sb_compute_make_buffer(k, &s->body_f, 4);
    return;
  }
  if (!k->status) make_contact_buffers(s, k);
  CALL(k, state_buffer, "body_q", &s->body_q);
  CALL(k, state_buffer, "body_qd", &s->body_qd);
  CALL(k, state_buffer, "body_f", &s->body_f);
  CALL(k, state_buffer, "joint_q", &s->joint_q);
  CALL(k, state_buffer, "joint_qd", &s->joint_qd);
}

static void make_pipelines(xp_rigid_device *s, sb_compute_calls *k)
{
  if (s->bodies->moving) SB_COMPUTE_PIPELINE(k, &s->body_pass[BODIES_PREDICT], xpbd_bodies_predict, 5, body_push);
  if (!s->bodies->own) return;
  SB_COMPUTE_PIPELINE(k, &s->body_pass[BODIES_LOAD], xpbd_bodies_load, 4, body_push);
  SB_COMPUTE_PIPELINE(k, &s->body_pass[BODIES_STORE], xpbd_bodies_store, 6, body_push);
  SB_COMPUTE_PIPELINE(k, &s->manifold_pass[WARM], xpbd_manifolds_warm, 5, manifold_push);
  SB_COMPUTE_PIPELINE(k, &s->manifold_pass[SOLVE], xpbd_manifolds_solve, 5, manifold_push);
  SB_COMPUTE_PIPELINE(k, &s->manifold_pass[PART], xpbd_manifolds_part, 5, manifold_push);
  SB_COMPUTE_PIPELINE(k, &s->manifold_pass[BOUNCE], xpbd_manifolds_bounce, 5, manifold_push);
  if (!s->there) return;
  SB_COMPUTE_PIPELINE(k, &s->multiplier_pass[TAKE], xpbd_multipliers_take, 6, multiplier_push);
  SB_COMPUTE_PIPELINE(k, &s->multiplier_pass[KEEP], xpbd_multipliers_keep, 3, multiplier_push);
}

static sb_status refuse(const xp_rigid_device *s, const sb_compute_calls *k)
{
  uint64_t most = k->compute->binding_bytes_max / (SB_CONTACT_WORDS * sizeof(float)) - 1, bodies = k->compute->binding_bytes_max / sizeof(xp_body) - 1;
  if (most > (uint64_t)k->compute->groups_max * LOCAL / 2) most = (uint64_t)k->compute->groups_max * LOCAL / 2; /* both sides of each in one dispatch */
  if (s->bodies->joint_count) {
    snprintf(k->error, k->error_size, "xpbd moves free bodies on the backend vulkan, and body %u has a joint; use backend = cpu", s->bodies->joints[0]);
    return SB_E_UNSUPPORTED;
  }
  if (s->bodies->own && s->bind->contact_capacity > most) {
    snprintf(k->error, k->error_size, "this device can see %llu contacts at once, and contact_capacity is %u: set contact_capacity in [collision], or use backend = cpu",
             (unsigned long long)most, s->bind->contact_capacity);
    return SB_E_UNSUPPORTED;
  }
  if (s->bodies->nobody <= bodies) return SB_OK;
  snprintf(k->error, k->error_size, "this device can see %llu bodies at once, and there are %u; use backend = cpu", (unsigned long long)bodies, s->bodies->nobody);
  return SB_E_UNSUPPORTED;
}

sb_status xp_rigid_device_bind(xp_rigid_device *s, sb_compute_calls *k, const sb_bind *bind, xp_bodies *bodies, const sb_device_contacts *there)
{
  s->bind = bind;
  s->bodies = bodies;
  s->there = bodies->own ? there : NULL;
  if (!k->status) k->status = refuse(s, k);
  if (k->status) return k->status;
  uint64_t contacts = bodies->own ? (uint64_t)bind->contact_capacity + 1 : 1, fixed = (uint64_t)bodies->own * FIXED_WORDS, bytes = ((uint64_t)bodies->nobody + 1) * sizeof(xp_body);
  s->others_stride = (bytes + SB_COMPUTE_ALIGNMENT - 1) / SB_COMPUTE_ALIGNMENT * SB_COMPUTE_ALIGNMENT;
  s->words = bind->host->alloc(bind->host->context, (contacts * 4 > fixed ? contacts * 4 : fixed) * sizeof *s->words);
  if (bodies->moving > bodies->own) s->others_of = bind->host->alloc(bind->host->context, s->others_stride * s->settings.substeps);
  if (!s->words || (bodies->moving > bodies->own && !s->others_of)) sb_compute_no_memory(k);
  if (!k->status) make_buffers(s, k);
  make_pipelines(s, k);
  return k->status;
}

/* ---- the graph of a tick ---- */

static void pass_bodies(xp_rigid_device *s, sb_compute_calls *k, uint32_t graph, uint32_t pass, uint32_t substep)
{
  const body_push push = {s->bodies->own, pass == BODIES_PREDICT ? s->bodies->moving : s->bodies->own, s->settings.h};
  const sb_binding others = {.buffer = s->others, .offset = s->others_of ? substep * s->others_stride : 0, .bytes = s->others_stride};
  const sb_binding state[6] = {sb_whole_buffer(s->live), sb_whole_buffer(s->fixed), sb_whole_buffer(s->body_q), sb_whole_buffer(s->body_qd), sb_whole_buffer(s->joint_q), sb_whole_buffer(s->joint_qd)};
  const sb_binding predict[5] = {sb_whole_buffer(s->live), sb_whole_buffer(s->fixed), sb_whole_buffer(s->body_f), sb_whole_buffer(s->gravity), others};
  CALL(k, dispatch, graph, s->body_pass[pass], pass == BODIES_PREDICT ? predict : state, &push, (push.count + LOCAL - 1) / LOCAL);
  CALL(k, barrier, graph);
}

static void pass_color(xp_rigid_device *s, sb_compute_calls *k, uint32_t graph, uint32_t pass, uint32_t color, bool back)
{
  const manifold_push push = {.color = color, .serial = color == XP_MAX_COLORS, .back = back, .capacity = s->bind->contact_capacity, .own = s->bodies->own,
                              .h = s->settings.h, .inv_h = s->settings.inv_h, .most = s->bodies->push * s->settings.h, .threshold = s->bodies->threshold};
  const sb_binding bindings[5] = {sb_whole_buffer(s->live), sb_whole_buffer(s->manifolds), sb_whole_buffer(s->starts), sb_whole_buffer(s->contacts), sb_whole_buffer(s->kept)};
  CALL(k, dispatch_indirect, graph, s->manifold_pass[pass], bindings, &push, s->groups, 12ull * color);
  CALL(k, barrier, graph);
}

/* Colour after colour and the serial group last, or the other way round. */
static void pass_colors(xp_rigid_device *s, sb_compute_calls *k, uint32_t graph, uint32_t pass, uint32_t colors, bool back)
{
  for (uint32_t c = 0; c < colors; c++) pass_color(s, k, graph, pass, back ? colors - 1 - c : c, back);
}

/* What contacts continue, or keep. */
static void pass_multipliers(xp_rigid_device *s, sb_compute_calls *k, uint32_t graph, uint32_t pass)
{
  const multiplier_push push = {s->bind->contact_capacity, GROUPS_CONTACTS};
  const sb_binding bindings[6] = {sb_whole_buffer(s->kept), sb_whole_buffer(s->cache), sb_whole_buffer(s->starts), sb_whole_buffer(s->match), sb_whole_buffer(s->contacts),
                                  sb_whole_buffer(s->graph.record_of)};
  if (!s->there) return;
  CALL(k, dispatch_indirect, graph, s->multiplier_pass[pass], bindings, &push, s->groups, 12ull * GROUPS_CONTACTS);
  CALL(k, barrier, graph);
}

void xp_rigid_record_begin(xp_rigid_device *s, sb_compute_calls *k, uint32_t graph)
{
  pass_multipliers(s, k, graph, TAKE);
  pass_bodies(s, k, graph, BODIES_LOAD, 0);
}

void xp_rigid_record_predict(xp_rigid_device *s, sb_compute_calls *k, uint32_t graph, uint32_t substep) { pass_bodies(s, k, graph, BODIES_PREDICT, substep); }

void xp_rigid_record_contacts(xp_rigid_device *s, sb_compute_calls *k, uint32_t graph, uint32_t iteration, uint32_t colors)
{
  if (iteration == 0) pass_colors(s, k, graph, WARM, colors, false);
  pass_colors(s, k, graph, SOLVE, colors, false);
  pass_colors(s, k, graph, SOLVE, colors, true);
}

void xp_rigid_record_velocities(xp_rigid_device *s, sb_compute_calls *k, uint32_t graph, uint32_t colors)
{
  pass_colors(s, k, graph, PART, colors, false);
  pass_colors(s, k, graph, BOUNCE, colors, false);
  pass_colors(s, k, graph, BOUNCE, colors, true);
}

void xp_rigid_record_end(xp_rigid_device *s, sb_compute_calls *k, uint32_t graph)
{
  pass_multipliers(s, k, graph, KEEP);
  pass_bodies(s, k, graph, BODIES_STORE, 0);
}

/* ---- the step ---- */

uint32_t xp_rigid_count_colors(xp_rigid_device *s, sb_compute_calls *k)
{
  uint32_t starts[XP_COLOR_GROUPS + 1] = {0}, used = XP_COLOR_GROUPS;
  CALL(k, download, s->starts, 0, starts, sizeof starts);
  while (used && starts[used] == starts[used - 1]) used--;
  return used;
}

/* Contact arrays, each at its place in one buffer, as samebit/device_contacts.h has them. */
static void send_arrays(xp_rigid_device *s, sb_compute_calls *k)
{
  const sb_contacts *c = s->bodies->contacts;
  const struct { const float *data; uint32_t at, words; } arrays[] = {{c->point_a, SB_AT_POINT_A, 3}, {c->point_b, SB_AT_POINT_B, 3}, {c->normal, SB_AT_NORMAL, 3}, {c->gap, SB_AT_GAP, 1},
                                                                      {c->friction, SB_AT_FRICTION, 3}, {c->restitution, SB_AT_RESTITUTION, 1}};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    CALL(k, upload, s->contacts, (uint64_t)s->bind->contact_capacity * arrays[i].at * 4, arrays[i].data, (uint64_t)c->count * arrays[i].words * 4);
  CALL(k, upload, s->kept, 0, s->bodies->touch, (uint64_t)c->count * sizeof *s->bodies->touch);
}

/* Manifolds by colour, where each colour begins, and how many workgroups it takes. */
uint32_t xp_rigid_send_contacts(xp_rigid_device *s, sb_compute_calls *k)
{
  const xp_bodies *b = s->bodies;
  const xp_colors *colors = &b->contact_colors;
  uint32_t groups[3 * XP_COLOR_GROUPS], used = 0;
  for (uint32_t i = 0; i < b->manifold_count; i++) {
    uint32_t item = colors->order[i];
    const uint32_t words[4] = {b->manifold_pair[item][0], b->manifold_pair[item][1], b->manifolds[item].first, b->manifolds[item].count};
    memcpy(s->words + 4 * (size_t)i, words, sizeof words);
  }
  for (uint32_t c = 0; c < XP_COLOR_GROUPS; c++) {
    uint32_t n = colors->start[c + 1] - colors->start[c];
    groups[3 * c] = c == XP_MAX_COLORS ? n > 0 : (n + LOCAL - 1) / LOCAL;
    groups[3 * c + 1] = groups[3 * c + 2] = 1;
    if (n) used = c + 1;
  }
  CALL(k, upload, s->manifolds, 0, s->words, 16ull * b->manifold_count);
  CALL(k, upload, s->starts, 0, colors->start, (XP_COLOR_GROUPS + 1u) * sizeof(uint32_t));
  CALL(k, upload, s->groups, 0, groups, sizeof groups);
  send_arrays(s, k);
  return used;
}

void xp_rigid_send_others(xp_rigid_device *s, sb_compute_calls *k)
{
  if (!s->others_of) return;
  for (uint32_t n = 0; n < s->settings.substeps; n++) {
    xp_bodies_obstacles(s->bodies, n);
    memcpy((char *)s->others_of + n * s->others_stride, s->bodies->bodies, ((size_t)s->bodies->nobody + 1) * sizeof(xp_body));
  }
  CALL(k, upload, s->others, 0, s->others_of, s->others_stride * s->settings.substeps);
}

void xp_rigid_keep(xp_rigid_device *s, sb_compute_calls *k)
{
  CALL(k, download, s->kept, 0, s->bodies->touch, (uint64_t)s->bodies->contacts->count * sizeof *s->bodies->touch);
  if (!k->status) xp_bodies_keep(s->bodies);
}
