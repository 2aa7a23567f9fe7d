/* Prefix sums and radix sorts as parts of a graph: shaders/scan.comp, shaders/radix.comp. */
#ifndef SAMEBIT_HOST_DEVICE_SORT_H
#define SAMEBIT_HOST_DEVICE_SORT_H

#include "compute_extension.h"

#define DEVICE_NONE UINT32_MAX

typedef struct device_sort {
  sb_vulkan_pipeline *scan[4], *radix[2];
  sb_vulkan_buffer *blocks; /* sums of blocks */
  sb_vulkan_buffer *digits; /* of a radix pass, by digit and tile */
} device_sort;

/* A graph under construction: after the first call that fails the others do nothing. */
typedef struct device_recorder {
  sb_vulkan_graph *graph;
  sb_status status;
  sb_diagnostics *diag;
} device_recorder;

/* A dispatch over whole buffers, and a barrier after it. */
void device_record(device_recorder *r, sb_vulkan_pipeline *pipeline, sb_vulkan_buffer *const *buffers, uint32_t buffer_count, const void *push,
                   uint32_t groups);

/* For lists of at most `values` to scan and `pairs` to sort. */
sb_status device_sort_create(device_sort *sort, sb_device_scope *scope, sb_vulkan *vulkan, uint32_t values, uint32_t pairs, sb_diagnostics *diag);
void device_sort_destroy(device_sort *sort);
/* Exclusive sums of the first counts[count_at] of `most` values (all where count_at is DEVICE_NONE); their sum goes to counts[total_at]. */
void device_record_scan(device_recorder *r, const device_sort *sort, sb_vulkan_buffer *values, sb_vulkan_buffer *before, sb_vulkan_buffer *counts,
                        uint32_t most, uint32_t count_at, uint32_t total_at);
/* Sorts counts[count_at] pairs of words, `most` at most, by the lowest `bits` bits of word 0 or 1; stable. Returns the buffer, of the two, that has them. */
sb_vulkan_buffer *device_record_sort(device_recorder *r, const device_sort *sort, sb_vulkan_buffer *pairs, sb_vulkan_buffer *scratch,
                                     sb_vulkan_buffer *counts, uint32_t most, uint32_t count_at, uint32_t word, uint32_t bits);

#endif
