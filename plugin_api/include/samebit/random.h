/* Random numbers as a pure function of (seed, tick, stream name, key, draw): no generator state, so neither the order of
 * calls nor threads can change them. The mix is Philox 2x32 with 10 rounds (Salmon et al., SC 2011) in scalar C. */
#ifndef SAMEBIT_RANDOM_H
#define SAMEBIT_RANDOM_H

#include "samebit/fp_guard.h"

#include <stdint.h>

/* FNV-1a of a stream's name; compute once and keep. */
static inline uint32_t sb_random_stream(const char *name)
{
  uint32_t h = 2166136261u;
  for (; *name; name++) h = (h ^ (uint8_t)*name) * 16777619u;
  return h;
}

/* 32 random bits. key: what is drawn for, e.g. a world_key or a world-local body index; draw: counts draws of one key. */
static inline uint32_t sb_random_bits(uint64_t seed, uint64_t tick, uint32_t stream, uint32_t key, uint32_t draw)
{
  /* Philox blocks in a row, each counted by two of the arguments and by what the one before gave. */
  uint32_t block[3][2] = {{(uint32_t)(seed >> 32), stream}, {(uint32_t)tick, (uint32_t)(tick >> 32)}, {key, draw}};
  uint32_t k = (uint32_t)seed;
  uint32_t carry[2] = {0u, 0u};
  for (int b = 0; b < 3; b++) {
    uint32_t c0 = block[b][0] ^ carry[0], c1 = block[b][1] ^ carry[1], r = k;
    for (int i = 0; i < 10; i++) {
      uint64_t product = (uint64_t)0xD256D193u * c0;
      c0 = (uint32_t)(product >> 32) ^ r ^ c1;
      c1 = (uint32_t)product;
      r += 0x9E3779B9u;
    }
    carry[0] = c0;
    carry[1] = c1;
    k ^= c1;
  }
  return carry[0];
}

/* Uniform in [0, 1), a multiple of 2^-24. */
static inline float sb_random_unit(uint64_t seed, uint64_t tick, uint32_t stream, uint32_t key, uint32_t draw)
{
  return (float)(sb_random_bits(seed, tick, stream, key, draw) >> 8) * 5.9604644775390625e-8f;
}

#endif
