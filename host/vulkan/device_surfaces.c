/* Heights of the model, and the steps of collision/device/collision_surface.comp. */
#include "device_surfaces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collision_met_spv.h"
#include "collision_met_take_spv.h"
#include "collision_met_list_spv.h"
#include "collision_met_plane_spv.h"
#include "collision_met_gjk_spv.h"
#include "collision_met_polytope_spv.h"
#include "collision_met_distance_spv.h"
#include "collision_met_owners_spv.h"
#include "collision_met_points_spv.h"
#include "collision_met_choose_spv.h"

#define LOCAL 64u
/* collision/device/collision_device.glsl */
#define TRIANGLE_WORDS 48u
#define CELLS_OF_PARTICLE 4096u /* CELLS_MAX / 4 of collision_device.glsl */
#define TRIANGLES_OF_ROUND 96u
#define ROUNDS_LEAST 4u
#define ROUNDS_MOST 64u
/* A thread's room: a polytope (convex_distance.kernel.h) or a pool of points (surface_points.kernel.h). */
#define ROOM_FLOATS 872u
#define ROOM_WORDS 257u
/* With more triangles or pairs than these there is room for a part of them at a time. */
#define THREADS_USUAL 8192u
#define PARTS 16u
enum { MEET, TAKE, LIST, PLANE, GJK, POLYTOPE, DISTANCE, OWNERS, POINTS, CHOOSE };
_Static_assert(CHOOSE + 1 == DEVICE_SURFACE_STEPS, "a pipeline for each step");

bool device_surfaces_exist(uint32_t types) { return types >> SB_SHAPE_HFIELD & 1u; }

bool device_surfaces_meet(uint32_t types)
{
  return device_surfaces_exist(types) && types & (1u << SB_SHAPE_SPHERE | 1u << SB_SHAPE_CAPSULE | 1u << SB_SHAPE_BOX);
}

/* Of all solids and heightfields that may meet: rounds that a pair's triangles take when it comes near twice as many as the solid's size lets expect. */
static uint64_t rounds_of(const sb_device_collision_setup *setup)
{
  uint64_t all, most;
  sb_collision_expect_triangles(setup->model, setup->speculative_margin, &all, &most);
  uint64_t rounds = 2 * most / TRIANGLES_OF_ROUND + 1;
  return rounds < ROUNDS_LEAST ? ROUNDS_LEAST : rounds;
}

/* Cells of a heightfield that the largest particle of its world looks at while it rests. */
static double cells_of_particle(const sb_device_collision_setup *setup, uint32_t h)
{
  const sb_model *m = setup->model;
  uint32_t world = (uint32_t)m->shape_world[h];
  const uint32_t *grid = m->geometry_grid + 3 * (size_t)m->shape_geometry[h];
  const float *half = m->geometry_half + 3 * (size_t)m->shape_geometry[h];
  double radius = 0;
  for (uint32_t p = m->world_particle_start[world]; p < m->world_particle_start[world + 1]; p++)
    radius = (double)m->particle_radius[p] > radius ? (double)m->particle_radius[p] : radius;
  double reach = radius + (double)m->shape_margin[h] + (double)setup->speculative_margin;
  return (reach / (double)half[0] * (grid[2] - 1) + 2) * (reach / (double)half[1] * (grid[1] - 1) + 2);
}

static bool particles_fit(const sb_device_collision_setup *setup)
{
  bool fit = true;
  for (uint32_t h = 0; h < setup->model->shape_count && setup->particles; h++)
    fit = fit && (setup->model->shape_type[h] != SB_SHAPE_HFIELD || cells_of_particle(setup, h) <= CELLS_OF_PARTICLE / 2);
  return fit;
}

void device_surfaces_check(const sb_device_collision_setup *setup, sb_vulkan_limits limits, char lacks[160])
{
  const sb_model *m = setup->model;
  uint64_t grids = 4ull * (DEVICE_GRID_WORDS * (uint64_t)m->geometry_count + m->geometry_height_count);
  if (grids > limits.binding_bytes)
    snprintf(lacks, 160, "%u heights are more than this device can see at once", m->geometry_height_count);
  else if (rounds_of(setup) > ROUNDS_MOST)
    snprintf(lacks, 160, "a solid there may come near %u triangles of a heightfield, and some here are larger", ROUNDS_MOST * TRIANGLES_OF_ROUND / 2);
  else if (!particles_fit(setup))
    snprintf(lacks, 160, "a particle there may come near %u cells of a heightfield, and some here are larger", CELLS_OF_PARTICLE / 2);
  else if (4ull * TRIANGLE_WORDS * setup->triangle_capacity > limits.binding_bytes || setup->triangle_capacity / LOCAL >= limits.groups)
    snprintf(lacks, 160, "triangle_capacity %u is more than this device can see at once", setup->triangle_capacity);
}

static void make(device_surfaces *s, sb_vulkan_buffer **buffer, uint64_t words, sb_status *status, sb_diagnostics *diag)
{
  if (!*status) *status = sb_vulkan_device_buffer_create(s->vulkan, 4 * (words ? words : 1), buffer, diag);
}

sb_status device_surfaces_create_grids(device_surfaces *s, sb_vulkan *vulkan, const sb_model *m, sb_diagnostics *diag)
{
  uint32_t heights = DEVICE_GRID_WORDS * m->geometry_count;
  size_t count = heights + (size_t)m->geometry_height_count;
  uint32_t *words = calloc(count + 1, sizeof *words);
  *s = (device_surfaces){.vulkan = vulkan};
  sb_status status = words ? SB_OK : sb_report(diag, SB_ERROR, SB_CODE_MEMORY, "collision", "no memory for the pipeline on the device");
  for (uint32_t g = 0; g < m->geometry_count && words; g++) {
    uint32_t *to = words + DEVICE_GRID_WORDS * (size_t)g;
    memcpy(to, m->geometry_grid + 3 * (size_t)g, 3 * sizeof *to);
    to[0] += heights;
    memcpy(to + 3, m->geometry_half + 3 * (size_t)g, 3 * sizeof *to);
  }
  if (words && m->geometry_height_count) memcpy(words + heights, m->geometry_height, m->geometry_height_count * sizeof *words);
  make(s, &s->grids, count, &status, diag);
  if (!status && count) status = sb_vulkan_upload(vulkan, s->grids, 0, words, 4 * count, diag);
  free(words);
  return status;
}

sb_status device_surfaces_create(device_surfaces *s, sb_device_scope *scope, const sb_device_collision_setup *setup, uint32_t push_bytes, sb_diagnostics *diag)
{
#define STEP(name, buffers) {name##_spv, sizeof name##_spv, buffers}
  const struct { const uint32_t *words; size_t bytes; uint32_t buffers; } steps[DEVICE_SURFACE_STEPS] = {
      STEP(collision_met, 12), STEP(collision_met_take, 1), STEP(collision_met_list, 12), STEP(collision_met_plane, 12), STEP(collision_met_gjk, 12),
      STEP(collision_met_polytope, 12), STEP(collision_met_distance, 12), STEP(collision_met_owners, 12), STEP(collision_met_points, 12), STEP(collision_met_choose, 12)};
#undef STEP
  const uint64_t visible = sb_vulkan_limits_of(s->vulkan).binding_bytes / (4 * ROOM_FLOATS);
  sb_status status = SB_OK;
  s->capacity = setup->triangle_capacity;
  s->of_pair = TRIANGLES_OF_ROUND * (uint32_t)rounds_of(setup);
  s->threads = s->capacity > setup->pair_capacity ? s->capacity : setup->pair_capacity;
  if (s->threads > THREADS_USUAL) s->threads = s->threads / PARTS + 1 > THREADS_USUAL ? s->threads / PARTS + 1 : THREADS_USUAL;
  if (s->threads > visible) s->threads = (uint32_t)visible;
  for (uint32_t i = 0; i < DEVICE_SURFACE_STEPS && !status; i++)
    status = compute_scope_pipeline(scope, steps[i].words, steps[i].bytes / 4, steps[i].buffers, push_bytes, &s->steps[i], diag);
  make(s, &s->met, setup->pair_capacity, &status, diag);
  make(s, &s->first, setup->pair_capacity, &status, diag);
  make(s, &s->listed, 2ull * s->capacity, &status, diag);
  make(s, &s->work, (uint64_t)TRIANGLE_WORDS * s->capacity, &status, diag);
  make(s, &s->room, (uint64_t)ROOM_FLOATS * s->threads, &status, diag);
  make(s, &s->room_words, (uint64_t)ROOM_WORDS * s->threads, &status, diag);
  return status;
}

void device_surfaces_destroy(device_surfaces *s)
{
  sb_vulkan_buffer *const buffers[] = {s->grids, s->met, s->first, s->listed, s->work, s->room, s->room_words};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) sb_vulkan_buffer_destroy(buffers[i]);
}

static uint32_t groups_of(uint32_t count) { return count / LOCAL + (count % LOCAL > 0); }

/* A step that needs room, over `most` triangles or pairs in parts, for a number of rounds each. */
static void record_parts(device_recorder *r, const device_surfaces *s, uint32_t step, sb_vulkan_buffer *const *buffers, const void *push, uint32_t push_bytes, uint32_t most,
                         uint32_t rounds)
{
  uint32_t words[SB_VULKAN_PUSH_MAX / 4], *begin = words + push_bytes / 4 - 2, *round = begin + 1;
  memcpy(words, push, push_bytes);
  for (*begin = 0; *begin < most; *begin += s->threads)
    for (*round = 0; *round < rounds; ++*round) device_record(r, s->steps[step], buffers, 12, words, groups_of(s->threads));
}

void device_surfaces_record(device_recorder *r, const device_surfaces *s, const device_sort *sort, const device_pairs *p, const void *push, uint32_t push_bytes,
                            uint32_t most, uint32_t pair_count_at)
{
  sb_vulkan_buffer *const buffers[12] = {p->counts, p->shapes, p->poses, s->grids, p->pairs, s->met, s->first, s->listed, s->work, p->pair_contacts, s->room, s->room_words};
  const uint32_t of_triangles = groups_of(s->capacity);
  device_record(r, s->steps[MEET], buffers, 12, push, groups_of(most));
  device_record_scan(r, sort, s->met, s->first, p->counts, most, pair_count_at, DEVICE_TRIANGLES_FOUND);
  device_record(r, s->steps[TAKE], buffers, 1, push, 1);
  device_record(r, s->steps[LIST], buffers, 12, push, groups_of(most));
  device_record(r, s->steps[PLANE], buffers, 12, push, of_triangles);
  device_record(r, s->steps[GJK], buffers, 12, push, of_triangles);
#ifndef SAMEBIT_MUTANT_NO_DEVICE_POLYTOPE /* the planted fault: shapes deep in the ground are left alone */
  record_parts(r, s, POLYTOPE, buffers, push, push_bytes, s->capacity, 1);
#endif
  device_record(r, s->steps[DISTANCE], buffers, 12, push, of_triangles);
  device_record(r, s->steps[OWNERS], buffers, 12, push, of_triangles);
  device_record(r, s->steps[POINTS], buffers, 12, push, of_triangles);
  record_parts(r, s, CHOOSE, buffers, push, push_bytes, most, s->of_pair / TRIANGLES_OF_ROUND);
}
