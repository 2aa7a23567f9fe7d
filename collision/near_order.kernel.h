/* Keys along a curve through a box (Morton 1966), in the scalar part of the kernel dialect. Knows samebit/maths.h alone. */
#ifndef SAMEBIT_COLLISION_NEAR_ORDER_KERNEL_H
#define SAMEBIT_COLLISION_NEAR_ORDER_KERNEL_H

#include "samebit/maths.h"

/* The ten low bits, two zeros between each. */
FN U near_order_spread(U x)
{
  U a = (x | x << 16) & 0x030000ffu;
  U b = (a | a << 8) & 0x0300f00fu;
  U c = (b | b << 4) & 0x030c30c3u;
  return (c | c << 2) & 0x09249249u;
}

FN U near_order_cell(F above, F width)
{
  F t = f_sel(width > 0.0f, f_div(above, f_sel(width > 0.0f, width, K(1.0f))) * 1024.0f, K(0.0f));
  return u_sel(t >= 1.0f, u_sel(t >= 1023.0f, KU(1023u), u_from_i(f_to_i(t))), KU(0u));
}

/* Of x inside the box, 30 bits. One width for all axes, that of the longest, keeps the pieces round. */
FN U near_order_key_of(V3 lo, V3 hi, V3 x)
{
  F width = f_max(hi.z - lo.z, f_max(hi.y - lo.y, f_max(hi.x - lo.x, K(0.0f))));
  return near_order_spread(near_order_cell(x.x - lo.x, width)) | near_order_spread(near_order_cell(x.y - lo.y, width)) << 1 |
         near_order_spread(near_order_cell(x.z - lo.z, width)) << 2;
}

#endif
