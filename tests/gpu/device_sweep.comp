#version 450
#extension GL_GOOGLE_include_directive : require
/* SWEEP over a block of indices (device_sweep.c). */
#include "prelude.glsl"
#include "device_sweep.kernel.h"

layout(local_size_x = 256) in;
layout(std430, binding = 0) writeonly buffer SweepOut { uint sweep_out[]; };
layout(push_constant) uniform SweepPush { uint start; uint stride; uint count; } sweep_push;

void main()
{
  uint i = gl_GlobalInvocationID.x;
  if (i >= sweep_push.count) return;
  uint u = sweep_push.start + i * sweep_push.stride;
  uint r = SWEEP(u);
#ifdef SWEEP_FAULT
  if (sweep_mix(u) % 100003u == 7u) r ^= 1u;
#endif
  sweep_out[i] = r;
}
