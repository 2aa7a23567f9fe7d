/* Free rigid bodies on a compute device: the same kernels over the same records. Contacts, manifolds and colours come from the host. */
#ifndef SAMEBIT_XPBD_RIGID_DEVICE_H
#define SAMEBIT_XPBD_RIGID_DEVICE_H

#include "samebit/compute_tools.h"
#include "xpbd_bodies.h"

/* Empty dispatches cost time, so graphs differ in how many colours they go through. */
#define XP_COLOR_STEPS 5u

typedef struct xp_rigid_device {
  const sb_bind *bind;
  xp_bodies *bodies;
  const sb_compute *compute;
  xp_settings settings;
  uint64_t others_stride; /* bytes of the bodies of one substep */
  /* on their way to the device */
  uint32_t *words;
  float *others_of;
  /* handles */
  uint32_t live, fixed, others, gravity, manifolds, starts, groups, contacts, kept, body_q, body_qd, body_f, joint_q, joint_qd;
  uint32_t body_pass[3], manifold_pass[4];
  uint32_t graphs[XP_COLOR_STEPS];
  bool graphs_made;
  float graph_h; /* s, that they were made for */
} xp_rigid_device;

/* SB_E_UNSUPPORTED, with the reason, for what does not run there. */
sb_status xp_rigid_device_bind(xp_rigid_device *device, const sb_bind *bind, xp_bodies *bodies, char *error, uint32_t error_size);
/* Records the graphs of a tick. */
sb_status xp_rigid_device_activate(xp_rigid_device *device, xp_settings settings, char *error, uint32_t error_size);
sb_status xp_rigid_device_step(xp_rigid_device *device, const sb_step *step, char *error, uint32_t error_size);

#endif
