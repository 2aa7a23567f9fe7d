/* Rigid bodies, one a thread. PASS: 0 records from the state, 1 a substep begins: own bodies are predicted, others' come as the host has moved them, 2 records to the state. */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "xpbd_device.glsl"

layout(std430, binding = 0) buffer Bodies { float bodies[]; };          /* records like xp_body */
layout(std430, binding = 1) readonly buffer Fixed { float fixed_of[]; }; /* of each own body */
#if PASS == 1
layout(std430, binding = 2) readonly buffer Forces { float body_f[]; };
layout(std430, binding = 3) readonly buffer Gravity { float gravity[]; };
layout(std430, binding = 4) readonly buffer Others { float others[]; }; /* of this substep: records like xp_body */
#else
layout(std430, binding = 2) buffer Poses { float body_q[]; };
layout(std430, binding = 3) buffer Speeds { float body_qd[]; };
#endif
#if PASS == 2
layout(std430, binding = 4) buffer Coordinates { float joint_q[]; };
layout(std430, binding = 5) buffer Rates { float joint_qd[]; };
#endif
layout(push_constant) uniform Push {
  uint own;   /* records that this instance moves */
  uint count; /* of all that move */
  float h;    /* s */
} push;

#include "xpbd_records.glsl"

/* Of an own body: body, world, where its joint's coordinates and dofs begin, 1/kg, inertia, inverse. */
#define FIXED_WORDS 17u
uint fixed_uint(uint r, uint k) { return floatBitsToUint(fixed_of[FIXED_WORDS * r + k]); }
S33 fixed_s33(uint r, uint k)
{
  uint at = FIXED_WORDS * r + k;
  return s33(fixed_of[at], fixed_of[at + 1u], fixed_of[at + 2u], fixed_of[at + 3u], fixed_of[at + 4u], fixed_of[at + 5u]);
}

void put_v3(uint at, V3 v)
{
  bodies[at] = v.x;
  bodies[at + 1u] = v.y;
  bodies[at + 2u] = v.z;
}

void put_q4(uint at, Q4 q)
{
  bodies[at] = q.x;
  bodies[at + 1u] = q.y;
  bodies[at + 2u] = q.z;
  bodies[at + 3u] = q.w;
}

void put_s33(uint at, S33 s)
{
  bodies[at] = s.xx;
  bodies[at + 1u] = s.yy;
  bodies[at + 2u] = s.zz;
  bodies[at + 3u] = s.xy;
  bodies[at + 4u] = s.xz;
  bodies[at + 5u] = s.yz;
}

void put_record(uint r, XpRecord o)
{
  uint at = BODY_WORDS * r;
  put_v3(at, o.base);
  put_q4(at + 3u, o.turn);
  put_v3(at + 7u, o.b.x);
  put_q4(at + 10u, o.b.q);
  put_v3(at + 14u, o.b.v);
  put_v3(at + 17u, o.b.w);
  put_s33(at + 20u, o.b.m);
  put_s33(at + 26u, o.b.i);
  put_v3(at + 32u, o.x0);
  put_q4(at + 35u, o.q0);
  put_v3(at + 39u, o.v0);
  put_v3(at + 42u, o.w0);
  put_v3(at + 45u, o.vp);
  put_v3(at + 48u, o.wp);
}

void main()
{
  uint r = gl_GlobalInvocationID.x;
  if (r >= push.count) return;
#if PASS == 1
  if (r >= push.own) {
    for (uint k = 0u; k < BODY_WORDS; k++) bodies[BODY_WORDS * r + k] = others[BODY_WORDS * r + k];
    return;
  }
  uint f = 6u * fixed_uint(r, 0u);
  uint g = 3u * fixed_uint(r, 1u);
  float w = fixed_of[FIXED_WORDS * r + 4u];
  V3 pull = v3_add_scaled(v3(gravity[g], gravity[g + 1u], gravity[g + 2u]), v3(body_f[f], body_f[f + 1u], body_f[f + 2u]), w);
  /* a free body's mass is the same along every axis */
  S33 answer = record_of(r).b.m;
  put_record(r, xp_predict_body(record_of(r), fixed_s33(r, 5u), fixed_s33(r, 11u), answer, pull, v3(body_f[f + 3u], body_f[f + 4u], body_f[f + 5u]), push.h));
#else
  if (r >= push.own) return;
  uint q = 7u * fixed_uint(r, 0u);
  uint d = 6u * fixed_uint(r, 0u);
#if PASS == 0
  XpRecord o = xp_begin(record_of(r), v3(body_q[q], body_q[q + 1u], body_q[q + 2u]), q4(body_q[q + 3u], body_q[q + 4u], body_q[q + 5u], body_q[q + 6u]));
  o.b.v = v3(body_qd[d], body_qd[d + 1u], body_qd[d + 2u]);
  o.b.w = v3(body_qd[d + 3u], body_qd[d + 4u], body_qd[d + 5u]);
  put_record(r, o);
#else
  XpRecord o = record_of(r);
  X7 pose = xp_pose(o);
  V3 v = xp_snap(o.b.v);
  V3 w = xp_snap(o.b.w);
  float poses[7] = float[7](pose.p.x, pose.p.y, pose.p.z, pose.q.x, pose.q.y, pose.q.z, pose.q.w);
  float speeds[6] = float[6](v.x, v.y, v.z, w.x, w.y, w.z);
  uint jq = fixed_uint(r, 2u);
  uint jd = fixed_uint(r, 3u);
  for (uint k = 0u; k < 7u; k++) {
    body_q[q + k] = poses[k];
    joint_q[jq + k] = poses[k];
  }
  for (uint k = 0u; k < 6u; k++) {
    body_qd[d + k] = speeds[k];
    joint_qd[jd + k] = speeds[k];
  }
#endif
#endif
}
