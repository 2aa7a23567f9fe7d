/* The plugin catalogue: finds, judges and loads plugins. Code of a module runs only after its file has been judged. */
#ifndef SAMEBIT_HOST_CATALOGUE_H
#define SAMEBIT_HOST_CATALOGUE_H

#include "diagnostic.h"
#include "samebit/samebit.h"

/* A loaded module. */
typedef struct sb_module {
  char *path;
  void *handle;
  const sb_plugin_entry *entry;
  const sb_solver_factory *solvers; /* NULL when it has none */
  uint64_t file_hash;               /* XXH3-64 of the file */
  bool changed_fp_env;              /* loading it changed the floating-point environment (which was put back) */
} sb_module;

typedef struct sb_catalogue {
  char **dirs;
  size_t dir_count;
  sb_module *modules;
  size_t module_count;
} sb_catalogue;

/* Directories are searched in this order: those given, then the build's or installation's own. */
sb_status sb_catalogue_init(sb_catalogue *catalogue, const char *const *dirs, size_t dir_count, sb_diagnostics *diag);
void sb_catalogue_free(sb_catalogue *catalogue);

/* Loads one file: judged, opened, versions compared, negotiated. *module stays valid until the catalogue is freed. */
sb_status sb_catalogue_load_file(sb_catalogue *catalogue, const char *path, const sb_module **module, sb_diagnostics *diag);
/* The solver of that id, from the first directory that has ID.so. On failure names the nearest known id; `where` is the
 * INI place that asked. */
sb_status sb_catalogue_find_solver(sb_catalogue *catalogue, const char *id, const char *where, const sb_module **module,
                                   const sb_solver_api **api, sb_diagnostics *diag);
/* Loads every plugin of every directory; modules are then sorted by path within each directory. Broken ones are reported. */
void sb_catalogue_load_all(sb_catalogue *catalogue, sb_diagnostics *diag);

/* Compares an entry with this host: NULL when it fits, else what does not, with both versions, in `text`. */
const char *sb_entry_fault(const sb_plugin_entry *entry, char *text, size_t size);

/* "Off", "Local", "RunToRun", "CrossPlatform"; "?" for another number. */
const char *sb_mode_name(uint32_t mode);
extern const char *const sb_mode_names[]; /* NULL-ended, in order */
const char *sb_backend_name(uint32_t backend);
extern const char *const sb_backend_names[];

#endif
