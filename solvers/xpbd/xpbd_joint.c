/* Joints: where the coordinates put the child, what is wrong with that, and the corrections. */
#include "xpbd_joint.h"

#include "samebit/joint_law.h"

/* A joint while it is solved. */
typedef struct joint {
  uint32_t child, dof, coord, dof_count;
  bool ball;
  xp_body *ra, *rb; /* parent, child */
  bool own_a;
  XpBody a, b;
  float h, inv_h;
  /* measured */
  X7 frame;       /* of the child, as the coordinates put it */
  V3 x;           /* where the bodies meet, m */
  V3 la, lb;      /* from the centres of mass to it, when the substep began */
  MxFree turn, slide;
  V3 e_turn, e_move; /* what is to be held */
  V3 axis[6];
  bool apart;        /* some dof turns about an axis that does not go through x */
  V3 arm[3];         /* then the error counts turns: e_move = dx - A dturn, columns of A */
  float change[6];   /* of each coordinate since the substep began */
} joint;

static void free_direction(MxFree *f, V3 axis)
{
  if (f->used.x == 0.0f)
    f->d0 = axis, f->used.x = 1.0f;
  else if (f->used.y == 0.0f)
    f->d1 = axis, f->used.y = 1.0f;
  else
    f->d2 = axis, f->used.z = 1.0f;
}

static float part(V3 v, uint32_t k) { return k == 0 ? v.x : k == 1 ? v.y : v.z; }

static X7 frame_of(const xp_body *r, XpBody b)
{
  Q4 q = q4_mul(b.q, xp_get4(r->turn));
  return x7(v3_sub(v3_add(xp_get3(r->base), b.x), q4_rotate(q, xp_get3(r->com))), q);
}

/* Errors against the coordinates of the substep's beginning, and how far each coordinate has gone. */
static void measure(const xp_bodies *s, joint *j)
{
  const sb_model *m = s->bind->model;
  const float *X = m->joint_X_p + 7 * (size_t)j->child, *q = s->bind->state->joint_q + j->coord;
  X7 child = frame_of(j->rb, j->b);
  V3 local = v3_zero(), anchor[6];
  j->turn = j->slide = mx_free_none();
  j->frame = x7_mul(frame_of(j->ra, j->a), x7(xp_get3(X), xp_get4(X + 3)));
  if (j->ball) local = xp_get3(m->joint_anchor + 3 * (size_t)j->dof);
  for (uint32_t d = 0; d < j->dof_count; d++) {
    uint32_t dof = j->dof + d;
    V3 axis = xp_get3(m->joint_axis + 3 * (size_t)dof), at = xp_get3(m->joint_anchor + 3 * (size_t)dof);
    bool angular = m->dof_kind[dof] == SB_DOF_ANGULAR;
    MxAxis r = angular ? mx_axis_angular(j->frame, axis, at, q[d] - m->joint_ref[dof]) : mx_axis_linear(j->frame, axis, q[d] - m->joint_ref[dof]);
    if (angular) local = at;
    j->axis[d] = r.axis, anchor[d] = r.anchor, j->frame = r.frame;
    free_direction(angular ? &j->turn : &j->slide, r.axis);
  }
  j->x = x7_point(child, local);
  if (j->ball) {
    j->e_turn = v3_zero();
    j->e_move = v3_sub(j->x, x7_point(j->frame, local));
    return;
  }
  j->e_turn = mx_turn(j->frame.q, child.q);
  j->e_move = v3_sub(j->x, x7_point(j->frame, local));
  V3 dq = mx_fit(j->turn, j->e_turn);
  j->e_turn = v3_sub(j->e_turn, mx_combine(j->turn, dq));
  const V3 unit[3] = {v3(1.0f, 0.0f, 0.0f), v3(0.0f, 1.0f, 0.0f), v3(0.0f, 0.0f, 1.0f)};
  V3 fit[3];
  for (int k = 0; k < 3; k++) j->arm[k] = v3_zero(), fit[k] = j->apart ? mx_fit(j->turn, unit[k]) : v3_zero();
  for (uint32_t d = 0, k = 0; d < j->dof_count; d++) {
    if (m->dof_kind[j->dof + d] != SB_DOF_ANGULAR) continue;
    j->change[d] = part(dq, k);
    if (j->apart) {
      /* turning about an anchor elsewhere carries the point along */
      V3 along = v3_cross(j->axis[d], v3_sub(j->x, anchor[d]));
      j->e_move = v3_add_scaled(j->e_move, along, -j->change[d]);
      for (int i = 0; i < 3; i++) j->arm[i] = v3_add_scaled(j->arm[i], along, part(fit[i], k));
    }
    k++;
  }
  dq = mx_fit(j->slide, j->e_move);
  j->e_move = v3_sub(j->e_move, mx_combine(j->slide, dq));
  for (uint32_t d = 0, k = 0; d < j->dof_count; d++)
    if (m->dof_kind[j->dof + d] != SB_DOF_ANGULAR) j->change[d] = part(dq, k++);
}

static S33 response(const joint *j)
{
  if (!j->apart) return s33_add(xp_response(j->a, j->la), xp_response(j->b, j->lb));
  return s33_add(xp_response_arms(j->a, j->la, j->arm[0], j->arm[1], j->arm[2]), xp_response_arms(j->b, j->lb, j->arm[0], j->arm[1], j->arm[2]));
}

static void correct(joint *j, V3 p, V3 t)
{
  if (j->apart) t = v3_sub(t, v3(v3_dot(j->arm[0], p), v3_dot(j->arm[1], p), v3_dot(j->arm[2], p)));
  if (j->own_a) j->a = xp_correct(j->a, j->la, v3_neg(p), v3_neg(t), j->inv_h);
  j->b = xp_correct(j->b, j->lb, p, t, j->inv_h);
}

static joint load(const xp_bodies *s, uint32_t child)
{
  const sb_model *m = s->bind->model;
  int32_t parent = m->joint_parent[child];
  uint32_t a = parent < 0 ? s->nobody : s->record[parent];
  joint j = {.child = child, .dof = (uint32_t)m->joint_qd_start[child], .coord = (uint32_t)m->joint_q_start[child],
             .dof_count = m->joint_type[child] == SB_JOINT_AXES ? m->joint_dof_count[child] : 0, .ball = m->joint_type[child] == SB_JOINT_BALL,
             .ra = &s->bodies[a], .rb = &s->bodies[s->record[child]], .own_a = a < s->own, .h = s->h, .inv_h = s->inv_h};
  j.a = xp_get_body(j.ra);
  j.b = xp_get_body(j.rb);
  const float *last = NULL;
  bool slides = false;
  for (uint32_t d = j.dof_count; d-- > 0;) {
    const float *anchor = m->joint_anchor + 3 * (size_t)(j.dof + d);
    if (m->dof_kind[j.dof + d] != SB_DOF_ANGULAR) {
      slides = true;
      continue;
    }
    if (slides) j.apart = true; /* the slide carries x away from the axes before it */
    if (last && (anchor[0] != last[0] || anchor[1] != last[1] || anchor[2] != last[2])) j.apart = true;
    if (!last) last = anchor;
  }
  V3 local = last ? xp_get3(last) : j.ball ? xp_get3(m->joint_anchor + 3 * (size_t)j.dof) : v3_zero();
  V3 before = xp_point_before(j.rb, local);
  j.la = v3_sub(before, v3_add(xp_get3(j.ra->base), xp_get3(j.ra->x0)));
  j.lb = v3_sub(before, v3_add(xp_get3(j.rb->base), xp_get3(j.rb->x0)));
  return j;
}

/* Viscous: turns back what the damper takes of the turn since the substep began, (1 + c h R)^-1 (-c h dturn). */
static void damp_ball(const xp_bodies *s, joint *j)
{
  float ch = s->bind->model->joint_damping[j->dof] * j->h;
  if (!(ch > 0.0f) || s->iteration) return;
  V3 turned = v3_sub(mx_turn(xp_get4(j->rb->q0), j->b.q), mx_turn(xp_get4(j->ra->q0), j->a.q));
  S33 r = s33_add(j->a.i, j->b.i);
  S33 a = s33(r.xx * ch + 1.0f, r.yy * ch + 1.0f, r.zz * ch + 1.0f, r.xy * ch, r.xz * ch, r.yz * ch);
  correct(j, v3_zero(), s33_mul_v3(s33_inverse(a), v3_scale(turned, -ch)));
}

static void drive_dofs(const xp_bodies *s, joint *j, bool again)
{
  const sb_model *m = s->bind->model;
  const sb_state *state = s->bind->state;
  for (uint32_t d = 0; d < j->dof_count; d++) {
    uint32_t dof = j->dof + d;
    bool angular = m->dof_kind[dof] == SB_DOF_ANGULAR;
    xp_dof_state *kept = &s->dofs[dof];
    DofLaw k = {.armature = 0.0f, .damping = m->joint_damping[dof], .stiffness = m->joint_stiffness[dof], .spring_ref = m->joint_spring_ref[dof],
                .friction = m->joint_friction[dof], .lower = m->joint_limit_lower[dof], .upper = m->joint_limit_upper[dof],
                .effort = m->joint_effort_limit[dof], .ke = m->joint_target_ke[dof], .kd = m->joint_target_kd[dof]};
    S33 r = angular ? s33_add(j->a.i, j->b.i) : response(j);
    XpDof before = {0};
    again = again || s->iteration;
    if (again) before = (XpDof){.drive = kept->drive, .spring = kept->spring, .friction = kept->friction};
    XpDof now = xp_dof(k, state->joint_q[j->coord + d], j->change[d], state->joint_f[dof], state->joint_target_q[dof], state->joint_target_qd[dof],
                       m->joint_velocity_limit[dof], v3_dot(j->axis[d], s33_mul_v3(r, j->axis[d])), j->h, again ? 1.0f : 0.0f, before);
    *kept = (xp_dof_state){now.drive, now.spring, now.friction};
    V3 p = v3_scale(j->axis[d], now.p);
    correct(j, angular ? v3_zero() : p, angular ? p : v3_zero());
  }
}

static void hold_turn(const xp_bodies *s, joint *j)
{
  measure(s, j);
  correct(j, v3_zero(), mx_hold(j->turn, s33_add(j->a.i, j->b.i), j->e_turn));
}

static void hold_place(const xp_bodies *s, joint *j)
{
  measure(s, j);
  correct(j, mx_hold(j->slide, response(j), j->e_move), v3_zero());
}

void xp_joint_solve(const xp_bodies *s, uint32_t child, bool back)
{
  joint j = load(s, child);
  if (back) {
    hold_place(s, &j);
    if (!j.ball) hold_turn(s, &j);
  }
  measure(s, &j);
  if (!j.ball)
    drive_dofs(s, &j, back);
  else if (!back)
    damp_ball(s, &j);
  if (!back) {
    if (!j.ball) hold_turn(s, &j);
    hold_place(s, &j);
  }
  if (j.own_a) xp_put_body(j.ra, j.a);
  xp_put_body(j.rb, j.b);
}

void xp_joint_store(const xp_bodies *s, uint32_t child)
{
  const sb_model *m = s->bind->model;
  const sb_state *state = s->bind->state;
  joint j = load(s, child);
  measure(s, &j);
  V3 w = v3_sub(j.b.w, j.a.w);
  if (j.ball) {
    Q4 child_q = xp_facing(j.rb);
    xp_put4(state->joint_q + j.coord, q4_normalize(q4_mul(q4_conj(j.frame.q), child_q)));
    xp_put3(state->joint_qd + j.dof, q4_rotate_inv(child_q, w));
    return;
  }
  V3 v = v3_sub(xp_velocity_at(j.b, v3_sub(j.x, xp_where(j.rb))), xp_velocity_at(j.a, v3_sub(j.x, xp_where(j.ra))));
  V3 rate = mx_fit(j.turn, w);
  for (uint32_t d = 0, k = 0; d < j.dof_count; d++) {
    if (m->dof_kind[j.dof + d] != SB_DOF_ANGULAR) continue;
    V3 anchor = x7_point(j.frame, xp_get3(m->joint_anchor + 3 * (size_t)(j.dof + d)));
    float qd = part(rate, k++);
    state->joint_qd[j.dof + d] = qd;
    v = v3_add_scaled(v, v3_cross(j.axis[d], v3_sub(j.x, anchor)), -qd);
  }
  rate = mx_fit(j.slide, v);
  for (uint32_t d = 0, k = 0; d < j.dof_count; d++) {
    if (m->dof_kind[j.dof + d] != SB_DOF_ANGULAR) state->joint_qd[j.dof + d] = part(rate, k++);
    state->joint_q[j.coord + d] += j.change[d];
  }
}
