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

/* 64 bullets of r = 1 cm at 300 m/s, 5 m a tick, each from another place and at another angle up to 50 degrees, against a wall of 1 cm, bolted down or
 * free. Contacts reach as far as shapes move within the tick; friction makes the balls turn by many radians in it. */
static int count_through(bool free_wall)
{
  int through = 0;
  for (int k = 0; k < SHOTS; k++) {
    sb_model_builder *b = physics_builder(0);
    double angle = 0.125 * (k % 8), start = -3 - 0.11 * k;
    sb_build_body bullet = physics_free(0.03, 1.2e-6, 1.2e-6, 1.2e-6, start, 0.01 * k - 0.3 + start * tan(angle), 0.013 * k - 0.4);
    bullet.qd[0] = 300 * cos(angle), bullet.qd[1] = 300 * sin(angle);
    physics_shape(b, SB_SHAPE_SPHERE, sb_builder_add_body(b, &bullet, NULL), 0.01, 0, 0, 0.3);
    sb_build_body wall = physics_free(50, 1000, 1000, 1000, 0, 0, 0);
    physics_shape(b, SB_SHAPE_BOX, free_wall ? sb_builder_add_body(b, &wall, NULL) : -1, 0.005, 30, 30, 0.3);
    physics p = physics_start(b, STEEL, 60, PHYSICS_NO_PARAMS);
    physics_step(&p, 6);
    through += p.s->body_q[0] - (free_wall ? p.s->body_q[7] : 0) > 0;
    physics_stop(&p);
  }
  return through;
}

static void test_bullets(void **state)
{
  (void)state;
  physics_bound(NULL, "64 bullets at a bolted wall: went through", count_through(false), 0);
  physics_bound(NULL, "64 bullets at a free wall: went through", count_through(true), 0);
  physics_verdict();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_bullets)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
