/* Every float through the shared routines on the first Vulkan device, compared with the CPU word for word: roots, sines
 * and the others over all 2^32 arguments, quotients of every divisor significand with 512 dividends.
 *
 *   device_sweep [--stride N] [--threads N] [function...]
 *
 * Every N-th index is tried, each by default. "fault" is a root with an error in one of 100,003 words; it runs when it
 * is named. */
#define _POSIX_C_SOURCE 200809L
#include "samebit/maths.h"

#include "device_sweep.h"
#include "device_sweep_shaders.h"
#include "fp_env.h"
#include "thread_pool.h"
#include "vulkan_compute.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SKIP 77 /* ctest's SKIP_RETURN_CODE */
#define GROUP 256u
#define BLOCK (1u << 23) /* words; 32,768 workgroups, which every device has */
#define CHUNK (1u << 16)

typedef struct sweep {
  sb_vulkan *vulkan;
  sb_thread_pool *pool;
  sb_vulkan_buffer *buffer;
  sb_vulkan_pipeline *pipeline;
  sweep_compare *compare;
  /* the block that is compared */
  uint32_t function, start, stride, count;
  sweep_outcome outcomes[BLOCK / CHUNK];
} sweep;

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void compare_chunk(void *user, uint32_t chunk)
{
  sweep *s = user;
  uint32_t first = chunk * CHUNK, count = s->count - first < CHUNK ? s->count - first : CHUNK;
  s->compare(s->function, s->start + first * s->stride, s->stride, count,
             (const uint32_t *)sb_vulkan_buffer_data(s->buffer) + first, &s->outcomes[chunk]);
}

/* True when no word differs. */
static bool run_function(sweep *s, const sweep_shader *f, uint32_t stride, sb_diagnostics *diag)
{
  const uint64_t total = ((UINT64_C(1) << 32) + stride - 1) / stride & ~UINT64_C(7);
  uint64_t done = 0, differ = 0;
  double device = 0, cpu = 0;
  sweep_outcome first = {0};
  if (sb_vulkan_pipeline_create(s->vulkan, f->words, f->size / sizeof *f->words, 1, 12, &s->pipeline, diag) != SB_OK)
    return false;
  sb_status status = SB_OK;
  s->function = f->function, s->stride = stride;
  for (; done < total && status == SB_OK; done += s->count) {
    s->start = (uint32_t)(done * stride);
    s->count = total - done < BLOCK ? (uint32_t)(total - done) : BLOCK;
    const uint32_t push[3] = {s->start, stride, s->count};
    memset(s->outcomes, 0, sizeof s->outcomes);
    double begin = now();
    status = sb_vulkan_run(s->vulkan, s->pipeline, &s->buffer, push, (s->count + GROUP - 1) / GROUP, diag);
    double ran = now();
    const uint32_t chunks = (s->count + CHUNK - 1) / CHUNK;
    if (status == SB_OK) sb_thread_pool_run(s->pool, chunks, compare_chunk, s);
    device += ran - begin, cpu += now() - ran;
    for (uint32_t c = 0; status == SB_OK && c < chunks; c++) {
      if (s->outcomes[c].differ && !differ) first = s->outcomes[c];
      differ += s->outcomes[c].differ;
    }
  }
  sb_vulkan_pipeline_destroy(s->pipeline);
  if (status != SB_OK) return false;
  printf("%-10s %10" PRIu64 " indices, %" PRIu64 " differ; device %.1f s, CPU %.1f s\n", f->name, total, differ, device,
         cpu);
  if (differ)
    printf("  first: index %08x gives %08x on the device, %08x on the CPU\n", first.index, first.found, first.expected);
  fflush(stdout);
  return differ == 0;
}

static bool is_chosen(int argc, char **argv, const char *name, bool named)
{
  for (int i = 1; i < argc; i++)
    if (!strcmp(argv[i], name)) return true;
  return !named && strcmp(name, "fault");
}

static sweep_compare *widest(void)
{
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") ? sweep_compare_lanes8 : sweep_compare_lanes4;
#else
  return sweep_compare_lanes4;
#endif
}

int main(int argc, char **argv)
{
  uint32_t stride = 1, threads = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
  bool named = false, all = true;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--stride") && i + 1 < argc)
      stride = (uint32_t)strtoul(argv[++i], NULL, 10);
    else if (!strcmp(argv[i], "--threads") && i + 1 < argc)
      threads = (uint32_t)strtoul(argv[++i], NULL, 10);
    else
      named = true;
  }
  if (stride == 0 || threads == 0 || threads > 256) {
    fprintf(stderr, "expected a stride of at least 1 and 1 to 256 threads\n");
    return 2;
  }
  sb_diagnostics diag = {0};
  sweep s = {.compare = widest()};
  if (sb_vulkan_open(&s.vulkan, &diag) != SB_OK) {
    printf("skipping: %s\n", diag.count ? diag.items[0].message : "");
    sb_diagnostics_clear(&diag);
    return SKIP;
  }
  const sb_vulkan_info *info = sb_vulkan_about(s.vulkan);
  printf("device: %s, %s %s; stride %u, %u threads\n", info->device, info->driver, info->driver_version, stride,
         threads);
  if (sb_thread_pool_create(threads, 0, &s.pool) != SB_OK ||
      sb_vulkan_buffer_create(s.vulkan, BLOCK * sizeof(uint32_t), &s.buffer, &diag) != SB_OK)
    all = false;
  sb_fp_env_enter();
  bool ran = false;
  for (const sweep_shader *f = sweep_shaders; f->name && all; f++) {
    if (!is_chosen(argc, argv, f->name, named)) continue;
    ran = true;
    if (!run_function(&s, f, stride, &diag)) all = false;
  }
  for (size_t i = 0; i < diag.count; i++) printf("%s: %s\n", sb_code_name(diag.items[i].code), diag.items[i].message);
  sb_diagnostics_clear(&diag);
  sb_vulkan_buffer_destroy(s.buffer);
  sb_thread_pool_destroy(s.pool);
  sb_vulkan_close(s.vulkan);
  if (!ran) fprintf(stderr, "no such function\n");
  return all && ran ? 0 : 1;
}
