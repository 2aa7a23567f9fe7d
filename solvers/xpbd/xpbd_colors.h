/* Greedy colours for constraints between two bodies, in their order. */
#ifndef SAMEBIT_XPBD_COLORS_H
#define SAMEBIT_XPBD_COLORS_H

#include "xpbd_data.h"

#define XP_MAX_COLORS 32u /* an item beyond them goes to the serial group, in order */

typedef struct xp_colors {
  uint32_t *order;     /* items by colour, in order within one */
  uint8_t *color;      /* scratch: of each item */
  uint64_t *used;      /* scratch: of each record */
  uint32_t start[XP_MAX_COLORS + 2]; /* first of each colour in order; the last group is the serial one */
} xp_colors;

/* Each item takes the lowest colour that neither of its records has; records from `fixed` on count for nothing. The colour of an item depends only on those
 * before it that are linked with it, so what comes after, and what is elsewhere, changes nothing. records: number of records. */
void xp_color(xp_colors *colors, uint32_t count, const uint32_t (*pair)[2], uint32_t fixed);

#endif
