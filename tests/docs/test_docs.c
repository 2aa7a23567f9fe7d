/* Holds the texts (README.md, ARCHITECTURE.md, docs/ ...) against the program. With --print it prints the tables that the texts
 * must have, with --update it puts them there (a table of a new solver or generator needs its heading and head row first).
 *
 *   ```ini file=NAME   the block is written to that file, for the commands after it
 *   ```c file=NAME     the same
 *   ```text hash-of=F  a sample of `samebit run F`; its model and hash must be those of today
 *   ```sh run          each line is run, in a folder with those files and conf/; "# exit N" at its end says what to expect */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "behaviour.h"
#include "conformance.h"
#include "micro_scenes.h"
#include "catalogue.h"
#include "config.h"
#include "scene.h"

#define MAX_TEXTS 32
#define MAX_KEYS 128

typedef struct document {
  char path[512]; /* below the project's folder */
  char *text;
} document;

static document documents[MAX_TEXTS];
static size_t document_count;
static char folder[] = "/tmp/samebit_docs_XXXXXX";
static char fault[1024]; /* of a block, told with its place */

static char *read_text(const char *path)
{
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  char *text = calloc(1, 1 << 20);
  if (text && fread(text, 1, (1 << 20) - 1, file) == 0) *text = 0;
  fclose(file);
  return text;
}

static char *read_source(const char *path)
{
  char full[1024];
  snprintf(full, sizeof full, "%s/%s", SAMEBIT_ROOT, path);
  char *text = read_text(full);
  if (!text) fail_msg("cannot read %s", path);
  return text;
}

static const char *document_text(const char *path)
{
  for (size_t i = 0; i < document_count; i++)
    if (!strcmp(documents[i].path, path)) return documents[i].text;
  fail_msg("there is no %s", path);
  return "";
}

static bool contains_line(const char *text, const char *line)
{
  size_t n = strlen(line);
  for (const char *at = strstr(text, line); at; at = strstr(at + 1, line))
    if ((at == text || at[-1] == '\n') && (at[n] == '\n' || at[n] == 0)) return true;
  return false;
}

/* The part of a text from a heading to the next one of its level or above; free() it. */
static char *section_of(const char *text, const char *heading)
{
  size_t level = strspn(heading, "#"), n = strlen(heading);
  const char *start = NULL, *end;
  for (const char *at = strstr(text, heading); at && !start; at = strstr(at + 1, heading))
    if ((at == text || at[-1] == '\n') && at[n] == '\n') start = at + n;
  if (!start) fail_msg("no heading \"%s\"", heading);
  for (end = strstr(start, "\n#"); end && strspn(end + 1, "#") > level; end = strstr(end + 1, "\n#")) {
  }
  return end ? strndup(start, (size_t)(end - start)) : strdup(start);
}

/* ---- what the program knows ---- */

/* The words of `static const char *const NAME[] = {"a", "b"}` in a source file; the caller frees each. */
static size_t list_in_source(const char *path, const char *name, char **words)
{
  char *text = read_source(path), declaration[128];
  snprintf(declaration, sizeof declaration, "*const %s[] = {", name);
  const char *at = strstr(text, declaration);
  if (!at) fail_msg("%s has no list %s", path, name);
  const char *end = strchr(at, '}');
  size_t count = 0;
  for (at = strchr(at, '{'); at && (at = strchr(at, '"')) && at < end && count < MAX_KEYS; at++) {
    const char *close = strchr(++at, '"');
    words[count++] = strndup(at, (size_t)(close - at));
    at = close;
  }
  free(text);
  assert_true(count > 0);
  return count;
}

static void generator_row(const sb_generator_param *p, char *row, size_t size)
{
  char range[256] = "";
  if (p->choices)
    for (int i = 0; p->choices[i]; i++) {
      size_t n = strlen(range);
      snprintf(range + n, sizeof range - n, "%s%s", i ? ", " : "", p->choices[i]);
    }
  else if (!p->path)
    snprintf(range, sizeof range, "%.9g to %.9g", p->lower, p->upper);
  snprintf(row, size, "| `%s` | %s | %s | %s | %s |", p->name, p->path ? "path" : p->choices ? "choice" : *p->unit ? p->unit : p->integer ? "count" : "1",
           p->path ? "needed" : p->fallback, range, p->text);
}

static void param_row(const sb_param_desc *p, char *row, size_t size)
{
  if (p->type != SB_PARAM_CHOICE) {
    snprintf(row, size, "| `%s` | %s | %.9g | %.9g to %.9g | %s |", p->name, p->unit, p->value, p->minimum, p->maximum, p->text);
    return;
  }
  char words[256] = "";
  const char *first = p->choices;
  for (uint32_t skip = (uint32_t)p->value; skip && strchr(first, '|'); skip--) first = strchr(first, '|') + 1;
  for (size_t i = 0, n = 0; p->choices[i] && n + 3 < sizeof words; i++) {
    words[n++] = p->choices[i] == '|' ? ',' : p->choices[i];
    if (p->choices[i] == '|') words[n++] = ' ';
    words[n] = 0;
  }
  snprintf(row, size, "| `%s` | choice | %.*s | %s | %s |", p->name, (int)strcspn(first, "|"), first, words, p->text);
}

#define MAX_SOLVERS 16
static const sb_solver_desc *solvers[MAX_SOLVERS]; /* all that the build makes */
static size_t solver_count;
static sb_catalogue catalogue;

static void load_solvers(void)
{
  sb_diagnostics diag = {0};
  if (sb_catalogue_init(&catalogue, (const char *const[]){SAMEBIT_PLUGINS}, 1, &diag)) exit(2);
  sb_catalogue_load_all(&catalogue, &diag);
  for (size_t m = 0; m < catalogue.module_count; m++)
    for (uint32_t i = 0; catalogue.modules[m].solvers && i < catalogue.modules[m].solvers->solver_count && solver_count < MAX_SOLVERS; i++)
      solvers[solver_count++] = catalogue.modules[m].solvers->solvers[i]->desc;
  sb_diagnostics_clear(&diag);
}

static const sb_solver_desc *find_solver(const char *id)
{
  for (size_t s = 0; id && s < solver_count; s++)
    if (!strcmp(solvers[s]->id, id)) return solvers[s];
  return NULL;
}

static void case_row(const sb_case *c, char *row, size_t size)
{
  snprintf(row, size, "| `%s` | %s | %s | %s |", c->name, c->what, c->why, c->fix);
}

static void print_tables(void)
{
  size_t count;
  char row[512];
  const sb_generator *g = sb_generator_list(&count);
  for (size_t i = 0; i < count; i++) {
    printf("\n### generator:%s\n\n%s.\n\n| key | unit | default | range | meaning |\n| --- | --- | --- | --- | --- |\n", g[i].name, g[i].text);
    for (size_t k = 0; k < g[i].param_count; k++) generator_row(&g[i].params[k], row, sizeof row), puts(row);
  }
  for (size_t s = 0; s < solver_count; s++) {
    const sb_solver_desc *d = solvers[s];
    printf("\n### Parameters of %s\n\n| key | unit | default | range | meaning |\n| --- | --- | --- | --- | --- |\n", d->id);
    for (uint32_t k = 0; k < d->param_count; k++) param_row(&d->params[k], row, sizeof row), puts(row);
  }
}

/* Puts new rows in the place of a table's rows below a heading. */
static void update_table(const char *path, const char *heading, const char *rows)
{
  char full[1024], *text = read_source(path);
  const char *start = strstr(text, heading), *head = start ? strstr(start, "\n| --- ") : NULL, *first = head ? strchr(head + 1, '\n') : NULL;
  if (!first) {
    fprintf(stderr, "%s: no table below \"%s\"\n", path, heading);
    free(text);
    return;
  }
  const char *end = first;
  while (!strncmp(end, "\n| `", 4)) end = strchr(end + 1, '\n');
  snprintf(full, sizeof full, "%s/%s", SAMEBIT_ROOT, path);
  FILE *file = fopen(full, "wb");
  if (file) fprintf(file, "%.*s%s%s", (int)(first - text), text, rows, end), fclose(file);
  free(text);
}

static void update_tables(void)
{
  size_t count;
  char heading[128], row[512];
  static char rows[65536];
  const sb_generator *g = sb_generator_list(&count);
  for (size_t i = 0; i < count; i++) {
    *rows = 0;
    for (size_t k = 0; k < g[i].param_count; k++) generator_row(&g[i].params[k], row, sizeof row), strcat(strcat(rows, "\n"), row);
    snprintf(heading, sizeof heading, "### generator:%s\n", g[i].name);
    update_table("docs/ini.md", heading, rows);
  }
  for (size_t s = 0; s < solver_count; s++) {
    *rows = 0;
    for (uint32_t k = 0; k < solvers[s]->param_count; k++) param_row(&solvers[s]->params[k], row, sizeof row), strcat(strcat(rows, "\n"), row);
    snprintf(heading, sizeof heading, "### Parameters of %s\n", solvers[s]->id);
    update_table("docs/solvers.md", heading, rows);
  }
  *rows = 0;
  for (size_t i = 0; i < sb_case_count(); i++) case_row(sb_case_at(i), row, sizeof row), strcat(strcat(rows, "\n"), row);
  update_table("docs/plugins.md", "## Conformance\n", rows);
}

/* ---- keys ---- */

static const struct {
  const char *heading, *file, *list;
} key_lists[] = {
    {"## [world]", "host/run/session.c", "world_keys"},           {"## [run]", "host/run/session.c", "run_keys"},
    {"## [determinism]", "host/run/session.c", "determinism_keys"}, {"## [collision]", "host/run/session.c", "collision_keys"},
    {"## [coupling]", "host/run/session.c", "coupling_keys"},     {"## [solver.NAME]", "host/run/session_parts.c", "part_keys"},
};

/* Rows of a table: lines that begin "| `". */
static size_t count_rows(const char *text)
{
  size_t count = 0;
  for (const char *at = strstr(text, "\n| `"); at; at = strstr(at + 1, "\n| `")) count++;
  return count;
}

static void ini_keys_are_all_there(void **state)
{
  (void)state;
  const char *text = document_text("docs/ini.md");
  for (size_t i = 0; i < sizeof key_lists / sizeof key_lists[0]; i++) {
    char *words[MAX_KEYS], *part = section_of(text, key_lists[i].heading);
    size_t count = list_in_source(key_lists[i].file, key_lists[i].list, words);
    for (size_t k = 0; k < count; k++) {
      char row[128];
      snprintf(row, sizeof row, "\n| `%s` | ", words[k]);
      if (!strstr(part, row)) fail_msg("docs/ini.md, %s: no row for \"%s\"", key_lists[i].heading, words[k]);
      free(words[k]);
    }
    if (count_rows(part) != count) fail_msg("docs/ini.md, %s: %zu rows, the host knows %zu keys", key_lists[i].heading, count_rows(part), count);
    free(part);
  }
  char *sections[MAX_KEYS];
  size_t count = list_in_source("host/run/session.c", "section_names", sections);
  for (size_t k = 0; k < count; k++) {
    char heading[128];
    snprintf(heading, sizeof heading, "## [%s]", sections[k]);
    free(section_of(text, heading));
    free(sections[k]);
  }
}

static void generator_tables_are_true(void **state)
{
  (void)state;
  size_t count;
  const sb_generator *g = sb_generator_list(&count);
  const char *text = document_text("docs/ini.md");
  for (size_t i = 0; i < count; i++) {
    char heading[128], row[512];
    snprintf(heading, sizeof heading, "### generator:%s", g[i].name);
    char *part = section_of(text, heading);
    for (size_t k = 0; k < g[i].param_count; k++) {
      generator_row(&g[i].params[k], row, sizeof row);
      if (!contains_line(part, row)) fail_msg("docs/ini.md, %s: expected the row\n%s", heading, row);
    }
    assert_int_equal(count_rows(part), g[i].param_count);
    free(part);
  }
}

static void solver_tables_are_true(void **state)
{
  (void)state;
  assert_true(solver_count >= 2);
  for (size_t s = 0; s < solver_count; s++) {
    const sb_solver_desc *d = solvers[s];
    char heading[128], row[512];
    snprintf(heading, sizeof heading, "### Parameters of %s", d->id);
    char *part = section_of(document_text("docs/solvers.md"), heading);
    for (uint32_t k = 0; k < d->param_count; k++) {
      param_row(&d->params[k], row, sizeof row);
      if (!contains_line(part, row)) fail_msg("docs/solvers.md, %s: expected the row\n%s", heading, row);
    }
    assert_int_equal(count_rows(part), d->param_count);
    free(part);
  }
}

static void must_have_row(const char *path, const char *row)
{
  if (!contains_line(document_text(path), row)) fail_msg("%s: expected the row\n%s", path, row);
}

/* The cases of `plugins check`, the rules of the file audit, the checks of behaviour. */
static void trust_tables_are_true(void **state)
{
  (void)state;
  char row[512];
  for (size_t i = 0; i < sb_case_count(); i++) case_row(sb_case_at(i), row, sizeof row), must_have_row("docs/plugins.md", row);
  char *part = section_of(document_text("docs/plugins.md"), "## Conformance");
  assert_int_equal(count_rows(part), sb_case_count());
  free(part);
  static const char *const limits[] = {"Off", "Local", "RunToRun", "a note", "refused"};
  for (int r = 0; r < SB_AUDIT_RULE_COUNT; r++) {
    sb_audit_rule rule = (sb_audit_rule)r;
    snprintf(row, sizeof row, "| `%s` | %s | %s |", sb_audit_rule_name(rule), sb_audit_rule_text(rule), limits[sb_audit_rule_limit(rule)]);
    must_have_row("docs/modes.md", row);
  }
  static const char *const handles[] = {"RIGID", "JOINTS", "CONTACT", "PARTICLES", "CLOTH", "SOFT"};
  for (size_t i = 0; i < sb_micro_scene_count; i++) {
    const sb_micro_scene *s = &sb_micro_scenes[i];
    char needs[64] = "";
    for (size_t h = 0; h < sizeof handles / sizeof handles[0]; h++)
      if (s->handles >> h & 1)
        snprintf(needs + strlen(needs), sizeof needs - strlen(needs), "%s%s", *needs ? ", " : "", handles[h]);
    snprintf(row, sizeof row, "| `%s` | %s | %u | %s |", s->name, needs, s->ticks, s->text);
    must_have_row("docs/modes.md", row);
  }
  for (size_t i = 0; i < sb_behaviour_check_count; i++) {
    snprintf(row, sizeof row, "| `%s` | %s |", sb_behaviour_checks[i].name, sb_behaviour_checks[i].text);
    must_have_row("docs/modes.md", row);
  }
}

/* ---- blocks ---- */

typedef struct block {
  char info[128]; /* what follows the fence */
  char *text;
  unsigned line;
} block;

/* The next fenced block at or after *at; false when there is none. free() its text. */
static bool next_block(const char *whole, const char **at, block *b)
{
  const char *open = strncmp(*at, "```", 3) || *at != whole ? strstr(*at, "\n```") : *at - 1;
  if (!open) return false;
  const char *info = open + 4, *line = strchr(info, '\n'), *close = line ? strstr(line, "\n```") : NULL;
  if (!close) return false;
  snprintf(b->info, sizeof b->info, "%.*s", (int)(line - info), info);
  b->text = close > line ? strndup(line + 1, (size_t)(close - line)) : strdup("");
  b->line = 1;
  for (const char *p = whole; p < info; p++) b->line += *p == '\n';
  *at = close + 4;
  return true;
}

static bool is_word(char *const *words, size_t count, const char *word)
{
  for (size_t i = 0; i < count; i++)
    if (!strcmp(words[i], word)) return true;
  return false;
}

/* Whether the host would know this setting. */
static bool is_known(const sb_config *config, const sb_setting *s)
{
  if (!strcmp(s->section, "scene")) {
    size_t count;
    const sb_generator *g = sb_generator_list(&count);
    for (size_t i = 0; i < count; i++)
      for (size_t k = 0; k < g[i].param_count; k++)
        if (!strcmp(g[i].params[k].name, s->key)) return true;
    return false;
  }
  bool solver = !strncmp(s->section, "solver.", 7);
  for (size_t i = 0; i < sizeof key_lists / sizeof key_lists[0]; i++) {
    char section[64];
    snprintf(section, sizeof section, "%.*s", (int)strcspn(key_lists[i].heading + 4, "]"), key_lists[i].heading + 4);
    if (solver ? strcmp(section, "solver.NAME") : strcmp(section, s->section)) continue;
    char *words[MAX_KEYS];
    size_t count = list_in_source(key_lists[i].file, key_lists[i].list, words);
    bool known = is_word(words, count, s->key);
    for (size_t k = 0; k < count; k++) free(words[k]);
    if (known) return true;
  }
  if (!solver) return false;
  const char *plugin = NULL;
  for (size_t i = 0; i < config->count; i++)
    if (!strcmp(config->settings[i].section, s->section) && !strcmp(config->settings[i].key, "plugin")) plugin = config->settings[i].value;
  const sb_solver_desc *named = find_solver(plugin);
  if (plugin && !named) return true; /* an example's own; the run tells */
  bool known = false;
  for (size_t i = 0; i < solver_count; i++)
    for (uint32_t k = 0; k < solvers[i]->param_count && (!named || named == solvers[i]); k++)
      known = known || !strcmp(solvers[i]->params[k].name, s->key);
  return known;
}

static void ini_blocks_are_understood(void **state)
{
  (void)state;
  unsigned found = 0;
  for (size_t i = 0; i < document_count; i++) {
    const char *at = documents[i].text;
    block b;
    while (next_block(documents[i].text, &at, &b)) {
      if (!strncmp(b.info, "ini", 3)) {
        sb_config config;
        sb_diagnostics diag = {0};
        if (sb_config_parse(b.text, strlen(b.text), documents[i].path, &config, &diag))
          fail_msg("%s:%u: %s", documents[i].path, b.line, diag.count ? diag.items[0].message : "?");
        for (size_t k = 0; k < config.count; k++)
          if (!is_known(&config, &config.settings[k]))
            fail_msg("%s:%u: there is no %s.%s", documents[i].path, b.line, config.settings[k].section, config.settings[k].key);
        sb_config_free(&config);
        found++;
      }
      free(b.text);
    }
  }
  assert_true(found >= 4);
}

static void write_block(const block *b, const char *name)
{
  char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  fputs(b->text, file);
  assert_int_equal(fclose(file), 0);
}

/* Runs one line; false with `fault` set when it ends otherwise than it says. */
static bool run_line(const char *line, size_t n)
{
  char command[2048], script[4096];
  int expected = 0;
  snprintf(command, sizeof command, "%.*s", (int)n, line);
  const char *note = strstr(command, "# exit ");
  if (note) expected = atoi(note + strlen("# exit "));
  snprintf(script, sizeof script, "cd '%s' && PATH=\"$(dirname '%s'):$PATH\" && export PATH && { %s\n} >out.txt 2>&1", folder,
           SAMEBIT_COMMAND, command);
  int status = system(script);
  if (WIFEXITED(status) && WEXITSTATUS(status) == expected) return true;
  char path[256];
  snprintf(path, sizeof path, "%s/out.txt", folder);
  char *out = read_text(path);
  snprintf(fault, sizeof fault, "\"%.200s\": exit %d, expected %d\n%.600s", command, WIFEXITED(status) ? WEXITSTATUS(status) : -1, expected,
           out ? out : "");
  free(out);
  return false;
}

/* Whether the lines "model" and "hash" of a sample are what the command prints. */
static bool sample_is_true(const char *sample, const char *ini)
{
  char command[1024], path[256];
  snprintf(command, sizeof command, "cd '%s' && '%s' run '%s' >sample.txt", folder, SAMEBIT_COMMAND, ini);
  if (system(command)) return false;
  snprintf(path, sizeof path, "%s/sample.txt", folder);
  char *out = read_text(path);
  bool same = out != NULL;
  for (const char *line = strtok(out, "\n"); line; line = strtok(NULL, "\n")) {
    if ((strncmp(line, "hash ", 5) && strncmp(line, "model ", 6)) || contains_line(sample, line)) continue;
    snprintf(fault, sizeof fault, "the sample of %s should say\n%s", ini, line);
    same = false;
  }
  free(out);
  return same;
}

static void commands_run(void **state)
{
  (void)state;
  unsigned lines = 0;
  for (size_t i = 0; i < document_count; i++) {
    const char *at = documents[i].text;
    block b;
    while (next_block(documents[i].text, &at, &b)) {
      const char *name = strstr(b.info, "file=");
      if (name) write_block(&b, name + strlen("file="));
      const char *sample = strstr(b.info, "hash-of=");
      if (sample && !sample_is_true(b.text, sample + strlen("hash-of="))) fail_msg("%s:%u: %s", documents[i].path, b.line, fault);
      bool run = !strcmp(b.info, "sh run");
      for (const char *line = b.text; run && *line;) {
        size_t n = strcspn(line, "\n");
        if (n && !run_line(line, n)) fail_msg("%s:%u: %s", documents[i].path, b.line, fault);
        lines += n > 0;
        line += n + (line[n] == '\n');
      }
      free(b.text);
    }
  }
  assert_true(lines >= 10);
}

/* ---- paths and links ---- */

static bool exists(const char *base, const char *path, size_t n)
{
  char full[2048];
  snprintf(full, sizeof full, "%s/%.*s", base, (int)n, path);
  return access(full, F_OK) == 0;
}

static void links_lead_somewhere(void **state)
{
  (void)state;
  unsigned found = 0;
  for (size_t i = 0; i < document_count; i++) {
    char base[1024];
    const char *slash = strrchr(documents[i].path, '/');
    snprintf(base, sizeof base, "%s/%.*s", SAMEBIT_ROOT, slash ? (int)(slash - documents[i].path) : 0, documents[i].path);
    for (const char *at = strstr(documents[i].text, "]("); at; at = strstr(at + 1, "](")) {
      size_t n = strcspn(at + 2, ")#\n");
      if (n == 0 || !strncmp(at + 2, "http", 4)) continue;
      if (!exists(base, at + 2, n)) fail_msg("%s: the link (%.*s) leads nowhere", documents[i].path, (int)n, at + 2);
      found++;
    }
  }
  assert_true(found >= 8);
}

static void paths_exist(void **state)
{
  (void)state;
  static const char *const tops[] = {"host/", "plugin_api/", "collision/", "solvers/", "shaders/", "tests/", "conf/", "docs/"};
  unsigned found = 0;
  for (size_t i = 0; i < document_count; i++)
    for (const char *at = strchr(documents[i].text, '`'); at; at = strchr(at + 1, '`')) {
      size_t n = strcspn(at + 1, "`\n "), path = strcspn(at + 1, "`\n :");
      bool below = false;
      for (size_t t = 0; t < sizeof tops / sizeof tops[0]; t++) below = below || !strncmp(at + 1, tops[t], strlen(tops[t]));
      if (!below || at[1 + n] != '`' || memchr(at + 1, '*', n) || memchr(at + 1, '{', n)) continue;
      if (!exists(SAMEBIT_ROOT, at + 1, path)) fail_msg("%s: there is no %.*s", documents[i].path, (int)path, at + 1);
      found++;
    }
  assert_true(found >= 50);
}

static void texts_name_no_machine(void **state)
{
  (void)state;
  static const char *const words[] = {"/work/", "/home/", "/root/", "TODO", "FIXME"};
  for (size_t i = 0; i < document_count; i++)
    for (size_t w = 0; w < sizeof words / sizeof words[0]; w++)
      if (strstr(documents[i].text, words[w])) fail_msg("%s says \"%s\"", documents[i].path, words[w]);
}

static void requirements_are_all_there(void **state)
{
  (void)state;
  static const struct {
    char letter;
    int last;
  } groups[] = {{'M', 9}, {'N', 9}, {'S', 12}, {'O', 10}, {'P', 8}, {'V', 10}, {'H', 12}};
  const char *text = document_text("docs/requirements.md");
  for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++)
    for (int k = 1; k <= groups[g].last; k++) {
      char row[32];
      snprintf(row, sizeof row, "\n| %c%d | ", groups[g].letter, k);
      const char *first = strstr(text, row);
      if (!first || strstr(first + 1, row)) fail_msg("docs/requirements.md: expected one row for %c%d", groups[g].letter, k);
    }
}

/* ---- the whole ---- */

static void add_folder(const char *below)
{
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", SAMEBIT_ROOT, below);
  struct dirent **entries;
  int n = scandir(path, &entries, NULL, alphasort);
  for (int i = 0; i < n; i++) {
    size_t length = strlen(entries[i]->d_name);
    if (length > 3 && !strcmp(entries[i]->d_name + length - 3, ".md") && document_count < MAX_TEXTS) {
      document *d = &documents[document_count++];
      snprintf(d->path, sizeof d->path, "%s%s", below, entries[i]->d_name);
      d->text = read_source(d->path);
    }
    free(entries[i]);
  }
  if (n >= 0) free(entries);
}

static int read_all(void **state)
{
  (void)state;
  char command[2048];
  add_folder("");
  add_folder("docs/");
  if (!mkdtemp(folder) || document_count < 3) return -1;
  snprintf(command, sizeof command, "ln -s '%s/conf' '%s/plugin_api' '%s'", SAMEBIT_ROOT, SAMEBIT_ROOT, folder);
  return system(command);
}

static int free_all(void **state)
{
  (void)state;
  char command[128];
  for (size_t i = 0; i < document_count; i++) free(documents[i].text);
  snprintf(command, sizeof command, "rm -r '%s'", folder);
  return system(command);
}

int main(int argc, char **argv)
{
  load_solvers();
  if (argc > 1 && (!strcmp(argv[1], "--print") || !strcmp(argv[1], "--update"))) {
    argv[1][2] == 'p' ? print_tables() : update_tables();
    sb_catalogue_free(&catalogue);
    return 0;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ini_keys_are_all_there),    cmocka_unit_test(generator_tables_are_true), cmocka_unit_test(solver_tables_are_true), cmocka_unit_test(trust_tables_are_true),
      cmocka_unit_test(ini_blocks_are_understood), cmocka_unit_test(commands_run),              cmocka_unit_test(links_lead_somewhere),
      cmocka_unit_test(paths_exist),               cmocka_unit_test(texts_name_no_machine),     cmocka_unit_test(requirements_are_all_there)};
  int failed = cmocka_run_group_tests(tests, read_all, free_all);
  sb_catalogue_free(&catalogue);
  return failed;
}
