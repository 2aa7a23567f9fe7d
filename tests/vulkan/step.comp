/* value = value * 3 + i + step, in unsigned words: any lost or doubled step shows. */
#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Values { uint value[]; };
layout(push_constant) uniform Push { uint count; uint step; } push;
void main()
{
  uint i = gl_GlobalInvocationID.x;
  if (i < push.count) value[i] = value[i] * 3u + i + push.step;
}
