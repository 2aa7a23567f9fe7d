/* Triangles of surfaces, and heightfields as grids of them, in the scalar part of the kernel dialect. Knows convex_manifold.kernel.h.
 *
 * Whoever includes this says where heights lie: HEIGHTS_PARAM and HEIGHTS (first parameter and argument of functions, each with its comma, or
 * nothing) and HEIGHT_AT(i), counted over the model. */
#ifndef SAMEBIT_COLLISION_SURFACE_KERNEL_H
#define SAMEBIT_COLLISION_SURFACE_KERNEL_H

#include "convex_manifold.kernel.h"

/* A triangle with what is needed of its neighbours, in the surface's frame. */
STRUCT(SurfaceTriangle)
{
  V3 v0; V3 v1; V3 v2;
  V3 n; V3 n0; V3 n1; V3 n2; /* its own normal, then those across its edges 0 1, 1 2, 2 0 */
  U open_edges; /* bit k: nothing across edge k */
  U id; /* in the surface */
  U geometry; U row; U column; /* where to look for what is around a vertex */
};

FN V3 surface_vertex(VIEW(SurfaceTriangle, s), U k) { return k == 0u ? AT(s).v0 : (k == 1u ? AT(s).v1 : AT(s).v2); }

FN TriangleEdges surface_edges(VIEW(SurfaceTriangle, s), Q4 q)
{
  TriangleEdges e;
  e.n0 = q4_rotate(q, AT(s).n0);
  e.n1 = q4_rotate(q, AT(s).n1);
  e.n2 = q4_rotate(q, AT(s).n2);
  e.open_edges = AT(s).open_edges;
  return e;
}

/* The triangle as a convex shape, once its vertices and its normal are known in the pair's frame, in which the surface has the pose x. */
FN Convex surface_convex(X7 x, V3 t0, V3 t1, V3 t2, V3 tn)
{
  Convex t = convex_of(CONVEX_TRIANGLE, v3_zero(), x.p, q4_to_m33(x.q));
  t.t0 = t0;
  t.t1 = t1;
  t.t2 = t2;
  t.tn = tn;
  t.reach = f_sqrt(f_max(v3_len2(v3_sub(t1, t0)), v3_len2(v3_sub(t2, t0))));
  return t;
}

/* Half extents of a solid's box along its own axes. */
FN V3 surface_box_of(U type, V3 size)
{
  if (type == CONVEX_SPHERE) return v3(size.x, size.x, size.x);
  if (type == CONVEX_CAPSULE) return v3(size.x, size.x, size.x + size.y);
  if (type == CONVEX_CYLINDER) return v3(size.x, size.x, size.y);
  return size;
}

/* The same along the surface's axes; r turns surface axes to the shape's. */
FN V3 surface_box_along(V3 h, M33 r, F grow)
{
  M33 a = m33(v3(f_abs(r.r0.x), f_abs(r.r0.y), f_abs(r.r0.z)), v3(f_abs(r.r1.x), f_abs(r.r1.y), f_abs(r.r1.z)),
              v3(f_abs(r.r2.x), f_abs(r.r2.y), f_abs(r.r2.z)));
  return v3_add(m33_tmul_v3(a, h), v3(grow, grow, grow));
}

/* Whether the triangle p q r is farther than the limit from the box with these half extents around the convex shape, along an axis of that. */
FN bool surface_is_far(V3 box, F limit, V3 p, V3 q, V3 r)
{
  F room = f_max(limit, K(0.0f));
  V3 h = v3_add(box, v3(room, room, room));
  return (p.x > h.x && q.x > h.x && r.x > h.x) || (p.x < -h.x && q.x < -h.x && r.x < -h.x) ||
         (p.y > h.y && q.y > h.y && r.y > h.y) || (p.y < -h.y && q.y < -h.y && r.y < -h.y) ||
         (p.z > h.z && q.z > h.z && r.z > h.z) || (p.z < -h.z && q.z < -h.z && r.z < -h.z);
}

/* Points that a pair's pool holds, and contacts of the pair, at most. */
#ifndef POOL_SIZE
#define POOL_SIZE 64 /* fewer in a parity case */
#endif
#define SURFACE_POINTS 8

/* A point that a triangle offers, in the frame of the convex shape; on_b in the surface's. group: of points with one normal. rank: which choice it was. */
STRUCT(SurfacePoint) { V3 n; V3 on_a; V3 on_b; F gap; U triangle; U feature; U group; U rank; };

/* --- heightfields --- */

STRUCT(HeightGrid) { U first; U rows; U columns; V3 extent; F step_x; F step_y; }; /* extent: half of it, m */

FN HeightGrid grid_of(U first, U rows, U columns, V3 extent)
{
  HeightGrid g;
  g.first = first;
  g.rows = rows;
  g.columns = columns;
  g.extent = extent;
  g.step_x = f_div(2.0f * extent.x, f_from_i(i_from_u(columns - 1u)));
  g.step_y = f_div(2.0f * extent.y, f_from_i(i_from_u(rows - 1u)));
  return g;
}

/* Cell of a coordinate along one axis of a grid. */
FN U grid_cell_of(F x, F extent, F per_cell, U cells)
{
  F t = (x + extent) * per_cell;
  if (!(t >= 1.0f)) return KU(0u);
  return t >= f_from_i(i_from_u(cells - 1u)) ? cells - 1u : u_from_i(f_to_i(t));
}

/* Cells that a box of the surface's frame meets; rows of none where any is false. */
STRUCT(GridCells) { U row0; U row1; U column0; U column1; bool any; };

FN GridCells grid_cells(HeightGrid g, V3 lo, V3 hi)
{
  GridCells c;
  F per_x = f_div(K(1.0f), g.step_x);
  F per_y = f_div(K(1.0f), g.step_y);
  c.any = !(lo.x > g.extent.x || hi.x < -g.extent.x || lo.y > g.extent.y || hi.y < -g.extent.y || lo.z > g.extent.z);
  c.column0 = grid_cell_of(lo.x, g.extent.x, per_x, g.columns - 1u);
  c.column1 = grid_cell_of(hi.x, g.extent.x, per_x, g.columns - 1u);
  c.row0 = grid_cell_of(lo.y, g.extent.y, per_y, g.rows - 1u);
  c.row1 = grid_cell_of(hi.y, g.extent.y, per_y, g.rows - 1u);
  return c;
}

FN F grid_height(HEIGHTS_PARAM HeightGrid g, U row, U column) { return HEIGHT_AT(g.first + row * g.columns + column); }

/* Whether the cell is not all below z. */
FN bool grid_cell_reaches(HEIGHTS_PARAM HeightGrid g, U row, U column, F z)
{
  F near_row = f_max(grid_height(HEIGHTS g, row, column), grid_height(HEIGHTS g, row, column + 1u));
  F far_row = f_max(grid_height(HEIGHTS g, row + 1u, column), grid_height(HEIGHTS g, row + 1u, column + 1u));
  return f_max(near_row, far_row) >= z;
}

FN V3 grid_vertex(HEIGHTS_PARAM HeightGrid g, U row, U column)
{
  return v3(f_from_i(i_from_u(column)) * g.step_x - g.extent.x, f_from_i(i_from_u(row)) * g.step_y - g.extent.y, grid_height(HEIGHTS g, row, column));
}

/* Triangle 0 of a cell is below its diagonal from the first to the last corner, triangle 1 above it. These are its vertices after the first. */
FN V3 grid_second(HEIGHTS_PARAM HeightGrid g, U row, U column, U which) { return grid_vertex(HEIGHTS g, row + which, column + 1u); }
FN V3 grid_third(HEIGHTS_PARAM HeightGrid g, U row, U column, U which) { return grid_vertex(HEIGHTS g, row + 1u, column + 1u - which); }

FN V3 grid_normal(HEIGHTS_PARAM HeightGrid g, U row, U column, U which)
{
  V3 t0 = grid_vertex(HEIGHTS g, row, column);
  V3 n = v3_cross(v3_sub(grid_second(HEIGHTS g, row, column, which), t0), v3_sub(grid_third(HEIGHTS g, row, column, which), t0));
  return v3_scale(n, f_div(K(1.0f), f_sqrt(v3_len2(n))));
}

/* Triangle `which` of a cell; own, other: normals of it and of the cell's other one. Edges at the grid's borders are open. */
FN SurfaceTriangle grid_triangle(HEIGHTS_PARAM HeightGrid g, U row, U column, U which, V3 own, V3 other)
{
  SurfaceTriangle s;
  bool upper = which == 1u;
  bool at_row = upper ? row + 2u == g.rows : row == 0u;
  bool at_column = upper ? column == 0u : column + 2u == g.columns;
  s.v0 = grid_vertex(HEIGHTS g, row, column);
  s.v1 = grid_second(HEIGHTS g, row, column, which);
  s.v2 = grid_third(HEIGHTS g, row, column, which);
  s.n = own;
  V3 across_row = own;
  V3 across_column = own;
  if (!at_row) across_row = grid_normal(HEIGHTS g, upper ? row + 1u : row - 1u, column, 1u - which);
  if (!at_column) across_column = grid_normal(HEIGHTS g, row, upper ? column - 1u : column + 1u, 1u - which);
  s.n0 = upper ? other : across_row;
  s.n1 = upper ? across_row : across_column;
  s.n2 = upper ? across_column : other;
  s.open_edges = (at_row ? KU(1u) + which : KU(0u)) | (at_column ? KU(2u) + 2u * which : KU(0u));
  s.id = 2u * (row * (g.columns - 1u) + column) + which;
  s.geometry = KU(0u);
  s.row = row;
  s.column = column;
  return s;
}

/* Whether a contact at vertex k of the triangle, away from the surface along q, belongs there: q leans away from the six edges around it. */
FN bool grid_vertex_owns(HEIGHTS_PARAM HeightGrid g, VIEW(SurfaceTriangle, s), U k, V3 q)
{
  U upper = AT(s).id & 1u;
  V3 vertex = surface_vertex(s, k);
  I row = i_from_u(AT(s).row + (k == 0u ? KU(0u) : (k == 1u ? upper : KU(1u))));
  I column = i_from_u(AT(s).column + (k == 0u ? KU(0u) : (k == 1u ? KU(1u) : 1u - upper)));
  for (U i = KU(0u); i < 6u; i++) {
    /* along a row, along the diagonal, along a column, and the same backwards */
    U j = i % 3u;
    I side = i < 3u ? KI(1) : KI(-1);
    I r = row + (j == 0u ? KI(0) : side);
    I c = column + (j == 2u ? KI(0) : side);
    if (r < 0 || c < 0 || r >= i_from_u(g.rows) || c >= i_from_u(g.columns)) continue;
    if (!triangle_vertex_admits(vertex, grid_vertex(HEIGHTS g, u_from_i(r), u_from_i(c)), q)) return false;
  }
  return true;
}

#endif
