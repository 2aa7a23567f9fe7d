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

/* 64 bullets of r = 1 cm at 300 m/s, 5 m a tick, each from another place and at another angle up to 50 degrees, against
 * a wall of 1 cm, bolted down or free. Contacts reach as far as shapes move within the tick; friction makes the balls
 * turn by many radians in it. */
static int count_through(bool free_wall)
{
  int through = 0;
  for (int k = 0; k < SHOTS; k++) {
    sb_model_builder *b = physics_builder(0);
    double angle = 0.125 * (k % 8), start = -3 - 0.11 * k;
    sb_build_body bullet =
        physics_free(0.03, 1.2e-6, 1.2e-6, 1.2e-6, start, 0.01 * k - 0.3 + start * tan(angle), 0.013 * k - 0.4);
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

/* A blade of 1 m x 1 m x 1 cm turns about y through up to 2 rad a tick; a ball of r = 2 cm rests in its way, up to 2
 * rad ahead. How many of 64 balls has it passed without touching? */
static int count_missed(double spin, bool ccd)
{
  int missed = 0;
  for (int k = 0; k < SHOTS; k++) {
    sb_model_builder *b = physics_builder(0);
    double ahead = 0.15 + 0.03 * k, from_axis = 0.1 + 0.005 * k;
    sb_build_body ball =
        physics_free(0.1, 1.6e-5, 1.6e-5, 1.6e-5, from_axis * cos(ahead), 0.3, -from_axis * sin(ahead));
    physics_shape(b, SB_SHAPE_SPHERE, sb_builder_add_body(b, &ball, NULL), 0.02, 0, 0, 0.3);
    sb_build_body blade = physics_free(50, 10, 10, 10, 0, 0, 0);
    blade.qd[4] = spin;
    physics_shape(b, SB_SHAPE_BOX, sb_builder_add_body(b, &blade, NULL), 0.5, 0.5, 0.005, 0.3);
    physics_set_ccd(ccd ? 0 : UINT32_MAX);
    physics p = physics_start(b, STEEL, 60, PHYSICS_NO_PARAMS);
    physics_step(&p, (uint32_t)(ahead * 1.2 / spin * 60) + 3);
    const float *v = p.s->body_qd;
    missed += sqrt((double)v[0] * v[0] + (double)v[1] * v[1] + (double)v[2] * v[2]) < 0.5 * spin * from_axis;
    physics_stop(&p);
  }
  physics_set_ccd(UINT32_MAX);
  return missed;
}

static void test_blade(void **state)
{
  (void)state;
  static const double spins[] = {30, 80, 120};
  int missed = 0, control = 0;
  for (int k = 0; k < 3; k++) {
    missed += count_missed(spins[k], true);
    control += count_missed(spins[k], false);
  }
  physics_bound(NULL, "192 balls in the way of a blade, swept: not carried along", missed, 0);
  physics_bound(NULL, "  without: carried along (some are not)", 192 - control, 180);
  physics_verdict();
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
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_bullets), cmocka_unit_test(test_blade)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
