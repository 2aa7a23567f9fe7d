/* Levels: one pass over all bundles in the CPU's order, then a counting sort. */
#include "xpbd_schedule.h"

#include <stdlib.h>
#include <string.h>

const uint32_t xp_arity[XP_KINDS] = {[XP_AIR] = 3, [XP_SPRING] = 2, [XP_TRI] = 3, [XP_EDGE] = 4, [XP_TET] = 4};

const uint32_t *xp_bundle_particles(const xp_cloth *c, uint32_t kind, uint32_t bundle)
{
  switch (kind) {
  case XP_AIR: return c->airs[bundle].p[0];
  case XP_SPRING: return c->springs[bundle].p[0];
  case XP_TRI: return c->tris[bundle].p[0];
  case XP_EDGE: return c->edges[bundle].p[0];
  default: return c->tets[bundle].p[0];
  }
}

/* Levels count from 1; last: of the last bundle at each particle, 0 for none. */
static uint32_t find_level(const xp_cloth *c, uint32_t kind, uint32_t bundle, uint32_t *last)
{
  const uint32_t *p = xp_bundle_particles(c, kind, bundle), n = xp_arity[kind] * XP_WIDTH, nobody = c->particles.count;
  uint32_t level = 0;
  for (uint32_t i = 0; i < n; i++)
    if (p[i] != nobody && last[p[i]] > level) level = last[p[i]];
  level++;
  for (uint32_t i = 0; i < n; i++)
    if (p[i] != nobody) last[p[i]] = level;
  return level;
}

static bool find_levels(xp_schedule *s, const xp_cloth *c, uint32_t *level[XP_KINDS], uint32_t *last)
{
  const xp_graph *g = &c->graph;
  for (uint32_t i = 0; i < g->group_count; i++)
    for (uint32_t kind = 0; kind < XP_KINDS; kind++)
      for (uint32_t b = g->groups[i].first[kind]; b < g->groups[i].end[kind]; b++) {
        level[kind][b] = find_level(c, kind, b, last);
        if (level[kind][b] > s->level_count) s->level_count = level[kind][b];
      }
  s->levels = calloc((size_t)s->level_count + 1, sizeof *s->levels);
  return s->levels != NULL;
}

static bool place_kind(xp_schedule *s, const xp_graph *g, uint32_t kind, const uint32_t *level)
{
  uint32_t at = 0, *next = malloc(((size_t)s->level_count + 1) * sizeof *next);
  if (!next) return false;
  for (uint32_t b = 0; b < g->bundle_count[kind]; b++) s->levels[level[b] - 1].count[kind]++;
  for (uint32_t l = 0; l < s->level_count; l++) {
    s->levels[l].first[kind] = next[l] = at;
    at += (s->levels[l].count[kind] + XP_LEVEL_ALIGN - 1) / XP_LEVEL_ALIGN * XP_LEVEL_ALIGN;
  }
  s->places[kind] = at;
  s->order[kind] = malloc(((size_t)at + 1) * sizeof **s->order);
  for (uint32_t i = 0; s->order[kind] && i < at; i++) s->order[kind][i] = XP_NONE;
  for (uint32_t b = 0; s->order[kind] && b < g->bundle_count[kind]; b++) s->order[kind][next[level[b] - 1]++] = b;
  free(next);
  return s->order[kind] != NULL;
}

bool xp_schedule_make(xp_schedule *s, const xp_cloth *c)
{
  uint32_t *level[XP_KINDS] = {NULL}, *last = calloc((size_t)c->particles.count + 1, sizeof *last);
  bool ok = last != NULL;
  *s = (xp_schedule){0};
  for (uint32_t kind = 0; ok && kind < XP_KINDS; kind++) {
    level[kind] = malloc(((size_t)c->graph.bundle_count[kind] + 1) * sizeof **level);
    ok = level[kind] != NULL;
  }
  ok = ok && find_levels(s, c, level, last);
  for (uint32_t kind = 0; ok && kind < XP_KINDS; kind++) ok = place_kind(s, &c->graph, kind, level[kind]);
  for (uint32_t kind = 0; kind < XP_KINDS; kind++) free(level[kind]);
  free(last);
  return ok;
}

void xp_schedule_drop(xp_schedule *s)
{
  free(s->levels);
  for (uint32_t kind = 0; kind < XP_KINDS; kind++) free(s->order[kind]);
  *s = (xp_schedule){0};
}
