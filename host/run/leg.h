/* Legs of a matrix: commands run as processes of their own, several at once, each with a time limit and its output in a file. */
#ifndef SAMEBIT_HOST_LEG_H
#define SAMEBIT_HOST_LEG_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define SB_LEG_WORDS 64

typedef enum sb_leg_end { SB_LEG_DONE, SB_LEG_FAILED, SB_LEG_TIMED_OUT, SB_LEG_NOT_STARTED } sb_leg_end;

typedef struct sb_leg {
  char name[64];
  char *words[SB_LEG_WORDS]; /* program and arguments, ended by NULL; owned */
  size_t word_count;
  char *log; /* file that takes its output; owned */
  /* filled by sb_legs_run */
  sb_leg_end end;
  int exit_code; /* or minus the number of the signal that ended it */
  double seconds;
  pid_t pid;
  double start;
} sb_leg;

/* Adds a word, copied; false when there is no room or memory. */
bool sb_leg_add(sb_leg *leg, const char *word);
void sb_leg_free(sb_leg *leg);

/* Runs all legs, at most `jobs` at once, and returns when all have ended. A leg that takes longer than `limit` seconds is killed. */
void sb_legs_run(sb_leg *legs, size_t count, unsigned jobs, double limit);

/* The last line of a leg's output, or "" when there is none. */
void sb_leg_last_line(const sb_leg *leg, char *text, size_t size);

#endif
