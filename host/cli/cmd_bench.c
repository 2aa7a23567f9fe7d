/* bench: scenes and solvers against each other. Each run is a process of its own, so that peak memory is its own; repeats are
 * interleaved (every case once, then every case again), so that a noisy machine is noisy for all; medians are told. */
#define _DEFAULT_SOURCE
#include "cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_CASES 256u
#define MAX_REPEATS 101u

/* What one run tells its parent. */
typedef struct outcome {
  int32_t ok;
  sb_status status; /* of opening the session; SB_E_INTERNAL when the process ended without a word */
  char message[400];
  uint32_t mode;
  uint64_t hash;
  double ms_per_tick;
  double median_tick_ms; /* of single ticks */
  double worst_tick_ms;
  double dt;
  double peak_mib;
  float penetration;
  uint32_t bodies;
} outcome;

/* A part of a run: what its mode rests on. */
typedef struct run_part {
  char name[48], plugin[64];
  uint32_t backend, declared, verified, granted;
  uint64_t module_hash; /* 0 for the host's own */
} run_part;

#define MAX_PARTS 16u /* that are told */

typedef struct run_parts {
  run_part list[MAX_PARTS];
  uint32_t count;
  char domain[1024];
} run_parts;

typedef struct bench_case {
  const char *ini;
  char solver[64]; /* "" as the INI says */
  run_parts parts; /* of the last run; all are the same */
  outcome runs[MAX_REPEATS];
  uint32_t run_count;
} bench_case;

static double ms_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int compare_doubles(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
  qsort(values, count, sizeof *values, compare_doubles);
  return count % 2 ? values[count / 2] : 0.5 * (values[count / 2 - 1] + values[count / 2]);
}

/* --set for the plugin of every solver section; the words live in `memory`. */
static size_t solver_sets(const char *ini, const char *solver, const char **sets, char (*memory)[192], size_t limit)
{
  sb_config config;
  size_t count = 0;
  if (sb_config_read(ini, &config, NULL)) return 0;
  const char *last = "";
  for (size_t i = 0; i < config.count && count < limit; i++) {
    const char *section = config.settings[i].section;
    if (strncmp(section, "solver.", 7) || !strcmp(section, last)) continue;
    last = section;
    snprintf(memory[count], sizeof memory[count], "%.100s.plugin=%.60s", section, solver);
    sets[count] = memory[count];
    count++;
  }
  sb_config_free(&config);
  return count;
}

static void note_parts(const sb_session *s, run_parts *parts)
{
  parts->count = 0;
  sb_session_domain(s, parts->domain, sizeof parts->domain);
  for (uint32_t p = 0; p < s->part_count && parts->count < MAX_PARTS; p++) {
    const sb_session_part *from = &s->parts[p];
    run_part *to = &parts->list[parts->count++];
    *to = (run_part){
        .backend = from->backend, .declared = from->declared, .verified = from->verified, .granted = from->granted};
    to->module_hash = from->module ? from->module->file_hash : 0;
    snprintf(to->name, sizeof to->name, "%s", from->name);
    snprintf(to->plugin, sizeof to->plugin, "%s", from->plugin);
  }
}

static outcome run_here(cli *c, const bench_case *k, const sb_session_options *base, uint64_t ticks, run_parts *parts)
{
  outcome out = {0};
  const char *sets[128];
  char memory[64][192];
  sb_session_options o = *base;
  size_t n = k->solver[0] ? solver_sets(k->ini, k->solver, sets, memory, 64) : 0;
  for (size_t i = 0; i < base->set_count && n < 128; i++) sets[n++] = base->sets[i];
  o.sets = sets;
  o.set_count = n;
  sb_session s;
  sb_sim *sim = NULL;
  sb_status status = sb_session_open(k->ini, &o, &s, &c->diag);
  out.status = status;
  bool opened = !status;
  if (!status) status = sb_session_create_sim(&s, &sim, &c->diag);
  if (opened) note_parts(&s, parts);
  double *each = malloc((ticks + 1) * sizeof *each);
  if (!each) status = SB_E_MEMORY;
  double start = ms_now();
  for (uint64_t t = 0; !status && t < ticks; t++) {
    double before = ms_now();
    status = sb_sim_step(sim, &c->diag);
    each[t] = ms_now() - before;
  }
  double total = ms_now() - start;
  if (!status) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    out.ok = 1;
    out.mode = s.mode;
    out.hash = sb_sim_hash(sim);
    out.ms_per_tick = total / (double)(ticks ? ticks : 1);
    for (uint64_t t = 0; t < ticks; t++)
      if (each[t] > out.worst_tick_ms) out.worst_tick_ms = each[t];
    out.median_tick_ms = ticks ? median(each, ticks) : 0;
    out.peak_mib = (double)usage.ru_maxrss / 1024;
    out.penetration = sb_sim_statistics(sim).largest_penetration;
    out.dt = (double)s.sim.dt_numerator / s.sim.dt_denominator;
    out.bodies = sb_model_store_view(s.model)->body_count;
  }
  free(each);
  sb_sim_destroy(sim);
  sb_session_close(&s);
  return out;
}

/* All of a struct, which may come in pieces. */
static bool read_all(int fd, void *to, size_t size)
{
  size_t done = 0;
  for (ssize_t n = 1; n > 0 && done<size; done += n> 0 ? (size_t)n : 0) n = read(fd, (char *)to + done, size - done);
  return done == size;
}

static outcome run_in_child(cli *c, bench_case *k, const sb_session_options *base, uint64_t ticks)
{
  outcome out = {0};
  int ends[2];
  fflush(NULL);
  if (pipe(ends)) return out;
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    run_parts parts = {0};
    outcome mine = run_here(c, k, base, ticks, &parts);
    for (size_t i = 0; !mine.ok && i < c->diag.count && !mine.message[0]; i++)
      if (c->diag.items[i].severity == SB_ERROR)
        snprintf(mine.message, sizeof mine.message, "%.100s: [%s] %.250s", c->diag.items[i].where, sb_code_name(c->diag.items[i].code),
                 c->diag.items[i].message);
    bool told =
        write(ends[1], &mine, sizeof mine) == sizeof mine && write(ends[1], &parts, sizeof parts) == sizeof parts;
    _exit(told ? 0 : 1);
  }
  close(ends[1]);
  if (child < 0 || !read_all(ends[0], &out, sizeof out) || !read_all(ends[0], &k->parts, sizeof k->parts))
    out = (outcome){.status = SB_E_INTERNAL};
  close(ends[0]);
  if (child > 0) waitpid(child, NULL, 0);
  return out;
}

static void report_parts(cli *c, const bench_case *k, cJSON *row)
{
  cJSON *list = c->json ? cJSON_AddArrayToObject(row, "parts") : NULL;
  for (uint32_t p = 0; p < k->parts.count; p++) {
    const run_part *part = &k->parts.list[p];
    if (!c->json) {
      printf("%-28s %-14s %-14s %-14s %-7s %-14s %-14s %-14s ", k->ini, k->solver[0] ? k->solver : "(INI)", part->name,
             part->plugin, sb_backend_name(part->backend), sb_mode_name(part->declared), sb_mode_name(part->verified),
             sb_mode_name(part->granted));
      part->module_hash ? printf("%016" PRIx64 "\n", part->module_hash) : printf("-\n");
      continue;
    }
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "part", part->name);
    cJSON_AddStringToObject(item, "plugin", part->plugin);
    cJSON_AddStringToObject(item, "backend", sb_backend_name(part->backend));
    cJSON_AddStringToObject(item, "declared", sb_mode_name(part->declared));
    cJSON_AddStringToObject(item, "verified", sb_mode_name(part->verified));
    cJSON_AddStringToObject(item, "granted", sb_mode_name(part->granted));
    if (part->module_hash) cli_add_hash(item, "module_hash", part->module_hash);
    cJSON_AddItemToArray(list, item);
  }
}

static void report_case(cli *c, bench_case *k, cJSON *list, double fastest)
{
  double ms[MAX_REPEATS], low, high;
  outcome first = k->runs[0];
  bool same = true;
  for (uint32_t r = 0; r < k->run_count; r++) {
    ms[r] = k->runs[r].ms_per_tick;
    same = same && k->runs[r].hash == first.hash;
  }
  double mid = median(ms, k->run_count);
  low = ms[0], high = ms[k->run_count - 1];
  if (!c->json) {
    printf("%-28s %-14s %-14s %10.4f %10.4f %10.4f %10.0f %8.1f %6.2f %8.1f %9.3f  %016" PRIx64 "%s\n", k->ini,
           k->solver[0] ? k->solver : "(INI)", sb_mode_name(first.mode), mid, low, high, 1e3 / mid, first.dt * 1e3 / mid, mid / fastest,
           first.peak_mib, 1e3 * (double)first.penetration, first.hash, same ? "" : "  HASHES DIFFER BETWEEN REPEATS");
    return;
  }
  cJSON *row = cJSON_CreateObject();
  cJSON_AddStringToObject(row, "ini", k->ini);
  cJSON_AddStringToObject(row, "solver", k->solver);
  cJSON_AddStringToObject(row, "mode", sb_mode_name(first.mode));
  cJSON_AddNumberToObject(row, "bodies", first.bodies);
  cJSON_AddNumberToObject(row, "ms_per_tick_median", mid);
  cJSON_AddNumberToObject(row, "ms_per_tick_min", low);
  cJSON_AddNumberToObject(row, "ms_per_tick_max", high);
  cJSON_AddNumberToObject(row, "worst_tick_ms", first.worst_tick_ms);
  cJSON_AddNumberToObject(row, "ticks_per_second", 1e3 / mid);
  cJSON_AddNumberToObject(row, "times_real_time", first.dt * 1e3 / mid);
  cJSON_AddNumberToObject(row, "ratio_to_fastest", mid / fastest);
  cJSON_AddNumberToObject(row, "peak_mib", first.peak_mib);
  cJSON_AddNumberToObject(row, "largest_penetration", (double)first.penetration);
  cli_add_hash(row, "final_hash", first.hash);
  cJSON_AddBoolToObject(row, "hashes_repeat", same);
  cJSON_AddStringToObject(row, "domain", k->parts.domain);
  report_parts(c, k, row);
  cJSON_AddItemToArray(list, row);
}

/* One case for each INI, or for each INI and solver. */
static size_t list_cases(cli *c, bench_case *cases)
{
  size_t count = 0;
  for (int w = 0; w < c->word_count; w++) {
    const char *solvers = cli_value(c, "--solvers");
    do {
      if (count == MAX_CASES) {
        sb_report(&c->diag, SB_ERROR, SB_CODE_CLI_USAGE, "bench", "more than %u cases", MAX_CASES);
        return count;
      }
      bench_case *k = &cases[count++];
      k->ini = c->words[w];
      size_t n = solvers ? strcspn(solvers, ",") : 0;
      if (solvers && n == 0) sb_report(&c->diag, SB_ERROR, SB_CODE_CLI_USAGE, "--solvers", "a name is empty");
      snprintf(k->solver, sizeof k->solver, "%.*s", (int)n, solvers ? solvers : "");
      if (solvers) solvers += n + (solvers[n] == ',');
    } while (solvers && *solvers);
  }
  return count;
}

int cmd_bench(cli *c)
{
  sb_session_options options = cli_session_options(c);
  uint64_t ticks = cli_whole(c, "--ticks", 200, 1, 100000000);
  uint32_t repeats = (uint32_t)cli_whole(c, "--repeats", 5, 1, MAX_REPEATS);
  if (c->diag.error_count) return CLI_USAGE;
  bench_case *cases = calloc(MAX_CASES, sizeof *cases);
  if (!cases) return cli_exit_code(sb_report(&c->diag, SB_ERROR, SB_CODE_MEMORY, "bench", "no memory"));
  size_t count = list_cases(c, cases);
  if (c->diag.error_count) {
    free(cases);
    return CLI_USAGE;
  }
  int code = CLI_DONE;
  for (uint32_t r = 0; r < repeats && code == CLI_DONE; r++)
    for (size_t i = 0; i < count; i++) {
      outcome out = run_in_child(c, &cases[i], &options, ticks);
      if (out.ok) {
        cases[i].runs[cases[i].run_count++] = out;
        continue;
      }
      sb_report(&c->diag, SB_ERROR, SB_CODE_BENCH_FAILED, cases[i].ini, "the run with %s did not finish: %s",
                cases[i].solver[0] ? cases[i].solver : "its own solvers", out.message[0] ? out.message : "its process ended without a word");
      code = out.status == SB_OK || out.status == SB_E_INTERNAL ? CLI_BAD_ANSWER : cli_exit_code(out.status);
    }
  double fastest = 1e300;
  for (size_t i = 0; i < count; i++)
    for (uint32_t r = 0; r < cases[i].run_count; r++)
      if (cases[i].runs[r].ms_per_tick < fastest) fastest = cases[i].runs[r].ms_per_tick;
  cJSON *list = c->json ? cJSON_AddArrayToObject(c->data, "cases") : NULL;
  if (!c->json)
    printf("%" PRIu64 " ticks, %u interleaved repeats, %u threads\n%-28s %-14s %-14s %10s %10s %10s %10s %8s %6s %8s %9s  %s\n", ticks, repeats,
           options.threads, "scene", "solver", "mode", "ms/tick", "least", "most", "ticks/s", "x real", "ratio", "peak MiB", "pen. mm", "final hash");
  for (size_t i = 0; i < count; i++) {
    if (cases[i].run_count == 0) continue;
    for (uint32_t r = 1; r < cases[i].run_count; r++)
      if (cases[i].runs[r].hash != cases[i].runs[0].hash && cases[i].runs[0].mode > SB_MODE_OFF) code = CLI_BAD_ANSWER;
    report_case(c, &cases[i], list, fastest);
  }
  if (!c->json)
    printf("\n%-28s %-14s %-14s %-14s %-7s %-14s %-14s %-14s %s\n", "scene", "solver", "part", "plugin", "backend",
           "declared", "verified", "granted", "module's XXH3");
  const char *domain = "";
  for (size_t i = 0; !c->json && i < count; i++) {
    if (!cases[i].run_count) continue;
    report_parts(c, &cases[i], NULL);
    if (strcmp(domain, cases[i].parts.domain)) printf("domain  %s\n", cases[i].parts.domain);
    domain = cases[i].parts.domain;
  }
  free(cases);
  return code;
}
