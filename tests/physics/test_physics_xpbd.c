/* xpbd's rigid bodies: a pile comes to rest, balls bounce to e^2 of the height, what meets in empty space keeps its momentum; a cloth that touches itself
 * comes to rest. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>

#include "physics_scene.h"

#define G 9.81

/* C39: the kinetic energy of a pile decays below a bound and stays there. */
static void test_pile(void **state)
{
  (void)state;
  const sb_scene_param scene[] = {{"count", "48", NULL}, {"side", "4", NULL}, {"extent", "1", NULL}, {NULL, NULL, NULL}};
  physics p = physics_start_model(physics_load("generator:pile", scene, false), XPBD, 60, PHYSICS_NO_PARAMS);
  double worst = 0;
  physics_step(&p, 480);
  for (int t = 0; t < 120; t++) {
    physics_step(&p, 1);
    double v2 = 0;
    for (uint32_t b = 0; b < p.m->body_count; b++)
      for (uint32_t k = 0; k < 3; k++) v2 += pow((double)p.s->body_qd[6 * b + k], 2);
    worst = fmax(worst, sqrt(v2 / p.m->body_count));
  }
  physics_bound(&p, "pile of 48 after 8 s: largest mean speed in 2 s, m/s", worst, 0.05);
  physics_stop(&p);
  physics_verdict();
}

/* C34: never above, and within 1 %. */
static void test_bounce(void **state)
{
  (void)state;
  static const double coefficients[] = {0.5, 0.9};
  for (size_t i = 0; i < 2; i++) {
    char text[100];
    double e = coefficients[i], top = 0, last = 1;
    sb_model_builder *b = physics_builder(-G);
    physics_shape(b, SB_SHAPE_PLANE, -1, 0, 0, 0, 0);
    sb_build_body ball = physics_free(1, 0.004, 0.004, 0.004, 0, 0, 1.1);
    sb_build_shape shape = sb_build_shape_default();
    shape.type = SB_SHAPE_SPHERE, shape.body = sb_builder_add_body(b, &ball, NULL), shape.size[0] = 0.1, shape.restitution = e;
    sb_builder_add_shape(b, &shape, NULL);
    physics p = physics_start(b, XPBD, 240, PHYSICS_NO_PARAMS);
    int bounces = 0;
    for (int t = 0; t < 720 && bounces < 2; t++) {
      bool falling = (double)p.s->body_qd[2] < 0;
      physics_step(&p, 1);
      if (falling && (double)p.s->body_qd[2] > 0) top = 0;
      top = fmax(top, (double)p.s->body_q[2] - 0.1);
      if (!falling && (double)p.s->body_qd[2] < 0 && t > 60) {
        snprintf(text, sizeof text, "ball, e = %g, bounce %d: height short of e^2 h, relative", e, ++bounces);
        physics_bound(&p, text, 1 - top / (e * e * last), 0.01);
        physics_bound(&p, "  above it", top / (e * e * last) - 1, 1e-4);
        last = top;
      }
    }
    physics_bound(&p, "  bounces missing", 2 - bounces, 0);
    physics_stop(&p);
  }
  physics_verdict();
}

/* A tower of cubes of 1 m stands: it neither falls nor sinks, and its top creeps by less than a hundredth of its height in 10 s. */
static void test_tower(void **state)
{
  (void)state;
  const sb_scene_param scene[] = {{"count", "8", NULL}, {NULL, NULL, NULL}};
  physics p = physics_start_model(physics_load("generator:box_stack", scene, false), XPBD, 60, PHYSICS_NO_PARAMS);
  const float *top = p.s->body_q + 7 * (size_t)(p.m->body_count - 1);
  double x = (double)top[0], y = (double)top[1], z = (double)top[2];
  physics_step(&p, 600);
  physics_bound(&p, "tower of eight cubes, dt 1/60, 10 s: its top moved sideways, m", hypot((double)top[0] - x, (double)top[1] - y), 0.08);
  physics_bound(&p, "tower of eight cubes, dt 1/60, 10 s: its top sank, m", fabs((double)top[2] - z), 0.005);
  physics_stop(&p);
  physics_verdict();
}

static void momentum(const physics *p, double out[6])
{
  for (int k = 0; k < 6; k++) out[k] = 0;
  for (uint32_t b = 0; b < p->m->body_count; b++) {
    const float *x = p->s->body_q + 7 * b, *v = p->s->body_qd + 6 * b;
    double m = (double)p->m->body_mass[b], inertia = (double)p->m->body_inertia[6 * b]; /* of a ball: the same about every axis */
    for (int k = 0; k < 3; k++) {
      int i = (k + 1) % 3, j = (k + 2) % 3;
      out[k] += m * (double)v[k];
      out[3 + k] += m * ((double)x[i] * (double)v[j] - (double)x[j] * (double)v[i]) + inertia * (double)v[3 + k];
    }
  }
}

/* C35: two balls meet off centre, with friction and some bounce. The correction of a substep h moves them by h j / m, which with their relative speed v is an angular
 * momentum of h j v: 5e-4 s, 3 N s and 3 m/s make 4.5e-3 of 0.2 N m s. */
static void test_momentum(void **state)
{
  (void)state;
  sb_model_builder *b = physics_builder(0);
  for (int i = 0; i < 2; i++) {
    sb_build_body ball = physics_free(1 + i, 0.004 * (1 + i), 0.004 * (1 + i), 0.004 * (1 + i), i ? 0.3 : -0.3, i ? 0.08 : 0, 0);
    ball.qd[0] = i ? -1 : 2, ball.qd[4] = i ? 3 : -5;
    sb_build_shape shape = sb_build_shape_default();
    shape.type = SB_SHAPE_SPHERE, shape.body = sb_builder_add_body(b, &ball, NULL), shape.size[0] = 0.1, shape.restitution = 0.5, shape.friction[0] = 0.6;
    sb_builder_add_shape(b, &shape, NULL);
  }
  physics p = physics_start(b, XPBD, 240, PHYSICS_NO_PARAMS);
  double before[6], after[6], linear = 0, angular = 0;
  momentum(&p, before);
  physics_step(&p, 240);
  momentum(&p, after);
  for (int k = 0; k < 3; k++) linear = fmax(linear, fabs(after[k] - before[k])), angular = fmax(angular, fabs(after[3 + k] - before[3 + k]));
  physics_bound(&p, "two balls meet: change of momentum, of 4 N s", linear / 4, 1e-5);
  physics_bound(&p, "two balls meet: change of angular momentum, of 0.2 N m s", angular / 0.2, 2.5e-2);
  physics_bound(&p, "  they did meet: 1 where not", fabs((double)p.s->body_qd[0] - 2) < 0.5, 0);
  physics_stop(&p);
  physics_verdict();
}

/* A cloth that drapes over a ball and touches itself comes to rest. */
static void test_self_contact(void **state)
{
  (void)state;
  const sb_scene_param scene[] = {{"rows", "25", NULL}, {"columns", "25", NULL}, {"spacing", "0.03", NULL}, {"pins", "none", NULL}, {"pose", "flat", NULL},
                                  {"height", "0.7", NULL}, {"obstacle", "sphere", NULL}, {"obstacle_size", "0.15", NULL}, {"self_contact", "1", NULL},
                                  {"damping", "0.05", NULL}, {"thickness", "0.01", NULL}, {"drag", "0.5", NULL}, {"lift", "0.5", NULL}, {NULL, NULL, NULL}};
  physics p = physics_start_model(physics_load("generator:cloth", scene, false), XPBD, 60, PHYSICS_NO_PARAMS);
  physics_step(&p, 480);
  double fastest = 0;
  for (uint32_t i = 0; i < 3 * p.m->particle_count; i++) fastest = fmax(fastest, fabs((double)p.s->particle_qd[i]));
  physics_bound(&p, "cloth that touches itself, on a ball after 8 s: speed, m/s", fastest, 0.02);
  physics_stop(&p);
  physics_verdict();
}

/* Speed about the mean velocity, mean square. */
static double inner_speed(const physics *p)
{
  double mean[3] = {0}, sum = 0;
  for (uint32_t i = 0; i < 3 * p->m->particle_count; i++) mean[i % 3] += (double)p->s->particle_qd[i] / p->m->particle_count;
  for (uint32_t i = 0; i < 3 * p->m->particle_count; i++) sum += pow((double)p->s->particle_qd[i] - mean[i % 3], 2);
  return sqrt(sum / p->m->particle_count);
}

/* However strong dampers are and however many share a particle, they take energy away: what is squeezed in free fall is at rest in itself soon. */
static void dampers(const char *what, const char *generator, const sb_scene_param *scene)
{
  char text[100];
  physics p = physics_start_model(physics_load(generator, scene, false), XPBD, 120, PHYSICS_NO_PARAMS);
  double middle[3] = {0}, fastest = 0;
  for (uint32_t i = 0; i < 3 * p.m->particle_count; i++) middle[i % 3] += (double)p.s->particle_q[i] / p.m->particle_count;
  for (uint32_t i = 0; i < 3 * p.m->particle_count; i++) p.s->particle_qd[i] = (float)(2 * (middle[i % 3] - (double)p.s->particle_q[i]));
  double start = inner_speed(&p);
  for (int t = 0; t < 120; t++) {
    physics_step(&p, 1);
    fastest = fmax(fastest, inner_speed(&p));
  }
  snprintf(text, sizeof text, "%s with strong dampers: speed in itself, of the start's", what);
  physics_bound(&p, text, fastest / start, 1);
  snprintf(text, sizeof text, "%s with strong dampers: after 1 s, of the start's", what);
  physics_bound(&p, text, inner_speed(&p) / start, 0.01);
  physics_stop(&p);
}

static void test_strong_dampers(void **state)
{
  (void)state;
#define FREE_CLOTH {"pins", "none", NULL}, {"pose", "flat", NULL}, {"ground", "0", NULL}, {"spacing", "0.02", NULL}
  static const char *const strengths[] = {"0.05", "0.5", "5"};
  for (size_t i = 0; i < 3; i++) {
    const sb_scene_param springs[] = {FREE_CLOTH, {"damping", strengths[i], NULL}, {NULL, NULL, NULL}};
    const sb_scene_param membrane[] = {FREE_CLOTH, {"model", "membrane", NULL}, {"damping", strengths[i], NULL}, {"bending_damping", strengths[i], NULL}, {NULL, NULL, NULL}};
    dampers("springs", "generator:cloth", springs);
    dampers("membrane", "generator:cloth", membrane);
  }
  physics_verdict();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_pile), cmocka_unit_test(test_tower), cmocka_unit_test(test_bounce), cmocka_unit_test(test_momentum),
                                     cmocka_unit_test(test_self_contact), cmocka_unit_test(test_strong_dampers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
