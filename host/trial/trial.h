/* What is known about a module before it runs here: it loads, and how its solvers behave. From a process of its own, or from the cache. */
#ifndef SAMEBIT_HOST_TRIAL_H
#define SAMEBIT_HOST_TRIAL_H

#include "audit.h"
#include "trial_process.h"

/* How trials are done. All zero: not at all; modules then run in this process before anything is known about them. */
typedef struct sb_trial_settings {
  char *program;         /* the host's command; NULL: no trials */
  uint64_t program_hash; /* XXH3-64 of its file */
  const char *cache_dir; /* NULL: no cache */
  bool behave;           /* solvers are tried too, not just loading */
  double seconds;        /* 0: the usual limit */
} sb_trial_settings;

#define SB_MAX_VERDICTS 32

typedef struct sb_trial_verdict {
  char solver[64];
  uint32_t backend;
  uint32_t mode;
  bool harmful; /* it crashes, hangs, or writes where it may not: nothing to run in any mode */
  char reason[560];
} sb_trial_verdict;

typedef struct sb_trial {
  bool ran;
  bool cached;
  bool behaved;         /* the verdicts are there */
  char sandbox[160];    /* "" or why there was none */
  sb_trial_cause cause; /* of `broken` */
  char broken[400]; /* how its solvers' checks ended, when they did not; every verdict that is missing is Off for this
                       reason */
  sb_trial_verdict verdicts[SB_MAX_VERDICTS];
  size_t count;
  sb_trial_verdict untried; /* of solvers beyond those that fit */
} sb_trial;

/* Audits the file's machine code and tries the module, or finds both in the cache. `audit` has the rest of the audit already and is added
 * to. An error when the module cannot be loaded. */
sb_status sb_trial_module(const sb_trial_settings *settings, const sb_sealed_file *file, sb_audit *audit, sb_trial *trial, sb_diagnostics *diag);
/* The verdict on a solver; NULL when there was no trial. */
const sb_trial_verdict *sb_trial_find(sb_trial *trial, const char *solver, uint32_t backend);

/* Where trials find the host's command: this program, or the file samebit beside it. Fills program and program_hash. */
void sb_trial_find_program(sb_trial_settings *settings);

#endif
