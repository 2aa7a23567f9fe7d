/* Time of the particle stages of a collision step, printed: bench_particles [repeats [rows]]. Not a test; run it by hand. */
#include "particle_scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare_times(const void *a, const void *b) { return *(const double *)a < *(const double *)b ? -1 : *(const double *)a > *(const double *)b; }

enum { FLAT, SWINGING, WAVES, PLEATS, FOLDED, CASES };
static const char *const names[CASES] = {"flat at rest", "swinging", "waves", "pleats", "folded"};

/* Shapes of a cloth that hangs in the plane of its model. */
static void shape_cloth(particle_scene *s, int which, int rows, double h)
{
  double high = h * (rows - 1);
  for (uint32_t p = 0; p < s->model->particle_count; p++) {
    double x = s->model->particle_q[3 * p], y = s->model->particle_q[3 * p + 1], z = 0, v = 0;
    if (which == SWINGING) z = 0.2 * y * y / high, v = 2.0 * y / high;
    if (which == WAVES) z = 0.03 * sin(20 * x + 3 * y), x = 0.9 * x, v = 0.3 * sin(13 * x);
    if (which == PLEATS) z = 0.05 * sin(60 * x), x = 0.35 * x;
    if (which == FOLDED && y > high / 2) y = high - y + 0.3 * h, z = 0.8 * 0.01, x += 0.2 * h;
    s->q[3 * p] = (float)x, s->q[3 * p + 1] = (float)y, s->q[3 * p + 2] = (float)(2.0 + z);
    s->qd[3 * p] = s->qd[3 * p + 1] = 0, s->qd[3 * p + 2] = (float)v;
  }
}

static void measure(int which, int rows, uint32_t lanes, int repeats)
{
  const double h = 0.02;
  sb_model_builder *b = sb_builder_create();
  sb_build_shape plane = sb_build_shape_default();
  plane.type = SB_SHAPE_PLANE, plane.body = -1;
  sb_builder_add_shape(b, &plane, NULL);
  sb_build_shape ball = sb_build_shape_default();
  ball.type = SB_SHAPE_SPHERE, ball.body = -1, ball.size[0] = 0.5, ball.X[2] = 1.6;
  sb_builder_add_shape(b, &ball, NULL);
  add_test_cloth(b, rows, rows, h, 2.0, 0.005, true, "cloth");
  sb_collision_settings x = sb_collision_default_settings();
  x.lanes = lanes;
  x.near_pair_capacity = 64u * (uint32_t)rows * (uint32_t)rows;
  particle_scene s = particle_scene_new(b, 1, &x);
  shape_cloth(&s, which, rows, h);
  double *t = calloc((size_t)repeats, sizeof *t);
  for (int i = 0; t && i < repeats; i++) {
    double start = now();
    particle_scene_step(&s, 1.0f / 60, NULL);
    t[i] = now() - start;
  }
  if (t) qsort(t, (size_t)repeats, sizeof *t, compare_times);
  sb_collision_usage u = sb_collision_get_usage(s.collision);
  printf("%-13s %dx%d lanes %u: %7.3f ms, %7u contacts, %7u near pairs\n", names[which], rows, rows, (unsigned)lanes, t ? 1e3 * t[repeats / 2] : 0.0,
         u.particle_contact_count, u.near_pair_count);
  free(t);
  particle_scene_free(&s);
}

int main(int argc, char **argv)
{
  int repeats = argc > 1 ? atoi(argv[1]) : 21, rows = argc > 2 ? atoi(argv[2]) : 100;
  for (int which = 0; which < CASES; which++)
    for (uint32_t lanes = 1; lanes <= 8; lanes = lanes == 1 ? 4 : 2 * lanes) measure(which, rows, lanes, repeats);
  return 0;
}
