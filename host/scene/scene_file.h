/* Reading a whole scene file into memory, safely: regular files only, up to a limit. Private to the scene layer. */
#ifndef SAMEBIT_HOST_SCENE_FILE_H
#define SAMEBIT_HOST_SCENE_FILE_H

#include "diagnostic.h"

/* *bytes (free() it) gets a NUL behind the content. `remaining` is lowered by the size read. One diagnostic when the
 * path is missing, no regular file, unreadable, empty or larger than `remaining`. `where` says who asked; NULL for
 * nobody. */
sb_status scene_file_read(const char *path, const char *where, uint64_t *remaining, char **bytes, size_t *size,
                          sb_diagnostics *diag);

#endif
