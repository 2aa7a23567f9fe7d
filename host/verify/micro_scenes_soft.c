/* The micro-scenes of particles: beads, a curtain, two soft cubes. C library only. */
#include "cook_math.h"
#include "micro_scenes_soft.h"

static void add_floor_and_ball(sb_model_builder *b, double radius, double height)
{
  sb_build_shape shape = sb_build_shape_default();
  shape.type = SB_SHAPE_PLANE;
  shape.body = -1;
  shape.margin = 0.004;
  sb_builder_add_shape(b, &shape, "floor");
  shape.type = SB_SHAPE_SPHERE;
  shape.size[0] = radius;
  shape.X[0] = 0.03, shape.X[1] = 0.02, shape.X[2] = height;
  sb_builder_add_shape(b, &shape, "ball");
}

static void add_particle(sb_model_builder *b, double x, double y, double z, double mass, double radius, bool pinned)
{
  const sb_build_particle p = {.q = {x, y, z}, .qd = {0.25, -0.5 * x, -1.0}, .mass = mass, .radius = radius, .pinned = pinned};
  sb_builder_add_particle(b, &p);
}

#define BEADS 7 /* on the string */

/* A string of beads, held at both ends and in the middle, swings over a ball; loose ones fall onto it and onto each
 * other. */
void sb_micro_scene_beads(sb_model_builder *b)
{
  const double h = 0.03125;
  sb_build_deformable d = sb_build_deformable_default();
  d.friction = 0.5, d.margin = 0.002;
  sb_builder_add_deformable(b, &d, "string");
  for (int i = 0; i < BEADS; i++) add_particle(b, h * i - 0.09375, 0.015625, 0.15625, 0.004, 0.0078125, i == 0);
  for (int i = 0; i + 1 < BEADS; i++) {
    const sb_build_spring s = {
        .particle = {i, i + 1}, .rest_length = h, .stiffness = i == 2 ? SB_NO_LIMIT : 12, .damping = 0.02};
    sb_builder_add_spring(b, &s);
  }
  const sb_build_attachment held[2] = {
      {.particle = BEADS - 1, .body = -1, .point = {0.1, 0.015625, 0.16}, .stiffness = SB_NO_LIMIT},
      {.particle = BEADS / 2, .body = -1, .point = {0, 0, 0.17}, .stiffness = 20, .damping = 0.1}};
  for (int k = 0; k < 2; k++) sb_builder_add_attachment(b, &held[k]);
  d.flags = SB_DEFORMABLE_SELF_CONTACT;
  d.restitution = 0.25;
  sb_builder_add_deformable(b, &d, "grains");
  for (int i = 0; i < 6; i++)
    add_particle(b, 0.03125 + 0.0078125 * (i & 1), 0.015625 + 0.00390625 * i, 0.1875 + 0.015625 * i, 0.002 + 0.001 * i,
                 0.0078125, false);
  add_floor_and_ball(b, 0.05, 0.06);
}

void sb_micro_scene_far_beads(sb_model_builder *b)
{
  const sb_build_deformable d = sb_build_deformable_default();
  int32_t first = sb_builder_particle_count(b);
  sb_builder_add_deformable(b, &d, "far");
  for (int k = 0; k < 2; k++) add_particle(b, 60.0 + 0.03125 * k, 0, 0.5, 0.004, 0.0078125, false);
  const sb_build_spring s = {.particle = {first, first + 1}, .rest_length = 0.015625, .stiffness = 12, .damping = 0.02};
  sb_builder_add_spring(b, &s);
}

#define CURTAIN 7 /* particles along each side */

static void add_curtain_spring(sb_model_builder *b, int32_t p, int32_t q, double length, double stiffness)
{
  const sb_build_spring s = {.particle = {p, q}, .rest_length = length, .stiffness = stiffness, .damping = 0.02};
  sb_builder_add_spring(b, &s);
}

static void add_curtain_tri(sb_model_builder *b, int32_t p, int32_t q, int32_t r)
{
  sb_build_tri t = {.particle = {p, q, r}, .ke = 6, .ka = 4, .kd = 0.03125, .drag = 0.5, .lift = 1};
  double x[3][3];
  for (int k = 0; k < 3; k++) sb_builder_particle_q(b, t.particle[k], x[k]);
  if (cook_tri_rest(x[0], x[1], x[2], t.pose, &t.area)) sb_builder_add_tri(b, &t);
}

/* Bent in the middle, so that the lower half hangs near the upper one. */
void sb_micro_scene_curtain(sb_model_builder *b)
{
  const double h = 0.03125;
  sb_build_deformable d = sb_build_deformable_default();
  d.flags = SB_DEFORMABLE_SELF_CONTACT;
  d.margin = 0.002, d.restitution = 0.125;
  sb_builder_add_deformable(b, &d, "curtain");
  for (int r = 0; r < CURTAIN; r++)
    for (int c = 0; c < CURTAIN; c++) {
      bool under = r > CURTAIN / 2;
      int along = under ? CURTAIN - 1 - r : r;
      add_particle(b, h * c - 0.09375, h * along - 0.0625, under ? 0.146484375 : 0.15625, 0.004, 0.00390625, r == 0 && c == 0);
    }
  for (int32_t r = 0; r < CURTAIN; r++)
    for (int32_t c = 0; c < CURTAIN; c++) {
      int32_t p = r * CURTAIN + c;
      if (c + 1 < CURTAIN) add_curtain_spring(b, p, p + 1, h, 12);
      if (r + 1 < CURTAIN) add_curtain_spring(b, p, p + CURTAIN, h, r == 1 ? SB_NO_LIMIT : 12);
      if (c + 1 == CURTAIN || r + 1 == CURTAIN) continue;
      add_curtain_tri(b, p, p + CURTAIN, p + CURTAIN + 1);
      add_curtain_tri(b, p, p + CURTAIN + 1, p + 1);
      const sb_build_edge e = {.particle = {p + CURTAIN, p + 1, p + CURTAIN + 1, p}, .rest_length = h * 1.4142135623730951, .bending_ke = 2e-4, .bending_kd = 1e-6};
      sb_builder_add_edge(b, &e);
    }
  const sb_build_attachment held[2] = {{.particle = CURTAIN - 1, .body = -1, .point = {0.1, -0.07, 0.16}, .stiffness = SB_NO_LIMIT},
                                       {.particle = CURTAIN / 2, .body = -1, .point = {0, -0.06, 0.17}, .stiffness = 20, .damping = 0.1}};
  for (int k = 0; k < 2; k++) sb_builder_add_attachment(b, &held[k]);
  add_floor_and_ball(b, 0.05, 0.06);
}

/* Corners of a cube's cell by bits x y z, five tetrahedra around the even corners. */
static void add_jelly_cube(sb_model_builder *b, double x, double z, const char *name)
{
  static const int tets[5][4] = {{0, 3, 6, 5}, {1, 0, 5, 3}, {2, 3, 6, 0}, {4, 5, 0, 6}, {7, 6, 3, 5}};
  static const int faces[12][3] = {{0, 4, 6}, {0, 6, 2}, {1, 3, 5}, {7, 5, 3}, {0, 1, 5}, {0, 5, 4}, {2, 6, 3}, {7, 3, 6}, {0, 2, 3}, {0, 3, 1}, {4, 5, 6}, {7, 6, 5}};
  const double h = 0.0625;
  sb_build_deformable d = sb_build_deformable_default();
  d.margin = 0.002;
  int32_t first = sb_builder_particle_count(b);
  sb_builder_add_deformable(b, &d, name);
  for (int k = 0; k < 8; k++) add_particle(b, x + h * (k & 1), h * (k >> 1 & 1) - 0.03125, z + h * (k >> 2), 0.03, 0.0078125, false);
  for (int t = 0; t < 5; t++) {
    sb_build_tet tet = {.k_mu = 4e3, .k_lambda = 1.2e4, .k_damp = 1};
    double q[4][3];
    for (int k = 0; k < 4; k++) {
      tet.particle[k] = first + tets[t][k];
      sb_builder_particle_q(b, tet.particle[k], q[k]);
    }
    if (cook_tet_rest(q[0], q[1], q[2], q[3], tet.pose, &tet.volume)) sb_builder_add_tet(b, &tet);
  }
  for (int t = 0; t < 12; t++) {
    sb_build_tri tri = {.particle = {first + faces[t][0], first + faces[t][1], first + faces[t][2]}};
    double q[3][3];
    for (int k = 0; k < 3; k++) sb_builder_particle_q(b, tri.particle[k], q[k]);
    if (cook_tri_rest(q[0], q[1], q[2], tri.pose, &tri.area)) sb_builder_add_tri(b, &tri);
  }
}

void sb_micro_scene_jelly(sb_model_builder *b)
{
  add_jelly_cube(b, -0.0625, 0.125, "lower");
  add_jelly_cube(b, -0.03125, 0.2109375, "upper");
  add_floor_and_ball(b, 0.05, 0.06);
}
