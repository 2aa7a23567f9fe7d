/* What the lane code and the setup of xpbd share. Derived from the model, or scratch of a tick; state lives in the host's arrays. */
#ifndef SAMEBIT_XPBD_DATA_H
#define SAMEBIT_XPBD_DATA_H

#include <stdbool.h>

#include "samebit/samebit.h"

#define XP_WIDTH 8u /* elements of a bundle, whatever the lanes */
#define XP_NONE UINT32_MAX

/* Kinds of elements, in the order in which a group solves them. Air acts once in a substep. */
enum { XP_AIR, XP_SPRING, XP_TRI, XP_EDGE, XP_TET, XP_KINDS };

/* Bundles of eight elements that share no particle. A place that is left over has the record `nobody` for its particles. */
typedef struct xp_springs {
  uint32_t p[2][XP_WIDTH];
  float rest[XP_WIDTH], stiffness[XP_WIDTH];
} xp_springs;
typedef struct xp_airs {
  uint32_t p[3][XP_WIDTH];
  float drag[XP_WIDTH], lift[XP_WIDTH]; /* times the area */
} xp_airs;
typedef struct xp_tris {
  uint32_t p[3][XP_WIDTH];
  float pose[4][XP_WIDTH], ke[XP_WIDTH], ka[XP_WIDTH], kd[XP_WIDTH]; /* times the area */
} xp_tris;
typedef struct xp_edges {
  uint32_t p[4][XP_WIDTH];
  float rest[XP_WIDTH], ke[XP_WIDTH], kd[XP_WIDTH];
} xp_edges;
typedef struct xp_tets {
  uint32_t p[4][XP_WIDTH];
  float pose[9][XP_WIDTH], mu[XP_WIDTH], lambda[XP_WIDTH], damping[XP_WIDTH]; /* times the volume */
} xp_tets;

/* What one chunk solves: bundles first to end - 1 of each kind, and particles first to end - 1 of a part (none between parts). */
typedef struct xp_group {
  uint32_t first[XP_KINDS], end[XP_KINDS];
  uint32_t first_particle, end_particle;
  uint32_t world;
} xp_group;

typedef struct xp_particles {
  uint32_t count;  /* the record after the last is `nobody`: nothing there weighs or moves */
  const uint32_t *index; /* of each record in the model */
  float *x;        /* 4 each: position when the substep began (m) */
  float *d;        /* 4 each: movement since then (m), 1/kg */
  float *v;        /* 4 each: m/s */
} xp_particles;

typedef struct xp_settings {
  uint32_t substeps, iterations;
  float h, inv_h; /* s, of a substep */
} xp_settings;

typedef struct xp_tick {
  xp_settings settings;
  const sb_model *model;
  const sb_state *state;
  xp_particles particles;
  const xp_springs *springs;
  const float *spring_damping; /* XP_WIDTH for each bundle; NULL when no spring has any */
  const xp_airs *airs;
  const xp_tris *tris;
  const xp_edges *edges;
  const xp_tets *tets;
  /* multipliers, XP_WIDTH times 1, 3, 1, 2 for each bundle; NULL with one iteration */
  float *spring_lambda, *tri_lambda, *edge_lambda, *tet_lambda;
  /* Jacobi: where corrections go instead of to the particles, and each element's share of them (xpbd_jacobi.h); else NULL */
  float *slots;
  const uint64_t *slot_base;
  float *const *share;
  uint32_t iteration;    /* of the substep */
  uint32_t damping;      /* bits 1 << kind of what has damping, in the pass that is for it; else 0 */
  bool velocities_known; /* v holds those at the end of the last substep */
} xp_tick;

#define XP_LANE_FUNCTIONS(lanes)                                                                                       \
  /* Ends the last substep for particles first to end - 1 (unless their velocities are known) and predicts the next. */   \
  void xp_predict_lanes##lanes(const xp_tick *tick, const xp_group *group);                                           \
  /* Velocities at the end of the last substep. */                                                                     \
  void xp_finish_lanes##lanes(const xp_tick *tick, uint32_t first, uint32_t end);                                     \
  /* One pass over all elements of a group. */                                                                         \
  void xp_elements_lanes##lanes(const xp_tick *tick, const xp_group *group);                                          \
  void xp_damping_lanes##lanes(const xp_tick *tick, const xp_group *group);
XP_LANE_FUNCTIONS(1)
XP_LANE_FUNCTIONS(4)
XP_LANE_FUNCTIONS(8)

#endif
