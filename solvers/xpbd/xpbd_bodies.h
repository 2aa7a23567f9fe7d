/* Rigid bodies of an instance: records, joints, contacts. Scratch of a tick and constants; state lives in the host's arrays. */
#ifndef SAMEBIT_XPBD_BODIES_H
#define SAMEBIT_XPBD_BODIES_H

#include "xpbd_colors.h"
#include "samebit/solver.h"

/* A body during a tick. Own bodies come first, then everybody else's that move, then `nobody`, which stands for the world. Movement is counted from the tick's
 * start, so that far from the origin a substep's small steps are not rounded away. */
typedef struct xp_body {
  float base[3], turn[4];            /* centre of mass (m) and orientation when the tick began */
  float x[3], q[4], v[3], w[3];      /* movement and turn since then; m/s, rad/s */
  float m[6], i[6];                  /* answers to force and torque, world axes; 0 for what this instance does not move */
  float x0[3], q0[4], v0[3], w0[3];  /* when the substep began */
  float vp[3], wp[3];                /* as predicted, before constraints */
  float com[3];                      /* in the body's frame */
} xp_body;

/* Multipliers of a contact: that along the normal begins with what it was in the last substep. */
typedef struct xp_touch_state {
  float normal, slide[3];
} xp_touch_state;

/* Contacts of one pair of shapes, which follow one another. */
typedef struct xp_manifold {
  uint32_t first, count;
} xp_manifold;

typedef struct xp_dof_state {
  float drive, spring, friction;
} xp_dof_state;

typedef struct xp_bodies {
  const sb_bind *bind;
  float h, inv_h, threshold, push;  /* s, 1/s, m/s, m/s */
  uint32_t substeps, iteration;
  uint32_t own, moving, nobody; /* records: own bodies, own and others', the world */
  uint32_t *record;           /* of each model body; nobody for static ones */
  uint32_t *body;             /* model body of each record */
  xp_body *bodies;
  float *inertia, *inv_inertia; /* 6 per own record, body axes, with armature */
  float *slowness;            /* 6 per own record: (mass + armature of slides)^-1, body axes */
  /* joints: of own bodies but the free ones */
  uint32_t joint_count, *joints; /* child bodies */
  uint32_t (*joint_pair)[2];
  xp_colors joint_colors;
  xp_dof_state *dofs;         /* per model dof */
  /* contacts of the tick */
  const sb_contacts *contacts;
  uint32_t manifold_count;
  xp_manifold *manifolds;
  uint32_t (*manifold_pair)[2];
  xp_colors contact_colors;
  xp_touch_state *touch;      /* per contact */
  float *kept_normal;         /* registered: multiplier of each contact at the tick's end, kg m */
  /* of the parallel loop */
  const float *before;        /* body_q when the tick began */
  uint32_t first, end, pass, substep;
} xp_bodies;

sb_status xp_bodies_bind(xp_bodies *bodies, const sb_bind *bind, char *error, uint32_t error_size);
/* Takes the tick's contacts: manifolds, their colours, multipliers that they begin with. */
void xp_bodies_meet(xp_bodies *bodies, const sb_step *step);
/* The same, and the bodies' state. */
void xp_bodies_begin(xp_bodies *bodies, const sb_step *step);
/* Moves others' bodies to where substep number `substep` has them. */
void xp_bodies_obstacles(xp_bodies *bodies, uint32_t substep);
/* Starts that substep: predicts own bodies, moves obstacles. */
void xp_bodies_predict(xp_bodies *bodies, uint32_t substep);
/* One iteration over joints, and over contacts. */
void xp_bodies_joints(xp_bodies *bodies, uint32_t iteration);
void xp_bodies_contacts(xp_bodies *bodies, uint32_t iteration);
/* Ends the substep: bounces, rolling friction, joint coordinates. */
void xp_bodies_velocities(xp_bodies *bodies);
/* Multipliers to the registered array. */
void xp_bodies_keep(xp_bodies *bodies);
/* State and multipliers. */
void xp_bodies_finish(xp_bodies *bodies);

#endif
