/* Parity of steel.kernel.h and steel_row.kernel.h. */
#include "solvers/steel/steel.kernel.h"
#include "solvers/steel/steel_row.kernel.h"

#define PARITY_CASES(X)                                                                                                \
  X(case_st_soft, 3, 3)                                                                                                \
  X(case_st_response, 23, 1)                                                                                           \
  X(case_st_response_cross, 26, 1)                                                                                     \
  X(case_st_invert, 1, 1)                                                                                              \
  X(case_st_push, 35, 12)                                                                                              \
  X(case_st_twist, 29, 12)                                                                                             \
  X(case_st_relative, 18, 3)                                                                                           \
  X(case_st_turned_back, 7, 3)                                                                                         \
  X(case_st_closing, 17, 9)                                                                                            \
  X(case_st_overlap, 1, 1)                                                                                             \
  X(case_st_gap, 18, 1)                                                                                                \
  X(case_st_points, 15, 7)                                                                                             \
  X(case_st_solve_normal, 36, 8)                                                                                       \
  X(case_st_points_done, 37, 12)                                                                                       \
  X(case_st_solve_friction, 44, 14)                                                                                    \
  X(case_st_solve_twist, 32, 13)                                                                                       \
  X(case_st_solve_rolling, 35, 14)                                                                                     \
  X(case_st_push_body, 24, 18)                                                                                         \
  X(case_st_speed2, 17, 1)                                                                                             \
  X(case_st_restitute, 41, 13)                                                                                         \
  X(case_st_normal_impulse, 10, 1)                                                                                     \
  X(case_st_cone, 3, 2)                                                                                                \
  X(case_st_cone_impulse, 8, 2)                                                                                        \
  X(case_st_hold_impulse, 9, 1)                                                                                        \
  X(case_st_spring_impulse, 7, 1)

/* Both bodies' velocities: 12 words; both masses: 14 words. */
#define IN_PAIR(name, k)                                                                                               \
  StPair name;                                                                                                         \
  name.a.v = IN_V3(k); name.a.w = IN_V3(k + 3); name.b.v = IN_V3(k + 6); name.b.w = IN_V3(k + 9);
#define IN_MASSES(a, b, k)                                                                                             \
  StMass a;                                                                                                            \
  StMass b;                                                                                                            \
  a.inv_mass = IN(k); a.inv_inertia = IN_S33(k + 1); b.inv_mass = IN(k + 7); b.inv_inertia = IN_S33(k + 8);
#define OUT_PAIR(p) OUT_V3(0, p.a.v) OUT_V3(3, p.a.w) OUT_V3(6, p.b.v) OUT_V3(9, p.b.w)

PARITY_KERNEL(case_st_soft)
{
  StSoft r = st_soft(IN(0), IN(1), IN(2));
  OUT(0, r.rate); OUT(1, r.mass_scale); OUT(2, r.impulse_scale);
}
PARITY_KERNEL(case_st_response)
{
  IN_MASSES(a, b, 0)
  OUT(0, st_response(a, b, IN_V3(14), IN_V3(17), IN_V3(20)));
}
PARITY_KERNEL(case_st_response_cross)
{
  IN_MASSES(a, b, 0)
  OUT(0, st_response_cross(a, b, IN_V3(14), IN_V3(17), IN_V3(20), IN_V3(23)));
}
PARITY_KERNEL(case_st_invert) { OUT(0, st_invert(IN(0))); }
PARITY_KERNEL(case_st_push)
{
  IN_PAIR(s, 0)
  IN_MASSES(a, b, 12)
  StPair r = st_push(s, a, b, IN_V3(26), IN_V3(29), IN_V3(32));
  OUT_PAIR(r)
}
PARITY_KERNEL(case_st_twist)
{
  IN_PAIR(s, 0)
  IN_MASSES(a, b, 12)
  StPair r = st_twist(s, a, b, IN_V3(26));
  OUT_PAIR(r)
}
PARITY_KERNEL(case_st_relative)
{
  IN_PAIR(s, 0)
  OUT_V3(0, st_relative(s, IN_V3(12), IN_V3(15)))
}
PARITY_KERNEL(case_st_turned_back) { OUT_V3(0, st_turned_back(IN_Q4(0), IN_V3(4))) }
PARITY_KERNEL(case_st_closing)
{
  StMovement a;
  StMovement b;
  a.dp = IN_V3(0); a.dq = IN_Q4(3); b.dp = IN_V3(7); b.dq = IN_Q4(10);
  StClosing r = st_closing(a, b, IN_V3(14));
  OUT(0, r.along); OUT_V3(1, r.turn_a) OUT_V3(4, r.turn_b) OUT(7, r.back_a); OUT(8, r.back_b);
}
PARITY_KERNEL(case_st_overlap) { OUT(0, st_overlap(IN(0))); }
PARITY_KERNEL(case_st_gap)
{
  StClosing c;
  c.along = IN(0); c.turn_a = IN_V3(1); c.turn_b = IN_V3(4);
  c.back_a = IN(14); c.back_b = IN(15);
  OUT(0, st_gap(c, IN_V3(7), IN_V3(10), IN(13), IN(16), IN(17)));
}
PARITY_KERNEL(case_st_points)
{
  IN_PAIR(s, 0)
  StPoints r = st_points(s, IN_V3(12));
  OUT(0, r.along); OUT_V3(1, r.wa) OUT_V3(4, r.wb)
}
PARITY_KERNEL(case_st_solve_normal)
{
  StPoints s;
  s.along = IN(0); s.wa = IN_V3(1); s.wb = IN_V3(4);
  IN_MASSES(a, b, 7)
  StSoft soft;
  soft.rate = IN(30); soft.mass_scale = IN(31); soft.impulse_scale = IN(32);
  StNormal r = st_solve_normal(s, a, b, IN_V3(21), IN_V3(24), IN(27), IN(28), IN(29), soft, IN(33), IN(34), IN(35) > 0.0f);
  OUT(0, r.s.along); OUT_V3(1, r.s.wa) OUT_V3(4, r.s.wb)
  OUT(7, r.impulse);
}
PARITY_KERNEL(case_st_points_done)
{
  IN_PAIR(s, 0)
  IN_MASSES(a, b, 12)
  StPoints p;
  p.along = IN(26); p.wa = IN_V3(27); p.wb = IN_V3(30);
  StPair r = st_points_done(s, p, a, b, IN_V3(33), IN(36));
  OUT_PAIR(r)
}
PARITY_KERNEL(case_st_solve_friction)
{
  IN_PAIR(s, 0)
  IN_MASSES(a, b, 12)
  StFriction r = st_solve_friction(s, a, b, IN_V3(26), IN_V3(29), IN_V3(32), IN_V3(35), IN(38), IN(39), IN(40),
                                   IN(41), IN(42), IN(43));
  OUT_PAIR(r.s)
  OUT(12, r.t); OUT(13, r.u);
}
PARITY_KERNEL(case_st_solve_twist)
{
  IN_PAIR(s, 0)
  IN_MASSES(a, b, 12)
  StTwist r = st_solve_twist(s, a, b, IN_V3(26), IN(29), IN(30), IN(31));
  OUT_PAIR(r.s)
  OUT(12, r.impulse);
}
PARITY_KERNEL(case_st_solve_rolling)
{
  IN_PAIR(s, 0)
  IN_MASSES(a, b, 12)
  StRolling r = st_solve_rolling(s, a, b, IN_V3(26), IN_V3(29), IN(32), IN(33), IN(34));
  OUT_PAIR(r.s)
  OUT(12, r.t); OUT(13, r.u);
}
PARITY_KERNEL(case_st_push_body)
{
  StVelocity s;
  StVelocity warm;
  StVelocity mark;
  StVelocity kick;
  s.v = IN_V3(0); s.w = IN_V3(3); warm.v = IN_V3(6); warm.w = IN_V3(9);
  mark.v = IN_V3(12); mark.w = IN_V3(15); kick.v = IN_V3(18); kick.w = IN_V3(21);
  StWarm r = st_push_body(s, warm, mark, kick);
  OUT_V3(0, r.now.v) OUT_V3(3, r.now.w) OUT_V3(6, r.warm.v) OUT_V3(9, r.warm.w) OUT_V3(12, r.mark.v) OUT_V3(15, r.mark.w)
}
PARITY_KERNEL(case_st_speed2)
{
  StVelocity s;
  s.v = IN_V3(0); s.w = IN_V3(3);
  OUT(0, st_speed2(s, IN_Q4(6), IN_S33(10), IN(16)));
}
PARITY_KERNEL(case_st_restitute)
{
  IN_PAIR(s, 0)
  IN_MASSES(a, b, 12)
  StBounce r = st_restitute(s, a, b, IN_V3(26), IN_V3(29), IN_V3(32), IN(35), IN(36), IN(37), IN(38), IN(39), IN(40));
  OUT_PAIR(r.s)
  OUT(12, r.impulse);
}
#define IN_SOFT(name, k)                                                                                               \
  StSoft name;                                                                                                         \
  name.rate = IN(k); name.mass_scale = IN(k + 1); name.impulse_scale = IN(k + 2);
PARITY_KERNEL(case_st_normal_impulse)
{
  IN_SOFT(soft, 0)
  OUT(0, st_normal_impulse(IN(3), IN(4), IN(5), IN(6), soft, IN(7), IN(8), IN(9) > 0.0f));
}
PARITY_KERNEL(case_st_cone)
{
  StCone r = st_cone(IN(0), IN(1), IN(2));
  OUT(0, r.t); OUT(1, r.u);
}
PARITY_KERNEL(case_st_cone_impulse)
{
  StCone r = st_cone_impulse(IN(0), IN(1), IN(2), IN(3), IN(4), IN(5), IN(6), IN(7));
  OUT(0, r.t); OUT(1, r.u);
}
PARITY_KERNEL(case_st_hold_impulse)
{
  IN_SOFT(soft, 0)
  OUT(0, st_hold_impulse(IN(3), IN(4), IN(5), IN(6), soft, IN(7), IN(8) > 0.0f));
}
PARITY_KERNEL(case_st_spring_impulse) { OUT(0, st_spring_impulse(IN(0), IN(1), IN(2), IN(3), IN(4), IN(5), IN(6))); }
