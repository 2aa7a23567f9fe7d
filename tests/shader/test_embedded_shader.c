/* A shader that CMake's samebit_embed_shader put into this program: the same words as the module on disk, and clean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "embedded_check.h"
#include "shader_build.h"
#include "spirv_audit.h"

#include <stdlib.h>

static void test_words(void **state)
{
  (void)state;
  char *bytes = NULL;
  size_t length = 0;
  assert_int_equal(sb_shader_read_file(SHADER_MODULE, &bytes, &length, NULL), SB_OK);
  assert_int_equal(length, sizeof embedded_check);
  assert_memory_equal(bytes, embedded_check, length);
  free(bytes);
  sb_spirv_findings findings = {0};
  assert_true(sb_spirv_audit(embedded_check, length / sizeof *embedded_check, &findings));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_words)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
