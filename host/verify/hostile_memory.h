/* Memory for solvers at odd places, between words that nobody may change. C library alone. */
#ifndef SAMEBIT_HOST_HOSTILE_MEMORY_H
#define SAMEBIT_HOST_HOSTILE_MEMORY_H

#include "sim_memory.h"

#define SB_HOSTILE_BLOCKS 512

typedef struct sb_hostile_memory {
  sb_memory_source source; /* give this to the simulation */
  struct {
    char *base; /* NULL: free */
    char *block;
    size_t size;
    char name[96];
  } blocks[SB_HOSTILE_BLOCKS];
  size_t moves;        /* counts blocks: each lies at another distance from where the C library puts it */
  char complaint[160]; /* which array was overrun; "" when none was */
} sb_hostile_memory;

void sb_hostile_memory_init(sb_hostile_memory *memory);
/* Looks at the blocks that are still taken; those given back were looked at then. NULL or what is wrong. */
const char *sb_hostile_memory_complaint(sb_hostile_memory *memory);

#endif
