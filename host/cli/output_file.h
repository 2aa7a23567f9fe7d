/* Files that a command writes: they appear under their name when they are whole. Knows POSIX only. */
#ifndef SAMEBIT_HOST_OUTPUT_FILE_H
#define SAMEBIT_HOST_OUTPUT_FILE_H

#include <stdio.h>

#include "diagnostic.h"

typedef struct output_file {
  FILE *file; /* NULL when it is not open */
  const char *path;
  char *temporary; /* NULL for what is no regular file, a pipe or terminal, which is written to directly */
} output_file;

/* Opens a new file beside `path`, which must outlive it. */
sb_status output_file_open(output_file *out, const char *path, sb_diagnostics *diag);
/* Gives it its name; on an error the file of that name is as it was before. Nothing when it is not open. */
sb_status output_file_finish(output_file *out, sb_diagnostics *diag);
/* Drops what was written. */
void output_file_drop(output_file *out);

#endif
