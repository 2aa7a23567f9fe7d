/* The shaders' division and square root, whose text is compiled here as C, against the processor's: every significand
 * of the root at both parities of the exponent, every divisor significand with several dividends, and random bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef uint32_t uint;

static uint floatBitsToUint(float x)
{
  uint u;
  memcpy(&u, &x, sizeof u);
  return u;
}
static float uintBitsToFloat(uint u)
{
  float x;
  memcpy(&x, &u, sizeof x);
  return x;
}
static int findMSB(uint x)
{
  int n = -1;
  for (; x; x >>= 1) n++;
  return n;
}
static int max(int a, int b) { return a > b ? a : b; }

typedef struct ExactSplit ExactSplit;
static int exact_near(float x);
static ExactSplit exact_split(uint magnitude);
static int exact_estimate(float x, int e0);
static uint exact_round(int e, uint q, bool left);
static float f_div(float a, float b);
static float f_sqrt(float a);

/* GLSL's conversions look like calls; as function-like macros they leave the type names alone. */
#define uint(x) ((uint32_t)(x))
#define int(x) ((int32_t)(x))
#define float(x) ((float)(x))
#define SB_GLSL 1
#include "samebit/exact.h"
#undef SB_GLSL
#undef float
#undef int
#undef uint

static void check_div(uint a, uint b)
{
  float got = f_div(uintBitsToFloat(a), uintBitsToFloat(b)), want = uintBitsToFloat(a) / uintBitsToFloat(b);
  if (want != want ? got == got : floatBitsToUint(got) != floatBitsToUint(want))
    fail_msg("%08x / %08x gave %a, the processor %a", a, b, got, want);
}
static void check_sqrt(uint a)
{
  float got = f_sqrt(uintBitsToFloat(a)), want = __builtin_sqrtf(uintBitsToFloat(a));
  if (want != want ? got == got : floatBitsToUint(got) != floatBitsToUint(want))
    fail_msg("sqrt %08x gave %a, the processor %a", a, got, want);
}
static uint mix(uint v)
{
  v ^= v >> 16, v *= 0x7feb352du;
  v ^= v >> 15, v *= 0x846ca68bu;
  return v ^ v >> 16;
}

static void test_roots(void **state)
{
  (void)state;
  for (uint m = 0; m < 1u << 23; m++) {
    check_sqrt(0x3f800000u | m);
    check_sqrt(0x40000000u | m);
  }
  for (uint i = 0; i < 1u << 22; i++) check_sqrt(mix(i));
  for (uint i = 0; i < 1u << 20; i++) check_sqrt(i * 8u + 1u); /* subnormals */
  check_sqrt(0x80000000u);
  check_sqrt(0x7f800000u);
  check_sqrt(0x7f7fffffu);
}

static void test_quotients(void **state)
{
  (void)state;
  for (uint m = 0; m < 1u << 23; m++) {
    check_div(0x3f800000u | (mix(m) & 0x7fffffu), 0x3f800000u | m);
    check_div(0x3f800000u | ((m + 1u) & 0x7fffffu), 0x3f800000u | m); /* quotients next to 1 */
    check_div(0x3f800000u | ((m - 1u) & 0x7fffffu), 0x3f800000u | m);
    check_div(0x00800000u | (mix(m + 7u) & 0xffffffu), 0x3f800000u | m); /* results around the subnormals */
  }
  for (uint i = 0; i < 1u << 23; i++) check_div(mix(i), mix(i ^ 0x9e3779b9u));
}

static void test_special_pairs(void **state)
{
  (void)state;
  static const uint specials[] = {0,          1,          2,          0x007fffff, 0x00800000,
                                  0x00800001, 0x3f7fffff, 0x3f800000, 0x3f800001, 0x40000000,
                                  0x7e800000, 0x7f000000, 0x7f7fffff, 0x7f800000, 0x7fc00000};
  const uint n = sizeof specials / sizeof *specials;
  for (uint i = 0; i < n * n * 4; i++)
    check_div(specials[i / 4 / n] | (i & 1u) << 31, specials[i / 4 % n] | (i & 2u) << 30);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_roots), cmocka_unit_test(test_quotients),
                                     cmocka_unit_test(test_special_pairs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
