/* What the lane code and the setup of steel share. Derived from the model, or scratch of a tick; state lives in the host's
 * arrays. A lane-blocked record holds field f of lane l at float f * lanes + l. */
#ifndef SAMEBIT_STEEL_DATA_H
#define SAMEBIT_STEEL_DATA_H

#include <stdbool.h>
#include <string.h>

#include "samebit/samebit.h"

#define ST_MAX_POINTS 4u
#define ST_MAX_COLORS 24u /* a manifold beyond them goes to the serial group */
#define ST_NOBODY UINT32_MAX
#define ST_LINK (UINT32_MAX - 1u) /* in place of a record: a link of an articulation */

/* A body between substeps, 64 bytes: velocity and angular velocity; movement and turn since the start of the tick. The last
 * record stands for everything that does not move. */
typedef struct st_body {
  float v[3], w[3], pad[2];
  float dp[3], dq[4], pad2;
} st_body;

/* What a body's contacts have done to its velocities (steel.kernel.h: StWarm), and what forces do within a substep. */
typedef struct st_warm {
  float warm[6], pad[2];
  float mark[6], pad2[2];
  float kick[6], pad3[2];
} st_warm;

/* A body at the start of the tick: orientation, centre of mass in its frame. Then what the model says: inertia and its inverse, kg m^2,
 * about the centre of mass in the body's axes. Rows of eight, so that lanes load them whole. */
typedef struct st_frame {
  float turn[4], com[3], pad;
  float inertia[6];
  float own;   /* 1: this instance moves it; 0: an obstacle */
  float awake; /* 0: it sleeps and stays where it is */
  float inv_inertia[6], pad2[2];
} st_frame;

/* Floats of a record, and where its rows of eight begin. */
#define ST_BODY_FLOATS 16u
#define ST_BODY_VELOCITY 0u
#define ST_BODY_MOVEMENT 8u
#define ST_WARM_FLOATS 24u
#define ST_WARM_SUM 0u
#define ST_WARM_MARK 8u
#define ST_WARM_KICK 16u
#define ST_FRAME_FLOATS 24u
#define ST_FRAME_TURN 0u
#define ST_FRAME_INERTIA 8u
#define ST_FRAME_INV_INERTIA 16u
#define ST_MASS_FLOATS 8u
_Static_assert(sizeof(st_body) == ST_BODY_FLOATS * sizeof(float), "ST_BODY_FLOATS");
_Static_assert(sizeof(st_warm) == ST_WARM_FLOATS * sizeof(float), "ST_WARM_FLOATS");
_Static_assert(sizeof(st_frame) == ST_FRAME_FLOATS * sizeof(float), "ST_FRAME_FLOATS");

static inline bool st_same_pair(const sb_contacts *c, uint32_t i, uint32_t k)
{
  return c->world[i] == c->world[k] && c->key[i] >> 16 == c->key[k] >> 16;
}

/* Whether contact `next` goes into the manifold that `first` begins: of the same pair, and with its normal. */
static inline bool st_continues(const sb_contacts *c, uint32_t first, uint32_t next)
{
  return st_same_pair(c, first, next) && (c->key[next] & 0xffffu) != SB_FEATURE_SWEPT &&
         !memcmp(c->normal + 3 * (size_t)next, c->normal + 3 * (size_t)first, 3 * sizeof *c->normal);
}

/* Contacts of one pair of shapes along one normal. */
typedef struct st_manifold {
  uint32_t body_a, body_b; /* st_body records */
  uint32_t first;          /* contact */
  uint32_t count;          /* 1 to ST_MAX_POINTS */
  uint32_t moves;          /* ST_MOVES_A, ST_MOVES_B: which of them does */
} st_manifold;
#define ST_MOVES_A 1u
#define ST_MOVES_B 2u

/* Up to `lanes` manifolds of one colour and one number of points; in the serial group one, in a block for one lane. */
typedef struct st_bundle {
  uint32_t points;
  uint32_t used;
  uint32_t first;     /* in st_tick.order */
  uint32_t keep_a, keep_b; /* lanes whose body moves and is written; set with the constraint */
  uint32_t bounces;        /* some lane has restitution; likewise */
  uint64_t block;     /* offset of its lane-blocked constraint, floats */
} st_bundle;

typedef struct st_settings {
  uint32_t substeps;
  float h, inv_h; /* s, 1/s, of one substep */
  float contact_omega, contact_zeta; /* against the world twice the frequency */
  float max_push;              /* m/s */
  float restitution_threshold; /* m/s */
} st_settings;

typedef struct st_tick {
  st_settings settings;
  const sb_model *model;
  const sb_state *state;
  const sb_contacts *contacts;
  const int32_t *match;
  const uint32_t *record; /* st_body record of each model body */
  st_body *bodies;
  st_warm *warms;
  st_frame *frames;
  float *masses;          /* per record: inverse mass, inverse inertia in world axes, 1 where it moves by contacts: 8 floats */
  uint32_t nobody;        /* the record of what does not move */
  const uint32_t *moved;  /* model body of each record */
  uint32_t moved_count;
  const st_manifold *manifolds;
  const uint32_t *order;  /* manifolds by colour, number of points, key */
  st_bundle *bundles;
  float *blocks;
  float *cache; /* per contact, ST_CACHE_FLOATS: of the tick before until st_store; friction and turning with a manifold's first */
} st_tick;

/* Floats of a constraint for one lane: shared part and per point. */
#define ST_SHARED_FLOATS 37u
#define ST_POINT_FLOATS 11u /* 9 of the point, 2 of its bounce */
/* Floats of a cached contact: normal impulse (N s), friction impulse (N s, world), twist and rolling as one angular impulse (N m s, world). */
#define ST_CACHE_FLOATS 7u

#define ST_LANE_FUNCTIONS(lanes)                                                                                       \
  /* Fills the constraints of bundles first to end - 1 from contacts and the cache. */                                \
  void st_prepare_lanes##lanes(const st_tick *tick, uint32_t first, uint32_t end);                                    \
  /* One pass over bundles of one colour. */                                                                           \
  void st_warm_start_lanes##lanes(const st_tick *tick, uint32_t first, uint32_t end);                                 \
  void st_solve_lanes##lanes(const st_tick *tick, uint32_t first, uint32_t end, bool relax);                          \
  void st_restitution_lanes##lanes(const st_tick *tick, uint32_t first, uint32_t end);                                \
  /* Impulses to the cache. */                                                                                         \
  void st_store_lanes##lanes(const st_tick *tick, uint32_t first, uint32_t end);                                      \
  /* steel_bodies_lanes.c. Bodies first to end - 1: to records; velocities from forces; movement; back to state. */                         \
  void st_bodies_load_lanes##lanes(const st_tick *tick, uint32_t first, uint32_t end);                                \
  void st_bodies_push_lanes##lanes(const st_tick *tick, uint32_t first, uint32_t end);                                \
  void st_bodies_move_lanes##lanes(const st_tick *tick, uint32_t first, uint32_t end);                                \
  void st_bodies_store_lanes##lanes(const st_tick *tick, uint32_t first, uint32_t end);
ST_LANE_FUNCTIONS(1)
ST_LANE_FUNCTIONS(4)
ST_LANE_FUNCTIONS(8)

#endif
