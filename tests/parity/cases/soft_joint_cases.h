/* Parity of the soft connect and weld. */
#include "host/core/soft_joint.kernel.h"

#define PARITY_CASES(X)      \
  X(case_soft_pin, 53, 9)    \
  X(case_soft_turn, 33, 3)

PARITY_KERNEL(case_soft_pin)
{
  SoftBody a;
  SoftBody b;
  a.pose = IN_X7(0);
  a.com = IN_V3(7);
  a.v = IN_V3(10);
  a.w = IN_V3(13);
  a.inverse_mass = IN(16);
  a.inverse_inertia = IN_S33(43);
  b.pose = IN_X7(18);
  b.com = IN_V3(25);
  b.v = IN_V3(28);
  b.w = IN_V3(31);
  b.inverse_mass = IN(34);
  b.inverse_inertia = s33_add(a.inverse_inertia, a.inverse_inertia);
  SoftPin r = soft_pin(a, b, IN_V3(36), IN_V3(39), IN(42));
  OUT_V3(0, r.force) OUT_V3(3, r.arm_a) OUT_V3(6, r.arm_b)
}
PARITY_KERNEL(case_soft_turn)
{
  SoftBody a;
  SoftBody b;
  a.pose = x7(v3_zero(), IN_Q4(0));
  a.com = v3_zero();
  a.v = v3_zero();
  a.w = IN_V3(4);
  a.inverse_mass = K(1.0f);
  a.inverse_inertia = IN_S33(21);
  b = a;
  b.pose.q = IN_Q4(8);
  b.w = IN_V3(12);
  b.inverse_inertia = IN_S33(27);
  V3 t = soft_turn(a, b, IN_Q4(16), IN(20));
  OUT_V3(0, t)
}
