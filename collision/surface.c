/* Walks through meshes (bounding boxes in a tree) and heightfields (cells of a grid). Knows surface.h. */
#include "surface.h"

static V3 mesh_vertex(const sb_model *m, uint32_t g, uint32_t corner)
{
  return load_v3(m->geometry_vertex + 3 * (size_t)(m->geometry_vertices[2 * (size_t)g] + m->corner_vertex[corner]));
}

/* First corner of a triangle. */
static uint32_t mesh_corner(const sb_model *m, uint32_t g, uint32_t triangle)
{
  return m->face_corners[2 * (size_t)(m->geometry_faces[2 * (size_t)g] + triangle)];
}

static V3 mesh_normal(const sb_model *m, uint32_t g, uint32_t triangle)
{
  return load_v3(m->face_normal + 3 * (size_t)(m->geometry_faces[2 * (size_t)g] + triangle));
}

static void visit_mesh_triangle(const surface_walk *walk, uint32_t triangle)
{
  const sb_model *m = walk->model;
  uint32_t g = walk->geometry;
  uint32_t corner = mesh_corner(m, g, triangle);
  SurfaceTriangle s = {.v0 = mesh_vertex(m, g, corner), .v1 = mesh_vertex(m, g, corner + 1), .v2 = mesh_vertex(m, g, corner + 2),
                       .n = mesh_normal(m, g, triangle), .id = triangle, .geometry = g};
  V3 across[3];
  for (uint32_t k = 0; k < 3; k++) {
    int32_t other = m->corner_neighbour[corner + k];
    across[k] = other < 0 ? s.n : mesh_normal(m, g, (uint32_t)other);
    if (other < 0) s.open_edges |= 1u << k;
  }
  s.n0 = across[0], s.n1 = across[1], s.n2 = across[2];
  walk->visit(walk->user, &s);
}

#define MOST_AROUND 64

/* Walks the triangles around a vertex of a mesh, one way and, from an open edge, the other; asks for the edges on the way. */
static bool mesh_vertex_owns(const sb_model *m, const SurfaceTriangle *s, uint32_t k, V3 q)
{
  uint32_t vertex = m->corner_vertex[mesh_corner(m, s->geometry, s->id) + k];
  V3 at_vertex = surface_vertex(s, k);
  for (uint32_t way = 0; way < 2; way++) {
    uint32_t triangle = s->id;
    for (uint32_t step = 0; step < MOST_AROUND; step++) {
      uint32_t corner = mesh_corner(m, s->geometry, triangle), at = 0;
      while (at < 2 && m->corner_vertex[corner + at] != vertex) at++;
      uint32_t next = corner + (at + 1) % 3, before = corner + (at + 2) % 3;
      if (!triangle_vertex_admits(at_vertex, mesh_vertex(m, s->geometry, next), q)) return false;
      if (!triangle_vertex_admits(at_vertex, mesh_vertex(m, s->geometry, before), q)) return false;
      int32_t other = m->corner_neighbour[way ? corner + at : before];
      if (other < 0) break;
      triangle = (uint32_t)other;
      if (triangle == s->id) return true;
    }
  }
  return true;
}

static void walk_mesh(const surface_walk *walk, V3 lo, V3 hi)
{
  const sb_model *m = walk->model;
  const uint32_t *nodes = m->geometry_nodes + 2 * (size_t)walk->geometry;
  for (uint32_t n = 0; n < nodes[1];) {
    size_t node = nodes[0] + n;
    const float *box = m->node_box + 6 * node;
    bool hit = box[0] <= hi.x && lo.x <= box[3] && box[1] <= hi.y && lo.y <= box[4] && box[2] <= hi.z && lo.z <= box[5];
    const uint32_t *faces = m->node_faces + 2 * node;
    for (uint32_t f = 0; hit && f < faces[1]; f++) visit_mesh_triangle(walk, faces[0] + f);
    n = hit ? n + 1 : m->node_next[node];
  }
}

static HeightGrid grid_of_geometry(const sb_model *m, uint32_t geometry)
{
  const uint32_t *grid = m->geometry_grid + 3 * (size_t)geometry;
  return grid_of(grid[0], grid[1], grid[2], load_v3(m->geometry_half + 3 * (size_t)geometry));
}

static void visit_cell(const surface_walk *walk, HeightGrid g, uint32_t row, uint32_t column)
{
  const float *heights = walk->model->geometry_height;
  V3 lower = grid_normal(heights, g, row, column, 0), upper = grid_normal(heights, g, row, column, 1);
  for (uint32_t which = 0; which < 2; which++) {
    SurfaceTriangle s = grid_triangle(heights, g, row, column, which, which ? upper : lower, which ? lower : upper);
    s.geometry = walk->geometry;
    walk->visit(walk->user, &s);
  }
}

static void walk_hfield(const surface_walk *walk, V3 lo, V3 hi)
{
  HeightGrid g = grid_of_geometry(walk->model, walk->geometry);
  GridCells c = grid_cells(g, lo, hi);
  for (uint32_t row = c.row0; c.any && row <= c.row1; row++)
    for (uint32_t column = c.column0; column <= c.column1; column++)
      if (grid_cell_reaches(walk->model->geometry_height, g, row, column, lo.z)) visit_cell(walk, g, row, column);
}

void collision_walk_surface(const surface_walk *walk, V3 lo, V3 hi)
{
  if (walk->is_hfield)
    walk_hfield(walk, lo, hi);
  else
    walk_mesh(walk, lo, hi);
}

bool collision_vertex_owns(const sb_model *m, bool is_hfield, const SurfaceTriangle *t, uint32_t k, V3 q)
{
  return is_hfield ? grid_vertex_owns(m->geometry_height, grid_of_geometry(m, t->geometry), t, k, q) : mesh_vertex_owns(m, t, k, q);
}
