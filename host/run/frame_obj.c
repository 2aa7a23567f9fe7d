/* Writing OBJ: vertices in world frame, faces counter-clockwise from outside. */
#include "frame_obj.h"

#include <stdlib.h>
#include <string.h>

#include "cook_math.h"

#define ROUND 24 /* facets around */

typedef struct writer {
  FILE *file;
  sb_sim *sim;
  const sb_model_store *store;
  const sb_model *m;
  uint32_t vertices; /* written so far */
} writer;

static void put_vertex(writer *w, const double X[7], double x, double y, double z)
{
  const double local[3] = {x, y, z};
  double at[3];
  cook_pose_point(X, local, at);
  fprintf(w->file, "v %.6g %.6g %.6g\n", at[0], at[1], at[2]);
  w->vertices++;
}

/* Corners count from `first`, from 0. */
static void put_face(const writer *w, uint32_t first, uint32_t a, uint32_t b, uint32_t c) { fprintf(w->file, "f %u %u %u\n", first + a + 1, first + b + 1, first + c + 1); }

static void put_quad(const writer *w, uint32_t first, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
  fprintf(w->file, "f %u %u %u %u\n", first + a + 1, first + b + 1, first + c + 1, first + d + 1);
}

static void put_box(writer *w, const double X[7], const double half[3])
{
  uint32_t first = w->vertices;
  for (int k = 0; k < 8; k++) put_vertex(w, X, k & 1 ? half[0] : -half[0], k & 2 ? half[1] : -half[1], k & 4 ? half[2] : -half[2]);
  static const uint32_t faces[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
  for (int f = 0; f < 6; f++) put_quad(w, first, faces[f][0], faces[f][1], faces[f][2], faces[f][3]);
}

/* A surface of revolution about local z: rings of radius r[i] at height z[i], scaled by sx and sy across. */
static void put_rings(writer *w, const double X[7], const double *r, const double *z, uint32_t rings, double sx, double sy)
{
  uint32_t first = w->vertices;
  for (uint32_t i = 0; i < rings; i++)
    for (uint32_t k = 0; k < ROUND; k++) {
      double angle = 2.0 * COOK_PI * k / ROUND;
      put_vertex(w, X, sx * r[i] * cook_cos(angle), sy * r[i] * cook_sin(angle), z[i]);
    }
  for (uint32_t i = 0; i + 1 < rings; i++)
    for (uint32_t k = 0; k < ROUND; k++) {
      uint32_t next = (k + 1) % ROUND, low = i * ROUND, high = (i + 1) * ROUND;
      put_quad(w, first, low + k, low + next, high + next, high + k);
    }
}

/* Half circles of radius r around +-half on local z; a sphere where half is 0. */
static void put_capsule(writer *w, const double X[7], double radius, double half, double sx, double sy)
{
  enum { RINGS = 14 };
  double r[RINGS], z[RINGS];
  for (int i = 0; i < RINGS; i++) {
    bool upper = i >= RINGS / 2;
    double angle = COOK_PI * (double)(upper ? i - 1 : i) / (RINGS - 2) - COOK_PI / 2.0;
    r[i] = radius * cook_cos(angle);
    z[i] = radius * cook_sin(angle) + (upper ? half : -half);
  }
  put_rings(w, X, r, z, RINGS, sx, sy);
}

static void put_geometry(writer *w, const double X[7], uint32_t g)
{
  const sb_model *m = w->m;
  uint32_t first = w->vertices;
  if (m->geometry_type[g] == SB_SHAPE_HFIELD) {
    const uint32_t *grid = m->geometry_grid + 3 * (size_t)g;
    const float *half = m->geometry_half + 3 * (size_t)g;
    for (uint32_t r = 0; r < grid[1]; r++)
      for (uint32_t c = 0; c < grid[2]; c++)
        put_vertex(w, X, (double)half[0] * (2.0 * c / (grid[2] - 1.0) - 1.0), (double)half[1] * (2.0 * r / (grid[1] - 1.0) - 1.0),
                   (double)m->geometry_height[grid[0] + r * grid[2] + c]);
    for (uint32_t r = 0; r + 1 < grid[1]; r++)
      for (uint32_t c = 0; c + 1 < grid[2]; c++) {
        uint32_t a = r * grid[2] + c;
        put_quad(w, first, a, a + 1, a + grid[2] + 1, a + grid[2]);
      }
    return;
  }
  const uint32_t *vertices = m->geometry_vertices + 2 * (size_t)g, *faces = m->geometry_faces + 2 * (size_t)g;
  for (uint32_t v = 0; v < vertices[1]; v++) {
    const float *at = m->geometry_vertex + 3 * (size_t)(vertices[0] + v);
    put_vertex(w, X, (double)at[0], (double)at[1], (double)at[2]);
  }
  for (uint32_t f = 0; f < faces[1]; f++) {
    const uint32_t *corners = m->face_corners + 2 * (size_t)(faces[0] + f);
    for (uint32_t k = 1; k + 1 < corners[1]; k++)
      put_face(w, first, m->corner_vertex[corners[0]], m->corner_vertex[corners[0] + k], m->corner_vertex[corners[0] + k + 1]);
  }
}

static void widen(const float *from, double *to, int n)
{
  for (int i = 0; i < n; i++) to[i] = (double)from[i];
}

static void put_shape(writer *w, uint32_t shape, double plane_half)
{
  const sb_model *m = w->m;
  double X[7], body[7], size[3];
  widen(m->shape_X + 7 * (size_t)shape, X, 7);
  widen(m->shape_size + 3 * (size_t)shape, size, 3);
  if (m->shape_body[shape] >= 0) {
    widen(sb_sim_state(w->sim)->body_q + 7 * (size_t)m->shape_body[shape], body, 7);
    cook_pose_mul(body, X, X);
  }
  const char *name = sb_model_store_name(w->store, SB_NAME_SHAPE, shape);
  fprintf(w->file, "o %s%s%u\n", name, *name ? "_" : "shape_", shape);
  uint32_t first = w->vertices;
  const double ring[4] = {0.0, size[0], size[0], 0.0}, height[4] = {-size[1], -size[1], size[1], size[1]};
  switch (m->shape_type[shape]) {
  case SB_SHAPE_PLANE:
    for (int k = 0; k < 4; k++) put_vertex(w, X, k == 1 || k == 2 ? plane_half : -plane_half, k < 2 ? -plane_half : plane_half, 0.0);
    put_quad(w, first, 0, 1, 2, 3);
    break;
  case SB_SHAPE_SPHERE: put_capsule(w, X, size[0], 0.0, 1.0, 1.0); break;
  case SB_SHAPE_CAPSULE: put_capsule(w, X, size[0], size[1], 1.0, 1.0); break;
  case SB_SHAPE_ELLIPSOID: put_capsule(w, X, size[2], 0.0, size[0] / size[2], size[1] / size[2]); break;
  case SB_SHAPE_BOX: put_box(w, X, size); break;
  case SB_SHAPE_CYLINDER: put_rings(w, X, ring, height, 4, 1.0, 1.0); break;
  default: put_geometry(w, X, (uint32_t)m->shape_geometry[shape]); break;
  }
}

/* ---- deformables ---- */

static bool is_of(const writer *w, int32_t particle, uint32_t deformable) { return w->m->particle_deformable[particle] == (int32_t)deformable; }

static uint32_t put_tris(const writer *w, uint32_t d, uint32_t first)
{
  const sb_model *m = w->m;
  int32_t start = m->deformable_first_particle[d];
  uint32_t found = 0;
  for (uint32_t t = 0; t < m->tri_count; t++) {
    const int32_t *at = m->tri_indices + 3 * (size_t)t;
    if (!is_of(w, at[0], d) || !is_of(w, at[1], d) || !is_of(w, at[2], d)) continue;
    put_face(w, first, (uint32_t)(at[0] - start), (uint32_t)(at[1] - start), (uint32_t)(at[2] - start));
    found++;
  }
  return found;
}

typedef struct side {
  int32_t key[3], corner[3];
} side;

static int by_key(const void *a, const void *b) { return memcmp(((const side *)a)->key, ((const side *)b)->key, sizeof((const side *)a)->key); }

static void sort_key(side *s)
{
  memcpy(s->key, s->corner, sizeof s->key);
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 2 - i; k++)
      if (s->key[k] > s->key[k + 1]) {
        int32_t t = s->key[k];
        s->key[k] = s->key[k + 1];
        s->key[k + 1] = t;
      }
}

/* Sides that one tetrahedron alone has. */
static uint32_t put_tet_surface(const writer *w, uint32_t d, uint32_t first, bool *good)
{
  static const int corners[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
  const sb_model *m = w->m;
  int32_t start = m->deformable_first_particle[d];
  side *sides = calloc((size_t)m->tet_count * 4 + 1, sizeof *sides);
  size_t n = 0;
  *good = sides != NULL;
  for (uint32_t t = 0; sides && t < m->tet_count; t++) {
    const int32_t *at = m->tet_indices + 4 * (size_t)t;
    if (!is_of(w, at[0], d)) continue;
    for (int f = 0; f < 4; f++) {
      for (int k = 0; k < 3; k++) sides[n].corner[k] = at[corners[f][k]];
      sort_key(&sides[n++]);
    }
  }
  if (sides) qsort(sides, n, sizeof *sides, by_key);
  uint32_t found = 0;
  for (size_t i = 0; sides && i < n; i++) {
    if ((i > 0 && !by_key(&sides[i], &sides[i - 1])) || (i + 1 < n && !by_key(&sides[i], &sides[i + 1]))) continue;
    put_face(w, first, (uint32_t)(sides[i].corner[0] - start), (uint32_t)(sides[i].corner[1] - start), (uint32_t)(sides[i].corner[2] - start));
    found++;
  }
  free(sides);
  return found;
}

static void put_springs(const writer *w, uint32_t d, uint32_t first)
{
  const sb_model *m = w->m;
  int32_t start = m->deformable_first_particle[d];
  for (uint32_t s = 0; s < m->spring_count; s++) {
    const int32_t *at = m->spring_indices + 2 * (size_t)s;
    if (is_of(w, at[0], d) && is_of(w, at[1], d)) fprintf(w->file, "l %u %u\n", first + (uint32_t)(at[0] - start) + 1, first + (uint32_t)(at[1] - start) + 1);
  }
}

static bool put_deformable(writer *w, uint32_t d)
{
  static const double still[7] = {0, 0, 0, 0, 0, 0, 1};
  const sb_model *m = w->m;
  const char *name = sb_model_store_name(w->store, SB_NAME_DEFORMABLE, d);
  uint32_t first = w->vertices, start = (uint32_t)m->deformable_first_particle[d];
  bool good = true;
  fprintf(w->file, "o %s%s%u\n", name, *name ? "_" : "deformable_", d);
  for (uint32_t p = start; p < start + m->deformable_particles[d]; p++) {
    const float *at = sb_sim_state(w->sim)->particle_q + 3 * (size_t)p;
    put_vertex(w, still, (double)at[0], (double)at[1], (double)at[2]);
  }
  if (!put_tris(w, d, first) && !put_tet_surface(w, d, first, &good)) put_springs(w, d, first);
  return good;
}

bool sb_frame_write_obj(FILE *file, sb_sim *sim, const sb_model_store *store, uint32_t world, double plane_half)
{
  writer w = {file, sim, store, sb_model_store_view(store), 0};
  bool good = true;
  fprintf(file, "# tick %llu, metres, z up\n", (unsigned long long)sb_sim_tick(sim));
  for (uint32_t s = 0; s < w.m->shape_count; s++)
    if (s >= w.m->world_shape_start[world] && s < w.m->world_shape_start[world + 1]) put_shape(&w, s, plane_half);
  for (uint32_t d = 0; d < w.m->deformable_count; d++)
    if (w.m->deformable_world[d] == (int32_t)world) good = put_deformable(&w, d) && good;
  return good;
}
