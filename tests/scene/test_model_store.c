/* The model store: building, derived values, cooked bytes, hostile bytes, replication. */
#include "content_hash.h"
#include "cook_math.h"
#include "model_builder.h"
#include "model_layout.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* A weld to the world, a connect, a gearing of the two hinges, and a tendon over both with a motor. */
static void add_constraints(sb_model_builder *b, int32_t base, int32_t tool)
{
  sb_build_equality e = sb_build_equality_default();
  e.type = SB_EQUALITY_WELD;
  e.body[0] = base;
  e.anchor[0][2] = 0.5, e.anchor[1][0] = 1.0;
  e.relpose[3] = 2.0;
  sb_builder_add_equality(b, &e, "hook");
  e.type = SB_EQUALITY_CONNECT;
  e.body[1] = tool;
  sb_builder_add_equality(b, &e, NULL);
  e = sb_build_equality_default();
  e.type = SB_EQUALITY_JOINT;
  e.dof[0] = 7, e.dof[1] = 6;
  e.poly[0] = 0.125, e.poly[4] = 3.0;
  sb_builder_add_equality(b, &e, "gearing");
  sb_build_tendon t = sb_build_tendon_default();
  t.upper = 1.5, t.stiffness = 20.0, t.damping = 2.0, t.friction = 0.5, t.spring_lower = -0.25, t.spring_upper = 0.25;
  sb_builder_add_tendon(b, &t, "cord");
  sb_builder_add_tendon_term(b, 7, 0.5);
  sb_builder_add_tendon_term(b, 6, -2.0);
  sb_build_actuator winch = sb_build_actuator_default();
  winch.tendon = 0;
  sb_builder_add_actuator(b, &winch, "winch");
  sb_build_sensor sensor = sb_build_sensor_default();
  sensor.type = SB_SENSOR_FRAME_POS;
  sensor.body = tool, sensor.ref_body = base;
  sb_builder_add_sensor(b, &sensor, "seen");
  sensor = sb_build_sensor_default();
  sensor.type = SB_SENSOR_ACTUATOR_FORCE;
  sensor.actuator = 1;
  sb_builder_add_sensor(b, &sensor, NULL);
}

/* A moving base with a two-hinge arm, a ball, a bolted body and a fixed child; shapes, actuators, exclude, pair and
 * constraints. */
static sb_model_builder *sample(void)
{
  sb_model_builder *b = sb_builder_create();
  sb_build_body body = sb_build_body_default();
  body.mass = 2.0;
  for (int i = 0; i < 3; i++) body.inertia[i] = 0.1 + 0.05 * i;
  body.joint_type = SB_JOINT_FREE;
  body.q[0] = 1.0, body.q[2] = 2.0;
  body.qd[1] = 0.5, body.qd[5] = 1.0;
  int32_t base = sb_builder_add_body(b, &body, "base");
  body.joint_type = SB_JOINT_AXES;
  body.parent = base;
  body.joint_X_p[0] = 1.0;
  body.com[0] = 0.5;
  body.inertia[3] = 0.01;
  int32_t arm = sb_builder_add_body(b, &body, "arm");
  sb_build_dof dof = sb_build_dof_default();
  dof.q = 0.25, dof.qd = 2.0, dof.damping = 0.1, dof.lower = -1.0, dof.upper = 1.0;
  int32_t d0 = sb_builder_add_dof(b, &dof, "shoulder");
  dof.axis[2] = 0.0, dof.axis[1] = 3.0, dof.anchor[0] = 0.25, dof.ref = 0.5;
  sb_builder_add_dof(b, &dof, "elbow");
  body.joint_type = SB_JOINT_BALL;
  body.parent = arm;
  body.q[0] = 0.6, body.q[1] = 0.0, body.q[2] = 0.0, body.q[3] = 0.8;
  body.anchor[0] = 0.1;
  sb_builder_add_body(b, &body, "wrist");
  body.joint_type = SB_JOINT_FIXED;
  body.parent = -1;
  int32_t post = sb_builder_add_body(b, &body, "post");
  body.parent = arm;
  int32_t tool = sb_builder_add_body(b, &body, NULL);
  sb_build_shape shape = sb_build_shape_default();
  shape.type = SB_SHAPE_BOX;
  for (int i = 0; i < 3; i++) shape.size[i] = 0.1 * (i + 1);
  shape.body = arm;
  sb_builder_add_shape(b, &shape, "arm box");
  shape.type = SB_SHAPE_PLANE;
  memset(shape.size, 0, sizeof shape.size);
  shape.body = -1;
  sb_builder_add_shape(b, &shape, "floor");
  sb_build_actuator actuator = sb_build_actuator_default();
  actuator.dof = d0;
  sb_builder_add_actuator(b, &actuator, "motor");
  sb_builder_add_exclude(b, tool, post);
  sb_build_pair pair = sb_build_pair_default();
  pair.shape[0] = 1;
  sb_builder_add_pair(b, &pair);
  add_constraints(b, base, tool);
  sb_builder_set_dt(b, 1, 240);
  return b;
}

static sb_model_store *finalise(sb_model_builder *b)
{
  sb_diagnostics diag = {0};
  sb_model_store *store = NULL;
  sb_status status = sb_builder_finalise(b, "sample", &store, &diag);
  for (size_t i = 0; i < diag.count; i++) print_message("%s\n", diag.items[i].message);
  assert_int_equal(status, SB_OK);
  assert_int_equal(diag.count, 0);
  sb_builder_free(b);
  return store;
}

static void test_derived(void **state)
{
  (void)state;
  sb_model_store *store = finalise(sample());
  const sb_model *m = sb_model_store_view(store);
  assert_int_equal(m->body_count, 5);
  assert_int_equal(m->coord_count, 7 + 2 + 4);
  assert_int_equal(m->dof_count, 6 + 2 + 3);
  static const int32_t weld[5] = {0, 1, 2, -1, 1}, above[5] = {0, 0, 1, -1, 0};
  assert_memory_equal(m->body_weld, weld, sizeof weld);
  assert_memory_equal(m->body_weld_parent, above, sizeof above);
  assert_int_equal(m->body_flags[3], SB_BODY_STATIC);
  assert_true(m->body_mass[3] == 0.0f);
  assert_true(m->body_inv_mass[1] == 0.5f);
  /* The arm: base at (1, 0, 2); frame at (2, 0, 2); turned 0.25 about z, then -0.25 about y through x = 0.25. */
  double cz = cos(0.25), sz = sin(0.25), cy = cos(-0.25), sy = sin(-0.25);
  double local[3] = {0.25 - 0.25 * cy, 0.0, 0.25 * sy};
  double expect[3] = {2.0 + cz * local[0], sz * local[0], 2.0 + local[2]};
  for (int i = 0; i < 3; i++) assert_float_equal(m->body_q[7 + i], expect[i], 1e-6);
  assert_string_equal(sb_model_store_name(store, SB_NAME_BODY, 1), "arm");
  assert_string_equal(sb_model_store_name(store, SB_NAME_BODY, 4), "");
  assert_string_equal(sb_model_store_name(store, SB_NAME_DOF, 0), "base.vx");
  assert_string_equal(sb_model_store_name(store, SB_NAME_DOF, 6), "shoulder");
  assert_string_equal(sb_model_store_name(store, SB_NAME_SHAPE, 1), "floor");
  assert_string_equal(sb_model_store_name(store, SB_NAME_ACTUATOR, 9), "");
  /* inverse times inertia is the identity */
  const float *s = m->body_inertia + 6, *v = m->body_inv_inertia + 6;
  assert_float_equal((double)s[0] * v[0] + (double)s[3] * v[3] + (double)s[4] * v[4], 1.0, 1e-6);
  assert_float_equal((double)s[0] * v[3] + (double)s[3] * v[1] + (double)s[4] * v[5], 0.0, 1e-6);
  uint32_t numerator, denominator;
  sb_model_store_dt(store, &numerator, &denominator);
  assert_int_equal(numerator, 1);
  assert_int_equal(denominator, 240);
  sb_model_store_free(store);
}

/* body_qd agrees with the difference quotient of body_q when joint_q moves along joint_qd. */
static void test_velocities(void **state)
{
  (void)state;
  const double h = 1e-3;
  sb_model_store *now = finalise(sample());
  const sb_model *m = sb_model_store_view(now);
  double com[2][3];
  for (int side = 0; side < 2; side++) {
    sb_model_builder *b = sample();
    double t = side ? h : -h;
    sb_build_body *base = sb_builder_body(b, 0);
    base->q[1] += 0.5 * t;
    const double z[3] = {0.0, 0.0, 1.0};
    cook_quat_axis_angle(z, t, base->q + 3);
    const double y[3] = {0.0, 1.0, 0.0};
    double turn[4];
    cook_quat_axis_angle(y, 0.5 * t, turn);
    cook_quat_mul(sb_builder_body(b, 2)->q, turn, sb_builder_body(b, 2)->q);
    sb_builder_dof(b, 6)->q += 2.0 * t;
    sb_builder_dof(b, 7)->q += 2.0 * t;
    sb_model_store *moved = finalise(b);
    double X[7];
    for (int i = 0; i < 7; i++) X[i] = sb_model_store_view(moved)->body_q[14 + i];
    const double point[3] = {0.5, 0.0, 0.0};
    cook_pose_point(X, point, com[side]);
    sb_model_store_free(moved);
  }
  for (int i = 0; i < 3; i++) assert_float_equal((com[1][i] - com[0][i]) / (2.0 * h), m->body_qd[12 + i], 2e-3);
  sb_model_store_free(now);
}

static void test_round_trip(void **state)
{
  (void)state;
  sb_model_store *store = finalise(sample()), *again = NULL;
  void *bytes, *more;
  size_t size, more_size;
  assert_int_equal(sb_model_store_to_bytes(store, &bytes, &size, NULL), SB_OK);
  assert_int_equal(sb_model_store_from_bytes(bytes, size, "bytes", &again, NULL), SB_OK);
  assert_int_equal(sb_model_store_to_bytes(again, &more, &more_size, NULL), SB_OK);
  assert_int_equal(size, more_size);
  assert_memory_equal(bytes, more, size);
  assert_true(sb_model_store_hash(store) == sb_model_store_hash(again));
  assert_string_equal(sb_model_store_name(again, SB_NAME_DOF, 7), "elbow");
  free(bytes);
  free(more);
  sb_model_store_free(store);
  sb_model_store_free(again);
}

static void test_replicate(void **state)
{
  (void)state;
  sb_model_store *one = finalise(sample()), *many = NULL;
  assert_int_equal(sb_model_store_replicate(one, 3, 10, &many, NULL), SB_OK);
  const sb_model *a = sb_model_store_view(one), *m = sb_model_store_view(many);
  assert_int_equal(m->world_count, 3);
  assert_int_equal(m->body_count, 15);
  assert_int_equal(m->world_key[2], 12);
  assert_int_equal(m->world_body_start[3], 15);
  assert_int_equal(m->world_dof_start[1], a->dof_count);
  for (uint32_t b = 0; b < m->body_count; b++) {
    uint32_t w = b / 5, k = b % 5;
    assert_int_equal(m->body_world[b], w);
    assert_int_equal(m->joint_parent[b], a->joint_parent[k] < 0 ? -1 : a->joint_parent[k] + 5 * (int32_t)w);
    assert_int_equal(m->joint_q_start[b], a->joint_q_start[k] + (int32_t)(a->coord_count * w));
  }
  assert_int_equal(m->shape_body[3], -1);
  assert_int_equal(m->shape_body[2], 6);
  assert_int_equal(m->shape_world[5], 2);
  assert_int_equal(m->pair_shape[3], 3);
  assert_int_equal(m->exclude_body[4], 13);
  static const int32_t dofs[4] = {6, -1, 17, -1}, tendons[4] = {-1, 0, -1, 1};
  assert_memory_equal(m->actuator_dof, dofs, sizeof dofs);
  assert_memory_equal(m->actuator_tendon, tendons, sizeof tendons);
  static const int32_t held[12] = {0, -1, 0, 4, 1, 1, 5, -1, 5, 9, 6, 6}, geared[4] = {-1, -1, 7 + 11, 6 + 11};
  assert_memory_equal(m->equality_body, held, sizeof held);
  assert_memory_equal(m->equality_dof + 8, geared, sizeof geared);
  assert_int_equal(m->tendon_world[2], 2);
  assert_int_equal(m->sensor_body[2], 4 + 5);
  assert_int_equal(m->sensor_ref_body[4], 10);
  assert_int_equal(m->sensor_actuator[5], 5);
  assert_int_equal(m->sensor_actuator[4], -1);
  assert_string_equal(sb_model_store_name(many, SB_NAME_SENSOR, 4), "seen");
  assert_int_equal(m->tendon_first_term[2], 4);
  assert_int_equal(m->tendon_term_tendon[5], 2);
  assert_int_equal(m->tendon_term_dof[5], 6 + 22);
  assert_int_equal(m->dof_body[11 + 10], 7);
  assert_int_equal(m->dof_coord[11 + 7], 13 + 8);
  assert_int_equal(m->dof_coord[11], -1);
  assert_string_equal(sb_model_store_name(many, SB_NAME_EQUALITY, 5), "gearing");
  assert_string_equal(sb_model_store_name(many, SB_NAME_TENDON, 1), "cord");
  assert_true(sb_model_store_hash(one) == sb_model_store_hash(many));
  assert_string_equal(sb_model_store_name(many, SB_NAME_BODY, 11), "arm");
  assert_string_equal(sb_model_store_name(many, SB_NAME_BODY, 15), "");
  sb_diagnostics diag = {0};
  sb_model_store *none = NULL;
  assert_int_not_equal(sb_model_store_replicate(one, 0x40000000u, 0, &none, &diag), SB_OK);
  assert_int_equal(diag.count, 1);
  sb_diagnostics_clear(&diag);
  sb_model_store_free(many);
  sb_model_store_free(one);
}

static void test_constraints(void **state)
{
  (void)state;
  sb_model_store *store = finalise(sample());
  const sb_model *m = sb_model_store_view(store);
  assert_int_equal(m->equality_count, 3);
  static const float poly[15] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.125f, 1, 0, 0, 3}, anchor[3] = {1, 0, 0};
  assert_memory_equal(m->equality_poly, poly, sizeof poly);
  assert_memory_equal(m->equality_anchor_b, anchor, sizeof anchor);
  assert_true(m->equality_relpose[3] == 1.0f);
  assert_int_equal(m->tendon_terms[0], 2);
  assert_true(m->tendon_limit_lower[0] == -SB_NO_LIMIT && m->tendon_limit_upper[0] == 1.5f);
  assert_true(m->tendon_stiffness[0] == 20.0f && m->tendon_damping[0] == 2.0f && m->tendon_friction[0] == 0.5f);
  assert_true(m->tendon_spring_lower[0] == -0.25f && m->tendon_spring_upper[0] == 0.25f);
  assert_true(m->tendon_term_coef[0] == 0.5f && m->tendon_term_coef[1] == -2.0f);
  sb_model_store_free(store);
}

typedef struct broken {
  const char *rule;
  void (*change)(sb_model_builder *b);
} broken;

static void no_mass(sb_model_builder *b) { sb_builder_body(b, 1)->mass = 0.0; }
static void bad_inertia(sb_model_builder *b) { sb_builder_body(b, 1)->inertia[3] = 5.0; }
static void nan_com(sb_model_builder *b) { sb_builder_body(b, 1)->com[0] = NAN; }
static void huge_number(sb_model_builder *b) { sb_builder_dof(b, 6)->ref = 1e300; }
static void parent_after(sb_model_builder *b) { sb_builder_body(b, 1)->parent = 2; }
static void zero_quat(sb_model_builder *b) { memset(sb_builder_body(b, 1)->joint_X_p, 0, 7 * sizeof(double)); }
static void zero_axis(sb_model_builder *b) { memset(sb_builder_dof(b, 6)->axis, 0, 3 * sizeof(double)); }
static void swapped_limits(sb_model_builder *b) { sb_builder_dof(b, 6)->lower = 2.0; }
static void negative_damping(sb_model_builder *b) { sb_builder_dof(b, 6)->damping = -1.0; }
static void bad_shape_body(sb_model_builder *b) { sb_builder_shape(b, 0)->body = 77; }
static void bad_size(sb_model_builder *b) { sb_builder_shape(b, 0)->size[1] = 0.0; }
static void bad_condim(sb_model_builder *b) { sb_builder_shape(b, 0)->condim = 2; }
static void bad_dof(sb_model_builder *b) { sb_builder_actuator(b, 0)->dof = 99; }
static void undriven(sb_model_builder *b) { sb_builder_actuator(b, 0)->dof = -1; }
static void unknown_tendon(sb_model_builder *b) { sb_builder_actuator(b, 1)->tendon = 1; }
static void tendon_servo(sb_model_builder *b) { sb_builder_actuator(b, 1)->kind = SB_ACTUATOR_POSITION; }
static void empty_tendon(sb_model_builder *b)
{
  const sb_build_tendon t = sb_build_tendon_default();
  sb_builder_add_tendon(b, &t, NULL);
}
static void same_term(sb_model_builder *b) { sb_builder_add_tendon_term(b, 6, 1.0); }
static void free_term(sb_model_builder *b) { sb_builder_add_tendon_term(b, 0, 1.0); }
static void far_term(sb_model_builder *b) { sb_builder_add_tendon_term(b, 11, 1.0); }
static void slack_spring(sb_model_builder *b)
{
  sb_build_tendon t = sb_build_tendon_default();
  t.spring_lower = 1.0;
  sb_builder_add_tendon(b, &t, NULL);
  sb_builder_add_tendon_term(b, 6, 1.0);
}
static void add_equality(sb_model_builder *b, uint32_t type, int32_t first, int32_t second)
{
  sb_build_equality e = sb_build_equality_default();
  e.type = type;
  e.body[0] = e.dof[0] = first, e.body[1] = e.dof[1] = second;
  sb_builder_add_equality(b, &e, NULL);
}
static void own_connect(sb_model_builder *b) { add_equality(b, SB_EQUALITY_CONNECT, 1, 1); }
static void far_weld(sb_model_builder *b) { add_equality(b, SB_EQUALITY_WELD, 5, 1); }
static void no_equality(sb_model_builder *b) { add_equality(b, 3, 0, 1); }
static void free_joint(sb_model_builder *b) { add_equality(b, SB_EQUALITY_JOINT, 0, -1); }
static void far_joint(sb_model_builder *b) { add_equality(b, SB_EQUALITY_JOINT, 6, 11); }
static void own_joint(sb_model_builder *b) { add_equality(b, SB_EQUALITY_JOINT, 6, 6); }
static void add_sensor(sb_model_builder *b, uint32_t type, int32_t dof, int32_t tendon, int32_t body)
{
  sb_build_sensor s = sb_build_sensor_default();
  s.type = type, s.dof = dof, s.tendon = tendon, s.body = body;
  sb_builder_add_sensor(b, &s, NULL);
}
static void no_sensor(sb_model_builder *b) { add_sensor(b, SB_SENSOR_TYPE_COUNT, -1, -1, -1); }
static void free_sensor(sb_model_builder *b) { add_sensor(b, SB_SENSOR_JOINT_POS, 2, -1, -1); }
static void half_ball(sb_model_builder *b) { add_sensor(b, SB_SENSOR_BALL_QUAT, 9, -1, -1); }
static void far_sensor(sb_model_builder *b) { add_sensor(b, SB_SENSOR_GYRO, -1, -1, 5); }
static void two_things(sb_model_builder *b) { add_sensor(b, SB_SENSOR_GYRO, -1, 0, 1); }
static void framed_clock(sb_model_builder *b) { add_sensor(b, SB_SENSOR_CLOCK, -1, -1, 1); }
static void same_pair(sb_model_builder *b)
{
  sb_build_pair p = sb_build_pair_default();
  sb_builder_add_pair(b, &p);
}

static void test_rules(void **state)
{
  (void)state;
  static const broken cases[] = {{"mass above 0", no_mass},
                                 {"positive definite", bad_inertia},
                                 {"finite", nan_com},
                                 {"finite", huge_number},
                                 {"before it", parent_after},
                                 {"quaternion", zero_quat},
                                 {"axis", zero_axis},
                                 {"lower limit", swapped_limits},
                                 {"damping", negative_damping},
                                 {"body out of range", bad_shape_body},
                                 {"sizes", bad_size},
                                 {"condim", bad_condim},
                                 {"dof out of range", bad_dof},
                                 {"two shapes", same_pair},
                                 {"either a dof", undriven},
                                 {"tendon out of range", unknown_tendon},
                                 {"motors only", tendon_servo},
                                 {"at least one joint", empty_tendon},
                                 {"a dof twice", same_term},
                                 {"hinge or slide", free_term},
                                 {"hinge or slide", far_term},
                                 {"dead band", slack_spring},
                                 {"two different bodies", own_connect},
                                 {"body out of range", far_weld},
                                 {"unknown type", no_equality},
                                 {"hinge or slide", free_joint},
                                 {"hinge or slide", far_joint},
                                 {"two different dofs", own_joint},
                                 {"unknown type", no_sensor},
                                 {"hinge or slide", free_sensor},
                                 {"ball joint", half_ball},
                                 {"body out of range", far_sensor},
                                 {"needs a tendon, or none", two_things},
                                 {"has no frame", framed_clock}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    sb_diagnostics diag = {0};
    sb_model_builder *b = sample();
    sb_model_store *store = NULL;
    cases[i].change(b);
    assert_int_equal(sb_builder_finalise(b, "sample", &store, &diag), SB_E_CONFIG);
    assert_null(store);
    assert_int_equal(diag.count, 1);
    if (!strstr(diag.items[0].message, cases[i].rule))
      fail_msg("case %zu: expected '%s' in '%s'", i, cases[i].rule, diag.items[0].message);
    sb_diagnostics_clear(&diag);
    sb_builder_free(b);
  }
}

static void put_hash(unsigned char *bytes, size_t size)
{
  uint64_t hash = sb_content_hash(bytes, size - 8);
  for (int i = 0; i < 8; i++) bytes[size - 8 + (size_t)i] = (unsigned char)(hash >> (8 * i));
}

/* Truncated and mutated bytes, with the content hash put right so that the checks behind it are reached. */
static void test_hostile_bytes(void **state)
{
  (void)state;
  sb_model_store *store = finalise(sample());
  void *bytes;
  size_t size;
  assert_int_equal(sb_model_store_to_bytes(store, &bytes, &size, NULL), SB_OK);
  for (size_t n = 0; n < size; n++) {
    sb_diagnostics diag = {0};
    sb_model_store *out = NULL;
    unsigned char *copy = malloc(n + 1);
    memcpy(copy, bytes, n);
    if (n >= 8 + 8) put_hash(copy, n);
    assert_int_not_equal(sb_model_store_from_bytes(copy, n, "cut", &out, &diag), SB_OK);
    assert_int_equal(diag.count, 1);
    sb_diagnostics_clear(&diag);
    free(copy);
  }
  uint32_t random = 1, refused = 0;
  unsigned char *copy = malloc(size);
  for (int round = 0; round < 20000; round++) {
    memcpy(copy, bytes, size);
    for (int k = 0; k < 1 + round % 3; k++) {
      random = random * 1664525u + 1013904223u;
      size_t at = (random >> 8) % (size - 8);
      random = random * 1664525u + 1013904223u;
      copy[at] = (unsigned char)(random >> 24);
    }
    put_hash(copy, size);
    sb_diagnostics diag = {0};
    sb_model_store *out = NULL, *many = NULL;
    if (sb_model_store_from_bytes(copy, size, "mutant", &out, &diag) == SB_OK) {
      assert_int_equal(sb_model_store_replicate(out, 2, 0, &many, &diag), SB_OK);
      sb_model_store_free(many);
      sb_model_store_free(out);
      assert_int_equal(diag.count, 0);
    } else {
      assert_int_equal(diag.count, 1);
      refused++;
    }
    sb_diagnostics_clear(&diag);
  }
  assert_true(refused > 5000);
  free(copy);
  free(bytes);
  sb_model_store_free(store);
}

static void test_cook_math(void **state)
{
  (void)state;
  for (int i = -20000; i <= 20000; i++) {
    double x = i * 0.0371 + i * (double)i * 1e-5;
    assert_true(fabs(cook_sin(x) - sin(x)) <= 2.3e-16);
    assert_true(fabs(cook_cos(x) - cos(x)) <= 2.3e-16);
  }
  assert_false(cook_finite(cook_sin(1e7)));
  const double s[6] = {2.0, 3.0, 4.0, 0.5, -0.25, 0.125};
  double e[3], vectors[9], inv[6];
  cook_eigen(s, e, vectors);
  for (int k = 0; k < 3; k++)
    assert_float_equal(s[0] * vectors[k] + s[3] * vectors[3 + k] + s[4] * vectors[6 + k], e[k] * vectors[k], 1e-14);
  assert_true(e[0] <= e[1] && e[1] <= e[2]);
  assert_float_equal(e[0] + e[1] + e[2], 9.0, 1e-14);
  assert_true(cook_inertia_inverse(s, inv));
  double det =
      s[0] * (s[1] * s[2] - s[5] * s[5]) - s[3] * (s[3] * s[2] - s[5] * s[4]) + s[4] * (s[3] * s[5] - s[1] * s[4]);
  assert_float_equal(e[0] * e[1] * e[2], det, 1e-12);
  const double down[3] = {0.0, 0.0, -2.0}, slant[3] = {0.3, -0.4, 0.2}, z[3] = {0.0, 0.0, 1.0};
  double q[4], v[3];
  assert_true(cook_quat_z_axis(down, q));
  cook_quat_rotate(q, z, v);
  assert_float_equal(v[2], -1.0, 1e-15);
  assert_true(cook_quat_z_axis(slant, q));
  cook_quat_rotate(q, z, v);
  for (int i = 0; i < 3; i++) assert_float_equal(v[i] * sqrt(0.29), slant[i], 1e-15);
  const double angles[3] = {0.3, -0.7, 1.1};
  double q2[4], m[9], q3[4];
  assert_true(cook_quat_euler(angles, "xyz", q));
  const double reversed[3] = {1.1, -0.7, 0.3};
  assert_true(cook_quat_euler(reversed, "ZYX", q2));
  cook_quat_matrix(q, m);
  cook_matrix_quat(m, q3);
  for (int i = 0; i < 4; i++) assert_float_equal(q[i], q2[i], 1e-15), assert_float_equal(q[i], q3[i], 1e-15);
  assert_false(cook_quat_euler(angles, "xyw", q));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_derived),    cmocka_unit_test(test_velocities),
                                     cmocka_unit_test(test_round_trip), cmocka_unit_test(test_replicate),
                                     cmocka_unit_test(test_rules),      cmocka_unit_test(test_hostile_bytes),
                                     cmocka_unit_test(test_cook_math),  cmocka_unit_test(test_constraints)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
