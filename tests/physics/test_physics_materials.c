/* Each constant of a material does the same under every solver that has particles, and what samebit/model.h says: small scenes with closed
 * forms, in which one constant decides. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "cook_math.h"
#include "physics_scene.h"

#define G 9.81
#define RIGID ((double)SB_NO_LIMIT)

static const physics_solver solvers[2] = {SEMI_IMPLICIT, XPBD};

static sb_model_builder *start(double gx, double gz)
{
  sb_model_builder *b = sb_builder_create();
  const double gravity[3] = {gx, 0, gz};
  sb_builder_set_gravity(b, gravity);
  sb_build_deformable d = sb_build_deformable_default();
  d.contype = d.conaffinity = 0;
  sb_builder_add_deformable(b, &d, "material");
  return b;
}

static int32_t add(sb_model_builder *b, double x, double y, double z, double mass, bool pinned)
{
  return sb_builder_add_particle(b, &(sb_build_particle){.q = {x, y, z}, .mass = mass, .pinned = pinned});
}

static physics run(sb_model_builder *b, physics_solver solver, uint32_t ticks)
{
  const physics_param params = {"substeps", 32};
  physics p = physics_start(b, solver, 240, &params, 1);
  physics_step(&p, ticks);
  return p;
}

static double at(const physics *p, int32_t particle, int axis) { return (double)p->s->particle_q[3 * particle + axis]; }

static void check(physics *p, const char *what, double measured, double want, double bound)
{
  char text[128];
  snprintf(text, sizeof text, "%s: relative", what);
  physics_bound(p, text, fabs(measured / want - 1), bound);
  physics_stop(p);
}

/* ---- springs and attachments ---- */

static void test_spring(void **state)
{
  (void)state;
  for (int i = 0; i < 2; i++) {
    const double m = 0.5, k = 200, c = 20;
    sb_model_builder *b = start(0, -G);
    int32_t top = add(b, 0, 0, 0, 1, true), bob = add(b, 0, 0, -1, m, false);
    sb_builder_add_spring(b, &(sb_build_spring){.particle = {top, bob}, .rest_length = 1, .stiffness = k, .damping = c});
    physics p = run(b, solvers[i], 960);
    check(&p, "spring_stiffness: m g / k", -1 - at(&p, bob, 2), m * G / k, 2e-3);
    /* damping alone lets the weight sink at m g / c */
    b = start(0, -G);
    top = add(b, 0, 0, 0, 1, true), bob = add(b, 0, 0, -1, m, false);
    sb_builder_add_spring(b, &(sb_build_spring){.particle = {top, bob}, .rest_length = 1, .damping = c});
    p = run(b, solvers[i], 240);
    check(&p, "spring_damping: sinks at m g / c", -(double)p.s->particle_qd[3 * bob + 2], m * G / c, 2e-3);
    /* a longer rest length lets it hang lower */
    b = start(0, -G);
    top = add(b, 0, 0, 0, 1, true), bob = add(b, 0, 0, -1, m, false);
    sb_builder_add_spring(b, &(sb_build_spring){.particle = {top, bob}, .rest_length = 1.25, .stiffness = 4000, .damping = 40});
    p = run(b, solvers[i], 960);
    check(&p, "spring_rest_length", -at(&p, bob, 2), 1.25 + m * G / 4000, 1e-3);
  }
  physics_verdict();
}

static void test_attachment(void **state)
{
  (void)state;
  for (int i = 0; i < 2; i++) {
    const double m = 0.5, k = 300, c = 25;
    sb_model_builder *b = start(0, -G);
    int32_t bob = add(b, 0, 0, 0, m, false);
    sb_builder_add_attachment(b, &(sb_build_attachment){.particle = bob, .body = -1, .stiffness = k, .damping = c});
    physics p = run(b, solvers[i], 960);
    check(&p, "attachment_stiffness: m g / k", -at(&p, bob, 2), m * G / k, 2e-3);
    b = start(0, -G);
    bob = add(b, 0, 0, 0, m, false);
    sb_builder_add_attachment(b, &(sb_build_attachment){.particle = bob, .body = -1, .stiffness = 1e-6, .damping = c});
    p = run(b, solvers[i], 240);
    check(&p, "attachment_damping: sinks at m g / c", -(double)p.s->particle_qd[3 * bob + 2], m * G / c, 2e-3);
  }
  physics_verdict();
}

/* ---- triangles ---- */

/* A unit square, its upper side held, its lower corners loaded; with `tie` they keep their distance. */
static sb_model_builder *square(double m, const sb_build_tri *material, bool tie, int32_t corner[4])
{
  sb_model_builder *b = start(0, -G);
  const double x[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 0, -1}, {1, 0, -1}};
  for (int k = 0; k < 4; k++) corner[k] = add(b, x[k][0], x[k][1], x[k][2], m, k < 2);
  static const int tris[2][3] = {{0, 2, 1}, {3, 1, 2}};
  for (int t = 0; t < 2; t++) {
    sb_build_tri tri = *material;
    for (int k = 0; k < 3; k++) tri.particle[k] = corner[tris[t][k]];
    assert_true(cook_tri_rest(x[tris[t][0]], x[tris[t][1]], x[tris[t][2]], tri.pose, &tri.area));
    sb_builder_add_tri(b, &tri);
  }
  if (tie) sb_builder_add_spring(b, &(sb_build_spring){.particle = {corner[2], corner[3]}, .rest_length = 1, .stiffness = RIGID});
  return b;
}

/* Stretch s of a square with (2 ke + ka) (s^2 - 1) s / 2 = load, by Newton's method. */
static double square_stretch(double stiffness, double load)
{
  double s = 1;
  for (int i = 0; i < 50; i++) s -= (stiffness * (s * s - 1) * s / 2 - load) / (stiffness * (3 * s * s - 1) / 2);
  return s;
}

static void test_triangle(void **state)
{
  (void)state;
  for (int i = 0; i < 2; i++) {
    const double m = 0.2, load = 2 * m * G;
    int32_t c[4];
    physics p = run(square(m, &(sb_build_tri){.ke = 40, .kd = 4}, true, c), solvers[i], 1440);
    check(&p, "tri_ke: stretch of a square", -at(&p, c[2], 2) - 1, square_stretch(80, load) - 1, 1e-2);
    p = run(square(m, &(sb_build_tri){.ke = 20, .ka = 40, .kd = 4}, true, c), solvers[i], 1440);
    check(&p, "tri_ka: stretch of a square that keeps its width", -at(&p, c[2], 2) - 1, square_stretch(80, load) - 1, 1e-2);
    /* kd s^2 ds/dt = load */
    const double kd = 100, t = 1; /* long after m / kd */
    p = run(square(m, &(sb_build_tri){.kd = kd}, true, c), solvers[i], 240);
    check(&p, "tri_kd: creeps as s^3 = 1 + 3 load t / kd", -at(&p, c[2], 2) - 1, cbrt(1 + 3 * load * t / kd) - 1, 2e-2);
  }
  physics_verdict();
}

/* A square of mass 4 m and area 1 falls through the air, flat or on its edge. */
static void test_air(void **state)
{
  (void)state;
  for (int i = 0; i < 2; i++)
    for (int flat = 0; flat < 2; flat++) {
      sb_model_builder *b = start(0, -G);
      int32_t c[4];
      double x[4][3];
      for (int k = 0; k < 4; k++) {
        x[k][0] = k & 1, x[k][1] = flat ? k >> 1 : 0, x[k][2] = flat ? 0 : k >> 1;
        c[k] = add(b, x[k][0], x[k][1], x[k][2], k == 0 || k == 3 ? 0.05 : 0.1, false); /* as its two triangles share their mass */
      }
      static const int tris[2][3] = {{0, 1, 2}, {3, 2, 1}};
      for (int t = 0; t < 2; t++) {
        sb_build_tri tri = {.ke = 100, .ka = 100, .drag = flat ? 0.1 : 2, .lift = flat ? 2 : 0.1};
        for (int k = 0; k < 3; k++) tri.particle[k] = c[tris[t][k]];
        assert_true(cook_tri_rest(x[tris[t][0]], x[tris[t][1]], x[tris[t][2]], tri.pose, &tri.area));
        sb_builder_add_tri(b, &tri);
      }
      physics p = run(b, solvers[i], 720);
      check(&p, flat ? "tri_lift: flat, falls at m g / (A lift)" : "tri_drag: on edge, falls at m g / (A drag)", -(double)p.s->particle_qd[3 * c[0] + 2],
            0.3 * G / 2, 1e-2);
    }
  physics_verdict();
}

/* ---- bending edges ---- */

/* Two triangles hinged at the y axis, the left one held; the right one's corner is loaded at x = 1 and swings down. */
static physics hinge(physics_solver solver, double m, double ke, double kd, uint32_t ticks, int32_t *corner)
{
  sb_model_builder *b = start(0, -G);
  const double x[4][3] = {{1, 0, 0}, {-1, 0, 0}, {0, -0.5, 0}, {0, 0.5, 0}};
  int32_t at[4];
  for (int k = 0; k < 4; k++) at[k] = add(b, x[k][0], x[k][1], x[k][2], m, k > 0);
  *corner = at[0];
  /* stiff sides keep the corner on its circle */
  for (int k = 2; k < 4; k++)
    sb_builder_add_spring(b, &(sb_build_spring){.particle = {at[0], at[k]}, .rest_length = sqrt(1.25), .stiffness = 4e5, .damping = 20});
  sb_builder_add_edge(b, &(sb_build_edge){.particle = {at[0], at[1], at[2], at[3]}, .rest_length = 1, .bending_ke = ke, .bending_kd = kd});
  const physics_param params = {"substeps", 128};
  physics p = physics_start(b, solver, 240, &params, 1);
  physics_step(&p, ticks);
  return p;
}

static void test_bending(void **state)
{
  (void)state;
  for (int i = 0; i < 2; i++) {
    const double m = 0.1, ke = 2;
    int32_t c;
    physics p = hinge(solvers[i], m, ke, 0.2, 2400, &c);
    double angle = 0.3;
    for (int k = 0; k < 50; k++) angle -= (ke * angle - m * G * cos(angle)) / (ke + m * G * sin(angle));
    check(&p, "edge_bending_ke: ke a = m g cos(a)", atan2(-at(&p, c, 2), at(&p, c, 0)), angle, 1e-2);
    /* kd da/dt = m g cos a: a = 2 atan(tanh(m g t / (2 kd))) */
    const double kd = 4, t = 1;
    p = hinge(solvers[i], m, 0, kd, 240, &c);
    check(&p, "edge_bending_kd: creeps as kd da/dt = m g cos(a)", atan2(-at(&p, c, 2), at(&p, c, 0)), 2 * atan(tanh(m * G * t / (2 * kd))), 3e-2);
  }
  physics_verdict();
}

/* ---- tetrahedra ---- */

/* A tetrahedron of height 1 on a held base of area A, its tip loaded along z or, with gravity sideways, along x. */
static physics tet(physics_solver solver, bool sideways, double m, const sb_build_tet *material, uint32_t ticks, int32_t *tip)
{
  sb_model_builder *b = start(sideways ? G : 0, sideways ? 0 : -G);
  const double x[4][3] = {{1, 0, 0}, {-0.5, sqrt(0.75), 0}, {-0.5, -sqrt(0.75), 0}, {0, 0, 1}};
  sb_build_tet t = *material;
  for (int k = 0; k < 4; k++) t.particle[k] = add(b, x[k][0], x[k][1], x[k][2], m, k < 3);
  *tip = t.particle[3];
  assert_true(cook_tet_rest(x[0], x[1], x[2], x[3], t.pose, &t.volume));
  sb_builder_add_tet(b, &t);
  return run(b, solver, ticks);
}

static void test_tetrahedron(void **state)
{
  (void)state;
  const double third = 3 * sqrt(3) / 4 / 3; /* of the base */
  for (int i = 0; i < 2; i++) {
    const double m = 0.5;
    int32_t tip;
    /* the tip's force is A / 3 times the stress: (2 mu + lambda) (1 - s) along z, mu x along x */
    physics p = tet(solvers[i], false, m, &(sb_build_tet){.k_mu = 100, .k_lambda = 300, .k_damp = 10}, 1440, &tip);
    check(&p, "tet_k_lambda: pressed tip", 1 - at(&p, tip, 2), m * G / (third * 500), 1e-2);
    p = tet(solvers[i], true, m, &(sb_build_tet){.k_mu = 100, .k_lambda = 300, .k_damp = 10}, 1440, &tip);
    check(&p, "tet_k_mu: sheared tip", at(&p, tip, 0), m * G / (third * 100), 1e-2);
    p = tet(solvers[i], true, m, &(sb_build_tet){.k_mu = 1e-3, .k_lambda = 1e-3, .k_damp = 400}, 240, &tip);
    check(&p, "tet_k_damp: tip creeps at 2 m g / (A / 3 k_damp)", (double)p.s->particle_qd[3 * tip], 2 * m * G / (third * 400), 1e-2);
  }
  physics_verdict();
}

/* ---- contact ---- */

/* A grain on a slope: it rests below the angle of friction, and above it gains g (sin a - mu cos a). */
static void test_friction(void **state)
{
  (void)state;
  for (int i = 0; i < 2; i++)
    for (int slides = 0; slides < 2; slides++) {
      const double mu = 0.5, a = atan(mu) + (slides ? 0.1 : -0.1);
      sb_model_builder *b = sb_builder_create();
      const double gravity[3] = {G * sin(a), 0, -G * cos(a)};
      sb_builder_set_gravity(b, gravity);
      sb_build_shape plane = sb_build_shape_default();
      plane.type = SB_SHAPE_PLANE;
      plane.friction[0] = 0.2; /* the larger coefficient counts: the grain's */
      sb_builder_add_shape(b, &plane, "slope");
      sb_build_deformable d = sb_build_deformable_default();
      d.friction = mu;
      sb_builder_add_deformable(b, &d, "grain");
      sb_builder_add_particle(b, &(sb_build_particle){.q = {0, 0, 0.05}, .mass = 0.1, .radius = 0.05});
      physics p = run(b, solvers[i], 240);
      physics_bound(&p, "particle_radius: height of a grain at rest, m off", fabs(at(&p, 0, 2) - 0.05), 1e-3);
      double speed = (double)p.s->particle_qd[0];
      physics_bound(&p, slides ? "deformable_friction: slides at g (sin a - mu cos a) t, relative" : "deformable_friction: holds, m/s",
                    slides ? fabs(speed / (G * (sin(a) - mu * cos(a))) - 1) : fabs(speed), slides ? 2e-2 : 1e-2);
      physics_stop(&p);
    }
  physics_verdict();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_spring),      cmocka_unit_test(test_attachment), cmocka_unit_test(test_triangle),
                                     cmocka_unit_test(test_air),         cmocka_unit_test(test_bending),    cmocka_unit_test(test_tetrahedron),
                                     cmocka_unit_test(test_friction)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
