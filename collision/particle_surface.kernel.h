/* The nearest points of hulls and triangles to a particle, in the scalar part of the kernel dialect and in the shape's frame. Knows
 * surface.kernel.h and particle_shape.kernel.h; geometry is reached as those and convex.kernel.h say. */
#ifndef SAMEBIT_COLLISION_PARTICLE_SURFACE_KERNEL_H
#define SAMEBIT_COLLISION_PARTICLE_SURFACE_KERNEL_H

#include "particle_shape.kernel.h"
#include "surface.kernel.h"

/* The point of the segment from a to b nearest to x. */
FN V3 particle_segment(V3 x, V3 a, V3 b)
{
  V3 d = v3_sub(b, a);
  F l2 = v3_len2(d);
  F t = l2 > 0.0f ? f_clamp(f_div(v3_dot(v3_sub(x, a), d), l2), K(0.0f), K(1.0f)) : K(0.0f);
  return v3_add_scaled(a, d, t);
}

#ifndef CONVEX_BASIC
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

#endif

/* The point of the triangle a, b, c nearest to x. */
FN V3 particle_triangle(V3 x, V3 a, V3 b, V3 c)
{
  V3 w = triangle_weights(v3_sub(a, x), v3_sub(b, x), v3_sub(c, x));
  return v3_add_scaled(v3_add_scaled(v3_scale(a, w.x), b, w.y), c, w.z);
}

/* --- surfaces --- */

/* As SB_PARTICLE_MAX_FACES. */
#define PARTICLE_FACES 3
#define PARTICLE_NO_FACE 0xffffffffu

/* The nearest faces of a surface, by distance, of equal ones the first triangle. */
STRUCT(ParticleSearch)
{
  V3 x;
  F reach; F radius;
  bool solid_below; /* heightfield */
  U count;
  F nx[PARTICLE_FACES]; F ny[PARTICLE_FACES]; F nz[PARTICLE_FACES];
  F px[PARTICLE_FACES]; F py[PARTICLE_FACES]; F pz[PARTICLE_FACES];
  F distance[PARTICLE_FACES];
  U id[PARTICLE_FACES];
  ParticleHit below; /* the nearest face that the centre is below */
  U below_id;
  bool under; /* the centre is under a heightfield */
};

FN ParticleSearch particle_search(V3 x, F reach, F radius, bool solid_below)
{
  ParticleSearch s;
  s.x = x;
  s.reach = reach;
  s.radius = radius;
  s.solid_below = solid_below;
  s.count = KU(0u);
  s.below = particle_hit(x, x, K(0.0f));
  s.below_id = PARTICLE_NO_FACE;
  s.under = false;
  return s;
}

FN ParticleHit particle_face(VIEW(ParticleSearch, s), U i)
{
  return particle_hit(v3(AT(s).nx[i], AT(s).ny[i], AT(s).nz[i]), v3(AT(s).px[i], AT(s).py[i], AT(s).pz[i]), AT(s).distance[i]);
}

FN void particle_put_face(EDIT(ParticleSearch, s), U i, ParticleHit h, U id)
{
  AT(s).nx[i] = h.n.x; AT(s).ny[i] = h.n.y; AT(s).nz[i] = h.n.z;
  AT(s).px[i] = h.point.x; AT(s).py[i] = h.point.y; AT(s).pz[i] = h.point.z;
  AT(s).distance[i] = h.distance;
  AT(s).id[i] = id;
}

/* Two points on one plane hold the particle back alike. */
FN bool particle_same_plane(ParticleHit a, ParticleHit b, F reach)
{
  return v3_dot(a.n, b.n) > 0.99999f && f_abs(v3_dot(v3_sub(a.point, b.point), a.n)) <= 1.0e-4f * reach;
}

FN bool particle_is_nearer(F distance, U id, F than, U than_id) { return distance < than || (distance == than && id < than_id); }

FN void particle_keep(EDIT(ParticleSearch, s), ParticleHit f, U id)
{
  for (U i = KU(0u); i < AT(s).count; i++)
    if (particle_same_plane(particle_face(s, i), f, AT(s).reach)) return;
  U at = KU(PARTICLE_FACES);
  if (AT(s).count < PARTICLE_FACES) {
    at = AT(s).count;
    AT(s).count = at + 1u;
  }
  while (at > 0u && particle_is_nearer(f.distance, id, AT(s).distance[at - 1u], AT(s).id[at - 1u])) {
    if (at < PARTICLE_FACES) particle_put_face(s, at, particle_face(s, at - 1u), AT(s).id[at - 1u]);
    at = at - 1u;
  }
  if (at < PARTICLE_FACES) particle_put_face(s, at, f, id);
}

/* Who says whether the nearest point, on an edge or at a vertex, belongs there, as triangle_owner() tells; q: from it to the particle. */
FN U particle_owner(VIEW(SurfaceTriangle, t), V3 point, V3 q)
{
  Convex c = convex_of(CONVEX_TRIANGLE, v3_zero(), v3_zero(), m33(v3_zero(), v3_zero(), v3_zero())); /* its frame is not asked for */
  c.t0 = AT(t).v0;
  c.t1 = AT(t).v1;
  c.t2 = AT(t).v2;
  c.tn = AT(t).n;
  c.reach = f_sqrt(f_max(v3_len2(v3_sub(c.t1, c.t0)), v3_len2(v3_sub(c.t2, c.t0))));
  TriangleEdges e;
  e.n0 = AT(t).n0;
  e.n1 = AT(t).n1;
  e.n2 = AT(t).n2;
  e.open_edges = AT(t).open_edges;
  U at = triangle_edges_at(TO(c), point);
  return at == 0u ? KU(1u) : triangle_owner(TO(c), e, at, q);
}

/* Whether x lies under or over the triangle along z; borders count. */
FN bool particle_in_column(VIEW(SurfaceTriangle, t), V3 x)
{
  bool inside = true;
  for (U k = KU(0u); k < 3u; k++) {
    V3 a = surface_vertex(t, k);
    V3 b = surface_vertex(t, k == 2u ? KU(0u) : k + 1u);
    if ((b.x - a.x) * (x.y - a.y) - (b.y - a.y) * (x.x - a.x) < 0.0f) inside = false;
  }
  return inside;
}

/* The centre is below the face. A heightfield is solid all the way down. A mesh counts a centre straight below a face and no deeper than the
 * radius as on its outside still. */
FN void particle_below(EDIT(ParticleSearch, s), VIEW(SurfaceTriangle, t), V3 point, F distance, bool straight)
{
  if (AT(s).solid_below && particle_in_column(t, AT(s).x)) AT(s).under = true;
  if (!AT(s).solid_below && !(straight && distance <= AT(s).radius)) return;
  if (AT(s).below_id != PARTICLE_NO_FACE && !particle_is_nearer(distance, AT(t).id, -AT(s).below.distance, AT(s).below_id)) return;
  AT(s).below = particle_hit(AT(t).n, point, -distance);
  AT(s).below_id = AT(t).id;
}

/* What a triangle offers: owner 0 nothing, 1 the hit, 2 + k the hit if the edges around vertex k, asked with q, admit it. */
STRUCT(ParticleOffer) { ParticleHit hit; V3 q; U owner; };

/* Above the face the particle may touch it, or an edge or vertex that owns the nearest point. */
FN ParticleOffer particle_offer(EDIT(ParticleSearch, s), VIEW(SurfaceTriangle, t))
{
  ParticleOffer o;
  V3 n = AT(t).n;
  V3 point = particle_triangle(AT(s).x, AT(t).v0, AT(t).v1, AT(t).v2);
  V3 d = v3_sub(AT(s).x, point);
  F height = v3_dot(v3_sub(AT(s).x, AT(t).v0), n);
  F distance = v3_len(d);
  bool straight = f_abs(height) >= 0.9999f * distance;
  o.q = n;
  o.hit = particle_hit(n, point, height);
  o.owner = KU(0u);
  if (height <= 0.0f) {
    particle_below(s, t, point, distance, straight);
    return o;
  }
  if (!(distance < AT(s).reach)) return o;
  o.owner = KU(1u);
  if (straight) return o;
  o.q = v3_normalize_or(d, n);
  o.hit = particle_hit(o.q, point, distance);
  o.owner = particle_owner(t, point, o.q);
  return o;
}

/* After all triangles: a particle that is to be pushed out from below touches that face alone, along its normal, so that the push is straight. */
FN void particle_settle(EDIT(ParticleSearch, s))
{
  if (AT(s).below_id == PARTICLE_NO_FACE) return;
  bool below = AT(s).solid_below ? AT(s).under : AT(s).count == 0u || -AT(s).below.distance < AT(s).distance[0];
  if (!below) return;
  ParticleHit h = AT(s).below;
  h.distance = v3_dot(v3_sub(AT(s).x, h.point), h.n);
  particle_put_face(s, KU(0u), h, AT(s).below_id);
  AT(s).count = KU(1u);
}

#endif
