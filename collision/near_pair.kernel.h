/* Near pairs of particles, triangles and edges, in the kernel dialect. Knows samebit/maths.h alone.
 *
 * near_* functions of boxes are for the broad phase: they never leave out what the others would find. */
#ifndef SAMEBIT_COLLISION_NEAR_PAIR_KERNEL_H
#define SAMEBIT_COLLISION_NEAR_PAIR_KERNEL_H

#include "samebit/maths.h"

/* How far beside a triangle or edge, in parts of its size, a vertex or crossing still counts: a little, and what it may
 * slide in the tick, up to this. */
#define NEAR_BESIDE 0.25f
#define NEAR_BESIDE_LEAST 0.02f
/* Features count as near up to this many thicknesses, and the way by which they may close in the tick. */
#define NEAR_ROOM 1.5f
/* A pair that is nearer than its thickness gets so much of it back in a tick. */
#define NEAR_PUSH 0.1f
/* sin^2 of the angle (10 degrees) below which two edges are taken for parallel: their vertices meet triangles then. */
#define NEAR_PARALLEL 0.03f
/* Edges whose common normal turns by so much in the tick that less than this part of it is left, or none, have no side
 * to keep to. */
#define NEAR_STEADY 0.25f

/* distance: of the features; where `counts` is false they make no pair. n: unit, from the first feature's nearest point
 * to the second's; 0 where they meet. side: 1 or -1, as samebit/particle_contact.h says. */
STRUCT(NearHit)
{
  F distance;
  V3 n;
  F side;
  M counts;
};

FN NearHit near_make(V3 apart, F side, M counts)
{
  NearHit h;
  F l2 = v3_len2(apart);
  h.distance = f_sqrt(l2);
  h.n = v3_normalize_or(apart, v3_zero());
  h.side = side;
  h.counts = counts;
  return h;
}

/* From x to the nearest point of the segment from a along d. */
FN V3 near_segment(V3 x, V3 a, V3 d)
{
  V3 r = v3_sub(a, x);
  F l2 = v3_len2(d);
  M ok = l2 > 0.0f;
  F t = f_clamp(f_div(-v3_dot(r, d), f_sel(ok, l2, K(1.0f))), K(0.0f), K(1.0f));
  return v3_add_scaled(r, d, t);
}
FN V3 near_shorter(V3 a, V3 b) { return v3_sel(v3_len2(a) <= v3_len2(b), a, b); }

FN NearHit near_points(V3 a, V3 b)
{
  V3 apart = v3_sub(b, a);
  return near_make(apart, K(1.0f), v3_len2(apart) >= 0.0f);
}

/* size2: square of the size */
FN F near_beside(F way, F size2)
{
  return f_min(K(NEAR_BESIDE), NEAR_BESIDE_LEAST + f_div(way, f_sqrt(f_max(size2, K(1.0e-20f)))));
}

/* A vertex and a triangle; way: how far the vertex may move past the triangle. */
FN NearHit near_face(V3 x, V3 a, V3 b, V3 c, F way)
{
  V3 e1 = v3_sub(b, a);
  V3 e2 = v3_sub(c, a);
  V3 d = v3_sub(x, a);
  V3 n = v3_cross(e1, e2);
  F n2 = v3_len2(n);
  M solid = n2 > 1.0e-30f;
  F inv = f_div(K(1.0f), f_sel(solid, n2, K(1.0f)));
  F v = v3_dot(v3_cross(d, e2), n) * inv;
  F w = v3_dot(v3_cross(e1, d), n) * inv;
  F u = (1.0f - v) - w;
  F least = f_min(f_min(u, v), w);
  F height = v3_dot(d, n);
  V3 border =
      near_shorter(near_shorter(near_segment(x, a, e1), near_segment(x, a, e2)), near_segment(x, b, v3_sub(c, b)));
  V3 apart = v3_sel(least >= 0.0f, v3_scale(n, -(height * inv)), border);
  F side = f_sel(height >= 0.0f, K(1.0f), K(-1.0f));
  return near_make(apart, side, m_and(solid, least >= -near_beside(way, f_sqrt(n2))));
}

/* Edges p0 p1 and q0 q1; way: how far they may move past each other; turn_p, turn_q: what p1 - p0 and q1 - q0 change by
 * in the tick. */
FN NearHit near_edges(V3 p0, V3 p1, V3 q0, V3 q1, F way, V3 turn_p, V3 turn_q)
{
  V3 d1 = v3_sub(p1, p0);
  V3 d2 = v3_sub(q1, q0);
  V3 r = v3_sub(q0, p0);
  F a = v3_len2(d1);
  F e = v3_len2(d2);
  F b = v3_dot(d1, d2);
  F c = v3_dot(d1, r);
  F f = v3_dot(d2, r);
  V3 n = v3_cross(d1, d2);
  F n2 = v3_len2(n); /* a e - b^2, without its rounding */
  M skew = m_and(n2 > NEAR_PARALLEL * (a * e), n2 > 1.0e-30f);
  V3 later = v3_cross(v3_add(d1, turn_p), v3_add(d2, turn_q));
  M steady = v3_dot(n, later) > NEAR_STEADY * n2;
  F inv = f_div(K(1.0f), f_sel(skew, n2, K(1.0f)));
  F s = (c * e - b * f) * inv;
  F t = (b * c - a * f) * inv;
  M crossing = m_and(f_abs(s - 0.5f) <= 0.5f + near_beside(way, a), f_abs(t - 0.5f) <= 0.5f + near_beside(way, e));
  /* the nearest points of the segments (Ericson, Real-Time Collision Detection 2005, 5.1.9) */
  s = f_clamp(s, K(0.0f), K(1.0f));
  F safe_e = f_sel(e > 1.0e-30f, e, K(1.0f));
  F safe_a = f_sel(a > 1.0e-30f, a, K(1.0f));
  t = f_clamp(f_div(b * s - f, safe_e), K(0.0f), K(1.0f));
  s = f_clamp(f_div(b * t + c, safe_a), K(0.0f), K(1.0f));
  V3 apart = v3_sub(v3_add_scaled(r, d2, t), v3_scale(d1, s));
  return near_make(apart, f_sel(v3_dot(n, apart) >= 0.0f, K(1.0f), K(-1.0f)), m_and(m_and(skew, steady), crossing));
}

/* The larger of a and the square of u - v: one root of the largest square is the largest of all roots. */
FN F near_faster2(F a, V3 u, V3 v) { return f_max(a, v3_len2(v3_sub(u, v))); }

/* The larger of a and the speed at which a point with velocity u closes in on one with velocity v, that lies along n.
 */
FN F near_closing(F a, V3 u, V3 v, V3 n) { return f_max(a, v3_dot(v3_sub(u, v), n)); }

/* Distance below which two features make a pair: speed is the largest at which any of one's vertices closes in on one
 * of the other's. */
FN F near_cut(F thickness, F speed, F dt) { return thickness * NEAR_ROOM + speed * dt; }

/* Two features in the tick: how they lie, the full thickness between them, and the distance below which they make a pair; below 0 where they never do. */
STRUCT(NearMet)
{
  NearHit hit;
  F thickness;
  F cut;
};

FN NearMet near_met_of(NearHit hit, F thickness, F speed, F dt)
{
  NearMet m;
  m.hit = hit;
  m.thickness = thickness;
  m.cut = f_sel(hit.counts, near_cut(thickness, speed, dt), K(-1.0f));
  return m;
}

/* Velocities of the four particles of a pair, and their radii, in the order of the particles. */
STRUCT(NearMotion)
{
  V3 a;
  V3 b;
  V3 c;
  V3 d;
};
STRUCT(NearRadii)
{
  F a;
  F b;
  F c;
  F d;
};

FN NearMet near_meet_points(V3 a, V3 b, V3 va, V3 vb, F thickness, F dt)
{
  NearHit h = near_points(a, b);
  return near_met_of(h, thickness, near_closing(K(0.0f), va, vb, h.n), dt);
}

FN NearMet near_meet_face(V3 x, V3 a, V3 b, V3 c, NearMotion v, NearRadii r, F dt)
{
  F speed = f_sqrt(near_faster2(near_faster2(near_faster2(K(0.0f), v.a, v.b), v.a, v.c), v.a, v.d));
  NearHit h = near_face(x, a, b, c, speed * dt);
  F closing = near_closing(near_closing(near_closing(K(0.0f), v.a, v.b, h.n), v.a, v.c, h.n), v.a, v.d, h.n);
  return near_met_of(h, r.a + f_max(f_max(r.b, r.c), r.d), closing, dt);
}

/* Edges do not get the way added: far from each other they turn to either side of the line between them, and vertices meet triangles before.
 * near_edge_reach counts on it. */
FN NearMet near_meet_edges(V3 p0, V3 p1, V3 q0, V3 q1, NearMotion v, NearRadii r, F dt)
{
  F speed = f_sqrt(near_faster2(near_faster2(near_faster2(near_faster2(K(0.0f), v.a, v.c), v.a, v.d), v.b, v.c), v.b, v.d));
  NearMet m;
  m.hit = near_edges(p0, p1, q0, q1, speed * dt, v3_scale(v3_sub(v.b, v.a), dt), v3_scale(v3_sub(v.d, v.c), dt));
  m.thickness = f_max(r.a, r.b) + f_max(r.c, r.d);
  m.cut = f_sel(m.hit.counts, m.thickness * NEAR_ROOM, K(-1.0f));
  return m;
}

/* The full thickness of two features of one deformable: what is nearer than that at rest is not pushed apart. */
FN F near_thinner(F thickness, F rest_distance) { return f_sel(rest_distance < thickness, rest_distance, thickness); }
/* The distance that makes a pair of them, when `cut` was that of the full thickness. */
FN F near_thinner_cut(NearMet m, F thinner) { return f_sel(thinner < m.thickness, thinner * NEAR_ROOM + (m.cut - NEAR_ROOM * m.thickness), m.cut); }
/* What has come too near is pushed apart gently: at once, it would fly off. */
FN F near_pushed(F thickness, F distance) { return f_min(thickness, distance + NEAR_PUSH * thickness); }

/* Whether edges of one surface are so near each other at rest, for their lengths, that they turn through one plane as
 * it bends: no side is theirs to keep, and their vertices meet triangles before they meet. */
FN M near_are_neighbours(F rest_distance, F length_p, F length_q)
{
  return rest_distance < 1.1f * f_max(length_p, length_q);
}

/* --- boxes --- */

STRUCT(NearBox)
{
  V3 lo;
  V3 hi;
};

FN NearBox near_box_none(void)
{
  NearBox b;
  b.lo = v3(K(1.0e15f), K(1.0e15f), K(1.0e15f));
  b.hi = v3(K(-1.0e15f), K(-1.0e15f), K(-1.0e15f));
  return b;
}
FN NearBox near_box_join(NearBox a, NearBox b)
{
  NearBox r;
  r.lo = v3(f_min(a.lo.x, b.lo.x), f_min(a.lo.y, b.lo.y), f_min(a.lo.z, b.lo.z));
  r.hi = v3(f_max(a.hi.x, b.hi.x), f_max(a.hi.y, b.hi.y), f_max(a.hi.z, b.hi.z));
  return r;
}
FN NearBox near_box_of(V3 a, V3 b, V3 c)
{
  NearBox r;
  r.lo = v3(f_min(f_min(a.x, b.x), c.x), f_min(f_min(a.y, b.y), c.y), f_min(f_min(a.z, b.z), c.z));
  r.hi = v3(f_max(f_max(a.x, b.x), c.x), f_max(f_max(a.y, b.y), c.y), f_max(f_max(a.z, b.z), c.z));
  return r;
}

/* Distance of two intervals along one axis, below 0 where they overlap. */
FN F near_gap(F lo_a, F hi_a, F lo_b, F hi_b) { return f_max(lo_a - hi_b, lo_b - hi_a); }
/* Whether the boxes are within reach of each other: they are never farther apart than what they hold. */
FN M near_boxes_meet(NearBox a, NearBox b, F reach)
{
  F x = f_max(near_gap(a.lo.x, a.hi.x, b.lo.x, b.hi.x), K(0.0f));
  F y = f_max(near_gap(a.lo.y, a.hi.y, b.lo.y, b.hi.y), K(0.0f));
  F z = f_max(near_gap(a.lo.z, a.hi.z, b.lo.z, b.hi.z), K(0.0f));
  return (x * x + y * y) + z * z <= reach * reach;
}

/* The fastest that anything in box a closes in on anything in box b along the line between them; va, vb: boxes of their
 * velocities. Along an axis on which the boxes lie apart, by more than `certain`, only one direction closes. */
FN F near_approach(F lo_a, F hi_a, F lo_b, F hi_b, F v_lo_a, F v_hi_a, F v_lo_b, F v_hi_b, F certain)
{
  F up = v_hi_a - v_lo_b;
  F down = v_hi_b - v_lo_a;
  F both = f_max(up, down);
  both = f_sel(lo_b - hi_a > certain, up, f_sel(lo_a - hi_b > certain, down, both));
  return f_max(both, K(0.0f));
}
/* thickness: sum of the largest radii. Less than this could be rounding. */
FN F near_certain(F thickness) { return thickness * 0.05f + 1.0e-6f; }
FN F near_speed(NearBox a, NearBox b, NearBox va, NearBox vb, F certain)
{
  return v3_len(v3(near_approach(a.lo.x, a.hi.x, b.lo.x, b.hi.x, va.lo.x, va.hi.x, vb.lo.x, vb.hi.x, certain),
                   near_approach(a.lo.y, a.hi.y, b.lo.y, b.hi.y, va.lo.y, va.hi.y, vb.lo.y, vb.hi.y, certain),
                   near_approach(a.lo.z, a.hi.z, b.lo.z, b.hi.z, va.lo.z, va.hi.z, vb.lo.z, vb.hi.z, certain)));
}

/* Within reach, with a little room for rounding. thickness: sum of the largest radii. */
FN F near_reach(F thickness, F speed, F dt) { return near_cut(thickness, speed, dt) * 1.001f; }

/* That of edges, which do not get the way added. */
FN F near_edge_reach(F thickness) { return (thickness * NEAR_ROOM) * 1.001f; }

/* Unit normal of a triangle, or some direction where it has none. */
FN V3 near_normal(V3 a, V3 b, V3 c) { return v3_normalize_or(v3_cross(v3_sub(b, a), v3_sub(c, a)), v3(K(0.0f), K(0.0f), K(1.0f))); }

/* Whether all unit vectors in the box lie within 60 degrees of one direction: a connected piece of surface with such
 * normals does not fold onto itself (Volino, Magnenat-Thalmann 1994; Provot 1997). */
FN M near_is_flat(NearBox normals)
{
  V3 middle = v3_scale(v3_add(normals.lo, normals.hi), K(0.5f));
  V3 spread = v3_scale(v3_sub(normals.hi, normals.lo), K(0.5f));
  F l = v3_len(middle);
  F least = l * l - ((spread.x * f_abs(middle.x) + spread.y * f_abs(middle.y)) + spread.z * f_abs(middle.z));
  return least > 0.5f * l;
}
/* Whether a unit vector lies within 45 degrees of the middle of such a box, whose length is any: finer, where vectors are asked one by one, and so with some room for what
 * the surface bends in the tick, which the box has in its corners. */
FN V3 near_middle(NearBox normals) { return v3_add(normals.lo, normals.hi); }
FN F near_least_lean(V3 middle) { return 0.7f * v3_len(middle); }
FN M near_leans_by(V3 normal, V3 middle, F least) { return v3_dot(normal, middle) > least; }
FN M near_leans(V3 normal, V3 middle) { return near_leans_by(normal, middle, near_least_lean(middle)); }

#endif
