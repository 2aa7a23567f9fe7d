/* The checks. Each runs the subject in two ways that must give the same bits. */
#include "behaviour.h"

#include <fenv.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collision.h"
#include "fp_env.h"
#include "content_hash.h"
#include "hostile_memory.h"
#include "micro_scenes.h"
#include "sim.h"
#include "state_hash.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#define MAX_PARAMS 64

/* What may vary without changing a bit. */
typedef struct variant {
  uint32_t threads, lanes, broad_phase;
  uint64_t shuffle;
  const sb_memory_source *memory;
  bool disturb;
} variant;

static const variant plain = {.threads = 1, .lanes = 1, .broad_phase = SB_BROAD_SAP};

/* The other end of what may vary. */
static variant turned(uint32_t threads, uint64_t shuffle)
{
  return (variant){.threads = threads, .lanes = sb_cpu_lanes(), .broad_phase = SB_BROAD_SAP, .shuffle = shuffle};
}

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

static bool fail(sb_subject *s, const sb_diagnostics *diag)
{
  s->stopped = true;
  if (!s->text[0]) snprintf(s->text, sizeof s->text, "%s", sb_diagnostics_reason(diag, "out of memory"));
  return false;
}

/* ---- the witness: a solver that owns bodies and particles, moves none, and says what another one has written of
 * theirs ---- */

typedef struct witness {
  sb_bind bind;
} witness;

static sb_status witness_create(void **instance)
{
  *instance = calloc(1, sizeof(witness));
  return *instance ? SB_OK : SB_E_MEMORY;
}

static sb_status witness_bind(void *instance, const sb_bind *bind, char *error, uint32_t error_size)
{
  (void)error, (void)error_size;
  ((witness *)instance)->bind = *bind;
  return SB_OK;
}

static sb_status witness_activate(void *instance, uint32_t mode, float dt, char *error, uint32_t error_size)
{
  (void)instance, (void)mode, (void)dt, (void)error, (void)error_size;
  return SB_OK;
}

static bool differ(const float *a, const float *b, size_t count) { return count && memcmp(a, b, count * sizeof *a) != 0; }

static bool any_set(const float *a, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (a[i] != 0.0f) return true;
  return false;
}

/* What another solver has written of body b, or NULL: all is as the model has it. */
static const char *find_written(const witness *w, uint32_t b, const float *body_q_before)
{
  const sb_model *m = w->bind.model;
  const sb_state *s = w->bind.state;
  uint32_t q = (uint32_t)m->joint_q_start[b], d = (uint32_t)m->joint_qd_start[b], dofs = m->joint_dof_count[b];
  uint32_t coords = m->joint_type[b] == SB_JOINT_FREE ? 7 : m->joint_type[b] == SB_JOINT_BALL ? 4 : dofs;
  if (differ(s->body_q + 7 * (size_t)b, m->body_q + 7 * (size_t)b, 7)) return "body_q";
  if (differ(s->body_qd + 6 * (size_t)b, m->body_qd + 6 * (size_t)b, 6)) return "body_qd";
  if (differ(body_q_before + 7 * (size_t)b, m->body_q + 7 * (size_t)b, 7)) return "body_q_before";
  if (any_set(s->body_f + 6 * (size_t)b, 6)) return "body_f";
  if (differ(s->joint_q + q, m->joint_q + q, coords)) return "joint_q";
  if (differ(s->joint_qd + d, m->joint_qd + d, dofs)) return "joint_qd";
  if (any_set(s->joint_f + d, dofs)) return "joint_f";
  if (differ(s->joint_target_q + d, m->joint_target_q + d, dofs)) return "joint_target_q";
  if (differ(s->joint_target_qd + d, m->joint_target_qd + d, dofs)) return "joint_target_qd";
  return NULL;
}

static const char *find_written_particle(const witness *w, uint32_t p)
{
  const sb_model *m = w->bind.model;
  const sb_state *s = w->bind.state;
  if (differ(s->particle_q + 3 * (size_t)p, m->particle_q + 3 * (size_t)p, 3)) return "particle_q";
  if (differ(s->particle_qd + 3 * (size_t)p, m->particle_qd + 3 * (size_t)p, 3)) return "particle_qd";
  return NULL;
}

static sb_status witness_step(void *instance, const sb_step *step, char *error, uint32_t error_size)
{
  const witness *w = instance;
  for (uint32_t i = 0; i < w->bind.body_count; i++) {
    const char *array = find_written(w, w->bind.bodies[i], step->body_q_before);
    if (!array) continue;
    snprintf(error, error_size, "it wrote %s of body %u, which was not given to it", array, w->bind.bodies[i]);
    return SB_E_ARGUMENT;
  }
  for (uint32_t i = 0; i < w->bind.particle_count; i++) {
    const char *array = find_written_particle(w, w->bind.particles[i]);
    if (!array) continue;
    snprintf(error, error_size, "it wrote %s of particle %u, which was not given to it", array, w->bind.particles[i]);
    return SB_E_ARGUMENT;
  }
  return SB_OK;
}

static void witness_deactivate(void *instance) { (void)instance; }
static void witness_destroy(void *instance) { free(instance); }

static const sb_solver_desc witness_desc = {.struct_size = sizeof(sb_solver_desc),
                                            .handles = 0xffu,
                                            .id = "witness",
                                            .version = "1.0.0",
                                            .vendor = "samebit",
                                            .text = "",
                                            .mode_reason = {"", ""}};
static const sb_solver_api witness_api = {sizeof(sb_solver_api), 0,
                                          &witness_desc,         witness_create,
                                          witness_bind,          witness_activate,
                                          witness_step,          witness_deactivate,
                                          witness_destroy};

/* `owned`: the solver owns as many of the first bodies and particles as this model has, the witness the others; NULL:
 * the solver owns all. */
static bool open_owning(sb_subject *s, const sb_model_store *one, uint32_t worlds, uint32_t first, variant v,
                        const sb_model *owned, run *r)
{
  sb_diagnostics diag = {0};
  *r = (run){0};
  bool ok = !sb_model_store_replicate(one, worlds, first, &r->model, &diag);
  const sb_model *m = ok ? sb_model_store_view(r->model) : NULL;
  uint32_t count = m ? m->body_count : 0, particles = m ? m->particle_count : 0, longest = count > particles ? count : particles;
  uint32_t *indices = malloc(((size_t)longest + 1) * sizeof *indices);
  double params[MAX_PARAMS];
  for (uint32_t i = 0; indices && i < longest; i++) indices[i] = i;
  for (uint32_t p = 0; p < s->api->desc->param_count && p < MAX_PARAMS; p++)
    params[p] = s->params ? s->params[p] : s->api->desc->params[p].value;
  uint32_t own = owned && owned->body_count < count ? owned->body_count : count;
  uint32_t own_particles = owned && owned->particle_count < particles ? owned->particle_count : particles;
  sb_sim_part parts[2] = {{.name = "solver",
                           .api = s->api,
                           .params = params,
                           .bodies = indices,
                           .body_count = own,
                           .particles = indices,
                           .particle_count = own_particles,
                           .mode = SB_MODE_CROSS_PLATFORM},
                          {.name = "witness",
                           .api = &witness_api,
                           .params = params,
                           .bodies = indices ? indices + own : NULL,
                           .body_count = count - own,
                           .particles = indices ? indices + own_particles : NULL,
                           .particle_count = particles - own_particles,
                           .mode = SB_MODE_CROSS_PLATFORM}};
  sb_sim_config config = {.model = r->model,
                          .parts = parts,
                          .part_count = owned ? 2 : 1,
                          .coupling = SB_COUPLING_NONE,
                          .dt_numerator = 1,
                          .dt_denominator = 240,
                          .mode = SB_MODE_CROSS_PLATFORM,
                          .threads = v.threads,
                          .lanes = v.lanes,
                          .broad_phase = v.broad_phase,
                          .shuffle = v.shuffle,
                          .speculative_margin = 0.01f,
                          .seed = 1,
                          .memory = v.memory,
                          .disturb = v.disturb};
  ok = ok && indices && s->api->desc->param_count <= MAX_PARAMS && !sb_sim_create(&config, &r->sim, &diag);
  if (!ok) fail(s, &diag);
  free(indices);
  sb_diagnostics_clear(&diag);
  if (!ok) close_run(r);
  return ok;
}

static bool open_run(sb_subject *s, const sb_model_store *one, uint32_t worlds, uint32_t first, variant v, run *r)
{
  return open_owning(s, one, worlds, first, v, NULL, r);
}

/* Steps, and folds the contacts and the state of each tick into a digest. */
static bool step_run(sb_subject *s, run *r, uint32_t ticks, uint64_t *digest)
{
  sb_diagnostics diag = {0};
  bool ok = true;
  for (uint32_t t = 0; ok && t < ticks; t++) {
    ok = !sb_sim_step(r->sim, &diag);
    *digest = sb_hash_fold(sb_hash_fold(*digest, sb_sim_hash_stage(r->sim, SB_STAGE_CONTACTS)), sb_sim_hash(r->sim));
  }
  if (!ok) fail(s, &diag);
  sb_diagnostics_clear(&diag);
  return ok;
}

/* Digest of a whole run of one world. */
static bool digest_of(sb_subject *s, variant v, uint64_t *digest)
{
  run r;
  *digest = 0;
  bool ok = open_run(s, s->one, 1, 0, v, &r) && step_run(s, &r, s->ticks, digest);
  close_run(&r);
  return ok;
}

static bool plain_digest(sb_subject *s)
{
  run r;
  if (s->has_plain) return true;
  s->plain = 0;
  s->has_plain = open_run(s, s->one, 1, 0, plain, &r) && step_run(s, &r, s->ticks, &s->plain);
  if (s->has_plain) s->plain_end = sb_sim_hash(r.sim);
  close_run(&r);
  return s->has_plain;
}

static bool same(sb_subject *s, const char *what, uint64_t number, uint64_t want, uint64_t got)
{
  if (want != got && !s->text[0])
    snprintf(s->text, sizeof s->text, "%s %" PRIu64 ": %016" PRIx64 ", expected %016" PRIx64, what, number, got, want);
  return want == got;
}

static bool same_as_plain(sb_subject *s, const char *what, uint64_t number, variant v)
{
  uint64_t got;
  return plain_digest(s) && digest_of(s, v, &got) && same(s, what, number, s->plain, got);
}

/* ---- the checks ---- */

static bool check_repeat(sb_subject *s) { return same_as_plain(s, "run again, run", 2, plain); }

static bool check_lanes(sb_subject *s)
{
  bool ok = true;
  for (uint32_t lanes = 4; lanes <= sb_cpu_lanes(); lanes += 4)
    ok = same_as_plain(s, "lanes", lanes, (variant){.threads = 1, .lanes = lanes, .broad_phase = SB_BROAD_SAP}) && ok;
  return ok;
}

static bool check_threads(sb_subject *s)
{
  bool ok = true;
  static const uint32_t counts[] = {2, 3, 16, 5, 8};
  for (size_t i = 0; i < (s->brief ? 3 : sizeof counts / sizeof counts[0]); i++) ok = same_as_plain(s, "threads", counts[i], turned(counts[i], 0)) && ok;
  return ok;
}

static bool check_shuffle(sb_subject *s)
{
  bool ok = true;
  for (uint64_t seed = 1; seed <= 4; seed++) ok = same_as_plain(s, "task order", seed, turned(1 + (uint32_t)(seed & 1), seed * 77)) && ok;
  return ok;
}

static bool check_broad_phase(sb_subject *s)
{
  variant v = turned(1, 0);
  v.broad_phase = SB_BROAD_ALL_PAIRS;
  return same_as_plain(s, "broad phase", SB_BROAD_ALL_PAIRS, v);
}

/* A run in memory at other places, spoiled when it is given back, with guards that must stay whole. */
static bool run_in_hostile_memory(sb_subject *s, uint64_t *digest)
{
  sb_hostile_memory *memory = malloc(sizeof *memory);
  if (!memory) return fail(s, &(sb_diagnostics){0});
  sb_hostile_memory_init(memory);
  variant v = turned(1, 0);
  v.memory = s->memory ? s->memory : &memory->source;
  bool ok = digest_of(s, v, digest);
  const char *complaint = sb_hostile_memory_complaint(memory);
  if (!complaint && s->complaint) complaint = s->complaint();
  if (complaint) s->overran = true, snprintf(s->text, sizeof s->text, "%s", complaint);
  free(memory);
  return ok && !complaint;
}

static bool check_bounds(sb_subject *s)
{
  s->has_hostile = run_in_hostile_memory(s, &s->hostile);
  return s->has_hostile;
}

/* The run of the check of bounds will do, when there was one. */
static bool check_memory(sb_subject *s)
{
  return plain_digest(s) && (s->has_hostile || check_bounds(s)) &&
         same(s, "with memory moved, run", 2, s->plain, s->hostile);
}

/* Junk in padding lanes, behind the contacts of this tick and of the last. */
static bool check_padding(sb_subject *s)
{
  bool ok = true;
  for (uint32_t lanes = 0; lanes <= 1; lanes++) { /* 0: the widest. One thread: the order of tasks is another check's */
    variant v = turned(1, 0);
    v.lanes = lanes;
    v.disturb = true;
    ok = same_as_plain(s, "with junk in padding and unused elements, lanes", lanes, v) && ok;
  }
  return ok;
}

/* World k alone, among 64 (brief: 40), and at another index give one hash. */
static bool check_worlds(sb_subject *s)
{
  const uint32_t k = 37, shifted = 30, worlds = s->brief ? 40 : 64;
  run alone, many, later;
  uint64_t ignore = 0;
  variant v = turned(2, 5);
  bool ok = open_run(s, s->one, 1, k, plain, &alone), ok2 = open_run(s, s->one, worlds, 0, v, &many), ok3 = open_run(s, s->one, 9, shifted, v, &later);
  ok = ok && ok2 && ok3;
  for (uint32_t half = 0; ok && half < 2; half++) {
    uint32_t ticks = s->ticks / 6 + 1; /* so many worlds take their time */
    ok = step_run(s, &alone, ticks, &ignore) && step_run(s, &many, ticks, &ignore) && step_run(s, &later, ticks, &ignore);
    uint64_t want = ok ? sb_sim_hash_world(alone.sim, 0) : 0;
    for (uint32_t w = 0; ok && w < worlds; w++) /* no random numbers in these scenes: all worlds are equal */
      ok = same(s, "among many worlds, world", w, want, sb_sim_hash_world(many.sim, w));
    ok = ok && same(s, "among 9 worlds, world", k, want, sb_sim_hash_world(later.sim, k - shifted));
  }
  close_run(&alone);
  close_run(&many);
  close_run(&later);
  return ok;
}

/* Number of the first particle whose place or velocity is another; count when there is none. */
static uint32_t first_moved(const sb_sim *a, const sb_sim *b, uint32_t count)
{
  const sb_state *x = sb_sim_state((sb_sim *)a), *y = sb_sim_state((sb_sim *)b);
  for (uint32_t p = 0; p < count; p++)
    if (differ(x->particle_q + 3 * (size_t)p, y->particle_q + 3 * (size_t)p, 3) ||
        differ(x->particle_qd + 3 * (size_t)p, y->particle_qd + 3 * (size_t)p, 3))
      return p;
  return count;
}

/* Bodies and particles added after the others change no bit of those. */
static bool check_unrelated(sb_subject *s)
{
  run few, more;
  uint64_t ignore = 0;
  if (!s->more) return true;
  bool ok = open_run(s, s->one, 1, 0, plain, &few), ok2 = open_run(s, s->more, 1, 0, turned(2, 9), &more);
  ok = ok && ok2 && step_run(s, &few, s->ticks, &ignore) && step_run(s, &more, s->ticks, &ignore);
  const sb_model *m = ok ? sb_model_store_view(few.model) : NULL, *n = ok ? sb_model_store_view(more.model) : NULL;
  ok = ok && n->body_count + n->particle_count > m->body_count + m->particle_count;
  for (uint32_t b = 0; ok && b < m->body_count; b++)
    ok = same(s, "with unrelated bodies, body", b, sb_sim_hash_body(few.sim, b), sb_sim_hash_body(more.sim, b));
  uint32_t moved = ok ? first_moved(few.sim, more.sim, m->particle_count) : 0;
  if (ok && moved < m->particle_count) {
    snprintf(s->text, sizeof s->text, "with unrelated bodies and particles, particle %u is elsewhere after %u ticks",
             moved, s->ticks);
    ok = false;
  }
  close_run(&few);
  close_run(&more);
  return ok;
}

/* Bodies and particles of the witness, the last ones of the scene with others: nothing of theirs may be written. */
static bool check_ownership(sb_subject *s)
{
  run r;
  uint64_t ignore = 0;
  if (!s->more) return true;
  bool ok = open_owning(s, s->more, 1, 0, turned(1, 0), sb_model_store_view(s->one), &r) &&
            step_run(s, &r, s->ticks / 4 + 1, &ignore);
  close_run(&r);
  return ok;
}

/* Hash of what the arrays of a model of one world hold now. */
static bool hash_model(sb_subject *s, const sb_model_store *model, uint64_t *hash)
{
  sb_diagnostics diag = {0};
  void *bytes = NULL;
  size_t size = 0;
  bool ok = !sb_model_store_to_bytes(model, &bytes, &size, &diag) || fail(s, &diag);
  if (ok) *hash = sb_content_hash(bytes, size);
  free(bytes);
  sb_diagnostics_clear(&diag);
  return ok;
}

/* The model belongs to all solvers, and is the same before and after. Earlier runs have shared the arrays of `one`, so a new one is made. */
static bool check_model(sb_subject *s)
{
  run r = {0};
  uint64_t ignore = 0, before = 0, after = 0;
  sb_model_store *fresh = sb_micro_scene_model(s->scene);
  const sb_model_store *one = fresh ? fresh : s->one;
  bool ok = hash_model(s, one, &before) && open_run(s, one, 1, 0, plain, &r) && step_run(s, &r, s->ticks / 4 + 1, &ignore) && hash_model(s, one, &after);
  if (ok && before != after) {
    snprintf(s->text, sizeof s->text, "it wrote in the model: its hash is %016" PRIx64 ", before it ran %016" PRIx64, after, before);
    ok = false;
  }
  close_run(&r);
  sb_model_store_free(fresh);
  return ok;
}

/* Bodies and particles enough for several chunks of any loop: what tasks do to each other's elements shows at other orders and threads only there. */
#define CROWD 1200u

static bool check_crowd(sb_subject *s)
{
  const variant variants[] = {plain, turned(2, 5), turned(1, 0), turned(3, 9)};
  const sb_model *one = sb_model_store_view(s->one);
  uint32_t each = one->body_count + one->particle_count, worlds = CROWD / (each ? each : CROWD) + 1;
  uint64_t first = 0;
  bool ok = true;
  for (uint32_t i = 0; ok && i < (s->brief ? 2u : 4u); i++) {
    run r;
    uint64_t got = 0;
    ok = open_run(s, s->one, worlds, 0, variants[i], &r) && step_run(s, &r, s->brief ? 2 : 4, &got);
    close_run(&r);
    if (i == 0) first = got;
    ok = ok && same(s, "many worlds at once, run", i + 1, first, got);
  }
  return ok;
}

/* N ticks straight, and N/2, a snapshot, a new instance, the snapshot put back, N/2. */
static bool check_snapshot(sb_subject *s)
{
  run first, second;
  uint64_t ignore = 0;
  void *bytes = NULL;
  size_t size = 0;
  bool ok = plain_digest(s), ok2 = open_run(s, s->one, 1, 0, plain, &first),
       ok3 = open_run(s, s->one, 1, 0, turned(2, 3), &second);
  ok = ok && ok2 && ok3 && step_run(s, &first, s->ticks / 2, &ignore);
  ok = ok && !sb_sim_snapshot(first.sim, &bytes, &size, NULL) && !sb_sim_restore(second.sim, bytes, size, NULL);
  ok = ok && step_run(s, &second, s->ticks - s->ticks / 2, &ignore);
  ok = ok && same(s, "after a restore into a new instance, tick", s->ticks, s->plain_end, sb_sim_hash(second.sim));
  free(bytes);
  close_run(&first);
  close_run(&second);
  return ok;
}

/* A reset is as good as a new simulation. */
static bool check_reset(sb_subject *s)
{
  run r;
  uint64_t ignore = 0, again = 0;
  bool ok = plain_digest(s), opened = open_run(s, s->one, 1, 0, plain, &r);
  ok = ok && opened && step_run(s, &r, s->ticks / 2 + 1, &ignore) && !sb_sim_reset(r.sim, NULL) &&
       step_run(s, &r, s->ticks, &again);
  ok = ok && same(s, "after a reset, tick", s->ticks, s->plain, again);
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

static bool check_environment(sb_subject *s)
{
  uint64_t got = 0;
  bool ok = plain_digest(s);
  sb_fp_env saved = sb_fp_env_enter();
  set_odd_environment();
  ok = ok && digest_of(s, turned(2, 0), &got);
  bool kept = odd_environment_kept();
  sb_fp_env_leave(saved);
  if (!kept && !s->text[0]) snprintf(s->text, sizeof s->text, "the caller's floating-point environment was not put back");
  return ok && kept && same(s, "in another floating-point environment, threads", 2, s->plain, got);
}

const sb_behaviour_check sb_behaviour_checks[] = {
    {"bounds", "what lies beside its arrays: it writes nothing there", SB_FIX_BOUNDS, check_bounds},
    {"repeat", "running again", SB_FIX_REPEAT, check_repeat},
    {"lanes", "the lane width", SB_FIX_LANES, check_lanes},
    {"memory", "where its memory lies, and what it held before", SB_FIX_MEMORY, check_memory},
    {"shuffle", "the order in which tasks start", SB_FIX_SHUFFLE, check_shuffle},
    {"threads", "the number of threads, 2 to 16", SB_FIX_THREADS, check_threads},
    {"broad_phase", "the broad phase", SB_FIX_BROAD_PHASE, check_broad_phase},
    {"padding", "what padding lanes and unused elements hold", SB_FIX_PADDING, check_padding},
    {"worlds", "how many worlds run beside a world, and its index", SB_FIX_WORLDS, check_worlds},
    {"crowd", "threads, lanes and the order of tasks where there are many", SB_FIX_CROWD, check_crowd},
    {"unrelated", "bodies and particles that come after the others and meet none of them", SB_FIX_UNRELATED,
     check_unrelated},
    {"ownership", "that there are bodies and particles of somebody else", SB_FIX_OWNERSHIP, check_ownership},
    {"model", "the model, which belongs to all: it writes nothing there", SB_FIX_MODEL, check_model},
    {"snapshot", "a snapshot put back into a new instance half-way", SB_FIX_SNAPSHOT, check_snapshot},
    {"reset", "a reset", SB_FIX_RESET, check_reset},
    {"environment", "the caller's rounding mode and flush-to-zero", SB_FIX_ENVIRONMENT, check_environment},
};
const size_t sb_behaviour_check_count = sizeof sb_behaviour_checks / sizeof sb_behaviour_checks[0];

const sb_behaviour_check *sb_behaviour_find(const char *name)
{
  for (size_t i = 0; i < sb_behaviour_check_count; i++)
    if (!strcmp(sb_behaviour_checks[i].name, name)) return &sb_behaviour_checks[i];
  return NULL;
}
