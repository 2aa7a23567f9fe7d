/* A sleeve of cloth on an arm that swings: two solvers in one scene, one way. For 20 s no point of the cloth may come into the arm. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "collision.h"
#include "cook_math.h"
#include "physics_scene.h"

#define AROUND 20
#define ALONG 16
#define RADIUS 0.05 /* of the arm, m */
#define HALF 0.25   /* of its straight part */
#define THICKNESS 0.008

extern const sb_plugin_entry samebit_plugin_steel, samebit_plugin_xpbd;

static const sb_solver_api *api_of(const sb_plugin_entry *entry)
{
  return ((const sb_solver_factory *)entry->get_factory(SB_SOLVER_FACTORY_ID))->solvers[0];
}

/* A capsule along x, turned about y and z by drives; its near end is at the origin. */
static void add_arm(sb_model_builder *b)
{
  sb_build_body body = sb_build_body_default();
  body.joint_type = SB_JOINT_AXES;
  body.mass = 2;
  body.com[0] = HALF;
  body.inertia[0] = 0.01, body.inertia[1] = body.inertia[2] = 0.05;
  int32_t arm = sb_builder_add_body(b, &body, "arm");
  for (int k = 0; k < 2; k++) {
    sb_build_dof dof = sb_build_dof_default();
    dof.axis[0] = 0, dof.axis[1] = k == 0, dof.axis[2] = k == 1;
    dof.target_ke = 400, dof.target_kd = 40;
    int32_t index = sb_builder_add_dof(b, &dof, k ? "yaw" : "pitch");
    sb_build_actuator drive = sb_build_actuator_default();
    drive.kind = SB_ACTUATOR_POSITION, drive.dof = index;
    sb_builder_add_actuator(b, &drive, k ? "yaw" : "pitch");
  }
  sb_build_shape shape = sb_build_shape_default();
  shape.type = SB_SHAPE_CAPSULE;
  shape.body = arm;
  shape.size[0] = RADIUS, shape.size[1] = HALF;
  const double along[3] = {1, 0, 0};
  shape.X[0] = HALF;
  cook_quat_z_axis(along, shape.X + 3);
  sb_builder_add_shape(b, &shape, "arm");
}

/* A tube around the arm with a little room, its first ring sewn on. */
static void add_sleeve(sb_model_builder *b)
{
  const double r = RADIUS + THICKNESS, step = 0.025;
  sb_build_deformable d = sb_build_deformable_default();
  d.flags = SB_DEFORMABLE_SELF_CONTACT;
  d.margin = 0.004;
  sb_builder_add_deformable(b, &d, "sleeve");
  double x[ALONG * AROUND][3];
  for (int i = 0; i < ALONG; i++)
    for (int k = 0; k < AROUND; k++) {
      double *q = x[i * AROUND + k], a = 2 * COOK_PI * k / AROUND;
      q[0] = 0.05 + step * i, q[1] = r * cook_cos(a), q[2] = r * cook_sin(a);
      int32_t p = sb_builder_add_particle(b, &(sb_build_particle){.q = {q[0], q[1], q[2]}, .mass = 1e-4, .radius = THICKNESS / 2});
      if (i == 0) sb_builder_add_attachment(b, &(sb_build_attachment){.particle = p, .body = 0, .point = {q[0], q[1], q[2]}, .stiffness = (double)SB_NO_LIMIT});
    }
  for (int i = 0; i + 1 < ALONG; i++)
    for (int k = 0; k < AROUND; k++) {
      int32_t a = i * AROUND + k, c = i * AROUND + (k + 1) % AROUND, e = a + AROUND, f = c + AROUND;
      const int32_t tris[2][3] = {{a, e, f}, {a, f, c}};
      for (int t = 0; t < 2; t++) {
        sb_build_tri tri = {.particle = {tris[t][0], tris[t][1], tris[t][2]}, .ke = 300, .ka = 100, .kd = 0.05};
        assert_true(cook_tri_rest(x[tris[t][0]], x[tris[t][1]], x[tris[t][2]], tri.pose, &tri.area));
        sb_builder_add_tri(b, &tri);
      }
    }
}

/* How deep the deepest point of the cloth's surface lies in the arm: corners, and middles of sides. m, of the surface without thickness. */
static double deepest(const sb_model *m, const sb_state *s)
{
  const float *body = s->body_q;
  const double pose[7] = {body[0], body[1], body[2], body[3], body[4], body[5], body[6]}, ends[2][3] = {{0, 0, 0}, {2 * HALF, 0, 0}};
  double near[3], far[3], axis[3], depth = -1;
  cook_pose_point(pose, ends[0], near);
  cook_pose_point(pose, ends[1], far);
  for (int i = 0; i < 3; i++) axis[i] = far[i] - near[i];
  for (uint32_t t = 0; t < m->tri_count; t++)
    for (int k = 0; k < 6; k++) {
      const int32_t *at = m->tri_indices + 3 * (size_t)t;
      const float *u = s->particle_q + 3 * (size_t)at[k % 3], *v = s->particle_q + 3 * (size_t)at[(k + k / 3) % 3];
      double p[3], out[3];
      for (int i = 0; i < 3; i++) p[i] = ((double)u[i] + (double)v[i]) / 2 - near[i];
      double on = cook_dot(p, axis) / cook_dot(axis, axis);
      on = on < 0 ? 0 : on > 1 ? 1 : on;
      for (int i = 0; i < 3; i++) out[i] = p[i] - on * axis[i];
      depth = fmax(depth, RADIUS - cook_length(out));
    }
  return depth;
}

static void test_sleeve(void **state)
{
  (void)state;
  sb_diagnostics diag = {0};
  sb_model_builder *b = sb_builder_create();
  sb_model_store *one = NULL;
  add_arm(b);
  add_sleeve(b);
  assert_int_equal(sb_builder_finalise(b, "sleeve", &one, &diag), SB_OK);
  sb_builder_free(b);
  const sb_model *m = sb_model_store_view(one);
  uint32_t every[AROUND * ALONG];
  for (uint32_t i = 0; i < AROUND * ALONG; i++) every[i] = i;
  const sb_solver_api *api[2] = {api_of(&samebit_plugin_steel), api_of(&samebit_plugin_xpbd)};
  double params[2][64];
  sb_sim_part parts[2];
  for (int k = 0; k < 2; k++) {
    for (uint32_t i = 0; i < api[k]->desc->param_count; i++) params[k][i] = api[k]->desc->params[i].value;
    parts[k] = (sb_sim_part){.name = k ? "cloth" : "robot", .api = api[k], .params = params[k], .bodies = every, .body_count = k ? 0 : 1, .particles = every,
                             .particle_count = k ? m->particle_count : 0, .mode = SB_MODE_LOCAL};
  }
  sb_sim_config config = {.model = one, .parts = parts, .part_count = 2, .dt_numerator = 1, .dt_denominator = 240, .mode = SB_MODE_LOCAL, .threads = 1,
                          .speculative_margin = 0.01f, .coupling = SB_COUPLING_ONE_WAY, .broad_phase = SB_BROAD_SAP, .near_pair_capacity = 60000};
  sb_sim *sim = NULL;
  if (sb_sim_create(&config, &sim, &diag)) fail_msg("%s", diag.items[0].message);
  double depth = -1, reach = 0;
  for (int t = 0; t < 240 * 20; t++) {
    double seconds = t / 240.0;
    /* up and down by 60 degrees, and from side to side: the tip moves at up to 2.5 m/s */
    sb_sim_state(sim)->actuator_ctrl[0] = (float)(1.05 * sin(2 * COOK_PI * 0.6 * seconds));
    sb_sim_state(sim)->actuator_ctrl[1] = (float)(0.9 * sin(2 * COOK_PI * 0.45 * seconds));
    if (sb_sim_step(sim, &diag)) fail_msg("%s", diag.items[diag.count - 1].message);
    depth = fmax(depth, deepest(m, sb_sim_state(sim)));
    reach = fmax(reach, fabs((double)sb_sim_state(sim)->joint_q[0]));
  }
  print_message("  the arm swung by %.2f rad\n", reach);
  physics_bound(NULL, "sleeve on a swinging arm: deepest point of the cloth in the arm in 20 s, m", depth, THICKNESS / 2);
  physics_bound(NULL, "  the arm swings as far as it should, rad short", 0.8 - reach, 0);
  sb_sim_destroy(sim);
  sb_model_store_free(one);
  sb_diagnostics_clear(&diag);
  physics_verdict();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sleeve)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
