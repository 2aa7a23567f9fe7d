/* Articulations of steel: which bodies they have, their lasting constraints, the contacts of a tick, and the order of phases. */
#include "steel_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef SAMEBIT_MUTANT_TIMING_BRANCH
#include <time.h>
#endif

#include "samebit/maths.h"
#include "samebit/solver_tools.h"

/* ---- which bodies ---- */

uint32_t st_forest_find(const sb_bind *bind, uint32_t *tree_bodies)
{
  const sb_model *m = bind->model;
  uint32_t n = m->body_count, found = 0;
  uint32_t *root = malloc(((size_t)n + 1) * sizeof *root);
  uint8_t *joined = calloc((size_t)n + 1, 1); /* of roots: the articulation has a dof that is not a lone body's, or an equality constraint */
  if (!root || !joined) {
    free(root);
    free(joined);
    return ST_NONE;
  }
  for (uint32_t i = 0; i < bind->body_count; i++) {
    uint32_t b = bind->bodies[i];
    root[b] = m->joint_parent[b] < 0 ? b : root[m->joint_parent[b]];
    bool moves = !(m->body_flags[b] & SB_BODY_STATIC);
    if (moves && (root[b] != b || m->joint_type[b] != SB_JOINT_FREE)) joined[root[b]] = 1;
  }
  for (uint32_t e = 0; e < m->equality_count; e++)
    for (uint32_t k = 0; k < 2; k++) {
      int32_t b = m->equality_body[2 * (size_t)e + k];
      if (sb_owns_body(bind, b) && !(m->body_flags[b] & SB_BODY_STATIC)) joined[root[b]] = 1;
    }
  for (uint32_t i = 0; i < bind->body_count; i++)
    if (joined[root[bind->bodies[i]]]) tree_bodies[found++] = bind->bodies[i];
  free(root);
  free(joined);
  return found;
}

/* ---- sides ---- */

static st_side side_of_body(const st_forest *f, const uint32_t *record, uint32_t nobody, int32_t body)
{
  st_side s = {.bundle = 0, .link = ST_NONE, .lane = 0, .record = nobody, .body = body};
  if (body < 0) return s;
  const ab_body_place *p = &f->articulations.place[body];
  if (p->bundle == UINT32_MAX) {
    if (record[body] != ST_NOBODY) s.record = record[body];
  } else if (!(f->bind->model->body_flags[body] & SB_BODY_STATIC)) {
    s.bundle = p->bundle;
    s.link = p->link;
    s.lane = p->lane;
  }
  return s;
}

/* The link that carries a dof; its body's last link carries the last one. */
static st_side side_of_dof(const st_forest *f, uint32_t nobody, int32_t dof)
{
  if (dof < 0) return (st_side){.link = ST_NONE, .record = nobody, .body = -1};
  const sb_model *m = f->bind->model;
  int32_t body = m->dof_body[dof];
  st_side s = side_of_body(f, NULL, nobody, body);
  uint32_t axis = (uint32_t)dof - (uint32_t)m->joint_qd_start[body];
  s.link -= m->joint_dof_count[body] - 1 - axis;
  return s;
}

static bool is_link(const st_side *s) { return s->link != ST_NONE; }
static bool same_articulation(const st_side *a, const st_side *b) { return a->bundle == b->bundle && a->lane == b->lane; }

/* Both sides move, and not as one articulation. masses: NULL when no record has a mass yet to look at. */
static bool is_coupled(const st_side *a, const st_side *b, const float *masses)
{
  bool moves_a = is_link(a) || (masses && masses[8 * (size_t)a->record] > 0.0f);
  bool moves_b = is_link(b) || (masses && masses[8 * (size_t)b->record] > 0.0f);
  return moves_a && moves_b && !(is_link(a) && is_link(b) && same_articulation(a, b));
}

/* ---- lasting constraints ---- */

static uint32_t rows_of_kind(uint8_t kind) { return kind == ST_WELD ? 6 : kind == ST_CONNECT ? 3 : 1; }

static uint32_t floats_of_kind(uint8_t kind)
{
  return kind == ST_TENDON ? ST_ROW_TENDON_FLOATS : kind == ST_DOF ? ST_ROW_DOF_FLOATS : ST_ROW_EQUALITY_FLOATS;
}

static void *take(const st_forest *f, uint64_t bytes) { return f->bind->host->alloc(f->bind->host->context, bytes); }

static bool take_rows(const st_forest *f, st_constraint *c, uint32_t lanes)
{
  c->data = take(f, (uint64_t)floats_of_kind(c->kind) * lanes * sizeof(float));
  for (uint32_t h = 0; h < c->halves; h++) {
    c->half[h].rows = take(f, (uint64_t)rows_of_kind(c->kind) * 2 * c->half[h].dofs * lanes * sizeof(float));
    if (!c->half[h].rows) return false;
  }
  return c->data != NULL;
}

/* A constraint of a bundle in which no lane takes part yet. */
static st_constraint empty_constraint(const st_tree *tree, uint8_t kind, uint32_t nobody)
{
  st_constraint c = {.kind = kind, .halves = 1, .half = {{.v = tree->v, .dofs = tree->dofs}}};
  for (uint32_t l = 0; l < 8; l++) {
    c.item[l] = ST_NONE;
    c.a[l] = c.b[l] = (st_side){.link = ST_NONE, .record = nobody, .body = -1};
  }
  return c;
}

/* Finds a constraint of this kind after the lane's last one that the lane can still join, or adds one: the order of each lane's constraints is
 * its own, whoever is beside it. */
static void join_lane(st_tree *tree, uint8_t kind, uint32_t item, const st_side *a, const st_side *b, uint32_t *after, uint32_t nobody)
{
  uint32_t lane = is_link(a) ? a->lane : b->lane, i = after[lane];
  while (i < tree->fixed_count && (tree->fixed[i].kind != kind || tree->fixed[i].item[lane] != ST_NONE)) i++;
  st_constraint *c = &tree->fixed[i];
  if (i == tree->fixed_count) {
    *c = empty_constraint(tree, kind, nobody);
    tree->fixed_count++;
  }
  c->item[lane] = item;
  c->a[lane] = *a;
  c->b[lane] = *b;
  after[lane] = i + 1;
}

static void equality_sides(const st_forest *f, const uint32_t *record, uint32_t nobody, uint32_t e, st_side *a, st_side *b)
{
  const sb_model *m = f->bind->model;
  bool joint = m->equality_type[e] == SB_EQUALITY_JOINT;
  *a = joint ? side_of_dof(f, nobody, m->equality_dof[2 * (size_t)e]) : side_of_body(f, record, nobody, m->equality_body[2 * (size_t)e]);
  *b = joint ? side_of_dof(f, nobody, m->equality_dof[2 * (size_t)e + 1]) : side_of_body(f, record, nobody, m->equality_body[2 * (size_t)e + 1]);
}

static uint8_t equality_kind(uint32_t type) { return type == SB_EQUALITY_WELD ? ST_WELD : type == SB_EQUALITY_JOINT ? ST_JOINT_EQUALITY : ST_CONNECT; }

/* The articulation that a tendon runs over; a link of it. False when it runs over several. */
static bool tendon_side(const st_forest *f, uint32_t nobody, uint32_t tendon, st_side *side)
{
  const sb_model *m = f->bind->model;
  for (uint32_t k = 0; k < m->tendon_terms[tendon]; k++) {
    st_side s = side_of_dof(f, nobody, m->tendon_term_dof[(uint32_t)m->tendon_first_term[tendon] + k]);
    if (k && !same_articulation(&s, side)) return false;
    *side = s;
  }
  return true;
}

static bool owns_dof(const st_forest *f, int32_t dof) { return sb_owns_body(f->bind, f->bind->model->dof_body[dof]); }

static sb_status count_fixed(st_forest *f, const uint32_t *record, uint32_t nobody, uint32_t *per_bundle, char *error, uint32_t error_size)
{
  const sb_model *m = f->bind->model;
  for (uint32_t e = 0; e < m->equality_count; e++) {
    st_side a, b;
    if (!sb_owns_body(f->bind, m->equality_body[2 * (size_t)e]) && !sb_owns_body(f->bind, m->equality_body[2 * (size_t)e + 1])) continue;
    equality_sides(f, record, nobody, e, &a, &b);
    if (is_coupled(&a, &b, NULL)) f->fixed_coupled_count++;
    else if (is_link(&a) || is_link(&b)) per_bundle[is_link(&a) ? a.bundle : b.bundle]++;
  }
  for (uint32_t t = 0; t < m->tendon_count; t++) {
    st_side s;
    if (!sb_tendon_acts(m, (int32_t)t) || !owns_dof(f, m->tendon_term_dof[m->tendon_first_term[t]])) continue;
    if (!tendon_side(f, nobody, t, &s)) {
      snprintf(error, error_size, "tendon %u runs over joints of several articulations, and has a limit, spring, damping or friction; steel "
                                  "wants them in one", t);
      return SB_E_UNSUPPORTED;
    }
    per_bundle[s.bundle]++;
  }
  return SB_OK;
}

static bool may_have_row(const sb_model *m, uint32_t dof)
{
  return m->joint_friction[dof] > 0.0f || m->joint_velocity_limit[dof] < SB_NO_LIMIT || m->joint_limit_lower[dof] > -SB_NO_LIMIT || m->joint_limit_upper[dof] < SB_NO_LIMIT;
}

/* Room for the rows of dofs: as many as any lane may have. */
static bool make_dof_rows(st_forest *f, st_tree *tree, uint32_t nobody)
{
  uint32_t lanes = f->bind->lanes;
  for (uint32_t l = 0; l < tree->bundle->used; l++) {
    uint32_t count = 0;
    for (uint32_t k = 0; k < tree->bundle->link_count; k++) {
      uint8_t kind = tree->bundle->links[k].kind;
      count += (kind == AB_ANGULAR || kind == AB_LINEAR) && may_have_row(f->bind->model, tree->bundle->dof[(size_t)k * lanes + l]);
    }
    if (count > tree->dof_capacity) tree->dof_capacity = count;
  }
  tree->dof_rows = take(f, ((uint64_t)tree->dof_capacity + 1) * sizeof *tree->dof_rows);
  bool ok = tree->dof_rows != NULL;
  for (uint32_t i = 0; ok && i < tree->dof_capacity; i++) {
    tree->dof_rows[i] = empty_constraint(tree, ST_DOF, nobody);
    ok = take_rows(f, &tree->dof_rows[i], lanes);
  }
  return ok;
}

/* Equalities, then tendons; a tick's dofs and contacts come after them. */
static bool make_fixed(st_forest *f, const uint32_t *record, uint32_t nobody)
{
  const sb_model *m = f->bind->model;
  uint32_t n = f->articulations.bundle_count, lanes = f->bind->lanes;
  uint32_t (*after)[8] = calloc((size_t)n + 1, sizeof *after);
  f->fixed_coupled = take(f, ((uint64_t)f->fixed_coupled_count + 1) * sizeof *f->fixed_coupled);
  bool ok = after && f->fixed_coupled;
  f->fixed_coupled_count = 0;
  for (uint32_t e = 0; ok && e < m->equality_count; e++) {
    st_side a, b;
    uint8_t kind = equality_kind(m->equality_type[e]);
    if (!sb_owns_body(f->bind, m->equality_body[2 * (size_t)e]) && !sb_owns_body(f->bind, m->equality_body[2 * (size_t)e + 1])) continue;
    equality_sides(f, record, nobody, e, &a, &b);
    if (is_coupled(&a, &b, NULL)) {
      st_constraint *c = &f->fixed_coupled[f->fixed_coupled_count++];
      *c = (st_constraint){.kind = kind, .halves = 2, .item = {e}, .a = {a}, .b = {b},
                           .half = {{.v = f->half_v[0], .dofs = f->trees[a.bundle].dofs}, {.v = f->half_v[1], .dofs = f->trees[b.bundle].dofs}}};
      ok = take_rows(f, c, 1);
    } else if (is_link(&a) || is_link(&b)) {
      uint32_t bundle = is_link(&a) ? a.bundle : b.bundle;
      join_lane(&f->trees[bundle], kind, e, &a, &b, after[bundle], nobody);
    }
  }
  for (uint32_t t = 0; ok && t < m->tendon_count; t++) {
    st_side s, none = {.link = ST_NONE, .record = nobody, .body = -1};
    if (!sb_tendon_acts(m, (int32_t)t) || !owns_dof(f, m->tendon_term_dof[m->tendon_first_term[t]])) continue;
    tendon_side(f, nobody, t, &s);
    join_lane(&f->trees[s.bundle], ST_TENDON, t, &s, &none, after[s.bundle], nobody);
  }
  for (uint32_t i = 0; ok && i < n; i++) {
    st_tree *tree = &f->trees[i];
    for (uint32_t k = 0; ok && k < tree->fixed_count; k++) ok = take_rows(f, &tree->fixed[k], lanes);
    ok = ok && make_dof_rows(f, tree, nobody);
  }
  free(after);
  return ok;
}

/* ---- binding ---- */

static uint32_t padded(uint32_t dofs) { return (dofs + 3u) / 4u * 4u; }

static bool make_trees(st_forest *f, uint32_t *most_dofs)
{
  uint32_t n = f->articulations.bundle_count, lanes = f->bind->lanes;
  f->trees = take(f, ((uint64_t)n + 1) * sizeof *f->trees);
  f->dof_slot = take(f, ((uint64_t)f->bind->model->dof_count + 1) * sizeof *f->dof_slot);
  if (!f->trees || !f->dof_slot) return false;
  *most_dofs = 8; /* a free body's, padded */
  for (uint32_t i = 0; i < n; i++) {
    st_tree *t = &f->trees[i];
    const ab_bundle *b = &f->articulations.bundles[i];
    t->bundle = b;
    t->work = b->work;
    t->dofs = padded(b->dof_count);
    if (t->dofs > *most_dofs) *most_dofs = t->dofs;
    uint64_t floats = (uint64_t)t->dofs * lanes;
    t->v = take(f, floats * sizeof(float));
    t->v_start = take(f, floats * sizeof(float));
    t->row = take(f, 2 * floats * sizeof(float));
    t->touched = take(f, b->link_count + 1);
    t->scratch = take(f, (uint64_t)b->link_count * ST_SCRATCH_FLOATS * lanes * sizeof(float));
    if (!t->v || !t->v_start || !t->row || !t->scratch || !t->touched) return false;
    for (uint32_t k = 0; k < b->link_count; k++)
      for (uint32_t l = 0; l < b->used; l++)
        if (b->links[k].kind == AB_ANGULAR || b->links[k].kind == AB_LINEAR) f->dof_slot[b->dof[(size_t)k * lanes + l]] = b->links[k].slot;
  }
  return true;
}

static uint32_t contact_rows(const st_forest *f, uint32_t points) { return points + (f->rolls ? 5u : 3u); }
static uint64_t contact_floats(uint32_t points) { return ST_ROW_CONTACT_FLOATS + (uint64_t)points * ST_ROW_POINT_FLOATS; }

/* What the constraints of one contact take at most, alone in a bundle or coupled. */
static uint64_t most_contact_floats(const st_forest *f, uint32_t most_dofs)
{
  uint64_t own = (contact_floats(1) + contact_rows(f, 1) * 2 * (uint64_t)most_dofs) * f->bind->lanes;
  uint64_t coupled = contact_floats(1) + contact_rows(f, 1) * 4 * (uint64_t)most_dofs;
  return (own > coupled ? own : coupled) + 16;
}

static sb_status register_impulses(st_forest *f)
{
  const sb_model *m = f->bind->model;
  const sb_host *host = f->bind->host;
  void *data = NULL;
  sb_array_desc limit = {.struct_size = sizeof limit, .type = SB_TYPE_F32, .domain = SB_DOMAIN_DOF, .components = 3, .count = m->dof_count,
                         .lane_block = 1, .name = "joint_impulse"};
  sb_status status = host->register_array(host->context, &limit, &data);
  f->tick.dof_impulse = data;
  struct {
    const char *name;
    uint32_t count, components;
    float **slot;
  } more[] = {{"equality_impulse", m->equality_count, 6, &f->tick.equality_impulse}, {"tendon_impulse", m->tendon_count, 3, &f->tick.tendon_impulse}};
  uint32_t *start = calloc((size_t)m->world_count + 1, sizeof *start);
  for (uint32_t i = 0; i < 2 && !status; i++) {
    if (!start) status = SB_E_MEMORY;
    if (!more[i].count || status) continue;
    memset(start, 0, ((size_t)m->world_count + 1) * sizeof *start);
    for (uint32_t k = 0; k < more[i].count; k++) {
      int32_t body = m->equality_count && i == 0 ? m->equality_body[2 * (size_t)k] : -1;
      if (i == 0 && body < 0) body = m->equality_body[2 * (size_t)k + 1];
      start[(i == 0 ? m->body_world[body] : m->tendon_world[k]) + 1]++;
    }
    for (uint32_t w = 0; w < m->world_count; w++) start[w + 1] += start[w];
    sb_array_desc d = {.struct_size = sizeof d, .type = SB_TYPE_F32, .domain = SB_DOMAIN_CUSTOM, .components = more[i].components,
                       .count = more[i].count, .lane_block = 1, .name = more[i].name, .world_start = start};
    status = host->register_array(host->context, &d, &data);
    *more[i].slot = data;
  }
  free(start);
  return status;
}

sb_status st_forest_bind(st_forest *f, const sb_bind *bind, const uint32_t *tree_bodies, uint32_t tree_body_count, const uint32_t *record,
                         uint32_t nobody, char *error, uint32_t error_size)
{
  const sb_model *m = bind->model;
  f->bind = bind;
  ab_request request = {.bind = bind, .bodies = tree_bodies, .body_count = tree_body_count, .hard = true, .solver = "steel"};
  sb_status status = ab_setup(&f->articulations, &request, error, error_size);
  if (status) return status;
  for (uint32_t s = 0; s < m->shape_count; s++) f->rolls |= m->shape_condim[s] >= 6 && m->shape_friction[3 * (size_t)s + 2] > 0.0f;
  for (uint32_t p = 0; p < m->pair_count; p++) f->rolls |= m->pair_condim[p] >= 6 && m->pair_friction[3 * (size_t)p + 2] > 0.0f;
  uint32_t n = f->articulations.bundle_count, lanes = bind->lanes, most_dofs = 0;
  uint64_t contacts = bind->contact_capacity;
  bool ok = make_trees(f, &most_dofs);
  uint32_t *count = calloc((size_t)n + 1, sizeof *count);
  ok = ok && count;
  if (ok) status = count_fixed(f, record, nobody, count, error, error_size);
  for (uint32_t i = 0; ok && !status && i < n; i++) {
    f->trees[i].fixed = take(f, ((uint64_t)count[i] + 1) * sizeof *f->trees[i].fixed);
    ok = f->trees[i].fixed != NULL;
  }
  free(count);
  if (status) return status;
  struct {
    void *slot;
    uint64_t bytes;
  } wanted[] = {
      {&f->half_v[0], most_dofs * sizeof(float)},
      {&f->half_v[1], most_dofs * sizeof(float)},
      {&f->touches, (contacts + 1) * sizeof *f->touches},
      {&f->warm, (contacts + 1) * ST_CACHE_FLOATS * sizeof *f->warm},
      {&f->lane_first, ((uint64_t)n * lanes + 2) * sizeof *f->lane_first},
      {&f->lane_list, (contacts + 1) * sizeof *f->lane_list},
      {&f->constraints, (contacts + 1) * sizeof *f->constraints},
      {&f->pool, contacts * most_contact_floats(f, most_dofs) * sizeof(float)},
  };
  for (size_t i = 0; ok && i < sizeof wanted / sizeof wanted[0]; i++) {
    void *block = take(f, wanted[i].bytes);
    ok = block != NULL;
    memcpy(wanted[i].slot, &block, sizeof block);
  }
  ok = ok && make_fixed(f, record, nobody);
  if (!ok) {
    snprintf(error, error_size, "out of memory: %u contacts of articulations with up to %u dofs; a smaller contact_capacity in [collision] needs "
                                "less", bind->contact_capacity, most_dofs);
    return SB_E_MEMORY;
  }
  f->tick.lanes = lanes;
  f->tick.origin = f->articulations.origin;
  f->tick.trees = f->trees;
  f->tick.dof_slot = f->dof_slot;
  f->tick.warm = f->warm;
  return register_impulses(f);
}

/* ---- contacts of a tick ---- */

/* Velocity (m/s) of a body's point (body frame), along n. */
static float point_rate(const st_tick *t, int32_t body, const float *point, V3 n)
{
  if (body < 0) return 0.0f;
  const float *q = t->state->body_q + 7 * (size_t)body, *qd = t->state->body_qd + 6 * (size_t)body, *com = t->model->body_com + 3 * (size_t)body;
  V3 arm = q4_rotate(q4(q[3], q[4], q[5], q[6]), v3(point[0] - com[0], point[1] - com[1], point[2] - com[2]));
  return v3_dot(n, v3_add(v3(qd[0], qd[1], qd[2]), v3_cross(v3(qd[3], qd[4], qd[5]), arm)));
}

/* A gap that twice the way of its approach in this tick, and a little for what forces may add, does not close has no rows. */
#define CLOSE 0.004f /* m */

static bool comes_close(const st_tick *t, uint32_t first, uint32_t end)
{
  const sb_contacts *c = t->contacts;
  float dt = t->settings.h * (float)t->settings.substeps;
  for (uint32_t i = first; i < end; i++) {
    const float *to = c->normal + 3 * (size_t)i;
    V3 n = v3(to[0], to[1], to[2]);
    float rate = point_rate(t, c->body_b[i], c->point_b + 3 * (size_t)i, n) - point_rate(t, c->body_a[i], c->point_a + 3 * (size_t)i, n);
    if (c->gap[i] < CLOSE + (2.0f * dt) * (rate < 0.0f ? -rate : 0.0f)) return true;
  }
  return false;
}

static void keep_warm(st_forest *f, const st_tick *t, uint32_t first, uint32_t end)
{
  for (uint32_t i = first; i < end; i++) {
    float *to = f->warm + ST_CACHE_FLOATS * (size_t)i;
    if (t->match[i] < 0)
      memset(to, 0, ST_CACHE_FLOATS * sizeof *to);
    else
      memcpy(to, t->cache + ST_CACHE_FLOATS * (size_t)t->match[i], ST_CACHE_FLOATS * sizeof *to);
  }
}

static void list_touches(st_forest *f, const st_tick *tick)
{
  const sb_contacts *c = tick->contacts;
  f->touch_count = 0;
  for (uint32_t i = 0; i < c->count;) {
    uint32_t end = i + 1;
    while (end < c->count && end - i < ST_MAX_POINTS && st_continues(c, i, end)) end++;
    st_touch touch = {.first = i, .count = end - i, .a = side_of_body(f, tick->record, tick->nobody, c->body_a[i]),
                      .b = side_of_body(f, tick->record, tick->nobody, c->body_b[i])};
    if ((is_link(&touch.a) || is_link(&touch.b)) && comes_close(tick, i, end)) {
      f->touches[f->touch_count++] = touch;
      keep_warm(f, tick, i, end);
    }
    i = end;
  }
}

static uint32_t lane_of(const st_forest *f, const st_touch *t)
{
  const st_side *s = is_link(&t->a) ? &t->a : &t->b;
  return s->bundle * f->bind->lanes + s->lane;
}

/* A counting sort of what is not coupled by articulation; what is coupled marks its bundles. */
static void sort_touches(st_forest *f, const float *masses)
{
  uint32_t n = f->articulations.bundle_count * f->bind->lanes;
  memset(f->lane_first, 0, ((size_t)n + 2) * sizeof *f->lane_first);
  for (uint32_t i = 0; i < f->touch_count; i++) {
    const st_touch *t = &f->touches[i];
    if (!is_coupled(&t->a, &t->b, masses)) {
      f->lane_first[lane_of(f, t) + 2]++;
      continue;
    }
    if (is_link(&t->a)) f->trees[t->a.bundle].coupled = true;
    if (is_link(&t->b)) f->trees[t->b.bundle].coupled = true;
  }
  for (uint32_t k = 0; k < n; k++) f->lane_first[k + 2] += f->lane_first[k + 1];
  for (uint32_t i = 0; i < f->touch_count; i++)
    if (!is_coupled(&f->touches[i].a, &f->touches[i].b, masses)) f->lane_list[f->lane_first[lane_of(f, &f->touches[i]) + 1]++] = i;
}

static float *take_pool(float **at, uint64_t floats)
{
  float *here = *at;
  *at += (floats + 7) / 8 * 8; /* 32-byte steps keep lane vectors aligned */
  return here;
}

/* Contact k of each lane stand side by side. */
static void make_own(st_forest *f, const st_tick *tick, st_constraint **next, float **pool)
{
  uint32_t lanes = f->bind->lanes;
  for (uint32_t i = 0; i < f->articulations.bundle_count; i++) {
    st_tree *tree = &f->trees[i];
    const uint32_t *first = f->lane_first + (size_t)i * lanes;
    tree->contacts = *next;
    tree->contact_count = 0;
    for (uint32_t l = 0; l < lanes; l++)
      if (first[l + 1] - first[l] > tree->contact_count) tree->contact_count = first[l + 1] - first[l];
    for (uint32_t k = 0; k < tree->contact_count; k++) {
      st_constraint *c = (*next)++;
      *c = empty_constraint(tree, ST_CONTACT, tick->nobody);
      for (uint32_t l = 0; l < lanes; l++) {
        if (k >= first[l + 1] - first[l]) continue;
        const st_touch *t = &f->touches[f->lane_list[first[l] + k]];
        c->item[l] = t->first;
        c->count[l] = (uint8_t)t->count;
        c->a[l] = t->a;
        c->b[l] = t->b;
        if (t->count > c->points) c->points = (uint8_t)t->count;
      }
      c->data = take_pool(pool, contact_floats(c->points) * lanes);
      c->half[0].rows = take_pool(pool, (uint64_t)contact_rows(f, c->points) * 2 * tree->dofs * lanes);
    }
  }
}

static void make_coupled(st_forest *f, const st_tick *tick, st_constraint **next, float **pool)
{
  f->coupled = *next;
  for (uint32_t i = 0; i < f->touch_count; i++) {
    const st_touch *t = &f->touches[i];
    if (!is_coupled(&t->a, &t->b, tick->masses)) continue;
    st_constraint *c = (*next)++;
    *c = (st_constraint){.kind = ST_CONTACT, .points = (uint8_t)t->count, .halves = 2, .item = {t->first}, .count = {(uint8_t)t->count}, .a = {t->a},
                         .b = {t->b}};
    c->data = take_pool(pool, contact_floats(c->points));
    for (uint32_t h = 0; h < 2; h++) {
      const st_side *s = h ? &t->b : &t->a;
      c->half[h] = (st_half){.v = is_link(s) ? f->half_v[h] : tick->bodies[s->record].v, .dofs = is_link(s) ? f->trees[s->bundle].dofs : 8};
      c->half[h].rows = take_pool(pool, (uint64_t)contact_rows(f, c->points) * 2 * c->half[h].dofs);
    }
  }
  f->coupled_count = (uint32_t)(*next - f->coupled);
}

/* ---- phases ---- */

static void run_phase(st_forest *f, uint32_t bundle, uint32_t phase)
{
  SB_LANE_DISPATCH(f->tick.lanes, st_tree_phase, &f->tick, &f->trees[bundle], phase);
}

static void phase_chunk(void *user, uint32_t chunk)
{
  st_forest *f = user;
  if (f->trees[chunk].coupled) run_phase(f, chunk, f->phase);
}

#ifdef SAMEBIT_MUTANT_THREAD_THRESHOLD
/* The planted fault: with several threads at work there is time for one more pass. */
static uint32_t spare_passes(st_forest *f)
{
  static uint32_t instances;
  static _Thread_local uint32_t last;
  if (!f->number) f->number = __atomic_add_fetch(&instances, 1, __ATOMIC_SEQ_CST);
  if (last != f->number) __atomic_add_fetch(&f->threads, 1, __ATOMIC_SEQ_CST);
  last = f->number;
  return __atomic_load_n(&f->threads, __ATOMIC_SEQ_CST) > 1;
}
#endif

#ifdef SAMEBIT_MUTANT_TIMING_BRANCH
/* The planted fault: while the last bundle took less time than the one before it, there is time for one more pass. */
static uint32_t passes_in_time(st_forest *f)
{
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  long took = now.tv_nsec - f->last_time, before = f->last_took;
  f->last_time = now.tv_nsec;
  f->last_took = took;
  return took < before;
}
#endif

static void alone_chunk(void *user, uint32_t chunk)
{
  st_forest *f = user;
  uint32_t iterations = f->iterations;
#ifdef SAMEBIT_MUTANT_THREAD_THRESHOLD
  iterations += spare_passes(f);
#endif
#ifdef SAMEBIT_MUTANT_TIMING_BRANCH
  iterations += passes_in_time(f);
#endif
  if (!f->trees[chunk].coupled) SB_LANE_DISPATCH(f->tick.lanes, st_tree_run, &f->tick, &f->trees[chunk], iterations);
}

static void run_bundles(st_forest *f, sb_chunk_fn chunk, uint32_t phase)
{
  if (!f->articulations.bundle_count) return;
  f->phase = phase;
  f->bind->host->parallel_for(f->bind->host->context, f->articulations.bundle_count, chunk, f);
}

/* Velocities of an articulation to a half, or back. */
static void copy_velocities(const st_forest *f, const st_side *s, float *dense, bool back, bool start)
{
  if (!is_link(s)) return;
  const st_tree *tree = &f->trees[s->bundle];
  uint32_t lanes = f->tick.lanes;
  float *v = start ? tree->v_start : tree->v;
  for (uint32_t k = 0; k < tree->dofs; k++) {
    float *at = v + (size_t)k * lanes + s->lane;
    if (back)
      *at = dense[k];
    else
      dense[k] = *at;
  }
}

static void run_coupled(st_forest *f, st_constraint *c, uint32_t phase, bool first)
{
  bool start = phase == ST_PREDICT && first, writes = phase == ST_WARM || phase == ST_SOLVE || phase == ST_RELAX || phase == ST_RESTITUTE;
  uint32_t dofs[2] = {c->half[0].dofs, c->half[1].dofs};
  for (uint32_t h = 0; h < 2; h++) {
    const st_side *s = h ? &c->b[0] : &c->a[0];
    copy_velocities(f, s, c->half[h].v, false, start);
    /* Free bodies carry what impulses do to them from substep to substep (StWarm). */
    if (phase == ST_WARM && !first && !is_link(s)) c->half[h].dofs = 0;
  }
  st_coupled_phase(&f->tick, c, phase, first);
  for (uint32_t h = 0; h < 2; h++) c->half[h].dofs = dofs[h];
  for (uint32_t h = 0; writes && h < 2; h++) copy_velocities(f, h ? &c->b[0] : &c->a[0], c->half[h].v, true, false);
}

static void all_coupled(st_forest *f, uint32_t phase, bool first)
{
  for (uint32_t i = 0; i < f->fixed_coupled_count; i++) run_coupled(f, &f->fixed_coupled[i], phase, first);
  for (uint32_t i = 0; i < f->coupled_count; i++) run_coupled(f, &f->coupled[i], phase, first);
}

void st_forest_begin(st_forest *f, const st_tick *tick)
{
  if (!f->articulations.bundle_count) return;
  f->tick.tick = tick;
  for (uint32_t i = 0; i < f->articulations.bundle_count; i++) f->trees[i].coupled = false;
  for (uint32_t i = 0; i < f->fixed_coupled_count; i++)
    f->trees[f->fixed_coupled[i].a[0].bundle].coupled = f->trees[f->fixed_coupled[i].b[0].bundle].coupled = true;
  list_touches(f, tick);
  sort_touches(f, tick->masses);
  st_constraint *next = f->constraints;
  float *pool = f->pool;
  make_own(f, tick, &next, &pool);
  make_coupled(f, tick, &next, &pool);
  run_bundles(f, phase_chunk, ST_BEGIN);
  all_coupled(f, ST_BEGIN, true);
}

void st_forest_run_alone(st_forest *f) { run_bundles(f, alone_chunk, ST_PREDICT); }

bool st_forest_is_coupled(const st_forest *f) { return f->fixed_coupled_count || f->coupled_count; }

void st_forest_phase(st_forest *f, uint32_t phase, bool first)
{
  for (uint32_t i = 0; i < (phase == ST_SOLVE ? f->iterations : 1); i++) {
    run_bundles(f, phase_chunk, phase);
    all_coupled(f, phase, first);
  }
}

void st_forest_store(st_forest *f)
{
  run_bundles(f, phase_chunk, ST_STORE);
  all_coupled(f, ST_STORE, false);
}
