/* Boxes and pairs of features over lanes; compiled once for each lane width. Knows near_batch.h and near_pair.kernel.h.
 */
#include "near_batch.h"
#include "near_pair.kernel.h"
#include "near_rows.h"

#include <stdbool.h>

/* Three components of boxes i to i + SB_LANES - 1, from component k on. */
static inline V3 load_v3(const float *boxes, size_t i, uint32_t k)
{
  const float *p = boxes + near_box_at(i) + NEAR_CHILDREN * k;
  return v3(f_load(p), f_load(p + NEAR_CHILDREN), f_load(p + 2 * NEAR_CHILDREN));
}

static inline void store_v3(float *boxes, size_t i, uint32_t k, V3 x)
{
  float *p = boxes + near_box_at(i) + NEAR_CHILDREN * k;
  f_store(p, x.x);
  f_store(p + NEAR_CHILDREN, x.y);
  f_store(p + 2 * NEAR_CHILDREN, x.z);
}

static inline NearBox load_box(const float *boxes, size_t i)
{
  NearBox b;
  b.lo = load_v3(boxes, i, 0);
  b.hi = load_v3(boxes, i, 3);
  return b;
}

static inline void store_box(float *boxes, size_t i, NearBox b)
{
  store_v3(boxes, i, 0, b.lo);
  store_v3(boxes, i, 3, b.hi);
}

static inline V3 splat_v3(const float *boxes, size_t i, uint32_t k)
{
  const float *p = boxes + near_box_at(i) + NEAR_CHILDREN * k;
  return v3(K(p[0]), K(p[NEAR_CHILDREN]), K(p[2 * NEAR_CHILDREN]));
}

static inline NearBox splat_entry(const float *boxes, size_t i)
{
  NearBox b;
  b.lo = splat_v3(boxes, i, 0);
  b.hi = splat_v3(boxes, i, 3);
  return b;
}

static inline NearBox splat_box(const float p[6])
{
  NearBox b;
  b.lo = v3(K(p[0]), K(p[1]), K(p[2]));
  b.hi = v3(K(p[3]), K(p[4]), K(p[5]));
  return b;
}

static inline uint32_t mask_bits(M m)
{
#if SB_LANES == 1
  return (uint32_t)m;
#elif SB_LANES == 8 && defined(__AVX__)
  return (uint32_t)__builtin_ia32_movmskps256((F)m);
#elif SB_LANES == 4 && defined(__SSE2__)
  return (uint32_t)__builtin_ia32_movmskps((F)m);
#else
  uint32_t bits = 0;
  for (uint32_t l = 0; l < SB_LANES; l++) bits |= (uint32_t)(m[l] & 1) << l;
  return bits;
#endif
}

/* Which of eight entries come within reach, and, from bit 8 on, within the reach of edges. */
static inline uint32_t meet_both(const near_level *level, uint32_t first, const near_query *q)
{
  NearBox box = splat_box(q->box), speed = splat_box(q->speed);
  uint32_t bits = 0;
  for (uint32_t k = 0; k < NEAR_CHILDREN; k += SB_LANES) {
    NearBox other = load_box(level->box, first + k);
    F room = f_load(level->radius + first + k) + q->radius;
    F faster = near_speed(box, other, speed, load_box(level->speed, first + k), near_certain(room));
    bits |= mask_bits(near_boxes_meet(box, other, near_reach(room, faster, K(q->dt)))) << k;
    bits |= mask_bits(near_boxes_meet(box, other, near_edge_reach(room))) << (NEAR_CHILDREN + k);
  }
  return bits;
}

static uint32_t meet(const near_level *level, uint32_t first, const near_query *q) { return meet_both(level, first, q) & 0xffu; }

static uint32_t meet_elements(const near_level *level, uint32_t first, uint32_t slot, float reach)
{
  NearBox own = splat_entry(level->box, slot);
  uint32_t bits = 0;
  for (uint32_t k = 0; k < NEAR_CHILDREN; k += SB_LANES)
    bits |= mask_bits(near_boxes_meet(own, load_box(level->box, first + k), K(reach))) << k;
  return bits;
}

/* The smallest and the largest of eight, from lanes. */
#define NEAR_PARTS (NEAR_CHILDREN / SB_LANES)
#if SB_LANES == 1
#define ACROSS(m, least) m
#elif SB_LANES == 4
#define ACROSS(m, least)                                                                                               \
  (m = least(m, __builtin_shufflevector(m, m, 2, 3, 0, 1)), m = least(m, __builtin_shufflevector(m, m, 1, 0, 3, 2)), m[0])
#else
#define ACROSS(m, least)                                                                                               \
  (m = least(m, __builtin_shufflevector(m, m, 4, 5, 6, 7, 0, 1, 2, 3)), m = least(m, __builtin_shufflevector(m, m, 2, 3, 0, 1, 6, 7, 4, 5)), \
   m = least(m, __builtin_shufflevector(m, m, 1, 0, 3, 2, 5, 4, 7, 6)), m[0])
#endif
static inline float least_of(const F *parts)
{
  F m = parts[0];
  for (uint32_t k = 1; k < NEAR_PARTS; k++) m = f_min(m, parts[k]);
  return ACROSS(m, f_min);
}
static inline float most_of(const F *parts)
{
  F m = parts[0];
  for (uint32_t k = 1; k < NEAR_PARTS; k++) m = f_max(m, parts[k]);
  return ACROSS(m, f_max);
}

/* Box i is the one around eight. */
static inline void store_around(float *boxes, size_t i, const NearBox parts[NEAR_PARTS])
{
  float *p = boxes + near_box_at(i);
  F c[NEAR_BOX][NEAR_PARTS];
  for (uint32_t k = 0; k < NEAR_PARTS; k++) {
    c[0][k] = parts[k].lo.x, c[1][k] = parts[k].lo.y, c[2][k] = parts[k].lo.z;
    c[3][k] = parts[k].hi.x, c[4][k] = parts[k].hi.y, c[5][k] = parts[k].hi.z;
  }
  for (uint32_t k = 0; k < 3; k++) {
    p[NEAR_CHILDREN * k] = least_of(c[k]);
    p[NEAR_CHILDREN * (k + 3)] = most_of(c[k + 3]);
  }
}

static inline void store_around_entries(float *boxes, size_t i, const float *below)
{
  NearBox parts[NEAR_PARTS];
  for (uint32_t k = 0; k < NEAR_PARTS; k++) parts[k] = load_box(below, i * NEAR_CHILDREN + k * SB_LANES);
  store_around(boxes, i, parts);
}

static void join(const near_level *below, near_level *level, uint32_t first, uint32_t count)
{
  for (uint32_t i = first; i < first + count; i++) {
    F radius[NEAR_PARTS];
    store_around_entries(level->box, i, below->box);
    store_around_entries(level->speed, i, below->speed);
    store_around_entries(level->normal, i, below->normal);
    for (uint32_t k = 0; k < NEAR_PARTS; k++)
      radius[k] = f_load(below->radius + (size_t)i * NEAR_CHILDREN + k * SB_LANES);
    level->radius[i] = most_of(radius);
  }
}

/* Positions and velocities of the particles that a leaf speaks for; boxes of its edges. */
static void refit_owned(near_tree *t, uint32_t leaf)
{
  for (uint32_t i = NEAR_CHILDREN * t->vertices.start[leaf]; i < NEAR_CHILDREN * t->vertices.start[leaf + 1];
       i += SB_LANES) {
    store_v3(t->vertices.box, i, 0, near_load_rows(t->row_x, t->vertices.of + i).v);
    store_v3(t->vertices.box, i, 3, near_load_rows(t->row_v, t->vertices.of + i).v);
  }
  for (uint32_t eight = t->edges.start[leaf]; eight < t->edges.start[leaf + 1]; eight++)
    for (uint32_t k = 0; k < NEAR_CHILDREN; k += SB_LANES) {
      const uint32_t *end = t->edge_end + 2 * NEAR_CHILDREN * (size_t)eight + k;
      V3 a = near_load_rows(t->row_x, end).v, b = near_load_rows(t->row_x, end + NEAR_CHILDREN).v;
      store_box(t->edges.box, NEAR_CHILDREN * (size_t)eight + k, near_box_of(a, b, b));
    }
}

static void refit(near_tree *t, uint32_t leaf, uint32_t used, int32_t points)
{
  near_level *elements = &t->level[NEAR_ELEMENTS], *leaves = &t->level[NEAR_LEAVES];
  NearBox box[NEAR_PARTS], speed[NEAR_PARTS], normal[NEAR_PARTS];
  F radius[NEAR_PARTS];
  size_t first = (size_t)leaf * NEAR_CHILDREN;
  for (uint32_t k = 0; k < NEAR_PARTS; k++) {
    const uint32_t *corner = t->corner + 3 * first + k * SB_LANES;
    near_rows a = near_load_rows(t->row_x, corner), b = near_load_rows(t->row_x, corner + NEAR_CHILDREN),
              c = near_load_rows(t->row_x, corner + 2 * NEAR_CHILDREN);
    box[k] = near_box_of(a.v, b.v, c.v);
    store_box(elements->box, first + k * SB_LANES, box[k]);
    speed[k] = near_box_of(near_load_rows(t->row_v, corner).v, near_load_rows(t->row_v, corner + NEAR_CHILDREN).v,
                           near_load_rows(t->row_v, corner + 2 * NEAR_CHILDREN).v);
    V3 n = near_normal(a.v, b.v, c.v);
    float *own = t->normal + 3 * first + k * SB_LANES;
    f_store(own, n.x);
    f_store(own + NEAR_CHILDREN, n.y);
    f_store(own + 2 * NEAR_CHILDREN, n.z);
    normal[k] = near_box_of(n, n, n);
    /* points have no normals: never flat */
    if (points) normal[k].lo = v3(K(-1.0f), K(-1.0f), K(-1.0f)), normal[k].hi = v3(K(1.0f), K(1.0f), K(1.0f));
    radius[k] = f_max(f_max(a.w, b.w), c.w);
  }
  /* elements that are not there repeat the last one: they make no box larger, but must not be found */
  store_around(leaves->box, leaf, box);
  store_around(leaves->speed, leaf, speed);
  store_around(leaves->normal, leaf, normal);
  leaves->radius[leaf] = most_of(radius);
  for (uint32_t k = used; k < NEAR_CHILDREN; k++)
    for (uint32_t i = 0; i < NEAR_BOX; i++)
      elements->box[near_box_at(first + k) + NEAR_CHILDREN * i] = i < 3 ? 1.0e15f : -1.0e15f;
  refit_owned(t, leaf);
}

/* --- nodes and leaves --- */

/* Whether all triangles of a leaf lean the same way; middle: of all lanes. */
static inline __attribute__((always_inline)) bool leaf_leans(const near_tree *t, uint32_t leaf, V3 middle)
{
  const float *n = t->normal + 3 * NEAR_CHILDREN * (size_t)leaf;
  for (uint32_t k = 0; k < NEAR_CHILDREN; k += SB_LANES)
    if (mask_bits(near_leans(v3(f_load(n + k), f_load(n + NEAR_CHILDREN + k), f_load(n + 2 * NEAR_CHILDREN + k)), middle)) != (1u << SB_LANES) - 1) return false;
  return true;
}

/* The same of those of some leaves that are there. */
static bool leaves_lean(const near_tree *t, uint32_t first, uint32_t count, V3 middle)
{
  const float *box = t->level[NEAR_LEAVES].box;
  for (uint32_t leaf = first; leaf < first + count; leaf++) {
    size_t at = near_box_at(leaf);
    if (box[at] <= box[at + 3 * NEAR_CHILDREN] && !leaf_leans(t, leaf, middle)) return false;
  }
  return true;
}

/* Whether two runs of leaves with these boxes of normals are flat together: the boxes tell most, and what they cannot tell the normals do. */
static bool are_flat(const near_tree *t, NearBox all, uint32_t a, uint32_t b, uint32_t count)
{
  if (mask_bits(near_is_flat(all)) & 1u) return true;
  V3 middle = near_middle(all);
  return leaves_lean(t, a, count, middle) && (a == b || leaves_lean(t, b, count, middle));
}

static int32_t flat(const near_tree *t, uint32_t a, uint32_t b)
{
  const float *normal = t->level[NEAR_NODES].normal;
  return are_flat(t, near_box_join(splat_entry(normal, a), splat_entry(normal, b)), a * NEAR_CHILDREN, b * NEAR_CHILDREN, NEAR_CHILDREN);
}

/* Half a node: four leaves. */
#define NEAR_HALF (NEAR_CHILDREN / 2)

static NearBox half_normals(const float *normal, uint32_t first)
{
  NearBox all = splat_entry(normal, first);
  for (uint32_t k = 1; k < NEAR_HALF; k++) all = near_box_join(all, splat_entry(normal, first + k));
  return all;
}

/* For each leaf of node a, those leaves of node b that are in halves which share a particle with its half and are flat together with it. */
static void flat_halves(const near_tree *t, uint32_t a, uint32_t b, const near_share *share, uint8_t passed[2])
{
  const float *normal = t->level[NEAR_LEAVES].normal;
  NearBox of_b[2];
  for (uint32_t j = 0; j < 2; j++) of_b[j] = half_normals(normal, b * NEAR_CHILDREN + j * NEAR_HALF);
  for (uint32_t i = 0; i < 2; i++) {
    const uint8_t *with = share->with + i * NEAR_HALF;
    uint32_t shared = with[0] | with[1] | with[2] | with[3], first = a * NEAR_CHILDREN + i * NEAR_HALF;
    NearBox of_a = a == b ? of_b[i] : half_normals(normal, first);
    passed[i] = 0;
    for (uint32_t j = 0; j < 2; j++)
      if (shared >> (j * NEAR_HALF) & 0xfu && are_flat(t, near_box_join(of_a, of_b[j]), first, b * NEAR_CHILDREN + j * NEAR_HALF, NEAR_HALF))
        passed[i] |= (uint8_t)(0xfu << (j * NEAR_HALF));
  }
}

static bool leaves_are_flat(const near_tree *t, uint32_t a, uint32_t b)
{
  const float *normal = t->level[NEAR_LEAVES].normal;
  V3 middle = near_middle(near_box_join(splat_entry(normal, a), splat_entry(normal, b)));
  return leaf_leans(t, a, middle) && leaf_leans(t, b, middle);
}

/* Which of the eight leaves from `first` are flat together with a leaf, as far as the box of their normals tells. */
static uint32_t flat_with(const near_level *leaves, uint32_t leaf, uint32_t first)
{
  NearBox own = splat_entry(leaves->normal, leaf);
  uint32_t bits = 0;
  for (uint32_t k = 0; k < NEAR_CHILDREN; k += SB_LANES)
    bits |= mask_bits(near_is_flat(near_box_join(own, load_box(leaves->normal, first + k)))) << k;
  return bits;
}

static uint32_t meet_nodes(const near_tree *t, uint32_t a, uint32_t b, float dt, const near_share *share, near_leaves found[NEAR_CHILDREN * NEAR_CHILDREN])
{
  const near_level *leaves = &t->level[NEAR_LEAVES];
  near_query all = near_query_of(&t->level[NEAR_NODES], b, dt);
  uint32_t near_b = a == b ? 0xffu : meet(leaves, a * NEAR_CHILDREN, &all), count = 0;
  uint8_t passed[2] = {0, 0};
  if (share) flat_halves(t, a, b, share, passed);
  for (uint32_t k = 0; k < NEAR_CHILDREN; k++) {
    uint32_t leaf = a * NEAR_CHILDREN + k;
    if (!(near_b >> k & 1u)) continue;
    near_query q = near_query_of(leaves, leaf, dt);
    uint32_t both = meet_both(leaves, b * NEAR_CHILDREN, &q), bits = both & 0xffu;
    if (a == b) bits &= 0xffu << k;
    bits &= ~(uint32_t)passed[k / NEAR_HALF];
    uint32_t with = share ? share->with[k] : 0, shared = with & bits;
    if (shared) {
      uint32_t bent = shared & ~flat_with(leaves, leaf, b * NEAR_CHILDREN);
      bits &= ~shared;
      for (; bent; bent &= bent - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(bent);
        bits |= (uint32_t)!leaves_are_flat(t, leaf, b * NEAR_CHILDREN + l) << l;
      }
    }
    for (; bits; bits &= bits - 1) {
      uint32_t l = (uint32_t)__builtin_ctz(bits);
      const uint32_t *strangers = NULL;
      if (with >> l & 1u) strangers = t->strangers + share->strangers[k] + (uint32_t)__builtin_popcount(with & ((1u << l) - 1)) * t->edges.count[leaf];
      found[count++] = (near_leaves){leaf, b * NEAR_CHILDREN + l, both >> (NEAR_CHILDREN + l) & 1u, strangers};
    }
  }
  return count;
}

/* Pairs of leaves are worked off a few at a time, stage by stage, and each stage writes what it found one after the other: with a branch at each thing that
 * may be near, a processor would do little but guess wrong. */
#define NEAR_AT_ONCE 16u
#define MOST_EIGHTS 3u /* of a leaf: it has 24 corners and sides */

/* Vertices of an eight that come within their reach of leaf q. */
typedef struct near_vertices {
  uint32_t first, q, bits;
  float reach[NEAR_CHILDREN];
} near_vertices;
/* A vertex or edge by its place, and which triangles or edges of leaf q its box meets. */
typedef struct near_met {
  uint32_t place, q, bits;
} near_met;
/* Edges of two leaves that come within reach of the other leaf. */
typedef struct near_sides {
  uint32_t p, q, of_p, of_q;
  const uint32_t *strangers;
} near_sides;

/* Vertices that leaf p speaks for, against leaf q. */
static uint32_t vertices_near(const near_tree *t, uint32_t p, uint32_t q, float dt, near_vertices *out)
{
  const near_level *leaves = &t->level[NEAR_LEAVES];
  NearBox box = splat_entry(leaves->box, q), speed = splat_entry(leaves->speed, q);
  F room = K(leaves->radius[p] + leaves->radius[q]), certain = near_certain(room);
  uint32_t all = (uint32_t)(1ull << t->vertices.count[p]) - 1, eights = t->vertices.start[p + 1] - t->vertices.start[p], count = 0;
  for (uint32_t e = 0; e < eights; e++) {
    uint32_t first = NEAR_CHILDREN * (t->vertices.start[p] + e), bits = 0;
    for (uint32_t k = 0; k < NEAR_CHILDREN; k += SB_LANES) {
      NearBox x, v;
      x.lo = x.hi = load_v3(t->vertices.box, first + k, 0);
      v.lo = v.hi = load_v3(t->vertices.box, first + k, 3);
      F far = near_reach(room, near_speed(x, box, v, speed, certain), K(dt));
      f_store(out[count].reach + k, far);
      bits |= mask_bits(near_boxes_meet(x, box, far)) << k;
    }
    bits &= all >> (NEAR_CHILDREN * e) & 0xffu;
    out[count].first = first;
    out[count].q = q;
    out[count].bits = bits;
    count += bits != 0;
  }
  return count;
}

static uint32_t triangles_near(const near_tree *t, const near_vertices *v, near_met *out)
{
  uint32_t count = 0;
  for (uint32_t bits = v->bits; bits; bits &= bits - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(bits), met = 0;
    NearBox x;
    x.lo = x.hi = splat_v3(t->vertices.box, v->first + i, 0);
    for (uint32_t k = 0; k < NEAR_CHILDREN; k += SB_LANES)
      met |= mask_bits(near_boxes_meet(x, load_box(t->level[NEAR_ELEMENTS].box, NEAR_CHILDREN * (size_t)v->q + k), K(v->reach[i]))) << k;
    out[count] = (near_met){v->first + i, v->q, met};
    count += met != 0;
  }
  return count;
}

static void keep_if(near_batch *b, bool wanted)
{
  b->count += wanted;
  if (__builtin_expect(b->count == NEAR_BATCH, 0)) b->full(b->user, b);
}

static void add_faces(const near_tree *t, const near_met *m, near_batch *out)
{
  uint32_t particle = t->vertices.of[m->place];
  for (uint32_t bits = m->bits; bits; bits &= bits - 1) {
    uint32_t k = (uint32_t)__builtin_ctz(bits), at = out->count;
    const uint32_t *corner = t->corner + 3 * NEAR_CHILDREN * (size_t)m->q + k;
    uint32_t c0 = corner[0], c1 = corner[NEAR_CHILDREN], c2 = corner[2 * NEAR_CHILDREN];
    out->particle[0][at] = out->a[at] = particle;
    out->particle[1][at] = c0;
    out->particle[2][at] = c1;
    out->particle[3][at] = c2;
    out->b[at] = t->element[NEAR_CHILDREN * (size_t)m->q + k];
    keep_if(out, (c0 != particle) & (c1 != particle) & (c2 != particle));
  }
}

/* Edges of leaf p within reach of a box. */
static inline __attribute__((always_inline)) uint32_t edges_near(const near_tree *t, uint32_t p, NearBox box, F reach)
{
  uint32_t eights = t->edges.start[p + 1] - t->edges.start[p], bits = 0;
  for (uint32_t e = 0; e < eights; e++)
    for (uint32_t k = 0; k < NEAR_CHILDREN; k += SB_LANES)
      bits |= mask_bits(near_boxes_meet(box, load_box(t->edges.box, NEAR_CHILDREN * (size_t)(t->edges.start[p] + e) + k), reach)) << (NEAR_CHILDREN * e + k);
  return bits & ((uint32_t)(1ull << t->edges.count[p]) - 1);
}

static inline F edge_reach(const near_tree *t, uint32_t p, uint32_t q)
{
  return near_edge_reach(K(t->level[NEAR_LEAVES].radius[p] + t->level[NEAR_LEAVES].radius[q]));
}

static uint32_t sides_near(const near_tree *t, const near_leaves *pair, near_sides *out)
{
  uint32_t p = pair->a, q = pair->b;
  const float *box = t->level[NEAR_LEAVES].box;
  F reach = edge_reach(t, p, q);
  *out = (near_sides){p, q, edges_near(t, p, splat_entry(box, q), reach), edges_near(t, q, splat_entry(box, p), reach), pair->strangers};
  return (out->of_p != 0) & (out->of_q != 0);
}

static uint32_t edges_met(const near_tree *t, const near_sides *s, near_met *out)
{
  uint32_t count = 0;
  F reach = edge_reach(t, s->p, s->q);
  for (uint32_t bits = s->of_p; bits; bits &= bits - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(bits), place = NEAR_CHILDREN * t->edges.start[s->p] + i;
    uint32_t met = edges_near(t, s->q, splat_entry(t->edges.box, place), reach) & s->of_q;
    if (s->strangers) met &= s->strangers[i];
    if (s->p == s->q) met &= ~1u << i;
    out[count] = (near_met){place, s->q, met};
    count += met != 0;
  }
  return count;
}

static void add_edges(const near_tree *t, const near_met *m, near_batch *out)
{
  const uint32_t *end = t->edge_end + 2 * NEAR_CHILDREN * (size_t)(m->place / NEAR_CHILDREN) + m->place % NEAR_CHILDREN;
  uint32_t edge = t->edges.of[m->place], a0 = end[0], a1 = end[NEAR_CHILDREN], q0 = NEAR_CHILDREN * t->edges.start[m->q];
  for (uint32_t bits = m->bits; bits; bits &= bits - 1) {
    uint32_t place = q0 + (uint32_t)__builtin_ctz(bits), other = t->edges.of[place], at = out->count;
    const uint32_t *ends = t->edge_end + 2 * NEAR_CHILDREN * (size_t)(place / NEAR_CHILDREN) + place % NEAR_CHILDREN;
    uint32_t b0 = ends[0], b1 = ends[NEAR_CHILDREN], swap = other < edge ? 2 : 0;
    out->particle[swap][at] = a0;
    out->particle[swap + 1][at] = a1;
    out->particle[2 - swap][at] = b0;
    out->particle[3 - swap][at] = b1;
    out->a[at] = swap ? other : edge;
    out->b[at] = swap ? edge : other;
    keep_if(out, true);
  }
}

static void meet_some(const near_tree *t, const near_leaves *pairs, uint32_t pair_count, near_batch *faces, near_batch *edges)
{
  near_vertices vertices[2 * NEAR_AT_ONCE * MOST_EIGHTS];
  near_sides sides[NEAR_AT_ONCE];
  near_met met[2 * NEAR_AT_ONCE * MOST_EIGHTS * NEAR_CHILDREN];
  uint32_t found = 0, count = 0;
  for (uint32_t i = 0; i < pair_count; i++) {
    found += vertices_near(t, pairs[i].a, pairs[i].b, faces->dt, vertices + found);
    if (pairs[i].a != pairs[i].b) found += vertices_near(t, pairs[i].b, pairs[i].a, faces->dt, vertices + found);
  }
  for (uint32_t i = 0; i < found; i++) count += triangles_near(t, &vertices[i], met + count);
  for (uint32_t i = 0; i < count; i++) add_faces(t, &met[i], faces);
  found = count = 0;
  for (uint32_t i = 0; i < pair_count; i++)
    if (pairs[i].close) found += sides_near(t, &pairs[i], sides + found);
  for (uint32_t i = 0; i < found; i++) count += edges_met(t, &sides[i], met + count);
  for (uint32_t i = 0; i < count; i++) add_edges(t, &met[i], edges);
}

static void meet_leaves(const near_tree *t, const near_leaves *pairs, uint32_t count, near_batch *faces, near_batch *edges)
{
  for (uint32_t i = 0; i < count; i += NEAR_AT_ONCE) meet_some(t, pairs + i, count - i < NEAR_AT_ONCE ? count - i : NEAR_AT_ONCE, faces, edges);
}

/* --- batches --- */

static inline void store_met(near_batch *b, uint32_t i, NearMet m)
{
  f_store(&b->thickness[i], m.thickness);
  f_store(&b->distance[i], m.hit.distance);
  f_store(&b->side[i], m.hit.side);
  f_store(&b->cut[i], m.cut);
}

static inline near_rows batch_x(const near_tree *t, const near_batch *b, uint32_t p, uint32_t i)
{
  return near_load_rows(t->row_x, &b->particle[p][i]);
}
static inline V3 batch_v(const near_tree *t, const near_batch *b, uint32_t p, uint32_t i)
{
  return near_load_rows(t->row_v, &b->particle[p][i]).v;
}
static inline NearMotion batch_motion(const near_tree *t, const near_batch *b, uint32_t i)
{
  NearMotion m;
  m.a = batch_v(t, b, 0, i), m.b = batch_v(t, b, 1, i), m.c = batch_v(t, b, 2, i), m.d = batch_v(t, b, 3, i);
  return m;
}

static void find_points(const near_tree *t, near_batch *b)
{
  for (uint32_t i = 0; i < b->count; i += SB_LANES) {
    near_rows x = batch_x(t, b, 0, i), y = batch_x(t, b, 1, i);
    store_met(b, i, near_meet_points(x.v, y.v, batch_v(t, b, 0, i), batch_v(t, b, 1, i), x.w + y.w, K(b->dt)));
  }
}

static void find_faces(const near_tree *t, near_batch *b)
{
  for (uint32_t i = 0; i < b->count; i += SB_LANES) {
    near_rows x = batch_x(t, b, 0, i), p = batch_x(t, b, 1, i), q = batch_x(t, b, 2, i), r = batch_x(t, b, 3, i);
    NearRadii radii;
    radii.a = x.w, radii.b = p.w, radii.c = q.w, radii.d = r.w;
    store_met(b, i, near_meet_face(x.v, p.v, q.v, r.v, batch_motion(t, b, i), radii, K(b->dt)));
  }
}

static void find_edges(const near_tree *t, near_batch *b)
{
  for (uint32_t i = 0; i < b->count; i += SB_LANES) {
    near_rows p = batch_x(t, b, 0, i), q = batch_x(t, b, 1, i), r = batch_x(t, b, 2, i), s = batch_x(t, b, 3, i);
    NearRadii radii;
    radii.a = p.w, radii.b = q.w, radii.c = r.w, radii.d = s.w;
    store_met(b, i, near_meet_edges(p.v, q.v, r.v, s.v, batch_motion(t, b, i), radii, K(b->dt)));
  }
}

#if SB_LANES == 8
#define NEAR_TABLE collision_near_lanes8
#elif SB_LANES == 4
#define NEAR_TABLE collision_near_lanes4
#else
#define NEAR_TABLE collision_near_lanes1
#endif
const near_lanes NEAR_TABLE = {meet,  meet_elements, flat, meet_nodes, meet_leaves, join,
                               refit, find_points,   find_faces, find_edges};
