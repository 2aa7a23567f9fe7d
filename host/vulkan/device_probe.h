/* Does a Vulkan device compute what the CPU computes? A small shader runs on it at start, over the operands where
 * devices are known to part: subnormals, zeros of both signs, infinities, NaN, ties, products and sums that a fused
 * operation would round otherwise, atomics, shared memory. Every word is compared with the CPU's. What the device
 * claims about itself plays no part. Knows the compute layer, the shared maths and the mixes of the state hash. */
#ifndef SAMEBIT_HOST_DEVICE_PROBE_H
#define SAMEBIT_HOST_DEVICE_PROBE_H

#include "vulkan_compute.h"

#define SB_PROBE_CHECKS_MAX 32u

typedef struct sb_probe_failure {
  const char *check;    /* "product"; static */
  uint32_t operands[3]; /* of the first difference, as bits; for whole dispatches the index of the word and zeros */
  uint32_t expected;    /* the CPU's word */
  uint32_t found;       /* the device's word */
  uint32_t word_count;  /* words of this check that differ */
} sb_probe_failure;

typedef struct sb_probe_result {
  bool passed;
  uint32_t words; /* that were compared */
  uint32_t failure_count;
  sb_probe_failure failures[SB_PROBE_CHECKS_MAX]; /* one for each check that failed, in the checks' order */
} sb_probe_result;

/* Runs the probe. A device that computes otherwise is no error here: `result` says so. Anything but SB_OK means that
 * the device could not run it; then `result` has not passed, and a diagnostic says why. [setup] */
sb_status sb_device_probe(sb_vulkan *device, sb_probe_result *result, sb_diagnostics *diag);

/* The same with another build of the shader: the tests' builds with a fault in it. */
sb_status sb_device_probe_with(sb_vulkan *device, const uint32_t *words, size_t count, sb_probe_result *result,
                               sb_diagnostics *diag);

/* "probe passed" or "probe failed: product, sum" for the domain: the same text for the same outcome. */
void sb_probe_text(const sb_probe_result *result, char *text, size_t size);

/* One SB-VULKAN-PROBE diagnostic for each failure. `where` names the device. */
void sb_probe_report(const sb_probe_result *result, sb_severity severity, const char *where, sb_diagnostics *diag);

/* The names of all checks, in order; NULL from the count on. */
const char *sb_probe_check_name(uint32_t check);

#endif
