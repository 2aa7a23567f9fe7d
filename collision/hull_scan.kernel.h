/* The farthest of many points along a direction, in the kernel dialect. Knows samebit/maths.h alone. */
#ifndef SAMEBIT_COLLISION_HULL_SCAN_KERNEL_H
#define SAMEBIT_COLLISION_HULL_SCAN_KERNEL_H

#include "samebit/maths.h"

STRUCT(Farthest) { F along; U index; };

/* The better of what was found and the point p, which has a higher index; `counts`: p is one of the points. */
FN Farthest farthest_of(Farthest best, V3 p, U index, M counts, V3 d)
{
  F along = v3_dot(p, d);
  M better = m_and(along > best.along, counts);
  best.along = f_sel(better, along, best.along);
  best.index = u_sel(better, index, best.index);
  return best;
}

#endif
