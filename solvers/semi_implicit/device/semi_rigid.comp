/* Rigid bodies. PASS: 0 the force of each contact, 1 what acts on each body is summed in fixed order (commands, contacts, particles) and moves it, 2 where it is goes
 * to the records that particles meet. */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "prelude.glsl"
#include "samebit/joint_law.h"
#include "samebit/penalty_contact.h"
#include "samebit/rigid_spin.h"
#include "solvers/semi_implicit/semi_implicit.kernel.h"

layout(local_size_x = 64) in;

layout(std430, binding = 0) buffer Poses { float body_q[]; };
layout(std430, binding = 1) buffer Speeds { float body_qd[]; };
#if PASS < 2
layout(std430, binding = 2) readonly buffer Fixed { float fixed_of[]; }; /* of each body, the world after the last one */
layout(std430, binding = 3) buffer Forces { float forces[]; };           /* of each contact, like si_wrench_pair */
#endif
#if PASS == 0
layout(std430, binding = 4) readonly buffer Contacts { uint contacts[]; }; /* arrays one after another, each for `capacity` contacts */
layout(std430, binding = 5) readonly buffer Shares { float share[]; };     /* of each body, the world after the last one */
#elif PASS == 1
layout(std430, binding = 4) readonly buffer Moved { uint moved[]; };       /* body, world, where its joint's coordinates and dofs begin */
layout(std430, binding = 5) readonly buffer Commands { float body_f[]; };
layout(std430, binding = 6) readonly buffer Gravity { float gravity[]; };
layout(std430, binding = 7) readonly buffer Firsts { uint first[]; };      /* of each body in the list of contacts */
layout(std430, binding = 8) readonly buffer Lists { uint list[]; };        /* contacts; bit 31: the body is b */
layout(std430, binding = 9) buffer Coordinates { float joint_q[]; };
layout(std430, binding = 10) buffer Rates { float joint_qd[]; };
layout(std430, binding = 11) readonly buffer Presses { float press[]; };      /* of particles: force, torque */
layout(std430, binding = 12) readonly buffer PressFirsts { uint press_first[]; }; /* of each body in the list of these */
layout(std430, binding = 13) readonly buffer PressLists { uint press_list[]; };
#else
layout(std430, binding = 2) readonly buffer Moved { uint moved[]; };
layout(std430, binding = 3) buffer Bodies { float bodies[]; };             /* as semi_bodies.glsl has them */
#endif
layout(push_constant) uniform Push {
  uint count;    /* moved bodies */
  uint world;    /* its number among the bodies */
  uint capacity; /* of contacts */
  uint last;     /* the tick's last substep: joints repeat their bodies */
  uint pressing; /* particles act on bodies */
  float omega;   /* rad/s */
  float zeta;
  float dt;
  float zero; /* a value where devices would fold a constant */
} push;

#if PASS < 2
/* 1/kg, inertia and inverse, centre of mass. */
#define FIXED_WORDS 16u
float fixed_float(uint b, uint k) { return fixed_of[FIXED_WORDS * b + k]; }
S33 fixed_s33(uint b, uint k)
{
  return s33(fixed_float(b, k), fixed_float(b, k + 1u), fixed_float(b, k + 2u), fixed_float(b, k + 3u), fixed_float(b, k + 4u), fixed_float(b, k + 5u));
}
V3 fixed_com(uint b) { return v3(fixed_float(b, 13u), fixed_float(b, 14u), fixed_float(b, 15u)); }
V3 speed_v3(uint at) { return v3(body_qd[at], body_qd[at + 1u], body_qd[at + 2u]); }
X7 pose_of(uint b)
{
  uint at = 7u * b;
  return x7(v3(body_q[at], body_q[at + 1u], body_q[at + 2u]), q4(body_q[at + 3u], body_q[at + 4u], body_q[at + 5u], body_q[at + 6u] + push.zero));
}

#endif

#if PASS == 0
#define C_BODY_A 0u
#define C_BODY_B 1u
#define C_FRICTION 2u
#define C_POINT_A 5u
#define C_POINT_B 8u
#define C_NORMAL 11u
#define C_COUNT 14u

float number(uint base, uint at) { return uintBitsToFloat(contacts[push.capacity * base + at]); }
V3 number_v3(uint base, uint i) { return v3(number(base, 3u * i), number(base, 3u * i + 1u), number(base, 3u * i + 2u)); }

SiBody body_at(uint b)
{
  X7 pose;
  V3 v = v3(push.zero, push.zero, push.zero);
  V3 w = v;
  if (b == push.world) {
    pose = x7(v, q4(push.zero, push.zero, push.zero, push.zero + 1.0));
  } else {
    pose = pose_of(b);
    v = speed_v3(6u * b);
    w = speed_v3(6u * b + 3u);
  }
  return si_body(pose, fixed_com(b), v, w, fixed_float(b, 0u), fixed_s33(b, 7u), share[b]);
}

void put(uint at, V3 v)
{
  forces[at] = v.x;
  forces[at + 1u] = v.y;
  forces[at + 2u] = v.z;
}

void main()
{
  uint i = gl_GlobalInvocationID.x;
  if (i >= contacts[push.capacity * C_COUNT]) return;
  SiBody a = body_at(contacts[push.capacity * C_BODY_A + i]);
  SiBody b = body_at(contacts[push.capacity * C_BODY_B + i]);
  V3 xa = x7_point(a.pose, number_v3(C_POINT_A, i));
  V3 xb = x7_point(b.pose, number_v3(C_POINT_B, i));
  SiPair pair = si_contact(a, b, xa, xb, number_v3(C_NORMAL, i), number(C_FRICTION, 3u * i), push.omega, push.zeta, push.dt);
  put(12u * i, pair.b.f);
  put(12u * i + 3u, pair.b.t);
  put(12u * i + 6u, pair.a.f);
  put(12u * i + 9u, pair.a.t);
}
#elif PASS == 1
void main()
{
  uint i = gl_GlobalInvocationID.x;
  if (i >= push.count) return;
  uint b = moved[4u * i];
  float sum[6];
  for (uint k = 0u; k < 6u; k++) sum[k] = body_f[6u * b + k] + push.zero;
  for (uint k = first[b]; k < first[b + 1u]; k++) {
    uint at = 12u * (list[k] & 0x7fffffffu) + ((list[k] & 0x80000000u) != 0u ? 0u : 6u);
    for (uint j = 0u; j < 6u; j++) sum[j] = sum[j] + forces[at + j];
  }
  if (push.pressing != 0u)
    for (uint k = press_first[b]; k < press_first[b + 1u]; k++)
      for (uint j = 0u; j < 6u; j++) sum[j] = sum[j] + press[6u * press_list[k] + j];
  SiMotion motion;
  motion.pose = pose_of(b);
  motion.v = speed_v3(6u * b);
  motion.w = speed_v3(6u * b + 3u);
  uint g = 3u * moved[4u * i + 1u];
  V3 linear = v3_add_scaled(v3(gravity[g], gravity[g + 1u], gravity[g + 2u]), v3(sum[0], sum[1], sum[2]), fixed_float(b, 0u));
  motion = si_integrate(motion, fixed_com(b), fixed_s33(b, 1u), fixed_s33(b, 7u), linear, v3(sum[3], sum[4], sum[5]), push.dt);
  V3 v = v3(f_snap(motion.v.x, SI_SNAP), f_snap(motion.v.y, SI_SNAP), f_snap(motion.v.z, SI_SNAP));
  V3 w = v3(f_snap(motion.w.x, SI_SNAP), f_snap(motion.w.y, SI_SNAP), f_snap(motion.w.z, SI_SNAP));
  float poses[7] = float[7](motion.pose.p.x, motion.pose.p.y, motion.pose.p.z, motion.pose.q.x, motion.pose.q.y, motion.pose.q.z, motion.pose.q.w);
  float speeds[6] = float[6](v.x, v.y, v.z, w.x, w.y, w.z);
  for (uint k = 0u; k < 7u; k++) body_q[7u * b + k] = poses[k];
  for (uint k = 0u; k < 6u; k++) body_qd[6u * b + k] = speeds[k];
  if (push.last == 0u) return;
  for (uint k = 0u; k < 7u; k++) joint_q[moved[4u * i + 2u] + k] = poses[k];
  for (uint k = 0u; k < 6u; k++) joint_qd[moved[4u * i + 3u] + k] = speeds[k];
}
#else
void main()
{
  uint i = gl_GlobalInvocationID.x;
  if (i >= push.count) return;
  uint b = moved[4u * i];
  for (uint k = 0u; k < 7u; k++) bodies[24u * b + k] = body_q[7u * b + k];
  for (uint k = 0u; k < 6u; k++) bodies[24u * b + 10u + k] = body_qd[6u * b + k];
}
#endif
