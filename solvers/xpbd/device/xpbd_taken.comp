/* Contacts of particles that lie on the device become what xpbd_touches.comp and xpbd_links.comp read. All particles and all bodies that move are this instance's. PASS: 0 items, a
 * contact a thread, and which of them have an own body, 1 bodies that one particle links, a particle a thread, 2 links: contacts with own bodies and the island of each, by the
 * sums before them. An island is bodies that particles link; its number is that of its first body, whoever came first. */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "samebit/device_contacts.h"

layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Items { uint items[]; };           /* the body's record, point, normal, friction, restitution */
layout(std430, binding = 1) readonly buffer Starts { uint start[]; }; /* of each particle */
layout(std430, binding = 2) coherent buffer Roots { uint root_of[]; }; /* of each own body: one of its island, in the end the first */
#if PASS == 0
layout(std430, binding = 3) buffer Linked { uint linked[]; };              /* 1 or 0, one more than contacts */
layout(std430, binding = 4) readonly buffer Contacts { uint contacts[]; };
layout(std430, binding = 5) readonly buffer Records { uint record_of[]; }; /* of a body, twice that, and 1 where it moves */
layout(std430, binding = 6) buffer Particles { uint particle_of[]; };      /* of an item */
#elif PASS == 2
layout(std430, binding = 3) readonly buffer Linked { uint linked[]; };
layout(std430, binding = 4) readonly buffer Before { uint before[]; };
layout(std430, binding = 5) buffer Links { uvec2 links[]; }; /* island and item */
layout(std430, binding = 6) buffer Count { uint link_count[]; };
#endif
layout(push_constant) uniform Push {
  uint particles;
  uint capacity; /* contacts */
  uint nobody;
  uint own; /* bodies; with none only items are made */
} push;

#define CONTACT_WORDS 9u

uint find_root(uint body)
{
  while (root_of[body] != body) body = root_of[body];
  return body;
}

#if PASS == 1
/* The later root is hung below the earlier one, unless somebody else has hung it elsewhere meanwhile. */
void unite(uint a, uint b)
{
  for (;;) {
    a = find_root(a);
    b = find_root(b);
    if (a == b) return;
    uint early = min(a, b);
    uint late = max(a, b);
    if (atomicCompSwap(root_of[late], late, early) == late) return;
  }
}
#endif

void main()
{
  uint i = gl_GlobalInvocationID.x;
  uint count = start[push.particles];
#if PASS == 0
  if (i < push.own) root_of[i] = i;
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
  if (push.own == 0u) return;
  linked[i] = record < push.own ? 1u : 0u;
  particle_of[i] = contacts[push.capacity * SB_AT_TOUCH_PARTICLE + i];
#elif PASS == 1
  if (i >= push.particles) return;
  uint last = push.own;
  for (uint k = start[i]; k < start[i + 1u]; k++) {
    uint record = items[CONTACT_WORDS * k];
    if (record >= push.own) continue;
#ifndef SAMEBIT_MUTANT_ISLANDS_APART /* the planted fault: bodies that a particle links go side by side */
    if (last < push.own) unite(last, record);
#endif
    last = record;
  }
#else
  if (i == 0u) link_count[0] = before[push.capacity];
  if (i < count && linked[i] != 0u) links[before[i]] = uvec2(find_root(items[CONTACT_WORDS * i]), i);
#endif
}
