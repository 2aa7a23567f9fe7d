/* Motion of a frame on a body, and how one frame sees another, in the kernel dialect. */
#ifndef SAMEBIT_HOST_SENSOR_KERNEL_H
#define SAMEBIT_HOST_SENSOR_KERNEL_H

#ifndef SB_GLSL
#include "samebit/maths.h"
#endif

/* Pose and velocity of a frame in the world; v is that of its origin. */
STRUCT(SensorFrame) { X7 pose; V3 v; V3 w; };

/* The frame `mount` on a body at `body` whose centre of mass, at com in the body, moves with v and w. */
FN SensorFrame sensor_frame(X7 body, V3 com, V3 v, V3 w, X7 mount)
{
  SensorFrame r;
  r.pose = x7_mul(body, mount);
  r.v = v3_add(v, v3_cross(w, q4_rotate(body.q, v3_sub(mount.p, com))));
  r.w = w;
  return r;
}

/* Frame a as frame r sees it while both move: pose in r, rate of that position, difference of the spins, both in r's axes. */
FN SensorFrame sensor_seen_from(SensorFrame a, SensorFrame r)
{
  SensorFrame s;
  V3 arm = v3_sub(a.pose.p, r.pose.p);
  s.pose.p = q4_rotate_inv(r.pose.q, arm);
  s.pose.q = q4_mul(q4_conj(r.pose.q), a.pose.q);
  s.v = q4_rotate_inv(r.pose.q, v3_sub(v3_sub(a.v, r.v), v3_cross(r.w, arm)));
  s.w = q4_rotate_inv(r.pose.q, v3_sub(a.w, r.w));
  return s;
}

/* Mean acceleration over a tick of dt in world axes, as something that falls freely feels it: without gravity. */
FN V3 sensor_acceleration(V3 before, V3 after, F dt, V3 gravity)
{
  V3 d = v3_sub(after, before);
  return v3_sub(v3(f_div(d.x, dt), f_div(d.y, dt), f_div(d.z, dt)), gravity);
}

#endif
