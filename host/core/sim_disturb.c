/* Hostile values where no solver may look: padding lanes, and elements and contacts behind those in use. For checks. */
#include "sim_internal.h"

#include <string.h>

#define JUNK 0x7fc0dead /* as a float, not a number */

static void spoil_words(uint32_t *words, size_t count)
{
  for (size_t i = 0; i < count; i++) words[i] = JUNK;
}

static void spoil_array(const sb_array *a, uint32_t world_count)
{
  uint32_t live = sb_array_live(a, world_count), room = (a->count + a->lane_block - 1) / a->lane_block * a->lane_block;
  uint32_t first = a->domain == SB_DOMAIN_CONTACT ? live : a->count;
  for (uint32_t e = first; e < room; e++)
    for (uint32_t c = 0; c < a->components; c++) a->data[sb_array_word(a, e, c)] = JUNK;
}

/* One array of a list: what is behind the entries in use. */
#define SB_X_SPOIL(type, name, comps, doc)                                                                             \
  if (list->capacity > list->count)                                                                                    \
    spoil_words((uint32_t *)(void *)((type *)list->name + (size_t)list->count * (comps)), (size_t)(list->capacity - list->count) * (comps) * sizeof(type) / 4);

static void spoil_contacts(const sb_contacts *list)
{
  SB_CONTACT_ARRAYS(SB_X_SPOIL)
}

static void spoil_particle_contacts(const sb_particle_contacts *list)
{
  SB_PARTICLE_CONTACT_ARRAYS(SB_X_SPOIL)
}

static void spoil_near_pairs(const sb_near_pairs *list)
{
  SB_NEAR_PAIR_ARRAYS(SB_X_SPOIL)
}
#undef SB_X_SPOIL

void sb_sim_disturb(sb_sim *sim)
{
  for (size_t i = 0; i < sim->registry.count; i++) spoil_array(&sim->registry.arrays[i], sim->model->world_count);
  spoil_contacts(sb_collision_contacts(sim->collision));
  spoil_particle_contacts(sb_collision_particle_contacts(sim->collision));
  spoil_near_pairs(sb_collision_near_pairs(sim->collision));
}
