/* URDF and the other ways into a scene: generators by parameters, cooked files, ground, gravity, floating bases. */
#include "scene_fixture.h"

#include <math.h>

static const sb_model *view(const sb_model_store *store) { return sb_model_store_view(store); }

static sb_model_store *load(const sb_scene_request *request, sb_diagnostics *diag)
{
  sb_model_store *store = NULL;
  sb_status status = sb_scene_load(request, &store, diag);
  for (size_t i = 0; status != SB_OK && i < diag->count; i++) print_message("%s\n", diag->items[i].message);
  assert_int_equal(status, SB_OK);
  return store;
}

static void test_crane(void **state)
{
  (void)state;
  const double gravity[3] = {0.0, 0.0, -1.62};
  sb_scene_request request = {.scene = SAMEBIT_MODELS "/crane.urdf", .ground = true, .gravity = gravity};
  sb_diagnostics diag = {0};
  sb_model_store *store = load(&request, &diag);
  const sb_model *m = view(store);
  assert_int_equal(diag.count, 1);
  assert_int_equal(diag.items[0].code, SB_CODE_SCENE_FUSED);
  assert_int_equal(m->body_count, 3);
  assert_int_equal(m->dof_count, 2);
  assert_float_equal(m->gravity[2], -1.62, 1e-6);
  assert_int_equal(m->shape_type[m->shape_count - 1], SB_SHAPE_PLANE);
  assert_int_equal(m->body_flags[0], SB_BODY_STATIC);
  assert_float_equal(m->joint_effort_limit[0], 50.0, 0.0);
  assert_float_equal(m->joint_velocity_limit[0], 2.0, 0.0);
  assert_float_equal(m->joint_friction[0], 0.1, 1e-7);
  assert_true(m->joint_limit_upper[0] == SB_NO_LIMIT);
  assert_float_equal(m->joint_limit_upper[1], 0.5, 0.0);
  /* The hook is part of the trolley, 0.2 below it. */
  int hook = (int)m->shape_count - 2;
  assert_int_equal(m->shape_body[hook], 2);
  assert_float_equal(m->shape_X[7 * hook + 2], -0.2, 1e-7);
  assert_float_equal(m->body_q[14], 0.2, 1e-7);
  assert_float_equal(m->body_q[14 + 5], sin(0.05), 1e-7);
  sb_diagnostics_clear(&diag);
  sb_model_store_free(store);
}

#define INERTIAL "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"
#define JOINT(type, inside)                                                                                            \
  "<robot name='r'><link name='a'>" INERTIAL "</link><link name='b'>" INERTIAL "</link><joint name='j' type='" type    \
  "'><parent link='a'/><child link='b'/>" inside "</joint></robot>"

static void test_joint_types(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    uint32_t type, dofs;
  } cases[] = {{JOINT("revolute", "<limit lower='-1' upper='1'/>"), SB_JOINT_AXES, 1},
               {JOINT("continuous", ""), SB_JOINT_AXES, 1},
               {JOINT("prismatic", "<limit lower='0' upper='1'/><axis xyz='0 2 0'/>"), SB_JOINT_AXES, 1},
               {JOINT("fixed", ""), SB_JOINT_FIXED, 0},
               {JOINT("floating", "<origin xyz='0 0 1'/>"), SB_JOINT_FREE, 6},
               {JOINT("planar", "<axis xyz='0 0 1'/>"), SB_JOINT_AXES, 3}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    sb_model_store *store = fixture_good(cases[i].text);
    const sb_model *m = view(store);
    assert_int_equal(m->body_count, 2);
    assert_int_equal(m->joint_type[1], cases[i].type);
    assert_int_equal(m->joint_dof_count[1], cases[i].dofs);
    if (i == 2) assert_float_equal(m->joint_axis[1], 1.0, 0.0);
    if (i == 4) assert_float_equal(m->joint_q[2], 1.0, 0.0);
    if (i == 5) {
      /* x, y, then a turn about z: a right-handed set. */
      const float axes[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
      for (int k = 0; k < 9; k++) assert_float_equal(m->joint_axis[k], axes[k], 1e-7);
      assert_string_equal(sb_model_store_name(store, SB_NAME_DOF, 2), "j.turn");
    }
    sb_model_store_free(store);
  }
}

/* A massless root that floats takes the mass of what is fixed to it. */
static void test_floating(void **state)
{
  (void)state;
  static const char text[] =
      "<robot name='r'><link name='root'/><link name='b'>" INERTIAL "</link>"
      "<joint name='j' type='fixed'><origin xyz='0 0 2'/><parent link='root'/><child link='b'/></joint></robot>";
  fixture_write(fixture_path(), text, sizeof text - 1);
  sb_scene_request request = {.scene = fixture_path(), .floating_base = true};
  sb_diagnostics diag = {0};
  sb_model_store *store = load(&request, &diag);
  assert_int_equal(view(store)->body_count, 1);
  assert_int_equal(view(store)->joint_type[0], SB_JOINT_FREE);
  assert_float_equal(view(store)->body_com[2], 2.0, 0.0);
  assert_float_equal(view(store)->body_inertia[0], 1.0, 0.0);
  assert_string_equal(sb_model_store_name(store, SB_NAME_DOF, 5), "root.wz");
  sb_model_store_free(store);
  sb_diagnostics_clear(&diag);
  remove(request.scene);
}

static void test_public_robots(void **state)
{
  (void)state;
  static const struct {
    const char *path;
    uint32_t dofs;
  } robots[] = {{SAMEBIT_SHARED "/panda/panda.urdf", 9},
                {SAMEBIT_SHARED "/kuka_iiwa/model.urdf", 7},
                {SAMEBIT_SHARED "/bullet/cartpole.urdf", 2},
                {SAMEBIT_SHARED "/bullet/r2d2.urdf", 8},
                {SAMEBIT_SHARED "/double_pendulum/double_pendulum_simple.urdf", 2}};
  if (access(robots[0].path, R_OK) != 0) {
    print_message("%s is absent\n", robots[0].path);
    skip();
  }
  for (size_t i = 0; i < sizeof robots / sizeof *robots; i++)
    for (int floating = 0; floating < 2; floating++) {
      sb_scene_request request = {.scene = robots[i].path, .floating_base = floating};
      sb_diagnostics diag = {0};
      /* The roots of these two have no mass, so they cannot float. */
      if (floating && (i == 1 || i == 2)) {
        sb_model_store *none;
        assert_int_equal(sb_scene_load(&request, &none, &diag), SB_E_CONFIG);
        assert_int_equal(diag.error_count, 1);
        assert_non_null(strstr(diag.items[diag.count - 1].message, i == 1 ? "lbr_iiwa_link_0" : "slideBar"));
      } else {
        sb_model_store *store = load(&request, &diag);
        assert_int_equal(view(store)->dof_count, robots[i].dofs + (floating ? 6 : 0));
        sb_model_store_free(store);
      }
      sb_diagnostics_clear(&diag);
    }
}

static void test_cooked_file(void **state)
{
  (void)state;
  const sb_scene_param params[1] = {{"rows", "3", "x.ini:4"}};
  sb_scene_request request = {.scene = "generator:pyramid", .params = params, .param_count = 1};
  sb_diagnostics diag = {0};
  sb_model_store *store = load(&request, &diag), *again = NULL;
  assert_int_equal(view(store)->body_count, 6);
  assert_float_equal(view(store)->body_q[0], -1.0, 0.0);
  void *bytes;
  size_t size;
  assert_int_equal(sb_model_store_to_bytes(store, &bytes, &size, NULL), SB_OK);
  assert_int_equal(fixture_load_bytes(bytes, size, &again, NULL), SB_OK);
  assert_true(sb_model_store_hash(again) == sb_model_store_hash(store));
  free(bytes);
  sb_model_store_free(store);
  sb_model_store_free(again);
}

/* The arms' links are where the comparison programs put them: a chain of turns about two axes, in their frame with y
 * up. */
static void test_arms_pose(void **state)
{
  (void)state;
  sb_scene_request request = {.scene = "generator:arms"};
  sb_diagnostics diag = {0};
  sb_model_store *store = load(&request, &diag);
  int arm = 37;
  double r[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, p[3] = {(arm % 16) * 6.0, 0.0, (arm / 16) * 6.0};
  for (int i = 0; i < 7; i++) {
    double q = i == 0 ? -M_PI / 2.0 + 0.3 + 0.0005 * arm : 0.1, c = cos(q), s = sin(q), n[3][3];
    double z[3][3] = {{c, -s, 0}, {s, c, 0}, {0, 0, 1}}, y[3][3] = {{c, 0, s}, {0, 1, 0}, {-s, 0, c}};
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 3; b++) {
        n[a][b] = 0.0;
        for (int k = 0; k < 3; k++) n[a][b] += r[a][k] * ((i & 1) ? y[k][b] : z[k][b]);
      }
    memcpy(r, n, sizeof r);
    const float *at = view(store)->body_q + 7 * (7 * arm + i);
    assert_float_equal(at[0], p[0], 1e-5);
    assert_float_equal(at[1], -p[2], 1e-5);
    assert_float_equal(at[2], p[1], 1e-5);
    for (int a = 0; a < 3; a++) p[a] += 0.3 * r[a][0];
  }
  sb_model_store_free(store);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_crane),       cmocka_unit_test(test_joint_types),
                                     cmocka_unit_test(test_floating),    cmocka_unit_test(test_public_robots),
                                     cmocka_unit_test(test_cooked_file), cmocka_unit_test(test_arms_pose)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
