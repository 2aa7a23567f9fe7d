/* Places along a curve through a box: points that are near each other mostly have keys that are. Ordering by it
 * changes how fast pairs are found, never which. Knows near_order.kernel.h. */
#ifndef SAMEBIT_COLLISION_NEAR_ORDER_H
#define SAMEBIT_COLLISION_NEAR_ORDER_H

#include <float.h>

#include "near_order.kernel.h"

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

static inline uint32_t near_order_key(const near_order *o, const float x[3])
{
  return near_order_key_of(v3(o->lo[0], o->lo[1], o->lo[2]), v3(o->hi[0], o->hi[1], o->hi[2]), v3(x[0], x[1], x[2]));
}

#endif
