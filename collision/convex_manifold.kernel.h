/* Manifolds of convex shapes, in the scalar part of the kernel dialect: the touching faces or edges clipped against each other, then at
 * most four points; and the same for a triangle of a surface, and for a plane. Knows convex_distance.kernel.h.
 *
 * A feature id names the candidate inside its manifold (6 bits), which shape is the reference (1), and its face and the other's (4 and
 * 5 bits, low ones), so ids differ inside a manifold and mostly stay from tick to tick. */
#ifndef SAMEBIT_COLLISION_CONVEX_MANIFOLD_KERNEL_H
#define SAMEBIT_COLLISION_CONVEX_MANIFOLD_KERNEL_H

#include "convex_distance.kernel.h"

/* Candidates: the start of each incident edge's piece, its end, the reference face's corners, the deepest point itself. */
#define CLIP_ENDS 16
#define CLIP_CORNERS 32
#define CLIP_DEEPEST 48
#ifndef CLIP_MAX
#define CLIP_MAX 49 /* fewer in a parity case, as for the polytope */
#endif
/* Faces tilted more than this from the normal (cosine) are not clipped: the contact is at an edge or corner. */
#define CLIP_ALIGNED 0.985f
/* The same for two edges, which must be at right angles to the normal. */
#define CLIP_SQUARE 0.9999f

/* Candidate points on a; b's is on_a + n g. slot: which candidate it is. */
STRUCT(ClipPoints) { F x[CLIP_MAX]; F y[CLIP_MAX]; F z[CLIP_MAX]; F g[CLIP_MAX]; U slot[CLIP_MAX]; U count; U code; };

FN void clip_put(EDIT(ClipPoints, c), U slot, V3 on_a, F gap, F limit)
{
  if (!(gap < limit)) return;
  U i = AT(c).count;
  AT(c).x[i] = on_a.x; AT(c).y[i] = on_a.y; AT(c).z[i] = on_a.z;
  AT(c).g[i] = gap;
  AT(c).slot[i] = slot;
  AT(c).count = i + 1u;
}

FN V3 clip_at(VIEW(ClipPoints, c), U i) { return v3(AT(c).x[i], AT(c).y[i], AT(c).z[i]); }

/* A stretch of an edge, from t0 to t1 of its length; empty when t0 > t1. */
STRUCT(ClipSpan) { F t0; F t1; };

/* Whether every edge of a face is longer than `least`. */
FN bool clip_solid(VIEW(Feature, face), F least)
{
  bool solid = true;
  for (U i = KU(0u); i < AT(face).count; i++) {
    V3 edge = v3_sub(feature_next(face, i), feature_at(face, i));
    solid = solid && v3_len2(edge) > least * least;
  }
  return solid;
}

/* A length without a root: not below the Euclidean one, less than twice as much. */
FN F clip_size(V3 v) { return (f_abs(v.x) + f_abs(v.y)) + f_abs(v.z); }

/* The part of p + t d inside the prism that a face sweeps along up, which leaves the face outwards. */
FN ClipSpan clip_edge(VIEW(Feature, face), V3 up, V3 p, V3 d)
{
  ClipSpan s;
  F size = clip_size(d);
  s.t0 = K(0.0f);
  s.t1 = K(1.0f);
  for (U i = KU(0u); i < AT(face).count; i++) {
    V3 corner = feature_at(face, i);
    V3 inward = v3_cross(up, v3_sub(feature_next(face, i), corner));
    V3 from = v3_sub(p, corner);
    F in_by = v3_dot(from, inward);
    F rate = v3_dot(d, inward);
    /* a hair of room, so that no point is lost between neighbouring faces */
    F room = 1.0e-6f * (clip_size(inward) * (size + clip_size(from)));
    if (f_abs(rate) <= room) {
      if (in_by < -room) s.t0 = K(2.0f);
    } else if (rate > 0.0f) {
      s.t0 = f_max(s.t0, f_div(-in_by, rate));
    } else {
      s.t1 = f_min(s.t1, f_div(-in_by, rate));
    }
  }
  return s;
}

/* Whether the line through p along n passes through a face. */
FN bool clip_inside(VIEW(Feature, face), V3 p, V3 n)
{
  bool inside = AT(face).count >= 3u;
  for (U i = KU(0u); i < AT(face).count; i++) {
    V3 corner = feature_at(face, i);
    V3 edge = v3_sub(feature_next(face, i), corner);
    V3 inward = v3_cross(AT(face).n, edge);
    F height = v3_dot(v3_sub(corner, p), AT(face).n);
    V3 foot = v3_add_scaled(p, n, f_div(height, v3_dot(n, AT(face).n)));
    V3 from = v3_sub(foot, corner);
    F room = 1.0e-6f * (clip_size(inward) * (clip_size(edge) + clip_size(from)));
    inside = inside && v3_dot(from, inward) >= -room;
  }
  return inside;
}

/* Clips the incident feature against the reference face. b_is_ref: the reference face is b's. n from a to b. */
FN void clip_features(EDIT(ClipPoints, c), VIEW(Feature, ref), VIEW(Feature, inc), V3 n, bool b_is_ref, F limit)
{
  F slope = f_div(K(1.0f), v3_dot(AT(ref).n, n));
  V3 origin = feature_at(ref, KU(0u));
  U edges = AT(inc).count == 2u ? KU(1u) : AT(inc).count;
  for (U i = KU(0u); i < edges; i++) {
    V3 p = feature_at(inc, i);
    V3 d = v3_sub(feature_next(inc, i), p);
    ClipSpan s = clip_edge(ref, b_is_ref ? v3_neg(n) : n, p, d);
    if (!(s.t0 <= s.t1)) continue;
    /* the end belongs to the next edge, unless this one is cut there */
    U ends = !(s.t1 < 1.0f) && AT(inc).count > 2u ? KU(1u) : KU(2u);
    for (U end = KU(0u); end < ends; end++) {
      V3 q = v3_add_scaled(p, d, end == 0u ? s.t0 : s.t1);
      F g = v3_dot(v3_sub(q, origin), AT(ref).n) * slope;
      g = b_is_ref ? -g : g;
      clip_put(c, i + CLIP_ENDS * end, b_is_ref ? q : v3_add_scaled(q, n, -g), g, limit);
    }
  }
  F facing = v3_dot(AT(inc).n, n);
  if (AT(inc).count >= 3u && f_abs(facing) > 0.1f)
    for (U i = KU(0u); i < AT(ref).count; i++) {
      V3 p = feature_at(ref, i);
      if (!clip_inside(inc, p, n)) continue;
      F g = f_div(v3_dot(v3_sub(feature_at(inc, KU(0u)), p), AT(inc).n), facing);
      g = b_is_ref ? -g : g;
      clip_put(c, i + CLIP_CORNERS, b_is_ref ? v3_add_scaled(p, n, -g) : p, g, limit);
    }
  AT(c).code = ((b_is_ref ? KU(64u) : KU(0u)) | ((AT(ref).id & 15u) << 7)) | ((AT(inc).id & 31u) << 11);
}

/* Two nearly parallel edges: the ends of their overlap. */
FN void clip_edges(EDIT(ClipPoints, c), VIEW(Feature, fa), VIEW(Feature, fb), V3 n, F limit)
{
  V3 a0 = feature_at(fa, KU(0u));
  V3 b0 = feature_at(fb, KU(0u));
  V3 da = v3_sub(feature_at(fa, KU(1u)), a0);
  V3 db = v3_sub(feature_at(fb, KU(1u)), b0);
  F la = v3_len2(da);
  F lb = v3_len2(db);
  if (!(la > 0.0f && lb > 0.0f)) return;
  if (!(v3_len2(v3_cross(da, db)) < 6.0e-4f * (la * lb))) return;
  F s0 = f_div(v3_dot(v3_sub(b0, a0), da), la);
  F s1 = s0 + f_div(v3_dot(db, da), la);
  F lo = f_clamp(f_min(s0, s1), K(0.0f), K(1.0f));
  F hi = f_clamp(f_max(s0, s1), K(0.0f), K(1.0f));
  if (!(hi - lo > 1.0e-3f)) return;
  for (U i = KU(0u); i < 2u; i++) {
    V3 p = v3_add_scaled(a0, da, i == 0u ? lo : hi);
    F t = f_clamp(f_div(v3_dot(v3_sub(p, b0), db), lb), K(0.0f), K(1.0f));
    V3 apart = v3_sub(v3_add_scaled(b0, db, t), p);
    F g = v3_dot(apart, n);
    clip_put(c, i * CLIP_ENDS, v3_add_scaled(p, v3_add_scaled(apart, n, -g), K(0.5f)), g, limit);
  }
}

/* The candidate with the deepest point; later ones must be deeper by `tolerance`. CLIP_MAX when there is none. */
FN U clip_deepest(VIEW(ClipPoints, c), F tolerance)
{
  U best = KU(CLIP_MAX);
  F least = K(NARROW_NO_POINT);
  for (U i = KU(0u); i < AT(c).count; i++)
    if (AT(c).g[i] < least - tolerance) {
      least = AT(c).g[i];
      best = i;
    }
  return best;
}

/* Adds the deepest point itself, unless a candidate is as deep. */
FN void clip_put_deepest(EDIT(ClipPoints, c), V3 on_a, F gap, F tolerance, F limit)
{
  bool has = false;
  for (U i = KU(0u); i < AT(c).count; i++) has = has || AT(c).g[i] <= gap + tolerance;
  if (!has) clip_put(c, KU(CLIP_DEEPEST), on_a, gap, limit);
}

FN F clip_area(V3 n, V3 p, V3 q, V3 r) { return v3_dot(n, v3_cross(v3_sub(q, p), v3_sub(r, p))); }

/* Up to four of the candidates: the deepest, the farthest from it, the one that makes the largest triangle with both, the one farthest
 * outside that triangle. Later candidates must be better by a factor. The points of b are in b's own frame. */
FN Manifold clip_reduce(VIEW(ClipPoints, c), V3 n, VIEW(Convex, b), F tolerance)
{
  Manifold m = manifold_empty();
  m.n = n;
  U i0 = clip_deepest(c, tolerance);
  if (i0 == CLIP_MAX) return m;
  V3 p0 = clip_at(c, i0);
  U i1 = KU(CLIP_MAX);
  F best = K(0.0f);
  for (U i = KU(0u); i < AT(c).count; i++) best = f_max(best, v3_len2(v3_sub(clip_at(c, i), p0)));
  F span2 = best;
  best = 1.0e-6f * (AT(b).reach * AT(b).reach);
  best = f_min(best, 0.5f * span2);
  for (U i = KU(0u); i < AT(c).count; i++) {
    F score = v3_len2(v3_sub(clip_at(c, i), p0));
    if (score > best * 1.0001f) {
      best = score;
      i1 = i;
    }
  }
  U i2 = KU(CLIP_MAX);
  U i3 = KU(CLIP_MAX);
  if (i1 != CLIP_MAX) {
    V3 p1 = clip_at(c, i1);
    F turn = K(1.0f);
    best = 1.0e-3f * span2;
    for (U i = KU(0u); i < AT(c).count; i++) {
      F area = clip_area(n, p0, p1, clip_at(c, i));
      if (f_abs(area) > best * 1.0001f) {
        best = f_abs(area);
        turn = narrow_sign(area);
        i2 = i;
      }
    }
    if (i2 != CLIP_MAX) {
      V3 p2 = clip_at(c, i2);
      best = 1.0e-3f * span2;
      for (U i = KU(0u); i < AT(c).count; i++) {
        V3 p = clip_at(c, i);
        F e0 = clip_area(n, p0, p1, p) * -turn;
        F e1 = clip_area(n, p1, p2, p) * -turn;
        F e2 = clip_area(n, p2, p0, p) * -turn;
        F score = f_max(e0, f_max(e1, e2));
        if (score > best * 1.0001f) {
          best = score;
          i3 = i;
        }
      }
    }
  }
  m.a0 = p0;
  m.g0 = AT(c).g[i0];
  m.f0 = AT(c).code | AT(c).slot[i0];
  if (i1 != CLIP_MAX) { m.a1 = clip_at(c, i1); m.g1 = AT(c).g[i1]; m.f1 = AT(c).code | AT(c).slot[i1]; }
  if (i2 != CLIP_MAX) { m.a2 = clip_at(c, i2); m.g2 = AT(c).g[i2]; m.f2 = AT(c).code | AT(c).slot[i2]; }
  if (i3 != CLIP_MAX) { m.a3 = clip_at(c, i3); m.g3 = AT(c).g[i3]; m.f3 = AT(c).code | AT(c).slot[i3]; }
  m.b0 = m33_tmul_v3(AT(b).r, v3_sub(v3_add_scaled(m.a0, n, m.g0), AT(b).p));
  m.b1 = m33_tmul_v3(AT(b).r, v3_sub(v3_add_scaled(m.a1, n, i1 == CLIP_MAX ? K(1.0f) : m.g1), AT(b).p));
  m.b2 = m33_tmul_v3(AT(b).r, v3_sub(v3_add_scaled(m.a2, n, i2 == CLIP_MAX ? K(1.0f) : m.g2), AT(b).p));
  m.b3 = m33_tmul_v3(AT(b).r, v3_sub(v3_add_scaled(m.a3, n, i3 == CLIP_MAX ? K(1.0f) : m.g3), AT(b).p));
  return m;
}

/* Candidates along n from the features there; none where they only meet at a corner or across an edge. */
FN void clip_pair(EDIT(ClipPoints, c), GEO_PARAM VIEW(Convex, a), VIEW(Convex, b), V3 n, F limit)
{
  AT(c).count = KU(0u);
  AT(c).code = KU(0u);
  Feature fa = convex_feature(GEO a, n);
  Feature fb = convex_feature(GEO b, v3_neg(n));
  F along_a = v3_dot(fa.n, n);
  F along_b = -v3_dot(fb.n, n);
  if (fa.count == 1u || fb.count == 1u) return;
  if (fa.count == 2u && fb.count == 2u) {
    if (!(along_a < CLIP_SQUARE || along_b < CLIP_SQUARE)) clip_edges(c, TO(fa), TO(fb), n, limit);
    return;
  }
  bool b_is_ref = fb.count >= 3u && (fa.count < 3u || along_b > along_a + 1.0e-3f);
  if ((b_is_ref ? along_b : along_a) < CLIP_ALIGNED) return;
  F least = 1.0e-6f * f_min(AT(a).reach, AT(b).reach);
  if (!clip_solid(TO(fa), least) || !clip_solid(TO(fb), least)) return;
  if (b_is_ref) {
    Feature of_b = fb;
    fb = fa;
    fa = of_b;
  }
  clip_features(c, TO(fa), TO(fb), n, b_is_ref, limit);
}

/* Differences of depth below this do not decide between points. */
FN F clip_tolerance(VIEW(Convex, a), VIEW(Convex, b)) { return 1.0e-4f * f_min(AT(a).reach, AT(b).reach); }

#ifndef EPA_ELSEWHERE
/* Manifold of two convex shapes in a's frame: a has its origin and axes there. */
FN Manifold convex_convex(GEO_PARAM VIEW(Convex, a), VIEW(Convex, b), F limit)
{
  ConvexHit h = convex_distance(GEO a, b, limit);
  if (!(h.gap < limit)) return manifold_empty();
  ClipPoints c;
  clip_pair(TO(c), GEO a, b, h.n, limit);
  F tolerance = clip_tolerance(a, b);
  clip_put_deepest(TO(c), h.on_a, h.gap, tolerance, limit);
  return clip_reduce(TO(c), h.n, b, tolerance);
}
#endif

/* Candidates of a convex shape over the half space below the plane through the origin with the unit normal n. */
FN void clip_plane(EDIT(ClipPoints, c), GEO_PARAM VIEW(Convex, b), V3 n, F limit)
{
  AT(c).count = KU(0u);
  AT(c).code = KU(0u);
  V3 low = v3_add_scaled(convex_support(GEO b, v3_neg(n)), n, -AT(b).radius);
  F gap = v3_dot(low, n);
  if (!(gap < limit)) return;
  Feature f = convex_feature(GEO b, v3_neg(n));
  if (f.count > 1u)
    for (U i = KU(0u); i < f.count; i++) {
      V3 p = feature_at(TO(f), i);
      F g = v3_dot(p, n);
      clip_put(c, i, v3_add_scaled(p, n, -g), g, limit);
    }
  clip_put_deepest(c, v3_add_scaled(low, n, -gap), gap, 1.0e-4f * AT(b).reach, limit);
  AT(c).code = (f.id & 31u) << 11;
}

FN Manifold convex_plane(GEO_PARAM VIEW(Convex, b), V3 n, F limit)
{
  ClipPoints c;
  clip_plane(TO(c), GEO b, n, limit);
  return clip_reduce(TO(c), n, b, 1.0e-4f * AT(b).reach);
}

/* --- triangles of a surface --- */

/* Normals of the faces across the edges 0 1, 1 2, 2 0; `open` has bit k set where edge k has no other face. */
STRUCT(TriangleEdges) { V3 n0; V3 n1; V3 n2; U open_edges; };

/* A contact this near to the face's normal (cosine) is one with the face. */
#define TRIANGLE_FLAT 0.9999f

/* How deep a shape may be in the plane, in parts of its reach, to be taken for standing on it. */
#define TRIANGLE_SHALLOW 0.03f

/* Bit k is set when the point p of the triangle lies on its edge k, which runs from vertex k to the next. */
FN U triangle_edges_at(VIEW(Convex, t), V3 p)
{
  U edges = KU(0u);
  F room = 1.0e-3f * AT(t).reach;
  for (U k = KU(0u); k < 3u; k++) {
    V3 from = k == 0u ? AT(t).t0 : (k == 1u ? AT(t).t1 : AT(t).t2);
    V3 to = k == 0u ? AT(t).t1 : (k == 1u ? AT(t).t2 : AT(t).t0);
    V3 d = v3_normalize_or(v3_sub(to, from), AT(t).tn);
    V3 off = v3_cross(d, v3_sub(p, from));
    if (v3_len2(off) <= room * room) edges = edges | (KU(1u) << k);
  }
  return edges;
}

/* Whether a contact on edge k along the unit vector q, away from the surface, belongs there: q leans out over the edge, and either there
 * is no other face, or the edge stands out and q leans out of the other face as well (the edge's Voronoi region). Otherwise a shape that
 * slides over a flat or hollow edge would catch there. */
FN bool triangle_edge_owns(VIEW(Convex, t), TriangleEdges e, U k, V3 q)
{
  V3 from = k == 0u ? AT(t).t0 : (k == 1u ? AT(t).t1 : AT(t).t2);
  V3 to = k == 0u ? AT(t).t1 : (k == 1u ? AT(t).t2 : AT(t).t0);
  V3 n = k == 0u ? e.n0 : (k == 1u ? e.n1 : e.n2);
  V3 d = v3_normalize_or(v3_sub(to, from), q);
  bool leans = v3_dot(v3_cross(d, AT(t).tn), q) > 1.0e-4f;
  bool open = ((e.open_edges >> k) & 1u) == 1u;
  /* seen from the other face the edge runs the other way */
  bool back = v3_dot(v3_cross(n, d), q) < -1.0e-4f;
  bool stands_out = v3_dot(v3_cross(AT(t).tn, n), d) > 1.0e-4f;
  return leans && (open || (stands_out && !back));
}

/* Whether q leans away from the edge that runs from a vertex to x. A contact at the vertex belongs there when that holds for all edges
 * around it. */
FN bool triangle_vertex_admits(V3 vertex, V3 x, V3 q)
{
  V3 d = v3_sub(x, vertex);
  F along = v3_dot(d, q);
  return along <= 0.0f || along * along <= 1.0e-6f * v3_len2(d);
}

/* Whether a contact on the edges `at` (triangle_edges_at) belongs there: 0 no, 1 yes, 2 + k where the edges around vertex k are to say. */
FN U triangle_owner(VIEW(Convex, t), TriangleEdges e, U at, V3 q)
{
  if (at == 0u || at == 7u) return KU(0u);
  if (at == 1u || at == 2u || at == 4u) return triangle_edge_owns(t, e, at >> 1u, q) ? KU(1u) : KU(0u);
  /* edges k - 1 and k meet at vertex k */
  return at == 5u ? KU(2u) : (at == 3u ? KU(3u) : KU(4u));
}

/* What a convex shape and one triangle of a surface, whose outside is where the triangle's normal points, are to each other. */
STRUCT(TriangleHit)
{
  ConvexHit h;
  V3 low; /* the shape's deepest point below the triangle's plane */
  F plane_gap;
  bool near_by; /* false: there is no contact */
  bool face; /* the contact is that with the plane, whatever edges say */
  bool settled; /* all is said; else the distance has to be asked for */
};

/* What the triangle's plane says. solid_below: what is behind the triangle is full; otherwise shapes with their middle behind it are let be. */
FN TriangleHit triangle_hit_plane(GEO_PARAM VIEW(Convex, a), VIEW(Convex, t), bool solid_below, F limit)
{
  TriangleHit r;
  V3 down = v3_neg(AT(t).tn);
  F height = v3_dot(v3_sub(AT(a).p, AT(t).t0), AT(t).tn);
  r.low = v3_add_scaled(convex_support(GEO a, down), down, AT(a).radius);
  r.plane_gap = v3_dot(v3_sub(r.low, AT(t).t0), AT(t).tn);
  r.near_by = r.plane_gap < limit && (height > 0.0f || solid_below);
  r.face = true;
  r.h.n = down;
  r.h.gap = r.plane_gap;
  r.h.on_a = r.low;
  r.h.on_b = r.low;
  r.h.core_overlap = false;
  r.h.flat_cores = false;
  r.settled = true;
  if (!r.near_by) return r;
  /* a shallow shape whose deepest point or face is over the triangle is on it; the rest of the question is for those at its edges */
  if (r.plane_gap > -TRIANGLE_SHALLOW * AT(a).reach) {
    Feature face = feature_triangle(t);
    if (clip_inside(TO(face), r.low, AT(t).tn)) return r;
    Feature f = convex_feature(GEO a, down);
    if (f.count >= 2u && v3_dot(f.n, down) >= CLIP_ALIGNED) {
      ClipPoints c;
      c.count = KU(0u);
      clip_features(TO(c), TO(face), TO(f), down, true, f_min(limit, K(0.0f)));
      if (c.count > 0u) return r;
    }
  }
  r.settled = false;
  return r;
}

/* The same with the distance h. */
FN TriangleHit triangle_hit_distance(TriangleHit r, VIEW(Convex, a), VIEW(Convex, t), ConvexHit h, F limit)
{
  r.h = h;
  r.near_by = h.gap < limit;
  r.face = v3_dot(h.n, v3_neg(AT(t).tn)) > TRIANGLE_FLAT || (h.core_overlap && (AT(a).radius > 0.0f || h.flat_cores));
  r.settled = true;
  return r;
}

#ifndef EPA_ELSEWHERE
FN TriangleHit triangle_hit(GEO_PARAM VIEW(Convex, a), VIEW(Convex, t), bool solid_below, F limit)
{
  TriangleHit r = triangle_hit_plane(GEO a, t, solid_below, limit);
  return r.settled ? r : triangle_hit_distance(r, a, t, convex_distance(GEO a, t, limit), limit);
}
#endif

/* The manifold of a hit that is near. face: over the face the normal is the face's, and a point counts only when it is over the
 * triangle or the triangle's own nearest point said so; otherwise the contact is at an edge or vertex that owns it. */
FN Manifold triangle_manifold(GEO_PARAM VIEW(Convex, a), VIEW(Convex, t), VIEW(TriangleHit, hit), bool face, F limit)
{
  V3 down = v3_neg(AT(t).tn);
  if (!face && v3_dot(AT(hit).h.n, down) < -1.0e-3f) return manifold_empty();
  V3 n = AT(hit).h.n;
  V3 deep = AT(hit).h.on_a;
  F gap = AT(hit).h.gap;
  bool inside = true;
  if (face) {
    n = down;
    deep = AT(hit).low;
    gap = AT(hit).plane_gap;
    Feature f = feature_triangle(t);
    inside = v3_dot(AT(hit).h.n, down) > TRIANGLE_FLAT || clip_inside(TO(f), AT(hit).low, AT(t).tn);
  }
  F tolerance = clip_tolerance(a, t);
  ClipPoints c;
  clip_pair(TO(c), GEO a, t, n, limit);
  if (inside) clip_put_deepest(TO(c), deep, gap, tolerance, limit);
  return clip_reduce(TO(c), n, t, tolerance);
}

#endif
