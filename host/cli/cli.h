/* The command line: options, reports, exit codes. Each command is one function in cmd_NAME.c. */
#ifndef SAMEBIT_HOST_CLI_H
#define SAMEBIT_HOST_CLI_H

#include <stdio.h>

#include <cjson/cJSON.h>

#include "session.h"

/* Exit codes */
#define CLI_DONE 0
#define CLI_BAD_ANSWER 1 /* it ran and the answer is bad */
#define CLI_USAGE 2      /* usage or config error */
#define CLI_MODE 3       /* the determinism mode asked for cannot be granted */
#define CLI_INTERRUPTED 130 /* a run was stopped by SIGINT or SIGTERM; its summary is of the ticks so far */

typedef struct cli_option {
  const char *name;  /* "--ticks" */
  const char *value; /* "N"; NULL for a flag */
  const char *text;
  /* filled by cli_parse */
  const char **given; /* every value given, in order; "" for a flag */
  size_t count;
} cli_option;

struct cli;

typedef struct cli_command {
  const char *name;      /* "run", "plugins list" */
  const char *arguments; /* "FILE.ini" */
  const char *text;
  const char *example;
  cli_option *options; /* ended by a NULL name */
  int min_words, max_words;
  int (*run)(struct cli *c);
} cli_command;

/* One call of the program. */
typedef struct cli {
  bool json;
  const cli_command *command;
  const char **words; /* arguments that are no options */
  int word_count;
  sb_diagnostics diag;
  cJSON *data;               /* with --json: what goes into "data" */
  FILE *out;                 /* with --json: where the object goes; nobody else knows it. Else stdout */
  const sb_session *session; /* what runs, for a message when a plugin ends the program; may be NULL */
  const sb_sim *sim;         /* likewise */
  char cache_dir[1040];
} cli;

/* Value of an option (the last one given) or NULL. */
const char *cli_value(const cli *c, const char *name);
bool cli_flag(const cli *c, const char *name);
/* Whole number of an option; the fallback when it is not given; a usage diagnostic when it is out of range. */
uint64_t cli_whole(cli *c, const char *name, uint64_t fallback, uint64_t lower, uint64_t upper);
/* Where outcomes of trials are kept; NULL for nowhere. Valid as long as `c`. */
const char *cli_cache_dir(cli *c);
/* The options that open a session: --set --plugins --threads --lanes --shuffle --backend --no-cache. */
sb_session_options cli_session_options(cli *c);
#define CLI_SESSION_OPTIONS                                                                                            \
  {"--set", "SECTION.KEY=VALUE", "change or add a setting; may be repeated", NULL, 0},                                 \
      {"--plugins", "DIR", "search DIR for plugins first; may be repeated", NULL, 0},                                  \
      {"--threads", "N", "threads, 1 to 256 (default 1); no result depends on it", NULL, 0},                           \
      {"--lanes", "N", "lane width 1, 4 or 8 (default: the widest here); no result depends on it", NULL, 0},           \
      {"--shuffle", "SEED", "start parallel tasks in a permuted order; no result depends on it", NULL, 0},             \
      {"--backend", "NAME", "cpu or vulkan, for every solver", NULL, 0},                                               \
      {"--no-cache", NULL, "try every plugin anew; neither read nor write what is known of it", NULL, 0}

/* Exit code for a status that stopped a command before it ran. */
int cli_exit_code(sb_status status);
/* The table (text) or the members "mode", "domain", "parts" (JSON) of a session. */
void cli_report_parts(cli *c, const sb_session *session);
/* Adds a 64-bit hash as a string of 16 hex digits. */
void cli_add_hash(cJSON *object, const char *name, uint64_t hash);

/* Commands */
int cmd_run(cli *c);
int cmd_validate(cli *c);
int cmd_plugins_list(cli *c);
int cmd_plugins_show(cli *c);
int cmd_plugins_new(cli *c);
int cmd_plugins_goldens(cli *c);
int cmd_plugins_check(cli *c);
int cmd_cook(cli *c);
int cmd_explain(cli *c);
int cmd_bench(cli *c);
int cmd_determinism(cli *c);
int cmd_hashes_diff(cli *c);
int cmd_verify(cli *c);
int cmd_shader_check(cli *c);

#endif
