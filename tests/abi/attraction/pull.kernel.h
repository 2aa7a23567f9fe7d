/* The arithmetic in the kernel dialect (samebit/kernel.h): F is a float, or a vector of 4 or 8. */
#ifndef pull_KERNEL_H
#define pull_KERNEL_H

#ifndef SB_GLSL
#include "samebit/maths.h"
#endif

/* G m d / (d^2 + e^2)^(3/2), cut off beyond the range (Plummer 1911). */
FN V3 pull_acceleration(V3 from, V3 to, F strength, F mass, F range2, F soft2)
{
  V3 d = v3_sub(to, from);
  F l2 = v3_len2(d);
  F s2 = l2 + soft2;
  F size = f_div(strength * mass, s2 * f_sqrt(s2));
  return v3_scale(d, f_sel(l2 < range2, size, K(0.0f)));
}

#endif
