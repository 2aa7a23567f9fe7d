/* The state hash of one array on the device: sums of the mixes of state_hash.kernel.h over each world, added in any order. */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "prelude.glsl"
#include "host/core/state_hash.kernel.h"

/* Words that one workgroup sums. */
#define CHUNK 4096u

layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer Words { uint words[]; };
layout(std430, binding = 1) readonly buffer Starts { uint start[]; }; /* first element of each world, worlds + 1 */
layout(std430, binding = 2) buffer Sums { uint sums[]; };             /* 2 for each world; then whether a float is not finite */
layout(push_constant) uniform Push {
  uint worlds;
  uint components;
  uint first; /* word of the array at which the binding begins */
  uint count; /* words of the binding */
  uint key_a;
  uint key_b;
  uint floats;
} push;

shared uint group_a;
shared uint group_b;
shared uint group_bad;

/* The last world that starts not after the element. */
uint world_of(uint element)
{
  uint low = 0u;
  uint high = push.worlds;
  while (high - low > 1u) {
    uint middle = low + (high - low) / 2u;
    if (start[middle] <= element) low = middle;
    else high = middle;
  }
  return low;
}

void main()
{
  uint begin = gl_WorkGroupID.x * CHUNK;
  uint live = start[push.worlds] * push.components; /* of an array over contacts there are not always as many */
  uint end = min(begin + CHUNK, min(push.count, live - min(live, push.first)));
  uint world = world_of((push.first + begin) / push.components);
  bool one = begin < end && world_of((push.first + end - 1u) / push.components) == world;
  if (gl_LocalInvocationIndex == 0u) {
    group_a = 0u;
    group_b = 0u;
    group_bad = 0u;
  }
  barrier();
  uint a = 0u;
  uint b = 0u;
  bool bad = false;
  for (uint i = begin + gl_LocalInvocationIndex; i < end; i += 256u) {
    uint w = words[i];
    uint at = push.first + i;
    uint own = one ? world : world_of(at / push.components);
    uint position = at - start[own] * push.components;
    uint mix_a = hash_mix_a(w, position * HASH_KEY_A + push.key_a);
    uint mix_b = hash_mix_b(w, position * HASH_KEY_B + push.key_b);
    bad = bad || (push.floats != 0u && (w & 0x7f800000u) == 0x7f800000u);
    if (one) {
      a += mix_a;
      b += mix_b;
    } else {
      atomicAdd(sums[2u * own], mix_a);
      atomicAdd(sums[2u * own + 1u], mix_b);
    }
  }
  if (one) {
    atomicAdd(group_a, a);
    atomicAdd(group_b, b);
  }
  if (bad) atomicOr(group_bad, 1u);
  barrier();
  if (gl_LocalInvocationIndex == 0u) {
    if (one) {
      atomicAdd(sums[2u * world], group_a);
      atomicAdd(sums[2u * world + 1u], group_b);
    }
    if (group_bad != 0u) atomicOr(sums[2u * push.worlds], 1u);
  }
}
