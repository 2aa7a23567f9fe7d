/* determinism: the same run in separate processes over the matrix that this machine offers. */
#define _GNU_SOURCE
#include "cli.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dump_compare.h"
#include "hash_file.h"
#include "leg.h"
#include "run_setup.h"

#define MAX_LEGS 64
#define MAX_EXPLAINED 3 /* legs whose first difference is looked for */

typedef enum outcome { SAME, DIFFERS, FAILED, SKIPPED } outcome;
static const char *const outcome_names[] = {"same", "differs", "failed", "skipped"};

/* A leg of the matrix: how it is run, and what came of it. */
typedef struct entry {
  char name[64];
  char runner[PATH_MAX];    /* of a core program; "" for this program */
  const char *extra[8];     /* options that make the leg */
  uint64_t on_device;       /* bits 1 << part of what runs on Vulkan; other legs of this program keep to the CPU */
  outcome outcome;
  char reason[400];         /* for FAILED and SKIPPED */
  char hashes_path[PATH_MAX];
  sb_hash_file hashes;
  double seconds;
  uint64_t final;           /* hash */
} entry;

typedef struct matrix {
  cli *c;
  const sb_session *session;
  char self[PATH_MAX];
  char folder[PATH_MAX];
  uint64_t ticks;
  unsigned jobs;
  double limit;
  entry *entries;
  size_t count;
} matrix;

/* ---- which legs ---- */

static entry *add_entry(matrix *m, const char *name)
{
  const char *pattern = cli_value(m->c, "--legs");
  /* The first leg is what the others are compared with. */
  if (m->count && pattern && fnmatch(pattern, name, 0)) return NULL;
  if (m->count == MAX_LEGS) return NULL;
  entry *e = &m->entries[m->count++];
  snprintf(e->name, sizeof e->name, "%.63s", name);
  return e;
}

static void add_own(matrix *m, const char *name, const char *a, const char *b, const char *c, const char *d)
{
  entry *e = add_entry(m, name);
  if (!e) return;
  const char *extra[] = {a, b, c, d};
  for (size_t i = 0; i < 4; i++) e->extra[i] = extra[i];
}

static void skip(entry *e, const char *reason)
{
  if (!e) return;
  e->outcome = SKIPPED;
  snprintf(e->reason, sizeof e->reason, "%s", reason);
}

/* This program with its plugins as modules: lanes, threads, task order, the caller's floating-point environment. */
static void add_own_legs(matrix *m)
{
  add_own(m, "lanes-1", "--lanes", "1", "--threads", "1");
  add_own(m, "lanes-4", "--lanes", "4", "--threads", "1");
  if (sb_cpu_lanes() == 8)
    add_own(m, "lanes-8", "--lanes", "8", "--threads", "1");
  else
    skip(add_entry(m, "lanes-8"), "this processor does not run 8 lanes");
  add_own(m, "threads-2", "--threads", "2", NULL, NULL);
  add_own(m, "threads-3", "--threads", "3", NULL, NULL);
  add_own(m, "threads-16", "--threads", "16", NULL, NULL);
  add_own(m, "shuffle", "--threads", "2", "--shuffle", "7");
  add_own(m, "hostile-fp", "--hostile-fp", NULL, NULL, NULL);
}

static bool any_vulkan(const sb_session *s)
{
  for (uint32_t p = 0; p < s->part_count; p++)
    if (s->parts[p].api && s->parts[p].api->desc->mode[SB_BACKEND_VULKAN] != SB_MODE_OFF) return true;
  return false;
}

static bool goes_to_device(const sb_session_part *p) { return p->api && p->api->desc->mode[SB_BACKEND_VULKAN] != SB_MODE_OFF; }

/* The first error of a list, or NULL. */
static const sb_diagnostic *first_error(const sb_diagnostics *diag)
{
  for (size_t i = 0; i < diag->count; i++)
    if (diag->items[i].severity == SB_ERROR) return &diag->items[i];
  return NULL;
}

/* Which solvers take this scene on the device: bits 1 << part; 0 when none does, and why not. Each refusal sends its solver back to the CPU. */
static uint64_t find_on_device(const sb_session *s, const sb_device *device, sb_diagnostics *diag)
{
  sb_sim_config config = s->sim;
  sb_sim_part *parts = calloc(config.part_count + 1, sizeof *parts);
  uint64_t taken = 0;
  for (uint32_t p = 0, n = 0; parts && p < s->part_count; p++) {
    if (!s->parts[p].api) continue;
    parts[n] = s->sim.parts[n];
    parts[n].backend = goes_to_device(&s->parts[p]) ? SB_BACKEND_VULKAN : SB_BACKEND_CPU;
    if (parts[n++].backend == SB_BACKEND_VULKAN && p < 64) taken |= 1ull << p;
  }
  config.parts = parts;
  config.device = device;
  while (parts && taken) {
    sb_sim *sim = NULL;
    sb_diagnostics refusal = {0};
    sb_status status = sb_sim_create(&config, &sim, &refusal);
    sb_sim_destroy(sim);
    uint64_t before = taken;
    const sb_diagnostic *first = first_error(&refusal);
    for (uint32_t p = 0, n = 0; status && first && first->code == SB_CODE_SOLVER_REFUSED && p < s->part_count; p++) {
      if (!s->parts[p].api) continue;
      if (p < 64 && taken >> p & 1u && !strcmp(first->where, s->parts[p].name)) {
        taken &= ~(1ull << p);
        parts[n].backend = SB_BACKEND_CPU;
      }
      n++;
    }
    if (status && (before == taken || !taken)) {
      taken = 0;
      sb_report(diag, SB_ERROR, SB_CODE_SOLVER_REFUSED, "vulkan", "%s", first ? first->message : "no memory");
    }
    sb_diagnostics_clear(&refusal);
    if (!status) break;
  }
  free(parts);
  return taken;
}

static void add_backend_leg(matrix *m)
{
  entry *e = add_entry(m, "vulkan");
  sb_session_device *device = NULL;
  sb_diagnostics diag = {0};
  if (!e) return;
  if (!any_vulkan(m->session))
    skip(e, "no solver of this run has a Vulkan backend");
  else if (!sb_session_device_open(false, 0, &device, &diag))
    e->on_device = find_on_device(m->session, sb_session_device_for_sim(device), &diag);
  if (e->outcome != SKIPPED && !e->on_device) skip(e, diag.count ? diag.items[0].message : "no memory");
  sb_session_device_close(device);
  sb_diagnostics_clear(&diag);
}

/* Every solver to the CPU, or those that can to the device. */
static bool add_backend_words(const matrix *m, const entry *e, sb_leg *leg)
{
  bool ok = true;
  if (!e->on_device) return sb_leg_add(leg, "--backend") && sb_leg_add(leg, "cpu");
  for (uint32_t p = 0; p < m->session->part_count; p++) {
    char setting[200];
    if (p >= 64 || !(e->on_device >> p & 1u)) continue;
    snprintf(setting, sizeof setting, "solver.%.150s.backend=vulkan", m->session->parts[p].name);
    ok = ok && sb_leg_add(leg, "--set") && sb_leg_add(leg, setting);
  }
  return ok;
}

/* The solver of this run that a core program does not have, or NULL. */
static const char *find_missing_solver(const matrix *m, const char *runner)
{
  char list[PATH_MAX], text[4096] = "\n";
  snprintf(list, sizeof list, "%.*s/solvers.txt", (int)strlen(m->folder), m->folder);
  sb_leg leg = {.log = strdup(list)};
  sb_leg_add(&leg, runner);
  sb_leg_add(&leg, "--solvers");
  sb_legs_run(&leg, 1, 1, 60.0);
  FILE *file = fopen(list, "r");
  size_t n = file ? fread(text + 1, 1, sizeof text - 2, file) : 0;
  text[n + 1] = 0;
  if (file) fclose(file);
  sb_leg_free(&leg);
  const sb_session *s = m->session;
  for (uint32_t p = 0; p < s->part_count; p++) {
    char line[128];
    if (!s->parts[p].api) continue;
    snprintf(line, sizeof line, "\n%.100s\n", s->parts[p].api->desc->id);
    if (!strstr(text, line)) return s->parts[p].api->desc->id;
  }
  return NULL;
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

/* Core programs of other builds: each folder of `cores` that holds an executable called run. */
static void add_core_legs(matrix *m, const char *cores)
{
  struct dirent **list = NULL;
  int n = scandir(cores, &list, NULL, by_name);
  size_t found = 0;
  if (n < 0) sb_report(&m->c->diag, SB_ERROR, SB_CODE_FILE_OPEN, cores, "the folder of core programs cannot be read: %s", strerror(errno));
  for (int i = 0; i < n; i++) {
    char runner[PATH_MAX];
    int length = snprintf(runner, sizeof runner, "%s/%s/run", cores, list[i]->d_name);
    if (list[i]->d_name[0] != '.' && length < (int)sizeof runner && access(runner, X_OK) == 0) {
      found++;
      entry *e = add_entry(m, list[i]->d_name);
      if (e) {
        memcpy(e->runner, runner, sizeof runner);
        const char *extra[] = {"--threads", "2", "--shuffle", "5"};
        for (size_t k = 0; k < 4; k++) e->extra[k] = extra[k];
        const char *missing = find_missing_solver(m, runner);
        char reason[160];
        snprintf(reason, sizeof reason, "its solver %s is not linked into that program", missing ? missing : "");
        if (missing) skip(e, reason);
      }
    }
    free(list[i]);
  }
  free(list);
  if (n >= 0 && !found)
    sb_report(&m->c->diag, SB_ERROR, SB_CODE_CLI_USAGE, "--cores",
              "%s has no core program: expected %s/NAME/run, as tests/determinism/build_core.sh makes them", cores,
              cores);
}

/* ---- running ---- */

static bool add_session_words(matrix *m, sb_leg *leg)
{
  static const char *const passed[] = {"--set", "--plugins"};
  bool ok = true;
  for (const cli_option *o = m->c->command->options; o->name; o++)
    for (size_t k = 0; k < 2; k++)
      for (size_t i = 0; !strcmp(o->name, passed[k]) && i < o->count; i++) ok = ok && sb_leg_add(leg, passed[k]) && sb_leg_add(leg, o->given[i]);
  return ok;
}

/* The command of an entry: so many ticks; hashes or the final dump into `file`. */
static bool make_leg(matrix *m, const entry *e, uint64_t ticks, const char *option, const char *file, sb_leg *leg)
{
  char number[32], path[PATH_MAX + 16];
  *leg = (sb_leg){0};
  snprintf(leg->name, sizeof leg->name, "%s", e->name);
  snprintf(number, sizeof number, "%" PRIu64, ticks);
  snprintf(path, sizeof path, "%s.log", file);
  leg->log = strdup(path);
  bool ok = leg->log != NULL;
  if (e->runner[0]) {
    snprintf(path, sizeof path, "%.*s/run.setup", (int)strlen(m->folder), m->folder);
    ok = ok && sb_leg_add(leg, e->runner) && sb_leg_add(leg, "--setup") && sb_leg_add(leg, path);
  } else {
    ok = ok && sb_leg_add(leg, m->self) && sb_leg_add(leg, "run") && sb_leg_add(leg, m->c->words[0]) && add_session_words(m, leg) && add_backend_words(m, e, leg);
  }
  ok = ok && sb_leg_add(leg, "--ticks") && sb_leg_add(leg, number) && sb_leg_add(leg, option) && sb_leg_add(leg, file);
  for (size_t i = 0; i < 8 && e->extra[i]; i++) ok = ok && sb_leg_add(leg, e->extra[i]);
  return ok;
}

static void note_failure(entry *e, const sb_leg *leg, double limit)
{
  char last[300];
  sb_leg_last_line(leg, last, sizeof last);
  e->outcome = FAILED;
  if (leg->end == SB_LEG_TIMED_OUT)
    snprintf(e->reason, sizeof e->reason, "killed after %.0f s; give --limit more, or fewer ticks", limit);
  else if (leg->end == SB_LEG_NOT_STARTED)
    snprintf(e->reason, sizeof e->reason, "cannot be started: %s", strerror(leg->exit_code));
  else if (leg->exit_code < 0)
    snprintf(e->reason, sizeof e->reason, "ended by signal %d: %.300s", -leg->exit_code, last);
  else
    snprintf(e->reason, sizeof e->reason, "exit code %d: %.300s", leg->exit_code, last);
}

/* Legs must have had the same model and setup as the first. */
static bool is_another_run(const matrix *m, const entry *e)
{
  const sb_hash_file *first = &m->entries[0].hashes;
  return e->hashes.model != first->model || e->hashes.setup != first->setup;
}

static sb_status run_all(matrix *m)
{
  sb_leg *legs = calloc(m->count + 1, sizeof *legs);
  size_t *which = calloc(m->count + 1, sizeof *which), n = 0;
  bool ok = legs && which;
  for (size_t i = 0; ok && i < m->count; i++) {
    entry *e = &m->entries[i];
    if (e->outcome == SKIPPED) continue;
    snprintf(e->hashes_path, sizeof e->hashes_path, "%.*s/%zu.hashes", (int)strlen(m->folder), m->folder, i);
    ok = make_leg(m, e, m->ticks, "--hashes", e->hashes_path, &legs[n]);
    which[n++] = i;
  }
  if (ok) sb_legs_run(legs, n, m->jobs, m->limit);
  for (size_t k = 0; k < n; k++) {
    entry *e = &m->entries[which[k]];
    e->seconds = legs[k].seconds;
    sb_diagnostics diag = {0};
    if (legs[k].end != SB_LEG_DONE)
      note_failure(e, &legs[k], m->limit);
    else if (sb_hash_file_read(e->hashes_path, &e->hashes, &diag) || e->hashes.count != m->ticks) {
      e->outcome = FAILED;
      snprintf(e->reason, sizeof e->reason, "its hashes are not those of %" PRIu64 " ticks", m->ticks);
    } else if (is_another_run(m, e)) {
      e->outcome = FAILED;
      snprintf(e->reason, sizeof e->reason, "it ran another model or setup");
    } else if (m->ticks)
      e->final = e->hashes.rows[e->hashes.count - 1].hash[SB_STAGE_STATE];
    sb_diagnostics_clear(&diag);
    sb_leg_free(&legs[k]);
  }
  free(legs);
  free(which);
  return ok ? SB_OK : sb_report(&m->c->diag, SB_ERROR, SB_CODE_MEMORY, "determinism", "no memory for the legs");
}

/* ---- differences ---- */

static float as_float(uint32_t word)
{
  float value;
  memcpy(&value, &word, sizeof value);
  return value;
}

static const char *owner_name(const sb_session *s, const sb_dump_difference *d, char *text, size_t size)
{
  const char *dot = strchr(d->array, '.');
  snprintf(text, size, "%.*s", dot ? (int)(dot - d->array) : 0, d->array);
  if (!strcmp(text, "contacts") || !strcmp(text, "particle_contacts") || !strcmp(text, "near_pairs")) return "collision";
  if (strcmp(text, "state")) return text; /* an array of the solver's own */
  for (uint32_t p = 0; p < s->part_count; p++)
    for (uint32_t i = 0; i < s->parts[p].body_count; i++)
      if ((int32_t)s->parts[p].bodies[i] == d->body) return s->parts[p].name;
  for (uint32_t p = 0; p < s->part_count && !strncmp(d->array, "state.particle", 14); p++)
    for (uint32_t i = 0; i < s->parts[p].particle_count; i++)
      if (s->parts[p].particles[i] == d->element) return s->parts[p].name;
  return "?";
}

/* Runs two legs again up to the tick of their first difference and says where it is. */
static void explain(matrix *m, const entry *a, const entry *b, const sb_hash_difference *h)
{
  char path[2][PATH_MAX], owner[128];
  sb_leg legs[2];
  bool ok = true;
  for (int k = 0; k < 2; k++) {
    snprintf(path[k], sizeof path[k], "%.*s/%s.dump", (int)strlen(m->folder), m->folder, k ? "b" : "a");
    ok = make_leg(m, k ? b : a, h->tick, "--dump", path[k], &legs[k]) && ok;
  }
  if (ok) sb_legs_run(legs, 2, m->jobs, m->limit);
  for (int k = 0; k < 2; k++) ok = ok && legs[k].end == SB_LEG_DONE;
  sb_dump_difference d;
  ok = ok && !sb_dump_compare(path[0], path[1], &d, &m->c->diag);
  for (int k = 0; k < 2; k++) {
    unlink(path[k]);
    sb_leg_free(&legs[k]);
  }
  if (!ok || !d.array[0]) {
    sb_report(&m->c->diag, SB_ERROR, SB_CODE_HASH_DIFFER, b->name,
              "tick %" PRIu64 ", stage %s: %016" PRIx64 " against %016" PRIx64 " of %s; run again to that tick, the two did not differ: the leg is not repeatable",
              h->tick, sb_stage_name(h->stage), h->b, h->a, a->name);
    return;
  }
  const char *body = d.body >= 0 ? sb_model_store_name(m->session->model, SB_NAME_BODY, (uint32_t)d.body) : "";
  sb_report(&m->c->diag, SB_ERROR, SB_CODE_HASH_DIFFER, b->name,
            "tick %" PRIu64 ", stage %s, solver %s: %s[%u] component %u, body %d \"%s\", is %08x (%.9g), %s has %08x (%.9g)", h->tick,
            sb_stage_name(h->stage), owner_name(m->session, &d, owner, sizeof owner), d.array, d.element, d.component, d.body, body, d.b,
            (double)as_float(d.b), a->name, d.a, (double)as_float(d.a));
}

static void compare_all(matrix *m)
{
  const entry *first = &m->entries[0];
  unsigned explained = 0;
  for (size_t i = 1; i < m->count && first->outcome == SAME; i++) {
    entry *e = &m->entries[i];
    sb_hash_difference d;
    uint64_t shared;
    if (e->outcome != SAME || !sb_hash_file_compare(&first->hashes, &e->hashes, &d, &shared)) continue;
    e->outcome = DIFFERS;
    snprintf(e->reason, sizeof e->reason, "first at tick %" PRIu64 ", stage %s", d.tick, sb_stage_name(d.stage));
    if (explained++ < MAX_EXPLAINED) explain(m, first, e, &d);
  }
}

/* ---- the report ---- */

static void report(matrix *m)
{
  cJSON *legs = m->c->json ? cJSON_AddArrayToObject(m->c->data, "legs") : NULL;
  size_t count[4] = {0};
  if (!legs) printf("\n%-16s %-8s %-18s %8s  %s\n", "leg", "outcome", "final hash", "seconds", "build or reason");
  for (size_t i = 0; i < m->count; i++) {
    const entry *e = &m->entries[i];
    bool ran = e->outcome == SAME || e->outcome == DIFFERS;
    count[e->outcome]++;
    if (legs) {
      cJSON *leg = cJSON_CreateObject();
      cJSON_AddItemToArray(legs, leg);
      cJSON_AddStringToObject(leg, "leg", e->name);
      cJSON_AddStringToObject(leg, "outcome", outcome_names[e->outcome]);
      if (ran) cli_add_hash(leg, "final_hash", e->final);
      cJSON_AddNumberToObject(leg, "seconds", e->seconds);
      cJSON_AddStringToObject(leg, "domain", e->hashes.domain);
      cJSON_AddStringToObject(leg, "reason", e->reason);
      continue;
    }
    char hash[20] = "-";
    if (ran) snprintf(hash, sizeof hash, "%016" PRIx64, e->final);
    printf("%-16s %-8s %-18s %8.2f  %s\n", e->name, outcome_names[e->outcome], hash, e->seconds, e->reason[0] ? e->reason : e->hashes.domain);
  }
  if (legs) {
    cJSON_AddNumberToObject(m->c->data, "ticks", (double)m->ticks);
    if (m->entries[0].outcome == SAME) cli_add_hash(m->c->data, "final_hash", m->entries[0].final);
    for (int o = 0; o < 4; o++) cJSON_AddNumberToObject(m->c->data, outcome_names[o], (double)count[o]);
  } else {
    printf("\n%zu legs, %" PRIu64 " ticks: %zu the same, %zu differ, %zu failed, %zu skipped\n", m->count, m->ticks, count[SAME], count[DIFFERS],
           count[FAILED], count[SKIPPED]);
  }
}

static int judge(matrix *m)
{
  int code = CLI_DONE;
  size_t ran = 0;
  for (size_t i = 0; i < m->count; i++) {
    const entry *e = &m->entries[i];
    ran += e->outcome == SAME || e->outcome == DIFFERS;
    if (e->outcome == DIFFERS) code = CLI_BAD_ANSWER;
    if (e->outcome != FAILED) continue;
    sb_report(&m->c->diag, SB_ERROR, SB_CODE_LEG_FAILED, e->name, "%s", e->reason);
    code = CLI_BAD_ANSWER;
  }
  if (ran < 2 && code == CLI_DONE) {
    sb_report(&m->c->diag, SB_ERROR, SB_CODE_LEG_FAILED, "determinism", "only %zu leg ran, so nothing was compared; see --legs and --cores", ran);
    code = CLI_BAD_ANSWER;
  }
  return code;
}

/* ---- the command ---- */

/* Model and setup for core programs of other builds. */
static sb_status write_setup(const matrix *m, sb_diagnostics *diag)
{
  char path[PATH_MAX];
  void *bytes;
  size_t size;
  sb_status status = sb_model_store_to_bytes(m->session->one, &bytes, &size, diag);
  if (status) return status;
  snprintf(path, sizeof path, "%.*s/scene.sbm", (int)strlen(m->folder), m->folder);
  FILE *file = fopen(path, "wb");
  bool ok = file && fwrite(bytes, 1, size, file) == size;
  if (file && fclose(file)) ok = false;
  free(bytes);
  snprintf(path, sizeof path, "%.*s/run.setup", (int)strlen(m->folder), m->folder);
  file = ok ? fopen(path, "w") : NULL;
  if (file) sb_setup_write(file, &m->session->sim, m->session->one, "scene.sbm");
  if (!file || (ferror(file) | fclose(file))) return sb_report(diag, SB_ERROR, SB_CODE_FILE_WRITE, path, "cannot be written: %s", strerror(errno));
  return SB_OK;
}

/* The folder for what the legs read and write: --keep, or a temporary one. */
static sb_status open_folder(matrix *m)
{
  const char *keep = cli_value(m->c, "--keep"), *base = getenv("TMPDIR");
  if (keep && mkdir(keep, 0777) && errno != EEXIST)
    return sb_report(&m->c->diag, SB_ERROR, SB_CODE_FILE_WRITE, keep, "the folder cannot be made: %s", strerror(errno));
  snprintf(m->folder, sizeof m->folder, "%.*s/samebit-XXXXXX", PATH_MAX - 64, base && base[0] ? base : "/tmp");
  if (keep ? realpath(keep, m->folder) != NULL : mkdtemp(m->folder) != NULL) return SB_OK;
  return sb_report(&m->c->diag, SB_ERROR, SB_CODE_FILE_WRITE, keep ? keep : m->folder, "the folder cannot be used: %s", strerror(errno));
}

static void remove_folder(const matrix *m)
{
  struct dirent **list = NULL;
  int n = cli_value(m->c, "--keep") ? -1 : scandir(m->folder, &list, NULL, NULL);
  for (int i = 0; i < n; i++) {
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%.*s/%s", (int)strlen(m->folder), m->folder, list[i]->d_name);
    if (length < (int)sizeof path) unlink(path);
    free(list[i]);
  }
  free(list);
  if (n >= 0) rmdir(m->folder);
}

static int run_matrix(matrix *m)
{
  const char *cores = cli_value(m->c, "--cores");
  size_t errors = m->c->diag.error_count;
  add_own_legs(m);
  if (cores) add_core_legs(m, cores);
  if (m->c->diag.error_count > errors) return CLI_USAGE;
  add_backend_leg(m);
  if (write_setup(m, &m->c->diag) || run_all(m)) return CLI_BAD_ANSWER;
  compare_all(m);
  report(m);
  return judge(m);
}

int cmd_determinism(cli *c)
{
  sb_session s;
  sb_session_options options = cli_session_options(c);
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  matrix m = {.c = c, .session = &s};
  m.ticks = cli_whole(c, "--ticks", UINT64_MAX, 1, 1u << 30);
  m.jobs = (unsigned)cli_whole(c, "--jobs", processors > 0 ? (uint64_t)processors : 1, 1, 256);
  m.limit = (double)cli_whole(c, "--limit", 600, 1, 1000000);
  if (c->diag.error_count) return CLI_USAGE;
  sb_status status = sb_session_open(c->words[0], &options, &s, &c->diag);
  if (status == SB_E_MODE) cli_report_parts(c, &s);
  if (status) {
    sb_session_close(&s);
    return cli_exit_code(status);
  }
  if (m.ticks == UINT64_MAX) m.ticks = s.ticks ? s.ticks : 1;
  ssize_t n = readlink("/proc/self/exe", m.self, sizeof m.self - 1);
  m.entries = calloc(MAX_LEGS, sizeof *m.entries);
  int code = CLI_USAGE;
  if (n <= 0 || !m.entries) {
    sb_report(&c->diag, SB_ERROR, SB_CODE_MEMORY, "determinism", "no memory for the legs, or this program does not find itself");
  } else if (!open_folder(&m)) {
    cli_report_parts(c, &s);
    code = run_matrix(&m);
    remove_folder(&m);
  }
  for (size_t i = 0; i < m.count; i++) sb_hash_file_free(&m.entries[i].hashes);
  free(m.entries);
  sb_session_close(&s);
  return code;
}
