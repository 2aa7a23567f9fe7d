/* Constraints that a solver does not have: tendons and equality of joints become soft forces in joint_f, a connect or weld in
 * body_f. */
#include "sim_internal.h"

#include <stdlib.h>

#include "cook_math.h"
#include "samebit/maths.h"
#include "samebit/solver_tools.h"
#include "soft_joint.kernel.h"

static bool owns(const sim_part *part, int32_t body) { return sb_has_body(part->bodies, part->body_count, body); }

/* ---- tendons ---- */

static bool hangs_on(const sb_model *m, int32_t body, int32_t root)
{
  while (body > root) body = m->joint_parent[body];
  return body == root;
}

/* Inertia of what hangs on a dof, as one rigid body in the initial pose. */
static double dof_inertia(const sb_model *m, uint32_t world, uint32_t dof)
{
  int32_t root = m->dof_body[dof];
  double X[7], axis[3], anchor[3], sum = (double)m->joint_armature[dof];
  for (int i = 0; i < 7; i++) X[i] = (double)m->body_q[7 * (size_t)root + (size_t)i];
  for (size_t i = 0; i < 3; i++) axis[i] = (double)m->joint_axis[3 * (size_t)dof + i], anchor[i] = (double)m->joint_anchor[3 * (size_t)dof + i];
  cook_quat_rotate(X + 3, axis, axis);
  cook_pose_point(X, anchor, anchor);
  for (uint32_t b = (uint32_t)root; b < m->world_body_start[world + 1]; b++) {
    double mass = (double)m->body_mass[b], com[3], tensor[6], pose[7], arm[3];
    if (!hangs_on(m, (int32_t)b, root)) continue;
    if (m->dof_kind[dof] == SB_DOF_LINEAR) {
      sum += mass;
      continue;
    }
    for (size_t i = 0; i < 7; i++) pose[i] = (double)m->body_q[7 * (size_t)b + i];
    for (size_t i = 0; i < 3; i++) com[i] = (double)m->body_com[3 * (size_t)b + i];
    for (size_t i = 0; i < 6; i++) tensor[i] = (double)m->body_inertia[6 * (size_t)b + i];
    cook_pose_point(pose, com, com);
    cook_inertia_rotate(pose + 3, tensor, tensor);
    for (int i = 0; i < 3; i++) com[i] -= anchor[i];
    cook_cross(axis, com, arm);
    double own = axis[0] * (tensor[0] * axis[0] + 2.0 * (tensor[3] * axis[1] + tensor[4] * axis[2])) +
                 axis[1] * (tensor[1] * axis[1] + 2.0 * tensor[5] * axis[2]) + tensor[2] * axis[2] * axis[2];
    sum += own + mass * cook_dot(arm, arm);
  }
  return sum;
}

/* 1 / sum of coef^2 / inertia, a quarter of it: links that give way make the true value smaller, and the forces below are
 * stable as long as this is below twice the true value. */
static float tendon_inertia(const sb_model *m, uint32_t tendon)
{
  double inverse = 0.0;
  uint32_t first = (uint32_t)m->tendon_first_term[tendon];
  for (uint32_t i = first; i < first + m->tendon_terms[tendon]; i++) {
    double coef = (double)m->tendon_term_coef[i];
    double inertia = dof_inertia(m, (uint32_t)m->tendon_world[tendon], (uint32_t)m->tendon_term_dof[i]);
    if (inertia > 0.0) inverse += coef * coef / inertia;
  }
  return inverse > 1e-12 ? (float)(0.25 / inverse) : 0.0f;
}

/* Whether a part owns a body and its solver lacks what it handles. */
static bool is_left(const sb_sim *sim, int32_t body, uint32_t handles)
{
  for (uint32_t p = 0; p < sim->part_count; p++)
    if (owns(&sim->parts[p], body)) return !(sim->parts[p].api->desc->handles & handles);
  return false;
}

static float inverse_inertia(const sb_model *m, uint32_t dof)
{
  double inertia = dof_inertia(m, 0, dof);
  return inertia > 0.0 ? (float)(1.0 / inertia) : 0.0f;
}

/* Worlds are alike, so the inertias of the first one serve all. */
sb_status sb_sim_create_constraints(sb_sim *sim, sb_diagnostics *diag)
{
  const sb_model *m = sim->model;
  sim->tendons = calloc((size_t)m->tendon_count + 1, sizeof *sim->tendons);
  sim->gears = calloc((size_t)m->equality_count + 1, sizeof *sim->gears);
  sim->pins = calloc((size_t)m->equality_count + 1, sizeof *sim->pins);
  if (!sim->tendons || !sim->gears || !sim->pins) return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, "simulation", "no memory for constraints");
  for (uint32_t t = 0; t < m->tendon_count; t++)
    if (sb_tendon_acts(m, (int32_t)t) &&
        is_left(sim, m->dof_body[m->tendon_term_dof[m->tendon_first_term[t]]], SB_HANDLES_TENDONS))
      sim->tendons[sim->tendon_count++] = (sim_tendon){t, tendon_inertia(m, t % (m->tendon_count / m->world_count))};
  uint32_t dofs = m->dof_count / m->world_count;
  for (uint32_t e = 0; e < m->equality_count; e++) {
    const int32_t *dof = m->equality_dof + 2 * (size_t)e, *body = m->equality_body + 2 * (size_t)e;
    if (!is_left(sim, body[0], SB_HANDLES_EQUALITIES) && !is_left(sim, body[1], SB_HANDLES_EQUALITIES)) continue;
    if (m->equality_type[e] != SB_EQUALITY_JOINT) {
      sim->pins[sim->pin_count++] = e;
      continue;
    }
    sim_gear *gear = &sim->gears[sim->gear_count++];
    *gear = (sim_gear){.equality = e};
    for (int k = 0; k < 2; k++)
      if (dof[k] >= 0) gear->inverse[k] = inverse_inertia(m, (uint32_t)dof[k] % dofs);
  }
  uint32_t soft = (sim->tendon_count + sim->gear_count + sim->pin_count) / m->world_count;
  if (soft)
    sb_report(diag, SB_NOTE, SB_CODE_SOLVER_SOFTENED, "simulation",
              "%u constraints of each world hold bodies whose solver has no such constraints: they act as soft forces, once a tick", soft);
  return SB_OK;
}

static float beyond(float x, float lower, float upper) { return x < lower ? x - lower : x > upper ? x - upper : 0.0f; }

static float least(float a, float b) { return a < b ? a : b; }

/* Force along a tendon of length q that changes by qd, for one tick, from its spring and damper outside the dead band, dry
 * friction, and limits that only push back. It is explicit; of an inertia m a stiffness counts up to m / (2 dt^2), a damping
 * up to 3 m / (4 dt), a friction up to what stops m in a tick, and limits have the first two. With x the stretch and
 * u = dt qd the tick is u' = (1 - 3/4 r) u - r/2 x, x' = x + u', r = m / true inertia: stable for r < 2. */
static float tendon_force(const sb_model *m, uint32_t t, float inertia, float q, float qd, float dt)
{
  float per_dt = inertia / dt, most_k = 0.5f * (per_dt / dt), most_c = 0.75f * per_dt;
  float stretch = beyond(q, m->tendon_spring_lower[t], m->tendon_spring_upper[t]);
  float force = -(least(m->tendon_stiffness[t], most_k) * stretch + least(m->tendon_damping[t], most_c) * qd);
  float drag = most_c * qd, most = m->tendon_friction[t];
  force -= drag < -most ? -most : least(drag, most);
  float over = beyond(q, m->tendon_limit_lower[t], m->tendon_limit_upper[t]);
  float push = -(most_k * over + most_c * qd);
  return over != 0.0f && (over < 0.0f) == (push > 0.0f) ? force + push : force;
}

static void apply_tendons(sb_sim *sim)
{
  const sb_model *m = sim->model;
  for (uint32_t i = 0; i < sim->tendon_count; i++) {
    uint32_t t = sim->tendons[i].tendon, first = (uint32_t)m->tendon_first_term[t], end = first + m->tendon_terms[t];
    float q = 0.0f, qd = 0.0f;
    for (uint32_t k = first; k < end; k++) {
      int32_t dof = m->tendon_term_dof[k];
      q += m->tendon_term_coef[k] * sim->state.joint_q[m->dof_coord[dof]];
      qd += m->tendon_term_coef[k] * sim->state.joint_qd[dof];
    }
    if (!(sim->tendons[i].inertia > 0.0f)) continue;
    float force = tendon_force(m, t, sim->tendons[i].inertia, q, qd, sim->dt);
    if (force == 0.0f) continue; /* leaves a -0 in joint_f alone */
    for (uint32_t k = first; k < end; k++) sim->state.joint_f[m->tendon_term_dof[k]] += m->tendon_term_coef[k] * force;
  }
}

/* r = (q0 - ref0) - sum poly[k] x^k with x = q1 - ref1, brought back like a limit of a tendon, from both sides. */
static void apply_gear(sb_sim *sim, const sim_gear *gear)
{
  const sb_model *m = sim->model;
  const int32_t *dof = m->equality_dof + 2 * (size_t)gear->equality;
  const float *poly = m->equality_poly + 5 * (size_t)gear->equality;
  float x = dof[1] < 0 ? 0.0f : sim->state.joint_q[m->dof_coord[dof[1]]] - m->joint_ref[dof[1]];
  float value = (((poly[4] * x + poly[3]) * x + poly[2]) * x + poly[1]) * x + poly[0];
  float slope = ((4.0f * poly[4] * x + 3.0f * poly[3]) * x + 2.0f * poly[2]) * x + poly[1];
  float rate = sim->state.joint_qd[dof[0]], mobility = gear->inverse[0];
  if (dof[1] >= 0) rate -= slope * sim->state.joint_qd[dof[1]], mobility += (slope * slope) * gear->inverse[1];
  if (!(mobility > 1.0e-12f)) return;
  float per_dt = (0.25f / mobility) / sim->dt;
  float r = (sim->state.joint_q[m->dof_coord[dof[0]]] - m->joint_ref[dof[0]]) - value;
  float force = -(0.5f * (per_dt / sim->dt) * r + 0.75f * per_dt * rate);
  sim->state.joint_f[dof[0]] += force;
  if (dof[1] >= 0) sim->state.joint_f[dof[1]] -= slope * force;
}

/* ---- connect and weld ---- */

static V3 load_v3(const float *p) { return v3(p[0], p[1], p[2]); }
static Q4 load_q4(const float *p) { return q4(p[0], p[1], p[2], p[3]); }

static SoftBody soft_body(const sb_sim *sim, int32_t body)
{
  SoftBody r = {x7(v3_zero(), q4_identity()), v3_zero(), v3_zero(), v3_zero(), 0.0f, s33(0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f)};
  if (body < 0) return r;
  const sb_model *m = sim->model;
  const float *q = sim->state.body_q + 7 * (size_t)body, *qd = sim->state.body_qd + 6 * (size_t)body;
  const float *inverse = m->body_inv_inertia + 6 * (size_t)body;
  r.pose = x7(load_v3(q), load_q4(q + 3));
  r.com = load_v3(m->body_com + 3 * (size_t)body);
  r.v = load_v3(qd);
  r.w = load_v3(qd + 3);
  r.inverse_mass = m->body_inv_mass[body];
  r.inverse_inertia = s33_rotate(q4_to_m33(r.pose.q), s33(inverse[0], inverse[1], inverse[2], inverse[3], inverse[4], inverse[5]));
  return r;
}

static void push_body(sb_sim *sim, int32_t body, V3 force, V3 torque)
{
  if (body < 0 || (sim->model->body_flags[body] & SB_BODY_STATIC)) return;
  float *f = sim->state.body_f + 6 * (size_t)body;
  f[0] += force.x, f[1] += force.y, f[2] += force.z;
  f[3] += torque.x, f[4] += torque.y, f[5] += torque.z;
}

static void apply_pin(sb_sim *sim, uint32_t e)
{
  const sb_model *m = sim->model;
  const int32_t *body = m->equality_body + 2 * (size_t)e;
  SoftBody a = soft_body(sim, body[0]), b = soft_body(sim, body[1]);
  if (!(a.inverse_mass + b.inverse_mass > 0.0f)) return; /* nothing of it moves */
  SoftPin pin = soft_pin(a, b, load_v3(m->equality_anchor_a + 3 * (size_t)e), load_v3(m->equality_anchor_b + 3 * (size_t)e), sim->dt);
  V3 turn = v3_zero();
  if (m->equality_type[e] == SB_EQUALITY_WELD) turn = soft_turn(a, b, load_q4(m->equality_relpose + 4 * (size_t)e), sim->dt);
  push_body(sim, body[0], pin.force, v3_add(v3_cross(pin.arm_a, pin.force), turn));
  push_body(sim, body[1], v3_neg(pin.force), v3_neg(v3_add(v3_cross(pin.arm_b, pin.force), turn)));
}

void sb_sim_apply_constraints(sb_sim *sim)
{
  apply_tendons(sim);
  for (uint32_t i = 0; i < sim->pin_count; i++) apply_pin(sim, sim->pins[i]);
  for (uint32_t i = 0; i < sim->gear_count; i++) apply_gear(sim, &sim->gears[i]);
}
