/* Runs one shared function over arrays at a chosen lane width: what the accuracy check, the unit tests and the timing
 * program share. */
#ifndef SAMEBIT_TESTS_MATHS_BATCH_H
#define SAMEBIT_TESTS_MATHS_BATCH_H

#include <stddef.h>

/* X(name, arguments, expression in F a, b) */
#define MATHS_FUNCTIONS(X)                                                                                             \
  X(sin, 1, f_sin(a))                                                                                                  \
  X(cos, 1, f_cos(a))                                                                                                  \
  X(tan, 1, f_tan(a))                                                                                                  \
  X(asin, 1, f_asin(a))                                                                                                \
  X(acos, 1, f_acos(a))                                                                                                \
  X(atan, 1, f_atan(a))                                                                                                \
  X(exp, 1, f_exp(a))                                                                                                  \
  X(log, 1, f_log(a))                                                                                                  \
  X(atan2, 2, f_atan2(a, b))                                                                                           \
  X(sincos, 1, sincos_sum(a))                                                                                          \
  X(div, 2, f_div(a, b))                                                                                               \
  X(sqrt, 1, f_sqrt(a))                                                                                                \
  X(rsqrt, 1, f_rsqrt(a))                                                                                              \
  X(trunc, 1, f_trunc(a))                                                                                              \
  X(floor, 1, f_floor(a))                                                                                              \
  X(ceil, 1, f_ceil(a))                                                                                                \
  X(round_even, 1, f_round_even(a))                                                                                    \
  X(fmod, 2, f_fmod(a, b))                                                                                             \
  X(to_i, 1, f_from_bits(u_from_i(f_to_i(a))))                                                                         \
  X(min, 2, f_min(a, b))                                                                                               \
  X(max, 2, f_max(a, b))                                                                                               \
  X(snap, 2, f_snap(a, b))                                                                                             \
  X(copysign, 2, f_copysign(a, b))                                                                                     \
  X(clamp, 2, f_clamp(a, K(-1.0f), b))

typedef enum maths_function {
#define MATHS_X(name, arguments, expression) MATHS_##name,
  MATHS_FUNCTIONS(MATHS_X)
#undef MATHS_X
      MATHS_FUNCTION_COUNT
} maths_function;

/* out[i] = f(a[i], b[i]) for i below n, a multiple of 8. b may be NULL for functions of one argument. */
typedef void maths_batch(maths_function f, size_t n, const float *a, const float *b, float *out);
maths_batch maths_batch_lanes1, maths_batch_lanes4, maths_batch_lanes8;

/* The batch of that width, or NULL where this processor cannot run it. */
maths_batch *maths_batch_of(int lanes);

#endif
