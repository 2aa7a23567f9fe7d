/* Bundles: up to SB_LANES articulations of one topology, side by side. What the lane code and the setup code share.
 *
 * Everything here is scratch or derived from the model; state lives in the host's arrays. A lane-blocked record holds field f
 * of lane l at float f * lanes + l. */
#ifndef SAMEBIT_FEATHERSTONE_BUNDLE_H
#define SAMEBIT_FEATHERSTONE_BUNDLE_H

#include <stdbool.h>

#include "samebit/samebit.h"

/* A link carries one dof (ANGULAR, LINEAR), none (FIXED), three (BALL) or six (FREE). A joint with n axes is n links in a
 * row, of which the last carries the body. */
typedef enum fs_kind { FS_FIXED, FS_ANGULAR, FS_LINEAR, FS_BALL, FS_FREE } fs_kind;

typedef struct fs_link {
  uint8_t kind;    /* fs_kind */
  bool has_body;
  int32_t parent;  /* link, or -1 for the world */
} fs_link;

typedef struct fs_bundle {
  const fs_link *links;   /* shared by all bundles of the topology */
  uint32_t link_count;
  uint32_t used;          /* lanes that stand for an articulation; the others repeat the first and are never stored */
  const float *constants; /* link_count records of FS_CONSTANT_FLOATS, lane-blocked; shared where equal */
  const float *gravity;   /* 3, lane-blocked */
  const uint32_t *coord;  /* [link * lanes + lane]: first coordinate in joint_q */
  const uint32_t *dof;    /* likewise in joint_qd */
  const uint32_t *body;   /* likewise the body; UINT32_MAX for none */
  float *work;            /* link_count work records, for bundles with contacts or many links */
  bool touched;           /* this tick has contacts on it */
} fs_bundle;

/* Where a contact finds the motion of a body: FsMotion at motion[field * stride]. */
typedef struct fs_body_place {
  uint32_t bundle; /* UINT32_MAX: not owned */
  uint32_t link;
  uint32_t lane;
} fs_body_place;

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
  bool midpoint; /* second order; Euler otherwise */
  float dt; /* s, of one substep */
  float contact_omega, contact_zeta;
  float limit_omega, limit_zeta;
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

/* Floats of a constant record (FsConstant) and of a work record (FsWork) for one lane. */
#define FS_CONSTANT_FLOATS 39u
#define FS_WORK_FLOATS 138u
/* Links that fit the work area on the stack; larger articulations use the bundle's own. */
#define FS_STACK_LINKS 16u

#define FS_LANE_FUNCTIONS(lanes)                                                                                       \
  /* The whole tick of a bundle that no contact touches. */                                                           \
  void fs_bundle_run_lanes##lanes(const fs_tick *tick, const fs_bundle *bundle);                                      \
  /* The parts of a tick of a touched bundle: load state; place the links (ahead: where a substep looks at the forces);\
   * advance one substep; store state. */                                                                              \
  void fs_bundle_load_lanes##lanes(const fs_tick *tick, const fs_bundle *bundle);                                      \
  void fs_bundle_place_lanes##lanes(const fs_tick *tick, const fs_bundle *bundle, bool ahead);                         \
  void fs_bundle_advance_lanes##lanes(const fs_tick *tick, const fs_bundle *bundle);                                  \
  void fs_bundle_store_lanes##lanes(const fs_tick *tick, const fs_bundle *bundle);
FS_LANE_FUNCTIONS(1)
FS_LANE_FUNCTIONS(4)
FS_LANE_FUNCTIONS(8)

#endif
