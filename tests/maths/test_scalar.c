/* The scalar functions against exact references, at every lane width, over all pairs of special values and random bits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "maths_batch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static uint32_t bits(float x)
{
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}
static float from_bits(uint32_t u)
{
  float x;
  memcpy(&x, &u, sizeof x);
  return x;
}
/* The documented integer conversion, by another road: binary64 compares and C's own conversion in range. */
static float to_i(float a, float b)
{
  (void)b;
  int32_t i = isnan(a) ? 0 : a >= 2147483648.0 ? INT32_MAX : a <= -2147483648.0 ? INT32_MIN : (int32_t)a;
  return from_bits((uint32_t)i);
}
static float r_trunc(float a, float b) { return (void)b, truncf(a); }
static float r_floor(float a, float b) { return (void)b, floorf(a); }
static float r_ceil(float a, float b) { return (void)b, ceilf(a); }
static float r_round(float a, float b) { return (void)b, nearbyintf(a); }
static float r_fmod(float a, float b) { return fmodf(a, b); }
static float r_min(float a, float b) { return isnan(a) || isnan(b) || a == b ? b : fminf(a, b); }
static float r_max(float a, float b) { return isnan(a) || isnan(b) || a == b ? b : fmaxf(a, b); }
static float r_copysign(float a, float b) { return copysignf(a, b); }
static float r_snap(float a, float b) { return fabsf(a) < b ? 0.0f : a; }
/* Binary64 quotients and roots of binary32 numbers round to the right binary32 (Figueroa 1995). */
static float r_div(float a, float b) { return (float)((double)a / (double)b); }
static float r_sqrt(float a, float b) { return (void)b, (float)sqrt((double)a); }

static const struct {
  maths_function f;
  float (*reference)(float, float);
} rows[] = {{MATHS_trunc, r_trunc},       {MATHS_floor, r_floor}, {MATHS_ceil, r_ceil}, {MATHS_round_even, r_round},
            {MATHS_fmod, r_fmod},         {MATHS_to_i, to_i},     {MATHS_min, r_min},   {MATHS_max, r_max},
            {MATHS_copysign, r_copysign}, {MATHS_snap, r_snap},   {MATHS_div, r_div},   {MATHS_sqrt, r_sqrt}};

static const uint32_t specials[] = {0x00000000, 0x00000001, 0x00000003, 0x007fffff, 0x00800000, 0x00ffffff, 0x3effffff,
                                    0x3f000000, 0x3f000001, 0x3f7fffff, 0x3f800000, 0x3fbfffff, 0x3fc00000, 0x40200000,
                                    0x40490fdb, 0x4affffff, 0x4b000000, 0x4b000001, 0x4b7fffff, 0x4effffff, 0x4f000000,
                                    0x4f000001, 0x4f800000, 0x5f000000, 0x7f000000, 0x7f7fffff, 0x7f800000, 0x7fc00000};

static uint32_t mix(uint32_t v)
{
  v ^= v >> 16, v *= 0x7feb352du;
  v ^= v >> 15, v *= 0x846ca68bu;
  return v ^ v >> 16;
}

#define COUNT (1 << 18)
static float in_a[COUNT], in_b[COUNT], got[COUNT];

static void test_against_references(void **state)
{
  (void)state;
  const uint32_t n = sizeof specials / sizeof *specials;
  for (uint32_t i = 0; i < COUNT; i++) {
    uint32_t x = mix(i), y = mix(i + 0x51ed270bu);
    if (i < n * n * 4)
      x = specials[i / 4 / n] | (i & 1) << 31, y = specials[i / 4 % n] | (i & 2) << 30;
    else if (i & 1)
      x = (x & 0x8fffffffu) | 0x40000000u; /* around the integers */
    in_a[i] = from_bits(x), in_b[i] = from_bits(y);
  }
  for (int lanes = 1; lanes <= 8; lanes += lanes == 1 ? 3 : 4) {
    maths_batch *batch = maths_batch_of(lanes);
    if (!batch) continue;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
      batch(rows[r].f, COUNT, in_a, in_b, got);
      for (uint32_t i = 0; i < COUNT; i++) {
        float want = rows[r].reference(in_a[i], in_b[i]);
        int integers = rows[r].f == MATHS_to_i;
        if (!integers && isnan(want) && isnan(got[i])) continue;
        if (bits(want) != bits(got[i]))
          fail_msg("function %d, %d lanes: (%a, %a) gave %08x, expected %08x", (int)rows[r].f, lanes, in_a[i], in_b[i],
                   bits(got[i]), bits(want));
      }
    }
  }
}

/* A lane's result must not depend on what its neighbours hold. */
static void test_lanes_are_independent(void **state)
{
  (void)state;
  for (int lanes = 4; lanes <= 8; lanes += 4) {
    maths_batch *batch = maths_batch_of(lanes);
    if (!batch) continue;
    for (maths_function f = 0; f < MATHS_FUNCTION_COUNT; f++) {
      static float one[COUNT];
      maths_batch_lanes1(f, COUNT, in_a, in_b, one);
      batch(f, COUNT, in_a, in_b, got);
      for (uint32_t i = 0; i < COUNT; i++) {
        if (isnan(one[i]) && isnan(got[i]) && f != MATHS_to_i) continue;
        if (bits(one[i]) != bits(got[i]))
          fail_msg("function %d, %d lanes: (%a, %a) gave %08x, scalar %08x", (int)f, lanes, in_a[i], in_b[i],
                   bits(got[i]), bits(one[i]));
      }
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_against_references),
      cmocka_unit_test(test_lanes_are_independent),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
