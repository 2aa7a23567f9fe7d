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

#define HEIGHTS_PARAM GEO_PARAM
#define HEIGHTS GEO
#define HEIGHT_AT(i) GEO_IN(28u + (i) % 9u)

#define GEO_FARTHEST_VERTEX(first, count, d) tetrahedron_farthest(GEO first, count, d, false)
#define GEO_FARTHEST_FACE(first, count, d) tetrahedron_farthest(GEO first, count, d, true)

#define EPA_VERTICES 10
#define EPA_FACES 18
#define EPA_EDGES 16
#define CLIP_MAX 12
#define POOL_SIZE 10
#define POOL_KEPT 8

#include "collision/narrow_manifold.kernel.h"

#ifndef SB_GLSL
#include <stdbool.h>
#endif

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

FN U tetrahedron_farthest(GEO_PARAM U first, U count, V3 d, bool faces)
{
  U best = KU(0u);
  F most = K(0.0f);
  for (U i = KU(0u); i < count; i++) {
    V3 p = faces ? tetrahedron_normal(GEO first + i) : GEO_VERTEX(first + i);
    F along = v3_dot(p, d);
    if (i == 0u || along > most) {
      most = along;
      best = i;
    }
  }
  return best;
}

#include "collision/convex_manifold.kernel.h"
#include "collision/particle_surface.kernel.h"
#include "collision/shape_bounds.kernel.h"

/* A pool for case_points. */
STRUCT(ParityPool)
{
  F nx[POOL_SIZE]; F ny[POOL_SIZE]; F nz[POOL_SIZE];
  F x[POOL_SIZE]; F y[POOL_SIZE]; F z[POOL_SIZE];
  F gap[POOL_SIZE]; F score[POOL_SIZE];
  U triangle[POOL_SIZE]; U feature[POOL_SIZE]; U group[POOL_SIZE]; U rank[POOL_SIZE];
};
FN SurfacePoint parity_take(VIEW(ParityPool, p), U i)
{
  SurfacePoint s;
  s.n = v3(AT(p).nx[i], AT(p).ny[i], AT(p).nz[i]);
  s.on_a = v3(AT(p).x[i], AT(p).y[i], AT(p).z[i]);
  s.on_b = s.on_a;
  s.gap = AT(p).gap[i];
  s.triangle = AT(p).triangle[i];
  s.feature = AT(p).feature[i];
  s.group = AT(p).group[i];
  s.rank = AT(p).rank[i];
  return s;
}
FN void parity_put(EDIT(ParityPool, p), U i, SurfacePoint s)
{
  AT(p).nx[i] = s.n.x; AT(p).ny[i] = s.n.y; AT(p).nz[i] = s.n.z;
  AT(p).x[i] = s.on_a.x; AT(p).y[i] = s.on_a.y; AT(p).z[i] = s.on_a.z;
  AT(p).gap[i] = s.gap;
  AT(p).triangle[i] = s.triangle;
  AT(p).feature[i] = s.feature;
  AT(p).group[i] = s.group;
  AT(p).rank[i] = s.rank;
}
#define POOL_PARAM EDIT(ParityPool, pool),
#define POOL pool,
#define POOL_TAKE(i) parity_take(pool, i)
#define POOL_PUT(i, p) parity_put(pool, i, p)
#define POOL_SCORE(i) AT(pool).score[i]
#include "collision/surface_points.kernel.h"

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
  X(case_clip, 37, 15)                                                                                                 \
  X(case_clip_edges, 37, 15)                                                                                           \
  X(case_reduce, 48, 35)                                                                                               \
  X(case_plane, 37, 22)                                                                                                \
  X(case_edges, 37, 6)                                                                                                 \
  X(case_bounds, 37, 15)                                                                                               \
  X(case_particle_hull, 37, 7)                                                                                         \
  X(case_particle_triangle, 37, 3)                                                                                     \
  X(case_particle_search, 37, 9)                                                                                       \
  X(case_grid, 37, 24)                                                                                                 \
  X(case_grid_cells, 37, 8)                                                                                            \
  X(case_points, 64, 22)                                                                                               \
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

#define PARITY_PAIR                                                                                                    \
  Convex a = PARITY_A;                                                                                                 \
  Convex b = PARITY_B;

PARITY_KERNEL(case_support)
{
  PARITY_PAIR
  OUT_V3(0, convex_support(GEO TO(b), PARITY_N));
  OUT(3, convex_separation(GEO TO(a), TO(b), PARITY_N));
}
PARITY_KERNEL(case_feature)
{
  Convex b = PARITY_B;
  Feature f = convex_feature(GEO TO(b), PARITY_N);
  for (int i = 0; i < 16; i++) {
    OUT(3 * i, f.x[i]); OUT(3 * i + 1, f.y[i]); OUT(3 * i + 2, f.z[i]);
  }
  OUT_V3(48, f.n) UOUT(51, f.count);
  UOUT(52, f.id);
}
#define OUT_SIMPLEX(s)                                                                                                 \
  {                                                                                                                    \
    OUT_V3(0, simplex_nearest(TO(s))) OUT_V3(3, simplex_on_a(TO(s))) UOUT(6, s.count);                                 \
    UOUT(7, s.inside ? KU(1u) : KU(0u));                                                                               \
  }
PARITY_KERNEL(case_gjk)
{
  PARITY_PAIR
  Simplex s = convex_gjk(GEO TO(a), TO(b), PARITY_SCALE, f_abs(IN(15)));
  OUT_SIMPLEX(s)
}
PARITY_KERNEL(case_aligned_gjk)
{
  Convex a = PARITY_COARSE_A;
  Convex b = PARITY_COARSE_B;
  Simplex s = convex_gjk(GEO TO(a), TO(b), PARITY_SCALE, f_abs(IN(15)));
  OUT_SIMPLEX(s)
}
PARITY_KERNEL(case_polytope)
{
  PARITY_PAIR
  Simplex s = simplex_none();
  V3 on_a = convex_support(GEO TO(a), PARITY_N);
  simplex_add(TO(s), v3_sub(on_a, convex_support(GEO TO(b), v3_neg(PARITY_N))), on_a, K(1.0f));
  EpaResult r = convex_epa(GEO TO(a), TO(b), TO(s), PARITY_SCALE);
  OUT_V3(0, r.n) OUT(3, r.depth);
  OUT_V3(4, r.on_a) OUT_V3(7, r.w) UOUT(10, r.found ? KU(1u) : KU(0u));
}
#define OUT_HIT(h)                                                                                                     \
  {                                                                                                                    \
    OUT_V3(0, h.n) OUT(3, h.gap);                                                                                      \
  }
PARITY_KERNEL(case_try)
{
  PARITY_PAIR
  ConvexHit h = convex_try(GEO TO(a), TO(b), parity_hit(PARITY_N, K(-NARROW_NO_POINT), UIN(2)), v3_normalize_or(IN_V3(31), PARITY_N),
                           (UIN(3) & 1u) == 1u);
  OUT_HIT(h)
}
PARITY_KERNEL(case_polish)
{
  PARITY_PAIR
  ConvexHit h = convex_polish(GEO TO(a), TO(b), parity_hit(PARITY_N, IN(34), KU(1u)), PARITY_SCALE);
  OUT_HIT(h)
}
PARITY_KERNEL(case_snap)
{
  PARITY_PAIR
  ConvexHit h = convex_snap(GEO TO(a), TO(b), parity_hit(PARITY_N, IN(34), KU(1u)), PARITY_SCALE);
  OUT_HIT(h)
}
PARITY_KERNEL(case_settle)
{
  PARITY_PAIR
  ConvexHit h = convex_settle(GEO TO(a), TO(b), parity_hit(PARITY_N, IN(34), KU(1u)), IN_V3(16), IN_V3(19));
  OUT_V3(0, h.on_a) OUT_V3(3, h.on_b) OUT(6, h.gap);
}
#define OUT_POINTS(c)                                                                                                  \
  {                                                                                                                    \
    F gap[CLIP_MAX];                                                                                                   \
    for (int i = 0; i < CLIP_MAX - 2; i++) gap[i] = K(NARROW_NO_POINT);                                                \
    for (U i = KU(0u); i < c.count; i++) gap[i] = c.g[i];                                                              \
    for (int i = 0; i < CLIP_MAX - 2; i++) OUT(i, gap[i]);                                                             \
    OUT_V3(10, c.count > 0u ? clip_at(TO(c), c.count - 1u) : v3_zero())                                                \
    UOUT(13, c.code);                                                                                                  \
    UOUT(14, c.count);                                                                                                 \
  }
PARITY_KERNEL(case_clip)
{
  Convex a = parity_triangle(IN_V3(16), IN_V3(19), IN_V3(22));
  Convex b = parity_triangle(IN_V3(28), IN_V3(31), IN_V3(34));
  Feature fa = feature_triangle(TO(a));
  Feature fb = feature_triangle(TO(b));
  ClipPoints c;
  c.count = KU(0u);
  clip_features(TO(c), TO(fa), TO(fb), v3_normalize_or(IN_V3(8), a.tn), (UIN(2) & 1u) == 1u, f_abs(IN(15)));
  OUT_POINTS(c)
}
PARITY_KERNEL(case_clip_edges)
{
  Convex a = convex_of(CONVEX_CAPSULE, CONVEX_ABS(IN_V3(2)), v3_zero(), q4_to_m33(q4_identity()));
  Convex b = convex_of(CONVEX_CAPSULE, CONVEX_ABS(IN_V3(5)), IN_V3(8), q4_to_m33(q4_normalize(IN_Q4(11))));
  Feature fa = feature_capsule(TO(a), PARITY_N);
  Feature fb = feature_capsule(TO(b), v3_neg(PARITY_N));
  ClipPoints c;
  c.count = KU(0u);
  c.code = KU(0u);
  clip_edges(TO(c), TO(fa), TO(fb), PARITY_N, f_abs(IN(15)));
  OUT_POINTS(c)
}
PARITY_KERNEL(case_reduce)
{
  Convex b = PARITY_B;
  ClipPoints c;
  c.count = KU(0u);
  c.code = UIN(2) & 0xffc0u;
  for (U i = KU(0u); i < 8u; i++) clip_put(TO(c), i * 3u, IN_V3(16u + 3u * i), IN(40u + i), K(NARROW_NO_POINT));
  OUT_MANIFOLD(clip_reduce(TO(c), PARITY_N, TO(b), PARITY_SCALE))
}
PARITY_KERNEL(case_plane)
{
  Convex b = PARITY_B;
  ClipPoints c;
  clip_plane(TO(c), GEO TO(b), v3_normalize_or(IN_V3(28), IN_V3(31)), f_abs(IN(15)));
  F gap[CLIP_CORNERS];
  for (int i = 0; i < 17; i++) gap[i] = K(NARROW_NO_POINT);
  for (U i = KU(0u); i < c.count; i++) gap[i] = c.g[i];
  for (int i = 0; i < 17; i++) OUT(i, gap[i]);
  OUT_V3(17, c.count > 0u ? clip_at(TO(c), KU(0u)) : v3_zero())
  UOUT(20, c.code);
  UOUT(21, c.count);
}
PARITY_KERNEL(case_edges)
{
  Convex t = parity_triangle(IN_V3(16), IN_V3(19), IN_V3(22));
  TriangleEdges e = parity_edges(IN_V3(28), IN_V3(31), IN_V3(34), UIN(2));
  UOUT(0, triangle_edges_at(TO(t), IN_V3(8)));
  for (U k = KU(0u); k < 3u; k++) UOUT(1u + k, triangle_edge_owns(TO(t), e, k, PARITY_N) ? KU(1u) : KU(0u));
  UOUT(4, triangle_vertex_admits(t.t0, t.t1, PARITY_N) ? KU(1u) : KU(0u));
  Feature f = feature_triangle(TO(t));
  UOUT(5, clip_inside(TO(f), IN_V3(8), PARITY_N) ? KU(1u) : KU(0u));
}

/* The box of a shape of any type, its step, and whether it reaches a plane. */
PARITY_KERNEL(case_bounds)
{
  X7 x = x7(IN_V3(8), q4_normalize(IN_Q4(11)));
  V3 extent = bounds_half(UIN(0) % 6u, v3(f_abs(IN(2)), f_abs(IN(3)), f_abs(IN(4))), x.q);
  BoundsBody b;
  b.pose = x7(IN_V3(16), q4_normalize(IN_Q4(19)));
  b.com = IN_V3(23);
  b.v = IN_V3(26);
  b.w = IN_V3(29);
  ShapeStep s = bounds_step(b, x.p, extent, IN(15));
  F grow = bounds_grow(IN(5), IN(6), s.reach);
  OUT_V3(0, extent) OUT_V3(3, s.move) OUT(6, s.swing); OUT(7, s.reach); OUT(8, grow);
  OUT(9, bounds_pair_reach(s.move, s.swing, b.v, IN(7)));
  OUT_V3(10, v3_sub(x.p, extent))
  UOUT(13, bounds_reach_plane(v3_sub(x.p, extent), v3_add(x.p, extent), b.pose, grow) ? KU(1u) : KU(0u));
  UOUT(14, bounds_reach_plane(IN_V3(31), IN_V3(34), x, IN(1)) ? KU(1u) : KU(0u));
}

PARITY_KERNEL(case_particle_hull)
{
  ParticleHit h = particle_hull(GEO IN_V3(8), KU(0u), KU(0u), KU(4u), f_abs(IN(15)));
  OUT_V3(0, h.n) OUT_V3(3, h.point) OUT(6, h.distance);
}
PARITY_KERNEL(case_particle_triangle)
{
  V3 q = particle_triangle(IN_V3(8), IN_V3(16), IN_V3(19), IN_V3(22));
  OUT_V3(0, q)
}

/* Heights of 3 by 3 vertices are words 28 to 36. */
FN HeightGrid parity_grid(F x, F y) { return grid_of(KU(0u), KU(3u), KU(3u), v3(f_abs(x) + 0.125f, f_abs(y) + 0.125f, K(2.0f))); }
FN SurfaceTriangle parity_grid_triangle(GEO_PARAM HeightGrid g, U which)
{
  U row = (which >> 1u) & 1u;
  U column = (which >> 2u) & 1u;
  U upper = which & 1u;
  return grid_triangle(GEO g, row, column, upper, grid_normal(GEO g, row, column, upper), grid_normal(GEO g, row, column, 1u - upper));
}
PARITY_KERNEL(case_grid)
{
  HeightGrid g = parity_grid(IN(2), IN(3));
  SurfaceTriangle s = parity_grid_triangle(GEO g, UIN(0));
  OUT_V3(0, s.v0) OUT_V3(3, s.v1) OUT_V3(6, s.v2) OUT_V3(9, s.n) OUT_V3(12, s.n0) OUT_V3(15, s.n1) OUT_V3(18, s.n2)
  UOUT(21, s.open_edges | (s.id << 8u));
  UOUT(22, grid_vertex_owns(GEO g, TO(s), UIN(1) % 3u, PARITY_N) ? KU(1u) : KU(0u));
  UOUT(23, surface_is_far(CONVEX_ABS(IN_V3(8)), IN(15), s.v0, s.v1, s.v2) ? KU(1u) : KU(0u));
}
PARITY_KERNEL(case_grid_cells)
{
  HeightGrid g = parity_grid(IN(2), IN(3));
  g.rows = KU(2u) + UIN(0) % 900u;
  g.columns = KU(2u) + UIN(1) % 900u;
  V3 along = surface_box_along(surface_box_of(KU(1u) + UIN(4) % 6u, CONVEX_ABS(IN_V3(5))), q4_to_m33(q4_normalize(IN_Q4(11))), IN(15));
  GridCells c = grid_cells(g, v3_sub(IN_V3(8), along), v3_add(IN_V3(8), along));
  UOUT(0, c.row0); UOUT(1, c.row1); UOUT(2, c.column0); UOUT(3, c.column1); UOUT(4, c.any ? KU(1u) : KU(0u));
  OUT_V3(5, along)
}
/* Two triangles of the grid. */
PARITY_KERNEL(case_particle_search)
{
  HeightGrid g = parity_grid(IN(2), IN(3));
  ParticleSearch s = particle_search(IN_V3(8), f_abs(IN(15)), f_abs(IN(4)), (UIN(1) & 8u) == 8u);
  for (U i = KU(0u); i < 2u; i++) {
    SurfaceTriangle t = parity_grid_triangle(GEO g, UIN(0) + i);
    ParticleOffer o = particle_offer(TO(s), TO(t));
    if (o.owner > 1u) o.owner = grid_vertex_owns(GEO g, TO(t), o.owner - 2u, o.q) ? KU(1u) : KU(0u);
    if (o.owner == 1u) particle_keep(TO(s), o.hit, t.id);
  }
  particle_settle(TO(s));
  ParticleHit h = particle_hit(v3(IN(0), IN(0), IN(0)), v3(IN(1), IN(1), IN(1)), IN(2));
  if (s.count > 0u) h = particle_face(TO(s), KU(0u));
  OUT_V3(0, h.n) OUT_V3(3, h.point) OUT(6, h.distance);
  UOUT(7, s.count);
  UOUT(8, s.below_id);
}
/* Twelve points on few normals, so that the pool is full once. */
PARITY_KERNEL(case_points)
{
  ParityPool pool;
  U count = KU(0u);
  for (U i = KU(0u); i < 12u; i++) {
    SurfacePoint p;
    p.n = v3_normalize_or(IN_V3((UIN(i) & 3u) * 3u), v3(K(0.0f), K(0.0f), K(1.0f)));
    p.on_a = IN_V3(12u + 3u * i);
    p.on_b = p.on_a;
    p.gap = IN(48u + i);
    p.triangle = UIN(i) >> 4u;
    p.feature = UIN(48u + i) & 15u;
    p.group = KU(0u);
    p.rank = KU(0u);
    count = pool_add(TO(pool), count, p, f_abs(IN(60)));
  }
  count = pool_finish(TO(pool), count, f_abs(IN(60)), x7(IN_V3(61), q4(IN(0), IN(1), IN(2), IN(3))));
  PointNames names = pool_names(TO(pool), count);
  F nothing = IN(63);
  for (U i = KU(0u); i < 8u; i++) {
    F gap = nothing;
    U feature = KU(0u);
    if (i < count) {
      gap = pool.gap[i];
      feature = names.feature[names.order[i]];
    }
    OUT(i, gap);
    UOUT(8u + i, feature);
  }
  OUT_V3(16, count > 0u ? parity_take(TO(pool), KU(0u)).n : v3_zero())
  OUT_V3(19, count > 1u ? parity_take(TO(pool), KU(1u)).on_a : v3_zero())
}
