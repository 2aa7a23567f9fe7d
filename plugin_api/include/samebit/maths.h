/* All shared maths, in the order that C and GLSL need. The one header for kernels to include. */
#ifndef SAMEBIT_MATHS_H
#define SAMEBIT_MATHS_H

#include "samebit/kernel.h"
#include "samebit/exact.h"
#include "samebit/linear.h"
#include "samebit/scalar.h"
#include "samebit/two_float.h"
#include "samebit/transcendental.h"
#include "samebit/rotation.h"

#endif
