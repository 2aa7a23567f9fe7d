/* Reading the golden pack and running its lines. */
#define _GNU_SOURCE
#include "golden_pack.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "collision.h"
#include "install_root.h"
#include "scene.h"

#define MAX_OPTIONS 32

static char *read_text(const char *folder, const char *name, sb_diagnostics *diag)
{
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "r");
  char *text = NULL;
  size_t size = 0;
  ssize_t got = file ? getdelim(&text, &size, 0, file) : -1;
  if (file) fclose(file);
  if (got > 0) return text;
  free(text);
  sb_report(diag, SB_ERROR, SB_CODE_FILE_OPEN, path, "the golden pack has no such file; --pack names the folder of one");
  return NULL;
}

static char *find_own_folder(void)
{
  char root[PATH_MAX];
  sb_install_root(root);
  char *folder = NULL;
  return asprintf(&folder, "%s/share/samebit/golden", root) < 0 ? NULL : folder;
}

static sb_status read_runs(sb_golden_pack *pack, char *text, sb_diagnostics *diag)
{
  char *rest = text;
  for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    if (line[0] == '#') continue;
    sb_golden_run run = {0};
    char end;
    if (sscanf(line, "%63s %63s %" SCNu64 " %" SCNx64 " %c", run.scene, run.solver, &run.ticks, &run.golden, &end) != 4)
      return sb_report(diag, SB_ERROR, SB_CODE_HASH_FILE, "run_hashes.txt", "expected scene, solver, ticks and hash, found \"%.60s\"", line);
    sb_golden_run *grown = realloc(pack->runs, (pack->run_count + 1) * sizeof *grown);
    if (!grown) return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, "golden pack", "no memory");
    pack->runs = grown;
    pack->runs[pack->run_count++] = run;
  }
  return SB_OK;
}

sb_status sb_golden_pack_open(const char *folder, sb_golden_pack *pack, sb_diagnostics *diag)
{
  *pack = (sb_golden_pack){0};
  pack->folder = folder ? strdup(folder) : find_own_folder();
  if (!pack->folder) return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, "golden pack", "no memory");
  pack->scenes = read_text(pack->folder, "scenes.txt", diag);
  char *text = pack->scenes ? read_text(pack->folder, "run_hashes.txt", diag) : NULL;
  sb_status status = text ? read_runs(pack, text, diag) : SB_E_IO;
  free(text);
  if (status) sb_golden_pack_close(pack);
  return status;
}

void sb_golden_pack_close(sb_golden_pack *pack)
{
  free(pack->folder);
  free(pack->scenes);
  free(pack->runs);
  *pack = (sb_golden_pack){0};
}

/* The line of a scene, copied into `line` and split into words: name, ticks, scene, options. */
static size_t find_scene(const sb_golden_pack *pack, const char *name, char line[1024], char *words[MAX_OPTIONS])
{
  for (const char *at = pack->scenes; *at; at += strcspn(at, "\n"), at += *at == '\n') {
    snprintf(line, 1024, "%.*s", (int)strcspn(at, "\n"), at);
    size_t count = 0;
    char *rest = line;
    for (char *word = strtok_r(line, " \t", &rest); word && count < MAX_OPTIONS; word = strtok_r(NULL, " \t", &rest)) words[count++] = word;
    if (count >= 3 && !strcmp(words[0], name)) return count;
  }
  return 0;
}

static sb_status cook(const sb_golden_pack *pack, size_t count, char **words, sb_model_store **one, sb_diagnostics *diag)
{
  char path[PATH_MAX];
  sb_scene_param params[MAX_OPTIONS];
  sb_scene_request request = {.scene = words[2], .where = words[0], .params = params};
  if (strncmp(words[2], "generator:", 10)) {
    snprintf(path, sizeof path, "%s/%s", pack->folder, words[2]);
    request.scene = path;
  }
  for (size_t i = 3; i + 1 < count; i += 2) {
    char *equals = strchr(words[i + 1], '=');
    if (!strcmp(words[i], "--keyframe")) {
      request.key = words[i + 1];
    } else if (!strcmp(words[i], "--param") && equals) {
      *equals = 0;
      params[request.param_count++] = (sb_scene_param){words[i + 1], equals + 1, words[0]};
    } else {
      return sb_report(diag, SB_ERROR, SB_CODE_HASH_FILE, "scenes.txt", "unknown option \"%s %s\"", words[i], words[i + 1]);
    }
  }
  return sb_scene_load(&request, one, diag);
}

/* As the core program runs a model: all bodies, default parameters, the scene's own dt. */
static sb_status simulate(const sb_model_store *one, const sb_solver_api *api, sb_golden_run *run, sb_diagnostics *diag)
{
  sb_model_store *model = NULL;
  sb_sim *sim = NULL;
  sb_status status = sb_model_store_replicate(one, 1, 0, &model, diag);
  if (status) return status;
  const sb_model *m = sb_model_store_view(model);
  uint32_t most = m->body_count > m->particle_count ? m->body_count : m->particle_count;
  uint32_t *every = malloc(((size_t)most + 1) * sizeof *every);
  double *params = malloc(((size_t)api->desc->param_count + 1) * sizeof *params);
  for (uint32_t i = 0; every && i < most; i++) every[i] = i;
  for (uint32_t i = 0; params && i < api->desc->param_count; i++) params[i] = api->desc->params[i].value;
  sb_sim_part part = {.name = "solver", .api = api, .params = params, .bodies = every, .body_count = m->body_count, .particles = every,
                      .particle_count = m->particle_count, .mode = SB_MODE_CROSS_PLATFORM};
  sb_sim_config config = {.model = model, .parts = &part, .part_count = 1, .mode = SB_MODE_CROSS_PLATFORM, .threads = 1,
                          .broad_phase = SB_BROAD_SAP, .speculative_margin = 0.01f};
  sb_model_store_dt(one, &config.dt_numerator, &config.dt_denominator);
  if (!config.dt_numerator) config.dt_numerator = 1, config.dt_denominator = 240;
  status = every && params ? sb_sim_create(&config, &sim, diag) : SB_E_MEMORY;
  for (uint64_t t = 0; !status && t < run->ticks; t++) status = sb_sim_step(sim, diag);
  if (!status) run->found = sb_sim_hash(sim);
  sb_sim_destroy(sim);
  sb_model_store_free(model);
  free(every);
  free(params);
  return status;
}

void sb_golden_pack_run(const sb_golden_pack *pack, sb_golden_run *run, const sb_solver_api *api)
{
  char line[1024], *words[MAX_OPTIONS];
  size_t count = find_scene(pack, run->scene, line, words);
  run->outcome = SB_GOLDEN_LEFT_OUT;
  if (count && !strncmp(words[2], "SHARED/", 7)) {
    snprintf(run->reason, sizeof run->reason, "its model does not come with the pack");
    return;
  }
  run->outcome = SB_GOLDEN_FAILED;
  if (!count) {
    snprintf(run->reason, sizeof run->reason, "scenes.txt has no such scene");
    return;
  }
  sb_diagnostics diag = {0};
  sb_model_store *one = NULL;
  sb_status status = cook(pack, count, words, &one, &diag);
  if (!status) {
    run->model = sb_model_store_hash(one);
    status = simulate(one, api, run, &diag);
  }
  if (!status) run->outcome = run->found == run->golden ? SB_GOLDEN_MATCHED : SB_GOLDEN_DIFFERS;
  for (size_t i = 0; status && i < diag.count; i++)
    if (diag.items[i].severity == SB_ERROR) snprintf(run->reason, sizeof run->reason, "%.250s", diag.items[i].message);
  sb_model_store_free(one);
  sb_diagnostics_clear(&diag);
}
