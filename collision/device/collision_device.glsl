/* What the pipeline's shaders share: records as host/vulkan/device_collision.c lays them out. */
#include "prelude.glsl"
#include "samebit/device_contacts.h"

/* Of a shape, fixed: 29 words. */
#define SHAPE_WORDS 29u
#define S_TYPE 0u
#define S_BODY 1u
#define S_WORLD 2u
#define S_FIXED 3u
#define S_CONTYPE 4u
#define S_CONAFFINITY 5u
#define S_WELD 6u
#define S_WELD_PARENT 7u
#define S_CONDIM 8u
#define S_MARGIN 9u
#define S_RESTITUTION 10u
#define S_FIRST 11u /* first shape of its world */
#define S_FRICTION 12u
#define S_SIZE 15u
#define S_X 18u
#define S_COM 25u
#define S_GRID 28u /* heightfield: its record in grids */

/* Of a shape, each tick: 12 words. */
#define POSE_WORDS 12u
#define P_X 0u
#define P_MOVE 7u
#define P_SWING 10u
#define P_BUCKET 11u

/* Of a shape that is no plane, where its cell's are in a row: 12 words. */
#define ENTRY_WORDS 12u
#define E_LO 0u
#define E_HI 3u
#define E_CELL 6u
#define E_LEVEL 9u
#define E_WORLD 10u
#define E_SHAPE 11u

/* counts */
#define C_PAIRS_FOUND 0u
#define C_PAIRS 1u
#define C_CONTACTS_FOUND 2u
#define C_CONTACTS 3u
#define C_DEEPEST 4u /* bits of a float that is not below 0 */
#define C_LEVELS 5u  /* a bit for each level in use */

#define C_TRIANGLES_FOUND 8u
#define C_TRIANGLES 9u
#define C_CROWDED 10u /* not 0: something came near more of a heightfield than is looked at */

/* Of a pair: normal, then of each of four points on a, on b, gap, feature. */
#define MANIFOLD_WORDS 36u
#define M_POINT 3u
#define M_POINT_WORDS 8u

/* Of a triangle that a pair meets: what one step of collision_surface.comp hands to the next, then four points; after those steps the contacts of the
 * pair, from its first triangle on. */
#define TRIANGLE_WORDS 48u
#define T_POINT_WORDS 12u
#define T_ON_A 3u
#define T_ON_B 6u
#define T_GAP 9u
#define T_FEATURE 10u
#define T_COUNT 11u /* of the first point: how many there are */

/* Cells of a heightfield that a thread looks at: lavapipe ends all its loops after 65,535 rounds. */
#define CELLS_MAX 16384u
#define TRIANGLES_OF_ROUND 96u

#define PLANE 0u
#define HFIELD 8u

layout(push_constant) uniform Push {
  uint shapes;
  uint worlds;
  uint mask; /* buckets - 1 */
  uint pair_capacity;
  uint contact_capacity;
  uint truncate;
  float speculative; /* m */
  float dt;
  /* in tables: first shape of each world; first plane of each world, planes; first excluded body by the lower body + 1, higher bodies */
  uint world_shapes;
  uint plane_start;
  uint planes;
  uint exclude_start; /* 0 where there are none */
  uint excludes;
  uint nothing; /* 0, which compilers do not know */
  uint particles;
  uint particle_capacity; /* contacts */
  uint held; /* attachments */
  uint triangle_capacity;
  uint triangles_of_pair; /* at most */
  uint threads; /* of a dispatch of those steps that need room */
  uint begin;   /* its first triangle or pair */
  uint round;   /* where it takes a pair's triangles some at a time: which these are */
} push;
