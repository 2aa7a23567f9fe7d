/* What xpbd's shaders share: the kernels and records of particles. Counts and places are those of the CPU's arrays. */
#include "prelude.glsl"
#include "samebit/joint_law.h"
#include "samebit/rigid_spin.h"
#include "samebit/near_pair.h"
#include "solvers/xpbd/xpbd_particle.kernel.h"
#include "solvers/xpbd/xpbd_element.kernel.h"
#include "solvers/xpbd/xpbd_contact.kernel.h"
#include "solvers/xpbd/xpbd_body.kernel.h"
#include "solvers/xpbd/xpbd_touch.kernel.h"
#include "solvers/xpbd/xpbd_rigid.kernel.h"

layout(local_size_x = 64) in;

V3 v3_of(vec4 v) { return v3(v.x, v.y, v.z); }
vec4 with_v3(V3 v, float w) { return vec4(v.x, v.y, v.z, w); }
