/* Parity of the kernels of particles: words 0 to 2 a position, 3 to 5 sizes, 6 to 17 four points, 18 to 20 a velocity, 21 a length. The cases
 * named aligned round positions coarsely, so that ties, borders and degenerate features are common. */
#include "collision/near_order.kernel.h"
#include "collision/near_pair.kernel.h"
#include "collision/particle_shape.kernel.h"

#define PARITY_CASES(X)                                                                                                \
  X(case_particle_plane, 22, 7)                                                                                        \
  X(case_particle_sphere, 22, 7)                                                                                       \
  X(case_particle_capsule, 22, 7)                                                                                      \
  X(case_particle_box, 22, 7)                                                                                          \
  X(case_particle_cylinder, 22, 7)                                                                                     \
  X(case_particle_ellipsoid, 22, 7)                                                                                    \
  X(case_aligned_particle_box, 22, 7)                                                                                  \
  X(case_aligned_particle_cylinder, 22, 7)                                                                             \
  X(case_particle_reach, 22, 1)                                                                                        \
  X(case_near_points, 22, 6)                                                                                           \
  X(case_near_face, 22, 6)                                                                                             \
  X(case_near_edges, 22, 6)                                                                                            \
  X(case_aligned_near_face, 22, 6)                                                                                     \
  X(case_aligned_near_edges, 22, 6)                                                                                    \
  X(case_near_cut, 22, 5)                                                                                              \
  X(case_near_boxes, 22, 10)                                                                                           \
  X(case_near_meets, 22, 12)                                                                                           \
  X(case_near_order, 22, 1)

#define SIZES v3(f_abs(IN(3)), f_abs(IN(4)), f_abs(IN(5)))
#define COARSE(k) (f_round_even(IN(k) * 2.0f) * 0.5f)
#define COARSE_V3(k) v3(COARSE(k), COARSE(k + 1), COARSE(k + 2))
#define OUT_HIT(call)                                                                                                  \
  {                                                                                                                    \
    ParticleHit h = call;                                                                                              \
    OUT_V3(0, h.n) OUT_V3(3, h.point) OUT(6, h.distance);                                                              \
  }
#define OUT_NEAR(call)                                                                                                 \
  {                                                                                                                    \
    NearHit h = call;                                                                                                  \
    OUT(0, h.distance); OUT(1, h.side); MOUT(2, h.counts); OUT_V3(3, h.n)                                                             \
  }

PARITY_KERNEL(case_particle_plane) OUT_HIT(particle_plane(IN_V3(0)))
PARITY_KERNEL(case_particle_sphere) OUT_HIT(particle_sphere(IN_V3(0), SIZES))
PARITY_KERNEL(case_particle_capsule) OUT_HIT(particle_capsule(IN_V3(0), SIZES))
PARITY_KERNEL(case_particle_box) OUT_HIT(particle_box(IN_V3(0), SIZES))
PARITY_KERNEL(case_particle_cylinder) OUT_HIT(particle_cylinder(IN_V3(0), SIZES))
PARITY_KERNEL(case_particle_ellipsoid) OUT_HIT(particle_ellipsoid(IN_V3(0), SIZES))
PARITY_KERNEL(case_aligned_particle_box) OUT_HIT(particle_box(COARSE_V3(0), v3(f_abs(COARSE(3)), f_abs(COARSE(4)), f_abs(COARSE(5)))))
PARITY_KERNEL(case_aligned_particle_cylinder) OUT_HIT(particle_cylinder(COARSE_V3(0), v3(f_abs(COARSE(3)), f_abs(COARSE(4)), K(0.0f))))
PARITY_KERNEL(case_particle_reach) { OUT(0, particle_reach(IN_V3(6), IN_V3(18), IN(21))); }

PARITY_KERNEL(case_near_points) OUT_NEAR(near_points(IN_V3(6), IN_V3(9)))
PARITY_KERNEL(case_near_face) OUT_NEAR(near_face(IN_V3(6), IN_V3(9), IN_V3(12), IN_V3(15), f_abs(IN(21))))
PARITY_KERNEL(case_near_edges) OUT_NEAR(near_edges(IN_V3(6), IN_V3(9), IN_V3(12), IN_V3(15), f_abs(IN(21)), IN_V3(18), IN_V3(0)))
PARITY_KERNEL(case_aligned_near_face) OUT_NEAR(near_face(COARSE_V3(6), COARSE_V3(9), COARSE_V3(12), COARSE_V3(15), f_abs(IN(21))))
PARITY_KERNEL(case_aligned_near_edges) OUT_NEAR(near_edges(COARSE_V3(6), COARSE_V3(9), COARSE_V3(12), COARSE_V3(15), f_abs(IN(21)), IN_V3(18), IN_V3(0)))
PARITY_KERNEL(case_near_cut)
{
  F speed = f_sqrt(near_faster2(IN(0), IN_V3(6), IN_V3(9)));
  OUT(0, speed);
  OUT(1, near_cut(IN(1), speed, IN(21)));
  OUT(2, near_reach(IN(1), speed, IN(21)));
  OUT(3, near_closing(IN(0), IN_V3(6), IN_V3(9), IN_V3(12)));
  MOUT(4, near_are_neighbours(IN(0), IN(1), IN(21)));
}
PARITY_KERNEL(case_near_boxes)
{
  NearBox a = near_box_of(IN_V3(0), IN_V3(3), IN_V3(6));
  NearBox b = near_box_of(IN_V3(9), IN_V3(12), IN_V3(15));
  NearBox c = near_box_join(a, near_box_join(b, near_box_none()));
  OUT_V3(0, c.lo) OUT_V3(3, c.hi)
  NearBox u = near_box_of(IN_V3(18), IN_V3(0), IN_V3(0));
  NearBox v = near_box_of(IN_V3(3), IN_V3(12), IN_V3(12));
  OUT(6, near_speed(a, b, u, v, near_certain(IN(21))));
  MOUT(7, near_boxes_meet(a, b, IN(21)));
  MOUT(8, near_is_flat(a));
  MOUT(9, near_leans(IN_V3(9), near_middle(a)));
}
PARITY_KERNEL(case_near_meets)
{
  NearMotion v;
  v.a = IN_V3(18), v.b = IN_V3(0), v.c = IN_V3(3), v.d = IN_V3(12);
  NearRadii r;
  r.a = f_abs(IN(3)), r.b = f_abs(IN(4)), r.c = f_abs(IN(5)), r.d = f_abs(IN(21));
  F dt = f_abs(IN(20));
  NearMet p = near_meet_points(IN_V3(6), IN_V3(9), v.a, v.b, r.a + r.b, dt);
  NearMet f = near_meet_face(IN_V3(6), IN_V3(9), IN_V3(12), IN_V3(15), v, r, dt);
  NearMet e = near_meet_edges(IN_V3(6), IN_V3(9), IN_V3(12), IN_V3(15), v, r, dt);
  OUT(0, p.cut); OUT(1, p.thickness); OUT(2, f.cut); OUT(3, f.thickness); OUT(4, f.hit.distance); OUT(5, e.cut); OUT(6, e.thickness); OUT(7, e.hit.distance);
  F thinner = near_thinner(f.thickness, IN(5));
  OUT(8, near_thinner_cut(f, thinner)); OUT(9, near_pushed(thinner, f.hit.distance)); OUT(10, near_edge_reach(r.d)); OUT(11, near_normal(IN_V3(6), IN_V3(9), IN_V3(12)).x);
}
PARITY_KERNEL(case_near_order) { UOUT(0, near_order_key_of(IN_V3(6), IN_V3(9), IN_V3(0))); }
