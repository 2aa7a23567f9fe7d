/* Narrow phase of spheres, capsules and planes, in the kernel dialect. Knows narrow_manifold.kernel.h.
 *
 * Shape a is always the one with the lower type. size: sphere (radius), capsule (radius, half length along z). */
#ifndef SAMEBIT_COLLISION_NARROW_ROUND_KERNEL_H
#define SAMEBIT_COLLISION_NARROW_ROUND_KERNEL_H

#ifndef SB_GLSL
#include "narrow_manifold.kernel.h"
#endif

/* Fills point 0 from core points ca (a's frame) and cb (b's frame) grown by ra and rb along the normal n. core_gap is the
 * distance of the core points along n. */
FN Manifold narrow_single(X7 rel, V3 n, V3 ca, F ra, V3 cb, F rb, F core_gap, U feature)
{
  Manifold m = manifold_empty();
  m.n = n;
  m.a0 = v3_add_scaled(ca, n, ra);
  m.b0 = v3_add_scaled(cb, q4_rotate_inv(rel.q, n), -rb);
  m.g0 = core_gap - (ra + rb);
  m.f0 = feature;
  return m;
}

FN Manifold narrow_plane_sphere(V3 size_b, X7 rel)
{
  V3 n = v3(K(0.0f), K(0.0f), K(1.0f));
  return narrow_single(rel, n, v3(rel.p.x, rel.p.y, K(0.0f)), K(0.0f), v3_zero(), size_b.x, rel.p.z, KU(0u));
}

/* Both end spheres; feature 0 is the end at -z. */
FN Manifold narrow_plane_capsule(V3 size_b, X7 rel)
{
  V3 n = v3(K(0.0f), K(0.0f), K(1.0f));
  V3 u = v3_scale(narrow_axis_z(rel.q), size_b.y);
  V3 lo = v3_sub(rel.p, u);
  V3 hi = v3_add(rel.p, u);
  V3 down = v3_scale(q4_rotate_inv(rel.q, n), -size_b.x);
  Manifold m = manifold_empty();
  m.n = n;
  m.a0 = v3(lo.x, lo.y, K(0.0f));
  m.a1 = v3(hi.x, hi.y, K(0.0f));
  m.b0 = v3_add(v3(K(0.0f), K(0.0f), -size_b.y), down);
  m.b1 = v3_add(v3(K(0.0f), K(0.0f), size_b.y), down);
  m.g0 = lo.z - size_b.x;
  m.g1 = hi.z - size_b.x;
  m.f0 = KU(0u);
  m.f1 = KU(1u);
  return m;
}

FN Manifold narrow_sphere_sphere(V3 size_a, V3 size_b, X7 rel)
{
  V3 n = v3_normalize_or(rel.p, v3(K(0.0f), K(0.0f), K(1.0f)));
  return narrow_single(rel, n, v3_zero(), size_a.x, v3_zero(), size_b.x, v3_dot(rel.p, n), KU(0u));
}

FN Manifold narrow_sphere_capsule(V3 size_a, V3 size_b, X7 rel)
{
  /* In b's frame the sphere's centre is c and the segment lies on the z axis. */
  V3 c = v3_neg(q4_rotate_inv(rel.q, rel.p));
  V3 on_axis = v3(K(0.0f), K(0.0f), f_clamp(c.z, -size_b.y, size_b.y));
  V3 d = v3_sub(on_axis, c);
  V3 n = v3_normalize_or(d, v3(K(1.0f), K(0.0f), K(0.0f)));
  return narrow_single(rel, q4_rotate(rel.q, n), v3_zero(), size_a.x, on_axis, size_b.x, v3_dot(d, n), KU(0u));
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
  V3 d = v3_sub(v3_add_scaled(p, u, t), v3(K(0.0f), K(0.0f), s));

  /* Where the segments cross, the normal is at right angles to both. */
  F scale = ((la + lb) + size_a.x) + size_b.x;
  V3 across = v3_normalize_or(v3(-u.y, u.x, K(0.0f)), v3(K(1.0f), K(0.0f), K(0.0f)));
  across = v3_scale(across, narrow_sign(v3_dot(across, d)));
  M apart = v3_len2(d) > 1.0e-12f * (scale * scale);
  V3 n = v3_sel(apart, v3_normalize_or(d, across), across);

  F s2 = f_sel(s - lo > hi - s, lo, hi);
  F t2 = f_clamp(u.z * s2 - f, -lb, lb);
  V3 d2 = v3_sub(v3_add_scaled(p, u, t2), v3(K(0.0f), K(0.0f), s2));
  M two = m_and(m_and(sin2 < 2.5e-3f, hi > lo), f_abs(s2 - s) > 1.0e-3f * scale);
  M first_low = s < s2;

  Manifold m = narrow_single(rel, n, v3(K(0.0f), K(0.0f), s), size_a.x, v3(K(0.0f), K(0.0f), t), size_b.x, v3_dot(d, n),
                             u_sel(two, u_sel(first_low, KU(1u), KU(2u)), KU(0u)));
  V3 n_b = q4_rotate_inv(rel.q, n);
  m.a1 = v3_add_scaled(v3(K(0.0f), K(0.0f), s2), n, size_a.x);
  m.b1 = v3_add_scaled(v3(K(0.0f), K(0.0f), t2), n_b, -size_b.x);
  m.g1 = f_sel(two, v3_dot(d2, n) - (size_a.x + size_b.x), K(NARROW_NO_POINT));
  m.f1 = u_sel(first_low, KU(2u), KU(1u));
  return m;
}

#endif
