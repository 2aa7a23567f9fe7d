/* Where two dumps (sb_sim_dump) differ first. */
#ifndef SAMEBIT_HOST_DUMP_COMPARE_H
#define SAMEBIT_HOST_DUMP_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "diagnostic.h"

typedef struct sb_dump_difference {
  char array[128]; /* "state.body_q"; "" when the dumps are equal */
  uint32_t element, component;
  int32_t body; /* -1 when it belongs to none */
  uint32_t a, b; /* both words */
} sb_dump_difference;

/* SB_E_IO with a diagnostic when a file cannot be read, SB_E_FORMAT when both have other arrays. */
sb_status sb_dump_compare(const char *path_a, const char *path_b, sb_dump_difference *difference, sb_diagnostics *diag);

#endif
