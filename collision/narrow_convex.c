/* Narrow phase of the pairs that no lane kernel knows: convex shapes by their support points, and convex shapes against the triangles of
 * meshes and heightfields. Knows collision_state.h and convex_manifold.kernel.h. */
#include "collision_state.h"

#include "geometry_access.h"
#include "surface.h"

_Static_assert(CONVEX_SPHERE == SB_SHAPE_SPHERE && CONVEX_CAPSULE == SB_SHAPE_CAPSULE && CONVEX_BOX == SB_SHAPE_BOX &&
                   CONVEX_CYLINDER == SB_SHAPE_CYLINDER && CONVEX_ELLIPSOID == SB_SHAPE_ELLIPSOID && CONVEX_HULL == SB_SHAPE_HULL &&
                   FEATURE_MAX == SB_HULL_MAX_CORNERS,
               "the kernel's own names for shapes");

static X7 load_x7(const float *p) { return x7(load_v3(p), q4(p[3], p[4], p[5], p[6])); }
static void store_v3(float *p, V3 v) { p[0] = v.x, p[1] = v.y, p[2] = v.z; }

/* Pose in which solvers follow a shape's points: in its body, or in the world for what never moves. */
static X7 frame_of(const sb_collision *c, uint32_t s)
{
  return load_x7((c->shape_fixed[s] ? c->shape_q : c->model->shape_X) + 7 * (size_t)s);
}

/* The shape in a frame in which it has the pose x. */
static Convex convex_at(const sb_model *m, uint32_t s, X7 x)
{
  Convex c = convex_of(m->shape_type[s], load_v3(m->shape_size + 3 * (size_t)s), x.p, q4_to_m33(x.q));
  if (c.type == CONVEX_HULL) {
    const uint32_t *vertices = m->geometry_vertices + 2 * (size_t)m->shape_geometry[s];
    const uint32_t *faces = m->geometry_faces + 2 * (size_t)m->shape_geometry[s];
    c.vertices = vertices[0], c.vertex_count = vertices[1];
    c.faces = faces[0], c.face_count = faces[1];
  }
  return c;
}

/* --- two convex shapes --- */

typedef struct manifold_points {
  V3 a[4], b[4];
  float gap[4];
  uint32_t feature[4];
} manifold_points;

static manifold_points points_of(const Manifold *m)
{
  return (manifold_points){{m->a0, m->a1, m->a2, m->a3},
                           {m->b0, m->b1, m->b2, m->b3},
                           {m->g0, m->g1, m->g2, m->g3},
                           {m->f0, m->f1, m->f2, m->f3}};
}

void collision_convex_pair(const sb_collision *c, const collision_pair *pair, float limit, collision_manifold *out)
{
  const sb_model *m = c->model;
  bool swap = m->shape_type[pair->a] > m->shape_type[pair->b];
  uint32_t sa = swap ? pair->b : pair->a, sb = swap ? pair->a : pair->b;
  X7 xa = load_x7(c->shape_q + 7 * (size_t)sa);
  Convex b = convex_at(m, sb, narrow_relative(xa, load_x7(c->shape_q + 7 * (size_t)sb)));
  Convex a = convex_at(m, sa, x7(v3_zero(), q4_identity()));
  Manifold found = m->shape_type[sa] == SB_SHAPE_PLANE ? convex_plane(c, &b, v3(0.0f, 0.0f, 1.0f), limit)
                                                       : convex_convex(c, &a, &b, limit);
  manifold_points p = points_of(&found);
  V3 n = q4_rotate(xa.q, found.n);
  X7 fa = frame_of(c, sa), fb = frame_of(c, sb);
  uint32_t order[4], count = 0;
  for (uint32_t i = 0; i < 4; i++) {
    if (!(p.gap[i] < limit)) continue;
    uint32_t at = count++;
    for (; at > 0 && p.feature[order[at - 1]] > p.feature[i]; at--) order[at] = order[at - 1];
    order[at] = i;
  }
  out->count = count;
  store_v3(out->normal, swap ? v3_neg(n) : n);
  for (uint32_t i = 0; i < count; i++) {
    V3 on_a = x7_point(fa, p.a[order[i]]), on_b = x7_point(fb, p.b[order[i]]);
    store_v3(out->point_a[i], swap ? on_b : on_a);
    store_v3(out->point_b[i], swap ? on_a : on_b);
    out->gap[i] = p.gap[order[i]];
    out->feature[i] = (uint16_t)p.feature[order[i]];
  }
}

Manifold collision_ball_against(const sb_collision *c, float radius, uint32_t shape, X7 rel)
{
  Convex ball = convex_of(CONVEX_SPHERE, v3(radius, 0.0f, 0.0f), v3_zero(), q4_to_m33(q4_identity()));
  Convex other = convex_at(c->model, shape, rel);
  ConvexHit h = convex_distance(c, &ball, &other, NARROW_NO_POINT);
  Manifold r = manifold_empty();
  r.n = h.n;
  r.a0 = h.on_a;
  r.b0 = x7_point_inv(rel, h.on_b);
  r.g0 = h.gap;
  return r;
}

/* --- a convex shape and a surface --- */

/* Points in the order of triangles, and what they are found by. */
typedef struct surface_pool {
  const sb_collision *collision;
  Convex a;
  X7 to_a; /* pose of the surface in the frame of a */
  float limit;
  V3 half; /* half extents of the box around a */
  bool is_hfield;
  uint32_t count;
  float score[POOL_SIZE];
  SurfacePoint points[POOL_SIZE];
} surface_pool;

#define POOL_PARAM surface_pool *pool,
#define POOL pool,
#define POOL_TAKE(i) (pool->points[i])
#define POOL_PUT(i, p) pool->points[i] = (p)
#define POOL_SCORE(i) (pool->score[i])
#include "surface_points.kernel.h"

_Static_assert(SURFACE_POINTS == COLLISION_SURFACE_POINTS, "room for a pair's contacts");

/* Whether the contact at an edge or vertex belongs there. */
static bool triangle_owns(const surface_pool *pool, const SurfaceTriangle *s, const Convex *t, V3 on_triangle, V3 q)
{
  uint32_t owner = triangle_owner(t, surface_edges(s, pool->to_a.q), triangle_edges_at(t, on_triangle), q);
  return owner < 2 ? owner == 1 : collision_vertex_owns(pool->collision->model, pool->is_hfield, s, owner - 2, q4_rotate_inv(pool->to_a.q, q));
}

static void add_triangle(void *user, const SurfaceTriangle *s)
{
  surface_pool *pool = user;
  V3 t0 = x7_point(pool->to_a, s->v0), t1 = x7_point(pool->to_a, s->v1), t2 = x7_point(pool->to_a, s->v2);
  if (surface_is_far(pool->half, pool->limit, t0, t1, t2)) return;
  Convex t = surface_convex(pool->to_a, t0, t1, t2, q4_rotate(pool->to_a.q, s->n));
  TriangleHit hit = triangle_hit(pool->collision, &pool->a, &t, pool->is_hfield, pool->limit);
  if (!hit.near_by) return;
  bool face = hit.face || !triangle_owns(pool, s, &t, hit.h.on_b, v3_neg(hit.h.n));
  Manifold m = triangle_manifold(pool->collision, &pool->a, &t, &hit, face, pool->limit);
  manifold_points p = points_of(&m);
  for (uint32_t i = 0; i < 4; i++)
    if (p.gap[i] < pool->limit) pool->count = pool_add(pool, pool->count, (SurfacePoint){m.n, p.a[i], p.b[i], p.gap[i], s->id, p.feature[i], 0, 0}, pool->a.reach);
}

static void emit_points(const sb_collision *c, uint32_t sa, uint32_t sb, bool swap, surface_pool *pool, collision_surface_manifold *out)
{
  X7 xa = load_x7(c->shape_q + 7 * (size_t)sa), fa = frame_of(c, sa), fb = frame_of(c, sb);
  out->count = pool_finish(pool, pool->count, pool->a.reach, pool->to_a);
  PointNames names = pool_names(pool, out->count);
  for (uint32_t i = 0; i < out->count; i++) {
    const SurfacePoint *x = &pool->points[names.order[i]];
    V3 world = q4_rotate(xa.q, x->n), on_a = x7_point(fa, x->on_a), on_b = x7_point(fb, x->on_b);
    out->gap[i] = x->gap;
    store_v3(out->normal[i], swap ? v3_neg(world) : world);
    store_v3(out->point_a[i], swap ? on_b : on_a);
    store_v3(out->point_b[i], swap ? on_a : on_b);
    out->feature[i] = (uint16_t)names.feature[names.order[i]];
  }
}

void collision_surface_pair(const sb_collision *c, const collision_pair *pair, float limit, collision_surface_manifold *out)
{
  const sb_model *m = c->model;
  bool swap = m->shape_type[pair->a] > m->shape_type[pair->b];
  uint32_t sa = swap ? pair->b : pair->a, sb = swap ? pair->a : pair->b;
  X7 xa = load_x7(c->shape_q + 7 * (size_t)sa), xb = load_x7(c->shape_q + 7 * (size_t)sb);
  surface_pool pool;
  pool.collision = c;
  pool.a = convex_at(m, sa, x7(v3_zero(), q4_identity()));
  pool.to_a = narrow_relative(xa, xb);
  pool.limit = limit;
  pool.half = surface_box_of(m->shape_type[sa], load_v3(m->shape_size + 3 * (size_t)sa));
  pool.is_hfield = m->shape_type[sb] == SB_SHAPE_HFIELD;
  pool.count = 0;
  V3 middle = narrow_relative(xb, xa).p, half = surface_box_along(pool.half, q4_to_m33(pool.to_a.q), f_max(limit, 0.0f));
  const surface_walk walk = {m, (uint32_t)m->shape_geometry[sb], pool.is_hfield, add_triangle, &pool};
  collision_walk_surface(&walk, v3_sub(middle, half), v3_add(middle, half));
  emit_points(c, sa, sb, swap, &pool, out);
}
