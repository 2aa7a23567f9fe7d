/* Fork-join over chunks. Which thread runs a chunk, and when, can change no result: chunks write only what is their own.
 * With a shuffle seed the chunks start in a permuted order, which tests use to prove that. */
#ifndef SAMEBIT_HOST_THREAD_POOL_H
#define SAMEBIT_HOST_THREAD_POOL_H

#include <stdint.h>

#include "samebit/status.h"

typedef struct sb_thread_pool sb_thread_pool;

/* threads: 1 to 256, the caller's own counted. shuffle_seed 0: chunks start in order. */
sb_status sb_thread_pool_create(uint32_t threads, uint64_t shuffle_seed, sb_thread_pool **out);
void sb_thread_pool_destroy(sb_thread_pool *pool);
/* Runs fn(user, chunk) for each chunk below chunk_count; returns when all are done. Each thread has the standard
 * floating-point environment while it runs. Returns how many chunks left another environment behind: the caller names the
 * offender. */
uint32_t sb_thread_pool_run(sb_thread_pool *pool, uint32_t chunk_count, void (*fn)(void *user, uint32_t chunk), void *user);

#endif
