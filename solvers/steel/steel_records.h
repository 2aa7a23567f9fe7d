/* What the lane files of steel share: names per width, and body records to lanes and back. */
#ifndef SAMEBIT_STEEL_RECORDS_H
#define SAMEBIT_STEEL_RECORDS_H

#include "steel_data.h"

#include "samebit/maths.h"

#include "steel.kernel.h"
#include "steel_gather.h"

#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)
#define LANED(name) CONCAT(name##_lanes, SB_LANES)

static inline __attribute__((always_inline)) StVelocity load_velocity(const st_tick *t, const uint32_t *record)
{
  F c[8];
  StVelocity r;
  load_rows((float *)t->bodies + ST_BODY_VELOCITY, record, ST_BODY_FLOATS, c);
  r.v = v3(c[0], c[1], c[2]);
  r.w = v3(c[3], c[4], c[5]);
  return r;
}

static inline __attribute__((always_inline)) void store_velocity(const st_tick *t, const uint32_t *record, StVelocity s,
                                                                 uint32_t keep)
{
  F c[8] = {s.v.x, s.v.y, s.v.z, s.w.x, s.w.y, s.w.z, K(0.0f), K(0.0f)};
  store_rows((float *)t->bodies + ST_BODY_VELOCITY, record, ST_BODY_FLOATS, c, keep);
}

static inline __attribute__((always_inline)) StMovement load_movement(const st_tick *t, const uint32_t *record)
{
  F c[8];
  StMovement r;
  load_rows((float *)t->bodies + ST_BODY_MOVEMENT, record, ST_BODY_FLOATS, c);
  r.dp = v3(c[0], c[1], c[2]);
  r.dq = q4(c[3], c[4], c[5], c[6]);
  return r;
}

static inline __attribute__((always_inline)) StMass load_mass(const st_tick *t, const uint32_t *record)
{
  F c[8];
  StMass r;
  load_rows(t->masses, record, 8, c);
  r.inv_mass = c[0];
  r.inv_inertia = s33(c[1], c[2], c[3], c[4], c[5], c[6]);
  return r;
}

#endif
