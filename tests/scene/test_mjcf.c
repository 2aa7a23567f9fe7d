/* MJCF: what the elements mean, against values worked out here on their own. */
#include "cook_math.h"
#include "scene_fixture.h"

#include <math.h>

#define BODY(inside) "<mujoco><worldbody><body name='b'>" inside "</body></worldbody></mujoco>"

static const sb_model *view(const sb_model_store *store) { return sb_model_store_view(store); }

static void near_all(const float *found, const double *expected, int n, double tolerance)
{
  for (int i = 0; i < n; i++)
    if (!(fabs((double)found[i] - expected[i]) <= tolerance))
      fail_msg("component %d: expected %.9g, found %.9g", i, expected[i], (double)found[i]);
}

/* Moments of solids by summing a fine grid of cells, which shares no formula with the code under test. */
static void grid_inertia(int type, const double size[3], double *volume, double moments[3])
{
  enum { CELLS = 96 };
  double reach[3] = {size[0], type == 2 ? size[1] : size[0],
                     type == 1   ? size[0] + size[1]
                     : type == 2 ? size[2]
                                 : size[0]};
  double sums[3] = {0.0, 0.0, 0.0}, cell = 8.0 * reach[0] * reach[1] * reach[2] / ((double)CELLS * CELLS * CELLS);
  *volume = 0.0;
  for (int i = 0; i < CELLS; i++)
    for (int j = 0; j < CELLS; j++)
      for (int k = 0; k < CELLS; k++) {
        double x = reach[0] * ((2 * i + 1) / (double)CELLS - 1.0), y = reach[1] * ((2 * j + 1) / (double)CELLS - 1.0);
        double z = reach[2] * ((2 * k + 1) / (double)CELLS - 1.0), over = fabs(z) - size[1];
        double away = type == 1 && over < 0.0 ? 0.0 : type == 1 ? over : z;
        if (type != 2 && x * x + y * y + away * away > size[0] * size[0]) continue;
        *volume += cell;
        sums[0] += cell * (y * y + z * z), sums[1] += cell * (x * x + z * z), sums[2] += cell * (x * x + y * y);
      }
  memcpy(moments, sums, sizeof sums);
}

static void test_solids(void **state)
{
  (void)state;
  static const char *const texts[3] = {BODY("<freejoint/><geom type='sphere' size='0.3'/>"),
                                       BODY("<freejoint/><geom type='capsule' size='0.2 0.35' density='1000'/>"),
                                       BODY("<freejoint/><geom type='box' size='0.1 0.2 0.3'/>")};
  static const double sizes[3][3] = {{0.3, 0.0, 0.0}, {0.2, 0.35, 0.0}, {0.1, 0.2, 0.3}};
  for (int t = 0; t < 3; t++) {
    sb_model_store *store = fixture_good(texts[t]);
    double volume, moments[3];
    grid_inertia(t, sizes[t], &volume, moments);
    assert_true(fabs(view(store)->body_mass[0] / (1000.0 * volume) - 1.0) < 2e-3);
    for (int i = 0; i < 3; i++) assert_true(fabs(view(store)->body_inertia[i] / (1000.0 * moments[i]) - 1.0) < 3e-3);
    sb_model_store_free(store);
  }
}

/* Two spheres on one body: mass, centre and parallel axes. */
static void test_composite(void **state)
{
  (void)state;
  sb_model_store *store = fixture_good(BODY(
      "<freejoint/><geom size='0.1' mass='2' pos='1 0 0'/><frame pos='0 1 0'><geom size='0.1' mass='1'/></frame>"));
  const double com[3] = {2.0 / 3.0, 1.0 / 3.0, 0.0}, own = 0.4 * 3.0 * 0.01;
  const double inertia[6] = {
      own + 2.0 / 9.0 + 4.0 / 9.0, own + 2.0 / 9.0 + 4.0 / 9.0, own + 4.0 / 3.0, 2.0 / 9.0 + 4.0 / 9.0, 0.0, 0.0};
  near_all(view(store)->body_com, com, 3, 1e-7);
  near_all(view(store)->body_inertia, inertia, 6, 1e-6);
  sb_model_store_free(store);
}

static void test_compiler(void **state)
{
  (void)state;
  sb_model_store *store = fixture_good(
      "<mujoco><compiler angle='radian' eulerseq='ZYX' settotalmass='10' inertiagrouprange='0 1'/><worldbody>"
      "<body name='a' euler='0.1 0.2 0.3'><freejoint/><geom size='0.1' mass='1' group='0'/><geom size='0.5' "
      "group='3'/></body>"
      "<body name='b'><joint axis='0 0 2' range='-1 2' ref='0.5'/><geom size='0.1' "
      "mass='3'/></body></worldbody></mujoco>");
  const sb_model *m = view(store);
  assert_float_equal(m->body_mass[0], 2.5, 1e-6);
  assert_float_equal(m->body_mass[1], 7.5, 1e-6);
  /* Fixed axes Z, then Y, then X: R = Rx(0.3) Ry(0.2) Rz(0.1); its image of x. */
  double q[4] = {m->body_q[3], m->body_q[4], m->body_q[5], m->body_q[6]}, x[3] = {1.0, 0.0, 0.0}, v[3];
  cook_quat_rotate(q, x, v);
  double a[3] = {cos(0.1), sin(0.1), 0.0}, b[3] = {a[0] * cos(0.2), a[1], -a[0] * sin(0.2)};
  const double expected[3] = {b[0], b[1] * cos(0.3) - b[2] * sin(0.3), b[1] * sin(0.3) + b[2] * cos(0.3)};
  for (int i = 0; i < 3; i++) assert_float_equal(v[i], expected[i], 1e-6);
  assert_float_equal(m->joint_limit_lower[6], -1.0, 0.0);
  assert_float_equal(m->joint_limit_upper[6], 2.0, 0.0);
  assert_float_equal(m->joint_q[7], 0.5, 0.0);
  assert_float_equal(m->joint_axis[18 + 2], 1.0, 0.0);
  /* ref: the joint does not displace the body at its reference. */
  assert_float_equal(m->body_q[7 + 6], 1.0, 0.0);
  sb_model_store_free(store);
}

static void test_inertia_settings(void **state)
{
  (void)state;
  sb_model_store *store = fixture_good(
      "<mujoco><compiler balanceinertia='true' boundmass='2' boundinertia='0.5'/><worldbody>"
      "<body><freejoint/><inertial pos='0 0 1' mass='1' fullinertia='1 2 9 0 0 0'/></body>"
      "<body><freejoint/><inertial pos='0 0 0' mass='3' quat='0.5 0.5 0.5 0.5' diaginertia='0.1 1 1.2'/></body>"
      "</worldbody></mujoco>");
  const double balanced[6] = {4.0, 4.0, 4.0, 0.0, 0.0, 0.0};
  /* The turn takes x to y, y to z, z to x. */
  const double bounded[6] = {1.2, 0.5, 1.0, 0.0, 0.0, 0.0};
  assert_float_equal(view(store)->body_mass[0], 2.0, 0.0);
  near_all(view(store)->body_inertia, balanced, 6, 1e-6);
  near_all(view(store)->body_inertia + 6, bounded, 6, 1e-6);
  sb_model_store_free(store);
}

static void test_defaults(void **state)
{
  (void)state;
  sb_model_store *store = fixture_good(
      "<mujoco><default><geom friction='0.3' condim='4'/><default class='big'><geom size='0.5'/>"
      "<default class='bigger'><geom size='0.7' friction='0.9 0.02'/></default></default>"
      "<general ctrlrange='-3 4'/></default>"
      "<worldbody><geom name='ground' type='plane'/>"
      "<body childclass='big'><joint name='j'/><geom name='one'/><body><joint/><geom name='two' class='bigger'/>"
      "<geom name='three' class='main' size='0.1' contype='6' margin='0.05' gap='0.02'/></body></body></worldbody>"
      "<actuator><motor joint='j' gear='3'/></actuator></mujoco>");
  const sb_model *m = view(store);
  int one = fixture_name(store, SB_NAME_SHAPE, m->shape_count, "one");
  int two = fixture_name(store, SB_NAME_SHAPE, m->shape_count, "two");
  int three = fixture_name(store, SB_NAME_SHAPE, m->shape_count, "three");
  assert_float_equal(m->shape_size[3 * one], 0.5, 0.0);
  assert_float_equal(m->shape_size[3 * two], 0.7, 1e-7);
  assert_float_equal(m->shape_friction[3 * one], 0.3, 1e-7);
  assert_float_equal(m->shape_friction[3 * two], 0.9, 1e-7);
  assert_float_equal(m->shape_friction[3 * two + 1], 0.02, 1e-7);
  assert_float_equal(m->shape_friction[3 * two + 2], 0.0001, 1e-9);
  assert_int_equal(m->shape_condim[three], 4);
  assert_int_equal(m->shape_contype[three], 6);
  assert_float_equal(m->shape_margin[three], 0.03, 1e-7);
  assert_float_equal(m->actuator_ctrl_lower[0], -3.0, 0.0);
  assert_float_equal(m->actuator_gear[0], 3.0, 0.0);
  sb_model_store_free(store);
}

static void test_arm_key(void **state)
{
  (void)state;
  sb_scene_request request = {.scene = SAMEBIT_MODELS "/arm.xml", .key = "raised"};
  sb_diagnostics diag = {0};
  sb_model_store *store = NULL;
  assert_int_equal(sb_scene_load(&request, &store, &diag), SB_OK);
  assert_int_equal(diag.count, 0);
  const sb_model *m = view(store);
  int tip = fixture_name(store, SB_NAME_BODY, m->body_count, "tip");
  int ball = fixture_name(store, SB_NAME_BODY, m->body_count, "ball");
  /* Planar chain in x z: turning by a about y takes x to (cos a, 0, -sin a). Upper 0.4, then the lower frame at 30
   * degrees plus the elbow, 0.35 + 0.05 along it; the twist about that axis does not move it. */
  double a = -0.6, b = a + 30.0 * M_PI / 180.0 - 0.9;
  const double at[3] = {0.4 * cos(a) + 0.4 * cos(b), 0.0, 0.55 - 0.4 * sin(a) - 0.4 * sin(b)};
  near_all(m->body_q + 7 * tip, at, 3, 1e-6);
  /* qvel: shoulder 0, elbow 0, twist 1, reach 0, then the ball's. */
  const double w[3] = {cos(b), 0.0, -sin(b)}, ball_v[6] = {0.1, 0.0, 0.0, 0.0, 0.0, 2.0};
  near_all(m->body_qd + 6 * tip + 3, w, 3, 1e-6);
  near_all(m->body_qd + 6 * ball, ball_v, 6, 1e-6);
  int elbow = fixture_name(store, SB_NAME_DOF, m->dof_count, "elbow");
  int twist = fixture_name(store, SB_NAME_DOF, m->dof_count, "twist");
  assert_float_equal(m->joint_target_q[elbow], -0.9, 1e-7);
  assert_float_equal(m->joint_target_ke[elbow], 40.0, 0.0);
  assert_float_equal(m->joint_target_kd[elbow], 2.0, 0.0);
  assert_float_equal(m->joint_target_qd[twist], 0.5, 0.0);
  assert_float_equal(m->joint_limit_lower[elbow], -150.0 * M_PI / 180.0, 1e-6);
  assert_int_equal(m->body_flags[0], SB_BODY_STATIC);
  assert_int_equal(m->pair_count, 1);
  assert_float_equal(m->pair_friction[0], 0.5, 0.0);
  assert_int_equal(m->pair_condim[0], 4);
  uint32_t numerator, denominator;
  sb_model_store_dt(store, &numerator, &denominator);
  assert_int_equal(numerator, 1);
  assert_int_equal(denominator, 400);
  sb_model_store_free(store);
}

/* A free joint's qvel is given at the frame's origin with the spin in the body; the model's is at the centre of mass.
 */
static void test_free_velocity(void **state)
{
  (void)state;
  sb_scene_request request = {.scene = fixture_path(), .key = "k"};
  static const char text[] =
      "<mujoco><worldbody><body><freejoint/><geom size='0.1' pos='1 0 0'/></body></worldbody><keyframe>"
      "<key name='k' qpos='0 0 0 0.5 0.5 0.5 0.5' qvel='1 2 3 0 0 2'/></keyframe></mujoco>";
  fixture_write(request.scene, text, sizeof text - 1);
  sb_model_store *store = NULL;
  assert_int_equal(sb_scene_load(&request, &store, NULL), SB_OK);
  remove(request.scene);
  /* The turn takes x to y, y to z, z to x: spin 2 x, centre at y, so w cross r = 2 z. */
  const double expected[6] = {1.0, 2.0, 5.0, 2.0, 0.0, 0.0};
  near_all(view(store)->body_qd, expected, 6, 1e-6);
  near_all(view(store)->joint_qd, expected, 6, 1e-6);
  sb_model_store_free(store);
}

static void test_include(void **state)
{
  (void)state;
  static const char part[] =
      "<mujocoinclude>\n<body name='inner'><freejoint/>\n<geom size='0.2'/></body></mujocoinclude>";
  static const char broken[] = "<mujocoinclude>\n\n<body><freejoint/><geom size='bad'/></body></mujocoinclude>";
  static const char main_text[] = "<mujoco><worldbody><include file='scene_part.xml'/></worldbody></mujoco>";
  fixture_write("scene_part.xml", part, sizeof part - 1);
  sb_model_store *store = fixture_good(main_text);
  assert_string_equal(sb_model_store_name(store, SB_NAME_BODY, 0), "inner");
  sb_model_store_free(store);
  fixture_write("scene_part.xml", broken, sizeof broken - 1);
  sb_diagnostics diag = {0};
  assert_int_equal(fixture_load_bytes(main_text, sizeof main_text - 1, &store, &diag), SB_E_CONFIG);
  assert_int_equal(diag.count, 1);
  assert_string_equal(diag.items[0].where, "scene_part.xml:3");
  sb_diagnostics_clear(&diag);
  static const char cycle[] = "<mujocoinclude><include file='scene_part.xml'/></mujocoinclude>";
  fixture_write("scene_part.xml", cycle, sizeof cycle - 1);
  assert_int_equal(fixture_load_bytes(main_text, sizeof main_text - 1, &store, &diag), SB_E_CONFIG);
  assert_int_equal(diag.count, 1);
  assert_int_equal(diag.items[0].code, SB_CODE_SCENE_INCLUDE);
  sb_diagnostics_clear(&diag);
  remove("scene_part.xml");
}

/* The public humanoid: published facts, and its thigh from the capsule formula written out. */
static void test_humanoid(void **state)
{
  (void)state;
  sb_scene_request request = {.scene = SAMEBIT_SHARED "/mujoco/humanoid.xml", .key = "squat"};
  if (access(request.scene, R_OK) != 0) {
    print_message("%s is absent\n", request.scene);
    skip();
  }
  sb_diagnostics diag = {0};
  sb_model_store *store = NULL;
  assert_int_equal(sb_scene_load(&request, &store, &diag), SB_OK);
  const sb_model *m = view(store);
  assert_int_equal(m->body_count, 16);
  assert_int_equal(m->dof_count, 27);
  assert_int_equal(m->coord_count, 28);
  assert_int_equal(m->shape_count, 20);
  assert_int_equal(m->actuator_count, 21);
  assert_int_equal(m->exclude_count, 2);
  for (size_t i = 0; i < diag.count; i++) assert_int_equal(diag.items[i].code, SB_CODE_SCENE_UNSUPPORTED);
  sb_diagnostics_clear(&diag);
  int thigh = fixture_name(store, SB_NAME_BODY, m->body_count, "thigh_right");
  double r = 0.06, l = sqrt(0.01 * 0.01 + 0.34 * 0.34), mc = 1000.0 * M_PI * r * r * l,
         ms = 4000.0 / 3.0 * M_PI * r * r * r;
  double along = mc * r * r / 2.0 + 0.4 * ms * r * r;
  double across = mc * (l * l / 12.0 + r * r / 4.0) + ms * (0.4 * r * r + l * l / 4.0 + 3.0 / 8.0 * l * r);
  double u[3] = {0.0, 0.01 / l, -0.34 / l};
  const double com[3] = {0.0, 0.005, -0.17};
  const double inertia[6] = {
      across, across + (along - across) * u[1] * u[1], across + (along - across) * u[2] * u[2], 0.0,
      0.0,    (along - across) * u[1] * u[2]};
  assert_float_equal(m->body_mass[thigh], mc + ms, 1e-5);
  near_all(m->body_com + 3 * thigh, com, 3, 1e-7);
  near_all(m->body_inertia + 6 * thigh, inertia, 6, 1e-7);
  /* Squat: the torso's pose is the key's. */
  double n = sqrt(0.988015 * 0.988015 + 0.154359 * 0.154359);
  const double torso[7] = {0.0, 0.0, 0.596, 0.0, 0.154359 / n, 0.0, 0.988015 / n};
  near_all(m->body_q, torso, 7, 1e-6);
  sb_model_store_free(store);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_solids),           cmocka_unit_test(test_composite), cmocka_unit_test(test_compiler),
      cmocka_unit_test(test_inertia_settings), cmocka_unit_test(test_defaults),  cmocka_unit_test(test_arm_key),
      cmocka_unit_test(test_free_velocity),    cmocka_unit_test(test_include),   cmocka_unit_test(test_humanoid)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
