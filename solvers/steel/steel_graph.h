/* The contact graph of a tick: manifolds, their colours, and bundles of equal manifolds. Fixed order throughout. */
#ifndef SAMEBIT_STEEL_GRAPH_H
#define SAMEBIT_STEEL_GRAPH_H

#include "steel_data.h"

typedef struct st_graph {
  uint32_t lanes;
  uint32_t capacity;        /* manifolds */
  st_manifold *manifolds;
  uint32_t manifold_count;
  uint8_t *color;           /* of each manifold; ST_MAX_COLORS for the serial group */
  uint32_t *used_colors;    /* mask per record */
  uint32_t *order;
  st_bundle *bundles;       /* capacity + colours * points */
  uint32_t bundle_count;
  uint32_t color_bundle[ST_MAX_COLORS + 2]; /* first bundle of each colour; the last group is the serial one */
  uint64_t block_floats;    /* in use; never above st_block_floats(capacity, lanes) */
} st_graph;

/* Floats that the constraints of `contacts` contacts can take at most: every manifold and point once, and one partly used bundle for
 * each colour and number of points. */
uint64_t st_block_floats(uint64_t contacts, uint32_t lanes);

/* Contacts of one pair of shapes in a row become one manifold; those that touch nothing of this instance are left out. */
void st_graph_build(st_graph *graph, const sb_contacts *contacts, const uint32_t *record, const float *masses, uint32_t nobody);

#endif
