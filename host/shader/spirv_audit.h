/* Judges SPIR-V words by the number rules (docs/numbers.md): ours after the build, a plugin's before it is loaded.
 * Knows SPIR-V alone: no Vulkan, no compiler. Damaged or hostile words give findings, never a crash. */
#ifndef SAMEBIT_HOST_SPIRV_AUDIT_H
#define SAMEBIT_HOST_SPIRV_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum sb_spirv_rule {
  SB_SPIRV_DAMAGED,     /* not SPIR-V, cut off, or an id out of range */
  SB_SPIRV_UNDECORATED, /* a float operation without NoContraction */
  SB_SPIRV_OPERATION,   /* an operation that devices round differently, or do in any order */
  SB_SPIRV_EXTENDED,    /* an extended instruction outside the integer ones */
  SB_SPIRV_MODE,        /* an entry point lacks an execution mode, or has one that changes floats */
  SB_SPIRV_CAPABILITY,  /* a capability nobody has checked against the rules */
  SB_SPIRV_TYPE,        /* floats of another width than 32 */
  SB_SPIRV_DECORATION   /* RelaxedPrecision and others that loosen arithmetic */
} sb_spirv_rule;

typedef struct sb_spirv_finding {
  sb_spirv_rule rule;
  size_t word;      /* where the instruction begins */
  uint32_t opcode;  /* of that instruction */
  uint32_t detail;  /* result id, extended instruction number, capability, mode, width or decoration, by rule */
  const char *text; /* what is wrong, as a sentence; static */
} sb_spirv_finding;

typedef struct sb_spirv_findings {
  sb_spirv_finding *items;
  size_t count;
  size_t capacity;
  bool out_of_memory; /* the list is incomplete: judge the module as refused */
} sb_spirv_findings;

/* Appends what breaks the rules; returns true when nothing does. [any] */
bool sb_spirv_audit(const uint32_t *words, size_t count, sb_spirv_findings *findings);
void sb_spirv_findings_clear(sb_spirv_findings *findings);

/* True for the arithmetic that has to carry NoContraction. The decorator and the audit share this one list. */
bool sb_spirv_is_float_arithmetic(uint32_t opcode);
/* True for comparisons and classifications of floats, which spirv_compare.c replaces. */
bool sb_spirv_is_float_comparison(uint32_t opcode);

#endif
