/* The contacts of a convex shape with a surface, chosen from the points that triangles offer, in the scalar part of the kernel dialect. Knows
 * surface.kernel.h.
 *
 * Points stand in a pool, in the order of triangles. Whoever includes this says where: POOL_PARAM and POOL (first parameter and argument of functions,
 * each with its comma, or nothing), POOL_TAKE(i), POOL_PUT(i, point), and POOL_SCORE(i), an F that can be assigned. */
#ifndef SAMEBIT_COLLISION_SURFACE_POINTS_KERNEL_H
#define SAMEBIT_COLLISION_SURFACE_POINTS_KERNEL_H

#include "surface.kernel.h"

/* Points that stay when the pool is full. */
#ifndef POOL_KEPT
#define POOL_KEPT 16
#endif
#define POINTS_OF_NORMAL 4

FN SurfacePoint point_none(void)
{
  SurfacePoint p;
  p.n = v3_zero(); p.on_a = v3_zero(); p.on_b = v3_zero();
  p.gap = K(0.0f);
  p.triangle = KU(0u); p.feature = KU(0u); p.group = KU(0u); p.rank = KU(0u);
  return p;
}

/* How much q adds to p: distance, and turn of the normal as if over the shape's reach. */
FN F point_difference(SurfacePoint p, SurfacePoint q, F reach)
{
  return v3_len2(v3_sub(p.on_a, q.on_a)) + (1.0f - v3_dot(p.n, q.n)) * (reach * reach);
}

/* To a quarter of a degree. */
FN bool point_shares_normal(SurfacePoint p, SurfacePoint q) { return v3_dot(p.n, q.n) > 0.99999f; }

/* Scores of points that are out of the choice: chosen, or of a normal that has enough points. */
#define POOL_CHOSEN NARROW_NO_POINT
#define POOL_CLOSED -NARROW_NO_POINT

/* Points that may still be chosen and have the chosen point's normal are not any more. */
FN void pool_close(POOL_PARAM U count, SurfacePoint chosen)
{
  for (U i = KU(0u); i < count; i += 4u)
    for (U at = i; at < i + 4u; at++)
      if (at < count && POOL_SCORE(at) != POOL_CHOSEN && point_shares_normal(chosen, POOL_TAKE(at))) POOL_SCORE(at) = K(POOL_CLOSED);
}

/* Moves the chosen points to the front; how many. */
FN U pool_gather(POOL_PARAM U count)
{
  U kept = KU(0u);
  for (U i = KU(0u); i < count; i += 4u)
    for (U at = i; at < i + 4u; at++) {
      if (at >= count || POOL_SCORE(at) != POOL_CHOSEN) continue;
      POOL_PUT(kept, POOL_TAKE(at));
      kept++;
    }
  return kept;
}

/* Chooses up to `most` points, POOL_KEPT at most: the deepest, then each time the one that differs most from those chosen; of equal ones the first. At
 * most four share a normal; `group` numbers the normals, `rank` the choices. Drops the others and returns how many stay, in their order.
 * Points are looked at four at a time, because lavapipe ends all loops of a thread after 65,535 rounds. */
FN U pool_choose(POOL_PARAM U count, U most, F reach)
{
  F least = 1.0e-4f * (reach * reach);
  U picks[POOL_KEPT];
  U members[POOL_KEPT];
  for (int i = 0; i < POOL_KEPT; i++) members[i] = KU(0u);
  U groups = KU(0u);
  U chosen = KU(0u);
  SurfacePoint last = point_none();
  while (chosen < most) {
    U best = count;
    F best_score = K(0.0f);
    for (U i = KU(0u); i < count; i += 4u)
      for (U at = i; at < i + 4u; at++) {
        if (at >= count || (chosen > 0u && f_abs(POOL_SCORE(at)) == POOL_CHOSEN)) continue;
        SurfacePoint p = POOL_TAKE(at);
        F score = chosen == 0u ? -p.gap : point_difference(p, last, reach);
        if (chosen > 1u && !(score < POOL_SCORE(at))) score = POOL_SCORE(at);
        POOL_SCORE(at) = score;
        if ((chosen == 0u || score > least) && (best == count || score > best_score)) {
          best = at;
          best_score = score;
        }
      }
    if (best == count) break;
    last = POOL_TAKE(best);
    last.rank = chosen;
    last.group = groups;
    for (U k = KU(0u); k < chosen && last.group == groups; k++)
      if (point_shares_normal(POOL_TAKE(picks[k]), last)) last.group = POOL_TAKE(picks[k]).group;
    if (last.group == groups) groups++;
    members[last.group]++;
    POOL_PUT(best, last);
    POOL_SCORE(best) = K(POOL_CHOSEN);
    picks[chosen] = best;
    chosen++;
    for (U k = KU(0u); members[last.group] == POINTS_OF_NORMAL && k < chosen; k++)
      if (POOL_TAKE(picks[k]).group == last.group) pool_close(POOL count, POOL_TAKE(picks[k]));
  }
  return pool_gather(POOL count);
}

FN bool point_before(SurfacePoint p, SurfacePoint q) { return p.triangle != q.triangle ? p.triangle < q.triangle : p.feature < q.feature; }

FN void pool_sort(POOL_PARAM U count)
{
  for (U i = KU(1u); i < count; i++) {
    SurfacePoint x = POOL_TAKE(i);
    U at = i;
    for (; at > 0u && point_before(x, POOL_TAKE(at - 1u)); at--) POOL_PUT(at, POOL_TAKE(at - 1u));
    POOL_PUT(at, x);
  }
}

/* Returns how many there are with the new one. */
FN U pool_add(POOL_PARAM U count, SurfacePoint p, F reach)
{
  if (count == POOL_SIZE) {
    count = pool_choose(POOL count, KU(POOL_KEPT), reach);
    pool_sort(POOL count);
  }
  POOL_PUT(count, p);
  return count + 1u;
}

/* The contacts from what has been offered; how many. The first choice of each group gives the normal, and gaps are measured along that. to_a: pose of the
 * surface in the shape's frame. */
FN U pool_finish(POOL_PARAM U count, F reach, X7 to_a)
{
  count = pool_choose(POOL count, KU(SURFACE_POINTS), reach);
  for (U i = KU(0u); i < count; i++) {
    SurfacePoint p = POOL_TAKE(i);
    U first = i;
    for (U k = KU(0u); k < count; k++)
      if (POOL_TAKE(k).group == p.group && POOL_TAKE(k).rank < POOL_TAKE(first).rank) first = k;
    p.n = POOL_TAKE(first).n;
    p.gap = v3_dot(v3_sub(x7_point(to_a, p.on_b), p.on_a), p.n);
    POOL_PUT(i, p);
  }
  pool_sort(POOL count);
  return count;
}

/* One less than 13 bits hold: the last would be SB_FEATURE_SWEPT. */
#define POINT_MARKS 0x1fffu

/* 13 bits of a point's triangle and feature (the finaliser of MurmurHash3, Appleby 2011). */
FN U point_mark(SurfacePoint p)
{
  U h = (p.triangle * 0x9e3779b1u) ^ p.feature;
  h = (h ^ (h >> 16u)) * 0x85ebca6bu;
  h = (h ^ (h >> 13u)) * 0xc2b2ae35u;
  return (h ^ (h >> 16u)) % POINT_MARKS;
}

/* Names of the contacts, and which of them is the first, the second and so on by name. */
STRUCT(PointNames) { U feature[SURFACE_POINTS]; U order[SURFACE_POINTS]; };

/* The normal's group and the mark, made unique by counting on in the order of triangles. */
FN PointNames pool_names(POOL_PARAM U count)
{
  PointNames names;
  for (U i = KU(0u); i < count; i++) {
    U mark = point_mark(POOL_TAKE(i));
    U group = POOL_TAKE(i).group << 13u;
    for (U k = KU(0u); k < i;) {
      bool taken = names.feature[k] == (group | mark);
      mark = taken ? (mark + 1u) % POINT_MARKS : mark;
      k = taken ? KU(0u) : k + 1u;
    }
    names.feature[i] = group | mark;
    U at = i;
    for (; at > 0u && names.feature[names.order[at - 1u]] > names.feature[i]; at--) names.order[at] = names.order[at - 1u];
    names.order[at] = i;
  }
  return names;
}

#endif
