/* The independent binary64 reference. Knows samebit/model.h and the C library. */
#include "physics_reference.h"

#include <stdbool.h>
#include <string.h>

static dv rotate(const reference_body *b, dv v) { return dq_rotate(b->q, v); }

/* Moves the frame to a point fixed in it at `offset` (frame axes) and turns it by q. */
static void carry(reference_body *f, dv offset, dq q)
{
  dv arm = rotate(f, offset);
  f->p = dv_add(f->p, arm);
  f->v = dv_add(f->v, dv_cross(f->w, arm));
  f->q = dq_mul(f->q, q);
}

static void move_axes(const sb_model *m, uint32_t body, const double *joint_q, const double *joint_qd, reference_body *f)
{
  const dq none = {0, 0, 0, 1};
  for (uint32_t d = 0; d < m->joint_dof_count[body]; d++) {
    uint32_t dof = (uint32_t)m->joint_qd_start[body] + d;
    double x = joint_q[(uint32_t)m->joint_q_start[body] + d] - m->joint_ref[dof], rate = joint_qd[dof];
    dv axis = dv_read(m->joint_axis + 3 * dof), anchor = dv_read(m->joint_anchor + 3 * dof), world = rotate(f, axis);
    if (m->dof_kind[dof] == SB_DOF_LINEAR) {
      carry(f, dv_scale(axis, x), none);
      f->v = dv_add(f->v, dv_scale(world, rate));
      continue;
    }
    carry(f, anchor, dq_turn(axis, x));
    f->w = dv_add(f->w, dv_scale(world, rate));
    carry(f, dv_scale(anchor, -1), none);
  }
}

void reference_kinematics(const sb_model *m, const double *joint_q, const double *joint_qd, reference_body *out)
{
  const dq none = {0, 0, 0, 1};
  for (uint32_t b = 0; b < m->body_count; b++) {
    const double *q = joint_q + m->joint_q_start[b], *qd = joint_qd + m->joint_qd_start[b];
    dv com = dv_read(m->body_com + 3 * b);
    reference_body f = {.q = none};
    if (m->joint_type[b] == SB_JOINT_FREE) {
      f.p = dv_make(q[0], q[1], q[2]);
      f.q = dq_unit((dq){q[3], q[4], q[5], q[6]});
      f.w = dv_make(qd[3], qd[4], qd[5]);
      f.v = dv_sub(dv_make(qd[0], qd[1], qd[2]), dv_cross(f.w, rotate(&f, com)));
    } else {
      if (m->joint_parent[b] >= 0) f = out[m->joint_parent[b]];
      carry(&f, dv_read(m->joint_X_p + 7 * b), dq_unit(dq_read(m->joint_X_p + 7 * b + 3)));
    }
    if (m->joint_type[b] == SB_JOINT_BALL) {
      dv anchor = dv_read(m->joint_anchor + 3 * m->joint_qd_start[b]);
      carry(&f, anchor, dq_unit((dq){q[0], q[1], q[2], q[3]}));
      f.w = dv_add(f.w, rotate(&f, dv_make(qd[0], qd[1], qd[2])));
      carry(&f, dv_scale(anchor, -1), none);
    }
    if (m->joint_type[b] == SB_JOINT_AXES) move_axes(m, b, joint_q, joint_qd, &f);
    dv arm = rotate(&f, com);
    f.com = dv_add(f.p, arm);
    f.v_com = dv_add(f.v, dv_cross(f.w, arm));
    out[b] = f;
  }
}

void reference_from_bodies(const sb_model *m, const float *body_q, const float *body_qd, reference_body *out)
{
  for (uint32_t b = 0; b < m->body_count; b++) {
    reference_body f = {.p = dv_read(body_q + 7 * b), .q = dq_unit(dq_read(body_q + 7 * b + 3)), .w = dv_read(body_qd + 6 * b + 3)};
    dv arm = rotate(&f, dv_read(m->body_com + 3 * b));
    f.com = dv_add(f.p, arm);
    f.v_com = dv_read(body_qd + 6 * b);
    f.v = dv_sub(f.v_com, dv_cross(f.w, arm));
    out[b] = f;
  }
}

/* Inertia about the centre of mass, world axes, times v. */
static dv inertia_times(const sb_model *m, uint32_t b, const reference_body *f, dv v)
{
  return rotate(f, dv_inertia(m->body_inertia + 6 * b, dq_rotate(dq_conj(f->q), v)));
}

double reference_kinetic(const sb_model *m, const reference_body *b, const float *joint_qd)
{
  double e = 0;
  for (uint32_t i = 0; i < m->body_count; i++)
    e += 0.5 * m->body_mass[i] * dv_dot(b[i].v_com, b[i].v_com) + 0.5 * dv_dot(b[i].w, inertia_times(m, i, &b[i], b[i].w));
  for (uint32_t d = 0; d < m->dof_count; d++) e += 0.5 * m->joint_armature[d] * joint_qd[d] * joint_qd[d];
  return e;
}

double reference_potential(const sb_model *m, const reference_body *b, const float *joint_q)
{
  double e = 0;
  dv g = dv_read(m->gravity);
  for (uint32_t i = 0; i < m->body_count; i++) e -= m->body_mass[i] * dv_dot(g, b[i].com);
  for (uint32_t i = 0; i < m->body_count; i++)
    for (uint32_t d = 0; m->joint_type[i] == SB_JOINT_AXES && d < m->joint_dof_count[i]; d++) {
      uint32_t dof = (uint32_t)m->joint_qd_start[i] + d;
      double x = (double)joint_q[(uint32_t)m->joint_q_start[i] + d] - m->joint_spring_ref[dof];
      e += 0.5 * m->joint_stiffness[dof] * x * x;
    }
  return e;
}

double reference_energy(const sb_model *m, const sb_state *s)
{
  reference_body b[REFERENCE_BODIES];
  reference_from_bodies(m, s->body_q, s->body_qd, b);
  return reference_kinetic(m, b, s->joint_qd) + reference_potential(m, b, s->joint_q);
}

dv reference_momentum(const sb_model *m, const reference_body *b)
{
  dv sum = {0, 0, 0};
  for (uint32_t i = 0; i < m->body_count; i++) sum = dv_add(sum, dv_scale(b[i].v_com, m->body_mass[i]));
  return sum;
}

dv reference_angular_momentum(const sb_model *m, const reference_body *b, dv about)
{
  dv sum = {0, 0, 0};
  for (uint32_t i = 0; i < m->body_count; i++) {
    sum = dv_add(sum, inertia_times(m, i, &b[i], b[i].w));
    sum = dv_add(sum, dv_scale(dv_cross(dv_sub(b[i].com, about), b[i].v_com), m->body_mass[i]));
  }
  return sum;
}

dv reference_centre(const sb_model *m, const reference_body *b)
{
  dv sum = {0, 0, 0};
  double mass = 0;
  for (uint32_t i = 0; i < m->body_count; i++) sum = dv_add(sum, dv_scale(b[i].com, m->body_mass[i])), mass += m->body_mass[i];
  return dv_scale(sum, 1 / mass);
}

/* Joint coordinates after moving at constant joint velocity for time h: the path with qdd = 0. */
static void glide(const sb_model *m, const double *joint_q, const double *joint_qd, double h, double *out)
{
  memcpy(out, joint_q, m->coord_count * sizeof *out);
  for (uint32_t b = 0; b < m->body_count; b++) {
    double *q = out + m->joint_q_start[b];
    const double *qd = joint_qd + m->joint_qd_start[b];
    if (m->joint_type[b] == SB_JOINT_AXES)
      for (uint32_t d = 0; d < m->joint_dof_count[b]; d++) q[d] += h * qd[d];
    if (m->joint_type[b] == SB_JOINT_BALL || m->joint_type[b] == SB_JOINT_FREE) {
      bool world = m->joint_type[b] == SB_JOINT_FREE;
      double *r = world ? q + 3 : q;
      dv w = world ? dv_make(qd[3], qd[4], qd[5]) : dv_make(qd[0], qd[1], qd[2]);
      double rate = dv_len(w);
      dq turn = rate > 0 ? dq_turn(dv_scale(w, 1 / rate), rate * h) : (dq){0, 0, 0, 1};
      dq from = {r[0], r[1], r[2], r[3]}, to = world ? dq_mul(turn, from) : dq_mul(from, turn);
      r[0] = to.x, r[1] = to.y, r[2] = to.z, r[3] = to.w;
      if (!world) continue;
      /* the centre of mass moves straight; the body origin turns about it */
      dv com = dv_read(m->body_com + 3 * b), move = dv_scale(dv_make(qd[0], qd[1], qd[2]), h);
      dv shift = dv_sub(dq_rotate(from, com), dq_rotate(to, com));
      q[0] += move.x + shift.x, q[1] += move.y + shift.y, q[2] += move.z + shift.z;
    }
  }
}

/* Gaussian elimination with pivoting. */
static void solve(double (*a)[REFERENCE_DOFS], double *b, uint32_t n)
{
  for (uint32_t c = 0; c < n; c++) {
    uint32_t best = c;
    for (uint32_t r = c + 1; r < n; r++)
      if (fabs(a[r][c]) > fabs(a[best][c])) best = r;
    for (uint32_t k = 0; k < n; k++) {
      double t = a[c][k];
      a[c][k] = a[best][k], a[best][k] = t;
    }
    double t = b[c];
    b[c] = b[best], b[best] = t;
    for (uint32_t r = c + 1; r < n; r++) {
      double f = a[r][c] / a[c][c];
      for (uint32_t k = c; k < n; k++) a[r][k] -= f * a[c][k];
      b[r] -= f * b[c];
    }
  }
  for (uint32_t c = n; c-- > 0;) {
    for (uint32_t k = c + 1; k < n; k++) b[c] -= a[c][k] * b[k];
    b[c] /= a[c][c];
  }
}

void reference_accelerations(const sb_model *m, const double *joint_q, const double *joint_qd, const double *force, double *qdd)
{
  static reference_body at[REFERENCE_BODIES], before[REFERENCE_BODIES], after[REFERENCE_BODIES], column[REFERENCE_DOFS][REFERENCE_BODIES];
  static double mass[REFERENCE_DOFS][REFERENCE_DOFS];
  double path[REFERENCE_DOFS * 2], unit[REFERENCE_DOFS];
  const double h = 1e-5;
  uint32_t n = m->dof_count;
  reference_kinematics(m, joint_q, joint_qd, at);
  glide(m, joint_q, joint_qd, -h, path);
  reference_kinematics(m, path, joint_qd, before);
  glide(m, joint_q, joint_qd, h, path);
  reference_kinematics(m, path, joint_qd, after);
  for (uint32_t d = 0; d < n; d++) {
    memset(unit, 0, sizeof unit);
    unit[d] = 1;
    reference_kinematics(m, joint_q, unit, column[d]);
  }
  dv g = dv_read(m->gravity);
  for (uint32_t d = 0; d < n; d++) {
    qdd[d] = force[d];
    for (uint32_t e = 0; e < n; e++) mass[d][e] = d == e ? m->joint_armature[d] : 0;
    for (uint32_t b = 0; b < m->body_count; b++) {
      for (uint32_t e = 0; e < n; e++)
        mass[d][e] += m->body_mass[b] * dv_dot(column[d][b].v_com, column[e][b].v_com) +
                      dv_dot(column[d][b].w, inertia_times(m, b, &at[b], column[e][b].w));
      dv a = dv_scale(dv_sub(after[b].v_com, before[b].v_com), 0.5 / h), alpha = dv_scale(dv_sub(after[b].w, before[b].w), 0.5 / h);
      dv torque = dv_add(inertia_times(m, b, &at[b], alpha), dv_cross(at[b].w, inertia_times(m, b, &at[b], at[b].w)));
      qdd[d] -= m->body_mass[b] * dv_dot(column[d][b].v_com, dv_sub(a, g)) + dv_dot(column[d][b].w, torque);
    }
  }
  solve(mass, qdd, n);
}
