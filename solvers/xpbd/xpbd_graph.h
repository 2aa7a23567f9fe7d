/* The graph of fixed constraints: parts, groups, phases, colours, bundles. Made once, at binding; plain C over index lists.
 *
 * Particles are cut into parts of XP_PART, counted from the start of each world; large deformables into larger parts of their own. A group holds the elements that touch the same
 * parts; the groups of one part alone make phase 0, the others are coloured so that groups of a phase share no part. So a phase is one parallel loop,
 * a group stays in a core's cache, and there are few phases. Inside a group, kind by kind, elements are coloured (no two of a colour share a particle), sorted by
 * particle, and cut into bundles of XP_WIDTH. Everything follows from the order of the model alone; elements that come after others change nothing for them. */
#ifndef SAMEBIT_XPBD_GRAPH_H
#define SAMEBIT_XPBD_GRAPH_H

#include "xpbd_data.h"

#define XP_PART 1024u
#define XP_LARGE 65536u     /* particles of a deformable that has parts of its own */
#define XP_LARGE_PART 8192u /* of so many */
#define XP_MAX_PARTICLES 4u /* of an element */

/* Elements of a kind: rows of `arity` particles in the model's list, of which `chosen` are taken. An index of -1 is no particle. */
typedef struct xp_elements {
  uint32_t arity, count;
  const int32_t *indices;
  const uint32_t *chosen;
} xp_elements;

typedef struct xp_graph {
  xp_group *groups;      /* by phase */
  uint32_t group_count;
  uint32_t *phase_group; /* first group of each phase, phase_count + 1 */
  uint32_t phase_count;
  /* of each kind: element in the model of each place, XP_WIDTH for each bundle, XP_NONE where none is left */
  uint32_t *order[XP_KINDS];
  uint32_t bundle_count[XP_KINDS];
} xp_graph;

/* local: record of each model particle, XP_NONE for those of others. Memory of groups and phases comes from the host; order is malloc'ed and
 * belongs to the caller, who frees it with xp_graph_drop(). False when memory ran out. */
bool xp_graph_make(xp_graph *graph, const sb_bind *bind, const uint32_t *local, const xp_elements elements[XP_KINDS]);
void xp_graph_drop(xp_graph *graph);

#endif
