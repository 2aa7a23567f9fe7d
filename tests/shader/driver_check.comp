#version 450
#extension GL_GOOGLE_include_directive : require
/* Built by the command that builds the project's shaders; SCALE comes from its macros. */
#include "prelude.glsl"

layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Angles { float angles[]; };

void main()
{
  uint i = gl_GlobalInvocationID.x;
  SinCos r = f_sincos(angles[i] * SCALE);
#ifdef BREAK_A_RULE
  r.s = r.s / r.c;
#endif
  angles[i] = r.s;
}
