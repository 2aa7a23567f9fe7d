/* Forces of one joint dof in the kernel dialect: drive, motor, spring, damper, dry friction and limits, with one meaning in every
 * solver. All are linear in the unknown velocity: force - inertia * acceleration, so that a solver adds `inertia` to what the
 * dof moves (implicit, stable for any stiffness). */
#ifndef SAMEBIT_JOINT_LAW_H
#define SAMEBIT_JOINT_LAW_H

#ifndef SB_GLSL
#include "samebit/maths.h"
#endif

/* Constants of a dof, as in samebit/model.h. */
STRUCT(DofLaw) { F armature; F damping; F stiffness; F spring_ref; F friction; F lower; F upper; F effort; F ke; F kd; };
/* force: N or N m. inertia: kg or kg m^2 that implicit treatment over dt adds. rest: the part that does not depend on
 * velocities; rest_inertia: dt^2 times its stiffness. A solver that cannot add inertia takes dof_explicit(). */
STRUCT(DofForce) { F force; F inertia; F rest; F rest_inertia; };

/* q, qd: coordinate and velocity; motor: N or N m; d: inertia that the dof moves (kg or kg m^2, above 0); dt: s.
 *   drive and motor: clamp(ke (target_q - q) + kd (target_qd - qd) + motor, +-effort), implicit unless clamped
 *   spring and damper towards spring_ref, dry friction as a damper that carries at most `friction`
 *   limits: one-sided spring d omega^2 and damper 2 zeta d omega, omega in rad/s
 * Positions are taken at the end of the step, q + dt qd. */
FN DofForce dof_force(DofLaw k, F q, F qd, F motor, F target_q, F target_qd, F d, F dt, F limit_omega, F limit_zeta)
{
  DofForce r;
  F ahead = q + dt * qd;
  F drive = (k.ke * (target_q - ahead) + k.kd * (target_qd - qd)) + motor;
  F clamped = f_clamp(drive, -k.effort, k.effort);
  M free = drive == clamped;
  F soft = f_sel(free, dt * (k.kd + dt * k.ke), K(0.0f));
  r.rest = (clamped + f_sel(free, (dt * k.ke) * qd - k.kd * (target_qd - qd), K(0.0f))) - k.stiffness * (q - k.spring_ref);
  r.rest_inertia = (dt * dt) * (f_sel(free, k.ke, K(0.0f)) + k.stiffness);
  r.force = clamped - (k.stiffness * (ahead - k.spring_ref) + k.damping * qd);
  r.inertia = soft + dt * (k.damping + dt * k.stiffness);
  F speed = f_abs(qd);
  F stick = 10.0f * f_div(d, dt);
  F drag = f_sel(speed * stick > k.friction, f_div(k.friction, f_max(speed, K(1.0e-9f))), stick);
  drag = f_sel(k.friction > 0.0f, drag, K(0.0f));
  r.force = r.force - drag * qd;
  r.inertia = r.inertia + dt * drag;
  F low = k.lower - ahead;
  F high = ahead - k.upper;
  M at_low = low > 0.0f;
  M at_high = high > 0.0f;
  F ks = (d * limit_omega) * limit_omega;
  F kc = ((d * limit_omega) * limit_zeta) * 2.0f;
  F push = f_sel(at_low, ks * low - kc * qd, f_sel(at_high, -(ks * high) - kc * qd, K(0.0f)));
  r.force = r.force + push;
  r.inertia = r.inertia + f_sel(m_or(at_low, at_high), dt * (kc + dt * ks), K(0.0f));
  F deep = f_sel(at_low, f_max(k.lower - q, K(0.0f)), f_sel(at_high, -f_max(q - k.upper, K(0.0f)), K(0.0f)));
  r.rest = r.rest + ks * deep;
  r.rest_inertia = r.rest_inertia + f_sel(m_or(at_low, at_high), (dt * dt) * ks, K(0.0f));
  return r;
}

/* The force of a dof when nothing else is solved for. What acts in rest is weakened by its stiffness alone, 1 / (1 + dt^2 k / d), so that
 * a damper does not eat the motor's force; with e' = e + dt v' and u = dt v the step is stable for every k and c:
 * trace 1 + 1/(1 + g + s) - s/(1 + s), determinant 1/(1 + g + s), where g = dt c / d and s = dt^2 k / d. */
FN F dof_explicit(DofForce f, F d)
{
  return f_div(f.rest * d, d + f.rest_inertia) + f_div((f.force - f.rest) * d, d + f.inertia);
}

#endif
