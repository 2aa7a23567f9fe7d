/* Scenes and bounds of the physics tests. Knows the host's core, the scene layer and both solvers' entries. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collision.h"
#include "physics_scene.h"

extern const sb_plugin_entry samebit_plugin_featherstone, samebit_plugin_semi_implicit, samebit_plugin_steel, samebit_plugin_xpbd;

static const sb_solver_api *solver_api(physics_solver solver)
{
  static const sb_plugin_entry *const entries[] = {&samebit_plugin_featherstone, &samebit_plugin_semi_implicit, &samebit_plugin_steel,
                                                  &samebit_plugin_xpbd};
  const sb_solver_factory *factory = entries[solver]->get_factory(SB_SOLVER_FACTORY_ID);
  return factory->solvers[0];
}

const sb_solver_desc *physics_desc(physics_solver solver) { return solver_api(solver)->desc; }

static void fail_with(sb_diagnostics *diag, const char *what)
{
  for (size_t i = 0; i < diag->count; i++) print_error("%s: %s\n", diag->items[i].where, diag->items[i].message);
  sb_diagnostics_clear(diag);
  fail_msg("%s", what);
}

static uint32_t run_lanes;
void physics_set_lanes(uint32_t lanes) { run_lanes = lanes; }

static uint32_t run_threads = 1;
void physics_set_threads(uint32_t threads) { run_threads = threads; }

static uint32_t ccd_body = UINT32_MAX;
void physics_set_ccd(uint32_t body) { ccd_body = body; }

#define MAX_PARAMS 32

physics physics_start_model(sb_model_store *one, physics_solver solver, uint32_t per_second,
                            const physics_param *params, size_t count)
{
  physics p = {.solver = solver, .one = one, .dt = (float)1 / (float)per_second};
  sb_diagnostics diag = {0};
  const sb_solver_api *api = solver_api(solver);
  if (sb_model_store_replicate(one, 1, 0, &p.store, &diag)) fail_with(&diag, "replication");
  p.m = sb_model_store_view(p.store);
  double values[MAX_PARAMS];
  assert_true(api->desc->param_count <= MAX_PARAMS);
  for (uint32_t i = 0; i < api->desc->param_count; i++) values[i] = api->desc->params[i].value;
  for (size_t k = 0; k < count; k++) {
    uint32_t i = 0;
    while (i < api->desc->param_count && strcmp(api->desc->params[i].name, params[k].name)) i++;
    if (i == api->desc->param_count) fail_msg("%s has no parameter %s", api->desc->id, params[k].name);
    values[i] = params[k].value;
  }
  uint32_t most = p.m->body_count > p.m->particle_count ? p.m->body_count : p.m->particle_count;
  uint32_t *bodies = malloc((most + 1) * sizeof *bodies); /* all bodies, and all particles */
  assert_non_null(bodies);
  for (uint32_t i = 0; i < most; i++) bodies[i] = i;
  sb_sim_part part = {.name = "physics",
                      .api = api,
                      .params = values,
                      .bodies = bodies,
                      .body_count = p.m->body_count,
                      .particles = bodies,
                      .particle_count = p.m->particle_count,
                      .backend = SB_BACKEND_CPU,
                      .mode = SB_MODE_LOCAL};
  sb_sim_config config = {.model = p.store,
                          .parts = &part,
                          .part_count = 1,
                          .dt_numerator = 1,
                          .dt_denominator = per_second,
                          .mode = SB_MODE_LOCAL,
                          .threads = run_threads,
                          .lanes = run_lanes,
                          .ccd_bodies = &ccd_body,
                          .ccd_body_count = ccd_body != UINT32_MAX,
                          .speculative_margin = 0.01f,
                          .broad_phase = SB_BROAD_SAP,
                          .seed = 1};
  if (sb_sim_create(&config, &p.sim, &diag)) fail_with(&diag, "sb_sim_create");
  free(bodies);
  p.s = sb_sim_state(p.sim);
  sb_diagnostics_clear(&diag);
  return p;
}

physics physics_start(sb_model_builder *b, physics_solver solver, uint32_t per_second, const physics_param *params,
                      size_t count)
{
  sb_diagnostics diag = {0};
  sb_model_store *one = NULL;
  if (sb_builder_finalise(b, "physics", &one, &diag)) fail_with(&diag, "sb_builder_finalise");
  sb_diagnostics_clear(&diag);
  sb_builder_free(b);
  return physics_start_model(one, solver, per_second, params, count);
}

void physics_step(physics *p, uint32_t ticks)
{
  sb_diagnostics diag = {0};
  for (uint32_t t = 0; t < ticks; t++)
    if (sb_sim_step(p->sim, &diag)) fail_with(&diag, physics_desc(p->solver)->id);
  sb_diagnostics_clear(&diag);
}

void physics_stop(physics *p)
{
  sb_sim_destroy(p->sim);
  sb_model_store_free(p->store);
  sb_model_store_free(p->one);
}

sb_model_store *physics_load(const char *scene, const sb_scene_param *params, bool floating)
{
  bool generator = !strncmp(scene, "generator:", 10);
  FILE *f = generator ? NULL : fopen(scene, "rb");
  if (!generator && !f) return NULL;
  if (f) fclose(f);
  sb_scene_request request = {.scene = scene, .params = params, .floating_base = floating};
  while (params && params[request.param_count].key) request.param_count++;
  sb_model_store *store = NULL;
  sb_diagnostics diag = {0};
  if (sb_scene_load(&request, &store, &diag)) fail_with(&diag, scene);
  sb_diagnostics_clear(&diag);
  return store;
}

static unsigned missed;

void physics_bound(const physics *p, const char *what, double measured, double bound)
{
  bool ok = measured <= bound;
  if (!ok) missed++;
  print_message("  %-13s %-62s %.3e  (bound %.3e)%s\n", p ? physics_desc(p->solver)->id : "", what, measured, bound,
                ok ? "" : "  MISSED");
}

void physics_verdict(void)
{
  unsigned n = missed;
  missed = 0;
  if (n) fail_msg("%u bounds missed", n);
}

sb_build_body physics_free(double mass, double ix, double iy, double iz, double x, double y, double z)
{
  sb_build_body body = sb_build_body_default();
  body.joint_type = SB_JOINT_FREE;
  body.q[0] = x, body.q[1] = y, body.q[2] = z;
  body.mass = mass;
  body.inertia[0] = ix, body.inertia[1] = iy, body.inertia[2] = iz;
  return body;
}

sb_build_body physics_link(int32_t parent, double x, double y, double z, double mass, double inertia)
{
  sb_build_body body = sb_build_body_default();
  body.joint_type = SB_JOINT_AXES;
  body.parent = parent;
  body.joint_X_p[0] = x, body.joint_X_p[1] = y, body.joint_X_p[2] = z;
  body.mass = mass;
  body.inertia[0] = body.inertia[1] = body.inertia[2] = inertia;
  return body;
}

sb_build_dof physics_axis(uint32_t kind, double x, double y, double z)
{
  sb_build_dof dof = sb_build_dof_default();
  dof.kind = kind;
  dof.axis[0] = x, dof.axis[1] = y, dof.axis[2] = z;
  return dof;
}

void physics_shape(sb_model_builder *b, uint32_t type, int32_t body, double x, double y, double z, double friction)
{
  sb_build_shape shape = sb_build_shape_default();
  shape.type = type;
  shape.body = body;
  shape.size[0] = x, shape.size[1] = y, shape.size[2] = z;
  shape.friction[0] = friction;
  shape.margin = 0.01;
  sb_builder_add_shape(b, &shape, NULL);
}

sb_model_builder *physics_builder(double gravity_z)
{
  sb_model_builder *b = sb_builder_create();
  const double g[3] = {0, 0, gravity_z};
  sb_builder_set_gravity(b, g);
  return b;
}
