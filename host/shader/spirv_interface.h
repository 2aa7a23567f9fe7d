/* What a compute shader wants to be bound, read from its words: a module that wants more than it is given makes a
 * driver read or write elsewhere, or crash. Knows SPIR-V alone. Damaged or hostile words give a problem, never a crash.
 */
#ifndef SAMEBIT_HOST_SPIRV_INTERFACE_H
#define SAMEBIT_HOST_SPIRV_INTERFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SB_SPIRV_CAPABILITIES_MAX 32u

typedef struct sb_spirv_interface {
  const char
      *problem;      /* the first thing that no caller can give, as a sentence without its end; static; NULL for none */
  uint64_t bindings; /* bit b: a storage buffer at binding b of set 0 */
  uint32_t push_bytes;    /* up to the end of the push constants' last member */
  uint64_t shared_bytes;  /* of workgroup memory, at the least */
  uint32_t local_size[3]; /* of the entry point "main" */
  uint32_t capabilities[SB_SPIRV_CAPABILITIES_MAX], capability_count; /* as declared */
} sb_spirv_interface;

/* Fills `out`; false where there is a problem, or no memory. [any] */
bool sb_spirv_interface_read(const uint32_t *words, size_t count, sb_spirv_interface *out);

/* Whether a pipeline with `buffer_count` storage buffers at bindings 0 up of set 0 and `push_bytes` of push constants
 * has what the shader wants. If not, `text` says what is missing. [any] */
bool sb_spirv_interface_fits(const sb_spirv_interface *interface, uint32_t buffer_count, uint32_t push_bytes,
                             char *text, size_t size);

#endif
