/* Articulations through one step, SB_LANES at a time: text that a solver's lane file includes once.
 *
 * A step is: place the links; reduce (inertias inward); accelerate (outward); kick (velocities); drift (coordinates). The midpoint step
 * goes half the way first, and looks at the velocity products again with the velocities that half of the first accelerations lead to;
 * joint laws keep the velocities of the step's start, and stay implicit. */
#ifndef SAMEBIT_ARTICULATION_PASS_H
#define SAMEBIT_ARTICULATION_PASS_H

#include "articulation.h"

#include "samebit/joint_law.h"
#include "samebit/maths.h"

#include "articulation_records.kernel.h"

_Static_assert(sizeof(AbConstant) == AB_CONSTANT_FLOATS * sizeof(F), "AB_CONSTANT_FLOATS");
_Static_assert(sizeof(AbWork) == AB_WORK_FLOATS * sizeof(F), "AB_WORK_FLOATS");

/* ---- host arrays to and from lanes ---- */

static F gather(const float *from, const uint32_t *index, uint32_t add)
{
  float lane[SB_LANES];
  for (int l = 0; l < SB_LANES; l++) lane[l] = from[index[l] + add];
  return f_load(lane);
}

static void scatter(float *to, const uint32_t *index, uint32_t add, F value, uint32_t used)
{
  float lane[SB_LANES];
  f_store(lane, value);
  for (uint32_t l = 0; l < used; l++) to[index[l] + add] = lane[l];
}

static void load_link(const sb_state *s, const ab_bundle *b, uint32_t i, AbWork *w)
{
  const uint32_t *coord = b->coord + (size_t)i * SB_LANES, *dof = b->dof + (size_t)i * SB_LANES;
  const AbConstant *k = (const AbConstant *)b->constants + i;
  w->external = ab_inertia_zero();
  w->body_force = w->body_torque = v3_zero();
  if (b->links[i].has_body) {
    uint32_t wrench[SB_LANES];
    for (int l = 0; l < SB_LANES; l++) wrench[l] = b->body[(size_t)i * SB_LANES + (uint32_t)l] * 6;
    w->body_force = v3(gather(s->body_f, wrench, 0), gather(s->body_f, wrench, 1), gather(s->body_f, wrench, 2));
    w->body_torque = v3(gather(s->body_f, wrench, 3), gather(s->body_f, wrench, 4), gather(s->body_f, wrench, 5));
  }
  switch (b->links[i].kind) {
  case AB_ANGULAR:
  case AB_LINEAR:
    w->q = gather(s->joint_q, coord, 0);
    w->qd = gather(s->joint_qd, dof, 0);
    w->motor = gather(s->joint_f, dof, 0);
    w->target_q = gather(s->joint_target_q, dof, 0);
    w->target_qd = gather(s->joint_target_qd, dof, 0);
    break;
  case AB_BALL:
    w->quat = q4(gather(s->joint_q, coord, 0), gather(s->joint_q, coord, 1), gather(s->joint_q, coord, 2),
                 gather(s->joint_q, coord, 3));
    w->ang = v3(gather(s->joint_qd, dof, 0), gather(s->joint_qd, dof, 1), gather(s->joint_qd, dof, 2));
    break;
  case AB_FREE:
    w->quat = q4(gather(s->joint_q, coord, 3), gather(s->joint_q, coord, 4), gather(s->joint_q, coord, 5),
                 gather(s->joint_q, coord, 6));
    w->pos = v3(gather(s->joint_q, coord, 0), gather(s->joint_q, coord, 1), gather(s->joint_q, coord, 2));
    w->pos = v3_sub(w->pos, q4_rotate(w->quat, k->origin));
    w->lin = v3(gather(s->joint_qd, dof, 0), gather(s->joint_qd, dof, 1), gather(s->joint_qd, dof, 2));
    w->ang = v3(gather(s->joint_qd, dof, 3), gather(s->joint_qd, dof, 4), gather(s->joint_qd, dof, 5));
    break;
  default: break;
  }
}

static void store_pose(float *q, const uint32_t *index, V3 p, Q4 r, uint32_t used)
{
  scatter(q, index, 0, p.x, used);
  scatter(q, index, 1, p.y, used);
  scatter(q, index, 2, p.z, used);
  scatter(q, index, 3, r.x, used);
  scatter(q, index, 4, r.y, used);
  scatter(q, index, 5, r.z, used);
  scatter(q, index, 6, r.w, used);
}

static void store_v3(float *to, const uint32_t *index, uint32_t add, V3 v, uint32_t used)
{
  scatter(to, index, add, v.x, used);
  scatter(to, index, add + 1, v.y, used);
  scatter(to, index, add + 2, v.z, used);
}

static void store_link(const sb_state *s, const ab_bundle *b, uint32_t i, const AbWork *w)
{
  const uint32_t *coord = b->coord + (size_t)i * SB_LANES, *dof = b->dof + (size_t)i * SB_LANES;
  const AbConstant *k = (const AbConstant *)b->constants + i;
  V3 origin = v3_add(w->motion.p, q4_rotate(w->motion.q, k->origin));
  switch (b->links[i].kind) {
  case AB_ANGULAR:
  case AB_LINEAR:
    scatter(s->joint_q, coord, 0, w->q, b->used);
    scatter(s->joint_qd, dof, 0, w->qd, b->used);
    break;
  case AB_BALL:
    scatter(s->joint_q, coord, 0, w->quat.x, b->used);
    scatter(s->joint_q, coord, 1, w->quat.y, b->used);
    scatter(s->joint_q, coord, 2, w->quat.z, b->used);
    scatter(s->joint_q, coord, 3, w->quat.w, b->used);
    store_v3(s->joint_qd, dof, 0, w->ang, b->used);
    break;
  case AB_FREE:
    store_pose(s->joint_q, coord, origin, w->quat, b->used);
    store_v3(s->joint_qd, dof, 0, w->lin, b->used);
    store_v3(s->joint_qd, dof, 3, w->ang, b->used);
    break;
  default: break;
  }
  if (!b->links[i].has_body) return;
  uint32_t pose[SB_LANES], rate[SB_LANES];
  for (int l = 0; l < SB_LANES; l++) {
    pose[l] = b->body[(size_t)i * SB_LANES + (uint32_t)l] * 7;
    rate[l] = b->body[(size_t)i * SB_LANES + (uint32_t)l] * 6;
  }
  V3 arm = q4_rotate(w->motion.q, k->com);
  store_pose(s->body_q, pose, origin, w->motion.q, b->used);
  store_v3(s->body_qd, rate, 0, v3_add(w->motion.v, v3_cross(w->motion.w, arm)), b->used);
  store_v3(s->body_qd, rate, 3, w->motion.w, b->used);
}

/* ---- outward: where every link is ---- */

static void place_links(const ab_bundle *b, AbWork *work)
{
  const AbConstant *constants = (const AbConstant *)b->constants;
  AbMotion world;
  world.q = q4_identity();
  world.p = world.w = world.v = v3_zero();
  M33 world_axes = m33(v3(K(1.0f), K(0.0f), K(0.0f)), v3(K(0.0f), K(1.0f), K(0.0f)), v3(K(0.0f), K(0.0f), K(1.0f)));
  for (uint32_t i = 0; i < b->link_count; i++) {
    AbWork *w = &work[i];
    const AbConstant *k = &constants[i];
    int32_t p = b->links[i].parent;
    AbMotion from = p < 0 ? world : work[p].motion;
    M33 axes = p < 0 ? world_axes : work[p].axes;
    AbStep s;
    switch (b->links[i].kind) {
    case AB_ANGULAR: s = ab_step_angular(from, axes, k->axis, w->q - k->ref, w->qd); break;
    case AB_LINEAR: s = ab_step_linear(from, axes, k->axis, w->q - k->ref, w->qd); break;
    case AB_BALL: s = ab_step_ball(from, axes, k->axis, w->quat, w->ang); break;
    case AB_FREE:
      s = ab_step_fixed(from, axes, k->axis);
      s.motion.q = w->quat;
      s.motion.p = w->pos;
      s.motion.w = w->ang;
      s.motion.v = w->lin;
      break;
    default: s = ab_step_fixed(from, axes, k->axis); break;
    }
    w->motion = s.motion;
    w->joint = s.joint;
    w->axes = q4_to_m33(s.motion.q);
  }
}

/* Velocities and their products again, where the links are, with the joint rates of the middle of the step. */
static void place_velocities(F half_dt, const ab_bundle *b, AbWork *work)
{
  for (uint32_t i = 0; i < b->link_count; i++) {
    AbWork *w = &work[i];
    int32_t p = b->links[i].parent;
    uint8_t kind = b->links[i].kind;
    if (kind == AB_FREE) {
      w->motion.w = v3_add_scaled(w->ang, w->accel.alpha, half_dt);
      w->motion.v = v3_add_scaled(w->lin, w->accel.a, half_dt);
      continue;
    }
    V3 from_w = v3_zero(), from_v = v3_zero();
    if (p >= 0) from_w = work[p].motion.w, from_v = work[p].motion.v;
    V3 spin = v3_zero(), slide = v3_zero(), wr = v3_cross(from_w, w->joint.r);
    F rate = w->qd + half_dt * w->rate_change.x;
    if (kind == AB_ANGULAR) spin = v3_scale(w->joint.axis, rate);
    if (kind == AB_LINEAR) slide = v3_scale(w->joint.axis, rate);
    if (kind == AB_BALL) spin = q4_rotate(w->motion.q, v3_add_scaled(w->ang, w->rate_change, half_dt));
    V3 coriolis = v3_cross(from_w, slide);
    w->motion.w = v3_add(from_w, spin);
    w->motion.v = v3_add(v3_add(from_v, wr), slide);
    w->joint.c_alpha = v3_cross(from_w, spin);
    w->joint.c_a = v3_add(v3_cross(from_w, wr), v3_add(coriolis, coriolis));
  }
}

/* ---- inward: articulated inertias ---- */

static void add_bias(AbInertia *i, AbBias b)
{
  i->n = v3_add(i->n, b.n);
  i->f = v3_add(i->f, b.f);
}

/* Bias of the link's own body, of contacts and commanded forces. */
static AbBias own_bias(V3 gravity, const AbWork *w, const AbConstant *k)
{
  V3 c = m33_mul_v3(w->axes, k->com);
  AbBias b = ab_rigid_bias(k->mass, k->inertia, w->axes, c, w->motion.w, gravity);
  /* Added also when it is zero: -0 + 0 must not depend on whether a neighbour has contacts. */
  b.n = v3_add(b.n, w->external.n);
  b.f = v3_sub(v3_add(b.f, w->external.f), w->body_force);
  b.n = v3_sub(b.n, v3_add(w->body_torque, v3_cross(c, w->body_force)));
  return b;
}

static AbInertia own_inertia(V3 gravity, const AbWork *w, const AbConstant *k)
{
  AbInertia i = ab_rigid_inertia(k->mass, s33_rotate(w->axes, k->inertia), m33_mul_v3(w->axes, k->com));
  i = ab_inertia_add(i, w->external);
  AbBias b = own_bias(gravity, w, k);
  i.n = b.n;
  i.f = b.f;
  return i;
}

/* The response of the link's own dofs, kept for the way back. */
static void find_rows(const ab_settings *set, uint8_t kind, AbWork *w, const AbConstant *k)
{
  F dt = K(set->dt);
  V3 a = w->joint.axis;
  switch (kind) {
  case AB_ANGULAR:
  case AB_LINEAR: {
    bool angular = kind == AB_ANGULAR;
    w->s_n = angular ? s33_mul_v3(w->ia.j, a) : m33_mul_v3(w->ia.h, a);
    w->s_f = angular ? m33_tmul_v3(w->ia.h, a) : s33_mul_v3(w->ia.m, a);
    F d = v3_dot(a, angular ? w->s_n : w->s_f) + k->dof.armature;
    DofForce row = dof_force(k->dof, w->q, w->qd, w->motor, w->target_q, w->target_qd, d, dt, K(set->limit_omega), K(set->limit_zeta));
    row = ab_limit_speed(row, w->qd, k->velocity_limit, d, dt);
    w->inv_d = f_div(K(1.0f), d + row.inertia);
    w->row_force = row.force;
    break;
  }
  case AB_BALL: {
    /* the damper acts on the relative angular velocity, isotropic, implicit */
    F extra = k->dof.armature + dt * k->dof.damping;
    S33 d = w->ia.j;
    d.xx = d.xx + extra;
    d.yy = d.yy + extra;
    d.zz = d.zz + extra;
    w->ball_inv_d = s33_inverse(d);
    break;
  }
  case AB_FREE: w->base = ab_invert_free(w->ia); break;
  default: break;
  }
}

/* What is left on the dofs after bias, and the bias that the link passes on to its parent's reference point. */
static AbBias pass_bias(uint8_t kind, AbWork *w, const AbConstant *k)
{
  AbBias b;
  switch (kind) {
  case AB_ANGULAR:
  case AB_LINEAR:
    w->u = w->row_force - v3_dot(w->joint.axis, kind == AB_ANGULAR ? w->ia.n : w->ia.f);
    b = ab_reduce_axis_bias(w->ia, w->joint, w->s_n, w->s_f, w->inv_d, w->u);
    break;
  case AB_BALL:
    w->ball_u = v3_neg(v3_add_scaled(w->ia.n, q4_rotate(w->motion.q, w->ang), k->dof.damping));
    b = ab_reduce_ball_bias(w->ia, w->joint, w->ball_inv_d, w->ball_u);
    break;
  default: {
    AbAccel c;
    c.alpha = w->joint.c_alpha;
    c.a = w->joint.c_a;
    AbAccel carried = ab_inertia_apply(w->ia, c);
    b.n = v3_add(w->ia.n, carried.alpha);
    b.f = v3_add(w->ia.f, carried.a);
    break;
  }
  }
  return ab_bias_shift(b, w->joint.r);
}

/* The inertia that the link passes on, its bias left out. */
static AbInertia pass_inertia(uint8_t kind, const AbWork *w)
{
  AbInertia i = w->ia;
  if (kind == AB_ANGULAR || kind == AB_LINEAR) i = ab_reduce_axis(i, w->s_n, w->s_f, w->inv_d);
  if (kind == AB_BALL) i = ab_reduce_ball(i, w->ball_inv_d);
  i.n = i.f = v3_zero();
  return ab_inertia_shift(i, w->joint.r);
}

static V3 gravity_of(const ab_bundle *b)
{
  return v3(f_load(b->gravity), f_load(b->gravity + SB_LANES), f_load(b->gravity + 2 * SB_LANES));
}

static void reduce_links(const ab_settings *set, const ab_bundle *b, AbWork *work)
{
  const AbConstant *constants = (const AbConstant *)b->constants;
  V3 gravity = gravity_of(b);
  for (uint32_t i = 0; i < b->link_count; i++)
    work[i].ia = b->links[i].has_body ? own_inertia(gravity, &work[i], &constants[i]) : ab_inertia_zero();
  for (uint32_t i = b->link_count; i-- > 0;) {
    AbWork *w = &work[i];
    int32_t p = b->links[i].parent;
    uint8_t kind = b->links[i].kind;
    find_rows(set, kind, w, &constants[i]);
    AbBias bias = pass_bias(kind, w, &constants[i]);
    if (p < 0) continue;
    work[p].ia = ab_inertia_add(work[p].ia, pass_inertia(kind, w));
    add_bias(&work[p].ia, bias);
  }
}

/* The same with other velocities: inertias and responses stand, biases are made anew. */
static void reduce_biases(const ab_bundle *b, AbWork *work)
{
  const AbConstant *constants = (const AbConstant *)b->constants;
  V3 gravity = gravity_of(b);
  for (uint32_t i = 0; i < b->link_count; i++) {
    AbBias own;
    own.n = own.f = v3_zero();
    if (b->links[i].has_body) own = own_bias(gravity, &work[i], &constants[i]);
    work[i].ia.n = own.n;
    work[i].ia.f = own.f;
  }
  for (uint32_t i = b->link_count; i-- > 0;) {
    AbBias bias = pass_bias(b->links[i].kind, &work[i], &constants[i]);
    if (b->links[i].parent >= 0) add_bias(&work[b->links[i].parent].ia, bias);
  }
}

/* ---- outward: accelerations, velocities, coordinates ---- */

static V3 snap_v3(V3 v) { return v3(f_snap(v.x, K(AB_SNAP)), f_snap(v.y, K(AB_SNAP)), f_snap(v.z, K(AB_SNAP))); }

/* Accelerations of a link and its dofs. */
static void accelerate_link(uint8_t kind, AbAccel from, AbWork *w)
{
  if (kind == AB_FREE) {
    w->accel = ab_solve_free(w->base, w->ia.n, w->ia.f);
    return;
  }
  w->accel = ab_carry_accel(from, w->joint);
  if (kind == AB_BALL) {
    V3 left = v3_sub(w->ball_u, v3_add(s33_mul_v3(w->ia.j, w->accel.alpha), m33_mul_v3(w->ia.h, w->accel.a)));
    V3 spin = s33_mul_v3(w->ball_inv_d, left);
    w->accel.alpha = v3_add(w->accel.alpha, spin);
    w->rate_change = q4_rotate_inv(w->motion.q, spin);
  }
  if (kind == AB_ANGULAR || kind == AB_LINEAR) {
    V3 a = w->joint.axis;
#if defined(SAMEBIT_MUTANT_LANE_DEPENDENT) && SB_LANES == 8
    F qdd = ((w->u - v3_dot(w->s_n, w->accel.alpha)) - v3_dot(w->s_f, w->accel.a)) * w->inv_d; /* the planted fault: another order */
#else
    F qdd = (w->u - (v3_dot(w->s_n, w->accel.alpha) + v3_dot(w->s_f, w->accel.a))) * w->inv_d;
#endif
    if (kind == AB_ANGULAR)
      w->accel.alpha = v3_add_scaled(w->accel.alpha, a, qdd);
    else
      w->accel.a = v3_add_scaled(w->accel.a, a, qdd);
    w->rate_change.x = qdd;
  }
}

/* Velocities from accelerations, over dt. */
static void kick_link(F dt, uint8_t kind, AbWork *w)
{
  if (kind == AB_FREE) {
    w->lin = snap_v3(v3_add_scaled(w->lin, w->accel.a, dt));
    w->ang = snap_v3(v3_add_scaled(w->ang, w->accel.alpha, dt));
  }
  if (kind == AB_BALL) w->ang = snap_v3(v3_add_scaled(w->ang, w->rate_change, dt));
  if (kind == AB_ANGULAR || kind == AB_LINEAR)
    w->qd = f_snap(w->qd + dt * w->rate_change.x, K(AB_SNAP));
}

/* Coordinates from velocities, over dt. */
static void drift_link(F dt, uint8_t kind, AbWork *w)
{
  if (kind == AB_FREE) {
    w->pos = v3_add_scaled(w->pos, w->lin, dt);
    w->quat = q4_integrate(w->quat, w->ang, dt);
  }
  if (kind == AB_BALL) w->quat = q4_integrate_local(w->quat, w->ang, dt);
#if defined(SAMEBIT_MUTANT_FUSED_OP) && SB_LANES == 1
  /* the planted fault: product and sum rounded once */
  if (kind == AB_ANGULAR || kind == AB_LINEAR) w->q = (F)((double)w->q + (double)dt * (double)w->qd);
#else
  if (kind == AB_ANGULAR || kind == AB_LINEAR) w->q = w->q + dt * w->qd;
#endif
}

static void accelerate_links(const ab_bundle *b, AbWork *work)
{
  AbAccel world;
  world.alpha = world.a = v3_zero();
  for (uint32_t i = 0; i < b->link_count; i++) {
    int32_t p = b->links[i].parent;
    accelerate_link(b->links[i].kind, p < 0 ? world : work[p].accel, &work[i]);
  }
}

static void drift_links(F dt, const ab_bundle *b, AbWork *work)
{
  for (uint32_t i = 0; i < b->link_count; i++) drift_link(dt, b->links[i].kind, &work[i]);
}

/* Accelerations of a step; coordinates stand where the forces are looked at, links are placed. */
static void find_accelerations(const ab_settings *set, const ab_bundle *b, AbWork *work)
{
  reduce_links(set, b, work);
  accelerate_links(b, work);
  if (!set->midpoint) return;
  place_velocities(K(set->dt * 0.5f), b, work);
  reduce_biases(b, work);
  accelerate_links(b, work);
}

#endif
