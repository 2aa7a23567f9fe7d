/* Dispatches of device/steel_graph.comp, with the prefix sums and radix sorts between them. */
#include "steel_device_graph.h"

#include <stdlib.h>

#include "samebit/solver_tools.h"
#include "sort_push.h"

#include "steel_begins_spv.h"
#include "steel_found_spv.h"
#include "steel_next_spv.h"
#include "steel_front_spv.h"
#include "steel_colors_spv.h"
#include "steel_colors_small_spv.h"
#include "steel_starts_spv.h"
#include "steel_order_spv.h"
#include "scan_sum_spv.h"
#include "scan_spine_spv.h"
#include "scan_apply_spv.h"
#include "scan_alone_spv.h"
#include "radix_count_spv.h"
#include "radix_place_spv.h"

#define LOCAL 64u
#define COLOR_BITS 5u
#define COLOR_THREADS 1024u /* of the workgroup that colours, where a device has so many */
#define NONE UINT32_MAX

enum { BEGINS, FOUND, NEXT, FRONT, COLORS, STARTS, ORDER };
enum { N_CONTACTS, N_MANIFOLDS, N_FRONT, COUNTS };

typedef struct graph_push {
  uint32_t capacity, worlds, nobody;
} graph_push;

static uint32_t groups_of(uint32_t count, uint32_t size) { return count / size + (count % size > 0); }

/* Of each body twice its record, and 1 where contacts move it. */
static void fill_records(chain *k, const uint32_t *record)
{
  st_device *s = k->s;
  const sb_model *m = s->bind->model;
  uint32_t *words = calloc((size_t)m->body_count + 1, sizeof *words);
  if (!words) {
    sb_compute_no_memory(&k->calls);
    return;
  }
  for (uint32_t b = 0; b < m->body_count; b++) {
    bool known = record[b] < ST_LINK;
    words[b] = 2 * (known ? record[b] : s->records) + (known && sb_has_body(s->bind->bodies, s->bind->body_count, (int32_t)b) && m->body_inv_mass[b] > 0.0f);
  }
  sb_compute_fill_buffer(&k->calls, &s->graph.record_of, words, sizeof *words * (uint64_t)m->body_count);
  free(words);
}

static void make_pipelines(chain *k)
{
  st_device_graph *g = &k->s->graph;
  SB_COMPUTE_PIPELINE(&k->calls, &g->pass[BEGINS], steel_begins, 5, graph_push);
  SB_COMPUTE_PIPELINE(&k->calls, &g->pass[FOUND], steel_found, 8, graph_push);
  SB_COMPUTE_PIPELINE(&k->calls, &g->pass[NEXT], steel_next, 4, graph_push);
  SB_COMPUTE_PIPELINE(&k->calls, &g->pass[FRONT], steel_front, 5, graph_push);
  if (k->s->compute->invocations_max >= COLOR_THREADS)
    SB_COMPUTE_PIPELINE(&k->calls, &g->pass[COLORS], steel_colors, 7, graph_push);
  else
    SB_COMPUTE_PIPELINE(&k->calls, &g->pass[COLORS], steel_colors_small, 7, graph_push);
  SB_COMPUTE_PIPELINE(&k->calls, &g->pass[STARTS], steel_starts, 4, graph_push);
  SB_COMPUTE_PIPELINE(&k->calls, &g->pass[ORDER], steel_order, 4, graph_push);
  SB_COMPUTE_PIPELINE(&k->calls, &g->scan[0], scan_sum, 4, scan_push);
  SB_COMPUTE_PIPELINE(&k->calls, &g->scan[1], scan_spine, 4, scan_push);
  SB_COMPUTE_PIPELINE(&k->calls, &g->scan[2], scan_apply, 4, scan_push);
  SB_COMPUTE_PIPELINE(&k->calls, &g->scan[3], scan_alone, 4, scan_push);
  SB_COMPUTE_PIPELINE(&k->calls, &g->radix[0], radix_count, 4, radix_push);
  SB_COMPUTE_PIPELINE(&k->calls, &g->radix[1], radix_place, 4, radix_push);
}

void st_device_make_graph(chain *k, const uint32_t *record)
{
  st_device_graph *g = &k->s->graph;
  const uint64_t contacts = k->s->bind->contact_capacity;
  const uint32_t digits = RADIX_DIGITS * groups_of(2 * k->s->bind->contact_capacity, RADIX_TILE);
  const struct { uint32_t *handle; uint64_t words; } wanted[] = {
      {&g->counts, COUNTS},       {&g->flags, contacts},       {&g->begins, contacts},     {&g->found, 4 * contacts},     {&g->sides[0], 4 * contacts},
      {&g->sides[1], 4 * contacts}, {&g->next, 2 * contacts},  {&g->before, 2 * contacts}, {&g->pending, contacts},       {&g->front, 2 * contacts},
      {&g->used, k->s->records + 1u}, {&g->colors[0], 2 * contacts}, {&g->colors[1], 2 * contacts}, {&g->digits, digits},
      {&g->blocks, groups_of(digits > contacts ? digits : (uint32_t)contacts, SCAN_BLOCK) + 1u}};
  fill_records(k, record);
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) sb_compute_make_buffer(&k->calls, wanted[i].handle, 4 * wanted[i].words);
  make_pipelines(k);
}

/* A dispatch over whole buffers, and a barrier after it. */
static void record(chain *k, uint32_t graph, uint32_t pipeline, const uint32_t *buffers, uint32_t count, const void *push, uint32_t groups)
{
  sb_binding bindings[SB_COMPUTE_BINDINGS_MAX];
  for (uint32_t i = 0; i < count; i++) bindings[i] = sb_whole_buffer(buffers[i]);
  CALL(k, dispatch, graph, pipeline, bindings, push, groups);
  CALL(k, barrier, graph);
}

/* Exclusive sums of counts[count_at] values, `most` at most; all of those where count_at is NONE. */
static void record_scan(chain *k, uint32_t graph, uint32_t values, uint32_t before, uint32_t most, uint32_t count_at, uint32_t total_at)
{
  const st_device_graph *g = &k->s->graph;
  const uint32_t buffers[4] = {values, before, g->blocks, g->counts}, blocks = groups_of(most, SCAN_BLOCK);
  const scan_push push = {most, count_at, total_at};
  if (blocks <= 1) {
    record(k, graph, g->scan[3], buffers, 4, &push, 1);
    return;
  }
  record(k, graph, g->scan[0], buffers, 4, &push, blocks);
  record(k, graph, g->scan[1], buffers, 4, &push, 1);
  record(k, graph, g->scan[2], buffers, 4, &push, blocks);
}

/* Sorts `times` pairs for each manifold by their first word, which has so many bits; which of the two buffers has them then. */
static uint32_t record_sort(chain *k, uint32_t graph, const uint32_t pairs[2], uint32_t times, uint32_t bits)
{
  const st_device_graph *g = &k->s->graph;
  uint32_t most = times * k->s->bind->contact_capacity, tiles = groups_of(most, RADIX_TILE), at = 0;
  for (uint32_t shift = 0; shift < bits; shift += RADIX_BITS, at = 1 - at) {
    const uint32_t buffers[4] = {pairs[at], pairs[1 - at], g->digits, g->counts};
    const radix_push push = {N_MANIFOLDS, times, most, tiles, 0, shift};
    record(k, graph, g->radix[0], buffers, 4, &push, tiles);
    record_scan(k, graph, g->digits, g->digits, RADIX_DIGITS * tiles, NONE, NONE);
    record(k, graph, g->radix[1], buffers, 4, &push, tiles);
  }
  return pairs[at];
}

void st_device_record_graph(chain *k, uint32_t graph)
{
  const st_device *s = k->s;
  const st_device_graph *g = &s->graph;
  const uint32_t contacts = s->bind->contact_capacity;
  const graph_push push = {contacts, s->bind->model->world_count, s->records};
  uint32_t record_bits = 1;
  while (record_bits < 32 && s->records >> record_bits) record_bits++;
  record(k, graph, g->pass[BEGINS], (const uint32_t[]){g->counts, s->contacts, s->there->world_start, g->record_of, g->flags}, 5, &push, groups_of(contacts, LOCAL));
  record_scan(k, graph, g->flags, g->begins, contacts, N_CONTACTS, N_MANIFOLDS);
  record(k, graph, g->pass[FOUND],
         (const uint32_t[]){g->counts, s->contacts, s->there->world_start, g->record_of, g->begins, g->flags, g->found, g->sides[0]}, 8, &push, groups_of(contacts, LOCAL));
  uint32_t sides = record_sort(k, graph, g->sides, 2, record_bits);
  record(k, graph, g->pass[NEXT], (const uint32_t[]){g->counts, sides, g->next, g->before}, 4, &push, groups_of(2 * contacts, LOCAL));
  record(k, graph, g->pass[FRONT], (const uint32_t[]){g->counts, g->before, g->pending, g->front, g->used}, 5, &push,
         groups_of(contacts > s->records + 1 ? contacts : s->records + 1, LOCAL));
  record(k, graph, g->pass[COLORS], (const uint32_t[]){g->counts, g->found, g->next, g->pending, g->front, g->used, g->colors[0]}, 7, &push, 1);
  uint32_t colors = record_sort(k, graph, g->colors, 1, COLOR_BITS);
  record(k, graph, g->pass[STARTS], (const uint32_t[]){g->counts, colors, s->starts, s->groups}, 4, &push, 1);
  record(k, graph, g->pass[ORDER], (const uint32_t[]){g->counts, colors, g->found, s->manifolds}, 4, &push, groups_of(contacts, LOCAL));
}
