/* The rotation of a rigid body over one step, in the kernel dialect: angular momentum is carried, so none is made or
 * lost.
 *
 * With I and I' the world inertia before and after, w' = w + 1/I' (dt t + (I - I') w), which is I' w' = I w + dt t.
 * Written as a change of w, errors of the quaternion's length cancel from step to step instead of adding up. The body
 * turns with the angular velocity of the middle of the step, w - dt/2 1/I (w x I w), plus all of the torque's share
 * (symplectic): without torque the step is of second order, and the energy of a tumbling body stays. */
#ifndef SAMEBIT_RIGID_SPIN_H
#define SAMEBIT_RIGID_SPIN_H

#ifndef SB_GLSL
#include "samebit/maths.h"
#endif

/* mean (rad/s, world): what it turns with in this step. */
STRUCT(RigidSpin)
{
  Q4 q;
  V3 w;
  V3 mean;
};

/* q, w (rad/s, world): orientation and angular velocity; inertia and its inverse in body axes (kg m^2); torque (N m,
 * world); dt (s). */
FN RigidSpin rigid_spin(Q4 q, V3 w, S33 inertia, S33 inv_inertia, V3 torque, F dt)
{
  RigidSpin r;
  M33 axes = q4_to_m33(q);
  S33 before = s33_rotate(axes, inertia);
  V3 gyro = v3_scale(v3_cross(w, s33_mul_v3(before, w)), K(0.5f));
  V3 change = s33_mul_v3(s33_rotate(axes, inv_inertia), v3_sub(torque, gyro));
  r.mean = v3_add_scaled(w, change, dt);
  r.q = q4_integrate(q, r.mean, dt);
  axes = q4_to_m33(r.q);
  V3 left = s33_mul_v3(s33_sub(before, s33_rotate(axes, inertia)), w);
  r.w = v3_add(w, s33_mul_v3(s33_rotate(axes, inv_inertia), v3_add_scaled(left, torque, dt)));
  return r;
}

#endif
