/* The batch that the narrow phase hands to its lane objects: pairs of one type, by component. C library only. */
#ifndef SAMEBIT_COLLISION_NARROW_BATCH_H
#define SAMEBIT_COLLISION_NARROW_BATCH_H

#include <stdint.h>

#define NARROW_BATCH 64

/* Pair types, lower shape type first. Planes do not meet each other. */
typedef enum narrow_type {
  NARROW_PLANE_SPHERE,
  NARROW_PLANE_CAPSULE,
  NARROW_PLANE_BOX,
  NARROW_SPHERE_SPHERE,
  NARROW_SPHERE_CAPSULE,
  NARROW_SPHERE_BOX,
  NARROW_CAPSULE_CAPSULE,
  NARROW_CAPSULE_BOX,
  NARROW_BOX_BOX,
  NARROW_LANE_TYPES, /* those above run over lanes, those below pair by pair */
  NARROW_CONVEX = NARROW_LANE_TYPES,
  NARROW_SURFACE,
  NARROW_TYPES
} narrow_type;

typedef struct narrow_batch {
  /* in: poses in the world, sizes, gap below which a contact is wanted */
  float pose_a[7][NARROW_BATCH];
  float pose_b[7][NARROW_BATCH];
  float size_a[3][NARROW_BATCH];
  float size_b[3][NARROW_BATCH];
  float limit[NARROW_BATCH];
  /* in: where each shape's points are wanted: its pose in its body, or in the world for what never moves */
  float frame_a[7][NARROW_BATCH];
  float frame_b[7][NARROW_BATCH];
  /* out: normal in the world, points in those frames */
  float normal[3][NARROW_BATCH];
  float point_a[12][NARROW_BATCH];
  float point_b[12][NARROW_BATCH];
  float gap[4][NARROW_BATCH];
  uint32_t feature[4][NARROW_BATCH];
} narrow_batch;

/* Runs the kernel of `type` on the first `count` pairs, rounded up to whole bundles of lanes: the pairs up to the next
 * multiple of 8 must hold finite numbers. Each lane is independent, so the bits do not depend on the width. */
void collision_narrow_lanes1(narrow_batch *batch, narrow_type type, uint32_t count);
void collision_narrow_lanes4(narrow_batch *batch, narrow_type type, uint32_t count);
void collision_narrow_lanes8(narrow_batch *batch, narrow_type type, uint32_t count);

#endif
