/* Arrays with a copy on a device: who has the truth, and when it moves. Arrays of particles stay where the last solver left them; all
 * others are back on the host between solvers, where the collision pipeline and the sensors read them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_internal.h"

sb_status sb_sim_open_device(sb_sim *sim, const sb_sim_config *config, sb_diagnostics *diag)
{
  bool wanted = false;
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

sb_status sb_sim_hand_over(sb_sim *sim, sim_part *part, sb_diagnostics *diag)
{
  sb_status status = SB_OK;
  for (size_t i = 0; sim->device && !status && i < sim->registry.count; i++) {
    sb_array *a = &sim->registry.arrays[i];
    if (!a->on_device) continue;
    if (!has_there(part, i)) {
      status = pull(sim, i, diag);
    } else if (a->stale_on_device) {
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
    else
      a->stale_on_device = true;
  }
}

/* ---- collision ---- */

sb_status sb_sim_place_collision(sb_sim *sim, const sb_sim_config *config, sb_diagnostics *diag)
{
  char lacks[160] = "";
  sb_collision_usage u = sb_collision_get_usage(sim->collision);
  sb_device_collision_setup setup = {.model = sim->model, .speculative_margin = config->speculative_margin, .dt = sim->dt, .pair_capacity = u.pair_capacity,
                                     .contact_capacity = u.contact_capacity, .truncate = sim->mode == SB_MODE_OFF};
  sb_status status = SB_E_UNSUPPORTED;
  if (!sim->device) return SB_OK;
  if (sb_collision_meets_particles(sim->collision))
    snprintf(lacks, sizeof lacks, "it has no particles there");
  else if (config->ccd_body_count)
    snprintf(lacks, sizeof lacks, "it has no swept contacts there");
  else
    status = sim->device->open_collision(sim->device_scope, &setup, lacks, diag);
  sim->collides_there = !status;
  if (status != SB_E_UNSUPPORTED) return status;
  if (lacks[0]) sb_report(diag, SB_NOTE, SB_CODE_VULKAN_COLLISION, "collision", "the collision pipeline runs on the CPU: %s", lacks);
  return SB_OK;
}

/* The device's copy of a state array, up to date. */
static sb_status push_array(sb_sim *sim, const float *data, sb_diagnostics *diag)
{
  for (size_t i = 0; i < sim->registry.count; i++) {
    sb_array *a = &sim->registry.arrays[i];
    if ((const void *)a->data != (const void *)data || !a->stale_on_device) continue;
    sb_status status = sim->device->upload(sim->device_scope, i, diag);
    if (status) return status;
    a->stale_on_device = false;
  }
  return SB_OK;
}

sb_status sb_sim_collide_there(sb_sim *sim, sb_diagnostics *diag)
{
  sb_device_contact_counts counts = {0};
  sb_contact_room room = sb_collision_room(sim->collision);
  sb_status status = push_array(sim, sim->state.body_q, diag);
  if (!status) status = push_array(sim, sim->state.body_qd, diag);
  if (!status) status = sim->device->collide(sim->device_scope, diag);
  if (!status) status = sim->device->count_contacts(sim->device_scope, &counts, diag);
  if (!status) status = sim->device->read_contacts(sim->device_scope, counts.kept, &room, diag);
  return status ? status : sb_collision_take(sim->collision, counts.pairs, counts.contacts, counts.kept, counts.deepest);
}

/* ---- hash ---- */

#define HASHED_AT_ONCE 16

sb_status sb_sim_hash_device(const sb_sim *sim, bool *bad, sb_diagnostics *diag)
{
  if (!sim->device) return SB_OK;
  size_t arrays[HASHED_AT_ONCE], count = 0;
  uint32_t worlds = sim->model->world_count;
  sb_status status = SB_OK;
  memset(sim->device_sums, 0, worlds * sizeof *sim->device_sums);
  for (size_t i = 0; !status && i < sim->registry.count; i++) {
    if (sim->registry.arrays[i].stale_on_host) arrays[count++] = i;
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
