/* A small fork-join pool on POSIX threads; without threads the caller runs all chunks. */
#include "thread_pool.h"

#include <stdbool.h>
#include <stdlib.h>

#include "fp_env.h"

#include <stdatomic.h>

/* WebAssembly without threads: the caller runs every chunk. */
#if defined(__wasi__) && !defined(_REENTRANT)
#define HAS_THREADS 0
#else
#define HAS_THREADS 1
#include <pthread.h>
#endif

typedef struct job {
  void (*fn)(void *user, uint32_t chunk);
  void *user;
  uint32_t count;
  uint32_t step;  /* shuffled start: chunk = (offset + i * step) mod count, step coprime to count */
  uint32_t offset;
} job;

/* A job is published through `ticket`: its number in the high half, the next chunk in the low half. A ticket of an odd number is
 * closed: the job's fields are being written. Whoever takes a chunk does so by compare and exchange on the ticket, so a
 * worker that comes late finds another number and takes nothing, and nobody waits for it. */
struct sb_thread_pool {
  uint32_t threads;
  uint64_t shuffle;
  uint64_t shuffle_state;
  _Atomic(void (*)(void *, uint32_t)) fn;
  _Atomic(void *) user;
  atomic_uint count, step, offset;
  _Atomic uint64_t ticket;
  atomic_uint finished; /* chunks of this job that are done */
  atomic_uint fp_faults;
  atomic_uint sleepers; /* workers that wait for `wake` */
  atomic_bool waiting;  /* the caller waits for `done` */
  atomic_bool stop;
#if HAS_THREADS
  pthread_mutex_t lock;
  pthread_cond_t wake;
  pthread_cond_t done;
  pthread_t *workers;
#endif
  uint32_t worker_count;
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

#if HAS_THREADS

/* A tick has hundreds of jobs, a few microseconds apart: look around for about 50 microseconds before sleeping. */
#define SPIN_ROUNDS 2000

static void spin_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

static uint32_t job_number(uint64_t ticket) { return (uint32_t)(ticket >> 32); }

/* Takes a chunk of the job `number`; false when none is left or the job is over. */
static bool take_chunk(sb_thread_pool *pool, uint32_t number, uint32_t count, uint32_t *chunk)
{
  uint64_t ticket = atomic_load(&pool->ticket);
  while (job_number(ticket) == number && (uint32_t)ticket < count) {
    if (!atomic_compare_exchange_weak(&pool->ticket, &ticket, ticket + 1)) continue;
    *chunk = (uint32_t)ticket;
    return true;
  }
  return false;
}

static void work(sb_thread_pool *pool, uint32_t number)
{
  job j = {atomic_load(&pool->fn), atomic_load(&pool->user), atomic_load(&pool->count), atomic_load(&pool->step), atomic_load(&pool->offset)};
  uint32_t chunk;
  while (take_chunk(pool, number, j.count, &chunk)) {
    uint32_t faults = run_chunk(&j, chunk);
    if (faults) atomic_fetch_add(&pool->fp_faults, faults);
    if (atomic_fetch_add(&pool->finished, 1u) + 1 < j.count || !atomic_load(&pool->waiting)) continue;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_signal(&pool->done);
    pthread_mutex_unlock(&pool->lock);
  }
}

/* The number of a job that is open and not `seen`; sleeps until there is one. */
static uint32_t await_job(sb_thread_pool *pool, uint32_t seen)
{
  for (int spin = 0; spin < SPIN_ROUNDS; spin++) {
    uint32_t number = job_number(atomic_load(&pool->ticket));
    if ((number != seen && !(number & 1u)) || atomic_load(&pool->stop)) return number;
    spin_pause();
  }
  pthread_mutex_lock(&pool->lock);
  atomic_fetch_add(&pool->sleepers, 1u);
  uint32_t number = job_number(atomic_load(&pool->ticket));
  while ((number == seen || (number & 1u)) && !atomic_load(&pool->stop)) {
    pthread_cond_wait(&pool->wake, &pool->lock);
    number = job_number(atomic_load(&pool->ticket));
  }
  atomic_fetch_sub(&pool->sleepers, 1u);
  pthread_mutex_unlock(&pool->lock);
  return number;
}

static void *worker_main(void *argument)
{
  sb_thread_pool *pool = argument;
  uint32_t seen = 0;
  sb_fp_env_enter();
  while (!atomic_load(&pool->stop)) {
    seen = await_job(pool, seen);
    work(pool, seen);
  }
  return NULL;
}

/* Closes the last ticket, writes the job, opens the next ticket. */
static uint32_t publish(sb_thread_pool *pool, const job *j)
{
  uint32_t number = job_number(atomic_load(&pool->ticket)) + 2;
  atomic_store(&pool->ticket, (uint64_t)(number - 1) << 32);
  atomic_store(&pool->fn, j->fn);
  atomic_store(&pool->user, j->user);
  atomic_store(&pool->count, j->count);
  atomic_store(&pool->step, j->step);
  atomic_store(&pool->offset, j->offset);
  atomic_store(&pool->finished, 0u);
  atomic_store(&pool->fp_faults, 0u);
  atomic_store(&pool->ticket, (uint64_t)number << 32);
  if (atomic_load(&pool->sleepers)) {
    pthread_mutex_lock(&pool->lock);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
  }
  return number;
}

static void await_finished(sb_thread_pool *pool, uint32_t count)
{
  for (int spin = 0; spin < SPIN_ROUNDS; spin++) {
    if (atomic_load(&pool->finished) == count) return;
    spin_pause();
  }
  pthread_mutex_lock(&pool->lock);
  atomic_store(&pool->waiting, true);
  while (atomic_load(&pool->finished) != count) pthread_cond_wait(&pool->done, &pool->lock);
  atomic_store(&pool->waiting, false);
  pthread_mutex_unlock(&pool->lock);
}

static uint32_t share(sb_thread_pool *pool, const job *j)
{
  work(pool, publish(pool, j));
  await_finished(pool, j->count);
  return atomic_load(&pool->fp_faults);
}

static void start_lock(sb_thread_pool *pool)
{
  pthread_mutex_init(&pool->lock, NULL);
  pthread_cond_init(&pool->wake, NULL);
  pthread_cond_init(&pool->done, NULL);
}

static sb_status start_workers(sb_thread_pool *pool, uint32_t count)
{
  pool->workers = calloc((size_t)count + 1, sizeof *pool->workers);
  if (!pool->workers) return SB_E_MEMORY;
  for (; pool->worker_count < count; pool->worker_count++)
    if (pthread_create(&pool->workers[pool->worker_count], NULL, worker_main, pool)) return SB_E_MEMORY;
  return SB_OK;
}

static void stop_workers(sb_thread_pool *pool)
{
  pthread_mutex_lock(&pool->lock);
  atomic_store(&pool->stop, true);
  pthread_cond_broadcast(&pool->wake);
  pthread_mutex_unlock(&pool->lock);
  for (uint32_t i = 0; i < pool->worker_count; i++) pthread_join(pool->workers[i], NULL);
  pthread_cond_destroy(&pool->done);
  pthread_cond_destroy(&pool->wake);
  pthread_mutex_destroy(&pool->lock);
  free(pool->workers);
}

#else

static uint32_t share(sb_thread_pool *pool, const job *j)
{
  (void)pool;
  (void)j;
  return 0;
}
static void start_lock(sb_thread_pool *pool) { (void)pool; }
static sb_status start_workers(sb_thread_pool *pool, uint32_t count)
{
  (void)pool;
  (void)count;
  return SB_OK;
}
static void stop_workers(sb_thread_pool *pool) { (void)pool; }

#endif

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
    faults = share(pool, &j);
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
  start_lock(pool);
  if (start_workers(pool, threads - 1)) {
    sb_thread_pool_destroy(pool);
    return SB_E_MEMORY;
  }
  *out = pool;
  return SB_OK;
}

void sb_thread_pool_destroy(sb_thread_pool *pool)
{
  if (!pool) return;
  stop_workers(pool);
  free(pool);
}
