/* What the lane code and the setup of semi_implicit share. Everything here is derived from the model or scratch of a tick;
 * state lives in the host's arrays. */
#ifndef SAMEBIT_SEMI_IMPLICIT_DATA_H
#define SAMEBIT_SEMI_IMPLICIT_DATA_H

#include <stdbool.h>

#include "samebit/samebit.h"

/* Joints of one kind (type and dof kinds), which the lane code takes SB_LANES at a time. FREE joints are not listed. */
typedef struct si_joint_group {
  uint32_t type; /* SB_JOINT_* */
  uint32_t dof_count;
  uint8_t dof_kind[6];
  uint32_t count;
  const uint32_t *bodies; /* children, ascending */
} si_joint_group;

/* What a joint or a contact does to its two bodies: force (N), then torque about the centre of mass (N m), world axes. Of a
 * joint, a is the parent and b the child. */
typedef struct si_wrench_pair {
  float b[6];
  float a[6];
} si_wrench_pair;

#define SI_MOST_SUBSTEPS 1024 /* in a tick */

typedef struct si_settings {
  uint32_t substeps;
  float dt; /* s, of one substep */
  float joint_omega, joint_zeta;
  float contact_omega, contact_zeta;
  float limit_omega, limit_zeta;
} si_settings;

typedef struct si_tick {
  si_settings settings;
  const sb_model *model;
  const sb_state *state;
  const sb_contacts *contacts;
  const float *inertia;       /* 6 per body, with armature */
  const float *inv_inertia;   /* likewise */
  const float *inv_mass;      /* 1 per body; 0 for bodies that this instance does not move */
  const float *slowness;      /* 6 per body, body axes: (1 + armature of slides / mass)^-1; NULL when no slide has any */
  const float *share;         /* per body: how many forces act on it */
  si_wrench_pair *joints;     /* per body: of its own joint */
  si_wrench_pair *forces;     /* per contact */
  const uint32_t *child_first, *child;           /* adjacency: bodies jointed to each body */
  const uint32_t *contact_first, *body_contact;  /* adjacency: contacts of each body; bit 31: the body is b */
  const uint32_t *moved;      /* bodies that this instance moves, ascending */
  uint32_t moved_count;
  const struct si_particles *particles; /* NULL when there are none */
#ifdef SAMEBIT_MUTANT_TASK_ORDER_SUM
  const float *arrived;
#endif
} si_tick;

/* Joints and bodies in one chunk of a parallel loop. A multiple of 8. */
#define SI_CHUNK 32u

#define SI_LANE_FUNCTIONS(lanes)                                                                                       \
  /* Forces of joints first to end - 1 of a group; with measure, only joint_q and joint_qd. */                        \
  void si_joints_lanes##lanes(const si_tick *tick, const si_joint_group *group, uint32_t first, uint32_t end,         \
                              bool measure);                                                                           \
  void si_contacts_lanes##lanes(const si_tick *tick, uint32_t first, uint32_t end);                                   \
  /* One substep of moved bodies first to end - 1. */                                                                  \
  void si_bodies_lanes##lanes(const si_tick *tick, uint32_t first, uint32_t end);
SI_LANE_FUNCTIONS(1)
SI_LANE_FUNCTIONS(4)
SI_LANE_FUNCTIONS(8)

#endif
