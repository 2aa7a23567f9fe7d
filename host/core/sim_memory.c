/* Memory for solvers, from the C library unless a source is given. */
#include "sim_memory.h"

#include <stdlib.h>
#include <string.h>

void *sb_memory_take(const sb_memory_source *source, const char *name, size_t bytes)
{
  if (source) return source->take(source->context, name, bytes);
  if (bytes > (size_t)-1 - 128) return NULL;
  size_t size = bytes ? (bytes + 63) / 64 * 64 : 64;
  void *memory = aligned_alloc(64, size);
  if (memory) memset(memory, 0, size);
  return memory;
}

void sb_memory_give(const sb_memory_source *source, void *memory)
{
  if (source)
    source->give(source->context, memory);
  else
    free(memory);
}
