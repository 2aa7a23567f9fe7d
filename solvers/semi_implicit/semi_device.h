/* Particles under semi_implicit on a compute device: the same kernels over the shared state, forces gathered in the same order. */
#ifndef SAMEBIT_SEMI_DEVICE_H
#define SAMEBIT_SEMI_DEVICE_H

#include "samebit/compute_tools.h"
#include "semi_particles.h"

typedef struct si_device {
  const sb_bind *bind;
  const si_particles *p;
  const sb_compute *compute;
  si_settings settings;
  uint64_t body_stride; /* bytes of the bodies of one substep */
  float *body_rows;     /* scratch */
  /* handles */
  uint32_t q, qd, words[SI_TOUCHES], force, bodies, touches, touch_force, touch_start, nears, near_force, near_first, near_entry, particles, share, counts, groups,
      own, first, entry, gravity;
  uint32_t elements[SI_TOUCHES], meet[2], move;
  uint32_t graphs[4]; /* of a tick: bit 0 with contacts, bit 1 with near pairs */
  bool graphs_made;
  float graph_dt; /* s, that they were made for */
} si_device;

/* After si_particles_bind. */
sb_status si_device_bind(si_device *device, const sb_bind *bind, const si_particles *particles, const si_settings *settings, char *error, uint32_t error_size);
/* After si_particles_activate: stiffnesses go there, the graphs of a tick are recorded. */
sb_status si_device_activate(si_device *device, const si_settings *settings, char *error, uint32_t error_size);
/* A tick, after si_particles_begin. tick: for what bodies answer. */
sb_status si_device_step(si_device *device, si_particles *particles, const sb_step *step, const si_tick *tick, char *error, uint32_t error_size);

#endif
