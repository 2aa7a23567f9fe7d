/* Array identities, folding, and the choice of the lane width. */
#include "state_hash.h"

#include "samebit/fp_guard.h"
#include "samebit/kernel.h"
#include "state_hash.kernel.h"
#include "state_hash_lanes.h"

uint32_t sb_hash_array_id(const char *name)
{
  uint32_t h = 2166136261u; /* FNV-1a, then a finaliser so that near names are far apart */
  for (; *name; name++) h = (h ^ (uint8_t)*name) * 16777619u;
  return hash_mix_a(h, 0u);
}

void sb_hash_keys(uint32_t array_id, uint32_t *key_a, uint32_t *key_b)
{
  *key_a = array_id;
  *key_b = hash_mix_b(array_id, HASH_KEY_A);
}

bool sb_hash_words(sb_hash_sums *sums, const uint32_t *words, size_t count, uint32_t position, uint32_t array_id,
                   bool check_floats, uint32_t lanes)
{
  uint32_t key_a, key_b;
  sb_hash_keys(array_id, &key_a, &key_b);
  key_a += position * HASH_KEY_A;
  key_b += position * HASH_KEY_B;
  uint32_t pair[2] = {sums->a, sums->b};
  uint32_t bad;
  if (lanes >= 8)
    bad = sb_hash_words_lanes8(pair, words, count, key_a, key_b);
  else if (lanes >= 4)
    bad = sb_hash_words_lanes4(pair, words, count, key_a, key_b);
  else
    bad = sb_hash_words_lanes1(pair, words, count, key_a, key_b);
  sums->a = pair[0];
  sums->b = pair[1];
  return check_floats && bad;
}

uint64_t sb_hash_fold(uint64_t run, uint64_t world)
{
  uint64_t x = (run ^ world) * 0x9E3779B97F4A7C15u;
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93u;
  return x ^ (x >> 29);
}

uint32_t sb_cpu_lanes(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
  return __builtin_cpu_supports("avx2") ? 8 : 4;
#else
  return 4;
#endif
}
