/* Particles and bodies of one instance that push each other, on a compute device: attachments and contacts in the CPU's order. Islands, bodies that particles link, go side by
 * side. */
#ifndef SAMEBIT_XPBD_LINK_DEVICE_H
#define SAMEBIT_XPBD_LINK_DEVICE_H

#include "xpbd_particle_device.h"
#include "xpbd_rigid_device.h"

/* Handles of links by island, two words each: island and item. */
typedef struct xp_links {
  uint32_t links, count, items, kept, particle_of;
  uint32_t most; /* links */
} xp_links;

typedef struct xp_link_device {
  const sb_bind *bind;
  xp_particle_device *particles;
  xp_rigid_device *rigid;
  xp_links held, touching; /* attachments and contacts */
  /* where contacts lie there: handles */
  uint32_t linked, before, root, pairs[2];
  uint32_t pass[3], taken[3];
  /* of a tick, on their way to the device */
  uint32_t *unsorted, *sorted, *particle_of, *scratch;
} xp_link_device;

/* After both halves are bound; with bodies, or only to take contacts of particles where they lie. */
sb_status xp_link_device_bind(xp_link_device *device, sb_compute_calls *calls, xp_particle_device *particles, xp_rigid_device *rigid);

/* Commands of a graph: contacts of particles that lie on the device become what its shaders read; all attachments, or an iteration over contacts, or bounces. */
void xp_links_record_taken(xp_link_device *device, sb_compute_calls *calls, uint32_t graph);
void xp_links_record(xp_link_device *device, sb_compute_calls *calls, uint32_t graph, uint32_t pass, uint32_t iteration);

/* What a tick brings from the host, after xp_particles_send_contacts(). */
void xp_links_send(xp_link_device *device, sb_compute_calls *calls, const sb_particle_contacts *contacts);

#endif
