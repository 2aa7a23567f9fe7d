/* Walks through meshes (bounding boxes in a tree) and heightfields (cells of a grid). Knows surface.h. */
#include "surface.h"

#include "geometry_access.h"

#include "convex_manifold.kernel.h"

static V3 mesh_vertex(const sb_model *m, uint32_t g, uint32_t corner)
{
  return load_v3(m->geometry_vertex + 3 * (size_t)(m->geometry_vertices[2 * (size_t)g] + m->corner_vertex[corner]));
}

/* First corner of a triangle. */
static uint32_t mesh_corner(const sb_model *m, uint32_t g, uint32_t triangle)
{
  return m->face_corners[2 * (size_t)(m->geometry_faces[2 * (size_t)g] + triangle)];
}

static void visit_mesh_triangle(const surface_walk *walk, uint32_t triangle)
{
  const sb_model *m = walk->model;
  uint32_t g = walk->geometry;
  uint32_t first_face = m->geometry_faces[2 * (size_t)g], corner = mesh_corner(m, g, triangle);
  surface_triangle s = {.id = triangle, .geometry = g};
  s.normal[0] = load_v3(m->face_normal + 3 * (size_t)(first_face + triangle));
  for (uint32_t k = 0; k < 3; k++) {
    int32_t other = m->corner_neighbour[corner + k];
    s.vertex[k] = mesh_vertex(m, g, corner + k);
    s.normal[k + 1] = other < 0 ? s.normal[0] : load_v3(m->face_normal + 3 * (size_t)(first_face + (uint32_t)other));
    if (other < 0) s.open |= 1u << k;
  }
  walk->visit(walk->user, &s);
}

#define MOST_AROUND 64

/* Walks the triangles around a vertex of a mesh, one way and, from an open edge, the other; asks for the edges on the way. */
static bool mesh_vertex_owns(const sb_model *m, const surface_triangle *s, uint32_t k, V3 q)
{
  uint32_t vertex = m->corner_vertex[mesh_corner(m, s->geometry, s->id) + k];
  for (uint32_t way = 0; way < 2; way++) {
    uint32_t triangle = s->id;
    for (uint32_t step = 0; step < MOST_AROUND; step++) {
      uint32_t corner = mesh_corner(m, s->geometry, triangle), at = 0;
      while (at < 2 && m->corner_vertex[corner + at] != vertex) at++;
      uint32_t next = corner + (at + 1) % 3, before = corner + (at + 2) % 3;
      if (!triangle_vertex_admits(s->vertex[k], mesh_vertex(m, s->geometry, next), q)) return false;
      if (!triangle_vertex_admits(s->vertex[k], mesh_vertex(m, s->geometry, before), q)) return false;
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

/* Cell of a coordinate along one axis of a grid. */
static uint32_t grid_cell_of(float x, float half, float per_cell, uint32_t cells)
{
  float t = (x + half) * per_cell;
  if (!(t >= 1.0f)) return 0;
  return t >= (float)(cells - 1) ? cells - 1 : (uint32_t)t;
}

typedef struct height_grid {
  const float *height;
  uint32_t rows, columns;
  float half[2], step[2];
} height_grid;

static V3 grid_vertex(const height_grid *g, uint32_t row, uint32_t column)
{
  return v3((float)column * g->step[0] - g->half[0], (float)row * g->step[1] - g->half[1],
            g->height[(size_t)row * g->columns + column]);
}

/* Triangle 0 of a cell is below its diagonal from the first to the last corner, triangle 1 above it. */
static void grid_triangle(const height_grid *g, uint32_t row, uint32_t column, uint32_t which, V3 out[3])
{
  out[0] = grid_vertex(g, row, column);
  out[1] = which ? grid_vertex(g, row + 1, column + 1) : grid_vertex(g, row, column + 1);
  out[2] = which ? grid_vertex(g, row + 1, column) : grid_vertex(g, row + 1, column + 1);
}

static V3 grid_normal(const height_grid *g, uint32_t row, uint32_t column, uint32_t which)
{
  V3 t[3];
  grid_triangle(g, row, column, which, t);
  V3 n = v3_cross(v3_sub(t[1], t[0]), v3_sub(t[2], t[0]));
  return v3_scale(n, 1.0f / f_sqrt(v3_len2(n)));
}

static void visit_cell(const surface_walk *walk, const height_grid *g, uint32_t row, uint32_t column)
{
  V3 lower = grid_normal(g, row, column, 0), upper = grid_normal(g, row, column, 1);
  bool first_row = row == 0, last_row = row + 2 == g->rows, first_column = column == 0, last_column = column + 2 == g->columns;
  surface_triangle s = {.normal = {lower, first_row ? lower : grid_normal(g, row - 1, column, 1),
                                   last_column ? lower : grid_normal(g, row, column + 1, 1), upper},
                        .open = (first_row ? 1u : 0u) | (last_column ? 2u : 0u),
                        .id = 2 * (row * (g->columns - 1) + column),
                        .geometry = walk->geometry, .row = row, .column = column};
  grid_triangle(g, row, column, 0, s.vertex);
  walk->visit(walk->user, &s);
  surface_triangle u = {.normal = {upper, lower, last_row ? upper : grid_normal(g, row + 1, column, 0),
                                   first_column ? upper : grid_normal(g, row, column - 1, 0)},
                        .open = (last_row ? 2u : 0u) | (first_column ? 4u : 0u),
                        .id = s.id + 1,
                        .geometry = walk->geometry, .row = row, .column = column};
  grid_triangle(g, row, column, 1, u.vertex);
  walk->visit(walk->user, &u);
}

static height_grid grid_of(const sb_model *m, uint32_t geometry)
{
  const uint32_t *grid = m->geometry_grid + 3 * (size_t)geometry;
  const float *half = m->geometry_half + 3 * (size_t)geometry;
  return (height_grid){m->geometry_height + grid[0], grid[1], grid[2], {half[0], half[1]},
                       {2.0f * half[0] / (float)(grid[2] - 1), 2.0f * half[1] / (float)(grid[1] - 1)}};
}

/* The six edges around a vertex of a grid. */
static bool grid_vertex_owns(const sb_model *m, const surface_triangle *s, uint32_t k, V3 q)
{
  static const int around[6][2] = {{0, 1}, {1, 1}, {1, 0}, {0, -1}, {-1, -1}, {-1, 0}};
  height_grid g = grid_of(m, s->geometry);
  bool upper = s->id & 1u;
  int row = (int)(s->row + (k == 0 ? 0 : k == 1 ? upper : 1)), column = (int)(s->column + (k == 0 ? 0 : k == 1 ? 1 : !upper));
  for (int i = 0; i < 6; i++) {
    int r = row + around[i][0], c = column + around[i][1];
    if (r < 0 || c < 0 || r >= (int)g.rows || c >= (int)g.columns) continue;
    if (!triangle_vertex_admits(s->vertex[k], grid_vertex(&g, (uint32_t)r, (uint32_t)c), q)) return false;
  }
  return true;
}

static void walk_hfield(const surface_walk *walk, V3 lo, V3 hi)
{
  const sb_model *m = walk->model;
  const float *half = m->geometry_half + 3 * (size_t)walk->geometry;
  height_grid g = grid_of(m, walk->geometry);
  uint32_t cells[2] = {g.columns - 1, g.rows - 1};
  if (lo.x > half[0] || hi.x < -half[0] || lo.y > half[1] || hi.y < -half[1] || lo.z > half[2]) return;
  uint32_t column0 = grid_cell_of(lo.x, half[0], 1.0f / g.step[0], cells[0]), column1 = grid_cell_of(hi.x, half[0], 1.0f / g.step[0], cells[0]);
  uint32_t row0 = grid_cell_of(lo.y, half[1], 1.0f / g.step[1], cells[1]), row1 = grid_cell_of(hi.y, half[1], 1.0f / g.step[1], cells[1]);
  for (uint32_t row = row0; row <= row1; row++)
    for (uint32_t column = column0; column <= column1; column++) {
      const float *h = g.height + (size_t)row * g.columns + column;
      float top = f_max(f_max(h[0], h[1]), f_max(h[g.columns], h[g.columns + 1]));
      if (top >= lo.z) visit_cell(walk, &g, row, column);
    }
}

void collision_walk_surface(const surface_walk *walk, V3 lo, V3 hi)
{
  if (walk->is_hfield)
    walk_hfield(walk, lo, hi);
  else
    walk_mesh(walk, lo, hi);
}

bool collision_vertex_owns(const sb_model *m, bool is_hfield, const surface_triangle *t, uint32_t k, V3 q)
{
  return is_hfield ? grid_vertex_owns(m, t, k, q) : mesh_vertex_owns(m, t, k, q);
}
