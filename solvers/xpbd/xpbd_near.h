/* Near pairs of particles' features: coloured each tick, kept apart in each iteration. */
#ifndef SAMEBIT_XPBD_NEAR_H
#define SAMEBIT_XPBD_NEAR_H

#include "xpbd_setup.h"

#define XP_NEAR_COLORS 64u /* a pair beyond them goes to the serial group, in order */

typedef struct xp_near {
  const sb_bind *bind;
  const xp_cloth *cloth;
  const sb_near_pairs *pairs;
  uint32_t *order;
  uint8_t *color;
  uint64_t *used;      /* of each particle's record */
  uint32_t start[XP_NEAR_COLORS + 2];
  uint32_t first, end; /* of the parallel loop */
} xp_near;

sb_status xp_near_bind(xp_near *near, const sb_bind *bind, const xp_cloth *cloth);
/* Records of a pair's particles, `nobody` where there is none. */
void xp_near_records(const xp_near *near, uint32_t pair, uint32_t record[4]);
void xp_near_begin(xp_near *near, const sb_step *step);
void xp_near_solve(xp_near *near);

#endif
