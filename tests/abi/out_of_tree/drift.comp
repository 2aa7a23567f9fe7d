#version 450
#extension GL_GOOGLE_include_directive : require
#include "prelude.glsl"
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Heights { float heights[]; };
void main()
{
  uint i = gl_GlobalInvocationID.x;
  heights[i] = f_max(heights[i] - f_sqrt(STEP), 0.0);
}
