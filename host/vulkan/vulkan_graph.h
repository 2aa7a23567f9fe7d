/* Work on the device in order: copies to and from buffers, and graphs of dispatches that are recorded once and run many times.
 * Everything happens in the order of the calls; only downloads and sb_vulkan_wait wait. A caller's mistake is SB_E_ARGUMENT. */
#ifndef SAMEBIT_HOST_VULKAN_GRAPH_H
#define SAMEBIT_HOST_VULKAN_GRAPH_H

#include "vulkan_compute.h"

typedef struct sb_vulkan_graph sb_vulkan_graph;

/* A buffer from an offset on; offset a multiple of 256, bytes 0 for the rest. */
typedef struct sb_vulkan_slice {
  sb_vulkan_buffer *buffer;
  uint64_t offset, bytes;
} sb_vulkan_slice;

typedef struct sb_vulkan_limits {
  uint64_t binding_bytes; /* the largest slice that a shader can see */
  uint32_t groups, invocations;
  uint32_t shared_bytes; /* of a workgroup's memory */
} sb_vulkan_limits;
sb_vulkan_limits sb_vulkan_limits_of(const sb_vulkan *vulkan);
uint64_t sb_vulkan_buffer_size(const sb_vulkan_buffer *buffer);

/* Whether a shader may declare this capability (SpvCapability*). */
bool sb_vulkan_offers(const sb_vulkan *vulkan, uint32_t capability);

/* Whether the driver has said that the device is lost: nothing will run on it again. */
bool sb_vulkan_lost(const sb_vulkan *vulkan);

/* All bytes of a buffer become 0. */
sb_status sb_vulkan_clear(sb_vulkan *vulkan, sb_vulkan_buffer *buffer, sb_diagnostics *diag);
sb_status sb_vulkan_upload(sb_vulkan *vulkan, sb_vulkan_buffer *buffer, uint64_t offset, const void *data, uint64_t bytes, sb_diagnostics *diag);
sb_status sb_vulkan_download(sb_vulkan *vulkan, sb_vulkan_buffer *buffer, uint64_t offset, void *data, uint64_t bytes, sb_diagnostics *diag);
/* Several at once, with one wait where they are small. */
typedef struct sb_vulkan_range {
  sb_vulkan_buffer *buffer;
  uint64_t offset, bytes;
  void *data;
} sb_vulkan_range;
sb_status sb_vulkan_download_ranges(sb_vulkan *vulkan, const sb_vulkan_range *ranges, size_t count, sb_diagnostics *diag);
/* Returns when everything is done. */
sb_status sb_vulkan_wait(sb_vulkan *vulkan, sb_diagnostics *diag);

/* eager: each command is sent and waited for by itself, as the plainest reading of the graph; else it is recorded once. */
sb_status sb_vulkan_graph_create(sb_vulkan *vulkan, bool eager, sb_vulkan_graph **out, sb_diagnostics *diag);
/* The pipelines and buffers of a graph must outlive it. */
void sb_vulkan_graph_destroy(sb_vulkan_graph *graph);
/* slices: the pipeline's buffer_count; push: its push_size bytes. */
sb_status sb_vulkan_graph_dispatch(sb_vulkan_graph *graph, sb_vulkan_pipeline *pipeline, const sb_vulkan_slice *slices, const void *push,
                                   uint32_t groups, sb_diagnostics *diag);
sb_status sb_vulkan_graph_dispatch_indirect(sb_vulkan_graph *graph, sb_vulkan_pipeline *pipeline, const sb_vulkan_slice *slices,
                                            const void *push, sb_vulkan_buffer *groups, uint64_t offset, sb_diagnostics *diag);
sb_status sb_vulkan_graph_barrier(sb_vulkan_graph *graph, sb_diagnostics *diag);
/* All bytes of a buffer become 0; the first bytes of one buffer go to another. Ordered against everything before and after; what lies in a buffer of
 * sb_vulkan_buffer_create can be read by the host after sb_vulkan_wait. */
sb_status sb_vulkan_graph_clear(sb_vulkan_graph *graph, sb_vulkan_buffer *buffer, sb_diagnostics *diag);
sb_status sb_vulkan_graph_copy(sb_vulkan_graph *graph, sb_vulkan_buffer *from, sb_vulkan_buffer *to, uint64_t bytes, sb_diagnostics *diag);
/* A command that its caller could not give: the graph can neither be finished nor run, as after any of these calls that fails. */
void sb_vulkan_graph_break(sb_vulkan_graph *graph);
/* Records it; after this it can run and takes no more commands. */
sb_status sb_vulkan_graph_finish(sb_vulkan_graph *graph, sb_diagnostics *diag);
sb_status sb_vulkan_graph_run(sb_vulkan_graph *graph, sb_diagnostics *diag);

#endif
