/* What the model fixes of near pairs, for a pipeline that runs elsewhere: groups, the order of elements, what leaves speak for, which pieces share
 * particles. near_state.h and near_batch.h say what the words mean. Everything belongs to the collision and lives as long. */
#ifndef SAMEBIT_COLLISION_NEAR_PLAN_H
#define SAMEBIT_COLLISION_NEAR_PLAN_H

#include "near_batch.h"

#define NEAR_NODE 64u /* slots */
#define NEAR_LOOSE UINT32_MAX

typedef struct near_group {
  uint32_t world;
  uint32_t deformable; /* of triangles; NEAR_LOOSE for particles */
  uint32_t first_node, nodes;
  uint32_t elements;
} near_group;

typedef struct sb_near_plan {
  uint32_t pair_capacity;
  uint32_t group_count, node_count, edge_count;
  uint32_t bits_a, bits_b; /* of features, counted in their world */
  const near_group *groups;
  const uint32_t *world_group_start;                 /* world_count + 1 */
  const uint32_t *world_edge_start, *world_tri_start; /* world_count + 1 */
  const uint32_t *node_group;
  const uint8_t *is_loose; /* by deformable: its particles are elements */
  const near_tree *tree;
  const uint32_t *touch_start, *touch; /* node_count + 1; of each node: itself, then those with a higher index that share a particle with it */
  const near_share *share;             /* by entry of touch */
} sb_near_plan;

#endif
