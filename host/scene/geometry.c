/* From meshes and heights to geometry: faces of hulls, trees over triangles. */
#include "geometry.h"

#include "cook_math.h"

#include <stdlib.h>
#include <string.h>

/* Arrays behind an sb_build_geometry. */
typedef struct arrays {
  float *vertex, *normal, *box, *height;
  uint32_t *face_corners, *corner_vertex, *node_next, *node_faces;
  int32_t *neighbour;
} arrays;

static bool make_arrays(arrays *a, size_t vertices, size_t faces, size_t corners, size_t nodes)
{
  *a = (arrays){.vertex = malloc((3 * vertices + 1) * sizeof(float)),
                .normal = malloc((3 * faces + 1) * sizeof(float)),
                .box = malloc((6 * nodes + 1) * sizeof(float)),
                .face_corners = malloc((2 * faces + 1) * sizeof(uint32_t)),
                .corner_vertex = malloc((corners + 1) * sizeof(uint32_t)),
                .neighbour = malloc((corners + 1) * sizeof(int32_t)),
                .node_next = malloc((nodes + 1) * sizeof(uint32_t)),
                .node_faces = malloc((2 * nodes + 1) * sizeof(uint32_t))};
  return a->vertex && a->normal && a->box && a->face_corners && a->corner_vertex && a->neighbour && a->node_next && a->node_faces;
}

static void free_arrays(arrays *a)
{
  free(a->vertex);
  free(a->normal);
  free(a->box);
  free(a->face_corners);
  free(a->corner_vertex);
  free(a->neighbour);
  free(a->node_next);
  free(a->node_faces);
}

static sb_build_geometry view_of(uint32_t type, const arrays *a, const geometry_place *place)
{
  sb_build_geometry g = {.type = type,
                         .vertex = a->vertex,
                         .face_normal = a->normal,
                         .face_corners = a->face_corners,
                         .corner_vertex = a->corner_vertex,
                         .corner_neighbour = a->neighbour,
                         .node_box = a->box,
                         .node_next = a->node_next,
                         .node_faces = a->node_faces};
  for (int i = 0; i < 3; i++) g.half[i] = (float)place->half[i];
  return g;
}

/* Rounds half extents up to binary32, so that nothing stands out. */
static void settle_half(geometry_place *place)
{
  for (int i = 0; i < 3; i++) place->half[i] = (double)(float)(place->half[i] * (1.0 + 1.0e-6) + 1.0e-30);
}

/* Vertices from the centre, rounded. */
static void put_vertices(const mesh *m, const double centre[3], float *out)
{
  for (uint32_t v = 0; v < m->vertex_count; v++)
    for (int i = 0; i < 3; i++) {
      double x = m->vertex[3 * (size_t)v + (size_t)i] - centre[i];
      out[3 * (size_t)v + (size_t)i] = x == 0.0 ? 0.0f : (float)x;
    }
}

/* Unit normal of a polygon (Newell) from rounded vertices; false when it has no area. */
static bool polygon_normal(const float *vertex, const uint32_t *corner, uint32_t count, double n[3])
{
  n[0] = n[1] = n[2] = 0.0;
  const float *first = vertex + 3 * (size_t)corner[0];
  for (uint32_t k = 1; k + 1 < count; k++) {
    double e[3], f[3], c[3];
    for (int i = 0; i < 3; i++) {
      e[i] = (double)vertex[3 * (size_t)corner[k] + (size_t)i] - (double)first[i];
      f[i] = (double)vertex[3 * (size_t)corner[k + 1] + (size_t)i] - (double)first[i];
    }
    cook_cross(e, f, c);
    for (int i = 0; i < 3; i++) n[i] += c[i];
  }
  double length = cook_length(n);
  if (!(length > 0.0)) return false;
  for (int i = 0; i < 3; i++) n[i] /= length;
  return true;
}

static void put_normal(const double n[3], float *out)
{
  for (int i = 0; i < 3; i++) out[i] = n[i] == 0.0 ? 0.0f : (float)n[i];
}

/* --- hulls: triangles of one plane become one face --- */

#define MOST_TRIANGLES (2u * SB_HULL_MAX_VERTICES)

typedef struct hull_faces {
  const mesh *m;
  const int32_t *neighbour;
  double n[MOST_TRIANGLES][3], d[MOST_TRIANGLES], area[MOST_TRIANGLES];
  int32_t face_of[MOST_TRIANGLES];
  double tolerance;
} hull_faces;

/* Whether triangle t lies in the plane of triangle `seed`. */
static bool in_plane(const hull_faces *h, uint32_t seed, uint32_t t)
{
  if (cook_dot(h->n[seed], h->n[t]) < 0.999) return false;
  for (int k = 0; k < 3; k++) {
    const double *p = h->m->vertex + 3 * (size_t)h->m->corner[3 * (size_t)t + (size_t)k];
    if (cook_abs(cook_dot(h->n[seed], p) - h->d[seed]) > h->tolerance) return false;
  }
  return true;
}

/* Marks the triangles that are connected with the seed and lie in its plane. */
static void spread(hull_faces *h, uint32_t seed, int32_t face)
{
  uint32_t stack[MOST_TRIANGLES], count = 1;
  stack[0] = seed;
  h->face_of[seed] = face;
  while (count) {
    uint32_t t = stack[--count];
    for (int k = 0; k < 3; k++) {
      int32_t o = h->neighbour[3 * (size_t)t + (size_t)k];
      if (o < 0 || h->face_of[o] >= 0 || !in_plane(h, seed, (uint32_t)o)) continue;
      h->face_of[o] = face;
      stack[count++] = (uint32_t)o;
    }
  }
}

/* The outline of a face as a loop of vertices; 0 when it is no simple loop. */
static uint32_t outline_of(const hull_faces *h, int32_t face, uint32_t loop[SB_HULL_MAX_VERTICES])
{
  int32_t next[SB_HULL_MAX_VERTICES];
  uint32_t edges = 0, start = 0, count = 0;
  for (uint32_t v = 0; v < SB_HULL_MAX_VERTICES; v++) next[v] = -1;
  for (uint32_t t = 0; t < h->m->triangle_count; t++)
    for (uint32_t k = 0; h->face_of[t] == face && k < 3; k++) {
      int32_t o = h->neighbour[3 * (size_t)t + k];
      if (o >= 0 && h->face_of[o] == face) continue;
      uint32_t from = h->m->corner[3 * (size_t)t + k];
      if (next[from] >= 0) return 0;
      next[from] = (int32_t)h->m->corner[3 * (size_t)t + (k + 1) % 3];
      start = from;
      edges++;
    }
  for (uint32_t v = start; count < edges; v = (uint32_t)next[v]) {
    if (next[v] < 0 || (count > 0 && v == start)) return 0;
    loop[count++] = v;
  }
  return count;
}

static void measure_triangles(hull_faces *h)
{
  for (uint32_t t = 0; t < h->m->triangle_count; t++) {
    const uint32_t *c = h->m->corner + 3 * (size_t)t;
    double e[3], f[3];
    for (int i = 0; i < 3; i++) {
      e[i] = h->m->vertex[3 * (size_t)c[1] + (size_t)i] - h->m->vertex[3 * (size_t)c[0] + (size_t)i];
      f[i] = h->m->vertex[3 * (size_t)c[2] + (size_t)i] - h->m->vertex[3 * (size_t)c[0] + (size_t)i];
    }
    cook_cross(e, f, h->n[t]);
    h->area[t] = cook_length(h->n[t]);
    for (int i = 0; i < 3; i++) h->n[t][i] /= h->area[t] > 0.0 ? h->area[t] : 1.0;
    h->d[t] = cook_dot(h->n[t], h->m->vertex + 3 * (size_t)c[0]);
    h->face_of[t] = -1;
  }
}

/* Faces from the largest triangle on, each with at most SB_HULL_MAX_CORNERS corners, evenly chosen. */
static void merge_faces(hull_faces *h, arrays *a, uint32_t *faces, uint32_t *corners)
{
  *faces = *corners = 0;
  for (int32_t face = 0;; face++) {
    uint32_t seed = MOST_TRIANGLES, loop[SB_HULL_MAX_VERTICES];
    for (uint32_t t = 0; t < h->m->triangle_count; t++)
      if (h->face_of[t] < 0 && (seed == MOST_TRIANGLES || h->area[t] > h->area[seed])) seed = t;
    if (seed == MOST_TRIANGLES) return;
    spread(h, seed, face);
    uint32_t count = outline_of(h, face, loop);
    if (count < 3) { /* cannot happen to a hull; then the triangle stands for itself */
      memcpy(loop, h->m->corner + 3 * (size_t)seed, 3 * sizeof *loop);
      count = 3;
    }
    uint32_t kept = count < SB_HULL_MAX_CORNERS ? count : SB_HULL_MAX_CORNERS;
    double n[3];
    if (!polygon_normal(a->vertex, loop, count, n)) continue;
    a->face_corners[2 * *faces] = *corners;
    a->face_corners[2 * *faces + 1] = kept;
    for (uint32_t k = 0; k < kept; k++) {
      a->corner_vertex[*corners] = loop[k * count / kept];
      a->neighbour[(*corners)++] = -1;
    }
    put_normal(n, a->normal + 3 * (size_t)(*faces)++);
  }
}

geometry_result geometry_add_hull(sb_model_builder *b, const mesh *points, geometry_place *place, double *left_out)
{
  mesh hull;
  hull_result built = hull_build(points, SB_HULL_MAX_VERTICES, &hull, left_out);
  geometry_result result = built == HULL_GOOD ? GEOMETRY_GOOD : built == HULL_FLAT ? GEOMETRY_FLAT : GEOMETRY_NO_MEMORY;
  hull_faces *h = calloc(1, sizeof *h);
  int32_t *neighbour = NULL;
  arrays a = {0};
  if (result == GEOMETRY_GOOD) {
    neighbour = mesh_neighbours(&hull);
    bool room = make_arrays(&a, hull.vertex_count, hull.triangle_count, 3 * (size_t)hull.triangle_count, 1);
    if (!h || !neighbour || !room) result = GEOMETRY_NO_MEMORY;
  }
  if (result == GEOMETRY_GOOD && hull.triangle_count > MOST_TRIANGLES) result = GEOMETRY_FLAT;
  if (result == GEOMETRY_GOOD) {
    mesh_bounds(&hull, place->centre, place->half);
    h->m = &hull;
    h->neighbour = neighbour;
    h->tolerance = 1.0e-5 * cook_length(place->half);
    settle_half(place);
    put_vertices(&hull, place->centre, a.vertex);
    measure_triangles(h);
    sb_build_geometry g = view_of(SB_SHAPE_HULL, &a, place);
    merge_faces(h, &a, &g.face_count, &g.corner_count);
    g.vertex_count = hull.vertex_count;
    if (g.face_count < 4) result = GEOMETRY_FLAT;
    if (result == GEOMETRY_GOOD) place->index = sb_builder_add_geometry(b, &g);
  }
  free_arrays(&a);
  free(neighbour);
  free(h);
  mesh_clear(&hull);
  return result;
}

/* --- meshes: an AABB tree, triangles in the order of its leaves --- */

#define LEAF_TRIANGLES 4u

typedef struct tree_item {
  double middle[3];
  uint32_t triangle;
} tree_item;

typedef struct tree {
  const mesh *m;
  tree_item *items;
  arrays *a;
  uint32_t nodes;
} tree;

static int compare_on(const tree_item *p, const tree_item *q, int axis)
{
  if (p->middle[axis] != q->middle[axis]) return p->middle[axis] < q->middle[axis] ? -1 : 1;
  return p->triangle < q->triangle ? -1 : p->triangle > q->triangle;
}
static int compare_x(const void *p, const void *q) { return compare_on(p, q, 0); }
static int compare_y(const void *p, const void *q) { return compare_on(p, q, 1); }
static int compare_z(const void *p, const void *q) { return compare_on(p, q, 2); }

/* Nodes over items first to first + count - 1, in preorder. */
static void build_nodes(tree *t, uint32_t first, uint32_t count)
{
  uint32_t node = t->nodes++;
  float *box = t->a->box + 6 * (size_t)node;
  double lo[3], hi[3];
  for (int i = 0; i < 3; i++) {
    box[i] = 3.0e38f, box[i + 3] = -3.0e38f;
    lo[i] = 1.0e300, hi[i] = -1.0e300;
  }
  for (uint32_t k = first; k < first + count; k++)
    for (int i = 0; i < 3; i++) {
      double middle = t->items[k].middle[i];
      lo[i] = middle < lo[i] ? middle : lo[i];
      hi[i] = middle > hi[i] ? middle : hi[i];
      for (int c = 0; c < 3; c++) {
        float x = t->a->vertex[3 * (size_t)t->m->corner[3 * (size_t)t->items[k].triangle + (size_t)c] + (size_t)i];
        box[i] = x < box[i] ? x : box[i];
        box[i + 3] = x > box[i + 3] ? x : box[i + 3];
      }
    }
  t->a->node_faces[2 * (size_t)node] = first;
  t->a->node_faces[2 * (size_t)node + 1] = count <= LEAF_TRIANGLES ? count : 0;
  if (count > LEAF_TRIANGLES) {
    int axis = hi[1] - lo[1] > hi[0] - lo[0] ? 1 : 0;
    if (hi[2] - lo[2] > hi[axis] - lo[axis]) axis = 2;
    qsort(t->items + first, count, sizeof *t->items, axis == 0 ? compare_x : axis == 1 ? compare_y : compare_z);
    build_nodes(t, first, count / 2);
    build_nodes(t, first + count / 2, count - count / 2);
  }
  t->a->node_next[node] = t->nodes;
}

static void put_triangles(const mesh *m, const tree_item *items, const int32_t *neighbour, const uint32_t *place_of, arrays *a)
{
  for (uint32_t f = 0; f < m->triangle_count; f++) {
    uint32_t from = items[f].triangle;
    double n[3];
    a->face_corners[2 * (size_t)f] = 3 * f;
    a->face_corners[2 * (size_t)f + 1] = 3;
    for (uint32_t k = 0; k < 3; k++) {
      int32_t other = neighbour[3 * (size_t)from + k];
      a->corner_vertex[3 * (size_t)f + k] = m->corner[3 * (size_t)from + k];
      a->neighbour[3 * (size_t)f + k] = other < 0 ? -1 : (int32_t)place_of[other];
    }
    if (!polygon_normal(a->vertex, a->corner_vertex + 3 * (size_t)f, 3, n)) n[0] = n[1] = 0.0, n[2] = 1.0;
    put_normal(n, a->normal + 3 * (size_t)f);
  }
}

geometry_result geometry_add_mesh(sb_model_builder *b, const mesh *m, geometry_place *place)
{
  if (m->triangle_count == 0) return GEOMETRY_EMPTY;
  arrays a = {0};
  size_t triangles = m->triangle_count;
  tree_item *items = malloc(triangles * sizeof *items);
  uint32_t *place_of = malloc(triangles * sizeof *place_of);
  int32_t *neighbour = mesh_neighbours(m);
  bool room = make_arrays(&a, m->vertex_count, triangles, 3 * triangles, 2 * triangles);
  geometry_result result = room && items && place_of && neighbour ? GEOMETRY_GOOD : GEOMETRY_NO_MEMORY;
  if (result == GEOMETRY_GOOD) {
    mesh_bounds(m, place->centre, place->half);
    double thin = 1.0e-6 * cook_length(place->half);
    for (int i = 0; i < 3; i++) place->half[i] = place->half[i] > thin ? place->half[i] : thin;
    settle_half(place);
    put_vertices(m, place->centre, a.vertex);
    for (uint32_t t = 0; t < triangles; t++) {
      items[t].triangle = t;
      for (int i = 0; i < 3; i++)
        items[t].middle[i] = ((double)a.vertex[3 * (size_t)m->corner[3 * (size_t)t] + (size_t)i] +
                              (double)a.vertex[3 * (size_t)m->corner[3 * (size_t)t + 1] + (size_t)i] +
                              (double)a.vertex[3 * (size_t)m->corner[3 * (size_t)t + 2] + (size_t)i]) / 3.0;
    }
    tree t = {m, items, &a, 0};
    build_nodes(&t, 0, (uint32_t)triangles);
    for (uint32_t f = 0; f < triangles; f++) place_of[items[f].triangle] = f;
    put_triangles(m, items, neighbour, place_of, &a);
    sb_build_geometry g = view_of(SB_SHAPE_MESH, &a, place);
    g.vertex_count = m->vertex_count;
    g.face_count = (uint32_t)triangles;
    g.corner_count = 3 * (uint32_t)triangles;
    g.node_count = t.nodes;
    place->index = sb_builder_add_geometry(b, &g);
  }
  free_arrays(&a);
  free(items);
  free(place_of);
  free(neighbour);
  return result;
}

/* --- heightfields --- */

geometry_result geometry_add_hfield(sb_model_builder *b, uint32_t rows, uint32_t columns, double half_x, double half_y,
                                    const double *height, geometry_place *place)
{
  size_t count = (size_t)rows * columns;
  float *rounded = malloc((count + 1) * sizeof *rounded);
  if (!rounded) return GEOMETRY_NO_MEMORY;
  double lo = height[0], hi = height[0];
  for (size_t i = 1; i < count; i++) {
    lo = height[i] < lo ? height[i] : lo;
    hi = height[i] > hi ? height[i] : hi;
  }
  *place = (geometry_place){.centre = {0.0, 0.0, (lo + hi) * 0.5}, .half = {half_x, half_y, (hi - lo) * 0.5}};
  double thin = 1.0e-6 * (half_x + half_y);
  if (place->half[2] < thin) place->half[2] = thin;
  for (size_t i = 0; i < count; i++) {
    double z = height[i] - place->centre[2];
    rounded[i] = z == 0.0 ? 0.0f : (float)z;
  }
  settle_half(place);
  place->half[0] = (double)(float)half_x;
  place->half[1] = (double)(float)half_y;
  sb_build_geometry g = {.type = SB_SHAPE_HFIELD, .rows = rows, .columns = columns, .height = rounded};
  for (int i = 0; i < 3; i++) g.half[i] = (float)place->half[i];
  place->index = sb_builder_add_geometry(b, &g);
  free(rounded);
  return GEOMETRY_GOOD;
}
