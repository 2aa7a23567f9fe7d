/* The compute extension of one solver: handles over the objects that it has made. */
#ifndef SAMEBIT_HOST_COMPUTE_EXTENSION_H
#define SAMEBIT_HOST_COMPUTE_EXTENSION_H

#include "device.h"
#include "samebit/device_contacts.h"
#include "vulkan_graph.h"

typedef struct sb_device_scope sb_device_scope;
typedef struct compute_part compute_part;
typedef struct device_contact_buffers device_contact_buffers; /* device_collision.h */

sb_status compute_part_create(sb_device_scope *scope, sb_vulkan *vulkan, const char *name, uint32_t mode, bool eager, compute_part **out,
                              sb_diagnostics *diag);
void compute_part_destroy(compute_part *part);
sb_device_part *compute_part_for_sim(compute_part *part);
/* Gives the part handles of buffers that the scope owns, until it is destroyed; NULL without memory. */
const sb_device_contacts *compute_part_share(compute_part *part, const device_contact_buffers *buffers, uint32_t capacity, uint32_t particle_capacity);

/* vulkan_device.c: the copy of a registered array of the simulation or of this part, made when it is first asked for. */
sb_status compute_scope_copy(sb_device_scope *scope, const char *part, const char *name, size_t *array, sb_vulkan_buffer **words,
                             sb_diagnostics *diag);

/* The same for array `index` of the registry. */
sb_status compute_scope_copy_at(sb_device_scope *scope, const char *part, size_t index, sb_vulkan_buffer **words, sb_diagnostics *diag);

/* The pipeline of these words, made once for the device, which owns it. */
sb_status compute_scope_pipeline(sb_device_scope *scope, const uint32_t *words, size_t count, uint32_t buffer_count, uint32_t push_bytes,
                                 sb_vulkan_pipeline **out, sb_diagnostics *diag);

#endif
