/* What steel's shaders share: the kernels, and records of bodies as st_body, st_warm, st_frame and masses of steel_data.h lay them out. */
#include "prelude.glsl"
#include "samebit/rigid_spin.h"
#include "solvers/steel/steel.kernel.h"

layout(local_size_x = 64) in;

layout(std430, binding = 0) buffer Bodies { vec4 body_rows[]; };  /* 4 each */
layout(std430, binding = 1) buffer Frames { vec4 frame_rows[]; }; /* 6 each */
layout(std430, binding = 2) buffer Masses { vec4 mass_rows[]; };  /* 2 each */

StVelocity load_velocity(uint r)
{
  vec4 a = body_rows[4u * r];
  vec4 b = body_rows[4u * r + 1u];
  StVelocity s;
  s.v = v3(a.x, a.y, a.z);
  s.w = v3(a.w, b.x, b.y);
  return s;
}

void store_velocity(uint r, StVelocity s)
{
  body_rows[4u * r] = vec4(s.v.x, s.v.y, s.v.z, s.w.x);
  body_rows[4u * r + 1u] = vec4(s.w.y, s.w.z, 0.0, 0.0);
}

StMovement load_movement(uint r)
{
  vec4 a = body_rows[4u * r + 2u];
  vec4 b = body_rows[4u * r + 3u];
  StMovement m;
  m.dp = v3(a.x, a.y, a.z);
  m.dq = q4(a.w, b.x, b.y, b.z);
  return m;
}

void store_movement(uint r, StMovement m)
{
  body_rows[4u * r + 2u] = vec4(m.dp.x, m.dp.y, m.dp.z, m.dq.x);
  body_rows[4u * r + 3u] = vec4(m.dq.y, m.dq.z, m.dq.w, 0.0);
}

StMass load_mass(uint r)
{
  vec4 a = mass_rows[2u * r];
  vec4 b = mass_rows[2u * r + 1u];
  StMass m;
  m.inv_mass = a.x;
  m.inv_inertia = s33(a.y, a.z, a.w, b.x, b.y, b.z);
  return m;
}

Q4 frame_turn(uint r)
{
  vec4 a = frame_rows[6u * r];
  return q4(a.x, a.y, a.z, a.w);
}

V3 frame_com(uint r)
{
  vec4 a = frame_rows[6u * r + 1u];
  return v3(a.x, a.y, a.z);
}

S33 frame_inertia(uint r)
{
  vec4 a = frame_rows[6u * r + 2u];
  vec4 b = frame_rows[6u * r + 3u];
  return s33(a.x, a.y, a.z, a.w, b.x, b.y);
}

S33 frame_inv_inertia(uint r)
{
  vec4 a = frame_rows[6u * r + 4u];
  vec4 b = frame_rows[6u * r + 5u];
  return s33(a.x, a.y, a.z, a.w, b.x, b.y);
}
