/* Builds a session step by step: INI -> plugins -> scene -> ownership -> modes -> simulation config. */
#define _GNU_SOURCE
#include "session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collision.h"
#include "fp_env.h"
#include "golden_hashes.h"
#include "scene.h"
#include "session_parts.h"

static const char *const world_keys[] = {"scene", "gravity", "dt", "replicate", "first_world", "seed", "ground", "base", "keyframe",
                                         "package_dirs"};
static const char *const run_keys[] = {"ticks"};
static const char *const determinism_keys[] = {"mode"};
static const char *const collision_keys[] = {"mode", "broad_phase", "pair_capacity", "contact_capacity", "particle_contact_capacity", "near_pair_capacity", "triangle_capacity",
                                             "speculative_margin", "ccd"};
static const char *const coupling_keys[] = {"contacts"};
static const char *const compute_keys[] = {"commands", "time_limit"};
static const char *const section_names[] = {"world", "scene", "run", "determinism", "collision", "coupling", "compute", "solver.NAME"};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* ---- sections ---- */

static void check_sections(sb_config *c, sb_diagnostics *diag)
{
  for (size_t i = 0; i < c->section_count; i++) {
    const sb_section *s = &c->sections[i];
    bool known = !strncmp(s->name, "solver.", 7) && s->name[7];
    for (size_t k = 0; k + 1 < COUNT(section_names); k++) known = known || !strcmp(s->name, section_names[k]);
    if (known) continue;
    const char *near = sb_nearest_name(s->name, section_names, COUNT(section_names));
    sb_report(diag, SB_ERROR, SB_CODE_INI_UNKNOWN_SECTION, s->where, "unknown section [%s]%s%s%s", s->name, near ? "; did you mean [" : "",
              near ? near : "", near ? "]?" : "");
  }
}

static sb_status status_so_far(const sb_diagnostics *diag, size_t errors_before)
{
  return diag->error_count > errors_before ? SB_E_CONFIG : SB_OK;
}

/* ---- the scene ---- */

/* Splits at blanks; *copy owns the words. */
static size_t split_words(const char *text, char **copy, const char **words, size_t limit)
{
  size_t n = 0;
  *copy = text ? strdup(text) : NULL;
  char *rest = *copy;
  for (char *word = *copy ? strtok_r(*copy, " \t", &rest) : NULL; word && n < limit; word = strtok_r(NULL, " \t", &rest)) words[n++] = word;
  return n;
}

#define MAX_SCENE_PARAMS 64

/* A path in an INI file counts from that file, one on the command line from the working directory. */
static char *resolve_path(const char *ini_path, const sb_setting *setting)
{
  const char *slash = strrchr(ini_path, '/');
  bool as_is = setting->value[0] == '/' || !strncmp(setting->value, "generator:", 10) || !strcmp(setting->where, "--set") || !slash;
  size_t folder = as_is ? 0 : (size_t)(slash - ini_path) + 1;
  char *path = malloc(folder + strlen(setting->value) + 1);
  if (!path) return NULL;
  memcpy(path, ini_path, folder);
  strcpy(path + folder, setting->value);
  return path;
}

/* Whether a parameter of the generator that the scene names is the path of a file. */
static bool is_path_of_generator(const char *scene, const char *key)
{
  size_t count;
  const sb_generator *g = sb_generator_list(&count);
  for (size_t i = 0; i < count && !strncmp(scene, "generator:", 10); i++)
    for (size_t k = 0; k < g[i].param_count; k++)
      if (!strcmp(scene + 10, g[i].name) && !strcmp(key, g[i].params[k].name)) return g[i].params[k].path;
  return false;
}

/* Bytes of the state arrays that every solver shares, in all worlds. */
static double state_bytes(const sb_model *m, uint32_t worlds)
{
  const double BODY = m->body_count, COORD = m->coord_count, DOF = m->dof_count, ACTUATOR = m->actuator_count,
               PARTICLE = m->particle_count;
  double words = 4.0 * m->sensor_count;
#define SB_X_WORDS(DOMAIN, name, comps, doc) words += (comps) * DOMAIN;
  SB_STATE_ARRAYS(SB_X_WORDS)
#undef SB_X_WORDS
  return 4.0 * words * worlds;
}

/* Refuses worlds that cannot fit, before anything is allocated for them. What they need is a lower bound. */
static sb_status check_memory(sb_session *s, uint32_t worlds, sb_diagnostics *diag)
{
  const sb_setting *setting = sb_config_find(&s->config, "world", "replicate");
  double need = sb_model_store_replica_bytes(s->one, worlds) + state_bytes(sb_model_store_view(s->one), worlds);
  double pages = (double)sysconf(_SC_PHYS_PAGES), page = (double)sysconf(_SC_PAGESIZE), have = pages * page;
  if (worlds == 1 || !(have > 0.0) || need <= have) return SB_OK;
  return sb_report(diag, SB_ERROR, SB_CODE_SCENE_LIMIT, setting ? setting->where : s->config.path,
                   "replicate = %u needs more than %.1f GiB for model and state, and this machine has %.1f GiB; at most %.0f worlds "
                   "of this scene can fit",
                   worlds, need / 1073741824.0, have / 1073741824.0, have / need * worlds);
}

static sb_status load_scene(sb_session *s, sb_diagnostics *diag)
{
  static const char *const ground_names[] = {"none", "auto", NULL};
  static const char *const base_names[] = {"fixed", "floating", NULL};
  sb_config *c = &s->config;
  size_t errors = diag->error_count;
  const sb_setting *scene = sb_config_find(c, "world", "scene");
  if (!scene)
    return sb_report(diag, SB_ERROR, SB_CODE_INI_MISSING, c->path,
                     "[world] needs \"scene = FILE\" (MJCF, URDF or a cooked model) or \"scene = generator:NAME\"");
  sb_scene_param params[MAX_SCENE_PARAMS];
  const char *dirs[32];
  char *dirs_copy, *files[MAX_SCENE_PARAMS];
  size_t file_count = 0;
  double gravity[3];
  char *path = resolve_path(c->path, scene);
  if (!path) return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, scene->where, "no memory");
  sb_scene_request request = {.scene = path, .where = scene->where, .params = params, .package_dirs = dirs};
  for (size_t i = 0; i < c->count && request.param_count < MAX_SCENE_PARAMS; i++) {
    if (strcmp(c->settings[i].section, "scene")) continue;
    c->settings[i].used = true;
    char *file = is_path_of_generator(path, c->settings[i].key) ? resolve_path(c->path, &c->settings[i]) : NULL;
    if (file) files[file_count++] = file;
    params[request.param_count++] = (sb_scene_param){c->settings[i].key, file ? file : c->settings[i].value, c->settings[i].where};
  }
  request.package_dir_count = split_words(sb_config_text(c, "world", "package_dirs", NULL), &dirs_copy, dirs, COUNT(dirs));
  request.key = sb_config_text(c, "world", "keyframe", NULL);
  request.floating_base = sb_config_choice(c, "world", "base", 0, base_names, diag) == 1;
  request.ground = sb_config_choice(c, "world", "ground", 0, ground_names, diag) == 1;
  if (sb_config_numbers(c, "world", "gravity", gravity, 3, diag)) request.gravity = gravity;
  uint32_t worlds = (uint32_t)sb_config_whole(c, "world", "replicate", 1, 1, 1u << 20, diag);
  uint32_t first = (uint32_t)sb_config_whole(c, "world", "first_world", 0, 0, UINT32_MAX - (1u << 20), diag);
  sb_status status = status_so_far(diag, errors);
  if (!status) status = sb_scene_load(&request, &s->one, diag);
  free(dirs_copy);
  free(path);
  while (file_count) free(files[--file_count]);
  if (!status) status = check_memory(s, worlds, diag);
  if (!status) status = sb_model_store_replicate(s->one, worlds, first, &s->model, diag);
  return status;
}

static void read_settings(sb_session *s, const sb_session_options *o, sb_diagnostics *diag)
{
  static const char *const broad_names[] = {"all_pairs", "sap", NULL};
  static const char *const coupling_names[] = {"none", "one_way", NULL};
  sb_config *c = &s->config;
  sb_sim_config *sim = &s->sim;
  sb_model_store_dt(s->one, &sim->dt_numerator, &sim->dt_denominator);
  if (!sb_config_fraction(c, "world", "dt", &sim->dt_numerator, &sim->dt_denominator, diag) && sim->dt_numerator == 0) {
    sim->dt_numerator = 1;
    sim->dt_denominator = 240;
  }
  sim->seed = sb_config_whole(c, "world", "seed", 0, 0, UINT64_MAX, diag);
  sim->broad_phase = sb_config_choice(c, "collision", "broad_phase", SB_BROAD_SAP, broad_names, diag);
  sim->pair_capacity = (uint32_t)sb_config_whole(c, "collision", "pair_capacity", 0, 0, 1u << 28, diag);
  sim->contact_capacity = (uint32_t)sb_config_whole(c, "collision", "contact_capacity", 0, 0, 1u << 28, diag);
  sim->particle_contact_capacity = (uint32_t)sb_config_whole(c, "collision", "particle_contact_capacity", 0, 0, 1u << 28, diag);
  sim->near_pair_capacity = (uint32_t)sb_config_whole(c, "collision", "near_pair_capacity", 0, 0, 1u << 28, diag);
  sim->triangle_capacity = (uint32_t)sb_config_whole(c, "collision", "triangle_capacity", 0, 0, 1u << 28, diag);
  sim->speculative_margin = (float)sb_config_number(c, "collision", "speculative_margin", 0.01, 0, 1, diag);
  sb_config_find(c, "collision", "ccd"); /* read by sb_session_find_ccd */
  sim->coupling = SB_COUPLING_UNSET;
  if (sb_config_find(c, "coupling", "contacts"))
    sim->coupling = sb_config_choice(c, "coupling", "contacts", 0, coupling_names, diag) ? SB_COUPLING_ONE_WAY : SB_COUPLING_NONE;
  s->ticks = sb_config_whole(c, "run", "ticks", 1000, 0, UINT64_MAX, diag);
  sim->threads = o->threads ? o->threads : 1;
  sim->lanes = o->lanes ? o->lanes : sb_cpu_lanes();
  sim->shuffle = o->shuffle;
  sim->model = s->model;
}

/* ---- the device ---- */

static sb_status open_device(sb_session *s, sb_diagnostics *diag)
{
  static const char *const command_names[] = {"recorded", "one_by_one", NULL};
  size_t errors = diag->error_count;
  bool wanted = false, one_by_one = sb_config_choice(&s->config, "compute", "commands", 0, command_names, diag) == 1;
  uint32_t time_limit = (uint32_t)sb_config_whole(&s->config, "compute", "time_limit", 300, 1, 86400, diag);
  if (diag->error_count > errors) return SB_E_CONFIG;
  for (uint32_t p = 0; p < s->part_count; p++) { /* what promises nothing there is refused before it could run, but in mode Off */
    const sb_session_part *part = &s->parts[p];
    if (part->backend == SB_BACKEND_VULKAN) wanted = wanted || part->asked == SB_MODE_OFF || part->api->desc->mode[SB_BACKEND_VULKAN] != SB_MODE_OFF;
  }
  return wanted ? sb_session_device_open(one_by_one, time_limit, &s->device, diag) : SB_OK;
}

/* ---- the whole ---- */

static sb_status open_session(const char *ini_path, const sb_session_options *o, sb_session *s, sb_diagnostics *diag)
{
  *s = (sb_session){0};
  size_t errors = diag->error_count;
  sb_status status = sb_config_read(ini_path, &s->config, diag);
  for (size_t i = 0; !status && i < o->set_count; i++) status = sb_config_set(&s->config, o->sets[i], diag);
  if (!status) {
    check_sections(&s->config, diag);
    status = status_so_far(diag, errors);
  }
  if (!status) status = sb_catalogue_init(&s->catalogue, o->plugin_dirs, o->plugin_dir_count, diag);
  s->catalogue.trial.behave = true;
  s->catalogue.trial.cache_dir = o->cache_dir;
  s->catalogue.trial.seconds = o->trial_seconds;
  if (!status) status = sb_session_find_parts(s, o, diag); /* plugins, parameters */
  if (!status) status = load_scene(s, diag);
  if (!status) {
    read_settings(s, o, diag);
    sb_config_check_unused(&s->config, "world", world_keys, COUNT(world_keys), diag);
    sb_config_check_unused(&s->config, "run", run_keys, COUNT(run_keys), diag);
    sb_config_check_unused(&s->config, "determinism", determinism_keys, COUNT(determinism_keys), diag);
    sb_config_check_unused(&s->config, "collision", collision_keys, COUNT(collision_keys), diag);
    sb_config_check_unused(&s->config, "coupling", coupling_keys, COUNT(coupling_keys), diag);
    sb_config_find(&s->config, "compute", "commands"); /* read by open_device */
    sb_config_find(&s->config, "compute", "time_limit");
    sb_config_check_unused(&s->config, "compute", compute_keys, COUNT(compute_keys), diag);
    status = status_so_far(diag, errors);
  }
  if (!status) status = sb_session_assign_bodies(s, diag);
  if (!status) status = sb_session_find_ccd(s, diag);
  if (!status) status = open_device(s, diag);
  if (!status) status = sb_session_grant_modes(s, diag);
  bool loaded = s->sim.model != NULL;
  if (!status || (status == SB_E_MODE && loaded)) {
    sb_status filled = sb_session_fill_sim(s, diag);
    if (filled) status = filled;
  }
  if (status && (status != SB_E_MODE || !loaded)) sb_session_close(s);
  return status;
}

sb_status sb_session_open(const char *ini_path, const sb_session_options *o, sb_session *s, sb_diagnostics *diag)
{
  sb_fp_env saved = sb_fp_env_enter();
  sb_status status = open_session(ini_path, o, s, diag);
  sb_fp_env_leave(saved);
  return status;
}

void sb_session_close(sb_session *s)
{
  for (uint32_t p = 0; p < s->part_count; p++) {
    free(s->parts[p].name);
    free(s->parts[p].where);
    free(s->parts[p].params);
    free(s->parts[p].bodies);
    free(s->parts[p].particles);
  }
  free(s->parts);
  free(s->sim_parts);
  free(s->ccd_bodies);
  sb_session_device_close(s->device);
  sb_model_store_free(s->model);
  sb_model_store_free(s->one);
  sb_catalogue_free(&s->catalogue);
  sb_config_free(&s->config);
  *s = (sb_session){0};
}

sb_status sb_session_create_sim(sb_session *s, sb_sim **out, sb_diagnostics *diag)
{
  sb_status status = sb_sim_create(&s->sim, out, diag);
  if (!status) s->parts[0].backend = sb_sim_collides_on_device(*out) ? SB_BACKEND_VULKAN : SB_BACKEND_CPU;
  return status;
}
