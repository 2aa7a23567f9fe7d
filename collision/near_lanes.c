/* Boxes and pairs of features over lanes; compiled once for each lane width. Knows near_batch.h and near_pair.kernel.h. */
#include "near_batch.h"
#include "near_pair.kernel.h"

#include <stddef.h>

static inline V3 load_v3(float *const p[3], size_t i) { return v3(f_load(p[0] + i), f_load(p[1] + i), f_load(p[2] + i)); }

static inline void store_v3(float *const p[3], size_t i, V3 x)
{
  f_store(p[0] + i, x.x);
  f_store(p[1] + i, x.y);
  f_store(p[2] + i, x.z);
}

static inline NearBox load_box(float *const p[6], size_t i)
{
  NearBox b;
  b.lo = load_v3(p, i);
  b.hi = load_v3(p + 3, i);
  return b;
}

static inline void store_box(float *const p[6], size_t i, NearBox b)
{
  store_v3(p, i, b.lo);
  store_v3(p + 3, i, b.hi);
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
    F faster = near_speed(speed, load_box(level->speed, first + k));
    F reach = near_reach(f_load(level->radius + first + k) + q->radius, faster, K(q->dt));
    bits |= mask_bits(near_boxes_meet(box, load_box(level->box, first + k), reach)) << k;
  }
  return bits;
}

static uint32_t meet_elements(const near_level *level, uint32_t first, const float box[6], float reach)
{
  NearBox own = splat_box(box);
  uint32_t bits = 0;
  for (uint32_t k = 0; k < NEAR_CHILDREN; k += SB_LANES)
    bits |= mask_bits(near_boxes_meet(own, load_box(level->box, first + k), K(reach))) << k;
  return bits;
}

/* Smallest and largest of eight. */
static inline float least_of(const float *p)
{
  float r = p[0];
  for (uint32_t k = 1; k < NEAR_CHILDREN; k++) r = p[k] < r ? p[k] : r;
  return r;
}
static inline float most_of(const float *p)
{
  float r = p[0];
  for (uint32_t k = 1; k < NEAR_CHILDREN; k++) r = p[k] > r ? p[k] : r;
  return r;
}

static void join(const near_level *below, near_level *level, uint32_t first, uint32_t count)
{
  for (uint32_t i = first; i < first + count; i++) {
    size_t from = (size_t)i * NEAR_CHILDREN;
    for (int k = 0; k < 3; k++) {
      level->box[k][i] = least_of(below->box[k] + from);
      level->box[k + 3][i] = most_of(below->box[k + 3] + from);
      level->speed[k][i] = least_of(below->speed[k] + from);
      level->speed[k + 3][i] = most_of(below->speed[k + 3] + from);
      level->normal[k][i] = least_of(below->normal[k] + from);
      level->normal[k + 3][i] = most_of(below->normal[k + 3] + from);
    }
    level->radius[i] = most_of(below->radius + from);
  }
}

static inline V3 corner_of(const float (*x)[NEAR_CHILDREN], uint32_t corner, uint32_t k)
{
  return v3(f_load(&x[3 * corner][k]), f_load(&x[3 * corner + 1][k]), f_load(&x[3 * corner + 2][k]));
}

static void refit(near_level *elements, near_level *leaves, uint32_t leaf, const float (*x)[NEAR_CHILDREN], const float (*v)[NEAR_CHILDREN],
                  const float *radius, uint32_t used, int32_t points)
{
  float speed[6][NEAR_CHILDREN], normal[6][NEAR_CHILDREN];
  float *speeds[6], *normals[6];
  for (int k = 0; k < 6; k++) speeds[k] = speed[k], normals[k] = normal[k];
  size_t first = (size_t)leaf * NEAR_CHILDREN;
  for (uint32_t k = 0; k < NEAR_CHILDREN; k += SB_LANES) {
    V3 a = corner_of(x, 0, k), b = corner_of(x, 1, k), c = corner_of(x, 2, k);
    store_box(elements->box, first + k, near_box_of(a, b, c));
    store_box(speeds, k, near_box_of(corner_of(v, 0, k), corner_of(v, 1, k), corner_of(v, 2, k)));
    V3 n = v3_normalize_or(v3_cross(v3_sub(b, a), v3_sub(c, a)), v3(K(0.0f), K(0.0f), K(1.0f)));
    store_box(normals, k, near_box_of(n, n, n));
  }
  for (uint32_t k = used; k < NEAR_CHILDREN; k++)
    for (int i = 0; i < 6; i++) {
      float none = i < 3 ? 1.0e15f : -1.0e15f;
      elements->box[i][first + k] = none;
      speed[i][k] = none;
      normal[i][k] = none;
    }
  for (int k = 0; k < 3; k++) {
    leaves->box[k][leaf] = least_of(elements->box[k] + first);
    leaves->box[k + 3][leaf] = most_of(elements->box[k + 3] + first);
    leaves->speed[k][leaf] = least_of(speed[k]);
    leaves->speed[k + 3][leaf] = most_of(speed[k + 3]);
    /* points have no normals: never flat */
    leaves->normal[k][leaf] = points ? -1.0f : least_of(normal[k]);
    leaves->normal[k + 3][leaf] = points ? 1.0f : most_of(normal[k + 3]);
  }
  leaves->radius[leaf] = most_of(radius);
}

static inline V3 batch_x(const near_batch *b, uint32_t p, uint32_t i)
{
  return v3(f_load(&b->x[3 * p][i]), f_load(&b->x[3 * p + 1][i]), f_load(&b->x[3 * p + 2][i]));
}
static inline V3 batch_v(const near_batch *b, uint32_t p, uint32_t i)
{
  return v3(f_load(&b->v[3 * p][i]), f_load(&b->v[3 * p + 1][i]), f_load(&b->v[3 * p + 2][i]));
}

static inline void store_hit(near_batch *b, uint32_t i, NearHit h, F speed)
{
  F cut = near_cut(f_load(&b->thickness[i]), speed, K(b->dt));
  f_store(&b->distance[i], h.distance);
  f_store(&b->side[i], h.side);
  f_store(&b->cut[i], f_sel(h.counts, cut, K(-1.0f)));
}

static void points(near_batch *b)
{
  for (uint32_t i = 0; i < b->count; i += SB_LANES) {
    NearHit h = near_points(batch_x(b, 0, i), batch_x(b, 1, i));
    store_hit(b, i, h, near_closing(K(0.0f), batch_v(b, 0, i), batch_v(b, 1, i), h.n));
  }
}

static void faces(near_batch *b)
{
  for (uint32_t i = 0; i < b->count; i += SB_LANES) {
    V3 v = batch_v(b, 0, i), v1 = batch_v(b, 1, i), v2 = batch_v(b, 2, i), v3_ = batch_v(b, 3, i);
    F speed = near_faster(near_faster(near_faster(K(0.0f), v, v1), v, v2), v, v3_);
    NearHit h = near_face(batch_x(b, 0, i), batch_x(b, 1, i), batch_x(b, 2, i), batch_x(b, 3, i), speed * K(b->dt));
    store_hit(b, i, h, near_closing(near_closing(near_closing(K(0.0f), v, v1, h.n), v, v2, h.n), v, v3_, h.n));
  }
}

static void edges(near_batch *b)
{
  for (uint32_t i = 0; i < b->count; i += SB_LANES) {
    V3 v0 = batch_v(b, 0, i), v1 = batch_v(b, 1, i), v2 = batch_v(b, 2, i), v3_ = batch_v(b, 3, i);
    F speed = near_faster(near_faster(near_faster(near_faster(K(0.0f), v0, v2), v0, v3_), v1, v2), v1, v3_);
    F dt = K(b->dt);
    NearHit h = near_edges(batch_x(b, 0, i), batch_x(b, 1, i), batch_x(b, 2, i), batch_x(b, 3, i), speed * dt, v3_scale(v3_sub(v1, v0), dt),
                           v3_scale(v3_sub(v3_, v2), dt));
    /* edges do not get the way added: far from each other they turn to either side of the line between them, and vertices meet triangles
     * before */
    store_hit(b, i, h, K(0.0f));
  }
}

#if SB_LANES == 8
const near_lanes collision_near_lanes8 = {meet, meet_elements, join, refit, points, faces, edges};
#elif SB_LANES == 4
const near_lanes collision_near_lanes4 = {meet, meet_elements, join, refit, points, faces, edges};
#else
const near_lanes collision_near_lanes1 = {meet, meet_elements, join, refit, points, faces, edges};
#endif
