/* Copies of registered arrays and their hash on the device; parts and their objects are in compute_extension.c. */
#include "vulkan_device.h"

#include "compute_extension.h"
#include "device_collision.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shader_build.h"
#include "state_hash.h"
#include "state_hash_spv.h"

/* Words that one workgroup of the hash sums. */
#define HASH_CHUNK 4096u

/* Drivers compile a shader for long, and every simulation and every check before it has the same ones. */
typedef struct made_pipeline {
  uint32_t *words;
  size_t count;
  uint32_t buffer_count, push_bytes;
  sb_vulkan_pipeline *pipeline;
} made_pipeline;

/* A way of sending commands, as a simulation's device. */
typedef struct device_way {
  sb_vulkan_device *device;
  bool eager;
  sb_device interface;
} device_way;

struct sb_vulkan_device {
  sb_vulkan *vulkan;
  made_pipeline *pipelines;
  size_t pipeline_count;
  sb_vulkan_pipeline *hash;
  device_way ways[2];
};

typedef struct copy {
  size_t array;
  sb_vulkan_buffer *words, *starts;
  bool borrowed; /* starts: the collision's, which are those of the last tick's contacts */
} copy;

struct sb_device_scope {
  sb_vulkan_device *device;
  bool eager;
  sb_registry *registry;
  copy *copies;
  size_t copy_count;
  compute_part **parts;
  size_t part_count;
  sb_vulkan_buffer *sums, *sums_seen; /* 2 words for each world, then one flag; where the host reads them */
  sb_vulkan_graph *hash_graph; /* of the arrays `hashed` */
  size_t *hashed, hashed_count;
  device_collision *collision; /* NULL where the pipeline does not run there */
  uint32_t contact_capacity, particle_contact_capacity;
  bool shared; /* a part takes the contacts there */
};

static sb_status no_memory(sb_diagnostics *diag)
{
  return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, "vulkan", "no memory for the simulation's device objects");
}

static copy *find_copy(const sb_device_scope *s, size_t array)
{
  for (size_t i = 0; i < s->copy_count; i++)
    if (s->copies[i].array == array) return &s->copies[i];
  return NULL;
}

/* ---- life ---- */

static void close_scope(void *self)
{
  sb_device_scope *s = self;
  if (!s) return;
  sb_vulkan_wait(s->device->vulkan, NULL);
  sb_vulkan_graph_destroy(s->hash_graph);
  device_collision_destroy(s->collision);
  for (size_t i = 0; i < s->part_count; i++) compute_part_destroy(s->parts[i]);
  for (size_t i = 0; i < s->copy_count; i++) {
    sb_vulkan_buffer_destroy(s->copies[i].words);
    if (!s->copies[i].borrowed) sb_vulkan_buffer_destroy(s->copies[i].starts);
  }
  sb_vulkan_buffer_destroy(s->sums);
  sb_vulkan_buffer_destroy(s->sums_seen);
  free(s->copies);
  free(s->parts);
  free(s->hashed);
  free(s);
}

static sb_status open_scope(void *context, sb_registry *registry, void **out, sb_diagnostics *diag)
{
  const device_way *way = context;
  sb_vulkan_device *d = way->device;
  sb_device_scope *s = calloc(1, sizeof *s);
  if (!s) return no_memory(diag);
  s->device = d;
  s->eager = way->eager;
  s->registry = registry;
  size_t bytes = (2 * (size_t)registry->model->world_count + 1) * sizeof(uint32_t);
  sb_status status = sb_vulkan_device_buffer_create(d->vulkan, bytes, &s->sums, diag);
  if (!status) status = sb_vulkan_buffer_create(d->vulkan, bytes, &s->sums_seen, diag);
  if (status)
    close_scope(s);
  else
    *out = s;
  return status;
}

static sb_status add_part(void *self, const char *name, uint32_t mode, sb_device_part **out, sb_diagnostics *diag)
{
  sb_device_scope *s = self;
  compute_part **parts = realloc(s->parts, (s->part_count + 1) * sizeof *parts);
  if (!parts) return no_memory(diag);
  s->parts = parts;
  sb_status status = compute_part_create(s, s->device->vulkan, name, mode, s->eager, &s->parts[s->part_count], diag);
  if (!status) *out = compute_part_for_sim(s->parts[s->part_count++]);
  return status;
}

/* ---- pipelines ---- */

static sb_status find_pipeline(sb_vulkan_device *d, const uint32_t *words, size_t count, uint32_t buffer_count, uint32_t push_bytes,
                               sb_vulkan_pipeline **out, sb_diagnostics *diag)
{
  for (size_t i = 0; i < d->pipeline_count; i++) {
    const made_pipeline *p = &d->pipelines[i];
    if (p->count != count || p->buffer_count != buffer_count || p->push_bytes != push_bytes || memcmp(p->words, words, count * sizeof *words)) continue;
    *out = p->pipeline;
    return SB_OK;
  }
  made_pipeline *pipelines = realloc(d->pipelines, (d->pipeline_count + 1) * sizeof *pipelines);
  if (!pipelines) return no_memory(diag);
  d->pipelines = pipelines;
  made_pipeline made = {.words = malloc(count * sizeof *words), .count = count, .buffer_count = buffer_count, .push_bytes = push_bytes};
  if (!made.words) return no_memory(diag);
  memcpy(made.words, words, count * sizeof *words);
  /* Drivers take valid words for granted; this costs a tenth of a second for 100,000 of them, so it is done once. */
  sb_status status = sb_shader_validate(words, count, "shader", diag);
  if (!status) status = sb_vulkan_pipeline_create(d->vulkan, words, count, buffer_count, push_bytes, &made.pipeline, diag);
  if (status) {
    free(made.words);
    return status;
  }
  d->pipelines[d->pipeline_count++] = made;
  *out = made.pipeline;
  return SB_OK;
}

sb_status compute_scope_pipeline(sb_device_scope *s, const uint32_t *words, size_t count, uint32_t buffer_count, uint32_t push_bytes,
                                 sb_vulkan_pipeline **out, sb_diagnostics *diag)
{
  return find_pipeline(s->device, words, count, buffer_count, push_bytes, out, diag);
}

/* ---- copies ---- */

static size_t find_array(const sb_registry *r, const char *part, const char *name)
{
  char full[2][96];
  snprintf(full[0], sizeof full[0], "state.%.40s", name);
  snprintf(full[1], sizeof full[1], "%.48s.%.40s", part, name);
  for (size_t i = 0; i < r->count; i++)
    if (!strcmp(r->arrays[i].name, full[0]) || !strcmp(r->arrays[i].name, full[1])) return i;
  return SIZE_MAX;
}

sb_status compute_scope_copy(sb_device_scope *s, const char *part, const char *name, size_t *array, sb_vulkan_buffer **words, sb_diagnostics *diag)
{
  size_t i = find_array(s->registry, part, name);
  if (i == SIZE_MAX)
    return (void)sb_report(diag, SB_ERROR, SB_CODE_VULKAN_CALL, part, "no state array is called \"%.40s\"; samebit/state.h lists the shared ones", name), SB_E_ARGUMENT;
  *array = i;
  return compute_scope_copy_at(s, part, i, words, diag);
}

sb_status compute_scope_copy_at(sb_device_scope *s, const char *part, size_t i, sb_vulkan_buffer **words, sb_diagnostics *diag)
{
  sb_array *a = &s->registry->arrays[i];
  bool of_contacts = a->domain == SB_DOMAIN_CONTACT;
  if (a->lane_block != 1 || (of_contacts && !s->shared))
    return (void)sb_report(diag, SB_ERROR, SB_CODE_VULKAN_CALL, part,
                           "array \"%s\" cannot have a copy on the device: it has lane blocks, or is over contacts that the part does not take there", a->name), SB_E_ARGUMENT;
  const copy *known = find_copy(s, i);
  if (known) {
    *words = known->words;
    return SB_OK;
  }
  copy *copies = realloc(s->copies, (s->copy_count + 1) * sizeof *copies);
  if (!copies) return no_memory(diag);
  s->copies = copies;
  copy *c = &s->copies[s->copy_count];
  *c = (copy){.array = i, .borrowed = of_contacts};
  size_t starts = ((size_t)s->registry->model->world_count + 1) * sizeof(uint32_t);
  sb_vulkan *v = s->device->vulkan;
  sb_status status = sb_vulkan_device_buffer_create(v, a->words ? a->words * sizeof(uint32_t) : 4, &c->words, diag);
  if (of_contacts) c->starts = device_collision_buffers(s->collision).old_start;
  if (!status && !of_contacts) status = sb_vulkan_device_buffer_create(v, starts, &c->starts, diag);
  if (!status && !of_contacts) status = sb_vulkan_upload(v, c->starts, 0, a->world_start, starts, diag);
  if (status) {
    sb_vulkan_wait(v, NULL); /* a part of the upload may be on its way */
    sb_vulkan_buffer_destroy(c->words);
    if (!c->borrowed) sb_vulkan_buffer_destroy(c->starts);
    return status;
  }
  s->copy_count++;
  a->on_device = true;
  a->stale_on_device = true;
  *words = c->words;
  return SB_OK;
}

/* Of an array over contacts as many as the host knows of. */
static size_t words_in_use(const sb_device_scope *s, const sb_array *a)
{
  return a->domain == SB_DOMAIN_CONTACT ? (size_t)sb_array_live(a, s->registry->model->world_count) * a->components : a->words;
}

static sb_status upload_array(void *self, size_t array, sb_diagnostics *diag)
{
  sb_device_scope *s = self;
  const sb_array *a = &s->registry->arrays[array];
  return sb_vulkan_upload(s->device->vulkan, find_copy(s, array)->words, 0, a->data, words_in_use(s, a) * sizeof(uint32_t), diag);
}

static sb_status download_array(void *self, size_t array, sb_diagnostics *diag)
{
  sb_device_scope *s = self;
  const sb_array *a = &s->registry->arrays[array];
  return sb_vulkan_download(s->device->vulkan, find_copy(s, array)->words, 0, a->data, words_in_use(s, a) * sizeof(uint32_t), diag);
}

/* ---- hash ---- */

typedef struct hash_push {
  uint32_t worlds, components, first, count, key_a, key_b, floats;
} hash_push;

/* An array in as many pieces as bindings can be large. */
static sb_status hash_array(sb_device_scope *s, const sb_array *a, const copy *c, sb_diagnostics *diag)
{
  uint32_t worlds = s->registry->model->world_count;
  /* how many contacts there are the shader reads from the starts */
  uint64_t words = (uint64_t)(a->domain == SB_DOMAIN_CONTACT ? a->count : sb_array_live(a, worlds)) * a->components;
  sb_vulkan_limits limits = sb_vulkan_limits_of(s->device->vulkan);
  uint64_t most = limits.binding_bytes / 4 / HASH_CHUNK * HASH_CHUNK;
  if (most > (uint64_t)limits.groups * HASH_CHUNK) most = (uint64_t)limits.groups * HASH_CHUNK;
  hash_push push = {.worlds = worlds, .components = a->components, .floats = a->type == SB_TYPE_F32};
  sb_hash_keys(a->id, &push.key_a, &push.key_b);
  sb_status status = SB_OK;
  for (uint64_t first = 0; !status && first < words; first += most) {
    uint64_t count = words - first < most ? words - first : most;
    push.first = (uint32_t)first;
    push.count = (uint32_t)count;
    const sb_vulkan_slice slices[3] = {{c->words, first * 4, count * 4}, {c->starts, 0, 0}, {s->sums, 0, 0}};
    status = sb_vulkan_graph_dispatch(s->hash_graph, s->device->hash, slices, &push, (uint32_t)((count + HASH_CHUNK - 1) / HASH_CHUNK), diag);
  }
  return status;
}

/* The graph for these arrays; it stays while they are asked for. */
static sb_status prepare_hash(sb_device_scope *s, const size_t *arrays, size_t count, sb_diagnostics *diag)
{
  if (s->hash_graph && s->hashed_count == count && !memcmp(s->hashed, arrays, count * sizeof *arrays)) return SB_OK;
  sb_vulkan_graph_destroy(s->hash_graph);
  s->hash_graph = NULL;
  size_t *hashed = realloc(s->hashed, count * sizeof *hashed);
  if (!hashed) return no_memory(diag);
  s->hashed = hashed;
  s->hashed_count = count;
  memcpy(hashed, arrays, count * sizeof *arrays);
  sb_status status = sb_vulkan_graph_create(s->device->vulkan, s->eager, &s->hash_graph, diag);
  if (!status) status = sb_vulkan_graph_clear(s->hash_graph, s->sums, diag);
  for (size_t i = 0; !status && i < count; i++) status = hash_array(s, &s->registry->arrays[arrays[i]], find_copy(s, arrays[i]), diag);
  if (!status) status = sb_vulkan_graph_copy(s->hash_graph, s->sums, s->sums_seen, sb_vulkan_buffer_size(s->sums), diag);
  if (!status) status = sb_vulkan_graph_finish(s->hash_graph, diag);
  if (!status) return SB_OK;
  sb_vulkan_graph_destroy(s->hash_graph);
  s->hash_graph = NULL;
  return status;
}

static sb_status hash_arrays(void *self, const size_t *arrays, size_t count, sb_hash_sums *worlds, bool *bad, sb_diagnostics *diag)
{
  sb_device_scope *s = self;
  sb_vulkan *v = s->device->vulkan;
  uint32_t world_count = s->registry->model->world_count;
  const uint32_t *sums = sb_vulkan_buffer_data(s->sums_seen);
  sb_status status = prepare_hash(s, arrays, count, diag);
  if (!status) status = sb_vulkan_graph_run(s->hash_graph, diag);
  if (!status) status = sb_vulkan_wait(v, diag);
  for (uint32_t w = 0; !status && w < world_count; w++) {
    worlds[w].a += sums[2 * w];
    worlds[w].b += sums[2 * w + 1];
  }
  if (!status && sums[2 * world_count]) *bad = true;
  return status;
}

/* ---- collision ---- */

static sb_status open_collision(void *self, const sb_device_collision_setup *setup, char lacks[160], sb_diagnostics *diag)
{
  sb_device_scope *s = self;
  sb_vulkan_buffer *body_q = NULL, *body_qd = NULL;
  size_t ignore;
  sb_status status = compute_scope_copy(s, "collision", "body_q", &ignore, &body_q, diag);
  if (!status) status = compute_scope_copy(s, "collision", "body_qd", &ignore, &body_qd, diag);
  s->contact_capacity = setup->contact_capacity;
  s->particle_contact_capacity = setup->particle_contact_capacity;
  if (!status) status = device_collision_create(s, s->device->vulkan, s->eager, setup, body_q, body_qd, &s->collision, lacks, diag);
  return status;
}

static sb_status collide(void *self, sb_diagnostics *diag) { return device_collision_run(((sb_device_scope *)self)->collision, diag); }

static sb_status count_contacts(void *self, sb_device_contact_counts *counts, sb_diagnostics *diag)
{
  sb_device_scope *s = self;
  sb_status status = sb_vulkan_wait(s->device->vulkan, diag);
  if (!status) *counts = device_collision_counts(s->collision);
  return status;
}

static sb_status read_contacts(void *self, uint32_t count, const sb_contact_room *room, sb_diagnostics *diag)
{
  return device_collision_read(((sb_device_scope *)self)->collision, count, room, diag);
}

static sb_status read_particle_contacts(void *self, uint32_t count, const sb_particle_contact_room *room, sb_diagnostics *diag)
{
  return device_collision_read_particles(((sb_device_scope *)self)->collision, count, room, diag);
}

static sb_status read_near_pairs(void *self, uint32_t count, const sb_near_pair_room *room, sb_diagnostics *diag)
{
  return device_collision_read_near(((sb_device_scope *)self)->collision, count, room, diag);
}

static const sb_device_contacts *share_contacts(void *self, const sb_device_part *part)
{
  sb_device_scope *s = self;
  device_contact_buffers b = device_collision_buffers(s->collision);
  for (size_t i = 0; i < s->part_count; i++) {
    if (compute_part_for_sim(s->parts[i]) != part) continue;
    const sb_device_contacts *shared = compute_part_share(s->parts[i], &b, s->contact_capacity, s->particle_contact_capacity);
    s->shared = s->shared || shared;
    return shared;
  }
  return NULL;
}

static sb_status open_cache(void *self, const char *part, sb_diagnostics *diag)
{
  sb_device_scope *s = self;
  sb_vulkan_buffer *key = NULL, *point = NULL, *count = NULL;
  size_t ignore;
  sb_status status = compute_scope_copy(s, part, "contact_key", &ignore, &key, diag);
  if (!status) status = compute_scope_copy(s, part, "contact_point", &ignore, &point, diag);
  if (!status) status = compute_scope_copy(s, part, "contact_count", &ignore, &count, diag);
  return status ? status : device_collision_open_cache(s->collision, s, s->eager, key, point, count, diag);
}

static sb_status match_contacts(void *self, const uint32_t *old_start, sb_diagnostics *diag)
{
  sb_device_scope *s = self;
  size_t bytes = ((size_t)s->registry->model->world_count + 1) * sizeof *old_start;
  sb_status status = old_start ? sb_vulkan_upload(s->device->vulkan, device_collision_buffers(s->collision).old_start, 0, old_start, bytes, diag) : SB_OK;
  return status ? status : device_collision_match(s->collision, diag);
}

static sb_status make_copy(void *self, size_t array, sb_diagnostics *diag)
{
  sb_vulkan_buffer *ignore;
  return compute_scope_copy_at(self, "state", array, &ignore, diag);
}

static sb_status clear_array(void *self, size_t array, sb_diagnostics *diag)
{
  sb_device_scope *s = self;
  return sb_vulkan_clear(s->device->vulkan, find_copy(s, array)->words, diag);
}

static bool is_lost(const void *self) { return sb_vulkan_lost(((const sb_device_scope *)self)->device->vulkan); }

/* ---- the device ---- */

sb_status sb_vulkan_device_create(sb_vulkan *vulkan, sb_vulkan_device **out, sb_diagnostics *diag)
{
  sb_vulkan_device *d = calloc(1, sizeof *d);
  if (!d) return no_memory(diag);
  d->vulkan = vulkan;
  for (int i = 0; i < 2; i++) {
    d->ways[i] = (device_way){.device = d, .eager = i == 1};
    d->ways[i].interface = (sb_device){.context = &d->ways[i], .open = open_scope, .close = close_scope, .add_part = add_part,
                                       .upload = upload_array, .download = download_array, .hash = hash_arrays, .open_collision = open_collision,
                                       .collide = collide, .count_contacts = count_contacts, .read_contacts = read_contacts, .read_particle_contacts = read_particle_contacts,
                                       .read_near_pairs = read_near_pairs,
                                       .share_contacts = share_contacts, .open_cache = open_cache, .match_contacts = match_contacts, .make_copy = make_copy,
                                       .clear = clear_array, .lost = is_lost};
  }
  sb_status status = find_pipeline(d, state_hash_spv, sizeof state_hash_spv / sizeof *state_hash_spv, 3, sizeof(hash_push), &d->hash, diag);
  if (status)
    sb_vulkan_device_destroy(d);
  else
    *out = d;
  return status;
}

void sb_vulkan_device_destroy(sb_vulkan_device *d)
{
  if (!d) return;
  for (size_t i = 0; i < d->pipeline_count; i++) {
    sb_vulkan_pipeline_destroy(d->pipelines[i].pipeline);
    free(d->pipelines[i].words);
  }
  free(d->pipelines);
  free(d);
}

const sb_device *sb_vulkan_device_for_sim(const sb_vulkan_device *d, bool one_by_one) { return d ? &d->ways[one_by_one ? 1 : 0].interface : NULL; }
