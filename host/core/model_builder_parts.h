/* The builder's insides, shared by adding (model_builder.c) and finalising (model_finalise.c). Private to host/core. */
#ifndef SAMEBIT_HOST_MODEL_BUILDER_PARTS_H
#define SAMEBIT_HOST_MODEL_BUILDER_PARTS_H

#include "model_builder.h"
#include "model_store_parts.h"

/* A growing array of one kind of entity. */
typedef struct sb_pool {
  void *items;
  size_t size; /* of an item */
  uint32_t count;
  uint32_t capacity;
} sb_pool;

typedef struct sb_text_pool {
  char *text;
  uint32_t size;
  uint32_t capacity;
} sb_text_pool;

typedef struct sb_built_body {
  sb_build_body body;
  int32_t first_dof;
  int32_t dof_count;
} sb_built_body;

/* Geometry in the pools: what samebit/model.h says of each array, corners and all counted over the whole model. */
typedef struct sb_built_geometry {
  uint32_t type;
  float half[3];
  uint32_t vertices[2], faces[2], nodes[2], grid[3];
} sb_built_geometry;

typedef struct sb_built_vertex {
  float at[3];
} sb_built_vertex;

typedef struct sb_built_face {
  float normal[3];
  uint32_t corners[2];
} sb_built_face;

typedef struct sb_built_corner {
  uint32_t vertex;
  int32_t neighbour;
} sb_built_corner;

typedef struct sb_built_node {
  float box[6];
  uint32_t next;
  uint32_t faces[2];
} sb_built_node;

typedef struct sb_body_pair {
  int32_t body[2];
} sb_body_pair;

typedef struct sb_built_tendon {
  sb_build_tendon tendon;
  int32_t first_term;
  int32_t term_count;
} sb_built_tendon;

typedef struct sb_tendon_term {
  int32_t tendon;
  int32_t dof;
  double coef;
} sb_tendon_term;

/* Deformables: what samebit/model.h says of each array, rounded. */
typedef struct sb_built_deformable {
  int32_t first_particle;
  uint32_t particles;
  uint32_t flags;
  float friction, restitution, margin;
  uint32_t contype, conaffinity;
} sb_built_deformable;

typedef struct sb_built_particle {
  float q[3], qd[3];
  float mass, inv_mass, radius;
  int32_t deformable;
} sb_built_particle;

typedef struct sb_built_spring {
  int32_t particle[2];
  float rest_length, stiffness, damping;
} sb_built_spring;

typedef struct sb_built_tri {
  int32_t particle[3];
  float pose[4], area, material[5];
} sb_built_tri;

typedef struct sb_built_edge {
  int32_t particle[4];
  float rest_angle, rest_length, material[2];
} sb_built_edge;

typedef struct sb_built_tet {
  int32_t particle[4];
  float pose[9], volume, material[3];
} sb_built_tet;

typedef struct sb_built_attachment {
  int32_t particle, body;
  float point[3], material[2];
} sb_built_attachment;

struct sb_model_builder {
  sb_pool bodies, dofs, shapes, actuators, excludes, pairs, equalities, tendons, terms, sensors;
  sb_pool geometries, vertices, faces, corners, nodes, heights;
  sb_pool deformables, particles, springs, tris, edges, tets, attachments;
  sb_text_pool names[SB_NAME_KINDS];
  double gravity[3];
  uint32_t dt_numerator, dt_denominator;
  bool failed;
};

/* The single rounding of cooking. -0 becomes +0, so that no sign of a zero depends on how a sum was formed. */
static inline void sb_round_to(float *out, const double *in, int n)
{
  for (int i = 0; i < n; i++) out[i] = in[i] == 0.0 ? 0.0f : (float)in[i];
}

/* Appends an item; the index, or -1 and the failed mark. */
int32_t sb_pool_add(sb_model_builder *builder, sb_pool *pool, const void *item);
/* Appends the name of the entity added last; NULL for none. */
void sb_builder_add_name(sb_model_builder *builder, sb_name_kind kind, const char *name, const char *suffix);
/* model_deformable.c: pools set up; arrays of a store filled. */
void sb_builder_start_deformables(sb_model_builder *builder);
void sb_builder_put_deformables(const sb_model_builder *builder, sb_model_store *store);

/* An item of a pool, NULL when out of range. */
void *sb_pool_at(const sb_pool *pool, int32_t index);

#endif
