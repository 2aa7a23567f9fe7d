/* The inside of a simulation, shared by sim.c (the tick) and sim_state.c (hash, snapshot, compare). */
#ifndef SAMEBIT_HOST_SIM_INTERNAL_H
#define SAMEBIT_HOST_SIM_INTERNAL_H

#include <stdatomic.h>

#include "collision.h"
#include "device.h"
#include "sim.h"
#include "thread_pool.h"

typedef struct sim_part {
  sb_sim *sim;
  char name[48];
  const sb_solver_api *api;
  void *instance;
  uint32_t mode;
  bool active;
  sb_host host;
  void **blocks; /* memory given through sb_host.alloc */
  size_t block_count;
  double *params;
  uint32_t *bodies;
  uint32_t body_count;
  uint32_t *particles;
  uint32_t particle_count;
  char error[512]; /* of a failed registration, for the diagnostic */
  sb_device_part *device; /* NULL on the CPU */
  bool takes_contacts;    /* where they lie on the device */
  /* contact caches: kept once the solver has registered an array over SB_DOMAIN_CONTACT */
  uint32_t *contact_start; /* first contact of each world in the last tick's list */
  uint32_t *contact_count; /* registered: contacts of each world */
  uint32_t *contact_key;   /* registered: low and high word of each contact's key */
  float *contact_point;    /* registered: 3, the point on shape a in body a's frame */
  int32_t *match;          /* of this tick */
} sim_part;

/* Sums of a world that tasks add to in any order: addition modulo 2^32 does not mind. */
typedef struct sim_hash_sums {
  atomic_uint a, b;
} sim_hash_sums;

/* A tendon whose solver has none. */
typedef struct sim_tendon {
  uint32_t tendon;
  float inertia; /* kg or kg m^2 that a change of its length moves, estimated */
} sim_tendon;

/* An equality between joints whose solver has none. */
typedef struct sim_gear {
  uint32_t equality;
  float inverse[2]; /* 1/kg or 1/(kg m^2) of each dof, estimated; 0 for a missing one */
} sim_gear;

/* A pair of shapes that touch. */
typedef struct sim_touch {
  uint32_t world;
  int32_t shape_a, shape_b;
} sim_touch;

struct sb_sim {
  const sb_model_store *store;
  const sb_model *model;
  uint32_t dt_numerator, dt_denominator;
  float dt;
  uint32_t mode;
  uint32_t lanes;
  uint64_t seed;
  uint64_t setup_hash; /* of solvers, versions, parameters, bodies, seed and coupling: what a snapshot must share */
  uint64_t tick;
  bool failed;
  const char *at_work; /* name of the part whose solver is being called in a tick; NULL for none */
  bool disturb;
  double owed_seconds; /* advance(): real time not yet simulated */
  sb_state state;
  sb_registry registry;
  sb_thread_pool *pool;
  sb_collision *collision;
  uint32_t chunk_fp_faults;
  const sb_device *device; /* NULL without a part on it */
  void *device_scope;
  sb_hash_sums *device_sums; /* of each world */
  bool collides_there; /* the pipeline runs on the device */
  bool particles_there; /* and takes contacts of particles with it */
  bool contacts_stay;  /* and the one part takes its contacts there: the host fetches them where someone asks */
  bool resident;       /* and the host reads and writes no state in a tick */
  bool contacts_wanted; /* by the host in each tick */
  bool contacts_stale; /* the host's contacts are not those of the last tick */
  uint32_t contacts_kept;
  sim_part *parts;
  uint32_t part_count;
  sb_coupling coupling;
  uint32_t *owner;         /* part of each body, when there are several parts; UINT32_MAX for none */
  uint32_t *particle_owner; /* of each particle, likewise */
  sb_contacts seen;        /* several parts: what one part sees, filtered from the pipeline's */
  sb_particle_contacts seen_particles;
  sb_near_pairs seen_pairs;
  void *seen_memory;
  uint64_t *history;        /* ring of SB_HASH_HISTORY */
  uint64_t *history_tick;
  sb_sim_stats stats;
  uint64_t *hash_start;           /* hashing: first word of each world, of all its arrays in a row; world_count + 1 */
  sim_hash_sums *hash_sums;       /* of each world */
  sim_tendon *tendons;
  uint32_t tendon_count;
  sim_gear *gears;
  uint32_t gear_count;
  uint32_t *pins; /* connects and welds whose solver has none */
  uint32_t pin_count;
  sim_touch *touching, *touched; /* this tick and the one before, sorted; NULL without events */
  uint32_t touching_count, touched_count;
  sb_contact_event *events;
  uint32_t event_count;
  float *sensor_data;      /* registered; NULL without sensors */
  float *body_q_before;    /* body_q when the solvers of the tick began */
  float *past_q, *past_qd; /* body_q and body_qd before the tick, where a sensor needs them */
};

/* sim_coupling.c: who owns what, and what of the pipeline's output each part sees. Valid until the next part asks. */
sb_status sb_coupling_create(sb_sim *sim, const sb_sim_config *config, sb_diagnostics *diag);
void sb_coupling_free(sb_sim *sim);
/* Contacts of the part's own bodies with themselves, the world and, one way, earlier solvers' bodies; order is kept. */
const sb_contacts *sb_coupling_contacts(sb_sim *sim, uint32_t part);
/* The same for its own particles. */
const sb_particle_contacts *sb_coupling_particle_contacts(sb_sim *sim, uint32_t part);
/* Near pairs of its own particles with each other: those of different parts never touch. */
const sb_near_pairs *sb_coupling_near_pairs(sb_sim *sim, uint32_t part);

/* contact_cache.c: the contacts of the tick before, by which a solver finds its warm start. */
sb_status sb_contact_cache_start(sim_part *part);
/* Recomputes contact_start from the registered counts. */
void sb_contact_cache_refresh(sim_part *part);
/* Fills part->match. */
void sb_contact_cache_match(sim_part *part, const sb_contacts *now);
/* Remembers the contacts of this tick. */
void sb_contact_cache_keep(sim_part *part, const sb_contacts *now);

/* Memory for hashing; SB_E_MEMORY when there is none. */
sb_status sb_sim_hash_start(sb_sim *sim);

/* sim_constraint.c: finds the tendons and equality constraints whose solver has none, with a note; adds their forces to joint_f
 * and body_f. */
sb_status sb_sim_create_constraints(sb_sim *sim, sb_diagnostics *diag);
void sb_sim_apply_constraints(sb_sim *sim);

/* sensor.c: registers the values; remembers the state before a tick; works the values out after it. */
sb_status sb_sensors_create(sb_sim *sim, sb_diagnostics *diag);
void sb_sensors_note_past(sb_sim *sim);
void sb_sensors_evaluate(sb_sim *sim, uint64_t ticks_done);

/* contact_event.c: events of this tick, from its contacts and velocities before the solvers. */
sb_status sb_events_create(sb_sim *sim, sb_diagnostics *diag);
void sb_events_reset(sb_sim *sim);
void sb_events_find(sb_sim *sim);

/* sim_device.c: arrays with a copy on a device. */
sb_status sb_sim_open_device(sb_sim *sim, const sb_sim_config *config, sb_diagnostics *diag);
void sb_sim_close_device(sb_sim *sim);
/* Before a part on the device is bound. */
sb_status sb_sim_give_device(sb_sim *sim, sim_part *part, sb_diagnostics *diag);
/* Before the parts are bound: the collision pipeline goes to the device where it can, with a note where it cannot. */
sb_status sb_sim_place_collision(sb_sim *sim, const sb_sim_config *config, sb_diagnostics *diag);
/* After they are: what of the state and the contacts stays there. */
sb_status sb_sim_settle_device(sb_sim *sim, sb_diagnostics *diag);
/* The extension samebit.device_contacts/1 for a part that is being bound, or NULL. */
const sb_device_contacts *sb_sim_share_contacts(sim_part *part);
/* Collides there; SB_E_CAPACITY as from sb_collision_step_moving. The contacts come back, unless they stay. */
sb_status sb_sim_collide_there(sb_sim *sim, sb_diagnostics *diag);
/* Contacts that stay, when the tick's work there is done: their counts, and SB_E_CAPACITY as above. */
sb_status sb_sim_count_contacts(sb_sim *sim, sb_diagnostics *diag);
/* Whether the host has written state since the device last took it. */
bool sb_sim_is_touched(const sb_sim *sim);
/* body_f on both sides; where nobody has touched state that stays on the device, it is 0 already. */
sb_status sb_sim_clear_forces(sb_sim *sim, bool touched, sb_diagnostics *diag);
/* Around a call of a part's bind, activate or step: only then may it use its device. */
void sb_sim_enter_device(const sim_part *part, bool step);
void sb_sim_leave_device(const sim_part *part);
/* After such a call: where it failed because the device is lost or has no memory left, that is what is reported, and returned; else SB_OK. */
sb_status sb_sim_device_failure(const sb_sim *sim, const sim_part *part, sb_status status, const char *when, const char *text, sb_diagnostics *diag);
/* Brings arrays up to date on the host; those of particles only with `particles`. */
sb_status sb_sim_pull(const sb_sim *sim, bool particles, sb_diagnostics *diag);
/* The host has written, or may have: its arrays, but for those of particles unless `particles`, are the truth. They have been pulled. */
void sb_sim_claim(sb_sim *sim, bool particles);
/* Before and after a part's step: what it reads is brought to where it reads it; what it may have written is the truth there. */
sb_status sb_sim_hand_over(sb_sim *sim, sim_part *part, sb_diagnostics *diag);
void sb_sim_take_back(sb_sim *sim, const sim_part *part);
/* Adds the sums of the arrays whose truth is on the device to each world's. */
sb_status sb_sim_hash_device(const sb_sim *sim, bool *bad, sb_diagnostics *diag);

/* sim_disturb.c: junk into padding lanes and behind the elements in use. */
void sb_sim_disturb(sb_sim *sim);

/* Hashes all state; *bad (may be NULL) is set when a float is not finite. Fails only where a device does. */
sb_status sb_sim_hash_all(const sb_sim *sim, uint64_t *hash, bool *bad, sb_diagnostics *diag);

#endif
