/* A run of a micro-scene for a case: the solver or a stand-in for it, in a simulation of the host. */
#ifndef SAMEBIT_HOST_CASE_RUN_H
#define SAMEBIT_HOST_CASE_RUN_H

#include "case_list.h"
#include "micro_scenes.h"
#include "sim.h"

#define SB_CASE_MAX_PARAMS 64

typedef struct sb_case_run {
  sb_model_store *one, *model;
  sb_sim *sim;
  sb_code code;    /* of the first error; SB_CODE_COUNT for none */
  char text[300];  /* its message */
} sb_case_run;

/* Whether the solver says that it handles the scene. */
bool sb_case_fits(const sb_solver_api *api, const sb_micro_scene *scene);
/* Creates a simulation of the scene ("" for one without bodies); params may be NULL for defaults. False after an error. */
bool sb_case_open(sb_case_run *r, const sb_solver_api *api, const char *scene, const double *params, uint32_t mode);
/* The same; with `bounce`, every shape has a restitution of 0.5. */
bool sb_case_open_with(sb_case_run *r, const sb_solver_api *api, const char *scene, bool bounce, const double *params, uint32_t mode);
bool sb_case_step(sb_case_run *r, uint32_t ticks);
void sb_case_close(sb_case_run *r);

#endif
