/* Simulations on a device against the same ones on the CPU, tick by tick; hash, snapshot and comparison of what lies there; shaders that are
 * refused. */
#include "host_fixture.h"

#include "model_builder.h"
#include "vulkan_test.h"

static sb_session_options on(const char *backend) { return (sb_session_options){.backend = backend, .threads = 1}; }

/* A session and its simulation; ways: "recorded" or "one_by_one". */
typedef struct run {
  sb_session session;
  sb_sim *sim;
} run;

static run start(const char *text, const char *backend, const char *commands)
{
  run r = {0};
  sb_diagnostics diag = {0};
  char whole[1600];
  snprintf(whole, sizeof whole, "%s\n[compute]\ncommands = %s\n", text, commands);
  sb_status status = open_text(whole, on(backend), &r.session, &diag);
  if (!status) status = sb_sim_create(&r.session.sim, &r.sim, &diag);
  print_messages(&diag);
  assert_int_equal(status, SB_OK);
  assert_int_equal(r.session.mode, SB_MODE_CROSS_PLATFORM);
  return r;
}

static void stop(run *r)
{
  sb_sim_destroy(r->sim);
  sb_session_close(&r->session);
}

static void step(run *r)
{
  sb_diagnostics diag = {0};
  sb_status status = sb_sim_step(r->sim, &diag);
  print_messages(&diag);
  assert_int_equal(status, SB_OK);
}

static const char cloth[] = "[world]\nscene = generator:cloth\ndt = 1/60\n[scene]\nmodel = membrane\npose = flat\npins = none\nrows = 14\ncolumns = 14\n"
                            "spacing = 0.05\nheight = 0.42\nmass = 0.3\nthickness = 0.02\nyoung = 2000\nbending = 2e-4\ndamping = 1\ndrag = 0.2\nlift = 1\n"
                            "obstacle = sphere\n[solver.cloth]\nplugin = xpbd\nsubsteps = 4\n";
static const char worlds[] = "[world]\nscene = generator:cloth\ndt = 1/60\nreplicate = 3\n[scene]\nmodel = membrane\npose = flat\npins = none\nrows = 8\ncolumns = 8\n"
                             "spacing = 0.05\nheight = 0.4\nmass = 0.3\nthickness = 0.02\nyoung = 2000\nbending = 2e-4\nobstacle = sphere\n"
                             "[solver.cloth]\nplugin = xpbd\nsubsteps = 3\niterations = 3\n";
static const char folded[] = "[world]\nscene = generator:cloth\ndt = 1/240\n[scene]\nmodel = membrane\npose = flat\npins = none\nrows = 12\ncolumns = 12\n"
                             "spacing = 0.03\nheight = 0.52\nmass = 0.3\nthickness = 0.012\nyoung = 2000\nbending = 2e-4\nself_contact = 1\nobstacle = box\n"
                             "[solver.cloth]\nplugin = xpbd\nsubsteps = 3\n";
static const char soft[] = "[world]\nscene = generator:soft\ndt = 1/120\n[scene]\nnx = 3\nny = 3\nnz = 2\nspacing = 0.05\nyoung = 2e4\npoisson = 0.45\n"
                           "density = 500\ndamping = 20\nheight = 0.5\nobstacle = sphere\n[solver.soft]\nplugin = xpbd\nsubsteps = 4\n";
static const char rope[] = "[world]\nscene = generator:rope\ndt = 1/120\n[scene]\ncount = 40\nlength = 0.8\nheight = 0.9\nradius = 0.012\nstretch = 5000\nbend = 20\n"
                           "damping = 0.2\nself_contact = 1\nobstacle = sphere\n[solver.rope]\nplugin = xpbd\nsubsteps = 4\n";

static const char pyramid[] = "[world]\nscene = generator:pyramid\ndt = 1/60\n[scene]\nrows = 8\n[solver.boxes]\nplugin = steel\n";
/* balls bounce, boxes roll over each other, three worlds */
static const char pile[] = "[world]\nscene = generator:pile\ndt = 1/60\nreplicate = 3\n[scene]\ncount = 40\nside = 4\nextent = 1\n[solver.pile]\nplugin = steel\n"
                           "restitution_threshold = 0.1\n";
static const char hills[] = "[world]\nscene = " SAMEBIT_CONF "/models/hills.xml\ndt = 1/120\n[solver.stones]\nplugin = steel\n";
static const char round_and_flat[] = "[world]\nscene = generator:shapes\ndt = 1/120\n[scene]\ncount = 24\n[solver.all]\nplugin = steel\n";

/* Rigid bodies, of %s: stacked, thrown together in three worlds, of every shape, more balls around one block than there are colours. */
static const char *const rigid[] = {"[world]\nscene = generator:pyramid\ndt = 1/60\n[scene]\nrows = 8\n[solver.all]\nplugin = %s\n",
                                    "[world]\nscene = generator:pile\ndt = 1/60\nreplicate = 3\n[scene]\ncount = 40\nside = 4\nextent = 1\n[solver.all]\nplugin = %s\n",
                                    "[world]\nscene = generator:shapes\ndt = 1/120\n[scene]\ncount = 24\n[solver.all]\nplugin = %s\n",
                                    "[world]\nscene = " CROWD "\ndt = 1/120\n[solver.all]\nplugin = %s\nsubsteps = 3\n"};

/* Bodies and particles of one instance that hold and push each other: with contacts that stay on the device, in three worlds with several iterations, with near pairs, with bodies that particles link. */
static const char *const linked[] = {"[world]\nscene = " LINKED ".xml\ndt = 1/120\n[solver.all]\nplugin = xpbd\nsubsteps = 4\n",
                                     "[world]\nscene = " LINKED ".xml\ndt = 1/120\nreplicate = 3\n[solver.all]\nplugin = xpbd\nsubsteps = 2\niterations = 3\n",
                                     "[world]\nscene = " LINKED "_net.xml\ndt = 1/120\n[solver.all]\nplugin = xpbd\nsubsteps = 4\n",
                                     "[world]\nscene = " LINKED "_balls.xml\ndt = 1/120\nreplicate = 2\n[solver.all]\nplugin = xpbd\nsubsteps = 3\n"};
static const char xpbd_pile[] = "[world]\nscene = generator:pile\ndt = 1/60\nreplicate = 3\n[scene]\ncount = 40\nside = 4\nextent = 1\n[solver.pile]\nplugin = xpbd\nsubsteps = 4\n"
                                "restitution_threshold = 0.1\n";
static const char xpbd_pyramid[] = "[world]\nscene = generator:pyramid\ndt = 1/60\n[scene]\nrows = 8\n[solver.boxes]\nplugin = xpbd\nsubsteps = 4\n";

static const char explicit_soft[] = "[world]\nscene = generator:soft\ndt = 1/120\n[scene]\nnx = 3\nny = 3\nnz = 2\nspacing = 0.05\nyoung = 2e4\npoisson = 0.45\n"
                                    "density = 500\ndamping = 20\nheight = 0.5\nobstacle = sphere\n[solver.soft]\nplugin = semi_implicit\nsubsteps = 20\n";
static const char explicit_cloth[] = "[world]\nscene = generator:cloth\ndt = 1/120\nreplicate = 2\n[scene]\nmodel = membrane\npose = flat\npins = corners\nrows = 10\ncolumns = 10\n"
                                     "spacing = 0.05\nheight = 0.4\nmass = 0.3\nthickness = 0.02\nyoung = 500\nbending = 2e-4\ndrag = 0.2\nlift = 1\nself_contact = 1\n"
                                     "obstacle = sphere\n[collision]\nnear_pair_capacity = 20000\n[solver.cloth]\nplugin = semi_implicit\nsubsteps = 30\n";

/* Bodies and particles of one instance, which act on each other, in two worlds. */
static const char carried[] = "[world]\nscene = " CARRIED "\ndt = 1/250\nreplicate = 2\n[solver.all]\nplugin = semi_implicit\nsubsteps = 12\n";

/* Under the validation layers what is called matters, not what comes out after many ticks. */
static uint32_t fewer(uint32_t ticks) { return getenv("VK_INSTANCE_LAYERS") ? ticks / 12 + 2 : ticks; }

static void compare_runs(const char *text, uint32_t ticks, const char *commands)
{
  ticks = fewer(ticks);
  run cpu = start(text, "cpu", "recorded"), device = start(text, "vulkan", commands);
  for (uint32_t t = 0; t < ticks; t++) {
    uint64_t a, b;
    step(&cpu);
    step(&device);
    assert_true(sb_sim_hash_history(cpu.sim, t + 1, &a) && sb_sim_hash_history(device.sim, t + 1, &b));
    if (a == b) continue;
    sb_difference d;
    assert_true(sb_sim_compare(cpu.sim, device.sim, &d));
    print_message("tick %u: %s[%u] component %u is %08x on the CPU, %08x on the device\n", t, d.array, d.element, d.component, d.word_a, d.word_b);
    fail();
  }
  stop(&cpu);
  stop(&device);
}

static void test_cloth(void **state) { (void)state, compare_runs(cloth, 60, "recorded"); }
static void test_worlds(void **state) { (void)state, compare_runs(worlds, 40, "recorded"); }
static void test_folded(void **state) { (void)state, compare_runs(folded, 60, "recorded"); }
static void test_soft(void **state) { (void)state, compare_runs(soft, 60, "recorded"); }
static void test_rope(void **state) { (void)state, compare_runs(rope, 60, "recorded"); }
static void test_one_by_one(void **state) { (void)state, compare_runs(soft, 8, "one_by_one"), compare_runs(pyramid, 8, "one_by_one"); }
static void test_explicit_soft(void **state) { (void)state, compare_runs(explicit_soft, 50, "recorded"); }
static void test_explicit_cloth(void **state) { (void)state, compare_runs(explicit_cloth, 40, "recorded"); }
static void test_explicit_carried(void **state) { (void)state, compare_runs(carried, 150, "recorded"); }
static void test_pyramid(void **state) { (void)state, compare_runs(pyramid, 90, "recorded"); }
static void test_hills(void **state) { (void)state, compare_runs(hills, 80, "recorded"); }
static void test_pile(void **state) { (void)state, compare_runs(pile, 90, "recorded"); }
static void compare_bodies(const char *plugin)
{
  for (size_t i = 0; i < sizeof rigid / sizeof *rigid; i++) {
    char text[600];
    snprintf(text, sizeof text, rigid[i], plugin);
    compare_runs(text, 25, "recorded");
  }
}
static void test_xpbd_bodies(void **state) { (void)state, compare_bodies("xpbd\nrestitution_threshold = 0.1\niterations = 2"); }
static void test_explicit_bodies(void **state) { (void)state, compare_bodies("semi_implicit"); }
static void test_linked(void **state)
{
  static const uint32_t ticks[] = {110, 40, 60, 40};
  (void)state;
  for (size_t i = 0; i < sizeof linked / sizeof *linked; i++) compare_runs(linked[i], ticks[i], "recorded");
  compare_runs(linked[0], 5, "one_by_one");
}
/* Three boxes over the floor, tied to each other and to the world by particles: some hold one box, some two, one the world and a box, one the world alone. */
static sb_model_store *make_tied(void)
{
  static const int ties[][2] = {{0, 0}, {1, 1}, {0, 1}, {2, 1}, {3, 2}, {3, -1}, {4, 2}, {5, -1}, {2, 2}, {6, 0}, {1, 1}};
  sb_model_builder *b = sb_builder_create();
  sb_build_deformable cord = sb_build_deformable_default();
  sb_build_shape ground = sb_build_shape_default();
  sb_diagnostics diag = {0};
  sb_model_store *model = NULL;
  ground.type = SB_SHAPE_PLANE, ground.body = -1;
  sb_builder_add_shape(b, &ground, "ground");
  for (int i = 0; i < 3; i++) {
    sb_build_body body = sb_build_body_default();
    sb_build_shape box = sb_build_shape_default();
    body.joint_type = SB_JOINT_FREE, body.mass = 1 + i, body.q[0] = 0.3 * i, body.q[2] = 0.2 + 0.15 * i;
    for (int k = 0; k < 3; k++) body.inertia[k] = 0.01 * (1 + i), box.size[k] = 0.1;
    box.type = SB_SHAPE_BOX, box.body = sb_builder_add_body(b, &body, NULL);
    sb_builder_add_shape(b, &box, NULL);
  }
  cord.contype = 0;
  sb_builder_add_deformable(b, &cord, "cord");
  for (int i = 0; i < 7; i++) {
    sb_builder_add_particle(b, &(sb_build_particle){.q = {0.1 * i, 0.03 * (i % 3), 0.5}, .mass = 0.05, .radius = 0.02});
    if (i) sb_builder_add_spring(b, &(sb_build_spring){.particle = {i - 1, i}, .rest_length = 0.1, .stiffness = 500});
  }
  for (size_t i = 0; i < sizeof ties / sizeof *ties; i++)
    sb_builder_add_attachment(b, &(sb_build_attachment){.particle = ties[i][0], .body = ties[i][1], .point = {0.02 * (double)i, 0, ties[i][1] < 0 ? 0.5 : 0.1}, .stiffness = 200 + 40 * (double)i,
                                                        .damping = i % 2 ? 1 : 0});
  assert_int_equal(sb_builder_finalise(b, "tied", &model, &diag), SB_OK);
  sb_builder_free(b);
  return model;
}

static void test_tied(void **state)
{
  (void)state;
  static const uint32_t bodies[] = {0, 1, 2}, particles[] = {0, 1, 2, 3, 4, 5, 6};
  sb_diagnostics diag = {0};
  sb_model_store *model = make_tied();
  sb_session session[2] = {0};
  sb_sim *sim[2] = {NULL, NULL};
  for (int k = 0; k < 2; k++) {
    assert_int_equal(open_text(linked[1], on(k ? "vulkan" : "cpu"), &session[k], &diag), SB_OK);
    sb_sim_part part = session[k].sim.parts[0];
    sb_sim_config config = session[k].sim;
    part.bodies = bodies, part.body_count = 3, part.particles = particles, part.particle_count = 7;
    config.model = model, config.parts = &part;
    sb_status status = sb_sim_create(&config, &sim[k], &diag);
    print_messages(&diag);
    assert_int_equal(status, SB_OK);
  }
  for (uint32_t t = 0; t < fewer(100); t++) {
    for (int k = 0; k < 2; k++) assert_int_equal(sb_sim_step(sim[k], &diag), SB_OK);
    assert_int_equal(sb_sim_hash(sim[0]), sb_sim_hash(sim[1]));
  }
  for (int k = 0; k < 2; k++) {
    sb_sim_destroy(sim[k]);
    sb_session_close(&session[k]);
  }
  sb_model_store_free(model);
}

static void test_xpbd_pile(void **state) { (void)state, compare_runs(xpbd_pile, 120, "recorded"); }
static void test_shapes(void **state) { (void)state, compare_runs(round_and_flat, 60, "recorded"); }

/* The device's hash of an array is the host's, and sees the last bit of one particle. */
static void test_hash(void **state)
{
  (void)state;
  run r = start(worlds, "vulkan", "recorded");
  for (int t = 0; t < 3; t++) step(&r);
  uint64_t there, here, again;
  assert_true(sb_sim_hash_history(r.sim, 3, &there));
  assert_int_equal(sb_sim_hash(r.sim), there); /* on the device again */
  sb_state *s = sb_sim_state(r.sim);           /* brings all of it back */
  here = sb_sim_hash(r.sim);
  assert_int_equal(here, there);
  uint32_t word;
  memcpy(&word, &s->particle_q[3 * 70 + 1], 4);
  word ^= 1u;
  memcpy(&s->particle_q[3 * 70 + 1], &word, 4);
  again = sb_sim_hash(r.sim);
  assert_int_not_equal(again, there);
  stop(&r);
}

/* A snapshot taken on the device goes on on the CPU, and the other way round. */
static void test_snapshot(void **state)
{
  (void)state;
  sb_diagnostics diag = {0};
  run cpu = start(cloth, "cpu", "recorded"), device = start(cloth, "vulkan", "recorded");
  for (int t = 0; t < 20; t++) step(&device);
  void *bytes;
  size_t size;
  assert_int_equal(sb_sim_snapshot(device.sim, &bytes, &size, &diag), SB_OK);
  assert_int_equal(sb_sim_restore(cpu.sim, bytes, size, &diag), SB_OK);
  free(bytes);
  for (int t = 0; t < 20; t++) step(&device), step(&cpu);
  assert_int_equal(sb_sim_hash(cpu.sim), sb_sim_hash(device.sim));
  assert_int_equal(sb_sim_snapshot(cpu.sim, &bytes, &size, &diag), SB_OK);
  for (int t = 0; t < 5; t++) step(&cpu), step(&device);
  uint64_t want = sb_sim_hash(cpu.sim);
  assert_int_equal(sb_sim_restore(device.sim, bytes, size, &diag), SB_OK);
  free(bytes);
  for (int t = 0; t < 5; t++) step(&device);
  assert_int_equal(sb_sim_hash(device.sim), want);
  assert_int_equal(sb_sim_reset(device.sim, &diag), SB_OK);
  assert_int_equal(sb_sim_reset(cpu.sim, &diag), SB_OK);
  for (int t = 0; t < 3; t++) step(&cpu), step(&device);
  assert_int_equal(sb_sim_hash(device.sim), sb_sim_hash(cpu.sim));
  stop(&cpu);
  stop(&device);
}

/* The first difference between two states, one of them on the device. */
static void test_difference(void **state)
{
  (void)state;
  run cpu = start(cloth, "cpu", "recorded"), device = start(cloth, "vulkan", "recorded");
  for (int t = 0; t < 4; t++) step(&cpu), step(&device);
  sb_difference d;
  assert_false(sb_sim_compare(cpu.sim, device.sim, &d));
  sb_sim_state(cpu.sim)->particle_qd[3 * 17 + 2] += 1.0f;
  assert_true(sb_sim_compare(cpu.sim, device.sim, &d));
  assert_string_equal(d.array, "state.particle_qd");
  assert_int_equal(d.element, 17);
  assert_int_equal(d.component, 2);
  stop(&cpu);
  stop(&device);
}

/* NaN that the device makes is found by its hash and named. */
static void test_nan(void **state)
{
  (void)state;
  sb_diagnostics diag = {0};
  run r = start(soft, "vulkan", "recorded");
  step(&r);
  sb_sim_state(r.sim)->particle_qd[3 * 5] = 3.0e38f;
  sb_status status = SB_OK;
  for (int t = 0; t < 5 && !status; t++) status = sb_sim_step(r.sim, &diag);
  assert_int_equal(status, SB_E_NUMERIC);
  assert_int_equal(count_messages(&diag, SB_CODE_NUMERIC_NOT_FINITE, "particle"), 1);
  sb_diagnostics_clear(&diag);
  stop(&r);
}

/* A part on the CPU and one on the device in one scene. */
static void test_mixed(void **state)
{
  (void)state;
  sb_diagnostics diag = {0};
  const char *sets[] = {"solver.cloth.backend=vulkan"};
  run r[2];
  memset(r, 0, sizeof r);
  for (int k = 0; k < 2; k++) {
    sb_session_options o = {.threads = 1, .sets = sets, .set_count = (size_t)k, .plugin_dirs = fixture_dirs, .plugin_dir_count = 2,
                            .cache_dir = SAMEBIT_FIXTURES "/../trial_cache"};
    assert_int_equal(sb_session_open(SAMEBIT_CONF "/robot_cloth.ini", &o, &r[k].session, &diag), SB_OK);
    assert_int_equal(sb_sim_create(&r[k].session.sim, &r[k].sim, &diag), SB_OK);
  }
  for (int t = 0; t < 60; t++) {
    step(&r[0]);
    step(&r[1]);
    assert_int_equal(sb_sim_hash(r[0].sim), sb_sim_hash(r[1].sim));
  }
  stop(&r[0]);
  stop(&r[1]);
}

/* Three solvers, two of them on the device: bodies and particles cross over between them in every tick, in two worlds, in either order. */
static void test_several(void **state)
{
  static const char *const orders[5][3] = {{"robot", "boxes", "cloth"}, {"cloth", "boxes", "robot"}, {"robot", "xpbd", "cloth"}, {"robot", "explicit", "cloth"}, {"robot", "all"}};
  static const char *const rows[6] = {"[solver.robot]\nplugin = featherstone\nbodies = arm\n", "[solver.boxes]\nplugin = steel\nbodies = box* ball\nbackend = %s\n",
                                      "[solver.cloth]\nplugin = xpbd\nbodies = curtain\nbackend = %s\n",
                                      "[solver.xpbd]\nplugin = xpbd\nbodies = box* ball\nbackend = %s\n",
                                      "[solver.explicit]\nplugin = semi_implicit\nsubsteps = 8\nbodies = box* ball\nbackend = %s\n",
                                      "[solver.all]\nplugin = xpbd\nbodies = box* ball curtain\nbackend = %s\n"};
  (void)state;
  for (int order = 0; order < 5; order++) {
    run r[2];
    for (int k = 0; k < 2; k++) {
      char text[1200];
      int n = snprintf(text, sizeof text, "[world]\nscene = %s\nkeyframe = go\ndt = 1/250\nreplicate = 2\n[coupling]\ncontacts = one_way\n", SEVERAL);
      for (int i = 0; i < 3 && orders[order][i]; i++) {
        const char *name = orders[order][i];
        n += snprintf(text + n, sizeof text - (size_t)n, rows[strcspn("rbcxea", (const char[2]){*name})], k ? "vulkan" : "cpu");
      }
      r[k] = start(text, NULL, "recorded");
    }
    for (uint32_t t = 0; t < fewer(50); t++) {
      step(&r[0]);
      step(&r[1]);
      assert_int_equal(sb_sim_hash(r[0].sim), sb_sim_hash(r[1].sim));
    }
    uint64_t moved = sb_sim_hash_array(r[1].sim, "state.particle_q");
    assert_int_equal(moved, sb_sim_hash_array(r[0].sim, "state.particle_q"));
    stop(&r[0]);
    stop(&r[1]);
  }
}

/* Two instances on the device, the later one with bodies of its own: it finds the other one's where that has left them, as obstacles and where particles are held. */
static void test_two_there(void **state)
{
  static const char *const pairs[][2] = {{"steel", "xpbd"}, {"xpbd", "xpbd"}, {"xpbd", "semi_implicit\nsubsteps = 12"}};
  (void)state;
  for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++) {
    char text[900];
    snprintf(text, sizeof text,
             "[world]\nscene = " CARRIED "\ndt = 1/250\n[coupling]\ncontacts = one_way\n[solver.first]\nplugin = %s\nbodies = bar block\n"
             "[solver.second]\nplugin = %s\nbodies = ball block2 sheet\n", pairs[p][0], pairs[p][1]);
    compare_runs(text, 60, "recorded");
  }
}

/* ---- refusals ---- */

static void refuse(const char *text, const char *backend, sb_status want, sb_code code, const char *part)
{
  sb_session s = {0};
  sb_diagnostics diag = {0};
  sb_status status = open_text(text, on(backend), &s, &diag);
  sb_sim *sim = NULL;
  if (!status) status = sb_sim_create(&s.sim, &sim, &diag);
  if (status != want || !count_messages(&diag, code, part)) print_messages(&diag);
  assert_int_equal(status, want);
  assert_true(count_messages(&diag, code, part) > 0);
  sb_sim_destroy(sim);
  sb_diagnostics_clear(&diag);
  sb_session_close(&s);
}

static void test_refuses_bodies(void **state)
{
  (void)state;
  refuse("[world]\nscene = generator:chain\n[solver.all]\nplugin = xpbd\n", "vulkan", SB_E_UNSUPPORTED, SB_CODE_SOLVER_REFUSED, "xpbd moves free bodies on the backend vulkan, and body 0 has a joint");
  refuse("[world]\nscene = " LINKED ".xml\n[solver.all]\nplugin = xpbd\norder = jacobi\n", "vulkan", SB_E_UNSUPPORTED, SB_CODE_SOLVER_REFUSED, "order = jacobi does not run on the backend vulkan");
}

static void test_refuses_rest(void **state)
{
  (void)state;
  refuse("[world]\nscene = generator:chain\n[solver.all]\nplugin = steel\n", "vulkan", SB_E_UNSUPPORTED, SB_CODE_SOLVER_REFUSED, "steel moves free bodies alone");
  refuse("[world]\nscene = generator:pyramid\n[solver.all]\nplugin = steel\nsleep_ticks = 10\n", "vulkan", SB_E_UNSUPPORTED, SB_CODE_SOLVER_REFUSED, "without sleep");
  refuse("[world]\nscene = generator:chain\n[solver.all]\nplugin = semi_implicit\n", "vulkan", SB_E_UNSUPPORTED, SB_CODE_SOLVER_REFUSED, "semi_implicit moves free bodies on the backend vulkan, and body");
  refuse("[world]\nscene = generator:chain\n[solver.all]\nplugin = featherstone\n", "vulkan", SB_E_MODE, SB_CODE_MODE_REFUSED, "on vulkan: declared Off");
}

/* What a solver keeps from tick to tick crosses over too. */
/* Where bodies, contacts and all stay on the device: what the host writes between ticks gets there, what it reads comes back, and a reset begins anew. */
static void poke(const char *text, float force)
{
  sb_diagnostics diag = {0};
  run both[2] = {start(text, "cpu", "recorded"), start(text, "vulkan", "recorded")};
  const sb_model *m = sb_model_store_view(both[0].session.model);
  assert_true(m->body_count > 5);
  for (int round = 0; round < 2; round++) {
    for (uint32_t t = 0; t < fewer(40); t++) {
      uint64_t hash[2];
      for (int k = 0; k < 2; k++) {
        if (t % 9 == 5) {
          sb_state *s = sb_sim_state(both[k].sim);
          s->body_f[6 * (t % 6) + 2] = force;
          s->body_qd[6 * (t % 5)] += 1.5f;
          s->joint_qd[6 * (t % 5)] += 1.5f;
          if (m->particle_count) s->particle_qd[3 * (t % m->particle_count) + 2] += 0.5f;
        }
        step(&both[k]);
        assert_true(sb_sim_hash_history(both[k].sim, t + 1, &hash[k]));
      }
      assert_int_equal(hash[0], hash[1]);
      if (t % 13 == 0) assert_int_equal(sb_sim_hash_stage(both[0].sim, SB_STAGE_CONTACTS), sb_sim_hash_stage(both[1].sim, SB_STAGE_CONTACTS));
    }
    sb_sim_stats a = sb_sim_statistics(both[0].sim), b = sb_sim_statistics(both[1].sim);
    assert_int_equal(a.contact_peak, b.contact_peak);
    assert_int_equal(a.pair_peak, b.pair_peak);
    assert_memory_equal(&a.largest_penetration, &b.largest_penetration, sizeof a.largest_penetration);
    assert_int_equal(a.penetration_tick, b.penetration_tick);
    for (int k = 0; k < 2; k++) assert_int_equal(sb_sim_reset(both[k].sim, &diag), SB_OK);
  }
  stop(&both[0]);
  stop(&both[1]);
}

static void test_pokes(void **state) { (void)state, poke(pile, 900.0f), poke(xpbd_pile, 900.0f), poke(linked[0], 40.0f); }
/* Too little room for triangles: the run stops, and says what to set; with that it goes on. */
static void test_triangle_overflow(void **state)
{
  (void)state;
  unsigned room = 20;
  for (int tries = 0; tries < 2; tries++) {
    char text[500];
    run r = {0};
    sb_diagnostics diag = {0};
    snprintf(text, sizeof text, "%s[collision]\ntriangle_capacity = %u\n", hills, room);
    assert_int_equal(open_text(text, on("vulkan"), &r.session, &diag), SB_OK);
    assert_int_equal(sb_sim_create(&r.session.sim, &r.sim, &diag), SB_OK);
    sb_status status = SB_OK;
    for (int t = 0; t < 60 && !status; t++) status = sb_sim_step(r.sim, &diag);
    assert_int_equal(status, SB_E_CAPACITY);
    const char *advice = strstr(sb_diagnostics_reason(&diag, ""), "set triangle_capacity = ");
    assert_non_null(advice);
    unsigned wanted = (unsigned)strtoul(advice + strlen("set triangle_capacity = "), NULL, 10);
    assert_true(wanted > room);
    room = wanted;
    sb_diagnostics_clear(&diag);
    stop(&r);
  }
}

/* Too many contacts: the same tick, the same words; in mode Off the same ones are left out. */
static void test_contact_overflow(void **state)
{
  (void)state;
  char text[2][700], message[2][256];
  for (int mode = 0; mode < 2; mode++) {
    uint64_t hash[2] = {1, 2};
    snprintf(text[0], sizeof text[0], "%s[collision]\ncontact_capacity = 200\n%s", pile, mode ? "[determinism]\nmode = Off\n" : "");
    for (int k = 0; k < 2; k++) {
      run r = {0};
      sb_diagnostics diag = {0};
      assert_int_equal(open_text(text[0], on(k ? "vulkan" : "cpu"), &r.session, &diag), SB_OK);
      assert_int_equal(sb_sim_create(&r.session.sim, &r.sim, &diag), SB_OK);
      sb_status status = SB_OK;
      for (int t = 0; t < 60 && !status; t++) status = sb_sim_step(r.sim, &diag);
      assert_int_equal(status != SB_OK, mode == 0);
      snprintf(message[k], sizeof message[k], "%s", sb_diagnostics_reason(&diag, ""));
      if (mode) hash[k] = sb_sim_hash(r.sim);
      if (mode) assert_true(sb_sim_statistics(r.sim).overflow_ticks > 0);
      sb_diagnostics_clear(&diag);
      stop(&r);
    }
    assert_string_equal(message[0], message[1]);
    if (mode) assert_int_equal(hash[0], hash[1]);
  }
}

static void cross_over(const char *text)
{
  sb_diagnostics diag = {0};
  run cpu = start(text, "cpu", "recorded"), device = start(text, "vulkan", "recorded");
  void *bytes;
  size_t size;
  for (uint32_t t = 0; t < fewer(15); t++) step(&device);
  assert_int_equal(sb_sim_snapshot(device.sim, &bytes, &size, &diag), SB_OK);
  assert_int_equal(sb_sim_restore(cpu.sim, bytes, size, &diag), SB_OK);
  for (uint32_t t = 0; t < fewer(15); t++) step(&device), step(&cpu);
  assert_int_equal(sb_sim_hash(cpu.sim), sb_sim_hash(device.sim));
  assert_int_equal(sb_sim_restore(device.sim, bytes, size, &diag), SB_OK);
  free(bytes);
  for (uint32_t t = 0; t < fewer(15); t++) step(&device);
  assert_int_equal(sb_sim_hash(cpu.sim), sb_sim_hash(device.sim));
  stop(&cpu);
  stop(&device);
}

static void test_warm_snapshot(void **state) { (void)state, cross_over(pyramid), cross_over(xpbd_pyramid), cross_over(linked[0]); }

static const char fall[] = "[world]\nscene = generator:cloth\n[determinism]\nmode = %s\n[scene]\nmodel = springs\nrows = 4\ncolumns = 4\n[solver.all]\nplugin = %s\n";

/* A shader that breaks the rules is refused with the finding above Off, and taken in Off. */
static void test_refuses_shaders(void **state)
{
  static const struct { const char *id, *finding; } fixtures[] = {
      {"shader_contraction", "NoContraction"}, {"shader_inversesqrt", "InverseSqrt"}, {"shader_float_atomic", "atomic"}};
  (void)state;
  for (size_t i = 0; i < sizeof fixtures / sizeof *fixtures; i++) {
    char text[600];
    snprintf(text, sizeof text, fall, "CrossPlatform", fixtures[i].id);
    refuse(text, "vulkan", SB_E_MODE, SB_CODE_MODE_REFUSED, "breaks the number rules");
    refuse(text, "vulkan", SB_E_MODE, SB_CODE_MODE_REFUSED, fixtures[i].finding);
  }
  for (size_t i = 0; i < 3; i++) {
    char text[600];
    sb_session s = {0};
    sb_diagnostics diag = {0};
    sb_sim *sim = NULL;
    snprintf(text, sizeof text, fall, "Off", fixtures[i].id);
    sb_status status = open_text(text, on("vulkan"), &s, &diag);
    if (!status) status = sb_sim_create(&s.sim, &sim, &diag);
    if (!status) status = sb_sim_step(sim, &diag);
    print_messages(&diag);
    assert_int_equal(status, SB_OK);
    assert_int_equal(s.mode, SB_MODE_OFF);
    sb_sim_destroy(sim);
    sb_session_close(&s);
  }
}

int main(void)
{
  if (no_device()) return SKIP;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cloth),      cmocka_unit_test(test_worlds),   cmocka_unit_test(test_folded),       cmocka_unit_test(test_soft),
      cmocka_unit_test(test_rope),       cmocka_unit_test(test_one_by_one), cmocka_unit_test(test_hash),       cmocka_unit_test(test_snapshot),
      cmocka_unit_test(test_difference), cmocka_unit_test(test_nan),      cmocka_unit_test(test_mixed), cmocka_unit_test(test_several), cmocka_unit_test(test_two_there),        cmocka_unit_test(test_refuses_bodies),
      cmocka_unit_test(test_refuses_rest), cmocka_unit_test(test_explicit_soft), cmocka_unit_test(test_explicit_cloth), cmocka_unit_test(test_explicit_carried), cmocka_unit_test(test_pyramid), cmocka_unit_test(test_pile), cmocka_unit_test(test_hills), cmocka_unit_test(test_triangle_overflow), cmocka_unit_test(test_shapes), cmocka_unit_test(test_xpbd_bodies), cmocka_unit_test(test_xpbd_pile), cmocka_unit_test(test_linked), cmocka_unit_test(test_tied), cmocka_unit_test(test_explicit_bodies), cmocka_unit_test(test_pokes), cmocka_unit_test(test_contact_overflow), cmocka_unit_test(test_warm_snapshot), cmocka_unit_test(test_refuses_shaders),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
