/* A map from names to numbers: open addressing, nothing depends on its order. Private to the scene layer. */
#ifndef SAMEBIT_HOST_NAME_MAP_H
#define SAMEBIT_HOST_NAME_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct name_map_slot {
  const char *name; /* NULL when empty */
  int32_t value;
} name_map_slot;

/* All zero is an empty map. Names are not copied. */
typedef struct name_map {
  name_map_slot *slots;
  size_t capacity;
  size_t count;
} name_map;

typedef enum name_map_result { NAME_MAP_ADDED, NAME_MAP_TWICE, NAME_MAP_NO_MEMORY } name_map_result;

name_map_result name_map_add(name_map *map, const char *name, int32_t value);
/* -1 when absent. */
int32_t name_map_find(const name_map *map, const char *name);
/* The name nearest to `name`, the first by alphabet among equals; NULL when none is near. */
const char *name_map_nearest(const name_map *map, const char *name);
void name_map_clear(name_map *map);

#endif
