/* Runs the micro-scenes under perturbations and compares. */
#include "verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "behaviour.h"
#include "micro_scenes.h"
#include "state_hash.h"

static const char *first_message(const sb_diagnostics *diag) { return sb_diagnostics_reason(diag, "no reason given"); }

/* Two runs of one scene: plain, and with everything turned that must not matter. `once`: the second is shown to be the
 * same already. */
static sb_status run_twice(const sb_micro_scene *scene, const sb_solver_api *api, uint32_t backend, uint32_t lanes,
                           bool once, uint64_t hash[2], sb_verdict *verdict)
{
  sb_diagnostics diag = {0};
  sb_status status = sb_micro_scene_hash(scene, api, backend, 1, lanes, 0, &hash[0], &diag);
  hash[1] = hash[0];
  if (!status && !once) status = sb_micro_scene_hash(scene, api, backend, 2, 1, 0x5eed, &hash[1], &diag);
  if (status && status != SB_E_UNSUPPORTED)
    snprintf(verdict->reason, sizeof verdict->reason, "micro-scene %s failed: %.180s", scene->name, first_message(&diag));
  sb_diagnostics_clear(&diag);
  return status;
}

static const sb_golden *find_golden(const sb_solver_desc *desc, const char *scene, uint32_t backend)
{
  for (uint32_t i = 0; i < desc->golden_count; i++)
    if (desc->goldens[i].backend == backend && !strcmp(desc->goldens[i].scene, scene)) return &desc->goldens[i];
  return NULL;
}

static void verify_goldens(const sb_solver_api *api, uint32_t backend, uint32_t lanes, bool once, sb_verdict *verdict)
{
  *verdict = (sb_verdict){.mode = SB_MODE_OFF};
  if (api->desc->mode[backend] == SB_MODE_OFF) {
    snprintf(verdict->reason, sizeof verdict->reason, "declares Off: %.200s", api->desc->mode_reason[backend]);
    return;
  }
  uint32_t ran = 0, matched = 0;
  const char *missing = NULL; /* the first scene without a golden hash */
  for (size_t i = 0; i < sb_micro_scene_count; i++) {
    const sb_micro_scene *scene = &sb_micro_scenes[i];
    uint64_t hash[2];
    sb_status status = run_twice(scene, api, backend, lanes, once, hash, verdict);
    if (status == SB_E_UNSUPPORTED) continue;
    if (status) return;
    ran++;
    if (hash[0] != hash[1]) {
      snprintf(verdict->reason, sizeof verdict->reason,
               "micro-scene %s: %016" PRIx64 " with 1 thread and %u lanes, %016" PRIx64 " with 2 threads, 1 lane and shuffled tasks",
               scene->name, hash[0], lanes, hash[1]);
      return;
    }
    const sb_golden *golden = find_golden(api->desc, scene->name, backend);
    if (golden && golden->hash == hash[0]) matched++;
    if (!golden && !missing) missing = scene->name;
    if (golden && golden->hash != hash[0] && !verdict->reason[0])
      snprintf(verdict->reason, sizeof verdict->reason,
               "micro-scene %s gives %016" PRIx64 ", its golden hash is %016" PRIx64
               "; after a change on purpose `samebit plugins goldens FILE` prints the new ones",
               scene->name, hash[0], golden->hash);
  }
  if (ran == 0) {
    snprintf(verdict->reason, sizeof verdict->reason, "it can run none of the host's micro-scenes, so nothing was checked");
    return;
  }
  verdict->mode = matched == ran ? SB_MODE_CROSS_PLATFORM : SB_MODE_RUN_TO_RUN;
  if (matched == ran)
    snprintf(verdict->reason, sizeof verdict->reason, "%u golden hashes matched, threads, lanes and task order varied", ran);
  else if (!verdict->reason[0])
    snprintf(verdict->reason, sizeof verdict->reason,
             "micro-scene %s has no golden hash (%u of %u have none); `samebit plugins goldens FILE` prints them",
             missing, ran - matched, ran);
}

void sb_verify_solver(const sb_solver_api *api, uint32_t backend, uint32_t lanes, sb_verdict *verdict)
{
  verify_goldens(api, backend, lanes, false, verdict);
}

/* The device, not the solver, has failed. */
static bool is_device_failure(const sb_diagnostics *diag)
{
  for (size_t i = 0; i < diag->count; i++) {
    sb_code code = diag->items[i].code;
    if (code == SB_CODE_VULKAN_CALL || code == SB_CODE_VULKAN_MEMORY || code == SB_CODE_MEMORY) return true;
  }
  return false;
}

static sb_status hand_on(sb_diagnostics *diag, sb_diagnostics *problems, sb_status status)
{
  for (size_t k = 0; k < diag->count; k++) sb_report(problems, diag->items[k].severity, diag->items[k].code, diag->items[k].where, "%s", diag->items[k].message);
  sb_diagnostics_clear(diag);
  return status;
}

sb_status sb_verify_on_device(const sb_solver_api *api, const struct sb_device *device, sb_verdict *verdict, sb_diagnostics *problems)
{
  uint32_t ran = 0, matched = 0;
  *verdict = (sb_verdict){.mode = SB_MODE_OFF};
  if (api->desc->mode[SB_BACKEND_VULKAN] == SB_MODE_OFF) {
    snprintf(verdict->reason, sizeof verdict->reason, "declares Off: %.200s", api->desc->mode_reason[SB_BACKEND_VULKAN]);
    return SB_OK;
  }
  for (size_t i = 0; i < sb_micro_scene_count; i++) {
    const sb_micro_scene *scene = &sb_micro_scenes[i];
    sb_diagnostics diag = {0};
    uint64_t hash;
    sb_status status = sb_micro_scene_hash_on(scene, api, device, SB_MODE_CROSS_PLATFORM, &hash, &diag);
    if (status && is_device_failure(&diag)) return hand_on(&diag, problems, status);
    if (status && status != SB_E_UNSUPPORTED)
      snprintf(verdict->reason, sizeof verdict->reason, "%s: %.230s", scene->name, first_message(&diag));
    sb_diagnostics_clear(&diag);
    if (status == SB_E_UNSUPPORTED) continue;
    if (status) return SB_OK;
    ran++;
    const sb_golden *golden = find_golden(api->desc, scene->name, SB_BACKEND_VULKAN);
    if (!golden) golden = find_golden(api->desc, scene->name, SB_BACKEND_CPU);
    if (golden && golden->hash == hash) matched++;
    if (golden && golden->hash != hash && !verdict->reason[0])
      snprintf(verdict->reason, sizeof verdict->reason, "micro-scene %s gives %016" PRIx64 " on the device, its golden hash is %016" PRIx64, scene->name, hash,
               golden->hash);
  }
  verdict->mode = ran == 0 ? SB_MODE_OFF : matched == ran ? SB_MODE_CROSS_PLATFORM : SB_MODE_RUN_TO_RUN;
  if (ran == 0)
    snprintf(verdict->reason, sizeof verdict->reason, "it can run none of the host's micro-scenes on the device, so nothing was checked");
  else if (matched == ran)
    snprintf(verdict->reason, sizeof verdict->reason, "%u golden hashes of the CPU matched on the device", ran);
  else if (!verdict->reason[0])
    snprintf(verdict->reason, sizeof verdict->reason, "%u of %u micro-scenes have no golden hash", ran - matched, ran);
  return SB_OK;
}

static void say_at(const sb_verify_watch *watch, const sb_solver_api *api, const char *scene, const char *check)
{
  if (watch->at) watch->at(watch->context, api->desc->id, scene, check);
}

/* One check of behaviour on one scene; the verdict is lowered when it fails. */
static bool run_check(sb_subject *s, const sb_behaviour_check *check, const sb_verify_watch *watch, sb_verdict *verdict)
{
  say_at(watch, s->api, s->scene, check->name);
  s->text[0] = 0;
  s->stopped = false;
  bool passed = check->run(s);
  if (passed) return true;
  verdict->mode = SB_MODE_OFF;
  verdict->harmful = s->overran;
  snprintf(verdict->reason, sizeof verdict->reason, "micro-scene %s, check %s: %.240s%s%.140s", s->scene, check->name,
           s->text, s->stopped ? "" : "; ",
           s->stopped ? "" : check->fix); /* a run that stopped says itself what to do */
  return false;
}

static bool fits(const sb_solver_api *api, const sb_micro_scene *scene) { return (api->desc->handles & scene->handles) == scene->handles; }

#define MAX_SCENES 16

/* The solver on each micro-scene that it handles; one without memory for its model has none. */
static size_t open_subjects(const sb_solver_api *api, const sb_verify_watch *watch, sb_subject subjects[MAX_SCENES])
{
  size_t count = 0;
  for (size_t i = 0; i < sb_micro_scene_count && count < MAX_SCENES; i++) {
    const sb_micro_scene *scene = &sb_micro_scenes[i];
    if (!fits(api, scene)) continue;
    subjects[count++] = (sb_subject){.scene = scene->name,
                                     .api = api,
                                     .one = sb_micro_scene_model(scene->name),
                                     .more = sb_micro_scene_model_with_more(scene, api),
                                     .ticks = scene->ticks,
                                     .brief = true,
                                     .memory = watch->memory,
                                     .complaint = watch->complaint};
  }
  return count;
}

static void close_subjects(sb_subject *subjects, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    sb_model_store_free((sb_model_store *)subjects[i].one);
    sb_model_store_free((sb_model_store *)subjects[i].more);
  }
}

/* Every check on every scene; bounds first, which names writes beside arrays before they do harm. */
static bool check_subjects(sb_subject *subjects, size_t count, const sb_verify_watch *watch, sb_verdict *verdict)
{
  for (size_t i = 0; i < count; i++)
    if (!subjects[i].one) {
      snprintf(verdict->reason, sizeof verdict->reason, "no memory for micro-scene %s", subjects[i].scene);
      return false;
    }
  for (size_t i = 0; i < count; i++)
    if (!run_check(&subjects[i], &sb_behaviour_checks[0], watch, verdict)) return false;
  for (size_t i = 0; i < count; i++)
    for (size_t c = 1; c < sb_behaviour_check_count; c++)
      if (!run_check(&subjects[i], &sb_behaviour_checks[c], watch, verdict)) return false;
  return true;
}

void sb_verify_deeply(const sb_solver_api *api, uint32_t backend, const sb_verify_watch *watch, sb_verdict *verdict)
{
  *verdict = (sb_verdict){.mode = SB_MODE_OFF};
  if (backend != SB_BACKEND_CPU || api->desc->mode[backend] == SB_MODE_OFF) {
    sb_verify_solver(api, backend, sb_cpu_lanes(), verdict);
    return;
  }
  sb_subject subjects[MAX_SCENES];
  size_t count = open_subjects(api, watch, subjects);
  bool ok = check_subjects(subjects, count, watch, verdict);
  close_subjects(subjects, count);
  if (!ok) return;
  say_at(watch, api, "each", "golden");
  verify_goldens(api, backend, sb_cpu_lanes(), true, verdict);
  if (verdict->mode != SB_MODE_CROSS_PLATFORM) return;
  snprintf(verdict->reason, sizeof verdict->reason, "golden hashes matched; bounds kept; threads, lanes, task order, memory, worlds, restores and %zu more varied",
           sb_behaviour_check_count - 7);
}

/* One of the host's own parts: what it gives, plain and with everything turned that must not matter, against its golden hash. */
typedef sb_status (*own_hash)(uint32_t lanes, uint32_t threads, uint64_t shuffle, uint64_t *hash, sb_diagnostics *diag);

static void verify_own(own_hash run, const char *what, uint64_t golden, uint32_t lanes, sb_verdict *verdict)
{
  *verdict = (sb_verdict){.mode = SB_MODE_OFF};
  uint64_t a = 0, b = 0;
  sb_diagnostics diag = {0};
  sb_status status = run(lanes, 1, 0, &a, &diag);
  if (!status) status = run(1, 2, 0x5eed, &b, &diag);
  if (status) {
    snprintf(verdict->reason, sizeof verdict->reason, "micro-scene failed: %.200s", first_message(&diag));
  } else if (a != b) {
    snprintf(verdict->reason, sizeof verdict->reason,
             "%s: %016" PRIx64 " with 1 thread and %u lanes, %016" PRIx64 " with 2 threads, 1 lane and shuffled tasks", what, a, lanes, b);
  } else if (a != golden) {
    verdict->mode = SB_MODE_RUN_TO_RUN;
    snprintf(verdict->reason, sizeof verdict->reason, "%s hash to %016" PRIx64 ", the golden hash is %016" PRIx64, what, a, golden);
  } else {
    verdict->mode = SB_MODE_CROSS_PLATFORM;
    snprintf(verdict->reason, sizeof verdict->reason, "golden %s matched, threads, lanes and task order varied", what);
  }
  sb_diagnostics_clear(&diag);
}

void sb_verify_collision(uint64_t golden, uint32_t lanes, sb_verdict *verdict)
{
  verify_own(sb_micro_scene_contacts, "contacts", golden, lanes, verdict);
}

sb_status sb_verify_collision_on_device(uint64_t golden, const struct sb_device *device, sb_verdict *verdict, sb_diagnostics *problems)
{
  sb_diagnostics diag = {0};
  uint64_t hash = 0;
  if (verdict->mode != SB_MODE_CROSS_PLATFORM) return SB_OK;
  sb_status status = sb_micro_scene_contacts_on(device, &hash, &diag);
  if (status && is_device_failure(&diag)) return hand_on(&diag, problems, status);
  if (status == SB_E_UNSUPPORTED) {
    sb_diagnostics_clear(&diag); /* the CPU's verdict stands */
    return SB_OK;
  }
  if (status) {
    verdict->mode = SB_MODE_OFF;
    snprintf(verdict->reason, sizeof verdict->reason, "micro-scene failed on the device: %.200s", first_message(&diag));
  } else if (hash != golden) {
    verdict->mode = SB_MODE_RUN_TO_RUN;
    snprintf(verdict->reason, sizeof verdict->reason, "contacts hash to %016" PRIx64 " on the device, the golden hash is %016" PRIx64, hash, golden);
  } else {
    snprintf(verdict->reason, sizeof verdict->reason, "golden contacts matched here and on the device, threads, lanes and task order varied");
  }
  sb_diagnostics_clear(&diag);
  return SB_OK;
}

void sb_verify_sensors(uint64_t golden, uint32_t lanes, sb_verdict *verdict)
{
  verify_own(sb_micro_scene_sensors, "sensors", golden, lanes, verdict);
}
