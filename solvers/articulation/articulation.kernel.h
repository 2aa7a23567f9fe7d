/* The articulated-body algorithm in the kernel dialect (Featherstone, Rigid Body Dynamics Algorithms, 2008, chapter 7).
 *
 * Formulation: world axes; each link has a reference point P on its joint axis; accelerations are classical, so
 *   alpha_i = alpha_p + c_alpha (+ axis qdd),   A_i = A_p + alpha_p x r + c_A (+ axis qdd),   r = P_i - P_p.
 * An articulated inertia maps (alpha, A) at P to (torque about P, force):
 *   torque = j alpha + h A + n,   force = transpose(h) alpha + m A + f.
 * With world axes and classical accelerations, moving an inertia between links is a pure shift by r. */
#ifndef SAMEBIT_ARTICULATION_KERNEL_H
#define SAMEBIT_ARTICULATION_KERNEL_H

/* Motion of a link: orientation, reference point (m), angular velocity (rad/s), velocity of the reference point (m/s). */
STRUCT(AbMotion) { Q4 q; V3 p; V3 w; V3 v; };
/* Velocity-product acceleration and the offset of the reference point from the parent's. */
STRUCT(AbJoint) { V3 axis; V3 r; V3 c_alpha; V3 c_a; };
STRUCT(AbStep) { AbMotion motion; AbJoint joint; };
STRUCT(AbInertia) { S33 j; M33 h; S33 m; V3 n; V3 f; };
STRUCT(AbAccel) { V3 alpha; V3 a; };
/* Torque about P and force. */
STRUCT(AbBias) { V3 n; V3 f; };

/* Constants of a single-axis link, in its parent link's frame. At displacement x (rad or m)
 *   orientation = parent * (rest cos(x/2) + rest_axis sin(x/2)),   rest_axis = rest * (axis, 0)   for an angular dof. */
STRUCT(AbAxis) { Q4 rest; Q4 rest_axis; V3 axis; V3 offset; };

FN AbInertia ab_inertia_zero(void)
{
  AbInertia r;
  r.j = s33(K(0.0f), K(0.0f), K(0.0f), K(0.0f), K(0.0f), K(0.0f));
  r.h = m33(v3_zero(), v3_zero(), v3_zero());
  r.m = r.j;
  r.n = v3_zero();
  r.f = v3_zero();
  return r;
}

FN AbInertia ab_inertia_add(AbInertia a, AbInertia b)
{
  AbInertia r;
  r.j = s33_add(a.j, b.j);
  r.h = m33(v3_add(a.h.r0, b.h.r0), v3_add(a.h.r1, b.h.r1), v3_add(a.h.r2, b.h.r2));
  r.m = s33_add(a.m, b.m);
  r.n = v3_add(a.n, b.n);
  r.f = v3_add(a.f, b.f);
  return r;
}

FN S33 s33_sel(M m, S33 a, S33 b)
{
  return s33(f_sel(m, a.xx, b.xx), f_sel(m, a.yy, b.yy), f_sel(m, a.zz, b.zz), f_sel(m, a.xy, b.xy),
             f_sel(m, a.xz, b.xz), f_sel(m, a.yz, b.yz));
}

FN AbInertia ab_inertia_sel(M m, AbInertia a, AbInertia b)
{
  AbInertia r;
  r.j = s33_sel(m, a.j, b.j);
  r.h = m33(v3_sel(m, a.h.r0, b.h.r0), v3_sel(m, a.h.r1, b.h.r1), v3_sel(m, a.h.r2, b.h.r2));
  r.m = s33_sel(m, a.m, b.m);
  r.n = v3_sel(m, a.n, b.n);
  r.f = v3_sel(m, a.f, b.f);
  return r;
}

/* torque = j alpha + h a;  force = transpose(h) alpha + m a  (bias left out) */
FN AbAccel ab_inertia_apply(AbInertia i, AbAccel x)
{
  AbAccel r;
  r.alpha = v3_add(s33_mul_v3(i.j, x.alpha), m33_mul_v3(i.h, x.a));
  r.a = v3_add(m33_tmul_v3(i.h, x.alpha), s33_mul_v3(i.m, x.a));
  return r;
}

/* The same inertia and bias about a point at -r: h' = h + [r] m, j' = j - h [r] + [r] transpose(h'), n' = n + r x f. */
FN AbInertia ab_inertia_shift(AbInertia i, V3 r)
{
  AbInertia o;
  V3 m0 = v3(i.m.xx, i.m.xy, i.m.xz);
  V3 m1 = v3(i.m.xy, i.m.yy, i.m.yz);
  V3 m2 = v3(i.m.xz, i.m.yz, i.m.zz);
  V3 g0 = v3_add(i.h.r0, v3_sub(v3_scale(m2, r.y), v3_scale(m1, r.z)));
  V3 g1 = v3_add(i.h.r1, v3_sub(v3_scale(m0, r.z), v3_scale(m2, r.x)));
  V3 g2 = v3_add(i.h.r2, v3_sub(v3_scale(m1, r.x), v3_scale(m0, r.y)));
  V3 a0 = v3_cross(i.h.r0, r);
  V3 a1 = v3_cross(i.h.r1, r);
  V3 a2 = v3_cross(i.h.r2, r);
  V3 b0 = v3_cross(g0, r);
  V3 b1 = v3_cross(g1, r);
  V3 b2 = v3_cross(g2, r);
  o.j = s33((i.j.xx - a0.x) - b0.x, (i.j.yy - a1.y) - b1.y, (i.j.zz - a2.z) - b2.z, (i.j.xy - a0.y) - b1.x,
            (i.j.xz - a0.z) - b2.x, (i.j.yz - a1.z) - b2.y);
  o.h = m33(g0, g1, g2);
  o.m = i.m;
  o.n = v3_add(i.n, v3_cross(r, i.f));
  o.f = i.f;
  return o;
}

/* Motion across an angular axis, from the parent's motion and the dof's displacement x (rad) and rate (rad/s). */
FN AbStep ab_step_angular(AbMotion parent, M33 parent_axes, AbAxis k, F x, F rate)
{
  AbStep s;
  SinCos t = f_sincos(x * 0.5f);
  Q4 turn = q4(k.rest.x * t.c + k.rest_axis.x * t.s, k.rest.y * t.c + k.rest_axis.y * t.s,
               k.rest.z * t.c + k.rest_axis.z * t.s, k.rest.w * t.c + k.rest_axis.w * t.s);
  V3 axis = m33_mul_v3(parent_axes, k.axis);
  V3 r = m33_mul_v3(parent_axes, k.offset);
  V3 spin = v3_scale(axis, rate);
  V3 wr = v3_cross(parent.w, r);
  s.motion.q = q4_mul(parent.q, turn);
  s.motion.p = v3_add(parent.p, r);
  s.motion.w = v3_add(parent.w, spin);
  s.motion.v = v3_add(parent.v, wr);
  s.joint.axis = axis;
  s.joint.r = r;
  s.joint.c_alpha = v3_cross(parent.w, spin);
  s.joint.c_a = v3_cross(parent.w, wr);
  return s;
}

/* Motion across a linear axis, displacement x (m) and rate (m/s). */
FN AbStep ab_step_linear(AbMotion parent, M33 parent_axes, AbAxis k, F x, F rate)
{
  AbStep s;
  V3 axis = m33_mul_v3(parent_axes, k.axis);
  V3 r = v3_add_scaled(m33_mul_v3(parent_axes, k.offset), axis, x);
  V3 slide = v3_scale(axis, rate);
  V3 wr = v3_cross(parent.w, r);
  V3 coriolis = v3_cross(parent.w, slide);
  s.motion.q = q4_mul(parent.q, k.rest);
  s.motion.p = v3_add(parent.p, r);
  s.motion.w = parent.w;
  s.motion.v = v3_add(v3_add(parent.v, wr), slide);
  s.joint.axis = axis;
  s.joint.r = r;
  s.joint.c_alpha = v3_zero();
  s.joint.c_a = v3_add(v3_cross(parent.w, wr), v3_add(coriolis, coriolis));
  return s;
}

/* Motion across a rigid connection. */
FN AbStep ab_step_fixed(AbMotion parent, M33 parent_axes, AbAxis k)
{
  AbStep s;
  V3 r = m33_mul_v3(parent_axes, k.offset);
  V3 wr = v3_cross(parent.w, r);
  s.motion.q = q4_mul(parent.q, k.rest);
  s.motion.p = v3_add(parent.p, r);
  s.motion.w = parent.w;
  s.motion.v = v3_add(parent.v, wr);
  s.joint.axis = v3_zero();
  s.joint.r = r;
  s.joint.c_alpha = v3_zero();
  s.joint.c_a = v3_cross(parent.w, wr);
  return s;
}

/* Motion across a ball joint: q turns the child against the rest pose, rate is in the child's frame. */
FN AbStep ab_step_ball(AbMotion parent, M33 parent_axes, AbAxis k, Q4 q, V3 rate)
{
  AbStep s = ab_step_fixed(parent, parent_axes, k);
  s.motion.q = q4_mul(s.motion.q, q);
  V3 spin = q4_rotate(s.motion.q, rate);
  s.motion.w = v3_add(parent.w, spin);
  s.joint.c_alpha = v3_cross(parent.w, spin);
  return s;
}

/* Inertia of a rigid body about P, without bias: centre of mass at P + c, inertia tensor about it in world axes. */
FN AbInertia ab_rigid_inertia(F mass, S33 about_com, V3 c)
{
  AbInertia r;
  V3 mc = v3_scale(c, mass);
  F cc = v3_dot(c, mc);
  r.j = s33((about_com.xx + cc) - c.x * mc.x, (about_com.yy + cc) - c.y * mc.y, (about_com.zz + cc) - c.z * mc.z,
            about_com.xy - c.x * mc.y, about_com.xz - c.x * mc.z, about_com.yz - c.y * mc.z);
  r.h = m33(v3(K(0.0f), -mc.z, mc.y), v3(mc.z, K(0.0f), -mc.x), v3(-mc.y, mc.x, K(0.0f)));
  r.m = s33(mass, mass, mass, K(0.0f), K(0.0f), K(0.0f));
  r.n = v3_zero();
  r.f = v3_zero();
  return r;
}

/* Its bias: the torque about P and the force that hold it at zero acceleration. inertia: about the centre of mass, body axes; axes: body
 * to world; w (rad/s): angular velocity; g: gravity. */
FN AbBias ab_rigid_bias(F mass, S33 inertia, M33 axes, V3 c, V3 w, V3 g)
{
  AbBias r;
  V3 spin = m33_tmul_v3(axes, w);
  r.f = v3_scale(v3_sub(v3_cross(w, v3_cross(w, c)), g), mass);
  r.n = v3_add(m33_mul_v3(axes, v3_cross(spin, s33_mul_v3(inertia, spin))), v3_cross(c, r.f));
  return r;
}

/* Holds a dof below its top speed (rad/s or m/s): a damper on the excess, a hundred times the dof's inertia over the step, implicit
 * like the others. It acts between parent and child, so that momentum stays; cutting the velocity itself would make some. */
FN DofForce ab_limit_speed(DofForce f, F qd, F top, F d, F dt)
{
  DofForce r = f;
  F drag = f_sel(f_abs(qd) > top, f_div(100.0f * d, dt), K(0.0f));
  r.force = f.force - drag * (qd - f_copysign(top, qd));
  r.inertia = f.inertia + dt * drag;
  return r;
}

/* One axis taken out of an articulated inertia, bias left as it was. s_n, s_f: inertia times the motion axis; inv_d: 1 / (its own row with
 * everything added). The result still stands at the link's own reference point. */
FN AbInertia ab_reduce_axis(AbInertia i, V3 s_n, V3 s_f, F inv_d)
{
  AbInertia r;
  V3 dn = v3_scale(s_n, inv_d);
  V3 df = v3_scale(s_f, inv_d);
  r.j = s33(i.j.xx - s_n.x * dn.x, i.j.yy - s_n.y * dn.y, i.j.zz - s_n.z * dn.z, i.j.xy - s_n.x * dn.y,
            i.j.xz - s_n.x * dn.z, i.j.yz - s_n.y * dn.z);
  r.h = m33(v3_add_scaled(i.h.r0, df, -s_n.x), v3_add_scaled(i.h.r1, df, -s_n.y), v3_add_scaled(i.h.r2, df, -s_n.z));
  r.m = s33(i.m.xx - s_f.x * df.x, i.m.yy - s_f.y * df.y, i.m.zz - s_f.z * df.z, i.m.xy - s_f.x * df.y,
            i.m.xz - s_f.x * df.z, i.m.yz - s_f.y * df.z);
  r.n = i.n;
  r.f = i.f;
  return r;
}

/* The bias after the axis has been taken out: with the reduced inertia I - s s' / d and the velocity products c,
 *   bias + I c + s (u - s . c) / d.   u: force left on the axis after bias. */
FN AbBias ab_reduce_axis_bias(AbInertia i, AbJoint k, V3 s_n, V3 s_f, F inv_d, F u)
{
  AbBias r;
  AbAccel c;
  c.alpha = k.c_alpha;
  c.a = k.c_a;
  AbAccel carried = ab_inertia_apply(i, c);
  F left = inv_d * (u - (v3_dot(s_n, c.alpha) + v3_dot(s_f, c.a)));
  r.n = v3_add_scaled(v3_add(i.n, carried.alpha), s_n, left);
  r.f = v3_add_scaled(v3_add(i.f, carried.a), s_f, left);
  return r;
}

/* A bias about a point at -r. */
FN AbBias ab_bias_shift(AbBias b, V3 r)
{
  AbBias o;
  o.n = v3_add(b.n, v3_cross(r, b.f));
  o.f = b.f;
  return o;
}

/* Acceleration of a link before its own dof's share. */
FN AbAccel ab_carry_accel(AbAccel parent, AbJoint k)
{
  AbAccel r;
  r.alpha = v3_add(parent.alpha, k.c_alpha);
  r.a = v3_add(v3_add(parent.a, v3_cross(parent.alpha, k.r)), k.c_a);
  return r;
}

/* Three rotational dofs taken out at once, bias left as it was: with all of world axes free, inv_d = 1 / (j + resistance). */
FN AbInertia ab_reduce_ball(AbInertia i, S33 inv_d)
{
  AbInertia r;
  M33 jm = s33_to_m33(i.j);
  M33 ht = m33_transpose(i.h);
  r.j = s33_sub(i.j, s33_rotate(jm, inv_d));
  r.m = s33_sub(i.m, s33_rotate(ht, inv_d));
  /* j inv_d h, row by row: row_k(j) inv_d h */
  M33 jd = m33(s33_mul_v3(inv_d, jm.r0), s33_mul_v3(inv_d, jm.r1), s33_mul_v3(inv_d, jm.r2));
  M33 jdh = m33_mul(jd, i.h);
  r.h = m33(v3_sub(i.h.r0, jdh.r0), v3_sub(i.h.r1, jdh.r1), v3_sub(i.h.r2, jdh.r2));
  r.n = i.n;
  r.f = i.f;
  return r;
}

/* The bias after that. u: torque left after bias. */
FN AbBias ab_reduce_ball_bias(AbInertia i, AbJoint k, S33 inv_d, V3 u)
{
  AbBias r;
  AbAccel c;
  c.alpha = k.c_alpha;
  c.a = k.c_a;
  AbAccel carried = ab_inertia_apply(i, c);
  V3 left = s33_mul_v3(inv_d, v3_sub(u, carried.alpha));
  r.n = v3_add(v3_add(i.n, carried.alpha), s33_mul_v3(i.j, left));
  r.f = v3_add(v3_add(i.f, carried.a), m33_tmul_v3(i.h, left));
  return r;
}

/* The inverse of a free base's inertia, by eliminating the linear part: inv_m, g = h inv_m, inv_j = 1 / (j - h inv_m h'). */
STRUCT(AbFree) { S33 inv_m; M33 g; S33 inv_j; };

FN AbFree ab_invert_free(AbInertia i)
{
  AbFree r;
  r.inv_m = s33_inverse(i.m);
  r.g = m33(s33_mul_v3(r.inv_m, i.h.r0), s33_mul_v3(r.inv_m, i.h.r1), s33_mul_v3(r.inv_m, i.h.r2));
  S33 hmh = s33(v3_dot(r.g.r0, i.h.r0), v3_dot(r.g.r1, i.h.r1), v3_dot(r.g.r2, i.h.r2), v3_dot(r.g.r0, i.h.r1),
                v3_dot(r.g.r0, i.h.r2), v3_dot(r.g.r1, i.h.r2));
  r.inv_j = s33_inverse(s33_sub(i.j, hmh));
  return r;
}

/* Acceleration of a free base with bias (n, f): inertia (alpha, a) = -(n, f). */
FN AbAccel ab_solve_free(AbFree k, V3 n, V3 f)
{
  AbAccel r;
  r.alpha = s33_mul_v3(k.inv_j, v3_sub(m33_mul_v3(k.g, f), n));
  r.a = v3_neg(v3_add(s33_mul_v3(k.inv_m, f), m33_tmul_v3(k.g, r.alpha)));
  return r;
}

/* Velocity components (m/s, rad/s) below this become 0: it keeps slow subnormals out of the loops. */
#define AB_SNAP 1.0e-20f

#endif
