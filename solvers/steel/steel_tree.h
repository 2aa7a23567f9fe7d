/* Articulations in steel: reduced coordinates, and constraints as rows over their velocities.
 *
 * A row is a direction in the space of dof velocities: J gives the row's velocity, W = H^-1 J' what a unit impulse does (H: inertia with
 * the implicit shares of the joint law). A constraint holds one or more rows. Its rows run over one half (the dofs of one articulation)
 * or over two (another articulation, or the six velocities of a free body).
 *
 * Constraints that concern one articulation, and the world or bodies that steel does not move, are solved with SB_LANES articulations side by
 * side: lane l of a bundle's constraint belongs to articulation l. Constraints between two that move are coupled: solved one after
 * another, in order of their keys. */
#ifndef SAMEBIT_STEEL_TREE_H
#define SAMEBIT_STEEL_TREE_H

#include "articulation.h"
#include "steel_data.h"

#define ST_NONE UINT32_MAX

/* One side of a constraint. */
typedef struct st_side {
  uint32_t bundle, link, lane; /* link ST_NONE: in no articulation */
  uint32_t record;             /* then the st_body; st_tick.nobody for what stands still */
  int32_t body;                /* of the model; -1 the world */
} st_side;

typedef enum st_kind { ST_CONNECT, ST_WELD, ST_JOINT_EQUALITY, ST_TENDON, ST_DOF, ST_CONTACT } st_kind;

/* Rows over the dofs of one articulation or body: for each row `dofs` of J, then `dofs` of W; lane-blocked. dofs is padded to a
 * multiple of 4 with zeros. */
typedef struct st_half {
  float *v;
  float *rows;
  uint32_t dofs;
} st_half;

typedef struct st_constraint {
  uint8_t kind;       /* st_kind */
  uint8_t points;     /* ST_CONTACT: most points of any lane */
  bool rub, twist, roll; /* ST_CONTACT: some lane has friction against sliding, twisting, rolling */
  uint8_t halves;     /* 1; coupled: 2 */
  uint32_t item[8];   /* of each lane: first contact, equality, tendon or dof; ST_NONE where the lane takes no part */
  uint8_t count[8];   /* ST_CONTACT: points of each lane */
  st_side a[8], b[8]; /* of each lane */
  float *data;        /* lane-blocked record of its kind, contacts followed by their points */
  st_half half[2];
} st_constraint;

/* A bundle of articulations and its constraints. */
typedef struct st_tree {
  const ab_bundle *bundle;
  float *work;                 /* of the links: the bundle's, or nearer while it is at work */
  uint32_t dofs;               /* padded */
  float *v, *v_start;          /* dof velocities now and at the start of the tick, lane-blocked */
  float *scratch;              /* link_count records of ST_SCRATCH_FLOATS */
  float *row;                  /* 2 dofs: a row of a coupled constraint on its way */
  bool *touched;               /* of each link: some lane has a side in its subtree */
  st_constraint *fixed;        /* equalities and tendons: of every tick */
  uint32_t fixed_count;
  st_constraint *dof_rows;     /* dofs near a limit, with dry friction or a top speed: of this tick */
  uint32_t dof_row_count, dof_capacity;
  st_constraint *contacts;     /* of this tick */
  uint32_t contact_count;
  bool first;                  /* the substep to come is the tick's first */
  bool coupled;                /* this tick has a constraint with something else that moves */
} st_tree;

/* A manifold that touches an articulation. */
typedef struct st_touch {
  uint32_t first, count; /* contacts */
  st_side a, b;
} st_touch;

/* All that the lane code needs during a tick. */
typedef struct st_forest_tick {
  const st_tick *tick;
  uint32_t lanes;            /* of the bundles */
  const float *origin;       /* ab_forest.origin */
  ab_settings step;
  float limit_omega;
  st_tree *trees;
  const float *warm;         /* of each contact: what the tick before has kept, as st_tick.cache */
  const uint32_t *dof_slot;  /* of each dof of the model: its place among those of its articulation */
  float *dof_impulse;        /* registered: lower limit, upper limit, dry friction, N s or N m s, per dof */
  float *equality_impulse;   /* registered: linear, angular, world axes, per equality; JOINT: the first */
  float *impulse;            /* observed: 6 per body (st_observe); NULL when nobody asks */
  float *tendon_impulse;     /* registered: lower, upper, friction, per tendon */
} st_forest_tick;

/* The joint coordinate in a work record, floats from its start. */
#define ST_WORK_Q 142u
/* Sizes in floats of one lane. */
#define ST_SCRATCH_FLOATS 32u
#define ST_ROW_CONTACT_FLOATS 42u
#define ST_ROW_POINT_FLOATS 14u
#define ST_ROW_EQUALITY_FLOATS 42u
#define ST_ROW_TENDON_FLOATS 17u
#define ST_ROW_DOF_FLOATS 13u

/* Order of a tick; PREDICT to RELAX for each substep. */
typedef enum st_phase { ST_BEGIN, ST_PREDICT, ST_WARM, ST_SOLVE, ST_DRIFT, ST_RELAX, ST_RESTITUTE, ST_STORE } st_phase;

#define ST_TREE_FUNCTIONS(lanes)                                                                                       \
  /* One phase of a bundle and of its own constraints. */                                                             \
  void st_tree_phase_lanes##lanes(const st_forest_tick *tick, st_tree *tree, uint32_t phase);                         \
  /* All phases of a bundle that shares no constraint with another. */                                                 \
  void st_tree_run_lanes##lanes(const st_forest_tick *tick, st_tree *tree, uint32_t iterations);                      \
  /* Rows of a coupled constraint over one of its articulations: J and W of lane `lane`, both `dofs` floats, of a unit impulse along or \
   * (angular) about d (world) at point x, with this sign on the link. */                                              \
  void st_tree_row_lanes##lanes(st_tree *tree, const st_side *side, float sign, const float x[3], const float d[3], bool angular, float *row); \
  /* Row of a coupled joint equality: coef times the velocity of the dof at slot `slot`. */                            \
  void st_tree_dof_row_lanes##lanes(st_tree *tree, uint32_t lane, uint32_t slot, float coef, float *row);
ST_TREE_FUNCTIONS(1)
ST_TREE_FUNCTIONS(4)
ST_TREE_FUNCTIONS(8)

/* One phase of a coupled constraint; its halves' velocities are dense, one lane. */
void st_coupled_phase(const st_forest_tick *tick, st_constraint *c, uint32_t phase, bool first);

/* ---- of the instance ---- */

typedef struct st_forest {
  const sb_bind *bind;
  ab_forest articulations;
  st_forest_tick tick;
  st_tree *trees;
  uint32_t *dof_slot;
  bool rolls;                      /* some shape has rolling friction */
  st_constraint *fixed_coupled;    /* equalities between articulations */
  uint32_t fixed_coupled_count;
  /* scratch of a tick */
  st_touch *touches;
  uint32_t touch_count;
  float *warm;
  uint32_t *lane_first, *lane_list; /* touches of each articulation that concern no other, in order of keys */
  st_constraint *constraints;      /* own contacts bundle by bundle, then coupled ones */
  st_constraint *coupled;          /* contacts */
  uint32_t coupled_count;
  float *pool;                     /* of contacts' records and rows */
  float *half_v[2];                /* velocities of a coupled constraint's halves */
  uint32_t iterations;             /* passes over the rows in a substep, before the one that relaxes */
  uint32_t phase;                  /* of the parallel loop */
#ifdef SAMEBIT_MUTANT_THREAD_THRESHOLD
  uint32_t number, threads;        /* of this instance; threads that have run a chunk of it */
#endif
#ifdef SAMEBIT_MUTANT_TIMING_BRANCH
  long last_time, last_took;       /* ns */
#endif
} st_forest;

/* Makes articulations of these bodies, whole ones, ascending. record: st_body of each other moving body of the model. Registers the
 * impulses that survive a tick. */
sb_status st_forest_bind(st_forest *forest, const sb_bind *bind, const uint32_t *tree_bodies, uint32_t tree_body_count, const uint32_t *record,
                         uint32_t nobody, char *error, uint32_t error_size);
/* Lists the owned bodies that belong to articulations: all but free bodies without links and equality constraints, and what never
 * moves. Returns how many; ST_NONE when there is no memory. */
uint32_t st_forest_find(const sb_bind *bind, uint32_t *tree_bodies);

/* Lists the tick's contacts and keeps their cached impulses, which are free to be overwritten then; begins the articulations that are coupled.
 * tick: with contacts, cache and bodies at the start of the tick. */
void st_forest_begin(st_forest *forest, const st_tick *tick);
/* The whole tick of articulations that nothing else that moves touches. */
void st_forest_run_alone(st_forest *forest);
/* Whether any is left. */
bool st_forest_is_coupled(const st_forest *forest);
/* One phase of the others, then of coupled constraints. */
void st_forest_phase(st_forest *forest, uint32_t phase, bool first);
/* Writes the others' state and impulses. */
void st_forest_store(st_forest *forest);

#endif
