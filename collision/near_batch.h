/* What near pairs hand to their lane objects: trees of boxes with eight children each, what leaves speak for, and batches of pairs. C library only. */
#ifndef SAMEBIT_COLLISION_NEAR_BATCH_H
#define SAMEBIT_COLLISION_NEAR_BATCH_H

#include <stddef.h>
#include <stdint.h>

#define NEAR_CHILDREN 8u

/* Elements; eight, 64 and 512 of them. */
enum { NEAR_ELEMENTS, NEAR_LEAVES, NEAR_NODES, NEAR_BLOCKS, NEAR_LEVELS };

/* Boxes lie in eights: eight lo x, eight lo y, eight lo z, and so for hi. Component k of box i is at near_box_at(i) + 8 k. */
#define NEAR_BOX 6u /* components */
static inline size_t near_box_at(size_t i) { return NEAR_BOX * (i - i % NEAR_CHILDREN) + i % NEAR_CHILDREN; }

/* Boxes of one level of all trees. Children of entry i are the eight from 8 i of the level below. */
typedef struct near_level {
  float *box;    /* positions, m */
  float *speed;  /* velocities, m/s; NULL for elements */
  float *normal; /* unit normals; NULL for elements */
  float *radius; /* the largest, m; NULL for elements */
} near_level;

/* Particles or edges that the triangles of a leaf speak for, in eights; a leaf's last eight is filled up with the last one. */
typedef struct near_owned {
  uint32_t *start; /* by leaf, and one more: eights */
  uint8_t *count;  /* by leaf */
  uint32_t *of;    /* by place: particle or edge */
  float *box;      /* of edges; of particles: position (m) and velocity (m/s) in place of lo and hi */
} near_owned;

typedef struct near_tree {
  near_level level[NEAR_LEVELS];
  near_owned vertices, edges;
  float *row_x, *row_v; /* by particle, 4 each: position and radius (m); velocity (m/s) */
  uint32_t *element;    /* by slot: triangle or particle */
  float *normal;        /* by leaf: eight x, y and z of the triangles' unit normals */
  uint32_t *corner;     /* by leaf: eight first corners, second, third; what is not there repeats the last element */
  uint32_t *edge_end;   /* by eight of edges: eight first ends, eight second */
  uint32_t *strangers;  /* near_share says where: for each edge of a leaf, edges of another, neither at its ends nor its neighbours at rest */
} near_tree;

/* What is looked for among the children of an entry. */
typedef struct near_query {
  float box[NEAR_BOX], speed[NEAR_BOX]; /* m, m/s */
  float radius; /* m */
  float dt;     /* s */
} near_query;

/* Entry i of a level as a query; dt in s. */
static inline near_query near_query_of(const near_level *level, uint32_t i, float dt)
{
  near_query q;
  for (uint32_t k = 0; k < NEAR_BOX; k++) {
    q.box[k] = level->box[near_box_at(i) + NEAR_CHILDREN * k];
    q.speed[k] = level->speed[near_box_at(i) + NEAR_CHILDREN * k];
  }
  q.radius = level->radius[i];
  q.dt = dt;
  return q;
}

/* Two leaves within reach of each other; close: their edges may be, whose reach is shorter. */
typedef struct near_leaves {
  uint32_t a, b;
  uint32_t close;
  const uint32_t *strangers; /* for each edge of a, which edges of b may make a pair with it; NULL: all */
} near_leaves;

/* Leaves of two nodes that share particles: for each leaf of the one, which leaves of the other, and where the strangers of the first of these lie; those of the
 * next follow. */
typedef struct near_share {
  uint8_t with[NEAR_CHILDREN];
  uint32_t strangers[NEAR_CHILDREN];
} near_share;

/* Pairs of features: four particles each, of which kinds use the first two, or all. Places up to the next multiple of eight hold particles too. */
#define NEAR_BATCH 64u
typedef struct near_batch {
  uint32_t count;
  float dt;
  void (*full)(void *user, struct near_batch *b); /* called when `count` reaches NEAR_BATCH; sets it to 0 */
  void *user;
  uint32_t particle[4][NEAR_BATCH];
  uint32_t a[NEAR_BATCH], b[NEAR_BATCH]; /* features, for the caller */
  float thickness[NEAR_BATCH];           /* m: the larger radius of each side, added */
  float distance[NEAR_BATCH], side[NEAR_BATCH];
  float cut[NEAR_BATCH]; /* distance below which the pair counts; below 0 where it never does */
} near_batch;

typedef struct near_lanes {
  /* Which of the eight entries from `first` of the level come within reach of the query: bit k for entry first + k. */
  uint32_t (*meet)(const near_level *level, uint32_t first, const near_query *q);
  /* The same for elements against the element `slot`, with a given reach. */
  uint32_t (*meet_elements)(const near_level *level, uint32_t first, uint32_t slot, float reach);
  /* Whether nodes a and b of triangles are flat together. */
  int32_t (*flat)(const near_tree *t, uint32_t a, uint32_t b);
  /* Leaves of nodes a and b within reach of each other, each pair once; their number. share: NULL where no leaves share particles; those that do are passed over
   * where they are flat together. */
  uint32_t (*meet_nodes)(const near_tree *t, uint32_t a, uint32_t b, float dt, const near_share *share, near_leaves found[NEAR_CHILDREN * NEAR_CHILDREN]);
  /* Adds vertices and triangles, edges and edges of pairs of leaves of triangles that come within reach and share no particle. */
  void (*meet_leaves)(const near_tree *t, const near_leaves *pairs, uint32_t count, near_batch *faces, near_batch *edges);
  /* Boxes of `count` entries of a level from those of the level below. */
  void (*join)(const near_level *below, near_level *level, uint32_t first, uint32_t count);
  /* Boxes of a leaf, of its elements, of which `used` are there, and of what they speak for. points: the elements are particles. */
  void (*refit)(near_tree *t, uint32_t leaf, uint32_t used, int32_t points);
  void (*points)(const near_tree *t, near_batch *b);
  void (*faces)(const near_tree *t, near_batch *b);
  void (*edges)(const near_tree *t, near_batch *b);
} near_lanes;

extern const near_lanes collision_near_lanes1, collision_near_lanes4, collision_near_lanes8;

#endif
