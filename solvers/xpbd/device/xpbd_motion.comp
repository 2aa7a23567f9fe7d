/* Particles in a tick. PASS: 0 takes them from the shared state, 1 ends the last substep and predicts the next, 2 gives them back. */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "xpbd_device.glsl"

layout(std430, binding = 0) buffer Places { vec4 x_of[]; };
layout(std430, binding = 1) buffer Moves { vec4 d_of[]; };
layout(std430, binding = 2) buffer Speeds { vec4 v_of[]; };
#if PASS == 1
layout(std430, binding = 3) readonly buffer Worlds { uint world_of[]; };
layout(std430, binding = 4) readonly buffer Gravity { float gravity[]; };
#else
layout(std430, binding = 3) readonly buffer Indices { uint index_of[]; };
layout(std430, binding = 4) buffer StateQ { float particle_q[]; };
layout(std430, binding = 5) buffer StateQd { float particle_qd[]; };
#endif
layout(push_constant) uniform Push {
  uint count;
  uint known; /* v holds the velocities at the end of the last substep */
  float h;
  float inv_h;
} push;

void main()
{
  uint i = gl_GlobalInvocationID.x;
  if (i >= push.count) return;
#if PASS == 0
  uint at = 3u * index_of[i];
  x_of[i] = vec4(particle_q[at], particle_q[at + 1u], particle_q[at + 2u], 0.0);
  d_of[i] = vec4(0.0, 0.0, 0.0, d_of[i].w);
  v_of[i] = vec4(particle_qd[at], particle_qd[at + 1u], particle_qd[at + 2u], 0.0);
#else
  vec4 d = d_of[i];
  V3 speed = v3_of(v_of[i]);
  if (push.known == 0u) speed = xp_velocity(v3_of(d), speed, push.h, push.inv_h);
#if PASS == 1
  uint w = 3u * world_of[i];
  XpMove move = xp_predict(speed, d.w, v3(gravity[w], gravity[w + 1u], gravity[w + 2u]), push.h);
  x_of[i] = with_v3(v3_add(v3_of(x_of[i]), v3_of(d)), 0.0);
  v_of[i] = with_v3(move.v, 0.0);
  d_of[i] = with_v3(move.d, d.w);
#else
  uint at = 3u * index_of[i];
  V3 x = v3_add(v3_of(x_of[i]), v3_of(d));
  particle_q[at] = x.x;
  particle_q[at + 1u] = x.y;
  particle_q[at + 2u] = x.z;
  particle_qd[at] = speed.x;
  particle_qd[at + 1u] = speed.y;
  particle_qd[at + 2u] = speed.z;
#endif
#endif
}
