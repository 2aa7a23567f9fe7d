/* What the sweep computes for each of 2^32 indices: a shared routine of one argument, the index being its bits, or a
 * quotient whose operands follow from the index. One text for C over lanes and for GLSL. Knows the shared maths. */
#ifndef SAMEBIT_DEVICE_SWEEP_KERNEL_H
#define SAMEBIT_DEVICE_SWEEP_KERNEL_H

/* Name, whether its results are floats. */
#define SWEEP_FUNCTIONS(X)                                                                                             \
  X(sqrt, 1)                                                                                                           \
  X(div, 1)                                                                                                            \
  X(sin, 1)                                                                                                            \
  X(cos, 1)                                                                                                            \
  X(tan, 1)                                                                                                            \
  X(asin, 1)                                                                                                           \
  X(acos, 1)                                                                                                           \
  X(atan, 1)                                                                                                           \
  X(exp, 1)                                                                                                            \
  X(log, 1)                                                                                                            \
  X(rsqrt, 1)                                                                                                          \
  X(trunc, 1)                                                                                                          \
  X(floor, 1)                                                                                                          \
  X(ceil, 1)                                                                                                           \
  X(round_even, 1)                                                                                                     \
  X(to_i, 0)

FN U sweep_sqrt(U u) { return f_bits(f_sqrt(f_from_bits(u))); }
FN U sweep_sin(U u) { return f_bits(f_sin(f_from_bits(u))); }
FN U sweep_cos(U u) { return f_bits(f_cos(f_from_bits(u))); }
FN U sweep_tan(U u) { return f_bits(f_tan(f_from_bits(u))); }
FN U sweep_asin(U u) { return f_bits(f_asin(f_from_bits(u))); }
FN U sweep_acos(U u) { return f_bits(f_acos(f_from_bits(u))); }
FN U sweep_atan(U u) { return f_bits(f_atan(f_from_bits(u))); }
FN U sweep_exp(U u) { return f_bits(f_exp(f_from_bits(u))); }
FN U sweep_log(U u) { return f_bits(f_log(f_from_bits(u))); }
FN U sweep_rsqrt(U u) { return f_bits(f_rsqrt(f_from_bits(u))); }
FN U sweep_trunc(U u) { return f_bits(f_trunc(f_from_bits(u))); }
FN U sweep_floor(U u) { return f_bits(f_floor(f_from_bits(u))); }
FN U sweep_ceil(U u) { return f_bits(f_ceil(f_from_bits(u))); }
FN U sweep_round_even(U u) { return f_bits(f_round_even(f_from_bits(u))); }
FN U sweep_to_i(U u) { return u_from_i(f_to_i(f_from_bits(u))); }

FN U sweep_mix(U x)
{
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

/* The low 23 bits of the index are the divisor's significand: each is met with 512 dividends. The first eight have
 * significands that lie at the divisor's own or at the ends; of the others one in four has any exponents, and one in
 * four a quotient around the smallest normal number. */
FN U sweep_div(U i)
{
  U m = i & 0x7fffffu, k = i >> 23, h = sweep_mix(i), e = sweep_mix(h + 0x9e3779b9u);
  U near = m;
  near = u_sel(k == 1u, m - 1u, near);
  near = u_sel(k == 2u, m + 1u, near);
  near = u_sel(k == 3u, KU(0u), near);
  near = u_sel(k == 4u, KU(1u), near);
  near = u_sel(k == 5u, KU(0x7fffffu), near);
  near = u_sel(k == 6u, KU(0x400000u), near);
  near = u_sel(k == 7u, ~m, near);
  U significand = u_sel(k < 8u, near, h) & 0x7fffffu;
  U kind = u_sel(k < 8u, KU(0u), k & 3u);
  U above = u_sel(kind == 3u, e & 255u, u_sel(kind == 2u, KU(60u), KU(127u)));
  U below = u_sel(kind == 3u, (e >> 8) & 255u, u_sel(kind == 2u, 60u + 114u + (e & 31u), KU(127u)));
  F a = f_from_bits((h & 0x80000000u) | (above << 23) | significand);
  F b = f_from_bits((e & 0x80000000u) | (below << 23) | m);
  return f_bits(f_div(a, b));
}

#endif
