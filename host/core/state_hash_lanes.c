/* Sums the hash mixes over a run of words; compiled once for each lane width. */
#include "state_hash_lanes.h"

#include "samebit/kernel.h"
#include "state_hash.kernel.h"

#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)

uint32_t CONCAT(sb_hash_words_lanes, SB_LANES)(uint32_t sums[2], const uint32_t *words, size_t count, uint32_t key_a,
                                               uint32_t key_b)
{
  size_t i = 0;
  U ka = KU(key_a), kb = KU(key_b), sum_a = KU(0u), sum_b = KU(0u);
  M bad = KI(0);
#if SB_LANES > 1
  for (int l = 0; l < SB_LANES; l++) {
    ka[l] += (uint32_t)l * HASH_KEY_A;
    kb[l] += (uint32_t)l * HASH_KEY_B;
  }
#endif
  for (; i + SB_LANES <= count; i += SB_LANES) {
    U w;
    memcpy(&w, words + i, sizeof w);
    bad = m_or(bad, (w & 0x7f800000u) == 0x7f800000u);
    sum_a += hash_mix_a(w, ka);
    sum_b += hash_mix_b(w, kb);
    ka += (uint32_t)SB_LANES * HASH_KEY_A;
    kb += (uint32_t)SB_LANES * HASH_KEY_B;
  }
  uint32_t any = m_any(bad) ? 1u : 0u;
#if SB_LANES > 1
  uint32_t tail = (uint32_t)(count - i);
  if (tail) any |= sb_hash_words_lanes1(sums, words + i, tail, ka[0], kb[0]);
  for (int l = 0; l < SB_LANES; l++) {
    sums[0] += sum_a[l];
    sums[1] += sum_b[l];
  }
#else
  sums[0] += sum_a;
  sums[1] += sum_b;
#endif
  return any;
}
