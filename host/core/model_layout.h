/* The array list of samebit/model.h as a table, for code that treats all arrays alike: copy, cook, check, print. */
#ifndef SAMEBIT_HOST_MODEL_LAYOUT_H
#define SAMEBIT_HOST_MODEL_LAYOUT_H

#include "samebit/model.h"

#include <stddef.h>

enum {
#define SB_X(NAME, count) SB_DOMAIN_##NAME,
  SB_MODEL_DOMAINS(SB_X)
#undef SB_X
      SB_DOMAIN_COUNT
};

enum {
#define SB_X(DOMAIN, type, name, comps, ref, doc) SB_ARRAY_##name,
  SB_MODEL_ARRAYS(SB_X)
#undef SB_X
      SB_ARRAY_COUNT
};

typedef enum sb_element { SB_ELEMENT_FLOAT, SB_ELEMENT_UINT, SB_ELEMENT_INT } sb_element;

/* Every element is 4 bytes wide. */
typedef struct sb_array_info {
  const char *name;
  const char *doc;
  size_t offset; /* of the pointer in sb_model */
  sb_element element;
  uint32_t components;
  int domain;    /* SB_DOMAIN_* */
  int reference; /* domain that an index array points into; -1 for none */
} sb_array_info;

extern const sb_array_info sb_array_table[SB_ARRAY_COUNT];

/* Number of entities of a domain. */
uint32_t sb_model_domain_count(const sb_model *model, int domain);
/* First word of an array of the table; NULL when the domain is empty. */
const void *sb_model_array(const sb_model *model, int array);

#endif
