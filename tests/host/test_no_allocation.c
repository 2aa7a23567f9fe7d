/* A tick allocates nothing: malloc and its kin are wrapped by the linker and counted while simulations step. */
#include "host_fixture.h"

static int calls;
static int counting;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_malloc(size_t size) { return calls += counting, __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return calls += counting, __real_calloc(count, size); }
void *__wrap_realloc(void *block, size_t size) { return calls += counting, __real_realloc(block, size); }
void *__wrap_aligned_alloc(size_t alignment, size_t size) { return calls += counting, __real_aligned_alloc(alignment, size); }

extern const sb_plugin_entry samebit_plugin_featherstone, samebit_plugin_semi_implicit, samebit_plugin_steel, samebit_plugin_xpbd;

#include "collision.h"
#include "micro_scenes.h"

static void ticks_allocate_nothing(void **state)
{
  (void)state;
  const sb_plugin_entry *plugins[4] = {&samebit_plugin_featherstone, &samebit_plugin_semi_implicit, &samebit_plugin_steel, &samebit_plugin_xpbd};
  for (int p = 0; p < 4; p++) {
    sb_model_store *one = sb_micro_scene_model("drop"), *model;
    assert_int_equal(sb_model_store_replicate(one, 40, 0, &model, NULL), SB_OK);
    const sb_solver_api *api = ((const sb_solver_factory *)plugins[p]->get_factory(SB_SOLVER_FACTORY_ID))->solvers[0];
    uint32_t bodies[160];
    double params[64];
    for (uint32_t i = 0; i < 160; i++) bodies[i] = i;
    for (uint32_t i = 0; i < api->desc->param_count; i++) params[i] = api->desc->params[i].value;
    sb_sim_part part = {.name = "robot", .api = api, .params = params, .bodies = bodies, .body_count = 160, .mode = SB_MODE_LOCAL};
    sb_sim_config config = {.model = model, .parts = &part, .part_count = 1, .dt_numerator = 1, .dt_denominator = 240,
                            .mode = SB_MODE_LOCAL, .threads = 2, .broad_phase = SB_BROAD_SAP};
    sb_sim *sim;
    assert_int_equal(sb_sim_create(&config, &sim, NULL), SB_OK);
    calls = 0;
    counting = 1;
    sb_status status = SB_OK;
    for (int t = 0; t < 200 && !status; t++) status = sb_sim_step(sim, NULL);
    counting = 0;
    assert_int_equal(status, SB_OK);
    assert_true(sb_sim_statistics(sim).contact_peak > 100);
    assert_int_equal(calls, 0);
    sb_sim_destroy(sim);
    sb_model_store_free(model);
    sb_model_store_free(one);
  }
}

/* The counter itself works. */
static void an_allocation_is_seen(void **state)
{
  (void)state;
  calls = 0;
  counting = 1;
  sb_model_store *one = sb_micro_scene_model("arm");
  counting = 0;
  assert_true(calls > 0);
  sb_model_store_free(one);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(ticks_allocate_nothing), cmocka_unit_test(an_allocation_is_seen)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
