/* What the model fixes of near pairs: groups, the order of their elements, edges, and which pieces of surface share
 * particles. Knows collision_state.h. */
#include "collision_state.h"

#include "near_order.h"
#include "near_pair.kernel.h"

#include <stdlib.h>
#include <string.h>

static bool masks_meet(const sb_model *m, uint32_t d, uint32_t e)
{
  return (m->deformable_contype[d] & m->deformable_conaffinity[e]) ||
         (m->deformable_contype[e] & m->deformable_conaffinity[d]);
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
  uint8_t *active;     /* by deformable */
  uint32_t *tri_start; /* deformable_count + 1, into tris */
  uint32_t *tris;      /* triangles by deformable, of their first particle */
  uint8_t *spoken_for; /* by particle: some triangle owns it */
  uint8_t *owns;       /* by slot: corners (3 bits) and sides (3 bits) that this triangle speaks for */
  uint32_t *side;      /* by slot: 3 edges, from each corner to the next */
  key_item *items, *scratch;
} near_plan;

static uint32_t deformable_of(const sb_model *m, uint32_t tri)
{
  return (uint32_t)m->particle_deformable[m->tri_indices[3 * (size_t)tri]];
}

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
    if (loose) add_group(n, w, NEAR_LOOSE, loose);
    n->world_group_start[w + 1] = n->group_count;
  }
  return SB_OK;
}

static sb_status build_levels(sb_collision *c, collision_near *n)
{
  uint32_t padded = (n->node_count + 7) / 8 * 8;
  const size_t count[NEAR_LEVELS] = {(size_t)n->node_count * NEAR_NODE, (size_t)n->node_count * 8, padded,
                                     (padded / 8 + 7) / 8 * 8};
  for (int l = 0; l < NEAR_LEVELS; l++) {
    near_level *level = &n->tree.level[l];
    level->box = collision_alloc(c, NEAR_BOX * count[l], sizeof(float));
    level->speed = l ? collision_alloc(c, NEAR_BOX * count[l], sizeof(float)) : NULL;
    level->normal = l ? collision_alloc(c, NEAR_BOX * count[l], sizeof(float)) : NULL;
    if (!level->box || (l && (!level->speed || !level->normal))) return SB_E_MEMORY;
    for (size_t i = 0; i < NEAR_BOX * count[l]; i++) {
      level->box[i] = i / NEAR_CHILDREN % NEAR_BOX < 3 ? 1.0e15f : -1.0e15f; /* nothing there */
      if (l) level->speed[i] = level->normal[i] = level->box[i];
    }
    level->radius = l ? collision_alloc(c, count[l], sizeof(float)) : NULL;
    if (l && !level->radius) return SB_E_MEMORY;
  }
  n->node_group = collision_alloc(c, n->node_count, sizeof *n->node_group);
  n->tree.element = collision_alloc(c, count[0], sizeof *n->tree.element);
  n->tree.corner = collision_alloc(c, count[0] * 3, sizeof *n->tree.corner);
  n->tree.normal = collision_alloc(c, count[0] * 3, sizeof *n->tree.normal);
  n->tree.row_x = collision_alloc(c, 4 * (size_t)c->model->particle_count, sizeof(float));
  n->tree.row_v = collision_alloc(c, 4 * (size_t)c->model->particle_count, sizeof(float));
  return n->node_group && n->tree.element && n->tree.corner && n->tree.normal && n->tree.row_x && n->tree.row_v ? SB_OK : SB_E_MEMORY;
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
    n->tree.element[slot] = p->items[i].value;
    for (int k = 0; k < 3; k++) {
      int32_t particle = m->tri_indices[3 * (size_t)n->tree.element[slot] + k];
      if (!p->spoken_for[particle]) p->owns[slot] |= (uint8_t)(1u << k);
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
    for (uint32_t i = 0; group->deformable != NEAR_LOOSE && i < group->elements; i++) {
      uint32_t slot = group->first_node * NEAR_NODE + i;
      for (uint32_t k = 0; k < 3; k++) {
        uint32_t a = (uint32_t)m->tri_indices[3 * (size_t)n->tree.element[slot] + k],
                 b = (uint32_t)m->tri_indices[3 * (size_t)n->tree.element[slot] + (k + 1) % 3];
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
      p->owns[slot] |= (uint8_t)(8u << k);
    }
    p->side[3 * (size_t)slot + k] = n->edge_count - 1;
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

/* Pairs of leaves that share a particle, the lower first, sorted; malloc'd. */
typedef struct leaf_pairs {
  key_item *items;
  uint32_t count;
} leaf_pairs;

/* (particle, leaf) sorted, then pairs of leaves, each leaf with itself too. */
static sb_status find_leaf_pairs(const sb_collision *c, const collision_near *n, leaf_pairs *out)
{
  const sb_model *m = c->model;
  size_t slots = (size_t)n->node_count * NEAR_NODE;
  key_item *items = malloc((3 * slots + 1) * sizeof *items), *scratch = malloc((3 * slots + 1) * sizeof *scratch);
  uint32_t count = 0, found = 0;
  if (!items || !scratch) goto out;
  for (uint32_t g = 0; g < n->group_count; g++)
    for (uint32_t i = 0; n->groups[g].deformable != NEAR_LOOSE && i < n->groups[g].elements; i++) {
      uint32_t slot = n->groups[g].first_node * NEAR_NODE + i;
      for (int k = 0; k < 3; k++)
        items[count++] = (key_item){(uint64_t)(uint32_t)m->tri_indices[3 * (size_t)n->tree.element[slot] + k] << 32 |
                                        slot / NEAR_CHILDREN,
                                    0, 0};
    }
  key_sort(items, scratch, count);
  count = drop_equal(items, count);
  for (int pass = 0; pass < 2; pass++) {
    found = 0;
    for (uint32_t i = 0; i < count; i++)
      for (uint32_t k = i; k < count && high_half(items[k].key) == high_half(items[i].key); k++, found++)
        if (pass) out->items[found] = (key_item){items[i].key << 32 | (uint32_t)items[k].key, 0, 0};
    if (pass) break;
    free(scratch);
    scratch = malloc(((size_t)found + 1) * sizeof *scratch);
    out->items = malloc(((size_t)found + 1) * sizeof *out->items);
    if (!scratch || !out->items) goto out;
  }
  key_sort(out->items, scratch, found);
  out->count = drop_equal(out->items, found);
out:
  free(items);
  bool room = scratch && out->items;
  free(scratch);
  return room ? SB_OK : SB_E_MEMORY;
}

/* Nodes that share a particle, and which of their leaves do. */
static sb_status build_touch(sb_collision *c, collision_near *n)
{
  leaf_pairs leaves = {NULL, 0};
  key_item *nodes = NULL, *scratch = NULL;
  uint32_t count = 0;
  sb_status status = find_leaf_pairs(c, n, &leaves);
  if (!status) {
    nodes = malloc(((size_t)leaves.count + 1) * sizeof *nodes);
    scratch = malloc(((size_t)leaves.count + 1) * sizeof *scratch);
    if (!nodes || !scratch) status = SB_E_MEMORY;
  }
  if (!status) {
    for (uint32_t i = 0; i < leaves.count; i++)
      nodes[i] = (key_item){(uint64_t)(high_half(leaves.items[i].key) / NEAR_CHILDREN) << 32 |
                                (uint32_t)leaves.items[i].key / NEAR_CHILDREN,
                            i, 0};
    key_sort(nodes, scratch, leaves.count);
    for (uint32_t i = 0; i < leaves.count; i++) count += i == 0 || nodes[i].key != nodes[i - 1].key;
    n->touch_start = collision_alloc(c, (size_t)n->node_count + 1, sizeof *n->touch_start);
    n->touch = collision_alloc(c, count, sizeof *n->touch);
    n->share = collision_alloc(c, count, sizeof *n->share);
    if (!n->touch_start || !n->touch || !n->share) status = SB_E_MEMORY;
  }
  count = 0;
  for (uint32_t i = 0; !status && i < leaves.count; i++) {
    if (i == 0 || nodes[i].key != nodes[i - 1].key) n->touch[count++] = (uint32_t)nodes[i].key;
    uint64_t pair = leaves.items[nodes[i].value].key;
    n->share[count - 1].with[high_half(pair) % NEAR_CHILDREN] |= (uint8_t)(1u << (uint32_t)pair % NEAR_CHILDREN);
    n->touch_start[high_half(nodes[i].key) + 1] = count;
  }
  for (uint32_t i = 0; !status && i < n->node_count; i++)
    if (n->touch_start[i + 1] < n->touch_start[i]) n->touch_start[i + 1] = n->touch_start[i];
  free(leaves.items);
  free(nodes);
  free(scratch);
  return status;
}

/* --- what leaves speak for --- */

/* Corners of the leaves' elements; particles, whose order is made anew in each step, have theirs from there. */
static void list_corners(const sb_collision *c, collision_near *n, const near_group *g)
{
  for (uint32_t i = 0; i < g->nodes * NEAR_NODE; i++) {
    uint32_t slot = g->first_node * NEAR_NODE + i,
             element = n->tree.element[i < g->elements ? slot : g->first_node * NEAR_NODE + g->elements - 1];
    for (uint32_t k = 0; k < 3; k++)
      n->tree.corner[3 * (size_t)(slot / NEAR_CHILDREN * NEAR_CHILDREN) + k * NEAR_CHILDREN + slot % NEAR_CHILDREN] =
          (uint32_t)c->model->tri_indices[3 * (size_t)element + k];
  }
}

static bool owned_room(sb_collision *c, const collision_near *n, near_owned *o, const near_plan *p, uint32_t shift)
{
  size_t leaves = (size_t)n->node_count * NEAR_CHILDREN, eights = 0;
  o->start = collision_alloc(c, leaves + 1, sizeof *o->start);
  o->count = collision_alloc(c, leaves, sizeof *o->count);
  if (!o->start || !o->count) return false;
  for (size_t leaf = 0; leaf < leaves; leaf++) {
    for (uint32_t i = 0; i < NEAR_CHILDREN; i++)
      o->count[leaf] = (uint8_t)(o->count[leaf] + __builtin_popcount(p->owns[leaf * NEAR_CHILDREN + i] >> shift & 7u));
    eights += (o->count[leaf] + NEAR_CHILDREN - 1) / NEAR_CHILDREN;
    o->start[leaf + 1] = (uint32_t)eights;
  }
  o->of = collision_alloc(c, eights * NEAR_CHILDREN, sizeof *o->of);
  o->box = collision_alloc(c, NEAR_BOX * eights * NEAR_CHILDREN, sizeof(float));
  return o->of && o->box;
}

static sb_status build_owned(sb_collision *c, collision_near *n, const near_plan *p)
{
  near_tree *t = &n->tree;
  if (!owned_room(c, n, &t->vertices, p, 0) || !owned_room(c, n, &t->edges, p, 3)) return SB_E_MEMORY;
  uint32_t leaves = n->node_count * NEAR_CHILDREN;
  t->edge_end = collision_alloc(c, 2 * NEAR_CHILDREN * (size_t)t->edges.start[leaves], sizeof *t->edge_end);
  if (!t->edge_end) return SB_E_MEMORY;
  for (uint32_t leaf = 0; leaf < leaves; leaf++) {
    size_t vertex = NEAR_CHILDREN * (size_t)t->vertices.start[leaf],
           edge = NEAR_CHILDREN * (size_t)t->edges.start[leaf];
    for (uint32_t i = 0; i < NEAR_CHILDREN * 3; i++) {
      uint32_t slot = leaf * NEAR_CHILDREN + i / 3, k = i % 3;
      if (p->owns[slot] >> k & 1u)
        t->vertices.of[vertex++] = (uint32_t)c->model->tri_indices[3 * (size_t)n->tree.element[slot] + k];
      if (p->owns[slot] >> (3 + k) & 1u) t->edges.of[edge++] = p->side[3 * (size_t)slot + k];
    }
    for (; vertex < NEAR_CHILDREN * (size_t)t->vertices.start[leaf + 1]; vertex++)
      t->vertices.of[vertex] = t->vertices.of[vertex - 1];
    for (; edge < NEAR_CHILDREN * (size_t)t->edges.start[leaf + 1]; edge++) t->edges.of[edge] = t->edges.of[edge - 1];
  }
  for (uint32_t i = 0; i < NEAR_CHILDREN * t->edges.start[leaves]; i++)
    for (uint32_t k = 0; k < 2; k++)
      t->edge_end[2 * NEAR_CHILDREN * (size_t)(i / NEAR_CHILDREN) + k * NEAR_CHILDREN + i % NEAR_CHILDREN] =
          (uint32_t)n->edge[2 * (size_t)t->edges.of[i] + k];
  return SB_OK;
}

/* Whether two edges can make a pair: keep_hit of near_pairs.c would say no to the others. */
static bool are_strangers(const sb_model *m, const int32_t *e, const int32_t *f)
{
  if (e[0] == f[0] || e[0] == f[1] || e[1] == f[0] || e[1] == f[1]) return false;
  if (m->particle_deformable[e[0]] != m->particle_deformable[f[0]]) return true;
  const int32_t p[4] = {e[0], e[1], f[0], f[1]};
  V3 x[4];
  for (int k = 0; k < 4; k++) x[k] = v3(m->particle_q[3 * (size_t)p[k]], m->particle_q[3 * (size_t)p[k] + 1], m->particle_q[3 * (size_t)p[k] + 2]);
  NearHit rest = near_edges(x[0], x[1], x[2], x[3], 0.0f, v3_zero(), v3_zero());
  return !near_are_neighbours(rest.distance, v3_len(v3_sub(x[1], x[0])), v3_len(v3_sub(x[3], x[2])));
}

/* Which edges of leaf b may make a pair with one. */
static uint32_t strangers_of(const sb_model *m, const collision_near *n, uint32_t edge, uint32_t b)
{
  const near_owned *o = &n->tree.edges;
  uint32_t bits = 0;
  for (uint32_t k = 0; k < o->count[b]; k++)
    bits |= (uint32_t)are_strangers(m, n->edge + 2 * (size_t)edge, n->edge + 2 * (size_t)o->of[NEAR_CHILDREN * (size_t)o->start[b] + k]) << k;
  return bits;
}

static sb_status build_strangers(sb_collision *c, collision_near *n)
{
  const near_owned *o = &n->tree.edges;
  uint64_t rows = 0;
  for (uint32_t node = 0; node < n->node_count; node++)
    for (uint32_t i = n->touch_start[node]; i < n->touch_start[node + 1]; i++)
      for (uint32_t k = 0; k < NEAR_CHILDREN; k++) {
        n->share[i].strangers[k] = (uint32_t)rows;
        rows += (uint64_t)__builtin_popcount(n->share[i].with[k]) * o->count[node * NEAR_CHILDREN + k];
      }
  if (rows > UINT32_MAX) return SB_E_ARGUMENT;
  n->tree.strangers = collision_alloc(c, (size_t)rows, sizeof *n->tree.strangers);
  if (!n->tree.strangers) return SB_E_MEMORY;
  uint32_t *to = n->tree.strangers;
  for (uint32_t node = 0; node < n->node_count; node++)
    for (uint32_t i = n->touch_start[node]; i < n->touch_start[node + 1]; i++)
      for (uint32_t k = 0; k < NEAR_CHILDREN; k++) {
        uint32_t a = node * NEAR_CHILDREN + k;
        for (uint32_t with = n->share[i].with[k]; with; with &= with - 1)
          for (uint32_t e = 0; e < o->count[a]; e++)
            *to++ = strangers_of(c->model, n, o->of[NEAR_CHILDREN * (size_t)o->start[a] + e], n->touch[i] * NEAR_CHILDREN + (uint32_t)__builtin_ctz(with));
      }
  return SB_OK;
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
    uint32_t particles = m->world_particle_start[w + 1] - m->world_particle_start[w],
             edges = n->world_edge_start[w + 1] - n->world_edge_start[w];
    n->bits_a = larger(n->bits_a, bits_of(larger(particles, edges)));
    n->bits_b =
        larger(n->bits_b, bits_of(larger(larger(particles, edges), n->world_tri_start[w + 1] - n->world_tri_start[w])));
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
    if (n->groups[g].deformable == NEAR_LOOSE) loose = larger((uint32_t)loose, n->groups[g].elements);
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
  if (!c->settings.near_pair_capacity)
    c->settings.near_pair_capacity = usual < UINT32_MAX ? (uint32_t)usual : UINT32_MAX;
  if (!n->group_count) c->settings.near_pair_capacity = 0;
  n->pairs.capacity = c->usage.near_pair_capacity = c->settings.near_pair_capacity;
  if (status || !n->group_count) return status;
  if (n->node_count >= UINT32_MAX / (3 * NEAR_NODE)) return SB_E_ARGUMENT;
  status = build_levels(c, n);
  p->owns = calloc((size_t)n->node_count * NEAR_NODE, sizeof *p->owns);
  p->side = calloc((size_t)n->node_count * NEAR_NODE * 3, sizeof *p->side);
  if (!p->owns || !p->side) status = SB_E_MEMORY;
  for (uint32_t g = 0; !status && g < n->group_count; g++) {
    if (n->groups[g].deformable != NEAR_LOOSE) order_triangles(m, n, &n->groups[g], p);
    for (uint32_t k = 0; k < n->groups[g].nodes; k++) n->node_group[n->groups[g].first_node + k] = g;
  }
  if (!status) status = build_edges(c, n, p);
  if (!status) status = build_touch(c, n);
  for (uint32_t g = 0; !status && g < n->group_count; g++)
    if (n->groups[g].deformable != NEAR_LOOSE) list_corners(c, n, &n->groups[g]);
  if (!status) status = build_owned(c, n, p);
  if (!status) status = build_strangers(c, n);
  if (!status) status = build_ranges(c, n);
  return status ? status : build_buffers(c, n);
}

sb_status collision_near_build(sb_collision *c)
{
  const sb_model *m = c->model;
  collision_near *n = &c->near;
  n->lanes = c->settings.lanes == 8   ? &collision_near_lanes8
             : c->settings.lanes == 4 ? &collision_near_lanes4
                                      : &collision_near_lanes1;
  n->world_start = collision_alloc(c, (size_t)m->world_count + 1, sizeof *n->world_start);
  if (!n->world_start) return SB_E_MEMORY;
  n->pairs = (sb_near_pairs){.struct_size = sizeof n->pairs, .world_start = n->world_start};
  if (!m->particle_count) c->settings.near_pair_capacity = 0;
  if (!m->particle_count) return SB_OK;
  size_t items = 3 * (size_t)m->tri_count + 1;
  near_plan p = {calloc((size_t)m->deformable_count + 1, 1),
                 calloc((size_t)m->deformable_count + 1, sizeof(uint32_t)),
                 calloc((size_t)m->tri_count + 1, sizeof(uint32_t)),
                 calloc((size_t)m->particle_count + 1, 1),
                 NULL,
                 NULL,
                 malloc(items * sizeof(key_item)),
                 malloc(items * sizeof(key_item))};
  bool room = p.active && p.tri_start && p.tris && p.spoken_for && p.items && p.scratch;
  sb_status status = room ? build_with(c, n, &p) : SB_E_MEMORY;
  free(p.active);
  free(p.tri_start);
  free(p.tris);
  free(p.spoken_for);
  free(p.owns);
  free(p.side);
  free(p.items);
  free(p.scratch);
  return status;
}
