/* Near pairs of a step: boxes refitted, pieces of surface that come near each other, then triangle by triangle and
 * feature by feature; what is found is sorted by unique keys. Knows collision_state.h.
 *
 * A pair is made when the two features are nearer than NEAR_ROOM thicknesses plus the way by which any two of their
 * vertices close along the line between the nearest points in the step. Pieces of one deformable (nodes, halves of them
 * and leaves) that share a particle and are flat together (near_is_flat, or near_leans of all their triangles) are
 * passed over: they cannot have folded onto each other. Which pieces there are follows from the deformable alone. */
#include "collision_state.h"

#include "near_order.h"
#include "near_pair.kernel.h"

#include <string.h>

#define NODES_PER_CHUNK 1u
#define HITS_PER_CHUNK 1024u
#define ROWS_PER_CHUNK 1024u

/* --- boxes --- */

/* Positions and velocities as rows, which lanes load whole. */
static void row_chunk(void *ctx, uint32_t chunk)
{
  sb_collision *c = ctx;
  near_tree *t = &c->near.tree;
  uint32_t begin = chunk * ROWS_PER_CHUNK,
           end = c->model->particle_count - begin < ROWS_PER_CHUNK ? c->model->particle_count : begin + ROWS_PER_CHUNK;
  for (size_t p = begin; p < end; p++) {
    for (uint32_t k = 0; k < 3; k++) {
      t->row_x[4 * p + k] = c->particles.q[3 * p + k];
      t->row_v[4 * p + k] = c->particles.qd[3 * p + k];
    }
    t->row_x[4 * p + 3] = c->model->particle_radius[p];
  }
}

static void refit_chunk(void *ctx, uint32_t chunk)
{
  sb_collision *c = ctx;
  collision_near *n = &c->near;
  uint32_t end = (chunk + 1) * NODES_PER_CHUNK < n->node_count ? (chunk + 1) * NODES_PER_CHUNK : n->node_count;
  for (uint32_t node = chunk * NODES_PER_CHUNK; node < end; node++) {
    const near_group *g = &n->groups[n->node_group[node]];
    uint32_t first = (node - g->first_node) * NEAR_NODE;
    for (uint32_t k = 0; k < NEAR_CHILDREN && first + k * NEAR_CHILDREN < g->elements; k++) {
      uint32_t left = g->elements - (first + k * NEAR_CHILDREN);
      n->lanes->refit(&n->tree, node * NEAR_CHILDREN + k, left < NEAR_CHILDREN ? left : NEAR_CHILDREN,
                      g->deformable == NEAR_LOOSE);
    }
    n->lanes->join(&n->tree.level[NEAR_LEAVES], &n->tree.level[NEAR_NODES], node, 1);
  }
}

/* Loose particles mix, so their order is made anew. */
static void order_points(sb_collision *c, const near_group *g)
{
  const sb_model *m = c->model;
  collision_near *n = &c->near;
  near_order order = near_order_none();
  for (int pass = 0; pass < 2; pass++) {
    uint32_t i = 0;
    for (uint32_t p = m->world_particle_start[g->world]; p < m->world_particle_start[g->world + 1]; p++) {
      if (!n->is_loose[m->particle_deformable[p]]) continue;
      const float *x = c->particles.q + 3 * (size_t)p;
      if (pass == 0)
        near_order_hold(&order, x);
      else
        n->items[i++] = (key_item){near_order_key(&order, x), p, 0};
    }
  }
  key_sort(n->items, n->scratch, g->elements);
  for (uint32_t i = 0; i < g->nodes * NEAR_NODE; i++) {
    uint32_t slot = g->first_node * NEAR_NODE + i, particle = n->items[i < g->elements ? i : g->elements - 1].value;
    n->tree.element[slot] = particle;
    for (uint32_t k = 0; k < 3; k++)
      n->tree.corner[3 * (size_t)(slot / NEAR_CHILDREN * NEAR_CHILDREN) + k * NEAR_CHILDREN + slot % NEAR_CHILDREN] =
          particle;
  }
}

static void refit(sb_collision *c)
{
  collision_near *n = &c->near;
  for (uint32_t g = 0; g < n->group_count; g++)
    if (n->groups[g].deformable == NEAR_LOOSE) order_points(c, &n->groups[g]);
  collision_run(c, (c->model->particle_count + ROWS_PER_CHUNK - 1) / ROWS_PER_CHUNK, row_chunk);
  collision_run(c, (n->node_count + NODES_PER_CHUNK - 1) / NODES_PER_CHUNK, refit_chunk);
  n->lanes->join(&n->tree.level[NEAR_NODES], &n->tree.level[NEAR_BLOCKS], 0, (n->node_count + 7) / 8);
}

/* --- features --- */

typedef struct near_work {
  sb_collision *c;
  const near_group *g, *h; /* of the two pieces */
  float dt;
  near_batch batch[3]; /* by SB_NEAR_* */
} near_work;

static void keep_hit(near_work *w, uint32_t kind, const near_batch *b, uint32_t i)
{
  sb_collision *c = w->c;
  const sb_model *m = c->model;
  collision_near *n = &c->near;
  int32_t p[4];
  collision_near_particles(c, kind, b->a[i], b->b[i], p);
  bool moves = false;
  for (int k = 0; k < 4; k++) moves = moves || (p[k] >= 0 && m->particle_inv_mass[p[k]] > 0.0f);
  if (!moves) return;
  float thickness = b->thickness[i];
  int32_t other = p[kind == SB_NEAR_EDGES ? 2 : 1];
  if (m->particle_deformable[p[0]] == m->particle_deformable[other]) {
    /* what is nearer than that at rest is not pushed apart */
    V3 x[4];
    for (int k = 0; k < 4; k++) {
      const float *q = m->particle_q + 3 * (size_t)p[p[k] >= 0 ? k : 0];
      x[k] = v3(q[0], q[1], q[2]);
    }
    NearHit rest = kind == SB_NEAR_POINTS ? near_points(x[0], x[1])
                   : kind == SB_NEAR_FACE ? near_face(x[0], x[1], x[2], x[3], 0.0f)
                                          : near_edges(x[0], x[1], x[2], x[3], 0.0f, v3_zero(), v3_zero());
    if (kind == SB_NEAR_EDGES &&
        near_are_neighbours(rest.distance, v3_len(v3_sub(x[1], x[0])), v3_len(v3_sub(x[3], x[2]))))
      return;
    const NearMet full = {.thickness = thickness, .cut = b->cut[i]};
    thickness = near_thinner(thickness, rest.distance);
    if (!(b->distance[i] < near_thinner_cut(full, thickness))) return;
  }
  thickness = near_pushed(thickness, b->distance[i]);
  uint32_t at = __atomic_fetch_add(&n->hit_count, 1u, __ATOMIC_RELAXED);
  if (at < n->pairs.capacity) n->hits[at] = (near_hit){kind, b->a[i], b->b[i], w->g->world, b->side[i], thickness};
}

static void flush(void *user, near_batch *b)
{
  near_work *w = user;
  const collision_near *n = &w->c->near;
  uint32_t kind = (uint32_t)(b - w->batch);
  for (uint32_t i = b->count; i % NEAR_CHILDREN; i++)
    for (uint32_t k = 0; k < 4; k++) b->particle[k][i] = b->particle[k][b->count - 1];
  (kind == SB_NEAR_POINTS ? n->lanes->points : kind == SB_NEAR_FACE ? n->lanes->faces : n->lanes->edges)(&n->tree, b);
  for (uint32_t i = 0; i < b->count; i++)
    if (b->distance[i] < b->cut[i]) keep_hit(w, kind, b, i);
  b->count = 0;
}

/* Features a and b. */
static void add_features(near_work *w, uint32_t kind, uint32_t a, uint32_t b)
{
  near_batch *batch = &w->batch[kind];
  uint32_t i = batch->count++;
  int32_t p[4];
  collision_near_particles(w->c, kind, a, b, p);
  for (uint32_t k = 0; k < 4; k++) batch->particle[k][i] = (uint32_t)p[p[k] < 0 ? 0 : k];
  batch->a[i] = a;
  batch->b[i] = b;
  if (batch->count == NEAR_BATCH) flush(w, batch);
}

static bool has_corner(const int32_t *tri, int32_t particle)
{
  return tri[0] == particle || tri[1] == particle || tri[2] == particle;
}

static bool particles_meet(const sb_model *m, uint32_t p, uint32_t q)
{
  return collision_deformables_meet(m, (uint32_t)m->particle_deformable[p], (uint32_t)m->particle_deformable[q]);
}

/* Elements in slots s of group g and t of group h, one of which is a particle. */
static void add_elements(near_work *w, uint32_t s, uint32_t t)
{
  const sb_model *m = w->c->model;
  const collision_near *n = &w->c->near;
  bool s_loose = w->g->deformable == NEAR_LOOSE, t_loose = w->h->deformable == NEAR_LOOSE;
  uint32_t a = n->tree.element[s], b = n->tree.element[t];
  if (s_loose && t_loose) {
    if (particles_meet(m, a, b)) add_features(w, SB_NEAR_POINTS, a < b ? a : b, a < b ? b : a);
  } else {
    uint32_t particle = s_loose ? a : b, tri = s_loose ? b : a;
    if (particles_meet(m, particle, (uint32_t)m->tri_indices[3 * (size_t)tri]) &&
        !has_corner(m->tri_indices + 3 * (size_t)tri, (int32_t)particle))
      add_features(w, SB_NEAR_FACE, particle, tri);
  }
}

/* --- pieces --- */

static NearBox level_box(const float *boxes, uint32_t i)
{
  const float *p = boxes + near_box_at(i);
  NearBox b;
  b.lo = v3(p[0], p[NEAR_CHILDREN], p[2 * NEAR_CHILDREN]);
  b.hi = v3(p[3 * NEAR_CHILDREN], p[4 * NEAR_CHILDREN], p[5 * NEAR_CHILDREN]);
  return b;
}

/* Which leaves of nodes a and b, a <= b, share particles; NULL where none do. */
static const near_share *shared_leaves(const near_work *w, uint32_t a, uint32_t b)
{
  const collision_near *n = &w->c->near;
  for (uint32_t i = n->touch_start[a]; w->g == w->h && i < n->touch_start[a + 1]; i++)
    if (n->touch[i] == b) return &n->share[i];
  return NULL;
}

/* Leaves of which one holds particles. */
static void meet_loose(near_work *w, uint32_t a, uint32_t b)
{
  const collision_near *n = &w->c->near;
  const near_level *leaves = &n->tree.level[NEAR_LEAVES], *elements = &n->tree.level[NEAR_ELEMENTS];
  float room = leaves->radius[a] + leaves->radius[b];
  float speed = near_speed(level_box(leaves->box, a), level_box(leaves->box, b), level_box(leaves->speed, a),
                           level_box(leaves->speed, b), near_certain(room));
  float reach = near_reach(room, speed, w->dt);
  for (uint32_t k = 0; k < NEAR_CHILDREN; k++) {
    uint32_t s = a * NEAR_CHILDREN + k;
    if (s - w->g->first_node * NEAR_NODE >= w->g->elements) break;
    uint32_t found = n->lanes->meet_elements(elements, b * NEAR_CHILDREN, s, reach);
    if (a == b) found &= ~0u << (k + 1);
    for (; found; found &= found - 1) add_elements(w, s, b * NEAR_CHILDREN + (uint32_t)__builtin_ctz(found));
  }
}

static void meet_nodes(near_work *w, uint32_t a, uint32_t b)
{
  const collision_near *n = &w->c->near;
  const near_share *share = shared_leaves(w, a, b);
  near_leaves found[NEAR_CHILDREN * NEAR_CHILDREN];
  /* one flat piece */
  if (share && n->lanes->flat(&n->tree, a, b)) return;
  uint32_t count = n->lanes->meet_nodes(&n->tree, a, b, w->dt, share, found);
  if (w->g->deformable != NEAR_LOOSE && w->h->deformable != NEAR_LOOSE)
    n->lanes->meet_leaves(&n->tree, found, count, &w->batch[SB_NEAR_FACE], &w->batch[SB_NEAR_EDGES]);
  else
    for (uint32_t i = 0; i < count; i++) meet_loose(w, found[i].a, found[i].b);
}

/* Node a against the nodes from `first` on of group h. */
static void meet_group(near_work *w, uint32_t a, uint32_t first)
{
  const collision_near *n = &w->c->near;
  near_query q = near_query_of(&n->tree.level[NEAR_NODES], a, w->dt);
  uint32_t end = w->h->first_node + w->h->nodes, last_block = (end - 1) / NEAR_CHILDREN;
  for (uint32_t eight = first / NEAR_CHILDREN / NEAR_CHILDREN * NEAR_CHILDREN; eight <= last_block;
       eight += NEAR_CHILDREN) {
    uint32_t blocks = n->lanes->meet(&n->tree.level[NEAR_BLOCKS], eight, &q);
    for (; blocks; blocks &= blocks - 1) {
      uint32_t block = eight + (uint32_t)__builtin_ctz(blocks);
      if (block > last_block) break;
      uint32_t nodes = n->lanes->meet(&n->tree.level[NEAR_NODES], block * NEAR_CHILDREN, &q);
      for (; nodes; nodes &= nodes - 1) {
        uint32_t node = block * NEAR_CHILDREN + (uint32_t)__builtin_ctz(nodes);
        if (node >= first && node < end) meet_nodes(w, a, node);
      }
    }
  }
}

static bool groups_meet(const sb_model *m, const near_group *g, const near_group *h)
{
  if (g->deformable == NEAR_LOOSE || h->deformable == NEAR_LOOSE) return true; /* asked of each pair */
  return collision_deformables_meet(m, g->deformable, h->deformable);
}

static void find_chunk(void *ctx, uint32_t chunk)
{
  sb_collision *c = ctx;
  collision_near *n = &c->near;
  near_work w; /* large: only what is read is written */
  w.c = c;
  w.dt = c->dt;
  for (int k = 0; k < 3; k++) {
    w.batch[k].count = 0;
    w.batch[k].dt = c->dt;
    w.batch[k].full = flush;
    w.batch[k].user = &w;
  }
  uint32_t end = (chunk + 1) * NODES_PER_CHUNK < n->node_count ? (chunk + 1) * NODES_PER_CHUNK : n->node_count;
  for (uint32_t node = chunk * NODES_PER_CHUNK; node < end; node++) {
    uint32_t own = n->node_group[node];
    w.g = &n->groups[own];
    for (uint32_t h = own; h < n->world_group_start[w.g->world + 1]; h++) {
      w.h = &n->groups[h];
      if (groups_meet(c->model, w.g, w.h)) meet_group(&w, node, h == own ? node : w.h->first_node);
    }
    /* the batches do not mix groups, whose world a hit takes */
    for (uint32_t kind = 0; kind < 3; kind++)
      if (w.batch[kind].count) flush(&w, &w.batch[kind]);
  }
}

/* --- the list --- */

void collision_near_particles(const sb_collision *c, uint32_t kind, uint32_t a, uint32_t b, int32_t p[4])
{
  const collision_near *n = &c->near;
  p[2] = p[3] = -1;
  if (kind == SB_NEAR_EDGES) {
    memcpy(p, n->edge + 2 * (size_t)a, 2 * sizeof *p);
    memcpy(p + 2, n->edge + 2 * (size_t)b, 2 * sizeof *p);
    return;
  }
  p[0] = (int32_t)a;
  p[1] = (int32_t)b;
  if (kind == SB_NEAR_FACE) memcpy(p + 1, c->model->tri_indices + 3 * (size_t)b, 3 * sizeof *p);
}

/* World, kind and both features, counted in their world: no two pairs have the same. */
static uint64_t hit_key(const sb_collision *c, const near_hit *h)
{
  const collision_near *n = &c->near;
  const sb_model *m = c->model;
  uint32_t particle0 = m->world_particle_start[h->world], edge0 = n->world_edge_start[h->world];
  uint32_t a = h->a - (h->kind == SB_NEAR_EDGES ? edge0 : particle0);
  uint32_t b = h->b - (h->kind == SB_NEAR_EDGES  ? edge0
                       : h->kind == SB_NEAR_FACE ? n->world_tri_start[h->world]
                                                 : particle0);
  return (((uint64_t)h->world << 2 | h->kind) << n->bits_a | a) << n->bits_b | b;
}

static void place_chunk(void *ctx, uint32_t chunk)
{
  sb_collision *c = ctx;
  collision_near *n = &c->near;
  const sb_model *m = c->model;
  uint32_t begin = chunk * HITS_PER_CHUNK,
           end = n->pairs.count - begin < HITS_PER_CHUNK ? n->pairs.count : begin + HITS_PER_CHUNK;
  for (uint32_t i = begin; i < end; i++) {
    const near_hit *h = &n->hits[n->items[i].value];
    int32_t *p = n->of_particles + 4 * (size_t)i;
    collision_near_particles(c, h->kind, h->a, h->b, p);
    float mu = m->deformable_friction[m->particle_deformable[p[0]]],
          other = m->deformable_friction[m->particle_deformable[p[h->kind == SB_NEAR_EDGES ? 2 : 1]]];
    n->of_kind[i] = h->kind;
    n->of_side[i] = h->side;
    n->of_thickness[i] = h->thickness;
    n->of_friction[i] = mu > other ? mu : other;
  }
}

static void place_hits(sb_collision *c)
{
  collision_near *n = &c->near;
  for (uint32_t i = 0; i < n->pairs.count; i++) n->items[i] = (key_item){hit_key(c, &n->hits[i]), i, 0};
#ifndef SAMEBIT_MUTANT_UNSORTED_NEAR_PAIRS /* the planted fault: order of arrival in place of the order of keys */
  key_sort(n->items, n->scratch, n->pairs.count);
#endif
  collision_run(c, (n->pairs.count + HITS_PER_CHUNK - 1) / HITS_PER_CHUNK, place_chunk);
  uint32_t i = 0;
  for (uint32_t w = 0; w < c->model->world_count; w++) {
    n->world_start[w] = i;
    while (i < n->pairs.count && n->items[i].key >> (n->bits_a + n->bits_b + 2) == w) i++;
  }
  n->world_start[c->model->world_count] = n->pairs.count;
}

sb_status collision_near_step(sb_collision *c)
{
  collision_near *n = &c->near;
  n->pairs.count = 0;
  n->hit_count = 0;
  memset(n->world_start, 0, ((size_t)c->model->world_count + 1) * sizeof *n->world_start);
  if (!n->group_count) return SB_OK;
  refit(c);
  collision_run(c, (n->node_count + NODES_PER_CHUNK - 1) / NODES_PER_CHUNK, find_chunk);
  c->usage.near_pair_count = n->hit_count;
  if (n->hit_count > c->usage.near_pair_peak) c->usage.near_pair_peak = n->hit_count;
  bool overflow = n->hit_count > n->pairs.capacity;
  if (overflow && !c->settings.truncate) return SB_E_CAPACITY;
  n->pairs.count = overflow ? n->pairs.capacity : n->hit_count;
  place_hits(c);
  return overflow ? SB_E_CAPACITY : SB_OK;
}
