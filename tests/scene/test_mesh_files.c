/* Mesh and heightfield files: what is read, what is refused and how that is said; shapes that MJCF and URDF make of them. */
#include "mesh_file.h"
#include "scene_fixture.h"

#include <math.h>

static const double unit[3] = {1, 1, 1};

/* Reads bytes as a file of that name; the status, the mesh and the first message. */
static sb_status read_as(const char *name, const void *bytes, size_t size, mesh *out, char message[300])
{
  sb_diagnostics diag = {0};
  uint64_t remaining = 1 << 20;
  fixture_write(name, bytes, size);
  sb_status status = mesh_file_read(name, NULL, &remaining, unit, out, &diag);
  remove(name);
  *message = 0;
  if (diag.count) snprintf(message, 300, "%s: %s", diag.items[0].where, diag.items[0].message);
  if (status != SB_OK) assert_int_equal(diag.error_count, 1);
  sb_diagnostics_clear(&diag);
  return status;
}

static sb_status read_text(const char *name, const char *text, mesh *out, char message[300]) { return read_as(name, text, strlen(text), out, message); }

#define TRIANGLE "facet normal 0 0 1\n outer loop\n  vertex 0 0 0\n  vertex 1 0 0\n  vertex 0 1 0\n endloop\nendfacet\n"

static size_t binary_stl(unsigned char *to, uint32_t triangles, uint32_t counted)
{
  memset(to, 0, 84 + 50 * (size_t)triangles);
  memcpy(to, "solid but binary", 16);
  for (int i = 0; i < 4; i++) to[80 + i] = (unsigned char)(counted >> 8 * i);
  for (uint32_t t = 0; t < triangles; t++) {
    /* 1.0f is 00 00 80 3f, little-endian; one corner of each triangle at z = t */
    unsigned char *p = to + 84 + 50 * (size_t)t + 12;
    p[12 + 2] = 0x80, p[12 + 3] = 0x3f;
    p[24 + 4 + 2] = 0x80, p[24 + 4 + 3] = 0x3f;
    if (t) p[2 * 4 + 2] = 0x80, p[2 * 4 + 3] = 0x3f;
  }
  return 84 + 50 * (size_t)triangles;
}

static void stl_is_read(void **state)
{
  (void)state;
  mesh m;
  char message[300];
  assert_int_equal(read_text("t.stl", "solid a\n" TRIANGLE "endsolid a\n", &m, message), SB_OK);
  assert_int_equal(m.triangle_count, 1);
  assert_int_equal(m.vertex_count, 3);
  mesh_clear(&m);
  unsigned char bytes[84 + 100];
  assert_int_equal(read_as("t.STL", bytes, binary_stl(bytes, 2, 2), &m, message), SB_OK);
  assert_int_equal(m.triangle_count, 2);
  assert_int_equal(m.vertex_count, 4); /* equal corners are one vertex */
  assert_true(m.vertex[3] == 1.0);
  mesh_clear(&m);
  assert_int_equal(read_as("t.stl", bytes, binary_stl(bytes, 2, 40000000), &m, message), SB_E_CONFIG);
  mesh_clear(&m);
  assert_int_equal(read_as("t.stl", bytes, 40, &m, message), SB_E_CONFIG);
  mesh_clear(&m);
  binary_stl(bytes, 1, 1);
  memset(bytes + 84 + 12, 0xff, 4);
  assert_int_equal(read_as("t.stl", bytes, 134, &m, message), SB_E_CONFIG);
  assert_non_null(strstr(message, "byte 96"));
  mesh_clear(&m);
  assert_int_equal(read_text("t.stl", "solid a\nfacet\nouter loop\nvertex 0 0\n", &m, message), SB_E_CONFIG);
  assert_non_null(strstr(message, "t.stl:4"));
  mesh_clear(&m);
  assert_int_equal(read_text("t.stl", "solid a\nvertex 0 0 0\nvertex 1 0 0\nendloop\n", &m, message), SB_E_CONFIG);
  mesh_clear(&m);
  assert_int_equal(read_text("t.stl", "solid nothing\n", &m, message), SB_E_CONFIG);
  mesh_clear(&m);
}

static void obj_is_read(void **state)
{
  (void)state;
  mesh m;
  char message[300];
  assert_int_equal(read_text("t.obj", "# comment\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\nf 1//1 2/5/1 3 -1\n", &m, message), SB_OK);
  assert_int_equal(m.triangle_count, 2);
  mesh_clear(&m);
  static const char *const bad[] = {"v 0 0\n", "v 0 0 0\nf 1 2 3\n", "v 0 0 0\nv 1 0 0\nf 1 2\n", "v 0 0 0\nf 0 1 1\n", "v 0 0 0\nf 1 -2 1\n",
                                    "v 0 0 0\nf 1 1.5 1\n", "v 0 0 nan\n", "v 1e999 0 0\n"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_int_equal(read_text("t.obj", bad[i], &m, message), SB_E_CONFIG);
    assert_non_null(strstr(message, "t.obj:"));
    mesh_clear(&m);
  }
  assert_int_equal(read_text("t.dae", "<COLLADA/>", &m, message), SB_E_CONFIG);
  mesh_clear(&m);
}

/* Any damage to a file gives a mesh or one message; nothing is read out of bounds. */
static void damaged_files_are_safe(void **state)
{
  (void)state;
  unsigned char good[84 + 200], bytes[sizeof good];
  size_t size = binary_stl(good, 4, 4);
  uint32_t random = 7;
  for (int i = 0; i < 600; i++) {
    mesh m;
    char message[300];
    memcpy(bytes, good, size);
    for (int k = 0; k < 3; k++) {
      random = random * 1664525u + 1013904223u;
      bytes[(random >> 8) % size] = (unsigned char)(random >> 24);
    }
    read_as(i % 3 ? "t.stl" : "t.obj", bytes, i % 2 ? size : (random >> 4) % size + 1, &m, message);
    for (uint32_t c = 0; c < 3 * m.triangle_count; c++) assert_true(m.corner[c] < m.vertex_count);
    mesh_clear(&m);
  }
}

static const sb_model *load(const char *text, sb_model_store **store)
{
  *store = fixture_good(text);
  return sb_model_store_view(*store);
}

/* A mesh is triangles in the world and a hull on a body that moves, once each, however many geoms and worlds use it. */
static void mjcf_meshes(void **state)
{
  (void)state;
  sb_model_store *store, *many;
  const sb_model *m = load("<mujoco><asset><mesh name='a' vertex='0 0 0 1 0 0 0 1 0 0 0 1' scale='2 2 2'/></asset><worldbody>"
                           "<geom type='mesh' mesh='a'/><geom type='mesh' mesh='a' pos='5 0 0'/><body pos='0 0 9'><freejoint/>"
                           "<geom type='mesh' mesh='a' density='3'/></body><body pos='0 9 9'><freejoint/><geom type='mesh' mesh='a' mass='2'/>"
                           "</body></worldbody></mujoco>",
                           &store);
  assert_int_equal(m->geometry_count, 2);
  assert_int_equal(m->shape_type[0], SB_SHAPE_MESH);
  assert_int_equal(m->shape_type[2], SB_SHAPE_HULL);
  assert_int_equal(m->shape_geometry[0], m->shape_geometry[1]);
  assert_int_equal(m->shape_geometry[2], m->shape_geometry[3]);
  /* a corner of a cube of side 2: volume 8 / 6, centre a quarter along each axis */
  assert_true(fabsf(m->body_mass[0] - 4.0f) < 1e-5f && fabsf(m->body_mass[1] - 2.0f) < 1e-5f);
  for (int k = 0; k < 3; k++) {
    assert_true(fabsf(m->body_com[k] - 0.5f) < 1e-6f);
    assert_true(fabsf(m->shape_X[7 * 2 + k] - 1.0f) < 1e-6f); /* the middle of the box */
    assert_true(fabsf(m->shape_size[3 * 2 + k] - 1.0f) < 1e-5f);
    assert_true(fabsf(m->body_inertia[k] - 4.0f * 2.0f * 3.0f / 80.0f * 4.0f) < 1e-5f); /* 3/80 m a^2 about each axis and its fellow */
  }
  assert_int_equal(sb_model_store_replicate(store, 3, 0, &many, NULL), SB_OK);
  const sb_model *w = sb_model_store_view(many);
  assert_int_equal(w->geometry_count, 2);
  assert_int_equal(w->shape_count, 12);
  assert_int_equal(w->shape_geometry[11], m->shape_geometry[3]);
  assert_memory_equal(w->geometry_vertex, m->geometry_vertex, 3 * sizeof(float) * m->geometry_vertex_count);
  sb_model_store_free(many);
  sb_model_store_free(store);
}

/* Heights are normalised to the size; text has the row at the largest y first. */
static void mjcf_heightfields(void **state)
{
  (void)state;
  sb_model_store *store;
  const sb_model *m = load("<mujoco><asset><hfield name='h' nrow='2' ncol='3' size='4 2 0.5 1' elevation='2 2 6 4 4 4'/></asset>"
                           "<worldbody><geom type='hfield' hfield='h'/></worldbody></mujoco>",
                           &store);
  static const float want[6] = {0.25f, 0.25f, 0.25f, 0.0f, 0.0f, 0.5f};
  assert_int_equal(m->geometry_grid[1], 2);
  assert_int_equal(m->geometry_grid[2], 3);
  for (int i = 0; i < 6; i++) assert_true(fabsf(m->geometry_height[i] + m->shape_X[2] - want[i]) < 1e-6f);
  assert_true(m->shape_size[0] == 4.0f && m->shape_size[1] == 2.0f);
  sb_model_store_free(store);
  /* the same from a binary file, whose first row is that at the smallest y */
  const unsigned char bytes[] = {2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0x40};
  fixture_write("heights.bin", bytes, sizeof bytes);
  m = load("<mujoco><asset><hfield file='heights.bin' size='1 1 1 1'/></asset><worldbody><geom type='hfield' hfield='heights'/></worldbody></mujoco>",
           &store);
  remove("heights.bin");
  assert_true(fabsf(m->geometry_height[1] + m->shape_X[2] - 0.5f) < 1e-6f && fabsf(m->geometry_height[3] + m->shape_X[2] - 1.0f) < 1e-6f);
  sb_model_store_free(store);
}

static void mistakes_are_told(void **state)
{
  (void)state;
#define GEOM(asset, body) "<mujoco><asset>" asset "</asset><worldbody><body><freejoint/>" body "</body></worldbody></mujoco>"
  static const struct {
    const char *text, *says;
  } bad[] = {
      {GEOM("<mesh name='a' vertex='0 0 0 1 0 0 0 1 0 1 1 0'/>", "<geom type='mesh' mesh='a'/>"), "plane"},
      {GEOM("<mesh name='a' vertex='0 0 0 1 0 0 0 1'/>", "<geom type='mesh' mesh='a'/>"), "three numbers"},
      {GEOM("<mesh name='a' vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 1 4'/>", "<geom type='mesh' mesh='a'/>"), "below 4"},
      {GEOM("<mesh name='a' file='no_such.stl'/>", "<geom type='mesh' mesh='a'/>"), "no_such.stl"},
      {GEOM("<mesh/>", "<geom size='1'/>"), "name"},
      {GEOM("<mesh name='gem' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/>", "<geom type='mesh' mesh='gen'/>"), "did you mean 'gem'"},
      {GEOM("", "<geom type='mesh'/>"), "needs the attribute mesh"},
      {GEOM("<hfield name='h' nrow='2' ncol='2' size='1 1 1 1' elevation='1 2 3'/>", "<geom size='1'/>"), "4 numbers"},
      {GEOM("<hfield name='h' nrow='1' ncol='2' size='1 1 1 1'/>", "<geom size='1'/>"), "nrow"},
      {GEOM("<hfield name='h' file='a.png' size='1 1 1 1'/>", "<geom size='1'/>"), "image"},
      {GEOM("<hfield name='h' nrow='2' ncol='2' size='1 1 1 1'/>", "<geom size='1'/><geom type='hfield' hfield='h'/>"), "fixed"},
  };
#undef GEOM
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    sb_diagnostics diag = {0};
    sb_model_store *store;
    assert_int_not_equal(fixture_load_bytes(bad[i].text, strlen(bad[i].text), &store, &diag), SB_OK);
    bool said = false;
    for (size_t k = 0; k < diag.count; k++) said = said || strstr(diag.items[k].message, bad[i].says);
    if (!said) print_message("%s\nexpected '%s', was told '%s'\n", bad[i].text, bad[i].says, diag.count ? diag.items[0].message : "");
    assert_true(said);
    sb_diagnostics_clear(&diag);
  }
}

/* The shared robots load with all their collision meshes. */
static void robots_with_meshes(void **state)
{
  (void)state;
  static const struct {
    const char *file;
    uint32_t hulls, meshes;
  } robots[] = {{SAMEBIT_SHARED "/panda/panda.urdf", 8, 1}, {SAMEBIT_SHARED "/kuka_iiwa/model.urdf", 7, 1}};
  for (size_t i = 0; i < 2; i++) {
    sb_diagnostics diag = {0};
    sb_model_store *store;
    sb_scene_request request = {.scene = robots[i].file};
    if (access(request.scene, R_OK) != 0) {
      print_message("%s is absent: left out\n", request.scene);
      continue;
    }
    assert_int_equal(sb_scene_load(&request, &store, &diag), SB_OK);
    for (size_t k = 0; k < diag.count; k++) assert_null(strstr(diag.items[k].message, "geometry"));
    const sb_model *m = sb_model_store_view(store);
    uint32_t hulls = 0, meshes = 0;
    for (uint32_t s = 0; s < m->shape_count; s++) hulls += m->shape_type[s] == SB_SHAPE_HULL, meshes += m->shape_type[s] == SB_SHAPE_MESH;
    assert_int_equal(hulls, robots[i].hulls);
    assert_int_equal(meshes, robots[i].meshes);
    sb_model_store_free(store);
    sb_diagnostics_clear(&diag);
  }
}

static void urdf_shapes(void **state)
{
  (void)state;
  static const char gem[] = "v 1 0 0\nv -1 0 0\nv 0 1 0\nv 0 -1 0\nv 0 0 1\nv 0 0 -1\nf 1 3 5\nf 3 2 5\nf 2 4 5\nf 4 1 5\nf 3 1 6\nf 2 3 6\nf 4 2 6\nf 1 4 6\n";
  fixture_write("urdf_gem.obj", gem, sizeof gem - 1);
  sb_model_store *store;
  const sb_model *m = load("<robot name='r'><link name='base'><collision><geometry><cylinder radius='0.2' length='0.6'/></geometry></collision>"
                           "<collision><geometry><mesh filename='package://some/where/urdf_gem.obj' scale='1 2 1'/></geometry></collision></link>"
                           "<link name='arm'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
                           "<collision><geometry><mesh filename='urdf_gem.obj'/></geometry></collision></link>"
                           "<joint name='j' type='continuous'><parent link='base'/><child link='arm'/></joint></robot>",
                           &store);
  remove("urdf_gem.obj");
  assert_int_equal(m->shape_count, 3);
  assert_int_equal(m->shape_type[0], SB_SHAPE_CYLINDER);
  assert_true(m->shape_size[0] == 0.2f && m->shape_size[1] == 0.3f);
  assert_int_equal(m->shape_type[1], SB_SHAPE_MESH);
  assert_true(fabsf(m->shape_size[4] - 2.0f) < 1e-5f);
  assert_int_equal(m->shape_type[2], SB_SHAPE_HULL);
  assert_int_equal(m->geometry_faces[2 * m->shape_geometry[2] + 1], 8);
  sb_model_store_free(store);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(stl_is_read),       cmocka_unit_test(obj_is_read),       cmocka_unit_test(damaged_files_are_safe),
                                     cmocka_unit_test(mjcf_meshes),       cmocka_unit_test(mjcf_heightfields), cmocka_unit_test(mistakes_are_told),
                                     cmocka_unit_test(robots_with_meshes), cmocka_unit_test(urdf_shapes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
