/* Rotations between their forms against formulas in binary64. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "samebit/maths.h"

#include <math.h>
#include <stdio.h>

static uint32_t seed = 1;
static float random_in(float low, float high)
{
  seed = seed * 1664525u + 1013904223u;
  return low + (high - low) * (float)(seed >> 8) / 16777216.0f;
}
static Q4 random_q4(void)
{
  return q4_normalize(q4(random_in(-1, 1), random_in(-1, 1), random_in(-1, 1), random_in(-1, 1)));
}
static void near(double got, double want, double allowed, const char *what)
{
  if (!(fabs(got - want) <= allowed)) fail_msg("%s: %.9g, expected %.9g", what, got, want);
}
/* The same rotation: q and -q are. */
static void same_rotation(Q4 a, Q4 b, double allowed, const char *what)
{
  double s = (double)a.x * b.x + (double)a.y * b.y + (double)a.z * b.z + (double)a.w * b.w < 0 ? -1 : 1;
  near(a.x, s * b.x, allowed, what);
  near(a.y, s * b.y, allowed, what);
  near(a.z, s * b.z, allowed, what);
  near(a.w, s * b.w, allowed, what);
}

static void test_axis_angle(void **state)
{
  (void)state;
  V3 x = q4_rotate(q4_from_axis_angle(v3(0, 0, 1), 1.5707964f), v3(1, 0, 0));
  near(x.x, 0, 1e-6, "x");
  near(x.y, 1, 1e-6, "y");
  for (int i = 0; i < 20000; i++) {
    V3 axis = v3_normalize_or(v3(random_in(-1, 1), random_in(-1, 1), random_in(-1, 1)), v3(1, 0, 0));
    float angle = random_in(-9, 9);
    Q4 q = q4_from_axis_angle(axis, angle);
    near(q.w, cos(angle * 0.5), 1e-7, "w");
    near(q.y, axis.y * sin(angle * 0.5), 1.2e-7, "y");
    same_rotation(q4_from_rotation_vector(v3_scale(axis, angle)), q, 1e-6, "rotation vector");
  }
}

static void test_rotation_vector_round_trip(void **state)
{
  (void)state;
  for (int i = 0; i < 20000; i++) {
    float size = powf(10, random_in(-12, 0.49f)); /* to pi */
    V3 v = v3_scale(v3_normalize_or(v3(random_in(-1, 1), random_in(-1, 1), random_in(-1, 1)), v3(1, 0, 0)), size);
    V3 back = rotation_vector_from_q4(q4_from_rotation_vector(v));
    /* Near pi the angle's error is that of w, not relative. */
    near(back.x, v.x, 1e-6 * size, "x");
    near(back.y, v.y, 1e-6 * size, "y");
    near(back.z, v.z, 1e-6 * size, "z");
  }
}

static void test_roll_pitch_yaw(void **state)
{
  (void)state;
  for (int i = 0; i < 20000; i++) {
    V3 a = v3(random_in(-3.14f, 3.14f), random_in(-1.57f, 1.57f), random_in(-3.14f, 3.14f));
    Q4 q = q4_from_rpy(a);
    Q4 product = q4_mul(q4_mul(q4_from_axis_angle(v3(0, 0, 1), a.z), q4_from_axis_angle(v3(0, 1, 0), a.y)),
                        q4_from_axis_angle(v3(1, 0, 0), a.x));
    same_rotation(q, product, 1e-6, "z(yaw) y(pitch) x(roll)");
    same_rotation(q4_from_rpy(rpy_from_q4(q)), q, 2e-6, "there and back");
    if (fabsf(a.y) < 1.4f) near(rpy_from_q4(q).x, a.x, 1e-5, "roll");
  }
  /* At and near straight up only yaw - roll is defined, and that has to be right. */
  for (int i = 0; i < 2000; i++) {
    float off = i < 10 ? 0.0f : powf(10, random_in(-8, -2));
    V3 up = rpy_from_q4(q4_from_rpy(v3(0.3f, 1.5707964f - off, 0.5f)));
    near(up.y, 1.5707964 - off, 5e-4, "pitch of a locked pose");
    near(remainder(up.z - up.x, 6.283185307179586), 0.2, 5e-6, "yaw - roll of a locked pose");
  }
}

static void test_matrix_round_trip(void **state)
{
  (void)state;
  for (int i = 0; i < 20000; i++) {
    Q4 q = random_q4();
    if (i % 5 == 1) q = q4_normalize(q4(q.x, q.y * 1e-4f, q.z * 1e-4f, q.w * 1e-6f)); /* each component leads in turn */
    if (i % 5 == 2) q = q4_normalize(q4(q.x * 1e-4f, q.y, q.z * 1e-4f, q.w * 1e-6f));
    if (i % 5 == 3) q = q4_normalize(q4(q.x * 1e-4f, q.y * 1e-4f, q.z, q.w * 1e-6f));
    same_rotation(q4_from_m33(q4_to_m33(q)), q, 1e-6, "matrix");
    V3 v = v3(random_in(-1, 1), random_in(-1, 1), random_in(-1, 1));
    V3 a = q4_rotate(q, v), b = m33_mul_v3(q4_to_m33(q), v), c = m33_mul_v3(m33_transpose(q4_to_m33(q)), a);
    near(a.x, b.x, 2e-6, "x turned");
    near(a.y, b.y, 2e-6, "y turned");
    near(c.z, v.z, 2e-6, "z turned back");
  }
}

static void test_integration(void **state)
{
  (void)state;
  /* First order in dt: q + dt/2 (w, 0) q, normalised. */
  for (int i = 0; i < 2000; i++) {
    Q4 q = random_q4();
    V3 w = v3(random_in(-2, 2), random_in(-2, 2), random_in(-2, 2));
    Q4 exact = q4_mul(q4_from_rotation_vector(v3_scale(w, 0.01f)), q);
    same_rotation(q4_integrate(q, w, 0.01f), exact, 1e-5, "step");
  }
}

static void test_transform_inverse(void **state)
{
  (void)state;
  for (int i = 0; i < 5000; i++) {
    X7 a = x7(v3(random_in(-5, 5), random_in(-5, 5), random_in(-5, 5)), random_q4());
    X7 one = x7_mul(a, x7_inv(a));
    near(one.p.x, 0, 1e-5, "x");
    near(one.p.y, 0, 1e-5, "y");
    near(one.p.z, 0, 1e-5, "z");
    same_rotation(one.q, q4_identity(), 1e-6, "q");
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_axis_angle),     cmocka_unit_test(test_rotation_vector_round_trip),
      cmocka_unit_test(test_roll_pitch_yaw), cmocka_unit_test(test_matrix_round_trip),
      cmocka_unit_test(test_integration),    cmocka_unit_test(test_transform_inverse),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
