/* Particles on a compute device: the same kernels over the same records, in an order that gives the same bits. Bodies of others come
 * from the host, substep by substep. */
#ifndef SAMEBIT_XPBD_DEVICE_H
#define SAMEBIT_XPBD_DEVICE_H

#include "samebit/compute_tools.h"
#include "samebit/device_contacts.h"
#include "xpbd_near.h"
#include "xpbd_schedule.h"
#include "xpbd_touch.h"

/* Empty dispatches cost time, so graphs differ in how many colours of near pairs they go through. */
#define XP_NEAR_STEPS 4u

typedef struct xp_device {
  const sb_bind *bind;
  const xp_cloth *cloth;
  xp_bodies *bodies;
  const xp_touches *touches;
  xp_near *near;
  const sb_compute *compute;
  const sb_device_contacts *there; /* NULL where contacts come from the host */
  uint32_t taken;                  /* the pipeline that takes them there */
  xp_settings settings;
  bool jacobi; /* asked for; refused */
  xp_schedule schedule;
  uint32_t attached_rows; /* particles that something holds */
  uint64_t body_stride;   /* bytes of the bodies of one substep */
  /* handles */
  uint32_t x, d, v, index, world, gravity, radius, bodies_of, contact_start, contacts, contacts_kept, held, held_start, held_items, held_kept, state_q, state_qd;
  uint32_t words[XP_KINDS], lambda[XP_KINDS], spring_damping, none;
  uint32_t near_pairs, near_start, near_groups;
  uint32_t motion[3], elements[XP_KINDS], touch[3], near_solve;
  uint32_t graphs[2][XP_NEAR_STEPS]; /* of a tick: without and with contacts; by how many colours near pairs may have */
  bool graphs_made;
  float graph_h; /* s, that they were made for */
  /* of a tick, on their way to the device */
  uint32_t *start;
  float *items, *body_records;
  uint32_t *pair_words;
} xp_device;

/* SB_E_UNSUPPORTED, with the reason, for what does not run there. */
sb_status xp_device_bind(xp_device *device, const sb_bind *bind, const xp_cloth *cloth, xp_bodies *bodies, const xp_touches *touches, xp_near *near,
                         char *error, uint32_t error_size);
/* Records the graphs of a tick. */
sb_status xp_device_activate(xp_device *device, xp_settings settings, char *error, uint32_t error_size);
sb_status xp_device_step(xp_device *device, const sb_step *step, char *error, uint32_t error_size);
void xp_device_free(xp_device *device);

#endif
