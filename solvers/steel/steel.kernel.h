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

/* Gap (m) of a point now: the gap at the start and how the points have moved along n since. */
FN F st_gap(StMovement a, StMovement b, V3 ra, V3 rb, V3 n, F gap)
{
  V3 pa = v3_add(a.dp, v3_sub(q4_rotate(a.dq, ra), ra));
  V3 pb = v3_add(b.dp, v3_sub(q4_rotate(b.dq, rb), rb));
  return gap + v3_dot(n, v3_sub(pb, pa));
}

STRUCT(StNormal) { StPair s; F impulse; };

/* One point along the normal. mass: effective mass; impulse: accumulated (N s, not below 0); with a gap the point may close
 * it within the substep; below 0 the spring pushes at soft.rate, at most max_push (m/s). relax: 1 leaves the spring out. */
FN StNormal st_solve_normal(StPair s, StMass a, StMass b, V3 ra, V3 rb, V3 n, F mass, F impulse, F gap, StSoft soft, F inv_h,
                            F max_push, M relax)
{
  StNormal r;
  F vn = v3_dot(n, st_relative(s, ra, rb));
  M open = gap > 0.0f;
  M spring = m_and(m_not(open), m_not(relax));
  F bias = f_sel(open, gap * inv_h, f_sel(spring, f_max(gap * soft.rate, -max_push), K(0.0f)));
  F mass_scale = f_sel(spring, soft.mass_scale, K(1.0f));
  F impulse_scale = f_sel(spring, soft.impulse_scale, K(0.0f));
  F wanted = -((mass * mass_scale) * (vn + bias)) - impulse_scale * impulse;
  r.impulse = f_max(impulse + wanted, K(0.0f));
  r.s = st_push(s, a, b, ra, rb, v3_scale(n, r.impulse - impulse));
  return r;
}

/* Friction of a manifold: tangents t and u, inverse of the 2 x 2 response (m_tt, m_uu, m_tu), accumulated impulses. limit: mu
 * times the sum of the normal impulses (N s). */
STRUCT(StFriction) { StPair s; F t; F u; };

FN StFriction st_solve_friction(StPair s, StMass a, StMass b, V3 ra, V3 rb, V3 t, V3 u, F m_tt, F m_uu, F m_tu, F it, F iu, F limit)
{
  StFriction r;
  V3 relative = st_relative(s, ra, rb);
  F vt = v3_dot(t, relative);
  F vu = v3_dot(u, relative);
  F jt = it - (m_tt * vt + m_tu * vu);
  F ju = iu - (m_tu * vt + m_uu * vu);
  F size2 = jt * jt + ju * ju;
  M slides = size2 > limit * limit;
  F scale = f_sel(slides, f_div(limit, f_sqrt(f_sel(slides, size2, K(1.0f)))), K(1.0f));
  r.t = jt * scale;
  r.u = ju * scale;
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

/* Restitution of one point after the substeps: approach velocity before them, and what the point carried at most. */
FN StNormal st_restitute(StPair s, StMass a, StMass b, V3 ra, V3 rb, V3 n, F mass, F impulse, F approach, F carried, F e, F threshold)
{
  StNormal r;
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

/* Velocity components (m/s, rad/s) below this become 0. */
#define ST_SNAP 1.0e-20f

#endif
