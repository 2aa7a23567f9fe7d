/* Sleep in steel: who falls asleep and when, what wakes whom, and that it all is state: snapshots, threads, lanes,
 * neighbours. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "physics_scene.h"

#define G 9.81
#define TICKS 30
static const physics_param sleepy = {"sleep_ticks", TICKS};

/* A stack of `count` cubes of 0.5 m whose foot is at x; a loose cube, where `above` is not 0, that much higher. */
static void add_stack(sb_model_builder *b, int count, double x, double above)
{
  for (int k = 0; k < count; k++) {
    sb_build_body body = physics_free(10, 0.42, 0.42, 0.42, x, 0, 0.25 + 0.5 * k + (k == count - 1 ? above : 0));
    physics_shape(b, SB_SHAPE_BOX, sb_builder_add_body(b, &body, NULL), 0.25, 0.25, 0.25, 0.6);
  }
}

static sb_model_builder *floor_builder(void)
{
  sb_model_builder *b = physics_builder(-G);
  physics_shape(b, SB_SHAPE_PLANE, -1, 0, 0, 0, 0.6);
  return b;
}

static bool asleep(const physics *p, uint32_t body)
{
  const sb_array *a = sb_registry_find(sb_sim_registry(p->sim), "physics.sleep");
  assert_non_null(a);
  return a->data[2 * body + 1] != 0;
}

static physics start_stacks(const physics_param *params, size_t count)
{
  sb_model_builder *b = floor_builder();
  add_stack(b, 3, 0, 0);
  add_stack(b, 2, 5, 0);
  return physics_start(b, STEEL, 60, params, count);
}

/* Asleep, no bit of a body changes. Without the parameter the same cubes keep a velocity. */
static void test_falls_asleep(void **state)
{
  (void)state;
  physics p = start_stacks(&sleepy, 1);
  physics_step(&p, TICKS - 1);
  for (uint32_t k = 0; k < 5; k++) assert_false(asleep(&p, k));
  physics_step(&p, 120);
  uint64_t pose = sb_sim_hash_array(p.sim, "state.body_q"), speed = sb_sim_hash_array(p.sim, "state.body_qd");
  for (uint32_t k = 0; k < 5; k++) assert_true(asleep(&p, k));
  for (int k = 0; k < 30; k++) assert_true(p.s->body_qd[k] == 0.0f);
  physics_step(&p, 100);
  assert_true(pose == sb_sim_hash_array(p.sim, "state.body_q"));
  assert_true(speed == sb_sim_hash_array(p.sim, "state.body_qd"));
  physics_stop(&p);
  p = start_stacks(PHYSICS_NO_PARAMS);
  physics_step(&p, TICKS + 120);
  assert_null(sb_registry_find(sb_sim_registry(p.sim), "physics.sleep"));
  assert_true(p.s->body_qd[2] != 0.0f);
  physics_stop(&p);
}

typedef enum disturbance { FORCE, VELOCITY, POSE, VISITOR, DISTURBANCES } disturbance;

/* Whatever reaches one cube wakes its whole stack, and the other stack sleeps on. */
static void test_wakes(void **state)
{
  (void)state;
  for (disturbance what = FORCE; what < DISTURBANCES; what++) {
    sb_model_builder *b = floor_builder();
    add_stack(b, 3, 0, 0);
    add_stack(b, 2, 5, 0);
    add_stack(b, 1, 0, 40); /* falls for 2.8 s before it arrives */
    physics p = physics_start(b, STEEL, 60, &sleepy, 1);
    physics_step(&p, 150);
    for (uint32_t k = 0; k < 5; k++) assert_true(asleep(&p, k));
    assert_false(asleep(&p, 5));
    if (what == FORCE) p.s->body_f[6 * 2] = 1;
    if (what == VELOCITY) p.s->body_qd[6 * 1] = 1;
    if (what == POSE) p.s->body_q[7 * 0] += 1;
    if (what == VISITOR) physics_step(&p, 30);
    physics_step(&p, 1);
    for (uint32_t k = 0; k < 3; k++) assert_false(asleep(&p, k));
    for (uint32_t k = 3; k < 5; k++) assert_true(asleep(&p, k));
    if (what == POSE) {
      physics_step(&p, 10);
      assert_true(p.s->body_q[7 + 2] < 0.6f); /* what stood on it falls */
    }
    physics_stop(&p);
  }
}

/* A slide of 50 kg along an axis, with a shape; its drive follows joint_target_q. */
static int32_t add_slide(sb_model_builder *b, double x, double z, double ax, double az, const double half[3])
{
  sb_build_body body = physics_link(-1, x, 0, z, 50, 1);
  int32_t index = sb_builder_add_body(b, &body, NULL);
  sb_build_dof dof = physics_axis(SB_DOF_LINEAR, ax, 0, az);
  dof.target_ke = 1e6, dof.target_kd = 1e5;
  sb_builder_add_dof(b, &dof, NULL);
  physics_shape(b, SB_SHAPE_BOX, index, half[0], half[1], half[2], 0.6);
  return index;
}

/* Links that move more slowly than a sleeper may: one lowers a cube, one comes up to a sleeping cube and pushes it. */
static void test_slow_links(void **state)
{
  (void)state;
  static const double plate[3] = {0.5, 0.5, 0.05};
  sb_model_builder *b = floor_builder();
  add_slide(b, 0, 1, 0, 1, plate);
  add_slide(b, 4.2, 0.25, 1, 0, (double[3]){0.1, 0.3, 0.1});
  add_stack(b, 1, 0, 1.05); /* on the plate */
  add_stack(b, 1, 5, 0);    /* its side at 4.75, 0.45 m from the pusher */
  physics p = physics_start(b, STEEL, 60, &sleepy, 1);
  p.s->joint_target_q[1] = 0.4f;
  physics_step(&p, 120);
  assert_false(asleep(&p, 2));
  assert_true(asleep(&p, 3));
  for (int k = 0; k < 480; k++) {
    p.s->joint_target_q[0] -= 0.02f / 60;
    p.s->joint_target_q[1] += 0.02f / 60;
    physics_step(&p, 1);
  }
  assert_true(p.s->body_q[2] < 0.85f);
  physics_bound(&p, "cube above the plate that sinks, m", fabs(p.s->body_q[7 * 2 + 2] - p.s->body_q[2] - 0.3), 0.002);
  physics_bound(&p, "cube behind the pusher, m", fabs(p.s->body_q[7] + 0.35 - p.s->body_q[7 * 3]), 0.003);
  physics_stop(&p);
  physics_verdict();
}

/* A snapshot of sleepers, put back into a new simulation, goes on with the same bits: asleep, and after waking. */
static void test_snapshot(void **state)
{
  (void)state;
  physics a = start_stacks(&sleepy, 1), b = start_stacks(&sleepy, 1);
  sb_diagnostics diag = {0};
  void *bytes;
  size_t size;
  physics_step(&a, 200);
  assert_true(asleep(&a, 0));
  assert_int_equal(sb_sim_snapshot(a.sim, &bytes, &size, &diag), SB_OK);
  assert_int_equal(sb_sim_restore(b.sim, bytes, size, &diag), SB_OK);
  for (int t = 0; t < 120; t++) {
    if (t == 20) a.s->body_f[1] = b.s->body_f[1] = 2000;
    physics_step(&a, 1);
    physics_step(&b, 1);
    assert_true(sb_sim_hash(a.sim) == sb_sim_hash(b.sim));
    if (t < 20) assert_true(asleep(&b, 0));
    if (t == 20) assert_false(asleep(&b, 0));
  }
  assert_true(a.s->body_q[1] > 0.01f); /* it was really moved */
  free(bytes);
  physics_stop(&a);
  physics_stop(&b);
}

/* Another stack, added after the others, changes no bit of them, asleep or not. */
static void test_neighbours(void **state)
{
  (void)state;
  physics run[2];
  for (int with = 0; with < 2; with++) {
    sb_model_builder *b = floor_builder();
    add_stack(b, 3, 0, 0.3);
    if (with) add_stack(b, 4, -7, 0.2);
    run[with] = physics_start(b, STEEL, 60, &sleepy, 1);
  }
  for (int t = 0; t < 200; t++) {
    physics_step(&run[0], 1);
    physics_step(&run[1], 1);
    for (uint32_t k = 0; k < 3; k++) {
      assert_memory_equal(run[0].s->body_q + 7 * k, run[1].s->body_q + 7 * k, 7 * sizeof(float));
      assert_memory_equal(run[0].s->body_qd + 6 * k, run[1].s->body_qd + 6 * k, 6 * sizeof(float));
      assert_true(asleep(&run[0], k) == asleep(&run[1], k));
    }
  }
  assert_true(asleep(&run[0], 0));
  physics_stop(&run[0]);
  physics_stop(&run[1]);
}

/* A pile that is part asleep has the same hash on any number of threads and lanes. */
static void test_threads_and_lanes(void **state)
{
  (void)state;
  static const sb_scene_param pile[] = {{"count", "80", NULL}, {"extent", "3", NULL}, {NULL, NULL, NULL}};
  static const uint32_t lanes[] = {1, 4, 8, 8}, threads[] = {1, 1, 1, 2};
  uint64_t first[4] = {0};
  uint32_t seen_asleep = 0, seen_awake = 0;
  for (int k = 0; k < 4; k++) {
    physics_set_lanes(lanes[k]);
    physics_set_threads(threads[k]);
    physics p = physics_start_model(physics_load("generator:pile", pile, false), STEEL, 60, &sleepy, 1);
    for (int part = 0; part < 4; part++) {
      physics_step(&p, 60);
      for (uint32_t body = 0; body < p.m->body_count; body++) asleep(&p, body) ? seen_asleep++ : seen_awake++;
      if (k == 0) first[part] = sb_sim_hash(p.sim);
      assert_true(first[part] == sb_sim_hash(p.sim));
    }
    physics_stop(&p);
  }
  physics_set_lanes(0);
  physics_set_threads(1);
  assert_true(seen_asleep > 0 && seen_awake > 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_falls_asleep), cmocka_unit_test(test_wakes), cmocka_unit_test(test_slow_links),
                                     cmocka_unit_test(test_snapshot), cmocka_unit_test(test_neighbours),
                                     cmocka_unit_test(test_threads_and_lanes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
