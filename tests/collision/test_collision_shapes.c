/* Cylinders, ellipsoids, hulls, meshes and heightfields in the pipeline: manifolds, surfaces against all their triangles, independence of
 * tasks, lanes and broad phase; and the cooking of hulls. */
#include "collision_scene.h"
#include "geometry_samples.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static sb_model_store *hulls, *surfaces;
enum { TERRAIN, BLOCK, HEIGHTS };

static double bumps(uint32_t row, uint32_t column) { return 0.3 * sin(0.7 * row) * cos(0.9 * column) + 0.02 * ((row * 7 + column * 13) % 5); }

/* Geometry 0: the bumps as a mesh; 1: a closed block as a mesh; 2: the bumps as heights. */
static sb_model_store *make_surfaces(void)
{
  sb_model_builder *b = sb_builder_create();
  geometry_place at;
  mesh m = {0};
  sample_sheet(&m, 20, 4.0, bumps);
  assert_int_equal(geometry_add_mesh(b, &m, &at), GEOMETRY_GOOD);
  mesh_clear(&m);
  sample_box(&m, 1.0, 2.0, 0.5);
  assert_int_equal(geometry_add_mesh(b, &m, &at), GEOMETRY_GOOD);
  mesh_clear(&m);
  double height[21 * 21];
  for (uint32_t i = 0; i < 21 * 21; i++) height[i] = bumps(i / 21, i % 21);
  assert_int_equal(geometry_add_hfield(b, 21, 21, 4.0, 4.0, height, &at), GEOMETRY_GOOD);
  sb_model_store *store;
  assert_int_equal(sb_builder_finalise(b, "surfaces", &store, NULL), SB_OK);
  sb_builder_free(b);
  return store;
}

static sb_collision *step_with(collision_scene *s, float margin, uint32_t broad, uint32_t lanes, const sb_collision_tasks *tasks)
{
  sb_collision_settings x = sb_collision_default_settings();
  x.broad_phase = broad;
  x.lanes = lanes;
  x.speculative_margin = margin;
  sb_collision *c;
  assert_int_equal(sb_collision_create(scene_model(s), &x, &c), SB_OK);
  assert_int_equal(sb_collision_step(c, scene_model(s)->body_q, tasks), SB_OK);
  return c;
}

/* --- manifolds --- */

typedef struct expectation {
  uint32_t type;
  float size[3];
  float ax, ay, az;
  double angle;
  uint32_t points;
} expectation;

/* On a plane, on a box and on a block of triangles: as many points as the face or edge has room for, all with the same gap. */
static void resting_shapes_have_their_points(void **state)
{
  (void)state;
  static const expectation all[] = {
      {SB_SHAPE_CYLINDER, {0.4f, 0.3f, 0}, 1, 0, 0, 0, 4},
      {SB_SHAPE_CYLINDER, {0.3f, 0.4f, 0}, 1, 0, 0, 1.5707963267948966, 2},
      {SB_SHAPE_ELLIPSOID, {0.5f, 0.4f, 0.3f}, 1, 0, 0, 0, 1},
      {SB_SHAPE_HULL, {0}, 1, 0, 0, 0, 4},
  };
  static const uint32_t grounds[] = {SB_SHAPE_PLANE, SB_SHAPE_BOX, SB_SHAPE_MESH};
  for (size_t g = 0; g < 3; g++)
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
      const expectation *e = &all[i];
      collision_scene *s = scene_new();
      scene_take_geometry(s, sb_model_store_view(grounds[g] == SB_SHAPE_MESH ? surfaces : hulls));
      scene_world(s);
      float top = grounds[g] == SB_SHAPE_PLANE ? 0.0f : 0.5f;
      if (grounds[g] == SB_SHAPE_MESH)
        scene_geometry_shape(s, -1, BLOCK);
      else
        scene_shape(s, -1, grounds[g], 1.0f, 2.0f, 0.5f);
      if (grounds[g] == SB_SHAPE_PLANE) memset((float *)(uintptr_t)scene_model(s)->shape_size, 0, 3 * sizeof(float));
      if (e->type == SB_SHAPE_HULL && grounds[g] == SB_SHAPE_MESH) {
        scene_free(s);
        continue; /* the two samples are in different models */
      }
      float stands = e->type == SB_SHAPE_HULL ? 0.5f : e->type == SB_SHAPE_ELLIPSOID ? e->size[2] : 0.3f;
      int32_t body = scene_body(s, scene_turned(0.05f, 0.1f, top + stands - 0.001f, e->ax, e->ay, e->az, e->angle), 0);
      if (e->type == SB_SHAPE_HULL)
        scene_geometry_shape(s, body, 0);
      else
        scene_shape(s, body, e->type, e->size[0], e->size[1], e->size[2]);
      sb_collision *c = step_with(s, 0.01f, SB_BROAD_SAP, 0, NULL);
      const sb_contacts *x = sb_collision_contacts(c);
      /* a line over the edge of two triangles has a point there as well */
      if (grounds[g] == SB_SHAPE_MESH)
        assert_true(x->count >= e->points && x->count <= e->points + 1);
      else
        assert_int_equal(x->count, e->points);
      for (uint32_t k = 0; k < x->count; k++) {
        assert_true(fabsf(x->gap[k] + 0.001f) < 1e-5f);
        assert_true(fabsf(fabsf(x->normal[3 * k + 2]) - 1.0f) < 1e-6f);
      }
      sb_collision_destroy(c);
      scene_free(s);
    }
}

/* Two cubes as hulls touch where two cubes as boxes do. */
static void cube_hulls_equal_boxes(void **state)
{
  (void)state;
  uint64_t seed = 12;
  uint32_t same = 0, touching = 0;
  for (int i = 0; i < 2000; i++) {
    collision_scene *s = scene_new();
    scene_take_geometry(s, sb_model_store_view(hulls));
    scene_pose p = scene_random_pose(&seed, 0.1f);
    if (i % 2) p = scene_turned(p.v[0], p.v[1], p.v[2], 0, 0, 1, (double)scene_random(&seed, 0, 6));
    p.v[2] += i % 2 ? 0.98f - p.v[2] : 0.9f;
    for (int w = 0; w < 2; w++) {
      scene_world(s);
      int32_t a = scene_body(s, scene_at(0, 0, 0), 0), b = scene_body(s, p, 0);
      if (w)
        scene_geometry_shape(s, a, 0), scene_geometry_shape(s, b, 0);
      else
        scene_shape(s, a, SB_SHAPE_BOX, 0.5f, 0.5f, 0.5f), scene_shape(s, b, SB_SHAPE_BOX, 0.5f, 0.5f, 0.5f);
    }
    sb_collision *c = step_with(s, 0.0f, SB_BROAD_SAP, 0, NULL);
    const sb_contacts *x = sb_collision_contacts(c);
    uint32_t boxes = x->world_start[1], hull = x->count - boxes;
    float least[2] = {1, 1};
    for (uint32_t k = 0; k < x->count; k++) least[k >= boxes] = fminf(least[k >= boxes], x->gap[k]);
    assert_int_equal(boxes > 0, hull > 0);
    if (boxes) {
      assert_true(fabsf(least[0] - least[1]) < 1.2e-3f); /* boxes prefer faces by a thousandth of their size */
      touching++;
      same += boxes == hull;
      if (i % 2) assert_true(boxes == 4 && hull == 4);
    }
    sb_collision_destroy(c);
    scene_free(s);
  }
  assert_true(touching > 1000);
  assert_true(same > touching * 7 / 10);
}

/* --- surfaces against all their triangles --- */

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* Distance of a point from a triangle, by its plane and its edges. */
static double triangle_distance(const double p[3], double t[3][3])
{
  double e[3], f[3], n[3], d[3], best = 1e30;
  bool inside = true;
  for (int i = 0; i < 3; i++) e[i] = t[1][i] - t[0][i], f[i] = t[2][i] - t[0][i], d[i] = p[i] - t[0][i];
  n[0] = e[1] * f[2] - e[2] * f[1], n[1] = e[2] * f[0] - e[0] * f[2], n[2] = e[0] * f[1] - e[1] * f[0];
  for (int k = 0; k < 3; k++) {
    double u[3], v[3], c[3], off = 0;
    for (int i = 0; i < 3; i++) u[i] = t[(k + 1) % 3][i] - t[k][i], v[i] = p[i] - t[k][i];
    c[0] = u[1] * v[2] - u[2] * v[1], c[1] = u[2] * v[0] - u[0] * v[2], c[2] = u[0] * v[1] - u[1] * v[0];
    inside = inside && dot(c, n) >= 0;
    double s = fmin(1, fmax(0, dot(u, v) / dot(u, u)));
    for (int i = 0; i < 3; i++) off += pow(v[i] - s * u[i], 2);
    best = fmin(best, sqrt(off));
  }
  return inside ? fabs(dot(d, n)) / sqrt(dot(n, n)) : best;
}

/* The smallest distance over the bumps' triangles. */
static double bumps_distance(const double p[3])
{
  double best = 1e30;
  for (uint32_t r = 0; r < 20; r++)
    for (uint32_t c = 0; c < 20; c++)
      for (int which = 0; which < 2; which++) {
        const uint32_t corner[3][2] = {{r, c}, {r + (uint32_t)which, c + 1}, {r + 1, c + 1 - (uint32_t)which}};
        double t[3][3];
        for (int k = 0; k < 3; k++) {
          t[k][0] = 4.0 * (corner[k][1] / 10.0 - 1.0), t[k][1] = 4.0 * (corner[k][0] / 10.0 - 1.0);
          t[k][2] = (double)(float)bumps(corner[k][0], corner[k][1]);
        }
        best = fmin(best, triangle_distance(p, t));
      }
  return best;
}

/* Height of the bumps over a point. */
static double bumps_height(double x, double y)
{
  double u = (x + 4.0) * 2.5, v = (y + 4.0) * 2.5;
  uint32_t c = (uint32_t)u, r = (uint32_t)v;
  u -= c, v -= r;
  double h0 = bumps(r, c), h1 = bumps(r + 1, c + 1), h = u > v ? bumps(r, c + 1) : bumps(r + 1, c);
  return u > v ? h0 + (u - v) * (h - h0) + v * (h1 - h0) : h0 + (v - u) * (h - h0) + u * (h1 - h0);
}

/* Balls with their middle above the bumps: the nearest contact is the nearest triangle, with no contact nearer than that. The middle of
 * the surface lies at the height `middle` of its geometry's origin. */
static void balls_meet_the_nearest_triangle(void **state)
{
  (void)state;
  double lo = 1e30, hi = -1e30;
  for (uint32_t i = 0; i < 21 * 21; i++) lo = fmin(lo, bumps(i / 21, i % 21)), hi = fmax(hi, bumps(i / 21, i % 21));
  for (int32_t g = TERRAIN; g <= HEIGHTS; g += HEIGHTS - TERRAIN) {
    uint64_t seed = 8;
    double worst = 0;
    uint32_t met = 0;
    for (int i = 0; i < 3000; i++) {
      collision_scene *s = scene_new();
      scene_take_geometry(s, sb_model_store_view(surfaces));
      scene_world(s);
      scene_geometry_shape(s, scene_body(s, scene_at(0, 0, (float)((lo + hi) / 2)), SB_BODY_STATIC), g);
      float x = scene_random(&seed, -3.5f, 3.5f), y = scene_random(&seed, -3.5f, 3.5f), r = scene_random(&seed, 0.05f, 0.5f);
      double p[3] = {(double)x, (double)y, hi + (double)r};
      float up = scene_random(&seed, -0.1f, 0.05f);
      p[2] -= bumps_distance(p) * 0.5; /* somewhere near, still above */
      double d = bumps_distance(p);
      p[2] -= d > (double)r ? d - (double)r - (double)up : 0;
      p[2] = (double)(float)p[2];
      scene_free_shape(s, scene_at(x, y, (float)p[2]), SB_SHAPE_SPHERE, r, 0, 0);
      double truth = bumps_distance(p) - (double)r;
      sb_collision *c = step_with(s, 0.02f, SB_BROAD_SAP, 0, NULL);
      const sb_contacts *k = sb_collision_contacts(c);
      double least = 1e30;
      for (uint32_t j = 0; j < k->count; j++) least = fmin(least, (double)k->gap[j]);
      bool above = p[2] > bumps_height((double)x, (double)y);
      if (above && truth < 0.019 && truth > -0.5 * (double)r) {
        assert_true(k->count > 0);
        worst = fmax(worst, fabs(least - truth));
        met++;
      }
      if (truth > 0.021) assert_int_equal(k->count, 0);
      sb_collision_destroy(c);
      scene_free(s);
    }
    print_message("balls over the %s: %u met, error of the nearest gap %.2e m\n", g == TERRAIN ? "mesh" : "heightfield", met, worst);
    assert_true(met > 300);
    assert_true(worst < 1e-4);
  }
}

/* --- independence --- */

static void jumble_of_all(collision_scene *s, uint64_t *seed, uint32_t count, int32_t ground)
{
  int32_t fixed = scene_body(s, scene_at(0, 0, -0.5f), SB_BODY_STATIC);
  scene_geometry_shape(s, fixed, ground);
  scene_shape(s, -1, SB_SHAPE_PLANE, 0, 0, 0);
  for (uint32_t i = 0; i < count; i++) {
    float a = scene_random(seed, 0.1f, 0.5f), b = scene_random(seed, 0.1f, 0.5f), c = scene_random(seed, 0.1f, 0.5f);
    scene_free_shape(s, scene_random_pose(seed, 1.5f), SB_SHAPE_SPHERE + scene_random_below(seed, 5), a, b, c);
  }
}

static void tasks_lanes_and_broad_phase_change_nothing(void **state)
{
  (void)state;
  uint64_t seed = 4;
  collision_scene *s = scene_new();
  scene_take_geometry(s, sb_model_store_view(surfaces));
  for (int w = 0; w < 8; w++) {
    scene_world(s);
    jumble_of_all(s, &seed, 40, w % 3);
  }
  sb_collision *base = step_with(s, 0.01f, SB_BROAD_ALL_PAIRS, 1, NULL);
  const sb_contacts *x = sb_collision_contacts(base);
  assert_true(x->count > 1000);
  for (uint32_t i = 0; i < x->count; i++) {
    if (i > 0 && x->world[i] == x->world[i - 1]) assert_true(x->key[i - 1] < x->key[i]);
    for (int k = 0; k < 3; k++) assert_true(isfinite(x->point_a[3 * i + k]) && isfinite(x->point_b[3 * i + k]) && isfinite(x->normal[3 * i + k]));
  }
  for (uint32_t run = 0; run < 12; run++) {
    scene_tasks t = {run + 1, 4};
    sb_collision_tasks tasks = run % 2 ? scene_shuffled(&t) : scene_threaded(&t);
    sb_collision *c = step_with(s, 0.01f, run % 3 ? SB_BROAD_SAP : SB_BROAD_ALL_PAIRS, run % 4 ? 0 : 4, &tasks);
    const sb_contacts *y = sb_collision_contacts(c);
    assert_int_equal(x->count, y->count);
    assert_true(scene_contacts_equal(x, 0, y, 0, x->count, 0, 0, 0));
    sb_collision_destroy(c);
  }
  sb_collision_destroy(base);
  scene_free(s);
}

static void moving_surfaces_are_refused(void **state)
{
  (void)state;
  collision_scene *s = scene_new();
  scene_take_geometry(s, sb_model_store_view(surfaces));
  scene_world(s);
  scene_geometry_shape(s, scene_body(s, scene_at(0, 0, 0), 0), BLOCK);
  sb_collision *c;
  assert_int_equal(sb_collision_create(scene_model(s), NULL, &c), SB_E_UNSUPPORTED);
  scene_free(s);
}

/* --- cooking --- */

/* Every point is in the hull but for what it says it left out; every face is flat and faces outwards; each vertex is a point. */
static void hulls_hold_their_points(void **state)
{
  (void)state;
  uint64_t seed = 77;
  for (int i = 0; i < 300; i++) {
    mesh points = {0}, hull;
    uint32_t count = 4 + scene_random_below(&seed, i % 10 ? 60 : 3000);
    for (uint32_t k = 0; k < count; k++) {
      double at[3], n = 0;
      for (int c = 0; c < 3; c++) at[c] = (double)scene_random(&seed, -1, 1) * (c == 2 && i % 4 == 0 ? 1e-3 : 1), n += at[c] * at[c];
      for (int c = 0; c < 3 && i % 3 == 0; c++) at[c] /= sqrt(n);
      for (int c = 0; c < 3 && i % 5 == 0; c++) at[c] = round(at[c] * 3) / 3; /* many in one plane, many twice */
      assert_true(mesh_add_vertex(&points, at));
    }
    double left_out;
    hull_result result = hull_build(&points, 64, &hull, &left_out);
    if (result == HULL_GOOD) {
      mesh_mass mass;
      mesh_solidity solidity;
      assert_true(hull.vertex_count >= 4 && hull.vertex_count <= 64);
      assert_true(mesh_integrate(&hull, &mass, &solidity));
      assert_int_equal(solidity, MESH_CLOSED);
      for (uint32_t t = 0; t < hull.triangle_count; t++) {
        const double *a = hull.vertex + 3 * hull.corner[3 * t], *b = hull.vertex + 3 * hull.corner[3 * t + 1], *c = hull.vertex + 3 * hull.corner[3 * t + 2];
        double n[3] = {(b[1] - a[1]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[1] - a[1]), (b[2] - a[2]) * (c[0] - a[0]) - (b[0] - a[0]) * (c[2] - a[2]),
                       (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])};
        double length = sqrt(dot(n, n));
        for (uint32_t p = 0; p < points.vertex_count; p++) {
          double d[3] = {points.vertex[3 * p] - a[0], points.vertex[3 * p + 1] - a[1], points.vertex[3 * p + 2] - a[2]};
          assert_true(dot(d, n) <= (left_out + 1e-4) * length + 1e-9);
        }
      }
    } else {
      assert_int_equal(result, HULL_FLAT);
      assert_true(i % 4 == 0 || i % 5 == 0);
    }
    mesh_clear(&points);
    mesh_clear(&hull);
  }
}

/* A cube of side 2 has the volume 8 and the inertia of a box; turned inside out it says so; with a hole it is open. */
static void masses_of_meshes(void **state)
{
  (void)state;
  mesh m = {0};
  mesh_mass mass;
  mesh_solidity solidity;
  sample_box(&m, 1, 1, 1);
  for (uint32_t v = 0; v < m.vertex_count; v++) m.vertex[3 * v] += 5;
  assert_true(mesh_integrate(&m, &mass, &solidity));
  assert_int_equal(solidity, MESH_CLOSED);
  assert_true(fabs(mass.volume - 8) < 1e-12 && fabs(mass.com[0] - 5) < 1e-12);
  for (int k = 0; k < 3; k++) assert_true(fabs(mass.inertia[k] - 8 * 2.0 / 3.0) < 1e-12 && fabs(mass.inertia[k + 3]) < 1e-12);
  mesh_flip(&m);
  assert_true(mesh_integrate(&m, &mass, &solidity));
  assert_int_equal(solidity, MESH_INSIDE_OUT);
  m.triangle_count--;
  assert_true(mesh_integrate(&m, &mass, &solidity));
  assert_int_equal(solidity, MESH_OPEN);
  mesh_clear(&m);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(resting_shapes_have_their_points),
                                     cmocka_unit_test(cube_hulls_equal_boxes),
                                     cmocka_unit_test(balls_meet_the_nearest_triangle),
                                     cmocka_unit_test(tasks_lanes_and_broad_phase_change_nothing),
                                     cmocka_unit_test(moving_surfaces_are_refused),
                                     cmocka_unit_test(hulls_hold_their_points),
                                     cmocka_unit_test(masses_of_meshes)};
  hulls = sample_hulls();
  surfaces = make_surfaces();
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  sb_model_store_free(hulls);
  sb_model_store_free(surfaces);
  return failed;
}
