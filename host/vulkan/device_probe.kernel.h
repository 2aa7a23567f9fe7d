/* What the probe lets a device and the CPU compute, in the scalar kernel dialect: each check is a few operations that
 * every kernel rests on, over any words. Knows the shared maths and the mixes of the state hash. */
#ifndef SAMEBIT_DEVICE_PROBE_KERNEL_H
#define SAMEBIT_DEVICE_PROBE_KERNEL_H

#include "state_hash.kernel.h"

/* Checks over three words. */
#define PROBE_PRODUCT 0u
#define PROBE_SUM 1u
#define PROBE_DIFFERENCE 2u
#define PROBE_CONTRACTION 3u
#define PROBE_ORDER 4u
#define PROBE_ROUNDING 5u
#define PROBE_CONSTANT 6u
#define PROBE_SELECTION 7u
#define PROBE_NEGATION 8u
#define PROBE_COMPARISON 9u
#define PROBE_DIVISION 10u
#define PROBE_ROOT 11u
#define PROBE_TO_INTEGER 12u
#define PROBE_FROM_INTEGER 13u
#define PROBE_INTEGER 14u
#define PROBE_SIGNED 15u
#define PROBE_QUOTIENT 16u
#define PROBE_BITS 17u
#define PROBE_WIDE 18u
#define PROBE_EXTENDED 19u
#define PROBE_HASH 20u
#define PROBE_WORD_CHECKS 21u
/* Checks of a whole dispatch. */
#define PROBE_ATOMICS 21u
#define PROBE_SLOTS 22u
#define PROBE_SHARED 23u
#define PROBE_CHECKS 24u

/* What the push constant asks for. */
#define PROBE_PART_WORDS 0u
#define PROBE_PART_ATOMICS 1u
#define PROBE_PART_SHARED 2u

#define PROBE_GROUP 256u /* invocations of a workgroup; a power of two */
#define PROBE_GROUPS 64u /* workgroups of the parts about atomics and shared memory */
#define PROBE_ROUNDS 8u  /* exchanges through shared memory */
#define PROBE_SWAPS 64u  /* every so many invocations swap in a loop */

/* Words that all invocations of the part about atomics work on. */
#define PROBE_COUNTER_SUM 0u
#define PROBE_COUNTER_OR 1u
#define PROBE_COUNTER_XOR 2u
#define PROBE_COUNTER_MAX 3u
#define PROBE_COUNTER_MIN 4u
#define PROBE_COUNTER_SWAP 5u
#define PROBE_COUNTER_SLOT 6u
#define PROBE_COUNTERS 7u

STRUCT(ProbeWords)
{
  U first;
  U second;
};

FN ProbeWords probe_words(U first, U second)
{
  ProbeWords r;
  r.first = first;
  r.second = second;
  return r;
}
FN ProbeWords probe_reals(F first, F second) { return probe_words(f_bits(first), f_bits(second)); }
FN U probe_flag(M m, U bit) { return u_sel(m, bit, KU(0u)); }

FN U probe_relations(F a, F b)
{
  return probe_flag(a < b, KU(1u)) | probe_flag(a <= b, KU(2u)) | probe_flag(a == b, KU(4u)) |
         probe_flag(a != b, KU(8u)) | probe_flag(a > b, KU(16u)) | probe_flag(a >= b, KU(32u)) |
         probe_flag(m_not(a < b), KU(64u));
}

/* 64 bits of a product from 32-bit pieces, as a random number generator would take them. */
FN ProbeWords probe_wide(U a, U b)
{
  U al = a & 0xffffu, ah = a >> 16, bl = b & 0xffffu, bh = b >> 16;
  U low = al * bl, left = ah * bl, right = al * bh;
  U middle = left + (low >> 16);
  U lower = (middle & 0xffffu) + right;
  return probe_words(ah * bh + (middle >> 16) + (lower >> 16), (lower << 16) | (low & 0xffffu));
}

/* High word of the product and carry of the sum by the language's own instructions, and the leading bit. */
#ifdef SB_GLSL
uint probe_high(uint a, uint b)
{
  uint high, low;
  umulExtended(a, b, high, low);
  return high;
}
uint probe_carry(uint a, uint b)
{
  uint carry;
  uaddCarry(a, b, carry);
  return carry;
}
uint probe_leading(uint a) { return uint(findMSB(a)); }
#else
FN U probe_high(U a, U b) { return (U)((uint64_t)a * b >> 32); }
FN U probe_carry(U a, U b) { return (U)(((uint64_t)a + b) >> 32); }
FN U probe_leading(U a) { return a ? 31u - (U)__builtin_clz(a) : 0xffffffffu; }
#endif

FN ProbeWords probe_check(U check, U ua, U ub, U uc)
{
  F a = f_from_bits(ua), b = f_from_bits(ub), c = f_from_bits(uc);
  I ia = i_from_u(ua), ib = i_from_u(ub), ic = i_from_u(uc);
  ProbeWords r = probe_words(KU(0u), KU(0u));
  switch (check) {
  case PROBE_PRODUCT:
    r = probe_reals(a * b, (a * b) * c);
    break;
  case PROBE_SUM:
    r = probe_reals(a + b, (a + b) + c);
    break;
  case PROBE_DIFFERENCE:
    r = probe_reals(a - b, (a - b) - c);
    break;
  case PROBE_CONTRACTION:
    r = probe_reals(a * b + c, c - a * b);
    break;
  case PROBE_ORDER:
    r = probe_reals((a + b) - a, a * b + a * c);
    break;
  case PROBE_ROUNDING:
    r = probe_reals(f_round_even(a), f_trunc(a));
    break;
  /* Subnormal constants. */
  case PROBE_CONSTANT:
    r = probe_reals(a + f_from_bits(KU(0x00300001u)), a * f_from_bits(KU(0x00700003u)));
    break;
  case PROBE_SELECTION:
    r = probe_reals(f_min(a, b), f_max(a, b));
    break;
  case PROBE_NEGATION:
    r = probe_reals(-a, -a * b);
    break;
  case PROBE_COMPARISON:
    r = probe_words(probe_relations(a, b), probe_relations(a * b, c));
    break;
  case PROBE_DIVISION:
    r = probe_reals(f_div(a, b), f_div(b, c));
    break;
  case PROBE_ROOT:
    r = probe_reals(f_sqrt(f_abs(a)), f_sqrt(b));
    break;
  case PROBE_TO_INTEGER:
    r = probe_words(u_from_i(f_to_i(a)), u_from_i(f_to_i(a * b)));
    break;
  /* Exact ones: kernels convert no others. */
  case PROBE_FROM_INTEGER:
    r = probe_reals(f_from_i(i_from_u(ua & 0x1ffffffu) - 0x1000000), f_from_i(i_from_u((ub & 0xffffffu) << 1)));
    break;
  case PROBE_INTEGER:
    r = probe_words(ua * ub + uc, (ua << (ub & 31u)) ^ (ua >> (uc & 31u)) ^ (ua - uc));
    break;
  case PROBE_SIGNED:
    r = probe_words(u_from_i(i_sel(ia < ib, ia, ib)), u_from_i(i_sel(ib > ic, i_from_u(0u - ub), ic)));
    break;
  case PROBE_QUOTIENT:
    r = probe_words(ua / (ub | 1u), ua % ((uc >> (ub & 31u)) | 1u));
    break;
  case PROBE_BITS:
    r = probe_words(probe_leading(ua), probe_leading(ua & ub) ^ (ua | ~uc));
    break;
  case PROBE_WIDE:
    r = probe_wide(ua, ub);
    break;
  case PROBE_EXTENDED:
    r = probe_words(probe_high(ua, ub), probe_carry(ua, ub));
    break;
  case PROBE_HASH:
    r = probe_words(hash_mix_a(ua, ub), hash_mix_b(ua, ub));
    break;
  }
  return r;
}

/* What an invocation brings to the parts about atomics and shared memory. */
FN U probe_value(U i) { return hash_mix_a(i, KU(0x51ed2701u)); }

#endif
