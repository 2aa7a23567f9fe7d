/* Geometry for the collision tests. */
#include "geometry_samples.h"

#include <math.h>
#include <stdlib.h>

#include "collision_scene.h"

static void put(mesh *m, double x, double y, double z)
{
  const double at[3] = {x, y, z};
  if (!mesh_add_vertex(m, at)) abort();
}

static void add_points(mesh *m, int kind, uint64_t *seed)
{
  if (kind == 0)
    for (int i = 0; i < 8; i++) put(m, i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, i & 4 ? 0.5 : -0.5);
  if (kind == 1) put(m, 0, 0, 0), put(m, 1, 0, 0), put(m, 0, 1, 0), put(m, 0.2, 0.3, 0.8);
  if (kind == 2)
    for (int i = 0; i < 64; i++) put(m, 0.4 * cos((i / 2) * 0.19634954), 0.4 * sin((i / 2) * 0.19634954), i & 1 ? 0.3 : -0.3);
  if (kind < 3) return;
  uint32_t count = kind < 5 ? 12 : 4 + 60 * (uint32_t)(kind - 5) / (SAMPLE_HULLS - 6);
  for (uint32_t i = 0; i < count; i++) {
    double v[3], n = 0;
    for (int k = 0; k < 3; k++) v[k] = (double)scene_random(seed, -1, 1), n += v[k] * v[k];
    n = kind % 2 ? sqrt(n) : 1.0;
    double thin_x = kind == 3 ? 0.002 : 0.5, thin_y = kind == 3 ? 0.002 : 0.5, thin_z = kind == 4 ? 0.002 : 0.5;
    put(m, thin_x * v[0] / n, thin_y * v[1] / n, thin_z * v[2] / n);
  }
}

sb_model_store *sample_hulls(void)
{
  sb_model_builder *b = sb_builder_create();
  uint64_t seed = 31;
  for (int i = 0; i < SAMPLE_HULLS; i++) {
    mesh points = {0};
    geometry_place place;
    double left_out;
    add_points(&points, i, &seed);
    if (geometry_add_hull(b, &points, &place, &left_out) != GEOMETRY_GOOD || place.index != i) abort();
    mesh_clear(&points);
  }
  sb_model_store *store;
  if (sb_builder_finalise(b, "hulls", &store, NULL) != SB_OK) abort();
  sb_builder_free(b);
  return store;
}

void sample_sheet(mesh *m, uint32_t n, double half, double (*height)(uint32_t row, uint32_t column))
{
  uint32_t first = m->vertex_count;
  for (uint32_t r = 0; r <= n; r++)
    for (uint32_t c = 0; c <= n; c++) put(m, half * (2.0 * c / n - 1.0), half * (2.0 * r / n - 1.0), height(r, c));
  for (uint32_t r = 0; r < n; r++)
    for (uint32_t c = 0; c < n; c++) {
      uint32_t v = first + r * (n + 1) + c;
      if (!mesh_add_triangle(m, v, v + 1, v + n + 2) || !mesh_add_triangle(m, v, v + n + 2, v + n + 1)) abort();
    }
}

void sample_box(mesh *m, double x, double y, double z)
{
  static const uint32_t quads[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
  uint32_t first = m->vertex_count;
  for (int i = 0; i < 8; i++) put(m, i & 1 ? x : -x, i & 2 ? y : -y, i & 4 ? z : -z);
  for (int q = 0; q < 6; q++)
    if (!mesh_add_triangle(m, first + quads[q][0], first + quads[q][1], first + quads[q][2]) ||
        !mesh_add_triangle(m, first + quads[q][0], first + quads[q][2], first + quads[q][3]))
      abort();
}
