/* Public robot models, each loaded whole: published counts, and nothing that moves is left out. Skipped where absent.
 */
#include "scene_fixture.h"

#include <math.h>
#include <sys/stat.h>

typedef struct shared_model {
  const char *path;
  uint32_t bodies, dofs, actuators, tendons, sensors, equalities;
} shared_model;

/* The counts are those that the files' own headers state, or of the elements in them. */
static const shared_model models[] = {
    {"mujoco/humanoid.xml", 16, 27, 21, 2, 0, 0},
    {"mujoco/22_humanoids.xml", 352, 594, 462, 44, 0, 0},
    {"mujoco/humanoid100.xml", 116, 627, 21, 2, 0, 0},
    {"mujoco/car.xml", 3, 8, 2, 2, 2, 0},
    {"bullet/cartpole.urdf", 3, 2, 0, 0, 0, 0},
    {"bullet/r2d2.urdf", 16, 8, 0, 0, 0, 0},
    {"panda/panda.urdf", 11, 9, 0, 0, 0, 1}, /* 13 links, two of them without mass */
    {"kuka_iiwa/model.urdf", 8, 7, 0, 0, 0, 0},
    {"double_pendulum/double_pendulum_simple.urdf", 3, 2, 0, 0, 0, 0},
};

/* What may be left out: softness of contacts and limits, which solvers set, what an attached file says for itself
 * alone, and a mesh whose file does not lie beside the model. */
static bool is_harmless(const char *message)
{
  static const char *const parts[] = {"'solimp",  "'solref", "'priority'", "keyframe of an attached model",
                                      "without its file"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (strstr(message, parts[i])) return true;
  return false;
}

static void load(const char *path, sb_model_store **store)
{
  sb_scene_request request = {.scene = path};
  sb_diagnostics diag = {0};
  sb_status status = sb_scene_load(&request, store, &diag);
  for (size_t i = 0; i < diag.count; i++)
    if (diag.items[i].severity != SB_NOTE && !is_harmless(diag.items[i].message))
      fail_msg("%s: %s", diag.items[i].where, diag.items[i].message);
  assert_int_equal(status, SB_OK);
  sb_diagnostics_clear(&diag);
}

static void test_models(void **state)
{
  (void)state;
  if (access(SAMEBIT_SHARED, R_OK) != 0) {
    print_message(SAMEBIT_SHARED " is absent\n");
    skip();
  }
  for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
    char path[1024];
    sb_model_store *store = NULL;
    snprintf(path, sizeof path, "%s/%s", SAMEBIT_SHARED, models[i].path);
    load(path, &store);
    const sb_model *m = sb_model_store_view(store);
    const uint32_t found[6] = {m->body_count,   m->dof_count,    m->actuator_count,
                               m->tendon_count, m->sensor_count, m->equality_count};
    const uint32_t wanted[6] = {models[i].bodies,  models[i].dofs,    models[i].actuators,
                                models[i].tendons, models[i].sensors, models[i].equalities};
    for (int k = 0; k < 6; k++)
      if (found[k] != wanted[k]) fail_msg("%s: count %d is %u, expected %u", models[i].path, k, found[k], wanted[k]);
    sb_model_store_free(store);
  }
}

/* The motors of the car drive its wheels through tendons: forward turns both alike, turn turns them against each other.
 */
static void test_car(void **state)
{
  (void)state;
  sb_model_store *store = NULL;
  if (access(SAMEBIT_SHARED "/mujoco/car.xml", R_OK) != 0) skip();
  load(SAMEBIT_SHARED "/mujoco/car.xml", &store);
  const sb_model *m = sb_model_store_view(store);
  static const float coef[4] = {0.5f, 0.5f, -0.5f, 0.5f};
  assert_memory_equal(m->tendon_term_coef, coef, sizeof coef);
  assert_true(m->actuator_tendon[0] == 0 && m->actuator_tendon[1] == 1);
  assert_int_equal(m->sensor_type[0], SB_SENSOR_JOINT_ACTUATOR_FORCE);
  assert_int_equal(m->sensor_dof[0], fixture_name(store, SB_NAME_DOF, m->dof_count, "right"));
  sb_model_store_free(store);
}

/* The humanoids of the circle: each is turned 16.36 degrees further, 4 m from the middle, with a name of its own. */
static void test_circle(void **state)
{
  (void)state;
  sb_model_store *store = NULL;
  if (access(SAMEBIT_SHARED "/mujoco/22_humanoids.xml", R_OK) != 0) skip();
  load(SAMEBIT_SHARED "/mujoco/22_humanoids.xml", &store);
  const sb_model *m = sb_model_store_view(store);
  for (int i = 0; i < 22; i++) {
    char name[32];
    snprintf(name, sizeof name, "_torso-%02d", i);
    const float *q = m->body_q + 7 * fixture_name(store, SB_NAME_BODY, m->body_count, name);
    double angle = i * 16.36 * 3.14159265358979323846 / 180.0;
    assert_float_equal(q[0], 4.0 * sin(angle), 1e-5);
    assert_float_equal(q[1], -4.0 * cos(angle), 1e-5);
    assert_float_equal(q[2], 1.282, 1e-6);
  }
  sb_model_store_free(store);
}

/* The hammock looks for its humanoid in a folder beside its own. */
static void test_hammock(void **state)
{
  (void)state;
  if (access(SAMEBIT_SHARED "/mujoco/hammock.xml", R_OK) != 0) skip();
  char folder[] = "/tmp/samebit_shared_XXXXXX", path[1024], target[1024];
  assert_non_null(mkdtemp(folder));
  static const char *const names[2] = {"hammock", "humanoid"};
  for (int i = 0; i < 2; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/%s/%s.xml", folder, names[i], names[i]);
    char *real = realpath(SAMEBIT_SHARED, NULL);
    snprintf(target, sizeof target, "%s/mujoco/%s.xml", real ? real : "", names[i]);
    free(real);
    assert_int_equal(symlink(target, path), 0);
  }
  snprintf(path, sizeof path, "%s/hammock/hammock.xml", folder);
  sb_scene_request request = {.scene = path};
  sb_diagnostics diag = {0};
  sb_model_store *store = NULL;
  assert_int_equal(sb_scene_load(&request, &store, &diag), SB_OK);
  const sb_model *m = sb_model_store_view(store);
  uint32_t pinned = 0;
  for (uint32_t p = 0; p < m->particle_count; p++) pinned += m->particle_inv_mass[p] == 0.0f;
  assert_true(m->particle_count == 99 && pinned == 4 && m->tri_count == 160 && m->spring_count == 10 * 9 + 11 * 8 + 80);
  assert_int_equal(sb_model_store_view(store)->dof_count, 27);
  assert_int_equal(sb_model_store_view(store)->actuator_count, 21);
  sb_diagnostics_clear(&diag);
  sb_model_store_free(store);
  for (int i = 0; i < 2; i++) {
    snprintf(path, sizeof path, "%s/%s/%s.xml", folder, names[i], names[i]);
    unlink(path);
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    rmdir(path);
  }
  rmdir(folder);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_models), cmocka_unit_test(test_car),
                                     cmocka_unit_test(test_circle), cmocka_unit_test(test_hammock)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
