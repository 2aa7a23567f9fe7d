/* A task done by the host's program in a process of its own, on a module that has not run here yet. The process talks back in lines;
 * when it crashes, hangs or does what it may not, this side says so and goes on. */
#ifndef SAMEBIT_HOST_TRIAL_PROCESS_H
#define SAMEBIT_HOST_TRIAL_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum sb_trial_end {
  SB_TRIAL_DONE,
  SB_TRIAL_CRASHED,   /* a signal, a forbidden system call, a write out of bounds, an exit of its own */
  SB_TRIAL_TIMED_OUT, /* stopped by force */
  SB_TRIAL_NOT_RUN    /* the program could not be started, or is another version */
} sb_trial_end;

/* What ended a process that was not done. */
typedef enum sb_trial_cause {
  SB_TRIAL_NO_CAUSE,
  SB_TRIAL_SIGNAL,      /* a bad address, an abort */
  SB_TRIAL_BOUNDS,      /* a write or read beside an array */
  SB_TRIAL_SYSTEM_CALL, /* one that the sandbox forbids */
  SB_TRIAL_EXIT,        /* exit() */
  SB_TRIAL_SLOW         /* the time limit */
} sb_trial_cause;
/* What the plugin's author can do about it; NULL for no cause. */
const char *sb_trial_cause_advice(sb_trial_cause cause);

#define SB_TRIAL_PATIENCE 4

typedef struct sb_trial_request {
  const char *program; /* the host's command */
  const char *path;    /* of the module, for messages */
  const char *task;    /* "load", "behave", "digest JUNK", or "case NAME" */
  int fd;              /* sealed copy of the module */
  int library_fds[32]; /* of its libraries */
  size_t library_count;
  double seconds; /* limit of time; 0: the usual one. A process that others keep from the processors gets up to
                     SB_TRIAL_PATIENCE times as much */
} sb_trial_request;

typedef struct sb_trial_outcome {
  sb_trial_end end;
  sb_trial_cause cause; /* of CRASHED and TIMED_OUT */
  char why[400];        /* unless DONE: what happened, and during what */
  char sandbox[160];    /* "" when the process was sandboxed, else why it was not */
} sb_trial_outcome;

/* Called for each line that the task gives. */
typedef void (*sb_trial_line)(void *user, const char *line);

void sb_trial_run(const sb_trial_request *request, sb_trial_line line, void *user, sb_trial_outcome *outcome);

/* What the program must be called with to be such a process, and what its main does then. */
#define SB_TRIAL_WORD "--trial"
int sb_trial_child(int argc, char **argv);

#endif
