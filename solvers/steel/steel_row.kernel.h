/* Impulses of constraint rows in the kernel dialect: from a row's velocity and accumulated impulse to its new impulse. What an impulse does
 * to velocities is the caller's affair. */
#ifndef SAMEBIT_STEEL_ROW_KERNEL_H
#define SAMEBIT_STEEL_ROW_KERNEL_H

#ifndef SB_GLSL
#include "samebit/maths.h"
#endif
#include "steel.kernel.h"

/* A soft row that holds in both directions: velocity v, position error e (m or rad, of the sign of v). Not relaxing, the error goes
 * at soft.rate, at most max_push. */
FN F st_hold_impulse(F v, F e, F mass, F impulse, StSoft soft, F max_push, M relax)
{
  F bias = f_sel(relax, K(0.0f), f_clamp(e * soft.rate, -max_push, max_push));
  F mass_scale = f_sel(relax, K(1.0f), soft.mass_scale);
  F impulse_scale = f_sel(relax, K(0.0f), soft.impulse_scale);
  return (impulse - (mass * mass_scale) * (v + bias)) - impulse_scale * impulse;
}

/* A spring and damper as a row, implicit over h (s): stretch e (m or rad) and velocity v of the same sign, stiffness k, damping c; response:
 * J W. Impulse within this substep so far; 0 where k and c are. */
FN F st_spring_impulse(F v, F e, F k, F c, F response, F h, F impulse)
{
  F give = h * (c + h * k);
  M some = give > 0.0f;
  /* impulse + change = -h (k (e + h v') + c v'), v' = v + response * change */
  F wanted = -((h * k) * e + give * v) - impulse;
  return f_sel(some, impulse + f_div(wanted, 1.0f + give * response), K(0.0f));
}

#endif
