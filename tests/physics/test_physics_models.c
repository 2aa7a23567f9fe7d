/* Public robot models for 10,000 ticks each: they load whole and stay finite under every solver, and nothing sinks far. They lie beside the project; without them the test
 * says so and is skipped. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "physics_scene.h"

#define TICKS 10000

static const char *folder;

/* overlap: m that the deepest contact may have under steel; under the others, whose contacts or joints give, 2 cm more. crowd: under steel alone, the others take minutes. Hulls of panda, kuka and the double pendulum overlap in the first pose; there it is a tenth more
 * than that. */
typedef struct robot {
  const char *file;
  bool floating, crowd;
  double overlap;
} robot;

static const robot robots[] = {
    {"mujoco/humanoid.xml", false, false, 0.01},   {"mujoco/22_humanoids.xml", false, true, 0.02},
    {"mujoco/humanoid100.xml", false, true, 0.05}, {"mujoco/car.xml", false, false, 0.005},
    {"panda/panda.urdf", false, false, 0.045},     {"kuka_iiwa/model.urdf", false, false, 0.069},
    {"bullet/r2d2.urdf", true, false, 0.001},      {"bullet/cartpole.urdf", false, false, 0.001},
    {"double_pendulum/double_pendulum_simple.urdf", false, false, 0.014},
};

/* With as many substeps as docs/solvers.md begins with. */
static void run_robots(physics_solver solver, double substeps)
{
  uint32_t found = 0;
  for (size_t i = 0; i < sizeof robots / sizeof robots[0]; i++) {
    char path[1024];
    if (robots[i].crowd && solver != STEEL) continue;
    snprintf(path, sizeof path, "%s/%s", folder, robots[i].file);
    sb_model_store *one = physics_load(path, NULL, robots[i].floating);
    if (!one) {
      print_message("  %s is absent: left out\n", robots[i].file);
      continue;
    }
    found++;
    physics p = physics_start_model(one, solver, 200, &(physics_param){"substeps", substeps}, 1);
    physics_step(&p, TICKS); /* fails when anything becomes NaN */
    print_message("  %s\n", robots[i].file);
    physics_bound(&p, "  deepest contact in 10,000 ticks, m", (double)sb_sim_statistics(p.sim).largest_penetration,
                  solver == STEEL ? robots[i].overlap : robots[i].overlap + 0.02);
    physics_stop(&p);
  }
  physics_verdict();
  if (!found) skip();
}

static void test_featherstone(void **state) { (void)state, run_robots(FEATHERSTONE, 4); }
static void test_semi_implicit(void **state) { (void)state, run_robots(SEMI_IMPLICIT, 16); }
static void test_steel(void **state) { (void)state, run_robots(STEEL, 4); }
static void test_xpbd(void **state) { (void)state, run_robots(XPBD, 8); }

int main(int argc, char **argv)
{
  folder = argc > 1 ? argv[1] : "";
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_featherstone), cmocka_unit_test(test_semi_implicit), cmocka_unit_test(test_steel), cmocka_unit_test(test_xpbd)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
