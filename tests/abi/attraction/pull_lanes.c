/* Loops over particles, SB_LANES at a time. */
#include "pull.h"

#include "pull.kernel.h"

#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)
#define LANED(name) CONCAT(name##_lanes, SB_LANES)

static uint32_t load(const pull_world *w, uint32_t first, uint32_t end, uint32_t p[SB_LANES])
{
  uint32_t used = end - first < SB_LANES ? end - first : SB_LANES;
  for (uint32_t l = 0; l < SB_LANES; l++) p[l] = w->particles[first + (l < used ? l : used - 1)];
  return used;
}

static V3 gather(const float *from, const uint32_t p[SB_LANES])
{
  float x[SB_LANES], y[SB_LANES], z[SB_LANES];
  for (uint32_t l = 0; l < SB_LANES; l++)
    x[l] = from[3 * (size_t)p[l]], y[l] = from[3 * (size_t)p[l] + 1], z[l] = from[3 * (size_t)p[l] + 2];
  return v3(f_load(x), f_load(y), f_load(z));
}

static void scatter(float *to, const uint32_t p[SB_LANES], V3 v, uint32_t used)
{
  float x[SB_LANES], y[SB_LANES], z[SB_LANES];
  f_store(x, v.x);
  f_store(y, v.y);
  f_store(z, v.z);
  for (uint32_t l = 0; l < used; l++)
    to[3 * (size_t)p[l]] = x[l], to[3 * (size_t)p[l] + 1] = y[l], to[3 * (size_t)p[l] + 2] = z[l];
}

void LANED(pull_gather)(const pull_world *w, uint32_t first, uint32_t end)
{
  for (uint32_t i = first; i < end; i += SB_LANES) {
    uint32_t p[SB_LANES], used = load(w, i, end, p);
    V3 x = gather(w->state->particle_q, p), sum = v3_zero();
    for (uint32_t k = 0; k < w->count; k++) {
      const float *y = w->state->particle_q + 3 * (size_t)w->particles[k];
      /* itself: d = 0 gives 0 */
      sum = v3_add(sum, pull_acceleration(x, v3(K(y[0]), K(y[1]), K(y[2])), K(w->strength),
                                          K(w->model->particle_mass[w->particles[k]]), K(w->range2), K(w->soft2)));
    }
    scatter(w->pulled, p, sum, used);
  }
}

void LANED(pull_move)(const pull_world *w, uint32_t first, uint32_t end)
{
  for (uint32_t i = first; i < end; i += SB_LANES) {
    uint32_t p[SB_LANES], used = load(w, i, end, p);
    float free[SB_LANES];
    for (uint32_t l = 0; l < SB_LANES; l++) free[l] = w->model->particle_inv_mass[p[l]];
    M moves = f_load(free) > 0.0f;
    V3 x = gather(w->state->particle_q, p), v = gather(w->state->particle_qd, p);
    V3 v1 = v3_add_scaled(v, gather(w->pulled, p), K(w->dt));
    V3 x1 = v3_add_scaled(x, v1, K(w->dt));
    scatter(w->state->particle_qd, p, v3_sel(moves, v1, v), used);
    scatter(w->state->particle_q, p, v3_sel(moves, x1, x), used);
  }
}
