/* Greedy colouring and a counting sort. */
#include "xpbd_colors.h"

#include <string.h>

void xp_color(xp_colors *c, uint32_t count, const uint32_t (*pair)[2], uint32_t fixed)
{
  memset(c->used, 0, ((size_t)fixed + 1) * sizeof *c->used);
  memset(c->start, 0, sizeof c->start);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t color = 0;
    uint64_t taken = 0;
    for (uint32_t k = 0; k < 2; k++)
      if (pair[i][k] < fixed) taken |= c->used[pair[i][k]];
    while (color < XP_MAX_COLORS && taken >> color & 1u) color++;
    for (uint32_t k = 0; k < 2; k++)
      if (pair[i][k] < fixed && color < XP_MAX_COLORS) c->used[pair[i][k]] |= 1ull << color;
    c->color[i] = (uint8_t)color;
    c->start[color + 1]++;
  }
  uint32_t at[XP_MAX_COLORS + 1];
  for (uint32_t k = 0; k <= XP_MAX_COLORS; k++) {
    at[k] = c->start[k];
    c->start[k + 1] += c->start[k];
  }
  for (uint32_t i = 0; i < count; i++) c->order[at[c->color[i]]++] = i;
}
