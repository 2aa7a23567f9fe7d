/* Macros of parity cases, for C at any lane width and for GLSL. See README.md in this folder.
 *
 *   PARITY_KERNEL(name) { OUT(0, f_sqrt(IN(0))); }
 *
 * IN, UIN, IIN read word k of the element as float, unsigned or signed integer; OUT, UOUT, IOUT write word k. MOUT writes a
 * mask as 0 or 1. k is a constant or a plain int. */
#ifndef SAMEBIT_TESTS_PARITY_H
#define SAMEBIT_TESTS_PARITY_H

#ifdef SB_GLSL

layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer ParityIn { uint parity_in[]; };
layout(std430, binding = 1) writeonly buffer ParityOut { uint parity_out[]; };
layout(push_constant) uniform ParityPush { uint count; uint in_words; uint out_words; } parity_push;

#define PARITY_KERNEL(name) void name(uint parity_i, uint parity_o)
#define UIN(k) parity_in[parity_i + uint(k)]
#define UOUT(k, v) parity_out[parity_o + uint(k)] = (v)

#else

#include "samebit/maths.h"

#define PARITY_KERNEL(name) static void name(const U *parity_i, U *parity_o)
#define UIN(k) parity_i[k]
#define UOUT(k, v) parity_o[k] = (v)

#endif

#define IN(k) f_from_bits(UIN(k))
#define IIN(k) i_from_u(UIN(k))
#define OUT(k, v) UOUT(k, f_bits(v))
#define IOUT(k, v) UOUT(k, u_from_i(v))
#define MOUT(k, m) UOUT(k, u_sel(m, KU(1u), KU(0u)))

/* Vectors and others from and to consecutive words. */
#define IN_V3(k) v3(IN(k), IN(k + 1), IN(k + 2))
#define IN_Q4(k) q4(IN(k), IN(k + 1), IN(k + 2), IN(k + 3))
#define IN_M33(k) m33(IN_V3(k), IN_V3(k + 3), IN_V3(k + 6))
#define IN_S33(k) s33(IN(k), IN(k + 1), IN(k + 2), IN(k + 3), IN(k + 4), IN(k + 5))
#define IN_X7(k) x7(IN_V3(k), IN_Q4(k + 3))
#define OUT_V3(k, v) { V3 parity_v = v; OUT(k, parity_v.x); OUT(k + 1, parity_v.y); OUT(k + 2, parity_v.z); }
#define OUT_Q4(k, v)                                                                                                   \
  { Q4 parity_v = v; OUT(k, parity_v.x); OUT(k + 1, parity_v.y); OUT(k + 2, parity_v.z); OUT(k + 3, parity_v.w); }
#define OUT_M33(k, v)                                                                                                  \
  { M33 parity_m = v; OUT_V3(k, parity_m.r0) OUT_V3(k + 3, parity_m.r1) OUT_V3(k + 6, parity_m.r2) }
#define OUT_S33(k, v)                                                                                                  \
  { S33 parity_s = v; OUT_V3(k, v3(parity_s.xx, parity_s.yy, parity_s.zz))                                             \
    OUT_V3(k + 3, v3(parity_s.xy, parity_s.xz, parity_s.yz)) }

#endif
