/* A trial of a module: cache, process, and what its lines say. */
#define _GNU_SOURCE
#include "trial.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif
#include <xxhash.h>

#include "process_repeat.h"
#include "samebit/abi.h"
#include "state_hash.h"
#include "trial_cache.h"
#include "trial_version.h"

/* ---- the program ---- */

static bool hash_file(const char *path, uint64_t *hash)
{
  struct stat info;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  bool ok = fd >= 0 && !fstat(fd, &info) && S_ISREG(info.st_mode) && info.st_size > 0 && !access(path, X_OK);
  void *bytes = ok ? mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
  if (fd >= 0) close(fd);
  if (bytes == MAP_FAILED) return false;
  *hash = XXH3_64bits(bytes, (size_t)info.st_size);
  munmap(bytes, (size_t)info.st_size);
  return true;
}

void sb_trial_find_program(sb_trial_settings *s)
{
  char self[PATH_MAX + 16];
  ssize_t n = readlink("/proc/self/exe", self, PATH_MAX);
  if (n <= 0) return;
  self[n] = 0;
  char *slash = strrchr(self, '/');
  if (!slash) return;
  strcpy(slash + 1, "samebit");
  if (hash_file(self, &s->program_hash)) s->program = strdup(self);
}

/* ---- the lines ---- */

typedef struct lines {
  sb_trial *trial;
  char text[16384]; /* for the cache */
  size_t used;
  bool loads, whole, cut; /* cut: `text` lacks lines that had no room */
  int fault; /* an sb_code, or -1 */
  char message[512];
} lines;

static void read_verdict(sb_trial *t, const char *line)
{
  int at = 0, harmful = 0;
  sb_trial_verdict v = {0};
  if (t->count == SB_MAX_VERDICTS ||
      sscanf(line, "%63s %" SCNu32 " %" SCNu32 " %d %n", v.solver, &v.backend, &v.mode, &harmful, &at) != 4 || !at ||
      v.mode >= SB_MODE_COUNT)
    return;
  v.harmful = harmful != 0;
  snprintf(v.reason, sizeof v.reason, "%s", line + at);
  t->verdicts[t->count++] = v;
}

/* "SOLVER REASON", SOLVER being * for all when a process did not end well: what the processes of process_repeat.h gave. */
static void read_varied(sb_trial *t, const char *line)
{
  char solver[64];
  int at = 0;
  if (sscanf(line, "%63s %n", solver, &at) != 1 || !at) return;
  const bool all = !strcmp(solver, "*");
  for (size_t i = 0; i < t->count; i++) {
    sb_trial_verdict *v = &t->verdicts[i];
    if (v->backend != SB_BACKEND_CPU || v->mode == SB_MODE_OFF || (!all && strcmp(solver, v->solver))) continue;
    v->mode = SB_MODE_OFF;
    snprintf(v->reason, sizeof v->reason, "%s%s", line + at, all ? "" : "; " SB_PROCESS_REPEAT_FIX);
  }
}

static void take_line(void *user, const char *line)
{
  lines *l = user;
  size_t n = strlen(line);
  if (l->used + n + 2 < sizeof l->text) {
    memcpy(l->text + l->used, line, n);
    l->used += n;
    l->text[l->used++] = '\n';
    l->text[l->used] = 0;
  } else {
    l->cut = true;
  }
  if (!strcmp(line, "loads")) l->loads = true;
  if (!strcmp(line, "whole")) l->whole = true;
  if (!strncmp(line, "solver ", 7)) read_verdict(l->trial, line + 7);
  if (!strncmp(line, "varied ", 7)) read_varied(l->trial, line + 7);
  if (!strncmp(line, "sandbox ", 8)) snprintf(l->trial->sandbox, sizeof l->trial->sandbox, "%s", line + 8);
  int at = 0, cause = 0;
  if (sscanf(line, "fault %d %n", &l->fault, &at) == 1 && at) snprintf(l->message, sizeof l->message, "%s", line + at);
  if (sscanf(line, "broken %d %n", &cause, &at) == 1 && at) {
    l->trial->cause = (sb_trial_cause)cause;
    snprintf(l->trial->broken, sizeof l->trial->broken, "%s", line + at);
  }
}

/* "finding RULE TEXT": what a look at the machine code gave. */
static void read_finding(sb_audit *audit, const char *line)
{
  for (int r = 0; r < SB_AUDIT_RULE_COUNT; r++) {
    size_t n = strlen(sb_audit_rule_name((sb_audit_rule)r));
    if (!strncmp(line, sb_audit_rule_name((sb_audit_rule)r), n) && line[n] == ' ') sb_audit_add(audit, (sb_audit_rule)r, "%s", line + n + 1);
  }
}

static void take_cached(lines *l, sb_audit *audit, char *text)
{
  char *rest = text;
  for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    take_line(l, line);
    if (!strncmp(line, "finding ", 8)) read_finding(audit, line + 8);
  }
}

/* ---- the key: whatever the outcome may depend on ---- */

static void make_key(const sb_trial_settings *s, const sb_sealed_file *file, const sb_audit *audit, char *key, size_t size)
{
  uint64_t libraries = 0;
#ifdef __GLIBC__
  const char *libc = gnu_get_libc_version();
#else
  const char *libc = "?";
#endif
  struct utsname system;
  if (uname(&system)) system.machine[0] = system.release[0] = 0;
  for (size_t i = 0; i < audit->library_count; i++) libraries = libraries * 0x100000001b3u ^ audit->libraries[i].hash;
  snprintf(key, size,
           "samebit trial %s, %s, %g s, module %016" PRIx64 ", libraries %016" PRIx64 ", program %016" PRIx64
           ", %s %.60s, C library %.20s, %u lanes",
           SB_TRIAL_VERSION, s->behave ? "behaviour" : "loading", s->seconds, file->hash, libraries, s->program_hash,
           system.machine, system.release, libc, sb_cpu_lanes());
}

/* ---- the trial ---- */

static sb_status judge(const sb_sealed_file *file, const lines *l, sb_diagnostics *diag)
{
  if (l->loads) return SB_OK;
  sb_code code = l->fault >= 0 && l->fault < SB_CODE_COUNT ? (sb_code)l->fault : SB_CODE_PLUGIN_TRIAL;
  return sb_report(diag, SB_ERROR, code, file->path, "%s", l->message[0] ? l->message : "its trial told nothing");
}

static void tell_varied(void *user, const char *solver, const char *text)
{
  lines *l = user;
  char line[400];
  snprintf(line, sizeof line, "varied %s %s%.280s", solver ? solver : "*", solver ? "" : "tried in one more process, ", text);
  take_line(l, line);
  if (!solver) l->whole = false; /* how a process ended is seen anew each time */
}

/* What one process shows of a solver above Off has to be the same in others. */
static void repeat_process(const sb_trial_request *r, lines *l)
{
  bool any = false;
  for (size_t i = 0; i < l->trial->count; i++) any |= l->trial->verdicts[i].backend == SB_BACKEND_CPU && l->trial->verdicts[i].mode != SB_MODE_OFF;
  if (any) sb_process_repeat(r, tell_varied, l);
}

static void run_process(const sb_trial_settings *s, const sb_sealed_file *file, const sb_audit *audit, lines *l)
{
  sb_trial_request r = {.program = s->program, .path = file->path, .task = s->behave ? "behave" : "load", .fd = file->fd, .seconds = s->seconds};
  for (size_t i = 0; i < audit->library_count; i++) r.library_fds[r.library_count++] = audit->libraries[i].fd;
  sb_trial_outcome outcome;
  sb_trial_run(&r, take_line, l, &outcome);
  /* What took too long would take as long the next time: it is kept like an outcome. A crash costs nothing and is seen
   * anew. */
  l->whole = outcome.end == SB_TRIAL_DONE || outcome.end == SB_TRIAL_TIMED_OUT;
  snprintf(l->trial->sandbox, sizeof l->trial->sandbox, "%s", outcome.sandbox);
  if (outcome.end == SB_TRIAL_DONE && s->behave) repeat_process(&r, l);
  if (outcome.end == SB_TRIAL_DONE) return;
  char line[700];
  if (l->loads)
    snprintf(line, sizeof line, "broken %d %s", (int)outcome.cause, outcome.why);
  else
    snprintf(
        line, sizeof line,
        "fault %d the plugin cannot be loaded: tried in a process of its own, %.300s; its constructors, negotiate and "
        "get_factory must return",
        (int)SB_CODE_PLUGIN_TRIAL, outcome.why);
  take_line(l, line);
}

static bool find_cached(const sb_trial_settings *s, const sb_sealed_file *file, const char *key, sb_audit *audit, lines *l)
{
  char *text = s->cache_dir ? sb_trial_cache_read(s->cache_dir, file->path, s->behave ? "behave" : "load", key) : NULL;
  if (!text) return false;
  take_cached(l, audit, text);
  free(text);
  return l->whole;
}

static void keep(const sb_trial_settings *s, const sb_sealed_file *file, const char *key, const sb_audit *audit, size_t first, lines *l)
{
  char line[300];
  if (l->trial->sandbox[0]) {
    snprintf(line, sizeof line, "sandbox %s", l->trial->sandbox);
    take_line(l, line);
  }
  for (size_t i = first; i < audit->count; i++) {
    snprintf(line, sizeof line, "finding %s %.250s", sb_audit_rule_name(audit->findings[i].rule), audit->findings[i].text);
    take_line(l, line);
  }
  take_line(l, "whole");
  if (l->cut) return; /* half an outcome would grant what the other half forbids */
  sb_trial_cache_write(s->cache_dir, file->path, s->behave ? "behave" : "load", key, l->text);
}

sb_status sb_trial_module(const sb_trial_settings *s, const sb_sealed_file *file, sb_audit *audit, sb_trial *trial, sb_diagnostics *diag)
{
  char key[400];
  lines *l = calloc(1, sizeof *l);
  if (!l) return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, file->path, "no memory for a trial");
  l->trial = trial;
  l->fault = -1;
  make_key(s, file, audit, key, sizeof key);
  trial->ran = true;
  trial->behaved = s->behave;
  trial->cached = find_cached(s, file, key, audit, l);
  if (!trial->cached) {
    size_t first = audit->count;
    trial->count = 0;
    *l = (lines){.trial = trial, .fault = -1};
    sb_audit_code(file, audit);
    run_process(s, file, audit, l);
    if (l->whole && s->cache_dir) keep(s, file, key, audit, first, l);
  }
  sb_status status = judge(file, l, diag);
  free(l);
  return status;
}

const sb_trial_verdict *sb_trial_find(sb_trial *t, const char *solver, uint32_t backend)
{
  if (!t->ran || !t->behaved) return NULL;
  for (size_t i = 0; i < t->count; i++)
    if (!strcmp(t->verdicts[i].solver, solver) && t->verdicts[i].backend == backend) return &t->verdicts[i];
  bool full = t->count == SB_MAX_VERDICTS;
  sb_trial_verdict *v = full ? &t->untried : &t->verdicts[t->count++];
  snprintf(v->solver, sizeof v->solver, "%s", solver);
  v->backend = backend;
  v->mode = SB_MODE_OFF;
  const char *advice = sb_trial_cause_advice(t->cause);
  v->harmful = t->cause != SB_TRIAL_NO_CAUSE;
  if (full) {
    snprintf(v->reason, sizeof v->reason,
             "it was not tried: no more than %d solvers of a module are; put it into a module of its own",
             SB_MAX_VERDICTS / SB_BACKEND_COUNT);
    return v;
  }
  snprintf(v->reason, sizeof v->reason, "tried in a process of its own%s, %.260s%s%.120s",
           t->cached && t->cause == SB_TRIAL_SLOW ? " before (--no-cache tries again)" : "",
           t->broken[0] ? t->broken : "it told nothing", advice ? "; " : "", advice ? advice : "");
  return v;
}
