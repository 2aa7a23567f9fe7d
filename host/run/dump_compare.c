/* Comparing dumps line by line. */
#include "dump_compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct dump_line {
  char array[128];
  uint32_t element, component, word;
  int32_t body;
} dump_line;

static bool read_line(FILE *file, dump_line *line)
{
  return fscanf(file, "%127s %" SCNu32 " %" SCNu32 " %" SCNx32 " %" SCNd32, line->array, &line->element, &line->component, &line->word,
                &line->body) == 5;
}

static sb_status compare(FILE *a, FILE *b, const char *path_b, sb_dump_difference *d, sb_diagnostics *diag)
{
  dump_line x, y;
  for (;;) {
    bool more = read_line(a, &x), other = read_line(b, &y);
    if (!more && !other) return SB_OK;
    bool same_place = more && other && !strcmp(x.array, y.array) && x.element == y.element && x.component == y.component;
    if (!same_place)
      return sb_report(diag, SB_ERROR, SB_CODE_HASH_UNRELATED, path_b, "the runs have other arrays: %s[%u] against %s[%u]",
                       more ? x.array : "end", more ? x.element : 0, other ? y.array : "end", other ? y.element : 0);
    if (x.word == y.word) continue;
    snprintf(d->array, sizeof d->array, "%s", x.array);
    d->element = x.element;
    d->component = x.component;
    d->body = x.body;
    d->a = x.word;
    d->b = y.word;
    return SB_OK;
  }
}

sb_status sb_dump_compare(const char *path_a, const char *path_b, sb_dump_difference *d, sb_diagnostics *diag)
{
  *d = (sb_dump_difference){.body = -1};
  FILE *a = fopen(path_a, "r"), *b = fopen(path_b, "r");
  sb_status status = SB_OK;
  if (!a || !b)
    status = sb_report(diag, SB_ERROR, SB_CODE_FILE_OPEN, a ? path_b : path_a, "the dump of a leg cannot be read");
  else
    status = compare(a, b, path_b, d, diag);
  if (a) fclose(a);
  if (b) fclose(b);
  return status;
}
