/* Articulations in reduced coordinates: what solvers that use them share. Bundles hold up to SB_LANES articulations of one topology,
 * side by side; articulation_setup.c makes them from a model, articulation_pass.h moves them.
 *
 * Everything here is scratch or derived from the model; state lives in the host's arrays. A lane-blocked record holds field f
 * of lane l at float f * lanes + l. */
#ifndef SAMEBIT_ARTICULATION_BUNDLE_H
#define SAMEBIT_ARTICULATION_BUNDLE_H

#include <stdbool.h>

#include "samebit/samebit.h"

/* A link carries one dof (ANGULAR, LINEAR), none (FIXED), three (BALL) or six (FREE). A joint with n axes is n links in a
 * row, of which the last carries the body. */
typedef enum ab_kind { AB_FIXED, AB_ANGULAR, AB_LINEAR, AB_BALL, AB_FREE } ab_kind;

typedef struct ab_link {
  uint8_t kind;    /* ab_kind */
  bool has_body;
  int32_t parent;  /* link, or -1 for the world */
  uint32_t slot;   /* its first dof among those of the articulation, in link order */
} ab_link;

typedef struct ab_bundle {
  const ab_link *links;   /* shared by all bundles of the topology */
  uint32_t link_count;
  uint32_t used;          /* lanes that stand for an articulation; the others repeat the first and are never stored */
  const float *constants; /* link_count records of AB_CONSTANT_FLOATS, lane-blocked; shared where equal */
  const float *gravity;   /* 3, lane-blocked */
  const uint32_t *coord;  /* [link * lanes + lane]: first coordinate in joint_q */
  const uint32_t *dof;    /* likewise in joint_qd */
  const uint32_t *body;   /* likewise the body; UINT32_MAX for none */
  float *work;            /* link_count records of AB_WORK_FLOATS, lane-blocked */
  uint32_t dof_count;     /* of one articulation */
} ab_bundle;

/* Where the link that carries a body is. */
typedef struct ab_body_place {
  uint32_t bundle; /* UINT32_MAX: in no articulation */
  uint32_t link;
  uint32_t lane;
} ab_body_place;

/* All articulations of an instance. */
typedef struct ab_forest {
  ab_bundle *bundles;
  uint32_t bundle_count;
  ab_body_place *place; /* of each body of the model */
  float *origin;        /* body origin from the link's reference point, body axes, 3 per body of the model */
} ab_forest;

typedef struct ab_settings {
  float dt;      /* s, of one step */
  bool midpoint; /* second order; Euler otherwise */
  float limit_omega, limit_zeta; /* of joint limits as springs */
} ab_settings;

/* Floats of a constant record (AbConstant) and of a work record (AbWork) for one lane. */
#define AB_CONSTANT_FLOATS 39u
#define AB_WORK_FLOATS 160u

/* Who asks, and for what. */
typedef struct ab_request {
  const sb_bind *bind;
  const uint32_t *bodies; /* ascending; whole articulations only */
  uint32_t body_count;
  bool hard;              /* limits, dry friction and top speed are the solver's own affair: the joint law leaves them out */
  const char *solver;     /* for messages */
} ab_request;

/* Groups the articulations of the bodies into bundles of bind->lanes and derives their constants. Memory comes from the host.
 * SB_E_UNSUPPORTED or SB_E_MEMORY, with the reason in error. */
sb_status ab_setup(ab_forest *forest, const ab_request *request, char *error, uint32_t error_size);

#endif
