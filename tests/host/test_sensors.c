/* Sensors in a run: what they measure, against mechanics and difference quotients; that they are state like any other. */
#include "host_fixture.h"

#include <math.h>

typedef struct run {
  sb_session session;
  sb_sim *sim;
  sb_diagnostics diag;
} run;

static run start(const char *model, const char *more, uint32_t threads)
{
  char path[64], text[1024];
  run r = {0};
  write_ini(model, path);
  snprintf(text, sizeof text,
           "[world]\nscene = %s\ndt = 1/1000\n%s\n[determinism]\nmode = Local\n[solver.s]\nplugin = featherstone\nbodies = *\n", path,
           more);
  sb_status status = open_text(text, (sb_session_options){.threads = threads}, &r.session, &r.diag);
  if (!status) status = sb_sim_create(&r.session.sim, &r.sim, &r.diag);
  if (status) print_messages(&r.diag);
  assert_int_equal(status, SB_OK);
  unlink(path);
  return r;
}

static void stop(run *r)
{
  sb_sim_destroy(r->sim);
  sb_session_close(&r->session);
  sb_diagnostics_clear(&r->diag);
}

static void step(run *r, int ticks)
{
  for (int i = 0; i < ticks; i++) assert_int_equal(sb_sim_step(r->sim, &r->diag), SB_OK);
}

/* Value of the sensor with this name. */
static const float *value(const run *r, const char *name)
{
  uint32_t count = sb_model_store_view(r->session.model)->sensor_count;
  for (uint32_t i = 0; i < count; i++)
    if (!strcmp(sb_model_store_name(r->session.model, SB_NAME_SENSOR, i), name)) return sb_sim_sensor_data(r->sim) + 4 * i;
  fail_msg("no sensor %s", name);
  return NULL;
}

static void near_v(const float *found, double x, double y, double z, double tolerance)
{
  const double expected[3] = {x, y, z};
  for (int i = 0; i < 3; i++)
    if (!(fabs((double)found[i] - expected[i]) <= tolerance))
      fail_msg("component %d: expected %g, found %g", i, expected[i], (double)found[i]);
}

/* A post bolted down, upside down; a ball in free fall that turns about z at 2 rad/s, its site 0.5 m from the axis. */
static const char inertial[] =
    "<mujoco><worldbody><body name='post' euler='180 0 0'><geom size='.1'/><site name='top'/></body>"
    "<body name='ball' pos='0 0 50'><freejoint/><geom size='.2'/><site name='rim' pos='.5 0 0' euler='0 0 90'/></body></worldbody>"
    "<sensor><accelerometer name='rest' site='top'/><accelerometer name='acc' site='rim'/><gyro name='gyro' site='rim'/>"
    "<velocimeter name='vel' site='rim'/><framelinacc name='lin' objtype='body' objname='ball'/>"
    "<frameangvel name='spin' objtype='site' objname='rim'/><gyro name='cut' site='rim' cutoff='1.5'/><clock name='clock'/>"
    "<framexaxis name='x' objtype='site' objname='rim'/></sensor>"
    "<keyframe><key name='turn' qpos='0 0 50 1 0 0 0' qvel='0 0 0 0 0 2'/></keyframe></mujoco>";

static void test_inertial(void **state)
{
  (void)state;
  run r = start(inertial, "keyframe = turn", 1);
  near_v(value(&r, "gyro"), 0, 0, 2, 1e-6); /* at tick 0 already */
  assert_true(value(&r, "clock")[0] == 0.0f);
  step(&r, 250);
  double angle = 2.0 * 0.25;
  near_v(value(&r, "rest"), 0, 0, -9.81, 1e-4);
  near_v(value(&r, "lin"), 0, 0, 0, 2e-2);
  near_v(value(&r, "gyro"), 0, 0, 2, 1e-5);
  near_v(value(&r, "spin"), 0, 0, 2, 1e-5);
  near_v(value(&r, "cut"), 0, 0, 1.5, 0);
  /* The rim feels r w^2 = 2 towards the axis, which is -x of the ball and +y of the site; its speed r w = 1 is the site's x. */
  near_v(value(&r, "acc"), 0, 2, 0, 2e-2);
  near_v(value(&r, "vel"), 1, 0, -9.81 * 0.25, 1e-2);
  near_v(value(&r, "x"), -sin(angle), cos(angle), 0, 1e-4);
  assert_float_equal(value(&r, "clock")[0], 0.25, 1e-6);
  stop(&r);
}

/* A double pendulum: relative velocities are the difference quotients of relative positions. */
static const char pendulum[] =
    "<mujoco><worldbody><body name='a' pos='0 0 2'><joint name='ja' axis='0 1 0' range='-5 60'/><geom size='.1' pos='.5 0 0'/>"
    "<site name='sa' pos='.3 .1 0' euler='20 30 40'/><body name='b' pos='1 0 0'><joint name='jb' axis='0 1 1'/>"
    "<geom size='.1' pos='.4 0 0'/><site name='sb' pos='.4 0 .2'/></body></body>"
    "<body name='c'><joint name='jc' type='ball'/><geom size='.1' pos='.2 0 0'/></body></worldbody>"
    "<tendon><fixed name='t'><joint joint='ja' coef='2'/><joint joint='jb' coef='-1'/></fixed></tendon>"
    "<actuator><motor name='m' tendon='t' gear='3' ctrlrange='-2 2'/><motor name='n' joint='jb' gear='.5'/>"
    "<position name='p' joint='ja' kp='10' kv='1' gear='2'/></actuator>"
    "<sensor><framepos name='pos' objtype='site' objname='sb' reftype='site' refname='sa'/>"
    "<framelinvel name='vel' objtype='site' objname='sb' reftype='site' refname='sa'/>"
    "<frameangvel name='spin' objtype='xbody' objname='b' reftype='xbody' refname='a'/>"
    "<framequat name='quat' objtype='xbody' objname='b' reftype='xbody' refname='a'/>"
    "<jointpos name='ja' joint='ja'/><jointvel name='va' joint='ja'/><jointlimitpos name='la' joint='ja'/>"
    "<jointlimitvel name='lv' joint='ja'/><tendonpos name='tp' tendon='t'/><tendonvel name='tv' tendon='t'/>"
    "<actuatorpos name='ap' actuator='m'/><actuatorvel name='av' actuator='m'/><actuatorfrc name='af' actuator='m'/>"
    "<actuatorfrc name='pf' actuator='p'/><jointactuatorfrc name='fb' joint='jb'/><jointactuatorfrc name='fa' joint='ja'/>"
    "<ballquat name='bq' joint='jc'/><ballangvel name='bv' joint='jc'/></sensor>"
    "<keyframe><key name='k' qpos='.5 -.4 1 0 0 0' qvel='1 2 3 4 5'/></keyframe></mujoco>";

static void test_relative(void **state)
{
  (void)state;
  run r = start(pendulum, "keyframe = k", 1);
  sb_state *s = sb_sim_state(r.sim);
  s->actuator_ctrl[0] = 5.0f, s->actuator_ctrl[1] = 4.0f, s->actuator_ctrl[2] = 1.0f;
  near_v(value(&r, "bv"), 3, 4, 5, 1e-6);
  float before[3], quat[4];
  step(&r, 20);
  memcpy(before, value(&r, "pos"), sizeof before);
  memcpy(quat, value(&r, "quat"), sizeof quat);
  float vel[3], spin[3];
  step(&r, 1);
  memcpy(vel, value(&r, "vel"), sizeof vel);
  memcpy(spin, value(&r, "spin"), sizeof spin);
  step(&r, 1);
  const float *after = value(&r, "pos");
  for (int i = 0; i < 3; i++) assert_float_equal((double)(after[i] - before[i]) / 0.002, vel[i], 2e-2);
  /* 2 q'/dt q* is the spin in the reference axes. */
  const float *q = value(&r, "quat");
  double d[4], w[3];
  for (int i = 0; i < 4; i++) d[i] = (double)(q[i] - quat[i]) / 0.002;
  w[0] = 2 * (-d[3] * q[0] + d[0] * q[3] - d[1] * q[2] + d[2] * q[1]);
  w[1] = 2 * (-d[3] * q[1] + d[1] * q[3] - d[2] * q[0] + d[0] * q[2]);
  w[2] = 2 * (-d[3] * q[2] + d[2] * q[3] - d[0] * q[1] + d[1] * q[0]);
  near_v(spin, w[0], w[1], w[2], 3e-2);
  /* Sums written out. */
  double qa = s->joint_q[0], va = s->joint_qd[0], length = 2 * qa - (double)s->joint_q[1], rate = 2 * va - (double)s->joint_qd[1];
  assert_float_equal(value(&r, "ja")[0], qa, 0);
  assert_float_equal(value(&r, "tp")[0], length, 1e-6);
  assert_float_equal(value(&r, "tv")[0], rate, 1e-5);
  assert_float_equal(value(&r, "ap")[0], 3 * length, 1e-5);
  assert_float_equal(value(&r, "av")[0], 3 * rate, 1e-4);
  assert_true(value(&r, "af")[0] == 2.0f); /* cut to the range */
  assert_float_equal(value(&r, "fb")[0], -6.0 + 2.0, 1e-6);
  /* kp (ctrl - 2 q) - kv 2 qd, and twice that with 2 * 3 * 2 of the tendon on the joint */
  double servo = 10 * (1 - 2 * qa) - 2 * va;
  assert_float_equal(value(&r, "pf")[0], servo, 1e-4);
  assert_float_equal(value(&r, "fa")[0], 2 * servo + 12, 1e-3);
  stop(&r);
}

/* Beyond its limit a joint's distance is below 0; between the limits it is 0. */
static void test_limits(void **state)
{
  (void)state;
  run r = start(pendulum, "", 1);
  step(&r, 1);
  assert_true(value(&r, "la")[0] == 0.0f);
  sb_state *s = sb_sim_state(r.sim);
  s->joint_q[0] = -0.25f, s->joint_qd[0] = -1.0f;
  step(&r, 1);
  const double limit = -5 * 3.14159265358979 / 180;
  assert_float_equal(value(&r, "la")[0], (double)s->joint_q[0] - limit, 1e-6);
  assert_true(value(&r, "la")[0] < 0.0f);
  assert_float_equal(value(&r, "lv")[0], s->joint_qd[0], 0);
  stop(&r);
}

/* The second world measures what the first does, threads change nothing, and a restored run goes on with the same bits. */
static void test_state(void **state)
{
  (void)state;
  run a = start(pendulum, "keyframe = k\nreplicate = 2", 1), b = start(pendulum, "keyframe = k\nreplicate = 2", 2);
  void *bytes;
  size_t size;
  sb_difference difference;
  step(&a, 10), step(&b, 10);
  uint32_t each = sb_model_store_view(a.session.one)->sensor_count;
  assert_memory_equal(sb_sim_sensor_data(a.sim), sb_sim_sensor_data(a.sim) + 4 * each, 4 * each * sizeof(float));
  assert_int_equal(sb_sim_snapshot(a.sim, &bytes, &size, NULL), SB_OK);
  step(&a, 10), step(&b, 10);
  assert_false(sb_sim_compare(a.sim, b.sim, &difference));
  assert_int_equal(sb_sim_restore(b.sim, bytes, size, NULL), SB_OK);
  step(&b, 10);
  assert_false(sb_sim_compare(a.sim, b.sim, &difference));
  assert_true(sb_sim_hash(a.sim) == sb_sim_hash(b.sim));
  assert_string_equal(a.session.parts[a.session.part_count - 1].name, "sensors");
  assert_int_equal(a.session.parts[a.session.part_count - 1].verified, SB_MODE_CROSS_PLATFORM);
  /* A sensor's value is in the hash. */
  uint64_t hash = sb_sim_hash(a.sim);
  const sb_array *array = sb_registry_find(sb_sim_registry(a.sim), "sensors.sensor_data");
  array->data[0] ^= 1u;
  assert_true(sb_sim_hash(a.sim) != hash);
  free(bytes);
  stop(&a), stop(&b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_inertial), cmocka_unit_test(test_relative), cmocka_unit_test(test_limits),
                                     cmocka_unit_test(test_state)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
