/* State and control arrays that the host owns and every solver shares, and the registration of a solver's own.
 *
 * Whatever survives a tick lives in a registered array: the host hashes, snapshots, restores, compares and prints those and
 * nothing else. A plugin that keeps state elsewhere is caught, because restored runs differ. */
#ifndef SAMEBIT_STATE_H
#define SAMEBIT_STATE_H

#include "samebit/model.h"
#include "samebit/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* X(DOMAIN, name, components, unit, frame and meaning). Elements are floats, one record of `components` after another. */
#define SB_STATE_ARRAYS(X)                                                                                             \
  X(BODY, body_q, 7, "m and unit quaternion xyzw, body frame in the world frame")                                      \
  X(BODY, body_qd, 6, "m/s at the centre of mass, then rad/s; world frame")                                            \
  X(COORD, joint_q, 1, "joint coordinates, as in samebit/model.h")                                                     \
  X(DOF, joint_qd, 1, "joint velocities, as in samebit/model.h")                                                       \
  X(BODY, body_f, 6, "N at the centre of mass, then N m; world frame; applied for one tick, then cleared")             \
  X(DOF, joint_f, 1, "N or N m, set anew each tick from motors and commands")                                          \
  X(DOF, joint_target_q, 1, "m or rad, drive target")                                                                  \
  X(DOF, joint_target_qd, 1, "m/s or rad/s, drive target velocity")                                                    \
  X(ACTUATOR, actuator_ctrl, 1, "control of each actuator")                                                            \
  X(PARTICLE, particle_q, 3, "m, world frame")                                                                         \
  X(PARTICLE, particle_qd, 3, "m/s, world frame")

typedef struct sb_state {
  uint32_t struct_size;
  uint32_t reserved;
#define SB_X_STATE(DOMAIN, name, comps, doc) float *name;
  SB_STATE_ARRAYS(SB_X_STATE)
#undef SB_X_STATE
} sb_state;

/* Element types */
#define SB_TYPE_F32 0u
#define SB_TYPE_U32 1u
#define SB_TYPE_I32 2u
/* Domains of an array: how its elements belong to worlds and bodies */
#define SB_DOMAIN_WORLD 0u
#define SB_DOMAIN_BODY 1u /* joints too */
#define SB_DOMAIN_COORD 2u
#define SB_DOMAIN_DOF 3u
#define SB_DOMAIN_SHAPE 4u
#define SB_DOMAIN_ACTUATOR 5u
#define SB_DOMAIN_PARTICLE 6u
#define SB_DOMAIN_CUSTOM 7u /* world_start says */
/* One element for each contact of the last tick that the solver saw, in the same order: a cache for warm starting. During a
 * step it still holds the tick before; sb_step.match says which of its elements belongs to which contact of this tick. The
 * solver writes the elements of this tick before it returns. */
#define SB_DOMAIN_CONTACT 8u
#define SB_DOMAIN_COUNT 9u
/* Where the data lies */
#define SB_RESIDENCE_HOST 0u
#define SB_RESIDENCE_DEVICE 1u

/* A named, typed array. Element e, component c is word
 *   ((e / lane_block) * components + c) * lane_block + e % lane_block
 * so lane_block 1 is an array of records, and lane_block L holds L elements side by side. */
typedef struct sb_array_desc {
  uint32_t struct_size;
  uint32_t type;               /* SB_TYPE_* */
  uint32_t domain;             /* SB_DOMAIN_* */
  uint32_t components;         /* words per element, 1 to 64 */
  uint32_t count;              /* elements over all worlds: the domain's count; for contacts, sb_bind.contact_capacity */
  uint32_t lane_block;         /* 1, 4 or 8 */
  uint32_t residence;          /* SB_RESIDENCE_* */
  uint32_t reserved;           /* 0 */
  const char *name;            /* unique in the part, [a-z0-9_]; copied */
  const uint32_t *world_start; /* SB_DOMAIN_CUSTOM: first element of each world, world_count + 1 entries; copied */
} sb_array_desc;

#ifdef __cplusplus
}
#endif

#endif
