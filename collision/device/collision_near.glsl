/* What the shaders of near pairs share: records as host/vulkan/device_near.c lays them out. collision/near_plan.h and near_batch.h say what leaves, nodes and blocks
 * are. */
#include "prelude.glsl"
#include "collision/near_pair.kernel.h"

#define NONE 0xffffffffu
#define EIGHT 8u  /* children */
#define SLOTS 64u /* of a node */

/* counts */
#define C_FOUND 0u
#define C_KEPT 1u
#define C_LOOSE 2u        /* slots of loose particles */
#define C_NODES 3u        /* pairs of nodes of this round, of triangles both */
#define C_LOOSE_NODES 4u  /* the others, from the end of the list on */

/* Of a leaf, node or block: boxes of positions, velocities and normals, largest radius; 20 words. Leaves come first, then nodes, then blocks. */
#define PIECE_WORDS 20u
#define PIECE_SPEED 6u
#define PIECE_NORMAL 12u
#define PIECE_RADIUS 18u
#define PIECE_PARTS 19u

/* Of a group */
#define GROUP_WORDS 6u
#define G_WORLD 0u
#define G_DEFORMABLE 1u /* NONE: loose particles */
#define G_FIRST 2u
#define G_ELEMENTS 3u
#define G_END 4u   /* after the last node of its world */
#define G_LOOSE 5u /* which of the groups of loose particles it is */

/* Of a deformable */
#define DEFORMABLE_WORDS 4u
#define D_CONTYPE 0u
#define D_CONAFFINITY 1u
#define D_SELF 2u
#define D_FRICTION 3u

/* Of a particle, fixed: radius, deformable, whether it moves, position at rest */
#define PARTICLE_WORDS 6u

/* Of two nodes that share particles: the higher node, near_share.with, near_share.strangers, the lower node */
#define TOUCH_WORDS 12u
#define T_WITH 1u
#define T_STRANGERS 3u
#define T_LOWER 11u
#define FLAT_NODES 16u /* of what is passed over: bits 2 i + j for halves i of the lower node and j of the higher one, and this */

/* Of a hit: the words of its key from the last one on, then what becomes of it */
#define HIT_WORDS 10u
#define H_KEY 0u
#define H_SIDE 3u
#define H_PARTICLES 6u

layout(push_constant) uniform Push {
  uint nodes;
  uint blocks;
  uint touches;
  uint row;  /* first node of this round */
  uint room; /* for pairs of nodes */
  uint edges; /* places */
  uint capacity;
  uint truncate;
  uint worlds;
  float dt;
  /* in plan */
  uint node_group;
  uint groups;
  uint deformables;
  uint touch_start;
  uint origins;   /* first particle, edge and triangle of each world */
  uint owned;     /* of each leaf: first vertex, vertices, first edge, edges */
  uint vertices;
  uint loose;     /* of each node of loose particles: group, node */
  uint loose_of;  /* of each of their slots: particle, in the order of indices */
  uint word;      /* of the key */
  uint sorted;    /* 0: the first word to be sorted by */
} push;
