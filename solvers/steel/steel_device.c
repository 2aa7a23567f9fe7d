/* Buffers and pipelines at binding, graphs at activation, uploads in a step. */
#include "steel_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samebit/solver_tools.h"
#include "steel_load_spv.h"
#include "steel_move_spv.h"
#include "steel_push_spv.h"
#include "steel_keep_spv.h"
#include "steel_prepare_spv.h"
#include "steel_warm_spv.h"
#include "steel_solve_spv.h"
#include "steel_restitute_spv.h"
#include "steel_impulses_spv.h"
#include "steel_clear_spv.h"

#define LOCAL 64u
#define CONSTRAINT_FIELDS 65u /* of one constraint in the shaders, blocked by 32 */
#define SERIAL ST_MAX_COLORS  /* group of what has no colour */
#define ALL 30u               /* stands for every group */
#define AT_COUNT (ST_MAX_COLORS + 2u) /* where `starts` has the number of contacts */
/* Workgroups of each group, of all manifolds, and of the clearing of the cache. */
#define GROUPS_ALL (ST_MAX_COLORS + 1u)
#define GROUPS_CLEAR (ST_MAX_COLORS + 2u)
#define GROUPS_COUNT CONTACT_GRAPH_GROUPS(ST_MAX_COLORS)
#define STARTS_COUNT CONTACT_GRAPH_STARTS(ST_MAX_COLORS)

enum { BODIES_LOAD, BODIES_PUSH, BODIES_MOVE, BODIES_KEEP };
enum { PREPARE, WARM, SOLVE, RESTITUTE, KEEP, CLEAR };

/* Colours that a graph goes through; the last number takes the serial group too. */
static const uint32_t color_steps[ST_COLOR_STEPS] = {0, 4, 8, 16, ST_MAX_COLORS + 1u};

typedef struct body_push {
  uint32_t count;
  float h;
} body_push;

typedef struct manifold_push {
  uint32_t color, serial, capacity, nobody;
  float h, inv_h, omega, zeta, max_push, threshold, relax, zero;
} manifold_push;

/* A device and the calls to it. */
typedef struct chain {
  st_device *s;
  sb_compute_calls calls;
} chain;

#define CALL(k, ...) SB_COMPUTE_CALL(&(k)->calls, __VA_ARGS__)

/* ---- buffers ---- */

/* Of each record: body, world, where its joint's coordinates and dofs begin, centre of mass, 1/kg. */
static void fill_fixed(chain *k, const uint32_t *moved)
{
  st_device *s = k->s;
  const sb_model *m = s->bind->model;
  for (uint32_t r = 0; r < s->records; r++) {
    uint32_t body = moved[r], *to = s->words + 8 * (size_t)r;
    const uint32_t words[4] = {body, (uint32_t)m->body_world[body], (uint32_t)m->joint_q_start[body], (uint32_t)m->joint_qd_start[body]};
    memcpy(to, words, sizeof words);
    memcpy(to + 4, m->body_com + 3 * (size_t)body, 3 * sizeof *to);
    memcpy(to + 7, m->body_inv_mass + body, sizeof *to);
  }
  sb_compute_fill_buffer(&k->calls, &s->fixed, s->words, 32ull * s->records);
}

static void fill_radii(chain *k)
{
  st_device *s = k->s;
  const sb_model *m = s->bind->model;
  float *radius = calloc((size_t)m->shape_count + 1, sizeof *radius);
  if (!radius) {
    k->calls.status = SB_E_MEMORY;
    snprintf(k->calls.error, k->calls.error_size, "out of memory for %u shapes", m->shape_count);
    return;
  }
  for (uint32_t i = 0; i < m->shape_count; i++)
    if (m->shape_type[i] == SB_SHAPE_SPHERE || m->shape_type[i] == SB_SHAPE_CAPSULE) radius[i] = m->shape_size[3 * (size_t)i];
  sb_compute_fill_buffer(&k->calls, &s->radius, radius, sizeof *radius * (uint64_t)m->shape_count);
  free(radius);
}

/* Where contacts lie there already: they, what they continue, and the cache; manifolds and colours are made there too. Contacts move bodies of this instance alone. */
static void share_contacts(chain *k, const uint32_t *record)
{
  st_device *s = k->s;
  const sb_model *m = s->bind->model;
  const contact_graph_rules rules = {.max_colors = ST_MAX_COLORS, .max_points = ST_MAX_POINTS, .words = ST_CACHE_FLOATS};
  uint32_t *words = calloc((size_t)m->body_count + 1, sizeof *words);
  if (!words) {
    sb_compute_no_memory(&k->calls);
    return;
  }
  for (uint32_t b = 0; b < m->body_count; b++) {
    bool known = record[b] < ST_LINK;
    words[b] = 2 * (known ? record[b] : s->records) + (known && sb_has_body(s->bind->bodies, s->bind->body_count, (int32_t)b) && m->body_inv_mass[b] > 0.0f);
  }
  contact_graph_make(&s->graph, &k->calls, s->bind, s->there, rules, s->records, words);
  free(words);
  s->contacts = s->there->contacts;
  s->match = s->there->match;
  s->manifolds = s->graph.manifolds;
  s->starts = s->graph.starts;
  s->groups = s->graph.groups;
  CALL(k, state_buffer, "contact_impulse", &s->cache);
}

static void make_buffers(chain *k, const uint32_t *record, const uint32_t *moved, const st_frame *frames, const st_body *bodies)
{
  st_device *s = k->s;
  uint64_t rows = (uint64_t)s->records + 1, contacts = s->bind->contact_capacity;
  fill_fixed(k, moved);
  if (!k->calls.status) fill_radii(k);
  sb_compute_fill_buffer(&k->calls, &s->gravity, s->bind->model->gravity, 12ull * s->bind->model->world_count);
  sb_compute_fill_buffer(&k->calls, &s->frames, frames, rows * sizeof *frames);
  sb_compute_fill_buffer(&k->calls, &s->bodies, bodies, rows * sizeof *bodies);
  sb_compute_make_buffer(&k->calls, &s->masses, rows * 32);
  sb_compute_make_buffer(&k->calls, &s->warms, rows * sizeof(st_warm));
  sb_compute_make_buffer(&k->calls, &s->blocks, (contacts + 31) / 32 * 32 * CONSTRAINT_FIELDS * sizeof(float));
  if (s->there) {
    share_contacts(k, record);
  } else {
    sb_compute_make_buffer(&k->calls, &s->manifolds, contacts * 16);
    sb_compute_make_buffer(&k->calls, &s->starts, STARTS_COUNT * sizeof(uint32_t));
    sb_compute_make_buffer(&k->calls, &s->groups, 3 * GROUPS_COUNT * sizeof(uint32_t));
    sb_compute_make_buffer(&k->calls, &s->contacts, contacts * SB_CONTACT_WORDS * sizeof(uint32_t));
    sb_compute_make_buffer(&k->calls, &s->match, contacts * sizeof(uint32_t));
    sb_compute_make_buffer(&k->calls, &s->cache, contacts * ST_CACHE_FLOATS * sizeof(float));
  }
  CALL(k, state_buffer, "body_q", &s->body_q);
  CALL(k, state_buffer, "body_qd", &s->body_qd);
  CALL(k, state_buffer, "body_f", &s->body_f);
  CALL(k, state_buffer, "joint_q", &s->joint_q);
  CALL(k, state_buffer, "joint_qd", &s->joint_qd);
}

static void make_pipelines(chain *k)
{
  st_device *s = k->s;
  SB_COMPUTE_PIPELINE(&k->calls, &s->body_pass[BODIES_LOAD], steel_load, 9, body_push);
  SB_COMPUTE_PIPELINE(&k->calls, &s->body_pass[BODIES_PUSH], steel_push, 4, body_push);
  SB_COMPUTE_PIPELINE(&k->calls, &s->body_pass[BODIES_MOVE], steel_move, 4, body_push);
  SB_COMPUTE_PIPELINE(&k->calls, &s->body_pass[BODIES_KEEP], steel_keep, 9, body_push);
  SB_COMPUTE_PIPELINE(&k->calls, &s->manifold_pass[PREPARE], steel_prepare, 10, manifold_push);
  SB_COMPUTE_PIPELINE(&k->calls, &s->manifold_pass[WARM], steel_warm, 6, manifold_push);
  SB_COMPUTE_PIPELINE(&k->calls, &s->manifold_pass[SOLVE], steel_solve, 6, manifold_push);
  SB_COMPUTE_PIPELINE(&k->calls, &s->manifold_pass[RESTITUTE], steel_restitute, 6, manifold_push);
  SB_COMPUTE_PIPELINE(&k->calls, &s->manifold_pass[KEEP], steel_impulses, 7, manifold_push);
  SB_COMPUTE_PIPELINE(&k->calls, &s->manifold_pass[CLEAR], steel_clear, 7, manifold_push);
}

sb_status st_device_bind(st_device *s, const sb_bind *bind, uint32_t records, const uint32_t *record, const uint32_t *moved, const st_frame *frames,
                         const st_body *bodies, char *error, uint32_t error_size)
{
  const uint64_t words = bind->contact_capacity > 2ull * records ? bind->contact_capacity : 2ull * records;
  s->bind = bind;
  s->records = records;
  s->compute = sb_find_compute(bind, error, error_size);
  if (!s->compute) return SB_E_UNSUPPORTED;
  s->there = bind->host->get_extension(bind->host->context, SB_DEVICE_CONTACTS_EXTENSION_ID);
  uint64_t most = s->compute->binding_bytes_max / (CONSTRAINT_FIELDS * sizeof(float)), cleared = (uint64_t)s->compute->groups_max * LOCAL / ST_CACHE_FLOATS;
  if (most > cleared) most = cleared; /* in one dispatch */
  if (bind->contact_capacity > most) {
    snprintf(error, error_size, "this device can see %llu contacts at once, and contact_capacity is %u: set contact_capacity in [collision], or use backend = cpu",
             (unsigned long long)most, bind->contact_capacity);
    return SB_E_UNSUPPORTED;
  }
  s->words = bind->host->alloc(bind->host->context, (words + 1) * 16);
  if (!s->words) {
    snprintf(error, error_size, "out of memory for %u contacts", bind->contact_capacity);
    return SB_E_MEMORY;
  }
  chain k = {s, {s->compute, SB_OK, error, error_size}};
  make_buffers(&k, record, moved, frames, bodies);
  make_pipelines(&k);
  return k.calls.status;
}

/* ---- the graph of a tick ---- */

static void barrier(chain *k, uint32_t graph) { CALL(k, barrier, graph); }

static void pass_bodies(chain *k, uint32_t graph, uint32_t pass)
{
  st_device *s = k->s;
  const body_push push = {s->records, s->settings.h};
  const sb_binding bindings[9] = {sb_whole_buffer(s->bodies), sb_whole_buffer(s->frames), sb_whole_buffer(s->masses), sb_whole_buffer(s->warms), sb_whole_buffer(s->fixed), sb_whole_buffer(s->body_q), sb_whole_buffer(s->body_qd),
                                  sb_whole_buffer(pass == BODIES_LOAD ? s->body_f : s->joint_q), sb_whole_buffer(pass == BODIES_LOAD ? s->gravity : s->joint_qd)};
  CALL(k, dispatch, graph, s->body_pass[pass], bindings, &push, (push.count + LOCAL - 1) / LOCAL);
  barrier(k, graph);
}

static void pass_manifolds(chain *k, uint32_t graph, uint32_t pass, uint32_t color, uint32_t groups, bool serial, bool relax)
{
  st_device *s = k->s;
  const st_settings *set = &s->settings;
  const manifold_push push = {.color = color, .serial = serial, .capacity = s->bind->contact_capacity, .nobody = s->records, .h = set->h, .inv_h = set->inv_h,
                              .omega = set->contact_omega, .zeta = set->contact_zeta, .max_push = set->max_push,
                              .threshold = set->restitution_threshold, .relax = relax ? 1.0f : 0.0f, .zero = 0.0f};
  const sb_binding bindings[10] = {sb_whole_buffer(s->bodies), sb_whole_buffer(s->frames), sb_whole_buffer(s->masses), sb_whole_buffer(s->blocks), sb_whole_buffer(s->manifolds), sb_whole_buffer(s->starts),
                                  sb_whole_buffer(pass == PREPARE ? s->contacts : s->cache), sb_whole_buffer(s->radius), sb_whole_buffer(s->cache), sb_whole_buffer(s->match)};
  CALL(k, dispatch_indirect, graph, s->manifold_pass[pass], bindings, &push, s->groups, 12ull * groups);
  barrier(k, graph);
}

/* Colour after colour, then those without one. */
static void pass_colors(chain *k, uint32_t graph, uint32_t pass, uint32_t colors, bool relax)
{
  for (uint32_t c = 0; c < colors; c++) pass_manifolds(k, graph, pass, c, c, c == SERIAL, relax);
}

static void record_tick(chain *k, uint32_t graph, uint32_t colors, bool bounces)
{
  pass_bodies(k, graph, BODIES_LOAD);
  pass_manifolds(k, graph, PREPARE, ALL, GROUPS_ALL, false, false);
  pass_manifolds(k, graph, CLEAR, ALL, GROUPS_CLEAR, false, false);
  for (uint32_t i = 0; i < k->s->settings.substeps; i++) {
    pass_bodies(k, graph, BODIES_PUSH);
    if (i == 0) pass_colors(k, graph, WARM, colors, false);
    pass_colors(k, graph, SOLVE, colors, false);
    pass_bodies(k, graph, BODIES_MOVE);
    pass_colors(k, graph, SOLVE, colors, true);
  }
  if (bounces) pass_colors(k, graph, RESTITUTE, colors, false);
  pass_manifolds(k, graph, KEEP, ALL, GROUPS_ALL, false, false);
  pass_bodies(k, graph, BODIES_KEEP);
}

/* Whether some contact may bounce. */
static bool any_restitution(const sb_model *m)
{
  bool any = false;
  for (uint32_t i = 0; i < m->shape_count; i++) any = any || m->shape_restitution[i] > 0.0f;
  for (uint32_t i = 0; i < m->pair_count; i++) any = any || m->pair_restitution[i] > 0.0f;
  return any;
}

sb_status st_device_activate(st_device *s, st_settings settings, char *error, uint32_t error_size)
{
  chain k = {s, {s->compute, SB_OK, error, error_size}};
  if (s->graphs_made && s->graph_h == settings.h) return SB_OK;
  s->settings = settings;
  if (s->there) {
    CALL(&k, create_graph, &s->coloring);
    contact_graph_record(&s->graph, &k.calls, s->coloring);
    CALL(&k, finish_graph, s->coloring);
    CALL(&k, create_graph, &s->graphs[0][0]);
    record_tick(&k, s->graphs[0][0], ST_MAX_COLORS + 1u, any_restitution(s->bind->model));
    CALL(&k, finish_graph, s->graphs[0][0]);
  }
  for (uint32_t bounces = 0; bounces < 2 && !s->there; bounces++)
    for (uint32_t i = 0; i < ST_COLOR_STEPS; i++) {
      uint32_t *graph = &s->graphs[bounces][i];
      CALL(&k, create_graph, graph);
      record_tick(&k, *graph, color_steps[i], bounces);
      CALL(&k, finish_graph, *graph);
    }
  s->graphs_made = !k.calls.status;
  s->graph_h = settings.h;
  return k.calls.status;
}

/* ---- the step ---- */

/* The contact arrays that the shaders read, each at its place in one buffer. */
static void send_contacts(chain *k, const st_tick *t)
{
  st_device *s = k->s;
  const sb_contacts *c = t->contacts;
  const uint64_t capacity = s->bind->contact_capacity;
  const struct { const void *data; uint32_t at, words; } arrays[] = {
      {c->shape_a, SB_AT_SHAPE_A, 1}, {c->shape_b, SB_AT_SHAPE_B, 1}, {c->point_a, SB_AT_POINT_A, 3}, {c->point_b, SB_AT_POINT_B, 3},
      {c->normal, SB_AT_NORMAL, 3},   {c->gap, SB_AT_GAP, 1},         {c->friction, SB_AT_FRICTION, 3}, {c->restitution, SB_AT_RESTITUTION, 1}};
  CALL(k, upload, s->match, 0, t->match, (uint64_t)c->count * 4);
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    CALL(k, upload, s->contacts, capacity * arrays[i].at * 4, arrays[i].data, (uint64_t)c->count * arrays[i].words * 4);
}

/* Manifolds by colour, where each colour begins, and how many workgroups it takes. The number of colours in use, the serial group counted as the last. */
static uint32_t send_manifolds(chain *k, const st_tick *t, const st_graph *g)
{
  st_device *s = k->s;
  uint32_t starts[STARTS_COUNT], groups[3 * GROUPS_COUNT], used = 0, count = g->color_bundle[ST_MAX_COLORS + 1];
  for (uint32_t i = 0; i < count; i++) {
    const st_manifold *m = &g->manifolds[g->order[i]];
    const uint32_t words[4] = {m->body_a, m->body_b, m->first, m->count | (m->moves & ST_MOVES_A ? CONTACT_GRAPH_MOVES_A : 0u) | (m->moves & ST_MOVES_B ? CONTACT_GRAPH_MOVES_B : 0u)};
    memcpy(s->words + 4 * (size_t)i, words, sizeof words);
  }
  memcpy(starts, g->color_bundle, (ST_MAX_COLORS + 2) * sizeof *starts);
  starts[AT_COUNT] = t->contacts->count;
  for (uint32_t c = 0; c < GROUPS_COUNT; c++) {
    uint32_t n = c == GROUPS_ALL ? count : c == GROUPS_CLEAR ? t->contacts->count * ST_CACHE_FLOATS : starts[c + 1] - starts[c];
    groups[3 * c] = c == SERIAL ? n > 0 : (n + LOCAL - 1) / LOCAL;
    groups[3 * c + 1] = groups[3 * c + 2] = 1;
    if (c <= SERIAL && n) used = c + 1;
  }
  CALL(k, upload, s->manifolds, 0, s->words, 16ull * count);
  CALL(k, upload, s->starts, 0, starts, sizeof starts);
  CALL(k, upload, s->groups, 0, groups, sizeof groups);
  return used;
}

sb_status st_device_step(st_device *s, const st_tick *t, const st_graph *g, char *error, uint32_t error_size)
{
  chain k = {s, {s->compute, SB_OK, error, error_size}};
  if (s->there) {
    CALL(&k, run, s->coloring);
    CALL(&k, run, s->graphs[0][0]);
    return k.calls.status;
  }
  uint32_t used = send_manifolds(&k, t, g), step = 0;
  bool bounces = false;
  for (uint32_t i = 0; i < t->contacts->count && !bounces; i++) bounces = t->contacts->restitution[i] > 0.0f;
  while (color_steps[step] < used) step++;
  send_contacts(&k, t);
  /* the cache of the tick before is as long as that tick had contacts; match tells which of them are read */
  uint32_t old = 0;
  for (uint32_t i = 0; i < t->contacts->count; i++)
    if (t->match[i] >= 0 && (uint32_t)t->match[i] + ST_MAX_POINTS > old) old = (uint32_t)t->match[i] + ST_MAX_POINTS;
  if (old > s->bind->contact_capacity) old = s->bind->contact_capacity;
  CALL(&k, upload, s->cache, 0, t->cache, (uint64_t)old * ST_CACHE_FLOATS * sizeof(float));
  CALL(&k, run, s->graphs[bounces][step]);
  CALL(&k, download, s->cache, 0, t->cache, (uint64_t)t->contacts->count * ST_CACHE_FLOATS * sizeof(float));
  return k.calls.status;
}
