/* Buffers and pipelines at binding, dispatches at activation. */
#include "contact_graph.h"

#include "samebit/solver_tools.h"
#include "sort_push.h"

#include "contact_graph_begins_spv.h"
#include "contact_graph_found_spv.h"
#include "contact_graph_next_spv.h"
#include "contact_graph_front_spv.h"
#include "contact_graph_colors_spv.h"
#include "contact_graph_colors_small_spv.h"
#include "contact_graph_starts_spv.h"
#include "contact_graph_order_spv.h"
#include "scan_sum_spv.h"
#include "scan_spine_spv.h"
#include "scan_apply_spv.h"
#include "scan_alone_spv.h"
#include "radix_count_spv.h"
#include "radix_place_spv.h"

#define LOCAL 64u
#define COLOR_THREADS 512u /* of the workgroup that colours, where a device has so many */
/* Some drivers end a shader after 65,535 rounds of all its loops (lavapipe, Mesa 22.3), of which a round through the front takes three. So each dispatch that colours makes
 * no more than these, the next one goes on from there, and the last one goes to the end. */
#ifndef COLOR_ROUNDS
#define COLOR_ROUNDS 15000u
#endif
#define COLOR_DISPATCHES 16u
#define NONE UINT32_MAX

enum { BEGINS, FOUND, NEXT, FRONT, COLORS, STARTS, ORDER };
enum { N_CONTACTS, N_MANIFOLDS, N_FRONT, COUNTS };

typedef struct graph_push {
  uint32_t capacity, worlds, nobody, max_colors, max_points, words, rounds;
} graph_push;

static uint32_t groups_of(uint32_t count, uint32_t size) { return count / size + (count % size > 0); }

/* Bits of a number that is at most `most`. */
static uint32_t bits_of(uint32_t most)
{
  uint32_t bits = 1;
  while (bits < 32 && most >> bits) bits++;
  return bits;
}

static void make_pipelines(contact_graph *g, sb_compute_calls *calls)
{
  SB_COMPUTE_PIPELINE(calls, &g->pass[BEGINS], contact_graph_begins, 5, graph_push);
  SB_COMPUTE_PIPELINE(calls, &g->pass[FOUND], contact_graph_found, 8, graph_push);
  SB_COMPUTE_PIPELINE(calls, &g->pass[NEXT], contact_graph_next, 4, graph_push);
  SB_COMPUTE_PIPELINE(calls, &g->pass[FRONT], contact_graph_front, 4, graph_push);
  if (calls->compute->invocations_max >= COLOR_THREADS)
    SB_COMPUTE_PIPELINE(calls, &g->pass[COLORS], contact_graph_colors, 5, graph_push);
  else
    SB_COMPUTE_PIPELINE(calls, &g->pass[COLORS], contact_graph_colors_small, 5, graph_push);
  SB_COMPUTE_PIPELINE(calls, &g->pass[STARTS], contact_graph_starts, 4, graph_push);
  SB_COMPUTE_PIPELINE(calls, &g->pass[ORDER], contact_graph_order, 4, graph_push);
  SB_COMPUTE_PIPELINE(calls, &g->scan[0], scan_sum, 4, scan_push);
  SB_COMPUTE_PIPELINE(calls, &g->scan[1], scan_spine, 4, scan_push);
  SB_COMPUTE_PIPELINE(calls, &g->scan[2], scan_apply, 4, scan_push);
  SB_COMPUTE_PIPELINE(calls, &g->scan[3], scan_alone, 4, scan_push);
  SB_COMPUTE_PIPELINE(calls, &g->radix[0], radix_count, 4, radix_push);
  SB_COMPUTE_PIPELINE(calls, &g->radix[1], radix_place, 4, radix_push);
}

void contact_graph_make(contact_graph *g, sb_compute_calls *calls, const sb_bind *bind, const sb_device_contacts *there, contact_graph_rules rules, uint32_t records,
                        const uint32_t *record_of)
{
  const uint64_t contacts = bind->contact_capacity;
  const uint32_t sorted = 2 * bind->contact_capacity > there->particle_capacity ? 2 * bind->contact_capacity : there->particle_capacity;
  const uint32_t digits = RADIX_DIGITS * groups_of(sorted, RADIX_TILE);
  uint32_t summed = digits > bind->contact_capacity ? digits : bind->contact_capacity;
  if (summed < there->particle_capacity + 1) summed = there->particle_capacity + 1;
  const struct { uint32_t *handle; uint64_t words; } wanted[] = {
      {&g->counts, COUNTS},          {&g->flags, contacts},         {&g->begins, contacts},  {&g->found, 4 * contacts},  {&g->sides[0], 4 * contacts},
      {&g->sides[1], 4 * contacts},  {&g->links, 4 * contacts},     {&g->before, 2 * contacts}, {&g->pending, contacts}, {&g->front, 2 * contacts},
      {&g->colors[0], 2 * contacts}, {&g->colors[1], 2 * contacts}, {&g->digits, digits}, {&g->manifolds, 4 * contacts},
      {&g->starts, CONTACT_GRAPH_STARTS(rules.max_colors)}, {&g->groups, 3 * CONTACT_GRAPH_GROUPS(rules.max_colors)}, {&g->blocks, groups_of(summed, SCAN_BLOCK) + 1u}};
  g->rules = rules;
  g->there = there;
  g->capacity = bind->contact_capacity;
  g->worlds = bind->model->world_count;
  g->records = records;
  sb_compute_fill_buffer(calls, &g->record_of, record_of, sizeof *record_of * (uint64_t)bind->model->body_count);
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) sb_compute_make_buffer(calls, wanted[i].handle, 4 * wanted[i].words);
  make_pipelines(g, calls);
}

/* A dispatch over whole buffers, and a barrier after it. */
static void record(sb_compute_calls *calls, uint32_t commands, uint32_t pipeline, const uint32_t *buffers, uint32_t count, const void *push, uint32_t groups)
{
  sb_binding bindings[SB_COMPUTE_BINDINGS_MAX];
  for (uint32_t i = 0; i < count; i++) bindings[i] = sb_whole_buffer(buffers[i]);
  SB_COMPUTE_CALL(calls, dispatch, commands, pipeline, bindings, push, groups);
  SB_COMPUTE_CALL(calls, barrier, commands);
}

/* Exclusive sums of counts[count_at] values, `most` at most; all of those where count_at is NONE. */
static void record_scan(const contact_graph *g, sb_compute_calls *calls, uint32_t commands, uint32_t values, uint32_t before, uint32_t most, uint32_t count_at, uint32_t total_at)
{
  const uint32_t buffers[4] = {values, before, g->blocks, g->counts}, blocks = groups_of(most, SCAN_BLOCK);
  const scan_push push = {most, count_at, total_at};
  if (blocks <= 1) {
    record(calls, commands, g->scan[3], buffers, 4, &push, 1);
    return;
  }
  record(calls, commands, g->scan[0], buffers, 4, &push, blocks);
  record(calls, commands, g->scan[1], buffers, 4, &push, 1);
  record(calls, commands, g->scan[2], buffers, 4, &push, blocks);
}

void contact_graph_record_sums(const contact_graph *g, sb_compute_calls *calls, uint32_t commands, uint32_t values, uint32_t before, uint32_t count)
{
  record_scan(g, calls, commands, values, before, count, NONE, NONE);
}

/* Sorts `times` pairs for each of counts[count_at] by their first word, which has so many bits; which of the two buffers has them then. */
static uint32_t record_sort(const contact_graph *g, sb_compute_calls *calls, uint32_t commands, const uint32_t pairs[2], uint32_t counts, uint32_t count_at, uint32_t times, uint32_t most,
                            uint32_t bits)
{
  uint32_t tiles = groups_of(most, RADIX_TILE), at = 0;
  for (uint32_t shift = 0; shift < bits; shift += RADIX_BITS, at = 1 - at) {
    const uint32_t buffers[4] = {pairs[at], pairs[1 - at], g->digits, counts};
    const radix_push push = {count_at, times, most, tiles, 0, shift};
    record(calls, commands, g->radix[0], buffers, 4, &push, tiles);
    record_scan(g, calls, commands, g->digits, g->digits, RADIX_DIGITS * tiles, NONE, NONE);
    record(calls, commands, g->radix[1], buffers, 4, &push, tiles);
  }
  return pairs[at];
}

uint32_t contact_graph_record_sort(const contact_graph *g, sb_compute_calls *calls, uint32_t commands, const uint32_t pairs[2], uint32_t count, uint32_t most, uint32_t largest)
{
  return record_sort(g, calls, commands, pairs, count, 0, 1, most, bits_of(largest));
}

void contact_graph_record(const contact_graph *g, sb_compute_calls *calls, uint32_t commands)
{
  const uint32_t contacts = g->capacity, given = g->there->contacts, worlds = g->there->world_start;
  graph_push push = {contacts, g->worlds, g->records, g->rules.max_colors, g->rules.max_points, g->rules.words, COLOR_ROUNDS};
  record(calls, commands, g->pass[BEGINS], (const uint32_t[]){g->counts, given, worlds, g->record_of, g->flags}, 5, &push, groups_of(contacts, LOCAL));
  record_scan(g, calls, commands, g->flags, g->begins, contacts, N_CONTACTS, N_MANIFOLDS);
  record(calls, commands, g->pass[FOUND], (const uint32_t[]){g->counts, given, worlds, g->record_of, g->begins, g->flags, g->found, g->sides[0]}, 8, &push,
         groups_of(contacts, LOCAL));
  uint32_t sides = record_sort(g, calls, commands, g->sides, g->counts, N_MANIFOLDS, 2, 2 * contacts, bits_of(g->records));
  record(calls, commands, g->pass[NEXT], (const uint32_t[]){g->counts, sides, g->links, g->before}, 4, &push, groups_of(2 * contacts, LOCAL));
  record(calls, commands, g->pass[FRONT], (const uint32_t[]){g->counts, g->before, g->pending, g->front}, 4, &push, groups_of(contacts, LOCAL));
  uint32_t dispatches = 1 + contacts / COLOR_ROUNDS;
  if (dispatches > COLOR_DISPATCHES) dispatches = COLOR_DISPATCHES;
  for (uint32_t i = 0; i < dispatches; i++) {
    if (i + 1 == dispatches) push.rounds = NONE;
    record(calls, commands, g->pass[COLORS], (const uint32_t[]){g->counts, g->links, g->pending, g->front, g->colors[0]}, 5, &push, 1);
  }
  uint32_t colors = record_sort(g, calls, commands, g->colors, g->counts, N_MANIFOLDS, 1, contacts, bits_of(g->rules.max_colors));
  record(calls, commands, g->pass[STARTS], (const uint32_t[]){g->counts, colors, g->starts, g->groups}, 4, &push, 1);
  record(calls, commands, g->pass[ORDER], (const uint32_t[]){g->counts, colors, g->found, g->manifolds}, 4, &push, groups_of(contacts, LOCAL));
}
