#version 450
#extension GL_GOOGLE_include_directive : require
/* The device's side of the probe (device_probe.c). A build with PROBE_FAULT_NAME acts like a device with that fault. */
#include "prelude.glsl"
#include "device_probe.kernel.h"
#include "device_probe_faults.glsl"

layout(local_size_x = int(PROBE_GROUP)) in;
layout(std430, binding = 0) readonly buffer ProbeIn { uvec4 probe_in[]; };
layout(std430, binding = 1) buffer ProbeOut { uvec2 probe_out[]; };
layout(std430, binding = 2) buffer ProbeCounters { uint probe_counters[]; };
layout(push_constant) uniform ProbePush { uint part; uint count; } probe_push;

shared uint exchanged[PROBE_GROUP];
shared float summed[PROBE_GROUP];
shared uint total;

void probe_atomics(uint i)
{
  uint value = probe_value(i);
#ifdef PROBE_FAULT_ATOMIC
  probe_counters[PROBE_COUNTER_SUM] += value;
#else
  atomicAdd(probe_counters[PROBE_COUNTER_SUM], value);
#endif
  atomicOr(probe_counters[PROBE_COUNTER_OR], value & (value << 3) & (value >> 5) & (i << 7));
  atomicXor(probe_counters[PROBE_COUNTER_XOR], value);
#ifdef PROBE_FAULT_SIGNED_MAX
  probe_counters[PROBE_COUNTER_MAX] = 0x7fffffffu;
#else
  atomicMax(probe_counters[PROBE_COUNTER_MAX], value);
#endif
  atomicMin(probe_counters[PROBE_COUNTER_MIN], value);
  if (i % PROBE_SWAPS == 0u) {
    uint seen = 0u, before;
    do {
      before = seen;
      seen = atomicCompSwap(probe_counters[PROBE_COUNTER_SWAP], before, before + value);
    } while (seen != before);
  }
#ifdef PROBE_FAULT_SLOT
  uint slot = probe_counters[PROBE_COUNTER_SLOT]++;
#else
  uint slot = atomicAdd(probe_counters[PROBE_COUNTER_SLOT], 1u);
#endif
  if (slot < probe_push.count) probe_out[slot].x = i;
}

void probe_barrier()
{
#ifndef PROBE_FAULT_BARRIER
  barrier();
#endif
}

void probe_shared(uint i, uint l)
{
  uint value = probe_value(i);
  if (l == 0u) total = 0u;
  for (uint r = 0u; r < PROBE_ROUNDS; r++) {
    exchanged[l] = value;
    probe_barrier();
    value = hash_mix_a(value, exchanged[(l * 37u + 11u + r * 64u) % PROBE_GROUP]);
    probe_barrier();
  }
  atomicAdd(total, value);
  /* A number in [1, 2): the sum of a group is inexact, so its order shows. */
  summed[l] = f_from_bits((value >> 9) | 0x3f800000u);
  probe_barrier();
  for (uint n = PROBE_GROUP / 2u; n > 0u; n /= 2u) {
    if (l < n) summed[l] = summed[l] + summed[l + n];
    probe_barrier();
  }
  probe_out[i] = uvec2(value, l == 0u ? total : l == 1u ? f_bits(summed[0]) : 0u);
}

void main()
{
  uint i = gl_GlobalInvocationID.x;
  if (probe_push.part == PROBE_PART_WORDS) {
    if (i < probe_push.count) {
      uvec4 e = probe_in[i];
      ProbeWords w = probe_fault(e.x, e.y, e.z, e.w, probe_check(e.x, e.y, e.z, e.w));
      probe_out[i] = uvec2(w.first, w.second);
    }
  } else if (probe_push.part == PROBE_PART_ATOMICS) {
    probe_atomics(i);
  } else {
    probe_shared(i, gl_LocalInvocationID.x);
  }
}
