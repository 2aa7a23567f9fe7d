/* What a joint does besides moving: limits, drives, friction, armature, springs, compound and fixed joints, exact
 * static torques. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "physics_scene.h"

#define FOR_EACH_SOLVER(s) for (physics_solver s = FEATHERSTONE; s < PHYSICS_ALL_SOLVERS; s++)
/* A single dof to the world shares its body among 3 forces in semi_implicit: each dof force is solved against a third
 * of the inertia. */
#define SHARE(s) ((s) == SEMI_IMPLICIT ? 3.0 : 1.0)
/* xpbd corrects coordinates, of which the last place (here of 2 to 4 rad or m) within a substep of 1/8000 s is a speed. */
#define GRAIN(s) ((s) == XPBD ? 4 * PHYSICS_ULP * 8000 : 0.0)
/* A limit that does not give. */
#define IS_HARD(s) ((s) == STEEL || (s) == XPBD)

/* A body of moment 0.5 kg m^2 about its hinge (z), balanced; or of 2 kg on a slide along x. Gravity along z does
 * nothing to either. */
static sb_model_builder *one_dof(const sb_build_dof *dof)
{
  sb_model_builder *b = physics_builder(-9.81);
  sb_build_body body = physics_link(-1, 0, 0, 0, 2, 0.5);
  sb_builder_add_body(b, &body, NULL);
  sb_builder_add_dof(b, dof, NULL);
  sb_build_actuator motor = sb_build_actuator_default();
  sb_builder_add_actuator(b, &motor, NULL);
  return b;
}
static sb_build_dof hinge(void) { return physics_axis(SB_DOF_ANGULAR, 0, 0, 1); }
static sb_build_dof slide(void) { return physics_axis(SB_DOF_LINEAR, 1, 0, 0); }

/* A stop of rate W (2 pi 100 /s) and damping ratio 1 hit at v: x' = v exp(-W t) peaks at v / (e W). The stop acts a
 * step ahead of contact and semi_implicit's inertia is a third, which softens it to W / sqrt(3): the bound is that,
 * plus one step of travel v dt. */
static void test_limits(void **state)
{
  (void)state;
  FOR_EACH_SOLVER(s)
  for (int kind = 0; kind < 2; kind++)
    for (int side = -1; side <= 1; side += 2) {
      sb_build_dof dof = kind ? slide() : hinge();
      dof.lower = -0.3, dof.upper = 0.3, dof.qd = 4 * side;
      physics p = physics_start(one_dof(&dof), s, 1000, PHYSICS_NO_PARAMS);
      double top = 0, back = 0, w = 2 * PHYSICS_PI * 100;
      for (int t = 0; t < 400; t++) {
        physics_step(&p, 1);
        top = fmax(top, side * (double)p.s->joint_q[0]), back = fmin(back, side * (double)p.s->joint_qd[0]);
      }
      physics_bound(
          &p, kind ? "slide into its limit at 4 m/s: overshoot, m" : "hinge into its limit at 4 rad/s: overshoot, rad",
          top - 0.3, 4 * sqrt(SHARE(s)) / (2.718281828 * w) + 4 * p.dt);
      assert_true(top > 0.29);
      /* Acting a step ahead, the critically damped stop lets go with up to W^2 dt times its depth v / (e W).
       * semi_implicit's is underdamped: z = 1/sqrt(3) / (1 + 2 W dt + (W dt)^2), and the rebound exp(-pi z / sqrt(1 -
       * z^2)). */
      double z = 1 / sqrt(3) / (1 + 2 * w * p.dt + w * p.dt * w * p.dt);
      physics_bound(&p, "  speed off the limit, of the speed before", -back / 4,
                    s == FEATHERSTONE ? w * p.dt / 2.718281828 : exp(-PHYSICS_PI * z / sqrt(1 - z * z)));
      physics_stop(&p);
    }
  physics_verdict();
}

/* A pendulum that falls onto its limit and comes to lie against it. featherstone: overshoot below v / (e W) and one
 * step; in rest the stop holds m g l at a depth of m g l / (I W^2). semi_implicit scales a stop by a third of the bob's
 * own moment, d = 0.05 / 3, not by that about the hinge, I = 1.05: its rate is W sqrt(d / I) and its overshoot v over
 * that; it bounces many times. */
static void test_pendulum_on_limit(void **state)
{
  (void)state;
  FOR_EACH_SOLVER(s)
  {
    sb_model_builder *b = physics_builder(-9.81);
    sb_build_body body = physics_link(-1, 0, 0, 0, 1, 0.05);
    body.com[2] = -1;
    sb_builder_add_body(b, &body, NULL);
    sb_build_dof dof = physics_axis(SB_DOF_ANGULAR, 0, 1, 0);
    dof.q = 1.5, dof.lower = 0.5;
    sb_builder_add_dof(b, &dof, NULL);
    physics p = physics_start(b, s, 1000, PHYSICS_NO_PARAMS);
    double low = 10, w = 2 * PHYSICS_PI * 100, inertia = 1.05, moment = 9.81 * sin(0.5);
    for (int t = 0; t < (s == FEATHERSTONE ? 4000 : 20000); t++) physics_step(&p, 1), low = fmin(low, p.s->joint_q[0]);
    double speed = sqrt(2 * 9.81 * (cos(0.5) - cos(1.5)) / inertia);
    physics_bound(&p, "pendulum onto its limit: overshoot, rad", 0.5 - low,
                  (s == FEATHERSTONE ? speed / (2.718281828 * w) : speed / (w * sqrt(0.05 / 3 / inertia))) +
                      speed * p.dt);
    double depth = moment / (w * w) * (s == FEATHERSTONE ? 1 / inertia : 3 / 0.05 * (1 + w * p.dt * w * p.dt));
    /* steel's limit is hard: what is left is its first, soft answer to the fall */
    physics_bound(&p, "pendulum on its limit: depth against m g l / k, rad", fabs(0.5 - p.s->joint_q[0] - (IS_HARD(s) ? 0 : depth)),
                  s == XPBD ? 1e-5 : s == STEEL ? 2e-3 : 0.01 * depth + 4 * PHYSICS_ULP);
    physics_bound(&p, "pendulum on its limit: rest, rad/s", fabs(p.s->joint_qd[0]), 1e-3);
    physics_stop(&p);
  }
  physics_verdict();
}

/* tau / (I + armature), on a hinge and on a slide. One tick to the next: rounding only, as nothing else acts. */
static void test_armature_and_effort(void **state)
{
  (void)state;
  FOR_EACH_SOLVER(s)
  for (int kind = 0; kind < 2; kind++)
    for (int limited = 0; limited < 2; limited++) {
      sb_build_dof dof = kind ? slide() : hinge();
      dof.armature = 0.75;
      if (limited) dof.effort_limit = 1.2;
      physics p = physics_start(one_dof(&dof), s, 1000, PHYSICS_NO_PARAMS);
      p.s->actuator_ctrl[0] = 3;
      physics_step(&p, 500);
      double effort = limited ? 1.2 : 3, want = effort / ((kind ? 2 : 0.5) + 0.75), t = 500 * p.dt;
      physics_bound(&p,
                    kind ? (limited ? "slide, armature, effort limit: acceleration, relative"
                                    : "slide, armature: acceleration, relative")
                         : (limited ? "hinge, armature, effort limit: acceleration, relative"
                                    : "hinge, armature: acceleration, relative"),
                    fabs(p.s->joint_qd[0] / (want * t) - 1), 500 * 4 * PHYSICS_ULP);
      physics_stop(&p);
    }
  physics_verdict();
}

static void test_velocity_limit(void **state)
{
  (void)state;
  FOR_EACH_SOLVER(s)
  for (int kind = 0; kind < 2; kind++) {
    sb_build_dof dof = kind ? slide() : hinge();
    dof.velocity_limit = 2;
    physics p = physics_start(one_dof(&dof), s, 1000, PHYSICS_NO_PARAMS);
    p.s->actuator_ctrl[0] = 10;
    double top = 0;
    for (int t = 0; t < 2000; t++) physics_step(&p, 1), top = fmax(top, p.s->joint_qd[0]);
    /* featherstone brakes what is above the limit at a step's start, so a step's worth of acceleration, 10 / 2 or 10 / 0.5, may be on top, and
     * a hundredth of it stays; semi_implicit takes the excess away as a force: rounding */
    double step = s == FEATHERSTONE ? (kind ? 10 / 2.0 : 10 / 0.5) * p.dt * 1.02 : 0;
    physics_bound(&p,
                  kind ? "slide: top speed under 10 N, limit 2 m/s" : "hinge: top speed under 10 N m, limit 2 rad/s",
                  top, 2 * (1 + 20 * PHYSICS_ULP) + step + GRAIN(s));
    assert_true(top > 1.9);
    physics_stop(&p);
  }
  physics_verdict();
}

/* A drive against a moment: the error in rest is tau / ke. Its step response follows I q'' = ke (r - q) - kd q'; the
 * implicit step lags by about one dt of the motion's rate: |error| < dt max |q'| (SHARE of that for semi_implicit), max
 * |q'| < r w. */
static void test_drive(void **state)
{
  (void)state;
  const double inertia = 0.5, ke = 50, kd = 2, w = sqrt(ke / inertia), zeta = kd / (2 * sqrt(ke * inertia)), r = 0.8;
  FOR_EACH_SOLVER(s)
  {
    sb_build_dof dof = hinge();
    dof.target_ke = ke, dof.target_kd = kd, dof.target_q = r;
    physics p = physics_start(one_dof(&dof), s, 1000, PHYSICS_NO_PARAMS);
    double worst = 0, wd = w * sqrt(1 - zeta * zeta);
    for (int t = 1; t <= 2000; t++) {
      physics_step(&p, 1);
      double time = t * p.dt,
             want = r * (1 - exp(-zeta * w * time) * (cos(wd * time) + zeta * w / wd * sin(wd * time)));
      worst = fmax(worst, fabs(p.s->joint_q[0] - want));
    }
    physics_bound(&p, "drive, step of 0.8 rad: distance to the second-order answer, rad", worst,
                  SHARE(s) * r * w * p.dt);
    physics_step(&p, 3000);
    physics_bound(&p, "drive: error in rest, rad", fabs(p.s->joint_q[0] - r), s == STEEL ? 4e-5 : 1e-5); /* rounding stops each substep */
    p.s->actuator_ctrl[0] = 5;
    physics_step(&p, 6000);
    physics_bound(&p, "drive under 5 N m: error in rest against tau / ke, rad", fabs(p.s->joint_q[0] - r - 5 / ke),
                  1e-5);
    physics_stop(&p);
    /* a velocity drive: kd (v - q') reaches v with time constant I / kd; after 12 of them, exp(-12) v is left */
    dof = hinge();
    dof.target_kd = kd, dof.target_qd = 3;
    p = physics_start(one_dof(&dof), s, 1000, PHYSICS_NO_PARAMS);
    physics_step(&p, 250);
    physics_bound(&p, "velocity drive: rate after one time constant, rad/s", fabs(p.s->joint_qd[0] - 3 * (1 - exp(-1))),
                  SHARE(s) * 3 * kd / inertia * p.dt);
    physics_step(&p, 2750);
    physics_bound(&p, "velocity drive: final rate, rad/s", fabs(p.s->joint_qd[0] - 3),
                  3 * exp(-12 * 0.97) + GRAIN(s) + (s == STEEL ? inertia / kd * 4 / p.dt * 2 * PHYSICS_ULP : 1e-5));
    physics_stop(&p);
    /* more stiffness than an explicit step could take (ke dt^2 / I = 200): it must just reach its target */
    dof = hinge();
    dof.target_ke = 1e8, dof.target_kd = 1e3, dof.target_q = 0.5;
    p = physics_start(one_dof(&dof), s, 1000, PHYSICS_NO_PARAMS);
    double top = 0;
    for (int t = 0; t < 1000; t++) physics_step(&p, 1), top = fmax(top, p.s->joint_q[0]);
    physics_bound(&p, "stiff drive (ke dt^2 / I = 200): overshoot, rad", top - 0.5, s == FEATHERSTONE ? 0.01 : 0.3);
    physics_bound(&p, "stiff drive: error after 1 s, rad", fabs(p.s->joint_q[0] - 0.5), 1e-4);
    physics_stop(&p);
  }
  physics_verdict();
}

/* Dry friction f: a motor below f does not move the joint, but for the creep of featherstone's smoothing, a
 * damper of 10 I / dt: tau dt / (10 I). Above, the joint accelerates at (tau - f) / I; without a motor it slows at f /
 * I and stops. */
static void test_dry_friction(void **state)
{
  (void)state;
  FOR_EACH_SOLVER(s)
  for (int kind = 0; kind < 2; kind++) {
    double f = 1.5, inertia = kind ? 2 : 0.5;
    sb_build_dof dof = kind ? slide() : hinge();
    dof.friction = f;
    physics p = physics_start(one_dof(&dof), s, 1000, PHYSICS_NO_PARAMS);
    p.s->actuator_ctrl[0] = 1.4f;
    physics_step(&p, 1000);
    physics_bound(
        &p, kind ? "slide, motor below dry friction: creep, m/s" : "hinge, motor below dry friction: creep, rad/s",
        fabs(p.s->joint_qd[0]), s == FEATHERSTONE ? 1.4 * p.dt / (10 * inertia) * (1 + 1e-4) : 1e-6);
    float from = p.s->joint_qd[0];
    p.s->actuator_ctrl[0] = 2.5f;
    physics_step(&p, 400);
    double t = 400 * p.dt, want = (2.5 - f) / inertia;
    /* featherstone: friction is a damper f / |v| with its own inertia dt f / |v|, which slows the start: f dt / I times
     * the logarithm of the speeds' ratio is lost. semi_implicit: no smoothing. */
    physics_bound(
        &p, kind ? "slide, motor above it: acceleration, relative" : "hinge, motor above it: acceleration, relative",
        fabs((p.s->joint_qd[0] - from) / (want * t) - 1),
        (s == FEATHERSTONE ? f * p.dt / (inertia * want * t) * log(want * t / from) * 1.2 : 0) + 2e-3);
    physics_stop(&p);
    dof.qd = 3;
    p = physics_start(one_dof(&dof), s, 1000, PHYSICS_NO_PARAMS);
    physics_step(&p, 500);
    physics_bound(&p, kind ? "slide slowed by dry friction: speed, m/s" : "hinge slowed by dry friction: rate, rad/s",
                  fabs(p.s->joint_qd[0] - (3 - f / inertia * 500 * p.dt)), 3 * SHARE(s) * f / inertia * p.dt + 1e-4);
    physics_step(&p, 4500);
    double stop = 9 * inertia / (2 * f);
    physics_bound(&p, "  way until it stops, against I v^2 / (2 f), relative", fabs(p.s->joint_q[0] / stop - 1),
                  SHARE(s) * f / inertia * p.dt / 3 * 4 + 1e-4);
    physics_bound(&p, "  speed then", fabs(p.s->joint_qd[0]), 1e-6 + GRAIN(s));
    physics_stop(&p);
  }
  physics_verdict();
}

/* exp(-c t / I): implicit damping is off by c^2 dt t / (2 I^2) of the exponent; solved against I / 3, by 5 times that.
 * Springs rest at spring_ref; ref only moves the zero of the coordinate. */
static void test_damping_spring_ref(void **state)
{
  (void)state;
  FOR_EACH_SOLVER(s)
  {
    const double inertia = 0.5, c = 0.8;
    sb_build_dof dof = hinge();
    dof.damping = c, dof.qd = 2;
    physics p = physics_start(one_dof(&dof), s, 1000, PHYSICS_NO_PARAMS);
    physics_step(&p, 1000);
    double t = 1000 * p.dt;
    physics_bound(&p, "damped hinge: rate against exp(-c t / I), relative",
                  fabs(p.s->joint_qd[0] / (2 * exp(-c * t / inertia)) - 1),
                  (2 * SHARE(s) - 1) * c * c / (inertia * inertia) * p.dt * t / 2 * 1.1 + 1e-4);
    physics_stop(&p);
    dof = hinge();
    dof.stiffness = 40, dof.damping = 6, dof.spring_ref = 0.7, dof.ref = 0.25, dof.q = 0.1;
    p = physics_start(one_dof(&dof), s, 1000, PHYSICS_NO_PARAMS);
    physics_step(&p, 8000);
    physics_bound(&p, "spring: coordinate in rest against spring_ref, rad", fabs(p.s->joint_q[0] - 0.7), 1e-5);
    /* q - ref turns the body: 0.45 rad about z */
    physics_bound(&p, "ref: turn of the body against q - ref, rad",
                  dq_angle(dq_read(p.s->body_q + 3), dq_turn(dv_make(0, 0, 1), 0.45)), 2e-5);
    physics_stop(&p);
    /* a hanging weight stretches its spring by m g / k; semi_implicit weakens k by 1 + 3 dt^2 k / m */
    sb_model_builder *b = physics_builder(-9.81);
    sb_build_body body = physics_link(-1, 0, 0, 0, 2, 0.1);
    sb_builder_add_body(b, &body, NULL);
    dof = physics_axis(SB_DOF_LINEAR, 0, 0, 1);
    dof.stiffness = 300, dof.damping = 40;
    sb_builder_add_dof(b, &dof, NULL);
    p = physics_start(b, s, 1000, PHYSICS_NO_PARAMS);
    physics_step(&p, 5000);
    physics_bound(&p, "weight on a spring: stretch against m g / k, m", fabs(p.s->joint_q[0] + 2 * 9.81 / 300),
                  s == FEATHERSTONE ? 1e-6 : 2 * 9.81 / 300 * SHARE(s) * 300 * p.dt * p.dt / 2 * 1.1);
    physics_stop(&p);
  }
  physics_verdict();
}

/* Joints of 2 and 3 hinges with anchors apart, and a fixed joint: the tree must do what one made of hinges with nearly
 * massless bodies between would; held against the reference's accelerations, integrated with the same step for 100
 * ticks in binary64. */
static void test_compound(void **state)
{
  (void)state;
  FOR_EACH_SOLVER(s)
  {
    sb_model_builder *b = physics_builder(-9.81);
    sb_build_body body = physics_link(-1, 0, 0, 1, 2, 0.2);
    body.com[0] = 0.2, body.com[2] = -0.3;
    body.inertia[1] = 0.1, body.inertia[2] = 0.15, body.inertia[3] = 0.03, body.inertia[5] = -0.02;
    int32_t upper = sb_builder_add_body(b, &body, NULL);
    sb_build_dof dof = physics_axis(SB_DOF_ANGULAR, 1, 0, 0);
    dof.anchor[1] = 0.1, dof.qd = 1;
    sb_builder_add_dof(b, &dof, NULL);
    dof = physics_axis(SB_DOF_ANGULAR, 0, 1, 0);
    dof.anchor[0] = -0.1, dof.q = 0.4;
    sb_builder_add_dof(b, &dof, NULL);
    body = physics_link(upper, 0.3, 0, -0.4, 1.5, 0.15);
    body.com[2] = -0.2, body.inertia[1] = 0.08, body.inertia[4] = 0.03;
    int32_t lower = sb_builder_add_body(b, &body, NULL);
    for (int k = 0; k < 3; k++) {
      dof = physics_axis(SB_DOF_ANGULAR, k == 0, k == 1, k == 2);
      dof.anchor[(k + 1) % 3] = 0.05, dof.q = 0.2 * k, dof.qd = 0.5 - k;
      sb_builder_add_dof(b, &dof, NULL);
    }
    body = physics_link(lower, 0, 0.1, -0.3, 0.5, 0.05);
    body.joint_type = SB_JOINT_FIXED;
    sb_builder_add_body(b, &body, NULL);
    /* semi_implicit: 20 substeps, so that its attachments are stiff; its reference takes the same dt */
    const physics_param set[2] = {{"substeps", 20}, {"integrator", 0}};
    physics p = physics_start(b, s, 1000, set, s == FEATHERSTONE ? 2 : 1);
    double q[8], qd[8], qdd[8], none[8] = {0}, h = p.dt / 20, worst = 0;
    for (int k = 0; k < 5; k++) q[k] = p.s->joint_q[k], qd[k] = p.s->joint_qd[k];
    for (int t = 0; t < 200; t++) {
      physics_step(&p, 1);
      for (int i = 0; i < 20; i++) {
        reference_accelerations(p.m, q, qd, none, qdd);
        for (int k = 0; k < 5; k++) qd[k] += h * qdd[k], q[k] += h * qd[k];
      }
      for (int k = 0; k < 5; k++) worst = fmax(worst, fabs(p.s->joint_q[k] - q[k]));
    }
    /* featherstone is the same map: rounding, 4000 steps of 1e-6 relative error in accelerations of 30 rad/s^2 over 0.2
     * s, 1e-5 rad or so, tenfold for the growth of differences. semi_implicit: its attachments' give, 4 n T h^2 / I
     * with n = 9, T = 15 N m, I = 0.05, and the step's own first-order term, dt w^2 t h of the angle */
    physics_bound(&p, "2 + 3 hinges with anchors apart, fixed tip: path over 0.2 s, rad", worst,
                  s == FEATHERSTONE ? 1e-4 : 4 * 9 * 15 * h * h / 0.05 + 30 * 0.2 * h * 10);
    physics_stop(&p);
  }
  physics_verdict();
}

/* An arm of three hinges held by exactly the static moments of its own weight does not move: the moments are formed in
 * binary32, so a relative error of 3 u of about 40 N m on 0.1 kg m^2, over 1 s. semi_implicit's attachments give and so
 * change the pose the moments belong to: 4 n T h^2 / I = 4 * 6 * 40 * 1e-6 / 0.1 = 1e-2 rad. */
static void test_gravity_compensation(void **state)
{
  (void)state;
  FOR_EACH_SOLVER(s)
  {
    sb_model_builder *b = physics_builder(-9.81);
    const double angle[3] = {1.2, 0.4, -0.3}; /* hanging: the balance is stable */
    for (int k = 0; k < 3; k++) {
      sb_build_body body = physics_link(k - 1, k ? 0.5 : 0, 0, 0, 2, 0.1);
      body.com[0] = 0.25;
      sb_builder_add_body(b, &body, NULL);
      sb_build_dof dof = physics_axis(SB_DOF_ANGULAR, 0, 1, 0);
      dof.q = angle[k];
      dof.damping = 5;
      sb_build_actuator motor = sb_build_actuator_default();
      motor.dof = sb_builder_add_dof(b, &dof, NULL);
      sb_builder_add_actuator(b, &motor, NULL);
    }
    physics p = physics_start(b, s, 1000, PHYSICS_NO_PARAMS);
    double q[3], still[3] = {0}, none[3] = {0}, free_fall[3], answer[3], torque[3], response[3][3];
    for (int k = 0; k < 3; k++) q[k] = p.s->joint_q[k];
    /* qdd = free_fall + R torque = 0: R column by column, solved by Cramer's rule */
    reference_accelerations(p.m, q, still, none, free_fall);
    for (int k = 0; k < 3; k++) {
      double unit[3] = {k == 0, k == 1, k == 2};
      reference_accelerations(p.m, q, still, unit, answer);
      for (int r = 0; r < 3; r++) response[r][k] = answer[r] - free_fall[r];
    }
    dv c[4];
    for (int k = 0; k < 3; k++) c[k] = dv_make(response[0][k], response[1][k], response[2][k]);
    c[3] = dv_make(-free_fall[0], -free_fall[1], -free_fall[2]);
    double det = dv_dot(c[0], dv_cross(c[1], c[2]));
    torque[0] = dv_dot(c[3], dv_cross(c[1], c[2])) / det;
    torque[1] = dv_dot(c[0], dv_cross(c[3], c[2])) / det;
    torque[2] = dv_dot(c[0], dv_cross(c[1], c[3])) / det;
    for (int k = 0; k < 3; k++) p.s->actuator_ctrl[k] = (float)torque[k];
    double worst = 0;
    physics_step(&p, 1000);
    for (int k = 0; k < 3; k++) worst = fmax(worst, fabs(p.s->joint_q[k] - angle[k]));
    physics_bound(&p, "arm under its static moments: drift over 1 s, rad", worst,
                  s == FEATHERSTONE ? 3 * PHYSICS_ULP * 40 / 0.1 : 1e-2);
    physics_stop(&p);
  }
  physics_verdict();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_pendulum_on_limit),
      cmocka_unit_test(test_armature_and_effort),
      cmocka_unit_test(test_velocity_limit),
      cmocka_unit_test(test_drive),
      cmocka_unit_test(test_dry_friction),
      cmocka_unit_test(test_damping_spring_ref),
      cmocka_unit_test(test_compound),
      cmocka_unit_test(test_gravity_compensation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
