/* Models with particles for the collision tests, and comparison of what the pipeline makes of them. Knows the model builder. */
#ifndef SAMEBIT_TEST_PARTICLE_SCENE_H
#define SAMEBIT_TEST_PARTICLE_SCENE_H

#include "collision.h"
#include "collision_scene.h"
#include "model_builder.h"

/* Positions, velocities and the pipeline of one model. */
typedef struct particle_scene {
  sb_model_store *one, *store; /* of one world, and with its copies */
  const sb_model *model;
  sb_collision *collision;
  float *q, *qd;
} particle_scene;

/* Finalises and frees the builder; the worlds are copies. settings may be NULL. */
particle_scene particle_scene_new(sb_model_builder *b, uint32_t worlds, const sb_collision_settings *settings);
void particle_scene_free(particle_scene *s);
sb_status particle_scene_step(particle_scene *s, float dt, const sb_collision_tasks *tasks);

/* Bodies at rest at their model's poses. The worlds' lists, shifted to the first world's indices, are equal bit for bit. */
bool particle_contacts_equal(const particle_scene *a, uint32_t world_a, const particle_scene *b, uint32_t world_b);
bool near_pairs_equal(const particle_scene *a, uint32_t world_a, const particle_scene *b, uint32_t world_b);

/* A grid of cloth in the plane of height z, with triangles; its first particle. */
int32_t add_test_cloth(sb_model_builder *b, int rows, int columns, double spacing, double z, double radius, bool self_contact, const char *name);

#endif
