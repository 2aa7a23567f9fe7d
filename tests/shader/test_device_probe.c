/* The probe passes on a sound device, and sees each fault that is planted in its shader, by the check that is meant for
 * it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "device_probe.h"
#include "fp_env.h"

#include "probe_faults.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int open_device(void **state)
{
  sb_vulkan *vulkan = NULL;
  if (sb_vulkan_open(&vulkan, NULL) != SB_OK) vulkan = NULL;
  *state = vulkan;
  return 0;
}
static int close_device(void **state)
{
  sb_vulkan_close(*state);
  return 0;
}

static void run(sb_vulkan *vulkan, const uint32_t *words, size_t count, sb_probe_result *result)
{
  sb_diagnostics diag = {0};
  sb_status status =
      words ? sb_device_probe_with(vulkan, words, count, result, &diag) : sb_device_probe(vulkan, result, &diag);
  if (status != SB_OK) fail_msg("%s", diag.count ? diag.items[0].message : "no message");
  assert_int_equal(diag.count, 0);
}

static void test_sound_device(void **state)
{
  if (!*state) skip();
  sb_probe_result result;
  run(*state, NULL, 0, &result);
  char text[256];
  sb_probe_text(&result, text, sizeof text);
  sb_diagnostics diag = {0};
  sb_probe_report(&result, SB_ERROR, "device", &diag);
  if (!result.passed) fail_msg("%s: %s", text, diag.count ? diag.items[0].message : "");
  assert_string_equal(text, "probe passed");
  assert_int_equal(result.failure_count, 0);
  assert_int_equal(diag.count, 0);
  assert_true(result.words > 150000);
}

/* The caller's rounding and flushing are no part of what is compared. */
static void test_hostile_caller(void **state)
{
  if (!*state) skip();
  sb_probe_result result;
  sb_fp_env saved = sb_fp_env_enter();
  sb_fp_env_make_hostile();
  run(*state, NULL, 0, &result);
  bool kept = !sb_fp_env_is_standard();
  sb_fp_env_leave(saved);
  assert_true(result.passed);
  assert_true(kept);
}

static const struct {
  const char *fault, *check;
  const uint32_t *words;
  size_t size;
} faults[] = {
#define FAULT(name, check) {#name, check, probe_fault_##name, sizeof probe_fault_##name},
    PROBE_FAULTS(FAULT)
#undef FAULT
};
#define FAULTS (sizeof faults / sizeof *faults)

static void test_each_fault_is_seen(void **state)
{
  if (!*state) skip();
  for (size_t k = 0; k < FAULTS; k++) {
    sb_probe_result result;
    run(*state, faults[k].words, faults[k].size / sizeof *faults[k].words, &result);
    assert_true(result.passed == (result.failure_count == 0));
    if (result.passed) fail_msg("the probe did not see %s", faults[k].fault);
    const sb_probe_failure *f = NULL;
    for (uint32_t i = 0; i < result.failure_count; i++)
      if (!strcmp(result.failures[i].check, faults[k].check)) f = &result.failures[i];
    if (!f)
      fail_msg("%s was seen by the check %s, not by %s", faults[k].fault, result.failures[0].check, faults[k].check);
    assert_true(f->word_count > 0 && f->expected != f->found);
    printf("%-24s %-16s %08x %08x %08x: %08x, not %08x; %u words; %u checks\n", faults[k].fault, f->check,
           f->operands[0], f->operands[1], f->operands[2], f->found, f->expected, f->word_count, result.failure_count);
    char text[256];
    sb_probe_text(&result, text, sizeof text);
    assert_non_null(strstr(text, faults[k].check));
    sb_diagnostics diag = {0};
    sb_probe_report(&result, SB_ERROR, "device", &diag);
    assert_int_equal(diag.error_count, result.failure_count);
    assert_int_equal(diag.items[0].code, SB_CODE_VULKAN_PROBE);
    sb_diagnostics_clear(&diag);
  }
}

/* No check without a fault that it has been seen to see. */
static void test_each_check_has_a_fault(void **state)
{
  (void)state;
  for (uint32_t c = 0; sb_probe_check_name(c); c++) {
    size_t k = 0;
    while (k < FAULTS && strcmp(faults[k].check, sb_probe_check_name(c))) k++;
    if (k == FAULTS) fail_msg("no fault shows that the check %s can fail", sb_probe_check_name(c));
  }
}

/* A module that is no probe fails, and says so; the text of a result that was not run is no pass. */
static void test_what_cannot_run(void **state)
{
  sb_probe_result result = {0};
  char text[16];
  sb_probe_text(&result, text, sizeof text);
  assert_string_equal(text, "probe not run");
  result.failure_count = 1;
  result.failures[0].check = "a name that is longer than the text";
  sb_probe_text(&result, text, sizeof text);
  assert_int_equal(strlen(text), sizeof text - 1);
  (void)state;
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sound_device), cmocka_unit_test(test_hostile_caller),
                                     cmocka_unit_test(test_each_fault_is_seen),
                                     cmocka_unit_test(test_each_check_has_a_fault),
                                     cmocka_unit_test(test_what_cannot_run)};
  return cmocka_run_group_tests(tests, open_device, close_device);
}
