/* The nearest point of a shape's surface to a particle, in the kernel dialect and in the shape's frame. Knows narrow_manifold.kernel.h.
 *
 * n is the unit normal from the surface to the particle (inside a shape, out through the nearest side), point lies on the surface, distance is
 * that of the particle's centre along n, below 0 inside. */
#ifndef SAMEBIT_COLLISION_PARTICLE_SHAPE_KERNEL_H
#define SAMEBIT_COLLISION_PARTICLE_SHAPE_KERNEL_H

#include "narrow_manifold.kernel.h"

STRUCT(ParticleHit) { V3 n; V3 point; F distance; };

FN ParticleHit particle_hit(V3 n, V3 point, F distance)
{
  ParticleHit h;
  h.n = n;
  h.point = point;
  h.distance = distance;
  return h;
}

FN ParticleHit particle_plane(V3 x) { return particle_hit(v3(K(0.0f), K(0.0f), K(1.0f)), v3(x.x, x.y, K(0.0f)), x.z); }

FN ParticleHit particle_sphere(V3 x, V3 size)
{
  V3 n = v3_normalize_or(x, v3(K(0.0f), K(0.0f), K(1.0f)));
  return particle_hit(n, v3_scale(n, size.x), v3_dot(x, n) - size.x);
}

/* size: radius, half length along z */
FN ParticleHit particle_capsule(V3 x, V3 size)
{
  F z = f_clamp(x.z, -size.y, size.y);
  V3 d = v3(x.x, x.y, x.z - z);
  V3 n = v3_normalize_or(d, v3(K(1.0f), K(0.0f), K(0.0f)));
  return particle_hit(n, v3(n.x * size.x, n.y * size.x, z + n.z * size.x), v3_dot(d, n) - size.x);
}

FN ParticleHit particle_box(V3 x, V3 h)
{
  V3 q = v3(f_clamp(x.x, -h.x, h.x), f_clamp(x.y, -h.y, h.y), f_clamp(x.z, -h.z, h.z));
  V3 d = v3_sub(x, q);
  M outside = v3_len2(d) > 1.0e-24f;
  V3 depth = v3(h.x - f_abs(x.x), h.y - f_abs(x.y), h.z - f_abs(x.z));
  U k = u_sel(m_and(depth.x <= depth.y, depth.x <= depth.z), KU(0u), u_sel(depth.y <= depth.z, KU(1u), KU(2u)));
  F side = narrow_sign(narrow_pick(x, k));
  V3 face_n = narrow_with(v3_zero(), k, side);
  V3 n = v3_sel(outside, v3_normalize_or(d, face_n), face_n);
  V3 point = v3_sel(outside, q, narrow_with(q, k, side * narrow_pick(h, k)));
  return particle_hit(n, point, v3_dot(v3_sub(x, point), n));
}

/* size: radius, half length along z */
FN ParticleHit particle_cylinder(V3 x, V3 size)
{
  F across = f_sqrt(x.x * x.x + x.y * x.y);
  M off_axis = across > 1.0e-12f;
  F inv = f_div(K(1.0f), f_sel(off_axis, across, K(1.0f)));
  V3 away = v3(f_sel(off_axis, x.x * inv, K(1.0f)), f_sel(off_axis, x.y * inv, K(0.0f)), K(0.0f));
  F beyond_side = across - size.x;
  F beyond_cap = f_abs(x.z) - size.y;
  F up = narrow_sign(x.z);
  M over_cap = beyond_cap > 0.0f;
  M over_side = beyond_side > 0.0f;
  /* the nearest point of the solid, or from inside that of its surface */
  M to_side = m_or(over_side, m_and(m_not(over_cap), beyond_side >= beyond_cap));
  M to_cap = m_or(over_cap, m_not(to_side));
  F r = f_sel(to_side, size.x, across);
  V3 point = v3(away.x * r, away.y * r, f_sel(to_cap, up * size.y, x.z));
  V3 cap_n = v3(K(0.0f), K(0.0f), up);
  V3 side_n = v3(away.x, away.y, K(0.0f));
  V3 rim_n = v3_normalize_or(v3_sub(x, point), v3_sel(to_side, side_n, cap_n));
  V3 n = v3_sel(m_and(to_side, to_cap), rim_n, v3_sel(to_side, side_n, cap_n));
  return particle_hit(n, point, v3_dot(v3_sub(x, point), n));
}

#define PARTICLE_ELLIPSOID_ROUNDS 10

/* The nearest point of the surface is a_i^2 y_i / (a_i^2 + t), with t the largest root of S(t) = sum (a_i y_i / (a_i^2 + t))^2 = 1
 * (Eberly, Distance from a Point to an Ellipse, 2013). 1 / sqrt(S) is nearly straight, so Newton's method on that, from the left of the
 * root, arrives in a few rounds (as More and Sorensen 1983 do for trust regions). y is kept off the planes of symmetry by a little,
 * where from inside the nearest point is not unique. */
FN ParticleHit particle_ellipsoid(V3 x, V3 a)
{
  F largest = f_max(f_max(a.x, a.y), a.z);
  F scale = f_div(K(1.0f), f_max(largest, K(1.0e-18f)));
  V3 e = v3(f_max(a.x * scale, K(1.0e-4f)), f_max(a.y * scale, K(1.0e-4f)), f_max(a.z * scale, K(1.0e-4f)));
  V3 y = v3(f_max(f_abs(x.x) * scale, e.x * 1.0e-5f), f_max(f_abs(x.y) * scale, e.y * 1.0e-5f), f_max(f_abs(x.z) * scale, e.z * 1.0e-5f));
  V3 d = v3(e.x * e.x, e.y * e.y, e.z * e.z);
  V3 c = v3(e.x * y.x, e.y * y.y, e.z * y.z);
  /* each term alone is 1 at c - d, so S >= 1 there */
  F t = f_max(f_max(c.x - d.x, c.y - d.y), c.z - d.z);
  for (int k = 0; k < PARTICLE_ELLIPSOID_ROUNDS; k++) {
    F qx = f_div(K(1.0f), d.x + t);
    F qy = f_div(K(1.0f), d.y + t);
    F qz = f_div(K(1.0f), d.z + t);
    F sx = (c.x * qx) * (c.x * qx);
    F sy = (c.y * qy) * (c.y * qy);
    F sz = (c.z * qz) * (c.z * qz);
    F s = (sx + sy) + sz;
    F slope = (sx * qx + sy * qy) + sz * qz;
    M usable = slope > 1.0e-30f;
    F step = f_div(s * (f_sqrt(s) - 1.0f), f_sel(usable, slope, K(1.0f)));
    t = f_sel(m_and(usable, step > 0.0f), t + step, t);
  }
  V3 q = v3(f_div(c.x, d.x + t), f_div(c.y, d.y + t), f_div(c.z, d.z + t)); /* nearest point over half axes */
  F fit = f_div(K(1.0f), f_sqrt(f_max(v3_len2(q), K(1.0e-30f))));
  q = v3_scale(q, fit);
  V3 turned = v3(f_div(q.x, e.x) * narrow_sign(x.x), f_div(q.y, e.y) * narrow_sign(x.y), f_div(q.z, e.z) * narrow_sign(x.z));
  V3 n = v3_normalize_or(turned, v3(K(0.0f), K(0.0f), K(1.0f)));
  V3 point = v3((q.x * a.x) * narrow_sign(x.x), (q.y * a.y) * narrow_sign(x.y), (q.z * a.z) * narrow_sign(x.z));
  return particle_hit(n, point, v3_dot(v3_sub(x, point), n));
}

/* How far around a particle it may touch what does not move itself: what is allowed for anyway, and its own way. A little is added, so that no
 * rounding cuts it short. */
FN F particle_room(F allowed, V3 velocity, F dt) { return allowed + (dt * v3_len(velocity)) * 1.00001f; }

/* How far apart a particle and a shape may be, centre to surface, and still touch within the tick: what is allowed for anyway (radius,
 * margins, the shape's swing), and the way that one moves past the other. */
FN F particle_reach(V3 move, V3 step, F allowed) { return allowed + v3_len(v3_sub(move, step)); }

#endif
