/* Observables of a tick: accelerations, what joints and contacts carry. Registered arrays, so hashed and restored like all state, and only
 * there when the parameter `observables` asks for them. */
#ifndef SAMEBIT_STEEL_OBSERVE_H
#define SAMEBIT_STEEL_OBSERVE_H

#include "steel_data.h"

typedef struct st_observe {
  bool on;
  /* registered */
  float *acceleration; /* body_qdd, 6 per body: m/s^2 of the centre of mass, rad/s^2; world axes; mean over the tick */
  float *parent;       /* body_parent_f, 6 per body: N and N m about the body's centre of mass, world axes, by which the joint to its
                        * parent holds the body; mean over the tick */
  float *contact;      /* contact_force, 3 per contact: N, world axes, on body b, in the tick's last substep */
  /* scratch */
  float *start_q, *start_qd; /* of the tick's start: 7 and 6 per body */
  float *impulse;            /* 6 per body: of contacts and equality constraints over the tick, N s and N m s about the centre of mass */
} st_observe;

sb_status st_observe_bind(st_observe *observe, const sb_bind *bind, char *error, uint32_t error_size);
void st_observe_begin(st_observe *observe, const st_tick *tick);
/* After state and cache are stored. */
void st_observe_end(st_observe *observe, const st_tick *tick, const sb_bind *bind);

#endif
