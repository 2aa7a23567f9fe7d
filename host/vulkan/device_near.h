/* Near pairs of particles on the device: a part of device_collision.c's graph, with the CPU's tree of boxes (collision/near_plan.h). */
#ifndef SAMEBIT_HOST_DEVICE_NEAR_H
#define SAMEBIT_HOST_DEVICE_NEAR_H

#include "device_sort.h"

typedef struct device_near device_near;

/* For setup->near. SB_E_UNSUPPORTED: `lacks` (160 bytes) says what. */
sb_status device_near_create(sb_device_scope *scope, sb_vulkan *vulkan, const sb_device_collision_setup *setup, device_near **out, char lacks[160], sb_diagnostics *diag);
void device_near_destroy(device_near *near);
void device_near_record(device_recorder *recorder, device_near *near);
/* Of the run whose end has been waited for. */
void device_near_counts(const device_near *near, sb_device_contact_counts *counts);
sb_status device_near_read(device_near *near, uint32_t count, const sb_near_pair_room *room, sb_diagnostics *diag);

#endif
