/* The registry of state arrays: the one place that knows all state. Hash, snapshot, restore, compare and the NaN guard read
 * it and nothing else. C library alone. */
#ifndef SAMEBIT_HOST_ARRAY_REGISTRY_H
#define SAMEBIT_HOST_ARRAY_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>

#include "samebit/state.h"
#include "sim_memory.h"
#include "state_hash.h"

typedef struct sb_array {
  char name[96]; /* "part.name" */
  uint32_t id;   /* in the hash */
  uint32_t type;
  uint32_t domain;
  uint32_t components;
  uint32_t count;
  uint32_t lane_block;
  const uint32_t *world_start; /* world_count + 1 */
  uint32_t *data;
  size_t words; /* allocated, padding of the last lane block included */
  uint32_t *owned_world_start;
  /* An array with a copy on a device: which of the two is the truth. One of them always is. */
  bool on_device;                    /* it has a copy there */
  bool stale_on_host, stale_on_device;
  bool stays_there; /* where both are true the copy is hashed: the host leaves the array alone */
} sb_array;

/* Whether the copy on the device is what is hashed. */
static inline bool sb_array_hashed_there(const sb_array *a) { return a->stale_on_host || (a->stays_there && !a->stale_on_device); }

/* Elements in use: all, but for contact arrays, which hold as many as the last tick had contacts. */
static inline uint32_t sb_array_live(const sb_array *a, uint32_t world_count) { return a->world_start[world_count]; }


typedef struct sb_registry {
  const sb_model *model;
  sb_array *arrays;
  size_t count;
  size_t capacity;
  uint32_t *domain_start[SB_DOMAIN_CUSTOM]; /* first element of each world for each model domain */
  uint32_t domain_count[SB_DOMAIN_CUSTOM];
  const sb_memory_source *memory; /* NULL for the C library */
} sb_registry;

sb_status sb_registry_init(sb_registry *registry, const sb_model *model);
void sb_registry_free(sb_registry *registry);

/* contact_start: for SB_DOMAIN_CONTACT, the first contact of each world in the part's list, kept up to date by the caller; NULL
 * when the part has none. */
sb_status sb_registry_add_for(sb_registry *registry, const char *part, const sb_array_desc *desc, const uint32_t *contact_start,
                              uint32_t contact_capacity, void **data, char *error, size_t error_size);
/* Adds an array of `part`; *data is zeroed and 64-byte aligned. SB_E_ARGUMENT, with the reason in error, for a bad
 * description or a name that is taken. */
sb_status sb_registry_add(sb_registry *registry, const char *part, const sb_array_desc *desc, void **data, char *error,
                          size_t error_size);
const sb_array *sb_registry_find(const sb_registry *registry, const char *name);

/* Word index of (element, component). */
static inline size_t sb_array_word(const sb_array *a, uint32_t element, uint32_t component)
{
  uint32_t block = a->lane_block;
  return ((size_t)(element / block) * a->components + component) * block + element % block;
}

/* Sums of one array in one world. *bad gets true when a float is not finite (left alone otherwise). */
sb_hash_sums sb_array_hash_world(const sb_array *a, uint32_t world, uint32_t lanes, bool *bad);
/* First non-finite float of a: false when there is none. */
bool sb_array_first_bad(const sb_array *a, uint32_t world_count, uint32_t *element, uint32_t *component);
/* Body that owns an element (joints and coordinates belong to their child body), or -1. */
int32_t sb_array_body(const sb_registry *registry, const sb_array *a, uint32_t element);

#endif
