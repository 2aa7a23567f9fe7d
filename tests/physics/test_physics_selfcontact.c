/* Cloth that touches itself under xpbd: it comes to rest, and no edge of it ever passes through a triangle. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>

#include "physics_scene.h"

typedef struct box {
  double lo[3], hi[3];
} box;

static void point(const physics *p, int32_t particle, double out[3])
{
  for (int k = 0; k < 3; k++) out[k] = (double)p->s->particle_q[3 * (size_t)particle + (size_t)k];
}

static double rest_distance(const physics *p, int32_t a, int32_t b)
{
  const float *x = p->m->particle_q + 3 * (size_t)a, *y = p->m->particle_q + 3 * (size_t)b;
  return sqrt(pow((double)x[0] - (double)y[0], 2) + pow((double)x[1] - (double)y[1], 2) + pow((double)x[2] - (double)y[2], 2));
}

static box box_of(double (*x)[3], int count)
{
  box b;
  for (int k = 0; k < 3; k++) {
    b.lo[k] = b.hi[k] = x[0][k];
    for (int i = 1; i < count; i++) b.lo[k] = fmin(b.lo[k], x[i][k]), b.hi[k] = fmax(b.hi[k], x[i][k]);
  }
  return b;
}

static bool boxes_meet(const box *a, const box *b)
{
  for (int k = 0; k < 3; k++)
    if (a->lo[k] > b->hi[k] || b->lo[k] > a->hi[k]) return false;
  return true;
}

/* Six times the volume of the tetrahedron. */
static double volume(const double a[3], const double b[3], const double c[3], const double d[3])
{
  double u[3], v[3], w[3];
  for (int k = 0; k < 3; k++) u[k] = b[k] - a[k], v[k] = c[k] - a[k], w[k] = d[k] - a[k];
  return u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) + u[2] * (v[0] * w[1] - v[1] * w[0]);
}

/* Whether the segment p q passes through the triangle a b c. */
static bool pierces(const double p[3], const double q[3], const double a[3], const double b[3], const double c[3])
{
  if (volume(a, b, c, p) * volume(a, b, c, q) >= 0) return false;
  double u = volume(p, q, a, b), v = volume(p, q, b, c), w = volume(p, q, c, a);
  return (u > 0 && v > 0 && w > 0) || (u < 0 && v < 0 && w < 0);
}

/* A triangle in the order of the lower ends of their boxes along x. */
typedef struct placed {
  uint32_t tri;
  box b;
  double x[3][3];
} placed;

static int compare_placed(const void *a, const void *b)
{
  const placed *p = a, *q = b;
  return p->b.lo[0] != q->b.lo[0] ? (p->b.lo[0] < q->b.lo[0] ? -1 : 1) : (p->tri > q->tri) - (p->tri < q->tri);
}

/* Of edges through triangles, an edge of two triangles counting twice: all, and those that are not neighbours at rest. */
typedef struct piercings {
  int all, strangers;
} piercings;

/* Whether at rest some particle of the edge is within 1.1 lengths of the longest edge of a corner: no pair is made of such edges. */
static bool are_neighbours(const physics *p, int32_t e, int32_t f, const int32_t *tri)
{
  double nearest = 1e9, longest = 0;
  for (int i = 0; i < 3; i++) {
    longest = fmax(longest, rest_distance(p, tri[i], tri[(i + 1) % 3]));
    nearest = fmin(nearest, fmin(rest_distance(p, e, tri[i]), rest_distance(p, f, tri[i])));
  }
  return nearest < 1.1 * longest;
}

static void pierce(const physics *p, const placed *s, const placed *t, piercings *found)
{
  const int32_t *from = p->m->tri_indices + 3 * (size_t)s->tri, *to = p->m->tri_indices + 3 * (size_t)t->tri;
  for (int k = 0; k < 3; k++) {
    int32_t e = from[k], f = from[(k + 1) % 3];
    if (e == to[0] || e == to[1] || e == to[2] || f == to[0] || f == to[1] || f == to[2]) continue;
    if (!pierces(s->x[k], s->x[(k + 1) % 3], t->x[0], t->x[1], t->x[2])) continue;
    found->all++;
    found->strangers += !are_neighbours(p, e, f, to);
  }
}

/* Edges of triangles that pass through triangles they share no particle with. */
static piercings count_piercings(const physics *p)
{
  uint32_t n = p->m->tri_count;
  placed *all = malloc(n * sizeof *all);
  piercings found = {0, 0};
  assert_non_null(all);
  for (uint32_t t = 0; t < n; t++) {
    for (int k = 0; k < 3; k++) point(p, p->m->tri_indices[3 * (size_t)t + (size_t)k], all[t].x[k]);
    all[t].tri = t;
    all[t].b = box_of(all[t].x, 3);
  }
  qsort(all, n, sizeof *all, compare_placed);
  for (uint32_t s = 0; s < n; s++)
    for (uint32_t t = s + 1; t < n && all[t].b.lo[0] <= all[s].b.hi[0]; t++) {
      if (!boxes_meet(&all[s].b, &all[t].b)) continue;
      pierce(p, &all[s], &all[t], &found);
      pierce(p, &all[t], &all[s], &found);
    }
  free(all);
  return found;
}

static double fastest(const physics *p)
{
  double v = 0;
  for (uint32_t i = 0; i < 3 * p->m->particle_count; i++) v = fmax(v, fabs((double)p->s->particle_qd[i]));
  return v;
}

/* Velocities across the cloth that change along its height. */
static void sway_by(const physics *p, double speed)
{
  for (uint32_t i = 0; i < p->m->particle_count; i++) p->s->particle_qd[3 * i + 1] = (float)(speed * sin(12 * (double)p->s->particle_q[3 * i + 2]));
}

/* Velocities towards the middle that grow with the distance from it. */
static void squeeze_by(const physics *p, double rate)
{
  double middle[3] = {0};
  for (uint32_t i = 0; i < 3 * p->m->particle_count; i++) middle[i % 3] += (double)p->s->particle_q[i] / p->m->particle_count;
  for (uint32_t i = 0; i < 3 * p->m->particle_count; i++) p->s->particle_qd[i] = (float)(rate * (middle[i % 3] - (double)p->s->particle_q[i]));
}

/* Velocities across the cloth on top of its own, in waves. */
static void ripple_by(const physics *p, double speed)
{
  for (uint32_t i = 0; i < p->m->particle_count; i++)
    p->s->particle_qd[3 * i + 1] += (float)(speed * sin(17 * (double)p->s->particle_q[3 * i]) * cos(23 * (double)p->s->particle_q[3 * i + 2]));
}

/* Runs it and holds piercings after every tick to `most`, and to none of what is not neighbours at rest, none at the end, and the speed at the end to `speed`. */
static void finish(physics *p, const char *what, uint32_t ticks, int most, double speed)
{
  char text[120];
  piercings now = {0, 0}, pierced = {0, 0};
  for (uint32_t t = 0; t < ticks; t++) {
    physics_step(p, 1);
    now = count_piercings(p);
    if (now.all > pierced.all) pierced.all = now.all;
    if (now.strangers > pierced.strangers) pierced.strangers = now.strangers;
  }
  snprintf(text, sizeof text, "%s: edges through triangles, the most in %u ticks", what, ticks);
  physics_bound(p, text, pierced.all, most);
  snprintf(text, sizeof text, "%s: of those, no neighbours at rest", what);
  physics_bound(p, text, pierced.strangers, 0);
  snprintf(text, sizeof text, "%s: all at the end", what);
  physics_bound(p, text, now.all, 0);
  snprintf(text, sizeof text, "%s: speed at the end, m/s", what);
  physics_bound(p, text, fastest(p), speed);
  physics_stop(p);
}

static physics begin(const sb_scene_param *scene, uint32_t per_second)
{
  return physics_start_model(physics_load("generator:cloth", scene, false), XPBD, per_second, PHYSICS_NO_PARAMS);
}

static void test_dropped(void **state)
{
  (void)state;
  const sb_scene_param springs[] = {{"rows", "60", NULL}, {"columns", "60", NULL}, {"spacing", "0.03", NULL}, {"pins", "none", NULL}, {"pose", "flat", NULL}, {"height", "1.6", NULL},
                                    {"thickness", "0.01", NULL}, {"obstacle", "sphere", NULL}, {"damping", "0.05", NULL}, {"self_contact", "1", NULL}, {NULL, NULL, NULL}};
  physics p = begin(springs, 60);
  finish(&p, "springs of 60 x 60 dropped onto a ball", 600, 0, 0.01);
  physics_verdict();
}

/* A strip that stands on its lower edge, sways and folds down in layers. */
#define STRIP(touches)                                                                                                 \
  {{"rows", "40", NULL}, {"columns", "16", NULL}, {"spacing", "0.02", NULL}, {"model", "membrane", NULL}, {"pins", "none", NULL}, {"height", "0.9", NULL}, \
   {"thickness", "0.01", NULL}, {"damping", "0.5", NULL}, {"lift", "0.5", NULL}, {"self_contact", touches, NULL}, {NULL, NULL, NULL}}

static void test_folded(void **state)
{
  (void)state;
  const sb_scene_param strip[] = STRIP("1");
  physics p = begin(strip, 120);
  sway_by(&p, 0.3);
  finish(&p, "membrane that folds in layers", 900, 0, 0.01);
  physics_verdict();
}

/* A sheet that stands on its edge, is squeezed in its own plane at up to 4 m/s, buckles and falls into a heap. Edges that are neighbours at rest have no side of each
 * other to keep to; in these scenes none of those pass either. */
static void test_crumpled(void **state)
{
  (void)state;
  const sb_scene_param sheet[] = {{"rows", "40", NULL}, {"columns", "40", NULL}, {"spacing", "0.02", NULL}, {"model", "membrane", NULL}, {"pins", "none", NULL}, {"height", "0.9", NULL},
                                  {"thickness", "0.01", NULL}, {"damping", "0.5", NULL}, {"self_contact", "1", NULL}, {NULL, NULL, NULL}};
  static const double speed[] = {0, 0.1, 0.3};
  for (int i = 0; i < 3; i++) {
    physics p = begin(sheet, 120);
    squeeze_by(&p, 10);
    ripple_by(&p, speed[i]);
    char text[60];
    snprintf(text, sizeof text, "membrane that crumples, rippled at %.1f m/s", speed[i]);
    finish(&p, text, 400, 0, 0.2);
  }
  physics_verdict();
}

/* Without self-contact the layers pass through each other, and the count sees it. */
static void test_count(void **state)
{
  (void)state;
  const sb_scene_param strip[] = STRIP("0");
  physics p = begin(strip, 120);
  sway_by(&p, 0.3);
  physics_step(&p, 60);
  physics_bound(&p, "the same without self-contact: 1 where nothing is pierced", count_piercings(&p).strangers == 0, 0);
  physics_stop(&p);
  physics_verdict();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_dropped), cmocka_unit_test(test_folded), cmocka_unit_test(test_crumpled), cmocka_unit_test(test_count)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
