/* The determinism contract, check by check, on every linked solver. C library alone, so that it runs on every cross
 * target; the tests of the mutants name the checks that must fail.
 *
 *   determinism_checks [--ticks N] [--fails CHECK] [MODEL.sbm ...]
 *
 * N: ticks of each run, at least 2 (60). With --fails that check alone runs, and failing is success. */
#include <fenv.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_scenes.h"
#include "collision.h"
#include "fp_env.h"
#include "golden_hashes.h"
#include "sim.h"
#include "state_hash.h"
#include "static_plugins.h"
#include "verify.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#define MAX_PARAMS 64

/* What may vary without changing a bit. */
typedef struct variant {
  uint32_t threads, lanes, broad_phase;
  uint64_t shuffle;
} variant;

static const variant plain = {1, 1, SB_BROAD_SAP, 0};

typedef struct subject {
  uint32_t ticks;
  const char *scene;
  const sb_solver_api *api;
  const sb_model_store *one;
  const sb_model_store *more; /* the same bodies, then others; NULL when there is none */
} subject;

static uint32_t widest_lanes(void) { return sb_cpu_lanes(); }

/* ---- one run ---- */

typedef struct run {
  sb_model_store *model;
  sb_sim *sim;
} run;

static void close_run(run *r)
{
  sb_sim_destroy(r->sim);
  sb_model_store_free(r->model);
  *r = (run){0};
}

static bool open_run(const subject *s, const sb_model_store *one, uint32_t worlds, uint32_t first, variant v, run *r)
{
  sb_diagnostics diag = {0};
  *r = (run){0};
  bool ok = !sb_model_store_replicate(one, worlds, first, &r->model, &diag);
  uint32_t count = ok ? sb_model_store_view(r->model)->body_count : 0;
  uint32_t particles = ok ? sb_model_store_view(r->model)->particle_count : 0, most = count > particles ? count : particles;
  uint32_t *every = malloc(((size_t)most + 1) * sizeof *every);
  double params[MAX_PARAMS];
  for (uint32_t b = 0; every && b < most; b++) every[b] = b;
  for (uint32_t p = 0; p < s->api->desc->param_count && p < MAX_PARAMS; p++) params[p] = s->api->desc->params[p].value;
  sb_sim_part part = {.name = "solver",
                      .api = s->api,
                      .params = params,
                      .bodies = every,
                      .body_count = count,
                      .particles = every,
                      .particle_count = particles,
                      .mode = SB_MODE_CROSS_PLATFORM};
  sb_sim_config config = {.model = r->model,
                          .parts = &part,
                          .part_count = 1,
                          .dt_numerator = 1,
                          .dt_denominator = 240,
                          .mode = SB_MODE_CROSS_PLATFORM,
                          .threads = v.threads,
                          .lanes = v.lanes,
                          .broad_phase = v.broad_phase,
                          .shuffle = v.shuffle,
                          .speculative_margin = 0.01f};
  ok = ok && every && !sb_sim_create(&config, &r->sim, &diag);
  if (!ok) printf("  %s, %s: %s\n", s->scene, s->api->desc->id, diag.count ? diag.items[0].message : "out of memory");
  free(every);
  sb_diagnostics_clear(&diag);
  if (!ok) close_run(r);
  return ok;
}

/* Steps, and folds the contacts and the state of each tick into a digest. */
static bool step_run(const subject *s, run *r, uint32_t ticks, uint64_t *digest)
{
  sb_diagnostics diag = {0};
  bool ok = true;
  for (uint32_t t = 0; ok && t < ticks; t++) {
    ok = !sb_sim_step(r->sim, &diag);
    *digest = sb_hash_fold(sb_hash_fold(*digest, sb_sim_hash_stage(r->sim, SB_STAGE_CONTACTS)), sb_sim_hash(r->sim));
  }
  if (!ok) printf("  %s, %s: %s\n", s->scene, s->api->desc->id, diag.count ? diag.items[0].message : "?");
  sb_diagnostics_clear(&diag);
  return ok;
}

/* Digest of a whole run of one world. */
static bool digest_of(const subject *s, variant v, uint64_t *digest)
{
  run r;
  *digest = 0;
  bool ok = open_run(s, s->one, 1, 0, v, &r) && step_run(s, &r, s->ticks, digest);
  close_run(&r);
  return ok;
}

static bool same(const subject *s, const char *what, uint64_t number, uint64_t want, uint64_t got)
{
  if (want != got)
    printf("  %s, %s: %s %" PRIu64 " gives %016" PRIx64 ", expected %016" PRIx64 "\n", s->scene, s->api->desc->id, what,
           number, got, want);
  return want == got;
}

static bool same_as_plain(const subject *s, const char *what, uint64_t number, variant v)
{
  uint64_t want, got;
  return digest_of(s, plain, &want) && digest_of(s, v, &got) && same(s, what, number, want, got);
}

/* ---- the checks ---- */

static bool check_lanes(const subject *s)
{
  bool ok = true;
  for (uint32_t lanes = 4; lanes <= widest_lanes(); lanes += 4)
    ok = same_as_plain(s, "lanes", lanes, (variant){1, lanes, SB_BROAD_SAP, 0}) && ok;
  return ok;
}

static bool check_threads(const subject *s)
{
  bool ok = true;
  static const uint32_t counts[] = {2, 3, 5, 8, 16};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
    ok = same_as_plain(s, "threads", counts[i], (variant){counts[i], widest_lanes(), SB_BROAD_SAP, 0}) && ok;
  return ok;
}

static bool check_shuffle(const subject *s)
{
  bool ok = true;
  for (uint64_t seed = 1; seed <= 4; seed++)
    ok = same_as_plain(s, "task order", seed,
                       (variant){1 + (uint32_t)(seed & 1), widest_lanes(), SB_BROAD_SAP, seed * 77}) &&
         ok;
  return ok;
}

static bool check_broad_phase(const subject *s)
{
  return same_as_plain(s, "broad phase", SB_BROAD_ALL_PAIRS, (variant){1, widest_lanes(), SB_BROAD_ALL_PAIRS, 0});
}

/* World k alone, among 64, and at another index give one hash. */
static bool check_worlds(const subject *s)
{
  const uint32_t k = 37, shifted = 30;
  run alone, many, later;
  uint64_t ignore = 0;
  variant v = {2, widest_lanes(), SB_BROAD_SAP, 5};
  bool ok = open_run(s, s->one, 1, k, plain, &alone), ok2 = open_run(s, s->one, 64, 0, v, &many),
       ok3 = open_run(s, s->one, 9, shifted, v, &later);
  ok = ok && ok2 && ok3;
  for (uint32_t half = 0; ok && half < 2; half++) {
    uint32_t ticks = s->ticks / 6 + 1; /* 64 worlds take their time */
    ok = step_run(s, &alone, ticks, &ignore) && step_run(s, &many, ticks, &ignore) &&
         step_run(s, &later, ticks, &ignore);
    uint64_t want = sb_sim_hash_world(alone.sim, 0);
    for (uint32_t w = 0; ok && w < 64; w++) /* no random numbers in these scenes: all worlds are equal */
      ok = same(s, "among 64 worlds, world", w, want, sb_sim_hash_world(many.sim, w));
    ok = ok && same(s, "among 9 worlds, world", k, want, sb_sim_hash_world(later.sim, k - shifted));
  }
  close_run(&alone);
  close_run(&many);
  close_run(&later);
  return ok;
}

/* Bodies added after the others change no bit of those. */
static bool check_unrelated(const subject *s)
{
  run few, more;
  uint64_t ignore = 0;
  if (!s->more) return true;
  bool ok = open_run(s, s->one, 1, 0, plain, &few),
       ok2 = open_run(s, s->more, 1, 0, (variant){2, widest_lanes(), SB_BROAD_SAP, 9}, &more);
  ok = ok && ok2 && step_run(s, &few, s->ticks, &ignore) && step_run(s, &more, s->ticks, &ignore);
  uint32_t count = ok ? sb_model_store_view(few.model)->body_count : 0;
  if (ok && sb_model_store_view(more.model)->body_count <= count) ok = false;
  for (uint32_t b = 0; ok && b < count; b++)
    ok = same(s, "with unrelated bodies, body", b, sb_sim_hash_body(few.sim, b), sb_sim_hash_body(more.sim, b));
  close_run(&few);
  close_run(&more);
  return ok;
}

/* N ticks straight, and N/2, a snapshot, a new instance, the snapshot put back, N/2. */
static bool check_snapshot(const subject *s)
{
  run straight, first, second;
  uint64_t ignore = 0;
  void *bytes = NULL;
  size_t size = 0;
  bool ok = open_run(s, s->one, 1, 0, plain, &straight), ok2 = open_run(s, s->one, 1, 0, plain, &first);
  bool ok3 = open_run(s, s->one, 1, 0, (variant){2, widest_lanes(), SB_BROAD_SAP, 3}, &second);
  ok = ok && ok2 && ok3 && step_run(s, &straight, s->ticks, &ignore) && step_run(s, &first, s->ticks / 2, &ignore);
  ok = ok && !sb_sim_snapshot(first.sim, &bytes, &size, NULL) && !sb_sim_restore(second.sim, bytes, size, NULL);
  ok = ok && step_run(s, &second, s->ticks - s->ticks / 2, &ignore);
  ok = ok && same(s, "after a restore, tick", s->ticks, sb_sim_hash(straight.sim), sb_sim_hash(second.sim));
  free(bytes);
  close_run(&straight);
  close_run(&first);
  close_run(&second);
  return ok;
}

/* A reset is as good as a new simulation. */
static bool check_reset(const subject *s)
{
  run r;
  uint64_t first = 0, again = 0;
  bool ok = open_run(s, s->one, 1, 0, plain, &r) && step_run(s, &r, s->ticks, &first) && !sb_sim_reset(r.sim, NULL) &&
            step_run(s, &r, s->ticks, &again);
  ok = ok && same(s, "after a reset, tick", s->ticks, first, again);
  close_run(&r);
  return ok;
}

/* A caller that flushes subnormals and rounds upwards: same bits, and it finds its environment as it left it. */
#if defined(__SSE__)
static void set_odd_environment(void) { _mm_setcsr(0x1f80u | 0x8040u | 0x4000u); }
static bool odd_environment_kept(void) { return (_mm_getcsr() & ~0x3fu) == (0x1f80u | 0x8040u | 0x4000u); }
#elif defined(__aarch64__)
static void set_odd_environment(void) { __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0x1400000)); }
static bool odd_environment_kept(void)
{
  uint64_t word;
  __asm__ volatile("mrs %0, fpcr" : "=r"(word));
  return word == 0x1400000;
}
#elif defined(FE_UPWARD)
static void set_odd_environment(void) { fesetround(FE_UPWARD); }
static bool odd_environment_kept(void) { return fegetround() == FE_UPWARD; }
#else
static void set_odd_environment(void) {}
static bool odd_environment_kept(void) { return true; }
#endif

static bool check_environment(const subject *s)
{
  uint64_t want, got;
  bool ok = digest_of(s, plain, &want);
  sb_fp_env saved = sb_fp_env_enter();
  set_odd_environment();
  ok = ok && digest_of(s, (variant){2, widest_lanes(), SB_BROAD_SAP, 0}, &got);
  sb_model_store *cooked = check_scene(false, s->api->desc->handles); /* cooking is under the contract too */
  bool kept = odd_environment_kept();
  sb_fp_env_leave(saved);
  if (s->more)
    ok = ok && cooked &&
         same(s, "cooked in another floating-point environment, bodies", sb_model_store_view(cooked)->body_count,
              sb_model_store_hash(s->one), sb_model_store_hash(cooked));
  sb_model_store_free(cooked);
  if (!kept) printf("  %s, %s: the caller's floating-point environment was not put back\n", s->scene, s->api->desc->id);
  return ok && kept && same(s, "in another floating-point environment, threads", 2, want, got);
}

/* The hashes that the solver and this version declare. */
static bool check_golden(const subject *s)
{
  sb_verdict verdict[2];
  sb_verify_solver(s->api, SB_BACKEND_CPU, widest_lanes(), &verdict[0]);
  sb_verify_collision(SB_GOLDEN_COLLISION, widest_lanes(), &verdict[1]);
  for (int i = 0; i < 2; i++)
    if (verdict[i].mode != SB_MODE_CROSS_PLATFORM)
      printf("  %s: %s\n", i ? "collision" : s->api->desc->id, verdict[i].reason);
  return verdict[0].mode == SB_MODE_CROSS_PLATFORM && verdict[1].mode == SB_MODE_CROSS_PLATFORM;
}

typedef struct check {
  const char *name;
  bool (*run)(const subject *s);
} check;

static const check checks[] = {
    {"lanes", check_lanes},
    {"threads", check_threads},
    {"shuffle", check_shuffle},
    {"broad_phase", check_broad_phase},
    {"worlds", check_worlds},
    {"unrelated", check_unrelated},
    {"snapshot", check_snapshot},
    {"reset", check_reset},
    {"environment", check_environment},
    {"golden", check_golden},
};
#define CHECKS (sizeof checks / sizeof checks[0])

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

static bool is_asked(const char *wanted, size_t c) { return !wanted || !strcmp(wanted, checks[c].name); }

/* Runs the checks of one scene under one solver, all or the one that is wanted; adds failures. */
static void check_one(const subject *s, const char *wanted, int failed[CHECKS])
{
  for (size_t c = 0; c < CHECKS; c++)
    if (is_asked(wanted, c)) failed[c] += !checks[c].run(s);
}

static bool has_joints(const sb_model *m)
{
  for (uint32_t b = 0; b < m->body_count; b++)
    if (m->joint_type[b] != SB_JOINT_FREE && !(m->body_flags[b] & SB_BODY_STATIC)) return true;
  return false;
}

/* Every solver on its own check scene and on the models given; false when one cannot be read. */
static bool check_all(uint32_t ticks, const char *wanted, int models, char **paths, int failed[CHECKS])
{
  bool ok = true;
  for (size_t i = 0; ok && sb_static_solver_at(i); i++) {
    const sb_solver_api *api = sb_static_solver_at(i);
    bool joints = (api->desc->handles & SB_HANDLES_JOINTS) != 0;
    sb_model_store *one = check_scene(false, api->desc->handles), *more = check_scene(true, api->desc->handles);
    ok = one && more;
    if (ok) check_one(&(subject){ticks, "check scene", api, one, more}, wanted, failed);
    sb_model_store_free(one);
    sb_model_store_free(more);
    for (int m = 0; ok && m < models; m++) {
      one = read_model(paths[m]);
      ok = one != NULL;
      if (ok && (joints || !has_joints(sb_model_store_view(one))))
        check_one(&(subject){ticks, paths[m], api, one, NULL}, wanted, failed);
      sb_model_store_free(one);
    }
  }
  return ok;
}

int main(int argc, char **argv)
{
  int failed[CHECKS] = {0}, all = 0, first = 1;
  const char *wanted = NULL;
  uint32_t ticks = 60;
  for (; first + 1 < argc && !strncmp(argv[first], "--", 2); first += 2) {
    if (!strcmp(argv[first], "--fails")) wanted = argv[first + 1];
    if (!strcmp(argv[first], "--ticks")) ticks = (uint32_t)strtoul(argv[first + 1], NULL, 10);
  }
  if (ticks < 2 || !check_all(ticks, wanted, argc - first, argv + first, failed)) return 2;
  bool found = false;
  for (size_t c = 0; c < CHECKS; c++) {
    if (!is_asked(wanted, c)) continue;
    printf("%-12s %s\n", checks[c].name, failed[c] ? "FAILED" : "passed");
    all += failed[c];
    found = failed[c] > 0;
  }
  if (!wanted) return all ? 1 : 0;
  printf(found ? "%s failed, as it has to\n" : "%s did not fail\n", wanted);
  return found ? 0 : 1;
}
