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

struct sb_model_builder {
  sb_pool bodies, dofs, shapes, actuators, excludes, pairs, equalities, tendons, terms, sensors;
  sb_pool geometries, vertices, faces, corners, nodes, heights;
  sb_text_pool names[SB_NAME_KINDS];
  double gravity[3];
  uint32_t dt_numerator, dt_denominator;
  bool failed;
};

/* An item of a pool, NULL when out of range. */
void *sb_pool_at(const sb_pool *pool, int32_t index);

#endif
