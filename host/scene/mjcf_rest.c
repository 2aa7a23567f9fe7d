/* Contact rules, actuators and keyframes of MJCF; they refer to bodies, joints and geometry that are in the builder. */
#include "cook_math.h"
#include "mjcf.h"
#include "scene_number.h"

#include <stdlib.h>
#include <string.h>

void mjcf_each_in(mjcf *m, const char *section, void (*read)(mjcf *, const xmlNode *))
{
  for (xmlNode *s = xml_input_element(m->root->children); s; s = xml_input_element(s->next)) {
    if (!xml_is(s, section) || !mjcf_check(m, s)) continue;
    for (xmlNode *c = xml_input_element(s->children); c; c = xml_input_element(c->next)) read(m, c);
  }
}

int32_t mjcf_refer(mjcf *m, const xmlNode *node, const char *attribute, const name_map *map, const char *kind)
{
  const char *name = xml_input_attribute(node, attribute);
  if (!name) {
    xml_input_error(m->in, node, SB_CODE_SCENE_ATTRIBUTE, "<%.40s> needs the attribute %s", (const char *)node->name,
                    attribute);
    return -1;
  }
  int32_t index = name_map_find(map, name);
  if (index >= 0 || m->in->errors >= XML_INPUT_MAX_ERRORS) return index;
  const char *near = name_map_nearest(map, name);
  xml_input_error(m->in, node, SB_CODE_SCENE_REFERENCE, "%s: there is no %s '%.80s'%s%.80s%s", attribute, kind, name,
                  near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  return -1;
}

/* Contact ---------------------------------------------------------------------------------------------------------- */

static void read_exclude(mjcf *m, const xmlNode *node)
{
  int32_t body[2];
  static const char *const names[2] = {"body1", "body2"};
  for (int i = 0; i < 2; i++) {
    const char *name = xml_input_attribute(node, names[i]);
    if (name && !strcmp(name, "world")) {
      xml_input_unsupported(m->in, node, "<exclude> with the world", "use contype and conaffinity");
      return;
    }
    body[i] = mjcf_refer(m, node, names[i], &m->tree.link_names, "body");
    if (body[i] < 0) return;
    body[i] = m->tree.links[body[i]].body;
  }
  if (body[0] != body[1]) sb_builder_add_exclude(m->builder, body[0], body[1]);
}

static void read_pair(mjcf *m, const xmlNode *node)
{
  const mjcf_source s = mjcf_source_of(m, node, MJCF_PAIR, 0);
  static const char *const names[2] = {"geom1", "geom2"};
  sb_build_pair pair = sb_build_pair_default();
  const sb_build_shape *shape[2];
  for (int i = 0; i < 2; i++) {
    const char *name = xml_input_attribute(node, names[i]);
    int32_t geom = name_map_find(&m->tree.geom_names, name ? name : "");
    if (geom < 0) {
      mjcf_refer(m, node, names[i], &m->tree.geom_names, "supported geom");
      return;
    }
    pair.shape[i] = m->tree.geoms[geom].index;
    shape[i] = sb_builder_shape(m->builder, pair.shape[i]);
    if (!shape[i]) return;
  }
  if (pair.shape[0] == pair.shape[1]) {
    xml_input_error(m->in, node, SB_CODE_SCENE_VALUE, "a pair needs two different geoms");
    return;
  }
  /* Without values of its own a pair takes the larger of its geoms'. */
  double friction[5] = {0}, gap = 0.0;
  for (int i = 0; i < 3; i++)
    pair.friction[i] = shape[0]->friction[i] > shape[1]->friction[i] ? shape[0]->friction[i] : shape[1]->friction[i];
  pair.condim = shape[0]->condim > shape[1]->condim ? shape[0]->condim : shape[1]->condim;
  pair.margin = shape[0]->margin + shape[1]->margin;
  size_t found;
  if (mjcf_some_numbers(&s, "friction", friction, 1, 5, &found)) {
    pair.friction[0] = friction[0];
    if (found >= 3) pair.friction[1] = friction[2];
    if (found >= 4) pair.friction[2] = friction[3];
    if ((found >= 2 && friction[1] != friction[0]) || (found >= 5 && friction[4] != friction[3]))
      xml_input_unsupported(m->in, node, "friction that differs between the two directions of a pair",
                            "the first one is used");
    for (int i = 0; i < 3; i++)
      if (pair.friction[i] < 0.0)
        xml_input_error(m->in, node, SB_CODE_SCENE_VALUE, "friction: expected at least 0, found %g", pair.friction[i]);
  }
  mjcf_mask(&s, "condim", &pair.condim);
  if (pair.condim != 1 && pair.condim != 3 && pair.condim != 4 && pair.condim != 6)
    xml_input_error(m->in, node, SB_CODE_SCENE_VALUE, "condim: expected 1, 3, 4 or 6, found %u", pair.condim);
  if (mjcf_numbers(&s, "margin", &pair.margin, 1) && mjcf_numbers(&s, "gap", &gap, 1)) pair.margin -= gap;
  sb_builder_add_pair(m->builder, &pair);
}

static void read_contact_element(mjcf *m, const xmlNode *node)
{
  if (!mjcf_check(m, node)) return;
  if (xml_is(node, "exclude"))
    read_exclude(m, node);
  else if (xml_is(node, "pair"))
    read_pair(m, node);
}

void mjcf_read_contact(mjcf *m) { mjcf_each_in(m, "contact", read_contact_element); }

/* Actuators -------------------------------------------------------------------------------------------------------- */

static void remember_actuator(mjcf *m, const xmlNode *node, int32_t index)
{
  if (m->actuator_count == m->actuator_capacity) {
    uint32_t capacity = m->actuator_capacity ? m->actuator_capacity * 2 : 64;
    int32_t *grown = capacity > (1u << 24) ? NULL : realloc(m->actuators, capacity * sizeof *grown);
    if (!grown) {
      xml_input_error(m->in, node, SB_CODE_MEMORY, "no memory for the scene");
      return;
    }
    m->actuators = grown;
    m->actuator_capacity = capacity;
  }
  m->actuators[m->actuator_count++] = index;
}

/* What an actuator does: a motor's force is gain * ctrl, a servo's kp (ctrl - length) - kv velocity, both before the gear. */
typedef struct servo {
  uint32_t kind; /* SB_ACTUATOR_* */
  double gain, kp, kv;
} servo;

/* What a general actuator of gain g and bias b0 + b1 length + b2 velocity is, all before the gear. Others are reported. */
static bool read_general(const mjcf_source *s, servo *v)
{
  static const char *const dynamics[] = {"none", "integrator", "filter", "filterexact", "muscle", "user", NULL};
  static const char *const gains[] = {"fixed", "affine", "muscle", "user", NULL};
  static const char *const biases[] = {"none", "affine", "muscle", "user", NULL};
  double gain[10] = {1.0}, bias[10] = {0.0};
  size_t found;
  mjcf_some_numbers(s, "gainprm", gain, 1, 10, &found);
  mjcf_some_numbers(s, "biasprm", bias, 1, 10, &found);
  int kind = mjcf_word(s, "biastype", biases, 0);
  bool plain = mjcf_word(s, "dyntype", dynamics, 0) == 0 && mjcf_word(s, "gaintype", gains, 0) == 0;
  v->gain = gain[0];
  if (plain && kind == 0) {
    v->kind = SB_ACTUATOR_MOTOR;
    return true;
  }
  bool servo_like = plain && kind == 1 && bias[0] == 0.0 && gain[0] > 0.0 && bias[2] <= 0.0;
  v->kp = gain[0];
  v->kv = 0.0 - bias[2];
  v->kind = bias[1] == 0.0 ? SB_ACTUATOR_VELOCITY : SB_ACTUATOR_POSITION;
  if (servo_like && (bias[1] == 0.0 ? bias[2] == -gain[0] : bias[1] == -gain[0])) return true;
  xml_input_unsupported(s->m->in, s->node, "a general actuator that is no motor, position or velocity servo", "it is left out");
  return false;
}

static bool read_servo(const mjcf_source *s, servo *v)
{
  *v = (servo){.kind = SB_ACTUATOR_MOTOR, .gain = 1.0};
  if (xml_is(s->node, "general")) return read_general(s, v);
  if (xml_is(s->node, "position")) {
    *v = (servo){.kind = SB_ACTUATOR_POSITION, .gain = 1.0, .kp = 1.0};
    mjcf_number_from(s, "kp", 0.0, &v->kp);
  }
  if (xml_is(s->node, "velocity")) *v = (servo){.kind = SB_ACTUATOR_VELOCITY, .gain = 1.0, .kv = 1.0};
  if (v->kind != SB_ACTUATOR_MOTOR) mjcf_number_from(s, "kv", 0.0, &v->kv);
  return true;
}

/* Drive of the dof: torque = gear (kp (ctrl - gear q) - kv gear qd). */
static void set_drive(const mjcf_source *s, const sb_build_actuator *a, const servo *v, sb_build_dof *dof)
{
  double square = a->gear * a->gear;
  if (dof->target_ke != 0.0 || dof->target_kd != 0.0)
    xml_input_unsupported(s->m->in, s->node, "more than one position or velocity actuator on a joint",
                          "the last one counts");
  if (a->kind == SB_ACTUATOR_POSITION) dof->target_ke = v->kp * square;
  dof->target_kd = v->kv * square;
}

/* A force of the motor beyond the range is cut off, which for a motor is the same as cutting off its control. */
static void read_motor_range(const mjcf_source *s, double gain, sb_build_actuator *a)
{
  double range[2];
  if (gain == 0.0 || !mjcf_limited(s, "forcelimited", "forcerange") || !mjcf_range(s, "forcerange", range)) return;
  double ends[2] = {range[0] / gain, range[1] / gain};
  range[0] = gain > 0.0 ? ends[0] : ends[1];
  range[1] = gain > 0.0 ? ends[1] : ends[0];
  a->ctrl_lower = a->ctrl_lower < range[0] ? range[0] : a->ctrl_lower > range[1] ? range[1] : a->ctrl_lower;
  a->ctrl_upper = a->ctrl_upper < range[0] ? range[0] : a->ctrl_upper > range[1] ? range[1] : a->ctrl_upper;
}

static void read_control(const mjcf_source *s, sb_build_actuator *a)
{
  double gear[6] = {1.0}, range[2];
  size_t found;
  if (mjcf_some_numbers(s, "gear", gear, 1, 6, &found)) a->gear = gear[0];
  if (mjcf_limited(s, "ctrllimited", "ctrlrange") && mjcf_range(s, "ctrlrange", range))
    a->ctrl_lower = range[0], a->ctrl_upper = range[1];
}

static int32_t add_tendon_motor(const mjcf_source *s, const servo *v)
{
  mjcf *m = s->m;
  const xmlNode *node = s->node;
  sb_build_actuator a = sb_build_actuator_default();
  a.kind = v->kind;
  a.tendon = mjcf_refer(m, node, "tendon", &m->tendon_names, "tendon");
  if (a.tendon < 0) return -1;
  if (v->kind != SB_ACTUATOR_MOTOR || a.tendon == MJCF_LEFT_OUT) {
    xml_input_unsupported(m->in, node,
                          a.tendon == MJCF_LEFT_OUT ? "an actuator on a tendon that is not supported"
                                                    : "a position or velocity actuator on a tendon",
                          "it is left out");
    return -1;
  }
  read_control(s, &a);
  read_motor_range(s, v->gain, &a);
  a.gear *= v->gain;
  return sb_builder_add_actuator(m->builder, &a, xml_input_attribute(node, "name"));
}

static int32_t add_actuator(mjcf *m, const xmlNode *node)
{
  const mjcf_source s = mjcf_source_of(m, node, MJCF_ACTUATOR, 0);
  static const char *const missing[] = {"site", "body", "slidersite", "jointinparent", NULL};
  for (int i = 0; missing[i]; i++)
    if (xml_input_attribute(node, missing[i])) return -1; /* reported by the schema */
  servo v;
  if (!read_servo(&s, &v)) return -1;
  if (xml_input_attribute(node, "tendon")) return add_tendon_motor(&s, &v);
  int32_t j = mjcf_refer(m, node, "joint", &m->tree.joint_names, "joint");
  if (j < 0) return -1;
  const scene_joint *joint = &m->tree.joints[j];
  if (joint->kind != SCENE_JOINT_AXIS) {
    xml_input_unsupported(m->in, node, "an actuator on a ball or free joint", "it is left out");
    return -1;
  }
  sb_build_actuator a = sb_build_actuator_default();
  sb_build_dof *dof = sb_builder_dof(m->builder, joint->first_dof);
  double range[2];
  a.kind = v.kind;
  a.dof = joint->first_dof;
  read_control(&s, &a);
  if (mjcf_limited(&s, "forcelimited", "forcerange") && mjcf_range(&s, "forcerange", range)) {
    double lower = cook_abs(range[0]), upper = cook_abs(range[1]);
    if (lower != upper) xml_input_unsupported(m->in, node, "a force range that is not symmetric about 0", "forcerange");
    double effort = (lower > upper ? lower : upper) * cook_abs(a.gear);
    if (dof && effort < dof->effort_limit) dof->effort_limit = effort;
  }
  if (v.kind == SB_ACTUATOR_MOTOR) a.gear *= v.gain;
  if (v.kind != SB_ACTUATOR_MOTOR && a.gear == 0.0) {
    xml_input_error(m->in, node, SB_CODE_SCENE_VALUE, "gear: expected a number other than 0");
    return -1;
  }
  if (dof && v.kind != SB_ACTUATOR_MOTOR) set_drive(&s, &a, &v, dof);
  return sb_builder_add_actuator(m->builder, &a, xml_input_attribute(node, "name"));
}

static void read_actuator(mjcf *m, const xmlNode *node)
{
  int32_t index = mjcf_check(m, node) ? add_actuator(m, node) : -1;
  const char *name = xml_input_attribute(node, "name");
  if (name && *name && name_map_add(&m->actuator_names, name, (int32_t)m->actuator_count) == NAME_MAP_TWICE)
    xml_input_error(m->in, node, SB_CODE_SCENE_DUPLICATE, "the actuator name '%.80s' is used twice", name);
  remember_actuator(m, node, index);
}

void mjcf_read_actuators(mjcf *m) { mjcf_each_in(m, "actuator", read_actuator); }

/* Keyframes -------------------------------------------------------------------------------------------------------- */

/* The numbers of a key's attribute; NULL when it is absent or (with an error) of another length. free() it. */
static double *key_numbers(mjcf *m, const xmlNode *node, const char *name, size_t count)
{
  const char *text = xml_input_attribute(node, name);
  if (!text) return NULL;
  double *values = calloc(count + 1, sizeof *values);
  if (!values) {
    xml_input_error(m->in, node, SB_CODE_MEMORY, "no memory for the scene");
    return NULL;
  }
  long found = scene_parse_numbers(text, values, count);
  if (found == (long)count) return values;
  free(values);
  if (found < 0)
    xml_input_error(m->in, node, SB_CODE_SCENE_NUMBER, "%s: expected finite decimal numbers", name);
  else
    xml_input_error(m->in, node, SB_CODE_SCENE_NUMBER, "%s: expected %zu numbers, found %ld", name, count, found);
  return NULL;
}

/* w x y z to x y z w; false (with an error) when it has no length. */
static bool key_quat(mjcf *m, const xmlNode *node, const double *in, double out[4])
{
  for (int i = 0; i < 4; i++) out[i] = in[(i + 1) & 3];
  if (cook_quat_normalize(out)) return true;
  xml_input_error(m->in, node, SB_CODE_SCENE_VALUE, "qpos: a quaternion must not be zero");
  return false;
}

static void set_positions(mjcf *m, const xmlNode *node, const double *q)
{
  for (uint32_t j = 0; j < m->tree.joint_count; j++) {
    const scene_joint *joint = &m->tree.joints[j];
    sb_build_body *body = sb_builder_body(m->builder, joint->body);
    sb_build_dof *dof = sb_builder_dof(m->builder, joint->first_dof);
    if (!body || !dof) return;
    if (joint->kind == SCENE_JOINT_AXIS) {
      dof->q = *q++;
      continue;
    }
    double *quat = body->q;
    if (joint->kind == SCENE_JOINT_FREE) {
      memcpy(body->q, q, 3 * sizeof *q);
      quat += 3;
      q += 3;
    }
    if (!key_quat(m, node, q, quat)) return;
    q += 4;
  }
}

/* A free joint's qvel is the velocity of the body frame's origin in the world and the angular velocity in the body. */
static void set_free_velocity(mjcf *m, const scene_joint *joint, const double *v)
{
  sb_build_body *body = sb_builder_body(m->builder, joint->body);
  double w[3], arm[3], add[3];
  if (!body) return;
  cook_quat_rotate(body->q + 3, v + 3, w);
  cook_quat_rotate(body->q + 3, body->com, arm);
  cook_cross(w, arm, add);
  for (int i = 0; i < 3; i++) {
    body->qd[i] = v[i] + add[i];
    body->qd[i + 3] = w[i];
  }
  for (int i = 0; i < 6; i++) {
    sb_build_dof *dof = sb_builder_dof(m->builder, joint->first_dof + i);
    if (dof) dof->qd = body->qd[i];
  }
}

static void set_velocities(mjcf *m, const double *v)
{
  for (uint32_t j = 0; j < m->tree.joint_count; j++) {
    const scene_joint *joint = &m->tree.joints[j];
    int n = joint->kind == SCENE_JOINT_FREE ? 6 : joint->kind == SCENE_JOINT_BALL ? 3 : 1;
    if (n == 6) set_free_velocity(m, joint, v);
    for (int i = 0; i < n && n != 6; i++) {
      sb_build_dof *dof = sb_builder_dof(m->builder, joint->first_dof + i);
      if (dof) dof->qd = v[i];
    }
    v += n;
  }
}

static void set_controls(mjcf *m, const double *ctrl)
{
  for (uint32_t i = 0; i < m->actuator_count; i++) {
    sb_build_actuator *a = sb_builder_actuator(m->builder, m->actuators[i]);
    if (!a) continue;
    a->ctrl = ctrl[i];
    sb_build_dof *dof = sb_builder_dof(m->builder, a->dof);
    if (dof && a->kind == SB_ACTUATOR_POSITION) dof->target_q = ctrl[i] / a->gear;
    if (dof && a->kind == SB_ACTUATOR_VELOCITY) dof->target_qd = ctrl[i] / a->gear;
  }
}

static void apply_key(mjcf *m, const xmlNode *node)
{
  size_t coords = 0, dofs = 0;
  for (uint32_t j = 0; j < m->tree.joint_count; j++) {
    scene_joint_kind kind = m->tree.joints[j].kind;
    coords += kind == SCENE_JOINT_FREE ? 7 : kind == SCENE_JOINT_BALL ? 4 : 1;
    dofs += kind == SCENE_JOINT_FREE ? 6 : kind == SCENE_JOINT_BALL ? 3 : 1;
  }
  double *q = key_numbers(m, node, "qpos", coords);
  double *v = key_numbers(m, node, "qvel", dofs);
  double *ctrl = key_numbers(m, node, "ctrl", m->actuator_count);
  if (q && m->in->status == SB_OK) set_positions(m, node, q);
  if (v && m->in->status == SB_OK) set_velocities(m, v);
  if (ctrl && m->in->status == SB_OK) set_controls(m, ctrl);
  free(q);
  free(v);
  free(ctrl);
}

void mjcf_read_keyframe(mjcf *m)
{
  name_map names = {0};
  const char *wanted = m->request->key;
  const xmlNode *found = NULL;
  for (xmlNode *s = xml_input_element(m->root->children); s; s = xml_input_element(s->next)) {
    if (!xml_is(s, "keyframe") || !mjcf_check(m, s)) continue;
    for (xmlNode *c = xml_input_element(s->children); c; c = xml_input_element(c->next)) {
      const char *name = mjcf_check(m, c) ? xml_input_attribute(c, "name") : NULL;
      if (name && name_map_add(&names, name, 0) == NAME_MAP_TWICE)
        xml_input_error(m->in, c, SB_CODE_SCENE_DUPLICATE, "the keyframe name '%.80s' is used twice", name);
      if (name && wanted && !strcmp(name, wanted)) found = c;
    }
  }
  if (found) {
    apply_key(m, found);
  } else if (wanted) {
    const char *near = name_map_nearest(&names, wanted);
    xml_input_error(m->in, m->root, SB_CODE_SCENE_REFERENCE, "there is no keyframe '%.80s'%s%.80s%s", wanted,
                    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  }
  name_map_clear(&names);
}
