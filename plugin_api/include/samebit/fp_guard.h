/* Stops compilation where the number rules cannot hold. Every Samebit header that touches floats includes this first.
 * It changes no floating-point state and sets no pragma. */
#ifndef SAMEBIT_FP_GUARD_H
#define SAMEBIT_FP_GUARD_H

#include <float.h>

#if defined(__FAST_MATH__)
#error "Samebit: compile without -ffast-math (and -Ofast): it changes results between compilers and removes NaN checks"
#endif
#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "Samebit: compile without -ffinite-math-only: it removes NaN checks"
#endif
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0
#error "Samebit: FLT_EVAL_METHOD must be 0 (i386: -msse2 -mfpmath=sse; s390x: -fexcess-precision=fast)"
#endif

#endif
