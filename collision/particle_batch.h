/* The batch that particle contacts hand to their lane objects: a block of particles against one shape. C library only. */
#ifndef SAMEBIT_COLLISION_PARTICLE_BATCH_H
#define SAMEBIT_COLLISION_PARTICLE_BATCH_H

#include <stdint.h>

#define PARTICLE_BLOCK 64

typedef struct particle_batch {
  /* in, of the block: positions, ways moved in the tick, radius and margins */
  float x[3][PARTICLE_BLOCK];
  float move[3][PARTICLE_BLOCK];
  float allowed[PARTICLE_BLOCK];
  /* in, of the shape: type (SB_SHAPE_*), pose in the world, size, way moved, margin and swing */
  uint32_t type;
  float pose[7];
  float size[3];
  float step[3];
  float extra;
  /* out: position, normal and point in the shape's frame; centre to surface; by how much that is within reach */
  float local[3][PARTICLE_BLOCK];
  float normal[3][PARTICLE_BLOCK];
  float point[3][PARTICLE_BLOCK];
  float distance[PARTICLE_BLOCK];
  float within[PARTICLE_BLOCK];
} particle_batch;

/* Runs the first `count` particles, rounded up to whole bundles; the rest of the block must hold finite numbers. For hulls, meshes and
 * heightfields, whose points other files find, `local` and `within` alone are written, the latter as the reach. Lanes are independent, so
 * the bits do not depend on the width. */
void collision_particles_lanes1(particle_batch *b, uint32_t count);
void collision_particles_lanes4(particle_batch *b, uint32_t count);
void collision_particles_lanes8(particle_batch *b, uint32_t count);

#endif
