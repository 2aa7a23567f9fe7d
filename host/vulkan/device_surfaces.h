/* Solids against heightfields on the device: a part of device_collision.c's graph. */
#ifndef SAMEBIT_HOST_DEVICE_SURFACES_H
#define SAMEBIT_HOST_DEVICE_SURFACES_H

#include "device_sort.h"

/* Words of the collision's counts. */
#define DEVICE_TRIANGLES_FOUND 8u
#define DEVICE_TRIANGLES 9u
#define DEVICE_SURFACE_STEPS 10u
/* Of a heightfield's record in grids, before all heights: where its heights begin, rows, columns, half extents. */
#define DEVICE_GRID_WORDS 6u

typedef struct device_surfaces {
  sb_vulkan *vulkan;
  uint32_t capacity; /* triangles */
  uint32_t of_pair;  /* triangles of a pair, at most */
  uint32_t threads;  /* of a dispatch of those steps that need room */
  sb_vulkan_pipeline *steps[DEVICE_SURFACE_STEPS];
  sb_vulkan_buffer *grids; /* records of all geometries, then heights */
  sb_vulkan_buffer *met, *first, *listed, *work, *room, *room_words;
} device_surfaces;

/* What the collision has of pairs. */
typedef struct device_pairs {
  sb_vulkan_buffer *counts, *shapes, *poses, *pairs, *pair_contacts;
} device_pairs;

/* Whether the scene has heightfields, and solids that could meet them; types: a bit for each shape type. */
bool device_surfaces_exist(uint32_t types);
bool device_surfaces_meet(uint32_t types);
/* Sets lacks where this device cannot hold them. */
void device_surfaces_check(const sb_device_collision_setup *setup, sb_vulkan_limits limits, char lacks[160]);
/* The grids alone, for particles; then the rest. push_bytes: of the collision's push constants. */
sb_status device_surfaces_create_grids(device_surfaces *surfaces, sb_vulkan *vulkan, const sb_model *model, sb_diagnostics *diag);
sb_status device_surfaces_create(device_surfaces *surfaces, sb_device_scope *scope, const sb_device_collision_setup *setup, uint32_t push_bytes,
                                 sb_diagnostics *diag);
void device_surfaces_destroy(device_surfaces *surfaces);
/* After the pairs have been sorted and before their contacts are counted; `most` pairs. The last words of the push constants are those of a dispatch: begin,
 * round. */
void device_surfaces_record(device_recorder *recorder, const device_surfaces *surfaces, const device_sort *sort, const device_pairs *pairs, const void *push,
                            uint32_t push_bytes, uint32_t most, uint32_t pair_count_at);

#endif
