/* What a simulation asks of a compute device, so that the core knows no Vulkan: copies of registered arrays, their hash, and the compute
 * extension for solvers. host/vulkan has the one implementation. */
#ifndef SAMEBIT_HOST_DEVICE_H
#define SAMEBIT_HOST_DEVICE_H

#include <stdbool.h>

#include "array_registry.h"
#include "collision.h"
#include "diagnostic.h"
#include "samebit/compute.h"
#include "samebit/device_contacts.h"

/* A part of a simulation on the device. */
typedef struct sb_device_part {
  const sb_compute *compute; /* for the solver */
  size_t *arrays;            /* of the registry: those that the solver has asked for */
  size_t array_count;
  bool stepping;           /* the solver's step is being called; else it is bind or activate */
  const void *caller;      /* the thread that calls the solver now, as sb_this_thread() tells; NULL for none */
} sb_device_part;

/* sim_device.c: a value that differs from thread to thread. */
const void *sb_this_thread(void);

/* Whether it is the solver, called by the host, that asks now. */
static inline bool sb_device_part_is_called(const sb_device_part *part) { return part->caller && part->caller == sb_this_thread(); }

/* What the collision pipeline on a device is made for. */
typedef struct sb_device_collision_setup {
  const sb_model *model;
  float speculative_margin; /* m */
  float dt;                 /* s */
  uint32_t pair_capacity, contact_capacity, particle_contact_capacity, triangle_capacity;
  bool particles; /* they may touch shapes */
  const sb_near_plan *near; /* NULL where no particles can come near each other; what its pointers name lives as long as the pipeline */
  bool truncate;  /* as in sb_collision_settings */
} sb_device_collision_setup;

/* Counts of a run of that pipeline, as sb_collision_usage has them: above a capacity they are what is needed. */
typedef struct sb_device_contact_counts {
  uint32_t pairs, contacts;
  uint32_t kept; /* contacts that there are: all, or where they are too many the first ones or none */
  uint32_t particle_contacts, particle_kept;
  uint32_t triangles; /* of heightfields that solids meet; where they are too many there are no contacts. UINT32_MAX: something came near more of a
                       * heightfield than is looked at */
  uint32_t near_pairs, near_kept;
  float deepest; /* m */
} sb_device_contact_counts;

typedef struct sb_device {
  void *context;
  /* Begins for one simulation; *scope owns everything that is made for it. */
  sb_status (*open)(void *context, sb_registry *registry, void **scope, sb_diagnostics *diag);
  void (*close)(void *scope);
  /* mode: SB_MODE_* that the part was granted, by which its shaders are judged. */
  sb_status (*add_part)(void *scope, const char *name, uint32_t mode, sb_device_part **part, sb_diagnostics *diag);
  /* An array of the registry that has a copy on the device, there and back. */
  sb_status (*upload)(void *scope, size_t array, sb_diagnostics *diag);
  sb_status (*download)(void *scope, size_t array, sb_diagnostics *diag);
  /* Adds the sums of an array's words to those of each world, and sets *bad where a float is not finite: the same as
   * sb_array_hash_world(), worked out on the device. */
  sb_status (*hash)(void *scope, const size_t *arrays, size_t count, sb_hash_sums *worlds, bool *bad, sb_diagnostics *diag);
  /* The collision pipeline there, for this scope. SB_E_UNSUPPORTED where it lacks something for the scene: `lacks` says what, or is empty where
   * there is nothing to collide. */
  sb_status (*open_collision)(void *scope, const sb_device_collision_setup *setup, char lacks[160], sb_diagnostics *diag);
  /* Collides what lies in the copies of state.body_q and state.body_qd, and of the same of particles where they take part; nothing waits. */
  sb_status (*collide)(void *scope, sb_diagnostics *diag);
  /* Waits, and tells the counts of the last run; then its contacts. */
  sb_status (*count_contacts)(void *scope, sb_device_contact_counts *counts, sb_diagnostics *diag);
  sb_status (*read_contacts)(void *scope, uint32_t count, const sb_contact_room *room, sb_diagnostics *diag);
  sb_status (*read_particle_contacts)(void *scope, uint32_t count, const sb_particle_contact_room *room, sb_diagnostics *diag);
  sb_status (*read_near_pairs)(void *scope, uint32_t count, const sb_near_pair_room *room, sb_diagnostics *diag);
  /* The part may take its contacts where they lie: handles for it; NULL without memory. */
  const sb_device_contacts *(*share_contacts)(void *scope, const sb_device_part *part);
  /* Such a part has arrays over contacts: those of contact_cache.c get copies, and match_contacts can run after collide. It finds which old contact each
   * new one continues and makes the new ones the old ones. old_start: what the host knows of the old ones, where its copies are the truth; else NULL. */
  sb_status (*open_cache)(void *scope, const char *part, sb_diagnostics *diag);
  sb_status (*match_contacts)(void *scope, const uint32_t *old_start, sb_diagnostics *diag);
  /* A copy of an array that no part has asked for. */
  sb_status (*make_copy)(void *scope, size_t array, sb_diagnostics *diag);
  /* All of a copy becomes 0. */
  sb_status (*clear)(void *scope, size_t array, sb_diagnostics *diag);
  /* The driver has lost the device: nothing will run there again. */
  bool (*lost)(const void *scope);
} sb_device;

#endif
