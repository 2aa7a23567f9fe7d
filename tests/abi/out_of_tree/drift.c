/* A solver as a third party writes it: free bodies keep their velocity. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drift.h"
#include "samebit/samebit.h"

static const sb_solver_desc desc = {
    .struct_size = sizeof(sb_solver_desc),
    .handles = SB_HANDLES_RIGID,
    .id = DRIFT_ID,
    .version = "0.0.1",
    .vendor = "A third party",
    .text = "Bodies keep their velocity; nothing else acts.",
    .mode = {SB_MODE_LOCAL, SB_MODE_OFF},
    .mode_reason = {"nothing but the maker's word", "has no Vulkan backend"},
    .param_size = sizeof(sb_param_desc),
    .golden_size = sizeof(sb_golden),
};

static sb_status create(void **instance)
{
  *instance = calloc(1, sizeof(sb_bind));
  return *instance ? SB_OK : SB_E_MEMORY;
}

static sb_status bind(void *instance, const sb_bind *given, char *error, uint32_t error_size)
{
  if (given->struct_size != sizeof *given || given->backend != SB_BACKEND_CPU) {
    snprintf(error, error_size, "drift runs on the CPU of ABI %u.%u", SB_ABI_MAJOR, SB_ABI_MINOR);
    return SB_E_UNSUPPORTED;
  }
  memcpy(instance, given, sizeof *given);
  return SB_OK;
}

static sb_status activate(void *instance, uint32_t mode, float dt, char *error, uint32_t error_size)
{
  (void)instance, (void)mode, (void)dt, (void)error, (void)error_size;
  return SB_OK;
}

static sb_status step(void *instance, const sb_step *given, char *error, uint32_t error_size)
{
  const sb_bind *b = instance;
  (void)error, (void)error_size;
  for (uint32_t i = 0; i < b->body_count; i++) {
    float *q = b->state->body_q + 7 * (size_t)b->bodies[i];
    const float *qd = b->state->body_qd + 6 * (size_t)b->bodies[i];
    if (b->lanes == 8)
      drift_move_lanes8(q, qd, 3, given->dt);
    else if (b->lanes == 4)
      drift_move_lanes4(q, qd, 3, given->dt);
    else
      drift_move_lanes1(q, qd, 3, given->dt);
  }
  return SB_OK;
}

static void deactivate(void *instance) { (void)instance; }
static void destroy(void *instance) { free(instance); }

static const sb_solver_api api = {.struct_size = sizeof(sb_solver_api),
                                  .desc = &desc,
                                  .create = create,
                                  .bind = bind,
                                  .activate = activate,
                                  .step = step,
                                  .deactivate = deactivate,
                                  .destroy = destroy};
static const sb_solver_api *const solvers[] = {&api};
static const sb_solver_factory factory = {sizeof(sb_solver_factory), 1, solvers};

static const void *get_factory(const char *id) { return strcmp(id, SB_SOLVER_FACTORY_ID) ? NULL : &factory; }

SB_DEFINE_PLUGIN(drift, 1u | 4u | 8u, NULL, get_factory);
