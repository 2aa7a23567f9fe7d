/* The pipeline's life: creation from a model, a step, what it answers. Knows collision_state.h. */
#include "collision_state.h"

#include <stdlib.h>
#include <string.h>

void *collision_alloc(sb_collision *c, size_t count, size_t size)
{
  if (c->block_count == c->block_capacity) {
    uint32_t capacity = c->block_capacity ? 2 * c->block_capacity : 64;
    void **blocks = realloc(c->blocks, capacity * sizeof *blocks);
    if (!blocks) return NULL;
    c->blocks = blocks;
    c->block_capacity = capacity;
  }
  void *p = calloc(count ? count : 1, size);
  if (p) c->blocks[c->block_count++] = p;
  return p;
}

void collision_run(sb_collision *c, uint32_t chunk_count, void (*fn)(void *ctx, uint32_t chunk))
{
  if (c->tasks) {
    if (chunk_count) c->tasks->run(c->tasks->self, chunk_count, fn, c);
    return;
  }
  for (uint32_t i = 0; i < chunk_count; i++) fn(c, i);
}

sb_collision_settings sb_collision_default_settings(void)
{
  return (sb_collision_settings){.struct_size = sizeof(sb_collision_settings), .broad_phase = SB_BROAD_SAP};
}

static sb_status check_settings(const sb_collision_settings *s)
{
  bool ok = s->struct_size == sizeof *s && s->broad_phase <= SB_BROAD_SAP && s->speculative_margin >= 0.0f &&
            s->speculative_margin <= FLT_MAX && (s->lanes == 0 || s->lanes == 1 || s->lanes == 4 || s->lanes == 8);
  return ok ? SB_OK : SB_E_ARGUMENT;
}

bool collision_has_surface(const sb_model *m, uint32_t world)
{
  for (uint32_t s = m->world_shape_start[world]; s < m->world_shape_start[world + 1]; s++)
    if (collision_is_surface(m, s)) return true;
  return false;
}

/* Triangles of heightfield h in a square around solid s; its size along any axis is at most the sum of what shape_size holds. */
static uint64_t triangles_around(const sb_model *m, uint32_t s, uint32_t h, float speculative_margin)
{
  const float *size = m->shape_size + 3 * (size_t)s, *extent = m->shape_size + 3 * (size_t)h;
  const uint32_t *grid = m->geometry_grid + 3 * (size_t)m->shape_geometry[h];
  float reach = 1.5f * ((size[0] + size[1]) + size[2]) + (m->shape_margin[s] + m->shape_margin[h]) + speculative_margin;
  uint64_t cells[2];
  for (int k = 0; k < 2; k++) {
    uint32_t all = grid[2 - k] - 1;
    float wide = reach / extent[k] * (float)all; /* 2 reach over the width of a cell */
    cells[k] = wide < (float)all ? (uint64_t)wide + 2 : all;
    if (cells[k] > all) cells[k] = all;
  }
  return 2 * cells[0] * cells[1];
}

void sb_collision_expect_triangles(const sb_model *m, float speculative_margin, uint64_t *all, uint64_t *most)
{
  *all = *most = 0;
  for (uint32_t h = 0; h < m->shape_count; h++) {
    uint32_t world = (uint32_t)m->shape_world[h];
    if (m->shape_type[h] != SB_SHAPE_HFIELD) continue;
    for (uint32_t s = m->world_shape_start[world]; s < m->world_shape_start[world + 1]; s++) {
      bool moves = m->shape_body[s] >= 0 && !(m->body_flags[m->shape_body[s]] & SB_BODY_STATIC);
      uint64_t around = moves && m->shape_type[s] != SB_SHAPE_PLANE ? triangles_around(m, s, h, speculative_margin) : 0;
      *all += around;
      *most = around > *most ? around : *most;
    }
  }
}

/* The documented rule of sb_collision_settings. */
static void choose_capacities(sb_collision *c)
{
  const sb_model *m = c->model;
  uint64_t pairs = 0;
  uint64_t contacts = 0;
  for (uint32_t w = 0; w < m->world_count; w++) {
    uint64_t n = m->world_shape_start[w + 1] - m->world_shape_start[w];
    uint64_t all = n ? n * (n - 1) / 2 : 0;
    uint64_t usual = 16 * n + 64;
    pairs += all < usual ? all : usual;
    uint64_t most = (collision_has_surface(m, w) ? COLLISION_SURFACE_POINTS : 4u) * all;
    contacts += most < usual ? most : usual;
  }
  if (!c->settings.pair_capacity) c->settings.pair_capacity = pairs < UINT32_MAX ? (uint32_t)pairs : UINT32_MAX;
  if (!c->settings.contact_capacity)
    c->settings.contact_capacity = contacts < UINT32_MAX ? (uint32_t)contacts : UINT32_MAX;
  uint64_t all, most;
  sb_collision_expect_triangles(m, c->settings.speculative_margin, &all, &most);
  uint32_t triangles = all < UINT32_MAX ? (uint32_t)all : UINT32_MAX;
  if (!triangles || !c->settings.triangle_capacity) c->settings.triangle_capacity = triangles;
  c->usage.triangle_capacity = c->settings.triangle_capacity;
  c->usage.pair_capacity = c->settings.pair_capacity;
  c->usage.contact_capacity = c->settings.contact_capacity;
}

static sb_status build(sb_collision *c)
{
  const sb_model *m = c->model;
  for (uint32_t w = 0; w < m->world_count; w++)
    if (m->world_shape_start[w + 1] - m->world_shape_start[w] >= 1u << 24) return SB_E_ARGUMENT;
  choose_capacities(c);
  sb_status status = collision_filter_build(c);
  if (status == SB_OK) status = collision_broad_build(c);
  if (status == SB_OK) status = collision_narrow_build(c);
  if (status == SB_OK) status = collision_swept_build(c);
  if (status == SB_OK) status = collision_particles_build(c);
  if (status == SB_OK) status = collision_near_build(c);
  return status;
}

sb_status sb_collision_create(const sb_model *model, const sb_collision_settings *settings, sb_collision **out)
{
  if (!out) return SB_E_ARGUMENT;
  *out = NULL;
  sb_collision_settings chosen = settings ? *settings : sb_collision_default_settings();
  if (!model || check_settings(&chosen) != SB_OK) return SB_E_ARGUMENT;
  sb_collision *c = calloc(1, sizeof *c);
  if (!c) return SB_E_MEMORY;
  c->model = model;
  c->settings = chosen;
  sb_status status = build(c);
  if (status == SB_OK)
    *out = c;
  else
    sb_collision_destroy(c);
  return status;
}

void sb_collision_destroy(sb_collision *c)
{
  if (!c) return;
  for (uint32_t i = 0; i < c->block_count; i++) free(c->blocks[i]);
  free(c->blocks);
  free(c);
}

sb_status sb_collision_step(sb_collision *c, const float *body_q, const sb_collision_tasks *tasks)
{
  return sb_collision_step_moving(c, body_q, NULL, 0.0f, tasks);
}

sb_status sb_collision_step_moving(sb_collision *c, const float *body_q, const float *body_qd, float dt,
                                   const sb_collision_tasks *tasks)
{
  c->body_qd = body_qd;
  c->dt = dt;
  c->body_q = body_q;
  c->tasks = tasks;
  c->contacts.count = 0;
  c->pair_count = 0;
  c->usage.pair_count = 0;
  c->usage.contact_count = 0;
  c->usage.deepest = 0.0f;
  sb_status status = collision_broad_step(c);
  if (status == SB_OK) status = collision_narrow_step(c);
  c->body_q = NULL;
  c->body_qd = NULL;
  c->tasks = NULL;
  if (status != SB_OK && c->contacts.count == 0) memset(c->world_start, 0, ((size_t)c->model->world_count + 1) * sizeof *c->world_start);
  return status;
}

sb_contact_room sb_collision_room(sb_collision *c)
{
  return (sb_contact_room){
#define SB_X_CONTACT(type, name, comps, doc) .name = c->contact_##name,
      SB_CONTACT_ARRAYS(SB_X_CONTACT)
#undef SB_X_CONTACT
          .world_start = c->world_start};
}

sb_status sb_collision_take(sb_collision *c, uint32_t pair_count, uint32_t contact_count, uint32_t kept, float deepest)
{
  c->pair_count = 0; /* the pairs themselves are not here */
  c->usage.pair_count = pair_count;
  c->usage.contact_count = contact_count;
  if (pair_count > c->usage.pair_peak) c->usage.pair_peak = pair_count;
  if (contact_count > c->usage.contact_peak) c->usage.contact_peak = contact_count;
  c->usage.deepest = deepest;
  c->contacts.count = kept;
  return pair_count > c->usage.pair_capacity || contact_count > c->usage.contact_capacity ? SB_E_CAPACITY : SB_OK;
}

sb_status sb_collision_take_triangles(sb_collision *c, uint32_t triangle_count)
{
  c->usage.triangle_count = triangle_count;
  if (triangle_count > c->usage.triangle_peak) c->usage.triangle_peak = triangle_count;
  return triangle_count > c->usage.triangle_capacity ? SB_E_CAPACITY : SB_OK;
}

sb_particle_contact_room sb_collision_particle_room(sb_collision *c)
{
  return (sb_particle_contact_room){
#define SB_X_CONTACT(type, name, comps, doc) .name = c->particles.of_##name,
      SB_PARTICLE_CONTACT_ARRAYS(SB_X_CONTACT)
#undef SB_X_CONTACT
  };
}

sb_status sb_collision_take_particles(sb_collision *c, uint32_t contact_count, uint32_t kept)
{
  c->usage.particle_contact_count = contact_count;
  if (contact_count > c->usage.particle_contact_peak) c->usage.particle_contact_peak = contact_count;
  c->particles.contacts.count = kept;
  return contact_count > c->usage.particle_contact_capacity ? SB_E_CAPACITY : SB_OK;
}

void sb_collision_index_particles(sb_collision *c)
{
  collision_particles *p = &c->particles;
  uint32_t at = 0;
  if (!p->contacts.count && !p->start[c->model->particle_count]) return; /* as it was */
  for (uint32_t i = 0; i <= c->model->particle_count; i++) {
    p->start[i] = at;
    while (at < p->contacts.count && (uint32_t)p->of_particle[at] == i) at++;
  }
}

bool sb_collision_has_near_pairs(const sb_collision *c) { return c->near.group_count > 0; }

sb_near_plan sb_collision_near_plan(const sb_collision *c)
{
  const collision_near *n = &c->near;
  return (sb_near_plan){.pair_capacity = n->pairs.capacity, .group_count = n->group_count, .node_count = n->node_count, .edge_count = n->edge_count, .bits_a = n->bits_a,
                        .bits_b = n->bits_b, .groups = n->groups, .world_group_start = n->world_group_start, .world_edge_start = n->world_edge_start,
                        .world_tri_start = n->world_tri_start, .node_group = n->node_group, .is_loose = n->is_loose, .tree = &n->tree, .touch_start = n->touch_start,
                        .touch = n->touch, .share = n->share};
}

sb_near_pair_room sb_collision_near_room(sb_collision *c)
{
  return (sb_near_pair_room){.world_start = c->near.world_start,
#define SB_X_NEAR(type, name, comps, doc) .name = c->near.of_##name,
                             SB_NEAR_PAIR_ARRAYS(SB_X_NEAR)
#undef SB_X_NEAR
  };
}

sb_status sb_collision_take_near(sb_collision *c, uint32_t pair_count, uint32_t kept)
{
  c->usage.near_pair_count = pair_count;
  if (pair_count > c->usage.near_pair_peak) c->usage.near_pair_peak = pair_count;
  c->near.pairs.count = kept;
  return pair_count > c->usage.near_pair_capacity ? SB_E_CAPACITY : SB_OK;
}

bool sb_collision_meets_particles(const sb_collision *c) { return c->particles.meets || c->near.group_count > 0; }

sb_status sb_collision_step_particles(sb_collision *c, const float *particle_q, const float *particle_qd,
                                      const sb_collision_tasks *tasks)
{
  c->particles.q = particle_q;
  c->particles.qd = particle_qd;
  c->tasks = tasks;
  c->usage.particle_contact_count = c->usage.near_pair_count = 0;
  sb_status status = collision_particles_step(c), near = SB_OK;
  if (status == SB_OK || c->settings.truncate) near = collision_near_step(c);
  c->particles.q = c->particles.qd = NULL;
  c->tasks = NULL;
  return status ? status : near;
}

const sb_particle_contacts *sb_collision_particle_contacts(const sb_collision *c) { return &c->particles.contacts; }
const sb_near_pairs *sb_collision_near_pairs(const sb_collision *c) { return &c->near.pairs; }

const sb_contacts *sb_collision_contacts(const sb_collision *c) { return &c->contacts; }
uint32_t sb_collision_pair_count(const sb_collision *c) { return c->pair_count; }
void sb_collision_pair(const sb_collision *c, uint32_t index, uint32_t shapes[2])
{
  shapes[0] = c->pairs[index].a;
  shapes[1] = c->pairs[index].b;
}
sb_collision_usage sb_collision_get_usage(const sb_collision *c) { return c->usage; }
uint32_t sb_collision_lanes(const sb_collision *c) { return c->settings.lanes; }
