/* Manifolds, greedy colouring in key order, bundles. */
#include "steel_graph.h"

#include <string.h>

static uint32_t record_of(const uint32_t *record, int32_t body, uint32_t nobody)
{
  return body < 0 || record[body] >= ST_LINK ? nobody : record[body];
}

static bool is_link(const uint32_t *record, int32_t body) { return body >= 0 && record[body] == ST_LINK; }

static bool starts_pair(const sb_contacts *c, uint32_t i) { return i == 0 || !st_same_pair(c, i - 1, i); }

/* A manifold belongs to the chunk of its first contact, counted from where its pair begins. Contacts of articulations are rows of theirs. */
void st_graph_find(st_graph *g, const st_tick *t, uint32_t first, uint32_t end)
{
  const sb_contacts *c = t->contacts;
  st_manifold *to = g->manifolds + first;
  uint32_t found = 0, i = first;
  while (!starts_pair(c, i)) i--;
  while (i < end) {
    uint32_t next = i + 1;
    while (next < c->count && next - i < ST_MAX_POINTS && st_continues(c, i, next)) next++;
    uint32_t a = record_of(t->record, c->body_a[i], t->nobody), b = record_of(t->record, c->body_b[i], t->nobody);
    uint32_t moves = (t->masses[8 * (size_t)a] > 0.0f ? ST_MOVES_A : 0u) | (t->masses[8 * (size_t)b] > 0.0f ? ST_MOVES_B : 0u);
    if (i >= first && moves && !is_link(t->record, c->body_a[i]) && !is_link(t->record, c->body_b[i]))
      to[found++] = (st_manifold){.body_a = a, .body_b = b, .first = i, .count = next - i, .moves = moves};
    i = next;
  }
  g->found[first / ST_FIND_CHUNK] = found;
#ifdef SAMEBIT_MUTANT_ARRIVAL_COLOURS
  g->arrival[__atomic_fetch_add(&g->arrival_count, 1, __ATOMIC_SEQ_CST)] = first / ST_FIND_CHUNK;
#endif
}

/* Each manifold takes the lowest colour that neither of its moving bodies has. Two manifolds of one colour share no moving
 * body, so their order cannot matter; a manifold's colour depends only on those before it in its own island. */
static uint32_t choose_color(st_graph *g, const st_manifold *m)
{
  uint32_t *a = &g->used_colors[m->body_a], *b = &g->used_colors[m->body_b];
  uint32_t used = (m->moves & ST_MOVES_A ? *a : 0u) | (m->moves & ST_MOVES_B ? *b : 0u);
  uint32_t color = 0;
  while (color < ST_MAX_COLORS && used >> color & 1u) color++;
  if (color == ST_MAX_COLORS) return color;
  if (m->moves & ST_MOVES_A) *a |= 1u << color;
  if (m->moves & ST_MOVES_B) *b |= 1u << color;
  return color;
}

/* Colours all manifolds and counts them by colour and number of points; the serial group has no number. */
static void color_manifolds(st_graph *g, uint32_t nobody, uint32_t count[ST_MAX_COLORS + 1][ST_MAX_POINTS + 1])
{
  memset(g->used_colors, 0, ((size_t)nobody + 1) * sizeof *g->used_colors);
#ifdef SAMEBIT_MUTANT_ARRIVAL_COLOURS
  /* The planted fault: who comes first chooses first. */
  for (uint32_t n = 0; n < g->arrival_count; n++) {
    uint32_t chunk = g->arrival[n];
#else
  for (uint32_t chunk = 0; chunk < g->chunk_count; chunk++) {
#endif
    for (uint32_t k = 0; k < g->found[chunk]; k++) {
      uint32_t i = chunk * ST_FIND_CHUNK + k, color = choose_color(g, &g->manifolds[i]);
      g->color[i] = (uint8_t)color;
      count[color][color == ST_MAX_COLORS ? 0 : g->manifolds[i].count]++;
    }
  }
#ifdef SAMEBIT_MUTANT_ARRIVAL_COLOURS
  g->arrival_count = 0;
#endif
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
static void make_bundles(st_graph *g, uint32_t start[ST_MAX_COLORS + 1][ST_MAX_POINTS + 1])
{
  uint32_t sum = 0;
  for (uint32_t color = 0; color <= ST_MAX_COLORS; color++)
    for (uint32_t p = 0; p <= ST_MAX_POINTS; p++) {
      uint32_t n = start[color][p];
      start[color][p] = sum;
      sum += n;
    }
  uint32_t at[ST_MAX_COLORS + 1][ST_MAX_POINTS + 1];
  memcpy(at, start, sizeof at);
  for (uint32_t chunk = 0; chunk < g->chunk_count; chunk++)
    for (uint32_t i = chunk * ST_FIND_CHUNK, last = i + g->found[chunk]; i < last; i++)
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

void st_graph_build(st_graph *g, uint32_t contact_count, uint32_t nobody)
{
  uint32_t start[ST_MAX_COLORS + 1][ST_MAX_POINTS + 1] = {{0}};
  g->chunk_count = (contact_count + ST_FIND_CHUNK - 1) / ST_FIND_CHUNK;
  color_manifolds(g, nobody, start);
  make_bundles(g, start);
}
