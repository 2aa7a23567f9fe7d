/* Models with particles for the collision tests. */
#include "particle_scene.h"

#include "cook_math.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

particle_scene particle_scene_new(sb_model_builder *b, uint32_t worlds, const sb_collision_settings *settings)
{
  particle_scene s = {0};
  sb_diagnostics diag = {0};
  if (sb_builder_finalise(b, "test", &s.one, &diag) || sb_model_store_replicate(s.one, worlds, 0, &s.store, &diag)) {
    fprintf(stderr, "%s\n", diag.count ? diag.items[0].message : "no memory");
    abort();
  }
  sb_diagnostics_clear(&diag);
  sb_builder_free(b);
  s.model = sb_model_store_view(s.store);
  if (sb_collision_create(s.model, settings, &s.collision)) abort();
  size_t floats = 3 * (size_t)s.model->particle_count + 1;
  s.q = calloc(floats, sizeof *s.q);
  s.qd = calloc(floats, sizeof *s.qd);
  if (!s.q || !s.qd) abort();
  memcpy(s.q, s.model->particle_q, 3 * (size_t)s.model->particle_count * sizeof *s.q);
  memcpy(s.qd, s.model->particle_qd, 3 * (size_t)s.model->particle_count * sizeof *s.qd);
  return s;
}

void particle_scene_free(particle_scene *s)
{
  sb_collision_destroy(s->collision);
  sb_model_store_free(s->store);
  sb_model_store_free(s->one);
  free(s->q);
  free(s->qd);
}

sb_status particle_scene_step(particle_scene *s, float dt, const sb_collision_tasks *tasks)
{
  sb_status status = sb_collision_step_moving(s->collision, s->model->body_q, s->model->body_qd, dt, tasks);
  return status ? status : sb_collision_step_particles(s->collision, s->q, s->qd, tasks);
}

static int32_t shifted(int32_t index, uint32_t origin) { return index < 0 ? index : index - (int32_t)origin; }

bool particle_contacts_equal(const particle_scene *a, uint32_t wa, const particle_scene *b, uint32_t wb)
{
  const sb_particle_contacts *x = sb_collision_particle_contacts(a->collision), *y = sb_collision_particle_contacts(b->collision);
  const sb_model *m = a->model, *n = b->model;
  uint32_t p = m->world_particle_start[wa], q = n->world_particle_start[wb], particles = m->world_particle_start[wa + 1] - p;
  if (n->world_particle_start[wb + 1] - q != particles) return false;
  for (uint32_t i = 0; i < particles; i++) {
    uint32_t count = x->particle_start[p + i + 1] - x->particle_start[p + i];
    if (y->particle_start[q + i + 1] - y->particle_start[q + i] != count) return false;
    for (uint32_t k = 0; k < count; k++) {
      size_t u = x->particle_start[p + i] + k, v = y->particle_start[q + i] + k;
      if (shifted(x->particle[u], p) != shifted(y->particle[v], q)) return false;
      if (shifted(x->shape[u], m->world_shape_start[wa]) != shifted(y->shape[v], n->world_shape_start[wb])) return false;
      if (shifted(x->body[u], m->world_body_start[wa]) != shifted(y->body[v], n->world_body_start[wb])) return false;
      if (memcmp(x->point + 3 * u, y->point + 3 * v, 12) || memcmp(x->normal + 3 * u, y->normal + 3 * v, 12)) return false;
      if (memcmp(x->gap + u, y->gap + v, 4) || memcmp(x->friction + u, y->friction + v, 4) || memcmp(x->restitution + u, y->restitution + v, 4))
        return false;
    }
  }
  return true;
}

bool near_pairs_equal(const particle_scene *a, uint32_t wa, const particle_scene *b, uint32_t wb)
{
  const sb_near_pairs *x = sb_collision_near_pairs(a->collision), *y = sb_collision_near_pairs(b->collision);
  uint32_t count = x->world_start[wa + 1] - x->world_start[wa];
  if (y->world_start[wb + 1] - y->world_start[wb] != count) return false;
  for (uint32_t i = 0; i < count; i++) {
    size_t u = x->world_start[wa] + i, v = y->world_start[wb] + i;
    for (int k = 0; k < 4; k++)
      if (shifted(x->particles[4 * u + k], a->model->world_particle_start[wa]) != shifted(y->particles[4 * v + k], b->model->world_particle_start[wb]))
        return false;
    if (x->kind[u] != y->kind[v] || memcmp(x->side + u, y->side + v, 4) || memcmp(x->thickness + u, y->thickness + v, 4) ||
        memcmp(x->friction + u, y->friction + v, 4))
      return false;
  }
  return true;
}

static void add_test_tri(sb_model_builder *b, int32_t p, int32_t q, int32_t r)
{
  sb_build_tri t = {.particle = {p, q, r}};
  double x[3][3];
  for (int k = 0; k < 3; k++) sb_builder_particle_q(b, t.particle[k], x[k]);
  if (!cook_tri_rest(x[0], x[1], x[2], t.pose, &t.area)) abort();
  sb_builder_add_tri(b, &t);
}

int32_t add_test_cloth(sb_model_builder *b, int rows, int columns, double spacing, double z, double radius, bool self_contact, const char *name)
{
  sb_build_deformable d = sb_build_deformable_default();
  d.flags = self_contact ? SB_DEFORMABLE_SELF_CONTACT : 0;
  int32_t first = sb_builder_particle_count(b);
  sb_builder_add_deformable(b, &d, name);
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < columns; c++) {
      const sb_build_particle p = {.q = {spacing * c, spacing * r, z}, .mass = 0.01, .radius = radius};
      sb_builder_add_particle(b, &p);
    }
  for (int r = 0; r + 1 < rows; r++)
    for (int c = 0; c + 1 < columns; c++) {
      int32_t p = first + r * columns + c, q = p + columns;
      add_test_tri(b, p, p + 1, q + 1);
      add_test_tri(b, p, q + 1, q);
    }
  return first;
}
