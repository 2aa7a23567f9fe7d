/* The farthest vertex or face of a hull along a direction; compiled once for each lane width. Knows hull_scan.kernel.h. */
#include "hull_lanes.h"

#include "hull_scan.kernel.h"

#if SB_LANES == 8
#define COLLISION_FARTHEST_LANES collision_farthest_lanes8
#elif SB_LANES == 4
#define COLLISION_FARTHEST_LANES collision_farthest_lanes4
#else
#define COLLISION_FARTHEST_LANES collision_farthest_lanes1
#endif

uint32_t COLLISION_FARTHEST_LANES(const float *const points[3], uint32_t first, uint32_t count, const float d[3])
{
  static const uint32_t lane[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  const float *x = points[0] + first, *y = points[1] + first, *z = points[2] + first;
  V3 along = v3(K(d[0]), K(d[1]), K(d[2]));
  Farthest best = {v3_dot(v3(K(x[0]), K(y[0]), K(z[0])), along), KU(0)};
  U index, last = KU(count);
  memcpy(&index, lane, sizeof index);
  for (uint32_t i = 0; i < count; i += SB_LANES) {
    best = farthest_of(best, v3(f_load(x + i), f_load(y + i), f_load(z + i)), index, index < last, along);
    index = index + KU(SB_LANES);
  }
  /* the farthest of the lanes, of equal ones the first point */
  float most[SB_LANES];
  uint32_t at[SB_LANES], chosen = 0;
  f_store(most, best.along);
  memcpy(at, &best.index, sizeof at);
  for (uint32_t l = 1; l < SB_LANES; l++)
    if (most[l] > most[chosen] || (most[l] == most[chosen] && at[l] < at[chosen])) chosen = l;
  return at[chosen];
}
