/* The part of the pipeline's state that belongs to particles. Private to collision/; collision_state.h includes it. */
#ifndef SAMEBIT_COLLISION_PARTICLE_STATE_H
#define SAMEBIT_COLLISION_PARTICLE_STATE_H

#include "particle_batch.h"

#include <stdbool.h>

#include "samebit/particle_contact.h"

/* Blocks of one chunk, at most. */
#define PARTICLE_CHUNK_BLOCKS 8u

/* Up to PARTICLE_BLOCK consecutive particles of one deformable. */
typedef struct particle_block {
  uint32_t begin, end;
  uint32_t deformable;
  collision_box box; /* of this step, with what its particles may reach */
} particle_block;

/* A surface's nearest point to a particle, in the shape's frame. */
typedef struct particle_found {
  V3 n, point;
  float distance; /* of the centre along n */
} particle_found;

typedef struct collision_particles {
  void (*lanes)(particle_batch *b, uint32_t count);
  particle_block *blocks;
  uint32_t block_count;
  uint32_t *chunk_start; /* chunk_count + 1, into blocks */
  uint32_t chunk_count;
  uint64_t *held; /* (particle, body) of attachments, sorted */
  uint32_t held_count;
  bool meets; /* some shape lets some deformable touch it */
  const float *q, *qd; /* of this step */
  float *chunk_deepest;
  uint32_t *start; /* particle_count + 1, into the contacts */
#define SB_X_CONTACT(type, name, comps, doc) type *of_##name;
  SB_PARTICLE_CONTACT_ARRAYS(SB_X_CONTACT)
#undef SB_X_CONTACT
  sb_particle_contacts contacts;
} collision_particles;

#endif
