/* Parity of scalar.h, exact.h and two_float.h. */
#define PARITY_CASES(X)                                                                                                \
  X(case_arithmetic, 2, 4)                                                                                             \
  X(case_compare, 2, 6)                                                                                                \
  X(case_div, 2, 1)                                                                                                    \
  X(case_sqrt, 1, 2)                                                                                                   \
  X(case_signs, 2, 5)                                                                                                  \
  X(case_limits, 3, 4)                                                                                                 \
  X(case_round, 1, 5)                                                                                                  \
  X(case_from_int, 1, 2)                                                                                               \
  X(case_fmod, 2, 1)                                                                                                   \
  X(case_two_float, 2, 8)                                                                                              \
  X(case_integers, 2, 6)

PARITY_KERNEL(case_arithmetic)
{
  F a = IN(0); F b = IN(1);
  OUT(0, a + b); OUT(1, a - b); OUT(2, a * b); OUT(3, a * b + a);
}
PARITY_KERNEL(case_compare)
{
  F a = IN(0); F b = IN(1);
  MOUT(0, a < b); MOUT(1, a <= b); MOUT(2, a == b); MOUT(3, a > b); MOUT(4, a >= b); MOUT(5, a != b);
}
PARITY_KERNEL(case_div) { OUT(0, f_div(IN(0), IN(1))); }
PARITY_KERNEL(case_sqrt) { OUT(0, f_sqrt(IN(0))); OUT(1, f_rsqrt(IN(0))); }
PARITY_KERNEL(case_signs)
{
  F a = IN(0);
  OUT(0, f_abs(a)); OUT(1, f_neg(a)); OUT(2, f_copysign(a, IN(1))); MOUT(3, f_is_finite(a)); MOUT(4, f_is_nan(a));
}
PARITY_KERNEL(case_limits)
{
  F a = IN(0); F b = IN(1);
  OUT(0, f_min(a, b)); OUT(1, f_max(a, b)); OUT(2, f_clamp(IN(2), a, b)); OUT(3, f_snap(a, f_abs(b)));
}
PARITY_KERNEL(case_round)
{
  F a = IN(0);
  IOUT(0, f_to_i(a)); OUT(1, f_trunc(a)); OUT(2, f_floor(a)); OUT(3, f_ceil(a)); OUT(4, f_round_even(a));
}
PARITY_KERNEL(case_from_int)
{
  I n = IIN(0) >> 8;
  OUT(0, f_from_i(n)); OUT(1, f_pow2(i_from_u(UIN(0) & 127u) - 63));
}
PARITY_KERNEL(case_fmod) { OUT(0, f_fmod(IN(0), IN(1))); }
PARITY_KERNEL(case_two_float)
{
  F a = IN(0); F b = IN(1);
  F2 s = f2_sum(a, b); F2 p = f2_product(a, b); F2 q = f2_fast_sum(a, b); F2 h = f2_halves(a);
  OUT(0, s.hi); OUT(1, s.lo); OUT(2, p.hi); OUT(3, p.lo); OUT(4, q.hi); OUT(5, q.lo); OUT(6, h.hi); OUT(7, h.lo);
}
PARITY_KERNEL(case_integers)
{
  U a = UIN(0); U b = UIN(1);
  UOUT(0, a + b); UOUT(1, a * b); UOUT(2, (a ^ b) & ~a); UOUT(3, a << (b & 31u)); UOUT(4, a >> (b & 31u));
  IOUT(5, IIN(0) >> 3);
}
