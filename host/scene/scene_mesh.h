/* Mesh assets of a scene: triangles, their mass, and the shapes made of them. Private to the scene layer. */
#ifndef SAMEBIT_HOST_SCENE_MESH_H
#define SAMEBIT_HOST_SCENE_MESH_H

#include "geometry.h"
#include "xml_input.h"

/* Bytes that the mesh files of one scene may have together. */
#define SCENE_MESH_LIMIT (UINT64_C(512) << 20)

typedef struct scene_mesh {
  const xmlNode *node; /* that asked for it */
  mesh triangles;      /* owned */
  bool has_mass, has_triangles, has_hull;
  mesh_mass mass;
  geometry_place as_triangles, as_hull;
} scene_mesh;

/* Volume, centre and inertia for density 1: of the solid that the triangles enclose, or of their hull, with a note, where they are not
 * closed. NULL after an error. */
const mesh_mass *scene_mesh_mass(xml_input *in, scene_mesh *m);

/* Completes a shape whose pose is that of the mesh's own frame: triangles where it never moves, else their hull. False after an error. */
bool scene_mesh_shape(xml_input *in, scene_mesh *m, sb_model_builder *builder, bool is_static, sb_build_shape *shape);

#endif
