/* Contacts of particles with shapes: blocks of particles against bounding boxes, then particle by particle, counted first and placed by
 * (particle, shape). Knows collision_state.h.
 *
 * A contact is made when the gap is below the deformable's margin, the shape's and the speculative one, plus the way that particle and
 * surface may come together within the step. So the contacts are a function of positions and velocities alone; blocks and chunks do
 * not show. */
#include "collision_state.h"

#include "particle_shape.kernel.h"

#include <string.h>

/* --- what the model fixes --- */

/* Blocks hold particles of one deformable, chunks blocks of one world. */
static sb_status build_blocks(sb_collision *c, collision_particles *p)
{
  const sb_model *m = c->model;
  for (uint32_t d = 0; d < m->deformable_count; d++) p->block_count += (m->deformable_particles[d] + PARTICLE_BLOCK - 1) / PARTICLE_BLOCK;
  p->blocks = collision_alloc(c, p->block_count, sizeof *p->blocks);
  p->chunk_start = collision_alloc(c, (size_t)p->block_count + 1, sizeof *p->chunk_start);
  if (!p->blocks || !p->chunk_start) return SB_E_MEMORY;
  uint32_t b = 0;
  for (uint32_t d = 0; d < m->deformable_count; d++) {
    uint32_t first = (uint32_t)m->deformable_first_particle[d], end = first + m->deformable_particles[d];
    for (; first < end; first += PARTICLE_BLOCK, b++) {
      p->blocks[b] = (particle_block){.begin = first, .end = end - first < PARTICLE_BLOCK ? end : first + PARTICLE_BLOCK, .deformable = d};
      bool full = b - p->chunk_start[p->chunk_count] == PARTICLE_CHUNK_BLOCKS;
      bool other_world = b && m->deformable_world[p->blocks[b - 1].deformable] != m->deformable_world[d];
      if (full || other_world) p->chunk_start[++p->chunk_count] = b;
    }
  }
  if (p->block_count) p->chunk_start[++p->chunk_count] = p->block_count;
  return SB_OK;
}

/* Bodies that hold particles, as sorted (particle, body) keys. */
static sb_status build_held(sb_collision *c, collision_particles *p)
{
  const sb_model *m = c->model;
  p->held = collision_alloc(c, m->attachment_count, sizeof *p->held);
  if (!p->held) return SB_E_MEMORY;
  for (uint32_t a = 0; a < m->attachment_count; a++) {
    if (m->attachment_body[a] < 0) continue;
    uint64_t key = (uint64_t)(uint32_t)m->attachment_particle[a] << 32 | (uint32_t)m->attachment_body[a];
    uint32_t at = p->held_count++;
    for (; at > 0 && p->held[at - 1] > key; at--) p->held[at] = p->held[at - 1];
    p->held[at] = key;
  }
  return SB_OK;
}

static bool is_held(const collision_particles *p, uint32_t particle, int32_t body)
{
  uint64_t key = (uint64_t)particle << 32 | (uint32_t)body;
  uint32_t low = 0, high = p->held_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (p->held[middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low < p->held_count && p->held[low] == key;
}

/* Contacts that a particle may usually have. */
#define USUAL_CONTACTS 2u

static void choose_capacity(sb_collision *c)
{
  const sb_model *m = c->model;
  uint64_t wanted = 0;
  for (uint32_t w = 0; m->particle_count && w < m->world_count; w++) {
    uint64_t shapes = m->world_shape_start[w + 1] - m->world_shape_start[w];
    uint64_t most = shapes * (collision_has_surface(m, w) ? SB_PARTICLE_MAX_FACES : 1u), particles = m->world_particle_start[w + 1] - m->world_particle_start[w];
    wanted += particles * (most < USUAL_CONTACTS ? most : USUAL_CONTACTS) + (shapes && particles ? 64 : 0);
  }
  if (!m->particle_count) c->settings.particle_contact_capacity = 0;
  else if (!c->settings.particle_contact_capacity) c->settings.particle_contact_capacity = wanted < UINT32_MAX ? (uint32_t)wanted : UINT32_MAX;
  c->usage.particle_contact_capacity = c->settings.particle_contact_capacity;
}

static bool filter_allows(const sb_model *m, uint32_t d, uint32_t shape)
{
  return (m->deformable_contype[d] & m->shape_conaffinity[shape]) || (m->shape_contype[shape] & m->deformable_conaffinity[d]);
}

static bool find_meeting(const sb_model *m)
{
  for (uint32_t d = 0; d < m->deformable_count; d++) {
    uint32_t world = (uint32_t)m->deformable_world[d];
    for (uint32_t s = m->world_shape_start[world]; s < m->world_shape_start[world + 1]; s++)
      if (filter_allows(m, d, s)) return true;
  }
  return false;
}

sb_status collision_particles_build(sb_collision *c)
{
  const sb_model *m = c->model;
  collision_particles *p = &c->particles;
  p->lanes = c->settings.lanes == 8 ? collision_particles_lanes8 : c->settings.lanes == 4 ? collision_particles_lanes4 : collision_particles_lanes1;
  choose_capacity(c);
  p->meets = find_meeting(m);
  sb_status status = build_blocks(c, p);
  if (status == SB_OK) status = build_held(c, p);
  if (status != SB_OK) return status;
  p->start = collision_alloc(c, (size_t)m->particle_count + 1, sizeof *p->start);
  p->chunk_deepest = collision_alloc(c, p->chunk_count, sizeof *p->chunk_deepest);
  if (!p->start || !p->chunk_deepest) return SB_E_MEMORY;
  p->contacts = (sb_particle_contacts){.struct_size = sizeof p->contacts, .capacity = c->settings.particle_contact_capacity, .particle_start = p->start};
#define SB_X_CONTACT(type, name, comps, doc)                                                                           \
  p->of_##name = collision_alloc(c, c->settings.particle_contact_capacity, comps * sizeof(type));                      \
  if (!p->of_##name) return SB_E_MEMORY;                                                                               \
  p->contacts.name = p->of_##name;
  SB_PARTICLE_CONTACT_ARRAYS(SB_X_CONTACT)
#undef SB_X_CONTACT
  return SB_OK;
}

/* --- blocks --- */

static float f_max_of(float a, float b) { return a > b ? a : b; }

/* Box around a block's particles and all that they may reach on their own. */
static collision_box block_box(const sb_collision *c, const particle_block *b)
{
  const sb_model *m = c->model;
  collision_box box = {{FLT_MAX, FLT_MAX, FLT_MAX}, {-FLT_MAX, -FLT_MAX, -FLT_MAX}};
  float margin = m->deformable_margin[b->deformable] + c->settings.speculative_margin;
  for (uint32_t i = b->begin; i < b->end; i++) {
    const float *q = c->particles.q + 3 * (size_t)i, *v = c->particles.qd + 3 * (size_t)i;
    float room = particle_room(m->particle_radius[i] + margin, v3(v[0], v[1], v[2]), c->dt);
    for (int k = 0; k < 3; k++) {
      if (q[k] - room < box.lo[k]) box.lo[k] = q[k] - room;
      if (q[k] + room > box.hi[k]) box.hi[k] = q[k] + room;
    }
  }
  return box;
}

/* Whether the box comes near the shape. The shape's own box holds its margin or its way, whichever is larger. */
static bool box_meets(const sb_collision *c, const collision_box *box, uint32_t shape)
{
  float pad = c->model->shape_margin[shape];
  if (c->model->shape_type[shape] == SB_SHAPE_PLANE) {
    const float *x = c->shape_q + 7 * (size_t)shape;
    V3 n = narrow_axis_z(q4(x[3], x[4], x[5], x[6]));
    const float nearest[3] = {n.x > 0.0f ? box->lo[0] : box->hi[0], n.y > 0.0f ? box->lo[1] : box->hi[1], n.z > 0.0f ? box->lo[2] : box->hi[2]};
    V3 d = v3(nearest[0] - x[0], nearest[1] - x[1], nearest[2] - x[2]);
    const float *step = c->shape_step + 3 * (size_t)shape;
    float way = v3_len(v3(step[0], step[1], step[2])) + c->shape_swing[shape];
    return !(v3_dot(d, n) > (pad + way) + 1.0e-5f * ((f_abs(d.x) + f_abs(d.y)) + f_abs(d.z)));
  }
  const collision_box *s = &c->boxes[shape];
  for (int k = 0; k < 3; k++)
    if (box->lo[k] - pad > s->hi[k] || s->lo[k] - pad > box->hi[k]) return false;
  return true;
}

/* --- one block against one shape --- */

static void load_block(const sb_collision *c, const particle_block *b, particle_batch *batch)
{
  const sb_model *m = c->model;
  float margin = m->deformable_margin[b->deformable] + c->settings.speculative_margin;
  uint32_t count = b->end - b->begin;
  for (uint32_t i = 0; i < PARTICLE_BLOCK; i++) {
    size_t at = b->begin + (i < count ? i : count - 1);
    for (int k = 0; k < 3; k++) {
      batch->x[k][i] = c->particles.q[3 * at + k];
      batch->move[k][i] = c->particles.qd[3 * at + k] * c->dt;
    }
    batch->allowed[i] = m->particle_radius[at] + margin;
  }
}

static void load_shape(const sb_collision *c, uint32_t shape, particle_batch *batch)
{
  batch->type = c->model->shape_type[shape];
  memcpy(batch->pose, c->shape_q + 7 * (size_t)shape, sizeof batch->pose);
  memcpy(batch->size, c->model->shape_size + 3 * (size_t)shape, sizeof batch->size);
  memcpy(batch->step, c->shape_step + 3 * (size_t)shape, sizeof batch->step);
  batch->extra = c->model->shape_margin[shape] + c->shape_swing[shape];
}

/* Hits of one particle of the batch; how many. */
static uint32_t hits_of(const sb_collision *c, uint32_t shape, const particle_batch *b, uint32_t i, float radius, particle_found found[SB_PARTICLE_MAX_FACES])
{
  V3 x = v3(b->local[0][i], b->local[1][i], b->local[2][i]);
  if (b->type == SB_SHAPE_HULL) return collision_particle_hull(c, shape, x, b->within[i], found);
  if (b->type >= SB_SHAPE_MESH) return collision_particle_surface(c, shape, x, b->within[i], radius, found);
  if (!(b->within[i] > 0.0f)) return 0;
  found[0] = (particle_found){v3(b->normal[0][i], b->normal[1][i], b->normal[2][i]), v3(b->point[0][i], b->point[1][i], b->point[2][i]), b->distance[i]};
  return 1;
}

static void store_v3(float *to, V3 v) { to[0] = v.x, to[1] = v.y, to[2] = v.z; }

static void put_contact(collision_particles *p, const sb_collision *c, size_t at, uint32_t particle, uint32_t shape, const particle_found *f)
{
  const sb_model *m = c->model;
  uint32_t d = (uint32_t)m->particle_deformable[particle];
  const float *x = (c->shape_fixed[shape] ? c->shape_q : m->shape_X) + 7 * (size_t)shape;
  X7 frame = x7(v3(x[0], x[1], x[2]), q4(x[3], x[4], x[5], x[6]));
  p->of_particle[at] = (int32_t)particle;
  p->of_shape[at] = (int32_t)shape;
  p->of_body[at] = c->shape_fixed[shape] ? -1 : m->shape_body[shape];
  store_v3(p->of_point + 3 * at, x7_point(frame, f->point));
  store_v3(p->of_normal + 3 * at, q4_rotate(frame.q, f->n));
  p->of_gap[at] = f->distance - m->particle_radius[particle];
  p->of_friction[at] = m->shape_condim[shape] < 3 ? 0.0f : f_max_of(m->deformable_friction[d], m->shape_friction[3 * (size_t)shape]);
  p->of_restitution[at] = f_max_of(m->deformable_restitution[d], m->shape_restitution[shape]);
}

/* What one chunk works with: a place for each of its particles, counted up as shapes go by in their order. */
typedef struct chunk_work {
  sb_collision *c;
  uint32_t first; /* particle of the first block */
  bool place;     /* contacts are written; else they are counted */
  float deepest;
  uint32_t count[PARTICLE_BLOCK * PARTICLE_CHUNK_BLOCKS];
} chunk_work;

static void run_block(chunk_work *w, const particle_block *b, particle_batch *batch, uint32_t shape)
{
  sb_collision *c = w->c;
  collision_particles *p = &c->particles;
  const sb_model *m = c->model;
  uint32_t count = b->end - b->begin;
  int32_t body = p->held_count ? m->shape_body[shape] : -1;
  load_shape(c, shape, batch);
  p->lanes(batch, count);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t particle = b->begin + i;
    particle_found found[SB_PARTICLE_MAX_FACES];
    uint32_t hits = hits_of(c, shape, batch, i, m->particle_radius[particle], found);
    if (!hits || (body >= 0 && is_held(p, particle, body))) continue;
    uint32_t *used = &w->count[particle - w->first];
    for (uint32_t k = 0; w->place && k < hits; k++) {
      size_t at = (size_t)p->start[particle] + *used + k;
      if (at < p->contacts.count) put_contact(p, c, at, particle, shape, &found[k]);
      w->deepest = f_max_of(w->deepest, m->particle_radius[particle] - found[k].distance);
    }
    *used += hits;
  }
}

static void run_chunk(chunk_work *w, uint32_t chunk)
{
  sb_collision *c = w->c;
  const sb_model *m = c->model;
  const collision_particles *p = &c->particles;
  uint32_t first = p->chunk_start[chunk], end = p->chunk_start[chunk + 1];
  uint32_t world = (uint32_t)m->deformable_world[p->blocks[first].deformable];
  for (uint32_t b = first; b < end; b++) {
    const particle_block *block = &p->blocks[b];
    particle_batch batch;
    bool loaded = false;
    for (uint32_t s = m->world_shape_start[world]; s < m->world_shape_start[world + 1]; s++) {
      if (!filter_allows(m, block->deformable, s) || !box_meets(c, &block->box, s)) continue;
      if (!loaded) load_block(c, block, &batch);
      loaded = true;
      run_block(w, block, &batch, s);
    }
  }
}

static void start_chunk(chunk_work *w, sb_collision *c, uint32_t chunk, bool place)
{
  w->c = c;
  w->place = place;
  w->deepest = 0.0f;
  w->first = c->particles.blocks[c->particles.chunk_start[chunk]].begin;
  memset(w->count, 0, sizeof w->count);
}

static void count_chunk(void *ctx, uint32_t chunk)
{
  sb_collision *c = ctx;
  collision_particles *p = &c->particles;
  uint32_t first = p->chunk_start[chunk], end = p->chunk_start[chunk + 1];
  chunk_work w;
  start_chunk(&w, c, chunk, false);
  for (uint32_t b = first; b < end; b++) p->blocks[b].box = block_box(c, &p->blocks[b]);
  run_chunk(&w, chunk);
  for (uint32_t i = w.first; i < p->blocks[end - 1].end; i++) p->start[i + 1] = w.count[i - w.first];
}

static void place_chunk(void *ctx, uint32_t chunk)
{
  sb_collision *c = ctx;
  collision_particles *p = &c->particles;
  uint32_t first = p->blocks[p->chunk_start[chunk]].begin, end = p->blocks[p->chunk_start[chunk + 1] - 1].end;
  p->chunk_deepest[chunk] = 0.0f;
  if (p->start[first] == p->start[end]) return;
  chunk_work w;
  start_chunk(&w, c, chunk, true);
  run_chunk(&w, chunk);
  p->chunk_deepest[chunk] = w.deepest;
}

sb_status collision_particles_step(sb_collision *c)
{
  collision_particles *p = &c->particles;
  uint64_t total = 0;
  p->contacts.count = 0;
  p->start[0] = 0;
  collision_run(c, p->chunk_count, count_chunk);
  for (uint32_t i = 0; i < c->model->particle_count; i++) {
    total += p->start[i + 1];
    p->start[i + 1] = total < UINT32_MAX ? (uint32_t)total : UINT32_MAX;
  }
  c->usage.particle_contact_count = total < UINT32_MAX ? (uint32_t)total : UINT32_MAX;
  if (c->usage.particle_contact_count > c->usage.particle_contact_peak) c->usage.particle_contact_peak = c->usage.particle_contact_count;
  bool overflow = total > c->settings.particle_contact_capacity;
  if (overflow && !c->settings.truncate) {
    memset(p->start, 0, ((size_t)c->model->particle_count + 1) * sizeof *p->start);
    return SB_E_CAPACITY;
  }
  p->contacts.count = overflow ? c->settings.particle_contact_capacity : (uint32_t)total;
  collision_run(c, p->chunk_count, place_chunk);
  for (uint32_t i = 0; overflow && i <= c->model->particle_count; i++)
    if (p->start[i] > p->contacts.count) p->start[i] = p->contacts.count;
  for (uint32_t k = 0; k < p->chunk_count; k++)
    if (p->chunk_deepest[k] > c->usage.deepest) c->usage.deepest = p->chunk_deepest[k];
  return overflow ? SB_E_CAPACITY : SB_OK;
}
