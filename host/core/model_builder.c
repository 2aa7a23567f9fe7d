/* Building a model of one world in binary64, and the derived arrays. Knows the C library only. */
#include "model_builder.h"

#include "cook_math.h"
#include "model_store_parts.h"

#include <stdlib.h>
#include <string.h>

/* A growing array of one kind of entity. */
typedef struct pool {
  void *items;
  size_t size; /* of an item */
  uint32_t count;
  uint32_t capacity;
} pool;

typedef struct text_pool {
  char *text;
  uint32_t size;
  uint32_t capacity;
} text_pool;

typedef struct built_body {
  sb_build_body body;
  int32_t first_dof;
  int32_t dof_count;
} built_body;

typedef struct body_pair {
  int32_t body[2];
} body_pair;

struct sb_model_builder {
  pool bodies, dofs, shapes, actuators, excludes, pairs;
  text_pool names[SB_NAME_KINDS];
  double gravity[3];
  uint32_t dt_numerator, dt_denominator;
  bool failed;
};

sb_build_body sb_build_body_default(void)
{
  sb_build_body b = {0};
  b.parent = -1;
  cook_pose_identity(b.joint_X_p);
  cook_pose_identity(b.q);
  return b;
}

sb_build_dof sb_build_dof_default(void)
{
  sb_build_dof d = {0};
  d.kind = SB_DOF_ANGULAR;
  d.axis[2] = 1.0;
  d.lower = -(double)SB_NO_LIMIT;
  d.upper = d.effort_limit = d.velocity_limit = (double)SB_NO_LIMIT;
  return d;
}

sb_build_shape sb_build_shape_default(void)
{
  sb_build_shape s = {0};
  s.type = SB_SHAPE_SPHERE;
  s.body = -1;
  cook_pose_identity(s.X);
  s.friction[0] = 1.0, s.friction[1] = 0.005, s.friction[2] = 0.0001;
  s.contype = s.conaffinity = 1;
  s.condim = 3;
  return s;
}

sb_build_actuator sb_build_actuator_default(void)
{
  sb_build_actuator a = {0};
  a.gear = 1.0;
  a.ctrl_lower = -(double)SB_NO_LIMIT;
  a.ctrl_upper = (double)SB_NO_LIMIT;
  return a;
}

sb_build_pair sb_build_pair_default(void)
{
  sb_build_pair p = {0};
  p.friction[0] = 1.0, p.friction[1] = 0.005, p.friction[2] = 0.0001;
  p.condim = 3;
  return p;
}

sb_model_builder *sb_builder_create(void)
{
  sb_model_builder *b = calloc(1, sizeof *b);
  if (!b) return NULL;
  b->bodies.size = sizeof(built_body);
  b->dofs.size = sizeof(sb_build_dof);
  b->shapes.size = sizeof(sb_build_shape);
  b->actuators.size = sizeof(sb_build_actuator);
  b->excludes.size = sizeof(body_pair);
  b->pairs.size = sizeof(sb_build_pair);
  b->gravity[2] = -9.81;
  b->dt_denominator = 1;
  return b;
}

void sb_builder_free(sb_model_builder *b)
{
  if (!b) return;
  pool *const pools[] = {&b->bodies, &b->dofs, &b->shapes, &b->actuators, &b->excludes, &b->pairs};
  for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) free(pools[i]->items);
  for (int k = 0; k < SB_NAME_KINDS; k++) free(b->names[k].text);
  free(b);
}

void sb_builder_set_gravity(sb_model_builder *b, const double gravity[3])
{
  if (b) memcpy(b->gravity, gravity, sizeof b->gravity);
}

void sb_builder_set_dt(sb_model_builder *b, uint32_t numerator, uint32_t denominator)
{
  if (!b) return;
  b->dt_numerator = numerator;
  b->dt_denominator = denominator;
}

/* Appends an item; the index, or -1 and the failed mark. */
static int32_t pool_add(sb_model_builder *b, pool *p, const void *item)
{
  if (p->count == p->capacity) {
    uint32_t capacity = p->capacity ? p->capacity * 2 : 64;
    void *items = capacity > SB_MODEL_MAX_COUNT * 2u ? NULL : realloc(p->items, capacity * p->size);
    if (!items) {
      b->failed = true;
      return -1;
    }
    p->items = items;
    p->capacity = capacity;
  }
  memcpy((char *)p->items + p->count * p->size, item, p->size);
  return (int32_t)p->count++;
}

static void *pool_at(const pool *p, int32_t index)
{
  return index >= 0 && (uint32_t)index < p->count ? (char *)p->items + (size_t)index * p->size : NULL;
}

static void add_name(sb_model_builder *b, sb_name_kind kind, const char *name, const char *suffix)
{
  text_pool *t = &b->names[kind];
  if (!name) name = suffix = "";
  size_t n = strlen(name), s = strlen(suffix), need = t->size + n + s + 1;
  if (need > t->capacity) {
    size_t capacity = need * 2 + 256;
    char *text = capacity > UINT32_MAX / 2 ? NULL : realloc(t->text, capacity);
    if (!text) {
      b->failed = true;
      return;
    }
    t->text = text;
    t->capacity = (uint32_t)capacity;
  }
  memcpy(t->text + t->size, name, n);
  memcpy(t->text + t->size + n, suffix, s + 1);
  t->size = (uint32_t)need;
}

/* The dofs that FREE and BALL joints bring along: linear x y z where there are six, then angular x y z. */
static void add_implied_dofs(sb_model_builder *b, const sb_build_body *body, const char *name)
{
  static const char *const suffix[6] = {".vx", ".vy", ".vz", ".wx", ".wy", ".wz"};
  int first = body->joint_type == SB_JOINT_FREE ? 0 : 3;
  for (int i = first; i < 6; i++) {
    sb_build_dof d = sb_build_dof_default();
    d.kind = i < 3 ? SB_DOF_LINEAR : SB_DOF_ANGULAR;
    d.axis[2] = 0.0;
    d.axis[i % 3] = 1.0;
    if (first == 3) memcpy(d.anchor, body->anchor, sizeof d.anchor);
    d.qd = body->qd[i - first];
    pool_add(b, &b->dofs, &d);
    add_name(b, SB_NAME_DOF, name, suffix[i]);
  }
}

int32_t sb_builder_add_body(sb_model_builder *b, const sb_build_body *body, const char *name)
{
  if (!b) return -1;
  built_body built = {*body, (int32_t)b->dofs.count, 0};
  if (body->joint_type == SB_JOINT_FREE) built.dof_count = 6;
  if (body->joint_type == SB_JOINT_BALL) built.dof_count = 3;
  int32_t index = pool_add(b, &b->bodies, &built);
  if (index < 0) return -1;
  add_name(b, SB_NAME_BODY, name, "");
  if (built.dof_count) add_implied_dofs(b, body, body->joint_name ? body->joint_name : name);
  return b->failed ? -1 : index;
}

int32_t sb_builder_add_dof(sb_model_builder *b, const sb_build_dof *dof, const char *name)
{
  if (!b) return -1;
  int32_t index = pool_add(b, &b->dofs, dof);
  if (index < 0) return -1;
  add_name(b, SB_NAME_DOF, name, "");
  built_body *last = pool_at(&b->bodies, (int32_t)b->bodies.count - 1);
  if (last) last->dof_count++;
  return b->failed ? -1 : index;
}

int32_t sb_builder_add_shape(sb_model_builder *b, const sb_build_shape *shape, const char *name)
{
  if (!b) return -1;
  int32_t index = pool_add(b, &b->shapes, shape);
  if (index >= 0) add_name(b, SB_NAME_SHAPE, name, "");
  return b->failed ? -1 : index;
}

int32_t sb_builder_add_actuator(sb_model_builder *b, const sb_build_actuator *actuator, const char *name)
{
  if (!b) return -1;
  int32_t index = pool_add(b, &b->actuators, actuator);
  if (index >= 0) add_name(b, SB_NAME_ACTUATOR, name, "");
  return b->failed ? -1 : index;
}

void sb_builder_add_exclude(sb_model_builder *b, int32_t body_a, int32_t body_b)
{
  const body_pair p = {{body_a < body_b ? body_a : body_b, body_a < body_b ? body_b : body_a}};
  if (b) pool_add(b, &b->excludes, &p);
}

void sb_builder_add_pair(sb_model_builder *b, const sb_build_pair *pair)
{
  if (!b) return;
  sb_build_pair p = *pair;
  if (p.shape[0] > p.shape[1]) p.shape[0] = pair->shape[1], p.shape[1] = pair->shape[0];
  pool_add(b, &b->pairs, &p);
}

sb_build_body *sb_builder_body(sb_model_builder *b, int32_t index)
{
  built_body *built = b ? pool_at(&b->bodies, index) : NULL;
  return built ? &built->body : NULL;
}

sb_build_dof *sb_builder_dof(sb_model_builder *b, int32_t index) { return b ? pool_at(&b->dofs, index) : NULL; }
sb_build_shape *sb_builder_shape(sb_model_builder *b, int32_t index) { return b ? pool_at(&b->shapes, index) : NULL; }
sb_build_actuator *sb_builder_actuator(sb_model_builder *b, int32_t index)
{
  return b ? pool_at(&b->actuators, index) : NULL;
}
int32_t sb_builder_body_count(const sb_model_builder *b) { return b ? (int32_t)b->bodies.count : 0; }
int32_t sb_builder_dof_count(const sb_model_builder *b) { return b ? (int32_t)b->dofs.count : 0; }
int32_t sb_builder_shape_count(const sb_model_builder *b) { return b ? (int32_t)b->shapes.count : 0; }
int32_t sb_builder_actuator_count(const sb_model_builder *b) { return b ? (int32_t)b->actuators.count : 0; }

void sb_builder_body_dofs(const sb_model_builder *b, int32_t body, int32_t *first, int32_t *count)
{
  const built_body *built = b ? pool_at(&b->bodies, body) : NULL;
  *first = built ? built->first_dof : 0;
  *count = built ? built->dof_count : 0;
}

/* Finalising ------------------------------------------------------------------------------------------------------- */

typedef struct motion {
  double X[7]; /* pose of the body frame */
  double v[3]; /* velocity of the centre of mass */
  double w[3];
} motion;

typedef struct finalise {
  const sb_model_builder *b;
  sb_model_store *store;
  motion *motions; /* of each body */
  const char *where;
  sb_diagnostics *diag;
} finalise;

static sb_status invalid(const finalise *f, const char *kind, int32_t index, sb_name_kind names, const char *rule)
{
  const char *name = sb_model_store_name(f->store, names, (uint32_t)index);
  if (*name) return sb_report(f->diag, SB_ERROR, SB_CODE_SCENE_INVALID, f->where, "%s '%s': %s", kind, name, rule);
  return sb_report(f->diag, SB_ERROR, SB_CODE_SCENE_INVALID, f->where, "%s %d: %s", kind, (int)index, rule);
}

/* The single rounding of cooking. -0 becomes +0, so that no sign of a zero depends on how a sum was formed. */
static void round_to(float *out, const double *in, int n)
{
  for (int i = 0; i < n; i++) out[i] = in[i] == 0.0 ? 0.0f : (float)in[i];
}

#define PUT(array, index, comps, values)                                                                               \
  round_to((float *)sb_store_array(f->store, SB_ARRAY_##array) + (size_t)(index) * (comps), values, comps)
/* Coordinates vary in number, so they are placed by their first one. */
#define PUT_Q(first, n, values) round_to((float *)sb_store_array(f->store, SB_ARRAY_joint_q) + (first), values, n)
#define SET(type, array, index, value) (((type *)sb_store_array(f->store, SB_ARRAY_##array))[index] = (value))

static sb_status take_names(finalise *f)
{
  const uint32_t counts[SB_NAME_KINDS] = {f->b->bodies.count, f->b->dofs.count, f->b->shapes.count,
                                          f->b->actuators.count};
  for (int k = 0; k < SB_NAME_KINDS; k++) {
    sb_name_table *t = &f->store->names[k];
    const text_pool *from = &f->b->names[k];
    t->text = malloc((size_t)from->size + 1);
    t->offset = calloc((size_t)counts[k] + 1, sizeof *t->offset);
    if (!t->text || !t->offset)
      return sb_report(f->diag, SB_ERROR, SB_CODE_MEMORY, f->where, "no memory for the names of the model");
    if (from->size) memcpy(t->text, from->text, from->size);
    t->size = from->size;
    t->count = counts[k];
    if (!sb_name_table_index(t))
      return sb_report(f->diag, SB_ERROR, SB_CODE_SCENE_INVALID, f->where,
                       "a name holds a control character; use printable names");
  }
  return SB_OK;
}

/* X = X * translate(anchor) * rotate(q) * translate(-anchor) */
static void turn_about(double X[7], const double anchor[3], const double q[4])
{
  double step[7], turned[3];
  cook_quat_rotate(q, anchor, turned);
  for (int i = 0; i < 3; i++) step[i] = anchor[i] - turned[i];
  memcpy(step + 3, q, 4 * sizeof *q);
  cook_pose_mul(X, step, X);
}

/* Adds the velocity that turning with w about the point `at` gives to frame point x. */
static void add_turn(double v[3], const double w[3], const double x[3], const double at[3])
{
  double arm[3], c[3];
  for (int i = 0; i < 3; i++) arm[i] = x[i] - at[i];
  cook_cross(w, arm, c);
  for (int i = 0; i < 3; i++) v[i] += c[i];
}

/* Pose of a body's frame after its joint, and the world axes and anchors of its dofs. */
static void place_body(const finalise *f, const built_body *built, motion *out, double axes[6][3], double anchors[6][3])
{
  const sb_build_body *body = &built->body;
  const sb_build_dof *dofs = built->dof_count ? pool_at(&f->b->dofs, built->first_dof) : NULL;
  if (body->joint_type == SB_JOINT_FREE) {
    memcpy(out->X, body->q, sizeof out->X);
    return;
  }
  double X_p[7];
  memcpy(X_p, body->joint_X_p, sizeof X_p);
  cook_quat_normalize(X_p + 3);
  if (body->parent >= 0)
    cook_pose_mul(f->motions[body->parent].X, X_p, out->X);
  else
    memcpy(out->X, X_p, sizeof X_p);
  if (body->joint_type == SB_JOINT_BALL) {
    double q[4];
    memcpy(q, body->q, sizeof q);
    cook_quat_normalize(q);
    cook_pose_point(out->X, body->anchor, anchors[0]);
    turn_about(out->X, body->anchor, q);
    for (int d = 0; d < 3; d++) {
      memcpy(anchors[d], anchors[0], sizeof anchors[0]);
      cook_quat_rotate(out->X + 3, dofs[d].axis, axes[d]);
    }
    return;
  }
  for (int d = 0; d < built->dof_count && d < 6; d++) {
    double axis[3] = {0.0, 0.0, 0.0}, step[7], moved = dofs[d].q - dofs[d].ref;
    cook_normalize(dofs[d].axis, axis);
    cook_quat_rotate(out->X + 3, axis, axes[d]);
    cook_pose_point(out->X, dofs[d].anchor, anchors[d]);
    if (dofs[d].kind == SB_DOF_ANGULAR) {
      cook_quat_axis_angle(axis, moved, step + 3);
      turn_about(out->X, dofs[d].anchor, step + 3);
    } else {
      cook_pose_identity(step);
      for (int i = 0; i < 3; i++) step[i] = axis[i] * moved;
      cook_pose_mul(out->X, step, out->X);
    }
  }
}

/* Forward kinematics of position and velocity for one body. */
static void move_body(const finalise *f, const built_body *built, motion *out)
{
  const sb_build_body *body = &built->body;
  double axes[6][3] = {{0}}, anchors[6][3] = {{0}}, com[3];
  place_body(f, built, out, axes, anchors);
  cook_quat_normalize(out->X + 3);
  cook_pose_point(out->X, body->com, com);
  if (body->joint_type == SB_JOINT_FREE) {
    memcpy(out->v, body->qd, sizeof out->v);
    memcpy(out->w, body->qd + 3, sizeof out->w);
    return;
  }
  if (body->parent >= 0) {
    const motion *p = &f->motions[body->parent];
    const built_body *parent = pool_at(&f->b->bodies, body->parent);
    double at[3];
    cook_pose_point(p->X, parent->body.com, at);
    memcpy(out->v, p->v, sizeof out->v);
    memcpy(out->w, p->w, sizeof out->w);
    add_turn(out->v, p->w, com, at);
  }
  const sb_build_dof *dofs = built->dof_count ? pool_at(&f->b->dofs, built->first_dof) : NULL;
  for (int d = 0; d < built->dof_count && d < 6; d++) {
    double rate[3];
    for (int i = 0; i < 3; i++) rate[i] = axes[d][i] * dofs[d].qd;
    if (dofs[d].kind == SB_DOF_LINEAR) {
      for (int i = 0; i < 3; i++) out->v[i] += rate[i];
    } else {
      add_turn(out->v, rate, com, anchors[d]);
      for (int i = 0; i < 3; i++) out->w[i] += rate[i];
    }
  }
}

/* Joint, dofs and coordinates of body j; what would make later steps read out of range is refused here. */
static sb_status put_joint(finalise *f, uint32_t j, uint32_t *coord)
{
  const built_body *built = pool_at(&f->b->bodies, (int32_t)j);
  const sb_build_body *body = &built->body;
  if (body->joint_type > SB_JOINT_AXES) return invalid(f, "body", (int32_t)j, SB_NAME_BODY, "unknown joint type");
  if (body->parent < -1 || body->parent >= (int32_t)j)
    return invalid(f, "body", (int32_t)j, SB_NAME_BODY, "its parent must be added before it");
  if (body->joint_type == SB_JOINT_AXES ? built->dof_count < 1 || built->dof_count > 6
                                        : built->dof_count != (body->joint_type == SB_JOINT_FREE   ? 6
                                                               : body->joint_type == SB_JOINT_BALL ? 3
                                                                                                   : 0))
    return invalid(f, "body", (int32_t)j, SB_NAME_BODY, "an AXES joint has 1 to 6 dofs, other joints get no more dofs");
  double X_p[7], q[7], n_q[4];
  memcpy(X_p, body->joint_X_p, sizeof X_p);
  memcpy(q, body->q, sizeof q);
  if (!cook_quat_normalize(X_p + 3))
    return invalid(f, "body", (int32_t)j, SB_NAME_BODY, "its quaternion must not be zero and must be finite");
  if (body->joint_type == SB_JOINT_FREE) {
    cook_pose_identity(X_p);
    memcpy(n_q, q + 3, sizeof n_q);
    if (!cook_quat_normalize(n_q))
      return invalid(f, "body", (int32_t)j, SB_NAME_BODY, "its quaternion must not be zero and must be finite");
    memcpy(q + 3, n_q, sizeof n_q);
  }
  if (body->joint_type == SB_JOINT_BALL && !cook_quat_normalize(q))
    return invalid(f, "body", (int32_t)j, SB_NAME_BODY, "its joint quaternion must not be zero and must be finite");
  SET(uint32_t, joint_type, j, body->joint_type);
  SET(int32_t, joint_parent, j, body->joint_type == SB_JOINT_FREE ? -1 : body->parent);
  PUT(joint_X_p, j, 7, X_p);
  SET(int32_t, joint_q_start, j, (int32_t)*coord);
  SET(int32_t, joint_qd_start, j, built->first_dof);
  SET(uint32_t, joint_dof_count, j, (uint32_t)built->dof_count);
  if (body->joint_type == SB_JOINT_FREE) {
    PUT_Q(*coord, 7, q);
    *coord += 7;
  } else if (body->joint_type == SB_JOINT_BALL) {
    PUT_Q(*coord, 4, q);
    *coord += 4;
  } else {
    for (int d = 0; d < built->dof_count; d++, ++*coord)
      PUT_Q(*coord, 1, &((const sb_build_dof *)pool_at(&f->b->dofs, built->first_dof + d))->q);
  }
  return SB_OK;
}

static sb_status put_dof(finalise *f, uint32_t i)
{
  const sb_build_dof *d = pool_at(&f->b->dofs, (int32_t)i);
  double axis[3];
  if (!cook_normalize(d->axis, axis))
    return invalid(f, "dof", (int32_t)i, SB_NAME_DOF, "its axis must not be zero and must be finite");
  SET(uint32_t, dof_kind, i, d->kind);
  PUT(joint_axis, i, 3, axis);
  PUT(joint_anchor, i, 3, d->anchor);
  PUT(joint_qd, i, 1, &d->qd);
  PUT(joint_ref, i, 1, &d->ref);
  PUT(joint_armature, i, 1, &d->armature);
  PUT(joint_damping, i, 1, &d->damping);
  PUT(joint_stiffness, i, 1, &d->stiffness);
  PUT(joint_spring_ref, i, 1, &d->spring_ref);
  PUT(joint_friction, i, 1, &d->friction);
  PUT(joint_limit_lower, i, 1, &d->lower);
  PUT(joint_limit_upper, i, 1, &d->upper);
  PUT(joint_effort_limit, i, 1, &d->effort_limit);
  PUT(joint_velocity_limit, i, 1, &d->velocity_limit);
  PUT(joint_target_ke, i, 1, &d->target_ke);
  PUT(joint_target_kd, i, 1, &d->target_kd);
  PUT(joint_target_q, i, 1, &d->target_q);
  PUT(joint_target_qd, i, 1, &d->target_qd);
  return SB_OK;
}

static sb_status put_body(finalise *f, uint32_t j)
{
  const built_body *built = pool_at(&f->b->bodies, (int32_t)j);
  const sb_model *m = &f->store->view;
  motion *now = &f->motions[j];
  move_body(f, built, now);
  double velocity[6] = {now->v[0], now->v[1], now->v[2], now->w[0], now->w[1], now->w[2]};
  PUT(body_q, j, 7, now->X);
  if (built->body.joint_type == SB_JOINT_FREE) PUT_Q(m->joint_q_start[j], 7, now->X);
  PUT(body_qd, j, 6, velocity);
  PUT(body_com, j, 3, built->body.com);
  sb_weld weld = sb_derive_weld(m, j);
  SET(uint32_t, body_flags, j, weld.flags);
  SET(int32_t, body_weld, j, weld.weld);
  SET(int32_t, body_weld_parent, j, weld.weld_parent);
  if (weld.flags & SB_BODY_STATIC) return SB_OK;
  PUT(body_mass, j, 1, &built->body.mass);
  PUT(body_inertia, j, 6, built->body.inertia);
  float *inv_mass = (float *)sb_store_array(f->store, SB_ARRAY_body_inv_mass) + j;
  float *inv_inertia = (float *)sb_store_array(f->store, SB_ARRAY_body_inv_inertia) + 6 * (size_t)j;
  if (!(m->body_mass[j] > 0.0f))
    return invalid(f, "body", (int32_t)j, SB_NAME_BODY,
                   "a moving body needs a mass above 0; give it a mass, or a geometry with density");
  if (!sb_derive_inverse(m->body_mass[j], m->body_inertia + 6 * (size_t)j, inv_mass, inv_inertia))
    return invalid(f, "body", (int32_t)j, SB_NAME_BODY,
                   "a moving body needs a positive definite inertia whose inverse is a finite binary32 number");
  return SB_OK;
}

static sb_status put_shape(finalise *f, uint32_t i)
{
  const sb_build_shape *s = pool_at(&f->b->shapes, (int32_t)i);
  double X[7];
  memcpy(X, s->X, sizeof X);
  if (!cook_quat_normalize(X + 3))
    return invalid(f, "shape", (int32_t)i, SB_NAME_SHAPE, "its quaternion must not be zero and must be finite");
  SET(uint32_t, shape_type, i, s->type);
  SET(int32_t, shape_body, i, s->body);
  PUT(shape_X, i, 7, X);
  PUT(shape_size, i, 3, s->size);
  PUT(shape_friction, i, 3, s->friction);
  PUT(shape_restitution, i, 1, &s->restitution);
  PUT(shape_margin, i, 1, &s->margin);
  SET(uint32_t, shape_contype, i, s->contype);
  SET(uint32_t, shape_conaffinity, i, s->conaffinity);
  SET(uint32_t, shape_condim, i, s->condim);
  return SB_OK;
}

static void put_rest(finalise *f)
{
  for (uint32_t i = 0; i < f->b->actuators.count; i++) {
    const sb_build_actuator *a = pool_at(&f->b->actuators, (int32_t)i);
    SET(uint32_t, actuator_kind, i, a->kind);
    SET(int32_t, actuator_dof, i, a->dof);
    PUT(actuator_gear, i, 1, &a->gear);
    PUT(actuator_ctrl_lower, i, 1, &a->ctrl_lower);
    PUT(actuator_ctrl_upper, i, 1, &a->ctrl_upper);
    PUT(actuator_ctrl, i, 1, &a->ctrl);
  }
  for (uint32_t i = 0; i < f->b->excludes.count; i++)
    for (int k = 0; k < 2; k++)
      SET(int32_t, exclude_body, 2 * i + (uint32_t)k, ((const body_pair *)pool_at(&f->b->excludes, (int32_t)i))->body[k]);
  for (uint32_t i = 0; i < f->b->pairs.count; i++) {
    const sb_build_pair *p = pool_at(&f->b->pairs, (int32_t)i);
    for (int k = 0; k < 2; k++) SET(int32_t, pair_shape, 2 * i + (uint32_t)k, p->shape[k]);
    PUT(pair_friction, i, 3, p->friction);
    PUT(pair_restitution, i, 1, &p->restitution);
    PUT(pair_margin, i, 1, &p->margin);
    SET(uint32_t, pair_condim, i, p->condim);
  }
}

static sb_status fill(finalise *f, uint32_t coords)
{
  sb_status status = take_names(f);
  uint32_t coord = 0;
  PUT(gravity, 0, 3, f->b->gravity);
  for (uint32_t j = 0; j < f->b->bodies.count && status == SB_OK; j++) status = put_joint(f, j, &coord);
  if (status == SB_OK && coord != coords)
    return sb_report(f->diag, SB_ERROR, SB_CODE_SCENE_INVALID, f->where, "dofs belong to no body");
  for (uint32_t i = 0; i < f->b->dofs.count && status == SB_OK; i++) status = put_dof(f, i);
  for (uint32_t j = 0; j < f->b->bodies.count && status == SB_OK; j++) status = put_body(f, j);
  for (uint32_t i = 0; i < f->b->shapes.count && status == SB_OK; i++) status = put_shape(f, i);
  if (status != SB_OK) return status;
  put_rest(f);
  status = sb_model_check(f->store, f->where, f->diag);
  return status == SB_OK ? sb_store_hash(f->store, f->diag) : status;
}

sb_status sb_builder_finalise(const sb_model_builder *b, const char *where, sb_model_store **out, sb_diagnostics *diag)
{
  *out = NULL;
  if (!b || b->failed) return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, where, "no memory to build the model");
  uint32_t coords = b->dofs.count;
  for (uint32_t j = 0; j < b->bodies.count; j++) {
    uint32_t type = ((const built_body *)pool_at(&b->bodies, (int32_t)j))->body.joint_type;
    if (type == SB_JOINT_FREE || type == SB_JOINT_BALL) coords++;
  }
  uint32_t counts[SB_DOMAIN_COUNT] = {0};
  counts[SB_DOMAIN_WORLD] = 1;
  counts[SB_DOMAIN_BODY] = b->bodies.count;
  counts[SB_DOMAIN_COORD] = coords;
  counts[SB_DOMAIN_DOF] = b->dofs.count;
  counts[SB_DOMAIN_SHAPE] = b->shapes.count;
  counts[SB_DOMAIN_ACTUATOR] = b->actuators.count;
  counts[SB_DOMAIN_EXCLUDE] = b->excludes.count;
  counts[SB_DOMAIN_PAIR] = b->pairs.count;
  finalise f = {b, NULL, NULL, where, diag};
  sb_status status = sb_store_allocate(counts, &f.store, diag);
  if (status != SB_OK) return status;
  f.store->dt_numerator = b->dt_numerator;
  f.store->dt_denominator = b->dt_denominator;
  f.motions = calloc((size_t)b->bodies.count + 1, sizeof *f.motions);
  status = f.motions ? fill(&f, coords) : sb_report(diag, SB_ERROR, SB_CODE_MEMORY, where, "no memory to build the model");
  free(f.motions);
  if (status == SB_OK)
    *out = f.store;
  else
    sb_model_store_free(f.store);
  return status;
}
