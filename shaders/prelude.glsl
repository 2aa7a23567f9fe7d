/* What every compute shader includes first: the kernel dialect and all shared maths as GLSL. The file that includes it
 * begins with #version 450 and enables GL_GOOGLE_include_directive. */
#ifndef SAMEBIT_PRELUDE_GLSL
#define SAMEBIT_PRELUDE_GLSL

#define SB_GLSL 1
#include "samebit/maths.h"

/* Some drivers end a shader after so many rounds of all its loops (lavapipe, Mesa 22.3: 65,535). Where a serial loop may be that long, what finds itself cut leaves
 * SB_CUT_SHORT in the state, not a number: the host stops the run for it, where other bits would go on unseen. `zero` is 0 and comes from outside: a compiler would say
 * that a loop has ended by its own condition. */
#define SB_CUT_SHORT uintBitsToFloat(0x7fc00000u)
bool sb_is_cut(uint at, uint end, float zero) { return at + floatBitsToUint(zero) < end; }

#endif
