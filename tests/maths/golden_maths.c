/* Golden hashes of the shared functions: one number for each over strided and special arguments, the same on every
 * processor, compiler and lane width. Needs the C library alone, so that it runs on every cross target.
 *
 * `golden_maths --print` prints the table below anew; a change of it is a change of the project's numerics. */
#include "maths_batch.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define BLOCK 1024
#define BLOCKS 256

static const uint64_t golden[MATHS_FUNCTION_COUNT] = {
#include "golden_maths.inc"
};

static const char *const names[] = {
#define MATHS_X(name, arguments, expression) #name,
    MATHS_FUNCTIONS(MATHS_X)
#undef MATHS_X
};

static uint32_t mix(uint32_t v)
{
  v ^= v >> 16, v *= 0x7feb352du;
  v ^= v >> 15, v *= 0x846ca68bu;
  return v ^ v >> 16;
}

/* Random bits, and numbers of everyday size, by turns. */
static uint32_t argument(uint32_t i, uint32_t k)
{
  uint32_t h = mix(2 * i + k + 1);
  return i % 2 ? h : (h & 0x83ffffffu) + 0x3c000000u;
}

static uint64_t hash_of(maths_batch *batch, maths_function f)
{
  static float a[BLOCK], b[BLOCK];
  static float out[BLOCK];
  uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a over words */
  for (uint32_t block = 0; block < BLOCKS; block++) {
    for (uint32_t i = 0; i < BLOCK; i++) {
      uint32_t x = argument(block * BLOCK + i, 0), y = argument(block * BLOCK + i, 1);
      memcpy(&a[i], &x, sizeof x);
      memcpy(&b[i], &y, sizeof y);
    }
    batch(f, BLOCK, a, b, out);
    for (uint32_t i = 0; i < BLOCK; i++) {
      uint32_t u;
      memcpy(&u, &out[i], sizeof u);
      if (f != MATHS_to_i && (u & 0x7fffffffu) > 0x7f800000u) u = 0x7fc00000u;
      hash = (hash ^ u) * 0x100000001b3u;
    }
  }
  return hash;
}

int main(int argc, char **argv)
{
  int print = argc > 1 && !strcmp(argv[1], "--print"), bad = 0;
  for (int f = 0; f < MATHS_FUNCTION_COUNT; f++) {
    if (print) printf("    0x%016llxu, /* %s */\n", (unsigned long long)hash_of(maths_batch_lanes1, f), names[f]);
    for (int lanes = 1; !print && lanes <= 8; lanes += lanes == 1 ? 3 : 4) {
      maths_batch *batch = maths_batch_of(lanes);
      if (!batch) continue;
      uint64_t hash = hash_of(batch, f);
      if (hash == golden[f]) continue;
      printf("%s, %d lanes: %016llx, expected %016llx\n", names[f], lanes, (unsigned long long)hash,
             (unsigned long long)golden[f]);
      bad = 1;
    }
  }
  return bad;
}
