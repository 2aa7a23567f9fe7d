/* Modes: what is declared, verified, granted, refused; and what a plugin file must be to be loaded at all. */
#include <stdlib.h>
#include <sys/stat.h>

#include "host_fixture.h"

#define TWO_SOLVERS                                                                                                    \
  "[world]\nscene = generator:box_stack\n[scene]\ncount = 2\n[coupling]\ncontacts = none\n"                             \
  "[solver.first]\nplugin = local_one\nbodies = *1\n[solver.second]\nplugin = local_two\nbodies = *0\n"

static void both_offenders_are_named(void **state)
{
  (void)state;
  sb_session session;
  sb_diagnostics diag = {0};
  sb_status status = open_text(TWO_SOLVERS "[determinism]\nmode = CrossPlatform\n", (sb_session_options){0}, &session, &diag);
  print_messages(&diag);
  assert_int_equal(status, SB_E_MODE);
  assert_int_equal(diag.error_count, 2);
  assert_int_equal(count_messages(&diag, SB_CODE_MODE_REFUSED, "solver first cannot keep mode CrossPlatform"), 1);
  assert_int_equal(count_messages(&diag, SB_CODE_MODE_REFUSED, "solver second cannot keep mode CrossPlatform"), 1);
  sb_diagnostics_clear(&diag);
  sb_session_close(&session);
}

static void weaker_override_lowers_the_run(void **state)
{
  (void)state;
  sb_session session;
  sb_diagnostics diag = {0};
  sb_status status = open_text("[determinism]\nmode = CrossPlatform\n[world]\nscene = generator:drop\n[solver.a]\nplugin = local_one\nmode = Local\n",
                               (sb_session_options){0}, &session, &diag);
  print_messages(&diag);
  assert_int_equal(status, SB_OK);
  assert_int_equal(session.mode, SB_MODE_LOCAL);
  assert_int_equal(session.parts[0].granted, SB_MODE_CROSS_PLATFORM);
  assert_int_equal(session.parts[1].granted, SB_MODE_LOCAL);
  sb_session_close(&session);
}

typedef struct expectation {
  const char *plugin;
  uint32_t verified;
  const char *reason;
} expectation;

static void verification_finds_faults(void **state)
{
  (void)state;
  static const expectation list[] = {
      {"featherstone", SB_MODE_CROSS_PLATFORM, "golden hashes matched"},
      {"semi_implicit", SB_MODE_CROSS_PLATFORM, "golden hashes matched"},
      {"no_golden", SB_MODE_RUN_TO_RUN, "no golden hash"},
      {"task_order", SB_MODE_OFF, "task order"},
      {"flush_in_step", SB_MODE_OFF, "floating-point environment"},
      {"nan_state", SB_MODE_OFF, "NaN in state.body_q"},
      {"fails", SB_MODE_OFF, "fails at tick 3"},
      {"fast_math", SB_MODE_OFF, "fast-math"},
  };
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    char text[256];
    snprintf(text, sizeof text, "[world]\nscene = generator:drop\n[determinism]\nmode = Off\n[solver.a]\nplugin = %s\n", list[i].plugin);
    sb_session session;
    sb_diagnostics diag = {0};
    assert_int_equal(open_text(text, (sb_session_options){0}, &session, &diag), SB_OK);
    if (session.parts[1].verified != list[i].verified || !strstr(session.parts[1].reason, list[i].reason))
      fail_msg("%s: verified %s because \"%s\"", list[i].plugin, sb_mode_name(session.parts[1].verified), session.parts[1].reason);
    sb_session_close(&session);
    sb_diagnostics_clear(&diag);
  }
}

static void broken_modules_are_refused(void **state)
{
  (void)state;
  static const struct {
    const char *file;
    sb_code code;
    const char *message;
  } list[] = {
      {"newer_major", SB_CODE_ABI_VERSION, "built for ABI 9."}, {"newer_minor", SB_CODE_ABI_VERSION, "needs ABI 0.7"},
      {"older_minor", SB_CODE_ABI_VERSION, "built for ABI 0.0"}, {"wrong_magic", SB_CODE_ABI_VERSION, "magic"},
      {"wrong_size", SB_CODE_ABI_VERSION, "8 bytes"},            {"refuses", SB_CODE_ABI_REFUSED, "refuses host"},
      {"not_elf", SB_CODE_PLUGIN_FILE, "ELF"},                   {"empty", SB_CODE_PLUGIN_FILE, "ELF"},
      {"no_symbol", SB_CODE_PLUGIN_LOAD, "samebit_plugin"},       {"flush_on_load", SB_CODE_MODE_FP_ENVIRONMENT, "loading it changed"},
  };
  sb_catalogue catalogue;
  sb_diagnostics diag = {0};
  assert_int_equal(sb_catalogue_init(&catalogue, NULL, 0, &diag), SB_OK);
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    char path[512];
    sb_module *module;
    snprintf(path, sizeof path, "%s/%s.so", SAMEBIT_FIXTURES, list[i].file);
    assert_int_not_equal(sb_catalogue_load_file(&catalogue, path, &module, &diag), SB_OK);
    if (count_messages(&diag, list[i].code, list[i].message) != 1 || diag.count != 1) {
      print_messages(&diag);
      fail_msg("%s: expected [%s] \"%s\"", list[i].file, sb_code_name(list[i].code), list[i].message);
    }
    sb_diagnostics_clear(&diag);
  }
  sb_module *module;
  char path[512];
  snprintf(path, sizeof path, "%s/newer_compatible.so", SAMEBIT_FIXTURES);
  assert_int_equal(sb_catalogue_load_file(&catalogue, path, &module, &diag), SB_OK);
  /* a writable copy is refused; a directory and a missing file too */
  char copy[] = "/tmp/samebit_plugin_XXXXXX", command[1200];
  close(mkstemp(copy));
  snprintf(command, sizeof command, "cp '%s' '%s' && chmod 666 '%s'", path, copy, copy);
  assert_int_equal(system(command), 0);
  assert_int_not_equal(sb_catalogue_load_file(&catalogue, copy, &module, &diag), SB_OK);
  assert_int_equal(count_messages(&diag, SB_CODE_PLUGIN_FILE, "everybody may write"), 1);
  unlink(copy);
  assert_int_not_equal(sb_catalogue_load_file(&catalogue, "/tmp", &module, &diag), SB_OK);
  assert_int_not_equal(sb_catalogue_load_file(&catalogue, "/nowhere.so", &module, &diag), SB_OK);
  sb_diagnostics_clear(&diag);
  sb_catalogue_free(&catalogue);
}

static void solvers_that_could_touch_need_coupling(void **state)
{
  (void)state;
  const char *text = "[world]\nscene = generator:box_stack\n[scene]\ncount = 2\n[determinism]\nmode = Local\n"
                     "[solver.first]\nplugin = featherstone\nbodies = *1\n[solver.second]\nplugin = semi_implicit\nbodies = *0\n";
  sb_session session;
  sb_diagnostics diag = {0};
  assert_int_not_equal(open_text(text, (sb_session_options){0}, &session, &diag), SB_OK);
  print_messages(&diag);
  assert_int_equal(count_messages(&diag, SB_CODE_COUPLING_UNSET, "contacts = one_way"), 1);
  sb_diagnostics_clear(&diag);
  const char *sets[] = {"coupling.contacts=one_way"};
  sb_session_options options = {.sets = sets, .set_count = 1};
  assert_int_equal(open_text(text, options, &session, &diag), SB_OK);
  sb_session_close(&session);
}

static void refusal_to_bind_is_told(void **state)
{
  (void)state;
  sb_session session;
  sb_sim *sim;
  sb_diagnostics diag = {0};
  assert_int_equal(open_text("[world]\nscene = generator:drop\n[determinism]\nmode = Off\n[solver.a]\nplugin = unsupported\n",
                             (sb_session_options){0}, &session, &diag), SB_OK);
  assert_int_not_equal(sb_sim_create(&session.sim, &sim, &diag), SB_OK);
  assert_int_equal(count_messages(&diag, SB_CODE_SOLVER_REFUSED, "a fixture that simulates nothing"), 1);
  sb_diagnostics_clear(&diag);
  sb_session_close(&session);
}

/* A run that is interrupted by snapshot, new instance and restore against one that is not: equal for a plugin that
 * registers what it keeps, not for one that hides it. */
static bool survives_a_restore(const char *plugin)
{
  char text[256];
  snprintf(text, sizeof text, "[world]\nscene = generator:drop\n[determinism]\nmode = Off\n[solver.a]\nplugin = %s\n", plugin);
  sb_session session;
  sb_diagnostics diag = {0};
  sb_sim *straight, *first, *second;
  void *bytes;
  size_t size;
  assert_int_equal(open_text(text, (sb_session_options){0}, &session, &diag), SB_OK);
  assert_int_equal(sb_sim_create(&session.sim, &straight, &diag), SB_OK);
  assert_int_equal(sb_sim_create(&session.sim, &first, &diag), SB_OK);
  assert_int_equal(sb_sim_create(&session.sim, &second, &diag), SB_OK);
  for (int t = 0; t < 20; t++) assert_int_equal(sb_sim_step(straight, &diag), SB_OK);
  for (int t = 0; t < 10; t++) assert_int_equal(sb_sim_step(first, &diag), SB_OK);
  assert_int_equal(sb_sim_snapshot(first, &bytes, &size, &diag), SB_OK);
  assert_int_equal(sb_sim_restore(second, bytes, size, &diag), SB_OK);
  for (int t = 0; t < 10; t++) assert_int_equal(sb_sim_step(second, &diag), SB_OK);
  bool same = sb_sim_hash(straight) == sb_sim_hash(second);
  free(bytes);
  sb_sim_destroy(straight);
  sb_sim_destroy(first);
  sb_sim_destroy(second);
  sb_session_close(&session);
  return same;
}

static void hidden_state_shows_after_a_restore(void **state)
{
  (void)state;
  assert_true(survives_a_restore("no_golden"));
  assert_true(survives_a_restore("steel"));
  assert_false(survives_a_restore("hidden_state"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(both_offenders_are_named), cmocka_unit_test(weaker_override_lowers_the_run),
                                     cmocka_unit_test(verification_finds_faults), cmocka_unit_test(broken_modules_are_refused),
                                     cmocka_unit_test(solvers_that_could_touch_need_coupling), cmocka_unit_test(refusal_to_bind_is_told),
                                     cmocka_unit_test(hidden_state_shows_after_a_restore)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
