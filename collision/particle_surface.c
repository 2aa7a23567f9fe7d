/* Particles against hulls, meshes and heightfields, one by one. Knows surface.h and particle_surface.kernel.h. */
#include "geometry_access.h"
#include "surface.h"

#include "convex_manifold.kernel.h"
#include "particle_surface.kernel.h"

uint32_t collision_particle_hull(const sb_collision *c, uint32_t shape, V3 x, float reach, particle_found out[SB_PARTICLE_MAX_FACES])
{
  const sb_model *m = c->model;
  const uint32_t *vertices = m->geometry_vertices + 2 * (size_t)m->shape_geometry[shape];
  const uint32_t *faces = m->geometry_faces + 2 * (size_t)m->shape_geometry[shape];
  ParticleHit h = particle_hull(c, x, vertices[0], faces[0], faces[1], reach);
  out[0] = (particle_found){h.n, h.point, h.distance};
  return h.distance < reach ? 1 : 0;
}

/* The nearest faces of a surface, by distance, of equal ones the first triangle. */
typedef struct surface_search {
  const sb_model *model;
  V3 x;
  float reach, radius;
  bool is_hfield;
  uint32_t count;
  particle_found found[SB_PARTICLE_MAX_FACES];
  uint32_t id[SB_PARTICLE_MAX_FACES];
  particle_found below; /* the nearest face that the centre is below */
  uint32_t below_id;
  bool solid; /* heightfield: the centre is under the surface */
} surface_search;

/* Two points on one plane hold the particle back alike. */
static bool same_plane(const particle_found *a, const particle_found *b, float reach)
{
  return v3_dot(a->n, b->n) > 0.99999f && f_abs(v3_dot(v3_sub(a->point, b->point), a->n)) <= 1.0e-4f * reach;
}

static bool is_nearer(float distance, uint32_t id, float than, uint32_t than_id)
{
  return distance < than || (distance == than && id < than_id);
}

static void keep_face(surface_search *s, const particle_found *f, uint32_t id)
{
  for (uint32_t i = 0; i < s->count; i++)
    if (same_plane(&s->found[i], f, s->reach)) return;
  uint32_t at = s->count < SB_PARTICLE_MAX_FACES ? s->count++ : SB_PARTICLE_MAX_FACES;
  for (; at > 0 && is_nearer(f->distance, id, s->found[at - 1].distance, s->id[at - 1]); at--)
    if (at < SB_PARTICLE_MAX_FACES) s->found[at] = s->found[at - 1], s->id[at] = s->id[at - 1];
  if (at < SB_PARTICLE_MAX_FACES) s->found[at] = *f, s->id[at] = id;
}

/* Whether the nearest point, on an edge or at a vertex, belongs there; q: from it to the particle. */
static bool point_owned(const surface_search *s, const surface_triangle *t, V3 point, V3 q)
{
  Convex c = convex_of(CONVEX_TRIANGLE, v3_zero(), v3_zero(), q4_to_m33(q4_identity()));
  c.t0 = t->vertex[0], c.t1 = t->vertex[1], c.t2 = t->vertex[2], c.tn = t->normal[0];
  c.reach = f_sqrt(f_max(v3_len2(v3_sub(c.t1, c.t0)), v3_len2(v3_sub(c.t2, c.t0))));
  TriangleEdges e = {t->normal[1], t->normal[2], t->normal[3], t->open};
  uint32_t at = triangle_edges_at(&c, point);
  if (at == 0) return true;
  if (at == 1 || at == 2 || at == 4) return triangle_edge_owns(&c, e, at >> 1, q);
  return at != 7 && collision_vertex_owns(s->model, s->is_hfield, t, at == 5 ? 0 : at == 3 ? 1 : 2, q);
}

/* Whether x lies under or over the triangle along z; borders count. */
static bool in_column(const surface_triangle *t, V3 x)
{
  for (int k = 0; k < 3; k++) {
    V3 a = t->vertex[k], b = t->vertex[(k + 1) % 3];
    if ((b.x - a.x) * (x.y - a.y) - (b.y - a.y) * (x.x - a.x) < 0.0f) return false;
  }
  return true;
}

/* The centre is below the face. A heightfield is solid all the way down. A mesh counts a centre straight below a face and no deeper than the
 * radius as on its outside still. */
static void search_below(surface_search *s, const surface_triangle *t, V3 point, float distance, bool straight)
{
  if (s->is_hfield && in_column(t, s->x)) s->solid = true;
  if (!s->is_hfield && !(straight && distance <= s->radius)) return;
  if (s->below_id != COLLISION_NONE && !is_nearer(distance, t->id, -s->below.distance, s->below_id)) return;
  s->below = (particle_found){t->normal[0], point, -distance};
  s->below_id = t->id;
}

/* Above the face the particle may touch it, or an edge or vertex that owns the nearest point. */
static void search_triangle(void *user, const surface_triangle *t)
{
  surface_search *s = user;
  V3 n = t->normal[0], point = particle_triangle(s->x, t->vertex[0], t->vertex[1], t->vertex[2]), d = v3_sub(s->x, point);
  float height = v3_dot(v3_sub(s->x, t->vertex[0]), n), distance = v3_len(d);
  bool straight = f_abs(height) >= 0.9999f * distance;
  if (height <= 0.0f) {
    search_below(s, t, point, distance, straight);
    return;
  }
  if (!(distance < s->reach)) return;
  V3 q = v3_normalize_or(d, n);
  if (!straight && !point_owned(s, t, point, q)) return;
  particle_found f = {straight ? n : q, point, straight ? height : distance};
  keep_face(s, &f, t->id);
}

/* Whether the particle is to be pushed out from below. */
static bool is_below(const surface_search *s)
{
  if (s->below_id == COLLISION_NONE) return false;
  return s->is_hfield ? s->solid : s->count == 0 || -s->below.distance < s->found[0].distance;
}

uint32_t collision_particle_surface(const sb_collision *c, uint32_t shape, V3 x, float reach, float radius,
                                    particle_found out[SB_PARTICLE_MAX_FACES])
{
  const sb_model *m = c->model;
  surface_search s = {.model = m, .x = x, .reach = reach, .radius = radius, .is_hfield = m->shape_type[shape] == SB_SHAPE_HFIELD, .below_id = COLLISION_NONE};
  const surface_walk walk = {m, (uint32_t)m->shape_geometry[shape], s.is_hfield, search_triangle, &s};
  V3 room = v3(reach, reach, reach);
  collision_walk_surface(&walk, v3_sub(x, room), v3_add(x, room));
  if (is_below(&s)) {
    /* along the face's normal, so that the push is straight out */
    s.below.distance = v3_dot(v3_sub(x, s.below.point), s.below.n);
    s.found[0] = s.below;
    s.count = 1;
  }
  for (uint32_t i = 0; i < s.count; i++) out[i] = s.found[i];
  return s.count;
}
