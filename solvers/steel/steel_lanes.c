/* Passes over bundles of manifolds, SB_LANES at a time; compiled once for each lane width. Bodies:
 * steel_bodies_lanes.c. */
#include "steel_records.h"

/* The constraint of a bundle: shared part, then `points` points, then as many bounces, which few passes look at. Lanes
 * that are not used hold the first manifold's numbers and the record of what does not move. */
typedef struct st_shared {
  uint32_t record_a[SB_LANES], record_b[SB_LANES];
  V3 n, t;
  F mu, twist_arm, roll_arm, restitution;
  StMass a, b;
  F round_a, round_b; /* radius of a surface on which a point does not turn with the body, else 0 */
  F m_tt, m_uu, m_tu, twist_mass;
  F it, iu, itwist, iroll_t, iroll_u;
} st_shared;

typedef struct st_point {
  V3 ra, rb;
  F gap, mass, impulse;
} st_point;

/* The most that the point has carried in this tick (N s), its approach velocity at the start (m/s). */
typedef struct st_bounce {
  F carried, approach;
} st_bounce;

_Static_assert(sizeof(st_shared) == ST_SHARED_FLOATS * sizeof(F), "ST_SHARED_FLOATS");
_Static_assert(sizeof(st_point) + sizeof(st_bounce) == ST_POINT_FLOATS * sizeof(F), "ST_POINT_FLOATS");

/* ---- who takes part ---- */

typedef struct lanes_of {
  uint32_t contact[SB_LANES]; /* the first of each manifold; the first manifold again in lanes that are not used */
  uint32_t a[SB_LANES], b[SB_LANES];
} lanes_of;

static lanes_of find_lanes(const st_tick *t, st_bundle *bundle)
{
  lanes_of r;
  bundle->keep_a = bundle->keep_b = 0;
  for (uint32_t l = 0; l < SB_LANES; l++) {
    bool used = l < bundle->used;
    const st_manifold *m = &t->manifolds[t->order[bundle->first + (used ? l : 0)]];
    r.contact[l] = m->first;
    r.a[l] = used ? m->body_a : t->nobody;
    r.b[l] = used ? m->body_b : t->nobody;
    if (used && (m->moves & ST_MOVES_A)) bundle->keep_a |= 1u << l;
    if (used && (m->moves & ST_MOVES_B)) bundle->keep_b |= 1u << l;
  }
  return r;
}

static inline st_shared *shared_of(const st_tick *t, const st_bundle *b) { return (st_shared *)(t->blocks + b->block); }
static inline st_point *points_of(const st_tick *t, const st_bundle *b) { return (st_point *)(shared_of(t, b) + 1); }
static inline st_bounce *bounces_of(const st_tick *t, const st_bundle *b)
{
  return (st_bounce *)(points_of(t, b) + b->points);
}

static inline __attribute__((always_inline)) StPair load_pair(const st_tick *t, const st_shared *c)
{
  StPair s;
  s.a = load_velocity(t, c->record_a);
  s.b = load_velocity(t, c->record_b);
  return s;
}

static inline __attribute__((always_inline)) void store_pair(const st_tick *t, const st_bundle *bundle,
                                                             const st_shared *c, StPair s)
{
  store_velocity(t, c->record_a, s.a, bundle->keep_a);
  store_velocity(t, c->record_b, s.b, bundle->keep_b);
}

/* ---- prefetching: constraints stream through the cache, bodies do not; no result depends on it ---- */

#define LINE_BYTES 64u

static inline void prefetch_block(const st_tick *t, const st_bundle *bundles, uint32_t i, uint32_t end)
{
  if (i >= end) return;
  const char *block = (const char *)shared_of(t, &bundles[i]);
  size_t bytes = sizeof(st_shared) + bundles[i].points * sizeof(st_point);
  for (size_t k = 0; k < bytes; k += LINE_BYTES) __builtin_prefetch(block + k, 1);
}

/* A bundle ahead its bodies, two ahead its constraint. */
static inline void prefetch_next(const st_tick *t, uint32_t i, uint32_t end)
{
  prefetch_block(t, t->bundles, i + 2, end);
  if (i + 1 >= end) return;
  const st_shared *c = shared_of(t, &t->bundles[i + 1]);
  for (uint32_t l = 0; l < SB_LANES; l++) {
    __builtin_prefetch(&t->bodies[c->record_a[l]], 1);
    __builtin_prefetch(&t->bodies[c->record_b[l]], 1);
  }
}

/* What the constraints of a bundle are made of. */
static inline void prefetch_contacts(const st_tick *t, uint32_t i, uint32_t end)
{
  if (i >= end) return;
  const sb_contacts *c = t->contacts;
  const st_bundle *bundle = &t->bundles[i];
  for (uint32_t l = 0; l < bundle->used; l++) {
    size_t first = t->manifolds[t->order[bundle->first + l]].first;
    int32_t old = t->match[first];
    __builtin_prefetch(c->point_a + 3 * first);
    __builtin_prefetch(c->point_b + 3 * first);
    __builtin_prefetch(c->normal + 3 * first);
    __builtin_prefetch(c->friction + 3 * first);
    __builtin_prefetch(c->gap + first);
    if (old < 0) continue;
    const float *cached = t->cache + ST_CACHE_FLOATS * (size_t)old;
    for (uint32_t k = 0; k < bundle->points; k += 2) __builtin_prefetch(cached + ST_CACHE_FLOATS * k);
  }
}

/* ---- constraints ---- */

/* Where a body's frame stood at the start of the tick, about its centre of mass. */
typedef struct StFrame {
  M33 axes;
  V3 com;
  M moves;
} StFrame;

static inline __attribute__((always_inline)) StFrame load_frame(const st_tick *t, const uint32_t *record)
{
  F c[8];
  float moves[SB_LANES];
  StFrame r;
  load_rows((float *)t->frames + ST_FRAME_TURN, record, ST_FRAME_FLOATS, c);
  r.axes = q4_to_m33(q4(c[0], c[1], c[2], c[3]));
  r.com = v3(c[4], c[5], c[6]);
  for (int l = 0; l < SB_LANES; l++) moves[l] = record[l] != t->nobody ? 1.0f : 0.0f;
  r.moves = f_load(moves) > 0.5f;
  return r;
}

/* A contact point, moved by shift, from a body's centre of mass; world axes; zero for what does not move. */
static inline __attribute__((always_inline)) V3 contact_arm(StFrame f, const float *points, const uint32_t *contact,
                                                            V3 shift)
{
  V3 local = v3_sub(pick_v3(points, contact, 3, 0), f.com);
  return v3_sel(f.moves, v3_add(m33_mul_v3(f.axes, local), shift), v3_zero());
}

static F pick_radius(const sb_model *m, const int32_t *shapes, const uint32_t *contact)
{
  float lane[SB_LANES];
  for (uint32_t l = 0; l < SB_LANES; l++) {
    int32_t shape = shapes[contact[l]];
    bool is_round = m->shape_type[shape] == SB_SHAPE_SPHERE || m->shape_type[shape] == SB_SHAPE_CAPSULE;
    lane[l] = is_round ? m->shape_size[3 * (size_t)shape] : 0.0f;
  }
  return f_load(lane);
}

/* Lanes' numbers of the tick before, zero for new contacts. */
static inline __attribute__((always_inline)) void load_cached(const st_tick *t, const uint32_t *contact, uint32_t count,
                                                              F *field)
{
  float lane[ST_CACHE_FLOATS][SB_LANES];
  for (uint32_t l = 0; l < SB_LANES; l++) {
    int32_t old = t->match[contact[l]];
    for (uint32_t k = 0; k < count; k++) lane[k][l] = old < 0 ? 0.0f : t->cache[ST_CACHE_FLOATS * (size_t)old + k];
  }
  for (uint32_t k = 0; k < count; k++) field[k] = f_load(lane[k]);
}

/* Springs of contacts between bodies, and against what does not move. */
typedef struct StSofts {
  StSoft body, world;
} StSofts;

static inline __attribute__((always_inline)) StSofts find_softs(const st_settings *set)
{
  StSofts r;
  r.body = st_soft(K(set->contact_omega), K(set->contact_zeta), K(set->h));
  r.world = st_soft(K(set->contact_omega * 2.0f), K(set->contact_zeta), K(set->h));
  return r;
}

static inline __attribute__((always_inline)) StSoft choose_soft(StSofts softs, const st_shared *c)
{
  M both = m_and(c->a.inv_mass > 0.0f, c->b.inv_mass > 0.0f);
  StSoft r;
  r.rate = f_sel(both, softs.body.rate, softs.world.rate);
  r.mass_scale = f_sel(both, softs.body.mass_scale, softs.world.mass_scale);
  r.impulse_scale = f_sel(both, softs.body.impulse_scale, softs.world.impulse_scale);
  return r;
}

/* Friction and twist of the tick before; friction is kept as vectors, because its directions t and u are made anew each
 * tick. */
static inline __attribute__((always_inline)) void load_friction(const st_tick *t, const uint32_t *contact, st_shared *s)
{
  F old[ST_CACHE_FLOATS];
  load_cached(t, contact, ST_CACHE_FLOATS, old);
  V3 u = v3_cross(s->n, s->t), friction = v3(old[1], old[2], old[3]), turning = v3(old[4], old[5], old[6]);
  s->it = v3_dot(friction, s->t);
  s->iu = v3_dot(friction, u);
  s->itwist = v3_dot(turning, s->n);
  s->iroll_t = v3_dot(turning, s->t);
  s->iroll_u = v3_dot(turning, u);
}

/* Where friction acts, from the centres of mass: the mean of the points. */
typedef struct StCentre {
  V3 a, b;
} StCentre;

static inline __attribute__((always_inline)) StCentre find_centre(const st_point *p, uint32_t points)
{
  StCentre r = {p[0].ra, p[0].rb};
  for (uint32_t k = 1; k < points; k++) {
    r.a = v3_add(r.a, p[k].ra);
    r.b = v3_add(r.b, p[k].rb);
  }
  F share = K(1.0f / (float)points);
  r.a = v3_scale(r.a, share);
  r.b = v3_scale(r.b, share);
  return r;
}

static inline __attribute__((always_inline)) void prepare_points(const st_tick *t, const st_bundle *bundle,
                                                                 const lanes_of *who)
{
  const sb_contacts *c = t->contacts;
  const st_shared *s = shared_of(t, bundle);
  st_point *p = points_of(t, bundle);
  StFrame frame_a = load_frame(t, who->a), frame_b = load_frame(t, who->b);
  uint32_t contact[SB_LANES];
  memcpy(contact, who->contact, sizeof contact);
  for (uint32_t i = 0; i < bundle->points; i++, p++) {
    /* both impulses act at one point, so that they make no moment: where the surfaces will meet, or midway where they
     * overlap */
    p->gap = pick(c->gap, contact, 1, 0);
    V3 half = v3_scale(s->n, st_overlap(p->gap) * 0.5f);
    p->ra = contact_arm(frame_a, c->point_a, contact, half);
    p->rb = contact_arm(frame_b, c->point_b, contact, v3_neg(half));
    p->mass = st_invert(st_response(s->a, s->b, p->ra, p->rb, s->n));
    load_cached(t, contact, 1, &p->impulse);
    for (uint32_t l = 0; l < SB_LANES; l++) contact[l]++;
  }
}

static void prepare_bounces(const st_tick *t, const st_bundle *bundle)
{
  const st_shared *s = shared_of(t, bundle);
  const st_point *p = points_of(t, bundle);
  st_bounce *bounce = bounces_of(t, bundle);
  StPair velocity = load_pair(t, s);
  for (uint32_t i = 0; i < bundle->points; i++) {
    bounce[i].carried = K(0.0f);
    bounce[i].approach = v3_dot(s->n, st_relative(velocity, p[i].ra, p[i].rb));
  }
}

/* Twisting friction acts at the points' mean distance from their centre, plus the surface's own torsional length. */
static inline __attribute__((always_inline)) F find_twist_arm(const st_tick *t, const st_bundle *bundle,
                                                              const lanes_of *who, StCentre centre)
{
  const st_shared *s = shared_of(t, bundle);
  const st_point *p = points_of(t, bundle);
  F arm = K(0.0f);
  for (uint32_t i = 0; i < bundle->points; i++)
    arm = arm + v3_len(v3_sub(p[i].rb, centre.b)) + v3_len(v3_sub(p[i].ra, centre.a));
  float sides[SB_LANES];
  for (uint32_t l = 0; l < SB_LANES; l++) sides[l] = (float)((bundle->keep_a >> l & 1u) + (bundle->keep_b >> l & 1u));
  F both = f_max(f_load(sides), K(1.0f));
  return f_div(arm * K(1.0f / (float)bundle->points), both) * s->mu + pick(t->contacts->friction, who->contact, 3, 1);
}

static void prepare_bundle(const st_tick *t, st_bundle *bundle)
{
  const sb_contacts *c = t->contacts;
  lanes_of who = find_lanes(t, bundle);
  st_shared *s = shared_of(t, bundle);
  memcpy(s->record_a, who.a, sizeof who.a);
  memcpy(s->record_b, who.b, sizeof who.b);
  s->a = load_mass(t, who.a);
  s->b = load_mass(t, who.b);
  s->n = pick_v3(c->normal, who.contact, 3, 0);
  s->t = v3_orthogonal(s->n);
  s->mu = pick(c->friction, who.contact, 3, 0);
  s->roll_arm = pick(c->friction, who.contact, 3, 2);
  s->restitution = pick(c->restitution, who.contact, 1, 0);
  s->round_a = pick_radius(t->model, c->shape_a, who.contact);
  s->round_b = pick_radius(t->model, c->shape_b, who.contact);
  load_friction(t, who.contact, s);
  prepare_points(t, bundle, &who);
  bundle->bounces = m_any(s->restitution > 0.0f) != 0;
  if (bundle->bounces) prepare_bounces(t, bundle);
  V3 u = v3_cross(s->n, s->t);
  StCentre centre = find_centre(points_of(t, bundle), bundle->points);
  s->twist_arm = find_twist_arm(t, bundle, &who, centre);
  F tt = st_response(s->a, s->b, centre.a, centre.b, s->t), uu = st_response(s->a, s->b, centre.a, centre.b, u);
  F tu = st_response_cross(s->a, s->b, centre.a, centre.b, s->t, u);
  F inv_det = st_invert(tt * uu - tu * tu);
  s->m_tt = uu * inv_det;
  s->m_uu = tt * inv_det;
  s->m_tu = -(tu * inv_det);
  s->twist_mass = st_invert(v3_dot(s->n, s33_mul_v3(s33_add(s->a.inv_inertia, s->b.inv_inertia), s->n)));
}

void LANED(st_prepare)(const st_tick *t, uint32_t first, uint32_t end)
{
  for (uint32_t i = first; i < end; i++) {
    prefetch_contacts(t, i + 1, end);
    prepare_bundle(t, &t->bundles[i]);
  }
}

/* ---- passes ---- */

/* Twist and rolling as one vector. */
static inline __attribute__((always_inline)) V3 turning_impulse(const st_shared *c, V3 u)
{
  return v3_add_scaled(v3_add_scaled(v3_scale(c->n, c->itwist), c->t, c->iroll_t), u, c->iroll_u);
}

void LANED(st_warm_start)(const st_tick *t, uint32_t first, uint32_t end)
{
  for (uint32_t i = first; i < end; i++) {
    prefetch_next(t, i, end);
    const st_bundle *bundle = &t->bundles[i];
    const st_shared *c = shared_of(t, bundle);
    const st_point *p = points_of(t, bundle);
    StPair s = load_pair(t, c);
    V3 u = v3_cross(c->n, c->t);
    for (uint32_t k = 0; k < bundle->points; k++)
      s = st_push(s, c->a, c->b, p[k].ra, p[k].rb, v3_scale(c->n, p[k].impulse));
    StCentre centre = find_centre(p, bundle->points);
    s = st_push(s, c->a, c->b, centre.a, centre.b, v3_add_scaled(v3_scale(c->t, c->it), u, c->iu));
    s = st_twist(s, c->a, c->b, turning_impulse(c, u));
    store_pair(t, bundle, c, s);
  }
}

/* Friction comes first, within the normal impulses so far, so that the last word is the one against overlap. */
static inline __attribute__((always_inline)) StPair solve_friction(st_shared *c, StPair s, StCentre centre, F total)
{
  V3 u = v3_cross(c->n, c->t);
  StFriction f = st_solve_friction(s, c->a, c->b, centre.a, centre.b, c->t, u, c->m_tt, c->m_uu, c->m_tu, c->it, c->iu,
                                   c->mu * total);
  c->it = f.t;
  c->iu = f.u;
  StTwist w = st_solve_twist(f.s, c->a, c->b, c->n, c->twist_mass, c->itwist, c->twist_arm * total);
  c->itwist = w.impulse;
  if (!m_any(c->roll_arm > 0.0f)) return w.s; /* nothing would change */
  StRolling r = st_solve_rolling(w.s, c->a, c->b, c->t, u, c->iroll_t, c->iroll_u, c->roll_arm * total);
  c->iroll_t = r.t;
  c->iroll_u = r.u;
  return r.s;
}

static inline __attribute__((always_inline)) void solve_bundle(const st_tick *t, const st_bundle *bundle, StSofts softs,
                                                               M relax)
{
  const st_settings *set = &t->settings;
  st_shared *c = shared_of(t, bundle);
  st_point *p = points_of(t, bundle);
  StClosing closing = st_closing(load_movement(t, c->record_a), load_movement(t, c->record_b), c->n);
  F total = p[0].impulse, push = K(0.0f);
  for (uint32_t k = 1; k < bundle->points; k++) total = total + p[k].impulse;
  StPair s = solve_friction(c, load_pair(t, c), find_centre(p, bundle->points), total);
  StSoft soft = choose_soft(softs, c);
  StPoints along = st_points(s, c->n);
  for (uint32_t k = 0; k < bundle->points; k++) {
    F shift = st_overlap(p[k].gap) * 0.5f;
    F gap = st_gap(closing, p[k].ra, p[k].rb, p[k].gap, shift + c->round_a, shift + c->round_b);
    StNormal r = st_solve_normal(along, c->a, c->b, v3_cross(p[k].ra, c->n), v3_cross(p[k].rb, c->n), p[k].mass,
                                 p[k].impulse, gap, soft, K(set->inv_h), K(set->max_push), relax);
    push = push + (r.impulse - p[k].impulse);
    along = r.s;
    p[k].impulse = r.impulse;
  }
  st_bounce *bounce = bounces_of(t, bundle);
  for (uint32_t k = 0; bundle->bounces && k < bundle->points; k++)
    bounce[k].carried = f_max(bounce[k].carried, p[k].impulse);
  store_pair(t, bundle, c, st_points_done(s, along, c->a, c->b, c->n, push));
}

void LANED(st_solve)(const st_tick *t, uint32_t first, uint32_t end, bool relax)
{
  StSofts softs = find_softs(&t->settings);
  for (uint32_t i = first; i < end; i++) {
    prefetch_next(t, i, end);
    if (relax)
      solve_bundle(t, &t->bundles[i], softs, K(1.0f) > 0.5f);
    else
      solve_bundle(t, &t->bundles[i], softs, K(0.0f) > 0.5f);
  }
}

void LANED(st_restitution)(const st_tick *t, uint32_t first, uint32_t end)
{
  F threshold = K(t->settings.restitution_threshold);
  for (uint32_t i = first; i < end; i++) {
    const st_bundle *bundle = &t->bundles[i];
    const st_shared *c = shared_of(t, bundle);
    st_point *p = points_of(t, bundle);
    const st_bounce *bounce = bounces_of(t, bundle);
    if (!bundle->bounces) continue; /* nothing would change */
    StPair s = load_pair(t, c);
    for (uint32_t k = 0; k < bundle->points; k++) {
      StBounce r = st_restitute(s, c->a, c->b, p[k].ra, p[k].rb, c->n, p[k].mass, p[k].impulse, bounce[k].approach,
                                bounce[k].carried, c->restitution, threshold);
      s = r.s;
      p[k].impulse = r.impulse;
    }
    store_pair(t, bundle, c, s);
  }
}

void LANED(st_store)(const st_tick *t, uint32_t first, uint32_t end)
{
  for (uint32_t i = first; i < end; i++) {
    const st_bundle *bundle = &t->bundles[i];
    const st_shared *c = shared_of(t, bundle);
    const st_point *p = points_of(t, bundle);
    uint32_t contact[SB_LANES];
    for (uint32_t l = 0; l < SB_LANES; l++)
      contact[l] = t->manifolds[t->order[bundle->first + (l < bundle->used ? l : 0)]].first;
    V3 u = v3_cross(c->n, c->t), friction = v3_add_scaled(v3_scale(c->t, c->it), u, c->iu),
       turning = turning_impulse(c, u);
    F field[ST_CACHE_FLOATS] = {p[0].impulse, friction.x, friction.y, friction.z, turning.x, turning.y, turning.z};
    for (uint32_t f = 0; f < ST_CACHE_FLOATS; f++) put(t->cache, contact, ST_CACHE_FLOATS, f, field[f], bundle->used);
    for (uint32_t k = 1; k < bundle->points; k++) {
      for (uint32_t l = 0; l < SB_LANES; l++) contact[l]++;
      put(t->cache, contact, ST_CACHE_FLOATS, 0, p[k].impulse, bundle->used);
    }
  }
}
