/* Writes the number rules into unoptimised SPIR-V: NoContraction on every float operation, and the execution modes
 * SignedZeroInfNanPreserve 32 and RoundingModeRTE 32 on every entry point. Knows SPIR-V alone. */
#ifndef SAMEBIT_HOST_SPIRV_DECORATE_H
#define SAMEBIT_HOST_SPIRV_DECORATE_H

#include <stddef.h>
#include <stdint.h>

#include "samebit/status.h"

/* A module's words; free() them. */
typedef struct sb_spirv {
  uint32_t *words;
  size_t count;
} sb_spirv;

/* What to write: all of it in a build; less shows a test what each part is for. */
#define SB_SPIRV_DECORATE 1u
#define SB_SPIRV_SET_MODES 2u

/* SB_E_FORMAT for words whose lengths do not add up, SB_E_MEMORY; `out` is untouched then. [any] */
sb_status sb_spirv_decorate(const uint32_t *words, size_t count, uint32_t parts, sb_spirv *out);

#endif
