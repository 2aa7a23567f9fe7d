/* Forces of elements, one a thread. KIND: as si_kind, 0 springs, 1 triangles, 2 edges, 3 tetrahedra, 4 attachments. */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "semi_device.glsl"

layout(std430, binding = 2) readonly buffer Words { uint words[]; };
#if KIND == 4
#include "semi_bodies.glsl"
layout(std430, binding = 4) buffer Forces { float force[]; };
#define PRESS_BINDING 5
#include "semi_press.glsl"
#else
layout(std430, binding = 3) buffer Forces { float force[]; };
#endif
layout(push_constant) uniform Push {
  uint count;
  uint slot;     /* first of this kind */
  uint pressing; /* what attachments do to bodies is wanted */
} push;

#if KIND == 0
#define ROW 5u
#elif KIND == 1
#define ROW 13u
#elif KIND == 2
#define ROW 7u
#elif KIND == 3
#define ROW 17u
#else
#define ROW 7u
#endif

uint whole(uint i, uint k) { return words[ROW * i + k]; }
float number(uint i, uint k) { return uintBitsToFloat(whole(i, k)); }

void put(uint slot, V3 f)
{
  uint at = 3u * (push.slot + slot);
  force[at] = f.x;
  force[at + 1u] = f.y;
  force[at + 2u] = f.z;
}

void main()
{
  uint i = gl_GlobalInvocationID.x;
  if (i >= push.count) return;
#if KIND == 0
  uint a = whole(i, 0u);
  uint b = whole(i, 1u);
  put(i, si_spring(v3_sub(place_of(a), place_of(b)), v3_sub(speed_of(a), speed_of(b)), number(i, 2u), number(i, 3u), number(i, 4u)));
#elif KIND == 1
  V3 x0 = place_of(whole(i, 0u));
  V3 x1 = place_of(whole(i, 1u));
  V3 x2 = place_of(whole(i, 2u));
  V3 v0 = speed_of(whole(i, 0u));
  V3 v1 = speed_of(whole(i, 1u));
  V3 v2 = speed_of(whole(i, 2u));
  SiTriRest rest;
  rest.ax = number(i, 3u);
  rest.ay = number(i, 4u);
  rest.bx = number(i, 5u);
  rest.by = number(i, 6u);
  rest.area = number(i, 7u);
  SiTri f = si_tri(x0, x1, x2, v0, v1, v2, rest, number(i, 8u), number(i, 9u), number(i, 10u));
  V3 mean = v3_scale(v3_add(v3_add(v0, v1), v2), 0.33333334);
  V3 air = si_air(x0, x1, x2, mean, rest.area, number(i, 11u), number(i, 12u));
  put(3u * i, v3_add(f.f0, air));
  put(3u * i + 1u, v3_add(f.f1, air));
  put(3u * i + 2u, v3_add(f.f2, air));
#elif KIND == 4
  uint p = whole(i, 0u);
  SiBody b = met_body(whole(i, 1u));
  V3 at = x7_point(b.pose, v3(number(i, 2u), number(i, 3u), number(i, 4u)));
  SiPress f = si_hold(b, at, place_of(p), speed_of(p), number(i, 5u), number(i, 6u));
  put(i, f.f);
  if (push.pressing != 0u) put_press(i, f.body);
#else
  V3 x0 = place_of(whole(i, 0u));
  V3 x1 = place_of(whole(i, 1u));
  V3 x2 = place_of(whole(i, 2u));
  V3 x3 = place_of(whole(i, 3u));
  V3 v0 = speed_of(whole(i, 0u));
  V3 v1 = speed_of(whole(i, 1u));
  V3 v2 = speed_of(whole(i, 2u));
  V3 v3_ = speed_of(whole(i, 3u));
#if KIND == 2
  SiQuad f = si_edge(x0, x1, x2, x3, v0, v1, v2, v3_, number(i, 4u), number(i, 5u), number(i, 6u));
#else
  M33 b = m33(v3(number(i, 4u), number(i, 5u), number(i, 6u)), v3(number(i, 7u), number(i, 8u), number(i, 9u)),
              v3(number(i, 10u), number(i, 11u), number(i, 12u)));
  SiQuad f = si_tet(x0, x1, x2, x3, v0, v1, v2, v3_, b, number(i, 13u), number(i, 14u), number(i, 15u), number(i, 16u));
#endif
  put(4u * i, f.f0);
  put(4u * i + 1u, f.f1);
  put(4u * i + 2u, f.f2);
  put(4u * i + 3u, f.f3);
#endif
}
