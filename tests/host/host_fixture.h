/* Helpers of the host tests: INI text to a session, and looking for diagnostics. */
#ifndef SAMEBIT_TESTS_HOST_FIXTURE_H
#define SAMEBIT_TESTS_HOST_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session.h"

static const char *const fixture_dirs[] = {SAMEBIT_FIXTURES, SAMEBIT_PLUGINS};

/* Writes the text to a file of its own; `path` is what the caller unlinks. */
static inline void write_ini(const char *text, char path[64])
{
  strcpy(path, "/tmp/samebit_test_XXXXXX");
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
  close(fd);
}

static inline sb_status open_text(const char *text, sb_session_options options, sb_session *session, sb_diagnostics *diag)
{
  char path[64];
  write_ini(text, path);
  options.plugin_dirs = fixture_dirs;
  options.plugin_dir_count = 2;
  options.cache_dir = SAMEBIT_FIXTURES "/../trial_cache";
  sb_status status = sb_session_open(path, &options, session, diag);
  unlink(path);
  return status;
}

/* How many diagnostics have this code and this text in the message. */
/* format: an INI with %s for the mode. */
static inline sb_status open_in_mode(const char *format, const char *mode, const char *backend, sb_session *session, sb_diagnostics *diag)
{
  char text[400];
  snprintf(text, sizeof text, format, mode);
  return open_text(text, (sb_session_options){.backend = backend, .threads = 1}, session, diag);
}

static inline int count_messages(const sb_diagnostics *diag, sb_code code, const char *part)
{
  int n = 0;
  for (size_t i = 0; i < diag->count; i++) n += diag->items[i].code == code && strstr(diag->items[i].message, part) != NULL;
  return n;
}

static inline void print_messages(const sb_diagnostics *diag)
{
  for (size_t i = 0; i < diag->count; i++)
    print_message("  %s: [%s] %s\n", diag->items[i].where, sb_code_name(diag->items[i].code), diag->items[i].message);
}

#endif
