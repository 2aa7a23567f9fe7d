/* A plugin module: its judged file, and what it gives once it is loaded. */
#ifndef SAMEBIT_HOST_MODULE_H
#define SAMEBIT_HOST_MODULE_H

#include "trial.h"
#include "samebit/samebit.h"

typedef struct sb_module {
  const char *path;       /* without symbolic links; owned by `file` */
  sb_sealed_file file;
  sb_audit audit;
  sb_trial trial;         /* what a process of its own has shown; not run without a program for trials */
  void *handle;
  void *library_handles[SB_MAX_LIBRARIES]; /* loaded before it, from their own sealed copies */
  const sb_plugin_entry *entry;
  const sb_solver_factory *solvers; /* NULL when it has none */
  uint64_t file_hash;               /* XXH3-64 of the file */
} sb_module;

/* Loads the sealed copy in *fd (which may move to another number) after those of its libraries, and judges what it exports. The
 * descriptors must stay open until the module is unloaded. */
sb_status sb_module_load(sb_module *module, int *fd, int *const *library_fds, size_t library_count, sb_diagnostics *diag);
/* The first half of it: loads, and finds the entry, which may be wrong. `fault` tells what loading did to the floating-point environment (which is
 * put back); "" for nothing. */
sb_status sb_module_load_files(sb_module *module, int *fd, int *const *library_fds, size_t library_count, char *fault, size_t fault_size,
                               sb_diagnostics *diag);
void sb_module_unload(sb_module *module);

/* Compares an entry with this host: NULL when it fits, else what does not, with both versions, in `text`. */
const char *sb_entry_fault(const sb_plugin_entry *entry, char *text, size_t size);

/* "Off", "Local", "RunToRun", "CrossPlatform"; "?" for another number. */
const char *sb_mode_name(uint32_t mode);
extern const char *const sb_mode_names[]; /* NULL-ended, in order */
const char *sb_backend_name(uint32_t backend);
extern const char *const sb_backend_names[];

#endif
