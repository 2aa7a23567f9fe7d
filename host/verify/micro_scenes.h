/* Micro-scenes: tiny models on which solvers and the collision pipeline are checked before a run, and of which plugins declare golden hashes. C library alone.
 *
 * Their content is part of the golden hashes: changing one is a change of numerics. */
#ifndef SAMEBIT_HOST_MICRO_SCENES_H
#define SAMEBIT_HOST_MICRO_SCENES_H

#include "model_store.h"
#include "samebit/solver.h"

struct sb_device; /* of device.h */

typedef struct sb_micro_scene {
  const char *name;
  const char *text;
  uint32_t handles; /* SB_HANDLES_* that a solver needs to run it */
  uint32_t ticks;
} sb_micro_scene;

extern const sb_micro_scene sb_micro_scenes[];
extern const size_t sb_micro_scene_count;

/* The model of one scene, one world; NULL when memory runs out or the name is not known. */
sb_model_store *sb_micro_scene_model(const char *name);
/* The same, and behind it what meets none of the others: free bodies for a solver that handles rigid ones, particles
 * where the scene has some. NULL when that gives nothing to add. */
sb_model_store *sb_micro_scene_model_with_more(const sb_micro_scene *scene, const sb_solver_api *api);

/* State hash of the scene after its ticks (dt 1/240) under a solver with default parameters. SB_E_UNSUPPORTED when the solver
 * refuses it. */
sb_status sb_micro_scene_hash(const sb_micro_scene *scene, const sb_solver_api *api, uint32_t backend, uint32_t threads,
                              uint32_t lanes, uint64_t shuffle, uint64_t *hash, sb_diagnostics *diag);
/* The same on a device, on the backend vulkan; mode: SB_MODE_*, by which shaders are judged. */
sb_status sb_micro_scene_hash_on(const sb_micro_scene *scene, const sb_solver_api *api, const struct sb_device *device, uint32_t mode,
                                 uint64_t *hash, sb_diagnostics *diag);
/* Hash of the contacts that the collision pipeline alone makes of the scenes "drop", "curtain" and "jelly". */
sb_status sb_micro_scene_contacts(uint32_t lanes, uint32_t threads, uint64_t shuffle, uint64_t *hash, sb_diagnostics *diag);
/* The same on a device; SB_E_UNSUPPORTED where the pipeline does not run there. */
sb_status sb_micro_scene_contacts_on(const struct sb_device *device, uint64_t *hash, sb_diagnostics *diag);
/* Hash of the sensors of the scene "sense", where no solver moves anything. */
sb_status sb_micro_scene_sensors(uint32_t lanes, uint32_t threads, uint64_t shuffle, uint64_t *hash, sb_diagnostics *diag);

#endif
