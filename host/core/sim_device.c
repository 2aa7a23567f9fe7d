/* Arrays with a copy on a device: who has the truth, and when it moves. Arrays of particles stay where the last solver left them; all
 * others are back on the host between solvers, where the collision pipeline and the sensors read them, unless the one solver takes its contacts
 * on the device and nobody on the host has a part in the tick: then all of them stay there. And where the collision pipeline runs. */
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

sb_status sb_sim_hand_over(sb_sim *sim, sim_part *part, sb_diagnostics *diag)
{
  sb_status status = SB_OK;
  for (size_t i = 0; sim->device && !status && i < sim->registry.count; i++) {
    sb_array *a = &sim->registry.arrays[i];
    if (!a->on_device) continue;
    if (!has_there(part, i) && !sim->resident) {
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
    else if (!part->takes_contacts)
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
  sim->contacts_wanted = config->events || config->disturb;
  setup.particles = sb_collision_meets_particles(sim->collision);
  setup.particle_contact_capacity = u.particle_contact_capacity;
  if (sb_collision_has_near_pairs(sim->collision))
    snprintf(lacks, sizeof lacks, "it has no particles that touch each other there");
  else if (config->ccd_body_count)
    snprintf(lacks, sizeof lacks, "it has no swept contacts there");
  else
    status = sim->device->open_collision(sim->device_scope, &setup, lacks, diag);
  sim->collides_there = !status;
  sim->particles_there = !status && setup.particles;
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

const sb_device_contacts *sb_sim_share_contacts(sim_part *part)
{
  sb_sim *sim = part->sim;
  if (!part->device || !sim->collides_there || sim->part_count > 1 || sim->contacts_wanted) return NULL;
  const sb_device_contacts *shared = sim->device->share_contacts(sim->device_scope, part->device);
  part->takes_contacts = part->takes_contacts || shared;
  return shared;
}

sb_status sb_sim_settle_device(sb_sim *sim, sb_diagnostics *diag)
{
  sim_part *part = &sim->parts[0];
  if (!sim->part_count || !part->takes_contacts) return SB_OK;
  sim->contacts_stay = true;
  sb_status status = part->match ? sim->device->open_cache(sim->device_scope, part->name, diag) : SB_OK;
  /* what the host would do with state in a tick */
  sim->resident = !sim->sensor_data && !sim->tendon_count && !sim->gear_count && !sim->pin_count && !sim->model->actuator_count;
  for (size_t i = 0; sim->resident && !status && i < sim->registry.count; i++) {
    sb_array *a = &sim->registry.arrays[i];
    if (a->lane_block != 1) continue;
    status = sim->device->make_copy(sim->device_scope, i, diag);
    a->stays_there = !status;
  }
  return status;
}

/* The arrays of contact_cache.c: to the device where the host has written them, and then the truth is there. */
static sb_status match_there(sb_sim *sim, sim_part *part, sb_diagnostics *diag)
{
  const uint32_t *const own[] = {part->contact_count, part->contact_key, (const uint32_t *)(const void *)part->contact_point};
  const uint32_t *old_start = NULL;
  sb_status status = SB_OK;
  for (size_t i = 0; !status && i < sim->registry.count; i++) {
    sb_array *a = &sim->registry.arrays[i];
    if (a->data != own[0] && a->data != own[1] && a->data != own[2]) continue;
    if (a->stale_on_device) {
      old_start = part->contact_start;
      status = sim->device->upload(sim->device_scope, i, diag);
    }
    a->stale_on_device = false;
    a->stale_on_host = true;
  }
  return status ? status : sim->device->match_contacts(sim->device_scope, old_start, diag);
}

static sb_status fetch_contacts(sb_sim *sim, sb_diagnostics *diag)
{
  sb_contact_room room = sb_collision_room(sim->collision);
  sb_particle_contact_room touches = sb_collision_particle_room(sim->collision);
  sim->contacts_stale = false;
  sb_status status = sim->device->read_contacts(sim->device_scope, sim->contacts_kept, &room, diag);
  if (status || !sim->particles_there) return status;
  status = sim->device->read_particle_contacts(sim->device_scope, sb_collision_particle_contacts(sim->collision)->count, &touches, diag);
  if (!status) sb_collision_index_particles(sim->collision);
  return status;
}

sb_status sb_sim_count_contacts(sb_sim *sim, sb_diagnostics *diag)
{
  sb_device_contact_counts counts = {0};
  sb_status status = sim->device->count_contacts(sim->device_scope, &counts, diag);
  sim->contacts_kept = counts.kept;
  if (status) return status;
  status = sb_collision_take(sim->collision, counts.pairs, counts.contacts, counts.kept, counts.deepest);
  if (!sim->particles_there || (status && sim->mode > SB_MODE_OFF)) return status;
  sb_status of_particles = sb_collision_take_particles(sim->collision, counts.particle_contacts, counts.particle_kept);
  return status ? status : of_particles;
}

sb_status sb_sim_collide_there(sb_sim *sim, sb_diagnostics *diag)
{
  sim_part *part = &sim->parts[0];
  sb_status status = push_array(sim, sim->state.body_q, diag);
  if (!status) status = push_array(sim, sim->state.body_qd, diag);
  if (!status && sim->particles_there) status = push_array(sim, sim->state.particle_q, diag);
  if (!status && sim->particles_there) status = push_array(sim, sim->state.particle_qd, diag);
  if (!status) status = sim->device->collide(sim->device_scope, diag);
  if (!status && sim->contacts_stay && part->match) status = match_there(sim, part, diag);
  sim->contacts_stale = true;
  if (status || sim->contacts_stay) return status;
  sb_status counted = sb_sim_count_contacts(sim, diag);
  if (counted && counted != SB_E_CAPACITY) return counted;
  status = fetch_contacts(sim, diag);
  return status ? status : counted;
}

const sb_contacts *sb_sim_contacts(const sb_sim *sim)
{
  /* the host's copy is scratch of the simulation, as in pull() */
  if (sim->contacts_stale && fetch_contacts((sb_sim *)sim, NULL)) sb_collision_take(sim->collision, 0, 0, 0, 0.0f);
  return sb_collision_contacts(sim->collision);
}

const sb_particle_contacts *sb_sim_particle_contacts(const sb_sim *sim)
{
  sb_sim_contacts(sim); /* both come together */
  return sb_collision_particle_contacts(sim->collision);
}

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
