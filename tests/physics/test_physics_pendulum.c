/* Pendulums, oscillators and arms against closed forms; energy of undamped articulations. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>

#include "physics_scene.h"

#define FOR_EACH_SOLVER(s) for (physics_solver s = FEATHERSTONE; s < PHYSICS_ALL_SOLVERS; s++)

static const char *models = "";

/* Mean time between falling zero crossings of coordinate 0, interpolated within the tick, over `periods`. */
static double measure_period(physics *p, unsigned periods, uint32_t limit)
{
  double before = p->s->joint_q[0], first = 0;
  unsigned seen = 0;
  for (uint32_t t = 1; t <= limit; t++) {
    physics_step(p, 1);
    double now = p->s->joint_q[0];
    if (before > 0 && now <= 0) {
      double when = (t - 1 + before / (before - now)) * p->dt;
      if (seen == 0) first = when;
      if (seen++ == periods) return (when - first) / periods;
    }
    before = now;
  }
  return NAN;
}

/* Period of a pendulum of amplitude a: 2 pi sqrt(I / (m g l)) / agm(1, cos(a / 2)) (Gauss; the complete elliptic
 * integral). */
static double pendulum_period(double inertia, double mgl, double amplitude)
{
  double a = 1, b = cos(0.5 * amplitude);
  for (int i = 0; i < 8; i++) {
    double next = 0.5 * (a + b);
    b = sqrt(a * b), a = next;
  }
  return 2 * PHYSICS_PI * sqrt(inertia / mgl) / a;
}

/* Symplectic Euler is conjugate to leapfrog, so from rest its period is off at second order: (w dt)^2 / 24 for the
 * small swing, with w the rate of the linear one; the bound takes (w dt)^2 / 4 for all amplitudes. Rounding: q moves by
 * steps of its own last place, a walk of sqrt(n) u, ten of them. semi_implicit's attachment has the rate W = 1/(2 dt)
 * and the bob's share 3: its stretch 3 a / W^2 = 12 a dt^2 with a <= 5 g lengthens the rod; its lag 2 / W = 4 dt takes
 * energy of the pull's change, which is of second order too: the bound is 12 * 5 g dt^2 / l = 60 (w dt)^2. */
static void check_pendulum(physics_solver solver, const char *angle, double amplitude)
{
  const sb_scene_param params[] = {{"angle", angle, NULL}, {NULL, NULL, NULL}};
  sb_model_store *store = physics_load("generator:pendulum", params, false);
  assert_non_null(store);
  physics p = physics_start_model(store, solver, 1000, PHYSICS_NO_PARAMS);
  double inertia = 1 + 0.4 * 0.05 * 0.05, want = pendulum_period(inertia, 9.81, amplitude);
  double got = measure_period(&p, 5, 60000), w = sqrt(9.81), n = 5 * want / p.dt;
  char what[64];
  snprintf(what, sizeof what, "pendulum, amplitude %s: period, relative", angle);
  physics_bound(&p, what, fabs(got / want - 1),
                (solver == SEMI_IMPLICIT ? 60 : 0.25) * w * p.dt * w * p.dt + 10 * sqrt(n) * PHYSICS_ULP);
  physics_stop(&p);
}

static void test_pendulum_period(void **state)
{
  (void)state;
  FOR_EACH_SOLVER(s)
  {
    check_pendulum(s, "0.02", 0.02);
    check_pendulum(s, "1.5", 1.5);
    check_pendulum(s, "2.8", 2.8);
  }
  physics_verdict();
}

/* ---- mass on a spring ---- */

static physics start_spring(physics_solver solver, double mass, double stiffness, double damping, double x0)
{
  sb_model_builder *b = physics_builder(-9.81);
  sb_build_body body = physics_link(-1, 0, 0, 0, mass, 0.1);
  sb_builder_add_body(b, &body, NULL);
  sb_build_dof slide = physics_axis(SB_DOF_LINEAR, 1, 0, 0);
  slide.stiffness = stiffness, slide.damping = damping, slide.q = x0;
  sb_builder_add_dof(b, &slide, NULL);
  return physics_start(b, solver, 1000, PHYSICS_NO_PARAMS);
}

/* The spring is taken at the end of the step (implicit Euler): |1 / (1 + i w dt)| a step. So the period is off by (w
 * dt)^2 / 3 and the amplitude falls at the extra rate w^2 dt / 2. semi_implicit solves each dof against a third of the
 * mass (its share is 3), which weakens the spring by 3 (w dt)^2 and triples the extra rate: w^2 dt 3 / 2. */
static void test_spring(void **state)
{
  (void)state;
  const double mass = 2, k = 100, w = sqrt(k / mass);
  FOR_EACH_SOLVER(s)
  {
    double share = s == SEMI_IMPLICIT ? 3 : 1;
    physics p = start_spring(s, mass, k, 0, 0.5);
    double period = measure_period(&p, 5, 20000), wdt = w * p.dt;
    physics_bound(&p, "mass on a spring: period, relative", fabs(period * w / (2 * PHYSICS_PI) - 1),
                  2 * share * wdt * wdt + 1e-6);
    physics_stop(&p);
    const double dampings[2] = {0, 2}; /* N s/m: decay at c / 2m = 0.5 /s */
    for (int d = 0; d < 2; d++) {
      p = start_spring(s, mass, k, dampings[d], 0.5);
      double top = 0, decay = dampings[d] / (2 * mass), wd = sqrt(w * w - decay * decay), t1 = 8 * PHYSICS_PI / wd;
      double start = t1 - 0.5 * PHYSICS_PI / wd, end = t1 + 0.5 * PHYSICS_PI / wd;
      for (uint32_t t = 1; t * p.dt < end; t++) {
        physics_step(&p, 1);
        if (t * p.dt > start) top = fmax(top, p.s->joint_q[0]);
      }
      double rate = -log(top / 0.5) / t1;
      physics_bound(&p, d ? "damped spring: decay rate, 1/s" : "undamped spring: decay rate, 1/s", fabs(rate - decay),
                    share * w * w * p.dt / 2 * 1.1 + share * dampings[d] / mass * w * p.dt);
      physics_stop(&p);
    }
  }
  physics_verdict();
}

/* ---- spherical pendulum ---- */

/* Gravity has no moment about the vertical through the pivot. featherstone's acceleration is exact for the state of the
 * step's start, so a step is off by dt^2 / 2 times the second derivative of the momentum: over a swing these average
 * out but for a drift of order dt w; semi_implicit loses nothing but rounding and the offset of the attachment, 12 a
 * dt^2. Bound: 2 w dt of the momentum; with the midpoint step, 2 (w dt)^2. Rates of a ball joint are in the child's
 * frame; turning them there and back rounds by u a tick, to one side at worst. */
static void check_spherical(physics_solver s, const physics_param *set, size_t count, double order)
{
  {
    double error[2];
    for (int half = 0; half < 2; half++) {
      sb_model_builder *b = physics_builder(-9.81);
      sb_build_body body = physics_link(-1, 0, 0, 0, 1, 0.02);
      body.joint_type = SB_JOINT_BALL;
      body.com[2] = -1, body.q[0] = sin(0.4), body.q[3] = cos(0.4), body.qd[1] = 2, body.qd[2] = 0.5;
      sb_builder_add_body(b, &body, NULL);
      physics p = physics_start(b, s, half ? 2000 : 1000, set, count);
      reference_body r[1];
      dv origin = {0, 0, 0};
      if (s == SEMI_IMPLICIT) physics_step(&p, half ? 40 : 20);
      reference_from_bodies(p.m, p.s->body_q, p.s->body_qd, r);
      double l0 = reference_angular_momentum(p.m, r, origin).z, e0 = reference_energy(p.m, p.s), worst = 0, energy = 0;
      for (uint32_t t = 0; t < (half ? 20000u : 10000u); t++) {
        physics_step(&p, 1);
        reference_from_bodies(p.m, p.s->body_q, p.s->body_qd, r);
        worst = fmax(worst, fabs(reference_angular_momentum(p.m, r, origin).z / l0 - 1));
        energy = fmax(energy, fabs(reference_energy(p.m, p.s) - e0) / 9.81);
      }
      error[half] = worst;
      physics_bound(&p, "spherical pendulum: vertical angular momentum, 10 s, relative", worst,
                    2 * pow(sqrt(9.81) * p.dt, order) + 10 / p.dt * PHYSICS_ULP);
      physics_bound(&p, "spherical pendulum: energy over 10 s, of m g l", energy,
                    2 * pow(sqrt(9.81) * p.dt, order) + 10 / p.dt * PHYSICS_ULP);
      physics_stop(&p);
    }
    print_message("  %-13s momentum error, dt over dt/2: %.2f\n", physics_desc(s)->id, error[0] / error[1]);
  }
}

static void test_spherical(void **state)
{
  (void)state;
  const physics_param midpoint = {"integrator", 1}, euler = {"integrator", 0};
  check_spherical(FEATHERSTONE, &euler, 1, 1);
  check_spherical(SEMI_IMPLICIT, PHYSICS_NO_PARAMS, 1);
  print_message("  midpoint:\n");
  check_spherical(FEATHERSTONE, &midpoint, 1, 2);
  physics_verdict();
}

/* ---- energy of articulations ---- */

/* Largest energy error over 10 s, J, with joint angles set by hand where given. */
static double energy_error(sb_model_store *store, double integrator, uint32_t per_second, const double *angles,
                           double *scale)
{
  const physics_param set[1] = {{"integrator", integrator}};
  physics p = physics_start_model(store, FEATHERSTONE, per_second, set, 1);
  for (uint32_t c = 0; angles && c < p.m->coord_count; c++) p.s->joint_q[c] = (float)angles[c];
  double q[REFERENCE_DOFS], qd[REFERENCE_DOFS];
  for (uint32_t c = 0; c < p.m->coord_count; c++) q[c] = p.s->joint_q[c];
  for (uint32_t d = 0; d < p.m->dof_count; d++) qd[d] = p.s->joint_qd[d];
  reference_body r[REFERENCE_BODIES];
  reference_kinematics(p.m, q, qd, r);
  double e0 = reference_kinetic(p.m, r, p.s->joint_qd) + reference_potential(p.m, r, p.s->joint_q), worst = 0,
         low = 1e30, high = -1e30;
  for (uint32_t t = 0; t < 10 * per_second; t++) {
    physics_step(&p, 1);
    reference_from_bodies(p.m, p.s->body_q, p.s->body_qd, r);
    double potential = reference_potential(p.m, r, p.s->joint_q);
    low = fmin(low, potential), high = fmax(high, potential);
    worst = fmax(worst, fabs(reference_kinetic(p.m, r, p.s->joint_qd) + potential - e0));
  }
  *scale = high - low; /* what swings to and fro between potential and kinetic */
  physics_stop(&p);
  return worst;
}

static sb_model_store *bare_double_pendulum(void)
{
  char path[1024];
  snprintf(path, sizeof path, "%s/double_pendulum/double_pendulum_simple.urdf", models);
  sb_model_store *store = physics_load(path, NULL, false);
  if (!store) return NULL;
  /* The test's own copy: damping, limits and contact taken out. */
  const sb_model *m = sb_model_store_view(store);
  for (uint32_t d = 0; d < m->dof_count; d++) {
    ((float *)m->joint_damping)[d] = 0;
    ((float *)m->joint_limit_lower)[d] = -SB_NO_LIMIT;
    ((float *)m->joint_limit_upper)[d] = ((float *)m->joint_velocity_limit)[d] = SB_NO_LIMIT;
  }
  for (uint32_t s = 0; s < m->shape_count; s++)
    ((uint32_t *)m->shape_contype)[s] = ((uint32_t *)m->shape_conaffinity)[s] = 0;
  return store;
}

static sb_model_store *load_case(int which)
{
  static const sb_scene_param arm[] = {{"count", "1", NULL}, {"pose", "hang", NULL}, {NULL, NULL, NULL}};
  if (which == 0) return physics_load("generator:double_pendulum", NULL, false);
  if (which == 1) return physics_load("generator:arms", arm, false);
  return bare_double_pendulum();
}

/* Euler is of first order: halving dt halves the error. The motions are chaotic in the long run, so the largest error
 * over 10 s need not halve to the digit: 1.6 to 2.5 is taken for 2. Its size is that of w dt times the swings: the arm
 * stays within 1 %, the fast small double pendulum (links of 0.1 m, w = 25 /s) within 10 %. Midpoint is of second
 * order, (w dt)^2 = 6e-4 at w = 25 /s; at 1/1000 s it is within 0.1 %, where binary32 begins to show, and at 1/100 s
 * and 1/200 s its error falls at least threefold. */
static void test_energy(void **state)
{
  (void)state;
  static const char *const names[3] = {"double pendulum", "arm of 7 hinges", "double_pendulum_simple.urdf"};
  static const double urdf_angles[2] = {2.0, 0.5}, euler_bound[3] = {0.03, 0.01, 0.1};
  static const uint32_t rates[2][3] = {{1000, 2000, 4000}, {1000, 100, 200}};
  for (int which = 0; which < 3; which++)
    for (int midpoint = 0; midpoint < 2; midpoint++) {
      double error[3], scale = 1;
      bool there = true;
      for (uint32_t k = 0; there && k < 3; k++) {
        sb_model_store *store = load_case(which);
        there = store != NULL;
        if (there)
          error[k] = energy_error(store, midpoint, rates[midpoint][k], which == 2 ? urdf_angles : NULL, &scale) / scale;
      }
      if (!there) {
        print_message("  %s: file absent under '%s', left out\n", names[which], models);
        continue;
      }
      const uint32_t *r = rates[midpoint];
      print_message("  %s, %s: energy error, of the swing, at 1/%u, 1/%u, 1/%u s: %.3e %.3e %.3e; ratios %.2f %.2f\n",
                    names[which], midpoint ? "midpoint" : "euler", r[0], r[1], r[2], error[0], error[1], error[2],
                    error[0] / error[1], error[1] / error[2]);
      physics_bound(NULL, "energy over 10 s at 1/1000 s", error[0], midpoint ? 0.001 : euler_bound[which]);
      for (int k = midpoint; k < 2; k++) {
        physics_bound(NULL, "  least ratio of halving over it", (midpoint ? 3 : 1.6) / (error[k] / error[k + 1]), 1);
        if (!midpoint) physics_bound(NULL, "  ratio of halving", error[k] / error[k + 1], 2.5);
      }
    }
  physics_verdict();
}

int main(int argc, char **argv)
{
  if (argc > 1) models = argv[1];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pendulum_period),
      cmocka_unit_test(test_spring),
      cmocka_unit_test(test_spherical),
      cmocka_unit_test(test_energy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
