/* The state hash: order-free sums over words, so threads, lanes and GPUs may add in any order. */
#ifndef SAMEBIT_HOST_STATE_HASH_H
#define SAMEBIT_HOST_STATE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Running sums of one world (or of any part of it: sums of parts add up). */
typedef struct sb_hash_sums {
  uint32_t a;
  uint32_t b;
} sb_hash_sums;

/* Identity of an array in the hash, from its full name. */
uint32_t sb_hash_array_id(const char *name);

/* What the mixes take beside a word: at position p of the array, key + p * HASH_KEY_A and HASH_KEY_B of state_hash.kernel.h. */
void sb_hash_keys(uint32_t array_id, uint32_t *key_a, uint32_t *key_b);

/* Adds `count` consecutive words, the first at `position`. With check_floats, returns true when one of the words has all
 * exponent bits set (infinity or NaN); else false. lanes: 1, 4 or 8; the sums are the same for each. */
bool sb_hash_words(sb_hash_sums *sums, const uint32_t *words, size_t count, uint32_t position, uint32_t array_id,
                   bool check_floats, uint32_t lanes);

/* The 64-bit hash of a world. */
static inline uint64_t sb_hash_world(sb_hash_sums sums) { return (uint64_t)sums.a << 32 | sums.b; }
/* Folds the hash of the next world into the hash of a run (start with 0). */
uint64_t sb_hash_fold(uint64_t run, uint64_t world);

/* The widest lane width that this CPU and build can run: 4 or 8. */
uint32_t sb_cpu_lanes(void);

#endif
