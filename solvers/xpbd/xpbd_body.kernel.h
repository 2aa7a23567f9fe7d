/* Rigid bodies in the kernel dialect: impulses at positions, contact, bounces, joint dofs.
 *
 * Mueller, Macklin, Chentanez, Jeschke and Kim, "Detailed rigid body simulation with extended position based dynamics", SCA 2020. A correction p (kg m,
 * force times h^2) moves and turns a body at once and changes its velocities by p / h, so velocities never come from
 * differences of positions, and pairs of corrections at one point make no momentum. Inertia, and the levers of joints, are
 * those of the pose when the substep began (as in SHAKE): a position corrected along the gradient of its predicted place would lose (2/3) h w^2 of the speed w. */
#ifndef SAMEBIT_XPBD_BODY_KERNEL_H
#define SAMEBIT_XPBD_BODY_KERNEL_H

#ifndef SB_GLSL
#include "samebit/joint_law.h"
#include "samebit/maths.h"
#include "samebit/rigid_spin.h"
#endif

/* Movement of the centre of mass and turn since the tick began, velocities; answer to force and torque in world axes (1/kg, 1/(kg m^2)), 0 for what does not move. */
STRUCT(XpBody) { V3 x; Q4 q; V3 v; V3 w; S33 m; S33 i; };

/* Movement of the point at r (m, world axes) from the centre of mass per unit correction there: M - [r] I [r]. */
FN S33 xp_response(XpBody b, V3 r)
{
  S33 i = b.i;
  V3 t0 = v3(i.xz * r.y - i.xy * r.z, i.yz * r.y - i.yy * r.z, i.zz * r.y - i.yz * r.z);
  V3 t1 = v3(i.xx * r.z - i.xz * r.x, i.xy * r.z - i.yz * r.x, i.xz * r.z - i.zz * r.x);
  V3 t2 = v3(i.xy * r.x - i.xx * r.y, i.yy * r.x - i.xy * r.y, i.yz * r.x - i.xz * r.y);
  return s33((t0.z * r.y - t0.y * r.z) + b.m.xx, (t1.x * r.z - t1.z * r.x) + b.m.yy, (t2.y * r.x - t2.x * r.y) + b.m.zz,
             (t1.z * r.y - t1.y * r.z) + b.m.xy, (t2.z * r.y - t2.y * r.z) + b.m.xz, (t2.x * r.z - t2.z * r.x) + b.m.yz);
}

/* The same where the point's error counts turns too: e = dx - A dturn, A by columns. A correction p then comes with the turn -A' p. */
FN S33 xp_response_arms(XpBody b, V3 r, V3 a0, V3 a1, V3 a2)
{
  /* columns of [r] - A' */
  V3 l0 = v3(-a0.x, r.z - a1.x, -r.y - a2.x);
  V3 l1 = v3(-r.z - a0.y, -a1.y, r.x - a2.y);
  V3 l2 = v3(r.y - a0.z, -r.x - a1.z, -a2.z);
  V3 t0 = s33_mul_v3(b.i, l0);
  V3 t1 = s33_mul_v3(b.i, l1);
  V3 t2 = s33_mul_v3(b.i, l2);
  return s33(v3_dot(l0, t0) + b.m.xx, v3_dot(l1, t1) + b.m.yy, v3_dot(l2, t2) + b.m.zz, v3_dot(l0, t1) + b.m.xy, v3_dot(l0, t2) + b.m.xz,
             v3_dot(l1, t2) + b.m.yz);
}

FN V3 xp_velocity_at(XpBody b, V3 r) { return v3_add(b.v, v3_cross(b.w, r)); }

/* Correction p at r from the centre of mass and turn t (kg m^2 rad): position and velocity. inv_h: 1/s. */
FN XpBody xp_correct(XpBody b, V3 r, V3 p, V3 t, F inv_h)
{
  XpBody o = b;
  V3 dx = s33_mul_v3(b.m, p);
  V3 turn = s33_mul_v3(b.i, v3_add(v3_cross(r, p), t));
  o.x = v3_add(b.x, dx);
  o.q = q4_integrate(b.q, turn, K(1.0f));
  o.v = v3_add_scaled(b.v, dx, inv_h);
  o.w = v3_add_scaled(b.w, turn, inv_h);
  return o;
}

/* Impulse j (N s) at r from the centre of mass and angular impulse l (N m s): velocity alone. */
FN XpBody xp_kick(XpBody b, V3 r, V3 j, V3 l)
{
  XpBody o = b;
  o.v = v3_add(b.v, s33_mul_v3(b.m, j));
  o.w = v3_add(b.w, s33_mul_v3(b.i, v3_add(v3_cross(r, j), l)));
  return o;
}

/* ---- contact ---- */

/* Multipliers along the normal and across it, and the correction p on the second side; the first gets -p. */
STRUCT(XpTouch) { F normal; V3 slide; V3 p; };

/* Overlap that velocities may take out, m/s: what the last substeps have left, which must come back or stacks would sink for ever. The rest is pushed out apart from
 * them, or deep overlap would fly apart. */
#define XP_SETTLE_SPEED 0.02f

/* The gap that a contact may end the substep with: 0, or what of an overlap at its beginning is not for velocities. */
FN F xp_least_gap(F gap0, F h) { return f_min(gap0 + h * XP_SETTLE_SPEED, K(0.0f)); }

/* How far an overlap is pushed out in a substep (m): half of it, and no more than `way`. */
FN F xp_push_out(F gap, F way) { return f_min(f_max(-gap, K(0.0f)) * 0.5f, way); }

/* The multiplier along the normal after the gap is closed, or opened again where earlier corrections went too far. */
FN F xp_press(F gap, V3 n, S33 r, F normal)
{
  return f_max(normal - f_div(gap, f_max(v3_dot(n, s33_mul_v3(r, n)), K(1.0e-20f))), K(0.0f));
}

/* The multiplier across the normal n: takes back d, how far the second side's point has moved against the first's since the substep began, but carries at most mu
 * times `normal` (Coulomb). r: sum of both sides' answers; slide: the multiplier so far. */
FN V3 xp_rub(V3 d, V3 n, S33 r, F mu, F normal, V3 slide)
{
  V3 left = v3_add_scaled(d, n, -v3_dot(n, d));
  F far2 = v3_len2(left);
  M slides = far2 > 1.0e-24f;
  F answer = f_div(v3_dot(left, s33_mul_v3(r, left)), f_sel(slides, far2, K(1.0f)));
  V3 want = v3_add_scaled(slide, left, f_sel(slides, -f_div(K(1.0f), f_max(answer, K(1.0e-20f))), K(0.0f)));
  F limit = mu * normal;
  F size2 = v3_len2(want);
  M over = size2 > limit * limit;
  F scale = f_div(limit, f_sqrt(f_sel(over, size2, K(1.0f))));
  return v3_sel(over, v3_scale(want, scale), want);
}

/* Both at once. gap: m. */
FN XpTouch xp_touch(F gap, V3 d, V3 n, S33 r, F mu, F normal, V3 slide)
{
  XpTouch o;
  o.normal = xp_press(gap, n, r, normal);
  F dn = o.normal - normal;
  o.slide = xp_rub(v3_add_scaled(d, s33_mul_v3(r, n), dn), n, r, mu, o.normal, slide);
  o.p = v3_add(v3_scale(n, dn), v3_sub(o.slide, slide));
  return o;
}

/* Impulse (N s) along the normal at the end of a substep in which `normal` was the contact's multiplier. vn, before, ahead: rate of the gap now, when the
 * substep began and as predicted; gap0: gap when it began; w: answer along the normal.
 * The gap's rate becomes e times the speed of impact, v^2 = before^2 + 2 a gap0 in steps of h, plus the half step of acceleration a that
 * the next step takes away; 0 when the approach is below the threshold. The contact never pulls: the impulse of the substep stays above 0. */
FN F xp_bounce(F normal, F vn, F before, F ahead, F gap0, F w, F e, F threshold, F h)
{
  F inv_h = f_div(K(1.0f), h);
  F pull = f_max(before - ahead, K(0.0f));
  F fall = f_max(-before, K(0.0f));
  F impact2 = fall * (fall + pull) + ((pull * inv_h) * f_max(gap0, K(0.0f))) * 2.0f;
  F impact = f_sqrt(impact2);
  F target = f_sel(m_and(e > 0.0f, impact > threshold), e * impact + pull * 0.5f, K(0.0f));
  F has = normal * inv_h;
  F want = f_max(has + f_div(target - vn, f_max(w, K(1.0e-20f))), K(0.0f));
  return f_sel(normal > 0.0f, want - has, K(0.0f));
}

/* Angular impulse against turning w (rad/s) about n and rolling across it, at most `torsion` and `rolling` (m) times the impulse j. */
FN V3 xp_roll(V3 w, V3 n, S33 answer, F torsion, F rolling, F j)
{
  F wn = v3_dot(w, n);
  F kn = f_max(v3_dot(n, s33_mul_v3(answer, n)), K(1.0e-20f));
  F top = torsion * j;
  F twist = f_clamp(-f_div(wn, kn), -top, top);
  V3 across = v3_add_scaled(w, n, -wn);
  F size2 = v3_len2(across);
  M turns = size2 > 1.0e-20f;
  F size = f_sqrt(f_sel(turns, size2, K(1.0f)));
  V3 axis = v3_scale(across, f_div(K(1.0f), size));
  F ka = f_max(v3_dot(axis, s33_mul_v3(answer, axis)), K(1.0e-20f));
  F drag = f_min(f_div(size, ka), rolling * j);
  return v3_add_scaled(v3_scale(n, twist), axis, f_sel(turns, -drag, K(0.0f)));
}

/* ---- joint dofs ---- */

/* Multipliers of motor and drive, of spring and damper, of dry friction; and the correction along the dof. */
STRUCT(XpDof) { F drive; F spring; F friction; F p; };

/* The laws of samebit/joint_law.h as constraints: q (m or rad) when the substep began, dq its change so far, w what the dof answers to a correction. before: multipliers
 * of this substep so far; applied: 1 when the motor has acted in it already, else 0. Limits are hard and do not bounce. top: velocity limit. */
FN XpDof xp_dof(DofLaw k, F q, F dq, F motor, F target_q, F target_qd, F top, F w, F h, F applied, XpDof before)
{
  XpDof r;
  F h2 = h * h;
  F answer = f_max(w, K(1.0e-20f));
  F change = dq;
  /* motor and drive; before.drive is the drive's share alone */
  F ke = f_min(k.ke * h2, K(1.0e30f));
  F kd = k.kd * h;
  F push = motor * h2;
  F top_push = f_min(k.effort * h2, K(1.0e30f));
  F want = before.drive - f_div((ke * ((q + change) - target_q) + kd * (change - h * target_qd)) + before.drive, (ke + kd) * answer + 1.0f);
  F total = f_clamp(want + push, -top_push, top_push);
  r.drive = total - push;
  F dp = total - (before.drive + push * applied);
  change = change + answer * dp;
  r.p = dp;
  /* spring and damper */
  ke = f_min(k.stiffness * h2, K(1.0e30f));
  kd = k.damping * h;
  dp = -f_div((ke * ((q + change) - k.spring_ref) + kd * change) + before.spring, (ke + kd) * answer + 1.0f);
  r.spring = before.spring + dp;
  change = change + answer * dp;
  r.p = r.p + dp;
  /* dry friction */
  top_push = f_min(k.friction * h2, K(1.0e30f));
  r.friction = f_clamp(before.friction - f_div(change, answer), -top_push, top_push);
  dp = r.friction - before.friction;
  change = change + answer * dp;
  r.p = r.p + dp;
  /* velocity limit, then limits */
  F most = f_min(top * h, K(1.0e30f));
  F kept = f_clamp(change, -most, most);
  F ahead = q + kept;
  kept = f_sel(ahead < k.lower, k.lower - q, f_sel(ahead > k.upper, k.upper - q, kept));
  F stops = kept - change;
  r.p = r.p + f_sel(f_abs(stops) > 0.0f, f_div(stops, answer), K(0.0f));
  return r;
}

/* ---- motion ---- */

/* Movement and velocity after a substep without constraints. facing: orientation; linear: m/s^2; torque: N m. */
FN XpBody xp_move(XpBody b, Q4 facing, S33 inertia, S33 inv_inertia, V3 linear, V3 torque, F h)
{
  XpBody r = b;
  r.v = v3_add_scaled(b.v, linear, h);
  r.x = v3_add_scaled(b.x, r.v, h);
  RigidSpin spin = rigid_spin(facing, b.w, inertia, inv_inertia, torque, h);
  r.q = q4_integrate(b.q, spin.mean, h);
  r.w = spin.w;
  return r;
}

#endif
