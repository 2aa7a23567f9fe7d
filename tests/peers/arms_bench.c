/* Scene S4 (256 arms of seven joints) under featherstone or steel: arm-steps a second on one core, and energy drift measured as the peers'
 * drivers measure theirs: every 50 steps, against the start, in units of m g n (n l / 2).
 *   arms_bench [hang|bent] [STEPS] [THREADS] [featherstone|steel] [SUBSTEPS] */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collision.h"
#include "scene.h"
#include "sim.h"

extern const sb_plugin_entry samebit_plugin_featherstone, samebit_plugin_steel;

#define LENGTH 0.3
#define GRAVITY 9.81
#define JOINTS 7

static double s_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Kinetic plus potential energy (J) of the bodies of one arm; inertia is diagonal in the body's axes. */
static double arm_energy(const sb_model *m, const sb_state *s, uint32_t first)
{
  double e = 0;
  for (uint32_t b = first; b < first + JOINTS; b++) {
    const float *q = s->body_q + 7 * b, *v = s->body_qd + 6 * b, *i = m->body_inertia + 6 * b, *c = m->body_com + 3 * b;
    double x = q[3], y = q[4], z = q[5], w = q[6], m_b = m->body_mass[b];
    double r[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                      {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                      {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    for (int k = 0; k < 3; k++) {
      double spin = r[0][k] * v[3] + r[1][k] * v[4] + r[2][k] * v[5];
      double com = q[k] + r[k][0] * c[0] + r[k][1] * c[1] + r[k][2] * c[2];
      e += 0.5 * m_b * v[k] * v[k] + 0.5 * i[k] * spin * spin - m_b * m->gravity[k] * com;
    }
  }
  return e;
}

int main(int argc, char **argv)
{
  int steps = argc > 2 ? atoi(argv[2]) : 1000;
  sb_scene_param params[] = {{"count", "256", NULL}, {"pose", argc > 1 ? argv[1] : "hang", NULL}};
  sb_scene_request request = {.scene = "generator:arms", .params = params, .param_count = 2};
  sb_diagnostics diag = {0};
  sb_model_store *one = NULL, *model = NULL;
  sb_sim *sim = NULL;
  sb_status status = sb_scene_load(&request, &one, &diag);
  if (!status) status = sb_model_store_replicate(one, 1, 0, &model, &diag);
  const char *solver = argc > 4 ? argv[4] : "featherstone";
  const sb_plugin_entry *plugin = strcmp(solver, "steel") ? &samebit_plugin_featherstone : &samebit_plugin_steel;
  const sb_solver_factory *factory = plugin->get_factory(SB_SOLVER_FACTORY_ID);
  const sb_solver_desc *desc = factory->solvers[0]->desc;
  double values[64];
  for (uint32_t i = 0; i < desc->param_count; i++) values[i] = desc->params[i].value;
  for (uint32_t i = 0; i < desc->param_count; i++)
    if (argc > 5 && !strcmp(desc->params[i].name, "substeps")) values[i] = atoi(argv[5]);
  const sb_model *m = status ? NULL : sb_model_store_view(model);
  uint32_t count = m ? m->body_count : 0, arms = count / JOINTS;
  uint32_t *bodies = malloc((count + 1) * sizeof *bodies);
  double *start = malloc((arms + 1) * sizeof *start);
  for (uint32_t i = 0; i < count; i++) bodies[i] = i;
  sb_sim_part part = {.name = "arms", .api = factory->solvers[0], .params = values, .bodies = bodies, .body_count = count, .mode = SB_MODE_LOCAL};
  sb_sim_config config = {.model = model, .parts = &part, .part_count = 1, .dt_numerator = 1, .dt_denominator = 240, .mode = SB_MODE_LOCAL,
                          .threads = argc > 3 ? (uint32_t)atoi(argv[3]) : 1, .broad_phase = SB_BROAD_SAP};
  if (!status) status = sb_sim_create(&config, &sim, &diag);
  double time = 0, worst = 0, gain = 0, mean = 0;
  for (uint32_t a = 0; sim && a < arms; a++) start[a] = arm_energy(m, sb_sim_state(sim), a * JOINTS);
  for (int k = 0; k < steps && !status; k++) {
    double before = s_now();
    status = sb_sim_step(sim, &diag);
    time += s_now() - before;
    if (k % 50 != 49 || status) continue;
    mean = 0;
    for (uint32_t a = 0; a < arms; a++) {
      double e = arm_energy(m, sb_sim_state(sim), a * JOINTS) - start[a];
      if (e > worst || -e > worst) worst = e < 0 ? -e : e;
      if (e > gain) gain = e;
      mean += e / arms;
    }
  }
  double scale = 1.0 * GRAVITY * JOINTS * (JOINTS * LENGTH / 2);
  if (!status)
    printf("samebit-%s S4 steps=%d arms=%u armsteps_per_s=%.4g hash=%016llx Edrift_end_mean=%.4f%% Edrift_max=%.4f%% Egain_max=%.4f%%\n", desc->id, steps, arms,
           arms * (double)steps / time, (unsigned long long)sb_sim_hash(sim), 100 * mean / scale, 100 * worst / scale,
           100 * gain / scale);
  for (size_t i = 0; i < diag.count; i++) fprintf(stderr, "%s\n", diag.items[i].message);
  sb_sim_destroy(sim);
  sb_model_store_free(model);
  sb_model_store_free(one);
  sb_diagnostics_clear(&diag);
  free(bodies);
  free(start);
  return status != SB_OK;
}
