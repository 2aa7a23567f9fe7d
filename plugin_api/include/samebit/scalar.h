/* Scalar functions of the kernel dialect that languages and devices do not agree on. May know kernel.h and exact.h.
 *
 * Tests for signs, infinities and NaN read the bits. NaN payloads are not part of any contract. -x written as an
 * operator flips the sign bit of everything but NaN, zeros included; 0.0f - x does not, and is never to be used for it.
 */
#ifndef SAMEBIT_SCALAR_H
#define SAMEBIT_SCALAR_H

#include "samebit/kernel.h"
#include "samebit/exact.h"

#define F_NAN f_from_bits(KU(0x7fc00000u))
#define F_INF f_from_bits(KU(0x7f800000u))

FN F f_abs(F x) { return f_from_bits(f_bits(x) & 0x7fffffffu); }
FN F f_neg(F x) { return f_from_bits(f_bits(x) ^ 0x80000000u); }
/* The magnitude of x with the sign bit of s. */
FN F f_copysign(F x, F s) { return f_from_bits((f_bits(x) & 0x7fffffffu) | (f_bits(s) & 0x80000000u)); }
FN M f_is_finite(F x) { return (f_bits(x) & 0x7fffffffu) < 0x7f800000u; }
FN M f_is_nan(F x) { return (f_bits(x) & 0x7fffffffu) > 0x7f800000u; }

/* a where a < b, else b: b where either is NaN, and where both are zeros. */
FN F f_min(F a, F b) { return f_sel(a < b, a, b); }
/* a where a > b, else b: b where either is NaN, and where both are zeros. */
FN F f_max(F a, F b) { return f_sel(a > b, a, b); }
/* x kept inside [low, high] (low <= high); low where x is NaN. */
FN F f_clamp(F x, F low, F high) { return f_min(f_max(x, low), high); }
/* x, or +0 where |x| < threshold. Keeps slow subnormals out of loops; NaN stays. */
FN F f_snap(F x, F threshold) { return f_sel(f_abs(x) < threshold, K(0.0f), x); }
/* 1 / sqrt(x), each step correctly rounded. */
FN F f_rsqrt(F x) { return f_div(K(1.0f), f_sqrt(x)); }

/* 2^n for n in [-126, 127]. */
FN F f_pow2(I n) { return f_from_bits(u_from_i(n + 127) << 23); }

/* x towards zero as an integer; saturates at -2^31 and 2^31 - 1; 0 for NaN. Shifts the significand, because devices'
 * conversions differ outside the range. */
FN I f_to_i(F x)
{
  U b = f_bits(x) & 0x7fffffffu;
  I e = i_from_u(b >> 23) - 150; /* |x| = m * 2^e */
  U m = (b & 0x7fffffu) | 0x800000u;
  M left = e >= 0;
  U up = u_from_i(i_sel(m_and(left, e < 8), e, KI(0)));
  U down = u_from_i(i_sel(m_and(m_not(left), e > -24), -e, i_sel(left, KI(0), KI(24))));
  I v = i_from_u(u_sel(left, m << up, m >> down));
  M negative = (f_bits(x) >> 31) != 0u;
  I limit = i_sel(negative, KI(-2147483647) - 1, KI(2147483647));
  v = i_sel(e >= 8, limit, i_sel(negative, -v, v));
  return i_sel(b > 0x7f800000u, KI(0), v);
}

/* Towards zero; keeps the sign of zero. */
FN F f_trunc(F x)
{
  U b = f_bits(x);
  I e = i_from_u((b >> 23) & 255u) - 127;
  M small = e < 0;
  M whole = e > 22;
  U shift = u_from_i(i_sel(m_or(small, whole), KI(0), e));
  U kept = b & ~(KU(0x7fffffu) >> shift);
  return f_from_bits(u_sel(whole, b, u_sel(small, b & 0x80000000u, kept)));
}
FN F f_floor(F x)
{
  F t = f_trunc(x);
  return f_sel(t > x, t - 1.0f, t);
}
FN F f_ceil(F x)
{
  F t = f_trunc(x);
  return f_copysign(f_sel(t < x, t + 1.0f, t), x);
}
/* Nearest integer, ties to even; keeps the sign of zero. */
FN F f_round_even(F x)
{
  F a = f_abs(x);
  F r = (a + 8388608.0f) - 8388608.0f; /* 2^23: the sum has no fraction bits left */
  return f_copysign(f_sel(a < 8388608.0f, r, a), x);
}

/* Remainder of a / b with the quotient truncated, exact; the sign of a. NaN where a is infinite or NaN, or b zero or
 * NaN. Long division in base 2^8 on the significands. Runs as many rounds as the lane with the largest quotient needs;
 * a lane that is done no longer changes. */
FN F f_fmod(F a, F b)
{
  U ua = f_bits(a) & 0x7fffffffu;
  U ub = f_bits(b) & 0x7fffffffu;
  M invalid = m_or(ua >= 0x7f800000u, m_or(ub > 0x7f800000u, ub == 0u));
  M keep = m_or(invalid, ua < ub); /* |a| < |b|, b infinite among them: the result is a */
  U sa = u_sel(keep, KU(0x3f800000u), ua);
  U sb = u_sel(keep, KU(0x3f800000u), ub);
  /* Significands and exponents; a subnormal has exponent 1 and no hidden bit, which long division does not mind. */
  M na = sa >= 0x800000u;
  M nb = sb >= 0x800000u;
  I ea = i_sel(na, i_from_u(sa >> 23), KI(1));
  I eb = i_sel(nb, i_from_u(sb >> 23), KI(1));
  U r = (sa & 0x7fffffu) | u_sel(na, KU(0x800000u), KU(0u));
  U d = (sb & 0x7fffffu) | u_sel(nb, KU(0x800000u), KU(0u));
  I n = ea - eb;
  r = r % d;
  for (int round = 0; round < 32; round++) { /* 253 exponents at most, 8 at a time */
    if (!m_any(n > 0)) break;
    I step = i_sel(n > 8, KI(8), n);
    r = (r << u_from_i(step)) % d;
    n = n - step;
  }
  /* r * 2^(eb - 150), r < 2^24: put the leading bit in place; what falls below exponent 1 stays subnormal. */
  F rf = f_from_i(i_from_u(r));
  I lead = i_from_u(f_bits(rf) >> 23) - 127;
  I up = 23 - lead;
  M fits = eb > up;
  I shift = i_sel(r == 0u, KI(0), i_sel(fits, up, eb - 1));
  U packed = u_sel(fits, (u_from_i(eb - shift) << 23) + ((r << u_from_i(shift)) - 0x800000u), r << u_from_i(shift));
  U magnitude = u_sel(keep, ua, u_sel(r == 0u, KU(0u), packed));
  return f_sel(invalid, F_NAN, f_from_bits(magnitude | (f_bits(a) & 0x80000000u)));
}

#endif
