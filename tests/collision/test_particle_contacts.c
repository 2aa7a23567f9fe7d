/* Contacts of particles with every shape: against references in binary64, and independence of tasks, lanes, worlds and what is beside. */
#include "cook_math.h"
#include "geometry_samples.h"
#include "particle_scene.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* --- references: signed distance of a point in the shape's frame --- */

static double clamp(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

static double box_distance(const double x[3], const double h[3])
{
  double out[3], far = 0, deep = -INFINITY;
  for (int k = 0; k < 3; k++) {
    out[k] = fabs(x[k]) - h[k];
    far += out[k] > 0 ? out[k] * out[k] : 0;
    deep = fmax(deep, out[k]);
  }
  return deep > 0 ? sqrt(far) : deep;
}

static double cylinder_distance(const double x[3], const double size[3])
{
  double side = hypot(x[0], x[1]) - size[0], cap = fabs(x[2]) - size[1];
  if (side <= 0 && cap <= 0) return fmax(side, cap);
  return hypot(fmax(side, 0), fmax(cap, 0));
}

/* By walking down the squared distance over two angles from a fine grid of starts. */
static double ellipsoid_distance(const double x[3], const double a[3])
{
  double best = INFINITY, at[2] = {0, 0}, step = 0.2;
  for (int i = 0; i <= 40; i++)
    for (int k = 0; k < 80; k++) {
      double u = COOK_PI * i / 40, v = 2 * COOK_PI * k / 80;
      const double d[3] = {a[0] * sin(u) * cos(v) - x[0], a[1] * sin(u) * sin(v) - x[1], a[2] * cos(u) - x[2]};
      double far = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
      if (far < best) best = far, at[0] = u, at[1] = v;
    }
  while (step > 1e-9) {
    bool moved = false;
    for (int way = 0; way < 4; way++) {
      double u = at[0] + (way == 0 ? step : way == 1 ? -step : 0), v = at[1] + (way == 2 ? step : way == 3 ? -step : 0);
      const double d[3] = {a[0] * sin(u) * cos(v) - x[0], a[1] * sin(u) * sin(v) - x[1], a[2] * cos(u) - x[2]};
      double far = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
      if (far < best) best = far, at[0] = u, at[1] = v, moved = true;
    }
    if (!moved) step *= 0.5;
  }
  double inside = x[0] * x[0] / (a[0] * a[0]) + x[1] * x[1] / (a[1] * a[1]) + x[2] * x[2] / (a[2] * a[2]);
  return inside < 1 ? -sqrt(best) : sqrt(best);
}

static void sub(const double a[3], const double b[3], double out[3])
{
  for (int k = 0; k < 3; k++) out[k] = a[k] - b[k];
}
static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static double segment_distance(const double x[3], const double a[3], const double b[3])
{
  double d[3], r[3], p[3];
  sub(b, a, d);
  sub(x, a, r);
  double t = clamp(dot(r, d) / dot(d, d), 0, 1);
  for (int k = 0; k < 3; k++) p[k] = r[k] - t * d[k];
  return sqrt(dot(p, p));
}

/* Distance of a triangle; *height: above its plane. */
static double triangle_distance(const double x[3], const double t[3][3], double *height)
{
  double u[3], v[3], r[3], n[3], q[3];
  sub(t[1], t[0], u);
  sub(t[2], t[0], v);
  sub(x, t[0], r);
  n[0] = u[1] * v[2] - u[2] * v[1], n[1] = u[2] * v[0] - u[0] * v[2], n[2] = u[0] * v[1] - u[1] * v[0];
  double l = sqrt(dot(n, n));
  *height = dot(r, n) / l;
  bool inside = true;
  for (int k = 0; k < 3; k++) {
    double e[3], w[3];
    sub(t[(k + 1) % 3], t[k], e);
    sub(x, t[k], w);
    q[0] = e[1] * w[2] - e[2] * w[1], q[1] = e[2] * w[0] - e[0] * w[2], q[2] = e[0] * w[1] - e[1] * w[0];
    inside = inside && dot(q, n) >= 0;
  }
  if (inside) return fabs(*height);
  return fmin(fmin(segment_distance(x, t[0], t[1]), segment_distance(x, t[1], t[2])), segment_distance(x, t[2], t[0]));
}

/* Nearest triangle of a polytope or mesh; *height is that above the nearest. */
static double faces_distance(const sb_model *m, uint32_t g, const double x[3], double *height)
{
  double best = INFINITY;
  *height = 0;
  for (uint32_t f = m->geometry_faces[2 * g]; f < m->geometry_faces[2 * g] + m->geometry_faces[2 * g + 1]; f++)
    for (uint32_t k = 1; k + 1 < m->face_corners[2 * f + 1]; k++) {
      const uint32_t corner[3] = {0, k, k + 1};
      double t[3][3], above;
      for (int c = 0; c < 3; c++)
        for (int a = 0; a < 3; a++)
          t[c][a] = m->geometry_vertex[3 * (m->geometry_vertices[2 * g] + m->corner_vertex[m->face_corners[2 * f] + corner[c]]) + a];
      double d = triangle_distance(x, t, &above);
      if (d < best) best = d, *height = above;
    }
  return best;
}

/* How far x is above a sheet of triangles along z; infinite beside it. */
static double above_sheet(const sb_model *m, uint32_t g, const double x[3])
{
  for (uint32_t f = m->geometry_faces[2 * g]; f < m->geometry_faces[2 * g] + m->geometry_faces[2 * g + 1]; f++) {
    const float *v[3], *n = m->face_normal + 3 * (size_t)f;
    bool inside = true;
    for (int c = 0; c < 3; c++) v[c] = m->geometry_vertex + 3 * (size_t)(m->geometry_vertices[2 * g] + m->corner_vertex[m->face_corners[2 * f] + (uint32_t)c]);
    for (int c = 0; c < 3; c++) {
      const float *a = v[c], *b = v[(c + 1) % 3];
      inside = inside && ((double)b[0] - a[0]) * (x[1] - a[1]) - ((double)b[1] - a[1]) * (x[0] - a[0]) >= 0;
    }
    if (inside) return (x[2] - v[0][2]) + (n[0] * (x[0] - v[0][0]) + n[1] * (x[1] - v[0][1])) / n[2];
  }
  return INFINITY;
}

static double hull_distance(const sb_model *m, uint32_t g, const double x[3])
{
  double out = -INFINITY, height;
  for (uint32_t f = m->geometry_faces[2 * g]; f < m->geometry_faces[2 * g] + m->geometry_faces[2 * g + 1]; f++) {
    const float *n = m->face_normal + 3 * (size_t)f;
    const float *v = m->geometry_vertex + 3 * (size_t)(m->geometry_vertices[2 * g] + m->corner_vertex[m->face_corners[2 * f]]);
    out = fmax(out, n[0] * (x[0] - v[0]) + n[1] * (x[1] - v[1]) + n[2] * (x[2] - v[2]));
  }
  return out <= 0 ? out : faces_distance(m, g, x, &height);
}

static double shape_distance(const sb_model *m, uint32_t s, const double x[3])
{
  const float *f = m->shape_size + 3 * (size_t)s;
  const double size[3] = {f[0], f[1], f[2]};
  switch (m->shape_type[s]) {
  case SB_SHAPE_PLANE: return x[2];
  case SB_SHAPE_SPHERE: return sqrt(dot(x, x)) - size[0];
  case SB_SHAPE_CAPSULE: {
    const double off[3] = {x[0], x[1], x[2] - clamp(x[2], -size[1], size[1])};
    return sqrt(dot(off, off)) - size[0];
  }
  case SB_SHAPE_BOX: return box_distance(x, size);
  case SB_SHAPE_CYLINDER: return cylinder_distance(x, size);
  case SB_SHAPE_ELLIPSOID: return ellipsoid_distance(x, size);
  default: return hull_distance(m, (uint32_t)m->shape_geometry[s], x);
  }
}

/* --- scenes --- */

enum { CLOUD = 1500 };
static const double margin_of_all = 0.01, radius_of_all = 0.02;

static void add_cloud(sb_model_builder *b, double reach, uint64_t seed)
{
  sb_build_deformable d = sb_build_deformable_default();
  d.margin = margin_of_all, d.friction = 0.25, d.restitution = 0.5;
  sb_builder_add_deformable(b, &d, "cloud");
  for (int i = 0; i < CLOUD; i++) {
    sb_build_particle p = {.mass = 0.1, .radius = radius_of_all};
    for (int k = 0; k < 3; k++) p.q[k] = scene_random(&seed, (float)-reach, (float)reach);
    sb_builder_add_particle(b, &p);
  }
}

/* The shape on a free body, tilted and off its frame. */
static sb_build_shape tilted_shape(sb_model_builder *b, uint32_t type, double x, double y, double z, bool fixed)
{
  sb_build_shape shape = sb_build_shape_default();
  shape.type = type;
  shape.size[0] = x, shape.size[1] = y, shape.size[2] = z;
  shape.margin = margin_of_all;
  shape.X[0] = 0.1, shape.X[3] = 0.5, shape.X[4] = 0.1, shape.X[5] = -0.2, shape.X[6] = sqrt(0.7);
  shape.body = -1;
  if (fixed) return shape;
  sb_build_body body = sb_build_body_default();
  body.joint_type = SB_JOINT_FREE;
  body.mass = 1, body.inertia[0] = body.inertia[1] = body.inertia[2] = 0.1;
  body.q[1] = -0.05, body.q[3] = -0.4, body.q[5] = 0.3, body.q[6] = sqrt(0.75);
  shape.body = sb_builder_add_body(b, &body, "body");
  return shape;
}

static void world_pose(const sb_model *m, uint32_t s, double p[3], double q[4])
{
  const float *X = m->shape_X + 7 * (size_t)s;
  double local[7], body[7] = {0, 0, 0, 0, 0, 0, 1}, out[7];
  for (int k = 0; k < 7; k++) local[k] = X[k];
  for (int k = 0; k < 7 && m->shape_body[s] >= 0; k++) body[k] = m->body_q[7 * (size_t)m->shape_body[s] + k];
  cook_pose_mul(body, local, out);
  memcpy(p, out, 3 * sizeof *p);
  memcpy(q, out + 3, 4 * sizeof *q);
}

static void into_shape(const sb_model *m, uint32_t s, const float *x, double out[3])
{
  double p[3], q[4], conj[4], d[3];
  world_pose(m, s, p, q);
  for (int k = 0; k < 3; k++) d[k] = x[k] - p[k];
  cook_quat_conj(q, conj);
  cook_quat_rotate(conj, d, out);
}

/* gap = dot(n, x - X(body) point) - radius, all in the world. */
static double gap_by_definition(const sb_model *m, const sb_particle_contacts *c, uint32_t i, const float *x)
{
  double pose[7] = {0, 0, 0, 0, 0, 0, 1}, point[3], n[3], at[3], world_n[3];
  for (int k = 0; k < 7 && c->body[i] >= 0; k++) pose[k] = m->body_q[7 * (size_t)c->body[i] + k];
  for (int k = 0; k < 3; k++) point[k] = c->point[3 * (size_t)i + k], n[k] = c->normal[3 * (size_t)i + k];
  cook_pose_point(pose, point, at);
  cook_quat_rotate(pose + 3, n, world_n);
  const double d[3] = {x[0] - at[0], x[1] - at[1], x[2] - at[2]};
  return dot(world_n, d) - m->particle_radius[c->particle[i]];
}

static void check_against_reference(particle_scene *s, double limit)
{
  const sb_model *m = s->model;
  const sb_particle_contacts *c = sb_collision_particle_contacts(s->collision);
  uint32_t touching = 0, inside = 0;
  for (uint32_t p = 0; p < m->particle_count; p++) {
    double x[3];
    into_shape(m, 0, s->q + 3 * (size_t)p, x);
    double gap = shape_distance(m, 0, x) - radius_of_all;
    uint32_t first = c->particle_start[p], count = c->particle_start[p + 1] - first;
    if (fabs(gap - limit) > 1e-5) assert_int_equal(count, gap < limit ? 1 : 0);
    if (!count) continue;
    touching++;
    inside += gap < -radius_of_all;
    assert_int_equal(c->particle[first], p);
    assert_int_equal(c->shape[first], 0);
    assert_int_equal(c->body[first], m->shape_body[0]);
    assert_true(fabs(c->gap[first] - gap) < 2e-5);
    assert_true(fabs(gap_by_definition(m, c, first, s->q + 3 * (size_t)p) - gap) < 2e-5);
    double n2 = 0;
    for (int k = 0; k < 3; k++) n2 += (double)c->normal[3 * (size_t)first + k] * c->normal[3 * (size_t)first + k];
    assert_true(fabs(n2 - 1) < 1e-5);
    assert_true(c->friction[first] == 1.0f && c->restitution[first] == 0.5f);
  }
  assert_int_equal(c->count, c->particle_start[m->particle_count]);
  assert_true(touching > 20 && inside > 5);
}

static void distances_are_those_of_the_reference(void **state)
{
  (void)state;
  static const struct {
    uint32_t type;
    double x, y, z;
  } shapes[] = {{SB_SHAPE_PLANE, 0, 0, 0},        {SB_SHAPE_SPHERE, 0.3, 0, 0},      {SB_SHAPE_CAPSULE, 0.2, 0.3, 0},
                {SB_SHAPE_BOX, 0.4, 0.25, 0.3},   {SB_SHAPE_CYLINDER, 0.3, 0.35, 0}, {SB_SHAPE_CYLINDER, 0.45, 0.1, 0},
                {SB_SHAPE_ELLIPSOID, 0.5, 0.3, 0.15}, {SB_SHAPE_ELLIPSOID, 0.3, 0.3, 0.3}, {SB_SHAPE_ELLIPSOID, 0.2, 0.2, 0.5}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    for (int fixed = 0; fixed < 2; fixed++) {
      sb_model_builder *b = sb_builder_create();
      sb_build_shape shape = tilted_shape(b, shapes[i].type, shapes[i].x, shapes[i].y, shapes[i].z, fixed);
      sb_builder_add_shape(b, &shape, NULL);
      add_cloud(b, 0.7, 11 + i);
      particle_scene s = particle_scene_new(b, 1, NULL);
      assert_int_equal(particle_scene_step(&s, 0.0f, NULL), SB_OK);
      check_against_reference(&s, 2 * margin_of_all);
      particle_scene_free(&s);
    }
}

static void hulls_are_those_of_the_reference(void **state)
{
  (void)state;
  sb_model_store *hulls = sample_hulls();
  const sb_model *h = sb_model_store_view(hulls);
  for (uint32_t g = 0; g < 8; g++) {
    sb_model_builder *b = sb_builder_create();
    mesh points = {0};
    geometry_place place;
    double left_out;
    for (uint32_t v = 0; v < h->geometry_vertices[2 * g + 1]; v++) {
      const float *f = h->geometry_vertex + 3 * (size_t)(h->geometry_vertices[2 * g] + v);
      const double at[3] = {f[0], f[1], f[2]};
      mesh_add_vertex(&points, at);
    }
    assert_int_equal(geometry_add_hull(b, &points, &place, &left_out), GEOMETRY_GOOD);
    mesh_clear(&points);
    sb_build_shape shape = tilted_shape(b, SB_SHAPE_HULL, place.half[0], place.half[1], place.half[2], g % 2);
    shape.geometry = place.index;
    sb_builder_add_shape(b, &shape, NULL);
    add_cloud(b, 0.75, 99 + g);
    particle_scene s = particle_scene_new(b, 1, NULL);
    assert_int_equal(particle_scene_step(&s, 0.0f, NULL), SB_OK);
    const sb_particle_contacts *c = sb_collision_particle_contacts(s.collision);
    for (uint32_t p = 0; p < s.model->particle_count; p++) {
      double x[3];
      into_shape(s.model, 0, s.q + 3 * (size_t)p, x);
      double gap = hull_distance(s.model, 0, x) - radius_of_all;
      uint32_t first = c->particle_start[p], count = c->particle_start[p + 1] - first;
      if (fabs(gap - 2 * margin_of_all) > 1e-5) assert_int_equal(count, gap < 2 * margin_of_all ? 1 : 0);
      if (count) assert_true(fabs(c->gap[first] - gap) < 2e-5 && fabs(gap_by_definition(s.model, c, first, s.q + 3 * (size_t)p) - gap) < 2e-5);
    }
    particle_scene_free(&s);
  }
  sb_model_store_free(hulls);
}

static double bumps(uint32_t row, uint32_t column) { return 0.3 * sin(0.7 * row) * cos(0.9 * column) + 0.02 * ((row * 7 + column * 13) % 5); }

/* A surface of bumps, as triangles or as heights, and a cloud around it. */
static particle_scene surface_scene(bool heights)
{
  sb_model_builder *b = sb_builder_create();
  geometry_place place;
  if (heights) {
    double height[21 * 21];
    for (uint32_t i = 0; i < 21 * 21; i++) height[i] = bumps(i / 21, i % 21);
    assert_int_equal(geometry_add_hfield(b, 21, 21, 1.0, 1.0, height, &place), GEOMETRY_GOOD);
  } else {
    mesh m = {0};
    sample_sheet(&m, 20, 1.0, bumps);
    assert_int_equal(geometry_add_mesh(b, &m, &place), GEOMETRY_GOOD);
    mesh_clear(&m);
  }
  sb_build_shape shape = tilted_shape(b, heights ? SB_SHAPE_HFIELD : SB_SHAPE_MESH, place.half[0], place.half[1], place.half[2], true);
  shape.geometry = place.index;
  sb_builder_add_shape(b, &shape, NULL);
  add_cloud(b, 0.8, 5);
  return particle_scene_new(b, 1, NULL);
}

/* Above the surface: the nearest face is among the contacts, they are in reach, and none is nearer than the surface. */
static void surfaces_give_their_nearest_faces(void **state)
{
  (void)state;
  particle_scene s = surface_scene(false), h = surface_scene(true);
  assert_int_equal(particle_scene_step(&s, 0.0f, NULL), SB_OK);
  assert_int_equal(particle_scene_step(&h, 0.0f, NULL), SB_OK);
  const sb_particle_contacts *c = sb_collision_particle_contacts(s.collision), *d = sb_collision_particle_contacts(h.collision);
  uint32_t touching = 0, several = 0, deep = 0;
  for (uint32_t p = 0; p < s.model->particle_count; p++) {
    double x[3], height;
    into_shape(s.model, 0, s.q + 3 * (size_t)p, x);
    double distance = faces_distance(s.model, 0, x, &height), gap = distance - radius_of_all;
    uint32_t first = c->particle_start[p], count = c->particle_start[p + 1] - first;
    assert_in_range(count, 0, SB_PARTICLE_MAX_FACES);
    bool edge = fabs(x[0]) > 0.9 || fabs(x[1]) > 0.9;
    height = above_sheet(s.model, 0, x);
    if (height > 1e-4 && !edge && fabs(gap - 2 * margin_of_all) > 1e-4) {
      assert_int_equal(count > 0, gap < 2 * margin_of_all);
      if (count) assert_true(fabs(c->gap[first] - gap) < 1e-4);
      /* both are the same surface */
      uint32_t other = d->particle_start[p + 1] - d->particle_start[p];
      assert_int_equal(other > 0, count > 0);
      if (count) assert_true(fabs(d->gap[d->particle_start[p]] - gap) < 1e-4);
    }
    for (uint32_t k = 0; k < count; k++) {
      assert_true(c->gap[first + k] < 2 * margin_of_all + 1e-5);
      assert_true(fabs(gap_by_definition(s.model, c, first + k, s.q + 3 * (size_t)p) - c->gap[first + k]) < 2e-5);
      if (k) assert_true(c->gap[first + k] >= c->gap[first + k - 1]);
    }
    touching += count > 0;
    several += count > 1;
    /* a heightfield is solid below */
    if (height < -0.05 && !edge && d->particle_start[p + 1] > d->particle_start[p]) deep++;
  }
  assert_true(touching > 50 && several > 3 && deep > 50);
  particle_scene_free(&s);
  particle_scene_free(&h);
}

/* A particle that slides over a flat mesh touches one plane, and never an edge between triangles. */
static double flat(uint32_t row, uint32_t column) { return 0.0 * (row + column); }

static void flat_meshes_have_no_inner_edges(void **state)
{
  (void)state;
  sb_model_builder *b = sb_builder_create();
  geometry_place place;
  mesh m = {0};
  sample_sheet(&m, 20, 1.0, flat);
  assert_int_equal(geometry_add_mesh(b, &m, &place), GEOMETRY_GOOD);
  mesh_clear(&m);
  sb_build_shape shape = sb_build_shape_default();
  shape.type = SB_SHAPE_MESH, shape.body = -1, shape.geometry = place.index;
  memcpy(shape.size, place.half, sizeof shape.size);
  sb_builder_add_shape(b, &shape, NULL);
  add_cloud(b, 0.9, 17);
  particle_scene s = particle_scene_new(b, 1, NULL);
  for (uint32_t p = 0; p < s.model->particle_count; p++) s.q[3 * p + 2] = 0.02f, s.qd[3 * p] = 3.0f;
  assert_int_equal(particle_scene_step(&s, 1.0f / 60, NULL), SB_OK);
  const sb_particle_contacts *c = sb_collision_particle_contacts(s.collision);
  assert_int_equal(c->count, s.model->particle_count);
  for (uint32_t i = 0; i < c->count; i++) assert_true(c->normal[3 * i + 2] == 1.0f);
  particle_scene_free(&s);
}

/* --- independence --- */

/* Two clouds among shapes of all kinds; a later world and an unrelated cloud change nothing. */
static sb_model_builder *crowded(bool unrelated)
{
  sb_model_builder *b = sb_builder_create();
  for (uint32_t type = SB_SHAPE_PLANE; type <= SB_SHAPE_ELLIPSOID; type++) {
    sb_build_shape shape = tilted_shape(b, type, 0.3, 0.25, 0.2, type % 2);
    for (int k = 0; k < 3 && type == SB_SHAPE_PLANE; k++) shape.X[k] = k == 2 ? -0.5 : 0, shape.size[k] = 0;
    if (type == SB_SHAPE_PLANE) shape.X[3] = shape.X[4] = shape.X[5] = 0, shape.X[6] = 1;
    if (type == SB_SHAPE_SPHERE) shape.size[1] = shape.size[2] = 0;
    if (type == SB_SHAPE_CAPSULE || type == SB_SHAPE_CYLINDER) shape.size[2] = 0;
    sb_builder_add_shape(b, &shape, NULL);
  }
  add_cloud(b, 0.6, 3);
  add_cloud(b, 0.7, 4);
  if (unrelated) {
    sb_build_shape shape = tilted_shape(b, SB_SHAPE_BOX, 0.5, 0.5, 0.5, false);
    if (sb_builder_body(b, shape.body)) sb_builder_body(b, shape.body)->q[0] = 50;
    sb_builder_add_shape(b, &shape, NULL);
  }
  return b;
}

static void move(particle_scene *s)
{
  for (uint32_t i = 0; i < 3 * s->model->particle_count; i++) {
    uint32_t per_world = 3 * (s->model->particle_count / s->model->world_count);
    uint64_t seed = i % per_world + 1;
    scene_random(&seed, 0, 1);
    s->qd[i] = scene_random(&seed, -2, 2);
  }
}

static void tasks_lanes_and_worlds_change_nothing(void **state)
{
  (void)state;
  particle_scene plain = particle_scene_new(crowded(false), 1, NULL);
  move(&plain);
  assert_int_equal(particle_scene_step(&plain, 1.0f / 60, NULL), SB_OK);
  assert_true(sb_collision_particle_contacts(plain.collision)->count > 500);
  for (uint32_t i = 0; i < 8; i++) {
    sb_collision_settings x = sb_collision_default_settings();
    x.lanes = i % 3 == 0 ? 1 : i % 3 == 1 ? 4 : 8;
    scene_tasks t = {.seed = 77 + i, .threads = 1 + i % 4};
    sb_collision_tasks tasks = i % 2 ? scene_shuffled(&t) : scene_threaded(&t);
    particle_scene other = particle_scene_new(crowded(i >= 6), i == 5 ? 5 : 1, &x);
    move(&other);
    /* bodies of the unrelated kind have the same velocities: none */
    assert_int_equal(particle_scene_step(&other, 1.0f / 60, &tasks), SB_OK);
    for (uint32_t w = 0; w < other.model->world_count; w++) assert_true(particle_contacts_equal(&plain, 0, &other, w));
    particle_scene_free(&other);
  }
  particle_scene_free(&plain);
}

static void overflow_says_what_is_needed(void **state)
{
  (void)state;
  particle_scene full = particle_scene_new(crowded(false), 1, NULL);
  assert_int_equal(particle_scene_step(&full, 0.0f, NULL), SB_OK);
  uint32_t needed = sb_collision_particle_contacts(full.collision)->count;
  sb_collision_settings x = sb_collision_default_settings();
  x.particle_contact_capacity = needed - 1;
  particle_scene small = particle_scene_new(crowded(false), 1, &x);
  assert_int_equal(particle_scene_step(&small, 0.0f, NULL), SB_E_CAPACITY);
  assert_int_equal(sb_collision_get_usage(small.collision).particle_contact_count, needed);
  assert_int_equal(sb_collision_particle_contacts(small.collision)->count, 0);
  particle_scene_free(&small);
  x.truncate = 1;
  small = particle_scene_new(crowded(false), 1, &x);
  assert_int_equal(particle_scene_step(&small, 0.0f, NULL), SB_E_CAPACITY);
  assert_int_equal(sb_collision_particle_contacts(small.collision)->count, needed - 1);
  assert_int_equal(sb_collision_particle_contacts(small.collision)->particle_start[small.model->particle_count], needed - 1);
  particle_scene_free(&small);
  x.truncate = 0;
  x.particle_contact_capacity = needed;
  small = particle_scene_new(crowded(false), 1, &x);
  assert_int_equal(particle_scene_step(&small, 0.0f, NULL), SB_OK);
  assert_true(particle_contacts_equal(&full, 0, &small, 0));
  particle_scene_free(&small);
  particle_scene_free(&full);
}

/* A body does not touch the particle that it holds; masks keep others apart. */
static void filters_are_heeded(void **state)
{
  (void)state;
  sb_model_builder *b = sb_builder_create();
  sb_build_shape shape = tilted_shape(b, SB_SHAPE_BOX, 1, 1, 1, false);
  sb_builder_add_shape(b, &shape, NULL);
  shape.contype = shape.conaffinity = 2;
  shape.body = -1;
  sb_builder_add_shape(b, &shape, NULL);
  add_cloud(b, 0.2, 9);
  const sb_build_attachment held = {.particle = 7, .body = 0, .stiffness = SB_NO_LIMIT};
  sb_builder_add_attachment(b, &held);
  particle_scene s = particle_scene_new(b, 1, NULL);
  assert_int_equal(particle_scene_step(&s, 0.0f, NULL), SB_OK);
  const sb_particle_contacts *c = sb_collision_particle_contacts(s.collision);
  for (uint32_t p = 0; p < s.model->particle_count; p++) assert_int_equal(c->particle_start[p + 1] - c->particle_start[p], p == 7 ? 0 : 1);
  particle_scene_free(&s);
}

/* What comes together within the step has its contact at its start; what flies along with the body has none. */
static void speed_counts_relative_to_the_shape(void **state)
{
  (void)state;
  sb_model_builder *b = sb_builder_create();
  sb_build_shape shape = tilted_shape(b, SB_SHAPE_SPHERE, 0.1, 0, 0, false);
  sb_builder_add_shape(b, &shape, NULL);
  sb_builder_body(b, 0)->qd[0] = 6;
  add_cloud(b, 1.0, 21);
  particle_scene s = particle_scene_new(b, 1, NULL);
  for (uint32_t p = 0; p < s.model->particle_count; p++) s.qd[3 * p] = p % 2 ? 6.0f : 0.0f;
  assert_int_equal(particle_scene_step(&s, 1.0f / 60, NULL), SB_OK);
  const sb_particle_contacts *c = sb_collision_particle_contacts(s.collision);
  for (uint32_t p = 0; p < s.model->particle_count; p++) {
    double x[3];
    into_shape(s.model, 0, s.q + 3 * (size_t)p, x);
    double gap = shape_distance(s.model, 0, x) - radius_of_all, limit = 2 * margin_of_all + (p % 2 ? 0.0 : 0.1);
    if (fabs(gap - limit) > 1e-4) assert_int_equal(c->particle_start[p + 1] - c->particle_start[p], gap < limit);
  }
  particle_scene_free(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(distances_are_those_of_the_reference), cmocka_unit_test(hulls_are_those_of_the_reference),
      cmocka_unit_test(surfaces_give_their_nearest_faces),    cmocka_unit_test(flat_meshes_have_no_inner_edges),
      cmocka_unit_test(tasks_lanes_and_worlds_change_nothing), cmocka_unit_test(overflow_says_what_is_needed),
      cmocka_unit_test(filters_are_heeded),                   cmocka_unit_test(speed_counts_relative_to_the_shape)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
