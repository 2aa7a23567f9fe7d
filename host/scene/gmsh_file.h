/* Meshes of Gmsh (.msh), ASCII, format 2.2 and 4.1: nodes and the simplices of one dimension. Private to the scene layer.
 *
 * Untrusted input: sizes and tags are checked before use; what is wrong gives one diagnostic with the line. */
#ifndef SAMEBIT_HOST_GMSH_FILE_H
#define SAMEBIT_HOST_GMSH_FILE_H

#include "diagnostic.h"

typedef struct gmsh_mesh {
  double *point;    /* 3 each, m */
  int32_t *element; /* dim + 1 points each */
  uint32_t points, elements;
} gmsh_mesh;

/* dim: 1 lines, 2 triangles, 3 tetrahedra; other elements are passed over. `remaining` as in scene_file_read. The mesh is the caller's
 * to clear, on failure too. */
sb_status gmsh_file_read(const char *path, const char *where, uint64_t *remaining, int dim, gmsh_mesh *out, sb_diagnostics *diag);
void gmsh_clear(gmsh_mesh *m);

#endif
