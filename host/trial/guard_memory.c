/* Each block ends at pages that cannot be touched, as nearly as its alignment allows; what is left around it is marked. */
#define _GNU_SOURCE
#include "guard_memory.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MARK 0xc5
#define BLOCKS 1024

typedef struct guarded {
  unsigned char *base; /* the first guard page; NULL: free */
  unsigned char *block;
  size_t size, length; /* of the block; of the mapping */
  char name[64];
} guarded;

static guarded blocks[BLOCKS];
static char complaint[160];

static size_t page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }
static size_t guard_size(void) { return 16 * page_size(); }

static void *take(void *context, const char *name, size_t bytes)
{
  (void)context;
  size_t page = page_size(), guard = guard_size(), room = (bytes + 63) / 64 * 64, i = 0;
  size_t inner = (room + page) / page * page; /* at least one byte before the block */
  while (i < BLOCKS && blocks[i].base) i++;
  if (i == BLOCKS || bytes > SIZE_MAX / 2) return NULL;
  unsigned char *base = mmap(NULL, inner + 2 * guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return NULL;
  if (mprotect(base + guard, inner, PROT_READ | PROT_WRITE)) {
    munmap(base, inner + 2 * guard);
    return NULL;
  }
  guarded *g = &blocks[i];
  *g = (guarded){.base = base, .block = base + guard + inner - room, .size = bytes, .length = inner + 2 * guard};
  snprintf(g->name, sizeof g->name, "%s", name);
  memset(base + guard, MARK, inner - room);
  memset(g->block + bytes, MARK, room - bytes);
  return g->block;
}

static void look(const guarded *g)
{
  size_t guard = guard_size();
  const unsigned char *end = g->base + g->length - guard;
  for (const unsigned char *p = g->base + guard; p < g->block && !complaint[0]; p++)
    if (*p != MARK) snprintf(complaint, sizeof complaint, "it wrote %zu bytes before the beginning of the array or block \"%s\"", (size_t)(g->block - p), g->name);
  for (const unsigned char *p = g->block + g->size; p < end && !complaint[0]; p++)
    if (*p != MARK)
      snprintf(complaint, sizeof complaint, "it wrote %zu bytes behind the end of the array or block \"%s\", which has %zu bytes",
               (size_t)(p - g->block) - g->size + 1, g->name, g->size);
}

static void give(void *context, void *memory)
{
  (void)context;
  for (size_t i = 0; memory && i < BLOCKS; i++) {
    if (!blocks[i].base || blocks[i].block != memory) continue;
    look(&blocks[i]);
    munmap(blocks[i].base, blocks[i].length);
    blocks[i].base = NULL;
    return;
  }
}

const sb_memory_source *sb_guard_memory(void)
{
  static const sb_memory_source source = {NULL, take, give};
  return &source;
}

const char *sb_guard_complaint(void)
{
  for (size_t i = 0; i < BLOCKS; i++)
    if (blocks[i].base) look(&blocks[i]);
  return complaint[0] ? complaint : NULL;
}

static size_t put(char *line, size_t size, size_t n, const char *text)
{
  while (*text && n + 1 < size) line[n++] = *text++;
  return n;
}

size_t sb_guard_describe(const void *address, char *line, size_t size)
{
  const unsigned char *at = address;
  for (size_t i = 0; i < BLOCKS; i++) {
    const guarded *g = &blocks[i];
    if (!g->base || at < g->base || at >= g->base + g->length) continue;
    size_t n = put(line, size, 0, at < g->block ? "broke it reached before the beginning of the array or block \"" : "broke it reached behind the end of the array or block \"");
    n = put(line, size, n, g->name);
    n = put(line, size, n, "\"");
    line[n++] = '\n';
    return n;
  }
  return 0;
}
