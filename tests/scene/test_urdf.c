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

#define TWO_HINGES(inside)                                                                                             \
  "<robot name='r'><link name='a'/><link name='b'>" INERTIAL "</link><link name='c'>" INERTIAL "</link>"               \
  "<joint name='j' type='continuous'><parent link='a'/><child link='b'/></joint>"                                      \
  "<joint name='k' type='continuous'><parent link='b'/><child link='c'/>\n" inside "</joint></robot>"

static void test_mimic(void **state)
{
  (void)state;
  sb_model_store *store = fixture_good(TWO_HINGES("<mimic joint='j' multiplier='-2' offset='0.5'/>"));
  const sb_model *m = view(store);
  static const float poly[5] = {0.5f, -2.0f, 0.0f, 0.0f, 0.0f};
  assert_int_equal(m->equality_count, 1);
  assert_int_equal(m->equality_type[0], SB_EQUALITY_JOINT);
  assert_true(m->equality_dof[0] == 1 && m->equality_dof[1] == 0);
  assert_memory_equal(m->equality_poly, poly, sizeof poly);
  sb_model_store_free(store);
  static const struct {
    const char *text, *says;
  } wrong[] = {{TWO_HINGES("<mimic joint='k'/>"), "mimics itself"},
               {TWO_HINGES("<mimic joint='jj'/>"), "did you mean 'j'"},
               {TWO_HINGES("<mimic/>"), "is no revolute"},
               {TWO_HINGES("<mimic joint='j' offset='nan'/>"), "finite"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    sb_diagnostics diag = {0};
    assert_int_equal(fixture_load_bytes(wrong[i].text, strlen(wrong[i].text), &store, &diag), SB_E_CONFIG);
    if (diag.count != 1 || !strstr(diag.items[0].message, wrong[i].says) || !strstr(diag.items[0].where, ":2"))
      fail_msg("expected '%s', found '%s' at %s", wrong[i].says, diag.items[0].message, diag.items[0].where);
    sb_diagnostics_clear(&diag);
  }
}

/* A floating joint below a moving link: free in the world, from where its parent has it. */
static void test_floating_child(void **state)
{
  (void)state;
  sb_model_store *store = fixture_good("<robot name='r'><link name='a'/><link name='b'>" INERTIAL
                                       "</link><link name='c'>" INERTIAL "</link>"
                                       "<joint name='j' type='continuous'><origin xyz='1 0 0' rpy='0 0 "
                                       "1.5707963267948966'/><parent link='a'/><child link='b'/>"
                                       "</joint><joint name='k' type='floating'><origin xyz='0 2 0'/><parent "
                                       "link='b'/><child link='c'/></joint></robot>");
  const sb_model *m = view(store);
  assert_int_equal(m->joint_type[2], SB_JOINT_FREE);
  assert_float_equal(m->body_q[14], -1.0, 1e-6);
  assert_float_equal(m->body_q[15], 0.0, 1e-6);
  assert_float_equal(m->body_q[14 + 5], sqrt(0.5), 1e-6);
  sb_model_store_free(store);
}

static void test_surface_and_notes(void **state)
{
  (void)state;
  static const char text[] =
      "<robot name='r'><link name='a'><contact><lateral_friction value='0.25'/><rolling_friction value='0.5'/>"
      "<restitution value='0.75'/></contact><collision><geometry><sphere radius='1'/></geometry></collision></link>"
      "<link name='b'>" INERTIAL "</link><joint name='j' type='continuous'><parent link='a'/><child link='b'/>"
      "<joint_properties damping='3' friction='4'/><safety_controller k_velocity='1'/></joint>"
      "<transmission name='t'><type>x</type></transmission></robot>";
  sb_diagnostics diag = {0};
  sb_model_store *store = NULL;
  assert_int_equal(fixture_load_bytes(text, sizeof text - 1, &store, &diag), SB_OK);
  const sb_model *m = view(store);
  assert_true(m->shape_friction[0] == 0.25f && m->shape_friction[2] == 0.5f && m->shape_restitution[0] == 0.75f);
  assert_true(m->joint_damping[0] == 3.0f && m->joint_friction[0] == 4.0f);
  assert_int_equal(diag.count, 2);
  for (size_t i = 0; i < 2; i++) assert_int_equal(diag.items[i].severity, SB_NOTE);
  sb_diagnostics_clear(&diag);
  sb_model_store_free(store);
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
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_crane),
                                     cmocka_unit_test(test_joint_types),
                                     cmocka_unit_test(test_floating),
                                     cmocka_unit_test(test_public_robots),
                                     cmocka_unit_test(test_cooked_file),
                                     cmocka_unit_test(test_arms_pose),
                                     cmocka_unit_test(test_mimic),
                                     cmocka_unit_test(test_floating_child),
                                     cmocka_unit_test(test_surface_and_notes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
