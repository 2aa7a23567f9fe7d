/* The solvers that are linked into this program, found through the same entry as a module's. C library alone. */
#ifndef SAMEBIT_HOST_STATIC_PLUGINS_H
#define SAMEBIT_HOST_STATIC_PLUGINS_H

#include <stddef.h>

#include "samebit/solver.h"

/* Solver number `index`, or NULL past the last. */
const sb_solver_api *sb_static_solver_at(size_t index);
/* The solver of that id, or NULL. */
const sb_solver_api *sb_static_solver(const char *id);

#endif
