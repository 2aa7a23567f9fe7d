/* The rules that every model keeps, checked before anyone uses it, and the values that follow from others.
 * Knows the C library only. */
#include "cook_math.h"
#include "model_store_parts.h"

#include <stdio.h>
#include <string.h>

typedef struct check {
  const sb_model_store *store;
  const sb_model *m;
  const char *where;
  sb_diagnostics *diag;
} check;

/* Reports that entity i of a kind breaks a rule. */
static sb_status bad(const check *c, const char *kind, uint32_t i, const char *rule)
{
  const char *name = "";
  if (!strcmp(kind, "body")) name = sb_model_store_name(c->store, SB_NAME_BODY, i);
  if (!strcmp(kind, "dof")) name = sb_model_store_name(c->store, SB_NAME_DOF, i);
  if (!strcmp(kind, "shape")) name = sb_model_store_name(c->store, SB_NAME_SHAPE, i);
  if (!strcmp(kind, "actuator")) name = sb_model_store_name(c->store, SB_NAME_ACTUATOR, i);
  if (!strcmp(kind, "equality")) name = sb_model_store_name(c->store, SB_NAME_EQUALITY, i);
  if (!strcmp(kind, "sensor")) name = sb_model_store_name(c->store, SB_NAME_SENSOR, i);
  if (!strcmp(kind, "deformable")) name = sb_model_store_name(c->store, SB_NAME_DEFORMABLE, i);
  if (!strcmp(kind, "tendon")) name = sb_model_store_name(c->store, SB_NAME_TENDON, i);
  if (*name) return sb_report(c->diag, SB_ERROR, SB_CODE_SCENE_INVALID, c->where, "%s '%s': %s", kind, name, rule);
  return sb_report(c->diag, SB_ERROR, SB_CODE_SCENE_INVALID, c->where, "%s %u: %s", kind, i, rule);
}

#define REQUIRE(condition, kind, i, rule)                                                                              \
  do {                                                                                                                 \
    if (!(condition)) return bad(c, kind, i, rule);                                                                    \
  } while (0)

static bool unit(const float *v, int n)
{
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += (double)v[i] * (double)v[i];
  return sum > 0.998 && sum < 1.002;
}

bool sb_derive_inverse(float mass, const float inertia[6], float *inv_mass, float inv_inertia[6])
{
  double in[6], out[6], inv = 1.0 / (double)mass;
  for (int i = 0; i < 6; i++) in[i] = (double)inertia[i];
  if (!(mass > 0.0f) || !(inv < 3.0e38) || !cook_inertia_inverse(in, out)) return false;
  for (int i = 0; i < 6; i++)
    if (!(cook_abs(out[i]) < 3.0e38)) return false;
  *inv_mass = (float)inv;
  for (int i = 0; i < 6; i++) inv_inertia[i] = (float)out[i];
  return true;
}

float sb_inverse_mass(float mass) { return (float)(1.0 / (double)mass); }

sb_weld sb_derive_weld(const sb_model *m, uint32_t b)
{
  int32_t p = m->joint_parent[b];
  bool fixed = m->joint_type[b] == SB_JOINT_FIXED;
  if (fixed && (p < 0 || (m->body_flags[p] & SB_BODY_STATIC))) return (sb_weld){SB_BODY_STATIC, -1, -1};
  if (fixed) return (sb_weld){0, m->body_weld[p], m->body_weld_parent[p]};
  return (sb_weld){0, (int32_t)b, m->joint_type[b] == SB_JOINT_FREE ? (int32_t)b : p < 0 ? -1 : m->body_weld[p]};
}

/* No NaN and no infinity anywhere; +-SB_NO_LIMIT is finite. */
static sb_status check_finite(const check *c)
{
  for (int a = 0; a < SB_ARRAY_COUNT; a++) {
    if (sb_array_table[a].element != SB_ELEMENT_FLOAT) continue;
    size_t comps = sb_array_table[a].components;
    size_t n = (size_t)sb_model_domain_count(c->m, sb_array_table[a].domain) * comps;
    const float *v = sb_model_array(c->m, a);
    for (size_t i = 0; i < n; i++)
      if (!(v[i] - v[i] == 0.0f))
        return sb_report(c->diag, SB_ERROR, SB_CODE_SCENE_INVALID, c->where,
                         "%s of element %zu is not a finite binary32 number", sb_array_table[a].name, i / comps);
  }
  return SB_OK;
}

static sb_status check_joint(const check *c, uint32_t b, uint32_t *coords, uint32_t *dofs)
{
  const sb_model *m = c->m;
  uint32_t type = m->joint_type[b], n = m->joint_dof_count[b];
  REQUIRE(m->joint_parent[b] >= -1 && m->joint_parent[b] < (int32_t)b, "body", b, "its parent must come before it");
  REQUIRE(unit(m->joint_X_p + 7 * b + 3, 4), "body", b, "the quaternion of joint_X_p must have length 1");
  REQUIRE(type <= SB_JOINT_AXES, "body", b, "unknown joint type");
  uint32_t want = type == SB_JOINT_FREE ? 6 : type == SB_JOINT_BALL ? 3 : 0;
  REQUIRE(type == SB_JOINT_AXES ? n >= 1 && n <= 6 : n == want, "body", b, "wrong number of dofs for its joint type");
  uint32_t width = type == SB_JOINT_FREE ? 7 : type == SB_JOINT_BALL ? 4 : n;
  REQUIRE(m->joint_q_start[b] == (int32_t)*coords && m->joint_qd_start[b] == (int32_t)*dofs, "body", b,
          "coordinates and dofs must follow those of the body before");
  REQUIRE(*coords + width <= m->coord_count && *dofs + n <= m->dof_count, "body", b,
          "coordinates or dofs beyond the end of the model");
  const float *q = m->joint_q + *coords;
  if (type == SB_JOINT_FREE) {
    static const float identity[7] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 1.0f};
    REQUIRE(m->joint_parent[b] == -1, "body", b, "a FREE joint's parent must be the world");
    REQUIRE(unit(q + 3, 4), "body", b, "the quaternion of its joint_q must have length 1");
    for (int i = 0; i < 7; i++) {
      REQUIRE(m->joint_X_p[7 * b + i] == identity[i], "body", b, "joint_X_p of a FREE joint must be the identity");
      REQUIRE(q[i] == m->body_q[7 * b + i], "body", b, "joint_q of a FREE joint must equal body_q");
    }
  }
  if (type == SB_JOINT_BALL) REQUIRE(unit(q, 4), "body", b, "the quaternion of its joint_q must have length 1");
  for (uint32_t d = *dofs; d < *dofs + n; d++) {
    bool angular = m->dof_kind[d] == SB_DOF_ANGULAR;
    REQUIRE(m->dof_kind[d] <= SB_DOF_ANGULAR, "dof", d, "unknown kind of dof");
    REQUIRE(type != SB_JOINT_FREE || angular == (d - *dofs >= 3), "dof", d, "a FREE joint is linear, then angular");
    REQUIRE(type != SB_JOINT_BALL || angular, "dof", d, "a BALL joint is angular");
    REQUIRE(m->dof_body[d] == (int32_t)b, "dof", d, "dof_body does not belong to its joint");
    REQUIRE(m->dof_coord[d] == (type == SB_JOINT_AXES ? (int32_t)(*coords + (d - *dofs)) : -1), "dof", d,
            "dof_coord does not belong to its joint");
    REQUIRE(type != SB_JOINT_AXES || !angular || (q[d - *dofs] >= -1.0e6f && q[d - *dofs] <= 1.0e6f), "dof", d,
            "an angle must be within 1e6 rad");
  }
  *coords += width;
  *dofs += n;
  return SB_OK;
}

static sb_status check_mass(const check *c, uint32_t b)
{
  const sb_model *m = c->m;
  float inv_mass = 0.0f, inv_inertia[6] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
  if (m->body_flags[b] & SB_BODY_STATIC) {
    REQUIRE(m->body_mass[b] == 0.0f, "body", b, "a static body must have no mass");
    for (int i = 0; i < 6; i++)
      REQUIRE(m->body_inertia[6 * b + i] == 0.0f, "body", b, "a static body must have no inertia");
    for (int i = 0; i < 6; i++) REQUIRE(m->body_qd[6 * b + i] == 0.0f, "body", b, "a static body must not move");
  } else {
    REQUIRE(m->body_mass[b] > 0.0f, "body", b, "a moving body needs a mass above 0; give it a mass or a density");
    REQUIRE(sb_derive_inverse(m->body_mass[b], m->body_inertia + 6 * b, &inv_mass, inv_inertia), "body", b,
            "a moving body needs a positive definite inertia whose inverse is a finite binary32 number");
  }
  REQUIRE(m->body_inv_mass[b] == inv_mass, "body", b, "body_inv_mass does not belong to body_mass");
  for (int i = 0; i < 6; i++)
    REQUIRE(m->body_inv_inertia[6 * b + i] == inv_inertia[i], "body", b,
            "body_inv_inertia does not belong to body_inertia");
  return SB_OK;
}

static sb_status check_bodies(const check *c)
{
  const sb_model *m = c->m;
  uint32_t coords = 0, dofs = 0;
  for (uint32_t b = 0; b < m->body_count; b++) {
    REQUIRE(m->body_world[b] == 0, "body", b, "world index out of range");
    REQUIRE(unit(m->body_q + 7 * b + 3, 4), "body", b, "the quaternion of body_q must have length 1");
    sb_status status = check_joint(c, b, &coords, &dofs);
    if (status != SB_OK) return status;
    sb_weld want = sb_derive_weld(m, b);
    REQUIRE(m->body_flags[b] == want.flags, "body", b, "body_flags do not belong to its joints");
    REQUIRE(m->body_weld[b] == want.weld && m->body_weld_parent[b] == want.weld_parent, "body", b,
            "body_weld does not belong to its joints");
    status = check_mass(c, b);
    if (status != SB_OK) return status;
  }
  if (coords != m->coord_count || dofs != m->dof_count)
    return sb_report(c->diag, SB_ERROR, SB_CODE_SCENE_INVALID, c->where,
                     "the joints have %u coordinates and %u dofs, the model has %u and %u", coords, dofs,
                     m->coord_count, m->dof_count);
  return SB_OK;
}

static sb_status check_dofs(const check *c)
{
  const sb_model *m = c->m;
  for (uint32_t d = 0; d < m->dof_count; d++) {
    REQUIRE(unit(m->joint_axis + 3 * d, 3), "dof", d, "the axis must have length 1");
    REQUIRE(m->joint_armature[d] >= 0.0f, "dof", d, "armature must not be negative");
    REQUIRE(m->joint_damping[d] >= 0.0f, "dof", d, "damping must not be negative");
    REQUIRE(m->joint_stiffness[d] >= 0.0f, "dof", d, "stiffness must not be negative");
    REQUIRE(m->joint_friction[d] >= 0.0f, "dof", d, "friction must not be negative");
    REQUIRE(m->joint_limit_lower[d] <= m->joint_limit_upper[d], "dof", d, "the lower limit is above the upper one");
    REQUIRE(m->joint_effort_limit[d] >= 0.0f, "dof", d, "the effort limit must not be negative");
    REQUIRE(m->joint_velocity_limit[d] >= 0.0f, "dof", d, "the velocity limit must not be negative");
    REQUIRE(m->joint_target_ke[d] >= 0.0f && m->joint_target_kd[d] >= 0.0f, "dof", d,
            "drive stiffness and damping must not be negative");
  }
  return SB_OK;
}

static bool known_condim(uint32_t n) { return n == 1 || n == 3 || n == 4 || n == 6; }

/* A shape and its geometry belong together; triangles and heights never move. */
static sb_status check_shape_geometry(const check *c, uint32_t s)
{
  const sb_model *m = c->m;
  int32_t g = m->shape_geometry[s], body = m->shape_body[s];
  if (m->shape_type[s] < SB_SHAPE_HULL) {
    REQUIRE(g == -1, "shape", s, "its type has no geometry");
    return SB_OK;
  }
  REQUIRE(g >= 0 && g < (int32_t)m->geometry_count && m->geometry_type[g] == m->shape_type[s], "shape", s,
          "needs a geometry of its own type");
  for (int i = 0; i < 3; i++)
    REQUIRE(m->shape_size[3 * s + i] == m->geometry_half[3 * g + i], "shape", s, "its size must be that of its geometry");
  REQUIRE(m->shape_type[s] == SB_SHAPE_HULL || body < 0 || (m->body_flags[body] & SB_BODY_STATIC), "shape", s,
          "a mesh or heightfield belongs to the world or to a body that is fixed to it; use the mesh's hull");
  return SB_OK;
}

static sb_status check_shapes(const check *c)
{
  _Static_assert(SB_SHAPE_TYPE_COUNT == 9, "say how many sizes the new shape has");
  static const int sizes[SB_SHAPE_TYPE_COUNT] = {0, 1, 2, 3, 2, 3, 3, 3, 3};
  const sb_model *m = c->m;
  for (uint32_t s = 0; s < m->shape_count; s++) {
    REQUIRE(m->shape_world[s] == 0, "shape", s, "world index out of range");
    REQUIRE(m->shape_body[s] >= -1 && m->shape_body[s] < (int32_t)m->body_count, "shape", s, "body out of range");
    REQUIRE(m->shape_type[s] < SB_SHAPE_TYPE_COUNT, "shape", s, "unknown shape type");
    REQUIRE(unit(m->shape_X + 7 * s + 3, 4), "shape", s, "the quaternion of its pose must have length 1");
    for (int i = 0; i < 3; i++)
      REQUIRE(i < sizes[m->shape_type[s]] ? m->shape_size[3 * s + i] > 0.0f : m->shape_size[3 * s + i] == 0.0f, "shape",
              s, "sizes must be above 0, and 0 where the type has none");
    for (int i = 0; i < 3; i++)
      REQUIRE(m->shape_friction[3 * s + i] >= 0.0f, "shape", s, "friction must not be negative");
    REQUIRE(m->shape_restitution[s] >= 0.0f && m->shape_restitution[s] <= 1.0f, "shape", s,
            "restitution must be from 0 to 1");
    REQUIRE(known_condim(m->shape_condim[s]), "shape", s, "condim must be 1, 3, 4 or 6");
    sb_status status = check_shape_geometry(c, s);
    if (status != SB_OK) return status;
  }
  return SB_OK;
}

static sb_status check_rest(const check *c)
{
  const sb_model *m = c->m;
  for (uint32_t a = 0; a < m->actuator_count; a++) {
    REQUIRE(m->actuator_kind[a] <= SB_ACTUATOR_VELOCITY, "actuator", a, "unknown kind of actuator");
    int32_t dof = m->actuator_dof[a], tendon = m->actuator_tendon[a];
    REQUIRE(dof >= -1 && dof < (int32_t)m->dof_count, "actuator", a, "dof out of range");
    REQUIRE(tendon >= -1 && tendon < (int32_t)m->tendon_count, "actuator", a, "tendon out of range");
    REQUIRE((dof < 0) != (tendon < 0), "actuator", a, "it must drive either a dof or a tendon");
    REQUIRE(tendon < 0 || m->actuator_kind[a] == SB_ACTUATOR_MOTOR, "actuator", a, "a tendon is driven by motors only");
    REQUIRE(m->actuator_kind[a] == SB_ACTUATOR_MOTOR || m->actuator_gear[a] != 0.0f, "actuator", a,
            "the gear of a position or velocity actuator must not be 0");
    REQUIRE(m->actuator_ctrl_lower[a] <= m->actuator_ctrl_upper[a], "actuator", a,
            "the lower end of the control range is above the upper one");
  }
  for (uint32_t e = 0; e < m->exclude_count; e++) {
    const int32_t *x = m->exclude_body + 2 * e;
    REQUIRE(x[0] >= 0 && x[0] < x[1] && x[1] < (int32_t)m->body_count, "exclude", e,
            "needs two bodies of the model, the lower index first");
  }
  for (uint32_t p = 0; p < m->pair_count; p++) {
    const int32_t *x = m->pair_shape + 2 * p;
    REQUIRE(x[0] >= 0 && x[0] < x[1] && x[1] < (int32_t)m->shape_count, "pair", p,
            "needs two shapes of the model, the lower index first");
    for (int i = 0; i < 3; i++)
      REQUIRE(m->pair_friction[3 * p + i] >= 0.0f, "pair", p, "friction must not be negative");
    REQUIRE(m->pair_restitution[p] >= 0.0f && m->pair_restitution[p] <= 1.0f, "pair", p,
            "restitution must be from 0 to 1");
    REQUIRE(known_condim(m->pair_condim[p]), "pair", p, "condim must be 1, 3, 4 or 6");
  }
  return SB_OK;
}

/* A dof with a coordinate of its own, which constraints on coordinates need. */
static bool has_coordinate(const sb_model *m, int32_t dof)
{
  return dof >= 0 && dof < (int32_t)m->dof_count && m->dof_coord[dof] >= 0;
}

static sb_status check_joint_equality(const check *c, uint32_t e)
{
  const sb_model *m = c->m;
  const int32_t *dof = m->equality_dof + 2 * e;
  REQUIRE(has_coordinate(m, dof[0]) && (dof[1] == -1 || has_coordinate(m, dof[1])), "equality", e,
          "needs a dof of a hinge or slide, and a second one or -1");
  REQUIRE(dof[0] != dof[1], "equality", e, "needs two different dofs");
  for (int k = 0; k < 2; k++)
    REQUIRE(m->equality_body[2 * e + (uint32_t)k] == (dof[k] < 0 ? -1 : m->dof_body[dof[k]]), "equality", e,
            "its bodies must be those of its dofs");
  return SB_OK;
}

static sb_status check_equalities(const check *c)
{
  const sb_model *m = c->m;
  for (uint32_t e = 0; e < m->equality_count; e++) {
    const int32_t *body = m->equality_body + 2 * e, *dof = m->equality_dof + 2 * e;
    REQUIRE(m->equality_type[e] <= SB_EQUALITY_JOINT, "equality", e, "unknown type of equality constraint");
    REQUIRE(unit(m->equality_relpose + 4 * e, 4), "equality", e, "the quaternion of relpose must have length 1");
    if (m->equality_type[e] == SB_EQUALITY_JOINT) {
      sb_status status = check_joint_equality(c, e);
      if (status != SB_OK) return status;
      continue;
    }
    REQUIRE(dof[0] == -1 && dof[1] == -1, "equality", e, "only a JOINT constraint has dofs");
    for (int k = 0; k < 2; k++)
      REQUIRE(body[k] >= -1 && body[k] < (int32_t)m->body_count, "equality", e, "body out of range");
    REQUIRE(body[0] != body[1], "equality", e, "needs two different bodies");
  }
  return SB_OK;
}

static sb_status check_tendon_terms(const check *c, uint32_t t)
{
  const sb_model *m = c->m;
  uint32_t first = (uint32_t)m->tendon_first_term[t], end = first + m->tendon_terms[t];
  for (uint32_t i = first; i < end; i++) {
    REQUIRE(m->tendon_term_tendon[i] == (int32_t)t, "tendon", t, "its terms do not name it");
    REQUIRE(has_coordinate(m, m->tendon_term_dof[i]), "tendon", t, "a term needs a dof of a hinge or slide");
    for (uint32_t k = first; k < i; k++)
      REQUIRE(m->tendon_term_dof[k] != m->tendon_term_dof[i], "tendon", t, "it has a dof twice");
  }
  return SB_OK;
}

static sb_status check_tendons(const check *c)
{
  const sb_model *m = c->m;
  uint32_t terms = 0;
  for (uint32_t t = 0; t < m->tendon_count; t++) {
    uint32_t n = m->tendon_terms[t];
    REQUIRE(m->tendon_world[t] == 0, "tendon", t, "world index out of range");
    REQUIRE(m->tendon_first_term[t] == (int32_t)terms, "tendon", t, "its terms must follow those of the tendon before");
    REQUIRE(n >= 1 && n <= m->tendon_term_count - terms, "tendon", t, "needs at least one joint, all in the model");
    REQUIRE(n <= SB_TENDON_MAX_TERMS, "tendon", t, "has more than 256 joints");
    REQUIRE(m->tendon_limit_lower[t] <= m->tendon_limit_upper[t], "tendon", t,
            "the lower limit is above the upper one");
    REQUIRE(m->tendon_spring_lower[t] <= m->tendon_spring_upper[t], "tendon", t,
            "the lower end of the spring's dead band is above the upper one");
    REQUIRE(m->tendon_stiffness[t] >= 0.0f && m->tendon_damping[t] >= 0.0f && m->tendon_friction[t] >= 0.0f, "tendon",
            t, "stiffness, damping and friction must not be negative");
    sb_status status = check_tendon_terms(c, t);
    if (status != SB_OK) return status;
    terms += n;
  }
  if (terms != m->tendon_term_count)
    return sb_report(c->diag, SB_ERROR, SB_CODE_SCENE_INVALID, c->where,
                     "the tendons have %u terms, the model has %u", terms, m->tendon_term_count);
  return SB_OK;
}

static sb_status check_sensors(const check *c)
{
  enum { OF_DOF, OF_BALL, OF_TENDON, OF_ACTUATOR, OF_FRAME, OF_RELATIVE, OF_NONE };
  static const int measured[SB_SENSOR_TYPE_COUNT] = {
#define SB_X_SENSOR(NAME, numbers, of, doc) OF_##of,
      SB_SENSORS(SB_X_SENSOR)
#undef SB_X_SENSOR
  };
  const sb_model *m = c->m;
  for (uint32_t s = 0; s < m->sensor_count; s++) {
    REQUIRE(m->sensor_world[s] == 0, "sensor", s, "world index out of range");
    REQUIRE(m->sensor_type[s] < SB_SENSOR_TYPE_COUNT, "sensor", s, "unknown type of sensor");
    int of = measured[m->sensor_type[s]];
    int32_t dof = m->sensor_dof[s], tendon = m->sensor_tendon[s], actuator = m->sensor_actuator[s];
    int32_t bodies[2] = {m->sensor_body[s], m->sensor_ref_body[s]};
    for (int k = 0; k < 2; k++)
      REQUIRE(bodies[k] >= -1 && bodies[k] < (int32_t)m->body_count, "sensor", s, "body out of range");
    REQUIRE(dof >= -1 && dof < (int32_t)m->dof_count, "sensor", s, "dof out of range");
    REQUIRE(tendon >= -1 && tendon < (int32_t)m->tendon_count, "sensor", s, "tendon out of range");
    REQUIRE(actuator >= -1 && actuator < (int32_t)m->actuator_count, "sensor", s, "actuator out of range");
    REQUIRE(of == OF_DOF ? has_coordinate(m, dof) : of == OF_BALL || dof == -1, "sensor", s,
            "needs the dof of a hinge or slide, or none, as its type says");
    REQUIRE(of != OF_BALL || (dof >= 0 && m->joint_type[m->dof_body[dof]] == SB_JOINT_BALL &&
                              m->joint_qd_start[m->dof_body[dof]] == dof),
            "sensor", s, "needs the first dof of a ball joint");
    REQUIRE((tendon >= 0) == (of == OF_TENDON), "sensor", s, "needs a tendon, or none, as its type says");
    REQUIRE((actuator >= 0) == (of == OF_ACTUATOR), "sensor", s, "needs an actuator, or none, as its type says");
    REQUIRE(of == OF_FRAME || of == OF_RELATIVE || bodies[0] == -1, "sensor", s, "its type has no frame");
    REQUIRE(of == OF_RELATIVE || bodies[1] == -1, "sensor", s, "its type has no reference frame");
    REQUIRE(unit(m->sensor_X + 7 * s + 3, 4) && unit(m->sensor_ref_X + 7 * s + 3, 4), "sensor", s,
            "the quaternions of its frames must have length 1");
    REQUIRE(m->sensor_cutoff[s] >= 0.0f, "sensor", s, "cutoff must not be negative");
  }
  return SB_OK;
}

/* A part of a domain of `count` entities. */
static bool inside(const uint32_t part[2], uint32_t count) { return part[0] <= count && part[1] <= count - part[0]; }

static sb_status check_faces(const check *c, uint32_t g)
{
  const sb_model *m = c->m;
  const uint32_t *vertices = m->geometry_vertices + 2 * g, *faces = m->geometry_faces + 2 * g;
  bool hull = m->geometry_type[g] == SB_SHAPE_HULL;
  REQUIRE(inside(vertices, m->geometry_vertex_count) && inside(faces, m->geometry_face_count), "geometry", g,
          "vertices or faces beyond the end of the model");
  REQUIRE(vertices[1] >= (hull ? 4u : 3u) && faces[1] >= (hull ? 4u : 1u), "geometry", g, "too few vertices or faces");
  REQUIRE(!hull || vertices[1] <= SB_HULL_MAX_VERTICES, "geometry", g, "a hull has at most 64 vertices");
  for (uint32_t f = faces[0]; f < faces[0] + faces[1]; f++) {
    const uint32_t *corners = m->face_corners + 2 * f;
    REQUIRE(inside(corners, m->geometry_corner_count), "geometry", g, "corners beyond the end of the model");
    REQUIRE(corners[1] >= 3 && corners[1] <= (hull ? SB_HULL_MAX_CORNERS : 3u), "geometry", g, "wrong number of corners");
    REQUIRE(unit(m->face_normal + 3 * f, 3), "geometry", g, "a face's normal must have length 1");
    for (uint32_t k = corners[0]; k < corners[0] + corners[1]; k++)
      REQUIRE(m->corner_vertex[k] < vertices[1] && m->corner_neighbour[k] >= -1 && m->corner_neighbour[k] < (int32_t)faces[1],
              "geometry", g, "a corner's vertex or neighbour is out of range");
  }
  return SB_OK;
}

static sb_status check_nodes(const check *c, uint32_t g)
{
  const sb_model *m = c->m;
  const uint32_t *nodes = m->geometry_nodes + 2 * g, *faces = m->geometry_faces + 2 * g;
  REQUIRE(inside(nodes, m->geometry_node_count) && nodes[1] >= 1, "geometry", g, "nodes beyond the end of the model");
  for (uint32_t n = 0; n < nodes[1]; n++) {
    uint32_t next = m->node_next[nodes[0] + n];
    REQUIRE(next > n && next <= nodes[1], "geometry", g, "node_next must lead onwards");
    REQUIRE(inside(m->node_faces + 2 * (nodes[0] + n), faces[1]), "geometry", g, "a node's faces are out of range");
  }
  return SB_OK;
}

static sb_status check_geometry(const check *c)
{
  const sb_model *m = c->m;
  for (uint32_t g = 0; g < m->geometry_count; g++) {
    uint32_t type = m->geometry_type[g];
    REQUIRE(type >= SB_SHAPE_HULL && type <= SB_SHAPE_HFIELD, "geometry", g, "unknown type");
    for (int i = 0; i < 3; i++) REQUIRE(m->geometry_half[3 * g + i] > 0.0f, "geometry", g, "half extents must be above 0");
    if (type == SB_SHAPE_HFIELD) {
      const uint32_t *grid = m->geometry_grid + 3 * g;
      REQUIRE(grid[1] >= 2 && grid[2] >= 2 && grid[1] <= SB_MODEL_MAX_COUNT / grid[2], "geometry", g,
              "a heightfield has at least 2 rows and 2 columns");
      const uint32_t part[2] = {grid[0], grid[1] * grid[2]};
      REQUIRE(inside(part, m->geometry_height_count), "geometry", g, "heights beyond the end of the model");
      continue;
    }
    sb_status status = check_faces(c, g);
    if (status == SB_OK && type == SB_SHAPE_MESH) status = check_nodes(c, g);
    if (status != SB_OK) return status;
  }
  return SB_OK;
}

static sb_status check_deformables(const check *c)
{
  const char *kind = "";
  uint32_t index = 0;
  const char *rule = sb_deformable_fault(c->m, &kind, &index);
  return rule ? bad(c, kind, index, rule) : SB_OK;
}

sb_status sb_model_check(const sb_model_store *store, const char *where, sb_diagnostics *diag)
{
  const check c = {store, &store->view, where, diag};
  if (store->view.world_count != 1)
    return sb_report(diag, SB_ERROR, SB_CODE_SCENE_INVALID, where, "expected a model of 1 world, found %u worlds",
                     store->view.world_count);
  if (store->dt_denominator == 0)
    return sb_report(diag, SB_ERROR, SB_CODE_SCENE_INVALID, where, "the tick length has the denominator 0");
  for (int d = 0; d < SB_DOMAIN_COUNT; d++)
    if (sb_model_domain_count(&store->view, d) > SB_MODEL_MAX_COUNT)
      return sb_report(diag, SB_ERROR, SB_CODE_SCENE_LIMIT, where,
                       "the scene has %u entities of one kind; %u is the limit", sb_model_domain_count(&store->view, d),
                       SB_MODEL_MAX_COUNT);
  sb_status (*const steps[])(const check *) = {check_finite,     check_bodies,  check_dofs, check_geometry, check_shapes,
                                               check_equalities, check_tendons, check_rest, check_sensors, check_deformables};
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    sb_status status = steps[i](&c);
    if (status != SB_OK) return status;
  }
  return SB_OK;
}
