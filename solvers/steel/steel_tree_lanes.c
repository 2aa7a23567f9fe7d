/* Articulations of steel through the phases of a tick, SB_LANES at a time; compiled once for each lane width. */
#include "steel_tree_contact.h"
#include "steel_tree_dof.h"
#include "steel_tree_loop.h"

#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)
#define LANED(name) CONCAT(name##_lanes, SB_LANES)

/* ---- observables ---- */

/* Adds an impulse at x and a turn to the links of one side, sign times; about their bodies' centres of mass. */
static void observe_side(const st_forest_tick *t, const st_constraint *c, const st_side *side, V3 x, V3 push, V3 turn, float sign)
{
  float local[3][SB_LANES], out[6][SB_LANES];
  for (uint32_t l = 0; l < SB_LANES; l++)
    for (uint32_t k = 0; k < 3; k++) {
      bool link = c->item[l] != ST_NONE && side[l].link != ST_NONE;
      local[k][l] = link ? t->tick->model->body_com[3 * (size_t)side[l].body + k] + t->origin[3 * (size_t)side[l].body + k] : 0.0f;
    }
  V3 com = point_at(poses(t, side), v3_zero(), v3(f_load(local[0]), f_load(local[1]), f_load(local[2])));
  V3 moment = v3_add(turn, v3_cross(v3_sub(x, com), push));
  f_store(out[0], push.x), f_store(out[1], push.y), f_store(out[2], push.z);
  f_store(out[3], moment.x), f_store(out[4], moment.y), f_store(out[5], moment.z);
  for (uint32_t l = 0; l < SB_LANES; l++) {
    if (c->item[l] == ST_NONE || side[l].link == ST_NONE) continue;
    float *to = t->impulse + 6 * (size_t)side[l].body;
    for (uint32_t k = 0; k < 6; k++) to[k] = to[k] + sign * out[k][l];
  }
}

static void observe_impulse(const st_forest_tick *t, const st_constraint *c, V3 x, V3 push, V3 turn, float sign)
{
  observe_side(t, c, c->a, x, push, turn, -sign);
  observe_side(t, c, c->b, x, push, turn, sign);
}

/* What a contact or loop has done in this substep, or (sign -1) takes it back. */
static void observe(const st_forest_tick *t, const st_constraint *c, float sign)
{
  st_pose pa = poses(t, c->a), pb = poses(t, c->b);
  if (c->kind == ST_CONNECT || c->kind == ST_WELD) {
    const st_row_equality *d = (const st_row_equality *)c->data;
    V3 x = v3_scale(v3_add(point_at(pa, d->base_a, d->la), point_at(pb, d->base_b, d->lb)), K(0.5f));
    observe_impulse(t, c, x, d->push, c->kind == ST_WELD ? d->turn : v3_zero(), sign);
  }
  if (c->kind != ST_CONTACT) return;
  const st_row_contact *d = (const st_row_contact *)c->data;
  const st_row_point *p = points_of(c);
  V3 centre = v3_zero();
  F points = K(0.0f);
  for (uint32_t i = 0; i < c->points; i++) {
    V3 x = v3_scale(v3_add(point_at(pa, d->base_a, p[i].la), point_at(pb, d->base_b, p[i].lb)), K(0.5f));
    F used = has_point(c, i);
    observe_impulse(t, c, x, v3_scale(d->n, p[i].impulse), v3_zero(), sign);
    centre = v3_sel(flag(used), v3_add(centre, x), centre);
    points = points + used;
  }
  centre = v3_scale(centre, f_div(K(1.0f), f_max(points, K(1.0f))));
  V3 turn = v3_add(v3_scale(d->n, d->itwist), v3_add_scaled(v3_scale(d->t, d->irt), d->u, d->iru));
  observe_impulse(t, c, centre, v3_add_scaled(v3_scale(d->t, d->it), d->u, d->iu), turn, sign);
}

/* ---- phases ---- */

static M relaxing(bool relax) { return K(relax ? 1.0f : 0.0f) > 0.5f; }

/* tree: NULL for a coupled constraint. */
static void constraint_phase(const st_forest_tick *t, st_tree *tree, st_constraint *c, uint32_t phase, bool first)
{
  const st_settings *set = &t->tick->settings;
  bool relax = phase == ST_RELAX;
  switch (phase) {
  case ST_BEGIN:
    if (c->kind == ST_CONTACT) begin_contact(t, c);
    else if (c->kind == ST_DOF) begin_dof(t, c);
    else if (c->kind == ST_TENDON) begin_tendon(t, tree, c);
    else begin_equality(t, c);
    break;
  case ST_PREDICT:
    if (c->kind == ST_CONTACT) place_contact(t, tree, c, first);
    else if (c->kind == ST_DOF) place_dof(tree, c, first);
    else if (c->kind == ST_TENDON) place_tendon(tree, c);
    else place_equality(t, tree, c);
    break;
  case ST_WARM:
    if (c->kind == ST_CONTACT) warm_contact(c);
    else if (c->kind == ST_DOF) warm_dof(c);
    else if (c->kind == ST_TENDON) warm_tendon(c);
    else warm_equality(c);
    break;
  case ST_SOLVE:
  case ST_RELAX:
    if (c->kind == ST_CONTACT) solve_contact(set, c, relaxing(relax));
    else if (c->kind == ST_DOF) solve_dof(set, c, relaxing(relax));
    else if (c->kind == ST_TENDON) solve_tendon(set, c, relaxing(relax));
    else solve_equality(t, c, relaxing(relax));
    break;
  case ST_DRIFT:
    if (c->kind == ST_CONTACT) drift_contact(K(set->h), c);
    else if (c->kind == ST_DOF) drift_dof(K(set->h), c);
    break;
  case ST_RESTITUTE:
    if (c->kind == ST_CONTACT) restitute_contact(set, c);
    break;
  default:
    if (c->kind == ST_CONTACT) store_contact(t, c);
    else if (c->kind == ST_DOF) store_dof(t, c);
    else if (c->kind == ST_TENDON) store_tendon(t, c);
    else store_equality(t, c);
    break;
  }
}

/* The phase, with what it does to observed impulses: a substep's are known once it has relaxed; bounces change the last one's. */
static void observed_phase(const st_forest_tick *t, st_tree *tree, st_constraint *c, uint32_t phase, bool first)
{
  if (t->impulse && phase == ST_RESTITUTE) observe(t, c, -1.0f);
  constraint_phase(t, tree, c, phase, first);
  if (t->impulse && (phase == ST_RELAX || phase == ST_RESTITUTE)) observe(t, c, 1.0f);
}

static void constraints_phase(const st_forest_tick *t, st_tree *tree, uint32_t phase, bool first)
{
  for (uint32_t i = 0; i < tree->fixed_count; i++) observed_phase(t, tree, &tree->fixed[i], phase, first);
  for (uint32_t i = 0; i < tree->dof_row_count; i++) observed_phase(t, tree, &tree->dof_rows[i], phase, first);
  for (uint32_t i = 0; i < tree->contact_count; i++) observed_phase(t, tree, &tree->contacts[i], phase, first);
}

/* Whether a bundle has anything but free flight in this tick; dofs are known once it has begun. */
static bool has_rows(const st_tree *tree) { return tree->coupled || tree->contact_count || tree->fixed_count || tree->dof_row_count; }

/* Free flight of a substep: half the way, accelerations, velocities. */
static void predict(const st_forest_tick *t, st_tree *tree)
{
  const ab_bundle *b = tree->bundle;
  AbWork *work = (AbWork *)tree->work;
  bool rows = has_rows(tree);
  if (rows && !tree->first) give_velocities(tree, (const F *)tree->v);
  tree->first = false;
  drift_links(K(t->step.dt * 0.5f), b, work);
  place_links(b, work);
  find_accelerations(&t->step, b, work);
  for (uint32_t i = 0; i < b->link_count; i++) kick_link(K(t->step.dt), b->links[i].kind, &work[i]);
  if (!rows) return;
  keep_responses(tree);
  take_velocities(tree, (F *)tree->v);
}

static void begin_tree(const st_forest_tick *t, st_tree *tree)
{
  const ab_bundle *b = tree->bundle;
  AbWork *work = (AbWork *)tree->work;
  for (uint32_t i = 0; i < b->link_count; i++) load_link(t->tick->state, b, i, &work[i]);
  tree->first = true;
  list_dofs(t, tree);
  if (has_rows(tree)) take_velocities(tree, (F *)tree->v_start);
}

static void drift_tree(const st_forest_tick *t, st_tree *tree)
{
  if (has_rows(tree)) give_velocities(tree, (const F *)tree->v);
  drift_links(K(t->step.dt * 0.5f), tree->bundle, (AbWork *)tree->work);
}

static void store_tree(const st_forest_tick *t, st_tree *tree)
{
  const ab_bundle *b = tree->bundle;
  AbWork *work = (AbWork *)tree->work;
  if (has_rows(tree)) give_velocities(tree, (const F *)tree->v);
  place_links(b, work);
  for (uint32_t i = 0; i < b->link_count; i++) store_link(t->tick->state, b, i, &work[i]);
}

void LANED(st_tree_phase)(const st_forest_tick *t, st_tree *tree, uint32_t phase)
{
  bool first = tree->first;
  if (phase == ST_BEGIN) begin_tree(t, tree);
  if (phase == ST_PREDICT) predict(t, tree);
  if (phase == ST_DRIFT) drift_tree(t, tree);
  if (phase == ST_STORE) clear_dof_impulses(t, tree);
  constraints_phase(t, tree, phase, first);
  if (phase == ST_STORE) store_tree(t, tree);
}

/* Links that fit the work area on the stack. */
#define STACK_LINKS 32u

/* All phases of a bundle, with the work area where it stays in the nearest cache. */
void LANED(st_tree_run)(const st_forest_tick *t, st_tree *tree, uint32_t iterations)
{
  _Alignas(64) AbWork stack[STACK_LINKS];
  float *own = tree->work;
  if (tree->bundle->link_count <= STACK_LINKS) tree->work = (float *)stack;
  LANED(st_tree_phase)(t, tree, ST_BEGIN);
  bool rows = has_rows(tree);
  for (uint32_t s = 0; s < t->tick->settings.substeps; s++) {
    LANED(st_tree_phase)(t, tree, ST_PREDICT);
    if (rows) LANED(st_tree_phase)(t, tree, ST_WARM);
    for (uint32_t i = 0; rows && i < iterations; i++) LANED(st_tree_phase)(t, tree, ST_SOLVE);
    LANED(st_tree_phase)(t, tree, ST_DRIFT);
    if (rows) LANED(st_tree_phase)(t, tree, ST_RELAX);
  }
  if (rows) LANED(st_tree_phase)(t, tree, ST_RESTITUTE);
  LANED(st_tree_phase)(t, tree, ST_STORE);
  tree->work = own;
}

/* Copies one lane of a row. */
static void copy_lane(const F *row, uint32_t floats, uint32_t lane, float *to)
{
  for (uint32_t k = 0; k < floats; k++) {
    float all[SB_LANES];
    f_store(all, row[k]);
    to[k] = all[lane];
  }
}

void LANED(st_tree_row)(st_tree *tree, const st_side *side, float sign, const float x[3], const float d[3], bool angular, float *row)
{
  st_side a[SB_LANES], b[SB_LANES];
  for (uint32_t l = 0; l < SB_LANES; l++) {
    a[l].link = b[l].link = ST_NONE;
    if (l == side->lane) *(sign < 0.0f ? &a[l] : &b[l]) = *side;
  }
  mark_sides(tree, a, b);
  F *all = (F *)tree->row;
  fill_row(tree, v3(K(x[0]), K(x[1]), K(x[2])), v3(K(d[0]), K(d[1]), K(d[2])), angular, all);
  copy_lane(all, 2 * tree->dofs, side->lane, row);
}

void LANED(st_tree_dof_row)(st_tree *tree, uint32_t lane, uint32_t slot, float coef, float *row)
{
  F *all = (F *)tree->row;
  memset(all, 0, 2 * (size_t)tree->dofs * sizeof *all);
  all[slot] = K(coef);
  mark_generalised(tree, all);
  fill_dof_row(tree, all);
  copy_lane(all, 2 * tree->dofs, lane, row);
}

#if SB_LANES == 1
void st_coupled_phase(const st_forest_tick *t, st_constraint *c, uint32_t phase, bool first)
{
  observed_phase(t, NULL, c, phase, first);
}
#endif
