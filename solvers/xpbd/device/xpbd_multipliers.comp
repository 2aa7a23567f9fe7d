/* Multipliers of contacts that lie on the device, a contact a thread. PASS: 0 what they begin with (xp_bodies_meet), 1 what is kept of them at the tick's end. */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "samebit/device_contacts.h"

layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Kept { uint kept[]; };            /* of each contact: along the normal, and 3 across it */
layout(std430, binding = 1) buffer Cache { uint cache[]; };          /* contact_push */
layout(std430, binding = 2) readonly buffer Starts { uint start[]; }; /* contact_graph.h */
#if PASS == 0
layout(std430, binding = 3) readonly buffer Match { int matched[]; };
layout(std430, binding = 4) readonly buffer Contacts { uint contacts[]; };
layout(std430, binding = 5) readonly buffer Records { uint record_of[]; }; /* of a body, twice that, and 1 where it moves */
#endif
layout(push_constant) uniform Push {
  uint capacity; /* contacts */
  uint count_at; /* where `start` has their number */
} push;

#if PASS == 0
bool moves(uint array, uint i)
{
  int body = int(contacts[push.capacity * array + i]);
  return body >= 0 && (record_of[body] & 1u) != 0u;
}
#endif

void main()
{
  uint i = gl_GlobalInvocationID.x;
  if (i >= start[push.count_at]) return;
#if PASS == 0
  uint before = 0u;
  if (matched[i] >= 0 && (moves(SB_AT_BODY_A, i) || moves(SB_AT_BODY_B, i))) before = cache[matched[i]];
  kept[4u * i] = before;
  for (uint k = 1u; k < 4u; k++) kept[4u * i + k] = 0u;
#else
  cache[i] = kept[4u * i];
#endif
}
