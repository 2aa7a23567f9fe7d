/* Small things that solvers on a device need: calls in a row of which the first failure counts, buffers, pipelines. Plain C, no state. */
#ifndef SAMEBIT_COMPUTE_TOOLS_H
#define SAMEBIT_COMPUTE_TOOLS_H

#include "samebit/compute.h"
#include "samebit/solver.h"

#include <stdio.h>

/* Calls of the extension in a row: after the first that fails the others do nothing. */
typedef struct sb_compute_calls {
  const sb_compute *compute;
  sb_status status;
  char *error;
  uint32_t error_size;
} sb_compute_calls;

/* SB_COMPUTE_CALL(&calls, upload, buffer, 0, data, bytes): context and error are filled in. */
#define SB_COMPUTE_CALL(calls, function, ...)                                                                          \
  do {                                                                                                                 \
    if (!(calls)->status)                                                                                              \
      (calls)->status = (calls)->compute->function((calls)->compute->context, __VA_ARGS__, (calls)->error, (calls)->error_size); \
  } while (0)

/* The extension, or NULL with the reason in error: for bind. */
static inline const sb_compute *sb_find_compute(const sb_bind *bind, char *error, uint32_t error_size)
{
  const sb_compute *compute = (const sb_compute *)bind->host->get_extension(bind->host->context, SB_COMPUTE_EXTENSION_ID);
  if (compute && compute->struct_size == sizeof *compute) return compute;
  snprintf(error, error_size, "this host gives no %s", SB_COMPUTE_EXTENSION_ID);
  return NULL;
}

static inline void sb_compute_no_memory(sb_compute_calls *calls)
{
  calls->status = SB_E_MEMORY;
  snprintf(calls->error, calls->error_size, "out of memory for the device's data");
}

/* A buffer of at least 4 bytes. */
static inline void sb_compute_make_buffer(sb_compute_calls *calls, uint32_t *buffer, uint64_t bytes)
{
  SB_COMPUTE_CALL(calls, create_buffer, bytes ? bytes : 4, buffer);
}

static inline void sb_compute_fill_buffer(sb_compute_calls *calls, uint32_t *buffer, const void *data, uint64_t bytes)
{
  sb_compute_make_buffer(calls, buffer, bytes);
  SB_COMPUTE_CALL(calls, upload, *buffer, 0, data, bytes);
}

static inline void sb_compute_make_pipeline(sb_compute_calls *calls, uint32_t *pipeline, const char *name, const uint32_t *words, uint64_t bytes,
                                            uint32_t buffers, uint32_t push_bytes)
{
  sb_pipeline_desc desc;
  desc.struct_size = (uint32_t)sizeof desc;
  desc.buffer_count = buffers;
  desc.push_bytes = push_bytes;
  desc.reserved = 0;
  desc.name = name;
  desc.words = words;
  desc.word_count = bytes / sizeof *words;
  SB_COMPUTE_CALL(calls, create_pipeline, &desc, pipeline);
}

/* Of a shader embedded as NAME_spv. */
#define SB_COMPUTE_PIPELINE(calls, pipeline, name, buffers, push_type)                                                 \
  sb_compute_make_pipeline(calls, pipeline, #name, name##_spv, sizeof name##_spv, buffers, (uint32_t)sizeof(push_type))

static inline sb_binding sb_whole_buffer(uint32_t buffer)
{
  sb_binding binding;
  binding.buffer = buffer;
  binding.reserved = 0;
  binding.offset = 0;
  binding.bytes = 0;
  return binding;
}

#endif
