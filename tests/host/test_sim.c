/* The simulation core: hashes, snapshots, lockstep, worlds, frame pacing, the floating-point environment, the NaN guard, capacity. */
#include <stdlib.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include "collision.h"
#include "host_fixture.h"
#include "micro_scenes.h"

extern const sb_plugin_entry samebit_plugin_featherstone, samebit_plugin_semi_implicit, samebit_plugin_steel, samebit_plugin_xpbd;

/* One simulation of a micro-scene, in `worlds` worlds. */
typedef struct setup {
  const char *scene;
  const sb_plugin_entry *plugin;
  uint32_t worlds, first_world, threads, lanes;
  uint64_t shuffle;
  uint32_t contact_capacity;
  uint32_t sleep_ticks; /* of a solver that has them */
  bool off; /* mode Off */
} setup;

typedef struct running {
  sb_model_store *one, *model;
  sb_sim *sim;
  sb_diagnostics diag;
  sb_status status;
} running;

static running start(setup s)
{
  running r = {0};
  const sb_solver_factory *factory = s.plugin->get_factory(SB_SOLVER_FACTORY_ID);
  const sb_solver_api *api = factory->solvers[0];
  r.one = sb_micro_scene_model(s.scene);
  assert_non_null(r.one);
  assert_int_equal(sb_model_store_replicate(r.one, s.worlds ? s.worlds : 1, s.first_world, &r.model, &r.diag), SB_OK);
  uint32_t count = sb_model_store_view(r.model)->body_count;
  uint32_t *bodies = malloc(count * sizeof *bodies);
  for (uint32_t i = 0; i < count; i++) bodies[i] = i;
  double params[64];
  for (uint32_t i = 0; i < api->desc->param_count; i++) params[i] = api->desc->params[i].value;
  params[0] = 4; /* substeps */
  for (uint32_t i = 0; i < api->desc->param_count; i++)
    if (!strcmp(api->desc->params[i].name, "sleep_ticks")) params[i] = s.sleep_ticks;
  sb_sim_part part = {.name = "robot", .api = api, .params = params, .bodies = bodies, .body_count = count, .mode = SB_MODE_LOCAL};
  sb_sim_config config = {.model = r.model, .parts = &part, .part_count = 1, .dt_numerator = 1, .dt_denominator = 240,
                          .mode = s.off ? SB_MODE_OFF : SB_MODE_LOCAL, .threads = s.threads ? s.threads : 1, .lanes = s.lanes, .broad_phase = SB_BROAD_SAP,
                          .shuffle = s.shuffle, .contact_capacity = s.contact_capacity, .speculative_margin = 0.01f};
  r.status = sb_sim_create(&config, &r.sim, &r.diag);
  free(bodies);
  return r;
}

static void stop(running *r)
{
  sb_sim_destroy(r->sim);
  sb_model_store_free(r->model);
  sb_model_store_free(r->one);
  sb_diagnostics_clear(&r->diag);
}

static void steps(running *r, int n)
{
  for (int i = 0; i < n && !r->status; i++) r->status = sb_sim_step(r->sim, &r->diag);
  if (r->status) print_messages(&r->diag);
  assert_int_equal(r->status, SB_OK);
}

static const sb_plugin_entry *const plugins[4] = {&samebit_plugin_featherstone, &samebit_plugin_semi_implicit, &samebit_plugin_steel, &samebit_plugin_xpbd};
static const char *const scenes[2] = {"arm", "drop"};

/* Threads, lanes and task order change nothing; two runs in lockstep are compared after every tick. */
static void lockstep_over_perturbations(void **state)
{
  (void)state;
  static const setup turned[] = {{.threads = 2}, {.threads = 3, .shuffle = 9}, {.lanes = 1}, {.lanes = 4, .shuffle = 77, .threads = 2}};
  for (int p = 0; p < 4; p++)
    for (int s = p == 2; s < 2; s++) /* steel has no joints */
      for (size_t k = 0; k < sizeof turned / sizeof turned[0]; k++) {
        setup other = turned[k];
        other.scene = scenes[s], other.plugin = plugins[p], other.worlds = 9;
        running a = start((setup){.scene = scenes[s], .plugin = plugins[p], .worlds = 9}), b = start(other);
        for (int t = 0; t < 120; t++) {
          steps(&a, 1);
          steps(&b, 1);
          sb_difference d;
          if (sb_sim_compare(a.sim, b.sim, &d))
            fail_msg("%s %s case %zu tick %d: %s %s[%u].%u body %d: %08x %08x", scenes[s], ((const sb_solver_factory *)plugins[p]->get_factory(SB_SOLVER_FACTORY_ID))->solvers[0]->desc->id, k, t,
                     sb_stage_name(d.stage), d.array, d.element, d.component, d.body, d.word_a, d.word_b);
          assert_true(sb_sim_hash(a.sim) == sb_sim_hash(b.sim));
          assert_true(sb_sim_hash_stage(a.sim, SB_STAGE_CONTACTS) == sb_sim_hash_stage(b.sim, SB_STAGE_CONTACTS));
        }
        stop(&a);
        stop(&b);
      }
}

static void worlds_do_not_see_each_other(void **state)
{
  (void)state;
  for (int p = 0; p < 4; p++)
    for (int s = p == 2; s < 2; s++) /* steel has no joints */ {
      running many = start((setup){.scene = scenes[s], .plugin = plugins[p], .worlds = 64});
      running alone = start((setup){.scene = scenes[s], .plugin = plugins[p], .worlds = 1, .first_world = 17});
      running moved = start((setup){.scene = scenes[s], .plugin = plugins[p], .worlds = 5, .first_world = 15});
      /* one world is pushed, so that worlds differ and lanes hold different numbers */
      uint32_t bodies = sb_model_store_view(alone.model)->body_count;
      running *all[3] = {&many, &alone, &moved};
      const uint32_t index[3] = {17, 0, 2};
      for (int k = 0; k < 3; k++)
        for (uint32_t b = 0; b < bodies; b++) sb_sim_state(all[k]->sim)->body_f[6 * (index[k] * bodies + b) + 1] = 9.0f;
      for (int k = 0; k < 3; k++) steps(all[k], 100);
      assert_true(sb_sim_hash_world(many.sim, 17) == sb_sim_hash_world(alone.sim, 0));
      assert_true(sb_sim_hash_world(many.sim, 17) == sb_sim_hash_world(moved.sim, 2));
      assert_true(sb_sim_hash_world(many.sim, 3) == sb_sim_hash_world(moved.sim, 4));
      assert_true(sb_sim_hash_world(many.sim, 17) != sb_sim_hash_world(many.sim, 3));
      for (int k = 0; k < 3; k++) stop(all[k]);
    }
}

/* Bodies that sleep in one world and are pushed in another: worlds, threads, lanes and task order change nothing. */
static void sleepers_do_not_see_other_worlds(void **state)
{
  (void)state;
  const setup kind = {.scene = "drop", .plugin = &samebit_plugin_steel, .sleep_ticks = 20};
  setup how[3] = {kind, kind, kind};
  how[0].worlds = 20;
  how[1].worlds = 1, how[1].first_world = 17, how[1].lanes = 1;
  how[2].worlds = 5, how[2].first_world = 15, how[2].threads = 2, how[2].shuffle = 5;
  const uint32_t index[3] = {17, 0, 2};
  running all[3];
  for (int k = 0; k < 3; k++) all[k] = start(how[k]);
  uint32_t bodies = sb_model_store_view(all[1].model)->body_count, asleep = 0;
  for (int t = 0; t < 600; t++) {
    for (int k = 0; k < 3; k++) {
      if (t == 300) sb_sim_state(all[k].sim)->body_f[6 * (index[k] * bodies) + 2] = 900.0f;
      steps(&all[k], 1);
    }
    assert_true(sb_sim_hash_world(all[0].sim, 17) == sb_sim_hash_world(all[1].sim, 0));
    assert_true(sb_sim_hash_world(all[0].sim, 17) == sb_sim_hash_world(all[2].sim, 2));
    if (t == 299)
      for (uint32_t b = 0; b < bodies; b++) asleep += sb_registry_find(sb_sim_registry(all[1].sim), "robot.sleep")->data[2 * b + 1] != 0;
  }
  assert_true(asleep > 0);
  assert_true(sb_sim_hash_world(all[0].sim, 17) != sb_sim_hash_world(all[0].sim, 3));
  for (int k = 0; k < 3; k++) stop(&all[k]);
}

static void snapshot_into_a_fresh_simulation(void **state)
{
  (void)state;
  for (int p = 0; p < 4; p++)
    for (int s = p == 2; s < 2; s++) /* steel has no joints */ {
      setup how = {.scene = scenes[s], .plugin = plugins[p], .worlds = 3};
      running straight = start(how), first = start(how), second = start(how);
      steps(&straight, 200);
      steps(&first, 100);
      void *bytes;
      size_t size;
      assert_int_equal(sb_sim_snapshot(first.sim, &bytes, &size, &first.diag), SB_OK);
      uint64_t before = sb_sim_hash(second.sim);
      for (size_t cut = 0; cut < size; cut += 97) {
        assert_int_not_equal(sb_sim_restore(second.sim, bytes, cut, &second.diag), SB_OK);
        assert_true(sb_sim_hash(second.sim) == before);
      }
      sb_diagnostics_clear(&second.diag);
      assert_int_equal(sb_sim_restore(second.sim, bytes, size, &second.diag), SB_OK);
      assert_int_equal(sb_sim_tick(second.sim), 100);
      steps(&second, 100);
      assert_true(sb_sim_hash(second.sim) == sb_sim_hash(straight.sim));
      free(bytes);
      /* reset is the same as new */
      assert_int_equal(sb_sim_reset(second.sim, &second.diag), SB_OK);
      steps(&second, 200);
      assert_true(sb_sim_hash(second.sim) == sb_sim_hash(straight.sim));
      stop(&straight);
      stop(&first);
      stop(&second);
    }
}

static void frame_pacing_changes_only_the_number_of_ticks(void **state)
{
  (void)state;
  setup how = {.scene = "drop", .plugin = &samebit_plugin_semi_implicit};
  running even = start(how), uneven = start(how);
  steps(&even, 240);
  uint32_t random = 1, total = 0;
  while (total < 240) {
    random = random * 1664525u + 1013904223u;
    double frame = 1e-4 + (double)(random >> 16) / 65536.0 * 0.03;
    uint32_t ticks;
    /* the last frame asks for no more than what is left */
    double left = (240.0 - total) / 240.0;
    assert_int_equal(sb_sim_advance(uneven.sim, frame < left ? frame : left, &ticks, &uneven.diag), SB_OK);
    total += ticks;
  }
  assert_int_equal(total, 240);
  uint64_t a, b;
  for (uint64_t t = 0; t <= 240; t++) {
    assert_true(sb_sim_hash_history(even.sim, t, &a) && sb_sim_hash_history(uneven.sim, t, &b));
    assert_true(a == b);
  }
  assert_false(sb_sim_hash_history(even.sim, 241, &a));
  stop(&even);
  stop(&uneven);
}

static void one_bit_is_seen_in_the_right_hashes(void **state)
{
  (void)state;
  setup how = {.scene = "drop", .plugin = &samebit_plugin_semi_implicit, .worlds = 2};
  running a = start(how), b = start(how);
  steps(&a, 10);
  steps(&b, 10);
  uint32_t word;
  float *touched = &sb_sim_state(b.sim)->body_qd[6 * 5 + 3]; /* world 1, its second body */
  memcpy(&word, touched, 4);
  word ^= 1u;
  memcpy(touched, &word, 4);
  assert_true(sb_sim_hash(a.sim) != sb_sim_hash(b.sim));
  assert_true(sb_sim_hash_world(a.sim, 0) == sb_sim_hash_world(b.sim, 0));
  assert_true(sb_sim_hash_world(a.sim, 1) != sb_sim_hash_world(b.sim, 1));
  assert_true(sb_sim_hash_array(a.sim, "state.body_qd") != sb_sim_hash_array(b.sim, "state.body_qd"));
  assert_true(sb_sim_hash_array(a.sim, "state.body_q") == sb_sim_hash_array(b.sim, "state.body_q"));
  for (uint32_t body = 0; body < 8; body++)
    assert_true((sb_sim_hash_body(a.sim, body) != sb_sim_hash_body(b.sim, body)) == (body == 5));
  sb_difference d;
  assert_true(sb_sim_compare(a.sim, b.sim, &d));
  assert_string_equal(d.array, "state.body_qd");
  assert_true(d.element == 5 && d.component == 3 && d.body == 5 && d.stage == SB_STAGE_STATE && (d.word_a ^ d.word_b) == 1u);
  stop(&a);
  stop(&b);
}

/* The hash of an array does not depend on how its elements lie in memory. */
static void lane_blocks_do_not_change_the_hash(void **state)
{
  (void)state;
  sb_model_store *one = sb_micro_scene_model("drop"), *model;
  assert_int_equal(sb_model_store_replicate(one, 3, 0, &model, NULL), SB_OK);
  uint64_t expected = 0;
  const uint32_t blocks[3] = {1, 4, 8}, world_start[4] = {0, 5, 5, 13};
  for (int k = 0; k < 3; k++) {
    sb_registry registry;
    void *data;
    char error[256];
    assert_int_equal(sb_registry_init(&registry, sb_model_store_view(model)), SB_OK);
    sb_array_desc desc = {.struct_size = sizeof desc, .type = SB_TYPE_U32, .domain = SB_DOMAIN_CUSTOM, .components = 3, .count = 13,
                          .lane_block = blocks[k], .name = "cache", .world_start = world_start};
    assert_int_equal(sb_registry_add(&registry, "part", &desc, &data, error, sizeof error), SB_OK);
    assert_int_equal(sb_registry_add(&registry, "part", &desc, &data, error, sizeof error), SB_E_ARGUMENT);
    const sb_array *a = sb_registry_find(&registry, "part.cache");
    memset(a->data, 0xee, a->words * 4); /* padding must not count */
    for (uint32_t e = 0; e < 13; e++)
      for (uint32_t c = 0; c < 3; c++) a->data[sb_array_word(a, e, c)] = e * 1000 + c;
    uint64_t run = 0;
    bool bad = false;
    for (uint32_t w = 0; w < 3; w++) run = sb_hash_fold(run, sb_hash_world(sb_array_hash_world(a, w, 8, &bad)));
    if (k == 0) expected = run;
    assert_true(run == expected);
    sb_registry_free(&registry);
  }
  sb_model_store_free(model);
  sb_model_store_free(one);
}

static void hash_lanes_agree(void **state)
{
  (void)state;
  static uint32_t words[1000];
  for (uint32_t i = 0; i < 1000; i++) words[i] = i * 2654435761u;
  for (uint32_t n = 0; n < 40; n++)
    for (uint32_t offset = 0; offset < 3; offset++) {
      sb_hash_sums s[3] = {{1, 2}, {1, 2}, {1, 2}};
      const uint32_t lanes[3] = {1, 4, 8};
      for (int k = 0; k < 3; k++)
        if (lanes[k] <= sb_cpu_lanes()) sb_hash_words(&s[k], words + offset, n * 25, 7, 99, false, lanes[k]);
      for (int k = 1; k < 3; k++)
        if (lanes[k] <= sb_cpu_lanes()) assert_true(s[0].a == s[k].a && s[0].b == s[k].b);
    }
}

#ifdef __SSE__
static void the_callers_environment_is_kept(void **state)
{
  (void)state;
  setup how = {.scene = "arm", .plugin = &samebit_plugin_featherstone, .threads = 2, .worlds = 20};
  running plain = start(how);
  steps(&plain, 60);
  unsigned own = _mm_getcsr(), odd = 0xffc0u | 0x1f80u; /* flush to zero, denormals are zero, round towards zero */
  _mm_setcsr(odd);
  running hostile = start(how);
  for (int t = 0; t < 60 && !hostile.status; t++) hostile.status = sb_sim_step(hostile.sim, &hostile.diag);
  unsigned after = _mm_getcsr();
  _mm_setcsr(own);
  assert_int_equal(hostile.status, SB_OK);
  assert_int_equal(after & ~0x3fu, odd & ~0x3fu);
  assert_true(sb_sim_hash(plain.sim) == sb_sim_hash(hostile.sim));
  stop(&plain);
  stop(&hostile);
}
#endif

static void nan_is_named(void **state)
{
  (void)state;
  running r = start((setup){.scene = "drop", .plugin = &samebit_plugin_semi_implicit});
  steps(&r, 7);
  sb_sim_state(r.sim)->body_f[6 * 2 + 1] = __builtin_inff();
  assert_int_equal(sb_sim_step(r.sim, &r.diag), SB_E_NUMERIC);
  print_messages(&r.diag);
  assert_int_equal(count_messages(&r.diag, SB_CODE_NUMERIC_NOT_FINITE, "tick 7"), 1);
  assert_int_equal(count_messages(&r.diag, SB_CODE_NUMERIC_NOT_FINITE, "body 2"), 1);
  assert_string_equal(r.diag.items[0].where, "robot");
  assert_int_equal(sb_sim_step(r.sim, &r.diag), SB_E_CONFIG); /* it stays stopped */
  stop(&r);
}

static void capacity_is_never_silent(void **state)
{
  (void)state;
  running small = start((setup){.scene = "drop", .plugin = &samebit_plugin_semi_implicit, .contact_capacity = 3});
  sb_status status = SB_OK;
  for (int t = 0; t < 200 && !status; t++) status = sb_sim_step(small.sim, &small.diag);
  assert_int_equal(status, SB_E_CAPACITY);
  print_messages(&small.diag);
  const char *advice = strstr(small.diag.items[0].message, "contact_capacity = ");
  assert_non_null(advice);
  uint32_t enough = (uint32_t)strtoul(advice + strlen("contact_capacity = "), NULL, 10);
  assert_in_range(enough, 4, 100);
  /* with the size that it asks for, that tick passes; the whole run does after a few times */
  uint64_t failed_at = sb_sim_tick(small.sim);
  running large = start((setup){.scene = "drop", .plugin = &samebit_plugin_semi_implicit, .contact_capacity = enough});
  steps(&large, (int)failed_at + 1);
  for (int again = 0; again < 5 && !large.status; again++) {
    for (int t = 0; t < 200 && !large.status; t++) large.status = sb_sim_step(large.sim, &large.diag);
    if (!large.status) break;
    enough = (uint32_t)strtoul(strstr(large.diag.items[0].message, "contact_capacity = ") + strlen("contact_capacity = "), NULL, 10);
    stop(&large);
    large = start((setup){.scene = "drop", .plugin = &samebit_plugin_semi_implicit, .contact_capacity = enough});
  }
  assert_int_equal(large.status, SB_OK);
  assert_in_range(sb_sim_statistics(large.sim).contact_peak, 4, 64);
  /* in Off the run goes on with what fits, and counts */
  running off = start((setup){.scene = "drop", .plugin = &samebit_plugin_semi_implicit, .contact_capacity = 3, .off = true});
  steps(&off, 200);
  assert_true(sb_sim_statistics(off.sim).overflow_ticks > 0);
  assert_true(sb_sim_contacts(off.sim)->count <= 3);
  stop(&off);
  stop(&small);
  stop(&large);
}

/* xpbd's elements all at once: groups write side by side and are summed afterwards, so threads, lanes and task order must not show. */
static void test_jacobi_order(void **state)
{
  static const char text[] = "[world]\nscene = generator:cloth\ndt = 1/120\n[scene]\nmodel = membrane\npose = flat\npins = corners\nrows = 50\ncolumns = 50\nspacing = 0.02\nmass = 0.2\n"
                             "young = 800\nbending = 2e-4\ndamping = 1\nobstacle = none\n[solver.cloth]\nplugin = xpbd\norder = jacobi\niterations = 3\nsubsteps = 2\n";
  static const struct { uint32_t threads, lanes; uint64_t shuffle; } legs[] = {{1, 8, 0}, {1, 1, 0}, {2, 4, 0}, {3, 8, 0x5eed}};
  uint64_t first = 0;
  (void)state;
  for (size_t i = 0; i < sizeof legs / sizeof *legs; i++) {
    sb_session s;
    sb_sim *sim = NULL;
    sb_diagnostics diag = {0};
    sb_session_options o = {.threads = legs[i].threads, .lanes = legs[i].lanes <= sb_cpu_lanes() ? legs[i].lanes : sb_cpu_lanes(), .shuffle = legs[i].shuffle};
    sb_status status = open_text(text, o, &s, &diag);
    if (!status) status = sb_sim_create(&s.sim, &sim, &diag);
    for (int t = 0; t < 40 && !status; t++) status = sb_sim_step(sim, &diag);
    print_messages(&diag);
    assert_int_equal(status, SB_OK);
    if (i == 0) first = sb_sim_hash(sim);
    assert_int_equal(sb_sim_hash(sim), first);
    sb_sim_destroy(sim);
    sb_session_close(&s);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_jacobi_order),
      cmocka_unit_test(lockstep_over_perturbations),
      cmocka_unit_test(worlds_do_not_see_each_other),
      cmocka_unit_test(sleepers_do_not_see_other_worlds),
      cmocka_unit_test(snapshot_into_a_fresh_simulation),
      cmocka_unit_test(frame_pacing_changes_only_the_number_of_ticks),
      cmocka_unit_test(one_bit_is_seen_in_the_right_hashes),
      cmocka_unit_test(lane_blocks_do_not_change_the_hash),
      cmocka_unit_test(hash_lanes_agree),
#ifdef __SSE__
      cmocka_unit_test(the_callers_environment_is_kept),
#endif
      cmocka_unit_test(nan_is_named),
      cmocka_unit_test(capacity_is_never_silent),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
