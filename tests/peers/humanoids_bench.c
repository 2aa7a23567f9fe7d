/* Scene S5 (copies of a humanoid with random motor controls, dt 0.005) under steel or featherstone: world-steps a second, the deepest
 * contact, and whether all stay finite. Controls are those of the peers' driver, +-0.5 from a linear congruential generator, but each
 * copy has a seed of its own, so that no two are in one pose.
 *   humanoids_bench XML [STEPS] [COPIES] [THREADS] [steel|featherstone] [SUBSTEPS] [LANES] */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collision.h"
#include "scene.h"
#include "sim.h"

extern const sb_plugin_entry samebit_plugin_featherstone, samebit_plugin_steel;

static double s_now(clockid_t clock)
{
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint32_t next_random(uint32_t *r) { return *r = *r * 1664525u + 1013904223u; }

static int number(int argc, char **argv, int at, int otherwise) { return argc > at ? atoi(argv[at]) : otherwise; }

int main(int argc, char **argv)
{
  if (argc < 2) {
    fprintf(stderr, "usage: %s XML [STEPS] [COPIES] [THREADS] [steel|featherstone] [SUBSTEPS] [LANES]\n", argv[0]);
    return 2;
  }
  int steps = number(argc, argv, 2, 1000), copies = number(argc, argv, 3, 256), substeps = number(argc, argv, 6, 2);
  sb_scene_request request = {.scene = argv[1]};
  sb_diagnostics diag = {0};
  sb_model_store *one = NULL, *model = NULL;
  sb_sim *sim = NULL;
  sb_status status = sb_scene_load(&request, &one, &diag);
  if (!status) status = sb_model_store_replicate(one, (uint32_t)copies, 0, &model, &diag);
  const sb_plugin_entry *plugin = argc > 5 && !strcmp(argv[5], "featherstone") ? &samebit_plugin_featherstone : &samebit_plugin_steel;
  const sb_solver_factory *factory = plugin->get_factory(SB_SOLVER_FACTORY_ID);
  const sb_solver_desc *desc = factory->solvers[0]->desc;
  double values[64];
  for (uint32_t i = 0; i < desc->param_count; i++) values[i] = strcmp(desc->params[i].name, "substeps") ? desc->params[i].value : substeps;
  const sb_model *m = status ? NULL : sb_model_store_view(model);
  uint32_t count = m ? m->body_count : 0, motors = m ? m->actuator_count / (uint32_t)copies : 0;
  uint32_t *bodies = malloc((count + 1) * sizeof *bodies), *seed = malloc(((size_t)copies + 1) * sizeof *seed);
  for (uint32_t i = 0; i < count; i++) bodies[i] = i;
  for (int w = 0; w < copies; w++) seed[w] = 777u + (uint32_t)w;
  sb_sim_part part = {.name = "robots", .api = factory->solvers[0], .params = values, .bodies = bodies, .body_count = count, .mode = SB_MODE_LOCAL};
  sb_sim_config config = {.model = model, .parts = &part, .part_count = 1, .dt_numerator = 1, .dt_denominator = 200, .mode = SB_MODE_LOCAL,
                          .threads = (uint32_t)number(argc, argv, 4, 1), .broad_phase = SB_BROAD_SAP, .lanes = (uint32_t)number(argc, argv, 7, 0)};
  if (!status) status = sb_sim_create(&config, &sim, &diag);
  double time = 0, cpu = 0;
  for (int k = 0; k < steps && !status; k++) {
    float *ctrl = sb_sim_state(sim)->actuator_ctrl;
    for (int w = 0; w < copies; w++)
      for (uint32_t u = 0; u < motors; u++)
        ctrl[(size_t)w * motors + u] = (float)(((int)(next_random(&seed[w]) >> 16) - 32768) / 32768.0 * 0.5);
    double before = s_now(CLOCK_MONOTONIC), cpu_before = s_now(CLOCK_PROCESS_CPUTIME_ID);
    status = sb_sim_step(sim, &diag);
    time += s_now(CLOCK_MONOTONIC) - before;
    cpu += s_now(CLOCK_PROCESS_CPUTIME_ID) - cpu_before;
  }
  if (!status) {
    sb_sim_stats s = sb_sim_statistics(sim);
    printf("samebit-%s S5 steps=%d envs=%d envsteps_per_s=%.4g us_per_envstep=%.3f cpu_us=%.3f deepest_mm=%.3f contact_peak=%u hash=%016llx\n", desc->id,
           steps, copies, copies * (double)steps / time, 1e6 * time / ((double)copies * steps), 1e6 * cpu / ((double)copies * steps), 1e3 * (double)s.largest_penetration, s.contact_peak,
           (unsigned long long)sb_sim_hash(sim));
  }
  for (size_t i = 0; i < diag.count; i++) fprintf(stderr, "%s\n", diag.items[i].message);
  sb_sim_destroy(sim);
  sb_model_store_free(model);
  sb_model_store_free(one);
  sb_diagnostics_clear(&diag);
  free(bodies);
  free(seed);
  return status != SB_OK;
}
