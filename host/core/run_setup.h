/* A simulation's configuration as text, beside the cooked model: what another build of Samebit needs to run the same simulation. The
 * core program reads it on every cross target. C library alone.
 *
 *   samebit-setup 1
 *   model scene.sbm 0123456789abcdef   file beside the setup, hash of its bytes
 *   worlds 16 0                        copies, key of the first
 *   dt 1 240                           s, a fraction
 *   seed 42
 *   mode 3                             granted: SB_MODE_*
 *   coupling 2                         SB_COUPLING_*
 *   margin 3c23d70a                    m, speculative; bits of a binary32
 *   capacities 0 0 0 0                 contacts, pairs, particle contacts, near pairs; 0 from the scene
 *   ccd 2 0-3 7-7                      ranges of bodies
 *   part robot steel 0.1.0 3           name, solver, version, mode
 *   params 2 3ff0000000000000 ...      bits of binary64, in the order of the solver's table
 *   bodies 1 0-12                      ranges
 *   particles 0                        ranges
 *   end */
#ifndef SAMEBIT_HOST_RUN_SETUP_H
#define SAMEBIT_HOST_RUN_SETUP_H

#include <stdio.h>

#include "sim.h"

/* model_file: the name of the cooked model beside the setup; one: what it was cooked from. */
void sb_setup_write(FILE *file, const sb_sim_config *config, const sb_model_store *one, const char *model_file);

typedef struct sb_setup {
  sb_model_store *one, *model;
  sb_sim_config config; /* threads, lanes, shuffle and broad phase are left to the caller */
  sb_sim_part *parts;
  uint32_t *ccd_bodies;
} sb_setup;

/* Reads a setup and its model. find: the solver of an id, or NULL. SB_E_CONFIG with one diagnostic for what does not fit. */
sb_status sb_setup_read(const char *path, const sb_solver_api *(*find)(const char *id), sb_setup *out, sb_diagnostics *diag);
void sb_setup_free(sb_setup *setup);

#endif
