/* Joints between bodies in maximal coordinates, in the kernel dialect: where the coordinates put the child, and how an error splits into what the
 * joint leaves free and what it must hold. No solver's; may know the shared maths. */
#ifndef SAMEBIT_MAXIMAL_KERNEL_H
#define SAMEBIT_MAXIMAL_KERNEL_H

#ifndef SB_GLSL
#include "samebit/maths.h"
#endif

/* The joint frame after one dof. axis and anchor: world; anchor is a point on an angular axis. */
STRUCT(MxAxis) { V3 axis; V3 anchor; X7 frame; };

FN MxAxis mx_axis_angular(X7 frame, V3 axis, V3 anchor, F x)
{
  MxAxis r;
  r.axis = q4_rotate(frame.q, axis);
  r.anchor = x7_point(frame, anchor);
  r.frame.q = q4_mul(frame.q, q4_from_axis_angle(axis, x));
  r.frame.p = v3_sub(r.anchor, q4_rotate(r.frame.q, anchor));
  return r;
}

FN MxAxis mx_axis_linear(X7 frame, V3 axis, F x)
{
  MxAxis r;
  r.axis = q4_rotate(frame.q, axis);
  r.frame.q = frame.q;
  r.frame.p = v3_add_scaled(frame.p, r.axis, x);
  r.anchor = r.frame.p;
  return r;
}

/* Rotation vector (rad) from orientation a to a near orientation b: twice the vector part. */
FN V3 mx_turn(Q4 a, Q4 b)
{
  Q4 d = q4_mul(b, q4_conj(a));
  F s = f_sel(d.w < 0.0f, K(-2.0f), K(2.0f));
  return v3(d.x * s, d.y * s, d.z * s);
}

/* Up to three directions, and for each 1, or 0 where it is not there. */
STRUCT(MxFree) { V3 d0; V3 d1; V3 d2; V3 used; };

FN MxFree mx_free_none(void)
{
  MxFree r;
  r.d0 = v3_zero();
  r.d1 = v3_zero();
  r.d2 = v3_zero();
  r.used = v3_zero();
  return r;
}

/* Least squares from the products of the directions with a vector; 0 for what is not there. A small diagonal keeps parallel directions finite. */
FN V3 mx_fit_products(MxFree f, V3 products)
{
  V3 u = v3_scale(f.d0, f.used.x);
  V3 v = v3_scale(f.d1, f.used.y);
  V3 w = v3_scale(f.d2, f.used.z);
  S33 g = s33((v3_dot(u, u) + 1.0e-6f) + (1.0f - f.used.x), (v3_dot(v, v) + 1.0e-6f) + (1.0f - f.used.y),
              (v3_dot(w, w) + 1.0e-6f) + (1.0f - f.used.z), v3_dot(u, v), v3_dot(u, w), v3_dot(v, w));
  return s33_mul_v3(s33_inverse(g), v3(products.x * f.used.x, products.y * f.used.y, products.z * f.used.z));
}

/* x minimises |d0 x0 + d1 x1 + d2 x2 - e|. */
FN V3 mx_fit(MxFree f, V3 e) { return mx_fit_products(f, v3(v3_dot(f.d0, e), v3_dot(f.d1, e), v3_dot(f.d2, e))); }

FN V3 mx_combine(MxFree f, V3 x) { return v3_add_scaled(v3_add_scaled(v3_scale(f.d0, x.x), f.d1, x.y), f.d2, x.z); }

/* What of e the joint holds. */
FN V3 mx_held(MxFree f, V3 e) { return v3_sub(e, mx_combine(f, mx_fit(f, e))); }

/* The impulse within the held directions that takes the error e out of what answers to impulses as `response`: P (P R P + s (1 - P))^-1 P (-e), P the
 * projection onto the held directions, s the size of R. */
FN V3 mx_hold(MxFree f, S33 response, V3 e)
{
  /* columns of 1 - P, then of P; written out, for constant zeros in products would be folded by some devices */
  V3 fx = mx_combine(f, mx_fit_products(f, v3(f.d0.x, f.d1.x, f.d2.x)));
  V3 fy = mx_combine(f, mx_fit_products(f, v3(f.d0.y, f.d1.y, f.d2.y)));
  V3 fz = mx_combine(f, mx_fit_products(f, v3(f.d0.z, f.d1.z, f.d2.z)));
  V3 px = v3(1.0f - fx.x, -fx.y, -fx.z);
  V3 py = v3(-fy.x, 1.0f - fy.y, -fy.z);
  V3 pz = v3(-fz.x, -fz.y, 1.0f - fz.z);
  V3 rx = s33_mul_v3(response, px);
  V3 ry = s33_mul_v3(response, py);
  V3 rz = s33_mul_v3(response, pz);
  F s = f_max((response.xx + response.yy) + response.zz, K(1.0e-12f));
  S33 a = s33(v3_dot(px, rx) + s * (1.0f - px.x), v3_dot(py, ry) + s * (1.0f - py.y), v3_dot(pz, rz) + s * (1.0f - pz.z),
              v3_dot(px, ry) - s * px.y, v3_dot(px, rz) - s * px.z, v3_dot(py, rz) - s * py.z);
  V3 u = s33_mul_v3(s33_inverse(a), mx_held(f, e));
  return v3_neg(mx_held(f, u));
}

#endif
