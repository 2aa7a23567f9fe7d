/* Articulations under steel: loops, gears, tendons, long chains, wheels, and contact between articulations and free bodies. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "physics_scene.h"

#define G 9.81

static int32_t add_box(sb_model_builder *b, double half, double mass, double x, double z, double vy, double mu)
{
  double i = mass * half * half * 2 / 3;
  sb_build_body body = physics_free(mass, i, i, i, x, 0, z);
  body.qd[1] = vy;
  int32_t index = sb_builder_add_body(b, &body, NULL);
  physics_shape(b, SB_SHAPE_BOX, index, half, half, half, mu);
  return index;
}

static int32_t add_link(sb_model_builder *b, int32_t parent, double x, double z, double mass, double cx, double cz, const sb_build_dof *dof)
{
  sb_build_body body = physics_link(parent, x, 0, z, mass, 0.01 * mass);
  body.com[0] = cx, body.com[2] = cz;
  int32_t index = sb_builder_add_body(b, &body, NULL);
  if (dof) sb_builder_add_dof(b, dof, NULL);
  return index;
}

static sb_build_dof hinge_y(void) { return physics_axis(SB_DOF_ANGULAR, 0, 1, 0); }

static void connect(sb_model_builder *b, uint32_t type, int32_t first, int32_t second, const double at_first[3], const double at_second[3])
{
  sb_build_equality e = sb_build_equality_default();
  e.type = type;
  e.body[0] = first, e.body[1] = second;
  memcpy(e.anchor[0], at_first, sizeof e.anchor[0]);
  memcpy(e.anchor[1], at_second, sizeof e.anchor[1]);
  sb_builder_add_equality(b, &e, NULL);
}

/* World position of a point of a body. */
static dv point_of(const physics *p, int32_t body, double x, double y, double z)
{
  const float *q = p->s->body_q + 7 * body;
  dq turn = {(double)q[3], (double)q[4], (double)q[5], (double)q[6]};
  dv local = {x, y, z};
  dv r = dq_rotate(turn, local);
  return (dv){r.x + (double)q[0], r.y + (double)q[1], r.z + (double)q[2]};
}

static double distance(dv a, dv b) { return sqrt(pow(a.x - b.x, 2) + pow(a.y - b.y, 2) + pow(a.z - b.z, 2)); }

/* A parallelogram: cranks of 0.5 m, a coupler of 1 m between them, the second crank's pin closed by a connection to the world. It swings as a
 * pendulum of 0.5 m with both cranks' moments: energy stays, the pin stays, the coupler stays level. */
static void test_four_bar(void **state)
{
  (void)state;
  for (uint32_t rate = 240; rate <= 480; rate *= 2) {
    sb_model_builder *b = physics_builder(-G);
    sb_build_dof dof = hinge_y();
    dof.q = 0.8;
    int32_t crank = add_link(b, -1, 0, 2, 1, 0, -0.25, &dof);
    dof.q = -0.8;
    int32_t coupler = add_link(b, crank, 0, -0.5, 2, 0.5, 0, &dof);
    dof.q = 0.8;
    int32_t rocker = add_link(b, coupler, 1, 0, 1, 0, 0.25, &dof); /* points up to the second pin */
    const double pin[3] = {0, 0, 0.5}, world[3] = {1, 0, 2};
    connect(b, SB_EQUALITY_CONNECT, rocker, -1, pin, world);
    physics p = physics_start(b, STEEL, rate, PHYSICS_NO_PARAMS);
    double start = reference_energy(p.m, p.s), pin_error = 0, level = 0, energy = 0;
    for (int t = 0; t < 5 * (int)rate; t++) {
      physics_step(&p, 1);
      pin_error = fmax(pin_error, distance(point_of(&p, rocker, 0, 0, 0.5), (dv){1, 0, 2}));
      level = fmax(level, fabs(point_of(&p, coupler, 1, 0, 0).z - point_of(&p, coupler, 0, 0, 0).z));
      energy = fmax(energy, reference_energy(p.m, p.s) - start);
    }
    physics_bound(&p, "four-bar linkage, 5 s: pin from its place, m", pin_error, 0.001);
    physics_bound(&p, "  coupler out of level, m", level, 0.002);
    physics_bound(&p, "  energy above its start, of the fall's", energy / (4 * G * 0.5 * (1 - cos(0.8))), 0.01);
    physics_bound(&p, "  energy lost, of the fall's", (start - reference_energy(p.m, p.s)) / (4 * G * 0.5 * (1 - cos(0.8))), 0.1);
    physics_stop(&p);
  }
  physics_verdict();
}

/* A gear: q1 = 0.5 + 2 q0. Turned by a motor of 1 N m on the first, both turn as one moment I0 + 4 I1. */
static void test_gear(void **state)
{
  (void)state;
  sb_model_builder *b = physics_builder(0);
  sb_build_dof dof = physics_axis(SB_DOF_ANGULAR, 0, 0, 1);
  sb_build_body body = physics_link(-1, 0, 0, 0, 2, 0.5);
  sb_builder_add_body(b, &body, NULL);
  int32_t first = sb_builder_add_dof(b, &dof, NULL);
  body = physics_link(-1, 1, 0, 0, 2, 0.125);
  sb_builder_add_body(b, &body, NULL);
  dof.q = 0.5;
  int32_t second = sb_builder_add_dof(b, &dof, NULL);
  sb_build_actuator motor = sb_build_actuator_default();
  motor.dof = first;
  sb_builder_add_actuator(b, &motor, NULL);
  sb_build_equality e = sb_build_equality_default();
  e.type = SB_EQUALITY_JOINT;
  e.dof[0] = second, e.dof[1] = first;
  e.poly[0] = 0.5, e.poly[1] = 2;
  sb_builder_add_equality(b, &e, NULL);
  physics p = physics_start(b, STEEL, 240, PHYSICS_NO_PARAMS);
  p.s->actuator_ctrl[0] = 1;
  physics_step(&p, 240);
  physics_bound(&p, "gear: rate of the driven side after 1 s, relative", fabs(p.s->joint_qd[0] - 1.0 / (0.5 + 4 * 0.125)), 0.01);
  physics_bound(&p, "  q1 - 0.5 - 2 q0, rad", fabs(p.s->joint_q[1] - 0.5 - 2 * p.s->joint_q[0]), 0.001);
  physics_stop(&p);
  physics_verdict();
}

/* Two cubes in flight, welded 1 m apart, one with a velocity: they turn about their common centre and keep their distance; momentum
 * stays. */
static void test_weld(void **state)
{
  (void)state;
  sb_model_builder *b = physics_builder(0);
  int32_t a = add_box(b, 0.1, 1, 0, 0, 1, 0.5), c = add_box(b, 0.1, 2, 1, 0, 0, 0.5);
  const double at[3] = {1, 0, 0}, origin[3] = {0, 0, 0};
  connect(b, SB_EQUALITY_WELD, a, c, at, origin);
  physics p = physics_start(b, STEEL, 240, PHYSICS_NO_PARAMS);
  double apart = 0;
  for (int t = 0; t < 480; t++) {
    physics_step(&p, 1);
    apart = fmax(apart, distance(point_of(&p, a, 1, 0, 0), point_of(&p, c, 0, 0, 0)));
  }
  physics_bound(&p, "weld, 2 s: anchors apart, m", apart, 0.006);
  physics_bound(&p, "  linear momentum, N s", fabs(p.s->body_qd[1] + 2 * p.s->body_qd[7] - 1), 1e-4);
  const float *qa = p.s->body_q + 3, *qc = p.s->body_q + 10;
  double dot = 0;
  for (int k = 0; k < 4; k++) dot += (double)qa[k] * (double)qc[k];
  physics_bound(&p, "  turn between them, rad", 2 * acos(fmin(1, fabs(dot))), 0.01);
  physics_stop(&p);
  physics_verdict();
}

/* A tendon over two hinges, q0 + q1 at most 0.3: two motors of 1 N m push against it and stay there. With a spring, q0 + q1 rests where
 * k (q0 + q1) carries both. */
static void test_tendon(void **state)
{
  (void)state;
  for (int spring = 0; spring < 2; spring++) {
    sb_model_builder *b = physics_builder(0);
    sb_build_dof dof = physics_axis(SB_DOF_ANGULAR, 0, 0, 1);
    dof.damping = 1;
    int32_t dofs[2], parent = -1;
    for (int k = 0; k < 2; k++) {
      sb_build_body body = physics_link(parent, k, 0, 0, 2, 0.5);
      parent = sb_builder_add_body(b, &body, NULL);
      dofs[k] = sb_builder_add_dof(b, &dof, NULL);
      sb_build_actuator motor = sb_build_actuator_default();
      motor.dof = dofs[k];
      sb_builder_add_actuator(b, &motor, NULL);
    }
    sb_build_tendon tendon = sb_build_tendon_default();
    if (spring)
      tendon.stiffness = 10;
    else
      tendon.upper = 0.3;
    sb_builder_add_tendon(b, &tendon, NULL);
    sb_builder_add_tendon_term(b, dofs[0], 1);
    sb_builder_add_tendon_term(b, dofs[1], 1);
    physics p = physics_start(b, STEEL, 240, PHYSICS_NO_PARAMS);
    p.s->actuator_ctrl[0] = p.s->actuator_ctrl[1] = 1;
    double most = 0;
    for (int t = 0; t < 5000; t++) {
      physics_step(&p, 1);
      most = fmax(most, (double)p.s->joint_q[0] + (double)p.s->joint_q[1]);
    }
    double length = (double)p.s->joint_q[0] + (double)p.s->joint_q[1];
    if (spring)
      physics_bound(&p, "tendon with a spring of 10 N m/rad under 1 N m: length in rest, rad", fabs(length - 0.1), 1e-4);
    else
      physics_bound(&p, "tendon at its limit: beyond, rad", fmax(most, length) - 0.3, 0.002);
    physics_stop(&p);
  }
  physics_verdict();
}

/* 60 links of 0.1 m and 0.1 kg hang from the world with 100 kg at the end, and start with a sideways kick: links cannot part, energy does
 * not grow. */
static void test_heavy_chain(void **state)
{
  (void)state;
  sb_model_builder *b = physics_builder(-G);
  sb_build_dof dof = hinge_y();
  int32_t parent = -1;
  for (int k = 0; k < 60; k++) {
    sb_build_body body = physics_link(parent, 0, 0, k ? -0.1 : 8, 0.1, 1e-4);
    body.com[2] = -0.05;
    parent = sb_builder_add_body(b, &body, NULL);
    dof.qd = k ? 0 : 0.2;
    sb_builder_add_dof(b, &dof, NULL);
  }
  sb_build_body body = physics_link(parent, 0, 0, -0.1, 100, 1);
  body.joint_type = SB_JOINT_FIXED;
  int32_t weight = sb_builder_add_body(b, &body, NULL);
  physics p = physics_start(b, STEEL, 240, PHYSICS_NO_PARAMS);
  float start = p.s->body_q[7 * weight + 2];
  double highest = 0;
  for (int t = 0; t < 2400; t++) {
    physics_step(&p, 1);
    highest = fmax(highest, (double)(p.s->body_q[7 * weight + 2] - start));
  }
  double along = 0;
  for (int k = 1; k < 60; k++) along += distance(point_of(&p, k, 0, 0, 0), point_of(&p, k - 1, 0, 0, 0));
  physics_bound(&p, "chain of 60 links with 100 kg, 10 s: length of 59 links less 5.9 m", fabs(along - 5.9), 1e-4);
  /* 0.2 rad/s at 6 m: m v^2 / 2 lifts by v^2 / 2 g = 0.073 m at most */
  physics_bound(&p, "  weight above its start, m", highest, 0.2 * 0.2 * 36 / (2 * G) * 1.05);
  physics_bound(&p, "  speed of the weight, m/s", hypot(p.s->body_qd[6 * weight], p.s->body_qd[6 * weight + 2]), 0.2 * 6 * 1.05);
  physics_stop(&p);
  physics_verdict();
}

/* A cart of 4 kg on four balls for wheels of 0.2 m, driven by a velocity drive of 5 rad/s on the rear ones: it comes to r w = 1 m/s and does
 * not slip. */
static void test_wheels(void **state)
{
  (void)state;
  sb_model_builder *b = physics_builder(-G);
  physics_shape(b, SB_SHAPE_PLANE, -1, 0, 0, 0, 0.9);
  sb_build_body body = physics_free(4, 0.1, 0.1, 0.1, 0, 0, 0.3);
  int32_t cart = sb_builder_add_body(b, &body, NULL), wheel = -1;
  for (int k = 0; k < 4; k++) {
    sb_build_body w = physics_link(cart, k < 2 ? -0.4 : 0.4, k % 2 ? 0.3 : -0.3, -0.1, 0.5, 0.4 * 0.5 * 0.04);
    wheel = sb_builder_add_body(b, &w, NULL);
    sb_build_dof dof = hinge_y();
    if (k < 2) dof.target_kd = 5, dof.target_qd = 5, dof.effort_limit = 2;
    sb_builder_add_dof(b, &dof, NULL);
    physics_shape(b, SB_SHAPE_SPHERE, wheel, 0.2, 0, 0, 0.9);
  }
  physics p = physics_start(b, STEEL, 240, PHYSICS_NO_PARAMS);
  physics_step(&p, 5 * 240);
  double speed = p.s->body_qd[0];
  physics_bound(&p, "driven wheels: speed against r w after 5 s, relative", fabs(speed - 1), 0.01);
  physics_bound(&p, "  slip of a wheel, m/s", fabs(speed - 0.2 * p.s->body_qd[6 * wheel + 4]), 0.005);
  physics_bound(&p, "  wheels in the ground, m", 0.2 - p.s->body_q[7 * wheel + 2], 0.001);
  physics_stop(&p);
  physics_verdict();
}

/* A slide pushes a free cube of 2 kg over the ground with 15 N, without friction between the two: both accelerate at (15 - mu m g) / (m + m_slide). */
static void test_pusher(void **state)
{
  (void)state;
  sb_model_builder *b = physics_builder(-G);
  physics_shape(b, SB_SHAPE_PLANE, -1, 0, 0, 0, 0.3);
  sb_build_body body = physics_link(-1, -0.45, 0, 0.25, 1, 0.01);
  int32_t slide = sb_builder_add_body(b, &body, NULL);
  sb_build_dof dof = physics_axis(SB_DOF_LINEAR, 1, 0, 0);
  int32_t axis = sb_builder_add_dof(b, &dof, NULL);
  physics_shape(b, SB_SHAPE_BOX, slide, 0.2, 0.2, 0.2, 0);
  sb_build_actuator motor = sb_build_actuator_default();
  motor.dof = axis;
  sb_builder_add_actuator(b, &motor, NULL);
  int32_t cube = add_box(b, 0.25, 2, 0, 0.25, 0, 0);
  physics p = physics_start(b, STEEL, 240, PHYSICS_NO_PARAMS);
  p.s->actuator_ctrl[0] = 15;
  physics_step(&p, 240);
  double a = (15 - 0.3 * 2 * G) / 3;
  physics_bound(&p, "slide pushes a cube for 1 s: speed, relative", fabs(p.s->body_qd[6 * cube] - a) / a, 0.01);
  physics_bound(&p, "  slide against cube, m/s", fabs(p.s->joint_qd[0] - p.s->body_qd[6 * cube]), 0.002);
  physics_bound(&p, "  cube turned by, rad", 2 * fabs(p.s->body_q[7 * cube + 4]), 0.01);
  physics_stop(&p);
  physics_verdict();
}

/* A cube of 5 kg lies on a lever (mass 1 kg, 1 m long, hinged at its end, cube at 0.5 m) that a drive holds up: the drive's angle is what the
 * moments say, tau / ke. */
static void test_loaded_lever(void **state)
{
  (void)state;
  sb_model_builder *b = physics_builder(-G);
  sb_build_dof dof = hinge_y();
  dof.target_ke = 4000, dof.target_kd = 200;
  int32_t lever = add_link(b, -1, 0, 1, 1, 0.5, 0, &dof);
  sb_build_shape shape = sb_build_shape_default();
  shape.type = SB_SHAPE_BOX;
  shape.body = lever;
  shape.X[0] = 0.5;
  shape.size[0] = 0.5, shape.size[1] = 0.2, shape.size[2] = 0.02;
  shape.friction[0] = 0.8;
  sb_builder_add_shape(b, &shape, NULL);
  int32_t cube = add_box(b, 0.1, 5, 0.5, 1.12, 0, 0.8);
  physics p = physics_start(b, STEEL, 240, PHYSICS_NO_PARAMS);
  physics_step(&p, 2400);
  double q = p.s->joint_q[0], moment = G * (1 * 0.5 * cos(q) + 5 * (double)p.s->body_q[7 * cube]);
  physics_bound(&p, "cube on a driven lever: sag against tau / ke, rad", fabs(q - moment / 4000), 2e-4);
  physics_bound(&p, "  cube slid along, m", fabs(p.s->body_q[7 * cube] - 0.5), 0.01);
  physics_bound(&p, "  speed, m/s", fabs(p.s->body_qd[6 * cube + 2]), 1e-3);
  physics_stop(&p);
  physics_verdict();
}

/* Two pendulums with balls collide (Newton's cradle of two, e = 1 is not wanted: e = 0): momentum about the pivots passes on, they stay
 * together, no energy is made. */
static void test_two_articulations(void **state)
{
  (void)state;
  sb_model_builder *b = physics_builder(-G);
  for (int k = 0; k < 2; k++) {
    sb_build_dof dof = hinge_y();
    dof.q = k ? 0 : 0.8;
    sb_build_body body = physics_link(-1, 0.2 * k, 0, 2, 1, 0.004);
    body.com[2] = -1;
    int32_t bob = sb_builder_add_body(b, &body, NULL);
    sb_builder_add_dof(b, &dof, NULL);
    sb_build_shape shape = sb_build_shape_default();
    shape.type = SB_SHAPE_SPHERE;
    shape.body = bob;
    shape.X[2] = -1;
    shape.size[0] = 0.1;
    shape.friction[0] = 0;
    sb_builder_add_shape(b, &shape, NULL);
  }
  physics p = physics_start(b, STEEL, 480, PHYSICS_NO_PARAMS);
  double start = reference_energy(p.m, p.s), energy = start, highest = 0;
  for (int t = 0; t < 480; t++) {
    physics_step(&p, 1);
    energy = fmax(energy, reference_energy(p.m, p.s));
    highest = fmax(highest, -(double)p.s->joint_q[1]);
  }
  /* equal moments: half the rate, a quarter of the energy in each: 1 - cos q = (1 - cos 0.8) / 4 */
  physics_bound(&p, "two pendulums meet without bounce: how far the second swings, relative",
                fabs(highest / acos(1 - (1 - cos(0.8)) / 4) - 1), 0.02);
  physics_bound(&p, "  energy above its start, of the fall's", (energy - start) / (G * (1 - cos(0.8))), 0.002);
  physics_stop(&p);
  physics_verdict();
}

/* A joint without limits that is thrown out of the world ends the run with a diagnostic, and nothing worse: rows are reserved for joints with
 * limits alone. */
static void test_thrown_away(void **state)
{
  (void)state;
  sb_model_builder *b = physics_builder(0);
  sb_build_body body = physics_link(-1, 0, 0, 0, 1, 0.1);
  sb_builder_add_body(b, &body, NULL);
  sb_build_dof dof = physics_axis(SB_DOF_LINEAR, 1, 0, 0);
  dof.q = 2.5e38, dof.qd = 1e38;
  sb_builder_add_dof(b, &dof, NULL);
  physics p = physics_start(b, STEEL, 1, PHYSICS_NO_PARAMS);
  sb_diagnostics diag = {0};
  sb_status status = SB_OK;
  for (int t = 0; t < 5 && !status; t++) status = sb_sim_step(p.sim, &diag);
  assert_int_not_equal(status, SB_OK);
  assert_true(diag.count > 0);
  sb_diagnostics_clear(&diag);
  physics_stop(&p);
}

static const float *observed(const physics *p, const char *name)
{
  const sb_array *a = sb_registry_find(sb_sim_registry(p->sim), name);
  assert_non_null(a);
  return (const float *)a->data;
}

/* An arm of four capsules of 0.6 kg, held out by limits without play, sags by what docs/solvers.md says. */
static void test_sag(void **state)
{
  (void)state;
  sb_model_builder *b = physics_builder(-G);
  sb_build_dof dof = hinge_y();
  dof.lower = dof.upper = 0;
  for (int32_t k = 0, parent = -1; k < 4; k++) {
    sb_build_body body = physics_link(parent, k ? 0.2 : 0, 0, k ? 0 : 1, 0.6, 0.004);
    body.com[0] = 0.1;
    parent = sb_builder_add_body(b, &body, NULL);
    sb_builder_add_dof(b, &dof, NULL);
  }
  physics p = physics_start(b, STEEL, 240, NULL, 0);
  physics_step(&p, 480);
  double most = 0;
  for (int k = 0; k < 4; k++) most = fmax(most, fabs(p.s->joint_q[k]));
  physics_bound(&p, "sag of an outstretched arm, rad", most, 0.015);
  physics_stop(&p);
  physics_verdict();
}

/* A box of 100 kg on four legs with a hundredth of its mass each: how deep it sinks. */
static void test_light_legs(void **state)
{
  (void)state;
  sb_model_builder *b = physics_builder(-G);
  physics_shape(b, SB_SHAPE_PLANE, -1, 0, 0, 0, 1);
  sb_build_body box = physics_free(100, 0.36, 0.36, 0.67, 0, 0, 0.2);
  int32_t body = sb_builder_add_body(b, &box, NULL);
  for (int k = 0; k < 4; k++) {
    sb_build_body leg = physics_link(body, k & 1 ? 0.08 : -0.08, k & 2 ? 0.08 : -0.08, -0.1, 1, 0.002);
    int32_t index = sb_builder_add_body(b, &leg, NULL);
    sb_build_dof dof = hinge_y();
    dof.lower = -0.2, dof.upper = 0.2, dof.damping = 1;
    sb_builder_add_dof(b, &dof, NULL);
    physics_shape(b, SB_SHAPE_CAPSULE, index, 0.02, 0.06, 0, 1);
  }
  physics p = physics_start(b, STEEL, 250, NULL, 0);
  physics_step(&p, 250);
  double deepest = 0;
  const sb_contacts *c = sb_sim_contacts(p.sim);
  for (uint32_t i = 0; i < c->count; i++) deepest = fmax(deepest, -c->gap[i]);
  physics_bound(&p, "light legs under a box sink, m", deepest, 0.001);
  assert_true(p.s->body_q[2] > 0.15f);
  physics_stop(&p);
  physics_verdict();
}

/* What joints and contacts carry in rest: an arm of two links held by drives carries its weight and moments; a box on the ground its own. In
 * motion: a whirled bob pulls with m r w^2 and m g. */
static void test_observables(void **state)
{
  (void)state;
  const physics_param set = {"observables", 1};
  sb_model_builder *b = physics_builder(-G);
  physics_shape(b, SB_SHAPE_PLANE, -1, 0, 0, 0, 0.6);
  sb_build_dof dof = hinge_y();
  dof.target_ke = 1e5, dof.target_kd = 1e3;
  int32_t upper = add_link(b, -1, 0, 2, 3, 0.5, 0, &dof);
  int32_t lower = add_link(b, upper, 1, 0, 2, 0.25, 0, &dof);
  int32_t box = add_box(b, 0.25, 4, 5, 0.25, 0, 0.6);
  physics p = physics_start(b, STEEL, 240, &set, 1);
  physics_step(&p, 1200);
  const float *f = observed(&p, "physics.body_parent_f"), *a = observed(&p, "physics.body_qdd"), *c = observed(&p, "physics.contact_force");
  physics_bound(&p, "joint of the forearm: force, N", fabs(f[6 * lower + 2] - 2 * G), 0.01);
  physics_bound(&p, "  torque about its centre, N m", fabs(f[6 * lower + 4]), 0.01);
  physics_bound(&p, "joint of the upper arm: force, N", fabs(f[6 * upper + 2] - 5 * G), 0.02);
  double arm = point_of(&p, lower, 0.25, 0, 0).x - point_of(&p, upper, 0.5, 0, 0).x;
  physics_bound(&p, "  torque about its centre, N m", fabs(f[6 * upper + 4] + arm * 2 * G), 0.02);
  physics_bound(&p, "box: acceleration in rest, m/s^2", fabs(a[6 * box + 2]), 1e-3);
  double weight = 0;
  const sb_contacts *contacts = sb_sim_contacts(p.sim);
  for (uint32_t i = 0; i < contacts->count; i++) weight += c[3 * i + 2] * (contacts->body_b[i] == box ? 1 : -1);
  physics_bound(&p, "box: contact force, N", fabs(weight - 4 * G), 0.05);
  physics_stop(&p);
  b = physics_builder(-G);
  dof = physics_axis(SB_DOF_ANGULAR, 0, 0, 1);
  dof.qd = 6;
  int32_t bob = add_link(b, -1, 0, 1, 2, 0.5, 0, &dof);
  p = physics_start(b, STEEL, 240, &set, 1);
  physics_step(&p, 100);
  f = observed(&p, "physics.body_parent_f");
  physics_bound(&p, "whirled bob: pull, relative", fabs(hypot(f[6 * bob], f[6 * bob + 1]) / (2 * 0.5 * 36) - 1), 0.002);
  physics_bound(&p, "  weight, N", fabs(f[6 * bob + 2] - 2 * G), 0.01);
  physics_stop(&p);
  physics_verdict();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_four_bar), cmocka_unit_test(test_gear),   cmocka_unit_test(test_weld),         cmocka_unit_test(test_tendon),
      cmocka_unit_test(test_heavy_chain), cmocka_unit_test(test_wheels), cmocka_unit_test(test_pusher),    cmocka_unit_test(test_loaded_lever),
      cmocka_unit_test(test_two_articulations), cmocka_unit_test(test_observables), cmocka_unit_test(test_thrown_away), cmocka_unit_test(test_sag), cmocka_unit_test(test_light_legs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
