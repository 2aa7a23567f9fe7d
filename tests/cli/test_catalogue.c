/* Holds the catalogue of diagnostics against the source: what is listed is reported, and reads well. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ctype.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnostic.h"

static const char *const names[] = {
#define SB_CODE(name, title, advice) #name,
#include "diagnostic_codes.def"
#undef SB_CODE
};

static unsigned uses[SB_CODE_COUNT];
static unsigned files_read;
static char unknown[256];

/* Counts SB_CODE_NAME in a source file of the host; the catalogue's own files do not count. */
static int read_source(const char *path, const struct stat *info, int kind, struct FTW *where)
{
  (void)info;
  const char *base = path + where->base, *dot = strrchr(base, '.');
  if (kind != FTW_F || !dot || (strcmp(dot, ".c") && strcmp(dot, ".h")) || !strncmp(base, "diagnostic.", 11)) return 0;
  FILE *file = fopen(path, "rb");
  if (!file) return -1;
  char *text = calloc(1, 1 << 20);
  if (!text || fread(text, 1, (1 << 20) - 1, file) == 0) return -1;
  fclose(file);
  files_read++;
  for (char *at = strstr(text, "SB_CODE_"); at; at = strstr(at, "SB_CODE_")) {
    at += strlen("SB_CODE_");
    size_t n = 0;
    while (isupper((unsigned char)at[n]) || isdigit((unsigned char)at[n]) || at[n] == '_') n++;
    int code = 0;
    while (code < SB_CODE_COUNT && (strlen(names[code]) != n || strncmp(names[code], at, n))) code++;
    if (code < SB_CODE_COUNT)
      uses[code]++;
    else if (n != strlen("COUNT") || strncmp(at, "COUNT", n))
      snprintf(unknown, sizeof unknown, "%s: SB_CODE_%.*s", base, (int)(n < 60 ? n : 60), at);
    at += n;
  }
  free(text);
  return 0;
}

static void every_code_is_reported(void **state)
{
  (void)state;
  assert_int_equal(nftw(SAMEBIT_ROOT "/host", read_source, 16, FTW_PHYS), 0);
  assert_true(files_read > 40);
  if (*unknown) fail_msg("not in the catalogue: %s", unknown);
  for (int i = 0; i < SB_CODE_COUNT; i++)
    if (!uses[i]) fail_msg("nothing reports SB_CODE_%s: remove it from diagnostic_codes.def", names[i]);
}

static void every_code_reads_well(void **state)
{
  (void)state;
  for (int i = 0; i < SB_CODE_COUNT; i++) {
    const char *title = sb_code_title((sb_code)i), *advice = sb_code_advice((sb_code)i);
    size_t n = strlen(title), m = strlen(advice);
    if (n < 8 || n > 80 || title[n - 1] == '.' || isupper((unsigned char)title[1])) fail_msg("title of %s: \"%s\"", names[i], title);
    if (m < 16 || advice[m - 1] != '.' || islower((unsigned char)advice[0])) fail_msg("advice of %s: \"%s\"", names[i], advice);
    if (strlen(sb_code_name((sb_code)i)) != strlen(names[i]) + 3) fail_msg("name of %s is cut short", names[i]);
    assert_int_equal(sb_code_find(sb_code_name((sb_code)i)), i);
    for (int k = 0; k < i; k++)
      if (!strcmp(title, sb_code_title((sb_code)k))) fail_msg("%s and %s have one title", names[i], names[k]);
  }
}

/* What each topic stands for. The longest prefix counts; a code of a new topic needs a line here and in diagnostic.c. */
static void every_topic_has_its_status(void **state)
{
  (void)state;
  static const struct {
    const char *topic;
    sb_status status;
  } topics[] = {{"MEMORY", SB_E_MEMORY},        {"MODE", SB_E_MODE},       {"CAPACITY", SB_E_CAPACITY}, {"NUMERIC", SB_E_NUMERIC},
                {"FILE", SB_E_IO},              {"ABI", SB_E_VERSION},     {"SHADER", SB_E_FORMAT},     {"VULKAN", SB_E_UNSUPPORTED},
                {"VULKAN_MEMORY", SB_E_MEMORY}, {"COOKED", SB_E_CONFIG},   {"SCENE", SB_E_CONFIG},      {"SIM", SB_E_CONFIG},
                {"SOLVER", SB_E_CONFIG},        {"SNAPSHOT", SB_E_CONFIG}, {"CLI", SB_E_CONFIG},        {"INI", SB_E_CONFIG},
                {"PLUGIN", SB_E_CONFIG},        {"BODY", SB_E_CONFIG},     {"COUPLING", SB_E_CONFIG},   {"BENCH", SB_E_CONFIG},
                {"HASH", SB_E_CONFIG},          {"SETUP", SB_E_CONFIG},    {"LEG", SB_E_CONFIG}};
  for (int i = 0; i < SB_CODE_COUNT; i++) {
    size_t best = 0;
    sb_status status = SB_OK;
    for (size_t t = 0; t < sizeof topics / sizeof topics[0]; t++) {
      size_t n = strlen(topics[t].topic);
      bool fits = !strncmp(names[i], topics[t].topic, n) && (names[i][n] == 0 || names[i][n] == '_');
      if (fits && n > best) best = n, status = topics[t].status;
    }
    if (!best) fail_msg("%s begins with no known topic", names[i]);
    if (sb_report(NULL, SB_ERROR, (sb_code)i, "", "x") != status) fail_msg("%s has another status than its topic", names[i]);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_code_is_reported), cmocka_unit_test(every_code_reads_well),
                                     cmocka_unit_test(every_topic_has_its_status)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
