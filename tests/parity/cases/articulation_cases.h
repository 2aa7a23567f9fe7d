/* Parity of articulation.kernel.h. */
#include "samebit/joint_law.h"
#include "solvers/articulation/articulation.kernel.h"

#define PARITY_CASES(X)                                                                                                \
  X(case_ab_limit_speed, 6, 2)                                                                                         \
  X(case_s33_sel, 13, 6)                                                                                               \
  X(case_ab_inertia_zero, 1, 28)                                                                                       \
  X(case_ab_inertia_add, 54, 27)                                                                                       \
  X(case_ab_inertia_sel, 55, 27)                                                                                       \
  X(case_ab_inertia_apply, 33, 6)                                                                                      \
  X(case_ab_inertia_shift, 30, 27)                                                                                     \
  X(case_ab_step_angular, 38, 25)                                                                                      \
  X(case_ab_step_linear, 38, 25)                                                                                       \
  X(case_ab_step_fixed, 36, 25)                                                                                        \
  X(case_ab_step_ball, 43, 25)                                                                                         \
  X(case_ab_rigid_inertia, 10, 27)                                                                                     \
  X(case_ab_rigid_bias, 25, 6)                                                                                         \
  X(case_ab_reduce_axis, 34, 27)                                                                                       \
  X(case_ab_reduce_axis_bias, 47, 6)                                                                                   \
  X(case_ab_reduce_ball, 33, 27)                                                                                       \
  X(case_ab_reduce_ball_bias, 48, 6)                                                                                   \
  X(case_ab_bias_shift, 9, 6)                                                                                          \
  X(case_ab_invert_free, 27, 21)                                                                                       \
  X(case_ab_carry_accel, 18, 6)                                                                                        \
  X(case_ab_solve_free, 27, 6)

/* Records from and to consecutive words. */
#define IN_INERTIA(name, k)                                                                                            \
  AbInertia name;                                                                                                      \
  name.j = IN_S33(k); name.h = IN_M33(k + 6); name.m = IN_S33(k + 15); name.n = IN_V3(k + 21); name.f = IN_V3(k + 24);
#define IN_JOINT(name, k)                                                                                              \
  AbJoint name;                                                                                                        \
  name.axis = IN_V3(k); name.r = IN_V3(k + 3); name.c_alpha = IN_V3(k + 6); name.c_a = IN_V3(k + 9);
#define IN_MOTION(name, k)                                                                                             \
  AbMotion name;                                                                                                       \
  name.q = IN_Q4(k); name.p = IN_V3(k + 4); name.w = IN_V3(k + 7); name.v = IN_V3(k + 10);
#define IN_AXIS(name, k)                                                                                               \
  AbAxis name;                                                                                                         \
  name.rest = IN_Q4(k); name.rest_axis = IN_Q4(k + 4); name.axis = IN_V3(k + 8); name.offset = IN_V3(k + 11);
#define IN_ACCEL(name, k)                                                                                              \
  AbAccel name;                                                                                                        \
  name.alpha = IN_V3(k); name.a = IN_V3(k + 3);
#define OUT_INERTIA(call)                                                                                              \
  {                                                                                                                    \
    AbInertia r = call;                                                                                                \
    OUT_S33(0, r.j) OUT_M33(6, r.h) OUT_S33(15, r.m) OUT_V3(21, r.n) OUT_V3(24, r.f)                                   \
  }
#define OUT_STEP(call)                                                                                                 \
  {                                                                                                                    \
    AbStep r = call;                                                                                                   \
    OUT_Q4(0, r.motion.q) OUT_V3(4, r.motion.p) OUT_V3(7, r.motion.w) OUT_V3(10, r.motion.v)                           \
    OUT_V3(13, r.joint.axis) OUT_V3(16, r.joint.r) OUT_V3(19, r.joint.c_alpha) OUT_V3(22, r.joint.c_a)                 \
  }
#define OUT_ACCEL(call)                                                                                                \
  {                                                                                                                    \
    AbAccel r = call;                                                                                                  \
    OUT_V3(0, r.alpha) OUT_V3(3, r.a)                                                                                  \
  }

#define OUT_BIAS(call)                                                                                                 \
  {                                                                                                                    \
    AbBias r = call;                                                                                                   \
    OUT_V3(0, r.n) OUT_V3(3, r.f)                                                                                      \
  }

PARITY_KERNEL(case_s33_sel) { OUT_S33(0, s33_sel(IN(12) > 0.0f, IN_S33(0), IN_S33(6))) }
PARITY_KERNEL(case_ab_inertia_zero)
{
  OUT_INERTIA(ab_inertia_zero())
  UOUT(27, UIN(0));
}
PARITY_KERNEL(case_ab_inertia_add)
{
  IN_INERTIA(a, 0)
  IN_INERTIA(b, 27)
  OUT_INERTIA(ab_inertia_add(a, b))
}
PARITY_KERNEL(case_ab_inertia_sel)
{
  IN_INERTIA(a, 0)
  IN_INERTIA(b, 27)
  OUT_INERTIA(ab_inertia_sel(IN(54) < 0.0f, a, b))
}
PARITY_KERNEL(case_ab_inertia_apply)
{
  IN_INERTIA(a, 0)
  IN_ACCEL(x, 27)
  OUT_ACCEL(ab_inertia_apply(a, x))
}
PARITY_KERNEL(case_ab_inertia_shift)
{
  IN_INERTIA(a, 0)
  OUT_INERTIA(ab_inertia_shift(a, IN_V3(27)))
}
PARITY_KERNEL(case_ab_step_angular)
{
  IN_MOTION(parent, 0)
  IN_AXIS(k, 22)
  OUT_STEP(ab_step_angular(parent, IN_M33(13), k, IN(36), IN(37)))
}
PARITY_KERNEL(case_ab_step_linear)
{
  IN_MOTION(parent, 0)
  IN_AXIS(k, 22)
  OUT_STEP(ab_step_linear(parent, IN_M33(13), k, IN(36), IN(37)))
}
PARITY_KERNEL(case_ab_step_fixed)
{
  IN_MOTION(parent, 0)
  IN_AXIS(k, 22)
  OUT_STEP(ab_step_fixed(parent, IN_M33(13), k))
}
PARITY_KERNEL(case_ab_step_ball)
{
  IN_MOTION(parent, 0)
  IN_AXIS(k, 22)
  OUT_STEP(ab_step_ball(parent, IN_M33(13), k, IN_Q4(36), IN_V3(40)))
}
PARITY_KERNEL(case_ab_rigid_inertia) { OUT_INERTIA(ab_rigid_inertia(IN(0), IN_S33(1), IN_V3(7))) }
PARITY_KERNEL(case_ab_rigid_bias)
{
  OUT_BIAS(ab_rigid_bias(IN(0), IN_S33(1), IN_M33(7), IN_V3(16), IN_V3(19), IN_V3(22)))
}
PARITY_KERNEL(case_ab_reduce_axis)
{
  IN_INERTIA(a, 0)
  OUT_INERTIA(ab_reduce_axis(a, IN_V3(27), IN_V3(30), IN(33)))
}
PARITY_KERNEL(case_ab_reduce_axis_bias)
{
  IN_INERTIA(a, 0)
  IN_JOINT(k, 27)
  OUT_BIAS(ab_reduce_axis_bias(a, k, IN_V3(39), IN_V3(42), IN(45), IN(46)))
}
PARITY_KERNEL(case_ab_reduce_ball)
{
  IN_INERTIA(a, 0)
  OUT_INERTIA(ab_reduce_ball(a, IN_S33(27)))
}
PARITY_KERNEL(case_ab_reduce_ball_bias)
{
  IN_INERTIA(a, 0)
  IN_JOINT(k, 27)
  OUT_BIAS(ab_reduce_ball_bias(a, k, IN_S33(39), IN_V3(45)))
}
PARITY_KERNEL(case_ab_bias_shift)
{
  AbBias b;
  b.n = IN_V3(0); b.f = IN_V3(3);
  OUT_BIAS(ab_bias_shift(b, IN_V3(6)))
}
PARITY_KERNEL(case_ab_invert_free)
{
  IN_INERTIA(a, 0)
  AbFree r = ab_invert_free(a);
  OUT_S33(0, r.inv_m) OUT_M33(6, r.g) OUT_S33(15, r.inv_j)
}
PARITY_KERNEL(case_ab_carry_accel)
{
  IN_ACCEL(a, 0)
  IN_JOINT(k, 6)
  OUT_ACCEL(ab_carry_accel(a, k))
}
PARITY_KERNEL(case_ab_solve_free)
{
  AbFree k;
  k.inv_m = IN_S33(0); k.g = IN_M33(6); k.inv_j = IN_S33(15);
  OUT_ACCEL(ab_solve_free(k, IN_V3(21), IN_V3(24)))
}
PARITY_KERNEL(case_ab_limit_speed)
{
  DofForce f;
  f.force = IN(0); f.inertia = IN(1); f.rest = IN(0); f.rest_inertia = IN(1);
  f = ab_limit_speed(f, IN(2), IN(3), IN(4), IN(5));
  OUT(0, f.force); OUT(1, f.inertia);
}
