/* Public robot models, each loaded whole: published counts, and nothing that moves is left out. Skipped where absent. */
#include "scene_fixture.h"

#include <sys/stat.h>

typedef struct shared_model {
  const char *path;
  uint32_t bodies, dofs, actuators, tendons, sensors;
} shared_model;

/* The counts are those that the files' own headers state, or of the elements in them. */
static const shared_model models[] = {
    {"mujoco/humanoid.xml", 16, 27, 21, 2, 0},        {"mujoco/22_humanoids.xml", 352, 594, 462, 44, 0},
    {"mujoco/humanoid100.xml", 116, 627, 21, 2, 0},   {"mujoco/car.xml", 3, 8, 2, 2, 2},
    {"bullet/cartpole.urdf", 3, 2, 0, 0, 0},          {"bullet/r2d2.urdf", 0, 0, 0, 0, 0},
    {"panda/panda.urdf", 0, 0, 0, 0, 0},              {"kuka_iiwa/model.urdf", 8, 7, 0, 0, 0},
    {"double_pendulum/double_pendulum_simple.urdf", 0, 2, 0, 0, 0},
};

/* What may be left out: softness of contacts and limits, which solvers set, what an attached file says for itself alone, and
 * geometry that has a test of its own. */
static bool is_harmless(const char *message)
{
  static const char *const parts[] = {"'solimp", "'solref", "'priority'", "keyframe of an attached model", "geometry", "<mesh>",
                                      "<cylinder>"};
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
    print_message("%s: %u bodies, %u dofs, %u actuators, %u tendons, %u equalities\n", models[i].path, m->body_count, m->dof_count, m->actuator_count, m->tendon_count, m->equality_count);
    sb_model_store_free(store);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_models)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
