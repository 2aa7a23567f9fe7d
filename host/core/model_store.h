/* Owned models: building, cooked bytes, replication over worlds, names. C library only.
 *
 * A model is built once (by the scene layer), finalised, and then immutable. Cooked bytes are little-endian, the same on
 * every machine, and hold one world; replication makes the model that a run uses. */
#ifndef SAMEBIT_HOST_MODEL_STORE_H
#define SAMEBIT_HOST_MODEL_STORE_H

#include "diagnostic.h"
#include "samebit/model.h"

typedef struct sb_model_store sb_model_store;

/* Which name table */
typedef enum sb_name_kind {
  SB_NAME_BODY,
  SB_NAME_DOF,
  SB_NAME_SHAPE,
  SB_NAME_ACTUATOR,
  SB_NAME_EQUALITY,
  SB_NAME_TENDON,
  SB_NAME_SENSOR,
  SB_NAME_DEFORMABLE,
  SB_NAME_KINDS
} sb_name_kind;

/* Reads cooked bytes. Every count, index and number is checked; damaged or hostile bytes give one diagnostic. */
sb_status sb_model_store_from_bytes(const void *bytes, size_t size, const char *where, sb_model_store **out,
                                    sb_diagnostics *diag);
/* Cooked bytes of a model of one world; free() them. */
sb_status sb_model_store_to_bytes(const sb_model_store *store, void **bytes, size_t *size, sb_diagnostics *diag);
/* `worlds` copies of a one-world model, world w having world_key first_key + w. Names are shared with `one`, which must
 * outlive the result. */
sb_status sb_model_store_replicate(const sb_model_store *one, uint32_t worlds, uint32_t first_key, sb_model_store **out,
                                   sb_diagnostics *diag);
/* Bytes that the arrays of such a replica take. */
double sb_model_store_replica_bytes(const sb_model_store *one, uint32_t worlds);
void sb_model_store_free(sb_model_store *store);

const sb_model *sb_model_store_view(const sb_model_store *store);
/* 64-bit hash of the cooked bytes; the same for every replication of one model. */
uint64_t sb_model_store_hash(const sb_model_store *store);
/* Name of an entity ("" when it has none); in a replicated model index counts over all worlds. */
const char *sb_model_store_name(const sb_model_store *store, sb_name_kind kind, uint32_t index);
/* Tick length (s, as a fraction) that the scene file asks for; 0/1 when it does not say. */
void sb_model_store_dt(const sb_model_store *store, uint32_t *numerator, uint32_t *denominator);

#endif
