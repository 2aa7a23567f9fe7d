/* Convex shapes by their support points, in the scalar part of the kernel dialect: text that branches on data, so it is compiled as
 * scalar C and as GLSL, not over lanes. Knows narrow_manifold.kernel.h.
 *
 * A shape is a core with a radius around it: a point for a sphere, a segment for a capsule, the solid itself with radius 0 for all
 * others. All of a pair is given in one frame.
 *
 * Whoever includes this says where geometry lies: GEO_PARAM and GEO (first parameter and argument of functions, each with its comma,
 * or nothing), GEO_VERTEX(i), GEO_NORMAL(f) as V3, GEO_FIRST(f), GEO_CORNERS(f), GEO_CORNER(k) as U, all counted over the whole model;
 * and GEO_FARTHEST_VERTEX(first, count, d), GEO_FARTHEST_FACE(first, count, d): which of these vertices, or faces' normals, is the
 * farthest along d, counted from the first, of equal ones the first. */
#ifndef SAMEBIT_COLLISION_CONVEX_KERNEL_H
#define SAMEBIT_COLLISION_CONVEX_KERNEL_H

#include "narrow_manifold.kernel.h"

#ifndef SB_GLSL
#include <stdbool.h>
#endif

/* Large structs are handed over in place. VIEW and EDIT declare a parameter that is read, or changed; AT(x) is what such a parameter x
 * names, TO(x) hands a variable over. */
#ifdef SB_GLSL
#define VIEW(type, x) type x
#define EDIT(type, x) inout type x
#define AT(x) x
#define TO(x) x
#else
#define VIEW(type, x) const type *x
#define EDIT(type, x) type *x
#define AT(x) (*(x))
#define TO(x) (&(x))
#endif

/* As SB_SHAPE_*; a triangle is no shape of its own. */
#define CONVEX_SPHERE 1u
#define CONVEX_CAPSULE 2u
#define CONVEX_BOX 3u
#define CONVEX_CYLINDER 4u
#define CONVEX_ELLIPSOID 5u
#define CONVEX_HULL 6u
#define CONVEX_TRIANGLE 9u

STRUCT(Convex)
{
  U type;
  V3 size;
  V3 p; /* origin of the shape frame */
  M33 r; /* columns are the axes of the shape frame */
  F radius;
  F reach; /* no point is farther from p along any axis of the shape frame */
  U vertices; U vertex_count; U faces; U face_count; /* hull: its first vertex and face, counted over the model */
  V3 t0; V3 t1; V3 t2; V3 tn; /* triangle: vertices and unit normal in the pair's frame */
};

FN Convex convex_of(U type, V3 size, V3 p, M33 r)
{
  Convex c;
  c.type = type;
  c.size = size;
  c.p = p;
  c.r = r;
  c.radius = type == CONVEX_SPHERE || type == CONVEX_CAPSULE ? size.x : K(0.0f);
  c.reach = type == CONVEX_SPHERE ? size.x
          : type == CONVEX_CAPSULE ? size.x + size.y
          : type == CONVEX_CYLINDER ? f_max(size.x, size.y) : f_max(f_max(size.x, size.y), size.z);
  c.vertices = KU(0u); c.vertex_count = KU(0u); c.faces = KU(0u); c.face_count = KU(0u);
  c.t0 = v3_zero(); c.t1 = v3_zero(); c.t2 = v3_zero(); c.tn = v3_zero();
  return c;
}

/* Axis k of the shape frame. A constant 0 is never multiplied: devices differ in whether they fold it. */
FN V3 convex_axis(VIEW(Convex, s), U k)
{
  return v3(narrow_pick(AT(s).r.r0, k), narrow_pick(AT(s).r.r1, k), narrow_pick(AT(s).r.r2, k));
}

/* The point of the core of a solid farthest along d, in the shape frame; of equal ones the first. */
FN V3 convex_core_support(GEO_PARAM VIEW(Convex, s), V3 d)
{
#ifndef CONVEX_BASIC
  if (AT(s).type == CONVEX_CYLINDER) {
    F across = d.x * d.x + d.y * d.y;
    bool upright = across <= 1.0e-14f * (d.z * d.z);
    F k = upright ? K(0.0f) : f_div(AT(s).size.x, f_sqrt(across));
    return v3(upright ? AT(s).size.x : d.x * k, d.y * k, f_sel(d.z >= 0.0f, AT(s).size.y, -AT(s).size.y));
  }
  if (AT(s).type == CONVEX_ELLIPSOID) {
    V3 e = v3(AT(s).size.x * d.x, AT(s).size.y * d.y, AT(s).size.z * d.z);
    V3 u = v3_normalize_or(e, v3(K(1.0f), K(0.0f), K(0.0f)));
    return v3(AT(s).size.x * u.x, AT(s).size.y * u.y, AT(s).size.z * u.z);
  }
  if (AT(s).type == CONVEX_HULL) return GEO_VERTEX(AT(s).vertices + GEO_FARTHEST_VERTEX(AT(s).vertices, AT(s).vertex_count, d));
#endif
  return v3(AT(s).size.x * narrow_sign(d.x), AT(s).size.y * narrow_sign(d.y), AT(s).size.z * narrow_sign(d.z));
}

/* The same in the pair's frame. */
FN V3 convex_support(GEO_PARAM VIEW(Convex, s), V3 d)
{
  if (AT(s).type == CONVEX_TRIANGLE) {
    F d0 = v3_dot(AT(s).t0, d);
    F d1 = v3_dot(AT(s).t1, d);
    F d2 = v3_dot(AT(s).t2, d);
    return d0 >= d1 && d0 >= d2 ? AT(s).t0 : (d1 >= d2 ? AT(s).t1 : AT(s).t2);
  }
  if (AT(s).type == CONVEX_SPHERE) return AT(s).p;
  if (AT(s).type == CONVEX_CAPSULE) {
    V3 axis = convex_axis(s, KU(2u));
    return v3_add_scaled(AT(s).p, axis, f_sel(v3_dot(axis, d) >= 0.0f, AT(s).size.y, -AT(s).size.y));
  }
  return v3_add(AT(s).p, m33_mul_v3(AT(s).r, convex_core_support(GEO s, m33_tmul_v3(AT(s).r, d))));
}

/* Separation along the unit vector n from a to b, radii included: below 0 when the shapes overlap along n. The signed distance of two
 * convex shapes is the largest of these. */
FN F convex_separation(GEO_PARAM VIEW(Convex, a), VIEW(Convex, b), V3 n)
{
  V3 w = v3_sub(convex_support(GEO b, v3_neg(n)), convex_support(GEO a, n));
  return v3_dot(w, n) - (AT(a).radius + AT(b).radius);
}

/* cos(45 degrees) */
#define FEATURE_DIAGONAL 0.70710678f

/* --- features: what a shape has to offer along a direction --- */

#ifndef FEATURE_MAX
#define FEATURE_MAX 16 /* fewer where no shape has as many */
#endif

/* A face (3 corners or more, counter-clockwise around n), an edge (2), or nothing flat (1, the point left out). id tells it from the
 * shape's other features. Pair's frame, the radius included. */
STRUCT(Feature)
{
  F x[FEATURE_MAX]; F y[FEATURE_MAX]; F z[FEATURE_MAX];
  V3 n;
  U count;
  U id;
};

FN V3 feature_at(VIEW(Feature, f), U i) { return v3(AT(f).x[i], AT(f).y[i], AT(f).z[i]); }

/* The corner after corner i. */
FN V3 feature_next(VIEW(Feature, f), U i) { return feature_at(f, i + 1u == AT(f).count ? KU(0u) : i + 1u); }

FN void feature_put(EDIT(Feature, f), U i, V3 v)
{
  AT(f).x[i] = v.x; AT(f).y[i] = v.y; AT(f).z[i] = v.z;
}

FN Feature feature_none(V3 n)
{
  Feature f;
  for (int i = 0; i < FEATURE_MAX; i++) {
    f.x[i] = K(0.0f); f.y[i] = K(0.0f); f.z[i] = K(0.0f);
  }
  f.n = n;
  f.count = KU(1u);
  f.id = KU(0u);
  return f;
}

FN Feature feature_box(VIEW(Convex, s), V3 d)
{
  V3 l = m33_tmul_v3(AT(s).r, d);
  V3 al = v3(f_abs(l.x), f_abs(l.y), f_abs(l.z));
  U k = al.x >= al.y && al.x >= al.z ? KU(0u) : (al.y >= al.z ? KU(1u) : KU(2u));
  F side = narrow_sign(narrow_pick(l, k));
  U i = k == 2u ? KU(0u) : k + 1u;
  U j = k == 0u ? KU(2u) : k - 1u;
  Feature f = feature_none(v3_scale(convex_axis(s, k), side));
  f.count = KU(4u);
  f.id = k * 2u + (side > 0.0f ? KU(1u) : KU(0u));
  for (U c = KU(0u); c < 4u; c++) {
    F si = c == 0u || c == 3u ? K(1.0f) : K(-1.0f);
    F sj = c < 2u ? side : -side;
    V3 v = v3_add_scaled(AT(s).p, convex_axis(s, k), side * narrow_pick(AT(s).size, k));
    v = v3_add_scaled(v3_add_scaled(v, convex_axis(s, i), si * narrow_pick(AT(s).size, i)), convex_axis(s, j), sj * narrow_pick(AT(s).size, j));
    feature_put(TO(f), c, v);
  }
  return f;
}

#ifndef CONVEX_BASIC
FN Feature feature_hull(GEO_PARAM VIEW(Convex, s), V3 d)
{
  V3 l = m33_tmul_v3(AT(s).r, d);
  U best = GEO_FARTHEST_FACE(AT(s).faces, AT(s).face_count, l);
  U face = AT(s).faces + best;
  Feature f = feature_none(m33_mul_v3(AT(s).r, GEO_NORMAL(face)));
  f.count = GEO_CORNERS(face) < 16u ? GEO_CORNERS(face) : KU(16u);
  f.id = best;
  for (U c = KU(0u); c < f.count; c++) {
    U v = AT(s).vertices + GEO_CORNER(GEO_FIRST(face) + c);
    feature_put(TO(f), c, v3_add(AT(s).p, m33_mul_v3(AT(s).r, GEO_VERTEX(v))));
  }
  return f;
}

/* A cap, as an octagon on its rim whose corners stay fixed in the shape; or the line of the side. */
FN Feature feature_cylinder(VIEW(Convex, s), V3 d)
{
  V3 l = m33_tmul_v3(AT(s).r, d);
  F across = f_sqrt(l.x * l.x + l.y * l.y);
  if (f_abs(l.z) >= across) {
    F side = narrow_sign(l.z);
    V3 x_axis = convex_axis(s, KU(0u));
    V3 y_axis = convex_axis(s, KU(1u));
    V3 n = v3_scale(convex_axis(s, KU(2u)), side);
    V3 middle = v3_add_scaled(AT(s).p, n, AT(s).size.y);
    Feature f = feature_none(n);
    f.count = KU(8u);
    f.id = side > 0.0f ? KU(1u) : KU(0u);
    F e = FEATURE_DIAGONAL * AT(s).size.x;
    for (U c = KU(0u); c < 8u; c++) {
      U q = c & 3u;
      F turned = c >= 4u ? K(-1.0f) : K(1.0f);
      F x = q == 0u ? AT(s).size.x : (q == 1u ? e : -e);
      F y = q == 2u ? AT(s).size.x : e;
      V3 v = middle;
      if (q != 2u) v = v3_add_scaled(v, x_axis, x * turned);
      if (q != 0u) v = v3_add_scaled(v, y_axis, (y * turned) * side);
      feature_put(TO(f), c, v);
    }
    return f;
  }
  F inv = f_div(K(1.0f), across);
  V3 n = v3_add_scaled(v3_scale(convex_axis(s, KU(0u)), l.x * inv), convex_axis(s, KU(1u)), l.y * inv);
  V3 axis = convex_axis(s, KU(2u));
  V3 middle = v3_add_scaled(AT(s).p, n, AT(s).size.x);
  Feature f = feature_none(n);
  f.count = KU(2u);
  f.id = KU(2u);
  feature_put(TO(f), KU(0u), v3_add_scaled(middle, axis, -AT(s).size.y));
  feature_put(TO(f), KU(1u), v3_add_scaled(middle, axis, AT(s).size.y));
  return f;
}

#endif
FN Feature feature_capsule(VIEW(Convex, s), V3 d)
{
  V3 axis = convex_axis(s, KU(2u));
  V3 n = v3_normalize_or(v3_add_scaled(d, axis, -v3_dot(d, axis)), d);
  Feature f = feature_none(n);
  f.count = KU(2u);
  V3 middle = v3_add_scaled(AT(s).p, d, AT(s).radius);
  feature_put(TO(f), KU(0u), v3_add_scaled(middle, axis, -AT(s).size.y));
  feature_put(TO(f), KU(1u), v3_add_scaled(middle, axis, AT(s).size.y));
  return f;
}

FN Feature feature_triangle(VIEW(Convex, s))
{
  Feature f = feature_none(AT(s).tn);
  f.count = KU(3u);
  feature_put(TO(f), KU(0u), AT(s).t0);
  feature_put(TO(f), KU(1u), AT(s).t1);
  feature_put(TO(f), KU(2u), AT(s).t2);
  return f;
}

/* The face or edge whose outward normal is nearest to the unit vector d. */
FN Feature convex_feature(GEO_PARAM VIEW(Convex, s), V3 d)
{
  if (AT(s).type == CONVEX_BOX) return feature_box(s, d);
#ifndef CONVEX_BASIC
  if (AT(s).type == CONVEX_HULL) return feature_hull(GEO s, d);
  if (AT(s).type == CONVEX_CYLINDER) return feature_cylinder(s, d);
#endif
  if (AT(s).type == CONVEX_CAPSULE) return feature_capsule(s, d);
  if (AT(s).type == CONVEX_TRIANGLE) return feature_triangle(s);
  return feature_none(d);
}

#endif
