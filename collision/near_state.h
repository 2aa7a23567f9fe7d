/* The part of the pipeline's state that belongs to near pairs. Private to collision/; collision_state.h includes it.
 *
 * Elements are triangles, or the particles of deformables that have none. They lie in slots, sorted along a curve
 * through space, so that eight, 64 and 512 consecutive slots are close together: a leaf, a node and a block. A group is
 * a deformable's triangles, whose order is that of the model's rest for good, or all loose particles of a world, sorted
 * anew in each step. */
#ifndef SAMEBIT_COLLISION_NEAR_STATE_H
#define SAMEBIT_COLLISION_NEAR_STATE_H

#include "key_sort.h"
#include "near_plan.h"

#include "samebit/particle_contact.h"

/* A pair as it is found: kind and its two features. */
typedef struct near_hit {
  uint32_t kind, a, b, world;
  float side, thickness;
} near_hit;

typedef struct collision_near {
  const near_lanes *lanes;
  near_group *groups; /* by world */
  uint32_t group_count;
  uint32_t *world_group_start; /* world_count + 1 */
  uint32_t node_count;
  uint32_t *node_group;
  uint8_t *is_loose; /* by deformable: its particles are elements */
  near_tree tree;
  uint32_t *touch_start; /* node_count + 1, into touch */
  uint32_t *touch;       /* of each node: itself, then those with a higher index that share a particle with it */
  near_share *share;     /* by entry of touch */
  int32_t *edge;         /* 2 particles, the lower first; sorted */
  uint32_t edge_count;
  uint32_t *world_edge_start, *world_tri_start; /* world_count + 1 */
  uint32_t bits_a, bits_b;                      /* of the sort key */
  key_item *items, *scratch;                    /* of hits, or of loose particles */
  near_hit *hits;                               /* of this step, as they came */
  uint32_t hit_count;
#define SB_X_NEAR(type, name, comps, doc) type *of_##name;
  SB_NEAR_PAIR_ARRAYS(SB_X_NEAR)
#undef SB_X_NEAR
  uint32_t *world_start;
  sb_near_pairs pairs;
} collision_near;

#endif
