/* The shared functions over arrays; compiled once for each lane width. */
#include "maths_batch.h"

#include "samebit/maths.h"

FN F sincos_sum(F x)
{
  SinCos r = f_sincos(x);
  return r.s + r.c;
}

#define NAME_OF(lanes) NAME_PASTE(maths_batch_lanes, lanes)
#define NAME_PASTE(name, lanes) name##lanes

void NAME_OF(SB_LANES)(maths_function f, size_t n, const float *pa, const float *pb, float *out)
{
  if (!pb) pb = pa;
  switch (f) {
#define MATHS_X(name, arguments, expression)                                                                           \
  case MATHS_##name:                                                                                                   \
    for (size_t i = 0; i < n; i += SB_LANES) {                                                                         \
      F a = f_load(pa + i), b = f_load(pb + i);                                                                        \
      (void)b;                                                                                                         \
      f_store(out + i, expression);                                                                                    \
    }                                                                                                                  \
    break;
    MATHS_FUNCTIONS(MATHS_X)
#undef MATHS_X
  case MATHS_FUNCTION_COUNT:
    break;
  }
}
