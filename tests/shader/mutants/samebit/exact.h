/* A planted fault in place of the true exact.h: the device's own division and root. */
#ifndef SAMEBIT_EXACT_H
#define SAMEBIT_EXACT_H

#ifdef SB_GLSL
float f_div(float a, float b) { return a / b; }
float f_sqrt(float a) { return sqrt(a); }
#endif

#endif
