/* Narrow phase of the pairs that no lane kernel knows: convex shapes by their support points, and convex shapes against the triangles of
 * meshes and heightfields. Knows collision_state.h and convex_manifold.kernel.h. */
#include "collision_state.h"

#include "geometry_access.h"
#include "surface.h"

#include "convex_manifold.kernel.h"

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

#define POOL_SIZE 64u
#define POOL_KEPT 16u
#define POINTS_OF_NORMAL 4u

/* A point that some triangle offers, in the frame of the convex shape; on_b in the surface's. */
typedef struct surface_point {
  V3 n, on_a, on_b;
  float gap;
  uint32_t triangle, feature, group;
} surface_point;

/* Points in the order of triangles. */
typedef struct surface_pool {
  const sb_collision *collision;
  const sb_model *model;
  Convex a;
  X7 to_a; /* pose of the surface in the frame of a */
  float limit;
  V3 half; /* half extents of the box around a */
  bool solid_below;
  uint32_t count;
  surface_point points[POOL_SIZE];
} surface_pool;

/* How much q adds to p: distance, and turn of the normal as if over the shape's reach. */
static float difference(const surface_point *p, const surface_point *q, float reach)
{
  return v3_len2(v3_sub(p->on_a, q->on_a)) + (1.0f - v3_dot(p->n, q->n)) * (reach * reach);
}

/* Moves up to `most` points to the front: the deepest, then each time the one that differs most from those chosen; of equal ones the
 * first. At most four share a normal (to a quarter of a degree); `group` numbers the normals. Returns how many. */
static uint32_t choose_points(surface_pool *pool, uint32_t most)
{
  surface_point *p = pool->points;
  float score[POOL_SIZE], reach = pool->a.reach, least = 1.0e-4f * (reach * reach);
  uint32_t members[POOL_SIZE] = {0}, groups = 0, chosen = 0;
  for (uint32_t i = 0; i < pool->count; i++) score[i] = -p[i].gap;
  while (chosen < most) {
    uint32_t best = pool->count;
    for (uint32_t i = chosen; i < pool->count; i++) {
      bool possible = chosen == 0 || score[i] > least;
      for (uint32_t k = 0; possible && k < chosen; k++)
        if (v3_dot(p[k].n, p[i].n) > 0.99999f && members[p[k].group] == POINTS_OF_NORMAL) possible = false;
      if (possible && (best == pool->count || score[i] > score[best])) best = i;
    }
    if (best == pool->count) break;
    surface_point taken = p[best];
    float of_taken = score[best];
    taken.group = groups;
    for (uint32_t k = 0; k < chosen && taken.group == groups; k++)
      if (v3_dot(p[k].n, taken.n) > 0.99999f) taken.group = p[k].group;
    if (taken.group == groups) groups++;
    members[taken.group]++;
    /* those between move up by one, so that the others stay in their order */
    for (uint32_t i = best; i > chosen; i--) p[i] = p[i - 1], score[i] = score[i - 1];
    p[chosen] = taken, score[chosen] = of_taken;
    for (uint32_t i = chosen + 1; i < pool->count; i++) {
      float d = difference(&p[i], &taken, reach);
      if (chosen == 0 || d < score[i]) score[i] = d;
    }
    chosen++;
  }
  return chosen;
}

static bool point_before(const surface_point *p, const surface_point *q)
{
  return p->triangle != q->triangle ? p->triangle < q->triangle : p->feature < q->feature;
}

static void sort_points(surface_point *p, uint32_t count)
{
  for (uint32_t i = 1; i < count; i++) {
    surface_point x = p[i];
    uint32_t at = i;
    for (; at > 0 && point_before(&x, &p[at - 1]); at--) p[at] = p[at - 1];
    p[at] = x;
  }
}

/* Whether the contact at an edge or vertex belongs there. */
static bool triangle_owns(const surface_pool *pool, const surface_triangle *s, const Convex *t, TriangleEdges e, V3 on_triangle, V3 q)
{
  uint32_t at = triangle_edges_at(t, on_triangle);
  if (at == 1 || at == 2 || at == 4) return triangle_edge_owns(t, e, at >> 1, q);
  if (at == 0 || at == 7) return false;
  /* edges k - 1 and k meet at vertex k */
  return collision_vertex_owns(pool->model, pool->solid_below, s, at == 5 ? 0 : at == 3 ? 1 : 2, q4_rotate_inv(pool->to_a.q, q));
}

/* Whether the triangle is farther than the limit from the box around the convex shape, along an axis of that. */
static bool triangle_is_far(const surface_pool *pool, V3 p, V3 q, V3 r)
{
  float room = f_max(pool->limit, 0.0f);
  V3 h = v3_add(pool->half, v3(room, room, room));
  return (p.x > h.x && q.x > h.x && r.x > h.x) || (p.x < -h.x && q.x < -h.x && r.x < -h.x) ||
         (p.y > h.y && q.y > h.y && r.y > h.y) || (p.y < -h.y && q.y < -h.y && r.y < -h.y) ||
         (p.z > h.z && q.z > h.z && r.z > h.z) || (p.z < -h.z && q.z < -h.z && r.z < -h.z);
}

static void add_triangle(void *user, const surface_triangle *s)
{
  surface_pool *pool = user;
  Convex t = convex_of(CONVEX_TRIANGLE, v3_zero(), pool->to_a.p, q4_to_m33(pool->to_a.q));
  t.t0 = x7_point(pool->to_a, s->vertex[0]);
  t.t1 = x7_point(pool->to_a, s->vertex[1]);
  t.t2 = x7_point(pool->to_a, s->vertex[2]);
  if (triangle_is_far(pool, t.t0, t.t1, t.t2)) return;
  t.tn = q4_rotate(pool->to_a.q, s->normal[0]);
  t.reach = f_sqrt(f_max(v3_len2(v3_sub(t.t1, t.t0)), v3_len2(v3_sub(t.t2, t.t0))));
  TriangleEdges e = {q4_rotate(pool->to_a.q, s->normal[1]), q4_rotate(pool->to_a.q, s->normal[2]), q4_rotate(pool->to_a.q, s->normal[3]), s->open};
  TriangleHit hit = triangle_hit(pool->collision, &pool->a, &t, pool->solid_below, pool->limit);
  if (!hit.near_by) return;
  bool face = hit.face || !triangle_owns(pool, s, &t, e, hit.h.on_b, v3_neg(hit.h.n));
  Manifold m = triangle_manifold(pool->collision, &pool->a, &t, &hit, face, pool->limit);
  manifold_points p = points_of(&m);
  for (uint32_t i = 0; i < 4; i++) {
    if (!(p.gap[i] < pool->limit)) continue;
    if (pool->count == POOL_SIZE) {
      pool->count = choose_points(pool, POOL_KEPT);
      sort_points(pool->points, pool->count);
    }
    pool->points[pool->count++] = (surface_point){m.n, p.a[i], p.b[i], p.gap[i], s->id, p.feature[i], 0};
  }
}

/* Half extents of a solid's box along its own axes. */
static V3 box_of(const sb_model *m, uint32_t s)
{
  const float *size = m->shape_size + 3 * (size_t)s;
  if (m->shape_type[s] == SB_SHAPE_SPHERE) return v3(size[0], size[0], size[0]);
  if (m->shape_type[s] == SB_SHAPE_CAPSULE) return v3(size[0], size[0], size[0] + size[1]);
  if (m->shape_type[s] == SB_SHAPE_CYLINDER) return v3(size[0], size[0], size[1]);
  return load_v3(size);
}

/* The same along the surface's axes; r turns surface axes to the shape's. */
static V3 box_in_surface(V3 h, M33 r, float grow)
{
  M33 a = m33(v3(f_abs(r.r0.x), f_abs(r.r0.y), f_abs(r.r0.z)), v3(f_abs(r.r1.x), f_abs(r.r1.y), f_abs(r.r1.z)),
              v3(f_abs(r.r2.x), f_abs(r.r2.y), f_abs(r.r2.z)));
  return v3_add(m33_tmul_v3(a, h), v3(grow, grow, grow));
}

/* One less than 13 bits hold: the last would be SB_FEATURE_SWEPT. */
#define POINT_MARKS 0x1fffu

/* 13 bits of a point's triangle and feature (the finaliser of MurmurHash3, Appleby 2011). */
static uint32_t point_mark(const surface_point *p)
{
  uint32_t h = p->triangle * 0x9e3779b1u ^ p->feature;
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  return (h ^ h >> 16) % POINT_MARKS;
}

/* The normal's group and the mark, made unique by counting on in the order of triangles. */
static void name_points(const surface_point *p, uint32_t count, uint16_t feature[])
{
  for (uint32_t i = 0; i < count; i++) {
    uint32_t mark = point_mark(&p[i]);
    for (uint32_t k = 0; k < i;) {
      if (feature[k] == (p[i].group << 13 | mark)) {
        mark = (mark + 1) % POINT_MARKS;
        k = 0;
      } else {
        k++;
      }
    }
    feature[i] = (uint16_t)(p[i].group << 13 | mark);
  }
}

static void emit_points(const sb_collision *c, uint32_t sa, uint32_t sb, bool swap, surface_pool *pool, uint32_t count,
                        collision_surface_manifold *out)
{
  X7 xa = load_x7(c->shape_q + 7 * (size_t)sa), fa = frame_of(c, sa), fb = frame_of(c, sb);
  surface_point *p = pool->points;
  V3 of_group[COLLISION_SURFACE_POINTS];
  for (uint32_t i = count; i-- > 0;) of_group[p[i].group] = p[i].n; /* the first of each group gives the normal */
  uint16_t feature[COLLISION_SURFACE_POINTS];
  uint32_t order[COLLISION_SURFACE_POINTS];
  sort_points(p, count);
  name_points(p, count, feature);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t at = i;
    for (; at > 0 && feature[order[at - 1]] > feature[i]; at--) order[at] = order[at - 1];
    order[at] = i;
  }
  out->count = count;
  for (uint32_t i = 0; i < count; i++) {
    const surface_point *x = &p[order[i]];
    V3 n = of_group[x->group], world = q4_rotate(xa.q, n);
    V3 on_a = x7_point(fa, x->on_a), on_b = x7_point(fb, x->on_b);
    out->gap[i] = v3_dot(v3_sub(x7_point(pool->to_a, x->on_b), x->on_a), n);
    store_v3(out->normal[i], swap ? v3_neg(world) : world);
    store_v3(out->point_a[i], swap ? on_b : on_a);
    store_v3(out->point_b[i], swap ? on_a : on_b);
    out->feature[i] = feature[order[i]];
  }
}

void collision_surface_pair(const sb_collision *c, const collision_pair *pair, float limit, collision_surface_manifold *out)
{
  const sb_model *m = c->model;
  bool swap = m->shape_type[pair->a] > m->shape_type[pair->b];
  uint32_t sa = swap ? pair->b : pair->a, sb = swap ? pair->a : pair->b;
  X7 xa = load_x7(c->shape_q + 7 * (size_t)sa), xb = load_x7(c->shape_q + 7 * (size_t)sb);
  surface_pool pool = {.collision = c,
                       .model = m,
                       .a = convex_at(m, sa, x7(v3_zero(), q4_identity())),
                       .to_a = narrow_relative(xa, xb),
                       .limit = limit,
                       .half = box_of(m, sa),
                       .solid_below = m->shape_type[sb] == SB_SHAPE_HFIELD};
  X7 in_surface = narrow_relative(xb, xa);
  V3 half = box_in_surface(pool.half, q4_to_m33(pool.to_a.q), f_max(limit, 0.0f));
  V3 lo = v3_sub(in_surface.p, half), hi = v3_add(in_surface.p, half);
  const surface_walk walk = {m, (uint32_t)m->shape_geometry[sb], pool.solid_below, add_triangle, &pool};
  collision_walk_surface(&walk, lo, hi);
  uint32_t count = choose_points(&pool, COLLISION_SURFACE_POINTS);
  emit_points(c, sa, sb, swap, &pool, count, out);
}
