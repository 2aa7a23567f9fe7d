/* Sine, cosine, tangent, their inverses, exponential and logarithm in the kernel dialect, each within 1 ULP of the true
 * value over every float (measured maxima in docs/numbers.md). May know scalar.h and two_float.h.
 *
 * NaN, infinities, zeros and subnormals are treated as C's annex F says. Polynomials are Chebyshev fits rounded to
 * binary32; tests/maths/fit_polynomials.py prints them and the split constants. A rare slow path hides behind m_any():
 * it is computed for all lanes and taken by selection, so a lane's result never depends on its neighbours. */
#ifndef SAMEBIT_TRANSCENDENTAL_H
#define SAMEBIT_TRANSCENDENTAL_H

#include "samebit/scalar.h"
#include "samebit/two_float.h"

STRUCT(SinCos)
{
  F s;
  F c;
};
/* An angle as quadrant * pi/2 + r, |r| <= pi/4 and a little. Only quadrant mod 4 counts. */
STRUCT(Reduced)
{
  I quadrant;
  F2 r;
};

/* Below this, sin x and tan x round to within 0.6 ULP of x. */
#define TRIG_TINY 1.220703125e-4f /* 2^-13 */
/* Below this, the reduction by parts is exact enough: quadrants stay under 2^10. */
#define TRIG_MODERATE 1600.0f
/* pi/4 as 21 bits and the rest. */
#define TRIG_QUARTER_HI 7.853980064e-01f
#define TRIG_QUARTER_LO 1.569582393e-07f

/* |x| < TRIG_MODERATE. pi/2 = A + B + C + D with 14 bits in each of A, B, C (Cody and Waite 1980): products with the
 * quadrant are exact, x - qA is exact (Sterbenz), the next two differences keep their errors. Left: 2^-55. */
FN Reduced trig_reduce_moderate(F x)
{
  F shifted = x * 6.366197467e-01f + 12582912.0f; /* 2/pi; 1.5 * 2^23 rounds to an integer */
  F q = shifted - 12582912.0f;
  F2 s = f2_sum(x - q * 1.570678711e+00f, -(q * 1.176148653e-04f));
  F2 t = f2_sum(s.hi, -(q * 9.920313460e-10f));
  Reduced r;
  r.quadrant = i_from_u(f_bits(shifted) - 0x4b400000u);
  r.r = f2_fast_sum(t.hi, (t.lo + s.lo) - q * 6.223371970e-14f);
  return r;
}

/* Word n of 2/pi in binary after 32 zero bits; n from 0 to 7. */
FN U trig_two_over_pi(I n)
{
  U w = u_sel(n == 1, KU(0xa2f9836eu), KU(0u));
  w = u_sel(n == 2, KU(0x4e441529u), w);
  w = u_sel(n == 3, KU(0xfc2757d1u), w);
  w = u_sel(n == 4, KU(0xf534ddc0u), w);
  w = u_sel(n == 5, KU(0xdb629599u), w);
  w = u_sel(n == 6, KU(0x3c439041u), w);
  return u_sel(n == 7, KU(0xfe5163abu), w);
}

/* 1024 <= |x|, finite (Payne and Hanek 1983). x = m 2^e; bits of 2/pi worth a multiple of 4 / m are left out, the next
 * 96 give x * 2/pi mod 4 with 94 fraction bits, 70 of them true. No float comes nearer to a multiple of pi/2 than about
 * 2^-30 of it, so 40 bits of the remainder are good. */
FN Reduced trig_reduce_large(F x)
{
  U b = f_bits(x) & 0x7fffffffu;
  U m = (b & 0x7fffffu) | 0x800000u;
  I start = i_from_u(b >> 23) - 120;                                   /* e + 30, in [17, 134]; first bit that counts */
  start = i_sel(start < 0, KI(0), i_sel(start > 134, KI(134), start)); /* lanes that others dragged along */
  I word = start >> 5;
  U up = u_from_i(start) & 31u;
  U w0 = trig_two_over_pi(word);
  U w1 = trig_two_over_pi(word + 1);
  U w2 = trig_two_over_pi(word + 2);
  U w3 = trig_two_over_pi(word + 3);
  /* (w >> 1) >> (31 - up) is w >> (32 - up) without the undefined shift by 32. */
  U down = 31u - up;
  w0 = (w0 << up) | ((w1 >> 1) >> down);
  w1 = (w1 << up) | ((w2 >> 1) >> down);
  w2 = (w2 << up) | ((w3 >> 1) >> down);
  /* m * (w0 w1 w2) mod 2^96 from 16-bit digits, m = mh 2^16 + ml with mh < 2^8. */
  U mh = m >> 16;
  U ml = m & 0xffffu;
  U d0 = ml * (w2 & 0xffffu);
  U d1 = ml * (w2 >> 16) + (d0 >> 16);
  U d2 = ml * (w1 & 0xffffu) + (d1 >> 16);
  U d3 = ml * (w1 >> 16) + (d2 >> 16);
  U d4 = ml * (w0 & 0xffffu) + (d3 >> 16);
  U d5 = ml * (w0 >> 16) + (d4 >> 16);
  U e1 = mh * (w2 & 0xffffu) + (d1 & 0xffffu);
  U e2 = mh * (w2 >> 16) + (d2 & 0xffffu) + (e1 >> 16);
  U e3 = mh * (w1 & 0xffffu) + (d3 & 0xffffu) + (e2 >> 16);
  U e4 = mh * (w1 >> 16) + (d4 & 0xffffu) + (e3 >> 16);
  U e5 = mh * (w0 & 0xffffu) + d5 + (e4 >> 16);
  U p0 = (e5 << 16) | (e4 & 0xffffu);
  U p1 = (e3 << 16) | (e2 & 0xffffu);
  U p2 = (e1 << 16) | (d0 & 0xffffu);
  /* Nearest quadrant; the fraction as sign and magnitude. */
  I quadrant = i_from_u((p0 + 0x20000000u) >> 30);
  M below = (p0 & 0x20000000u) != 0u;
  U flip = u_sel(below, KU(0xffffffffu), KU(0u));
  U f0 = (p0 ^ flip) & 0x3fffffffu;
  U f1 = p1 ^ flip;
  U f2w = p2 ^ flip;
  /* 29 + 32 + 11 bits below the sign as three exact floats of 24 bits (the flip's missing 1 is 2^-94). */
  F g0 = f_from_i(i_from_u(f0 >> 5)) * 2.98023223876953125e-08f;                             /* 2^-25 */
  F g1 = f_from_i(i_from_u(((f0 & 31u) << 19) | (f1 >> 13))) * 1.7763568394002505e-15f;      /* 2^-49 */
  F g2 = f_from_i(i_from_u(((f1 & 0x1fffu) << 11) | (f2w >> 21))) * 1.0587911840678754e-22f; /* 2^-73 */
  F2 g = f2_fast_sum(g0, g1);
  g = f2_fast_sum(g.hi, g.lo + g2);
  F2 h = f2_product(g.hi, K(1.570796371e+00f));
  F lo = h.lo + (g.hi * -4.371138829e-08f + g.lo * 1.570796371e+00f);
  F2 r = f2_fast_sum(h.hi, lo);
  M negative = (f_bits(x) >> 31) != 0u;
  U sign = (flip ^ f_bits(x)) & 0x80000000u;
  Reduced result;
  result.quadrant = i_sel(negative, -quadrant, quadrant);
  result.r = f2(f_from_bits(f_bits(r.hi) ^ sign), f_from_bits(f_bits(r.lo) ^ sign));
  return result;
}

FN Reduced trig_reduce(F x)
{
  Reduced a = trig_reduce_moderate(x);
  M large = m_not(f_abs(x) < TRIG_MODERATE);
  if (m_any(large)) {
    Reduced b = trig_reduce_large(x);
    a.quadrant = i_sel(large, b.quadrant, a.quadrant);
    a.r = f2(f_sel(large, b.r.hi, a.r.hi), f_sel(large, b.r.lo, a.r.lo));
  }
  return a;
}

/* What sin r adds to r.hi, with z = r.hi^2 and w = 1 - z/2, near enough to cos r for r.lo. */
FN F trig_sin_rest(F2 r, F z, F w)
{
  F p = ((2.724980277e-06f * z - 1.984008559e-04f) * z + 8.333331905e-03f) * z - 1.666666716e-01f;
  return r.lo * w + (r.hi * z) * p;
}
/* What cos r adds to 1 - z/2, but for the rounding of that; s is the sine. */
FN F trig_cos_rest(F2 r, F z, F s)
{
  F p = (2.454784044e-05f * z - 1.388830249e-03f) * z + 4.166666418e-02f;
  return (z * z) * p - s * r.lo;
}

FN SinCos f_sincos(F x)
{
  Reduced a = trig_reduce(x);
  F z = a.r.hi * a.r.hi;
  F h = z * 0.5f;
  F w = 1.0f - h;
  F s = a.r.hi + trig_sin_rest(a.r, z, w);
  F c = w + (((1.0f - w) - h) + trig_cos_rest(a.r, z, s));
  U q = u_from_i(a.quadrant);
  M swap = (q & 1u) != 0u;
  /* Sine is negative in quadrants 2 and 3, cosine in 1 and 2. Selecting bits spares scalar code a mispredicted branch.
   */
  F ss = f_from_bits(u_sel(swap, f_bits(c), f_bits(s)) ^ ((q & 2u) << 30));
  F cc = f_from_bits(u_sel(swap, f_bits(s), f_bits(c)) ^ (((q + 1u) & 2u) << 30));
  M ok = f_is_finite(x);
  SinCos r;
  r.s = f_sel(f_abs(x) < TRIG_TINY, x, f_sel(ok, ss, F_NAN));
  r.c = f_sel(ok, cc, F_NAN);
  return r;
}
FN F f_sin(F x) { return f_sincos(x).s; }
FN F f_cos(F x) { return f_sincos(x).c; }

/* Sine over cosine (or minus its inverse), both as pairs of floats, with the quotient's remainder. */
FN F f_tan(F x)
{
  Reduced a = trig_reduce(x);
  F2 z = f2_product(a.r.hi, a.r.hi);
  F2 w = f2_fast_sum(K(1.0f), z.hi * -0.5f);
  F2 s = f2_fast_sum(a.r.hi, trig_sin_rest(a.r, z.hi, w.hi));
  F2 c = f2_fast_sum(w.hi, w.lo + (trig_cos_rest(a.r, z.hi, s.hi) - z.lo * 0.5f));
  M swap = (u_from_i(a.quadrant) & 1u) != 0u;
  F2 n = f2(f_sel(swap, f_neg(c.hi), s.hi), f_sel(swap, f_neg(c.lo), s.lo));
  F2 d = f2(f_sel(swap, s.hi, c.hi), f_sel(swap, s.lo, c.lo));
  F inverse = f_div(K(1.0f), d.hi);
  F q = n.hi * inverse;
  F2 p = f2_product(q, d.hi);
  F t = q + (((n.hi - p.hi) - p.lo) + (n.lo - q * d.lo)) * inverse;
  return f_sel(f_abs(x) < TRIG_TINY, x, f_sel(f_is_finite(x), t, F_NAN));
}

/* quarters * pi/4 + sign * (hi + lo), quarters from 0 to 4. The upper part of pi/4 has 21 bits, so its multiples are
 * exact. */
FN F trig_assemble(F quarters, F sign, F hi, F lo)
{
  F2 s = f2_sum(quarters * TRIG_QUARTER_HI, sign * hi);
  return s.hi + (s.lo + (sign * lo + quarters * TRIG_QUARTER_LO));
}

/* Angle of (x, y) from the x axis, in [-pi, pi]. The smaller magnitude is divided by the larger, the ratio t brought
 * below tan(pi/8) by atan t = pi/4 + atan((t - 1) / (t + 1)); numerator, denominator and quotient are pairs of floats.
 */
FN F f_atan2(F y, F x)
{
  F ay = f_abs(y);
  F ax = f_abs(x);
  M swap = ay > ax;
  F n = f_sel(swap, ax, ay);
  F d = f_sel(swap, ay, ax);
  /* An infinite denominator leaves 0 or 1, a zero one 0; then both are scaled into the middle of the range. */
  M wide = m_not(f_is_finite(d));
  n = f_sel(wide, f_sel(f_is_finite(n), K(0.0f), K(1.0f)), n);
  d = f_sel(m_or(wide, d == 0.0f), K(1.0f), d);
  F scale = f_sel(d > 1.8446744e19f, K(5.4210109e-20f), f_sel(d < 9.0949470e-13f, K(1.2089258e24f), K(1.0f)));
  n = n * scale; /* 2^-64 above 2^64, 2^80 below 2^-40 */
  d = d * scale;
  M fold = n > d * 0.41421357f;
  F2 num = f2_sum(n, f_sel(fold, f_neg(d), K(0.0f)));
  F2 den = f2_sum(d, f_sel(fold, n, K(0.0f)));
  F inverse = f_div(K(1.0f), den.hi);
  F t = num.hi * inverse;
  F2 p = f2_product(t, den.hi);
  F rest = (((num.hi - p.hi) - p.lo) + (num.lo - t * den.lo)) * inverse;
  F z = t * t;
  F poly = (((-6.451054662e-02f * z + 1.074346751e-01f) * z - 1.426393092e-01f) * z + 1.999953985e-01f) * z -
           3.333333135e-01f;
  M back = (f_bits(x) >> 31) != 0u;
  F quarters = f_sel(fold, K(1.0f), f_sel(swap, K(2.0f), K(0.0f)));
  quarters = f_sel(back, 4.0f - quarters, quarters);
  F sign = f_sel(swap, K(-1.0f), K(1.0f));
  sign = f_sel(back, -sign, sign);
  F r = trig_assemble(quarters, sign, t, (rest - rest * z) + (t * z) * poly);
  /* Near the positive x axis a tiny angle is the plain quotient, subnormal or not. */
  M below = t < 9.0949470e-13f;
  M tiny = m_and(m_and(below, ax > 0.0f), m_not(m_or(fold, m_or(swap, back))));
  if (m_any(tiny)) r = f_sel(tiny, f_div(ay, f_sel(tiny, ax, K(1.0f))), r);
  r = f_copysign(r, y);
  return f_sel(m_or(f_is_nan(x), f_is_nan(y)), F_NAN, r);
}
FN F f_atan(F x) { return f_atan2(x, K(1.0f)); }

/* asin a for a in [0, 0.5] is a + arc_rest(a, a^2). */
FN F arc_rest(F a, F z)
{
  F p = ((((3.370072693e-02f * z + 1.714371704e-02f) * z + 3.110172786e-02f) * z + 4.459932074e-02f) * z +
         7.500094920e-02f) *
            z +
        1.666666567e-01f;
  return (a * z) * p;
}
/* For a = |x|: a itself up to 0.5, beyond it the half angle's sine sqrt((1 - a) / 2) as a pair, with asin's rest in lo.
 */
FN F2 arc_reduce(F a)
{
  M outer = a > 0.5f;
  F part = f_sel(outer, (1.0f - a) * 0.5f, K(0.0f)); /* exact */
  F root = f_sqrt(part);
  F2 p = f2_product(root, root);
  F root_rest = f_div((part - p.hi) - p.lo, f_sel(root > 0.0f, root + root, K(1.0f)));
  F s = f_sel(outer, root, a);
  F z = f_sel(outer, part, a * a);
  return f2(s, f_sel(outer, root_rest, K(0.0f)) + arc_rest(s, z));
}
FN F f_asin(F x)
{
  F a = f_abs(x);
  F2 s = arc_reduce(a);
  F outer = trig_assemble(K(2.0f), K(-2.0f), s.hi, s.lo);
  F r = f_copysign(f_sel(a > 0.5f, outer, s.hi + s.lo), x);
  return f_sel(a <= 1.0f, r, F_NAN);
}
FN F f_acos(F x)
{
  F a = f_abs(x);
  F2 s = arc_reduce(a);
  M negative = (f_bits(x) >> 31) != 0u;
  M outer = a > 0.5f;
  F quarters = f_sel(outer, f_sel(negative, K(4.0f), K(0.0f)), K(2.0f));
  F sign = f_sel(outer, f_sel(negative, K(-2.0f), K(2.0f)), f_sel(negative, K(1.0f), K(-1.0f)));
  F r = trig_assemble(quarters, sign, s.hi, s.lo);
  return f_sel(a <= 1.0f, r, F_NAN);
}

/* x = n ln 2 + r, exp x = 2^n exp r. The scaling is in two steps, so that subnormal results round once, in the last. */
FN F f_exp(F x)
{
  F v = f_clamp(x, K(-104.0f), K(89.0f)); /* beyond: 0 and infinity, from the arithmetic itself */
  F shifted = v * 1.442695022e+00f + 12582912.0f;
  F q = shifted - 12582912.0f;
  I n = i_from_u(f_bits(shifted) - 0x4b400000u);
  F2 r = f2_sum(v - q * 6.931457520e-01f, -(q * 1.428606765e-06f)); /* the first part of ln 2 has 16 bits */
  F p = ((1.392625039e-03f * r.hi + 8.363232948e-03f) * r.hi + 4.166655242e-02f) * r.hi + 1.666657627e-01f;
  p = p * r.hi + 0.5f;
  F2 s = f2_fast_sum(K(1.0f), r.hi);
  F y = s.hi + (s.lo + (r.lo + (r.hi * r.hi) * p));
  I first = n >> 1;
  y = (y * f_pow2(first)) * f_pow2(n - first);
  return f_sel(f_is_nan(x), F_NAN, y);
}

/* x = 2^e (1 + f), 1 + f in [2/3, 4/3): log x = e ln 2 + f - f^2/2 + f^3 R(f), the first three terms as pairs. */
FN F f_log(F x)
{
  M small = x < 1.17549435e-38f;
  F v = f_sel(small, x * 8388608.0f, x);
  U b = f_bits(v) + (0x3f800000u - 0x3f2aaaabu);
  I e = i_from_u(b >> 23) - 127;
  F f = f_from_bits((b & 0x7fffffu) + 0x3f2aaaabu) - 1.0f;
  F q = f_from_i(i_sel(small, e - 23, e));
  F2 square = f2_product(f, f);
  F2 s = f2_sum(q * 6.931457520e-01f, f);
  F2 t = f2_sum(s.hi, square.hi * -0.5f);
  F p = ((1.133061722e-01f * f - 1.242220029e-01f) * f + 1.091565490e-01f) * f - 1.228872165e-01f;
  p = ((p * f + 1.429186761e-01f) * f - 1.667331606e-01f) * f + 1.999994814e-01f;
  p = (p * f - 2.499994487e-01f) * f + 3.333333433e-01f;
  F lo = (s.lo + t.lo) + (q * 1.428606765e-06f - square.lo * 0.5f);
  F r = t.hi + (lo + (square.hi * f) * p);
  r = f_sel(x > 0.0f, r, f_sel(x == 0.0f, f_neg(F_INF), F_NAN));
  return f_sel(f_bits(x) == 0x7f800000u, F_INF, r);
}

#endif
