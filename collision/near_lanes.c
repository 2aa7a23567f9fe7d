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

static uint32_t meet(const near_level *level, uint32_t first, const near_query *q)
{
  NearBox box = splat_box(q->box), speed = splat_box(q->speed);
  uint32_t bits = 0;
  for (uint32_t k = 0; k < NEAR_CHILDREN; k += SB_LANES) {
    NearBox other = load_box(level->box, first + k);
    F room = f_load(level->radius + first + k) + q->radius,
      speed_of = near_speed(box, other, speed, load_box(level->speed, first + k), near_certain(room));
    bits |= mask_bits(near_boxes_meet(box, other, near_reach(room, speed_of, K(q->dt)))) << k;
  }
  return bits;
}

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
    V3 n = v3_normalize_or(v3_cross(v3_sub(b.v, a.v), v3_sub(c.v, a.v)), v3(K(0.0f), K(0.0f), K(1.0f)));
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

/* --- two nodes, two leaves --- */

static near_query query_of(const near_level *level, uint32_t i, float dt)
{
  near_query q;
  for (uint32_t k = 0; k < NEAR_BOX; k++) {
    q.box[k] = level->box[near_box_at(i) + NEAR_CHILDREN * k];
    q.speed[k] = level->speed[near_box_at(i) + NEAR_CHILDREN * k];
  }
  q.radius = level->radius[i];
  q.dt = dt;
  return q;
}

/* Which of the eight leaves from `first` are flat together with a leaf. */
static uint32_t flat_with(const near_level *leaves, uint32_t leaf, uint32_t first)
{
  NearBox own = splat_entry(leaves->normal, leaf);
  uint32_t bits = 0;
  for (uint32_t k = 0; k < NEAR_CHILDREN; k += SB_LANES)
    bits |= mask_bits(near_is_flat(near_box_join(own, load_box(leaves->normal, first + k)))) << k;
  return bits;
}

static void meet_nodes(const near_tree *t, uint32_t a, uint32_t b, float dt, const uint8_t *share,
                       uint8_t found[NEAR_CHILDREN])
{
  const near_level *leaves = &t->level[NEAR_LEAVES];
  near_query all = query_of(&t->level[NEAR_NODES], b, dt);
  uint32_t near_b = a == b ? 0xffu : meet(leaves, a * NEAR_CHILDREN, &all);
  for (uint32_t k = 0; k < NEAR_CHILDREN; k++) {
    uint32_t leaf = a * NEAR_CHILDREN + k;
    found[k] = 0;
    if (!(near_b >> k & 1u)) continue;
    near_query q = query_of(leaves, leaf, dt);
    uint32_t bits = meet(leaves, b * NEAR_CHILDREN, &q);
    if (a == b) bits &= 0xffu << k;
    uint32_t shared = share ? share[k] & bits : 0;
    if (shared) bits &= ~(shared & flat_with(leaves, leaf, b * NEAR_CHILDREN));
    found[k] = (uint8_t)bits;
  }
}

/* Vertices that leaf p speaks for, against the triangles of leaf q. */
static void meet_faces(const near_tree *t, uint32_t p, uint32_t q, float room, near_batch *out)
{
  const near_level *leaves = &t->level[NEAR_LEAVES], *elements = &t->level[NEAR_ELEMENTS];
  NearBox box = splat_entry(leaves->box, q), speed = splat_entry(leaves->speed, q);
  uint32_t left = t->vertices.count[p];
  for (uint32_t first = NEAR_CHILDREN * t->vertices.start[p]; left; first += NEAR_CHILDREN) {
    uint32_t used = left < NEAR_CHILDREN ? left : NEAR_CHILDREN, bits = 0;
    float reach[NEAR_CHILDREN];
    for (uint32_t k = 0; k < NEAR_CHILDREN; k += SB_LANES) {
      NearBox x, v;
      x.lo = x.hi = load_v3(t->vertices.box, first + k, 0);
      v.lo = v.hi = load_v3(t->vertices.box, first + k, 3);
      F far = near_reach(K(room), near_speed(x, box, v, speed, near_certain(K(room))), K(out->dt));
      f_store(reach + k, far);
      bits |= mask_bits(near_boxes_meet(x, box, far)) << k;
    }
    for (bits &= 0xffu >> (NEAR_CHILDREN - used); bits; bits &= bits - 1) {
      uint32_t i = (uint32_t)__builtin_ctz(bits), particle = t->vertices.of[first + i], met = 0;
      NearBox x;
      x.lo = x.hi = splat_v3(t->vertices.box, first + i, 0);
      for (uint32_t k = 0; k < NEAR_CHILDREN; k += SB_LANES)
        met |= mask_bits(near_boxes_meet(x, load_box(elements->box, NEAR_CHILDREN * (size_t)q + k), K(reach[i]))) << k;
      for (; met; met &= met - 1) {
        uint32_t slot = NEAR_CHILDREN * q + (uint32_t)__builtin_ctz(met), at = out->count;
        const uint32_t *corner = t->corner + 2 * NEAR_CHILDREN * (size_t)q + slot;
        uint32_t c0 = corner[0], c1 = corner[NEAR_CHILDREN], c2 = corner[2 * NEAR_CHILDREN];
        out->particle[0][at] = particle, out->particle[1][at] = c0, out->particle[2][at] = c1,
        out->particle[3][at] = c2;
        out->a[at] = particle;
        out->b[at] = t->element[slot];
        out->count = at + (c0 != particle && c1 != particle && c2 != particle);
      }
    }
    left -= used;
  }
}

/* Which edges of leaf p, by eights, come within reach of a box. */
static uint32_t edges_near(const near_tree *t, uint32_t p, NearBox box, F reach, uint32_t near_box[3])
{
  uint32_t left = t->edges.count[p], any = 0;
  size_t first = NEAR_CHILDREN * (size_t)t->edges.start[p];
  for (uint32_t e = 0; left; e++, first += NEAR_CHILDREN) {
    uint32_t used = left < NEAR_CHILDREN ? left : NEAR_CHILDREN, bits = 0;
    for (uint32_t k = 0; k < NEAR_CHILDREN; k += SB_LANES)
      bits |= mask_bits(near_boxes_meet(box, load_box(t->edges.box, first + k), reach)) << k;
    near_box[e] = bits & 0xffu >> (NEAR_CHILDREN - used);
    any |= near_box[e];
    left -= used;
  }
  return any;
}

static void meet_edges(const near_tree *t, uint32_t p, uint32_t q, float room, near_batch *out)
{
  const near_level *leaves = &t->level[NEAR_LEAVES];
  F reach = near_reach(K(room), K(0.0f), K(0.0f));
  NearBox box_p = splat_entry(leaves->box, p), box_q = splat_entry(leaves->box, q);
  uint32_t of_p[3], of_q[3], p0 = NEAR_CHILDREN * t->edges.start[p], q0 = NEAR_CHILDREN * t->edges.start[q];
  if (!m_any(near_boxes_meet(box_p, box_q, reach)) || !edges_near(t, p, box_q, reach, of_p) ||
      !edges_near(t, q, box_p, reach, of_q))
    return;
  for (uint32_t e = 0; NEAR_CHILDREN * e < t->edges.count[p]; e++)
    for (; of_p[e]; of_p[e] &= of_p[e] - 1) {
      uint32_t a = p0 + NEAR_CHILDREN * e + (uint32_t)__builtin_ctz(of_p[e]), edge = t->edges.of[a];
      NearBox box = splat_entry(t->edges.box, a);
      const uint32_t *ends = t->edge_end + 2 * NEAR_CHILDREN * (size_t)(a / NEAR_CHILDREN) + a % NEAR_CHILDREN;
      uint32_t a0 = ends[0], a1 = ends[NEAR_CHILDREN];
      for (uint32_t f = 0; NEAR_CHILDREN * f < t->edges.count[q]; f++) {
        uint32_t first = q0 + NEAR_CHILDREN * f, met = 0;
        if (!of_q[f]) continue;
        for (uint32_t k = 0; k < NEAR_CHILDREN; k += SB_LANES)
          met |= mask_bits(near_boxes_meet(box, load_box(t->edges.box, first + k), reach)) << k;
        for (met &= of_q[f]; met; met &= met - 1) {
          uint32_t k = (uint32_t)__builtin_ctz(met), other = t->edges.of[first + k], at = out->count;
          const uint32_t *end = t->edge_end + 2 * (size_t)first + k;
          uint32_t b0 = end[0], b1 = end[NEAR_CHILDREN], swap = other < edge;
          out->particle[swap ? 2 : 0][at] = a0, out->particle[swap ? 3 : 1][at] = a1,
                                   out->particle[swap ? 0 : 2][at] = b0, out->particle[swap ? 1 : 3][at] = b1;
          out->a[at] = swap ? other : edge;
          out->b[at] = swap ? edge : other;
          out->count = at + (a0 != b0 && a0 != b1 && a1 != b0 && a1 != b1 && (p != q || first + k > a));
        }
      }
    }
}

static void meet_leaves(const near_tree *t, uint32_t a, uint32_t b, near_batch *faces, near_batch *edges)
{
  float room = t->level[NEAR_LEAVES].radius[a] + t->level[NEAR_LEAVES].radius[b];
  meet_faces(t, a, b, room, faces);
  if (a != b) meet_faces(t, b, a, room, faces);
  meet_edges(t, a, b, room, edges);
}

/* --- batches --- */

static inline void store_hit(near_batch *b, uint32_t i, NearHit h, F thickness, F speed)
{
  F cut = near_cut(thickness, speed, K(b->dt));
  f_store(&b->thickness[i], thickness);
  f_store(&b->distance[i], h.distance);
  f_store(&b->side[i], h.side);
  f_store(&b->cut[i], f_sel(h.counts, cut, K(-1.0f)));
}

static inline near_rows batch_x(const near_tree *t, const near_batch *b, uint32_t p, uint32_t i)
{
  return near_load_rows(t->row_x, &b->particle[p][i]);
}
static inline V3 batch_v(const near_tree *t, const near_batch *b, uint32_t p, uint32_t i)
{
  return near_load_rows(t->row_v, &b->particle[p][i]).v;
}

static void find_points(const near_tree *t, near_batch *b)
{
  for (uint32_t i = 0; i < b->count; i += SB_LANES) {
    near_rows x = batch_x(t, b, 0, i), y = batch_x(t, b, 1, i);
    NearHit h = near_points(x.v, y.v);
    store_hit(b, i, h, x.w + y.w, near_closing(K(0.0f), batch_v(t, b, 0, i), batch_v(t, b, 1, i), h.n));
  }
}

static void find_faces(const near_tree *t, near_batch *b)
{
  for (uint32_t i = 0; i < b->count; i += SB_LANES) {
    near_rows x = batch_x(t, b, 0, i), p = batch_x(t, b, 1, i), q = batch_x(t, b, 2, i), r = batch_x(t, b, 3, i);
    V3 v = batch_v(t, b, 0, i), v1 = batch_v(t, b, 1, i), v2 = batch_v(t, b, 2, i), v3_ = batch_v(t, b, 3, i);
    F speed = near_faster(near_faster(near_faster(K(0.0f), v, v1), v, v2), v, v3_);
    NearHit h = near_face(x.v, p.v, q.v, r.v, speed * K(b->dt));
    store_hit(b, i, h, x.w + f_max(f_max(p.w, q.w), r.w),
              near_closing(near_closing(near_closing(K(0.0f), v, v1, h.n), v, v2, h.n), v, v3_, h.n));
  }
}

static void find_edges(const near_tree *t, near_batch *b)
{
  for (uint32_t i = 0; i < b->count; i += SB_LANES) {
    near_rows p = batch_x(t, b, 0, i), q = batch_x(t, b, 1, i), r = batch_x(t, b, 2, i), s = batch_x(t, b, 3, i);
    V3 v0 = batch_v(t, b, 0, i), v1 = batch_v(t, b, 1, i), v2 = batch_v(t, b, 2, i), v3_ = batch_v(t, b, 3, i);
    F speed = near_faster(near_faster(near_faster(near_faster(K(0.0f), v0, v2), v0, v3_), v1, v2), v1, v3_);
    F dt = K(b->dt);
    NearHit h = near_edges(p.v, q.v, r.v, s.v, speed * dt, v3_scale(v3_sub(v1, v0), dt), v3_scale(v3_sub(v3_, v2), dt));
    /* edges do not get the way added: far from each other they turn to either side of the line between them, and
     * vertices meet triangles before. meet_edges counts on it. */
    store_hit(b, i, h, f_max(p.w, q.w) + f_max(r.w, s.w), K(0.0f));
  }
}

#if SB_LANES == 8
#define NEAR_TABLE collision_near_lanes8
#elif SB_LANES == 4
#define NEAR_TABLE collision_near_lanes4
#else
#define NEAR_TABLE collision_near_lanes1
#endif
const near_lanes NEAR_TABLE = {meet,  meet_elements, meet_nodes, meet_leaves, join,
                               refit, find_points,   find_faces, find_edges};
