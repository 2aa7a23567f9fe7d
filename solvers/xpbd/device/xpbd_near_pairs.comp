/* Near pairs of one colour, which share no particle; those beyond the colours one after another, on one thread. */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "xpbd_device.glsl"
#include "solvers/xpbd/xpbd_near.kernel.h"

layout(std430, binding = 0) readonly buffer Places { vec4 x_of[]; };
layout(std430, binding = 1) buffer Moves { vec4 d_of[]; };
layout(std430, binding = 2) readonly buffer Pairs { uint pairs[]; };
layout(std430, binding = 3) readonly buffer Starts { uint start[]; }; /* first pair of each colour */
layout(push_constant) uniform Push {
  uint color;
  uint serial;
  uint nobody;
  float zero;
} push;

#define PAIR_WORDS 8u

XpPoint point(uint record)
{
  XpPoint p;
  vec4 d = d_of[record];
  p.x = v3_of(x_of[record]);
  p.d = v3_of(d);
  p.w = d.w;
  return p;
}

void move(uint record, XpPoint p, float a, XpNearMove m)
{
  if (record >= push.nobody) return;
  d_of[record] = with_v3(v3_add_scaled(p.d, m.p, p.w * a), p.w);
}

void solve(uint i)
{
  uint at = i * PAIR_WORDS;
  XpPoint p0 = point(pairs[at]);
  XpPoint p1 = point(pairs[at + 1u]);
  XpPoint p2 = point(pairs[at + 2u]);
  XpPoint p3 = point(pairs[at + 3u]);
  XpNearMove m = xp_near_move(int(pairs[at + 4u]), uintBitsToFloat(pairs[at + 5u]), uintBitsToFloat(pairs[at + 6u]), uintBitsToFloat(pairs[at + 7u]),
                              p0, p1, p2, p3, push.zero);
  if (m.acts == 0) return;
  move(pairs[at], p0, m.a0, m);
  move(pairs[at + 1u], p1, m.a1, m);
  move(pairs[at + 2u], p2, m.a2, m);
  move(pairs[at + 3u], p3, m.a3, m);
}

void main()
{
  uint begin = start[push.color];
  uint end = start[push.color + 1u];
  if (push.serial != 0u) {
    if (gl_GlobalInvocationID.x != 0u) return;
    uint i = begin;
    for (; i < end; i++) solve(i);
    if (sb_is_cut(i, end, push.zero)) d_of[pairs[PAIR_WORDS * i]].x = SB_CUT_SHORT;
  } else {
    uint i = begin + gl_GlobalInvocationID.x;
    if (i < end) solve(i);
  }
}
