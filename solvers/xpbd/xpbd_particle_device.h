/* Particles on a compute device: the same kernels over the same records, in an order that gives the same bits. What links them with bodies of the same instance is in
 * xpbd_link_device.h. */
#ifndef SAMEBIT_XPBD_PARTICLE_DEVICE_H
#define SAMEBIT_XPBD_PARTICLE_DEVICE_H

#include "samebit/compute_tools.h"
#include "samebit/device_contacts.h"
#include "xpbd_near.h"
#include "xpbd_schedule.h"
#include "xpbd_touch.h"

#define XP_NEAR_GROUPS (XP_NEAR_COLORS + 1u) /* the last one is serial */
/* Words of what the shaders of contacts and attachments read, and of multipliers. */
#define XP_ATTACHMENT_WORDS 6u
#define XP_CONTACT_WORDS 9u
#define XP_CONTACT_KEPT_WORDS 7u

typedef struct xp_particle_device {
  const sb_bind *bind;
  const xp_cloth *cloth;
  xp_bodies *bodies;
  const xp_touches *touches;
  xp_near *near;
  const sb_device_contacts *there; /* NULL where contacts come from the host */
  xp_settings settings;
  xp_schedule schedule;
  uint32_t attached_rows; /* particles that bodies of others or the world hold, and no own body */
  /* handles */
  uint32_t x, d, v, index, world, gravity, radius, bodies_of, contact_start, contacts, contacts_kept, held, held_start, held_items, held_kept, state_q, state_qd;
  uint32_t words[XP_KINDS], lambda[XP_KINDS], spring_damping, none;
  uint32_t near_pairs, near_start, near_groups;
  uint32_t motion[3], elements[XP_KINDS], touch[3], near_solve;
  /* of a tick, on their way to the device */
  uint32_t *start;
  float *items;
  uint32_t *pair_words;
} xp_particle_device;

/* Which motion and which contacts of particles. */
enum { XP_MOTION_LOAD, XP_MOTION_PREDICT, XP_MOTION_STORE };
enum { XP_TOUCH_HOLD, XP_TOUCH_SOLVE, XP_TOUCH_BOUNCE };

/* bodies_of: handle of the records of bodies, as each substep has them. */
sb_status xp_particle_device_bind(xp_particle_device *device, sb_compute_calls *calls, const sb_bind *bind, const xp_cloth *cloth, xp_bodies *bodies, const xp_touches *touches, xp_near *near,
                                  const sb_device_contacts *there, uint32_t bodies_of);
void xp_particle_device_free(xp_particle_device *device);

/* Commands of a graph. known: velocities at the end of the last substep are. */
void xp_particles_record_motion(xp_particle_device *device, sb_compute_calls *calls, uint32_t graph, uint32_t pass, bool known);
/* One pass over the kinds of a mask. */
void xp_particles_record_elements(xp_particle_device *device, sb_compute_calls *calls, uint32_t graph, uint32_t kinds, uint32_t iteration, bool damping);
void xp_particles_record_touches(xp_particle_device *device, sb_compute_calls *calls, uint32_t graph, uint32_t pass, uint32_t iteration);
/* groups: colours that are gone through, the serial group counted as the last. */
void xp_particles_record_near(xp_particle_device *device, sb_compute_calls *calls, uint32_t graph, uint32_t groups);

/* Which particles own bodies hold, one entry each, and what the shaders read of an attachment. */
void xp_attachments_mark_linked(const xp_touches *touches, bool *linked);
void xp_attachment_words(const xp_attachment *attachment, float *words);

/* What a tick brings from the host. */
void xp_particles_send_contacts(xp_particle_device *device, sb_compute_calls *calls, const sb_particle_contacts *contacts);
/* Near pairs, coloured: how many colours they have, the serial group counted as the last. */
uint32_t xp_particles_send_near(xp_particle_device *device, sb_compute_calls *calls, const sb_step *step);

#endif
