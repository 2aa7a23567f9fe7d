/* Manifolds, greedy colouring in key order, bundles. */
#include "steel_graph.h"

#include <string.h>

static uint32_t record_of(const uint32_t *record, int32_t body, uint32_t nobody)
{
  return body < 0 || record[body] >= ST_LINK ? nobody : record[body];
}

static bool is_link(const uint32_t *record, int32_t body) { return body >= 0 && record[body] == ST_LINK; }

/* Contacts of free bodies; those of articulations are rows of theirs. */
static void find_manifolds(st_graph *g, const sb_contacts *c, const uint32_t *record, const float *masses, uint32_t nobody)
{
  g->manifold_count = 0;
  for (uint32_t i = 0; i < c->count;) {
    uint32_t end = i + 1;
    while (end < c->count && end - i < ST_MAX_POINTS && st_continues(c, i, end)) end++;
    uint32_t a = record_of(record, c->body_a[i], nobody), b = record_of(record, c->body_b[i], nobody);
    bool of_link = is_link(record, c->body_a[i]) || is_link(record, c->body_b[i]);
    if (!of_link && (masses[8 * (size_t)a] > 0.0f || masses[8 * (size_t)b] > 0.0f))
      g->manifolds[g->manifold_count++] = (st_manifold){.body_a = a, .body_b = b, .first = i, .count = end - i};
    i = end;
  }
}

/* Each manifold takes the lowest colour that neither of its moving bodies has. Two manifolds of one colour share no moving
 * body, so their order cannot matter; a manifold's colour depends only on those before it in its own island. */
static void color_manifolds(st_graph *g, const float *masses, uint32_t nobody)
{
  memset(g->used_colors, 0, ((size_t)nobody + 1) * sizeof *g->used_colors);
  for (uint32_t i = 0; i < g->manifold_count; i++) {
    const st_manifold *m = &g->manifolds[i];
    bool moves_a = masses[8 * (size_t)m->body_a] > 0.0f, moves_b = masses[8 * (size_t)m->body_b] > 0.0f;
    uint32_t used = (moves_a ? g->used_colors[m->body_a] : 0u) | (moves_b ? g->used_colors[m->body_b] : 0u);
    uint32_t color = 0;
    while (color < ST_MAX_COLORS && used >> color & 1u) color++;
    g->color[i] = (uint8_t)color;
    if (color == ST_MAX_COLORS) continue;
    if (moves_a) g->used_colors[m->body_a] |= 1u << color;
    if (moves_b) g->used_colors[m->body_b] |= 1u << color;
  }
}

uint64_t st_block_floats(uint64_t contacts, uint32_t lanes)
{
  uint64_t most = ST_SHARED_FLOATS + ST_MAX_POINTS * ST_POINT_FLOATS;
  return contacts * (ST_SHARED_FLOATS + ST_POINT_FLOATS) + (uint64_t)ST_MAX_COLORS * ST_MAX_POINTS * lanes * most + 8 * (contacts + 1);
}

static void add_bundle(st_graph *g, uint32_t points, uint32_t first, uint32_t used, uint32_t lanes)
{
  g->bundles[g->bundle_count++] = (st_bundle){.points = points, .used = used, .first = first, .block = g->block_floats};
  uint64_t floats = (uint64_t)(ST_SHARED_FLOATS + points * ST_POINT_FLOATS) * lanes;
  g->block_floats += (floats + 7) / 8 * 8; /* 32-byte steps keep lane vectors aligned */
}

/* Counting sort by (colour, points), manifolds in key order inside; the serial group stays in key order alone. */
static void make_bundles(st_graph *g)
{
  uint32_t start[ST_MAX_COLORS + 1][ST_MAX_POINTS + 1] = {{0}}, sum = 0;
  for (uint32_t i = 0; i < g->manifold_count; i++) start[g->color[i]][g->color[i] == ST_MAX_COLORS ? 0 : g->manifolds[i].count]++;
  for (uint32_t color = 0; color <= ST_MAX_COLORS; color++)
    for (uint32_t p = 0; p <= ST_MAX_POINTS; p++) {
      uint32_t n = start[color][p];
      start[color][p] = sum;
      sum += n;
    }
  uint32_t at[ST_MAX_COLORS + 1][ST_MAX_POINTS + 1];
  memcpy(at, start, sizeof at);
  for (uint32_t i = 0; i < g->manifold_count; i++)
    g->order[at[g->color[i]][g->color[i] == ST_MAX_COLORS ? 0 : g->manifolds[i].count]++] = i;
  g->bundle_count = 0;
  g->block_floats = 0;
  for (uint32_t color = 0; color < ST_MAX_COLORS; color++) {
    g->color_bundle[color] = g->bundle_count;
    for (uint32_t p = 1; p <= ST_MAX_POINTS; p++)
      for (uint32_t i = start[color][p]; i < at[color][p]; i += g->lanes)
        add_bundle(g, p, i, at[color][p] - i < g->lanes ? at[color][p] - i : g->lanes, g->lanes);
  }
  g->color_bundle[ST_MAX_COLORS] = g->bundle_count;
  for (uint32_t i = start[ST_MAX_COLORS][0]; i < at[ST_MAX_COLORS][0]; i++) add_bundle(g, g->manifolds[g->order[i]].count, i, 1, 1);
  g->color_bundle[ST_MAX_COLORS + 1] = g->bundle_count;
}

void st_graph_build(st_graph *g, const sb_contacts *contacts, const uint32_t *record, const float *masses, uint32_t nobody)
{
  find_manifolds(g, contacts, record, masses, nobody);
  color_manifolds(g, masses, nobody);
  make_bundles(g);
}
