/* The collision pipeline as a whole: pairs, filters, order, independence of tasks, lanes, worlds and later bodies. */
#include "collision_scene.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COLLISION_GOLDEN 0x70415ef757e62b41u

static sb_collision *step_with(collision_scene *s, const sb_collision_settings *settings,
                               const sb_collision_tasks *tasks)
{
  sb_collision *c;
  assert_int_equal(sb_collision_create(scene_model(s), settings, &c), SB_OK);
  assert_int_equal(sb_collision_step(c, scene_model(s)->body_q, tasks), SB_OK);
  return c;
}

static sb_collision_settings settings_with(uint32_t broad, uint32_t lanes)
{
  sb_collision_settings x = sb_collision_default_settings();
  x.broad_phase = broad;
  x.lanes = lanes;
  x.speculative_margin = 0.01f;
  return x;
}

static void assert_same(const sb_contacts *x, const sb_contacts *y, uint32_t worlds)
{
  assert_int_equal(x->count, y->count);
  assert_memory_equal(x->world_start, y->world_start, (worlds + 1) * sizeof *x->world_start);
  assert_true(scene_contacts_equal(x, 0, y, 0, x->count, 0, 0, 0));
}

/* Order and uniqueness of keys, world ranges, unit normals, finite numbers. */
static void assert_canonical(const sb_contacts *x, const sb_model *m)
{
  assert_int_equal(x->world_start[0], 0);
  assert_int_equal(x->world_start[m->world_count], x->count);
  for (uint32_t w = 0; w < m->world_count; w++)
    for (uint32_t i = x->world_start[w]; i < x->world_start[w + 1]; i++) {
      assert_int_equal(x->world[i], w);
      if (i > x->world_start[w]) assert_true(x->key[i - 1] < x->key[i]);
      assert_true(x->shape_a[i] < x->shape_b[i]);
      assert_int_equal(x->key[i] >> 40, (uint32_t)x->shape_a[i] - m->world_shape_start[w]);
      assert_int_equal(x->key[i] >> 16 & 0xffffff, (uint32_t)x->shape_b[i] - m->world_shape_start[w]);
      for (int k = 0; k < 3; k++)
        assert_true(isfinite(x->point_a[3 * i + k]) && isfinite(x->point_b[3 * i + k]) &&
                    isfinite(x->normal[3 * i + k]));
    }
}

static void broad_phases_agree(void **state)
{
  (void)state;
  uint64_t seed = 77;
  for (int round = 0; round < 30; round++) {
    collision_scene *s = scene_new();
    for (int w = 0; w < 3; w++) {
      scene_world(s);
      uint32_t count = 5 + scene_random_below(&seed, 400);
      float reach = scene_random(&seed, 0.5f, 8.0f);
      scene_jumble(s, &seed, count, reach);
    }
    sb_collision_settings all = settings_with(SB_BROAD_ALL_PAIRS, 0);
    sb_collision_settings sap = settings_with(SB_BROAD_SAP, 0);
    all.pair_capacity = sap.pair_capacity = 250000;
    all.contact_capacity = sap.contact_capacity = 500000;
    sb_collision *x = step_with(s, &all, NULL);
    sb_collision *y = step_with(s, &sap, NULL);
    assert_true(sb_collision_pair_count(x) > 0);
    assert_int_equal(sb_collision_pair_count(x), sb_collision_pair_count(y));
    for (uint32_t i = 0; i < sb_collision_pair_count(x); i++) {
      uint32_t p[2], q[2];
      sb_collision_pair(x, i, p);
      sb_collision_pair(y, i, q);
      assert_true(p[0] == q[0] && p[1] == q[1] && p[0] < p[1]);
    }
    assert_same(sb_collision_contacts(x), sb_collision_contacts(y), 3);
    assert_canonical(sb_collision_contacts(x), scene_model(s));
    sb_collision_destroy(x);
    sb_collision_destroy(y);
    scene_free(s);
  }
}

/* As many bodies as a large scene has: the sweep finds the pairs that trying all finds, within capacities that follow the scene. */
static void broad_phases_agree_on_many_bodies(void **state)
{
  (void)state;
  uint64_t seed = 6;
  collision_scene *s = scene_new();
  scene_world(s);
  scene_jumble(s, &seed, 30000, 20.0f);
  sb_collision_settings all = settings_with(SB_BROAD_ALL_PAIRS, 0), sap = settings_with(SB_BROAD_SAP, 0);
  sb_collision *x = step_with(s, &all, NULL), *y = step_with(s, &sap, NULL);
  assert_true(sb_collision_pair_count(x) > 30000);
  assert_int_equal(sb_collision_pair_count(x), sb_collision_pair_count(y));
  for (uint32_t i = 0; i < sb_collision_pair_count(x); i++) {
    uint32_t p[2], q[2];
    sb_collision_pair(x, i, p);
    sb_collision_pair(y, i, q);
    assert_true(p[0] == q[0] && p[1] == q[1]);
  }
  assert_same(sb_collision_contacts(x), sb_collision_contacts(y), 1);
  sb_collision_destroy(x);
  sb_collision_destroy(y);
  scene_free(s);
}

static void tasks_and_lanes_change_nothing(void **state)
{
  (void)state;
  uint64_t seed = 5;
  collision_scene *s = scene_new();
  for (int w = 0; w < 40; w++) {
    scene_world(s);
    scene_jumble(s, &seed, w == 11 ? 900 : 20, w == 11 ? 6.0f : 1.5f);
  }
  for (uint32_t broad = 0; broad < 2; broad++) {
    sb_collision_settings one = settings_with(broad, 1);
    sb_collision *base = step_with(s, &one, NULL);
    assert_true(sb_collision_contacts(base)->count > 1000);
    assert_canonical(sb_collision_contacts(base), scene_model(s));
    static const uint32_t lanes[] = {1, 4, 8};
    for (int l = 0; l < 3; l++) {
#if defined(__x86_64__)
      if (lanes[l] == 8 && !__builtin_cpu_supports("avx2")) continue;
#endif
      sb_collision_settings wide = settings_with(broad, lanes[l]);
      for (uint32_t run = 0; run < 6; run++) {
        scene_tasks t = {run + 1, 4};
        sb_collision_tasks tasks = run < 4 ? scene_shuffled(&t) : scene_threaded(&t);
        sb_collision *c = step_with(s, &wide, run == 0 ? NULL : &tasks);
        assert_int_equal(sb_collision_lanes(c), lanes[l]);
        assert_same(sb_collision_contacts(base), sb_collision_contacts(c), 40);
        sb_collision_destroy(c);
      }
    }
    sb_collision_destroy(base);
  }
  scene_free(s);
}

/* Steps at other poses in between leave no trace. */
static void nothing_survives_a_step(void **state)
{
  (void)state;
  uint64_t seed = 9;
  collision_scene *s = scene_new();
  scene_world(s);
  scene_jumble(s, &seed, 300, 3.0f);
  sb_model *m = scene_model(s);
  sb_collision_settings sap = settings_with(SB_BROAD_SAP, 0);
  sb_collision *fresh = step_with(s, &sap, NULL);
  sb_collision *used;
  assert_int_equal(sb_collision_create(m, &sap, &used), SB_OK);
  float *moved = malloc(m->body_count * 7 * sizeof *moved);
  assert_non_null(moved);
  for (int i = 0; i < 5; i++) {
    for (uint32_t b = 0; b < m->body_count; b++) {
      scene_pose p = scene_random_pose(&seed, i == 2 ? 1e20f : 2.0f);
      memcpy(moved + 7 * b, p.v, sizeof p.v);
    }
    if (i == 4) moved[7] = NAN, moved[14] = INFINITY, moved[25] = -INFINITY;
    sb_status status = sb_collision_step(used, moved, NULL);
    assert_true(status == SB_OK || status == SB_E_CAPACITY);
  }
  free(moved);
  assert_int_equal(sb_collision_step(used, m->body_q, NULL), SB_OK);
  assert_same(sb_collision_contacts(fresh), sb_collision_contacts(used), 1);
  sb_collision_destroy(fresh);
  sb_collision_destroy(used);
  scene_free(s);
}

static void worlds_are_alone(void **state)
{
  (void)state;
  collision_scene *many = scene_new();
  uint64_t seeds[5];
  uint64_t seed = 3;
  for (int w = 0; w < 5; w++) {
    seeds[w] = seed;
    scene_world(many);
    scene_jumble(many, &seed, 60 + 40 * (uint32_t)w, 2.5f);
  }
  sb_collision_settings sap = settings_with(SB_BROAD_SAP, 0);
  sb_collision *c = step_with(many, &sap, NULL);
  const sb_contacts *x = sb_collision_contacts(c);
  const sb_model *m = scene_model(many);
  for (int w = 0; w < 5; w++) {
    collision_scene *one = scene_new();
    uint64_t again = seeds[w];
    scene_world(one);
    scene_jumble(one, &again, 60 + 40 * (uint32_t)w, 2.5f);
    sb_collision *alone = step_with(one, &sap, NULL);
    const sb_contacts *y = sb_collision_contacts(alone);
    assert_true(y->count > 50);
    assert_int_equal(x->world_start[w + 1] - x->world_start[w], y->count);
    assert_true(scene_contacts_equal(y, 0, x, x->world_start[w], y->count, w, (int32_t)m->world_shape_start[w],
                                     (int32_t)m->world_body_start[w]));
    sb_collision_destroy(alone);
    scene_free(one);
  }
  sb_collision_destroy(c);
  scene_free(many);
}

/* Unrelated bodies appended later may change axes and cells of the sweep, but no bit of earlier contacts. */
static void later_bodies_change_nothing(void **state)
{
  (void)state;
  sb_collision_settings sap = settings_with(SB_BROAD_SAP, 0);
  uint64_t seed = 21;
  collision_scene *s = scene_new();
  scene_world(s);
  scene_jumble(s, &seed, 200, 3.0f);
  sb_collision *before = step_with(s, &sap, NULL);
  const sb_contacts *x = sb_collision_contacts(before);
  assert_true(x->count > 100);
  collision_scene *t = scene_new();
  seed = 21;
  scene_world(t);
  scene_jumble(t, &seed, 200, 3.0f);
  int32_t first = (int32_t)scene_model(t)->shape_count;
  for (int i = 0; i < 300; i++) {
    scene_pose p = scene_random_pose(&seed, 4.0f);
    p.v[1] = 50.0f + 20.0f * p.v[1];
    p.v[2] += 3000.0f * (float)(i % 2);
    if (p.v[1] < 40.0f) p.v[1] = 40.0f;
    scene_free_shape(t, p, SB_SHAPE_BOX, 0.5f, 0.5f, 0.5f);
  }
  sb_collision *after = step_with(t, &sap, NULL);
  const sb_contacts *y = sb_collision_contacts(after);
  uint32_t k = 0;
  for (uint32_t i = 0; i < y->count; i++) {
    if (y->shape_b[i] >= first) continue;
    assert_true(k < x->count && scene_contacts_equal(x, k, y, i, 1, 0, 0, 0));
    k++;
  }
  assert_int_equal(k, x->count);
  assert_true(y->count > x->count);
  sb_collision_destroy(before);
  sb_collision_destroy(after);
  scene_free(s);
  scene_free(t);
}

static void overflow_says_what_is_needed(void **state)
{
  (void)state;
  uint64_t seed = 1;
  collision_scene *s = scene_new();
  for (int w = 0; w < 3; w++) {
    scene_world(s);
    scene_jumble(s, &seed, 100, 1.5f);
  }
  sb_collision_settings x = settings_with(SB_BROAD_SAP, 0);
  sb_collision *base = step_with(s, &x, NULL);
  for (int threaded = 0; threaded < 2; threaded++) {
    scene_tasks t = {4, 3};
    sb_collision_tasks tasks = scene_threaded(&t);
    sb_collision_settings small = x;
    small.pair_capacity = 7;
    small.contact_capacity = 5;
    for (int attempt = 0; attempt < 3; attempt++) {
      sb_collision *c;
      assert_int_equal(sb_collision_create(scene_model(s), &small, &c), SB_OK);
      sb_status status = sb_collision_step(c, scene_model(s)->body_q, threaded ? &tasks : NULL);
      sb_collision_usage u = sb_collision_get_usage(c);
      assert_int_equal(status, attempt < 2 ? SB_E_CAPACITY : SB_OK);
      if (status != SB_OK) {
        assert_int_equal(sb_collision_contacts(c)->count, 0);
        assert_int_equal(sb_collision_contacts(c)->world_start[3], 0);
      }
      if (attempt == 0) assert_true(u.pair_count > u.pair_capacity && u.pair_peak == u.pair_count);
      if (attempt == 1) assert_true(u.pair_count == u.pair_capacity && u.contact_count > u.contact_capacity);
      if (attempt == 2) assert_same(sb_collision_contacts(base), sb_collision_contacts(c), 3);
      if (attempt == 0) small.pair_capacity = u.pair_count;
      if (attempt == 1) small.contact_capacity = u.contact_count;
      sb_collision_destroy(c);
    }
  }
  sb_collision_destroy(base);
  scene_free(s);
}

static uint32_t contacts_of(const sb_contacts *x, int32_t a, int32_t b)
{
  uint32_t n = 0;
  for (uint32_t i = 0; i < x->count; i++) n += x->shape_a[i] == a && x->shape_b[i] == b;
  return n;
}

static void stacks_have_four_points(void **state)
{
  (void)state;
  collision_scene *s = scene_new();
  scene_world(s);
  scene_shape(s, -1, SB_SHAPE_PLANE, 0, 0, 0);
  for (int i = 0; i < 6; i++)
    scene_free_shape(s, scene_turned(0, 0, 0.5f + 1.0f * (float)i, 0, 0, 1, 0.3 * i), SB_SHAPE_BOX, 0.5f, 0.5f, 0.5f);
  int32_t wide = scene_free_shape(s, scene_at(10, 0, 0.25f), SB_SHAPE_BOX, 2.0f, 2.0f, 0.25f);
  int32_t mirror[4];
  for (int i = 0; i < 4; i++)
    mirror[i] = scene_free_shape(s, scene_at(10 + (i & 1 ? 1.25f : -1.25f), i & 2 ? 1.25f : -1.25f, 1.0f), SB_SHAPE_BOX,
                                 0.5f, 0.5f, 0.5f);
  sb_collision_settings x = settings_with(SB_BROAD_SAP, 0);
  sb_collision *c = step_with(s, &x, NULL);
  const sb_contacts *k = sb_collision_contacts(c);
  assert_int_equal(contacts_of(k, 0, 1), 4);
  for (int32_t i = 1; i < 6; i++) assert_int_equal(contacts_of(k, i, i + 1), 4);
  for (int i = 0; i < 4; i++) {
    assert_int_equal(contacts_of(k, wide, mirror[i]), 4);
    double sum[2] = {0, 0};
    for (uint32_t j = 0; j < k->count; j++) {
      if (k->shape_b[j] != mirror[i]) continue;
      sum[0] += k->point_b[3 * j];
      sum[1] += k->point_b[3 * j + 1];
      assert_true(k->normal[3 * j + 2] == 1.0f && fabsf(k->gap[j]) < 1e-6f);
      assert_true(k->point_b[3 * j + 2] == -0.5f);
    }
    assert_true(sum[0] == 0.0 && sum[1] == 0.0);
  }
  sb_collision_destroy(c);
  scene_free(s);
}

/* Lying capsules have two points, slightly tilted ones too; crossed or standing ones have one. */
static void capsules_have_two_points(void **state)
{
  (void)state;
  for (int tilted = 0; tilted < 2; tilted++) {
    double quarter = 1.5707963267948966 + 1e-4 * tilted;
    collision_scene *s = scene_new();
    scene_world(s);
    scene_shape(s, -1, SB_SHAPE_PLANE, 0, 0, 0);
    int32_t box = scene_free_shape(s, scene_at(0, 0, 0.5f), SB_SHAPE_BOX, 2.0f, 2.0f, 0.5f);
    int32_t low = scene_free_shape(s, scene_turned(0, 0, 1.2f, 0, 1, 0, quarter), SB_SHAPE_CAPSULE, 0.2f, 1.0f, 0);
    int32_t high = scene_free_shape(s, scene_turned(0.5f, 0, 1.6f, 0, 1, 0, quarter), SB_SHAPE_CAPSULE, 0.2f, 1.0f, 0);
    int32_t over = scene_free_shape(s, scene_turned(0, 1.0f, 1.2f, 0, 1, 0, quarter), SB_SHAPE_CAPSULE, 0.2f, 5.0f, 0);
    int32_t cross = scene_free_shape(s, scene_turned(0, 0, 2.0f, 1, 0, 0, quarter), SB_SHAPE_CAPSULE, 0.2f, 1.0f, 0);
    int32_t stand = scene_free_shape(s, scene_at(-1.5f, -1.5f, 1.7f), SB_SHAPE_CAPSULE, 0.2f, 0.5f, 0);
    int32_t ground = scene_free_shape(s, scene_turned(9, 0, 0.2f, 0, 1, 0, quarter), SB_SHAPE_CAPSULE, 0.2f, 1.0f, 0);
    sb_collision_settings x = settings_with(SB_BROAD_SAP, 0);
    sb_collision *c = step_with(s, &x, NULL);
    const sb_contacts *k = sb_collision_contacts(c);
    assert_int_equal(contacts_of(k, box, low), 2);
    assert_int_equal(contacts_of(k, low, high), 2);
    assert_int_equal(contacts_of(k, box, over), 2);
    assert_int_equal(contacts_of(k, high, cross), 1);
    assert_int_equal(contacts_of(k, box, stand), 1);
    assert_int_equal(contacts_of(k, 0, ground), 2);
    sb_collision_destroy(c);
    scene_free(s);
  }
}

/* Small tilts and shifts keep number and ids of a resting box's points. */
static void ids_are_stable(void **state)
{
  (void)state;
  uint64_t seed = 12;
  uint64_t ids[4] = {0};
  for (int i = 0; i < 200; i++) {
    collision_scene *s = scene_new();
    scene_world(s);
    scene_free_shape(s, scene_at(0, 0, 0), SB_SHAPE_BOX, 2.0f, 2.0f, 0.5f);
    float r[6];
    for (int k = 0; k < 6; k++) r[k] = scene_random(&seed, -1.0f, 1.0f);
    scene_free_shape(
        s,
        scene_turned(0.4f + 1e-4f * r[0], 0.3f, 0.9995f + 1e-4f * r[1], r[2], r[3], r[4] + 2.0f, 1e-4 * (double)r[5]),
        SB_SHAPE_BOX, 0.5f, 0.5f, 0.5f);
    sb_collision_settings x = settings_with(SB_BROAD_SAP, 0);
    sb_collision *c = step_with(s, &x, NULL);
    const sb_contacts *k = sb_collision_contacts(c);
    assert_int_equal(k->count, 4);
    for (uint32_t j = 0; j < 4; j++) {
      if (i == 0) ids[j] = k->key[j];
      assert_int_equal(k->key[j], ids[j]);
    }
    sb_collision_destroy(c);
    scene_free(s);
  }
}

/* Twelve overlapping spheres on bodies of all relations; shape i is on body i (11 on the world). */
static void filters_apply(void **state)
{
  (void)state;
  collision_scene *s = scene_new();
  scene_world(s);
  for (int i = 0; i < 11; i++) {
    int32_t b = scene_body(s, scene_at(0.01f * (float)i, 0, 0), i >= 9 ? SB_BODY_STATIC : 0);
    scene_shape(s, b, SB_SHAPE_SPHERE, 0.5f, 0, 0);
  }
  scene_shape(s, -1, SB_SHAPE_SPHERE, 0.5f, 0, 0);
  scene_exclude(s, 0, 1);
  scene_exclude(s, 2, 9);
  scene_pair(s, 3, 4, 0.9f, 0.0f);  /* listed although welded */
  scene_pair(s, 9, 10, 0.9f, 0.0f); /* both static: never */
  scene_pair(s, 0, 5, 0.7f, 0.0f);
  scene_pair(s, 0, 5, 0.1f, 0.0f); /* again: the first counts */
  sb_model *m = scene_model(s);
  int32_t *weld = (int32_t *)(uintptr_t)m->body_weld;
  int32_t *parent = (int32_t *)(uintptr_t)m->body_weld_parent;
  uint32_t *contype = (uint32_t *)(uintptr_t)m->shape_contype;
  uint32_t *affinity = (uint32_t *)(uintptr_t)m->shape_conaffinity;
  weld[4] = weld[5] = 3; /* bodies 3, 4, 5 welded */
  parent[4] = parent[5] = 3;
  parent[6] = 3;  /* 6 hangs on that group */
  parent[7] = -1; /* 7 hangs on the world: static shapes still collide with it */
  contype[8] = 2;
  affinity[8] = 0; /* meets nobody's affinity */
  float *friction = (float *)(uintptr_t)m->shape_friction;
  friction[3 * 2] = 1.25f;
  friction[3 * 2 + 1] = 0.01f;
  friction[3 * 2 + 2] = 0.02f;
  ((uint32_t *)(uintptr_t)m->shape_condim)[7] = 4;
  ((float *)(uintptr_t)m->shape_restitution)[7] = 0.25f;
  for (uint32_t broad = 0; broad < 2; broad++) {
    sb_collision_settings x = settings_with(broad, 0);
    sb_collision *c = step_with(s, &x, NULL);
    const sb_contacts *k = sb_collision_contacts(c);
    for (int32_t a = 0; a < 12; a++)
      for (int32_t b = a + 1; b < 12; b++) {
        bool expect = a < 9 && a != 8 && b != 8;
        if (a == 0 && b == 1) expect = false;
        if (a == 2 && b == 9) expect = false;
        if (a >= 3 && a <= 5 && b <= 6) expect = a == 3 && b == 4;
        assert_int_equal(contacts_of(k, a, b), expect);
      }
    for (uint32_t i = 0; i < k->count; i++) {
      int32_t a = k->shape_a[i], b = k->shape_b[i];
      assert_int_equal(k->body_b[i], b >= 9 ? -1 : b);
      float slide = a == 2 || b == 2 ? 1.25f : 0.5f;
      if (a == 3 && b == 4) slide = 0.9f;
      if (a == 0 && b == 5) slide = 0.7f;
      assert_true(k->friction[3 * i] == slide);
      bool turning = (a == 2 && b == 7);
      assert_true(k->friction[3 * i + 1] == (turning ? 0.01f : 0.0f) && k->friction[3 * i + 2] == 0.0f);
      assert_true(k->restitution[i] == (a == 7 || b == 7 ? 0.25f : 0.0f));
    }
    sb_collision_destroy(c);
  }
  scene_free(s);
}

/* The same contacts on every machine: one golden value for all compilers, processors and lane widths. It changes only
 * with the numerics; the failure message gives the new one. */
static void contacts_have_the_golden_hash(void **state)
{
  (void)state;
  uint64_t seed = 2024;
  collision_scene *s = scene_new();
  for (int w = 0; w < 8; w++) {
    scene_world(s);
    scene_jumble(s, &seed, 150, 2.0f);
  }
  sb_collision_settings x = settings_with(SB_BROAD_SAP, 0);
  sb_collision *c = step_with(s, &x, NULL);
  uint64_t hash = scene_contacts_hash(sb_collision_contacts(c));
  if (hash != COLLISION_GOLDEN) print_message("hash of contacts: 0x%016llx\n", (unsigned long long)hash);
  assert_true(hash == COLLISION_GOLDEN);
  sb_collision_destroy(c);
  scene_free(s);
}

static void listed_pairs_reach_their_margin(void **state)
{
  (void)state;
  const uint32_t phases[] = {SB_BROAD_ALL_PAIRS, SB_BROAD_SAP};
  for (int i = 0; i < 2; i++) {
    collision_scene *s = scene_new();
    scene_world(s);
    scene_free_shape(s, scene_at(0, 0, 0), SB_SHAPE_SPHERE, 0.1f, 0, 0);
    scene_free_shape(s, scene_at(0.5f, 0, 0), SB_SHAPE_SPHERE, 0.1f, 0, 0); /* 0.3 m apart */
    scene_pair(s, 0, 1, 0.5f, 0.5f);
    sb_collision_settings x = settings_with(phases[i], 0);
    sb_collision *c = step_with(s, &x, NULL);
    assert_int_equal(sb_collision_contacts(c)->count, 1);
    sb_collision_destroy(c);
    scene_free(s);
  }
}

static void bad_settings_are_refused(void **state)
{
  (void)state;
  collision_scene *s = scene_new();
  scene_world(s);
  scene_free_shape(s, scene_at(0, 0, 0), SB_SHAPE_SPHERE, 1, 0, 0);
  sb_collision *c = NULL;
  sb_collision_settings x = sb_collision_default_settings();
  assert_int_equal(sb_collision_create(NULL, &x, &c), SB_E_ARGUMENT);
  assert_int_equal(sb_collision_create(scene_model(s), &x, NULL), SB_E_ARGUMENT);
  x.lanes = 3;
  assert_int_equal(sb_collision_create(scene_model(s), &x, &c), SB_E_ARGUMENT);
  x = sb_collision_default_settings();
  x.speculative_margin = NAN;
  assert_int_equal(sb_collision_create(scene_model(s), &x, &c), SB_E_ARGUMENT);
  x = sb_collision_default_settings();
  x.broad_phase = 9;
  assert_int_equal(sb_collision_create(scene_model(s), &x, &c), SB_E_ARGUMENT);
  x = sb_collision_default_settings();
  x.struct_size = 4;
  assert_int_equal(sb_collision_create(scene_model(s), &x, &c), SB_E_ARGUMENT);
  scene_shape(s, 0, 17, 0, 0, 0);
  assert_int_equal(sb_collision_create(scene_model(s), NULL, &c), SB_E_UNSUPPORTED);
  assert_null(c);
  sb_collision_destroy(NULL);
  scene_free(s);
}

static void empty_models_are_fine(void **state)
{
  (void)state;
  collision_scene *s = scene_new();
  for (int i = 0; i < 3; i++) scene_world(s);
  sb_collision *c = step_with(s, NULL, NULL);
  assert_int_equal(sb_collision_contacts(c)->count, 0);
  sb_collision_destroy(c);
  scene_free(s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(broad_phases_agree),
      cmocka_unit_test(broad_phases_agree_on_many_bodies),
      cmocka_unit_test(tasks_and_lanes_change_nothing),
      cmocka_unit_test(nothing_survives_a_step),
      cmocka_unit_test(worlds_are_alone),
      cmocka_unit_test(later_bodies_change_nothing),
      cmocka_unit_test(overflow_says_what_is_needed),
      cmocka_unit_test(stacks_have_four_points),
      cmocka_unit_test(capsules_have_two_points),
      cmocka_unit_test(ids_are_stable),
      cmocka_unit_test(filters_apply),
      cmocka_unit_test(contacts_have_the_golden_hash),
      cmocka_unit_test(listed_pairs_reach_their_margin),
      cmocka_unit_test(bad_settings_are_refused),
      cmocka_unit_test(empty_models_are_fine),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
