/* Which lane widths this processor can run. */
#include "maths_batch.h"

maths_batch *maths_batch_of(int lanes)
{
  if (lanes == 1) return maths_batch_lanes1;
  if (lanes == 4) return maths_batch_lanes4;
#if defined(__x86_64__)
  if (lanes == 8 && !__builtin_cpu_supports("avx2")) return NULL;
#endif
  return lanes == 8 ? maths_batch_lanes8 : NULL;
}
