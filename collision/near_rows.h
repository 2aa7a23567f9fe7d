/* Rows of four floats of SB_LANES particles as lanes: loaded whole and transposed. Plain copies: no arithmetic. */
#ifndef SAMEBIT_COLLISION_NEAR_ROWS_H
#define SAMEBIT_COLLISION_NEAR_ROWS_H

#include "samebit/maths.h"

#include <stddef.h>

typedef struct near_rows {
  V3 v;
  F w;
} near_rows;

#if SB_LANES == 1
static inline near_rows near_load_rows(const float *from, const uint32_t *particle)
{
  const float *row = from + 4 * (size_t)particle[0];
  near_rows r = {v3(row[0], row[1], row[2]), row[3]};
  return r;
}
#else
/* Rows are aligned to 16 bytes. */
typedef float near_row __attribute__((vector_size(16), may_alias));

static inline __attribute__((always_inline)) near_row near_row_at(const float *from, uint32_t particle)
{
  return *(const near_row *)(from + 4 * (size_t)particle);
}

static inline __attribute__((always_inline)) near_rows near_load_rows(const float *from, const uint32_t *particle)
{
  F r[4];
  near_rows out;
#if SB_LANES == 8
  for (int l = 0; l < 4; l++)
    r[l] = __builtin_shufflevector(near_row_at(from, particle[l]), near_row_at(from, particle[l + 4]), 0, 1, 2, 3, 4, 5,
                                   6, 7);
  F a = __builtin_shufflevector(r[0], r[1], 0, 8, 1, 9, 4, 12, 5, 13),
    b = __builtin_shufflevector(r[0], r[1], 2, 10, 3, 11, 6, 14, 7, 15);
  F c = __builtin_shufflevector(r[2], r[3], 0, 8, 1, 9, 4, 12, 5, 13),
    d = __builtin_shufflevector(r[2], r[3], 2, 10, 3, 11, 6, 14, 7, 15);
  out.v.x = __builtin_shufflevector(a, c, 0, 1, 8, 9, 4, 5, 12, 13);
  out.v.y = __builtin_shufflevector(a, c, 2, 3, 10, 11, 6, 7, 14, 15);
  out.v.z = __builtin_shufflevector(b, d, 0, 1, 8, 9, 4, 5, 12, 13);
  out.w = __builtin_shufflevector(b, d, 2, 3, 10, 11, 6, 7, 14, 15);
#else
  for (int l = 0; l < 4; l++) r[l] = near_row_at(from, particle[l]);
  F a = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5), b = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7);
  F c = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5), d = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
  out.v.x = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  out.v.y = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  out.v.z = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  out.w = __builtin_shufflevector(b, d, 2, 3, 6, 7);
#endif
  return out;
}
#endif

#endif
