/* Bodies in a tick, as steel_bodies_lanes.c has them. PASS: 0 to records, 1 velocities from forces, 2 movement, 3 back to state. */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "steel_device.glsl"

layout(std430, binding = 3) buffer Warms { vec4 warm_rows[]; }; /* 6 each: sum, mark, kick */
#if PASS == 0 || PASS == 3
layout(std430, binding = 4) readonly buffer Fixed { uvec4 fixed_words[]; }; /* 2 each: body, world, joint_q_start, joint_qd_start; com, 1/kg */
layout(std430, binding = 5) buffer StateQ { float body_q[]; };
layout(std430, binding = 6) buffer StateQd { float body_qd[]; };
#endif
#if PASS == 0
layout(std430, binding = 7) readonly buffer Force { float body_f[]; };
layout(std430, binding = 8) readonly buffer Gravity { float gravity[]; };
#endif
#if PASS == 3
layout(std430, binding = 7) buffer JointQ { float joint_q[]; };
layout(std430, binding = 8) buffer JointQd { float joint_qd[]; };
#endif
layout(push_constant) uniform Push {
  uint count;
  float h;
} push;

StVelocity load_warm(uint r, uint which)
{
  vec4 a = warm_rows[6u * r + 2u * which];
  vec4 b = warm_rows[6u * r + 2u * which + 1u];
  StVelocity s;
  s.v = v3(a.x, a.y, a.z);
  s.w = v3(a.w, b.x, b.y);
  return s;
}

void store_warm(uint r, uint which, StVelocity s)
{
  warm_rows[6u * r + 2u * which] = vec4(s.v.x, s.v.y, s.v.z, s.w.x);
  warm_rows[6u * r + 2u * which + 1u] = vec4(s.w.y, s.w.z, 0.0, 0.0);
}

#if PASS == 0
V3 state_v3(uint at) { return v3(body_qd[at], body_qd[at + 1u], body_qd[at + 2u]); }
#endif

V3 snap_v3(V3 v) { return v3(f_snap(v.x, ST_SNAP), f_snap(v.y, ST_SNAP), f_snap(v.z, ST_SNAP)); }

void main()
{
  uint r = gl_GlobalInvocationID.x;
  if (r >= push.count) return;
#if PASS == 0
  uvec4 who = fixed_words[2u * r];
  uvec4 of = fixed_words[2u * r + 1u];
  uint q = 7u * who.x;
  uint qd = 6u * who.x;
  vec4 flags = frame_rows[6u * r + 3u];
  float own = flags.z * flags.w;
  Q4 turn = q4(body_q[q + 3u], body_q[q + 4u], body_q[q + 5u], body_q[q + 6u]);
  S33 inverse = s33_rotate(q4_to_m33(turn), frame_inv_inertia(r));
  StMass m;
  m.inv_mass = uintBitsToFloat(of.w) * own;
  m.inv_inertia = s33(inverse.xx * own, inverse.yy * own, inverse.zz * own, inverse.xy * own, inverse.xz * own, inverse.yz * own);
  StVelocity s;
  s.v = state_v3(qd);
  s.w = state_v3(qd + 3u);
  StVelocity kick;
  V3 force = v3(body_f[qd], body_f[qd + 1u], body_f[qd + 2u]);
  V3 torque = v3(body_f[qd + 3u], body_f[qd + 4u], body_f[qd + 5u]);
  uint g = 3u * who.y;
  V3 down = v3_scale(v3(gravity[g], gravity[g + 1u], gravity[g + 2u]), push.h);
  kick.v = v3_sel(m.inv_mass > 0.0, v3_add_scaled(down, force, m.inv_mass * push.h), v3_zero());
  kick.w = v3_scale(s33_mul_v3(m.inv_inertia, torque), push.h);
  frame_rows[6u * r] = vec4(turn.x, turn.y, turn.z, turn.w);
  frame_rows[6u * r + 1u] = vec4(uintBitsToFloat(of.x), uintBitsToFloat(of.y), uintBitsToFloat(of.z), 0.0);
  mass_rows[2u * r] = vec4(m.inv_mass, m.inv_inertia.xx, m.inv_inertia.yy, m.inv_inertia.zz);
  mass_rows[2u * r + 1u] = vec4(m.inv_inertia.xy, m.inv_inertia.xz, m.inv_inertia.yz, own);
  store_velocity(r, s);
  body_rows[4u * r + 2u] = vec4(0.0, 0.0, 0.0, 0.0);
  body_rows[4u * r + 3u] = vec4(0.0, 0.0, 1.0, 0.0);
  StVelocity none;
  none.v = v3_zero();
  none.w = v3_zero();
  store_warm(r, 0u, none);
  store_warm(r, 1u, s);
  store_warm(r, 2u, kick);
#elif PASS == 1
  StWarm o = st_push_body(load_velocity(r), load_warm(r, 0u), load_warm(r, 1u), load_warm(r, 2u));
  store_velocity(r, o.now);
  store_warm(r, 0u, o.warm);
  store_warm(r, 1u, o.mark);
#elif PASS == 2
  StVelocity s = load_velocity(r);
  StVelocity mark = load_warm(r, 1u);
  StMovement m = load_movement(r);
  V3 none = v3(mass_rows[2u * r + 1u].w - mass_rows[2u * r + 1u].w, 0.0, 0.0);
  none = v3(none.x, none.x, none.x);
  RigidSpin o = rigid_spin(q4_mul(m.dq, frame_turn(r)), s.w, frame_inertia(r), frame_inv_inertia(r), none, push.h);
  bool own = mass_rows[2u * r + 1u].w > 0.5;
  m.dp = v3_add_scaled(m.dp, s.v, push.h);
  m.dq = q4_integrate(m.dq, v3_sel(own, o.mean, s.w), push.h);
  mark.w = v3_sel(own, v3_add(mark.w, v3_sub(o.w, s.w)), mark.w);
  s.w = v3_sel(own, o.w, s.w);
  store_velocity(r, s);
  store_warm(r, 1u, mark);
  store_movement(r, m);
#else
  if (mass_rows[2u * r + 1u].w < 0.5) return;
  uvec4 who = fixed_words[2u * r];
  uint q = 7u * who.x;
  uint qd = 6u * who.x;
  StVelocity s = load_velocity(r);
  StMovement m = load_movement(r);
  V3 com = frame_com(r);
  Q4 begin = frame_turn(r);
  V3 centre = v3_add(v3(body_q[q], body_q[q + 1u], body_q[q + 2u]), q4_rotate(begin, com));
  Q4 turn = q4_normalize(q4_mul(m.dq, begin));
  V3 p = v3_sub(v3_add(centre, m.dp), q4_rotate(turn, com));
  V3 v = snap_v3(s.v);
  V3 w = snap_v3(s.w);
  float pose[7] = float[7](p.x, p.y, p.z, turn.x, turn.y, turn.z, turn.w);
  float rate[6] = float[6](v.x, v.y, v.z, w.x, w.y, w.z);
  for (uint k = 0u; k < 7u; k++) {
    body_q[q + k] = pose[k];
    joint_q[who.z + k] = pose[k];
  }
  for (uint k = 0u; k < 6u; k++) {
    body_qd[qd + k] = rate[k];
    joint_qd[who.w + k] = rate[k];
  }
#endif
}
