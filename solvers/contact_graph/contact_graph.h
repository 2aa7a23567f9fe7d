/* Manifolds of a tick's contacts and their colours on a device, from contacts that lie there: what solvers find on the CPU. Shared by solvers; buffers, pipelines and
 * the dispatches of contact_graph.comp, with the prefix sums and radix sorts between them. */
#ifndef SAMEBIT_CONTACT_GRAPH_H
#define SAMEBIT_CONTACT_GRAPH_H

#include "samebit/compute_tools.h"
#include "samebit/device_contacts.h"

/* What a solver makes of contacts. */
typedef struct contact_graph_rules {
  uint32_t max_colors; /* at most 32; a manifold beyond them goes to the serial group, in order */
  uint32_t max_points; /* of a manifold, whose points have one normal; 0: all contacts of a pair of shapes are one manifold */
  uint32_t words;      /* of a contact, for the last entry of `groups` */
} contact_graph_rules;

/* Handles of buffers and pipelines. Manifolds: by colour, four words each: records of both sides, first contact, points with CONTACT_GRAPH_MOVES_A and _B.
 * Starts: the first manifold of each colour, of the serial group, and their number; then the number of contacts. Groups: for indirect dispatches of 64 threads,
 * of each colour, of the serial group (1 or 0), of all manifolds, of `words` times the contacts. */
typedef struct contact_graph {
  contact_graph_rules rules;
  const sb_device_contacts *there;
  uint32_t capacity, worlds, records;
  uint32_t manifolds, starts, groups;
  uint32_t counts, record_of, flags, begins, found, sides[2], links, before, pending, front, colors[2], blocks, digits;
  uint32_t pass[7], scan[4], radix[2];
} contact_graph;

#define CONTACT_GRAPH_MOVES_A 0x01000000u
#define CONTACT_GRAPH_MOVES_B 0x02000000u

/* Words of `starts`, and entries of `groups`, three words each. */
#define CONTACT_GRAPH_STARTS(max_colors) ((max_colors) + 3u)
#define CONTACT_GRAPH_GROUPS(max_colors) ((max_colors) + 3u)

/* record_of: of each model body twice its record, and 1 where contacts move it; `records` stands for what has none. */
void contact_graph_make(contact_graph *graph, sb_compute_calls *calls, const sb_bind *bind, const sb_device_contacts *there, contact_graph_rules rules, uint32_t records,
                        const uint32_t *record_of);
/* Appends to `commands` what fills manifolds, starts and groups. */
void contact_graph_record(const contact_graph *graph, sb_compute_calls *calls, uint32_t commands);
/* Appends a stable sort of pairs by their first word, `largest` at most: as many as the first word of the buffer `count` says, and no more than `most`, which is the capacity of
 * contacts of particles. Which of the two buffers has them then. */
uint32_t contact_graph_record_sort(const contact_graph *graph, sb_compute_calls *calls, uint32_t commands, const uint32_t pairs[2], uint32_t count, uint32_t most, uint32_t largest);
/* Appends exclusive prefix sums of so many values, no more than the larger capacity of contacts and 1. */
void contact_graph_record_sums(const contact_graph *graph, sb_compute_calls *calls, uint32_t commands, uint32_t values, uint32_t before, uint32_t count);

#endif
