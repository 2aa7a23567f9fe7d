/* Replaces comparisons of floats in unoptimised SPIR-V by integer operations on their bits. Some devices take subnormal
 * operands of a comparison for zeros although they add, multiply and store them exactly, and the execution mode against
 * it is not on offer everywhere; integers leave nothing to a device. Knows SPIR-V alone. */
#ifndef SAMEBIT_HOST_SPIRV_COMPARE_H
#define SAMEBIT_HOST_SPIRV_COMPARE_H

#include "spirv_decorate.h"

/* Every scalar binary32 comparison and isnan, isinf become calls of functions added to the module, which the optimiser
 * inlines. Comparisons of vectors, and modules with floats of other widths, stay as they are: the audit refuses them.
 * SB_E_FORMAT for words whose lengths do not add up, SB_E_MEMORY; `out` is untouched then. [any] */
sb_status sb_spirv_compare(const uint32_t *words, size_t count, sb_spirv *out);

#endif
