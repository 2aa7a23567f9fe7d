/* The floating-point environment: round to nearest even, subnormals kept, no traps. The host sets it around every call of
 * simulation code and puts back what its caller had. C library alone. */
#ifndef SAMEBIT_HOST_FP_ENV_H
#define SAMEBIT_HOST_FP_ENV_H

#include <stdbool.h>
#include <stdint.h>

typedef struct sb_fp_env {
  uint64_t control; /* the machine's control word: MXCSR, FPCR, FCSR or FPC */
} sb_fp_env;

/* Saves the caller's environment and sets the standard one on this thread. */
sb_fp_env sb_fp_env_enter(void);
/* Puts back a saved environment. */
void sb_fp_env_leave(sb_fp_env saved);
/* Whether this thread still has the standard environment (status flags do not count). */
bool sb_fp_env_is_standard(void);
/* Flushes subnormals and rounds upwards on this thread, where the processor can: what a careless caller might have done. */
void sb_fp_env_make_hostile(void);
/* "flush to zero", "denormals are zero", "rounding mode", joined by ", ": what is not standard now. Static text. */
const char *sb_fp_env_fault(void);

#endif
