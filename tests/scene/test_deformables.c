/* Cloth, ropes and soft bodies from generators and from <flexcomp>: counts, masses, pins, rest data, attachments, Gmsh files, and what
 * is said of mistakes. */
#include <math.h>

#include "cook_math.h"
#include "scene_fixture.h"

static sb_model_store *generated(const char *name, const char *const (*params)[2], size_t count)
{
  char scene[64];
  sb_scene_param p[16];
  snprintf(scene, sizeof scene, "generator:%s", name);
  for (size_t i = 0; i < count; i++) p[i] = (sb_scene_param){params[i][0], params[i][1], NULL};
  const sb_scene_request request = {.scene = scene, .params = p, .param_count = count};
  sb_model_store *store = NULL;
  sb_diagnostics diag = {0};
  sb_status status = sb_scene_load(&request, &store, &diag);
  if (status) print_message("%s\n", diag.count ? diag.items[0].message : "?");
  assert_int_equal(status, SB_OK);
  sb_diagnostics_clear(&diag);
  return store;
}

static double total_mass(const sb_model *m)
{
  double sum = 0;
  for (uint32_t p = 0; p < m->particle_count; p++) sum += m->particle_mass[p];
  return sum;
}

static void angles_are_those_of_the_library(void **state)
{
  (void)state;
  double worst = 0;
  for (int i = 0; i < 20000; i++) {
    double x = sin(12.9898 * i) * pow(10, 3 * sin(0.37 * i)), y = cos(78.233 * i) * pow(10, 3 * cos(0.11 * i));
    worst = fmax(worst, fabs(cook_atan2(y, x) - atan2(y, x)) / fmax(fabs(atan2(y, x)), 1e-300));
  }
  assert_true(worst < 1e-15);
  assert_true(cook_atan2(0, 0) == 0 && cook_atan2(1, 0) == COOK_PI / 2 && cook_atan2(-1, 0) == -COOK_PI / 2);
  assert_true(cook_atan2(0, -2) == COOK_PI && cook_atan2(0, 2) == 0);
}

static void cloth_has_what_was_asked_for(void **state)
{
  (void)state;
  const char *const springs[][2] = {{"rows", "5"}, {"columns", "7"}, {"spacing", "0.1"}, {"mass", "2"}, {"pins", "corners"}};
  sb_model_store *store = generated("cloth", springs, 5);
  const sb_model *m = sb_model_store_view(store);
  assert_int_equal(m->particle_count, 35);
  assert_int_equal(m->spring_count, 5 * 6 + 4 * 7 + 2 * 4 * 6 + 5 * 5 + 3 * 7);
  assert_int_equal(m->tri_count, 0);
  assert_true(fabs(total_mass(m) - 2 * 0.4 * 0.6) < 1e-6);
  for (uint32_t p = 0; p < 35; p++) assert_int_equal(m->particle_inv_mass[p] == 0, p == 0 || p == 6);
  sb_model_store_free(store);
  const char *const membrane[][2] = {{"rows", "5"}, {"columns", "7"}, {"spacing", "0.1"}, {"model", "membrane"}, {"self_contact", "1"}, {"young", "100"}, {"poisson", "0.25"}, {"bending", "0.5"}};
  store = generated("cloth", membrane, 8);
  m = sb_model_store_view(store);
  assert_int_equal(m->spring_count, 0);
  assert_int_equal(m->tri_count, 48);
  assert_int_equal(m->edge_count, 35 + 48 - 1); /* Euler's formula of a disc */
  uint32_t border = 0;
  double area = 0;
  for (uint32_t t = 0; t < m->tri_count; t++) area += m->tri_area[t];
  for (uint32_t e = 0; e < m->edge_count; e++) {
    bool open = m->edge_indices[4 * e + 1] < 0;
    border += open;
    assert_true(m->edge_rest_angle[e] == 0.0f && m->edge_bending_ke[e] == (open ? 0.0f : 0.5f));
  }
  assert_int_equal(border, 20);
  assert_true(fabs(area - 0.24) < 1e-6);
  assert_true(fabsf(m->tri_ke[0] - 40.0f) < 1e-5f && fabsf(m->tri_ka[0] - 100.0f * 0.25f / 0.9375f) < 1e-4f);
  assert_int_equal(m->deformable_flags[0], SB_DEFORMABLE_SELF_CONTACT);
  sb_model_store_free(store);
}

/* Energy of bending, which the alternating diagonals make that of a plate: a cylinder and a saddle of small curvature. */
static void bending_does_not_depend_on_the_resolution(void **state)
{
  (void)state;
  for (int n = 9; n <= 33; n += 24)
    for (int which = 0; which < 3; which++) {
      char rows[16], spacing[24];
      snprintf(rows, sizeof rows, "%d", n);
      snprintf(spacing, sizeof spacing, "%.17g", 1.0 / (n - 1));
      const char *const params[][2] = {{"rows", rows}, {"columns", rows}, {"spacing", spacing}, {"model", "membrane"}, {"bending", "1"}, {"pose", "flat"}};
      sb_model_store *store = generated("cloth", params, 6);
      const sb_model *m = sb_model_store_view(store);
      double energy = 0, k = 1e-3;
      for (uint32_t e = 0; e < m->edge_count; e++) {
        const int32_t *i = m->edge_indices + 4 * (size_t)e;
        double x[4][3], n0[3], n1[3], u[3], v[3], turn[3];
        if (i[1] < 0) continue;
        for (int c = 0; c < 4; c++) {
          for (int a = 0; a < 2; a++) x[c][a] = m->particle_q[3 * i[c] + a];
          x[c][2] = 0.5 * k * (which == 0 ? x[c][0] * x[c][0] : which == 1 ? 2 * x[c][0] * x[c][1] : x[c][0] * x[c][0] + x[c][1] * x[c][1]);
        }
        for (int a = 0; a < 3; a++) u[a] = x[3][a] - x[2][a], v[a] = x[0][a] - x[2][a];
        cook_cross(u, v, n0);
        for (int a = 0; a < 3; a++) u[a] = x[2][a] - x[3][a], v[a] = x[1][a] - x[3][a];
        cook_cross(u, v, n1);
        cook_cross(n0, n1, turn);
        double angle = atan2(cook_length(turn), cook_dot(n0, n1));
        energy += 0.5 * m->edge_bending_ke[e] * angle * angle;
      }
      /* D / 2 (a^2 + c^2 + 2 b^2) over an area of 1; edges at the border are missing, which is 1 / (n - 1) of it */
      double plate = 0.5 * k * k * (which == 0 ? 1 : 2);
      assert_true(fabs(energy / plate - 1) < 1.1 / (n - 1));
      sb_model_store_free(store);
    }
}

static void soft_blocks_are_full(void **state)
{
  (void)state;
  const char *const params[][2] = {{"nx", "3"}, {"ny", "2"}, {"nz", "4"}, {"spacing", "0.1"}, {"self_contact", "1"}, {"pins", "face"}};
  sb_model_store *store = generated("soft", params, 6);
  const sb_model *m = sb_model_store_view(store);
  double volume = 0;
  assert_int_equal(m->particle_count, 4 * 3 * 5);
  assert_int_equal(m->tet_count, 5 * 24);
  for (uint32_t t = 0; t < m->tet_count; t++) volume += m->tet_volume[t];
  assert_true(fabs(volume - 0.024) < 1e-6 && fabs(total_mass(m) - 24) < 1e-3);
  /* a closed skin: each edge has two triangles, which face outwards */
  assert_int_equal(m->tri_count, 2 * 2 * (3 * 2 + 2 * 4 + 3 * 4));
  for (uint32_t e = 0; e < m->edge_count; e++) assert_true(m->edge_indices[4 * e + 1] >= 0);
  volume = 0;
  for (uint32_t t = 0; t < m->tri_count; t++) {
    double x[3][3], n[3];
    for (int c = 0; c < 3; c++)
      for (int a = 0; a < 3; a++) x[c][a] = m->particle_q[3 * m->tri_indices[3 * t + c] + a];
    cook_cross(x[1], x[2], n);
    volume += cook_dot(x[0], n) / 6;
  }
  assert_true(fabs(volume - 0.024) < 1e-6);
  sb_model_store_free(store);
}

static void ropes_keep_their_rigidity(void **state)
{
  (void)state;
  const char *const params[][2] = {{"count", "11"}, {"length", "2"}, {"stretch", "50"}, {"bend", "3"}, {"pins", "ends"}};
  sb_model_store *store = generated("rope", params, 5);
  const sb_model *m = sb_model_store_view(store);
  assert_int_equal(m->spring_count, 10 + 9);
  assert_true(fabsf(m->spring_stiffness[0] - 250.0f) < 1e-4f && fabs(total_mass(m) - 0.2) < 1e-6);
  sb_model_store_free(store);
}

#define FLEX(attributes, inside) "<mujoco><worldbody><flexcomp name=\"f\" " attributes ">" inside "</flexcomp></worldbody></mujoco>"

static void flexcomp_becomes_a_deformable(void **state)
{
  (void)state;
  sb_model_store *store = fixture_good(FLEX("type=\"grid\" count=\"5 3 1\" spacing=\".1 .1 .1\" mass=\"2\" radius=\".01\" dim=\"2\" pos=\"0 0 1\"",
                                            "<pin id=\"0\" grid=\"4 2\"/><edge equality=\"true\"/><contact selfcollide=\"none\" friction=\".3\"/>"));
  const sb_model *m = sb_model_store_view(store);
  assert_int_equal(m->particle_count, 15);
  assert_int_equal(m->tri_count, 16);
  assert_int_equal(m->spring_count, 4 * 3 + 5 * 2 + 8);
  assert_true(m->spring_stiffness[0] == SB_NO_LIMIT && m->deformable_friction[0] == 0.3f && m->deformable_flags[0] == 0);
  assert_true(m->particle_q[0] == -0.2f && m->particle_q[1] == -0.1f && m->particle_q[2] == 1.0f && fabs(total_mass(m) - 2) < 1e-6);
  for (uint32_t p = 0; p < 15; p++) assert_int_equal(m->particle_inv_mass[p] == 0, p == 0 || p == 14);
  sb_model_store_free(store);
  store = fixture_good(FLEX("type=\"grid\" count=\"3 2 4\" dim=\"3\"", "<elasticity young=\"1000\" poisson=\".25\" damping=\".1\"/>"));
  m = sb_model_store_view(store);
  assert_int_equal(m->tet_count, 5 * 6);
  assert_int_equal(m->tri_count, 2 * 2 * (2 * 1 + 1 * 3 + 2 * 3));
  assert_true(m->tet_k_mu[0] == 400.0f && m->tet_k_lambda[0] == 400.0f && m->tet_k_damp[0] == 40.0f);
  sb_model_store_free(store);
  store = fixture_good(FLEX("type=\"direct\" dim=\"1\" point=\"0 0 0 1 0 0 1 1 0\" element=\"0 1 1 2\"", "<edge stiffness=\"30\" damping=\"2\"/>"));
  m = sb_model_store_view(store);
  assert_true(m->spring_count == 2 && m->tri_count == 0 && m->spring_stiffness[1] == 30.0f && m->spring_damping[0] == 2.0f);
  sb_model_store_free(store);
}

/* A sheet of two by three cells of 0.5, 2 by 3 in its own unit, with a vertex that no triangle has. */
static const char sheet_obj[] = "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 0 1 0\nv 1 1 0\nv 2 1 0\nv 9 9 9\nv 0 1 1\nv 1 1 1\nv 2 1 1\n"
                                "f 1 2 5 4\nf 2 3 6 5\nf 4 5 9 8\nf 5 6 10 9\n";

static void a_mesh_becomes_a_cloth(void **state)
{
  (void)state;
  fixture_write("sheet.obj", sheet_obj, sizeof sheet_obj - 1);
  const sb_scene_param params[] = {{"file", "sheet.obj", NULL}, {"scale", "0.5", NULL}, {"height", "1", NULL}, {"pins", "top", NULL}, {"mass", "0.4", NULL}, {"young", "1000", NULL},
                                   {"poisson", "0.25", NULL}, {"bending", "0.01", NULL}, {"damping", "3", NULL}, {"self_contact", "1", NULL}, {"ground", "0", NULL}};
  sb_scene_request request = {.scene = "generator:cloth_mesh", .params = params, .param_count = sizeof params / sizeof *params};
  sb_model_store *store = NULL;
  assert_int_equal(sb_scene_load(&request, &store, NULL), SB_OK);
  const sb_model *m = sb_model_store_view(store);
  assert_int_equal(m->particle_count, 9);
  assert_int_equal(m->tri_count, 8);
  assert_int_equal(m->shape_count, 0);
  assert_true(m->deformable_flags[0] == SB_DEFORMABLE_SELF_CONTACT && m->tri_ke[0] == 400.0f && m->tri_kd[0] == 3.0f);
  uint32_t pinned = 0;
  double mass = 0;
  for (uint32_t p = 0; p < 9; p++) {
    bool top = m->particle_q[3 * p + 2] == 1.5f;
    assert_int_equal(m->particle_inv_mass[p] == 0, top);
    pinned += top;
    mass += (double)m->particle_mass[p];
  }
  assert_int_equal(pinned, 3);
  assert_true(fabs(mass - 0.4) < 1e-6); /* two by one metres of 0.5 in two halves: 1 m^2 */
  /* the fold is at rest as it is in the file */
  double folded = 0;
  for (uint32_t e = 0; e < m->edge_count; e++) folded = fmax(folded, fabs((double)m->edge_rest_angle[e]));
  assert_true(fabs(folded - 1.5707963) < 1e-5);
  sb_model_store_free(store);
  sb_scene_param bad[] = {{"file", "nothing.obj", "x.ini:4"}, {"pins", "top", NULL}};
  request.params = bad;
  request.param_count = 2;
  sb_diagnostics diag = {0};
  assert_int_equal(sb_scene_load(&request, &store, &diag), SB_E_CONFIG);
  assert_true(diag.count == 1 && strstr(diag.items[0].message, "nothing.obj") && !strcmp(diag.items[0].where, "x.ini:4"));
  sb_diagnostics_clear(&diag);
  request.params = bad + 1;
  request.param_count = 1;
  assert_int_equal(sb_scene_load(&request, &store, &diag), SB_E_CONFIG);
  assert_true(diag.count == 1 && strstr(diag.items[0].message, "needs the parameter file"));
  sb_diagnostics_clear(&diag);
  store = fixture_good(FLEX("type=\"mesh\" file=\"sheet.obj\" dim=\"2\" mass=\"1.8\" radius=\".01\"", "<pin id=\"0\"/><elasticity young=\"1e5\" thickness=\".002\" elastic2d=\"both\"/>"));
  m = sb_model_store_view(store);
  assert_int_equal(m->tri_count, 8);
  assert_true(m->particle_inv_mass[0] == 0 && m->tri_ke[0] > 0.0f && fabs(total_mass(m) - 1.8) < 1e-6);
  sb_model_store_free(store);
  remove("sheet.obj");
}

/* Pinned points of a flexcomp in a body hang on that body. */
static void pins_in_a_body_are_attachments(void **state)
{
  (void)state;
  sb_model_store *store = fixture_good("<mujoco><worldbody><body pos=\"1 2 3\" euler=\"0 0 90\"><freejoint/><geom type=\"sphere\" size=\".1\"/>"
                                       "<flexcomp count=\"3 2 1\" spacing=\".5 .5 .5\" pos=\"0 0 .25\"><pin id=\"0\"/></flexcomp></body></worldbody></mujoco>");
  const sb_model *m = sb_model_store_view(store);
  assert_int_equal(m->attachment_count, 1);
  assert_true(m->attachment_body[0] == 0 && m->attachment_stiffness[0] == SB_NO_LIMIT && m->particle_inv_mass[0] > 0.0f);
  const float point[3] = {-0.5f, -0.25f, 0.25f}, at[3] = {1.25f, 1.5f, 3.25f};
  for (int k = 0; k < 3; k++) {
    assert_true(fabsf(m->attachment_point[k] - point[k]) < 1e-6f);
    assert_true(fabsf(m->particle_q[k] - at[k]) < 1e-6f);
  }
  sb_model_store_free(store);
}

static const char two[] = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n9 1 1 1\n1 0 0 0\n2 1 0 0\n3 0 1 0\n7 0 0 1\n$EndNodes\n$Elements\n3\n1 15 2 0 1 1\n"
                          "2 4 2 0 1 1 2 3 7\n3 4 2 0 1 2 3 7 9\n$EndElements\n";
static const char four[] = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n2 5 1 9\n2 1 0 1\n9\n1 1 1\n3 1 0 4\n1\n2\n3\n7\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n$EndNodes\n"
                           "$Elements\n2 3 1 3\n0 1 15 1\n1 1\n3 1 4 2\n2 1 2 3 7\n3 2 3 7 9\n$EndElements\n";
static const char with_file[] = FLEX("type=\"gmsh\" file=\"scene_fixture.msh\" dim=\"3\"", "<elasticity young=\"1e4\" poisson=\".3\"/>");

static void gmsh_files_of_both_formats_are_read(void **state)
{
  (void)state;
  uint64_t hash[2];
  for (int i = 0; i < 2; i++) {
    fixture_write("scene_fixture.msh", i ? four : two, strlen(i ? four : two));
    sb_model_store *store = fixture_good(with_file);
    const sb_model *m = sb_model_store_view(store);
    assert_true(m->particle_count == 5 && m->tet_count == 2 && m->tri_count == 6 && m->edge_count == 9);
    hash[i] = sb_model_store_hash(store);
    sb_model_store_free(store);
  }
  assert_true(hash[0] == hash[1]);
  remove("scene_fixture.msh");
}

static void expect_error(const char *text, const char *message)
{
  sb_diagnostics diag = {0};
  sb_model_store *store = NULL;
  assert_int_not_equal(fixture_load_bytes(text, strlen(text), &store, &diag), SB_OK);
  assert_null(store);
  bool found = false;
  for (size_t i = 0; i < diag.count; i++) found = found || strstr(diag.items[i].message, message);
  if (!found) print_message("expected \"%s\", found \"%s\"\n", message, diag.count ? diag.items[0].message : "nothing");
  assert_true(found);
  assert_true(diag.count <= 2);
  sb_diagnostics_clear(&diag);
}

static void mistakes_are_told(void **state)
{
  (void)state;
  expect_error(FLEX("dim=\"4\"", ""), "dim must be 1, 2 or 3");
  expect_error(FLEX("count=\"3 3 3\" dim=\"2\"", ""), "count must be whole numbers");
  expect_error(FLEX("count=\"100000 100000 1\" dim=\"2\"", ""), "more than 10000000 points");
  expect_error(FLEX("count=\"3 3 1\"", "<pin id=\"9\"/>"), "there is no point 9");
  expect_error(FLEX("count=\"3 3 1\"", "<pin grid=\"1 3\"/>"), "outside the grid");
  expect_error(FLEX("count=\"3 3 1\"", "<pin gridrange=\"2 2 0 0\"/>"), "its least corner first");
  expect_error(FLEX("count=\"3 3 1\"", "<pin range=\"5 2\"/>"), "the first point before the last one");
  expect_error(FLEX("count=\"3 3 1\"", "<pin range=\"0 2 5\"/>"), "range of a pin needs pairs");
  expect_error(FLEX("count=\"3 3 1\"", "<pin/>"), "a pin needs id, range, grid or gridrange");
  expect_error(FLEX("count=\"3 3 1\"", "<elasticity young=\"1\" poisson=\".5\"/>"), "poisson must be below 0.5");
  expect_error(FLEX("type=\"direct\" point=\"0 0 0 1 0 0\" element=\"0 1 2\"", ""), "names a point that is not there");
  expect_error(FLEX("type=\"direct\" point=\"0 0 0 1 0 0 2 0 0\" element=\"0 1 2\"", ""), "no area");
  expect_error(FLEX("type=\"mesh\"", ""), "needs the attribute file");
  expect_error(FLEX("type=\"circle\"", ""), "circle");
  static const struct {
    const char *text, *message;
  } files[] = {{"nonsense\n", "no section $MeshFormat"},
               {"$MeshFormat\n3 0 8\n", "expected format 2.2 or 4.1"},
               {"$MeshFormat\n4.1 1 8\n", "binary files are not supported"},
               {"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4000001\n", "expected 1 to 4000000 nodes"},
               {"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0\n", "expected a number"},
               {"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n2\n1 0 0 0\n1 1 0 0\n$EndNodes\n", "two nodes have one tag"},
               {"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n1 4 2 0 1 1 2 3 7\n", "names a node that is not there"},
               {"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n1 15 2 0 1 1\n", "no tetrahedra"},
               {"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 1 1 1\n3 1 0 2\n1\n2\n", "more nodes than announced"}};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    fixture_write("scene_fixture.msh", files[i].text, strlen(files[i].text));
    expect_error(with_file, files[i].message);
  }
  remove("scene_fixture.msh");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(angles_are_those_of_the_library), cmocka_unit_test(cloth_has_what_was_asked_for),
      cmocka_unit_test(bending_does_not_depend_on_the_resolution), cmocka_unit_test(soft_blocks_are_full),
      cmocka_unit_test(ropes_keep_their_rigidity), cmocka_unit_test(flexcomp_becomes_a_deformable), cmocka_unit_test(a_mesh_becomes_a_cloth),
      cmocka_unit_test(pins_in_a_body_are_attachments), cmocka_unit_test(gmsh_files_of_both_formats_are_read),
      cmocka_unit_test(mistakes_are_told)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
