/* docs/cases.md against the tests: every case has its row, every row names what exists, every test with the label is named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CASES 45
#define MAX_TESTS 256

static char tests[MAX_TESTS][64]; /* with the label */
static size_t test_count;

static char *read_text(const char *below)
{
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", SAMEBIT_ROOT, below);
  FILE *file = fopen(path, "rb");
  char *text = file ? calloc(1, 1 << 20) : NULL;
  if (text && fread(text, 1, (1 << 20) - 1, file) == 0) *text = 0;
  if (file) fclose(file);
  return text;
}

static int list_tests(void **state)
{
  (void)state;
  char line[512];
  FILE *pipe = popen("ctest --test-dir '" SAMEBIT_BUILD "' -N -L '^cases$' 2>&1", "r");
  if (!pipe) return -1;
  while (fgets(line, sizeof line, pipe))
    if (test_count < MAX_TESTS && sscanf(line, " Test #%*d: %63s", tests[test_count]) == 1) test_count++;
  return pclose(pipe) || test_count < 10;
}

static bool is_test(const char *name)
{
  for (size_t i = 0; i < test_count; i++)
    if (!strcmp(tests[i], name)) return true;
  return false;
}

/* The third cell of a case's row; the caller frees it. */
static char *row_of(const char *text, int id)
{
  char head[16];
  snprintf(head, sizeof head, "\n| C%d | ", id);
  const char *row = strstr(text, head);
  if (!row || strstr(row + 1, head)) fail_msg("docs/cases.md: expected one row for C%d", id);
  const char *cell = strstr(row + strlen(head), " | ");
  if (!cell) fail_msg("docs/cases.md: C%d has no third cell", id);
  return strndup(cell + 3, strcspn(cell + 3, "\n") - 2);
}

/* Words after a path, up to the next that is quoted, stand in that file. */
static void check_words(int id, const char *path, const char *text, const char *at)
{
  while (*at && *at != '`') {
    size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");
    char word[96];
    if (n == 0) {
      if (*at == ';') return; /* what follows says something else */
      at++;
      continue;
    }
    snprintf(word, sizeof word, "%.*s", (int)n, at);
    if (!strstr(text, word)) fail_msg("docs/cases.md, C%d: there is no \"%s\" in %s", id, word, path);
    at += n;
  }
}

/* Returns how many tests with the label the cell names. */
static size_t check_cell(int id, char *cell)
{
  size_t named = 0;
  for (char *at = strchr(cell, '`'); at; at = strchr(at, '`')) {
    char *end = strchr(at + 1, '`'), name[160];
    if (!end) fail_msg("docs/cases.md, C%d: a quotation does not end", id);
    snprintf(name, sizeof name, "%.*s", (int)(end - at - 1), at + 1);
    at = end + 1;
    if (!strchr(name, '/')) {
      if (!is_test(name)) fail_msg("docs/cases.md, C%d: there is no test %s with the label \"cases\"", id, name);
      named++;
      continue;
    }
    char *text = read_text(name);
    if (!text) fail_msg("docs/cases.md, C%d: there is no %s", id, name);
    check_words(id, name, text, at);
    free(text);
  }
  return named;
}

static void each_case_is_shown_or_waits(void **state)
{
  (void)state;
  char *text = read_text("docs/cases.md"), *requirements = read_text("docs/requirements.md");
  assert_non_null(text);
  assert_non_null(requirements);
  for (int id = 1; id <= CASES; id++) {
    char *cell = row_of(text, id), need[16] = "", head[32];
    if (sscanf(cell, "waits for %15[A-Z0-9]", need) == 1) {
      snprintf(head, sizeof head, "\n| %s | ", need);
      const char *row = strstr(requirements, head), *end = row ? strchr(row + 1, '\n') : NULL;
      char *line = row ? strndup(row + 1, (size_t)(end ? end - row - 1 : 0)) : NULL;
      if (!line || (!strstr(line, "not yet") && !strstr(line, "in part"))) fail_msg("docs/cases.md: C%d waits for %s, which is no open requirement", id, need);
      free(line);
    } else if (check_cell(id, cell) == 0) {
      fail_msg("docs/cases.md: C%d names no test with the label \"cases\"", id);
    }
    free(cell);
  }
  free(text);
  free(requirements);
}

static void each_labelled_test_is_named(void **state)
{
  (void)state;
  char *text = read_text("docs/cases.md");
  for (size_t i = 0; i < test_count; i++) {
    char quoted[80];
    snprintf(quoted, sizeof quoted, "`%s`", tests[i]);
    if (!strstr(text, quoted)) fail_msg("docs/cases.md does not name %s, which has the label \"cases\"", tests[i]);
  }
  free(text);
}

int main(void)
{
  const struct CMUnitTest list[] = {cmocka_unit_test(each_case_is_shown_or_waits), cmocka_unit_test(each_labelled_test_is_named)};
  return cmocka_run_group_tests(list, list_tests, NULL);
}
