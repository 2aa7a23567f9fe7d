/* plugins check. */
#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance.h"

static int list_cases(cli *c)
{
  cJSON *list = c->json ? cJSON_AddArrayToObject(c->data, "cases") : NULL;
  for (size_t i = 0; i < sb_case_count(); i++) {
    const sb_case *which = sb_case_at(i);
    if (c->json) {
      cJSON *item = cJSON_CreateObject();
      cJSON_AddStringToObject(item, "case", which->name);
      cJSON_AddStringToObject(item, "what", which->what);
      cJSON_AddStringToObject(item, "why", which->why);
      cJSON_AddStringToObject(item, "fix", which->fix);
      cJSON_AddItemToArray(list, item);
    } else {
      printf("%-20s %s\n%-20s why: %s\n%-20s fix: %s\n", which->name, which->what, "", which->why, "", which->fix);
    }
  }
  return CLI_DONE;
}

static void report(cli *c, const sb_case_result *results, size_t count, size_t ends[5])
{
  cJSON *list = c->json ? cJSON_AddArrayToObject(c->data, "cases") : NULL;
  for (size_t i = 0; i < count; i++) {
    const sb_case_result *r = &results[i];
    bool bad = r->end != SB_CASE_PASSED && r->end != SB_CASE_SKIPPED;
    ends[r->end]++;
    if (c->json) {
      cJSON *item = cJSON_CreateObject();
      cJSON_AddStringToObject(item, "case", r->which->name);
      cJSON_AddStringToObject(item, "outcome", sb_case_end_name(r->end));
      cJSON_AddStringToObject(item, "text", r->text);
      if (bad) cJSON_AddStringToObject(item, "fix", sb_case_advice(r));
      cJSON_AddItemToArray(list, item);
      continue;
    }
    printf("%-20s %-9s %s%s\n", r->which->name, sb_case_end_name(r->end), r->text[0] ? "" : r->which->what, r->text);
    if (r->end == SB_CASE_FAILED) printf("%-20s %-9s must be: %s; %s\n", "", "", r->which->what, r->which->why);
    if (bad) printf("%-20s %-9s to mend it: %s\n", "", "", sb_case_advice(r));
  }
  if (c->json) {
    cJSON *summary = cJSON_AddObjectToObject(c->data, "summary");
    for (int e = 0; e < 5; e++) cJSON_AddNumberToObject(summary, sb_case_end_name((sb_case_end)e), (double)ends[e]);
  } else {
    printf("%zu passed, %zu failed, %zu crashed, %zu timed out, %zu skipped\n", ends[0], ends[1], ends[2], ends[3], ends[4]);
  }
}

static sb_status find_case(cli *c, const char *name)
{
  const char *names[128];
  size_t count = sb_case_count() < 128 ? sb_case_count() : 128;
  if (!name || sb_case_find(name)) return SB_OK;
  for (size_t i = 0; i < count; i++) names[i] = sb_case_at(i)->name;
  const char *near = sb_nearest_name(name, names, count);
  return sb_report(&c->diag, SB_ERROR, SB_CODE_CLI_USAGE, "--case", "there is no case \"%.60s\"%s%s%s; --list shows them", name, near ? "; did you mean \"" : "",
                   near ? near : "", near ? "\"?" : "");
}

int cmd_plugins_check(cli *c)
{
  const char *name = cli_value(c, "--case");
  double seconds = (double)cli_whole(c, "--seconds", 0, 1, 3600);
  if (cli_flag(c, "--list")) return list_cases(c);
  if (c->word_count != 1) sb_report(&c->diag, SB_ERROR, SB_CODE_CLI_USAGE, "plugins check", "expected the FILE of a plugin, or --list");
  if (find_case(c, name) || c->diag.error_count) return CLI_USAGE;
  if (access(c->words[0], R_OK)) { /* not opened here: a pipe would wait for its other end */
    sb_report(&c->diag, SB_ERROR, SB_CODE_FILE_OPEN, c->words[0], "the plugin cannot be read: %s", strerror(errno));
    return CLI_USAGE;
  }
  sb_trial_settings trial = {0};
  sb_trial_find_program(&trial);
  sb_case_result *results = calloc(sb_case_count(), sizeof *results);
  size_t ends[5] = {0}, count = 0;
  if (trial.program && results) count = sb_conformance_run(trial.program, c->words[0], name, seconds, results);
  if (count)
    report(c, results, count, ends);
  else
    sb_report(&c->diag, SB_ERROR, SB_CODE_PLUGIN_TRIAL, c->words[0], "no case could be run: the command cannot find itself, or there is no memory");
  free(trial.program);
  free(results);
  return count == ends[SB_CASE_PASSED] + ends[SB_CASE_SKIPPED] && count ? CLI_DONE : CLI_BAD_ANSWER;
}
