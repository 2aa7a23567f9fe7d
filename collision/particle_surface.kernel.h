/* The nearest points of hulls and triangles to a particle, in the scalar part of the kernel dialect and in the shape's frame. Knows
 * convex_distance.kernel.h and particle_shape.kernel.h; geometry is reached as convex.kernel.h says. */
#ifndef SAMEBIT_COLLISION_PARTICLE_SURFACE_KERNEL_H
#define SAMEBIT_COLLISION_PARTICLE_SURFACE_KERNEL_H

#include "convex_distance.kernel.h"
#include "particle_shape.kernel.h"

/* The point of the segment from a to b nearest to x. */
FN V3 particle_segment(V3 x, V3 a, V3 b)
{
  V3 d = v3_sub(b, a);
  F l2 = v3_len2(d);
  F t = l2 > 0.0f ? f_clamp(f_div(v3_dot(v3_sub(x, a), d), l2), K(0.0f), K(1.0f)) : K(0.0f);
  return v3_add_scaled(a, d, t);
}

/* The point of a hull's face nearest to x, which is `height` above its plane. */
FN V3 particle_polygon(GEO_PARAM V3 x, U vertices, U face, F height)
{
  V3 n = GEO_NORMAL(face);
  U corners = GEO_CORNERS(face);
  V3 best = v3_zero();
  F least = K(NARROW_NO_POINT);
  bool inside = true;
  for (U k = KU(0u); k < corners; k++) {
    V3 a = GEO_VERTEX(vertices + GEO_CORNER(GEO_FIRST(face) + k));
    V3 b = GEO_VERTEX(vertices + GEO_CORNER(GEO_FIRST(face) + (k + 1u == corners ? KU(0u) : k + 1u)));
    if (v3_dot(v3_cross(n, v3_sub(b, a)), v3_sub(x, a)) >= 0.0f) continue;
    inside = false;
    V3 q = particle_segment(x, a, b);
    F d = v3_len2(v3_sub(x, q));
    if (d < least) {
      least = d;
      best = q;
    }
  }
  return inside ? v3_add_scaled(x, n, -height) : best;
}

/* The nearest point of a hull, given by its first vertex and faces; of equal faces the first counts. Where it is farther than reach,
 * the distance is only known to be that. */
FN ParticleHit particle_hull(GEO_PARAM V3 x, U vertices, U faces, U count, F reach)
{
  U top = KU(0u);
  F most = K(-NARROW_NO_POINT);
  for (U f = KU(0u); f < count; f++) {
    F height = v3_dot(GEO_NORMAL(faces + f), v3_sub(x, GEO_VERTEX(vertices + GEO_CORNER(GEO_FIRST(faces + f)))));
    if (height > most) {
      most = height;
      top = f;
    }
  }
  V3 n = GEO_NORMAL(faces + top);
  if (most <= 0.0f || most >= reach) return particle_hit(n, v3_add_scaled(x, n, -most), most);
  V3 point = v3_zero();
  F least = K(NARROW_NO_POINT);
  for (U f = KU(0u); f < count; f++) {
    F height = v3_dot(GEO_NORMAL(faces + f), v3_sub(x, GEO_VERTEX(vertices + GEO_CORNER(GEO_FIRST(faces + f)))));
    if (!(height > 0.0f)) continue;
    V3 q = particle_polygon(GEO x, vertices, faces + f, height);
    F d = v3_len2(v3_sub(x, q));
    if (d < least) {
      least = d;
      point = q;
    }
  }
  V3 d = v3_sub(x, point);
  n = v3_normalize_or(d, n);
  return particle_hit(n, point, v3_dot(d, n));
}

/* The point of the triangle a, b, c nearest to x. */
FN V3 particle_triangle(V3 x, V3 a, V3 b, V3 c)
{
  V3 w = triangle_weights(v3_sub(a, x), v3_sub(b, x), v3_sub(c, x));
  return v3_add_scaled(v3_add_scaled(v3_scale(a, w.x), b, w.y), c, w.z);
}

#endif
