/* Particles under xpbd against mechanics: springs, ropes, cloth, soft bodies, contact, momentum. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "particle_reference.h"
#include "cook_math.h"
#include "physics_scene.h"

#define G 9.81

static int32_t add_particle(sb_model_builder *b, double x, double y, double z, double mass, bool pinned)
{
  return sb_builder_add_particle(b, &(sb_build_particle){.q = {x, y, z}, .mass = mass, .radius = 0.01, .pinned = pinned});
}

static void add_deformable(sb_model_builder *b, double friction, double restitution)
{
  sb_build_deformable d = sb_build_deformable_default();
  d.friction = friction, d.restitution = restitution, d.margin = 0.01;
  sb_builder_add_deformable(b, &d, NULL);
}

static double z_of(const physics *p, uint32_t particle) { return (double)p->s->particle_q[3 * particle + 2]; }

static double fastest(const physics *p)
{
  double worst = 0;
  for (uint32_t i = 0; i < 3 * p->m->particle_count; i++) worst = fmax(worst, fabs((double)p->s->particle_qd[i]));
  return worst;
}

/* ---- springs ---- */

/* C33: a weight on a spring hangs m g / k below the rest length, whatever the iterations and substeps. Damping brings it to rest. */
static void test_spring_length(void **state)
{
  (void)state;
  static const double iterations[] = {1, 2, 8, 32}, substeps[] = {1, 8, 20};
  for (size_t i = 0; i < 4; i++)
    for (size_t k = 0; k < 3; k++) {
      char text[120];
      sb_model_builder *b = physics_builder(-G);
      add_deformable(b, 0, 0);
      int32_t top = add_particle(b, 0, 0, 0, 1, true), bob = add_particle(b, 0, 0, -1, 0.5, false);
      sb_builder_add_spring(b, &(sb_build_spring){.particle = {top, bob}, .rest_length = 1, .stiffness = 200, .damping = 5});
      const physics_param params[] = {{"iterations", iterations[i]}, {"substeps", substeps[k]}};
      physics p = physics_start(b, XPBD, 240, params, 2);
      physics_step(&p, 1200);
      snprintf(text, sizeof text, "weight on a spring, %g iterations, %g substeps: stretch against m g / k, relative", iterations[i], substeps[k]);
      physics_bound(&p, text, fabs((-1 - z_of(&p, 1)) / (0.5 * G / 200) - 1), 2e-4);
      physics_stop(&p);
    }
  physics_verdict();
}

/* A damped spring's free swing decays at c / (2 m) plus the rate w^2 h / 2 of the implicit step. */
static void test_spring_damping(void **state)
{
  (void)state;
  sb_model_builder *b = physics_builder(0);
  add_deformable(b, 0, 0);
  int32_t top = add_particle(b, 0, 0, 0, 1, true), bob = add_particle(b, 0, 0, -1.1, 0.5, false);
  const double k = 200, c = 1, m = 0.5;
  sb_builder_add_spring(b, &(sb_build_spring){.particle = {top, bob}, .rest_length = 1, .stiffness = k, .damping = c});
  physics p = physics_start(b, XPBD, 1000, PHYSICS_NO_PARAMS);
  double first = 0, last = 0;
  for (int t = 0; t < 1000; t++) {
    physics_step(&p, 1);
    double a = fabs(-1 - z_of(&p, 1));
    if (t < 160) first = fmax(first, a);
    if (t >= 840) last = fmax(last, a);
  }
  /* whole periods of 0.314 s apart: 0.84 s, give or take where a peak falls */
  double rate = log(first / last) / 0.84;
  physics_bound(&p, "damped spring: decay rate against c / (2 m), relative", fabs(rate / (c / (2 * m)) - 1), 0.2);
  physics_stop(&p);
  physics_verdict();
}

/* ---- rope ---- */

/* Spring i of n carries the n - i particles below it. A pass over the constraints leaves an error of about k h^2 / m of the stretch: 0.3 % at this substep. */
static void test_hanging_rope(void **state)
{
  (void)state;
  const int n = 40;
  const double k = 400, m = 0.01, rest = 0.05;
  sb_model_builder *b = physics_builder(-G);
  add_deformable(b, 0, 0);
  for (int i = 0; i <= n; i++) {
    add_particle(b, 0, 0, -rest * i, m, i == 0);
    if (i) sb_builder_add_spring(b, &(sb_build_spring){.particle = {i - 1, i}, .rest_length = rest, .stiffness = k, .damping = 8});
  }
  const physics_param params = {"substeps", 64};
  physics p = physics_start(b, XPBD, 60, &params, 1);
  physics_step(&p, 1200);
  double want = 0;
  for (int i = 1; i <= n; i++) want += m * G * (n - i + 1) / k;
  physics_bound(&p, "hanging rope: stretch against the sum of m g / k, relative", fabs((-z_of(&p, (uint32_t)n) - rest * n) / want - 1), 0.01);
  physics_bound(&p, "  speed, m/s", fastest(&p), 1e-2);
  physics_stop(&p);
  physics_verdict();
}

/* A rope of length l between supports d apart hangs in z = a cosh(x / a), with 2 a sinh(d / (2 a)) = l. It begins there and stays. */
static void test_catenary(void **state)
{
  (void)state;
  const int n = 60;
  const double d = 1.6, l = 2.0, rest = l / n;
  double low = 0.01, high = 10;
  for (int i = 0; i < 200; i++) {
    double a = 0.5 * (low + high);
    *(2 * a * sinh(d / (2 * a)) > l ? &low : &high) = a;
  }
  const double a = low, sag = a * (cosh(d / (2 * a)) - 1);
  sb_model_builder *b = physics_builder(-G);
  add_deformable(b, 0, 0);
  for (int i = 0; i <= n; i++) {
    double x = a * asinh((rest * i - l / 2) / a);
    add_particle(b, x, 0, a * cosh(x / a) - a * cosh(d / (2 * a)), 0.01, i == 0 || i == n);
    if (i) sb_builder_add_spring(b, &(sb_build_spring){.particle = {i - 1, i}, .rest_length = rest, .stiffness = (double)SB_NO_LIMIT});
  }
  const physics_param params = {"substeps", 64};
  physics p = physics_start(b, XPBD, 60, &params, 1);
  double off = 0, longest = 0;
  for (int t = 0; t < 600; t++) {
    physics_step(&p, 1);
    off = fmax(off, fabs(-z_of(&p, n / 2) / sag - 1));
    for (uint32_t i = 0; i < (uint32_t)n; i++) {
      double s2 = 0;
      for (uint32_t k = 0; k < 3; k++) s2 += pow((double)p.s->particle_q[3 * i + 3 + k] - (double)p.s->particle_q[3 * i + k], 2);
      longest = fmax(longest, fabs(sqrt(s2) / rest - 1));
    }
  }
  physics_bound(&p, "rope between two points, 10 s: sag against the catenary, relative", off, 0.01);
  physics_bound(&p, "  stretch of what does not stretch, relative", longest, 0.01);
  physics_stop(&p);
  physics_verdict();
}

/* ---- cloth ---- */

/* A curtain held at two corners, as springs and as a membrane: where it hangs, against statics in binary64. */
static void check_cloth(const char *model, const char *stiffness_key, const char *stiffness)
{
  char text[100];
  bool membrane = !strcmp(model, "membrane");
  const sb_scene_param scene[] = {{"rows", "12", NULL}, {"columns", "12", NULL}, {"spacing", "0.05", NULL}, {"model", model, NULL},
                                  {"pins", "corners", NULL}, {"bending", "0", NULL}, {"damping", "1", NULL}, {stiffness_key, stiffness, NULL},
                                  {"mass", "2", NULL}, {"ground", "0", NULL}, {membrane ? "poisson" : "shear", membrane ? "0.3" : "200", NULL},
                                  {NULL, NULL, NULL}};
  const physics_param params = {"substeps", 60};
  physics p = physics_start_model(physics_load("generator:cloth", scene, false), XPBD, 60, &params, 1);
  double *x = malloc(3 * p.m->particle_count * sizeof *x);
  assert_non_null(x);
  for (uint32_t i = 0; i < 3 * p.m->particle_count; i++) x[i] = (double)p.m->particle_q[i];
  physics_step(&p, 1800);
  int steps = reference_particle_statics(p.m, x, 1e-7, 400000);
  double lowest = 0, apart = 0;
  for (uint32_t i = 0; i < p.m->particle_count; i++) {
    lowest = fmax(lowest, fabs(x[3 * i + 2] - (double)p.m->particle_q[3 * i + 2]));
    double d2 = 0;
    for (uint32_t k = 0; k < 3; k += 2) d2 += pow(x[3 * i + k] - (double)p.s->particle_q[3 * i + k], 2);
    apart = fmax(apart, sqrt(d2));
  }
  snprintf(text, sizeof text, "curtain as %s: places against statics, of the sag of %.4f m", model, lowest);
  physics_bound(&p, text, apart / lowest, 0.01);
  physics_bound(&p, "  steps of the reference", steps, 399999);
  physics_bound(&p, "  speed, m/s", fastest(&p), 1e-2);
  free(x);
  physics_stop(&p);
}

static void test_hanging_cloth(void **state)
{
  (void)state;
  check_cloth("springs", "stretch", "400");
  check_cloth("membrane", "young", "400");
  physics_verdict();
}

/* A flat cloth falls at m g / (A lift) through the air. */
static void test_air(void **state)
{
  (void)state;
  const sb_scene_param scene[] = {{"rows", "6", NULL}, {"columns", "6", NULL}, {"pins", "none", NULL}, {"pose", "flat", NULL}, {"lift", "2", NULL},
                                  {"mass", "0.2", NULL}, {"ground", "0", NULL}, {NULL, NULL, NULL}};
  physics p = physics_start_model(physics_load("generator:cloth", scene, false), XPBD, 240, PHYSICS_NO_PARAMS);
  physics_step(&p, 480);
  physics_bound(&p, "flat cloth in air: final speed against m g / (A lift), relative", fabs(-(double)p.s->particle_qd[3 * 14 + 2] / (0.2 * G / 2) - 1), 0.02);
  physics_stop(&p);
  physics_verdict();
}

/* ---- soft bodies ---- */

/* A beam of tetrahedra, held at one end, bends by w l^4 / (8 E I) under its own weight, plus what shear adds: w l^2 / (2 kappa G A), kappa = 5/6 (Timoshenko).
 * 42 by 8 by 8 cells: tetrahedra of constant strain are a little too stiff in bending. */
static void test_cantilever(void **state)
{
  (void)state;
  const double e = 2e5, nu = 0.2, l = 0.315, side = 0.06, density = 200;
  const sb_scene_param scene[] = {{"nx", "42", NULL}, {"ny", "8", NULL}, {"nz", "8", NULL}, {"spacing", "0.0075", NULL}, {"young", "2e5", NULL},
                                  {"poisson", "0.2", NULL}, {"density", "200", NULL}, {"damping", "20", NULL}, {"pins", "face", NULL}, {"ground", "0", NULL},
                                  {"height", "0", NULL}, {NULL, NULL, NULL}};
  const physics_param params = {"substeps", 40};
  physics p = physics_start_model(physics_load("generator:soft", scene, false), XPBD, 240, &params, 1);
  double far = -1, sum = 0, weights = 0;
  for (uint32_t i = 0; i < p.m->particle_count; i++) far = fmax(far, (double)p.m->particle_q[3 * i]);
  /* It swings about where it would rest: the mean over six periods, weighed so that the ends do not count. */
  for (int t = 0; t < 480; t++) {
    double tip = 0, ends = 0, weight = 1 - cos(2 * COOK_PI * t / 480);
    physics_step(&p, 1);
    for (uint32_t i = 0; i < p.m->particle_count; i++)
      if ((double)p.m->particle_q[3 * i] > far - 1e-4) tip += (double)p.m->particle_q[3 * i + 2] - z_of(&p, i), ends++;
    sum += weight * tip / ends;
    weights += weight;
  }
  double w = density * side * side * G, inertia = pow(side, 4) / 12;
  double want = w * pow(l, 4) / (8 * e * inertia) + w * l * l / (2 * 5.0 / 6.0 * e / (2 * (1 + nu)) * side * side);
  physics_bound(&p, "beam of tetrahedra: deflection against beam theory, relative", fabs(sum / weights / want - 1), 0.05);
  physics_stop(&p);
  physics_verdict();
}

/* ---- momentum ---- */

/* A soft body thrown and spinning in empty space keeps its momenta; it wobbles. */
static void check_momentum(double order)
{
  const sb_scene_param scene[] = {{"nx", "4", NULL}, {"ny", "3", NULL}, {"nz", "3", NULL}, {"ground", "0", NULL}, {NULL, NULL, NULL}};
  sb_model_store *one = physics_load("generator:soft", scene, false);
  const physics_param params[] = {{"order", order}, {"iterations", 1 + 3 * order}};
  physics p = physics_start_model(one, XPBD, 240, params, 2);
  double before[6] = {0}, after[6] = {0}, size = 0;
  for (uint32_t i = 0; i < p.m->particle_count; i++) {
    float *v = p.s->particle_qd + 3 * i, *x = p.s->particle_q + 3 * i;
    v[0] = 1.0f - 3.0f * x[1], v[1] = 3.0f * x[0] + 0.5f * x[2], v[2] = 2.0f;
  }
  for (int round = 0; round < 2; round++) {
    double *to = round ? after : before;
    for (uint32_t i = 0; i < p.m->particle_count; i++) {
      const float *v = p.s->particle_qd + 3 * i, *x = p.s->particle_q + 3 * i;
      double m = (double)p.m->particle_mass[i], c[3];
      /* gravity cannot be turned off here: take its fall out */
      double fall = round ? -G * 240 * p.dt : 0;
      double u[3] = {(double)v[0], (double)v[1], (double)v[2] - fall};
      for (int k = 0; k < 3; k++) c[k] = (double)x[k];
      for (int k = 0; k < 3; k++) {
        to[k] += m * u[k];
        to[3 + k] += m * (c[(k + 1) % 3] * u[(k + 2) % 3] - c[(k + 2) % 3] * u[(k + 1) % 3]);
      }
      if (!round) size += m * sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    }
    if (!round) physics_step(&p, 240);
  }
  double linear = 0;
  for (int k = 0; k < 3; k++) linear = fmax(linear, fabs(after[k] - before[k]));
  physics_bound(&p, order > 0 ? "soft body in flight, jacobi: change of momentum in 1 s, relative" : "soft body in flight: change of momentum in 1 s, relative", linear / size, 1e-4);
  physics_stop(&p);
}

static void test_momentum(void **state)
{
  (void)state;
  check_momentum(0);
  check_momentum(1);
  physics_verdict();
}

/* ---- contact ---- */

/* A grain dropped from 1 m bounces to e^2 of the height, never above (C34). */
static void test_grain_bounce(void **state)
{
  (void)state;
  static const double coefficients[] = {0.5, 0.8, 1.0};
  for (size_t i = 0; i < 3; i++) {
    char text[100];
    double e = coefficients[i], top = 0, last = 1;
    sb_model_builder *b = physics_builder(-G);
    physics_shape(b, SB_SHAPE_PLANE, -1, 0, 0, 0, 0);
    add_deformable(b, 0, e);
    add_particle(b, 0, 0, 1.01, 0.1, false);
    physics p = physics_start(b, XPBD, 240, PHYSICS_NO_PARAMS);
    int bounces = 0;
    for (int t = 0; t < 720 && bounces < 2; t++) {
      bool falling = (double)p.s->particle_qd[2] < 0;
      physics_step(&p, 1);
      double height = z_of(&p, 0) - 0.01;
      if (falling && (double)p.s->particle_qd[2] > 0) top = 0;
      top = fmax(top, height);
      if (!falling && (double)p.s->particle_qd[2] < 0 && t > 60) {
        snprintf(text, sizeof text, "grain, e = %g, bounce %d: height short of e^2 h, relative", e, ++bounces);
        physics_bound(&p, text, 1 - top / (e * e * last), 0.01);
        physics_bound(&p, "  above it", top / (e * e * last) - 1, 1e-4);
        last = top;
      }
    }
    physics_stop(&p);
  }
  physics_verdict();
}

/* C40: a grain on a slope holds below atan(mu) and slides with g (sin - mu cos) above. */
static void test_grain_slope(void **state)
{
  (void)state;
  static const double share[] = {0.9, 0.98, 1.02, 1.5};
  for (size_t i = 0; i < 4; i++) {
    char text[100];
    const double mu = 0.5, slope = atan(mu * share[i]);
    sb_model_builder *b = physics_builder(-G);
    const double g[3] = {G * sin(slope), 0, -G * cos(slope)};
    sb_builder_set_gravity(b, g);
    physics_shape(b, SB_SHAPE_PLANE, -1, 0, 0, 0, mu);
    add_deformable(b, mu, 0);
    add_particle(b, 0, 0, 0.01, 0.1, false);
    physics p = physics_start(b, XPBD, 240, PHYSICS_NO_PARAMS);
    physics_step(&p, 240);
    double want = share[i] < 1 ? 0 : G * (sin(slope) - mu * cos(slope));
    snprintf(text, sizeof text, "grain on a slope of %.2f atan(mu): speed after 1 s, error in m/s", share[i]);
    physics_bound(&p, text, fabs((double)p.s->particle_qd[0] - want), 5e-3);
    physics_stop(&p);
  }
  physics_verdict();
}

/* How deep the surfaces of the cloth's particles are inside the obstacle, m. */
static double depth_in_sphere(const float *x, double z, double size) { return size + 0.005 - sqrt(x[0] * (double)x[0] + x[1] * (double)x[1] + pow((double)x[2] - z, 2)); }
static double depth_in_box(const float *x, double z, double size)
{
  return fmin(fmin(size - fabs((double)x[0]), size - fabs((double)x[1])), size - fabs((double)x[2] - z)) + 0.005;
}

/* A cloth dropped on a sphere and on a box comes to rest on it, and no particle is deeper than its thickness. */
static void test_cloth_on_obstacle(void **state)
{
  (void)state;
  for (int box = 0; box < 2; box++) {
    const sb_scene_param scene[] = {{"rows", "25", NULL}, {"columns", "25", NULL}, {"spacing", "0.03", NULL}, {"pins", "none", NULL}, {"pose", "flat", NULL},
                                    {"height", "0.7", NULL}, {"obstacle", box ? "box" : "sphere", NULL}, {"obstacle_size", "0.2", NULL}, {"damping", "0.05", NULL},
                                    {"thickness", "0.01", NULL}, {"drag", "0.5", NULL}, {"lift", "0.5", NULL}, {NULL, NULL, NULL}};
    physics p = physics_start_model(physics_load("generator:cloth", scene, false), XPBD, 60, PHYSICS_NO_PARAMS);
    physics_step(&p, 900);
    double deepest = -1, floor = -1;
    for (uint32_t i = 0; i < p.m->particle_count; i++) {
      const float *x = p.s->particle_q + 3 * i;
      deepest = fmax(deepest, box ? depth_in_box(x, 0.3, 0.2) : depth_in_sphere(x, 0.3, 0.2));
      floor = fmax(floor, 0.005 - (double)x[2]);
    }
    physics_bound(&p, box ? "cloth on a box: depth, m" : "cloth on a sphere: depth, m", deepest, 1e-3);
    physics_bound(&p, "  depth in the floor, m", floor, 1e-3);
    physics_bound(&p, "  speed, m/s", fastest(&p), 0.1);
    physics_stop(&p);
  }
  physics_verdict();
}

/* ---- attachments ---- */

/* A body of 2 kg on a rope that does not stretch: it hangs at the rope's length; on a soft attachment m g / k lower. */
static void test_body_on_rope(void **state)
{
  (void)state;
  for (int soft = 0; soft < 2; soft++) {
    const int n = 10;
    sb_model_builder *b = physics_builder(-G);
    add_deformable(b, 0, 0);
    for (int i = 0; i <= n; i++) {
      add_particle(b, 0, 0, 2 - 0.1 * i, 0.05, i == 0);
      if (i) sb_builder_add_spring(b, &(sb_build_spring){.particle = {i - 1, i}, .rest_length = 0.1, .stiffness = (double)SB_NO_LIMIT});
    }
    sb_build_body body = physics_free(2, 0.02, 0.02, 0.02, 0, 0, 0.9);
    int32_t index = sb_builder_add_body(b, &body, NULL);
    sb_builder_add_attachment(b, &(sb_build_attachment){.particle = n, .body = index, .point = {0, 0, 0.1},
                                                        .stiffness = soft ? 400 : (double)SB_NO_LIMIT, .damping = soft ? 20 : 0});
    const physics_param params = {"substeps", 32};
    physics p = physics_start(b, XPBD, 120, &params, 1);
    physics_step(&p, 1200);
    double want = 0.9 - (soft ? 2 * G / 400 : 0);
    physics_bound(&p, soft ? "body on a soft attachment: height, error in m" : "body on a rope: height, error in m",
                  fabs((double)p.s->body_q[2] - want), 2e-3);
    physics_bound(&p, "  speed, m/s", fabs((double)p.s->body_qd[2]), 5e-2);
    physics_stop(&p);
  }
  physics_verdict();
}

/* A small box of 1 kg with 21 particles of a cloth's edge fast on it, up to half a metre away: all of it falls as one, and nothing turns. */
static void test_edge_on_body(void **state)
{
  (void)state;
  enum { ROWS = 5, COLUMNS = 21 };
  sb_model_builder *b = physics_builder(-G);
  add_deformable(b, 0, 0);
  sb_build_body body = physics_free(1, 2.7e-4, 2.7e-4, 2.7e-4, 0, 0, 1);
  int32_t index = sb_builder_add_body(b, &body, NULL);
  for (int r = 0; r < ROWS; r++)
    for (int c = 0; c < COLUMNS; c++) {
      add_particle(b, 0.05 * (c - COLUMNS / 2), 0.05 * r, 1, 0.2 / (ROWS * COLUMNS), false);
      int32_t i = r * COLUMNS + c;
      if (c) sb_builder_add_spring(b, &(sb_build_spring){.particle = {i - 1, i}, .rest_length = 0.05, .stiffness = 200, .damping = 0.1});
      if (r) sb_builder_add_spring(b, &(sb_build_spring){.particle = {i - COLUMNS, i}, .rest_length = 0.05, .stiffness = 200, .damping = 0.1});
      if (!r) sb_builder_add_attachment(b, &(sb_build_attachment){.particle = i, .body = index, .point = {0.05 * (c - COLUMNS / 2), 0, 0}, .stiffness = (double)SB_NO_LIMIT});
    }
  const physics_param params = {"substeps", 8};
  physics p = physics_start(b, XPBD, 200, &params, 1);
  physics_step(&p, 200);
  physics_bound(&p, "an edge on a body that falls: speed, error in m/s", fabs((double)p.s->body_qd[2] + G), 1e-2);
  physics_bound(&p, "  angular speed, rad/s", fabs((double)p.s->body_qd[3]) + fabs((double)p.s->body_qd[4]) + fabs((double)p.s->body_qd[5]), 1e-2);
  physics_stop(&p);
  physics_verdict();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_spring_length),  cmocka_unit_test(test_spring_damping), cmocka_unit_test(test_hanging_rope), cmocka_unit_test(test_catenary),
      cmocka_unit_test(test_hanging_cloth),  cmocka_unit_test(test_air),            cmocka_unit_test(test_cantilever),   cmocka_unit_test(test_momentum),
      cmocka_unit_test(test_grain_bounce),   cmocka_unit_test(test_grain_slope),    cmocka_unit_test(test_cloth_on_obstacle),
      cmocka_unit_test(test_body_on_rope), cmocka_unit_test(test_edge_on_body),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
