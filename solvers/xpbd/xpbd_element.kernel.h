/* One pass over an element between particles in the kernel dialect: from records to corrections. The CPU's lanes and the device's shaders
 * load and store; what happens between is here.
 *
 * damping (uniform): 0 in the pass over stiffnesses, 1 in the pass over dampers. h: s, of a substep. */
#ifndef SAMEBIT_XPBD_ELEMENT_KERNEL_H
#define SAMEBIT_XPBD_ELEMENT_KERNEL_H

#ifndef SB_GLSL
#include "xpbd_particle.kernel.h"
#endif

/* A particle in a substep: where it was when that began (m), how far it has moved since (m), 1/kg. */
STRUCT(XpPoint) { V3 x; V3 d; F w; };

/* From j to i: where they were, then how far they have moved, so that no small number meets a large one before it must. */
FN V3 xp_between(XpPoint i, XpPoint j) { return v3_add(v3_sub(i.x, j.x), v3_sub(i.d, j.d)); }
/* The same in the middle of the movements. */
FN V3 xp_midway(XpPoint i, XpPoint j) { return v3_add_scaled(v3_sub(i.x, j.x), v3_sub(i.d, j.d), K(0.5f)); }
FN V3 xp_parted(XpPoint i, XpPoint j) { return v3_sub(i.d, j.d); }

/* Corrections of two particles. */
STRUCT(XpSpringMove) { V3 d0; V3 d1; F lambda; };

FN XpSpringMove xp_spring_move(XpPoint a, XpPoint b, F rest, F stiffness, F c, F h, int damping, F lambda)
{
  XpSpringMove r;
  V3 way = xp_between(a, b);
  F w = a.w + b.w;
  XpPull pull;
  if (damping != 0) {
    way = xp_midway(a, b);
    pull = xp_spring_damping(way, xp_parted(a, b), w, c * h);
  } else {
    pull = xp_spring(way, w, rest, xp_kh2(stiffness, h), lambda);
  }
  way = v3_scale(way, pull.s);
  r.d0 = v3_scale(way, a.w);
  r.d1 = v3_scale(way, -b.w);
  r.lambda = pull.lambda;
  return r;
}

/* What the air does: each particle moves by this times its w. */
FN V3 xp_air_move(XpPoint a, XpPoint b, XpPoint c, F drag, F lift, F h)
{
  V3 sum = v3_add(v3_add(a.d, b.d), c.d);
  return xp_air(xp_between(b, a), xp_between(c, a), v3_scale(sum, K(0.33333334f)), (a.w + b.w) + c.w, drag * h, lift * h);
}

/* springy and damped: 1 and 0 in the pass over stiffnesses, 0 and 1 in the other; values and not constants, which devices would fold. */
FN XpTri xp_tri_move(XpPoint a, XpPoint b, XpPoint c, XpTriRest rest, F ke, F ka, F kd, F h, int damping, F springy, F damped, V3 lambda)
{
  V3 e1;
  V3 e2;
  if (damping != 0) {
    e1 = xp_midway(b, a);
    e2 = xp_midway(c, a);
  } else {
    e1 = xp_between(b, a);
    e2 = xp_between(c, a);
  }
  ke = ke * springy;
  ka = ka * springy;
  kd = (kd * h) * damped;
  V3 kh2 = v3(xp_kh2(ke + ka, h), xp_kh2(ke, h), xp_kh2(4.0f * ke, h));
  V3 ch = v3(kd * 0.5f, kd * 0.5f, kd * 2.0f);
  return xp_tri(e1, e2, xp_parted(b, a), xp_parted(c, a), a.w, b.w, c.w, rest, kh2, ch, lambda);
}

FN XpEdge xp_edge_pass(XpPoint a, XpPoint b, XpPoint c, XpPoint e, F rest, F ke, F kd, F h, int damping, F lambda)
{
  XpEdge r;
  if (damping != 0)
    r = xp_edge_damping(xp_midway(a, c), xp_midway(b, c), xp_midway(e, c), a.d, b.d, c.d, e.d, a.w, b.w, c.w, e.w, kd * h);
  else
    r = xp_edge(xp_between(a, c), xp_between(b, c), xp_between(e, c), a.w, b.w, c.w, e.w, rest, xp_kh2(ke, h), lambda);
  return r;
}

/* mu, lambda, kd: times the volume. */
FN XpTet xp_tet_move(XpPoint a, XpPoint b, XpPoint c, XpPoint e, M33 pose, F mu, F lambda, F kd, F h, int damping, F shape, F volume)
{
  XpTet r;
  if (damping != 0)
    r = xp_tet_damping(xp_midway(b, a), xp_midway(c, a), xp_midway(e, a), xp_parted(b, a), xp_parted(c, a), xp_parted(e, a), a.w, b.w, c.w, e.w, pose,
                       kd * h);
  else
    r = xp_tet(xp_between(b, a), xp_between(c, a), xp_between(e, a), a.w, b.w, c.w, e.w, pose, xp_kh2(mu, h), xp_kh2(lambda, h),
               f_div(mu, f_max(lambda, K(1.0e-30f))), shape, volume);
  return r;
}

#endif
