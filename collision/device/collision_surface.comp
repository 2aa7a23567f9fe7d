/* Solids against heightfields in steps, because as one text it takes a compiler minutes. PASS:
 *   0 how many triangles each pair meets, a pair a thread; 1 how many are taken; 2 which ones
 *   of each triangle: 3 what its plane says, 4 GJK, 5 the polytope where cores overlap, 6 the distance, 7 who owns it, 8 up to four points
 *   9 of each pair: contacts chosen from the points of its triangles in their order. */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "collision_device.glsl"

layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Counts { uint counts[]; };
#if PASS != 1
layout(std430, binding = 1) readonly buffer Shapes { uint shapes[]; };
layout(std430, binding = 2) readonly buffer Poses { float poses[]; };
layout(std430, binding = 3) readonly buffer Grids { uint grids[]; };
layout(std430, binding = 4) readonly buffer Pairs { uvec2 pairs[]; };
layout(std430, binding = 5) buffer Met { uint met[]; };       /* triangles of each pair */
layout(std430, binding = 6) buffer First { uint first[]; };   /* the first one */
layout(std430, binding = 7) buffer Listed { uvec2 listed[]; }; /* pair, triangle */
layout(std430, binding = 8) buffer Work { uint work[]; };
layout(std430, binding = 9) buffer Found { uint pair_contacts[]; };
layout(std430, binding = 10) buffer RoomFloats { float room[]; };
layout(std430, binding = 11) buffer RoomWords { uint room_words[]; };
#endif

#if PASS == 1
/* Of too many none; then there are no contacts. */
void main()
{
  if (gl_GlobalInvocationID.x != 0u) return;
  bool fits = counts[C_TRIANGLES_FOUND] <= push.triangle_capacity && counts[C_CROWDED] == 0u;
  counts[C_TRIANGLES] = fits ? counts[C_TRIANGLES_FOUND] : 0u;
  if (!fits) counts[C_PAIRS] = 0u;
}
#else

/* A thread's own words of the room, which lie beside those of others. */
#define ROOM(k) ((k) * push.threads + gl_GlobalInvocationID.x)
#if PASS == 5
#define EPA_ELSEWHERE
#define EPA_PARAM
#define EPA
#define EPA_AT(array, i) epa_##array(uint(i))
#define epa_wx(i) room[ROOM(i)]
#define epa_wy(i) room[ROOM(60u + (i))]
#define epa_wz(i) room[ROOM(120u + (i))]
#define epa_ax(i) room[ROOM(180u + (i))]
#define epa_ay(i) room[ROOM(240u + (i))]
#define epa_az(i) room[ROOM(300u + (i))]
#define epa_nx(i) room[ROOM(360u + (i))]
#define epa_ny(i) room[ROOM(488u + (i))]
#define epa_nz(i) room[ROOM(616u + (i))]
#define epa_d(i) room[ROOM(744u + (i))]
#define epa_face(i) room_words[ROOM(i)]
#define epa_edges(i) room_words[ROOM(128u + (i))]
#endif

/* No shape here needs the general geometry. */
#define GEO_PARAM
#define GEO
#define CONVEX_BASIC
#define FEATURE_MAX 4
#define CLIP_MAX 12 /* a quad and a triangle: 4 edges with 2 ends, 3 corners, the deepest point */
#define HEIGHTS_PARAM
#define HEIGHTS
#define HEIGHT_AT(i) uintBitsToFloat(grids[i])
#include "collision/surface.kernel.h"
#include "collision_pair.glsl"

/* A pair: solid a and heightfield b. */
struct SurfacePair { uint a; uint b; bool swapped; float limit; X7 to_a; };

SurfacePair pair_of(uint i)
{
  SurfacePair p;
  uvec2 pair = pairs[i];
  p.swapped = shapes[SHAPE_WORDS * pair.x + S_TYPE] == HFIELD;
  p.a = p.swapped ? pair.y : pair.x;
  p.b = p.swapped ? pair.x : pair.y;
  p.limit = pair_limit(pair.x, pair.y);
  p.to_a = narrow_relative(pose_x7(p.a), pose_x7(p.b));
  return p;
}

bool is_surface_pair(uint i)
{
  uvec2 pair = pairs[i];
  return shapes[SHAPE_WORDS * pair.x + S_TYPE] == HFIELD || shapes[SHAPE_WORDS * pair.y + S_TYPE] == HFIELD;
}

HeightGrid grid_of_shape(uint s)
{
  uint g = shapes[SHAPE_WORDS * s + S_GRID];
  return grid_of(grids[g], grids[g + 1u], grids[g + 2u], v3(uintBitsToFloat(grids[g + 3u]), uintBitsToFloat(grids[g + 4u]), uintBitsToFloat(grids[g + 5u])));
}

/* Constants 0 are hidden, as in hide(). */
Convex solid_of(uint s)
{
  V3 nought = hide(v3_zero());
  Convex c = convex_of(shapes[SHAPE_WORDS * s + S_TYPE], shape_v3(s, S_SIZE), nought, q4_to_m33(q4(nought.x, nought.y, nought.z, 1.0)));
  c.t0 = nought;
  c.t1 = nought;
  c.t2 = nought;
  c.tn = nought;
  return c;
}

#if PASS == 0 || PASS == 2
/* Counts the triangles that the pair meets, and in pass 2 lists them from `at` on. */
uint walk(uint i, uint at)
{
  SurfacePair p = pair_of(i);
  HeightGrid g = grid_of_shape(p.b);
  V3 box = surface_box_of(shapes[SHAPE_WORDS * p.a + S_TYPE], shape_v3(p.a, S_SIZE));
  V3 middle = narrow_relative(pose_x7(p.b), pose_x7(p.a)).p;
  V3 along = surface_box_along(box, q4_to_m33(p.to_a.q), f_max(p.limit, 0.0));
  V3 lo = v3_sub(middle, along);
  GridCells c = grid_cells(g, lo, v3_add(middle, along));
  uint count = 0u;
  if (!c.any) return 0u;
  if ((c.row1 - c.row0 + 1u) * (c.column1 - c.column0 + 1u) > CELLS_MAX) return push.triangles_of_pair + 1u;
  for (uint row = c.row0; row <= c.row1; row++)
    for (uint column = c.column0; column <= c.column1; column++) {
      if (!grid_cell_reaches(g, row, column, lo.z)) continue;
      V3 t0 = x7_point(p.to_a, grid_vertex(g, row, column));
      for (uint which = 0u; which < 2u; which++) {
        if (surface_is_far(box, p.limit, t0, x7_point(p.to_a, grid_second(g, row, column, which)), x7_point(p.to_a, grid_third(g, row, column, which)))) continue;
#if PASS == 2
        listed[at + count] = uvec2(i, 2u * (row * (g.columns - 1u) + column) + which);
#endif
        count++;
      }
    }
  return count;
}

void main()
{
  uint i = gl_GlobalInvocationID.x;
  if (i >= counts[C_PAIRS]) return;
#if PASS == 0
  uint found = is_surface_pair(i) ? walk(i, 0u) : 0u;
  if (found > push.triangles_of_pair) atomicOr(counts[C_CROWDED], 1u);
  met[i] = found;
#else
  if (met[i] > 0u) walk(i, first[i]);
#endif
}
#endif

#if PASS >= 3 && PASS <= 8
/* States of a triangle, and what else is known, in word 0. */
#define NOTHING 0u
#define HIT 1u
#define ASKED 2u
#define OVERLAPPING 3u
#define STARTED 4u
#define STATE 7u
#define IS_FACE 8u
#define HAS_PLANE 16u
#define CORES_OVERLAP 32u
#define CORES_FLAT 64u
/* The other words: deepest point and gap at the plane; normal, gap, points on a and on b of a hit or a start; then normal of a start's plane, simplex. */
#define W_LOW 1u
#define W_PLANE_GAP 4u
#define W_N 5u
#define W_HIT_GAP 8u
#define W_POINT_A 9u
#define W_POINT_B 12u
#define W_OF_PLANE 15u
#define W_SIMPLEX 18u
#define W_SIMPLEX_COUNT 46u
#define W_INSIDE 47u

float work_float(uint at) { return uintBitsToFloat(work[at]); }
V3 work_v3(uint at) { return v3(work_float(at), work_float(at + 1u), work_float(at + 2u)); }
void put_v3(uint at, V3 v)
{
  work[at] = f_bits(v.x);
  work[at + 1u] = f_bits(v.y);
  work[at + 2u] = f_bits(v.z);
}

SurfaceTriangle triangle_of(uint b, uint id)
{
  HeightGrid g = grid_of_shape(b);
  uint cell = id >> 1u;
  uint which = id & 1u;
  uint row = cell / (g.columns - 1u);
  uint column = cell % (g.columns - 1u);
  return grid_triangle(g, row, column, which, grid_normal(g, row, column, which), grid_normal(g, row, column, 1u - which));
}

Convex posed(SurfaceTriangle s, X7 to_a)
{
  V3 nought = hide(v3_zero());
  Convex t = surface_convex(to_a, x7_point(to_a, s.v0), x7_point(to_a, s.v1), x7_point(to_a, s.v2), q4_rotate(to_a.q, s.n));
  t.size = nought;
  t.radius = nought.x;
  return t;
}

#if PASS == 3
void put_hit(uint w, ConvexHit h)
{
  put_v3(w + W_N, h.n);
  work[w + W_HIT_GAP] = f_bits(h.gap);
  put_v3(w + W_POINT_A, h.on_a);
  put_v3(w + W_POINT_B, h.on_b);
}

void run(uint w, SurfacePair p, Convex a, SurfaceTriangle s, Convex t)
{
  TriangleHit r = triangle_hit_plane(a, t, true, p.limit);
  work[w] = !r.near_by ? NOTHING : (r.settled ? HIT | IS_FACE : ASKED);
  put_v3(w + W_LOW, r.low);
  work[w + W_PLANE_GAP] = f_bits(r.plane_gap);
  put_hit(w, r.h);
}
#elif PASS == 4
void run(uint w, SurfacePair p, Convex a, SurfaceTriangle s, Convex t)
{
  if (work[w] != ASKED) return;
  Simplex x = convex_gjk(a, t, convex_scale(a, t), convex_enough(a, t, p.limit));
  ConvexStart start = convex_start(a, t, x, p.limit);
  work[w] = start.done ? NOTHING : (start.h.core_overlap ? OVERLAPPING : STARTED | (start.has_plane ? HAS_PLANE : 0u));
  put_v3(w + W_N, start.h.n);
  work[w + W_HIT_GAP] = f_bits(start.h.gap);
  put_v3(w + W_POINT_A, start.on_a);
  put_v3(w + W_POINT_B, start.on_b);
  put_v3(w + W_OF_PLANE, start.of_plane);
  for (uint k = 0u; k < 4u; k++) {
    put_v3(w + W_SIMPLEX + 7u * k, simplex_w(x, k));
    put_v3(w + W_SIMPLEX + 7u * k + 3u, simplex_a(x, k));
    work[w + W_SIMPLEX + 7u * k + 6u] = f_bits(x.l[k]);
  }
  work[w + W_SIMPLEX_COUNT] = x.count;
  work[w + W_INSIDE] = x.inside ? 1u : 0u;
}
#elif PASS == 5
void run(uint w, SurfacePair p, Convex a, SurfaceTriangle s, Convex t)
{
  if (work[w] != OVERLAPPING) return;
  Simplex x = simplex_none();
  for (uint k = 0u; k < 4u; k++) simplex_put(x, k, work_v3(w + W_SIMPLEX + 7u * k), work_v3(w + W_SIMPLEX + 7u * k + 3u), work_float(w + W_SIMPLEX + 7u * k + 6u));
  x.count = work[w + W_SIMPLEX_COUNT];
  x.inside = work[w + W_INSIDE] != 0u;
  EpaResult e = epa_expand(a, t, x, convex_scale(a, t));
  work[w] = STARTED | CORES_OVERLAP | (e.found ? 0u : CORES_FLAT);
  ConvexStart start;
  start.h.n = work_v3(w + W_N);
  start.h.gap = work_float(w + W_HIT_GAP);
  start.on_a = work_v3(w + W_POINT_A);
  start.on_b = work_v3(w + W_POINT_B);
  start = convex_start_inside(start, e, convex_radii(a, t));
  put_v3(w + W_N, start.h.n);
  work[w + W_HIT_GAP] = f_bits(start.h.gap);
  put_v3(w + W_POINT_A, start.on_a);
  put_v3(w + W_POINT_B, start.on_b);
}
#elif PASS == 6
void run(uint w, SurfacePair p, Convex a, SurfaceTriangle s, Convex t)
{
  uint state = work[w];
  if ((state & STATE) != STARTED) return;
  ConvexStart start;
  start.on_a = work_v3(w + W_POINT_A);
  start.on_b = work_v3(w + W_POINT_B);
  start.of_plane = work_v3(w + W_OF_PLANE);
  start.has_plane = (state & HAS_PLANE) != 0u;
  start.done = false;
  start.h.n = work_v3(w + W_N);
  start.h.gap = work_float(w + W_HIT_GAP);
  start.h.on_a = start.on_a;
  start.h.on_b = start.on_b;
  start.h.core_overlap = (state & CORES_OVERLAP) != 0u;
  start.h.flat_cores = (state & CORES_FLAT) != 0u;
  ConvexHit h = convex_end(a, t, start);
  TriangleHit r;
  r.low = work_v3(w + W_LOW);
  r.plane_gap = work_float(w + W_PLANE_GAP);
  r = triangle_hit_distance(r, a, t, h, p.limit);
  work[w] = !r.near_by ? NOTHING : HIT | (r.face ? IS_FACE : 0u);
  put_v3(w + W_N, r.h.n);
  work[w + W_HIT_GAP] = f_bits(r.h.gap);
  put_v3(w + W_POINT_A, r.h.on_a);
  put_v3(w + W_POINT_B, r.h.on_b);
}
#elif PASS == 7
/* Whether the contact at an edge or vertex belongs there. */
bool triangle_owns(SurfacePair p, SurfaceTriangle s, Convex t, V3 on_triangle, V3 q)
{
  uint owner = triangle_owner(t, surface_edges(s, p.to_a.q), triangle_edges_at(t, on_triangle), q);
  return owner < 2u ? owner == 1u : grid_vertex_owns(grid_of_shape(p.b), s, owner - 2u, q4_rotate_inv(p.to_a.q, q));
}

/* What does not belong to an edge or vertex is a contact with the face. */
void run(uint w, SurfacePair p, Convex a, SurfaceTriangle s, Convex t)
{
  if (work[w] == HIT && !triangle_owns(p, s, t, work_v3(w + W_POINT_B), v3_neg(work_v3(w + W_N)))) work[w] = HIT | IS_FACE;
}
#else
uint put_point(uint w, uint count, V3 n, V3 on_a, V3 on_b, float gap, uint feature, float limit)
{
  if (!(gap < limit)) return count;
  uint at = w + T_POINT_WORDS * count;
  put_v3(at, n);
  put_v3(at + T_ON_A, on_a);
  put_v3(at + T_ON_B, on_b);
  work[at + T_GAP] = f_bits(gap);
  work[at + T_FEATURE] = feature;
  return count + 1u;
}

void run(uint w, SurfacePair p, Convex a, SurfaceTriangle s, Convex t)
{
  uint state = work[w];
  uint count = 0u;
  if ((state & STATE) == HIT) {
    TriangleHit r;
    r.h.n = work_v3(w + W_N);
    r.h.gap = work_float(w + W_HIT_GAP);
    r.h.on_a = work_v3(w + W_POINT_A);
    r.h.on_b = work_v3(w + W_POINT_B);
    r.low = work_v3(w + W_LOW);
    r.plane_gap = work_float(w + W_PLANE_GAP);
    Manifold m = triangle_manifold(a, t, r, (state & IS_FACE) != 0u, p.limit);
    count = put_point(w, count, m.n, m.a0, m.b0, m.g0, m.f0, p.limit);
    count = put_point(w, count, m.n, m.a1, m.b1, m.g1, m.f1, p.limit);
    count = put_point(w, count, m.n, m.a2, m.b2, m.g2, m.f2, p.limit);
    count = put_point(w, count, m.n, m.a3, m.b3, m.g3, m.f3, p.limit);
  }
  work[w + T_COUNT] = count;
}
#endif

void main()
{
#if PASS == 5
  if (gl_GlobalInvocationID.x >= push.threads) return;
  uint k = push.begin + gl_GlobalInvocationID.x;
#else
  uint k = gl_GlobalInvocationID.x;
#endif
  if (k >= counts[C_TRIANGLES]) return;
  SurfacePair p = pair_of(listed[k].x);
  SurfaceTriangle s = triangle_of(p.b, listed[k].y);
  run(TRIANGLE_WORDS * k, p, solid_of(p.a), s, posed(s, p.to_a));
}
#endif

#if PASS == 9
/* The pool: eleven floats and four words of each point; then how many there are, from round to round. */
#define POOL_COUNT room_words[ROOM(4u * POOL_SIZE)]
#define POOL_PARAM
#define POOL
#define POOL_TAKE(i) pool_take(i)
#define POOL_PUT(i, p) pool_put(i, p)
#define POOL_SCORE(i) room[ROOM(10u * POOL_SIZE + (i))]

V3 pool_v3(uint i, uint k) { return v3(room[ROOM(k * POOL_SIZE + i)], room[ROOM((k + 1u) * POOL_SIZE + i)], room[ROOM((k + 2u) * POOL_SIZE + i)]); }
void pool_put_v3(uint i, uint k, V3 v)
{
  room[ROOM(k * POOL_SIZE + i)] = v.x;
  room[ROOM((k + 1u) * POOL_SIZE + i)] = v.y;
  room[ROOM((k + 2u) * POOL_SIZE + i)] = v.z;
}

SurfacePoint pool_take(uint i)
{
  SurfacePoint p;
  p.n = pool_v3(i, 0u);
  p.on_a = pool_v3(i, 3u);
  p.on_b = pool_v3(i, 6u);
  p.gap = room[ROOM(9u * POOL_SIZE + i)];
  p.triangle = room_words[ROOM(i)];
  p.feature = room_words[ROOM(POOL_SIZE + i)];
  p.group = room_words[ROOM(2u * POOL_SIZE + i)];
  p.rank = room_words[ROOM(3u * POOL_SIZE + i)];
  return p;
}

void pool_put(uint i, SurfacePoint p)
{
  pool_put_v3(i, 0u, p.n);
  pool_put_v3(i, 3u, p.on_a);
  pool_put_v3(i, 6u, p.on_b);
  room[ROOM(9u * POOL_SIZE + i)] = p.gap;
  room_words[ROOM(i)] = p.triangle;
  room_words[ROOM(POOL_SIZE + i)] = p.feature;
  room_words[ROOM(2u * POOL_SIZE + i)] = p.group;
  room_words[ROOM(3u * POOL_SIZE + i)] = p.rank;
}

#include "collision/surface_points.kernel.h"

float work_float(uint at) { return uintBitsToFloat(work[at]); }
V3 work_v3(uint at) { return v3(work_float(at), work_float(at + 1u), work_float(at + 2u)); }
void put_v3(uint at, V3 v)
{
  work[at] = f_bits(v.x);
  work[at + 1u] = f_bits(v.y);
  work[at + 2u] = f_bits(v.z);
}

/* The pool with the points of triangles k to end - 1. */
uint gather(uint k, uint end, uint count, float reach)
{
  for (; k < end; k++)
    for (uint j = 0u; j < work[TRIANGLE_WORDS * k + T_COUNT]; j++) {
      uint w = TRIANGLE_WORDS * k + T_POINT_WORDS * j;
      SurfacePoint p = point_none();
      p.n = work_v3(w);
      p.on_a = work_v3(w + T_ON_A);
      p.on_b = work_v3(w + T_ON_B);
      p.gap = work_float(w + T_GAP);
      p.triangle = listed[k].y;
      p.feature = work[w + T_FEATURE];
      count = pool_add(count, p, reach);
    }
  return count;
}

void choose(uint i)
{
  SurfacePair p = pair_of(i);
  float reach = solid_of(p.a).reach;
  uint from = TRIANGLES_OF_ROUND * push.round;
  uint to = min(from + TRIANGLES_OF_ROUND, met[i]);
  uint count = gather(first[i] + from, first[i] + to, push.round == 0u ? 0u : POOL_COUNT, reach);
  POOL_COUNT = count;
  if (to < met[i]) return;
  count = pool_finish(count, reach, p.to_a);
  PointNames names = pool_names(count);
  X7 fa = frame_of(p.a);
  X7 fb = frame_of(p.b);
  Q4 turn = pose_x7(p.a).q;
  for (uint k = 0u; k < count; k++) {
    SurfacePoint x = pool_take(names.order[k]);
    uint w = TRIANGLE_WORDS * first[i] + T_POINT_WORDS * k;
    V3 n = q4_rotate(turn, x.n);
    V3 on_a = x7_point(fa, x.on_a);
    V3 on_b = x7_point(fb, x.on_b);
    put_v3(w, v3_sel(p.swapped, v3_neg(n), n));
    put_v3(w + T_ON_A, v3_sel(p.swapped, on_b, on_a));
    put_v3(w + T_ON_B, v3_sel(p.swapped, on_a, on_b));
    work[w + T_GAP] = f_bits(x.gap);
    work[w + T_FEATURE] = names.feature[names.order[k]];
  }
  pair_contacts[i] = count;
}

void main()
{
  uint i = push.begin + gl_GlobalInvocationID.x;
  if (gl_GlobalInvocationID.x >= push.threads || i >= counts[C_PAIRS]) return;
  if (met[i] > TRIANGLES_OF_ROUND * push.round) choose(i);
  else if (push.round == 0u && is_surface_pair(i)) pair_contacts[i] = 0u;
}
#endif
#endif
