/* Parity of the narrow-phase kernels: words 0 to 6 the relative pose, 7 to 12 the sizes, 13 the limit. The cases named
 * aligned round all of them coarsely, so that ties, parallel edges and coincident centres are common. */
#include "collision/narrow_manifold.kernel.h"
#include "collision/narrow_round.kernel.h"
#include "collision/narrow_box.kernel.h"
#include "collision/narrow_box_box.kernel.h"
#include "collision/swept.kernel.h"
#include "collision/hull_scan.kernel.h"

#define PARITY_CASES(X)                                                                                                \
  X(case_plane_sphere, 14, 35)                                                                                         \
  X(case_plane_capsule, 14, 35)                                                                                        \
  X(case_plane_box, 14, 35)                                                                                            \
  X(case_sphere_sphere, 14, 35)                                                                                        \
  X(case_sphere_capsule, 14, 35)                                                                                       \
  X(case_sphere_box, 14, 35)                                                                                           \
  X(case_capsule_capsule, 14, 35)                                                                                      \
  X(case_capsule_box, 14, 35)                                                                                          \
  X(case_box_box, 14, 35)                                                                                              \
  X(case_aligned_plane_box, 14, 35)                                                                                    \
  X(case_aligned_capsule_capsule, 14, 35)                                                                              \
  X(case_aligned_capsule_box, 14, 35)                                                                                  \
  X(case_aligned_box_box, 14, 35)                                                                                      \
  X(case_relative, 14, 10)                                                                                             \
  X(case_swept_pose, 17, 7)                                                                                            \
  X(case_swept_closing, 21, 1)                                                                                         \
  X(case_farthest, 9, 2)

#define NARROW_REL x7(IN_V3(0), q4_normalize(IN_Q4(3)))
#define NARROW_SIZE_A v3(f_abs(IN(7)), f_abs(IN(8)), f_abs(IN(9)))
#define NARROW_SIZE_B v3(f_abs(IN(10)), f_abs(IN(11)), f_abs(IN(12)))
#define NARROW_COARSE(k) (f_round_even(IN(k) * 2.0f) * 0.5f)
#define NARROW_COARSE_V3(k) v3(NARROW_COARSE(k), NARROW_COARSE(k + 1), NARROW_COARSE(k + 2))
#define NARROW_COARSE_REL                                                                                              \
  x7(NARROW_COARSE_V3(0),                                                                                              \
     q4_normalize(q4(f_round_even(IN(3)), f_round_even(IN(4)), f_round_even(IN(5)), f_round_even(IN(6)))))
#define NARROW_COARSE_SIZE(k) v3(f_abs(NARROW_COARSE(k)), f_abs(NARROW_COARSE(k + 1)), f_abs(NARROW_COARSE(k + 2)))
#define OUT_MANIFOLD(call)                                                                                             \
  {                                                                                                                    \
    Manifold m = call;                                                                                                 \
    OUT_V3(0, m.n) OUT_V3(3, m.a0) OUT_V3(6, m.a1) OUT_V3(9, m.a2) OUT_V3(12, m.a3)                                    \
    OUT_V3(15, m.b0) OUT_V3(18, m.b1) OUT_V3(21, m.b2) OUT_V3(24, m.b3)                                                \
    OUT(27, m.g0); OUT(28, m.g1); OUT(29, m.g2); OUT(30, m.g3);                                                        \
    UOUT(31, m.f0); UOUT(32, m.f1); UOUT(33, m.f2); UOUT(34, m.f3);                                                    \
  }

PARITY_KERNEL(case_plane_sphere) OUT_MANIFOLD(narrow_plane_sphere(NARROW_SIZE_B, NARROW_REL))
PARITY_KERNEL(case_plane_capsule) OUT_MANIFOLD(narrow_plane_capsule(NARROW_SIZE_B, NARROW_REL))
PARITY_KERNEL(case_plane_box) OUT_MANIFOLD(narrow_plane_box(NARROW_SIZE_B, NARROW_REL))
PARITY_KERNEL(case_sphere_sphere) OUT_MANIFOLD(narrow_sphere_sphere(NARROW_SIZE_A, NARROW_SIZE_B, NARROW_REL))
PARITY_KERNEL(case_sphere_capsule) OUT_MANIFOLD(narrow_sphere_capsule(NARROW_SIZE_A, NARROW_SIZE_B, NARROW_REL))
PARITY_KERNEL(case_sphere_box) OUT_MANIFOLD(narrow_sphere_box(NARROW_SIZE_A, NARROW_SIZE_B, NARROW_REL))
PARITY_KERNEL(case_capsule_capsule) OUT_MANIFOLD(narrow_capsule_capsule(NARROW_SIZE_A, NARROW_SIZE_B, NARROW_REL))
PARITY_KERNEL(case_capsule_box) OUT_MANIFOLD(narrow_capsule_box(NARROW_SIZE_A, NARROW_SIZE_B, NARROW_REL))
PARITY_KERNEL(case_box_box) OUT_MANIFOLD(narrow_box_box(NARROW_SIZE_A, NARROW_SIZE_B, NARROW_REL, IN(13)))
PARITY_KERNEL(case_aligned_plane_box) OUT_MANIFOLD(narrow_plane_box(NARROW_COARSE_SIZE(10), NARROW_COARSE_REL))
PARITY_KERNEL(case_aligned_capsule_capsule)
OUT_MANIFOLD(narrow_capsule_capsule(NARROW_COARSE_SIZE(7), NARROW_COARSE_SIZE(10), NARROW_COARSE_REL))
PARITY_KERNEL(case_aligned_capsule_box)
OUT_MANIFOLD(narrow_capsule_box(NARROW_COARSE_SIZE(7), NARROW_COARSE_SIZE(10), NARROW_COARSE_REL))
PARITY_KERNEL(case_aligned_box_box)
OUT_MANIFOLD(narrow_box_box(NARROW_COARSE_SIZE(7), NARROW_COARSE_SIZE(10), NARROW_COARSE_REL, f_abs(IN(13))))
PARITY_KERNEL(case_relative)
{
  X7 r = narrow_relative(NARROW_REL, x7(IN_V3(7), q4_normalize(IN_Q4(10))));
  OUT_V3(0, r.p) OUT_Q4(3, r.q) OUT_V3(7, narrow_axis_z(r.q))
}

#define SWEPT_BODY(name, k)                                                                                            \
  SweptBody name;                                                                                                      \
  name.centre = IN_V3(k); name.turn = q4_normalize(IN_Q4(k + 3)); name.v = IN_V3(k + 7); name.w = IN_V3(k + 10);      \
  name.com = IN_V3(k + 13);
PARITY_KERNEL(case_swept_pose)
{
  SWEPT_BODY(b, 0)
  X7 x = swept_pose(b, IN(16));
  OUT_V3(0, x.p) OUT(3, x.q.x); OUT(4, x.q.y); OUT(5, x.q.z); OUT(6, x.q.w);
}
PARITY_KERNEL(case_swept_closing)
{
  SWEPT_BODY(a, 0)
  SweptBody b = a;
  b.v = IN_V3(3); b.w = IN_V3(16);
  OUT(0, swept_closing(a, b, IN_V3(13), IN(19), IN(20)));
}
PARITY_KERNEL(case_farthest)
{
  Farthest best;
  best.along = IN(6);
  best.index = UIN(7);
  best = farthest_of(best, IN_V3(0), UIN(8), UIN(8) < UIN(7), IN_V3(3));
  OUT(0, best.along); UOUT(1, best.index);
}
