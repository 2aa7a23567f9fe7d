/* A plugin module: loads its sealed copy, reads the entry, negotiates, judges the descriptors. Knows the loader and nothing of
 * files. */
#define _GNU_SOURCE
#include "module.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fp_env.h"

const char *const sb_mode_names[] = {"Off", "Local", "RunToRun", "CrossPlatform", NULL};
const char *const sb_backend_names[] = {"cpu", "vulkan", NULL};
const char *sb_mode_name(uint32_t mode) { return mode < SB_MODE_COUNT ? sb_mode_names[mode] : "?"; }
const char *sb_backend_name(uint32_t backend) { return backend < SB_BACKEND_COUNT ? sb_backend_names[backend] : "?"; }

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
    static const char *const taken[] = {"plugin", "bodies", "backend", "mode", "module_hash"};
    for (size_t k = 0; k < sizeof taken / sizeof taken[0]; k++)
      if (!strcmp(p->name, taken[k])) return "a parameter has the name of a key that the host keeps: plugin, bodies, backend, mode or module_hash";
  }
  for (uint32_t i = 0; i < d->golden_count; i++)
    if (!d->goldens[i].scene || d->goldens[i].backend >= SB_BACKEND_COUNT) return "a golden hash lacks its scene or backend";
  return NULL;
}

/* ---- loading ---- */

/* Loads sealed memory. The loader knows files by name, so a name of before must not come again: the descriptor moves on until its
 * name is new. */
static void *load_sealed(int *fd)
{
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", *fd);
  for (void *taken; (taken = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD));) {
    dlclose(taken);
    int next = fcntl(*fd, F_DUPFD_CLOEXEC, *fd + 1);
    if (next < 0) return NULL;
    close(*fd);
    *fd = next;
    snprintf(path, sizeof path, "/proc/self/fd/%d", *fd);
  }
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

sb_status sb_module_load_files(sb_module *m, int *fd, int *const *library_fds, size_t library_count, char *fault, size_t fault_size,
                               sb_diagnostics *diag)
{
  sb_fp_env saved = sb_fp_env_enter();
  bool ok = true;
  fault[0] = 0;
  for (size_t i = 0; ok && i < library_count; i++) {
    m->library_handles[i] = load_sealed(library_fds[i]);
    ok = m->library_handles[i] != NULL;
  }
  if (ok) m->handle = load_sealed(fd);
  const char *why = m->handle ? NULL : dlerror();
  if (!sb_fp_env_is_standard()) snprintf(fault, fault_size, "%s", sb_fp_env_fault());
  sb_fp_env_leave(saved);
  if (!m->handle) return sb_report(diag, SB_ERROR, SB_CODE_PLUGIN_LOAD, m->path, "cannot load the plugin: %s", why ? why : "no reason given");
  m->entry = dlsym(m->handle, SB_PLUGIN_SYMBOL);
  if (!m->entry)
    return sb_report(diag, SB_ERROR, SB_CODE_PLUGIN_LOAD, m->path, "it does not export \"%s\": is it a Samebit plugin?", SB_PLUGIN_SYMBOL);
  return SB_OK;
}

static sb_status read_entry(sb_module *m, sb_diagnostics *diag)
{
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
  if (!sb_fp_env_is_standard()) {
    sb_fp_env_enter();
    return sb_report(diag, SB_ERROR, SB_CODE_MODE_FP_ENVIRONMENT, m->path, "its negotiate or get_factory changed the floating-point environment");
  }
  if (!m->solvers) return SB_OK;
  const char *fault = m->solvers->struct_size != sizeof *m->solvers ? "its solver factory has another size" : NULL;
  if (!fault && m->solvers->solver_count && !m->solvers->solvers) fault = "its solver list is NULL";
  for (uint32_t i = 0; !fault && i < m->solvers->solver_count; i++) fault = descriptor_fault(m->solvers->solvers[i]);
  if (fault) return sb_report(diag, SB_ERROR, SB_CODE_ABI_DESCRIPTOR, m->path, "%s", fault);
  return SB_OK;
}


sb_status sb_module_load(sb_module *m, int *fd, int *const *library_fds, size_t library_count, sb_diagnostics *diag)
{
  char fault[64];
  sb_status status = sb_module_load_files(m, fd, library_fds, library_count, fault, sizeof fault, diag);
  if (!status && *fault)
    status = sb_report(diag, SB_ERROR, SB_CODE_MODE_FP_ENVIRONMENT, m->path,
                       "loading it changed the floating-point environment (%s) of the whole program; remove the constructor that does it "
                       "(-ffast-math links one)",
                       fault);
  if (status) return status;
  sb_fp_env saved = sb_fp_env_enter();
  status = read_entry(m, diag);
  sb_fp_env_leave(saved);
  return status;
}

void sb_module_unload(sb_module *m)
{
  if (m->handle) dlclose(m->handle);
  for (size_t i = SB_MAX_LIBRARIES; i-- > 0;)
    if (m->library_handles[i]) dlclose(m->library_handles[i]);
  sb_audit_clear(&m->audit);
  sb_sealed_file_close(&m->file);
  *m = (sb_module){.file.fd = -1};
}
