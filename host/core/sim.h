/* A simulation: one model, its solvers, and the tick that drives them. C library alone.
 *
 * A tick:  motors and drives -> collide -> solvers in order -> sensors -> NaN guard -> state hash
 * Nothing here reads a clock, and no result depends on threads, lanes or task order. */
#ifndef SAMEBIT_HOST_SIM_H
#define SAMEBIT_HOST_SIM_H

#include <stdio.h>

#include "array_registry.h"
#include "diagnostic.h"
#include "model_store.h"
#include "sim_memory.h"
#include "samebit/solver.h"

typedef struct sb_sim sb_sim;

/* One solver of the simulation. */
typedef struct sb_sim_part {
  const char *name;        /* from the INI: "robot" */
  const sb_solver_api *api;
  const double *params;    /* in the order of the descriptor's table */
  const uint32_t *bodies;  /* ascending, of the replicated model */
  uint32_t body_count;
  const uint32_t *particles; /* ascending, of the replicated model; whole deformables */
  uint32_t particle_count;
  uint32_t backend;
  uint32_t mode;           /* granted */
  uint32_t lanes;          /* mask 1 | 4 | 8 of what the plugin was built with; 0: all */
} sb_sim_part;

/* How solvers of one simulation see each other's bodies. */
typedef enum sb_coupling {
  SB_COUPLING_UNSET,  /* as NONE; nobody has said */
  SB_COUPLING_NONE,   /* not at all */
  SB_COUPLING_ONE_WAY /* a solver sees the bodies of earlier ones as moving obstacles, at their pose after the tick */
} sb_coupling;

typedef struct sb_sim_config {
  const sb_model_store *model; /* replicated; must outlive the simulation */
  const sb_sim_part *parts;    /* in solver order */
  uint32_t part_count;
  uint32_t dt_numerator;       /* dt = numerator / denominator s, both below 2^24 */
  uint32_t dt_denominator;
  uint32_t mode;               /* of the run: the weakest granted */
  uint32_t threads;
  uint32_t lanes;              /* 1, 4, 8; 0: the widest this CPU has */
  uint32_t broad_phase;        /* SB_BROAD_* of collision.h */
  uint32_t contact_capacity;   /* 0: from the scene */
  uint32_t pair_capacity;      /* 0: from the scene */
  uint32_t particle_contact_capacity; /* 0: from the scene */
  uint32_t near_pair_capacity; /* 0: from the scene */
  uint32_t triangle_capacity;  /* of a device; 0: from the scene */
  float speculative_margin;    /* m */
  const uint32_t *ccd_bodies;  /* of the replicated model: their contacts are swept over the tick */
  uint32_t ccd_body_count;
  sb_coupling coupling;
  uint64_t shuffle;            /* not 0: tasks start in a permuted order */
  uint64_t seed;
  bool events;                 /* keep contact events; changes no result */
  const sb_memory_source *memory; /* for checks: where the memory of solvers comes from; NULL for the C library */
  const struct sb_device *device; /* of device.h, for parts on the backend vulkan; must outlive the simulation; else NULL */
  bool disturb;                /* for checks: fills padding and unused elements with junk every tick; changes no result */
} sb_sim_config;

/* Creates the simulation in the state of tick 0. */
sb_status sb_sim_create(const sb_sim_config *config, sb_sim **out, sb_diagnostics *diag);
void sb_sim_destroy(sb_sim *sim);
/* Back to tick 0: the same as a new simulation. */
sb_status sb_sim_reset(sb_sim *sim, sb_diagnostics *diag);

/* Advances one tick. After an error the simulation stays at the failed tick and steps no further. */
sb_status sb_sim_step(sb_sim *sim, sb_diagnostics *diag);
/* Advances by real time: as many ticks as fit into what has been asked for so far. *ticks (may be NULL) gets their number. Only that
 * number depends on `seconds`. */
sb_status sb_sim_advance(sb_sim *sim, double seconds, uint32_t *ticks, sb_diagnostics *diag);

uint64_t sb_sim_tick(const sb_sim *sim);
/* Name of the part whose solver is being called in a tick, for whoever finds out that the call did not return; else
 * NULL. */
const char *sb_sim_at_work(const sb_sim *sim);
/* Hash of the whole state now; equal to the last entry of the history after a step. */
uint64_t sb_sim_hash(const sb_sim *sim);
uint64_t sb_sim_hash_world(const sb_sim *sim, uint32_t world);
/* Hash of one array over all worlds, by its full name ("state.body_q"); 0 when there is none. */
uint64_t sb_sim_hash_array(const sb_sim *sim, const char *name);
/* Hash of everything that belongs to one body. */
uint64_t sb_sim_hash_body(const sb_sim *sim, uint32_t body);
/* Stages of a tick, in the order in which they happen. */
typedef enum sb_stage { SB_STAGE_CONTACTS, SB_STAGE_STATE, SB_STAGE_COUNT } sb_stage;
const char *sb_stage_name(sb_stage stage);
/* Hash of what a stage of the last tick gave. */
uint64_t sb_sim_hash_stage(const sb_sim *sim, sb_stage stage);
/* Hash after tick `tick` (1 is after the first step) from the history of the last SB_HASH_HISTORY ticks; false when it is
 * not there. */
#define SB_HASH_HISTORY 4096u
bool sb_sim_hash_history(const sb_sim *sim, uint64_t tick, uint64_t *hash);

/* Everything that survives a tick, as bytes that any machine reads; free() them. */
sb_status sb_sim_snapshot(const sb_sim *sim, void **bytes, size_t *size, sb_diagnostics *diag);
/* Puts a snapshot of a simulation with the same model and parts back. On error nothing has changed. */
sb_status sb_sim_restore(sb_sim *sim, const void *bytes, size_t size, sb_diagnostics *diag);

/* Brings all state to where the functions below read it; fails where a device does. They do it themselves, but have nowhere to say so. */
sb_status sb_sim_fetch(const sb_sim *sim, sb_diagnostics *diag);
/* Everything that a difference can be in, as text: contacts of the last tick, then all state, one word a line: array, element, component,
 * the word as 8 hex digits, and the body that it belongs to (-1 for none). Worlds and bodies count over the whole model. */
void sb_sim_dump(const sb_sim *sim, FILE *file);

/* What two runs must share to be compared: cooked bytes; solvers, versions, parameters, bodies, seed and coupling. */
uint64_t sb_sim_model_hash(const sb_sim *sim);
uint64_t sb_sim_setup_hash(const sb_sim *sim);

/* Where two simulations differ first: stage, array, element, component and both words. */
typedef struct sb_difference {
  sb_stage stage;
  const char *array;
  uint32_t element;
  uint32_t component;
  int32_t body; /* -1 when it belongs to none */
  uint32_t word_a;
  uint32_t word_b;
} sb_difference;
/* True when the state (or, before it, a stage of the last tick) differs. */
bool sb_sim_compare(const sb_sim *a, const sb_sim *b, sb_difference *difference);

/* Read access for tools. */
const sb_registry *sb_sim_registry(const sb_sim *sim);
/* Whether the collision pipeline runs on a device. */
bool sb_sim_collides_on_device(const sb_sim *sim);
const sb_contacts *sb_sim_contacts(const sb_sim *sim);
const sb_particle_contacts *sb_sim_particle_contacts(const sb_sim *sim);
const sb_near_pairs *sb_sim_near_pairs(const sb_sim *sim);
sb_state *sb_sim_state(sb_sim *sim);
/* Values of the sensors after the last tick, SB_SENSOR_NUMBERS for each, those that its type does not have 0; NULL without
 * sensors. Part of the state: "sensors.sensor_data". */
#define SB_SENSOR_NUMBERS 4
const float *sb_sim_sensor_data(const sb_sim *sim);

/* What happened between two shapes in a tick. A pair begins to touch when a gap closes, or will within the tick at the speed
 * of approach, and ends when all its gaps are above 1 mm or it has no contacts; a begin faster than 1 m/s is a hit as well. */
#define SB_EVENT_BEGIN 0u
#define SB_EVENT_END 1u
#define SB_EVENT_HIT 2u
typedef struct sb_contact_event {
  uint32_t kind; /* SB_EVENT_* */
  uint32_t world;
  int32_t shape_a, shape_b;
  float speed; /* m/s of approach when the tick began, the largest of the pair's contacts; 0 for an end */
} sb_contact_event;
/* Events of the last tick, sorted by world, shape a, shape b, kind; none are ever left out. Valid until the next step. Empty
 * unless the configuration asks for events. */
const sb_contact_event *sb_sim_events(const sb_sim *sim, uint32_t *count);

/* Counters of the run; presentation only. */
typedef struct sb_sim_stats {
  float largest_penetration; /* m, over all ticks */
  uint64_t penetration_tick;
  uint32_t contact_peak;
  uint32_t contact_capacity;
  uint32_t pair_peak;
  uint32_t pair_capacity;
  uint64_t overflow_ticks; /* in Off: ticks that dropped contacts */
  uint64_t not_finite_ticks; /* in Off: ticks that left NaN or infinity in the state */
  size_t state_bytes;
} sb_sim_stats;
sb_sim_stats sb_sim_statistics(const sb_sim *sim);

/* A buffer of the collision pipeline. */
typedef struct sb_sim_buffer {
  const char *name; /* "contacts" */
  const char *what; /* "contacts of particles", for people */
  const char *key;  /* that sets its capacity, in [collision] */
  uint32_t count;   /* of the last tick; above the capacity it is the size needed */
  uint32_t peak;
  uint32_t capacity;
} sb_sim_buffer;
/* Those that the model can use, in the order in which they fill. */
#define SB_SIM_BUFFERS 5
uint32_t sb_sim_list_buffers(const sb_sim *sim, sb_sim_buffer out[SB_SIM_BUFFERS]);

#endif
