/* Copies 16 bytes a turn: the bandwidth that others are measured against. */
#version 450
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer From { uvec4 from_words[]; };
layout(std430, binding = 1) writeonly buffer To { uvec4 to_words[]; };
layout(push_constant) uniform Push { uint count; } push;
void main()
{
  for (uint i = gl_GlobalInvocationID.x; i < push.count; i += gl_NumWorkGroups.x * 256u) to_words[i] = from_words[i];
}
