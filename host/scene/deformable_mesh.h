/* Surfaces and tetrahedra of deformables, from triangles over particles that a builder already has: rest data, unique edges, bending.
 * Private to the scene layer. */
#ifndef SAMEBIT_HOST_DEFORMABLE_MESH_H
#define SAMEBIT_HOST_DEFORMABLE_MESH_H

#include "cook_math.h"
#include "model_builder.h"

/* Zero but for the material is an empty surface. */
typedef struct deformable_surface {
  double ke, ka, kd, drag, lift; /* as sb_build_tri */
  double rigidity;               /* N m, flexural rigidity */
  double bending_kd;             /* N m s/rad of each edge */
  bool regular;                  /* a square grid with alternating diagonals: each edge has the rigidity itself */
  bool flat_rest;                /* rest angles are 0 whatever the shape */
  int32_t *tri;                  /* 3 each */
  uint32_t count, capacity;
  bool failed;
} deformable_surface;

/* False when memory runs out. */
bool deformable_surface_add(deformable_surface *s, const int32_t tri[3]);

/* Adds the triangles, then each edge once, by its lower and higher particle; frees the list. *bad (may be NULL) gets the triangle that
 * has no area, and false is returned; also when memory runs out, with *bad -1. */
bool deformable_surface_build(deformable_surface *s, sb_model_builder *builder, int32_t *bad);

/* Adds a tetrahedron with its rest data; turned round where its volume is below 0. False where it has none. */
bool deformable_add_tet(sb_model_builder *builder, const sb_build_tet *tet);

#endif
