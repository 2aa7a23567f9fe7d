/* A small compute layer over Vulkan 1.2: one device, storage buffers that the host sees, pipelines from SPIR-V words,
 * dispatch and wait. Knows Vulkan and diagnostics only. Every failure is a diagnostic; nothing aborts.
 *
 * Ownership: each object is destroyed by its own function, before the device that made it; NULL is allowed there.
 * Threads: one device and its objects belong to one thread at a time. */
#ifndef SAMEBIT_HOST_VULKAN_COMPUTE_H
#define SAMEBIT_HOST_VULKAN_COMPUTE_H

#include "diagnostic.h"

typedef struct sb_vulkan sb_vulkan;
typedef struct sb_vulkan_buffer sb_vulkan_buffer;
typedef struct sb_vulkan_pipeline sb_vulkan_pipeline;

#define SB_VULKAN_BUFFERS_MAX 16u
#define SB_VULKAN_PUSH_MAX 128u /* bytes every device has */
#define SB_VULKAN_TIME_LIMIT 300u /* s */

/* What identifies the device in a domain; properties are what it claims, which a probe has yet to confirm. */
typedef struct sb_vulkan_info {
  char device[256];
  char driver[256];
  char driver_version[256];
  bool claims_preserved_specials; /* SignedZeroInfNanPreserve for 32 bits */
  bool claims_round_to_even;      /* RoundingModeRTE for 32 bits */
} sb_vulkan_info;

/* Opens the first device that has Vulkan 1.2 and a compute queue. Without one: SB_E_UNSUPPORTED and SB-VULKAN-DEVICE.
 */
sb_status sb_vulkan_open(sb_vulkan **out, sb_diagnostics *diag);
void sb_vulkan_close(sb_vulkan *vulkan);
/* How long a wait may last, 1 s or more; SB_VULKAN_TIME_LIMIT at first. After one that took longer the device counts as lost, and what is there is left alone. */
void sb_vulkan_set_time_limit(sb_vulkan *vulkan, uint32_t seconds);
const sb_vulkan_info *sb_vulkan_about(const sb_vulkan *vulkan);

/* `size` bytes, 1 to the device's limit, mapped for as long as the buffer lives; contents start undefined. */
sb_status sb_vulkan_buffer_create(sb_vulkan *vulkan, size_t size, sb_vulkan_buffer **out, sb_diagnostics *diag);
/* Memory of the device, which the host does not see; contents start undefined. */
sb_status sb_vulkan_device_buffer_create(sb_vulkan *vulkan, uint64_t size, sb_vulkan_buffer **out, sb_diagnostics *diag);
void sb_vulkan_buffer_destroy(sb_vulkan_buffer *buffer);
void *sb_vulkan_buffer_data(sb_vulkan_buffer *buffer);

/* Entry point "main"; storage buffers at bindings 0 to buffer_count - 1 of set 0; push_size bytes of push constants.
 * The caller has audited and validated the words. */
sb_status sb_vulkan_pipeline_create(sb_vulkan *vulkan, const uint32_t *words, size_t count, uint32_t buffer_count,
                                    uint32_t push_size, sb_vulkan_pipeline **out, sb_diagnostics *diag);
void sb_vulkan_pipeline_destroy(sb_vulkan_pipeline *pipeline);

/* Runs `groups` workgroups and waits. Host writes before the call are seen by the shader, shader writes by the host
 * after it. `buffers` has the pipeline's buffer_count entries, `push` its push_size bytes. */
sb_status sb_vulkan_run(sb_vulkan *vulkan, sb_vulkan_pipeline *pipeline, sb_vulkan_buffer *const *buffers,
                        const void *push, uint32_t groups, sb_diagnostics *diag);

#endif
