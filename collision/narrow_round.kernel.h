/* Narrow phase of spheres, capsules and planes, in the kernel dialect. Knows narrow_manifold.kernel.h.
 *
 * Shape a is always the one with the lower type. size: sphere (radius), capsule (radius, half length along z). */
#ifndef SAMEBIT_COLLISION_NARROW_ROUND_KERNEL_H
#define SAMEBIT_COLLISION_NARROW_ROUND_KERNEL_H

#include "narrow_manifold.kernel.h"

/* A manifold of one point. gap: distance of the surfaces along n. */
FN Manifold narrow_single(V3 n, V3 on_a, V3 on_b, F gap, U feature)
{
  Manifold m = manifold_empty();
  m.n = n;
  m.a0 = on_a;
  m.b0 = on_b;
  m.g0 = gap;
  m.f0 = feature;
  return m;
}

/* (0, 0, z) + n s */
FN V3 narrow_from_axis(F z, V3 n, F s) { return v3(n.x * s, n.y * s, z + n.z * s); }

FN Manifold narrow_plane_sphere(V3 size_b, X7 rel)
{
  return narrow_single(v3(K(0.0f), K(0.0f), K(1.0f)), v3(rel.p.x, rel.p.y, K(0.0f)),
                       v3_scale(narrow_axis_z_inv(rel.q), -size_b.x), rel.p.z - size_b.x, KU(0u));
}

/* Both end spheres; feature 0 is the end at -z. */
FN Manifold narrow_plane_capsule(V3 size_b, X7 rel)
{
  V3 u = v3_scale(narrow_axis_z(rel.q), size_b.y);
  V3 lo = v3_sub(rel.p, u);
  V3 hi = v3_add(rel.p, u);
  V3 up = narrow_axis_z_inv(rel.q);
  Manifold m = manifold_empty();
  m.a0 = v3(lo.x, lo.y, K(0.0f));
  m.a1 = v3(hi.x, hi.y, K(0.0f));
  m.b0 = narrow_from_axis(-size_b.y, up, -size_b.x);
  m.b1 = narrow_from_axis(size_b.y, up, -size_b.x);
  m.g0 = lo.z - size_b.x;
  m.g1 = hi.z - size_b.x;
  m.f0 = KU(0u);
  m.f1 = KU(1u);
  return m;
}

FN Manifold narrow_sphere_sphere(V3 size_a, V3 size_b, X7 rel)
{
  V3 n = v3_normalize_or(rel.p, v3(K(0.0f), K(0.0f), K(1.0f)));
  return narrow_single(n, v3_scale(n, size_a.x), v3_scale(q4_rotate_inv(rel.q, n), -size_b.x),
                       v3_dot(rel.p, n) - (size_a.x + size_b.x), KU(0u));
}

FN Manifold narrow_sphere_capsule(V3 size_a, V3 size_b, X7 rel)
{
  /* In b's frame the sphere's centre is c and the segment lies on the z axis. */
  V3 c = v3_neg(q4_rotate_inv(rel.q, rel.p));
  F z = f_clamp(c.z, -size_b.y, size_b.y);
  V3 d = v3(-c.x, -c.y, z - c.z);
  V3 n_b = v3_normalize_or(d, v3(K(1.0f), K(0.0f), K(0.0f)));
  V3 n = q4_rotate(rel.q, n_b);
  return narrow_single(n, v3_scale(n, size_a.x), narrow_from_axis(z, n_b, -size_b.x),
                       v3_dot(d, n_b) - (size_a.x + size_b.x), KU(0u));
}

/* Closest points of two segments (Lumelsky 1985; Ericson, Real-Time Collision Detection 2005, 5.1.9). Nearly parallel
 * segments get a second point at the other end of their overlap. */
FN Manifold narrow_capsule_capsule(V3 size_a, V3 size_b, X7 rel)
{
  F la = size_a.y;
  F lb = size_b.y;
  V3 p = rel.p;
  V3 u = narrow_axis_z(rel.q);
  F f = v3_dot(u, p);
  /* sin^2 of the angle; the sum of squares keeps its accuracy where 1 - u.z^2 would lose it */
  F sin2 = u.x * u.x + u.y * u.y;
  F reach = lb * f_abs(u.z);
  F lo = f_max(-la, p.z - reach);
  F hi = f_min(la, p.z + reach);
  M parallel = sin2 < 1.0e-12f;
  F cross_at = p.z - f_div(u.z * (u.x * p.x + u.y * p.y), f_sel(parallel, K(1.0f), sin2));
  F s = f_clamp(f_sel(parallel, lo, cross_at), -la, la);
  F t = f_clamp(u.z * s - f, -lb, lb);
  s = f_clamp(p.z + u.z * t, -la, la);
  V3 d = v3_add_scaled(p, u, t);
  d.z = d.z - s;

  /* Where the segments cross, the normal is at right angles to both. */
  F scale = ((la + lb) + size_a.x) + size_b.x;
  M skew = sin2 > 1.0e-24f;
  F inv = f_div(K(1.0f), f_sqrt(f_sel(skew, sin2, K(1.0f))));
  F ax = f_sel(skew, -u.y * inv, K(1.0f));
  F ay = f_sel(skew, u.x * inv, K(0.0f));
  F off = ax * p.x + ay * p.y;
  F side = narrow_sign(off);
  V3 across = v3(ax * side, ay * side, K(0.0f));
  /* d loses its direction as it gets short: the axis that separates more is the better one. */
  V3 n = v3_normalize_or(d, across);
  F along = (v3_dot(n, p) - la * f_abs(n.z)) - lb * f_abs(v3_dot(n, u));
  M directed = v3_len2(d) > 1.0e-12f * (scale * scale);
  M better = along >= f_abs(off) - 1.0e-6f * scale;
  M apart = m_and(directed, better);
  n = v3_sel(apart, n, across);

  F s2 = f_sel(s - lo > hi - s, lo, hi);
  F t2 = f_clamp(u.z * s2 - f, -lb, lb);
  V3 d2 = v3_add_scaled(p, u, t2);
  d2.z = d2.z - s2;
  M two = m_and(m_and(sin2 < 2.5e-3f, hi > lo), f_abs(s2 - s) > 1.0e-3f * scale);
  M first_low = s < s2;

  F radii = size_a.x + size_b.x;
  V3 n_b = q4_rotate_inv(rel.q, n);
  Manifold m = narrow_single(n, narrow_from_axis(s, n, size_a.x), narrow_from_axis(t, n_b, -size_b.x),
                             v3_dot(d, n) - radii, u_sel(two, u_sel(first_low, KU(1u), KU(2u)), KU(0u)));
  m.a1 = narrow_from_axis(s2, n, size_a.x);
  m.b1 = narrow_from_axis(t2, n_b, -size_b.x);
  m.g1 = f_sel(two, v3_dot(d2, n) - radii, K(NARROW_NO_POINT));
  m.f1 = u_sel(first_low, KU(2u), KU(1u));
  return m;
}

#endif
