/* Particles against hulls, meshes and heightfields, one by one. Knows surface.h and particle_surface.kernel.h. */
#include "surface.h"

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

_Static_assert(PARTICLE_FACES == SB_PARTICLE_MAX_FACES, "room for a particle's faces");

typedef struct surface_search {
  const sb_model *model;
  bool is_hfield;
  ParticleSearch found;
} surface_search;

static void search_triangle(void *user, const SurfaceTriangle *t)
{
  surface_search *s = user;
  ParticleOffer o = particle_offer(&s->found, t);
  if (o.owner > 1 && !collision_vertex_owns(s->model, s->is_hfield, t, o.owner - 2, o.q)) return;
  if (o.owner) particle_keep(&s->found, o.hit, t->id);
}

uint32_t collision_particle_surface(const sb_collision *c, uint32_t shape, V3 x, float reach, float radius,
                                    particle_found out[SB_PARTICLE_MAX_FACES])
{
  const sb_model *m = c->model;
  bool is_hfield = m->shape_type[shape] == SB_SHAPE_HFIELD;
  surface_search s = {.model = m, .is_hfield = is_hfield, .found = particle_search(x, reach, radius, is_hfield)};
  const surface_walk walk = {m, (uint32_t)m->shape_geometry[shape], is_hfield, search_triangle, &s};
  V3 room = v3(reach, reach, reach);
  collision_walk_surface(&walk, v3_sub(x, room), v3_add(x, room));
  particle_settle(&s.found);
  for (uint32_t i = 0; i < s.found.count; i++) {
    ParticleHit h = particle_face(&s.found, i);
    out[i] = (particle_found){h.n, h.point, h.distance};
  }
  return s.found.count;
}
