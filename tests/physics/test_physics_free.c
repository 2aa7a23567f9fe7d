/* Free bodies and free-floating trees: free fall, tops, conserved momentum and energy. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "physics_scene.h"

#define FOR_EACH_SOLVER(s) for (physics_solver s = FEATHERSTONE; s < PHYSICS_SOFT_SOLVERS; s++)

/* ---- free fall ---- */

/* Symplectic Euler from rest position x0 and velocity v0: v_n = v0 + n dt g and x_n = x0 + n dt v0 + dt^2 g n (n + 1)
 * / 2. The parabola has n^2 for n (n + 1), so it differs by dt t g / 2 exactly. Each of n additions to v rounds by at
 * most u |v| (u = 2^-24); over time t that moves x by n u |v| t / 2; each addition to x rounds by u |x|. With an offset
 * centre of mass, the body origin is formed from it and back each tick: 6 more roundings of |c| and of |x|. */
static void check_fall(physics_solver solver, const double spin[3], const double com[3])
{
  sb_model_builder *b = physics_builder(-9.81);
  sb_build_body body = physics_free(2, 0.3, 0.3, 0.3, 1, -2, 3);
  for (int k = 0; k < 3; k++) body.com[k] = com[k], body.qd[3 + k] = spin[k];
  body.qd[0] = 1.5, body.qd[1] = -0.5, body.qd[2] = 4;
  sb_builder_add_body(b, &body, "body");
  physics p = physics_start(b, solver, 1000, PHYSICS_NO_PARAMS);
  const double n = 1000, g = p.m->gravity[2], t = n * p.dt;
  reference_body r[1];
  reference_from_bodies(p.m, p.s->body_q, p.s->body_qd, r);
  dv x0 = r[0].com, v0 = r[0].v_com;
  physics_step(&p, 1000);
  reference_from_bodies(p.m, p.s->body_q, p.s->body_qd, r);
  dv sum = dv_make(x0.x + t * v0.x, x0.y + t * v0.y, x0.z + t * v0.z + 0.5 * p.dt * p.dt * g * n * (n + 1));
  dv parabola = dv_make(sum.x, sum.y, x0.z + t * v0.z + 0.5 * g * t * t);
  double speed = 8, reach = 6, arm = dv_len(dv_read(p.m->body_com));
  double round_v = n * PHYSICS_ULP * speed,
         round_x = 0.5 * round_v * t + n * PHYSICS_ULP * (reach + 6 * arm + (arm > 0 ? 6 * reach : 0));
  physics_bound(&p, "fall: velocity against the sum, m/s",
                dv_len(dv_sub(r[0].v_com, dv_make(v0.x, v0.y, v0.z + g * t))), round_v);
  physics_bound(&p, "fall: position against the Euler sum, m", dv_len(dv_sub(r[0].com, sum)), round_x);
  physics_bound(&p, "fall: position against the parabola, m", dv_len(dv_sub(r[0].com, parabola)),
                -0.5 * g * p.dt * t * 1.001 + round_x);
  /* A ball turns evenly: its spin rounds like v (three products and the rotations of the inertia: 8 roundings a tick).
   */
  dv w = dv_make(spin[0], spin[1], spin[2]);
  physics_bound(&p, "fall: spin of a ball, rad/s", dv_len(dv_sub(r[0].w, w)), 8 * n * PHYSICS_ULP * dv_len(w) + 1e-30);
  physics_stop(&p);
}

static void test_fall(void **state)
{
  (void)state;
  const double still[3] = {0, 0, 0}, spin[3] = {3, -4, 5}, off[3] = {0.1, -0.2, 0.15};
  FOR_EACH_SOLVER(s)
  {
    check_fall(s, still, still);
    check_fall(s, spin, still);
    check_fall(s, spin, off);
  }
  physics_verdict();
}

/* ---- tops ---- */

static physics start_top(physics_solver solver, const double inertia[3], const double w[3], uint32_t per_second)
{
  sb_model_builder *b = physics_builder(0);
  sb_build_body body = physics_free(1, inertia[0], inertia[1], inertia[2], 0, 0, 0);
  for (int k = 0; k < 3; k++) body.qd[3 + k] = w[k];
  sb_builder_add_body(b, &body, "top");
  return physics_start(b, solver, per_second, PHYSICS_NO_PARAMS);
}

/* Euler: a symmetric top (I, I, C) turns its axis about L at |L| / I. Both solvers carry L and turn the body with the
 * angular velocity of the middle of the step: second order, with relative errors of (|w| dt)^2. Rounding: about 30
 * operations a tick that walk randomly, sqrt(30 n) u; bounds allow ten of those. */
#define ROUNDING_WALK(n) (10 * sqrt(30 * (double)(n)) * PHYSICS_ULP)

static void test_symmetric_top(void **state)
{
  (void)state;
  const double inertia[3] = {0.2, 0.2, 0.1}, w[3] = {1.5, 0, 6};
  FOR_EACH_SOLVER(s)
  {
    physics p = start_top(s, inertia, w, 1000);
    reference_body r[1];
    reference_from_bodies(p.m, p.s->body_q, p.s->body_qd, r);
    dv momentum = reference_angular_momentum(p.m, r, dv_make(0, 0, 0)), l = dv_unit(momentum);
    dv axis = dq_rotate(r[0].q, dv_make(0, 0, 1));
    double rate = dv_len(momentum) / 0.2, turned = 0, tilt = acos(dv_dot(axis, l)), worst_tilt = 0;
    for (int t = 0; t < 10000; t++) {
      physics_step(&p, 1);
      reference_from_bodies(p.m, p.s->body_q, p.s->body_qd, r);
      dv now = dq_rotate(r[0].q, dv_make(0, 0, 1));
      dv a = dv_sub(axis, dv_scale(l, dv_dot(axis, l))), c = dv_sub(now, dv_scale(l, dv_dot(now, l)));
      turned += atan2(dv_dot(dv_cross(a, c), l), dv_dot(a, c));
      axis = now;
      worst_tilt = fmax(worst_tilt, fabs(acos(dv_dot(now, l)) - tilt));
    }
    double time = 10000 * p.dt, speed = dv_len(dv_make(w[0], w[1], w[2]));
    physics_bound(&p, "symmetric top: precession over 10 s, relative", fabs(turned / (rate * time) - 1),
                  speed * p.dt * speed * p.dt + ROUNDING_WALK(10000));
    physics_bound(&p, "symmetric top: tilt of the axis over 10 s, rad", worst_tilt,
                  speed * p.dt * speed * p.dt + ROUNDING_WALK(10000));
    dv end = reference_angular_momentum(p.m, r, dv_make(0, 0, 0));
    physics_bound(&p, "symmetric top: angular momentum over 10 s, relative",
                  dv_len(dv_sub(end, momentum)) / dv_len(momentum), ROUNDING_WALK(10000));
    physics_stop(&p);
  }
  physics_verdict();
}

/* With L exact the energy L . w / 2 changes only through the orientation, whose error per radian turned is (|w| dt)^2 /
 * 12 or less: relative drift below (|w| dt)^2 |w| t / 12, and four times less at half the step. */
static double tumble(physics_solver solver, uint32_t per_second)
{
  const double inertia[3] = {0.1, 0.2, 0.3}, w[3] = {0.05, 4, 0.02}, speed = 4;
  physics p = start_top(solver, inertia, w, per_second);
  reference_body r[1];
  reference_from_bodies(p.m, p.s->body_q, p.s->body_qd, r);
  dv momentum = reference_angular_momentum(p.m, r, dv_make(0, 0, 0));
  double energy = reference_energy(p.m, p.s), worst = 0, before = 1;
  uint32_t flips = 0, ticks = 10 * per_second;
  for (uint32_t t = 0; t < ticks; t++) {
    physics_step(&p, 1);
    worst = fmax(worst, fabs(reference_energy(p.m, p.s) / energy - 1));
    reference_from_bodies(p.m, p.s->body_q, p.s->body_qd, r);
    double along = dv_dot(dq_rotate(r[0].q, dv_make(0, 1, 0)), dv_unit(momentum));
    if (along * before < 0) flips++, before = along;
  }
  print_message("  1/%u s:\n", per_second);
  physics_bound(&p, "asymmetric top: energy over 10 s, relative", worst,
                speed * p.dt * speed * p.dt * speed * 10 / 12 + ROUNDING_WALK(ticks));
  dv end = reference_angular_momentum(p.m, r, dv_make(0, 0, 0));
  physics_bound(&p, "asymmetric top: angular momentum, relative", dv_len(dv_sub(end, momentum)) / dv_len(momentum),
                ROUNDING_WALK(ticks));
  assert_true(flips >= 2); /* spin about the middle axis is unstable: the body tumbles */
  physics_stop(&p);
  return worst;
}

static void test_asymmetric_top(void **state)
{
  (void)state;
  FOR_EACH_SOLVER(s)
  {
    tumble(s, 1000);
    double ratio = tumble(s, 50) / tumble(s, 100);
    print_message("  %-13s energy drift, dt over dt/2: %.2f\n", physics_desc(s)->id, ratio);
    physics_bound(NULL, "asymmetric top: order of the step, |ratio - 4|", fabs(ratio - 4), 0.5);
  }
  physics_verdict();
}

/* ---- floating trees ---- */

/* A body with two hinged arms and a ball-jointed one, motors that push with changing torque. Linear momentum is that of
 * the fall; angular momentum about the moving centre of mass stays. featherstone: joint accelerations are exact for the
 * state at the start of a step, so the momentum of a step is off by the change of the momentum map over it, dt |qd'|
 * dt: bound dt times the rate of the motion, times the scale of the parts' momenta. semi_implicit: every joint force
 * acts equal and opposite at one point: rounding, and the momentum of the armature, which here is none. The midpoint
 * step's error is (dt rate)^2. */
static void test_floating_tree(void **state)
{
  (void)state;
  for (int run = 0; run < 3; run++) {
    physics_solver s = run == 1 ? SEMI_IMPLICIT : FEATHERSTONE;
    const physics_param integrator = {"integrator", run == 2};
    if (run == 2) print_message("  midpoint:\n");
    double error[2];
    for (int half = 0; half < 2; half++) {
      sb_model_builder *b = physics_builder(0);
      sb_build_body base = physics_free(4, 0.08, 0.12, 0.1, 0, 0, 1);
      base.qd[3] = 0.4, base.qd[4] = -0.3, base.qd[5] = 0.5, base.qd[0] = 0.2;
      int32_t root = sb_builder_add_body(b, &base, "base");
      for (int k = 0; k < 2; k++) {
        sb_build_body arm = physics_link(root, k ? -0.2 : 0.2, 0, 0, 0.8, 0.01);
        arm.com[0] = k ? -0.2 : 0.2;
        sb_builder_add_body(b, &arm, NULL);
        sb_build_dof hinge = physics_axis(SB_DOF_ANGULAR, 0, k ? 0.6 : 1, k ? 0.8 : 0);
        hinge.damping = 0.02;
        hinge.velocity_limit = k ? 0.4 : SB_NO_LIMIT; /* a limit must not make momentum either */
        sb_build_actuator motor = sb_build_actuator_default();
        motor.dof = sb_builder_add_dof(b, &hinge, NULL);
        sb_builder_add_actuator(b, &motor, NULL);
      }
      sb_build_body tail = physics_link(root, 0, 0.2, 0, 0.5, 0.005);
      tail.joint_type = SB_JOINT_BALL, tail.com[1] = 0.2, tail.q[0] = tail.q[1] = tail.q[2] = 0, tail.q[3] = 1,
      tail.qd[0] = 1;
      sb_builder_add_body(b, &tail, "tail");
      physics p = physics_start(b, s, half ? 2000 : 1000, &integrator, s == FEATHERSTONE);
      reference_body r[4];
      reference_from_bodies(p.m, p.s->body_q, p.s->body_qd, r);
      dv x0 = reference_centre(p.m, r), l0, p0;
      if (s == SEMI_IMPLICIT) physics_step(&p, half ? 200 : 100); /* its joints settle first */
      reference_from_bodies(p.m, p.s->body_q, p.s->body_qd, r);
      x0 = reference_centre(p.m, r), l0 = reference_angular_momentum(p.m, r, x0), p0 = reference_momentum(p.m, r);
      double parts = 0, worst_l = 0, worst_p = 0, rate = 0;
      for (int t = 0; t < (half ? 4000 : 2000); t++) {
        double time = t * p.dt;
        p.s->actuator_ctrl[0] = (float)(0.5 * sin(6 * time));
        p.s->actuator_ctrl[1] = (float)(-0.4 * sin(5 * time + 1));
        physics_step(&p, 1);
        reference_from_bodies(p.m, p.s->body_q, p.s->body_qd, r);
        dv c = reference_centre(p.m, r);
        worst_l = fmax(worst_l, dv_len(dv_sub(reference_angular_momentum(p.m, r, c), l0)));
        worst_p = fmax(worst_p, dv_len(dv_sub(reference_momentum(p.m, r), p0)));
        double sum = 0;
        for (int i = 0; i < 4; i++) sum += p.m->body_mass[i] * dv_len(r[i].v_com), rate = fmax(rate, dv_len(r[i].w));
        parts = fmax(parts, sum);
      }
      error[half] = worst_l;
      bool exact = s == SEMI_IMPLICIT;
      double n = half ? 4000 : 2000;
      double step = run == 2 ? p.dt * rate * p.dt * rate : p.dt * rate;
      double round = 10 * sqrt(n) * PHYSICS_ULP;
      physics_bound(&p, "floating tree, motors: linear momentum, N s", worst_p,
                    (exact ? 0 : step * parts) + round * parts);
      physics_bound(&p, "floating tree, motors: angular momentum, N m s", worst_l,
                    (exact ? 0 : step * parts * 0.3) + round * parts * 0.3);
      physics_stop(&p);
    }
    print_message("  %-13s angular momentum error ratio for dt / (dt/2): %.2f\n", physics_desc(s)->id,
                  error[0] / error[1]);
  }
  physics_verdict();
}

/* ---- external force ---- */

/* body_f: a force and a torque on a free body and on a hinged one for one tick change the velocity by dt F / m, dt T /
 * I. */
static void test_body_force(void **state)
{
  (void)state;
  FOR_EACH_SOLVER(s)
  {
    sb_model_builder *b = physics_builder(0);
    sb_build_body body = physics_free(2, 0.3, 0.4, 0.5, 0, 0, 0);
    body.com[0] = 0.1;
    sb_builder_add_body(b, &body, NULL);
    sb_build_body arm = physics_link(-1, 5, 0, 0, 2, 0.4);
    arm.com[0] = 0.5;
    sb_builder_add_body(b, &arm, NULL);
    sb_build_dof hinge = physics_axis(SB_DOF_ANGULAR, 0, 0, 1);
    sb_builder_add_dof(b, &hinge, NULL);
    physics p = physics_start(b, s, 1000, PHYSICS_NO_PARAMS);
    const float wrench[12] = {3, -1, 2, 0.5f, 0.25f, -1, 0, 4, 0, 0, 0, 1};
    for (int k = 0; k < 12; k++) p.s->body_f[k] = wrench[k];
    physics_step(&p, 1);
    const double want[6] = {1.5, -0.5, 1, 0.5 / 0.3, 0.25 / 0.4, -2};
    double worst = 0;
    for (int k = 0; k < 6; k++) worst = fmax(worst, fabs(p.s->body_qd[k] / (p.dt * want[k]) - 1));
    physics_bound(&p, "body_f on a free body: velocity after one tick, relative", worst,
                  20 * PHYSICS_ULP + p.dt * p.dt * 10);
    /* torque about the hinge 4 N * 0.5 m + 1 N m on 0.4 + 2 * 0.25 kg m^2; semi_implicit's attachment answers from the
     * next tick on, and after ten ticks (ten of its time constants 2 dt) the impulse is that of the hinge */
    if (s == SEMI_IMPLICIT) physics_step(&p, 40);
    physics_bound(&p, "body_f on a hinged body: rate, relative", fabs(p.s->joint_qd[6] / (p.dt * 3 / 0.9) - 1),
                  s == SEMI_IMPLICIT ? 0.02 : 20 * PHYSICS_ULP);
    float held = p.s->joint_qd[6];
    physics_step(&p, 10);
    physics_bound(&p, "body_f is cleared after its tick: change of rate, relative", fabs(p.s->joint_qd[6] / held - 1),
                  s == SEMI_IMPLICIT ? 1e-4 : 20 * PHYSICS_ULP);
    physics_stop(&p);
  }
  physics_verdict();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fall),          cmocka_unit_test(test_symmetric_top), cmocka_unit_test(test_asymmetric_top),
      cmocka_unit_test(test_floating_tree), cmocka_unit_test(test_body_force),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
