/* Contacts of articulations as rows: normals, sliding, twisting and rolling friction, bounces. Lane text. */
#ifndef SAMEBIT_STEEL_TREE_CONTACT_H
#define SAMEBIT_STEEL_TREE_CONTACT_H

#include "steel_tree_rows.h"

typedef struct st_row_contact {
  F taking;           /* 1 on the lanes that take part */
  V3 n, t, u;
  F mu, twist_arm, roll_arm, restitution;
  F give, turn_give;  /* what rows give way beyond their response, 1/kg and 1/(kg m^2) */
  StSoft soft;
  F m_tt, m_uu, m_tu, twist_mass, r_tt, r_uu, r_tu;
  F it, iu, itwist, irt, iru;
  V3 base_a, base_b;  /* what is added to a side's pose, m */
  F ot, ou;           /* velocity of an obstacle at the centre of friction, along t and u */
  V3 ow;              /* its angular velocity, b's less a's */
} st_row_contact;

typedef struct st_row_point {
  V3 la, lb;  /* from the poses of both sides, in their axes */
  F gap;      /* at the start of the tick */
  F apart;    /* n . (b - a) at the start of the tick */
  F now;      /* gap where it is looked at */
  F mass, impulse, carried, approach;
  F moving;   /* velocity of obstacles along n, b's less a's */
} st_row_point;

_Static_assert(sizeof(st_row_contact) == ST_ROW_CONTACT_FLOATS * sizeof(F), "ST_ROW_CONTACT_FLOATS");
_Static_assert(sizeof(st_row_point) == ST_ROW_POINT_FLOATS * sizeof(F), "ST_ROW_POINT_FLOATS");

static inline st_row_point *points_of(const st_constraint *c) { return (st_row_point *)((st_row_contact *)c->data + 1); }

static F cached(const st_forest_tick *t, const st_constraint *c, uint32_t point, uint32_t field)
{
  float lane[SB_LANES];
  for (uint32_t l = 0; l < SB_LANES; l++) {
    bool some = c->item[l] != ST_NONE && point < c->count[l];
    lane[l] = some ? t->warm[ST_CACHE_FLOATS * (size_t)(c->item[l] + point) + field] : 0.0f;
  }
  return f_load(lane);
}

static F has_point(const st_constraint *c, uint32_t point)
{
  float lane[SB_LANES];
  for (uint32_t l = 0; l < SB_LANES; l++) lane[l] = c->item[l] != ST_NONE && point < c->count[l] ? 1.0f : 0.0f;
  return f_load(lane);
}

/* Links that meet along a direction in which their joints hardly let them move would get impulses without bound. A row gives way a
 * little, as if both bodies were free and this much softer. */
#define GIVE 0.02f

static void find_give(const st_forest_tick *t, const st_constraint *c, F *give, F *turn_give)
{
  const sb_model *m = t->tick->model;
  float linear[SB_LANES], angular[SB_LANES];
  for (uint32_t l = 0; l < SB_LANES; l++) {
    linear[l] = angular[l] = 0.0f;
    for (uint32_t e = 0; e < 2; e++) {
      int32_t body = e ? c->b[l].body : c->a[l].body;
      if (body < 0) continue;
      const float *i = m->body_inv_inertia + 6 * (size_t)body;
      linear[l] = linear[l] + m->body_inv_mass[body];
      angular[l] = angular[l] + ((i[0] + i[1]) + i[2]) * (1.0f / 3.0f);
    }
  }
  *give = f_load(linear) * GIVE;
  *turn_give = f_load(angular) * GIVE;
}

static void begin_contact(const st_forest_tick *t, st_constraint *c)
{
  const st_settings *set = &t->tick->settings;
  const sb_contacts *in = t->tick->contacts;
  st_row_contact *d = (st_row_contact *)c->data;
  uint32_t at[SB_LANES];
  /* Lanes that take no part look at contact 0 and write nothing. */
  for (uint32_t l = 0; l < SB_LANES; l++) at[l] = c->item[l] == ST_NONE ? 0 : c->item[l];
  st_hold a = hold_side(t, c->a), b = hold_side(t, c->b);
  memset(d, 0, sizeof *d);
  d->taking = taking_part(c);
  d->n = pick_v3(in->normal, at, 3, 0);
  d->t = v3_orthogonal(d->n);
  d->u = v3_cross(d->n, d->t);
  d->mu = pick(in->friction, at, 3, 0);
  d->roll_arm = pick(in->friction, at, 3, 2);
  d->restitution = pick(in->restitution, at, 1, 0);
  find_give(t, c, &d->give, &d->turn_give);
  /* as stiff as contacts with the world: what squeezes a link may weigh much more than the link */
  d->soft = st_soft(K(set->contact_omega) * 2.0f, K(set->contact_zeta), K(set->h));
  V3 friction = v3(cached(t, c, 0, 1), cached(t, c, 0, 2), cached(t, c, 0, 3));
  d->it = v3_dot(friction, d->t);
  d->iu = v3_dot(friction, d->u);
  V3 turning = v3(cached(t, c, 0, 4), cached(t, c, 0, 5), cached(t, c, 0, 6));
  d->itwist = v3_dot(turning, d->n);
  d->base_a = a.base;
  d->base_b = b.base;
  V3 centre = v3_zero(), x[ST_MAX_POINTS];
  F used[ST_MAX_POINTS], points = K(0.0f);
  st_row_point *p = points_of(c);
  for (uint32_t i = 0; i < c->points; i++, p++) {
    used[i] = has_point(c, i);
    V3 half = v3_scale(d->n, pick(in->gap, at, 1, 0) * 0.5f);
    p->gap = pick(in->gap, at, 1, 0);
    V3 point_a = pick_v3(in->point_a, at, 3, 0), point_b = pick_v3(in->point_b, at, 3, 0), xa = hold_world(&a, point_a);
    p->la = hold_point(&a, point_a);
    p->lb = hold_point(&b, point_b);
    p->apart = v3_dot(d->n, v3_sub(hold_world(&b, point_b), xa));
    p->impulse = cached(t, c, i, 0);
    p->carried = p->approach = p->now = p->mass = K(0.0f);
    x[i] = v3_add(xa, half);
    centre = v3_sel(flag(used[i]), v3_add(centre, x[i]), centre);
    points = points + used[i];
    for (uint32_t l = 0; l < SB_LANES; l++)
      if (c->item[l] != ST_NONE && i + 1 < c->count[l]) at[l]++;
  }
  for (uint32_t l = 0; l < SB_LANES; l++) at[l] = c->item[l] == ST_NONE ? 0 : c->item[l];
  F inverse = f_div(K(1.0f), f_max(points, K(1.0f)));
  centre = v3_scale(centre, inverse);
  /* twisting friction acts at the points' mean distance from their centre, plus the surface's own torsional length */
  F arm = K(0.0f);
  for (uint32_t i = 0; i < c->points; i++) arm = arm + f_sel(flag(used[i]), v3_len(v3_sub(x[i], centre)), K(0.0f));
  M some = flag(d->taking);
  d->twist_arm = f_sel(some, (arm * inverse) * d->mu + pick(in->friction, at, 3, 1), K(0.0f));
  d->roll_arm = f_sel(some, d->roll_arm, K(0.0f));
  d->mu = f_sel(some, d->mu, K(0.0f));
  M rubs = d->mu > 0.0f, twists = d->twist_arm > 0.0f, rolls = d->roll_arm > 0.0f;
  d->it = f_sel(rubs, d->it, K(0.0f));
  d->iu = f_sel(rubs, d->iu, K(0.0f));
  d->itwist = f_sel(twists, d->itwist, K(0.0f));
  d->irt = f_sel(rolls, v3_dot(turning, d->t), K(0.0f));
  d->iru = f_sel(rolls, v3_dot(turning, d->u), K(0.0f));
  c->rub = m_any(rubs);
  c->twist = m_any(twists);
  c->roll = m_any(rolls);
}

/* Inverse of a symmetric 2 x 2 response of rows r and r + 1. */
static void pair_mass(const st_constraint *c, uint32_t r, F give, F *m_tt, F *m_uu, F *m_tu)
{
  F tt = row_response(c, r, r) + give, uu = row_response(c, r + 1, r + 1) + give, tu = row_response(c, r, r + 1);
  F inv_det = st_invert(tt * uu - tu * tu);
  *m_tt = uu * inv_det;
  *m_uu = tt * inv_det;
  *m_tu = -(tu * inv_det);
}

/* Rows where the bodies are now. */
static void place_contact(const st_forest_tick *t, st_tree *tree, st_constraint *c, bool first)
{
  st_row_contact *d = (st_row_contact *)c->data;
  st_row_point *p = points_of(c);
  st_pose pa = poses(t, c->a), pb = poses(t, c->b);
  st_obstacle oa = obstacles(t, c->a, d->base_a), ob = obstacles(t, c->b, d->base_b);
  if (tree) mark_sides(tree, c->a, c->b);
  V3 centre = v3_zero();
  F points = K(0.0f);
  for (uint32_t i = 0; i < c->points; i++) {
    V3 xa = point_at(pa, d->base_a, p[i].la), xb = point_at(pb, d->base_b, p[i].lb);
    V3 x = v3_scale(v3_add(xa, xb), K(0.5f));
    F used = has_point(c, i);
    p[i].now = p[i].gap + (v3_dot(d->n, v3_sub(xb, xa)) - p[i].apart);
    make_row(t, tree, c, i, x, d->n, false, d->base_a, d->base_b);
    p[i].mass = st_invert(row_response(c, i, i) + d->give);
    p[i].moving = v3_dot(d->n, v3_sub(obstacle_at(&ob, x), obstacle_at(&oa, x)));
    if (first) p[i].approach = start_rate(tree, c, i) + p[i].moving;
    centre = v3_sel(flag(used), v3_add(centre, x), centre);
    points = points + used;
  }
  centre = v3_scale(centre, f_div(K(1.0f), f_max(points, K(1.0f))));
  V3 moving = v3_sub(obstacle_at(&ob, centre), obstacle_at(&oa, centre));
  d->ot = v3_dot(d->t, moving);
  d->ou = v3_dot(d->u, moving);
  d->ow = v3_sub(ob.w, oa.w);
  uint32_t r = c->points;
  if (c->rub) {
    make_row(t, tree, c, r, centre, d->t, false, d->base_a, d->base_b);
    make_row(t, tree, c, r + 1, centre, d->u, false, d->base_a, d->base_b);
    pair_mass(c, r, d->give, &d->m_tt, &d->m_uu, &d->m_tu);
  }
  if (c->twist) {
    make_row(t, tree, c, r + 2, centre, d->n, true, d->base_a, d->base_b);
    d->twist_mass = st_invert(row_response(c, r + 2, r + 2) + d->turn_give);
  }
  if (!c->roll) return;
  make_row(t, tree, c, r + 3, centre, d->t, true, d->base_a, d->base_b);
  make_row(t, tree, c, r + 4, centre, d->u, true, d->base_a, d->base_b);
  pair_mass(c, r + 3, d->turn_give, &d->r_tt, &d->r_uu, &d->r_tu);
}

static void warm_contact(st_constraint *c)
{
  st_row_contact *d = (st_row_contact *)c->data;
  st_row_point *p = points_of(c);
  M some = flag(d->taking), rubs = d->mu > 0.0f;
  uint32_t r = c->points;
  for (uint32_t i = 0; i < c->points; i++) row_push(c, i, p[i].impulse, flag(has_point(c, i)));
  if (c->rub) {
    row_push(c, r, d->it, rubs);
    row_push(c, r + 1, d->iu, rubs);
  }
  if (c->twist) row_push(c, r + 2, d->itwist, m_and(some, d->twist_arm > 0.0f));
  if (!c->roll) return;
  row_push(c, r + 3, d->irt, m_and(some, d->roll_arm > 0.0f));
  row_push(c, r + 4, d->iru, m_and(some, d->roll_arm > 0.0f));
}

/* Friction first, within the normal impulses so far, so that the last word is the one against overlap. */
static void solve_contact(const st_settings *set, st_constraint *c, M relax)
{
  st_row_contact *d = (st_row_contact *)c->data;
  st_row_point *p = points_of(c);
  M some = flag(d->taking);
  uint32_t r = c->points;
  F total = K(0.0f);
  for (uint32_t i = 0; i < c->points; i++) total = total + p[i].impulse;
  if (c->rub) {
    M rubs = d->mu > 0.0f;
    StCone cone = st_cone_impulse(row_rate(c, r) + d->ot, row_rate(c, r + 1) + d->ou, d->m_tt, d->m_uu, d->m_tu, d->it, d->iu, d->mu * total);
    row_push(c, r, cone.t - d->it, rubs);
    row_push(c, r + 1, cone.u - d->iu, rubs);
    d->it = f_sel(rubs, cone.t, K(0.0f));
    d->iu = f_sel(rubs, cone.u, K(0.0f));
  }
  if (c->twist) {
    M twists = m_and(some, d->twist_arm > 0.0f);
    F limit = d->twist_arm * total, rate = row_rate(c, r + 2) + v3_dot(d->n, d->ow);
    F twist = f_sel(twists, f_clamp(d->itwist - d->twist_mass * rate, -limit, limit), K(0.0f));
    row_push(c, r + 2, twist - d->itwist, twists);
    d->itwist = twist;
  }
  if (c->roll) {
    M rolls = m_and(some, d->roll_arm > 0.0f);
    StCone roll = st_cone_impulse(row_rate(c, r + 3) + v3_dot(d->t, d->ow), row_rate(c, r + 4) + v3_dot(d->u, d->ow), d->r_tt, d->r_uu, d->r_tu,
                                  d->irt, d->iru, d->roll_arm * total);
    row_push(c, r + 3, roll.t - d->irt, rolls);
    row_push(c, r + 4, roll.u - d->iru, rolls);
    d->irt = f_sel(rolls, roll.t, K(0.0f));
    d->iru = f_sel(rolls, roll.u, K(0.0f));
  }
  for (uint32_t i = 0; i < c->points; i++) {
    M used = flag(has_point(c, i));
    F rate = (row_rate(c, i) + p[i].moving) + d->give * p[i].impulse;
    F impulse = st_normal_impulse(rate, p[i].mass, p[i].impulse, p[i].now, d->soft, K(set->inv_h), K(set->max_push),
                                  relax);
    impulse = f_sel(used, impulse, K(0.0f));
    row_push(c, i, impulse - p[i].impulse, used);
    p[i].impulse = impulse;
    p[i].carried = f_max(p[i].carried, impulse);
  }
}

/* Gaps where the bodies are when the next substep looks at them. */
static void drift_contact(F h, st_constraint *c)
{
  st_row_point *p = points_of(c);
  for (uint32_t i = 0; i < c->points; i++) p[i].now = p[i].now + h * (row_rate(c, i) + p[i].moving);
}

static void restitute_contact(const st_settings *set, st_constraint *c)
{
  st_row_contact *d = (st_row_contact *)c->data;
  st_row_point *p = points_of(c);
  for (uint32_t i = 0; i < c->points; i++) {
    M bounce = m_and(m_and(-p[i].approach > K(set->restitution_threshold), p[i].carried > 0.0f), m_and(d->restitution > 0.0f, flag(has_point(c, i))));
    if (!m_any(bounce)) continue; /* nothing would change */
    F wanted = f_max(p[i].impulse - p[i].mass * ((row_rate(c, i) + p[i].moving) + d->restitution * p[i].approach), K(0.0f));
    row_push(c, i, wanted - p[i].impulse, bounce);
    p[i].impulse = f_sel(bounce, wanted, p[i].impulse);
  }
}

static void store_contact(const st_forest_tick *t, const st_constraint *c)
{
  const st_row_contact *d = (const st_row_contact *)c->data;
  const st_row_point *p = points_of(c);
  V3 friction = v3_add_scaled(v3_scale(d->t, d->it), d->u, d->iu);
  V3 turning = v3_add(v3_scale(d->n, d->itwist), v3_add_scaled(v3_scale(d->t, d->irt), d->u, d->iru));
  float shared[6][SB_LANES], normal[ST_MAX_POINTS][SB_LANES];
  f_store(shared[0], friction.x), f_store(shared[1], friction.y), f_store(shared[2], friction.z);
  f_store(shared[3], turning.x), f_store(shared[4], turning.y), f_store(shared[5], turning.z);
  for (uint32_t i = 0; i < c->points; i++) f_store(normal[i], p[i].impulse);
  for (uint32_t l = 0; l < SB_LANES; l++) {
    if (c->item[l] == ST_NONE) continue;
    float *out = t->tick->cache + ST_CACHE_FLOATS * (size_t)c->item[l];
    for (uint32_t k = 0; k < 6; k++) out[1 + k] = shared[k][l];
    for (uint32_t i = 0; i < c->count[l]; i++) out[ST_CACHE_FLOATS * i] = normal[i][l];
  }
}

#endif
