/* samebit_core: runs a cooked model under one solver and prints state hashes. C library, threads and libm only, plugins
 * linked in: the program for cross targets, for comparing builds with each other, and an example of embedding. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collision.h"
#include "fp_env.h"
#include "hash_file.h"
#include "micro_scenes.h"
#include "run_setup.h"
#include "samebit/abi.h"
#include "sim.h"
#include "state_hash.h"
#include "static_plugins.h"

#define EXIT_BAD 1
#define EXIT_USAGE 2
#define MAX_PARAMS 64

typedef struct options {
  const char *model, *setup, *hashes, *dump, *snapshots, *restore;
  const char *solver;
  const char *params[MAX_PARAMS];
  uint32_t param_count;
  uint64_t ticks, shuffle, hash_every, seed;
  uint32_t threads, lanes, worlds, first_world, dt_numerator, dt_denominator, broad_phase, bodies;
  bool golden, solvers, each_world, hostile_fp;
} options;

static const char help[] =
    "samebit_core MODEL.sbm --solver ID [options], or samebit_core --setup FILE [options]\n"
    "Runs a cooked model (`samebit cook SCENE --out MODEL.sbm`) or a setup (`samebit determinism FILE.ini --keep DIR`), and prints the hash\n"
    "of its final state.\n\n"
    "  --setup FILE         model, solvers, parameters, worlds, seed and dt of a whole session\n"
    "  --ticks N            ticks to run (240)\n"
    "  --dt A/B             tick length in s; the model's own, or 1/240\n"
    "  --param NAME=VALUE   a parameter of the solver; may be repeated\n"
    "  --worlds N           copies of the model (1); --first-world K gives the first the key K (0)\n"
    "  --seed N             of random streams (0)\n"
    "  --threads N          threads (1); --shuffle SEED starts tasks in a permuted order\n"
    "  --lanes 1|4|8        SIMD width; 0 takes the widest (0)\n"
    "  --broad-phase NAME   sap or all_pairs (sap)\n"
    "  --hash-every N       prints the hash after every N ticks too\n"
    "  --hashes FILE        writes the hashes of every tick; --dump FILE writes the final contacts and state, word by word\n"
    "  --snapshots PREFIX   writes PREFIX.TICK after every tick; --restore FILE goes on from such a file, to the same --ticks\n"
    "  --hostile-fp         starts with subnormals flushed and another rounding mode set\n"
    "  --world-hashes       prints the final hash of each world\n"
    "  --body-hashes N      prints the final hash of each of the first N bodies\n"
    "  --solvers            prints the solvers' ids, and nothing else\n"
    "  --golden             prints the micro-scenes' hashes under every solver, and nothing else\n\n"
    "Example: samebit_core arm.sbm --solver featherstone --ticks 240 --threads 2\n";

/* ---- the command line ---- */

static bool read_whole(const char *text, uint64_t most, uint64_t *value)
{
  char *end;
  if (!text || *text < '0' || *text > '9') return false;
  *value = strtoull(text, &end, 0);
  return !*end && *value <= most;
}

static bool read_u32(const char *text, uint32_t most, uint32_t *value)
{
  uint64_t wide;
  bool ok = read_whole(text, most, &wide);
  if (ok) *value = (uint32_t)wide;
  return ok;
}

static bool read_fraction(const char *text, uint32_t *numerator, uint32_t *denominator)
{
  char first[16];
  const char *slash = text ? strchr(text, '/') : NULL;
  if (!slash || (size_t)(slash - text) >= sizeof first) return false;
  memcpy(first, text, (size_t)(slash - text));
  first[slash - text] = 0;
  return read_u32(first, (1u << 24) - 1, numerator) && read_u32(slash + 1, (1u << 24) - 1, denominator) && *numerator &&
         *denominator;
}

static bool read_broad_phase(const char *text, uint32_t *value)
{
  *value = text && !strcmp(text, "all_pairs") ? SB_BROAD_ALL_PAIRS : SB_BROAD_SAP;
  return text && (!strcmp(text, "all_pairs") || !strcmp(text, "sap"));
}

/* One option; *took is the number of words it used, 0 when it is none. */
static bool read_option(options *o, const char *name, const char *value, int *took)
{
  *took = 1;
  if (!strcmp(name, "--golden")) return o->golden = true;
  if (!strcmp(name, "--solvers")) return o->solvers = true;
  if (!strcmp(name, "--world-hashes")) return o->each_world = true;
  if (!strcmp(name, "--hostile-fp")) return o->hostile_fp = true;
  *took = 2;
  if (!strcmp(name, "--setup")) return (o->setup = value) != NULL;
  if (!strcmp(name, "--hashes")) return (o->hashes = value) != NULL;
  if (!strcmp(name, "--dump")) return (o->dump = value) != NULL;
  if (!strcmp(name, "--snapshots")) return (o->snapshots = value) != NULL;
  if (!strcmp(name, "--restore")) return (o->restore = value) != NULL;
  if (!strcmp(name, "--solver")) return (o->solver = value) != NULL;
  if (!strcmp(name, "--ticks")) return read_whole(value, UINT64_MAX, &o->ticks);
  if (!strcmp(name, "--seed")) return read_whole(value, UINT64_MAX, &o->seed);
  if (!strcmp(name, "--shuffle")) return read_whole(value, UINT64_MAX, &o->shuffle);
  if (!strcmp(name, "--hash-every")) return read_whole(value, UINT64_MAX, &o->hash_every);
  if (!strcmp(name, "--threads")) return read_u32(value, 256, &o->threads) && o->threads > 0;
  if (!strcmp(name, "--lanes"))
    return read_u32(value, 8, &o->lanes) && (o->lanes < 2 || o->lanes == 4 || o->lanes == 8);
  if (!strcmp(name, "--worlds")) return read_u32(value, 1u << 20, &o->worlds) && o->worlds > 0;
  if (!strcmp(name, "--first-world")) return read_u32(value, UINT32_MAX - (1u << 20), &o->first_world);
  if (!strcmp(name, "--body-hashes")) return read_u32(value, UINT32_MAX, &o->bodies);
  if (!strcmp(name, "--dt")) return read_fraction(value, &o->dt_numerator, &o->dt_denominator);
  if (!strcmp(name, "--broad-phase")) return read_broad_phase(value, &o->broad_phase);
  if (!strcmp(name, "--param"))
    return value && o->param_count < MAX_PARAMS && (o->params[o->param_count++] = value) != NULL;
  *took = 0;
  return false;
}

static bool read_options(int argc, char **argv, options *o)
{
  *o = (options){.ticks = 240, .threads = 1, .worlds = 1, .broad_phase = SB_BROAD_SAP};
  for (int i = 1, took; i < argc; i += took) {
    took = 1;
    if (strncmp(argv[i], "--", 2)) {
      if (o->model) {
        fprintf(stderr, "samebit_core: one model is expected, found \"%s\" and \"%s\"\n", o->model, argv[i]);
        return false;
      }
      o->model = argv[i];
    } else if (!read_option(o, argv[i], i + 1 < argc ? argv[i + 1] : NULL, &took)) {
      fprintf(stderr,
              took ? "samebit_core: %s: the value %s%s%s is not one it takes; see --help\n"
                   : "samebit_core: unknown option %s; see --help\n",
              argv[i], i + 1 < argc ? "\"" : "", i + 1 < argc ? argv[i + 1] : "that is missing",
              i + 1 < argc ? "\"" : "");
      return false;
    }
  }
  if (!o->golden && !o->solvers && !o->setup && (!o->model || !o->solver)) {
    fputs("samebit_core: a model and --solver ID, or --setup FILE, are needed; see --help\n", stderr);
    return false;
  }
  return true;
}

/* ---- the run ---- */

static void print_diagnostics(const sb_diagnostics *diag)
{
  for (size_t i = 0; i < diag->count; i++)
    fprintf(stderr, "%s %s: %s%s%s\n", diag->items[i].severity == SB_ERROR ? "error" : "warning",
            sb_code_name(diag->items[i].code), diag->items[i].where, diag->items[i].where[0] ? ": " : "",
            diag->items[i].message);
}

static bool set_params(const options *o, const sb_solver_desc *desc, double *values)
{
  for (uint32_t p = 0; p < desc->param_count; p++) values[p] = desc->params[p].value;
  for (uint32_t i = 0; i < o->param_count; i++) {
    const char *equals = strchr(o->params[i], '=');
    size_t length = equals ? (size_t)(equals - o->params[i]) : 0;
    uint32_t p = 0;
    while (p < desc->param_count &&
           (strncmp(desc->params[p].name, o->params[i], length) || desc->params[p].name[length]))
      p++;
    char *end = NULL;
    if (equals && p < desc->param_count) values[p] = strtod(equals + 1, &end);
    if (!end || *end || end == equals + 1 ||
        !(values[p] >= desc->params[p].minimum && values[p] <= desc->params[p].maximum)) {
      fprintf(stderr, "samebit_core: --param %s: expected NAME=VALUE with a parameter of %s and a value in its range\n",
              o->params[i], desc->id);
      return false;
    }
  }
  return true;
}

static void *read_file(const char *path, size_t *size)
{
  FILE *file = fopen(path, "rb");
  uint8_t *bytes = NULL;
  size_t capacity = 0;
  *size = 0;
  while (file && !ferror(file) && !feof(file)) {
    if (*size == capacity) {
      uint8_t *grown = realloc(bytes, capacity = capacity ? 2 * capacity : 65536);
      if (!grown) break;
      bytes = grown;
    }
    *size += fread(bytes + *size, 1, capacity - *size, file);
  }
  bool ok = file && feof(file);
  if (file) fclose(file);
  if (ok) return bytes;
  fprintf(stderr, "samebit_core: \"%s\" cannot be read\n", path);
  free(bytes);
  return NULL;
}

static sb_status load_model(const options *o, sb_model_store **one, sb_model_store **model, sb_diagnostics *diag)
{
  size_t size;
  void *bytes = read_file(o->model, &size);
  if (!bytes) return SB_E_IO;
  sb_status status = sb_model_store_from_bytes(bytes, size, o->model, one, diag);
  free(bytes);
  return status ? status : sb_model_store_replicate(*one, o->worlds, o->first_world, model, diag);
}

static sb_status create_sim(const options *o, const sb_solver_api *api, const double *params, const sb_model_store *one,
                            const sb_model_store *model, sb_sim **sim, sb_diagnostics *diag)
{
  uint32_t count = sb_model_store_view(model)->body_count, particles = sb_model_store_view(model)->particle_count;
  uint32_t most = count > particles ? count : particles;
  uint32_t *every = malloc(((size_t)most + 1) * sizeof *every); /* the one solver has all bodies and particles */
  if (!every) return SB_E_MEMORY;
  for (uint32_t i = 0; i < most; i++) every[i] = i;
  sb_sim_part part = {.name = "solver",
                      .api = api,
                      .params = params,
                      .bodies = every,
                      .body_count = count,
                      .particles = every,
                      .particle_count = particles,
                      .mode = SB_MODE_CROSS_PLATFORM};
  sb_sim_config config = {.model = model,
                          .parts = &part,
                          .part_count = 1,
                          .mode = SB_MODE_CROSS_PLATFORM,
                          .threads = o->threads,
                          .lanes = o->lanes,
                          .broad_phase = o->broad_phase,
                          .speculative_margin = 0.01f,
                          .shuffle = o->shuffle,
                          .seed = o->seed,
                          .dt_numerator = o->dt_numerator,
                          .dt_denominator = o->dt_denominator};
  if (!config.dt_numerator) sb_model_store_dt(one, &config.dt_numerator, &config.dt_denominator);
  if (!config.dt_numerator) config.dt_numerator = 1, config.dt_denominator = 240;
  sb_status status = sb_sim_create(&config, sim, diag);
  free(every);
  return status;
}

/* A file to write; NULL without a name or when it cannot be opened, which *failed tells. */
static FILE *open_output(const char *path, bool *failed)
{
  FILE *file = path ? fopen(path, "wb") : NULL;
  if (path && !file) {
    fprintf(stderr, "samebit_core: \"%s\" cannot be written\n", path);
    *failed = true;
  }
  return file;
}

static void close_output(FILE *file, bool *failed)
{
  if (file && (ferror(file) | fclose(file))) *failed = true;
}

/* Where this program runs, as well as the C library alone can tell. */
static const char *build_text(void)
{
#if defined(__x86_64__)
#define PROCESSOR "x86_64"
#elif defined(__i386__)
#define PROCESSOR "i686"
#elif defined(__aarch64__)
#define PROCESSOR "aarch64"
#elif defined(__arm__)
#define PROCESSOR "arm"
#elif defined(__riscv)
#define PROCESSOR "riscv64"
#elif defined(__s390x__)
#define PROCESSOR "s390x"
#elif defined(__powerpc64__)
#define PROCESSOR "ppc64le"
#elif defined(__wasm__)
#define PROCESSOR "wasm32"
#else
#define PROCESSOR "?"
#endif
#ifdef __clang__
  return PROCESSOR ", clang " __clang_version__ ", samebit " SAMEBIT_VERSION " " SAMEBIT_BUILD_TYPE;
#else
  return PROCESSOR ", gcc " __VERSION__ ", samebit " SAMEBIT_VERSION " " SAMEBIT_BUILD_TYPE;
#endif
}

static sb_status write_snapshot(const char *prefix, const sb_sim *sim, sb_diagnostics *diag)
{
  char path[4096];
  void *bytes = NULL;
  size_t size = 0;
  bool failed = snprintf(path, sizeof path, "%s.%" PRIu64, prefix, sb_sim_tick(sim)) >= (int)sizeof path;
  sb_status status = sb_sim_snapshot(sim, &bytes, &size, diag);
  if (status) return status;
  FILE *file = open_output(failed ? "" : path, &failed);
  if (file && fwrite(bytes, 1, size, file) != size) failed = true;
  close_output(file, &failed);
  free(bytes);
  return failed ? SB_E_IO : SB_OK;
}

static sb_status restore(const char *path, sb_sim *sim, sb_diagnostics *diag)
{
  size_t size;
  void *bytes = read_file(path, &size);
  sb_status status = bytes ? sb_sim_restore(sim, bytes, size, diag) : SB_E_IO;
  free(bytes);
  return status;
}

static sb_status step_and_print(const options *o, sb_sim *sim, uint32_t world_count, sb_diagnostics *diag)
{
  bool failed = false;
  FILE *hashes = open_output(o->hashes, &failed);
  if (hashes) sb_hash_file_begin(hashes, sim, build_text());
  sb_status status = failed ? SB_E_IO : SB_OK;
  if (!status && o->restore) status = restore(o->restore, sim, diag);
  for (uint64_t tick = sb_sim_tick(sim) + 1; !status && tick <= o->ticks; tick++) {
    status = sb_sim_step(sim, diag);
    if (!status && o->snapshots) status = write_snapshot(o->snapshots, sim, diag);
    if (status) break;
    if (hashes) sb_hash_file_row(hashes, sim);
    if (o->hash_every && tick % o->hash_every == 0) printf("tick %" PRIu64 " %016" PRIx64 "\n", tick, sb_sim_hash(sim));
  }
  close_output(hashes, &failed);
  FILE *dump = status ? NULL : open_output(o->dump, &failed);
  if (dump) sb_sim_dump(sim, dump);
  close_output(dump, &failed);
  if (status || failed) return status ? status : SB_E_IO;
  for (uint32_t w = 0; o->each_world && w < world_count; w++)
    printf("world %" PRIu64 " %016" PRIx64 "\n", (uint64_t)o->first_world + w, sb_sim_hash_world(sim, w));
  for (uint32_t b = 0; b < o->bodies; b++) printf("body %u %016" PRIx64 "\n", b, sb_sim_hash_body(sim, b));
  printf("hash %016" PRIx64 "\n", sb_sim_hash(sim));
  return SB_OK;
}

static int run_setup(const options *o)
{
  sb_diagnostics diag = {0};
  sb_setup setup;
  sb_sim *sim = NULL;
  int code = EXIT_USAGE;
  sb_status status = sb_setup_read(o->setup, sb_static_solver, &setup, &diag);
  if (!status) {
    setup.config.threads = o->threads;
    setup.config.lanes = o->lanes;
    setup.config.shuffle = o->shuffle;
    setup.config.broad_phase = o->broad_phase;
    status = sb_sim_create(&setup.config, &sim, &diag);
    if (!status) code = step_and_print(o, sim, sb_model_store_view(setup.model)->world_count, &diag) ? EXIT_BAD : 0;
    sb_sim_destroy(sim);
    sb_setup_free(&setup);
  }
  print_diagnostics(&diag);
  sb_diagnostics_clear(&diag);
  return code;
}

static int run(const options *o)
{
  const sb_solver_api *api = sb_static_solver(o->solver);
  double params[MAX_PARAMS];
  if (!api) {
    fprintf(stderr, "samebit_core: no solver \"%s\"; there are:", o->solver);
    for (size_t i = 0; sb_static_solver_at(i); i++) fprintf(stderr, " %s", sb_static_solver_at(i)->desc->id);
    fputs("\n", stderr);
    return EXIT_USAGE;
  }
  if (api->desc->param_count > MAX_PARAMS || !set_params(o, api->desc, params)) return EXIT_USAGE;
  sb_diagnostics diag = {0};
  sb_model_store *one = NULL, *model = NULL;
  sb_sim *sim = NULL;
  int code = EXIT_USAGE;
  sb_status status = load_model(o, &one, &model, &diag);
  if (!status) status = create_sim(o, api, params, one, model, &sim, &diag);
  if (!status) code = step_and_print(o, sim, sb_model_store_view(model)->world_count, &diag) ? EXIT_BAD : 0;
  print_diagnostics(&diag);
  sb_sim_destroy(sim);
  sb_model_store_free(model);
  sb_model_store_free(one);
  sb_diagnostics_clear(&diag);
  return code;
}

/* What solvers/golden_hashes.h should hold; tests/golden/remake.sh reads these lines. */
static int print_golden(uint32_t lanes)
{
  sb_diagnostics diag = {0};
  uint64_t hash;
  if (!lanes) lanes = sb_cpu_lanes();
  bool ok = !sb_micro_scene_contacts(lanes, 1, 0, &hash, &diag);
  if (ok) printf("COLLISION drop %016" PRIx64 "\n", hash);
  if (ok) ok = !sb_micro_scene_sensors(lanes, 1, 0, &hash, &diag);
  if (ok) printf("SENSORS sense %016" PRIx64 "\n", hash);
  for (size_t i = 0; sb_static_solver_at(i); i++)
    for (size_t s = 0; ok && s < sb_micro_scene_count; s++) {
      const sb_solver_api *api = sb_static_solver_at(i);
      sb_status status = sb_micro_scene_hash(&sb_micro_scenes[s], api, SB_BACKEND_CPU, 1, lanes, 0, &hash, &diag);
      if (status == SB_E_UNSUPPORTED) continue;
      ok = !status;
      if (ok) printf("%s %s %016" PRIx64 "\n", api->desc->id, sb_micro_scenes[s].name, hash);
    }
  print_diagnostics(&diag);
  sb_diagnostics_clear(&diag);
  return ok ? 0 : EXIT_BAD;
}

int main(int argc, char **argv)
{
  options o;
  if (argc > 1 && !strcmp(argv[1], "--help")) {
    fputs(help, stdout);
    return 0;
  }
  if (!read_options(argc, argv, &o)) return EXIT_USAGE;
  for (size_t i = 0; o.solvers && sb_static_solver_at(i); i++) printf("%s\n", sb_static_solver_at(i)->desc->id);
  if (o.solvers) return 0;
  if (o.hostile_fp) sb_fp_env_make_hostile();
  if (o.golden) return print_golden(o.lanes);
  return o.setup ? run_setup(&o) : run(&o);
}
