/* Registration, addressing and per-array hashing of state. */
#include "array_registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t *find_domain_start(const sb_model *m, uint32_t domain)
{
  switch (domain) {
  case SB_DOMAIN_BODY: return m->world_body_start;
  case SB_DOMAIN_COORD: return m->world_coord_start;
  case SB_DOMAIN_DOF: return m->world_dof_start;
  case SB_DOMAIN_SHAPE: return m->world_shape_start;
  case SB_DOMAIN_PARTICLE: return m->world_particle_start;
  default: return NULL;
  }
}

sb_status sb_registry_init(sb_registry *r, const sb_model *m)
{
  *r = (sb_registry){.model = m};
  r->domain_count[SB_DOMAIN_WORLD] = m->world_count;
  r->domain_count[SB_DOMAIN_BODY] = m->body_count;
  r->domain_count[SB_DOMAIN_COORD] = m->coord_count;
  r->domain_count[SB_DOMAIN_DOF] = m->dof_count;
  r->domain_count[SB_DOMAIN_SHAPE] = m->shape_count;
  r->domain_count[SB_DOMAIN_ACTUATOR] = m->actuator_count;
  r->domain_count[SB_DOMAIN_PARTICLE] = m->particle_count;
  for (uint32_t d = 0; d < SB_DOMAIN_CUSTOM; d++) {
    r->domain_start[d] = malloc(((size_t)m->world_count + 1) * sizeof(uint32_t));
    if (!r->domain_start[d]) {
      sb_registry_free(r);
      return SB_E_MEMORY;
    }
    const uint32_t *known = find_domain_start(m, d);
    for (uint32_t w = 0; w <= m->world_count; w++) {
      /* Worlds and actuators repeat evenly over the worlds. */
      uint64_t even = m->world_count ? (uint64_t)r->domain_count[d] * w / m->world_count : 0;
      r->domain_start[d][w] = known ? known[w] : (uint32_t)even;
    }
  }
  return SB_OK;
}

void sb_registry_free(sb_registry *r)
{
  for (size_t i = 0; i < r->count; i++) {
    sb_memory_give(r->memory, r->arrays[i].data);
    free(r->arrays[i].owned_world_start);
  }
  for (uint32_t d = 0; d < SB_DOMAIN_CUSTOM; d++) free(r->domain_start[d]);
  free(r->arrays);
  *r = (sb_registry){0};
}

static bool is_name(const char *name)
{
  if (!name || !*name || strlen(name) > 40) return false;
  for (; *name; name++)
    if (!((*name >= 'a' && *name <= 'z') || (*name >= '0' && *name <= '9') || *name == '_')) return false;
  return true;
}

static const char *find_fault(const sb_registry *r, const sb_array_desc *d, const uint32_t *contact_start, uint32_t contact_capacity)
{
  if (d->struct_size != sizeof *d) return "struct_size is not that of this ABI version";
  if (!is_name(d->name)) return "name must be 1 to 40 characters of a-z, 0-9 and _";
  if (d->type > SB_TYPE_I32) return "type must be an SB_TYPE_* value";
  if (d->domain >= SB_DOMAIN_COUNT) return "domain must be an SB_DOMAIN_* value";
  if (d->components < 1 || d->components > 64) return "components must be 1 to 64";
  if (d->lane_block != 1 && d->lane_block != 4 && d->lane_block != 8) return "lane_block must be 1, 4 or 8";
  if (d->residence != SB_RESIDENCE_HOST) return "residence must be host on the CPU backend";
  if (d->domain < SB_DOMAIN_CUSTOM && d->count != r->domain_count[d->domain])
    return "count must be that of the model's domain";
  if (d->domain == SB_DOMAIN_CONTACT && !contact_start) return "contact arrays are for solvers only";
  if (d->domain == SB_DOMAIN_CONTACT && d->count != contact_capacity) return "count must be sb_bind.contact_capacity";
  if (d->domain == SB_DOMAIN_CONTACT && d->lane_block != 1) return "lane_block must be 1 for contact arrays";
  if (d->domain == SB_DOMAIN_CUSTOM) {
    if (!d->world_start) return "a custom domain needs world_start";
    for (uint32_t w = 0; w < r->model->world_count; w++)
      if (d->world_start[w] > d->world_start[w + 1]) return "world_start must not decrease";
    if (d->world_start[0] != 0 || d->world_start[r->model->world_count] != d->count)
      return "world_start must run from 0 to count";
  }
  return NULL;
}

sb_status sb_registry_add(sb_registry *r, const char *part, const sb_array_desc *d, void **data, char *error,
                          size_t error_size)
{
  return sb_registry_add_for(r, part, d, NULL, 0, data, error, error_size);
}

sb_status sb_registry_add_for(sb_registry *r, const char *part, const sb_array_desc *d, const uint32_t *contact_start,
                              uint32_t contact_capacity, void **data, char *error, size_t error_size)
{
  *data = NULL;
  const char *fault = find_fault(r, d, contact_start, contact_capacity);
  sb_array a = {.type = d->type, .domain = d->domain, .components = d->components, .count = d->count,
                .lane_block = d->lane_block};
  if (!fault) {
    snprintf(a.name, sizeof a.name, "%.48s.%s", part, d->name);
    if (sb_registry_find(r, a.name)) fault = "the name is registered already";
  }
  if (fault) {
    snprintf(error, error_size, "array \"%s.%.40s\": %s", part, d->name && d->struct_size == sizeof *d ? d->name : "?", fault);
    return SB_E_ARGUMENT;
  }
  a.id = sb_hash_array_id(a.name);
  size_t blocks = ((size_t)d->count + d->lane_block - 1) / d->lane_block;
  a.words = blocks * d->lane_block * d->components;
  size_t bytes = a.words * sizeof(uint32_t);
  a.data = sb_memory_take(r->memory, a.name, bytes);
  size_t starts = ((size_t)r->model->world_count + 1) * sizeof(uint32_t);
  if (d->domain == SB_DOMAIN_CUSTOM) a.owned_world_start = malloc(starts);
  if (r->count == r->capacity) {
    size_t capacity = r->capacity ? 2 * r->capacity : 16;
    sb_array *grown = realloc(r->arrays, capacity * sizeof *grown);
    if (grown) r->arrays = grown, r->capacity = capacity;
  }
  if (!a.data || r->count == r->capacity || (d->domain == SB_DOMAIN_CUSTOM && !a.owned_world_start)) {
    sb_memory_give(r->memory, a.data);
    free(a.owned_world_start);
    snprintf(error, error_size, "array \"%s\": out of memory for %zu bytes", a.name, bytes);
    return SB_E_MEMORY;
  }
  if (d->domain == SB_DOMAIN_CUSTOM) memcpy(a.owned_world_start, d->world_start, starts);
  if (d->domain == SB_DOMAIN_CONTACT)
    a.world_start = contact_start;
  else
    a.world_start = d->domain == SB_DOMAIN_CUSTOM ? a.owned_world_start : r->domain_start[d->domain];
  r->arrays[r->count++] = a;
  *data = a.data;
  return SB_OK;
}

const sb_array *sb_registry_find(const sb_registry *r, const char *name)
{
  for (size_t i = 0; i < r->count; i++)
    if (!strcmp(r->arrays[i].name, name)) return &r->arrays[i];
  return NULL;
}

sb_hash_sums sb_array_hash_world(const sb_array *a, uint32_t world, uint32_t lanes, bool *bad)
{
  sb_hash_sums sums = {0, 0};
  uint32_t first = a->world_start[world], end = a->world_start[world + 1];
  bool floats = a->type == SB_TYPE_F32, found = false;
  if (a->lane_block == 1) {
    found = sb_hash_words(&sums, a->data + (size_t)first * a->components, (size_t)(end - first) * a->components, 0, a->id,
                          floats, lanes);
  } else {
    for (uint32_t e = first; e < end; e++)
      for (uint32_t c = 0; c < a->components; c++)
        found |= sb_hash_words(&sums, a->data + sb_array_word(a, e, c), 1, (e - first) * a->components + c, a->id, floats, 1);
  }
  if (found) *bad = true;
  return sums;
}

bool sb_array_first_bad(const sb_array *a, uint32_t world_count, uint32_t *element, uint32_t *component)
{
  if (a->type != SB_TYPE_F32) return false;
  for (uint32_t e = 0; e < sb_array_live(a, world_count); e++)
    for (uint32_t c = 0; c < a->components; c++)
      if ((a->data[sb_array_word(a, e, c)] & 0x7f800000u) == 0x7f800000u) {
        *element = e;
        *component = c;
        return true;
      }
  return false;
}

/* Last body whose start is not above index. */
static int32_t find_owner(const int32_t *start, uint32_t body_count, uint32_t index)
{
  uint32_t low = 0, high = body_count;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if ((uint32_t)start[middle] <= index)
      low = middle;
    else
      high = middle;
  }
  return (int32_t)low;
}

/* A tendon belongs to the body of its first joint. */
static int32_t find_driven_body(const sb_model *m, uint32_t actuator)
{
  int32_t tendon = m->actuator_tendon[actuator];
  return m->dof_body[tendon < 0 ? m->actuator_dof[actuator] : m->tendon_term_dof[m->tendon_first_term[tendon]]];
}

int32_t sb_array_body(const sb_registry *r, const sb_array *a, uint32_t element)
{
  const sb_model *m = r->model;
  switch (a->domain) {
  case SB_DOMAIN_BODY: return (int32_t)element;
  case SB_DOMAIN_COORD: return find_owner(m->joint_q_start, m->body_count, element);
  case SB_DOMAIN_DOF: return find_owner(m->joint_qd_start, m->body_count, element);
  case SB_DOMAIN_SHAPE: return m->shape_body[element];
  case SB_DOMAIN_ACTUATOR: return find_driven_body(m, element);
  default: return -1;
  }
}
