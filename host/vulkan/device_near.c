/* Tables of what the model fixes; loose particles sorted, boxes, pairs in any order, sorted by their keys and placed. */
#include "device_near.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "near_plan.h"

#include "near_bounds_spv.h"
#include "near_keys_spv.h"
#include "near_groups_spv.h"
#include "near_slots_spv.h"
#include "near_boxes_spv.h"
#include "near_edge_boxes_spv.h"
#include "near_blocks_spv.h"
#include "near_flats_spv.h"
#include "near_nodes_spv.h"
#include "near_node_groups_spv.h"
#include "near_find_spv.h"
#include "near_find_loose_spv.h"
#include "near_take_spv.h"
#include "near_words_spv.h"
#include "near_place_spv.h"
#include "near_worlds_spv.h"

#define LOCAL 64u
/* collision/device/collision_near.glsl */
#define PIECE_WORDS 20u
#define GROUP_WORDS 6u
#define DEFORMABLE_WORDS 4u
#define PARTICLE_WORDS 6u
#define TOUCH_WORDS 12u
#define HIT_WORDS 10u
#define PAIR_WORDS 8u /* of SB_NEAR_PAIR_ARRAYS */
#define KEY_BITS 32u  /* of a loose particle: its place on the curve, or that it is not there */
/* Pairs of nodes at once. So many at most that a node and those after it can have: where all of them would be more, rounds of nodes follow each other, so that no
 * list can be too short. */
#ifndef ROOM /* a test makes it small */
#define ROOM (1u << 22)
#endif
#define ROUNDS 64u
#define GROUP_NUMBERS 8u
#define GROUPS_MAX 65535u
enum { FOUND, KEPT, LOOSE, NODES_FOUND, LOOSE_NODES_FOUND, COUNTS };
enum { BOUNDS, KEYS, GROUPS, SLOTS, FIND_LOOSE, BOXES, EDGE_BOXES, BLOCKS, FLATS, NODES, NODE_GROUPS, FIND, TAKE, WORDS, PLACE, WORLDS, STEPS };

typedef struct near_push {
  uint32_t nodes, blocks, touches, row, room, edges, capacity, truncate, worlds;
  float dt;
  uint32_t node_group, groups, deformables, touch_start, origins, owned, vertices, loose, loose_of, word, sorted;
} near_push;

struct device_near {
  sb_vulkan *vulkan;
  const sb_model *model;
  sb_near_plan plan;
  near_push push;
  uint32_t loose_nodes, loose_groups;
  sb_vulkan_pipeline *steps[STEPS];
  device_sort sort;
  sb_vulkan_buffer *q, *qd; /* the scope's */
  sb_vulkan_buffer *tables, *slots, *edges, *touch, *strangers, *particles, *pieces, *elements, *normals, *edge_boxes, *bounds, *counts, *counts_seen, *flats, *pairs, *groups,
      *hits, *order[2], *list, *world_start;
};

static sb_status no_memory(sb_diagnostics *diag) { return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, "collision", "no memory for near pairs on the device"); }

/* ---- tables ---- */

static uint32_t leaves_of(const device_near *d) { return d->plan.node_count * NEAR_CHILDREN; }
static uint32_t slots_of(const device_near *d) { return d->plan.node_count * NEAR_NODE; }
static uint32_t edge_places(const device_near *d) { return d->plan.tree->edges.start[leaves_of(d)] * NEAR_CHILDREN; }

static uint64_t stranger_rows(const device_near *d)
{
  const sb_near_plan *p = &d->plan;
  uint64_t rows = 0;
  for (uint32_t node = 0; node < p->node_count; node++)
    for (uint32_t i = p->touch_start[node]; i < p->touch_start[node + 1]; i++)
      for (uint32_t k = 0; k < NEAR_CHILDREN; k++)
        rows += (uint64_t)__builtin_popcount(p->share[i].with[k]) * p->tree->edges.count[node * NEAR_CHILDREN + k];
  return rows;
}

static bool is_loose(const near_group *g) { return g->deformable == NEAR_LOOSE; }

static void count_loose(device_near *d)
{
  for (uint32_t g = 0; g < d->plan.group_count; g++) {
    d->loose_nodes += is_loose(&d->plan.groups[g]) ? d->plan.groups[g].nodes : 0;
    d->loose_groups += is_loose(&d->plan.groups[g]);
  }
}

/* Where each table begins; their words. */
static uint64_t lay_out(device_near *d)
{
  const sb_near_plan *p = &d->plan;
  const struct { uint32_t *at; uint64_t words; } tables[] = {{&d->push.node_group, p->node_count},
                                                             {&d->push.groups, (uint64_t)GROUP_WORDS * p->group_count},
                                                             {&d->push.deformables, (uint64_t)DEFORMABLE_WORDS * d->model->deformable_count},
                                                             {&d->push.touch_start, p->node_count + 1ull},
                                                             {&d->push.origins, 3ull * d->model->world_count},
                                                             {&d->push.owned, 4ull * leaves_of(d)},
                                                             {&d->push.vertices, (uint64_t)NEAR_CHILDREN * p->tree->vertices.start[leaves_of(d)]},
                                                             {&d->push.loose, 2ull * d->loose_nodes},
                                                             {&d->push.loose_of, (uint64_t)NEAR_NODE * d->loose_nodes}};
  uint64_t at = 0;
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    *tables[i].at = (uint32_t)at;
    at += tables[i].words;
  }
  return at;
}

/* Nodes of loose particles, and their particles in the order of indices; places that are not there repeat the last one. */
static void fill_loose(const device_near *d, uint32_t *tables)
{
  const sb_model *m = d->model;
  uint32_t *node = tables + d->push.loose, *of = tables + d->push.loose_of;
  for (uint32_t g = 0; g < d->plan.group_count; g++) {
    const near_group *group = &d->plan.groups[g];
    if (!is_loose(group)) continue;
    for (uint32_t k = 0; k < group->nodes; k++, node += 2) node[0] = g, node[1] = group->first_node + k;
    uint32_t *end = of + (size_t)NEAR_NODE * group->nodes;
    for (uint32_t p = m->world_particle_start[group->world]; p < m->world_particle_start[group->world + 1]; p++)
      if (d->plan.is_loose[m->particle_deformable[p]]) *of++ = p;
    for (; of < end; of++) *of = of[-1];
  }
}

static void fill_tables(const device_near *d, uint32_t *tables)
{
  const sb_near_plan *p = &d->plan;
  const sb_model *m = d->model;
  memcpy(tables + d->push.node_group, p->node_group, p->node_count * sizeof *tables);
  for (uint32_t g = 0, loose = 0; g < p->group_count; g++) {
    const near_group *group = &p->groups[g], *last = &p->groups[p->world_group_start[group->world + 1] - 1];
    const uint32_t words[GROUP_WORDS] = {group->world, group->deformable, group->first_node, group->elements, last->first_node + last->nodes, loose};
    memcpy(tables + d->push.groups + GROUP_WORDS * (size_t)g, words, sizeof words);
    loose += is_loose(group);
  }
  for (uint32_t i = 0; i < m->deformable_count; i++) {
    uint32_t *to = tables + d->push.deformables + DEFORMABLE_WORDS * (size_t)i;
    to[0] = m->deformable_contype[i];
    to[1] = m->deformable_conaffinity[i];
    to[2] = m->deformable_flags[i] & SB_DEFORMABLE_SELF_CONTACT;
    memcpy(to + 3, m->deformable_friction + i, sizeof *to);
  }
  memcpy(tables + d->push.touch_start, p->touch_start, (p->node_count + (size_t)1) * sizeof *tables);
  for (uint32_t w = 0; w < m->world_count; w++) {
    const uint32_t origins[3] = {m->world_particle_start[w], p->world_edge_start[w], p->world_tri_start[w]};
    memcpy(tables + d->push.origins + 3 * (size_t)w, origins, sizeof origins);
  }
  const near_owned *vertices = &p->tree->vertices, *edges = &p->tree->edges;
  for (uint32_t leaf = 0; leaf < leaves_of(d); leaf++) {
    const uint32_t words[4] = {NEAR_CHILDREN * vertices->start[leaf], vertices->count[leaf], NEAR_CHILDREN * edges->start[leaf], edges->count[leaf]};
    memcpy(tables + d->push.owned + 4 * (size_t)leaf, words, sizeof words);
  }
  memcpy(tables + d->push.vertices, vertices->of, (size_t)NEAR_CHILDREN * vertices->start[leaves_of(d)] * sizeof *tables);
  fill_loose(d, tables);
}

/* Corners and element of each slot; those of loose particles are made anew in each tick. */
static void fill_slots(const device_near *d, uint32_t *words)
{
  const near_tree *t = d->plan.tree;
  for (uint32_t slot = 0; slot < slots_of(d); slot++) {
    const uint32_t *corner = t->corner + 3 * (size_t)(slot / NEAR_CHILDREN * NEAR_CHILDREN) + slot % NEAR_CHILDREN;
    const uint32_t record[4] = {corner[0], corner[NEAR_CHILDREN], corner[2 * NEAR_CHILDREN], t->element[slot]};
    memcpy(words + 4 * (size_t)slot, record, sizeof record);
  }
}

static void fill_edges(const device_near *d, uint32_t *words)
{
  const near_tree *t = d->plan.tree;
  for (uint32_t i = 0; i < edge_places(d); i++) {
    const uint32_t *end = t->edge_end + 2 * NEAR_CHILDREN * (size_t)(i / NEAR_CHILDREN) + i % NEAR_CHILDREN;
    const uint32_t record[4] = {end[0], end[NEAR_CHILDREN], t->edges.of[i], 0};
    memcpy(words + 4 * (size_t)i, record, sizeof record);
  }
}

static void fill_touch(const device_near *d, uint32_t *words)
{
  for (uint32_t i = 0; i < d->plan.touch_start[d->plan.node_count]; i++) {
    uint32_t *to = words + TOUCH_WORDS * (size_t)i;
    const near_share *share = &d->plan.share[i];
    to[0] = d->plan.touch[i];
    for (uint32_t k = 0; k < NEAR_CHILDREN; k++) to[1 + k / 4] |= (uint32_t)share->with[k] << 8 * (k % 4);
    memcpy(to + 3, share->strangers, sizeof share->strangers);
  }
  for (uint32_t node = 0; node < d->plan.node_count; node++)
    for (uint32_t i = d->plan.touch_start[node]; i < d->plan.touch_start[node + 1]; i++) words[TOUCH_WORDS * (size_t)i + 11] = node;
}

static void fill_particles(const device_near *d, uint32_t *words)
{
  const sb_model *m = d->model;
  for (uint32_t p = 0; p < m->particle_count; p++) {
    uint32_t *to = words + PARTICLE_WORDS * (size_t)p;
    memcpy(to, m->particle_radius + p, sizeof *to);
    to[1] = (uint32_t)m->particle_deformable[p];
    to[2] = m->particle_inv_mass[p] > 0.0f;
    memcpy(to + 3, m->particle_q + 3 * (size_t)p, 3 * sizeof *to);
  }
}

/* ---- buffers ---- */

static void make(device_near *d, sb_vulkan_buffer **buffer, uint64_t words, sb_status *status, sb_diagnostics *diag)
{
  if (!*status) *status = sb_vulkan_device_buffer_create(d->vulkan, 4 * (words ? words : 1), buffer, diag);
  if (!*status) *status = sb_vulkan_clear(d->vulkan, *buffer, diag);
}

static void fill(device_near *d, sb_vulkan_buffer **buffer, void (*write)(const device_near *, uint32_t *), uint64_t words, sb_status *status, sb_diagnostics *diag)
{
  uint32_t *data = *status ? NULL : calloc(words + 1, sizeof *data);
  if (!*status && !data) *status = no_memory(diag);
  if (!*status) write(d, data);
  make(d, buffer, words, status, diag);
  if (!*status && words) *status = sb_vulkan_upload(d->vulkan, *buffer, 0, data, 4 * words, diag);
  free(data);
}

static sb_status make_buffers(device_near *d, sb_diagnostics *diag)
{
  const sb_near_plan *p = &d->plan;
  const uint64_t capacity = p->pair_capacity, loose = (uint64_t)NEAR_NODE * d->loose_nodes, rows = stranger_rows(d);
  sb_status status = SB_OK;
  fill(d, &d->tables, fill_tables, lay_out(d), &status, diag);
  fill(d, &d->slots, fill_slots, 4ull * slots_of(d), &status, diag);
  fill(d, &d->edges, fill_edges, 4ull * edge_places(d), &status, diag);
  fill(d, &d->touch, fill_touch, (uint64_t)TOUCH_WORDS * p->touch_start[p->node_count], &status, diag);
  fill(d, &d->particles, fill_particles, (uint64_t)PARTICLE_WORDS * d->model->particle_count, &status, diag);
  make(d, &d->strangers, rows, &status, diag);
  if (!status && rows) status = sb_vulkan_upload(d->vulkan, d->strangers, 0, p->tree->strangers, 4 * rows, diag);
  make(d, &d->pieces, (uint64_t)PIECE_WORDS * (leaves_of(d) + p->node_count + d->push.blocks), &status, diag);
  make(d, &d->elements, 6ull * slots_of(d), &status, diag);
  make(d, &d->normals, 3ull * slots_of(d), &status, diag);
  make(d, &d->edge_boxes, 6ull * edge_places(d), &status, diag);
  make(d, &d->bounds, 6ull * d->loose_groups, &status, diag);
  make(d, &d->counts, COUNTS, &status, diag);
  make(d, &d->flats, d->push.touches, &status, diag);
  make(d, &d->pairs, 4ull * d->push.room, &status, diag);
  make(d, &d->groups, GROUP_NUMBERS, &status, diag);
  make(d, &d->hits, HIT_WORDS * capacity, &status, diag);
  for (int i = 0; i < 2; i++) make(d, &d->order[i], 2 * (capacity > loose ? capacity : loose), &status, diag);
  make(d, &d->list, PAIR_WORDS * capacity, &status, diag);
  make(d, &d->world_start, d->model->world_count + 1ull, &status, diag);
  if (!status) status = sb_vulkan_buffer_create(d->vulkan, 4 * COUNTS, &d->counts_seen, diag);
  return status;
}

/* After the last node of a node's world. */
static uint32_t end_of_world(const device_near *d, uint32_t node)
{
  const near_group *last = &d->plan.groups[d->plan.world_group_start[d->plan.groups[d->plan.node_group[node]].world + 1] - 1];
  return last->first_node + last->nodes;
}

/* The nodes from `first` on whose pairs are sure to find room. */
static uint32_t rows_that_fit(const device_near *d, uint32_t first)
{
  uint64_t pairs = 0;
  uint32_t node = first;
  for (; node < d->plan.node_count; node++) {
    pairs += end_of_world(d, node) - node;
    if (pairs > d->push.room) break;
  }
  return node - first;
}

static void choose_room(device_near *d)
{
  uint64_t pairs = 0, room = ROOM;
  for (uint32_t node = 0; node < d->plan.node_count; node++) pairs += end_of_world(d, node) - node;
  while ((pairs / room >= ROUNDS || room < d->plan.node_count) && room < 1u << 30) room *= 2;
  d->push.room = (uint32_t)(pairs < room ? pairs : room);
}

static sb_status check(device_near *d, char lacks[160])
{
  sb_vulkan_limits limits = sb_vulkan_limits_of(d->vulkan);
  const sb_near_plan *p = &d->plan;
  const uint64_t words[] = {lay_out(d),
                            6ull * slots_of(d),
                            6ull * edge_places(d),
                            (uint64_t)PIECE_WORDS * (leaves_of(d) + p->node_count + d->push.blocks),
                            (uint64_t)TOUCH_WORDS * p->touch_start[p->node_count],
                            stranger_rows(d),
                            4ull * d->push.room,
                            (uint64_t)PARTICLE_WORDS * d->model->particle_count,
                            (uint64_t)HIT_WORDS * p->pair_capacity};
  uint64_t most = 0, groups = p->pair_capacity / LOCAL;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) most = words[i] > most ? words[i] : most;
  if (edge_places(d) / LOCAL > groups) groups = edge_places(d) / LOCAL;
  if (p->node_count > groups) groups = p->node_count;
  if (4 * most <= limits.binding_bytes && groups < limits.groups) return SB_OK;
  snprintf(lacks, 160, "%u particles that may touch each other, with near_pair_capacity %u, are more than this device can see at once", d->model->particle_count, p->pair_capacity);
  return SB_E_UNSUPPORTED;
}

static sb_status make_pipelines(device_near *d, sb_device_scope *scope, sb_diagnostics *diag)
{
#define SHADER(name, buffers) {name##_spv, sizeof name##_spv, buffers}
  const struct { const uint32_t *words; size_t bytes; uint32_t buffers; } shaders[STEPS] = {
      SHADER(near_bounds, 4), SHADER(near_keys, 4),  SHADER(near_groups, 2), SHADER(near_slots, 3),       SHADER(near_find_loose, 16), SHADER(near_boxes, 8),
      SHADER(near_edge_boxes, 4), SHADER(near_blocks, 1), SHADER(near_flats, 4), SHADER(near_nodes, 6), SHADER(near_node_groups, 2), SHADER(near_find, 16),
      SHADER(near_take, 1),   SHADER(near_words, 3), SHADER(near_place, 4), SHADER(near_worlds, 4)};
#undef SHADER
  sb_status status = SB_OK;
  for (uint32_t i = 0; i < STEPS && !status; i++)
    if (i > FIND_LOOSE || d->loose_nodes)
      status = compute_scope_pipeline(scope, shaders[i].words, shaders[i].bytes / 4, shaders[i].buffers, sizeof(near_push), &d->steps[i], diag);
  return status;
}

/* ---- the graph ---- */

#define STEP(which, groups, ...) \
  device_record(r, d->steps[which], (sb_vulkan_buffer *[]){__VA_ARGS__}, sizeof((sb_vulkan_buffer *[]){__VA_ARGS__}) / sizeof(sb_vulkan_buffer *), &d->push, groups)

static uint32_t groups_of(uint32_t count) { return count / LOCAL + (count % LOCAL > 0); }

/* Bits of the numbers below `count`. */
static uint32_t bits_below(uint32_t count)
{
  uint32_t bits = 0;
  while (bits < 32 && (count - 1) >> bits) bits++;
  return bits;
}

static sb_vulkan_buffer *other(const device_near *d, const sb_vulkan_buffer *order) { return order == d->order[0] ? d->order[1] : d->order[0]; }

static void record_loose(device_recorder *r, device_near *d)
{
  const uint32_t slots = NEAR_NODE * d->loose_nodes;
  if (!r->status) r->status = sb_vulkan_graph_clear(r->graph, d->bounds, r->diag);
  STEP(BOUNDS, d->loose_nodes, d->tables, d->bounds, d->q, d->counts);
  STEP(KEYS, d->loose_nodes, d->tables, d->bounds, d->q, d->order[0]);
  sb_vulkan_buffer *order = device_record_sort(r, &d->sort, d->order[0], d->order[1], d->counts, slots, LOOSE, 0, KEY_BITS);
  if (d->loose_groups > 1) {
    STEP(GROUPS, d->loose_nodes, d->tables, order);
    order = device_record_sort(r, &d->sort, order, other(d, order), d->counts, slots, LOOSE, 0, bits_below(d->loose_groups));
  }
  STEP(SLOTS, d->loose_nodes, d->tables, order, d->slots);
}

/* Sorted by (world, kind, first feature, second feature): by the last of these first, each sort keeps what those before have done. */
static sb_vulkan_buffer *record_sorted(device_recorder *r, device_near *d)
{
  const uint32_t capacity = d->plan.pair_capacity, bits[3] = {d->plan.bits_b, d->plan.bits_a, bits_below(d->model->world_count) + 2};
  sb_vulkan_buffer *order = d->order[0];
  for (uint32_t word = 0; word < 3; word++) {
    d->push.word = word;
    d->push.sorted = word > 0;
    STEP(WORDS, groups_of(capacity), d->counts, d->hits, order);
#ifndef SAMEBIT_MUTANT_UNSORTED_DEVICE_NEAR_PAIRS /* the planted fault: pairs in the order in which threads found them */
    order = device_record_sort(r, &d->sort, order, other(d, order), d->counts, capacity, KEPT, 0, bits[word]);
#else
    (void)bits;
#endif
  }
  return order;
}

/* As many workgroups as `groups` says from number `at` on. */
static void record_find(device_recorder *r, device_near *d, uint32_t which, uint32_t at)
{
  const sb_vulkan_slice slices[16] = {{d->counts, 0, 0}, {d->tables, 0, 0}, {d->touch, 0, 0},  {d->strangers, 0, 0}, {d->slots, 0, 0},    {d->edges, 0, 0},
                                      {d->particles, 0, 0}, {d->q, 0, 0},   {d->qd, 0, 0},     {d->pieces, 0, 0},    {d->elements, 0, 0}, {d->normals, 0, 0},
                                      {d->edge_boxes, 0, 0}, {d->hits, 0, 0}, {d->pairs, 0, 0}, {d->groups, 0, 0}};
  if (!r->status) r->status = sb_vulkan_graph_dispatch_indirect(r->graph, d->steps[which], slices, &d->push, d->groups, 4 * at, r->diag);
  if (!r->status) r->status = sb_vulkan_graph_barrier(r->graph, r->diag);
}

void device_near_record(device_recorder *r, device_near *d)
{
  const uint32_t nodes = d->plan.node_count;
  if (!r->status) r->status = sb_vulkan_graph_clear(r->graph, d->counts, r->diag);
  if (d->loose_nodes) record_loose(r, d);
  STEP(BOXES, nodes, d->pieces, d->tables, d->slots, d->particles, d->q, d->qd, d->elements, d->normals);
  if (d->push.edges) STEP(EDGE_BOXES, groups_of(d->push.edges), d->pieces, d->edges, d->q, d->edge_boxes);
  STEP(BLOCKS, groups_of(d->push.blocks), d->pieces);
  if (d->push.touches) STEP(FLATS, d->push.touches < GROUPS_MAX ? d->push.touches : GROUPS_MAX, d->pieces, d->touch, d->flats, d->normals);
  for (d->push.row = 0; d->push.row < nodes;) {
    uint32_t rows = rows_that_fit(d, d->push.row);
    STEP(NODES, rows, d->pieces, d->touch, d->flats, d->counts, d->tables, d->pairs);
    STEP(NODE_GROUPS, 1, d->counts, d->groups);
    record_find(r, d, FIND, 0);
    if (d->loose_nodes) record_find(r, d, FIND_LOOSE, 3);
    d->push.row += rows;
  }
  STEP(TAKE, 1, d->counts);
  sb_vulkan_buffer *order = record_sorted(r, d);
  STEP(PLACE, groups_of(d->plan.pair_capacity), d->counts, d->hits, order, d->list);
  STEP(WORLDS, groups_of(d->push.worlds + 1), d->counts, d->hits, order, d->world_start);
  if (!r->status) r->status = sb_vulkan_graph_copy(r->graph, d->counts, d->counts_seen, 4 * COUNTS, r->diag);
}

/* ---- life ---- */

sb_status device_near_create(sb_device_scope *scope, sb_vulkan *vulkan, const sb_device_collision_setup *setup, device_near **out, char lacks[160], sb_diagnostics *diag)
{
  device_near *d = calloc(1, sizeof *d);
  if (!d) return no_memory(diag);
  *d = (device_near){.vulkan = vulkan, .model = setup->model, .plan = *setup->near};
  count_loose(d);
  d->push = (near_push){.nodes = d->plan.node_count, .blocks = (d->plan.node_count + NEAR_CHILDREN - 1) / NEAR_CHILDREN, .edges = edge_places(d),
                        .touches = d->plan.touch_start[d->plan.node_count], .capacity = d->plan.pair_capacity, .truncate = setup->truncate,
                        .worlds = setup->model->world_count, .dt = setup->dt};
  choose_room(d);
  uint32_t loose = NEAR_NODE * d->loose_nodes;
  size_t ignore;
  sb_status status = check(d, lacks);
  if (!status) status = compute_scope_copy(scope, "collision", "particle_q", &ignore, &d->q, diag);
  if (!status) status = compute_scope_copy(scope, "collision", "particle_qd", &ignore, &d->qd, diag);
  if (!status) status = make_pipelines(d, scope, diag);
  if (!status) status = device_sort_create(&d->sort, scope, vulkan, 1, d->plan.pair_capacity > loose ? d->plan.pair_capacity : loose, diag);
  if (!status) status = make_buffers(d, diag);
  if (status)
    device_near_destroy(d);
  else
    *out = d;
  return status;
}

void device_near_destroy(device_near *d)
{
  if (!d) return;
  sb_vulkan_wait(d->vulkan, NULL); /* a part of an upload may be on its way */
  sb_vulkan_buffer *const buffers[] = {d->tables,     d->slots,  d->edges,  d->touch,       d->strangers, d->particles, d->pieces, d->elements, d->normals,  d->edge_boxes,
                                       d->bounds, d->counts, d->counts_seen, d->flats,     d->pairs,     d->groups, d->hits,     d->order[0], d->order[1],
                                       d->list,       d->world_start};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) sb_vulkan_buffer_destroy(buffers[i]);
  device_sort_destroy(&d->sort);
  free(d);
}

void device_near_counts(const device_near *d, sb_device_contact_counts *counts)
{
  const uint32_t *seen = sb_vulkan_buffer_data(d->counts_seen);
  counts->near_pairs = seen[FOUND];
  counts->near_kept = seen[KEPT];
}

sb_status device_near_read(device_near *d, uint32_t count, const sb_near_pair_room *room, sb_diagnostics *diag)
{
  sb_vulkan_range ranges[PAIR_WORDS + 1] = {{d->world_start, 0, 4 * (d->model->world_count + 1ull), room->world_start}};
  size_t n = 1;
  uint64_t at = 0;
#define SB_X_NEAR(type, name, comps, doc)                                                                                                                \
  ranges[n++] = (sb_vulkan_range){d->list, 4 * (uint64_t)d->plan.pair_capacity * at, (uint64_t)count * (comps) * sizeof(type), room->name};              \
  at += (comps);
  SB_NEAR_PAIR_ARRAYS(SB_X_NEAR)
#undef SB_X_NEAR
  return sb_vulkan_download_ranges(d->vulkan, ranges, n, diag);
}
