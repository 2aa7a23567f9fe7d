/* Vectors, quaternions, matrices and rigid transforms in the kernel dialect.
 *
 * Quaternions are (x, y, z, w) with w the scalar part. Matrices are stored by rows. Sums run left to right in the order
 * written: that order is part of the contract. Include after samebit/kernel.h and, in GLSL, samebit/exact.h. */
#ifndef SAMEBIT_LINEAR_H
#define SAMEBIT_LINEAR_H

#ifndef SB_GLSL
#include "samebit/kernel.h"
#endif

STRUCT(V3) { F x; F y; F z; };
STRUCT(Q4) { F x; F y; F z; F w; };
STRUCT(M33) { V3 r0; V3 r1; V3 r2; };
/* Symmetric 3 x 3 matrix. */
STRUCT(S33) { F xx; F yy; F zz; F xy; F xz; F yz; };
/* Rigid transform: point x goes to p + rotate(q, x). */
STRUCT(X7) { V3 p; Q4 q; };

FN V3 v3(F x, F y, F z) { V3 r; r.x = x; r.y = y; r.z = z; return r; }
FN V3 v3_zero(void) { return v3(K(0.0f), K(0.0f), K(0.0f)); }
FN V3 v3_add(V3 a, V3 b) { return v3(a.x + b.x, a.y + b.y, a.z + b.z); }
FN V3 v3_sub(V3 a, V3 b) { return v3(a.x - b.x, a.y - b.y, a.z - b.z); }
FN V3 v3_neg(V3 a) { return v3(-a.x, -a.y, -a.z); }
FN V3 v3_scale(V3 a, F s) { return v3(a.x * s, a.y * s, a.z * s); }
/* a + b * s */
FN V3 v3_add_scaled(V3 a, V3 b, F s) { return v3(a.x + b.x * s, a.y + b.y * s, a.z + b.z * s); }
FN F v3_dot(V3 a, V3 b) { return (a.x * b.x + a.y * b.y) + a.z * b.z; }
FN V3 v3_cross(V3 a, V3 b) { return v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x); }
FN F v3_len2(V3 a) { return v3_dot(a, a); }
FN F v3_len(V3 a) { return f_sqrt(v3_dot(a, a)); }
FN V3 v3_sel(M m, V3 a, V3 b) { return v3(f_sel(m, a.x, b.x), f_sel(m, a.y, b.y), f_sel(m, a.z, b.z)); }
/* a / |a|, or fallback where |a|^2 is below 1e-24 (m^2 for a length in metres). */
FN V3 v3_normalize_or(V3 a, V3 fallback)
{
  F l2 = v3_dot(a, a);
  M ok = l2 > 1.0e-24f;
  F inv = f_div(K(1.0f), f_sqrt(f_sel(ok, l2, K(1.0f))));
  return v3_sel(ok, v3_scale(a, inv), fallback);
}
/* Some unit vector at right angles to the unit vector n (Duff et al., JCGT 2017, without its sign copy). */
FN V3 v3_orthogonal(V3 n)
{
  M use_x = n.x * n.x < 0.5f;
  V3 a = v3_sel(use_x, v3(K(0.0f), n.z, -n.y), v3(-n.z, K(0.0f), n.x));
  return v3_normalize_or(a, v3(K(0.0f), K(0.0f), K(1.0f)));
}

FN Q4 q4(F x, F y, F z, F w) { Q4 r; r.x = x; r.y = y; r.z = z; r.w = w; return r; }
FN Q4 q4_identity(void) { return q4(K(0.0f), K(0.0f), K(0.0f), K(1.0f)); }
FN Q4 q4_conj(Q4 a) { return q4(-a.x, -a.y, -a.z, a.w); }
FN Q4 q4_mul(Q4 a, Q4 b)
{
  return q4(((a.w * b.x + a.x * b.w) + a.y * b.z) - a.z * b.y, ((a.w * b.y + a.y * b.w) + a.z * b.x) - a.x * b.z,
            ((a.w * b.z + a.z * b.w) + a.x * b.y) - a.y * b.x, ((a.w * b.w - a.x * b.x) - a.y * b.y) - a.z * b.z);
}
FN V3 q4_rotate(Q4 q, V3 v)
{
  V3 u = v3(q.x, q.y, q.z);
  V3 t = v3_cross(u, v);
  t = v3_add(t, t);
  return v3_add(v3_add_scaled(v, t, q.w), v3_cross(u, t));
}
FN V3 q4_rotate_inv(Q4 q, V3 v) { return q4_rotate(q4_conj(q), v); }
FN Q4 q4_normalize(Q4 q)
{
  F l2 = ((q.x * q.x + q.y * q.y) + q.z * q.z) + q.w * q.w;
  M ok = l2 > 1.0e-24f;
  F inv = f_div(K(1.0f), f_sqrt(f_sel(ok, l2, K(1.0f))));
  return q4(f_sel(ok, q.x * inv, K(0.0f)), f_sel(ok, q.y * inv, K(0.0f)), f_sel(ok, q.z * inv, K(0.0f)),
            f_sel(ok, q.w * inv, K(1.0f)));
}
/* Orientation after turning with world angular velocity w (rad/s) for dt (s): q + dt/2 (w, 0) q, normalised. */
FN Q4 q4_integrate(Q4 q, V3 w, F dt)
{
  F h = dt * 0.5f;
  F x = w.x * h;
  F y = w.y * h;
  F z = w.z * h;
  /* The product is written out: a scalar part of 0 would be folded by some devices, and not by others. */
  return q4_normalize(q4(q.x + ((x * q.w + y * q.z) - z * q.y), q.y + ((y * q.w + z * q.x) - x * q.z),
                         q.z + ((z * q.w + x * q.y) - y * q.x), q.w - ((x * q.x + y * q.y) + z * q.z)));
}

/* The same with the angular velocity in the turning body's own axes: q + dt/2 q (w, 0), normalised. */
FN Q4 q4_integrate_local(Q4 q, V3 w, F dt)
{
  F h = dt * 0.5f;
  F x = w.x * h;
  F y = w.y * h;
  F z = w.z * h;
  return q4_normalize(q4(q.x + ((x * q.w + z * q.y) - y * q.z), q.y + ((y * q.w + x * q.z) - z * q.x),
                         q.z + ((z * q.w + y * q.x) - x * q.y), q.w - ((x * q.x + y * q.y) + z * q.z)));
}

FN M33 m33(V3 r0, V3 r1, V3 r2) { M33 r; r.r0 = r0; r.r1 = r1; r.r2 = r2; return r; }
FN V3 m33_mul_v3(M33 a, V3 v) { return v3(v3_dot(a.r0, v), v3_dot(a.r1, v), v3_dot(a.r2, v)); }
/* transpose(a) * v */
FN V3 m33_tmul_v3(M33 a, V3 v)
{
  return v3((a.r0.x * v.x + a.r1.x * v.y) + a.r2.x * v.z, (a.r0.y * v.x + a.r1.y * v.y) + a.r2.y * v.z,
            (a.r0.z * v.x + a.r1.z * v.y) + a.r2.z * v.z);
}
/* row vector v times matrix b */
FN V3 v3_mul_m33(V3 v, M33 b) { return m33_tmul_v3(b, v); }
FN M33 m33_mul(M33 a, M33 b) { return m33(v3_mul_m33(a.r0, b), v3_mul_m33(a.r1, b), v3_mul_m33(a.r2, b)); }
/* Rotation matrix of a unit quaternion: columns are the turned axes. */
FN M33 q4_to_m33(Q4 q)
{
  F x2 = q.x + q.x; F y2 = q.y + q.y; F z2 = q.z + q.z;
  F xx = q.x * x2; F yy = q.y * y2; F zz = q.z * z2;
  F xy = q.x * y2; F xz = q.x * z2; F yz = q.y * z2;
  F wx = q.w * x2; F wy = q.w * y2; F wz = q.w * z2;
  return m33(v3(1.0f - (yy + zz), xy - wz, xz + wy), v3(xy + wz, 1.0f - (xx + zz), yz - wx),
             v3(xz - wy, yz + wx, 1.0f - (xx + yy)));
}

FN S33 s33(F xx, F yy, F zz, F xy, F xz, F yz)
{
  S33 r; r.xx = xx; r.yy = yy; r.zz = zz; r.xy = xy; r.xz = xz; r.yz = yz;
  return r;
}
FN V3 s33_mul_v3(S33 a, V3 v)
{
  return v3((a.xx * v.x + a.xy * v.y) + a.xz * v.z, (a.xy * v.x + a.yy * v.y) + a.yz * v.z,
            (a.xz * v.x + a.yz * v.y) + a.zz * v.z);
}
FN S33 s33_add(S33 a, S33 b)
{
  return s33(a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz);
}
FN S33 s33_sub(S33 a, S33 b)
{
  return s33(a.xx - b.xx, a.yy - b.yy, a.zz - b.zz, a.xy - b.xy, a.xz - b.xz, a.yz - b.yz);
}
FN M33 s33_to_m33(S33 a) { return m33(v3(a.xx, a.xy, a.xz), v3(a.xy, a.yy, a.yz), v3(a.xz, a.yz, a.zz)); }
/* Inverse of a symmetric positive definite 3 x 3 matrix by cofactors. */
FN S33 s33_inverse(S33 a)
{
  F c0 = a.yy * a.zz - a.yz * a.yz;
  F c1 = a.xz * a.yz - a.xy * a.zz;
  F c2 = a.xy * a.yz - a.xz * a.yy;
  F inv = f_div(K(1.0f), (a.xx * c0 + a.xy * c1) + a.xz * c2);
  return s33(c0 * inv, (a.xx * a.zz - a.xz * a.xz) * inv, (a.xx * a.yy - a.xy * a.xy) * inv, c1 * inv, c2 * inv,
             (a.xy * a.xz - a.xx * a.yz) * inv);
}
/* r * a * transpose(r): an inertia tensor in the axes that r turns to. */
FN S33 s33_rotate(M33 r, S33 a)
{
  V3 t0 = s33_mul_v3(a, r.r0);
  V3 t1 = s33_mul_v3(a, r.r1);
  V3 t2 = s33_mul_v3(a, r.r2);
  return s33(v3_dot(r.r0, t0), v3_dot(r.r1, t1), v3_dot(r.r2, t2), v3_dot(r.r0, t1), v3_dot(r.r0, t2), v3_dot(r.r1, t2));
}

FN X7 x7(V3 p, Q4 q) { X7 r; r.p = p; r.q = q; return r; }
FN V3 x7_point(X7 a, V3 v) { return v3_add(a.p, q4_rotate(a.q, v)); }
FN V3 x7_point_inv(X7 a, V3 v) { return q4_rotate_inv(a.q, v3_sub(v, a.p)); }
FN X7 x7_mul(X7 a, X7 b) { return x7(x7_point(a, b.p), q4_mul(a.q, b.q)); }

#endif
