/* An instance of semi_implicit on a compute device: the graphs of a tick, in which bodies and particles take turns as they do on the CPU. */
#ifndef SAMEBIT_SEMI_DEVICE_H
#define SAMEBIT_SEMI_DEVICE_H

#include "semi_particle_device.h"

typedef struct si_device {
  const sb_compute *compute;
  si_particle_device particles;
  si_rigid_device rigid;
  bool has_bodies, has_particles;
  uint32_t graphs[4]; /* of a tick: bit 0 with contacts of particles, bit 1 with near pairs */
  bool graphs_made;
  float graph_dt; /* s, that they were made for */
} si_device;

/* particles: NULL where the instance has none. tick: what is fixed of the bodies. */
sb_status si_device_bind(si_device *device, const sb_bind *bind, const si_particles *particles, const si_tick *tick, const si_settings *settings, char *error, uint32_t error_size);
/* After si_particles_activate: stiffnesses go there, the graphs of a tick are recorded. */
sb_status si_device_activate(si_device *device, const si_settings *settings, char *error, uint32_t error_size);
/* A tick, whose contacts, shares and lists are made. */
sb_status si_device_step(si_device *device, si_particles *particles, const sb_step *step, const si_tick *tick, char *error, uint32_t error_size);

#endif
