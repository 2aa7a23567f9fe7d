/* Runs on a machine with a Vulkan driver and loader and nothing else of this project.
 *
 *   gpu_run scene NAME SETUP TICKS MODULE...   the setup on this machine's CPU (8, 4 and 1 lanes, 1 and 2 threads) and on its Vulkan device, every tick's
 *                                            hash compared: one line "NAME TICKS HASH outcome"
 *   gpu_run pile COUNT TICKS CHECKED STEEL     boxes that fall into a bin, 60 Hz, 4 substeps: time of a tick and of its parts; the first CHECKED ticks are
 *                                            compared with this machine's CPU
 *   gpu_run cloth SIDE TICKS XPBD              a hanging cloth of SIDE by SIDE particles: time of a tick, bytes moved by count, share of the device's copy
 *                                            bandwidth measured in the same run, time of the state hash
 *
 * MODULE: solvers, as xpbd.so; an xpbd with shaders that keep no rule is the yardstick for what the rules cost. */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "copy_spv.h"
#include "device_probe.h"
#include "model_builder.h"
#include "run_setup.h"
#include "collision.h"
#include "state_hash.h"
#include "vulkan_device.h"
#include "vulkan_graph.h"

#define MODULES_MAX 8
static const sb_solver_api *modules[MODULES_MAX];
static size_t module_count;
extern const sb_plugin_entry samebit_plugin_featherstone;

static double ms_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static const sb_solver_api *find_solver(const char *id)
{
  const sb_solver_factory *own = samebit_plugin_featherstone.get_factory(SB_SOLVER_FACTORY_ID);
  for (size_t i = 0; i < module_count; i++)
    if (!strcmp(modules[i]->desc->id, id)) return modules[i];
  return strcmp(own->solvers[0]->desc->id, id) ? NULL : own->solvers[0];
}

static void print_all(const sb_diagnostics *diag)
{
  for (size_t i = 0; i < diag->count; i++) fprintf(stderr, "%s: %s\n", diag->items[i].where, diag->items[i].message);
}

/* ---- scenes ---- */

static bool has_device(const sb_sim_part *p) { return p->api->desc->mode[SB_BACKEND_VULKAN] != SB_MODE_OFF; }

static bool run_hashes(const sb_setup *setup, const sb_device *device, uint32_t lanes, uint32_t threads, uint32_t ticks, uint64_t *hashes, sb_diagnostics *diag)
{
  sb_sim_config config = setup->config;
  sb_sim *sim = NULL;
  config.lanes = lanes;
  config.threads = threads;
  config.broad_phase = 1;
  config.device = device;
  for (uint32_t p = 0; p < config.part_count; p++) setup->parts[p].backend = device && has_device(&setup->parts[p]) ? SB_BACKEND_VULKAN : SB_BACKEND_CPU;
  sb_status status = sb_sim_create(&config, &sim, diag);
  /* what a solver refuses there it does here; something must be left there */
  for (uint32_t p = 0; status && device && p + 1 < config.part_count; p++) {
    printf("%s\n", diag->count ? diag->items[diag->count - 1].message : "");
    sb_diagnostics_clear(diag);
    setup->parts[p].backend = SB_BACKEND_CPU;
    status = sb_sim_create(&config, &sim, diag);
  }
  for (uint32_t t = 0; t < ticks && !status; t++) {
    status = sb_sim_step(sim, diag);
    if (!status && !sb_sim_hash_history(sim, t + 1, &hashes[t])) status = SB_E_INTERNAL;
  }
  sb_sim_destroy(sim);
  return status == SB_OK;
}

static int compare_scene(const char *name, const char *path, uint32_t ticks, const sb_device *device)
{
  static const struct { const char *name; uint32_t lanes, threads; bool device; } legs[] = {
      {"cpu lanes 8", 8, 1, false}, {"cpu lanes 4", 4, 1, false}, {"cpu scalar", 1, 1, false}, {"cpu threads 2", 8, 2, false}, {"vulkan", 8, 1, true}};
  sb_diagnostics diag = {0};
  sb_setup setup = {0};
  uint64_t *hashes = calloc(2 * (size_t)ticks + 1, sizeof *hashes);
  if (!hashes || sb_setup_read(path, find_solver, &setup, &diag)) {
    print_all(&diag);
    printf("%s %u - failed: the setup cannot be read\n", name, ticks);
    return 1;
  }
  int failed = 0;
  for (size_t i = 0; i < sizeof legs / sizeof *legs; i++) {
    uint64_t *own = hashes + (i ? ticks : 0);
    double start = ms_now();
    bool ran = run_hashes(&setup, legs[i].device ? device : NULL, legs[i].lanes, legs[i].threads, ticks, own, &diag);
    double ms = (ms_now() - start) / ticks;
    uint32_t t = 0;
    while (ran && t < ticks && own[t] == hashes[t]) t++;
    print_all(&diag);
    sb_diagnostics_clear(&diag);
    if (!ran)
      printf("%s %u - failed: %s\n", name, ticks, legs[i].name);
    else if (t < ticks)
      printf("%s %u %016" PRIx64 " differs: %s, first at tick %u\n", name, ticks, own[ticks - 1], legs[i].name, t + 1);
    else
      printf("%s %u %016" PRIx64 " same: %s, %.3f ms a tick\n", name, ticks, own[ticks - 1], legs[i].name, ms);
    failed |= !ran || t < ticks;
    fflush(stdout);
  }
  sb_setup_free(&setup);
  free(hashes);
  return failed;
}

/* ---- the cloth ---- */

static void add_spring(sb_model_builder *b, int n, int i, int j, int di, int dj)
{
  if (i + di >= n || j + dj < 0 || j + dj >= n) return;
  double rest = di && dj ? 0.014142135623730951 : 0.01 * (di + dj);
  sb_builder_add_spring(b, &(sb_build_spring){.particle = {i * n + j, (i + di) * n + j + dj}, .rest_length = rest, .stiffness = 1000});
}

static sb_model_store *make_cloth(int n, sb_diagnostics *diag)
{
  static const int steps[6][2] = {{1, 0}, {0, 1}, {1, 1}, {1, -1}, {2, 0}, {0, 2}};
  sb_model_builder *b = sb_builder_create();
  sb_build_deformable cloth = sb_build_deformable_default();
  sb_model_store *one = NULL;
  cloth.contype = cloth.conaffinity = 0;
  sb_builder_add_deformable(b, &cloth, "cloth");
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      sb_builder_add_particle(b, &(sb_build_particle){.q = {0.01 * i, 0.01 * j, 2.0}, .mass = 1e-4, .radius = 0.004, .pinned = i == 0 && (j == 0 || j == n - 1)});
  for (int s = 0; s < 6; s++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) add_spring(b, n, i, j, steps[s][0], steps[s][1]);
  sb_builder_finalise(b, "cloth", &one, diag);
  sb_builder_free(b);
  return one;
}

/* GB/s read plus written by a shader that copies, the best of a few. */
static double copy_rate(sb_vulkan *v)
{
  const uint64_t bytes = (uint64_t)1 << 30;
  const uint32_t copies = 8;
  sb_vulkan_limits limits = sb_vulkan_limits_of(v);
  uint64_t piece = limits.binding_bytes / 4096 * 4096;
  if (piece > bytes) piece = bytes;
  sb_vulkan_buffer *from = NULL, *to = NULL;
  sb_vulkan_pipeline *pipeline = NULL;
  sb_vulkan_graph *graph = NULL;
  double best = 0;
  bool ok = !sb_vulkan_device_buffer_create(v, bytes, &from, NULL) && !sb_vulkan_device_buffer_create(v, bytes, &to, NULL) &&
            !sb_vulkan_pipeline_create(v, copy_spv, sizeof copy_spv / sizeof *copy_spv, 2, 4, &pipeline, NULL) && !sb_vulkan_graph_create(v, false, &graph, NULL) &&
            !sb_vulkan_clear(v, from, NULL) && !sb_vulkan_clear(v, to, NULL);
  for (uint32_t k = 0; ok && k < copies; k++) {
    for (uint64_t at = 0; ok && at < bytes; at += piece) {
      uint64_t size = bytes - at < piece ? bytes - at : piece;
      uint32_t push = (uint32_t)(size / 16);
      const sb_vulkan_slice slices[2] = {{from, at, size}, {to, at, size}};
      ok = !sb_vulkan_graph_dispatch(graph, pipeline, slices, &push, 8192, NULL);
    }
    ok = ok && !sb_vulkan_graph_barrier(graph, NULL);
  }
  ok = ok && !sb_vulkan_graph_finish(graph, NULL) && !sb_vulkan_wait(v, NULL);
  for (int k = 0; ok && k < 5; k++) {
    double start = ms_now();
    ok = !sb_vulkan_graph_run(graph, NULL) && !sb_vulkan_wait(v, NULL);
    double rate = 2e-6 * (double)bytes * copies / (ms_now() - start);
    if (ok && rate > best) best = rate;
  }
  sb_vulkan_graph_destroy(graph);
  sb_vulkan_pipeline_destroy(pipeline);
  sb_vulkan_buffer_destroy(from);
  sb_vulkan_buffer_destroy(to);
  return best;
}

static sb_vulkan *waited_for;

/* In place of a device's hash: only the wait for what runs. */
static sb_status no_hash(void *scope, const size_t *arrays, size_t count, sb_hash_sums *worlds, bool *bad, sb_diagnostics *diag)
{
  (void)scope, (void)arrays, (void)count, (void)worlds, (void)bad;
  return sb_vulkan_wait(waited_for, diag);
}

typedef struct timed {
  sb_sim *sim;
  double *each; /* ms of each tick */
} timed;

static sb_status time_tick(timed *t, uint32_t tick, sb_diagnostics *diag)
{
  double before = ms_now();
  sb_status status = sb_sim_step(t->sim, diag);
  t->each[tick] = ms_now() - before;
  return status;
}

/* ---- the pile ---- */

static void add_box(sb_model_builder *b, int body, const double half[3], const double at[3])
{
  sb_builder_add_shape(b, &(sb_build_shape){.type = SB_SHAPE_BOX, .body = body, .X = {at[0], at[1], at[2], 0, 0, 0, 1}, .size = {half[0], half[1], half[2]},
                                            .friction = {0.6, 0, 0}, .contype = 1, .conaffinity = 1, .condim = 3, .geometry = -1}, body < 0 ? "wall" : "box");
}

/* Layers of boxes with edges of half a metre, each a little out of its place, above a bin as wide as they are and half as high. */
static sb_model_store *make_pile(int count, sb_diagnostics *diag)
{
  const double h = 0.25, cell = 0.6, mass = 125.0, inertia = mass * (8 * h * h) / 12.0;
  int side = 1;
  while (side * side * side * 2 < count) side++; /* twice as wide as it is high */
  double e = 0.5 * cell * side, high = 0.5 * cell * (count / (side * side) + 2);
  const double ground[3] = {e + 1, e + 1, 0.5}, across[3] = {0.5, e + 1, high}, along[3] = {e + 1, 0.5, high}, middle[3] = {0, 0, 0};
  const double at[5][3] = {{0, 0, -0.5}, {-e - 0.5, 0, high}, {e + 0.5, 0, high}, {0, -e - 0.5, high}, {0, e + 0.5, high}};
  sb_model_builder *b = sb_builder_create();
  sb_model_store *one = NULL;
  for (int i = 0; i < 5; i++) add_box(b, -1, i == 0 ? ground : i < 3 ? across : along, at[i]);
  uint32_t random = 12345;
  for (int n = 0; n < count; n++) {
    const int index[3] = {n % side, n / side % side, n / (side * side)};
    sb_build_body body = sb_build_body_default();
    char name[24];
    body.joint_type = SB_JOINT_FREE;
    for (int k = 0; k < 3; k++) {
      random = random * 1664525u + 1013904223u; /* Numerical Recipes (Press et al.) */
      body.q[k] = cell * (index[k] + 0.5) - (k < 2 ? e : 0.0) + ((double)(random >> 16) / 32768.0 - 1.0) * 0.02;
      body.inertia[k] = inertia;
    }
    body.mass = mass;
    snprintf(name, sizeof name, "box%d", n);
    add_box(b, sb_builder_add_body(b, &body, name), (const double[3]){h, h, h}, middle);
  }
  sb_builder_set_dt(b, 1, 60);
  sb_builder_finalise(b, "pile", &one, diag);
  sb_builder_free(b);
  return one;
}

/* Stages of a tick on the device, each waited for: a simulation of its own, as the waits cost time. */
enum { STAGE_COLLIDE, STAGE_MATCH, STAGE_COLORS, STAGE_SOLVE, STAGE_HASH, STAGES };

static struct {
  const sb_device *device;
  const sb_compute *compute;
  sb_compute timed;
  double ms[STAGES]; /* of this tick */
  uint32_t runs;     /* graphs of the solver in this tick */
} staged;

static void stage_done(uint32_t stage, double start)
{
  sb_vulkan_wait(waited_for, NULL);
  staged.ms[stage] += ms_now() - start;
}

static sb_status staged_collide(void *scope, sb_diagnostics *diag)
{
  sb_vulkan_wait(waited_for, NULL);
  double start = ms_now();
  sb_status status = staged.device->collide(scope, diag);
  stage_done(STAGE_COLLIDE, start);
  return status;
}

static sb_status staged_match(void *scope, const uint32_t *old_start, sb_diagnostics *diag)
{
  double start = ms_now();
  sb_status status = staged.device->match_contacts(scope, old_start, diag);
  stage_done(STAGE_MATCH, start);
  return status;
}

static sb_status staged_run(void *context, uint32_t graph, char *error, uint32_t error_size)
{
  double start = ms_now();
  sb_status status = staged.compute->run(context, graph, error, error_size);
  stage_done(staged.runs++ == 0 ? STAGE_COLORS : STAGE_SOLVE, start);
  return status;
}

static sb_status staged_hash(void *scope, const size_t *arrays, size_t count, sb_hash_sums *worlds, bool *bad, sb_diagnostics *diag)
{
  double start = ms_now();
  sb_status status = staged.device->hash(scope, arrays, count, worlds, bad, diag);
  stage_done(STAGE_HASH, start);
  return status;
}

static sb_status staged_part(void *scope, const char *name, uint32_t mode, sb_device_part **part, sb_diagnostics *diag)
{
  sb_status status = staged.device->add_part(scope, name, mode, part, diag);
  if (status) return status;
  staged.compute = (*part)->compute;
  staged.timed = *staged.compute;
  staged.timed.run = staged_run;
  (*part)->compute = &staged.timed;
  return SB_OK;
}

static double median(double *values, uint32_t count)
{
  qsort(values, count, sizeof *values, by_value);
  return count ? values[count / 2] : 0.0;
}

static void print_stages(double *ms[STAGES], uint32_t first, uint32_t ticks)
{
  static const char *const names[STAGES] = {"collision", "matching", "colours", "solve", "hash"};
  printf("  stages, each waited for:");
  for (uint32_t k = 0; k < STAGES; k++) printf(" %s %.3f ms", names[k], median(ms[k] + first, ticks - first));
  printf("\n");
}

static int time_pile(int count, uint32_t ticks, uint32_t checked, sb_vulkan *vulkan, const sb_device *device)
{
  sb_diagnostics diag = {0};
  sb_model_store *one = make_pile(count, &diag);
  uint32_t bodies = one ? sb_model_store_view(one)->body_count : 0, *own = malloc(((size_t)bodies + 1) * sizeof *own), late = ticks / 2, differs = 0;
  const sb_solver_desc *desc = modules[0]->desc;
  /* where nothing is compared, shaders that keep no rule may run */
  const uint32_t mode = checked ? SB_MODE_CROSS_PLATFORM : SB_MODE_OFF;
  double values[64], *stages[STAGES];
  for (uint32_t i = 0; i < desc->param_count; i++) values[i] = strcmp(desc->params[i].name, "substeps") ? desc->params[i].value : 4;
  for (uint32_t i = 0; i < bodies; i++) own[i] = i;
  sb_device watched = *device;
  watched.collide = staged_collide;
  watched.match_contacts = staged_match;
  watched.hash = staged_hash;
  watched.add_part = staged_part;
  staged.device = device;
  waited_for = vulkan;
  /* on the device, on the device stage by stage, on the CPU */
  timed t[3] = {{0}};
  sb_status status = one ? SB_OK : SB_E_MEMORY;
  for (int k = 0; k < 3 && !status; k++) {
    sb_sim_part part = {.name = "pile", .api = modules[0], .params = values, .bodies = own, .body_count = bodies, .backend = k < 2 ? SB_BACKEND_VULKAN : SB_BACKEND_CPU,
                        .mode = mode};
    sb_sim_config config = {.model = one, .parts = &part, .part_count = 1, .dt_numerator = 1, .dt_denominator = 60, .mode = mode,
                            .threads = k < 2 ? 1 : 16, .broad_phase = SB_BROAD_SAP, .speculative_margin = 0.01f, .device = k == 1 ? &watched : device};
    t[k].each = calloc((size_t)ticks + 1, sizeof *t[k].each);
    if (k < 2 || checked) status = t[k].each ? sb_sim_create(&config, &t[k].sim, &diag) : SB_E_MEMORY;
  }
  for (uint32_t k = 0; k < STAGES; k++) stages[k] = calloc((size_t)ticks + 1, sizeof *stages[k]);
  for (uint32_t i = 0; i < ticks && !status; i++) {
    uint64_t hash[3] = {0};
    memset(staged.ms, 0, sizeof staged.ms);
    staged.runs = 0;
    for (int k = 0; k < 3 && !status; k++)
      if (k < 2 || i < checked) status = time_tick(&t[k], i, &diag);
    for (uint32_t k = 0; k < STAGES && stages[k]; k++) stages[k][i] = staged.ms[k];
    for (int k = 0; k < 3 && !status; k++)
      if (k < 2 || i < checked) sb_sim_hash_history(t[k].sim, i + 1, &hash[k]);
    if (!differs && (hash[0] != hash[1] || (i < checked && hash[0] != hash[2]))) differs = i + 1;
  }
  if (!status && ticks) {
    sb_sim_stats stats = sb_sim_statistics(t[0].sim);
    double later[3];
    for (int k = 0; k < 3; k++) later[k] = k < 2 || checked > late ? median(t[k].each + late, (k < 2 ? ticks : checked) - late) : median(t[k].each, checked);
    printf("pile of %d boxes, 60 Hz, 4 substeps, %u ticks: tick %.3f ms over the second half, %.2f times real time; on the CPU %.3f ms; contacts up to %u, pairs up to %u; state %016" PRIx64
           "\n", count, ticks, later[0], 1000.0 / 60.0 / later[0], later[2], stats.contact_peak, stats.pair_peak, sb_sim_hash(t[0].sim));
    print_stages(stages, late, ticks);
    if (differs)
      printf("  differs, first at tick %u\n", differs);
    else
      printf("  the same as the CPU in %u ticks\n", checked < ticks ? checked : ticks);
  }
  print_all(&diag);
  for (int k = 0; k < 3; k++) {
    sb_sim_destroy(t[k].sim);
    free(t[k].each);
  }
  for (uint32_t k = 0; k < STAGES; k++) free(stages[k]);
  sb_model_store_free(one);
  free(own);
  return status != SB_OK || differs;
}

static int time_cloth(int side, uint32_t ticks, sb_vulkan *vulkan, const sb_device *device)
{
  const double substeps = 8;
  sb_diagnostics diag = {0};
  sb_model_store *one = make_cloth(side, &diag);
  const sb_model *m = one ? sb_model_store_view(one) : NULL;
  uint32_t count = m ? m->particle_count : 0, *particles = malloc(((size_t)count + 1) * sizeof *particles);
  const sb_solver_desc *desc = modules[0]->desc;
  double values[64];
  for (uint32_t i = 0; i < desc->param_count; i++) values[i] = strcmp(desc->params[i].name, "substeps") ? desc->params[i].value : substeps;
  for (uint32_t i = 0; i < count; i++) particles[i] = i;
  /* mode Off: the yardstick's shaders would not be taken in another */
  sb_sim_part part = {.name = "cloth", .api = modules[0], .params = values, .particles = particles, .particle_count = count, .backend = SB_BACKEND_VULKAN, .mode = SB_MODE_OFF};
  sb_device unhashed = *device;
  unhashed.hash = no_hash;
  waited_for = vulkan;
  timed t[2] = {{0}};
  sb_status status = one ? SB_OK : SB_E_MEMORY;
  for (int k = 0; k < 2 && !status; k++) {
    sb_sim_config config = {.model = one, .parts = &part, .part_count = 1, .dt_numerator = 1, .dt_denominator = 60, .mode = SB_MODE_OFF, .threads = 1,
                            .device = k ? &unhashed : device};
    t[k].each = calloc((size_t)ticks + 1, sizeof *t[k].each);
    status = t[k].each ? sb_sim_create(&config, &t[k].sim, &diag) : SB_E_MEMORY;
  }
  for (uint32_t i = 0; i < ticks && !status; i++) {
    status = time_tick(&t[0], i, &diag);
    if (!status) status = time_tick(&t[1], i, &diag);
  }
  if (!status && ticks) {
    for (int k = 0; k < 2; k++) qsort(t[k].each, ticks, sizeof *t[k].each, by_value);
    double solves = substeps * m->spring_count, bytes = solves * 80.0, median = t[0].each[ticks / 2], plain = t[1].each[ticks / 2], copy = copy_rate(vulkan);
    printf("cloth %d x %d, %u springs, 8 substeps: tick %.3f ms (best %.3f), %.4f ns a spring; %.0f GB/s of %.0f GB/s copied: %.1f %%; without the hash %.3f ms: it takes %.1f %%; state %016" PRIx64 "\n",
           side, side, m->spring_count, median, t[0].each[0], 1e6 * median / solves, 1e-6 * bytes / median, copy, 1e-4 * bytes / median / copy, plain,
           100 * (median - plain) / median, sb_sim_hash(t[0].sim));
  }
  print_all(&diag);
  for (int k = 0; k < 2; k++) {
    sb_sim_destroy(t[k].sim);
    free(t[k].each);
  }
  sb_model_store_free(one);
  free(particles);
  return status != SB_OK;
}

/* The solver of a module, or NULL with a message. */
static const sb_solver_api *load(const char *path)
{
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const sb_plugin_entry *entry = handle ? dlsym(handle, SB_PLUGIN_SYMBOL) : NULL;
  if (!entry) {
    fprintf(stderr, "%s\n", dlerror());
    return NULL;
  }
  const sb_solver_factory *factory = entry->get_factory(SB_SOLVER_FACTORY_ID);
  return factory->solvers[0];
}

int main(int argc, char **argv)
{
  sb_diagnostics diag = {0};
  sb_vulkan *vulkan = NULL;
  sb_vulkan_device *made = NULL;
  sb_probe_result probe = {0};
  bool scene = argc > 1 && !strcmp(argv[1], "scene"), pile = argc > 1 && !strcmp(argv[1], "pile");
  int first = scene || pile ? 5 : 4;
  if (argc <= first || argc > first + MODULES_MAX) {
    fprintf(stderr, "usage: gpu_run scene NAME SETUP TICKS MODULE... | gpu_run pile COUNT TICKS CHECKED STEEL | gpu_run cloth SIDE TICKS XPBD\n");
    return 2;
  }
  for (int i = first; i < argc; i++)
    if (!(modules[module_count++] = load(argv[i]))) return 2;
  if (sb_vulkan_open(&vulkan, &diag)) {
    print_all(&diag);
    return 77; /* no device: ctest's SKIP_RETURN_CODE */
  }
  if (sb_device_probe(vulkan, &probe, &diag) || sb_vulkan_device_create(vulkan, &made, &diag)) {
    print_all(&diag);
    return 2;
  }
  if (!probe.passed) printf("the device's probe failed\n");
  const sb_device *device = sb_vulkan_device_for_sim(made, false);
  int failed = scene  ? compare_scene(argv[2], argv[3], (uint32_t)atoi(argv[4]), device)
               : pile ? time_pile(atoi(argv[2]), (uint32_t)atoi(argv[3]), (uint32_t)atoi(argv[4]), vulkan, device)
                      : time_cloth(atoi(argv[2]), (uint32_t)atoi(argv[3]), vulkan, device);
  sb_vulkan_device_destroy(made);
  sb_vulkan_close(vulkan);
  return failed || !probe.passed;
}
