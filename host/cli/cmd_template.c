/* plugins new: a complete small solver to start from. plugins goldens: what its descriptor should hold. */
#define _GNU_SOURCE
#include "cli.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "golden_hashes.h"
#include "install_root.h"
#include "micro_scenes.h"
#include "output_file.h"

#define PLACEHOLDER "@NAME@"
#define ENDING ".in"

/* The templates: share/samebit/template beside bin. */
static void find_folder(char folder[PATH_MAX])
{
  char root[PATH_MAX];
  sb_install_root(root);
  snprintf(folder, PATH_MAX, "%.4000s/share/samebit/template", root);
}

static bool is_good_name(const char *name)
{
  if (!islower((unsigned char)name[0]) || strlen(name) > 32) return false;
  for (; *name; name++)
    if (!islower((unsigned char)*name) && !isdigit((unsigned char)*name) && *name != '_') return false;
  return true;
}

static bool is_empty(const char *path)
{
  DIR *dir = opendir(path);
  size_t entries = 0;
  while (dir && readdir(dir)) entries++;
  if (dir) closedir(dir);
  return entries <= 2;
}

/* Copies a template, with the name in place of each placeholder. */
static sb_status write_file(cli *c, const char *from, const char *to, const char *name)
{
  char *text = NULL;
  size_t size = 0;
  FILE *file = fopen(from, "r");
  ssize_t got = file ? getdelim(&text, &size, 0, file) : -1;
  if (file) fclose(file);
  output_file out;
  sb_status status = got < 0 ? sb_report(&c->diag, SB_ERROR, SB_CODE_FILE_OPEN, from, "the template cannot be read")
                             : output_file_open(&out, to, &c->diag);
  if (!status) {
    const char *at = text;
    for (const char *next; (next = strstr(at, PLACEHOLDER)); at = next + strlen(PLACEHOLDER))
      fprintf(out.file, "%.*s%s", (int)(next - at), at, name);
    fputs(at, out.file);
    status = output_file_finish(&out, &c->diag);
    output_file_drop(&out);
  }
  free(text);
  return status;
}

static int is_template(const struct dirent *entry)
{
  size_t n = strlen(entry->d_name), e = strlen(ENDING);
  return n > e && !strcmp(entry->d_name + n - e, ENDING);
}

/* Writes every template of the folder: NAME in a file's name is replaced too. */
static sb_status write_all(cli *c, const char *folder, const char *to, const char *name)
{
  struct dirent **list = NULL;
  int n = scandir(folder, &list, is_template, alphasort);
  sb_status status = n > 0 ? SB_OK : sb_report(&c->diag, SB_ERROR, SB_CODE_FILE_OPEN, folder, "the templates are not there; install Samebit whole");
  for (int i = 0; i < n; i++) {
    char source[PATH_MAX + 300], target[PATH_MAX + 300];
    const char *file = list[i]->d_name;
    bool named = !strncmp(file, "NAME", 4);
    snprintf(source, sizeof source, "%s/%s", folder, file);
    snprintf(target, sizeof target, "%s/%s%.*s", to, named ? name : "", (int)(strlen(file) - strlen(ENDING) - (named ? 4 : 0)), file + (named ? 4 : 0));
    if (!status) status = write_file(c, source, target, name);
    free(list[i]);
  }
  free(list);
  return status;
}

int cmd_plugins_new(cli *c)
{
  const char *name = c->words[0], *to = cli_value(c, "--dir");
  char folder[PATH_MAX];
  if (!to) to = name;
  if (!is_good_name(name)) {
    sb_report(&c->diag, SB_ERROR, SB_CODE_CLI_USAGE, "plugins new", "\"%.60s\" is no plugin name: 1 to 32 characters of a-z, 0-9 and _, the first a letter", name);
    return CLI_USAGE;
  }
  if ((mkdir(to, 0777) && errno != EEXIST) || access(to, W_OK)) {
    sb_report(&c->diag, SB_ERROR, SB_CODE_FILE_WRITE, to, "the folder cannot be made: %s", strerror(errno));
    return CLI_USAGE;
  }
  if (!is_empty(to)) {
    sb_report(&c->diag, SB_ERROR, SB_CODE_FILE_WRITE, to, "the folder is not empty, and nothing in it shall be lost; give another with --dir");
    return CLI_USAGE;
  }
  find_folder(folder);
  if (write_all(c, folder, to, name)) return CLI_USAGE;
  if (c->json)
    cJSON_AddStringToObject(c->data, "folder", to);
  else
    printf("%s: a solver to start from; its README.md says how to build and test it\n", to);
  return CLI_DONE;
}

/* ---- golden hashes ---- */

static void print_goldens(cli *c, const sb_solver_api *api, size_t *count)
{
  cJSON *list = c->json ? cJSON_AddArrayToObject(c->data, api->desc->id) : NULL;
  if (!list) printf("/* %s %s: hashes of the host's micro-scenes, numerics %d */\n", api->desc->id, api->desc->version, SB_NUMERICS_VERSION);
  for (size_t s = 0; s < sb_micro_scene_count; s++) {
    uint64_t hash;
    sb_status status = sb_micro_scene_hash(&sb_micro_scenes[s], api, SB_BACKEND_CPU, 1, 0, 0, &hash, &c->diag);
    if (status) continue; /* a scene that the solver does not handle, or that has its diagnostic */
    ++*count;
    if (!list) {
      printf("{sizeof(sb_golden), SB_BACKEND_CPU, \"%s\", 0x%016" PRIx64 "ull},\n", sb_micro_scenes[s].name, hash);
      continue;
    }
    cJSON *item = cJSON_CreateObject();
    cJSON_AddItemToArray(list, item);
    cJSON_AddStringToObject(item, "scene", sb_micro_scenes[s].name);
    cli_add_hash(item, "hash", hash);
  }
}

int cmd_plugins_goldens(cli *c)
{
  sb_catalogue catalogue;
  sb_module *module;
  size_t count = 0, errors = c->diag.error_count;
  sb_status status = sb_catalogue_init(&catalogue, NULL, 0, &c->diag);
  if (status) return cli_exit_code(status);
  status = sb_catalogue_load_file(&catalogue, c->words[0], &module, &c->diag);
  for (uint32_t i = 0; !status && module->solvers && i < module->solvers->solver_count; i++) print_goldens(c, module->solvers->solvers[i], &count);
  sb_catalogue_free(&catalogue);
  if (status) return cli_exit_code(status);
  if (count == 0 && c->diag.error_count == errors)
    sb_report(&c->diag, SB_ERROR, SB_CODE_CLI_USAGE, c->words[0], "the plugin has no solver that handles any micro-scene; docs/plugins.md lists them");
  return c->diag.error_count > errors ? CLI_BAD_ANSWER : CLI_DONE;
}
