/* Sorting by 64-bit keys: stable, and by radix, so that it compares nothing. C library only. */
#ifndef SAMEBIT_COLLISION_KEY_SORT_H
#define SAMEBIT_COLLISION_KEY_SORT_H

#include <stdint.h>

typedef struct key_item {
  uint64_t key;
  uint32_t value;
  uint32_t reserved;
} key_item;

/* Sorts items by key; equal keys keep their order. scratch: as many items. The result is in items. */
void key_sort(key_item *items, key_item *scratch, uint32_t count);

#endif
