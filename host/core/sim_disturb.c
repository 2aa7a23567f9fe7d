/* Hostile values where no solver may look: padding lanes, and elements behind those in use. For checks. */
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

void sb_sim_disturb(sb_sim *sim)
{
  for (size_t i = 0; i < sim->registry.count; i++) spoil_array(&sim->registry.arrays[i], sim->model->world_count);
  const sb_contacts *c = sb_collision_contacts(sim->collision);
#define SB_X_SPOIL(type, name, comps, doc)                                                                             \
  spoil_words((uint32_t *)(void *)((type *)c->name + (size_t)c->count * (comps)), (size_t)(c->capacity - c->count) * (comps) * sizeof(type) / 4);
  SB_CONTACT_ARRAYS(SB_X_SPOIL)
#undef SB_X_SPOIL
}
