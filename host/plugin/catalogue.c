/* Finding, judging and loading plugin modules. */
#define _GNU_SOURCE
#include "catalogue.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#include "fp_env.h"

const char *const sb_mode_names[] = {"Off", "Local", "RunToRun", "CrossPlatform", NULL};
const char *const sb_backend_names[] = {"cpu", "vulkan", NULL};
const char *sb_mode_name(uint32_t mode) { return mode < SB_MODE_COUNT ? sb_mode_names[mode] : "?"; }
const char *sb_backend_name(uint32_t backend) { return backend < SB_BACKEND_COUNT ? sb_backend_names[backend] : "?"; }

/* A directory that everybody may write to could change a plugin between two runs; the sticky bit (as on /tmp) does not help. */
static sb_status judge_dir(const char *dir, sb_diagnostics *diag)
{
  struct stat info;
  if (stat(dir, &info)) return sb_report(diag, SB_ERROR, SB_CODE_PLUGIN_FILE, dir, "cannot read the plugin directory: %s", strerror(errno));
  if (!S_ISDIR(info.st_mode)) return sb_report(diag, SB_ERROR, SB_CODE_PLUGIN_FILE, dir, "--plugins needs a directory");
  if (info.st_mode & S_IWOTH)
    return sb_report(diag, SB_ERROR, SB_CODE_PLUGIN_FILE, dir, "everybody may write this plugin directory; take that right away (chmod o-w)");
  return SB_OK;
}

static bool add_dir(sb_catalogue *c, const char *dir)
{
  char **grown = realloc(c->dirs, (c->dir_count + 1) * sizeof *grown);
  if (!grown) return false;
  c->dirs = grown;
  c->dirs[c->dir_count] = strdup(dir);
  if (!c->dirs[c->dir_count]) return false;
  c->dir_count++;
  return true;
}

sb_status sb_catalogue_init(sb_catalogue *c, const char *const *dirs, size_t dir_count, sb_diagnostics *diag)
{
  *c = (sb_catalogue){0};
  bool ok = true;
  for (size_t i = 0; ok && i < dir_count; i++) {
    sb_status status = judge_dir(dirs[i], diag);
    if (status) {
      sb_catalogue_free(c);
      return status;
    }
    ok = add_dir(c, dirs[i]);
  }
  /* bin/samebit looks in plugins/ (build tree) and lib/samebit/ (installed), both beside bin/. */
  char self[PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  if (ok && n > 0) {
    self[n] = 0;
    for (int up = 0; up < 2; up++) {
      char *slash = strrchr(self, '/');
      if (slash) *slash = 0;
    }
    static const char *const places[] = {"plugins", "lib/samebit/plugins"};
    for (size_t i = 0; ok && i < 2; i++) {
      char dir[PATH_MAX + 32];
      snprintf(dir, sizeof dir, "%s/%s", self, places[i]);
      struct stat info;
      if (!stat(dir, &info) && S_ISDIR(info.st_mode)) ok = add_dir(c, dir);
    }
  }
  return ok ? SB_OK : sb_report(diag, SB_ERROR, SB_CODE_MEMORY, "plugins", "no memory");
}

void sb_catalogue_free(sb_catalogue *c)
{
  for (size_t i = 0; i < c->module_count; i++) {
    if (c->modules[i].handle) dlclose(c->modules[i].handle);
    free(c->modules[i].path);
  }
  for (size_t i = 0; i < c->dir_count; i++) free(c->dirs[i]);
  free(c->modules);
  free(c->dirs);
  *c = (sb_catalogue){0};
}

/* ---- judging a file before it runs ---- */

static sb_status judge_file(const char *path, uint64_t *hash, sb_diagnostics *diag)
{
  struct stat info;
  if (stat(path, &info))
    return sb_report(diag, SB_ERROR, SB_CODE_PLUGIN_FILE, path, "cannot read the plugin: %s", strerror(errno));
  if (!S_ISREG(info.st_mode)) return sb_report(diag, SB_ERROR, SB_CODE_PLUGIN_FILE, path, "a plugin must be a regular file");
  if (info.st_mode & S_IWOTH)
    return sb_report(diag, SB_ERROR, SB_CODE_PLUGIN_FILE, path, "everybody may write this plugin; take that right away (chmod o-w)");
  FILE *file = fopen(path, "rb");
  if (!file) return sb_report(diag, SB_ERROR, SB_CODE_PLUGIN_FILE, path, "cannot open the plugin: %s", strerror(errno));
  unsigned char magic[4] = {0};
  bool elf = fread(magic, 1, 4, file) == 4 && !memcmp(magic, "\177ELF", 4);
  rewind(file);
  XXH3_state_t *state = XXH3_createState();
  bool ok = state && elf;
  if (state) XXH3_64bits_reset(state);
  unsigned char block[16384];
  for (size_t n; ok && (n = fread(block, 1, sizeof block, file)) > 0;) XXH3_64bits_update(state, block, n);
  ok = ok && !ferror(file);
  if (ok) *hash = XXH3_64bits_digest(state);
  XXH3_freeState(state);
  fclose(file);
  if (!elf) return sb_report(diag, SB_ERROR, SB_CODE_PLUGIN_FILE, path, "this is no shared object: it does not begin as an ELF file");
  if (!ok) return sb_report(diag, SB_ERROR, SB_CODE_PLUGIN_FILE, path, "cannot read the whole plugin");
  return SB_OK;
}

const char *sb_entry_fault(const sb_plugin_entry *e, char *text, size_t size)
{
  const char *host = "the host has ABI";
  if (e->magic != SB_PLUGIN_MAGIC)
    snprintf(text, size, "its entry does not begin with the plugin magic; is \"%s\" the symbol of something else?", SB_PLUGIN_SYMBOL);
  else if (e->abi_major != SB_ABI_MAJOR)
    snprintf(text, size, "it was built for ABI %u.%u, %s %u.%u: rebuild it with this version's headers", e->abi_major, e->abi_minor,
             host, SB_ABI_MAJOR, SB_ABI_MINOR);
  else if (e->abi_minor < SB_ABI_MIN_MINOR)
    snprintf(text, size, "it was built for ABI %u.%u, %s %u.%u and goes back to %u.%u: rebuild it", e->abi_major, e->abi_minor, host,
             SB_ABI_MAJOR, SB_ABI_MINOR, SB_ABI_MAJOR, SB_ABI_MIN_MINOR);
  else if (e->abi_minor > SB_ABI_MINOR && e->abi_min_minor > SB_ABI_MINOR)
    snprintf(text, size, "it needs ABI %u.%u or later, %s %u.%u: use a newer Samebit", e->abi_major, e->abi_min_minor, host,
             SB_ABI_MAJOR, SB_ABI_MINOR);
  else if (e->struct_size != sizeof(sb_plugin_entry))
    snprintf(text, size, "its entry has %u bytes, ABI %u.%u has %zu: it was built with damaged headers", e->struct_size, e->abi_major,
             e->abi_minor, sizeof(sb_plugin_entry));
  else if (!e->get_factory)
    snprintf(text, size, "its entry has no get_factory");
  else
    return NULL;
  return text;
}

static int count_choices(const char *choices)
{
  int n = 1;
  for (; *choices; choices++) n += *choices == '|';
  return n;
}

static const char *descriptor_fault(const sb_solver_api *api)
{
  if (!api || api->struct_size != sizeof *api) return "a solver's function table has another size";
  const sb_solver_desc *d = api->desc;
  if (!d || d->struct_size != sizeof *d) return "a solver's descriptor has another size";
  if (!d->id || !*d->id || !d->version || !d->vendor || !d->text) return "id, version, vendor and text must be given";
  for (uint32_t b = 0; b < SB_BACKEND_COUNT; b++)
    if (d->mode[b] >= SB_MODE_COUNT || !d->mode_reason[b]) return "each backend needs a mode and a reason";
  if (!api->create || !api->bind || !api->activate || !api->step || !api->deactivate || !api->destroy)
    return "every function of the solver must be given";
  if ((d->param_count && (!d->params || d->param_size != sizeof(sb_param_desc))) ||
      (d->golden_count && (!d->goldens || d->golden_size != sizeof(sb_golden))))
    return "a table has entries of another size";
  for (uint32_t i = 0; i < d->param_count; i++) {
    const sb_param_desc *p = &d->params[i];
    if (!p->name || !p->unit || !p->text || p->type > SB_PARAM_CHOICE || (p->type == SB_PARAM_CHOICE && !p->choices))
      return "a parameter lacks its name, unit, text or choices";
    if (p->struct_size != sizeof *p) return "a parameter's description has another size";
    if (!(p->minimum <= p->value && p->value <= p->maximum)) return "a parameter's default is out of its range";
    if (p->type == SB_PARAM_CHOICE && (p->maximum > count_choices(p->choices) - 1 || strlen(p->choices) > 255 || count_choices(p->choices) > 31))
      return "a parameter has more choices than names, more than 31, or more than 255 characters of them";
    static const char *const taken[] = {"plugin", "bodies", "backend", "mode"};
    for (size_t k = 0; k < sizeof taken / sizeof taken[0]; k++)
      if (!strcmp(p->name, taken[k])) return "a parameter has the name of a key that the host keeps: plugin, bodies, backend or mode";
  }
  for (uint32_t i = 0; i < d->golden_count; i++)
    if (!d->goldens[i].scene || d->goldens[i].backend >= SB_BACKEND_COUNT) return "a golden hash lacks its scene or backend";
  return NULL;
}

/* ---- loading ---- */

static sb_status open_module(sb_module *m, sb_diagnostics *diag)
{
  sb_fp_env saved = sb_fp_env_enter();
  m->handle = dlopen(m->path, RTLD_NOW | RTLD_LOCAL);
  m->changed_fp_env = !sb_fp_env_is_standard();
  sb_fp_env_leave(saved);
  if (!m->handle) return sb_report(diag, SB_ERROR, SB_CODE_PLUGIN_LOAD, m->path, "cannot load the plugin: %s", dlerror());
  m->entry = dlsym(m->handle, SB_PLUGIN_SYMBOL);
  if (!m->entry)
    return sb_report(diag, SB_ERROR, SB_CODE_PLUGIN_LOAD, m->path, "it does not export \"%s\": is it a Samebit plugin?", SB_PLUGIN_SYMBOL);
  char text[512];
  if (sb_entry_fault(m->entry, text, sizeof text)) return sb_report(diag, SB_ERROR, SB_CODE_ABI_VERSION, m->path, "%s", text);
  if (m->entry->negotiate) {
    sb_host_info info = {sizeof info, SB_ABI_MAJOR, SB_ABI_MINOR, SB_ABI_MIN_MINOR, SAMEBIT_VERSION};
    text[0] = 0;
    if (m->entry->negotiate(&info, text, sizeof text)) {
      text[sizeof text - 1] = 0;
      return sb_report(diag, SB_ERROR, SB_CODE_ABI_REFUSED, m->path, "the plugin refuses this host: %s", text[0] ? text : "no reason given");
    }
  }
  m->solvers = m->entry->get_factory(SB_SOLVER_FACTORY_ID);
  if (!m->solvers) return SB_OK;
  const char *fault = m->solvers->struct_size != sizeof *m->solvers ? "its solver factory has another size" : NULL;
  if (!fault && m->solvers->solver_count && !m->solvers->solvers) fault = "its solver list is NULL";
  for (uint32_t i = 0; !fault && i < m->solvers->solver_count; i++) fault = descriptor_fault(m->solvers->solvers[i]);
  if (fault) return sb_report(diag, SB_ERROR, SB_CODE_ABI_DESCRIPTOR, m->path, "%s", fault);
  return SB_OK;
}

sb_status sb_catalogue_load_file(sb_catalogue *c, const char *path, const sb_module **module, sb_diagnostics *diag)
{
  *module = NULL;
  char real[PATH_MAX];
  if (!realpath(path, real))
    return sb_report(diag, SB_ERROR, SB_CODE_PLUGIN_FILE, path, "cannot find the plugin: %s", strerror(errno));
  for (size_t i = 0; i < c->module_count; i++)
    if (!strcmp(c->modules[i].path, real)) {
      *module = &c->modules[i];
      return SB_OK;
    }
  sb_module m = {0};
  sb_status status = judge_file(real, &m.file_hash, diag);
  if (status) return status;
  /* Room for a fixed number, so that pointers handed out stay valid. */
  enum { MAX_MODULES = 256 };
  if (!c->modules) c->modules = calloc(MAX_MODULES, sizeof *c->modules);
  m.path = strdup(real);
  if (!c->modules || !m.path) {
    free(m.path);
    return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, path, "no memory for the plugin");
  }
  if (c->module_count == MAX_MODULES) {
    free(m.path);
    return sb_report(diag, SB_ERROR, SB_CODE_PLUGIN_LOAD, path, "more than %d plugins are loaded", MAX_MODULES);
  }
  status = open_module(&m, diag);
  if (status) {
    if (m.handle) dlclose(m.handle);
    free(m.path);
    return status;
  }
  c->modules[c->module_count] = m;
  *module = &c->modules[c->module_count++];
  return SB_OK;
}

/* Names of the files NAME.so in a directory, sorted; the caller frees each and the list. */
static size_t list_plugins(const char *dir, char ***out)
{
  *out = NULL;
  struct dirent **entries;
  int n = scandir(dir, &entries, NULL, alphasort);
  size_t count = 0;
  char **names = n > 0 ? calloc((size_t)n, sizeof *names) : NULL;
  for (int i = 0; i < n; i++) {
    size_t length = strlen(entries[i]->d_name);
    if (names && length > 3 && !strcmp(entries[i]->d_name + length - 3, ".so")) {
      names[count] = strndup(entries[i]->d_name, length - 3);
      if (names[count]) count++;
    }
    free(entries[i]);
  }
  if (n >= 0) free(entries);
  *out = names;
  return count;
}

sb_status sb_catalogue_find_solver(sb_catalogue *c, const char *id, const char *where, const sb_module **module,
                                   const sb_solver_api **api, sb_diagnostics *diag)
{
  *module = NULL;
  *api = NULL;
  bool good_name = *id && strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(id) && strlen(id) < 64;
  for (size_t d = 0; good_name && d < c->dir_count; d++) {
    char path[PATH_MAX + 80];
    snprintf(path, sizeof path, "%s/%s.so", c->dirs[d], id);
    struct stat link; /* a link that leads nowhere is an error, not another directory's turn */
    if (lstat(path, &link)) continue;
    sb_status status = sb_catalogue_load_file(c, path, module, diag);
    if (status) return status;
    for (uint32_t i = 0; (*module)->solvers && i < (*module)->solvers->solver_count; i++)
      if (!strcmp((*module)->solvers->solvers[i]->desc->id, id)) {
        *api = (*module)->solvers->solvers[i];
        return SB_OK;
      }
    return sb_report(diag, SB_ERROR, SB_CODE_PLUGIN_UNKNOWN, where, "%s has no solver \"%s\"", path, id);
  }
  char *names[256];
  size_t count = 0;
  for (size_t d = 0; d < c->dir_count; d++) {
    char **list;
    size_t n = list_plugins(c->dirs[d], &list);
    for (size_t i = 0; i < n; i++) {
      if (count < 256)
        names[count++] = list[i];
      else
        free(list[i]);
    }
    free(list);
  }
  char known[512] = "";
  for (size_t i = 0; i < count; i++) {
    size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", names[i]);
  }
  const char *near = sb_nearest_name(id, (const char *const *)names, count);
  sb_status status =
      sb_report(diag, SB_ERROR, SB_CODE_PLUGIN_UNKNOWN, where, "no plugin \"%.80s\"%s%s%s; found: %s", id, near ? "; did you mean \"" : "",
                near ? near : "", near ? "\"?" : "", count ? known : "none (see --plugins DIR)");
  for (size_t i = 0; i < count; i++) free(names[i]);
  return status;
}

void sb_catalogue_load_all(sb_catalogue *c, sb_diagnostics *diag)
{
  for (size_t d = 0; d < c->dir_count; d++) {
    char **names;
    size_t n = list_plugins(c->dirs[d], &names);
    for (size_t i = 0; i < n; i++) {
      char path[PATH_MAX + 80];
      const sb_module *module;
      snprintf(path, sizeof path, "%s/%s.so", c->dirs[d], names[i]);
      sb_catalogue_load_file(c, path, &module, diag);
      free(names[i]);
    }
    free(names);
  }
}
