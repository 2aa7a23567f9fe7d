/* Shares, lists and sums. */
#include "xpbd_jacobi.h"

#include <stddef.h>

#include "xpbd_schedule.h"

static void *take(const sb_bind *bind, uint64_t bytes) { return bind->host->alloc(bind->host->context, bytes ? bytes : 4); }

/* Adds each element of a kind to the numbers of its particles. */
static void count_elements(const xp_cloth *c, uint32_t kind, uint32_t *count)
{
  for (uint32_t b = 0; b < c->graph.bundle_count[kind]; b++) {
    const uint32_t *p = xp_bundle_particles(c, kind, b);
    for (uint32_t i = 0; i < xp_arity[kind] * XP_WIDTH; i++)
      if (p[i] != c->particles.count) count[p[i]]++;
  }
}

static void fill_shares(const xp_jacobi *j, const xp_cloth *c, uint32_t kind, const uint32_t *count)
{
  for (uint32_t b = 0; b < c->graph.bundle_count[kind]; b++) {
    const uint32_t *p = xp_bundle_particles(c, kind, b);
    for (uint32_t l = 0; l < XP_WIDTH; l++) {
      uint32_t most = 1;
      for (uint32_t k = 0; k < xp_arity[kind]; k++) {
        uint32_t at = p[k * XP_WIDTH + l];
        if (at != c->particles.count && count[at] > most) most = count[at];
      }
      j->share[kind][(size_t)b * XP_WIDTH + l] = 1.0f / (float)most;
    }
  }
}

/* A counting sort by particle; bundles keep their order. first has two entries more while it fills. */
static void fill_entries(const xp_jacobi *j, const xp_cloth *c, uint32_t kind)
{
  uint32_t n = c->particles.count, *first = j->first[kind];
  count_elements(c, kind, first + 2);
  for (uint32_t i = 0; i < n; i++) first[i + 2] += first[i + 1];
  for (uint32_t b = 0; b < c->graph.bundle_count[kind]; b++) {
    const uint32_t *p = xp_bundle_particles(c, kind, b);
    for (uint32_t i = 0; i < xp_arity[kind] * XP_WIDTH; i++)
      if (p[i] != n)
        j->entry[kind][first[p[i] + 1]++] = j->base[kind] + ((uint64_t)b * xp_arity[kind] + i / XP_WIDTH) * 3 * XP_WIDTH + i % XP_WIDTH;
  }
}

sb_status xp_jacobi_bind(xp_jacobi *j, const sb_bind *bind, const xp_cloth *c)
{
  uint32_t n = c->particles.count;
  uint32_t *airs = take(bind, ((uint64_t)n + 3) * 4), *others = take(bind, ((uint64_t)n + 3) * 4);
  uint64_t floats = 0;
  if (!airs || !others) return SB_E_MEMORY;
  for (uint32_t kind = 0; kind < XP_KINDS; kind++) {
    uint64_t places = (uint64_t)c->graph.bundle_count[kind] * XP_WIDTH;
    j->base[kind] = floats;
    floats += places * xp_arity[kind] * 3;
    j->share[kind] = take(bind, places * 4);
    j->first[kind] = take(bind, ((uint64_t)n + 3) * 4);
    j->entry[kind] = take(bind, places * xp_arity[kind] * 8);
    if (!j->share[kind] || !j->first[kind] || !j->entry[kind]) return SB_E_MEMORY;
    count_elements(c, kind, kind == XP_AIR ? airs : others);
  }
  j->slots = take(bind, floats * 4);
  if (!j->slots) return SB_E_MEMORY;
  for (uint32_t kind = 0; kind < XP_KINDS; kind++) {
    fill_shares(j, c, kind, kind == XP_AIR ? airs : others);
    fill_entries(j, c, kind);
  }
  return SB_OK;
}

void xp_jacobi_gather(const xp_jacobi *j, const xp_particles *p, uint32_t kinds, uint32_t first, uint32_t end)
{
  for (uint32_t i = first; i < end; i++) {
    float *d = p->d + 4 * (size_t)i, sum[3] = {0.0f, 0.0f, 0.0f};
    for (uint32_t kind = 0; kind < XP_KINDS; kind++)
      for (uint32_t e = j->first[kind][i]; kinds >> kind & 1u && e < j->first[kind][i + 1]; e++)
        for (uint32_t k = 0; k < 3; k++) sum[k] += j->slots[j->entry[kind][e] + k * XP_WIDTH];
    for (uint32_t k = 0; k < 3; k++) d[k] += sum[k];
  }
}
