/* Arrays with a copy on a device: who has the truth, and when it moves. Arrays of particles stay where the last solver left them; all
 * others are back on the host between solvers, where the collision pipeline and the sensors read them, unless the one solver takes its contacts
 * on the device and nobody on the host has a part in the tick: then all of them stay there. */
#include <stdlib.h>
#include <string.h>

#include "sim_internal.h"

sb_status sb_sim_open_device(sb_sim *sim, const sb_sim_config *config, sb_diagnostics *diag)
{
  bool wanted = config->part_count == 0; /* the collision pipeline alone */
  for (uint32_t p = 0; p < config->part_count; p++) wanted = wanted || config->parts[p].backend == SB_BACKEND_VULKAN;
  if (!wanted || !config->device) return SB_OK;
  sim->device_sums = calloc((size_t)sim->model->world_count + 1, sizeof *sim->device_sums);
  if (!sim->device_sums) return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, "simulation", "no memory for hashes");
  sb_status status = config->device->open(config->device->context, &sim->registry, &sim->device_scope, diag);
  if (!status) sim->device = config->device;
  return status;
}

void sb_sim_close_device(sb_sim *sim)
{
  if (sim->device) sim->device->close(sim->device_scope);
  free(sim->device_sums);
}

sb_status sb_sim_give_device(sb_sim *sim, sim_part *part, sb_diagnostics *diag)
{
  if (!sim->device)
    return sb_report(diag, SB_ERROR, SB_CODE_VULKAN_DEVICE, part->name, "the backend vulkan needs a device, and this program has opened none");
  return sim->device->add_part(sim->device_scope, part->name, part->mode, &part->device, diag);
}

const void *sb_this_thread(void)
{
  static _Thread_local char here;
  return &here;
}

void sb_sim_enter_device(const sim_part *part, bool step)
{
  if (!part->device) return;
  part->device->stepping = step;
  part->device->caller = sb_this_thread();
}

void sb_sim_leave_device(const sim_part *part)
{
  if (part->device) part->device->caller = NULL;
}

sb_status sb_sim_device_failure(const sb_sim *sim, const sim_part *part, sb_status status, const char *when, const char *text, sb_diagnostics *diag)
{
  if (!status || !part->device) return SB_OK;
  if (sim->device->lost(sim->device_scope))
    return sb_report(diag, SB_ERROR, SB_CODE_VULKAN_CALL, part->name, "%s: the device was lost, and what was there with it: %s", when, text);
  return status == SB_E_MEMORY ? sb_report(diag, SB_ERROR, SB_CODE_VULKAN_MEMORY, part->name, "%s: %s", when, text) : SB_OK;
}

static bool is_particles(const sb_array *a) { return a->domain == SB_DOMAIN_PARTICLE; }

/* The host's copies are scratch of the simulation, so bringing one up to date changes no state. */
static sb_status pull(const sb_sim *sim, size_t i, sb_diagnostics *diag)
{
  sb_array *a = &sim->registry.arrays[i];
  if (!a->stale_on_host) return SB_OK;
  sb_status status = sim->device->download(sim->device_scope, i, diag);
  if (!status) a->stale_on_host = false;
  /* arrays over contacts come after their counts, which say how many there are */
  for (uint32_t p = 0; !status && p < sim->part_count; p++)
    if (sim->parts[p].contact_count == a->data && a->data) sb_contact_cache_refresh(&sim->parts[p]);
  return status;
}

sb_status sb_sim_pull(const sb_sim *sim, bool particles, sb_diagnostics *diag)
{
  sb_status status = SB_OK;
  for (size_t i = 0; sim->device && !status && i < sim->registry.count; i++)
    if (particles || !is_particles(&sim->registry.arrays[i])) status = pull(sim, i, diag);
  return status;
}

sb_status sb_sim_fetch(const sb_sim *sim, sb_diagnostics *diag) { return sb_sim_pull(sim, true, diag); }

void sb_sim_claim(sb_sim *sim, bool particles)
{
  for (size_t i = 0; sim->device && i < sim->registry.count; i++) {
    sb_array *a = &sim->registry.arrays[i];
    if (!a->on_device || (is_particles(a) && !particles)) continue;
    a->stale_on_host = false;
    a->stale_on_device = true;
  }
}

/* Whether the part reads and writes an array on the device. */
static bool has_there(const sim_part *part, size_t array)
{
  for (size_t k = 0; part->device && k < part->device->array_count; k++)
    if (part->device->arrays[k] == array) return true;
  return false;
}

/* Where there are several parts, each looks on the host for where others have left their bodies. */
static bool is_looked_at(const sb_sim *sim, const sb_array *a)
{
  return sim->part_count > 1 && (a->data == (void *)sim->state.body_q || a->data == (void *)sim->state.body_qd);
}

sb_status sb_sim_hand_over(sb_sim *sim, sim_part *part, sb_diagnostics *diag)
{
  sb_status status = SB_OK;
  for (size_t i = 0; sim->device && !status && i < sim->registry.count; i++) {
    sb_array *a = &sim->registry.arrays[i];
    if (!a->on_device) continue;
    bool there = has_there(part, i);
    if ((!there || is_looked_at(sim, a)) && !sim->resident) status = pull(sim, i, diag);
    if (!status && (there || sim->resident) && a->stale_on_device) {
      status = sim->device->upload(sim->device_scope, i, diag);
      if (!status) a->stale_on_device = false;
    }
  }
  return status;
}

void sb_sim_take_back(sb_sim *sim, const sim_part *part)
{
  for (size_t i = 0; sim->device && i < sim->registry.count; i++) {
    sb_array *a = &sim->registry.arrays[i];
    if (!a->on_device) continue;
    if (has_there(part, i))
      a->stale_on_host = true;
    else if (!part->takes_contacts)
      a->stale_on_device = true;
  }
}

/* ---- what nobody on the host has a part in ---- */

bool sb_sim_is_touched(const sb_sim *sim)
{
  bool touched = false;
  for (size_t i = 0; i < sim->registry.count; i++) touched = touched || sim->registry.arrays[i].stale_on_device;
  return touched;
}

sb_status sb_sim_clear_forces(sb_sim *sim, bool touched, sb_diagnostics *diag)
{
  sb_status status = SB_OK;
  if (sim->model->body_count && (touched || !sim->resident)) memset(sim->state.body_f, 0, (size_t)sim->model->body_count * 6 * sizeof(float));
  for (size_t i = 0; sim->resident && !status && i < sim->registry.count; i++) {
    sb_array *a = &sim->registry.arrays[i];
    if ((const void *)a->data != (const void *)sim->state.body_f) continue;
    if (touched) status = sim->device->clear(sim->device_scope, i, diag);
    a->stale_on_host = a->stale_on_device = false;
  }
  return status;
}

/* ---- hash ---- */

#define HASHED_AT_ONCE 64

sb_status sb_sim_hash_device(const sb_sim *sim, bool *bad, sb_diagnostics *diag)
{
  if (!sim->device) return SB_OK;
  size_t arrays[HASHED_AT_ONCE], count = 0;
  uint32_t worlds = sim->model->world_count;
  sb_status status = SB_OK;
  memset(sim->device_sums, 0, worlds * sizeof *sim->device_sums);
  for (size_t i = 0; !status && i < sim->registry.count; i++) {
    if (sb_array_hashed_there(&sim->registry.arrays[i])) arrays[count++] = i;
    if (count < HASHED_AT_ONCE && (i + 1 < sim->registry.count || count == 0)) continue;
    status = sim->device->hash(sim->device_scope, arrays, count, sim->device_sums, bad, diag);
    count = 0;
  }
  for (uint32_t w = 0; w < worlds; w++) {
    atomic_fetch_add(&sim->hash_sums[w].a, sim->device_sums[w].a);
    atomic_fetch_add(&sim->hash_sums[w].b, sim->device_sums[w].b);
  }
  return status;
}
