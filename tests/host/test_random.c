/* Random numbers: pinned values, and that each argument matters while call order cannot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "samebit/random.h"

static void values_are_pinned(void **state)
{
  (void)state;
  uint32_t stream = sb_random_stream("control");
  assert_int_equal(stream, 0x529ee39eu);
  uint32_t sum = 0;
  for (uint32_t i = 0; i < 1000; i++) sum = sum * 31u + sb_random_bits(42, i, stream, i * 7u, i % 3u);
  assert_int_equal(sum, 0x765f268fu);
}

static void every_argument_matters(void **state)
{
  (void)state;
  uint32_t base = sb_random_bits(1, 2, 3, 4, 5);
  assert_true(base == sb_random_bits(1, 2, 3, 4, 5));
  assert_true(base != sb_random_bits(1ull << 40 | 1, 2, 3, 4, 5) && base != sb_random_bits(2, 2, 3, 4, 5));
  assert_true(base != sb_random_bits(1, 1ull << 40 | 2, 3, 4, 5) && base != sb_random_bits(1, 3, 3, 4, 5));
  assert_true(base != sb_random_bits(1, 2, 4, 4, 5) && base != sb_random_bits(1, 2, 3, 5, 5) && base != sb_random_bits(1, 2, 3, 4, 6));
}

static void units_are_uniform(void **state)
{
  (void)state;
  uint32_t bins[16] = {0};
  for (uint32_t i = 0; i < 160000; i++) {
    float u = sb_random_unit(7, i, 9, i & 255u, 0);
    assert_true(u >= 0.0f && u < 1.0f);
    bins[(int)(u * 16.0f)]++;
  }
  for (int b = 0; b < 16; b++) assert_in_range(bins[b], 9500, 10500); /* 5 sigma */
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(values_are_pinned), cmocka_unit_test(every_argument_matters),
                                     cmocka_unit_test(units_are_uniform)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
