/* Scenes S1 pyramid, S2 pile, S3 boxes8000, S3R boxes8000 bridged under steel, dt 1/60, 4 substeps: time per frame and what the bodies
 * ended up doing. Penetration is that of the final poses, from the collision pipeline without margins.
 *   boxes_bench S1|S2|S3|S3R [STEPS] [THREADS] [PARAMETER=VALUE...] */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collision.h"
#include "scene.h"
#include "sim.h"

extern const sb_plugin_entry samebit_plugin_steel;

static double ms_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

typedef struct scene {
  const char *name, *generator;
  int steps;
  sb_scene_param params[5];
  size_t param_count;
} scene;

static const scene scenes[] = {
    {"S1", "generator:pyramid", 600, {{"rows", "30", NULL}}, 1},
    {"S2", "generator:pile", 600, {{"count", "2000", NULL}}, 1},
    {"S3", "generator:pile", 300, {{"count", "8000", NULL}, {"side", "32", NULL}, {"extent", "10", NULL}, {"content", "boxes", NULL}}, 4},
    {"S3R", "generator:pile", 300,
     {{"count", "8000", NULL}, {"side", "32", NULL}, {"extent", "10", NULL}, {"content", "boxes", NULL}, {"bridged", "1", NULL}}, 5},
};

/* Kinetic energy (J); the boxes and spheres here have a multiple of the identity for inertia. */
static double kinetic_energy(const sb_model *m, const sb_state *s)
{
  double e = 0;
  for (uint32_t b = 0; b < m->body_count; b++) {
    const float *v = s->body_qd + 6 * b;
    for (int k = 0; k < 3; k++)
      e += 0.5 * (double)m->body_mass[b] * v[k] * v[k] + 0.5 * (double)m->body_inertia[6 * b] * v[k + 3] * v[k + 3];
  }
  return e;
}

static double largest_move(const sb_model *m, const sb_state *s)
{
  double worst = 0;
  for (uint32_t b = 0; b < m->body_count; b++) {
    double d2 = 0;
    for (int k = 0; k < 3; k++) {
      double d = (double)s->body_q[7 * b + k] - (double)m->body_q[7 * b + k];
      d2 += d * d;
    }
    if (d2 > worst) worst = d2;
  }
  double root = worst > 0 ? worst : 0;
  for (int i = 0; i < 60 && root > 0; i++) root = 0.5 * (root + worst / root);
  return root;
}

static double final_penetration(const sb_model *m, const sb_state *s)
{
  sb_collision *c;
  sb_collision_settings settings = sb_collision_default_settings();
  double deepest = 0;
  if (sb_collision_create(m, &settings, &c)) return -1;
  if (!sb_collision_step(c, s->body_q, NULL))
    for (uint32_t i = 0; i < sb_collision_contacts(c)->count; i++)
      if (-sb_collision_contacts(c)->gap[i] > deepest) deepest = -sb_collision_contacts(c)->gap[i];
  sb_collision_destroy(c);
  return deepest;
}

/* "name=value" of one of the solver's parameters; others are left alone. */
static void set_param(const sb_solver_desc *desc, double *values, const char *text)
{
  size_t name = strcspn(text, "=");
  for (uint32_t i = 0; i < desc->param_count; i++)
    if (strlen(desc->params[i].name) == name && !strncmp(desc->params[i].name, text, name) && text[name])
      values[i] = strtod(text + name + 1, NULL);
}

int main(int argc, char **argv)
{
  const scene *what = NULL;
  for (size_t i = 0; argc > 1 && i < sizeof scenes / sizeof scenes[0]; i++)
    if (!strcmp(scenes[i].name, argv[1])) what = &scenes[i];
  if (!what) {
    fprintf(stderr, "usage: boxes_bench S1|S2|S3|S3R [STEPS] [THREADS] [PARAMETER=VALUE...]\n");
    return 2;
  }
  int steps = argc > 2 ? atoi(argv[2]) : what->steps;
  sb_scene_request request = {.scene = what->generator, .params = what->params, .param_count = what->param_count};
  sb_diagnostics diag = {0};
  sb_model_store *one = NULL, *model = NULL;
  sb_sim *sim = NULL;
  sb_status status = sb_scene_load(&request, &one, &diag);
  if (!status) status = sb_model_store_replicate(one, 1, 0, &model, &diag);
  const sb_solver_factory *factory = samebit_plugin_steel.get_factory(SB_SOLVER_FACTORY_ID);
  const sb_solver_desc *desc = factory->solvers[0]->desc;
  double values[64];
  for (uint32_t i = 0; i < desc->param_count; i++) values[i] = desc->params[i].value;
  for (int i = 4; i < argc; i++) set_param(desc, values, argv[i]);
  const sb_model *m = status ? NULL : sb_model_store_view(model);
  uint32_t count = m ? m->body_count : 0;
  uint32_t *bodies = malloc((count + 1) * sizeof *bodies);
  double *each = malloc(((size_t)steps + 1) * sizeof *each);
  for (uint32_t i = 0; i < count; i++) bodies[i] = i;
  sb_sim_part part = {.name = "boxes", .api = factory->solvers[0], .params = values, .bodies = bodies, .body_count = count, .mode = SB_MODE_LOCAL};
  sb_sim_config config = {.model = model, .parts = &part, .part_count = 1, .dt_numerator = 1, .dt_denominator = 60, .mode = SB_MODE_LOCAL,
                          .threads = argc > 3 ? (uint32_t)atoi(argv[3]) : 1, .broad_phase = SB_BROAD_SAP, .speculative_margin = 0.0f};
  if (!status) status = sb_sim_create(&config, &sim, &diag);
  double total = 0, worst = 0;
  for (int k = 0; k < steps && !status; k++) {
    double before = ms_now();
    status = sb_sim_step(sim, &diag);
    each[k] = ms_now() - before;
    total += each[k];
    if (k > 0 && each[k] > worst) worst = each[k];
  }
  if (!status) {
    double first = each[0];
    qsort(each, (size_t)steps, sizeof *each, compare);
    const sb_state *s = sb_sim_state(sim);
    printf("samebit-steel %s t=%u steps=%d ms=%.4f median=%.4f first=%.3f worst_after_first=%.3f hash=%016llx KE=%.6g maxpen_mm=%.3f maxdisp=%.4f "
           "contacts=%u deepest_ever_mm=%.2f\n",
           what->name, config.threads, steps, total / steps, each[steps / 2], first, worst, (unsigned long long)sb_sim_hash(sim),
           kinetic_energy(m, s), 1e3 * final_penetration(m, s), largest_move(m, s), sb_sim_statistics(sim).contact_peak,
           1e3 * (double)sb_sim_statistics(sim).largest_penetration);
  }
  for (size_t i = 0; i < diag.count; i++) fprintf(stderr, "%s\n", diag.items[i].message);
  sb_sim_destroy(sim);
  sb_model_store_free(model);
  sb_model_store_free(one);
  sb_diagnostics_clear(&diag);
  free(bodies);
  free(each);
  return status != SB_OK;
}
