/* Body records to lanes and back. Rows of eight floats are loaded whole and transposed, which is several times as fast as
 * picking floats one by one. Plain copies: no arithmetic. */
#ifndef SAMEBIT_STEEL_GATHER_H
#define SAMEBIT_STEEL_GATHER_H

#include "samebit/maths.h"

#if SB_LANES == 8
/* Eight rows in, eight columns out. */
static inline __attribute__((always_inline)) void transpose(F r[8])
{
  F a[8], b[8];
  for (int i = 0; i < 8; i += 2) {
    a[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    a[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  for (int i = 0; i < 8; i += 4) {
    b[i] = __builtin_shufflevector(a[i], a[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    b[i + 1] = __builtin_shufflevector(a[i], a[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    b[i + 2] = __builtin_shufflevector(a[i + 1], a[i + 3], 0, 1, 8, 9, 4, 5, 12, 13);
    b[i + 3] = __builtin_shufflevector(a[i + 1], a[i + 3], 2, 3, 10, 11, 6, 7, 14, 15);
  }
  for (int i = 0; i < 4; i++) {
    r[i] = __builtin_shufflevector(b[i], b[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    r[i + 4] = __builtin_shufflevector(b[i], b[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}
#elif SB_LANES == 4
static inline __attribute__((always_inline)) void transpose4(F r[4])
{
  F a = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5), b = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7);
  F c = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5), d = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
  r[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  r[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  r[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  r[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}
#endif

/* Eight consecutive floats of each record: column k of the result holds float k of every lane's record. */
static inline __attribute__((always_inline)) void load_rows(const float *from, const uint32_t *record, uint32_t stride, F column[8])
{
#if SB_LANES == 8
  for (int l = 0; l < 8; l++) column[l] = f_load(from + (size_t)record[l] * stride);
  transpose(column);
#elif SB_LANES == 4
  for (int half = 0; half < 2; half++) {
    for (int l = 0; l < 4; l++) column[4 * half + l] = f_load(from + (size_t)record[l] * stride + 4 * half);
    transpose4(column + 4 * half);
  }
#else
  for (int k = 0; k < 8; k++) column[k] = from[(size_t)record[0] * stride + (size_t)k];
#endif
}

/* The way back; lanes whose bit in `keep` is 0 are left alone. */
static inline __attribute__((always_inline)) void store_rows(float *to, const uint32_t *record, uint32_t stride, F column[8], uint32_t keep)
{
#if SB_LANES == 8
  transpose(column);
  for (int l = 0; l < 8; l++)
    if (keep >> l & 1u) f_store(to + (size_t)record[l] * stride, column[l]);
#elif SB_LANES == 4
  for (int half = 0; half < 2; half++) {
    transpose4(column + 4 * half);
    for (int l = 0; l < 4; l++)
      if (keep >> l & 1u) f_store(to + (size_t)record[l] * stride + 4 * half, column[4 * half + l]);
  }
#else
  if (keep & 1u)
    for (int k = 0; k < 8; k++) to[(size_t)record[0] * stride + (size_t)k] = column[k];
#endif
}

/* Single floats, where rows do not fit. */
static inline F pick(const float *from, const uint32_t *index, uint32_t stride, uint32_t add)
{
  float lane[SB_LANES];
  for (int l = 0; l < SB_LANES; l++) lane[l] = from[(size_t)index[l] * stride + add];
  return f_load(lane);
}

static inline V3 pick_v3(const float *from, const uint32_t *index, uint32_t stride, uint32_t add)
{
  return v3(pick(from, index, stride, add), pick(from, index, stride, add + 1), pick(from, index, stride, add + 2));
}

static inline void put(float *to, const uint32_t *index, uint32_t stride, uint32_t add, F value, uint32_t used)
{
  float lane[SB_LANES];
  f_store(lane, value);
  for (uint32_t l = 0; l < used; l++) to[(size_t)index[l] * stride + add] = lane[l];
}

#endif
