/* steel against mechanics: free motion, rest, friction, restitution, momentum, stacks. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "physics_scene.h"

#define G 9.81

static void add_plane(sb_model_builder *b, double slope, double friction)
{
  sb_build_shape plane = sb_build_shape_default();
  plane.type = SB_SHAPE_PLANE;
  plane.body = -1;
  plane.X[4] = sin(slope / 2), plane.X[6] = cos(slope / 2); /* turned about y: downhill is +x */
  plane.friction[0] = friction;
  sb_builder_add_shape(b, &plane, NULL);
}

/* A cube of half extent a and mass m, turned about y by `turn`. */
static int32_t add_cube(sb_model_builder *b, double a, double m, double x, double y, double z, double turn, double friction, double e)
{
  double i = m * 8 * a * a / 12;
  sb_build_body body = physics_free(m, i, i, i, x, y, z);
  body.q[4] = sin(turn / 2), body.q[6] = cos(turn / 2);
  int32_t index = sb_builder_add_body(b, &body, NULL);
  sb_build_shape box = sb_build_shape_default();
  box.type = SB_SHAPE_BOX;
  box.body = index;
  box.size[0] = box.size[1] = box.size[2] = a;
  box.friction[0] = friction;
  box.restitution = e;
  sb_builder_add_shape(b, &box, NULL);
  return index;
}

/* Symplectic Euler over n substeps of h: x = v t + g t (t + h) / 2; binary32 adds n roundings of the path. */
static void test_flight(void **state)
{
  (void)state;
  sb_model_builder *b = physics_builder(-G);
  sb_build_body body = physics_free(2, 0.02, 0.05, 0.06, 0, 0, 0);
  body.qd[0] = 3, body.qd[2] = 4, body.qd[3] = 2, body.qd[4] = 0.1, body.qd[5] = 5;
  sb_builder_add_body(b, &body, NULL);
  physics p = physics_start(b, STEEL, 1000, PHYSICS_NO_PARAMS);
  reference_body at[1];
  reference_from_bodies(p.m, p.s->body_q, p.s->body_qd, at);
  dv origin = {0, 0, 0}, l0 = reference_angular_momentum(p.m, at, origin);
  physics_step(&p, 2000);
  double h = p.dt / 4, t = 2, drop = 4 * t - G * t * (t + h) / 2;
  physics_bound(&p, "flight of 2 s: x, m", fabs(p.s->body_q[0] - 6), 8000 * 6 * PHYSICS_ULP);
  physics_bound(&p, "flight of 2 s: z against the symplectic sum, m", fabs(p.s->body_q[2] - drop), 8000 * 12 * PHYSICS_ULP);
  reference_from_bodies(p.m, p.s->body_q, p.s->body_qd, at);
  dv centre = {p.s->body_q[0], p.s->body_q[1], p.s->body_q[2]};
  dv l = reference_angular_momentum(p.m, at, centre);
  (void)origin;
  double size = sqrt(l0.x * l0.x + l0.y * l0.y + l0.z * l0.z);
  physics_bound(&p, "tumbling for 2 s: angular momentum, relative",
                sqrt((l.x - l0.x) * (l.x - l0.x) + (l.y - l0.y) * (l.y - l0.y) + (l.z - l0.z) * (l.z - l0.z)) / size,
                8000 * 4 * PHYSICS_ULP);
  physics_stop(&p);
  physics_verdict();
}

/* At rest the relax pass leaves no velocity; overlap is pushed out, so that a cube stands within what binary32 and the spring leave. */
static void test_rest(void **state)
{
  (void)state;
  for (int count = 1; count <= 10; count += 9) {
    sb_model_builder *b = physics_builder(-G);
    add_plane(b, 0, 0.6);
    for (int k = 0; k < count; k++) add_cube(b, 0.25, 100, 0, 0, 0.25 + 0.5 * k, 0, 0.6, 0);
    physics p = physics_start(b, STEEL, 60, PHYSICS_NO_PARAMS);
    physics_step(&p, 600);
    const float *top = p.s->body_q + 7 * (count - 1), *v = p.s->body_qd + 6 * (count - 1);
    /* a soft contact of frequency f sinks by about g / (2 pi f)^2 for each cube above it */
    double sink = 0, w = 2 * 3.14159265358979 * 15;
    for (int k = 0; k < count; k++) sink += G * (count - k) / (w * w);
    physics_bound(&p, count == 1 ? "one cube after 10 s: sink, m" : "ten cubes after 10 s: sink of the top, m", 0.25 + 0.5 * (count - 1) - top[2], sink);
    physics_bound(&p, "  moved aside, m", hypot(top[0], top[1]), 2e-4 * count);
    physics_bound(&p, "  speed, m/s", sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), 1e-3);
    physics_stop(&p);
  }
  physics_verdict();
}

/* Friction is a hard cone: a cube holds below atan(mu) (warm starting carries the weight; what is left is binary32 and
 * the first ticks), and slides at g (sin - mu cos) above. A box whose friction acts at its centre takes no moment from it,
 * so the same is asked over several angles. */
static void test_slope(void **state)
{
  (void)state;
  static const double share[] = {0.5, 0.9, 0.98, 1.02, 1.1, 1.5};
  for (size_t k = 0; k < sizeof share / sizeof share[0]; k++) {
    const double a = 0.2, mu = 0.5, slope = atan(mu * share[k]);
    sb_model_builder *b = physics_builder(-G);
    add_plane(b, slope, mu);
    add_cube(b, a, 3, a * sin(slope), 0, a * cos(slope), slope, mu, 0);
    physics p = physics_start(b, STEEL, 240, PHYSICS_NO_PARAMS);
    physics_step(&p, 120);
    double before = hypot(p.s->body_qd[0], p.s->body_qd[2]), x = p.s->body_q[0];
    physics_step(&p, 240);
    double after = hypot(p.s->body_qd[0], p.s->body_qd[2]);
    if (share[k] < 1) {
      physics_bound(&p, "cube on a slope below atan(mu): speed, m/s", after, 1e-4);
      physics_bound(&p, "  way in 1 s, m", fabs(p.s->body_q[0] - x), 1e-4);
    } else {
      double want = G * (sin(slope) - mu * cos(slope));
      physics_bound(&p, "cube on a slope above atan(mu): acceleration, error over g", fabs(after - before - want) / G, 2e-3);
    }
    physics_stop(&p);
  }
  physics_verdict();
}

/* A ball dropped from h bounces to e^2 h: within 1 %, and never above. At dt 1/1000 the approach speed is known to g dt. */
static void test_restitution(void **state)
{
  (void)state;
  static const double es[] = {0.3, 0.5, 0.8};
  for (int k = 0; k < 3; k++) {
    const double r = 0.1, height = 2.0;
    sb_model_builder *b = physics_builder(-G);
    add_plane(b, 0, 0.5);
    sb_build_body body = physics_free(1, 0.004, 0.004, 0.004, 0, 0, r + height);
    sb_build_shape ball = sb_build_shape_default();
    ball.type = SB_SHAPE_SPHERE;
    ball.body = sb_builder_add_body(b, &body, NULL);
    ball.size[0] = r;
    ball.restitution = es[k];
    sb_builder_add_shape(b, &ball, NULL);
    physics p = physics_start(b, STEEL, 1000, PHYSICS_NO_PARAMS);
    double fall = sqrt(2 * height / G), peak = 0;
    physics_step(&p, (uint32_t)(fall * 1000) + 20);
    for (int t = 0; t < 1500 && p.s->body_qd[2] > 0; t++) {
      physics_step(&p, 1);
      peak = fmax(peak, p.s->body_q[2] - r);
    }
    double want = es[k] * es[k] * height;
    physics_bound(&p, "bounce: height against e^2 h, relative", fabs(peak / want - 1), 0.01);
    physics_bound(&p, "  above it, m", peak - want, 1e-3 * want);
    physics_stop(&p);
  }
  physics_verdict();
}

/* A ball that rolls down a slope of angle a, or along a plane where a is 0. The coefficient c of rolling (m) lets the contact turn against
 * it with c times the normal force: dv/dt = 5/7 g (sin a - c/r cos a), and below tan a = c/r it stays where it is. */
static physics start_ball(double slope, double r, double c, uint32_t condim, double speed)
{
  sb_model_builder *b = physics_builder(-G);
  add_plane(b, slope, 0.8);
  sb_build_body body = physics_free(2, 0.8 * r * r, 0.8 * r * r, 0.8 * r * r, r * sin(slope), 0, r * cos(slope));
  body.qd[0] = speed, body.qd[4] = speed / r;
  sb_build_shape ball = sb_build_shape_default();
  ball.type = SB_SHAPE_SPHERE;
  ball.body = sb_builder_add_body(b, &body, NULL);
  ball.size[0] = r;
  ball.condim = condim;
  ball.friction[0] = 0.8, ball.friction[2] = c;
  sb_builder_add_shape(b, &ball, NULL);
  return physics_start(b, STEEL, 240, PHYSICS_NO_PARAMS);
}

static void test_rolling(void **state)
{
  (void)state;
  const double r = 0.1, c = 0.004, v0 = 1, want = 5.0 / 7 * G * c / r, stop = v0 / want;
  for (uint32_t condim = 4; condim <= 6; condim += 2) {
    physics p = start_ball(0, r, c, condim, v0);
    physics_step(&p, 60); /* until the ball has settled */
    double before = p.s->body_qd[0];
    physics_step(&p, 240);
    double lost = before - p.s->body_qd[0];
    if (condim == 6) physics_bound(&p, "ball with rolling friction: deceleration, relative error", fabs(lost / want - 1), 2e-3);
    if (condim == 4) physics_bound(&p, "ball without (condim 4): speed lost in 1 s, m/s", fabs(lost), 1e-3 * want);
    physics_step(&p, (uint32_t)(240 * (stop - 1.25)) + 24);
    if (condim == 6) {
      physics_bound(&p, "  way to the stop, relative error", fabs(p.s->body_q[0] / (v0 * stop / 2) - 1), 0.01);
      physics_bound(&p, "  speed after it, m/s", hypot(p.s->body_qd[0], r * p.s->body_qd[4]), 1e-5);
    }
    physics_stop(&p);
  }
  static const double share[] = {0.8, 1.5};
  for (int k = 0; k < 2; k++) {
    double slope = atan(share[k] * c / r), pull = 5.0 / 7 * G * (sin(slope) - c / r * cos(slope));
    physics p = start_ball(slope, r, c, 6, 0);
    physics_step(&p, 60);
    double before = hypot(p.s->body_qd[0], p.s->body_qd[2]);
    physics_step(&p, 480);
    double v = hypot(p.s->body_qd[0], p.s->body_qd[2]);
    if (share[k] < 1)
      physics_bound(&p, "ball on a slope that rolling friction holds: speed, m/s", v, 1e-5);
    else
      physics_bound(&p, "ball on a steeper one: acceleration, relative error", fabs((v - before) / (2 * pull) - 1), 2e-3);
    physics_stop(&p);
  }
  physics_verdict();
}

/* Impulses are equal and opposite, so the linear momentum of a closed system stays, but for rounding. The point where they act is
 * fixed in both bodies at the start of the tick; within it the bodies part by up to v dt along the surface, so the angular momentum may be off by
 * v dt P: 4 m/s, dt, and the 10 N s that the collisions pass on, of which friction's part counts: a tenth. */
static void test_collision(void **state)
{
  (void)state;
  for (uint32_t rate = 240; rate <= 480; rate *= 2) {
    sb_model_builder *b = physics_builder(0);
    for (int k = 0; k < 5; k++) {
      int32_t i = add_cube(b, 0.2, 1 + k, 0.5 * k - 1, 0.05 * k, 0.03 * k, 0.3 * k, 0.5, 0.2);
      sb_builder_body(b, i)->qd[0] = 2 - k;
      sb_builder_body(b, i)->qd[5] = 1 - 0.5 * k;
    }
    physics p = physics_start(b, STEEL, rate, PHYSICS_NO_PARAMS);
    reference_body at[5];
    dv origin = {0, 0, 0};
    reference_from_bodies(p.m, p.s->body_q, p.s->body_qd, at);
    dv l0 = reference_angular_momentum(p.m, at, origin);
    double p0 = 0, p1 = 0;
    for (int k = 0; k < 5; k++) p0 += (1 + k) * p.s->body_qd[6 * k];
    physics_step(&p, 2 * rate);
    for (int k = 0; k < 5; k++) p1 += (1 + k) * p.s->body_qd[6 * k];
    assert_true(sb_sim_statistics(p.sim).contact_peak > 4);
    reference_from_bodies(p.m, p.s->body_q, p.s->body_qd, at);
    dv l = reference_angular_momentum(p.m, at, origin);
    physics_bound(&p, "five cubes collide: linear momentum, N s", fabs(p1 - p0), 2000 * 20 * PHYSICS_ULP);
    physics_bound(&p, "  angular momentum, N m s", sqrt(pow(l.x - l0.x, 2) + pow(l.y - l0.y, 2) + pow(l.z - l0.z, 2)), 4 * p.dt * 1);
    physics_stop(&p);
  }
  physics_verdict();
}

/* A pyramid of 20 rows stands for 10 s; a heavy cube stands on a light one (20 : 1). */
static void test_stacks(void **state)
{
  (void)state;
  static const sb_scene_param rows[] = {{"rows", "20", NULL}, {NULL, NULL, NULL}};
  physics p = physics_start_model(physics_load("generator:pyramid", rows, false), STEEL, 60, PHYSICS_NO_PARAMS);
  uint32_t top = p.m->body_count - 1;
  physics_step(&p, 600);
  double moved = 0;
  for (int k = 0; k < 3; k++) moved += pow((double)p.s->body_q[7 * top + k] - (double)p.m->body_q[7 * top + k], 2);
  physics_bound(&p, "pyramid of 20 rows after 10 s: top cube moved, m", sqrt(moved), 0.05);
  physics_stop(&p);
  sb_model_builder *b = physics_builder(-G);
  add_plane(b, 0, 0.6);
  add_cube(b, 0.25, 10, 0, 0, 0.25, 0, 0.6, 0);
  add_cube(b, 0.25, 200, 0, 0, 0.75, 0, 0.6, 0);
  p = physics_start(b, STEEL, 60, PHYSICS_NO_PARAMS);
  physics_step(&p, 600);
  physics_bound(&p, "200 kg on 10 kg after 10 s: sink of the top, m", 0.75 - p.s->body_q[9], 0.03);
  physics_bound(&p, "  moved aside, m", hypot(p.s->body_q[7], p.s->body_q[8]), 0.005);
  physics_stop(&p);
  physics_verdict();
}

/* Each parameter has the effect its text says. */
static double sink_with(const physics_param *set, size_t count)
{
  sb_model_builder *b = physics_builder(-G);
  add_plane(b, 0, 0.6);
  add_cube(b, 0.25, 100, 0, 0, 0.15, 0, 0.6, 0); /* 0.1 m deep */
  physics p = physics_start(b, STEEL, 60, set, count);
  physics_step(&p, 3);
  double depth = 0.25 - p.s->body_q[2];
  physics_stop(&p);
  return depth;
}

static double bounce_with(double threshold)
{
  sb_model_builder *b = physics_builder(-G);
  add_plane(b, 0, 0.6);
  add_cube(b, 0.1, 1, 0, 0, 0.3, 0, 0.6, 0.8);
  physics_param set = {"restitution_threshold", threshold};
  physics p = physics_start(b, STEEL, 240, &set, 1);
  double fastest = 0;
  for (int t = 0; t < 120; t++) {
    physics_step(&p, 1);
    fastest = fmax(fastest, p.s->body_qd[2]);
  }
  physics_stop(&p);
  return fastest;
}

/* Ticks until a cube that starts upwards at 0.5 m/s sleeps. */
static uint32_t ticks_to_sleep(double ticks, double speed)
{
  sb_model_builder *b = physics_builder(-G);
  add_plane(b, 0, 0.6);
  sb_builder_body(b, add_cube(b, 0.25, 100, 0, 0, 0.25, 0, 0.6, 0))->qd[2] = 0.5;
  physics_param set[] = {{"sleep_ticks", ticks}, {"sleep_speed", speed}};
  physics p = physics_start(b, STEEL, 60, set, 2);
  uint32_t t = 0;
  const sb_array *sleep = sb_registry_find(sb_sim_registry(p.sim), "physics.sleep");
  while (t < 200 && (!sleep || !sleep->data[1])) physics_step(&p, 1), t++;
  physics_stop(&p);
  return t;
}

/* A hinge that hits its limit at 4 rad/s: how far it is beyond, three ticks later. */
static double beyond_limit_with(double frequency)
{
  sb_model_builder *b = physics_builder(0);
  sb_build_body body = physics_link(-1, 0, 0, 0, 2, 0.5);
  sb_builder_add_body(b, &body, NULL);
  sb_build_dof dof = physics_axis(SB_DOF_ANGULAR, 0, 0, 1);
  dof.upper = 0, dof.q = 0.2;
  sb_builder_add_dof(b, &dof, NULL);
  physics_param set = {"joint_frequency", frequency};
  physics p = physics_start(b, STEEL, 60, &set, 1);
  physics_step(&p, 3);
  double q = p.s->joint_q[0];
  physics_stop(&p);
  return q;
}

/* Eight cubes in flight, each tied to the next; the last one is pulled away. How fast the first one follows within one substep: a pass takes the
 * pull one tie further. */
static double pulled_with(double iterations)
{
  sb_model_builder *b = physics_builder(0);
  for (int k = 0; k < 8; k++) {
    sb_build_body body = physics_free(1, 0.01, 0.01, 0.01, 0, 0, 0.4 * k);
    if (k == 7) body.qd[2] = 1;
    int32_t cube = sb_builder_add_body(b, &body, NULL);
    sb_build_equality tie = sb_build_equality_default();
    tie.type = SB_EQUALITY_CONNECT;
    tie.body[0] = cube - 1, tie.body[1] = cube;
    tie.anchor[0][2] = 0.2, tie.anchor[1][2] = -0.2;
    if (k) sb_builder_add_equality(b, &tie, NULL);
  }
  physics_param set[] = {{"iterations", iterations}, {"substeps", 1}};
  physics p = physics_start(b, STEEL, 60, set, 2);
  physics_step(&p, 1);
  double speed = p.s->body_qd[2];
  physics_stop(&p);
  return speed;
}

static bool observes(double on)
{
  sb_model_builder *b = physics_builder(-G);
  add_cube(b, 0.25, 100, 0, 0, 1, 0, 0.6, 0);
  physics_param set = {"observables", on};
  physics p = physics_start(b, STEEL, 60, &set, 1);
  physics_step(&p, 1);
  const sb_array *a = sb_registry_find(sb_sim_registry(p.sim), "physics.body_qdd");
  bool falls = a && fabs((double)((const float *)a->data)[2] + G) < 1e-3;
  physics_stop(&p);
  return falls;
}

static void test_parameters(void **state)
{
  (void)state;
  const sb_solver_desc *d = physics_desc(STEEL);
  physics_param soft = {"contact_frequency", 5}, slow = {"contact_push_velocity", 0.1}, damped = {"contact_damping_ratio", 50},
                coarse = {"substeps", 1};
  double usual = sink_with(PHYSICS_NO_PARAMS);
  uint32_t tested = 0;
  for (uint32_t i = 0; i < d->param_count; i++) {
    const char *name = d->params[i].name;
    if (!strcmp(name, "contact_frequency")) tested += sink_with(&soft, 1) > usual + 0.005;
    if (!strcmp(name, "contact_push_velocity")) tested += sink_with(&slow, 1) > usual + 0.005;
    if (!strcmp(name, "contact_damping_ratio")) tested += sink_with(&damped, 1) > usual + 0.005;
    if (!strcmp(name, "substeps")) tested += fabs(sink_with(&coarse, 1) - usual) > 1e-6;
    if (!strcmp(name, "sleep_ticks")) tested += ticks_to_sleep(40, 0.1) == ticks_to_sleep(20, 0.1) + 20 && ticks_to_sleep(0, 0.1) == 200;
    if (!strcmp(name, "sleep_speed")) tested += ticks_to_sleep(20, 1) == 20 && ticks_to_sleep(20, 0.01) > 22;
    if (!strcmp(name, "observables")) tested += observes(1) && !observes(0);
    if (!strcmp(name, "iterations")) tested += pulled_with(1) == 0 && pulled_with(16) > 0.05;
    if (!strcmp(name, "joint_frequency")) tested += beyond_limit_with(5) > beyond_limit_with(60) + 0.01;
    if (!strcmp(name, "restitution_threshold")) tested += bounce_with(100) < 0.1 && bounce_with(0.5) > 0.5;
  }
  assert_int_equal(tested, d->param_count);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_flight),    cmocka_unit_test(test_rest),      cmocka_unit_test(test_slope),
                                     cmocka_unit_test(test_restitution), cmocka_unit_test(test_rolling), cmocka_unit_test(test_collision), cmocka_unit_test(test_stacks),
                                     cmocka_unit_test(test_parameters)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
