/* Sums what acts on each particle, in fixed order (elements, contacts, near pairs), and moves it. */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "semi_device.glsl"

layout(std430, binding = 2) readonly buffer Own { uvec4 own[]; };        /* particle, world, 1/kg, 0 */
layout(std430, binding = 3) readonly buffer Firsts { uint first[]; };    /* of each particle in the list of slots */
layout(std430, binding = 4) readonly buffer Entries { uint entry[]; };   /* slots; bit 31: the other way round */
layout(std430, binding = 5) readonly buffer Forces { float force[]; };
layout(std430, binding = 6) readonly buffer Touches { float touch_force[]; };
layout(std430, binding = 7) readonly buffer TouchStarts { uint touch_start[]; };
layout(std430, binding = 8) readonly buffer Nears { float near_force[]; }; /* 7 each */
layout(std430, binding = 9) readonly buffer NearFirsts { uint near_first[]; };
layout(std430, binding = 10) readonly buffer NearEntries { uint near_entry[]; }; /* pair * 4 + place */
layout(std430, binding = 11) readonly buffer Gravity { float gravity[]; };
layout(push_constant) uniform Push {
  uint count;
  uint touching;
  uint near;
  float dt;
  float zero; /* a value where devices would fold a constant */
} push;

void main()
{
  uint i = gl_GlobalInvocationID.x;
  if (i >= push.count) return;
  uvec4 who = own[i];
  uint p = who.x;
  V3 sum = v3(push.zero, push.zero, push.zero);
  for (uint k = first[p]; k < first[p + 1u]; k++) {
    uint at = 3u * (entry[k] & 0x7fffffffu);
    V3 f = v3(force[at], force[at + 1u], force[at + 2u]);
    if ((entry[k] & 0x80000000u) != 0u) sum = v3_sub(sum, f);
    else sum = v3_add(sum, f);
  }
  if (push.touching != 0u)
    for (uint k = touch_start[p]; k < touch_start[p + 1u]; k++)
      sum = v3_add(sum, v3(touch_force[3u * k], touch_force[3u * k + 1u], touch_force[3u * k + 2u]));
  if (push.near != 0u)
    for (uint k = near_first[p]; k < near_first[p + 1u]; k++) {
      uint at = 7u * (near_entry[k] / 4u);
      float weight = near_force[at + 3u + near_entry[k] % 4u];
      sum = v3_add_scaled(sum, v3(near_force[at], near_force[at + 1u], near_force[at + 2u]), weight);
    }
  uint g = 3u * who.y;
  SiMove r = si_move(place_of(p), speed_of(p), uintBitsToFloat(who.z), sum, v3(gravity[g], gravity[g + 1u], gravity[g + 2u]), push.dt);
  particle_q[3u * p] = r.x.x;
  particle_q[3u * p + 1u] = r.x.y;
  particle_q[3u * p + 2u] = r.x.z;
  particle_qd[3u * p] = r.v.x;
  particle_qd[3u * p + 1u] = r.v.y;
  particle_qd[3u * p + 2u] = r.v.z;
}
