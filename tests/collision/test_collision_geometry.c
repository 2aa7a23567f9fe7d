/* Contacts of every pair of shapes against a search in double precision, over thousands of poses.
 *
 * For convex shapes the signed distance is the largest separation over all directions: sep(n) = min over b of n.x - max
 * over a of n.x, negative when they overlap. So a contact's normal must reach its gap, and no direction may do better.
 */
#include "collision_scene.h"
#include "geometry_samples.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define POSES 3000

typedef struct double_pose {
  double p[3];
  double r[3][3]; /* columns are the turned axes */
} double_pose;

static double_pose widen(const float *q)
{
  double_pose d;
  double n = sqrt((double)q[3] * q[3] + (double)q[4] * q[4] + (double)q[5] * q[5] + (double)q[6] * q[6]);
  double x = q[3] / n, y = q[4] / n, z = q[5] / n, w = q[6] / n;
  double r[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                    {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                    {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
  memcpy(d.r, r, sizeof r);
  for (int k = 0; k < 3; k++) d.p[k] = q[k];
  return d;
}

typedef struct double_shape {
  double_pose x;
  uint32_t type;
  double size[3];
  const float *vertex, *normal; /* hull: geometry of the model */
  const uint32_t *face, *corner;
  uint32_t vertices, faces;
} double_shape;

static double hull_support(const double_shape *s, const double n[3])
{
  double most = -1e30;
  for (uint32_t i = 0; i < s->vertices; i++) {
    const float *v = s->vertex + 3 * (size_t)i;
    double along = (double)v[0] * n[0] + (double)v[1] * n[1] + (double)v[2] * n[2];
    most = along > most ? along : most;
  }
  return most;
}

/* Largest n.x over a solid shape. */
static double support(const double_shape *s, const double n[3])
{
  double centre = 0;
  double local[3];
  for (int k = 0; k < 3; k++) {
    centre += n[k] * s->x.p[k];
    local[k] = n[0] * s->x.r[0][k] + n[1] * s->x.r[1][k] + n[2] * s->x.r[2][k];
  }
  if (s->type == SB_SHAPE_SPHERE) return centre + s->size[0];
  if (s->type == SB_SHAPE_CAPSULE) return centre + s->size[0] + fabs(local[2]) * s->size[1];
  if (s->type == SB_SHAPE_CYLINDER) return centre + hypot(local[0], local[1]) * s->size[0] + fabs(local[2]) * s->size[1];
  if (s->type == SB_SHAPE_ELLIPSOID)
    return centre + sqrt(pow(local[0] * s->size[0], 2) + pow(local[1] * s->size[1], 2) + pow(local[2] * s->size[2], 2));
  if (s->type == SB_SHAPE_HULL) return centre + hull_support(s, local);
  return centre + fabs(local[0]) * s->size[0] + fabs(local[1]) * s->size[1] + fabs(local[2]) * s->size[2];
}

static double separation(const double_shape *a, const double_shape *b, const double n[3])
{
  double back[3] = {-n[0], -n[1], -n[2]};
  if (a->type == SB_SHAPE_PLANE) /* the half space has one direction */
    return -support(b, back) - (n[0] * a->x.p[0] + n[1] * a->x.p[1] + n[2] * a->x.p[2]);
  return -support(b, back) - support(a, n);
}

static void unit(double n[3])
{
  double l = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  for (int k = 0; k < 3; k++) n[k] = l > 0 ? n[k] / l : (k == 2);
}

/* Climbs from a direction until steps are below 1e-7. */
static double climb(const double_shape *a, const double_shape *b, double n[3], uint64_t *seed)
{
  double best = separation(a, b, n);
  double step = 0.3;
  while (step > 1e-7) {
    bool better = false;
    for (int i = 0; i < 12; i++) {
      double t[3];
      for (int k = 0; k < 3; k++) t[k] = n[k] + step * (double)scene_random(seed, -1.0f, 1.0f);
      unit(t);
      double v = separation(a, b, t);
      if (v > best) {
        best = v;
        memcpy(n, t, sizeof t);
        better = true;
      }
    }
    if (!better) step *= 0.5;
  }
  return best;
}

/* The signed distance by search: a lower bound, near the truth. */
static double search_distance(const double_shape *a, const double_shape *b, uint64_t *seed)
{
  double best = -1e30;
  double start[3] = {b->x.p[0] - a->x.p[0], b->x.p[1] - a->x.p[1], b->x.p[2] - a->x.p[2]};
  unit(start);
  for (int i = 0; i < 6; i++) {
    double top = separation(a, b, start);
    for (int k = 0; i > 0 && k < 40; k++) {
      double n[3];
      for (int c = 0; c < 3; c++) n[c] = (double)scene_random(seed, -1.0f, 1.0f);
      unit(n);
      double v = separation(a, b, n);
      if (v > top || k == 0) {
        top = v;
        memcpy(start, n, sizeof n);
      }
    }
    double v = climb(a, b, start, seed);
    best = v > best ? v : best;
  }
  return best;
}

static void random_size(uint64_t *seed, uint32_t variant, float size[3])
{
  for (int k = 0; k < 3; k++) size[k] = scene_random(seed, 0.1f, 1.0f);
  if (variant == 5) size[scene_random_below(seed, 3)] = 1e-3f; /* slivers */
  if (variant == 6) size[scene_random_below(seed, 3)] = 0.0f;
}

static void add_shape(collision_scene *s, uint64_t *seed, scene_pose pose, uint32_t type, const float size[3])
{
  int32_t body = scene_body(s, pose, 0);
  if (type == SB_SHAPE_HULL)
    scene_geometry_shape(s, body, (int32_t)scene_random_below(seed, SAMPLE_HULLS));
  else
    scene_shape(s, body, type, size[0], size[1], size[2]);
}

/* Poses of a kind each: any, aligned, quarter turns, small tilts, same centre, slivers, zero sizes, far away. */
static void add_case(collision_scene *s, uint64_t *seed, uint32_t type_a, uint32_t type_b, uint32_t i)
{
  uint32_t variant = i % 8;
  float sa[3], sb[3];
  random_size(seed, variant, sa);
  random_size(seed, variant, sb);
  scene_pose a = scene_random_pose(seed, 0.5f);
  scene_pose b = scene_random_pose(seed, variant == 4 ? 0.0f : 1.2f);
  if (variant == 1 || variant == 2 || variant == 3) {
    const float axis[3] = {i / 8 % 3 == 0, i / 8 % 3 == 1, i / 8 % 3 == 2};
    double angle = variant == 1   ? 0.0
                   : variant == 2 ? 1.5707963267948966
                                  : pow(10.0, (double)scene_random(seed, -7, -1));
    scene_pose at = b;
    b = scene_turned(at.v[0], at.v[1], at.v[2], axis[0], axis[1], axis[2], angle);
    a = scene_at(a.v[0], a.v[1], a.v[2]);
  }
  if (variant == 4) memcpy(b.v, a.v, 3 * sizeof(float));
  if (variant == 7)
    for (int k = 0; k < 3; k++) a.v[k] += 60.0f, b.v[k] += 60.0f;
  scene_world(s);
  add_shape(s, seed, a, type_a, sa);
  add_shape(s, seed, b, type_b, sb);
}

typedef struct pair_error {
  double gap;    /* largest |gap - sep(normal)| of the deepest point */
  double missed; /* largest amount by which another direction beat the normal */
  double inside; /* largest distance of a point from its shape */
  uint32_t contacts;
} pair_error;

/* Distance outside of an ellipsoid or hull, at least: by the directions of the point itself, of the scaled point and of the faces. */
static double outside_by_support(const double_shape *s, const double l[3])
{
  double most = 0;
  if (s->type == SB_SHAPE_ELLIPSOID) {
    double n[3], len = 0, h = 0;
    for (int k = 0; k < 3; k++) {
      double r = s->size[k] > 0 ? s->size[k] : 1e-9;
      n[k] = l[k] / (r * r);
      len += n[k] * n[k];
    }
    len = sqrt(len);
    if (!(len > 0)) return 0;
    for (int k = 0; k < 3; k++) h += pow(n[k] / len * s->size[k], 2);
    for (int k = 0; k < 3; k++) most += n[k] / len * l[k];
    most -= sqrt(h);
  }
  for (uint32_t f = 0; s->type == SB_SHAPE_HULL && f < s->faces; f++) {
    const float *n = s->normal + 3 * (size_t)f, *v = s->vertex + 3 * (size_t)s->corner[s->face[2 * f]];
    double d = 0;
    for (int k = 0; k < 3; k++) d += (double)n[k] * (l[k] - (double)v[k]);
    most = d > most ? d : most;
  }
  return most > 0 ? most : 0;
}

/* Distance outside of a shape; 0 inside. */
static double outside(const double_shape *s, const double p[3])
{
  double l[3];
  for (int k = 0; k < 3; k++)
    l[k] = (p[0] - s->x.p[0]) * s->x.r[0][k] + (p[1] - s->x.p[1]) * s->x.r[1][k] + (p[2] - s->x.p[2]) * s->x.r[2][k];
  if (s->type == SB_SHAPE_PLANE) return fabs(l[2]);
  if (s->type == SB_SHAPE_CYLINDER) {
    double across = hypot(l[0], l[1]) - s->size[0], along = fabs(l[2]) - s->size[1];
    return hypot(across > 0 ? across : 0, along > 0 ? along : 0);
  }
  if (s->type == SB_SHAPE_ELLIPSOID || s->type == SB_SHAPE_HULL) return outside_by_support(s, l);
  double e[3] = {0, 0, 0};
  for (int k = 0; k < 3; k++) {
    double h = s->type == SB_SHAPE_BOX ? s->size[k] : (s->type == SB_SHAPE_CAPSULE && k == 2) ? s->size[1] : 0;
    e[k] = fabs(l[k]) > h ? fabs(l[k]) - h : 0;
  }
  double d = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]) - (s->type == SB_SHAPE_BOX ? 0 : s->size[0]);
  return d > 0 ? d : 0;
}

static void check_point(const double_shape *s, const float *local, double world[3], pair_error *e)
{
  for (int k = 0; k < 3; k++)
    world[k] = s->x.p[k] + s->x.r[k][0] * local[0] + s->x.r[k][1] * local[1] + s->x.r[k][2] * local[2];
  double d = outside(s, world);
  e->inside = d > e->inside ? d : e->inside;
}

static double_shape shape_of(const sb_model *m, uint32_t i)
{
  double_shape s = {.x = widen(m->body_q + 7 * m->shape_body[i]), .type = m->shape_type[i]};
  for (int k = 0; k < 3; k++) s.size[k] = m->shape_size[3 * i + k];
  if (s.type != SB_SHAPE_HULL) return s;
  const uint32_t *vertices = m->geometry_vertices + 2 * m->shape_geometry[i], *faces = m->geometry_faces + 2 * m->shape_geometry[i];
  s.vertex = m->geometry_vertex + 3 * vertices[0], s.vertices = vertices[1];
  s.normal = m->face_normal + 3 * faces[0], s.faces = faces[1];
  s.face = m->face_corners + 2 * faces[0], s.corner = m->corner_vertex;
  return s;
}

static bool curved(uint32_t type) { return type == SB_SHAPE_CYLINDER || type == SB_SHAPE_ELLIPSOID; }

/* Checks the contacts of one world of two shapes; scale is what box pairs may lose by their
 * preference for faces. */
static void check_world(const sb_model *m, const sb_contacts *c, uint32_t w, bool boxes, uint64_t *seed, pair_error *e,
                        pair_error *deep)
{
  double_shape a = shape_of(m, 2 * w);
  double_shape b = shape_of(m, 2 * w + 1);
  bool plane = a.type == SB_SHAPE_PLANE;
  double up[3] = {a.x.r[0][2], a.x.r[1][2], a.x.r[2][2]};
  double truth = plane ? separation(&a, &b, up) : search_distance(&a, &b, seed);
  /* curved shapes deep in each other are nearly as deep in many directions */
  if ((w % 8 == 4 || truth < -0.15) && (curved(a.type) || curved(b.type))) e = deep;
  uint32_t begin = c->world_start[w];
  uint32_t end = c->world_start[w + 1];
  double least = 1e30;
  double n[3] = {0, 0, 1};
  for (uint32_t i = begin; i < end; i++) {
    double pa[3], pb[3];
    double along = 0, len2 = 0;
    for (int k = 0; k < 3; k++) n[k] = c->normal[3 * i + k], len2 += n[k] * n[k];
    assert_true(fabs(len2 - 1) < 1e-5);
    check_point(&a, c->point_a + 3 * i, pa, e);
    check_point(&b, c->point_b + 3 * i, pb, e);
      for (int k = 0; k < 3; k++) along += n[k] * (pb[k] - pa[k]);
    double off = fabs(along - c->gap[i]);
    e->gap = off > e->gap ? off : e->gap;
    least = c->gap[i] < least ? c->gap[i] : least;
    e->contacts++;
  }
  double scale = 1e-3 * fmin(fmin(fmin(a.size[0], a.size[1]), a.size[2]), fmin(fmin(b.size[0], b.size[1]), b.size[2]));
  double slack = boxes ? 2.2 * scale : 0.0;
  if (begin == end) {
    /* speculative contacts of box corners may be left out, overlap never */
    assert_true(boxes ? truth > -1e-4 : truth > 0.2 - 2e-3); /* the search may stop short */
    return;
  }
  unit(n);
  double sep = separation(&a, &b, n);
  double missed = truth - slack - sep;
  if (boxes && truth > 0) missed = 0.0, sep = sep > least ? sep : least;
  e->missed = missed > e->missed ? missed : e->missed;
  double off = fabs(least - sep) - (boxes ? 1.1 * scale : 0.0);
  e->gap = off > e->gap ? off : e->gap;
}

static sb_model_store *hulls;

static void check_types(uint32_t type_a, uint32_t type_b)
{
  uint64_t seed = 0x9E3779B97F4A7C15u + 16 * type_a + type_b;
  collision_scene *s = scene_new();
  scene_take_geometry(s, sb_model_store_view(hulls));
  for (uint32_t i = 0; i < POSES; i++) add_case(s, &seed, type_a, type_b, i);
  const sb_model *m = scene_model(s);
  sb_collision_settings settings = sb_collision_default_settings();
  settings.speculative_margin = 0.2f;
  sb_collision *c;
  assert_int_equal(sb_collision_create(m, &settings, &c), SB_OK);
  assert_int_equal(sb_collision_step(c, m->body_q, NULL), SB_OK);
  pair_error e = {0}, deep = {0};
  bool boxes = type_a == SB_SHAPE_BOX && type_b == SB_SHAPE_BOX;
  for (uint32_t w = 0; w < POSES; w++) check_world(m, sb_collision_contacts(c), w, boxes, &seed, &e, &deep);
  print_message("types %u %u: %u contacts, error of gap %.2e, of direction %.2e, of points %.2e\n", (unsigned)type_a,
                (unsigned)type_b, (unsigned)e.contacts, e.gap, e.missed, e.inside);
  assert_true(e.contacts + deep.contacts > POSES / 5);
  bool lanes = type_a <= SB_SHAPE_BOX && type_b <= SB_SHAPE_BOX;
  /* of two faces clipped a point is taken that is within 1e-4 of the shapes' reach of the deepest */
  assert_true(e.gap < (lanes ? 4e-5 : 1.5e-4) && deep.gap < 1.5e-4);
  assert_true(e.missed < 1e-4 && deep.missed < 0.02);
  /* a point on a is over its partner on b: where two curved sides lie a little askew, neither is quite on its surface */
  assert_true(e.inside < (lanes ? 4e-5 : 1e-3));
  sb_collision_destroy(c);
  scene_free(s);
}

static void pairs_match_search(void **state)
{
  (void)state;
  for (uint32_t a = SB_SHAPE_PLANE; a <= SB_SHAPE_HULL; a++)
    for (uint32_t b = a > SB_SHAPE_SPHERE ? a : SB_SHAPE_SPHERE; b <= SB_SHAPE_HULL; b++) check_types(a, b);
}

/* The higher type first: same geometry, sides exchanged. */
static void order_of_shapes_mirrors(void **state)
{
  (void)state;
  check_types(SB_SHAPE_BOX, SB_SHAPE_CAPSULE);
  check_types(SB_SHAPE_CAPSULE, SB_SHAPE_SPHERE);
  check_types(SB_SHAPE_HULL, SB_SHAPE_CYLINDER);
}

/* Any scale from dust to planets, mixed scales in a pair among them, touching or coincident: finite numbers, unit
 * normals, features that differ. */
static void odd_scales_stay_finite(void **state)
{
  (void)state;
  uint64_t seed = 404;
  collision_scene *s = scene_new();
  for (int i = 0; i < 20000; i++) {
    float scale[2];
    for (int k = 0; k < 2; k++) scale[k] = (float)pow(10.0, (double)scene_random(&seed, -18.0f, 12.0f));
    if (i % 3) scale[1] = scale[0];
    scene_world(s);
    for (int k = 0; k < 2; k++) {
      scene_pose pose = scene_random_pose(&seed, i % 5 ? scale[0] : 0.0f);
      if (i % 4 == 0) memcpy(pose.v + 3, (const float[]){0, 0, 0, 1}, 4 * sizeof(float));
      float size[3];
      for (int c = 0; c < 3; c++)
        size[c] = scale[k] * (scene_random_below(&seed, 6) ? scene_random(&seed, 0.1f, 1.0f) : 0);
      scene_free_shape(s, pose, scene_random_below(&seed, k == 0 ? 4 : 3) + (k == 1), size[0], size[1], size[2]);
    }
  }
  const sb_model *m = scene_model(s);
  sb_collision *c;
  assert_int_equal(sb_collision_create(m, NULL, &c), SB_OK);
  assert_int_equal(sb_collision_step(c, m->body_q, NULL), SB_OK);
  const sb_contacts *x = sb_collision_contacts(c);
  assert_true(x->count > 5000);
  for (uint32_t i = 0; i < x->count; i++) {
    double len2 = 0;
    for (int k = 0; k < 3; k++) {
      assert_true(isfinite(x->point_a[3 * i + k]) && isfinite(x->point_b[3 * i + k]));
      len2 += (double)x->normal[3 * i + k] * (double)x->normal[3 * i + k];
    }
    assert_true(isfinite(x->gap[i]));
    assert_true(fabs(len2 - 1) < 1e-5);
    if (i > 0 && x->world[i] == x->world[i - 1]) assert_true(x->key[i - 1] < x->key[i]);
  }
  sb_collision_destroy(c);
  scene_free(s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(pairs_match_search), cmocka_unit_test(order_of_shapes_mirrors),
                                     cmocka_unit_test(odd_scales_stay_finite)};
  hulls = sample_hulls();
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  sb_model_store_free(hulls);
  return failed;
}
