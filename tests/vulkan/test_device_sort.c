/* Prefix sums and radix sorts on the device against plain loops: lengths around those of blocks and tiles, and some with blocks of blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "array_registry.h"
#include "device_sort.h"
#include "vulkan_device.h"
#include "vulkan_test.h"

static sb_vulkan *vulkan;
static sb_vulkan_device *made;
static void *scope;
static sb_registry registry;

static uint32_t draw(uint64_t *random)
{
  *random = *random * 6364136223846793005u + 1442695040888963407u; /* Knuth, MMIX */
  return (uint32_t)(*random >> 33);
}

static sb_vulkan_buffer *filled(const uint32_t *data, size_t words)
{
  sb_vulkan_buffer *b = NULL;
  assert_int_equal(sb_vulkan_device_buffer_create(vulkan, 4 * words, &b, NULL), SB_OK);
  assert_int_equal(sb_vulkan_upload(vulkan, b, 0, data, 4 * words, NULL), SB_OK);
  return b;
}

static void run_graph(device_recorder *r)
{
  assert_int_equal(r->status, SB_OK);
  assert_int_equal(sb_vulkan_graph_finish(r->graph, NULL), SB_OK);
  assert_int_equal(sb_vulkan_graph_run(r->graph, NULL), SB_OK);
}

/* n of `most` values; every second time as a count that lies on the device. */
static void check_scan(uint32_t n, uint32_t most, bool counted)
{
  uint64_t random = n;
  uint32_t *values = malloc(4 * (size_t)most), *seen = malloc(4 * (size_t)most), counts[2] = {n, 7}, sum = 0;
  device_sort sort = {0};
  device_recorder r = {NULL, SB_OK, NULL};
  assert_true(values && seen);
  for (uint32_t i = 0; i < most; i++) values[i] = draw(&random) % 5;
  sb_vulkan_buffer *from = filled(values, most), *to = filled(values, most), *count = filled(counts, 2);
  assert_int_equal(device_sort_create(&sort, scope, vulkan, most, 1, NULL), SB_OK);
  assert_int_equal(sb_vulkan_graph_create(vulkan, false, &r.graph, NULL), SB_OK);
  device_record_scan(&r, &sort, from, to, count, most, counted ? 0 : DEVICE_NONE, 1);
  run_graph(&r);
  assert_int_equal(sb_vulkan_download(vulkan, to, 0, seen, 4 * (uint64_t)most, NULL), SB_OK);
  assert_int_equal(sb_vulkan_download(vulkan, count, 0, counts, sizeof counts, NULL), SB_OK);
  for (uint32_t i = 0; i < (counted ? n : most); i++) {
    if (seen[i] != sum) fail_msg("%u of %u: at %u there are %u, expected %u", n, most, i, seen[i], sum);
    sum += values[i];
  }
  assert_int_equal(counts[1], sum);
  sb_vulkan_graph_destroy(r.graph);
  device_sort_destroy(&sort);
  sb_vulkan_buffer_destroy(from);
  sb_vulkan_buffer_destroy(to);
  sb_vulkan_buffer_destroy(count);
  free(values);
  free(seen);
}

static void test_scan(void **state)
{
  (void)state;
  static const uint32_t lengths[] = {1, 2, 1023, 1024, 1025, 4096, 70000, (1u << 20) + 1, 2500000};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    check_scan(lengths[i], lengths[i], false);
    check_scan(lengths[i] - lengths[i] / 3, lengths[i] + 100, true);
  }
  check_scan(0, 3000, true);
}

typedef struct sort_pair {
  uint32_t key, place;
} sort_pair;

static int by_key_then_place(const void *a, const void *b)
{
  const sort_pair *x = a, *y = b;
  return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x->place > y->place) - (x->place < y->place);
}

/* Stable: equal keys keep their places. */
static void check_sort(uint32_t n, uint32_t most, uint32_t bits)
{
  uint64_t random = n + bits;
  sort_pair *pairs = malloc(sizeof *pairs * ((size_t)most + 1)), *seen = malloc(sizeof *seen * ((size_t)most + 1));
  uint32_t counts[1] = {n};
  device_sort sort = {0};
  device_recorder r = {NULL, SB_OK, NULL};
  assert_true(pairs && seen);
  for (uint32_t i = 0; i < most; i++) pairs[i] = (sort_pair){draw(&random) & ((1u << bits) - 1u), i};
  sb_vulkan_buffer *a = filled(&pairs->key, 2 * (size_t)most), *b = filled(&pairs->key, 2 * (size_t)most), *count = filled(counts, 1);
  assert_int_equal(device_sort_create(&sort, scope, vulkan, 1, most, NULL), SB_OK);
  assert_int_equal(sb_vulkan_graph_create(vulkan, false, &r.graph, NULL), SB_OK);
  sb_vulkan_buffer *sorted = device_record_sort(&r, &sort, a, b, count, most, 0, 0, bits);
  run_graph(&r);
  assert_int_equal(sb_vulkan_download(vulkan, sorted, 0, seen, sizeof *seen * (uint64_t)most, NULL), SB_OK);
  qsort(pairs, n, sizeof *pairs, by_key_then_place);
  assert_memory_equal(seen, pairs, sizeof *pairs * n);
  sb_vulkan_graph_destroy(r.graph);
  device_sort_destroy(&sort);
  sb_vulkan_buffer_destroy(a);
  sb_vulkan_buffer_destroy(b);
  sb_vulkan_buffer_destroy(count);
  free(pairs);
  free(seen);
}

static void test_sort(void **state)
{
  (void)state;
  static const uint32_t lengths[] = {1, 15, 16, 17, 2047, 2048, 2049, 50000, 400000};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    check_sort(lengths[i], lengths[i], 5);
    check_sort(lengths[i] - lengths[i] / 4, lengths[i] + 3000, 17);
  }
  check_sort(0, 100, 4);
}

static int open_device(void **state)
{
  static sb_model nothing = {.struct_size = sizeof nothing};
  (void)state;
  if (sb_vulkan_open(&vulkan, NULL) || sb_vulkan_device_create(vulkan, &made, NULL) || sb_registry_init(&registry, &nothing)) return 1;
  const sb_device *device = sb_vulkan_device_for_sim(made, false);
  return device->open(device->context, &registry, &scope, NULL);
}

static int close_device(void **state)
{
  (void)state;
  sb_vulkan_device_for_sim(made, false)->close(scope);
  sb_registry_free(&registry);
  sb_vulkan_device_destroy(made);
  sb_vulkan_close(vulkan);
  return 0;
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_scan), cmocka_unit_test(test_sort)};
  return no_device() ? SKIP : cmocka_run_group_tests(tests, open_device, close_device);
}
