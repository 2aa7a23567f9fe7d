/* Convex hulls in binary64, by quickhull (Barber, Dobkin, Huhdanpaa 1996), the farthest point of all first. Knows mesh.h. */
#ifndef SAMEBIT_HOST_HULL_H
#define SAMEBIT_HOST_HULL_H

#include "mesh.h"

typedef enum hull_result { HULL_GOOD, HULL_FLAT, HULL_NO_MEMORY } hull_result;

/* The hull of the mesh's vertices as a closed mesh of triangles, with at most `most` vertices (4 to 64). Every vertex of it is one of
 * the points; *left_out (m) is how far points stand out of it. HULL_FLAT: the points span no volume. */
hull_result hull_build(const mesh *points, uint32_t most, mesh *hull, double *left_out);

#endif
