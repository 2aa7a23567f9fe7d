/* What every compute shader includes first: the kernel dialect and all shared maths as GLSL. The file that includes it
 * begins with #version 450 and enables GL_GOOGLE_include_directive. */
#ifndef SAMEBIT_PRELUDE_GLSL
#define SAMEBIT_PRELUDE_GLSL

#define SB_GLSL 1
#include "samebit/maths.h"

#endif
