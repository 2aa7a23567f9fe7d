/* A hanging cloth of N by N particles under xpbd or semi_implicit: springs along the rows and columns, both diagonals, and over two, about six a particle. dt 1/60, 8
 * substeps of 1 iteration. Time for each distance constraint solved, bytes that the passes of a tick move, and how that
 * compares with the machine's copy bandwidth in the same run.
 *   cloth_bench [N [STEPS [THREADS [LANES [SUBSTEPS [ITERATIONS [TIME [SOLVER]]]]]]]]    TIME: own (of the thread, with one) or wall; iterations: of xpbd */
#define _POSIX_C_SOURCE 200809L
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "model_builder.h"
#include "sim.h"

extern const sb_plugin_entry samebit_plugin_xpbd, samebit_plugin_semi_implicit;

/* With one thread the time is the processor's for this thread, so that other programs on the machine do not count; with several, it is the clock's. */
static clockid_t clock_used = CLOCK_MONOTONIC;
static double ms_now(void)
{
  struct timespec t;
  clock_gettime(clock_used, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void add_spring(sb_model_builder *b, int n, int i, int j, int di, int dj)
{
  if (i + di >= n || j + dj < 0 || j + dj >= n) return;
  double rest = di && dj ? 0.014142135623730951 : 0.01 * (di + dj);
  sb_builder_add_spring(b, &(sb_build_spring){.particle = {i * n + j, (i + di) * n + j + dj}, .rest_length = rest, .stiffness = 1000});
}

static sb_model_store *make_cloth(int n, sb_diagnostics *diag)
{
  sb_model_builder *b = sb_builder_create();
  sb_build_deformable cloth = sb_build_deformable_default();
  cloth.contype = cloth.conaffinity = 0;
  sb_builder_add_deformable(b, &cloth, "cloth");
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      sb_builder_add_particle(b, &(sb_build_particle){.q = {0.01 * i, 0.01 * j, 2.0}, .mass = 1e-4, .radius = 0.004, .pinned = i == 0 && (j == 0 || j == n - 1)});
  static const int steps[6][2] = {{1, 0}, {0, 1}, {1, 1}, {1, -1}, {2, 0}, {0, 2}};
  for (int s = 0; s < 6; s++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) add_spring(b, n, i, j, steps[s][0], steps[s][1]);
  sb_model_store *one = NULL;
  sb_builder_finalise(b, "cloth_bench", &one, diag);
  sb_builder_free(b);
  return one;
}

/* GB/s read plus written by a plain copy of 64 MiB, the best of five. */
static double copy_bandwidth(void)
{
  size_t bytes = (size_t)64 << 20;
  char *from = malloc(bytes), *to = malloc(bytes);
  double best = 0;
  if (!from || !to) return 0;
  memset(from, 1, bytes);
  memset(to, 2, bytes);
  for (int i = 0; i < 5; i++) {
    double t = ms_now();
    memcpy(to, from, bytes);
    double rate = 2e-6 * (double)bytes / (ms_now() - t);
    if (rate > best && to[bytes / 2] == 1) best = rate;
  }
  free(from);
  free(to);
  return best;
}

static long argument(int argc, char **argv, int i, long otherwise) { return argc > i ? atol(argv[i]) : otherwise; }

int main(int argc, char **argv)
{
  int n = (int)argument(argc, argv, 1, 100), steps = (int)argument(argc, argv, 2, 300);
  uint32_t threads = (uint32_t)argument(argc, argv, 3, 1), lanes = (uint32_t)argument(argc, argv, 4, 0);
  const char *solver = argc > 8 ? argv[8] : "xpbd";
  bool semi = !strcmp(solver, "semi_implicit");
  if ((argc > 7 && strcmp(argv[7], "own") && strcmp(argv[7], "wall")) || (!semi && strcmp(solver, "xpbd"))) {
    fprintf(stderr, "cloth_bench: TIME is own or wall, and SOLVER xpbd or semi_implicit\n");
    return 2;
  }
  if (threads == 1 && (argc <= 7 || !strcmp(argv[7], "own"))) clock_used = CLOCK_THREAD_CPUTIME_ID;
  sb_diagnostics diag = {0};
  sb_model_store *one = make_cloth(n, &diag);
  const sb_model *m = one ? sb_model_store_view(one) : NULL;
  const sb_solver_factory *factory = (semi ? samebit_plugin_semi_implicit : samebit_plugin_xpbd).get_factory(SB_SOLVER_FACTORY_ID);
  const sb_solver_desc *desc = factory->solvers[0]->desc;
  double values[64];
  for (uint32_t i = 0; i < desc->param_count; i++) values[i] = desc->params[i].value;
  double substeps = (double)argument(argc, argv, 5, 8), iterations = (double)argument(argc, argv, 6, 1);
  for (uint32_t i = 0; i < desc->param_count; i++) {
    if (!strcmp(desc->params[i].name, "substeps")) values[i] = substeps;
    if (!strcmp(desc->params[i].name, "iterations")) values[i] = iterations;
  }
  uint32_t count = m ? m->particle_count : 0;
  uint32_t *particles = malloc((count + 1) * sizeof *particles);
  double *each = malloc(((size_t)steps + 1) * sizeof *each);
  for (uint32_t i = 0; i < count; i++) particles[i] = i;
  sb_sim_part part = {.name = "cloth", .api = factory->solvers[0], .params = values, .particles = particles, .particle_count = count, .mode = SB_MODE_LOCAL};
  sb_sim_config config = {.model = one, .parts = &part, .part_count = 1, .dt_numerator = 1, .dt_denominator = 60, .mode = SB_MODE_LOCAL, .threads = threads,
                          .lanes = lanes};
  sb_sim *sim = NULL;
  double start = ms_now();
  sb_status status = one ? sb_sim_create(&config, &sim, &diag) : SB_E_MEMORY;
  double setup = ms_now() - start;
  for (int k = 0; k < steps && !status; k++) {
    double before = ms_now();
    status = sb_sim_step(sim, &diag);
    each[k] = ms_now() - before;
  }
  if (!status && steps > 0) {
    qsort(each, (size_t)steps, sizeof *each, compare);
    double solves = substeps * iterations * (double)m->spring_count, median = each[steps / 2];
    /* a spring's own 16 bytes and two records of 16 read and written; a particle's three records in each substep */
    double bytes = solves * (16 + 64) + substeps * count * 96.0;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double copied = copy_bandwidth();
    printf("samebit-%s n=%d springs=%u substeps=%.0f t=%u lanes=%u setup_ms=%.0f median_ms=%.4f ns=%.3f best_ns=%.3f moved_MB=%.1f moved_GBs=%.1f copy_GBs=%.1f share=%.2f rss_MB=%.0f low=%.4f hash=%016llx\n", solver, n,
           m->spring_count, substeps, threads, lanes, setup, median, 1e6 * median / solves, 1e6 * each[0] / solves, 1e-6 * bytes, 1e-6 * bytes / median, copied, 1e-6 * bytes / median / copied, (double)usage.ru_maxrss / 1024,
           (double)sb_sim_state(sim)->particle_q[3 * (count - (uint32_t)n / 2) + 2], (unsigned long long)sb_sim_hash(sim));
  }
  for (size_t i = 0; i < diag.count; i++) fprintf(stderr, "%s\n", diag.items[i].message);
  sb_sim_destroy(sim);
  sb_model_store_free(one);
  sb_diagnostics_clear(&diag);
  free(particles);
  free(each);
  return status != SB_OK;
}
