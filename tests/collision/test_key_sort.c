/* Sorting by keys: ties keep their order, and the pipeline's keys have none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "collision_scene.h"
#include "key_sort.h"

#define COUNT 5000u

/* Few keys for many items: with ties everywhere, one order is right. */
static void equal_keys_keep_their_order(void **state)
{
  (void)state;
  static key_item items[COUNT], scratch[COUNT];
  static const uint64_t masks[] = {0, 1, 7, 0xff00, (uint64_t)3 << 62, 0x8000000000000001u};
  for (size_t m = 0; m < sizeof masks / sizeof masks[0]; m++) {
    uint64_t random = 88172645463325252u;
    for (uint32_t i = 0; i < COUNT; i++) {
      random ^= random << 13, random ^= random >> 7, random ^= random << 17;
      items[i] = (key_item){.key = random & masks[m], .value = i};
    }
    key_sort(items, scratch, COUNT);
    for (uint32_t i = 1; i < COUNT; i++) {
      assert_true(items[i - 1].key <= items[i].key);
      if (items[i - 1].key == items[i].key) assert_true(items[i - 1].value < items[i].value);
    }
  }
}

/* Shapes that lie exactly in one another: equal boxes, distances and normals, and still no two equal keys. */
static void keys_of_contacts_are_unique(void **state)
{
  (void)state;
  collision_scene *s = scene_new();
  for (int w = 0; w < 2; w++) {
    scene_world(s);
    for (int k = 0; k < 6; k++) scene_free_shape(s, scene_at(0, 0, 0), k % 2 ? SB_SHAPE_BOX : SB_SHAPE_SPHERE, 0.5f, 0.5f, 0.5f);
  }
  sb_collision_settings settings = sb_collision_default_settings();
  sb_collision *c;
  assert_int_equal(sb_collision_create(scene_model(s), &settings, &c), SB_OK);
  assert_int_equal(sb_collision_step(c, scene_model(s)->body_q, NULL), SB_OK);
  const sb_contacts *contacts = sb_collision_contacts(c);
  assert_true(contacts->count >= 30);
  for (uint32_t i = 1; i < contacts->count; i++)
    if (contacts->world[i] == contacts->world[i - 1]) assert_true(contacts->key[i - 1] < contacts->key[i]);
  sb_collision_destroy(c);
  scene_free(s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(equal_keys_keep_their_order), cmocka_unit_test(keys_of_contacts_are_unique)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
