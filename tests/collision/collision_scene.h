/* Models built by hand for the collision tests, and small helpers. Not a model store: no checks, no files. */
#ifndef SAMEBIT_TEST_COLLISION_SCENE_H
#define SAMEBIT_TEST_COLLISION_SCENE_H

#include "collision.h"

#include <stdbool.h>

typedef struct collision_scene collision_scene;

typedef struct scene_pose {
  float v[7];
} scene_pose;

collision_scene *scene_new(void);
void scene_free(collision_scene *s);
/* Bodies, shapes, excludes and pairs belong to the world begun last. */
int32_t scene_world(collision_scene *s);
int32_t scene_body(collision_scene *s, scene_pose pose, uint32_t flags);
/* Friction 0.5, condim 3, contype and conaffinity 1, no margin, identity placement. */
int32_t scene_shape(collision_scene *s, int32_t body, uint32_t type, float a, float b, float c);
/* A free body with one shape; the shape's index. */
int32_t scene_free_shape(collision_scene *s, scene_pose pose, uint32_t type, float a, float b, float c);
/* Uses the geometry of another model, which must outlive the scene; shapes of it get its size. */
void scene_take_geometry(collision_scene *s, const sb_model *from);
int32_t scene_geometry_shape(collision_scene *s, int32_t body, int32_t geometry);
void scene_exclude(collision_scene *s, int32_t lower, int32_t higher);
void scene_pair(collision_scene *s, int32_t lower, int32_t higher, float friction, float margin);
/* The model as it stands; mutable so that tests can set what the functions above do not. Valid until the next change.
 */
sb_model *scene_model(collision_scene *s);

scene_pose scene_at(float x, float y, float z);
/* Turned by `angle` (rad) about an axis that need not be unit. */
scene_pose scene_turned(float x, float y, float z, float ax, float ay, float az, double angle);

/* xorshift64*: uniform in [lo, hi) */
float scene_random(uint64_t *state, float lo, float hi);
uint32_t scene_random_below(uint64_t *state, uint32_t n);
scene_pose scene_random_pose(uint64_t *state, float reach);

/* Task runners: chunks in shuffled order on this thread, and chunks taken by `threads` threads. */
typedef struct scene_tasks {
  uint64_t seed;
  uint32_t threads;
} scene_tasks;
sb_collision_tasks scene_shuffled(scene_tasks *t);
sb_collision_tasks scene_threaded(scene_tasks *t);

/* Comparison of all bytes of [begin, begin + count) of x with [begin_y, ...) of y. Shapes, bodies
 * and worlds may be shifted by constants. */
bool scene_contacts_equal(const sb_contacts *x, uint32_t begin_x, const sb_contacts *y, uint32_t begin_y,
                          uint32_t count, int32_t world_shift, int32_t shape_shift, int32_t body_shift);

/* Of keys, bodies, points, normals and gaps; the same for either byte order. */
uint64_t scene_contacts_hash(const sb_contacts *x);

/* Generators: a triangular wall of boxes in the x-z plane, `base` boxes wide, and n x n x `high` boxes in a bond. */
void scene_pyramid(collision_scene *s, uint32_t base);
void scene_grid(collision_scene *s, uint32_t n, uint32_t high);
/* `count` random shapes of all solid types in a ball of radius `reach`, on a plane, with a few static ones. */
void scene_jumble(collision_scene *s, uint64_t *state, uint32_t count, float reach);

#endif
