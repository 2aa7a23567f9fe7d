/* A small fork-join pool on POSIX threads. */
#include "thread_pool.h"

#include <stdbool.h>
#include <stdlib.h>

#include "fp_env.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct job {
  void (*fn)(void *user, uint32_t chunk);
  void *user;
  uint32_t count;
  uint32_t step;  /* shuffled start: chunk = (offset + i * step) mod count, step coprime to count */
  uint32_t offset;
} job;

struct sb_thread_pool {
  uint32_t threads;
  uint64_t shuffle;
  uint64_t shuffle_state;
  job now;
  pthread_mutex_t lock;
  pthread_cond_t wake;
  pthread_cond_t done;
  pthread_t *workers;
  uint32_t worker_count;
  atomic_uint generation; /* odd or even does not matter: a change means a new job */
  atomic_uint next;
  atomic_uint fp_faults;
  uint32_t busy; /* workers still in the job; under lock */
  atomic_bool stop;
};

static uint32_t run_chunk(const job *j, uint32_t i)
{
  uint32_t chunk = (uint32_t)((j->offset + (uint64_t)i * j->step) % j->count);
  j->fn(j->user, chunk);
  if (sb_fp_env_is_standard()) return 0;
  sb_fp_env_enter();
  return 1;
}

static uint32_t gcd(uint32_t a, uint32_t b)
{
  while (b) {
    uint32_t r = a % b;
    a = b;
    b = r;
  }
  return a;
}

static void plan_order(sb_thread_pool *pool, job *j)
{
  j->step = 1;
  j->offset = 0;
  if (!pool->shuffle || j->count < 2) return;
  pool->shuffle_state = pool->shuffle_state * 6364136223846793005u + 1442695040888963407u;
  j->offset = (uint32_t)((pool->shuffle_state >> 33) % j->count);
  j->step = 1 + (uint32_t)((pool->shuffle_state >> 13) % j->count);
  while (gcd(j->step, j->count) != 1) j->step = j->step % j->count + 1;
}

#define SPIN_ROUNDS 2000

static void work(sb_thread_pool *pool, const job *j)
{
  for (;;) {
    uint32_t i = atomic_fetch_add_explicit(&pool->next, 1u, memory_order_relaxed);
    if (i >= j->count) return;
    uint32_t faults = run_chunk(j, i);
    if (faults) atomic_fetch_add_explicit(&pool->fp_faults, faults, memory_order_relaxed);
  }
}

static void *worker_main(void *argument)
{
  sb_thread_pool *pool = argument;
  unsigned seen = 0;
  sb_fp_env_enter();
  for (;;) {
    /* A tick has several jobs a few microseconds apart: look for the next for a moment before sleeping. */
    for (int spin = 0; spin < SPIN_ROUNDS; spin++) {
      if (atomic_load_explicit(&pool->generation, memory_order_acquire) != seen) break;
      if (atomic_load_explicit(&pool->stop, memory_order_relaxed)) break;
    }
    pthread_mutex_lock(&pool->lock);
    while (atomic_load(&pool->generation) == seen && !atomic_load(&pool->stop)) pthread_cond_wait(&pool->wake, &pool->lock);
    if (atomic_load(&pool->stop)) {
      pthread_mutex_unlock(&pool->lock);
      return NULL;
    }
    seen = atomic_load(&pool->generation);
    job j = pool->now;
    pthread_mutex_unlock(&pool->lock);
    work(pool, &j);
    pthread_mutex_lock(&pool->lock);
    if (--pool->busy == 0) pthread_cond_signal(&pool->done);
    pthread_mutex_unlock(&pool->lock);
  }
}

uint32_t sb_thread_pool_run(sb_thread_pool *pool, uint32_t chunk_count, void (*fn)(void *, uint32_t), void *user)
{
  if (chunk_count == 0) return 0;
  sb_fp_env saved = sb_fp_env_enter();
  job j = {fn, user, chunk_count, 1, 0};
  plan_order(pool, &j);
  uint32_t faults = 0;
  if (pool->worker_count == 0 || chunk_count == 1) {
    for (uint32_t i = 0; i < chunk_count; i++) faults += run_chunk(&j, i);
  } else {
    pthread_mutex_lock(&pool->lock);
    pool->now = j;
    pool->busy = pool->worker_count;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    atomic_store_explicit(&pool->fp_faults, 0, memory_order_relaxed);
    atomic_fetch_add_explicit(&pool->generation, 1u, memory_order_release);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    work(pool, &j);
    pthread_mutex_lock(&pool->lock);
    while (pool->busy) pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    faults = atomic_load(&pool->fp_faults);
  }
  sb_fp_env_leave(saved);
  return faults;
}

sb_status sb_thread_pool_create(uint32_t threads, uint64_t shuffle_seed, sb_thread_pool **out)
{
  *out = NULL;
  if (threads < 1 || threads > 256) return SB_E_ARGUMENT;
  sb_thread_pool *pool = calloc(1, sizeof *pool);
  if (!pool) return SB_E_MEMORY;
  pool->threads = threads;
  pool->shuffle = shuffle_seed;
  pool->shuffle_state = shuffle_seed;
  pthread_mutex_init(&pool->lock, NULL);
  pthread_cond_init(&pool->wake, NULL);
  pthread_cond_init(&pool->done, NULL);
  if (threads > 1) {
    pool->workers = calloc(threads - 1, sizeof *pool->workers);
    if (!pool->workers) {
      sb_thread_pool_destroy(pool);
      return SB_E_MEMORY;
    }
    for (; pool->worker_count < threads - 1; pool->worker_count++) {
      if (pthread_create(&pool->workers[pool->worker_count], NULL, worker_main, pool)) {
        sb_thread_pool_destroy(pool);
        return SB_E_MEMORY;
      }
    }
  }
  *out = pool;
  return SB_OK;
}

void sb_thread_pool_destroy(sb_thread_pool *pool)
{
  if (!pool) return;
  pthread_mutex_lock(&pool->lock);
  atomic_store(&pool->stop, true);
  pthread_cond_broadcast(&pool->wake);
  pthread_mutex_unlock(&pool->lock);
  for (uint32_t i = 0; i < pool->worker_count; i++) pthread_join(pool->workers[i], NULL);
  pthread_cond_destroy(&pool->done);
  pthread_cond_destroy(&pool->wake);
  pthread_mutex_destroy(&pool->lock);
  free(pool->workers);
  free(pool);
}
