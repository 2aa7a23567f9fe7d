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
  char text[320]; /* what a check found, when it fails */
} sb_subject;

typedef struct sb_behaviour_check {
  const char *name;
  const char *text; /* what must not change anything */
  bool (*run)(sb_subject *s);
} sb_behaviour_check;

/* The first is "bounds": others would suffer from what it finds. */
extern const sb_behaviour_check sb_behaviour_checks[];
extern const size_t sb_behaviour_check_count;
/* The check of that name, or NULL. */
const sb_behaviour_check *sb_behaviour_find(const char *name);

#endif
