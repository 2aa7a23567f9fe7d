/* The narrow-phase kernels over batches; compiled once for each lane width. Knows the kernels and narrow_batch.h. */
#include "narrow_batch.h"
#include "narrow_box.kernel.h"
#include "narrow_box_box.kernel.h"

#if SB_LANES == 8
#define COLLISION_NARROW_LANES collision_narrow_lanes8
#elif SB_LANES == 4
#define COLLISION_NARROW_LANES collision_narrow_lanes4
#else
#define COLLISION_NARROW_LANES collision_narrow_lanes1
#endif

static inline V3 load_v3(float (*v)[NARROW_BATCH], uint32_t i)
{
  return v3(f_load(&v[0][i]), f_load(&v[1][i]), f_load(&v[2][i]));
}

static inline X7 load_x7(float (*v)[NARROW_BATCH], uint32_t i)
{
  return x7(load_v3(v, i), q4(f_load(&v[3][i]), f_load(&v[4][i]), f_load(&v[5][i]), f_load(&v[6][i])));
}

static inline void store_v3(float (*v)[NARROW_BATCH], uint32_t i, V3 x)
{
  f_store(&v[0][i], x.x);
  f_store(&v[1][i], x.y);
  f_store(&v[2][i], x.z);
}

static inline void store_manifold(narrow_batch *b, uint32_t i, V3 normal, Manifold m)
{
  store_v3(b->normal, i, normal);
  X7 xa = load_x7(b->frame_a, i);
  X7 xb = load_x7(b->frame_b, i);
  store_v3(b->point_a, i, x7_point(xa, m.a0));
  store_v3(b->point_a + 3, i, x7_point(xa, m.a1));
  store_v3(b->point_a + 6, i, x7_point(xa, m.a2));
  store_v3(b->point_a + 9, i, x7_point(xa, m.a3));
  store_v3(b->point_b, i, x7_point(xb, m.b0));
  store_v3(b->point_b + 3, i, x7_point(xb, m.b1));
  store_v3(b->point_b + 6, i, x7_point(xb, m.b2));
  store_v3(b->point_b + 9, i, x7_point(xb, m.b3));
  f_store(&b->gap[0][i], m.g0);
  f_store(&b->gap[1][i], m.g1);
  f_store(&b->gap[2][i], m.g2);
  f_store(&b->gap[3][i], m.g3);
  memcpy(&b->feature[0][i], &m.f0, sizeof m.f0);
  memcpy(&b->feature[1][i], &m.f1, sizeof m.f1);
  memcpy(&b->feature[2][i], &m.f2, sizeof m.f2);
  memcpy(&b->feature[3][i], &m.f3, sizeof m.f3);
}

#define RUN(normal, call)                                                                                              \
  for (uint32_t i = 0; i < count; i += SB_LANES) {                                                                     \
    X7 xa = load_x7(b->pose_a, i);                                                                                     \
    X7 rel = narrow_relative(xa, load_x7(b->pose_b, i));                                                               \
    V3 size_b = load_v3(b->size_b, i);                                                                                 \
    Manifold m = call;                                                                                                 \
    store_manifold(b, i, normal, m);                                                                                   \
  }                                                                                                                    \
  break
#define PLANE_NORMAL narrow_axis_z(xa.q)
#define TURNED_NORMAL q4_rotate(xa.q, m.n)
#define SIZE_A load_v3(b->size_a, i)

void COLLISION_NARROW_LANES(narrow_batch *b, narrow_type type, uint32_t count)
{
  switch (type) {
  case NARROW_PLANE_SPHERE:
    RUN(PLANE_NORMAL, narrow_plane_sphere(size_b, rel));
  case NARROW_PLANE_CAPSULE:
    RUN(PLANE_NORMAL, narrow_plane_capsule(size_b, rel));
  case NARROW_PLANE_BOX:
    RUN(PLANE_NORMAL, narrow_plane_box(size_b, rel));
  case NARROW_SPHERE_SPHERE:
    RUN(TURNED_NORMAL, narrow_sphere_sphere(SIZE_A, size_b, rel));
  case NARROW_SPHERE_CAPSULE:
    RUN(TURNED_NORMAL, narrow_sphere_capsule(SIZE_A, size_b, rel));
  case NARROW_SPHERE_BOX:
    RUN(TURNED_NORMAL, narrow_sphere_box(SIZE_A, size_b, rel));
  case NARROW_CAPSULE_CAPSULE:
    RUN(TURNED_NORMAL, narrow_capsule_capsule(SIZE_A, size_b, rel));
  case NARROW_CAPSULE_BOX:
    RUN(TURNED_NORMAL, narrow_capsule_box(SIZE_A, size_b, rel));
  case NARROW_BOX_BOX:
    RUN(TURNED_NORMAL, narrow_box_box(SIZE_A, size_b, rel, f_load(&b->limit[i])));
  case NARROW_CONVEX:
  case NARROW_SURFACE:
  case NARROW_TYPES:
    break;
  }
}
