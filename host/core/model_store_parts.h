/* What the files of the model store share: its struct and the steps between them. Private to host/core. */
#ifndef SAMEBIT_HOST_MODEL_STORE_PARTS_H
#define SAMEBIT_HOST_MODEL_STORE_PARTS_H

#include "model_layout.h"
#include "model_store.h"

/* Domain whose entities a kind of name belongs to. */
extern const int sb_name_domain[SB_NAME_KINDS];

/* Names of one kind, one after another, each closed by a NUL; offset[i] is where name i begins. */
typedef struct sb_name_table {
  char *text;
  uint32_t *offset;
  uint32_t count;
  uint32_t size; /* bytes of text */
} sb_name_table;

struct sb_model_store {
  sb_model view;
  uint32_t *starts; /* the world_*_start arrays in one block */
  sb_name_table names[SB_NAME_KINDS];
  bool shares_arrays;              /* all but world_key are those of named_by */
  const sb_model_store *named_by; /* the store that has the names: this one, or the one it is a replica of */
  uint64_t hash;
  uint32_t dt_numerator;
  uint32_t dt_denominator;
};

/* Largest number of entities of one domain in one world; contact keys have 24 bits for a shape. */
#define SB_MODEL_MAX_COUNT ((1u << 24) - 1u)

/* Largest number of joints of one tendon. */
#define SB_TENDON_MAX_TERMS 256u

/* Empty store with arrays of the given counts, all zero. */
sb_status sb_store_allocate(const uint32_t counts[SB_DOMAIN_COUNT], sb_model_store **out, sb_diagnostics *diag);
/* Sets the offsets of a table whose text, size and count are in place; false when the text does not hold count names.
 */
bool sb_name_table_index(sb_name_table *table);
/* Writable array of a store that is being built. */
void *sb_store_array(sb_model_store *store, int array);
/* Hash of the cooked bytes of a store of one world. */
void sb_store_hash(sb_model_store *store);

/* Checks every count, index and number of a one-world model; the first fault gives one diagnostic. */
sb_status sb_model_check(const sb_model_store *store, const char *where, sb_diagnostics *diag);

/* model_deformable_check.c: the first rule that deformables break, with the kind and index of what breaks it; NULL for none. */
const char *sb_deformable_fault(const sb_model *model, const char **kind, uint32_t *index);

/* Inverse mass and inertia of a moving body as binary32, from binary32, by way of binary64. False when the mass is not
 * positive, the tensor not positive definite or an inverse not finite. */
bool sb_derive_inverse(float mass, const float inertia[6], float *inv_mass, float inv_inertia[6]);
/* Inverse mass of a particle as binary32, by way of binary64. */
float sb_inverse_mass(float mass);
/* Static flag, weld and weld parent of body b, from its joint and the values of the bodies before it. */
typedef struct sb_weld {
  uint32_t flags;
  int32_t weld;
  int32_t weld_parent;
} sb_weld;
sb_weld sb_derive_weld(const sb_model *m, uint32_t b);

#endif
