/* Loops over joints, contacts and bodies, SB_LANES at a time; compiled once for each lane width. Elements of a group are
 * independent, so which share a vector changes nothing. */
#include "semi_lanes.h"
#include "semi_particles.h"

/* ---- joints ---- */

/* Everything about the joints of one vector while they are solved. */
typedef struct joint_lanes {
  const si_joint_group *group;
  uint32_t used;
  uint32_t child[SB_LANES], parent[SB_LANES], coord[SB_LANES], dof[SB_LANES];
  SiBody a, b;     /* parent, child */
  X7 frame;        /* of the child, as the coordinates predict it */
  F q[6], qd[6];
  MxAxis axis[6];
  /* up to three angular and three linear dofs, in order */
  MxFree turn, slide;
  V3 x; /* where the attachment acts, m */
} joint_lanes;

static void add_direction(MxFree *f, uint32_t slot, V3 d)
{
  if (slot == 0) f->d0 = d, f->used.x = K(1.0f);
  if (slot == 1) f->d1 = d, f->used.y = K(1.0f);
  if (slot == 2) f->d2 = d, f->used.z = K(1.0f);
}

static F get_slot(V3 v, uint32_t slot) { return slot == 0 ? v.x : slot == 1 ? v.y : v.z; }

static F dof_number(const joint_lanes *j, const float *array, uint32_t d) { return gather(array + d, j->dof, 1, 0); }

static void load_joints(const si_tick *t, joint_lanes *j, const si_joint_group *group, uint32_t first, uint32_t end)
{
  const sb_model *m = t->model;
  j->group = group;
  j->used = end - first < SB_LANES ? end - first : SB_LANES;
  for (uint32_t l = 0; l < SB_LANES; l++) {
    uint32_t body = group->bodies[l < j->used ? first + l : first];
    j->child[l] = body;
    j->parent[l] = m->joint_parent[body] < 0 ? UINT32_MAX : (uint32_t)m->joint_parent[body];
    j->coord[l] = (uint32_t)m->joint_q_start[body];
    j->dof[l] = (uint32_t)m->joint_qd_start[body];
  }
  j->a = gather_body(t, j->parent);
  j->b = gather_body(t, j->child);
  j->turn = j->slide = mx_free_none();
}

/* Walks the dofs from the parent: axes in world frame, and the child's frame as the coordinates predict it. */
static void walk_axes(const si_tick *t, joint_lanes *j)
{
  const sb_model *m = t->model;
  uint32_t turns = 0, slides = 0;
  V3 local = v3_zero();
  j->frame = x7_mul(j->a.pose, gather_x7(m->joint_X_p, j->child));
  for (uint32_t d = 0; d < j->group->dof_count; d++) {
    V3 axis = gather_v3(m->joint_axis + 3 * (size_t)d, j->dof, 3, 0), anchor = gather_v3(m->joint_anchor + 3 * (size_t)d, j->dof, 3, 0);
    j->q[d] = gather(t->state->joint_q + d, j->coord, 1, 0);
    F x = j->q[d] - dof_number(j, m->joint_ref, d);
    if (j->group->dof_kind[d] == SB_DOF_ANGULAR) {
      j->axis[d] = mx_axis_angular(j->frame, axis, anchor, x);
      local = anchor;
      add_direction(&j->turn, turns++, j->axis[d].axis);
    } else {
      j->axis[d] = mx_axis_linear(j->frame, axis, x);
      add_direction(&j->slide, slides++, j->axis[d].axis);
    }
    j->frame = j->axis[d].frame;
  }
  if (j->group->type == SB_JOINT_BALL) local = gather_v3(m->joint_anchor, j->dof, 3, 0);
  j->x = x7_point(j->b.pose, local);
}

/* What the attachment must resist: errors of position and orientation, and velocities, with the free directions taken out. */
typedef struct joint_error {
  V3 e_turn, w, e_move, v;
} joint_error;

static joint_error measure_joints(joint_lanes *j)
{
  joint_error r;
  r.e_turn = mx_turn(j->frame.q, j->b.pose.q);
  r.w = v3_sub(j->b.w, j->a.w);
  V3 predicted = x7_point(j->frame, x7_point_inv(j->b.pose, j->x));
  r.e_move = v3_sub(j->x, predicted);
  r.v = v3_sub(si_velocity_at(j->b, j->x), si_velocity_at(j->a, j->x));
  V3 dq = mx_fit(j->turn, r.e_turn);
  V3 rate = mx_fit(j->turn, r.w);
  r.e_turn = v3_sub(r.e_turn, mx_combine(j->turn, dq));
  r.w = v3_sub(r.w, mx_combine(j->turn, rate));
  uint32_t turns = 0, slides = 0;
  for (uint32_t d = 0; d < j->group->dof_count; d++) {
    if (j->group->dof_kind[d] != SB_DOF_ANGULAR) continue;
    /* turning about an anchor elsewhere carries the point along */
    V3 arm = v3_cross(j->axis[d].axis, v3_sub(j->x, j->axis[d].anchor));
    r.e_move = v3_add_scaled(r.e_move, arm, -get_slot(dq, turns));
    r.v = v3_add_scaled(r.v, arm, -get_slot(rate, turns));
    j->q[d] = j->q[d] + get_slot(dq, turns);
    j->qd[d] = get_slot(rate, turns++);
  }
  dq = mx_fit(j->slide, r.e_move);
  rate = mx_fit(j->slide, r.v);
  r.e_move = v3_sub(r.e_move, mx_combine(j->slide, dq));
  r.v = v3_sub(r.v, mx_combine(j->slide, rate));
  for (uint32_t d = 0; d < j->group->dof_count; d++) {
    if (j->group->dof_kind[d] == SB_DOF_ANGULAR) continue;
    j->q[d] = j->q[d] + get_slot(dq, slides);
    j->qd[d] = get_slot(rate, slides++);
  }
  return r;
}

static void store_coordinates(const si_tick *t, const joint_lanes *j)
{
  const sb_state *s = t->state;
  if (j->group->type == SB_JOINT_BALL) {
    Q4 q = q4_mul(q4_conj(j->frame.q), j->b.pose.q);
    scatter(s->joint_q, j->coord, 1, 0, q.x, j->used);
    scatter(s->joint_q, j->coord, 1, 1, q.y, j->used);
    scatter(s->joint_q, j->coord, 1, 2, q.z, j->used);
    scatter(s->joint_q, j->coord, 1, 3, q.w, j->used);
    scatter_v3(s->joint_qd, j->dof, 1, 0, q4_rotate_inv(j->b.pose.q, v3_sub(j->b.w, j->a.w)), j->used);
    return;
  }
  for (uint32_t d = 0; d < j->group->dof_count; d++) {
    scatter(s->joint_q, j->coord, 1, d, j->q[d], j->used);
    scatter(s->joint_qd, j->dof, 1, d, j->qd[d], j->used);
  }
}

/* Drives, springs, limits of the dofs, each solved for itself: acceleration times the inertia that the dof moves. */
static void add_dof_forces(const si_tick *t, const joint_lanes *j, S33 turn_response, S33 move_response, V3 *force, V3 *torque)
{
  const sb_model *m = t->model;
  const sb_state *s = t->state;
  const si_settings *set = &t->settings;
  for (uint32_t d = 0; d < j->group->dof_count; d++) {
    bool angular = j->group->dof_kind[d] == SB_DOF_ANGULAR;
    V3 a = j->axis[d].axis;
    DofLaw k;
    k.armature = K(0.0f); /* in the body's inertia already */
    k.damping = dof_number(j, m->joint_damping, d);
    k.stiffness = dof_number(j, m->joint_stiffness, d);
    k.spring_ref = dof_number(j, m->joint_spring_ref, d);
    k.friction = K(0.0f); /* below */
    k.lower = dof_number(j, m->joint_limit_lower, d);
    k.upper = dof_number(j, m->joint_limit_upper, d);
    k.effort = dof_number(j, m->joint_effort_limit, d);
    k.ke = dof_number(j, m->joint_target_ke, d);
    k.kd = dof_number(j, m->joint_target_kd, d);
    F answer = v3_dot(a, s33_mul_v3(angular ? turn_response : move_response, a));
    F inertia = f_div(K(1.0f), f_max(answer, K(1.0e-12f)));
    DofForce f = dof_force(k, j->q[d], j->qd[d], dof_number(j, s->joint_f, d), dof_number(j, s->joint_target_q, d),
                           dof_number(j, s->joint_target_qd, d), inertia, K(set->dt), K(set->limit_omega), K(set->limit_zeta));
    F push = dof_explicit(f, inertia);
    /* dry friction takes what it can of the speed that the dof would have, and the velocity limit the rest above it */
    F stop = f_div(inertia, K(set->dt));
    F friction = dof_number(j, m->joint_friction, d), top = dof_number(j, m->joint_velocity_limit, d);
    push = push - f_clamp(push + stop * j->qd[d], -friction, friction);
    F speed = j->qd[d] + f_div(push, stop);
    push = push - stop * (speed - f_clamp(speed, -top, top));
    if (angular)
      *torque = v3_add_scaled(*torque, a, push);
    else
      *force = v3_add_scaled(*force, a, push);
  }
}

/* The attachment does no work along the dofs: no force along a slide, and about a turning axis a the torque that cancels the moment of
 * the force, torque . a = -force . (a x (x - anchor)). */
static void free_of_work(const joint_lanes *j, V3 *force, V3 *torque)
{
  V3 along = mx_fit(j->slide, *force);
  *force = v3_sub(*force, mx_combine(j->slide, along));
  V3 moment = v3_zero();
  uint32_t turns = 0;
  for (uint32_t d = 0; d < j->group->dof_count; d++) {
    if (j->group->dof_kind[d] != SB_DOF_ANGULAR) continue;
    F m = v3_dot(*force, v3_cross(j->axis[d].axis, v3_sub(j->x, j->axis[d].anchor)));
    if (turns == 0) moment.x = m;
    if (turns == 1) moment.y = m;
    if (turns == 2) moment.z = m;
    turns++;
  }
  V3 wanted = v3_add(moment, v3(v3_dot(j->turn.d0, *torque), v3_dot(j->turn.d1, *torque), v3_dot(j->turn.d2, *torque)));
  V3 about = mx_fit_products(j->turn, wanted);
  *torque = v3_sub(*torque, mx_combine(j->turn, about));
}

static void solve_joints(const si_tick *t, joint_lanes *j, joint_error e)
{
  const si_settings *set = &t->settings;
  F dt = K(set->dt), omega = K(set->joint_omega), zeta = K(set->joint_zeta);
  S33 turn_response = s33_add(j->a.inv_inertia, j->b.inv_inertia);
  S33 move_response = s33_add(si_response(j->a, j->x), si_response(j->b, j->x));
  V3 force = si_attach(move_response, e.e_move, e.v, omega, zeta);
  V3 torque;
  if (j->group->type == SB_JOINT_BALL) {
    /* viscous, solved for itself: (1 + dt c R)^-1 (-c w) */
    F c = dof_number(j, t->model->joint_damping, 0);
    F h = dt * c;
    S33 d = s33(turn_response.xx * h + 1.0f, turn_response.yy * h + 1.0f, turn_response.zz * h + 1.0f, turn_response.xy * h,
                turn_response.xz * h, turn_response.yz * h);
    torque = s33_mul_v3(s33_inverse(d), v3_scale(e.w, -c));
  } else {
    torque = si_attach(turn_response, e.e_turn, e.w, omega, zeta);
    free_of_work(j, &force, &torque);
  }
  add_dof_forces(t, j, turn_response, move_response, &force, &torque);
  scatter_pair(t->joints, j->child, si_act(j->a, j->b, j->x, force, torque), j->used);
}

void LANED(si_joints)(const si_tick *t, const si_joint_group *group, uint32_t first, uint32_t end, bool measure)
{
  for (uint32_t i = first; i < end; i += SB_LANES) {
    joint_lanes j;
    load_joints(t, &j, group, i, end);
    walk_axes(t, &j);
    joint_error e = measure_joints(&j);
    store_coordinates(t, &j);
    if (!measure) solve_joints(t, &j, e);
  }
}

/* ---- contacts ---- */

void LANED(si_contacts)(const si_tick *t, uint32_t first, uint32_t end)
{
  const sb_contacts *c = t->contacts;
  const si_settings *set = &t->settings;
  for (uint32_t i = first; i < end; i += SB_LANES) {
    uint32_t used = end - i < SB_LANES ? end - i : SB_LANES, contact[SB_LANES], a[SB_LANES], b[SB_LANES];
    for (uint32_t l = 0; l < SB_LANES; l++) {
      contact[l] = l < used ? i + l : i;
      a[l] = c->body_a[contact[l]] < 0 ? UINT32_MAX : (uint32_t)c->body_a[contact[l]];
      b[l] = c->body_b[contact[l]] < 0 ? UINT32_MAX : (uint32_t)c->body_b[contact[l]];
    }
    SiBody body_a = gather_body(t, a), body_b = gather_body(t, b);
    V3 xa = x7_point(body_a.pose, gather_v3(c->point_a, contact, 3, 0)), xb = x7_point(body_b.pose, gather_v3(c->point_b, contact, 3, 0));
    SiPair pair = si_contact(body_a, body_b, xa, xb, gather_v3(c->normal, contact, 3, 0), gather(c->friction, contact, 3, 0),
                             K(set->contact_omega), K(set->contact_zeta), K(set->dt));
    scatter_pair(t->forces, contact, pair, used);
  }
}

/* ---- bodies ---- */

/* Sums what acts on one body, in fixed order: commands, its joint, joints of its children, contacts. */
static void sum_wrench(const si_tick *t, uint32_t body, float out[6])
{
  const float *external = t->state->body_f + 6 * (size_t)body;
  for (int k = 0; k < 6; k++) out[k] = external[k] + t->joints[body].b[k];
  for (uint32_t i = t->child_first[body]; i < t->child_first[body + 1]; i++)
    for (int k = 0; k < 6; k++) out[k] += t->joints[t->child[i]].a[k];
#ifdef SAMEBIT_MUTANT_TASK_ORDER_SUM
  for (int k = 0; k < 6; k++) out[k] += t->arrived[6 * (size_t)body + (size_t)k];
  return;
#endif
  for (uint32_t i = t->contact_first[body]; i < t->contact_first[body + 1]; i++) {
    uint32_t entry = t->body_contact[i];
    const si_wrench_pair *pair = &t->forces[entry & ~SB_CONTACT_OF_B];
    const float *wrench = (entry & SB_CONTACT_OF_B) != 0 ? pair->b : pair->a;
    for (int k = 0; k < 6; k++) out[k] += wrench[k];
  }
  if (t->particles) si_particles_add_wrench(t->particles, body, out);
}

static V3 snap_v3(V3 v) { return v3(f_snap(v.x, K(SI_SNAP)), f_snap(v.y, K(SI_SNAP)), f_snap(v.z, K(SI_SNAP))); }

void LANED(si_bodies)(const si_tick *t, uint32_t first, uint32_t end)
{
  const sb_model *m = t->model;
  const sb_state *s = t->state;
  for (uint32_t i = first; i < end; i += SB_LANES) {
    uint32_t used = end - i < SB_LANES ? end - i : SB_LANES, body[SB_LANES] = {0}, world[SB_LANES] = {0}, lane[SB_LANES];
    float sums[SB_LANES][6];
    for (uint32_t l = 0; l < SB_LANES; l++) {
      body[l] = t->moved[l < used ? i + l : i];
      world[l] = (uint32_t)m->body_world[body[l]];
      lane[l] = l;
      sum_wrench(t, body[l], sums[l]);
    }
    SiWrench wrench;
    wrench.f = gather_v3(&sums[0][0], lane, 6, 0);
    wrench.t = gather_v3(&sums[0][0], lane, 6, 3);
    SiMotion motion;
    motion.pose = gather_x7(s->body_q, body);
    motion.v = gather_v3(s->body_qd, body, 6, 0);
    motion.w = gather_v3(s->body_qd, body, 6, 3);
    F inv_mass = gather(t->inv_mass, body, 1, 0);
    V3 linear = v3_add_scaled(gather_v3(m->gravity, world, 3, 0), wrench.f, inv_mass);
    if (t->slowness) {
      /* armature of slides: selected for each body, so that a body with it changes nothing for those without */
      S33 slow = gather_s33(t->slowness, body);
      M has = (slow.xx + slow.yy) + slow.zz < 3.0f;
      linear = v3_sel(has, s33_mul_v3(s33_rotate(q4_to_m33(motion.pose.q), slow), linear), linear);
    }
    motion = si_integrate(motion, gather_v3(m->body_com, body, 3, 0), gather_s33(t->inertia, body), gather_s33(t->inv_inertia, body),
                          linear, wrench.t, K(t->settings.dt));
    scatter_v3(s->body_q, body, 7, 0, motion.pose.p, used);
    scatter(s->body_q, body, 7, 3, motion.pose.q.x, used);
    scatter(s->body_q, body, 7, 4, motion.pose.q.y, used);
    scatter(s->body_q, body, 7, 5, motion.pose.q.z, used);
    scatter(s->body_q, body, 7, 6, motion.pose.q.w, used);
    scatter_v3(s->body_qd, body, 6, 0, snap_v3(motion.v), used);
    scatter_v3(s->body_qd, body, 6, 3, snap_v3(motion.w), used);
  }
}
