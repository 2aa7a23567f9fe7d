/* What a simulation asks of a compute device, so that the core knows no Vulkan: copies of registered arrays, their hash, and the compute
 * extension for solvers. host/vulkan has the one implementation. */
#ifndef SAMEBIT_HOST_DEVICE_H
#define SAMEBIT_HOST_DEVICE_H

#include <stdbool.h>

#include "array_registry.h"
#include "diagnostic.h"
#include "samebit/compute.h"

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
  /* The driver has lost the device: nothing will run there again. */
  bool (*lost)(const void *scope);
} sb_device;

#endif
