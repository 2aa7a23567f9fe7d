/* Scenes of the determinism checks, built in place so that they run where no scene file can be read. */
#ifndef SAMEBIT_TESTS_CHECK_SCENES_H
#define SAMEBIT_TESTS_CHECK_SCENES_H

#include <stdbool.h>

#include "model_store.h"

/* Jointed chains with drives and limits next to a heap of boxes, balls and capsules on a plane: enough contacts and
 * joints for several parallel tasks. With `more`, bodies of other kinds are added after them, 50 m away. `handles` (SB_HANDLES_*) says what
 * the solver can take: chains, a cloth, and loops, tendons and chains that meet free bodies. NULL when memory runs out. */
sb_model_store *check_scene(bool more, uint32_t handles);

#endif
