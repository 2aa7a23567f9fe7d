/* The process of a trial: enters the sandbox, loads the module, does the task, tells what it sees in lines. */
#define _GNU_SOURCE
#include "trial_child.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conformance.h"
#include "guard_memory.h"
#include "process_repeat.h"
#include "sandbox.h"
#include "trial_process.h"
#include "trial_version.h"
#include "verify.h"

#define MODULE_FD 3
#define LINE_FD 4

void sb_trial_say(const char *format, ...)
{
  char line[1024];
  va_list args;
  va_start(args, format);
  int n = vsnprintf(line, sizeof line - 1, format, args);
  va_end(args);
  if (n < 0) return;
  if ((size_t)n > sizeof line - 2) n = sizeof line - 2;
  for (int i = 0; i < n; i++)
    if (line[i] == '\n') line[i] = ' ';
  line[n] = '\n';
  if (write(LINE_FD, line, (size_t)n + 1) < 0) _exit(97);
}

static void say_at(void *context, const char *solver, const char *scene, const char *check)
{
  (void)context;
  sb_trial_say("at the check \"%s\" of %s on the micro-scene %s", check, solver, scene);
}

static void behave(const sb_module *m)
{
#ifdef M_PERTURB
  mallopt(M_PERTURB, 0x5a); /* what the module takes from the C library, and what it has given back, is filled with junk */
#endif
  const sb_verify_watch watch = {NULL, say_at, sb_guard_memory(), sb_guard_complaint};
  for (uint32_t i = 0; m->solvers && i < m->solvers->solver_count; i++)
    for (uint32_t b = 0; b < SB_BACKEND_COUNT; b++) {
      sb_verdict verdict;
      const sb_solver_api *api = m->solvers->solvers[i];
      sb_verify_deeply(api, b, &watch, &verdict);
      sb_trial_say("solver %s %u %u %d %s", api->desc->id, b, verdict.mode, verdict.harmful, verdict.reason);
    }
}

static void say_result(const sb_case_context *c, bool passed)
{
  if (c->skipped)
    sb_trial_say("result skipped %s", c->text);
  else
    sb_trial_say(passed ? "result passed" : "result failed %s", c->text[0] ? c->text : "no reason given");
}

/* A case of the file: nothing of the module runs. */
static void try_file(const sb_case *which, const char *path)
{
  struct stat info;
  sb_sealed_file file = {.path = (char *)path, .fd = MODULE_FD};
  sb_case_context c = {.file = &file};
  if (!fstat(MODULE_FD, &info) && info.st_size > 0) {
    void *bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, MODULE_FD, 0);
    if (bytes != MAP_FAILED) file.bytes = bytes, file.size = (size_t)info.st_size;
  }
  say_result(&c, which->file_case(&c));
}

/* A case of the module, from its entry on. Its factory has been looked at when the case needs it. */
static void try_loaded(const sb_case *which, sb_module *m, const char *environment)
{
  sb_case_context c = {.file = &m->file, .module = m, .entry = m->entry};
  bool passed = true;
  if (*environment && !strcmp(which->name, "environment_load")) snprintf(c.text, sizeof c.text, "loading it changed: %s", environment);
  if (which->module_case) {
    passed = which->module_case(&c);
  } else {
    c.factory = m->entry->get_factory(SB_SOLVER_FACTORY_ID);
    for (uint32_t i = 0; passed && !c.skipped && i < c.factory->solver_count; i++) passed = which->solver_case(&c, c.factory->solvers[i]);
  }
  say_result(&c, passed);
}

int sb_trial_child(int argc, char **argv)
{
  /* argv: program --trial VERSION LIBRARIES PATH TASK */
  if (argc != 6 || fcntl(LINE_FD, F_GETFD) < 0 || fcntl(MODULE_FD, F_GETFD) < 0) return 2;
  if (strcmp(argv[2], SB_TRIAL_VERSION)) return 2;
  const sb_case *which = !strncmp(argv[5], "case ", 5) ? sb_case_find(argv[5] + 5) : NULL;
  sb_trial_say("begin");
  if (which && which->file_case) {
    sb_trial_say("at the case");
    try_file(which, argv[4]);
    sb_trial_say("done");
    _exit(0);
  }
  char reason[120];
  if (!sb_sandbox_enter(LINE_FD, reason, sizeof reason)) sb_trial_say("bare %s", reason);
  sb_module m = {.path = argv[4], .file.fd = -1};
  int fds[SB_MAX_LIBRARIES], module_fd = MODULE_FD, *pointers[SB_MAX_LIBRARIES];
  size_t count = (size_t)atoi(argv[3]);
  if (count > SB_MAX_LIBRARIES) _exit(96);
  for (size_t i = 0; i < count; i++) fds[i] = 5 + (int)i, pointers[i] = &fds[i];
  sb_diagnostics diag = {0};
  sb_trial_say("at loading");
  if (which) {
    char environment[64];
    if (sb_module_load_files(&m, &module_fd, pointers, count, environment, sizeof environment, &diag)) {
      sb_trial_say("result failed %s", diag.count ? diag.items[0].message : "no reason given");
    } else {
      sb_trial_say("at the case");
      try_loaded(which, &m, environment);
    }
  } else if (sb_module_load(&m, &module_fd, pointers, count, &diag)) {
    sb_trial_say("fault %d %s", diag.count ? (int)diag.items[0].code : (int)SB_CODE_PLUGIN_LOAD, diag.count ? diag.items[0].message : "no reason given");
  } else {
    sb_trial_say("loads");
    if (!strcmp(argv[5], "behave")) behave(&m);
    if (!strncmp(argv[5], "digest ", 7)) sb_process_digest(&m, argv[5] + 7);
  }
  sb_trial_say("done");
  _exit(0); /* not the module's destructors, nor leaks that it may have */
}
