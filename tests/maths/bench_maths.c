/* Nanoseconds for each value of the hot shared functions, by lane width. Not a test: it prints a table. */
#define _POSIX_C_SOURCE 199309L
#include "maths_batch.h"

#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define COUNT 4096
#define ROUNDS 200

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(void)
{
  static float a[COUNT], b[COUNT], out[COUNT];
  static const struct {
    const char *name;
    maths_function f;
    float low, high;
  } rows[] = {
      {"div", MATHS_div, -4, 4},
      {"sqrt", MATHS_sqrt, 0, 4},
      {"rsqrt", MATHS_rsqrt, 0.1f, 4},
      {"sincos", MATHS_sincos, -7, 7},
      {"sincos, large", MATHS_sincos, 1e4f, 1e9f},
      {"tan", MATHS_tan, -7, 7},
      {"atan2", MATHS_atan2, -4, 4},
      {"asin", MATHS_asin, -1, 1},
      {"acos", MATHS_acos, -1, 1},
      {"exp", MATHS_exp, -10, 10},
      {"log", MATHS_log, 0.1f, 10},
      {"fmod", MATHS_fmod, -100, 100},
      {"to_i", MATHS_to_i, -100, 100},
      {"floor", MATHS_floor, -100, 100},
  };
  uint32_t s = 1;
  printf("%-14s %8s %8s %8s  ns each\n", "function", "1 lane", "4 lanes", "8 lanes");
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    for (int i = 0; i < COUNT; i++) {
      s = s * 1664525u + 1013904223u;
      a[i] = rows[r].low + (rows[r].high - rows[r].low) * (float)(s >> 8) / 16777216.0f;
      s = s * 1664525u + 1013904223u;
      b[i] = 0.5f + (float)(s >> 8) / 16777216.0f;
    }
    printf("%-14s", rows[r].name);
    for (int lanes = 1; lanes <= 8; lanes += lanes == 1 ? 3 : 4) {
      maths_batch *batch = maths_batch_of(lanes);
      double best = 1;
      for (int k = 0; batch && k < ROUNDS; k++) {
        double t = now();
        batch(rows[r].f, COUNT, a, b, out);
        t = now() - t;
        if (t < best) best = t;
      }
      if (batch)
        printf(" %8.2f", best * 1e9 / COUNT);
      else
        printf(" %8s", "-");
    }
    printf("\n");
  }
  return 0;
}
