/* Starting, watching and stopping the process of a trial. */
#define _GNU_SOURCE
#include "trial_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <seccomp.h>

#include "trial_version.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define USUAL_SECONDS 180.0
#else
#define USUAL_SECONDS 30.0
#endif
#define LOAD_SHARE 0.25 /* of it, for loading alone: somebody waits to see a list */

typedef struct talk {
  char text[4096];
  size_t used;
  char place[160]; /* the last "at" line */
  char broken[240]; /* what the process says about its own end */
  bool done, began;
  sb_trial_line line;
  void *user;
  sb_trial_outcome *outcome;
} talk;

const char *sb_trial_cause_advice(sb_trial_cause cause)
{
  switch (cause) {
  case SB_TRIAL_SIGNAL:
    return "look for a bad pointer, an index out of bounds, a failed assert";
  case SB_TRIAL_BOUNDS:
    return "check indices against the counts of the model, of the contacts and of its own arrays";
  case SB_TRIAL_SYSTEM_CALL:
    return "take memory, threads and messages from sb_host; leave files, network and processes alone";
  case SB_TRIAL_EXIT:
    return "return a status and a text instead of calling exit";
  case SB_TRIAL_SLOW:
    return "look for a loop that does not end; bound loops by counts, not by floats that should become small";
  default:
    return NULL;
  }
}

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Lines about the process itself stay here; the others are the task's. */
static void take_line(talk *t, const char *line)
{
  if (!strcmp(line, "begin")) {
    t->began = true;
  } else if (!strcmp(line, "done")) {
    t->done = true;
  } else if (!strncmp(line, "at ", 3)) {
    snprintf(t->place, sizeof t->place, "%s", line + 3);
  } else if (!strncmp(line, "bare ", 5)) {
    snprintf(t->outcome->sandbox, sizeof t->outcome->sandbox, "%s", line + 5);
  } else if (!strncmp(line, "broke ", 6)) {
    t->outcome->cause = SB_TRIAL_BOUNDS;
    snprintf(t->broken, sizeof t->broken, "%s", line + 6);
  } else if (!strncmp(line, "syscall ", 8)) {
    t->outcome->cause = SB_TRIAL_SYSTEM_CALL;
    char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, atoi(line + 8));
    snprintf(t->broken, sizeof t->broken, "it made the system call %.40s, which a solver may not (no files, network, processes)", name ? name : line + 8);
    free(name);
  } else {
    t->line(t->user, line);
  }
}

/* Reads what is there; false at the end. */
static bool read_lines(talk *t, int fd)
{
  ssize_t n = read(fd, t->text + t->used, sizeof t->text - 1 - t->used);
  if (n <= 0) return n < 0 && errno == EINTR;
  t->used += (size_t)n;
  t->text[t->used] = 0;
  char *from = t->text;
  for (char *end; (end = strchr(from, '\n')); from = end + 1) {
    *end = 0;
    take_line(t, from);
  }
  t->used = strlen(from);
  if (t->used == sizeof t->text - 1) t->used = 0; /* a line without end */
  memmove(t->text, from, t->used + 1);
  return true;
}

/* Descriptors of the child: 3 the module, 4 the pipe, then the libraries. Sources are moved out of the way first. */
static bool start(const sb_trial_request *r, int pipe_write, pid_t *pid)
{
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  int high[34], count = 0;
  bool ok = !posix_spawn_file_actions_init(&actions);
  if (!ok) return false;
  if (posix_spawnattr_init(&attributes)) {
    posix_spawn_file_actions_destroy(&actions);
    return false;
  }
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  ok = !posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) && !posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0) &&
       !posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  for (size_t i = 0; ok && i < r->library_count + 2; i++) {
    high[count] = fcntl(i == 0 ? r->fd : i == 1 ? pipe_write : r->library_fds[i - 2], F_DUPFD_CLOEXEC, 100);
    ok = high[count] >= 0 && !posix_spawn_file_actions_adddup2(&actions, high[count], (int)i + 3);
    count += high[count] >= 0;
  }
  ok = ok && !posix_spawn_file_actions_addclosefrom_np(&actions, (int)r->library_count + 5);
  char libraries[16];
  snprintf(libraries, sizeof libraries, "%zu", r->library_count);
  char *const words[] = {(char *)r->program, (char *)SB_TRIAL_WORD, (char *)SB_TRIAL_VERSION, libraries, (char *)r->path, (char *)r->task, NULL};
  /* Sanitizers must leave signals to the child's own handlers; nothing else needs an environment. */
  char *const environment[] = {(char *)"ASAN_OPTIONS=handle_segv=0:handle_abort=0:detect_leaks=0", (char *)"TSAN_OPTIONS=handle_segv=0:report_bugs=0", NULL};
  ok = ok && !posix_spawn(pid, r->program, &actions, &attributes, words, environment);
  for (int i = 0; i < count; i++) close(high[i]);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return ok;
}

static void describe_end(talk *t, int status, bool late, double seconds, sb_trial_outcome *o)
{
  const char *place = t->place[0] ? t->place : "its start";
  if (late) {
    o->end = SB_TRIAL_TIMED_OUT;
    o->cause = SB_TRIAL_SLOW;
    snprintf(o->why, sizeof o->why, "it was not done after %.0f s, during %s", seconds, place);
  } else if (t->done) {
    o->end = SB_TRIAL_DONE;
  } else if (!t->began) {
    o->end = SB_TRIAL_NOT_RUN;
    snprintf(o->why, sizeof o->why, "the program for trials did not start, or is another version");
  } else {
    o->end = SB_TRIAL_CRASHED;
    if (o->cause == SB_TRIAL_NO_CAUSE) o->cause = WIFSIGNALED(status) ? SB_TRIAL_SIGNAL : SB_TRIAL_EXIT;
    if (t->broken[0])
      snprintf(o->why, sizeof o->why, "%.230s, during %.150s", t->broken, place);
    else if (WIFSIGNALED(status))
      snprintf(o->why, sizeof o->why, "it crashed (%s), during %s", strsignal(WTERMSIG(status)), place);
    else
      snprintf(o->why, sizeof o->why, "it ended the process by itself (exit code %d), during %s", WIFEXITED(status) ? WEXITSTATUS(status) : -1, place);
  }
}

/* ---- the limit of time ---- */

/* A process that has had its time is stopped. One that other processes keep from the processors has not had it yet: it
 * goes on until it has, but for no more than SB_TRIAL_PATIENCE times as long. */
typedef struct stopwatch {
  double start, seconds;
  clockid_t clock; /* of the process's own time on the processors */
  bool has_clock;
  double looked, used; /* when that was last looked at, and what it was */
} stopwatch;

static stopwatch start_watch(pid_t pid, double seconds)
{
  stopwatch w = {.start = now(), .seconds = seconds};
  w.has_clock = clock_getcpuclockid(pid, &w.clock) == 0;
  w.looked = w.start;
  return w;
}

/* Seconds until somebody must look again; 0 or less: its time is over. */
static double seconds_left(stopwatch *w)
{
  double at = now(), left = w->start + w->seconds - at;
  if (left > 0) return left;
  struct timespec t;
  if (!w->has_clock || clock_gettime(w->clock, &t) || at >= w->start + SB_TRIAL_PATIENCE * w->seconds) return 0;
  double used = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec, since = at - w->looked;
  if (used >= 0.9 * w->seconds) return 0;
  const double pause = 1.0;
  if (w->looked > w->start && since < pause) return pause - since;
  if (w->looked > w->start && used - w->used < 0.01 * since) return 0; /* it waits for something that does not come */
  w->looked = at;
  w->used = used;
  return pause;
}

void sb_trial_run(const sb_trial_request *r, sb_trial_line line, void *user, sb_trial_outcome *o)
{
  *o = (sb_trial_outcome){.end = SB_TRIAL_NOT_RUN};
  talk t = {.line = line, .user = user, .outcome = o};
  double seconds = r->seconds > 0 ? r->seconds : USUAL_SECONDS * (strcmp(r->task, "load") ? 1.0 : LOAD_SHARE);
  int ends[2];
  pid_t pid;
  if (pipe2(ends, O_CLOEXEC)) {
    snprintf(o->why, sizeof o->why, "no pipe: %s", strerror(errno));
    return;
  }
  bool started = start(r, ends[1], &pid);
  close(ends[1]);
  if (!started) {
    snprintf(o->why, sizeof o->why, "%s cannot be started", r->program);
    close(ends[0]);
    return;
  }
  bool open = true, late = false;
  stopwatch watch = start_watch(pid, seconds);
  while (open && !late) {
    struct pollfd p = {ends[0], POLLIN, 0};
    double left = seconds_left(&watch);
    late = left <= 0;
    if (!late && poll(&p, 1, (int)(left * 1e3) + 1) > 0) open = read_lines(&t, ends[0]);
  }
  close(ends[0]);
  if (late) kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  describe_end(&t, status, late, seconds, o);
}
