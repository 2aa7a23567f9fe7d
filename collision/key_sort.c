/* Radix sort, least significant byte first; bytes that all keys share are passed over. */
#include "key_sort.h"

#include <string.h>

static void sort_byte(const key_item *from, key_item *to, uint32_t count, uint32_t shift)
{
  uint32_t start[257] = {0};
  for (uint32_t i = 0; i < count; i++) start[(from[i].key >> shift & 255u) + 1]++;
  for (uint32_t b = 0; b < 256; b++) start[b + 1] += start[b];
  for (uint32_t i = 0; i < count; i++) to[start[from[i].key >> shift & 255u]++] = from[i];
}

void key_sort(key_item *items, key_item *scratch, uint32_t count)
{
  uint64_t all = ~(uint64_t)0, any = 0;
  for (uint32_t i = 0; i < count; i++) all &= items[i].key, any |= items[i].key;
  uint64_t differ = any & ~all;
  key_item *from = items, *to = scratch;
  for (uint32_t shift = 0; shift < 64; shift += 8) {
    if (!(differ >> shift & 255u)) continue;
    sort_byte(from, to, count, shift);
    key_item *sorted = to;
    to = from, from = sorted;
  }
  if (from != items && count) memcpy(items, from, count * sizeof *items);
}
