/* The shared collision pipeline: from body poses to contacts in canonical order. C library only.
 *
 *   sb_collision_settings s = sb_collision_default_settings();
 *   sb_collision *c;
 *   if (sb_collision_create(model, &s, &c) == SB_OK) {
 *     if (sb_collision_step(c, body_q, NULL) == SB_OK) use(sb_collision_contacts(c));
 *     sb_collision_destroy(c);
 *   }
 *
 * The contacts are a pure function of the model, the settings other than `lanes` and `broad_phase`, body_q, and, where they are given, body_qd and dt: nothing
 * survives from one step to the next, and neither tasks nor lanes nor the broad phase can change a bit. A world's
 * contacts do not depend on other worlds. A contact is made when the gap is below the sum of both shapes' margins (or
 * the pair's own margin) plus the speculative margin. The gap of two boxes apart is measured along a face's normal or
 * an edge pair's, so boxes that approach corner to corner may get their contact only when they touch.
 *
 * A body among ccd_bodies gets one more contact of the feature SB_FEATURE_SWEPT with each shape that the largest ball inside its own shape will
 * touch within the step, moving and turning evenly; its points are turned already as they will be at the impact.
 *
 * Two shapes may collide unless: both are static; they share a body or a group of bodies joined by FIXED joints; one
 * group is the other's parent; exclude_body lists their bodies; or contype and conaffinity do not meet. Shapes that
 * pair_shape lists collide unless both are static. Planes, meshes and heightfields never collide with each other. Friction is the larger coefficient of the two
 * shapes, component by component; so are condim and restitution. */
#ifndef SAMEBIT_COLLISION_H
#define SAMEBIT_COLLISION_H

#include <stdbool.h>

#include "samebit/contact.h"
#include "samebit/model.h"
#include "samebit/particle_contact.h"
#include "samebit/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* broad_phase */
#define SB_BROAD_ALL_PAIRS 0u /* every shape with every other one of its world */
#define SB_BROAD_SAP 1u       /* sweep and prune in cells; the same pairs */

typedef struct sb_collision sb_collision;

typedef struct sb_collision_settings {
  uint32_t struct_size;
  uint32_t broad_phase;
  uint32_t pair_capacity;    /* shape pairs; 0: for each world of n shapes, min(n (n - 1) / 2, 16 n + 64) */
  uint32_t contact_capacity; /* contacts; 0: for each world of n shapes, min(2 n (n - 1), 16 n + 64), twice the first where a mesh or heightfield is */
  uint32_t particle_contact_capacity; /* 0: for each particle 2, or the shapes of its world where there are fewer, and 64 for each world */
  uint32_t near_pair_capacity; /* 0: 8 for each particle of deformables that may touch each other or themselves, and 64 */
  uint32_t triangle_capacity; /* triangles of heightfields that solids meet, for pipelines on devices; 0: for each solid that may move and each heightfield of
                               * its world those in a square three times its size, one and two cells added */
  float speculative_margin;  /* m, >= 0 */
  uint32_t lanes;            /* 1, 4 or 8; 0: the widest that this CPU runs well */
  uint32_t truncate;         /* not 0: when contacts overflow, keep the first in canonical order (and still return SB_E_CAPACITY) */
  uint32_t ccd_body_count;   /* bodies that also get contacts swept over the step */
  const uint32_t *ccd_bodies; /* read by create alone */
} sb_collision_settings;

/* Runs fn(ctx, chunk) for every chunk below chunk_count, in any order and on any threads, and returns when all are
 * done. */
typedef struct sb_collision_tasks {
  void *self;
  void (*run)(void *self, uint32_t chunk_count, void (*fn)(void *ctx, uint32_t chunk), void *ctx);
} sb_collision_tasks;

/* Counts of the last step, largest counts of any step, and capacities. After SB_E_CAPACITY a count above its capacity
 * is the size needed; too few pairs are reported before too few contacts, whose count is then 0, and contacts of particles before near
 * pairs. */
typedef struct sb_collision_usage {
  uint32_t pair_count;
  uint32_t pair_peak;
  uint32_t pair_capacity;
  uint32_t contact_count;
  uint32_t contact_peak;
  uint32_t contact_capacity;
  uint32_t particle_contact_count;
  uint32_t particle_contact_peak;
  uint32_t particle_contact_capacity;
  uint32_t near_pair_count;
  uint32_t near_pair_peak;
  uint32_t near_pair_capacity;
  uint32_t triangle_count; /* on a device */
  uint32_t triangle_peak;
  uint32_t triangle_capacity;
  float deepest; /* m, the largest overlap of the last step */
} sb_collision_usage;

/* SAP, capacities from the scene, no speculative margin. [any] */
sb_collision_settings sb_collision_default_settings(void);

/* [setup] The model must outlive the pipeline. NULL settings mean the defaults. SB_E_ARGUMENT: a setting is out of
 * range or a world has 2^24 shapes or more. SB_E_UNSUPPORTED: unknown shape type, or a mesh or heightfield that moves. SB_E_MEMORY. *out is NULL on failure.
 */
sb_status sb_collision_create(const sb_model *model, const sb_collision_settings *settings, sb_collision **out);
void sb_collision_destroy(sb_collision *c); /* NULL is allowed. [setup] */

/* [step] body_q: 7 floats for each body of the model, world frame. tasks may be NULL: everything runs on this thread.
 * Allocates nothing. SB_E_CAPACITY: a buffer would overflow; there are then no contacts (but see truncate) and usage says
 * what is needed.
 */
sb_status sb_collision_step(sb_collision *c, const float *body_q, const sb_collision_tasks *tasks);

/* [step] The same for bodies about to move with body_qd (6 floats each, as in samebit/state.h) for dt (s): the margin of a shape
 * grows by what it may travel, so that a fast body has its contacts before it arrives. */
sb_status sb_collision_step_moving(sb_collision *c, const float *body_q, const float *body_qd, float dt,
                                   const sb_collision_tasks *tasks);

/* Arrays for contacts, writable: what sb_contacts shows, and world_start. */
typedef struct sb_contact_room {
#define SB_X_CONTACT(type, name, comps, doc) type *name;
  SB_CONTACT_ARRAYS(SB_X_CONTACT)
#undef SB_X_CONTACT
  uint32_t *world_start;
} sb_contact_room;

/* [step] In place of sb_collision_step_moving where the same pipeline runs elsewhere: the arrays that the contacts go to, and then what it found, as
 * sb_collision_usage has it; `kept` contacts are there. */
sb_contact_room sb_collision_room(sb_collision *c);
sb_status sb_collision_take(sb_collision *c, uint32_t pair_count, uint32_t contact_count, uint32_t kept, float deepest);
/* Triangles of heightfields near solids that may move, expected from sizes: those in a square three times the size of the solid with the margins (m), one and two
 * cells added. all: of all such pairs of a world; most: of one of them. [any] */
void sb_collision_expect_triangles(const sb_model *m, float speculative_margin, uint64_t *all, uint64_t *most);
/* Triangles that its solids met; SB_E_CAPACITY where they were too many, and there are no contacts. */
sb_status sb_collision_take_triangles(sb_collision *c, uint32_t triangle_count);

/* The same for contacts of particles; when they are there, particle_start follows from them by the last function. */
typedef struct sb_particle_contact_room {
#define SB_X_CONTACT(type, name, comps, doc) type *name;
  SB_PARTICLE_CONTACT_ARRAYS(SB_X_CONTACT)
#undef SB_X_CONTACT
} sb_particle_contact_room;
sb_particle_contact_room sb_collision_particle_room(sb_collision *c);
sb_status sb_collision_take_particles(sb_collision *c, uint32_t contact_count, uint32_t kept);
void sb_collision_index_particles(sb_collision *c);
/* Whether particles can come near each other, and what the model fixes of that: near_plan.h. */
bool sb_collision_has_near_pairs(const sb_collision *c);
typedef struct sb_near_plan sb_near_plan;
sb_near_plan sb_collision_near_plan(const sb_collision *c);
/* As for contacts of particles: where near pairs and world_start go, and then how many were found and are there. */
typedef struct sb_near_pair_room {
#define SB_X_NEAR(type, name, comps, doc) type *name;
  SB_NEAR_PAIR_ARRAYS(SB_X_NEAR)
#undef SB_X_NEAR
  uint32_t *world_start;
} sb_near_pair_room;
sb_near_pair_room sb_collision_near_room(sb_collision *c);
sb_status sb_collision_take_near(sb_collision *c, uint32_t pair_count, uint32_t kept);

/* The contacts of the last step; valid until the next step or destroy. [step] */
const sb_contacts *sb_collision_contacts(const sb_collision *c);

/* Whether particles can touch anything at all; where they cannot, sb_collision_step_particles finds nothing and need not run. */
bool sb_collision_meets_particles(const sb_collision *collision);

/* [step] Contacts and near pairs of particles, after sb_collision_step_moving of the same tick, whose poses, velocities and dt it goes on with.
 * particle_q, particle_qd: 3 floats for each particle. A contact is made when the gap is below the deformable's margin, the shape's and the
 * speculative one, plus the way that particle and surface may come together within dt. pair_shape and exclude_body do not count here; a
 * body that holds a particle by an attachment does not touch it. Allocates nothing. SB_E_CAPACITY: as in sb_collision_step. */
sb_status sb_collision_step_particles(sb_collision *c, const float *particle_q, const float *particle_qd,
                                      const sb_collision_tasks *tasks);

/* Those of the last step. [step] */
const sb_particle_contacts *sb_collision_particle_contacts(const sb_collision *c);
const sb_near_pairs *sb_collision_near_pairs(const sb_collision *c);

/* Shape pairs of the last step's broad phase, as (lower, higher) shape index, sorted. [step] */
uint32_t sb_collision_pair_count(const sb_collision *c);
void sb_collision_pair(const sb_collision *c, uint32_t index, uint32_t shapes[2]);

sb_collision_usage sb_collision_get_usage(const sb_collision *c);
/* Lane width in use: 1, 4 or 8. */
uint32_t sb_collision_lanes(const sb_collision *c);

#ifdef __cplusplus
}
#endif

#endif
