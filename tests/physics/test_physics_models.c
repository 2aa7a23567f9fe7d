/* Public robot models under steel for 10,000 ticks each: they load whole, stay finite, and nothing sinks far. They lie beside the project;
 * without them the test says so and is skipped. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "physics_scene.h"

#define TICKS 10000

static const char *folder;

/* overlap: m that the deepest contact may have. Hulls of panda, kuka and the double pendulum overlap in the first pose; there it is a tenth more
 * than that. */
typedef struct robot {
  const char *file;
  bool floating;
  double overlap;
} robot;

static const robot robots[] = {
    {"mujoco/humanoid.xml", false, 0.01},  {"mujoco/22_humanoids.xml", false, 0.02},
    {"mujoco/humanoid100.xml", false, 0.05}, {"mujoco/car.xml", false, 0.005},
    {"panda/panda.urdf", false, 0.045},    {"kuka_iiwa/model.urdf", false, 0.069},
    {"bullet/r2d2.urdf", true, 0.001},         {"bullet/cartpole.urdf", false, 0.001},
    {"double_pendulum/double_pendulum_simple.urdf", false, 0.014},
};

static void test_robots(void **state)
{
  (void)state;
  uint32_t found = 0;
  for (size_t i = 0; i < sizeof robots / sizeof robots[0]; i++) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, robots[i].file);
    sb_model_store *one = physics_load(path, NULL, robots[i].floating);
    if (!one) {
      print_message("  %s is absent: left out\n", robots[i].file);
      continue;
    }
    found++;
    physics p = physics_start_model(one, STEEL, 200, PHYSICS_NO_PARAMS);
    physics_step(&p, TICKS); /* fails when anything becomes NaN */
    print_message("  %s\n", robots[i].file);
    physics_bound(&p, "  deepest contact in 10,000 ticks, m", (double)sb_sim_statistics(p.sim).largest_penetration, robots[i].overlap);
    physics_stop(&p);
  }
  physics_verdict();
  if (!found) skip();
}

int main(int argc, char **argv)
{
  folder = argc > 1 ? argv[1] : "";
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_robots)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
