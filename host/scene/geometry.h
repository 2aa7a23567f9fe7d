/* Geometry of shapes, from meshes and heights to the arrays of samebit/model.h: centred, rounded to binary32. Knows hull.h, mesh.h and
 * the model builder. */
#ifndef SAMEBIT_HOST_GEOMETRY_H
#define SAMEBIT_HOST_GEOMETRY_H

#include "hull.h"
#include "model_builder.h"

typedef enum geometry_result { GEOMETRY_GOOD, GEOMETRY_FLAT, GEOMETRY_EMPTY, GEOMETRY_NO_MEMORY } geometry_result;

/* Each adds a geometry to the builder. *index is its number. centre: where its origin lies in the frame of what was given; a shape with
 * it has its pose there and the size `half` (m). */
typedef struct geometry_place {
  int32_t index;
  double centre[3];
  double half[3];
} geometry_place;

/* The convex hull, simplified to SB_HULL_MAX_VERTICES; *left_out (m) as in hull_build. */
geometry_result geometry_add_hull(sb_model_builder *builder, const mesh *points, geometry_place *place, double *left_out);
/* The triangles with an AABB tree over them. A flat mesh gets a small thickness in its half extents. */
geometry_result geometry_add_mesh(sb_model_builder *builder, const mesh *m, geometry_place *place);
/* Heights (m) row by row, rows along y, columns along x, over a rectangle of half extents half_x, half_y (m) about the origin. */
geometry_result geometry_add_hfield(sb_model_builder *builder, uint32_t rows, uint32_t columns, double half_x, double half_y,
                                    const double *height, geometry_place *place);

#endif
