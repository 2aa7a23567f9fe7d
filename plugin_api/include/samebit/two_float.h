/* Pairs of floats whose unevaluated sum carries about 48 bits, without fused operations. May know kernel.h. */
#ifndef SAMEBIT_TWO_FLOAT_H
#define SAMEBIT_TWO_FLOAT_H

#include "samebit/kernel.h"

STRUCT(F2)
{
  F hi;
  F lo;
};

FN F2 f2(F hi, F lo)
{
  F2 r;
  r.hi = hi;
  r.lo = lo;
  return r;
}
/* a + b exactly, for |a| >= |b| or a = 0 (Dekker 1971). */
FN F2 f2_fast_sum(F a, F b)
{
  F s = a + b;
  return f2(s, b - (s - a));
}
/* a + b exactly (Knuth 1969, The Art of Computer Programming 4.2.2, theorem B). */
FN F2 f2_sum(F a, F b)
{
  F s = a + b;
  F t = s - a;
  return f2(s, (a - (s - t)) + (b - t));
}
/* x as a sum of two floats of 12 bits each (Veltkamp 1968); |x| < 2^115. */
FN F2 f2_halves(F x)
{
  F c = x * 4097.0f;
  F hi = c - (c - x);
  return f2(hi, x - hi);
}
/* a * b exactly (Dekker 1971), while no partial product leaves the normal range. */
FN F2 f2_product(F a, F b)
{
  F p = a * b;
  F2 x = f2_halves(a);
  F2 y = f2_halves(b);
  return f2(p, ((x.hi * y.hi - p) + x.hi * y.lo + x.lo * y.hi) + x.lo * y.lo);
}

#endif
