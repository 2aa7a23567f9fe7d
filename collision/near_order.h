/* A curve through a box (Morton 1966): points that are near each other mostly have keys that are. Ordering by it
 * changes how fast pairs are found, never which. C library only. */
#ifndef SAMEBIT_COLLISION_NEAR_ORDER_H
#define SAMEBIT_COLLISION_NEAR_ORDER_H

#include <float.h>
#include <stdint.h>

typedef struct near_order {
  float lo[3], hi[3];
} near_order;

static inline near_order near_order_none(void)
{
  return (near_order){{FLT_MAX, FLT_MAX, FLT_MAX}, {-FLT_MAX, -FLT_MAX, -FLT_MAX}};
}

/* Widens the box around x. */
static inline void near_order_hold(near_order *o, const float x[3])
{
  for (int k = 0; k < 3; k++) {
    if (x[k] < o->lo[k]) o->lo[k] = x[k];
    if (x[k] > o->hi[k]) o->hi[k] = x[k];
  }
}

/* The ten low bits, two zeros between each. */
static inline uint32_t near_order_spread(uint32_t x)
{
  x = (x | x << 16) & 0x030000ffu;
  x = (x | x << 8) & 0x0300f00fu;
  x = (x | x << 4) & 0x030c30c3u;
  return (x | x << 2) & 0x09249249u;
}

/* Of x inside the box, 30 bits. One width for all axes, that of the longest, keeps the pieces round. */
static inline uint32_t near_order_key(const near_order *o, const float x[3])
{
  float width = 0.0f;
  for (int k = 0; k < 3; k++) width = o->hi[k] - o->lo[k] > width ? o->hi[k] - o->lo[k] : width;
  uint32_t key = 0;
  for (int k = 0; k < 3; k++) {
    float t = width > 0.0f ? (x[k] - o->lo[k]) / width * 1024.0f : 0.0f;
    uint32_t cell = !(t >= 1.0f) ? 0u : t >= 1023.0f ? 1023u : (uint32_t)t;
    key |= near_order_spread(cell) << k;
  }
  return key;
}

#endif
