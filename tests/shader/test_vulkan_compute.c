/* The compute layer: what it runs, and what it says when it is asked for what cannot be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "shader_build.h"
#include "vulkan_compute.h"

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

static const char source[] = "#version 450\nlayout(local_size_x = 64) in;\n"
                             "layout(std430, binding = 0) readonly buffer A { uint a[]; };\n"
                             "layout(std430, binding = 1) buffer B { uint b[]; };\n"
                             "layout(push_constant) uniform P { uint k; };\n"
                             "void main() { uint i = gl_GlobalInvocationID.x; b[i] = a[i] * k + b[i]; }\n";

static sb_spirv build(void)
{
  sb_shader_options options = {.glslc = SHADER_GLSLC};
  sb_spirv module = {0};
  assert_int_equal(sb_shader_build(source, sizeof source - 1, "test", &options, &module, NULL), SB_OK);
  return module;
}

static void test_runs(void **state)
{
  sb_vulkan *vulkan = *state;
  if (!vulkan) skip();
  sb_diagnostics diag = {0};
  sb_spirv module = build();
  sb_vulkan_buffer *buffers[2];
  sb_vulkan_pipeline *pipeline;
  assert_true(sb_vulkan_about(vulkan)->device[0] != 0);
  for (int i = 0; i < 2; i++)
    assert_int_equal(sb_vulkan_buffer_create(vulkan, 256 * sizeof(uint32_t), &buffers[i], &diag), SB_OK);
  assert_int_equal(sb_vulkan_pipeline_create(vulkan, module.words, module.count, 2, 4, &pipeline, &diag), SB_OK);
  uint32_t *a = sb_vulkan_buffer_data(buffers[0]), *b = sb_vulkan_buffer_data(buffers[1]);
  for (uint32_t i = 0; i < 256; i++) a[i] = i, b[i] = 7;
  /* Twice: the second run sees what the first wrote. */
  for (uint32_t k = 3; k < 5; k++) assert_int_equal(sb_vulkan_run(vulkan, pipeline, buffers, &k, 4, &diag), SB_OK);
  for (uint32_t i = 0; i < 256; i++) assert_int_equal(b[i], 7 * i + 7);
  assert_int_equal(sb_vulkan_run(vulkan, pipeline, buffers, a, UINT32_MAX, &diag), SB_E_UNSUPPORTED);
  assert_int_equal(diag.count, 1);
  assert_int_equal(diag.items[0].code, SB_CODE_VULKAN_CALL);
  sb_vulkan_pipeline_destroy(pipeline);
  sb_vulkan_buffer_destroy(buffers[0]);
  sb_vulkan_buffer_destroy(buffers[1]);
  free(module.words);
  sb_diagnostics_clear(&diag);
}

static void test_refusals(void **state)
{
  sb_vulkan *vulkan = *state;
  if (!vulkan) skip();
  sb_diagnostics diag = {0};
  sb_spirv module = build();
  sb_vulkan_pipeline *pipeline = NULL;
  assert_int_not_equal(sb_vulkan_pipeline_create(vulkan, module.words, module.count, 0, 4, &pipeline, &diag), SB_OK);
  assert_int_not_equal(
      sb_vulkan_pipeline_create(vulkan, module.words, module.count, 2, SB_VULKAN_PUSH_MAX + 4, &pipeline, &diag),
      SB_OK);
  assert_null(pipeline);
  sb_vulkan_buffer *buffer = NULL;
  assert_int_not_equal(sb_vulkan_buffer_create(vulkan, 0, &buffer, &diag), SB_OK);
  assert_int_not_equal(sb_vulkan_buffer_create(vulkan, SIZE_MAX / 4, &buffer, &diag), SB_OK);
  assert_null(buffer);
  assert_int_equal(diag.error_count, 4);
  sb_vulkan_pipeline_destroy(NULL);
  sb_vulkan_buffer_destroy(NULL);
  sb_vulkan_close(NULL);
  free(module.words);
  sb_diagnostics_clear(&diag);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_runs), cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, open_device, close_device);
}
