/* Particles against one shape, over lanes; compiled once for each lane width. Knows the kernels and particle_batch.h. */
#include "particle_batch.h"
#include "particle_shape.kernel.h"

#include "samebit/model.h"

#if SB_LANES == 8
#define COLLISION_PARTICLES_LANES collision_particles_lanes8
#elif SB_LANES == 4
#define COLLISION_PARTICLES_LANES collision_particles_lanes4
#else
#define COLLISION_PARTICLES_LANES collision_particles_lanes1
#endif

static inline V3 load_v3(float (*v)[PARTICLE_BLOCK], uint32_t i) { return v3(f_load(&v[0][i]), f_load(&v[1][i]), f_load(&v[2][i])); }

static inline void store_v3(float (*v)[PARTICLE_BLOCK], uint32_t i, V3 x)
{
  f_store(&v[0][i], x.x);
  f_store(&v[1][i], x.y);
  f_store(&v[2][i], x.z);
}

static inline V3 splat_v3(const float *p) { return v3(K(p[0]), K(p[1]), K(p[2])); }

static inline F reach_of(particle_batch *b, uint32_t i)
{
  return particle_reach(load_v3(b->move, i), splat_v3(b->step), f_load(&b->allowed[i]) + b->extra);
}

#define RUN(call)                                                                                                      \
  for (uint32_t i = 0; i < count; i += SB_LANES) {                                                                     \
    V3 x = x7_point_inv(pose, load_v3(b->x, i));                                                                       \
    ParticleHit h = call;                                                                                              \
    store_v3(b->local, i, x);                                                                                          \
    store_v3(b->normal, i, h.n);                                                                                       \
    store_v3(b->point, i, h.point);                                                                                    \
    f_store(&b->distance[i], h.distance);                                                                              \
    f_store(&b->within[i], reach_of(b, i) - h.distance);                                                               \
  }                                                                                                                    \
  break

void COLLISION_PARTICLES_LANES(particle_batch *b, uint32_t count)
{
  const X7 pose = x7(splat_v3(b->pose), q4(K(b->pose[3]), K(b->pose[4]), K(b->pose[5]), K(b->pose[6])));
  const V3 size = splat_v3(b->size);
  switch (b->type) {
  case SB_SHAPE_PLANE:
    RUN(particle_plane(x));
  case SB_SHAPE_SPHERE:
    RUN(particle_sphere(x, size));
  case SB_SHAPE_CAPSULE:
    RUN(particle_capsule(x, size));
  case SB_SHAPE_BOX:
    RUN(particle_box(x, size));
  case SB_SHAPE_CYLINDER:
    RUN(particle_cylinder(x, size));
  case SB_SHAPE_ELLIPSOID:
    RUN(particle_ellipsoid(x, size));
  default:
    for (uint32_t i = 0; i < count; i += SB_LANES) {
      store_v3(b->local, i, x7_point_inv(pose, load_v3(b->x, i)));
      f_store(&b->within[i], reach_of(b, i));
    }
  }
}
