/* Particles fall. FAULT: 0 a product and a sum that may be contracted, 1 an inverse root, 2 an atomic sum of floats. */
#version 450
#if FAULT == 2
#extension GL_EXT_shader_atomic_float : require
#endif
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Q { float q[]; };
layout(std430, binding = 1) buffer Qd { float qd[]; };
layout(push_constant) uniform Push { uint count; float h; } push;
void main()
{
  uint i = gl_GlobalInvocationID.x;
  if (i >= push.count) return;
#if FAULT == 0
  q[i] = q[i] + qd[i] * push.h;
#elif FAULT == 1
  q[i] = inversesqrt(2.0 + push.h);
#else
  atomicAdd(q[0], qd[i]);
#endif
}
