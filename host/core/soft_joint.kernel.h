/* A connect or weld as soft forces, for solvers without equality constraints, in the kernel dialect. */
#ifndef SAMEBIT_HOST_SOFT_JOINT_KERNEL_H
#define SAMEBIT_HOST_SOFT_JOINT_KERNEL_H

#ifndef SB_GLSL
#include "samebit/maths.h"
#endif

/* A body; the inverse tensor is about the centre of mass in world axes. Inverses are zero for what does not move. */
STRUCT(SoftBody) { X7 pose; V3 com; V3 v; V3 w; F inverse_mass; S33 inverse_inertia; };
/* Force on a's end, its opposite on b's, and where the ends are from each centre of mass. */
STRUCT(SoftPin) { V3 force; V3 arm_a; V3 arm_b; };

/* How a force at the arm r moves that point by turning the body: A J A^T, with A v = r x v. */
FN S33 soft_turning(V3 r, S33 j)
{
  V3 x = v3(j.xz * r.y - j.xy * r.z, j.yz * r.y - j.yy * r.z, j.zz * r.y - j.yz * r.z);
  V3 y = v3(j.xx * r.z - j.xz * r.x, j.xy * r.z - j.yz * r.x, j.xz * r.z - j.zz * r.x);
  V3 z = v3(j.xy * r.x - j.xx * r.y, j.yy * r.x - j.xy * r.y, j.yz * r.x - j.xz * r.y);
  return s33(r.y * x.z - r.z * x.y, r.z * y.x - r.x * y.z, r.x * z.y - r.y * z.x, r.y * y.z - r.z * y.y, r.y * z.z - r.z * z.y,
             r.z * z.x - r.x * z.z);
}

/* With the inertia m = 1 / `inverse` that the ends have as free bodies: a spring m / (4 dt^2) and a damper 3 m / (8 dt), half of
 * what is stable for one constraint on a body. Joints of the bodies only make the true inertia larger. */
FN V3 soft_pull(V3 apart, V3 rate, S33 inverse, F dt)
{
  F per_dt = f_div(K(0.5f), dt);
  V3 change = v3_add(v3_scale(apart, f_div(0.5f * per_dt, dt)), v3_scale(rate, 0.75f * per_dt));
  return s33_mul_v3(s33_inverse(inverse), change);
}

FN SoftPin soft_pin(SoftBody a, SoftBody b, V3 anchor_a, V3 anchor_b, F dt)
{
  SoftPin r;
  r.arm_a = q4_rotate(a.pose.q, v3_sub(anchor_a, a.com));
  r.arm_b = q4_rotate(b.pose.q, v3_sub(anchor_b, b.com));
  V3 apart = v3_sub(x7_point(b.pose, anchor_b), x7_point(a.pose, anchor_a));
  V3 rate = v3_sub(v3_add(b.v, v3_cross(b.w, r.arm_b)), v3_add(a.v, v3_cross(a.w, r.arm_a)));
  S33 inverse = s33_add(soft_turning(r.arm_a, a.inverse_inertia), soft_turning(r.arm_b, b.inverse_inertia));
  F both = a.inverse_mass + b.inverse_mass;
  inverse.xx = inverse.xx + both;
  inverse.yy = inverse.yy + both;
  inverse.zz = inverse.zz + both;
  r.force = soft_pull(apart, rate, inverse, dt);
  return r;
}

/* Torque on a that turns both towards orientation(b) = orientation(a) * relpose; the angle as twice the vector part. */
FN V3 soft_turn(SoftBody a, SoftBody b, Q4 relpose, F dt)
{
  Q4 off = q4_mul(b.pose.q, q4_conj(q4_mul(a.pose.q, relpose)));
  /* a comparison, because the sign of a NaN is each device's own */
  F twice = f_sel(off.w < 0.0f, K(-2.0f), K(2.0f));
  return soft_pull(v3_scale(v3(off.x, off.y, off.z), twice), v3_sub(b.w, a.w), s33_add(a.inverse_inertia, b.inverse_inertia), dt);
}

#endif
