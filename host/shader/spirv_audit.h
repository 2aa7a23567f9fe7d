/* Judges SPIR-V words by the number rules (docs/numbers.md): ours after the build, a plugin's before it is loaded.
 * Knows SPIR-V alone: no Vulkan, no compiler. Damaged or hostile words give findings, never a crash.
 *
 * What is not known to keep the rules is refused: operations, extended instructions, capabilities, decorations and
 * execution modes are on lists of what is allowed (spirv_rules.c). The audit is no validator: it demands what the rules
 * need and the shape that it needs itself, and leaves the rest of SPIR-V's grammar to SPIRV-Tools (sb_shader_validate).
 */
#ifndef SAMEBIT_HOST_SPIRV_AUDIT_H
#define SAMEBIT_HOST_SPIRV_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rule, its name for users, what it is about. */
#define SB_SPIRV_RULES(X)                                                                                              \
  X(DAMAGED, "damaged", "not SPIR-V of version 1.0 to 1.5, cut off, or an id out of range")                            \
  X(UNDECORATED, "undecorated", "a float operation without NoContraction")                                             \
  X(OPERATION, "operation", "an operation that devices round differently, or do in any order")                         \
  X(COMPARISON, "comparison", "a comparison of floats")                                                                \
  X(EXTENDED, "extended", "an extended instruction outside the integer ones")                                          \
  X(ATOMIC, "atomic", "an atomic operation on floats")                                                                 \
  X(CONSTANT, "constant", "a constant 0 in float arithmetic, or a float that is specialised")                          \
  X(UNKNOWN, "unknown", "an operation that nobody has checked against the rules")                                      \
  X(MODE, "mode", "an entry point lacks an execution mode, or has one that is not known to leave floats alone")        \
  X(CAPABILITY, "capability", "a capability that nobody has checked against the rules")                                \
  X(TYPE, "type", "floats of another width than 32")                                                                   \
  X(DECORATION, "decoration", "RelaxedPrecision and others that loosen arithmetic")

typedef enum sb_spirv_rule {
#define SB_SPIRV_X(rule, name, text) SB_SPIRV_##rule,
  SB_SPIRV_RULES(SB_SPIRV_X)
#undef SB_SPIRV_X
      SB_SPIRV_RULE_COUNT
} sb_spirv_rule;

typedef struct sb_spirv_finding {
  sb_spirv_rule rule;
  size_t word;        /* where the instruction begins */
  uint32_t opcode;    /* of that instruction */
  uint32_t detail;    /* result id, extended instruction number, capability, mode, width or decoration, by rule */
  const char *text;   /* what is wrong; static */
  const char *advice; /* what to do, as a sentence; static */
  char function[64];  /* the function that holds the instruction, by its name for debuggers; "" where there is none */
  char file[128];     /* of the source, where the module has lines; else "" */
  uint32_t line;      /* 0 where the module has none */
} sb_spirv_finding;

typedef struct sb_spirv_findings {
  sb_spirv_finding *items;
  size_t count;
  size_t capacity;
  size_t left_out;    /* findings beyond the first 4096 of a list */
  bool out_of_memory; /* the list is incomplete: judge the module as refused */
} sb_spirv_findings;

/* Appends what breaks the rules; returns true when nothing does. [any] */
bool sb_spirv_audit(const uint32_t *words, size_t count, sb_spirv_findings *findings);
void sb_spirv_findings_clear(sb_spirv_findings *findings);

const char *sb_spirv_rule_name(sb_spirv_rule rule);
/* "step.comp:12, in main, word 345". */
void sb_spirv_place(const sb_spirv_finding *finding, char *text, size_t size);

/* True for the arithmetic that has to carry NoContraction. The decorator and the audit share this one list. */
bool sb_spirv_is_float_arithmetic(uint32_t opcode);
/* True for comparisons and classifications of floats, which spirv_compare.c replaces. */
bool sb_spirv_is_float_comparison(uint32_t opcode);

#endif
