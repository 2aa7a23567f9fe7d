/* Reads and writes far outside its buffer, as a plugin's fault would. */
#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Values { uint value[]; };
layout(push_constant) uniform Push { uint count; uint step; } push;
void main()
{
  uint i = gl_GlobalInvocationID.x;
  value[i * push.step + push.count] = value[0xfffffff0u - i * push.step] + 1u;
}
