/* A pipeline that gives other contacts on the device than on the CPU: this program leaves pairs there in the order in which threads found them. It is not granted
 * CrossPlatform, whatever its solver shows. */
#include "host_fixture.h"

#include "vulkan_test.h"

static const char piled[] = "[world]\nscene = generator:pyramid\n[determinism]\nmode = %s\n[scene]\nrows = 3\n[solver.all]\nplugin = steel\n";

static void test_modes(void **state)
{
  (void)state;
  static const struct {
    const char *mode, *backend;
    sb_status status;
  } rows[] = {{"CrossPlatform", "vulkan", SB_E_MODE}, {"RunToRun", "vulkan", SB_OK}, {"Off", "vulkan", SB_OK}, {"CrossPlatform", "cpu", SB_OK}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    sb_session s = {0};
    sb_diagnostics diag = {0};
    sb_status status = open_in_mode(piled, rows[i].mode, rows[i].backend, &s, &diag);
    int refused = count_messages(&diag, SB_CODE_MODE_REFUSED, "the collision pipeline cannot keep mode CrossPlatform");
    if (status != rows[i].status || refused != (rows[i].status != SB_OK)) print_messages(&diag);
    assert_int_equal(status, rows[i].status);
    assert_int_equal(refused, rows[i].status != SB_OK);
    if (refused) assert_int_equal(count_messages(&diag, SB_CODE_MODE_REFUSED, "on the device, the golden hash is"), 1);
    sb_diagnostics_clear(&diag);
    sb_session_close(&s);
  }
}

int main(void)
{
  if (no_device()) return SKIP;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_modes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
