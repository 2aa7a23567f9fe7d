/* What the compiled cases of one file offer to the parity test. */
#ifndef SAMEBIT_TESTS_PARITY_BATCH_H
#define SAMEBIT_TESTS_PARITY_BATCH_H

#include <stdint.h>

#define PARITY_WORDS_MAX 64

typedef struct parity_case {
  const char *name;
  uint32_t in_words;
  uint32_t out_words;
} parity_case;

/* The cases, ended by a NULL name. */
const parity_case *parity_cases(void);

/* Runs case number c over `count` elements, a multiple of 8. */
typedef void parity_batch(uint32_t c, uint32_t count, const uint32_t *in, uint32_t *out);
parity_batch parity_batch_lanes1, parity_batch_lanes4, parity_batch_lanes8;

#endif
