/* Hash files: the state hash of each tick as text, for machines that compare their runs without sending state. C library alone.
 *
 *   # samebit hashes 1
 *   # model 0123456789abcdef
 *   # setup 0123456789abcdef
 *   # domain x86_64 Linux, ...
 *   # tick state contacts
 *   1 0123456789abcdef 0123456789abcdef
 *
 * model and setup are what both runs must share: cooked bytes, solvers, versions, parameters, seed. The contacts are those that
 * the tick began with, so a difference in them alone blames the collision pipeline. */
#ifndef SAMEBIT_HOST_HASH_FILE_H
#define SAMEBIT_HOST_HASH_FILE_H

#include <stdio.h>

#include "sim.h"

typedef struct sb_hash_row {
  uint64_t tick;
  uint64_t hash[SB_STAGE_COUNT]; /* by stage */
} sb_hash_row;

typedef struct sb_hash_file {
  uint64_t model, setup;
  char domain[320];
  sb_hash_row *rows; /* ticks ascend */
  size_t count;
} sb_hash_file;

void sb_hash_file_begin(FILE *file, const sb_sim *sim, const char *domain);
/* The row of the tick that was done last. */
void sb_hash_file_row(FILE *file, const sb_sim *sim);

/* SB_E_IO with one diagnostic when the file cannot be read or a line is not as above. */
sb_status sb_hash_file_read(const char *path, sb_hash_file *out, sb_diagnostics *diag);
void sb_hash_file_free(sb_hash_file *file);

/* Rows of both that have the same tick and differ: the first one, and the first stage that differs in it. */
typedef struct sb_hash_difference {
  uint64_t tick;
  sb_stage stage;
  uint64_t a, b;
} sb_hash_difference;
/* False when the files agree on every tick that both have; *shared is the number of those up to the difference. */
bool sb_hash_file_compare(const sb_hash_file *a, const sb_hash_file *b, sb_hash_difference *difference, uint64_t *shared);

#endif
