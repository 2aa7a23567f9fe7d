/* The two mixes of the state hash, in the kernel dialect: integer multiply, shift and xor only, so lanes and GPUs agree.
 *
 * Each 32-bit word w at position p (world-local element * components + component) of array id contributes
 *   mix_a(w, p * KEY_A + seed_a(id))   and   mix_b(w, p * KEY_B + seed_b(id))
 * and each mix is summed modulo 2^32 over a world. For a fixed position both mixes are bijections of the word, so a change of
 * one word always changes both sums. Multipliers are odd, from the fractional parts of square roots of primes. */
#ifndef SAMEBIT_STATE_HASH_KERNEL_H
#define SAMEBIT_STATE_HASH_KERNEL_H

#define HASH_KEY_A 0x9E3779B1u
#define HASH_KEY_B 0x85EBCA77u

FN U hash_mix_a(U word, U key)
{
  U x = (word ^ key) * 0x6A09E667u;
  x = x ^ (x >> 16);
  x = x * 0xBB67AE85u;
  return x ^ (x >> 15);
}

FN U hash_mix_b(U word, U key)
{
  U x = (word + key) * 0x3C6EF373u;
  x = x ^ (x >> 15);
  x = x * 0xA54FF53Bu;
  return x ^ (x >> 14);
}

#endif
