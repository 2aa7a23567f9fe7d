/* Closest points of two features of deformables (samebit/particle_contact.h), in the kernel dialect: what a solver keeps apart. */
#ifndef SAMEBIT_NEAR_PAIR_H
#define SAMEBIT_NEAR_PAIR_H

#ifndef SB_GLSL
#include "samebit/maths.h"
#endif

/* Two features near each other: d = sum of a_k x_k leads from one's closest point to the other's, `distance` is its part along the unit vector n, and n
 * is where they must stay apart. n is 0 where nothing can be said. */
STRUCT(NearPair) { V3 n; F distance; F a0; F a1; F a2; F a3; };

/* Sides kept inside, plain distance at rims, where neighbours take over. along: the unit normal on the right side. */
FN NearPair pair_from(V3 d, V3 along, M inside, F a0, F a1, F a2, F a3)
{
  NearPair r;
  V3 straight = v3_normalize_or(d, v3_zero());
  r.n = v3_sel(inside, along, straight);
  r.distance = v3_dot(r.n, d);
  r.a0 = a0;
  r.a1 = a1;
  r.a2 = a2;
  r.a3 = a3;
  return r;
}

FN NearPair pair_points(V3 x0, V3 x1)
{
  V3 d = v3_sub(x0, x1);
  return pair_from(d, d, d.x != d.x, K(1.0f), K(-1.0f), K(0.0f), K(0.0f));
}

/* Parameter of the point of segment a, a + e closest to p. */
FN F pair_on_segment(V3 p, V3 a, V3 e)
{
  F e2 = v3_len2(e);
  F t = f_div(v3_dot(v3_sub(p, a), e), f_max(e2, K(1.0e-20f)));
  return f_clamp(t, K(0.0f), K(1.0f));
}

/* Vertex 0 against the triangle 1, 2, 3; side 1 where its normal points, else -1. */
FN NearPair pair_face(V3 x0, V3 x1, V3 x2, V3 x3, F side)
{
  V3 u = v3_sub(x2, x1);
  V3 v = v3_sub(x3, x1);
  V3 p = v3_sub(x0, x1);
  V3 n = v3_cross(u, v);
  F n2 = v3_len2(n);
  M thick = n2 > 1.0e-24f;
  F inv = f_div(K(1.0f), f_sel(thick, n2, K(1.0f)));
  F b3 = v3_dot(v3_cross(u, p), n) * inv;
  F b2 = v3_dot(v3_cross(p, v), n) * inv;
  F b1 = (1.0f - b2) - b3;
  M inside = m_and(thick, m_and(b1 >= 0.0f, m_and(b2 >= 0.0f, b3 >= 0.0f)));
  /* the rim: the closest of its three segments */
  F t12 = pair_on_segment(x0, x1, u);
  F t13 = pair_on_segment(x0, x1, v);
  V3 w = v3_sub(x3, x2);
  F t23 = pair_on_segment(x0, x2, w);
  F d12 = v3_len2(v3_add_scaled(p, u, -t12));
  F d13 = v3_len2(v3_add_scaled(p, v, -t13));
  F d23 = v3_len2(v3_add_scaled(v3_sub(x0, x2), w, -t23));
  M use12 = m_and(d12 <= d13, d12 <= d23);
  M use13 = m_and(m_not(use12), d13 <= d23);
  F r1 = f_sel(use12, 1.0f - t12, f_sel(use13, 1.0f - t13, K(0.0f)));
  F r2 = f_sel(use12, t12, f_sel(use13, K(0.0f), 1.0f - t23));
  F r3 = f_sel(use12, K(0.0f), f_sel(use13, t13, t23));
  b1 = f_sel(inside, b1, r1);
  b2 = f_sel(inside, b2, r2);
  b3 = f_sel(inside, b3, r3);
  V3 d = v3_sub(p, v3_add(v3_scale(u, b2), v3_scale(v, b3)));
  V3 along = v3_scale(n, side * f_sqrt(inv));
  return pair_from(d, along, inside, K(1.0f), -b1, -b2, -b3);
}

/* Edge 0, 1 against edge 2, 3 (Ericson, Real-Time Collision Detection 2005, 5.1.9); side is the sign of (e x f) . d
 * where d leads from the first to the second. */
FN NearPair pair_edges(V3 x0, V3 x1, V3 x2, V3 x3, F side)
{
  V3 e = v3_sub(x1, x0);
  V3 f = v3_sub(x3, x2);
  V3 r = v3_sub(x0, x2);
  F ee = f_max(v3_len2(e), K(1.0e-20f));
  F ff = f_max(v3_len2(f), K(1.0e-20f));
  F ef = v3_dot(e, f);
  F er = v3_dot(e, r);
  F fr = v3_dot(f, r);
  F det = ee * ff - ef * ef;
  M skew = det > (ee * ff) * 1.0e-6f;
  F s = f_sel(skew, f_div(ef * fr - er * ff, f_sel(skew, det, K(1.0f))), K(0.5f));
  s = f_clamp(s, K(0.0f), K(1.0f));
  F t = f_div(ef * s + fr, ff);
  M free = m_and(t >= 0.0f, t <= 1.0f);
  t = f_clamp(t, K(0.0f), K(1.0f));
  s = f_sel(free, s, f_clamp(f_div(ef * t - er, ee), K(0.0f), K(1.0f)));
  M inside = m_and(skew, m_and(free, m_and(s > 0.0f, s < 1.0f)));
  V3 d = v3_sub(v3_add_scaled(x2, f, t), v3_add_scaled(x0, e, s));
  V3 n = v3_cross(e, f);
  V3 along = v3_scale(v3_normalize_or(n, v3_zero()), side);
  return pair_from(d, along, inside, s - 1.0f, -s, 1.0f - t, t);
}

#endif
