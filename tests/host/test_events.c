/* Contact events: when they come, how fast, in which order, and that nothing else changes them or is changed by them. */
#include "host_fixture.h"

typedef struct run {
  sb_session session;
  sb_sim *sim;
  sb_diagnostics diag;
} run;

static run start(const char *scene, const char *more, bool events, uint32_t threads, uint32_t lanes, uint64_t shuffle)
{
  char text[512];
  run r = {0};
  snprintf(text, sizeof text, "[world]\nscene = %s\ndt = 1/240\n%s\n[determinism]\nmode = Local\n[solver.s]\nplugin = steel\nbodies = *\n",
           scene, more);
  sb_session_options options = {.threads = threads, .lanes = lanes, .shuffle = shuffle};
  sb_status status = open_text(text, options, &r.session, &r.diag);
  r.session.sim.events = events;
  if (!status) status = sb_sim_create(&r.session.sim, &r.sim, &r.diag);
  if (status) print_messages(&r.diag);
  assert_int_equal(status, SB_OK);
  return r;
}

static void stop(run *r)
{
  sb_sim_destroy(r->sim);
  sb_session_close(&r->session);
  sb_diagnostics_clear(&r->diag);
}

static const sb_contact_event *step(run *r, uint32_t *count)
{
  assert_int_equal(sb_sim_step(r->sim, &r->diag), SB_OK);
  return sb_sim_events(r->sim, count);
}

/* A ball that falls 0.5 m and does not bounce: one begin, in the tick in which it lands, with the speed of the fall, and one hit.
 * Lifted by hand it ends once; set down slowly it begins once more without a hit. */
static void test_ball(void **state)
{
  (void)state;
  char path[64];
  write_ini("<mujoco><worldbody><geom name='floor' type='plane' size='1 1 1'/><body pos='0 0 .6'><freejoint/>"
            "<geom name='ball' size='.1'/></body></worldbody></mujoco>",
            path);
  run r = start(path, "", true, 1, 0, 0);
  unlink(path);
  uint32_t count, begins = 0, hits = 0, ends = 0;
  int landed = -1;
  for (int tick = 0; tick < 200; tick++) {
    const sb_contact_event *e = step(&r, &count);
    for (uint32_t i = 0; i < count; i++) {
      assert_true(e[i].world == 0 && e[i].shape_a == 0 && e[i].shape_b == 1);
      if (e[i].kind == SB_EVENT_END) {
        ends++;
        continue;
      }
      *(e[i].kind == SB_EVENT_BEGIN ? &begins : &hits) += 1;
      landed = tick;
      assert_float_equal(e[i].speed, 3.132, 0.05); /* sqrt(2 g h) */
    }
  }
  assert_true(begins == 1 && hits == 1 && ends == 0);
  assert_in_range(landed, 75, 78); /* sqrt(2 h / g) = 76.6 ticks */
  sb_state *s = sb_sim_state(r.sim);
  s->body_q[2] = s->joint_q[2] = 0.5f;
  const sb_contact_event *e = step(&r, &count);
  assert_true(count == 1 && e[0].kind == SB_EVENT_END && e[0].speed == 0.0f);
  step(&r, &count);
  assert_int_equal(count, 0);
  s->body_q[2] = s->joint_q[2] = 0.0999f;
  for (int i = 0; i < 6; i++) s->body_qd[i] = s->joint_qd[i] = 0.0f;
  e = step(&r, &count);
  assert_true(count == 1 && e[0].kind == SB_EVENT_BEGIN && e[0].speed == 0.0f);
  stop(&r);
}

/* Sorted, each pair once a kind; begins and ends of a pair take turns. Threads, lanes and task order change nothing; the state's
 * hash is that of a run without events; the second world has the first one's events. */
static void test_pile(void **state)
{
  (void)state;
  static const char more[] = "replicate = 2\n[scene]\ncount = 60\nside = 4\nextent = 1";
  run a = start("generator:pile", more, true, 1, 0, 0), b = start("generator:pile", more, true, 2, 1, 77);
  run plain = start("generator:pile", more, false, 1, 0, 0);
  uint32_t count_a, count_b, total = 0, shapes = sb_model_store_view(a.session.one)->shape_count;
  uint8_t *touching = calloc((size_t)shapes * shapes, 1);
  for (int tick = 0; tick < 150; tick++) {
    const sb_contact_event *ea = step(&a, &count_a), *eb = step(&b, &count_b);
    uint32_t none, half = 0;
    step(&plain, &none);
    assert_int_equal(none, 0);
    assert_int_equal(count_a, count_b);
    for (uint32_t i = 0; i < count_a; i++) {
      assert_memory_equal(&ea[i], &eb[i], sizeof *ea);
      if (i && ea[i].world == ea[i - 1].world) {
        bool after = ea[i].shape_a > ea[i - 1].shape_a || (ea[i].shape_a == ea[i - 1].shape_a && ea[i].shape_b > ea[i - 1].shape_b);
        bool same = ea[i].shape_a == ea[i - 1].shape_a && ea[i].shape_b == ea[i - 1].shape_b;
        assert_true(after || (same && ea[i].kind > ea[i - 1].kind));
      }
      half += ea[i].world == 0;
      if (ea[i].world || ea[i].kind == SB_EVENT_HIT) continue;
      uint8_t *pair = &touching[(uint32_t)ea[i].shape_a * shapes + (uint32_t)ea[i].shape_b];
      assert_int_equal(*pair, ea[i].kind == SB_EVENT_END);
      *pair = ea[i].kind == SB_EVENT_BEGIN;
    }
    assert_int_equal(2 * half, count_a);
    for (uint32_t i = 0; i < half; i++) {
      assert_true(ea[i].kind == ea[half + i].kind && ea[i].speed == ea[half + i].speed);
      assert_int_equal(ea[i].shape_b + (int32_t)shapes, ea[half + i].shape_b);
    }
    total += count_a;
    assert_true(sb_sim_hash(a.sim) == sb_sim_hash(plain.sim));
  }
  assert_true(total > 200);
  free(touching);
  stop(&a), stop(&b), stop(&plain);
}

/* A restored run has the same events; one without events takes the snapshot as well; a broken list of pairs is refused. */
static void test_restore(void **state)
{
  (void)state;
  static const char more[] = "[scene]\ncount = 40\nside = 4\nextent = 1";
  run a = start("generator:pile", more, true, 1, 0, 0), b = start("generator:pile", more, true, 1, 0, 0);
  run plain = start("generator:pile", more, false, 1, 0, 0);
  uint32_t count_a, count_b, total = 0;
  void *bytes, *bare;
  size_t size, bare_size;
  for (int i = 0; i < 60; i++) step(&a, &count_a);
  assert_int_equal(sb_sim_snapshot(a.sim, &bytes, &size, NULL), SB_OK);
  assert_int_equal(sb_sim_restore(b.sim, bytes, size, NULL), SB_OK);
  assert_int_equal(sb_sim_restore(plain.sim, bytes, size, NULL), SB_OK);
  for (int tick = 0; tick < 60; tick++) {
    const sb_contact_event *ea = step(&a, &count_a), *eb = step(&b, &count_b);
    assert_int_equal(count_a, count_b);
    if (count_a) assert_memory_equal(ea, eb, count_a * sizeof *ea);
    total += count_a;
  }
  assert_true(total > 20);
  assert_int_equal(sb_sim_snapshot(plain.sim, &bare, &bare_size, NULL), SB_OK);
  assert_int_equal(sb_sim_restore(b.sim, bare, bare_size, NULL), SB_OK);
  assert_true(bare_size < size);
  uint8_t *copy = malloc(size + 12);
  memcpy(copy, bytes, size);
  assert_int_not_equal(sb_sim_restore(b.sim, copy, size - 4, NULL), SB_OK);
  assert_int_not_equal(sb_sim_restore(b.sim, copy, size + 12, NULL), SB_OK);
  memmove(copy + size - 12, copy + size - 24, 12); /* the last pair twice */
  assert_int_not_equal(sb_sim_restore(b.sim, copy, size, NULL), SB_OK);
  free(copy), free(bytes), free(bare);
  stop(&a), stop(&b), stop(&plain);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_ball), cmocka_unit_test(test_pile), cmocka_unit_test(test_restore)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
