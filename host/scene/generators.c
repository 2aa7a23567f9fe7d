/* Scenes made by parameters: benchmark scenes and small ones with known answers. Knows the model builder.
 *
 * The benchmark scenes pyramid, pile and arms are those of the comparison programs, which have y up: point (x, y, z)
 * there is (x, -z, y) here, a quarter turn about x, so both are congruent. Their positions are formed in binary32 in
 * the order used there. Gravity is 0 0 -9.81; z is up. */
#include "generator_parts.h"

#include "cook_math.h"
#include "geometry.h"
#include "scene_number.h"
#include "solid.h"

#include <stdio.h>
#include <string.h>

#define MOST_PARTICLES 10000000.0 /* of a generated body, as of a flexcomp */

/* size as in sb_model: radius | radius, half length | half extents */
static int32_t add_free_body(sb_model_builder *b, const surface *s, uint32_t type, const double size[3], double density,
                             const double at[3], const double qd[6], const char *name)
{
  static const solid_kind kinds[SB_SHAPE_TYPE_COUNT] = {SOLID_SPHERE, SOLID_SPHERE, SOLID_CAPSULE, SOLID_BOX, SOLID_CYLINDER,
                                                        SOLID_ELLIPSOID};
  sb_build_body body = sb_build_body_default();
  body.joint_type = SB_JOINT_FREE;
  memcpy(body.q, at, 3 * sizeof *at);
  if (qd) memcpy(body.qd, qd, sizeof body.qd);
  body.mass = density * solid_volume(kinds[type], size);
  solid_inertia(kinds[type], size, body.mass, body.inertia);
  int32_t index = sb_builder_add_body(b, &body, name);
  sb_build_shape shape = shape_of(s, type, index);
  memcpy(shape.size, size, sizeof shape.size);
  sb_builder_add_shape(b, &shape, name);
  return index;
}

static void add_static_box(sb_model_builder *b, const surface *s, const double half[3], const double at[3],
                           const char *name)
{
  sb_build_shape shape = shape_of(s, SB_SHAPE_BOX, -1);
  memcpy(shape.size, half, sizeof shape.size);
  memcpy(shape.X, at, 3 * sizeof *at);
  sb_builder_add_shape(b, &shape, name);
}

/* pyramid ---------------------------------------------------------------------------------------------------------- */

static const sb_generator_param pyramid_params[] = {COUNT("rows", "30", 1, 200, "cubes in the bottom row"),
                                                    FRICTION("0.6"), DENSITY, RESTITUTION, MARGIN};

static void make_pyramid(const double *v, sb_model_builder *b)
{
  const surface s = {v[1], v[3], v[4]};
  int rows = (int)v[0];
  const double half[3] = {50.0, 50.0, 1.0}, floor_at[3] = {0.0, 0.0, -1.0}, cube[3] = {0.5, 0.5, 0.5};
  add_static_box(b, &s, half, floor_at, "ground");
  char name[32];
  for (int i = 0; i < rows; i++)
    for (int j = i; j < rows; j++) {
      float x = ((float)(i + 1) * 0.5f + (float)(j - i) * 1.0f) - 0.5f * (float)rows;
      const double at[3] = {(double)x, 0.0, (2 * i + 1) * 0.5};
      snprintf(name, sizeof name, "cube%d", (int)sb_builder_body_count(b));
      add_free_body(b, &s, SB_SHAPE_BOX, cube, v[2], at, NULL, name);
    }
  sb_builder_set_dt(b, 1, 60);
}

/* pile ------------------------------------------------------------------------------------------------------------- */

static const char *const pile_contents[] = {"mixed", "boxes", "spheres", NULL};
static const sb_generator_param pile_params[] = {
    COUNT("count", "2000", 1, 1000000, "bodies"),
    COUNT("side", "16", 1, 1000, "bodies along each side of a layer"),
    N("extent", "m", "5", 0.5, 1000.0, "half width of the box that holds the pile"),
    CHOICE("content", "mixed", pile_contents, "mixed: spheres and boxes in turn"),
    COUNT("bridged", "0", 0, 1, "1 shifts every other layer by half a cell, so that boxes bridge"),
    FRICTION("0.6"),
    DENSITY,
    RESTITUTION,
    MARGIN};

/* +-2 cm, exact in binary32. The multipliers are those of Numerical Recipes (Press et al.). */
static float jitter(uint32_t *random)
{
  *random = *random * 1664525u + 1013904223u;
  return (float)((int32_t)(*random >> 16) - 32768) * (1.0f / 32768.0f) * 0.02f;
}

static void add_pile_walls(sb_model_builder *b, const surface *s, double extent)
{
  double e = extent, h = e + 0.5, outer = e + 1.0;
  const double halves[5][3] = {
      {outer, outer, 0.5}, {0.5, outer, 10.0}, {0.5, outer, 10.0}, {outer, 0.5, 10.0}, {outer, 0.5, 10.0}};
  const double places[5][3] = {{0.0, 0.0, -0.5}, {-h, 0.0, 10.0}, {h, 0.0, 10.0}, {0.0, h, 10.0}, {0.0, -h, 10.0}};
  static const char *const names[5] = {"ground", "wall_-x", "wall_+x", "wall_+y", "wall_-y"};
  for (int i = 0; i < 5; i++) add_static_box(b, s, halves[i], places[i], names[i]);
}

static void make_pile(const double *v, sb_model_builder *b)
{
  const surface s = {v[5], v[7], v[8]};
  int count = (int)v[0], side = (int)v[1], made = 0;
  const double size[3] = {0.25, 0.25, 0.25}, ball[3] = {0.25, 0.0, 0.0};
  add_pile_walls(b, &s, v[2]);
  uint32_t random = 12345;
  char name[32];
  for (int layer = 0; made < count; layer++)
    for (int i = 0; i < side && made < count; i++)
      for (int j = 0; j < side && made < count; j++, made++) {
        float shift = v[4] != 0.0 && (layer & 1) ? 0.3f : 0.0f;
        float x = ((float)i - (float)(side - 1) * 0.5f) * 0.6f + jitter(&random) + shift;
        float z = ((float)j - (float)(side - 1) * 0.5f) * 0.6f + jitter(&random) + shift;
        float y = 0.5f + (float)layer * 0.6f + jitter(&random);
        const double at[3] = {(double)x, 0.0 - (double)z, (double)y};
        bool sphere = v[3] == 2.0 || (v[3] == 0.0 && ((i + j + layer) & 1));
        snprintf(name, sizeof name, "%s%d", sphere ? "ball" : "cube", made);
        add_free_body(b, &s, sphere ? SB_SHAPE_SPHERE : SB_SHAPE_BOX, sphere ? ball : size, v[6], at, NULL, name);
      }
  sb_builder_set_dt(b, 1, 60);
}

/* arms ------------------------------------------------------------------------------------------------------------- */

static const char *const arm_poses[] = {"hang", "bent", NULL};
static const sb_generator_param arms_params[] = {
    COUNT("count", "256", 1, 100000, "arms, 16 to a row, 6 m apart"),
    COUNT("links", "7", 1, 1000, "hinges and links of an arm"),
    CHOICE("pose", "hang", arm_poses, "hang: moderate swing; bent: whips")};

static double arm_angle(bool bent, int arm, int link)
{
  if (bent) return (0.2 + 0.05 * link) + 0.001 * arm;
  return link == 0 ? (0.3 - COOK_PI / 2.0) + 0.0005 * arm : 0.1;
}

static void make_arms(const double *v, sb_model_builder *b)
{
  /* Links lie along their x axis, hinge at the origin; odd hinges turn about z (up), even ones about -y. */
  const double length = 0.3, size[3] = {0.04, 0.15, 0.0}, mass = 1.0;
  double about_z[6];
  solid_inertia(SOLID_CAPSULE, size, mass, about_z);
  char name[48];
  for (int arm = 0; arm < (int)v[0]; arm++)
    for (int link = 0; link < (int)v[1]; link++) {
      sb_build_body body = sb_build_body_default();
      body.joint_type = SB_JOINT_AXES;
      body.parent = link ? sb_builder_body_count(b) - 1 : -1;
      body.joint_X_p[0] = link ? length : (arm % 16) * 6.0;
      body.joint_X_p[1] = link ? 0.0 : 0.0 - (arm / 16) * 6.0;
      body.mass = mass;
      body.com[0] = 0.15;
      body.inertia[0] = about_z[2];
      body.inertia[1] = body.inertia[2] = about_z[0];
      snprintf(name, sizeof name, "arm%d/link%d", arm, link);
      sb_builder_add_body(b, &body, name);
      sb_build_dof dof = sb_build_dof_default();
      dof.axis[1] = (link & 1) ? 0.0 : -1.0;
      dof.axis[2] = (link & 1) ? 1.0 : 0.0;
      dof.q = arm_angle(v[2] == 1.0, arm, link);
      snprintf(name, sizeof name, "arm%d/hinge%d", arm, link);
      sb_builder_add_dof(b, &dof, name);
    }
  sb_builder_set_dt(b, 1, 240);
}

/* chain ------------------------------------------------------------------------------------------------------------ */

static const sb_generator_param chain_params[] = {
    COUNT("links", "10", 1, 100000, "capsules; the first hangs from the world"),
    N("length", "m", "0.2", 1e-3, 100.0, "distance between joints"),
    N("radius", "m", "0.03", 1e-4, 100.0, "radius of the capsules"),
    N("angle", "rad", "0", -3.2, 3.2, "turn of the whole chain about y, from hanging"),
    N("height", "m", "5", -1e6, 1e6, "height of the fixed end"),
    N("damping", "N m s/rad", "0", 0.0, 1e6, "damping of the joints"),
    DENSITY,
    FRICTION("0.6"),
    RESTITUTION,
    MARGIN};

static void make_chain(const double *v, sb_model_builder *b)
{
  const surface s = {v[7], v[8], v[9]};
  const double length = v[1], size[3] = {v[2], length / 2.0, 0.0}, y[3] = {0.0, 1.0, 0.0};
  char name[32];
  for (int i = 0; i < (int)v[0]; i++) {
    sb_build_body body = sb_build_body_default();
    body.joint_type = SB_JOINT_BALL;
    body.parent = i - 1;
    body.joint_X_p[2] = i ? 0.0 - length : v[4];
    cook_quat_identity(body.q);
    if (i == 0) cook_quat_axis_angle(y, v[3], body.q);
    body.mass = v[6] * solid_volume(SOLID_CAPSULE, size);
    body.com[2] = 0.0 - length / 2.0;
    solid_inertia(SOLID_CAPSULE, size, body.mass, body.inertia);
    snprintf(name, sizeof name, "link%d", i);
    int32_t index = sb_builder_add_body(b, &body, name), first, count;
    sb_builder_body_dofs(b, index, &first, &count);
    for (int d = 0; d < count; d++) sb_builder_dof(b, first + d)->damping = v[5];
    sb_build_shape shape = shape_of(&s, SB_SHAPE_CAPSULE, index);
    shape.X[2] = body.com[2];
    memcpy(shape.size, size, sizeof shape.size);
    sb_builder_add_shape(b, &shape, name);
  }
  sb_builder_set_dt(b, 1, 240);
}

/* drop ------------------------------------------------------------------------------------------------------------- */

static const char *const drop_shapes[] = {"sphere", "capsule", "box", NULL};
static const sb_generator_param drop_params[] = {
    CHOICE("shape", "sphere", drop_shapes, "what falls"),
    N("size", "m", "0.25", 1e-3, 100.0, "radius, or half extent of the box; a capsule's half length is the same"),
    N("height", "m", "1", -1.0, 1e6, "gap between the body and the plane z = 0"),
    N("vx", "m/s", "0", -1e4, 1e4, "initial velocity along x"),
    N("vy", "m/s", "0", -1e4, 1e4, "initial velocity along y"),
    N("vz", "m/s", "0", -1e4, 1e4, "initial velocity along z"),
    N("wx", "rad/s", "0", -1e4, 1e4, "initial spin about x"),
    N("wy", "rad/s", "0", -1e4, 1e4, "initial spin about y"),
    N("wz", "rad/s", "0", -1e4, 1e4, "initial spin about z"),
    FRICTION("0.6"),
    RESTITUTION,
    DENSITY,
    MARGIN};

static void make_drop(const double *v, sb_model_builder *b)
{
  static const uint32_t types[3] = {SB_SHAPE_SPHERE, SB_SHAPE_CAPSULE, SB_SHAPE_BOX};
  const surface s = {v[9], v[10], v[12]};
  int which = (int)v[0];
  double r = v[1];
  const double size[3] = {r, which == 0 ? 0.0 : r, which == 2 ? r : 0.0};
  const double at[3] = {0.0, 0.0, v[2] + (which == 1 ? 2.0 * r : r)};
  add_plane(b, &s);
  add_free_body(b, &s, types[which], size, v[11], at, v + 3, "body");
  sb_builder_set_dt(b, 1, 240);
}

/* pendulums -------------------------------------------------------------------------------------------------------- */

#define BOB_RADIUS N("radius", "m", "0.05", 1e-3, 10.0, "radius of the balls at the ends; their inertia counts")
static const sb_generator_param pendulum_params[] = {
    N("length", "m", "1", 1e-3, 1000.0, "from the hinge to the ball's centre"),
    N("mass", "kg", "1", 1e-6, 1e6, "mass of the ball"),
    N("angle", "rad", "0.5", -3.2, 3.2, "initial angle from hanging"),
    N("velocity", "rad/s", "0", -1e3, 1e3, "initial angular velocity"),
    N("damping", "N m s/rad", "0", 0.0, 1e6, "damping of the hinge"),
    BOB_RADIUS};
static const sb_generator_param double_pendulum_params[] = {
    N("length1", "m", "1", 1e-3, 1000.0, "first hinge to first ball"),
    N("length2", "m", "1", 1e-3, 1000.0, "second hinge to second ball"),
    N("mass1", "kg", "1", 1e-6, 1e6, "mass of the first ball"),
    N("mass2", "kg", "1", 1e-6, 1e6, "mass of the second ball"),
    N("angle1", "rad", "1.5", -3.2, 3.2, "initial angle of the first link from hanging"),
    N("angle2", "rad", "0.5", -3.2, 3.2, "initial angle of the second link from the first"),
    BOB_RADIUS};

/* A ball on a massless rod that hangs along -z from a hinge about y. */
static void add_bob(sb_model_builder *b, int32_t parent, double at_z, double length, double mass, double radius,
                    double angle, double rate, double damping, const char *name)
{
  const double size[3] = {radius, 0.0, 0.0};
  sb_build_body body = sb_build_body_default();
  body.joint_type = SB_JOINT_AXES;
  body.parent = parent;
  body.joint_X_p[2] = at_z;
  body.mass = mass;
  body.com[2] = 0.0 - length;
  solid_inertia(SOLID_SPHERE, size, mass, body.inertia);
  sb_builder_add_body(b, &body, name);
  sb_build_dof dof = sb_build_dof_default();
  dof.axis[1] = 1.0, dof.axis[2] = 0.0;
  dof.q = angle, dof.qd = rate, dof.damping = damping;
  sb_builder_add_dof(b, &dof, name);
}

static void make_pendulum(const double *v, sb_model_builder *b)
{
  add_bob(b, -1, 0.0, v[0], v[1], v[5], v[2], v[3], v[4], "bob");
  sb_builder_set_dt(b, 1, 240);
}

static void make_double_pendulum(const double *v, sb_model_builder *b)
{
  add_bob(b, -1, 0.0, v[0], v[2], v[6], v[4], 0.0, 0.0, "bob1");
  add_bob(b, 0, 0.0 - v[0], v[1], v[3], v[6], v[5], 0.0, 0.0, "bob2");
  sb_builder_set_dt(b, 1, 240);
}

/* box_stack -------------------------------------------------------------------------------------------------------- */

static const sb_generator_param stack_params[] = {COUNT("count", "10", 1, 10000, "cubes, one on another"),
                                                  N("half", "m", "0.5", 1e-3, 100.0, "half extent of the cubes"),
                                                  N("gap", "m", "0", 0.0, 10.0, "gap between neighbours"),
                                                  FRICTION("0.6"),
                                                  DENSITY,
                                                  RESTITUTION,
                                                  MARGIN};

static void make_box_stack(const double *v, sb_model_builder *b)
{
  const surface s = {v[3], v[5], v[6]};
  const double size[3] = {v[1], v[1], v[1]};
  char name[32];
  add_plane(b, &s);
  for (int i = 0; i < (int)v[0]; i++) {
    const double at[3] = {0.0, 0.0, v[1] * (2 * i + 1) + v[2] * (i + 1)};
    snprintf(name, sizeof name, "box%d", i);
    add_free_body(b, &s, SB_SHAPE_BOX, size, v[4], at, NULL, name);
  }
  sb_builder_set_dt(b, 1, 240);
}

/* shapes ----------------------------------------------------------------------------------------------------------- */

static const char *const shapes_grounds[] = {"hfield", "mesh", "plane", NULL};
static const sb_generator_param shapes_params[] = {
    COUNT("count", "12", 1, 100000, "bodies: sphere, capsule, box, cylinder, ellipsoid and hull in turn"),
    CHOICE("ground", "hfield", shapes_grounds, "what they fall on: hills as a heightfield or as triangles, or a plane"),
    N("hills", "m", "0.3", 0.0, 10.0, "height of the hills"),
    N("size", "m", "0.2", 1e-3, 100.0, "half the size of a body"),
    FRICTION("0.6"),
    DENSITY,
    RESTITUTION,
    MARGIN};

#define HILLS 33 /* vertices along each side */

/* Hills over a square, from sines. */
static void make_heights(double hills, double height[HILLS * HILLS])
{
  for (int r = 0; r < HILLS; r++)
    for (int c = 0; c < HILLS; c++) height[r * HILLS + c] = hills * 0.5 * (cook_sin(0.6 * r) * cook_cos(0.45 * c) - 1.0);
}

static geometry_result add_hill_mesh(sb_model_builder *b, double half, const double height[HILLS * HILLS], geometry_place *place)
{
  mesh m = {0};
  bool room = true;
  for (int r = 0; r < HILLS; r++)
    for (int c = 0; c < HILLS; c++) {
      const double at[3] = {half * (2.0 * c / (HILLS - 1) - 1.0), half * (2.0 * r / (HILLS - 1) - 1.0), height[r * HILLS + c]};
      room = room && mesh_add_vertex(&m, at);
    }
  for (uint32_t r = 0; r + 1 < HILLS; r++)
    for (uint32_t c = 0; c + 1 < HILLS; c++) {
      uint32_t v = r * HILLS + c;
      room = room && mesh_add_triangle(&m, v, v + 1, v + HILLS + 1) && mesh_add_triangle(&m, v, v + HILLS + 1, v + HILLS);
    }
  geometry_result result = room ? geometry_add_mesh(b, &m, place) : GEOMETRY_NO_MEMORY;
  mesh_clear(&m);
  return result;
}

static bool add_hills(sb_model_builder *b, const surface *s, bool triangles, double half, double hills)
{
  double height[HILLS * HILLS];
  geometry_place place;
  make_heights(hills, height);
  geometry_result result = triangles ? add_hill_mesh(b, half, height, &place) : geometry_add_hfield(b, HILLS, HILLS, half, half, height, &place);
  if (result != GEOMETRY_GOOD) return false;
  sb_build_shape shape = shape_of(s, triangles ? SB_SHAPE_MESH : SB_SHAPE_HFIELD, -1);
  memcpy(shape.X, place.centre, sizeof place.centre);
  memcpy(shape.size, place.half, sizeof shape.size);
  shape.geometry = place.index;
  sb_builder_add_shape(b, &shape, "ground");
  return true;
}

/* A double pyramid over a square, and its mass properties; false when memory runs out. */
static bool make_gem(sb_model_builder *b, double size, geometry_place *place, mesh_mass *mass)
{
  static const double corners[6][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 0.8}, {0, 0, -0.8}};
  mesh points = {0}, hull = {0};
  double left_out;
  mesh_solidity solidity;
  bool good = true;
  for (int i = 0; i < 6; i++) {
    const double at[3] = {size * corners[i][0], size * corners[i][1], size * corners[i][2]};
    good = good && mesh_add_vertex(&points, at);
  }
  good = good && geometry_add_hull(b, &points, place, &left_out) == GEOMETRY_GOOD;
  good = good && hull_build(&points, SB_HULL_MAX_VERTICES, &hull, &left_out) == HULL_GOOD && mesh_integrate(&hull, mass, &solidity);
  mesh_clear(&points);
  mesh_clear(&hull);
  return good;
}

static void make_shapes(const double *v, sb_model_builder *b)
{
  static const uint32_t types[6] = {SB_SHAPE_SPHERE, SB_SHAPE_CAPSULE, SB_SHAPE_BOX, SB_SHAPE_CYLINDER, SB_SHAPE_ELLIPSOID, SB_SHAPE_HULL};
  static const char *const names[6] = {"sphere", "capsule", "box", "cylinder", "ellipsoid", "hull"};
  const surface s = {v[4], v[6], v[7]};
  const double a = v[3], sizes[6][3] = {{a, 0, 0}, {a / 2, a / 2, 0}, {a, 0.8 * a, 0.6 * a}, {a, 0.7 * a, 0}, {a, 0.8 * a, 0.6 * a}, {0}};
  int count = (int)v[0], side = 1;
  while (side * side < count && side < 12) side++;
  double spacing = 3.0 * a, half = 0.5 * spacing * (side + 4);
  geometry_place gem;
  mesh_mass mass;
  bool good = make_gem(b, a, &gem, &mass);
  if (v[1] == 2.0)
    add_plane(b, &s);
  else
    good = good && add_hills(b, &s, v[1] == 1.0, half, v[2]);
  if (!good) return; /* the builder remembers that memory ran out */
  char name[32];
  for (int i = 0; i < count; i++) {
    int kind = i % 6, layer = i / (side * side);
    double x = (i % side - (side - 1) * 0.5) * spacing, y = (i / side % side - (side - 1) * 0.5) * spacing;
    const double at[3] = {x, y, 1.5 * a + 2.5 * a * layer}, tilt[3] = {0.6, 0.8, 0.0};
    snprintf(name, sizeof name, "%s%d", names[kind], i);
    if (kind < 5) {
      int32_t body = add_free_body(b, &s, types[kind], sizes[kind], v[5], at, NULL, name);
      if (sb_builder_body(b, body)) cook_quat_axis_angle(tilt, 0.3 * (i % 7), sb_builder_body(b, body)->q + 3);
      continue;
    }
    sb_build_body body = sb_build_body_default();
    body.joint_type = SB_JOINT_FREE;
    memcpy(body.q, at, sizeof at);
    cook_quat_axis_angle(tilt, 0.3 * (i % 7), body.q + 3);
    body.mass = v[5] * mass.volume;
    for (int k = 0; k < 6; k++) body.inertia[k] = v[5] * mass.inertia[k];
    sb_build_shape shape = shape_of(&s, SB_SHAPE_HULL, sb_builder_add_body(b, &body, name));
    memcpy(shape.size, gem.half, sizeof shape.size);
    shape.geometry = gem.index;
    sb_builder_add_shape(b, &shape, name);
  }
  sb_builder_set_dt(b, 1, 240);
}

/* The list --------------------------------------------------------------------------------------------------------- */

#define ROW(name, text, params)                                                                                        \
  {                                                                                                                    \
    name, text, params, sizeof params / sizeof *(params)                                                               \
  }
static const sb_generator generators[] = {
    ROW("pyramid", "unit cubes in a triangle on the ground", pyramid_params),
    ROW("pile", "jittered layers of spheres and cubes that fall into a box", pile_params),
    ROW("arms", "arms of hinges about two axes in turn, no contact", arms_params),
    ROW("chain", "capsules on ball joints, hanging from a fixed end", chain_params),
    ROW("drop", "one body above a plane", drop_params),
    ROW("pendulum", "a ball on a hinge", pendulum_params),
    ROW("double_pendulum", "two balls on two hinges", double_pendulum_params),
    ROW("box_stack", "cubes one on another on a plane", stack_params),
    ROW("shapes", "one of each shape in turn, falling on hills", shapes_params),
    {"cloth", "a rectangle of cloth, as springs or as a membrane", cloth_params, CLOTH_PARAMS},
    {"rope", "a line of particles on springs", rope_params, ROPE_PARAMS},
    {"soft", "a block of tetrahedra", soft_params, SOFT_PARAMS},
    {"cloth_mesh", "a membrane from a mesh file", cloth_mesh_params, CLOTH_MESH_PARAMS}};
/* of all but the last, which reads a file */
static void (*const makers[])(const double *, sb_model_builder *) = {
    make_pyramid, make_pile, make_arms, make_chain, make_drop, make_pendulum, make_double_pendulum, make_box_stack,
    make_shapes, make_cloth, make_rope, make_soft};
#define GENERATOR_COUNT (sizeof generators / sizeof *generators)

const sb_generator *sb_generator_list(size_t *count)
{
  *count = GENERATOR_COUNT;
  return generators;
}

static sb_status unknown_generator(const char *name, const char *where, sb_diagnostics *diag)
{
  const char *names[GENERATOR_COUNT];
  char all[256] = "";
  for (size_t i = 0; i < GENERATOR_COUNT; i++) {
    names[i] = generators[i].name;
    size_t n = strlen(all);
    snprintf(all + n, sizeof all - n, "%s%s", i ? ", " : "", names[i]);
  }
  const char *near = sb_nearest_name(name, names, GENERATOR_COUNT);
  if (near)
    return sb_report(diag, SB_ERROR, SB_CODE_SCENE_GENERATOR, where, "unknown generator '%s'; did you mean '%s'?", name,
                     near);
  return sb_report(diag, SB_ERROR, SB_CODE_SCENE_GENERATOR, where, "unknown generator '%s'; there are %s", name, all);
}

/* Reads one value; false when it is not allowed. */
static bool read_value(const sb_generator_param *p, const char *text, double *value)
{
  if (p->choices) {
    for (int i = 0; p->choices[i]; i++)
      if (!strcmp(p->choices[i], text)) {
        *value = i;
        return true;
      }
    return false;
  }
  if (!scene_parse_whole_number(text, value) || !(*value >= p->lower && *value <= p->upper)) return false;
  return !p->integer || *value == (double)(int32_t)*value;
}

static sb_status bad_value(const sb_generator_param *p, const sb_scene_param *given, const char *where,
                           sb_diagnostics *diag)
{
  char words[128] = "";
  for (int i = 0; p->choices && p->choices[i]; i++) {
    size_t n = strlen(words);
    snprintf(words + n, sizeof words - n, "%s%s", i ? ", " : "", p->choices[i]);
  }
  if (p->choices)
    return sb_report(diag, SB_ERROR, SB_CODE_SCENE_PARAMETER, where, "%s: expected one of %s, found '%s'", p->name,
                     words, given->value);
  return sb_report(diag, SB_ERROR, SB_CODE_SCENE_PARAMETER, where, "%s: expected %s from %g to %g%s%s, found '%s'",
                   p->name, p->integer ? "a whole number" : "a number", p->lower, p->upper, *p->unit ? " " : "",
                   p->unit, given->value);
}

static sb_status set_param(const sb_generator *g, const sb_scene_param *given, const char *where, double *values,
                           generator_file *file, sb_diagnostics *diag)
{
  const char *names[GENERATOR_MAX_PARAMS];
  if (given->where) where = given->where;
  for (size_t i = 0; i < g->param_count; i++) {
    names[i] = g->params[i].name;
    if (strcmp(names[i], given->key)) continue;
    if (g->params[i].path) {
      file->path = given->value;
      file->where = where;
      return SB_OK;
    }
    return read_value(&g->params[i], given->value, &values[i]) ? SB_OK : bad_value(&g->params[i], given, where, diag);
  }
  const char *near = sb_nearest_name(given->key, names, g->param_count);
  return sb_report(diag, SB_ERROR, SB_CODE_SCENE_PARAMETER, where, "generator %s has no parameter '%s'%s%s%s", g->name,
                   given->key, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

sb_status generator_build(const char *name, const char *where, const sb_scene_param *params, size_t param_count,
                          uint64_t file_limit, sb_model_builder *builder, sb_diagnostics *diag)
{
  size_t which = 0;
  while (which < GENERATOR_COUNT && strcmp(generators[which].name, name)) which++;
  if (which == GENERATOR_COUNT) return unknown_generator(name, where, diag);
  const sb_generator *g = &generators[which];
  double values[GENERATOR_MAX_PARAMS] = {0};
  generator_file file = {NULL, where, file_limit};
  for (size_t i = 0; i < g->param_count; i++)
    if (!g->params[i].path) read_value(&g->params[i], g->params[i].fallback, &values[i]);
  sb_status status = SB_OK;
  for (size_t i = 0; i < param_count; i++) {
    sb_status one = set_param(g, &params[i], where, values, &file, diag);
    if (one != SB_OK) status = one;
  }
  if (status != SB_OK) return status;
  if (which == GENERATOR_COUNT - 1) return make_cloth_mesh(values, &file, builder, diag);
  double particles = makers[which] == make_cloth ? values[0] * values[1] : makers[which] == make_soft ? (values[0] + 1) * (values[1] + 1) * (values[2] + 1) : 0.0;
  if (particles > MOST_PARTICLES)
    return sb_report(diag, SB_ERROR, SB_CODE_SCENE_LIMIT, where, "generator:%s would make %.0f particles; the most is %.0f", g->name, particles, MOST_PARTICLES);
  makers[which](values, builder);
  return SB_OK;
}
