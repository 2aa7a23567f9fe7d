/* Records of shapes, buffers, and one graph: poses, cells, pairs, sorting, manifolds, contacts. */
#include "device_collision.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_near.h"
#include "device_particles.h"
#include "device_surfaces.h"
#include "samebit/device_contacts.h"

#include "collision_pose_spv.h"
#include "collision_cells_spv.h"
#include "collision_pairs_spv.h"
#include "collision_take_pairs_spv.h"
#include "collision_take_contacts_spv.h"
#include "collision_worlds_spv.h"
#include "collision_emit_spv.h"
#include "collision_emit_met_spv.h"
#include "contact_match_spv.h"
#include "contact_keep_spv.h"
#include "collision_plane_sphere_spv.h"
#include "collision_plane_capsule_spv.h"
#include "collision_plane_box_spv.h"
#include "collision_sphere_sphere_spv.h"
#include "collision_sphere_capsule_spv.h"
#include "collision_sphere_box_spv.h"
#include "collision_capsule_capsule_spv.h"
#include "collision_capsule_box_spv.h"
#include "collision_box_box_spv.h"

#define LOCAL 64u
/* collision/device/collision_device.glsl */
#define SHAPE_WORDS 29u
#define POSE_WORDS 12u
#define ENTRY_WORDS 12u
#define MANIFOLD_WORDS 36u
enum { PAIRS_FOUND, PAIRS, CONTACTS_FOUND, CONTACTS, DEEPEST, LEVELS, TOUCHES_FOUND, TOUCHES, TRIANGLES_FOUND, TRIANGLES, CROWDED, COUNTS };
_Static_assert(TOUCHES_FOUND == DEVICE_TOUCHES_FOUND && TOUCHES == DEVICE_TOUCHES, "device_particles.h");
_Static_assert(TRIANGLES_FOUND == DEVICE_TRIANGLES_FOUND && TRIANGLES == DEVICE_TRIANGLES, "device_surfaces.h");
enum { POSE, CELLS, FIND, TAKE_PAIRS, TAKE_CONTACTS, WORLDS, EMIT, STEPS };
#define KINDS 9u
/* Shapes of a world with particles: each particle looks at all of them. */
#define PARTICLE_SHAPES_MAX 4096u

typedef struct collision_push {
  uint32_t shapes, worlds, mask, pair_capacity, contact_capacity, truncate;
  float speculative, dt;
  uint32_t world_shapes, plane_start, planes, exclude_start, excludes, nothing, particles, particle_capacity, held, triangle_capacity, triangles_of_pair, threads, begin, round;
} collision_push;

struct device_collision {
  sb_vulkan *vulkan;
  sb_device_collision_setup setup;
  collision_push push;
  uint32_t buckets, table_words;
  uint32_t kinds; /* a bit for each pair type that the scene can have */
  sb_vulkan_pipeline *steps[STEPS], *narrow[KINDS];
  device_sort sort;
  device_particles particles; /* where they take part */
  bool has_grids, meets_grids; /* there are heightfields, and in their worlds solids that move */
  device_surfaces surfaces;
  device_near *near;          /* where they may touch each other */
  sb_vulkan_buffer *body_q, *body_qd; /* the scope's */
  sb_vulkan_buffer *shapes, *tables, *poses, *boxes, *entries, *bucket_count, *bucket_start, *counts, *counts_seen, *pairs[2], *manifolds, *pair_contacts,
      *pair_first, *contacts, *world_start, *old_start, *match;
  sb_vulkan_graph *graph, *cache_graph;
};

static sb_status no_memory(sb_diagnostics *diag) { return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, "collision", "no memory for the pipeline on the device"); }

/* ---- what it takes ---- */

static bool is_fixed(const sb_model *m, uint32_t s) { return m->shape_body[s] < 0 || (m->body_flags[m->shape_body[s]] & SB_BODY_STATIC); }

/* Pair types of narrow_batch.h that two shapes of these types make; the order of that list. */
static uint32_t kinds_of(uint32_t types)
{
  static const uint8_t of[KINDS][2] = {{SB_SHAPE_PLANE, SB_SHAPE_SPHERE},   {SB_SHAPE_PLANE, SB_SHAPE_CAPSULE}, {SB_SHAPE_PLANE, SB_SHAPE_BOX},
                                       {SB_SHAPE_SPHERE, SB_SHAPE_SPHERE},  {SB_SHAPE_SPHERE, SB_SHAPE_CAPSULE}, {SB_SHAPE_SPHERE, SB_SHAPE_BOX},
                                       {SB_SHAPE_CAPSULE, SB_SHAPE_CAPSULE}, {SB_SHAPE_CAPSULE, SB_SHAPE_BOX},  {SB_SHAPE_BOX, SB_SHAPE_BOX}};
  uint32_t kinds = 0;
  for (uint32_t k = 0; k < KINDS; k++)
    if (types >> of[k][0] & 1u && types >> of[k][1] & 1u) kinds |= 1u << k;
  return kinds;
}

static void check_particles(const device_collision *c, sb_vulkan_limits limits, char lacks[160])
{
  const sb_model *m = c->setup.model;
  uint64_t bytes = 4ull * 12u * c->setup.particle_contact_capacity, shapes = 0;
  for (uint32_t w = 0; w < m->world_count; w++)
    if (m->world_particle_start[w + 1] > m->world_particle_start[w] && m->world_shape_start[w + 1] - m->world_shape_start[w] > shapes)
      shapes = m->world_shape_start[w + 1] - m->world_shape_start[w];
  if (bytes > limits.binding_bytes || 12ull * m->particle_count > limits.binding_bytes || m->particle_count / LOCAL >= limits.groups)
    snprintf(lacks, 160, "%u particles with %u contacts are more than this device can see at once", m->particle_count, c->setup.particle_contact_capacity);
  else if (shapes > PARTICLE_SHAPES_MAX)
    snprintf(lacks, 160, "each particle would look at %llu shapes there; %u is the most", (unsigned long long)shapes, PARTICLE_SHAPES_MAX);
}

static sb_status check_scene(device_collision *c, char lacks[160])
{
  const sb_model *m = c->setup.model;
  static const char *const names[SB_SHAPE_TYPE_COUNT] = {"planes", "spheres", "capsules", "boxes", "cylinders", "ellipsoids", "convex hulls", "meshes", ""};
  sb_vulkan_limits limits = sb_vulkan_limits_of(c->vulkan);
  uint64_t bytes = 4ull * MANIFOLD_WORDS * c->setup.pair_capacity, contact_bytes = 4ull * SB_CONTACT_WORDS * c->setup.contact_capacity;
  uint32_t types = 0;
  lacks[0] = 0;
  for (uint32_t s = 0; s < m->shape_count; s++) types |= 1u << m->shape_type[s];
  c->kinds = kinds_of(types);
  for (uint32_t t = SB_SHAPE_BOX + 1; t < SB_SHAPE_HFIELD && !lacks[0]; t++)
    if (types >> t & 1u) snprintf(lacks, 160, "it has no %s there", names[t]);
  if (!lacks[0] && m->pair_count) snprintf(lacks, 160, "it has no listed pairs of shapes there");
  if (contact_bytes > bytes) bytes = contact_bytes;
  uint64_t groups = c->setup.pair_capacity > m->shape_count ? c->setup.pair_capacity : m->shape_count;
  if (!lacks[0] && (bytes > limits.binding_bytes || groups / LOCAL >= limits.groups))
    snprintf(lacks, 160, "pair_capacity %u and contact_capacity %u are more than this device can see at once", c->setup.pair_capacity, c->setup.contact_capacity);
  c->has_grids = device_surfaces_exist(types);
  c->meets_grids = device_surfaces_meet(types) && c->setup.triangle_capacity && c->setup.pair_capacity && c->setup.contact_capacity;
  if (!lacks[0] && c->has_grids) device_surfaces_check(&c->setup, limits, lacks);
  if (!c->setup.pair_capacity || !c->setup.contact_capacity) c->kinds = 0;
  if (!lacks[0] && c->setup.particles) check_particles(c, limits, lacks);
  return lacks[0] || (!c->kinds && !c->meets_grids && !c->setup.particles) ? SB_E_UNSUPPORTED : SB_OK;
}

/* ---- tables ---- */

static void fill_shapes(const sb_model *m, uint32_t *words)
{
  for (uint32_t s = 0; s < m->shape_count; s++) {
    uint32_t *to = words + SHAPE_WORDS * (size_t)s;
    int32_t body = m->shape_body[s];
    const uint32_t head[12] = {m->shape_type[s], (uint32_t)body, (uint32_t)m->shape_world[s], is_fixed(m, s), m->shape_contype[s], m->shape_conaffinity[s],
                               (uint32_t)(body < 0 ? -1 : m->body_weld[body]), (uint32_t)(body < 0 ? -1 : m->body_weld_parent[body]), m->shape_condim[s],
                               0, 0, m->world_shape_start[m->shape_world[s]]};
    memcpy(to, head, sizeof head);
    memcpy(to + 9, m->shape_margin + s, 4);
    memcpy(to + 10, m->shape_restitution + s, 4);
    memcpy(to + 12, m->shape_friction + 3 * (size_t)s, 12);
    memcpy(to + 15, m->shape_size + 3 * (size_t)s, 12);
    memcpy(to + 18, m->shape_X + 7 * (size_t)s, 28);
    if (body >= 0) memcpy(to + 25, m->body_com + 3 * (size_t)body, 12);
    to[28] = m->shape_type[s] == SB_SHAPE_HFIELD ? DEVICE_GRID_WORDS * (uint32_t)m->shape_geometry[s] : 0;
  }
}

/* First shapes of the worlds, planes by world, excluded bodies by the lower one; where each begins goes into the push constants. */
static uint32_t *fill_tables(device_collision *c)
{
  const sb_model *m = c->setup.model;
  uint32_t worlds = m->world_count, at = 0;
  uint32_t *t = calloc(2 * ((size_t)worlds + 1) + m->shape_count + m->body_count + 2 + m->exclude_count + 1, sizeof *t);
  if (!t) return NULL;
  c->push.world_shapes = 0;
  memcpy(t, m->world_shape_start, (worlds + 1) * sizeof *t);
  c->push.plane_start = worlds + 1;
  c->push.planes = at = 2 * (worlds + 1);
  for (uint32_t w = 0; w < worlds; w++) {
    t[c->push.plane_start + w] = at - c->push.planes;
    for (uint32_t s = m->world_shape_start[w]; s < m->world_shape_start[w + 1]; s++)
      if (m->shape_type[s] == SB_SHAPE_PLANE) t[at++] = s;
  }
  t[c->push.plane_start + worlds] = at - c->push.planes;
  c->push.exclude_start = m->exclude_count ? at : 0;
  c->push.excludes = at + m->body_count + 2;
  uint32_t *start = t + at, *list = t + c->push.excludes; /* start[b]: of the lower body b - 1 */
  for (uint32_t i = 0; i < m->exclude_count; i++) start[m->exclude_body[2 * i] + 2]++;
  for (uint32_t b = 0; b <= m->body_count && m->exclude_count; b++) start[b + 1] += start[b];
  for (uint32_t i = m->exclude_count; i-- > 0;) list[--start[m->exclude_body[2 * i] + 2]] = (uint32_t)m->exclude_body[2 * i + 1];
  for (uint32_t b = 0; b <= m->body_count && m->exclude_count; b++) start[b] = start[b + 1];
  if (m->exclude_count) start[m->body_count + 1] = m->exclude_count;
  c->table_words = c->push.excludes + m->exclude_count + 1;
  return t;
}

/* A buffer of at least one word. */
static void make(device_collision *c, sb_vulkan_buffer **buffer, uint64_t words, sb_status *status, sb_diagnostics *diag)
{
  if (!*status) *status = sb_vulkan_device_buffer_create(c->vulkan, 4 * (words ? words : 1), buffer, diag);
  if (!*status) *status = sb_vulkan_clear(c->vulkan, *buffer, diag);
}

static void fill(device_collision *c, sb_vulkan_buffer **buffer, const uint32_t *data, uint64_t words, sb_status *status, sb_diagnostics *diag)
{
  make(c, buffer, words, status, diag);
  if (!*status) *status = sb_vulkan_upload(c->vulkan, *buffer, 0, data, 4 * words, diag);
}

static sb_status make_buffers(device_collision *c, sb_diagnostics *diag)
{
  const sb_model *m = c->setup.model;
  const uint64_t shapes = m->shape_count, pairs = c->setup.pair_capacity;
  uint32_t *words = calloc(SHAPE_WORDS * (size_t)shapes + 1, sizeof *words), *tables = fill_tables(c);
  sb_status status = words && tables ? SB_OK : no_memory(diag);
  if (words) fill_shapes(m, words);
  if (!status) fill(c, &c->shapes, words, SHAPE_WORDS * shapes, &status, diag);
  if (!status) fill(c, &c->tables, tables, c->table_words, &status, diag);
  free(words);
  free(tables);
  make(c, &c->poses, POSE_WORDS * shapes, &status, diag);
  make(c, &c->boxes, ENTRY_WORDS * shapes, &status, diag);
  make(c, &c->entries, ENTRY_WORDS * shapes, &status, diag);
  make(c, &c->bucket_count, c->buckets + 1u, &status, diag);
  make(c, &c->bucket_start, c->buckets + 1u, &status, diag);
  make(c, &c->counts, COUNTS, &status, diag);
  make(c, &c->pairs[0], 2 * pairs, &status, diag);
  make(c, &c->pairs[1], 2 * pairs, &status, diag);
  make(c, &c->manifolds, MANIFOLD_WORDS * pairs, &status, diag);
  make(c, &c->pair_contacts, pairs, &status, diag);
  make(c, &c->pair_first, pairs, &status, diag);
  make(c, &c->contacts, (uint64_t)SB_CONTACT_WORDS * c->setup.contact_capacity, &status, diag);
  make(c, &c->world_start, m->world_count + 1u, &status, diag);
  make(c, &c->old_start, m->world_count + 1u, &status, diag);
  make(c, &c->match, c->setup.contact_capacity, &status, diag);
  if (!status) status = sb_vulkan_buffer_create(c->vulkan, 4 * COUNTS, &c->counts_seen, diag);
  return status;
}

/* ---- the graph ---- */

typedef struct shader {
  const uint32_t *words;
  size_t bytes;
  uint32_t buffers;
} shader;
#define SHADER(name, buffers) {name##_spv, sizeof name##_spv, buffers}

static sb_status make_pipelines(device_collision *c, sb_device_scope *scope, sb_diagnostics *diag)
{
  const shader steps[STEPS] = {SHADER(collision_pose, 7), SHADER(collision_cells, 7), SHADER(collision_pairs, 8), SHADER(collision_take_pairs, 1),
                               SHADER(collision_take_contacts, 1), SHADER(collision_worlds, 5), SHADER(collision_emit, 7)};
  const shader emit_met = SHADER(collision_emit_met, 9);
  const shader narrow[KINDS] = {SHADER(collision_plane_sphere, 6), SHADER(collision_plane_capsule, 6), SHADER(collision_plane_box, 6),
                                SHADER(collision_sphere_sphere, 6), SHADER(collision_sphere_capsule, 6), SHADER(collision_sphere_box, 6),
                                SHADER(collision_capsule_capsule, 6), SHADER(collision_capsule_box, 6), SHADER(collision_box_box, 6)};
  sb_status status = SB_OK;
  for (uint32_t i = 0; i < STEPS && !status; i++) {
    const shader *s = i == EMIT && c->meets_grids ? &emit_met : &steps[i];
    status = compute_scope_pipeline(scope, s->words, s->bytes / 4, s->buffers, sizeof(collision_push), &c->steps[i], diag);
  }
  for (uint32_t i = 0; i < KINDS && !status; i++)
    if (c->kinds >> i & 1u) status = compute_scope_pipeline(scope, narrow[i].words, narrow[i].bytes / 4, narrow[i].buffers, sizeof(collision_push), &c->narrow[i], diag);
  return status;
}

static uint32_t groups_of(uint32_t count) { return count / LOCAL + (count % LOCAL > 0); }

static void step(device_collision *c, device_recorder *r, uint32_t which, sb_vulkan_buffer *const *buffers, uint32_t count, uint32_t elements)
{
  device_record(r, c->steps[which], buffers, count, &c->push, groups_of(elements));
}

/* Bits that a number below `count` has. */
static uint32_t bits_below(uint32_t count)
{
  uint32_t bits = 0;
  while (bits < 32 && (count - 1) >> bits) bits++;
  return bits;
}

/* Pairs sorted by (a, b): by the lesser word first, which a stable sort by the greater one keeps. */
static sb_vulkan_buffer *record_sorted_pairs(device_collision *c, device_recorder *r)
{
  uint32_t most = c->setup.pair_capacity, bits = bits_below(c->push.shapes);
#ifdef SAMEBIT_MUTANT_UNSORTED_DEVICE_PAIRS
  bits = 0; /* the planted fault: pairs in the order in which threads found them */
#endif
  sb_vulkan_buffer *half = device_record_sort(r, &c->sort, c->pairs[0], c->pairs[1], c->counts, most, PAIRS, 1, bits);
  return device_record_sort(r, &c->sort, half, half == c->pairs[0] ? c->pairs[1] : c->pairs[0], c->counts, most, PAIRS, 0, bits);
}

/* Cells, pairs, manifolds and contacts of the shapes that have their poses. */
static void record_shapes(device_collision *c, device_recorder *r)
{
  const uint32_t shapes = c->push.shapes, most = c->setup.pair_capacity;
  device_record_scan(r, &c->sort, c->bucket_count, c->bucket_start, c->counts, c->buckets + 1, DEVICE_NONE, DEVICE_NONE);
  step(c, r, CELLS, (sb_vulkan_buffer *[]){c->shapes, c->poses, c->counts, c->bucket_start, c->bucket_count, c->boxes, c->entries}, 7, shapes);
  step(c, r, FIND, (sb_vulkan_buffer *[]){c->shapes, c->poses, c->counts, c->bucket_start, c->tables, c->boxes, c->entries, c->pairs[0]}, 8, shapes);
  step(c, r, TAKE_PAIRS, &c->counts, 1, 1);
  sb_vulkan_buffer *pairs = record_sorted_pairs(c, r);
  if (c->meets_grids) {
    const device_pairs p = {c->counts, c->shapes, c->poses, pairs, c->pair_contacts};
    device_surfaces_record(r, &c->surfaces, &c->sort, &p, &c->push, sizeof c->push, most, PAIRS);
  }
  for (uint32_t i = 0; i < KINDS; i++)
    if (c->kinds >> i & 1u)
      device_record(r, c->narrow[i], (sb_vulkan_buffer *[]){c->shapes, c->poses, c->counts, pairs, c->manifolds, c->pair_contacts}, 6, &c->push, groups_of(most));
  device_record_scan(r, &c->sort, c->pair_contacts, c->pair_first, c->counts, most, PAIRS, CONTACTS_FOUND);
  step(c, r, TAKE_CONTACTS, &c->counts, 1, 1);
  step(c, r, WORLDS, (sb_vulkan_buffer *[]){c->counts, pairs, c->pair_first, c->tables, c->world_start}, 5, c->push.worlds + 1);
  step(c, r, EMIT, (sb_vulkan_buffer *[]){c->counts, pairs, c->pair_first, c->shapes, c->manifolds, c->pair_contacts, c->contacts, c->surfaces.first, c->surfaces.work},
       c->meets_grids ? 9 : 7, most);
}

static void record(device_collision *c, device_recorder *r)
{
  const uint32_t shapes = c->push.shapes;
  if (!r->status) r->status = sb_vulkan_graph_clear(r->graph, c->counts, r->diag);
  step(c, r, POSE, (sb_vulkan_buffer *[]){c->shapes, c->poses, c->counts, c->body_q, c->body_qd, c->boxes, c->bucket_count}, 7, shapes);
  if (c->setup.particles) {
    const device_shapes s = {c->counts, c->shapes, c->poses, c->boxes, c->tables};
    device_particles_record(r, &c->particles, &c->sort, &s, &c->push);
  }
  if (c->near) device_near_record(r, c->near);
  if (c->kinds || c->meets_grids) record_shapes(c, r);
  if (!r->status) r->status = sb_vulkan_graph_copy(r->graph, c->counts, c->counts_seen, 4 * COUNTS, r->diag);
  if (!r->status) r->status = sb_vulkan_graph_finish(r->graph, r->diag);
}

/* ---- life ---- */

sb_status device_collision_create(sb_device_scope *scope, sb_vulkan *vulkan, bool eager, const sb_device_collision_setup *setup, sb_vulkan_buffer *body_q,
                                  sb_vulkan_buffer *body_qd, device_collision **out, char lacks[160], sb_diagnostics *diag)
{
  device_collision *c = calloc(1, sizeof *c);
  if (!c) return no_memory(diag);
  c->vulkan = vulkan;
  c->setup = *setup;
  c->body_q = body_q;
  c->body_qd = body_qd;
  c->buckets = 64;
  while (c->buckets < 2 * (uint64_t)setup->model->shape_count && c->buckets < 1u << 30) c->buckets *= 2;
  c->push = (collision_push){.shapes = setup->model->shape_count, .worlds = setup->model->world_count, .mask = c->buckets - 1,
                             .pair_capacity = setup->pair_capacity, .contact_capacity = setup->contact_capacity, .truncate = setup->truncate,
                             .speculative = setup->speculative_margin, .dt = setup->dt};
  sb_status status = check_scene(c, lacks);
  if (!status) status = make_pipelines(c, scope, diag);
  uint32_t longest = setup->pair_capacity > c->buckets ? setup->pair_capacity : c->buckets + 1;
  if (setup->particles && setup->model->particle_count >= longest) longest = setup->model->particle_count + 1;
  if (!status) status = device_sort_create(&c->sort, scope, vulkan, longest, setup->pair_capacity, diag);
  if (!status) status = make_buffers(c, diag);
  if (!status && c->has_grids) status = device_surfaces_create_grids(&c->surfaces, vulkan, setup->model, diag);
  if (!status && c->meets_grids) status = device_surfaces_create(&c->surfaces, scope, setup, sizeof(collision_push), diag);
  c->push.triangle_capacity = c->surfaces.capacity;
  c->push.triangles_of_pair = c->surfaces.of_pair;
  c->push.threads = c->surfaces.threads;
  if (!status && setup->particles) status = device_particles_create(&c->particles, scope, vulkan, setup, c->surfaces.grids, sizeof(collision_push), diag);
  if (setup->particles) {
    c->push.particles = c->particles.count;
    c->push.particle_capacity = c->particles.capacity;
    c->push.held = c->particles.held_count;
  }
  if (!status && setup->near) status = device_near_create(scope, vulkan, setup, &c->near, lacks, diag);
  if (!status) status = sb_vulkan_graph_create(vulkan, eager, &c->graph, diag);
  device_recorder r = {c->graph, status, diag};
  if (!status) record(c, &r);
  if (r.status)
    device_collision_destroy(c);
  else
    *out = c;
  return r.status;
}

void device_collision_destroy(device_collision *c)
{
  if (!c) return;
  sb_vulkan_wait(c->vulkan, NULL);
  sb_vulkan_graph_destroy(c->graph);
  sb_vulkan_graph_destroy(c->cache_graph);
  device_sort_destroy(&c->sort);
  device_particles_destroy(&c->particles);
  device_surfaces_destroy(&c->surfaces);
  device_near_destroy(c->near);
  sb_vulkan_buffer *const buffers[] = {c->shapes,   c->tables,   c->poses,     c->boxes,         c->entries,    c->bucket_count, c->bucket_start, c->counts,
                                       c->counts_seen, c->pairs[0], c->pairs[1], c->manifolds, c->pair_contacts, c->pair_first, c->contacts,     c->world_start, c->old_start,      c->match};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) sb_vulkan_buffer_destroy(buffers[i]);
  free(c);
}

sb_status device_collision_run(device_collision *c, sb_diagnostics *diag) { return sb_vulkan_graph_run(c->graph, diag); }

device_contact_buffers device_collision_buffers(const device_collision *c)
{
  return (device_contact_buffers){c->contacts, c->match, c->world_start, c->old_start, c->particles.contacts, c->particles.found};
}

sb_status device_collision_open_cache(device_collision *c, sb_device_scope *scope, bool eager, sb_vulkan_buffer *key, sb_vulkan_buffer *point,
                                      sb_vulkan_buffer *count, sb_diagnostics *diag)
{
  const struct { uint32_t worlds, capacity; } push = {c->push.worlds, c->setup.contact_capacity};
  sb_vulkan_buffer *const match[6] = {c->contacts, c->world_start, key, point, c->old_start, c->match}, *const keep[6] = {c->contacts, c->world_start, key, point, c->old_start, count};
  uint32_t groups = groups_of(push.capacity > push.worlds + 1 ? push.capacity : push.worlds + 1);
  sb_vulkan_pipeline *matches = NULL, *keeps = NULL;
  sb_status status = compute_scope_pipeline(scope, contact_match_spv, sizeof contact_match_spv / 4, 6, sizeof push, &matches, diag);
  if (!status) status = compute_scope_pipeline(scope, contact_keep_spv, sizeof contact_keep_spv / 4, 6, sizeof push, &keeps, diag);
  if (!status) status = sb_vulkan_graph_create(c->vulkan, eager, &c->cache_graph, diag);
  device_recorder r = {c->cache_graph, status, diag};
  device_record(&r, matches, match, 6, &push, groups);
  device_record(&r, keeps, keep, 6, &push, groups);
  return r.status ? r.status : sb_vulkan_graph_finish(c->cache_graph, diag);
}

sb_status device_collision_match(device_collision *c, sb_diagnostics *diag) { return sb_vulkan_graph_run(c->cache_graph, diag); }

sb_device_contact_counts device_collision_counts(const device_collision *c)
{
  const uint32_t *counts = sb_vulkan_buffer_data(c->counts_seen);
  sb_device_contact_counts found = {.pairs = counts[PAIRS_FOUND], .contacts = counts[CONTACTS_FOUND], .kept = counts[CONTACTS], .particle_contacts = counts[TOUCHES_FOUND],
                                    .particle_kept = counts[TOUCHES], .triangles = counts[CROWDED] ? UINT32_MAX : counts[TRIANGLES_FOUND]};
  memcpy(&found.deepest, &counts[DEEPEST], sizeof found.deepest);
  if (c->near) device_near_counts(c->near, &found);
  return found;
}

sb_status device_collision_read(device_collision *c, uint32_t count, const sb_contact_room *room, sb_diagnostics *diag)
{
  const uint64_t capacity = c->setup.contact_capacity;
  const sb_vulkan_range ranges[] = {
      {c->world_start, 0, 4 * ((uint64_t)c->push.worlds + 1), room->world_start},
      {c->contacts, 4 * capacity * SB_AT_KEY, 8ull * count, room->key},
      {c->contacts, 4 * capacity * SB_AT_WORLD, 4ull * count, room->world},
      {c->contacts, 4 * capacity * SB_AT_SHAPE_A, 4ull * count, room->shape_a},
      {c->contacts, 4 * capacity * SB_AT_SHAPE_B, 4ull * count, room->shape_b},
      {c->contacts, 4 * capacity * SB_AT_BODY_A, 4ull * count, room->body_a},
      {c->contacts, 4 * capacity * SB_AT_BODY_B, 4ull * count, room->body_b},
      {c->contacts, 4 * capacity * SB_AT_POINT_A, 12ull * count, room->point_a},
      {c->contacts, 4 * capacity * SB_AT_POINT_B, 12ull * count, room->point_b},
      {c->contacts, 4 * capacity * SB_AT_NORMAL, 12ull * count, room->normal},
      {c->contacts, 4 * capacity * SB_AT_GAP, 4ull * count, room->gap},
      {c->contacts, 4 * capacity * SB_AT_FRICTION, 12ull * count, room->friction},
      {c->contacts, 4 * capacity * SB_AT_RESTITUTION, 4ull * count, room->restitution}};
  return sb_vulkan_download_ranges(c->vulkan, ranges, sizeof ranges / sizeof *ranges, diag);
}

sb_status device_collision_read_particles(device_collision *c, uint32_t count, const sb_particle_contact_room *room, sb_diagnostics *diag)
{
  return device_particles_read(&c->particles, count, room, diag);
}

sb_status device_collision_read_near(device_collision *c, uint32_t count, const sb_near_pair_room *room, sb_diagnostics *diag)
{
  return device_near_read(c->near, count, room, diag);
}
