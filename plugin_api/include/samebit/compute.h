/* Compute on a device, extension id "samebit.compute/1": sb_host.get_extension gives it to an instance that is bound to the backend
 * SB_BACKEND_VULKAN, else NULL. A plugin never sees Vulkan.
 *
 * At binding a solver asks for buffers and pipelines and records graphs: dispatches and barriers in a row. In a step it uploads what has
 * changed and runs them. Handles are numbers of this instance; all of them are released with it, none before: activate is called again
 * after each reset, so keep graphs that still hold.
 * [setup]: in bind and activate alone; [step]: in step alone; both on the thread on which the host makes that call. A wrong call is
 * SB_E_ARGUMENT and changes nothing, but that a graph which lacks a command can no longer be finished or run. SB_E_MEMORY: the device has
 * none left. SB_E_INTERNAL: its driver failed.
 * The host judges each shader by the number rules before it takes it, and refuses one that breaks them in a mode above Off. */
#ifndef SAMEBIT_COMPUTE_H
#define SAMEBIT_COMPUTE_H

#include "samebit/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SB_COMPUTE_EXTENSION_ID "samebit.compute/1"

#define SB_COMPUTE_BINDINGS_MAX 16u
#define SB_COMPUTE_PUSH_MAX 128u /* bytes */
#define SB_COMPUTE_ALIGNMENT 256u /* of the offset of a binding */

/* A compute shader: entry point "main", storage buffers at bindings 0 to buffer_count - 1 of set 0, push_bytes of push constants. */
typedef struct sb_pipeline_desc {
  uint32_t struct_size;
  uint32_t buffer_count; /* 1 to SB_COMPUTE_BINDINGS_MAX */
  uint32_t push_bytes;   /* a multiple of 4, at most SB_COMPUTE_PUSH_MAX */
  uint32_t reserved;     /* 0 */
  const char *name;      /* for messages */
  const uint32_t *words; /* SPIR-V 1.0 to 1.5; copied */
  uint64_t word_count;
} sb_pipeline_desc;

/* A buffer, or a part of one. */
typedef struct sb_binding {
  uint32_t buffer;
  uint32_t reserved; /* 0 */
  uint64_t offset;   /* bytes, a multiple of SB_COMPUTE_ALIGNMENT */
  uint64_t bytes;    /* 0: to the end of the buffer */
} sb_binding;

typedef struct sb_compute {
  uint32_t struct_size;
  uint32_t reserved;
  void *context;             /* first argument of each function */
  uint64_t binding_bytes_max; /* the largest binding; at least 128 MiB. A buffer may be larger */
  uint32_t groups_max;       /* workgroups of one dispatch, in all; at least 65535 */
  uint32_t invocations_max;  /* of one workgroup; at least 128 */

  /* Each gives SB_OK, or a status with the reason in error (error_size bytes, NUL-terminated). */

  /* [setup] A buffer on the device, zeroed. */
  sb_status (*create_buffer)(void *context, uint64_t bytes, uint32_t *buffer, char *error, uint32_t error_size);
  /* [setup] The device's copy of a shared state array (samebit/state.h) or of one that this instance has registered, by its name without
   * the part: "particle_q". The host brings it up to date before each step and takes it as the truth after it, so the step must leave
   * elements of others as they are. Where there are several instances, the host's own body_q and body_qd are up to date in a step too.
   * Layout as in sb_array_desc. */
  sb_status (*state_buffer)(void *context, const char *name, uint32_t *buffer, char *error, uint32_t error_size);
  /* [setup] [step] Copies bytes into a buffer; the data may go away after the call. Seen by graphs that run later. */
  sb_status (*upload)(void *context, uint32_t buffer, uint64_t offset, const void *data, uint64_t bytes, char *error, uint32_t error_size);
  /* [setup] [step] Waits for the graphs that run, then copies bytes out of a buffer. */
  sb_status (*download)(void *context, uint32_t buffer, uint64_t offset, void *data, uint64_t bytes, char *error, uint32_t error_size);
  /* [setup] Judges and takes a shader. */
  sb_status (*create_pipeline)(void *context, const sb_pipeline_desc *desc, uint32_t *pipeline, char *error, uint32_t error_size);

  /* [setup] A graph, empty; commands are appended until finish_graph. */
  sb_status (*create_graph)(void *context, uint32_t *graph, char *error, uint32_t error_size);
  /* [setup] bindings: the pipeline's buffer_count; push: its push_bytes (NULL where it has none). 0 groups do nothing. */
  sb_status (*dispatch)(void *context, uint32_t graph, uint32_t pipeline, const sb_binding *bindings, const void *push, uint32_t groups,
                        char *error, uint32_t error_size);
  /* [setup] The same, with three numbers of workgroups in the buffer at that offset (a multiple of 4) when it runs. The host refuses uploads
   * that make their product larger than groups_max; a shader that writes them there must heed that itself. */
  sb_status (*dispatch_indirect)(void *context, uint32_t graph, uint32_t pipeline, const sb_binding *bindings, const void *push,
                                 uint32_t buffer, uint64_t offset, char *error, uint32_t error_size);
  /* [setup] What follows sees what came before has written. Without it dispatches may run at once. */
  sb_status (*barrier)(void *context, uint32_t graph, char *error, uint32_t error_size);
  /* [setup] No more commands. */
  sb_status (*finish_graph)(void *context, uint32_t graph, char *error, uint32_t error_size);
  /* [step] Runs the graph after everything that was uploaded and run before. Returns before it is done. */
  sb_status (*run)(void *context, uint32_t graph, char *error, uint32_t error_size);
} sb_compute;

#ifdef __cplusplus
}
#endif

#endif
