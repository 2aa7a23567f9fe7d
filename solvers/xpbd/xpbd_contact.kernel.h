/* Particles against bodies and against each other, in the kernel dialect: attachments, closest points of two features, and the correction that keeps them
 * apart. */
#ifndef SAMEBIT_XPBD_CONTACT_KERNEL_H
#define SAMEBIT_XPBD_CONTACT_KERNEL_H

#ifndef SB_GLSL
#include "samebit/maths.h"
#endif

/* d lambda of an attachment: c = x - point (m), dc its change since the substep began, r what both answer, kt = kh2 + ch > 0. */
FN V3 xp_attach(V3 c, V3 dc, S33 r, F kh2, F ch, V3 lambda)
{
  F soft = f_div(K(1.0f), kh2 + ch);
  F kc = kh2 * soft;
  F kd = ch * soft;
  V3 e = v3_add(v3_add_scaled(v3_scale(c, kc), dc, kd), v3_scale(lambda, soft));
  S33 a = s33(r.xx + soft, r.yy + soft, r.zz + soft, r.xy, r.xz, r.yz);
  F size = f_max((a.xx + a.yy) + a.zz, K(1.0e-20f));
  F s = f_div(K(1.0f), size);
  S33 unit = s33((a.xx * s) + 1.0e-7f, (a.yy * s) + 1.0e-7f, (a.zz * s) + 1.0e-7f, a.xy * s, a.xz * s, a.yz * s);
  return v3_scale(s33_mul_v3(s33_inverse(unit), e), -s);
}

/* Two features near each other: d = sum of a_k x_k leads from one's closest point to the other's, `distance` is its part along the unit vector n, and n
 * is where they must stay apart. n is 0 where nothing can be said. */
STRUCT(XpNear) { V3 n; F distance; F a0; F a1; F a2; F a3; };

/* Sides kept inside, plain distance at rims, where neighbours take over. along: the unit normal on the right side. */
FN XpNear xp_near_from(V3 d, V3 along, M inside, F a0, F a1, F a2, F a3)
{
  XpNear r;
  V3 straight = v3_normalize_or(d, v3_zero());
  r.n = v3_sel(inside, along, straight);
  r.distance = v3_dot(r.n, d);
  r.a0 = a0;
  r.a1 = a1;
  r.a2 = a2;
  r.a3 = a3;
  return r;
}

FN XpNear xp_near_points(V3 x0, V3 x1)
{
  V3 d = v3_sub(x0, x1);
  return xp_near_from(d, d, d.x != d.x, K(1.0f), K(-1.0f), K(0.0f), K(0.0f));
}

/* Parameter of the point of segment a, a + e closest to p. */
FN F xp_on_segment(V3 p, V3 a, V3 e)
{
  F e2 = v3_len2(e);
  F t = f_div(v3_dot(v3_sub(p, a), e), f_max(e2, K(1.0e-20f)));
  return f_clamp(t, K(0.0f), K(1.0f));
}

/* Vertex 0 against the triangle 1, 2, 3; side 1 where its normal points, else -1. */
FN XpNear xp_near_face(V3 x0, V3 x1, V3 x2, V3 x3, F side)
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
  F t12 = xp_on_segment(x0, x1, u);
  F t13 = xp_on_segment(x0, x1, v);
  V3 w = v3_sub(x3, x2);
  F t23 = xp_on_segment(x0, x2, w);
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
  return xp_near_from(d, along, inside, K(1.0f), -b1, -b2, -b3);
}

/* Edge 0, 1 against edge 2, 3 (Ericson, Real-Time Collision Detection 2005, 5.1.9); side is the sign of (e x f) . d where d leads from the first to the
 * second. */
FN XpNear xp_near_edges(V3 x0, V3 x1, V3 x2, V3 x3, F side)
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
  return xp_near_from(d, along, inside, s - 1.0f, -s, 1.0f - t, t);
}

/* Correction p: particle k moves by w_k a_k p. */
STRUCT(XpApart) { V3 p; F normal; };

/* Keeps the features `thickness` apart; friction takes back how far they have slid since the substep began, d = sum of a_k m_k, by at most mu times the
 * push of this pass. w: sum of w_k a_k^2. normal: the multiplier so far. */
FN XpApart xp_apart(XpNear f, V3 d, F w, F thickness, F mu, F normal)
{
  XpApart r;
  F answer = f_max(w, K(1.0e-20f));
  F push = f_max(normal + f_div(thickness - f.distance, answer), K(0.0f));
  M can = v3_len2(f.n) > 0.5f;
  push = f_sel(can, push, normal);
  F dn = push - normal;
  V3 slid = v3_add_scaled(d, f.n, -v3_dot(f.n, d));
  F far2 = v3_len2(slid);
  F far = f_sqrt(far2);
  F limit = f_max(mu * dn, K(0.0f)) * answer;
  F back = f_sel(far > limit, f_div(limit, f_max(far, K(1.0e-20f))), K(1.0f));
  back = f_sel(limit > 0.0f, f_div(back, answer), K(0.0f));
  r.p = v3_add_scaled(v3_scale(f.n, dn), slid, -back);
  r.normal = push;
  return r;
}

#endif
