/* Bounding boxes of shapes, how they move within a step, and when a pair makes a contact, in the kernel dialect: scalar text. Knows
 * narrow_manifold.kernel.h. Sizes as in samebit/model.h. */
#ifndef SAMEBIT_COLLISION_SHAPE_BOUNDS_KERNEL_H
#define SAMEBIT_COLLISION_SHAPE_BOUNDS_KERNEL_H

#include "narrow_manifold.kernel.h"

/* Types that model.h numbers; GLSL does not read that header. */
#define BOUNDS_SPHERE 1u
#define BOUNDS_CAPSULE 2u
#define BOUNDS_CYLINDER 4u
#define BOUNDS_ELLIPSOID 5u

/* How a shape moves within a step: its centre, m; what turns around the centre, m; the length of both together. */
STRUCT(ShapeStep)
{
  V3 move;
  F swing;
  F reach;
};

/* A body: pose, velocity and angular velocity about its centre of mass, which is `com` in its frame. */
STRUCT(BoundsBody)
{
  X7 pose;
  V3 com;
  V3 v;
  V3 w;
};

/* Half extents along one axis; z, row: the shape's axes along it. A little is added, so that no rounding cuts a shape short. */
FN F bounds_cylinder(F z, V3 size)
{
  F across = 1.0f - z * z;
  return (f_abs(z) * size.y + size.x * f_sqrt(across > 0.0f ? across : K(0.0f))) * 1.00001f;
}
FN F bounds_ellipsoid(V3 row, V3 size)
{
  F x = row.x * size.x;
  F y = row.y * size.y;
  F z = row.z * size.z;
  return f_sqrt((x * x + y * y) + z * z) * 1.00001f;
}
FN F bounds_box(V3 row, V3 size) { return (f_abs(row.x) * size.x + f_abs(row.y) * size.y) + f_abs(row.z) * size.z; }

/* Half extents of a shape's bounding box without margins; planes have none. */
FN V3 bounds_half(U type, V3 size, Q4 q)
{
  if (type == BOUNDS_SPHERE) return v3(size.x, size.x, size.x);
  M33 r = q4_to_m33(q);
  if (type == BOUNDS_CAPSULE) return v3(f_abs(r.r0.z) * size.y + size.x, f_abs(r.r1.z) * size.y + size.x, f_abs(r.r2.z) * size.y + size.x);
  if (type == BOUNDS_CYLINDER) return v3(bounds_cylinder(r.r0.z, size), bounds_cylinder(r.r1.z, size), bounds_cylinder(r.r2.z, size));
  if (type == BOUNDS_ELLIPSOID) return v3(bounds_ellipsoid(r.r0, size), bounds_ellipsoid(r.r1, size), bounds_ellipsoid(r.r2, size));
  return v3(bounds_box(r.r0, size), bounds_box(r.r1, size), bounds_box(r.r2, size));
}

FN ShapeStep bounds_rest(void)
{
  ShapeStep s;
  s.move = v3_zero();
  s.swing = K(0.0f);
  s.reach = K(0.0f);
  return s;
}

/* The centre moves by dt (v + w x r), r from the body's centre of mass; what turns around the centre by dt |w| times the half diagonal, and
 * no more than that. */
FN ShapeStep bounds_step(BoundsBody body, V3 centre, V3 extent, F dt)
{
  ShapeStep s;
  V3 arm = v3_sub(centre, x7_point(body.pose, body.com));
  s.move = v3_scale(v3_add(body.v, v3_cross(body.w, arm)), dt);
  F radius = v3_len(extent);
  F swing = dt * (radius * v3_len(body.w));
  s.swing = swing < radius ? swing : radius;
  s.reach = v3_len(s.move) + s.swing;
  return s;
}

/* How far the box stands off on each side: the margin, or what the shape moves within the step where that is more. */
FN F bounds_grow(F margin, F speculative, F reach)
{
  F grow = margin + 0.5f * speculative;
  return reach > grow ? reach : grow;
}

/* How far two shapes may come together within this step. */
FN F bounds_pair_reach(V3 move_a, F swing_a, V3 move_b, F swing_b)
{
  V3 d = v3_sub(move_a, move_b);
  return v3_len(d) + (swing_a + swing_b);
}

/* Whether a box reaches what is less than `grow` above the plane through `at`. */
FN M bounds_reach_plane(V3 lo, V3 hi, X7 at, F grow)
{
  V3 n = narrow_axis_z(at.q);
  V3 lowest = v3(n.x >= 0.0f ? lo.x : hi.x, n.y >= 0.0f ? lo.y : hi.y, n.z >= 0.0f ? lo.z : hi.z);
  return v3_dot(v3_sub(lowest, at.p), n) <= grow;
}

#endif
