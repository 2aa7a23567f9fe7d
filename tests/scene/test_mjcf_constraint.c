/* Equality constraints, fixed tendons and motors on tendons in MJCF, against values worked out here on their own. */
#include "cook_math.h"
#include "scene_fixture.h"

#include <math.h>

/* Two free boxes: a turned 90 degrees about z at (1, 0, 0), b at (0, 2, 0); c hangs below b by a hinge. */
#define SCENE(sections)                                                                                                \
  "<mujoco><default><equality class='main'/></default><worldbody><site name='hook' pos='0 0 3'/>"                      \
  "<body name='a' pos='1 0 0' euler='0 0 90'><freejoint/><geom type='box' size='.1 .1 .1'/></body>"                    \
  "<body name='b' pos='0 2 0'><freejoint/><geom type='box' size='.1 .1 .1'/><site name='eye' pos='0 0 .5' "            \
  "euler='0 0 90'/><body name='c' pos='0 0 -1'><joint name='h' range='-90 90' ref='30' springref='60'/>"               \
  "<joint name='s' type='slide'/><geom type='box' size='.1 .1 .1'/></body></body></worldbody>" sections "</mujoco>"

static const sb_model *view(const sb_model_store *store) { return sb_model_store_view(store); }

static void near_all(const float *found, const double *expected, int n)
{
  for (int i = 0; i < n; i++)
    if (!(fabs((double)found[i] - expected[i]) <= 1e-6))
      fail_msg("component %d: expected %.9g, found %.9g", i, expected[i], (double)found[i]);
}

static void test_connect(void **state)
{
  (void)state;
  sb_model_store *store = fixture_good(SCENE("<equality><connect name='k' body1='a' body2='b' anchor='1 0 0'/>"
                                             "<connect body1='c' anchor='0 0 .25'/></equality>"));
  const sb_model *m = view(store);
  assert_int_equal(m->equality_count, 2);
  assert_string_equal(sb_model_store_name(store, SB_NAME_EQUALITY, 0), "k");
  /* The anchor is at (1, 1, 0) in the world, so at (1, -1, 0) in b. */
  static const int32_t bodies[4] = {0, 1, 2, -1};
  const double in_a[3] = {1, 0, 0}, in_b[3] = {1, -1, 0}, in_world[3] = {0, 2, -0.75};
  assert_memory_equal(m->equality_body, bodies, sizeof bodies);
  near_all(m->equality_anchor_a, in_a, 3);
  near_all(m->equality_anchor_b, in_b, 3);
  near_all(m->equality_anchor_b + 3, in_world, 3);
  sb_model_store_free(store);
}

static void test_weld(void **state)
{
  (void)state;
  sb_model_store *store =
      fixture_good(SCENE("<equality><weld body1='a' body2='b' anchor='0 0 1'/>"
                         "<weld body1='a' body2='b' anchor='1 0 0' relpose='0 0 2 0 0 0 3'/>"
                         "<weld site1='hook' site2='eye'/><weld body1='a' active='false'/></equality>"));
  const sb_model *m = view(store);
  const double h = sqrt(0.5);
  assert_int_equal(m->equality_count, 3);
  /* At rest b is at (0, 2, 0) - (1, 0, 0) = (-1, 2, 0) from a; turned back by 90 degrees, (2, 1, 0). */
  const double at_rest[3] = {2, 1, 1}, rest_turn[4] = {0, 0, -h, h};
  near_all(m->equality_anchor_a, at_rest, 3);
  near_all(m->equality_relpose, rest_turn, 4);
  /* A half turn about z takes the anchor to -x. */
  const double stated[3] = {-1, 0, 2}, half[4] = {0, 0, 1, 0};
  near_all(m->equality_anchor_a + 3, stated, 3);
  near_all(m->equality_relpose + 4, half, 4);
  const double hook[3] = {0, 0, 3}, eye[3] = {0, 0, 0.5}, site_turn[4] = {0, 0, -h, h};
  assert_int_equal(m->equality_body[4], -1);
  near_all(m->equality_anchor_a + 6, hook, 3);
  near_all(m->equality_anchor_b + 6, eye, 3);
  near_all(m->equality_relpose + 8, site_turn, 4);
  sb_model_store_free(store);
}

static void test_joint(void **state)
{
  (void)state;
  sb_model_store *store = fixture_good(SCENE(
      "<equality><joint joint1='s' joint2='h' polycoef='.5 2 0 1'/><joint joint1='h' polycoef='.25'/></equality>"));
  const sb_model *m = view(store);
  const double poly[10] = {0.5, 2, 0, 1, 0, 0.25, 0, 0, 0, 0};
  static const int32_t dofs[4] = {13, 12, 12, -1}, bodies[4] = {2, 2, 2, -1};
  near_all(m->equality_poly, poly, 10);
  assert_memory_equal(m->equality_dof, dofs, sizeof dofs);
  assert_memory_equal(m->equality_body, bodies, sizeof bodies);
  sb_model_store_free(store);
}

static void test_tendon(void **state)
{
  (void)state;
  sb_model_store *store =
      fixture_good(SCENE("<tendon><fixed name='cord' range='-1 2' stiffness='5' damping='3' frictionloss='.5'>"
                         "<joint joint='h' coef='2'/><joint joint='s' coef='-.5'/></fixed>"
                         "<fixed name='band' springlength='.25 .75'><joint joint='s' coef='1'/></fixed></tendon>"
                         "<actuator><motor tendon='band' gear='4' ctrlrange='-2 2' forcerange='-1 3'/></actuator>"));
  const sb_model *m = view(store);
  assert_int_equal(m->tendon_count, 2);
  static const int32_t dofs[3] = {12, 13, 13};
  const double coef[3] = {2, -0.5, 1}, lower[1] = {-1}, rest[2] = {2.0 * M_PI / 3.0, 0.25}, upper[2] = {rest[0], 0.75};
  assert_memory_equal(m->tendon_term_dof, dofs, sizeof dofs);
  near_all(m->tendon_term_coef, coef, 3);
  near_all(m->tendon_limit_lower, lower, 1);
  assert_true(m->tendon_limit_upper[0] == 2.0f && m->tendon_limit_upper[1] == SB_NO_LIMIT);
  assert_true(m->tendon_stiffness[0] == 5.0f && m->tendon_damping[0] == 3.0f && m->tendon_friction[0] == 0.5f);
  near_all(m->tendon_spring_lower, rest, 2);
  near_all(m->tendon_spring_upper, upper, 2);
  assert_int_equal(m->actuator_tendon[0], 1);
  assert_int_equal(m->actuator_dof[0], -1);
  assert_true(m->actuator_gear[0] == 4.0f && m->actuator_ctrl_lower[0] == -1.0f && m->actuator_ctrl_upper[0] == 2.0f);
  sb_model_store_free(store);
}

/* general is a motor of some gain, or a servo whose bias is its gain's opposite; anything else is reported. */
static void test_general(void **state)
{
  (void)state;
  static const char text[] = SCENE(
      "<default><default class='servo'><general biastype='affine' gainprm='40' biasprm='0 -40 -3'/></default></default>"
      "<tendon><fixed name='t'><joint joint='h' coef='1'/></fixed></tendon><actuator>"
      "<general joint='h' gear='2' gainprm='5' ctrlrange='-1 1'/><general tendon='t' gainprm='-4' forcerange='-8 2'/>"
      "<general class='servo' joint='s' gear='2'/><general joint='h' dyntype='filter'/>"
      "<general joint='h' biastype='affine' gainprm='1' biasprm='1 -1'/></actuator>");
  sb_diagnostics diag = {0};
  sb_model_store *store = NULL;
  assert_int_equal(fixture_load_bytes(text, strlen(text), &store, &diag), SB_OK);
  const sb_model *m = view(store);
  assert_int_equal(diag.count, 1);
  assert_int_equal(m->actuator_count, 3);
  static const uint32_t kinds[3] = {SB_ACTUATOR_MOTOR, SB_ACTUATOR_MOTOR, SB_ACTUATOR_POSITION};
  static const float gears[3] = {10.0f, -4.0f, 2.0f};
  assert_memory_equal(m->actuator_kind, kinds, sizeof kinds);
  assert_memory_equal(m->actuator_gear, gears, sizeof gears);
  assert_true(m->actuator_ctrl_lower[1] == -0.5f && m->actuator_ctrl_upper[1] == 2.0f);
  assert_true(m->joint_target_ke[13] == 160.0f && m->joint_target_kd[13] == 12.0f);
  sb_diagnostics_clear(&diag);
  sb_model_store_free(store);
}

typedef struct wrong {
  const char *text, *says;
} wrong;

/* Each gives exactly one diagnostic, at the element's line. */
static void test_wrong(void **state)
{
  (void)state;
  static const wrong cases[] = {
      {"<equality><connect body1='x' anchor='0 0 0'/></equality>", "there is no body 'x'"},
      {"<equality><connect body1='a'/></equality>", "needs the attribute anchor"},
      {"<equality><connect body1='a' body2='a' anchor='0 0 0'/></equality>", "holds a body to itself"},
      {"<equality><connect site1='hook' site2='hok'/></equality>", "did you mean 'hook'"},
      {"<equality><weld body1='a' body2='b' relpose='0 0 0 1e-20 0 0 0'/></equality>", "quaternion of some length"},
      {"<equality><weld body1='a' relpose='0 0 0 nan 0 0 0'/></equality>", "finite decimal numbers"},
      {"<equality><joint joint1='h' joint2='h'/></equality>", "two joints"},
      {"<equality><joint joint1='h' polycoef='1 2 3 4 5 6'/></equality>", "1 to 5 numbers"},
      {"<tendon><fixed name='t'/></tendon>", "at least one <joint>"},
      {"<tendon><fixed><joint joint='h' coef='1'/><joint joint='h' coef='1'/></fixed></tendon>", "stands twice"},
      {"<tendon><fixed><joint joint='h'/></fixed></tendon>", "needs the attribute coef"},
      {"<tendon><fixed range='2 1'><joint joint='h' coef='1'/></fixed></tendon>", "give the lower end first"},
      {"<tendon><fixed springlength='2 1'><joint joint='h' coef='1'/></fixed></tendon>", "give the lower end first"},
      {"<actuator><motor tendon='t'/></actuator>", "there is no tendon 't'"},
      {"<sensor><jointpos joint='x'/></sensor>", "there is no joint 'x'"},
      {"<sensor><gyro site='eyes'/></sensor>", "did you mean 'eye'"},
      {"<sensor><gyro/></sensor>", "needs the attribute site"},
      {"<sensor><ballquat joint='h'/></sensor>", "needs a ball joint"},
      {"<sensor><framepos objname='a'/></sensor>", "needs the attribute objtype"},
      {"<sensor><framepos objtype='bodies' objname='a'/></sensor>", "expected one of body, xbody"},
      {"<sensor><framepos objtype='body' objname='z'/></sensor>", "there is no body 'z'"},
      {"<sensor><clock name='c'/><clock name='c'/></sensor>", "used twice"},
      {"<sensor><clock cutoff='-1'/></sensor>", "at least 0"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[2048];
    sb_diagnostics diag = {0};
    sb_model_store *store = NULL;
    snprintf(text, sizeof text, "%.*s\n\n%s</mujoco>", (int)(sizeof SCENE("") - sizeof "</mujoco>"), SCENE(""),
             cases[i].text);
    assert_int_equal(fixture_load_bytes(text, strlen(text), &store, &diag), SB_E_CONFIG);
    if (diag.count != 1 || !strstr(diag.items[0].message, cases[i].says) || !strstr(diag.items[0].where, ":3"))
      fail_msg("case %zu: expected '%s' once at line 3, found %zu, '%s' at %s", i, cases[i].says, diag.count,
               diag.count ? diag.items[0].message : "", diag.count ? diag.items[0].where : "");
    sb_diagnostics_clear(&diag);
  }
}

/* Frames are in bodies; a body is its centre of mass, an xbody its frame, a fused link's site is in its body. */
static void test_sensor_frames(void **state)
{
  (void)state;
  sb_model_store *store = fixture_good(
      "<mujoco><worldbody><body name='a'><freejoint/><geom name='g' size='.1' pos='0 0 2'/><body name='empty' pos='1 0 "
      "0'>"
      "<site name='s' pos='0 3 0'/></body></body></worldbody><sensor><framepos objtype='body' objname='a'/>"
      "<framepos objtype='xbody' objname='a' reftype='geom' refname='g'/><gyro site='s' cutoff='4'/>"
      "<framelinvel objtype='xbody' objname='world'/></sensor></mujoco>");
  const sb_model *m = view(store);
  const double com[3] = {0, 0, 2}, frame[3] = {0, 0, 0}, site[3] = {1, 3, 0};
  assert_int_equal(m->sensor_count, 4);
  near_all(m->sensor_X, com, 3);
  near_all(m->sensor_X + 7, frame, 3);
  near_all(m->sensor_ref_X + 7, com, 3);
  near_all(m->sensor_X + 14, site, 3);
  assert_true(m->sensor_ref_body[1] == 0 && m->sensor_body[2] == 0 && m->sensor_body[3] == -1);
  assert_true(m->sensor_cutoff[2] == 4.0f);
  sb_model_store_free(store);
}

/* What is left out is said, and the rest of the scene stands. */
static void test_left_out(void **state)
{
  (void)state;
  static const char text[] =
      SCENE("<tendon><spatial name='rope'/><fixed name='f'><joint joint='h' coef='1'/></fixed></tendon>"
            "<actuator><motor tendon='rope'/><position name='p' tendon='f'/><motor joint='h'/></actuator>"
            "<sensor><actuatorfrc actuator='p'/><tendonpos tendon='rope'/><touch site='eye'/>"
            "<framequat objtype='body' objname='a'/><clock/></sensor>");
  sb_diagnostics diag = {0};
  sb_model_store *store = NULL;
  assert_int_equal(fixture_load_bytes(text, strlen(text), &store, &diag), SB_OK);
  assert_int_equal(view(store)->actuator_count, 1);
  assert_int_equal(view(store)->sensor_count, 1);
  assert_int_equal(diag.count, 7);
  for (size_t i = 0; i < diag.count; i++) assert_int_equal(diag.items[i].code, SB_CODE_SCENE_UNSUPPORTED);
  sb_diagnostics_clear(&diag);
  sb_model_store_free(store);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_connect),       cmocka_unit_test(test_weld),
                                     cmocka_unit_test(test_joint),         cmocka_unit_test(test_tendon),
                                     cmocka_unit_test(test_wrong),         cmocka_unit_test(test_left_out),
                                     cmocka_unit_test(test_sensor_frames), cmocka_unit_test(test_general)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
