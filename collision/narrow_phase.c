/* Narrow phase: pairs by type through the lane kernels, then the manifolds into contacts in canonical order.
 * Knows collision_state.h. */
#include "collision_state.h"

#include "shape_bounds.kernel.h"

#include <string.h>

_Static_assert(SB_SHAPE_TYPE_COUNT == 9, "say which kernel takes the new shape");
static const uint8_t lane_type[SB_SHAPE_BOX + 1][SB_SHAPE_BOX + 1] = {
    {NARROW_TYPES, NARROW_PLANE_SPHERE, NARROW_PLANE_CAPSULE, NARROW_PLANE_BOX},
    {NARROW_PLANE_SPHERE, NARROW_SPHERE_SPHERE, NARROW_SPHERE_CAPSULE, NARROW_SPHERE_BOX},
    {NARROW_PLANE_CAPSULE, NARROW_SPHERE_CAPSULE, NARROW_CAPSULE_CAPSULE, NARROW_CAPSULE_BOX},
    {NARROW_PLANE_BOX, NARROW_SPHERE_BOX, NARROW_CAPSULE_BOX, NARROW_BOX_BOX},
};

static uint8_t type_of(uint32_t a, uint32_t b)
{
  if (a <= SB_SHAPE_BOX && b <= SB_SHAPE_BOX) return lane_type[a][b];
  return a < SB_SHAPE_MESH && b < SB_SHAPE_MESH ? NARROW_CONVEX : NARROW_SURFACE;
}

/* Pairs of a chunk. */
static uint32_t batch_of(uint32_t type)
{
  return type < NARROW_LANE_TYPES ? NARROW_BATCH : type == NARROW_CONVEX ? COLLISION_CONVEX_BATCH : COLLISION_SURFACE_BATCH;
}

static collision_narrow_fn choose_lanes(uint32_t *lanes)
{
  if (*lanes == 0) {
#if defined(__x86_64__)
    *lanes = __builtin_cpu_supports("avx2") ? 8 : 4;
#elif defined(__aarch64__)
    *lanes = 4;
#else
    *lanes = 1;
#endif
  }
  return *lanes == 8 ? collision_narrow_lanes8 : *lanes == 4 ? collision_narrow_lanes4 : collision_narrow_lanes1;
}

static collision_farthest_fn choose_farthest(uint32_t lanes)
{
  return lanes == 8 ? collision_farthest_lanes8 : lanes == 4 ? collision_farthest_lanes4 : collision_farthest_lanes1;
}

/* Vectors by component, with room for whole bundles of lanes at the end. */
static sb_status split_components(sb_collision *c, const float *v, uint32_t count, float *out[3])
{
  for (uint32_t k = 0; k < 3; k++) {
    out[k] = collision_alloc(c, (size_t)count + HULL_LANES_ROOM, sizeof *out[k]);
    if (!out[k]) return SB_E_MEMORY;
    for (uint32_t i = 0; i < count; i++) out[k][i] = v[3 * (size_t)i + k];
  }
  return SB_OK;
}

static sb_status build_hulls(sb_collision *c)
{
  const sb_model *m = c->model;
  bool has_hull = false;
  for (uint32_t i = 0; i < m->shape_count; i++) has_hull = has_hull || m->shape_type[i] == SB_SHAPE_HULL;
  if (!has_hull) return SB_OK;
  sb_status status = split_components(c, m->geometry_vertex, m->geometry_vertex_count, c->hull_vertex);
  return status == SB_OK ? split_components(c, m->face_normal, m->geometry_face_count, c->hull_normal) : status;
}

sb_status collision_narrow_build(sb_collision *c)
{
  const sb_model *m = c->model;
  c->narrow = choose_lanes(&c->settings.lanes);
  c->farthest = choose_farthest(c->settings.lanes);
  size_t pairs = c->settings.pair_capacity;
  c->work = collision_alloc(c, pairs, sizeof *c->work);
  c->pair_type = collision_alloc(c, pairs, sizeof *c->pair_type);
  c->manifolds = collision_alloc(c, pairs, sizeof *c->manifolds);
  c->chunk_deepest = collision_alloc(c, pairs / COLLISION_PAIRS_PER_CHUNK + 1, sizeof *c->chunk_deepest);
  c->pair_contacts = collision_alloc(c, pairs, sizeof *c->pair_contacts);
  c->contact_first = collision_alloc(c, pairs, sizeof *c->contact_first);
  c->arrival = collision_alloc(c, pairs + NARROW_TYPES + 1, sizeof *c->arrival);
  c->world_start = collision_alloc(c, (size_t)m->world_count + 1, sizeof *c->world_start);
  bool has_surface = false;
  for (uint32_t i = 0; i < m->shape_count; i++) has_surface = has_surface || collision_is_surface(m, i);
  c->surfaces = has_surface ? collision_alloc(c, pairs, sizeof *c->surfaces) : NULL;
  c->surface_of = has_surface ? collision_alloc(c, pairs, sizeof *c->surface_of) : NULL;
  if (has_surface && (!c->surfaces || !c->surface_of)) return SB_E_MEMORY;
  if (build_hulls(c) != SB_OK) return SB_E_MEMORY;
  if (!c->work || !c->pair_type || !c->manifolds || !c->pair_contacts || !c->chunk_deepest || !c->contact_first || !c->arrival ||
      !c->world_start)
    return SB_E_MEMORY;
#define SB_X_CONTACT(type, name, comps, doc)                                                                           \
  c->contact_##name = collision_alloc(c, c->settings.contact_capacity, comps * sizeof(type));                          \
  if (!c->contact_##name) return SB_E_MEMORY;                                                                          \
  c->contacts.name = c->contact_##name;
  SB_CONTACT_ARRAYS(SB_X_CONTACT)
#undef SB_X_CONTACT
  c->contacts.struct_size = sizeof c->contacts;
  c->contacts.capacity = c->settings.contact_capacity;
  c->contacts.world_start = c->world_start;
  return SB_OK;
}

static void type_chunk(void *ctx, uint32_t chunk)
{
  sb_collision *c = ctx;
  const sb_model *m = c->model;
  uint32_t begin = chunk * COLLISION_PAIRS_PER_CHUNK;
  uint32_t end = c->pair_count - begin < COLLISION_PAIRS_PER_CHUNK ? c->pair_count : begin + COLLISION_PAIRS_PER_CHUNK;
  for (uint32_t i = begin; i < end; i++) c->pair_type[i] = type_of(m->shape_type[c->pairs[i].a], m->shape_type[c->pairs[i].b]);
}

/* Groups the pairs by type, keeping their order, so that a bundle of lanes runs one kernel. */
static uint32_t group_by_type(sb_collision *c)
{
  memset(c->type_start, 0, sizeof c->type_start);
  for (uint32_t i = 0; i < c->pair_count; i++) c->type_start[c->pair_type[i] + 1]++;
  c->type_chunk_start[0] = 0;
  for (uint32_t t = 0; t < NARROW_TYPES; t++) {
    c->type_chunk_start[t + 1] = c->type_chunk_start[t] + (c->type_start[t + 1] + batch_of(t) - 1) / batch_of(t);
    c->type_start[t + 1] += c->type_start[t];
  }
  uint32_t next[NARROW_TYPES];
  memcpy(next, c->type_start, sizeof next);
  for (uint32_t i = 0; i < c->pair_count; i++) c->work[next[c->pair_type[i]]++] = i;
  return c->type_chunk_start[NARROW_TYPES];
}

static float pair_reach(const sb_collision *c, const collision_pair *p)
{
  const float *a = c->shape_step + 3 * (size_t)p->a, *b = c->shape_step + 3 * (size_t)p->b;
  return bounds_pair_reach(v3(a[0], a[1], a[2]), c->shape_swing[p->a], v3(b[0], b[1], b[2]), c->shape_swing[p->b]);
}

/* Gap below which the pair makes a contact: its margins, or what it may close within the step if that is more. */
static float pair_limit(const sb_collision *c, const collision_pair *p)
{
  const sb_model *m = c->model;
  float margin = p->list != COLLISION_NONE ? m->pair_margin[p->list] : m->shape_margin[p->a] + m->shape_margin[p->b];
  float usual = margin + c->settings.speculative_margin;
  float reach = c->body_qd ? pair_reach(c, p) : 0.0f;
  return reach > usual ? reach : usual;
}

static bool pair_swapped(const sb_model *m, const collision_pair *p)
{
  return m->shape_type[p->a] > m->shape_type[p->b];
}

/* Pose in which solvers follow a shape's points: in its body, or in the world for what never moves. */
static const float *shape_frame(const sb_collision *c, uint32_t s)
{
  return (c->shape_fixed[s] ? c->shape_q : c->model->shape_X) + 7 * (size_t)s;
}

static void gather_pair(const sb_collision *c, const collision_pair *p, narrow_batch *b, uint32_t lane)
{
  const sb_model *m = c->model;
  bool swap = pair_swapped(m, p);
  uint32_t sa = swap ? p->b : p->a;
  uint32_t sb = swap ? p->a : p->b;
  const float *frame_a = shape_frame(c, sa);
  const float *frame_b = shape_frame(c, sb);
  for (int k = 0; k < 7; k++) {
    b->pose_a[k][lane] = c->shape_q[7 * (size_t)sa + k];
    b->pose_b[k][lane] = c->shape_q[7 * (size_t)sb + k];
    b->frame_a[k][lane] = frame_a[k];
    b->frame_b[k][lane] = frame_b[k];
  }
  for (int k = 0; k < 3; k++) {
    b->size_a[k][lane] = m->shape_size[3 * (size_t)sa + k];
    b->size_b[k][lane] = m->shape_size[3 * (size_t)sb + k];
  }
  b->limit[lane] = pair_limit(c, p);
}

/* Keeps the points with a gap below the limit, in the order of their features, with shape a's side first. */
static void scatter_pair(const sb_collision *c, uint32_t pair, const narrow_batch *b, uint32_t lane)
{
  const collision_pair *p = &c->pairs[pair];
  bool swap = pair_swapped(c->model, p);
  collision_manifold *m = &c->manifolds[pair];
  uint32_t order[4];
  uint32_t count = 0;
  for (uint32_t i = 0; i < 4; i++) {
    if (!(b->gap[i][lane] < b->limit[lane])) continue;
    uint32_t at = count++;
    for (; at > 0 && b->feature[order[at - 1]][lane] > b->feature[i][lane]; at--) order[at] = order[at - 1];
    order[at] = i;
  }
  m->count = count;
  for (int k = 0; k < 3; k++) m->normal[k] = swap ? -b->normal[k][lane] : b->normal[k][lane];
  for (uint32_t i = 0; i < count; i++) {
    uint32_t from = order[i];
    for (uint32_t k = 0; k < 3; k++) {
      float on_a = b->point_a[3 * from + k][lane];
      float on_b = b->point_b[3 * from + k][lane];
      m->point_a[i][k] = swap ? on_b : on_a;
      m->point_b[i][k] = swap ? on_a : on_b;
    }
    m->gap[i] = b->gap[from][lane];
    m->feature[i] = (uint16_t)b->feature[from][lane];
  }
}

static void narrow_chunk_range(const sb_collision *c, uint32_t chunk, uint32_t *type, uint32_t *first, uint32_t *count)
{
  uint32_t t = 0;
  while (chunk >= c->type_chunk_start[t + 1]) t++;
  *type = t;
  *first = c->type_start[t] + (chunk - c->type_chunk_start[t]) * batch_of(t);
  *count = c->type_start[t + 1] - *first < batch_of(t) ? c->type_start[t + 1] - *first : batch_of(t);
}

static void run_lanes(sb_collision *c, uint32_t type, uint32_t first, uint32_t count)
{
  narrow_batch b;
  for (uint32_t i = 0; i < count; i++) gather_pair(c, &c->pairs[c->work[first + i]], &b, i);
  for (uint32_t i = count; i % 8; i++) gather_pair(c, &c->pairs[c->work[first + count - 1]], &b, i);
  c->narrow(&b, (narrow_type)type, count);
  for (uint32_t i = 0; i < count; i++) scatter_pair(c, c->work[first + i], &b, i);
}

static void narrow_chunk(void *ctx, uint32_t chunk)
{
  sb_collision *c = ctx;
  uint32_t type, first, count;
  narrow_chunk_range(c, chunk, &type, &first, &count);
  if (type < NARROW_LANE_TYPES) run_lanes(c, type, first, count);
  for (uint32_t i = 0; type == NARROW_CONVEX && i < count; i++) {
    uint32_t pair = c->work[first + i];
    collision_convex_pair(c, &c->pairs[pair], pair_limit(c, &c->pairs[pair]), &c->manifolds[pair]);
  }
  for (uint32_t i = 0; type == NARROW_SURFACE && i < count; i++) {
    uint32_t pair = c->work[first + i], index = first + i - c->type_start[NARROW_SURFACE];
    c->surface_of[pair] = index;
    collision_surface_pair(c, &c->pairs[pair], pair_limit(c, &c->pairs[pair]), &c->surfaces[index]);
    c->manifolds[pair].count = c->surfaces[index].count;
  }
  for (uint32_t i = 0; i < count; i++) c->pair_contacts[c->work[first + i]] = (uint8_t)c->manifolds[c->work[first + i]].count;
#ifdef SAMEBIT_MUTANT_UNSORTED_CONTACTS
  c->arrival[__atomic_fetch_add(&c->arrival_count, 1, __ATOMIC_SEQ_CST)] = chunk;
#endif
}

/* Places every pair's contacts in pair order; returns how many there are. */
static uint64_t place_contacts(sb_collision *c)
{
  uint64_t total = 0;
#ifdef SAMEBIT_MUTANT_UNSORTED_CONTACTS
  /* The planted fault: order of arrival in place of the order of keys. */
  for (uint32_t i = 0; i < c->arrival_count; i++) {
    uint32_t type, first, count;
    narrow_chunk_range(c, c->arrival[i], &type, &first, &count);
    for (uint32_t k = 0; k < count; k++) {
      uint32_t pair = c->work[first + k];
      c->contact_first[pair] = (uint32_t)total;
      total += c->pair_contacts[pair];
    }
  }
  for (uint32_t w = 0; w < c->model->world_count; w++) c->world_start[w] = 0;
#else
  uint32_t w = 0;
  for (uint32_t i = 0; i < c->pair_count; i++) {
    for (; w < c->model->world_count && i >= c->world_pair_start[w]; w++) c->world_start[w] = (uint32_t)total;
    c->contact_first[i] = (uint32_t)total;
    total += c->pair_contacts[i];
  }
  for (; w < c->model->world_count; w++) c->world_start[w] = (uint32_t)total;
#endif
  c->world_start[c->model->world_count] = (uint32_t)total;
  return total;
}

/* Friction, restitution and key of a pair. */
typedef struct pair_surface {
  float friction[3];
  float restitution;
  uint64_t key;
} pair_surface;

static pair_surface combine_surfaces(const sb_collision *c, const collision_pair *p)
{
  const sb_model *m = c->model;
  pair_surface s;
  uint32_t condim;
  if (p->list != COLLISION_NONE) {
    memcpy(s.friction, m->pair_friction + 3 * (size_t)p->list, sizeof s.friction);
    s.restitution = m->pair_restitution[p->list];
    condim = m->pair_condim[p->list];
  } else {
    for (int k = 0; k < 3; k++) {
      float fa = m->shape_friction[3 * (size_t)p->a + k];
      float fb = m->shape_friction[3 * (size_t)p->b + k];
      s.friction[k] = fa > fb ? fa : fb;
    }
    float ra = m->shape_restitution[p->a];
    float rb = m->shape_restitution[p->b];
    s.restitution = ra > rb ? ra : rb;
    condim = m->shape_condim[p->a] > m->shape_condim[p->b] ? m->shape_condim[p->a] : m->shape_condim[p->b];
  }
  if (condim < 3) s.friction[0] = 0.0f;
  if (condim < 4) s.friction[1] = 0.0f;
  if (condim < 6) s.friction[2] = 0.0f;
  uint32_t shape0 = m->world_shape_start[m->shape_world[p->a]];
  s.key = (uint64_t)(p->a - shape0) << 40 | (uint64_t)(p->b - shape0) << 16;
  return s;
}

/* One contact of a pair at place `at`. */
typedef struct emitted {
  const float *normal, *point_a, *point_b;
  float gap;
  uint32_t feature;
} emitted;

static void emit_contact(sb_collision *c, const collision_pair *p, const pair_surface *s, size_t at, emitted e)
{
  const sb_model *m = c->model;
  c->contact_key[at] = s->key | e.feature;
  c->contact_world[at] = m->shape_world[p->a];
  c->contact_shape_a[at] = (int32_t)p->a;
  c->contact_shape_b[at] = (int32_t)p->b;
  c->contact_body_a[at] = c->shape_fixed[p->a] ? -1 : m->shape_body[p->a];
  c->contact_body_b[at] = c->shape_fixed[p->b] ? -1 : m->shape_body[p->b];
  memcpy(c->contact_point_a + 3 * at, e.point_a, 3 * sizeof *e.point_a);
  memcpy(c->contact_point_b + 3 * at, e.point_b, 3 * sizeof *e.point_b);
  memcpy(c->contact_normal + 3 * at, e.normal, 3 * sizeof *e.normal);
  c->contact_gap[at] = e.gap;
  memcpy(c->contact_friction + 3 * at, s->friction, sizeof s->friction);
  c->contact_restitution[at] = s->restitution;
}

static void emit_chunk(void *ctx, uint32_t chunk)
{
  sb_collision *c = ctx;
  uint32_t begin = chunk * COLLISION_PAIRS_PER_CHUNK;
  uint32_t end = c->pair_count - begin < COLLISION_PAIRS_PER_CHUNK ? c->pair_count : begin + COLLISION_PAIRS_PER_CHUNK;
  float deepest = 0.0f;
  for (uint32_t i = begin; i < end; i++) {
    uint32_t count = c->pair_contacts[i];
    if (count == 0) continue;
    const collision_manifold *f = &c->manifolds[i];
    const collision_surface_manifold *w = c->pair_type[i] == NARROW_SURFACE ? &c->surfaces[c->surface_of[i]] : NULL;
    pair_surface s = combine_surfaces(c, &c->pairs[i]);
    for (uint32_t k = 0; k < count; k++) {
      size_t at = c->contact_first[i] + k;
      if (at >= c->contacts.count) break; /* truncated */
      if (k < f->count && w)
        emit_contact(c, &c->pairs[i], &s, at, (emitted){w->normal[k], w->point_a[k], w->point_b[k], w->gap[k], w->feature[k]});
      else if (k < f->count)
        emit_contact(c, &c->pairs[i], &s, at, (emitted){f->normal, f->point_a[k], f->point_b[k], f->gap[k], f->feature[k]});
      else
        emit_contact(c, &c->pairs[i], &s, at,
                     (emitted){c->swept[i].normal, c->swept[i].point_a, c->swept[i].point_b, c->swept[i].gap, SB_FEATURE_SWEPT});
      deepest = -c->contact_gap[at] > deepest ? -c->contact_gap[at] : deepest;
    }
  }
  c->chunk_deepest[chunk] = deepest;
}

sb_status collision_narrow_step(sb_collision *c)
{
  c->arrival_count = 0;
  uint32_t pair_chunks = (c->pair_count + COLLISION_PAIRS_PER_CHUNK - 1) / COLLISION_PAIRS_PER_CHUNK;
  collision_run(c, pair_chunks, type_chunk);
  collision_run(c, group_by_type(c), narrow_chunk);
  collision_swept_step(c);
  uint64_t total = place_contacts(c);
  c->usage.contact_count = total < UINT32_MAX ? (uint32_t)total : UINT32_MAX;
  if (c->usage.contact_count > c->usage.contact_peak) c->usage.contact_peak = c->usage.contact_count;
  bool overflow = total > c->settings.contact_capacity;
  if (overflow && !c->settings.truncate) return SB_E_CAPACITY;
  c->contacts.count = overflow ? c->settings.contact_capacity : (uint32_t)total;
  for (uint32_t w = 0; overflow && w <= c->model->world_count; w++)
    if (c->world_start[w] > c->contacts.count) c->world_start[w] = c->contacts.count;
  collision_run(c, pair_chunks, emit_chunk);
  for (uint32_t k = 0; k < pair_chunks; k++)
    if (c->chunk_deepest[k] > c->usage.deepest) c->usage.deepest = c->chunk_deepest[k];
  return overflow ? SB_E_CAPACITY : SB_OK;
}
