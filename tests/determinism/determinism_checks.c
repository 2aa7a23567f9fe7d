/* The determinism contract, check by check, on every linked solver. C library alone, so that it runs on every cross
 * target; the tests of the mutants name the checks that must fail.
 *
 *   determinism_checks [--ticks N] [--fails CHECK] [--skip CHECK,CHECK...] [MODEL.sbm ...]
 *
 * N: ticks of each run, at least 2 (60). With --fails that check alone runs, and failing is success. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "behaviour.h"
#include "check_scenes.h"
#include "fp_env.h"
#include "golden_hashes.h"
#include "micro_scenes.h"
#include "sim.h"
#include "state_hash.h"
#include "static_plugins.h"
#include "verify.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

/* Cooking is under the contract too: the check scene, built by a caller that rounds upwards and flushes subnormals. */
static bool check_cooking(sb_subject *s)
{
  if (!s->more) return true; /* not the check scene */
#if defined(__SSE__)
  unsigned saved = _mm_getcsr();
  _mm_setcsr(0x1f80u | 0x8040u | 0x4000u);
#endif
  sb_model_store *cooked = check_scene(false, s->api->desc->handles);
#if defined(__SSE__)
  _mm_setcsr(saved);
#endif
  bool same = cooked && sb_model_store_hash(s->one) == sb_model_store_hash(cooked);
  if (!same) snprintf(s->text, sizeof s->text, "cooked in another floating-point environment: another model");
  sb_model_store_free(cooked);
  return same;
}

/* The hashes that the solver and this version declare. */
static bool check_golden(sb_subject *s)
{
  sb_verdict verdict[2];
  sb_verify_solver(s->api, SB_BACKEND_CPU, sb_cpu_lanes(), &verdict[0]);
  sb_verify_collision(SB_GOLDEN_COLLISION, sb_cpu_lanes(), &verdict[1]);
  for (int i = 0; i < 2; i++)
    if (verdict[i].mode != SB_MODE_CROSS_PLATFORM)
      printf("  %s: %s\n", i ? "collision" : s->api->desc->id, verdict[i].reason);
  return verdict[0].mode == SB_MODE_CROSS_PLATFORM && verdict[1].mode == SB_MODE_CROSS_PLATFORM;
}

/* Contacts and near pairs of particles, which the pipeline makes without a solver. */
static bool check_particles(sb_subject *s)
{
  uint64_t hash[2] = {0, 0};
  sb_status status = sb_micro_scene_contacts(sb_cpu_lanes(), 1, 0, &hash[0], NULL);
  if (!status) status = sb_micro_scene_contacts(1, 2, 0x5eed, &hash[1], NULL);
  bool same = !status && hash[0] == hash[1];
  if (!same) snprintf(s->text, sizeof s->text, "%016" PRIx64 " and, shuffled on one lane, %016" PRIx64, hash[0], hash[1]);
  return same;
}

/* The host's checks, and those of the tests alone. */
static const sb_behaviour_check own_checks[] = {
    {"cooking", "the floating-point environment in which a scene is cooked", "", check_cooking},
    {"golden", "the machine", "", check_golden},
    {"particles", "task order, threads and lanes, for contacts of particles", "", check_particles},
};
#define OWN_CHECKS (sizeof own_checks / sizeof own_checks[0])
#define MAX_CHECKS 32

static size_t count_checks(void) { return sb_behaviour_check_count + OWN_CHECKS; }

static const sb_behaviour_check *check_at(size_t c)
{
  return c < sb_behaviour_check_count ? &sb_behaviour_checks[c] : &own_checks[c - sb_behaviour_check_count];
}

static const char *skipped; /* the checks that are left out, or NULL */

/* ---- scenes ---- */

static sb_model_store *read_model(const char *path)
{
  sb_model_store *store = NULL;
  FILE *file = fopen(path, "rb");
  long size = file && !fseek(file, 0, SEEK_END) ? ftell(file) : -1;
  void *bytes = size > 0 ? malloc((size_t)size) : NULL;
  bool ok = bytes && !fseek(file, 0, SEEK_SET) && fread(bytes, 1, (size_t)size, file) == (size_t)size;
  if (!ok || sb_model_store_from_bytes(bytes, (size_t)size, path, &store, NULL)) store = NULL;
  if (file) fclose(file);
  free(bytes);
  if (!store) printf("%s cannot be read as a cooked model\n", path);
  return store;
}

static bool is_asked(const char *wanted, size_t c)
{
  return (!wanted || !strcmp(wanted, check_at(c)->name)) && (!skipped || !strstr(skipped, check_at(c)->name));
}

/* Runs the checks of one scene under one solver, all or the one that is wanted; adds failures. */
static void check_one(sb_subject s, const char *wanted, int failed[MAX_CHECKS])
{
  for (size_t c = 0; c < count_checks(); c++) {
    if (!is_asked(wanted, c)) continue;
    s.text[0] = 0;
    bool passed = check_at(c)->run(&s);
    failed[c] += !passed;
    if (!passed) printf("  %s, %s, %s: %s\n", s.scene, s.api->desc->id, check_at(c)->name, s.text);
  }
}

static bool has_joints(const sb_model *m)
{
  for (uint32_t b = 0; b < m->body_count; b++)
    if (m->joint_type[b] != SB_JOINT_FREE && !(m->body_flags[b] & SB_BODY_STATIC)) return true;
  return false;
}

/* Every solver on its own check scene and on the models given; false when one cannot be read. */
static bool check_all(uint32_t ticks, const char *wanted, int models, char **paths, int failed[MAX_CHECKS])
{
  bool ok = true;
  for (size_t i = 0; ok && sb_static_solver_at(i); i++) {
    const sb_solver_api *api = sb_static_solver_at(i);
    bool joints = (api->desc->handles & SB_HANDLES_JOINTS) != 0;
    sb_model_store *one = check_scene(false, api->desc->handles), *more = check_scene(true, api->desc->handles);
    ok = one && more;
    if (ok) check_one((sb_subject){.ticks = ticks, .scene = "check scene", .api = api, .one = one, .more = more}, wanted, failed);
    sb_model_store_free(one);
    sb_model_store_free(more);
    for (int m = 0; ok && m < models; m++) {
      one = read_model(paths[m]);
      ok = one != NULL;
      if (ok && (joints || !has_joints(sb_model_store_view(one))))
        check_one((sb_subject){.ticks = ticks, .scene = paths[m], .api = api, .one = one}, wanted, failed);
      sb_model_store_free(one);
    }
  }
  return ok;
}

int main(int argc, char **argv)
{
  int failed[MAX_CHECKS] = {0}, all = 0, first = 1;
  const char *wanted = NULL;
  uint32_t ticks = 60;
  for (; first + 1 < argc && !strncmp(argv[first], "--", 2); first += 2) {
    if (!strcmp(argv[first], "--fails")) wanted = argv[first + 1];
    if (!strcmp(argv[first], "--skip")) skipped = argv[first + 1];
    if (!strcmp(argv[first], "--ticks")) ticks = (uint32_t)strtoul(argv[first + 1], NULL, 10);
  }
  if (ticks < 2 || !check_all(ticks, wanted, argc - first, argv + first, failed)) return 2;
  bool found = false;
  for (size_t c = 0; c < count_checks(); c++) {
    if (!is_asked(wanted, c)) continue;
    printf("%-12s %s\n", check_at(c)->name, failed[c] ? "FAILED" : "passed");
    all += failed[c];
    found = failed[c] > 0;
  }
  if (!wanted) return all ? 1 : 0;
  printf(found ? "%s failed, as it has to\n" : "%s did not fail\n", wanted);
  return found ? 0 : 1;
}
