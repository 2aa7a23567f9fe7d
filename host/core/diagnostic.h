/* Diagnostics: the one way in which the host tells its user that something is wrong.
 *
 * A function that can fail for reasons a user causes takes an sb_diagnostics and returns an sb_status. It adds one
 * diagnostic for each thing that is wrong, saying what was expected, what was found, where, and what to do. Every code is
 * declared once in diagnostic_codes.def, which also holds the text of `samebit explain CODE`. */
#ifndef SAMEBIT_HOST_DIAGNOSTIC_H
#define SAMEBIT_HOST_DIAGNOSTIC_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "samebit/status.h"

typedef enum sb_severity { SB_NOTE, SB_WARNING, SB_ERROR } sb_severity;

typedef enum sb_code {
#define SB_CODE(name, title, advice) SB_CODE_##name,
#include "diagnostic_codes.def"
#undef SB_CODE
  SB_CODE_COUNT
} sb_code;

typedef struct sb_diagnostic {
  sb_code code;
  sb_severity severity;
  char *message; /* owned by the list */
  char *where;   /* "file:line", "solver.robot", ...; owned; "" when it does not apply */
} sb_diagnostic;

typedef struct sb_diagnostics {
  sb_diagnostic *items;
  size_t count;
  size_t capacity;
  size_t error_count;
  size_t dropped; /* diagnostics lost because memory ran out; still counted as errors when they were */
} sb_diagnostics;

/* An empty list is all zero bytes. Frees what the list owns and empties it. */
void sb_diagnostics_clear(sb_diagnostics *list);

/* What the first error says; `otherwise` where there is none. Valid as long as the list. */
const char *sb_diagnostics_reason(const sb_diagnostics *list, const char *otherwise);

/* Adds a diagnostic. `where` may be NULL. Returns the status that the code stands for, so that a caller can write
 * `return sb_report(...)`. A NULL list is allowed. */
sb_status sb_report(sb_diagnostics *list, sb_severity severity, sb_code code, const char *where, const char *format, ...)
#if defined(__GNUC__)
  __attribute__((format(printf, 5, 6)))
#endif
  ;

/* "SB-INI-UNKNOWN-KEY" and so on: the name users see. Valid on the calling thread. */
const char *sb_code_name(sb_code code);
const char *sb_code_title(sb_code code);
const char *sb_code_advice(sb_code code);
/* The code of that name (case does not matter) or SB_CODE_COUNT. */
sb_code sb_code_find(const char *name);

/* The candidate nearest to `word` by edit distance, or NULL when none is near enough to suggest. */
const char *sb_nearest_name(const char *word, const char *const *candidates, size_t count);

#endif
