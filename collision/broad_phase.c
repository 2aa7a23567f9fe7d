/* Broad phase: world poses and bounding boxes of shapes, then the pairs whose boxes overlap. Knows collision_state.h.
 *
 * The set of pairs is a function of the boxes and the filter alone, and the pairs are sorted in the end. So the choice
 * of sweep axis, cells and order of work, which may depend on every shape of the world, cannot show. */
#include "collision_state.h"

#include "shape_bounds.kernel.h"

#include <string.h>

static X7 load_pose(const float *p) { return x7(v3(p[0], p[1], p[2]), q4(p[3], p[4], p[5], p[6])); }

/* Splits `count` items of given sizes into chunks of at least `least`; fills start[] and returns the number of chunks.
 */
static uint32_t split_chunks(uint32_t count, uint32_t least, const uint32_t *size, uint32_t *start)
{
  uint32_t chunks = 0;
  uint32_t filled = 0;
  start[0] = 0;
  for (uint32_t i = 0; i < count; i++) {
    filled += size[i];
    if (filled >= least || i + 1 == count) {
      start[++chunks] = i + 1;
      filled = 0;
    }
  }
  return chunks;
}

/* Solids and planes of each world. */
static sb_status build_kinds(sb_collision *c)
{
  const sb_model *m = c->model;
  c->solid_start = collision_alloc(c, (size_t)m->world_count + 1, sizeof *c->solid_start);
  c->plane_start = collision_alloc(c, (size_t)m->world_count + 1, sizeof *c->plane_start);
  c->solids = collision_alloc(c, m->shape_count, sizeof *c->solids);
  c->planes = collision_alloc(c, m->shape_count, sizeof *c->planes);
  if (!c->solid_start || !c->plane_start || !c->solids || !c->planes) return SB_E_MEMORY;
  uint32_t solid = 0;
  uint32_t plane = 0;
  for (uint32_t w = 0; w < m->world_count; w++) {
    for (uint32_t s = m->world_shape_start[w]; s < m->world_shape_start[w + 1]; s++) {
      if (m->shape_type[s] == SB_SHAPE_PLANE)
        c->planes[plane++] = s;
      else
        c->solids[solid++] = s;
    }
    c->solid_start[w + 1] = solid;
    c->plane_start[w + 1] = plane;
  }
  return SB_OK;
}

/* Rows of a world: entries that may sweep, then one for each shape (planes, listed pairs). */
static uint32_t world_entry_capacity(const sb_collision *c, uint32_t w)
{
  return COLLISION_ENTRIES_PER_SHAPE * (c->solid_start[w + 1] - c->solid_start[w]);
}

static sb_status build_spans(sb_collision *c)
{
  const sb_model *m = c->model;
  uint32_t spans = 0;
  for (uint32_t w = 0; w < m->world_count; w++) {
    uint32_t rows = world_entry_capacity(c, w) + (m->world_shape_start[w + 1] - m->world_shape_start[w]);
    spans += (rows + COLLISION_ROWS_PER_CHUNK - 1) / COLLISION_ROWS_PER_CHUNK;
  }
  c->spans = collision_alloc(c, spans, sizeof *c->spans);
  c->world_span_start = collision_alloc(c, (size_t)m->world_count + 1, sizeof *c->world_span_start);
  c->span_pairs = collision_alloc(c, spans, sizeof *c->span_pairs);
  c->span_first = collision_alloc(c, spans, sizeof *c->span_first);
  c->span_chunk_start = collision_alloc(c, (size_t)spans + 1, sizeof *c->span_chunk_start);
#ifdef SAMEBIT_MUTANT_UNSORTED_PAIRS
  c->span_arrival = collision_alloc(c, (size_t)spans + 1, sizeof *c->span_arrival);
  if (!c->span_arrival) return SB_E_MEMORY;
#endif
  if (!c->spans || !c->world_span_start || !c->span_pairs || !c->span_first || !c->span_chunk_start) return SB_E_MEMORY;
  for (uint32_t w = 0; w < m->world_count; w++) {
    uint32_t rows = world_entry_capacity(c, w) + (m->world_shape_start[w + 1] - m->world_shape_start[w]);
    for (uint32_t r = 0; r < rows; r += COLLISION_ROWS_PER_CHUNK) {
      collision_span *s = &c->spans[c->span_count];
      s->world = w;
      s->begin = r;
      s->end = rows - r < COLLISION_ROWS_PER_CHUNK ? rows : r + COLLISION_ROWS_PER_CHUNK;
      c->span_pairs[c->span_count++] = s->end - s->begin;
    }
    c->world_span_start[w + 1] = c->span_count;
  }
  c->span_chunk_count = split_chunks(c->span_count, COLLISION_ROWS_PER_CHUNK, c->span_pairs, c->span_chunk_start);
  return SB_OK;
}

sb_status collision_broad_build(sb_collision *c)
{
  const sb_model *m = c->model;
  sb_status status = build_kinds(c);
  if (status == SB_OK) status = build_spans(c);
  if (status != SB_OK) return status;

  c->world_chunk_start = collision_alloc(c, (size_t)m->world_count + 1, sizeof *c->world_chunk_start);
  c->entry_count = collision_alloc(c, m->world_count, sizeof *c->entry_count);
  c->world_pair_start = collision_alloc(c, (size_t)m->world_count + 1, sizeof *c->world_pair_start);
  c->shape_q = collision_alloc(c, m->shape_count, 7 * sizeof *c->shape_q);
  c->boxes = collision_alloc(c, m->shape_count, sizeof *c->boxes);
  c->shape_step = collision_alloc(c, (size_t)m->shape_count * 3, sizeof *c->shape_step);
  c->shape_swing = collision_alloc(c, m->shape_count, sizeof *c->shape_swing);
  size_t entries = (size_t)COLLISION_ENTRIES_PER_SHAPE * c->solid_start[m->world_count];
  c->items[0] = collision_alloc(c, entries, sizeof *c->items[0]);
  c->items[1] = collision_alloc(c, entries, sizeof *c->items[1]);
  c->entries = collision_alloc(c, entries, sizeof *c->entries);
  c->shape_count_a = collision_alloc(c, (size_t)m->shape_count + m->world_count, sizeof *c->shape_count_a);
  c->pairs = collision_alloc(c, c->settings.pair_capacity, sizeof *c->pairs);
  c->pairs_unsorted = collision_alloc(c, c->settings.pair_capacity, sizeof *c->pairs_unsorted);
  c->pairs_sorting = collision_alloc(c, c->settings.pair_capacity, sizeof *c->pairs_sorting);
  if (!c->world_chunk_start || !c->entry_count || !c->world_pair_start || !c->shape_q || !c->boxes || !c->shape_step || !c->shape_swing || !c->items[0] ||
      !c->items[1] || !c->entries || !c->shape_count_a || !c->pairs || !c->pairs_unsorted || !c->pairs_sorting)
    return SB_E_MEMORY;
  for (uint32_t w = 0; w < m->world_count; w++)
    c->entry_count[w] = m->world_shape_start[w + 1] - m->world_shape_start[w] + 1;
  c->world_chunk_count = split_chunks(m->world_count, COLLISION_SHAPES_PER_CHUNK, c->entry_count, c->world_chunk_start);
  return SB_OK;
}

static V3 load_v3(const float *p) { return v3(p[0], p[1], p[2]); }

_Static_assert(SB_SHAPE_TYPE_COUNT == 9, "give the new shape its half extents");
_Static_assert(SB_SHAPE_SPHERE == BOUNDS_SPHERE && SB_SHAPE_CAPSULE == BOUNDS_CAPSULE && SB_SHAPE_CYLINDER == BOUNDS_CYLINDER &&
                   SB_SHAPE_ELLIPSOID == BOUNDS_ELLIPSOID,
               "types of shape_bounds.kernel.h");

/* How the shape moves within this step. */
static ShapeStep find_step(const sb_collision *c, uint32_t shape, V3 centre, V3 half)
{
  const sb_model *m = c->model;
  int32_t body = m->shape_body[shape];
  if (!c->body_qd || body < 0 || (m->body_flags[body] & SB_BODY_STATIC)) return bounds_rest();
  const float *qd = c->body_qd + 6 * (size_t)body;
  BoundsBody b = {load_pose(c->body_q + 7 * (size_t)body), load_v3(m->body_com + 3 * (size_t)body), load_v3(qd), load_v3(qd + 3)};
  return bounds_step(b, centre, half, c->dt);
}

static void pose_chunk(void *ctx, uint32_t chunk)
{
  sb_collision *c = ctx;
  const sb_model *m = c->model;
  uint32_t begin = chunk * COLLISION_SHAPES_PER_CHUNK;
  uint32_t end =
      begin + COLLISION_SHAPES_PER_CHUNK < m->shape_count ? begin + COLLISION_SHAPES_PER_CHUNK : m->shape_count;
  for (uint32_t s = begin; s < end; s++) {
    X7 x = load_pose(m->shape_X + 7 * (size_t)s);
    if (m->shape_body[s] >= 0) x = x7_mul(load_pose(c->body_q + 7 * (size_t)m->shape_body[s]), x);
    float *q = c->shape_q + 7 * (size_t)s;
    q[0] = x.p.x;
    q[1] = x.p.y;
    q[2] = x.p.z;
    q[3] = x.q.x;
    q[4] = x.q.y;
    q[5] = x.q.z;
    q[6] = x.q.w;
    if (m->shape_type[s] == SB_SHAPE_PLANE) continue;
    V3 e = bounds_half(m->shape_type[s], load_v3(m->shape_size + 3 * (size_t)s), x.q);
    ShapeStep step = find_step(c, s, x.p, e);
    float *move = c->shape_step + 3 * (size_t)s;
    move[0] = step.move.x;
    move[1] = step.move.y;
    move[2] = step.move.z;
    c->shape_swing[s] = step.swing;
    float grow = bounds_grow(m->shape_margin[s], c->settings.speculative_margin, step.reach);
    collision_box *b = &c->boxes[s];
    b->lo[0] = x.p.x - (e.x + grow);
    b->lo[1] = x.p.y - (e.y + grow);
    b->lo[2] = x.p.z - (e.z + grow);
    b->hi[0] = x.p.x + (e.x + grow);
    b->hi[1] = x.p.y + (e.y + grow);
    b->hi[2] = x.p.z + (e.z + grow);
  }
}

/* --- sweep: cells and sorted entries of one world ----------------------------------------------------------------- */

/* How a world is cut: axis[0] is swept, axis[1] and axis[2] are cut into cells. */
typedef struct sweep_grid {
  uint32_t axis[3];
  uint32_t cells[2];
  float origin[2];
  float inv_width[2];
} sweep_grid;

/* Cell of coordinate x; the first and last cells reach to infinity, and NaN goes to the first. */
static uint32_t grid_cell(const sweep_grid *g, int k, float x)
{
  float t = (x - g->origin[k]) * g->inv_width[k];
  if (!(t >= 1.0f)) return 0;
  if (t >= (float)(g->cells[k] - 1)) return g->cells[k] - 1;
  return (uint32_t)t;
}

/* Sweeps along the axis with the largest spread; cells of the other two are about two mean shapes wide. */
static void choose_grid(const sb_collision *c, uint32_t w, sweep_grid *g)
{
  uint32_t begin = c->solid_start[w];
  uint32_t n = c->solid_start[w + 1] - begin;
  float scale = 1.0f / (float)n;
  float mean[3] = {0}, extent[3] = {0}, spread[3] = {0};
  for (uint32_t i = 0; i < n; i++) {
    const collision_box *b = &c->boxes[c->solids[begin + i]];
    for (int k = 0; k < 3; k++) {
      mean[k] += (b->lo[k] * 0.5f + b->hi[k] * 0.5f) * scale;
      extent[k] += (b->hi[k] - b->lo[k]) * scale;
    }
  }
  for (uint32_t i = 0; i < n; i++) {
    const collision_box *b = &c->boxes[c->solids[begin + i]];
    for (int k = 0; k < 3; k++) {
      float d = (b->lo[k] * 0.5f + b->hi[k] * 0.5f) - mean[k];
      spread[k] += d * d * scale;
    }
  }
  uint32_t a = spread[1] > spread[0] ? 1 : 0;
  a = spread[2] > spread[a] ? 2 : a;
  g->axis[0] = a;
  g->axis[1] = (a + 1) % 3;
  g->axis[2] = (a + 2) % 3;
  for (int k = 0; k < 2; k++) {
    uint32_t ax = g->axis[k + 1];
    float width = 2.0f * extent[ax];
    float range = 4.0f * f_sqrt(spread[ax]);
    float cells = range / (width > 1.0e-6f ? width : 1.0e-6f);
    g->cells[k] = cells >= (float)COLLISION_MAX_CELLS ? COLLISION_MAX_CELLS : cells >= 2.0f ? (uint32_t)cells : 1;
    g->origin[k] = mean[ax] - 0.5f * range;
    g->inv_width[k] = g->cells[k] > 1 ? (float)g->cells[k] / range : 0.0f;
  }
}

/* Order of floats as unsigned integers. */
static uint32_t float_key(float x)
{
  uint32_t u = f_bits(x);
  return u & 0x80000000u ? ~u : u | 0x80000000u;
}

/* Fills items with one entry for each cell that a shape touches; returns how many there are, or COLLISION_NONE when
 * there are more than `capacity`. */
static uint32_t fill_items(const sb_collision *c, uint32_t w, const sweep_grid *g, collision_sort_item *items,
                           uint32_t capacity)
{
  uint32_t count = 0;
  for (uint32_t i = c->solid_start[w]; i < c->solid_start[w + 1]; i++) {
    uint32_t s = c->solids[i];
    const collision_box *b = &c->boxes[s];
    uint32_t y0 = grid_cell(g, 0, b->lo[g->axis[1]]), y1 = grid_cell(g, 0, b->hi[g->axis[1]]);
    uint32_t z0 = grid_cell(g, 1, b->lo[g->axis[2]]), z1 = grid_cell(g, 1, b->hi[g->axis[2]]);
    for (uint32_t y = y0; y <= y1; y++)
      for (uint32_t z = z0; z <= z1; z++) {
        if (count == capacity) return COLLISION_NONE;
        items[count].key = float_key(b->lo[g->axis[0]]);
        items[count].cell = (y << 6 | z) | y0 << 16 | z0 << 24;
        items[count].shape = s;
        count++;
      }
  }
  return count;
}

/* One stable pass of a radix sort. Bits from `shift` of the cell, or of the key. */
static void radix_pass(const collision_sort_item *from, collision_sort_item *to, uint32_t n, bool by_cell,
                       uint32_t shift)
{
  uint32_t start[4097] = {0};
  const uint32_t mask = 4095;
  for (uint32_t i = 0; i < n; i++) start[(((by_cell ? from[i].cell : from[i].key) >> shift) & mask) + 1]++;
  for (uint32_t b = 0; b < 4096; b++) start[b + 1] += start[b];
  for (uint32_t i = 0; i < n; i++) to[start[((by_cell ? from[i].cell : from[i].key) >> shift) & mask]++] = from[i];
}

static bool item_before(const collision_sort_item *a, const collision_sort_item *b)
{
  uint32_t ca = a->cell & 4095, cb = b->cell & 4095;
  return ca != cb ? ca < cb : a->key < b->key;
}

/* Sorts by (cell, key); stable. The result is in items[0]. */
static void sort_items(collision_sort_item *items, collision_sort_item *scratch, uint32_t n, bool cells)
{
  if (n <= 128) {
    for (uint32_t i = 1; i < n; i++) {
      collision_sort_item x = items[i];
      uint32_t at = i;
      for (; at > 0 && item_before(&x, &items[at - 1]); at--) items[at] = items[at - 1];
      items[at] = x;
    }
    return;
  }
  radix_pass(items, scratch, n, false, 0);
  radix_pass(scratch, items, n, false, 12);
  radix_pass(items, scratch, n, false, 24);
  if (cells)
    radix_pass(scratch, items, n, true, 0);
  else
    memcpy(items, scratch, n * sizeof *items);
}

static bool world_sweeps(const sb_collision *c, uint32_t w)
{
  return c->settings.broad_phase == SB_BROAD_SAP && c->solid_start[w + 1] - c->solid_start[w] > COLLISION_SMALL_WORLD;
}

static void sort_world(sb_collision *c, uint32_t w)
{
  uint32_t solids = c->solid_start[w + 1] - c->solid_start[w];
  size_t base = (size_t)COLLISION_ENTRIES_PER_SHAPE * c->solid_start[w];
  collision_entry *entries = c->entries + base;
  sweep_grid g = {{0, 1, 2}, {1, 1}, {0, 0}, {0, 0}};
  c->entry_count[w] = solids;
  if (!world_sweeps(c, w)) {
    for (uint32_t i = 0; i < solids; i++) {
      uint32_t s = c->solids[c->solid_start[w] + i];
      entries[i].box = c->boxes[s];
      entries[i].shape = s;
      entries[i].cell = 0;
    }
    return;
  }
  /* Larger cells until the entries fit; with one cell they do. */
  collision_sort_item *items = c->items[0] + base;
  choose_grid(c, w, &g);
  uint32_t n = fill_items(c, w, &g, items, COLLISION_ENTRIES_PER_SHAPE * solids);
  while (n == COLLISION_NONE) {
    for (int k = 0; k < 2; k++) {
      float shrink = g.cells[k] > 1 ? (float)(g.cells[k] / 2) / (float)g.cells[k] : 0.0f;
      g.cells[k] = g.cells[k] > 1 ? g.cells[k] / 2 : 1;
      g.inv_width[k] *= shrink;
    }
    n = fill_items(c, w, &g, items, COLLISION_ENTRIES_PER_SHAPE * solids);
  }
  sort_items(items, c->items[1] + base, n, g.cells[0] > 1 || g.cells[1] > 1);
  for (uint32_t i = 0; i < n; i++) {
    const collision_box *b = &c->boxes[items[i].shape];
    for (int k = 0; k < 3; k++) {
      entries[i].box.lo[k] = b->lo[g.axis[k]];
      entries[i].box.hi[k] = b->hi[g.axis[k]];
    }
    entries[i].shape = items[i].shape;
    entries[i].cell = items[i].cell;
  }
  c->entry_count[w] = n;
}

static void sort_chunk(void *ctx, uint32_t chunk)
{
  sb_collision *c = ctx;
  for (uint32_t w = c->world_chunk_start[chunk]; w < c->world_chunk_start[chunk + 1]; w++) sort_world(c, w);
}

/* --- pairs ---------------------------------------------------------------------------------------------------------
 */

/* Where a span's pairs go. Counts beyond the end without writing. */
typedef struct pair_sink {
  collision_pair *to;
  uint32_t room;
  uint32_t count;
} pair_sink;

static void sink_put(pair_sink *k, uint32_t a, uint32_t b, uint32_t list)
{
  if (k->count < k->room) {
    collision_pair *p = &k->to[k->count];
    p->a = a < b ? a : b;
    p->b = a < b ? b : a;
    p->list = list;
  }
  k->count++;
}

/* Row of the sweep: entry i against those after it in its cell that begin before it ends. Shapes that share several
 * cells meet in the one that is the first for both. */
static void sweep_row(const sb_collision *c, const collision_entry *e, uint32_t i, uint32_t n, pair_sink *sink)
{
  const collision_entry x = e[i];
  uint32_t cell = x.cell & 4095;
  for (uint32_t j = i + 1; j < n && (e[j].cell & 4095) == cell && e[j].box.lo[0] <= x.box.hi[0]; j++) {
    const collision_box *b = &e[j].box;
    if (!((b->lo[1] <= x.box.hi[1]) & (x.box.lo[1] <= b->hi[1]) & (b->lo[2] <= x.box.hi[2]) &
          (x.box.lo[2] <= b->hi[2]) & (x.box.lo[0] <= b->hi[0])))
      continue;
    uint32_t y0 = x.cell >> 16 & 255, y1 = e[j].cell >> 16 & 255;
    uint32_t z0 = x.cell >> 24, z1 = e[j].cell >> 24;
    if (((y0 > y1 ? y0 : y1) << 6 | (z0 > z1 ? z0 : z1)) != cell) continue;
    if (collision_may_collide(c, x.shape, e[j].shape)) sink_put(sink, x.shape, e[j].shape, COLLISION_NONE);
  }
}

static void all_pairs_row(const sb_collision *c, const collision_entry *e, uint32_t i, uint32_t n, pair_sink *sink)
{
  const collision_box *a = &e[i].box;
  for (uint32_t j = i + 1; j < n; j++) {
    const collision_box *b = &e[j].box;
    if ((b->lo[0] <= a->hi[0]) & (a->lo[0] <= b->hi[0]) & (b->lo[1] <= a->hi[1]) & (a->lo[1] <= b->hi[1]) &
        (b->lo[2] <= a->hi[2]) & (a->lo[2] <= b->hi[2]))
      if (collision_may_collide(c, e[i].shape, e[j].shape)) sink_put(sink, e[i].shape, e[j].shape, COLLISION_NONE);
  }
}

/* Planes and surfaces do not meet each other. */
static bool is_endless(const sb_model *m, uint32_t s) { return m->shape_type[s] == SB_SHAPE_PLANE || collision_is_surface(m, s); }

/* Row of a shape: planes that its box reaches, and the listed pairs of which it is the lower shape. */
static void shape_row(const sb_collision *c, uint32_t w, uint32_t s, pair_sink *sink)
{
  const sb_model *m = c->model;
  if (m->shape_type[s] != SB_SHAPE_PLANE && !collision_is_surface(m, s)) {
    for (uint32_t i = c->plane_start[w]; i < c->plane_start[w + 1]; i++) {
      uint32_t plane = c->planes[i];
      if (c->shape_fixed[plane] && c->shape_fixed[s]) continue;
      const collision_box *b = &c->boxes[s];
      float grow = m->shape_margin[plane] + 0.5f * c->settings.speculative_margin;
      if (bounds_reach_plane(load_v3(b->lo), load_v3(b->hi), load_pose(c->shape_q + 7 * (size_t)plane), grow) && collision_may_collide(c, plane, s))
        sink_put(sink, plane, s, COLLISION_NONE);
    }
  }
  for (uint32_t i = c->listed_start[s]; i < c->listed_start[s + 1]; i++) {
    uint32_t list = c->listed[i];
    if (i > c->listed_start[s] && m->pair_shape[2 * list + 1] == m->pair_shape[2 * c->listed[i - 1] + 1]) continue;
    uint32_t other = (uint32_t)m->pair_shape[2 * list + 1];
    if (c->shape_fixed[s] && c->shape_fixed[other]) continue;
    if (is_endless(m, s) && is_endless(m, other)) continue;
    sink_put(sink, s, other, list);
  }
}

static void span_pairs(const sb_collision *c, const collision_span *span, pair_sink *sink)
{
  uint32_t w = span->world;
  const collision_entry *e = c->entries + (size_t)COLLISION_ENTRIES_PER_SHAPE * c->solid_start[w];
  uint32_t sweep_rows = world_entry_capacity(c, w);
  uint32_t n = c->entry_count[w];
  bool sweeps = world_sweeps(c, w);
  for (uint32_t r = span->begin; r < span->end; r++) {
    if (r >= sweep_rows)
      shape_row(c, w, c->model->world_shape_start[w] + (r - sweep_rows), sink);
    else if (r >= n)
      r = (span->end < sweep_rows ? span->end : sweep_rows) - 1;
    else if (sweeps)
      sweep_row(c, e, r, n, sink);
    else
      all_pairs_row(c, e, r, n, sink);
  }
}

static void pairs_chunk(void *ctx, uint32_t chunk)
{
  sb_collision *c = ctx;
  for (uint32_t s = c->span_chunk_start[chunk]; s < c->span_chunk_start[chunk + 1]; s++) {
    pair_sink sink = {c->pairs_unsorted + c->span_first[s], c->span_pairs[s], 0};
    span_pairs(c, &c->spans[s], &sink);
    c->span_pairs[s] = sink.count;
#ifdef SAMEBIT_MUTANT_UNSORTED_PAIRS
    c->span_arrival[__atomic_fetch_add(&c->span_arrival_count, 1, __ATOMIC_SEQ_CST)] = s;
#endif
  }
}

/* One pass in order where there is one thread. */
static uint64_t find_pairs_in_order(sb_collision *c)
{
  uint64_t total = 0;
  uint32_t capacity = c->settings.pair_capacity;
  for (uint32_t s = 0; s < c->span_count; s++) {
    uint32_t first = total < capacity ? (uint32_t)total : capacity;
    pair_sink sink = {c->pairs_unsorted + first, capacity - first, 0};
    span_pairs(c, &c->spans[s], &sink);
    c->span_pairs[s] = sink.count;
    c->span_first[s] = first;
#ifdef SAMEBIT_MUTANT_UNSORTED_PAIRS
    c->span_arrival[c->span_arrival_count++] = s;
#endif
    total += sink.count;
  }
  return total;
}

/* In tasks, each span first gets an equal share of the room. Where that is too small for one, the counts say what each needs, and a second
 * pass fills. */
static uint64_t find_pairs_in_tasks(sb_collision *c)
{
  uint64_t total = 0;
  uint32_t room = c->span_count ? c->settings.pair_capacity / c->span_count : 0;
  bool fits = true;
  for (uint32_t s = 0; s < c->span_count; s++) c->span_first[s] = s * room, c->span_pairs[s] = room;
  collision_run(c, c->span_chunk_count, pairs_chunk);
  for (uint32_t s = 0; s < c->span_count; s++) fits = fits && c->span_pairs[s] <= room, total += c->span_pairs[s];
  if (fits || total > c->settings.pair_capacity) return total;
  total = 0;
  for (uint32_t s = 0; s < c->span_count; s++) c->span_first[s] = (uint32_t)total, total += c->span_pairs[s];
#ifdef SAMEBIT_MUTANT_UNSORTED_PAIRS
  c->span_arrival_count = 0;
#endif
  collision_run(c, c->span_chunk_count, pairs_chunk);
  return total;
}

#ifdef SAMEBIT_MUTANT_UNSORTED_PAIRS
/* The planted fault: pairs in the order in which tasks found them. */
static void sort_pairs(sb_collision *c, uint32_t w, uint32_t first, uint32_t end)
{
  collision_pair *to = c->pairs + c->world_pair_start[w];
  for (uint32_t k = 0; k < c->span_arrival_count; k++) {
    uint32_t s = c->span_arrival[k];
    for (uint32_t i = 0; s >= first && s < end && i < c->span_pairs[s]; i++) *to++ = c->pairs_unsorted[c->span_first[s] + i];
  }
}
#else
/* Sorts a world's pairs, which lie in its spans first to end - 1, by (a, b): two stable counting passes. A pair is unique, so this is the only
 * order. */
static void sort_pairs(sb_collision *c, uint32_t w, uint32_t first, uint32_t end)
{
  uint32_t n = c->world_pair_start[w + 1] - c->world_pair_start[w];
  uint32_t shape0 = c->model->world_shape_start[w];
  uint32_t shapes = c->model->world_shape_start[w + 1] - shape0;
  collision_pair *half = c->pairs_sorting + c->world_pair_start[w], *to = c->pairs + c->world_pair_start[w];
  if (n <= 32) {
    uint32_t count = 0;
    for (uint32_t s = first; s < end; s++)
      for (uint32_t i = 0; i < c->span_pairs[s]; i++) {
        collision_pair p = c->pairs_unsorted[c->span_first[s] + i];
        uint32_t at = count++;
        for (; at > 0 && (p.a < to[at - 1].a || (p.a == to[at - 1].a && p.b < to[at - 1].b)); at--) to[at] = to[at - 1];
        to[at] = p;
      }
    return;
  }
  uint32_t *start = c->shape_count_a + shape0 + w; /* shapes + 1 */
  memset(start, 0, (shapes + 1) * sizeof *start);
  for (uint32_t s = first; s < end; s++)
    for (uint32_t i = 0; i < c->span_pairs[s]; i++) start[c->pairs_unsorted[c->span_first[s] + i].b - shape0 + 1]++;
  for (uint32_t s = 0; s < shapes; s++) start[s + 1] += start[s];
  for (uint32_t s = first; s < end; s++)
    for (uint32_t i = 0; i < c->span_pairs[s]; i++) {
      const collision_pair *p = &c->pairs_unsorted[c->span_first[s] + i];
      half[start[p->b - shape0]++] = *p;
    }
  memset(start, 0, (shapes + 1) * sizeof *start);
  for (uint32_t i = 0; i < n; i++) start[half[i].a - shape0 + 1]++;
  for (uint32_t s = 0; s < shapes; s++) start[s + 1] += start[s];
  for (uint32_t i = 0; i < n; i++) to[start[half[i].a - shape0]++] = half[i];
}
#endif

static void sort_pairs_chunk(void *ctx, uint32_t chunk)
{
  sb_collision *c = ctx;
  for (uint32_t w = c->world_chunk_start[chunk]; w < c->world_chunk_start[chunk + 1]; w++) sort_pairs(c, w, c->world_span_start[w], c->world_span_start[w + 1]);
}

sb_status collision_broad_step(sb_collision *c)
{
  const sb_model *m = c->model;
  collision_run(c, (m->shape_count + COLLISION_SHAPES_PER_CHUNK - 1) / COLLISION_SHAPES_PER_CHUNK, pose_chunk);
  collision_run(c, c->world_chunk_count, sort_chunk);
#ifdef SAMEBIT_MUTANT_UNSORTED_PAIRS
  c->span_arrival_count = 0;
#endif
  uint64_t total = c->tasks ? find_pairs_in_tasks(c) : find_pairs_in_order(c);
  c->usage.pair_count = total < UINT32_MAX ? (uint32_t)total : UINT32_MAX;
  if (c->usage.pair_count > c->usage.pair_peak) c->usage.pair_peak = c->usage.pair_count;
  if (total > c->settings.pair_capacity) return SB_E_CAPACITY;
  c->pair_count = (uint32_t)total;
  for (uint32_t w = 0, sum = 0; w < m->world_count; w++) {
    for (uint32_t s = c->world_span_start[w]; s < c->world_span_start[w + 1]; s++) sum += c->span_pairs[s];
    c->world_pair_start[w + 1] = sum;
  }
  collision_run(c, c->world_chunk_count, sort_pairs_chunk);
  return SB_OK;
}
