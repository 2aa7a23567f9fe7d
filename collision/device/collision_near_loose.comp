/* Loose particles sorted along a curve through their box, a slot a thread, in nodes of 64. PASS: 0 the box of each group, 1 keys, 2 groups of what is sorted by keys,
 * 3 particles to their slots. */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "collision_near.glsl"
#include "collision/near_order.kernel.h"

layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Plan { uint plan[]; };
#if PASS < 2
layout(std430, binding = 1) buffer Bounds { uint bounds[]; }; /* of each group: the largest -x, -y, -z, x, y, z as ordered(); 0 before */
layout(std430, binding = 2) readonly buffer ParticleQ { float particle_q[]; };
#endif
#if PASS == 0
layout(std430, binding = 3) buffer Counts { uint counts[]; };
#elif PASS == 1
layout(std430, binding = 3) buffer Pairs { uvec2 pairs[]; }; /* key, slot */
#else
layout(std430, binding = 1) buffer Pairs { uvec2 pairs[]; };
#endif
#if PASS == 3
layout(std430, binding = 2) buffer Slots { uvec4 slots[]; };
#endif

/* Behind every key of 30 bits. */
#define NOT_THERE 0xc0000000u

uint ordered(uint bits) { return (bits >> 31u) != 0u ? ~bits : bits | 0x80000000u; }
uint unordered(uint u) { return (u >> 31u) != 0u ? u & 0x7fffffffu : ~u; }

uint group_of(uint slot) { return push.groups + GROUP_WORDS * plan[push.loose + 2u * (slot / SLOTS)]; }
/* Of a slot among those of loose particles: its place in its group. */
uint index_of(uint slot) { return SLOTS * (plan[push.loose + 2u * (slot / SLOTS) + 1u] - plan[group_of(slot) + G_FIRST]) + slot % SLOTS; }

#if PASS == 0
shared uint found[6];

void main()
{
  uint slot = gl_GlobalInvocationID.x;
  uint t = gl_LocalInvocationIndex;
  uint group = group_of(slot);
  if (t < 6u) found[t] = 0u;
  barrier();
  if (index_of(slot) < plan[group + G_ELEMENTS]) {
    uint p = plan[push.loose_of + slot];
    for (uint k = 0u; k < 3u; k++) {
      uint bits = f_bits(particle_q[3u * p + k]);
      if ((bits & 0x7fffffffu) > 0x7f800000u) continue;
      atomicMax(found[k], ordered(bits ^ 0x80000000u));
      atomicMax(found[3u + k], ordered(bits));
    }
  }
  barrier();
  if (t < 6u) atomicMax(bounds[6u * plan[group + G_LOOSE] + t], found[t]);
  if (slot == 0u) counts[C_LOOSE] = SLOTS * gl_NumWorkGroups.x;
}
#elif PASS == 1
float bound(uint at, uint flip) { return uintBitsToFloat(unordered(bounds[at]) ^ flip); }

void main()
{
  uint slot = gl_GlobalInvocationID.x;
  uint group = group_of(slot);
  uint at = 6u * plan[group + G_LOOSE];
  uint p = plan[push.loose_of + slot];
  V3 lo = v3(bound(at, 0x80000000u), bound(at + 1u, 0x80000000u), bound(at + 2u, 0x80000000u));
  V3 hi = v3(bound(at + 3u, 0u), bound(at + 4u, 0u), bound(at + 5u, 0u));
  uint key = near_order_key_of(lo, hi, v3(particle_q[3u * p], particle_q[3u * p + 1u], particle_q[3u * p + 2u]));
  pairs[slot] = uvec2(index_of(slot) < plan[group + G_ELEMENTS] ? key : NOT_THERE, slot);
}
#elif PASS == 2
void main()
{
  uint i = gl_GlobalInvocationID.x;
  uint slot = pairs[i].y;
  pairs[i].x = plan[group_of(slot) + G_LOOSE];
}
#else
void main()
{
  uint slot = gl_GlobalInvocationID.x;
  uint index = index_of(slot);
  uint from = min(index, plan[group_of(slot) + G_ELEMENTS] - 1u) + (slot - index);
  uint p = plan[push.loose_of + pairs[from].y];
  slots[SLOTS * plan[push.loose + 2u * (slot / SLOTS) + 1u] + slot % SLOTS] = uvec4(p);
}
#endif
