/* One joint in maximal coordinates: measured, held, driven. Scalar code over the kernels. */
#ifndef SAMEBIT_XPBD_JOINT_H
#define SAMEBIT_XPBD_JOINT_H

#include "xpbd_bodies.h"
#include "xpbd_records.h"

/* Solves the joint of a child body once: dofs, then orientation, then position; back: the other way round. */
void xp_joint_solve(const xp_bodies *bodies, uint32_t child, bool back);
/* Writes joint_q and joint_qd from the bodies' poses and velocities. */
void xp_joint_store(const xp_bodies *bodies, uint32_t child);

#endif
