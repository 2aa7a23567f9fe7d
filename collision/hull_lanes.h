/* Scans of a hull's vertices and faces over lanes. C library only. */
#ifndef SAMEBIT_COLLISION_HULL_LANES_H
#define SAMEBIT_COLLISION_HULL_LANES_H

#include <stdint.h>

/* Floats that must be readable after the last point of each component. */
#define HULL_LANES_ROOM 8

/* Which of `count` points (1 or more, by component, from index `first` on) is the farthest along d, counted from the first; of equal
 * ones the first. The same at every width. */
typedef uint32_t (*collision_farthest_fn)(const float *const points[3], uint32_t first, uint32_t count, const float d[3]);

uint32_t collision_farthest_lanes1(const float *const points[3], uint32_t first, uint32_t count, const float d[3]);
uint32_t collision_farthest_lanes4(const float *const points[3], uint32_t first, uint32_t count, const float d[3]);
uint32_t collision_farthest_lanes8(const float *const points[3], uint32_t first, uint32_t count, const float d[3]);

#endif
