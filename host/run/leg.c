/* Processes: spawning, waiting, killing. */
#define _GNU_SOURCE
#include "leg.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool sb_leg_add(sb_leg *leg, const char *word)
{
  if (leg->word_count + 1 >= SB_LEG_WORDS) return false;
  leg->words[leg->word_count] = strdup(word);
  return leg->words[leg->word_count++] != NULL;
}

void sb_leg_free(sb_leg *leg)
{
  for (size_t i = 0; i < leg->word_count; i++) free(leg->words[i]);
  free(leg->log);
  *leg = (sb_leg){0};
}

/* Starts a leg in a process group of its own, so that whatever it starts can be killed with it. */
static bool start(sb_leg *leg)
{
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, leg->log ? leg->log : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  leg->start = now();
  int error = leg->word_count ? posix_spawnp(&leg->pid, leg->words[0], &actions, &attributes, leg->words, environ) : ENOENT;
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error) leg->end = SB_LEG_NOT_STARTED, leg->exit_code = error, leg->pid = 0;
  return !error;
}

/* True when the leg has ended by now. */
static bool ended(sb_leg *leg, double limit)
{
  int status;
  pid_t got = waitpid(leg->pid, &status, WNOHANG);
  if (got == 0 && now() - leg->start < limit) return false;
  bool late = got == 0;
  if (late) {
    kill(-leg->pid, SIGKILL);
    while (waitpid(leg->pid, &status, 0) < 0 && errno == EINTR) {
    }
  }
  leg->seconds = now() - leg->start;
  leg->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  leg->end = late ? SB_LEG_TIMED_OUT : leg->exit_code ? SB_LEG_FAILED : SB_LEG_DONE;
  leg->pid = 0;
  return true;
}

void sb_legs_run(sb_leg *legs, size_t count, unsigned jobs, double limit)
{
  size_t next = 0, running = 0;
  for (size_t i = 0; i < count; i++) legs[i].pid = 0;
  while (next < count || running) {
    while (next < count && running < (jobs ? jobs : 1)) running += start(&legs[next++]);
    for (size_t i = 0; i < next; i++)
      if (legs[i].pid && ended(&legs[i], limit)) running--;
    const struct timespec pause = {0, 2000000};
    if (running) nanosleep(&pause, NULL);
  }
}

void sb_leg_last_line(const sb_leg *leg, char *text, size_t size)
{
  char line[512];
  *text = 0;
  FILE *file = leg->log ? fopen(leg->log, "r") : NULL;
  while (file && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\r\n")] = 0;
    if (line[0]) snprintf(text, size, "%s", line);
  }
  if (file) fclose(file);
}
