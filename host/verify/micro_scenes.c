/* Builds the micro-scenes and runs them. */
#include "micro_scenes.h"

#include <stdlib.h>
#include <string.h>

#include "collision.h"
#include "micro_scenes_soft.h"
#include "model_builder.h"
#include "sim.h"

const sb_micro_scene sb_micro_scenes[] = {
    {"fly", "two free bodies tumble without contact", SB_HANDLES_RIGID, 96},
    {"arm", "a fixed arm with a drive, a limit, dry friction, a slide and a ball joint, under gravity",
     SB_HANDLES_RIGID | SB_HANDLES_JOINTS, 96},
    {"drop", "a sphere, a capsule and two boxes fall, spinning, onto a plane and each other",
     SB_HANDLES_RIGID | SB_HANDLES_CONTACT, 96},
    {"reach", "an arm with limits falls onto a box on a plane and onto the plane",
     SB_HANDLES_RIGID | SB_HANDLES_JOINTS | SB_HANDLES_CONTACT, 96},
    {"beads", "a string of beads, pinned, tied and held, swings over a ball; loose beads fall onto it and each other",
     SB_HANDLES_PARTICLES, 60},
    {"curtain", "cloth of springs, triangles and bending edges, pinned, tied and touching itself, falls over a ball",
     SB_HANDLES_PARTICLES | SB_HANDLES_CLOTH, 60},
    {"jelly", "two soft cubes fall onto a ball, a plane and each other", SB_HANDLES_PARTICLES | SB_HANDLES_SOFT | SB_HANDLES_CLOTH, 60},
};
const size_t sb_micro_scene_count = sizeof sb_micro_scenes / sizeof sb_micro_scenes[0];

static sb_build_body link_body(int32_t parent, double x, double mass)
{
  sb_build_body b = sb_build_body_default();
  b.joint_type = SB_JOINT_AXES;
  b.parent = parent;
  b.joint_X_p[0] = x;
  b.mass = mass;
  b.com[0] = 0.15;
  b.com[2] = 0.01;
  b.inertia[0] = 0.002 * mass;
  b.inertia[1] = 0.009 * mass;
  b.inertia[2] = 0.008 * mass;
  b.inertia[3] = 0.0005 * mass;
  return b;
}

static sb_build_dof axis_dof(uint32_t kind, double x, double y, double z, double q)
{
  sb_build_dof d = sb_build_dof_default();
  d.kind = kind;
  d.axis[0] = x, d.axis[1] = y, d.axis[2] = z;
  d.q = q;
  return d;
}

static void build_arm(sb_model_builder *b)
{
  sb_build_body body = link_body(-1, 0, 1.5);
  body.joint_X_p[2] = 1.0;
  int32_t upper = sb_builder_add_body(b, &body, "upper");
  sb_build_dof dof = axis_dof(SB_DOF_ANGULAR, 0, 1, 0.25, 0.3);
  dof.target_ke = 40, dof.target_kd = 2, dof.target_q = -0.4, dof.effort_limit = 9, dof.armature = 0.02;
  sb_builder_add_dof(b, &dof, "shoulder");
  dof = axis_dof(SB_DOF_ANGULAR, 0, 0, 1, -0.2);
  dof.damping = 0.1, dof.stiffness = 3, dof.spring_ref = 0.1;
  sb_builder_add_dof(b, &dof, "twist");
  body = link_body(upper, 0.3, 0.8);
  int32_t lower = sb_builder_add_body(b, &body, "lower");
  dof = axis_dof(SB_DOF_ANGULAR, 0, 1, 0, 0.1);
  dof.lower = -0.2, dof.upper = 0.15;
  sb_builder_add_dof(b, &dof, "elbow");
  body = link_body(lower, 0.3, 0.4);
  body.joint_X_p[3] = 0.5, body.joint_X_p[4] = 0.5, body.joint_X_p[5] = 0.5, body.joint_X_p[6] = 0.5;
  int32_t slider = sb_builder_add_body(b, &body, "slider");
  dof = axis_dof(SB_DOF_LINEAR, 0, 0, 1, 0.02);
  dof.friction = 0.5, dof.lower = -0.1, dof.upper = 0.1;
  sb_builder_add_dof(b, &dof, "slide");
  body = link_body(slider, 0.1, 0.3);
  body.joint_type = SB_JOINT_BALL;
  body.q[0] = 0.1, body.q[1] = 0.2, body.q[2] = 0, body.q[3] = 0.9746794344808963;
  body.qd[0] = 1, body.qd[2] = -2;
  int32_t ball = sb_builder_add_body(b, &body, "ball");
  body = link_body(ball, 0.2, 0.2);
  body.joint_type = SB_JOINT_FIXED;
  sb_builder_add_body(b, &body, "tip");
}

/* The arm again, its upper body's hinge beyond a limit, with one sensor of each type. */
static void build_sense(sb_model_builder *b)
{
  build_arm(b);
  for (int i = 0; i < 4; i++) sb_builder_dof(b, i)->qd = 0.5 - 0.75 * i;
  sb_builder_dof(b, 2)->q = 0.25;
  const sb_build_tendon tendon = sb_build_tendon_default();
  int32_t cord = sb_builder_add_tendon(b, &tendon, "cord");
  sb_builder_add_tendon_term(b, 0, 0.75);
  sb_builder_add_tendon_term(b, 2, -1.25);
  sb_build_actuator motor = sb_build_actuator_default();
  motor.tendon = cord, motor.gear = 3, motor.ctrl = 0.4;
  int32_t winch = sb_builder_add_actuator(b, &motor, "winch");
  for (uint32_t type = 0; type < SB_SENSOR_TYPE_COUNT; type++) {
    sb_build_sensor s = sb_build_sensor_default();
    s.type = type;
    if (type <= SB_SENSOR_JOINT_ACTUATOR_FORCE) s.dof = 2;
    if (type == SB_SENSOR_BALL_QUAT || type == SB_SENSOR_BALL_ANG_VEL) s.dof = 4;
    if (type == SB_SENSOR_TENDON_POS || type == SB_SENSOR_TENDON_VEL) s.tendon = cord;
    if (type >= SB_SENSOR_ACTUATOR_POS && type <= SB_SENSOR_ACTUATOR_FORCE) s.actuator = winch;
    if (type >= SB_SENSOR_FRAME_POS && type < SB_SENSOR_CLOCK) {
      s.body = 4;
      s.X[0] = 0.1, s.X[1] = -0.2, s.X[3] = 0.5, s.X[4] = 0.5, s.X[5] = -0.5, s.X[6] = 0.5;
    }
    if (type >= SB_SENSOR_FRAME_POS && type <= SB_SENSOR_FRAME_ANG_VEL) s.ref_body = 1, s.ref_X[2] = 0.3;
    if (type == SB_SENSOR_GYRO) s.cutoff = 0.125;
    sb_builder_add_sensor(b, &s, NULL);
  }
}

static void add_free_body(sb_model_builder *b, uint32_t type, const double size[3], double x, double z, double spin)
{
  sb_build_body body = sb_build_body_default();
  body.joint_type = SB_JOINT_FREE;
  body.q[0] = x, body.q[1] = 0.1 * x, body.q[2] = z, body.q[3] = 0.2, body.q[4] = 0.1, body.q[5] = -0.1, body.q[6] = 0.9695359714832659;
  body.qd[0] = 0.3, body.qd[3] = spin, body.qd[5] = -spin;
  body.mass = 1.25;
  body.inertia[0] = 0.012, body.inertia[1] = 0.014, body.inertia[2] = 0.01;
  int32_t index = sb_builder_add_body(b, &body, NULL);
  sb_build_shape shape = sb_build_shape_default();
  shape.type = type;
  shape.body = index;
  memcpy(shape.size, size, sizeof shape.size);
  shape.friction[0] = 0.6;
  sb_builder_add_shape(b, &shape, NULL);
}

static void build_fly(sb_model_builder *b)
{
  for (int k = 0; k < 2; k++) {
    sb_build_body body = sb_build_body_default();
    body.joint_type = SB_JOINT_FREE;
    body.q[0] = k, body.q[2] = 1, body.q[3] = 0.5, body.q[4] = 0.5, body.q[5] = -0.5, body.q[6] = 0.5;
    body.qd[1] = 1.5, body.qd[2] = 2, body.qd[3] = 4 - 7 * k, body.qd[4] = 0.25, body.qd[5] = 2;
    body.mass = 0.75 + k;
    body.com[0] = 0.125, body.com[2] = -0.0625;
    body.inertia[0] = 0.01, body.inertia[1] = 0.02, body.inertia[2] = 0.025, body.inertia[3] = 0.003, body.inertia[5] = -0.002;
    sb_builder_add_body(b, &body, NULL);
  }
}

static void build_drop(sb_model_builder *b)
{
  sb_build_shape plane = sb_build_shape_default();
  plane.type = SB_SHAPE_PLANE;
  plane.body = -1;
  sb_builder_add_shape(b, &plane, "floor");
  const double ball[3] = {0.12, 0, 0}, capsule[3] = {0.08, 0.15, 0}, box[3] = {0.15, 0.1, 0.12}, cube[3] = {0.1, 0.1, 0.1};
  add_free_body(b, SB_SHAPE_SPHERE, ball, 0.0, 0.2, 3);
  add_free_body(b, SB_SHAPE_CAPSULE, capsule, 0.15, 0.3, -2);
  add_free_body(b, SB_SHAPE_BOX, box, 0.05, 0.55, 1);
  add_free_body(b, SB_SHAPE_BOX, cube, -0.15, 0.3, 4);
}

static void build_reach(sb_model_builder *b)
{
  sb_build_shape plane = sb_build_shape_default();
  plane.type = SB_SHAPE_PLANE;
  plane.body = -1;
  sb_builder_add_shape(b, &plane, "floor");
  const double box[3] = {0.12, 0.1, 0.1};
  add_free_body(b, SB_SHAPE_BOX, box, 0.5, 0.12, 0);
  int32_t parent = -1;
  for (int k = 0; k < 3; k++) {
    sb_build_body body = link_body(parent, k ? 0.3 : 0.0, 1.0);
    if (!k) body.joint_X_p[2] = 0.4;
    parent = sb_builder_add_body(b, &body, NULL);
    sb_build_dof dof = axis_dof(SB_DOF_ANGULAR, 0, 1, 0.1 * k, -0.1);
    dof.lower = -0.5, dof.upper = 0.9 - 0.2 * k;
    if (k == 1) dof.friction = 0.2;
    sb_builder_add_dof(b, &dof, NULL);
    sb_build_shape shape = sb_build_shape_default();
    shape.type = SB_SHAPE_CAPSULE;
    shape.body = parent;
    shape.X[0] = 0.15, shape.X[4] = 0.7071067811865476, shape.X[6] = 0.7071067811865476;
    shape.size[0] = 0.04, shape.size[1] = 0.11;
    shape.friction[0] = 0.5;
    sb_builder_add_shape(b, &shape, NULL);
  }
}

/* Two bodies that meet each other 60 m away from everything else. */
static void add_unrelated(sb_model_builder *b)
{
  const double ball[3] = {0.3, 0, 0};
  add_free_body(b, SB_SHAPE_SPHERE, ball, 60.0, 0.5, 1);
  add_free_body(b, SB_SHAPE_SPHERE, ball, 60.2, 1.0, -1);
}

static sb_model_store *build_scene(const char *name, bool bodies, bool particles)
{
  sb_model_builder *b = sb_builder_create();
  sb_model_store *store = NULL;
  if (!strcmp(name, "arm"))
    build_arm(b);
  else if (!strcmp(name, "drop"))
    build_drop(b);
  else if (!strcmp(name, "reach"))
    build_reach(b);
  else if (!strcmp(name, "fly"))
    build_fly(b);
  else if (!strcmp(name, "sense"))
    build_sense(b);
  else if (!strcmp(name, "beads"))
    sb_micro_scene_beads(b);
  else if (!strcmp(name, "curtain"))
    sb_micro_scene_curtain(b);
  else if (!strcmp(name, "jelly"))
    sb_micro_scene_jelly(b);
  else
    name = NULL;
  if (bodies) add_unrelated(b);
  if (particles) sb_micro_scene_far_beads(b);
  if (name && sb_builder_finalise(b, name, &store, NULL)) store = NULL;
  sb_builder_free(b);
  return store;
}

sb_model_store *sb_micro_scene_model(const char *name) { return build_scene(name, false, false); }

sb_model_store *sb_micro_scene_model_with_more(const sb_micro_scene *scene, const sb_solver_api *api)
{
  bool bodies = (api->desc->handles & SB_HANDLES_RIGID) != 0, particles = (scene->handles & SB_HANDLES_PARTICLES) != 0;
  return bodies || particles ? build_scene(scene->name, bodies, particles) : NULL;
}

#define MAX_PARAMS 64
#define MAX_ENTITIES 256 /* bodies or particles of a micro-scene */

/* One run of a scene; the rest of `config` is filled in. */
static sb_status run_scene(const sb_micro_scene *scene, const sb_solver_api *api, uint32_t backend, sb_sim_config config, uint64_t *hash,
                           sb_diagnostics *diag)
{
  if (api->desc->param_count > MAX_PARAMS || (api->desc->handles & scene->handles) != scene->handles) return SB_E_UNSUPPORTED;
  sb_model_store *one = sb_micro_scene_model(scene->name), *model = NULL;
  sb_status status = one ? sb_model_store_replicate(one, 1, 0, &model, diag) : SB_E_MEMORY;
  sb_sim *sim = NULL;
  if (!status) {
    uint32_t every[MAX_ENTITIES], count = sb_model_store_view(model)->body_count, particles = sb_model_store_view(model)->particle_count;
    for (uint32_t i = 0; i < MAX_ENTITIES; i++) every[i] = i;
    double params[MAX_PARAMS];
    for (uint32_t i = 0; i < api->desc->param_count; i++) params[i] = api->desc->params[i].value;
    sb_sim_part part = {.name = "check", .api = api, .params = params, .bodies = every, .body_count = count,
                        .particles = every, .particle_count = particles, .backend = backend, .mode = config.mode};
    config.model = model;
    config.parts = &part;
    config.part_count = 1;
    config.dt_numerator = 1;
    config.dt_denominator = 240;
    config.broad_phase = SB_BROAD_SAP;
    config.seed = 1;
    status = sb_sim_create(&config, &sim, diag);
  }
  for (uint32_t t = 0; !status && t < scene->ticks; t++) status = sb_sim_step(sim, diag);
  if (!status) *hash = sb_sim_hash(sim);
  sb_sim_destroy(sim);
  sb_model_store_free(model);
  sb_model_store_free(one);
  return status;
}

sb_status sb_micro_scene_hash(const sb_micro_scene *scene, const sb_solver_api *api, uint32_t backend, uint32_t threads,
                              uint32_t lanes, uint64_t shuffle, uint64_t *hash, sb_diagnostics *diag)
{
  sb_sim_config config = {.mode = SB_MODE_LOCAL, .threads = threads, .lanes = lanes, .shuffle = shuffle};
  return run_scene(scene, api, backend, config, hash, diag);
}

sb_status sb_micro_scene_hash_on(const sb_micro_scene *scene, const sb_solver_api *api, const struct sb_device *device, uint32_t mode,
                                 uint64_t *hash, sb_diagnostics *diag)
{
  sb_sim_config config = {.mode = mode, .threads = 1, .device = device};
  return run_scene(scene, api, SB_BACKEND_VULKAN, config, hash, diag);
}

/* No solver moves anything: poses and particles are walked through by hand, by exact steps, down through the plane. */
static void walk_down(sb_sim *sim, const sb_model *m)
{
  sb_state *state = sb_sim_state(sim);
  for (uint32_t b = 0; b < m->body_count; b++) state->body_q[7 * b + 2] -= 0.03125f;
  for (uint32_t p = 0; p < m->particle_count; p++) state->particle_q[3 * p + 2] -= 0.0078125f;
}

#define WALK_WORLDS 3 /* so that several tasks find near pairs */

/* Contacts of one scene, folded into *run. config: where and how it runs. */
static sb_status walk_contacts(const char *name, sb_sim_config config, uint64_t *run, sb_diagnostics *diag)
{
  sb_model_store *one = sb_micro_scene_model(name), *model = NULL;
  sb_status status = one ? sb_model_store_replicate(one, WALK_WORLDS, 0, &model, diag) : SB_E_MEMORY;
  sb_sim *sim = NULL;
  if (!status) {
    config.model = model;
    config.dt_numerator = 1;
    config.dt_denominator = 240;
    config.broad_phase = SB_BROAD_SAP;
    config.speculative_margin = 0.25f;
    status = sb_sim_create(&config, &sim, diag);
    if (!status && config.device && !sb_sim_collides_on_device(sim)) status = SB_E_UNSUPPORTED;
  }
  for (uint32_t t = 0; !status && t < 16; t++) {
    walk_down(sim, sb_model_store_view(model));
    status = sb_sim_step(sim, diag);
    if (!status) *run = sb_hash_fold(*run, sb_sim_hash_stage(sim, SB_STAGE_CONTACTS));
  }
  sb_sim_destroy(sim);
  sb_model_store_free(model);
  sb_model_store_free(one);
  return status;
}

static sb_status walk_all_contacts(sb_sim_config config, uint64_t *hash, sb_diagnostics *diag)
{
  static const char *const scenes[] = {"drop", "curtain", "jelly"};
  sb_status status = SB_OK;
  uint64_t run = 0;
  for (size_t i = 0; !status && i < sizeof scenes / sizeof *scenes; i++) status = walk_contacts(scenes[i], config, &run, diag);
  *hash = run;
  return status;
}

sb_status sb_micro_scene_contacts(uint32_t lanes, uint32_t threads, uint64_t shuffle, uint64_t *hash, sb_diagnostics *diag)
{
  return walk_all_contacts((sb_sim_config){.mode = SB_MODE_LOCAL, .threads = threads, .lanes = lanes, .shuffle = shuffle}, hash, diag);
}

sb_status sb_micro_scene_contacts_on(const struct sb_device *device, uint64_t *hash, sb_diagnostics *diag)
{
  return walk_all_contacts((sb_sim_config){.mode = SB_MODE_LOCAL, .threads = 1, .device = device}, hash, diag);
}

sb_status sb_micro_scene_sensors(uint32_t lanes, uint32_t threads, uint64_t shuffle, uint64_t *hash, sb_diagnostics *diag)
{
  sb_model_store *one = sb_micro_scene_model("sense"), *model = NULL;
  sb_status status = one ? sb_model_store_replicate(one, 1, 0, &model, diag) : SB_E_MEMORY;
  sb_sim *sim = NULL;
  if (!status) {
    sb_sim_config config = {.model = model, .dt_numerator = 1, .dt_denominator = 240, .mode = SB_MODE_LOCAL, .threads = threads,
                            .lanes = lanes, .broad_phase = SB_BROAD_SAP, .shuffle = shuffle};
    status = sb_sim_create(&config, &sim, diag);
  }
  for (int t = 0; !status && t < 2; t++) status = sb_sim_step(sim, diag);
  if (!status) *hash = sb_sim_hash_array(sim, "sensors.sensor_data");
  sb_sim_destroy(sim);
  sb_model_store_free(model);
  sb_model_store_free(one);
  return status;
}
