/* What the lane code and the contact code of featherstone share, and the instance. State lives in the host's arrays. */
#ifndef SAMEBIT_FEATHERSTONE_DATA_H
#define SAMEBIT_FEATHERSTONE_DATA_H

#include "articulation.h"

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

/* Force of one contact on body b (body a gets the opposite) in one substep, and its implicit resistance. */
typedef struct fs_contact_force {
  float point[3];  /* m, world */
  float force[3];  /* N, world, on body b */
  float normal[3];
  float resist_n;  /* N s/m along the normal; 0 unless one side is static */
  float resist_t;  /* N s/m across it */
} fs_contact_force;

typedef struct fs_settings {
  uint32_t substeps;
  ab_settings step; /* of one substep */
  float contact_omega, contact_zeta;
} fs_settings;

/* All that a bundle needs during a tick. */
typedef struct fs_tick {
  fs_settings settings;
  const sb_state *state;
  const sb_contacts *contacts;
  const fs_contact_force *forces;  /* one for each contact */
  const uint32_t *body_first;      /* adjacency: contacts of body i are body_contact[body_first[i] ..]; bit 31: body is b */
  const uint32_t *body_contact;
} fs_tick;

typedef struct fs_solver {
  sb_bind bind;
  fs_settings settings;
  ab_forest forest;
  bool *touched;            /* of each bundle: this tick has contacts on it */
  /* scratch of a tick */
  fs_contact_force *forces; /* contact_capacity */
  uint32_t *body_first;     /* body_count + 1 */
  uint32_t *body_contact;   /* 2 * contact_capacity */
  fs_tick tick;
  bool ahead; /* of the parallel loop that places links */
} fs_solver;

/* Forces of all contacts of this substep from the motions in the bundles' work areas. */
void fs_contact_forces(fs_solver *solver);
/* Lists each owned body's contacts in contact order and marks the bundles that have any; returns whether there are any. */
bool fs_list_contacts(fs_solver *solver, const sb_contacts *contacts);

#define FS_LANE_FUNCTIONS(lanes)                                                                                       \
  /* The whole tick of a bundle that no contact touches. */                                                           \
  void fs_bundle_run_lanes##lanes(const fs_tick *tick, const ab_bundle *bundle);                                      \
  /* The parts of a tick of a touched bundle: load state; place the links (ahead: where a substep looks at the forces);\
   * advance one substep; store state. */                                                                              \
  void fs_bundle_load_lanes##lanes(const fs_tick *tick, const ab_bundle *bundle);                                      \
  void fs_bundle_place_lanes##lanes(const fs_tick *tick, const ab_bundle *bundle, bool ahead);                         \
  void fs_bundle_advance_lanes##lanes(const fs_tick *tick, const ab_bundle *bundle);                                  \
  void fs_bundle_store_lanes##lanes(const fs_tick *tick, const ab_bundle *bundle);
FS_LANE_FUNCTIONS(1)
FS_LANE_FUNCTIONS(4)
FS_LANE_FUNCTIONS(8)

#endif
