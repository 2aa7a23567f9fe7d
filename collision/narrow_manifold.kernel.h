/* What a narrow-phase kernel takes and gives, in the kernel dialect. Knows samebit/maths.h alone.
 *
 * Every kernel works in the frame of shape a: rel is the pose of shape b there. The normal and the points on a are in
 * a's frame, the points on b in b's frame, so that no accuracy is lost far from the world's origin.
 * A point that does not exist has the gap NARROW_NO_POINT. Feature ids are 16 bits and differ between the points of one
 * manifold.
 *
 * Vectors along an axis are multiplied out by hand: devices differ in whether they fold a constant 0. */
#ifndef SAMEBIT_COLLISION_NARROW_MANIFOLD_KERNEL_H
#define SAMEBIT_COLLISION_NARROW_MANIFOLD_KERNEL_H

#include "samebit/maths.h"

#define NARROW_NO_POINT 3.0e38f

STRUCT(Manifold)
{
  V3 n; /* unit, from a to b */
  V3 a0; V3 a1; V3 a2; V3 a3;
  V3 b0; V3 b1; V3 b2; V3 b3;
  F g0; F g1; F g2; F g3;
  U f0; U f1; U f2; U f3;
};

FN Manifold manifold_empty(void)
{
  Manifold m;
  m.n = v3(K(0.0f), K(0.0f), K(1.0f));
  m.a0 = v3_zero(); m.a1 = v3_zero(); m.a2 = v3_zero(); m.a3 = v3_zero();
  m.b0 = v3_zero(); m.b1 = v3_zero(); m.b2 = v3_zero(); m.b3 = v3_zero();
  m.g0 = K(NARROW_NO_POINT); m.g1 = K(NARROW_NO_POINT); m.g2 = K(NARROW_NO_POINT); m.g3 = K(NARROW_NO_POINT);
  m.f0 = KU(0u); m.f1 = KU(0u); m.f2 = KU(0u); m.f3 = KU(0u);
  return m;
}

/* The local +z axis turned by q: third column of the rotation matrix. */
FN V3 narrow_axis_z(Q4 q)
{
  F x2 = q.x + q.x;
  F y2 = q.y + q.y;
  return v3(x2 * q.z + y2 * q.w, y2 * q.z - x2 * q.w, 1.0f - (q.x * x2 + q.y * y2));
}

/* The axis +z seen from the frame that q turns: third row of the rotation matrix. */
FN V3 narrow_axis_z_inv(Q4 q) { return narrow_axis_z(q4_conj(q)); }

/* The pose of b in the frame of a. */
FN X7 narrow_relative(X7 a, X7 b) { return x7(q4_rotate_inv(a.q, v3_sub(b.p, a.p)), q4_mul(q4_conj(a.q), b.q)); }

/* 1 where x >= 0, else -1 */
FN F narrow_sign(F x) { return f_sel(x >= 0.0f, K(1.0f), K(-1.0f)); }

/* Component 0, 1 or 2 of v by lane index k. */
FN F narrow_pick(V3 v, U k) { return f_sel(k == 0u, v.x, f_sel(k == 1u, v.y, v.z)); }
/* v with component k replaced. */
FN V3 narrow_with(V3 v, U k, F x) { return v3(f_sel(k == 0u, x, v.x), f_sel(k == 1u, x, v.y), f_sel(k == 2u, x, v.z)); }

#endif
