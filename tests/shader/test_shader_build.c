/* Each stage of the shader path, and what happens without it: every mutant has to be found by the audit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "shader_build.h"
#include "spirv_audit.h"
#include "spirv_compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const include_dirs[] = {SHADER_INCLUDE_DIRS};

static sb_shader_options options_for_tests(void)
{
  return (sb_shader_options){.include_dirs = include_dirs,
                             .include_dir_count = sizeof include_dirs / sizeof *include_dirs,
                             .glslc = SHADER_GLSLC,
                             .spirv_opt = SHADER_SPIRV_OPT[0] ? SHADER_SPIRV_OPT : NULL};
}

#define HEAD                                                                                                           \
  "#version 450\n#extension GL_GOOGLE_include_directive : require\n#include \"prelude.glsl\"\n"                        \
  "layout(local_size_x = 64) in;\nlayout(std430, binding = 0) buffer A { float a[]; };\n"                              \
  "layout(std430, binding = 1) buffer B { int b[]; };\n"                                                               \
  "void main() { uint i = gl_GlobalInvocationID.x;\n"

static sb_spirv compiled(const char *body)
{
  char text[2048];
  int n = snprintf(text, sizeof text, HEAD "%s\n}\n", body);
  sb_shader_options options = options_for_tests();
  sb_spirv out = {0};
  sb_diagnostics diag = {0};
  if (sb_shader_compile(text, (size_t)n, "test", &options, &out, &diag) != SB_OK)
    fail_msg("%s", diag.count ? diag.items[0].message : "no message");
  sb_diagnostics_clear(&diag);
  return out;
}

static bool finds(const sb_spirv *module, sb_spirv_rule rule)
{
  sb_spirv_findings findings = {0};
  bool clean = sb_spirv_audit(module->words, module->count, &findings), found = false;
  for (size_t i = 0; i < findings.count; i++) found |= findings.items[i].rule == rule;
  assert_int_equal(clean, findings.count == 0);
  sb_spirv_findings_clear(&findings);
  return found;
}

static const char fusible[] = "a[i] = a[i] * a[i + 1] + a[i + 2];";

static void test_whole_build_is_clean(void **state)
{
  (void)state;
  static const char text[] =
      HEAD "a[i] = f_atan2(f_sin(a[i]) * a[i + 1], f_div(a[i], a[i + 2])); b[i] = f_to_i(a[i]); }\n";
  sb_shader_options options = options_for_tests();
  sb_spirv out = {0};
  sb_diagnostics diag = {0};
  if (sb_shader_build(text, sizeof text - 1, "test", &options, &out, &diag) != SB_OK)
    fail_msg("%s", diag.count ? diag.items[0].message : "no message");
  sb_spirv_findings findings = {0};
  assert_true(sb_spirv_audit(out.words, out.count, &findings));
  /* Every damaged word count ends in a finding or a clean read, never beyond the words (sanitizers watch). */
  for (size_t n = 0; n < out.count; n += 7) {
    uint32_t *cut = malloc((n + 1) * sizeof *cut);
    assert_non_null(cut);
    memcpy(cut, out.words, n * sizeof *cut);
    sb_spirv_audit(cut, n, &findings);
    sb_spirv_findings_clear(&findings);
    free(cut);
  }
  uint32_t random = 1;
  for (int round = 0; round < 400; round++) {
    uint32_t *bent = malloc(out.count * sizeof *bent);
    assert_non_null(bent);
    memcpy(bent, out.words, out.count * sizeof *bent);
    for (int k = 0; k < 4; k++) {
      random = random * 1664525u + 1013904223u;
      size_t at = (random >> 4) % out.count;
      random = random * 1664525u + 1013904223u;
      bent[at] = random & 1 ? random : bent[at] ^ 1u << (random >> 8 & 31u);
    }
    sb_spirv decorated = {0};
    sb_spirv_audit(bent, out.count, &findings);
    sb_spirv_findings_clear(&findings);
    if (sb_spirv_decorate(bent, out.count, SB_SPIRV_DECORATE | SB_SPIRV_SET_MODES, &decorated) == SB_OK)
      free(decorated.words);
    free(bent);
  }
  free(out.words);
  sb_diagnostics_clear(&diag);
}

static void test_without_decoration(void **state)
{
  (void)state;
  sb_spirv plain = compiled(fusible), out = {0};
  assert_int_equal(sb_spirv_decorate(plain.words, plain.count, SB_SPIRV_SET_MODES, &out), SB_OK);
  assert_true(finds(&out, SB_SPIRV_UNDECORATED));
  assert_false(finds(&out, SB_SPIRV_MODE));
  free(plain.words);
  free(out.words);
}

static void test_without_modes(void **state)
{
  (void)state;
  sb_spirv plain = compiled(fusible), out = {0};
  assert_int_equal(sb_spirv_decorate(plain.words, plain.count, SB_SPIRV_DECORATE, &out), SB_OK);
  assert_true(finds(&out, SB_SPIRV_MODE));
  assert_false(finds(&out, SB_SPIRV_UNDECORATED));
  free(plain.words);
  free(out.words);
}

/* Optimising first makes Fma of a product and a sum, which no later decoration undoes. */
static void test_optimised_too_early(void **state)
{
  (void)state;
  sb_shader_options options = options_for_tests();
  if (!options.spirv_opt) skip();
  sb_spirv plain = compiled(fusible), early = {0}, out = {0};
  sb_diagnostics diag = {0};
  assert_int_equal(sb_shader_optimise(options.spirv_opt, "test", &plain, &early, &diag), SB_OK);
  assert_int_equal(sb_spirv_decorate(early.words, early.count, SB_SPIRV_DECORATE | SB_SPIRV_SET_MODES, &out), SB_OK);
  assert_true(finds(&out, SB_SPIRV_EXTENDED));
  free(plain.words);
  free(early.words);
  free(out.words);
}

static void test_forbidden_text(void **state)
{
  (void)state;
  static const struct {
    const char *body;
    sb_spirv_rule rule;
  } rows[] = {{"a[i] = a[i] / a[i + 1];", SB_SPIRV_OPERATION},
              {"a[i] = sqrt(a[i]);", SB_SPIRV_EXTENDED},
              {"a[i] = sin(a[i]);", SB_SPIRV_EXTENDED},
              {"a[i] = min(a[i], a[i + 1]);", SB_SPIRV_EXTENDED},
              {"a[i] = fma(a[i], a[i + 1], a[i]);", SB_SPIRV_EXTENDED},
              {"a[i] = dot(vec2(a[i]), vec2(a[i + 1]));", SB_SPIRV_OPERATION},
              {"a[i] = mod(a[i], a[i + 1]);", SB_SPIRV_OPERATION},
              {"b[i] = int(a[i]);", SB_SPIRV_OPERATION},
              {"a[i] = (mat2(a[i]) * vec2(a[i])).x;", SB_SPIRV_OPERATION},
              {"a[i] = a[i] + 0.0;", SB_SPIRV_CONSTANT},
              {"a[i] = 0.0 - a[i];", SB_SPIRV_CONSTANT},
              {"a[i] = a[i] * 0.0;", SB_SPIRV_CONSTANT},
              {"b[i] = a[i] < a[i + 1] ? 1 : 0;", SB_SPIRV_COMPARISON},
              {"b[i] = isnan(a[i]) ? 1 : 0;", SB_SPIRV_COMPARISON},
              {"mediump float m = a[i]; m = m * m; a[i] = m;", SB_SPIRV_DECORATION},
              {"double d = a[i]; a[i] = float(d);", SB_SPIRV_TYPE}};
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    sb_spirv plain = compiled(rows[r].body), out = {0};
    assert_int_equal(sb_spirv_decorate(plain.words, plain.count, SB_SPIRV_DECORATE | SB_SPIRV_SET_MODES, &out), SB_OK);
    if (!finds(&out, rows[r].rule)) fail_msg("the audit did not see: %s", rows[r].body);
    free(plain.words);
    free(out.words);
  }
}

/* After the pass no comparison of scalars is left; one of vectors is, and is refused. */
static void test_comparisons(void **state)
{
  (void)state;
  static const struct {
    const char *body;
    bool left;
  } rows[] = {{"b[i] = a[i] < a[i + 1] ? 1 : 0;", false},
              {"b[i] = a[i] != a[i + 1] && a[i] >= a[i + 2] && !(a[i] > 0.0) ? 1 : 0;", false},
              {"b[i] = isnan(a[i]) || isinf(a[i + 1]) ? 1 : 0;", false},
              {"b[i] = any(lessThan(vec2(a[i], a[i + 1]), vec2(a[i + 2]))) ? 1 : 0;", true},
              {"b[i] = vec2(a[i], a[i + 1]) == vec2(a[i + 2]) ? 1 : 0;", true}};
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    sb_spirv plain = compiled(rows[r].body), compared = {0}, out = {0};
    assert_int_equal(sb_spirv_compare(plain.words, plain.count, &compared), SB_OK);
    assert_int_equal(sb_spirv_decorate(compared.words, compared.count, SB_SPIRV_DECORATE | SB_SPIRV_SET_MODES, &out),
                     SB_OK);
    if (finds(&out, SB_SPIRV_COMPARISON) != rows[r].left) fail_msg("wrong verdict on: %s", rows[r].body);
    free(plain.words);
    free(compared.words);
    free(out.words);
  }
}

static void test_bad_input_is_told(void **state)
{
  (void)state;
  sb_shader_options options = options_for_tests();
  sb_spirv out = {0};
  sb_diagnostics diag = {0};
  static const char broken[] = "#version 450\nvoid main() { float x = ; }\n";
  assert_int_equal(sb_shader_build(broken, sizeof broken - 1, "broken", &options, &out, &diag), SB_E_FORMAT);
  assert_int_equal(diag.count, 1);
  assert_int_equal(diag.items[0].code, SB_CODE_SHADER_COMPILE);
  assert_non_null(strstr(diag.items[0].message, "2:"));
  sb_diagnostics_clear(&diag);
  static const char missing[] =
      "#version 450\n#extension GL_GOOGLE_include_directive : require\n#include \"nowhere.h\"\nvoid main() {}\n";
  assert_int_equal(sb_shader_build(missing, sizeof missing - 1, "missing", &options, &out, &diag), SB_E_FORMAT);
  assert_non_null(strstr(diag.items[0].message, "nowhere.h"));
  sb_diagnostics_clear(&diag);
  options.glslc = "/nonexistent/glslc";
  assert_int_equal(sb_shader_build(broken, sizeof broken - 1, "broken", &options, &out, &diag), SB_E_FORMAT);
  assert_int_equal(diag.error_count, 1);
  sb_diagnostics_clear(&diag);
  const uint32_t noise[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  assert_int_equal(sb_shader_verify(noise, 8, "noise", &diag), SB_E_FORMAT);
  assert_int_equal(diag.items[0].code, SB_CODE_SHADER_RULE);
  sb_diagnostics_clear(&diag);
  char *text = NULL;
  size_t length = 0;
  assert_int_equal(sb_shader_read_file("/nonexistent/x.comp", &text, &length, &diag), SB_E_IO);
  assert_int_equal(diag.error_count, 1);
  sb_diagnostics_clear(&diag);
}

/* A name as argument runs that test alone. */
int main(int argc, char **argv)
{
  if (argc > 1) cmocka_set_test_filter(argv[1]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_whole_build_is_clean), cmocka_unit_test(test_without_decoration),
      cmocka_unit_test(test_without_modes),        cmocka_unit_test(test_optimised_too_early),
      cmocka_unit_test(test_forbidden_text),       cmocka_unit_test(test_comparisons),
      cmocka_unit_test(test_bad_input_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
