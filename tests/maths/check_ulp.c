/* Largest error of the shared functions against the host's binary64 library; fails above 1 ULP.
 *
 *   check_ulp [--full] [--lanes 1|4|8] [function...]
 *
 * Without --full every 521st float is tried, with it each of 2^32. atan2 runs over special pairs and random bits. The
 * error is |got - true| over the spacing of binary32 at the true value; beyond the largest float the scale goes on,
 * infinity standing for 2^128. NaN, and the sign of zero, have to be what the reference has. */
#include "maths_batch.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 4096

typedef struct target {
  const char *name;
  maths_function f;
  double (*reference)(double);
} target;

static const target targets[] = {
    {"sin", MATHS_sin, sin},    {"cos", MATHS_cos, cos},    {"tan", MATHS_tan, tan},
    {"asin", MATHS_asin, asin}, {"acos", MATHS_acos, acos}, {"atan", MATHS_atan, atan},
    {"exp", MATHS_exp, exp},    {"log", MATHS_log, log},    {"atan2", MATHS_atan2, NULL},
};

typedef struct worst {
  double error;
  float a, b, got;
  double expected;
  unsigned long long tried, wrong_kind;
} worst;

static float from_bits(uint32_t u)
{
  float x;
  memcpy(&x, &u, sizeof x);
  return x;
}

static double spacing(double x)
{
  if (x == 0) return 0x1p-149;
  int e = ilogb(x);
  if (e > 127) e = 127;
  return e < -126 ? 0x1p-149 : ldexp(1.0, e - 23);
}

static void judge(worst *w, float a, float b, float got, double expected)
{
  w->tried++;
  if (isnan(expected) || isnan(got)) {
    if (isnan(expected) && isnan(got)) return;
  } else if (isinf(expected) && isinf(got) && (expected > 0) == (got > 0)) {
    return;
  } else if (!isinf(expected) && (expected != 0 || got == 0) && (got != 0 || !signbit(got) == !signbit(expected))) {
    double value = isinf(got) ? copysign(0x1p128, got) : got;
    double error = fabs(value - expected) / spacing(expected);
    /* At and beyond the midpoint to 2^128 infinity is the right answer. */
    if (isinf(got) && fabs(expected) >= 0x1.ffffffp127 && (expected > 0) == (got > 0)) error = 0;
    if (error > w->error) {
      w->error = error;
      w->a = a, w->b = b, w->got = got, w->expected = expected;
    }
    return;
  }
  if (w->wrong_kind++ < 3) printf("  wrong kind of result: (%a, %a) gave %a, expected %a\n", a, b, got, expected);
}

static void sweep(const target *t, maths_batch *batch, uint32_t stride, worst *w)
{
  static float a[BLOCK], out[BLOCK];
  uint64_t next = 0;
  while (next <= UINT32_MAX) {
    size_t n = 0;
    for (; n < BLOCK; n++) {
      a[n] = from_bits((uint32_t)next);
      if (next <= UINT32_MAX) next += stride;
      if (next > UINT32_MAX && n + 1 < BLOCK) a[n + 1] = a[n];
    }
    batch(t->f, BLOCK, a, NULL, out);
    for (size_t i = 0; i < BLOCK; i++) judge(w, a[i], 0, out[i], t->reference((double)a[i]));
  }
}

static uint32_t mix(uint32_t v)
{
  v ^= v >> 16, v *= 0x7feb352du;
  v ^= v >> 15, v *= 0x846ca68bu;
  return v ^ v >> 16;
}

static const uint32_t special_bits[] = {
    0x00000000, 0x00000001, 0x00000002, 0x007fffff, 0x00800000, 0x00800001, 0x01000000, 0x0d000000, 0x20000000,
    0x2b800000, 0x2b7fffff, 0x33800000, 0x38800000, 0x39000000, 0x3e000000, 0x3ed413cd, 0x3ed413cc, 0x3f000000,
    0x3f7fffff, 0x3f800000, 0x3f800001, 0x3fc90fdb, 0x40000000, 0x40490fdb, 0x4b000000, 0x5f800000, 0x5f800001,
    0x60000000, 0x7e800000, 0x7f7fffff, 0x7f7ffffe, 0x7f800000, 0x7fc00000};

static void sweep_atan2(maths_batch *batch, uint32_t blocks, worst *w)
{
  static float a[BLOCK], b[BLOCK], out[BLOCK];
  const uint32_t specials = sizeof special_bits / sizeof *special_bits;
  const uint32_t pairs = specials * specials * 4;
  uint32_t pair = 0;
  for (uint32_t block = 0; block < blocks; block++) {
    for (uint32_t i = 0; i < BLOCK; i++) {
      uint32_t x = mix(block * BLOCK + i + 1), y = mix(x ^ 0x9e3779b9u);
      if (pair < pairs) {
        uint32_t p = pair++;
        x = special_bits[p / 4 / specials] | (p & 1) << 31;
        y = special_bits[p / 4 % specials] | (p & 2) << 30;
      } else if (block % 4 == 1) { /* magnitudes near each other, where most angles are */
        y = (x & 0x7f800000u) | (y & 0x807fffffu);
      } else if (block % 4 == 2) {
        y = (y & 0x83ffffffu) | 0x3c000000u, x = (x & 0x83ffffffu) | 0x3c000000u;
      } else if (block % 4 == 3) { /* near the folds of the octants */
        static const float slope[4] = {1.0f, 0.41421357f, 2.4142135f, 9.094947e-13f};
        float f = from_bits((x & 0x83ffffffu) | 0x3c000000u) * slope[i % 4];
        uint32_t u;
        memcpy(&u, &f, sizeof u);
        y = u + (y & 15u) - 8u, x = (x & 0x83ffffffu) | 0x3c000000u;
      }
      a[i] = from_bits(x), b[i] = from_bits(y);
    }
    batch(MATHS_atan2, BLOCK, a, b, out);
    for (size_t i = 0; i < BLOCK; i++) judge(w, a[i], b[i], out[i], atan2((double)a[i], (double)b[i]));
  }
}

int main(int argc, char **argv)
{
  int full = 0, lanes = 8, named = 0, bad = 0;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--full"))
      full = 1;
    else if (!strcmp(argv[i], "--lanes") && i + 1 < argc)
      lanes = atoi(argv[++i]);
    else
      named = 1;
  }
  maths_batch *batch = maths_batch_of(lanes);
  if (!batch) batch = maths_batch_of(4);
  for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
    int chosen = !named;
    for (int i = 1; i < argc; i++) chosen |= !strcmp(argv[i], targets[t].name);
    if (!chosen) continue;
    worst w = {0};
    if (targets[t].reference)
      sweep(&targets[t], batch, full ? 1 : 521, &w);
    else
      sweep_atan2(batch, full ? 1u << 18 : 1500, &w);
    printf("%-6s %.6f ULP at (%a, %a): %a, true %a; %llu tried\n", targets[t].name, w.error, w.a, w.b, w.got,
           w.expected, w.tried);
    fflush(stdout);
    if (w.wrong_kind || !(w.error <= 1.0)) {
      printf("%s: FAILED (%llu of the wrong kind)\n", targets[t].name, w.wrong_kind);
      bad = 1;
    }
  }
  return bad;
}
