/* Rows over joint coordinates: fixed tendons; limits, dry friction and top speed of dofs. Lane text. */
#ifndef SAMEBIT_STEEL_TREE_DOF_H
#define SAMEBIT_STEEL_TREE_DOF_H

#include "steel_tree_rows.h"

typedef struct st_row_tendon {
  F taking;
  F lower, upper, stiffness, damping, friction, slack_lower, slack_upper;
  F length, response;
  F push_lower, push_upper, pull, drag;
  StSoft soft;
} st_row_tendon;

typedef struct st_row_dof {
  F taking;
  F lower, upper, most, top; /* limits; most impulse of friction; top speed */
  F response, now;           /* now: the coordinate */
  F push_lower, push_upper, drag;
  StSoft soft;
} st_row_dof;

_Static_assert(sizeof(st_row_tendon) == ST_ROW_TENDON_FLOATS * sizeof(F), "ST_ROW_TENDON_FLOATS");
_Static_assert(sizeof(st_row_dof) == ST_ROW_DOF_FLOATS * sizeof(F), "ST_ROW_DOF_FLOATS");

/* ---- fixed tendons ---- */

static void begin_tendon(const st_forest_tick *t, st_tree *tree, st_constraint *c)
{
  const sb_model *m = t->tick->model;
  st_row_tendon *d = (st_row_tendon *)c->data;
  uint32_t at[SB_LANES];
  for (uint32_t l = 0; l < SB_LANES; l++) at[l] = c->item[l] == ST_NONE ? 0 : c->item[l];
  memset(d, 0, sizeof *d);
  d->taking = taking_part(c);
  d->lower = pick(m->tendon_limit_lower, at, 1, 0), d->upper = pick(m->tendon_limit_upper, at, 1, 0);
  d->stiffness = pick(m->tendon_stiffness, at, 1, 0), d->damping = pick(m->tendon_damping, at, 1, 0);
  d->friction = pick(m->tendon_friction, at, 1, 0);
  d->slack_lower = pick(m->tendon_spring_lower, at, 1, 0), d->slack_upper = pick(m->tendon_spring_upper, at, 1, 0);
  d->push_lower = pick(t->tendon_impulse, at, 3, 0), d->push_upper = pick(t->tendon_impulse, at, 3, 1);
  d->drag = pick(t->tendon_impulse, at, 3, 2);
  d->soft = st_soft(K(t->limit_omega), K(t->tick->settings.contact_zeta), K(t->tick->settings.h));
  F *j = row_of(&c->half[0], 0);
  memset(j, 0, 2 * (size_t)tree->dofs * sizeof *j);
  for (uint32_t l = 0; l < SB_LANES; l++) {
    if (c->item[l] == ST_NONE) continue;
    for (uint32_t k = 0; k < m->tendon_terms[c->item[l]]; k++) {
      uint32_t term = (uint32_t)m->tendon_first_term[c->item[l]] + k;
      uint32_t slot = t->dof_slot[m->tendon_term_dof[term]];
      ((float *)&j[slot])[l] = m->tendon_term_coef[term];
    }
  }
}

static void place_tendon(st_tree *tree, st_constraint *c)
{
  const ab_bundle *b = tree->bundle;
  const AbWork *work = (const AbWork *)tree->work;
  st_row_tendon *d = (st_row_tendon *)c->data;
  F *j = row_of(&c->half[0], 0);
  d->length = K(0.0f);
  for (uint32_t i = 0; i < b->link_count; i++)
    if (b->links[i].kind == AB_ANGULAR || b->links[i].kind == AB_LINEAR) {
      F coef = j[b->links[i].slot];
      d->length = f_sel(f_abs(coef) > 0.0f, d->length + coef * work[i].q, d->length);
    }
  mark_generalised(tree, j);
  fill_dof_row(tree, j);
  d->response = row_response(c, 0, 0);
  d->pull = K(0.0f);
}

static void warm_tendon(st_constraint *c)
{
  st_row_tendon *d = (st_row_tendon *)c->data;
  row_push(c, 0, (d->push_lower - d->push_upper) + d->drag, flag(d->taking));
}

static void solve_tendon(const st_settings *set, st_constraint *c, M relax)
{
  st_row_tendon *d = (st_row_tendon *)c->data;
  M some = flag(d->taking);
  F mass = st_invert(d->response), inv_h = K(set->inv_h), top = K(set->max_push);
  F low = d->slack_lower - d->length, high = d->length - d->slack_upper;
  F stretch = f_sel(high > 0.0f, high, f_sel(low > 0.0f, -low, K(0.0f)));
  F k = f_sel(m_or(high > 0.0f, low > 0.0f), d->stiffness, K(0.0f));
  F pull = st_spring_impulse(row_rate(c, 0), stretch, k, d->damping, d->response, K(set->h), d->pull);
  pull = f_sel(relax, d->pull, pull);
  row_push(c, 0, pull - d->pull, some);
  d->pull = pull;
  F most = d->friction * K(set->h), drag = f_clamp(d->drag - mass * row_rate(c, 0), -most, most);
  row_push(c, 0, drag - d->drag, some);
  d->drag = drag;
  F lower = st_normal_impulse(row_rate(c, 0), mass, d->push_lower, d->length - d->lower, d->soft, inv_h, top, relax);
  row_push(c, 0, lower - d->push_lower, some);
  d->push_lower = lower;
  F upper = st_normal_impulse(-row_rate(c, 0), mass, d->push_upper, d->upper - d->length, d->soft, inv_h, top, relax);
  row_push(c, 0, d->push_upper - upper, some);
  d->push_upper = upper;
}

static void store_tendon(const st_forest_tick *t, const st_constraint *c)
{
  const st_row_tendon *d = (const st_row_tendon *)c->data;
  const F fields[3] = {d->push_lower, d->push_upper, d->drag};
  for (uint32_t k = 0; k < 3; k++) {
    float lane[SB_LANES];
    f_store(lane, fields[k]);
    for (uint32_t l = 0; l < SB_LANES; l++)
      if (c->item[l] != ST_NONE) t->tendon_impulse[3 * (size_t)c->item[l] + k] = lane[l];
  }
}

/* ---- joint limits, dry friction, top speed ---- */

/* A limit takes part in a tick when it is nearer than this, and twice the way at the tick's first speed: rad or m. */
#define NEAR 0.05f

/* Lists the dofs of each lane that have something to say in this tick; the k-th of each lane stand side by side. */
static void list_dofs(const st_forest_tick *t, st_tree *tree)
{
  const sb_model *m = t->tick->model;
  const st_settings *set = &t->tick->settings;
  const ab_bundle *b = tree->bundle;
  const AbWork *work = (const AbWork *)tree->work;
  uint32_t count[SB_LANES] = {0};
  for (uint32_t i = 0; i < tree->dof_capacity; i++)
    for (uint32_t l = 0; l < SB_LANES; l++) tree->dof_rows[i].item[l] = tree->dof_rows[i].a[l].link = ST_NONE;
  for (uint32_t i = 0; i < b->link_count; i++) {
    if (b->links[i].kind != AB_ANGULAR && b->links[i].kind != AB_LINEAR) continue;
    float q[SB_LANES], qd[SB_LANES];
    f_store(q, work[i].q), f_store(qd, f_abs(work[i].qd));
    for (uint32_t l = 0; l < b->used; l++) {
      uint32_t dof = b->dof[(size_t)i * SB_LANES + l];
      float reach = NEAR + (qd[l] * (2.0f * set->h)) * (float)set->substeps;
      float lower = m->joint_limit_lower[dof], upper = m->joint_limit_upper[dof];
      /* a limit that is none is never near, however far away the joint is: rows are reserved for the others */
      bool near = (lower > -SB_NO_LIMIT && q[l] - lower < reach) || (upper < SB_NO_LIMIT && upper - q[l] < reach);
      if (!near && !(m->joint_friction[dof] > 0.0f) && !(m->joint_velocity_limit[dof] < SB_NO_LIMIT)) continue;
      st_constraint *c = &tree->dof_rows[count[l]++];
      c->item[l] = dof;
      c->a[l] = (st_side){.bundle = 0, .link = i, .lane = l, .record = t->tick->nobody, .body = -1};
    }
  }
  tree->dof_row_count = 0;
  for (uint32_t l = 0; l < SB_LANES; l++)
    if (count[l] > tree->dof_row_count) tree->dof_row_count = count[l];
}

/* Joint coordinates of a dof constraint, where its links are. */
static F dof_coordinate(const st_tree *tree, const st_constraint *c)
{
  float lane[SB_LANES];
  for (uint32_t l = 0; l < SB_LANES; l++)
    lane[l] = c->item[l] == ST_NONE ? 0.0f : tree->work[((size_t)c->a[l].link * AB_WORK_FLOATS + ST_WORK_Q) * SB_LANES + l];
  return f_load(lane);
}

static void begin_dof(const st_forest_tick *t, st_constraint *c)
{
  const sb_model *m = t->tick->model;
  const st_settings *set = &t->tick->settings;
  st_row_dof *d = (st_row_dof *)c->data;
  uint32_t at[SB_LANES];
  for (uint32_t l = 0; l < SB_LANES; l++) at[l] = c->item[l] == ST_NONE ? 0 : c->item[l];
  memset(d, 0, sizeof *d);
  d->taking = taking_part(c);
  d->lower = pick(m->joint_limit_lower, at, 1, 0), d->upper = pick(m->joint_limit_upper, at, 1, 0);
  d->most = pick(m->joint_friction, at, 1, 0) * K(set->h);
  d->top = pick(m->joint_velocity_limit, at, 1, 0);
  d->push_lower = pick(t->dof_impulse, at, 3, 0), d->push_upper = pick(t->dof_impulse, at, 3, 1);
  d->drag = pick(t->dof_impulse, at, 3, 2);
  d->soft = st_soft(K(t->limit_omega), K(set->contact_zeta), K(set->h));
}

static void place_dof(st_tree *tree, st_constraint *c, bool first)
{
  st_row_dof *d = (st_row_dof *)c->data;
  F *j = row_of(&c->half[0], 0);
  if (first) {
    memset(j, 0, 2 * (size_t)tree->dofs * sizeof *j);
    for (uint32_t l = 0; l < SB_LANES; l++)
      if (c->item[l] != ST_NONE) set_lane(&j[tree->bundle->links[c->a[l].link].slot], l);
  }
  mark_dofs(tree, c->a);
  fill_dof_row(tree, j);
  d->response = row_response(c, 0, 0);
  d->now = dof_coordinate(tree, c);
}

static void warm_dof(st_constraint *c)
{
  st_row_dof *d = (st_row_dof *)c->data;
  row_push(c, 0, d->drag + (d->push_lower - d->push_upper), flag(d->taking));
}

static void solve_dof(const st_settings *set, st_constraint *c, M relax)
{
  st_row_dof *d = (st_row_dof *)c->data;
  M some = flag(d->taking);
  F mass = st_invert(d->response), inv_h = K(set->inv_h), push = K(set->max_push);
  F v = row_rate(c, 0), before = v;
  F drag = f_clamp(d->drag - mass * v, -d->most, d->most), change = drag - d->drag;
  v = v + d->response * change;
  F excess = mass * (v - f_clamp(v, -d->top, d->top));
  change = change - excess;
  v = before + d->response * change;
  F lower = st_normal_impulse(v, mass, d->push_lower, d->now - d->lower, d->soft, inv_h, push, relax);
  change = change + (lower - d->push_lower);
  v = before + d->response * change;
  F upper = st_normal_impulse(-v, mass, d->push_upper, d->upper - d->now, d->soft, inv_h, push, relax);
  change = change - (upper - d->push_upper);
  row_push(c, 0, change, some);
  d->drag = drag;
  d->push_lower = lower;
  d->push_upper = upper;
}

/* The coordinate where the next substep looks at it. */
static void drift_dof(F h, st_constraint *c)
{
  st_row_dof *d = (st_row_dof *)c->data;
  d->now = d->now + h * row_rate(c, 0);
}

static void store_dof(const st_forest_tick *t, const st_constraint *c)
{
  const st_row_dof *d = (const st_row_dof *)c->data;
  const F fields[3] = {d->push_lower, d->push_upper, d->drag};
  for (uint32_t k = 0; k < 3; k++) {
    float lane[SB_LANES];
    f_store(lane, fields[k]);
    for (uint32_t l = 0; l < SB_LANES; l++)
      if (c->item[l] != ST_NONE) t->dof_impulse[3 * (size_t)c->item[l] + k] = lane[l];
  }
}

/* Impulses of dofs that take no part in a tick are gone. */
static void clear_dof_impulses(const st_forest_tick *t, const st_tree *tree)
{
  const ab_bundle *b = tree->bundle;
  for (uint32_t i = 0; i < b->link_count; i++)
    for (uint32_t l = 0; l < b->used && (b->links[i].kind == AB_ANGULAR || b->links[i].kind == AB_LINEAR); l++)
      memset(t->dof_impulse + 3 * (size_t)b->dof[(size_t)i * SB_LANES + l], 0, 3 * sizeof(float));
}

#endif
