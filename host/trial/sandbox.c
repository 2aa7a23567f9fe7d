/* Limits, a filter of system calls, and a last line before the end. */
#define _GNU_SOURCE
#include "sandbox.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <seccomp.h>

#include "guard_memory.h"

static int line_fd;

/* ---- the last line: only what is safe inside a signal handler ---- */

static void put_line(const char *text, size_t length)
{
  if (write(line_fd, text, length) < 0) return;
}

static void on_forbidden(int signal, siginfo_t *info, void *context)
{
  (void)signal, (void)context;
  char line[32] = "syscall ";
  size_t n = 8;
  int number = info->si_syscall, scale = 1000;
  for (; scale > 1 && number < scale; scale /= 10) continue;
  for (; scale > 0; scale /= 10) line[n++] = (char)('0' + number / scale % 10);
  line[n++] = '\n';
  put_line(line, n);
  _exit(98);
}

static void on_bad_address(int signal, siginfo_t *info, void *context)
{
  (void)context;
  char line[256];
  size_t n = sb_guard_describe(info->si_addr, line, sizeof line);
  if (n) put_line(line, n);
  struct sigaction again = {.sa_handler = SIG_DFL};
  sigaction(signal, &again, NULL); /* the instruction runs again, and ends the process */
}

static void install_handlers(void)
{
  static char stack[65536];
  sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
  struct sigaction action = {.sa_sigaction = on_bad_address, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
  action.sa_sigaction = on_forbidden;
  sigaction(SIGSYS, &action, NULL);
}

/* ---- limits ---- */

static void set_limit(int what, rlim_t value)
{
  struct rlimit limit = {value, value};
  setrlimit(what, &limit);
}

static void set_limits(void)
{
  set_limit(RLIMIT_CORE, 0);
  set_limit(RLIMIT_FSIZE, 0);
  set_limit(RLIMIT_CPU, 600);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  set_limit(RLIMIT_AS, (rlim_t)8 << 30);
#endif
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_DUMPABLE, 0);
}

/* ---- the filter ---- */

/* Calls that loading, memory, threads and clocks need. */
static const char *const allowed[] = {
    "read", "readv", "pread64", "write", "writev", "close", "fstat", "stat", "lstat", "newfstatat", "statx", "lseek", "_llseek", "access", "faccessat", "faccessat2",
    "readlink", "readlinkat", "getcwd", "mmap", "mmap2", "mprotect", "munmap", "mremap", "madvise", "brk", "futex", "futex_time64", "set_robust_list", "get_robust_list",
    "rseq", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigreturn", "sigaltstack", "exit", "exit_group", "sched_yield", "sched_getaffinity", "getpid",
    "gettid", "getuid", "geteuid", "getgid", "getegid", "clock_gettime", "clock_gettime64", "clock_getres", "clock_nanosleep", "clock_nanosleep_time64",
    "nanosleep", "gettimeofday", "time", "getrandom", "uname", "sysinfo", "getcpu", "membarrier", "arch_prctl", "set_tid_address", "restart_syscall", "tgkill",
    "poll", "ppoll", "fcntl", "fcntl64", "dup", "getrusage", "riscv_flush_icache", "getdents64", "mlock", "munlock"};
/* Calls that are answered with an error, because libraries try them and do without. */
static const char *const denied[] = {"clone3", "ioctl", "prctl", "personality", "mbind", "get_mempolicy", "sched_setaffinity", "sched_getparam", "sched_getscheduler"};

static int add_rules(scmp_filter_ctx filter)
{
  int bad = 0;
  for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++) {
    int number = seccomp_syscall_resolve_name(allowed[i]);
    if (number >= 0) bad |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 0);
  }
  for (size_t i = 0; i < sizeof denied / sizeof denied[0]; i++) {
    int number = seccomp_syscall_resolve_name(denied[i]);
    if (number >= 0) bad |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(38 /* ENOSYS */), number, 0);
  }
  /* Files are opened to read only; threads are clones that share everything. */
  const scmp_datum_t writes = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;
  bad |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, writes, 0));
  int number = seccomp_syscall_resolve_name("open");
  if (number >= 0) bad |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 1, SCMP_A1(SCMP_CMP_MASKED_EQ, writes, 0));
  bad |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1, SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
  /* Limits may be read, not set. */
  number = seccomp_syscall_resolve_name("prlimit64");
  if (number >= 0) bad |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 1, SCMP_A2(SCMP_CMP_EQ, 0, 0));
  return bad;
}

bool sb_sandbox_enter(int fd, char *reason, size_t size)
{
  line_fd = fd;
  set_limits();
  install_handlers();
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_TRAP);
  if (!filter) {
    snprintf(reason, size, "no filter of system calls can be made");
    return false;
  }
  seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
  int bad = add_rules(filter);
  if (!bad) bad = seccomp_load(filter);
  seccomp_release(filter);
  if (bad) snprintf(reason, size, "this system takes no filter of system calls (%s)", strerror(bad < 0 ? -bad : bad));
  return !bad;
}
