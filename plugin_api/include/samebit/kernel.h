/* The kernel dialect: one text that is scalar C, C over 4 or 8 lanes, and GLSL.
 *
 * A kernel is written once with the types and macros below. The same file is then compiled
 *   - as C with F = float                              (SB_LANES undefined or 1),
 *   - as C with F = a vector of SB_LANES floats        (SB_LANES 4 or 8; GCC and Clang),
 *   - as GLSL 4.50                                     (SB_GLSL defined by the shader build).
 * IEEE arithmetic makes the three equal bit for bit; a parity test holds each kernel to it.
 *
 * Rules for kernel text
 *   + - * and comparisons are written as operators; division and roots are f_div and f_sqrt; everything else is a function.
 *   Floats are written 2.0f. A constant passed to a function or stored in an F is K(2.0f); an integer one KU(7u), KI(-1).
 *   No constant 0 as an operand of + - * (x - 0 is fine): some devices fold it and lose the sign of zero, or NaN.
 *   No branch on lane data: f_sel(mask, a, b). A branch on uniform values (plain int, uint) is fine. Text that says it is scalar is
 *   compiled for one lane and as GLSL alone, and may branch.
 *   Structs are declared with STRUCT(Name) { ... }; built by assigning fields; passed and returned by value.
 *   Scalar text with large structs hands them over in place (VIEW and EDIT of collision/convex.kernel.h).
 *   No pointers, no arrays of structs, no recursion, no GLSL keyword as a name (half, input, output, sample, filter,
 *   common, partition, active, packed, this ...).
 *   Lane values never cross a non-inline function boundary. */
#ifndef SAMEBIT_KERNEL_H
#define SAMEBIT_KERNEL_H

#ifdef SB_GLSL

#define FN
#define STRUCT(name) struct name
#define F float
#define U uint
#define I int
#define M bool
#define K(x) (x)
#define KU(x) (x)
#define KI(x) (x)
#define m_and(a, b) ((a) && (b))
#define m_or(a, b) ((a) || (b))
#define m_not(a) (!(a))
#define m_any(a) (a)
float f_sel(bool m, float a, float b) { return m ? a : b; }
uint u_sel(bool m, uint a, uint b) { return m ? a : b; }
int i_sel(bool m, int a, int b) { return m ? a : b; }
#define f_bits(x) floatBitsToUint(x)
#define f_from_bits(x) uintBitsToFloat(x)
#define u_from_i(x) uint(x)
#define i_from_u(x) int(x)
/* Exact for |i| < 2^24. */
#define f_from_i(x) float(x)

#else /* C and C++ */

#include "samebit/fp_guard.h"

#include <stdint.h>
#include <string.h>

#ifndef SB_LANES
#define SB_LANES 1
#endif

/* Lane values must not travel through memory at calls, so lane code is always inlined. Scalar code is where the compiler likes, unless the source that includes
 * kernels with large records defines SB_INLINE_KERNELS. */
#if SB_LANES == 1 && !defined(SB_INLINE_KERNELS)
#define FN static inline
#else
#define FN static inline __attribute__((always_inline))
#endif
#define STRUCT(name)                                                                                                   \
  typedef struct name name;                                                                                            \
  struct name

#if SB_LANES == 1

typedef float F;
typedef uint32_t U;
typedef int32_t I;
typedef int32_t M; /* 0 or 1 */

#define K(x) (x)
#define KU(x) ((uint32_t)(x))
#define KI(x) ((int32_t)(x))
#define m_and(a, b) ((a) & (b))
#define m_or(a, b) ((a) | (b))
#define m_not(a) (!(a))
#define m_any(a) (a)
FN float f_sel(M m, float a, float b) { return m ? a : b; }
FN uint32_t u_sel(M m, uint32_t a, uint32_t b) { return m ? a : b; }
FN int32_t i_sel(M m, int32_t a, int32_t b) { return m ? a : b; }
FN uint32_t f_bits(float x)
{
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}
FN float f_from_bits(uint32_t u)
{
  float x;
  memcpy(&x, &u, sizeof x);
  return x;
}
#define u_from_i(x) ((uint32_t)(x))
#define i_from_u(x) ((int32_t)(x))
#define f_from_i(x) ((float)(x))
FN float f_div(float a, float b) { return a / b; }
FN float f_sqrt(float a) { return __builtin_sqrtf(a); }
FN float f_load(const float *p) { return *p; }
FN void f_store(float *p, float v) { *p = v; }

#elif SB_LANES == 4 || SB_LANES == 8

typedef float F __attribute__((vector_size(4 * SB_LANES)));
typedef uint32_t U __attribute__((vector_size(4 * SB_LANES)));
typedef int32_t I __attribute__((vector_size(4 * SB_LANES)));
typedef int32_t M __attribute__((vector_size(4 * SB_LANES))); /* 0 or -1 in each lane */

#if SB_LANES == 4
FN F K(float x)
{
  F r = {x, x, x, x};
  return r;
}
FN U KU(uint32_t x)
{
  U r = {x, x, x, x};
  return r;
}
FN I KI(int32_t x)
{
  I r = {x, x, x, x};
  return r;
}
#else
FN F K(float x)
{
  F r = {x, x, x, x, x, x, x, x};
  return r;
}
FN U KU(uint32_t x)
{
  U r = {x, x, x, x, x, x, x, x};
  return r;
}
FN I KI(int32_t x)
{
  I r = {x, x, x, x, x, x, x, x};
  return r;
}
#endif
#define m_and(a, b) ((a) & (b))
#define m_or(a, b) ((a) | (b))
#define m_not(a) (~(a))
#if defined(__AVX__) && SB_LANES == 8
/* One instruction each; masks are all ones or all zeros, so the top bit says all. */
FN int m_any(M m) { return __builtin_ia32_movmskps256((F)m) != 0; }
FN F f_sel(M m, F a, F b) { return __builtin_ia32_blendvps256(b, a, (F)m); }
FN U u_sel(M m, U a, U b) { return (U)f_sel(m, (F)a, (F)b); }
FN I i_sel(M m, I a, I b) { return (I)f_sel(m, (F)a, (F)b); }
#else
FN int m_any(M m)
{
  int32_t any = 0;
  for (int l = 0; l < SB_LANES; l++) any |= m[l];
  return any != 0;
}
FN F f_sel(M m, F a, F b) { return (F)(((M)a & m) | ((M)b & ~m)); }
FN U u_sel(M m, U a, U b) { return (a & (U)m) | (b & ~(U)m); }
FN I i_sel(M m, I a, I b) { return (a & m) | (b & ~m); }
#endif
#define f_bits(x) ((U)(x))
#define f_from_bits(x) ((F)(x))
#define u_from_i(x) ((U)(x))
#define i_from_u(x) ((I)(x))
FN F f_from_i(I x) { return __builtin_convertvector(x, F); }
FN F f_div(F a, F b) { return a / b; }
#if defined(__SSE2__) && SB_LANES == 4 && !defined(__clang__)
FN F f_sqrt(F a) { return __builtin_ia32_sqrtps(a); }
#elif defined(__AVX__) && SB_LANES == 8 && !defined(__clang__)
FN F f_sqrt(F a) { return __builtin_ia32_sqrtps256(a); }
#else
FN F f_sqrt(F a)
{
  F r;
  for (int l = 0; l < SB_LANES; l++) r[l] = __builtin_sqrtf(a[l]);
  return r;
}
#endif
/* SB_LANES consecutive floats at a 4-byte aligned address. */
FN F f_load(const float *p)
{
  F r;
  memcpy(&r, p, sizeof r);
  return r;
}
FN void f_store(float *p, F v) { memcpy(p, &v, sizeof v); }

#else
#error "Samebit: SB_LANES must be 1, 4 or 8"
#endif

#endif /* C */

#endif
