/* Passes over bundles of manifolds and over bodies, SB_LANES at a time; compiled once for each lane width. */
#include "steel_data.h"

#include "samebit/maths.h"
#include "samebit/rigid_spin.h"

#include "steel.kernel.h"
#include "steel_gather.h"

#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)
#define LANED(name) CONCAT(name##_lanes, SB_LANES)

/* The constraint of a bundle: shared part, then `points` points. */
typedef struct st_shared {
  V3 n, t, u;
  F mu, twist_arm, restitution;
  StSoft soft;
  StMass a, b;
  V3 fa, fb; /* where friction acts, from the centres of mass */
  F m_tt, m_uu, m_tu, twist_mass;
  F it, iu, itwist;
} st_shared;

typedef struct st_point {
  V3 ra, rb;
  F gap, mass, impulse, carried, approach;
} st_point;

_Static_assert(sizeof(st_shared) == ST_SHARED_FLOATS * sizeof(F), "ST_SHARED_FLOATS");
_Static_assert(sizeof(st_point) == ST_POINT_FLOATS * sizeof(F), "ST_POINT_FLOATS");

/* ---- who takes part ---- */

typedef struct lanes_of {
  uint32_t manifold[SB_LANES]; /* the first one again in lanes that are not used */
  uint32_t a[SB_LANES], b[SB_LANES];
  uint32_t keep_a, keep_b; /* lanes whose body moves and is written */
} lanes_of;

static inline lanes_of find_lanes(const st_tick *t, const st_bundle *bundle)
{
  lanes_of r = {.keep_a = 0, .keep_b = 0};
  for (uint32_t l = 0; l < SB_LANES; l++) {
    bool used = l < bundle->used;
    r.manifold[l] = t->order[bundle->first + (used ? l : 0)];
    const st_manifold *m = &t->manifolds[r.manifold[l]];
    r.a[l] = used ? m->body_a : t->nobody;
    r.b[l] = used ? m->body_b : t->nobody;
    if (t->masses[8 * (size_t)r.a[l]] > 0.0f) r.keep_a |= 1u << l;
    if (t->masses[8 * (size_t)r.b[l]] > 0.0f) r.keep_b |= 1u << l;
  }
  return r;
}

static M mask_of(uint32_t lanes)
{
  float lane[SB_LANES];
  for (uint32_t l = 0; l < SB_LANES; l++) lane[l] = lanes >> l & 1u ? 1.0f : 0.0f;
  return f_load(lane) > 0.5f;
}

static inline __attribute__((always_inline)) StVelocity load_velocity(const st_tick *t, const uint32_t *record)
{
  F c[8];
  StVelocity r;
  load_rows(&t->bodies[0].v[0], record, 16, c);
  r.v = v3(c[0], c[1], c[2]);
  r.w = v3(c[3], c[4], c[5]);
  return r;
}

static inline __attribute__((always_inline)) void store_velocity(const st_tick *t, const uint32_t *record, StVelocity s, uint32_t keep)
{
  F c[8] = {s.v.x, s.v.y, s.v.z, s.w.x, s.w.y, s.w.z, K(0.0f), K(0.0f)};
  store_rows(&t->bodies[0].v[0], record, 16, c, keep);
}

static inline __attribute__((always_inline)) StMovement load_movement(const st_tick *t, const uint32_t *record)
{
  F c[8];
  StMovement r;
  load_rows(&t->bodies[0].dp[0], record, 16, c);
  r.dp = v3(c[0], c[1], c[2]);
  r.dq = q4(c[3], c[4], c[5], c[6]);
  return r;
}

static inline __attribute__((always_inline)) StMass load_mass(const st_tick *t, const uint32_t *record)
{
  F c[8];
  StMass r;
  load_rows(t->masses, record, 8, c);
  r.inv_mass = c[0];
  r.inv_inertia = s33(c[1], c[2], c[3], c[4], c[5], c[6]);
  return r;
}

static inline st_shared *shared_of(const st_tick *t, const st_bundle *b) { return (st_shared *)(t->blocks + b->block); }
static inline st_point *points_of(const st_tick *t, const st_bundle *b) { return (st_point *)(shared_of(t, b) + 1); }

/* ---- constraints ---- */

/* A contact point, moved by shift, from a body's centre of mass; world axes; zero for what does not move. */
static V3 contact_arm(const st_tick *t, const uint32_t *record, const float *points, const uint32_t *contact, V3 shift)
{
  const sb_model *m = t->model;
  uint32_t body[SB_LANES];
  float moves[SB_LANES];
  for (int l = 0; l < SB_LANES; l++) {
    bool some = record[l] != t->nobody;
    body[l] = some ? t->moved[record[l]] : 0;
    moves[l] = some ? 1.0f : 0.0f;
  }
  M some = f_load(moves) > 0.0f;
  const float *q = t->state->body_q;
  Q4 turn = q4(pick(q, body, 7, 3), pick(q, body, 7, 4), pick(q, body, 7, 5), pick(q, body, 7, 6));
  V3 local = v3_sub(pick_v3(points, contact, 3, 0), pick_v3(m->body_com, body, 3, 0));
  return v3_sel(some, v3_add(q4_rotate(turn, local), shift), v3_zero());
}

static F cached(const st_tick *t, const uint32_t *contact, uint32_t field)
{
  float lane[SB_LANES];
  for (int l = 0; l < SB_LANES; l++) {
    int32_t old = t->match[contact[l]];
    lane[l] = old < 0 ? 0.0f : t->cache_old[ST_CACHE_FLOATS * (size_t)old + field];
  }
  return f_load(lane);
}

static StSoft choose_soft(const st_tick *t, const lanes_of *who)
{
  const st_settings *set = &t->settings;
  M is_world = m_not(mask_of(who->keep_a & who->keep_b));
  return st_soft(f_sel(is_world, K(set->contact_omega * 2.0f), K(set->contact_omega)), K(set->contact_zeta), K(set->h));
}

static void prepare_bundle(const st_tick *t, const st_bundle *bundle)
{
  const sb_contacts *c = t->contacts;
  lanes_of who = find_lanes(t, bundle);
  st_shared *s = shared_of(t, bundle);
  st_point *p = points_of(t, bundle);
  uint32_t contact[SB_LANES];
  for (uint32_t l = 0; l < SB_LANES; l++) contact[l] = t->manifolds[who.manifold[l]].first;
  StPair velocity;
  velocity.a = load_velocity(t, who.a);
  velocity.b = load_velocity(t, who.b);
  s->a = load_mass(t, who.a);
  s->b = load_mass(t, who.b);
  s->n = pick_v3(c->normal, contact, 3, 0);
  s->t = v3_orthogonal(s->n);
  s->u = v3_cross(s->n, s->t);
  s->mu = pick(c->friction, contact, 3, 0);
  s->restitution = pick(c->restitution, contact, 1, 0);
  s->soft = choose_soft(t, &who);
  /* friction is kept as a vector: its directions t and u are made anew each tick */
  V3 friction = v3(cached(t, contact, 1), cached(t, contact, 2), cached(t, contact, 3));
  s->it = v3_dot(friction, s->t);
  s->iu = v3_dot(friction, s->u);
  s->itwist = cached(t, contact, 4);
  V3 fa = v3_zero(), fb = v3_zero();
  for (uint32_t i = 0; i < bundle->points; i++, p++) {
    /* both impulses act midway between the two surfaces: at one point, so that they make no moment */
    p->gap = pick(c->gap, contact, 1, 0);
    V3 half = v3_scale(s->n, p->gap * 0.5f);
    p->ra = contact_arm(t, who.a, c->point_a, contact, half);
    p->rb = contact_arm(t, who.b, c->point_b, contact, v3_neg(half));
    p->mass = st_invert(st_response(s->a, s->b, p->ra, p->rb, s->n));
    p->impulse = cached(t, contact, 0);
    p->carried = K(0.0f);
    p->approach = v3_dot(s->n, st_relative(velocity, p->ra, p->rb));
    fa = v3_add(fa, p->ra);
    fb = v3_add(fb, p->rb);
    for (uint32_t l = 0; l < SB_LANES; l++) contact[l]++;
  }
  F share = K(1.0f / (float)bundle->points);
  s->fa = v3_scale(fa, share);
  s->fb = v3_scale(fb, share);
  /* twisting friction acts at the points' mean distance from their centre, plus the surface's own torsional length */
  F arm = K(0.0f);
  p = points_of(t, bundle);
  for (uint32_t i = 0; i < bundle->points; i++) arm = arm + v3_len(v3_sub(p[i].rb, s->fb)) + v3_len(v3_sub(p[i].ra, s->fa));
  for (uint32_t l = 0; l < SB_LANES; l++) contact[l] = t->manifolds[who.manifold[l]].first;
  float sides[SB_LANES];
  for (uint32_t l = 0; l < SB_LANES; l++) sides[l] = (float)((who.keep_a >> l & 1u) + (who.keep_b >> l & 1u));
  F both = f_max(f_load(sides), K(1.0f));
  s->twist_arm = f_div(arm * share, both) * s->mu + pick(c->friction, contact, 3, 1);
  F tt = st_response(s->a, s->b, s->fa, s->fb, s->t), uu = st_response(s->a, s->b, s->fa, s->fb, s->u);
  F tu = st_response_cross(s->a, s->b, s->fa, s->fb, s->t, s->u);
  F inv_det = st_invert(tt * uu - tu * tu);
  s->m_tt = uu * inv_det;
  s->m_uu = tt * inv_det;
  s->m_tu = -(tu * inv_det);
  s->twist_mass = st_invert(v3_dot(s->n, s33_mul_v3(s33_add(s->a.inv_inertia, s->b.inv_inertia), s->n)));
}

void LANED(st_prepare)(const st_tick *t, uint32_t first, uint32_t end)
{
  for (uint32_t i = first; i < end; i++) prepare_bundle(t, &t->bundles[i]);
}

/* ---- passes ---- */

void LANED(st_warm_start)(const st_tick *t, uint32_t first, uint32_t end)
{
  for (uint32_t i = first; i < end; i++) {
    const st_bundle *bundle = &t->bundles[i];
    lanes_of who = find_lanes(t, bundle);
    const st_shared *c = shared_of(t, bundle);
    const st_point *p = points_of(t, bundle);
    StPair s;
    s.a = load_velocity(t, who.a);
    s.b = load_velocity(t, who.b);
    for (uint32_t k = 0; k < bundle->points; k++) s = st_push(s, c->a, c->b, p[k].ra, p[k].rb, v3_scale(c->n, p[k].impulse));
    s = st_push(s, c->a, c->b, c->fa, c->fb, v3_add_scaled(v3_scale(c->t, c->it), c->u, c->iu));
    s = st_twist(s, c->a, c->b, v3_scale(c->n, c->itwist));
    store_velocity(t, who.a, s.a, who.keep_a);
    store_velocity(t, who.b, s.b, who.keep_b);
  }
}

void LANED(st_solve)(const st_tick *t, uint32_t first, uint32_t end, bool relax)
{
  const st_settings *set = &t->settings;
  F inv_h = K(set->inv_h), max_push = K(set->max_push);
  M no_spring = K(relax ? 1.0f : 0.0f) > 0.5f;
  for (uint32_t i = first; i < end; i++) {
    const st_bundle *bundle = &t->bundles[i];
    lanes_of who = find_lanes(t, bundle);
    st_shared *c = shared_of(t, bundle);
    st_point *p = points_of(t, bundle);
    StMovement ma = load_movement(t, who.a), mb = load_movement(t, who.b);
    StPair s;
    s.a = load_velocity(t, who.a);
    s.b = load_velocity(t, who.b);
    /* friction first, within the normal impulses so far, so that the last word is the one against overlap */
    F total = K(0.0f);
    for (uint32_t k = 0; k < bundle->points; k++) total = total + p[k].impulse;
    StFriction f = st_solve_friction(s, c->a, c->b, c->fa, c->fb, c->t, c->u, c->m_tt, c->m_uu, c->m_tu, c->it, c->iu, c->mu * total);
    c->it = f.t;
    c->iu = f.u;
    StTwist w = st_solve_twist(f.s, c->a, c->b, c->n, c->twist_mass, c->itwist, c->twist_arm * total);
    c->itwist = w.impulse;
    s = w.s;
    for (uint32_t k = 0; k < bundle->points; k++) {
      F gap = st_gap(ma, mb, p[k].ra, p[k].rb, c->n, p[k].gap);
      StNormal r = st_solve_normal(s, c->a, c->b, p[k].ra, p[k].rb, c->n, p[k].mass, p[k].impulse, gap, c->soft, inv_h, max_push,
                                   no_spring);
      s = r.s;
      p[k].impulse = r.impulse;
      p[k].carried = f_max(p[k].carried, r.impulse);
    }
    store_velocity(t, who.a, s.a, who.keep_a);
    store_velocity(t, who.b, s.b, who.keep_b);
  }
}

void LANED(st_restitution)(const st_tick *t, uint32_t first, uint32_t end)
{
  F threshold = K(t->settings.restitution_threshold);
  for (uint32_t i = first; i < end; i++) {
    const st_bundle *bundle = &t->bundles[i];
    lanes_of who = find_lanes(t, bundle);
    const st_shared *c = shared_of(t, bundle);
    st_point *p = points_of(t, bundle);
    if (!m_any(c->restitution > 0.0f)) continue; /* nothing would change */
    StPair s;
    s.a = load_velocity(t, who.a);
    s.b = load_velocity(t, who.b);
    for (uint32_t k = 0; k < bundle->points; k++) {
      StNormal r = st_restitute(s, c->a, c->b, p[k].ra, p[k].rb, c->n, p[k].mass, p[k].impulse, p[k].approach, p[k].carried,
                                c->restitution, threshold);
      s = r.s;
      p[k].impulse = r.impulse;
    }
    store_velocity(t, who.a, s.a, who.keep_a);
    store_velocity(t, who.b, s.b, who.keep_b);
  }
}

void LANED(st_store)(const st_tick *t, uint32_t first, uint32_t end)
{
  for (uint32_t i = first; i < end; i++) {
    const st_bundle *bundle = &t->bundles[i];
    const st_shared *c = shared_of(t, bundle);
    const st_point *p = points_of(t, bundle);
    uint32_t contact[SB_LANES];
    for (uint32_t l = 0; l < SB_LANES; l++) contact[l] = t->manifolds[t->order[bundle->first + (l < bundle->used ? l : 0)]].first;
    V3 friction = v3_add_scaled(v3_scale(c->t, c->it), c->u, c->iu);
    put(t->cache_new, contact, ST_CACHE_FLOATS, 1, friction.x, bundle->used);
    put(t->cache_new, contact, ST_CACHE_FLOATS, 2, friction.y, bundle->used);
    put(t->cache_new, contact, ST_CACHE_FLOATS, 3, friction.z, bundle->used);
    put(t->cache_new, contact, ST_CACHE_FLOATS, 4, c->itwist, bundle->used);
    for (uint32_t k = 0; k < bundle->points; k++) {
      put(t->cache_new, contact, ST_CACHE_FLOATS, 0, p[k].impulse, bundle->used);
      for (uint32_t l = 0; l < SB_LANES; l++) contact[l]++;
    }
  }
}

/* ---- bodies ---- */

/* Records first + lane and the bodies they stand for; the last one again in lanes beyond the end. */
typedef struct body_lanes {
  uint32_t record[SB_LANES], body[SB_LANES], used;
} body_lanes;

static body_lanes find_bodies(const st_tick *t, uint32_t first, uint32_t end)
{
  body_lanes r;
  r.used = end - first < SB_LANES ? end - first : SB_LANES;
  for (uint32_t l = 0; l < SB_LANES; l++) {
    r.record[l] = l < r.used ? first + l : first;
    r.body[l] = t->moved[r.record[l]];
  }
  return r;
}

static S33 pick_s33(const float *from, const uint32_t *index)
{
  return s33(pick(from, index, 6, 0), pick(from, index, 6, 1), pick(from, index, 6, 2), pick(from, index, 6, 3), pick(from, index, 6, 4),
             pick(from, index, 6, 5));
}

static Q4 pick_turn(const st_tick *t, const uint32_t *body)
{
  const float *q = t->state->body_q;
  return q4(pick(q, body, 7, 3), pick(q, body, 7, 4), pick(q, body, 7, 5), pick(q, body, 7, 6));
}

void LANED(st_bodies_load)(const st_tick *t, uint32_t first, uint32_t end)
{
  for (uint32_t i = first; i < end; i += SB_LANES) {
    body_lanes who = find_bodies(t, i, end);
    const float *qd = t->state->body_qd;
    uint32_t all = (1u << who.used) - 1u;
    /* own[]: 1 for bodies that this instance moves; others are obstacles with infinite mass */
    F own = pick(t->masses, who.record, 8, 7);
    S33 inverse = s33_rotate(q4_to_m33(pick_turn(t, who.body)), pick_s33(t->model->body_inv_inertia, who.body));
    F velocity[8] = {pick(qd, who.body, 6, 0), pick(qd, who.body, 6, 1), pick(qd, who.body, 6, 2), pick(qd, who.body, 6, 3),
                     pick(qd, who.body, 6, 4), pick(qd, who.body, 6, 5), K(0.0f), K(0.0f)};
    F movement[8] = {K(0.0f), K(0.0f), K(0.0f), K(0.0f), K(0.0f), K(0.0f), K(1.0f), K(0.0f)};
    F mass[8] = {pick(t->model->body_inv_mass, who.body, 1, 0) * own, inverse.xx * own, inverse.yy * own, inverse.zz * own,
                 inverse.xy * own, inverse.xz * own, inverse.yz * own, own};
    store_rows(&t->bodies[0].v[0], who.record, 16, velocity, all);
    store_rows(&t->bodies[0].dp[0], who.record, 16, movement, all);
    store_rows(t->masses, who.record, 8, mass, all);
  }
}

void LANED(st_bodies_push)(const st_tick *t, uint32_t first, uint32_t end)
{
  F h = K(t->settings.h);
  for (uint32_t i = first; i < end; i += SB_LANES) {
    body_lanes who = find_bodies(t, i, end);
    uint32_t world[SB_LANES];
    for (int l = 0; l < SB_LANES; l++) world[l] = (uint32_t)t->model->body_world[who.body[l]];
    StMass mass = load_mass(t, who.record);
    StVelocity s = load_velocity(t, who.record);
    M own = mass.inv_mass > 0.0f;
    V3 force = pick_v3(t->state->body_f, who.body, 6, 0), torque = pick_v3(t->state->body_f, who.body, 6, 3);
    V3 v = v3_add_scaled(v3_add_scaled(s.v, force, mass.inv_mass * h), pick_v3(t->model->gravity, world, 3, 0), h);
    s.v = v3_sel(own, v, s.v);
    s.w = v3_add_scaled(s.w, s33_mul_v3(mass.inv_inertia, torque), h);
    store_velocity(t, who.record, s, (1u << who.used) - 1u);
  }
}

void LANED(st_bodies_move)(const st_tick *t, uint32_t first, uint32_t end)
{
  F h = K(t->settings.h);
  for (uint32_t i = first; i < end; i += SB_LANES) {
    body_lanes who = find_bodies(t, i, end);
    uint32_t all = (1u << who.used) - 1u;
    StVelocity s = load_velocity(t, who.record);
    StMovement m = load_movement(t, who.record);
    Q4 start = pick_turn(t, who.body);
    RigidSpin r = rigid_spin(q4_mul(m.dq, start), s.w, pick_s33(t->model->body_inertia, who.body),
                             pick_s33(t->model->body_inv_inertia, who.body), v3_zero(), h);
    M own = pick(t->masses, who.record, 8, 7) > 0.5f;
    m.dp = v3_add_scaled(m.dp, s.v, h);
    m.dq = q4_integrate(m.dq, s.w, h);
    s.w = v3_sel(own, r.w, s.w);
    F c[8] = {m.dp.x, m.dp.y, m.dp.z, m.dq.x, m.dq.y, m.dq.z, m.dq.w, K(0.0f)};
    store_velocity(t, who.record, s, all);
    store_rows(&t->bodies[0].dp[0], who.record, 16, c, all);
  }
}

static V3 snap_v3(V3 v) { return v3(f_snap(v.x, K(ST_SNAP)), f_snap(v.y, K(ST_SNAP)), f_snap(v.z, K(ST_SNAP))); }

void LANED(st_bodies_store)(const st_tick *t, uint32_t first, uint32_t end)
{
  for (uint32_t i = first; i < end; i += SB_LANES) {
    body_lanes who = find_bodies(t, i, end);
    StVelocity s = load_velocity(t, who.record);
    StMovement m = load_movement(t, who.record);
    V3 com = pick_v3(t->model->body_com, who.body, 3, 0);
    Q4 start = pick_turn(t, who.body);
    V3 centre = v3_add(pick_v3(t->state->body_q, who.body, 7, 0), q4_rotate(start, com));
    Q4 turn = q4_normalize(q4_mul(m.dq, start));
    V3 p = v3_sub(v3_add(centre, m.dp), q4_rotate(turn, com));
    V3 v = snap_v3(s.v), w = snap_v3(s.w);
    float pose[7][SB_LANES], rate[6][SB_LANES], own[SB_LANES];
    f_store(pose[0], p.x), f_store(pose[1], p.y), f_store(pose[2], p.z);
    f_store(pose[3], turn.x), f_store(pose[4], turn.y), f_store(pose[5], turn.z), f_store(pose[6], turn.w);
    f_store(rate[0], v.x), f_store(rate[1], v.y), f_store(rate[2], v.z);
    f_store(rate[3], w.x), f_store(rate[4], w.y), f_store(rate[5], w.z);
    f_store(own, pick(t->masses, who.record, 8, 7));
    for (uint32_t l = 0; l < who.used; l++) {
      if (own[l] < 0.5f) continue;
      uint32_t body = who.body[l];
      float *joint_q = t->state->joint_q + t->model->joint_q_start[body], *joint_qd = t->state->joint_qd + t->model->joint_qd_start[body];
      for (uint32_t k = 0; k < 7; k++) t->state->body_q[7 * (size_t)body + k] = joint_q[k] = pose[k][l];
      for (uint32_t k = 0; k < 6; k++) t->state->body_qd[6 * (size_t)body + k] = joint_qd[k] = rate[k][l];
    }
  }
}
