/* Parity of what xpbd solves one contact at a time: near pairs of each kind, particles that touch bodies, bounce off them and are held by them. Scalar text. */
#include "samebit/near_pair.h"
#include "samebit/joint_law.h"
#include "samebit/rigid_spin.h"
#include "solvers/xpbd/xpbd_particle.kernel.h"
#include "solvers/xpbd/xpbd_element.kernel.h"
#include "solvers/xpbd/xpbd_body.kernel.h"
#include "solvers/xpbd/xpbd_contact.kernel.h"
#include "solvers/xpbd/xpbd_near.kernel.h"
#include "solvers/xpbd/xpbd_touch.kernel.h"
#include "tests/parity/cases/xpbd_point.h"

#define PARITY_CASES(X)                                                                                                \
  X(case_near_points, 32, 8)                                                                                           \
  X(case_near_face, 32, 8)                                                                                             \
  X(case_near_edges, 32, 8)                                                                                            \
  X(case_side, 42, 12)                                                                                                 \
  X(case_touch_particle, 64, 10)                                                                                       \
  X(case_bounce_particle, 64, 9)                                                                                       \
  X(case_hold_particle, 64, 6)

FN F parity_side(F x) { return f_sel(x >= 0.0f, K(1.0f), K(-1.0f)); }
#define NEAR(kind)                                                                                                     \
  {                                                                                                                    \
    XpNearMove r = xp_near_move(kind, parity_side(IN(28)), IN(29), IN(30), IN_POINT(0), IN_POINT(7), IN_POINT(14), IN_POINT(21), IN(31));   \
    OUT_V3(0, r.p) OUT(3, r.a0); OUT(4, r.a1); OUT(5, r.a2); OUT(6, r.a3); IOUT(7, r.acts);                            \
  }
PARITY_KERNEL(case_near_points) NEAR(XP_NEAR_POINTS)
PARITY_KERNEL(case_near_face) NEAR(XP_NEAR_FACE)
PARITY_KERNEL(case_near_edges) NEAR(2)

/* A record of 36 words; what it was when the substep began takes some of them again. */
#define IN_RECORD(r)                                                                                                   \
  XpRecord r;                                                                                                          \
  r.base = IN_V3(0); r.turn = q4_normalize(IN_Q4(3)); r.com = IN_V3(7);                                                \
  r.b.x = IN_V3(10); r.b.q = q4_normalize(IN_Q4(13)); r.b.v = IN_V3(17); r.b.w = IN_V3(20); r.b.m = IN_S33(23); r.b.i = IN_S33(29); \
  r.x0 = IN_V3(11); r.q0 = q4_normalize(IN_Q4(12)); r.v0 = IN_V3(18); r.w0 = IN_V3(21); r.vp = IN_V3(16); r.wp = IN_V3(19);
#define IN_SIDE(s)                                                                                                     \
  XpSide s;                                                                                                            \
  s.where = IN_V3(36); s.n = IN_V3(39); s.before = IN_V3(42); s.gone = IN_V3(45);

PARITY_KERNEL(case_side)
{
  IN_RECORD(r)
  XpSide s = xp_side(r, IN_V3(36), IN_V3(39));
  OUT_V3(0, s.where) OUT_V3(3, s.n) OUT_V3(6, s.before) OUT_V3(9, s.gone)
}
PARITY_KERNEL(case_touch_particle)
{
  IN_RECORD(r)
  IN_SIDE(s)
  XpParticleTouch o = xp_touch_particle(r, s, IN_POINT(48), IN(55), IN(56), IN(57), IN_V3(58), IN(61));
  OUT_V3(0, o.p) OUT_V3(3, o.lever) OUT(6, o.normal); OUT_V3(7, o.slide)
}
PARITY_KERNEL(case_bounce_particle)
{
  IN_RECORD(r)
  IN_SIDE(s)
  XpParticleBounce o = xp_bounce_particle(r, s, IN_POINT(48), IN_V3(55), IN_V3(46), IN_V3(49), IN(58), IN(59), IN(60), IN(61), IN(62), IN(63));
  OUT_V3(0, o.push) OUT_V3(3, o.lever) OUT_V3(6, o.shift)
}
PARITY_KERNEL(case_hold_particle)
{
  IN_RECORD(r)
  IN_SIDE(s)
  XpHeld o = xp_hold_particle(r, s, IN_POINT(48), IN(55), IN(56), IN_V3(57), IN(60));
  OUT_V3(0, o.p) OUT_V3(3, o.lever)
}
