/* The list of near pairs from what was found in any order. PASS: 0 how many are taken, 1 the next word of their keys, 2 the sorted pairs to their arrays,
 * 3 the first of each world. */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "collision_near.glsl"

layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Counts { uint counts[]; };
#if PASS != 0
layout(std430, binding = 1) readonly buffer Hits { uint hits[]; };
layout(std430, binding = 2) buffer Order { uvec2 order[]; }; /* word, hit */
#endif
#if PASS == 2
layout(std430, binding = 3) buffer List { uint list[]; }; /* the arrays of SB_NEAR_PAIR_ARRAYS one after another */
#elif PASS == 3
layout(std430, binding = 3) buffer Starts { uint world_start[]; };
#endif

#if PASS == 2
void put(uint array, uint at, uint word) { list[push.capacity * array + at] = word; }
#endif

void main()
{
  uint i = gl_GlobalInvocationID.x;
#if PASS == 0
  uint n = counts[C_FOUND];
  if (i == 0u) counts[C_KEPT] = n <= push.capacity ? n : (push.truncate != 0u ? push.capacity : 0u);
#elif PASS == 1
  if (i >= counts[C_KEPT]) return;
  uint hit = push.sorted != 0u ? order[i].y : i;
  order[i] = uvec2(hits[HIT_WORDS * hit + H_KEY + push.word], hit);
#elif PASS == 2
  if (i >= counts[C_KEPT]) return;
  uint hit = HIT_WORDS * order[i].y;
  put(0u, i, hits[hit + H_KEY + 2u] & 3u);
  for (uint k = 0u; k < 4u; k++) put(1u, 4u * i + k, hits[hit + H_PARTICLES + k]);
  for (uint k = 0u; k < 3u; k++) put(5u + k, i, hits[hit + H_SIDE + k]);
#else
  if (i > push.worlds) return;
  uint low = 0u;
  uint high = counts[C_KEPT];
  while (low < high) {
    uint middle = low + (high - low) / 2u;
    if (hits[HIT_WORDS * order[middle].y + H_KEY + 2u] >> 2u < i) low = middle + 1u;
    else high = middle;
  }
  world_start[i] = low;
#endif
}
