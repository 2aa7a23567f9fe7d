/* Contact against statics and Coulomb: sink depth, stacks, slopes, sliding, rolling, collisions. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "physics_scene.h"

#define FOR_EACH_SOLVER(s) for (physics_solver s = FEATHERSTONE; s < PHYSICS_SOFT_SOLVERS; s++)
#define G 9.81
/* Default contact spring, rad/s */
#define W (2 * PHYSICS_PI * 200)

static sb_model_builder *with_plane(double slope, double friction)
{
  sb_model_builder *b = physics_builder(-G);
  sb_build_shape plane = sb_build_shape_default();
  plane.type = SB_SHAPE_PLANE;
  plane.friction[0] = friction;
  plane.margin = 0.01;
  plane.X[4] = sin(0.5 * slope), plane.X[6] = cos(0.5 * slope); /* about y: +x goes down */
  sb_builder_add_shape(b, &plane, "plane");
  return b;
}

/* A cube of half extent a, turned about y by `slope` to lie on the plane. */
static void add_cube(sb_model_builder *b, double a, double mass, double x, double z, double slope, double friction,
                     double speed)
{
  double i = mass * 4 * a * a / 6;
  sb_build_body body = physics_free(mass, i, i, i, x, 0, z);
  body.q[4] = sin(0.5 * slope), body.q[6] = cos(0.5 * slope);
  body.qd[0] = speed * cos(slope), body.qd[2] = -speed * sin(slope);
  physics_shape(b, SB_SHAPE_BOX, sb_builder_add_body(b, &body, NULL), a, a, a, friction);
}

/* In rest the contacts of a body carry its weight: each has the spring W^2 / (n (1/m + r)), n the body's number of
 * contacts, r what turning adds at the contact, so the sink is (g / W^2)(1 + m r): g/W^2 for a ball, 4 g/W^2 for a cube
 * on its corners, and 1 + m h^2 / I for a capsule on its ends. semi_implicit, which solves each contact for itself,
 * weakens the spring to k / (1 + (W dt)^2). */
static double sink_factor(const physics *p) { return p->solver == SEMI_IMPLICIT ? 1 + W * p->dt * W * p->dt : 1; }

static void test_rest(void **state)
{
  (void)state;
  static const char *const names[3] = {"ball", "capsule", "box"};
  FOR_EACH_SOLVER(s)
  for (int shape = 0; shape < 3; shape++) {
    const double r = 0.1, h = 0.15, m = 2, bend = 0.03, flat = 0.01;
    sb_model_builder *b = with_plane(0, 0.6);
    double mr = 0;
    if (shape == 2) {
      add_cube(b, r, m, 0, r + 0.002, 0, 0.6, 0);
      mr = 3;
    } else {
      sb_build_body body = physics_free(m, shape ? bend : flat, shape ? bend : flat, flat, 0, 0, r + 0.002);
      if (shape) body.q[4] = body.q[6] = sqrt(0.5), mr = m * h * h / bend; /* lies along x */
      physics_shape(b, shape ? SB_SHAPE_CAPSULE : SB_SHAPE_SPHERE, sb_builder_add_body(b, &body, NULL), r,
                    shape ? h : 0, 0, 0.6);
    }
    physics p = physics_start(b, s, 1000, PHYSICS_NO_PARAMS);
    physics_step(&p, 3000);
    reference_body at[1];
    reference_from_bodies(p.m, p.s->body_q, p.s->body_qd, at);
    double want = G / (W * W) * (1 + mr) * sink_factor(&p), sink = r - at[0].p.z;
    print_message("  %s: ", names[shape]);
    physics_bound(&p, "at rest: sink against its static value, m", fabs(sink - want),
                  0.02 * want + 8 * PHYSICS_ULP * r);
    /* what rounding of z, u r, makes of a spring W, as energy, a hundred times */
    double noise = PHYSICS_ULP * r * W;
    physics_bound(&p, "at rest: kinetic energy, J", reference_kinetic(p.m, at, p.s->joint_qd), 100 * m * noise * noise);
    physics_stop(&p);
  }
  physics_verdict();
}

/* Three cubes: the interface above cube k carries the weight of those above; between two cubes of 8 and of 4 or 8
 * contacts the spring is W^2 m / (n_a 4 + n_b 4) a corner; explicit between bodies in both solvers. */
static void test_stack(void **state)
{
  (void)state;
  FOR_EACH_SOLVER(s)
  {
    const double a = 0.25;
    sb_model_builder *b = with_plane(0, 0.6);
    for (int k = 0; k < 3; k++) add_cube(b, a, 5, 0, a * (2 * k + 1), 0, 0.6, 0);
    physics p = physics_start(b, s, 1000, PHYSICS_NO_PARAMS);
    physics_step(&p, 5000);
    double aside = 0, tilt = 0, weaken = 1 + W * p.dt * W * p.dt;
    for (int k = 0; k < 3; k++) {
      const float *q = p.s->body_q + 7 * k;
      aside = fmax(aside, hypot(q[0], q[1])), tilt = fmax(tilt, dq_angle(dq_unit(dq_read(q + 3)), (dq){0, 0, 0, 1}));
    }
    double sink = 5 * a - p.s->body_q[7 * 2 + 2];
    double want = G / (W * W) *
                  (3 * 8 * 4 / 4.0 * sink_factor(&p) + (2 * (8 * 4 + 8 * 4) / 4.0 + (8 * 4 + 4 * 4) / 4.0) * weaken);
    physics_bound(&p, "stack of 3 after 5 s: sink of the top against statics, m", fabs(sink - want), 0.05 * want);
    physics_bound(&p, "stack of 3 after 5 s: moved aside, m", aside, 1e-4);
    physics_bound(&p, "stack of 3 after 5 s: tilt, rad", tilt, 1e-4);
    reference_body at[3];
    reference_from_bodies(p.m, p.s->body_q, p.s->body_qd, at);
    physics_bound(&p, "stack of 3 after 5 s: kinetic energy, J", reference_kinetic(p.m, at, p.s->joint_qd), 1e-6);
    physics_stop(&p);
  }
  physics_verdict();
}

/* Below atan(mu) friction holds, but for the creep of its smoothing: the four corners' dampers of stick m / (16 dt)
 * each, stick 10 in featherstone (against the world) and 0.5 in semi_implicit, carry m g sin: speed g sin dt 4 / stick.
 * Friction's moment loads the upper corners with (1 - tan) / 2 = 0.275 of the pressure only, so those slide at mu of
 * that, and the lower ones carry 0.45 - 0.1375 = 0.3125 in place of 0.225: 1.39 times the creep. Above, the block
 * slides at g (sin - mu cos). */
static void test_slope(void **state)
{
  (void)state;
  FOR_EACH_SOLVER(s)
  {
    const double a = 0.2, mu = 0.5, below = atan(0.45), above = atan(0.6);
    for (int slides = 0; slides < 2; slides++) {
      double slope = slides ? above : below;
      sb_model_builder *b = with_plane(slope, mu);
      add_cube(b, a, 3, a * sin(slope), a * cos(slope), slope, mu, 0);
      physics p = physics_start(b, s, 1000, PHYSICS_NO_PARAMS);
      physics_step(&p, 500);
      double before = hypot(p.s->body_qd[0], p.s->body_qd[2]);
      physics_step(&p, 500);
      double after = hypot(p.s->body_qd[0], p.s->body_qd[2]);
      double creep = G * sin(slope) * p.dt * 4 / (s == FEATHERSTONE ? 10 : 0.5);
      if (!slides)
        physics_bound(&p, "block on a slope of tan 0.45, mu 0.5: creep, m/s", after, creep * 1.4);
      else
        physics_bound(&p, "block on a slope of tan 0.6, mu 0.5: acceleration, relative",
                      fabs((after - before) / (500 * p.dt * G * (sin(slope) - mu * cos(slope))) - 1), 0.02);
      physics_stop(&p);
    }
  }
  physics_verdict();
}

/* A block thrown along the floor stops after v^2 / (2 mu g). The force of the last step before rest is smoothed, and
 * the pressure settles in the first: a few v dt, of the way 2 mu g dt / v each; the bound is 2 %. */
static void test_sliding(void **state)
{
  (void)state;
  FOR_EACH_SOLVER(s)
  {
    const double a = 0.2, mu = 0.4, v = 3, way = v * v / (2 * mu * G);
    sb_model_builder *b = with_plane(0, mu);
    add_cube(b, a, 3, 0, a - 4 * G / (W * W), 0, mu, v);
    physics p = physics_start(b, s, 1000, PHYSICS_NO_PARAMS);
    physics_step(&p, 1500);
    physics_bound(&p, "sliding block: way against v^2 / (2 mu g), relative", fabs(p.s->body_q[0] / way - 1), 0.02);
    physics_bound(&p, "sliding block: speed after it should have stopped, m/s", hypot(p.s->body_qd[0], p.s->body_qd[1]),
                  1e-3);
    physics_bound(&p, "sliding block: moved aside, m", fabs(p.s->body_q[1]), 1e-3);
    physics_stop(&p);
  }
  physics_verdict();
}

/* A ball that rolls without slip keeps its speed: nothing brakes it. The contact's lever is r minus half the sink, of
 * 1e-4. A ball that starts without spin ends at 5/7 of its speed. */
static void test_rolling(void **state)
{
  (void)state;
  FOR_EACH_SOLVER(s)
  for (int skids = 0; skids < 2; skids++) {
    const double r = 0.1, m = 1, v = 2;
    sb_model_builder *b = with_plane(0, 0.5);
    sb_build_body body = physics_free(m, 0.4 * m * r * r, 0.4 * m * r * r, 0.4 * m * r * r, 0, 0, r);
    body.qd[0] = v, body.qd[4] = skids ? 0 : v / r;
    physics_shape(b, SB_SHAPE_SPHERE, sb_builder_add_body(b, &body, NULL), r, 0, 0, 0.5);
    physics p = physics_start(b, s, 1000, PHYSICS_NO_PARAMS);
    physics_step(&p, 2000);
    double speed = p.s->body_qd[0], want = skids ? 5 * v / 7 : v;
    physics_bound(
        &p, skids ? "ball without spin: final speed against 5/7, relative" : "rolling ball: speed after 2 s, relative",
        fabs(speed / want - 1), 2e-3);
    physics_bound(&p, "  slip, of the speed", fabs(speed - r * p.s->body_qd[4]) / v, 1e-3);
    physics_stop(&p);
  }
  physics_verdict();
}

/* Two bodies meet off centre in free space. Both solvers put equal and opposite forces at one point, so both momenta
 * stay: rounding, a hundred steps of contact of u times the momenta. */
static void test_collision(void **state)
{
  (void)state;
  FOR_EACH_SOLVER(s)
  {
    sb_model_builder *b = physics_builder(0);
    sb_build_body body = physics_free(1, 0.004, 0.004, 0.004, -0.3, 0.04, 0);
    body.qd[0] = 2, body.qd[5] = 3;
    physics_shape(b, SB_SHAPE_SPHERE, sb_builder_add_body(b, &body, NULL), 0.1, 0, 0, 0.5);
    body = physics_free(3, 0.02, 0.03, 0.025, 0.3, 0, 0.03);
    body.qd[0] = -1, body.qd[4] = 1;
    physics_shape(b, SB_SHAPE_BOX, sb_builder_add_body(b, &body, NULL), 0.1, 0.15, 0.12, 0.5);
    physics p = physics_start(b, s, 1000, PHYSICS_NO_PARAMS);
    reference_body at[2];
    dv origin = {0, 0, 0};
    reference_from_bodies(p.m, p.s->body_q, p.s->body_qd, at);
    dv p0 = reference_momentum(p.m, at), l0 = reference_angular_momentum(p.m, at, origin);
    double e0 = reference_kinetic(p.m, at, p.s->joint_qd);
    physics_step(&p, 600);
    reference_from_bodies(p.m, p.s->body_q, p.s->body_qd, at);
    assert_true(at[0].v_com.x < 0.5); /* they did meet */
    physics_bound(&p, "collision: linear momentum, N s", dv_len(dv_sub(reference_momentum(p.m, at), p0)),
                  100 * PHYSICS_ULP * 5);
    physics_bound(&p, "collision: angular momentum, N m s",
                  dv_len(dv_sub(reference_angular_momentum(p.m, at, origin), l0)), 600 * PHYSICS_ULP * 5);
    physics_bound(&p, "collision: energy after over before", reference_kinetic(p.m, at, p.s->joint_qd) / e0, 1 + 1e-6);
    physics_stop(&p);
  }
  physics_verdict();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rest),    cmocka_unit_test(test_stack),   cmocka_unit_test(test_slope),
      cmocka_unit_test(test_sliding), cmocka_unit_test(test_rolling), cmocka_unit_test(test_collision),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
