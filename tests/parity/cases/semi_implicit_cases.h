/* Parity of semi_implicit.kernel.h. */
#include "samebit/joint_law.h"
#include "samebit/penalty_contact.h"
#include "samebit/rigid_spin.h"
#include "solvers/semi_implicit/semi_implicit.kernel.h"

#define PARITY_CASES(X)                                                                                                \
  X(case_si_body, 24, 26)                                                                                              \
  X(case_si_velocity_at, 26, 3)                                                                                        \
  X(case_si_response, 26, 6)                                                                                           \
  X(case_si_act, 55, 12)                                                                                               \
  X(case_si_push, 55, 12)                                                                                              \
  X(case_si_attach, 14, 3)                                                                                             \
  X(case_si_contact, 64, 12)                                                                                           \
  X(case_si_integrate, 35, 13)

/* Pose, centre of mass, velocities, inverse mass, inverse inertia: 23 words. */
#define IN_BODY(name, k)                                                                                               \
  SiBody name;                                                                                                         \
  name.pose = IN_X7(k); name.com = IN_V3(k + 7); name.v = IN_V3(k + 10); name.w = IN_V3(k + 13);                       \
  name.inv_mass = IN(k + 16); name.inv_inertia = IN_S33(k + 17);
#define OUT_X7(k, x) OUT_V3(k, x.p) OUT_Q4(k + 3, x.q)
#define OUT_PAIR(call)                                                                                                 \
  {                                                                                                                    \
    SiPair r = call;                                                                                                   \
    OUT_V3(0, r.a.f) OUT_V3(3, r.a.t) OUT_V3(6, r.b.f) OUT_V3(9, r.b.t)                                                \
  }

PARITY_KERNEL(case_si_body)
{
  SiBody r = si_body(IN_X7(0), IN_V3(7), IN_V3(10), IN_V3(13), IN(16), IN_S33(17), IN(23));
  OUT_X7(0, r.pose) OUT_V3(7, r.com) OUT_V3(10, r.v) OUT_V3(13, r.w) OUT(16, r.inv_mass); OUT_S33(17, r.inv_inertia)
  OUT_V3(23, si_velocity_at(r, IN_V3(7)))
}
PARITY_KERNEL(case_si_velocity_at)
{
  IN_BODY(b, 0)
  OUT_V3(0, si_velocity_at(b, IN_V3(23)))
}
PARITY_KERNEL(case_si_response)
{
  IN_BODY(b, 0)
  OUT_S33(0, si_response(b, IN_V3(23)))
}
PARITY_KERNEL(case_si_act)
{
  IN_BODY(a, 0)
  IN_BODY(b, 23)
  OUT_PAIR(si_act(a, b, IN_V3(46), IN_V3(49), IN_V3(52)))
}
PARITY_KERNEL(case_si_push)
{
  IN_BODY(a, 0)
  IN_BODY(b, 23)
  OUT_PAIR(si_push(a, b, IN_V3(46), IN_V3(49)))
}
PARITY_KERNEL(case_si_attach) { OUT_V3(0, si_attach(IN_S33(0), IN_V3(6), IN_V3(9), IN(12), IN(13))) }
/* 46 words for two bodies; the rest follow. The friction's sign and size are any. */
PARITY_KERNEL(case_si_contact)
{
  IN_BODY(a, 0)
  IN_BODY(b, 23)
  OUT_PAIR(si_contact(a, b, IN_V3(46), IN_V3(49), IN_V3(52), IN(55), IN(56), IN(57), IN(58)))
}
PARITY_KERNEL(case_si_integrate)
{
  SiMotion m;
  m.pose = IN_X7(0); m.v = IN_V3(7); m.w = IN_V3(10);
  SiMotion r = si_integrate(m, IN_V3(13), IN_S33(16), IN_S33(22), IN_V3(28), IN_V3(31), IN(34));
  OUT_X7(0, r.pose) OUT_V3(7, r.v) OUT_V3(10, r.w)
}
