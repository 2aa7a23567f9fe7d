/* A tick of an instance on a compute device: particles, bodies and what links them, in the order of xpbd.c. */
#ifndef SAMEBIT_XPBD_DEVICE_H
#define SAMEBIT_XPBD_DEVICE_H

#include "xpbd_link_device.h"

/* Empty dispatches cost time, so graphs differ in how many colours of near pairs and of bodies' contacts they go through. */
#define XP_NEAR_STEPS 4u
#define XP_COLOR_STEPS 5u

typedef struct xp_device {
  const sb_bind *bind;
  const sb_compute *compute;
  const sb_device_contacts *there; /* NULL where contacts come from the host */
  xp_bodies *bodies;
  xp_settings settings;
  bool jacobi; /* asked for; refused */
  xp_particle_device particles;
  xp_rigid_device rigid;
  xp_link_device links;
  uint32_t coloring;  /* graph of manifolds and colours, where contacts lie there */
  uint32_t near_step_count, color_step_count, near_steps[XP_NEAR_STEPS], color_steps[XP_COLOR_STEPS];
  uint32_t graphs[2][XP_NEAR_STEPS][XP_COLOR_STEPS]; /* of a tick: without and with contacts of particles */
  bool graphs_made;
  float graph_h; /* s, that they were made for */
} xp_device;

/* SB_E_UNSUPPORTED, with the reason, for what does not run there. */
sb_status xp_device_bind(xp_device *device, const sb_bind *bind, const xp_cloth *cloth, xp_bodies *bodies, const xp_touches *touches, xp_near *near, char *error, uint32_t error_size);
/* Records the graphs of a tick. */
sb_status xp_device_activate(xp_device *device, xp_settings settings, char *error, uint32_t error_size);
sb_status xp_device_step(xp_device *device, const sb_step *step, char *error, uint32_t error_size);
void xp_device_free(xp_device *device);

#endif
