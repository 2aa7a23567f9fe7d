/* Parity of semi_particle.kernel.h and samebit/near_pair.h. */
#include "samebit/joint_law.h"
#include "samebit/penalty_contact.h"
#include "samebit/rigid_spin.h"
#include "samebit/near_pair.h"
#include "solvers/semi_implicit/semi_implicit.kernel.h"
#include "solvers/semi_implicit/semi_particle.kernel.h"

#define PARITY_CASES(X)                                                                                                \
  X(case_si_spring, 9, 3)                                                                                              \
  X(case_si_tri, 26, 9)                                                                                                \
  X(case_si_air, 15, 3)                                                                                                \
  X(case_si_edge, 27, 12)                                                                                              \
  X(case_si_tet, 37, 12)                                                                                               \
  X(case_si_hold, 34, 9)                                                                                               \
  X(case_si_touch, 41, 9)                                                                                              \
  X(case_si_apart, 17, 3)                                                                                              \
  X(case_si_move, 14, 6)                                                                                               \
  X(case_pair_points, 6, 8)                                                                                            \
  X(case_pair_face, 13, 8)                                                                                             \
  X(case_pair_edges, 13, 8)

#define IN_BODY(name, k)                                                                                               \
  SiBody name;                                                                                                         \
  name.pose = IN_X7(k); name.com = IN_V3(k + 7); name.v = IN_V3(k + 10); name.w = IN_V3(k + 13);                       \
  name.inv_mass = IN(k + 16); name.inv_inertia = IN_S33(k + 17);
#define OUT_QUAD(r) OUT_V3(0, r.f0) OUT_V3(3, r.f1) OUT_V3(6, r.f2) OUT_V3(9, r.f3)
#define OUT_PRESS(r) OUT_V3(0, r.f) OUT_V3(3, r.body.f) OUT_V3(6, r.body.t)
#define OUT_NEAR(r) OUT_V3(0, r.n) OUT(3, r.distance); OUT(4, r.a0); OUT(5, r.a1); OUT(6, r.a2); OUT(7, r.a3);

PARITY_KERNEL(case_si_spring)
{
  OUT_V3(0, si_spring(IN_V3(0), IN_V3(3), IN(6), IN(7), IN(8)))
}
PARITY_KERNEL(case_si_tri)
{
  SiTriRest rest;
  rest.ax = IN(18); rest.ay = IN(19); rest.bx = IN(20); rest.by = IN(21); rest.area = IN(22);
  SiTri r = si_tri(IN_V3(0), IN_V3(3), IN_V3(6), IN_V3(9), IN_V3(12), IN_V3(15), rest, IN(23), IN(24), IN(25));
  OUT_V3(0, r.f0) OUT_V3(3, r.f1) OUT_V3(6, r.f2)
}
PARITY_KERNEL(case_si_air)
{
  OUT_V3(0, si_air(IN_V3(0), IN_V3(3), IN_V3(6), IN_V3(9), IN(12), IN(13), IN(14)))
}
PARITY_KERNEL(case_si_edge)
{
  SiQuad r = si_edge(IN_V3(0), IN_V3(3), IN_V3(6), IN_V3(9), IN_V3(12), IN_V3(15), IN_V3(18), IN_V3(21), IN(24), IN(25), IN(26));
  OUT_QUAD(r)
}
PARITY_KERNEL(case_si_tet)
{
  M33 b = m33(IN_V3(24), IN_V3(27), IN_V3(30));
  SiQuad r = si_tet(IN_V3(0), IN_V3(3), IN_V3(6), IN_V3(9), IN_V3(12), IN_V3(15), IN_V3(18), IN_V3(21), b, IN(33), IN(34), IN(35), IN(36));
  OUT_QUAD(r)
}
PARITY_KERNEL(case_si_hold)
{
  IN_BODY(body, 0)
  SiPress r = si_hold(body, IN_V3(23), IN_V3(26), IN_V3(29), IN(32), IN(33));
  OUT_PRESS(r)
}
PARITY_KERNEL(case_si_touch)
{
  IN_BODY(body, 0)
  SiPress r = si_touch(body, IN_V3(23), IN_V3(26), IN_V3(29), IN_V3(32), IN(35), IN(36), IN(37), IN(38), IN(39), IN(40));
  OUT_PRESS(r)
}
PARITY_KERNEL(case_si_apart)
{
  NearPair near;
  near.n = IN_V3(0); near.distance = IN(3);
  near.a0 = IN(4); near.a1 = IN(5); near.a2 = IN(6); near.a3 = IN(7);
  OUT_V3(0, si_apart(near, IN_V3(8), IN(11), IN(12), IN(13), IN(14), IN(15), IN(16)))
}
PARITY_KERNEL(case_si_move)
{
  SiMove r = si_move(IN_V3(0), IN_V3(3), IN(6), IN_V3(7), IN_V3(10), IN(13));
  OUT_V3(0, r.x) OUT_V3(3, r.v)
}
PARITY_KERNEL(case_pair_points)
{
  NearPair r = pair_points(IN_V3(0), IN_V3(3));
  OUT_NEAR(r)
}
PARITY_KERNEL(case_pair_face)
{
  NearPair r = pair_face(IN_V3(0), IN_V3(3), IN_V3(6), IN_V3(9), IN(12));
  OUT_NEAR(r)
}
PARITY_KERNEL(case_pair_edges)
{
  NearPair r = pair_edges(IN_V3(0), IN_V3(3), IN_V3(6), IN_V3(9), IN(12));
  OUT_NEAR(r)
}
