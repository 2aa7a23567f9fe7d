/* Particles under semi_implicit on a compute device: the same kernels over the shared state, forces gathered in the same order. */
#ifndef SAMEBIT_SEMI_PARTICLE_DEVICE_H
#define SAMEBIT_SEMI_PARTICLE_DEVICE_H

#include "semi_particles.h"
#include "semi_rigid_device.h"

typedef struct si_particle_device {
  const sb_bind *bind;
  const si_particles *p;
  si_settings settings;
  bool pressing;        /* what particles do to bodies is wanted */
  uint64_t body_stride; /* bytes of the bodies of one substep */
  float *body_rows;     /* scratch */
  uint32_t *press_list; /* likewise */
  si_presses presses;
  /* handles */
  uint32_t q, qd, words[SI_TOUCHES], force, bodies, touches, touch_force, touch_start, nears, near_force, near_first, near_entry, particles, share, counts, groups,
      own, first, entry, gravity;
  uint32_t elements[SI_TOUCHES], meet[2], move;
} si_particle_device;

/* After si_particles_bind. pressing: some body that particles may meet is moved by this instance. */
void si_particle_device_bind(si_particle_device *device, const sb_bind *bind, const si_particles *particles, bool pressing, const si_settings *settings, sb_compute_calls *calls);
/* After si_particles_activate: stiffnesses go there. */
void si_particle_device_activate(si_particle_device *device, const si_settings *settings, sb_compute_calls *calls);
/* Records of the bodies that particles meet in a substep. */
sb_binding si_particle_device_bodies(const si_particle_device *device, uint32_t substep);
/* touching, near: the tick has contacts with shapes, near pairs. */
void si_particle_device_record_forces(si_particle_device *device, uint32_t graph, uint32_t substep, bool touching, bool near, sb_compute_calls *calls);
void si_particle_device_record_moves(si_particle_device *device, uint32_t graph, bool touching, bool near, sb_compute_calls *calls);
/* What a tick has, after si_particles_begin. tick: for what bodies answer. */
void si_particle_device_send(si_particle_device *device, si_particles *particles, const sb_step *step, const si_tick *tick, sb_compute_calls *calls);

#endif
