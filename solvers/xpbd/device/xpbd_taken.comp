/* Contacts of particles that lie on the device become the items that xpbd_touches.comp reads, a contact a thread. No body moves. */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "samebit/device_contacts.h"

layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Contacts { uint contacts[]; };
layout(std430, binding = 1) readonly buffer Starts { uint start[]; };
layout(std430, binding = 2) buffer Items { uint items[]; };
layout(push_constant) uniform Push {
  uint particles;
  uint capacity; /* contacts */
  uint nobody;
} push;

#define CONTACT_WORDS 9u

void main()
{
  uint i = gl_GlobalInvocationID.x;
  if (i >= start[push.particles]) return;
  uint to = CONTACT_WORDS * i;
  items[to] = push.nobody;
  for (uint k = 0u; k < 3u; k++) {
    items[to + 1u + k] = contacts[push.capacity * SB_AT_TOUCH_POINT + 3u * i + k];
    items[to + 4u + k] = contacts[push.capacity * SB_AT_TOUCH_NORMAL + 3u * i + k];
  }
  items[to + 7u] = contacts[push.capacity * SB_AT_TOUCH_FRICTION + i];
  items[to + 8u] = contacts[push.capacity * SB_AT_TOUCH_RESTITUTION + i];
}
