/* The triangles of meshes and heightfields, with what is around them: a walk through those in a box. Knows collision_state.h and
 * surface.kernel.h. */
#ifndef SAMEBIT_COLLISION_SURFACE_H
#define SAMEBIT_COLLISION_SURFACE_H

#include "geometry_access.h"

#include "surface.kernel.h"

/* Calls visit for each triangle whose box, or for a heightfield whose cell's column, meets the walk's. */
typedef struct surface_walk {
  const sb_model *model;
  uint32_t geometry;
  bool is_hfield;
  void (*visit)(void *user, const SurfaceTriangle *t);
  void *user;
} surface_walk;

/* lo, hi: box in the surface's frame. */
void collision_walk_surface(const surface_walk *walk, V3 lo, V3 hi);

/* Whether a contact at vertex k of the triangle, away from the surface along q (surface's frame), belongs there: q leans away from all
 * edges around it. */
bool collision_vertex_owns(const sb_model *m, bool is_hfield, const SurfaceTriangle *t, uint32_t k, V3 q);

#endif
