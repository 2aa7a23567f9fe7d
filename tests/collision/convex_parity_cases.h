/* Parity of the convex kernels, which are scalar text: words 0 and 1 choose the shapes, 2 to 7 the sizes, 8 to 14 the pose of b in a's
 * frame, 15 the limit, 16 to 27 the corners of a tetrahedron, which is the hull and, in part, the triangle; 28 to 36 neighbours'
 * normals. case_aligned_gjk rounds all of them coarsely, so that ties, parallel faces and coincident centres are common. */
#define GEO_PARITY_VERTEX(i) 16u + 3u * (i)
#ifdef SB_GLSL
#define GEO_PARAM uint parity_i,
#define GEO_IN(k) f_from_bits(parity_in[parity_i + uint(k)])
#else
#define GEO_PARAM const U *parity_i,
#define GEO_IN(k) f_from_bits(parity_i[k])
#endif
#define GEO parity_i,
#define GEO_VERTEX(i) v3(GEO_IN(GEO_PARITY_VERTEX(i)), GEO_IN(GEO_PARITY_VERTEX(i) + 1u), GEO_IN(GEO_PARITY_VERTEX(i) + 2u))
#define GEO_NORMAL(f) tetrahedron_normal(GEO f)
#define GEO_FIRST(f) (3u * (f))
#define GEO_CORNERS(f) KU(3u)
#define GEO_CORNER(k) tetrahedron_corner(k)

#include "collision/narrow_manifold.kernel.h"

/* Faces 0 2 1, 0 1 3, 1 2 3, 0 3 2. */
FN U tetrahedron_corner(U k)
{
  U f = k < 3u ? KU(0x120u) : (k < 6u ? KU(0x310u) : (k < 9u ? KU(0x321u) : KU(0x230u)));
  return (f >> (4u * (k % 3u))) & 15u;
}
FN V3 tetrahedron_normal(GEO_PARAM U f)
{
  V3 p = GEO_VERTEX(tetrahedron_corner(3u * f));
  V3 q = GEO_VERTEX(tetrahedron_corner(3u * f + 1u));
  V3 r = GEO_VERTEX(tetrahedron_corner(3u * f + 2u));
  return v3_normalize_or(v3_cross(v3_sub(q, p), v3_sub(r, p)), v3(K(0.0f), K(0.0f), K(1.0f)));
}

#include "collision/convex_manifold.kernel.h"

/* Parts of the kernels, because a device's compiler writes every call out and takes minutes for the whole. */
#define PARITY_CASES(X)                                                                                                \
  X(case_support, 37, 4)                                                                                               \
  X(case_feature, 37, 53)                                                                                              \
  X(case_gjk, 37, 8)                                                                                                   \
  X(case_polytope, 37, 11)                                                                                             \
  X(case_try, 37, 4)                                                                                                   \
  X(case_polish, 37, 4)                                                                                                \
  X(case_snap, 37, 4)                                                                                                  \
  X(case_settle, 37, 7)                                                                                                \
  X(case_clip, 37, 35)                                                                                                 \
  X(case_plane, 37, 27)                                                                                                \
  X(case_edges, 37, 6)                                                                                                 \
  X(case_aligned_gjk, 37, 8)

#define CONVEX_COARSE(k) (f_round_even(IN(k) * 2.0f) * 0.5f)
#define CONVEX_COARSE_V3(k) v3(CONVEX_COARSE(k), CONVEX_COARSE(k + 1), CONVEX_COARSE(k + 2))
#define CONVEX_ABS(v) v3(f_abs((v).x), f_abs((v).y), f_abs((v).z))

FN Convex parity_shape(U word, V3 size, X7 x)
{
  Convex c = convex_of(CONVEX_SPHERE + word % 6u, size, x.p, q4_to_m33(x.q));
  c.vertex_count = KU(4u);
  c.face_count = KU(4u);
  if (c.type == CONVEX_HULL) c.reach = K(2.0f);
  return c;
}

FN Convex parity_triangle(V3 p, V3 q, V3 r)
{
  Convex c = convex_of(CONVEX_TRIANGLE, v3_zero(), v3(K(0.25f), K(0.5f), K(-0.5f)), q4_to_m33(q4_identity()));
  c.t0 = p;
  c.t1 = q;
  c.t2 = r;
  c.tn = v3_normalize_or(v3_cross(v3_sub(q, p), v3_sub(r, p)), v3(K(0.0f), K(0.0f), K(1.0f)));
  c.reach = K(2.0f);
  return c;
}

#define PARITY_A parity_shape(UIN(0), CONVEX_ABS(IN_V3(2)), x7(IN_V3(31), q4_normalize(IN_Q4(33))))
#define PARITY_B parity_shape(UIN(1), CONVEX_ABS(IN_V3(5)), x7(IN_V3(8), q4_normalize(IN_Q4(11))))
#define PARITY_COARSE_Q q4_normalize(q4(f_round_even(IN(11)), f_round_even(IN(12)), f_round_even(IN(13)), f_round_even(IN(14))))
#define OUT_MANIFOLD(call)                                                                                             \
  {                                                                                                                    \
    Manifold m = call;                                                                                                 \
    OUT_V3(0, m.n) OUT_V3(3, m.a0) OUT_V3(6, m.a1) OUT_V3(9, m.a2) OUT_V3(12, m.a3)                                    \
    OUT_V3(15, m.b0) OUT_V3(18, m.b1) OUT_V3(21, m.b2) OUT_V3(24, m.b3)                                                \
    OUT(27, m.g0); OUT(28, m.g1); OUT(29, m.g2); OUT(30, m.g3);                                                        \
    UOUT(31, m.f0); UOUT(32, m.f1); UOUT(33, m.f2); UOUT(34, m.f3);                                                    \
  }

FN TriangleEdges parity_edges(V3 n0, V3 n1, V3 n2, U open_edges)
{
  V3 up = v3(K(0.0f), K(0.0f), K(1.0f));
  TriangleEdges e;
  e.n0 = v3_normalize_or(n0, up);
  e.n1 = v3_normalize_or(n1, up);
  e.n2 = v3_normalize_or(n2, up);
  e.open_edges = open_edges & 7u;
  return e;
}

#define PARITY_COARSE_A                                                                                                \
  parity_shape(UIN(0), CONVEX_ABS(CONVEX_COARSE_V3(2)),                                                                \
               x7(CONVEX_COARSE_V3(31), q4_normalize(q4(f_round_even(IN(33)), f_round_even(IN(34)), f_round_even(IN(35)), f_round_even(IN(36))))))
#define PARITY_COARSE_B parity_shape(UIN(1), CONVEX_ABS(CONVEX_COARSE_V3(5)), x7(CONVEX_COARSE_V3(8), PARITY_COARSE_Q))
#define PARITY_N v3_normalize_or(IN_V3(28), v3(K(0.0f), K(0.0f), K(1.0f)))
#define PARITY_SCALE f_abs(IN(35))

FN ConvexHit parity_hit(V3 n, F gap, U flags)
{
  ConvexHit h;
  h.n = n;
  h.gap = gap;
  h.on_a = v3_zero();
  h.on_b = v3_zero();
  h.core_overlap = (flags & 1u) == 1u;
  h.flat_cores = (flags & 2u) == 2u;
  return h;
}

PARITY_KERNEL(case_support)
{
  OUT_V3(0, convex_support(GEO PARITY_B, PARITY_N));
  OUT(3, convex_separation(GEO PARITY_A, PARITY_B, PARITY_N));
}
PARITY_KERNEL(case_feature)
{
  Feature f = convex_feature(GEO PARITY_B, PARITY_N);
  for (int i = 0; i < 16; i++) {
    OUT(3 * i, f.x[i]); OUT(3 * i + 1, f.y[i]); OUT(3 * i + 2, f.z[i]);
  }
  OUT_V3(48, f.n) UOUT(51, f.count);
  UOUT(52, f.id);
}
#define OUT_SIMPLEX(call)                                                                                              \
  {                                                                                                                    \
    Simplex s = call;                                                                                                  \
    OUT_V3(0, simplex_nearest(s)) OUT_V3(3, simplex_on_a(s)) UOUT(6, s.count);                                         \
    UOUT(7, s.inside ? KU(1u) : KU(0u));                                                                               \
  }
PARITY_KERNEL(case_gjk) OUT_SIMPLEX(convex_gjk(GEO PARITY_A, PARITY_B, PARITY_SCALE, f_abs(IN(15))))
PARITY_KERNEL(case_aligned_gjk) OUT_SIMPLEX(convex_gjk(GEO PARITY_COARSE_A, PARITY_COARSE_B, PARITY_SCALE, f_abs(IN(15))))
PARITY_KERNEL(case_polytope)
{
  Simplex s = simplex_none();
  V3 on_a = convex_support(GEO PARITY_A, PARITY_N);
  s = simplex_put(s, KU(0u), v3_sub(on_a, convex_support(GEO PARITY_B, v3_neg(PARITY_N))), on_a, K(1.0f));
  s.count = KU(1u);
  s.inside = false;
  EpaResult r = convex_epa(GEO PARITY_A, PARITY_B, s, PARITY_SCALE);
  OUT_V3(0, r.n) OUT(3, r.depth);
  OUT_V3(4, r.on_a) OUT_V3(7, r.w) UOUT(10, r.found ? KU(1u) : KU(0u));
}
#define OUT_HIT(call)                                                                                                  \
  {                                                                                                                    \
    ConvexHit h = call;                                                                                                \
    OUT_V3(0, h.n) OUT(3, h.gap);                                                                                      \
  }
PARITY_KERNEL(case_try)
OUT_HIT(convex_try(GEO PARITY_A, PARITY_B, parity_hit(PARITY_N, K(-NARROW_NO_POINT), UIN(2)), v3_normalize_or(IN_V3(31), PARITY_N), (UIN(3) & 1u) == 1u))
PARITY_KERNEL(case_polish) OUT_HIT(convex_polish(GEO PARITY_A, PARITY_B, parity_hit(PARITY_N, IN(34), KU(1u)), PARITY_SCALE))
PARITY_KERNEL(case_snap) OUT_HIT(convex_snap(GEO PARITY_A, PARITY_B, parity_hit(PARITY_N, IN(34), KU(1u)), PARITY_SCALE))
PARITY_KERNEL(case_settle)
{
  ConvexHit h = convex_settle(GEO PARITY_A, PARITY_B, parity_hit(PARITY_N, IN(34), KU(1u)), IN_V3(16), IN_V3(19));
  OUT_V3(0, h.on_a) OUT_V3(3, h.on_b) OUT(6, h.gap);
}
FN Manifold parity_clip(GEO_PARAM Convex a, Convex b, V3 n, F limit, F tolerance)
{
  return clip_reduce(clip_pair(GEO a, b, n, limit), n, b, tolerance);
}
PARITY_KERNEL(case_clip) OUT_MANIFOLD(parity_clip(GEO PARITY_A, PARITY_B, PARITY_N, f_abs(IN(15)), PARITY_SCALE))
PARITY_KERNEL(case_plane)
{
  ClipPoints c = clip_plane(GEO PARITY_B, v3_normalize_or(IN_V3(28), IN_V3(31)), f_abs(IN(15)));
  for (int i = 0; i < 16; i++) OUT(i, c.g[i]);
  OUT(16, c.g[CLIP_DEEPEST]); OUT_V3(17, clip_at(c, KU(0u))) OUT_V3(20, clip_at(c, KU(1u))) OUT_V3(23, clip_at(c, KU(CLIP_DEEPEST)))
  UOUT(26, c.code);
}
PARITY_KERNEL(case_edges)
{
  Convex t = parity_triangle(IN_V3(16), IN_V3(19), IN_V3(22));
  TriangleEdges e = parity_edges(IN_V3(28), IN_V3(31), IN_V3(34), UIN(2));
  UOUT(0, triangle_edges_at(t, IN_V3(8)));
  for (U k = KU(0u); k < 3u; k++) UOUT(1u + k, triangle_edge_owns(t, e, k, PARITY_N) ? KU(1u) : KU(0u));
  UOUT(4, triangle_vertex_admits(t.t0, t.t1, PARITY_N) ? KU(1u) : KU(0u));
  UOUT(5, clip_inside(feature_triangle(t), IN_V3(8), PARITY_N) ? KU(1u) : KU(0u));
}
