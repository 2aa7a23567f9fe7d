/* What the dispatches of scan.comp and radix.comp are given: for the host and for solvers that have them in their graphs. */
#ifndef SAMEBIT_SHADERS_SORT_PUSH_H
#define SAMEBIT_SHADERS_SORT_PUSH_H

#include <stdint.h>

#define SCAN_BLOCK 1024u /* values of a workgroup */
#define RADIX_TILE 2048u /* pairs of a workgroup */
#define RADIX_BITS 4u    /* that a pass sorts by */
#define RADIX_DIGITS 16u

typedef struct scan_push {
  uint32_t count, count_at, total_at;
} scan_push;

typedef struct radix_push {
  uint32_t count_at, times, most, tiles, word, shift;
} radix_push;

#endif
