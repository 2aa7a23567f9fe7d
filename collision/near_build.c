/* What the model fixes of near pairs: groups, the order of their elements, edges, and which pieces of surface share particles. Knows
 * collision_state.h. */
#include "collision_state.h"

#include "near_order.h"

#include <stdlib.h>
#include <string.h>

static bool masks_meet(const sb_model *m, uint32_t d, uint32_t e)
{
  return (m->deformable_contype[d] & m->deformable_conaffinity[e]) || (m->deformable_contype[e] & m->deformable_conaffinity[d]);
}

bool collision_deformables_meet(const sb_model *m, uint32_t d, uint32_t e)
{
  return d == e ? (m->deformable_flags[d] & SB_DEFORMABLE_SELF_CONTACT) != 0 : masks_meet(m, d, e);
}

/* Deformables that may touch themselves or another one of their world. */
static void find_active(const sb_model *m, uint8_t *active)
{
  for (uint32_t d = 0, first = 0; d < m->deformable_count; d++) {
    while (m->deformable_world[first] != m->deformable_world[d]) first++;
    for (uint32_t e = first; e <= d; e++)
      if (collision_deformables_meet(m, d, e)) active[d] = active[e] = 1;
  }
}

/* Temporary tables of the build. */
typedef struct near_plan {
  uint8_t *active;       /* by deformable */
  uint32_t *tri_start;   /* deformable_count + 1, into tris */
  uint32_t *tris;        /* triangles by deformable, of their first particle */
  uint8_t *spoken_for;   /* by particle: some triangle owns it */
  key_item *items, *scratch;
} near_plan;

static uint32_t deformable_of(const sb_model *m, uint32_t tri) { return (uint32_t)m->particle_deformable[m->tri_indices[3 * (size_t)tri]]; }

static void list_triangles(const sb_model *m, near_plan *p)
{
  for (uint32_t t = 0; t < m->tri_count; t++) p->tri_start[deformable_of(m, t) + 1]++;
  for (uint32_t d = 0; d < m->deformable_count; d++) p->tri_start[d + 1] += p->tri_start[d];
  for (uint32_t t = m->tri_count; t-- > 0;) {
    uint32_t d = deformable_of(m, t);
    p->tris[--p->tri_start[d + 1]] = t;
  }
  /* each start has moved down to where its own list begins */
  for (uint32_t d = 0; d < m->deformable_count; d++) p->tri_start[d] = p->tri_start[d + 1];
  p->tri_start[m->deformable_count] = m->tri_count;
}

static void add_group(collision_near *n, uint32_t world, uint32_t deformable, uint32_t elements)
{
  near_group *g = &n->groups[n->group_count++];
  *g = (near_group){world, deformable, n->node_count, (elements + NEAR_NODE - 1) / NEAR_NODE, elements};
  n->node_count += g->nodes;
}

static sb_status build_groups(sb_collision *c, collision_near *n, const near_plan *p)
{
  const sb_model *m = c->model;
  n->groups = collision_alloc(c, (size_t)m->deformable_count + m->world_count, sizeof *n->groups);
  n->world_group_start = collision_alloc(c, (size_t)m->world_count + 1, sizeof *n->world_group_start);
  n->is_loose = collision_alloc(c, m->deformable_count, sizeof *n->is_loose);
  if (!n->groups || !n->world_group_start || !n->is_loose) return SB_E_MEMORY;
  for (uint32_t w = 0, d = 0; w < m->world_count; w++) {
    uint32_t loose = 0;
    for (; d < m->deformable_count && (uint32_t)m->deformable_world[d] == w; d++) {
      uint32_t tris = p->tri_start[d + 1] - p->tri_start[d];
      if (!p->active[d]) continue;
      n->is_loose[d] = tris == 0;
      if (tris)
        add_group(n, w, d, tris);
      else
        loose += m->deformable_particles[d];
    }
    if (loose) add_group(n, w, COLLISION_NONE, loose);
    n->world_group_start[w + 1] = n->group_count;
  }
  return SB_OK;
}

static sb_status build_levels(sb_collision *c, collision_near *n)
{
  uint32_t padded = (n->node_count + 7) / 8 * 8;
  const size_t count[NEAR_LEVELS] = {(size_t)n->node_count * NEAR_NODE, (size_t)n->node_count * 8, padded, (padded / 8 + 7) / 8 * 8};
  for (int l = 0; l < NEAR_LEVELS; l++) {
    near_level *level = &n->level[l];
    for (int k = 0; k < 6; k++) {
      level->box[k] = collision_alloc(c, count[l], sizeof(float));
      level->speed[k] = l ? collision_alloc(c, count[l], sizeof(float)) : NULL;
      level->normal[k] = l ? collision_alloc(c, count[l], sizeof(float)) : NULL;
      if (!level->box[k] || (l && (!level->speed[k] || !level->normal[k]))) return SB_E_MEMORY;
      for (size_t i = 0; i < count[l]; i++) {
        level->box[k][i] = k < 3 ? 1.0e15f : -1.0e15f; /* nothing there */
        if (l) level->speed[k][i] = level->normal[k][i] = level->box[k][i];
      }
    }
    level->radius = l ? collision_alloc(c, count[l], sizeof(float)) : NULL;
    if (l && !level->radius) return SB_E_MEMORY;
  }
  n->node_group = collision_alloc(c, n->node_count, sizeof *n->node_group);
  n->element = collision_alloc(c, count[0], sizeof *n->element);
  n->owns = collision_alloc(c, count[0], sizeof *n->owns);
  n->element_edge = collision_alloc(c, count[0] * 3, sizeof *n->element_edge);
  return n->node_group && n->element && n->owns && n->element_edge ? SB_OK : SB_E_MEMORY;
}

/* Triangles in the order of their middles along a curve, at rest; who speaks for which particle. */
static void order_triangles(const sb_model *m, collision_near *n, const near_group *g, near_plan *p)
{
  const uint32_t *tris = p->tris + p->tri_start[g->deformable];
  near_order order = near_order_none();
  for (int pass = 0; pass < 2; pass++)
    for (uint32_t i = 0; i < g->elements; i++) {
      float middle[3] = {0};
      for (int k = 0; k < 3; k++)
        for (int a = 0; a < 3; a++) middle[a] += m->particle_q[3 * (size_t)m->tri_indices[3 * (size_t)tris[i] + k] + a];
      if (pass == 0)
        near_order_hold(&order, middle);
      else
        p->items[i] = (key_item){near_order_key(&order, middle), tris[i], 0};
    }
  key_sort(p->items, p->scratch, g->elements);
  for (uint32_t i = 0; i < g->elements; i++) {
    size_t slot = (size_t)g->first_node * NEAR_NODE + i;
    n->element[slot] = p->items[i].value;
    for (int k = 0; k < 3; k++) {
      int32_t particle = m->tri_indices[3 * (size_t)n->element[slot] + k];
      if (!p->spoken_for[particle]) n->owns[slot] |= (uint8_t)(1u << k);
      p->spoken_for[particle] = 1;
    }
  }
}

static uint32_t high_half(uint64_t key) { return (uint32_t)(key >> 32); }

/* Sides of all triangles, each once, by particles; the first triangle of each speaks for it. */
static sb_status build_edges(sb_collision *c, collision_near *n, near_plan *p)
{
  const sb_model *m = c->model;
  uint32_t sides = 0;
  for (uint32_t g = 0; g < n->group_count; g++) {
    const near_group *group = &n->groups[g];
    for (uint32_t i = 0; group->deformable != COLLISION_NONE && i < group->elements; i++) {
      uint32_t slot = group->first_node * NEAR_NODE + i;
      for (uint32_t k = 0; k < 3; k++) {
        uint32_t a = (uint32_t)m->tri_indices[3 * (size_t)n->element[slot] + k], b = (uint32_t)m->tri_indices[3 * (size_t)n->element[slot] + (k + 1) % 3];
        p->items[sides++] = (key_item){(uint64_t)(a < b ? a : b) << 32 | (a < b ? b : a), 3 * slot + k, 0};
      }
    }
  }
  key_sort(p->items, p->scratch, sides);
  n->edge = collision_alloc(c, 2 * (size_t)sides, sizeof *n->edge);
  n->world_edge_start = collision_alloc(c, (size_t)m->world_count + 1, sizeof *n->world_edge_start);
  if (!n->edge || !n->world_edge_start) return SB_E_MEMORY;
  for (uint32_t i = 0; i < sides; i++) {
    uint32_t slot = p->items[i].value / 3, k = p->items[i].value % 3;
    if (i == 0 || p->items[i].key != p->items[i - 1].key) {
      n->edge[2 * (size_t)n->edge_count] = (int32_t)high_half(p->items[i].key);
      n->edge[2 * (size_t)n->edge_count + 1] = (int32_t)(uint32_t)p->items[i].key;
      n->edge_count++;
      n->world_edge_start[m->deformable_world[m->particle_deformable[high_half(p->items[i].key)]] + 1] = n->edge_count;
      n->owns[slot] |= (uint8_t)(8u << k);
    }
    n->element_edge[3 * (size_t)slot + k] = n->edge_count - 1;
  }
  for (uint32_t w = 0; w < m->world_count; w++)
    if (n->world_edge_start[w + 1] < n->world_edge_start[w]) n->world_edge_start[w + 1] = n->world_edge_start[w];
  return SB_OK;
}

static uint32_t drop_equal(key_item *items, uint32_t count)
{
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++)
    if (kept == 0 || items[kept - 1].key != items[i].key) items[kept++] = items[i];
  return kept;
}

/* Which entries of a level, `size` slots each, share a particle: (particle, entry) sorted, then pairs of entries. */
static sb_status build_touch(sb_collision *c, collision_near *n, int level, uint32_t size)
{
  const sb_model *m = c->model;
  size_t slots = (size_t)n->node_count * NEAR_NODE, entries = slots / size;
  n->touch_start[level] = collision_alloc(c, entries + 1, sizeof **n->touch_start);
  key_item *items = malloc((3 * slots + 1) * sizeof *items), *scratch = malloc((3 * slots + 1) * sizeof *scratch);
  uint32_t count = 0, pairs = 0;
  sb_status status = items && scratch && n->touch_start[level] ? SB_OK : SB_E_MEMORY;
  for (uint32_t g = 0; !status && g < n->group_count; g++)
    for (uint32_t i = 0; n->groups[g].deformable != COLLISION_NONE && i < n->groups[g].elements; i++) {
      uint32_t slot = n->groups[g].first_node * NEAR_NODE + i;
      for (int k = 0; k < 3; k++)
        items[count++] = (key_item){(uint64_t)(uint32_t)m->tri_indices[3 * (size_t)n->element[slot] + k] << 32 | slot / size, 0, 0};
    }
  if (!status) key_sort(items, scratch, count), count = drop_equal(items, count);
  for (int pass = 0; !status && pass < 2; pass++) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++)
      for (uint32_t k = i + 1; k < count && high_half(items[k].key) == high_half(items[i].key); k++, found++)
        if (pass) scratch[found] = (key_item){items[i].key << 32 | (uint32_t)items[k].key, 0, 0};
    pairs = found;
    if (pass) break;
    free(scratch);
    scratch = malloc(((size_t)found + 1) * sizeof *scratch);
    status = scratch ? SB_OK : SB_E_MEMORY;
  }
  free(items);
  items = status ? NULL : malloc(((size_t)pairs + 1) * sizeof *items);
  if (items) {
    key_sort(scratch, items, pairs);
    pairs = drop_equal(scratch, pairs);
    n->touch[level] = collision_alloc(c, pairs, sizeof **n->touch);
  }
  if (!status && (!items || !n->touch[level])) status = SB_E_MEMORY;
  for (uint32_t i = 0; !status && i < pairs; i++) {
    n->touch[level][i] = (uint32_t)scratch[i].key;
    n->touch_start[level][high_half(scratch[i].key) + 1] = i + 1;
  }
  for (size_t i = 0; !status && i < entries; i++)
    if (n->touch_start[level][i + 1] < n->touch_start[level][i]) n->touch_start[level][i + 1] = n->touch_start[level][i];
  free(items);
  free(scratch);
  return status;
}

static uint32_t bits_of(uint32_t count)
{
  uint32_t bits = 0;
  for (; count; count >>= 1) bits++;
  return bits;
}

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* Ranges of each world, bits of the sort key, and the documented default capacity. */
static sb_status build_ranges(sb_collision *c, collision_near *n)
{
  const sb_model *m = c->model;
  n->world_tri_start = collision_alloc(c, (size_t)m->world_count + 1, sizeof *n->world_tri_start);
  if (!n->world_tri_start) return SB_E_MEMORY;
  for (uint32_t t = 0; t < m->tri_count; t++) n->world_tri_start[m->deformable_world[deformable_of(m, t)] + 1] = t + 1;
  for (uint32_t w = 0; w < m->world_count; w++) {
    if (n->world_tri_start[w + 1] < n->world_tri_start[w]) n->world_tri_start[w + 1] = n->world_tri_start[w];
    uint32_t particles = m->world_particle_start[w + 1] - m->world_particle_start[w], edges = n->world_edge_start[w + 1] - n->world_edge_start[w];
    n->bits_a = larger(n->bits_a, bits_of(larger(particles, edges)));
    n->bits_b = larger(n->bits_b, bits_of(larger(larger(particles, edges), n->world_tri_start[w + 1] - n->world_tri_start[w])));
  }
  return n->bits_a + n->bits_b + bits_of(m->world_count) + 2 <= 64 ? SB_OK : SB_E_ARGUMENT;
}

static uint64_t usual_pairs(const sb_collision *c, const near_plan *p)
{
  const sb_model *m = c->model;
  uint64_t particles = 0;
  for (uint32_t d = 0; d < m->deformable_count; d++) particles += p->active[d] ? m->deformable_particles[d] : 0;
  return particles ? 8 * particles + 64 : 0;
}

static sb_status build_buffers(sb_collision *c, collision_near *n)
{
  size_t capacity = c->settings.near_pair_capacity, loose = 0;
  for (uint32_t g = 0; g < n->group_count; g++)
    if (n->groups[g].deformable == COLLISION_NONE) loose = larger((uint32_t)loose, n->groups[g].elements);
  n->hits = collision_alloc(c, capacity, sizeof *n->hits);
  n->items = collision_alloc(c, capacity > loose ? capacity : loose, sizeof *n->items);
  n->scratch = collision_alloc(c, capacity > loose ? capacity : loose, sizeof *n->scratch);
  if (!n->hits || !n->items || !n->scratch) return SB_E_MEMORY;
#define SB_X_NEAR(type, name, comps, doc)                                                                              \
  n->of_##name = collision_alloc(c, capacity, comps * sizeof(type));                                                   \
  if (!n->of_##name) return SB_E_MEMORY;                                                                               \
  n->pairs.name = n->of_##name;
  SB_NEAR_PAIR_ARRAYS(SB_X_NEAR)
#undef SB_X_NEAR
  return SB_OK;
}

static sb_status build_with(sb_collision *c, collision_near *n, near_plan *p)
{
  const sb_model *m = c->model;
  find_active(m, p->active);
  list_triangles(m, p);
  sb_status status = build_groups(c, n, p);
  uint64_t usual = usual_pairs(c, p);
  if (!c->settings.near_pair_capacity) c->settings.near_pair_capacity = usual < UINT32_MAX ? (uint32_t)usual : UINT32_MAX;
  if (!n->group_count) c->settings.near_pair_capacity = 0;
  n->pairs.capacity = c->usage.near_pair_capacity = c->settings.near_pair_capacity;
  if (status || !n->group_count) return status;
  if (n->node_count >= UINT32_MAX / (3 * NEAR_NODE)) return SB_E_ARGUMENT;
  status = build_levels(c, n);
  for (uint32_t g = 0; !status && g < n->group_count; g++) {
    if (n->groups[g].deformable != COLLISION_NONE) order_triangles(m, n, &n->groups[g], p);
    for (uint32_t k = 0; k < n->groups[g].nodes; k++) n->node_group[n->groups[g].first_node + k] = g;
  }
  if (!status) status = build_edges(c, n, p);
  if (!status) status = build_touch(c, n, NEAR_LEAVES, NEAR_CHILDREN);
  if (!status) status = build_touch(c, n, NEAR_NODES, NEAR_NODE);
  if (!status) status = build_ranges(c, n);
  return status ? status : build_buffers(c, n);
}

sb_status collision_near_build(sb_collision *c)
{
  const sb_model *m = c->model;
  collision_near *n = &c->near;
  n->lanes = c->settings.lanes == 8 ? &collision_near_lanes8 : c->settings.lanes == 4 ? &collision_near_lanes4 : &collision_near_lanes1;
  n->world_start = collision_alloc(c, (size_t)m->world_count + 1, sizeof *n->world_start);
  if (!n->world_start) return SB_E_MEMORY;
  n->pairs = (sb_near_pairs){.struct_size = sizeof n->pairs, .world_start = n->world_start};
  if (!m->particle_count) c->settings.near_pair_capacity = 0;
  if (!m->particle_count) return SB_OK;
  size_t items = 3 * (size_t)m->tri_count + 1;
  near_plan p = {calloc((size_t)m->deformable_count + 1, 1), calloc((size_t)m->deformable_count + 1, sizeof(uint32_t)),
                 calloc((size_t)m->tri_count + 1, sizeof(uint32_t)), calloc((size_t)m->particle_count + 1, 1), malloc(items * sizeof(key_item)),
                 malloc(items * sizeof(key_item))};
  bool room = p.active && p.tri_start && p.tris && p.spoken_for && p.items && p.scratch;
  sb_status status = room ? build_with(c, n, &p) : SB_E_MEMORY;
  free(p.active);
  free(p.tri_start);
  free(p.tris);
  free(p.spoken_for);
  free(p.items);
  free(p.scratch);
  return status;
}
