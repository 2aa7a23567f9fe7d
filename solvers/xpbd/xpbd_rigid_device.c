/* Buffers and pipelines at binding, graphs at activation, uploads in a step. */
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

#define LOCAL 64u
#define FIXED_WORDS 17u
#define CONTACT_WORDS 14u /* of one contact over all arrays */
#define TOUCH_WORDS 4u
#define GROUPS (XP_MAX_COLORS + 1u) /* the last one is serial */

_Static_assert(sizeof(xp_touch_state) == TOUCH_WORDS * sizeof(float), "the shaders read multipliers as they lie here");

enum { BODIES_LOAD, BODIES_PREDICT, BODIES_STORE };
enum { WARM, SOLVE, PART, BOUNCE };

/* Colours that a graph goes through; the last number takes the serial group too. */
static const uint32_t color_steps[XP_COLOR_STEPS] = {0, 4, 8, 16, GROUPS};

typedef struct body_push {
  uint32_t own, count;
  float h;
} body_push;

typedef struct manifold_push {
  uint32_t color, serial, back, capacity, own;
  float h, inv_h, most, threshold, zero;
} manifold_push;

/* A device and the calls to it. */
typedef struct chain {
  xp_rigid_device *s;
  sb_compute_calls calls;
} chain;

#define CALL(k, ...) SB_COMPUTE_CALL(&(k)->calls, __VA_ARGS__)

/* ---- buffers ---- */

/* Of each own body: itself, its world, where its joint's coordinates and dofs begin, 1/kg, inertia and inverse; and in its record what it answers to a force. */
static void fill_fixed(chain *k)
{
  xp_rigid_device *s = k->s;
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
  sb_compute_fill_buffer(&k->calls, &s->fixed, s->words, (uint64_t)b->own * FIXED_WORDS * sizeof *s->words);
  sb_compute_fill_buffer(&k->calls, &s->live, b->bodies, ((uint64_t)b->nobody + 1) * sizeof *b->bodies);
}

static void make_buffers(chain *k)
{
  xp_rigid_device *s = k->s;
  uint64_t contacts = (uint64_t)s->bind->contact_capacity + 1, substeps = s->bodies->moving > s->bodies->own ? s->settings.substeps : 1;
  fill_fixed(k);
  sb_compute_fill_buffer(&k->calls, &s->gravity, s->bind->model->gravity, 3ull * s->bind->model->world_count * sizeof(float));
  sb_compute_make_buffer(&k->calls, &s->others, s->others_stride * substeps);
  sb_compute_make_buffer(&k->calls, &s->manifolds, contacts * 16);
  sb_compute_make_buffer(&k->calls, &s->starts, (GROUPS + 1u) * sizeof(uint32_t));
  sb_compute_make_buffer(&k->calls, &s->groups, 3u * GROUPS * sizeof(uint32_t));
  sb_compute_make_buffer(&k->calls, &s->contacts, contacts * CONTACT_WORDS * sizeof(float));
  sb_compute_make_buffer(&k->calls, &s->kept, contacts * TOUCH_WORDS * sizeof(float));
  CALL(k, state_buffer, "body_q", &s->body_q);
  CALL(k, state_buffer, "body_qd", &s->body_qd);
  CALL(k, state_buffer, "body_f", &s->body_f);
  CALL(k, state_buffer, "joint_q", &s->joint_q);
  CALL(k, state_buffer, "joint_qd", &s->joint_qd);
}

static void make_pipelines(chain *k)
{
  xp_rigid_device *s = k->s;
  SB_COMPUTE_PIPELINE(&k->calls, &s->body_pass[BODIES_LOAD], xpbd_bodies_load, 4, body_push);
  SB_COMPUTE_PIPELINE(&k->calls, &s->body_pass[BODIES_PREDICT], xpbd_bodies_predict, 5, body_push);
  SB_COMPUTE_PIPELINE(&k->calls, &s->body_pass[BODIES_STORE], xpbd_bodies_store, 6, body_push);
  SB_COMPUTE_PIPELINE(&k->calls, &s->manifold_pass[WARM], xpbd_manifolds_warm, 5, manifold_push);
  SB_COMPUTE_PIPELINE(&k->calls, &s->manifold_pass[SOLVE], xpbd_manifolds_solve, 5, manifold_push);
  SB_COMPUTE_PIPELINE(&k->calls, &s->manifold_pass[PART], xpbd_manifolds_part, 5, manifold_push);
  SB_COMPUTE_PIPELINE(&k->calls, &s->manifold_pass[BOUNCE], xpbd_manifolds_bounce, 5, manifold_push);
}

static sb_status refuse(const xp_rigid_device *s, char *error, uint32_t error_size)
{
  if (s->bodies->joint_count) {
    snprintf(error, error_size, "xpbd moves free bodies on the backend vulkan, and body %u has a joint; use backend = cpu", s->bodies->joints[0]);
    return SB_E_UNSUPPORTED;
  }
  if (s->bind->particle_count) {
    snprintf(error, error_size, "on the backend vulkan an instance of xpbd owns bodies or particles, and this one has %u and %u; make two of it, or use backend = cpu",
             s->bodies->own, s->bind->particle_count);
    return SB_E_UNSUPPORTED;
  }
  return SB_OK;
}

static sb_status refuse_sizes(const xp_rigid_device *s, char *error, uint32_t error_size)
{
  uint64_t most = s->compute->binding_bytes_max / (CONTACT_WORDS * sizeof(float)) - 1, bodies = s->compute->binding_bytes_max / sizeof(xp_body) - 1;
  if (s->bind->contact_capacity > most) {
    snprintf(error, error_size, "this device can see %llu contacts at once, and contact_capacity is %u: set contact_capacity in [collision], or use backend = cpu",
             (unsigned long long)most, s->bind->contact_capacity);
    return SB_E_UNSUPPORTED;
  }
  if (s->bodies->nobody <= bodies) return SB_OK;
  snprintf(error, error_size, "this device can see %llu bodies at once, and there are %u; use backend = cpu", (unsigned long long)bodies, s->bodies->nobody);
  return SB_E_UNSUPPORTED;
}

sb_status xp_rigid_device_bind(xp_rigid_device *s, const sb_bind *bind, xp_bodies *bodies, char *error, uint32_t error_size)
{
  s->bind = bind;
  s->bodies = bodies;
  sb_status status = refuse(s, error, error_size);
  if (status) return status;
  s->compute = sb_find_compute(bind, error, error_size);
  if (!s->compute) return SB_E_UNSUPPORTED;
  status = refuse_sizes(s, error, error_size);
  if (status) return status;
  chain k = {s, {s->compute, SB_OK, error, error_size}};
  uint64_t contacts = (uint64_t)bind->contact_capacity + 1, fixed = (uint64_t)bodies->own * FIXED_WORDS, bytes = ((uint64_t)bodies->nobody + 1) * sizeof(xp_body);
  s->others_stride = (bytes + SB_COMPUTE_ALIGNMENT - 1) / SB_COMPUTE_ALIGNMENT * SB_COMPUTE_ALIGNMENT;
  s->words = bind->host->alloc(bind->host->context, (contacts * 4 > fixed ? contacts * 4 : fixed) * sizeof *s->words);
  if (bodies->moving > bodies->own) s->others_of = bind->host->alloc(bind->host->context, s->others_stride * s->settings.substeps);
  if (!s->words || (bodies->moving > bodies->own && !s->others_of)) sb_compute_no_memory(&k.calls);
  if (!k.calls.status) make_buffers(&k);
  make_pipelines(&k);
  return k.calls.status;
}

/* ---- the graph of a tick ---- */

static void barrier(chain *k, uint32_t graph) { CALL(k, barrier, graph); }

static void pass_bodies(chain *k, uint32_t graph, uint32_t pass, uint32_t substep)
{
  xp_rigid_device *s = k->s;
  const body_push push = {s->bodies->own, pass == BODIES_PREDICT ? s->bodies->moving : s->bodies->own, s->settings.h};
  const sb_binding others = {.buffer = s->others, .offset = s->others_of ? substep * s->others_stride : 0, .bytes = s->others_stride};
  const sb_binding state[6] = {sb_whole_buffer(s->live), sb_whole_buffer(s->fixed), sb_whole_buffer(s->body_q), sb_whole_buffer(s->body_qd), sb_whole_buffer(s->joint_q), sb_whole_buffer(s->joint_qd)};
  const sb_binding predict[5] = {sb_whole_buffer(s->live), sb_whole_buffer(s->fixed), sb_whole_buffer(s->body_f), sb_whole_buffer(s->gravity), others};
  CALL(k, dispatch, graph, s->body_pass[pass], pass == BODIES_PREDICT ? predict : state, &push, (push.count + LOCAL - 1) / LOCAL);
  barrier(k, graph);
}

static void pass_color(chain *k, uint32_t graph, uint32_t pass, uint32_t color, bool back)
{
  xp_rigid_device *s = k->s;
  const manifold_push push = {.color = color, .serial = color == XP_MAX_COLORS, .back = back, .capacity = s->bind->contact_capacity, .own = s->bodies->own,
                              .h = s->settings.h, .inv_h = s->settings.inv_h, .most = s->bodies->push * s->settings.h, .threshold = s->bodies->threshold};
  const sb_binding bindings[5] = {sb_whole_buffer(s->live), sb_whole_buffer(s->manifolds), sb_whole_buffer(s->starts), sb_whole_buffer(s->contacts), sb_whole_buffer(s->kept)};
  CALL(k, dispatch_indirect, graph, s->manifold_pass[pass], bindings, &push, s->groups, 12ull * color);
  barrier(k, graph);
}

/* Colour after colour and the serial group last, or the other way round. */
static void pass_colors(chain *k, uint32_t graph, uint32_t pass, uint32_t colors, bool back)
{
  for (uint32_t c = 0; c < colors; c++) pass_color(k, graph, pass, back ? colors - 1 - c : c, back);
}

static void record_tick(chain *k, uint32_t graph, uint32_t colors)
{
  xp_rigid_device *s = k->s;
  pass_bodies(k, graph, BODIES_LOAD, 0);
  for (uint32_t n = 0; n < s->settings.substeps && !k->calls.status; n++) {
    pass_bodies(k, graph, BODIES_PREDICT, n);
    pass_colors(k, graph, WARM, colors, false);
    for (uint32_t i = 0; i < s->settings.iterations; i++) {
      pass_colors(k, graph, SOLVE, colors, false);
      pass_colors(k, graph, SOLVE, colors, true);
    }
    pass_colors(k, graph, PART, colors, false);
    pass_colors(k, graph, BOUNCE, colors, false);
    pass_colors(k, graph, BOUNCE, colors, true);
  }
  pass_bodies(k, graph, BODIES_STORE, 0);
}

sb_status xp_rigid_device_activate(xp_rigid_device *s, xp_settings settings, char *error, uint32_t error_size)
{
  chain k = {s, {s->compute, SB_OK, error, error_size}};
  if (s->graphs_made && s->graph_h == settings.h) return SB_OK;
  s->settings = settings;
  for (uint32_t i = 0; i < XP_COLOR_STEPS; i++) {
    CALL(&k, create_graph, &s->graphs[i]);
    record_tick(&k, s->graphs[i], color_steps[i]);
    CALL(&k, finish_graph, s->graphs[i]);
  }
  s->graphs_made = !k.calls.status;
  s->graph_h = settings.h;
  return k.calls.status;
}

/* ---- the step ---- */

/* Contact arrays, each at its place in one buffer: the shaders' order. */
static void send_contacts(chain *k)
{
  xp_rigid_device *s = k->s;
  const sb_contacts *c = s->bodies->contacts;
  const struct { const float *data; uint32_t at, words; } arrays[] = {{c->gap, 0, 1}, {c->restitution, 1, 1}, {c->point_a, 2, 3}, {c->point_b, 5, 3}, {c->normal, 8, 3}, {c->friction, 11, 3}};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    CALL(k, upload, s->contacts, (uint64_t)s->bind->contact_capacity * arrays[i].at * 4, arrays[i].data, (uint64_t)c->count * arrays[i].words * 4);
  CALL(k, upload, s->kept, 0, s->bodies->touch, (uint64_t)c->count * sizeof *s->bodies->touch);
}

/* Manifolds by colour, where each colour begins, and how many workgroups it takes. The number of colours in use, the serial group counted as the last. */
static uint32_t send_manifolds(chain *k)
{
  xp_rigid_device *s = k->s;
  const xp_bodies *b = s->bodies;
  const xp_colors *colors = &b->contact_colors;
  uint32_t groups[3 * GROUPS], used = 0;
  for (uint32_t i = 0; i < b->manifold_count; i++) {
    uint32_t item = colors->order[i];
    const uint32_t words[4] = {b->manifold_pair[item][0], b->manifold_pair[item][1], b->manifolds[item].first, b->manifolds[item].count};
    memcpy(s->words + 4 * (size_t)i, words, sizeof words);
  }
  for (uint32_t c = 0; c < GROUPS; c++) {
    uint32_t n = colors->start[c + 1] - colors->start[c];
    groups[3 * c] = c == XP_MAX_COLORS ? n > 0 : (n + LOCAL - 1) / LOCAL;
    groups[3 * c + 1] = groups[3 * c + 2] = 1;
    if (n) used = c + 1;
  }
  CALL(k, upload, s->manifolds, 0, s->words, 16ull * b->manifold_count);
  CALL(k, upload, s->starts, 0, colors->start, (GROUPS + 1u) * sizeof(uint32_t));
  CALL(k, upload, s->groups, 0, groups, sizeof groups);
  return used;
}

/* Others' bodies, where each substep has them. */
static void send_others(chain *k)
{
  xp_rigid_device *s = k->s;
  if (!s->others_of) return;
  for (uint32_t n = 0; n < s->settings.substeps; n++) {
    xp_bodies_obstacles(s->bodies, n);
    memcpy((char *)s->others_of + n * s->others_stride, s->bodies->bodies, ((size_t)s->bodies->nobody + 1) * sizeof(xp_body));
  }
  CALL(k, upload, s->others, 0, s->others_of, s->others_stride * s->settings.substeps);
}

sb_status xp_rigid_device_step(xp_rigid_device *s, const sb_step *step, char *error, uint32_t error_size)
{
  chain k = {s, {s->compute, SB_OK, error, error_size}};
  uint32_t graph = 0;
  xp_bodies_meet(s->bodies, step);
  uint32_t used = send_manifolds(&k);
  while (color_steps[graph] < used) graph++;
  send_contacts(&k);
  send_others(&k);
  CALL(&k, run, s->graphs[graph]);
  CALL(&k, download, s->kept, 0, s->bodies->touch, (uint64_t)step->contacts->count * sizeof *s->bodies->touch);
  if (!k.calls.status) xp_bodies_keep(s->bodies);
  return k.calls.status;
}
