/* The contact graph of a tick: manifolds, their colours, and bundles of equal manifolds. Fixed order throughout. */
#ifndef SAMEBIT_STEEL_GRAPH_H
#define SAMEBIT_STEEL_GRAPH_H

#include "steel_data.h"

#ifdef SAMEBIT_MUTANT_ARRIVAL_COLOURS
#define ST_FIND_CHUNK 16u /* so that a small scene has several tasks */
#else
#define ST_FIND_CHUNK 4096u /* contacts */
#endif

typedef struct st_graph {
  uint32_t lanes;
  st_manifold *manifolds;   /* those of chunk c, found[c] of them, from c * ST_FIND_CHUNK on */
  uint32_t *found;
  uint32_t chunk_count;
  uint8_t *color;           /* of each manifold; ST_MAX_COLORS for the serial group */
  uint32_t *used_colors;    /* mask per record */
  uint32_t *order;
  st_bundle *bundles;       /* capacity + colours * points */
  uint32_t bundle_count;
  uint32_t color_bundle[ST_MAX_COLORS + 2]; /* first bundle of each colour; the last group is the serial one */
#ifdef SAMEBIT_MUTANT_ARRIVAL_COLOURS
  uint32_t *arrival, arrival_count; /* chunks in order of completion */
#endif
  uint64_t block_floats;    /* in use; never above st_block_floats(capacity, lanes) */
} st_graph;

/* Floats that the constraints of `contacts` contacts can take at most: every manifold and point once, and one partly used bundle for
 * each colour and number of points. */
uint64_t st_block_floats(uint64_t contacts, uint32_t lanes);

/* Makes manifolds of the contacts first to end - 1, a chunk; they touch nothing that another chunk does. */
void st_graph_find(st_graph *graph, const st_tick *tick, uint32_t first, uint32_t end);
/* Colours what all chunks have found, and bundles it. */
void st_graph_build(st_graph *graph, uint32_t contact_count, uint32_t nobody);

#endif
