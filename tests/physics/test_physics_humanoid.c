/* The public humanoid falls and lies: finite, and no deeper in the floor than 20 mm. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>

#include "physics_scene.h"

static const char *models = "";

/* The file's dt is 1/200 s; with 8 substeps the step is 1/1600 s. */
static void test_humanoid(void **state)
{
  (void)state;
  char path[1024];
  snprintf(path, sizeof path, "%s/mujoco/humanoid.xml", models);
  for (int run = 0; run < 3; run++) {
    physics_solver s = run == 1 ? SEMI_IMPLICIT : FEATHERSTONE;
    sb_model_store *store = physics_load(path, NULL, false);
    if (!store) {
      print_message("  %s is absent: left out\n", path);
      skip();
    }
    uint32_t numerator, denominator;
    sb_model_store_dt(store, &numerator, &denominator);
    assert_int_equal(numerator, 1);
    const physics_param set[2] = {{"substeps", 8}, {"integrator", 1}};
    physics p = physics_start_model(store, s, denominator, set, run == 2 ? 2 : 1);
    physics_step(&p, 2000); /* fails on NaN and infinity */
    sb_sim_stats stats = sb_sim_statistics(p.sim);
    print_message("  %s%s: deepest at tick %llu\n", physics_desc(s)->id, run == 2 ? ", midpoint" : "", (unsigned long long)stats.penetration_tick);
    physics_bound(&p, "humanoid, 2000 ticks: penetration, m", stats.largest_penetration, 0.02);
    reference_body at[REFERENCE_BODIES];
    reference_from_bodies(p.m, p.s->body_q, p.s->body_qd, at);
    physics_bound(&p, "humanoid, 2000 ticks: kinetic energy, J", reference_kinetic(p.m, at, p.s->joint_qd), 1);
    physics_step(&p, 8000);
    reference_from_bodies(p.m, p.s->body_q, p.s->body_qd, at);
    physics_bound(&p, "humanoid, 10000 ticks: kinetic energy, J", reference_kinetic(p.m, at, p.s->joint_qd), 1);
    physics_bound(&p, "humanoid, 10000 ticks: penetration, m", sb_sim_statistics(p.sim).largest_penetration, 0.02);
    dv centre = reference_centre(p.m, at);
    physics_bound(&p, "humanoid, 10000 ticks: centre of mass from where it began, m", hypot(centre.x, centre.y), 2);
    physics_stop(&p);
  }
  physics_verdict();
}

int main(int argc, char **argv)
{
  if (argc > 1) models = argv[1];
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_humanoid)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
