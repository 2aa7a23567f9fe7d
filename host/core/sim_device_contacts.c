/* Collision on a device: whether it can run there, what of its contacts stays there, and what comes back for whom. Which copy of an array is the truth
 * is the matter of sim_device.c. */
#include <stdio.h>

#include "near_plan.h"
#include "sim_internal.h"

sb_status sb_sim_place_collision(sb_sim *sim, const sb_sim_config *config, sb_diagnostics *diag)
{
  char lacks[160] = "";
  sb_collision_usage u = sb_collision_get_usage(sim->collision);
  sb_device_collision_setup setup = {.model = sim->model, .speculative_margin = config->speculative_margin, .dt = sim->dt, .pair_capacity = u.pair_capacity,
                                     .contact_capacity = u.contact_capacity, .triangle_capacity = u.triangle_capacity, .truncate = sim->mode == SB_MODE_OFF};
  sb_status status = SB_E_UNSUPPORTED;
  if (!sim->device) return SB_OK;
  sim->contacts_wanted = config->events || config->disturb;
  setup.particles = sb_collision_meets_particles(sim->collision);
  setup.particle_contact_capacity = u.particle_contact_capacity;
  const sb_near_plan near = sb_collision_near_plan(sim->collision);
  if (sb_collision_has_near_pairs(sim->collision)) setup.near = &near;
  if (config->ccd_body_count)
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
  if (!part->device || !sim->collides_there || sim->part_count > 1 || sim->contacts_wanted || sb_collision_has_near_pairs(sim->collision)) return NULL;
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
  if (status || !sb_collision_has_near_pairs(sim->collision)) return status;
  sb_near_pair_room pairs = sb_collision_near_room(sim->collision);
  return sim->device->read_near_pairs(sim->device_scope, sb_collision_near_pairs(sim->collision)->count, &pairs, diag);
}

sb_status sb_sim_count_contacts(sb_sim *sim, sb_diagnostics *diag)
{
  sb_device_contact_counts counts = {0};
  sb_status status = sim->device->count_contacts(sim->device_scope, &counts, diag);
  sim->contacts_kept = counts.kept;
  if (status) return status;
  if (counts.triangles == UINT32_MAX) {
    (void)sb_report(diag, SB_ERROR, SB_CODE_CAPACITY_COLLISION, "collision",
                    "tick %llu: something comes near more of a heightfield than a device looks at; use smaller or slower bodies and particles, a smaller speculative_margin, or backend = cpu",
                    (unsigned long long)sim->tick);
    return SB_E_UNSUPPORTED;
  }
  status = sb_collision_take(sim->collision, counts.pairs, counts.contacts, counts.kept, counts.deepest);
  if (sb_collision_take_triangles(sim->collision, counts.triangles)) status = SB_E_CAPACITY;
  if (!sim->particles_there || (status && sim->mode > SB_MODE_OFF)) return status;
  sb_status of_particles = sb_collision_take_particles(sim->collision, counts.particle_contacts, counts.particle_kept);
  if (status || of_particles) status = status ? status : of_particles;
  if (status && sim->mode > SB_MODE_OFF) return status;
  sb_status of_pairs = sb_collision_take_near(sim->collision, counts.near_pairs, counts.near_kept);
  return status ? status : of_pairs;
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

bool sb_sim_collides_on_device(const sb_sim *sim) { return sim->collides_there; }

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
