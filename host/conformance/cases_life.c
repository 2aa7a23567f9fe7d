/* Cases of the life cycle. A stand-in goes between host and solver and calls it with what the case is about; there is one case in
 * a process, so the stand-in may be static. */
#define _GNU_SOURCE
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "case_run.h"
#include "fp_env.h"

static const sb_solver_api *real;
static sb_solver_api stand_in;
static const char *fault; /* what the stand-in has seen; NULL for nothing */
static char seen[200];    /* an error text that it has got */

static const sb_solver_api *stand_in_for(const sb_solver_api *api)
{
  real = api;
  stand_in = *api;
  fault = NULL;
  seen[0] = 0;
  return &stand_in;
}

/* The simplest scene that the solver handles. */
static const sb_micro_scene *first_scene(const sb_solver_api *api)
{
  for (size_t i = 0; i < sb_micro_scene_count; i++)
    if (sb_case_fits(api, &sb_micro_scenes[i])) return &sb_micro_scenes[i];
  return NULL;
}

/* Opens the first scene with the stand-in and steps; what the host makes of it does not matter, what the stand-in has seen does. */
static bool run_stand_in(sb_case_context *c, const sb_solver_api *api, uint32_t ticks)
{
  const sb_micro_scene *scene = first_scene(api);
  sb_case_run r;
  if (!scene) {
    sb_case_skip(c, "it handles no micro-scene");
    return true;
  }
  if (sb_case_open(&r, &stand_in, scene->name, NULL, SB_MODE_OFF)) sb_case_step(&r, ticks);
  sb_case_close(&r);
  return !fault || sb_case_fail(c, "%s", fault);
}

bool case_create(sb_case_context *c, const sb_solver_api *api)
{
  void *list[4] = {NULL};
  for (int i = 0; i < 4; i++) {
    if (api->create(&list[i]) || !list[i]) return sb_case_fail(c, "create gives no instance");
    for (int k = 0; k < i; k++)
      if (list[k] == list[i]) return sb_case_fail(c, "create gives the same instance twice");
  }
  for (int i = 0; i < 4; i++) api->destroy(list[i]);
  return true;
}

/* ---- bind ---- */

static sb_status bind_other_size(void *instance, const sb_bind *bind, char *error, uint32_t error_size)
{
  static sb_bind other;
  for (int k = 0; k < 2; k++) {
    other = *bind;
    other.struct_size = k ? (uint32_t)sizeof other + 8 : (uint32_t)sizeof other - 8;
    if (!real->bind(instance, &other, error, error_size)) fault = k ? "it takes an sb_bind that is 8 bytes longer" : "it takes an sb_bind that is 8 bytes shorter";
  }
  return SB_E_UNSUPPORTED;
}

bool case_bind_version(sb_case_context *c, const sb_solver_api *api)
{
  stand_in_for(api);
  stand_in.bind = bind_other_size;
  return run_stand_in(c, api, 0);
}

static sb_status bind_vulkan(void *instance, const sb_bind *bind, char *error, uint32_t error_size)
{
  sb_bind other = *bind;
  other.backend = SB_BACKEND_VULKAN;
  error[0] = 0;
  if (!real->bind(instance, &other, error, error_size))
    fault = "it takes the backend vulkan, for which it declares Off";
  else if (!error[0])
    fault = "it refuses the backend vulkan without a reason";
  return SB_E_UNSUPPORTED;
}

bool case_bind_backend(sb_case_context *c, const sb_solver_api *api)
{
  if (api->desc->mode[SB_BACKEND_VULKAN] != SB_MODE_OFF) {
    sb_case_skip(c, "it has every backend");
    return true;
  }
  stand_in_for(api);
  stand_in.bind = bind_vulkan;
  return run_stand_in(c, api, 0);
}

static sb_status bind_short_text(void *instance, const sb_bind *bind, char *error, uint32_t error_size)
{
  (void)error, (void)error_size;
  sb_bind other = *bind;
  char buffer[256];
  other.backend = SB_BACKEND_VULKAN;
  memset(buffer, 0x5c, sizeof buffer);
  real->bind(instance, &other, buffer, 8);
  for (size_t i = 8; i < sizeof buffer; i++)
    if (buffer[i] != 0x5c) fault = "it wrote behind an error buffer of 8 bytes";
  if (!memchr(buffer, 0, 8) && !fault) fault = "an error text has no end inside a buffer of 8 bytes";
  return SB_E_UNSUPPORTED;
}

bool case_error_bounds(sb_case_context *c, const sb_solver_api *api)
{
  if (api->desc->mode[SB_BACKEND_VULKAN] != SB_MODE_OFF) {
    sb_case_skip(c, "it has every backend, so this refusal does not come");
    return true;
  }
  stand_in_for(api);
  stand_in.bind = bind_short_text;
  return run_stand_in(c, api, 0);
}

bool case_bind(sb_case_context *c, const sb_solver_api *api)
{
  bool any = false;
  for (size_t i = 0; i < sb_micro_scene_count; i++) {
    if (!sb_case_fits(api, &sb_micro_scenes[i])) continue;
    any = true;
    sb_case_run r;
    bool ok = sb_case_open(&r, api, sb_micro_scenes[i].name, NULL, SB_MODE_OFF);
    sb_case_close(&r);
    if (!ok) return sb_case_fail(c, "micro-scene %s: %s", sb_micro_scenes[i].name, r.text);
  }
  return any || sb_case_fail(c, "its handles fit none of the micro-scenes, so nothing can be checked");
}

/* Notes what a call of the real solver did to the environment, and puts it right. */
static void look_at_environment(const char *call)
{
  if (sb_fp_env_is_standard()) return;
  snprintf(seen, sizeof seen, "%s changed it: %s", call, sb_fp_env_fault());
  fault = seen;
  sb_fp_env_enter();
}

static sb_status watched_create(void **instance)
{
  sb_status status = real->create(instance);
  look_at_environment("create");
  return status;
}

static sb_status watched_bind(void *instance, const sb_bind *b, char *error, uint32_t error_size)
{
  sb_status status = real->bind(instance, b, error, error_size);
  look_at_environment("bind");
  return status;
}

static sb_status watched_activate(void *instance, uint32_t mode, float dt, char *error, uint32_t error_size)
{
  sb_status status = real->activate(instance, mode, dt, error, error_size);
  look_at_environment("activate");
  return status;
}

static void watched_deactivate(void *instance)
{
  real->deactivate(instance);
  look_at_environment("deactivate");
}

static void watched_destroy(void *instance)
{
  real->destroy(instance);
  look_at_environment("destroy");
}

bool case_environment_life(sb_case_context *c, const sb_solver_api *api)
{
  stand_in_for(api);
  stand_in.create = watched_create;
  stand_in.bind = watched_bind;
  stand_in.activate = watched_activate;
  stand_in.deactivate = watched_deactivate;
  stand_in.destroy = watched_destroy;
  return run_stand_in(c, api, 0);
}

bool case_bind_empty(sb_case_context *c, const sb_solver_api *api)
{
  sb_case_run r;
  bool ok = sb_case_open(&r, api, "", NULL, SB_MODE_LOCAL) && sb_case_step(&r, 3);
  sb_case_close(&r);
  return ok || sb_case_fail(c, "%s", r.text);
}

/* ---- activate, step, deactivate, destroy ---- */

static sb_status activate_bad_dt(void *instance, uint32_t mode, float dt, char *error, uint32_t error_size)
{
  const float bad[] = {0.0f, -0.0f, -dt, NAN};
  static const char *const names[] = {"it starts with a tick length of 0", "it starts with a tick length of -0", "it starts with a tick length below 0",
                                      "it starts with a tick length that is NaN"};
  for (int i = 0; i < 4; i++)
    if (!real->activate(instance, mode, bad[i], error, error_size)) {
      fault = names[i];
      real->deactivate(instance);
    }
  return real->activate(instance, mode, dt, error, error_size);
}

bool case_activate_dt(sb_case_context *c, const sb_solver_api *api)
{
  stand_in_for(api);
  stand_in.activate = activate_bad_dt;
  return run_stand_in(c, api, 1);
}

static sb_status step_other_size(void *instance, const sb_step *step, char *error, uint32_t error_size)
{
  sb_step other = *step;
  other.struct_size = (uint32_t)sizeof other - 8;
  if (!real->step(instance, &other, error, error_size)) fault = "it takes an sb_step that is 8 bytes shorter";
  return real->step(instance, step, error, error_size);
}

bool case_step_version(sb_case_context *c, const sb_solver_api *api)
{
  stand_in_for(api);
  stand_in.step = step_other_size;
  return run_stand_in(c, api, 1);
}

static sb_status activate_each_mode(void *instance, uint32_t mode, float dt, char *error, uint32_t error_size)
{
  static const char *const names[] = {"it does not start in mode Off", "it does not start in mode Local", "it does not start in mode RunToRun",
                                      "it does not start in mode CrossPlatform"};
  for (uint32_t m = 0; m <= real->desc->mode[SB_BACKEND_CPU] && m < SB_MODE_COUNT; m++) {
    if (real->activate(instance, m, dt, error, error_size))
      fault = names[m];
    else
      real->deactivate(instance);
  }
  return real->activate(instance, mode, dt, error, error_size);
}

bool case_modes(sb_case_context *c, const sb_solver_api *api)
{
  stand_in_for(api);
  stand_in.activate = activate_each_mode;
  return run_stand_in(c, api, 1);
}

bool case_restart(sb_case_context *c, const sb_solver_api *api)
{
  const sb_micro_scene *scene = first_scene(api);
  sb_case_run r;
  bool ok = scene && sb_case_open(&r, api, scene->name, NULL, SB_MODE_OFF);
  for (int i = 0; ok && i < 3; i++) {
    ok = sb_case_step(&r, 2);
    sb_diagnostics diag = {0};
    if (ok && sb_sim_reset(r.sim, &diag)) {
      ok = sb_case_fail(c, "%s", sb_diagnostics_reason(&diag, "the reset failed"));
    }
    sb_diagnostics_clear(&diag);
  }
  if (scene) sb_case_close(&r);
  return ok || sb_case_fail(c, "%s", scene ? r.text : "it handles no micro-scene");
}

static void deactivate_not(void *instance) { (void)instance; }

bool case_destroy_active(sb_case_context *c, const sb_solver_api *api)
{
  stand_in_for(api);
  stand_in.deactivate = deactivate_not;
  return run_stand_in(c, api, 2);
}

bool case_leak(sb_case_context *c, const sb_solver_api *api)
{
#ifdef __GLIBC__
  const sb_micro_scene *scene = first_scene(api);
  const int rounds = 200;
  size_t before = 0;
  for (int i = 0; scene && i < 8 + rounds; i++) {
    if (i == 8) before = mallinfo2().uordblks + mallinfo2().hblkhd;
    sb_case_run r;
    if (!sb_case_open(&r, api, scene->name, NULL, SB_MODE_OFF)) {
      sb_case_close(&r);
      return sb_case_fail(c, "%s", r.text);
    }
    sb_case_close(&r);
  }
  size_t after = mallinfo2().uordblks + mallinfo2().hblkhd, grown = after > before ? after - before : 0;
  return grown < 256 * (size_t)rounds || sb_case_fail(c, "%zu bytes more are taken after each instance", grown / (size_t)rounds);
#else
  (void)api;
  sb_case_skip(c, "this C library does not tell how much memory is taken");
  return true;
#endif
}
