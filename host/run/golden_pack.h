/* The golden pack: scenes and the state hashes that they must end with, on every machine. A folder of
 *   scenes.txt       name, ticks, scene, options of `samebit cook`
 *   run_hashes.txt   scene, solver, ticks, hash
 * and the files that scenes name, below it. A scene SHARED/... is of a collection that does not come with the pack. */
#ifndef SAMEBIT_HOST_GOLDEN_PACK_H
#define SAMEBIT_HOST_GOLDEN_PACK_H

#include "sim.h"

typedef enum sb_golden_outcome { SB_GOLDEN_MATCHED, SB_GOLDEN_DIFFERS, SB_GOLDEN_FAILED, SB_GOLDEN_LEFT_OUT } sb_golden_outcome;

typedef struct sb_golden_run {
  char scene[64], solver[64];
  uint64_t ticks, golden;
  uint64_t found, model; /* hashes: of the state that came out, of the cooked model */
  sb_golden_outcome outcome;
  char reason[256]; /* when it failed or was left out */
} sb_golden_run;

typedef struct sb_golden_pack {
  char *folder;
  char *scenes; /* text of scenes.txt */
  sb_golden_run *runs;
  size_t run_count;
} sb_golden_pack;

/* folder NULL: the one that came with the program (share/samebit/golden beside bin). */
sb_status sb_golden_pack_open(const char *folder, sb_golden_pack *pack, sb_diagnostics *diag);
void sb_golden_pack_close(sb_golden_pack *pack);

/* Cooks and runs one line of the pack under this solver. */
void sb_golden_pack_run(const sb_golden_pack *pack, sb_golden_run *run, const sb_solver_api *api);

#endif
