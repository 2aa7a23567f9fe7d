/* Finalising a built model: forward kinematics and derived arrays in binary64, one rounding, checks. C library only. */
#include "fp_env.h"
#include "model_builder_parts.h"

#include "cook_math.h"

#include <stdlib.h>
#include <string.h>

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

#define PUT(array, index, comps, values)                                                                               \
  sb_round_to((float *)sb_store_array(f->store, SB_ARRAY_##array) + (size_t)(index) * (comps), values, comps)
/* Coordinates vary in number, so they are placed by their first one. */
#define PUT_Q(first, n, values) sb_round_to((float *)sb_store_array(f->store, SB_ARRAY_joint_q) + (first), values, n)
#define SET(type, array, index, value) (((type *)sb_store_array(f->store, SB_ARRAY_##array))[index] = (value))

static sb_status take_names(finalise *f)
{
  for (int k = 0; k < SB_NAME_KINDS; k++) {
    uint32_t count = sb_model_domain_count(&f->store->view, sb_name_domain[k]);
    sb_name_table *t = &f->store->names[k];
    const sb_text_pool *from = &f->b->names[k];
    t->text = malloc((size_t)from->size + 1);
    t->offset = calloc((size_t)count + 1, sizeof *t->offset);
    if (!t->text || !t->offset)
      return sb_report(f->diag, SB_ERROR, SB_CODE_MEMORY, f->where, "no memory for the names of the model");
    if (from->size) memcpy(t->text, from->text, from->size);
    t->size = from->size;
    t->count = count;
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
static void place_body(const finalise *f, const sb_built_body *built, motion *out, double axes[6][3],
                       double anchors[6][3])
{
  const sb_build_body *body = &built->body;
  const sb_build_dof *dofs = built->dof_count ? sb_pool_at(&f->b->dofs, built->first_dof) : NULL;
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
static void move_body(const finalise *f, const sb_built_body *built, motion *out)
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
    const sb_built_body *parent = sb_pool_at(&f->b->bodies, body->parent);
    double at[3];
    cook_pose_point(p->X, parent->body.com, at);
    memcpy(out->v, p->v, sizeof out->v);
    memcpy(out->w, p->w, sizeof out->w);
    add_turn(out->v, p->w, com, at);
  }
  const sb_build_dof *dofs = built->dof_count ? sb_pool_at(&f->b->dofs, built->first_dof) : NULL;
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
  const sb_built_body *built = sb_pool_at(&f->b->bodies, (int32_t)j);
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
  for (int d = 0; d < built->dof_count; d++) {
    SET(int32_t, dof_body, built->first_dof + d, (int32_t)j);
    SET(int32_t, dof_coord, built->first_dof + d, body->joint_type == SB_JOINT_AXES ? (int32_t)*coord + d : -1);
  }
  if (body->joint_type == SB_JOINT_FREE) {
    PUT_Q(*coord, 7, q);
    *coord += 7;
  } else if (body->joint_type == SB_JOINT_BALL) {
    PUT_Q(*coord, 4, q);
    *coord += 4;
  } else {
    for (int d = 0; d < built->dof_count; d++, ++*coord)
      PUT_Q(*coord, 1, &((const sb_build_dof *)sb_pool_at(&f->b->dofs, built->first_dof + d))->q);
  }
  return SB_OK;
}

static sb_status put_dof(finalise *f, uint32_t i)
{
  const sb_build_dof *d = sb_pool_at(&f->b->dofs, (int32_t)i);
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
  const sb_built_body *built = sb_pool_at(&f->b->bodies, (int32_t)j);
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
  const sb_build_shape *s = sb_pool_at(&f->b->shapes, (int32_t)i);
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
  SET(int32_t, shape_geometry, i, s->geometry);
  return SB_OK;
}

/* Copies `n` words of entity i; geometry is rounded before it comes here. */
#define COPY(array, i, n, from) memcpy((uint32_t *)sb_store_array(f->store, SB_ARRAY_##array) + (size_t)(i) * (n), from, 4 * (n))

static void put_geometry(finalise *f)
{
  const sb_model_builder *b = f->b;
  for (uint32_t i = 0; i < b->geometries.count; i++) {
    const sb_built_geometry *g = sb_pool_at(&b->geometries, (int32_t)i);
    SET(uint32_t, geometry_type, i, g->type);
    COPY(geometry_half, i, 3, g->half);
    COPY(geometry_vertices, i, 2, g->vertices);
    COPY(geometry_faces, i, 2, g->faces);
    COPY(geometry_nodes, i, 2, g->nodes);
    COPY(geometry_grid, i, 3, g->grid);
  }
  for (uint32_t i = 0; i < b->vertices.count; i++) COPY(geometry_vertex, i, 3, sb_pool_at(&b->vertices, (int32_t)i));
  for (uint32_t i = 0; i < b->faces.count; i++) {
    const sb_built_face *face = sb_pool_at(&b->faces, (int32_t)i);
    COPY(face_normal, i, 3, face->normal);
    COPY(face_corners, i, 2, face->corners);
  }
  for (uint32_t i = 0; i < b->corners.count; i++) {
    const sb_built_corner *corner = sb_pool_at(&b->corners, (int32_t)i);
    SET(uint32_t, corner_vertex, i, corner->vertex);
    SET(int32_t, corner_neighbour, i, corner->neighbour);
  }
  for (uint32_t i = 0; i < b->nodes.count; i++) {
    const sb_built_node *node = sb_pool_at(&b->nodes, (int32_t)i);
    COPY(node_box, i, 6, node->box);
    SET(uint32_t, node_next, i, node->next);
    COPY(node_faces, i, 2, node->faces);
  }
  for (uint32_t i = 0; i < b->heights.count; i++) COPY(geometry_height, i, 1, sb_pool_at(&b->heights, (int32_t)i));
}

static void put_rest(finalise *f)
{
  for (uint32_t i = 0; i < f->b->actuators.count; i++) {
    const sb_build_actuator *a = sb_pool_at(&f->b->actuators, (int32_t)i);
    SET(uint32_t, actuator_kind, i, a->kind);
    SET(int32_t, actuator_dof, i, a->tendon < 0 ? a->dof : -1);
    SET(int32_t, actuator_tendon, i, a->tendon);
    PUT(actuator_gear, i, 1, &a->gear);
    PUT(actuator_ctrl_lower, i, 1, &a->ctrl_lower);
    PUT(actuator_ctrl_upper, i, 1, &a->ctrl_upper);
    PUT(actuator_ctrl, i, 1, &a->ctrl);
  }
  for (uint32_t i = 0; i < f->b->excludes.count; i++)
    for (int k = 0; k < 2; k++)
      SET(int32_t, exclude_body, 2 * i + (uint32_t)k,
          ((const sb_body_pair *)sb_pool_at(&f->b->excludes, (int32_t)i))->body[k]);
  for (uint32_t i = 0; i < f->b->pairs.count; i++) {
    const sb_build_pair *p = sb_pool_at(&f->b->pairs, (int32_t)i);
    for (int k = 0; k < 2; k++) SET(int32_t, pair_shape, 2 * i + (uint32_t)k, p->shape[k]);
    PUT(pair_friction, i, 3, p->friction);
    PUT(pair_restitution, i, 1, &p->restitution);
    PUT(pair_margin, i, 1, &p->margin);
    SET(uint32_t, pair_condim, i, p->condim);
  }
}

static sb_status put_equality(finalise *f, uint32_t i)
{
  const sb_build_equality *e = sb_pool_at(&f->b->equalities, (int32_t)i);
  const sb_model *m = &f->store->view;
  bool joint = e->type == SB_EQUALITY_JOINT;
  double relpose[4], zero[5] = {0.0};
  memcpy(relpose, e->relpose, sizeof relpose);
  if (e->type != SB_EQUALITY_WELD) cook_quat_identity(relpose);
  if (!cook_quat_normalize(relpose))
    return invalid(f, "equality", (int32_t)i, SB_NAME_EQUALITY, "its quaternion must not be zero and must be finite");
  SET(uint32_t, equality_type, i, e->type);
  for (uint32_t k = 0; k < 2; k++) {
    bool known = joint && e->dof[k] >= 0 && (uint32_t)e->dof[k] < m->dof_count;
    SET(int32_t, equality_body, 2 * i + k, known ? m->dof_body[e->dof[k]] : joint ? -1 : e->body[k]);
    SET(int32_t, equality_dof, 2 * i + k, joint ? e->dof[k] : -1);
  }
  PUT(equality_anchor_a, i, 3, joint ? zero : e->anchor[0]);
  PUT(equality_anchor_b, i, 3, joint ? zero : e->anchor[1]);
  PUT(equality_relpose, i, 4, relpose);
  PUT(equality_poly, i, 5, joint ? e->poly : zero);
  return SB_OK;
}

static void put_tendons(finalise *f)
{
  for (uint32_t i = 0; i < f->b->tendons.count; i++) {
    const sb_built_tendon *t = sb_pool_at(&f->b->tendons, (int32_t)i);
    SET(int32_t, tendon_first_term, i, t->first_term);
    SET(uint32_t, tendon_terms, i, (uint32_t)t->term_count);
    PUT(tendon_limit_lower, i, 1, &t->tendon.lower);
    PUT(tendon_limit_upper, i, 1, &t->tendon.upper);
    PUT(tendon_stiffness, i, 1, &t->tendon.stiffness);
    PUT(tendon_damping, i, 1, &t->tendon.damping);
    PUT(tendon_friction, i, 1, &t->tendon.friction);
    PUT(tendon_spring_lower, i, 1, &t->tendon.spring_lower);
    PUT(tendon_spring_upper, i, 1, &t->tendon.spring_upper);
  }
  for (uint32_t i = 0; i < f->b->terms.count; i++) {
    const sb_tendon_term *term = sb_pool_at(&f->b->terms, (int32_t)i);
    SET(int32_t, tendon_term_tendon, i, term->tendon);
    SET(int32_t, tendon_term_dof, i, term->dof);
    PUT(tendon_term_coef, i, 1, &term->coef);
  }
}

static sb_status put_sensor(finalise *f, uint32_t i)
{
  const sb_build_sensor *s = sb_pool_at(&f->b->sensors, (int32_t)i);
  double X[7], ref_X[7];
  memcpy(X, s->X, sizeof X);
  memcpy(ref_X, s->ref_X, sizeof ref_X);
  if (!cook_quat_normalize(X + 3) || !cook_quat_normalize(ref_X + 3))
    return invalid(f, "sensor", (int32_t)i, SB_NAME_SENSOR, "its quaternions must not be zero and must be finite");
  SET(uint32_t, sensor_type, i, s->type);
  SET(int32_t, sensor_body, i, s->body);
  SET(int32_t, sensor_ref_body, i, s->ref_body);
  SET(int32_t, sensor_dof, i, s->dof);
  SET(int32_t, sensor_tendon, i, s->tendon);
  SET(int32_t, sensor_actuator, i, s->actuator);
  PUT(sensor_X, i, 7, X);
  PUT(sensor_ref_X, i, 7, ref_X);
  PUT(sensor_cutoff, i, 1, &s->cutoff);
  return SB_OK;
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
  for (uint32_t i = 0; i < f->b->equalities.count && status == SB_OK; i++) status = put_equality(f, i);
  for (uint32_t i = 0; i < f->b->sensors.count && status == SB_OK; i++) status = put_sensor(f, i);
  if (status != SB_OK) return status;
  put_tendons(f);
  put_rest(f);
  put_geometry(f);
  sb_builder_put_deformables(f->b, f->store);
  status = sb_model_check(f->store, f->where, f->diag);
  if (status == SB_OK) sb_store_hash(f->store);
  return status;
}

sb_status sb_builder_finalise(const sb_model_builder *b, const char *where, sb_model_store **out, sb_diagnostics *diag)
{
  *out = NULL;
  if (!b || b->failed) return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, where, "no memory to build the model");
  uint32_t coords = b->dofs.count;
  for (uint32_t j = 0; j < b->bodies.count; j++) {
    uint32_t type = ((const sb_built_body *)sb_pool_at(&b->bodies, (int32_t)j))->body.joint_type;
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
  counts[SB_DOMAIN_EQUALITY] = b->equalities.count;
  counts[SB_DOMAIN_TENDON] = b->tendons.count;
  counts[SB_DOMAIN_TENDON_TERM] = b->terms.count;
  counts[SB_DOMAIN_SENSOR] = b->sensors.count;
  counts[SB_DOMAIN_GEOMETRY] = b->geometries.count;
  counts[SB_DOMAIN_GEOMETRY_VERTEX] = b->vertices.count;
  counts[SB_DOMAIN_GEOMETRY_FACE] = b->faces.count;
  counts[SB_DOMAIN_GEOMETRY_CORNER] = b->corners.count;
  counts[SB_DOMAIN_GEOMETRY_NODE] = b->nodes.count;
  counts[SB_DOMAIN_GEOMETRY_HEIGHT] = b->heights.count;
  counts[SB_DOMAIN_DEFORMABLE] = b->deformables.count;
  counts[SB_DOMAIN_PARTICLE] = b->particles.count;
  counts[SB_DOMAIN_SPRING] = b->springs.count;
  counts[SB_DOMAIN_TRI] = b->tris.count;
  counts[SB_DOMAIN_EDGE] = b->edges.count;
  counts[SB_DOMAIN_TET] = b->tets.count;
  counts[SB_DOMAIN_ATTACHMENT] = b->attachments.count;
  finalise f = {b, NULL, NULL, where, diag};
  sb_status status = sb_store_allocate(counts, &f.store, diag);
  if (status != SB_OK) return status;
  f.store->dt_numerator = b->dt_numerator;
  f.store->dt_denominator = b->dt_denominator;
  f.motions = calloc((size_t)b->bodies.count + 1, sizeof *f.motions);
  sb_fp_env saved = sb_fp_env_enter(); /* cooked bytes depend on no setting of the caller's */
  status =
      f.motions ? fill(&f, coords) : sb_report(diag, SB_ERROR, SB_CODE_MEMORY, where, "no memory to build the model");
  sb_fp_env_leave(saved);
  free(f.motions);
  if (status == SB_OK)
    *out = f.store;
  else
    sb_model_store_free(f.store);
  return status;
}
