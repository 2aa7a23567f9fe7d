/* Every conformance case fails its own broken plugin, and that plugin fails no other case; good plugins fail none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conformance.h"

static const char *const names[] = {
#define CASE(name) #name,
#include "broken_cases.h"
#undef CASE
};
#define COUNT (sizeof names / sizeof names[0])

static sb_case_result results[128];

/* Runs all cases; returns how many did not pass and were not skipped, and prints those. */
static size_t run_all(const char *path, double seconds, const char *expected)
{
  size_t count = sb_conformance_run(SAMEBIT_COMMAND, path, NULL, seconds, results), bad = 0;
  assert_int_equal(count, COUNT);
  for (size_t i = 0; i < count; i++) {
    if (results[i].end == SB_CASE_PASSED || results[i].end == SB_CASE_SKIPPED) continue;
    bad++;
    if (!expected || strcmp(results[i].which->name, expected)) print_message("  %s: %s %s: %s\n", path, results[i].which->name, sb_case_end_name(results[i].end), results[i].text);
  }
  return bad;
}

static void table_and_fixtures_agree(void **state)
{
  (void)state;
  assert_int_equal(sb_case_count(), COUNT);
  assert_true(COUNT >= 40 && COUNT <= sizeof results / sizeof results[0]);
  for (size_t i = 0; i < COUNT; i++) {
    const sb_case *c = sb_case_at(i);
    assert_string_equal(c->name, names[i]);
    assert_true(strlen(c->what) > 8 && strlen(c->why) > 8 && strlen(c->fix) > 6);
    assert_int_equal((c->file_case != NULL) + (c->module_case != NULL) + (c->solver_case != NULL) + c->across_processes, 1);
    for (size_t n = 0; n < SB_MAX_CASE_NEEDS && c->needs[n]; n++) {
      const sb_case *needed = sb_case_find(c->needs[n]);
      if (!needed || needed >= c) fail_msg("%s needs %s, which does not come before it", c->name, c->needs[n]);
    }
  }
}

static void good_plugins_pass(void **state)
{
  (void)state;
  static const char *const good[] = {SAMEBIT_PLUGINS "/featherstone.so", SAMEBIT_PLUGINS "/semi_implicit.so", SAMEBIT_PLUGINS "/steel.so", SAMEBIT_PLUGINS "/xpbd.so", SAMEBIT_BROKEN "/good.so"};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
    if (run_all(good[i], 0, NULL)) fail_msg("%s fails", good[i]);
}

/* A place that is wrong, and a file that is none: not plugins that can be built. */
static const char *odd_file(const char *name, char path[256])
{
  static char folder[64];
  char command[600];
  snprintf(path, 256, "%s/%s.so", SAMEBIT_BROKEN, name);
  if (strcmp(name, "file_place") && strcmp(name, "file_elf") && strcmp(name, "file_folder")) return path;
  strcpy(folder, "/tmp/samebit_odd_XXXXXX");
  assert_non_null(mkdtemp(folder));
  snprintf(command, sizeof command, "%s '%s/good.so' '%s/good.so'", !strcmp(name, "file_elf") ? "head -c 40" : "cp", SAMEBIT_BROKEN, folder);
  if (!strcmp(name, "file_elf")) snprintf(command, sizeof command, "head -c 40 '%s/good.so' > '%s/good.so'", SAMEBIT_BROKEN, folder);
  assert_int_equal(system(command), 0);
  if (!strcmp(name, "file_folder")) {
    chmod(folder, 0777);
    snprintf(command, sizeof command, "mkdir -m 755 '%s/inner' && cp '%s/good.so' '%s/inner/good.so'", folder,
             SAMEBIT_BROKEN, folder);
    assert_int_equal(system(command), 0);
    snprintf(path, 256, "%s/inner/good.so", folder);
    return path;
  }
  if (!strcmp(name, "file_place")) chmod(folder, 01777);
  snprintf(path, 256, "%s/good.so", folder);
  return path;
}

/* What changes the environment also holds the call that does. */
static size_t failures_wanted(const char *name) { return strncmp(name, "environment_", 12) ? 1 : 2; }

static void each_broken_plugin_fails_its_case_alone(void **state)
{
  (void)state;
  size_t wrong = 0;
  for (size_t i = 0; i < COUNT; i++) {
    char path[256];
    if (access(odd_file(names[i], path), R_OK)) continue; /* of another architecture */
    size_t bad = run_all(path, !strcmp(names[i], "hostile_huge") ? 4 : 0, names[i]);
    const sb_case_result *own = &results[i];
    bool failed = own->end != SB_CASE_PASSED && own->end != SB_CASE_SKIPPED;
    if (!failed) print_message("  %s: its own case %s: %s\n", names[i], sb_case_end_name(own->end), own->text);
    if (failed && !own->text[0]) print_message("  %s: no text\n", names[i]);
    wrong += !failed || bad != failures_wanted(names[i]) || !own->text[0];
  }
  if (wrong) fail_msg("%zu broken plugins do not fail exactly their case", wrong);
}

static void outcomes_are_told_apart(void **state)
{
  (void)state;
  assert_int_equal(sb_conformance_run(SAMEBIT_COMMAND, SAMEBIT_BROKEN "/restart.so", "restart", 0, results), 1);
  assert_int_equal(results[0].end, SB_CASE_CRASHED);
  assert_non_null(strstr(results[0].text, "Aborted"));
  assert_int_equal(sb_conformance_run(SAMEBIT_COMMAND, SAMEBIT_BROKEN "/hostile_huge.so", "hostile_huge", 1, results), 1);
  assert_int_equal(results[0].end, SB_CASE_TIMED_OUT);
  assert_int_equal(sb_conformance_run(SAMEBIT_COMMAND, SAMEBIT_BROKEN "/repeat.so", "repeat", 0, results), 1);
  assert_int_equal(results[0].end, SB_CASE_FAILED);
  /* what a case needs is run too, and told when it does not pass */
  assert_int_equal(sb_conformance_run(SAMEBIT_COMMAND, SAMEBIT_BROKEN "/repeat.so", "lanes", 0, results), 2);
  assert_string_equal(results[0].which->name, "repeat");
  assert_int_equal(results[1].end, SB_CASE_SKIPPED);
  assert_int_equal(sb_conformance_run(SAMEBIT_COMMAND, SAMEBIT_BROKEN "/repeat.so", "create", 0, results), 1);
  assert_int_equal(results[0].end, SB_CASE_PASSED);
}

static void the_command_tells_it(void **state)
{
  (void)state;
  static const struct {
    const char *words;
    int code;
  } list[] = {{"'" SAMEBIT_BROKEN "/good.so' --case repeat", 0}, {"'" SAMEBIT_BROKEN "/repeat.so' --case repeat", 1}, {"--list", 0}, {"", 2},
              {"'" SAMEBIT_BROKEN "/good.so' --case repaet", 2}, {"/nowhere.so", 2}, {"'" SAMEBIT_BROKEN "/repeat.so' --case repeat --json", 1}};
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    char command[600];
    snprintf(command, sizeof command, "'%s' plugins check %s >/dev/null 2>&1", SAMEBIT_COMMAND, list[i].words);
    int status = system(command);
    if (WEXITSTATUS(status) != list[i].code) fail_msg("%s: exit code %d, expected %d", list[i].words, WEXITSTATUS(status), list[i].code);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(table_and_fixtures_agree), cmocka_unit_test(good_plugins_pass),
                                     cmocka_unit_test(each_broken_plugin_fails_its_case_alone), cmocka_unit_test(outcomes_are_told_apart),
                                     cmocka_unit_test(the_command_tells_it)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
