/* Finding, judging and loading plugin modules. */
#define _GNU_SOURCE
#include "catalogue.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "install_root.h"

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
    sb_status status = sb_judge_plugin_dir(dirs[i], diag);
    if (status) {
      sb_catalogue_free(c);
      return status;
    }
    ok = add_dir(c, dirs[i]);
  }
  sb_trial_find_program(&c->trial);
  /* bin/samebit looks in plugins/ (build tree) and lib/samebit/ (installed), both beside bin/. */
  char root[PATH_MAX];
  if (sb_install_root(root)) {
    static const char *const places[] = {"plugins", "lib/samebit/plugins"};
    for (size_t i = 0; ok && i < 2; i++) {
      char dir[PATH_MAX + 32];
      snprintf(dir, sizeof dir, "%s/%s", root, places[i]);
      struct stat info;
      if (!stat(dir, &info) && S_ISDIR(info.st_mode)) ok = add_dir(c, dir);
    }
  }
  return ok ? SB_OK : sb_report(diag, SB_ERROR, SB_CODE_MEMORY, "plugins", "no memory");
}

void sb_catalogue_free(sb_catalogue *c)
{
  for (size_t i = c->module_count; i-- > 0;) sb_module_unload(&c->modules[i]);
  for (size_t i = 0; i < c->dir_count; i++) free(c->dirs[i]);
  free(c->modules);
  for (size_t i = 0; i < c->prepared_count; i++) {
    if (c->prepared[i].ready) sb_module_unload(&c->prepared[i].module);
    sb_diagnostics_clear(&c->prepared[i].diag);
  }
  free(c->prepared);
  free(c->trial.program);
  free(c->dirs);
  *c = (sb_catalogue){0};
}

/* ---- judging and loading ---- */

/* What the audit refuses outright. */
static sb_status refuse_file(const sb_module *m, sb_diagnostics *diag)
{
  for (size_t i = 0; i < m->audit.count; i++) {
    const sb_finding *f = &m->audit.findings[i];
    if (sb_audit_rule_limit(f->rule) != SB_AUDIT_REFUSED) continue;
    sb_code code = f->rule == SB_AUDIT_RULE_entry ? SB_CODE_PLUGIN_LOAD : f->rule == SB_AUDIT_RULE_elf ? SB_CODE_PLUGIN_FILE : SB_CODE_PLUGIN_AUDIT;
    return sb_report(diag, SB_ERROR, code, m->path, "%s", f->text);
  }
  return SB_OK;
}

static sb_status check_pin(const sb_module *m, const uint64_t *hash, sb_diagnostics *diag)
{
  if (!hash || *hash == m->file_hash) return SB_OK;
  return sb_report(diag, SB_ERROR, SB_CODE_PLUGIN_HASH, m->path,
                   "the plugin's hash is %016" PRIx64 ", module_hash asks for %016" PRIx64, m->file_hash, *hash);
}

/* Opens a file, and judges and tries it; nothing of it is loaded here. May run on any thread. */
static sb_status judge(const sb_trial_settings *trial, const char *path, const uint64_t *hash, sb_module *m,
                       sb_diagnostics *diag)
{
  sb_status status = sb_sealed_file_open(path, &m->file, diag);
  if (status) return status;
  m->path = m->file.path;
  m->file_hash = m->file.hash;
  status = check_pin(m, hash, diag);
  if (status) return status;
  sb_audit_file(&m->file, &m->audit);
  status = refuse_file(m, diag);
  if (!status && trial->program) status = sb_trial_module(trial, &m->file, &m->audit, &m->trial, diag);
  if (!status && !trial->program) sb_audit_code(&m->file, &m->audit);
  return status;
}

static sb_status load_judged(sb_module *m, sb_diagnostics *diag)
{
  int *library_fds[SB_MAX_LIBRARIES];
  for (size_t i = 0; i < m->audit.library_count; i++) library_fds[i] = &m->audit.libraries[i].fd;
  return sb_module_load(m, &m->file.fd, library_fds, m->audit.library_count, diag);
}

/* What was done ahead for the file of that real path; false when nothing was. */
static bool take_prepared(sb_catalogue *c, const char *real, sb_module *m, sb_status *status, sb_diagnostics *diag)
{
  for (size_t i = 0; i < c->prepared_count; i++) {
    sb_prepared *p = &c->prepared[i];
    if (!p->ready || strcmp(p->module.path, real)) continue;
    p->ready = false;
    *m = p->module;
    *status = p->status;
    for (size_t k = 0; k < p->diag.count; k++)
      sb_report(diag, p->diag.items[k].severity, p->diag.items[k].code, p->diag.items[k].where, "%s",
                p->diag.items[k].message);
    return true;
  }
  return false;
}

sb_status sb_catalogue_load_file(sb_catalogue *c, const char *path, sb_module **module, sb_diagnostics *diag)
{
  return sb_catalogue_load_pinned(c, path, NULL, module, diag);
}

sb_status sb_catalogue_load_pinned(sb_catalogue *c, const char *path, const uint64_t *hash, sb_module **module, sb_diagnostics *diag)
{
  *module = NULL;
  char real[PATH_MAX] = "";
  if (!realpath(path, real)) real[0] = 0;
  for (size_t i = 0; real[0] && i < c->module_count; i++)
    if (!strcmp(c->modules[i].path, real)) {
      *module = &c->modules[i];
      return check_pin(*module, hash, diag);
    }
  /* Room for a fixed number, so that pointers handed out stay valid. */
  enum { MAX_MODULES = 256 };
  if (!c->modules) c->modules = calloc(MAX_MODULES, sizeof *c->modules);
  if (!c->modules) return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, path, "no memory for the plugin");
  if (c->module_count == MAX_MODULES)
    return sb_report(diag, SB_ERROR, SB_CODE_PLUGIN_LOAD, path, "more than %d plugins are loaded", MAX_MODULES);
  sb_module *m = &c->modules[c->module_count];
  *m = (sb_module){0};
  sb_status status;
  if (take_prepared(c, real, m, &status, diag))
    status = status ? status : check_pin(m, hash, diag);
  else
    status = judge(&c->trial, path, hash, m, diag);
  if (!status) status = load_judged(m, diag);
  if (status) {
    sb_module_unload(m);
    return status;
  }
  c->module_count++;
  *module = m;
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

/* The file ID.so in the first directory that has it; false when none has. */
static bool find_file(const sb_catalogue *c, const char *id, char *path, size_t size)
{
  bool good_name = *id && strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(id) && strlen(id) < 64;
  for (size_t d = 0; good_name && d < c->dir_count; d++) {
    struct stat link; /* a link that leads nowhere is an error, not another directory's turn */
    snprintf(path, size, "%s/%s.so", c->dirs[d], id);
    if (!lstat(path, &link)) return true;
  }
  return false;
}

/* ---- several at once ---- */

typedef struct preparation {
  const sb_trial_settings *trial;
  char (*paths)[PATH_MAX + 80];
  const sb_wanted_solver *wanted; /* for each path */
  sb_prepared *prepared;
  size_t count;
  atomic_size_t next;
} preparation;

static void *prepare_some(void *user)
{
  preparation *p = user;
  for (size_t i; (i = atomic_fetch_add(&p->next, 1)) < p->count;) {
    sb_prepared *q = &p->prepared[i];
    q->status = judge(p->trial, p->paths[i], p->wanted[i].hash, &q->module, &q->diag);
    q->ready = q->module.path != NULL;
  }
  return NULL;
}

/* As many workers as there are processors, this thread among them. */
static void run_preparation(preparation *p)
{
  enum { MOST = 16 };
  pthread_t threads[MOST];
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  size_t started = 0;
  while (started < MOST && started + 1 < p->count && (long)started + 1 < processors &&
         !pthread_create(&threads[started], NULL, prepare_some, p))
    started++;
  prepare_some(p);
  for (size_t i = 0; i < started; i++) pthread_join(threads[i], NULL);
}

void sb_catalogue_prepare(sb_catalogue *c, const sb_wanted_solver *wanted, size_t count)
{
  if (!c->trial.program || count < 2 || c->prepared) return;
  preparation p = {
      .trial = &c->trial, .paths = calloc(count, sizeof *p.paths), .prepared = calloc(count, sizeof *p.prepared)};
  sb_wanted_solver *list = calloc(count, sizeof *list);
  for (size_t i = 0; p.paths && p.prepared && list && i < count; i++) {
    bool known = !find_file(c, wanted[i].id, p.paths[p.count], sizeof p.paths[0]);
    for (size_t k = 0; !known && k < p.count; k++) known = !strcmp(p.paths[k], p.paths[p.count]);
    if (!known) list[p.count++] = wanted[i];
  }
  p.wanted = list;
  if (p.count > 1) run_preparation(&p);
  c->prepared = p.prepared;
  c->prepared_count = p.prepared ? p.count : 0;
  free(p.paths);
  free(list);
}

sb_status sb_catalogue_find_solver(sb_catalogue *c, const char *id, const char *where, const uint64_t *hash,
                                   sb_module **module, const sb_solver_api **api, sb_diagnostics *diag)
{
  *module = NULL;
  *api = NULL;
  char path[PATH_MAX + 80];
  if (find_file(c, id, path, sizeof path)) {
    sb_status status = sb_catalogue_load_pinned(c, path, hash, module, diag);
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
      sb_module *module;
      snprintf(path, sizeof path, "%s/%s.so", c->dirs[d], names[i]);
      sb_catalogue_load_file(c, path, &module, diag);
      free(names[i]);
    }
    free(names);
  }
}
