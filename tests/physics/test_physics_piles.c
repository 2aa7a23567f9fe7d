/* steel on what makes contact solvers fail: long stacks, heavy on light, cards that lean, an arch, piles; and that
 * neighbours and worlds change no bit. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "physics_scene.h"

#define G 9.81

static sb_model_builder *floor_builder(double friction)
{
  sb_model_builder *b = physics_builder(-G);
  physics_shape(b, SB_SHAPE_PLANE, -1, 0, 0, 0, friction);
  return b;
}

/* A box of half extents (a, b, c), turned about y, of mass m. */
static int32_t add_box(sb_model_builder *builder, const double size[3], double m, double x, double z, double turn,
                       double friction)
{
  double a = size[0], b = size[1], c = size[2];
  sb_build_body body =
      physics_free(m, m * (b * b + c * c) / 3, m * (a * a + c * c) / 3, m * (a * a + b * b) / 3, x, 0, z);
  body.q[4] = sin(turn / 2), body.q[6] = cos(turn / 2);
  int32_t index = sb_builder_add_body(builder, &body, NULL);
  sb_build_shape box = sb_build_shape_default();
  box.type = SB_SHAPE_BOX;
  box.body = index;
  memcpy(box.size, size, 3 * sizeof *size);
  box.friction[0] = friction;
  sb_builder_add_shape(builder, &box, NULL);
  return index;
}

static double farthest(const physics *p)
{
  double worst = 0;
  for (uint32_t b = 0; b < p->m->body_count; b++) {
    double d2 = 0;
    for (int k = 0; k < 3; k++) d2 += pow((double)p->s->body_q[7 * b + k] - (double)p->m->body_q[7 * b + k], 2);
    worst = fmax(worst, sqrt(d2));
  }
  return worst;
}

static double fastest(const physics *p)
{
  double worst = 0;
  for (uint32_t b = 0; b < p->m->body_count; b++) {
    const float *v = p->s->body_qd + 6 * b;
    worst = fmax(worst, sqrt((double)v[0] * v[0] + (double)v[1] * v[1] + (double)v[2] * v[2]));
  }
  return worst;
}

/* Contacts in a row are springs in a row: a slender column of many buckles unless they are stiff. 15 cubes want
 * contact_frequency 60 Hz and 8 substeps; with the defaults they come down, 10 stand (test_physics_steel.c). */
static void test_long_stack(void **state)
{
  (void)state;
  static const double half[3] = {0.25, 0.25, 0.25};
  static const physics_param stiff[] = {{"substeps", 8}, {"contact_frequency", 60}};
  const int count = 15;
  sb_model_builder *b = floor_builder(0.6);
  for (int k = 0; k < count; k++) add_box(b, half, 125, 0, 0.25 + 0.5 * k, 0, 0.6);
  physics p = physics_start(b, STEEL, 60, stiff, 2);
  physics_step(&p, 600);
  const float *top = p.s->body_q + 7 * (count - 1);
  physics_bound(&p, "15 cubes after 10 s: top moved aside, m", hypot(top[0], top[1]), 5e-3);
  physics_bound(&p, "  sink of the top, m", 0.25 + 0.5 * (count - 1) - top[2], 0.03);
  physics_bound(&p, "  fastest, m/s", fastest(&p), 5e-3);
  physics_stop(&p);
  physics_verdict();
}

/* Five cubes, each twice as heavy as the one below, 16 : 1 from top to bottom; then 20 : 1 on each of two light ones.
 */
static void test_heavy_on_light(void **state)
{
  (void)state;
  static const double half[3] = {0.25, 0.25, 0.25};
  sb_model_builder *b = floor_builder(0.6);
  for (int k = 0; k < 5; k++) add_box(b, half, 10 * (1 << k), 0, 0.25 + 0.5 * k, 0, 0.6);
  for (int k = 0; k < 3; k++) add_box(b, half, k < 2 ? 10 : 200, 3, 0.25 + 0.5 * k, 0, 0.6);
  physics p = physics_start(b, STEEL, 60, PHYSICS_NO_PARAMS);
  physics_step(&p, 600);
  physics_bound(&p, "heavier and heavier, and 20 : 1 on two: farthest moved in 10 s, m", farthest(&p), 0.06);
  physics_bound(&p, "  fastest, m/s", fastest(&p), 5e-3);
  physics_stop(&p);
  physics_verdict();
}

/* Cards of 63 x 88 x 1 mm: pairs lean against each other, a card lies on two pairs, a pair stands on it. */
static void add_pair(sb_model_builder *b, double x, double floor, double lean)
{
  static const double card[3] = {0.0005, 0.0315, 0.044};
  double rise = card[2] * cos(lean) + card[0] * sin(lean), side = card[2] * sin(lean) + card[0] * cos(lean);
  add_box(b, card, 0.002, x - side, floor + rise, lean, 0.6);
  add_box(b, card, 0.002, x + side, floor + rise, -lean, 0.6);
}

static void test_card_house(void **state)
{
  (void)state;
  static const double flat[3] = {0.044, 0.0315, 0.0005};
  const double lean = 0.3, high = 2 * (0.044 * cos(lean) + 0.0005 * sin(lean));
  sb_model_builder *b = floor_builder(0.6);
  add_pair(b, -0.03, 0, lean);
  add_pair(b, 0.03, 0, lean);
  add_box(b, flat, 0.002, 0, high + 0.0005, 0, 0.6);
  add_pair(b, 0, high + 0.001, lean);
  physics p = physics_start(b, STEEL, 240, PHYSICS_NO_PARAMS);
  physics_step(&p, 2400);
  physics_bound(&p, "house of seven cards after 10 s: farthest moved, m", farthest(&p), 2e-3);
  physics_bound(&p, "  fastest, m/s", fastest(&p), 1e-3);
  physics_stop(&p);
  physics_verdict();
}

/* A voussoir between the joints at angles `low` and `high` of a semicircle: two slabs whose outer faces lie in the
 * joints. */
static void add_voussoir(sb_model_builder *b, double radius, double low, double high)
{
  static const double slab[3] = {0.2, 0.2, 0.03}; /* radial, along the vault, half thickness */
  double middle = 0.5 * (low + high), x = radius * cos(middle), z = radius * sin(middle);
  sb_build_body body = physics_free(50, 2, 2, 2, x, 0, z);
  int32_t index = sb_builder_add_body(b, &body, NULL);
  for (int k = 0; k < 2; k++) {
    double joint = k ? high : low, inward = k ? -slab[2] : slab[2];
    sb_build_shape shape = sb_build_shape_default();
    shape.type = SB_SHAPE_BOX;
    shape.body = index;
    memcpy(shape.size, slab, sizeof slab);
    shape.X[0] = radius * cos(joint) - inward * sin(joint) - x;
    shape.X[2] = radius * sin(joint) + inward * cos(joint) - z;
    shape.X[4] = sin(-joint / 2), shape.X[6] = cos(joint / 2);
    shape.friction[0] = 0.8;
    sb_builder_add_shape(b, &shape, NULL);
  }
}

/* Eleven voussoirs stand as a semicircle of 1 m, 0.4 m thick, by pressure and friction alone. */
static void test_arch(void **state)
{
  (void)state;
  const double pi = 3.14159265358979;
  sb_model_builder *b = floor_builder(0.8);
  for (int k = 0; k < 11; k++) add_voussoir(b, 1, k * pi / 11, (k + 1) * pi / 11);
  physics p = physics_start(b, STEEL, 120, PHYSICS_NO_PARAMS);
  physics_step(&p, 1200);
  physics_bound(&p, "arch of eleven after 10 s: farthest moved, m", farthest(&p), 0.03);
  physics_bound(&p, "  fastest, m/s", fastest(&p), 5e-3);
  physics_stop(&p);
  physics_verdict();
}

/* Kinetic and potential energy, J; cubes and balls have a multiple of the identity for inertia. */
static double energy(const physics *p)
{
  double e = 0;
  for (uint32_t b = 0; b < p->m->body_count; b++) {
    const float *v = p->s->body_qd + 6 * b;
    for (int k = 0; k < 3; k++)
      e += 0.5 * (double)p->m->body_mass[b] * v[k] * v[k] +
           0.5 * (double)p->m->body_inertia[6 * b] * v[k + 3] * v[k + 3];
    e += (double)p->m->body_mass[b] * G * (double)p->s->body_q[7 * b + 2];
  }
  return e;
}

/* A pile without restitution only loses energy; what overlap gives back when it is pushed apart stays small beside what
 * fell. */
static void test_energy(void **state)
{
  (void)state;
  static const sb_scene_param pile[] = {
      {"count", "100", NULL}, {"side", "4", NULL}, {"extent", "1.2", NULL}, {NULL, NULL, NULL}};
  physics p = physics_start_model(physics_load("generator:pile", pile, false), STEEL, 120, PHYSICS_NO_PARAMS);
  double first = energy(&p), lowest = first, gain = 0;
  for (int t = 0; t < 480; t++) {
    physics_step(&p, 1);
    double e = energy(&p);
    gain = fmax(gain, e - lowest);
    lowest = fmin(lowest, e);
  }
  physics_bound(&p, "pile of 100: largest gain of energy over its lowest, share of what was lost",
                gain / (first - lowest), 5e-3);
  physics_stop(&p);
  physics_verdict();
}

/* Bodies that come after the others and touch none of them change none of their bits. */
static void test_neighbours(void **state)
{
  (void)state;
  static const double half[3] = {0.25, 0.25, 0.25};
  enum { OWN = 30 };
  physics run[2];
  for (int with = 0; with < 2; with++) {
    sb_model_builder *b = floor_builder(0.6);
    for (int k = 0; k < OWN; k++) add_box(b, half, 100, 0.3 * (k % 4), 0.3 + 0.6 * k, 0.1 * k, 0.6);
    for (int k = 0; with && k < 40; k++) add_box(b, half, 50, 40 + 0.2 * (k % 3), 0.3 + 0.55 * k, 0.2 * k, 0.6);
    run[with] = physics_start(b, STEEL, 60, PHYSICS_NO_PARAMS);
  }
  for (int t = 0; t < 240; t++) {
    physics_step(&run[0], 1);
    physics_step(&run[1], 1);
    assert_memory_equal(run[0].s->body_q, run[1].s->body_q, 7 * OWN * sizeof(float));
    assert_memory_equal(run[0].s->body_qd, run[1].s->body_qd, 6 * OWN * sizeof(float));
  }
  assert_true(sb_sim_statistics(run[0].sim).contact_peak > 20);
  physics_stop(&run[0]);
  physics_stop(&run[1]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_long_stack), cmocka_unit_test(test_heavy_on_light),
                                     cmocka_unit_test(test_card_house), cmocka_unit_test(test_arch),
                                     cmocka_unit_test(test_energy),     cmocka_unit_test(test_neighbours)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
