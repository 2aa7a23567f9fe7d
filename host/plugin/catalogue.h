/* The plugin catalogue: finds, judges and loads plugins. Code of a module runs only after its file has been judged. */
#ifndef SAMEBIT_HOST_CATALOGUE_H
#define SAMEBIT_HOST_CATALOGUE_H

#include "module.h"

/* A file that was judged and tried ahead of its turn. */
typedef struct sb_prepared {
  sb_module module; /* file, audit and trial; not loaded */
  sb_status status;
  sb_diagnostics diag;
  bool ready; /* else nothing was done, or it was taken */
} sb_prepared;

typedef struct sb_catalogue {
  char **dirs;
  size_t dir_count;
  sb_module *modules;
  size_t module_count;
  sb_prepared *prepared;
  size_t prepared_count;
  sb_trial_settings trial; /* the program is found by init; the rest is the caller's to set */
} sb_catalogue;

/* Directories are searched in this order: those given, then the build's or installation's own. */
sb_status sb_catalogue_init(sb_catalogue *catalogue, const char *const *dirs, size_t dir_count, sb_diagnostics *diag);
void sb_catalogue_free(sb_catalogue *catalogue);

/* Loads one file: judged, opened, versions compared, negotiated. *module stays valid until the catalogue is freed. */
sb_status sb_catalogue_load_file(sb_catalogue *catalogue, const char *path, sb_module **module, sb_diagnostics *diag);
/* The same for a file that must have this hash (NULL: any); its code does not run when it has another. */
sb_status sb_catalogue_load_pinned(sb_catalogue *catalogue, const char *path, const uint64_t *hash, sb_module **module,
                                   sb_diagnostics *diag);
/* A solver that will be asked for, and the hash that its file must have, NULL for any. */
typedef struct sb_wanted_solver {
  const char *id;
  const uint64_t *hash;
} sb_wanted_solver;
/* Judges and tries the files of solvers side by side, as many at once as there are processors. Nothing is loaded or
 * reported: that comes when each is asked for. Without a program for trials, or with one file, there is nothing to
 * gain, and nothing happens. */
void sb_catalogue_prepare(sb_catalogue *catalogue, const sb_wanted_solver *wanted, size_t count);
/* The solver of that id, from the first directory that has ID.so. On failure names the nearest known id; `where` is the
 * INI place that asked; `hash` (or NULL) is what the file must have. */
sb_status sb_catalogue_find_solver(sb_catalogue *catalogue, const char *id, const char *where, const uint64_t *hash,
                                   sb_module **module, const sb_solver_api **api, sb_diagnostics *diag);
/* Loads every plugin of every directory; modules are then sorted by path within each directory. Broken ones are reported. */
void sb_catalogue_load_all(sb_catalogue *catalogue, sb_diagnostics *diag);

#endif
