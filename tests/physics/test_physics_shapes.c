/* steel with cylinders, ellipsoids, hulls, meshes and heightfields: rest, slopes, and edges inside a flat surface that nothing may
 * catch on. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geometry_samples.h"
#include "physics_scene.h"
#include "solid.h"

#define G 9.81

typedef enum ground { PLANE, MESH, HFIELD, GROUNDS } ground;
static const char *const ground_names[GROUNDS] = {"plane", "mesh", "heightfield"};

static double flat(uint32_t row, uint32_t column)
{
  (void)row, (void)column;
  return 0.0;
}

static void place(sb_build_shape *shape, const geometry_place *at)
{
  shape->geometry = at->index;
  memcpy(shape->size, at->half, sizeof shape->size);
}

/* A flat ground of 64 by 64 cells, 16 m wide, turned about y by `slope`: downhill is +x. */
static void add_ground(sb_model_builder *b, ground kind, double slope, double friction)
{
  sb_build_shape shape = sb_build_shape_default();
  geometry_place at;
  shape.type = kind == PLANE ? SB_SHAPE_PLANE : kind == MESH ? SB_SHAPE_MESH : SB_SHAPE_HFIELD;
  shape.X[4] = sin(slope / 2), shape.X[6] = cos(slope / 2);
  shape.friction[0] = friction;
  if (kind == MESH) {
    mesh m = {0};
    sample_sheet(&m, 64, 8.0, flat);
    assert_int_equal(geometry_add_mesh(b, &m, &at), GEOMETRY_GOOD);
    mesh_clear(&m);
    place(&shape, &at);
  }
  if (kind == HFIELD) {
    double *height = calloc(65 * 65, sizeof *height);
    assert_non_null(height);
    assert_int_equal(geometry_add_hfield(b, 65, 65, 8.0, 8.0, height, &at), GEOMETRY_GOOD);
    free(height);
    place(&shape, &at);
  }
  sb_builder_add_shape(b, &shape, NULL);
}

typedef enum thing { BALL, BOX, UPRIGHT_CYLINDER, LYING_CYLINDER, LYING_CAPSULE, ROUND_ELLIPSOID, CUBE_HULL, PRISM_HULL, THINGS } thing;
static const char *const thing_names[THINGS] = {"ball",          "box",       "upright cylinder", "lying cylinder",
                                                "lying capsule", "ellipsoid", "cube as a hull",   "prism as a hull"};

static double half_height(thing t) { return t == PRISM_HULL ? 0.15 : 0.2; }
static bool rolls(thing t) { return t == BALL || t == ROUND_ELLIPSOID; }

static void hull_points(mesh *m, thing t)
{
  if (t == CUBE_HULL) {
    sample_box(m, 0.2, 0.2, 0.2);
    return;
  }
  for (int i = 0; i < 48; i++) {
    const double turn = (i / 2) * 3.14159265358979 / 12, at[3] = {0.25 * cos(turn), 0.25 * sin(turn), i & 1 ? 0.15 : -0.15};
    assert_true(mesh_add_vertex(m, at));
  }
}

/* On the slope at distance x along it and h above it, with a speed down the slope. */
static int32_t add_thing(sb_model_builder *b, thing t, double slope, double x, double h, double speed, double friction)
{
  static const uint32_t types[THINGS] = {SB_SHAPE_SPHERE,  SB_SHAPE_BOX,       SB_SHAPE_CYLINDER, SB_SHAPE_CYLINDER,
                                         SB_SHAPE_CAPSULE, SB_SHAPE_ELLIPSOID, SB_SHAPE_HULL,     SB_SHAPE_HULL};
  static const double sizes[THINGS][3] = {{0.2, 0, 0}, {0.2, 0.2, 0.2}, {0.2, 0.2, 0}, {0.2, 0.3, 0}, {0.2, 0.3, 0}, {0.2, 0.2, 0.2}};
  double z = half_height(t) + h;
  sb_build_body body = physics_free(3, 0.05, 0.05, 0.05, x * cos(slope) + z * sin(slope), 0, z * cos(slope) - x * sin(slope));
  if (rolls(t)) body.inertia[0] = body.inertia[1] = body.inertia[2] = 0.4 * 3 * 0.04;
  double turn = t == LYING_CYLINDER || t == LYING_CAPSULE ? slope + 3.14159265358979 / 2 : slope;
  body.q[4] = sin(turn / 2), body.q[6] = cos(turn / 2);
  body.qd[0] = speed * cos(slope), body.qd[2] = 0.0 - speed * sin(slope);
  if (rolls(t)) body.qd[4] = speed / 0.2;
  int32_t index = sb_builder_add_body(b, &body, NULL);
  sb_build_shape shape = sb_build_shape_default();
  shape.type = types[t];
  shape.body = index;
  shape.friction[0] = friction;
  memcpy(shape.size, sizes[t], sizeof shape.size);
  if (types[t] == SB_SHAPE_HULL) {
    mesh m = {0};
    geometry_place at;
    double left_out;
    hull_points(&m, t);
    assert_int_equal(geometry_add_hull(b, &m, &at, &left_out), GEOMETRY_GOOD);
    mesh_clear(&m);
    place(&shape, &at);
  }
  sb_builder_add_shape(b, &shape, NULL);
  return index;
}

static double speed_of(const physics *p) { return sqrt(pow(p->s->body_qd[0], 2) + pow(p->s->body_qd[1], 2) + pow(p->s->body_qd[2], 2)); }

/* Friction is a cone for every shape on every ground: it holds below atan(mu) and slides with g (sin - mu cos) above. What rolls goes
 * with 5/7 g sin. The soft solvers' friction is a damper where it holds, so they creep. */
static void test_slope(void **state)
{
  (void)state;
  static const double share[] = {0.9, 0.98, 1.05, 1.5};
  for (physics_solver s = FEATHERSTONE; s < PHYSICS_ALL_SOLVERS; s++)
    for (int g = 0; g < GROUNDS; g++)
      for (int t = 0; t < THINGS; t++)
        for (size_t k = 0; k < sizeof share / sizeof share[0]; k++) {
          const double mu = 0.4, slope = atan(mu * share[k]);
          char text[120];
          sb_model_builder *b = physics_builder(-G);
          add_ground(b, (ground)g, slope, mu);
          add_thing(b, (thing)t, slope, -4, 0, 0, mu);
          physics p = physics_start(b, s, s == STEEL ? 240 : 960, PHYSICS_NO_PARAMS);
          physics_step(&p, s == STEEL ? 120 : 480);
          double before = speed_of(&p);
          physics_step(&p, s == STEEL ? 120 : 480);
          double gained = (speed_of(&p) - before) / 0.5, want = rolls((thing)t)  ? 5.0 / 7.0 * G * sin(slope)
                                                                : share[k] < 1.0 ? 0.0
                                                                                 : G * (sin(slope) - mu * cos(slope));
          snprintf(text, sizeof text, "%s on a %s, slope %.2f of atan(mu): error of acceleration over g",
                   thing_names[t], ground_names[g], share[k]);
          physics_bound(&p, text, fabs(gained - want) / G, s == STEEL ? 3e-3 : s == XPBD ? 3e-2 : 2e-2);
          if (want == 0.0) {
            snprintf(text, sizeof text, "  speed, m/s");
            physics_bound(&p, text, speed_of(&p), s == STEEL ? 2e-3 : 8e-2);
          }
          physics_stop(&p);
        }
  physics_verdict();
}

/* Dropped from 1 cm, everything comes to rest where it should. */
static void test_rest(void **state)
{
  (void)state;
  for (int g = 0; g < GROUNDS; g++)
    for (int t = 0; t < THINGS; t++) {
      char text[120];
      sb_model_builder *b = physics_builder(-G);
      add_ground(b, (ground)g, 0, 0.5);
      add_thing(b, (thing)t, 0, 0.013, 0.01, 0, 0.5);
      physics p = physics_start(b, STEEL, 60, PHYSICS_NO_PARAMS);
      physics_step(&p, 300);
      snprintf(text, sizeof text, "%s dropped on a %s: height, error in m", thing_names[t], ground_names[g]);
      physics_bound(&p, text, fabs(p.s->body_q[2] - half_height((thing)t)), 2e-3);
      physics_bound(&p, "  speed, m/s", speed_of(&p), 2e-3);
      physics_stop(&p);
    }
  physics_verdict();
}

/* Rolling and sliding over the edges inside a flat surface is as over a plane: no lift, no turn aside, no loss but friction's. */
static void test_inner_edges(void **state)
{
  (void)state;
  for (int g = MESH; g < GROUNDS; g++)
    for (int t = 0; t < THINGS; t++) {
      char text[120];
      const double mu = rolls((thing)t) ? 0.5 : 0.1, speed = 4;
      sb_model_builder *b = physics_builder(-G);
      add_ground(b, (ground)g, 0, mu);
      add_thing(b, (thing)t, 0, -5.01, 0, speed, mu);
      physics p = physics_start(b, STEEL, 240, PHYSICS_NO_PARAMS);
      double lift = 0, aside = 0;
      for (int tick = 0; tick < 360; tick++) {
        physics_step(&p, 1);
        lift = fmax(lift, fabs(p.s->body_q[2] - half_height((thing)t)));
        aside = fmax(aside, fabs(p.s->body_q[1]));
      }
      double want = rolls((thing)t) ? speed : speed - mu * G * 1.5;
      snprintf(text, sizeof text, "%s over a flat %s: lift or sink, m", thing_names[t], ground_names[g]);
      physics_bound(&p, text, lift, 2e-3);
      physics_bound(&p, "  way aside, m", aside, 5e-3);
      physics_bound(&p, "  speed after 1.5 s, error in m/s", fabs(p.s->body_qd[0] - want), 0.05);
      physics_stop(&p);
    }
  physics_verdict();
}

/* A chain of seven links on a fixed mesh, 64 vertices each, on hinges along y and z by turns. Link i ends 1 cm inside link i + 2 and the
 * first ones are inside the mesh, so contacts push against joints that cannot give way. It stays whole and ends slow. */
static void test_chain_of_overlapping_hulls(void **state)
{
  (void)state;
  enum { LINKS = 7, TICKS = 2000 };
  sb_model_builder *b = physics_builder(-G);
  mesh m = {0};
  geometry_place hull, base;
  double left_out;
  for (int i = 0; i < 64; i++) {
    const double turn = (i / 2) * 3.14159265358979 / 16, at[3] = {0.06 * cos(turn), 0.06 * sin(turn), i & 1 ? 0.155 : -0.155};
    assert_true(mesh_add_vertex(&m, at));
  }
  assert_int_equal(geometry_add_hull(b, &m, &hull, &left_out), GEOMETRY_GOOD);
  mesh_clear(&m);
  sample_box(&m, 0.15, 0.15, 0.2);
  assert_int_equal(geometry_add_mesh(b, &m, &base), GEOMETRY_GOOD);
  mesh_clear(&m);
  sb_build_shape foot = sb_build_shape_default();
  foot.type = SB_SHAPE_MESH;
  place(&foot, &base);
  sb_builder_add_shape(b, &foot, NULL);
  for (int i = 0; i < LINKS; i++) {
    sb_build_body body = physics_link(i - 1, 0, 0, i ? 0.15 : 0.2, 2, 0.02);
    body.com[2] = 0.1;
    int32_t index = sb_builder_add_body(b, &body, NULL);
    sb_build_dof hinge = physics_axis(SB_DOF_ANGULAR, 0, i & 1 ? 0 : 1, i & 1 ? 1 : 0);
    hinge.q = 0.02 * (i + 1), hinge.damping = 0.5;
    sb_builder_add_dof(b, &hinge, NULL);
    sb_build_shape shape = sb_build_shape_default();
    shape.type = SB_SHAPE_HULL, shape.body = index, shape.X[2] = 0.15;
    place(&shape, &hull);
    sb_builder_add_shape(b, &shape, NULL);
  }
  physics p = physics_start(b, STEEL, 240, PHYSICS_NO_PARAMS);
  double fastest = 0;
  uint32_t contacts = 0;
  for (int tick = 0; tick < TICKS; tick++) {
    physics_step(&p, 1); /* fails on what is not finite */
    contacts += sb_sim_contacts(p.sim)->count > 0;
    for (uint32_t i = 0; i < p.m->dof_count; i++) fastest = fmax(fastest, fabs((double)p.s->joint_qd[i]));
  }
  assert_true(contacts == TICKS);
  physics_bound(&p, "chain of overlapping hulls: fastest joint, rad/s", fastest, 20);
  physics_verdict();
  physics_stop(&p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_slope), cmocka_unit_test(test_rest), cmocka_unit_test(test_inner_edges),
                                     cmocka_unit_test(test_chain_of_overlapping_hulls)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
