/* <replicate> and <attach> of MJCF: poses, names, what goes along, and what hostile files meet. */
#include "cook_math.h"
#include "scene_fixture.h"

#include <math.h>

static const sb_model *view(const sb_model_store *store) { return sb_model_store_view(store); }

static void near_all(const float *found, const double *expected, int n)
{
  for (int i = 0; i < n; i++)
    if (!(fabs((double)found[i] - expected[i]) <= 1e-6))
      fail_msg("component %d: expected %.9g, found %.9g", i, expected[i], (double)found[i]);
}

static int body_named(const sb_model_store *store, const char *name)
{
  return fixture_name(store, SB_NAME_BODY, view(store)->body_count, name);
}

#define BALL "<freejoint/><geom size='.1'/>"

/* Each copy stands in the frame of the one before, so the turns add up and the way bends. */
static void test_replicate_poses(void **state)
{
  (void)state;
  sb_model_store *store =
      fixture_good("<mujoco><worldbody><frame pos='0 0 5'><replicate count='4' offset='1 0 0' euler='0 0 90' sep='-'>"
                   "<body name='b' pos='0 0 1'>" BALL "</body></replicate></frame></worldbody></mujoco>");
  const double h = sqrt(0.5);
  const double poses[4][7] = {
      {0, 0, 6, 0, 0, 0, 1}, {1, 0, 6, 0, 0, h, h}, {1, 1, 6, 0, 0, 1, 0}, {0, 1, 6, 0, 0, h, -h}};
  static const char *const names[4] = {"b-0", "b-1", "b-2", "b-3"};
  assert_int_equal(view(store)->body_count, 4);
  for (int i = 0; i < 4; i++) {
    double pose[7], sign = 1.0;
    int b = body_named(store, names[i]);
    for (int k = 0; k < 7; k++) pose[k] = poses[i][k];
    if ((double)view(store)->body_q[7 * b + 5] * pose[5] + (double)view(store)->body_q[7 * b + 6] * pose[6] < 0.0)
      sign = -1.0;
    for (int k = 3; k < 7; k++) pose[k] *= sign;
    near_all(view(store)->body_q + 7 * b, pose, 7);
  }
  sb_model_store_free(store);
}

/* Numbers have as many digits as the count; what refers to a copy is copied with it, and meets what is outside once
 * each. */
static void test_replicate_names(void **state)
{
  (void)state;
  sb_model_store *store = fixture_good(
      "<mujoco><worldbody><body name='hub' pos='0 0 9'>" BALL "</body><replicate count='10' offset='0 1 0'>"
      "<body name='arm'><joint name='j'/><geom name='g' size='.1'/><replicate count='2' offset='1 0 0' sep='_'>"
      "<body name='tip'><joint name='k' type='slide'/><geom "
      "size='.1'/></body></replicate></body></replicate></worldbody>"
      "<contact><exclude body1='arm' body2='hub'/></contact>"
      "<equality><connect name='pin' body1='hub' body2='arm' anchor='0 0 0'/></equality>"
      "<tendon><fixed name='t'><joint joint='j' coef='1'/><joint joint='k' coef='2'/></fixed></tendon>"
      "<actuator><motor name='m' tendon='t'/><motor name='own' joint='j'/></actuator></mujoco>");
  const sb_model *m = view(store);
  assert_int_equal(m->body_count, 31);
  assert_int_equal(m->exclude_count, 10);
  assert_int_equal(m->equality_count, 10);
  assert_int_equal(m->tendon_count, 20);
  assert_int_equal(m->actuator_count, 30);
  int arm = body_named(store, "arm07"), tip = body_named(store, "tip_107");
  assert_int_equal(m->joint_parent[tip], arm);
  assert_int_equal(m->exclude_body[15], arm);
  assert_int_equal(m->equality_body[15], arm);
  assert_int_equal(m->equality_body[14], body_named(store, "hub"));
  int t = fixture_name(store, SB_NAME_TENDON, m->tendon_count, "t_107");
  int first = m->tendon_first_term[t];
  assert_int_equal(m->dof_body[m->tendon_term_dof[first]], arm);
  assert_int_equal(m->dof_body[m->tendon_term_dof[first + 1]], tip);
  int motor = fixture_name(store, SB_NAME_ACTUATOR, m->actuator_count, "m_107");
  assert_int_equal(m->actuator_tendon[motor], t);
  int own = fixture_name(store, SB_NAME_ACTUATOR, m->actuator_count, "own07");
  assert_int_equal(m->dof_body[m->actuator_dof[own]], arm);
  sb_model_store_free(store);
}

/* Radians, its own main class, an inner class, sections that belong to `leg` alone, to another body, and to both. */
static const char leg_model[] =
    "<mujoco model='leg'>\n<compiler angle='radian' eulerseq='XYZ'/>\n"
    "<default class='base'><geom size='.25'/><motor gear='7'/><default class='thin'><geom "
    "size='.125'/></default></default>\n"
    "<worldbody><geom name='ground' type='plane' size='1 1 1'/>"
    "<body name='leg' pos='0 0 1' euler='1.5707963267948966 0 0'><joint name='hip' range='-1 2'/><geom name='thigh'/>"
    "<body name='foot' pos='0 0 .5'><joint name='knee'/><geom class='thin'/><geom class='base' pos='1 0 "
    "0'/></body></body>"
    "<body name='other'><joint name='far'/><geom/></body></worldbody>\n"
    "<contact><exclude body1='leg' body2='foot'/><exclude body1='leg' body2='other'/></contact>"
    "<tendon><fixed name='t'><joint joint='hip' coef='1'/></fixed></tendon>"
    "<equality><joint joint1='hip' joint2='knee'/><weld body1='foot' body2='other'/></equality>"
    "<actuator><motor name='m' joint='hip'/><motor joint='far'/><motor tendon='t'/></actuator>\n"
    "<keyframe><key name='k'/></keyframe></mujoco>";

static sb_status load_with_leg(const char *text, sb_model_store **out, sb_diagnostics *diag)
{
  fixture_write("copies_leg.xml", leg_model, sizeof leg_model - 1);
  sb_status status = fixture_load_bytes(text, strlen(text), out, diag);
  remove("copies_leg.xml");
  return status;
}

static void test_attach(void **state)
{
  (void)state;
  sb_diagnostics diag = {0};
  sb_model_store *store = NULL;
  assert_int_equal(
      load_with_leg("<mujoco><asset><model name='m' file='copies_leg.xml'/></asset><default><geom size='.5'/></default>"
                    "<worldbody><body name='leg'>" BALL "</body><frame pos='2 0 0' euler='0 0 90'>"
                    "<attach model='m' body='leg' prefix='a_'/></frame>"
                    "<attach model='m' body='leg' prefix='b_'/></worldbody></mujoco>",
                    &store, &diag),
      SB_OK);
  const sb_model *m = view(store);
  assert_int_equal(diag.count, 1);
  assert_non_null(strstr(diag.items[0].message, "keyframe"));
  assert_int_equal(m->body_count, 5);
  assert_int_equal(m->shape_count, 7);
  assert_int_equal(m->exclude_count, 2);
  assert_int_equal(m->equality_count, 2);
  assert_int_equal(m->tendon_count, 2);
  assert_int_equal(m->actuator_count, 4);
  /* Turned by a quarter about z, then, in radians, by a quarter about x. */
  int leg = body_named(store, "a_leg"), foot = body_named(store, "a_foot");
  const double at[7] = {2, 0, 1, 0.5, 0.5, 0.5, 0.5};
  near_all(m->body_q + 7 * leg, at, 7);
  assert_int_equal(m->joint_parent[foot], leg);
  int hip = fixture_name(store, SB_NAME_DOF, m->dof_count, "b_hip");
  assert_true(m->joint_limit_lower[hip] == -1.0f && m->joint_limit_upper[hip] == 2.0f);
  assert_true(m->shape_size[0] == 0.1f && m->shape_size[3] == 0.25f && m->shape_size[6] == 0.125f &&
              m->shape_size[9] == 0.25f);
  int motor = fixture_name(store, SB_NAME_ACTUATOR, m->actuator_count, "b_m");
  assert_int_equal(m->actuator_dof[motor], hip);
  assert_true(m->actuator_gear[motor] == 7.0f);
  sb_diagnostics_clear(&diag);
  sb_model_store_free(store);
}

/* A model attached by an attached model keeps its defaults and settings. */
static void test_attach_twice(void **state)
{
  (void)state;
  static const char middle[] =
      "<mujoco model='middle'><default><geom size='.75'/></default><asset><model name='m' "
      "file='copies_leg.xml'/></asset>"
      "<worldbody><body name='hip'><freejoint/><geom/><attach model='m' body='foot' prefix='l_'/>"
      "<attach model='m' body='foot' prefix='r_'/></body></worldbody></mujoco>";
  sb_diagnostics diag = {0};
  sb_model_store *store = NULL;
  fixture_write("copies_middle.xml", middle, sizeof middle - 1);
  assert_int_equal(load_with_leg("<mujoco><asset><model name='n' file='copies_middle.xml'/></asset><worldbody>"
                                 "<attach model='n' body='hip' prefix='a_'/></worldbody></mujoco>",
                                 &store, &diag),
                   SB_OK);
  remove("copies_middle.xml");
  const sb_model *m = view(store);
  assert_int_equal(m->body_count, 3);
  assert_int_equal(m->joint_parent[body_named(store, "a_r_foot")], 0);
  const double sizes[5] = {0.75, 0.125, 0.25, 0.125, 0.25};
  for (int i = 0; i < 5; i++) assert_float_equal(m->shape_size[3 * i], sizes[i], 1e-7);
  sb_model_store_free(store);
  sb_diagnostics_clear(&diag);
}

/* Without a body the whole world comes; two bodies of one model may share a prefix. */
static void test_attach_world(void **state)
{
  (void)state;
  sb_diagnostics diag = {0};
  sb_model_store *store = NULL;
  assert_int_equal(load_with_leg("<mujoco><asset><model file='copies_leg.xml'/></asset><worldbody>"
                                 "<replicate count='2' offset='0 0 3' sep='.'><frame pos='1 0 0'><attach model='leg'/>"
                                 "</frame></replicate></worldbody></mujoco>",
                                 &store, &diag),
                   SB_OK);
  const sb_model *m = view(store);
  assert_int_equal(m->body_count, 6);
  assert_int_equal(m->equality_count, 4);
  assert_int_equal(m->actuator_count, 6);
  const double at[3] = {1, 0, 3};
  near_all(m->body_q + 7 * body_named(store, "other.1"), at, 3);
  int ground = fixture_name(store, SB_NAME_SHAPE, m->shape_count, "ground.1");
  near_all(m->shape_X + 7 * ground, at, 3);
  sb_model_store_free(store);
  sb_diagnostics_clear(&diag);
  assert_int_equal(
      load_with_leg("<mujoco><asset><model file='copies_leg.xml'/></asset><worldbody>"
                    "<attach model='leg' body='foot' prefix='x'/><attach model='leg' body='other' prefix='x'/>"
                    "</worldbody></mujoco>",
                    &store, &diag),
      SB_OK);
  assert_int_equal(view(store)->body_count, 2);
  assert_int_equal(view(store)->equality_count, 0);
  sb_model_store_free(store);
  sb_diagnostics_clear(&diag);
}

typedef struct wrong {
  const char *text, *says;
  sb_code code;
} wrong;

static void test_wrong(void **state)
{
  (void)state;
#define WORLD(inside)                                                                                                  \
  "<mujoco><asset><model name='m' file='copies_leg.xml'/></asset>\n<worldbody>\n" inside "</worldbody></mujoco>"
#define BODY(name) "<body name='" name "'>" BALL "</body>"
  static const wrong cases[] = {
      {WORLD("<replicate count='1e9'>" BODY("b") "</replicate>"), "MiB, and a scene may have", SB_CODE_SCENE_LIMIT},
      {WORLD("<replicate count='40000'><replicate count='40000'>" BODY("b") "</replicate></replicate>"),
       "MiB, and a scene may have", SB_CODE_SCENE_LIMIT},
      {WORLD("<replicate count='1e10'>" BODY("b") "</replicate>"), "whole number from 1", SB_CODE_SCENE_VALUE},
      {WORLD("<replicate count='0'/>"), "whole number from 1", SB_CODE_SCENE_VALUE},
      {WORLD("<replicate count='-3'/>"), "whole number from 1", SB_CODE_SCENE_VALUE},
      {WORLD("<replicate count='2.5'/>"), "whole number from 1", SB_CODE_SCENE_VALUE},
      {WORLD("<replicate count='nan'/>"), "finite", SB_CODE_SCENE_NUMBER},
      {WORLD("<replicate/>"), "needs the attribute count", SB_CODE_SCENE_ATTRIBUTE},
      {WORLD("<replicate count='2' offset='1 inf 0'>" BODY("b") "</replicate>"), "finite", SB_CODE_SCENE_NUMBER},
      {WORLD(BODY("b1") "<replicate count='2'>" BODY("b") "</replicate>"), "'b1' is used twice",
       SB_CODE_SCENE_DUPLICATE},
      {WORLD("<attach model='x'/>"), "there is no model 'x'", SB_CODE_SCENE_REFERENCE},
      {WORLD("<attach/>"), "needs the attribute model", SB_CODE_SCENE_ATTRIBUTE},
      {WORLD("<attach model='m' body='leg_'/>"), "did you mean 'leg'?", SB_CODE_SCENE_REFERENCE},
      {WORLD("<attach model='m' body='leg'/><attach model='m' body='leg'/>"), "used twice", SB_CODE_SCENE_DUPLICATE},
      {WORLD(BODY("foot") "<attach model='m' body='leg'/>"), "'foot' is used twice", SB_CODE_SCENE_DUPLICATE},
      {"<mujoco><asset><model name='m' file='copies_none.xml'/></asset>\n<worldbody><attach "
       "model='m'/></worldbody></mujoco>",
       "copies_none.xml", SB_CODE_SCENE_FILE},
      {"<mujoco><asset><model name='m'/></asset>\n<worldbody><attach model='m'/></worldbody></mujoco>",
       "needs the attribute file", SB_CODE_SCENE_ATTRIBUTE},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    sb_diagnostics diag = {0};
    sb_model_store *store = NULL;
    assert_int_equal(load_with_leg(cases[i].text, &store, &diag), SB_E_CONFIG);
    const sb_diagnostic *first = NULL;
    for (size_t k = 0; k < diag.count && !first; k++)
      if (diag.items[k].code != SB_CODE_SCENE_UNSUPPORTED) first = &diag.items[k];
    if (!first || diag.error_count < 1 || !strstr(first->message, cases[i].says) || first->code != cases[i].code ||
        !strstr(first->where, ".xml:"))
      fail_msg("case %zu: expected '%s', found '%s' at %s", i, cases[i].says, first ? first->message : "",
               first ? first->where : "");
    sb_diagnostics_clear(&diag);
  }
}

/* A file that attaches itself, two that attach each other, and doubling without end. */
static void test_cycles(void **state)
{
  (void)state;
#define ATTACHES(file)                                                                                                 \
  "<mujoco><asset><model name='m' file='" file "'/></asset><worldbody><body name='b'>" BALL                            \
  "</body><attach model='m' prefix='x'/><attach model='m' prefix='y'/></worldbody></mujoco>"
  static const char one[] = ATTACHES("copies_two.xml"), two[] = ATTACHES("copies_one.xml"),
                    main_text[] = ATTACHES("copies_one.xml");
  fixture_write("copies_one.xml", one, sizeof one - 1);
  fixture_write("copies_two.xml", two, sizeof two - 1);
  sb_diagnostics diag = {0};
  sb_model_store *store = NULL;
  assert_int_equal(fixture_load_bytes(main_text, sizeof main_text - 1, &store, &diag), SB_E_CONFIG);
  assert_int_equal(diag.count, 1);
  assert_int_equal(diag.items[0].code, SB_CODE_SCENE_INCLUDE);
  assert_non_null(strstr(diag.items[0].where, "copies_two.xml:1"));
  sb_diagnostics_clear(&diag);
  remove("copies_one.xml");
  remove("copies_two.xml");
  /* Six files, each with 60 times the one before: 60^6 bodies. */
  char text[8192];
  for (int level = 0; level < 7; level++) {
    char name[32];
    int n = snprintf(text, sizeof text, "<mujoco><asset><model name='m' file='copies_%d.xml'/></asset><worldbody>",
                     level - 1);
    for (int k = 0; k < 60 && level; k++)
      n += snprintf(text + n, sizeof text - (size_t)n, "<attach model='m' prefix='p%d'/>", k);
    n += snprintf(text + n, sizeof text - (size_t)n, "<body name='b'>" BALL "</body></worldbody></mujoco>");
    snprintf(name, sizeof name, "copies_%d.xml", level);
    fixture_write(name, text, (size_t)n);
  }
  assert_int_equal(fixture_load_bytes(text, strlen(text), &store, &diag), SB_E_CONFIG);
  assert_int_equal(diag.count, 1);
  assert_int_equal(diag.items[0].code, SB_CODE_SCENE_LIMIT);
  sb_diagnostics_clear(&diag);
  for (int level = 0; level < 7; level++) {
    snprintf(text, sizeof text, "copies_%d.xml", level);
    remove(text);
  }
}

/* Replicas inside replicas count as depth. */
static void test_depth(void **state)
{
  (void)state;
  static char text[20000];
  int n = snprintf(text, sizeof text, "<mujoco><worldbody>");
  for (int i = 0; i < 150; i++) n += snprintf(text + n, sizeof text - (size_t)n, "<replicate count='1'>");
  n += snprintf(text + n, sizeof text - (size_t)n, "<body>" BALL "</body>");
  for (int i = 0; i < 150; i++) n += snprintf(text + n, sizeof text - (size_t)n, "</replicate>");
  snprintf(text + n, sizeof text - (size_t)n, "</worldbody></mujoco>");
  sb_model_store_free(fixture_good(text));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_replicate_poses), cmocka_unit_test(test_replicate_names),
                                     cmocka_unit_test(test_attach),          cmocka_unit_test(test_attach_world),
                                     cmocka_unit_test(test_wrong),           cmocka_unit_test(test_cycles),
                                     cmocka_unit_test(test_depth),           cmocka_unit_test(test_attach_twice)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
