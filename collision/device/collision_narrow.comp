/* The narrow phase, a pair a thread. KIND: the pair type of narrow_batch.h; pairs of others are left alone. Points in the order of their features,
 * those below the pair's limit. */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "collision_device.glsl"
#include "collision/narrow_box.kernel.h"
#if KIND == 8
#include "collision/narrow_box_box.kernel.h"
#endif

layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Shapes { uint shapes[]; };
layout(std430, binding = 1) readonly buffer Poses { float poses[]; };
layout(std430, binding = 2) readonly buffer Counts { uint counts[]; };
layout(std430, binding = 3) readonly buffer Pairs { uvec2 pairs[]; };
layout(std430, binding = 4) buffer Manifolds { float manifolds[]; };
layout(std430, binding = 5) buffer Found { uint pair_contacts[]; };

/* Types of shape a and b, the lower first. */
#if KIND < 3
#define TYPE_A 0u
#define TYPE_B uint(KIND + 1)
#elif KIND < 6
#define TYPE_A 1u
#define TYPE_B uint(KIND - 2)
#elif KIND < 8
#define TYPE_A 2u
#define TYPE_B uint(KIND - 4)
#else
#define TYPE_A 3u
#define TYPE_B 3u
#endif

#include "collision_pair.glsl"

Manifold meet(V3 a, V3 b, X7 rel, float limit)
{
#if KIND == 0
  return narrow_plane_sphere(b, rel);
#elif KIND == 1
  return narrow_plane_capsule(b, rel);
#elif KIND == 2
  return narrow_plane_box(b, rel);
#elif KIND == 3
  return narrow_sphere_sphere(a, b, rel);
#elif KIND == 4
  return narrow_sphere_capsule(a, b, rel);
#elif KIND == 5
  return narrow_sphere_box(a, b, rel);
#elif KIND == 6
  return narrow_capsule_capsule(a, b, rel);
#elif KIND == 7
  return narrow_capsule_box(a, b, rel);
#else
  return narrow_box_box(a, b, rel, limit);
#endif
}

void put_v3(uint at, V3 v)
{
  manifolds[at] = v.x;
  manifolds[at + 1u] = v.y;
  manifolds[at + 2u] = v.z;
}

/* Writes point k where its feature's rank among those that count says; 1 where it counts. */
uint put_point(uint base, bool swapped, uint rank, V3 on_a, V3 on_b, float gap, uint feature, float limit)
{
  if (!(gap < limit)) return 0u;
  uint at = base + M_POINT + M_POINT_WORDS * rank;
  put_v3(at, v3_sel(swapped, on_b, on_a));
  put_v3(at + 3u, v3_sel(swapped, on_a, on_b));
  manifolds[at + 6u] = gap;
  manifolds[at + 7u] = uintBitsToFloat(feature);
  return 1u;
}

void main()
{
  uint i = gl_GlobalInvocationID.x;
  if (i >= counts[C_PAIRS]) return;
  uvec2 pair = pairs[i];
  uint type_x = shapes[SHAPE_WORDS * pair.x + S_TYPE];
  uint type_y = shapes[SHAPE_WORDS * pair.y + S_TYPE];
  bool swapped = type_x > type_y;
  if (min(type_x, type_y) != TYPE_A || max(type_x, type_y) != TYPE_B) return;
  uint a = swapped ? pair.y : pair.x;
  uint b = swapped ? pair.x : pair.y;
  float limit = pair_limit(pair.x, pair.y);
  X7 at_a = pose_x7(a);
  Manifold m = meet(shape_v3(a, S_SIZE), shape_v3(b, S_SIZE), narrow_relative(at_a, pose_x7(b)), limit);
#if KIND < 3
  V3 n = narrow_axis_z(at_a.q);
#else
  V3 n = q4_rotate(at_a.q, hide(m.n));
#endif
  X7 fa = frame_of(a);
  X7 fb = frame_of(b);
  bool c0 = m.g0 < limit;
  bool c1 = m.g1 < limit;
  bool c2 = m.g2 < limit;
  bool c3 = m.g3 < limit;
  /* features differ within a manifold */
  uint r0 = uint(c1 && m.f1 < m.f0) + uint(c2 && m.f2 < m.f0) + uint(c3 && m.f3 < m.f0);
  uint r1 = uint(c0 && m.f0 < m.f1) + uint(c2 && m.f2 < m.f1) + uint(c3 && m.f3 < m.f1);
  uint r2 = uint(c0 && m.f0 < m.f2) + uint(c1 && m.f1 < m.f2) + uint(c3 && m.f3 < m.f2);
  uint r3 = uint(c0 && m.f0 < m.f3) + uint(c1 && m.f1 < m.f3) + uint(c2 && m.f2 < m.f3);
  uint base = MANIFOLD_WORDS * i;
  put_v3(base, v3_sel(swapped, v3_neg(n), n));
  uint count = put_point(base, swapped, r0, x7_point(fa, hide(m.a0)), x7_point(fb, hide(m.b0)), m.g0, m.f0, limit);
  count += put_point(base, swapped, r1, x7_point(fa, hide(m.a1)), x7_point(fb, hide(m.b1)), m.g1, m.f1, limit);
  count += put_point(base, swapped, r2, x7_point(fa, hide(m.a2)), x7_point(fb, hide(m.b2)), m.g2, m.f2, limit);
  count += put_point(base, swapped, r3, x7_point(fa, hide(m.a3)), x7_point(fb, hide(m.b3)), m.g3, m.f3, limit);
  pair_contacts[i] = count;
}
