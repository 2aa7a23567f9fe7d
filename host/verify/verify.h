/* What a part has shown on this machine: the check behind "verified".
 *
 * CrossPlatform: its golden hashes are matched here, with one thread in order and with two threads, scalar lanes and shuffled
 * tasks. RunToRun: no golden hash, but those runs agree with each other. Off: they differ. C library alone. */
#ifndef SAMEBIT_HOST_VERIFY_H
#define SAMEBIT_HOST_VERIFY_H

#include "diagnostic.h"
#include "samebit/solver.h"

typedef struct sb_verdict {
  uint32_t mode;    /* SB_MODE_* */
  char reason[256]; /* what was seen */
} sb_verdict;

void sb_verify_solver(const sb_solver_api *api, uint32_t backend, uint32_t lanes, sb_verdict *verdict);
/* golden: the contact hash that this version declares. */
void sb_verify_collision(uint64_t golden, uint32_t lanes, sb_verdict *verdict);
/* golden: the hash of the sensors of the micro-scene "sense". */
void sb_verify_sensors(uint64_t golden, uint32_t lanes, sb_verdict *verdict);

#endif
