/* What must not change a bit: one check for each thing, on any scene, under any solver. What the host does before a run, what
 * `plugins check` does, and what the tests do on larger scenes. C library alone. */
#ifndef SAMEBIT_HOST_BEHAVIOUR_H
#define SAMEBIT_HOST_BEHAVIOUR_H

#include <stdbool.h>

#include "model_store.h"
#include "samebit/solver.h"
#include "sim_memory.h"

/* A solver on a scene. The checks keep what several of them need: the digests of the plain run and of one in hostile
 * memory. */
typedef struct sb_subject {
  const char *scene;
  const sb_solver_api *api;
  const double *params;       /* NULL: defaults */
  const sb_model_store *one;  /* one world */
  const sb_model_store *more; /* the same bodies and particles, then others; NULL when there is none */
  uint32_t ticks;             /* of each run, at least 2 */
  bool brief;                 /* fewer thread counts, and 40 worlds instead of 64: before a run, where the user waits */
  const sb_memory_source *memory; /* of the check "memory"; NULL for the portable one */
  const char *(*complaint)(void); /* what that memory has seen so far, or NULL */
  bool has_plain, has_hostile;
  uint64_t plain, plain_end; /* digest of all ticks; hash of the state at the end */
  uint64_t hostile;
  bool overran;   /* a check has seen writes beside its arrays */
  bool stopped;   /* a run ended before its last tick, for a reason of its own */
  char text[320]; /* what a check found, when it fails */
} sb_subject;

/* The advice of each check. */
#define SB_FIX_BOUNDS "check indices against counts"
#define SB_FIX_REPEAT "keep no static variables"
#define SB_FIX_LANES "one text for all widths; sums in one order"
#define SB_FIX_MEMORY "use no addresses; fill what you allocate"
#define SB_FIX_SHUFFLE "chunks write their own; sum afterwards in index order"
#define SB_FIX_THREADS "cut work by the scene, never by threads"
#define SB_FIX_BROAD_PHASE "do not depend on the order in which contacts were found"
#define SB_FIX_PADDING "mind counts; write new contact elements whole"
#define SB_FIX_WORLDS "use world_key, not the index"
#define SB_FIX_CROWD "each chunk writes only what is its own"
#define SB_FIX_UNRELATED \
  "use no counts of the whole scene; a force that reaches everything needs a range, as a parameter: the others stand 60 m away"
#define SB_FIX_OWNERSHIP "go through sb_bind.bodies and sb_bind.particles"
#define SB_FIX_MODEL "keep what changes in state of its own"
#define SB_FIX_SNAPSHOT "register what survives a tick"
#define SB_FIX_RESET "derive nothing from earlier runs"
#define SB_FIX_ENVIRONMENT "leave rounding and subnormal settings alone"

typedef struct sb_behaviour_check {
  const char *name;
  const char *text; /* what must not change anything */
  const char *fix;  /* what the solver's author can do when it fails */
  bool (*run)(sb_subject *s);
} sb_behaviour_check;

/* The first is "bounds": others would suffer from what it finds. */
extern const sb_behaviour_check sb_behaviour_checks[];
extern const size_t sb_behaviour_check_count;
/* The check of that name, or NULL. */
const sb_behaviour_check *sb_behaviour_find(const char *name);

#endif
