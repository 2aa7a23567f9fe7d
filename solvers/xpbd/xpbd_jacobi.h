/* Elements all at once: each takes a share of its correction, and each particle sums what its elements give it, in fixed order.
 *
 * A share is 1 / n, n the most elements that one of its particles has. Both sides of a constraint get the same share, so momentum is kept; each element is a projection in the
 * norm of the masses, and no particle takes more than one whole projection of those that act on it, so the sum does not grow. The multipliers grow by the same share, so where
 * it converges it converges to what Gauss and Seidel's order does. */
#ifndef SAMEBIT_XPBD_JACOBI_H
#define SAMEBIT_XPBD_JACOBI_H

#include "xpbd_setup.h"

typedef struct xp_jacobi {
  bool on;
  float *slots;                     /* corrections: for each bundle and corner x, y and z of eight elements */
  uint64_t base[XP_KINDS];          /* floats before those of each kind */
  float *share[XP_KINDS];           /* XP_WIDTH for each bundle */
  uint32_t *first[XP_KINDS];        /* of each record in `entry`, records + 1 */
  uint64_t *entry[XP_KINDS];        /* where the x of a correction is */
} xp_jacobi;

/* Memory comes from the host; SB_E_MEMORY when there is none. */
sb_status xp_jacobi_bind(xp_jacobi *jacobi, const sb_bind *bind, const xp_cloth *cloth);
/* Moves particles first to end - 1 by what the kinds of a mask gave them. */
void xp_jacobi_gather(const xp_jacobi *jacobi, const xp_particles *particles, uint32_t kinds, uint32_t first, uint32_t end);

#endif
