/* One plugin for each conformance case: FAULT names the case that it must fail, and no other; FAULT_good fails none. A small solver:
 * free bodies under gravity and a drag, through everything. */
#define _GNU_SOURCE
#include <fenv.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "samebit/samebit.h"

#define NUMBER_(name) NUMBER_##name
#define NUMBER(name) NUMBER_(name)
enum faults {
  NUMBER_good,
#define CASE(name) NUMBER_##name,
#include "broken_cases.h"
#undef CASE
};
#define IS(name) (NUMBER(FAULT) == NUMBER_##name)

/* What a file must not have cannot be chosen by a condition in code. */
#if defined(WITH_file_export)
extern SB_EXPORT int broken_second_export;
int broken_second_export = 2;
#elif defined(WITH_file_constructor)
static volatile int loads;
__attribute__((constructor)) static void count_loads(void) { loads = loads + 1; }
#elif defined(WITH_load)
float broken_defined_nowhere(float x);
#elif defined(WITH_file_writable_code)
__asm__(".section .both,\"awx\",@progbits\n .byte 0xc3\n .text");
#endif

#if defined(WITH_file_libm)
#include <math.h>
static float disturb(float x) { return 0.0f * sinf(x); }
#elif defined(WITH_file_late_code)
#include <dlfcn.h>
static float disturb(float x)
{
  float (*wave)(float) = (float (*)(float))(uintptr_t)dlsym(RTLD_DEFAULT, "sinf");
  return wave ? 0.0f * wave(x) : 0.0f * x;
}
#elif defined(WITH_file_outside)
static float disturb(float x) { return getenv("SAMEBIT_BROKEN_OUTSIDE") ? x : 0.0f * x; }
#elif defined(WITH_file_resolver)
static float plain_disturb(float x) { return 0.0f * x; }
__attribute__((used)) static float (*choose_disturb(void))(float) { return plain_disturb; }
static float disturb(float x) __attribute__((ifunc("choose_disturb")));
#elif defined(WITH_file_estimate)
#include <xmmintrin.h>
static float disturb(float x) { return 0.0f * _mm_cvtss_f32(_mm_rsqrt_ss(_mm_set_ss(x * x + 1.0f))); }
#elif defined(WITH_file_long_double)
static float disturb(float x)
{
  volatile long double wide = x;
  return 0.0f * (float)(wide * 3.0l);
}
#elif defined(WITH_file_control_word)
#include <xmmintrin.h>
static float disturb(float x)
{
  _mm_setcsr(_mm_getcsr()); /* as it was */
  return 0.0f * x;
}
#elif defined(WITH_load)
static float disturb(float x) { return broken_defined_nowhere(x); }
#elif defined(WITH_file_library)
float fixture_library_wave(float x);
static float disturb(float x) { return fixture_library_wave(x); }
#else
static float disturb(float x)
{
  (void)x;
  return 0.0f;
}
#endif

typedef struct broken {
  sb_bind bind;
  float *own;     /* registered: one number for each body, in blocks of 8 lanes */
  float *hidden;  /* not registered */
  float *unclear; /* 1024, from the C library */
  float sum;
  uint32_t threads_seen;
  pthread_t threads[16];
  pthread_mutex_t lock;
} broken;

static float ticks;
static const broken *last_bound;

static const sb_param_desc params[] = {
    {IS(descriptor_sizes) ? 8u : sizeof(sb_param_desc), SB_PARAM_FLOAT, IS(param_names) ? "Drag!" : "drag", "1/s", IS(param_texts) ? "" : "slows every body", NULL,
     IS(param_ranges) ? 11 : 0, 0, IS(param_limits) ? 12 : 10},
    {sizeof(sb_param_desc), SB_PARAM_CHOICE, "style", "1", "doubles the drag of fancy bodies, and adds a little", "plain|fancy", 0, 0, IS(param_choices) ? 5 : 1},
    {sizeof(sb_param_desc), SB_PARAM_FLOAT, "idle", "1", IS(param_effect) ? "does nothing" : "does nothing (micro-scenes: no effect)", NULL, 0, 0, 1},
};
static const sb_golden goldens[] = {{sizeof(sb_golden), SB_BACKEND_CPU, IS(golden_table) ? "nowhere" : "fly", 0x1234}};

static const sb_solver_desc desc = {
    .struct_size = sizeof(sb_solver_desc),
    .handles = IS(descriptor_handles) ? 0x80000001u : IS(bind) ? SB_HANDLES_RIGID | SB_HANDLES_JOINTS : SB_HANDLES_RIGID | SB_HANDLES_CONTACT,
    .id = IS(descriptor_id) ? "another" : BROKEN_ID,
    .version = IS(descriptor_version) ? "one" : "1.0.0",
    .vendor = IS(descriptor_texts) ? "" : "tests",
    .text = "Free bodies under gravity, through everything.",
    .mode = {IS(golden_present) ? SB_MODE_CROSS_PLATFORM : SB_MODE_RUN_TO_RUN, SB_MODE_OFF},
    .mode_reason = {"no golden hashes", IS(descriptor_modes) ? "" : "no Vulkan backend"},
    .params = params,
    .goldens = IS(golden_table) || IS(golden_match) ? goldens : NULL,
    .param_count = 3,
    .golden_count = IS(golden_table) || IS(golden_match) ? 1 : 0,
    .param_size = sizeof(sb_param_desc),
    .golden_size = sizeof(sb_golden),
};

static sb_status solver_create(void **instance)
{
  static broken only;
  broken *b = IS(create) ? &only : calloc(1, sizeof *b);
  *instance = b;
  if (!b) return SB_E_MEMORY;
  pthread_mutex_init(&b->lock, NULL);
  return SB_OK;
}

/* Refusals of bind: of another size, of a backend that there is not. */
static sb_status check_bind(const sb_bind *bind, char *error, uint32_t error_size)
{
  if (bind->struct_size != sizeof *bind && !IS(bind_version)) {
    snprintf(error, error_size, "sb_bind has another size");
    return SB_E_VERSION;
  }
  if (bind->backend != SB_BACKEND_CPU) {
    if (IS(error_bounds))
      memcpy(error, "this solver has no Vulkan backend", 34);
    else if (!IS(bind_backend))
      snprintf(error, error_size, "this solver has no Vulkan backend");
    return SB_E_UNSUPPORTED;
  }
  for (uint32_t i = 0; i < bind->body_count; i++)
    if (bind->model->joint_type[bind->bodies[i]] != SB_JOINT_FREE) {
      snprintf(error, error_size, "body %u has a joint", i);
      return SB_E_UNSUPPORTED;
    }
  if (IS(bind_empty) && bind->body_count == 0) {
    snprintf(error, error_size, "there is nothing to do");
    return SB_E_UNSUPPORTED;
  }
  if (IS(param_limits) && bind->params[0] > 11) {
    snprintf(error, error_size, "so much drag is refused");
    return SB_E_UNSUPPORTED;
  }
  return SB_OK;
}

static sb_status solver_bind(void *instance, const sb_bind *bind, char *error, uint32_t error_size)
{
  broken *b = instance;
  sb_status status = check_bind(bind, error, error_size);
  if (status) return status;
  b->bind = *bind;
  last_bound = b;
  b->hidden = bind->host->alloc(bind->host->context, ((uint64_t)bind->body_count + 1) * sizeof(float));
  b->unclear = malloc((IS(leak) ? 65536 : 1024) * sizeof(float));
  sb_array_desc array = {.struct_size = sizeof array, .type = SB_TYPE_F32, .domain = SB_DOMAIN_BODY, .components = 1, .count = bind->model->body_count,
                         .lane_block = 8, .name = "own"};
  void *data;
  status = bind->host->register_array(bind->host->context, &array, &data);
  b->own = status ? NULL : data;
  return !status && b->hidden && b->unclear ? SB_OK : SB_E_MEMORY;
}

static sb_status solver_activate(void *instance, uint32_t mode, float dt, char *error, uint32_t error_size)
{
  if (IS(environment_life)) fesetround(FE_UPWARD);
  broken *b = instance;
  if (!(dt > 0.0f) && !IS(activate_dt)) {
    snprintf(error, error_size, "dt must be above 0");
    return SB_E_ARGUMENT;
  }
  if (IS(modes) && mode == SB_MODE_RUN_TO_RUN) return SB_E_UNSUPPORTED;
  if (IS(restart) && !b->hidden) abort();
  if (IS(reset)) b->hidden[0] += 1.0f; /* counts its starts */
  return SB_OK;
}

static void note_thread(void *user, uint32_t chunk)
{
  broken *b = user;
  (void)chunk;
  usleep(100);
  pthread_mutex_lock(&b->lock);
  uint32_t i = 0;
  while (i < b->threads_seen && !pthread_equal(b->threads[i], pthread_self())) i++;
  if (i == b->threads_seen && i < 16) b->threads[b->threads_seen++] = pthread_self();
  pthread_mutex_unlock(&b->lock);
}

static void add_in_task_order(void *user, uint32_t chunk)
{
  broken *b = user;
  pthread_mutex_lock(&b->lock);
  b->sum = b->sum * 0.75f + (float)(chunk + 1) * 0.1f;
  pthread_mutex_unlock(&b->lock);
}

/* What the fault adds to every velocity. */
static float wind_of(broken *b, const sb_step *step)
{
  const uint32_t count = b->bind.model->body_count;
  if (IS(repeat)) return 1e-6f * (ticks += 1.0f);
  if (IS(lanes)) return 1e-6f * (float)b->bind.lanes;
  if (IS(memory)) return b->own[-1] != 0.0f ? 1e-3f : 0.0f;
  if (IS(processes)) return 1e-7f * (float)((uintptr_t)&ticks >> 12 & 0xffffu);
  if (IS(padding) && count) return 1e-3f * b->own[(count + 7) / 8 * 8 - 1];
  if (IS(instances)) return b == last_bound ? 0.0f : 1e-3f;
  if (IS(unrelated)) return 1e-3f * (float)(count / b->bind.model->world_count);
  if (IS(snapshot)) return 1e-6f * (b->hidden[0] += 1.0f);
  if (IS(reset)) return 1e-6f * b->hidden[0];
  if (IS(shuffle) && count) {
    b->sum = 0.0f;
    b->bind.host->parallel_for(b->bind.host->context, 16, add_in_task_order, b);
    return 1e-3f * b->sum;
  }
  if (IS(crowd) && b->bind.model->world_count > 200) {
    b->sum = 0.0f;
    b->bind.host->parallel_for(b->bind.host->context, 16, add_in_task_order, b);
    return 1e-3f * b->sum;
  }
  if (IS(threads) && count && step->tick < 2) {
    b->threads_seen = 0;
    b->bind.host->parallel_for(b->bind.host->context, 64, note_thread, b);
    return b->threads_seen > 2 ? 1e-3f : 0.0f;
  }
  return 0.0f;
}

/* What a fault does beside moving bodies. */
static sb_status do_harm(broken *b, const sb_step *step, char *error, uint32_t error_size)
{
  const uint32_t count = b->bind.model->body_count;
  const sb_state *s = b->bind.state;
  static void *volatile kept;
  if (IS(steps) && step->tick == 3) {
    snprintf(error, error_size, "a plugin that fails at tick 3");
    return SB_E_INTERNAL;
  }
  if (IS(environment_step) && count) fesetround(FE_UPWARD);
  if (IS(finite) && step->tick == 5 && count) s->body_q[2] = __builtin_nanf("");
  if (IS(bounds)) b->own[(count + 7) / 8 * 8] = 1.0f;
  if (IS(growth)) kept = malloc(64);
  if (IS(ownership))
    for (uint32_t i = b->bind.body_count; i < count; i++) s->body_f[6 * (size_t)i] += 1.0f;
  if (IS(model) && count) ((float *)b->bind.model->body_mass)[count - 1] = 3.0f;
  if (IS(hostile_nan) && count && s->body_q[0] != s->body_q[0]) b->own[(size_t)1 << 40] = 1.0f;
  if (IS(hostile_huge) && count)
    for (volatile float x = s->body_q[0]; x > 1e30f; x = x * 1.0f) continue;
  (void)kept;
  return SB_OK;
}

static sb_status solver_step(void *instance, const sb_step *step, char *error, uint32_t error_size)
{
  broken *b = instance;
  const sb_model *m = b->bind.model;
  const sb_state *s = b->bind.state;
  if (step->struct_size != sizeof *step && !IS(step_version)) {
    snprintf(error, error_size, "sb_step has another size");
    return SB_E_VERSION;
  }
  sb_status status = do_harm(b, step, error, error_size);
  if (status) return status;
  float wind = wind_of(b, step), keep = 1.0f - (float)(b->bind.params[0] * (1.0 + b->bind.params[1]) + 0.25 * b->bind.params[1]) * step->dt;
  for (uint32_t i = 0; i < b->bind.body_count; i++) {
    uint32_t body = b->bind.bodies[i];
    if (m->body_flags[body] & SB_BODY_STATIC) continue;
    for (uint32_t k = 0; k < 3; k++) {
      float *v = s->body_qd + 6 * (size_t)body + k;
      float gravity = m->gravity[3 * m->body_world[body] + (int)k] + (IS(worlds) ? 1e-3f * (float)m->body_world[body] : 0.0f);
      *v = (*v + step->dt * gravity) * keep + wind + disturb(*v);
      s->body_q[7 * (size_t)body + k] += step->dt * *v;
    }
    if (IS(free_joints)) continue;
    memcpy(s->joint_q + m->joint_q_start[body], s->body_q + 7 * (size_t)body, 7 * sizeof(float));
    memcpy(s->joint_qd + m->joint_qd_start[body], s->body_qd + 6 * (size_t)body, 6 * sizeof(float));
  }
  return SB_OK;
}

static void solver_deactivate(void *instance)
{
  broken *b = instance;
  if (IS(restart)) b->hidden = NULL;
  if (IS(destroy_active)) b->bind.struct_size = 0;
}

static void solver_destroy(void *instance)
{
  broken *b = instance;
  if (IS(destroy_active) && b->bind.struct_size) abort();
  if (!IS(leak)) free(b->unclear);
  if (!IS(create)) free(b);
}

static const sb_solver_api api = {.struct_size = sizeof(sb_solver_api), .desc = &desc, .create = solver_create, .bind = solver_bind,
                                  .activate = solver_activate, .step = solver_step, .deactivate = IS(descriptor_functions) ? NULL : solver_deactivate,
                                  .destroy = solver_destroy};
static const sb_solver_api *const solvers[] = {&api};
static const sb_solver_factory factory = {sizeof(sb_solver_factory), 1, solvers}, second = {sizeof(sb_solver_factory), 1, solvers};
static const void *get_factory(const char *id)
{
  static int calls;
  if (IS(environment_load)) fesetround(FE_UPWARD);
  if (IS(factory_known)) return NULL;
  if (IS(factory_stable) && !strcmp(id, SB_SOLVER_FACTORY_ID)) return calls++ & 1 ? &second : &factory;
  return strcmp(id, SB_SOLVER_FACTORY_ID) && !IS(factory_unknown) ? NULL : &factory;
}

static sb_status refuse(const sb_host_info *host, char *error, uint32_t error_size)
{
  snprintf(error, error_size, "this plugin refuses host %s", host->version);
  return SB_E_VERSION;
}

#if defined(WITH_file_entry)
extern const sb_plugin_entry broken_hidden_entry;
const sb_plugin_entry broken_hidden_entry = {
#else
extern SB_EXPORT const sb_plugin_entry samebit_plugin;
SB_EXPORT const sb_plugin_entry samebit_plugin = {
#endif
    IS(entry_size) ? 8u : sizeof(sb_plugin_entry),
    IS(entry_magic) ? 0x12345678u : SB_PLUGIN_MAGIC,
    IS(entry_abi_major) ? 9u : SB_ABI_MAJOR,
    IS(entry_abi_minor) ? SB_ABI_MINOR + 6u : SB_ABI_MINOR,
    IS(entry_abi_minor) ? SB_ABI_MINOR + 6u : SB_ABI_MIN_MINOR,
    IS(entry_fp_flags) ? 0u : SB_FP_EVAL_METHOD_0 | SB_FP_NO_FAST_MATH,
    IS(entry_lanes) ? 2u : 13u,
    0u,
    IS(entry_compiler) ? NULL : __VERSION__,
    IS(negotiate) ? refuse : NULL,
    IS(entry_functions) ? NULL : get_factory};
