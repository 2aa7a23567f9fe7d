/* Forces written out from the energies of samebit/model.h; fast inertial relaxation (Bitzek et al., Physical Review Letters 2006). */
#include "particle_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_springs(const sb_model *m, const double *x, double *force)
{
  for (uint32_t s = 0; s < m->spring_count; s++) {
    const double *a = x + 3 * m->spring_indices[2 * s], *b = x + 3 * m->spring_indices[2 * s + 1];
    double d[3], length = 0;
    for (int k = 0; k < 3; k++) d[k] = b[k] - a[k], length += d[k] * d[k];
    length = sqrt(length);
    double pull = (double)m->spring_stiffness[s] * (length - (double)m->spring_rest_length[s]) / length;
    for (int k = 0; k < 3; k++) {
      force[3 * m->spring_indices[2 * s] + k] += pull * d[k];
      force[3 * m->spring_indices[2 * s + 1] + k] -= pull * d[k];
    }
  }
}

/* dW/dF = F S with S = 2 ke E + ka tr(E) 1; the force on vertex i is -area times dW/dF b_i. */
static void add_triangles(const sb_model *m, const double *x, double *force)
{
  for (uint32_t t = 0; t < m->tri_count; t++) {
    const int32_t *p = m->tri_indices + 3 * t;
    double pose[2][2], f[3][2], e[2][2], s[2][2];
    for (int k = 0; k < 4; k++) pose[k / 2][k % 2] = (double)m->tri_pose[4 * t + (uint32_t)k];
    for (int k = 0; k < 3; k++)
      for (int c = 0; c < 2; c++) f[k][c] = (x[3 * p[1] + k] - x[3 * p[0] + k]) * pose[0][c] + (x[3 * p[2] + k] - x[3 * p[0] + k]) * pose[1][c];
    for (int a = 0; a < 2; a++)
      for (int b = 0; b < 2; b++) e[a][b] = 0.5 * (f[0][a] * f[0][b] + f[1][a] * f[1][b] + f[2][a] * f[2][b] - (a == b));
    double ke = (double)m->tri_ke[t], ka = (double)m->tri_ka[t], trace = e[0][0] + e[1][1];
    for (int a = 0; a < 2; a++)
      for (int b = 0; b < 2; b++) s[a][b] = 2 * ke * e[a][b] + (a == b ? ka * trace : 0);
    for (int k = 0; k < 3; k++) {
      double stress[2] = {f[k][0] * s[0][0] + f[k][1] * s[1][0], f[k][0] * s[0][1] + f[k][1] * s[1][1]};
      for (int i = 1; i < 3; i++) {
        double pull = -(double)m->tri_area[t] * (stress[0] * pose[i - 1][0] + stress[1] * pose[i - 1][1]);
        force[3 * p[i] + k] += pull;
        force[3 * p[0] + k] -= pull;
      }
    }
  }
}

void reference_particle_forces(const sb_model *m, const double *x, double *force)
{
  for (uint32_t i = 0; i < m->particle_count; i++)
    for (uint32_t k = 0; k < 3; k++) force[3 * i + k] = (double)m->particle_mass[i] * (double)m->gravity[k];
  add_springs(m, x, force);
  add_triangles(m, x, force);
}

int reference_particle_statics(const sb_model *m, double *x, double rest, int steps)
{
  size_t n = 3 * (size_t)m->particle_count;
  double *v = calloc(n, sizeof *v), *f = calloc(n, sizeof *f), dt = 1e-4, start = 0.1, alpha = start;
  int step = 0, downhill = 0;
  for (; v && f && step < steps; step++) {
    reference_particle_forces(m, x, f);
    double largest = 0, power = 0, vv = 0, ff = 0;
    for (size_t i = 0; i < n; i++) {
      if (!((double)m->particle_inv_mass[i / 3] > 0)) f[i] = v[i] = 0;
      largest = fmax(largest, fabs(f[i]));
      power += f[i] * v[i], vv += v[i] * v[i], ff += f[i] * f[i];
    }
    if (largest < rest) break;
    if (power > 0) {
      for (size_t i = 0; i < n; i++) v[i] = (1 - alpha) * v[i] + alpha * f[i] * sqrt(vv / ff);
      if (++downhill > 5) dt = fmin(dt * 1.1, 2e-3), alpha *= 0.99;
    } else {
      memset(v, 0, n * sizeof *v);
      dt *= 0.5, alpha = start, downhill = 0;
    }
    /* unit masses of the mean particle */
    double w = 1 / ((double)m->particle_mass[0] + 1e-12);
    for (size_t i = 0; i < n; i++) v[i] += dt * w * f[i], x[i] += dt * v[i];
  }
  free(v);
  free(f);
  return step;
}
