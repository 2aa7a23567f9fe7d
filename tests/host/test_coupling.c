/* Several solvers in one scene, from an INI file alone: an arm under steel, and under featherstone, pushes a curtain under xpbd. */
#include <math.h>

#include "host_fixture.h"
#include "model_store.h"

#define SCENE                                                                                                          \
  "[world]\nscene = " SAMEBIT_CONF "/models/robot_cloth.xml\nkeyframe = push\ndt = 1/250\n"                            \
  "[solver.robot]\nplugin = %s\nbodies = post turret upper lower\n[solver.cloth]\nplugin = xpbd\nbodies = curtain\nsubsteps = 4\n"
#define TICKS 250

typedef struct outcome {
  float *particle_q, *body_q;
  uint32_t particles, bodies;
  float deepest; /* m */
} outcome;

static sb_status open_scene(const char *solver, const char *coupling, sb_session *session, sb_diagnostics *diag)
{
  char text[1024];
  int n = snprintf(text, sizeof text, SCENE, solver);
  if (coupling) snprintf(text + n, sizeof text - (size_t)n, "[coupling]\ncontacts = %s\n", coupling);
  return open_text(text, (sb_session_options){0}, session, diag);
}

static float *copy_of(const float *from, size_t count)
{
  float *to = malloc(count * sizeof *to);
  assert_non_null(to);
  return memcpy(to, from, count * sizeof *to);
}

static outcome simulate(const char *solver, const char *coupling)
{
  sb_session session;
  sb_sim *sim;
  sb_diagnostics diag = {0};
  assert_int_equal(open_scene(solver, coupling, &session, &diag), SB_OK);
  /* the pipeline and both solvers have a part, none weaker than asked for */
  assert_int_equal(session.part_count, 3);
  for (uint32_t i = 0; i < 3; i++) assert_int_equal(session.parts[i].granted, SB_MODE_CROSS_PLATFORM);
  assert_int_equal(sb_sim_create(&session.sim, &sim, &diag), SB_OK);
  for (int t = 0; t < TICKS; t++) assert_int_equal(sb_sim_step(sim, &diag), SB_OK);
  const sb_model *m = sb_model_store_view(session.sim.model);
  const sb_state *s = sb_sim_state(sim);
  outcome o = {copy_of(s->particle_q, 3 * (size_t)m->particle_count), copy_of(s->body_q, 7 * (size_t)m->body_count), m->particle_count, m->body_count,
               sb_sim_statistics(sim).largest_penetration};
  sb_sim_destroy(sim);
  sb_session_close(&session);
  return o;
}

static void drop(outcome *o)
{
  free(o->particle_q);
  free(o->body_q);
}

/* The cloth gives way by more than a tenth of a metre, the arm does not feel it. */
static void an_arm_pushes_a_cloth(void **state)
{
  (void)state;
  static const char *const solvers[] = {"steel", "featherstone"};
  for (int k = 0; k < 2; k++) {
    outcome alone = simulate(solvers[k], "none"), pushed = simulate(solvers[k], "one_way");
    double most = 0;
    for (uint32_t i = 0; i < 3 * pushed.particles; i++) most = fmax(most, fabs((double)pushed.particle_q[i] - (double)alone.particle_q[i]));
    print_message("  %s: the curtain is moved by up to %.3f m, and overlaps by up to %.2g m\n", solvers[k], most, (double)pushed.deepest);
    assert_true(most > 0.1);
    assert_true(pushed.deepest < 0.005f);
    assert_memory_equal(pushed.body_q, alone.body_q, 7 * (size_t)pushed.bodies * sizeof(float));
    drop(&alone);
    drop(&pushed);
  }
}

static void the_line_to_add_is_told(void **state)
{
  (void)state;
  sb_session session;
  sb_diagnostics diag = {0};
  assert_int_not_equal(open_scene("steel", NULL, &session, &diag), SB_OK);
  print_messages(&diag);
  assert_int_equal(diag.error_count, 1);
  assert_int_equal(count_messages(&diag, SB_CODE_COUPLING_UNSET, "contacts = one_way"), 1);
  sb_diagnostics_clear(&diag);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(an_arm_pushes_a_cloth), cmocka_unit_test(the_line_to_add_is_told)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
