/* The faults that device_probe_faults.glsl and device_probe.comp can plant, each with the check that is meant to see
 * it. */
#ifndef SAMEBIT_TESTS_PROBE_FAULTS_H
#define SAMEBIT_TESTS_PROBE_FAULTS_H

#include "probe_fault_FLUSH_RESULT.h"
#include "probe_fault_FLUSH_OPERAND.h"
#include "probe_fault_FLUSH_EARLY.h"
#include "probe_fault_ROUND_TO_ZERO.h"
#include "probe_fault_FUSED.h"
#include "probe_fault_REASSOCIATE.h"
#include "probe_fault_CANCEL.h"
#include "probe_fault_DISTRIBUTE.h"
#include "probe_fault_FOLD_ROUNDING.h"
#include "probe_fault_FLUSH_CONSTANT.h"
#include "probe_fault_FLUSH_DIFFERENCE.h"
#include "probe_fault_MINIMUM.h"
#include "probe_fault_NEGATE_BY_SUBTRACTION.h"
#include "probe_fault_COMPARE_FLUSHED.h"
#include "probe_fault_COMPARE_REGISTER.h"
#include "probe_fault_RECIPROCAL.h"
#include "probe_fault_ROOT_ESTIMATE.h"
#include "probe_fault_CONVERT_WRAPS.h"
#include "probe_fault_CONVERT_UNSIGNED.h"
#include "probe_fault_MULTIPLY_24.h"
#include "probe_fault_UNSIGNED_COMPARE.h"
#include "probe_fault_QUOTIENT_BY_FLOAT.h"
#include "probe_fault_LEADING_BIT.h"
#include "probe_fault_CARRY.h"
#include "probe_fault_HIGH_WORD.h"
#include "probe_fault_HASH.h"
#include "probe_fault_ATOMIC.h"
#include "probe_fault_SIGNED_MAX.h"
#include "probe_fault_SLOT.h"
#include "probe_fault_BARRIER.h"

#define PROBE_FAULTS(X)                                                                                                \
  X(FLUSH_RESULT, "product")                                                                                           \
  X(FLUSH_OPERAND, "sum")                                                                                              \
  X(FLUSH_EARLY, "product")                                                                                            \
  X(ROUND_TO_ZERO, "sum")                                                                                              \
  X(FUSED, "contraction")                                                                                              \
  X(REASSOCIATE, "sum")                                                                                                \
  X(CANCEL, "order")                                                                                                   \
  X(DISTRIBUTE, "order")                                                                                               \
  X(FOLD_ROUNDING, "rounding")                                                                                         \
  X(FLUSH_CONSTANT, "constant")                                                                                        \
  X(FLUSH_DIFFERENCE, "difference")                                                                                    \
  X(MINIMUM, "selection")                                                                                              \
  X(NEGATE_BY_SUBTRACTION, "negation")                                                                                 \
  X(COMPARE_FLUSHED, "comparison")                                                                                     \
  X(COMPARE_REGISTER, "comparison")                                                                                    \
  X(RECIPROCAL, "division")                                                                                            \
  X(ROOT_ESTIMATE, "root")                                                                                             \
  X(CONVERT_WRAPS, "to_integer")                                                                                       \
  X(CONVERT_UNSIGNED, "from_integer")                                                                                  \
  X(MULTIPLY_24, "integer")                                                                                            \
  X(UNSIGNED_COMPARE, "signed")                                                                                        \
  X(QUOTIENT_BY_FLOAT, "quotient")                                                                                     \
  X(LEADING_BIT, "bits")                                                                                               \
  X(CARRY, "wide_product")                                                                                             \
  X(HIGH_WORD, "extended_product")                                                                                     \
  X(HASH, "hash")                                                                                                      \
  X(ATOMIC, "atomics")                                                                                                 \
  X(SIGNED_MAX, "atomics")                                                                                             \
  X(SLOT, "slots")                                                                                                     \
  X(BARRIER, "shared")

#endif
