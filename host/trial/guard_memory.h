/* Memory for solvers between pages that cannot be touched: who writes behind an array's end, or far before its beginning, is named.
 * One for each process, because a signal handler reads it. */
#ifndef SAMEBIT_HOST_GUARD_MEMORY_H
#define SAMEBIT_HOST_GUARD_MEMORY_H

#include "sim_memory.h"

const sb_memory_source *sb_guard_memory(void);
/* Inside a signal handler: the line "broke ..." about an address, or 0 bytes when it belongs to no array. */
size_t sb_guard_describe(const void *address, char *line, size_t size);
/* What was found when memory was given back: small writes outside; NULL when nothing was. */
const char *sb_guard_complaint(void);

#endif
