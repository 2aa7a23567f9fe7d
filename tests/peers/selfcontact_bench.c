/* A hanging cloth of N by N particles under xpbd with and without self-contact, the two side by side: a tick of the
 * one, then the same of the other, in processor time of this thread. dt 1/60, 8 substeps of 1 iteration, thickness
 * 0.004 m at a spacing of 0.01 m. selfcontact_bench [PINS [N [TICKS]]]    PINS: edge (it hangs still) or corners (it
 * swings and folds) */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "model_store.h"
#include "scene.h"
#include "sim.h"

extern const sb_plugin_entry samebit_plugin_xpbd;

static double ms_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static sb_status start(const char *pins, const char *n, const char *touches, sb_model_store **model, sb_sim **sim,
                       sb_diagnostics *diag)
{
  const sb_scene_param params[] = {{"rows", n, NULL},         {"columns", n, NULL},
                                   {"spacing", "0.01", NULL}, {"thickness", "0.004", NULL},
                                   {"pins", pins, NULL},      {"self_contact", touches, NULL}};
  sb_scene_request request = {
      .scene = "generator:cloth", .params = params, .param_count = sizeof params / sizeof params[0]};
  sb_status status = sb_scene_load(&request, model, diag);
  if (status) return status;
  const sb_model *m = sb_model_store_view(*model);
  const sb_solver_factory *factory = samebit_plugin_xpbd.get_factory(SB_SOLVER_FACTORY_ID);
  const sb_solver_desc *desc = factory->solvers[0]->desc;
  double values[64];
  for (uint32_t i = 0; i < desc->param_count; i++) values[i] = desc->params[i].value;
  uint32_t *particles = malloc((m->particle_count + 1) * sizeof *particles);
  if (!particles) return SB_E_MEMORY;
  for (uint32_t i = 0; i < m->particle_count; i++) particles[i] = i;
  sb_sim_part part = {.name = "cloth",
                      .api = factory->solvers[0],
                      .params = values,
                      .particles = particles,
                      .particle_count = m->particle_count,
                      .mode = SB_MODE_LOCAL};
  sb_sim_config config = {.model = *model,
                          .parts = &part,
                          .part_count = 1,
                          .dt_numerator = 1,
                          .dt_denominator = 60,
                          .mode = SB_MODE_LOCAL,
                          .threads = 1};
  status = sb_sim_create(&config, sim, diag);
  free(particles);
  return status;
}

int main(int argc, char **argv)
{
  const char *pins = argc > 1 ? argv[1] : "edge", *n = argc > 2 ? argv[2] : "100";
  int ticks = argc > 3 ? atoi(argv[3]) : 300;
  sb_diagnostics diag = {0};
  sb_model_store *model[2] = {NULL, NULL};
  sb_sim *sim[2] = {NULL, NULL};
  double *each[2], total[2] = {0, 0};
  uint32_t most = 0;
  sb_status status = SB_OK;
  if (ticks < 1) return 2;
  for (int k = 0; k < 2; k++) {
    each[k] = calloc((size_t)ticks, sizeof **each);
    if (!each[k]) return 2;
    if (!status) status = start(pins, n, k ? "1" : "0", &model[k], &sim[k], &diag);
  }
  for (int t = 0; t < ticks && !status; t++)
    for (int k = 0; k < 2 && !status; k++) {
      double before = ms_now();
      status = sb_sim_step(sim[k], &diag);
      total[k] += each[k][t] = ms_now() - before;
      if (k == 1 && sb_sim_near_pairs(sim[1])->count > most) most = sb_sim_near_pairs(sim[1])->count;
    }
  if (!status) {
    for (int k = 0; k < 2; k++) qsort(each[k], (size_t)ticks, sizeof **each, compare);
    printf("selfcontact pins=%s n=%s ticks=%d plain_ms=%.3f self_ms=%.3f median_ratio=%.2f total_ratio=%.2f "
           "near_pairs=%u hash=%016llx\n",
           pins, n, ticks, each[0][ticks / 2], each[1][ticks / 2], each[1][ticks / 2] / each[0][ticks / 2],
           total[1] / total[0], most, (unsigned long long)sb_sim_hash(sim[1]));
  }
  for (size_t i = 0; i < diag.count; i++) fprintf(stderr, "%s\n", diag.items[i].message);
  for (int k = 0; k < 2; k++) {
    sb_sim_destroy(sim[k]);
    sb_model_store_free(model[k]);
    free(each[k]);
  }
  sb_diagnostics_clear(&diag);
  return status != SB_OK;
}
