/* Contacts of particles: what the collision pipeline hands to solvers, once a tick, in canonical order.
 *
 * Against shapes: sorted by (particle, shape), so those of particle p are particle_start[p] to particle_start[p + 1]. The point stays fixed
 * in the shape's body during the tick, and so does the normal; the gap follows as
 *   gap = dot(n, x_particle - X(body) * point) - particle_radius, n = the normal turned by the body.
 * A shape gives a particle one contact, but meshes and heightfields up to SB_PARTICLE_MAX_FACES, the nearest faces.
 *
 * Among particles (near pairs): sorted by world, kind and features (particles in their order, triangles and edges as the model has them; an edge
 * is a side of a triangle, its lower particle first). The full thickness is the sum of the largest radius on either side, or within one deformable
 * the distance at rest where that is less. A pair is made where the distance of the two features is below 1.5 times that, points and faces also
 * within the way by which they may close in the tick (the largest speed at which a particle of one closes in on one of the other along the line
 * between the nearest points, times dt). thickness is the full one, but at most the distance now and a tenth of it: what has come too near
 * is pushed apart over several ticks. A face pair needs the vertex over the triangle, an edge pair the edges to cross, or nearly (by 2 % of
 * their size and what they may slide, 25 % at most): beside, another pair does it. No pair is made of features that share a particle or are all
 * pinned, of edges within 10 degrees of parallel or whose common normal turns away in the tick, of edges of one deformable that are nearer at
 * rest than 1.1 times their length, and of flat pieces of one surface with themselves. side tells on which side the features are and must stay:
 *   POINTS    particles 0 and 1; side is 1
 *   FACE      vertex 0 against the triangle 1, 2, 3; side is 1 when it lies where the triangle's normal (x2 - x1) x (x3 - x1) points, else -1
 *   EDGES     edge 0, 1 against edge 2, 3; side is the sign of dot((x1 - x0) x (x3 - x2), closest point of 2, 3 minus that of 0, 1) */
#ifndef SAMEBIT_PARTICLE_CONTACT_H
#define SAMEBIT_PARTICLE_CONTACT_H

#include "samebit/fp_guard.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SB_PARTICLE_MAX_FACES 3u

/* X(ctype, name, components, unit and meaning) */
#define SB_PARTICLE_CONTACT_ARRAYS(X)                                                                                  \
  X(int32_t, particle, 1, "particle")                                                                                  \
  X(int32_t, shape, 1, "shape")                                                                                        \
  X(int32_t, body, 1, "body of the shape; -1 when static or the world's own")                                          \
  X(float, point, 3, "m, on the surface of the shape; body's frame (world frame when body is -1)")                     \
  X(float, normal, 3, "unit, from the shape to the particle; body's frame (world frame when body is -1)")              \
  X(float, gap, 1, "m at the start of the tick, below 0 when penetrating")                                             \
  X(float, friction, 1, "combined coefficient of sliding friction")                                                    \
  X(float, restitution, 1, "combined coefficient of restitution")

typedef struct sb_particle_contacts {
  uint32_t struct_size;
  uint32_t count;
  uint32_t capacity;
  uint32_t reserved;
#define SB_X_CONTACT(type, name, comps, doc) const type *name;
  SB_PARTICLE_CONTACT_ARRAYS(SB_X_CONTACT)
#undef SB_X_CONTACT
  const uint32_t *particle_start; /* particle_count + 1 */
} sb_particle_contacts;

/* near_kind */
#define SB_NEAR_POINTS 0u
#define SB_NEAR_FACE 1u
#define SB_NEAR_EDGES 2u

#define SB_NEAR_PAIR_ARRAYS(X)                                                                                         \
  X(uint32_t, kind, 1, "SB_NEAR_*")                                                                                    \
  X(int32_t, particles, 4, "its particles, as the kind says; -1 where there is none")                                  \
  X(float, side, 1, "1 or -1")                                                                                         \
  X(float, thickness, 1, "m, least distance of the two features")                                                      \
  X(float, friction, 1, "combined coefficient of sliding friction")

typedef struct sb_near_pairs {
  uint32_t struct_size;
  uint32_t count;
  uint32_t capacity;
  uint32_t reserved;
#define SB_X_NEAR(type, name, comps, doc) const type *name;
  SB_NEAR_PAIR_ARRAYS(SB_X_NEAR)
#undef SB_X_NEAR
  const uint32_t *world_start; /* first of each world, world_count + 1 */
} sb_near_pairs;

#ifdef __cplusplus
}
#endif

#endif
