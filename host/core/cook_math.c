/* Binary64 mathematics for cooking. No libm transcendental and no fused operation: plain IEEE arithmetic in this order.
 */
#include "cook_math.h"

#include "samebit/fp_guard.h"

#include <string.h>

double cook_abs(double x) { return x < 0.0 ? -x : x; }
double cook_sqrt(double x) { return __builtin_sqrt(x); }
bool cook_finite(double x) { return x - x == 0.0; }

/* x = k pi/2 + r with |r| <= pi/4. pi/2 in three parts of 33 bits, so that k times a part is exact (Cody, Waite 1980).
 */
static int32_t reduce(double x, double *r)
{
  double scaled = x * 0.63661977236758134308;
  int32_t k = (int32_t)(scaled + (scaled < 0.0 ? -0.5 : 0.5));
  double n = (double)k;
  double a = x - n * 0x1.921fb544p+0;
  double b = a - n * 0x1.0b4611a6p-34;
  *r = b - n * 0x1.3198a2e037073p-69;
  return k;
}

/* Taylor series; at pi/4 the first term left out is below 1e-19. */
static double sin_series(double r)
{
  double z = r * r;
  double p = -1.0 / 121645100408832000.0;
  p = p * z + 1.0 / 355687428096000.0;
  p = p * z - 1.0 / 1307674368000.0;
  p = p * z + 1.0 / 6227020800.0;
  p = p * z - 1.0 / 39916800.0;
  p = p * z + 1.0 / 362880.0;
  p = p * z - 1.0 / 5040.0;
  p = p * z + 1.0 / 120.0;
  p = p * z - 1.0 / 6.0;
  return r + r * (z * p);
}

static double cos_series(double r)
{
  double z = r * r;
  double p = -1.0 / 6402373705728000.0;
  p = p * z + 1.0 / 20922789888000.0;
  p = p * z - 1.0 / 87178291200.0;
  p = p * z + 1.0 / 479001600.0;
  p = p * z - 1.0 / 3628800.0;
  p = p * z + 1.0 / 40320.0;
  p = p * z - 1.0 / 720.0;
  p = p * z + 1.0 / 24.0;
  p = p * z - 0.5;
  return 1.0 + z * p;
}

static double quadrant(double x, int32_t shift)
{
  if (!(x >= -1.0e6 && x <= 1.0e6)) return __builtin_nan("");
  double r;
  uint32_t k = (uint32_t)(reduce(x, &r) + shift) & 3u;
  double v = (k & 1u) ? cos_series(r) : sin_series(r);
  return (k & 2u) ? -v : v;
}

double cook_sin(double x) { return quadrant(x, 0); }
double cook_cos(double x) { return quadrant(x, 1); }

/* Three halvings, atan(x) = 2 atan(x / (1 + sqrt(1 + x^2))), bring |x| <= 1 below 0.1; the series does the rest. */
static double small_atan(double x)
{
  for (int i = 0; i < 3; i++) x = x / (1.0 + cook_sqrt(1.0 + x * x));
  double x2 = x * x, sum = 0.0;
  for (int n = 19; n > 0; n -= 2) sum = sum * -x2 + 1.0 / n;
  return 8.0 * (x * sum);
}

double cook_atan2(double y, double x)
{
  double ax = cook_abs(x), ay = cook_abs(y);
  if (ax == 0.0 && ay == 0.0) return 0.0;
  double angle = ay <= ax ? small_atan(ay / ax) : 0.5 * COOK_PI - small_atan(ax / ay);
  if (x < 0.0) angle = COOK_PI - angle;
  return y < 0.0 ? -angle : angle;
}

double cook_dot(const double a[3], const double b[3]) { return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2]; }

void cook_cross(const double a[3], const double b[3], double out[3])
{
  double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
  out[0] = x, out[1] = y, out[2] = z;
}

double cook_length(const double a[3]) { return cook_sqrt(cook_dot(a, a)); }

bool cook_normalize(const double a[3], double out[3])
{
  double l = cook_length(a);
  if (!(l > 1.0e-12) || !cook_finite(l)) return false;
  for (int i = 0; i < 3; i++) out[i] = a[i] / l;
  return true;
}

void cook_quat_identity(double q[4]) { q[0] = q[1] = q[2] = 0.0, q[3] = 1.0; }

void cook_quat_mul(const double a[4], const double b[4], double out[4])
{
  double x = ((a[3] * b[0] + a[0] * b[3]) + a[1] * b[2]) - a[2] * b[1];
  double y = ((a[3] * b[1] + a[1] * b[3]) + a[2] * b[0]) - a[0] * b[2];
  double z = ((a[3] * b[2] + a[2] * b[3]) + a[0] * b[1]) - a[1] * b[0];
  double w = ((a[3] * b[3] - a[0] * b[0]) - a[1] * b[1]) - a[2] * b[2];
  out[0] = x, out[1] = y, out[2] = z, out[3] = w;
}

void cook_quat_conj(const double a[4], double out[4])
{
  for (int i = 0; i < 3; i++) out[i] = 0.0 - a[i];
  out[3] = a[3];
}

void cook_quat_rotate(const double q[4], const double v[3], double out[3])
{
  double t[3], c[3];
  cook_cross(q, v, t);
  for (int i = 0; i < 3; i++) t[i] += t[i];
  cook_cross(q, t, c);
  for (int i = 0; i < 3; i++) out[i] = (v[i] + t[i] * q[3]) + c[i];
}

bool cook_quat_normalize(double q[4])
{
  double l = cook_sqrt(((q[0] * q[0] + q[1] * q[1]) + q[2] * q[2]) + q[3] * q[3]);
  if (!(l > 1.0e-12) || !cook_finite(l)) return false;
  for (int i = 0; i < 4; i++) q[i] /= l;
  return true;
}

void cook_quat_axis_angle(const double axis[3], double angle, double out[4])
{
  double s = cook_sin(angle * 0.5), c = cook_cos(angle * 0.5);
  for (int i = 0; i < 3; i++) out[i] = axis[i] * s;
  out[3] = c;
}

bool cook_quat_euler(const double angles[3], const char *sequence, double out[4])
{
  double q[4];
  cook_quat_identity(q);
  if (strlen(sequence) != 3) return false;
  for (int i = 0; i < 3; i++) {
    static const char letters[] = "xyzXYZ";
    const char *at = strchr(letters, sequence[i]);
    if (!at) return false;
    int index = (int)(at - letters) % 3;
    double axis[3] = {0.0, 0.0, 0.0}, turn[4];
    axis[index] = 1.0;
    cook_quat_axis_angle(axis, angles[i], turn);
    if (sequence[i] >= 'a')
      cook_quat_mul(q, turn, q);
    else
      cook_quat_mul(turn, q, q);
  }
  memcpy(out, q, sizeof q);
  return cook_quat_normalize(out);
}

bool cook_quat_xy_axes(const double x[3], const double y[3], double out[4])
{
  double ax[3], ay[3], az[3];
  if (!cook_normalize(x, ax)) return false;
  double d = cook_dot(ax, y);
  for (int i = 0; i < 3; i++) ay[i] = y[i] - ax[i] * d;
  if (!cook_normalize(ay, ay)) return false;
  cook_cross(ax, ay, az);
  const double m[9] = {ax[0], ay[0], az[0], ax[1], ay[1], az[1], ax[2], ay[2], az[2]};
  cook_matrix_quat(m, out);
  return true;
}

bool cook_quat_z_axis(const double z[3], double out[4])
{
  double n[3];
  if (!cook_normalize(z, n)) return false;
  /* The half-angle quaternion of the turn from a to b is (a x b, 1 + a . b), normalised. */
  double q[4] = {0.0 - n[1], n[0], 0.0, 1.0 + n[2]};
  if (!cook_quat_normalize(q)) q[0] = 1.0, q[1] = q[2] = q[3] = 0.0;
  memcpy(out, q, sizeof q);
  return true;
}

void cook_quat_matrix(const double q[4], double m[9])
{
  double x2 = q[0] + q[0], y2 = q[1] + q[1], z2 = q[2] + q[2];
  double xx = q[0] * x2, yy = q[1] * y2, zz = q[2] * z2, xy = q[0] * y2, xz = q[0] * z2, yz = q[1] * z2;
  double wx = q[3] * x2, wy = q[3] * y2, wz = q[3] * z2;
  m[0] = 1.0 - (yy + zz), m[1] = xy - wz, m[2] = xz + wy;
  m[3] = xy + wz, m[4] = 1.0 - (xx + zz), m[5] = yz - wx;
  m[6] = xz - wy, m[7] = yz + wx, m[8] = 1.0 - (xx + yy);
}

void cook_matrix_quat(const double m[9], double q[4])
{
  /* The largest of the four squared components is the safe divisor. */
  double trace = (m[0] + m[4]) + m[8];
  double size[4] = {m[0], m[4], m[8], trace};
  int best = 3;
  for (int i = 0; i < 3; i++)
    if (size[i] > size[best]) best = i;
  if (best == 3) {
    double w = 1.0 + trace;
    q[0] = m[7] - m[5], q[1] = m[2] - m[6], q[2] = m[3] - m[1], q[3] = w;
  } else {
    int i = best, j = (i + 1) % 3, k = (i + 2) % 3;
    q[i] = 1.0 + ((m[4 * i] - m[4 * j]) - m[4 * k]);
    q[j] = m[3 * j + i] + m[3 * i + j];
    q[k] = m[3 * k + i] + m[3 * i + k];
    q[3] = m[3 * k + j] - m[3 * j + k];
  }
  if (!cook_quat_normalize(q)) cook_quat_identity(q);
}

void cook_pose_identity(double x[7])
{
  x[0] = x[1] = x[2] = 0.0;
  cook_quat_identity(x + 3);
}

void cook_pose_point(const double a[7], const double p[3], double out[3])
{
  double r[3];
  cook_quat_rotate(a + 3, p, r);
  for (int i = 0; i < 3; i++) out[i] = a[i] + r[i];
}

void cook_pose_mul(const double a[7], const double b[7], double out[7])
{
  double p[3], q[4];
  cook_pose_point(a, b, p);
  cook_quat_mul(a + 3, b + 3, q);
  memcpy(out, p, sizeof p);
  memcpy(out + 3, q, sizeof q);
}

void cook_inertia_rotate(const double q[4], const double in[6], double out[6])
{
  double m[9], t[3][3];
  cook_quat_matrix(q, m);
  for (int i = 0; i < 3; i++) {
    const double *r = m + 3 * i;
    t[i][0] = (in[0] * r[0] + in[3] * r[1]) + in[4] * r[2];
    t[i][1] = (in[3] * r[0] + in[1] * r[1]) + in[5] * r[2];
    t[i][2] = (in[4] * r[0] + in[5] * r[1]) + in[2] * r[2];
  }
  for (int i = 0; i < 3; i++) out[i] = cook_dot(m + 3 * i, t[i]);
  out[3] = cook_dot(m, t[1]), out[4] = cook_dot(m, t[2]), out[5] = cook_dot(m + 3, t[2]);
}

void cook_inertia_add_point(double m, const double d[3], double io[6])
{
  io[0] += m * (d[1] * d[1] + d[2] * d[2]);
  io[1] += m * (d[0] * d[0] + d[2] * d[2]);
  io[2] += m * (d[0] * d[0] + d[1] * d[1]);
  io[3] -= m * (d[0] * d[1]);
  io[4] -= m * (d[0] * d[2]);
  io[5] -= m * (d[1] * d[2]);
}

/* One Jacobi rotation that clears a[p][q] (Golub and Van Loan, section 8.5); v collects the rotations. */
static void jacobi_rotate(double a[3][3], double v[9], int p, int q)
{
  if (a[p][q] == 0.0) return;
  double tau = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
  double t = 1.0 / (cook_abs(tau) + cook_sqrt(1.0 + tau * tau));
  if (tau < 0.0) t = -t;
  double c = 1.0 / cook_sqrt(1.0 + t * t), s = t * c;
  int r = 3 - p - q;
  double pp = a[p][p] - t * a[p][q], qq = a[q][q] + t * a[p][q];
  double rp = c * a[r][p] - s * a[r][q], rq = s * a[r][p] + c * a[r][q];
  a[p][p] = pp, a[q][q] = qq, a[p][q] = a[q][p] = 0.0;
  a[r][p] = a[p][r] = rp, a[r][q] = a[q][r] = rq;
  for (int i = 0; i < 3; i++) {
    double vp = c * v[3 * i + p] - s * v[3 * i + q], vq = s * v[3 * i + p] + c * v[3 * i + q];
    v[3 * i + p] = vp, v[3 * i + q] = vq;
  }
}

static void swap_pair(double values[3], double vectors[9], int i, int j)
{
  double t = values[i];
  values[i] = values[j], values[j] = t;
  for (int r = 0; r < 3; r++) {
    t = vectors[3 * r + i];
    vectors[3 * r + i] = vectors[3 * r + j], vectors[3 * r + j] = t;
  }
}

void cook_eigen(const double s[6], double values[3], double vectors[9])
{
  double a[3][3] = {{s[0], s[3], s[4]}, {s[3], s[1], s[5]}, {s[4], s[5], s[2]}};
  for (int i = 0; i < 9; i++) vectors[i] = i % 4 == 0 ? 1.0 : 0.0;
  for (int sweep = 0; sweep < 10; sweep++) {
    jacobi_rotate(a, vectors, 0, 1);
    jacobi_rotate(a, vectors, 0, 2);
    jacobi_rotate(a, vectors, 1, 2);
  }
  for (int i = 0; i < 3; i++) values[i] = a[i][i];
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2 - i; j++)
      if (values[j + 1] < values[j]) swap_pair(values, vectors, j, j + 1);
}

bool cook_inertia_inverse(const double s[6], double out[6])
{
  double xx = s[0], yy = s[1], zz = s[2], xy = s[3], xz = s[4], yz = s[5];
  double c[6] = {yy * zz - yz * yz, xx * zz - xz * xz, xx * yy - xy * xy,
                 xz * yz - xy * zz, xy * yz - xz * yy, xy * xz - xx * yz};
  double det = (xx * c[0] + xy * c[3]) + xz * c[4];
  /* Sylvester: all leading minors positive. */
  if (!(xx > 0.0) || !(c[2] > 0.0) || !(det > 0.0)) return false;
  for (int i = 0; i < 6; i++) {
    out[i] = c[i] / det;
    if (!cook_finite(out[i])) return false;
  }
  return true;
}

bool cook_tri_rest(const double x0[3], const double x1[3], const double x2[3], double pose[4], double *area)
{
  double a[3], b[3], along[3];
  for (int i = 0; i < 3; i++) a[i] = x1[i] - x0[i], b[i] = x2[i] - x0[i];
  if (!cook_normalize(a, along)) return false;
  double ax = cook_dot(a, along), bx = cook_dot(b, along), across[3];
  for (int i = 0; i < 3; i++) across[i] = b[i] - bx * along[i];
  double by = cook_length(across), det = ax * by;
  if (!(by > 1e-12) || !cook_finite(1.0 / det)) return false;
  pose[0] = 1.0 / ax, pose[1] = -bx / det;
  pose[2] = 0.0, pose[3] = 1.0 / by;
  *area = 0.5 * det;
  return true;
}

bool cook_tet_rest(const double x0[3], const double x1[3], const double x2[3], const double x3[3], double pose[9], double *volume)
{
  double a[3], b[3], c[3], row[3][3];
  for (int i = 0; i < 3; i++) a[i] = x1[i] - x0[i], b[i] = x2[i] - x0[i], c[i] = x3[i] - x0[i];
  cook_cross(b, c, row[0]);
  cook_cross(c, a, row[1]);
  cook_cross(a, b, row[2]);
  double det = cook_dot(a, row[0]);
  if (!(det > 0.0) || !cook_finite(1.0 / det)) return false;
  for (int i = 0; i < 9; i++) pose[i] = row[i / 3][i % 3] / det;
  *volume = det / 6.0;
  return true;
}
