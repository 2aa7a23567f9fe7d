/* Every parameter of both solvers does what its text says. The tables are looped over: a parameter without a case here
 * fails. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "physics_scene.h"

#define G 9.81
/* In semi_implicit a joint's single dof shares the body with both attachments: a third of its inertia counts. */
#define SHARE(s) ((s) == SEMI_IMPLICIT ? 3.0 : 1.0)

static double omega(double hertz) { return 2 * PHYSICS_PI * hertz; }

/* One tick of n substeps from rest: symplectic Euler falls g dt^2 (n + 1) / (2 n). */
static void check_substeps(physics_solver s)
{
  const double counts[3] = {1, 4, 256};
  for (int k = 0; k < 3; k++) {
    sb_model_builder *b = physics_builder(-G);
    sb_build_body body = physics_free(1, 1, 1, 1, 0, 0, 0);
    sb_builder_add_body(b, &body, NULL);
    const physics_param set[1] = {{"substeps", counts[k]}};
    physics p = physics_start(b, s, 10, set, 1);
    physics_step(&p, 1);
    double want = G * p.dt * p.dt * (counts[k] + 1) / (2 * counts[k]);
    physics_bound(&p, "substeps: fall in one tick, relative", fabs(-p.s->body_q[2] / want - 1),
                  8 * counts[k] * PHYSICS_ULP);
    physics_stop(&p);
  }
}

static physics start_ball(physics_solver s, const physics_param *set, size_t count, double height)
{
  const double r = 0.1;
  sb_model_builder *b = physics_builder(-G);
  physics_shape(b, SB_SHAPE_PLANE, -1, 0, 0, 0, 0.5);
  sb_build_body body = physics_free(1, 0.004, 0.004, 0.004, 0, 0, r + height);
  physics_shape(b, SB_SHAPE_SPHERE, sb_builder_add_body(b, &body, NULL), r, 0, 0, 0.5);
  return physics_start(b, s, 1000, set, count);
}

/* A ball sinks by g / W^2, in semi_implicit by 1 + (W dt)^2 of that. */
static void check_contact_frequency(physics_solver s)
{
  const double hertz[2] = {20, 60};
  for (int k = 0; k < 2; k++) {
    const physics_param set[1] = {{"contact_frequency", hertz[k]}};
    physics p = start_ball(s, set, 1, 0);
    physics_step(&p, 3000);
    double w = omega(hertz[k]), want = G / (w * w) * (s == SEMI_IMPLICIT ? 1 + w * p.dt * w * p.dt : 1);
    physics_bound(&p, "contact_frequency: sink of a ball, relative", fabs((0.1 - p.s->body_q[2]) / want - 1), 0.01);
    physics_stop(&p);
  }
}

/* Rebound of a spring and damper that never pulls: exp(-z (pi - a) / sqrt(1 - z^2)) with cos a = 2 z^2 - 1 for the
 * moment at which the force ends, about exp(-2 z) for small z. The implicit step adds W dt / 2 to z, twice that by
 * acting a step ahead. */
static double rebound(double z) { return z >= 1 ? 0.14 : exp(-z * acos(2 * z * z - 1) / sqrt(1 - z * z)); }

static void check_contact_damping(physics_solver s)
{
  const double ratios[3] = {0, 0.2, 1};
  for (int k = 0; k < 3; k++) {
    const physics_param set[2] = {{"contact_damping_ratio", ratios[k]}, {"contact_frequency", 10}};
    physics p = start_ball(s, set, 2, 0.2);
    double in = 0, out = 0;
    for (int t = 0; t < 400; t++)
      physics_step(&p, 1), in = fmax(in, -p.s->body_qd[2]), out = fmax(out, p.s->body_qd[2]);
    physics_bound(&p, "contact_damping_ratio: rebound, of the speed before", fabs(out / in - rebound(ratios[k])),
                  0.05 + 2 * omega(10) * p.dt);
    physics_stop(&p);
  }
}

static physics start_stop(physics_solver s, const physics_param *set, size_t count, double speed, double torque)
{
  sb_model_builder *b = physics_builder(0);
  sb_build_body body = physics_link(-1, 0, 0, 0, 1, 0.5);
  sb_builder_add_body(b, &body, NULL);
  sb_build_dof dof = physics_axis(SB_DOF_ANGULAR, 0, 0, 1);
  dof.upper = 0.1, dof.qd = speed;
  sb_build_actuator motor = sb_build_actuator_default();
  motor.dof = sb_builder_add_dof(b, &dof, NULL);
  motor.ctrl = torque;
  sb_builder_add_actuator(b, &motor, NULL);
  return physics_start(b, s, 1000, set, count);
}

/* A motor presses a hinge tau / (I W^2) into its stop; three times that in semi_implicit (both forces are the joint's
 * own, so the weakening of an explicit spring takes the same from both). */
static void check_limit_frequency(physics_solver s)
{
  const double hertz[2] = {20, 60};
  for (int k = 0; k < 2; k++) {
    const physics_param set[1] = {{"limit_frequency", hertz[k]}};
    physics p = start_stop(s, set, 1, 0, 3);
    physics_step(&p, 4000);
    double w = omega(hertz[k]), want = 3 / (0.5 * w * w) * SHARE(s);
    physics_bound(&p, "limit_frequency: depth under a motor, relative", fabs((p.s->joint_q[0] - 0.1) / want - 1), 0.01);
    physics_stop(&p);
  }
}

/* As for contact, but that a limit's damper may pull on the way out; it ends where the coordinate is free: exp(-pi z /
 * sqrt(1 - z^2)). Against a third of the inertia z is z / sqrt(3). */
static void check_limit_damping(physics_solver s)
{
  const double ratios[3] = {0, 0.2, 0.7};
  for (int k = 0; k < 3; k++) {
    const physics_param set[2] = {{"limit_damping_ratio", ratios[k]}, {"limit_frequency", 10}};
    physics p = start_stop(s, set, 2, 2, 0);
    double back = 0, z = ratios[k] / sqrt(SHARE(s));
    for (int t = 0; t < 400; t++) physics_step(&p, 1), back = fmin(back, p.s->joint_qd[0]);
    physics_bound(&p, "limit_damping_ratio: rebound, of the speed before",
                  fabs(-back / 2 - exp(-PHYSICS_PI * z / sqrt(1 - z * z))), 0.05 + 2 * omega(10) * p.dt);
    physics_stop(&p);
  }
}

/* A weight that hangs from a hinge; the attachment shares it among 3 forces, so it rings at w / sqrt(3) about 3 g /
 * w^2. */
static physics start_hanging(const physics_param *set, size_t count)
{
  sb_model_builder *b = physics_builder(-G);
  sb_build_body body = physics_link(-1, 0, 0, 0, 1, 0.1);
  body.com[2] = -0.5;
  sb_builder_add_body(b, &body, NULL);
  sb_build_dof dof = physics_axis(SB_DOF_ANGULAR, 0, 1, 0);
  sb_builder_add_dof(b, &dof, NULL);
  return physics_start(b, SEMI_IMPLICIT, 1000, set, count);
}

static void check_joint_frequency(physics_solver s)
{
  assert_int_equal(s, SEMI_IMPLICIT);
  const double hertz[3] = {20, 50, 100000};
  for (int k = 0; k < 3; k++) {
    const physics_param set[1] = {{"joint_frequency", hertz[k]}};
    physics p = start_hanging(set, 1);
    physics_step(&p, 3000);
    double w = fmin(omega(hertz[k]), 0.5 / p.dt); /* never above 1 / (4 pi substep) Hz */
    physics_bound(&p, "joint_frequency: stretch of a hinge, relative", fabs(-p.s->body_q[2] * w * w / (3 * G) - 1),
                  0.01);
    physics_stop(&p);
  }
}

/* The weight is let go at stretch 0 and shoots over its rest by exp(-pi z / sqrt(1 - z^2)), z = zeta / sqrt(3). */
static void check_joint_damping(physics_solver s)
{
  assert_int_equal(s, SEMI_IMPLICIT);
  const double ratios[3] = {0, 0.3, 1};
  for (int k = 0; k < 3; k++) {
    const physics_param set[2] = {{"joint_damping_ratio", ratios[k]}, {"joint_frequency", 10}};
    physics p = start_hanging(set, 2);
    double w = omega(10), z = ratios[k] / sqrt(3), most = 0;
    for (int t = 0; t < 1000; t++) physics_step(&p, 1), most = fmax(most, -p.s->body_q[2] * w * w / (3 * G));
    physics_bound(&p, "joint_damping_ratio: overshoot of the stretch",
                  fabs(most - 1 - exp(-PHYSICS_PI * z / sqrt(1 - z * z))), w * p.dt);
    physics_stop(&p);
  }
}

/* Two links that swing from the horizontal for 5 s: the midpoint step's largest energy error is a twentieth of Euler's,
 * or less. */
static void check_integrator(physics_solver s)
{
  double error[2];
  for (int k = 0; k < 2; k++) {
    sb_model_builder *b = physics_builder(-G);
    for (int i = 0; i < 2; i++) {
      sb_build_body body = physics_link(i - 1, i ? 0.5 : 0, 0, 0, 1, 0.02);
      body.com[0] = 0.25;
      sb_builder_add_body(b, &body, NULL);
      sb_build_dof dof = physics_axis(SB_DOF_ANGULAR, 0, 1, 0);
      sb_builder_add_dof(b, &dof, NULL);
    }
    const physics_param set[1] = {{"integrator", k}};
    physics p = physics_start(b, s, 1000, set, 1);
    double e0 = reference_energy(p.m, p.s);
    error[k] = 0;
    for (int t = 0; t < 5000; t++)
      physics_step(&p, 1), error[k] = fmax(error[k], fabs(reference_energy(p.m, p.s) - e0));
    if (k) physics_bound(&p, "integrator: energy error of midpoint over euler", error[1] / error[0], 0.05);
    physics_stop(&p);
  }
}

/* xpbd: a rope that does not stretch is longer than it should be while it has not converged; passes make it shorter. */
static void check_iterations(physics_solver s)
{
  const double passes[3] = {1, 4, 32};
  double over[3];
  for (int k = 0; k < 3; k++) {
    const sb_scene_param rope[] = {{"count", "21", NULL}, {"length", "2", NULL}, {"pose", "hanging", NULL}, {"stretch", "0", NULL}, {"ground", "0", NULL}, {NULL, NULL, NULL}};
    const physics_param set[2] = {{"iterations", passes[k]}, {"substeps", 1}};
    physics p = physics_start_model(physics_load("generator:rope", rope, false), s, 60, set, 2);
    physics_step(&p, 600);
    over[k] = (double)p.s->particle_q[2] - (double)p.s->particle_q[3 * 20 + 2] - 2;
    if (k) physics_bound(&p, "iterations: what a rigid rope has stretched, of that with fewer", over[k] / over[k - 1], 0.5);
    physics_stop(&p);
  }
}

/* xpbd: a rope of springs that give hangs as long in either order, since multipliers accumulate; within one pass Jacobi takes smaller shares, so it is longer. */
static void check_order(physics_solver s)
{
  const double passes[2] = {1, 64};
  for (int k = 0; k < 2; k++) {
    double end[2];
    for (int order = 0; order < 2; order++) {
      const sb_scene_param rope[] = {{"count", "11", NULL}, {"length", "1", NULL}, {"pose", "hanging", NULL}, {"stretch", "200", NULL}, {"damping", "1", NULL}, {"ground", "0", NULL}, {NULL, NULL, NULL}};
      const physics_param set[3] = {{"iterations", passes[k]}, {"substeps", 4}, {"order", order}};
      physics p = physics_start_model(physics_load("generator:rope", rope, false), s, 240, set, 3);
      physics_step(&p, k ? 2400 : 30);
      end[order] = (double)p.s->particle_q[2] - (double)p.s->particle_q[3 * 10 + 2];
      if (order && k) physics_bound(&p, "order: length of a rope at rest under jacobi against gauss_seidel, relative", fabs(end[1] / end[0] - 1), 1e-4);
      if (order && !k) physics_bound(&p, "order: one pass gives the same length (0: no, as it should be)", end[1] == end[0], 0.5);
      physics_stop(&p);
    }
  }
}

/* A ball meets the ground at 1.4 m/s. */
static void check_restitution_threshold(physics_solver s)
{
  const double thresholds[2] = {1.3, 1.5};
  for (int k = 0; k < 2; k++) {
    const double r = 0.1, height = 0.1;
    sb_model_builder *b = physics_builder(-G);
    physics_shape(b, SB_SHAPE_PLANE, -1, 0, 0, 0, 0);
    sb_build_body body = physics_free(1, 0.004, 0.004, 0.004, 0, 0, r + height);
    sb_build_shape ball = sb_build_shape_default();
    ball.type = SB_SHAPE_SPHERE, ball.body = sb_builder_add_body(b, &body, NULL), ball.size[0] = r, ball.restitution = 0.5;
    sb_builder_add_shape(b, &ball, NULL);
    const physics_param set[1] = {{"restitution_threshold", thresholds[k]}};
    physics p = physics_start(b, s, 240, set, 1);
    double up = 0;
    for (int t = 0; t < 120; t++) physics_step(&p, 1), up = fmax(up, (double)p.s->body_qd[2]);
    physics_bound(&p, "restitution_threshold: speed after the bounce against e v or 0, m/s", fabs(up - (k ? 0 : 0.5 * sqrt(2 * G * height))), G * p.dt); /* a tick of falling */
    physics_stop(&p);
  }
}

/* A ball that is deep in the ground comes out at this speed, and at 0.02 m/s that it may always have. */
static void check_contact_push_velocity(physics_solver s)
{
  const double speeds[2] = {0.05, 0.2};
  for (int k = 0; k < 2; k++) {
    const physics_param set[1] = {{"contact_push_velocity", speeds[k]}};
    physics p = start_ball(s, set, 1, -0.08);
    physics_step(&p, 250);
    physics_bound(&p, "contact_push_velocity: way out of the ground in 1/4 s, relative",
                  fabs(((double)p.s->body_q[2] - 0.02) / ((speeds[k] + 0.02) * 0.25) - 1), 0.1);
    physics_stop(&p);
  }
}

typedef struct param_case {
  const char *name;
  void (*check)(physics_solver);
} param_case;
static const param_case cases[] = {
    {"substeps", check_substeps},
    {"contact_frequency", check_contact_frequency},
    {"contact_damping_ratio", check_contact_damping},
    {"limit_frequency", check_limit_frequency},
    {"limit_damping_ratio", check_limit_damping},
    {"integrator", check_integrator},
    {"joint_frequency", check_joint_frequency},
    {"joint_damping_ratio", check_joint_damping},
};

static const param_case xpbd_cases[] = {
    {"substeps", check_substeps},
    {"iterations", check_iterations},
    {"order", check_order},
    {"restitution_threshold", check_restitution_threshold},
    {"contact_push_velocity", check_contact_push_velocity},
};

static void check_all(physics_solver s, const param_case *list, size_t count)
{
  const sb_solver_desc *desc = physics_desc(s);
  for (uint32_t i = 0; i < desc->param_count; i++) {
    size_t k = 0;
    while (k < count && strcmp(list[k].name, desc->params[i].name)) k++;
    if (k == count) fail_msg("parameter %s of %s has no test", desc->params[i].name, desc->id);
    list[k].check(s);
  }
}

static void test_params(void **state)
{
  (void)state;
  for (physics_solver s = FEATHERSTONE; s < PHYSICS_SOFT_SOLVERS; s++) check_all(s, cases, sizeof cases / sizeof cases[0]);
  check_all(XPBD, xpbd_cases, sizeof xpbd_cases / sizeof xpbd_cases[0]);
  physics_verdict();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_params)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
