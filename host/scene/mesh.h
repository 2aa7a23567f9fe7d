/* Triangle meshes while they are cooked, in binary64: welding, closedness, mass. Knows the C library and cook_math.h. */
#ifndef SAMEBIT_HOST_MESH_H
#define SAMEBIT_HOST_MESH_H

#include <stdbool.h>
#include <stdint.h>

/* Vertices (m) and triangles, corners counter-clockwise seen from outside. All zero bytes is an empty mesh. */
typedef struct mesh {
  double *vertex; /* 3 each */
  uint32_t *corner; /* 3 for each triangle */
  uint32_t vertex_count, triangle_count;
  uint32_t vertex_capacity, triangle_capacity;
} mesh;

#define MESH_MAX_VERTICES (1u << 22)
#define MESH_MAX_TRIANGLES (1u << 22)

void mesh_clear(mesh *m);
/* False when memory or the limits above run out. */
bool mesh_add_vertex(mesh *m, const double at[3]);
bool mesh_add_triangle(mesh *m, uint32_t a, uint32_t b, uint32_t c);
/* Rounds the vertices to binary32, makes one of those that are equal then, and drops triangles without area. */
bool mesh_weld(mesh *m);
/* Faces across each corner's edge (from it to the next); -1 where there is none or more than one. NULL without memory; free() it. */
int32_t *mesh_neighbours(const mesh *m);

/* Integrals over the solid for density 1 kg/m^3. */
typedef struct mesh_mass {
  double volume; /* m^3 */
  double com[3];
  double inertia[6]; /* about com: xx yy zz xy xz yz */
} mesh_mass;

typedef enum mesh_solidity { MESH_CLOSED, MESH_INSIDE_OUT, MESH_OPEN } mesh_solidity;

/* Exact integrals of the polyhedron (sums of tetrahedra with the middle of the bounding box; Tonon 2005). They mean something when it is
 * MESH_CLOSED. MESH_INSIDE_OUT: closed with its normals inwards. False without memory. */
bool mesh_integrate(const mesh *m, mesh_mass *mass, mesh_solidity *solidity);
/* Turns every triangle round. */
void mesh_flip(mesh *m);
/* Middle and half extents of the bounding box. */
void mesh_bounds(const mesh *m, double centre[3], double half[3]);

#endif
