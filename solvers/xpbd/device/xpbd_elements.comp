/* One pass over elements that share no particle. KIND: as in xpbd_data.h, 0 air, 1 springs, 2 triangles, 3 edges, 4 tetrahedra. The words
 * are the CPU's bundles of eight: field by field, eight words each. */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "xpbd_device.glsl"

#if KIND == 0
#define CORNERS 3
#define ROWS 5u
#define LAMBDAS 1u
#elif KIND == 1
#define CORNERS 2
#define ROWS 4u
#define LAMBDAS 1u
#elif KIND == 2
#define CORNERS 3
#define ROWS 10u
#define LAMBDAS 3u
#elif KIND == 3
#define CORNERS 4
#define ROWS 7u
#define LAMBDAS 1u
#else
#define CORNERS 4
#define ROWS 16u
#define LAMBDAS 2u
#endif

layout(std430, binding = 0) readonly buffer Places { vec4 x_of[]; };
layout(std430, binding = 1) buffer Moves { vec4 d_of[]; };
layout(std430, binding = 2) readonly buffer Words { uint words[]; };
layout(std430, binding = 3) readonly buffer Damping { float damping_of[]; }; /* of springs, eight for each bundle */
layout(std430, binding = 4) buffer Lambdas { float lambda_of[]; };           /* eight times LAMBDAS for each bundle */
layout(push_constant) uniform Push {
  uint count; /* places: eight for each bundle */
  uint nobody;
  int damping;
  uint keep;  /* multipliers are kept */
  uint fresh; /* there are none yet in this substep */
  float h;
  float springy;
  float damped;
  float zero;
} push;

uint word(uint bundle, uint row, uint lane) { return words[(bundle * ROWS + row) * 8u + lane]; }
float number(uint bundle, uint row, uint lane) { return uintBitsToFloat(word(bundle, row, lane)); }

float read_lambda(uint bundle, uint which, uint lane)
{
  if (push.keep == 0u || push.fresh != 0u || push.damping != 0) return push.zero;
  return lambda_of[(bundle * LAMBDAS + which) * 8u + lane];
}

void keep_lambda(uint bundle, uint which, uint lane, float value)
{
  if (push.keep != 0u && push.damping == 0) lambda_of[(bundle * LAMBDAS + which) * 8u + lane] = value;
}

XpPoint point(uint record)
{
  XpPoint p;
  vec4 d = d_of[record];
  p.x = v3_of(x_of[record]);
  p.d = v3_of(d);
  p.w = d.w;
  return p;
}

void move(uint record, XpPoint p, V3 by) { d_of[record] = with_v3(v3_add(p.d, by), p.w); }

void main()
{
  uint i = gl_GlobalInvocationID.x;
  if (i >= push.count) return;
  uint b = i / 8u;
  uint l = i % 8u;
  uint r0 = word(b, 0u, l);
  if (r0 == push.nobody) return;
  uint r1 = word(b, 1u, l);
  XpPoint p0 = point(r0);
  XpPoint p1 = point(r1);
#if CORNERS > 2
  uint r2 = word(b, 2u, l);
  XpPoint p2 = point(r2);
#endif
#if CORNERS > 3
  uint r3 = word(b, 3u, l);
  XpPoint p3 = point(r3);
#endif
#if KIND == 0
  V3 by = xp_air_move(p0, p1, p2, number(b, 3u, l), number(b, 4u, l), push.h);
  move(r0, p0, v3_scale(by, p0.w));
  move(r1, p1, v3_scale(by, p1.w));
  move(r2, p2, v3_scale(by, p2.w));
#elif KIND == 1
  float c = push.zero;
  if (push.damping != 0) c = damping_of[i];
  XpSpringMove m = xp_spring_move(p0, p1, number(b, 2u, l), number(b, 3u, l), c, push.h, push.damping, read_lambda(b, 0u, l));
  keep_lambda(b, 0u, l, m.lambda);
  move(r0, p0, m.d0);
  move(r1, p1, m.d1);
#elif KIND == 2
  XpTriRest rest;
  rest.ax = number(b, 3u, l);
  rest.ay = number(b, 4u, l);
  rest.bx = number(b, 5u, l);
  rest.by = number(b, 6u, l);
  V3 lambda = v3(read_lambda(b, 0u, l), read_lambda(b, 1u, l), read_lambda(b, 2u, l));
  XpTri m = xp_tri_move(p0, p1, p2, rest, number(b, 7u, l), number(b, 8u, l), number(b, 9u, l), push.h, push.damping, push.springy, push.damped, lambda);
  keep_lambda(b, 0u, l, m.lambda.x);
  keep_lambda(b, 1u, l, m.lambda.y);
  keep_lambda(b, 2u, l, m.lambda.z);
  move(r0, p0, m.d0);
  move(r1, p1, m.d1);
  move(r2, p2, m.d2);
#elif KIND == 3
  XpEdge m = xp_edge_pass(p0, p1, p2, p3, number(b, 4u, l), number(b, 5u, l), number(b, 6u, l), push.h, push.damping, read_lambda(b, 0u, l));
  keep_lambda(b, 0u, l, m.lambda);
  move(r0, p0, m.d0);
  move(r1, p1, m.d1);
  move(r2, p2, m.d2);
  move(r3, p3, m.d3);
#else
  M33 pose = m33(v3(number(b, 4u, l), number(b, 5u, l), number(b, 6u, l)), v3(number(b, 7u, l), number(b, 8u, l), number(b, 9u, l)),
                 v3(number(b, 10u, l), number(b, 11u, l), number(b, 12u, l)));
  XpTet m = xp_tet_move(p0, p1, p2, p3, pose, number(b, 13u, l), number(b, 14u, l), number(b, 15u, l), push.h, push.damping,
                        read_lambda(b, 0u, l), read_lambda(b, 1u, l));
  keep_lambda(b, 0u, l, m.shape);
  keep_lambda(b, 1u, l, m.volume);
  move(r0, p0, m.d0);
  move(r1, p1, m.d1);
  move(r2, p2, m.d2);
  move(r3, p3, m.d3);
#endif
}
