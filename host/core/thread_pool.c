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

/* A thread's share of the chunks: the job's number in the high half, how many are taken in the low half. Far enough from the next one not to share a line
 * of the cache with it. */
typedef struct lot {
  _Atomic uint64_t taken;
  char apart[120];
} lot;

/* Each thread begins with a lot of its own, a run of chunks, and then helps others with theirs. So a loop that comes again finds most of its data in the cache of
 * the core that had it last. A job is published through `number`, which is odd while the job's fields and lots are being written: what was read is the
 * job's if the number is the same afterwards. Whoever takes a chunk does so by compare and exchange on the lot, so a worker that comes late finds another
 * number there and takes nothing, and nobody waits for it. */
struct sb_thread_pool {
  uint32_t threads;
  uint64_t shuffle;
  uint64_t shuffle_state;
  _Atomic(void (*)(void *, uint32_t)) fn;
  _Atomic(void *) user;
  atomic_uint count, step, offset;
  atomic_uint number;
  atomic_uint finished; /* chunks of this job that are done */
  atomic_uint fp_faults;
  atomic_uint sleepers; /* workers that wait for `wake` */
  atomic_bool waiting;  /* the caller waits for `done` */
  atomic_bool stop;
#if HAS_THREADS
  pthread_mutex_t lock;
  pthread_cond_t wake;
  pthread_cond_t done;
  struct worker *workers;
  lot *lots; /* one for each thread, the caller's first */
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

typedef struct worker {
  sb_thread_pool *pool;
  uint32_t self; /* its lot */
  pthread_t thread;
} worker;

static uint32_t lot_start(uint32_t count, uint32_t lots, uint32_t i) { return (uint32_t)((uint64_t)count * i / lots); }

/* Takes a chunk of a lot of `size` chunks of the job `number`; false when none is left or the job is over. */
static bool take_chunk(lot *from, uint32_t number, uint32_t size, uint32_t *chunk)
{
  uint64_t taken = atomic_load(&from->taken);
  while (taken >> 32 == number && (uint32_t)taken < size) {
    if (!atomic_compare_exchange_weak(&from->taken, &taken, taken + 1)) continue;
    *chunk = (uint32_t)taken;
    return true;
  }
  return false;
}

static uint32_t lot_count(const sb_thread_pool *pool, uint32_t chunks) { return chunks < pool->threads ? chunks : pool->threads; }

static void work_lot(sb_thread_pool *pool, const job *j, uint32_t number, uint32_t i)
{
  uint32_t lots = lot_count(pool, j->count), first = lot_start(j->count, lots, i), size = lot_start(j->count, lots, i + 1) - first, chunk;
  while (take_chunk(&pool->lots[i], number, size, &chunk)) {
    uint32_t faults = run_chunk(j, first + chunk);
    if (faults) atomic_fetch_add(&pool->fp_faults, faults);
    if (atomic_fetch_add(&pool->finished, 1u) + 1 < j->count || !atomic_load(&pool->waiting)) continue;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_signal(&pool->done);
    pthread_mutex_unlock(&pool->lock);
  }
}

static void work(sb_thread_pool *pool, uint32_t self, uint32_t number)
{
  job j = {atomic_load(&pool->fn), atomic_load(&pool->user), atomic_load(&pool->count), atomic_load(&pool->step), atomic_load(&pool->offset)};
  if (atomic_load(&pool->number) != number) return;
  uint32_t lots = lot_count(pool, j.count);
  for (uint32_t i = 0; i < lots; i++) work_lot(pool, &j, number, (self + i) % lots);
}

static bool is_new(uint32_t number, uint32_t seen) { return number != seen && !(number & 1u); }

/* The number of a job that is open and not `seen`; sleeps until there is one. */
static uint32_t await_job(sb_thread_pool *pool, uint32_t seen)
{
  for (int spin = 0; spin < SPIN_ROUNDS; spin++) {
    uint32_t number = atomic_load(&pool->number);
    if (is_new(number, seen) || atomic_load(&pool->stop)) return number;
    spin_pause();
  }
  pthread_mutex_lock(&pool->lock);
  atomic_fetch_add(&pool->sleepers, 1u);
  uint32_t number = atomic_load(&pool->number);
  while (!is_new(number, seen) && !atomic_load(&pool->stop)) {
    pthread_cond_wait(&pool->wake, &pool->lock);
    number = atomic_load(&pool->number);
  }
  atomic_fetch_sub(&pool->sleepers, 1u);
  pthread_mutex_unlock(&pool->lock);
  return number;
}

static void *worker_main(void *argument)
{
  const worker *w = argument;
  uint32_t seen = 0;
  sb_fp_env_enter();
  while (!atomic_load(&w->pool->stop)) {
    seen = await_job(w->pool, seen);
    work(w->pool, w->self, seen);
  }
  return NULL;
}

/* Closes the last job, writes the next one, opens it. */
static uint32_t publish(sb_thread_pool *pool, const job *j)
{
  uint32_t number = atomic_load(&pool->number) + 2, lots = lot_count(pool, j->count);
  atomic_store(&pool->number, number - 1);
  atomic_store(&pool->fn, j->fn);
  atomic_store(&pool->user, j->user);
  atomic_store(&pool->count, j->count);
  atomic_store(&pool->step, j->step);
  atomic_store(&pool->offset, j->offset);
  atomic_store(&pool->finished, 0u);
  atomic_store(&pool->fp_faults, 0u);
  for (uint32_t i = 0; i < lots; i++) atomic_store(&pool->lots[i].taken, (uint64_t)number << 32);
  atomic_store(&pool->number, number);
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
  work(pool, 0, publish(pool, j));
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
  pool->lots = calloc((size_t)count + 1, sizeof *pool->lots);
  if (!pool->workers || !pool->lots) return SB_E_MEMORY;
  for (; pool->worker_count < count; pool->worker_count++) {
    worker *w = &pool->workers[pool->worker_count];
    w->pool = pool;
    w->self = pool->worker_count + 1;
    if (pthread_create(&w->thread, NULL, worker_main, w)) return SB_E_MEMORY;
  }
  return SB_OK;
}

static void stop_workers(sb_thread_pool *pool)
{
  pthread_mutex_lock(&pool->lock);
  atomic_store(&pool->stop, true);
  pthread_cond_broadcast(&pool->wake);
  pthread_mutex_unlock(&pool->lock);
  for (uint32_t i = 0; i < pool->worker_count; i++) pthread_join(pool->workers[i].thread, NULL);
  pthread_cond_destroy(&pool->done);
  pthread_cond_destroy(&pool->wake);
  pthread_mutex_destroy(&pool->lock);
  free(pool->workers);
  free(pool->lots);
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
