/* An independent reference in binary64: kinematics by the definition in samebit/model.h, energy, momentum, joint accelerations.
 * Knows the model and the C library; shares no code with the solvers. */
#ifndef SAMEBIT_PHYSICS_REFERENCE_H
#define SAMEBIT_PHYSICS_REFERENCE_H

#include "physics_math.h"
#include "samebit/model.h"
#include "samebit/state.h"

#define REFERENCE_BODIES 32
#define REFERENCE_DOFS 64

/* A body's pose, and its velocity at the body origin. */
typedef struct reference_body {
  dv p;
  dq q;
  dv v, w;
  dv com;   /* centre of mass, m, world */
  dv v_com; /* its velocity, m/s */
} reference_body;

/* Poses and velocities of all bodies from joint coordinates (one world). */
void reference_kinematics(const sb_model *m, const double *joint_q, const double *joint_qd, reference_body *out);
/* The same from the state's own body arrays. */
void reference_from_bodies(const sb_model *m, const float *body_q, const float *body_qd, reference_body *out);

/* Kinetic energy of the bodies and of the armatures; gravity's potential and the joint springs'. J. */
double reference_kinetic(const sb_model *m, const reference_body *b, const float *joint_qd);
double reference_potential(const sb_model *m, const reference_body *b, const float *joint_q);
double reference_energy(const sb_model *m, const sb_state *s);
/* Linear momentum, and angular momentum about `about`. */
dv reference_momentum(const sb_model *m, const reference_body *b);
dv reference_angular_momentum(const sb_model *m, const reference_body *b, dv about);
dv reference_centre(const sb_model *m, const reference_body *b);

/* Accelerations of all dofs under gravity and dof forces `force`: solves M qdd = force - bias, M = sum of J^T (m, I) J with the
 * Jacobian taken column by column from the velocity map, and the bias accelerations as central differences of the velocities along
 * the motion with qdd = 0. */
void reference_accelerations(const sb_model *m, const double *joint_q, const double *joint_qd, const double *force, double *qdd);

#endif
