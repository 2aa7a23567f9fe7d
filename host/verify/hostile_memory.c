/* Moved, guarded, and spoiled once it is given back. */
#include "hostile_memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GUARD 256u /* bytes on each side */
#define MARK 0xc5
#define SPOILED 0xa5

static void look(sb_hostile_memory *m, size_t i)
{
  const unsigned char *block = (const unsigned char *)m->blocks[i].block;
  size_t size = m->blocks[i].size;
  for (size_t k = 0; k < GUARD && !m->complaint[0]; k++) {
    if (block[size + k] != MARK)
      snprintf(m->complaint, sizeof m->complaint, "it wrote %zu bytes behind the end of \"%s\", which has %zu bytes", k + 1, m->blocks[i].name, size);
    else if (block[-1 - (ptrdiff_t)k] != MARK)
      snprintf(m->complaint, sizeof m->complaint, "it wrote %zu bytes before the beginning of \"%s\"", k + 1, m->blocks[i].name);
  }
}

static void *take(void *context, const char *name, size_t bytes)
{
  sb_hostile_memory *m = context;
  size_t i = 0;
  while (i < SB_HOSTILE_BLOCKS && m->blocks[i].base) i++;
  if (i == SB_HOSTILE_BLOCKS || bytes > SIZE_MAX / 2) return NULL;
  size_t shift = 64 * (++m->moves * 7 % 29);
  char *base = malloc(bytes + 2 * GUARD + shift + 64);
  if (!base) return NULL;
  char *block = base + shift + GUARD;
  block += 64 - (uintptr_t)block % 64;
  memset(block - GUARD, MARK, GUARD);
  memset(block, 0, bytes);
  memset(block + bytes, MARK, GUARD);
  m->blocks[i].base = base;
  m->blocks[i].block = block;
  m->blocks[i].size = bytes;
  snprintf(m->blocks[i].name, sizeof m->blocks[i].name, "%s", name);
  return block;
}

static void give(void *context, void *memory)
{
  sb_hostile_memory *m = context;
  for (size_t i = 0; memory && i < SB_HOSTILE_BLOCKS; i++) {
    if (m->blocks[i].block != memory || !m->blocks[i].base) continue;
    look(m, i);
    memset(memory, SPOILED, m->blocks[i].size);
    free(m->blocks[i].base);
    m->blocks[i].base = m->blocks[i].block = NULL;
    return;
  }
}

void sb_hostile_memory_init(sb_hostile_memory *m)
{
  *m = (sb_hostile_memory){0};
  m->source = (sb_memory_source){m, take, give};
}

const char *sb_hostile_memory_complaint(sb_hostile_memory *m)
{
  for (size_t i = 0; i < SB_HOSTILE_BLOCKS; i++)
    if (m->blocks[i].base) look(m, i);
  return m->complaint[0] ? m->complaint : NULL;
}
