/* Convex hulls by quickhull, for few vertices: faces are searched, points know the face that they are highest above. */
#include "hull.h"

#include "cook_math.h"

#include <stdlib.h>
#include <string.h>

#define MOST_FACES 512 /* 2 * 64 - 4 alive, and what a step adds before it removes */
#define NO_FACE UINT32_MAX

typedef struct hull_face {
  uint32_t corner[3];
  double n[3]; /* unit, outward */
  double d;
  bool alive;
} hull_face;

typedef struct hull_work {
  const mesh *points;
  hull_face faces[MOST_FACES];
  uint32_t face_count;
  uint32_t *face_of; /* by point: a face that it is above, or NO_FACE */
  double *above;     /* how far */
  double tolerance;
} hull_work;

static const double *point(const hull_work *w, uint32_t i) { return w->points->vertex + 3 * (size_t)i; }

static double height(const hull_face *f, const double p[3]) { return cook_dot(f->n, p) - f->d; }

static bool set_face(const hull_work *w, hull_face *f, uint32_t a, uint32_t b, uint32_t c)
{
  double e[3], g[3], n[3];
  for (int i = 0; i < 3; i++) {
    e[i] = point(w, b)[i] - point(w, a)[i];
    g[i] = point(w, c)[i] - point(w, a)[i];
  }
  cook_cross(e, g, n);
  double length = cook_length(n);
  *f = (hull_face){.corner = {a, b, c}, .alive = true};
  if (!(length > 0.0)) return false;
  for (int i = 0; i < 3; i++) f->n[i] = n[i] / length;
  f->d = (cook_dot(f->n, point(w, a)) + cook_dot(f->n, point(w, b)) + cook_dot(f->n, point(w, c))) / 3.0;
  return true;
}

/* The point farthest by a measure; of equal ones the first. */
static uint32_t farthest(const hull_work *w, double (*measure)(const hull_work *, const double *, const uint32_t *), const uint32_t *of,
                         double *most)
{
  uint32_t best = 0;
  *most = -1.0;
  for (uint32_t i = 0; i < w->points->vertex_count; i++) {
    double m = measure(w, point(w, i), of);
    if (m > *most) *most = m, best = i;
  }
  return best;
}

static double from_point(const hull_work *w, const double *p, const uint32_t *of)
{
  double d[3];
  for (int i = 0; i < 3; i++) d[i] = p[i] - point(w, of[0])[i];
  return cook_length(d);
}

static double from_line(const hull_work *w, const double *p, const uint32_t *of)
{
  double e[3], d[3], c[3];
  for (int i = 0; i < 3; i++) {
    e[i] = point(w, of[1])[i] - point(w, of[0])[i];
    d[i] = p[i] - point(w, of[0])[i];
  }
  cook_cross(e, d, c);
  return cook_length(c) / cook_length(e);
}

static double from_plane(const hull_work *w, const double *p, const uint32_t *of)
{
  hull_face f;
  return set_face(w, &f, of[0], of[1], of[2]) ? cook_abs(height(&f, p)) : 0.0;
}

static bool start(hull_work *w)
{
  uint32_t v[4];
  double far;
  if (w->points->vertex_count < 4) return false;
  v[0] = 0;
  v[0] = farthest(w, from_point, v, &far);
  v[1] = farthest(w, from_point, v, &far);
  if (!(far > w->tolerance)) return false;
  v[2] = farthest(w, from_line, v, &far);
  if (!(far > w->tolerance)) return false;
  v[3] = farthest(w, from_plane, v, &far);
  if (!(far > w->tolerance)) return false;
  hull_face f;
  set_face(w, &f, v[0], v[1], v[2]);
  if (height(&f, point(w, v[3])) > 0.0) {
    uint32_t swap = v[1];
    v[1] = v[2];
    v[2] = swap;
  }
  set_face(w, &w->faces[0], v[0], v[1], v[2]);
  set_face(w, &w->faces[1], v[0], v[3], v[1]);
  set_face(w, &w->faces[2], v[1], v[3], v[2]);
  set_face(w, &w->faces[3], v[2], v[3], v[0]);
  w->face_count = 4;
  return true;
}

/* Gives a point to the face that it is highest above. */
static void assign(hull_work *w, uint32_t i)
{
  w->face_of[i] = NO_FACE;
  w->above[i] = w->tolerance;
  for (uint32_t f = 0; f < w->face_count; f++) {
    if (!w->faces[f].alive) continue;
    double h = height(&w->faces[f], point(w, i));
    if (h > w->above[i]) w->above[i] = h, w->face_of[i] = f;
  }
}

/* A slot for a new face; NO_FACE when there is none. */
static uint32_t free_face(hull_work *w)
{
  for (uint32_t f = 0; f < w->face_count; f++)
    if (!w->faces[f].alive) return f;
  return w->face_count < MOST_FACES ? w->face_count++ : NO_FACE;
}

/* Replaces the faces that see the point by faces from their outline to it. False when rounding leaves no clean outline: then nothing
 * has changed. */
static bool add_point(hull_work *w, uint32_t i)
{
  bool seen[MOST_FACES] = {false};
  uint32_t all_from[3 * MOST_FACES], all_to[3 * MOST_FACES], from[MOST_FACES], to[MOST_FACES], edges = 0, alive = 0;
  for (uint32_t f = 0; f < w->face_count; f++) {
    alive += w->faces[f].alive;
    seen[f] = w->faces[f].alive && height(&w->faces[f], point(w, i)) > w->tolerance * 0.5;
    for (int k = 0; seen[f] && k < 3; k++) {
      all_from[edges] = w->faces[f].corner[k];
      all_to[edges++] = w->faces[f].corner[(k + 1) % 3];
    }
  }
  uint32_t outline = 0;
  for (uint32_t e = 0; e < edges; e++) {
    bool inner = false;
    for (uint32_t o = 0; o < edges && !inner; o++) inner = all_from[o] == all_to[e] && all_to[o] == all_from[e];
    if (inner) continue;
    if (outline == MOST_FACES) return false;
    from[outline] = all_from[e];
    to[outline++] = all_to[e];
  }
  if (outline < 3 || alive + outline > MOST_FACES) return false;
  hull_face f;
  for (uint32_t e = 0; e < outline; e++) {
    uint32_t leaving = 0;
    for (uint32_t o = 0; o < outline; o++) leaving += from[o] == from[e];
    if (leaving != 1 || !set_face(w, &f, from[e], to[e], i)) return false;
  }
  for (uint32_t g = 0; g < w->face_count; g++)
    if (seen[g]) w->faces[g].alive = false;
  for (uint32_t e = 0; e < outline; e++) set_face(w, &w->faces[free_face(w)], from[e], to[e], i);
  for (uint32_t p = 0; p < w->points->vertex_count; p++)
    if (w->face_of[p] != NO_FACE && (seen[w->face_of[p]] || !w->faces[w->face_of[p]].alive)) assign(w, p);
  w->face_of[i] = NO_FACE;
  return true;
}

static bool take_faces(const hull_work *w, mesh *hull)
{
  uint32_t *to = malloc(((size_t)w->points->vertex_count + 1) * sizeof *to);
  bool good = to != NULL;
  for (uint32_t p = 0; good && p < w->points->vertex_count; p++) to[p] = NO_FACE;
  for (uint32_t f = 0; good && f < w->face_count; f++) {
    const uint32_t *c = w->faces[f].corner;
    for (int k = 0; good && w->faces[f].alive && k < 3; k++)
      if (to[c[k]] == NO_FACE) {
        to[c[k]] = hull->vertex_count;
        good = mesh_add_vertex(hull, point(w, c[k]));
      }
    if (good && w->faces[f].alive) good = mesh_add_triangle(hull, to[c[0]], to[c[1]], to[c[2]]);
  }
  free(to);
  return good;
}

hull_result hull_build(const mesh *points, uint32_t most, mesh *hull, double *left_out)
{
  double centre[3], half[3];
  *hull = (mesh){0};
  *left_out = 0.0;
  mesh_bounds(points, centre, half);
  hull_work *w = calloc(1, sizeof *w);
  if (!w) return HULL_NO_MEMORY;
  w->points = points;
  w->tolerance = 1.0e-6 * cook_length(half);
  w->face_of = malloc(((size_t)points->vertex_count + 1) * sizeof *w->face_of);
  w->above = malloc(((size_t)points->vertex_count + 1) * sizeof *w->above);
  hull_result result = w->face_of && w->above ? HULL_GOOD : HULL_NO_MEMORY;
  if (result == HULL_GOOD && !start(w)) result = HULL_FLAT;
  if (result == HULL_GOOD) {
    for (uint32_t i = 0; i < points->vertex_count; i++) assign(w, i);
    double passed_over = 0.0;
    for (uint32_t vertices = 4;;) {
      uint32_t best = NO_FACE;
      double far = 0.0;
      for (uint32_t i = 0; i < points->vertex_count; i++)
        if (w->face_of[i] != NO_FACE && w->above[i] > far) far = w->above[i], best = i;
      if (best == NO_FACE || vertices == most) *left_out = far > passed_over ? far : passed_over;
      if (best == NO_FACE || vertices == most) break;
      if (add_point(w, best))
        vertices++;
      else
        w->face_of[best] = NO_FACE, passed_over = far > passed_over ? far : passed_over;
    }
    if (!take_faces(w, hull)) result = HULL_NO_MEMORY;
  }
  free(w->face_of);
  free(w->above);
  free(w);
  return result;
}
