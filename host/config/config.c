/* INI reading through inih, and typed access to settings. */
#define _GNU_SOURCE
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILE_BYTES (1u << 20)
#define MAX_LINE 4096

static bool add_setting(sb_config *c, const char *section, const char *key, const char *value, const char *where)
{
  if (c->count == c->capacity) {
    size_t capacity = c->capacity ? 2 * c->capacity : 32;
    sb_setting *grown = realloc(c->settings, capacity * sizeof *grown);
    if (!grown) return false;
    c->settings = grown;
    c->capacity = capacity;
  }
  sb_setting s = {strdup(section), strdup(key), strdup(value), strdup(where), false};
  if (!s.section || !s.key || !s.value || !s.where) {
    free(s.section), free(s.key), free(s.value), free(s.where);
    return false;
  }
  c->settings[c->count++] = s;
  return true;
}

static bool add_section(sb_config *c, const char *name, const char *where)
{
  for (size_t i = 0; i < c->section_count; i++)
    if (!strcmp(c->sections[i].name, name)) return true;
  sb_section *grown = realloc(c->sections, (c->section_count + 1) * sizeof *grown);
  if (!grown) return false;
  c->sections = grown;
  sb_section s = {strdup(name), strdup(where)};
  if (!s.name || !s.where) {
    free(s.name), free(s.where);
    return false;
  }
  c->sections[c->section_count++] = s;
  return true;
}

static sb_setting *find_setting(const sb_config *c, const char *section, const char *key)
{
  for (size_t i = 0; i < c->count; i++)
    if (!strcmp(c->settings[i].section, section) && !strcmp(c->settings[i].key, key)) return &c->settings[i];
  return NULL;
}

/* ---- reading ---- */

typedef struct source {
  const char *text;
  size_t size, at;
  uint32_t line;
  bool too_long;
  const char *name;
  sb_config *config;
  sb_diagnostics *diag;
  bool failed;
} source;

static void check_header(source *s, const char *line, size_t length);

/* inih asks for one line at a time; counting here gives each setting its line. */
static char *read_line(char *buffer, int size, void *stream)
{
  source *s = stream;
  if (s->at >= s->size) return NULL;
  const char *start = s->text + s->at;
  const char *newline = memchr(start, '\n', s->size - s->at);
  size_t length = newline ? (size_t)(newline - start) + 1 : s->size - s->at;
  s->line++;
  s->at += length;
  if (length > (size_t)size - 1) {
    s->too_long = true;
    length = (size_t)size - 1;
  }
  memcpy(buffer, start, length);
  buffer[length] = 0;
  check_header(s, buffer, length);
  return buffer;
}

/* inih shortens section names and passes over what follows ']' and over sections without settings, so headers are read here. */
static void check_header(source *s, const char *line, size_t length)
{
  size_t begin = strspn(line, " \t\r");
  if (begin >= length || line[begin] != '[') return;
  const char *close = memchr(line + begin, ']', length - begin);
  if (!close) return; /* inih reports it */
  char where[512], name[64];
  snprintf(where, sizeof where, "%.400s:%u", s->name, s->line);
  size_t n = (size_t)(close - (line + begin)) - 1;
  const char *after = close + 1 + strspn(close + 1, " \t\r");
  if (n > 48) {
    sb_report(s->diag, SB_ERROR, SB_CODE_INI_SYNTAX, where, "a section's name has at most 48 characters, this one %zu", n);
    s->failed = true;
  } else if (after < line + length && *after != '\n' && *after != ';' && *after != '#' && *after) {
    sb_report(s->diag, SB_ERROR, SB_CODE_INI_SYNTAX, where, "nothing may follow a section's name on its line; put the setting on the next");
    s->failed = true;
  } else {
    snprintf(name, sizeof name, "%.*s", (int)n, line + begin + 1);
    if (!add_section(s->config, name, where)) s->failed = true;
  }
}

static int take_setting(void *user, const char *section, const char *key, const char *value)
{
  source *s = user;
  char where[512];
  snprintf(where, sizeof where, "%.400s:%u", s->name, s->line);
  const sb_setting *before = find_setting(s->config, section, key);
  if (before) {
    sb_report(s->diag, SB_ERROR, SB_CODE_INI_DUPLICATE, where, "%s.%s is given twice, first at %s", section, key, before->where);
    s->failed = true;
    return 1;
  }
  if (!add_setting(s->config, section, key, value, where)) {
    sb_report(s->diag, SB_ERROR, SB_CODE_MEMORY, where, "no memory for settings");
    s->failed = true;
    return 0;
  }
  return 1;
}

sb_status sb_config_parse(const char *text, size_t size, const char *name, sb_config *out, sb_diagnostics *diag)
{
  *out = (sb_config){.path = strdup(name)};
  if (!out->path) return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, name, "no memory");
  if (size > MAX_FILE_BYTES)
    return sb_report(diag, SB_ERROR, SB_CODE_INI_TOO_LARGE, name, "%zu bytes; an INI file has at most %u", size, MAX_FILE_BYTES);
  if (memchr(text, 0, size))
    return sb_report(diag, SB_ERROR, SB_CODE_INI_SYNTAX, name, "this is not a text file: it has a NUL byte");
  source s = {.text = text, .size = size, .name = name, .config = out, .diag = diag};
  ini_use_stack = false;
  ini_max_line = ini_initial_alloc = MAX_LINE; /* the second one is the limit of lines on the heap, 200 by itself */
  ini_allow_multiline = false;
  int line = ini_parse_stream(read_line, &s, take_setting, &s);
  char where[512];
  snprintf(where, sizeof where, "%.400s:%d", name, line > 0 ? line : (int)s.line);
  if (s.too_long)
    return sb_report(diag, SB_ERROR, SB_CODE_INI_SYNTAX, name, "a line has more than %d characters", MAX_LINE - 1);
  if (line == -2) return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, name, "no memory to read the file");
  if (s.failed) return SB_E_CONFIG;
  if (line != 0)
    return sb_report(diag, SB_ERROR, SB_CODE_INI_SYNTAX, where, "expected \"[section]\", \"key = value\" or a comment (; or #)");
  return SB_OK;
}

sb_status sb_config_read(const char *path, sb_config *out, sb_diagnostics *diag)
{
  *out = (sb_config){0};
  FILE *file = fopen(path, "rb");
  if (!file) return sb_report(diag, SB_ERROR, SB_CODE_FILE_OPEN, path, "cannot open the file: %s", strerror(errno));
  char *text = malloc(MAX_FILE_BYTES + 2);
  size_t size = text ? fread(text, 1, MAX_FILE_BYTES + 1, file) : 0;
  bool failed = text && ferror(file);
  int error = errno;
  fclose(file);
  sb_status status;
  if (!text)
    status = sb_report(diag, SB_ERROR, SB_CODE_MEMORY, path, "no memory to read the file");
  else if (failed)
    status = sb_report(diag, SB_ERROR, SB_CODE_FILE_OPEN, path, "cannot read the file: %s", strerror(error));
  else
    status = sb_config_parse(text, size, path, out, diag);
  free(text);
  if (status) sb_config_free(out);
  return status;
}

sb_status sb_config_set(sb_config *c, const char *assignment, sb_diagnostics *diag)
{
  const char *equals = strchr(assignment, '=');
  const char *dot = NULL;
  for (const char *p = assignment; equals && p < equals; p++)
    if (*p == '.') dot = p;
  if (!equals || !dot || dot == assignment || dot + 1 == equals)
    return sb_report(diag, SB_ERROR, SB_CODE_CLI_USAGE, "--set", "expected section.key=value, found \"%s\"", assignment);
  char *section = strndup(assignment, (size_t)(dot - assignment));
  char *key = strndup(dot + 1, (size_t)(equals - dot - 1));
  bool ok = section && key;
  if (ok) {
    sb_setting *known = find_setting(c, section, key);
    char *value = known ? strdup(equals + 1) : NULL;
    char *where = known ? strdup("--set") : NULL;
    if (!known) {
      ok = add_setting(c, section, key, equals + 1, "--set") && add_section(c, section, "--set");
    } else if (value && where) {
      free(known->value);
      free(known->where);
      known->value = value;
      known->where = where;
    } else {
      free(value), free(where);
      ok = false;
    }
  }
  free(section);
  free(key);
  return ok ? SB_OK : sb_report(diag, SB_ERROR, SB_CODE_MEMORY, "--set", "no memory");
}

void sb_config_free(sb_config *c)
{
  for (size_t i = 0; i < c->count; i++) {
    free(c->settings[i].section);
    free(c->settings[i].key);
    free(c->settings[i].value);
    free(c->settings[i].where);
  }
  for (size_t i = 0; i < c->section_count; i++) {
    free(c->sections[i].name);
    free(c->sections[i].where);
  }
  free(c->sections);
  free(c->settings);
  free(c->path);
  *c = (sb_config){0};
}

/* ---- typed reads ---- */

const sb_setting *sb_config_find(sb_config *c, const char *section, const char *key)
{
  sb_setting *s = find_setting(c, section, key);
  if (s) s->used = true;
  return s;
}

bool sb_parse_number(const char *text, double *out)
{
  locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!c_locale) return false;
  char *end;
  double value = strtod_l(text, &end, c_locale);
  freelocale(c_locale);
  if (strpbrk(text, "xX")) return false; /* decimal only */
  bool plain = *text && (isdigit((unsigned char)*text) || *text == '-' || *text == '+' || *text == '.');
  if (!plain || *end || !(value - value == 0.0)) return false;
  *out = value;
  return true;
}

bool sb_parse_whole(const char *text, uint64_t *out)
{
  uint64_t value = 0;
  if (!*text) return false;
  for (; *text; text++) {
    if (!isdigit((unsigned char)*text)) return false;
    uint64_t digit = (uint64_t)(*text - '0');
    if (value > (UINT64_MAX - digit) / 10) return false;
    value = value * 10 + digit;
  }
  *out = value;
  return true;
}

bool sb_parse_fraction(const char *text, uint32_t *numerator, uint32_t *denominator)
{
  uint64_t n = 0, d = 1;
  const char *slash = strchr(text, '/');
  if (slash) {
    char left[24];
    if ((size_t)(slash - text) >= sizeof left) return false;
    memcpy(left, text, (size_t)(slash - text));
    left[slash - text] = 0;
    if (!sb_parse_whole(left, &n) || !sb_parse_whole(slash + 1, &d)) return false;
  } else {
    bool point = false, any = false;
    for (const char *p = text; *p; p++) {
      if (*p == '.' && !point) {
        point = true;
        continue;
      }
      if (!isdigit((unsigned char)*p) || n > UINT64_MAX / 20 || d > UINT64_MAX / 20) return false;
      any = true;
      n = n * 10 + (uint64_t)(*p - '0');
      if (point) d *= 10;
    }
    if (!any) return false;
  }
  if (n == 0 || d == 0) return false;
  for (uint64_t a = n, b = d;;) {
    if (b == 0) {
      n /= a;
      d /= a;
      break;
    }
    uint64_t r = a % b;
    a = b;
    b = r;
  }
  if (n >= 1u << 24 || d >= 1u << 24) return false;
  *numerator = (uint32_t)n;
  *denominator = (uint32_t)d;
  return true;
}

double sb_config_number(sb_config *c, const char *section, const char *key, double fallback, double lower, double upper,
                        sb_diagnostics *diag)
{
  const sb_setting *s = sb_config_find(c, section, key);
  double value;
  if (!s) return fallback;
  if (!sb_parse_number(s->value, &value)) {
    sb_report(diag, SB_ERROR, SB_CODE_INI_VALUE, s->where, "%s.%s: expected a number, found \"%s\"", section, key, s->value);
    return fallback;
  }
  if (value < lower || value > upper) {
    sb_report(diag, SB_ERROR, SB_CODE_INI_RANGE, s->where, "%s.%s = %s is out of range: %.9g to %.9g", section, key, s->value, lower,
              upper);
    return fallback;
  }
  return value;
}

uint64_t sb_config_whole(sb_config *c, const char *section, const char *key, uint64_t fallback, uint64_t lower, uint64_t upper,
                         sb_diagnostics *diag)
{
  const sb_setting *s = sb_config_find(c, section, key);
  uint64_t value;
  if (!s) return fallback;
  if (!sb_parse_whole(s->value, &value)) {
    sb_report(diag, SB_ERROR, SB_CODE_INI_VALUE, s->where, "%s.%s: expected a whole number, found \"%s\"", section, key, s->value);
    return fallback;
  }
  if (value < lower || value > upper) {
    sb_report(diag, SB_ERROR, SB_CODE_INI_RANGE, s->where, "%s.%s = %s is out of range: %llu to %llu", section, key, s->value,
              (unsigned long long)lower, (unsigned long long)upper);
    return fallback;
  }
  return value;
}

uint32_t sb_config_choice(sb_config *c, const char *section, const char *key, uint32_t fallback, const char *const *names,
                          sb_diagnostics *diag)
{
  const sb_setting *s = sb_config_find(c, section, key);
  if (!s) return fallback;
  size_t count = 0;
  char list[256] = "";
  for (; names[count]; count++) {
    if (!strcmp(names[count], s->value)) return (uint32_t)count;
    size_t used = strlen(list);
    snprintf(list + used, sizeof list - used, "%s%s", count ? ", " : "", names[count]);
  }
  const char *near = sb_nearest_name(s->value, names, count);
  sb_report(diag, SB_ERROR, SB_CODE_INI_VALUE, s->where, "%s.%s: expected one of %s, found \"%s\"%s%s%s", section, key, list, s->value,
            near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
  return fallback;
}

const char *sb_config_text(sb_config *c, const char *section, const char *key, const char *fallback)
{
  const sb_setting *s = sb_config_find(c, section, key);
  return s ? s->value : fallback;
}

bool sb_config_numbers(sb_config *c, const char *section, const char *key, double *out, size_t count, sb_diagnostics *diag)
{
  const sb_setting *s = sb_config_find(c, section, key);
  if (!s) return false;
  char copy[MAX_LINE];
  snprintf(copy, sizeof copy, "%s", s->value);
  size_t n = 0;
  bool good = true;
  char *rest = copy;
  for (char *word = strtok_r(copy, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest), n++)
    if (n >= count || !sb_parse_number(word, &out[n])) good = false;
  if (good && n == count) return true;
  sb_report(diag, SB_ERROR, SB_CODE_INI_VALUE, s->where, "%s.%s: expected %zu numbers parted by blanks, found \"%s\"", section, key,
            count, s->value);
  return false;
}

bool sb_config_fraction(sb_config *c, const char *section, const char *key, uint32_t *numerator, uint32_t *denominator,
                        sb_diagnostics *diag)
{
  const sb_setting *s = sb_config_find(c, section, key);
  if (!s) return false;
  if (sb_parse_fraction(s->value, numerator, denominator)) return true;
  sb_report(diag, SB_ERROR, SB_CODE_INI_VALUE, s->where,
            "%s.%s: expected a time above 0 as a quotient such as 1/240 or a decimal such as 0.005, found \"%s\"", section, key,
            s->value);
  return false;
}

void sb_config_check_unused(const sb_config *c, const char *section, const char *const *known, size_t known_count,
                            sb_diagnostics *diag)
{
  for (size_t i = 0; i < c->count; i++) {
    const sb_setting *s = &c->settings[i];
    if (s->used || strcmp(s->section, section)) continue;
    const char *near = sb_nearest_name(s->key, known, known_count);
    sb_report(diag, SB_ERROR, SB_CODE_INI_UNKNOWN_KEY, s->where, "[%s] has no key \"%s\"%s%s%s", section, s->key,
              near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
  }
}
