/* Rigid bodies in maximal coordinates, in the kernel dialect: joints as stiff attachments, and the symplectic step of a body.
 *
 * Attachments are springs and dampers whose stiffness is a matrix: force = -M (omega^2 e + 2 zeta omega v), with M the inverse
 * of the sum of both bodies' responses at the point of attachment, each body shared among all that acts on it (mass
 * splitting: Tonge, Benevolenski and Voroshilov, SIGGRAPH 2012). With omega dt <= 1/2 the explicit step is stable. */
#ifndef SAMEBIT_SEMI_IMPLICIT_KERNEL_H
#define SAMEBIT_SEMI_IMPLICIT_KERNEL_H

#ifndef SB_GLSL
#include "samebit/joint_law.h"
#include "samebit/penalty_contact.h"
#include "samebit/rigid_spin.h"
#endif

/* A body as forces see it: pose of its frame, centre of mass (m, world), velocities, and response to force and torque, both
 * times its share. A static body or the world has no response. */
STRUCT(SiBody) { X7 pose; V3 com; V3 v; V3 w; F inv_mass; S33 inv_inertia; };
/* Force (N) and torque about the centre of mass (N m), world axes. */
STRUCT(SiWrench) { V3 f; V3 t; };
STRUCT(SiPair) { SiWrench a; SiWrench b; };

FN SiBody si_body(X7 pose, V3 com, V3 v, V3 w, F inv_mass, S33 inv_inertia, F share)
{
  SiBody r;
  S33 i = s33_rotate(q4_to_m33(pose.q), inv_inertia);
  r.pose = pose;
  r.com = x7_point(pose, com);
  r.v = v;
  r.w = w;
  r.inv_mass = inv_mass * share;
  r.inv_inertia = s33(i.xx * share, i.yy * share, i.zz * share, i.xy * share, i.xz * share, i.yz * share);
  return r;
}

FN V3 si_velocity_at(SiBody b, V3 x) { return v3_add(b.v, v3_cross(b.w, v3_sub(x, b.com))); }

/* Velocity change at x per unit impulse at x: 1/m - [r] inverse inertia [r], a symmetric matrix. */
FN S33 si_response(SiBody b, V3 x)
{
  V3 r = v3_sub(x, b.com);
  S33 i = b.inv_inertia;
  /* Rows of [r] are (0, -z, y), (z, 0, -x), (-y, x, 0); the products with 0 are left out, t_k = i row_k. */
  V3 t0 = v3(i.xz * r.y - i.xy * r.z, i.yz * r.y - i.yy * r.z, i.zz * r.y - i.yz * r.z);
  V3 t1 = v3(i.xx * r.z - i.xz * r.x, i.xy * r.z - i.yz * r.x, i.xz * r.z - i.zz * r.x);
  V3 t2 = v3(i.xy * r.x - i.xx * r.y, i.yy * r.x - i.xy * r.y, i.yz * r.x - i.xz * r.y);
  return s33((t0.z * r.y - t0.y * r.z) + b.inv_mass, (t1.x * r.z - t1.z * r.x) + b.inv_mass,
             (t2.y * r.x - t2.x * r.y) + b.inv_mass, t1.z * r.y - t1.y * r.z, t2.z * r.y - t2.y * r.z,
             t2.x * r.z - t2.z * r.x);
}

/* Force f and torque t on body b at x, and the opposite on body a. */
FN SiPair si_act(SiBody a, SiBody b, V3 x, V3 f, V3 t)
{
  SiPair r;
  r.b.f = f;
  r.b.t = v3_add(t, v3_cross(v3_sub(x, b.com), f));
  r.a.f = v3_neg(f);
  r.a.t = v3_neg(v3_add(t, v3_cross(v3_sub(x, a.com), f)));
  return r;
}

/* Force f alone: si_act without a torque. */
FN SiPair si_push(SiBody a, SiBody b, V3 x, V3 f)
{
  SiPair r;
  r.b.f = f;
  r.b.t = v3_cross(v3_sub(x, b.com), f);
  r.a.f = v3_neg(f);
  r.a.t = v3_neg(v3_cross(v3_sub(x, a.com), f));
  return r;
}

/* -M (omega^2 e + 2 zeta omega v), M the inverse of response. */
FN V3 si_attach(S33 response, V3 e, V3 v, F omega, F zeta)
{
  V3 wanted = v3_add_scaled(v3_scale(e, omega * omega), v, (omega * zeta) * 2.0f);
  return v3_neg(s33_mul_v3(s33_inverse(response), wanted));
}

/* Forces of a contact; it acts midway between the two surfaces' points xa and xb (m, world). */
FN SiPair si_contact(SiBody a, SiBody b, V3 xa, V3 xb, V3 n, F mu, F omega, F zeta, F dt)
{
  V3 relative = v3_sub(si_velocity_at(b, xb), si_velocity_at(a, xa));
  F gap = v3_dot(n, v3_sub(xb, xa));
  F rate = v3_dot(n, relative);
  V3 slide = v3_add_scaled(relative, n, -rate);
  F inv_mass = rigid_inv_mass(a.inv_mass, a.inv_inertia, v3_sub(xa, a.com), n) +
               rigid_inv_mass(b.inv_mass, b.inv_inertia, v3_sub(xb, b.com), n);
  PenaltyContact p = penalty_contact(gap, rate, v3_len(slide), inv_mass, mu, omega, zeta, dt, K(0.5f), K(1.0f));
  V3 force = v3_add_scaled(v3_scale(n, p.normal), slide, -p.drag);
  return si_push(a, b, v3_scale(v3_add(xa, xb), K(0.5f)), force);
}

/* State of a body between substeps. */
STRUCT(SiMotion) { X7 pose; V3 v; V3 w; };

/* Symplectic Euler of the centre of mass; rotation by rigid_spin(). com: body frame; linear: acceleration, m/s^2; torque: N m. */
FN SiMotion si_integrate(SiMotion m, V3 com, S33 inertia, S33 inv_inertia, V3 linear, V3 torque, F dt)
{
  SiMotion r;
  V3 centre = x7_point(m.pose, com);
  r.v = v3_add_scaled(m.v, linear, dt);
  RigidSpin spin = rigid_spin(m.pose.q, m.w, inertia, inv_inertia, torque, dt);
  r.pose.q = spin.q;
  r.w = spin.w;
  r.pose.p = v3_sub(v3_add_scaled(centre, r.v, dt), q4_rotate(r.pose.q, com));
  return r;
}

/* Velocity components (m/s, rad/s) below this become 0. */
#define SI_SNAP 1.0e-20f

#endif
