/* Records of the lane code, in the kernel dialect: constants of a link and its work area. All members are F. */
#ifndef SAMEBIT_ARTICULATION_RECORDS_KERNEL_H
#define SAMEBIT_ARTICULATION_RECORDS_KERNEL_H

#ifndef SB_GLSL
#include "samebit/joint_law.h"
#endif
#include "articulation.kernel.h"

/* AB_CONSTANT_FLOATS members. */
STRUCT(AbConstant) {
  AbAxis axis;
  DofLaw dof;
  F velocity_limit;
  F ref;
  F mass;
  S33 inertia; /* about the centre of mass, body axes */
  V3 com;      /* from the reference point, body axes */
  V3 origin;   /* body origin from the reference point, body axes */
};

/* AB_WORK_FLOATS members. */
STRUCT(AbWork) {
  AbMotion motion; /* first: contacts read it through ab_body_place */
  M33 axes;
  AbJoint joint;
  AbInertia ia;       /* articulated, without this link's own dofs taken out */
  AbInertia external; /* what contacts add; zero when there are none */
  V3 s_n;
  V3 s_f;
  F inv_d;
  F row_force; /* of the joint law: N or N m */
  F u;
  S33 ball_inv_d;
  V3 ball_u;
  AbFree base; /* FREE */
  AbAccel accel;
  V3 rate_change; /* of the dofs: x of a single one; BALL: child's frame */
  V3 body_force;  /* command of this tick: N at the centre of mass, world axes */
  V3 body_torque; /* N m */
  /* coordinates and velocities during the tick */
  F q;
  F qd;
  V3 pos;  /* FREE: centre of mass, m */
  Q4 quat; /* FREE, BALL */
  V3 lin;  /* FREE */
  V3 ang;  /* FREE, BALL */
  F motor;
  F target_q;
  F target_qd;
};

#endif
