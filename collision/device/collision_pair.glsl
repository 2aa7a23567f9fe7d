/* What the narrow phase reads of a pair's shapes. The file that includes it has the buffers shapes and poses. */
#include "collision/shape_bounds.kernel.h"

float shape_float(uint s, uint at) { return uintBitsToFloat(shapes[SHAPE_WORDS * s + at]); }
V3 shape_v3(uint s, uint at) { return v3(shape_float(s, at), shape_float(s, at + 1u), shape_float(s, at + 2u)); }
V3 pose_v3(uint at) { return v3(poses[at], poses[at + 1u], poses[at + 2u]); }
X7 pose_x7(uint s)
{
  uint p = POSE_WORDS * s;
  return x7(pose_v3(p), q4(poses[p + 3u], poses[p + 4u], poses[p + 5u], poses[p + 6u]));
}

/* Pose in which solvers follow a shape's points: in its body, or in the world for what never moves. */
X7 frame_of(uint s)
{
  if (shapes[SHAPE_WORDS * s + S_FIXED] != 0u) return pose_x7(s);
  return x7(shape_v3(s, S_X), q4(shape_float(s, S_X + 3u), shape_float(s, S_X + 4u), shape_float(s, S_X + 5u), shape_float(s, S_X + 6u)));
}

/* Gap below which the pair makes a contact: its margins, or what it may close within the step if that is more. */
float pair_limit(uint a, uint b)
{
  uint p = POSE_WORDS * a;
  uint q = POSE_WORDS * b;
  float usual = (shape_float(a, S_MARGIN) + shape_float(b, S_MARGIN)) + push.speculative;
  float reach = bounds_pair_reach(pose_v3(p + P_MOVE), poses[p + P_SWING], pose_v3(q + P_MOVE), poses[q + P_SWING]);
  return reach > usual ? reach : usual;
}

/* The same vector, but that no constant 0 in it can be folded into what is made of it. */
V3 hide(V3 v) { return v3(f_from_bits(f_bits(v.x) ^ push.nothing), f_from_bits(f_bits(v.y) ^ push.nothing), f_from_bits(f_bits(v.z) ^ push.nothing)); }
