/* The lists behind the audit: what SPIR-V may contain, and why the rest may not. Knows SPIR-V's numbers alone. */
#ifndef SAMEBIT_HOST_SPIRV_RULES_H
#define SAMEBIT_HOST_SPIRV_RULES_H

#include "spirv_audit.h"

/* How an instruction begins. */
typedef enum spirv_form {
  SPIRV_NOT_KNOWN, /* not on the list */
  SPIRV_PLAIN,     /* no result */
  SPIRV_RESULT,    /* result id in word 1 */
  SPIRV_TYPED      /* type in word 1, result id in word 2 */
} spirv_form;

typedef struct spirv_verdict {
  const char *text, *advice; /* text NULL: allowed */
  sb_spirv_rule rule;
} spirv_verdict;

/* The form of an operation, and the least number of words that it has. */
spirv_form spirv_form_of(uint32_t opcode, uint32_t *least_words);
/* Why an operation may not be used at all. Operations that are not on any list are allowed here: they have no form. */
spirv_verdict spirv_operation_verdict(uint32_t opcode);
/* Operations that specialisation constants may be computed with. */
bool spirv_may_specialise(uint32_t opcode);
/* Instructions of GLSL.std.450. */
spirv_verdict spirv_extended_verdict(uint32_t instruction);
bool spirv_capability_is_known(uint32_t capability);
spirv_verdict spirv_decoration_verdict(uint32_t decoration);
bool spirv_built_in_is_known(uint32_t built_in);
/* Whether an execution mode other than the two that are demanded may be set. */
spirv_verdict spirv_mode_verdict(uint32_t mode);
/* Operations that end a block. */
bool spirv_ends_block(uint32_t opcode);

#endif
