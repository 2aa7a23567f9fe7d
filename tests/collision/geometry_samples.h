/* Geometry for the collision tests, cooked as scenes cook it. Knows the scene layer. */
#ifndef SAMEBIT_TEST_GEOMETRY_SAMPLES_H
#define SAMEBIT_TEST_GEOMETRY_SAMPLES_H

#include "geometry.h"

/* Hulls 0 to SAMPLE_HULLS - 1: a cube of half extent 1/2, a tetrahedron, a prism of 32 sides, a needle, a plate, then random points in
 * balls and boxes, 4 to 64 of them. */
#define SAMPLE_HULLS 24
sb_model_store *sample_hulls(void);

/* A triangulated rectangle of n by n cells about the origin, half extent `half`, height of vertex (row, column) by the function. */
void sample_sheet(mesh *m, uint32_t n, double half, double (*height)(uint32_t row, uint32_t column));
/* A closed box. */
void sample_box(mesh *m, double x, double y, double z);

#endif
