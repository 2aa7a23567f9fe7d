/* Cases that are checks of behaviour.h, on every micro-scene that the solver handles. */
#define _GNU_SOURCE
#include "behaviour.h"

#include <malloc.h>
#include <string.h>

#include "case_run.h"
#include "guard_memory.h"

static bool run_check(sb_case_context *c, const sb_solver_api *api, const char *name)
{
  const sb_behaviour_check *check = sb_behaviour_find(name);
  bool ok = check != NULL, junk = !strcmp(name, "memory");
  for (size_t i = 0; ok && i < sb_micro_scene_count; i++) {
    const sb_micro_scene *scene = &sb_micro_scenes[i];
    if (!sb_case_fits(api, scene)) continue;
    sb_model_store *one = sb_micro_scene_model(scene->name), *more = sb_micro_scene_model_with_more(scene, api);
    sb_subject s = {.scene = scene->name,
                    .api = api,
                    .one = one,
                    .more = more,
                    .ticks = scene->ticks,
                    .memory = sb_guard_memory(),
                    .complaint = sb_guard_complaint};
#ifdef M_PERTURB
    /* The plain run has the memory as it comes; then what the module takes from the C library is filled with junk. */
    if (junk && one) ok = sb_behaviour_find("repeat")->run(&s);
    if (junk) mallopt(M_PERTURB, 0x5a);
#endif
    ok = ok && one && check->run(&s);
#ifdef M_PERTURB
    if (junk) mallopt(M_PERTURB, 0);
#endif
    if (!ok) sb_case_fail(c, "micro-scene %s: %s", scene->name, s.text);
    sb_model_store_free(one);
    sb_model_store_free(more);
  }
  return ok;
}

#define BEHAVIOUR(name)                                                                                                \
  bool case_##name(sb_case_context *c, const sb_solver_api *api) { return run_check(c, api, #name); }
SB_CASE_BEHAVIOURS(BEHAVIOUR)
