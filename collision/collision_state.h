/* Inside the collision pipeline: its state and the steps that its files implement. Private to collision/. */
#ifndef SAMEBIT_COLLISION_STATE_H
#define SAMEBIT_COLLISION_STATE_H

#include "collision.h"
#include "hull_lanes.h"
#include "narrow_batch.h"
#include "narrow_manifold.kernel.h"

#include <stdbool.h>
#include <stddef.h>

#define COLLISION_NONE UINT32_MAX
#define COLLISION_SHAPES_PER_CHUNK 128u
#define COLLISION_ROWS_PER_CHUNK 256u
#define COLLISION_PAIRS_PER_CHUNK 256u
/* Pairs of one chunk that are worked one by one. */
#define COLLISION_CONVEX_BATCH 16u
#define COLLISION_SURFACE_BATCH 2u
/* A world's sweep holds at most this many entries for each shape: one for each cell that the shape touches. */
#define COLLISION_ENTRIES_PER_SHAPE 4u
/* Worlds with at most this many solid shapes are not worth sorting. */
#define COLLISION_SMALL_WORLD 24u
/* Cells along one axis, at most; their ids are below 2^12. */
#define COLLISION_MAX_CELLS 64u

/* Bounding box, margins included. */
typedef struct collision_box {
  float lo[3];
  float hi[3];
} collision_box;

/* A shape in one cell of its world's sweep. Bounds are in the order sweep axis, first cell axis, second cell axis. */
typedef struct collision_entry {
  collision_box box;
  uint32_t shape;
  uint32_t cell; /* this cell (16 bits, low) and the first cell of the shape along either axis (8 bits each) */
} collision_entry;

typedef struct collision_sort_item {
  uint32_t key;
  uint32_t cell;
  uint32_t shape;
} collision_sort_item;

/* Shapes a < b; list is the index in pair_shape or COLLISION_NONE. */
typedef struct collision_pair {
  uint32_t a;
  uint32_t b;
  uint32_t list;
} collision_pair;

/* Result of one pair, sorted by feature: points in the bodies' frames, or in the world where they never move. */
typedef struct collision_manifold {
  float normal[3];
  float point_a[4][3];
  float point_b[4][3];
  float gap[4];
  uint16_t feature[4];
  uint32_t count;
} collision_manifold;

/* The contact that a swept body will have with the other shape of its pair, if any. */
typedef struct collision_swept {
  float normal[3];
  float point_a[3];
  float point_b[3];
  float gap;
  uint32_t count; /* 0 or 1 */
} collision_swept;
#define COLLISION_SURFACE_POINTS 8u

/* Result of one pair with a mesh or heightfield: points with normals of their own. */
typedef struct collision_surface_manifold {
  float normal[COLLISION_SURFACE_POINTS][3];
  float point_a[COLLISION_SURFACE_POINTS][3];
  float point_b[COLLISION_SURFACE_POINTS][3];
  float gap[COLLISION_SURFACE_POINTS];
  uint16_t feature[COLLISION_SURFACE_POINTS];
  uint32_t count;
} collision_surface_manifold;

/* Rows of one world's broad phase; the unit whose pairs are counted and placed. */
typedef struct collision_span {
  uint32_t world;
  uint32_t begin;
  uint32_t end;
} collision_span;

#include "near_state.h"
#include "particle_state.h"

typedef void (*collision_narrow_fn)(narrow_batch *batch, narrow_type type, uint32_t count);

struct sb_collision {
  const sb_model *model;
  sb_collision_settings settings;
  collision_narrow_fn narrow;
  collision_farthest_fn farthest;
  void **blocks; /* everything allocated, for destroy */
  uint32_t block_count;
  uint32_t block_capacity;

  /* fixed by the model: pair_filter.c */
  uint8_t *shape_fixed; /* 1 when the shape never moves */
  int32_t *shape_weld;  /* body_weld and body_weld_parent of the shape's body */
  int32_t *shape_weld_parent;
  uint32_t *exclude_start; /* body_count + 2, by lower body + 1 */
  int32_t *exclude_list;   /* higher bodies, sorted */
  uint32_t *listed_start;  /* shape_count + 1, by lower shape */
  uint32_t *listed;        /* indices into pair_shape, by higher shape */
  uint8_t *shape_listed;   /* 1 when pair_shape names the shape */
  uint32_t *solid_start;   /* world_count + 1, into solids */
  uint32_t *solids;        /* shapes that are not planes */
  uint32_t *plane_start;   /* world_count + 1, into planes */
  uint32_t *planes;
  collision_span *spans;
  uint32_t span_count;
  uint32_t *world_span_start; /* world_count + 1, into spans */
  uint32_t *span_chunk_start; /* span_chunk_count + 1, into spans */
  uint32_t span_chunk_count;
  uint32_t *world_chunk_start; /* world_chunk_count + 1, into worlds */
  uint32_t world_chunk_count;

  /* geometry_vertex and face_normal by component, for hull_lanes.h; NULL when the model has no hull */
  float *hull_vertex[3];
  float *hull_normal[3];

  /* of this step */
  const float *body_q;
  const sb_collision_tasks *tasks;
  float *shape_q; /* 7 each */
  const float *body_qd; /* of this step; NULL when nothing is said to move */
  float dt;
  float *shape_step;    /* 3: how far the shape's centre moves within dt, m */
  float *shape_swing;   /* how far the rest of it may move around its centre, at most its half diagonal, m */
  collision_box *boxes;
  collision_sort_item
      *items[2]; /* sweep entries being sorted; world w at COLLISION_ENTRIES_PER_SHAPE * solid_start[w] */
  collision_entry *entries;
  uint32_t *entry_count;      /* by world */
  uint32_t *span_pairs;       /* pairs of each span; before they are found, how many there is room for */
  uint32_t *span_first;       /* where they begin in pairs_unsorted */
#ifdef SAMEBIT_MUTANT_UNSORTED_PAIRS
  uint32_t *span_arrival, span_arrival_count; /* spans in order of completion */
#endif
  uint32_t *world_pair_start; /* world_count + 1 */
  uint32_t *shape_count_a;    /* counting sort, shape_count + world_count */
  collision_pair *pairs;
  collision_pair *pairs_unsorted;
  collision_pair *pairs_sorting;
  uint32_t pair_count;
  uint32_t *work; /* pairs by type */
  uint8_t *pair_type;
  uint32_t type_start[NARROW_TYPES + 1];
  uint32_t type_chunk_start[NARROW_TYPES + 1];
  uint32_t *surface_of; /* by pair of NARROW_SURFACE: index into surfaces */
  uint32_t *arrival; /* chunks of the narrow phase in order of completion; for a mutant alone */
  uint32_t arrival_count;
  collision_manifold *manifolds;
  uint8_t *pair_contacts;  /* by pair, the swept one included */
  collision_surface_manifold *surfaces; /* of the pairs of NARROW_SURFACE in the order of work; NULL when the model has no surface */
  uint32_t *contact_first; /* by pair */
  float *chunk_deepest;    /* by chunk of pairs: the largest overlap, m */
  uint8_t *body_swept;     /* 1 for bodies whose contacts are swept; NULL when there are none */
  collision_swept *swept;  /* by pair; NULL when there are none */

#define SB_X_CONTACT(type, name, comps, doc) type *contact_##name;
  SB_CONTACT_ARRAYS(SB_X_CONTACT)
#undef SB_X_CONTACT
  uint32_t *world_start;
  sb_contacts contacts;
  collision_particles particles;
  collision_near near;
  sb_collision_usage usage;
};

/* Memory that lives as long as c; NULL when it could not be had. */
void *collision_alloc(sb_collision *c, size_t count, size_t size);
/* Runs the chunks through c->tasks, or in order. */
void collision_run(sb_collision *c, uint32_t chunk_count, void (*fn)(void *ctx, uint32_t chunk));

/* pair_filter.c */
sb_status collision_filter_build(sb_collision *c);
/* Whether the rules let shapes a and b of one world collide; listed pairs are not among these. */
bool collision_may_collide(const sb_collision *c, uint32_t a, uint32_t b);

/* broad_phase.c */
sb_status collision_broad_build(sb_collision *c);
/* Fills pairs, sorted, and pair_count; SB_E_CAPACITY when they do not fit. */
sb_status collision_broad_step(sb_collision *c);

/* A ball at the origin and a cylinder, ellipsoid or hull with the pose rel: n, a0, b0 and g0 of the nearest points. */
Manifold collision_ball_against(const sb_collision *c, float radius, uint32_t shape, X7 rel);

/* swept.c */
sb_status collision_swept_build(sb_collision *c);
/* Fills swept for the pairs of this step. */
void collision_swept_step(sb_collision *c);
/* Whether a world has a mesh or heightfield. */
bool collision_has_surface(const sb_model *m, uint32_t world);
/* Whether the shape is a mesh or heightfield. */
static inline bool collision_is_surface(const sb_model *m, uint32_t shape) { return m->shape_type[shape] >= SB_SHAPE_MESH; }

/* narrow_convex.c: points below the limit (m), sorted by feature. */
void collision_convex_pair(const sb_collision *c, const collision_pair *pair, float limit, collision_manifold *out);
void collision_surface_pair(const sb_collision *c, const collision_pair *pair, float limit, collision_surface_manifold *out);

/* narrow_phase.c */
sb_status collision_narrow_build(sb_collision *c);
/* Fills the contacts; SB_E_CAPACITY when they do not fit. */
sb_status collision_narrow_step(sb_collision *c);

/* particle_contact.c */
sb_status collision_particles_build(sb_collision *c);
/* Fills the contacts of particles; SB_E_CAPACITY when they do not fit. */
sb_status collision_particles_step(sb_collision *c);

/* particle_surface.c: what a particle at x in the shape's frame touches within reach; how many. */
uint32_t collision_particle_hull(const sb_collision *c, uint32_t shape, V3 x, float reach, particle_found out[SB_PARTICLE_MAX_FACES]);
/* A centre below a mesh counts when it is no deeper than its radius. */
uint32_t collision_particle_surface(const sb_collision *c, uint32_t shape, V3 x, float reach, float radius,
                                    particle_found out[SB_PARTICLE_MAX_FACES]);

/* near_build.c */
sb_status collision_near_build(sb_collision *c);
/* Whether two deformables, or one with itself, may touch. */
bool collision_deformables_meet(const sb_model *m, uint32_t d, uint32_t e);

/* near_pairs.c: fills the near pairs; SB_E_CAPACITY when they do not fit. */
sb_status collision_near_step(sb_collision *c);
/* Particles of a pair of the features a and b; -1 where there is none. */
void collision_near_particles(const sb_collision *c, uint32_t kind, uint32_t a, uint32_t b, int32_t p[4]);

#endif
