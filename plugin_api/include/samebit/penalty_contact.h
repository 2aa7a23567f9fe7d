/* A penalty contact in the kernel dialect: spring and damper along the normal, Coulomb friction smoothed by a damper.
 *
 * Stiffness follows from a frequency: k = m omega^2, c = 2 zeta m omega with m = 1 / inv_mass, so one setting suits
 * light and heavy bodies. The spring acts on the gap at the end of the step, gap + dt rate, which makes the force linear in the
 * unknown velocity: force = force0 - resist (rate_end - rate). A solver either adds dt * resist to its inertia (implicit, stable for any stiffness) or
 * takes `normal`, the force when nothing but this contact is solved for; there inv_mass must count each body as shared among
 * all its contacts, so that the sum stays stable (mass splitting: Tonge, Benevolenski and Voroshilov, SIGGRAPH 2012).
 *
 * In `normal` the spring's part, k times the depth, is not weakened by the damper: in rest that would take a share of the weight,
 * and of the friction with it. It is weakened by its own stiffness, 1 / (1 + (omega dt)^2), where the solver is explicit (explicit_step 1), and
 * not at all where it is implicit (0), because there the solver ends at the full spring force. */
#ifndef SAMEBIT_PENALTY_CONTACT_H
#define SAMEBIT_PENALTY_CONTACT_H

#ifndef SB_GLSL
#include "samebit/maths.h"
#endif

/* force0: N along the normal, 0 when the contact is open. resist: N s/m, 0 when open. normal: N after the contact's own resistance.
 * drag: N s/m against sliding. */
STRUCT(PenaltyContact) { F force0; F resist; F normal; F drag; };

/* gap (m), rate of the gap (m/s), slide (m/s, tangential speed), inv_mass (1/kg at the contact point along the normal), mu,
 * omega (rad/s), zeta, dt (s); stick: the drag of a contact that does not slide, in units of mass / dt; explicit_step: 1 or 0. */
FN PenaltyContact penalty_contact(F gap, F rate, F slide, F inv_mass, F mu, F omega, F zeta, F dt, F stick, F explicit_step)
{
  PenaltyContact r;
  F mass = f_div(K(1.0f), f_max(inv_mass, K(1.0e-12f)));
  F k = (mass * omega) * omega;
  F c = ((mass * omega) * zeta) * 2.0f;
  F ahead = gap + dt * rate;
  F force0 = -(k * ahead) - c * rate;
  M closed = m_and(ahead < 0.0f, force0 > 0.0f);
  r.force0 = f_sel(closed, force0, K(0.0f));
  r.resist = f_sel(closed, c + dt * k, K(0.0f));
  F spring = f_sel(closed, k * f_max(-gap, K(0.0f)), K(0.0f));
  F own = f_sel(explicit_step > 0.5f, (omega * dt) * (omega * dt), K(0.0f));
  r.normal = f_div(spring, 1.0f + own) + f_div(r.force0 - spring, 1.0f + (dt * r.resist) * inv_mass);
  /* Coulomb: drag * slide <= mu * normal force */
  F hold = f_div(mass * stick, dt);
  F limit = mu * r.normal;
  r.drag = f_sel(hold * slide > limit, f_div(limit, f_max(slide, K(1.0e-9f))), hold);
  r.drag = f_sel(closed, r.drag, K(0.0f));
  return r;
}

/* 1/kg with which a free rigid body answers a force along unit n at offset d (m) from its centre of mass:
 * 1/m + (d x n) . inverse inertia (d x n), inertia in world axes. */
FN F rigid_inv_mass(F inv_mass, S33 inv_inertia, V3 d, V3 n)
{
  V3 t = v3_cross(d, n);
  return inv_mass + v3_dot(t, s33_mul_v3(inv_inertia, t));
}

#endif
