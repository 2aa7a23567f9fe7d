/* Free rigid bodies under semi_implicit on a compute device: the same kernels over the shared state, forces gathered in the same order. Contacts come from the host. */
#ifndef SAMEBIT_SEMI_RIGID_DEVICE_H
#define SAMEBIT_SEMI_RIGID_DEVICE_H

#include "samebit/compute_tools.h"
#include "semi_implicit_data.h"

/* Handles: what particles do to bodies, 6 floats each, and lists of these by body. */
typedef struct si_presses {
  uint32_t presses, first, list;
} si_presses;

typedef struct si_rigid_device {
  const sb_bind *bind;
  si_settings settings;
  uint32_t moved_count;
  float *scratch;
  /* handles */
  uint32_t body_q, body_qd, body_f, joint_q, joint_qd, fixed, forces, contacts, share, moved, gravity, first, list, groups, contact_pass, body_pass, place_pass;
} si_rigid_device;

/* tick: what is fixed of the bodies. */
void si_rigid_device_bind(si_rigid_device *device, const sb_bind *bind, const si_tick *tick, const si_settings *settings, sb_compute_calls *calls);
/* Where bodies are goes to the records that particles meet. */
void si_rigid_device_record_places(si_rigid_device *device, uint32_t graph, sb_binding records, sb_compute_calls *calls);
void si_rigid_device_record_forces(si_rigid_device *device, uint32_t graph, sb_compute_calls *calls);
/* presses: NULL where particles do nothing to bodies. last: of the tick's substeps. */
void si_rigid_device_record_moves(si_rigid_device *device, uint32_t graph, const si_presses *presses, bool last, sb_compute_calls *calls);
/* Contacts of a tick, whose shares and lists are made. */
void si_rigid_device_send(si_rigid_device *device, const si_tick *tick, sb_compute_calls *calls);

#endif
