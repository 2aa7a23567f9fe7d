/* Contacts of the tick before: their keys and points, and which of them each contact of this tick continues. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_internal.h"

/* Contacts in one task. */
#define CACHE_CHUNK 2048u

void sb_contact_cache_refresh(sim_part *part)
{
  uint32_t sum = 0;
  for (uint32_t w = 0; w < part->sim->model->world_count; w++) {
    part->contact_start[w] = sum;
    sum += part->contact_count[w];
  }
  part->contact_start[part->sim->model->world_count] = sum;
}

/* The first contact array of a solver brings the keys along by which its elements are found again. */
sb_status sb_contact_cache_start(sim_part *part)
{
  sb_sim *sim = part->sim;
  uint32_t capacity = sb_collision_get_usage(sim->collision).contact_capacity;
  void *data;
  part->contact_start = calloc((size_t)sim->model->world_count + 1, sizeof *part->contact_start);
  part->match = calloc((size_t)capacity + 1, sizeof *part->match);
  if (!part->contact_start || !part->match) {
    snprintf(part->error, sizeof part->error, "no memory for %u contacts", capacity);
    return SB_E_MEMORY;
  }
  sb_array_desc count = {.struct_size = sizeof count,
                         .type = SB_TYPE_U32,
                         .domain = SB_DOMAIN_WORLD,
                         .components = 1,
                         .count = sim->model->world_count,
                         .lane_block = 1,
                         .name = "contact_count"};
  sb_status status = sb_registry_add(&sim->registry, part->name, &count, &data, part->error, sizeof part->error);
  part->contact_count = data;
  sb_array_desc key = {.struct_size = sizeof key,
                       .type = SB_TYPE_U32,
                       .domain = SB_DOMAIN_CONTACT,
                       .components = 2,
                       .count = capacity,
                       .lane_block = 1,
                       .name = "contact_key"};
  if (!status)
    status = sb_registry_add_for(&sim->registry, part->name, &key, part->contact_start, capacity, &data, part->error,
                                 sizeof part->error);
  part->contact_key = data;
  sb_array_desc point = {.struct_size = sizeof point,
                         .type = SB_TYPE_F32,
                         .domain = SB_DOMAIN_CONTACT,
                         .components = 3,
                         .count = capacity,
                         .lane_block = 1,
                         .name = "contact_point"};
  if (!status)
    status = sb_registry_add_for(&sim->registry, part->name, &point, part->contact_start, capacity, &data, part->error,
                                 sizeof part->error);
  part->contact_point = data;
  return status;
}

static uint64_t old_key(const sim_part *part, uint32_t i)
{
  return (uint64_t)part->contact_key[2 * (size_t)i + 1] << 32 | part->contact_key[2 * (size_t)i];
}

/* A swept contact has a normal of its own and continues no other. */
static bool is_swept(uint64_t key) { return (key & 0xffffu) == SB_FEATURE_SWEPT; }

/* Contacts first to end - 1 of one pair of shapes that have no match yet take the nearest contacts of the old run that
 * nobody has taken: features can change their name where edges coincide, while the point stays where it is. Of equal
 * distances the first wins. */
static void match_by_distance(sim_part *part, const sb_contacts *now, uint32_t first, uint32_t end, uint32_t old,
                              uint32_t old_end)
{
  uint32_t taken = 0; /* bit per contact of the old run; runs are at most 32 long */
  if (old_end - old > 32) old_end = old + 32;
  for (uint32_t i = first; i < end; i++)
    if (part->match[i] >= 0 && (uint32_t)part->match[i] - old < 32) taken |= 1u << ((uint32_t)part->match[i] - old);
  for (uint32_t i = first; i < end; i++) {
    if (part->match[i] >= 0 || is_swept(now->key[i])) continue;
    float best = SB_NO_LIMIT;
    for (uint32_t k = old; k < old_end; k++) {
      if (taken >> (k - old) & 1u || is_swept(old_key(part, k))) continue;
      const float *p = now->point_a + 3 * (size_t)i, *q = part->contact_point + 3 * (size_t)k;
      float x = p[0] - q[0], y = p[1] - q[1], z = p[2] - q[2], d = (x * x + y * y) + z * z;
      if (d < best) best = d, part->match[i] = (int32_t)k;
    }
    if (part->match[i] >= 0) taken |= 1u << ((uint32_t)part->match[i] - old);
  }
}

static bool starts_pair(const sb_contacts *now, uint32_t i)
{
  return i == 0 || now->world[i] != now->world[i - 1] || now->key[i] >> 16 != now->key[i - 1] >> 16;
}

/* First old contact of world w whose pair is not below `pair`. */
static uint32_t find_old(const sim_part *part, uint32_t w, uint64_t pair)
{
  uint32_t low = part->contact_start[w], high = part->contact_start[w + 1];
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (old_key(part, middle) >> 16 < pair)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Matches the pairs of world w that start at contacts first to last - 1. Both lists are sorted by key inside a world,
 * so one merge finds equal keys, and the runs of equal pairs. Returns where the last pair ends. */
static uint32_t match_run(sim_part *part, const sb_contacts *now, uint32_t w, uint32_t first, uint32_t last)
{
  uint32_t old = find_old(part, w, now->key[first] >> 16), old_last = part->contact_start[w + 1];
  uint32_t i = first, end;
  for (; i < last; i = end) {
    uint64_t pair = now->key[i] >> 16;
    bool complete = true;
    while (old < old_last && old_key(part, old) >> 16 < pair) old++;
    uint32_t old_end = old, k = old;
    while (old_end < old_last && old_key(part, old_end) >> 16 == pair) old_end++;
    for (end = i; end < now->world_start[w + 1] && now->key[end] >> 16 == pair; end++) {
      while (k < old_end && old_key(part, k) < now->key[end]) k++;
      part->match[end] = k < old_end && old_key(part, k) == now->key[end] ? (int32_t)k : -1;
      complete = complete && part->match[end] >= 0;
    }
    if (!complete && old < old_end) match_by_distance(part, now, i, end, old, old_end);
    old = old_end;
  }
  return i;
}

typedef struct cache_job {
  sim_part *part;
  const sb_contacts *now;
} cache_job;

static uint32_t chunk_end(const sb_contacts *now, uint32_t chunk)
{
  return now->count - chunk * CACHE_CHUNK < CACHE_CHUNK ? now->count : (chunk + 1) * CACHE_CHUNK;
}

/* The pairs that start inside the chunk. */
static void match_chunk(void *user, uint32_t chunk)
{
  const cache_job *job = user;
  const sb_contacts *now = job->now;
  uint32_t i = chunk * CACHE_CHUNK, end = chunk_end(now, chunk);
  while (i < end && !starts_pair(now, i)) i++;
  while (i < end) {
    uint32_t w = (uint32_t)now->world[i], world_end = now->world_start[w + 1];
    i = match_run(job->part, now, w, i, world_end < end ? world_end : end);
  }
}

static void keep_chunk(void *user, uint32_t chunk)
{
  const cache_job *job = user;
  const sb_contacts *now = job->now;
  uint32_t *key = job->part->contact_key, first = chunk * CACHE_CHUNK, end = chunk_end(now, chunk);
  for (uint32_t i = first; i < end; i++) {
    key[2 * (size_t)i] = (uint32_t)now->key[i];
    key[2 * (size_t)i + 1] = (uint32_t)(now->key[i] >> 32);
  }
  memcpy(job->part->contact_point + 3 * (size_t)first, now->point_a + 3 * (size_t)first,
         (size_t)(end - first) * 3 * sizeof(float));
}

static void run_chunks(cache_job *job, sb_chunk_fn fn)
{
  sb_sim *sim = job->part->sim;
  sim->chunk_fp_faults += sb_thread_pool_run(sim->pool, (job->now->count + CACHE_CHUNK - 1) / CACHE_CHUNK, fn, job);
}

void sb_contact_cache_match(sim_part *part, const sb_contacts *now)
{
  cache_job job = {part, now};
  run_chunks(&job, match_chunk);
}

void sb_contact_cache_keep(sim_part *part, const sb_contacts *now)
{
  cache_job job = {part, now};
  for (uint32_t w = 0; w < part->sim->model->world_count; w++)
    part->contact_count[w] = now->world_start[w + 1] - now->world_start[w];
  sb_contact_cache_refresh(part);
  run_chunks(&job, keep_chunk);
}
