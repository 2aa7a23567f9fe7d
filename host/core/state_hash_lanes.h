/* The lane variants of the hash loop. Each adds to sums[0] and sums[1] and returns 1 when a word has all exponent bits set. */
#ifndef SAMEBIT_HOST_STATE_HASH_LANES_H
#define SAMEBIT_HOST_STATE_HASH_LANES_H

#include <stddef.h>
#include <stdint.h>

uint32_t sb_hash_words_lanes1(uint32_t sums[2], const uint32_t *words, size_t count, uint32_t key_a, uint32_t key_b);
uint32_t sb_hash_words_lanes4(uint32_t sums[2], const uint32_t *words, size_t count, uint32_t key_a, uint32_t key_b);
uint32_t sb_hash_words_lanes8(uint32_t sums[2], const uint32_t *words, size_t count, uint32_t key_a, uint32_t key_b);

#endif
