/* Tables of particles, deformables and attachments; count, scan, place. */
#include "device_particles.h"

#include <stdlib.h>
#include <string.h>

#include "samebit/device_contacts.h"

#include "collision_touches_count_spv.h"
#include "collision_touches_take_spv.h"
#include "collision_touches_place_spv.h"
#include "collision_touches_count_grids_spv.h"
#include "collision_touches_place_grids_spv.h"

#define LOCAL 64u
/* collision/device/collision_particles.comp */
#define DEFORMABLE_WORDS 8u

static void fill_particles(const sb_model *m, uint32_t *words)
{
  for (uint32_t i = 0; i < m->particle_count; i++) {
    memcpy(words + 2 * (size_t)i, m->particle_radius + i, sizeof *words);
    words[2 * (size_t)i + 1] = (uint32_t)m->particle_deformable[i];
  }
}

static void fill_deformables(const sb_model *m, uint32_t *words)
{
  for (uint32_t d = 0; d < m->deformable_count; d++) {
    uint32_t *to = words + DEFORMABLE_WORDS * (size_t)d;
    to[0] = (uint32_t)m->deformable_world[d];
    to[1] = m->deformable_contype[d];
    to[2] = m->deformable_conaffinity[d];
    memcpy(to + 3, m->deformable_margin + d, sizeof *to);
    memcpy(to + 4, m->deformable_friction + d, sizeof *to);
    memcpy(to + 5, m->deformable_restitution + d, sizeof *to);
    to[6] = (uint32_t)m->deformable_first_particle[d];
    to[7] = m->deformable_particles[d];
  }
}

static int by_key(const void *a, const void *b)
{
  const uint32_t *x = a, *y = b;
  return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

/* Particle and body of each attachment to a body, sorted; one that is there twice is the same twice. Returns how many. */
static uint32_t fill_held(const sb_model *m, uint32_t *words)
{
  uint32_t count = 0;
  for (uint32_t a = 0; a < m->attachment_count; a++) {
    if (m->attachment_body[a] < 0) continue;
    words[2 * (size_t)count] = (uint32_t)m->attachment_particle[a];
    words[2 * (size_t)count++ + 1] = (uint32_t)m->attachment_body[a];
  }
  qsort(words, count, 2 * sizeof *words, by_key);
  return count;
}

static void make(device_particles *p, sb_vulkan_buffer **buffer, const uint32_t *data, uint64_t words, sb_status *status, sb_diagnostics *diag)
{
  if (!*status) *status = sb_vulkan_device_buffer_create(p->vulkan, 4 * (words ? words : 1), buffer, diag);
  if (!*status && data) *status = sb_vulkan_upload(p->vulkan, *buffer, 0, data, 4 * words, diag);
}

sb_status device_particles_create(device_particles *p, sb_device_scope *scope, sb_vulkan *vulkan, const sb_device_collision_setup *setup,
                                  sb_vulkan_buffer *grids, uint32_t push_bytes, sb_diagnostics *diag)
{
  const sb_model *m = setup->model;
  const struct { const uint32_t *words; size_t bytes; uint32_t buffers; } shaders[2][3] = {
      {{collision_touches_count_spv, sizeof collision_touches_count_spv, 11}, {collision_touches_take_spv, sizeof collision_touches_take_spv, 1},
       {collision_touches_place_spv, sizeof collision_touches_place_spv, 12}},
      {{collision_touches_count_grids_spv, sizeof collision_touches_count_grids_spv, 13}, {collision_touches_take_spv, sizeof collision_touches_take_spv, 1},
       {collision_touches_place_grids_spv, sizeof collision_touches_place_grids_spv, 13}}}, *own = shaders[grids != NULL];
  size_t most = 2 * (size_t)m->particle_count > DEFORMABLE_WORDS * (size_t)m->deformable_count ? 2 * (size_t)m->particle_count : DEFORMABLE_WORDS * (size_t)m->deformable_count;
  if (most < 2 * (size_t)m->attachment_count) most = 2 * (size_t)m->attachment_count;
  uint32_t *words = malloc((most + 1) * sizeof *words);
  *p = (device_particles){.vulkan = vulkan, .count = m->particle_count, .capacity = setup->particle_contact_capacity, .grids = grids};
  sb_status status = words ? SB_OK : sb_report(diag, SB_ERROR, SB_CODE_MEMORY, "collision", "no memory for the pipeline on the device");
  size_t ignore;
  if (!status) status = compute_scope_copy(scope, "collision", "particle_q", &ignore, &p->q, diag);
  if (!status) status = compute_scope_copy(scope, "collision", "particle_qd", &ignore, &p->qd, diag);
  for (int i = 0; i < 3 && !status; i++) status = compute_scope_pipeline(scope, own[i].words, own[i].bytes / 4, own[i].buffers, push_bytes, &p->steps[i], diag);
  if (!status) fill_particles(m, words);
  make(p, &p->fixed, words, 2 * (uint64_t)m->particle_count, &status, diag);
  if (!status) fill_deformables(m, words);
  make(p, &p->deformables, words, DEFORMABLE_WORDS * (uint64_t)m->deformable_count, &status, diag);
  if (!status) p->held_count = fill_held(m, words);
  make(p, &p->held, words, 2 * (uint64_t)p->held_count, &status, diag);
  make(p, &p->found, NULL, p->count + 1ull, &status, diag);
  make(p, &p->contacts, NULL, SB_TOUCH_WORDS * (uint64_t)p->capacity, &status, diag);
  free(words);
  return status;
}

void device_particles_destroy(device_particles *p)
{
  sb_vulkan_buffer *const buffers[] = {p->fixed, p->deformables, p->held, p->found, p->contacts};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) sb_vulkan_buffer_destroy(buffers[i]);
}

void device_particles_record(device_recorder *r, const device_particles *p, const device_sort *sort, const device_shapes *s, const void *push)
{
  sb_vulkan_buffer *const buffers[13] = {s->counts, s->shapes, s->poses, s->boxes, s->tables, p->fixed, p->deformables, p->held, p->q, p->qd, p->found, p->contacts, p->grids};
  uint32_t groups = p->count / LOCAL + 1; /* one more than the particles: where the last one's end */
  device_record(r, p->steps[0], buffers, p->grids ? 13 : 11, push, groups);
  device_record_scan(r, sort, p->found, p->found, s->counts, p->count + 1, DEVICE_NONE, DEVICE_TOUCHES_FOUND);
  device_record(r, p->steps[1], buffers, 1, push, 1);
  device_record(r, p->steps[2], buffers, p->grids ? 13 : 12, push, groups);
}

sb_status device_particles_read(device_particles *p, uint32_t count, const sb_particle_contact_room *room, sb_diagnostics *diag)
{
  sb_vulkan_range ranges[SB_TOUCH_WORDS];
  size_t n = 0;
  uint64_t at = 0;
#define SB_X_CONTACT(type, name, comps, doc)                                                                                                          \
  ranges[n++] = (sb_vulkan_range){p->contacts, 4 * (uint64_t)p->capacity * at, (uint64_t)count * (comps) * sizeof(type), room->name};                 \
  at += (comps);
  SB_PARTICLE_CONTACT_ARRAYS(SB_X_CONTACT)
#undef SB_X_CONTACT
  return sb_vulkan_download_ranges(p->vulkan, ranges, n, diag);
}
