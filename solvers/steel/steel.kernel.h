/* Hard contact between rigid bodies in the kernel dialect: sequential impulses on velocities, softened over substeps.
 *
 * Soft step (Catto, "Solver2D", 2024): a contact is a critically overdamped spring of given frequency, solved implicitly as a
 * scaled impulse; after each substep's motion a second pass without the spring ("relax") takes out the velocity that the
 * spring has put in. Friction acts once per manifold, at its centre, as a circular cone, with a twist about the normal.
 *
 * Between substeps a body carries its velocities and its movement since the start of the tick. */
#ifndef SAMEBIT_STEEL_KERNEL_H
#define SAMEBIT_STEEL_KERNEL_H

#ifndef SB_GLSL
#include "samebit/maths.h"
#endif

/* v (m/s), w (rad/s): velocities. */
STRUCT(StVelocity) { V3 v; V3 w; };
/* dp (m), dq: movement of the centre of mass and turn since the start of the tick. */
STRUCT(StMovement) { V3 dp; Q4 dq; };
/* Response to impulses: 1/kg, and the inverse inertia in world axes. Zero for what does not move. */
STRUCT(StMass) { F inv_mass; S33 inv_inertia; };
/* Both bodies of a manifold. */
STRUCT(StPair) { StVelocity a; StVelocity b; };

/* Spring of a contact: push rate (1/s), and the scales of an implicit spring's impulse. */
STRUCT(StSoft) { F rate; F mass_scale; F impulse_scale; };

/* frequency: omega (rad/s); h: substep (s). a1 = 2 zeta + h omega, a2 = h omega a1, a3 = 1 / (1 + a2). */
FN StSoft st_soft(F omega, F zeta, F h)
{
  StSoft r;
  F a1 = zeta * 2.0f + h * omega;
  F a2 = (h * omega) * a1;
  F a3 = f_div(K(1.0f), a2 + 1.0f);
  r.rate = f_div(omega, a1);
  r.mass_scale = a2 * a3;
  r.impulse_scale = a3;
  return r;
}

/* Velocity change at ra and rb along n per unit impulse: the inverse of an effective mass. */
FN F st_response(StMass a, StMass b, V3 ra, V3 rb, V3 n)
{
  V3 ta = v3_cross(ra, n);
  V3 tb = v3_cross(rb, n);
  return ((a.inv_mass + b.inv_mass) + v3_dot(ta, s33_mul_v3(a.inv_inertia, ta))) + v3_dot(tb, s33_mul_v3(b.inv_inertia, tb));
}

/* The same between two directions, without the linear share (they are at right angles). */
FN F st_response_cross(StMass a, StMass b, V3 ra, V3 rb, V3 t, V3 u)
{
  return v3_dot(v3_cross(ra, u), s33_mul_v3(a.inv_inertia, v3_cross(ra, t))) +
         v3_dot(v3_cross(rb, u), s33_mul_v3(b.inv_inertia, v3_cross(rb, t)));
}

/* 1 / x, or 0 where x is not above 1e-12 (nothing moves). */
FN F st_invert(F x)
{
  M some = x > 1.0e-12f;
  return f_sel(some, f_div(K(1.0f), f_sel(some, x, K(1.0f))), K(0.0f));
}

/* Impulse p (N s) on b at rb, the opposite on a at ra. */
FN StPair st_push(StPair s, StMass a, StMass b, V3 ra, V3 rb, V3 p)
{
  StPair r;
  r.a.v = v3_add_scaled(s.a.v, p, -a.inv_mass);
  r.a.w = v3_sub(s.a.w, s33_mul_v3(a.inv_inertia, v3_cross(ra, p)));
  r.b.v = v3_add_scaled(s.b.v, p, b.inv_mass);
  r.b.w = v3_add(s.b.w, s33_mul_v3(b.inv_inertia, v3_cross(rb, p)));
  return r;
}

/* Angular impulse p (N m s) on b, the opposite on a. */
FN StPair st_twist(StPair s, StMass a, StMass b, V3 p)
{
  StPair r = s;
  r.a.w = v3_sub(s.a.w, s33_mul_v3(a.inv_inertia, p));
  r.b.w = v3_add(s.b.w, s33_mul_v3(b.inv_inertia, p));
  return r;
}

/* Velocity of b's point against a's. */
FN V3 st_relative(StPair s, V3 ra, V3 rb)
{
  return v3_sub(v3_add(s.b.v, v3_cross(s.b.w, rb)), v3_add(s.a.v, v3_cross(s.a.w, ra)));
}

/* The direction n as the turning body saw it at the start of the tick, less n itself: dq^-1 n dq - n, without cancellation. */
FN V3 st_turned_back(Q4 dq, V3 n)
{
  V3 u = v3(-dq.x, -dq.y, -dq.z);
  V3 t = v3_cross(u, n);
  t = v3_add(t, t);
  return v3_add(v3_scale(t, dq.w), v3_cross(u, t));
}

/* How both bodies have moved since the start of the tick, as a gap along n sees it. back: what the turning does to n itself. */
STRUCT(StClosing) { F along; V3 turn_a; V3 turn_b; F back_a; F back_b; };

FN StClosing st_closing(StMovement a, StMovement b, V3 n)
{
  StClosing r;
  r.along = v3_dot(n, v3_sub(b.dp, a.dp));
  r.turn_a = st_turned_back(a.dq, n);
  r.turn_b = st_turned_back(b.dq, n);
  r.back_a = v3_dot(r.turn_a, n);
  r.back_b = v3_dot(r.turn_b, n);
  return r;
}

/* A gap where it is an overlap, else 0. */
FN F st_overlap(F gap) { return f_min(gap, K(0.0f)); }

/* Gap (m) of a point now: the gap at the start and how the points that turn with the bodies have moved along n since. These are not where the
 * impulse acts, ra and rb, but inside of it by depth_a and depth_b (m): half an overlap (below 0), and the radius of a round
 * surface, which does not turn away. */
FN F st_gap(StClosing c, V3 ra, V3 rb, F gap, F depth_a, F depth_b)
{
  F turned_a = v3_dot(c.turn_a, ra) - c.back_a * depth_a;
  F turned_b = v3_dot(c.turn_b, rb) + c.back_b * depth_b;
  return (gap + c.along) + (turned_b - turned_a);
}

/* Impulse of one point along the normal, from its velocity vn (b's less a's). mass: effective mass; impulse: accumulated (N s, not below 0);
 * with a gap the point may close it within the substep; below 0 the spring pushes at soft.rate, at most max_push (m/s). relax: 1 leaves
 * the spring out. */
FN F st_normal_impulse(F vn, F mass, F impulse, F gap, StSoft soft, F inv_h, F max_push, M relax)
{
  M open = gap > 0.0f;
  M spring = m_and(m_not(open), m_not(relax));
  F bias = f_sel(open, gap * inv_h, f_sel(spring, f_max(gap * soft.rate, -max_push), K(0.0f)));
  F mass_scale = f_sel(spring, soft.mass_scale, K(1.0f));
  F impulse_scale = f_sel(spring, soft.impulse_scale, K(0.0f));
  F wanted = -((mass * mass_scale) * (vn + bias)) - impulse_scale * impulse;
  return f_max(impulse + wanted, K(0.0f));
}

/* Two impulses at right angles, together within limit: a circular cone. */
STRUCT(StCone) { F t; F u; };

FN StCone st_cone(F jt, F ju, F limit)
{
  StCone r;
  F size2 = jt * jt + ju * ju;
  M slides = size2 > limit * limit;
  F scale = f_sel(slides, f_div(limit, f_sqrt(f_sel(slides, size2, K(1.0f)))), K(1.0f));
  r.t = jt * scale;
  r.u = ju * scale;
  return r;
}

/* The same from velocities vt and vu, the inverse of their 2 x 2 response and the accumulated impulses. */
FN StCone st_cone_impulse(F vt, F vu, F m_tt, F m_uu, F m_tu, F it, F iu, F limit)
{
  return st_cone(it - (m_tt * vt + m_tu * vu), iu - (m_tu * vt + m_uu * vu), limit);
}

/* Velocities of a manifold while its points are solved one after another. They share n, so the linear velocities are one
 * number: along = n . (v_b - v_a). */
STRUCT(StPoints) { F along; V3 wa; V3 wb; };

FN StPoints st_points(StPair s, V3 n)
{
  StPoints r;
  r.along = v3_dot(n, v3_sub(s.b.v, s.a.v));
  r.wa = s.a.w;
  r.wb = s.b.w;
  return r;
}

STRUCT(StNormal) { StPoints s; F impulse; };

/* The same with both bodies' response. ca, cb: the point's arms from the centres of mass times n (vector products). */
FN StNormal st_solve_normal(StPoints s, StMass a, StMass b, V3 ca, V3 cb, F mass, F impulse, F gap, StSoft soft, F inv_h,
                            F max_push, M relax)
{
  StNormal r;
  F vn = s.along + (v3_dot(cb, s.wb) - v3_dot(ca, s.wa));
  r.impulse = st_normal_impulse(vn, mass, impulse, gap, soft, inv_h, max_push, relax);
  F change = r.impulse - impulse;
  r.s.along = s.along + (a.inv_mass + b.inv_mass) * change;
  r.s.wa = v3_add_scaled(s.wa, s33_mul_v3(a.inv_inertia, ca), -change);
  r.s.wb = v3_add_scaled(s.wb, s33_mul_v3(b.inv_inertia, cb), change);
  return r;
}

/* The bodies after all points: push is the sum of their changes (N s). */
FN StPair st_points_done(StPair s, StPoints p, StMass a, StMass b, V3 n, F push)
{
  StPair r;
  r.a.v = v3_add_scaled(s.a.v, n, -(a.inv_mass * push));
  r.a.w = p.wa;
  r.b.v = v3_add_scaled(s.b.v, n, b.inv_mass * push);
  r.b.w = p.wb;
  return r;
}

/* Friction of a manifold: tangents t and u, inverse of the 2 x 2 response (m_tt, m_uu, m_tu), accumulated impulses. limit: mu
 * times the sum of the normal impulses (N s). */
STRUCT(StFriction) { StPair s; F t; F u; };

FN StFriction st_solve_friction(StPair s, StMass a, StMass b, V3 ra, V3 rb, V3 t, V3 u, F m_tt, F m_uu, F m_tu, F it, F iu, F limit)
{
  StFriction r;
  V3 relative = st_relative(s, ra, rb);
  StCone within = st_cone_impulse(v3_dot(t, relative), v3_dot(u, relative), m_tt, m_uu, m_tu, it, iu, limit);
  r.t = within.t;
  r.u = within.u;
  r.s = st_push(s, a, b, ra, rb, v3_add_scaled(v3_scale(t, r.t - it), u, r.u - iu));
  return r;
}

STRUCT(StTwist) { StPair s; F impulse; };

/* Friction against spinning about n. mass: 1 / (n . (Ia^-1 + Ib^-1) n); limit: N m s. */
FN StTwist st_solve_twist(StPair s, StMass a, StMass b, V3 n, F mass, F impulse, F limit)
{
  StTwist r;
  F wn = v3_dot(n, v3_sub(s.b.w, s.a.w));
  r.impulse = f_clamp(impulse - mass * wn, -limit, limit);
  r.s = st_twist(s, a, b, v3_scale(n, r.impulse - impulse));
  return r;
}

STRUCT(StRolling) { StPair s; F t; F u; };

/* Friction against rolling: an angular impulse across n, within a circular cone. Where limit (N m s) is not above 0 no bit changes, so
 * that it does not matter who shares a vector. */
FN StRolling st_solve_rolling(StPair s, StMass a, StMass b, V3 t, V3 u, F it, F iu, F limit)
{
  StRolling r;
  S33 k = s33_add(a.inv_inertia, b.inv_inertia);
  V3 kt = s33_mul_v3(k, t);
  V3 ku = s33_mul_v3(k, u);
  F tt = v3_dot(t, kt);
  F uu = v3_dot(u, ku);
  F tu = v3_dot(t, ku);
  F inv_det = st_invert(tt * uu - tu * tu);
  V3 relative = v3_sub(s.b.w, s.a.w);
  F wt = v3_dot(t, relative);
  F wu = v3_dot(u, relative);
  StCone within = st_cone(it - (uu * wt - tu * wu) * inv_det, iu - (tt * wu - tu * wt) * inv_det, limit);
  M some = limit > 0.0f;
  r.t = f_sel(some, within.t, K(0.0f));
  r.u = f_sel(some, within.u, K(0.0f));
  StPair turned = st_twist(s, a, b, v3_add_scaled(v3_scale(t, r.t - it), u, r.u - iu));
  M any = m_or(some, m_not(m_and(r.t == it, r.u == iu)));
  r.s = s;
  r.s.a.w = v3_sel(any, turned.a.w, s.a.w);
  r.s.b.w = v3_sel(any, turned.b.w, s.b.w);
  return r;
}

STRUCT(StBounce) { StPair s; F impulse; };

/* Restitution of one point after the substeps: approach velocity before them, and what the point carried at most. */
FN StBounce st_restitute(StPair s, StMass a, StMass b, V3 ra, V3 rb, V3 n, F mass, F impulse, F approach, F carried, F e, F threshold)
{
  StBounce r;
  F vn = v3_dot(n, st_relative(s, ra, rb));
  M bounce = m_and(m_and(-approach > threshold, carried > 0.0f), e > 0.0f);
  F wanted = f_max(impulse - mass * (vn + e * approach), K(0.0f));
  r.impulse = f_sel(bounce, wanted, impulse);
  StPair pushed = st_push(s, a, b, ra, rb, v3_scale(n, r.impulse - impulse));
  /* without a bounce no bit changes, so that it does not matter who shares a vector */
  r.s.a.v = v3_sel(bounce, pushed.a.v, s.a.v);
  r.s.a.w = v3_sel(bounce, pushed.a.w, s.a.w);
  r.s.b.v = v3_sel(bounce, pushed.b.v, s.b.v);
  r.s.b.w = v3_sel(bounce, pushed.b.w, s.b.w);
  return r;
}

/* Warm starting by body. Within a tick the points' arms do not change, so what all accumulated impulses together do to a body is one change of
 * velocity: warm. It grows by what the passes over contacts have changed since the mark that the last push left.
 * Each substep then starts by applying it once a body instead of once a contact. */
STRUCT(StWarm) { StVelocity now; StVelocity warm; StVelocity mark; };

/* kick: change of velocity by forces and gravity within a substep. */
FN StWarm st_push_body(StVelocity s, StVelocity warm, StVelocity mark, StVelocity kick)
{
  StWarm r;
  r.warm.v = v3_add(warm.v, v3_sub(s.v, mark.v));
  r.warm.w = v3_add(warm.w, v3_sub(s.w, mark.w));
  r.now.v = v3_add(v3_add(s.v, kick.v), r.warm.v);
  r.now.w = v3_add(v3_add(s.w, kick.w), r.warm.w);
  r.mark = r.now;
  return r;
}

/* Square of the speed (m/s) at which the body's mass alone would have its kinetic energy. inertia: body axes; turn: its orientation. */
FN F st_speed2(StVelocity s, Q4 turn, S33 inertia, F inv_mass)
{
  V3 w = q4_rotate_inv(turn, s.w);
  return v3_len2(s.v) + v3_dot(w, s33_mul_v3(inertia, w)) * inv_mass;
}

/* Velocity components (m/s, rad/s) below this become 0. */
#define ST_SNAP 1.0e-20f

#endif
