/* A file that cannot change between being judged and being used: opened once, checked by its descriptor, copied into sealed memory.
 * Knows the system and xxHash. */
#ifndef SAMEBIT_HOST_SEALED_FILE_H
#define SAMEBIT_HOST_SEALED_FILE_H

#include "diagnostic.h"

typedef struct sb_sealed_file {
  char *path;      /* without symbolic links */
  int fd;          /* of the sealed copy, closed on exec; -1 when there is none */
  void *bytes;     /* of the copy, read-only */
  size_t size;
  uint64_t hash;   /* XXH3-64 of the bytes */
} sb_sealed_file;

/* Takes a regular file that not everybody may write, in a directory that not everybody may write; symbolic links on
 * the way to it must be such that not everybody can replace them. Errors are SB_CODE_PLUGIN_FILE. */
sb_status sb_sealed_file_open(const char *path, sb_sealed_file *file, sb_diagnostics *diag);
void sb_sealed_file_close(sb_sealed_file *file);

/* Refuses a directory that everybody may write; the sticky bit does not help. */
sb_status sb_judge_plugin_dir(const char *dir, sb_diagnostics *diag);

#endif
