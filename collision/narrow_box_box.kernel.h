/* Narrow phase of two boxes, in the kernel dialect: separating axes, then clipping of the incident face against the
 * reference face, then at most four points. Knows narrow_manifold.kernel.h.
 *
 * Fifteen axes decide (Gottschalk et al. 1996). A face is preferred to an edge pair, and a's face to b's, unless the
 * other axis is better by a small length, so that resting boxes do not flicker between them. */
#ifndef SAMEBIT_COLLISION_NARROW_BOX_BOX_KERNEL_H
#define SAMEBIT_COLLISION_NARROW_BOX_BOX_KERNEL_H

#include "narrow_manifold.kernel.h"

/* Candidates of a clipped face: 0 to 3 where incident edge i starts inside, 4 to 7 where it ends short of its end, 8 to
 * 11 the reference face's corners, 12 the incident box's support corner. */
#define NARROW_CLIP_POINTS 12

/* Best separating axis of one kind. */
STRUCT(NarrowAxis) { F sep; U index; };

/* Faces of the box at the origin with half extents h, against the box with centre t, axes r's columns, extents e. */
FN NarrowAxis narrow_best_face(M33 r, V3 t, V3 h, V3 e)
{
  F sx = f_abs(t.x) - (h.x + ((f_abs(r.r0.x) * e.x + f_abs(r.r0.y) * e.y) + f_abs(r.r0.z) * e.z));
  F sy = f_abs(t.y) - (h.y + ((f_abs(r.r1.x) * e.x + f_abs(r.r1.y) * e.y) + f_abs(r.r1.z) * e.z));
  F sz = f_abs(t.z) - (h.z + ((f_abs(r.r2.x) * e.x + f_abs(r.r2.y) * e.y) + f_abs(r.r2.z) * e.z));
  NarrowAxis best;
  best.sep = sx;
  best.index = KU(0u);
  best.index = u_sel(sy > best.sep, KU(1u), best.index);
  best.sep = f_max(sy, best.sep);
  best.index = u_sel(sz > best.sep, KU(2u), best.index);
  best.sep = f_max(sz, best.sep);
  return best;
}

FN M33 narrow_transpose(M33 r)
{
  return m33(v3(r.r0.x, r.r1.x, r.r2.x), v3(r.r0.y, r.r1.y, r.r2.y), v3(r.r0.z, r.r1.z, r.r2.z));
}
FN M33 narrow_m33_sel(M m, M33 a, M33 b)
{
  return m33(v3_sel(m, a.r0, b.r0), v3_sel(m, a.r1, b.r1), v3_sel(m, a.r2, b.r2));
}
/* v with its components turned in a circle so that component k comes last: (k + 1, k + 2, k). */
FN V3 narrow_cycle(V3 v, U k)
{
  return v3_sel(k == 2u, v, v3_sel(k == 0u, v3(v.y, v.z, v.x), v3(v.z, v.x, v.y)));
}
/* Undoes narrow_cycle. */
FN V3 narrow_uncycle(V3 v, U k)
{
  return v3_sel(k == 2u, v, v3_sel(k == 0u, v3(v.z, v.x, v.y), v3(v.y, v.z, v.x)));
}
FN M33 narrow_cycle_rows(M33 r, U k)
{
  return m33(v3_sel(k == 2u, r.r0, v3_sel(k == 0u, r.r1, r.r2)), v3_sel(k == 2u, r.r1, v3_sel(k == 0u, r.r2, r.r0)),
             v3_sel(k == 2u, r.r2, v3_sel(k == 0u, r.r0, r.r1)));
}

/* Two edges, one of each box, and the axis e_i x column_j between them. */
STRUCT(NarrowEdges) { F sep; V3 n; U pair; };

/* Edge axis for a's edge along axis i (uniform) and b's edge along the unit vector c. h and t have i as their first
 * component, then the next two in circular order; so has c. side: what the other two axes of b add. */
FN NarrowEdges narrow_edge_axis(V3 h, V3 t, V3 c, F side, int pair)
{
  F len2 = c.y * c.y + c.z * c.z;
  M ok = len2 > 1.0e-6f;
  F inv = f_div(K(1.0f), f_sqrt(f_sel(ok, len2, K(1.0f))));
  F off = t.z * c.y - t.y * c.z;
  NarrowEdges r;
  F reach = (h.y * f_abs(c.z) + h.z * f_abs(c.y)) + side;
  r.sep = f_sel(ok, (f_abs(off) - reach) * inv, K(-NARROW_NO_POINT));
  F s = inv * narrow_sign(off);
  r.n = v3(K(0.0f), -c.z * s, c.y * s);
  r.pair = u_from_i(KI(pair));
  return r;
}
FN NarrowEdges narrow_edges_better(NarrowEdges a, NarrowEdges b)
{
  M m = b.sep > a.sep;
  NarrowEdges r;
  r.sep = f_sel(m, b.sep, a.sep);
  r.n = v3_sel(m, b.n, a.n);
  r.pair = u_sel(m, b.pair, a.pair);
  return r;
}
/* All nine edge pairs; n in a's frame, pair = 3 i + j. */
FN NarrowEdges narrow_best_edges(M33 r, V3 t, V3 h, V3 e)
{
  NarrowEdges best;
  best.sep = K(-NARROW_NO_POINT);
  best.n = v3_zero();
  best.pair = KU(0u);
  for (int i = 0; i < 3; i++) {
    V3 ri = i == 0 ? r.r0 : (i == 1 ? r.r1 : r.r2);
    V3 rj = i == 0 ? r.r1 : (i == 1 ? r.r2 : r.r0);
    V3 rk = i == 0 ? r.r2 : (i == 1 ? r.r0 : r.r1);
    V3 hi = i == 0 ? h : (i == 1 ? v3(h.y, h.z, h.x) : v3(h.z, h.x, h.y));
    V3 ti = i == 0 ? t : (i == 1 ? v3(t.y, t.z, t.x) : v3(t.z, t.x, t.y));
    NarrowEdges x = narrow_edge_axis(hi, ti, v3(ri.x, rj.x, rk.x), e.y * f_abs(ri.z) + e.z * f_abs(ri.y), 3 * i);
    NarrowEdges y =
        narrow_edge_axis(hi, ti, v3(ri.y, rj.y, rk.y), e.z * f_abs(ri.x) + e.x * f_abs(ri.z), 3 * i + 1);
    NarrowEdges z =
        narrow_edge_axis(hi, ti, v3(ri.z, rj.z, rk.z), e.x * f_abs(ri.y) + e.y * f_abs(ri.x), 3 * i + 2);
    NarrowEdges row = narrow_edges_better(narrow_edges_better(x, y), z);
    row.n = i == 0 ? row.n : (i == 1 ? v3(row.n.z, row.n.x, row.n.y) : v3(row.n.y, row.n.z, row.n.x));
    best = narrow_edges_better(best, row);
  }
  return best;
}

/* The contact of an edge pair: nearest points of the two edges' lines. */
FN Manifold narrow_edge_contact(Manifold m, NarrowEdges ed, M33 r, V3 t, V3 h, V3 e)
{
  U j = ed.pair;
  U i = u_sel(j >= 6u, KU(2u), u_sel(j >= 3u, KU(1u), KU(0u)));
  j = j - 3u * i;
  V3 n = ed.n;
  V3 nb = m33_tmul_v3(r, n);
  V3 sa = v3(narrow_sign(n.x), narrow_sign(n.y), narrow_sign(n.z));
  V3 sb = v3(-narrow_sign(nb.x), -narrow_sign(nb.y), -narrow_sign(nb.z));
  V3 pa = narrow_with(v3(sa.x * h.x, sa.y * h.y, sa.z * h.z), i, K(0.0f));
  V3 pb = narrow_with(v3(sb.x * e.x, sb.y * e.y, sb.z * e.z), j, K(0.0f));
  V3 ua = narrow_with(v3_zero(), i, K(1.0f));
  V3 ub = m33_mul_v3(r, narrow_with(v3_zero(), j, K(1.0f)));
  /* pa + s ua and pb' + q ub, with unit ua, ub: s = (d.ua - (ua.ub)(d.ub)) / (1 - (ua.ub)^2) */
  V3 d = v3_sub(v3_add(t, m33_mul_v3(r, pb)), pa);
  F c = v3_dot(ua, ub);
  F da = v3_dot(d, ua);
  F db = v3_dot(d, ub);
  F det = v3_len2(v3_cross(ua, ub));
  M ok = det > 1.0e-7f;
  F inv = f_div(K(1.0f), f_sel(ok, det, K(1.0f)));
  F ha = narrow_pick(h, i);
  F hb = narrow_pick(e, j);
  F s = f_clamp(f_sel(ok, (da - c * db) * inv, K(0.0f)), -ha, ha);
  F q = f_clamp(f_sel(ok, (c * da - db) * inv, K(0.0f)), -hb, hb);
  m.n = n;
  m.a0 = narrow_with(pa, i, s);
  m.b0 = narrow_with(pb, j, q);
  m.g0 = ed.sep;
  U signs = (u_sel(sa.x > 0.0f, KU(1u), KU(0u)) | u_sel(sa.y > 0.0f, KU(2u), KU(0u))) |
            u_sel(sa.z > 0.0f, KU(4u), KU(0u));
  signs = signs | ((u_sel(sb.x > 0.0f, KU(8u), KU(0u)) | u_sel(sb.y > 0.0f, KU(16u), KU(0u))) |
                   u_sel(sb.z > 0.0f, KU(32u), KU(0u)));
  /* the sign along the edge itself means nothing */
  signs = signs & ~((KU(1u) << i) | (KU(8u) << j));
  m.f0 = (KU(0x8000u) | (ed.pair << 6)) | signs;
  return m;
}

/* A chosen clip point: place on the reference face, height of the incident point over the box's centre plane along the
 * outward normal less the half extent (the gap), candidate number. */
STRUCT(NarrowClipPoint) { F x; F y; F g; U id; };

FN NarrowClipPoint narrow_clip_point(F x, F y, F g, U id)
{
  NarrowClipPoint p;
  p.x = x; p.y = y; p.g = g; p.id = id;
  return p;
}
FN NarrowClipPoint narrow_clip_sel(M m, NarrowClipPoint a, NarrowClipPoint b)
{
  return narrow_clip_point(f_sel(m, a.x, b.x), f_sel(m, a.y, b.y), f_sel(m, a.g, b.g), u_sel(m, a.id, b.id));
}
/* (b - a) x (c - a) in the reference face's plane */
FN F narrow_area(NarrowClipPoint a, NarrowClipPoint b, F x, F y)
{
  return (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x);
}

/* Reference face, with z along its axis, x and y in it: half extents h (h.z along the axis) and the side it is on. The
 * incident face: centre c, half edges u and v, with z measured along the outward normal. */
STRUCT(NarrowFaces) { V3 h; V3 c; V3 u; V3 v; };

STRUCT(NarrowClip) { NarrowClipPoint p0; NarrowClipPoint p1; NarrowClipPoint p2; NarrowClipPoint p3; };

/* Keeps up to four of the candidates with a gap below the limit: the deepest, the farthest from it, the one that makes
 * the largest triangle with both, and the one farthest outside that triangle. Later candidates must be better by a
 * small length or factor. size2: the square of the face's size. */
FN NarrowClip narrow_reduce(F px[NARROW_CLIP_POINTS], F py[NARROW_CLIP_POINTS], F pg[NARROW_CLIP_POINTS], F size2,
                            F limit, F tolerance)
{
  NarrowClip r;
  NarrowClipPoint none = narrow_clip_point(K(0.0f), K(0.0f), K(NARROW_NO_POINT), KU(15u));
  r.p0 = none;
  for (int k = 0; k < NARROW_CLIP_POINTS; k++) {
    M take = pg[k] + tolerance < r.p0.g;
    r.p0 = narrow_clip_sel(take, narrow_clip_point(px[k], py[k], pg[k], u_from_i(KI(k))), r.p0);
  }
  F least = 1.0e-8f * size2;
  F best = least;
  r.p1 = none;
  for (int k = 0; k < NARROW_CLIP_POINTS; k++) {
    F dx = px[k] - r.p0.x;
    F dy = py[k] - r.p0.y;
    F score = dx * dx + dy * dy;
    M take = m_and(pg[k] < limit, score > best * 1.0001f);
    best = f_sel(take, score, best);
    r.p1 = narrow_clip_sel(take, narrow_clip_point(px[k], py[k], pg[k], u_from_i(KI(k))), r.p1);
  }
  /* areas below this are slivers that a third point would not improve */
  F span2 = best;
  M pair = r.p1.g < limit;
  best = 1.0e-5f * span2;
  r.p2 = none;
  F turn = K(1.0f);
  for (int k = 0; k < NARROW_CLIP_POINTS; k++) {
    F area = narrow_area(r.p0, r.p1, px[k], py[k]);
    F score = f_abs(area);
    M take = m_and(m_and(pair, pg[k] < limit), score > best * 1.0001f);
    best = f_sel(take, score, best);
    turn = f_sel(take, narrow_sign(area), turn);
    r.p2 = narrow_clip_sel(take, narrow_clip_point(px[k], py[k], pg[k], u_from_i(KI(k))), r.p2);
  }
  M triple = r.p2.g < limit;
  best = 1.0e-5f * span2;
  r.p3 = none;
  for (int k = 0; k < NARROW_CLIP_POINTS; k++) {
    F e0 = narrow_area(r.p0, r.p1, px[k], py[k]) * -turn;
    F e1 = narrow_area(r.p1, r.p2, px[k], py[k]) * -turn;
    F e2 = narrow_area(r.p2, r.p0, px[k], py[k]) * -turn;
    F score = f_max(e0, f_max(e1, e2));
    M take = m_and(m_and(triple, pg[k] < limit), score > best * 1.0001f);
    best = f_sel(take, score, best);
    r.p3 = narrow_clip_sel(take, narrow_clip_point(px[k], py[k], pg[k], u_from_i(KI(k))), r.p3);
  }
  return r;
}

/* Clips the incident face against the sides of the reference face. */
FN NarrowClip narrow_clip_faces(NarrowFaces fc, F limit, F tolerance)
{
  F px[NARROW_CLIP_POINTS];
  F py[NARROW_CLIP_POINTS];
  F pg[NARROW_CLIP_POINTS];
  /* incident edges: from c + su u + sv v, corners in circular order (+,+) (-,+) (-,-) (+,-) */
  for (int k = 0; k < 4; k++) {
    F su = k == 0 || k == 3 ? K(1.0f) : K(-1.0f);
    F sv = k < 2 ? K(1.0f) : K(-1.0f);
    V3 p = v3_add_scaled(v3_add_scaled(fc.c, fc.u, su), fc.v, sv);
    /* edges 0 and 2 run along -u and +u, 1 and 3 along -v and +v */
    V3 d = v3_scale((k & 1) == 0 ? fc.u : fc.v, k < 2 ? K(-2.0f) : K(2.0f));
    M level_x = f_abs(d.x) <= 1.0e-7f * fc.h.x + 1.0e-30f;
    M level_y = f_abs(d.y) <= 1.0e-7f * fc.h.y + 1.0e-30f;
    F inv_x = f_div(K(1.0f), f_sel(level_x, K(1.0f), d.x));
    F inv_y = f_div(K(1.0f), f_sel(level_y, K(1.0f), d.y));
    F x0 = (-fc.h.x - p.x) * inv_x;
    F x1 = (fc.h.x - p.x) * inv_x;
    F y0 = (-fc.h.y - p.y) * inv_y;
    F y1 = (fc.h.y - p.y) * inv_y;
    F in_x = f_sel(f_abs(p.x) <= fc.h.x, K(-2.0f), K(2.0f));
    F in_y = f_sel(f_abs(p.y) <= fc.h.y, K(-2.0f), K(2.0f));
    F t0 = f_max(f_sel(level_x, in_x, f_min(x0, x1)), f_sel(level_y, in_y, f_min(y0, y1)));
    F t1 = f_min(f_sel(level_x, -in_x, f_max(x0, x1)), f_sel(level_y, -in_y, f_max(y0, y1)));
    t0 = f_max(t0, K(0.0f));
    t1 = f_min(t1, K(1.0f));
    M some = t0 <= t1;
    M cut = m_and(some, t1 < 1.0f);
    px[k] = p.x + d.x * t0;
    py[k] = p.y + d.y * t0;
    F g = (p.z + d.z * t0) - fc.h.z;
    pg[k] = f_sel(m_and(some, g < limit), g, K(NARROW_NO_POINT));
    px[k + 4] = p.x + d.x * t1;
    py[k + 4] = p.y + d.y * t1;
    g = (p.z + d.z * t1) - fc.h.z;
    pg[k + 4] = f_sel(m_and(cut, g < limit), g, K(NARROW_NO_POINT));
  }
  /* reference corners under the incident face: c + a u + b v = corner in x and y */
  F det = fc.u.x * fc.v.y - fc.u.y * fc.v.x;
  M solid = f_abs(det) > 1.0e-30f;
  F inv = f_div(K(1.0f), f_sel(solid, det, K(1.0f)));
  for (int k = 0; k < 4; k++) {
    F x = k == 0 || k == 3 ? fc.h.x : -fc.h.x;
    F y = k < 2 ? fc.h.y : -fc.h.y;
    F dx = x - fc.c.x;
    F dy = y - fc.c.y;
    F a = (dx * fc.v.y - dy * fc.v.x) * inv;
    F b = (fc.u.x * dy - fc.u.y * dx) * inv;
    M in_u = f_abs(a) <= 1.0f;
    M in_v = f_abs(b) <= 1.0f;
    M inside = m_and(solid, m_and(in_u, in_v));
    F g = ((fc.c.z + a * fc.u.z) + b * fc.v.z) - fc.h.z;
    px[k + 8] = x;
    py[k + 8] = y;
    pg[k + 8] = f_sel(m_and(inside, g < limit), g, K(NARROW_NO_POINT));
  }

  F size2 = fc.h.x * fc.h.x + fc.h.y * fc.h.y;
  return narrow_reduce(px, py, pg, size2, limit, tolerance);
}

/* A point of the manifold, in the frames of the reference box and of the incident box. */
STRUCT(NarrowFacePoint) { V3 on_ref; V3 on_inc; };

FN NarrowFacePoint narrow_face_point(NarrowClipPoint p, NarrowFaces fc, F side, U k, M33 r, V3 t)
{
  NarrowFacePoint f;
  f.on_ref = narrow_uncycle(v3(p.x, p.y, side * fc.h.z), k);
  V3 on = narrow_uncycle(v3(p.x, p.y, side * (p.g + fc.h.z)), k);
  f.on_inc = m33_tmul_v3(r, v3_sub(on, t));
  return f;
}

/* The points of clipped faces; the normal is left to the caller. r, t: pose of the incident box in the reference's. */
FN Manifold narrow_face_manifold(NarrowClip clip, NarrowFaces fc, F side, U k, M33 r, V3 t, M use_b, U code)
{
  NarrowFacePoint f0 = narrow_face_point(clip.p0, fc, side, k, r, t);
  NarrowFacePoint f1 = narrow_face_point(clip.p1, fc, side, k, r, t);
  NarrowFacePoint f2 = narrow_face_point(clip.p2, fc, side, k, r, t);
  NarrowFacePoint f3 = narrow_face_point(clip.p3, fc, side, k, r, t);
  Manifold m = manifold_empty();
  m.a0 = v3_sel(use_b, f0.on_inc, f0.on_ref); m.b0 = v3_sel(use_b, f0.on_ref, f0.on_inc);
  m.a1 = v3_sel(use_b, f1.on_inc, f1.on_ref); m.b1 = v3_sel(use_b, f1.on_ref, f1.on_inc);
  m.a2 = v3_sel(use_b, f2.on_inc, f2.on_ref); m.b2 = v3_sel(use_b, f2.on_ref, f2.on_inc);
  m.a3 = v3_sel(use_b, f3.on_inc, f3.on_ref); m.b3 = v3_sel(use_b, f3.on_ref, f3.on_inc);
  m.g0 = clip.p0.g; m.g1 = clip.p1.g; m.g2 = clip.p2.g; m.g3 = clip.p3.g;
  m.f0 = code | clip.p0.id; m.f1 = code | clip.p1.id; m.f2 = code | clip.p2.id; m.f3 = code | clip.p3.id;
  return m;
}

FN Manifold narrow_box_box(V3 size_a, V3 size_b, X7 rel, F limit)
{
  M33 r = q4_to_m33(rel.q);
  M33 rt = narrow_transpose(r);
  V3 t = rel.p;
  V3 t_inv = v3_neg(m33_mul_v3(rt, t));
  F least = f_min(f_min(f_min(size_a.x, size_a.y), size_a.z), f_min(f_min(size_b.x, size_b.y), size_b.z));
  F tolerance = 1.0e-3f * least;

  NarrowAxis face_a = narrow_best_face(r, t, size_a, size_b);
  NarrowAxis face_b = narrow_best_face(rt, t_inv, size_b, size_a);
  NarrowEdges edges = narrow_best_edges(r, t, size_a, size_b);
  M use_b = face_b.sep > face_a.sep + tolerance;
  F face_sep = f_sel(use_b, face_b.sep, face_a.sep);
  M use_edge = edges.sep > face_sep + tolerance;

  /* the reference box at the origin, its face's axis last */
  U k = u_sel(use_b, face_b.index, face_a.index);
  M33 rr = narrow_m33_sel(use_b, rt, r);
  V3 rt0 = v3_sel(use_b, t_inv, t);
  V3 e = v3_sel(use_b, size_a, size_b);
  M33 rc = narrow_cycle_rows(rr, k);
  V3 tc = narrow_cycle(rt0, k);
  F side = narrow_sign(tc.z);
  NarrowFaces fc;
  fc.h = narrow_cycle(v3_sel(use_b, size_b, size_a), k);
  /* heights along the outward normal */
  V3 up = v3_scale(rc.r2, side);
  V3 aup = v3(f_abs(up.x), f_abs(up.y), f_abs(up.z));
  U j = u_sel(m_and(aup.x >= aup.y, aup.x >= aup.z), KU(0u), u_sel(aup.y >= aup.z, KU(1u), KU(2u)));
  V3 ec = narrow_cycle(e, j);
  V3 row_x = narrow_cycle(rc.r0, j);
  V3 row_y = narrow_cycle(rc.r1, j);
  V3 row_z = narrow_cycle(up, j);
  F face_side = -narrow_sign(row_z.z);
  F out_by = face_side * ec.z;
  fc.c = v3(tc.x + row_x.z * out_by, tc.y + row_y.z * out_by, side * tc.z + row_z.z * out_by);
  fc.u = v3(row_x.x * ec.x, row_y.x * ec.x, row_z.x * ec.x);
  fc.v = v3(row_x.y * ec.y, row_y.y * ec.y, row_z.y * ec.y);
  NarrowClip clip = narrow_clip_faces(fc, limit, 0.1f * tolerance);

  /* Overlapping boxes always touch: where clipping found nothing, the incident box's lowest corner stands in. */
  F su = -narrow_sign(fc.u.z);
  F sv = -narrow_sign(fc.v.z);
  V3 low = v3_add_scaled(v3_add_scaled(fc.c, fc.u, su), fc.v, sv);
  M lost = m_and(m_not(clip.p0.g < limit), low.z - fc.h.z < f_min(limit, K(0.0f)));
  clip.p0 = narrow_clip_sel(m_and(lost, face_sep < 0.0f), narrow_clip_point(low.x, low.y, low.z - fc.h.z, KU(12u)),
                            clip.p0);

  V3 n_ref = narrow_uncycle(v3(K(0.0f), K(0.0f), side), k);
  U code = (u_sel(use_b, KU(64u), KU(0u)) | (k << 4)) | (u_sel(side > 0.0f, KU(8u), KU(0u)) | (j << 1));
  code = (code | u_sel(face_side > 0.0f, KU(1u), KU(0u))) << 4;

  Manifold m = narrow_face_manifold(clip, fc, side, k, rr, rt0, use_b, code);
  m.n = v3_sel(use_b, v3_neg(m33_mul_v3(r, n_ref)), n_ref);
  Manifold em = narrow_edge_contact(manifold_empty(), edges, r, t, size_a, size_b);
  m.n = v3_sel(use_edge, em.n, m.n);
  m.a0 = v3_sel(use_edge, em.a0, m.a0);
  m.b0 = v3_sel(use_edge, em.b0, m.b0);
  m.g0 = f_sel(use_edge, em.g0, m.g0);
  m.g1 = f_sel(use_edge, K(NARROW_NO_POINT), m.g1);
  m.g2 = f_sel(use_edge, K(NARROW_NO_POINT), m.g2);
  m.g3 = f_sel(use_edge, K(NARROW_NO_POINT), m.g3);
  m.f0 = u_sel(use_edge, em.f0, m.f0);
  return m;
}

#endif
