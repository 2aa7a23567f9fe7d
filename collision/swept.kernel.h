/* Motion of bodies within a tick, in the kernel dialect: where a shape is at a time, and how fast a distance can
 * shrink. */
#ifndef SAMEBIT_COLLISION_SWEPT_KERNEL_H
#define SAMEBIT_COLLISION_SWEPT_KERNEL_H

#include "samebit/maths.h"

/* A body on its way: centre of mass and orientation at the start, velocities (m/s, rad/s); com: the centre of mass in
 * its frame. */
STRUCT(SweptBody)
{
  V3 centre;
  Q4 turn;
  V3 v;
  V3 w;
  V3 com;
};

/* Pose after t seconds of straight and even motion. */
FN X7 swept_pose(SweptBody b, F t)
{
  X7 x;
  x.q = q4_normalize(q4_mul(q4_from_rotation_vector(v3_scale(b.w, t)), b.turn));
  x.p = v3_sub(v3_add_scaled(b.centre, b.v, t), q4_rotate(x.q, b.com));
  return x;
}

/* The fastest (m/s) that a gap along n, from a to b, can shrink: no point of a is farther than reach_a (m) from a's
 * centre of mass. */
FN F swept_closing(SweptBody a, SweptBody b, V3 n, F reach_a, F reach_b)
{
  F straight = v3_dot(n, v3_sub(a.v, b.v));
  return straight + (v3_len(a.w) * reach_a + v3_len(b.w) * reach_b);
}

#endif
