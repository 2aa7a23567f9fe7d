/* Contacts of particles with shapes on the device: a part of device_collision.c's graph. */
#ifndef SAMEBIT_HOST_DEVICE_PARTICLES_H
#define SAMEBIT_HOST_DEVICE_PARTICLES_H

#include "device_sort.h"

/* Words of the collision's counts. */
#define DEVICE_TOUCHES_FOUND 6u
#define DEVICE_TOUCHES 7u

typedef struct device_particles {
  sb_vulkan *vulkan;
  uint32_t count, capacity, held_count;
  sb_vulkan_pipeline *steps[3];
  sb_vulkan_buffer *q, *qd; /* the scope's */
  sb_vulkan_buffer *grids;  /* of the surfaces; NULL where there are no heightfields */
  sb_vulkan_buffer *fixed, *deformables, *held, *found, *contacts;
} device_particles;

/* What the collision has of shapes. */
typedef struct device_shapes {
  sb_vulkan_buffer *counts, *shapes, *poses, *boxes, *tables;
} device_shapes;

/* For the model's particles; grids: as in device_surfaces.h, or NULL; push_bytes: of the collision's push constants. */
sb_status device_particles_create(device_particles *particles, sb_device_scope *scope, sb_vulkan *vulkan, const sb_device_collision_setup *setup,
                                  sb_vulkan_buffer *grids, uint32_t push_bytes, sb_diagnostics *diag);
void device_particles_destroy(device_particles *particles);
/* After the poses of the shapes. */
void device_particles_record(device_recorder *recorder, const device_particles *particles, const device_sort *sort, const device_shapes *shapes,
                             const void *push);
sb_status device_particles_read(device_particles *particles, uint32_t count, const sb_particle_contact_room *room, sb_diagnostics *diag);

#endif
