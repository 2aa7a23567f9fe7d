/* What the solver and its lane code share. */
#ifndef pull_H
#define pull_H

#include "samebit/samebit.h"

/* A tick of the particles of one world, as the lane code sees it. */
typedef struct pull_world {
  const sb_model *model;
  const sb_state *state;
  const uint32_t *particles; /* of the instance in this world, ascending */
  uint32_t count;
  float *pulled;       /* 3 for each particle of the model: acceleration of this tick */
  float strength;      /* m^3/(kg s^2) */
  float range2, soft2; /* m^2 */
  float dt;            /* s */
} pull_world;

/* Particles first to end - 1 of the list: accelerations, then velocities and places. */
void pull_gather_lanes1(const pull_world *w, uint32_t first, uint32_t end);
void pull_gather_lanes4(const pull_world *w, uint32_t first, uint32_t end);
void pull_gather_lanes8(const pull_world *w, uint32_t first, uint32_t end);
void pull_move_lanes1(const pull_world *w, uint32_t first, uint32_t end);
void pull_move_lanes4(const pull_world *w, uint32_t first, uint32_t end);
void pull_move_lanes8(const pull_world *w, uint32_t first, uint32_t end);

#endif
