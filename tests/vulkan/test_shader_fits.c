/* A plugin's shader that wants more than its pipeline gives, or that is no SPIR-V, is refused before a driver sees it, in mode Off too. */
#include "host_fixture.h"

#include "vulkan_test.h"

static const char fall[] = "[world]\nscene = generator:cloth\n[determinism]\nmode = %s\n[scene]\nmodel = springs\nrows = 4\ncolumns = 4\n[solver.all]\n"
                           "plugin = %s\n";

static sb_status start(const char *mode, const char *id, sb_diagnostics *diag)
{
  char text[600];
  sb_session s = {0};
  sb_sim *sim = NULL;
  const sb_session_options on_device = {.backend = "vulkan", .threads = 1};
  snprintf(text, sizeof text, fall, mode, id);
  sb_status status = open_text(text, on_device, &s, diag);
  if (!status) status = sb_sim_create(&s.sim, &sim, diag);
  if (!status) status = sb_sim_step(sim, diag);
  sb_sim_destroy(sim);
  sb_session_close(&s);
  return status;
}

static void test_refusals(void **state)
{
  (void)state;
  static const struct {
    const char *id, *text;
  } rows[] = {
      {"shader_third_buffer", "wants a storage buffer at binding 2, so 3 of them; the pipeline has 2"},
      {"shader_more_pushed", "wants 24 bytes of push constants; the pipeline has 8"},
      {"shader_uniform_buffer", "it wants a uniform buffer; only storage buffers are given"},
      {"shader_large_group", "a workgroup of 1024 x 1024 x 1"},
      {"shader_large_shared", "with 4194304 bytes of shared memory"},
      {"shader_cut", "it is cut off"},
      {"shader_addresses", "it wants SPIR-V capability 5347"},
      {"shader_endless", "valid SPIR-V"}, /* lacks the end of its last function */
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    sb_diagnostics diag = {0};
    sb_status status = start("Off", rows[i].id, &diag);
    bool told = count_messages(&diag, SB_CODE_SOLVER_REFUSED, rows[i].text) > 0;
    if (!told) print_messages(&diag);
    assert_int_not_equal(status, SB_OK);
    assert_true(told);
    sb_diagnostics_clear(&diag);
  }
}

/* What keeps within the device; in mode Off that may be doubles, and places outside of buffers, which the driver leaves alone. */
static void test_taken(void **state)
{
  (void)state;
  static const char *const ids[] = {"shader_sound", "shader_far_outside", "shader_doubles"};
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
    sb_diagnostics diag = {0};
    sb_status status = start("Off", ids[i], &diag);
    print_messages(&diag);
    assert_int_equal(status, SB_OK);
    sb_diagnostics_clear(&diag);
  }
}

int main(void)
{
  if (no_device()) return SKIP;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_taken), cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
