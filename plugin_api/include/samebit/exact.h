/* Division and square root for GLSL, correctly rounded, from + - * and 32-bit integers. In C the processor's own are
 * correctly rounded already (kernel.h); devices' are not, so shaders use these. May know kernel.h only.
 *
 * Both work alike: estimate the quotient or root in floats, read it as an integer, take the exact remainder modulo
 * 2^32, correct once by the rounded quotient of the remainder and once by a single step, then round on guard bit and
 * remainder. The estimate need not be the same bits everywhere: inside the bounds below, the remainder makes the result
 * exact. u = 2^-24 is the largest relative error of one operation.
 *
 * Division, ratio ma/mb in [1, 2), mb in [2^23, 2^24): the bit trick's reciprocal is off by at most 0.06, which
 * Newton's steps r = r (2 - mb r) square: 3.6e-3, 1.3e-5, 1.7e-10; the last step's own rounding adds 3u. The quotient
 * estimate ma r is then within 4.1u, below 9 units of Q = ma 2^24 / mb (Q < 2^25). So |ma 2^24 - q mb| < 9 * 2^24 <
 * 2^28: the wrapped difference of 32-bit products is the true one. A sixteenth of it is an exact float; its rounded
 * quotient by mb leaves a remainder within (0.5 + 2^-18) mb, and one step brings it into [0, mb).
 *
 * Root, m in [2^23, 2^25): the trick's 1/sqrt(m) is off by at most 0.036; steps r = r (1.5 - (m/2) r r) map an error e
 * to 1.5 e^2: 2.0e-3, 6e-6, 6e-11; rounding adds 4u. The root estimate m r 2^12.5 is then within 6u: below 13 units of
 * S = sqrt(m 2^25) < 2^25. So |m 2^25 - s^2| < 13 * 2^26 < 2^30, exact in 32 bits; a 64th of it is an exact float. The
 * neglected square of the correction is below 2^-16 of a unit, so again one step up or down ends at floor(S). */
#ifndef SAMEBIT_EXACT_H
#define SAMEBIT_EXACT_H

#if defined(SB_GLSL) && defined(SB_RAW_ARITHMETIC)

/* The device's own, rounded as it likes: the yardstick for what the rules cost. The audit refuses them. */
float f_div(float a, float b) { return a / b; }
float f_sqrt(float a) { return sqrt(a); }

#elif defined(SB_GLSL)

/* Nearest integer of |x| < 2^22: adding 1.5 * 2^23 leaves it in the low bits. */
int exact_near(float x)
{
  float shifted = x + 12582912.0f;
  return int(floatBitsToUint(shifted) - 0x4b400000u);
}

/* A finite magnitude above 0 as m * 2^(e - 150), m in [2^23, 2^24). */
struct ExactSplit {
  uint m;
  int e;
};
ExactSplit exact_split(uint magnitude)
{
  ExactSplit r;
  r.e = int(magnitude >> 23);
  r.m = magnitude & 0x7fffffu;
  if (r.e != 0) {
    r.m |= 0x800000u;
  } else {
    int up = 23 - findMSB(r.m);
    r.m <<= uint(up);
    r.e = 1 - up;
  }
  return r;
}

/* An estimate in [2^(e0 - 127), 2^(e0 - 124)) as an integer whose unit is 2^(e0 - 150). */
int exact_estimate(float x, int e0)
{
  uint b = floatBitsToUint(x);
  uint up = uint(max(int(b >> 23) - e0, 0));
  return int(((b & 0x7fffffu) | 0x800000u) << up);
}

/* Rounds q (25 significant bits, the last a guard bit) to even at biased exponent e; `left` says that a remainder is.
 */
uint exact_round(int e, uint q, bool left)
{
  uint r;
  if (e >= 255) return 0x7f800000u;
  if (e >= 1) {
    r = (uint(e) << 23) + ((q >> 1) - 0x800000u);
  } else {
    if (e < -24) return 0u;
    uint down = uint(1 - e);
    left = left || (q & ((1u << down) - 1u)) != 0u;
    q >>= down;
    r = q >> 1;
  }
  /* A carry out of the significand moves into the exponent, up to infinity: the encoding is monotonic. */
  if ((q & 1u) != 0u && (left || (r & 1u) != 0u)) r += 1u;
  return r;
}

float f_div(float a, float b)
{
  uint ua = floatBitsToUint(a);
  uint ub = floatBitsToUint(b);
  uint sign = (ua ^ ub) & 0x80000000u;
  ua &= 0x7fffffffu;
  ub &= 0x7fffffffu;
  uint inf = 0x7f800000u;
  if (ua - 1u >= inf - 1u || ub - 1u >= inf - 1u) { /* a zero, infinity or NaN among them */
    if (ua > inf || ub > inf || (ua == ub)) return uintBitsToFloat(0x7fc00000u);
    return uintBitsToFloat(sign | (ua == inf || ub == 0u ? inf : 0u));
  }
  ExactSplit n = exact_split(ua);
  ExactSplit d = exact_split(ub);
  int e = n.e - d.e + 127;
  if (n.m < d.m) {
    n.m <<= 1;
    e -= 1;
  }
  float y = float(d.m);
  float r = uintBitsToFloat(0x7ef311c3u - floatBitsToUint(y));
  r = r * (2.0f - y * r);
  r = r * (2.0f - y * r);
  r = r * (2.0f - y * r);
  int q = exact_estimate(float(n.m) * r, 126);
  int divisor = int(d.m);
  int rest = int((n.m << 24) - uint(q) * d.m);
  int fix = exact_near((float(rest >> 4) * r) * 16.0f);
  q += fix;
  rest -= fix * divisor;
  if (rest < 0) {
    q -= 1;
    rest += divisor;
  } else if (rest >= divisor) {
    q += 1;
    rest -= divisor;
  }
  return uintBitsToFloat(sign | exact_round(e, uint(q), rest != 0));
}

float f_sqrt(float a)
{
  uint ua = floatBitsToUint(a);
  if ((ua & 0x7fffffffu) == 0u || ua == 0x7f800000u) return a;
  if (ua > 0x7f800000u) return uintBitsToFloat(0x7fc00000u);
  ExactSplit n = exact_split(ua);
  int e = n.e - 127;
  if ((e & 1) != 0) {
    n.m <<= 1;
    e -= 1;
  }
  float y = float(n.m);
  float h = y * 0.5f;
  float r = uintBitsToFloat(0x5f375a86u - (floatBitsToUint(y) >> 1));
  r = r * (1.5f - (h * r) * r);
  r = r * (1.5f - (h * r) * r);
  r = r * (1.5f - (h * r) * r);
  int s = exact_estimate((y * r) * 5792.61875f, 150); /* 2^12.5 */
  int rest = int((n.m << 25) - uint(s) * uint(s));
  int fix = exact_near((float(rest >> 6) * r) * 5.5242717e-3f); /* 64 / (2 * 2^12.5) */
  rest -= fix * (2 * s) + fix * fix;
  s += fix;
  if (rest < 0) {
    s -= 1;
    rest += 2 * s + 1;
  } else if (rest > 2 * s) {
    rest -= 2 * s + 1;
    s += 1;
  }
  return uintBitsToFloat(exact_round(e / 2 + 127, uint(s), rest != 0));
}

#endif

#endif
