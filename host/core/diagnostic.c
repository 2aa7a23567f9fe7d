/* Lists of diagnostics and their catalogue. Knows the C library only. */
#include "diagnostic.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct code_entry {
  const char *name;
  const char *title;
  const char *advice;
} code_entry;

static const code_entry code_table[] = {
#define SB_CODE(name, title, advice) {"SB_" #name, title, advice},
#include "diagnostic_codes.def"
#undef SB_CODE
};

/* Names as users read them, with dashes. */
static _Thread_local char code_names[SB_CODE_COUNT][48];

const char *sb_code_name(sb_code code)
{
  if (code < 0 || code >= SB_CODE_COUNT) return "SB-?";
  char *out = code_names[code];
  const char *in = code_table[code].name;
  size_t i = 0;
  for (; in[i] && i + 1 < sizeof code_names[0]; i++) out[i] = in[i] == '_' ? '-' : in[i];
  return out;
}

const char *sb_code_title(sb_code code) { return code >= 0 && code < SB_CODE_COUNT ? code_table[code].title : ""; }

const char *sb_code_advice(sb_code code) { return code >= 0 && code < SB_CODE_COUNT ? code_table[code].advice : ""; }

sb_code sb_code_find(const char *name)
{
  for (int c = 0; c < SB_CODE_COUNT; c++) {
    const char *a = sb_code_name((sb_code)c), *b = name;
    while (*a && toupper((unsigned char)*b) == *a) a++, b++;
    if (!*a && !*b) return (sb_code)c;
  }
  return SB_CODE_COUNT;
}

static char *copy_text(const char *text)
{
  size_t n = strlen(text) + 1;
  char *out = malloc(n);
  if (out) memcpy(out, text, n);
  return out;
}

static sb_status status_of(sb_code code)
{
  const char *name = code_table[code].name;
  if (!strncmp(name, "SB_MEMORY", 9)) return SB_E_MEMORY;
  if (!strncmp(name, "SB_MODE_", 8)) return SB_E_MODE;
  if (!strncmp(name, "SB_CAPACITY", 11)) return SB_E_CAPACITY;
  if (!strncmp(name, "SB_NUMERIC", 10)) return SB_E_NUMERIC;
  if (!strncmp(name, "SB_FILE", 7)) return SB_E_IO;
  if (!strncmp(name, "SB_ABI", 6)) return SB_E_VERSION;
  if (!strncmp(name, "SB_SHADER", 9)) return SB_E_FORMAT;
  if (!strncmp(name, "SB_VULKAN_MEMORY", 16)) return SB_E_MEMORY;
  if (!strncmp(name, "SB_VULKAN", 9)) return SB_E_UNSUPPORTED;
  return SB_E_CONFIG;
}

/* Length of a well-formed UTF-8 sequence of printable characters at s, or 0. */
static size_t utf8_length(const unsigned char *s)
{
  if (s[0] >= 0x20 && s[0] < 0x7f) return 1;
  size_t n = s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3 : s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0;
  for (size_t i = 1; i < n; i++)
    if ((s[i] & 0xc0) != 0x80) return 0;
  bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
  bool surrogate = (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf4 && s[1] > 0x8f);
  return overlong || surrogate ? 0 : n;
}

/* What a user wrote may hold anything; what is printed is text: other bytes become '?'. */
static void make_printable(char *text)
{
  for (unsigned char *s = (unsigned char *)text; *s;) {
    size_t n = utf8_length(s);
    if (n == 0) *s = '?', n = 1;
    s += n;
  }
}

sb_status sb_report(sb_diagnostics *list, sb_severity severity, sb_code code, const char *where, const char *format, ...)
{
  sb_status status = status_of(code);
  if (!list) return status;
  if (severity == SB_ERROR) list->error_count++;
  if (list->count == list->capacity) {
    size_t capacity = list->capacity ? list->capacity * 2 : 8;
    sb_diagnostic *items = realloc(list->items, capacity * sizeof *items);
    if (!items) {
      list->dropped++;
      return status;
    }
    list->items = items;
    list->capacity = capacity;
  }
  va_list args;
  va_start(args, format);
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  va_end(args);
  char *message = length < 0 ? NULL : malloc((size_t)length + 1);
  if (message) vsnprintf(message, (size_t)length + 1, format, again);
  va_end(again);
  char *place = copy_text(where ? where : "");
  if (!message || !place) {
    free(message);
    free(place);
    list->dropped++;
    return status;
  }
  make_printable(message);
  make_printable(place);
  list->items[list->count++] = (sb_diagnostic){code, severity, message, place};
  return status;
}

const char *sb_diagnostics_reason(const sb_diagnostics *list, const char *otherwise)
{
  for (size_t i = 0; i < list->count; i++)
    if (list->items[i].severity == SB_ERROR) return list->items[i].message;
  return otherwise;
}

void sb_diagnostics_clear(sb_diagnostics *list)
{
  for (size_t i = 0; i < list->count; i++) {
    free(list->items[i].message);
    free(list->items[i].where);
  }
  free(list->items);
  *list = (sb_diagnostics){0};
}

/* Levenshtein distance of two short words, capped: words beyond 63 characters are never near. */
static int edit_distance(const char *a, const char *b)
{
  size_t na = strlen(a), nb = strlen(b);
  if (na > 63 || nb > 63) return 1000;
  int row[64];
  for (size_t j = 0; j <= nb; j++) row[j] = (int)j;
  for (size_t i = 1; i <= na; i++) {
    int diagonal = row[0];
    row[0] = (int)i;
    for (size_t j = 1; j <= nb; j++) {
      int change = diagonal + (tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]));
      diagonal = row[j];
      int best = change < row[j] + 1 ? change : row[j] + 1;
      row[j] = best < row[j - 1] + 1 ? best : row[j - 1] + 1;
    }
  }
  return row[nb];
}

const char *sb_nearest_name(const char *word, const char *const *candidates, size_t count)
{
  const char *best = NULL;
  int best_distance = (int)strlen(word) / 3 + 2;
  for (size_t i = 0; i < count; i++) {
    int d = edit_distance(word, candidates[i]);
    if (d < best_distance) best = candidates[i], best_distance = d;
  }
  return best;
}
