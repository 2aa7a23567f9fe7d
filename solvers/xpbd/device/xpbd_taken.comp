/* Contacts of particles that lie on the device become the items that xpbd_touches.comp and xpbd_links.comp read, a contact a thread. All particles and all bodies that move
 * are this instance's. PASS: 0 items, and which of them have an own body, 1 a list of those, by the sums before them, and where each world's begin. */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "samebit/device_contacts.h"

layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Contacts { uint contacts[]; };
layout(std430, binding = 1) readonly buffer Starts { uint start[]; }; /* of each particle */
layout(std430, binding = 2) buffer Linked { uint linked[]; };         /* 1 or 0, one more than contacts */
#if PASS == 0
layout(std430, binding = 3) readonly buffer Records { uint record_of[]; }; /* of a body, twice that, and 1 where it moves */
layout(std430, binding = 4) buffer Items { uint items[]; };
#else
layout(std430, binding = 3) readonly buffer Before { uint before[]; };
layout(std430, binding = 4) readonly buffer Worlds { uint world_first[]; }; /* first particle of each world, and their number */
layout(std430, binding = 5) buffer Links { uvec2 links[]; };                /* particle and item */
layout(std430, binding = 6) buffer LinkStarts { uint link_start[]; };       /* of each world */
#endif
layout(push_constant) uniform Push {
  uint particles;
  uint capacity; /* contacts */
  uint nobody;
  uint own;    /* bodies; with none only items are made */
  uint worlds;
} push;

#define CONTACT_WORDS 9u

void main()
{
  uint i = gl_GlobalInvocationID.x;
  uint count = start[push.particles];
#if PASS == 0
  if (push.own > 0u && i >= count && i <= push.capacity) linked[i] = 0u;
  if (i >= count) return;
  uint to = CONTACT_WORDS * i;
  int body = int(contacts[push.capacity * SB_AT_TOUCH_BODY + i]);
  uint record = push.own > 0u && body >= 0 ? record_of[body] / 2u : push.nobody;
  items[to] = record;
  for (uint k = 0u; k < 3u; k++) {
    items[to + 1u + k] = contacts[push.capacity * SB_AT_TOUCH_POINT + 3u * i + k];
    items[to + 4u + k] = contacts[push.capacity * SB_AT_TOUCH_NORMAL + 3u * i + k];
  }
  items[to + 7u] = contacts[push.capacity * SB_AT_TOUCH_FRICTION + i];
  items[to + 8u] = contacts[push.capacity * SB_AT_TOUCH_RESTITUTION + i];
  if (push.own > 0u) linked[i] = record < push.own ? 1u : 0u;
#else
  if (i <= push.worlds) link_start[i] = before[start[world_first[i]]];
  if (i < count && linked[i] != 0u) links[before[i]] = uvec2(contacts[push.capacity * SB_AT_TOUCH_PARTICLE + i], i);
#endif
}
