/* `samebit shader check` as its user meets it: exit codes, text, JSON; every fault of spirv_faults.h in a file of its
 * own. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "spirv_text.h"

#include <cjson/cJSON.h>

#include <sys/wait.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

typedef struct answer {
  int code;
  char out[16384], err[4096];
} answer;

static void read_into(const char *path, char *text, size_t size)
{
  FILE *f = fopen(path, "r");
  assert_non_null(f);
  text[fread(text, 1, size - 1, f)] = 0;
  fclose(f);
}

/* Runs the command in the folder of this test, which CMake has made. `before` may set variables. */
static answer check(const char *before, const char *arguments)
{
  char command[2048];
  answer a;
  snprintf(command, sizeof command, "cd '%s' && %s '%s' shader check %s >out.txt 2>err.txt", SHADER_FOLDER, before,
           SAMEBIT_COMMAND, arguments);
  int status = system(command);
  assert_true(WIFEXITED(status));
  a.code = WEXITSTATUS(status);
  read_into(SHADER_FOLDER "/out.txt", a.out, sizeof a.out);
  read_into(SHADER_FOLDER "/err.txt", a.err, sizeof a.err);
  return a;
}

static void expect(const answer *a, int code, const char *out, const char *err)
{
  if (a->code != code || !strstr(a->out, out) || !strstr(a->err, err))
    fail_msg("expected exit %d, \"%s\", \"%s\"; found %d\n%s\n%s", code, out, err, a->code, a->out, a->err);
}

static void write_file(const char *name, const void *bytes, size_t size)
{
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", SHADER_FOLDER, name);
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(bytes, 1, size, f), size);
  assert_int_equal(fclose(f), 0);
}

static void write_module(const char *name, const sb_spirv *module)
{
  write_file(name, module->words, module->count * sizeof *module->words);
}

static void test_good_file(void **state)
{
  (void)state;
  sb_spirv good = assemble(good_text, "good");
  write_module("good.spv", &good);
  answer a = check("", "good.spv");
  expect(&a, 0, "good.spv keeps the number rules", "");
  assert_string_equal(a.err, "");
  a = check("", "good.spv --json");
  cJSON *root = cJSON_Parse(a.out), *data = cJSON_GetObjectItem(root, "data");
  assert_int_equal(a.code, 0);
  assert_true(cJSON_IsTrue(cJSON_GetObjectItem(root, "ok")));
  assert_string_equal(cJSON_GetObjectItem(data, "language")->valuestring, "spirv");
  assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(data, "findings")), 0);
  assert_int_equal(cJSON_GetObjectItem(data, "words")->valueint, good.count);
  cJSON_Delete(root);
  free(good.words);
}

static void test_each_fault(void **state)
{
  (void)state;
  for (size_t k = 0; k < COUNT(spirv_faults); k++) {
    const spirv_fault *fault = &spirv_faults[k];
    sb_spirv module = with_fault(fault);
    write_module("fault.spv", &module);
    free(module.words);
    answer a = check("", "fault.spv --json");
    cJSON *root = cJSON_Parse(a.out), *list = cJSON_GetObjectItem(cJSON_GetObjectItem(root, "data"), "findings");
    cJSON *first = cJSON_GetArrayItem(list, 0);
    if (a.code != 1 || !first) fail_msg("%s: exit %d\n%s", fault->name, a.code, a.out);
    assert_string_equal(cJSON_GetObjectItem(first, "rule")->valuestring, sb_spirv_rule_name(fault->rule));
    bool lined = !strncmp(fault->place, "step.comp:", 10);
    assert_string_equal(cJSON_GetObjectItem(first, "file")->valuestring, lined ? "step.comp" : "");
    assert_int_equal(cJSON_GetObjectItem(first, "line")->valueint, lined ? atoi(fault->place + 10) : 0);
    assert_string_equal(
        cJSON_GetObjectItem(cJSON_GetArrayItem(cJSON_GetObjectItem(root, "diagnostics"), 0), "code")->valuestring,
        "SB-SHADER-RULE");
    cJSON_Delete(root);
  }
  answer a = check("", "fault.spv");
  expect(&a, 1, "[damaged]\n  to mend it: ", "[SB-SHADER-RULE] 1 finding");
}

#define GLSL                                                                                                           \
  "#version 450\n#extension GL_GOOGLE_include_directive : require\n#include \"prelude.glsl\"\n"                        \
  "layout(local_size_x = 64) in;\nlayout(std430, binding = 0) buffer A { float a[]; };\n"                              \
  "float scaled(float x)\n{\n  return f_div(x, SCALE);\n}\n"

static void test_glsl(void **state)
{
  (void)state;
  static const char good[] = GLSL "void main()\n{\n  a[0] = scaled(a[1]);\n}\n";
  static const char bad[] = GLSL "void main()\n{\n  a[0] = scaled(a[1]);\n  a[1] = inversesqrt(a[2]);\n}\n";
  static const char broken[] = GLSL "void main()\n{\n  a[0] = ;\n}\n";
  write_file("good.comp", good, sizeof good - 1);
  write_file("bad.comp", bad, sizeof bad - 1);
  write_file("broken.glsl", broken, sizeof broken - 1);
  answer a = check("", "good.comp --define SCALE=3.0");
  expect(&a, 0, "good.comp keeps the number rules", "");
  a = check("", "good.comp --define SCALE=3.0 --no-optimise");
  expect(&a, 0, "good.comp keeps the number rules", "");
  a = check("", "bad.comp --define SCALE=3.0");
  expect(&a, 1, "bad.comp:13, in main, word ", "1 finding");
  expect(&a, 1, "InverseSqrt", "");
  expect(&a, 1, "f_rsqrt", "");
  a = check("", "bad.comp --define SCALE=3.0 --json");
  cJSON *root = cJSON_Parse(a.out);
  assert_non_null(root);
  assert_string_equal(cJSON_GetObjectItem(cJSON_GetObjectItem(root, "data"), "language")->valuestring, "glsl");
  cJSON_Delete(root);
  a = check("", "good.comp");
  expect(&a, 2, "", "[SB-SHADER-COMPILE]");
  expect(&a, 2, "", "SCALE");
  a = check("", "broken.glsl --define SCALE=3.0");
  expect(&a, 2, "", ":12: ");
  /* Without a compiler: GLSL cannot be judged, SPIR-V can. */
  a = check("PATH=/nowhere", "good.comp --define SCALE=3.0");
  expect(&a, 2, "", "needs the compiler glslc on the PATH");
  a = check("PATH=/nowhere", "good.spv");
  expect(&a, 0, "keeps the number rules", "");
}

static void test_damaged_files(void **state)
{
  (void)state;
  sb_spirv good = assemble(good_text, "good");
  size_t bytes = good.count * sizeof *good.words;
  /* The last byte of the last word is 0: it is missed all the same. */
  write_file("cut.spv", good.words, bytes - 1);
  answer a = check("", "cut.spv");
  expect(&a, 1, "the file ends inside a word", "");
  write_file("half.spv", good.words, bytes / 8 * 4);
  a = check("", "half.spv");
  expect(&a, 1, "[damaged]", "");
  for (size_t k = 0; k < good.count; k++)
    good.words[k] =
        good.words[k] >> 24 | (good.words[k] >> 8 & 0xff00u) | (good.words[k] << 8 & 0xff0000u) | good.words[k] << 24;
  write_file("other", good.words, bytes);
  a = check("", "other");
  expect(&a, 1, "the other byte order", "");
  write_file("empty.spv", "", 0);
  a = check("", "empty.spv");
  expect(&a, 1, "[damaged]", "");
  free(good.words);
  /* What only the validator sees. */
  sb_spirv invalid = with_fault(
      &(spirv_fault){"", "%bits = OpBitcast %uint %y", "%bits = OpBitcast %uint %where", SB_SPIRV_DAMAGED, ""});
  write_module("invalid.spv", &invalid);
  a = check("", "invalid.spv");
  expect(&a, 1, "[invalid]", "1 finding");
  a = check("", "invalid.spv --json");
  cJSON *root = cJSON_Parse(a.out);
  assert_non_null(root);
  cJSON_Delete(root);
  free(invalid.words);
}

static void test_usage(void **state)
{
  (void)state;
  write_file("notes.txt", "no shader", 9);
  answer a = check("", "notes.txt");
  expect(&a, 2, "", "expected SPIR-V (.spv), or the GLSL of a compute shader (.comp, .glsl)");
  a = check("", "nowhere.spv");
  expect(&a, 2, "", "[SB-FILE-SHADER]");
  a = check("", ".");
  expect(&a, 2, "", "[SB-FILE-SHADER]");
  a = check("", "");
  expect(&a, 2, "", "expected: samebit shader check FILE");
  a = check("", "--help");
  expect(&a, 0, "Example\n  samebit shader check step.comp", "");
}

/* docs/numbers.md has each rule, with its text. */
static void test_rules_are_documented(void **state)
{
  (void)state;
  static const char *const rows[] = {
#define ROW(rule, name, text) "| `" name "` | " text " |",
      SB_SPIRV_RULES(ROW)
#undef ROW
  };
  char *page = NULL;
  size_t length;
  assert_int_equal(sb_shader_read_file(SHADER_RULES_PAGE, &page, &length, NULL), SB_OK);
  for (size_t k = 0; k < COUNT(rows); k++)
    if (!strstr(page, rows[k])) fail_msg("docs/numbers.md lacks: %s", rows[k]);
  free(page);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_good_file), cmocka_unit_test(test_each_fault),
                                     cmocka_unit_test(test_glsl),      cmocka_unit_test(test_damaged_files),
                                     cmocka_unit_test(test_usage),     cmocka_unit_test(test_rules_are_documented)};
  return cmocka_run_group_tests(tests, read_good, free_good);
}
