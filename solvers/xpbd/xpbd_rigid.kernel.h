/* Rigid bodies over a substep and contacts between two of them, in the kernel dialect; scalar text. What of a contact is not here is in xpbd_body.kernel.h. */
#ifndef SAMEBIT_XPBD_RIGID_KERNEL_H
#define SAMEBIT_XPBD_RIGID_KERNEL_H

#ifndef SB_GLSL
#include "xpbd_touch.kernel.h"
#endif

/* A contact begins a substep with this share of the multiplier that it had in the last one. */
#define XP_WARM 0.95f

/* ---- a body ---- */

/* Where a body's frame (m) and orientation are when the tick begins. */
FN XpRecord xp_begin(XpRecord before, V3 p, Q4 q)
{
  XpRecord r = before;
  r.turn = q;
  r.base = v3_add(p, q4_rotate(q, r.com));
  r.b.x = v3_zero();
  r.b.q = q4_identity();
  return r;
}

FN Q4 xp_facing_of(XpRecord r) { return q4_mul(r.b.q, r.turn); }

/* A substep without constraints. inertia and its inverse: kg m^2, body axes; answer: to a force, 1/kg, world axes; pull: m/s^2; torque: N m. */
FN XpRecord xp_predict_body(XpRecord before, S33 inertia, S33 inverse, S33 answer, V3 pull, V3 torque, F h)
{
  XpRecord r = before;
  r.x0 = r.b.x;
  r.q0 = r.b.q;
  r.v0 = r.b.v;
  r.w0 = r.b.w;
  Q4 facing = xp_facing_of(r);
  XpBody b = xp_move(r.b, facing, inertia, inverse, pull, torque, h);
  r.b.x = b.x;
  r.b.q = b.q;
  r.b.v = b.v;
  r.b.w = b.w;
  r.b.m = answer;
  r.b.i = s33_rotate(q4_to_m33(facing), inverse);
  r.vp = b.v;
  r.wp = b.w;
  return r;
}

/* The pose of the body's frame at the tick's end, and what is stored of a velocity. */
FN X7 xp_pose(XpRecord r)
{
  Q4 q = q4_normalize(xp_facing_of(r));
  return x7(v3_sub(v3_add(r.base, r.b.x), q4_rotate(q, r.com)), q);
}

FN V3 xp_snap(V3 v) { return v3(f_snap(v.x, K(1.0e-20f)), f_snap(v.y, K(1.0e-20f)), f_snap(v.z, K(1.0e-20f))); }

/* ---- a contact between two ---- */

/* From the centres of mass to the points when the tick began; the gap (m) now and when the substep began; from the centres to the middle between the points. */
STRUCT(XpPair) { V3 n; V3 arm_a; V3 arm_b; F gap; F gap0; V3 la; V3 lb; };

FN V3 xp_moved(XpRecord r, V3 arm) { return v3_add(r.b.x, xp_swing(r.b.q, arm)); }
FN V3 xp_moved_before(XpRecord r, V3 arm) { return v3_add(r.x0, xp_swing(r.q0, arm)); }

/* Points: in the bodies' frames; normal: from a to b, world axes; gap: m, when the tick began. */
FN XpPair xp_pair(XpRecord a, XpRecord b, V3 point_a, V3 point_b, V3 normal, F gap)
{
  XpPair t;
  t.n = normal;
  t.arm_a = q4_rotate(a.turn, v3_sub(point_a, a.com));
  t.arm_b = q4_rotate(b.turn, v3_sub(point_b, b.com));
  V3 swing_a = xp_swing(a.b.q, t.arm_a);
  V3 swing_b = xp_swing(b.b.q, t.arm_b);
  t.gap = gap + v3_dot(t.n, v3_sub(v3_add(b.b.x, swing_b), v3_add(a.b.x, swing_a)));
  t.gap0 = gap + v3_dot(t.n, v3_sub(xp_moved_before(b, t.arm_b), xp_moved_before(a, t.arm_a)));
  t.la = v3_add_scaled(v3_add(t.arm_a, swing_a), t.n, t.gap * 0.5f);
  t.lb = v3_add_scaled(v3_add(t.arm_b, swing_b), t.n, t.gap * -0.5f);
  return t;
}

FN S33 xp_pair_response(XpPair t, XpRecord a, XpRecord b) { return s33_add(xp_response(a.b, t.la), xp_response(b.b, t.lb)); }

/* The multiplier along the normal, which was `normal`. */
FN F xp_pair_press(XpPair t, XpRecord a, XpRecord b, F normal, F h)
{
  return xp_press(t.gap - xp_least_gap(t.gap0, h), t.n, xp_pair_response(t, a, b), normal);
}

/* The multiplier across it, which was `slide`: against how far the point of b has moved against that of a since the substep began. */
FN V3 xp_pair_rub(XpPair t, XpRecord a, XpRecord b, F mu, F normal, V3 slide)
{
  V3 gone_b = v3_sub(xp_moved(b, t.arm_b), xp_moved_before(b, t.arm_b));
  V3 gone_a = v3_sub(xp_moved(a, t.arm_a), xp_moved_before(a, t.arm_a));
  return xp_rub(v3_sub(gone_b, gone_a), t.n, xp_pair_response(t, a, b), mu, normal, slide);
}

/* The correction that pushes an overlap out by `way` (m). */
FN V3 xp_pair_part(XpPair t, XpRecord a, XpRecord b, F way)
{
  return v3_scale(t.n, f_div(way, f_max(v3_dot(t.n, s33_mul_v3(xp_pair_response(t, a, b), t.n)), K(1.0e-20f))));
}

/* The impulse (N s) along the normal at the substep's end. */
FN F xp_pair_bounce(XpPair t, XpRecord a, XpRecord b, F normal, F restitution, F threshold, F h)
{
  V3 now = v3_sub(xp_velocity_at(b.b, t.lb), xp_velocity_at(a.b, t.la));
  V3 before = v3_sub(xp_speed(t.lb, b.v0, b.w0), xp_speed(t.la, a.v0, a.w0));
  V3 ahead = v3_sub(xp_speed(t.lb, b.vp, b.wp), xp_speed(t.la, a.vp, a.wp));
  F answer = v3_dot(t.n, s33_mul_v3(xp_pair_response(t, a, b), t.n));
  return xp_bounce(normal, v3_dot(t.n, now), v3_dot(t.n, before), v3_dot(t.n, ahead), t.gap0, answer, restitution, threshold, h);
}

/* The angular impulse of torsional and rolling friction (m) under the impulse j. */
FN V3 xp_pair_roll(XpPair t, XpRecord a, XpRecord b, F torsion, F rolling, F j)
{
  return xp_roll(v3_sub(b.b.w, a.b.w), t.n, s33_add(a.b.i, b.b.i), torsion, rolling, j);
}

/* Both sides after a correction p, or an impulse p with the angular one l, on b; a gets the opposite. */
STRUCT(XpSides) { XpBody a; XpBody b; };

FN XpSides xp_pair_correct(XpPair t, XpRecord a, XpRecord b, V3 p, V3 none, F inv_h)
{
  XpSides o;
  o.a = xp_correct(a.b, t.la, v3_neg(p), none, inv_h);
  o.b = xp_correct(b.b, t.lb, p, none, inv_h);
  return o;
}

FN XpSides xp_pair_kick(XpPair t, XpRecord a, XpRecord b, V3 p, V3 l)
{
  XpSides o;
  o.a = xp_kick(a.b, t.la, v3_neg(p), v3_neg(l));
  o.b = xp_kick(b.b, t.lb, p, l);
  return o;
}

#endif
