/* Statics of particles in binary64, independent of the solvers: forces of springs and membranes from the model's arrays, relaxed until they balance. */
#ifndef SAMEBIT_PARTICLE_REFERENCE_H
#define SAMEBIT_PARTICLE_REFERENCE_H

#include "samebit/model.h"

/* Force on each particle (3 each) at positions x under gravity, springs and triangles of St. Venant-Kirchhoff. */
void reference_particle_forces(const sb_model *model, const double *x, double *force);
/* Moves x, which holds a first guess, to where the forces on all that is not pinned are below `rest` (N); the number of steps it took, at most `steps`. */
int reference_particle_statics(const sb_model *model, double *x, double rest, int steps);

#endif
