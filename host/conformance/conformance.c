/* Runs cases: one process each, what they need first. */
#include "conformance.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process_repeat.h"

const char *sb_case_end_name(sb_case_end end)
{
  static const char *const names[] = {"passed", "failed", "crashed", "timed out", "skipped"};
  return names[end];
}

const char *sb_case_advice(const sb_case_result *r)
{
  const char *advice = sb_trial_cause_advice(r->cause);
  return advice ? advice : r->which->fix;
}

void sb_case_skip(sb_case_context *c, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  vsnprintf(c->text, sizeof c->text, format, args);
  va_end(args);
  c->skipped = true;
}

bool sb_case_fail(sb_case_context *c, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  if (!c->text[0]) vsnprintf(c->text, sizeof c->text, format, args);
  va_end(args);
  return false;
}

typedef struct conformance {
  const char *program, *path;
  double seconds;
  sb_sealed_file file;
  bool opened;
  char refusal[300];
  sb_audit audit; /* for its libraries */
  sb_case_result *done; /* of each case; end is -1 when it has not run */
} conformance;

/* The line "result END TEXT" of a case. */
static void take_line(void *user, const char *line)
{
  sb_case_result *r = user;
  static const struct {
    const char *word;
    sb_case_end end;
  } ends[] = {{"result passed", SB_CASE_PASSED}, {"result failed ", SB_CASE_FAILED}, {"result skipped ", SB_CASE_SKIPPED}};
  for (size_t i = 0; i < 3; i++) {
    size_t n = strlen(ends[i].word);
    if (strncmp(line, ends[i].word, n)) continue;
    r->end = ends[i].end;
    snprintf(r->text, sizeof r->text, "%s", line + n);
  }
}

static void take_difference(void *user, const char *solver, const char *text)
{
  sb_case_result *r = user;
  if (r->end == SB_CASE_FAILED) return; /* the first one tells enough */
  r->end = SB_CASE_FAILED;
  snprintf(r->text, sizeof r->text, "%s%s%.300s", solver ? solver : "", solver ? ": " : "", text);
}

static void run_process(conformance *f, sb_case_result *r)
{
  char task[96];
  snprintf(task, sizeof task, "case %s", r->which->name);
  sb_trial_request request = {.program = f->program, .path = f->file.path, .task = task, .fd = f->file.fd, .seconds = f->seconds};
  for (size_t i = 0; i < f->audit.library_count; i++) request.library_fds[request.library_count++] = f->audit.libraries[i].fd;
  if (r->which->across_processes) {
    r->end = SB_CASE_PASSED;
    sb_process_repeat(&request, take_difference, r);
    return;
  }
  sb_trial_outcome outcome;
  r->end = SB_CASE_CRASHED;
  sb_trial_run(&request, take_line, r, &outcome);
  if (outcome.end == SB_TRIAL_DONE) return;
  r->cause = outcome.cause;
  r->end = outcome.end == SB_TRIAL_TIMED_OUT ? SB_CASE_TIMED_OUT : SB_CASE_CRASHED;
  snprintf(r->text, sizeof r->text, "%s", outcome.why);
}

static void run_case(conformance *f, size_t index)
{
  sb_case_result *r = &f->done[index];
  const sb_case *which = sb_case_at(index);
  if (r->which) return;
  r->which = which;
  for (size_t n = 0; n < SB_MAX_CASE_NEEDS && which->needs[n]; n++) {
    size_t needed = (size_t)(sb_case_find(which->needs[n]) - sb_case_at(0));
    run_case(f, needed);
    if (f->done[needed].end == SB_CASE_PASSED) continue;
    r->end = SB_CASE_SKIPPED;
    snprintf(r->text, sizeof r->text, "it needs %s, which has not passed", which->needs[n]);
    return;
  }
  if (f->opened) {
    run_process(f, r);
  } else { /* only the first case gets here */
    r->end = SB_CASE_FAILED;
    snprintf(r->text, sizeof r->text, "%s", f->refusal);
  }
}

size_t sb_conformance_run(const char *program, const char *path, const char *name, double seconds, sb_case_result *results)
{
  conformance f = {.program = program, .path = path, .seconds = seconds > 0 ? seconds : 30};
  sb_diagnostics diag = {0};
  f.done = calloc(sb_case_count(), sizeof *f.done);
  if (!f.done) return 0;
  f.opened = !sb_sealed_file_open(path, &f.file, &diag);
  if (f.opened)
    sb_audit_file(&f.file, &f.audit);
  else
    snprintf(f.refusal, sizeof f.refusal, "%s", diag.count ? diag.items[0].message : "it cannot be read");
  sb_diagnostics_clear(&diag);
  size_t count = 0;
  for (size_t i = 0; i < sb_case_count(); i++)
    if (!name || !strcmp(name, sb_case_at(i)->name)) run_case(&f, i);
  for (size_t i = 0; i < sb_case_count(); i++) {
    bool asked = !name || !strcmp(name, sb_case_at(i)->name);
    if (f.done[i].which && (asked || f.done[i].end != SB_CASE_PASSED)) results[count++] = f.done[i];
  }
  sb_audit_clear(&f.audit);
  sb_sealed_file_close(&f.file);
  free(f.done);
  return count;
}
