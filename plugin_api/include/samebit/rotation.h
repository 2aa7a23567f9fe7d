/* Rotations between their forms, and rigid transforms, in the kernel dialect. May know linear.h and transcendental.h.
 *
 * Quaternions are (x, y, z, w), unit, and turn a vector by q4_rotate(). Angles are in radians. */
#ifndef SAMEBIT_ROTATION_H
#define SAMEBIT_ROTATION_H

#include "samebit/kernel.h"
#include "samebit/exact.h"
#include "samebit/linear.h"
#include "samebit/transcendental.h"

/* Turn by `angle` about the unit vector `axis`. */
FN Q4 q4_from_axis_angle(V3 axis, F angle)
{
  SinCos h = f_sincos(angle * 0.5f);
  return q4(axis.x * h.s, axis.y * h.s, axis.z * h.s, h.c);
}

/* Turn by |v| about v: the exponential map. sin(a/2)/a is 1/2 - a^2/48 below a = 2^-10, where the next term is lost. */
FN Q4 q4_from_rotation_vector(V3 v)
{
  F a2 = v3_len2(v);
  M small = a2 < 9.5367432e-7f;
  F a = f_sqrt(f_sel(small, K(1.0f), a2));
  SinCos h = f_sincos(a * 0.5f);
  F k = f_sel(small, 0.5f - a2 * 2.0833334e-2f, f_div(h.s, a));
  return q4(v.x * k, v.y * k, v.z * k, f_sel(small, 1.0f - a2 * 0.125f, h.c));
}

/* The shorter rotation vector of a unit quaternion, |v| <= pi: the logarithm. angle/sin is 2 (1 + s^2/6) below s =
 * 2^-10. */
FN V3 rotation_vector_from_q4(Q4 q)
{
  M flip = q.w < 0.0f;
  V3 u = v3(f_sel(flip, -q.x, q.x), f_sel(flip, -q.y, q.y), f_sel(flip, -q.z, q.z));
  F s2 = v3_len2(u);
  M small = s2 < 9.5367432e-7f;
  F s = f_sqrt(f_sel(small, K(1.0f), s2));
  F angle = f_atan2(s, f_abs(q.w));
  F k = f_sel(small, 2.0f + s2 * 0.33333334f, f_div(angle + angle, s));
  return v3_scale(u, k);
}

/* Roll, pitch, yaw = turns about the fixed axes x, then y, then z (as URDF has them): q = z(yaw) y(pitch) x(roll). */
FN Q4 q4_from_rpy(V3 rpy)
{
  SinCos x = f_sincos(rpy.x * 0.5f);
  SinCos y = f_sincos(rpy.y * 0.5f);
  SinCos z = f_sincos(rpy.z * 0.5f);
  F cc = y.c * z.c;
  F ss = y.s * z.s;
  F sc = y.s * z.c;
  F cs = y.c * z.s;
  return q4(x.s * cc - x.c * ss, x.c * sc + x.s * cs, x.c * cs - x.s * sc, x.c * cc + x.s * ss);
}

/* Inverse of q4_from_rpy: roll and yaw in [-pi, pi], pitch in [-pi/2, pi/2]. Roll is read after the yaw found has been
 * turned back (second row of z(-yaw) R), so the three belong together even where pitch is straight up or down and yaw
 * itself is only noise. */
FN V3 rpy_from_q4(Q4 q)
{
  M33 m = q4_to_m33(q);
  F level = f_sqrt(m.r0.x * m.r0.x + m.r1.x * m.r1.x);
  F yaw = f_atan2(m.r1.x, m.r0.x);
  SinCos z = f_sincos(yaw);
  F roll = f_atan2(z.s * m.r0.z - z.c * m.r1.z, z.c * m.r1.y - z.s * m.r0.y);
  return v3(roll, f_atan2(-m.r2.x, level), yaw);
}

/* Unit quaternion, w >= 0 where w leads, of a rotation matrix (Shepperd 1978): divides by the largest of the four
 * components. The first wins a tie, in the order w, x, y, z. */
FN Q4 q4_from_m33(M33 m)
{
  F tw = (m.r0.x + m.r1.y) + m.r2.z;
  F tx = (m.r0.x - m.r1.y) - m.r2.z;
  F ty = (m.r1.y - m.r0.x) - m.r2.z;
  F tz = (m.r2.z - m.r0.x) - m.r1.y;
  F a = m.r2.y - m.r1.z;
  F b = m.r0.z - m.r2.x;
  F c = m.r1.x - m.r0.y;
  F d = m.r1.x + m.r0.y;
  F e = m.r0.z + m.r2.x;
  F f = m.r2.y + m.r1.z;
  F top = tw;
  Q4 r = q4(a, b, c, 1.0f + tw); /* four times the leading component times q */
  M x = tx > top;
  top = f_sel(x, tx, top);
  r = q4(f_sel(x, 1.0f + tx, r.x), f_sel(x, d, r.y), f_sel(x, e, r.z), f_sel(x, a, r.w));
  M y = ty > top;
  top = f_sel(y, ty, top);
  r = q4(f_sel(y, d, r.x), f_sel(y, 1.0f + ty, r.y), f_sel(y, f, r.z), f_sel(y, b, r.w));
  M z = tz > top;
  r = q4(f_sel(z, e, r.x), f_sel(z, f, r.y), f_sel(z, 1.0f + tz, r.z), f_sel(z, c, r.w));
  return q4_normalize(r);
}

FN M33 m33_transpose(M33 a)
{
  return m33(v3(a.r0.x, a.r1.x, a.r2.x), v3(a.r0.y, a.r1.y, a.r2.y), v3(a.r0.z, a.r1.z, a.r2.z));
}

/* The transform that undoes a. */
FN X7 x7_inv(X7 a)
{
  Q4 q = q4_conj(a.q);
  return x7(v3_neg(q4_rotate(q, a.p)), q);
}

#endif
