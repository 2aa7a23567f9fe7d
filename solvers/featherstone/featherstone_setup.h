/* The instance of the featherstone solver and its setup from a model. */
#ifndef SAMEBIT_FEATHERSTONE_SETUP_H
#define SAMEBIT_FEATHERSTONE_SETUP_H

#include "featherstone_bundle.h"

/* Order of the parameter table. */
enum {
  FS_PARAM_SUBSTEPS,
  FS_PARAM_CONTACT_FREQUENCY,
  FS_PARAM_CONTACT_DAMPING,
  FS_PARAM_LIMIT_FREQUENCY,
  FS_PARAM_LIMIT_DAMPING,
  FS_PARAM_INTEGRATOR,
  FS_PARAM_COUNT
};

typedef struct fs_solver {
  sb_bind bind;
  fs_settings settings;
  fs_bundle *bundles;
  uint32_t bundle_count;
  fs_body_place *place;     /* of each body of the model */
  float *contact_origin;    /* body origin from the link's reference point, body axes, 3 per body */
  /* scratch of a tick */
  fs_contact_force *forces; /* contact_capacity */
  uint32_t *body_first;     /* body_count + 1 */
  uint32_t *body_contact;   /* 2 * contact_capacity */
  fs_tick tick;
  bool ahead; /* of the parallel loop that places links */
} fs_solver;

/* Groups the owned articulations into bundles of `bind->lanes` and derives their constants. */
sb_status fs_setup_bundles(fs_solver *solver, char *error, uint32_t error_size);

/* Forces of all contacts of this substep from the motions in the bundles' work areas. */
void fs_contact_forces(fs_solver *solver);
/* Lists each owned body's contacts in contact order and marks the bundles that have any. */
uint32_t fs_list_contacts(fs_solver *solver, const sb_contacts *contacts);

#endif
