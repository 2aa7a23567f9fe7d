/* A near pair's iteration in the kernel dialect; scalar text. */
#ifndef SAMEBIT_XPBD_NEAR_KERNEL_H
#define SAMEBIT_XPBD_NEAR_KERNEL_H

#ifndef SB_GLSL
#include "samebit/particle_contact.h"
#include "xpbd_contact.kernel.h"
#include "xpbd_element.kernel.h"
#endif

/* Kinds, as in samebit/particle_contact.h, which GLSL does not read. */
#define XP_NEAR_POINTS 0
#define XP_NEAR_FACE 1

/* Particle k moves by w_k a_k p; acts: 0 where none does. */
STRUCT(XpNearMove) { V3 p; F a0; F a1; F a2; F a3; int acts; };

FN XpNearMove xp_near_move(int kind, F side, F thickness, F mu, XpPoint x0, XpPoint x1, XpPoint x2, XpPoint x3, F zero)
{
  NearPair f;
  if (kind == XP_NEAR_POINTS) {
    f = pair_points(x0.x, x1.x);
    f.a2 = zero; /* a value and not a constant, which devices would fold */
    f.a3 = zero;
  } else if (kind == XP_NEAR_FACE) {
    f = pair_face(x0.x, x1.x, x2.x, x3.x, side);
  } else {
    f = pair_edges(x0.x, x1.x, x2.x, x3.x, side);
  }
  V3 d = v3_add(v3_add(v3_scale(x0.d, f.a0), v3_scale(x1.d, f.a1)), v3_add(v3_scale(x2.d, f.a2), v3_scale(x3.d, f.a3)));
  F answer = ((x0.w * f.a0) * f.a0 + (x1.w * f.a1) * f.a1) + ((x2.w * f.a2) * f.a2 + (x3.w * f.a3) * f.a3);
  XpNearMove o;
  o.p = xp_apart(f, d, answer, thickness, mu);
  o.a0 = f.a0;
  o.a1 = f.a1;
  o.a2 = f.a2;
  o.a3 = f.a3;
  int pushes = 0;
  if (o.p.x != 0.0f || o.p.y != 0.0f || o.p.z != 0.0f) pushes = 1;
  o.acts = pushes;
  return o;
}

#endif
