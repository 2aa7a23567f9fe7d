/* Near pairs: greedy colours in the pairs' order, then one colour after another. */
#include "xpbd_near.h"

#include <string.h>

#include "xpbd_contact.kernel.h"
#include "xpbd_records.h"

sb_status xp_near_bind(xp_near *s, const sb_bind *bind, const xp_cloth *cloth)
{
  const sb_host *host = bind->host;
  uint64_t pairs = (uint64_t)bind->near_pair_capacity + 1;
  *s = (xp_near){.bind = bind, .cloth = cloth};
  s->order = host->alloc(host->context, pairs * sizeof *s->order);
  s->color = host->alloc(host->context, pairs);
  s->used = host->alloc(host->context, ((uint64_t)bind->particle_count + 1) * sizeof *s->used);
  return s->order && s->color && s->used ? SB_OK : SB_E_MEMORY;
}

/* Records of a pair's particles, `nobody` where there is none. */
static void records_of(const xp_near *s, uint32_t pair, uint32_t record[4])
{
  for (uint32_t k = 0; k < 4; k++) {
    int32_t p = s->pairs->particles[4 * (size_t)pair + k];
    record[k] = p < 0 ? s->cloth->particles.count : s->cloth->local[p];
  }
}

void xp_near_begin(xp_near *s, const sb_step *step)
{
  uint32_t nobody = s->cloth->particles.count, record[4], at[XP_NEAR_COLORS + 1];
  s->pairs = step->near_pairs;
  memset(s->start, 0, sizeof s->start);
  if (!s->pairs->count) return;
  memset(s->used, 0, ((size_t)nobody + 1) * sizeof *s->used);
  for (uint32_t i = 0; i < s->pairs->count; i++) {
    uint64_t taken = 0;
    uint32_t color = 0;
    records_of(s, i, record);
    for (uint32_t k = 0; k < 4; k++)
      if (record[k] < nobody) taken |= s->used[record[k]];
    while (color < XP_NEAR_COLORS && taken >> color & 1u) color++;
    for (uint32_t k = 0; k < 4; k++)
      if (record[k] < nobody && color < XP_NEAR_COLORS) s->used[record[k]] |= 1ull << color;
    s->color[i] = (uint8_t)color;
    s->start[color + 1]++;
  }
  for (uint32_t k = 0; k <= XP_NEAR_COLORS; k++) {
    at[k] = s->start[k];
    s->start[k + 1] += s->start[k];
  }
  for (uint32_t i = 0; i < s->pairs->count; i++) s->order[at[s->color[i]]++] = i;
}

/* Closest points where the substep began. */
static NearPair closest(const V3 x[4], uint32_t kind, float side)
{
  if (kind == SB_NEAR_POINTS) return pair_points(x[0], x[1]);
  return kind == SB_NEAR_FACE ? pair_face(x[0], x[1], x[2], x[3], side) : pair_edges(x[0], x[1], x[2], x[3], side);
}

static bool is_zero(V3 a) { return a.x == 0.0f && a.y == 0.0f && a.z == 0.0f; }

static void solve_pair(xp_near *s, uint32_t i)
{
  const sb_near_pairs *n = s->pairs;
  const xp_particles *p = &s->cloth->particles;
  uint32_t record[4];
  V3 x[4], m[4];
  F w[4];
  records_of(s, i, record);
  for (uint32_t k = 0; k < 4; k++) {
    m[k] = xp_get3(p->d + 4 * (size_t)record[k]);
    x[k] = xp_get3(p->x + 4 * (size_t)record[k]);
    w[k] = p->d[4 * (size_t)record[k] + 3];
  }
  NearPair f = closest(x, n->kind[i], n->side[i]);
  const F a[4] = {f.a0, f.a1, f.a2, f.a3};
  V3 d = v3_add(v3_add(v3_scale(m[0], a[0]), v3_scale(m[1], a[1])), v3_add(v3_scale(m[2], a[2]), v3_scale(m[3], a[3])));
  F answer = ((w[0] * a[0]) * a[0] + (w[1] * a[1]) * a[1]) + ((w[2] * a[2]) * a[2] + (w[3] * a[3]) * a[3]);
  XpApart r = xp_apart(f, d, answer, n->thickness[i], n->friction[i]);
  bool shift = s->iteration == 0 && !is_zero(r.shift);
  if (is_zero(r.p) && !shift) return;
  for (uint32_t k = 0; k < 4; k++) {
    if (record[k] >= p->count) continue;
    xp_put3(p->d + 4 * (size_t)record[k], v3_add_scaled(m[k], r.p, w[k] * a[k]));
    if (shift) xp_put3(p->x + 4 * (size_t)record[k], v3_add_scaled(x[k], r.shift, w[k] * a[k]));
  }
}

#define NEAR_CHUNK 128u

static void run_chunk(void *user, uint32_t chunk)
{
  xp_near *s = user;
  uint32_t first = s->first + chunk * NEAR_CHUNK, end = first + NEAR_CHUNK < s->end ? first + NEAR_CHUNK : s->end;
  for (uint32_t i = first; i < end; i++) solve_pair(s, s->order[i]);
}

void xp_near_solve(xp_near *s, uint32_t iteration)
{
  if (!s->pairs->count) return;
  s->iteration = iteration;
  for (uint32_t c = 0; c < XP_NEAR_COLORS; c++) {
    s->first = s->start[c];
    s->end = s->start[c + 1];
    if (s->first < s->end) s->bind->host->parallel_for(s->bind->host->context, (s->end - s->first + NEAR_CHUNK - 1) / NEAR_CHUNK, run_chunk, s);
  }
  for (uint32_t i = s->start[XP_NEAR_COLORS]; i < s->start[XP_NEAR_COLORS + 1]; i++) solve_pair(s, s->order[i]);
}
