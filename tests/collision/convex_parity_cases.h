/* Parity of the convex kernels, which are scalar text: words 0 and 1 choose the shapes, 2 to 7 the sizes, 8 to 14 the pose of b in a's
 * frame, 15 the limit, 16 to 27 the corners of a tetrahedron, which is the hull and, in part, the triangle; 28 to 36 neighbours'
 * normals. The cases named aligned round all of them coarsely, so that ties, parallel faces and coincident centres are common. */
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

#define PARITY_CASES(X)                                                                                                \
  X(case_distance, 37, 13)                                                                                             \
  X(case_convex, 37, 35)                                                                                               \
  X(case_plane, 37, 35)                                                                                                \
  X(case_triangle, 37, 35)                                                                                             \
  X(case_aligned_convex, 37, 35)                                                                                       \
  X(case_aligned_triangle, 37, 35)

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

#define PARITY_A parity_shape(UIN(0), CONVEX_ABS(IN_V3(2)), x7(v3_zero(), q4_identity()))
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

PARITY_KERNEL(case_distance)
{
  ConvexHit h = convex_distance(GEO PARITY_A, PARITY_B, f_abs(IN(15)));
  OUT_V3(0, h.n) OUT(3, h.gap);
  OUT_V3(4, h.on_a) OUT_V3(7, h.on_b) UOUT(10, h.core_overlap ? KU(1u) : KU(0u));
  UOUT(11, h.flat_cores ? KU(1u) : KU(0u));
  OUT(12, convex_separation(GEO PARITY_A, PARITY_B, h.n));
}
PARITY_KERNEL(case_convex) OUT_MANIFOLD(convex_convex(GEO PARITY_A, PARITY_B, f_abs(IN(15))))
PARITY_KERNEL(case_plane) OUT_MANIFOLD(convex_plane(GEO PARITY_B, v3_normalize_or(IN_V3(28), IN_V3(31)), f_abs(IN(15))))
/* The hit, what its edges say, and the manifold; a vertex is asked about one neighbour. */
FN Manifold parity_on_triangle(GEO_PARAM Convex a, Convex t, TriangleEdges e, bool solid_below, F limit)
{
  TriangleHit hit = triangle_hit(GEO a, t, solid_below, limit);
  if (!hit.near_by) return manifold_empty();
  V3 q = v3_neg(hit.h.n);
  U at = triangle_edges_at(t, hit.h.on_b);
  bool owns = at == 1u || at == 2u || at == 4u ? triangle_edge_owns(t, e, at >> 1u, q) : triangle_vertex_admits(t.t0, t.t1, q);
  return triangle_manifold(GEO a, t, hit, hit.face || !owns, limit);
}

PARITY_KERNEL(case_triangle)
OUT_MANIFOLD(parity_on_triangle(GEO PARITY_B, parity_triangle(IN_V3(16), IN_V3(19), IN_V3(22)),
                                parity_edges(IN_V3(28), IN_V3(31), IN_V3(34), UIN(2)), (UIN(3) & 1u) == 1u, f_abs(IN(15))))
PARITY_KERNEL(case_aligned_convex)
OUT_MANIFOLD(convex_convex(GEO parity_shape(UIN(0), CONVEX_ABS(CONVEX_COARSE_V3(2)), x7(v3_zero(), q4_identity())),
                           parity_shape(UIN(1), CONVEX_ABS(CONVEX_COARSE_V3(5)), x7(CONVEX_COARSE_V3(8), PARITY_COARSE_Q)),
                           f_abs(IN(15))))
PARITY_KERNEL(case_aligned_triangle)
OUT_MANIFOLD(parity_on_triangle(GEO parity_shape(UIN(1), CONVEX_ABS(CONVEX_COARSE_V3(5)), x7(CONVEX_COARSE_V3(8), PARITY_COARSE_Q)),
                             parity_triangle(CONVEX_COARSE_V3(16), CONVEX_COARSE_V3(19), CONVEX_COARSE_V3(22)),
                             parity_edges(CONVEX_COARSE_V3(28), CONVEX_COARSE_V3(31), CONVEX_COARSE_V3(34), UIN(2)),
                             (UIN(3) & 1u) == 1u, f_abs(IN(15))))
