/* The CPU's side of a sweep, at one lane width. */
#ifndef SAMEBIT_TESTS_DEVICE_SWEEP_H
#define SAMEBIT_TESTS_DEVICE_SWEEP_H

#include <stdint.h>

typedef struct sweep_outcome {
  uint64_t differ;
  uint32_t index, expected, found; /* of the first difference */
} sweep_outcome;

/* Compares the device's words for the indices start, start + stride, ... of function number `function`; count is a
 * multiple of 8. */
typedef void sweep_compare(uint32_t function, uint32_t start, uint32_t stride, uint32_t count, const uint32_t *found,
                           sweep_outcome *outcome);
sweep_compare sweep_compare_lanes1, sweep_compare_lanes4, sweep_compare_lanes8;

#endif
