/* Parts, groups, phases, colours, bundles. */
#include "xpbd_graph.h"

#include <stdlib.h>
#include <string.h>

#define MAX_PHASES 64u
#define MAX_COLORS 64u

/* Parts that a group touches, the largest first, XP_NONE where there is none. Sorting by it puts what comes later in the model later. */
typedef struct group_key {
  uint32_t part[XP_MAX_PARTICLES];
  uint32_t group; /* provisional: in order of appearance */
  uint32_t phase;
} group_key;

typedef struct maker {
  xp_graph *g;
  const sb_bind *bind;
  const uint32_t *local;
  const xp_elements *elements;
  uint32_t *part_of;   /* of each record */
  uint32_t part_count;
  group_key *keys;     /* groups of several parts */
  uint32_t key_count, key_capacity;
  uint32_t *slots, slot_mask; /* hash table over keys: index + 1 */
  uint32_t *group_of[XP_KINDS]; /* of each chosen element; parts first, then keys */
} maker;

static uint32_t particle_of(const maker *k, const xp_elements *e, uint32_t element, uint32_t corner)
{
  int32_t p = e->indices[(size_t)element * e->arity + corner];
  return p < 0 ? XP_NONE : k->local[p];
}

/* ---- parts ---- */

/* Names the part of a model particle: the start of what it is counted from, and its place there in units of a part. A large deformable has parts of its own, larger
 * ones, so that more of its elements lie inside them. */
static void name_part(const sb_model *m, uint32_t world, uint32_t p, uint32_t name[2])
{
  uint32_t d = (uint32_t)m->particle_deformable[p], first = (uint32_t)m->deformable_first_particle[d];
  bool large = m->deformable_particles[d] >= XP_LARGE;
  uint32_t from = large ? first : m->world_particle_start[world];
  name[0] = from * 2u + large;
  name[1] = (p - from) / (large ? XP_LARGE_PART : XP_PART);
}

static bool make_parts(maker *k)
{
  const sb_model *m = k->bind->model;
  uint32_t n = k->bind->particle_count, world = 0, last[2] = {XP_NONE, XP_NONE};
  k->part_of = malloc(((size_t)n + 1) * sizeof *k->part_of);
  if (!k->part_of) return false;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t p = k->bind->particles[i], name[2];
    while (p >= m->world_particle_start[world + 1]) world++;
    name_part(m, world, p, name);
    if (memcmp(name, last, sizeof name)) k->part_count++;
    memcpy(last, name, sizeof last);
    k->part_of[i] = k->part_count - 1;
  }
  return true;
}

/* ---- groups ---- */

static uint32_t hash_parts(const uint32_t part[XP_MAX_PARTICLES])
{
  uint32_t h = 2166136261u;
  for (uint32_t i = 0; i < XP_MAX_PARTICLES; i++) h = (h ^ part[i]) * 16777619u ^ h >> 15;
  return h;
}

static bool grow_keys(maker *k)
{
  uint32_t capacity = k->key_capacity ? 2 * k->key_capacity : 256;
  group_key *keys = realloc(k->keys, capacity * sizeof *keys);
  if (!keys) return false;
  k->keys = keys;
  k->key_capacity = capacity;
  free(k->slots);
  k->slots = calloc((size_t)capacity * 2, sizeof *k->slots);
  if (!k->slots) return false;
  k->slot_mask = 2 * capacity - 1;
  for (uint32_t i = 0; i < k->key_count; i++) {
    uint32_t at = hash_parts(keys[i].part) & k->slot_mask;
    while (k->slots[at]) at = (at + 1) & k->slot_mask;
    k->slots[at] = i + 1;
  }
  return true;
}

/* The number of the group with these parts, a new one when there is none; XP_NONE when memory ran out. */
static uint32_t find_key(maker *k, const uint32_t part[XP_MAX_PARTICLES])
{
  if (k->key_count == k->key_capacity && !grow_keys(k)) return XP_NONE;
  uint32_t at = hash_parts(part) & k->slot_mask;
  for (; k->slots[at]; at = (at + 1) & k->slot_mask)
    if (!memcmp(k->keys[k->slots[at] - 1].part, part, sizeof k->keys->part)) return k->slots[at] - 1;
  group_key *key = &k->keys[k->key_count];
  memcpy(key->part, part, sizeof key->part);
  key->group = k->key_count;
  k->slots[at] = ++k->key_count;
  return k->key_count - 1;
}

/* Distinct parts of an element, descending; their number. */
static uint32_t parts_of(const maker *k, const xp_elements *e, uint32_t element, uint32_t part[XP_MAX_PARTICLES])
{
  uint32_t n = 0;
  for (uint32_t c = 0; c < e->arity; c++) {
    uint32_t p = particle_of(k, e, element, c), at = 0;
    if (p == XP_NONE) continue;
    uint32_t cell = k->part_of[p];
    while (at < n && part[at] > cell) at++;
    if (at < n && part[at] == cell) continue;
    for (uint32_t i = n; i > at; i--) part[i] = part[i - 1];
    part[at] = cell;
    n++;
  }
  for (uint32_t i = n; i < XP_MAX_PARTICLES; i++) part[i] = XP_NONE;
  return n;
}

static bool group_elements(maker *k)
{
  for (uint32_t kind = 0; kind < XP_KINDS; kind++) {
    const xp_elements *e = &k->elements[kind];
    k->group_of[kind] = malloc(((size_t)e->count + 1) * sizeof *k->group_of[kind]);
    if (!k->group_of[kind]) return false;
    for (uint32_t i = 0; i < e->count; i++) {
      uint32_t part[XP_MAX_PARTICLES], key;
      if (parts_of(k, e, e->chosen[i], part) == 1) {
        k->group_of[kind][i] = part[0];
        continue;
      }
      key = find_key(k, part);
      if (key == XP_NONE) return false;
      k->group_of[kind][i] = k->part_count + key;
    }
  }
  return true;
}

/* ---- phases ---- */

static int compare_parts(const void *a, const void *b)
{
  const group_key *x = a, *y = b;
  for (uint32_t i = 0; i < XP_MAX_PARTICLES; i++) {
    /* no part sorts first */
    uint32_t p = x->part[i] + 1u, q = y->part[i] + 1u;
    if (p != q) return p < q ? -1 : 1;
  }
  return 0;
}

static int compare_phases(const void *a, const void *b)
{
  const group_key *x = a, *y = b;
  if (x->phase != y->phase) return x->phase < y->phase ? -1 : 1;
  return compare_parts(a, b);
}

/* The lowest phase from 1 on that none of the group's parts has; beyond MAX_PHASES each group has a phase of its own. */
static bool choose_phases(maker *k)
{
  uint64_t *used = calloc((size_t)k->part_count + 1, sizeof *used);
  uint32_t extra = MAX_PHASES + 1;
  if (!used) return false;
  if (k->key_count) qsort(k->keys, k->key_count, sizeof *k->keys, compare_parts);
  for (uint32_t i = 0; i < k->key_count; i++) {
    group_key *key = &k->keys[i];
    uint64_t taken = 0;
    uint32_t phase = 0;
    for (uint32_t c = 0; c < XP_MAX_PARTICLES && key->part[c] != XP_NONE; c++) taken |= used[key->part[c]];
    while (phase < MAX_PHASES && taken >> phase & 1u) phase++;
    key->phase = phase < MAX_PHASES ? phase + 1 : extra++;
    for (uint32_t c = 0; c < XP_MAX_PARTICLES && phase < MAX_PHASES && key->part[c] != XP_NONE; c++) used[key->part[c]] |= 1ull << phase;
  }
  free(used);
  if (k->key_count) qsort(k->keys, k->key_count, sizeof *k->keys, compare_phases);
  return true;
}

static bool make_groups(maker *k)
{
  xp_graph *g = k->g;
  const sb_host *host = k->bind->host;
  if (!choose_phases(k)) return false;
  g->group_count = k->part_count + k->key_count;
  uint32_t phases = 1;
  for (uint32_t i = 0; i < k->key_count; i++)
    if (i == 0 || k->keys[i].phase != k->keys[i - 1].phase) phases++;
  g->phase_count = phases;
  g->groups = host->alloc(host->context, ((uint64_t)g->group_count + 1) * sizeof *g->groups);
  g->phase_group = host->alloc(host->context, ((uint64_t)phases + 1) * sizeof *g->phase_group);
  uint32_t *final = malloc(((size_t)k->key_count + 1) * sizeof *final);
  if (!g->groups || !g->phase_group || !final) {
    free(final);
    return false;
  }
  uint32_t phase = 0;
  for (uint32_t i = 0; i < k->key_count; i++) {
    if (i == 0 || k->keys[i].phase != k->keys[i - 1].phase) g->phase_group[++phase] = k->part_count + i;
    final[k->keys[i].group] = k->part_count + i;
  }
  g->phase_group[phases] = g->group_count;
  for (uint32_t kind = 0; kind < XP_KINDS; kind++)
    for (uint32_t i = 0; i < k->elements[kind].count; i++)
      if (k->group_of[kind][i] >= k->part_count) k->group_of[kind][i] = final[k->group_of[kind][i] - k->part_count];
  free(final);
  for (uint32_t i = 0; i < k->bind->particle_count; i++) {
    xp_group *own = &g->groups[k->part_of[i]];
    if (i == 0 || k->part_of[i] != k->part_of[i - 1]) {
      own->first_particle = i;
      own->world = (uint32_t)k->bind->model->deformable_world[k->bind->model->particle_deformable[k->bind->particles[i]]];
    }
    own->end_particle = i + 1;
  }
  return true;
}

/* ---- colours and bundles ---- */

typedef struct colouring {
  uint64_t *used;        /* colours at each record */
  uint8_t *color;        /* of each element of the group */
  uint64_t *sort;        /* first particle and place */
  uint32_t *sorted;      /* elements of the kind by group */
} colouring;

static int compare_places(const void *a, const void *b)
{
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static void clear_used(const maker *k, const xp_elements *e, const uint32_t *list, uint32_t count, uint64_t *used)
{
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t c = 0; c < e->arity; c++) {
      uint32_t p = particle_of(k, e, e->chosen[list[i]], c);
      if (p != XP_NONE) used[p] = 0;
    }
}

static uint32_t choose_color(const maker *k, const xp_elements *e, uint32_t element, uint64_t *used)
{
  uint64_t taken = 0;
  uint32_t color = 0, p[XP_MAX_PARTICLES];
  for (uint32_t c = 0; c < e->arity; c++) {
    p[c] = particle_of(k, e, element, c);
    if (p[c] != XP_NONE) taken |= used[p[c]];
  }
  while (color < MAX_COLORS - 1 && taken >> color & 1u) color++;
  for (uint32_t c = 0; c < e->arity && color < MAX_COLORS - 1; c++)
    if (p[c] != XP_NONE) used[p[c]] |= 1ull << color;
  return color;
}

/* Appends the elements of one colour, or all of the last colour, which are independent of nothing: one for each bundle. */
static void add_bundles(uint32_t *order, uint32_t *bundles, const uint64_t *sort, const uint32_t *list, const uint32_t *chosen, uint32_t count, bool alone)
{
  for (uint32_t i = 0; i < count;) {
    uint32_t n = alone ? 1 : count - i < XP_WIDTH ? count - i : XP_WIDTH, *to = order + (size_t)*bundles * XP_WIDTH;
    for (uint32_t l = 0; l < XP_WIDTH; l++) to[l] = l < n ? chosen[list[(uint32_t)sort[i + l]]] : XP_NONE;
    (*bundles)++;
    i += n;
  }
}

/* Room for `more` bundles after those that there are. */
static bool reserve(xp_graph *g, uint32_t kind, uint64_t *capacity, uint64_t bundles)
{
  if (bundles <= *capacity) return true;
  *capacity = bundles + bundles / 2;
  uint32_t *order = realloc(g->order[kind], *capacity * XP_WIDTH * sizeof *order);
  if (order) g->order[kind] = order;
  return order != NULL;
}

static bool bundle_group(const maker *k, uint32_t kind, const uint32_t *list, uint32_t count, colouring *c, uint64_t *capacity, uint32_t *bundles)
{
  const xp_elements *e = &k->elements[kind];
  uint32_t start[MAX_COLORS + 1] = {0}, at[MAX_COLORS];
  clear_used(k, e, list, count, c->used);
  for (uint32_t i = 0; i < count; i++) {
    c->color[i] = (uint8_t)choose_color(k, e, e->chosen[list[i]], c->used);
    start[c->color[i] + 1]++;
  }
  uint64_t wanted = *bundles + start[MAX_COLORS];
  for (uint32_t color = 0; color < MAX_COLORS; color++) {
    wanted += (start[color + 1] + XP_WIDTH - 1) / XP_WIDTH;
    start[color + 1] += start[color];
    at[color] = start[color];
  }
  if (!reserve(k->g, kind, capacity, wanted)) return false;
  for (uint32_t i = 0; i < count; i++)
    c->sort[at[c->color[i]]++] = (uint64_t)particle_of(k, e, e->chosen[list[i]], 0) << 32 | i;
  for (uint32_t color = 0; color < MAX_COLORS; color++) {
    uint64_t *first = c->sort + start[color];
    uint32_t n = start[color + 1] - start[color];
    bool sorted = true;
    for (uint32_t i = 1; i < n && sorted; i++) sorted = first[i - 1] < first[i];
    if (!sorted) qsort(first, n, sizeof *first, compare_places);
    add_bundles(k->g->order[kind], bundles, first, list, e->chosen, n, color == MAX_COLORS - 1);
  }
  return true;
}

static bool make_bundles(maker *k, uint32_t kind)
{
  xp_graph *g = k->g;
  const xp_elements *e = &k->elements[kind];
  uint32_t groups = g->group_count, bundles = 0, largest = 0;
  uint64_t capacity = 0;
  uint32_t *start = calloc((size_t)groups + 2, sizeof *start);
  colouring c = {.used = malloc(((size_t)k->bind->particle_count + 1) * sizeof *c.used), .sorted = malloc(((size_t)e->count + 1) * sizeof *c.sorted)};
  bool ok = start && c.used && c.sorted;
  if (ok) {
    for (uint32_t i = 0; i < e->count; i++) start[k->group_of[kind][i] + 2]++;
    for (uint32_t i = 0; i < groups; i++) {
      if (start[i + 2] > largest) largest = start[i + 2];
      start[i + 2] += start[i + 1];
    }
    for (uint32_t i = 0; i < e->count; i++) c.sorted[start[k->group_of[kind][i] + 1]++] = i;
    c.color = malloc((size_t)largest + 1);
    c.sort = malloc(((size_t)largest + 1) * sizeof *c.sort);
    ok = c.color && c.sort && reserve(g, kind, &capacity, ((uint64_t)e->count + XP_WIDTH) / XP_WIDTH);
  }
  for (uint32_t i = 0; ok && i < groups; i++) {
    g->groups[i].first[kind] = bundles;
    ok = bundle_group(k, kind, c.sorted + start[i], start[i + 1] - start[i], &c, &capacity, &bundles);
    g->groups[i].end[kind] = bundles;
  }
  g->bundle_count[kind] = bundles;
  free(start);
  free(c.used);
  free(c.sorted);
  free(c.color);
  free(c.sort);
  return ok;
}

bool xp_graph_make(xp_graph *graph, const sb_bind *bind, const uint32_t *local, const xp_elements elements[XP_KINDS])
{
  maker k = {.g = graph, .bind = bind, .local = local, .elements = elements};
  bool ok = make_parts(&k) && group_elements(&k) && make_groups(&k);
  for (uint32_t kind = 0; ok && kind < XP_KINDS; kind++) {
    ok = make_bundles(&k, kind);
    free(k.group_of[kind]);
    k.group_of[kind] = NULL;
  }
  for (uint32_t kind = 0; kind < XP_KINDS; kind++) free(k.group_of[kind]);
  free(k.part_of);
  free(k.keys);
  free(k.slots);
  return ok;
}

void xp_graph_drop(xp_graph *graph)
{
  for (uint32_t kind = 0; kind < XP_KINDS; kind++) {
    free(graph->order[kind]);
    graph->order[kind] = NULL;
  }
}
