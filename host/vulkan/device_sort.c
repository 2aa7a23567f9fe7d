/* Prefix sums in three steps over blocks, and radix sorts that count, scan and place. */
#include "device_sort.h"

#include "sort_push.h"

#include "scan_sum_spv.h"
#include "scan_spine_spv.h"
#include "scan_apply_spv.h"
#include "scan_alone_spv.h"
#include "radix_count_spv.h"
#include "radix_place_spv.h"

void device_record(device_recorder *r, sb_vulkan_pipeline *pipeline, sb_vulkan_buffer *const *buffers, uint32_t buffer_count, const void *push,
                   uint32_t groups)
{
  sb_vulkan_slice slices[SB_VULKAN_BUFFERS_MAX];
  for (uint32_t i = 0; i < buffer_count; i++) slices[i] = (sb_vulkan_slice){buffers[i], 0, 0};
  if (!r->status) r->status = sb_vulkan_graph_dispatch(r->graph, pipeline, slices, push, groups, r->diag);
  if (!r->status) r->status = sb_vulkan_graph_barrier(r->graph, r->diag);
}

static uint32_t blocks_of(uint32_t count, uint32_t size) { return count / size + (count % size > 0); }

sb_status device_sort_create(device_sort *s, sb_device_scope *scope, sb_vulkan *vulkan, uint32_t values, uint32_t pairs, sb_diagnostics *diag)
{
  const struct { const uint32_t *words; size_t bytes; } scans[4] = {
      {scan_sum_spv, sizeof scan_sum_spv}, {scan_spine_spv, sizeof scan_spine_spv}, {scan_apply_spv, sizeof scan_apply_spv}, {scan_alone_spv, sizeof scan_alone_spv}};
  const struct { const uint32_t *words; size_t bytes; } radices[2] = {{radix_count_spv, sizeof radix_count_spv}, {radix_place_spv, sizeof radix_place_spv}};
  uint32_t digits = RADIX_DIGITS * blocks_of(pairs, RADIX_TILE), longest = values > digits ? values : digits;
  sb_status status = SB_OK;
  for (int i = 0; i < 4 && !status; i++) status = compute_scope_pipeline(scope, scans[i].words, scans[i].bytes / 4, 4, sizeof(scan_push), &s->scan[i], diag);
  for (int i = 0; i < 2 && !status; i++) status = compute_scope_pipeline(scope, radices[i].words, radices[i].bytes / 4, 4, sizeof(radix_push), &s->radix[i], diag);
  if (!status) status = sb_vulkan_device_buffer_create(vulkan, 4 * ((uint64_t)blocks_of(longest, SCAN_BLOCK) + 1), &s->blocks, diag);
  if (!status) status = sb_vulkan_device_buffer_create(vulkan, 4 * ((uint64_t)digits + 1), &s->digits, diag);
  return status;
}

void device_sort_destroy(device_sort *s)
{
  sb_vulkan_buffer_destroy(s->blocks);
  sb_vulkan_buffer_destroy(s->digits);
}

void device_record_scan(device_recorder *r, const device_sort *s, sb_vulkan_buffer *values, sb_vulkan_buffer *before, sb_vulkan_buffer *counts,
                        uint32_t most, uint32_t count_at, uint32_t total_at)
{
  sb_vulkan_buffer *const buffers[4] = {values, before, s->blocks, counts};
  const scan_push push = {most, count_at, total_at};
  uint32_t blocks = blocks_of(most, SCAN_BLOCK);
  if (blocks <= 1) {
    device_record(r, s->scan[3], buffers, 4, &push, 1);
    return;
  }
  device_record(r, s->scan[0], buffers, 4, &push, blocks);
  device_record(r, s->scan[1], buffers, 4, &push, 1);
  device_record(r, s->scan[2], buffers, 4, &push, blocks);
}

sb_vulkan_buffer *device_record_sort(device_recorder *r, const device_sort *s, sb_vulkan_buffer *pairs, sb_vulkan_buffer *scratch,
                                     sb_vulkan_buffer *counts, uint32_t most, uint32_t count_at, uint32_t word, uint32_t bits)
{
  uint32_t tiles = blocks_of(most, RADIX_TILE);
  for (uint32_t shift = 0; shift < bits; shift += RADIX_BITS) {
    sb_vulkan_buffer *const buffers[4] = {pairs, scratch, s->digits, counts};
    const radix_push push = {count_at, 1, most, tiles, word, shift};
    device_record(r, s->radix[0], buffers, 4, &push, tiles);
    device_record_scan(r, s, s->digits, s->digits, counts, RADIX_DIGITS * tiles, DEVICE_NONE, DEVICE_NONE);
    device_record(r, s->radix[1], buffers, 4, &push, tiles);
    scratch = pairs;
    pairs = buffers[1];
  }
  return pairs;
}
