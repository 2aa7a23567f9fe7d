/* Free rigid bodies on a compute device: the same kernels over the same records. Where contacts lie there, manifolds and colours are made there too; else all three come
 * from the host. Bodies of others come from the host, substep by substep. */
#ifndef SAMEBIT_XPBD_RIGID_DEVICE_H
#define SAMEBIT_XPBD_RIGID_DEVICE_H

#include "contact_graph.h"
#include "xpbd_bodies.h"

#define XP_COLOR_GROUPS (XP_MAX_COLORS + 1u) /* the last one is serial */

typedef struct xp_rigid_device {
  const sb_bind *bind;
  xp_bodies *bodies;
  const sb_device_contacts *there; /* NULL where contacts come from the host */
  contact_graph graph;             /* what makes manifolds and colours there */
  xp_settings settings;
  uint64_t others_stride; /* bytes of the bodies of one substep */
  /* on their way to the device */
  uint32_t *words;
  float *others_of;
  /* handles; live: records of all bodies, as the substep has them */
  uint32_t live, fixed, others, gravity, manifolds, starts, groups, contacts, kept, match, cache, body_q, body_qd, body_f, joint_q, joint_qd;
  uint32_t body_pass[3], manifold_pass[4], multiplier_pass[2];
} xp_rigid_device;

/* Buffers and pipelines; with bodies of this instance, or of others alone. SB_E_UNSUPPORTED, with the reason, for what does not run there. */
sb_status xp_rigid_device_bind(xp_rigid_device *device, sb_compute_calls *calls, const sb_bind *bind, xp_bodies *bodies, const sb_device_contacts *there);

/* Commands of a graph. Begin, at the tick's start: manifolds and colours, where contacts lie there, are a graph of their own before it. */
void xp_rigid_record_begin(xp_rigid_device *device, sb_compute_calls *calls, uint32_t graph);
void xp_rigid_record_predict(xp_rigid_device *device, sb_compute_calls *calls, uint32_t graph, uint32_t substep);
void xp_rigid_record_contacts(xp_rigid_device *device, sb_compute_calls *calls, uint32_t graph, uint32_t iteration, uint32_t colors);
void xp_rigid_record_velocities(xp_rigid_device *device, sb_compute_calls *calls, uint32_t graph, uint32_t colors);
void xp_rigid_record_end(xp_rigid_device *device, sb_compute_calls *calls, uint32_t graph);

/* What a tick brings from the host, after xp_bodies_meet(): others' bodies; contacts, and how many colours they have, the serial group counted as the last. */
void xp_rigid_send_others(xp_rigid_device *device, sb_compute_calls *calls);
uint32_t xp_rigid_send_contacts(xp_rigid_device *device, sb_compute_calls *calls);
/* How many colours the contacts have that lie there, after manifolds and colours have been run: waits for those. */
uint32_t xp_rigid_count_colors(xp_rigid_device *device, sb_compute_calls *calls);
/* Multipliers back, where contacts came from the host. */
void xp_rigid_keep(xp_rigid_device *device, sb_compute_calls *calls);

#endif
