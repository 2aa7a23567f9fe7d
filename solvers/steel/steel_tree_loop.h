/* Equality constraints as rows: connect, weld, joint. Lane text. */
#ifndef SAMEBIT_STEEL_TREE_LOOP_H
#define SAMEBIT_STEEL_TREE_LOOP_H

#include "steel_tree_rows.h"

typedef struct st_row_equality {
  F taking;
  V3 la, lb, base_a, base_b;
  Q4 rel_a;  /* orientation that b should have, seen from a's pose */
  Q4 rel_b;  /* b's own orientation, seen from b's pose */
  StSoft soft;
  S33 mass, turn_mass;
  V3 push, turn; /* accumulated impulses; JOINT: push.x */
} st_row_equality;

_Static_assert(sizeof(st_row_equality) == ST_ROW_EQUALITY_FLOATS * sizeof(F), "ST_ROW_EQUALITY_FLOATS");

static void begin_equality(const st_forest_tick *t, st_constraint *c)
{
  const sb_model *m = t->tick->model;
  const st_settings *set = &t->tick->settings;
  st_row_equality *d = (st_row_equality *)c->data;
  uint32_t at[SB_LANES];
  for (uint32_t l = 0; l < SB_LANES; l++) at[l] = c->item[l] == ST_NONE ? 0 : c->item[l];
  memset(d, 0, sizeof *d);
  d->taking = taking_part(c);
  d->soft = st_soft(K(t->limit_omega), K(set->contact_zeta), K(set->h));
  d->push = pick_v3(t->equality_impulse, at, 6, 0);
  d->turn = pick_v3(t->equality_impulse, at, 6, 3);
  if (c->kind == ST_JOINT_EQUALITY) return;
  st_hold a = hold_side(t, c->a), b = hold_side(t, c->b);
  d->base_a = a.base;
  d->base_b = b.base;
  d->la = hold_point(&a, pick_v3(m->equality_anchor_a, at, 3, 0));
  d->lb = hold_point(&b, pick_v3(m->equality_anchor_b, at, 3, 0));
  Q4 rel = q4(pick(m->equality_relpose, at, 4, 0), pick(m->equality_relpose, at, 4, 1), pick(m->equality_relpose, at, 4, 2),
              pick(m->equality_relpose, at, 4, 3));
  d->rel_a = q4_mul(a.turn, rel);
  d->rel_b = b.turn;
}

static S33 block_mass(const st_constraint *c, uint32_t r)
{
  /* a little more on the diagonal, so that directions in which nothing can move do not divide by 0 */
  S33 k = s33(row_response(c, r, r), row_response(c, r + 1, r + 1), row_response(c, r + 2, r + 2), row_response(c, r, r + 1),
              row_response(c, r, r + 2), row_response(c, r + 1, r + 2));
  F more = ((k.xx + k.yy) + k.zz) * 1.0e-5f + 1.0e-9f;
  k.xx = k.xx + more;
  k.yy = k.yy + more;
  k.zz = k.zz + more;
  return s33_inverse(k);
}

static V3 unit(uint32_t k) { return v3(K(k == 0 ? 1.0f : 0.0f), K(k == 1 ? 1.0f : 0.0f), K(k == 2 ? 1.0f : 0.0f)); }

/* q0 - ref0 - poly(q1 - ref1) and the slope of poly there, of each lane. */
static void joint_error(const st_forest_tick *t, const st_constraint *c, F *error, F *slope)
{
  const sb_model *m = t->tick->model;
  float q[2][SB_LANES], poly[5][SB_LANES];
  for (uint32_t l = 0; l < SB_LANES; l++) {
    q[0][l] = q[1][l] = 0.0f;
    for (uint32_t k = 0; k < 5; k++) poly[k][l] = c->item[l] == ST_NONE ? 0.0f : m->equality_poly[5 * (size_t)c->item[l] + k];
    if (c->item[l] == ST_NONE) continue;
    for (uint32_t e = 0; e < 2; e++) {
      int32_t dof = m->equality_dof[2 * (size_t)c->item[l] + e];
      if (dof < 0) continue;
      const st_side *s = e ? &c->b[l] : &c->a[l];
      const float *work = t->trees[s->bundle].work + (size_t)s->link * AB_WORK_FLOATS * t->lanes + s->lane;
      q[e][l] = work[ST_WORK_Q * t->lanes] - m->joint_ref[dof];
    }
  }
  F x = f_load(q[1]), p1 = f_load(poly[1]), p2 = f_load(poly[2]), p3 = f_load(poly[3]), p4 = f_load(poly[4]);
  *error = f_load(q[0]) - (f_load(poly[0]) + x * (p1 + x * (p2 + x * (p3 + x * p4))));
  *slope = p1 + x * (2.0f * p2 + x * (3.0f * p3 + (x * 4.0f) * p4));
}

static uint32_t dof_slot(const st_forest_tick *t, const st_side *s) { return t->trees[s->bundle].bundle->links[s->link].slot; }

static void place_joint_equality(const st_forest_tick *t, st_tree *tree, st_constraint *c)
{
  st_row_equality *d = (st_row_equality *)c->data;
  F error, slope;
  joint_error(t, c, &error, &slope);
  d->la.x = error;
  if (tree) {
    float coef[2][SB_LANES];
    F *j = row_of(&c->half[0], 0);
    f_store(coef[1], slope);
    memset(j, 0, 2 * c->half[0].dofs * sizeof *j);
    for (uint32_t l = 0; l < SB_LANES; l++) {
      if (c->item[l] == ST_NONE) continue;
      ((float *)&j[dof_slot(t, &c->a[l])])[l] = 1.0f;
      if (c->b[l].link != ST_NONE) ((float *)&j[dof_slot(t, &c->b[l])])[l] = -coef[1][l];
    }
    mark_generalised(tree, j);
    fill_dof_row(tree, j);
  } else {
#if SB_LANES == 1
    for (uint32_t h = 0; h < 2; h++) {
      const st_side *s = h ? &c->b[0] : &c->a[0];
      SB_LANE_DISPATCH(t->lanes, st_tree_dof_row, &t->trees[s->bundle], s->lane, dof_slot(t, s), h ? -slope : 1.0f, row_of(&c->half[h], 0));
    }
#endif
  }
  d->mass.xx = st_invert(row_response(c, 0, 0));
}

static void place_equality(const st_forest_tick *t, st_tree *tree, st_constraint *c)
{
  if (c->kind == ST_JOINT_EQUALITY) {
    place_joint_equality(t, tree, c);
    return;
  }
  st_row_equality *d = (st_row_equality *)c->data;
  st_pose pa = poses(t, c->a), pb = poses(t, c->b);
  V3 x = v3_scale(v3_add(point_at(pa, d->base_a, d->la), point_at(pb, d->base_b, d->lb)), K(0.5f));
  if (tree) mark_sides(tree, c->a, c->b);
  for (uint32_t k = 0; k < 3; k++) make_row(t, tree, c, k, x, unit(k), false, d->base_a, d->base_b);
  d->mass = block_mass(c, 0);
  if (c->kind != ST_WELD) return;
  for (uint32_t k = 0; k < 3; k++) make_row(t, tree, c, 3 + k, x, unit(k), true, d->base_a, d->base_b);
  d->turn_mass = block_mass(c, 3);
}

static void push_three(const st_constraint *c, uint32_t r, V3 p, M some)
{
  row_push(c, r, p.x, some);
  row_push(c, r + 1, p.y, some);
  row_push(c, r + 2, p.z, some);
}

static void warm_equality(st_constraint *c)
{
  st_row_equality *d = (st_row_equality *)c->data;
  M some = flag(d->taking);
  if (c->kind == ST_JOINT_EQUALITY) {
    row_push(c, 0, d->push.x, some);
    return;
  }
  push_three(c, 0, d->push, some);
  if (c->kind == ST_WELD) push_three(c, 3, d->turn, some);
}

static V3 rate_three(const st_constraint *c, uint32_t r) { return v3(row_rate(c, r), row_rate(c, r + 1), row_rate(c, r + 2)); }

/* A block of three soft rows that hold in both directions. */
static V3 hold_three(const st_settings *set, V3 v, V3 e, S33 mass, V3 impulse, StSoft soft, M relax)
{
  F top = K(set->max_push);
  V3 bias = v3(f_clamp(e.x * soft.rate, -top, top), f_clamp(e.y * soft.rate, -top, top), f_clamp(e.z * soft.rate, -top, top));
  V3 wanted = s33_mul_v3(mass, v3_sel(relax, v, v3_add(v, bias)));
  F mass_scale = f_sel(relax, K(1.0f), soft.mass_scale), impulse_scale = f_sel(relax, K(0.0f), soft.impulse_scale);
  return v3_sub(v3_sub(impulse, v3_scale(wanted, mass_scale)), v3_scale(impulse, impulse_scale));
}

/* Small turn (rad, world) from orientation a to b. */
static V3 turn_between(Q4 a, Q4 b)
{
  Q4 q = q4_mul(b, q4_conj(a));
  F two = f_sel(q.w < 0.0f, K(-2.0f), K(2.0f));
  return v3(q.x * two, q.y * two, q.z * two);
}

static void solve_equality(const st_forest_tick *t, st_constraint *c, M relax)
{
  const st_settings *set = &t->tick->settings;
  st_row_equality *d = (st_row_equality *)c->data;
  M some = flag(d->taking);
  if (c->kind == ST_JOINT_EQUALITY) {
    F next = st_hold_impulse(row_rate(c, 0), d->la.x, d->mass.xx, d->push.x, d->soft, K(set->max_push), relax);
    row_push(c, 0, next - d->push.x, some);
    d->push.x = next;
    return;
  }
  st_pose pa = poses(t, c->a), pb = poses(t, c->b);
  if (c->kind == ST_WELD) {
    V3 turn = turn_between(q4_mul(pa.q, d->rel_a), q4_mul(pb.q, d->rel_b));
    V3 next = hold_three(set, rate_three(c, 3), turn, d->turn_mass, d->turn, d->soft, relax);
    push_three(c, 3, v3_sub(next, d->turn), some);
    d->turn = next;
  }
  V3 apart = v3_sub(point_at(pb, d->base_b, d->lb), point_at(pa, d->base_a, d->la));
  V3 next = hold_three(set, rate_three(c, 0), apart, d->mass, d->push, d->soft, relax);
  push_three(c, 0, v3_sub(next, d->push), some);
  d->push = next;
}

static void store_equality(const st_forest_tick *t, const st_constraint *c)
{
  const st_row_equality *d = (const st_row_equality *)c->data;
  const F fields[6] = {d->push.x, d->push.y, d->push.z, d->turn.x, d->turn.y, d->turn.z};
  for (uint32_t k = 0; k < 6; k++) {
    float lane[SB_LANES];
    f_store(lane, fields[k]);
    for (uint32_t l = 0; l < SB_LANES; l++)
      if (c->item[l] != ST_NONE) t->equality_impulse[6 * (size_t)c->item[l] + k] = lane[l];
  }
}

#endif
