/* Rows over articulations: where the sides of a constraint are, J and W by the articulated-body recursion, velocities that rows see and
 * push. Lane text that steel_tree_lanes.c includes once. */
#ifndef SAMEBIT_STEEL_TREE_ROWS_H
#define SAMEBIT_STEEL_TREE_ROWS_H

#include <stddef.h>

#include "steel_tree.h"

#include "articulation_pass.h"
#include "samebit/solver_tools.h"

#include "steel_gather.h"
#include "steel_row.kernel.h"

/* Where a constraint's impulse enters. */
typedef struct st_mark {
  F own_a, own_b; /* 1 on the lanes whose side a, or b, is this link */
  F sign;         /* side b in the subtree less side a in the subtree */
  F touched;      /* 1 on the lanes that have a side in the subtree */
} st_mark;

/* How an impulse runs through a link. */
typedef struct st_run {
  V3 n, f;        /* impulse at the reference point, torque and force */
  V3 u;           /* what is left of it on the dofs */
  AbAccel change; /* of the link's velocities */
} st_run;

/* What of a link's work record impulses need, close together: it is read for every row. */
typedef struct st_answer {
  V3 axis, r, s_n, s_f;
  F inv_d;
} st_answer;

/* The scratch of a bundle: for each link a mark, then for each a run, then for each a response. */
static st_mark *marks_of(const st_tree *tree) { return (st_mark *)tree->scratch; }
static st_run *runs_of(const st_tree *tree) { return (st_run *)(marks_of(tree) + tree->bundle->link_count); }
static st_answer *responses_of(const st_tree *tree) { return (st_answer *)(runs_of(tree) + tree->bundle->link_count); }

_Static_assert(sizeof(st_mark) + sizeof(st_run) + sizeof(st_answer) == ST_SCRATCH_FLOATS * sizeof(F), "ST_SCRATCH_FLOATS");

_Static_assert(offsetof(AbWork, q) == ST_WORK_Q * sizeof(F), "ST_WORK_Q");

static inline M flag(F x) { return x > 0.5f; }

/* ---- velocities of a constraint's rows ---- */

static inline F *row_of(const st_half *h, uint32_t row) { return (F *)h->rows + (size_t)row * 2 * h->dofs; }

/* J v over the halves. Four sums side by side, so that one addition need not wait for another. */
static inline F row_rate(const st_constraint *c, uint32_t row)
{
  F sum[4] = {K(0.0f), K(0.0f), K(0.0f), K(0.0f)};
  for (uint32_t h = 0; h < c->halves; h++) {
    const F *v = (const F *)c->half[h].v, *j = row_of(&c->half[h], row);
    for (uint32_t k = 0; k < c->half[h].dofs; k += 4)
      for (uint32_t i = 0; i < 4; i++) sum[i] = sum[i] + j[k + i] * v[k + i];
  }
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* J of one row times W of another. */
static F row_response(const st_constraint *c, uint32_t row, uint32_t other)
{
  F sum[4] = {K(0.0f), K(0.0f), K(0.0f), K(0.0f)};
  for (uint32_t h = 0; h < c->halves; h++) {
    const F *j = row_of(&c->half[h], row), *w = row_of(&c->half[h], other) + c->half[h].dofs;
    for (uint32_t k = 0; k < c->half[h].dofs; k += 4)
      for (uint32_t i = 0; i < 4; i++) sum[i] = sum[i] + j[k + i] * w[k + i];
  }
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* v += W impulse on the lanes of `some`; the others keep every bit. */
static inline void row_push(const st_constraint *c, uint32_t row, F impulse, M some)
{
  for (uint32_t h = 0; h < c->halves; h++) {
    uint32_t n = c->half[h].dofs;
    F *v = (F *)c->half[h].v;
    const F *w = row_of(&c->half[h], row) + n;
#ifdef SAMEBIT_MUTANT_SHARED_LANES
    (void)some;
    for (uint32_t k = 0; k < n; k++) v[k] = v[k] + w[k] * impulse;
#else
    for (uint32_t k = 0; k < n; k++) v[k] = f_sel(some, v[k] + w[k] * impulse, v[k]);
#endif
  }
}

/* ---- where the sides are ---- */

STRUCT(st_pose) { V3 p; Q4 q; };

static void read_pose(const st_forest_tick *t, const st_side *s, float pose[7])
{
  static const float still[7] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 1.0f};
  if (s->link != ST_NONE) {
    uint32_t lanes = t->lanes;
    const float *m = t->trees[s->bundle].work + (size_t)s->link * AB_WORK_FLOATS * lanes + s->lane;
    for (uint32_t k = 0; k < 3; k++) pose[k] = m[(size_t)(4 + k) * lanes];
    for (uint32_t k = 0; k < 4; k++) pose[3 + k] = m[(size_t)k * lanes];
  } else if (s->record != t->tick->nobody) {
    const st_body *b = &t->tick->bodies[s->record];
    memcpy(pose, b->dp, 3 * sizeof(float));
    memcpy(pose + 3, b->dq, 4 * sizeof(float));
  } else {
    memcpy(pose, still, sizeof still);
  }
}

static st_pose poses(const st_forest_tick *t, const st_side *side)
{
  float pose[SB_LANES][7], lane[7][SB_LANES];
  for (uint32_t l = 0; l < SB_LANES; l++) read_pose(t, &side[l], pose[l]);
  for (uint32_t k = 0; k < 7; k++)
    for (uint32_t l = 0; l < SB_LANES; l++) lane[k][l] = pose[l][k];
  st_pose r;
  r.p = v3(f_load(lane[0]), f_load(lane[1]), f_load(lane[2]));
  r.q = q4(f_load(lane[3]), f_load(lane[4]), f_load(lane[5]), f_load(lane[6]));
  return r;
}

static V3 point_at(st_pose s, V3 base, V3 local) { return v3_add(v3_add(s.p, base), q4_rotate(s.q, local)); }

/* How a side at the start of the tick hangs on its pose: base, and a point's local vector. */
typedef struct st_hold {
  st_pose body; /* of the model body */
  V3 origin;    /* of the body from the link's reference point, body axes */
  V3 base;
  Q4 turn;      /* body orientation seen from the pose */
  M is_link, is_record;
} st_hold;

static st_hold hold_side(const st_forest_tick *t, const st_side *side)
{
  const sb_model *m = t->tick->model;
  float f[13][SB_LANES], link[SB_LANES], record[SB_LANES];
  for (uint32_t l = 0; l < SB_LANES; l++) {
    const st_side *s = &side[l];
    link[l] = s->link != ST_NONE ? 1.0f : 0.0f;
    record[l] = s->link == ST_NONE && s->record != t->tick->nobody ? 1.0f : 0.0f;
    for (uint32_t k = 0; k < 13; k++) f[k][l] = k == 6 ? 1.0f : 0.0f;
    if (s->body < 0) continue;
    for (uint32_t k = 0; k < 7; k++) f[k][l] = t->tick->state->body_q[7 * (size_t)s->body + k];
    for (uint32_t k = 0; k < 3; k++) f[7 + k][l] = m->body_com[3 * (size_t)s->body + k];
    for (uint32_t k = 0; k < 3; k++) f[10 + k][l] = t->origin[3 * (size_t)s->body + k];
  }
  st_hold r;
  r.body.p = v3(f_load(f[0]), f_load(f[1]), f_load(f[2]));
  r.body.q = q4(f_load(f[3]), f_load(f[4]), f_load(f[5]), f_load(f[6]));
  r.is_link = flag(f_load(link));
  r.is_record = flag(f_load(record));
  r.origin = v3(f_load(f[10]), f_load(f[11]), f_load(f[12]));
  V3 com = v3(f_load(f[7]), f_load(f[8]), f_load(f[9]));
  r.base = v3_sel(r.is_record, v3_add(r.body.p, q4_rotate(r.body.q, com)), v3_zero());
  Q4 one = q4_identity();
  r.turn = q4(f_sel(r.is_link, one.x, r.body.q.x), f_sel(r.is_link, one.y, r.body.q.y), f_sel(r.is_link, one.z, r.body.q.z),
              f_sel(r.is_link, one.w, r.body.q.w));
  return r;
}

/* A point (body frame) in the world at the start of the tick, and from the pose. */
static V3 hold_world(const st_hold *h, V3 point) { return v3_add(h->body.p, q4_rotate(h->body.q, point)); }

static V3 hold_point(const st_hold *h, V3 point)
{
  return v3_sel(h->is_link, v3_add(point, h->origin), v3_sub(hold_world(h, point), h->base));
}

/* Velocity of what steel does not move, at x and of rotation; zero for everything else. */
typedef struct st_obstacle {
  V3 v, w, at;
} st_obstacle;

static st_obstacle obstacles(const st_forest_tick *t, const st_side *side, V3 base)
{
  float f[9][SB_LANES];
  for (uint32_t l = 0; l < SB_LANES; l++) {
    const st_side *s = &side[l];
    for (uint32_t k = 0; k < 9; k++) f[k][l] = 0.0f;
    if (s->link != ST_NONE || s->record == t->tick->nobody || t->tick->masses[8 * (size_t)s->record] > 0.0f) continue;
    const st_body *b = &t->tick->bodies[s->record];
    for (uint32_t k = 0; k < 3; k++) f[k][l] = b->v[k], f[3 + k][l] = b->w[k], f[6 + k][l] = b->dp[k];
  }
  st_obstacle r;
  r.v = v3(f_load(f[0]), f_load(f[1]), f_load(f[2]));
  r.w = v3(f_load(f[3]), f_load(f[4]), f_load(f[5]));
  r.at = v3_add(base, v3(f_load(f[6]), f_load(f[7]), f_load(f[8])));
  return r;
}

static V3 obstacle_at(const st_obstacle *o, V3 x) { return v3_add(o->v, v3_cross(o->w, v3_sub(x, o->at))); }

/* ---- what impulses do ---- */

static void clear_marks(st_tree *tree)
{
  st_mark *s = marks_of(tree);
  for (uint32_t i = 0; i < tree->bundle->link_count; i++) {
    s[i].own_a = s[i].own_b = s[i].touched = K(0.0f);
    tree->touched[i] = false;
  }
}

#ifdef SAMEBIT_MUTANT_SHARED_LANES
/* The planted fault: what one lane marks, all lanes have (and row_push writes them all). */
static void set_lane(F *x, uint32_t lane) { (void)lane, *x = K(1.0f); }
#else
static void set_lane(F *x, uint32_t lane) { ((float *)x)[lane] = 1.0f; }
#endif

/* From the links that are marked by themselves to their ancestors. */
static void spread_marks(st_tree *tree)
{
  const ab_bundle *bundle = tree->bundle;
  st_mark *s = marks_of(tree);
  for (uint32_t i = 0; i < bundle->link_count; i++) s[i].sign = s[i].own_b - s[i].own_a;
  for (uint32_t i = bundle->link_count; i-- > 0;) {
    int32_t p = bundle->links[i].parent;
    if (p < 0 || !tree->touched[i]) continue;
    s[p].sign = s[p].sign + s[i].sign;
    s[p].touched = f_max(s[p].touched, s[i].touched);
    tree->touched[p] = true;
  }
}

/* Marks the links that the sides of a constraint act on. */
static void mark_sides(st_tree *tree, const st_side *a, const st_side *b)
{
  st_mark *s = marks_of(tree);
  clear_marks(tree);
  for (uint32_t l = 0; l < SB_LANES; l++) {
    if (a[l].link != ST_NONE) set_lane(&s[a[l].link].own_a, l), set_lane(&s[a[l].link].touched, l), tree->touched[a[l].link] = true;
    if (b[l].link != ST_NONE) set_lane(&s[b[l].link].own_b, l), set_lane(&s[b[l].link].touched, l), tree->touched[b[l].link] = true;
  }
  spread_marks(tree);
}

/* Marks the links whose dofs an impulse acts on from inside. */
static void mark_dofs(st_tree *tree, const st_side *side)
{
  st_mark *s = marks_of(tree);
  clear_marks(tree);
  for (uint32_t l = 0; l < SB_LANES; l++)
    if (side[l].link != ST_NONE) set_lane(&s[side[l].link].touched, l), tree->touched[side[l].link] = true;
  spread_marks(tree);
}

/* Marks every link whose dofs a generalised row acts on. */
static void mark_generalised(st_tree *tree, const F *j)
{
  const ab_bundle *b = tree->bundle;
  st_mark *s = marks_of(tree);
  clear_marks(tree);
  for (uint32_t i = 0; i < b->link_count; i++) {
    if (b->links[i].kind != AB_ANGULAR && b->links[i].kind != AB_LINEAR) continue;
    M some = f_abs(j[b->links[i].slot]) > 0.0f;
    s[i].touched = f_sel(some, K(1.0f), K(0.0f));
    tree->touched[i] = m_any(some);
  }
  spread_marks(tree);
}

static V3 keep_or_zero(M some, V3 v) { return v3_sel(some, v, v3_zero()); }

/* Inward: an impulse at the links (runs, set) and `generalised` at the dofs, to what is left on the dofs. */
static void run_inward(st_tree *tree, const F *generalised)
{
  const ab_bundle *b = tree->bundle;
  const AbWork *work = (const AbWork *)tree->work;
  const st_mark *mark = marks_of(tree);
  const st_answer *response = responses_of(tree);
  st_run *s = runs_of(tree);
  for (uint32_t i = b->link_count; i-- > 0;) {
    s[i].u = v3_zero();
    if (!tree->touched[i]) continue;
    M on = flag(mark[i].touched);
    const st_answer *k = &response[i];
    uint8_t kind = b->links[i].kind;
    int32_t p = b->links[i].parent;
    V3 n = s[i].n, f = s[i].f;
    if (kind == AB_ANGULAR || kind == AB_LINEAR) {
      F u = v3_dot(k->axis, kind == AB_ANGULAR ? n : f);
      if (generalised) u = u + generalised[b->links[i].slot];
      s[i].u.x = f_sel(on, u, K(0.0f));
      F left = k->inv_d * u;
      n = v3_add_scaled(n, k->s_n, -left);
      f = v3_add_scaled(f, k->s_f, -left);
    } else if (kind == AB_BALL) {
      s[i].u = keep_or_zero(on, n);
      V3 left = s33_mul_v3(work[i].ball_inv_d, n);
      n = v3_sub(n, s33_mul_v3(work[i].ia.j, left));
      f = v3_sub(f, m33_tmul_v3(work[i].ia.h, left));
    }
    if (p < 0) continue;
    s[p].n = v3_sel(on, v3_add(s[p].n, v3_add(n, v3_cross(k->r, f))), s[p].n);
    s[p].f = v3_sel(on, v3_add(s[p].f, f), s[p].f);
  }
}

/* Outward: to the changes of velocity, w. */
static void run_outward(st_tree *tree, F *w)
{
  const ab_bundle *b = tree->bundle;
  const AbWork *work = (const AbWork *)tree->work;
  const st_answer *response = responses_of(tree);
  st_run *s = runs_of(tree);
  for (uint32_t i = 0; i < b->link_count; i++) {
    const st_answer *k = &response[i];
    uint8_t kind = b->links[i].kind;
    int32_t p = b->links[i].parent;
    F *out = w + b->links[i].slot;
    if (kind == AB_FREE) {
      s[i].change = ab_solve_free(work[i].base, v3_neg(s[i].n), v3_neg(s[i].f));
      out[0] = s[i].change.a.x, out[1] = s[i].change.a.y, out[2] = s[i].change.a.z;
      out[3] = s[i].change.alpha.x, out[4] = s[i].change.alpha.y, out[5] = s[i].change.alpha.z;
      continue;
    }
    AbAccel c;
    c.alpha = c.a = v3_zero();
    if (p >= 0) {
      c.alpha = s[p].change.alpha;
      c.a = v3_add(s[p].change.a, v3_cross(c.alpha, k->r));
    }
    if (kind == AB_ANGULAR || kind == AB_LINEAR) {
      F qd = (s[i].u.x - (v3_dot(k->s_n, c.alpha) + v3_dot(k->s_f, c.a))) * k->inv_d;
      if (kind == AB_ANGULAR)
        c.alpha = v3_add_scaled(c.alpha, k->axis, qd);
      else
        c.a = v3_add_scaled(c.a, k->axis, qd);
      out[0] = qd;
    } else if (kind == AB_BALL) {
      V3 spin = s33_mul_v3(work[i].ball_inv_d, v3_sub(s[i].u, v3_add(s33_mul_v3(work[i].ia.j, c.alpha), m33_mul_v3(work[i].ia.h, c.a))));
      c.alpha = v3_add(c.alpha, spin);
      V3 local = q4_rotate_inv(work[i].motion.q, spin);
      out[0] = local.x, out[1] = local.y, out[2] = local.z;
    }
    s[i].change = c;
  }
}

/* Copies what rows need from the work records, after each reduction. */
static void keep_responses(st_tree *tree)
{
  const AbWork *work = (const AbWork *)tree->work;
  st_answer *to = responses_of(tree);
  for (uint32_t i = 0; i < tree->bundle->link_count; i++)
    to[i] = (st_answer){.axis = work[i].joint.axis, .r = work[i].joint.r, .s_n = work[i].s_n, .s_f = work[i].s_f, .inv_d = work[i].inv_d};
}

/* J of a link's dofs for an impulse with this moment about its reference point and this force. */
static void link_jacobian(uint8_t kind, const st_answer *k, const AbWork *w, V3 n, V3 f, F *to)
{
  switch (kind) {
  case AB_ANGULAR: to[0] = v3_dot(k->axis, n); break;
  case AB_LINEAR: to[0] = v3_dot(k->axis, f); break;
  case AB_BALL: {
    V3 local = q4_rotate_inv(w->motion.q, n);
    to[0] = local.x, to[1] = local.y, to[2] = local.z;
    break;
  }
  case AB_FREE:
    to[0] = f.x, to[1] = f.y, to[2] = f.z;
    to[3] = n.x, to[4] = n.y, to[5] = n.z;
    break;
  default: break;
  }
}

/* A row along d at x, or about d: J from the marks, W from the links' responses. Side b gets the impulse, side a its opposite. */
static void fill_row(st_tree *tree, V3 x, V3 d, bool angular, F *row)
{
  const ab_bundle *b = tree->bundle;
  const AbWork *work = (const AbWork *)tree->work;
  const st_mark *mark = marks_of(tree);
  st_run *s = runs_of(tree);
  F *j = row, *w = row + tree->dofs;
  memset(j, 0, tree->dofs * sizeof *j);
  for (uint32_t k = b->dof_count; k < tree->dofs; k++) w[k] = K(0.0f); /* padding */
  for (uint32_t i = 0; i < b->link_count; i++) {
    s[i].n = s[i].f = v3_zero();
    if (!tree->touched[i]) continue;
    V3 moment = angular ? d : v3_cross(v3_sub(x, work[i].motion.p), d);
    link_jacobian(b->links[i].kind, &responses_of(tree)[i], &work[i], v3_scale(moment, mark[i].sign),
                  angular ? v3_zero() : v3_scale(d, mark[i].sign), j + b->links[i].slot);
    M own = flag(f_max(mark[i].own_a, mark[i].own_b));
    F net = mark[i].own_b - mark[i].own_a;
    s[i].n = keep_or_zero(own, v3_scale(moment, net));
    if (!angular) s[i].f = keep_or_zero(own, v3_scale(d, net));
  }
  run_inward(tree, NULL);
  run_outward(tree, w);
}

/* A row over joint coordinates: J is set, W follows. */
static void fill_dof_row(st_tree *tree, F *row)
{
  const ab_bundle *b = tree->bundle;
  st_run *s = runs_of(tree);
  for (uint32_t i = 0; i < b->link_count; i++) s[i].n = s[i].f = v3_zero();
  run_inward(tree, row);
  run_outward(tree, row + tree->dofs);
}

static void add_v3(F *v, uint32_t slot, V3 x) { v[slot] = x.x, v[slot + 1] = x.y, v[slot + 2] = x.z; }

/* Velocities from the links' records to v, and back. */
static void take_velocities(const st_tree *tree, F *v)
{
  const ab_bundle *b = tree->bundle;
  const AbWork *work = (const AbWork *)tree->work;
  for (uint32_t i = 0; i < b->link_count; i++) {
    uint32_t slot = b->links[i].slot;
    switch (b->links[i].kind) {
    case AB_ANGULAR:
    case AB_LINEAR: v[slot] = work[i].qd; break;
    case AB_BALL: add_v3(v, slot, work[i].ang); break;
    case AB_FREE:
      add_v3(v, slot, work[i].lin);
      add_v3(v, slot + 3, work[i].ang);
      break;
    default: break;
    }
  }
}

static V3 snapped(const F *v, uint32_t slot) { return snap_v3(v3(v[slot], v[slot + 1], v[slot + 2])); }

static void give_velocities(const st_tree *tree, const F *v)
{
  const ab_bundle *b = tree->bundle;
  AbWork *work = (AbWork *)tree->work;
  for (uint32_t i = 0; i < b->link_count; i++) {
    uint32_t slot = b->links[i].slot;
    switch (b->links[i].kind) {
    case AB_ANGULAR:
    case AB_LINEAR: work[i].qd = f_snap(v[slot], K(AB_SNAP)); break;
    case AB_BALL: work[i].ang = snapped(v, slot); break;
    case AB_FREE:
      work[i].lin = snapped(v, slot);
      work[i].ang = snapped(v, slot + 3);
      break;
    default: break;
    }
  }
}

/* ---- one row of a constraint, over its halves ---- */

#if SB_LANES == 1
/* Of a free body: six velocities, padded to eight. */
static void fill_body_row(const st_forest_tick *t, const st_side *side, F sign, V3 centre, V3 x, V3 d, bool angular, F *row)
{
  const float *m = t->tick->masses + 8 * (size_t)side->record;
  S33 inverse = s33(m[1], m[2], m[3], m[4], m[5], m[6]);
  V3 f = angular ? v3_zero() : v3_scale(d, sign), n = v3_scale(angular ? d : v3_cross(v3_sub(x, centre), d), sign);
  V3 a = v3_scale(f, m[0]), alpha = s33_mul_v3(inverse, n);
  memset(row, 0, 16 * sizeof *row);
  add_v3(row, 0, f);
  add_v3(row, 3, n);
  add_v3(row, 8, a);
  add_v3(row, 11, alpha);
}

static void fill_coupled_row(const st_forest_tick *t, st_constraint *c, uint32_t row, V3 x, V3 d, bool angular, V3 base_a, V3 base_b)
{
  for (uint32_t h = 0; h < 2; h++) {
    const st_side *side = h ? &c->b[0] : &c->a[0];
    float sign = h ? 1.0f : -1.0f;
    F *to = row_of(&c->half[h], row);
    if (side->link == ST_NONE) {
      const st_body *b = &t->tick->bodies[side->record];
      V3 centre = v3_add(h ? base_b : base_a, v3(b->dp[0], b->dp[1], b->dp[2]));
      fill_body_row(t, side, sign, centre, x, d, angular, to);
    } else {
      const float at[3] = {x.x, x.y, x.z}, along[3] = {d.x, d.y, d.z};
      SB_LANE_DISPATCH(t->lanes, st_tree_row, &t->trees[side->bundle], side, sign, at, along, angular, to);
    }
  }
}
#endif

/* tree: NULL for a coupled constraint. The tree's sides are marked. */
static void make_row(const st_forest_tick *t, st_tree *tree, st_constraint *c, uint32_t row, V3 x, V3 d, bool angular, V3 base_a, V3 base_b)
{
#if SB_LANES == 1
  if (!tree) {
    fill_coupled_row(t, c, row, x, d, angular, base_a, base_b);
    return;
  }
#endif
  (void)t, (void)base_a, (void)base_b;
  fill_row(tree, x, d, angular, row_of(&c->half[0], row));
}

/* The constraint's rates with the velocities of the start of the tick. */
static F start_rate(const st_tree *tree, st_constraint *c, uint32_t row)
{
  if (!tree) return row_rate(c, row);
  c->half[0].v = tree->v_start;
  F r = row_rate(c, row);
  c->half[0].v = tree->v;
  return r;
}

/* 1 on the lanes that take part. */
static F taking_part(const st_constraint *c)
{
  float lane[SB_LANES];
  for (uint32_t l = 0; l < SB_LANES; l++) lane[l] = c->item[l] != ST_NONE ? 1.0f : 0.0f;
  return f_load(lane);
}

#endif
