/* What each of several solvers sees of the contacts: its own bodies and particles, the world, and one way the bodies of earlier solvers. */
#include <stdlib.h>
#include <string.h>

#include "sim_internal.h"

/* Arrays of one list, laid out in a row: first without memory for their size, then in it. */
static char *place(char **at, size_t *used, size_t bytes)
{
  *used = (*used + 15) / 16 * 16;
  char *here = *at ? *at + *used : NULL;
  *used += bytes;
  return here;
}

static size_t place_lists(sb_sim *sim, char *memory)
{
  const sb_model *m = sim->model;
  sb_collision_usage u = sb_collision_get_usage(sim->collision);
  size_t used = 0;
  sim->seen = (sb_contacts){.struct_size = sizeof sim->seen, .capacity = u.contact_capacity};
  sim->seen_particles = (sb_particle_contacts){.struct_size = sizeof sim->seen_particles, .capacity = u.particle_contact_capacity};
  sim->seen_pairs = (sb_near_pairs){.struct_size = sizeof sim->seen_pairs, .capacity = u.near_pair_capacity};
#define SB_X_PLACE(list, cap, type, name, comps) sim->list.name = (type *)(void *)place(&memory, &used, (size_t)(cap) * (comps) * sizeof(type));
#define SB_X_CONTACT(type, name, comps, doc) SB_X_PLACE(seen, u.contact_capacity, type, name, comps)
#define SB_X_PARTICLE(type, name, comps, doc) SB_X_PLACE(seen_particles, u.particle_contact_capacity, type, name, comps)
#define SB_X_NEAR(type, name, comps, doc) SB_X_PLACE(seen_pairs, u.near_pair_capacity, type, name, comps)
  SB_X_PLACE(seen, (size_t)m->world_count + 1, uint32_t, world_start, 1)
  SB_X_PLACE(seen_particles, (size_t)m->particle_count + 1, uint32_t, particle_start, 1)
  SB_X_PLACE(seen_pairs, (size_t)m->world_count + 1, uint32_t, world_start, 1)
  SB_CONTACT_ARRAYS(SB_X_CONTACT)
  SB_PARTICLE_CONTACT_ARRAYS(SB_X_PARTICLE)
  SB_NEAR_PAIR_ARRAYS(SB_X_NEAR)
#undef SB_X_CONTACT
#undef SB_X_PARTICLE
#undef SB_X_NEAR
#undef SB_X_PLACE
  return used;
}

sb_status sb_coupling_create(sb_sim *sim, const sb_sim_config *config, sb_diagnostics *diag)
{
  const sb_model *m = sim->model;
  sim->coupling = config->coupling;
  if (sim->part_count < 2) return SB_OK;
  sim->owner = malloc(((size_t)m->body_count + 1) * sizeof *sim->owner);
  sim->particle_owner = malloc(((size_t)m->particle_count + 1) * sizeof *sim->particle_owner);
  sim->seen_memory = calloc(1, place_lists(sim, NULL) + 16);
  if (!sim->owner || !sim->particle_owner || !sim->seen_memory)
    return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, "coupling", "no memory for the contacts of several solvers");
  place_lists(sim, sim->seen_memory);
  for (uint32_t b = 0; b < m->body_count; b++) sim->owner[b] = UINT32_MAX;
  for (uint32_t i = 0; i < m->particle_count; i++) sim->particle_owner[i] = UINT32_MAX;
  for (uint32_t p = 0; p < sim->part_count; p++) {
    for (uint32_t i = 0; i < config->parts[p].body_count; i++) sim->owner[config->parts[p].bodies[i]] = p;
    for (uint32_t i = 0; i < config->parts[p].particle_count; i++) sim->particle_owner[config->parts[p].particles[i]] = p;
  }
  return SB_OK;
}

void sb_coupling_free(sb_sim *sim)
{
  free(sim->owner);
  free(sim->particle_owner);
  free(sim->seen_memory);
}

static bool part_sees(const sb_sim *sim, uint32_t part, int32_t body)
{
  uint32_t owner = body < 0 ? UINT32_MAX : sim->owner[body];
  return owner == UINT32_MAX || owner == part || (sim->coupling == SB_COUPLING_ONE_WAY && owner < part);
}

/* Copies entry i of one list to place n of another. */
#define SB_X_COPY(type, name, comps, doc) memcpy((type *)to->name + (size_t)n * (comps), from->name + (size_t)i * (comps), (comps) * sizeof(type));

const sb_contacts *sb_coupling_contacts(sb_sim *sim, uint32_t part)
{
  const sb_contacts *from = sb_collision_contacts(sim->collision);
  sb_contacts *to = &sim->seen;
  if (sim->part_count < 2) return from;
  uint32_t n = 0, *world_start = (uint32_t *)to->world_start;
  for (uint32_t w = 0; w < sim->model->world_count; w++) {
    world_start[w] = n;
    for (uint32_t i = from->world_start[w]; i < from->world_start[w + 1]; i++) {
      int32_t a = from->body_a[i], b = from->body_b[i];
      bool own = (a >= 0 && sim->owner[a] == part) || (b >= 0 && sim->owner[b] == part);
      if (!own || !part_sees(sim, part, a) || !part_sees(sim, part, b)) continue;
      SB_CONTACT_ARRAYS(SB_X_COPY)
      n++;
    }
  }
  world_start[sim->model->world_count] = n;
  to->count = n;
  return to;
}

const sb_particle_contacts *sb_coupling_particle_contacts(sb_sim *sim, uint32_t part)
{
  const sb_particle_contacts *from = sb_collision_particle_contacts(sim->collision);
  sb_particle_contacts *to = &sim->seen_particles;
  if (sim->part_count < 2) return from;
  uint32_t n = 0, *start = (uint32_t *)to->particle_start;
  for (uint32_t p = 0; p < sim->model->particle_count; p++) {
    start[p] = n;
    for (uint32_t i = from->particle_start[p]; i < from->particle_start[p + 1]; i++) {
      if (sim->particle_owner[p] != part || !part_sees(sim, part, from->body[i])) continue;
      SB_PARTICLE_CONTACT_ARRAYS(SB_X_COPY)
      n++;
    }
  }
  start[sim->model->particle_count] = n;
  to->count = n;
  return to;
}

static bool owns_all(const sb_sim *sim, uint32_t part, const int32_t particles[4])
{
  for (int k = 0; k < 4; k++)
    if (particles[k] >= 0 && sim->particle_owner[particles[k]] != part) return false;
  return true;
}

const sb_near_pairs *sb_coupling_near_pairs(sb_sim *sim, uint32_t part)
{
  const sb_near_pairs *from = sb_collision_near_pairs(sim->collision);
  sb_near_pairs *to = &sim->seen_pairs;
  if (sim->part_count < 2) return from;
  uint32_t n = 0, *world_start = (uint32_t *)to->world_start;
  for (uint32_t w = 0; w < sim->model->world_count; w++) {
    world_start[w] = n;
    for (uint32_t i = from->world_start[w]; i < from->world_start[w + 1]; i++) {
      if (!owns_all(sim, part, from->particles + 4 * (size_t)i)) continue;
      SB_NEAR_PAIR_ARRAYS(SB_X_COPY)
      n++;
    }
  }
  world_start[sim->model->world_count] = n;
  to->count = n;
  return to;
}
