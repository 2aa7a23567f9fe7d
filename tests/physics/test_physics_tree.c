/* Trees against the independent reference: forward kinematics after every tick, and joint accelerations at random
 * states. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "physics_scene.h"

#define FOR_EACH_SOLVER(s) for (physics_solver s = FEATHERSTONE; s < PHYSICS_ALL_SOLVERS; s++)

/* A generator of the test's own: Numerical Recipes' constants, top 24 bits. Uniform in -1 to 1. */
static double draw(uint32_t *seed)
{
  *seed = *seed * 1664525u + 1013904223u;
  return (double)(*seed >> 8) / 8388608.0 - 1.0;
}

static sb_build_body random_link(uint32_t *seed, int32_t parent)
{
  sb_build_body body =
      physics_link(parent, 0.3 * draw(seed), 0.3 * draw(seed), 0.3 * draw(seed), 1 + 0.5 * draw(seed), 0.02);
  double q[4], l = 0;
  for (int k = 0; k < 4; k++) q[k] = draw(seed), l += q[k] * q[k];
  for (int k = 0; k < 4; k++) body.joint_X_p[3 + k] = q[k] / sqrt(l);
  for (int k = 0; k < 3; k++)
    body.com[k] = 0.15 * draw(seed), body.inertia[k] = 0.02 + 0.006 * draw(seed),
    body.inertia[3 + k] = 0.002 * draw(seed);
  return body;
}

/* gentle: a damper in place of motor and armature, and axes that stay apart; which: the axis it keeps near, 0 x, 1 y, 2
 * z */
static void random_axis(uint32_t *seed, sb_model_builder *b, uint32_t kind, bool anchored, bool gentle, int which)
{
  double near = gentle ? 0.3 : 1;
  sb_build_dof dof = physics_axis(kind, near * draw(seed), near * draw(seed), near * draw(seed));
  dof.axis[which] += 1.2;
  dof.q = 0.8 * draw(seed), dof.qd = 1.5 * draw(seed), dof.ref = 0.2 * draw(seed);
  dof.armature = 0.02 + 0.02 * draw(seed);
  for (int k = 0; anchored && k < 3; k++) dof.anchor[k] = 0.1 * draw(seed);
  sb_build_actuator motor = sb_build_actuator_default();
  motor.ctrl = 3 * draw(seed);
  if (gentle) dof.armature = motor.ctrl = 0, dof.damping = 0.1;
  motor.dof = sb_builder_add_dof(b, &dof, NULL);
  sb_builder_add_actuator(b, &motor, NULL);
}

static void random_quaternion(uint32_t *seed, double *q)
{
  double l = 0;
  for (int k = 0; k < 4; k++) q[k] = draw(seed) + (k == 3 ? 1.5 : 0), l += q[k] * q[k];
  for (int k = 0; k < 4; k++) q[k] /= sqrt(l);
}

/* A root (free, or hinged to the world), on it: hinge -> slide -> fixed -> two hinges with anchors apart; ball ->
 * hinge; slide and three hinges. */
static void add_tree(sb_model_builder *b, uint32_t *s, bool free_root, bool gentle)
{
  sb_build_body body = random_link(s, -1);
  if (free_root) {
    body.joint_type = SB_JOINT_FREE;
    for (int k = 0; k < 3; k++) body.q[k] = draw(s), body.qd[k] = draw(s), body.qd[3 + k] = draw(s);
    random_quaternion(s, body.q + 3);
  }
  int32_t root = sb_builder_add_body(b, &body, "root");
  if (!free_root) random_axis(s, b, SB_DOF_ANGULAR, true, gentle, 2);
  body = random_link(s, root);
  int32_t a = sb_builder_add_body(b, &body, "a");
  random_axis(s, b, SB_DOF_ANGULAR, true, gentle, 2);
  body = random_link(s, a);
  int32_t c = sb_builder_add_body(b, &body, "c");
  random_axis(s, b, SB_DOF_LINEAR, false, gentle, 2);
  body = random_link(s, c);
  body.joint_type = SB_JOINT_FIXED;
  int32_t d = sb_builder_add_body(b, &body, "d");
  body = random_link(s, d);
  sb_builder_add_body(b, &body, "e");
  random_axis(s, b, SB_DOF_ANGULAR, true, gentle, 2);
  random_axis(s, b, SB_DOF_ANGULAR, true, gentle, 0);
  body = random_link(s, root);
  body.joint_type = SB_JOINT_BALL;
  random_quaternion(s, body.q);
  for (int k = 0; k < 3; k++) body.qd[k] = draw(s), body.anchor[k] = 0.1 * draw(s);
  int32_t ball = sb_builder_add_body(b, &body, "ball");
  body = random_link(s, ball);
  sb_builder_add_body(b, &body, "g");
  random_axis(s, b, SB_DOF_ANGULAR, false, gentle, 2);
  body = random_link(s, root);
  sb_builder_add_body(b, &body, "h");
  random_axis(s, b, SB_DOF_LINEAR, false, gentle, 2);
  for (int k = 0; k < 3; k++) {
    random_axis(s, b, SB_DOF_ANGULAR, false, gentle, k);
    if (!gentle) continue;
    /* held away from the pose in which the first and third axis meet */
    sb_build_dof *dof = sb_builder_dof(b, sb_builder_dof_count(b) - 1);
    dof->stiffness = 60, dof->q *= 0.3, dof->ref = 0, dof->damping = 0.5;
  }
}

static sb_model_builder *random_tree(uint32_t seed, bool free_root, bool gentle)
{
  sb_model_builder *b = physics_builder(-9.81);
  add_tree(b, &seed, free_root, gentle);
  return b;
}

static void read_joints(const physics *p, double *q, double *qd)
{
  for (uint32_t c = 0; c < p->m->coord_count; c++) q[c] = p->s->joint_q[c];
  for (uint32_t d = 0; d < p->m->dof_count; d++) qd[d] = p->s->joint_qd[d];
}

/* One tick gives qd' = qd + dt qdd with qdd of the state at its start, whatever dt. At dt = 1/64 s the rounding of qd
 * is 64 u |qd|, far below 1e-4 of accelerations of some 10 to 100 rad/s^2; the rest is binary32 through a depth of 6
 * links. */
static void test_accelerations(void **state)
{
  (void)state;
  physics last = {0};
  double worst = 0;
  for (uint32_t k = 0; k < 40; k++) {
    const physics_param euler = {"integrator", 0}; /* one step of it shows the acceleration */
    physics p = physics_start(random_tree(1000 + k, k % 2 == 0, false), FEATHERSTONE, 64, &euler, 1);
    double q[2 * REFERENCE_DOFS], qd[REFERENCE_DOFS], force[REFERENCE_DOFS] = {0}, want[REFERENCE_DOFS], error = 0,
                                                      size = 0;
    read_joints(&p, q, qd);
    for (uint32_t a = 0; a < p.m->actuator_count; a++)
      force[p.m->actuator_dof[a]] = p.m->actuator_gear[a] * p.m->actuator_ctrl[a];
    reference_accelerations(p.m, q, qd, force, want);
    physics_step(&p, 1);
    for (uint32_t d = 0; d < p.m->dof_count; d++) {
      double got = ((double)p.s->joint_qd[d] - qd[d]) / p.dt;
      error = fmax(error, fabs(got - want[d])), size = fmax(size, fabs(want[d]));
    }
    worst = fmax(worst, error / size);
    last = p;
    physics_stop(&p);
  }
  physics_bound(&last, "40 random trees: joint accelerations, relative to the largest", worst, 1e-4);
  physics_verdict();
}

/* featherstone forms body poses from the coordinates: rounding over 6 links, about 30 operations a link on numbers near
 * 1, 100 u. semi_implicit moves bodies and reads the coordinates back; its attachments give under load. With W = 1/(2
 * h), h the substep, and n the number of forces that share a body (the root: 14), an attachment turns by n T / (I W^2)
 * = 4 n T h^2 / I. The load of up to 8 kg at 15 m/s^2 on 0.5 m is 60 N m, the smallest moment 0.015 kg m^2: 2.2e5 h^2
 * rad, and as much in m at levers of up to 1 m. Under the load (2 kg m^2) the attachment rings at W / sqrt(14 * 2 /
 * 0.015) = W / 43: the velocity's gap is that times the gap, twice for swinging both ways. Substeps far smaller than
 * these 1e-4 s make W so stiff that the rounding of positions, u W, shows in the velocities. */
static void test_kinematics(void **state)
{
  (void)state;
  FOR_EACH_SOLVER(s)
  {
    double place = 0, turn = 0, speed = 0, spin = 0, length = 0, size = 1, dt = 0;
    physics last = {0};
    const physics_param substeps = {"substeps", 10};
    for (uint32_t k = 0; k < 4; k++) {
      physics p =
          physics_start(random_tree(2000 + k, k % 2 == 0, true), s, 1000, &substeps, s == SEMI_IMPLICIT ? 1 : 0);
      dt = p.dt / substeps.value;
      if (s == SEMI_IMPLICIT) physics_step(&p, 100);
      for (uint32_t t = 0; t < 500; t++) {
        physics_step(&p, 1);
        double q[2 * REFERENCE_DOFS], qd[REFERENCE_DOFS];
        reference_body want[REFERENCE_BODIES], got[REFERENCE_BODIES];
        read_joints(&p, q, qd);
        reference_kinematics(p.m, q, qd, want);
        reference_from_bodies(p.m, p.s->body_q, p.s->body_qd, got);
        for (uint32_t b = 0; b < p.m->body_count; b++) {
          size = fmax(size, fmax(dv_len(want[b].p), fmax(dv_len(want[b].v_com), dv_len(want[b].w))));
          place = fmax(place, dv_len(dv_sub(want[b].p, got[b].p)));
          turn = fmax(turn, dq_angle(want[b].q, got[b].q));
          speed = fmax(speed, dv_len(dv_sub(want[b].v_com, got[b].v_com)));
          spin = fmax(spin, dv_len(dv_sub(want[b].w, got[b].w)));
          length = fmax(length, fabs(dq_len(dq_read(p.s->body_q + 7 * b + 3)) - 1));
        }
      }
      last = p;
      physics_stop(&p);
    }
    double gap = s == FEATHERSTONE ? 100 * PHYSICS_ULP * size : 2.2e5 * dt * dt,
           rate = s == FEATHERSTONE ? gap : gap * 2 / (2 * dt * 43);
    physics_bound(&last, "body_q against joint_q, m", place, gap);
    physics_bound(&last, "body_q against joint_q, rad", turn, gap);
    physics_bound(&last, "body_qd against joint_qd, m/s", speed, rate);
    physics_bound(&last, "body_qd against joint_qd, rad/s", spin, rate);
    physics_bound(&last, "length of quaternions from 1", length, 1e-5);
  }
  physics_verdict();
}

/* Width of the vectors changes no bit: five trees of one topology in one world, each pushed by its own force and with
 * one body that may touch the floor and the others' bodies; the third run is featherstone's midpoint step. */
static void test_lanes(void **state)
{
  (void)state;
  for (int run = 0; run < 3; run++) {
    physics_solver s = run == 1 ? SEMI_IMPLICIT : FEATHERSTONE;
    const physics_param integrator = {"integrator", run == 2};
    const uint32_t widths[3] = {1, 4, 8};
    uint64_t hash[3];
    for (int k = 0; k < 3; k++) {
      physics_set_lanes(widths[k]);
      sb_model_builder *b = physics_builder(-9.81);
      uint32_t seed = 77;
      for (int n = 0; n < 5; n++) add_tree(b, &seed, n % 2 == 0, true);
      physics_shape(b, SB_SHAPE_PLANE, -1, 0, 0, 0, 0.5);
      for (int n = 0; n < 5; n++) physics_shape(b, SB_SHAPE_SPHERE, 8 * n + 7, 0.3, 0, 0, 0.5);
      physics p = physics_start(b, s, 1000, &integrator, s == FEATHERSTONE);
      for (int t = 0; t < 50; t++) {
        for (uint32_t i = 0; i < p.m->body_count; i++) p.s->body_f[6 * i + i % 6] = (float)(i % 5) - 2;
        physics_step(&p, 1);
      }
      hash[k] = sb_sim_hash(p.sim);
      physics_stop(&p);
    }
    physics_set_lanes(0);
    assert_true(hash[0] == hash[1] && hash[0] == hash[2]);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_accelerations), cmocka_unit_test(test_kinematics),
                                     cmocka_unit_test(test_lanes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
