/* Particle records of four floats to lanes and back: loaded whole and transposed. Plain copies: no arithmetic. */
#ifndef SAMEBIT_XPBD_GATHER_H
#define SAMEBIT_XPBD_GATHER_H

#include "samebit/maths.h"

typedef struct xp_rows {
  F c[4];
} xp_rows;

#if SB_LANES == 8
/* Records are aligned to 16 bytes. Through memcpy the compiler would pass rows over the stack. */
typedef float xp_row __attribute__((vector_size(16), may_alias));

static inline __attribute__((always_inline)) xp_row xp_row_at(const float *from, uint32_t record)
{
  return *(const xp_row *)(from + 4 * (size_t)record);
}

/* Four by four in each half. */
static inline __attribute__((always_inline)) void xp_turn(F r[4])
{
  F a = __builtin_shufflevector(r[0], r[1], 0, 8, 1, 9, 4, 12, 5, 13), b = __builtin_shufflevector(r[0], r[1], 2, 10, 3, 11, 6, 14, 7, 15);
  F c = __builtin_shufflevector(r[2], r[3], 0, 8, 1, 9, 4, 12, 5, 13), d = __builtin_shufflevector(r[2], r[3], 2, 10, 3, 11, 6, 14, 7, 15);
  r[0] = __builtin_shufflevector(a, c, 0, 1, 8, 9, 4, 5, 12, 13);
  r[1] = __builtin_shufflevector(a, c, 2, 3, 10, 11, 6, 7, 14, 15);
  r[2] = __builtin_shufflevector(b, d, 0, 1, 8, 9, 4, 5, 12, 13);
  r[3] = __builtin_shufflevector(b, d, 2, 3, 10, 11, 6, 7, 14, 15);
}

static inline __attribute__((always_inline)) xp_rows xp_load(const float *from, const uint32_t *record)
{
  xp_rows r;
  for (int l = 0; l < 4; l++)
    r.c[l] = __builtin_shufflevector(xp_row_at(from, record[l]), xp_row_at(from, record[l + 4]), 0, 1, 2, 3, 4, 5, 6, 7);
  xp_turn(r.c);
  return r;
}

static inline __attribute__((always_inline)) void xp_store_all(float *to, const uint32_t *record, xp_rows r)
{
  xp_turn(r.c);
  for (int l = 0; l < 4; l++) {
    xp_row low = __builtin_shufflevector(r.c[l], r.c[l], 0, 1, 2, 3), high = __builtin_shufflevector(r.c[l], r.c[l], 4, 5, 6, 7);
    *(xp_row *)(to + 4 * (size_t)record[l]) = low;
    *(xp_row *)(to + 4 * (size_t)record[l + 4]) = high;
  }
}
#elif SB_LANES == 4
static inline __attribute__((always_inline)) void xp_turn(F r[4])
{
  F a = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5), b = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7);
  F c = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5), d = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
  r[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  r[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  r[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  r[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

static inline __attribute__((always_inline)) xp_rows xp_load(const float *from, const uint32_t *record)
{
  xp_rows r;
  for (int l = 0; l < 4; l++) r.c[l] = f_load(from + 4 * (size_t)record[l]);
  xp_turn(r.c);
  return r;
}

static inline __attribute__((always_inline)) void xp_store_all(float *to, const uint32_t *record, xp_rows r)
{
  xp_turn(r.c);
  for (int l = 0; l < 4; l++) f_store(to + 4 * (size_t)record[l], r.c[l]);
}
#else
static inline xp_rows xp_load(const float *from, const uint32_t *record)
{
  xp_rows r;
  for (int k = 0; k < 4; k++) r.c[k] = from[4 * (size_t)record[0] + (size_t)k];
  return r;
}

static inline void xp_store_all(float *to, const uint32_t *record, xp_rows r)
{
  for (int k = 0; k < 4; k++) to[4 * (size_t)record[0] + (size_t)k] = r.c[k];
}
#endif

/* Movements of the particles of a pair, as rows, for the way back. */
typedef struct xp_pair {
#if SB_LANES == 8
  F a[4], b[4]; /* rows l and l + 4 */
#else
  xp_rows a, b;
#endif
} xp_pair;

/* (x_a - x_b) + (d_a - d_b), and the sum of the weights. */
static inline __attribute__((always_inline)) xp_rows xp_load_pair(const float *x, const float *d, const uint32_t *a, const uint32_t *b, xp_pair *pair)
{
  xp_rows r;
#if SB_LANES == 8
  for (int l = 0; l < 4; l++) {
    F xa = __builtin_shufflevector(xp_row_at(x, a[l]), xp_row_at(x, a[l + 4]), 0, 1, 2, 3, 4, 5, 6, 7);
    F xb = __builtin_shufflevector(xp_row_at(x, b[l]), xp_row_at(x, b[l + 4]), 0, 1, 2, 3, 4, 5, 6, 7);
    pair->a[l] = __builtin_shufflevector(xp_row_at(d, a[l]), xp_row_at(d, a[l + 4]), 0, 1, 2, 3, 4, 5, 6, 7);
    pair->b[l] = __builtin_shufflevector(xp_row_at(d, b[l]), xp_row_at(d, b[l + 4]), 0, 1, 2, 3, 4, 5, 6, 7);
    F apart = (xa - xb) + (pair->a[l] - pair->b[l]), weights = pair->a[l] + pair->b[l];
    r.c[l] = __builtin_shufflevector(apart, weights, 0, 1, 2, 11, 4, 5, 6, 15);
  }
  xp_turn(r.c);
#else
  xp_rows xa = xp_load(x, a), xb = xp_load(x, b);
  pair->a = xp_load(d, a);
  pair->b = xp_load(d, b);
  for (int k = 0; k < 3; k++) r.c[k] = (xa.c[k] - xb.c[k]) + (pair->a.c[k] - pair->b.c[k]);
  r.c[3] = pair->a.c[3] + pair->b.c[3];
#endif
  return r;
}

/* Kept out of the loops, which are short of registers. */
static __attribute__((noinline, unused)) void xp_store_some(float *to, const uint32_t *record, const float *lane, uint32_t nobody)
{
  for (int l = 0; l < SB_LANES && record[l] != nobody; l++)
    for (int k = 0; k < 4; k++) to[4 * (size_t)record[l] + (size_t)k] = lane[k * SB_LANES + l];
}

/* The way back, but for places of `nobody`, which are the last ones of a bundle. */
static inline __attribute__((always_inline)) void xp_store(float *to, const uint32_t *record, xp_rows r, uint32_t nobody)
{
  if (__builtin_expect(record[SB_LANES - 1] != nobody, 1)) {
    xp_store_all(to, record, r);
    return;
  }
  float lane[4 * SB_LANES];
  for (int k = 0; k < 4; k++) f_store(lane + k * SB_LANES, r.c[k]);
  xp_store_some(to, record, lane, nobody);
}

/* d_a + way w_a and d_b - way w_b. */
static inline __attribute__((always_inline)) void xp_store_pair(float *d, const uint32_t *a, const uint32_t *b, const xp_pair *pair, V3 way, uint32_t nobody)
{
#if SB_LANES == 8
  F row[4] = {way.x, way.y, way.z, K(0.0f)};
  xp_turn(row);
  if (__builtin_expect(a[7] != nobody, 1)) {
    for (int l = 0; l < 4; l++) {
      F wa = __builtin_shufflevector(pair->a[l], pair->a[l], 3, 3, 3, 3, 7, 7, 7, 7), wb = __builtin_shufflevector(pair->b[l], pair->b[l], 3, 3, 3, 3, 7, 7, 7, 7);
      F da = pair->a[l] + row[l] * wa, db = pair->b[l] - row[l] * wb;
      *(xp_row *)(d + 4 * (size_t)a[l]) = __builtin_shufflevector(da, da, 0, 1, 2, 3);
      *(xp_row *)(d + 4 * (size_t)a[l + 4]) = __builtin_shufflevector(da, da, 4, 5, 6, 7);
      *(xp_row *)(d + 4 * (size_t)b[l]) = __builtin_shufflevector(db, db, 0, 1, 2, 3);
      *(xp_row *)(d + 4 * (size_t)b[l + 4]) = __builtin_shufflevector(db, db, 4, 5, 6, 7);
    }
    return;
  }
  xp_rows da, db;
  for (int l = 0; l < 4; l++) da.c[l] = pair->a[l], db.c[l] = pair->b[l];
  xp_turn(da.c);
  xp_turn(db.c);
#else
  xp_rows da = pair->a, db = pair->b;
#endif
  const V3 by = way;
  F wa = da.c[3], wb = db.c[3];
  da.c[0] = da.c[0] + by.x * wa, da.c[1] = da.c[1] + by.y * wa, da.c[2] = da.c[2] + by.z * wa;
  db.c[0] = db.c[0] - by.x * wb, db.c[1] = db.c[1] - by.y * wb, db.c[2] = db.c[2] - by.z * wb;
  xp_store(d, a, da, nobody);
  xp_store(d, b, db, nobody);
}

static inline __attribute__((always_inline)) V3 xp_v3(xp_rows r) { return v3(r.c[0], r.c[1], r.c[2]); }

static inline __attribute__((always_inline)) xp_rows xp_moved(xp_rows r, V3 by)
{
  r.c[0] = r.c[0] + by.x;
  r.c[1] = r.c[1] + by.y;
  r.c[2] = r.c[2] + by.z;
  return r;
}

#endif
