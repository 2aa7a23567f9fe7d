/* Triangle meshes while they are cooked: welding, neighbours, mass. */
#include "mesh.h"

#include "cook_math.h"

#include <stdlib.h>
#include <string.h>

void mesh_clear(mesh *m)
{
  free(m->vertex);
  free(m->corner);
  *m = (mesh){0};
}

static bool grow(void *array, uint32_t count, uint32_t *capacity, uint32_t most, size_t size)
{
  if (count < *capacity) return true;
  uint32_t larger = *capacity ? *capacity * 2 : 64;
  void *old, *grown;
  memcpy(&old, array, sizeof old);
  grown = count >= most ? NULL : realloc(old, larger * size);
  if (!grown) return false;
  memcpy(array, &grown, sizeof grown);
  *capacity = larger;
  return true;
}

bool mesh_add_vertex(mesh *m, const double at[3])
{
  if (!grow(&m->vertex, m->vertex_count, &m->vertex_capacity, MESH_MAX_VERTICES, 3 * sizeof *m->vertex)) return false;
  memcpy(m->vertex + 3 * (size_t)m->vertex_count++, at, 3 * sizeof *at);
  return true;
}

bool mesh_add_triangle(mesh *m, uint32_t a, uint32_t b, uint32_t c)
{
  if (!grow(&m->corner, m->triangle_count, &m->triangle_capacity, MESH_MAX_TRIANGLES, 3 * sizeof *m->corner)) return false;
  uint32_t *corner = m->corner + 3 * (size_t)m->triangle_count++;
  corner[0] = a, corner[1] = b, corner[2] = c;
  return true;
}

/* A vertex and its number, to be sorted by place; the number makes the order unique. */
typedef struct placed {
  double at[3];
  uint32_t index;
} placed;

static int compare_placed(const void *a, const void *b)
{
  const placed *p = a, *q = b;
  for (int i = 0; i < 3; i++)
    if (p->at[i] != q->at[i]) return p->at[i] < q->at[i] ? -1 : 1;
  return p->index < q->index ? -1 : p->index > q->index;
}

static void triangle_cross(const mesh *m, const uint32_t *corner, double n[3])
{
  double e[3], f[3];
  for (int i = 0; i < 3; i++) {
    e[i] = m->vertex[3 * (size_t)corner[1] + (size_t)i] - m->vertex[3 * (size_t)corner[0] + (size_t)i];
    f[i] = m->vertex[3 * (size_t)corner[2] + (size_t)i] - m->vertex[3 * (size_t)corner[0] + (size_t)i];
  }
  cook_cross(e, f, n);
}

/* Too thin to have a normal: its height is below a millionth of the mesh's size. */
static bool is_sliver(const mesh *m, const uint32_t *corner, double size)
{
  double n[3], longest = 0.0;
  triangle_cross(m, corner, n);
  for (int k = 0; k < 3; k++) {
    double e[3];
    for (int i = 0; i < 3; i++)
      e[i] = m->vertex[3 * (size_t)corner[(k + 1) % 3] + (size_t)i] - m->vertex[3 * (size_t)corner[k] + (size_t)i];
    double length = cook_length(e);
    longest = length > longest ? length : longest;
  }
  return !(cook_length(n) > 1.0e-7 * size * longest);
}

bool mesh_weld(mesh *m)
{
  placed *p = malloc(((size_t)m->vertex_count + 1) * sizeof *p);
  uint32_t *to = malloc(((size_t)m->vertex_count + 1) * sizeof *to);
  bool good = p && to;
  if (good) {
    for (uint32_t v = 0; v < m->vertex_count; v++) {
      for (int i = 0; i < 3; i++) {
        float rounded = (float)m->vertex[3 * (size_t)v + (size_t)i];
        p[v].at[i] = rounded == 0.0f ? 0.0 : (double)rounded;
        m->vertex[3 * (size_t)v + (size_t)i] = p[v].at[i];
      }
      p[v].index = v;
    }
    qsort(p, m->vertex_count, sizeof *p, compare_placed);
    /* the lowest number of equal vertices stands for all; then the numbers close up */
    for (uint32_t i = 0; i < m->vertex_count; i++) {
      bool same = i > 0 && !memcmp(p[i].at, p[i - 1].at, sizeof p[i].at);
      to[p[i].index] = same ? to[p[i - 1].index] : p[i].index;
    }
    uint32_t kept = 0;
    for (uint32_t v = 0; v < m->vertex_count; v++) {
      if (to[v] != v) {
        to[v] = to[to[v]];
        continue;
      }
      memmove(m->vertex + 3 * (size_t)kept, m->vertex + 3 * (size_t)v, 3 * sizeof *m->vertex);
      to[v] = kept++;
    }
    m->vertex_count = kept;
    double centre[3], half[3];
    mesh_bounds(m, centre, half);
    double size = cook_length(half);
    uint32_t triangles = 0;
    for (uint32_t t = 0; t < m->triangle_count; t++) {
      uint32_t corner[3];
      for (int k = 0; k < 3; k++) corner[k] = to[m->corner[3 * (size_t)t + (size_t)k]];
      if (corner[0] == corner[1] || corner[1] == corner[2] || corner[2] == corner[0] || is_sliver(m, corner, size)) continue;
      memcpy(m->corner + 3 * (size_t)triangles++, corner, sizeof corner);
    }
    m->triangle_count = triangles;
  }
  free(p);
  free(to);
  return good;
}

/* A directed edge; sorting brings both directions of one edge together. */
typedef struct mesh_edge {
  uint32_t low, high;
  uint32_t corner; /* that it starts from */
  bool up;         /* from low to high */
} mesh_edge;

static int compare_edges(const void *a, const void *b)
{
  const mesh_edge *p = a, *q = b;
  if (p->low != q->low) return p->low < q->low ? -1 : 1;
  if (p->high != q->high) return p->high < q->high ? -1 : 1;
  return p->corner < q->corner ? -1 : p->corner > q->corner;
}

int32_t *mesh_neighbours(const mesh *m)
{
  size_t corners = 3 * (size_t)m->triangle_count;
  int32_t *other = malloc((corners + 1) * sizeof *other);
  mesh_edge *e = malloc((corners + 1) * sizeof *e);
  if (!other || !e) {
    free(other);
    free(e);
    return NULL;
  }
  for (size_t c = 0; c < corners; c++) {
    uint32_t from = m->corner[c], to = m->corner[c % 3 == 2 ? c - 2 : c + 1];
    e[c] = (mesh_edge){from < to ? from : to, from < to ? to : from, (uint32_t)c, from < to};
    other[c] = -1;
  }
  qsort(e, corners, sizeof *e, compare_edges);
  for (size_t i = 0; i < corners;) {
    size_t end = i + 1;
    while (end < corners && e[end].low == e[i].low && e[end].high == e[i].high) end++;
    if (end == i + 2 && e[i].up != e[i + 1].up) {
      other[e[i].corner] = (int32_t)(e[i + 1].corner / 3);
      other[e[i + 1].corner] = (int32_t)(e[i].corner / 3);
    }
    i = end;
  }
  free(e);
  return other;
}

void mesh_bounds(const mesh *m, double centre[3], double half[3])
{
  for (int i = 0; i < 3; i++) {
    double lo = m->vertex_count ? m->vertex[i] : 0.0, hi = lo;
    for (uint32_t v = 1; v < m->vertex_count; v++) {
      double x = m->vertex[3 * (size_t)v + (size_t)i];
      lo = x < lo ? x : lo;
      hi = x > hi ? x : hi;
    }
    centre[i] = (lo + hi) * 0.5;
    half[i] = (hi - lo) * 0.5;
  }
}

void mesh_flip(mesh *m)
{
  for (uint32_t t = 0; t < m->triangle_count; t++) {
    uint32_t *corner = m->corner + 3 * (size_t)t, last = corner[2];
    corner[2] = corner[1];
    corner[1] = last;
  }
}

static void integrate(const mesh *m, mesh_mass *out)
{
  double origin[3], half[3], volume = 0.0, first[3] = {0}, second[6] = {0};
  static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
  mesh_bounds(m, origin, half);
  for (uint32_t t = 0; t < m->triangle_count; t++) {
    double p[3][3], n[3], sum[3];
    for (int k = 0; k < 3; k++)
      for (int i = 0; i < 3; i++) p[k][i] = m->vertex[3 * (size_t)m->corner[3 * (size_t)t + (size_t)k] + (size_t)i] - origin[i];
    cook_cross(p[1], p[2], n);
    double v = cook_dot(p[0], n) / 6.0;
    volume += v;
    for (int i = 0; i < 3; i++) {
      sum[i] = p[0][i] + p[1][i] + p[2][i];
      first[i] += v * sum[i] / 4.0;
    }
    /* of x_i x_j over a tetrahedron with one corner at the origin: v / 20 (sum_k p_k p_k + sum sum) */
    for (int k = 0; k < 6; k++) {
      int i = row[k], j = column[k];
      second[k] += v / 20.0 * (p[0][i] * p[0][j] + p[1][i] * p[1][j] + p[2][i] * p[2][j] + sum[i] * sum[j]);
    }
  }
  *out = (mesh_mass){.volume = volume};
  if (volume == 0.0) return;
  double com[3];
  for (int i = 0; i < 3; i++) {
    com[i] = first[i] / volume;
    out->com[i] = com[i] + origin[i];
  }
  for (int k = 0; k < 6; k++) second[k] -= volume * com[row[k]] * com[column[k]];
  out->inertia[0] = second[1] + second[2];
  out->inertia[1] = second[0] + second[2];
  out->inertia[2] = second[0] + second[1];
  for (int k = 3; k < 6; k++) out->inertia[k] = 0.0 - second[k];
}

bool mesh_integrate(const mesh *m, mesh_mass *mass, mesh_solidity *solidity)
{
  int32_t *other = mesh_neighbours(m);
  if (!other) return false;
  bool closed = m->triangle_count >= 4;
  for (size_t c = 0; c < 3 * (size_t)m->triangle_count; c++) closed = closed && other[c] >= 0;
  free(other);
  integrate(m, mass);
  *solidity = !closed || mass->volume == 0.0 ? MESH_OPEN : mass->volume > 0.0 ? MESH_CLOSED : MESH_INSIDE_OUT;
  return true;
}
