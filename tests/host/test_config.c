/* INI files: every kind of mistake gives one diagnostic with a code, a place and the nearest name. */
#include "host_fixture.h"

typedef struct mistake {
  const char *text;
  sb_code code;
  const char *where; /* end of the place */
  const char *message;
} mistake;

#define SCENE "[world]\nscene = generator:pendulum\n"
#define SOLVER "[solver.robot]\nplugin = featherstone\n"

static const mistake mistakes[] = {
    {"[world\nscene = x\n", SB_CODE_INI_SYNTAX, ":1", "expected"},
    {"[world]\nnonsense\n", SB_CODE_INI_SYNTAX, ":2", "expected"},
    {"[wrold]\nscene = generator:pendulum\n" SOLVER, SB_CODE_INI_UNKNOWN_SECTION, ":1", "did you mean [world]"},
    {SCENE "gravty = 0 0 -1\n" SOLVER, SB_CODE_INI_UNKNOWN_KEY, ":3", "did you mean \"gravity\""},
    {SCENE "gravity = 0 0\n" SOLVER, SB_CODE_INI_VALUE, ":3", "expected 3 numbers"},
    {SCENE "gravity = 0 0 down\n" SOLVER, SB_CODE_INI_VALUE, ":3", "expected 3 numbers"},
    {SCENE "gravity = 0 0 inf\n" SOLVER, SB_CODE_INI_VALUE, ":3", "expected 3 numbers"},
    {SCENE "dt = 1/0\n" SOLVER, SB_CODE_INI_VALUE, ":3", "quotient"},
    {SCENE "dt = -0.01\n" SOLVER, SB_CODE_INI_VALUE, ":3", "quotient"},
    {SCENE "dt = 1e-3\n" SOLVER, SB_CODE_INI_VALUE, ":3", "quotient"},
    {SCENE "dt = 1/99999999999999999999999\n" SOLVER, SB_CODE_INI_VALUE, ":3", "quotient"},
    {SCENE "replicate = 0\n" SOLVER, SB_CODE_INI_RANGE, ":3", "1 to"},
    {SCENE "replicate = many\n" SOLVER, SB_CODE_INI_VALUE, ":3", "whole number"},
    {SCENE "scene = again\n" SOLVER, SB_CODE_INI_DUPLICATE, ":3", "first at"},
    {SCENE "ground = maybe\n" SOLVER, SB_CODE_INI_VALUE, ":3", "none, auto"},
    {SCENE "[determinism]\nmode = CrosPlatform\n" SOLVER, SB_CODE_INI_VALUE, ":4", "did you mean \"CrossPlatform\""},
    {SCENE "[collision]\nbroad_phase = octree\n" SOLVER, SB_CODE_INI_VALUE, ":4", "all_pairs, sap"},
    {SCENE "[collision]\nspeculative_margin = -1\n" SOLVER, SB_CODE_INI_RANGE, ":4", "0 to 1"},
    {SCENE, SB_CODE_INI_MISSING, "", "no solver"},
    {SOLVER, SB_CODE_INI_MISSING, "", "scene"},
    {SCENE "[solver.robot]\nbodies = *\n", SB_CODE_INI_MISSING, ":3", "plugin"},
    {SCENE "[wrold]\n" SOLVER, SB_CODE_INI_UNKNOWN_SECTION, ":3", "did you mean [world]"},
    {SCENE "[solver.robot] plugin = featherstone\n", SB_CODE_INI_SYNTAX, ":3", "nothing may follow"},
    {SCENE "[solver.a_name_that_is_longer_than_any_reasonable_name_would_be]\nplugin = featherstone\n", SB_CODE_INI_SYNTAX, ":3", "48 characters"},
    {SCENE "gravity = 0x10 0 0\n" SOLVER, SB_CODE_INI_VALUE, ":3", "expected 3 numbers"},
    {SCENE "[solver.robot]\nplugin = fetherstone\n", SB_CODE_PLUGIN_UNKNOWN, ":4", "did you mean \"featherstone\""},
    {SCENE "[solver.robot]\nplugin = ../../etc/passwd\n", SB_CODE_PLUGIN_UNKNOWN, ":4", "no plugin"},
    {SCENE SOLVER "substep = 4\n", SB_CODE_INI_UNKNOWN_KEY, ":5", "did you mean \"substeps\""},
    {SCENE SOLVER "substeps = 0\n", SB_CODE_INI_RANGE, ":5", "1 to 256"},
    {SCENE SOLVER "substeps = 2.5\n", SB_CODE_INI_VALUE, ":5", "whole number"},
    {SCENE SOLVER "substeps = nan\n", SB_CODE_INI_VALUE, ":5", "number"},
    {SCENE SOLVER "substeps = 1e999\n", SB_CODE_INI_VALUE, ":5", "number"},
    {SCENE SOLVER "contact_frequency = 1e9\n", SB_CODE_INI_RANGE, ":5", "10000"},
    {SCENE SOLVER "[collision]\nccd = nobody\n", SB_CODE_BODY_NO_MATCH, "", "no body or deformable matches"},
    {SCENE SOLVER "bodies = nobody\n", SB_CODE_BODY_NO_MATCH, ":5", "no body or deformable matches"},
    {SCENE SOLVER "backend = gpu\n", SB_CODE_INI_VALUE, ":5", "cpu, vulkan"},
    {SCENE "[solver.robot]\nplugin = local_one\nstyle = odd\n", SB_CODE_INI_VALUE, ":5", "plain, fancy"},
    {"[world]\nscene = generator:double_pendulum\n[solver.a]\nplugin = featherstone\n[solver.b]\nplugin = semi_implicit\n",
     SB_CODE_BODY_OWNED_TWICE, "", "and others: owned by [solver.a] already"},
    {"[world]\nscene = generator:nothing\n" SOLVER, SB_CODE_COUNT, ":2", "nothing"},
    {"[world]\nscene = /nowhere/file.xml\n" SOLVER, SB_CODE_COUNT, "", ""},
};

static void each_mistake_has_one_diagnostic(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
    const mistake *m = &mistakes[i];
    sb_session session;
    sb_diagnostics diag = {0};
    sb_status status = open_text(m->text, (sb_session_options){0}, &session, &diag);
    if (status != SB_E_CONFIG && status != SB_E_IO) fail_msg("status %d for:\n%s", status, m->text);
    bool found = diag.error_count == 1 && diag.count == 1;
    if (found && m->code != SB_CODE_COUNT) found = diag.items[0].code == m->code;
    size_t place = strlen(diag.count ? diag.items[0].where : ""), end = strlen(m->where);
    found = found && place >= end && !strcmp(diag.items[0].where + place - end, m->where) && strstr(diag.items[0].message, m->message);
    if (!found) {
      print_messages(&diag);
      fail_msg("case %zu: expected [%s] \"%s\" at \"%s\" for:\n%s", i, m->code == SB_CODE_COUNT ? "any" : sb_code_name(m->code), m->message,
               m->where, m->text);
    }
    sb_diagnostics_clear(&diag);
    sb_session_close(&session);
  }
}

static void sets_replace_and_are_checked(void **state)
{
  (void)state;
  const char *good[] = {"solver.robot.substeps=3", "world.dt=1/500"};
  sb_session session;
  sb_diagnostics diag = {0};
  sb_session_options options = {.sets = good, .set_count = 2};
  assert_int_equal(open_text(SCENE SOLVER "substeps = 4\n", options, &session, &diag), SB_OK);
  assert_float_equal(session.parts[1].params[0], 3, 0);
  assert_int_equal(session.sim.dt_denominator, 500);
  sb_session_close(&session);
  const char *bad[] = {"substeps=3", "solver.robot.substeps", ".x=1", "world.=1"};
  for (size_t i = 0; i < 4; i++) {
    options = (sb_session_options){.sets = &bad[i], .set_count = 1};
    assert_int_equal(open_text(SCENE SOLVER, options, &session, &diag), SB_E_CONFIG);
    assert_int_equal(count_messages(&diag, SB_CODE_CLI_USAGE, "section.key=value"), (int)i + 1);
  }
  sb_diagnostics_clear(&diag);
}

/* Random bytes and cut files never crash; a valid file cut anywhere gives a session or an error, never both or none. */
static void hostile_bytes(void **state)
{
  (void)state;
  const char good[] = SCENE "seed = 7\n[determinism]\nmode = Local\n" SOLVER "substeps = 2\nbodies = *\n";
  uint32_t random = 12345;
  for (int round = 0; round < 400; round++) {
    char text[sizeof good];
    memcpy(text, good, sizeof good);
    for (int k = 0; k < 1 + round % 5; k++) {
      random = random * 1664525u + 1013904223u;
      text[(random >> 8) % (sizeof good - 1)] = (char)(1 + (random >> 24) % 254);
    }
    sb_config config;
    sb_diagnostics diag = {0};
    sb_status status = sb_config_parse(text, strlen(text) - (size_t)(round % 7), "fuzz.ini", &config, &diag);
    assert_true((status == SB_OK) == (diag.error_count == 0));
    sb_config_free(&config);
    sb_diagnostics_clear(&diag);
  }
  sb_config config;
  sb_diagnostics diag = {0};
  assert_int_not_equal(sb_config_parse("a\0b", 3, "nul.ini", &config, &diag), SB_OK);
  sb_config_free(&config);
  static char long_line[10000];
  memset(long_line, 'x', sizeof long_line);
  assert_int_not_equal(sb_config_parse(long_line, sizeof long_line, "long.ini", &config, &diag), SB_OK);
  sb_config_free(&config);
  assert_int_equal(count_messages(&diag, SB_CODE_INI_SYNTAX, "more than 4095 characters"), 1);
  long_line[0] = ';';
  long_line[4000] = '\n';
  assert_int_equal(sb_config_parse(long_line, 4001, "comment.ini", &config, &diag), SB_OK);
  sb_config_free(&config);
  assert_int_not_equal(sb_config_read("/", &config, &diag), SB_OK);
  assert_int_not_equal(sb_config_read("/nowhere.ini", &config, &diag), SB_OK);
  assert_int_equal(diag.error_count, 4);
  sb_diagnostics_clear(&diag);
}

/* More worlds than the machine's memory holds are refused with the size, before anything is allocated. */
static void absurd_worlds(void **state)
{
  (void)state;
  sb_session session;
  sb_diagnostics diag = {0};
  static const char text[] = "[world]\nscene = generator:pile\nreplicate = 1048576\n[scene]\ncount = 8000\n" SOLVER;
  assert_int_equal(open_text(text, (sb_session_options){0}, &session, &diag), SB_E_CONFIG);
  assert_int_equal(diag.count, 1);
  assert_int_equal(count_messages(&diag, SB_CODE_SCENE_LIMIT, "replicate = 1048576 needs more than"), 1);
  assert_non_null(strstr(diag.items[0].where, ":3"));
  sb_diagnostics_clear(&diag);
}

static void fractions(void **state)
{
  (void)state;
  uint32_t n, d;
  assert_true(sb_parse_fraction("1/240", &n, &d) && n == 1 && d == 240);
  assert_true(sb_parse_fraction("0.005", &n, &d) && n == 1 && d == 200);
  assert_true(sb_parse_fraction("2/480", &n, &d) && n == 1 && d == 240);
  assert_true(sb_parse_fraction("1", &n, &d) && n == 1 && d == 1);
  assert_false(sb_parse_fraction("", &n, &d) || sb_parse_fraction("/", &n, &d) || sb_parse_fraction("1/", &n, &d));
  assert_false(sb_parse_fraction("0", &n, &d) || sb_parse_fraction("1.2.3", &n, &d) || sb_parse_fraction("1/16777217", &n, &d));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_mistake_has_one_diagnostic), cmocka_unit_test(sets_replace_and_are_checked),
                                     cmocka_unit_test(hostile_bytes), cmocka_unit_test(absurd_worlds), cmocka_unit_test(fractions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
