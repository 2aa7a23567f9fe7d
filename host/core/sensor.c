/* Sensors: after the solvers of a tick, values that follow from the state before and after it. */
#include "sim_internal.h"

#include <stdlib.h>
#include <string.h>

#include "samebit/maths.h"
#include "sensor.kernel.h"

#define NUMBERS SB_SENSOR_NUMBERS

static bool needs_past(uint32_t type)
{
  return type == SB_SENSOR_FRAME_LIN_ACC || type == SB_SENSOR_FRAME_ANG_ACC || type == SB_SENSOR_ACCELEROMETER;
}

sb_status sb_sensors_create(sb_sim *sim, sb_diagnostics *diag)
{
  const sb_model *m = sim->model;
  if (m->sensor_count == 0) return SB_OK;
  char error[256];
  void *data = NULL;
  uint32_t *start = calloc((size_t)m->world_count + 1, sizeof *start);
  for (uint32_t w = 0; start && w <= m->world_count; w++) start[w] = m->sensor_count / m->world_count * w;
  sb_array_desc desc = {.struct_size = sizeof desc, .type = SB_TYPE_F32, .domain = SB_DOMAIN_CUSTOM, .components = NUMBERS,
                        .count = m->sensor_count, .lane_block = 1, .name = "sensor_data", .world_start = start};
  sb_status status = start ? sb_registry_add(&sim->registry, "sensors", &desc, &data, error, sizeof error) : SB_E_MEMORY;
  free(start);
  sim->sensor_data = data;
  bool past = false;
  for (uint32_t s = 0; s < m->sensor_count; s++) past = past || needs_past(m->sensor_type[s]);
  if (!status && past) sim->past_q = calloc((size_t)m->body_count + 1, 7 * sizeof(float));
  if (!status && past) sim->past_qd = calloc((size_t)m->body_count + 1, 6 * sizeof(float));
  if (status || (past && (!sim->past_q || !sim->past_qd)))
    return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, "sensors", "no memory for %u sensors", m->sensor_count);
  return SB_OK;
}

void sb_sensors_note_past(sb_sim *sim)
{
  if (!sim->past_q || !sim->model->body_count) return;
  memcpy(sim->past_q, sim->state.body_q, (size_t)sim->model->body_count * 7 * sizeof(float));
  memcpy(sim->past_qd, sim->state.body_qd, (size_t)sim->model->body_count * 6 * sizeof(float));
}

/* ---- joints, tendons, actuators ---- */

static float joint_q(const sb_sim *sim, int32_t dof) { return sim->state.joint_q[sim->model->dof_coord[dof]]; }

/* Distance beyond the limit that is passed (below 0), or the rate away from it. */
static float limit_value(const sb_sim *sim, int32_t dof, bool rate)
{
  float q = joint_q(sim, dof), qd = sim->state.joint_qd[dof];
  float lower = sim->model->joint_limit_lower[dof], upper = sim->model->joint_limit_upper[dof];
  if (q < lower) return rate ? qd : q - lower;
  if (q > upper) return rate ? -qd : upper - q;
  return 0.0f;
}

static void tendon_motion(const sb_sim *sim, int32_t tendon, float *q, float *qd)
{
  const sb_model *m = sim->model;
  uint32_t first = (uint32_t)m->tendon_first_term[tendon];
  *q = *qd = 0.0f;
  for (uint32_t i = first; i < first + m->tendon_terms[tendon]; i++) {
    *q += m->tendon_term_coef[i] * joint_q(sim, m->tendon_term_dof[i]);
    *qd += m->tendon_term_coef[i] * sim->state.joint_qd[m->tendon_term_dof[i]];
  }
}

static void actuator_motion(const sb_sim *sim, int32_t actuator, float *q, float *qd)
{
  const sb_model *m = sim->model;
  int32_t dof = m->actuator_dof[actuator];
  if (m->actuator_tendon[actuator] >= 0) {
    tendon_motion(sim, m->actuator_tendon[actuator], q, qd);
  } else {
    *q = m->dof_coord[dof] >= 0 ? joint_q(sim, dof) : 0.0f; /* a free or ball joint's dof has no coordinate of its own */
    *qd = sim->state.joint_qd[dof];
  }
  *q *= m->actuator_gear[actuator];
  *qd *= m->actuator_gear[actuator];
}

static float control(const sb_sim *sim, uint32_t actuator)
{
  return f_clamp(sim->state.actuator_ctrl[actuator], sim->model->actuator_ctrl_lower[actuator],
               sim->model->actuator_ctrl_upper[actuator]);
}

static float drive_force(const sb_sim *sim, int32_t dof)
{
  const sb_model *m = sim->model;
  float q = m->dof_coord[dof] >= 0 ? joint_q(sim, dof) : 0.0f;
  return m->joint_target_ke[dof] * (sim->state.joint_target_q[dof] - q) +
         m->joint_target_kd[dof] * (sim->state.joint_target_qd[dof] - sim->state.joint_qd[dof]);
}

static float actuator_force(const sb_sim *sim, uint32_t actuator)
{
  const sb_model *m = sim->model;
  if (m->actuator_kind[actuator] == SB_ACTUATOR_MOTOR) return control(sim, actuator);
  int32_t dof = m->actuator_dof[actuator];
  return f_clamp(drive_force(sim, dof), -m->joint_effort_limit[dof], m->joint_effort_limit[dof]) / m->actuator_gear[actuator];
}

/* Drive, motors on the dof and motors on tendons over it, in the order of the actuators. */
static float joint_actuator_force(const sb_sim *sim, int32_t dof, uint32_t world)
{
  const sb_model *m = sim->model;
  uint32_t each = m->actuator_count / m->world_count;
  float sum = drive_force(sim, dof);
  for (uint32_t a = each * world; a < each * (world + 1); a++) {
    if (m->actuator_kind[a] != SB_ACTUATOR_MOTOR) continue;
    int32_t tendon = m->actuator_tendon[a];
    float force = m->actuator_gear[a] * control(sim, a);
    if (tendon < 0) {
      if (m->actuator_dof[a] == dof) sum += force;
      continue;
    }
    uint32_t first = (uint32_t)m->tendon_first_term[tendon];
    for (uint32_t i = first; i < first + m->tendon_terms[tendon]; i++)
      if (m->tendon_term_dof[i] == dof) sum += m->tendon_term_coef[i] * force;
  }
  return f_clamp(sum, -m->joint_effort_limit[dof], m->joint_effort_limit[dof]);
}

/* ---- frames ---- */

static V3 load_v3(const float *p) { return v3(p[0], p[1], p[2]); }
static X7 load_x7(const float *p) { return x7(load_v3(p), q4(p[3], p[4], p[5], p[6])); }

static void store_v3(float *out, V3 v) { out[0] = v.x, out[1] = v.y, out[2] = v.z; }

/* A frame on a body (-1 the world) with the poses and velocities given. */
static SensorFrame frame_of(const sb_sim *sim, int32_t body, const float *mount, const float *q, const float *qd)
{
  SensorFrame fixed = {load_x7(mount), v3_zero(), v3_zero()};
  if (body < 0) return fixed;
  q += 7 * (size_t)body, qd += 6 * (size_t)body;
  return sensor_frame(load_x7(q), load_v3(sim->model->body_com + 3 * (size_t)body), load_v3(qd), load_v3(qd + 3), load_x7(mount));
}

static void store_axis(float *out, Q4 q, int axis)
{
  store_v3(out, q4_rotate(q, v3(axis == 0 ? 1.0f : 0.0f, axis == 1 ? 1.0f : 0.0f, axis == 2 ? 1.0f : 0.0f)));
}

static void frame_value(const sb_sim *sim, uint32_t s, uint32_t type, float *out)
{
  const sb_model *m = sim->model;
  const float *mount = m->sensor_X + 7 * (size_t)s, *ref_mount = m->sensor_ref_X + 7 * (size_t)s;
  SensorFrame now = frame_of(sim, m->sensor_body[s], mount, sim->state.body_q, sim->state.body_qd);
  SensorFrame ref = frame_of(sim, m->sensor_ref_body[s], ref_mount, sim->state.body_q, sim->state.body_qd);
  SensorFrame seen = sensor_seen_from(now, ref);
  V3 linear = v3_zero(), angular = v3_zero();
  if (needs_past(type)) {
    SensorFrame past = frame_of(sim, m->sensor_body[s], mount, sim->past_q, sim->past_qd);
    linear = sensor_acceleration(past.v, now.v, sim->dt, load_v3(m->gravity + 3 * (size_t)m->sensor_world[s]));
    angular = sensor_acceleration(past.w, now.w, sim->dt, v3_zero());
  }
  switch (type) {
  case SB_SENSOR_FRAME_POS: store_v3(out, seen.pose.p); break;
  case SB_SENSOR_FRAME_QUAT: store_v3(out, v3(seen.pose.q.x, seen.pose.q.y, seen.pose.q.z)), out[3] = seen.pose.q.w; break;
  case SB_SENSOR_FRAME_X_AXIS: store_axis(out, seen.pose.q, 0); break;
  case SB_SENSOR_FRAME_Y_AXIS: store_axis(out, seen.pose.q, 1); break;
  case SB_SENSOR_FRAME_Z_AXIS: store_axis(out, seen.pose.q, 2); break;
  case SB_SENSOR_FRAME_LIN_VEL: store_v3(out, seen.v); break;
  case SB_SENSOR_FRAME_ANG_VEL: store_v3(out, seen.w); break;
  case SB_SENSOR_FRAME_LIN_ACC: store_v3(out, linear); break;
  case SB_SENSOR_FRAME_ANG_ACC: store_v3(out, angular); break;
  case SB_SENSOR_GYRO: store_v3(out, q4_rotate_inv(now.pose.q, now.w)); break;
  case SB_SENSOR_VELOCIMETER: store_v3(out, q4_rotate_inv(now.pose.q, now.v)); break;
  default: store_v3(out, q4_rotate_inv(now.pose.q, linear)); break;
  }
}

/* ---- all ---- */

static void evaluate(const sb_sim *sim, uint32_t s, uint64_t ticks_done, float *out)
{
  const sb_model *m = sim->model;
  int32_t dof = m->sensor_dof[s];
  float q = 0.0f, qd = 0.0f;
  uint32_t type = m->sensor_type[s];
  if (m->sensor_tendon[s] >= 0) tendon_motion(sim, m->sensor_tendon[s], &q, &qd);
  if (m->sensor_actuator[s] >= 0) actuator_motion(sim, m->sensor_actuator[s], &q, &qd);
  switch (type) {
  case SB_SENSOR_JOINT_POS: out[0] = joint_q(sim, dof); break;
  case SB_SENSOR_JOINT_VEL: out[0] = sim->state.joint_qd[dof]; break;
  case SB_SENSOR_JOINT_LIMIT_POS: out[0] = limit_value(sim, dof, false); break;
  case SB_SENSOR_JOINT_LIMIT_VEL: out[0] = limit_value(sim, dof, true); break;
  case SB_SENSOR_JOINT_ACTUATOR_FORCE: out[0] = joint_actuator_force(sim, dof, (uint32_t)m->sensor_world[s]); break;
  case SB_SENSOR_BALL_QUAT:
    memcpy(out, sim->state.joint_q + m->joint_q_start[m->dof_body[dof]], 4 * sizeof *out);
    break;
  case SB_SENSOR_BALL_ANG_VEL: memcpy(out, sim->state.joint_qd + dof, 3 * sizeof *out); break;
  case SB_SENSOR_TENDON_POS:
  case SB_SENSOR_ACTUATOR_POS: out[0] = q; break;
  case SB_SENSOR_TENDON_VEL:
  case SB_SENSOR_ACTUATOR_VEL: out[0] = qd; break;
  case SB_SENSOR_ACTUATOR_FORCE: out[0] = actuator_force(sim, (uint32_t)m->sensor_actuator[s]); break;
  case SB_SENSOR_CLOCK: out[0] = (float)(ticks_done * sim->dt_numerator) / (float)sim->dt_denominator; break;
  default: frame_value(sim, s, type, out); break;
  }
}

static bool has_cutoff(uint32_t type)
{
  return type != SB_SENSOR_BALL_QUAT && !(type >= SB_SENSOR_FRAME_QUAT && type <= SB_SENSOR_FRAME_Z_AXIS);
}

void sb_sensors_evaluate(sb_sim *sim, uint64_t ticks_done)
{
  const sb_model *m = sim->model;
  for (uint32_t s = 0; s < m->sensor_count; s++) {
    float *out = sim->sensor_data + (size_t)NUMBERS * s, cutoff = m->sensor_cutoff[s];
    evaluate(sim, s, ticks_done, out);
    for (int i = 0; i < NUMBERS && cutoff > 0.0f && has_cutoff(m->sensor_type[s]); i++) out[i] = f_clamp(out[i], -cutoff, cutoff);
  }
}
