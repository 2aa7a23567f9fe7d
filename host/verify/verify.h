/* What a part has shown on this machine: the check behind "verified".
 *
 * CrossPlatform: its golden hashes are matched here, and nothing that must not matter changes a bit. RunToRun: a golden hash is missing or
 * another. Off: something does change a bit. C library alone. */
#ifndef SAMEBIT_HOST_VERIFY_H
#define SAMEBIT_HOST_VERIFY_H

#include "diagnostic.h"
#include "samebit/solver.h"
#include "sim_memory.h"

struct sb_device; /* of device.h */

typedef struct sb_verdict {
  uint32_t mode;    /* SB_MODE_* */
  bool harmful;     /* it wrote where it may not */
  char reason[640]; /* what was seen */
} sb_verdict;

/* The micro-scenes, plain and turned once. */
void sb_verify_solver(const sb_solver_api *api, uint32_t backend, uint32_t lanes, sb_verdict *verdict);
/* The micro-scenes on a device, against the golden hashes of the CPU: a solver's hash does not depend on where it runs. Fails only where the
 * device does: it is lost, or has no memory left. */
sb_status sb_verify_on_device(const sb_solver_api *api, const struct sb_device *device, sb_verdict *verdict, sb_diagnostics *diag);
/* Who looks on while a solver is verified. All NULL is good. */
typedef struct sb_verify_watch {
  void *context;
  void (*at)(void *context, const char *solver, const char *scene, const char *check); /* before each check */
  const sb_memory_source *memory;   /* of the check "memory" */
  const char *(*complaint)(void);   /* what that memory has seen, or NULL */
} sb_verify_watch;
/* The same, and every check of behaviour.h on every micro-scene. */
void sb_verify_deeply(const sb_solver_api *api, uint32_t backend, const sb_verify_watch *watch, sb_verdict *verdict);
/* golden: the contact hash that this version declares. */
void sb_verify_collision(uint64_t golden, uint32_t lanes, sb_verdict *verdict);
/* After it: lowers the verdict where the pipeline gives other contacts on a device. Fails as sb_verify_on_device does. */
sb_status sb_verify_collision_on_device(uint64_t golden, const struct sb_device *device, sb_verdict *verdict, sb_diagnostics *diag);
/* golden: the hash of the sensors of the micro-scene "sense". */
void sb_verify_sensors(uint64_t golden, uint32_t lanes, sb_verdict *verdict);

#endif
