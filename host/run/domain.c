/* The domain of a run: what RunToRun results may depend on. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "golden_hashes.h"
#include "session.h"

void sb_session_domain(const sb_session *s, char *text, size_t size)
{
  sb_domain_text(text, size);
  size_t used = strlen(text);
  if (s->device && used < size) snprintf(text + used, size - used, "; %s", sb_session_device_text(s->device));
}

void sb_domain_text(char *text, size_t size)
{
  struct utsname system;
  if (uname(&system)) system.machine[0] = system.sysname[0] = 0;
#ifdef __clang__
  const char *compiler = "clang " __clang_version__;
#else
  const char *compiler = "gcc " __VERSION__;
#endif
#ifdef __GLIBC__
  const char *libc = gnu_get_libc_version();
#else
  const char *libc = "?";
#endif
  snprintf(text, size, "%s %s, %u lanes, %s, C library %s, samebit %s %s, numerics %d", system.machine, system.sysname, sb_cpu_lanes(),
           compiler, libc, SAMEBIT_VERSION, SAMEBIT_BUILD_TYPE, SB_NUMERICS_VERSION);
}
