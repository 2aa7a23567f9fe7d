/* Owned models: storage, replication over worlds, names. Knows the C library only. */
#include "model_store_parts.h"

#include <stdlib.h>
#include <string.h>

#define ELEMENT_OF(type)                                                                                               \
  _Generic((type)0, float : SB_ELEMENT_FLOAT, uint32_t : SB_ELEMENT_UINT, int32_t : SB_ELEMENT_INT)
#define REFERENCE_NONE (-1)
#define REFERENCE_WORLD SB_DOMAIN_WORLD
#define REFERENCE_BODY SB_DOMAIN_BODY
#define REFERENCE_COORD SB_DOMAIN_COORD
#define REFERENCE_DOF SB_DOMAIN_DOF
#define REFERENCE_SHAPE SB_DOMAIN_SHAPE
#define REFERENCE_ACTUATOR SB_DOMAIN_ACTUATOR
#define REFERENCE_TENDON SB_DOMAIN_TENDON
#define REFERENCE_TENDON_TERM SB_DOMAIN_TENDON_TERM
#define REFERENCE_DEFORMABLE SB_DOMAIN_DEFORMABLE
#define REFERENCE_PARTICLE SB_DOMAIN_PARTICLE

const sb_array_info sb_array_table[SB_ARRAY_COUNT] = {
#define SB_X(DOMAIN, type, name, comps, ref, doc)                                                                      \
  {#name, doc, offsetof(sb_model, name), ELEMENT_OF(type), comps, SB_DOMAIN_##DOMAIN, REFERENCE_##ref},
    SB_MODEL_ARRAYS(SB_X)
#undef SB_X
};

const int sb_name_domain[SB_NAME_KINDS] = {SB_DOMAIN_BODY,     SB_DOMAIN_DOF,      SB_DOMAIN_SHAPE,
                                          SB_DOMAIN_ACTUATOR, SB_DOMAIN_EQUALITY, SB_DOMAIN_TENDON, SB_DOMAIN_SENSOR,
                                          SB_DOMAIN_DEFORMABLE};

uint32_t sb_model_domain_count(const sb_model *model, int domain)
{
  switch (domain) {
#define SB_X(NAME, count)                                                                                              \
  case SB_DOMAIN_##NAME:                                                                                               \
    return model->count;
    SB_MODEL_DOMAINS(SB_X)
#undef SB_X
  default:
    return 0;
  }
}

/* Geometry is one for all worlds. */
static bool is_shared(int domain)
{
  switch (domain) {
  case SB_DOMAIN_GEOMETRY:
  case SB_DOMAIN_GEOMETRY_VERTEX:
  case SB_DOMAIN_GEOMETRY_FACE:
  case SB_DOMAIN_GEOMETRY_CORNER:
  case SB_DOMAIN_GEOMETRY_NODE:
  case SB_DOMAIN_GEOMETRY_HEIGHT:
    return true;
  default:
    return false;
  }
}

const void *sb_model_array(const sb_model *model, int array)
{
  const void *p;
  memcpy(&p, (const char *)model + sb_array_table[array].offset, sizeof p);
  return p;
}

void *sb_store_array(sb_model_store *store, int array)
{
  void *p;
  memcpy(&p, (char *)&store->view + sb_array_table[array].offset, sizeof p);
  return p;
}

static void set_array(sb_model_store *store, int array, void *p)
{
  memcpy((char *)&store->view + sb_array_table[array].offset, &p, sizeof p);
}

static sb_status out_of_memory(sb_diagnostics *diag)
{
  return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, NULL, "no memory for the model");
}

/* The world_*_start arrays for worlds of equal size. */
static void fill_starts(sb_model_store *store)
{
  const sb_model *m = &store->view;
  if (m->world_count == 0) return;
  const uint32_t each[5] = {m->body_count / m->world_count, m->coord_count / m->world_count,
                            m->dof_count / m->world_count, m->shape_count / m->world_count, m->particle_count / m->world_count};
  for (uint32_t k = 0; k < 5; k++)
    for (uint32_t w = 0; w <= m->world_count; w++) store->starts[(size_t)k * (m->world_count + 1u) + w] = each[k] * w;
}

static void place_starts(sb_model_store *store)
{
  size_t each = (size_t)store->view.world_count + 1;
  store->view.world_body_start = store->starts;
  store->view.world_coord_start = store->starts + each;
  store->view.world_dof_start = store->starts + 2 * each;
  store->view.world_shape_start = store->starts + 3 * each;
  store->view.world_particle_start = store->starts + 4 * each;
  fill_starts(store);
}

/* A store of one world with the arrays of another, but a world_key of its own. */
static sb_model_store *share_arrays(const sb_model_store *one, uint32_t first_key)
{
  sb_model_store *store = calloc(1, sizeof *store);
  uint32_t *key = malloc(sizeof *key);
  uint32_t *starts = malloc(5 * 2 * sizeof *starts);
  if (!store || !key || !starts) {
    free(store);
    free(key);
    free(starts);
    return NULL;
  }
  *key = first_key;
  store->view = one->view;
  store->view.world_key = key;
  store->shares_arrays = true;
  store->starts = starts;
  place_starts(store);
  return store;
}

sb_status sb_store_allocate(const uint32_t counts[SB_DOMAIN_COUNT], sb_model_store **out, sb_diagnostics *diag)
{
  sb_model_store *store = calloc(1, sizeof *store);
  if (!store) return out_of_memory(diag);
  store->view.struct_size = (uint32_t)sizeof store->view;
#define SB_X(NAME, count) store->view.count = counts[SB_DOMAIN_##NAME];
  SB_MODEL_DOMAINS(SB_X)
#undef SB_X
  store->named_by = store;
  store->dt_denominator = 1;
  for (int a = 0; a < SB_ARRAY_COUNT; a++) {
    uint32_t n = counts[sb_array_table[a].domain];
    if (n == 0) continue;
    if (n > SIZE_MAX / 4 / sb_array_table[a].components) goto fail;
    void *p = calloc((size_t)n * sb_array_table[a].components, 4);
    if (!p) goto fail;
    set_array(store, a, p);
  }
  uint32_t worlds = counts[SB_DOMAIN_WORLD];
  if (worlds > 0x0fffffffu) goto fail; /* keeps the size below within 32 bits */
  store->starts = calloc(5 * ((size_t)worlds + 1), sizeof *store->starts);
  if (!store->starts) goto fail;
  place_starts(store);
  *out = store;
  return SB_OK;
fail:
  sb_model_store_free(store);
  return out_of_memory(diag);
}

void sb_model_store_free(sb_model_store *store)
{
  if (!store) return;
  for (int a = 0; a < SB_ARRAY_COUNT; a++)
    if (!store->shares_arrays || a == SB_ARRAY_world_key) free(sb_store_array(store, a));
  for (int k = 0; k < SB_NAME_KINDS; k++) {
    free(store->names[k].text);
    free(store->names[k].offset);
  }
  free(store->starts);
  free(store);
}

bool sb_name_table_index(sb_name_table *table)
{
  uint32_t at = 0;
  for (uint32_t i = 0; i < table->count; i++) {
    if (at >= table->size) return false;
    const char *end = memchr(table->text + at, 0, table->size - at);
    if (!end) return false;
    for (const char *c = table->text + at; c < end; c++)
      if ((unsigned char)*c < 0x20 || *c == 0x7f) return false;
    table->offset[i] = at;
    at = (uint32_t)(end - table->text) + 1;
  }
  return at == table->size;
}

/* Copies one array of the one-world model to all worlds, moving indices to the world's own entities. */
static void replicate_array(const sb_model_store *one, sb_model_store *many, int a, uint32_t first_key)
{
  const sb_array_info *info = &sb_array_table[a];
  size_t words = (size_t)sb_model_domain_count(&one->view, info->domain) * info->components;
  if (words == 0) return;
  const void *from = sb_model_array(&one->view, a);
  char *to = sb_store_array(many, a);
  uint32_t stride = info->reference < 0 ? 0 : sb_model_domain_count(&one->view, info->reference);
  uint32_t copies = is_shared(info->domain) ? 1 : many->view.world_count;
  for (uint32_t w = 0; w < copies; w++) {
    void *block = to + (size_t)w * words * 4;
    memcpy(block, from, words * 4);
    if (a == SB_ARRAY_world_key) *(uint32_t *)block = first_key + w;
    if (stride == 0) continue;
    int32_t *index = block;
    for (size_t i = 0; i < words; i++)
      if (index[i] >= 0) index[i] += (int32_t)(stride * w);
  }
}

sb_status sb_model_store_replicate(const sb_model_store *one, uint32_t worlds, uint32_t first_key, sb_model_store **out,
                                   sb_diagnostics *diag)
{
  *out = NULL;
  if (one->view.world_count != 1 || worlds == 0)
    return sb_report(diag, SB_ERROR, SB_CODE_SCENE_LIMIT, NULL,
                     "replication makes 1 or more worlds of a model of one world; got %u worlds of a model of %u",
                     worlds, one->view.world_count);
  uint32_t counts[SB_DOMAIN_COUNT];
  for (int d = 0; d < SB_DOMAIN_COUNT; d++) {
    uint64_t n = (uint64_t)sb_model_domain_count(&one->view, d) * (is_shared(d) ? 1u : worlds);
    if (n > INT32_MAX)
      return sb_report(diag, SB_ERROR, SB_CODE_SCENE_LIMIT, NULL,
                       "%u worlds of this scene exceed the 2147483647 entities that indices can name; use fewer worlds",
                       worlds);
    counts[d] = (uint32_t)n;
  }
  sb_model_store *many = NULL;
  if (worlds == 1) {
    many = share_arrays(one, first_key);
    if (!many) return out_of_memory(diag);
  } else {
    sb_status status = sb_store_allocate(counts, &many, diag);
    if (status != SB_OK) return status;
    for (int a = 0; a < SB_ARRAY_COUNT; a++) replicate_array(one, many, a, first_key);
  }
  many->named_by = one->named_by;
  many->hash = one->hash;
  many->dt_numerator = one->dt_numerator;
  many->dt_denominator = one->dt_denominator;
  *out = many;
  return SB_OK;
}

double sb_model_store_replica_bytes(const sb_model_store *one, uint32_t worlds)
{
  double words = 0.0;
  for (int a = 0; a < SB_ARRAY_COUNT; a++)
    words += (double)sb_model_domain_count(&one->view, sb_array_table[a].domain) * sb_array_table[a].components;
  return 4.0 * words * worlds;
}

const sb_model *sb_model_store_view(const sb_model_store *store) { return &store->view; }

uint64_t sb_model_store_hash(const sb_model_store *store) { return store->hash; }

const char *sb_model_store_name(const sb_model_store *store, sb_name_kind kind, uint32_t index)
{
  if ((unsigned)kind >= SB_NAME_KINDS) return "";
  const sb_name_table *table = &store->named_by->names[kind];
  if (table->count == 0 || index / table->count >= store->view.world_count) return "";
  return table->text + table->offset[index % table->count];
}

void sb_model_store_dt(const sb_model_store *store, uint32_t *numerator, uint32_t *denominator)
{
  *numerator = store->dt_numerator;
  *denominator = store->dt_denominator;
}
