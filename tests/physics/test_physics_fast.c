/* Fast small bodies against thin ones in steel. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "physics_scene.h"

#define SHOTS 64


/* 64 bullets of r = 1 cm at 300 m/s, each from another place and at another angle, against a wall of 1 cm, 30 m wide. */
static int count_through(double thick, bool heavy, double slope)
{
  int through = 0;
  for (int k = 0; k < SHOTS; k++) {
    sb_model_builder *b = physics_builder(0);
    sb_build_body bullet = physics_free(0.03, 1.2e-6, 1.2e-6, 1.2e-6, -3 - 0.11 * k, 0.01 * k - 0.3, 0.013 * k - 0.4);
    double angle = slope * (k % 8) / 8;
    bullet.qd[0] = 300 * cos(angle), bullet.qd[1] = 300 * sin(angle);
    bullet.q[1] += bullet.q[0] * sin(angle) / cos(angle);
    physics_shape(b, SB_SHAPE_SPHERE, sb_builder_add_body(b, &bullet, NULL), 0.01, 0, 0, 0.3);
    sb_build_body wall = physics_free(50, 1000, 1000, 1000, 0, 0, 0);
    physics_shape(b, SB_SHAPE_BOX, heavy ? sb_builder_add_body(b, &wall, NULL) : -1, thick / 2, 30, 30, 0.3);
    physics p = physics_start(b, STEEL, 60, PHYSICS_NO_PARAMS);
    physics_step(&p, 6);
    float x = p.s->body_q[0] - (heavy ? p.s->body_q[7] : 0);
    if (x > 0.02f) {through++; print_message("%d: x %g  v %g %g %g\n", k, (double)x, (double)p.s->body_qd[0], (double)p.s->body_qd[1], (double)p.s->body_qd[2]);}
    physics_stop(&p);
  }
  return through;
}

/* A blade of 1 m x 1 m x 1 cm turns about y at `spin`; a ball of r = 2 cm rests at 0.3 m from the axis in its way. What of balls is passed by the blade untouched? */
static int count_missed(double spin, double rate)
{
  int missed = 0;
  for (int k = 0; k < SHOTS; k++) {
    sb_model_builder *b = physics_builder(0);
    double a = 0.15 + 0.03 * k;
    sb_build_body ball = physics_free(0.1, 1.6e-5, 1.6e-5, 1.6e-5, (0.1 + 0.005 * k) * cos(a), 0.3, -(0.1 + 0.005 * k) * sin(a));
    physics_shape(b, SB_SHAPE_SPHERE, sb_builder_add_body(b, &ball, NULL), 0.02, 0, 0, 0.3);
    sb_build_body blade = physics_free(50, 10, 10, 10, 0, 0, 0);
    blade.qd[4] = spin;
    physics_shape(b, SB_SHAPE_BOX, sb_builder_add_body(b, &blade, NULL), 0.5, 0.5, 0.005, 0.3);
    physics p = physics_start(b, STEEL, (uint32_t)rate, PHYSICS_NO_PARAMS);
    physics_step(&p, (uint32_t)(a * 1.2 / spin * rate) + 3);
    const float *v = p.s->body_qd;
    if (sqrt(v[0]*v[0] + v[1]*v[1] + v[2]*v[2]) < 0.05 * spin) {missed++; }
    physics_stop(&p);
  }
  return missed;
}

static void test_bullets(void **state)
{
  (void)state;
  print_message("wall %d\n", count_through(0.01, 0, 0));
  print_message("wall slope %d\n", count_through(0.01, 0, 1));
  print_message("heavy slope 1 %d\n", count_through(0.01, 1, 1));
  for (int s = 5; s <= 80; s *= 2) print_message("spin %d: %d\n", s, count_missed(s, 60));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_bullets)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
