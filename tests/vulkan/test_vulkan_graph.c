/* Buffers, transfers and graphs of the compute layer: order of effects, both ways of sending, limits, and that nothing stays behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph_step.h"
#include "vulkan_device.h"
#include "vulkan_graph.h"
#include "vulkan_test.h"

#define COUNT 1000u

typedef struct push_words {
  uint32_t count, step;
} push_words;

static sb_vulkan *vulkan;

static int open_device(void **state)
{
  sb_diagnostics diag = {0};
  (void)state;
  if (!sb_vulkan_open(&vulkan, &diag)) return 0;
  printf("skipping: %s\n", diag.count ? diag.items[0].message : "no device");
  exit(77);
}

static int close_device(void **state)
{
  (void)state;
  sb_vulkan_close(vulkan);
  return 0;
}

static sb_vulkan_pipeline *make_pipeline(void)
{
  sb_vulkan_pipeline *p = NULL;
  sb_diagnostics diag = {0};
  assert_int_equal(sb_vulkan_pipeline_create(vulkan, graph_step, sizeof graph_step / sizeof *graph_step, 1, sizeof(push_words), &p, &diag), SB_OK);
  return p;
}

/* Three dispatches in a row, run twice, over what was uploaded. */
static void run_steps(bool eager, uint32_t *out)
{
  sb_diagnostics diag = {0};
  sb_vulkan_pipeline *p = make_pipeline();
  sb_vulkan_buffer *b = NULL, *groups = NULL;
  sb_vulkan_graph *g = NULL;
  const uint32_t three[3] = {(COUNT + 63) / 64, 1, 1};
  for (uint32_t i = 0; i < COUNT; i++) out[i] = i * 7;
  assert_int_equal(sb_vulkan_device_buffer_create(vulkan, COUNT * 4, &b, &diag), SB_OK);
  assert_int_equal(sb_vulkan_device_buffer_create(vulkan, 12, &groups, &diag), SB_OK);
  assert_int_equal(sb_vulkan_clear(vulkan, b, &diag), SB_OK);
  assert_int_equal(sb_vulkan_upload(vulkan, b, 0, out, COUNT * 4, &diag), SB_OK);
  assert_int_equal(sb_vulkan_upload(vulkan, groups, 0, three, sizeof three, &diag), SB_OK);
  assert_int_equal(sb_vulkan_graph_create(vulkan, eager, &g, &diag), SB_OK);
  const sb_vulkan_slice slice = {b, 0, 0};
  for (uint32_t s = 0; s < 3; s++) {
    const push_words push = {COUNT, s};
    if (s == 1)
      assert_int_equal(sb_vulkan_graph_dispatch_indirect(g, p, &slice, &push, groups, 0, &diag), SB_OK);
    else
      assert_int_equal(sb_vulkan_graph_dispatch(g, p, &slice, &push, three[0], &diag), SB_OK);
    assert_int_equal(sb_vulkan_graph_barrier(g, &diag), SB_OK);
  }
  assert_int_equal(sb_vulkan_graph_finish(g, &diag), SB_OK);
  for (int k = 0; k < 2; k++) assert_int_equal(sb_vulkan_graph_run(g, &diag), SB_OK);
  assert_int_equal(sb_vulkan_download(vulkan, b, 0, out, COUNT * 4, &diag), SB_OK);
  sb_vulkan_graph_destroy(g);
  sb_vulkan_buffer_destroy(b);
  sb_vulkan_buffer_destroy(groups);
  sb_vulkan_pipeline_destroy(p);
}

static void test_order(void **state)
{
  uint32_t out[2][COUNT];
  (void)state;
  run_steps(false, out[0]);
  run_steps(true, out[1]);
  for (uint32_t i = 0; i < COUNT; i++) {
    uint32_t v = i * 7;
    for (uint32_t k = 0; k < 6; k++) v = v * 3 + i + k % 3;
    assert_int_equal(out[0][i], v);
    assert_int_equal(out[1][i], v);
  }
}

/* More than the staging memory holds, at odd places. */
/* Several ranges at once: small ones in one go, large ones one after another, and one that reaches too far. */
static void test_ranges(void **state)
{
  (void)state;
  const size_t bytes = 20u << 20;
  sb_diagnostics diag = {0};
  sb_vulkan_buffer *buffer = NULL;
  uint32_t *sent = malloc(bytes), *seen = calloc(bytes, 1);
  assert_non_null(sent);
  assert_non_null(seen);
  for (size_t i = 0; i < bytes / 4; i++) sent[i] = (uint32_t)i * 2654435761u;
  assert_int_equal(sb_vulkan_device_buffer_create(vulkan, bytes, &buffer, &diag), SB_OK);
  assert_int_equal(sb_vulkan_upload(vulkan, buffer, 0, sent, bytes, &diag), SB_OK);
  const size_t parts[2] = {28, bytes / 2};
  for (int k = 0; k < 2; k++) {
    size_t part = parts[k];
    const sb_vulkan_range ranges[3] = {{buffer, 4, part, seen}, {buffer, 0, 0, NULL}, {buffer, bytes - part, part, (char *)seen + part}};
    assert_int_equal(sb_vulkan_download_ranges(vulkan, ranges, 3, &diag), SB_OK);
    assert_memory_equal(seen, (char *)sent + 4, part);
    assert_memory_equal((char *)seen + part, (char *)sent + bytes - part, part);
  }
  const sb_vulkan_range outside = {buffer, bytes - 4, 8, seen};
  assert_int_equal(sb_vulkan_download_ranges(vulkan, &outside, 1, &diag), SB_E_ARGUMENT);
  sb_diagnostics_clear(&diag);
  sb_vulkan_buffer_destroy(buffer);
  free(sent);
  free(seen);
}

static void test_large_transfers(void **state)
{
  sb_diagnostics diag = {0};
  sb_vulkan_buffer *b = NULL;
  const size_t words = 11u << 20, moved = words - 8;
  uint32_t *data = malloc(words * 4), *back = calloc(words, 4);
  (void)state;
  assert_true(data && back);
  for (size_t i = 0; i < words; i++) data[i] = (uint32_t)i * 2654435761u;
  assert_int_equal(sb_vulkan_device_buffer_create(vulkan, words * 4, &b, &diag), SB_OK);
  assert_int_equal(sb_vulkan_clear(vulkan, b, &diag), SB_OK);
  assert_int_equal(sb_vulkan_upload(vulkan, b, 20, data, moved * 4, &diag), SB_OK);
  assert_int_equal(sb_vulkan_download(vulkan, b, 0, back, words * 4, &diag), SB_OK);
  for (size_t i = 0; i < 5; i++) assert_int_equal(back[i], 0);
  assert_memory_equal(back + 5, data, moved * 4);
  for (size_t i = moved + 5; i < words; i++) assert_int_equal(back[i], 0);
  sb_vulkan_buffer_destroy(b);
  free(data);
  free(back);
}

static void expect_refusal(sb_status status, sb_diagnostics *diag)
{
  assert_int_not_equal(status, SB_OK);
  assert_int_equal(diag->count, 1);
  sb_diagnostics_clear(diag);
}

static void test_limits(void **state)
{
  sb_diagnostics diag = {0};
  sb_vulkan_buffer *b = NULL;
  sb_vulkan_graph *g = NULL;
  sb_vulkan_pipeline *p = make_pipeline();
  const push_words push = {4, 0};
  uint32_t word = 0;
  (void)state;
  expect_refusal(sb_vulkan_device_buffer_create(vulkan, 0, &b, &diag), &diag);
  expect_refusal(sb_vulkan_device_buffer_create(vulkan, UINT64_MAX / 2, &b, &diag), &diag);
  assert_int_equal(sb_vulkan_device_buffer_create(vulkan, 1024, &b, &diag), SB_OK);
  expect_refusal(sb_vulkan_upload(vulkan, b, 1024, &word, 4, &diag), &diag);
  expect_refusal(sb_vulkan_download(vulkan, b, UINT64_MAX, &word, 4, &diag), &diag);
  assert_int_equal(sb_vulkan_graph_create(vulkan, false, &g, &diag), SB_OK);
  expect_refusal(sb_vulkan_graph_run(g, &diag), &diag);
  expect_refusal(sb_vulkan_graph_dispatch(g, p, &(sb_vulkan_slice){b, 4, 0}, &push, 1, &diag), &diag);
  expect_refusal(sb_vulkan_graph_dispatch(g, p, &(sb_vulkan_slice){b, 1024, 0}, &push, 1, &diag), &diag);
  expect_refusal(sb_vulkan_graph_dispatch(g, p, &(sb_vulkan_slice){b, 256, 1024}, &push, 1, &diag), &diag);
  expect_refusal(sb_vulkan_graph_dispatch(g, p, &(sb_vulkan_slice){b, 0, 0}, &push, UINT32_MAX, &diag), &diag);
  expect_refusal(sb_vulkan_graph_dispatch_indirect(g, p, &(sb_vulkan_slice){b, 0, 0}, &push, b, 1016, &diag), &diag);
  expect_refusal(sb_vulkan_graph_finish(g, &diag), &diag); /* it lacks what was refused */
  sb_vulkan_graph_destroy(g);
  assert_int_equal(sb_vulkan_graph_create(vulkan, false, &g, &diag), SB_OK);
  assert_int_equal(sb_vulkan_graph_finish(g, &diag), SB_OK);
  expect_refusal(sb_vulkan_graph_barrier(g, &diag), &diag);
  sb_vulkan_graph_destroy(g);
  sb_vulkan_buffer_destroy(b);
  sb_vulkan_pipeline_destroy(p);
}

static void make_and_drop(void)
{
  uint32_t out[COUNT];
  sb_diagnostics diag = {0};
  sb_vulkan_device *device = NULL;
  run_steps(false, out);
  assert_int_equal(sb_vulkan_device_create(vulkan, &device, &diag), SB_OK);
  sb_vulkan_device_destroy(device);
}

static void test_cycles(void **state)
{
  (void)state;
  for (int i = 0; i < 100; i++) make_and_drop();
  long before = resident();
  for (int i = 0; i < 1000; i++) make_and_drop();
  long after = resident();
  printf("1,000 cycles: %ld KiB before, %ld KiB after\n", before, after);
  assert_true(after - before < 8192);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order),
      cmocka_unit_test(test_large_transfers),
      cmocka_unit_test(test_ranges),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_cycles),
  };
  return cmocka_run_group_tests(tests, open_device, close_device);
}
