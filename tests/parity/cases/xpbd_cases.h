/* Parity of xpbd's kernels. */
#include "solvers/maximal/maximal.kernel.h"
#include "solvers/xpbd/xpbd_particle.kernel.h"
#include "samebit/near_pair.h"
#include "solvers/xpbd/xpbd_contact.kernel.h"
#include "samebit/joint_law.h"
#include "samebit/rigid_spin.h"
#include "solvers/xpbd/xpbd_body.kernel.h"
#include "solvers/xpbd/xpbd_element.kernel.h"
#include "solvers/xpbd/xpbd_touch.kernel.h"
#include "solvers/xpbd/xpbd_rigid.kernel.h"

#define PARITY_CASES(X)                                                                                                \
  X(case_mx_axis_angular, 14, 13)                                                                                      \
  X(case_mx_axis_linear, 11, 13)                                                                                       \
  X(case_mx_turn, 8, 3)                                                                                                \
  X(case_mx_fit, 15, 9)                                                                                                \
  X(case_mx_hold, 21, 3)                                                                                               \
  X(case_xp_velocity, 8, 3)                                                                                            \
  X(case_xp_predict, 8, 6)                                                                                             \
  X(case_xp_spring, 7, 2)                                                                                              \
  X(case_xp_spring_damping, 8, 1)                                                                                      \
  X(case_xp_tri, 28, 12)                                                                                               \
  X(case_xp_air, 12, 3)                                                                                                \
  X(case_xp_edge, 16, 13)                                                                                              \
  X(case_xp_edge_damping, 26, 12)                                                                                      \
  X(case_xp_tet, 27, 14)                                                                                               \
  X(case_xp_tet_damping, 32, 12)                                                                                       \
  X(case_xp_attach, 17, 3)                                                                                             \
  X(case_xp_apart, 10, 3)                                                                                              \
  X(case_xp_response, 28, 6)                                                                                           \
  X(case_xp_response_arms, 37, 6)                                                                                      \
  X(case_xp_correct, 35, 13)                                                                                           \
  X(case_xp_kick, 34, 6)                                                                                               \
  X(case_xp_touch, 18, 7)                                                                                              \
  X(case_xp_bounce, 9, 1)                                                                                              \
  X(case_xp_roll, 15, 3)                                                                                               \
  X(case_xp_dof, 21, 4)                                                                                                \
  X(case_xp_move, 48, 13)                                                                                              \
  X(case_xp_begin, 30, 14)                                                                                             \
  X(case_xp_predict_body, 48, 25)                                                                                      \
  X(case_xp_pose, 23, 10)                                                                                              \
  X(case_xp_pair, 56, 14)                                                                                              \
  X(case_xp_pair_press, 58, 1)                                                                                         \
  X(case_xp_pair_rub, 61, 3)                                                                                           \
  X(case_xp_pair_part, 57, 3)                                                                                          \
  X(case_xp_pair_bounce, 60, 1)                                                                                        \
  X(case_xp_pair_roll, 59, 3)                                                                                          \
  X(case_xp_pair_correct, 60, 26)                                                                                      \
  X(case_xp_pair_kick, 62, 26)

#define OUT_X7(k, x) OUT_V3(k, x.p) OUT_Q4(k + 3, x.q)
#define OUT_AXIS(call)                                                                                                 \
  {                                                                                                                    \
    MxAxis r = call;                                                                                                   \
    OUT_V3(0, r.axis) OUT_V3(3, r.anchor) OUT_X7(6, r.frame)                                                           \
  }
/* Movement, turn, velocities, answers: 25 words. */
#define IN_XP_BODY(name, k)                                                                                            \
  XpBody name;                                                                                                         \
  name.x = IN_V3(k); name.q = IN_Q4(k + 3); name.v = IN_V3(k + 7); name.w = IN_V3(k + 10);                             \
  name.m = IN_S33(k + 13); name.i = IN_S33(k + 19);
#define OUT_XP_BODY(b) OUT_V3(0, b.x) OUT_Q4(3, b.q) OUT_V3(7, b.v) OUT_V3(10, b.w)
/* Three directions, each there or not by the sign of a word. */
FN MxFree parity_free(V3 a, V3 b, V3 c, F ua, F ub, F uc)
{
  MxFree f;
  f.d0 = a;
  f.d1 = b;
  f.d2 = c;
  f.used = v3(f_sel(ua > 0.0f, K(1.0f), K(0.0f)), f_sel(ub > 0.0f, K(1.0f), K(0.0f)), f_sel(uc > 0.0f, K(1.0f), K(0.0f)));
  return f;
}

PARITY_KERNEL(case_mx_axis_angular) OUT_AXIS(mx_axis_angular(IN_X7(0), IN_V3(7), IN_V3(10), IN(13)))
PARITY_KERNEL(case_mx_axis_linear) OUT_AXIS(mx_axis_linear(IN_X7(0), IN_V3(7), IN(10)))
PARITY_KERNEL(case_mx_turn) { OUT_V3(0, mx_turn(IN_Q4(0), IN_Q4(4))) }
PARITY_KERNEL(case_mx_fit)
{
  MxFree f = parity_free(IN_V3(0), IN_V3(3), IN_V3(6), IN(9), IN(10), IN(11));
  V3 x = mx_fit(f, IN_V3(12));
  OUT_V3(0, x) OUT_V3(3, mx_combine(f, x)) OUT_V3(6, mx_held(f, IN_V3(12)))
}
PARITY_KERNEL(case_mx_hold)
{
  OUT_V3(0, mx_hold(parity_free(IN_V3(0), IN_V3(3), IN_V3(6), IN(9), IN(10), IN(11)), IN_S33(12), IN_V3(18)))
}
PARITY_KERNEL(case_xp_velocity) { OUT_V3(0, xp_velocity(IN_V3(0), IN_V3(3), IN(6), IN(7))) }
PARITY_KERNEL(case_xp_predict)
{
  XpMove r = xp_predict(IN_V3(0), IN(3), IN_V3(4), IN(7));
  OUT_V3(0, r.d) OUT_V3(3, r.v)
}
PARITY_KERNEL(case_xp_spring)
{
  XpPull r = xp_spring(IN_V3(0), IN(3), IN(4), IN(5), IN(6));
  OUT(0, r.s); OUT(1, r.lambda);
}
PARITY_KERNEL(case_xp_spring_damping) { OUT(0, xp_spring_damping(IN_V3(0), IN_V3(3), xp_kh2(IN(6), IN(7)), IN(7)).s); }
PARITY_KERNEL(case_xp_tri)
{
  XpTriRest rest;
  rest.ax = IN(15); rest.ay = IN(16); rest.bx = IN(17); rest.by = IN(18);
  XpTri r = xp_tri(IN_V3(0), IN_V3(3), IN_V3(6), IN_V3(9), IN(12), IN(13), IN(14), rest, IN_V3(19), IN_V3(22), IN_V3(25));
  OUT_V3(0, r.d0) OUT_V3(3, r.d1) OUT_V3(6, r.d2) OUT_V3(9, r.lambda)
}
PARITY_KERNEL(case_xp_air) { OUT_V3(0, xp_air(IN_V3(0), IN_V3(3), IN_V3(6), IN(9), IN(10), IN(11))) }
PARITY_KERNEL(case_xp_edge)
{
  XpEdge r = xp_edge(IN_V3(0), IN_V3(3), IN_V3(6), IN(9), IN(10), IN(11), IN(12), IN(13), IN(14), IN(15));
  OUT_V3(0, r.d0) OUT_V3(3, r.d1) OUT_V3(6, r.d2) OUT_V3(9, r.d3) OUT(12, r.lambda);
}
PARITY_KERNEL(case_xp_edge_damping)
{
  XpEdge r = xp_edge_damping(IN_V3(0), IN_V3(3), IN_V3(6), IN_V3(9), IN_V3(12), IN_V3(15), IN_V3(18), IN(21), IN(22), IN(23), IN(24), IN(25));
  OUT_V3(0, r.d0) OUT_V3(3, r.d1) OUT_V3(6, r.d2) OUT_V3(9, r.d3)
}
PARITY_KERNEL(case_xp_tet)
{
  XpTet r = xp_tet(IN_V3(0), IN_V3(3), IN_V3(6), IN(9), IN(10), IN(11), IN(12), IN_M33(13), IN(22), IN(23), IN(24), IN(25), IN(26));
  OUT_V3(0, r.d0) OUT_V3(3, r.d1) OUT_V3(6, r.d2) OUT_V3(9, r.d3) OUT(12, r.shape); OUT(13, r.volume);
}
PARITY_KERNEL(case_xp_tet_damping)
{
  XpTet r = xp_tet_damping(IN_V3(0), IN_V3(3), IN_V3(6), IN_V3(9), IN_V3(12), IN_V3(15), IN(18), IN(19), IN(20), IN(21), IN_M33(22), IN(31));
  OUT_V3(0, r.d0) OUT_V3(3, r.d1) OUT_V3(6, r.d2) OUT_V3(9, r.d3)
}
PARITY_KERNEL(case_xp_attach) { OUT_V3(0, xp_attach(IN_V3(0), IN_V3(3), IN_S33(6), IN(12), IN(13), IN_V3(14))) }
PARITY_KERNEL(case_xp_apart)
{
  NearPair f;
  f.n = IN_V3(0);
  f.distance = IN(3);
  f.a0 = IN(4);
  f.a1 = IN(4);
  f.a2 = IN(4);
  f.a3 = IN(4);
  OUT_V3(0, xp_apart(f, IN_V3(4), IN(7), IN(8), IN(9)))
}
PARITY_KERNEL(case_xp_response)
{
  IN_XP_BODY(b, 0)
  OUT_S33(0, xp_response(b, IN_V3(25)))
}
PARITY_KERNEL(case_xp_response_arms)
{
  IN_XP_BODY(b, 0)
  OUT_S33(0, xp_response_arms(b, IN_V3(25), IN_V3(28), IN_V3(31), IN_V3(34)))
}
PARITY_KERNEL(case_xp_correct)
{
  IN_XP_BODY(b, 0)
  XpBody r = xp_correct(b, IN_V3(25), IN_V3(28), IN_V3(31), IN(34));
  OUT_XP_BODY(r)
}
PARITY_KERNEL(case_xp_kick)
{
  IN_XP_BODY(b, 0)
  XpBody r = xp_kick(b, IN_V3(25), IN_V3(28), IN_V3(31));
  OUT_V3(0, r.v) OUT_V3(3, xp_velocity_at(r, IN_V3(25)))
}
PARITY_KERNEL(case_xp_touch)
{
  XpTouch r = xp_touch(xp_push_out(IN(0), IN(17)) - xp_least_gap(IN(0), IN(17)), IN_V3(1), IN_V3(4), IN_S33(7), IN(13), IN(14), IN_V3(15));
  OUT(0, r.normal); OUT_V3(1, r.slide) OUT_V3(4, r.p)
}
PARITY_KERNEL(case_xp_bounce) { OUT(0, xp_bounce(IN(0), IN(1), IN(2), IN(3), IN(4), IN(5), IN(6), IN(7), IN(8))); }
PARITY_KERNEL(case_xp_roll) { OUT_V3(0, xp_roll(IN_V3(0), IN_V3(3), IN_S33(6), IN(12), IN(13), IN(14))) }
PARITY_KERNEL(case_xp_dof)
{
  DofLaw k;
  k.armature = K(0.0f);
  k.damping = IN(0); k.stiffness = IN(1); k.spring_ref = IN(2); k.friction = IN(3); k.lower = IN(4); k.upper = IN(5); k.effort = IN(6);
  k.ke = IN(7); k.kd = IN(8);
  XpDof before;
  before.drive = IN(9); before.spring = IN(10); before.friction = IN(11); before.p = IN(11);
  XpDof r = xp_dof(k, IN(12), IN(13), IN(14), IN(15), IN(16), IN(17), IN(18), IN(19), f_sel(IN(20) > 0.0f, K(1.0f), K(0.0f)), before);
  OUT(0, r.drive); OUT(1, r.spring); OUT(2, r.friction); OUT(3, r.p);
}
PARITY_KERNEL(case_xp_move)
{
  IN_XP_BODY(b, 0)
  XpBody r = xp_move(b, IN_Q4(25), IN_S33(29), IN_S33(35), IN_V3(41), IN_V3(44), IN(47));
  OUT_XP_BODY(r)
}

/* A record of 23 words, some of which stand for two things. */
#define IN_XP_RECORD(name, k)                                                                                          \
  XpRecord name;                                                                                                       \
  name.base = IN_V3(k); name.turn = IN_Q4(k + 3); name.com = IN_V3(k + 7);                                             \
  name.b.x = IN_V3(k + 10); name.b.q = IN_Q4(k + 13); name.b.v = IN_V3(k + 17); name.b.w = IN_V3(k + 20);              \
  name.b.m = IN_S33(k); name.b.i = IN_S33(k + 9);                                                                      \
  name.x0 = IN_V3(k + 12); name.q0 = IN_Q4(k + 5); name.v0 = IN_V3(k + 16); name.w0 = IN_V3(k + 19);                   \
  name.vp = IN_V3(k + 15); name.wp = IN_V3(k + 8);
/* Two of them at a contact: 56 words. */
#define IN_XP_PAIR                                                                                                     \
  IN_XP_RECORD(a, 0) IN_XP_RECORD(b, 23)                                                                               \
  XpPair t = xp_pair(a, b, IN_V3(46), IN_V3(49), IN_V3(52), IN(55));
#define OUT_XP_SIDE(k, b) OUT_V3(k, b.x) OUT_Q4(k + 3, b.q) OUT_V3(k + 7, b.v) OUT_V3(k + 10, b.w)

PARITY_KERNEL(case_xp_begin)
{
  IN_XP_RECORD(before, 0)
  XpRecord r = xp_begin(before, IN_V3(23), IN_Q4(26));
  OUT_V3(0, r.base) OUT_Q4(3, r.turn) OUT_V3(7, r.b.x) OUT_Q4(10, r.b.q)
}
PARITY_KERNEL(case_xp_predict_body)
{
  IN_XP_RECORD(before, 0)
  XpRecord r = xp_predict_body(before, IN_S33(23), IN_S33(29), IN_S33(35), IN_V3(41), IN_V3(44), IN(47));
  OUT_XP_SIDE(0, r.b) OUT_S33(13, r.b.m) OUT_S33(19, r.b.i)
}
PARITY_KERNEL(case_xp_pose)
{
  IN_XP_RECORD(r, 0)
  X7 pose = xp_pose(r);
  OUT_X7(0, pose) OUT_V3(7, xp_snap(r.b.v))
}
PARITY_KERNEL(case_xp_pair)
{
  IN_XP_PAIR
  OUT_V3(0, t.arm_a) OUT_V3(3, t.arm_b) OUT(6, t.gap); OUT(7, t.gap0); OUT_V3(8, t.la) OUT_V3(11, t.lb)
}
PARITY_KERNEL(case_xp_pair_press)
{
  IN_XP_PAIR
  OUT(0, xp_pair_press(t, a, b, IN(56), IN(57)));
}
PARITY_KERNEL(case_xp_pair_rub)
{
  IN_XP_PAIR
  OUT_V3(0, xp_pair_rub(t, a, b, IN(56), IN(57), IN_V3(58)))
}
PARITY_KERNEL(case_xp_pair_part)
{
  IN_XP_PAIR
  OUT_V3(0, xp_pair_part(t, a, b, IN(56)))
}
PARITY_KERNEL(case_xp_pair_bounce)
{
  IN_XP_PAIR
  OUT(0, xp_pair_bounce(t, a, b, IN(56), IN(57), IN(58), IN(59)));
}
PARITY_KERNEL(case_xp_pair_roll)
{
  IN_XP_PAIR
  OUT_V3(0, xp_pair_roll(t, a, b, IN(56), IN(57), IN(58)))
}
PARITY_KERNEL(case_xp_pair_correct)
{
  IN_XP_PAIR
  XpSides s = xp_pair_correct(t, a, b, IN_V3(53), IN_V3(56), IN(59));
  OUT_XP_SIDE(0, s.a) OUT_XP_SIDE(13, s.b)
}
PARITY_KERNEL(case_xp_pair_kick)
{
  IN_XP_PAIR
  XpSides s = xp_pair_kick(t, a, b, IN_V3(56), IN_V3(59));
  OUT_XP_SIDE(0, s.a) OUT_XP_SIDE(13, s.b)
}
