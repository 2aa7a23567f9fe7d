/* The conformance cases of `samebit plugins check`: what a plugin must do and be, one named case each, each run in a process of its own. */
#ifndef SAMEBIT_HOST_CONFORMANCE_H
#define SAMEBIT_HOST_CONFORMANCE_H

#include "module.h"

typedef enum sb_case_end { SB_CASE_PASSED, SB_CASE_FAILED, SB_CASE_CRASHED, SB_CASE_TIMED_OUT, SB_CASE_SKIPPED } sb_case_end;
const char *sb_case_end_name(sb_case_end end);

#define SB_MAX_CASE_NEEDS 4

/* What is known inside the process of a case. A case that fails says why in `text`; one that does not apply says so with sb_case_skip. */
typedef struct sb_case_context {
  const sb_sealed_file *file;
  sb_module *module;                /* loaded, but for cases of the file; its entry and tables may be wrong */
  const sb_plugin_entry *entry;     /* NULL for cases of the file */
  const sb_solver_factory *factory; /* NULL unless the case comes after factory_known */
  bool skipped;
  char text[400];
} sb_case_context;

typedef struct sb_case {
  const char *name;
  const char *what; /* what must hold */
  const char *why;
  const char *fix;  /* what to do when it fails */
  const char *needs[SB_MAX_CASE_NEEDS]; /* cases that must have passed, else this one is skipped; all come before it */
  /* One of these four. A case of a solver runs for each solver of the module; one across processes compares several. */
  bool (*file_case)(sb_case_context *c);
  bool (*module_case)(sb_case_context *c);
  bool (*solver_case)(sb_case_context *c, const sb_solver_api *api);
  bool across_processes;
} sb_case;

size_t sb_case_count(void);
const sb_case *sb_case_at(size_t index);
const sb_case *sb_case_find(const char *name);

typedef struct sb_case_result {
  const sb_case *which;
  sb_case_end end;
  sb_trial_cause cause; /* of CRASHED and TIMED_OUT */
  char text[420];       /* "" when it passed */
} sb_case_result;

/* What to do about a result that is bad: what the case says, or what fits the end of its process. */
const char *sb_case_advice(const sb_case_result *result);

/* Runs one case, or all (name NULL), on a file; results get one entry for each case in order, those not asked for are
 * left out. Cases that the one asked for needs are run too, and told when they do not pass. `program`: the host's
 * command. Returns the number of results. */
size_t sb_conformance_run(const char *program, const char *path, const char *name, double seconds,
                          sb_case_result *results);

/* Inside the process of a case. */
void sb_case_skip(sb_case_context *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Sets the text; returns false, so that a case can return it. */
bool sb_case_fail(sb_case_context *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
