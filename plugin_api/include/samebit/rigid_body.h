/* Free motion of a rigid body in the kernel dialect. */
#ifndef SAMEBIT_RIGID_BODY_H
#define SAMEBIT_RIGID_BODY_H

#ifndef SB_GLSL
#include "samebit/maths.h"
#endif

STRUCT(RigidTurn) { Q4 q; V3 w; };

/* Orientation and angular velocity (rad/s, world) after dt (s) without torque, from the angular momentum L = I w, which stays
 * exactly what it is while the body turns: q' turns with w, and w' = I(q')^-1 L. For a sphere's tensor w' = w up to rounding.
 * inertia, inverse: body axes. */
FN RigidTurn rigid_turn(Q4 q, V3 w, S33 inertia, S33 inverse, F dt)
{
  RigidTurn r;
  V3 momentum = s33_mul_v3(s33_rotate(q4_to_m33(q), inertia), w);
  r.q = q4_integrate(q, w, dt);
  r.w = s33_mul_v3(s33_rotate(q4_to_m33(r.q), inverse), momentum);
  return r;
}

#endif
