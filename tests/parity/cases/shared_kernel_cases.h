/* Parity of joint_law.h, penalty_contact.h, rigid_spin.h and state_hash.kernel.h. */
#include "samebit/joint_law.h"
#include "samebit/penalty_contact.h"
#include "samebit/rigid_spin.h"
#include "host/core/state_hash.kernel.h"

#define PARITY_CASES(X)                                                                                                \
  X(case_dof_force, 19, 4)                                                                                             \
  X(case_dof_explicit, 5, 1)                                                                                           \
  X(case_penalty_contact, 10, 4)                                                                                       \
  X(case_rigid_inv_mass, 13, 1)                                                                                        \
  X(case_rigid_spin, 23, 10)                                                                                           \
  X(case_hash_mix, 2, 2)

PARITY_KERNEL(case_dof_force)
{
  DofLaw k;
  k.armature = IN(0); k.damping = IN(1); k.stiffness = IN(2); k.spring_ref = IN(3); k.friction = IN(4);
  k.lower = IN(5); k.upper = IN(6); k.effort = IN(7); k.ke = IN(8); k.kd = IN(9);
  DofForce r = dof_force(k, IN(10), IN(11), IN(12), IN(13), IN(14), IN(15), IN(16), IN(17), IN(18));
  OUT(0, r.force); OUT(1, r.inertia); OUT(2, r.rest); OUT(3, r.rest_inertia);
}
PARITY_KERNEL(case_dof_explicit)
{
  DofForce f;
  f.force = IN(0); f.inertia = IN(1); f.rest = IN(2); f.rest_inertia = IN(3);
  OUT(0, dof_explicit(f, IN(4)));
}
PARITY_KERNEL(case_penalty_contact)
{
  PenaltyContact r = penalty_contact(IN(0), IN(1), IN(2), IN(3), IN(4), IN(5), IN(6), IN(7), IN(8), IN(9));
  OUT(0, r.force0); OUT(1, r.resist); OUT(2, r.drag); OUT(3, r.normal);
}
PARITY_KERNEL(case_rigid_inv_mass) { OUT(0, rigid_inv_mass(IN(0), IN_S33(1), IN_V3(7), IN_V3(10))); }
PARITY_KERNEL(case_rigid_spin)
{
  RigidSpin r = rigid_spin(q4_normalize(IN_Q4(0)), IN_V3(4), IN_S33(7), IN_S33(13), IN_V3(19), IN(22));
  OUT_Q4(0, r.q) OUT_V3(4, r.w) OUT_V3(7, r.mean)
}
PARITY_KERNEL(case_hash_mix) { UOUT(0, hash_mix_a(UIN(0), UIN(1))); UOUT(1, hash_mix_b(UIN(0), UIN(1))); }
