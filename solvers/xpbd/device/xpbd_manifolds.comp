/* Contacts between two bodies, a manifold a thread, in the order of xpbd_bodies.c. PASS: 0 multipliers of the last substep, 1 an iteration, 2 overlap is pushed apart, 3 what
 * contacts make of the velocities at the substep's end. */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "xpbd_device.glsl"
#include "samebit/device_contacts.h"

layout(std430, binding = 0) buffer Bodies { float bodies[]; };                /* records like xp_body */
layout(std430, binding = 1) readonly buffer Manifolds { uvec4 manifolds[]; }; /* by colour: records a and b, first contact, points */
layout(std430, binding = 2) readonly buffer Starts { uint start[]; };         /* first manifold of each colour */
layout(std430, binding = 3) readonly buffer Contacts { float contacts[]; };   /* samebit/device_contacts.h */
layout(std430, binding = 4) buffer Kept { float kept[]; };                    /* multipliers of each contact */
layout(push_constant) uniform Push {
  uint color;
  uint serial;   /* one after another, on one thread */
  uint back;     /* those from the last to the first */
  uint capacity;
  uint own;      /* records from here on are nobody's to write */
  float h;
  float inv_h;
  float most;      /* m, that overlap may be pushed out by in this substep */
  float threshold; /* m/s */
  float zero;      /* a value where devices would fold a constant */
} push;

#define WRITE_BODIES
#include "xpbd_records.glsl"

#define POINTS 0x00ffffffu /* contact_graph.h */

float contact_float(uint base, uint at) { return contacts[push.capacity * base + at]; }
V3 contact_v3(uint base, uint c) { return v3(contact_float(base, 3u * c), contact_float(base, 3u * c + 1u), contact_float(base, 3u * c + 2u)); }
float kept_normal(uint c) { return kept[4u * c]; }
V3 kept_slide(uint c) { return v3(kept[4u * c + 1u], kept[4u * c + 2u], kept[4u * c + 3u]); }
void keep_normal(uint c, float normal) { kept[4u * c] = normal; }
void keep_slide(uint c, V3 slide)
{
  kept[4u * c + 1u] = slide.x;
  kept[4u * c + 2u] = slide.y;
  kept[4u * c + 3u] = slide.z;
}

/* Both sides of the manifold. */
XpRecord side_a;
XpRecord side_b;
bool own_a;
bool own_b;

XpPair pair_at(uint c) { return xp_pair(side_a, side_b, contact_v3(SB_AT_POINT_A, c), contact_v3(SB_AT_POINT_B, c), contact_v3(SB_AT_NORMAL, c), contact_float(SB_AT_GAP, c)); }

void take_sides(XpSides s)
{
  if (own_a) {
    side_a.b = s.a;
  }
  if (own_b) {
    side_b.b = s.b;
  }
}

void correct(XpPair t, V3 p, float inv_h) { take_sides(xp_pair_correct(t, side_a, side_b, p, v3(push.zero, push.zero, push.zero), inv_h)); }

#if PASS == 0
void contact(uint c)
{
  V3 slide = v3_scale(kept_slide(c), XP_WARM);
  float normal = kept_normal(c) * XP_WARM;
  keep_normal(c, normal);
  keep_slide(c, slide);
  if (!(normal > 0.0)) return;
  XpPair t = pair_at(c);
  correct(t, v3_add_scaled(slide, t.n, normal), push.inv_h);
}
#endif
#if PASS == 1
void press(uint c)
{
  XpPair t = pair_at(c);
  float before = kept_normal(c);
  float normal = xp_pair_press(t, side_a, side_b, before, push.h);
  if (normal == before) return;
  correct(t, v3_scale(t.n, normal - before), push.inv_h);
  keep_normal(c, normal);
}

void rub(uint c)
{
  V3 slide = kept_slide(c);
  float normal = kept_normal(c);
  if (!(normal > 0.0) && v3_len2(slide) == 0.0) return;
  XpPair t = pair_at(c);
  V3 now = xp_pair_rub(t, side_a, side_b, contact_float(SB_AT_FRICTION, 3u * c), normal, slide);
  keep_slide(c, now);
  correct(t, v3_sub(now, slide), push.inv_h);
}

/* Forth and back: step s of the palindrome is a press or a rub of one point. Written as one loop, so that a compiler writes either out once. */
void solve(uint first, uint points)
{
  uint way = 2u * points;
  uint rounds = points > 1u ? 4u : 1u; /* each way */
  for (uint s = 0u; s < way * rounds; s++) {
    uint r = s / way;
    uint k = s % way;
    if ((r & 1u) == 1u) {
      k = way - 1u - k;
    }
    if ((k & 1u) == 0u) {
      press(first + k / 2u);
    } else {
      rub(first + k / 2u);
    }
  }
}
#endif
#if PASS == 2
void contact(uint c)
{
  XpPair t = pair_at(c);
  float way = xp_push_out(t.gap, push.most);
  if (!(way > 0.0)) return;
  correct(t, xp_pair_part(t, side_a, side_b, way), push.zero);
}
#endif
#if PASS == 3
void contact(uint c)
{
  float normal = kept_normal(c);
  if (!(normal > 0.0)) return;
  XpPair t = pair_at(c);
  float torsion = contact_float(SB_AT_FRICTION, 3u * c + 1u);
  float rolling = contact_float(SB_AT_FRICTION, 3u * c + 2u);
  V3 roll = v3(push.zero, push.zero, push.zero);
  float j = xp_pair_bounce(t, side_a, side_b, normal, contact_float(SB_AT_RESTITUTION, c), push.threshold, push.h);
  keep_normal(c, f_max(normal + j * push.h, push.zero));
  if (torsion > 0.0 || rolling > 0.0) {
    roll = xp_pair_roll(t, side_a, side_b, torsion, rolling, f_max(normal * push.inv_h + j, push.zero));
  }
  take_sides(xp_pair_kick(t, side_a, side_b, v3_scale(t.n, j), roll));
}
#endif

void main()
{
  uint first = start[push.color];
  uint end = start[push.color + 1u];
  uint i = gl_GlobalInvocationID.x;
  uint count = push.serial != 0u ? end - first : 1u;
  if (push.serial != 0u ? i > 0u : first + i >= end) return;
  uint n = 0u;
  for (; n < count; n++) {
    uint place = push.serial == 0u ? first + i : push.back != 0u ? end - 1u - n : first + n;
    uvec4 who = manifolds[place];
    side_a = record_of(who.x);
    side_b = record_of(who.y);
    own_a = who.x < push.own;
    own_b = who.y < push.own;
#if PASS == 1
    solve(who.z, who.w & POINTS);
#else
    for (uint c = who.z; c < who.z + (who.w & POINTS); c++) contact(c);
#endif
    if (own_a) put_body(who.x, side_a.b);
    if (own_b) put_body(who.y, side_b.b);
  }
#if PASS == 1
  if (sb_is_cut(n, count, push.zero)) {
    side_a.b.v.x = SB_CUT_SHORT;
    side_b.b.v.x = SB_CUT_SHORT;
    uvec4 last = manifolds[first];
    if (last.x < push.own) put_body(last.x, side_a.b);
    if (last.y < push.own) put_body(last.y, side_b.b);
  }
#endif
}
