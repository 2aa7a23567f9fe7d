/* Bad scenes: each gives its one diagnostic at its line, and mutated files never crash or leak (run under ASan). */
#include "scene_fixture.h"

#include <locale.h>

#define M(inside) "<mujoco>\n<worldbody>\n" inside "\n</worldbody>\n</mujoco>"
#define FREE(inside) M("<body name='b'><freejoint/>\n" inside "\n</body>")
#define LINK(name, inside) "<link name='" name "'>" inside "</link>\n"
#define MASS "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"

typedef struct bad_scene {
  const char *text;
  int line; /* 0 when the place has no line */
  sb_code code;
} bad_scene;

static const bad_scene bad_scenes[] = {
    {"no scene", 1, SB_CODE_SCENE_XML},
    {"<mujoco>\n<worldbody>\n</mujoco>", 3, SB_CODE_SCENE_XML},
    {"<mujoco>", 1, SB_CODE_SCENE_XML},
    {"<html/>", 1, SB_CODE_SCENE_FORMAT},
    {"<?xml version='1.0'?>\n<!DOCTYPE m [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;'>]>\n<mujoco model='&b;'/>", 2,
     SB_CODE_SCENE_XML},
    {"<!DOCTYPE mujoco SYSTEM 'http://127.0.0.1/x.dtd'>\n<mujoco/>", 1, SB_CODE_SCENE_XML},
    {"<mujoco model='&undefined;'/>", 1, SB_CODE_SCENE_XML},
    {FREE("<geom size='big'/>"), 4, SB_CODE_SCENE_NUMBER},
    {FREE("<geom size='nan'/>"), 4, SB_CODE_SCENE_NUMBER},
    {FREE("<geom size='inf'/>"), 4, SB_CODE_SCENE_NUMBER},
    {FREE("<geom size='0x1p3'/>"), 4, SB_CODE_SCENE_NUMBER},
    {FREE("<geom size='1e999'/>"), 4, SB_CODE_SCENE_NUMBER},
    {FREE("<geom size='1,5'/>"), 4, SB_CODE_SCENE_NUMBER},
    {FREE("<geom size='0.1' pos='1 2'/>"), 4, SB_CODE_SCENE_NUMBER},
    {FREE("<geom size='0.1' pos='1 2 3 4'/>"), 4, SB_CODE_SCENE_NUMBER},
    {FREE("<geom size='0.1' pos='1e300 0 0'/>"), 4, SB_CODE_SCENE_NUMBER},
    {FREE("<geom size='1e9'/>"), 0, SB_CODE_SCENE_INVALID},
    {FREE("<geom size='-1'/>"), 4, SB_CODE_SCENE_VALUE},
    {FREE("<geom size='0'/>"), 4, SB_CODE_SCENE_VALUE},
    {FREE("<geom/>"), 4, SB_CODE_SCENE_ATTRIBUTE},
    {FREE("<geom type='capsule' size='1'/>"), 4, SB_CODE_SCENE_ATTRIBUTE},
    {FREE("<geom type='capsule' size='1' fromto='0 0 1 0 0 1'/>"), 4, SB_CODE_SCENE_VALUE},
    {FREE("<geom type='ball' size='1'/>"), 4, SB_CODE_SCENE_VALUE},
    {FREE("<geom type='plane'/><geom size='1'/>"), 3, SB_CODE_SCENE_STRUCTURE},
    {FREE("<geom size='1' quat='0 0 0 0'/>"), 4, SB_CODE_SCENE_VALUE},
    {FREE("<geom size='1' zaxis='0 0 0'/>"), 4, SB_CODE_SCENE_VALUE},
    {FREE("<geom size='1' xyaxes='1 0 0 2 0 0'/>"), 4, SB_CODE_SCENE_VALUE},
    {FREE("<geom size='1' friction='-1'/>"), 4, SB_CODE_SCENE_VALUE},
    {FREE("<geom size='1' condim='2'/>"), 4, SB_CODE_SCENE_VALUE},
    {FREE("<geom size='1' contype='1.5'/>"), 4, SB_CODE_SCENE_VALUE},
    {FREE("<geom size='1' density='-1'/>"), 4, SB_CODE_SCENE_VALUE},
    {FREE("<geom size='1' class='none'/>"), 4, SB_CODE_SCENE_REFERENCE},
    {FREE("<geom size='1' name='g'/>\n<geom size='1' name='g'/>"), 5, SB_CODE_SCENE_DUPLICATE},
    {FREE(""), 3, SB_CODE_SCENE_MASS},
    {FREE("<inertial pos='0 0 0' mass='1' diaginertia='1 1 3'/>"), 3, SB_CODE_SCENE_MASS},
    {FREE("<inertial pos='0 0 0' mass='1' fullinertia='1 1 1 2 0 0'/>"), 3, SB_CODE_SCENE_MASS},
    {FREE("<inertial mass='1'/>"), 4, SB_CODE_SCENE_ATTRIBUTE},
    {FREE("<geom size='1'/><body><freejoint/>\n<geom size='1'/></body>"), 4, SB_CODE_SCENE_STRUCTURE},
    {FREE("<joint/><geom size='1'/>"), 3, SB_CODE_SCENE_STRUCTURE},
    {M("<body><joint axis='0 0 0'/><geom size='1'/></body>"), 3, SB_CODE_SCENE_VALUE},
    {M("<body><joint range='2 1'/><geom size='1'/></body>"), 3, SB_CODE_SCENE_VALUE},
    {M("<body><joint limited='true'/><geom size='1'/></body>"), 3, SB_CODE_SCENE_ATTRIBUTE},
    {M("<body><joint damping='-1'/><geom size='1'/></body>"), 3, SB_CODE_SCENE_VALUE},
    {M("<body><joint ref='1e12'/><geom size='1'/></body>"), 0, SB_CODE_SCENE_INVALID},
    {M("<joint/>"), 3, SB_CODE_SCENE_STRUCTURE},
    {"<mujoco>\n<compiler angle='grad'/>\n</mujoco>", 2, SB_CODE_SCENE_VALUE},
    {"<mujoco>\n<compiler eulerseq='xyw'/>\n</mujoco>", 2, SB_CODE_SCENE_VALUE},
    {"<mujoco>\n<compiler coordinate='global'/>\n</mujoco>", 2, SB_CODE_SCENE_VALUE},
    {"<mujoco>\n<option timestep='0'/>\n</mujoco>", 2, SB_CODE_SCENE_NUMBER},
    {"<mujoco>\n<option timestep='-0.1'/>\n</mujoco>", 2, SB_CODE_SCENE_NUMBER},
    {"<mujoco>\n<option timestep='0.00000000001'/>\n</mujoco>", 2, SB_CODE_SCENE_NUMBER},
    {"<mujoco>\n<default>\n<default/>\n</default>\n</mujoco>", 3, SB_CODE_SCENE_ATTRIBUTE},
    {"<mujoco>\n<include/>\n</mujoco>", 2, SB_CODE_SCENE_ATTRIBUTE},
    {"<mujoco>\n<include file='absent_scene_part.xml'/>\n</mujoco>", 2, SB_CODE_SCENE_FILE},
    {"<mujoco>\n<contact>\n<exclude body1='a' body2='b'/>\n</contact>\n</mujoco>", 3, SB_CODE_SCENE_REFERENCE},
    {"<mujoco>\n<contact>\n<pair geom1='a'/>\n</contact>\n</mujoco>", 3, SB_CODE_SCENE_REFERENCE},
    {"<mujoco>\n<actuator>\n<motor/>\n</actuator>\n</mujoco>", 3, SB_CODE_SCENE_ATTRIBUTE},
    {"<mujoco>\n<actuator>\n<motor joint='x'/>\n</actuator>\n</mujoco>", 3, SB_CODE_SCENE_REFERENCE},
    {"<robot/>", 1, SB_CODE_SCENE_STRUCTURE},
    {"<robot>\n<link/>\n</robot>", 2, SB_CODE_SCENE_ATTRIBUTE},
    {"<robot>\n" LINK("a", "") LINK("a", "") "</robot>", 3, SB_CODE_SCENE_DUPLICATE},
    {"<robot>\n" LINK("a", "") LINK("b", "") "</robot>", 3, SB_CODE_SCENE_STRUCTURE},
    {"<robot>\n" LINK("a", "")
         LINK("b", "") "<joint name='j' type='fixed'><parent link='c'/><child link='b'/></joint></robot>",
     4, SB_CODE_SCENE_REFERENCE},
    {"<robot>\n" LINK("a", "") LINK("b", "") "<joint name='j' type='fixed'><parent link='a'/></joint></robot>", 4,
     SB_CODE_SCENE_ATTRIBUTE},
    {"<robot>\n" LINK("a", "") "<joint name='j' type='fixed'><parent link='a'/><child link='a'/></joint></robot>", 3,
     SB_CODE_SCENE_STRUCTURE},
    {"<robot>\n" LINK("r", "") LINK("a", "")
         LINK("b", "") "<joint name='j' type='fixed'><parent link='a'/><child link='b'/></joint>"
                       "<joint name='k' type='fixed'><parent link='b'/><child link='a'/></joint></robot>",
     1, SB_CODE_SCENE_STRUCTURE},
    {"<robot>\n" LINK("a", "")
         LINK("b", "") "<joint name='j' type='continuous'><parent link='a'/><child link='b'/></joint></robot>",
     3, SB_CODE_SCENE_MASS},
    {"<robot>\n" LINK("a", "")
         LINK("b", MASS) "<joint name='j' type='hinge'><parent link='a'/><child link='b'/></joint></robot>",
     4, SB_CODE_SCENE_VALUE},
    {"<robot>\n" LINK("a", "") LINK("b", MASS) "<joint name='j' type='revolute'><parent link='a'/><child "
                                               "link='b'/>\n<limit lower='1' upper='0'/></joint></robot>",
     5, SB_CODE_SCENE_VALUE},
    {"<robot>\n" LINK("a", "") LINK("b", MASS) "<joint name='j' type='continuous'><parent link='a'/><child "
                                               "link='b'/>\n<axis xyz='0 0 0'/></joint></robot>",
     5, SB_CODE_SCENE_VALUE},
    {"<robot>\n" LINK("a", "<inertial><mass value='-1'/></inertial>") "</robot>", 2, SB_CODE_SCENE_VALUE},
    {"<robot>\n" LINK("a", "<inertial/>") "</robot>", 2, SB_CODE_SCENE_ATTRIBUTE},
    {"<robot>\n" LINK("a", "<collision><geometry><box size='1 1'/></geometry></collision>") "</robot>", 2,
     SB_CODE_SCENE_NUMBER},
    {"<robot>\n" LINK("a", "<collision><geometry><sphere radius='0'/></geometry></collision>") "</robot>", 2,
     SB_CODE_SCENE_VALUE},
    {"<robot>\n" LINK("a", "<collision><geometry/></collision>") "</robot>", 2, SB_CODE_SCENE_ATTRIBUTE},
    {"SBMODEL\nand then nothing", 0, SB_CODE_COOKED_DAMAGED}};

static void expect_one(size_t number, sb_status status, sb_model_store *store, sb_diagnostics *diag, sb_code code,
                       const char *where)
{
  if (status == SB_OK) fail_msg("case %zu loads", number);
  assert_null(store);
  size_t errors = 0;
  for (size_t i = 0; i < diag->count; i++) {
    const sb_diagnostic *d = &diag->items[i];
    if (d->severity != SB_ERROR) continue;
    errors++;
    if (d->code != code || (where && strcmp(d->where, where)))
      fail_msg("case %zu: expected %s at %s, found %s at %s: %s", number, sb_code_name(code),
               where ? where : "any place", sb_code_name(d->code), d->where, d->message);
  }
  if (errors != 1) fail_msg("case %zu: expected one error, found %zu", number, errors);
  sb_diagnostics_clear(diag);
}

static void test_table(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof bad_scenes / sizeof *bad_scenes; i++) {
    sb_diagnostics diag = {0};
    sb_model_store *store = NULL;
    char where[128];
    snprintf(where, sizeof where, "%s:%d", fixture_path(), bad_scenes[i].line);
    sb_status status = fixture_load_bytes(bad_scenes[i].text, strlen(bad_scenes[i].text), &store, &diag);
    expect_one(i, status, store, &diag, bad_scenes[i].code, bad_scenes[i].line ? where : NULL);
  }
}

static void test_files(void **state)
{
  (void)state;
  sb_diagnostics diag = {0};
  sb_model_store *store = NULL;
  sb_scene_request request = {.scene = "absent_scene.xml", .where = "x.ini:3"};
  expect_one(0, sb_scene_load(&request, &store, &diag), store, &diag, SB_CODE_SCENE_FILE, "x.ini:3");
  request.scene = ".";
  expect_one(1, sb_scene_load(&request, &store, &diag), store, &diag, SB_CODE_SCENE_FILE, "x.ini:3");
  request.scene = "/dev/zero";
  expect_one(2, sb_scene_load(&request, &store, &diag), store, &diag, SB_CODE_SCENE_FILE, "x.ini:3");
  request.scene = "";
  expect_one(3, sb_scene_load(&request, &store, &diag), store, &diag, SB_CODE_SCENE_FILE, "x.ini:3");
  request.scene = fixture_path();
  fixture_write(request.scene, "", 0);
  expect_one(4, sb_scene_load(&request, &store, &diag), store, &diag, SB_CODE_SCENE_FORMAT, "x.ini:3");
  fixture_write(request.scene, "<mujoco/>", 9);
  request.max_file_size = 8;
  expect_one(5, sb_scene_load(&request, &store, &diag), store, &diag, SB_CODE_SCENE_SIZE, "x.ini:3");
  request.max_file_size = 9;
  assert_int_equal(sb_scene_load(&request, &store, &diag), SB_OK);
  sb_model_store_free(store);
  const sb_scene_param param = {"rows", "3", "x.ini:5"};
  request.params = &param;
  request.param_count = 1;
  store = NULL;
  expect_one(6, sb_scene_load(&request, &store, &diag), store, &diag, SB_CODE_SCENE_PARAMETER, "x.ini:5");
  remove(request.scene);
}

static void test_generator_parameters(void **state)
{
  (void)state;
  static const struct {
    const char *scene, *key, *value, *part;
    sb_code code;
  } cases[] = {{"generator:pyramidd", NULL, NULL, "'pyramid'", SB_CODE_SCENE_GENERATOR},
               {"generator:", NULL, NULL, "box_stack", SB_CODE_SCENE_GENERATOR},
               {"generator:pyramid", "row", "3", "'rows'", SB_CODE_SCENE_PARAMETER},
               {"generator:pyramid", "rows", "0", "from 1 to 200", SB_CODE_SCENE_PARAMETER},
               {"generator:pyramid", "rows", "2.5", "whole", SB_CODE_SCENE_PARAMETER},
               {"generator:pyramid", "friction", "nan", "number", SB_CODE_SCENE_PARAMETER},
               {"generator:pyramid", "friction", "", "number", SB_CODE_SCENE_PARAMETER},
               {"generator:arms", "pose", "hung", "hang, bent", SB_CODE_SCENE_PARAMETER}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const sb_scene_param param = {cases[i].key, cases[i].value, NULL};
    sb_scene_request request = {.scene = cases[i].scene, .params = &param, .param_count = cases[i].key ? 1 : 0};
    sb_diagnostics diag = {0};
    sb_model_store *store = NULL;
    sb_status status = sb_scene_load(&request, &store, &diag);
    assert_int_equal(diag.count, 1);
    if (!strstr(diag.items[0].message, cases[i].part)) fail_msg("case %zu: %s", i, diag.items[0].message);
    expect_one(i, status, store, &diag, cases[i].code, NULL);
  }
  /* Every default lies in its own range, and every generator works with its defaults. */
  size_t count;
  const sb_generator *list = sb_generator_list(&count);
  for (size_t g = 0; g < count; g++)
    for (size_t p = 0; p < list[g].param_count; p++) {
      char scene[64];
      snprintf(scene, sizeof scene, "generator:%s", list[g].name);
      const sb_scene_param param = {list[g].params[p].name, list[g].params[p].fallback, NULL};
      sb_scene_request request = {.scene = scene, .params = &param, .param_count = 1};
      sb_model_store *store = NULL;
      if (!strcmp(list[g].name, "pile") && p > 0) continue; /* large; once is enough */
      if (!strcmp(list[g].name, "arms") && p > 0) continue;
      if (list[g].params[0].path) continue; /* needs a file: test_mesh_files */
      if (sb_scene_load(&request, &store, NULL) != SB_OK) fail_msg("%s %s", scene, param.key);
      sb_model_store_free(store);
    }
}

static void test_unfit_text(void **state)
{
  (void)state;
  sb_diagnostics diag = {0};
  sb_model_store *store = NULL;
  char *text = malloc(1 << 16), *at = text;
  at += sprintf(at, "<mujoco>\n<!-- <a '> -->\n<geom ");
  for (int i = 0; i < 2000; i++) at += sprintf(at, "a%d='1' ", i);
  at += sprintf(at, "/></mujoco>");
  char where[128];
  snprintf(where, sizeof where, "%s:3", fixture_path());
  sb_status status = fixture_load_bytes(text, (size_t)(at - text), &store, &diag);
  expect_one(0, status, store, &diag, SB_CODE_SCENE_XML, where);
  free(text);
  text = at = malloc(1 << 22);
  at += sprintf(at, "<mujoco>");
  for (int i = 0; i < 200000; i++) at += sprintf(at, "<name%d/>", i);
  at += sprintf(at, "</mujoco>");
  status = fixture_load_bytes(text, (size_t)(at - text), &store, &diag);
  assert_non_null(strstr(diag.items[0].message, "different names"));
  expect_one(2, status, store, &diag, SB_CODE_SCENE_XML, NULL);
  free(text);
  static const char wide[] = "\xff\xfe<\0m\0/\0>\0";
  status = fixture_load_bytes(wide, sizeof wide - 1, &store, &diag);
  expect_one(1, status, store, &diag, SB_CODE_SCENE_XML, NULL);
}

/* Unknown and unsupported things are warnings, once for each kind, with the nearest name. */
static void test_warnings(void **state)
{
  (void)state;
  static const char text[] = FREE(
      "<geom size='0.1' solref='1 1' dencity='3' rgba='1 0 0 1'/><geom size='0.1' solref='1 1'/>\n"
      "<geom type='sdf'/><geom type='sdf'/><sight/><site name='s'/><light/>");
  sb_diagnostics diag = {0};
  sb_model_store *store = NULL;
  assert_int_equal(fixture_load_bytes(text, sizeof text - 1, &store, &diag), SB_OK);
  assert_int_equal(diag.count, 4);
  assert_int_equal(diag.error_count, 0);
  assert_int_equal(diag.items[0].code, SB_CODE_SCENE_UNSUPPORTED);
  assert_int_equal(diag.items[1].code, SB_CODE_SCENE_UNKNOWN);
  assert_non_null(strstr(diag.items[1].message, "'density'"));
  assert_int_equal(diag.items[2].code, SB_CODE_SCENE_UNSUPPORTED);
  assert_non_null(strstr(diag.items[2].message, "sdf"));
  assert_non_null(strstr(diag.items[3].message, "<sight>"));
  sb_diagnostics_clear(&diag);
  sb_model_store_free(store);
}

static void test_deep_nesting(void **state)
{
  (void)state;
  for (int depth = 190; depth <= 100000; depth = depth < 1000 ? depth + 10 : depth * 10) {
    char *text = malloc((size_t)depth * 14 + 100), *at = text;
    at += sprintf(at, "<mujoco><worldbody>");
    for (int i = 0; i < depth; i++) at += sprintf(at, "<body>");
    for (int i = 0; i < depth; i++) at += sprintf(at, "</body>");
    at += sprintf(at, "</worldbody></mujoco>");
    sb_diagnostics diag = {0};
    sb_model_store *store = NULL;
    sb_status status = fixture_load_bytes(text, (size_t)(at - text), &store, &diag);
    if (status == SB_OK) {
      assert_true(depth < 200);
      sb_model_store_free(store);
    } else {
      expect_one((size_t)depth, status, store, &diag, SB_CODE_SCENE_XML, NULL);
      assert_true(depth >= 199);
    }
    sb_diagnostics_clear(&diag);
    if (depth >= 260 && depth < 10000) depth = 1000;
    free(text);
  }
}

/* A locale with a decimal comma changes nothing. */
static void test_locale(void **state)
{
  (void)state;
  static const char text[] = FREE("<geom size='0.125'/>");
  static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8", NULL};
  sb_model_store *plain = fixture_good(text);
  for (int i = 0; names[i]; i++) {
    if (!setlocale(LC_ALL, names[i])) continue;
    sb_model_store *store = fixture_good(text);
    assert_true(sb_model_store_hash(plain) == sb_model_store_hash(store));
    sb_model_store_free(store);
  }
  setlocale(LC_ALL, "C");
  sb_model_store_free(plain);
}

/* Mutations: bytes changed, pieces removed, doubled and swapped between files. */
static uint32_t next(uint32_t *random) { return (*random = *random * 1664525u + 1013904223u) >> 8; }

static char *read_file(const char *path, size_t *size)
{
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  char *bytes = malloc(1 << 18);
  *size = bytes ? fread(bytes, 1, 1 << 18, file) : 0;
  fclose(file);
  return bytes;
}

static size_t mutate(uint32_t *random, char *out, size_t size, size_t room)
{
  static const char *const words[] = {
      "'",    "<",        ">",           "nan",      "1e308",        "-1",          "0",      "<body>", "</body>",
      "&#0;", "name='b'", "type='ball'", "<joint/>", "<freejoint/>", "range='1 2'", "1e-320", "\xff", "count='99'", "<replicate count='3'>", "site='tip'", "coef='1'"};
  for (uint32_t k = 0, n = 1 + next(random) % 4; k < n && size > 2; k++) {
    size_t at = next(random) % size, length = next(random) % 40;
    if (length > size - at) length = size - at;
    switch (next(random) % 4) {
    case 0:
      out[at] = (char)(32 + next(random) % 95);
      break;
    case 1:
      memmove(out + at, out + at + length, size - at - length);
      size -= length;
      break;
    case 2: {
      const char *word = words[next(random) % (sizeof words / sizeof *words)];
      size_t w = strlen(word);
      if (size + w > room) break;
      memmove(out + at + w, out + at, size - at);
      memcpy(out + at, word, w);
      size += w;
      break;
    }
    default:
      if (size + length > room) break;
      memmove(out + at + length, out + at, size - at);
      size += length;
    }
  }
  return size;
}

static void test_mutations(void **state)
{
  (void)state;
  static const char *const seeds[] = {SAMEBIT_MODELS "/arm.xml", SAMEBIT_MODELS "/crane.urdf", SAMEBIT_MODELS "/linkage.xml"};
  uint32_t random = 7, good = 0, bad = 0;
  for (size_t s = 0; s < sizeof seeds / sizeof *seeds; s++) {
    size_t size = 0;
    char *seed = read_file(seeds[s], &size), *copy = malloc(1 << 16);
    assert_non_null(seed);
    for (int round = 0; round < 2500; round++) {
      memcpy(copy, seed, size);
      size_t changed = mutate(&random, copy, size, 1 << 16);
      sb_diagnostics diag = {0};
      sb_model_store *store = NULL;
      if (fixture_load_bytes(copy, changed, &store, &diag) == SB_OK) {
        assert_int_equal(diag.error_count, 0);
        sb_model_store_free(store);
        good++;
      } else {
        assert_true(diag.error_count > 0);
        bad++;
      }
      sb_diagnostics_clear(&diag);
    }
    free(seed);
    free(copy);
  }
  assert_true(good > 100 && bad > 100);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_table),
                                     cmocka_unit_test(test_files),
                                     cmocka_unit_test(test_generator_parameters),
                                     cmocka_unit_test(test_warnings),
                                     cmocka_unit_test(test_deep_nesting),
                                     cmocka_unit_test(test_locale),
                                     cmocka_unit_test(test_unfit_text),
                                     cmocka_unit_test(test_mutations)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
