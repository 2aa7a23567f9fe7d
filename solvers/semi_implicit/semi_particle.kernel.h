/* Forces between particles in the kernel dialect: springs, triangles and the air on them, bending edges, tetrahedra, attachments,
 * contact. The laws are those of samebit/model.h, taken explicitly at the start of a substep. */
#ifndef SAMEBIT_SEMI_PARTICLE_KERNEL_H
#define SAMEBIT_SEMI_PARTICLE_KERNEL_H

#ifndef SB_GLSL
#include "samebit/near_pair.h"
#include "semi_implicit.kernel.h"
#endif

/* ---- springs ---- */

/* Force (N) on the first of two particles; d and u: its position and velocity less the second's. */
FN V3 si_spring(V3 d, V3 u, F rest, F stiffness, F damping)
{
  F len2 = v3_len2(d);
  M ok = len2 > 1.0e-24f;
  F len = f_sqrt(f_sel(ok, len2, K(1.0f)));
  V3 n = v3_scale(d, f_div(K(1.0f), len));
  F force = stiffness * (len - rest) + damping * v3_dot(n, u);
  return v3_scale(n, f_sel(ok, -force, K(0.0f)));
}

/* ---- triangles ---- */

/* Forces (N) on three particles. */
STRUCT(SiTri) { V3 f0; V3 f1; V3 f2; };
/* tri_pose row by row: how the stretch weighs vertex 1 (ax, ay) and vertex 2 (bx, by). */
STRUCT(SiTriRest) { F ax; F ay; F bx; F by; F area; };

FN SiTri si_tri(V3 x0, V3 x1, V3 x2, V3 v0, V3 v1, V3 v2, SiTriRest rest, F ke, F ka, F kd)
{
  V3 e1 = v3_sub(x1, x0);
  V3 e2 = v3_sub(x2, x0);
  V3 f1 = v3_add_scaled(v3_scale(e1, rest.ax), e2, rest.bx);
  V3 f2 = v3_add_scaled(v3_scale(e1, rest.ay), e2, rest.by);
  V3 u1 = v3_sub(v1, v0);
  V3 u2 = v3_sub(v2, v0);
  V3 g1 = v3_add_scaled(v3_scale(u1, rest.ax), u2, rest.bx);
  V3 g2 = v3_add_scaled(v3_scale(u1, rest.ay), u2, rest.by);
  F e11 = (v3_dot(f1, f1) - 1.0f) * 0.5f;
  F e22 = (v3_dot(f2, f2) - 1.0f) * 0.5f;
  F e12 = v3_dot(f1, f2) * 0.5f;
  F shear = (ke * 2.0f) * e12 + kd * ((v3_dot(f1, g2) + v3_dot(f2, g1)) * 0.5f);
  F press = ka * (e11 + e22);
  F s11 = ((ke * 2.0f) * e11 + press) + kd * v3_dot(f1, g1);
  F s22 = ((ke * 2.0f) * e22 + press) + kd * v3_dot(f2, g2);
  V3 p1 = v3_scale(v3_add_scaled(v3_scale(f1, s11), f2, shear), -rest.area);
  V3 p2 = v3_scale(v3_add_scaled(v3_scale(f1, shear), f2, s22), -rest.area);
  SiTri r;
  r.f1 = v3_add_scaled(v3_scale(p1, rest.ax), p2, rest.ay);
  r.f2 = v3_add_scaled(v3_scale(p1, rest.bx), p2, rest.by);
  r.f0 = v3_neg(v3_add(r.f1, r.f2));
  return r;
}

/* Force of the air on each corner of a triangle of area `area` that moves with v: a third of -area (drag v_t + lift v_n). */
FN V3 si_air(V3 x0, V3 x1, V3 x2, V3 v, F area, F drag, F lift)
{
  V3 n = v3_normalize_or(v3_cross(v3_sub(x1, x0), v3_sub(x2, x0)), v3(K(0.0f), K(0.0f), K(1.0f)));
  F across = v3_dot(v, n);
  V3 side = v3_add_scaled(v, n, -across);
  return v3_scale(v3_add_scaled(v3_scale(n, lift * across), side, drag), area * -0.33333334f);
}

/* ---- four particles ---- */

STRUCT(SiQuad) { V3 f0; V3 f1; V3 f2; V3 f3; };

/* Angle between the normals of triangles (2, 3, 0) and (3, 2, 1) and its gradient (Bridson, Marino and Fedkiw, SCA 2003). Flat or
 * folded triangles without area have no force. */
FN SiQuad si_edge(V3 x0, V3 x1, V3 x2, V3 x3, V3 v0, V3 v1, V3 v2, V3 v3_, F rest, F ke, F kd)
{
  V3 e = v3_sub(x3, x2);
  V3 a = v3_sub(x0, x2);
  V3 b = v3_sub(x1, x2);
  V3 n1 = v3_cross(e, a);
  V3 n2 = v3_cross(b, e);
  F e2 = v3_len2(e);
  F q1 = v3_len2(n1);
  F q2 = v3_len2(n2);
  M ok = m_and(e2 > 1.0e-16f, m_and(q1 > 1.0e-24f, q2 > 1.0e-24f));
  e2 = f_sel(ok, e2, K(1.0f));
  q1 = f_sel(ok, q1, K(1.0f));
  q2 = f_sel(ok, q2, K(1.0f));
  F len = f_sqrt(e2);
  F angle = f_atan2(f_div(v3_dot(v3_cross(n1, n2), e), len), v3_dot(n1, n2));
  F c = angle - rest;
  c = f_sel(c > 3.1415927f, c - 6.2831855f, f_sel(c < -3.1415927f, c + 6.2831855f, c));
  V3 g0 = v3_scale(n1, -f_div(len, q1));
  V3 g1 = v3_scale(n2, -f_div(len, q2));
  F t0 = f_div(v3_dot(a, e), e2);
  F t1 = f_div(v3_dot(b, e), e2);
  V3 g2 = v3_neg(v3_add_scaled(v3_scale(g0, 1.0f - t0), g1, 1.0f - t1));
  V3 g3 = v3_neg(v3_add_scaled(v3_scale(g0, t0), g1, t1));
  F rate = (v3_dot(g0, v0) + v3_dot(g1, v1)) + (v3_dot(g2, v2) + v3_dot(g3, v3_));
  F moment = f_sel(ok, -(ke * c + kd * rate), K(0.0f));
  SiQuad r;
  r.f0 = v3_scale(g0, moment);
  r.f1 = v3_scale(g1, moment);
  r.f2 = v3_scale(g2, moment);
  r.f3 = v3_scale(g3, moment);
  return r;
}

/* Columns of e1 b1' + e2 b2' + e3 b3', b the rows of tet_pose; returned as rows. */
FN M33 si_tet_columns(V3 e1, V3 e2, V3 e3, M33 b)
{
  return m33(v3_add_scaled(v3_add_scaled(v3_scale(e1, b.r0.x), e2, b.r1.x), e3, b.r2.x),
             v3_add_scaled(v3_add_scaled(v3_scale(e1, b.r0.y), e2, b.r1.y), e3, b.r2.y),
             v3_add_scaled(v3_add_scaled(v3_scale(e1, b.r0.z), e2, b.r1.z), e3, b.r2.z));
}

/* Stable neo-Hookean (Smith, de Goes and Kim, ACM TOG 2018): P = mu F + ((lambda + mu) (J - 1) - mu) cof F + k_damp F E', E' the rate of the Green strain. */
FN SiQuad si_tet(V3 x0, V3 x1, V3 x2, V3 x3, V3 v0, V3 v1, V3 v2, V3 v3_, M33 b, F volume, F k_mu, F k_lambda, F k_damp)
{
  M33 f = si_tet_columns(v3_sub(x1, x0), v3_sub(x2, x0), v3_sub(x3, x0), b);
  M33 g = si_tet_columns(v3_sub(v1, v0), v3_sub(v2, v0), v3_sub(v3_, v0), b);
  V3 c0 = v3_cross(f.r1, f.r2);
  V3 c1 = v3_cross(f.r2, f.r0);
  V3 c2 = v3_cross(f.r0, f.r1);
  F press = (k_lambda + k_mu) * (v3_dot(f.r0, c0) - 1.0f) - k_mu;
  F xx = k_damp * v3_dot(f.r0, g.r0);
  F yy = k_damp * v3_dot(f.r1, g.r1);
  F zz = k_damp * v3_dot(f.r2, g.r2);
  F k_half = k_damp * 0.5f;
  F xy = k_half * (v3_dot(f.r0, g.r1) + v3_dot(f.r1, g.r0));
  F xz = k_half * (v3_dot(f.r0, g.r2) + v3_dot(f.r2, g.r0));
  F yz = k_half * (v3_dot(f.r1, g.r2) + v3_dot(f.r2, g.r1));
  /* columns of P, as rows */
  M33 p = m33(v3_add_scaled(v3_add_scaled(v3_add_scaled(v3_scale(f.r0, k_mu + xx), c0, press), f.r1, xy), f.r2, xz),
              v3_add_scaled(v3_add_scaled(v3_add_scaled(v3_scale(f.r1, k_mu + yy), c1, press), f.r0, xy), f.r2, yz),
              v3_add_scaled(v3_add_scaled(v3_add_scaled(v3_scale(f.r2, k_mu + zz), c2, press), f.r0, xz), f.r1, yz));
  SiQuad r;
  r.f1 = v3_scale(v3_mul_m33(b.r0, p), -volume);
  r.f2 = v3_scale(v3_mul_m33(b.r1, p), -volume);
  r.f3 = v3_scale(v3_mul_m33(b.r2, p), -volume);
  r.f0 = v3_neg(v3_add(v3_add(r.f1, r.f2), r.f3));
  return r;
}

/* ---- bodies ---- */

/* Force on a particle (N), and the opposite on its body: force and torque about the centre of mass, world axes. */
STRUCT(SiPress) { V3 f; SiWrench body; };

FN SiPress si_press(SiBody body, V3 at, V3 force)
{
  SiPress r;
  r.f = force;
  r.body.f = v3_neg(force);
  r.body.t = v3_neg(v3_cross(v3_sub(at, body.com), force));
  return r;
}

/* A particle at x held at the point `at` (m, world) of a body. */
FN SiPress si_hold(SiBody body, V3 at, V3 x, V3 v, F stiffness, F damping)
{
  V3 d = v3_sub(x, at);
  V3 u = v3_sub(v, si_velocity_at(body, at));
  return si_press(body, at, v3_neg(v3_add_scaled(v3_scale(d, stiffness), u, damping)));
}

/* A particle of this radius and inverse mass (1/kg, times its share) against a body's surface at the point `at` with normal n. */
FN SiPress si_touch(SiBody body, V3 at, V3 n, V3 x, V3 v, F radius, F inv_mass, F mu, F omega, F zeta, F dt)
{
  F gap = v3_dot(n, v3_sub(x, at)) - radius;
  V3 u = v3_sub(v, si_velocity_at(body, at));
  F rate = v3_dot(n, u);
  V3 slide = v3_add_scaled(u, n, -rate);
  F all = inv_mass + rigid_inv_mass(body.inv_mass, body.inv_inertia, v3_sub(at, body.com), n);
  PenaltyContact p = penalty_contact(gap, rate, v3_len(slide), all, mu, omega, zeta, dt, K(0.5f), K(1.0f));
  return si_press(body, at, v3_add_scaled(v3_scale(n, p.normal), slide, -p.drag));
}

/* Two near features: force f, which particle k gets times its weight a_k. v: sum of a_k v_k; inv_mass: sum of a_k^2 w_k, each w times its
 * particle's share. */
FN V3 si_apart(NearPair near, V3 v, F inv_mass, F thickness, F mu, F omega, F zeta, F dt)
{
  F rate = v3_dot(near.n, v);
  V3 slide = v3_add_scaled(v, near.n, -rate);
  PenaltyContact p = penalty_contact(near.distance - thickness, rate, v3_len(slide), inv_mass, mu, omega, zeta, dt, K(0.5f), K(1.0f));
  M can = v3_len2(near.n) > 0.5f;
  V3 f = v3_add_scaled(v3_scale(near.n, p.normal), slide, -p.drag);
  return v3_sel(can, f, v3_zero());
}

/* ---- motion ---- */

STRUCT(SiMove) { V3 x; V3 v; };

/* Symplectic Euler; what is pinned (inv_mass 0) stays. */
FN SiMove si_move(V3 x, V3 v, F inv_mass, V3 force, V3 gravity, F dt)
{
  SiMove r;
  V3 next = v3_add_scaled(v, v3_add_scaled(gravity, force, inv_mass), dt);
  next = v3(f_snap(next.x, K(SI_SNAP)), f_snap(next.y, K(SI_SNAP)), f_snap(next.z, K(SI_SNAP)));
  r.v = v3_sel(inv_mass > 0.0f, next, v3_zero());
  r.x = v3_add_scaled(x, r.v, dt);
  return r;
}

#endif
