/* Articulations of steel through the phases of a tick, SB_LANES at a time; compiled once for each lane width. */
#include "steel_tree.h"

#include <stddef.h>

#include "articulation_pass.h"
#include "samebit/solver_tools.h"

#include "steel_gather.h"
#include "steel_row.kernel.h"

#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)
#define LANED(name) CONCAT(name##_lanes, SB_LANES)

/* ---- records ---- */

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

typedef struct st_row_equality {
  F taking;
  V3 la, lb, base_a, base_b;
  Q4 rel_a;  /* orientation that b should have, seen from a's pose */
  Q4 rel_b;  /* b's own orientation, seen from b's pose */
  StSoft soft;
  S33 mass, turn_mass;
  V3 push, turn; /* accumulated impulses; JOINT: push.x */
} st_row_equality;

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

_Static_assert(sizeof(st_mark) + sizeof(st_run) + sizeof(st_answer) == ST_SCRATCH_FLOATS * sizeof(F), "ST_SCRATCH_FLOATS");
_Static_assert(sizeof(st_row_contact) == ST_ROW_CONTACT_FLOATS * sizeof(F), "ST_ROW_CONTACT_FLOATS");
_Static_assert(sizeof(st_row_point) == ST_ROW_POINT_FLOATS * sizeof(F), "ST_ROW_POINT_FLOATS");
_Static_assert(sizeof(st_row_equality) == ST_ROW_EQUALITY_FLOATS * sizeof(F), "ST_ROW_EQUALITY_FLOATS");
_Static_assert(sizeof(st_row_tendon) == ST_ROW_TENDON_FLOATS * sizeof(F), "ST_ROW_TENDON_FLOATS");
_Static_assert(sizeof(st_row_dof) == ST_ROW_DOF_FLOATS * sizeof(F), "ST_ROW_DOF_FLOATS");

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

/* ---- rows ---- */

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

/* ---- contacts ---- */

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

static F taking_part(const st_constraint *c)
{
  float lane[SB_LANES];
  for (uint32_t l = 0; l < SB_LANES; l++) lane[l] = c->item[l] != ST_NONE ? 1.0f : 0.0f;
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

/* ---- equality constraints ---- */

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
      bool near = q[l] - m->joint_limit_lower[dof] < reach || m->joint_limit_upper[dof] - q[l] < reach;
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

static void place_dof(const st_forest_tick *t, st_tree *tree, st_constraint *c, bool first)
{
  st_row_dof *d = (st_row_dof *)c->data;
  F *j = row_of(&c->half[0], 0);
  (void)t;
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
    else if (c->kind == ST_DOF) place_dof(t, tree, c, first);
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
