/* Rest data of surfaces and tetrahedra. Binary64 throughout. */
#include "deformable_mesh.h"

#include <stdlib.h>
#include <string.h>

bool deformable_surface_add(deformable_surface *s, const int32_t tri[3])
{
  if (s->count == s->capacity) {
    uint32_t capacity = s->capacity ? 2 * s->capacity : 256;
    int32_t *grown = capacity > s->capacity ? realloc(s->tri, 3 * (size_t)capacity * sizeof *grown) : NULL;
    if (!grown) {
      s->failed = true;
      return false;
    }
    s->tri = grown;
    s->capacity = capacity;
  }
  memcpy(s->tri + 3 * (size_t)s->count++, tri, 3 * sizeof *tri);
  return true;
}

/* One side of one triangle: from its corner to the next. */
typedef struct half_edge {
  int32_t low, high;
  uint32_t triangle, corner;
} half_edge;

static int compare_half_edges(const void *pa, const void *pb)
{
  const half_edge *a = pa, *b = pb;
  if (a->low != b->low) return a->low < b->low ? -1 : 1;
  if (a->high != b->high) return a->high < b->high ? -1 : 1;
  return a->triangle < b->triangle ? -1 : a->triangle > b->triangle;
}

static half_edge *list_half_edges(const deformable_surface *s)
{
  half_edge *h = malloc((3 * (size_t)s->count + 1) * sizeof *h);
  for (uint32_t t = 0; h && t < s->count; t++)
    for (uint32_t k = 0; k < 3; k++) {
      int32_t a = s->tri[3 * (size_t)t + k], b = s->tri[3 * (size_t)t + (k + 1) % 3];
      h[3 * (size_t)t + k] = (half_edge){a < b ? a : b, a < b ? b : a, t, k};
    }
  if (h) qsort(h, 3 * (size_t)s->count, sizeof *h, compare_half_edges); /* no two are equal */
  return h;
}

/* Normal of the triangle a, b, c, twice its area long. */
static void area_normal(const double a[3], const double b[3], const double c[3], double out[3])
{
  double u[3], v[3];
  for (int k = 0; k < 3; k++) u[k] = b[k] - a[k], v[k] = c[k] - a[k];
  cook_cross(u, v, out);
}

/* The side `first`, and the one across it, NULL at a border. */
static void add_edge(const deformable_surface *s, sb_model_builder *b, const half_edge *first, const half_edge *second)
{
  const int32_t *t = s->tri + 3 * (size_t)first->triangle;
  sb_build_edge e = {.particle = {t[(first->corner + 2) % 3], -1, t[first->corner], t[(first->corner + 1) % 3]}};
  double x[4][3], along[3];
  for (int k = 0; k < 4; k++)
    if (k != 1) sb_builder_particle_q(b, e.particle[k], x[k]);
  for (int k = 0; k < 3; k++) along[k] = x[3][k] - x[2][k];
  e.rest_length = cook_length(along);
  if (second) {
    e.particle[1] = s->tri[3 * (size_t)second->triangle + (second->corner + 2) % 3];
    sb_builder_particle_q(b, e.particle[1], x[1]);
    double n0[3], n1[3], turn[3];
    area_normal(x[2], x[3], x[0], n0);
    area_normal(x[3], x[2], x[1], n1);
    cook_cross(n0, n1, turn);
    double areas = 0.5 * (cook_length(n0) + cook_length(n1));
    if (!s->flat_rest && e.rest_length > 0.0) e.rest_angle = cook_atan2(cook_dot(turn, along) / e.rest_length, cook_dot(n0, n1));
    /* Discrete shells (Grinspun et al. 2003): stiffness in proportion to |e|^2 over the area. 2 |e|^2 / (A0 + A1) gives a lattice of
     * equilateral triangles the rigidity exactly. */
    e.bending_ke = s->regular ? s->rigidity : s->rigidity * 2.0 * e.rest_length * e.rest_length / areas;
    e.bending_kd = s->bending_kd;
  }
  sb_builder_add_edge(b, &e);
}

/* Sides that lie on one another pair up in the order of triangles; where three meet, the last is a border. */
static bool add_edges(const deformable_surface *s, sb_model_builder *b)
{
  half_edge *h = list_half_edges(s);
  if (!h) return false;
  for (size_t i = 0; i < 3 * (size_t)s->count;) {
    bool two = i + 1 < 3 * (size_t)s->count && h[i + 1].low == h[i].low && h[i + 1].high == h[i].high;
    bool folded = two && s->tri[3 * (size_t)h[i].triangle + (h[i].corner + 2) % 3] == s->tri[3 * (size_t)h[i + 1].triangle + (h[i + 1].corner + 2) % 3];
    add_edge(s, b, &h[i], two && !folded ? &h[i + 1] : NULL);
    i += two ? 2 : 1;
  }
  free(h);
  return true;
}

static bool add_tri(const deformable_surface *s, sb_model_builder *b, const int32_t particle[3])
{
  double x[3][3];
  sb_build_tri t = {.ke = s->ke, .ka = s->ka, .kd = s->kd, .drag = s->drag, .lift = s->lift};
  memcpy(t.particle, particle, sizeof t.particle);
  for (int k = 0; k < 3; k++) sb_builder_particle_q(b, particle[k], x[k]);
  if (!cook_tri_rest(x[0], x[1], x[2], t.pose, &t.area)) return false;
  sb_builder_add_tri(b, &t);
  return true;
}

bool deformable_surface_build(deformable_surface *s, sb_model_builder *b, int32_t *bad)
{
  int32_t fault = -1;
  bool good = !s->failed;
  for (uint32_t t = 0; good && t < s->count; t++)
    if (!add_tri(s, b, s->tri + 3 * (size_t)t)) fault = (int32_t)t, good = false;
  good = good && add_edges(s, b);
  free(s->tri);
  s->tri = NULL;
  s->count = s->capacity = 0;
  if (bad) *bad = fault;
  return good;
}

bool deformable_add_tet(sb_model_builder *b, const sb_build_tet *tet)
{
  double x[4][3];
  sb_build_tet t = *tet;
  for (int k = 0; k < 4; k++) sb_builder_particle_q(b, t.particle[k], x[k]);
  if (!cook_tet_rest(x[0], x[1], x[2], x[3], t.pose, &t.volume)) {
    t.particle[2] = tet->particle[3], t.particle[3] = tet->particle[2];
    if (!cook_tet_rest(x[0], x[1], x[3], x[2], t.pose, &t.volume)) return false;
  }
  sb_builder_add_tet(b, &t);
  return true;
}
