/* Near pairs of a step: boxes refitted, pieces of surface that come near each other, then triangle by triangle and feature by feature; what is
 * found is sorted by unique keys. Knows collision_state.h.
 *
 * A pair is made when the two features are nearer than NEAR_ROOM thicknesses plus the way by which any two of their vertices close along the
 * line between the nearest points in the step. Pieces of one deformable that share a particle and are flat together (near_is_flat) are passed over: they cannot have folded
 * onto each other. Which pieces there are follows from the deformable alone. */
#include "collision_state.h"

#include "near_order.h"
#include "near_pair.kernel.h"

#include <string.h>

#define NODES_PER_CHUNK 1u
#define HITS_PER_CHUNK 1024u

/* --- boxes --- */

static void gather_corner(const collision_particles *p, uint32_t particle, uint32_t corner, uint32_t k, float (*x)[NEAR_CHILDREN],
                          float (*v)[NEAR_CHILDREN])
{
  for (uint32_t a = 0; a < 3; a++) {
    x[3 * corner + a][k] = p->q[3 * (size_t)particle + a];
    v[3 * corner + a][k] = p->qd[3 * (size_t)particle + a];
  }
}

static uint32_t corner_particle(const sb_model *m, const near_group *g, uint32_t element, uint32_t corner)
{
  return g->deformable == COLLISION_NONE ? element : (uint32_t)m->tri_indices[3 * (size_t)element + corner];
}

static void refit_leaf(sb_collision *c, const near_group *g, uint32_t leaf, uint32_t used)
{
  collision_near *n = &c->near;
  float x[9][NEAR_CHILDREN], v[9][NEAR_CHILDREN], radius[NEAR_CHILDREN];
  for (uint32_t k = 0; k < NEAR_CHILDREN; k++) {
    uint32_t element = n->element[leaf * NEAR_CHILDREN + (k < used ? k : used - 1)];
    radius[k] = 0.0f;
    for (uint32_t corner = 0; corner < 3; corner++) {
      uint32_t particle = corner_particle(c->model, g, element, corner);
      gather_corner(&c->particles, particle, corner, k, x, v);
      float r = c->model->particle_radius[particle];
      if (r > radius[k]) radius[k] = r;
    }
  }
  n->lanes->refit(&n->level[NEAR_ELEMENTS], &n->level[NEAR_LEAVES], leaf, (const float(*)[NEAR_CHILDREN])x,
                  (const float(*)[NEAR_CHILDREN])v, radius, used, g->deformable == COLLISION_NONE);
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
      refit_leaf(c, g, node * NEAR_CHILDREN + k, left < NEAR_CHILDREN ? left : NEAR_CHILDREN);
    }
    n->lanes->join(&n->level[NEAR_LEAVES], &n->level[NEAR_NODES], node, 1);
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
  for (uint32_t i = 0; i < g->elements; i++) n->element[g->first_node * NEAR_NODE + i] = n->items[i].value;
}

static void refit(sb_collision *c)
{
  collision_near *n = &c->near;
  for (uint32_t g = 0; g < n->group_count; g++)
    if (n->groups[g].deformable == COLLISION_NONE) order_points(c, &n->groups[g]);
  collision_run(c, (n->node_count + NODES_PER_CHUNK - 1) / NODES_PER_CHUNK, refit_chunk);
  n->lanes->join(&n->level[NEAR_NODES], &n->level[NEAR_BLOCKS], 0, (n->node_count + 7) / 8);
}

/* --- features --- */

typedef struct near_work {
  sb_collision *c;
  const near_group *g, *h; /* of the two pieces */
  float dt, reach;     /* reach: of the two leaves */
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
    NearHit rest = kind == SB_NEAR_POINTS ? near_points(x[0], x[1]) : kind == SB_NEAR_FACE ? near_face(x[0], x[1], x[2], x[3], 0.0f) : near_edges(x[0], x[1], x[2], x[3], 0.0f, v3_zero(), v3_zero());
    float way = b->cut[i] - NEAR_ROOM * thickness;
    if (kind == SB_NEAR_EDGES && near_are_neighbours(rest.distance, v3_len(v3_sub(x[1], x[0])), v3_len(v3_sub(x[3], x[2])))) return;
    if (rest.distance < thickness) {
      thickness = rest.distance;
      if (!(b->distance[i] < thickness * NEAR_ROOM + way)) return;
    }
  }
  /* what has come too near is pushed apart gently: at once, it would fly off */
  thickness = f_min(thickness, b->distance[i] + NEAR_PUSH * thickness);
  uint32_t at = __atomic_fetch_add(&n->hit_count, 1u, __ATOMIC_RELAXED);
  if (at < n->pairs.capacity) n->hits[at] = (near_hit){kind, b->a[i], b->b[i], w->g->world, b->side[i], thickness};
}

static void flush(near_work *w, uint32_t kind)
{
  near_batch *b = &w->batch[kind];
  const near_lanes *lanes = w->c->near.lanes;
  (kind == SB_NEAR_POINTS ? lanes->points : kind == SB_NEAR_FACE ? lanes->faces : lanes->edges)(b);
  for (uint32_t i = 0; i < b->count; i++)
    if (b->distance[i] < b->cut[i]) keep_hit(w, kind, b, i);
  b->count = 0;
}

/* Features a and b, of `first` particles of the one and the rest of the other. */
static void add_features(near_work *w, uint32_t kind, uint32_t a, uint32_t b, uint32_t first)
{
  const sb_collision *c = w->c;
  near_batch *batch = &w->batch[kind];
  uint32_t i = batch->count++;
  int32_t p[4];
  collision_near_particles(c, kind, a, b, p);
  float thick[2] = {0.0f, 0.0f};
  for (uint32_t k = 0; k < 4 && p[k] >= 0; k++) {
    for (uint32_t axis = 0; axis < 3; axis++) {
      batch->x[3 * k + axis][i] = c->particles.q[3 * (size_t)p[k] + axis];
      batch->v[3 * k + axis][i] = c->particles.qd[3 * (size_t)p[k] + axis];
    }
    float r = c->model->particle_radius[p[k]], *most = &thick[k >= first];
    if (r > *most) *most = r;
  }
  batch->thickness[i] = thick[0] + thick[1];
  batch->a[i] = a;
  batch->b[i] = b;
  if (batch->count == NEAR_BATCH) flush(w, kind);
}

static bool has_corner(const int32_t *tri, int32_t particle) { return tri[0] == particle || tri[1] == particle || tri[2] == particle; }

/* Whether the point is out of reach of the box of element t. */
static bool point_is_far(const near_work *w, int32_t particle, uint32_t t)
{
  const near_level *elements = &w->c->near.level[NEAR_ELEMENTS];
  const float *x = w->c->particles.q + 3 * (size_t)particle;
  for (int k = 0; k < 3; k++)
    if (near_gap(x[k], x[k], elements->box[k][t], elements->box[k + 3][t]) > w->reach) return true;
  return false;
}

/* The same for the boxes around two edges. */
static bool edges_are_far(const near_work *w, const int32_t e[2], const int32_t f[2])
{
  const float *q = w->c->particles.q;
  for (int k = 0; k < 3; k++) {
    float a = q[3 * (size_t)e[0] + k], b = q[3 * (size_t)e[1] + k], c = q[3 * (size_t)f[0] + k], d = q[3 * (size_t)f[1] + k];
    if (near_gap(f_min(a, b), f_max(a, b), f_min(c, d), f_max(c, d)) > w->reach) return true;
  }
  return false;
}

/* The corners that triangle s speaks for, against triangle t. */
static void add_faces(near_work *w, uint32_t s, uint32_t t)
{
  const collision_near *n = &w->c->near;
  const int32_t *from = w->c->model->tri_indices + 3 * (size_t)n->element[s], *to = w->c->model->tri_indices + 3 * (size_t)n->element[t];
  for (uint32_t k = 0; k < 3; k++)
    if ((n->owns[s] >> k & 1u) && !has_corner(to, from[k]) && !point_is_far(w, from[k], t)) add_features(w, SB_NEAR_FACE, (uint32_t)from[k], n->element[t], 1);
}

static void add_edges(near_work *w, uint32_t s, uint32_t t)
{
  const collision_near *n = &w->c->near;
  for (uint32_t k = 0; k < 3; k++)
    for (uint32_t l = 0; l < 3; l++) {
      if (!(n->owns[s] >> (3 + k) & n->owns[t] >> (3 + l) & 1u)) continue;
      uint32_t a = n->element_edge[3 * (size_t)s + k], b = n->element_edge[3 * (size_t)t + l];
      const int32_t *e = n->edge + 2 * (size_t)a, *f = n->edge + 2 * (size_t)b;
      if (e[0] == f[0] || e[0] == f[1] || e[1] == f[0] || e[1] == f[1] || edges_are_far(w, e, f)) continue;
      add_features(w, SB_NEAR_EDGES, a < b ? a : b, a < b ? b : a, 2);
    }
}

static bool particles_meet(const sb_model *m, uint32_t p, uint32_t q)
{
  return collision_deformables_meet(m, (uint32_t)m->particle_deformable[p], (uint32_t)m->particle_deformable[q]);
}

/* Elements in slots s of group g and t of group h. */
static void add_elements(near_work *w, uint32_t s, uint32_t t)
{
  const sb_model *m = w->c->model;
  const collision_near *n = &w->c->near;
  bool s_loose = w->g->deformable == COLLISION_NONE, t_loose = w->h->deformable == COLLISION_NONE;
  uint32_t a = n->element[s], b = n->element[t];
  if (s_loose && t_loose) {
    if (particles_meet(m, a, b)) add_features(w, SB_NEAR_POINTS, a < b ? a : b, a < b ? b : a, 1);
  } else if (s_loose || t_loose) {
    uint32_t particle = s_loose ? a : b, tri = s_loose ? b : a;
    if (particles_meet(m, particle, (uint32_t)m->tri_indices[3 * (size_t)tri]) && !has_corner(m->tri_indices + 3 * (size_t)tri, (int32_t)particle))
      add_features(w, SB_NEAR_FACE, particle, tri, 1);
  } else {
    add_faces(w, s, t);
    add_faces(w, t, s);
    add_edges(w, s, t);
  }
}

/* --- pieces --- */

static near_query query_of(const near_level *level, uint32_t i, float dt)
{
  near_query q;
  for (int k = 0; k < 6; k++) {
    q.box[k] = level->box[k][i];
    q.speed[k] = level->speed[k][i];
  }
  q.radius = level->radius[i];
  q.dt = dt;
  return q;
}

static NearBox level_box(float *const p[6], uint32_t i)
{
  NearBox b;
  b.lo = v3(p[0][i], p[1][i], p[2][i]);
  b.hi = v3(p[3][i], p[4][i], p[5][i]);
  return b;
}

static bool share_particle(const collision_near *n, int level, uint32_t a, uint32_t b)
{
  if (a == b) return true;
  const uint32_t *list = n->touch[level];
  for (uint32_t i = n->touch_start[level][a]; i < n->touch_start[level][a + 1]; i++)
    if (list[i] == b) return true;
  return false;
}

/* Whether two pieces of one group need no look, because they are one flat piece. */
static bool passed_over(const near_work *w, int level, uint32_t a, uint32_t b)
{
  const collision_near *n = &w->c->near;
  if (w->g != w->h || w->g->deformable == COLLISION_NONE) return false;
  NearBox normals = near_box_join(level_box(n->level[level].normal, a), level_box(n->level[level].normal, b));
  return near_is_flat(normals) && share_particle(n, level, a, b);
}

static void meet_leaves(near_work *w, uint32_t a, uint32_t b)
{
  const collision_near *n = &w->c->near;
  const near_level *leaves = &n->level[NEAR_LEAVES], *elements = &n->level[NEAR_ELEMENTS];
  float speed = near_speed(level_box(leaves->speed, a), level_box(leaves->speed, b));
  float reach = w->reach = near_reach(leaves->radius[a] + leaves->radius[b], speed, w->dt);
  for (uint32_t k = 0; k < NEAR_CHILDREN; k++) {
    uint32_t s = a * NEAR_CHILDREN + k;
    if (s - w->g->first_node * NEAR_NODE >= w->g->elements) break;
    float box[6];
    for (int i = 0; i < 6; i++) box[i] = elements->box[i][s];
    uint32_t found = n->lanes->meet_elements(elements, b * NEAR_CHILDREN, box, reach);
    if (a == b) found &= ~0u << (k + 1);
    for (; found; found &= found - 1) add_elements(w, s, b * NEAR_CHILDREN + (uint32_t)__builtin_ctz(found));
  }
}

static void meet_nodes(near_work *w, uint32_t a, uint32_t b)
{
  const collision_near *n = &w->c->near;
  if (passed_over(w, NEAR_NODES, a, b)) return;
  for (uint32_t k = 0; k < NEAR_CHILDREN; k++) {
    uint32_t leaf = a * NEAR_CHILDREN + k;
    if ((leaf - w->g->first_node * NEAR_CHILDREN) * NEAR_CHILDREN >= w->g->elements) break;
    near_query q = query_of(&n->level[NEAR_LEAVES], leaf, w->dt);
    uint32_t found = n->lanes->meet(&n->level[NEAR_LEAVES], b * NEAR_CHILDREN, &q);
    if (a == b) found &= ~0u << k;
    for (; found; found &= found - 1) {
      uint32_t other = b * NEAR_CHILDREN + (uint32_t)__builtin_ctz(found);
      if (!passed_over(w, NEAR_LEAVES, leaf, other)) meet_leaves(w, leaf, other);
    }
  }
}

/* Node a against the nodes from `first` on of group h. */
static void meet_group(near_work *w, uint32_t a, uint32_t first)
{
  const collision_near *n = &w->c->near;
  near_query q = query_of(&n->level[NEAR_NODES], a, w->dt);
  uint32_t end = w->h->first_node + w->h->nodes, last_block = (end - 1) / NEAR_CHILDREN;
  for (uint32_t eight = first / NEAR_CHILDREN / NEAR_CHILDREN * NEAR_CHILDREN; eight <= last_block; eight += NEAR_CHILDREN) {
    uint32_t blocks = n->lanes->meet(&n->level[NEAR_BLOCKS], eight, &q);
    for (; blocks; blocks &= blocks - 1) {
      uint32_t block = eight + (uint32_t)__builtin_ctz(blocks);
      if (block > last_block) break;
      uint32_t nodes = n->lanes->meet(&n->level[NEAR_NODES], block * NEAR_CHILDREN, &q);
      for (; nodes; nodes &= nodes - 1) {
        uint32_t node = block * NEAR_CHILDREN + (uint32_t)__builtin_ctz(nodes);
        if (node >= first && node < end) meet_nodes(w, a, node);
      }
    }
  }
}

static bool groups_meet(const sb_model *m, const near_group *g, const near_group *h)
{
  if (g->deformable == COLLISION_NONE || h->deformable == COLLISION_NONE) return true; /* asked of each pair */
  return collision_deformables_meet(m, g->deformable, h->deformable);
}

static void find_chunk(void *ctx, uint32_t chunk)
{
  sb_collision *c = ctx;
  collision_near *n = &c->near;
  near_work w = {.c = c, .dt = c->dt};
  for (int k = 0; k < 3; k++) w.batch[k].dt = c->dt;
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
      if (w.batch[kind].count) flush(&w, kind);
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
  uint32_t b = h->b - (h->kind == SB_NEAR_EDGES ? edge0 : h->kind == SB_NEAR_FACE ? n->world_tri_start[h->world] : particle0);
  return (((uint64_t)h->world << 2 | h->kind) << n->bits_a | a) << n->bits_b | b;
}

static void place_chunk(void *ctx, uint32_t chunk)
{
  sb_collision *c = ctx;
  collision_near *n = &c->near;
  const sb_model *m = c->model;
  uint32_t begin = chunk * HITS_PER_CHUNK, end = n->pairs.count - begin < HITS_PER_CHUNK ? n->pairs.count : begin + HITS_PER_CHUNK;
  for (uint32_t i = begin; i < end; i++) {
    const near_hit *h = &n->hits[n->items[i].value];
    int32_t *p = n->of_particles + 4 * (size_t)i;
    collision_near_particles(c, h->kind, h->a, h->b, p);
    float mu = m->deformable_friction[m->particle_deformable[p[0]]], other = m->deformable_friction[m->particle_deformable[p[h->kind == SB_NEAR_EDGES ? 2 : 1]]];
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
