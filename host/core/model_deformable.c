/* Particles and what ties them, in a model that is being built: rounded as they are added, then copied into the arrays. C library
 * only. */
#include "fp_env.h"
#include "model_builder_parts.h"

#include <string.h>

sb_build_deformable sb_build_deformable_default(void)
{
  return (sb_build_deformable){.friction = 0.5, .contype = 1, .conaffinity = 1};
}

void sb_builder_start_deformables(sb_model_builder *b)
{
  b->deformables.size = sizeof(sb_built_deformable);
  b->particles.size = sizeof(sb_built_particle);
  b->springs.size = sizeof(sb_built_spring);
  b->tris.size = sizeof(sb_built_tri);
  b->edges.size = sizeof(sb_built_edge);
  b->tets.size = sizeof(sb_built_tet);
  b->attachments.size = sizeof(sb_built_attachment);
}

static float rounded(double value)
{
  float out;
  sb_round_to(&out, &value, 1);
  return out;
}

int32_t sb_builder_add_deformable(sb_model_builder *b, const sb_build_deformable *d, const char *name)
{
  if (!b) return -1;
  sb_fp_env saved = sb_fp_env_enter();
  const sb_built_deformable built = {.first_particle = (int32_t)b->particles.count,
                                     .flags = d->flags,
                                     .friction = rounded(d->friction),
                                     .restitution = rounded(d->restitution),
                                     .margin = rounded(d->margin),
                                     .contype = d->contype,
                                     .conaffinity = d->conaffinity};
  sb_fp_env_leave(saved);
  int32_t index = sb_pool_add(b, &b->deformables, &built);
  if (index >= 0) sb_builder_add_name(b, SB_NAME_DEFORMABLE, name, "");
  return b->failed ? -1 : index;
}

int32_t sb_builder_add_particle(sb_model_builder *b, const sb_build_particle *p)
{
  sb_built_deformable *last = b ? sb_pool_at(&b->deformables, (int32_t)b->deformables.count - 1) : NULL;
  if (!last) return -1;
  sb_fp_env saved = sb_fp_env_enter();
  sb_built_particle built = {.deformable = (int32_t)b->deformables.count - 1, .mass = rounded(p->mass), .radius = rounded(p->radius)};
  sb_round_to(built.q, p->q, 3);
  sb_round_to(built.qd, p->qd, 3);
  built.inv_mass = p->pinned ? 0.0f : sb_inverse_mass(built.mass);
  sb_fp_env_leave(saved);
  int32_t index = sb_pool_add(b, &b->particles, &built);
  if (index >= 0) last->particles++;
  return index;
}

void sb_builder_add_spring(sb_model_builder *b, const sb_build_spring *s)
{
  if (!b) return;
  sb_fp_env saved = sb_fp_env_enter(); /* cooked bytes depend on no setting of the caller's */
  const sb_built_spring built = {{s->particle[0], s->particle[1]}, rounded(s->rest_length), rounded(s->stiffness), rounded(s->damping)};
  sb_pool_add(b, &b->springs, &built);
  sb_fp_env_leave(saved);
}

void sb_builder_add_tri(sb_model_builder *b, const sb_build_tri *t)
{
  if (!b) return;
  sb_fp_env saved = sb_fp_env_enter();
  const double material[5] = {t->ke, t->ka, t->kd, t->drag, t->lift};
  sb_built_tri built = {.area = rounded(t->area)};
  memcpy(built.particle, t->particle, sizeof built.particle);
  sb_round_to(built.pose, t->pose, 4);
  sb_round_to(built.material, material, 5);
  sb_pool_add(b, &b->tris, &built);
  sb_fp_env_leave(saved);
}

void sb_builder_add_edge(sb_model_builder *b, const sb_build_edge *e)
{
  if (!b) return;
  sb_fp_env saved = sb_fp_env_enter();
  const double material[2] = {e->bending_ke, e->bending_kd};
  sb_built_edge built = {.rest_angle = rounded(e->rest_angle), .rest_length = rounded(e->rest_length)};
  memcpy(built.particle, e->particle, sizeof built.particle);
  sb_round_to(built.material, material, 2);
  sb_pool_add(b, &b->edges, &built);
  sb_fp_env_leave(saved);
}

void sb_builder_add_tet(sb_model_builder *b, const sb_build_tet *t)
{
  if (!b) return;
  sb_fp_env saved = sb_fp_env_enter();
  const double material[3] = {t->k_mu, t->k_lambda, t->k_damp};
  sb_built_tet built = {.volume = rounded(t->volume)};
  memcpy(built.particle, t->particle, sizeof built.particle);
  sb_round_to(built.pose, t->pose, 9);
  sb_round_to(built.material, material, 3);
  sb_pool_add(b, &b->tets, &built);
  sb_fp_env_leave(saved);
}

void sb_builder_add_attachment(sb_model_builder *b, const sb_build_attachment *a)
{
  if (!b) return;
  sb_fp_env saved = sb_fp_env_enter();
  const double material[2] = {a->stiffness, a->damping};
  sb_built_attachment built = {.particle = a->particle, .body = a->body};
  sb_round_to(built.point, a->point, 3);
  sb_round_to(built.material, material, 2);
  sb_pool_add(b, &b->attachments, &built);
  sb_fp_env_leave(saved);
}

int32_t sb_builder_particle_count(const sb_model_builder *b) { return b ? (int32_t)b->particles.count : 0; }

bool sb_builder_particle_q(const sb_model_builder *b, int32_t index, double q[3])
{
  const sb_built_particle *p = b ? sb_pool_at(&b->particles, index) : NULL;
  for (int k = 0; k < 3; k++) q[k] = p ? (double)p->q[k] : 0.0;
  return p != NULL;
}

/* Copies n words of element i into an array. */
static void put(sb_model_store *store, int array, uint32_t i, uint32_t n, const void *from)
{
  memcpy((uint32_t *)sb_store_array(store, array) + (size_t)i * n, from, 4 * (size_t)n);
}

#define PUT(array, i, n, from) put(store, SB_ARRAY_##array, i, n, from)

static void put_elements(const sb_model_builder *b, sb_model_store *store)
{
  for (uint32_t i = 0; i < b->springs.count; i++) {
    const sb_built_spring *s = sb_pool_at(&b->springs, (int32_t)i);
    PUT(spring_indices, i, 2, s->particle);
    PUT(spring_rest_length, i, 1, &s->rest_length);
    PUT(spring_stiffness, i, 1, &s->stiffness);
    PUT(spring_damping, i, 1, &s->damping);
  }
  for (uint32_t i = 0; i < b->tris.count; i++) {
    const sb_built_tri *t = sb_pool_at(&b->tris, (int32_t)i);
    PUT(tri_indices, i, 3, t->particle);
    PUT(tri_pose, i, 4, t->pose);
    PUT(tri_area, i, 1, &t->area);
    PUT(tri_ke, i, 1, &t->material[0]);
    PUT(tri_ka, i, 1, &t->material[1]);
    PUT(tri_kd, i, 1, &t->material[2]);
    PUT(tri_drag, i, 1, &t->material[3]);
    PUT(tri_lift, i, 1, &t->material[4]);
  }
  for (uint32_t i = 0; i < b->edges.count; i++) {
    const sb_built_edge *e = sb_pool_at(&b->edges, (int32_t)i);
    PUT(edge_indices, i, 4, e->particle);
    PUT(edge_rest_angle, i, 1, &e->rest_angle);
    PUT(edge_rest_length, i, 1, &e->rest_length);
    PUT(edge_bending_ke, i, 1, &e->material[0]);
    PUT(edge_bending_kd, i, 1, &e->material[1]);
  }
  for (uint32_t i = 0; i < b->tets.count; i++) {
    const sb_built_tet *t = sb_pool_at(&b->tets, (int32_t)i);
    PUT(tet_indices, i, 4, t->particle);
    PUT(tet_pose, i, 9, t->pose);
    PUT(tet_volume, i, 1, &t->volume);
    PUT(tet_k_mu, i, 1, &t->material[0]);
    PUT(tet_k_lambda, i, 1, &t->material[1]);
    PUT(tet_k_damp, i, 1, &t->material[2]);
  }
  for (uint32_t i = 0; i < b->attachments.count; i++) {
    const sb_built_attachment *a = sb_pool_at(&b->attachments, (int32_t)i);
    PUT(attachment_particle, i, 1, &a->particle);
    PUT(attachment_body, i, 1, &a->body);
    PUT(attachment_point, i, 3, a->point);
    PUT(attachment_stiffness, i, 1, &a->material[0]);
    PUT(attachment_damping, i, 1, &a->material[1]);
  }
}

void sb_builder_put_deformables(const sb_model_builder *b, sb_model_store *store)
{
  for (uint32_t i = 0; i < b->deformables.count; i++) {
    const sb_built_deformable *d = sb_pool_at(&b->deformables, (int32_t)i);
    PUT(deformable_first_particle, i, 1, &d->first_particle);
    PUT(deformable_particles, i, 1, &d->particles);
    PUT(deformable_flags, i, 1, &d->flags);
    PUT(deformable_friction, i, 1, &d->friction);
    PUT(deformable_restitution, i, 1, &d->restitution);
    PUT(deformable_margin, i, 1, &d->margin);
    PUT(deformable_contype, i, 1, &d->contype);
    PUT(deformable_conaffinity, i, 1, &d->conaffinity);
  }
  for (uint32_t i = 0; i < b->particles.count; i++) {
    const sb_built_particle *p = sb_pool_at(&b->particles, (int32_t)i);
    PUT(particle_deformable, i, 1, &p->deformable);
    PUT(particle_q, i, 3, p->q);
    PUT(particle_qd, i, 3, p->qd);
    PUT(particle_mass, i, 1, &p->mass);
    PUT(particle_inv_mass, i, 1, &p->inv_mass);
    PUT(particle_radius, i, 1, &p->radius);
  }
  put_elements(b, store);
}
