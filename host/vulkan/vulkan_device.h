/* The Vulkan device as simulations use it (host/core/device.h), and the compute extension as solvers see it. */
#ifndef SAMEBIT_HOST_VULKAN_DEVICE_H
#define SAMEBIT_HOST_VULKAN_DEVICE_H

#include "device.h"
#include "vulkan_compute.h"

typedef struct sb_vulkan_device sb_vulkan_device;

/* The vulkan object must outlive it. */
sb_status sb_vulkan_device_create(sb_vulkan *vulkan, sb_vulkan_device **out, sb_diagnostics *diag);
/* After every simulation on it. */
void sb_vulkan_device_destroy(sb_vulkan_device *device);
/* For sb_sim_config.device; valid until destroy. one_by_one: commands are sent and waited for singly, not recorded; the same bits, for checks. */
const sb_device *sb_vulkan_device_for_sim(const sb_vulkan_device *device, bool one_by_one);

#endif
