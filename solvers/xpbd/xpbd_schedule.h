/* In which order a device may solve the bundles of a graph: levels of what depends on what. Plain C over index lists.
 *
 * The CPU takes phases, groups, kinds and bundles in turn. A bundle depends on the last one before it that has one of its particles; its level is one more than the
 * highest level of those. So bundles of one level share no particle, each particle meets its bundles in the CPU's order, and a device that takes one level after another
 * gives the same bits, whatever it does at once within a level. */
#ifndef SAMEBIT_XPBD_SCHEDULE_H
#define SAMEBIT_XPBD_SCHEDULE_H

#include "xpbd_setup.h"

/* Places that one level's bundles of a kind take in the device's order. Levels begin at multiples of XP_LEVEL_ALIGN, so that a binding may begin there. */
#define XP_LEVEL_ALIGN 8u

typedef struct xp_level {
  uint32_t first[XP_KINDS], count[XP_KINDS]; /* bundles */
} xp_level;

typedef struct xp_schedule {
  xp_level *levels;
  uint32_t level_count;
  uint32_t *order[XP_KINDS]; /* bundle of each place; XP_NONE in gaps */
  uint32_t places[XP_KINDS];
} xp_schedule;

/* False when memory ran out; drop it in either case. */
bool xp_schedule_make(xp_schedule *schedule, const xp_cloth *cloth);
void xp_schedule_drop(xp_schedule *schedule);

/* The particles of place `lane` of a bundle, and their number for each kind. */
const uint32_t *xp_bundle_particles(const xp_cloth *cloth, uint32_t kind, uint32_t bundle);
extern const uint32_t xp_arity[XP_KINDS];

#endif
