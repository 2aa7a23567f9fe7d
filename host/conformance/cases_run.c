/* Cases of ticks: runs of the micro-scenes, with parameters and with hostile state. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <malloc.h>
#include <math.h>
#include <string.h>

#include "case_run.h"

/* Runs every fitting micro-scene in mode Local; fails when one stops with `code`. The cases of the other codes tell the rest. */
static bool stops_never_with(sb_case_context *c, const sb_solver_api *api, sb_code code)
{
  for (size_t i = 0; i < sb_micro_scene_count; i++) {
    sb_case_run r;
    if (!sb_case_fits(api, &sb_micro_scenes[i])) continue;
    bool ok = sb_case_open(&r, api, sb_micro_scenes[i].name, NULL, SB_MODE_LOCAL) && sb_case_step(&r, sb_micro_scenes[i].ticks);
    sb_case_close(&r);
    if (!ok && r.code == code) return sb_case_fail(c, "micro-scene %s: %s", sb_micro_scenes[i].name, r.text);
  }
  return true;
}

bool case_steps(sb_case_context *c, const sb_solver_api *api) { return stops_never_with(c, api, SB_CODE_SOLVER_FAILED); }
bool case_environment_step(sb_case_context *c, const sb_solver_api *api) { return stops_never_with(c, api, SB_CODE_MODE_FP_ENVIRONMENT); }
bool case_finite(sb_case_context *c, const sb_solver_api *api) { return stops_never_with(c, api, SB_CODE_NUMERIC_NOT_FINITE); }

bool case_free_joints(sb_case_context *c, const sb_solver_api *api)
{
  for (size_t i = 0; i < sb_micro_scene_count; i++) {
    sb_case_run r;
    if (!sb_case_fits(api, &sb_micro_scenes[i])) continue;
    bool ok = sb_case_open(&r, api, sb_micro_scenes[i].name, NULL, SB_MODE_LOCAL) && sb_case_step(&r, 20);
    const sb_model *m = ok ? sb_model_store_view(r.model) : NULL;
    for (uint32_t b = 0; ok && b < m->body_count; b++) {
      if (m->joint_type[b] != SB_JOINT_FREE || (m->body_flags[b] & SB_BODY_STATIC)) continue;
      const sb_state *s = sb_sim_state(r.sim);
      if (memcmp(s->body_q + 7 * (size_t)b, s->joint_q + m->joint_q_start[b], 7 * sizeof(float)) ||
          memcmp(s->body_qd + 6 * (size_t)b, s->joint_qd + m->joint_qd_start[b], 6 * sizeof(float)))
        ok = sb_case_fail(c, "micro-scene %s, body %u: pose or velocity of its FREE joint is another", sb_micro_scenes[i].name, b);
    }
    sb_case_close(&r);
    if (!ok) return sb_case_fail(c, "micro-scene %s: %s", sb_micro_scenes[i].name, r.text);
  }
  return true;
}

bool case_growth(sb_case_context *c, const sb_solver_api *api)
{
#ifdef __GLIBC__
  for (size_t i = 0; i < sb_micro_scene_count; i++) {
    sb_case_run r;
    if (!sb_case_fits(api, &sb_micro_scenes[i])) continue;
    bool ok = sb_case_open(&r, api, sb_micro_scenes[i].name, NULL, SB_MODE_LOCAL) && sb_case_step(&r, 30);
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    ok = ok && sb_case_step(&r, 60);
    size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
    if (ok && after > before) ok = sb_case_fail(c, "micro-scene %s: 60 ticks took %zu bytes", sb_micro_scenes[i].name, after - before);
    sb_case_close(&r);
    if (!ok) return sb_case_fail(c, "micro-scene %s: %s", sb_micro_scenes[i].name, r.text);
  }
#else
  (void)api;
  sb_case_skip(c, "this C library does not tell how much memory is taken");
#endif
  return true;
}

/* Three at once, stepped in turn, against one alone. */
bool case_instances(sb_case_context *c, const sb_solver_api *api)
{
  for (size_t i = 0; i < sb_micro_scene_count; i++) {
    const sb_micro_scene *scene = &sb_micro_scenes[i];
    if (!sb_case_fits(api, scene)) continue;
    sb_case_run alone, three[3];
    bool ok = sb_case_open(&alone, api, scene->name, NULL, SB_MODE_LOCAL) && sb_case_step(&alone, 40);
    uint64_t want = ok ? sb_sim_hash(alone.sim) : 0;
    sb_case_close(&alone);
    for (int k = 0; k < 3; k++) ok = sb_case_open(&three[k], api, scene->name, NULL, SB_MODE_LOCAL) && ok;
    for (int t = 0; ok && t < 40; t++)
      for (int k = 0; k < 3; k++) ok = ok && sb_case_step(&three[(k + t) % 3], 1);
    for (int k = 0; ok && k < 3; k++)
      if (sb_sim_hash(three[k].sim) != want)
        ok = sb_case_fail(c, "micro-scene %s: instance %d of three gives %016" PRIx64 ", alone it gives %016" PRIx64, scene->name, k + 1, sb_sim_hash(three[k].sim), want);
    for (int k = 0; k < 3; k++) sb_case_close(&three[k]);
    if (!ok) return sb_case_fail(c, "micro-scene %s: %s", scene->name, alone.text);
  }
  return true;
}

bool case_golden_match(sb_case_context *c, const sb_solver_api *api)
{
  for (uint32_t g = 0; g < api->desc->golden_count; g++) {
    const sb_golden *golden = &api->desc->goldens[g];
    uint64_t hash = 0;
    if (golden->backend != SB_BACKEND_CPU) continue;
    for (size_t i = 0; i < sb_micro_scene_count; i++) {
      if (strcmp(sb_micro_scenes[i].name, golden->scene)) continue;
      sb_status status = sb_micro_scene_hash(&sb_micro_scenes[i], api, SB_BACKEND_CPU, 1, 0, 0, &hash, NULL);
      if (status || hash != golden->hash)
        return sb_case_fail(c, "micro-scene %s gives %016" PRIx64 ", its golden hash is %016" PRIx64, golden->scene, hash, golden->hash);
    }
  }
  return true;
}

/* ---- parameters ---- */

/* Hash of a scene with these parameters; 0 when it stops. */
static uint64_t hash_with(const sb_solver_api *api, const sb_micro_scene *scene, bool bounce, uint32_t ticks, const double *params, sb_code *code)
{
  sb_case_run r;
  uint64_t hash = sb_case_open_with(&r, api, scene->name, bounce, params, SB_MODE_OFF) && sb_case_step(&r, ticks) ? sb_sim_hash(r.sim) : 0;
  *code = r.code;
  sb_case_close(&r);
  return hash;
}

static void fill_defaults(const sb_solver_api *api, double params[SB_CASE_MAX_PARAMS])
{
  for (uint32_t i = 0; i < api->desc->param_count && i < SB_CASE_MAX_PARAMS; i++) params[i] = api->desc->params[i].value;
}

/* Other values of a parameter: half its default, ends, middle, and a little above the lower end. */
#define TRIES 5
static void list_values(const sb_param_desc *p, double values[TRIES])
{
  double half = p->value > 0 ? p->value * 0.5 : p->maximum, little = p->minimum + 10;
  values[0] = half < p->minimum ? p->minimum : half;
  values[1] = p->minimum;
  values[2] = p->maximum;
  values[3] = 0.5 * (p->minimum + p->maximum);
  values[4] = little < p->maximum ? little : p->maximum;
  for (int i = 0; p->type != SB_PARAM_FLOAT && i < TRIES; i++) values[i] = floor(values[i]);
}

/* Whether a parameter changes anything while the others are as in `params`. Scenes come as they are, with restitution, and until they rest. */
static bool changes_something(const sb_solver_api *api, uint32_t index, double params[SB_CASE_MAX_PARAMS], size_t rounds)
{
  const sb_param_desc *p = &api->desc->params[index];
  double values[TRIES];
  list_values(p, values);
  for (size_t i = 0; i < rounds * sb_micro_scene_count; i++) {
    sb_code code;
    const sb_micro_scene *scene = &sb_micro_scenes[i % sb_micro_scene_count];
    size_t round = i / sb_micro_scene_count;
    uint32_t ticks = round == 2 ? 8 * scene->ticks : scene->ticks;
    if (!sb_case_fits(api, scene) || (round && !(scene->handles & SB_HANDLES_CONTACT))) continue;
    params[index] = p->value;
    uint64_t plain = hash_with(api, scene, round == 1, ticks, params, &code);
    for (size_t k = 0; k < TRIES; k++) {
      params[index] = values[k];
      if (values[k] != p->value && hash_with(api, scene, round == 1, ticks, params, &code) != plain) return true;
    }
  }
  return false;
}

/* Alone, or together with another parameter that has to be on first. */
static bool has_effect(const sb_solver_api *api, uint32_t index)
{
  double params[SB_CASE_MAX_PARAMS], values[TRIES];
  fill_defaults(api, params);
  if (changes_something(api, index, params, 3)) return true;
  for (uint32_t other = 0; other < api->desc->param_count; other++) {
    if (other == index) continue;
    list_values(&api->desc->params[other], values);
    for (size_t k = 2; k < TRIES; k++) {
      fill_defaults(api, params);
      params[other] = values[k];
      if (changes_something(api, index, params, 1)) return true;
    }
  }
  return false;
}

bool case_param_effect(sb_case_context *c, const sb_solver_api *api)
{
  for (uint32_t i = 0; i < api->desc->param_count; i++) {
    const sb_param_desc *p = &api->desc->params[i];
    bool says_none = strstr(p->text, "micro-scenes: no effect") != NULL, effect = has_effect(api, i);
    if (!effect && !says_none) return sb_case_fail(c, "\"%s\" changes nothing at its ends, its middle and half its default, alone or with another parameter", p->name);
    if (effect && says_none) return sb_case_fail(c, "\"%s\" says that it has no effect on micro-scenes, and has one", p->name);
  }
  return true;
}

/* An upper end that counts something, such as substeps, multiplies the work: there, the ticks in which all micro-scenes touch are enough. */
static uint32_t ticks_at_end(const sb_param_desc *p, const sb_micro_scene *scene, int end)
{
  return end && p->type == SB_PARAM_INT ? scene->ticks / 3 : scene->ticks;
}

bool case_param_limits(sb_case_context *c, const sb_solver_api *api)
{
  for (uint32_t i = 0; i < api->desc->param_count; i++)
    for (int end = 0; end < 2; end++)
      for (size_t s = 0; s < sb_micro_scene_count; s++) {
        const sb_param_desc *p = &api->desc->params[i];
        double value = end ? p->maximum : p->minimum, params[SB_CASE_MAX_PARAMS];
        sb_code code;
        if (!sb_case_fits(api, &sb_micro_scenes[s])) continue;
        fill_defaults(api, params);
        params[i] = value;
        hash_with(api, &sb_micro_scenes[s], false, ticks_at_end(p, &sb_micro_scenes[s], end), params, &code);
        if (code == SB_CODE_SOLVER_REFUSED || code == SB_CODE_SOLVER_FAILED || code == SB_CODE_MODE_FP_ENVIRONMENT)
          return sb_case_fail(c, "%s = %g on micro-scene %s: %s", p->name, value, sb_micro_scenes[s].name, sb_code_title(code));
      }
  return true;
}

/* ---- hostile state ---- */

/* Every number of one kind becomes `value`, one body after the other. The solver may fail; it may not crash or hang. */
static bool survives(const sb_solver_api *api, float value)
{
  for (size_t i = 0; i < sb_micro_scene_count; i++) {
    if (!sb_case_fits(api, &sb_micro_scenes[i])) continue;
    for (uint32_t k = 0; k < 13; k += 3) {
      sb_case_run r;
      bool ok = sb_case_open(&r, api, sb_micro_scenes[i].name, NULL, SB_MODE_OFF) && sb_case_step(&r, 2);
      uint32_t bodies = ok ? sb_model_store_view(r.model)->body_count : 0;
      for (uint32_t b = 0; b < bodies; b++) {
        sb_state *s = sb_sim_state(r.sim);
        float *number = k < 7 ? &s->body_q[7 * (size_t)b + k] : &s->body_qd[6 * (size_t)b + k - 7];
        *number = value;
      }
      uint32_t particles = ok && k < 6 ? sb_model_store_view(r.model)->particle_count : 0;
      for (uint32_t p = 0; p < particles; p++) {
        sb_state *s = sb_sim_state(r.sim);
        (k < 3 ? s->particle_q : s->particle_qd)[3 * (size_t)p + k % 2] = value;
      }
      if (ok) sb_case_step(&r, 4);
      sb_case_close(&r);
    }
  }
  return true;
}

bool case_hostile_nan(sb_case_context *c, const sb_solver_api *api)
{
  (void)c;
  return survives(api, NAN);
}

bool case_hostile_huge(sb_case_context *c, const sb_solver_api *api)
{
  (void)c;
  return survives(api, 3e38f) && survives(api, INFINITY);
}
