/* Contacts: what the collision pipeline hands to solvers, once a tick, in canonical order.
 *
 * Contacts are sorted by (world, key). A key is unique inside its world: shape a, shape b (world-local, a < b by canonical
 * order) and feature. The points stay fixed in their bodies during the tick, so a solver can follow the gap through its
 * substeps: gap = dot(normal, x_b - x_a), with x = X(body) * point. A gap below zero is penetration. */
#ifndef SAMEBIT_CONTACT_H
#define SAMEBIT_CONTACT_H

#include "samebit/fp_guard.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The feature of a swept contact (collision.ccd in an INI file): where the shapes will touch within the tick. Its normal is that of the impact, which
 * differs from the pair's other contacts, and its points are turned already as the bodies will be then; its gap is how far the points go until
 * then. */
#define SB_FEATURE_SWEPT 0xffffu

/* X(ctype, name, components, unit and meaning) */
#define SB_CONTACT_ARRAYS(X)                                                                                           \
  X(uint64_t, key, 1, "world-local shape a (24 bits), shape b (24 bits), feature (16 bits), from high to low")         \
  X(int32_t, world, 1, "world")                                                                                        \
  X(int32_t, shape_a, 1, "shape")                                                                                      \
  X(int32_t, shape_b, 1, "shape")                                                                                      \
  X(int32_t, body_a, 1, "body of shape a; -1 when static or the world's own")                                          \
  X(int32_t, body_b, 1, "body of shape b; -1 when static or the world's own")                                          \
  X(float, point_a, 3, "m, on the surface of shape a; body a's frame (world frame when body_a is -1)")                 \
  X(float, point_b, 3, "m, on the surface of shape b; body b's frame (world frame when body_b is -1)")                 \
  X(float, normal, 3, "unit, from a to b, world frame")                                                                \
  X(float, gap, 1, "m at the start of the tick, below 0 when penetrating")                                             \
  X(float, friction, 3, "combined sliding (1), torsional (m), rolling (m) coefficients; 0 where condim leaves it out") \
  X(float, restitution, 1, "combined coefficient of restitution")

typedef struct sb_contacts {
  uint32_t struct_size;
  uint32_t count;    /* contacts of this tick */
  uint32_t capacity; /* what the arrays hold */
  uint32_t reserved;
#define SB_X_CONTACT(type, name, comps, doc) const type *name;
  SB_CONTACT_ARRAYS(SB_X_CONTACT)
#undef SB_X_CONTACT
  const uint32_t *world_start; /* world_count + 1 */
} sb_contacts;

#ifdef __cplusplus
}
#endif

#endif
