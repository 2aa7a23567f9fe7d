/* Particles against bodies that this instance does not move, each particle's contacts and attachments in their order; those with its own bodies are in xpbd_links.comp.
 * PASS: 0 attachments, 1 an iteration over contacts, 2 velocities at the end of the substep, and what contacts make of them. */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "xpbd_device.glsl"

layout(std430, binding = 0) buffer Places { vec4 x_of[]; };
layout(std430, binding = 1) buffer Moves { vec4 d_of[]; };
layout(std430, binding = 2) readonly buffer Bodies { float bodies[]; }; /* records like xp_body */
layout(std430, binding = 3) readonly buffer Starts { uint start[]; };   /* first item of each row, rows + 1 */
layout(std430, binding = 4) readonly buffer Items { float items[]; };
layout(std430, binding = 5) buffer Kept { float kept[]; };              /* multipliers of each item */
layout(std430, binding = 6) readonly buffer Own { uint own[]; };        /* attachments: the record of each row; else the world of each particle */
#if PASS > 0
layout(std430, binding = 7) readonly buffer Radii { float radius_of[]; };
#endif
#if PASS == 2
layout(std430, binding = 8) buffer Speeds { vec4 v_of[]; };
layout(std430, binding = 9) readonly buffer Gravity { float gravity[]; };
#endif
layout(push_constant) uniform Push {
  uint count; /* rows */
  uint fresh; /* there are no multipliers yet in this substep */
  float h;
  float inv_h;
  float threshold; /* m/s */
  float most;      /* m, that overlap may be pushed out by; 0 in the other passes, where constants would be folded */
  uint own_bodies; /* records below this are bodies of this instance */
} push;

#include "xpbd_records.glsl"

#define ATTACHMENT_WORDS 6u
#define CONTACT_WORDS 9u
#define TOUCH_WORDS 7u

V3 item_v3(uint at) { return v3(items[at], items[at + 1u], items[at + 2u]); }
V3 kept_v3(uint at) { return v3(kept[at], kept[at + 1u], kept[at + 2u]); }
void keep_v3(uint at, V3 v)
{
  kept[at] = v.x;
  kept[at + 1u] = v.y;
  kept[at + 2u] = v.z;
}

void main()
{
  uint i = gl_GlobalInvocationID.x;
  if (i >= push.count) return;
#if PASS == 0
  uint particle = own[i];
#else
  uint particle = i;
#endif
  uint begin = start[i];
  uint end = start[i + 1u];
#if PASS < 2
  if (begin == end) return;
#endif
  vec4 d = d_of[particle];
  XpPoint a;
  a.x = v3_of(x_of[particle]);
  a.d = v3_of(d);
  a.w = d.w;
#if PASS == 2
  V3 ahead = v3_of(v_of[i]);
  V3 v = xp_velocity(a.d, ahead, push.h, push.inv_h);
  uint world = 3u * own[i];
  V3 down = v3(gravity[world], gravity[world + 1u], gravity[world + 2u]);
#endif
  for (uint k = begin; k < end; k++) {
#if PASS == 0
    uint at = k * ATTACHMENT_WORDS;
    XpRecord r = record_of(floatBitsToUint(items[at]));
    V3 lambda = v3(push.most, push.most, push.most);
    if (push.fresh == 0u) lambda = kept_v3(3u * k);
    XpHeld o = xp_hold_particle(r, xp_side(r, item_v3(at + 1u), v3(push.most, push.most, push.most)), a, items[at + 4u], items[at + 5u], lambda, push.h);
    keep_v3(3u * k, v3_add(lambda, o.p));
    a.d = v3_add_scaled(a.d, o.p, a.w);
#else
    uint at = k * CONTACT_WORDS;
    uint mine = k * TOUCH_WORDS;
    if (floatBitsToUint(items[at]) < push.own_bodies) {
#if PASS == 2
      keep_v3(mine + 4u, ahead);
#endif
      continue;
    }
    XpRecord r = record_of(floatBitsToUint(items[at]));
    XpSide s = xp_side(r, item_v3(at + 1u), item_v3(at + 4u));
    float normal = kept[mine];
#if PASS == 1
    V3 slide = kept_v3(mine + 1u);
    if (push.fresh != 0u) {
      normal = push.most;
      slide = v3(push.most, push.most, push.most);
      kept[mine] = normal;
      keep_v3(mine + 1u, slide);
    }
    XpParticleTouch o = xp_touch_particle(r, s, a, radius_of[i], items[at + 7u], normal, slide, push.h);
    if (!(o.normal > 0.0) && !(normal > 0.0)) continue;
    kept[mine] = o.normal;
    keep_v3(mine + 1u, o.slide);
    a.d = v3_add_scaled(a.d, o.p, a.w);
#else
    if (!(normal > 0.0)) continue;
    XpParticleBounce o = xp_bounce_particle(r, s, a, v, ahead, down, radius_of[i], normal, items[at + 8u], push.threshold, push.most, push.h);
    a.x = v3_add(a.x, o.shift);
    v = v3_add_scaled(v, o.push, a.w);
#endif
#endif
  }
#if PASS == 2
  x_of[i] = with_v3(a.x, 0.0);
  v_of[i] = with_v3(v, 0.0);
#else
  d_of[particle] = with_v3(a.d, a.w);
#endif
}
