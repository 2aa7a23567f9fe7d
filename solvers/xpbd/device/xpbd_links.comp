/* Particles and bodies of this instance that push each other, in the order of xpbd_touch.c: one after another, an island a thread. Links of different islands have no body and
 * no particle in common. PASS: 0 attachments forth, and back over those that hold a body, 1 an iteration over contacts, 2 what contacts make of the velocities at the end of the
 * substep. */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "xpbd_device.glsl"

layout(std430, binding = 0) buffer Places { vec4 x_of[]; };
layout(std430, binding = 1) buffer Moves { vec4 d_of[]; };
layout(std430, binding = 2) buffer Bodies { float bodies[]; };         /* records like xp_body */
layout(std430, binding = 3) readonly buffer Count { uint link_count[]; };
layout(std430, binding = 4) readonly buffer Links { uvec2 links[]; };           /* island and item, by island */
layout(std430, binding = 5) readonly buffer Items { float items[]; };           /* as in xpbd_touches.comp */
layout(std430, binding = 6) buffer Kept { float kept[]; };                      /* multipliers of each item; of a contact also the particle's velocity as predicted */
layout(std430, binding = 7) readonly buffer Particles { uint particle_of[]; };  /* of each item */
#if PASS > 0
layout(std430, binding = 8) readonly buffer Radii { float radius_of[]; };
#endif
#if PASS == 2
layout(std430, binding = 9) buffer Speeds { vec4 v_of[]; };
layout(std430, binding = 10) readonly buffer Gravity { float gravity[]; };
layout(std430, binding = 11) readonly buffer Worlds { uint world_of[]; }; /* of each particle */
#endif
layout(push_constant) uniform Push {
  uint own;   /* records from here on are nobody's to write */
  uint fresh; /* there are no multipliers yet in this substep */
  float h;
  float inv_h;
  float threshold; /* m/s */
  float most;      /* m, that overlap may be pushed out by */
  float zero;      /* a value where devices would fold a constant */
} push;

#define WRITE_BODIES
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
V3 none() { return v3(push.zero, push.zero, push.zero); }

/* The body at hand: many links in a row have the same one. */
uint at_hand;
XpRecord body;

void lay_down()
{
  if (at_hand < push.own) put_body(at_hand, body.b);
}

void take(uint record)
{
  if (record == at_hand) return;
  lay_down();
  at_hand = record;
  body = record_of(record);
}

XpPoint point(uint record)
{
  XpPoint p;
  vec4 d = d_of[record];
  p.x = v3_of(x_of[record]);
  p.d = v3_of(d);
  p.w = d.w;
  return p;
}

#if PASS == 0
void visit(uint item, bool fresh)
{
  uint at = ATTACHMENT_WORDS * item;
  uint particle = particle_of[item];
  take(floatBitsToUint(items[at]));
  XpPoint a = point(particle);
  V3 lambda = none();
  if (!fresh) lambda = kept_v3(3u * item);
  XpHeld o = xp_hold_particle(body, xp_side(body, item_v3(at + 1u), none()), a, items[at + 4u], items[at + 5u], lambda, push.h);
  keep_v3(3u * item, v3_add(lambda, o.p));
  d_of[particle] = with_v3(v3_add_scaled(a.d, o.p, a.w), a.w);
  if (at_hand < push.own) body.b = xp_correct(body.b, o.lever, v3_neg(o.p), none(), push.inv_h);
}
#endif
#if PASS == 1
void visit(uint item)
{
  uint at = CONTACT_WORDS * item;
  uint mine = TOUCH_WORDS * item;
  uint particle = particle_of[item];
  take(floatBitsToUint(items[at]));
  XpPoint a = point(particle);
  float normal = push.zero;
  V3 slide = none();
  if (push.fresh == 0u) {
    normal = kept[mine];
    slide = kept_v3(mine + 1u);
  }
  XpParticleTouch o = xp_touch_particle(body, xp_side(body, item_v3(at + 1u), item_v3(at + 4u)), a, radius_of[particle], items[at + 7u], normal, slide, push.h);
  bool acts = o.normal > 0.0 || normal > 0.0;
  if (acts) {
    normal = o.normal;
    slide = o.slide;
    d_of[particle] = with_v3(v3_add_scaled(a.d, o.p, a.w), a.w);
    body.b = xp_correct(body.b, o.lever, v3_neg(o.p), none(), push.inv_h);
  }
  kept[mine] = normal;
  keep_v3(mine + 1u, slide);
}
#endif
#if PASS == 2
void visit(uint item)
{
  uint at = CONTACT_WORDS * item;
  uint mine = TOUCH_WORDS * item;
  uint particle = particle_of[item];
  uint g = 3u * world_of[particle];
  float normal = kept[mine];
  if (!(normal > 0.0)) return;
  take(floatBitsToUint(items[at]));
  XpPoint a = point(particle);
  V3 v = v3_of(v_of[particle]);
  V3 down = v3(gravity[g], gravity[g + 1u], gravity[g + 2u]);
  XpSide s = xp_side(body, item_v3(at + 1u), item_v3(at + 4u));
  XpParticleBounce o = xp_bounce_particle(body, s, a, v, kept_v3(mine + 4u), down, radius_of[particle], normal, items[at + 8u], push.threshold, push.most, push.h);
  x_of[particle] = with_v3(v3_add(a.x, o.shift), 0.0);
  v_of[particle] = with_v3(v3_add_scaled(v, o.push, a.w), 0.0);
  body.b = xp_kick(body.b, o.lever, v3_neg(o.push), none());
}
#endif

void main()
{
  uint first = gl_GlobalInvocationID.x;
  uint count = link_count[0];
  if (first >= count) return;
  uint island = links[first].x;
  if (first > 0u && links[first - 1u].x == island) return; /* somebody else's */
  uint end = first + 1u;
  while (end < count && links[end].x == island) end++;
  at_hand = 0xffffffffu;
#if PASS == 0
  uint n = 0u;
  for (; n < 2u * (end - first); n++) {
    bool back = n >= end - first;
    uint item = links[back ? end - 1u - (n - (end - first)) : first + n].y;
    if (!back || floatBitsToUint(items[ATTACHMENT_WORDS * item]) < push.own) visit(item, !back && push.fresh != 0u);
  }
  bool cut = sb_is_cut(n, 2u * (end - first), push.zero);
#elif PASS == 1 && defined(SAMEBIT_MUTANT_LINKS_BACKWARDS)
  /* The planted fault: another order. */
  uint n = end;
  for (; n > first; n--) visit(links[n - 1u].y);
  bool cut = sb_is_cut(first, n, push.zero);
#else
  uint n = first;
  for (; n < end; n++) visit(links[n].y);
  bool cut = sb_is_cut(n, end, push.zero);
#endif
  lay_down();
  if (cut || (sb_is_cut(end, count, push.zero) && links[end].x == island)) d_of[particle_of[links[first].y]].x = SB_CUT_SHORT;
}
