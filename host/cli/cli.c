/* Option parsing, help, diagnostics and the exit code. */
#define _POSIX_C_SOURCE 200809L
#include "cli.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static cli_option run_options[] = {{"--ticks", "N", "how many ticks (default: [run] ticks, or 1000)", NULL, 0},
                                   {"--hashes", "FILE", "write the hashes after each tick, one line each", NULL, 0},
                                   {"--events", "FILE", "write contact events, one JSON object a line", NULL, 0},
                                   {"--dump", "FILE", "write the final contacts and state, one 32-bit word a line", NULL, 0},
                                   {"--frame", "FILE.obj", "write what world 0 looks like at the end, as a Wavefront OBJ", NULL, 0},
                                   {"--hostile-fp", NULL, "start with subnormals flushed and another rounding mode; no result depends on it", NULL, 0},
                                   CLI_SESSION_OPTIONS,
                                   {NULL, NULL, NULL, NULL, 0}};
static cli_option validate_options[] = {CLI_SESSION_OPTIONS, {NULL, NULL, NULL, NULL, 0}};
static cli_option plugins_options[] = {{"--plugins", "DIR", "search DIR for plugins first; may be repeated", NULL, 0},
                                       {"--no-cache", NULL, "try every plugin anew; neither read nor write what is known of it", NULL, 0},
                                       {NULL, NULL, NULL, NULL, 0}};
static cli_option cook_options[] = {{"--out", "FILE", "where to write the model bytes; without it only the report is printed", NULL, 0},
                                    {"--param", "KEY=VALUE", "parameter of a generator; may be repeated", NULL, 0},
                                    {"--keyframe", "NAME", "start from this keyframe", NULL, 0},
                                    {"--base", "fixed|floating", "how a URDF's root link is held (default fixed)", NULL, 0},
                                    {"--ground", NULL, "add the plane z = 0 unless the scene has a plane", NULL, 0},
                                    {"--package-dir", "DIR", "search DIR for package://; may be repeated", NULL, 0},
                                    {NULL, NULL, NULL, NULL, 0}};
static cli_option bench_options[] = {{"--ticks", "N", "ticks in one repeat (default 200)", NULL, 0},
                                     {"--repeats", "N", "interleaved repeats, of which the median is told (default 5)", NULL, 0},
                                     {"--solvers", "A,B", "run each INI once with each of these plugins for all its solvers", NULL, 0},
                                     CLI_SESSION_OPTIONS,
                                     {NULL, NULL, NULL, NULL, 0}};
static cli_option check_options[] = {{"--case", "NAME", "run this case, and what it needs", NULL, 0},
                                     {"--list", NULL, "list the cases: what, why, how to mend", NULL, 0},
                                     {"--seconds", "N", "limit of time for each case (default 30); more where other programs take the processors", NULL, 0},
                                     {NULL, NULL, NULL, NULL, 0}};
static cli_option determinism_options[] = {
    {"--ticks", "N", "how many ticks (default: [run] ticks, or 1000)", NULL, 0},
    {"--cores", "DIR", "also run the core programs of other builds: each DIR/NAME/run (tests/determinism/build_core.sh makes them)", NULL, 0},
    {"--legs", "PATTERN", "run only legs of such names, besides the first", NULL, 0},
    {"--jobs", "N", "legs at once (default: one for each processor)", NULL, 0},
    {"--limit", "SECONDS", "kill a leg that takes longer (default 600)", NULL, 0},
    {"--keep", "DIR", "keep hashes, output and setup of the legs in DIR", NULL, 0},
    {"--set", "SECTION.KEY=VALUE", "change or add a setting; may be repeated", NULL, 0},
    {"--plugins", "DIR", "search DIR for plugins first; may be repeated", NULL, 0},
    {NULL, NULL, NULL, NULL, 0}};
static cli_option new_options[] = {{"--dir", "DIR", "where to write it (default: a folder of the plugin's name here)", NULL, 0}, {NULL, NULL, NULL, NULL, 0}};
static cli_option verify_options[] = {{"--pack", "DIR", "the golden pack to run (default: the one that came with this program)", NULL, 0},
                                      {"--plugins", "DIR", "search DIR for plugins first; may be repeated", NULL, 0},
                                      {NULL, NULL, NULL, NULL, 0}};
static cli_option shader_options[] = {{"--include", "DIR", "search DIR for what GLSL includes; may be repeated", NULL, 0},
                                      {"--define", "NAME=VALUE", "macro for GLSL; may be repeated", NULL, 0},
                                      {"--no-optimise", NULL, "judge GLSL without spirv-opt, which long text keeps busy for minutes", NULL, 0},
                                      {NULL, NULL, NULL, NULL, 0}};
static cli_option no_options[] = {{NULL, NULL, NULL, NULL, 0}};

static const cli_command commands[] = {
    {"run", "FILE.ini", "simulate; print modes, ticks per second and the final hash", "samebit run conf/humanoid.ini --ticks 2000",
     run_options, 1, 1, cmd_run},
    {"validate", "FILE.ini", "the startup check without simulating", "samebit validate conf/humanoid.ini --json", validate_options, 1, 1,
     cmd_validate},
    {"bench", "FILE.ini...", "time scenes and solvers against each other", "samebit bench conf/arms.ini conf/pyramid.ini", bench_options, 1,
     64, cmd_bench},
    {"determinism", "FILE.ini", "the same run in separate processes over builds, lanes, threads and machines; where it differs first",
     "samebit determinism conf/pile.ini --ticks 100", determinism_options, 1, 1, cmd_determinism},
    {"hashes diff", "A B", "compare hash files of two runs or machines", "samebit hashes diff here.txt there.txt", no_options, 2, 2,
     cmd_hashes_diff},
    {"verify", "", "run the golden pack and print a certificate to compare with others", "samebit verify --json", verify_options, 0, 0,
     cmd_verify},
    {"cook", "SCENE", "write model bytes and list what is not supported", "samebit cook robot.xml --out robot.sbm", cook_options, 1, 1,
     cmd_cook},
    {"plugins list", "", "the solvers found, with their mode on each backend", "samebit plugins list", plugins_options, 0, 0,
     cmd_plugins_list},
    {"plugins show", "ID", "one solver: what it handles, its parameters, its modes", "samebit plugins show featherstone", plugins_options, 1,
     1, cmd_plugins_show},
    {"plugins new", "NAME", "write a complete small solver to start from, with its own test", "samebit plugins new my_solver", new_options, 1, 1,
     cmd_plugins_new},
    {"plugins goldens", "FILE", "the micro-scene hashes that a plugin's descriptor should hold", "samebit plugins goldens build/my_solver.so", no_options, 1,
     1, cmd_plugins_goldens},
    {"plugins check", "[FILE]", "conformance of a plugin: every case in a process of its own", "samebit plugins check build/plugins/steel.so", check_options, 0,
     1, cmd_plugins_check},
    {"shader check", "FILE", "a compute shader (.spv, .comp, .glsl) against the number rules: each finding with its place and what to do",
     "samebit shader check step.comp", shader_options, 1, 1, cmd_shader_check},
    {"explain", "CODE", "what a diagnostic code means and what to do", "samebit explain SB-INI-UNKNOWN-KEY", no_options, 0, 1, cmd_explain},
};
#define COMMAND_COUNT (sizeof commands / sizeof commands[0])

const char *cli_value(const cli *c, const char *name)
{
  for (const cli_option *o = c->command->options; o->name; o++)
    if (!strcmp(o->name, name)) return o->count ? o->given[o->count - 1] : NULL;
  return NULL;
}

bool cli_flag(const cli *c, const char *name) { return cli_value(c, name) != NULL; }

uint64_t cli_whole(cli *c, const char *name, uint64_t fallback, uint64_t lower, uint64_t upper)
{
  const char *text = cli_value(c, name);
  uint64_t value = fallback;
  if (text && (!sb_parse_whole(text, &value) || value < lower || value > upper))
    sb_report(&c->diag, SB_ERROR, SB_CODE_CLI_USAGE, name, "expected a whole number from %" PRIu64 " to %" PRIu64 ", found \"%s\"", lower,
              upper, text);
  return value;
}

static const cli_option *find_option(const cli_command *command, const char *name)
{
  for (const cli_option *o = command->options; o->name; o++)
    if (!strcmp(o->name, name)) return o;
  return NULL;
}

/* $XDG_CACHE_HOME/samebit, or ~/.cache/samebit; NULL when neither is known or --no-cache is given. */
const char *cli_cache_dir(cli *c)
{
  const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  if (cli_flag(c, "--no-cache")) return NULL;
  if (base && base[0] == '/')
    snprintf(c->cache_dir, sizeof c->cache_dir, "%.1000s/samebit", base);
  else if (home && home[0] == '/')
    snprintf(c->cache_dir, sizeof c->cache_dir, "%.1000s/.cache/samebit", home);
  else
    return NULL;
  return c->cache_dir;
}

sb_session_options cli_session_options(cli *c)
{
  sb_session_options o = {0};
  const cli_option *sets = find_option(c->command, "--set"), *dirs = find_option(c->command, "--plugins");
  if (sets) o.sets = sets->given, o.set_count = sets->count;
  if (dirs) o.plugin_dirs = dirs->given, o.plugin_dir_count = dirs->count;
  o.threads = (uint32_t)cli_whole(c, "--threads", 1, 1, 256);
  o.lanes = (uint32_t)cli_whole(c, "--lanes", 0, 1, 8);
  if (o.lanes && o.lanes != 1 && o.lanes != 4 && o.lanes != 8)
    sb_report(&c->diag, SB_ERROR, SB_CODE_CLI_USAGE, "--lanes", "expected 1, 4 or 8");
  if (o.lanes > sb_cpu_lanes())
    sb_report(&c->diag, SB_ERROR, SB_CODE_CLI_USAGE, "--lanes", "this CPU runs at most %u lanes", sb_cpu_lanes());
  o.shuffle = cli_whole(c, "--shuffle", 0, 0, UINT64_MAX);
  o.backend = cli_value(c, "--backend");
  o.cache_dir = cli_cache_dir(c);
  return o;
}

int cli_exit_code(sb_status status)
{
  if (status == SB_OK) return CLI_DONE;
  return status == SB_E_MODE ? CLI_MODE : CLI_USAGE;
}

void cli_add_hash(cJSON *object, const char *name, uint64_t hash)
{
  char text[20];
  snprintf(text, sizeof text, "%016" PRIx64, hash);
  cJSON_AddStringToObject(object, name, text);
}

/* ---- help ---- */

static void print_command_help(const cli_command *c)
{
  printf("samebit %s %s\n  %s\n", c->name, c->arguments, c->text);
  if (c->options->name) printf("\nOptions\n");
  for (const cli_option *o = c->options; o->name; o++) {
    char left[64];
    snprintf(left, sizeof left, "%s %s", o->name, o->value ? o->value : "");
    printf("  %-26s %s\n", left, o->text);
  }
  printf("  %-26s %s\n", "--json", "print one JSON object");
  printf("\nExample\n  %s\n", c->example);
}

static void print_help(void)
{
  printf("samebit [--json] COMMAND: physics whose results repeat, bit for bit\n\nCommands\n");
  for (size_t i = 0; i < COMMAND_COUNT; i++) {
    char left[64];
    snprintf(left, sizeof left, "%s %s", commands[i].name, commands[i].arguments);
    printf("  %-22s %s\n", left, commands[i].text);
  }
  printf("\nEach command has --help. Exit codes: 0 done, 1 the answer is bad, 2 usage or configuration, 3 the mode cannot be granted, 130 interrupted.\n");
}

/* `samebit plugins`, alone or with --help: a word that commands of two words begin with. */
static bool begins_with_word(const char *name, const char *word)
{
  size_t n = strlen(word);
  return !strncmp(name, word, n) && name[n] == ' ';
}

static bool is_group(int argc, char **argv)
{
  if (argc > 1 && strcmp(argv[1], "--help") && strcmp(argv[1], "-h")) return false;
  for (size_t i = 0; i < COMMAND_COUNT; i++)
    if (begins_with_word(commands[i].name, argv[0])) return true;
  return false;
}

static void print_group(const char *word)
{
  printf("samebit %s COMMAND\n\nCommands\n", word);
  for (size_t i = 0; i < COMMAND_COUNT; i++) {
    char left[64];
    if (!begins_with_word(commands[i].name, word)) continue;
    snprintf(left, sizeof left, "%s %s", commands[i].name, commands[i].arguments);
    printf("  %-22s %s\n", left, commands[i].text);
  }
  printf("\nEach command has --help.\n");
}

/* ---- parsing ---- */

static sb_status usage(cli *c, const char *where, const char *message, const char *word, const char *near)
{
  return sb_report(&c->diag, SB_ERROR, SB_CODE_CLI_USAGE, where, "%s \"%s\"%s%s%s", message, word, near ? "; did you mean \"" : "",
                   near ? near : "", near ? "\"?" : "; see --help");
}

/* The command named by the first one or two words; *used says how many. */
static const cli_command *find_command(int argc, char **argv, int *used)
{
  for (size_t i = 0; i < COMMAND_COUNT; i++) {
    const char *space = strchr(commands[i].name, ' ');
    if (!space && !strcmp(commands[i].name, argv[0])) {
      *used = 1;
      return &commands[i];
    }
    if (space && argc > 1 && !strncmp(commands[i].name, argv[0], (size_t)(space - commands[i].name)) &&
        strlen(argv[0]) == (size_t)(space - commands[i].name) && !strcmp(space + 1, argv[1])) {
      *used = 2;
      return &commands[i];
    }
  }
  return NULL;
}

static bool add_value(cli_option *o, const char *value)
{
  const char **grown = realloc(o->given, (o->count + 1) * sizeof *grown);
  if (!grown) return false;
  o->given = grown;
  o->given[o->count++] = value;
  return true;
}

static sb_status parse_words(cli *c, int argc, char **argv, bool *help)
{
  for (int i = 0; i < argc; i++) {
    const char *word = argv[i];
    if (!strcmp(word, "--json")) {
      c->json = true;
    } else if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
      *help = true;
    } else if (word[0] == '-' && word[1]) {
      char name[64];
      const char *equals = strchr(word, '=');
      snprintf(name, sizeof name, "%.*s", (int)(equals ? equals - word : (long)strlen(word)), word);
      cli_option *o = (cli_option *)find_option(c->command, name);
      if (!o) {
        const char *names[32];
        size_t n = 0;
        for (const cli_option *k = c->command->options; k->name; k++) names[n++] = k->name;
        return usage(c, c->command->name, "unknown option", name, sb_nearest_name(name, names, n));
      }
      if (o->value && !equals && i + 1 >= argc) return usage(c, c->command->name, "a value must follow", name, NULL);
      if (!o->value && equals) return usage(c, c->command->name, "no value may follow", name, NULL);
      if (!add_value(o, !o->value ? "" : equals ? equals + 1 : argv[++i])) return SB_E_MEMORY;
    } else {
      c->words[c->word_count++] = word;
    }
  }
  return SB_OK;
}

/* ---- the end of a call ---- */

static void print_diagnostics(const cli *c)
{
  fflush(stdout); /* so that messages come after what was printed before them */
  static const char *const severity[] = {"note", "warning", "error"};
  for (size_t i = 0; i < c->diag.count; i++) {
    const sb_diagnostic *d = &c->diag.items[i];
    fprintf(stderr, "%s%s%s [%s] %s\n", d->where, *d->where ? ": " : "", severity[d->severity], sb_code_name(d->code), d->message);
  }
  if (c->diag.dropped) fprintf(stderr, "%zu more messages were lost because memory ran out\n", c->diag.dropped);
}

static void print_json(cli *c, int code)
{
  static const char *const severity[] = {"note", "warning", "error"};
  cJSON *root = cJSON_CreateObject();
  cJSON_AddNumberToObject(root, "schema_version", 1);
  cJSON_AddBoolToObject(root, "ok", code == CLI_DONE);
  cJSON_AddItemToObject(root, "data", c->data ? c->data : cJSON_CreateObject());
  c->data = NULL;
  cJSON *list = cJSON_AddArrayToObject(root, "diagnostics");
  for (size_t i = 0; i < c->diag.count; i++) {
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "code", sb_code_name(c->diag.items[i].code));
    cJSON_AddStringToObject(item, "severity", severity[c->diag.items[i].severity]);
    cJSON_AddStringToObject(item, "message", c->diag.items[i].message);
    cJSON_AddStringToObject(item, "where", c->diag.items[i].where);
    cJSON_AddItemToArray(list, item);
  }
  char *text = cJSON_Print(root);
  if (text) fprintf(c->out, "%s\n", text);
  cJSON_free(text);
  cJSON_Delete(root);
}

/* The object alone goes to standard output: what plugins print there goes to standard error from here on. */
static void keep_stdout(cli *c)
{
  int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
  if (out && dup2(STDERR_FILENO, STDOUT_FILENO) == STDOUT_FILENO) {
    c->out = out;
    return;
  }
  if (out)
    fclose(out);
  else if (fd >= 0)
    close(fd);
}

/* Whether all that was printed got out. */
static bool flush_all(const cli *c)
{
  bool ok = c->out == stdout || (!fflush(c->out) && !ferror(c->out));
  return ok && (c->out != stdout || (!fflush(stdout) && !ferror(stdout)));
}

/* ---- plugins that end the program ---- */

static cli *guarded; /* the call that has not ended; NULL before and after */
static pid_t guarded_process;

/* exit() in a plugin, in whatever mode, is no good end of a command. */
static void on_exit_of_plugin(void)
{
  cli *c = guarded;
  if (!c) return;
  guarded = NULL;
  if (getpid() != guarded_process) _exit(CLI_BAD_ANSWER); /* a process of a benchmark: its parent tells */
  const char *part = c->sim ? sb_sim_at_work(c->sim) : NULL;
  if (!part && c->session && c->session->part_count == 2) part = c->session->parts[1].name; /* the only solver */
  sb_report(&c->diag, SB_ERROR, SB_CODE_SOLVER_EXIT, part ? part : "plugin",
            "%s called exit, and the command is not done; a solver returns a status instead",
            part ? "its solver" : "a plugin");
  if (c->json)
    print_json(c, CLI_BAD_ANSWER);
  else
    print_diagnostics(c);
  flush_all(c);
  _exit(CLI_BAD_ANSWER);
}

/* For command lines that cannot be read to their end. */
static bool asks_for_json(int argc, char **argv)
{
  bool asks = false;
  for (int i = 0; i < argc; i++) asks = asks || !strcmp(argv[i], "--json");
  return asks;
}

static int run_command(cli *c, int argc, char **argv)
{
  bool help = false;
  int used = 0;
  while (argc > 0 && !strcmp(argv[0], "--json")) c->json = true, argc--, argv++;
  if (argc == 0 || !strcmp(argv[0], "--help") || !strcmp(argv[0], "-h") || !strcmp(argv[0], "help")) {
    print_help();
    c->json = false; /* help is text */
    return argc == 0 ? CLI_USAGE : CLI_DONE;
  }
  if (!strcmp(argv[0], "--version")) {
    c->json = false;
    char domain[256];
    sb_domain_text(domain, sizeof domain);
    printf("samebit %s\nABI %u.%u (goes back to %u.%u)\n%s\nFLT_EVAL_METHOD %s, fast-math %s, fused instructions of "
           "the target %s\n",
           SAMEBIT_VERSION, SB_ABI_MAJOR, SB_ABI_MINOR, SB_ABI_MAJOR, SB_ABI_MIN_MINOR, domain,
           SB_FP_BUILD_FLAGS & SB_FP_EVAL_METHOD_0 ? "0" : "not 0",
           SB_FP_BUILD_FLAGS & SB_FP_NO_FAST_MATH ? "off" : "on",
           SB_FP_BUILD_FLAGS & SB_FP_NO_FMA_TARGET ? "none" : "not used (-ffp-contract=off)");
    return CLI_DONE;
  }
  if (!c->json && is_group(argc, argv)) {
    print_group(argv[0]);
    return argc > 1 ? CLI_DONE : CLI_USAGE;
  }
  c->command = find_command(argc, argv, &used);
  if (!c->command) {
    c->json = c->json || asks_for_json(argc, argv);
    const char *names[COMMAND_COUNT];
    for (size_t i = 0; i < COMMAND_COUNT; i++) names[i] = commands[i].name;
    char word[96];
    bool two = argc > 1 && argv[1][0] != '-' && is_group(1, argv);
    snprintf(word, sizeof word, "%.40s%s%.40s", argv[0], two ? " " : "", two ? argv[1] : "");
    usage(c, "samebit", "unknown command", word, sb_nearest_name(word, names, COMMAND_COUNT));
    return CLI_USAGE;
  }
  c->words = calloc((size_t)argc + 1, sizeof *c->words);
  if (!c->words || parse_words(c, argc - used, argv + used, &help)) {
    c->json = c->json || asks_for_json(argc, argv);
    return CLI_USAGE;
  }
  if (help) {
    print_command_help(c->command);
    c->json = false;
    return CLI_DONE;
  }
  if (c->word_count < c->command->min_words || c->word_count > c->command->max_words) {
    sb_report(&c->diag, SB_ERROR, SB_CODE_CLI_USAGE, c->command->name, "expected: samebit %s %s; see --help", c->command->name,
              c->command->arguments);
    return CLI_USAGE;
  }
  if (c->json) {
    c->data = cJSON_CreateObject();
    keep_stdout(c);
  }
  return c->command->run(c);
}

int main(int argc, char **argv)
{
  if (argc > 1 && !strcmp(argv[1], SB_TRIAL_WORD)) return sb_trial_child(argc, argv);
  /* A closed standard stream must not become the first file that is opened. */
  for (int fd = 0; fd < 3; fd++)
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) < 0) return CLI_USAGE;
  cli c = {.out = stdout};
  guarded = &c;
  guarded_process = getpid();
  atexit(on_exit_of_plugin);
  at_quick_exit(on_exit_of_plugin);
  int code = run_command(&c, argc - 1, argv + 1);
  guarded = NULL;
  if (c.json)
    print_json(&c, code);
  else
    print_diagnostics(&c);
  if (!flush_all(&c)) {
    fprintf(stderr, "error [%s] cannot write the output\n", sb_code_name(SB_CODE_FILE_WRITE));
    if (code == CLI_DONE) code = CLI_BAD_ANSWER;
  }
  for (size_t i = 0; i < COMMAND_COUNT; i++)
    for (cli_option *o = commands[i].options; o->name; o++) {
      free(o->given);
      o->given = NULL;
      o->count = 0;
    }
  cJSON_Delete(c.data);
  free(c.words);
  sb_diagnostics_clear(&c.diag);
  if (c.out != stdout) fclose(c.out);
  return code;
}
