/* Where the memory comes from that a simulation hands to its solvers: blocks of sb_host.alloc and registered arrays. Checks put
 * them elsewhere, between guards. C library alone. */
#ifndef SAMEBIT_HOST_SIM_MEMORY_H
#define SAMEBIT_HOST_SIM_MEMORY_H

#include <stddef.h>

typedef struct sb_memory_source {
  void *context;
  /* Zeroed memory of at least `bytes`, 64-byte aligned; NULL when there is none. The name is for messages; copied. */
  void *(*take)(void *context, const char *name, size_t bytes);
  void (*give)(void *context, void *memory); /* NULL is allowed */
} sb_memory_source;

/* The same from a source, or from the C library when it is NULL. */
void *sb_memory_take(const sb_memory_source *source, const char *name, size_t bytes);
void sb_memory_give(const sb_memory_source *source, void *memory);

#endif
