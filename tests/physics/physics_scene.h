/* Scenes for the physics tests: a model built in place, one of the solvers linked statically, and bounds that print
 * what was measured. Knows the host's core and scene layer. */
#ifndef SAMEBIT_PHYSICS_SCENE_H
#define SAMEBIT_PHYSICS_SCENE_H

#include "model_builder.h"
#include "physics_reference.h"
#include "scene.h"
#include "sim.h"

/* Loops go up to PHYSICS_SOLVERS, to PHYSICS_SOFT_SOLVERS: the two with soft contact, or to PHYSICS_ALL_SOLVERS, with xpbd. */
typedef enum physics_solver {
  FEATHERSTONE,
  SEMI_IMPLICIT,
  STEEL,
  XPBD,
  PHYSICS_ALL_SOLVERS,
  PHYSICS_SOFT_SOLVERS = STEEL,
  PHYSICS_SOLVERS = XPBD
} physics_solver;
const sb_solver_desc *physics_desc(physics_solver solver);

/* A parameter of the solver that is not at its default. */
typedef struct physics_param {
  const char *name;
  double value;
} physics_param;
#define PHYSICS_NO_PARAMS NULL, 0

typedef struct physics {
  physics_solver solver;
  sb_model_store *one, *store;
  sb_sim *sim;
  const sb_model *m;
  sb_state *s;
  double dt; /* as the simulation has it, s */
} physics;

/* Lanes that later runs use; 0: the widest. */
void physics_set_lanes(uint32_t lanes);
/* Threads that later runs use; 1 at first. */
void physics_set_threads(uint32_t threads);

/* Body that later runs give swept contacts; UINT32_MAX: none. */
void physics_set_ccd(uint32_t body);

/* Finalises and frees the builder and starts a run at dt = 1 / per_second. Fails the test when anything goes wrong. */
physics physics_start(sb_model_builder *b, physics_solver solver, uint32_t per_second, const physics_param *params,
                      size_t count);
/* The same on a model of one world, which it takes over. */
physics physics_start_model(sb_model_store *one, physics_solver solver, uint32_t per_second,
                            const physics_param *params, size_t count);
void physics_step(physics *p, uint32_t ticks);
void physics_stop(physics *p);

/* A cooked scene; NULL when the file is not there. `params` end with a NULL key. */
sb_model_store *physics_load(const char *scene, const sb_scene_param *params, bool floating);

/* Prints what was measured against its bound, and notes a failure when it is above (or NaN). */
void physics_bound(const physics *p, const char *what, double measured, double bound);
/* Fails the test when a bound was missed since the last call. */
void physics_verdict(void);

/* Parts: a free body; a body on axes; a dof; a shape. Masses in kg, lengths in m. */
sb_build_body physics_free(double mass, double ix, double iy, double iz, double x, double y, double z);
sb_build_body physics_link(int32_t parent, double x, double y, double z, double mass, double inertia);
sb_build_dof physics_axis(uint32_t kind, double x, double y, double z);
void physics_shape(sb_model_builder *b, uint32_t type, int32_t body, double x, double y, double z, double friction);
/* A builder with gravity along z. */
sb_model_builder *physics_builder(double gravity_z);

#endif
