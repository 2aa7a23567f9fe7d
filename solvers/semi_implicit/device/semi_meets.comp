/* Forces of contacts with shapes (PASS 0) and of near pairs (PASS 1), one a thread. Arrays of the tick lie one after another, each for `capacity`. */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "semi_device.glsl"

layout(std430, binding = 2) readonly buffer Arrays { uint arrays[]; };
#if PASS == 0
#include "semi_bodies.glsl"
#else
layout(std430, binding = 3) readonly buffer Unused { float unused_floats[]; };
#endif
layout(std430, binding = 4) buffer Forces { float force[]; };
layout(std430, binding = 5) readonly buffer Particles { float particles[]; }; /* 1/kg, radius (m) of each */
layout(std430, binding = 6) readonly buffer Shares { float share[]; };        /* of each particle */
layout(std430, binding = 7) readonly buffer Counts { uint counts[]; };        /* contacts, pairs */
#if PASS == 0
#define PRESS_BINDING 8
#include "semi_press.glsl"
#endif
layout(push_constant) uniform Push {
  uint capacity;
  uint pressing; /* what contacts do to bodies is wanted */
  uint holds;    /* attachments, which lie before them */
  float omega; /* rad/s */
  float zeta;
  float dt;
  float zero; /* a value where devices would fold a constant */
} push;

float number(uint base, uint at) { return uintBitsToFloat(arrays[push.capacity * base + at]); }
V3 number_v3(uint base, uint i) { return v3(number(base, 3u * i), number(base, 3u * i + 1u), number(base, 3u * i + 2u)); }

void main()
{
  uint i = gl_GlobalInvocationID.x;
  if (i >= counts[PASS]) return;
#if PASS == 0
  uint p = arrays[i];
  SiBody b = met_body(arrays[push.capacity + i]);
  V3 at = x7_point(b.pose, number_v3(3u, i));
  V3 n = q4_rotate(b.pose.q, number_v3(6u, i));
  float inv_mass = particles[2u * p] * share[p];
  SiPress f = si_touch(b, at, n, place_of(p), speed_of(p), particles[2u * p + 1u], inv_mass, number(2u, i), push.omega, push.zeta, push.dt);
  force[3u * i] = f.f.x;
  force[3u * i + 1u] = f.f.y;
  force[3u * i + 2u] = f.f.z;
  if (push.pressing != 0u) put_press(push.holds + i, f.body);
#else
  uint kind = arrays[4u * push.capacity + i];
  uint p0 = arrays[4u * i];
  uint p1 = arrays[4u * i + 1u];
  uint p2 = kind == 0u ? p0 : arrays[4u * i + 2u];
  uint p3 = kind == 0u ? p0 : arrays[4u * i + 3u];
  V3 x0 = place_of(p0);
  V3 x1 = place_of(p1);
  V3 x2 = place_of(p2);
  V3 x3 = place_of(p3);
  NearPair near;
  if (kind == 0u) {
    near = pair_points(x0, x1);
    near.a2 = push.zero;
    near.a3 = push.zero;
  } else if (kind == 1u) {
    near = pair_face(x0, x1, x2, x3, number(5u, i));
  } else {
    near = pair_edges(x0, x1, x2, x3, number(5u, i));
  }
  V3 v = v3_add(v3_add(v3_scale(speed_of(p0), near.a0), v3_scale(speed_of(p1), near.a1)), v3_add(v3_scale(speed_of(p2), near.a2), v3_scale(speed_of(p3), near.a3)));
  float m0 = particles[2u * p0] * share[p0];
  float m1 = particles[2u * p1] * share[p1];
  float m2 = particles[2u * p2] * share[p2];
  float m3 = particles[2u * p3] * share[p3];
  float all = ((near.a0 * near.a0) * m0 + (near.a1 * near.a1) * m1) + ((near.a2 * near.a2) * m2 + (near.a3 * near.a3) * m3);
  V3 f = si_apart(near, v, all, number(6u, i), number(7u, i), push.omega, push.zeta, push.dt);
  uint to = 7u * i;
  force[to] = f.x;
  force[to + 1u] = f.y;
  force[to + 2u] = f.z;
  force[to + 3u] = near.a0;
  force[to + 4u] = near.a1;
  force[to + 5u] = near.a2;
  force[to + 6u] = near.a3;
#endif
}
