/* An INI file as a list of settings, each with the place it came from; what the rest of the host reads settings through.
 *
 * Every setting must be asked for by someone: sb_config_check_unused turns the rest into errors with the nearest known name. */
#ifndef SAMEBIT_HOST_CONFIG_H
#define SAMEBIT_HOST_CONFIG_H

#include "diagnostic.h"

typedef struct sb_setting {
  char *section;
  char *key;
  char *value;
  char *where; /* "file.ini:12" or "--set" */
  bool used;
} sb_setting;

typedef struct sb_section {
  char *name;
  char *where;
} sb_section;

typedef struct sb_config {
  sb_setting *settings;
  size_t count;
  size_t capacity;
  sb_section *sections; /* each once, in order, those without settings too */
  size_t section_count;
  char *path;
} sb_config;

/* Reads a file of at most 1 MiB. Errors: missing, too large, not text, a broken line, a key given twice. */
sb_status sb_config_read(const char *path, sb_config *out, sb_diagnostics *diag);
/* The same from memory; `name` stands for the path in messages. */
sb_status sb_config_parse(const char *text, size_t size, const char *name, sb_config *out, sb_diagnostics *diag);
/* "section.key=value", the last dot before '=' parts section and key; replaces or adds. */
sb_status sb_config_set(sb_config *config, const char *assignment, sb_diagnostics *diag);
void sb_config_free(sb_config *config);

/* The setting, marked as used, or NULL. */
const sb_setting *sb_config_find(sb_config *config, const char *section, const char *key);

/* Typed reads: the fallback where the setting is missing; a diagnostic and the fallback where it cannot be read or is
 * out of range (inclusive). `name` is "section.key" for messages. */
double sb_config_number(sb_config *config, const char *section, const char *key, double fallback, double lower, double upper,
                        sb_diagnostics *diag);
uint64_t sb_config_whole(sb_config *config, const char *section, const char *key, uint64_t fallback, uint64_t lower,
                         uint64_t upper, sb_diagnostics *diag);
/* Index of the value among `names` (NULL-ended). */
uint32_t sb_config_choice(sb_config *config, const char *section, const char *key, uint32_t fallback,
                          const char *const *names, sb_diagnostics *diag);
const char *sb_config_text(sb_config *config, const char *section, const char *key, const char *fallback);
/* Exactly `count` numbers parted by blanks; false when the setting is missing. */
bool sb_config_numbers(sb_config *config, const char *section, const char *key, double *out, size_t count,
                       sb_diagnostics *diag);
/* A tick length: "1/240" or a decimal such as 0.005, as a reduced fraction of numbers below 2^24. False when missing. */
bool sb_config_fraction(sb_config *config, const char *section, const char *key, uint32_t *numerator, uint32_t *denominator,
                        sb_diagnostics *diag);
/* Reports each setting of `section` that nobody asked for, with the nearest of `known`. */
void sb_config_check_unused(const sb_config *config, const char *section, const char *const *known, size_t known_count,
                            sb_diagnostics *diag);

/* Helpers for numbers written in any text: the whole text must be a number; the C locale rules. */
bool sb_parse_number(const char *text, double *out);
bool sb_parse_whole(const char *text, uint64_t *out);
bool sb_parse_fraction(const char *text, uint32_t *numerator, uint32_t *denominator);

#endif
