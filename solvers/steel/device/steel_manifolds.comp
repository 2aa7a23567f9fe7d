/* Manifolds in a tick, as steel_lanes.c has them, one a thread. PASS: 0 constraints from contacts and the cache, 1 warm start, 2 a pass with the spring
 * or without (relax), 3 restitution, 4 impulses to the cache, 5 the cache is cleared. */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "steel_device.glsl"
#include "samebit/device_contacts.h"

layout(std430, binding = 3) buffer Blocks { float blocks[]; };              /* constraints: field f of thread i of 32 at f * 32 + i */
layout(std430, binding = 4) readonly buffer Manifolds { uvec4 manifolds[]; }; /* by colour: records a and b, first contact, points and moves */
layout(std430, binding = 5) readonly buffer Starts { uint start[]; };       /* first manifold of each colour; then their number and that of contacts */
#if PASS == 0
layout(std430, binding = 6) readonly buffer Contacts { uint contacts[]; };  /* samebit/device_contacts.h */
layout(std430, binding = 7) readonly buffer Radii { float radius_of[]; };   /* of a round shape, else 0 */
layout(std430, binding = 8) readonly buffer Cache { float cache[]; };
layout(std430, binding = 9) readonly buffer Match { int matched[]; };
#endif
#if PASS >= 4
layout(std430, binding = 6) buffer Cache { float cache[]; };
#endif
layout(push_constant) uniform Push {
  uint color;
  uint serial; /* one after another, on one thread */
  uint capacity;
  uint nobody;
  float h;
  float inv_h;
  float omega; /* rad/s */
  float zeta;
  float max_push;
  float threshold;
  float relax; /* 1 or 0 */
  float zero;  /* a value where devices would fold a constant */
} push;

#define MOVES_A 0x01000000u /* contact_graph.h */
#define MOVES_B 0x02000000u
#define POINTS 0x00ffffffu
#define ALL 30u      /* colour that stands for all manifolds */
#define AT_ALL 25u   /* where `start` has their number, and where that of contacts */
#define AT_COUNT 26u
#define CACHE_FLOATS 7u

/* Fields of a constraint, and where its points and bounces begin. */
#define AT_N 0u
#define AT_T 3u
#define AT_MU 6u
#define AT_TWIST_ARM 7u
#define AT_ROLL_ARM 8u
#define AT_RESTITUTION 9u
#define AT_ROUND_A 10u
#define AT_ROUND_B 11u
#define AT_M_TT 12u
#define AT_M_UU 13u
#define AT_M_TU 14u
#define AT_TWIST_MASS 15u
#define AT_IT 16u
#define AT_IU 17u
#define AT_ITWIST 18u
#define AT_IROLL_T 19u
#define AT_IROLL_U 20u
#define AT_POINT 21u
#define POINT_FIELDS 11u
#define FIELDS 65u /* 21 and four points */

/* Of a point */
#define P_RA 0u
#define P_RB 3u
#define P_GAP 6u
#define P_MASS 7u
#define P_IMPULSE 8u
#define P_CARRIED 9u
#define P_APPROACH 10u

uint field_at(uint i, uint f) { return (i / 32u) * (FIELDS * 32u) + f * 32u + i % 32u; }
float get(uint i, uint f) { return blocks[field_at(i, f)]; }
void put(uint i, uint f, float x) { blocks[field_at(i, f)] = x; }
V3 get_v3(uint i, uint f) { return v3(get(i, f), get(i, f + 1u), get(i, f + 2u)); }
void put_v3(uint i, uint f, V3 v)
{
  put(i, f, v.x);
  put(i, f + 1u, v.y);
  put(i, f + 2u, v.z);
}
uint point_at(uint k) { return AT_POINT + k * POINT_FIELDS; }

StPair load_pair(uvec4 who)
{
  StPair s;
  s.a = load_velocity(who.x);
  s.b = load_velocity(who.y);
  return s;
}

void store_pair(uvec4 who, StPair s)
{
  if ((who.w & MOVES_A) != 0u) store_velocity(who.x, s.a);
  if ((who.w & MOVES_B) != 0u) store_velocity(who.y, s.b);
}

/* Where friction acts, from the centres of mass: the mean of the points. */
struct StCentre { V3 a; V3 b; };
StCentre find_centre(uint i, uint points)
{
  StCentre r;
  r.a = get_v3(i, point_at(0u) + P_RA);
  r.b = get_v3(i, point_at(0u) + P_RB);
  for (uint k = 1u; k < points; k++) {
    r.a = v3_add(r.a, get_v3(i, point_at(k) + P_RA));
    r.b = v3_add(r.b, get_v3(i, point_at(k) + P_RB));
  }
  float share = f_div(1.0, float(points));
  r.a = v3_scale(r.a, share);
  r.b = v3_scale(r.b, share);
  return r;
}

V3 turning_impulse(uint i, V3 n, V3 t, V3 u)
{
  return v3_add_scaled(v3_add_scaled(v3_scale(n, get(i, AT_ITWIST)), t, get(i, AT_IROLL_T)), u, get(i, AT_IROLL_U));
}

#if PASS == 0
float contact_float(uint base, uint at) { return uintBitsToFloat(contacts[push.capacity * base + at]); }
V3 contact_v3(uint base, uint c) { return v3(contact_float(base, 3u * c), contact_float(base, 3u * c + 1u), contact_float(base, 3u * c + 2u)); }

float cached(uint contact, uint k)
{
  int old = matched[contact];
  return old < 0 ? push.zero : cache[CACHE_FLOATS * uint(old) + k];
}

V3 contact_arm(uint record, V3 point, V3 shift)
{
  V3 local = v3_sub(point, frame_com(record));
  return v3_sel(record != push.nobody, v3_add(m33_mul_v3(q4_to_m33(frame_turn(record)), local), shift), v3_zero());
}

void prepare(uint i, uvec4 who)
{
  uint c = who.z;
  uint points = who.w & POINTS;
  StMass a = load_mass(who.x);
  StMass b = load_mass(who.y);
  V3 n = contact_v3(SB_AT_NORMAL, c);
  V3 t = v3_orthogonal(n);
  V3 u = v3_cross(n, t);
  float mu = contact_float(SB_AT_FRICTION, 3u * c);
  float restitution = contact_float(SB_AT_RESTITUTION, c);
  V3 friction = v3(cached(c, 1u), cached(c, 2u), cached(c, 3u));
  V3 turning = v3(cached(c, 4u), cached(c, 5u), cached(c, 6u));
  put_v3(i, AT_N, n);
  put_v3(i, AT_T, t);
  put(i, AT_MU, mu);
  put(i, AT_ROLL_ARM, contact_float(SB_AT_FRICTION, 3u * c + 2u));
  put(i, AT_RESTITUTION, restitution);
  put(i, AT_ROUND_A, radius_of[contacts[push.capacity * SB_AT_SHAPE_A + c]]);
  put(i, AT_ROUND_B, radius_of[contacts[push.capacity * SB_AT_SHAPE_B + c]]);
  put(i, AT_IT, v3_dot(friction, t));
  put(i, AT_IU, v3_dot(friction, u));
  put(i, AT_ITWIST, v3_dot(turning, n));
  put(i, AT_IROLL_T, v3_dot(turning, t));
  put(i, AT_IROLL_U, v3_dot(turning, u));
  StPair velocity = load_pair(who);
  for (uint k = 0u; k < points; k++) {
    uint at = point_at(k);
    float gap = contact_float(SB_AT_GAP, c + k);
    V3 shift = v3_scale(n, st_overlap(gap) * 0.5);
    V3 ra = contact_arm(who.x, contact_v3(SB_AT_POINT_A, c + k), shift);
    V3 rb = contact_arm(who.y, contact_v3(SB_AT_POINT_B, c + k), v3_neg(shift));
    put_v3(i, at + P_RA, ra);
    put_v3(i, at + P_RB, rb);
    put(i, at + P_GAP, gap);
    put(i, at + P_MASS, st_invert(st_response(a, b, ra, rb, n)));
    put(i, at + P_IMPULSE, cached(c + k, 0u));
    put(i, at + P_CARRIED, push.zero);
    put(i, at + P_APPROACH, v3_dot(n, st_relative(velocity, ra, rb)));
  }
  StCentre centre = find_centre(i, points);
  float arm = push.zero;
  for (uint k = 0u; k < points; k++)
    arm = (arm + v3_len(v3_sub(get_v3(i, point_at(k) + P_RB), centre.b))) + v3_len(v3_sub(get_v3(i, point_at(k) + P_RA), centre.a));
  float both = f_max(float((who.w >> 24u & 1u) + (who.w >> 25u & 1u)), 1.0);
  put(i, AT_TWIST_ARM, f_div(arm * f_div(1.0, float(points)), both) * mu + contact_float(SB_AT_FRICTION, 3u * c + 1u));
  float tt = st_response(a, b, centre.a, centre.b, t);
  float uu = st_response(a, b, centre.a, centre.b, u);
  float tu = st_response_cross(a, b, centre.a, centre.b, t, u);
  float inv_det = st_invert(tt * uu - tu * tu);
  put(i, AT_M_TT, uu * inv_det);
  put(i, AT_M_UU, tt * inv_det);
  put(i, AT_M_TU, -(tu * inv_det));
  put(i, AT_TWIST_MASS, st_invert(v3_dot(n, s33_mul_v3(s33_add(a.inv_inertia, b.inv_inertia), n))));
}
#endif

#if PASS == 1
void warm_start(uint i, uvec4 who)
{
  uint points = who.w & POINTS;
  StMass a = load_mass(who.x);
  StMass b = load_mass(who.y);
  V3 n = get_v3(i, AT_N);
  V3 t = get_v3(i, AT_T);
  V3 u = v3_cross(n, t);
  StPair s = load_pair(who);
  for (uint k = 0u; k < points; k++) {
    uint at = point_at(k);
    s = st_push(s, a, b, get_v3(i, at + P_RA), get_v3(i, at + P_RB), v3_scale(n, get(i, at + P_IMPULSE)));
  }
  StCentre centre = find_centre(i, points);
  s = st_push(s, a, b, centre.a, centre.b, v3_add_scaled(v3_scale(t, get(i, AT_IT)), u, get(i, AT_IU)));
  s = st_twist(s, a, b, turning_impulse(i, n, t, u));
  store_pair(who, s);
}
#endif

#if PASS == 2
StPair solve_friction(uint i, StPair s, StMass a, StMass b, V3 n, V3 t, StCentre centre, float total)
{
  V3 u = v3_cross(n, t);
  StFriction f = st_solve_friction(s, a, b, centre.a, centre.b, t, u, get(i, AT_M_TT), get(i, AT_M_UU), get(i, AT_M_TU), get(i, AT_IT), get(i, AT_IU),
                                   get(i, AT_MU) * total);
  put(i, AT_IT, f.t);
  put(i, AT_IU, f.u);
  StTwist w = st_solve_twist(f.s, a, b, n, get(i, AT_TWIST_MASS), get(i, AT_ITWIST), get(i, AT_TWIST_ARM) * total);
  put(i, AT_ITWIST, w.impulse);
  float roll = get(i, AT_ROLL_ARM);
  if (!(roll > 0.0)) return w.s;
  StRolling r = st_solve_rolling(w.s, a, b, t, u, get(i, AT_IROLL_T), get(i, AT_IROLL_U), roll * total);
  put(i, AT_IROLL_T, r.t);
  put(i, AT_IROLL_U, r.u);
  return r.s;
}

void solve(uint i, uvec4 who)
{
  uint points = who.w & POINTS;
  StMass a = load_mass(who.x);
  StMass b = load_mass(who.y);
  V3 n = get_v3(i, AT_N);
  V3 t = get_v3(i, AT_T);
  StClosing closing = st_closing(load_movement(who.x), load_movement(who.y), n);
  float total = get(i, point_at(0u) + P_IMPULSE);
  float sum = push.zero;
  for (uint k = 1u; k < points; k++) total = total + get(i, point_at(k) + P_IMPULSE);
  StPair s = solve_friction(i, load_pair(who), a, b, n, t, find_centre(i, points), total);
  bool both = a.inv_mass > 0.0 && b.inv_mass > 0.0;
  StSoft soft = st_soft(f_sel(both, push.omega, push.omega * 2.0), push.zeta, push.h);
  StPoints along = st_points(s, n);
  bool bounces = get(i, AT_RESTITUTION) > 0.0;
  for (uint k = 0u; k < points; k++) {
    uint at = point_at(k);
    V3 ra = get_v3(i, at + P_RA);
    V3 rb = get_v3(i, at + P_RB);
    float first = get(i, at + P_GAP);
    float impulse = get(i, at + P_IMPULSE);
    float shift = st_overlap(first) * 0.5;
    float gap = st_gap(closing, ra, rb, first, shift + get(i, AT_ROUND_A), shift + get(i, AT_ROUND_B));
    StNormal r = st_solve_normal(along, a, b, v3_cross(ra, n), v3_cross(rb, n), get(i, at + P_MASS), impulse, gap, soft, push.inv_h, push.max_push,
                                 push.relax > 0.5);
    sum = sum + (r.impulse - impulse);
    along = r.s;
    put(i, at + P_IMPULSE, r.impulse);
    if (bounces) put(i, at + P_CARRIED, f_max(get(i, at + P_CARRIED), r.impulse));
  }
  store_pair(who, st_points_done(s, along, a, b, n, sum));
}
#endif

#if PASS == 3
void restitute(uint i, uvec4 who)
{
  uint points = who.w & POINTS;
  float e = get(i, AT_RESTITUTION);
  if (!(e > 0.0)) return;
  StMass a = load_mass(who.x);
  StMass b = load_mass(who.y);
  V3 n = get_v3(i, AT_N);
  StPair s = load_pair(who);
  for (uint k = 0u; k < points; k++) {
    uint at = point_at(k);
    StBounce r = st_restitute(s, a, b, get_v3(i, at + P_RA), get_v3(i, at + P_RB), n, get(i, at + P_MASS), get(i, at + P_IMPULSE), get(i, at + P_APPROACH),
                              get(i, at + P_CARRIED), e, push.threshold);
    s = r.s;
    put(i, at + P_IMPULSE, r.impulse);
  }
  store_pair(who, s);
}
#endif

#if PASS == 4
void keep(uint i, uvec4 who)
{
  uint points = who.w & POINTS;
  uint c = CACHE_FLOATS * who.z;
  V3 n = get_v3(i, AT_N);
  V3 t = get_v3(i, AT_T);
  V3 u = v3_cross(n, t);
  V3 friction = v3_add_scaled(v3_scale(t, get(i, AT_IT)), u, get(i, AT_IU));
  V3 turning = turning_impulse(i, n, t, u);
  cache[c + 1u] = friction.x;
  cache[c + 2u] = friction.y;
  cache[c + 3u] = friction.z;
  cache[c + 4u] = turning.x;
  cache[c + 5u] = turning.y;
  cache[c + 6u] = turning.z;
  for (uint k = 0u; k < points; k++) cache[c + CACHE_FLOATS * k] = get(i, point_at(k) + P_IMPULSE);
}
#endif

#if PASS < 4
void cut_short(uvec4 who)
{
  StPair s = load_pair(who);
  s.a.v.x = SB_CUT_SHORT;
  s.b.v.x = SB_CUT_SHORT;
  store_pair(who, s);
}
#endif

void visit(uint i)
{
  uvec4 who = manifolds[i];
#if PASS == 0
  prepare(i, who);
#elif PASS == 1
  warm_start(i, who);
#elif PASS == 2
  solve(i, who);
#elif PASS == 3
  restitute(i, who);
#elif PASS == 4
  keep(i, who);
#endif
}

void main()
{
#if PASS == 5
  uint i = gl_GlobalInvocationID.x;
  if (i < start[AT_COUNT] * CACHE_FLOATS) cache[i] = 0.0;
#else
  uint begin = push.color == ALL ? 0u : start[push.color];
  uint end = push.color == ALL ? start[AT_ALL] : start[push.color + 1u];
  if (push.serial != 0u) {
    if (gl_GlobalInvocationID.x != 0u) return;
    uint i = begin;
    for (; i < end; i++) visit(i);
#if PASS < 4
    if (sb_is_cut(i, end, push.zero)) cut_short(manifolds[i]);
#endif
  } else {
    uint i = begin + gl_GlobalInvocationID.x;
    if (i < end) visit(i);
  }
#endif
}
