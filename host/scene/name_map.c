/* A map from names to numbers. Knows the content hash. */
#include "name_map.h"

#include "content_hash.h"
#include "diagnostic.h"

#include <stdlib.h>
#include <string.h>

static name_map_slot *slot_of(const name_map *map, const char *name)
{
  size_t i = (size_t)sb_content_hash(name, strlen(name)) & (map->capacity - 1);
  while (map->slots[i].name && strcmp(map->slots[i].name, name)) i = (i + 1) & (map->capacity - 1);
  return &map->slots[i];
}

static bool grow(name_map *map)
{
  name_map bigger = {NULL, map->capacity ? map->capacity * 2 : 64, map->count};
  bigger.slots = calloc(bigger.capacity, sizeof *bigger.slots);
  if (!bigger.slots) return false;
  for (size_t i = 0; i < map->capacity; i++)
    if (map->slots[i].name) *slot_of(&bigger, map->slots[i].name) = map->slots[i];
  free(map->slots);
  *map = bigger;
  return true;
}

name_map_result name_map_add(name_map *map, const char *name, int32_t value)
{
  if (map->count * 2 >= map->capacity && !grow(map)) return NAME_MAP_NO_MEMORY;
  name_map_slot *slot = slot_of(map, name);
  if (slot->name) return NAME_MAP_TWICE;
  *slot = (name_map_slot){name, value};
  map->count++;
  return NAME_MAP_ADDED;
}

int32_t name_map_find(const name_map *map, const char *name)
{
  if (map->capacity == 0) return -1;
  const name_map_slot *slot = slot_of(map, name);
  return slot->name ? slot->value : -1;
}

const char *name_map_nearest(const name_map *map, const char *name)
{
  const char *best = NULL;
  if (map->count > 4096) return NULL; /* a search would take longer than it helps */
  for (size_t i = 0; i < map->capacity; i++) {
    if (!map->slots[i].name) continue;
    const char *two[2] = {best, map->slots[i].name};
    if (!best || strcmp(two[1], best) < 0) two[0] = map->slots[i].name, two[1] = best;
    const char *near = sb_nearest_name(name, two, two[1] ? 2 : 1);
    if (near) best = near;
  }
  return best;
}

void name_map_clear(name_map *map)
{
  free(map->slots);
  *map = (name_map){0};
}
