/* A solver whose one shader the host must judge: particles on the device, all alike. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include SHADER_HEADER
#include "samebit/compute.h"
#include "samebit/solver_tools.h"

/* Words that are left out at the end: a module that is cut off. */
#ifndef SHADER_CUT
#define SHADER_CUT 0
#endif
/* Workgroups: as many as there are floats for, or so many that a device whose driver ends loops after a while has enough to do. */
#ifndef SHADER_GROUPS
#define SHADER_GROUPS 0
#endif

static const sb_solver_desc desc = {
    .struct_size = sizeof(sb_solver_desc), .handles = SB_HANDLES_PARTICLES, .id = FIXTURE_ID, .version = "1.0.0", .vendor = "test",
    .text = "A shader that the host must judge.", .mode = {SB_MODE_OFF, SB_MODE_CROSS_PLATFORM}, .mode_reason = {"runs on the device alone", "so it says"},
    .param_size = sizeof(sb_param_desc), .golden_size = sizeof(sb_golden),
};

typedef struct push_words {
  uint32_t count;
  float h;
} push_words;

typedef struct instance {
  const sb_compute *compute;
  uint32_t q, qd, pipeline, graph, words;
} instance;

static sb_status create(void **out) { return (*out = calloc(1, sizeof(instance))) ? SB_OK : SB_E_MEMORY; }
static void destroy(void *self) { free(self); }
static void deactivate(void *self) { (void)self; }

static sb_status bind(void *self, const sb_bind *b, char *error, uint32_t size)
{
  instance *s = self;
  sb_status status = sb_check_bind(b, error, size);
  if (status) return status;
  s->compute = b->host->get_extension(b->host->context, SB_COMPUTE_EXTENSION_ID);
  if (b->backend != SB_BACKEND_VULKAN || !s->compute) {
    snprintf(error, size, "it runs on the device alone; use backend = vulkan");
    return SB_E_UNSUPPORTED;
  }
  const sb_compute *c = s->compute;
  const sb_pipeline_desc pipeline = {sizeof pipeline, 2, sizeof(push_words), 0, "fall", SHADER, sizeof SHADER / sizeof *SHADER - SHADER_CUT};
  s->words = 3 * b->model->particle_count;
  status = c->create_pipeline(c->context, &pipeline, &s->pipeline, error, size);
  if (!status) status = c->state_buffer(c->context, "particle_q", &s->q, error, size);
  if (!status) status = c->state_buffer(c->context, "particle_qd", &s->qd, error, size);
  return status;
}

static sb_status activate(void *self, uint32_t mode, float dt, char *error, uint32_t size)
{
  instance *s = self;
  const sb_compute *c = s->compute;
  const sb_binding bindings[2] = {{.buffer = s->q}, {.buffer = s->qd}};
  const push_words push = {s->words, dt};
  (void)mode;
  sb_status status = c->create_graph(c->context, &s->graph, error, size);
  if (!status) status = c->dispatch(c->context, s->graph, s->pipeline, bindings, &push, SHADER_GROUPS ? SHADER_GROUPS : (s->words + 63) / 64, error, size);
  return status ? status : c->finish_graph(c->context, s->graph, error, size);
}

static sb_status step(void *self, const sb_step *st, char *error, uint32_t size)
{
  instance *s = self;
  sb_status status = sb_check_step(st, error, size);
  return status ? status : s->compute->run(s->compute->context, s->graph, error, size);
}

static const sb_solver_api api = {.struct_size = sizeof(sb_solver_api), .desc = &desc, .create = create, .bind = bind, .activate = activate,
                                  .step = step, .deactivate = deactivate, .destroy = destroy};
static const sb_solver_api *const solvers[] = {&api};
static const sb_solver_factory factory = {sizeof(sb_solver_factory), 1, solvers};
static const void *get_factory(const char *id) { return strcmp(id, SB_SOLVER_FACTORY_ID) ? NULL : &factory; }
SB_DEFINE_PLUGIN(shader, 1u, NULL, get_factory);
