/* The collision pipeline of spheres, capsules, boxes, planes and heightfields on the device: the contacts that collision/ gives, bit for bit, in its order. Knows
 * the compute layer; what it computes is in collision/device/. */
#ifndef SAMEBIT_HOST_DEVICE_COLLISION_H
#define SAMEBIT_HOST_DEVICE_COLLISION_H

#include "compute_extension.h"

typedef struct device_collision device_collision;

/* body_q, body_qd: the device's copies. SB_E_UNSUPPORTED: the device or this text lacks something for the scene; `lacks` (at least 160 bytes) then
 * says what, or is empty where there is nothing to collide. */
sb_status device_collision_create(sb_device_scope *scope, sb_vulkan *vulkan, bool eager, const sb_device_collision_setup *setup, sb_vulkan_buffer *body_q,
                                  sb_vulkan_buffer *body_qd, device_collision **out, char lacks[160], sb_diagnostics *diag);
void device_collision_destroy(device_collision *collision);
/* Runs it on the poses and velocities that lie there. Does not wait. */
sb_status device_collision_run(device_collision *collision, sb_diagnostics *diag);
/* Of the run whose end has been waited for. */
sb_device_contact_counts device_collision_counts(const device_collision *collision);
/* The contacts that there are, and world_start. */
sb_status device_collision_read(device_collision *collision, uint32_t count, const sb_contact_room *room, sb_diagnostics *diag);
sb_status device_collision_read_particles(device_collision *collision, uint32_t count, const sb_particle_contact_room *room, sb_diagnostics *diag);
sb_status device_collision_read_near(device_collision *collision, uint32_t count, const sb_near_pair_room *room, sb_diagnostics *diag);

/* Where its contacts lie: buffers of the collision. */
struct device_contact_buffers {
  sb_vulkan_buffer *contacts, *match, *world_start;
  sb_vulkan_buffer *old_start; /* world_start of the contacts that a solver's arrays are over */
  sb_vulkan_buffer *particle_contacts, *particle_start; /* NULL where particles do not take part */
};
device_contact_buffers device_collision_buffers(const device_collision *collision);
/* From now on device_collision_match can run: keys, points and counts by world of the solver's contacts of the tick before. */
sb_status device_collision_open_cache(device_collision *collision, sb_device_scope *scope, bool eager, sb_vulkan_buffer *key, sb_vulkan_buffer *point,
                                      sb_vulkan_buffer *count, sb_diagnostics *diag);
/* After a run: finds which old contact each new one continues, and makes the new ones the old ones. */
sb_status device_collision_match(device_collision *collision, sb_diagnostics *diag);

#endif
