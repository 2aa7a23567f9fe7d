/* What near pairs hand to their lane objects: trees of boxes with eight children each, and batches of pairs. C library only. */
#ifndef SAMEBIT_COLLISION_NEAR_BATCH_H
#define SAMEBIT_COLLISION_NEAR_BATCH_H

#include <stdint.h>

#define NEAR_CHILDREN 8u
#define NEAR_BATCH 64u

/* Boxes of one level of all trees, by component: lo x y z, hi x y z. Children of entry i are the eight from 8 i of the level below. */
typedef struct near_level {
  float *box[6];    /* positions, m */
  float *speed[6];  /* velocities, m/s; NULL for elements */
  float *normal[6]; /* unit normals; NULL for elements */
  float *radius;    /* the largest, m; NULL for elements */
} near_level;

/* What is looked for among the children of an entry. */
typedef struct near_query {
  float box[6], speed[6];
  float radius;
  float dt;
} near_query;

/* Pairs of features, by component: four particles each, of which kinds use the first two, or all. */
typedef struct near_batch {
  uint32_t count;
  float x[12][NEAR_BATCH], v[12][NEAR_BATCH];
  float thickness[NEAR_BATCH];
  float dt;
  float distance[NEAR_BATCH], side[NEAR_BATCH], cut[NEAR_BATCH]; /* cut: distance below which the pair counts; below 0 where it never does */
  uint32_t a[NEAR_BATCH], b[NEAR_BATCH];                         /* features, for the caller */
} near_batch;

typedef struct near_lanes {
  /* Which of the eight entries from `first` of the level come within reach of the query: bit k for entry first + k. */
  uint32_t (*meet)(const near_level *level, uint32_t first, const near_query *q);
  /* The same for elements, whose reach is given. */
  uint32_t (*meet_elements)(const near_level *level, uint32_t first, const float box[6], float reach);
  /* Boxes of `count` entries of a level from those of the level below. */
  void (*join)(const near_level *below, near_level *level, uint32_t first, uint32_t count);
  /* Boxes of eight elements, and of the entry that holds them, from their corners: positions and velocities by component (corner, then
   * axis), element by element. `used` elements are there. */
  void (*refit)(near_level *elements, near_level *leaves, uint32_t leaf, const float (*x)[NEAR_CHILDREN], const float (*v)[NEAR_CHILDREN],
                const float *radius, uint32_t used, int32_t points);
  void (*points)(near_batch *b);
  void (*faces)(near_batch *b);
  void (*edges)(near_batch *b);
} near_lanes;

extern const near_lanes collision_near_lanes1, collision_near_lanes4, collision_near_lanes8;

#endif
