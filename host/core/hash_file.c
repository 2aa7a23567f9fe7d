/* Writing, reading and comparing hash files. */
#include "hash_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_LINE "# samebit hashes 1"
#define MAX_LINE 400

void sb_hash_file_begin(FILE *file, const sb_sim *sim, const char *domain)
{
  fprintf(file, FIRST_LINE "\n# model %016" PRIx64 "\n# setup %016" PRIx64 "\n# domain %s\n# tick state contacts\n", sb_sim_model_hash(sim),
          sb_sim_setup_hash(sim), domain);
}

void sb_hash_file_row(FILE *file, const sb_sim *sim)
{
  uint64_t state;
  if (!sb_sim_hash_history(sim, sb_sim_tick(sim), &state)) return;
  fprintf(file, "%" PRIu64 " %016" PRIx64 " %016" PRIx64 "\n", sb_sim_tick(sim), state, sb_sim_hash_stage(sim, SB_STAGE_CONTACTS));
}

static bool read_row(const char *line, sb_hash_row *row)
{
  char end;
  return sscanf(line, "%" SCNu64 " %16" SCNx64 " %16" SCNx64 " %c", &row->tick, &row->hash[SB_STAGE_STATE], &row->hash[SB_STAGE_CONTACTS],
                &end) == 3;
}

/* A line of the head: false when it is none. */
static bool read_head(const char *line, sb_hash_file *out)
{
  if (line[0] != '#') return false;
  if (sscanf(line, "# model %16" SCNx64, &out->model) == 1 || sscanf(line, "# setup %16" SCNx64, &out->setup) == 1) return true;
  if (!strncmp(line, "# domain ", 9)) snprintf(out->domain, sizeof out->domain, "%.300s", line + 9);
  return true;
}

static bool add_row(sb_hash_file *out, size_t *capacity, const sb_hash_row *row)
{
  if (out->count == *capacity) {
    size_t grown = *capacity ? 2 * *capacity : 1024;
    sb_hash_row *rows = realloc(out->rows, grown * sizeof *rows);
    if (!rows) return false;
    out->rows = rows;
    *capacity = grown;
  }
  out->rows[out->count++] = *row;
  return true;
}

static sb_status read_lines(FILE *file, const char *path, sb_hash_file *out, sb_diagnostics *diag)
{
  char line[MAX_LINE];
  size_t number = 0, capacity = 0;
  while (fgets(line, sizeof line, file)) {
    number++;
    line[strcspn(line, "\r\n")] = 0;
    sb_hash_row row;
    if (number == 1 && strcmp(line, FIRST_LINE))
      return sb_report(diag, SB_ERROR, SB_CODE_HASH_FILE, path, "line 1: expected \"" FIRST_LINE "\", found \"%.60s\"", line);
    if (read_head(line, out)) continue;
    if (!read_row(line, &row))
      return sb_report(diag, SB_ERROR, SB_CODE_HASH_FILE, path, "line %zu: expected a tick and two hashes of 16 digits, found \"%.60s\"", number,
                       line);
    if (out->count && row.tick <= out->rows[out->count - 1].tick)
      return sb_report(diag, SB_ERROR, SB_CODE_HASH_FILE, path, "line %zu: tick %" PRIu64 " does not come after the one before", number, row.tick);
    if (!add_row(out, &capacity, &row)) return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, path, "no memory for the hashes");
  }
  if (ferror(file) || number == 0) return sb_report(diag, SB_ERROR, SB_CODE_HASH_FILE, path, "the file is empty or cannot be read");
  return SB_OK;
}

sb_status sb_hash_file_read(const char *path, sb_hash_file *out, sb_diagnostics *diag)
{
  *out = (sb_hash_file){0};
  FILE *file = fopen(path, "r");
  if (!file) return sb_report(diag, SB_ERROR, SB_CODE_FILE_OPEN, path, "the hash file cannot be opened");
  sb_status status = read_lines(file, path, out, diag);
  fclose(file);
  if (status) sb_hash_file_free(out);
  return status;
}

void sb_hash_file_free(sb_hash_file *file)
{
  free(file->rows);
  *file = (sb_hash_file){0};
}

bool sb_hash_file_compare(const sb_hash_file *a, const sb_hash_file *b, sb_hash_difference *d, uint64_t *shared)
{
  *shared = 0;
  for (size_t i = 0, k = 0; i < a->count && k < b->count;) {
    const sb_hash_row *x = &a->rows[i], *y = &b->rows[k];
    if (x->tick != y->tick) {
      if (x->tick < y->tick)
        i++;
      else
        k++;
      continue;
    }
    for (int s = 0; s < SB_STAGE_COUNT; s++)
      if (x->hash[s] != y->hash[s]) {
        *d = (sb_hash_difference){x->tick, (sb_stage)s, x->hash[s], y->hash[s]};
        return true;
      }
    ++*shared;
    i++;
    k++;
  }
  return false;
}
