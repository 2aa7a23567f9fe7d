/* Near pairs: greedy colours in the pairs' order, then one colour after another. */
#include "xpbd_near.h"

#include <string.h>

#include "xpbd_near.kernel.h"
#include "xpbd_records.h"

_Static_assert(XP_NEAR_POINTS == SB_NEAR_POINTS && XP_NEAR_FACE == SB_NEAR_FACE, "kinds of near pairs");

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

void xp_near_records(const xp_near *s, uint32_t pair, uint32_t record[4])
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
    xp_near_records(s, i, record);
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

static void solve_pair(xp_near *s, uint32_t i)
{
  const sb_near_pairs *n = s->pairs;
  const xp_particles *p = &s->cloth->particles;
  uint32_t record[4];
  XpPoint x[4];
  xp_near_records(s, i, record);
  for (uint32_t k = 0; k < 4; k++) {
    x[k].x = xp_get3(p->x + 4 * (size_t)record[k]);
    x[k].d = xp_get3(p->d + 4 * (size_t)record[k]);
    x[k].w = p->d[4 * (size_t)record[k] + 3];
  }
  XpNearMove m = xp_near_move((int)n->kind[i], n->side[i], n->thickness[i], n->friction[i], x[0], x[1], x[2], x[3], 0.0f);
  if (m.acts == 0) return;
  const float a[4] = {m.a0, m.a1, m.a2, m.a3};
  for (uint32_t k = 0; k < 4; k++) {
    if (record[k] >= p->count) continue;
    xp_put3(p->d + 4 * (size_t)record[k], v3_add_scaled(x[k].d, m.p, x[k].w * a[k]));
  }
}

#define NEAR_CHUNK 128u

static void run_chunk(void *user, uint32_t chunk)
{
  xp_near *s = user;
  uint32_t first = s->first + chunk * NEAR_CHUNK, end = first + NEAR_CHUNK < s->end ? first + NEAR_CHUNK : s->end;
  for (uint32_t i = first; i < end; i++) solve_pair(s, s->order[i]);
}

void xp_near_solve(xp_near *s)
{
  if (!s->pairs->count) return;
  for (uint32_t c = 0; c < XP_NEAR_COLORS; c++) {
    s->first = s->start[c];
    s->end = s->start[c + 1];
    if (s->first < s->end) s->bind->host->parallel_for(s->bind->host->context, (s->end - s->first + NEAR_CHUNK - 1) / NEAR_CHUNK, run_chunk, s);
  }
  for (uint32_t i = s->start[XP_NEAR_COLORS]; i < s->start[XP_NEAR_COLORS + 1]; i++) solve_pair(s, s->order[i]);
}
