/* A plugin that holds samebit.compute/1 the wrong way round: each wrong call gets one clear error, and the right calls between and after
 * them do what they should. The solver is this program's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph_step.h"
#include "graph_wild.h"
#include "micro_scenes.h"
#include "samebit/compute.h"
#include "samebit/solver_tools.h"
#include "sim.h"
#include "vulkan_device.h"
#include "vulkan_test.h"

#define VALUES 1000u
#define WORDS(spv) (sizeof(spv) / sizeof *(spv))

typedef struct push_words {
  uint32_t count, step;
} push_words;

typedef struct misuser {
  const sb_compute *c;
  uint32_t values, groups, pipeline, wild, graph, indirect, wild_graph, empty, unfinished, broken, state;
  uint32_t steps;
  bool wildly;
} misuser;

static misuser the;        /* the one instance, for calls from outside */
static bool wildly;        /* a shader that writes everywhere, too */
static char error[160];
static int wrong;          /* calls that did not do as they should */

static void expect_refused(sb_status status, const char *want, const char *call, int line)
{
  bool fine = status != SB_OK && strstr(error, want) && strlen(error) < sizeof error - 1;
  if (!fine) printf("line %d: %s gave %d \"%s\", expected an error with \"%s\"\n", line, call, status, error, want), wrong++;
  strcpy(error, "");
}

static void expect_done(sb_status status, const char *call, int line)
{
  if (status) printf("line %d: %s gave %d \"%s\"\n", line, call, status, error), wrong++;
  strcpy(error, "");
}

#define ERROR error, sizeof error
#define REFUSED(want, function, ...) expect_refused(c->function(c->context, __VA_ARGS__, ERROR), want, #function, __LINE__)
#define DONE(function, ...) expect_done(c->function(c->context, __VA_ARGS__, ERROR), #function, __LINE__)

static const uint64_t huge = 1ull << 62;

static void misuse_buffers(const sb_compute *c)
{
  uint32_t handle = 77, words[8] = {0};
  float room[8];
  REFUSED("no place for the handle", create_buffer, 64, NULL);
  REFUSED("1 to", create_buffer, 0, &handle);
  REFUSED("found 4611686018427387904", create_buffer, huge, &handle);
  REFUSED("found 18446744073709551615", create_buffer, UINT64_MAX, &handle);
  assert_int_equal(handle, 77);
  DONE(create_buffer, 4 * VALUES, &the.values);
  DONE(create_buffer, 3, &handle); /* whole words */
  DONE(upload, handle, 0, words, 4);
  REFUSED("inside a buffer of 4 bytes", upload, handle, 0, words, 8);
  REFUSED("no such buffer", upload, 1000, 0, words, 4);
  REFUSED("no such buffer", upload, UINT32_MAX, 0, words, 4);
  REFUSED("no data", upload, the.values, 0, NULL, 4);
  REFUSED("multiples of 4", upload, the.values, 2, words, 4);
  REFUSED("multiples of 4", upload, the.values, 0, words, 6);
  REFUSED("inside a buffer", upload, the.values, 4 * VALUES, words, 4);
  REFUSED("inside a buffer", upload, the.values, huge, words, 32);
  REFUSED("inside a buffer", upload, the.values, UINT64_MAX - 3, words, 8);
  REFUSED("inside a buffer", upload, the.values, 0, words, huge);
  DONE(upload, the.values, 4 * VALUES, NULL, 0);
  REFUSED("no such buffer", download, UINT32_MAX, 0, room, 4);
  REFUSED("no room", download, the.values, 0, NULL, 4);
  REFUSED("inside a buffer", download, the.values, 4 * VALUES - 4, room, 8);
  REFUSED("inside a buffer", download, the.values, UINT64_MAX - 3, room, 8);
  REFUSED("no name", state_buffer, NULL, &handle);
  REFUSED("no state array is called \"particle_p\"", state_buffer, "particle_p", &handle);
  REFUSED("no state array", state_buffer, "", &handle);
  char endless[3000];
  memset(endless, 'x', sizeof endless - 1);
  endless[sizeof endless - 1] = 0;
  REFUSED("no state array", state_buffer, endless, &handle);
  REFUSED("no place", state_buffer, "particle_q", NULL);
  DONE(state_buffer, "particle_q", &the.state);
  DONE(state_buffer, "particle_q", &handle);
  assert_int_equal(handle, the.state); /* twice the same */
}

static void misuse_pipelines(const sb_compute *c)
{
  static const uint32_t junk[8] = {0x07230203, 0x00010500, 0, 100, 0, 1, 2, 3};
  uint32_t handle;
  sb_pipeline_desc good = {sizeof good, 1, sizeof(push_words), 0, "step", graph_step, WORDS(graph_step)}, d;
  REFUSED("no place for the handle", create_pipeline, &good, NULL);
  REFUSED("another size", create_pipeline, NULL, &handle);
#define WITH(field, value, want) d = good, d.field = value, REFUSED(want, create_pipeline, &d, &handle)
  WITH(struct_size, 4, "another size");
  WITH(struct_size, sizeof d + 8, "another size");
  WITH(words, NULL, "no words");
  WITH(word_count, 0, "no words");
  WITH(word_count, 4, "no words");
  WITH(word_count, UINT64_MAX / 2, "more than");
  WITH(word_count, 9, "");
  WITH(reserved, 1, "reserved");
  WITH(buffer_count, 0, "the pipeline has 0");
  WITH(buffer_count, SB_COMPUTE_BINDINGS_MAX + 1, "1 to 16 buffers");
  WITH(buffer_count, UINT32_MAX, "1 to 16 buffers");
  WITH(push_bytes, 0, "the pipeline has 0");
  WITH(push_bytes, 4, "the pipeline has 4");
  WITH(push_bytes, 10, "in words");
  WITH(push_bytes, SB_COMPUTE_PUSH_MAX + 4, "up to 128 bytes");
  WITH(words, junk, "");
  d.word_count = WORDS(junk), REFUSED("", create_pipeline, &d, &handle);
  d = good, d.buffer_count = 16, d.push_bytes = 128, d.name = NULL; /* more than it uses */
  DONE(create_pipeline, &d, &handle);
  DONE(create_pipeline, &good, &the.pipeline);
}

static void misuse_graphs(const sb_compute *c)
{
  const push_words push = {VALUES, 1}, wild = {1u << 30, 12345677};
  const uint32_t endless[6] = {1, 1, 1, UINT32_MAX, 1, 1};
  uint32_t handle;
  sb_binding b = {.buffer = the.values}, other = b;
  REFUSED("no place", create_graph, NULL);
  DONE(create_graph, &the.graph);
  DONE(create_graph, &the.unfinished);
  DONE(create_graph, &the.empty);
  DONE(finish_graph, the.empty);
  DONE(finish_graph, the.empty);
  REFUSED("not finished", barrier, the.empty);
  REFUSED("not finished", dispatch, the.empty, the.pipeline, &b, &push, 1);
  REFUSED("no such graph", dispatch, 99, the.pipeline, &b, &push, 1);
  REFUSED("no such graph", barrier, UINT32_MAX);
  REFUSED("no such graph", finish_graph, UINT32_MAX);
  REFUSED("only in a step", run, the.empty);
  DONE(dispatch, the.graph, the.pipeline, &b, &push, (VALUES + 63) / 64);
  DONE(dispatch, the.graph, the.pipeline, &b, &push, 0);
  DONE(finish_graph, the.graph);
  /* each of these leaves a graph without a command, which must not run then */
#define BREAKS(want, function, ...)                                                                                                                \
  do {                                                                                                                                             \
    DONE(create_graph, &handle);                                                                                                                   \
    REFUSED(want, function, handle, __VA_ARGS__);                                                                                                  \
    REFUSED("one has failed", finish_graph, handle);                                                                                               \
    the.broken = handle;                                                                                                                           \
  } while (0)
  BREAKS("no such pipeline", dispatch, 99, &b, &push, 1);
  BREAKS("no bindings", dispatch, the.pipeline, NULL, &push, 1);
  BREAKS("8 bytes of push constants", dispatch, the.pipeline, &b, NULL, 1);
  BREAKS("workgroups", dispatch, the.pipeline, &b, &push, UINT32_MAX);
#define BINDING(field, value, want) other = b, other.field = value; BREAKS(want, dispatch, the.pipeline, &other, &push, 1)
  BINDING(buffer, 1000, "no such buffer");
  BINDING(offset, 4, "multiple of 256");
  BINDING(offset, 4096, "inside a buffer");
  BINDING(offset, UINT64_MAX - 255, "inside a buffer");
  BINDING(bytes, 4 * VALUES + 4, "inside a buffer");
  BINDING(bytes, UINT64_MAX, "inside a buffer");
  /* numbers of workgroups in a buffer */
  DONE(create_buffer, 24, &the.groups);
  DONE(upload, the.groups, 0, endless, 24);
  BREAKS("three words", dispatch_indirect, the.pipeline, &b, &push, the.groups, 16);
  BREAKS("three words", dispatch_indirect, the.pipeline, &b, &push, the.groups, UINT64_MAX - 3);
  BREAKS("multiple of 4", dispatch_indirect, the.pipeline, &b, &push, the.groups, 2);
  BREAKS("no such buffer", dispatch_indirect, the.pipeline, &b, &push, 1000, 0);
  BREAKS("4294967295 x 1 x 1", dispatch_indirect, the.pipeline, &b, &push, the.groups, 12);
  DONE(create_graph, &the.indirect);
  DONE(dispatch_indirect, the.indirect, the.pipeline, &b, &push, the.groups, 0);
  DONE(finish_graph, the.indirect);
  REFUSED("65535 x 65535 x 65535", upload, the.groups, 0, ((const uint32_t[3]){65535, 65535, 65535}), 12);
  REFUSED("1 x 1 x 4294967295", upload, the.groups, 8, &(const uint32_t){UINT32_MAX}, 4);
  if (!wildly) return;
  const sb_pipeline_desc everywhere = {sizeof everywhere, 1, sizeof(push_words), 0, "wild", graph_wild, WORDS(graph_wild)};
  DONE(create_pipeline, &everywhere, &the.wild);
  DONE(create_graph, &the.wild_graph);
  DONE(dispatch, the.wild_graph, the.wild, &b, &wild, 100);
  DONE(finish_graph, the.wild_graph);
}

static void misuse_errors(const sb_compute *c)
{
  char one[1] = {'x'};
  assert_int_not_equal(c->upload(c->context, 99, 0, NULL, 0, NULL, 0), SB_OK);
  assert_int_not_equal(c->upload(c->context, 99, 0, NULL, 0, NULL, 100), SB_OK);
  assert_int_not_equal(c->upload(c->context, 99, 0, NULL, 0, one, 1), SB_OK);
  assert_int_equal(one[0], 0);
  assert_int_not_equal(c->upload(NULL, 0, 0, NULL, 0, ERROR), SB_OK);
  assert_int_not_equal(c->run(NULL, 0, ERROR), SB_OK);
  strcpy(error, "");
}

static sb_status create(void **out)
{
  memset(&the, 0, sizeof the);
  *out = &the;
  return SB_OK;
}
static void destroy(void *self) { (void)self; }

static sb_status bind(void *self, const sb_bind *b, char *text, uint32_t size)
{
  const sb_compute *c = the.c = b->host->get_extension(b->host->context, SB_COMPUTE_EXTENSION_ID);
  (void)self, (void)text, (void)size;
  assert_non_null(c);
  assert_null(b->host->get_extension(b->host->context, "samebit.compute/2"));
  misuse_buffers(c);
  misuse_pipelines(c);
  misuse_graphs(c);
  misuse_errors(c);
  return SB_OK;
}

static sb_status activate(void *self, uint32_t mode, float dt, char *text, uint32_t size) { return (void)self, (void)mode, (void)dt, (void)text, (void)size, SB_OK; }
static void deactivate(void *self) { (void)self; }

/* Whatever thread it is: not the one that the host called. */
static void *from_another(void *unused)
{
  const sb_compute *c = the.c;
  REFUSED("only the thread on which the host calls", run, the.graph);
  return unused;
}

/* What the right calls have made of the values, against step.comp by hand. */
static void look_at_values(const sb_compute *c)
{
  static uint32_t seen[VALUES];
  if (wildly) return;
  DONE(download, the.values, 0, seen, sizeof seen);
  for (uint32_t i = 0; i < VALUES; i++) {
    uint32_t want = 0;
    for (uint32_t n = 0; n < 3 * the.steps; n++) want = want * 3u + i + 1u;
    if (seen[i] == want) continue;
    printf("value %u is %u and not %u after %u steps\n", i, seen[i], want, the.steps), wrong++;
    return;
  }
}

static sb_status step(void *self, const sb_step *st, char *text, uint32_t size)
{
  const sb_compute *c = the.c;
  uint32_t handle, groups[3] = {(VALUES + 63) / 64, 1, 1};
  pthread_t thread;
  (void)self, (void)st, (void)text, (void)size;
  REFUSED("no such graph", run, 99);
  REFUSED("this one is not", run, the.unfinished);
  REFUSED("has failed", run, the.broken);
  REFUSED("not in a step", create_buffer, 64, &handle);
  REFUSED("not in a step", state_buffer, "particle_qd", &handle);
  REFUSED("not in a step", create_graph, &handle);
  REFUSED("not in a step", barrier, the.unfinished);
  REFUSED("not in a step", finish_graph, the.unfinished);
  assert_int_equal(pthread_create(&thread, NULL, from_another, NULL), 0);
  pthread_join(thread, NULL);
  DONE(run, the.empty);
  DONE(run, the.graph);
  DONE(run, the.graph); /* while it may still run */
  REFUSED("4294967295 x 4294967295 x 1", upload, the.groups, 0, ((const uint32_t[3]){UINT32_MAX, UINT32_MAX, 1}), 12);
  DONE(upload, the.groups, 0, groups, 12);
  DONE(run, the.indirect);
  if (wildly) DONE(run, the.wild_graph);
  the.steps++;
  look_at_values(c);
  return SB_OK;
}

static const sb_solver_desc desc = {.struct_size = sizeof(sb_solver_desc), .handles = SB_HANDLES_PARTICLES, .id = "misuser", .version = "1.0.0",
                                    .vendor = "test", .text = "Calls everything wrong.", .mode = {SB_MODE_OFF, SB_MODE_CROSS_PLATFORM},
                                    .mode_reason = {"", ""}, .param_size = sizeof(sb_param_desc), .golden_size = sizeof(sb_golden)};
static const sb_solver_api api = {.struct_size = sizeof(sb_solver_api), .desc = &desc, .create = create, .bind = bind, .activate = activate,
                                  .step = step, .deactivate = deactivate, .destroy = destroy};

/* A simulation of beads that this solver owns; a step makes each value three times what step.comp makes of it. */
static void misuse(bool one_by_one, bool with_wild_shader)
{
  sb_vulkan *vulkan = NULL;
  sb_vulkan_device *device = NULL;
  sb_diagnostics diag = {0};
  sb_model_store *model = sb_micro_scene_model("beads");
  uint32_t particles[4096], bodies[64];
  assert_non_null(model);
  const sb_model *m = sb_model_store_view(model);
  for (uint32_t i = 0; i < m->particle_count; i++) particles[i] = i;
  for (uint32_t i = 0; i < m->body_count; i++) bodies[i] = i;
  sb_sim_part part = {.name = "wrong", .api = &api, .backend = SB_BACKEND_VULKAN, .mode = with_wild_shader ? SB_MODE_OFF : SB_MODE_CROSS_PLATFORM,
                      .bodies = bodies, .body_count = m->body_count, .particles = particles, .particle_count = m->particle_count};
  wildly = with_wild_shader;
  wrong = 0;
  assert_int_equal(sb_vulkan_open(&vulkan, &diag), SB_OK);
  assert_int_equal(sb_vulkan_device_create(vulkan, &device, &diag), SB_OK);
  const sb_sim_config config = {.model = model, .dt_numerator = 1, .dt_denominator = 60, .mode = part.mode, .threads = 2, .parts = &part, .part_count = 1,
                                .device = sb_vulkan_device_for_sim(device, one_by_one)};
  sb_sim *sim = NULL;
  sb_status status = sb_sim_create(&config, &sim, &diag);
  for (size_t i = 0; i < diag.count; i++) printf("%s: %s\n", diag.items[i].where, diag.items[i].message);
  assert_int_equal(status, SB_OK);
  const sb_compute *c = the.c;
  uint32_t value;
  REFUSED("only during that call", upload, the.values, 0, &value, 4); /* between calls */
  for (int t = 0; t < 3; t++) assert_int_equal(sb_sim_step(sim, &diag), SB_OK);
  REFUSED("only during that call", run, the.graph);
  uint64_t hash = sb_sim_hash(sim);
  sb_sim_destroy(sim);
  if (!with_wild_shader) {
    assert_int_equal(sb_sim_create(&config, &sim, &diag), SB_OK);
    for (int t = 0; t < 3; t++) assert_int_equal(sb_sim_step(sim, &diag), SB_OK);
    assert_int_equal(sb_sim_hash(sim), hash);
    sb_sim_destroy(sim);
  }
  sb_vulkan_device_destroy(device);
  sb_vulkan_close(vulkan);
  sb_model_store_free(model);
  assert_int_equal(wrong, 0);
}

static void test_recorded(void **state) { (void)state, misuse(false, false); }
static void test_one_by_one(void **state) { (void)state, misuse(true, false); }
static void test_wild_shader(void **state) { (void)state, misuse(false, true); }

int main(void)
{
  if (no_device()) return SKIP;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_recorded), cmocka_unit_test(test_one_by_one), cmocka_unit_test(test_wild_shader)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
