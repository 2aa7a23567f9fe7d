/* Vectors and quaternions in binary64 for the physics tests. Knows the C library alone, so that it cannot share a mistake with the
 * kernels. */
#ifndef SAMEBIT_PHYSICS_MATH_H
#define SAMEBIT_PHYSICS_MATH_H

#include <math.h>

#define PHYSICS_PI 3.14159265358979323846
/* Half a unit in the last place of 1 in binary32: the relative error of one rounding. */
#define PHYSICS_ULP 5.9604644775390625e-8

typedef struct dv {
  double x, y, z;
} dv;
typedef struct dq {
  double x, y, z, w;
} dq;

static inline dv dv_make(double x, double y, double z) { return (dv){x, y, z}; }
static inline dv dv_read(const float *p) { return (dv){p[0], p[1], p[2]}; }
static inline dv dv_add(dv a, dv b) { return (dv){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline dv dv_sub(dv a, dv b) { return (dv){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline dv dv_scale(dv a, double s) { return (dv){a.x * s, a.y * s, a.z * s}; }
static inline double dv_dot(dv a, dv b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline double dv_len(dv a) { return sqrt(dv_dot(a, a)); }
static inline dv dv_cross(dv a, dv b) { return (dv){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
static inline dv dv_unit(dv a) { return dv_scale(a, 1.0 / dv_len(a)); }

static inline dq dq_read(const float *p) { return (dq){p[0], p[1], p[2], p[3]}; }
static inline dq dq_conj(dq a) { return (dq){-a.x, -a.y, -a.z, a.w}; }
static inline double dq_len(dq a) { return sqrt(a.x * a.x + a.y * a.y + a.z * a.z + a.w * a.w); }
static inline dq dq_unit(dq a)
{
  double l = dq_len(a);
  return (dq){a.x / l, a.y / l, a.z / l, a.w / l};
}
static inline dq dq_mul(dq a, dq b)
{
  return (dq){a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
              a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}
static inline dv dq_rotate(dq q, dv v)
{
  dq r = dq_mul(dq_mul(q, (dq){v.x, v.y, v.z, 0}), dq_conj(q));
  return (dv){r.x, r.y, r.z};
}
static inline dq dq_turn(dv axis, double angle)
{
  double s = sin(0.5 * angle);
  return (dq){axis.x * s, axis.y * s, axis.z * s, cos(0.5 * angle)};
}
/* Angle (rad) between two orientations. */
static inline double dq_angle(dq a, dq b)
{
  dq d = dq_mul(a, dq_conj(b));
  return 2.0 * atan2(sqrt(d.x * d.x + d.y * d.y + d.z * d.z), fabs(d.w));
}
/* i: xx yy zz xy xz yz */
static inline dv dv_inertia(const float *i, dv v)
{
  return (dv){i[0] * v.x + i[3] * v.y + i[4] * v.z, i[3] * v.x + i[1] * v.y + i[5] * v.z, i[4] * v.x + i[5] * v.y + i[2] * v.z};
}

#endif
