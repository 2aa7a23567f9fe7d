/* A device on which the probe finds a fault: this program has the probe's shader with contraction planted in it. Nothing there is granted
 * CrossPlatform; in weaker modes, which compare the device with itself, it is told. */
#include "host_fixture.h"

#include "device_probe.h"
#include "vulkan_test.h"

static const char cloth[] = "[world]\nscene = generator:cloth\n[determinism]\nmode = %s\n[scene]\nmodel = springs\nrows = 4\ncolumns = 4\n[solver.cloth]\n"
                            "plugin = xpbd\n";

static void test_modes(void **state)
{
  (void)state;
  static const struct {
    const char *mode, *backend;
    sb_status status;
    int told;
  } rows[] = {{"CrossPlatform", "vulkan", SB_E_MODE, 1}, {"RunToRun", "vulkan", SB_OK, 1}, {"Local", "vulkan", SB_OK, 1},
              {"Off", "vulkan", SB_OK, 1},               {"CrossPlatform", "cpu", SB_OK, 0}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    sb_session s = {0};
    sb_diagnostics diag = {0};
    sb_status status = open_in_mode(cloth, rows[i].mode, rows[i].backend, &s, &diag);
    int told = count_messages(&diag, SB_CODE_VULKAN_PROBE, "contraction: for the words"), all = count_messages(&diag, SB_CODE_VULKAN_PROBE, "");
    if (status != rows[i].status || told != rows[i].told || all != told) {
      print_messages(&diag);
      fail_msg("%s on %s: status %d, told %d times of %d", rows[i].mode, rows[i].backend, (int)status, told, all);
    }
    char domain[1400];
    sb_session_domain(&s, domain, sizeof domain);
    if (!status) assert_int_equal(strstr(domain, "probe failed: contraction") != NULL, told);
    if (status) assert_int_equal(count_messages(&diag, SB_CODE_MODE_REFUSED, "probe"), 1);
    sb_diagnostics_clear(&diag);
    sb_session_close(&s);
  }
}

int main(void)
{
  if (no_device()) return SKIP;
  sb_vulkan *vulkan = NULL;
  if (sb_vulkan_open(&vulkan, NULL)) return 1;
  sb_probe_result result;
  int sound = sb_device_probe(vulkan, &result, NULL) == SB_OK && result.passed;
  sb_vulkan_close(vulkan);
  if (sound) {
    printf("the planted fault is not in this program\n");
    return 1;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_modes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
