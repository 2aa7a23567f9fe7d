/* The present frame of a simulation as a Wavefront OBJ file, for looking at: shapes as facets, deformables by their triangles, else by
 * the surface of their tetrahedra, else by their springs as lines. Presentation only. */
#ifndef SAMEBIT_HOST_FRAME_OBJ_H
#define SAMEBIT_HOST_FRAME_OBJ_H

#include <stdio.h>

#include "sim.h"

/* World `world` alone; names as in the scene. Planes are drawn as squares of side 2 * plane_half (m). False when memory runs out. */
bool sb_frame_write_obj(FILE *file, sb_sim *sim, const sb_model_store *store, uint32_t world, double plane_half);

#endif
