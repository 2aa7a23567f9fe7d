/* How the scalar kernels reach a model's geometry on the CPU: the macros that convex.kernel.h and surface.kernel.h ask for. Include before those kernels.
 * Knows collision_state.h. */
#ifndef SAMEBIT_COLLISION_GEOMETRY_ACCESS_H
#define SAMEBIT_COLLISION_GEOMETRY_ACCESS_H

#include "collision_state.h"

#define GEO_PARAM const sb_collision *geo,
#define GEO geo,
#define GEO_VERTEX(i) load_v3(geo->model->geometry_vertex + 3 * (size_t)(i))
#define GEO_NORMAL(f) load_v3(geo->model->face_normal + 3 * (size_t)(f))
#define GEO_FIRST(f) (geo->model->face_corners[2 * (size_t)(f)])
#define GEO_CORNERS(f) (geo->model->face_corners[2 * (size_t)(f) + 1])
#define GEO_CORNER(k) (geo->model->corner_vertex[k])
#define GEO_FARTHEST_VERTEX(first, count, d) farthest(geo, geo->hull_vertex, first, count, d)
#define GEO_FARTHEST_FACE(first, count, d) farthest(geo, geo->hull_normal, first, count, d)

#define HEIGHTS_PARAM const float *heights,
#define HEIGHTS heights,
#define HEIGHT_AT(i) (heights[i])

#include "samebit/maths.h"

static inline V3 load_v3(const float *p) { return v3(p[0], p[1], p[2]); }

static inline uint32_t farthest(const sb_collision *c, float *const points[3], uint32_t first, uint32_t count, V3 d)
{
  return c->farthest((const float *const *)points, first, count, (const float[3]){d.x, d.y, d.z});
}

#endif
