/* Contacts that a device makes against those of the CPU: whole lists, bit for bit, order, counts and deepest overlap too, while the poses change from
 * tick to tick; and near pairs of particles, which "--near" has alone. With "--differ" it passes where some list differs: for mutants. A test's name runs it alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array_registry.h"
#include "geometry.h"
#include "near_plan.h"
#include "particle_scene.h"
#include "vulkan_device.h"
#include "vulkan_test.h"

#define DT (1.0f / 60.0f)
#define SPECULATIVE 0.01f

static sb_vulkan *vulkan;
static sb_vulkan_device *made;
static bool one_by_one, expect_differences;
static uint32_t lists, differing;
static uint32_t triangle_capacity; /* of twins; 0: from the scene */
static uint32_t near_capacity; /* for twins opened from now on; 0 from the scene */

/* A pipeline on the CPU and one on the device, with room for the contacts of the latter. */
typedef struct twin {
  const sb_model *model;
  const sb_device *device;
  void *scope;
  sb_registry registry;
  sb_collision *cpu, *room;
  float *q, *qd, *particle_q, *particle_qd; /* the latter NULL where there are no particles */
  size_t array_q, array_qd, array_particle_q, array_particle_qd;
} twin;

static float *add_state(twin *t, const char *name, uint32_t domain, uint32_t components, size_t *index)
{
  sb_array_desc desc = {.struct_size = sizeof desc, .type = SB_TYPE_F32, .domain = domain, .components = components, .count = t->registry.domain_count[domain],
                        .lane_block = 1, .name = name};
  void *data;
  char error[128];
  *index = t->registry.count;
  assert_int_equal(sb_registry_add(&t->registry, "state", &desc, &data, error, sizeof error), SB_OK);
  return data;
}

static void open_twin(twin *t, const sb_model *model, uint32_t contact_capacity, bool truncate)
{
  sb_diagnostics diag = {0};
  char lacks[160];
  *t = (twin){.model = model, .device = sb_vulkan_device_for_sim(made, one_by_one)};
  sb_collision_settings settings = sb_collision_default_settings();
  settings.speculative_margin = SPECULATIVE;
  settings.contact_capacity = settings.particle_contact_capacity = contact_capacity;
  settings.truncate = truncate;
  settings.triangle_capacity = triangle_capacity;
  settings.near_pair_capacity = near_capacity;
  assert_int_equal(sb_collision_create(t->model, &settings, &t->cpu), SB_OK);
  assert_int_equal(sb_collision_create(t->model, &settings, &t->room), SB_OK);
  assert_int_equal(sb_registry_init(&t->registry, t->model), SB_OK);
  t->q = add_state(t, "body_q", SB_DOMAIN_BODY, 7, &t->array_q);
  t->qd = add_state(t, "body_qd", SB_DOMAIN_BODY, 6, &t->array_qd);
  if (model->particle_count) {
    t->particle_q = add_state(t, "particle_q", SB_DOMAIN_PARTICLE, 3, &t->array_particle_q);
    t->particle_qd = add_state(t, "particle_qd", SB_DOMAIN_PARTICLE, 3, &t->array_particle_qd);
    memcpy(t->particle_q, model->particle_q, sizeof(float) * 3 * model->particle_count);
  }
  memcpy(t->q, t->model->body_q, sizeof(float) * 7 * t->model->body_count);
  sb_collision_usage u = sb_collision_get_usage(t->cpu);
  sb_device_collision_setup setup = {.model = t->model, .speculative_margin = SPECULATIVE, .dt = DT, .pair_capacity = u.pair_capacity,
                                     .contact_capacity = u.contact_capacity, .particle_contact_capacity = u.particle_contact_capacity, .triangle_capacity = u.triangle_capacity,
                                     .particles = sb_collision_meets_particles(t->cpu), .truncate = truncate};
  const sb_near_plan near = sb_collision_near_plan(t->cpu);
  if (sb_collision_has_near_pairs(t->cpu)) setup.near = &near;
  assert_int_equal(t->device->open(t->device->context, &t->registry, &t->scope, &diag), SB_OK);
  assert_int_equal(t->device->open_collision(t->scope, &setup, lacks, &diag), SB_OK);
  sb_diagnostics_clear(&diag);
}

static void close_twin(twin *t)
{
  t->device->close(t->scope);
  sb_collision_destroy(t->cpu);
  sb_collision_destroy(t->room);
  sb_registry_free(&t->registry);
}

static bool same_near_pairs(twin *t, sb_device_contact_counts counts)
{
  sb_diagnostics diag = {0};
  sb_near_pair_room room = sb_collision_near_room(t->room);
  assert_int_equal(t->device->read_near_pairs(t->scope, counts.near_kept, &room, &diag), SB_OK);
  sb_status there = sb_collision_take_near(t->room, counts.near_pairs, counts.near_kept);
  const sb_near_pairs *x = sb_collision_near_pairs(t->cpu), *y = sb_collision_near_pairs(t->room);
  sb_collision_usage u = sb_collision_get_usage(t->cpu);
  assert_int_equal(there, u.near_pair_count > u.near_pair_capacity ? SB_E_CAPACITY : SB_OK);
  bool same = x->count == y->count && u.near_pair_count == counts.near_pairs && !memcmp(x->world_start, y->world_start, (t->model->world_count + 1) * sizeof *x->world_start);
#define SB_X_SAME(type, name, comps, doc) same = same && !memcmp(x->name, y->name, (size_t)x->count * (comps) * sizeof(type));
  SB_NEAR_PAIR_ARRAYS(SB_X_SAME)
#undef SB_X_SAME
  return same;
}

/* Of particles, after the contacts of shapes. */
static bool same_particles(twin *t, sb_device_contact_counts counts)
{
  sb_diagnostics diag = {0};
  sb_particle_contact_room room = sb_collision_particle_room(t->room);
  sb_status here = sb_collision_step_particles(t->cpu, t->particle_q, t->particle_qd, NULL);
  assert_int_equal(t->device->read_particle_contacts(t->scope, counts.particle_kept, &room, &diag), SB_OK);
  sb_status there = sb_collision_take_particles(t->room, counts.particle_contacts, counts.particle_kept);
  bool near = !sb_collision_has_near_pairs(t->cpu) || same_near_pairs(t, counts);
  if (!sb_collision_has_near_pairs(t->cpu)) assert_int_equal(there, here);
  sb_collision_index_particles(t->room);
  const sb_particle_contacts *x = sb_collision_particle_contacts(t->cpu), *y = sb_collision_particle_contacts(t->room);
  bool same = near && x->count == y->count && sb_collision_get_usage(t->cpu).particle_contact_count == sb_collision_get_usage(t->room).particle_contact_count &&
              !memcmp(x->particle_start, y->particle_start, (t->model->particle_count + 1) * sizeof *x->particle_start);
#define SB_X_SAME(type, name, comps, doc) same = same && !memcmp(x->name, y->name, (size_t)x->count * (comps) * sizeof(type));
  SB_PARTICLE_CONTACT_ARRAYS(SB_X_SAME)
#undef SB_X_SAME
  return same;
}

/* One tick on both. */
static void compare(twin *t)
{
  sb_diagnostics diag = {0};
  sb_device_contact_counts counts;
  sb_contact_room room = sb_collision_room(t->room);
  sb_status here = sb_collision_step_moving(t->cpu, t->q, t->qd, DT, NULL);
  assert_int_equal(t->device->upload(t->scope, t->array_q, &diag), SB_OK);
  assert_int_equal(t->device->upload(t->scope, t->array_qd, &diag), SB_OK);
  if (t->particle_q) assert_int_equal(t->device->upload(t->scope, t->array_particle_q, &diag), SB_OK);
  if (t->particle_q) assert_int_equal(t->device->upload(t->scope, t->array_particle_qd, &diag), SB_OK);
  assert_int_equal(t->device->collide(t->scope, &diag), SB_OK);
  assert_int_equal(t->device->count_contacts(t->scope, &counts, &diag), SB_OK);
  assert_int_equal(t->device->read_contacts(t->scope, counts.kept, &room, &diag), SB_OK);
  sb_status there = sb_collision_take(t->room, counts.pairs, counts.contacts, counts.kept, counts.deepest);
  bool particles = !t->particle_q || same_particles(t, counts);
  sb_collision_usage a = sb_collision_get_usage(t->cpu), b = sb_collision_get_usage(t->room);
  const sb_contacts *x = sb_collision_contacts(t->cpu), *y = sb_collision_contacts(t->room);
  assert_int_equal(here, there);
  assert_int_equal(a.pair_count, b.pair_count);
  bool same = particles && a.contact_count == b.contact_count && x->count == y->count && !memcmp(&a.deepest, &b.deepest, sizeof a.deepest) &&
              !memcmp(x->world_start, y->world_start, (t->model->world_count + 1) * sizeof *x->world_start) && scene_contacts_equal(x, 0, y, 0, x->count, 0, 0, 0);
  lists++;
  differing += !same;
  if (!same && !expect_differences) fail_msg("%u contacts here, %u there, or they differ", x->count, y->count);
}

/* Poses drift and turn a little each tick, by pseudo-random velocities. */
static void shake(twin *t, uint64_t *random, float speed)
{
  for (uint32_t i = 0; i < 3 * t->model->particle_count; i++) {
    t->particle_qd[i] = scene_random(random, -speed, speed);
    t->particle_q[i] += DT * t->particle_qd[i];
  }
  for (uint32_t b = 0; b < t->model->body_count; b++) {
    float *q = t->q + 7 * (size_t)b, *qd = t->qd + 6 * (size_t)b, length = 0;
    if (t->model->body_flags[b] & SB_BODY_STATIC) continue;
    for (int k = 0; k < 6; k++) qd[k] = scene_random(random, -speed, speed);
    for (int k = 0; k < 3; k++) q[k] += DT * qd[k];
    for (int k = 0; k < 3; k++) q[3 + k] += 0.5f * DT * qd[3 + k];
    for (int k = 3; k < 7; k++) length += q[k] * q[k];
    for (int k = 3; k < 7; k++) q[k] /= sqrtf(length);
  }
}

static void run(collision_scene *s, uint32_t ticks, float speed)
{
  uint64_t random = 7;
  twin t;
  open_twin(&t, scene_model(s), 0, false);
  for (uint32_t i = 0; i < ticks; i++) {
    compare(&t);
    shake(&t, &random, speed);
  }
  close_twin(&t);
  scene_free(s);
}

static void test_pyramid(void **state)
{
  (void)state;
  collision_scene *s = scene_new();
  scene_world(s);
  scene_pyramid(s, 12);
  run(s, 200, 0.05f);
}

static void test_pile(void **state)
{
  (void)state;
  collision_scene *s = scene_new();
  scene_world(s);
  scene_grid(s, 7, 6);
  run(s, 100, 0.1f);
}

/* Two worlds of all shapes, static ones among them, bodies kept apart, a second plane, and filters. */
static void test_mixed(void **state)
{
  (void)state;
  collision_scene *s = scene_new();
  uint64_t random = 3;
  for (int w = 0; w < 2; w++) {
    scene_world(s);
    scene_jumble(s, &random, 120, 4.0f);
    int32_t tilted = scene_body(s, scene_turned(0, 0, -5, 1, 2, 0, 0.6), SB_BODY_STATIC);
    scene_shape(s, tilted, SB_SHAPE_PLANE, 0, 0, 0);
    for (int32_t i = 0; i < 30; i++) scene_exclude(s, tilted - 2 * i - 2, tilted - i - 1);
  }
  sb_model *m = scene_model(s);
  for (uint32_t i = 0; i < m->shape_count; i++) {
    ((uint32_t *)m->shape_contype)[i] = i % 11 ? 1 : 2;
    ((uint32_t *)m->shape_condim)[i] = 1 + i % 6;
    ((float *)m->shape_margin)[i] = i % 7 ? 0 : 0.05f;
    ((float *)m->shape_restitution)[i] = 0.1f * (float)(i % 5);
  }
  for (uint32_t i = 0; i < 3 * m->body_count; i++) ((float *)m->body_com)[i] = scene_random(&random, -0.1f, 0.1f);
  run(s, 200, 1.5f);
}

/* Boxes from a hair to a continent, far out too, and bodies whose poses are no numbers. */
static void test_sizes(void **state)
{
  (void)state;
  collision_scene *s = scene_new();
  uint64_t random = 5;
  scene_world(s);
  scene_free_shape(s, scene_at(0, 0, -2.0e6f), SB_SHAPE_BOX, 1.0e6f, 2.0e6f, 1.99999e6f);
  scene_free_shape(s, scene_at(3, 0, -900), SB_SHAPE_SPHERE, 899, 0, 0);
  for (uint32_t i = 0; i < 150; i++) {
    float size = exp2f(scene_random(&random, -14, 4));
    scene_pose pose = scene_random_pose(&random, 10.0f);
    if (i % 5 == 0) pose.v[0] += 3.0e7f;
    scene_free_shape(s, pose, SB_SHAPE_SPHERE + i % 3, size, i % 4 ? size : 40.0f * size, size);
  }
  scene_free_shape(s, scene_at(NAN, 0, 0), SB_SHAPE_BOX, 1, 1, 1);
  scene_free_shape(s, scene_at(0, INFINITY, 0), SB_SHAPE_SPHERE, 1, 0, 0);
  run(s, 60, 3.0f);
}

/* Poses on a coarse lattice: boxes that touch exactly, parallel edges, equal depths. */
static void test_ties(void **state)
{
  (void)state;
  collision_scene *s = scene_new();
  uint64_t random = 11;
  scene_world(s);
  scene_shape(s, -1, SB_SHAPE_PLANE, 0, 0, 0);
  for (uint32_t i = 0; i < 200; i++)
    scene_free_shape(s, scene_at((float)scene_random_below(&random, 8), (float)scene_random_below(&random, 8), 0.5f * (float)scene_random_below(&random, 8)),
                     SB_SHAPE_SPHERE + i % 3, 0.5f, 0.5f, 0.5f);
  run(s, 3, 0.0f);
}

/* More partners of one shape than a thread keeps while it counts them. */
static void test_crowd(void **state)
{
  (void)state;
  collision_scene *s = scene_new();
  scene_world(s);
  for (uint32_t i = 0; i < 30; i++) scene_free_shape(s, scene_at(0.01f * (float)i, 0, 0), SB_SHAPE_SPHERE + i % 3, 0.5f, 0.5f, 0.5f);
  run(s, 3, 0.1f);
}

/* Too many contacts: none, or where that was asked for the first ones; the counts say what is needed. */
static void test_overflow(void **state)
{
  (void)state;
  for (int truncate = 0; truncate < 2; truncate++) {
    collision_scene *s = scene_new();
    twin t;
    for (int w = 0; w < 3; w++) {
      scene_world(s);
      scene_grid(s, 3, 3);
    }
    open_twin(&t, scene_model(s), 100, truncate);
    compare(&t);
    close_twin(&t);
    scene_free(s);
  }
}

/* Cloth among shapes of all kinds, one of which holds some of its particles, in two worlds; and with too little room. */
static void test_particles(void **state)
{
  (void)state;
  static const double sizes[4][3] = {{0, 0, 0}, {0.3, 0, 0}, {0.15, 0.3, 0}, {0.3, 0.2, 0.25}};
  uint64_t random = 17;
  sb_model_builder *b = sb_builder_create();
  for (int i = 0; i < 26; i++) {
    sb_build_body body = sb_build_body_default();
    sb_build_shape shape = sb_build_shape_default();
    char name[16];
    uint32_t type = i < 2 ? SB_SHAPE_PLANE : SB_SHAPE_SPHERE + (uint32_t)i % 3;
    snprintf(name, sizeof name, "body%d", i);
    body.joint_type = i % 5 ? SB_JOINT_FREE : SB_JOINT_FIXED;
    scene_pose pose = scene_random_pose(&random, 1.5f);
    if (i == 0) pose = scene_at(0, 0, -0.5f);
    for (int k = 0; k < 7; k++) body.q[k] = pose.v[k], body.joint_X_p[k] = pose.v[k];
    body.mass = 1;
    body.inertia[0] = body.inertia[1] = body.inertia[2] = 0.1;
    shape.type = type;
    shape.body = i < 2 ? -1 : sb_builder_add_body(b, &body, name);
    for (int k = 0; k < 3; k++) shape.size[k] = sizes[type][k];
    if (i < 2)
      for (int k = 0; k < 7; k++) shape.X[k] = pose.v[k];
    shape.condim = 1u + 2u * ((uint32_t)i % 2);
    shape.friction[0] = 0.1 * i;
    shape.margin = i % 3 ? 0 : 0.02;
    shape.restitution = 0.05 * (i % 4);
    shape.contype = i % 7 == 3 ? 2 : 1;
    shape.conaffinity = 1;
    sb_builder_add_shape(b, &shape, name);
  }
  int32_t first = add_test_cloth(b, 20, 20, 0.1, 0.2, 0.01, false, "cloth");
  for (int32_t i = 0; i < 5; i++) sb_builder_add_attachment(b, &(sb_build_attachment){.particle = first + 40 * i, .body = i % 2, .stiffness = SB_NO_LIMIT});
  particle_scene s = particle_scene_new(b, 2, NULL);
  for (int small = 0; small < 3; small++) {
    twin t;
    open_twin(&t, s.model, small ? 30 : 0, small == 2);
    for (int i = 0; i < (small ? 3 : 100); i++) {
      compare(&t);
      shake(&t, &random, 2.0f);
    }
    if (!small) assert_true(sb_collision_get_usage(t.cpu).particle_contact_peak > 100);
    close_twin(&t);
  }
  particle_scene_free(&s);
}

/* --- near pairs --- */

static void add_grains(sb_model_builder *b, int count, bool self_contact, float size, uint64_t seed, const char *name)
{
  sb_build_deformable d = sb_build_deformable_default();
  d.flags = self_contact ? SB_DEFORMABLE_SELF_CONTACT : 0;
  d.friction = 0.01 * count;
  sb_builder_add_deformable(b, &d, name);
  for (int i = 0; i < count; i++) {
    sb_build_particle p = {.mass = 0.01, .radius = 0.008 + 0.0001 * (i % 40), .pinned = i % 5 == 0};
    for (int k = 0; k < 3; k++) p.q[k] = scene_random(&seed, 0, size);
    sb_builder_add_particle(b, &p);
  }
}

static void expect_lists(twin *t, uint32_t least)
{
  sb_collision_usage u = sb_collision_get_usage(t->cpu);
  if (u.near_pair_count < least || u.near_pair_count > u.near_pair_capacity) fail_msg("%u near pairs, expected %u to %u", u.near_pair_count, least, u.near_pair_capacity);
}

/* All particles to random places in a box. */
static void scatter(twin *t, uint64_t *random, float reach, float speed)
{
  for (uint32_t i = 0; i < 3 * t->model->particle_count; i++) {
    t->particle_q[i] = scene_random(random, 0, reach);
    t->particle_qd[i] = scene_random(random, -speed, speed);
  }
}

/* Two cloths, one of which touches itself, and loose grains. */
static sb_model_builder *heap(void)
{
  sb_model_builder *b = sb_builder_create();
  add_test_cloth(b, 9, 11, 0.05, 0.0, 0.005, true, "first");
  add_test_cloth(b, 7, 8, 0.05, 0.1, 0.004, false, "second");
  add_grains(b, 90, true, 0.4f, 1, "grains");
  add_grains(b, 30, false, 0.4f, 2, "more");
  return b;
}

/* In three worlds: strewn, fast, and so dense that every node meets every other. */
static void test_heap(void **state)
{
  (void)state;
  uint64_t random = 23;
  particle_scene s = particle_scene_new(heap(), 3, NULL);
  near_capacity = 300000;
  twin t;
  open_twin(&t, s.model, 0, false);
  static const float reach[] = {0.6f, 0.3f, 0.15f}, speed[] = {0.0f, 0.25f, 5.0f};
  for (int i = 0; i < 3; i++) {
    scatter(&t, &random, reach[i], speed[i == 2 ? 0 : i]);
    compare(&t);
    expect_lists(&t, 100);
    for (int k = 0; k < 2; k++) {
      shake(&t, &random, speed[i]);
      compare(&t);
    }
  }
  close_twin(&t);
  particle_scene_free(&s);
  near_capacity = 0;
}

/* Loose grains alone: enough of them for several nodes in a group, in two worlds. */
static void test_grains(void **state)
{
  (void)state;
  uint64_t random = 29;
  sb_model_builder *b = sb_builder_create();
  add_grains(b, 700, true, 0.2f, 3, "grains");
  add_grains(b, 500, true, 0.2f, 4, "more");
  particle_scene s = particle_scene_new(b, 2, NULL);
  twin t;
  near_capacity = 100000;
  open_twin(&t, s.model, 0, false);
  for (int i = 0; i < 6; i++) {
    compare(&t);
    expect_lists(&t, 500);
    shake(&t, &random, 0.5f * (float)i);
  }
  for (uint32_t i = 0; i < 3 * t.model->particle_count; i++) t.particle_q[i] = 0.5f; /* all in one place, which has no extent */
  for (uint32_t i = 0; i < t.model->particle_count; i++) t.particle_q[3 * i] = (float)i;
  compare(&t);
  close_twin(&t);
  particle_scene_free(&s);
  near_capacity = 0;
}

/* A cloth that is wound up ever tighter, until its layers touch and what is flat together has become few, with a second cloth above it. */
static void test_roll(void **state)
{
  (void)state;
  const double h = 0.02;
  uint64_t random = 31;
  sb_model_builder *b = sb_builder_create();
  add_test_cloth(b, 70, 20, h, 0.0, 0.006, true, "roll");
  int32_t upper = add_test_cloth(b, 12, 12, h, 0.1, 0.005, true, "upper");
  particle_scene s = particle_scene_new(b, 1, NULL);
  twin t;
  near_capacity = 100000;
  open_twin(&t, s.model, 0, false);
  uint32_t most = 0;
  for (int i = 0; i < 14; i++) {
    for (int32_t p = 0; p < upper; p++) {
      /* a spiral whose layers are a bit more than two radii apart */
      double y = s.model->particle_q[3 * p + 1], r = 0.5 / (1 + i) + 0.003, turn = y / r, layer = r + 0.013 * turn / (2 * 3.14159265358979);
      t.particle_q[3 * p + 1] = (float)(layer * sin(turn));
      t.particle_q[3 * p + 2] = (float)(-layer * cos(turn)) + scene_random(&random, 0, 0.001f);
      for (int k = 0; k < 3; k++) t.particle_qd[3 * p + k] = scene_random(&random, -0.2f, 0.2f);
    }
    compare(&t);
    expect_lists(&t, 0);
    uint32_t count = sb_collision_get_usage(t.cpu).near_pair_count;
    most = count > most ? count : most;
  }
  assert_true(most > 500);
  close_twin(&t);
  particle_scene_free(&s);
  near_capacity = 0;
}

static void test_near_one_by_one(void **state)
{
  (void)state;
  particle_scene s = particle_scene_new(heap(), 1, NULL);
  uint64_t random = 37;
  twin t;
  one_by_one = true;
  near_capacity = 20000;
  open_twin(&t, s.model, 0, false);
  scatter(&t, &random, 0.5f, 0.1f);
  compare(&t);
  expect_lists(&t, 50);
  close_twin(&t);
  particle_scene_free(&s);
  one_by_one = false;
  near_capacity = 0;
}

/* Too little room: none, or where that was asked for as many as fit; how many are needed is the same. */
static void test_near_overflow(void **state)
{
  (void)state;
  for (int truncate = 0; truncate < 2; truncate++) {
    sb_model_builder *b = sb_builder_create();
    add_grains(b, 300, true, 0.1f, 5, "grains");
    particle_scene s = particle_scene_new(b, 1, NULL);
    sb_diagnostics diag = {0};
    sb_device_contact_counts counts;
    twin t;
    near_capacity = 100;
    open_twin(&t, s.model, 0, truncate);
    if (!truncate) compare(&t);
    assert_int_equal(sb_collision_step_moving(t.cpu, t.q, t.qd, DT, NULL), SB_OK);
    assert_int_equal(sb_collision_step_particles(t.cpu, t.particle_q, t.particle_qd, NULL), SB_E_CAPACITY);
    assert_int_equal(t.device->upload(t.scope, t.array_particle_q, &diag), SB_OK);
    assert_int_equal(t.device->upload(t.scope, t.array_particle_qd, &diag), SB_OK);
    assert_int_equal(t.device->collide(t.scope, &diag), SB_OK);
    assert_int_equal(t.device->count_contacts(t.scope, &counts, &diag), SB_OK);
    assert_int_equal(counts.near_pairs, sb_collision_get_usage(t.cpu).near_pair_count);
    assert_int_equal(counts.near_kept, truncate ? 100 : 0);
    close_twin(&t);
    particle_scene_free(&s);
  }
  near_capacity = 0;
}

static void test_one_by_one(void **state)
{
  (void)state;
  collision_scene *s = scene_new();
  scene_world(s);
  scene_grid(s, 3, 3);
  one_by_one = true;
  run(s, 3, 0.3f);
  one_by_one = false;
}

/* --- heightfields --- */

#define HILL_ROWS 25u
#define HILL_COLUMNS 19u

/* Geometries 0 to 2, 6 m by 4 m: rough ground, a plain, and steps. */
static sb_model_store *make_hills(void)
{
  sb_model_builder *b = sb_builder_create();
  geometry_place at;
  double height[HILL_ROWS * HILL_COLUMNS];
  uint64_t random = 23;
  for (uint32_t kind = 0; kind < 3; kind++) {
    for (uint32_t i = 0; i < HILL_ROWS * HILL_COLUMNS; i++) {
      uint32_t row = i / HILL_COLUMNS, column = i % HILL_COLUMNS;
      double rough = 0.4 * sin(0.7 * row) * cos(0.9 * column) + scene_random(&random, 0.0f, 0.1f);
      height[i] = kind == 0 ? rough : kind == 1 ? 0.25 * (i == 0) : 0.25 * ((row / 3 + column / 2) % 3);
    }
    assert_int_equal(geometry_add_hfield(b, HILL_ROWS, HILL_COLUMNS, 3.0, 2.0, height, &at), GEOMETRY_GOOD);
  }
  sb_model_store *store;
  assert_int_equal(sb_builder_finalise(b, "hills", &store, NULL), SB_OK);
  sb_builder_free(b);
  return store;
}

/* A world with this ground, level or tilted. */
static void hill_world(collision_scene *s, int32_t kind, bool tilted)
{
  scene_world(s);
  scene_geometry_shape(s, scene_body(s, tilted ? scene_turned(0.3f, -0.2f, 0.1f, 1, 2, 3, 0.7) : scene_at(0, 0, 0), SB_BODY_STATIC), kind);
}

static void run_on_hills(collision_scene *s, sb_model_store *hills, uint32_t ticks, float speed)
{
  run(s, ticks, speed);
  sb_model_store_free(hills);
}

/* Solids over, in, below and beside rough ground and steps, with each other too. */
static void test_hills(void **state)
{
  (void)state;
  sb_model_store *hills = make_hills();
  collision_scene *s = scene_new();
  uint64_t random = 29;
  scene_take_geometry(s, sb_model_store_view(hills));
  for (int32_t w = 0; w < 3; w++) {
    hill_world(s, w == 2 ? 2 : 0, w == 1);
    for (uint32_t i = 0; i < 80; i++) {
      scene_pose pose = scene_random_pose(&random, 1.0f);
      float size = exp2f(scene_random(&random, -5, 0));
      pose.v[0] = scene_random(&random, -3.5f, 3.5f);
      pose.v[1] = scene_random(&random, -2.5f, 2.5f);
      scene_free_shape(s, pose, SB_SHAPE_SPHERE + i % 3, size, scene_random(&random, 0.5f, 1.5f) * size, size);
    }
  }
  sb_model *m = scene_model(s);
  for (uint32_t i = 0; i < m->shape_count; i++) {
    ((uint32_t *)m->shape_condim)[i] = 1 + i % 6;
    ((float *)m->shape_margin)[i] = i % 7 ? 0 : 0.05f;
  }
  run_on_hills(s, hills, 40, 1.0f);
}

/* A plain and solids on a coarse lattice, at its borders and corners too: equal depths, edges over edges. */
static void test_plain_ties(void **state)
{
  (void)state;
  sb_model_store *hills = make_hills();
  collision_scene *s = scene_new();
  uint64_t random = 31;
  scene_take_geometry(s, sb_model_store_view(hills));
  hill_world(s, 1, false);
  for (uint32_t i = 0; i < 150; i++) {
    float z = 0.125f * (float)scene_random_below(&random, 8) - 0.25f;
    scene_pose pose = scene_at(-3.0f + 0.5f * (float)scene_random_below(&random, 13), -2.0f + 0.25f * (float)scene_random_below(&random, 17), z);
    if (i % 4 == 0) pose = scene_turned(pose.v[0], pose.v[1], z, i % 8 ? 1 : 0, i % 8 ? 0 : 1, 0, 1.5707963267948966);
    scene_free_shape(s, pose, SB_SHAPE_SPHERE + i % 3, 0.25f, 0.25f, 0.25f);
  }
  run_on_hills(s, hills, 3, 0.0f);
}

/* Boxes over most of the ground: more points than a pool holds, deep overlap, and a thread with hundreds of triangles. */
static void test_large_on_hills(void **state)
{
  (void)state;
  sb_model_store *hills = make_hills();
  collision_scene *s = scene_new();
  scene_take_geometry(s, sb_model_store_view(hills));
  for (int32_t w = 0; w < 2; w++) {
    hill_world(s, w ? 2 : 0, false);
    for (uint32_t i = 0; i < 9; i++) scene_free_shape(s, scene_turned(0.1f * (float)i, 0, 0.3f * (float)i - 1.0f, 1, 1, 0, 0.02 * i), SB_SHAPE_SPHERE + i % 3, 1.0f + 0.2f * (float)i, 1.5f, 0.5f);
  }
  run_on_hills(s, hills, 20, 0.3f);
}

/* A cloth over, in and far below the ground, which holds some of it, and at its borders. */
static void test_particles_on_hills(void **state)
{
  (void)state;
  uint64_t random = 37;
  for (int kind = 0; kind < 3; kind++) {
    sb_model_builder *b = sb_builder_create();
    geometry_place place;
    double height[HILL_ROWS * HILL_COLUMNS];
    for (uint32_t i = 0; i < HILL_ROWS * HILL_COLUMNS; i++) height[i] = kind == 0 ? scene_random(&random, 0, 0.4f) : 0.1 * (kind == 1 && i % 4 == 0);
    assert_int_equal(geometry_add_hfield(b, HILL_ROWS, HILL_COLUMNS, 0.9, 0.7, height, &place), GEOMETRY_GOOD);
    sb_build_body body = sb_build_body_default();
    sb_build_shape shape = sb_build_shape_default();
    body.joint_type = SB_JOINT_FIXED;
    shape.type = SB_SHAPE_HFIELD, shape.geometry = place.index, shape.margin = 0.01;
    shape.body = sb_builder_add_body(b, &body, "ground");
    memcpy(shape.size, place.half, sizeof shape.size);
    sb_builder_add_shape(b, &shape, "ground");
    shape = sb_build_shape_default();
    shape.type = SB_SHAPE_BOX, shape.body = -1, shape.size[0] = shape.size[1] = shape.size[2] = 0.2;
    sb_builder_add_shape(b, &shape, "box");
    int32_t first = add_test_cloth(b, 24, 24, 0.09, 0.2, 0.01, false, "cloth");
    sb_builder_add_attachment(b, &(sb_build_attachment){.particle = first + 300, .body = 0, .stiffness = SB_NO_LIMIT});
    particle_scene s = particle_scene_new(b, 2, NULL);
    twin t;
    open_twin(&t, s.model, 0, false);
    for (uint32_t i = 0; i < s.model->particle_count; i++) {
      for (int k = 0; k < 2; k++) t.particle_q[3 * i + k] -= 1.0f;
      t.particle_q[3 * i + 2] = scene_random(&random, i % 5 ? -0.3f : -3.0f, 0.4f);
    }
    for (int i = 0; i < 20; i++) {
      compare(&t);
      shake(&t, &random, 3.0f);
    }
    assert_true(sb_collision_get_usage(t.cpu).particle_contact_peak > 300);
    close_twin(&t);
    particle_scene_free(&s);
  }
}

/* Too many triangles for the room that was given, or for one pair: no contacts, and how many there are. */
static void test_triangle_overflow(void **state)
{
  (void)state;
  sb_model_store *hills = make_hills();
  for (uint32_t mode = 0; mode < 3; mode++) {
    collision_scene *s = scene_new();
    sb_diagnostics diag = {0};
    sb_device_contact_counts counts;
    twin t;
    float size = mode == 2 ? 0.02f : 1.0f;
    scene_take_geometry(s, sb_model_store_view(hills));
    hill_world(s, 0, false);
    scene_free_shape(s, scene_at(0, 0, 0), SB_SHAPE_BOX, size, size, size);
    scene_free_shape(s, scene_at(0.5f, 0, 0), SB_SHAPE_SPHERE, 0.5f * size, 0, 0);
    triangle_capacity = mode == 2 ? 100000 : 40;
    open_twin(&t, scene_model(s), 0, mode == 1);
    triangle_capacity = 0;
    if (mode == 2) t.qd[6] = 1000.0f; /* a small box that comes near all of the ground in one tick */
    assert_int_equal(t.device->upload(t.scope, t.array_q, &diag), SB_OK);
    assert_int_equal(t.device->upload(t.scope, t.array_qd, &diag), SB_OK);
    assert_int_equal(t.device->collide(t.scope, &diag), SB_OK);
    assert_int_equal(t.device->count_contacts(t.scope, &counts, &diag), SB_OK);
    assert_true(mode == 2 ? counts.triangles == UINT32_MAX : counts.triangles > 40 && counts.triangles < 2000);
    assert_int_equal(counts.kept, 0);
    assert_int_equal(sb_collision_take_triangles(t.room, counts.triangles), SB_E_CAPACITY);
    close_twin(&t);
    scene_free(s);
  }
  sb_model_store_free(hills);
}

/* What the device lacks is said. */
static void test_refusals(void **state)
{
  (void)state;
  static const struct { uint32_t type; const char *text; } scenes[] = {{SB_SHAPE_CYLINDER, "it has no cylinders there"}, {SB_SHAPE_ELLIPSOID, "it has no ellipsoids there"},
                                                                       {SB_SHAPE_TYPE_COUNT, ""}};
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
    collision_scene *s = scene_new();
    twin t = {0};
    sb_diagnostics diag = {0};
    char lacks[160];
    scene_world(s);
    scene_body(s, scene_at(0, 0, 0), 0);
    if (scenes[i].type < SB_SHAPE_TYPE_COUNT) scene_free_shape(s, scene_at(0, 0, 0), scenes[i].type, 1, 1, 1);
    t.model = scene_model(s);
    t.device = sb_vulkan_device_for_sim(made, false);
    assert_int_equal(sb_registry_init(&t.registry, t.model), SB_OK);
    add_state(&t, "body_q", SB_DOMAIN_BODY, 7, &t.array_q);
    add_state(&t, "body_qd", SB_DOMAIN_BODY, 6, &t.array_qd);
    sb_device_collision_setup setup = {.model = t.model, .dt = DT, .pair_capacity = 10, .contact_capacity = 10};
    assert_int_equal(t.device->open(t.device->context, &t.registry, &t.scope, &diag), SB_OK);
    assert_int_equal(t.device->open_collision(t.scope, &setup, lacks, &diag), SB_E_UNSUPPORTED);
    assert_string_equal(lacks, scenes[i].text);
    t.device->close(t.scope);
    sb_registry_free(&t.registry);
    sb_diagnostics_clear(&diag);
    scene_free(s);
  }
}

static int open_device(void **state)
{
  (void)state;
  return sb_vulkan_open(&vulkan, NULL) || sb_vulkan_device_create(vulkan, &made, NULL);
}

static int close_device(void **state)
{
  (void)state;
  sb_vulkan_device_destroy(made);
  sb_vulkan_close(vulkan);
  return 0;
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_pyramid),  cmocka_unit_test(test_pile),       cmocka_unit_test(test_mixed),    cmocka_unit_test(test_sizes),
                                     cmocka_unit_test(test_ties),     cmocka_unit_test(test_overflow), cmocka_unit_test(test_crowd), cmocka_unit_test(test_particles), cmocka_unit_test(test_one_by_one), cmocka_unit_test(test_refusals),
                                     cmocka_unit_test(test_hills), cmocka_unit_test(test_plain_ties), cmocka_unit_test(test_large_on_hills), cmocka_unit_test(test_particles_on_hills), cmocka_unit_test(test_triangle_overflow)};
  const struct CMUnitTest near[] = {cmocka_unit_test(test_heap), cmocka_unit_test(test_grains), cmocka_unit_test(test_roll), cmocka_unit_test(test_near_overflow),
                                    cmocka_unit_test(test_near_one_by_one)};
  bool near_alone = false;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--near"))
      near_alone = true;
    else if (!strcmp(argv[i], "--differ"))
      expect_differences = true;
    else
      cmocka_set_test_filter(argv[i]);
  }
  if (no_device()) return SKIP;
  int failed = near_alone ? 0 : cmocka_run_group_tests(tests, open_device, close_device);
  if (near_alone || !expect_differences) failed += cmocka_run_group_tests(near, open_device, close_device);
  printf("%u lists compared, %u differ\n", lists, differing);
  return failed || (differing > 0) != expect_differences;
}
