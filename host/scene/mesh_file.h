/* Mesh files: STL, binary and ASCII, and OBJ. Heightfield files of MuJoCo. Private to the scene layer.
 *
 * Untrusted input: sizes and indices are checked before use; what is wrong gives one diagnostic with the line or byte. */
#ifndef SAMEBIT_HOST_MESH_FILE_H
#define SAMEBIT_HOST_MESH_FILE_H

#include "diagnostic.h"
#include "mesh.h"

/* Whether the name ends as that of a mesh file that can be read. */
bool mesh_file_known(const char *path);

/* Reads and welds a mesh; what the bytes are is judged by the name's ending (.stl, .obj). `where` says who asked; `remaining` as in
 * scene_file_read. The mesh is the caller's to clear, on failure too. */
sb_status mesh_file_read(const char *path, const char *where, uint64_t *remaining, const double scale[3], mesh *out,
                         sb_diagnostics *diag);

/* Little-endian: int32 rows, int32 columns, then rows * columns float32. *height (free() it) is what they say. */
sb_status height_file_read(const char *path, const char *where, uint64_t *remaining, uint32_t *rows, uint32_t *columns, double **height,
                           sb_diagnostics *diag);

#endif
