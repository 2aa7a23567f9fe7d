/* Signed distance of two convex shapes, in the scalar part of the kernel dialect. Knows convex.kernel.h.
 *
 * Apart: GJK (Gilbert, Johnson, Keerthi 1988) on the cores. Overlapping: the expanding polytope (van den Bergen 2001). Either gives a
 * direction; what counts is the separation along it, by support points, so a direction that rounding has spoilt loses to a better one.
 * In the end the normals of the touching faces are tried, because a face's own normal has no noise.
 *
 * Shader compilers write every call out, so directions that are tried one after another are tried in a loop. */
#ifndef SAMEBIT_COLLISION_CONVEX_DISTANCE_KERNEL_H
#define SAMEBIT_COLLISION_CONVEX_DISTANCE_KERNEL_H

#include "convex.kernel.h"

#define GJK_ROUNDS 40
/* A parity case has less room, because a device's compiler spends minutes on large arrays. */
#ifndef EPA_VERTICES
#define EPA_VERTICES 60
#define EPA_FACES 128
#define EPA_EDGES 96
#endif

/* n: unit, from a to b. gap: separation along n. on_a, on_b: deepest points, on the planes that touch the shapes, so that
 * gap = n . (on_b - on_a). core_overlap: the cores meet. flat: no direction could be found there, n is arbitrary. */
STRUCT(ConvexHit) { V3 n; F gap; V3 on_a; V3 on_b; bool core_overlap; bool flat_cores; };

/* Points of the difference a - b of the cores, with their points on a and the weights of the point nearest to the origin. */
STRUCT(Simplex)
{
  F wx[4]; F wy[4]; F wz[4];
  F ax[4]; F ay[4]; F az[4];
  F l[4];
  U count;
  bool inside; /* the origin is inside the tetrahedron */
};

FN V3 simplex_w(VIEW(Simplex, s), U i) { return v3(AT(s).wx[i], AT(s).wy[i], AT(s).wz[i]); }
FN V3 simplex_a(VIEW(Simplex, s), U i) { return v3(AT(s).ax[i], AT(s).ay[i], AT(s).az[i]); }

FN void simplex_put(EDIT(Simplex, s), U i, V3 w, V3 a, F l)
{
  AT(s).wx[i] = w.x; AT(s).wy[i] = w.y; AT(s).wz[i] = w.z;
  AT(s).ax[i] = a.x; AT(s).ay[i] = a.y; AT(s).az[i] = a.z;
  AT(s).l[i] = l;
}

FN void simplex_add(EDIT(Simplex, s), V3 w, V3 a, F l)
{
  simplex_put(s, AT(s).count, w, a, l);
  AT(s).count = AT(s).count + 1u;
}

FN Simplex simplex_none(void)
{
  Simplex s;
  for (int i = 0; i < 4; i++) {
    s.wx[i] = K(0.0f); s.wy[i] = K(0.0f); s.wz[i] = K(0.0f);
    s.ax[i] = K(0.0f); s.ay[i] = K(0.0f); s.az[i] = K(0.0f);
    s.l[i] = K(0.0f);
  }
  s.count = KU(0u);
  s.inside = false;
  return s;
}

/* The nearest point to the origin. */
FN V3 simplex_nearest(VIEW(Simplex, s))
{
  V3 v = v3_scale(simplex_w(s, KU(0u)), AT(s).l[0]);
  for (U i = KU(1u); i < AT(s).count; i++) v = v3_add_scaled(v, simplex_w(s, i), AT(s).l[i]);
  return v;
}
FN V3 simplex_on_a(VIEW(Simplex, s))
{
  V3 v = v3_scale(simplex_a(s, KU(0u)), AT(s).l[0]);
  for (U i = KU(1u); i < AT(s).count; i++) v = v3_add_scaled(v, simplex_a(s, i), AT(s).l[i]);
  return v;
}

/* Weights of the point of triangle p0 p1 p2 nearest to the origin (Ericson, Real-Time Collision Detection 2005, 5.1.5). */
FN V3 triangle_weights(V3 p0, V3 p1, V3 p2)
{
  V3 e1 = v3_sub(p1, p0);
  V3 e2 = v3_sub(p2, p0);
  F d1 = -v3_dot(e1, p0);
  F d2 = -v3_dot(e2, p0);
  if (d1 <= 0.0f && d2 <= 0.0f) return v3(K(1.0f), K(0.0f), K(0.0f));
  F d3 = -v3_dot(e1, p1);
  F d4 = -v3_dot(e2, p1);
  if (d3 >= 0.0f && d4 <= d3) return v3(K(0.0f), K(1.0f), K(0.0f));
  F vc = d1 * d4 - d3 * d2;
  if (vc <= 0.0f && d1 >= 0.0f && d3 <= 0.0f) {
    F t = d1 > d3 ? f_div(d1, d1 - d3) : K(0.5f);
    return v3(1.0f - t, t, K(0.0f));
  }
  F d5 = -v3_dot(e1, p2);
  F d6 = -v3_dot(e2, p2);
  if (d6 >= 0.0f && d5 <= d6) return v3(K(0.0f), K(0.0f), K(1.0f));
  F vb = d5 * d2 - d1 * d6;
  if (vb <= 0.0f && d2 >= 0.0f && d6 <= 0.0f) {
    F t = d2 > d6 ? f_div(d2, d2 - d6) : K(0.5f);
    return v3(1.0f - t, K(0.0f), t);
  }
  F va = d3 * d6 - d5 * d4;
  F up = d4 - d3;
  F down = d5 - d6;
  if (va <= 0.0f && up >= 0.0f && down >= 0.0f) {
    F t = up + down > 0.0f ? f_div(up, up + down) : K(0.5f);
    return v3(K(0.0f), 1.0f - t, t);
  }
  F sum = (va + vb) + vc;
  F inv = sum > 0.0f ? f_div(K(1.0f), sum) : K(0.0f);
  if (!(sum > 0.0f)) return v3(K(0.33333334f), K(0.33333334f), K(0.33333334f));
  F y = vb * inv;
  F z = vc * inv;
  return v3((1.0f - y) - z, y, z);
}

/* Whether the origin lies on the other side of face p q r than the vertex o, or the tetrahedron is flat there. */
FN bool simplex_beyond(V3 p, V3 q, V3 r, V3 o)
{
  V3 n = v3_cross(v3_sub(q, p), v3_sub(r, p));
  F origin = -v3_dot(n, p);
  F other = v3_dot(n, v3_sub(o, p));
  return !((origin > 0.0f && other > 0.0f) || (origin < 0.0f && other < 0.0f));
}

/* Weights of a simplex's vertices for its point nearest to the origin. inside: the origin is in the tetrahedron. */
STRUCT(SimplexWeights) { F l0; F l1; F l2; F l3; V3 nearest; bool inside; };

FN V3 simplex_sum(V3 sum, V3 w, F l) { return l > 0.0f ? v3_add_scaled(sum, w, l) : sum; }

/* The nearest point of the face without vertex o. */
FN SimplexWeights simplex_face(VIEW(Simplex, s), U o)
{
  V3 p = simplex_w(s, o == 0u ? KU(1u) : KU(0u));
  V3 q = simplex_w(s, o <= 1u ? KU(2u) : KU(1u));
  V3 r = simplex_w(s, o <= 2u ? KU(3u) : KU(2u));
  V3 t = triangle_weights(p, q, r);
  SimplexWeights f;
  f.l0 = o == 0u ? K(0.0f) : t.x;
  f.l1 = o == 0u ? t.x : (o == 1u ? K(0.0f) : t.y);
  f.l2 = o <= 1u ? t.y : (o == 2u ? K(0.0f) : t.z);
  f.l3 = o <= 2u ? t.z : K(0.0f);
  f.nearest = t.x > 0.0f ? simplex_sum(simplex_sum(v3_scale(p, t.x), q, t.y), r, t.z)
            : t.y > 0.0f ? simplex_sum(v3_scale(q, t.y), r, t.z) : v3_scale(r, t.z);
  f.inside = false;
  return f;
}

FN SimplexWeights simplex_segment(VIEW(Simplex, s))
{
  V3 p = simplex_w(s, KU(0u));
  V3 q = p;
  F t = K(0.0f);
  if (AT(s).count == 2u) {
    q = simplex_w(s, KU(1u));
    V3 d = v3_sub(q, p);
    F len2 = v3_len2(d);
    t = len2 > 0.0f ? f_clamp(f_div(-v3_dot(p, d), len2), K(0.0f), K(1.0f)) : K(0.0f);
  }
  SimplexWeights f;
  f.l0 = 1.0f - t;
  f.l1 = t;
  f.l2 = K(0.0f);
  f.l3 = K(0.0f);
  f.nearest = t < 1.0f ? simplex_sum(v3_scale(p, f.l0), q, t) : q;
  f.inside = false;
  return f;
}

FN SimplexWeights simplex_solve(VIEW(Simplex, s))
{
  if (AT(s).count <= 2u) return simplex_segment(s);
  SimplexWeights best;
  best.l0 = K(0.0f); best.l1 = K(0.0f); best.l2 = K(0.0f); best.l3 = K(0.0f);
  best.nearest = v3_zero();
  best.inside = true;
  F least = K(NARROW_NO_POINT);
  for (U o = AT(s).count == 3u ? KU(3u) : KU(0u); o < 4u; o++) {
    bool beyond = AT(s).count == 3u;
    if (!beyond) {
      V3 p = simplex_w(s, o == 0u ? KU(1u) : KU(0u));
      V3 q = simplex_w(s, o <= 1u ? KU(2u) : KU(1u));
      beyond = simplex_beyond(p, q, simplex_w(s, o <= 2u ? KU(3u) : KU(2u)), simplex_w(s, o));
    }
    if (!beyond) continue;
    SimplexWeights f = simplex_face(s, o);
    F len2 = v3_len2(f.nearest);
    if (len2 < least) {
      least = len2;
      best = f;
    }
  }
  return best;
}

/* Keeps the vertices that have weight. */
FN void simplex_keep(EDIT(Simplex, s), SimplexWeights f)
{
  U kept = KU(0u);
  for (U i = KU(0u); i < AT(s).count; i++) {
    F l = i == 0u ? f.l0 : (i == 1u ? f.l1 : (i == 2u ? f.l2 : f.l3));
    if (!(l > 0.0f)) continue;
    simplex_put(s, kept, simplex_w(s, i), simplex_a(s, i), l);
    kept = kept + 1u;
  }
  AT(s).count = kept;
}

FN bool simplex_has(VIEW(Simplex, s), V3 w)
{
  bool has = false;
  for (U i = KU(0u); i < AT(s).count; i++) has = has || (AT(s).wx[i] == w.x && AT(s).wy[i] == w.y && AT(s).wz[i] == w.z);
  return has;
}

/* A point in the middle of a shape. */
FN V3 convex_middle(VIEW(Convex, s))
{
  if (AT(s).type == CONVEX_TRIANGLE) return v3_scale(v3_add(v3_add(AT(s).t0, AT(s).t1), AT(s).t2), K(0.33333334f));
  return AT(s).p;
}

/* GJK on the cores. Ends early when the cores are farther apart than `enough`. */
FN Simplex convex_gjk(GEO_PARAM VIEW(Convex, a), VIEW(Convex, b), F scale, F enough)
{
  V3 d = v3_normalize_or(v3_sub(convex_middle(b), convex_middle(a)), v3(K(1.0f), K(0.0f), K(0.0f)));
  Simplex s = simplex_none();
  F tiny = 1.0e-7f * scale;
  F before = K(NARROW_NO_POINT);
  V3 v = d;
  for (int round = 0; round < GJK_ROUNDS; round++) {
    F len2 = K(NARROW_NO_POINT);
    F len = K(NARROW_NO_POINT);
    if (s.count > 0u) {
      len2 = v3_len2(v);
      if (!(len2 > tiny * tiny) || !(len2 < before)) break;
      before = len2;
      len = f_sqrt(len2);
      d = v3_scale(v, f_div(K(-1.0f), len));
    }
    V3 on_a = convex_support(GEO a, d);
    V3 w = v3_sub(on_a, convex_support(GEO b, v3_neg(d)));
    F bound = -v3_dot(w, d);
    if (s.count > 0u && (bound > enough || len - bound <= 1.0e-6f * len || simplex_has(TO(s), w))) break;
    simplex_add(TO(s), w, on_a, K(0.0f));
    SimplexWeights f = simplex_solve(TO(s));
    s.inside = f.inside;
    if (s.inside) break;
    v = f.nearest;
    if (!(v3_len2(v) < len2)) {
      s.count = s.count - 1u;
      break;
    }
    simplex_keep(TO(s), f);
  }
  return s;
}

/* --- expanding polytope --- */

/* Vertices of the polytope in the difference a - b, its faces (three vertex numbers of 8 bits; plane n . x = d, outward; alive or not), and
 * the edges around the faces that a new vertex sees. */
STRUCT(Polytope)
{
  F wx[EPA_VERTICES]; F wy[EPA_VERTICES]; F wz[EPA_VERTICES];
  F ax[EPA_VERTICES]; F ay[EPA_VERTICES]; F az[EPA_VERTICES];
  U face[EPA_FACES];
  F nx[EPA_FACES]; F ny[EPA_FACES]; F nz[EPA_FACES]; F d[EPA_FACES];
  U edges[EPA_EDGES];
};

/* Where a polytope lies. Whoever has no room for it among an invocation's variables says another place. */
#ifndef EPA_AT
#define EPA_PARAM EDIT(Polytope, p),
#define EPA p,
#define EPA_AT(array, i) AT(p).array[i]
#endif

#define EPA_DEAD 0xffffffffu

FN U epa_corner(U face, U k) { return (face >> (8u * k)) & 255u; }

/* How far a point of the difference widens a simplex of up to three points. */
FN F epa_measure(VIEW(Simplex, s), V3 w, V3 d)
{
  V3 w0 = simplex_w(s, KU(0u));
  V3 from = v3_sub(w, w0);
  V3 e = v3_sub(simplex_w(s, KU(1u)), w0);
  if (AT(s).count == 1u) return v3_len(from);
  if (AT(s).count == 2u) return v3_len(v3_cross(v3_normalize_or(e, d), from));
  return f_abs(v3_dot(v3_normalize_or(v3_cross(e, v3_sub(simplex_w(s, KU(2u)), w0)), d), from));
}

/* The k-th direction in which to look for a point that widens the simplex: along a's axes, around a segment, to both sides of a
 * triangle. */
FN V3 epa_look(VIEW(Convex, a), VIEW(Simplex, s), U k)
{
  F side = (k & 1u) == 0u ? K(1.0f) : K(-1.0f);
  V3 axis = v3_scale(convex_axis(a, (k >> 1u) % 3u), side);
  V3 w0 = simplex_w(s, KU(0u));
  V3 e = v3_sub(simplex_w(s, KU(1u)), w0);
  if (AT(s).count == 1u) return axis;
  if (AT(s).count == 2u) {
    e = v3_normalize_or(e, v3(K(1.0f), K(0.0f), K(0.0f)));
    V3 u = v3_orthogonal(e);
    V3 v = v3_cross(e, u);
    U which = (k >> 1u) % 3u;
    return v3_scale(which == 0u ? u : (which == 1u ? v : v3_scale(v3_add(u, v), K(FEATURE_DIAGONAL))), side);
  }
  return v3_scale(v3_normalize_or(v3_cross(e, v3_sub(simplex_w(s, KU(2u)), w0)), axis), side);
}

/* A tetrahedron, however the origin lies to it; fewer points when the difference is flat. The simplex of GJK comes first, as far as its
 * points span something. */
FN Simplex epa_start(GEO_PARAM VIEW(Convex, a), VIEW(Convex, b), VIEW(Simplex, s), F scale)
{
  Simplex r = simplex_none();
  for (U i = KU(0u); i < 4u; i++) simplex_put(TO(r), i, simplex_w(s, KU(0u)), simplex_a(s, KU(0u)), K(0.0f));
  r.count = KU(1u);
  r.inside = false;
  for (U i = KU(1u); i < AT(s).count; i++) {
    V3 w = simplex_w(s, i);
    if (epa_measure(TO(r), w, w) > 1.0e-3f * scale) simplex_add(TO(r), w, simplex_a(s, i), K(0.0f));
  }
  for (U k = KU(0u); k < 18u && r.count < 4u; k++) {
    V3 d = epa_look(a, TO(r), k);
    V3 on_a = convex_support(GEO a, d);
    V3 w = v3_sub(on_a, convex_support(GEO b, v3_neg(d)));
    if (epa_measure(TO(r), w, d) > 1.0e-5f * scale) simplex_add(TO(r), w, on_a, K(0.0f));
  }
  return r;
}

/* The plane through three vertices; d is NARROW_NO_POINT where they are nearly in line. */
STRUCT(EpaPlane) { V3 n; F d; };

FN EpaPlane epa_plane(V3 p, V3 q, V3 r)
{
  V3 e = v3_sub(q, p);
  V3 f = v3_sub(r, p);
  V3 n = v3_cross(e, f);
  F len2 = v3_len2(n);
  EpaPlane plane;
  bool ok = len2 > 1.0e-12f * (v3_len2(e) * v3_len2(f)) && len2 > 1.0e-36f;
  plane.n = ok ? v3_scale(n, f_div(K(1.0f), f_sqrt(len2))) : v3_zero();
  plane.d = ok ? ((v3_dot(plane.n, p) + v3_dot(plane.n, q)) + v3_dot(plane.n, r)) * 0.33333334f : K(NARROW_NO_POINT);
  return plane;
}

/* n: outward from the difference a - b at the face nearest to the origin. on_a: the point there on a; w: its point of the difference. */
STRUCT(EpaResult) { V3 n; F depth; V3 on_a; V3 w; bool found; };

/* The origin's foot on the plane found. Several faces may lie in that plane; the one that holds the foot, or comes nearest, says where it
 * is on a. */
FN EpaResult epa_foot(EPA_PARAM U face_count, EpaResult r, F plane_d, F tolerance)
{
  V3 foot = v3_scale(r.n, plane_d);
  F least = K(NARROW_NO_POINT);
  for (U i = KU(0u); i < face_count; i++) {
    if (EPA_AT(face, i) == EPA_DEAD || !(f_abs(EPA_AT(d, i) - plane_d) <= 8.0f * tolerance)) continue;
    if (!((EPA_AT(nx, i) * r.n.x + EPA_AT(ny, i) * r.n.y) + EPA_AT(nz, i) * r.n.z > 0.999f)) continue;
    U c0 = epa_corner(EPA_AT(face, i), KU(0u));
    U c1 = epa_corner(EPA_AT(face, i), KU(1u));
    U c2 = epa_corner(EPA_AT(face, i), KU(2u));
    V3 p0 = v3(EPA_AT(wx, c0), EPA_AT(wy, c0), EPA_AT(wz, c0));
    V3 p1 = v3(EPA_AT(wx, c1), EPA_AT(wy, c1), EPA_AT(wz, c1));
    V3 p2 = v3(EPA_AT(wx, c2), EPA_AT(wy, c2), EPA_AT(wz, c2));
    V3 t = triangle_weights(v3_sub(p0, foot), v3_sub(p1, foot), v3_sub(p2, foot));
    V3 w = v3_add_scaled(v3_add_scaled(v3_scale(p0, t.x), p1, t.y), p2, t.z);
    F off = v3_len2(v3_sub(w, foot));
    if (!(off < least)) continue;
    least = off;
    r.w = w;
    r.on_a = v3_add_scaled(v3_add_scaled(v3_scale(v3(EPA_AT(ax, c0), EPA_AT(ay, c0), EPA_AT(az, c0)), t.x), v3(EPA_AT(ax, c1), EPA_AT(ay, c1), EPA_AT(az, c1)), t.y),
                           v3(EPA_AT(ax, c2), EPA_AT(ay, c2), EPA_AT(az, c2)), t.z);
  }
  return r;
}

FN EpaResult epa_expand(EPA_PARAM GEO_PARAM VIEW(Convex, a), VIEW(Convex, b), VIEW(Simplex, start), F scale)
{
  EpaResult r;
  r.n = v3(K(0.0f), K(0.0f), K(1.0f));
  r.depth = K(NARROW_NO_POINT);
  r.on_a = simplex_on_a(start);
  r.w = simplex_nearest(start);
  r.found = false;
  Simplex s = epa_start(GEO a, b, start, scale);
  if (s.count < 4u) return r;
  for (U i = KU(0u); i < 4u; i++) {
    EPA_AT(wx, i) = s.wx[i]; EPA_AT(wy, i) = s.wy[i]; EPA_AT(wz, i) = s.wz[i];
    EPA_AT(ax, i) = s.ax[i]; EPA_AT(ay, i) = s.ay[i]; EPA_AT(az, i) = s.az[i];
  }
  V3 w0 = simplex_w(TO(s), KU(0u));
  bool flip = v3_dot(v3_cross(v3_sub(simplex_w(TO(s), KU(1u)), w0), v3_sub(simplex_w(TO(s), KU(2u)), w0)), v3_sub(simplex_w(TO(s), KU(3u)), w0)) > 0.0f;
  /* faces 0 1 2, 0 3 1, 1 3 2, 2 3 0 seen from outside, or the other way round */
  EPA_AT(face, 0) = flip ? KU(0x00010200u) : KU(0x00020100u);
  EPA_AT(face, 1) = flip ? KU(0x00030100u) : KU(0x00010300u);
  EPA_AT(face, 2) = flip ? KU(0x00030201u) : KU(0x00020301u);
  EPA_AT(face, 3) = flip ? KU(0x00030002u) : KU(0x00000302u);
  U vertex_count = KU(4u);
  U face_count = KU(4u);
  for (U i = KU(0u); i < 4u; i++) {
    U c0 = epa_corner(EPA_AT(face, i), KU(0u));
    U c1 = epa_corner(EPA_AT(face, i), KU(1u));
    U c2 = epa_corner(EPA_AT(face, i), KU(2u));
    EpaPlane plane = epa_plane(simplex_w(TO(s), c0), simplex_w(TO(s), c1), simplex_w(TO(s), c2));
    EPA_AT(nx, i) = plane.n.x; EPA_AT(ny, i) = plane.n.y; EPA_AT(nz, i) = plane.n.z; EPA_AT(d, i) = plane.d;
  }
  F tolerance = 2.0e-6f * scale;
  F plane_d = K(0.0f);
  for (int round = 0; round < EPA_VERTICES; round++) {
    U near_face = EPA_DEAD;
    F least = K(NARROW_NO_POINT);
    for (U i = KU(0u); i < face_count; i++)
      if (EPA_AT(face, i) != EPA_DEAD && EPA_AT(d, i) < least) {
        least = EPA_AT(d, i);
        near_face = i;
      }
    if (near_face == EPA_DEAD) break;
    V3 n = v3(EPA_AT(nx, near_face), EPA_AT(ny, near_face), EPA_AT(nz, near_face));
    V3 on_a = convex_support(GEO a, n);
    V3 w = v3_sub(on_a, convex_support(GEO b, v3_neg(n)));
    F depth = v3_dot(w, n);
    bool done = depth - least <= tolerance;
    if (done || depth < r.depth) {
      r.n = n;
      r.depth = depth;
      r.found = true;
      plane_d = least;
    }
    if (done || vertex_count == EPA_VERTICES) break;
    /* faces that see the new point go; their outline gets new faces */
    U vertex = vertex_count;
    EPA_AT(wx, vertex) = w.x; EPA_AT(wy, vertex) = w.y; EPA_AT(wz, vertex) = w.z;
    EPA_AT(ax, vertex) = on_a.x; EPA_AT(ay, vertex) = on_a.y; EPA_AT(az, vertex) = on_a.z;
    vertex_count = vertex + 1u;
    U edge_count = KU(0u);
    bool full = false;
    for (U i = KU(0u); i < face_count; i++) {
      if (EPA_AT(face, i) == EPA_DEAD) continue;
      U c0 = epa_corner(EPA_AT(face, i), KU(0u));
      V3 from = v3_sub(w, v3(EPA_AT(wx, c0), EPA_AT(wy, c0), EPA_AT(wz, c0)));
      F above = (EPA_AT(nx, i) * from.x + EPA_AT(ny, i) * from.y) + EPA_AT(nz, i) * from.z;
      if (i != near_face && !(above > 0.1f * tolerance)) continue;
      for (U k = KU(0u); k < 3u; k++) {
        U from_corner = epa_corner(EPA_AT(face, i), k);
        U to_corner = epa_corner(EPA_AT(face, i), k == 2u ? KU(0u) : k + 1u);
        U back = to_corner | (from_corner << 8);
        bool inner = false;
        for (U e = KU(0u); e < edge_count && !inner; e++)
          if (EPA_AT(edges, e) == back) {
            edge_count = edge_count - 1u;
            EPA_AT(edges, e) = EPA_AT(edges, edge_count);
            inner = true;
          }
        full = full || (!inner && edge_count == EPA_EDGES);
        if (!inner && edge_count < EPA_EDGES) {
          EPA_AT(edges, edge_count) = from_corner | (to_corner << 8);
          edge_count = edge_count + 1u;
        }
      }
      EPA_AT(face, i) = EPA_DEAD;
    }
    U slot = KU(0u);
    for (U e = KU(0u); e < edge_count && !full; e++) {
      while (slot < face_count && EPA_AT(face, slot) != EPA_DEAD) slot++;
      if (slot == EPA_FACES) {
        full = true;
      } else {
        U c0 = EPA_AT(edges, e) & 255u;
        U c1 = EPA_AT(edges, e) >> 8;
        EpaPlane plane = epa_plane(v3(EPA_AT(wx, c0), EPA_AT(wy, c0), EPA_AT(wz, c0)), v3(EPA_AT(wx, c1), EPA_AT(wy, c1), EPA_AT(wz, c1)), w);
        EPA_AT(face, slot) = (c0 | (c1 << 8)) | (vertex << 16);
        EPA_AT(nx, slot) = plane.n.x; EPA_AT(ny, slot) = plane.n.y; EPA_AT(nz, slot) = plane.n.z; EPA_AT(d, slot) = plane.d;
        if (slot == face_count) face_count = face_count + 1u;
      }
    }
    if (full || edge_count < 3u) break;
  }
  return epa_foot(EPA face_count, r, plane_d, tolerance);
}

#ifndef EPA_ELSEWHERE
FN EpaResult convex_epa(GEO_PARAM VIEW(Convex, a), VIEW(Convex, b), VIEW(Simplex, start), F scale)
{
  Polytope p;
  return epa_expand(TO(p), GEO a, b, start, scale);
}
#endif

/* --- the answer --- */

FN bool convex_curved(VIEW(Convex, s)) { return AT(s).type == CONVEX_CYLINDER || AT(s).type == CONVEX_ELLIPSOID; }

#define TRY_DIRECTIONS 19

/* The k-th direction to try: that of GJK itself, of its simplex's plane, of cylinders (a polytope runs out of vertices
 * where all directions around are alike), and, where the difference of the cores is flat, of the shapes' axes. */
FN V3 convex_direction(VIEW(Convex, a), VIEW(Convex, b), ConvexHit h, V3 of_plane, U k)
{
  V3 between = v3_sub(AT(b).p, AT(a).p);
  if (k == 0u) return h.n;
  if (k == 1u) return of_plane;
  bool first = k < 5u || (k >= 8u && k < 14u);
  Convex of = AT(b);
  if (first) of = AT(a);
  V3 axis = convex_axis(TO(of), KU(2u));
  V3 side = convex_axis(TO(of), KU(0u));
  if (k < 8u) {
    U which = (k - 2u) % 3u;
    if (which == 0u) return v3_scale(axis, narrow_sign(v3_dot(between, axis)));
    V3 from = which == 1u ? h.n : between;
    return v3_normalize_or(v3_add_scaled(from, axis, -v3_dot(from, axis)), side);
  }
  U j = k - 8u;
  F sign_of = (j & 1u) == 0u ? K(1.0f) : K(-1.0f);
  if (!first && AT(b).type == CONVEX_TRIANGLE) return v3_scale(AT(b).tn, sign_of);
  return v3_scale(convex_axis(TO(of), (j >> 1u) % 3u), sign_of);
}

/* Tries them; h.gap is a bound that the first must pass when the cores are apart or flat. has_plane: the simplex has one. */
FN ConvexHit convex_try(GEO_PARAM VIEW(Convex, a), VIEW(Convex, b), ConvexHit h, V3 of_plane, bool has_plane)
{
  bool apart = !h.core_overlap;
  for (U k = KU(0u); k < TRY_DIRECTIONS; k++) {
    bool wanted = k == 0u ? apart || h.flat_cores
                : k == 1u ? has_plane
                : k < 5u  ? !apart && AT(a).type == CONVEX_CYLINDER
                : k < 8u  ? !apart && AT(b).type == CONVEX_CYLINDER : h.flat_cores;
    if (!wanted) continue;
    V3 n = convex_direction(a, b, h, of_plane, k);
    F gap = convex_separation(GEO a, b, n);
    if (gap > h.gap) {
      h.n = n;
      h.gap = gap;
    }
  }
  return h;
}

#define POLISH_ROUNDS 17

/* Where a curved shape takes part, polytopes only come near: steps down the slope of the depth over directions, which is the offset of
 * the two support points across n. A step that does not help is taken back and shortened. */
FN ConvexHit convex_polish(GEO_PARAM VIEW(Convex, a), VIEW(Convex, b), ConvexHit h, F scale)
{
  V3 across = v3_zero();
  F step = f_div(K(1.0f), scale);
  for (int round = 0; round < POLISH_ROUNDS; round++) {
    V3 n = h.n;
    if (round > 0) n = v3_normalize_or(v3_add_scaled(h.n, across, -step), h.n);
    V3 w = v3_sub(convex_support(GEO a, n), convex_support(GEO b, v3_neg(n)));
    F gap = -v3_dot(w, n) - (AT(a).radius + AT(b).radius);
    bool better = gap > h.gap || round == 0;
    if (round > 0) step = better ? step * 2.0f : step * 0.25f;
    if (better) {
      h.n = n;
      h.gap = gap;
      across = v3_add_scaled(w, n, -v3_dot(w, n));
    }
  }
  return h;
}

/* A face's own normal, unless another direction is better by more than rounding. */
FN ConvexHit convex_snap(GEO_PARAM VIEW(Convex, a), VIEW(Convex, b), ConvexHit h, F slack)
{
  for (U k = KU(0u); k < 2u; k++) {
    V3 out_of = k == 0u ? v3_neg(h.n) : h.n;
    Convex s = AT(a);
    if (k == 0u) s = AT(b);
    Feature f = convex_feature(GEO TO(s), out_of);
    V3 n = k == 0u ? v3_neg(f.n) : f.n;
    if (f.count < 2u || !(v3_dot(n, h.n) > 0.9f)) continue;
    F gap = convex_separation(GEO a, b, n);
    if (gap > h.gap - slack) {
      h.n = n;
      h.gap = gap;
    }
  }
  return h;
}

/* Moves the points onto the planes that touch the shapes at right angles to the normal, and over each other. */
FN ConvexHit convex_settle(GEO_PARAM VIEW(Convex, a), VIEW(Convex, b), ConvexHit h, V3 on_a, V3 on_b)
{
  V3 far_a = convex_support(GEO a, h.n);
  V3 far_b = convex_support(GEO b, v3_neg(h.n));
  F top = v3_dot(far_a, h.n) + AT(a).radius;
  F low = v3_dot(far_b, h.n) - AT(b).radius;
  /* support points that lie over each other are the deepest points themselves */
  V3 w = v3_sub(far_b, far_a);
  F room = 1.0e-4f * (AT(a).reach + AT(b).reach);
  if (v3_len2(v3_add_scaled(w, h.n, -v3_dot(w, h.n))) < room * room) {
    on_a = far_a;
    on_b = far_b;
  }
  h.on_a = v3_add_scaled(on_a, h.n, top - v3_dot(on_a, h.n));
  h.on_b = v3_add_scaled(on_b, h.n, low - v3_dot(on_b, h.n));
  h.gap = low - top;
  /* half way between where they were */
  V3 off = v3_sub(v3_sub(h.on_b, h.on_a), v3_scale(h.n, h.gap));
  h.on_a = v3_add_scaled(h.on_a, off, K(0.5f));
  h.on_b = v3_add_scaled(h.on_b, off, K(-0.5f));
  return h;
}

/* What GJK, and where the cores overlap the polytope, have found, before directions are tried; of_plane: normal of the simplex's plane.
 * done: the shapes are farther apart than the limit, and h says so. */
STRUCT(ConvexStart) { ConvexHit h; V3 on_a; V3 on_b; V3 of_plane; bool has_plane; bool done; };

FN F convex_scale(VIEW(Convex, a), VIEW(Convex, b)) { return AT(a).reach + AT(b).reach; }
FN F convex_radii(VIEW(Convex, a), VIEW(Convex, b)) { return AT(a).radius + AT(b).radius; }

FN ConvexStart convex_start(VIEW(Convex, a), VIEW(Convex, b), VIEW(Simplex, s), F limit)
{
  F scale = convex_scale(a, b);
  V3 v = simplex_nearest(s);
  F len2 = v3_len2(v);
  F close = 1.0e-5f * scale;
  V3 up = v3(K(0.0f), K(0.0f), K(1.0f));
  ConvexStart r;
  r.on_a = simplex_on_a(s);
  r.on_b = v3_sub(r.on_a, v);
  r.of_plane = up;
  r.has_plane = false;
  r.done = false;
  r.h.n = v3_normalize_or(v3_sub(AT(b).p, AT(a).p), up);
  r.h.gap = K(-NARROW_NO_POINT);
  r.h.on_a = r.on_a;
  r.h.on_b = r.on_b;
  r.h.core_overlap = AT(s).inside || !(len2 > close * close);
  r.h.flat_cores = false;
  if (r.h.core_overlap) return r;
  F len = f_sqrt(len2);
  r.h.n = v3_scale(v, f_div(K(-1.0f), len));
  r.h.gap = len - convex_radii(a, b);
  r.done = r.h.gap > limit + 1.0e-3f * scale;
  if (r.done) return r;
  r.h.gap = K(-NARROW_NO_POINT); /* what rounding has left of it is measured below */
  EpaPlane plane = epa_plane(simplex_w(s, KU(0u)), simplex_w(s, KU(1u)), simplex_w(s, KU(2u)));
  r.has_plane = AT(s).count == 3u && plane.d < NARROW_NO_POINT;
  r.of_plane = plane.d > 0.0f ? v3_neg(plane.n) : plane.n;
  return r;
}

/* The same with what the polytope of overlapping cores has found. */
FN ConvexStart convex_start_inside(ConvexStart r, EpaResult e, F radii)
{
  r.h.flat_cores = !e.found;
  if (!e.found) return r;
  r.h.n = e.n;
  r.h.gap = -e.depth - radii;
  r.on_a = e.on_a;
  r.on_b = v3_sub(e.on_a, e.w);
  return r;
}

FN ConvexHit convex_end(GEO_PARAM VIEW(Convex, a), VIEW(Convex, b), ConvexStart start)
{
  F scale = convex_scale(a, b);
  ConvexHit h = convex_try(GEO a, b, start.h, start.of_plane, start.has_plane);
#ifndef CONVEX_BASIC
  if (convex_curved(a) || convex_curved(b)) h = convex_polish(GEO a, b, h, scale);
#endif
  h = convex_snap(GEO a, b, h, 1.0e-6f * scale);
  return convex_settle(GEO a, b, h, start.on_a, start.on_b);
}

/* How far apart cores may be before GJK may stop. */
FN F convex_enough(VIEW(Convex, a), VIEW(Convex, b), F limit) { return f_max(limit, K(0.0f)) + convex_radii(a, b); }

#ifndef EPA_ELSEWHERE
/* The hit of the largest separation. Where that is above `limit` any direction that shows it will do. */
FN ConvexHit convex_distance(GEO_PARAM VIEW(Convex, a), VIEW(Convex, b), F limit)
{
  F scale = convex_scale(a, b);
  Simplex s = convex_gjk(GEO a, b, scale, convex_enough(a, b, limit));
  ConvexStart start = convex_start(a, b, TO(s), limit);
  if (start.done) return start.h;
  if (start.h.core_overlap) start = convex_start_inside(start, convex_epa(GEO a, b, TO(s), scale), convex_radii(a, b));
  return convex_end(GEO a, b, start);
}
#endif

#endif
