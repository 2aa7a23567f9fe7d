/* What semi_implicit's shaders share: the kernels, the shared state. */
#include "prelude.glsl"
#include "samebit/joint_law.h"
#include "samebit/penalty_contact.h"
#include "samebit/rigid_spin.h"
#include "samebit/near_pair.h"
#include "solvers/maximal/maximal.kernel.h"
#include "solvers/semi_implicit/semi_implicit.kernel.h"
#include "solvers/semi_implicit/semi_particle.kernel.h"

layout(local_size_x = 64) in;

layout(std430, binding = 0) buffer StateQ { float particle_q[]; };
layout(std430, binding = 1) buffer StateQd { float particle_qd[]; };

V3 place_of(uint p) { return v3(particle_q[3u * p], particle_q[3u * p + 1u], particle_q[3u * p + 2u]); }
V3 speed_of(uint p) { return v3(particle_qd[3u * p], particle_qd[3u * p + 1u], particle_qd[3u * p + 2u]); }
