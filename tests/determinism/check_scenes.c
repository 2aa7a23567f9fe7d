/* Builds the checks' scene. Knows the model builder. */
#include "check_scenes.h"

#include <string.h>

#include "model_builder.h"
#include "samebit/solver.h"

static void add_shape(sb_model_builder *b, int32_t body, uint32_t type, double size0, double size1, double size2)
{
  sb_build_shape shape = sb_build_shape_default();
  shape.type = type;
  shape.body = body;
  shape.size[0] = size0, shape.size[1] = size1, shape.size[2] = size2;
  shape.friction[0] = 0.7;
  sb_builder_add_shape(b, &shape, NULL);
}

static int32_t add_free(sb_model_builder *b, uint32_t type, double x, double y, double z)
{
  sb_build_body body = sb_build_body_default();
  body.joint_type = SB_JOINT_FREE;
  body.q[0] = x, body.q[1] = y, body.q[2] = z;
  body.qd[3] = 0.5, body.qd[4] = -0.25;
  body.mass = 1.0;
  body.inertia[0] = 0.004, body.inertia[1] = 0.0045, body.inertia[2] = 0.005;
  int32_t index = sb_builder_add_body(b, &body, NULL);
  if (type == SB_SHAPE_BOX) add_shape(b, index, type, 0.1, 0.09, 0.08);
  if (type == SB_SHAPE_SPHERE) add_shape(b, index, type, 0.1, 0, 0);
  if (type == SB_SHAPE_CAPSULE) add_shape(b, index, type, 0.07, 0.08, 0);
  return index;
}

/* Boxes, balls and capsules by turns in layers that touch or nearly so. */
static void add_heap(sb_model_builder *b, int layers, double x0)
{
  static const uint32_t kinds[] = {SB_SHAPE_BOX, SB_SHAPE_BOX, SB_SHAPE_SPHERE, SB_SHAPE_CAPSULE};
  for (int layer = 0, n = 0; layer < layers; layer++)
    for (int i = 0; i < 9; i++, n++)
      add_free(b, layer < 2 ? SB_SHAPE_BOX : kinds[n % 4], x0 + 0.195 * (i % 3) + 0.03 * layer,
               0.19 * (i / 3) - 0.02 * layer, 0.079 + 0.162 * layer);
}

/* Returns its last body. */
static int32_t add_chain(sb_model_builder *b, int links, double x, double y, uint32_t last_kind)
{
  int32_t parent = -1;
  for (int i = 0; i < links; i++) {
    sb_build_body body = sb_build_body_default();
    body.joint_type = SB_JOINT_AXES;
    body.parent = parent;
    body.joint_X_p[0] = parent < 0 ? x : 0.3;
    body.joint_X_p[1] = parent < 0 ? y : 0.0;
    body.joint_X_p[2] = parent < 0 ? 1.5 : 0.0;
    body.mass = 0.5;
    body.com[0] = 0.15;
    body.inertia[0] = 0.001, body.inertia[1] = 0.004, body.inertia[2] = 0.004;
    parent = sb_builder_add_body(b, &body, NULL);
    sb_build_dof dof = sb_build_dof_default();
    dof.kind = i + 1 == links ? last_kind : SB_DOF_ANGULAR;
    dof.axis[0] = 0, dof.axis[1] = 1, dof.axis[2] = 0.3 * i;
    dof.q = 0.2 * i;
    dof.damping = 0.05, dof.armature = 0.01;
    dof.lower = -0.7, dof.upper = 0.6;
    if (i == 1) dof.target_ke = 20, dof.target_kd = 1, dof.target_q = -0.5, dof.effort_limit = 5;
    sb_builder_add_dof(b, &dof, NULL);
    add_shape(b, parent, SB_SHAPE_CAPSULE, 0.05, 0.1, 0);
  }
  return parent;
}

static void add_equality(sb_model_builder *b, uint32_t type, int32_t body0, int32_t body1, double x)
{
  sb_build_equality e = sb_build_equality_default();
  e.type = type;
  e.body[0] = body0, e.body[1] = body1;
  e.anchor[0][0] = x;
  sb_builder_add_equality(b, &e, NULL);
}

/* A chain with a loop of its own, a gear and a tendon; two that are tied together; one that carries a free box. */
static void add_loops(sb_model_builder *b, double x)
{
  int32_t first_dof = sb_builder_dof_count(b);
  int32_t last = add_chain(b, 4, x, 4.0, SB_DOF_ANGULAR);
  add_equality(b, SB_EQUALITY_CONNECT, last, last - 3, 0.1);
  sb_build_equality gear = sb_build_equality_default();
  gear.type = SB_EQUALITY_JOINT;
  gear.dof[0] = first_dof + 1, gear.dof[1] = first_dof + 2;
  gear.poly[1] = 0.7;
  sb_builder_add_equality(b, &gear, NULL);
  sb_build_tendon tendon = sb_build_tendon_default();
  tendon.upper = 0.35;
  tendon.stiffness = 3, tendon.damping = 0.1, tendon.friction = 0.05;
  sb_builder_add_tendon(b, &tendon, NULL);
  sb_builder_add_tendon_term(b, first_dof, 1.0);
  sb_builder_add_tendon_term(b, first_dof + 3, -0.5);
  last = add_chain(b, 3, x + 3.0, 4.0, SB_DOF_ANGULAR);
  int32_t other = add_chain(b, 3, x + 3.0, 4.6, SB_DOF_LINEAR);
  add_equality(b, SB_EQUALITY_CONNECT, last, other, 0.2);
  last = add_chain(b, 3, x + 6.0, 4.0, SB_DOF_ANGULAR);
  int32_t box = add_free(b, SB_SHAPE_BOX, x + 7.0, 4.0, 2.0);
  add_equality(b, SB_EQUALITY_WELD, last, box, 0.3);
}

#define SIDE 36 /* particles along a cloth: more than one task's share */

static void tie(sb_model_builder *b, int32_t first, int i, int j, int down, int right)
{
  if (i + down >= SIDE || j + right >= SIDE || j + right < 0) return;
  const double length = down && right ? 0.022097086912079612 : 0.015625 * (down + right);
  sb_builder_add_spring(b, &(sb_build_spring){.particle = {first + i * SIDE + j, first + (i + down) * SIDE + j + right}, .rest_length = length,
                                              .stiffness = 2, .damping = down + right > 1 ? 0.001 : 0.0});
}

/* One triangle of a cell, and across the diagonal a bending edge. */
static void add_triangle(sb_model_builder *b, int32_t p, int32_t q, int32_t r)
{
  sb_build_tri t = {.particle = {p, q, r}, .pose = {64, 0, 0, 64}, .area = 0.0001220703125, .ke = 0.3, .ka = 0.2, .kd = 0.0005, .drag = 0.1, .lift = 0.2};
  sb_builder_add_tri(b, &t);
}

/* A cloth that falls onto the heap, of springs, with triangles that drag air; a body hangs from its middle. Places are powers of two, so that no sum here
 * depends on how it is rounded. */
static void add_cloth(sb_model_builder *b, uint32_t handles, double x, int32_t carrier, double z)
{
  sb_build_deformable d = sb_build_deformable_default();
  d.friction = 0.4, d.margin = 0.004;
  sb_builder_add_deformable(b, &d, NULL);
  int32_t first = sb_builder_particle_count(b);
  for (int i = 0; i < SIDE; i++)
    for (int j = 0; j < SIDE; j++)
      sb_builder_add_particle(b, &(sb_build_particle){.q = {x + 0.015625 * i, -0.0625 + 0.015625 * j, 0.75 + 0.001953125 * ((i * 7 + j * 3) % 5)}, .mass = 0.0005, .radius = 0.00390625});
  for (int i = 0; i < SIDE; i++)
    for (int j = 0; j < SIDE; j++) {
      tie(b, first, i, j, 1, 0), tie(b, first, i, j, 0, 1), tie(b, first, i, j, 1, 1), tie(b, first, i, j, 1, -1), tie(b, first, i, j, 2, 0);
      int32_t p = first + i * SIDE + j;
      if (!(handles & SB_HANDLES_CLOTH) || i + 1 == SIDE || j + 1 == SIDE) continue;
      add_triangle(b, p, p + SIDE, p + 1);
      add_triangle(b, p + SIDE + 1, p + 1, p + SIDE);
      sb_builder_add_edge(b, &(sb_build_edge){.particle = {p, p + SIDE + 1, p + SIDE, p + 1}, .rest_length = 0.022, .bending_ke = 1e-6, .bending_kd = 1e-9});
    }
  sb_builder_add_attachment(b, &(sb_build_attachment){.particle = first + SIDE * (SIDE / 2) + SIDE / 2, .body = carrier, .point = {0, -0.125, z}, .stiffness = 2, .damping = 0.005});
}

sb_model_store *check_scene(bool more, uint32_t handles)
{
  bool particles = (handles & SB_HANDLES_PARTICLES) != 0;
  bool joints = (handles & SB_HANDLES_JOINTS) != 0;
  sb_model_builder *b = sb_builder_create();
  sb_model_store *store = NULL;
  add_shape(b, -1, SB_SHAPE_PLANE, 0, 0, 0);
  add_heap(b, 4, 0.0);
  if (particles) add_cloth(b, handles, 0.1875, sb_builder_body_count(b) - 1, 0.1875);
  for (int i = 0; joints && i < 5; i++) add_chain(b, 4, 3.0 + 1.5 * i, 2.0, i % 2 ? SB_DOF_LINEAR : SB_DOF_ANGULAR);
  if (handles & SB_HANDLES_EQUALITIES) {
    add_chain(b, 5, -0.9, 0.2, SB_DOF_ANGULAR); /* falls onto the heap */
    add_loops(b, 15.0);
  }
  if (more) {
    if (joints) add_chain(b, 4, 50.0, 2.0, SB_DOF_ANGULAR);
    add_heap(b, 3, 53.0);
    if (particles) add_cloth(b, handles, 53.1875, sb_builder_body_count(b) - 1, 0.34375);
    if (handles & SB_HANDLES_EQUALITIES) add_loops(b, 70.0);
    if (joints) add_chain(b, 3, 60.0, 2.0, SB_DOF_ANGULAR);
  }
  if (sb_builder_finalise(b, "check scene", &store, NULL)) store = NULL;
  sb_builder_free(b);
  return store;
}
