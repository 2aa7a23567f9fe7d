/* Parity of xpbd's passes over an element, from records to corrections: with stiffness and with damping. */
#include "solvers/xpbd/xpbd_particle.kernel.h"
#include "solvers/xpbd/xpbd_element.kernel.h"
#include "tests/parity/cases/xpbd_point.h"

#define PARITY_CASES(X)                                                                                                \
  X(case_spring_stiff, 19, 7)                                                                                          \
  X(case_spring_damped, 19, 7)                                                                                         \
  X(case_air, 24, 3)                                                                                                   \
  X(case_tri_stiff, 34, 12)                                                                                            \
  X(case_tri_damped, 34, 12)                                                                                           \
  X(case_edge_stiff, 33, 13)                                                                                           \
  X(case_edge_damped, 33, 12)                                                                                          \
  X(case_tet_stiff, 43, 14)                                                                                            \
  X(case_tet_damped, 43, 12)

FN XpTriRest parity_rest(F ax, F ay, F bx, F by)
{
  XpTriRest r;
  r.ax = ax;
  r.ay = ay;
  r.bx = bx;
  r.by = by;
  return r;
}
#define SPRING(damping) xp_spring_move(IN_POINT(0), IN_POINT(7), IN(14), IN(15), IN(16), IN(17), damping, IN(18))
#define TRI(damping)                                                                                                   \
  xp_tri_move(IN_POINT(0), IN_POINT(7), IN_POINT(14), parity_rest(IN(21), IN(22), IN(23), IN(24)), IN(25), IN(26), IN(27), IN(28), damping, IN(29), IN(30), IN_V3(31))
#define EDGE(damping) xp_edge_pass(IN_POINT(0), IN_POINT(7), IN_POINT(14), IN_POINT(21), IN(28), IN(29), IN(30), IN(31), damping, IN(32))
#define TET(damping) xp_tet_move(IN_POINT(0), IN_POINT(7), IN_POINT(14), IN_POINT(21), IN_M33(28), IN(37), IN(38), IN(39), IN(40), damping, IN(41), IN(42))

PARITY_KERNEL(case_spring_stiff)
{
  XpSpringMove r = SPRING(0);
  OUT_V3(0, r.d0) OUT_V3(3, r.d1) OUT(6, r.lambda);
}
PARITY_KERNEL(case_spring_damped)
{
  XpSpringMove r = SPRING(1);
  OUT_V3(0, r.d0) OUT_V3(3, r.d1) OUT(6, r.lambda);
}
PARITY_KERNEL(case_air) { OUT_V3(0, xp_air_move(IN_POINT(0), IN_POINT(7), IN_POINT(14), IN(21), IN(22), IN(23))) }
PARITY_KERNEL(case_tri_stiff)
{
  XpTri r = TRI(0);
  OUT_V3(0, r.d0) OUT_V3(3, r.d1) OUT_V3(6, r.d2) OUT_V3(9, r.lambda)
}
PARITY_KERNEL(case_tri_damped)
{
  XpTri r = TRI(1);
  OUT_V3(0, r.d0) OUT_V3(3, r.d1) OUT_V3(6, r.d2) OUT_V3(9, r.lambda)
}
PARITY_KERNEL(case_edge_stiff)
{
  XpEdge r = EDGE(0);
  OUT_V3(0, r.d0) OUT_V3(3, r.d1) OUT_V3(6, r.d2) OUT_V3(9, r.d3) OUT(12, r.lambda);
}
PARITY_KERNEL(case_edge_damped)
{
  XpEdge r = EDGE(1);
  OUT_V3(0, r.d0) OUT_V3(3, r.d1) OUT_V3(6, r.d2) OUT_V3(9, r.d3)
}
PARITY_KERNEL(case_tet_stiff)
{
  XpTet r = TET(0);
  OUT_V3(0, r.d0) OUT_V3(3, r.d1) OUT_V3(6, r.d2) OUT_V3(9, r.d3) OUT(12, r.shape); OUT(13, r.volume);
}
PARITY_KERNEL(case_tet_damped)
{
  XpTet r = TET(1);
  OUT_V3(0, r.d0) OUT_V3(3, r.d1) OUT_V3(6, r.d2) OUT_V3(9, r.d3)
}
