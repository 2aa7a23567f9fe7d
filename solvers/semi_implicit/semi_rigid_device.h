/* Free rigid bodies under semi_implicit on a compute device: the same kernels over the shared state, forces gathered in the same order. Contacts come from the host. */
#ifndef SAMEBIT_SEMI_RIGID_DEVICE_H
#define SAMEBIT_SEMI_RIGID_DEVICE_H

#include "samebit/compute_tools.h"
#include "semi_implicit_data.h"

typedef struct si_rigid_device {
  const sb_bind *bind;
  const sb_compute *compute;
  si_settings settings;
  uint32_t moved_count;
  float *scratch;
  /* handles */
  uint32_t body_q, body_qd, body_f, joint_q, joint_qd, fixed, forces, contacts, share, moved, gravity, first, list, groups, contact_pass, body_pass, graph;
  bool graph_made;
  float graph_dt; /* s, that it was made for */
} si_rigid_device;

/* tick: what is fixed of the bodies. */
sb_status si_rigid_device_bind(si_rigid_device *device, const sb_bind *bind, const si_tick *tick, const si_settings *settings, char *error, uint32_t error_size);
/* Records the graph of a tick. */
sb_status si_rigid_device_activate(si_rigid_device *device, const si_settings *settings, char *error, uint32_t error_size);
/* A tick, whose contacts, shares and lists are made. */
sb_status si_rigid_device_step(si_rigid_device *device, const si_tick *tick, char *error, uint32_t error_size);

#endif
