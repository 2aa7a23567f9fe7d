/* Where plugins may lie, and what does not depend on it: odd paths, links, the order of a directory's files. */
#include <stdlib.h>
#include <sys/stat.h>

#include "catalogue.h"
#include "host_fixture.h"

static void run_command(const char *format, const char *a, const char *b)
{
  char command[1024];
  snprintf(command, sizeof command, format, a, b);
  assert_int_equal(system(command), 0);
}

/* Spaces, quotes, other letters and a link in the path: found, loaded, and named in full where it fails. */
static void odd_paths_work(void **state)
{
  (void)state;
  char folder[] = "/tmp/samebit load'ing \xc3\xa4_XXXXXX", path[128], link[160];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/a b.so", folder);
  snprintf(link, sizeof link, "%s/li nk", folder);
  run_command("cp '%s/local_one.so' \"%s\"", SAMEBIT_FIXTURES, path);
  assert_int_equal(symlink(folder, link), 0);
  snprintf(link, sizeof link, "%s/li nk/a b.so", folder);
  sb_catalogue catalogue;
  sb_module *module, *again;
  sb_diagnostics diag = {0};
  assert_int_equal(sb_catalogue_init(&catalogue, NULL, 0, &diag), SB_OK);
  assert_int_equal(sb_catalogue_load_file(&catalogue, link, &module, &diag), SB_OK);
  assert_int_equal(sb_catalogue_load_file(&catalogue, path, &again, &diag), SB_OK);
  assert_ptr_equal(module, again);
  run_command("cp '%s/no_symbol.so' \"%s\"", SAMEBIT_FIXTURES, path);
  sb_catalogue_free(&catalogue);
  assert_int_equal(sb_catalogue_init(&catalogue, NULL, 0, &diag), SB_OK);
  assert_int_not_equal(sb_catalogue_load_file(&catalogue, link, &module, &diag), SB_OK);
  assert_int_equal(diag.count, 1);
  assert_string_equal(diag.items[0].where, path); /* where the link leads */
  assert_int_equal(diag.items[0].code, SB_CODE_PLUGIN_LOAD);
  sb_diagnostics_clear(&diag);
  sb_catalogue_free(&catalogue);
  run_command("rm -r \"%s\"%s", folder, "");
}

/* The same files, written in two orders, are one list. */
static void order_of_files_does_not_count(void **state)
{
  (void)state;
  static const char *const files[] = {"no_golden", "local_two", "fails", "local_one"}; /* in the list: fails, local_one, local_two, no_golden */
  static const size_t sorted[] = {2, 3, 1, 0};
  for (int turned = 0; turned < 2; turned++) {
    char folder[] = "/tmp/samebit_loading_XXXXXX";
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < 4; i++) {
      char from[256];
      snprintf(from, sizeof from, "%s/%s.so", SAMEBIT_FIXTURES, files[turned ? 3 - i : i]);
      run_command("cp '%s' '%s'", from, folder);
    }
    const char *dirs[] = {folder};
    sb_catalogue catalogue;
    sb_diagnostics diag = {0};
    assert_int_equal(sb_catalogue_init(&catalogue, dirs, 1, &diag), SB_OK);
    sb_catalogue_load_all(&catalogue, &diag);
    assert_true(catalogue.module_count >= 4);
    for (size_t i = 0; i < 4; i++) assert_string_equal(catalogue.modules[i].solvers->solvers[0]->desc->id, files[sorted[i]]);
    sb_diagnostics_clear(&diag);
    sb_catalogue_free(&catalogue);
    run_command("rm -r '%s'%s", folder, "");
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(odd_paths_work), cmocka_unit_test(order_of_files_does_not_count)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
