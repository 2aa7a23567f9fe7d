/* Times the state hash against XXH3 over the same bytes, in one run, interleaved; prints medians and their ratio.
 *   bench_hash [REPEATS]        default 201
 * Rows: body_q and body_qd of 10,000 bodies; then the whole state of a pile of 2,000 bodies under semi_implicit. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <xxhash.h>

#include "collision.h"
#include "scene.h"
#include "sim.h"

extern const sb_plugin_entry samebit_plugin_semi_implicit;

static double us_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, int count)
{
  qsort(values, (size_t)count, sizeof *values, compare);
  return values[count / 2];
}

static volatile uint64_t sink;

static void print_row(const char *name, size_t bytes, double *ours, double *theirs, int repeats, uint32_t lanes)
{
  double a = median(ours, repeats), b = median(theirs, repeats);
  printf("%-44s %9zu bytes  %u lanes  hash %8.2f us  XXH3 %8.2f us  ratio %.2f\n", name, bytes, lanes, a, b, a / b);
}

static void bench_bodies(int repeats, uint32_t lanes)
{
  enum { BODIES = 10000 };
  uint32_t *q = malloc(BODIES * 13 * 4), *qd = q + BODIES * 7;
  double *ours = malloc((size_t)repeats * sizeof *ours), *theirs = malloc((size_t)repeats * sizeof *theirs);
  for (uint32_t i = 0; i < BODIES * 13; i++) q[i] = 0x3f000000u + i * 977u % 0x00800000u;
  for (int r = 0; r < repeats; r++) {
    q[r % (BODIES * 13)] ^= 1u;
    double t0 = us_now();
    sb_hash_sums sums = {0, 0};
    bool bad = sb_hash_words(&sums, q, BODIES * 7, 0, sb_hash_array_id("state.body_q"), true, lanes);
    bad |= sb_hash_words(&sums, qd, BODIES * 6, 0, sb_hash_array_id("state.body_qd"), true, lanes);
    sink = sb_hash_world(sums) + bad;
    double t1 = us_now();
    sink = XXH3_64bits(q, BODIES * 7 * 4) ^ XXH3_64bits(qd, BODIES * 6 * 4);
    double t2 = us_now();
    ours[r] = t1 - t0;
    theirs[r] = t2 - t1;
  }
  print_row("body_q and body_qd of 10,000 bodies", BODIES * 13 * 4, ours, theirs, repeats, lanes);
  free(q);
  free(ours);
  free(theirs);
}

static int bench_pile(int repeats, uint32_t lanes)
{
  sb_diagnostics diag = {0};
  sb_scene_param params[] = {{"count", "2000", NULL}};
  sb_scene_request request = {.scene = "generator:pile", .params = params, .param_count = 1};
  sb_model_store *one = NULL, *model = NULL;
  sb_sim *sim = NULL;
  sb_status status = sb_scene_load(&request, &one, &diag);
  if (!status) status = sb_model_store_replicate(one, 1, 0, &model, &diag);
  const sb_solver_factory *factory = samebit_plugin_semi_implicit.get_factory(SB_SOLVER_FACTORY_ID);
  const sb_solver_desc *desc = factory->solvers[0]->desc;
  double values[64];
  for (uint32_t i = 0; i < desc->param_count; i++) values[i] = desc->params[i].value;
  uint32_t count = status ? 0 : sb_model_store_view(model)->body_count;
  uint32_t *bodies = malloc((count + 1) * sizeof *bodies);
  for (uint32_t i = 0; i < count; i++) bodies[i] = i;
  sb_sim_part part = {.name = "pile", .api = factory->solvers[0], .params = values, .bodies = bodies, .body_count = count, .mode = SB_MODE_LOCAL};
  sb_sim_config config = {.model = model, .parts = &part, .part_count = 1, .dt_numerator = 1, .dt_denominator = 240, .mode = SB_MODE_LOCAL,
                          .lanes = lanes, .broad_phase = SB_BROAD_SAP};
  if (!status) status = sb_sim_create(&config, &sim, &diag);
  for (int t = 0; t < 5 && !status; t++) status = sb_sim_step(sim, &diag);
  if (!status) {
    double *ours = malloc((size_t)repeats * sizeof *ours), *theirs = malloc((size_t)repeats * sizeof *theirs);
    const sb_registry *registry = sb_sim_registry(sim);
    size_t bytes = 0;
    for (size_t i = 0; i < registry->count; i++) bytes += registry->arrays[i].words * 4;
    for (int r = 0; r < repeats; r++) {
      double t0 = us_now();
      sink = sb_sim_hash(sim);
      double t1 = us_now();
      for (size_t i = 0; i < registry->count; i++) sink ^= XXH3_64bits(registry->arrays[i].data, registry->arrays[i].words * 4);
      double t2 = us_now();
      ours[r] = t1 - t0;
      theirs[r] = t2 - t1;
    }
    print_row("whole state of pile, 2,000 bodies", bytes, ours, theirs, repeats, lanes);
    free(ours);
    free(theirs);
  }
  for (size_t i = 0; i < diag.count; i++) fprintf(stderr, "%s\n", diag.items[i].message);
  sb_sim_destroy(sim);
  sb_model_store_free(model);
  sb_model_store_free(one);
  sb_diagnostics_clear(&diag);
  free(bodies);
  return status != SB_OK;
}

int main(int argc, char **argv)
{
  int repeats = argc > 1 ? atoi(argv[1]) : 201, bad = 0;
  if (repeats < 1 || repeats > 1000000) return 2;
  for (uint32_t lanes = 4; lanes <= sb_cpu_lanes(); lanes *= 2) {
    bench_bodies(repeats, lanes);
    bad |= bench_pile(repeats, lanes);
  }
  return bad;
}
