/* Passes over bodies, SB_LANES at a time; compiled once for each lane width. */
#include "steel_records.h"

#include "samebit/rigid_spin.h"

/* Records first + lane and the bodies they stand for; the last one again in lanes beyond the end. */
typedef struct body_lanes {
  uint32_t record[SB_LANES], body[SB_LANES], used, all;
} body_lanes;

static body_lanes find_bodies(const st_tick *t, uint32_t first, uint32_t end)
{
  body_lanes r;
  r.used = end - first < SB_LANES ? end - first : SB_LANES;
  r.all = (1u << r.used) - 1u;
  for (uint32_t l = 0; l < SB_LANES; l++) {
    r.record[l] = l < r.used ? first + l : first;
    r.body[l] = t->moved[r.record[l]];
  }
  return r;
}

static inline __attribute__((always_inline)) S33 load_inertia(const st_tick *t, uint32_t row, const uint32_t *record)
{
  F c[8];
  load_rows((float *)t->frames + row, record, ST_FRAME_FLOATS, c);
  return s33(c[0], c[1], c[2], c[3], c[4], c[5]);
}

static inline __attribute__((always_inline)) StVelocity load_warm(const st_tick *t, uint32_t row,
                                                                  const uint32_t *record)
{
  F c[8];
  StVelocity r;
  load_rows((float *)t->warms + row, record, ST_WARM_FLOATS, c);
  r.v = v3(c[0], c[1], c[2]);
  r.w = v3(c[3], c[4], c[5]);
  return r;
}

static inline __attribute__((always_inline)) void store_warm(const st_tick *t, uint32_t row, const body_lanes *who,
                                                             StVelocity s)
{
  F c[8] = {s.v.x, s.v.y, s.v.z, s.w.x, s.w.y, s.w.z, K(0.0f), K(0.0f)};
  store_rows((float *)t->warms + row, who->record, ST_WARM_FLOATS, c, who->all);
}

/* What gravity and body_f change within a substep. */
static StVelocity find_kick(const st_tick *t, const body_lanes *who, StMass mass)
{
  F h = K(t->settings.h);
  uint32_t world[SB_LANES];
  for (int l = 0; l < SB_LANES; l++) world[l] = (uint32_t)t->model->body_world[who->body[l]];
  V3 force = pick_v3(t->state->body_f, who->body, 6, 0), torque = pick_v3(t->state->body_f, who->body, 6, 3);
  V3 gravity = v3_scale(pick_v3(t->model->gravity, world, 3, 0), h);
  StVelocity kick;
  kick.v = v3_sel(mass.inv_mass > 0.0f, v3_add_scaled(gravity, force, mass.inv_mass * h), v3_zero());
  kick.w = v3_scale(s33_mul_v3(mass.inv_inertia, torque), h);
  return kick;
}

void LANED(st_bodies_load)(const st_tick *t, uint32_t first, uint32_t end)
{
  for (uint32_t i = first; i < end; i += SB_LANES) {
    body_lanes who = find_bodies(t, i, end);
    const float *q = t->state->body_q, *qd = t->state->body_qd;
    /* 1 for bodies that this instance moves and that do not sleep; others are obstacles with infinite mass */
    F own = pick(&t->frames[0].own, who.record, ST_FRAME_FLOATS, 0) *
            pick(&t->frames[0].awake, who.record, ST_FRAME_FLOATS, 0);
    V3 com = pick_v3(t->model->body_com, who.body, 3, 0);
    Q4 turn = q4(pick(q, who.body, 7, 3), pick(q, who.body, 7, 4), pick(q, who.body, 7, 5), pick(q, who.body, 7, 6));
    S33 inverse = s33_rotate(q4_to_m33(turn), load_inertia(t, ST_FRAME_INV_INERTIA, who.record));
    StVelocity s, none;
    s.v = pick_v3(qd, who.body, 6, 0);
    s.w = pick_v3(qd, who.body, 6, 3);
    none.v = none.w = v3_zero();
    StMass m;
    m.inv_mass = pick(t->model->body_inv_mass, who.body, 1, 0) * own;
    m.inv_inertia =
        s33(inverse.xx * own, inverse.yy * own, inverse.zz * own, inverse.xy * own, inverse.xz * own, inverse.yz * own);
    F frame[8] = {turn.x, turn.y, turn.z, turn.w, com.x, com.y, com.z, K(0.0f)};
    F movement[8] = {K(0.0f), K(0.0f), K(0.0f), K(0.0f), K(0.0f), K(0.0f), K(1.0f), K(0.0f)};
    F mass[8] = {m.inv_mass,       m.inv_inertia.xx, m.inv_inertia.yy, m.inv_inertia.zz,
                 m.inv_inertia.xy, m.inv_inertia.xz, m.inv_inertia.yz, own};
    store_rows((float *)t->frames + ST_FRAME_TURN, who.record, ST_FRAME_FLOATS, frame, who.all);
    store_rows(t->masses, who.record, 8, mass, who.all);
    store_velocity(t, who.record, s, who.all);
    store_rows((float *)t->bodies + ST_BODY_MOVEMENT, who.record, ST_BODY_FLOATS, movement, who.all);
    store_warm(t, ST_WARM_SUM, &who, none);
    store_warm(t, ST_WARM_MARK, &who, s);
    store_warm(t, ST_WARM_KICK, &who, find_kick(t, &who, m));
  }
}

void LANED(st_bodies_push)(const st_tick *t, uint32_t first, uint32_t end)
{
  for (uint32_t i = first; i < end; i += SB_LANES) {
    body_lanes who = find_bodies(t, i, end);
    StWarm r = st_push_body(load_velocity(t, who.record), load_warm(t, ST_WARM_SUM, who.record),
                            load_warm(t, ST_WARM_MARK, who.record), load_warm(t, ST_WARM_KICK, who.record));
    store_velocity(t, who.record, r.now, who.all);
    store_warm(t, ST_WARM_SUM, &who, r.warm);
    store_warm(t, ST_WARM_MARK, &who, r.mark);
  }
}

void LANED(st_bodies_move)(const st_tick *t, uint32_t first, uint32_t end)
{
  F h = K(t->settings.h);
  for (uint32_t i = first; i < end; i += SB_LANES) {
    body_lanes who = find_bodies(t, i, end);
    F frame[8];
    load_rows((float *)t->frames + ST_FRAME_TURN, who.record, ST_FRAME_FLOATS, frame);
    StVelocity s = load_velocity(t, who.record), mark = load_warm(t, ST_WARM_MARK, who.record);
    StMovement m = load_movement(t, who.record);
    RigidSpin r = rigid_spin(q4_mul(m.dq, q4(frame[0], frame[1], frame[2], frame[3])), s.w,
                             load_inertia(t, ST_FRAME_INERTIA, who.record),
                             load_inertia(t, ST_FRAME_INV_INERTIA, who.record), v3_zero(), h);
    M own = pick(t->masses, who.record, 8, 7) > 0.5f;
    m.dp = v3_add_scaled(m.dp, s.v, h);
    m.dq = q4_integrate(m.dq, v3_sel(own, r.mean, s.w), h);
    /* the turning changes w too, which is no contact's doing */
    mark.w = v3_sel(own, v3_add(mark.w, v3_sub(r.w, s.w)), mark.w);
    s.w = v3_sel(own, r.w, s.w);
    F c[8] = {m.dp.x, m.dp.y, m.dp.z, m.dq.x, m.dq.y, m.dq.z, m.dq.w, K(0.0f)};
    store_velocity(t, who.record, s, who.all);
    store_warm(t, ST_WARM_MARK, &who, mark);
    store_rows((float *)t->bodies + ST_BODY_MOVEMENT, who.record, ST_BODY_FLOATS, c, who.all);
  }
}

static V3 snap_v3(V3 v) { return v3(f_snap(v.x, K(ST_SNAP)), f_snap(v.y, K(ST_SNAP)), f_snap(v.z, K(ST_SNAP))); }

void LANED(st_bodies_store)(const st_tick *t, uint32_t first, uint32_t end)
{
  for (uint32_t i = first; i < end; i += SB_LANES) {
    body_lanes who = find_bodies(t, i, end);
    F frame[8];
    load_rows((float *)t->frames + ST_FRAME_TURN, who.record, ST_FRAME_FLOATS, frame);
    StVelocity s = load_velocity(t, who.record);
    StMovement m = load_movement(t, who.record);
    V3 com = v3(frame[4], frame[5], frame[6]);
    Q4 start = q4(frame[0], frame[1], frame[2], frame[3]);
    V3 centre = v3_add(pick_v3(t->state->body_q, who.body, 7, 0), q4_rotate(start, com));
    Q4 turn = q4_normalize(q4_mul(m.dq, start));
    V3 p = v3_sub(v3_add(centre, m.dp), q4_rotate(turn, com));
    V3 v = snap_v3(s.v), w = snap_v3(s.w);
    float pose[7][SB_LANES], rate[6][SB_LANES];
    f_store(pose[0], p.x), f_store(pose[1], p.y), f_store(pose[2], p.z);
    f_store(pose[3], turn.x), f_store(pose[4], turn.y), f_store(pose[5], turn.z), f_store(pose[6], turn.w);
    f_store(rate[0], v.x), f_store(rate[1], v.y), f_store(rate[2], v.z);
    f_store(rate[3], w.x), f_store(rate[4], w.y), f_store(rate[5], w.z);
    for (uint32_t l = 0; l < who.used; l++) {
      if (t->masses[8 * (size_t)who.record[l] + 7] < 0.5f) continue;
      uint32_t body = who.body[l];
      float *joint_q = t->state->joint_q + t->model->joint_q_start[body],
            *joint_qd = t->state->joint_qd + t->model->joint_qd_start[body];
      for (uint32_t k = 0; k < 7; k++) t->state->body_q[7 * (size_t)body + k] = joint_q[k] = pose[k][l];
      for (uint32_t k = 0; k < 6; k++) t->state->body_qd[6 * (size_t)body + k] = joint_qd[k] = rate[k][l];
    }
  }
}
