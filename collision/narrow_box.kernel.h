/* Narrow phase of a box with a plane, a sphere and a capsule, in the kernel dialect. Knows narrow_round.kernel.h. */
#ifndef SAMEBIT_COLLISION_NARROW_BOX_KERNEL_H
#define SAMEBIT_COLLISION_NARROW_BOX_KERNEL_H

#include "narrow_round.kernel.h"

/* Corner of a box by signs of -1 or 1, and its feature id: one bit for each positive sign. */
FN V3 narrow_corner(V3 h, V3 s) { return v3(h.x * s.x, h.y * s.y, h.z * s.z); }
FN U narrow_corner_id(V3 s)
{
  return (u_sel(s.x > 0.0f, KU(1u), KU(0u)) | u_sel(s.y > 0.0f, KU(2u), KU(0u))) | u_sel(s.z > 0.0f, KU(4u), KU(0u));
}

/* The four deepest corners. With e_i = |height of half edge i|, sorted e_min <= e_mid <= e_max, the corners above the
 * lowest one lie 2 e_min, 2 e_mid and then 2 (e_min + e_mid) or 2 e_max higher. */
FN Manifold narrow_plane_box(V3 size_b, X7 rel)
{
  V3 up = narrow_axis_z_inv(rel.q);
  V3 s = v3(-narrow_sign(up.x), -narrow_sign(up.y), -narrow_sign(up.z));
  V3 e = v3(f_abs(up.x) * size_b.x, f_abs(up.y) * size_b.y, f_abs(up.z) * size_b.z);
  /* k_max: first axis with the largest e; k_min: last with the smallest among the others */
  U k_max = u_sel(m_and(e.x >= e.y, e.x >= e.z), KU(0u), u_sel(e.y >= e.z, KU(1u), KU(2u)));
  U next = u_sel(k_max == 2u, KU(0u), k_max + 1u);
  U prev = u_sel(k_max == 0u, KU(2u), k_max - 1u);
  M next_mid = narrow_pick(e, next) >= narrow_pick(e, prev);
  U k_mid = u_sel(next_mid, next, prev);
  U k_min = u_sel(next_mid, prev, next);
  V3 s1 = narrow_with(s, k_min, -narrow_pick(s, k_min));
  V3 s2 = narrow_with(s, k_mid, -narrow_pick(s, k_mid));
  V3 s12 = narrow_with(s1, k_mid, -narrow_pick(s, k_mid));
  V3 sm = narrow_with(s, k_max, -narrow_pick(s, k_max));
  V3 s3 = v3_sel(narrow_pick(e, k_max) < narrow_pick(e, k_min) + narrow_pick(e, k_mid), sm, s12);

  Manifold m = manifold_empty();
  m.b0 = narrow_corner(size_b, s);
  m.b1 = narrow_corner(size_b, s1);
  m.b2 = narrow_corner(size_b, s2);
  m.b3 = narrow_corner(size_b, s3);
  V3 w0 = x7_point(rel, m.b0);
  V3 w1 = x7_point(rel, m.b1);
  V3 w2 = x7_point(rel, m.b2);
  V3 w3 = x7_point(rel, m.b3);
  m.a0 = v3(w0.x, w0.y, K(0.0f)); m.a1 = v3(w1.x, w1.y, K(0.0f));
  m.a2 = v3(w2.x, w2.y, K(0.0f)); m.a3 = v3(w3.x, w3.y, K(0.0f));
  m.g0 = w0.z; m.g1 = w1.z; m.g2 = w2.z; m.g3 = w3.z;
  m.f0 = narrow_corner_id(s); m.f1 = narrow_corner_id(s1); m.f2 = narrow_corner_id(s2); m.f3 = narrow_corner_id(s3);
  return m;
}

FN Manifold narrow_sphere_box(V3 size_a, V3 size_b, X7 rel)
{
  V3 h = size_b;
  V3 c = v3_neg(q4_rotate_inv(rel.q, rel.p));
  V3 q = v3(f_clamp(c.x, -h.x, h.x), f_clamp(c.y, -h.y, h.y), f_clamp(c.z, -h.z, h.z));
  V3 d = v3_sub(q, c);
  M outside = v3_len2(d) > 1.0e-24f;
  /* Centre inside: leave through the nearest face. */
  V3 depth = v3(h.x - f_abs(c.x), h.y - f_abs(c.y), h.z - f_abs(c.z));
  U k = u_sel(m_and(depth.x <= depth.y, depth.x <= depth.z), KU(0u), u_sel(depth.y <= depth.z, KU(1u), KU(2u)));
  F side = narrow_sign(narrow_pick(c, k));
  V3 face_n = narrow_with(v3_zero(), k, -side);
  V3 face_q = narrow_with(q, k, side * narrow_pick(h, k));
  V3 n = v3_sel(outside, v3_normalize_or(d, face_n), face_n);
  V3 on_box = v3_sel(outside, q, face_q);
  V3 n_a = q4_rotate(rel.q, n);
  return narrow_single(n_a, v3_scale(n_a, size_a.x), on_box, v3_dot(v3_sub(on_box, c), n) - size_a.x, KU(0u));
}

/* x minus the nearest value in [-h, h] */
FN F narrow_excess(F x, F h) { return x - f_clamp(x, -h, h); }
/* Half the derivative of the squared distance between the box and p + t w: monotone and piecewise linear in t. */
FN F narrow_slope(V3 p, V3 w, V3 h, F t)
{
  return (w.x * narrow_excess(p.x + t * w.x, h.x) + w.y * narrow_excess(p.y + t * w.y, h.y)) +
         w.z * narrow_excess(p.z + t * w.z, h.z);
}

/* An interval of a segment's parameter; empty when lo > hi. */
STRUCT(NarrowSpan) { F lo; F hi; };

/* The part of span in which |p + t w| <= h. */
FN NarrowSpan narrow_clip_slab(NarrowSpan span, F p, F w, F h)
{
  M level = f_abs(w) <= 1.0e-9f * h + 1.0e-30f;
  F inv = f_div(K(1.0f), f_sel(level, K(1.0f), w));
  F t0 = (-h - p) * inv;
  F t1 = (h - p) * inv;
  F enter = f_sel(level, f_sel(f_abs(p) <= h, K(-2.0f), K(2.0f)), f_min(t0, t1));
  F leave = f_sel(level, f_sel(f_abs(p) <= h, K(2.0f), K(-2.0f)), f_max(t0, t1));
  NarrowSpan r;
  r.lo = f_max(span.lo, enter);
  r.hi = f_min(span.hi, leave);
  return r;
}

/* The part of the segment p + t w, |t| <= 1, that lies over the face of axis k. */
FN NarrowSpan narrow_clip_face(V3 p, V3 w, V3 h, U k)
{
  U i = u_sel(k == 2u, KU(0u), k + 1u);
  U j = u_sel(k == 0u, KU(2u), k - 1u);
  NarrowSpan s;
  s.lo = K(-1.0f);
  s.hi = K(1.0f);
  s = narrow_clip_slab(s, narrow_pick(p, i), narrow_pick(w, i), narrow_pick(h, i));
  return narrow_clip_slab(s, narrow_pick(p, j), narrow_pick(w, j), narrow_pick(h, j));
}

/* Parameter of the point of p + t w, |t| <= 1, nearest to the box: the root of narrow_slope. It is bracketed by the
 * breakpoints, between which the slope is linear. */
FN F narrow_segment_box_nearest(V3 p, V3 w, V3 h)
{
  F first = narrow_slope(p, w, h, K(-1.0f));
  F last = narrow_slope(p, w, h, K(1.0f));
  F lo = K(-1.0f);
  F hi = K(1.0f);
  F g_lo = first;
  F g_hi = last;
  for (int k = 0; k < 6; k++) {
    F pk = k < 2 ? p.x : (k < 4 ? p.y : p.z);
    F wk = k < 2 ? w.x : (k < 4 ? w.y : w.z);
    F hk = k < 2 ? h.x : (k < 4 ? h.y : h.z);
    F bound = (k & 1) == 0 ? -hk : hk;
    M level = f_abs(wk) < 1.0e-30f;
    F c = f_clamp(f_div(bound - pk, f_sel(level, K(1.0f), wk)), K(-1.0f), K(1.0f));
    c = f_sel(level, K(-1.0f), c);
    F g = narrow_slope(p, w, h, c);
    M below = g < 0.0f;
    M raise = m_and(below, c > lo);
    M lower = m_and(m_not(below), c < hi);
    lo = f_sel(raise, c, lo);
    g_lo = f_sel(raise, g, g_lo);
    hi = f_sel(lower, c, hi);
    g_hi = f_sel(lower, g, g_hi);
  }
  F rise = g_hi - g_lo;
  M usable = rise > 1.0e-30f;
  F t = lo + (hi - lo) * f_clamp(f_div(-g_lo, f_sel(usable, rise, K(1.0f))), K(0.0f), K(1.0f));
  t = f_sel(first >= 0.0f, K(-1.0f), f_sel(last <= 0.0f, K(1.0f), t));
  return f_clamp(t, K(-1.0f), K(1.0f));
}

/* One candidate for the pair of deepest points: segment parameter, point on the box, normal from segment to box. */
STRUCT(NarrowProbe) { F t; V3 c; V3 n; F sep; };

/* Axis e_k x w of the segment through the box, for the separating axis test. sep is -NARROW_NO_POINT where w is nearly
 * parallel to e_k. */
FN NarrowProbe narrow_segment_edge_axis(V3 p, V3 w, V3 h, int k)
{
  /* the two components across e_k: (y, z), (z, x), (x, y) */
  F pi = k == 0 ? p.y : (k == 1 ? p.z : p.x);
  F pj = k == 0 ? p.z : (k == 1 ? p.x : p.y);
  F wi = k == 0 ? w.y : (k == 1 ? w.z : w.x);
  F wj = k == 0 ? w.z : (k == 1 ? w.x : w.y);
  F hi = k == 0 ? h.y : (k == 1 ? h.z : h.x);
  F hj = k == 0 ? h.z : (k == 1 ? h.x : h.y);
  F pk = k == 0 ? p.x : (k == 1 ? p.y : p.z);
  F wk = k == 0 ? w.x : (k == 1 ? w.y : w.z);
  F hk = k == 0 ? h.x : (k == 1 ? h.y : h.z);
  F len2 = wi * wi + wj * wj;
  M ok = len2 > 1.0e-6f * v3_len2(w) + 1.0e-24f;
  F len2_safe = f_sel(ok, len2, K(1.0f));
  F inv = f_div(K(1.0f), f_sqrt(len2_safe));
  F ai = -wj * inv;
  F aj = wi * inv;
  F off = pi * ai + pj * aj;
  F side = narrow_sign(off);
  ai = ai * side;
  aj = aj * side;
  NarrowProbe r;
  r.sep = f_sel(ok, f_abs(off) - (hi * f_abs(ai) + hj * f_abs(aj)), K(-NARROW_NO_POINT));
  /* the box's edge farthest along (ai, aj), and the point of the segment nearest to it */
  F ei = hi * narrow_sign(ai);
  F ej = hj * narrow_sign(aj);
  r.t = f_clamp(f_div((ei - pi) * wi + (ej - pj) * wj, len2_safe), K(-1.0f), K(1.0f));
  F ek = f_clamp(pk + r.t * wk, -hk, hk);
  if (k == 0) {
    r.c = v3(ek, ei, ej);
    r.n = v3(K(0.0f), -ai, -aj);
  } else if (k == 1) {
    r.c = v3(ej, ek, ei);
    r.n = v3(-aj, K(0.0f), -ai);
  } else {
    r.c = v3(ei, ej, ek);
    r.n = v3(-ai, -aj, K(0.0f));
  }
  return r;
}

FN NarrowProbe narrow_probe_sel(M m, NarrowProbe a, NarrowProbe b)
{
  NarrowProbe r;
  r.t = f_sel(m, a.t, b.t);
  r.c = v3_sel(m, a.c, b.c);
  r.n = v3_sel(m, a.n, b.n);
  r.sep = f_sel(m, a.sep, b.sep);
  return r;
}

/* Deepest points where the segment itself runs through the box: the axis of least penetration among the three faces and
 * the three edge directions (separating axis theorem). */
FN NarrowProbe narrow_segment_box_deep(V3 p, V3 w, V3 h, F tolerance)
{
  V3 sep = v3((f_abs(p.x) - f_abs(w.x)) - h.x, (f_abs(p.y) - f_abs(w.y)) - h.y, (f_abs(p.z) - f_abs(w.z)) - h.z);
  U k = u_sel(m_and(sep.x >= sep.y, sep.x >= sep.z), KU(0u), u_sel(sep.y >= sep.z, KU(1u), KU(2u)));
  F side = narrow_sign(narrow_pick(p, k));
  F slope = side * narrow_pick(w, k);
  NarrowSpan span = narrow_clip_face(p, w, h, k);
  NarrowProbe face;
  face.t = f_clamp(f_sel(slope >= 0.0f, span.lo, span.hi), K(-1.0f), K(1.0f));
  face.c = narrow_with(v3_add_scaled(p, w, face.t), k, side * narrow_pick(h, k));
  face.n = narrow_with(v3_zero(), k, -side);
  face.sep = narrow_pick(sep, k);
  NarrowProbe edge = narrow_segment_edge_axis(p, w, h, 0);
  for (int i = 1; i < 3; i++) {
    NarrowProbe other = narrow_segment_edge_axis(p, w, h, i);
    edge = narrow_probe_sel(other.sep > edge.sep, other, edge);
  }
  return narrow_probe_sel(edge.sep > face.sep + tolerance, edge, face);
}

/* The exact nearest points, or the axis of least penetration where the segment meets the box; over a face a second
 * point at the far end of the part of the segment that lies over it. */
FN Manifold narrow_capsule_box(V3 size_a, V3 size_b, X7 rel)
{
  V3 h = size_b;
  F r = size_a.x;
  V3 p = v3_neg(q4_rotate_inv(rel.q, rel.p));
  V3 w = v3_scale(narrow_axis_z_inv(rel.q), size_a.y);
  F scale = (size_a.y + r) + ((h.x + h.y) + h.z);

  NarrowProbe best;
  best.t = narrow_segment_box_nearest(p, w, h);
  V3 x = v3_add_scaled(p, w, best.t);
  best.c = v3(f_clamp(x.x, -h.x, h.x), f_clamp(x.y, -h.y, h.y), f_clamp(x.z, -h.z, h.z));
  V3 d = v3_sub(best.c, x);
  best.n = v3_normalize_or(d, v3(K(0.0f), K(0.0f), K(1.0f)));
  /* Where the segment nearly meets the box, d loses its direction: the axis that separates more is the better one. */
  F box_reach = (f_abs(best.n.x) * h.x + f_abs(best.n.y) * h.y) + f_abs(best.n.z) * h.z;
  M apart = v3_len2(d) > 1.0e-12f * (scale * scale) + 1.0e-24f;
  best.sep = f_sel(apart, -(v3_dot(best.n, p) + f_abs(v3_dot(best.n, w))) - box_reach, K(-NARROW_NO_POINT));
  NarrowProbe deep = narrow_segment_box_deep(p, w, h, 1.0e-5f * scale);
  best = narrow_probe_sel(best.sep >= deep.sep - 1.0e-6f * scale, best, deep);

  V3 n = best.n;
  V3 an = v3(f_abs(n.x), f_abs(n.y), f_abs(n.z));
  U k = u_sel(m_and(an.x >= an.y, an.x >= an.z), KU(0u), u_sel(an.y >= an.z, KU(1u), KU(2u)));
  NarrowSpan span = narrow_clip_face(p, w, h, k);
  F t2 = f_sel(best.t - span.lo > span.hi - best.t, span.lo, span.hi);
  M over = narrow_pick(an, k) > 0.95f;
  M two = m_and(m_and(over, span.lo <= span.hi), f_abs(t2 - best.t) > 1.0e-3f);
  t2 = f_clamp(t2, K(-1.0f), K(1.0f));
  V3 x2 = v3_add_scaled(p, w, t2);
  V3 c2 = narrow_with(x2, k, -narrow_sign(narrow_pick(n, k)) * narrow_pick(h, k));
  M first_low = best.t < t2;

  x = v3_add_scaled(p, w, best.t);
  V3 n_a = q4_rotate(rel.q, n);
  Manifold m = narrow_single(n_a, narrow_from_axis(best.t * size_a.y, n_a, r), best.c, v3_dot(v3_sub(best.c, x), n) - r,
                             u_sel(over, u_sel(first_low, KU(1u), KU(2u)), KU(0u)));
  m.a1 = narrow_from_axis(t2 * size_a.y, n_a, r);
  m.b1 = c2;
  m.g1 = f_sel(two, v3_dot(v3_sub(c2, x2), n) - r, K(NARROW_NO_POINT));
  m.f1 = u_sel(first_low, KU(2u), KU(1u));
  return m;
}

#endif
