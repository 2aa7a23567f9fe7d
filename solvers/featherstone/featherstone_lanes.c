/* One bundle through a tick, SB_LANES articulations at once; compiled once for each lane width. */
#include "featherstone_bundle.h"

#include "samebit/joint_law.h"
#include "samebit/maths.h"
#include "samebit/solver_tools.h"
#include "samebit/rigid_spin.h"

#include "featherstone_records.kernel.h"

#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)
#define LANED(name) CONCAT(name##_lanes, SB_LANES)

_Static_assert(sizeof(FsConstant) == FS_CONSTANT_FLOATS * sizeof(F), "FS_CONSTANT_FLOATS");
_Static_assert(sizeof(FsWork) == FS_WORK_FLOATS * sizeof(F), "FS_WORK_FLOATS");

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

static void load_link(const fs_tick *t, const fs_bundle *b, uint32_t i, FsWork *w)
{
  const sb_state *s = t->state;
  const uint32_t *coord = b->coord + (size_t)i * SB_LANES, *dof = b->dof + (size_t)i * SB_LANES;
  const FsConstant *k = (const FsConstant *)b->constants + i;
  w->external = fs_inertia_zero();
  w->body_force = w->body_torque = v3_zero();
  if (b->links[i].has_body) {
    uint32_t wrench[SB_LANES];
    for (int l = 0; l < SB_LANES; l++) wrench[l] = b->body[(size_t)i * SB_LANES + (uint32_t)l] * 6;
    w->body_force = v3(gather(s->body_f, wrench, 0), gather(s->body_f, wrench, 1), gather(s->body_f, wrench, 2));
    w->body_torque = v3(gather(s->body_f, wrench, 3), gather(s->body_f, wrench, 4), gather(s->body_f, wrench, 5));
  }
  switch (b->links[i].kind) {
  case FS_ANGULAR:
  case FS_LINEAR:
    w->q = gather(s->joint_q, coord, 0);
    w->qd = gather(s->joint_qd, dof, 0);
    w->motor = gather(s->joint_f, dof, 0);
    w->target_q = gather(s->joint_target_q, dof, 0);
    w->target_qd = gather(s->joint_target_qd, dof, 0);
    break;
  case FS_BALL:
    w->quat = q4(gather(s->joint_q, coord, 0), gather(s->joint_q, coord, 1), gather(s->joint_q, coord, 2),
                 gather(s->joint_q, coord, 3));
    w->ang = v3(gather(s->joint_qd, dof, 0), gather(s->joint_qd, dof, 1), gather(s->joint_qd, dof, 2));
    break;
  case FS_FREE:
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

static void store_link(const fs_tick *t, const fs_bundle *b, uint32_t i, const FsWork *w)
{
  const sb_state *s = t->state;
  const uint32_t *coord = b->coord + (size_t)i * SB_LANES, *dof = b->dof + (size_t)i * SB_LANES;
  const FsConstant *k = (const FsConstant *)b->constants + i;
  V3 origin = v3_add(w->motion.p, q4_rotate(w->motion.q, k->origin));
  switch (b->links[i].kind) {
  case FS_ANGULAR:
  case FS_LINEAR:
    scatter(s->joint_q, coord, 0, w->q, b->used);
    scatter(s->joint_qd, dof, 0, w->qd, b->used);
    break;
  case FS_BALL:
    scatter(s->joint_q, coord, 0, w->quat.x, b->used);
    scatter(s->joint_q, coord, 1, w->quat.y, b->used);
    scatter(s->joint_q, coord, 2, w->quat.z, b->used);
    scatter(s->joint_q, coord, 3, w->quat.w, b->used);
    store_v3(s->joint_qd, dof, 0, w->ang, b->used);
    break;
  case FS_FREE:
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

static void place_links(const fs_bundle *b, FsWork *work)
{
  const FsConstant *constants = (const FsConstant *)b->constants;
  FsMotion world;
  world.q = q4_identity();
  world.p = world.w = world.v = v3_zero();
  M33 world_axes = m33(v3(K(1.0f), K(0.0f), K(0.0f)), v3(K(0.0f), K(1.0f), K(0.0f)), v3(K(0.0f), K(0.0f), K(1.0f)));
  for (uint32_t i = 0; i < b->link_count; i++) {
    FsWork *w = &work[i];
    const FsConstant *k = &constants[i];
    int32_t p = b->links[i].parent;
    FsMotion from = p < 0 ? world : work[p].motion;
    M33 axes = p < 0 ? world_axes : work[p].axes;
    FsStep s;
    switch (b->links[i].kind) {
    case FS_ANGULAR: s = fs_step_angular(from, axes, k->axis, w->q - k->ref, w->qd); break;
    case FS_LINEAR: s = fs_step_linear(from, axes, k->axis, w->q - k->ref, w->qd); break;
    case FS_BALL: s = fs_step_ball(from, axes, k->axis, w->quat, w->ang); break;
    case FS_FREE:
      s = fs_step_fixed(from, axes, k->axis);
      s.motion.q = w->quat;
      s.motion.p = w->pos;
      s.motion.w = w->ang;
      s.motion.v = w->lin;
      break;
    default: s = fs_step_fixed(from, axes, k->axis); break;
    }
    w->motion = s.motion;
    w->joint = s.joint;
    w->axes = q4_to_m33(s.motion.q);
  }
}

/* Velocities and their products again, where the links are, with the joint rates of the middle of the step. */
static void place_velocities(F half_dt, const fs_bundle *b, FsWork *work)
{
  for (uint32_t i = 0; i < b->link_count; i++) {
    FsWork *w = &work[i];
    int32_t p = b->links[i].parent;
    uint8_t kind = b->links[i].kind;
    if (kind == FS_FREE) {
      w->motion.w = v3_add_scaled(w->ang, w->accel.alpha, half_dt);
      w->motion.v = v3_add_scaled(w->lin, w->accel.a, half_dt);
      continue;
    }
    V3 from_w = v3_zero(), from_v = v3_zero();
    if (p >= 0) from_w = work[p].motion.w, from_v = work[p].motion.v;
    V3 spin = v3_zero(), slide = v3_zero(), wr = v3_cross(from_w, w->joint.r);
    F rate = w->qd + half_dt * w->rate_change.x;
    if (kind == FS_ANGULAR) spin = v3_scale(w->joint.axis, rate);
    if (kind == FS_LINEAR) slide = v3_scale(w->joint.axis, rate);
    if (kind == FS_BALL) spin = q4_rotate(w->motion.q, v3_add_scaled(w->ang, w->rate_change, half_dt));
    V3 coriolis = v3_cross(from_w, slide);
    w->motion.w = v3_add(from_w, spin);
    w->motion.v = v3_add(v3_add(from_v, wr), slide);
    w->joint.c_alpha = v3_cross(from_w, spin);
    w->joint.c_a = v3_add(v3_cross(from_w, wr), v3_add(coriolis, coriolis));
  }
}

/* ---- inward: articulated inertias ---- */

/* What the link passes on, at its parent's reference point. Keeps what the way back needs. */
static FsInertia reduce_link(const fs_tick *t, uint8_t kind, FsWork *w, const FsConstant *k)
{
  const fs_settings *set = &t->settings;
  F dt = K(set->dt);
  FsInertia i = w->ia;
  switch (kind) {
  case FS_ANGULAR:
  case FS_LINEAR: {
    V3 a = w->joint.axis;
    bool angular = kind == FS_ANGULAR;
    w->s_n = angular ? s33_mul_v3(i.j, a) : m33_mul_v3(i.h, a);
    w->s_f = angular ? m33_tmul_v3(i.h, a) : s33_mul_v3(i.m, a);
    F d = v3_dot(a, angular ? w->s_n : w->s_f) + k->dof.armature;
    DofForce row = dof_force(k->dof, w->q, w->qd, w->motor, w->target_q, w->target_qd, d, dt, K(set->limit_omega),
                           K(set->limit_zeta));
    row = fs_limit_speed(row, w->qd, k->velocity_limit, d, dt);
    w->inv_d = f_div(K(1.0f), d + row.inertia);
    w->u = row.force - v3_dot(a, angular ? i.n : i.f);
    return fs_inertia_shift(fs_reduce_axis(i, w->joint, w->s_n, w->s_f, w->inv_d, w->u), w->joint.r);
  }
  case FS_BALL: {
    /* the damper acts on the relative angular velocity, isotropic, implicit */
    F damping = k->dof.damping;
    F extra = k->dof.armature + dt * damping;
    S33 d = i.j;
    d.xx = d.xx + extra;
    d.yy = d.yy + extra;
    d.zz = d.zz + extra;
    w->ball_inv_d = s33_inverse(d);
    w->ball_u = v3_neg(v3_add_scaled(i.n, q4_rotate(w->motion.q, w->ang), damping));
    return fs_inertia_shift(fs_reduce_ball(i, w->joint, w->ball_inv_d, w->ball_u), w->joint.r);
  }
  case FS_FIXED: {
    FsAccel c;
    c.alpha = w->joint.c_alpha;
    c.a = w->joint.c_a;
    FsAccel bias = fs_inertia_apply(i, c);
    i.n = v3_add(i.n, bias.alpha);
    i.f = v3_add(i.f, bias.a);
    return fs_inertia_shift(i, w->joint.r);
  }
  default: return i; /* FREE: solved where it stands */
  }
}

static void reduce_links(const fs_tick *t, const fs_bundle *b, FsWork *work)
{
  const FsConstant *constants = (const FsConstant *)b->constants;
  V3 g = v3(f_load(b->gravity), f_load(b->gravity + SB_LANES), f_load(b->gravity + 2 * SB_LANES));
  for (uint32_t i = 0; i < b->link_count; i++) {
    FsWork *w = &work[i];
    const FsConstant *k = &constants[i];
    if (!b->links[i].has_body) {
      w->ia = fs_inertia_zero();
      continue;
    }
    V3 c = m33_mul_v3(w->axes, k->com);
    w->ia = fs_rigid_inertia(k->mass, s33_rotate(w->axes, k->inertia), c, w->motion.w, g);
    /* Added also when it is zero: -0 + 0 must not depend on whether a neighbour has contacts. */
    w->ia = fs_inertia_add(w->ia, w->external);
    w->ia.f = v3_sub(w->ia.f, w->body_force);
    w->ia.n = v3_sub(w->ia.n, v3_add(w->body_torque, v3_cross(c, w->body_force)));
  }
  for (uint32_t i = b->link_count; i-- > 0;) {
    int32_t p = b->links[i].parent;
    if (p < 0 && b->links[i].kind == FS_FIXED) continue;
    FsInertia up = reduce_link(t, b->links[i].kind, &work[i], &constants[i]);
    if (p >= 0) work[p].ia = fs_inertia_add(work[p].ia, up);
  }
}

/* ---- outward: accelerations, velocities, coordinates ---- */

static V3 snap_v3(V3 v) { return v3(f_snap(v.x, K(FS_SNAP)), f_snap(v.y, K(FS_SNAP)), f_snap(v.z, K(FS_SNAP))); }

/* A free body that carries no links turns like a rigid body: the acceleration gives the torque, I alpha + w x I w, that everything but
 * its own rotation puts on it. */
static void move_alone(F dt, FsWork *w, const FsConstant *k)
{
  w->accel = fs_solve_free(w->ia);
  S33 inertia = s33_rotate(w->axes, k->inertia);
  V3 gyro = v3_cross(w->ang, s33_mul_v3(inertia, w->ang));
  V3 torque = v3_add(s33_mul_v3(inertia, w->accel.alpha), gyro);
  RigidSpin spin = rigid_spin(w->quat, w->ang, k->inertia, s33_inverse(k->inertia), torque, dt);
  w->lin = snap_v3(v3_add_scaled(w->lin, w->accel.a, dt));
  w->pos = v3_add_scaled(w->pos, w->lin, dt);
  w->quat = spin.q;
  w->ang = snap_v3(spin.w);
}

/* Accelerations of a link and its dofs. */
static void accelerate_link(uint8_t kind, FsAccel from, FsWork *w)
{
  if (kind == FS_FREE) {
    w->accel = fs_solve_free(w->ia);
    return;
  }
  w->accel = fs_carry_accel(from, w->joint);
  if (kind == FS_BALL) {
    V3 left = v3_sub(w->ball_u, v3_add(s33_mul_v3(w->ia.j, w->accel.alpha), m33_mul_v3(w->ia.h, w->accel.a)));
    V3 spin = s33_mul_v3(w->ball_inv_d, left);
    w->accel.alpha = v3_add(w->accel.alpha, spin);
    w->rate_change = q4_rotate_inv(w->motion.q, spin);
  }
  if (kind == FS_ANGULAR || kind == FS_LINEAR) {
    V3 a = w->joint.axis;
#if defined(SAMEBIT_MUTANT_LANE_DEPENDENT) && SB_LANES == 8
    F qdd = ((w->u - v3_dot(w->s_n, w->accel.alpha)) - v3_dot(w->s_f, w->accel.a)) * w->inv_d; /* the planted fault: another order */
#else
    F qdd = (w->u - (v3_dot(w->s_n, w->accel.alpha) + v3_dot(w->s_f, w->accel.a))) * w->inv_d;
#endif
    if (kind == FS_ANGULAR)
      w->accel.alpha = v3_add_scaled(w->accel.alpha, a, qdd);
    else
      w->accel.a = v3_add_scaled(w->accel.a, a, qdd);
    w->rate_change.x = qdd;
  }
}

/* Velocities from accelerations, over dt. */
static void kick_link(F dt, uint8_t kind, FsWork *w)
{
  if (kind == FS_FREE) {
    w->lin = snap_v3(v3_add_scaled(w->lin, w->accel.a, dt));
    w->ang = snap_v3(v3_add_scaled(w->ang, w->accel.alpha, dt));
  }
  if (kind == FS_BALL) w->ang = snap_v3(v3_add_scaled(w->ang, w->rate_change, dt));
  if (kind == FS_ANGULAR || kind == FS_LINEAR)
    w->qd = f_snap(w->qd + dt * w->rate_change.x, K(FS_SNAP));
}

/* Coordinates from velocities, over dt. */
static void drift_link(F dt, uint8_t kind, FsWork *w)
{
  if (kind == FS_FREE) {
    w->pos = v3_add_scaled(w->pos, w->lin, dt);
    w->quat = q4_integrate(w->quat, w->ang, dt);
  }
  if (kind == FS_BALL) w->quat = q4_integrate_local(w->quat, w->ang, dt);
#if defined(SAMEBIT_MUTANT_FUSED_OP) && SB_LANES == 1
  /* the planted fault: product and sum rounded once */
  if (kind == FS_ANGULAR || kind == FS_LINEAR) w->q = (F)((double)w->q + (double)dt * (double)w->qd);
#else
  if (kind == FS_ANGULAR || kind == FS_LINEAR) w->q = w->q + dt * w->qd;
#endif
}

static void accelerate_links(const fs_bundle *b, FsWork *work)
{
  FsAccel world;
  world.alpha = world.a = v3_zero();
  for (uint32_t i = 0; i < b->link_count; i++) {
    int32_t p = b->links[i].parent;
    accelerate_link(b->links[i].kind, p < 0 ? world : work[p].accel, &work[i]);
  }
}

static bool is_alone(const fs_bundle *b) { return b->link_count == 1 && b->links[0].kind == FS_FREE; }

/* The first half of a midpoint step: coordinates to the middle. Nothing in an Euler step. */
static void drift_to_middle(const fs_tick *t, const fs_bundle *b, FsWork *work)
{
  if (!t->settings.midpoint || is_alone(b)) return;
  for (uint32_t i = 0; i < b->link_count; i++) drift_link(K(t->settings.dt * 0.5f), b->links[i].kind, &work[i]);
}

/* ---- contact forces into one link of one lane ---- */

/* Torque and force at the reference point, and the inertia that implicit resistance stands for: resist dt, a mass that is
 * resist_n along the normal and resist_t across it, shifted from the contact point. The lane is picked by a mask, so that the
 * sums are those of the lane text. */
static void add_contact(const fs_tick *t, const fs_contact_force *c, bool is_b, FsWork *w, M lane)
{
  F sign = K(is_b ? 1.0f : -1.0f);
  F dt = K(t->settings.dt);
  V3 d = v3_sub(v3(K(c->point[0]), K(c->point[1]), K(c->point[2])), w->motion.p);
  V3 n = v3(K(c->normal[0]), K(c->normal[1]), K(c->normal[2]));
  F across = dt * K(c->resist_t);
  F along = dt * K(c->resist_n) - across;
  FsInertia at = fs_inertia_zero();
  at.m = s33(across + along * (n.x * n.x), across + along * (n.y * n.y), across + along * (n.z * n.z),
             along * (n.x * n.y), along * (n.x * n.z), along * (n.y * n.z));
  at.f = v3_scale(v3(K(c->force[0]), K(c->force[1]), K(c->force[2])), -sign);
  w->external = fs_inertia_sel(lane, fs_inertia_add(w->external, fs_inertia_shift(at, d)), w->external);
}

static void gather_contacts(const fs_tick *t, const fs_bundle *b, FsWork *work)
{
  for (uint32_t i = 0; i < b->link_count; i++) {
    if (!b->links[i].has_body) continue;
    work[i].external = fs_inertia_zero();
    for (uint32_t l = 0; l < b->used; l++) {
#if SB_LANES == 1
      M lane = 1;
#else
      M lane = KI(0);
      lane[l] = -1;
#endif
      uint32_t body = b->body[(size_t)i * SB_LANES + l];
      for (uint32_t a = t->body_first[body]; a < t->body_first[body + 1]; a++) {
        uint32_t entry = t->body_contact[a];
        add_contact(t, &t->forces[entry & ~SB_CONTACT_OF_B], (entry & SB_CONTACT_OF_B) != 0, &work[i], lane);
      }
    }
  }
}

/* ---- entry points ---- */

/* Links are placed and contact forces gathered. Euler: the accelerations here and now, then velocities, then coordinates with the new
 * velocities. Midpoint: here is the middle of the step; accelerations again with the velocities that half of the first ones lead to (the
 * rows of drives, limits and contacts keep the start's, and stay implicit), then velocities, then the second half of the way. */
static void advance(const fs_tick *t, const fs_bundle *b, FsWork *work)
{
  F dt = K(t->settings.dt);
  const FsConstant *constants = (const FsConstant *)b->constants;
  reduce_links(t, b, work);
  if (is_alone(b)) {
    move_alone(dt, work, constants);
    return;
  }
  accelerate_links(b, work);
  if (t->settings.midpoint) {
    place_velocities(dt * 0.5f, b, work);
    reduce_links(t, b, work);
    accelerate_links(b, work);
  }
  F way = t->settings.midpoint ? dt * 0.5f : dt;
  for (uint32_t i = 0; i < b->link_count; i++) {
    kick_link(dt, b->links[i].kind, &work[i]);
    drift_link(way, b->links[i].kind, &work[i]);
  }
}

void LANED(fs_bundle_run)(const fs_tick *tick, const fs_bundle *b)
{
  _Alignas(64) FsWork stack[FS_STACK_LINKS];
  FsWork *work = b->link_count <= FS_STACK_LINKS ? stack : (FsWork *)b->work;
  for (uint32_t i = 0; i < b->link_count; i++) load_link(tick, b, i, &work[i]);
  for (uint32_t s = 0; s < tick->settings.substeps; s++) {
    drift_to_middle(tick, b, work);
    place_links(b, work);
    advance(tick, b, work);
  }
  place_links(b, work);
  for (uint32_t i = 0; i < b->link_count; i++) store_link(tick, b, i, &work[i]);
}

void LANED(fs_bundle_load)(const fs_tick *tick, const fs_bundle *b)
{
  FsWork *work = (FsWork *)b->work;
  for (uint32_t i = 0; i < b->link_count; i++) load_link(tick, b, i, &work[i]);
}

void LANED(fs_bundle_place)(const fs_tick *tick, const fs_bundle *b, bool ahead)
{
  if (ahead) drift_to_middle(tick, b, (FsWork *)b->work);
  place_links(b, (FsWork *)b->work);
}

void LANED(fs_bundle_advance)(const fs_tick *tick, const fs_bundle *b)
{
  FsWork *work = (FsWork *)b->work;
  gather_contacts(tick, b, work);
  advance(tick, b, work);
}

void LANED(fs_bundle_store)(const fs_tick *tick, const fs_bundle *b)
{
  FsWork *work = (FsWork *)b->work;
  for (uint32_t i = 0; i < b->link_count; i++) store_link(tick, b, i, &work[i]);
}
