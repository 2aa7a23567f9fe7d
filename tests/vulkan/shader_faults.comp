/* Particles fall. FAULT: 0 a product and a sum that may be contracted, 1 an inverse root, 2 an atomic sum of floats. What the pipeline does
 * not give: 3 a third buffer, 4 more push constants, 5 a uniform buffer, 6 a workgroup and 7 shared memory larger than devices have. 8 is sound. 9 never ends, 10 writes far outside, 11 has doubles, 12 goes where it likes. */
#version 450
#if FAULT == 2
#extension GL_EXT_shader_atomic_float : require
#endif
#if FAULT == 12
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(buffer_reference, std430) buffer Anywhere { float at; };
#endif
#if FAULT == 6
layout(local_size_x = 1024, local_size_y = 1024) in;
#else
layout(local_size_x = 64) in;
#endif
#if FAULT == 9
layout(std430, binding = 0) buffer Q { uint q[]; };
#else
layout(std430, binding = 0) buffer Q { float q[]; };
#endif
layout(std430, binding = 1) buffer Qd { float qd[]; };
#if FAULT == 4
layout(push_constant) uniform Push { uint count; float h; float more[4]; } push;
#else
layout(push_constant) uniform Push { uint count; float h; } push;
#endif
#if FAULT == 3
layout(std430, binding = 2) buffer More { float more[]; };
#elif FAULT == 5
layout(std140, binding = 1) uniform More { float more; };
#elif FAULT == 7
shared float more[1 << 20];
#endif
void main()
{
  uint i = gl_GlobalInvocationID.x;
#if FAULT != 9
  if (i >= push.count) return;
#endif
#if FAULT == 0
  q[i] = q[i] + qd[i] * push.h;
#elif FAULT == 1
  q[i] = inversesqrt(2.0 + push.h);
#elif FAULT == 2
  atomicAdd(q[0], qd[i]);
#elif FAULT == 3
  q[i] = more[i];
#elif FAULT == 4
  q[i] = push.more[i & 3u];
#elif FAULT == 5
  q[i] = more;
#elif FAULT == 7
  more[i] = qd[i];
  barrier();
  q[i] = more[i ^ 1u];
#elif FAULT == 9
  for (uint k = 0u; atomicOr(q[0], 0u) != 1u; k++) atomicAnd(q[0], 0u);
#elif FAULT == 10
  q[i + 3u * 1000u * 1000u * 1000u] = qd[i];
#elif FAULT == 11
  q[i] = float(double(qd[i]) / 3.0lf);
#elif FAULT == 12
  q[i] = Anywhere(uint64_t(i)).at;
#else
  q[i] = qd[i];
#endif
}
