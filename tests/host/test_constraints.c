/* Equality constraints and tendons in a run: motors on tendons, what solvers refuse, what may not be divided. */
#include "host_fixture.h"

#define MODEL(sections)                                                                                                \
  "<mujoco><worldbody><body name='a'><joint name='ja' axis='0 1 0'/><geom size='.1' pos='.5 0 0'/></body>"             \
  "<body name='b' pos='0 3 0'><joint name='jb' axis='0 1 0'/><geom size='.1' pos='.5 0 0'/></body></worldbody>"        \
  sections "</mujoco>"
#define TENDON(attributes)                                                                                             \
  "<tendon><fixed name='t' " attributes "><joint joint='ja' coef='.5'/><joint joint='jb' coef='-2'/></fixed></tendon>"

/* Opens a session on a model of its own; the parts say which solver has which body. */
static sb_status open_model(const char *model, const char *parts, sb_session *session, sb_diagnostics *diag)
{
  char path[64], text[1024];
  write_ini(model, path);
  snprintf(text, sizeof text,
           "[world]\nscene = %s\nreplicate = 2\ndt = 1/200\n[determinism]\nmode = Off\n[coupling]\ncontacts = none\n%s",
           path, parts);
  sb_status status = open_text(text, (sb_session_options){0}, session, diag);
  unlink(path);
  return status;
}

#define BOTH(plugin) "[solver.s]\nplugin = " plugin "\nbodies = *\n"

/* gear 3, control 4 cut to 2: a force of 6, so joint_f is 3 and -12, in both worlds; a second motor adds to it. */
static void test_motor(void **state)
{
  (void)state;
  static const char *const plugins[] = {BOTH("featherstone"), BOTH("semi_implicit")};
  for (int i = 0; i < 2; i++) {
    sb_session session;
    sb_diagnostics diag = {0};
    sb_sim *sim;
    assert_int_equal(open_model(MODEL(TENDON("") "<actuator><motor tendon='t' gear='3' ctrlrange='-2 2'/>"
                                                 "<motor joint='jb' gear='10'/></actuator>"),
                                plugins[i], &session, &diag),
                     SB_OK);
    assert_int_equal(sb_sim_create(&session.sim, &sim, &diag), SB_OK);
    sb_state *now = sb_sim_state(sim);
    now->actuator_ctrl[2] = 4.0f;
    now->actuator_ctrl[3] = 1.0f;
    assert_int_equal(sb_sim_step(sim, &diag), SB_OK);
    assert_true(now->joint_f[0] == 0.0f && now->joint_f[1] == 0.0f);
    assert_true(now->joint_f[2] == 3.0f && now->joint_f[3] == -2.0f); /* 10 - 12 */
    assert_true(now->joint_qd[2] > now->joint_qd[0] && now->joint_qd[3] < now->joint_qd[1]);
    assert_int_equal(sb_array_body(sb_sim_registry(sim), sb_registry_find(sb_sim_registry(sim), "state.actuator_ctrl"), 2), 2);
    sb_sim_destroy(sim);
    sb_session_close(&session);
    sb_diagnostics_clear(&diag);
  }
}

/* A weight of 2 kg on a vertical slide that a tendon with coefficient -2 runs over: after 10 s its length and speed. */
static void hang(const char *attributes, const char *plugin, double *length, double *speed)
{
  char model[1024], parts[128];
  sb_session session;
  sb_diagnostics diag = {0};
  sb_sim *sim;
  snprintf(model, sizeof model,
           "<mujoco><worldbody><body><joint name='s' type='slide'/><geom size='.1' mass='2'/></body></worldbody>"
           "<tendon><fixed %s><joint joint='s' coef='-2'/></fixed></tendon></mujoco>",
           attributes);
  snprintf(parts, sizeof parts, "[solver.s]\nplugin = %s\nbodies = *\n", plugin);
  assert_int_equal(open_model(model, parts, &session, &diag), SB_OK);
  assert_int_equal(sb_sim_create(&session.sim, &sim, &diag), SB_OK);
  for (int i = 0; i < 2000; i++) assert_int_equal(sb_sim_step(sim, &diag), SB_OK);
  *length = -2.0 * (double)sb_sim_state(sim)->joint_q[1];
  *speed = -2.0 * (double)sb_sim_state(sim)->joint_qd[1];
  sb_sim_destroy(sim);
  sb_session_close(&session);
  sb_diagnostics_clear(&diag);
}

/* The weight pulls with m g = 19.62 N, which is 9.81 N along the tendon. */
static void test_tendon_forces(void **state)
{
  (void)state;
  static const char *const plugins[] = {"featherstone", "semi_implicit"};
  double length, speed;
  for (int i = 0; i < 2; i++) {
    hang("stiffness='98.1' damping='8' springlength='-1 .5'", plugins[i], &length, &speed);
    assert_float_equal(length, 0.6, 1e-4);
    assert_float_equal(speed, 0.0, 1e-4);
    hang("damping='4.905'", plugins[i], &length, &speed);
    assert_float_equal(speed, 2.0, 1e-3);
    /* Half the load is carried; then all of it, with the creep that a friction of at most 3 m / (4 dt) has. */
    hang("frictionloss='4.905'", plugins[i], &length, &speed);
    assert_float_equal(speed, 98.1, 0.1);
    hang("frictionloss='20'", plugins[i], &length, &speed);
    assert_float_equal(speed, 9.81 * 4.0 / 3.0 * 0.005 / 0.125, 1e-3);
    hang("range='-1 .25'", plugins[i], &length, &speed);
    assert_float_equal(speed, 0.0, 1e-4);
    assert_float_equal(length, 0.25, 0.01);
    hang("stiffness='1e9' damping='1e9'", plugins[i], &length, &speed);
    assert_float_equal(length, 0.0, 0.05);
  }
}

/* Weights of 1 kg and 3 kg on vertical slides with q0 = 0.1 - 2 q1. */
static void test_gear(void **state)
{
  (void)state;
  static const char *const plugins[] = {BOTH("featherstone"), BOTH("semi_implicit")};
  static const char model[] = "<mujoco><worldbody><body><joint name='s' type='slide'/><geom size='.1' mass='1'/></body>"
                              "<body pos='5 0 0'><joint name='t' type='slide'/><geom size='.1' mass='3'/></body></worldbody>"
                              "<equality><joint joint1='s' joint2='t' polycoef='.1 -2'/></equality></mujoco>";
  for (int i = 0; i < 2; i++) {
    sb_session session;
    sb_diagnostics diag = {0};
    sb_sim *sim;
    assert_int_equal(open_model(model, plugins[i], &session, &diag), SB_OK);
    assert_int_equal(sb_sim_create(&session.sim, &sim, &diag), SB_OK);
    const float *q = sb_sim_state(sim)->joint_q + 2, *qd = sb_sim_state(sim)->joint_qd + 2;
    for (int k = 0; k < 200; k++) assert_int_equal(sb_sim_step(sim, &diag), SB_OK);
    /* Along q1: mass 3 + 4 * 1, force (-3 + 2 * 1) g; the gear carries 6/7 g, which stretches it by force / k. */
    assert_float_equal((double)qd[1], -9.81 / 7.0, 0.02);
    double inertia = 0.25 / (1.0 + 4.0 / 3.0), stretch = (1.0 + 2.0 / 7.0) * 9.81 / (0.5 * inertia * 200.0 * 200.0);
    assert_float_equal((double)q[0] - 0.1 + 2.0 * (double)q[1], -stretch, 0.2 * stretch);
    sb_sim_destroy(sim);
    sb_session_close(&session);
    sb_diagnostics_clear(&diag);
  }
}

static void refused(const char *model, const char *parts, sb_code code, const char *says)
{
  sb_session session;
  sb_diagnostics diag = {0};
  sb_sim *sim = NULL;
  sb_status status = open_model(model, parts, &session, &diag);
  if (!status) status = sb_sim_create(&session.sim, &sim, &diag);
  if (!says) assert_int_equal(status, SB_OK);
  if (says && count_messages(&diag, code, says) != 1) {
    print_messages(&diag);
    fail_msg("expected '%s' once", says);
  }
  sb_sim_destroy(sim);
  sb_session_close(&session);
  sb_diagnostics_clear(&diag);
}

static void test_division(void **state)
{
  (void)state;
#define EACH "[solver.x]\nplugin = featherstone\nbodies = a\n[solver.y]\nplugin = featherstone\nbodies = b\n"
  refused(MODEL("<equality><connect name='pin' body1='a' body2='b' anchor='0 0 0'/></equality>"), EACH, SB_CODE_BODY_SPLIT,
          "equality constraint 0 \"pin\" holds bodies of [solver.x] and [solver.y]");
  refused(MODEL(TENDON("frictionloss='1'")), EACH, SB_CODE_BODY_SPLIT, "tendon 0 \"t\" holds bodies");
  refused(MODEL(TENDON("") "<actuator><motor tendon='t'/></actuator>"), EACH, SB_CODE_BODY_SPLIT, NULL);
  /* What a solver does not have is noted, once. */
  static const char pinned[] = MODEL("<equality><connect body1='a' anchor='0 0 0'/></equality>");
  refused(pinned, EACH, SB_CODE_SOLVER_SOFTENED, "1 constraints of each world");
  refused(MODEL(TENDON("range='-1 1'")), BOTH("featherstone"), SB_CODE_SOLVER_SOFTENED, "1 constraints of each world");
}

/* A pendulum of 2 kg whose end a connect holds at its height, and a box that a weld holds beside a bolted post: they carry their
 * weights with the sag that the spring m / (2 dt^2) has, under every solver without constraints of its own, and come to rest. */
static void test_soft(void **state)
{
  (void)state;
  static const char *const plugins[] = {BOTH("featherstone") "substeps = 8\n", BOTH("semi_implicit") "substeps = 8\n"};
  static const char model[] =
      "<mujoco><worldbody><site name='hook' pos='1 0 0'/><body name='a'><joint name='j' axis='0 1 0' damping='.2'/>"
      "<geom size='.1' mass='2' pos='.5 0 0'/><site name='end' pos='1 0 0'/></body>"
      "<body name='b' pos='0 3 1'><freejoint/><geom type='box' size='.1 .1 .1' mass='3'/></body></worldbody>"
      "<equality><connect site1='hook' site2='end'/><weld body1='b' anchor='-.5 3 1'/></equality></mujoco>";
  for (int i = 0; i < 2; i++) {
    sb_session session;
    sb_diagnostics diag = {0};
    sb_sim *sim;
    assert_int_equal(open_model(model, plugins[i], &session, &diag), SB_OK);
    assert_int_equal(sb_sim_create(&session.sim, &sim, &diag), SB_OK);
    for (int tick = 0; tick < 4000; tick++) assert_int_equal(sb_sim_step(sim, &diag), SB_OK);
    const sb_model *m = sb_model_store_view(session.model);
    const sb_state *s = sb_sim_state(sim);
    /* Inertia of the ball 0.4 * 2 * 0.01; the hook carries half of 2 g. */
    double inverse = 1 / 2.0 + 0.25 / 0.008, k = 0.25 / inverse * 200 * 200;
    assert_float_equal((double)s->joint_q[0], 9.81 / k, 0.06 * 9.81 / k); /* semi_implicit's own joint sags as well */
    /* The weld's point carries 3 g; its moment 3 g * 0.5 the turn, which lowers the box by half the angle. */
    double tensor = 0.02 * 3 / 3, lift = 0.25 / (1 / 3.0 + 0.25 / tensor) * 200 * 200, turn = 0.25 * tensor * 200 * 200;
    const float *q = s->body_q + 7;
    double angle = 3 * 9.81 * 0.5 / turn, down = 3 * 9.81 / lift + 0.5 * angle;
    assert_float_equal(1.0 - (double)q[2], down, 0.05 * down);
    assert_float_equal(2.0 * (double)q[4], angle, 0.05 * angle);
    for (uint32_t v = 0; v < m->body_count * 6; v++) assert_float_equal(s->body_qd[v], 0, 1e-3);
    sb_sim_destroy(sim);
    sb_session_close(&session);
    sb_diagnostics_clear(&diag);
  }
}

/* The linkages from file to pins: attached sensors see the loops closed and the load bolted, in every world alike. */
static void test_linkage(void **state)
{
  (void)state;
  static const char *const sets[] = {"world.replicate=2"};
  sb_session_options options = {.plugin_dirs = fixture_dirs, .plugin_dir_count = 2, .sets = sets, .set_count = 1};
  sb_session session;
  sb_diagnostics diag = {0};
  sb_sim *sim;
  assert_int_equal(sb_session_open(SAMEBIT_CONF "/linkage.ini", &options, &session, &diag), SB_OK);
  assert_int_equal(diag.count, 0);
  assert_int_equal(sb_sim_create(&session.sim, &sim, &diag), SB_OK);
  const sb_model *m = sb_model_store_view(session.model);
  float swing = 0.0f;
  for (int tick = 0; tick < 800; tick++) {
    assert_int_equal(sb_sim_step(sim, &diag), SB_OK);
    for (uint32_t s = 0; s < m->sensor_count; s++) {
      const float *v = sb_sim_sensor_data(sim) + 4 * s;
      if (m->sensor_type[s] == SB_SENSOR_JOINT_POS && v[0] > swing) swing = v[0];
      if (m->sensor_type[s] != SB_SENSOR_FRAME_POS) continue;
      for (int i = 0; i < 3; i++)
        if (!(v[i] > -2e-3f && v[i] < 2e-3f)) fail_msg("tick %d: the pin is %g m apart", tick, (double)v[i]);
    }
  }
  assert_true(swing > 0.2f); /* it moves */
  uint32_t half = m->sensor_count / 2;
  assert_memory_equal(sb_sim_sensor_data(sim), sb_sim_sensor_data(sim) + 4 * half, 4 * half * sizeof(float));
  sb_sim_destroy(sim);
  sb_session_close(&session);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_motor),                                      cmocka_unit_test(test_division), cmocka_unit_test(test_tendon_forces), cmocka_unit_test(test_gear), cmocka_unit_test(test_linkage), cmocka_unit_test(test_soft)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
