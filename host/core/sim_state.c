/* Hash, snapshot, restore and compare: what reads all registered state. */
#include <stdlib.h>
#include <string.h>

#include "sim_internal.h"

/* ---- hash ---- */

uint64_t sb_sim_hash_world(const sb_sim *sim, uint32_t world)
{
  sb_hash_sums sums = {0, 0};
  bool bad = false;
  if (sb_sim_pull(sim, true, NULL)) return 0;
  for (size_t i = 0; i < sim->registry.count; i++) {
    sb_hash_sums part = sb_array_hash_world(&sim->registry.arrays[i], world, sim->lanes, &bad);
    sums.a += part.a;
    sums.b += part.b;
  }
  return sb_hash_world(sums);
}

/* Words in one task of the hash of all state. */
#define HASH_CHUNK 8192u

sb_status sb_sim_hash_start(sb_sim *sim)
{
  sim->hash_start = calloc((size_t)sim->model->world_count + 1, sizeof *sim->hash_start);
  sim->hash_sums = calloc((size_t)sim->model->world_count + 1, sizeof *sim->hash_sums);
  return sim->hash_start && sim->hash_sums ? SB_OK : SB_E_MEMORY;
}

#ifdef SAMEBIT_MUTANT_PADDING_HASHED
/* The planted fault: a whole array is hashed, with what is behind its last element. */
static void add_padding(const sb_sim *sim, const sb_array *a, sb_hash_sums *sums)
{
  size_t live = (size_t)sb_array_live(a, sim->model->world_count) * a->components;
  if (live < a->words) sb_hash_words(sums, a->data + live, a->words - live, (uint32_t)live, a->id, false, 1);
}
#endif

/* Adds the part of world w's words, all arrays in a row, that lies in [first, end). Arrays in lane blocks go whole to where they begin. */
static void hash_piece(const sb_sim *sim, uint32_t w, uint64_t first, uint64_t end, bool *bad)
{
  sb_hash_sums sums = {0, 0};
  uint64_t at = sim->hash_start[w];
  for (size_t i = 0; i < sim->registry.count && at < end; i++) {
    const sb_array *a = &sim->registry.arrays[i];
    uint64_t words = (uint64_t)(a->world_start[w + 1] - a->world_start[w]) * a->components;
    uint64_t from = first > at ? first - at : 0, to = end - at < words ? end - at : words;
    if (sb_array_hashed_there(a)) {
      /* the device adds it */
    } else if (a->lane_block == 1 && from < to) {
      const uint32_t *data = a->data + (size_t)a->world_start[w] * a->components + from;
      *bad |= sb_hash_words(&sums, data, (size_t)(to - from), (uint32_t)from, a->id, a->type == SB_TYPE_F32, sim->lanes);
    } else if (a->lane_block != 1 && from == 0 && at >= first) {
      sb_hash_sums whole = sb_array_hash_world(a, w, sim->lanes, bad);
      sums.a += whole.a;
      sums.b += whole.b;
    }
    at += words;
#ifdef SAMEBIT_MUTANT_PADDING_HASHED
    if (at >= first && at < end && w + 1 == sim->model->world_count) add_padding(sim, a, &sums);
#endif
  }
  atomic_fetch_add(&sim->hash_sums[w].a, sums.a);
  atomic_fetch_add(&sim->hash_sums[w].b, sums.b);
}

typedef struct hash_job {
  const sb_sim *sim;
  atomic_bool bad;
} hash_job;

static void hash_chunk(void *user, uint32_t chunk)
{
  hash_job *job = user;
  const sb_sim *sim = job->sim;
  uint64_t first = (uint64_t)chunk * HASH_CHUNK, end = first + HASH_CHUNK;
  uint32_t low = 0, high = sim->model->world_count; /* the last world that starts not after `first` */
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (sim->hash_start[middle] <= first)
      low = middle;
    else
      high = middle;
  }
  bool bad = false;
  for (uint32_t w = low; w < sim->model->world_count && sim->hash_start[w] < end; w++) hash_piece(sim, w, first, end, &bad);
  if (bad) atomic_store(&job->bad, true);
}

sb_status sb_sim_hash_all(const sb_sim *sim, uint64_t *hash, bool *bad, sb_diagnostics *diag)
{
  uint32_t worlds = sim->model->world_count;
  uint64_t run = 0, words = 0;
  for (uint32_t w = 0; w < worlds; w++) {
    sim->hash_start[w] = words;
    atomic_store_explicit(&sim->hash_sums[w].a, 0u, memory_order_relaxed);
    atomic_store_explicit(&sim->hash_sums[w].b, 0u, memory_order_relaxed);
    for (size_t i = 0; i < sim->registry.count; i++) {
      const sb_array *a = &sim->registry.arrays[i];
      words += (uint64_t)(a->world_start[w + 1] - a->world_start[w]) * a->components;
    }
  }
  sim->hash_start[worlds] = words;
  hash_job job = {sim, false};
  sb_thread_pool_run(sim->pool, (uint32_t)((words + HASH_CHUNK - 1) / HASH_CHUNK), hash_chunk, &job);
  bool found = job.bad;
  sb_status status = sb_sim_hash_device(sim, &found, diag);
  for (uint32_t w = 0; w < worlds; w++) run = sb_hash_fold(run, sb_hash_world((sb_hash_sums){sim->hash_sums[w].a, sim->hash_sums[w].b}));
  if (bad) *bad = found;
  *hash = status ? 0 : run;
  return status;
}

uint64_t sb_sim_hash(const sb_sim *sim)
{
  uint64_t hash;
  sb_sim_hash_all(sim, &hash, NULL, NULL);
  return hash;
}

uint64_t sb_sim_hash_array(const sb_sim *sim, const char *name)
{
  const sb_array *a = sb_registry_find(&sim->registry, name);
  uint64_t run = 0;
  bool bad = false;
  if (sb_sim_pull(sim, true, NULL)) return 0;
  for (uint32_t w = 0; a && w < sim->model->world_count; w++)
    run = sb_hash_fold(run, sb_hash_world(sb_array_hash_world(a, w, sim->lanes, &bad)));
  return run;
}

uint64_t sb_sim_hash_body(const sb_sim *sim, uint32_t body)
{
  sb_hash_sums sums = {0, 0};
  if (body >= sim->model->body_count || sb_sim_pull(sim, true, NULL)) return 0;
  uint32_t world = (uint32_t)sim->model->body_world[body];
  for (size_t i = 0; i < sim->registry.count; i++) {
    const sb_array *a = &sim->registry.arrays[i];
    uint32_t first = a->world_start[world], end = a->world_start[world + 1];
    for (uint32_t e = first; e < end; e++) {
      if (sb_array_body(&sim->registry, a, e) != (int32_t)body) continue;
      for (uint32_t c = 0; c < a->components; c++)
        sb_hash_words(&sums, a->data + sb_array_word(a, e, c), 1, (e - first) * a->components + c, a->id, false, 1);
    }
  }
  return sb_hash_world(sums);
}

const char *sb_stage_name(sb_stage stage)
{
  static const char *const names[SB_STAGE_COUNT] = {"contacts", "state"};
  return stage < SB_STAGE_COUNT ? names[stage] : "?";
}

/* One contact array as the hash and the comparison see it. Shapes and bodies count from the start of their world. */
typedef struct contact_field {
  const char *name;
  const void *data;
  uint32_t words; /* 32-bit words per contact */
} contact_field;

#define MAX_CONTACT_FIELDS 16

static size_t list_contact_fields(const sb_contacts *contacts, contact_field *fields)
{
  size_t n = 0;
#define SB_X_FIELD(type, name, comps, doc)                                                                             \
  fields[n++] = (contact_field){"contacts." #name, contacts->name, (uint32_t)(sizeof(type) / 4 * comps)};
  SB_CONTACT_ARRAYS(SB_X_FIELD)
#undef SB_X_FIELD
  return n;
}

static size_t list_particle_fields(const sb_particle_contacts *contacts, contact_field *fields)
{
  size_t n = 0;
#define SB_X_FIELD(type, name, comps, doc)                                                                             \
  fields[n++] = (contact_field){"particle_contacts." #name, contacts->name, (uint32_t)(sizeof(type) / 4 * comps)};
  SB_PARTICLE_CONTACT_ARRAYS(SB_X_FIELD)
#undef SB_X_FIELD
  return n;
}

static size_t list_near_fields(const sb_near_pairs *pairs, contact_field *fields)
{
  size_t n = 0;
#define SB_X_FIELD(type, name, comps, doc)                                                                             \
  fields[n++] = (contact_field){"near_pairs." #name, pairs->name, (uint32_t)(sizeof(type) / 4 * comps)};
  SB_NEAR_PAIR_ARRAYS(SB_X_FIELD)
#undef SB_X_FIELD
  return n;
}

/* Adds entries first to end. Indices count from the start of their world. */
static void add_fields(const sb_sim *sim, uint32_t w, const contact_field *fields, size_t count, uint32_t first, uint32_t end, sb_hash_sums *sums)
{
  const sb_model *m = sim->model;
  for (size_t f = 0; f < count; f++) {
    uint32_t id = sb_hash_array_id(fields[f].name), words = fields[f].words, origin = 0;
    if (strstr(fields[f].name, ".particle")) origin = m->world_particle_start[w];
    if (strstr(fields[f].name, ".shape")) origin = m->world_shape_start[w];
    if (strstr(fields[f].name, ".body")) origin = m->world_body_start[w];
    for (uint32_t i = first * words; i < end * words; i++) {
      uint32_t word;
      memcpy(&word, (const uint32_t *)fields[f].data + i, sizeof word);
      if ((int32_t)word >= 0) word -= origin; /* -1 stands for none */
      sb_hash_words(sums, &word, 1, i - first * words, id, false, 1);
    }
  }
}

/* Contacts and near pairs of a world's particles. */
static void add_particle_lists(const sb_sim *sim, uint32_t w, sb_hash_sums *sums)
{
  const sb_model *m = sim->model;
  const sb_particle_contacts *c = sb_sim_particle_contacts(sim);
  const sb_near_pairs *n = sb_collision_near_pairs(sim->collision);
  contact_field fields[MAX_CONTACT_FIELDS];
  size_t count = list_particle_fields(c, fields);
  add_fields(sim, w, fields, count, c->particle_start[m->world_particle_start[w]], c->particle_start[m->world_particle_start[w + 1]], sums);
  count = list_near_fields(n, fields);
  add_fields(sim, w, fields, count, n->world_start[w], n->world_start[w + 1], sums);
}

uint64_t sb_sim_hash_stage(const sb_sim *sim, sb_stage stage)
{
  if (stage == SB_STAGE_STATE) return sb_sim_hash(sim);
  if (stage != SB_STAGE_CONTACTS) return 0;
  const sb_contacts *contacts = sb_sim_contacts(sim);
  contact_field fields[MAX_CONTACT_FIELDS];
  size_t count = list_contact_fields(contacts, fields);
  uint64_t run = 0;
  for (uint32_t w = 0; w < sim->model->world_count && contacts->world_start; w++) {
    uint32_t first = contacts->world_start[w], end = contacts->world_start[w + 1];
    sb_hash_sums sums = {end - first, end - first};
    for (size_t f = 0; f < count; f++) {
      if (!strcmp(fields[f].name, "contacts.world")) continue; /* says where, not what */
      uint32_t id = sb_hash_array_id(fields[f].name);
      for (uint32_t i = first; i < end; i++)
        for (uint32_t c = 0; c < fields[f].words; c++) {
          uint32_t word;
          if (!strcmp(fields[f].name, "contacts.key")) {
            word = (uint32_t)(contacts->key[i] >> (32 * c));
          } else {
            memcpy(&word, (const uint32_t *)fields[f].data + (size_t)i * fields[f].words + c, sizeof word);
            bool body = !strncmp(fields[f].name, "contacts.body", 13), shape = !strncmp(fields[f].name, "contacts.shape", 14);
            if (body && (int32_t)word >= 0) word -= sim->model->world_body_start[w];
            if (shape) word -= sim->model->world_shape_start[w];
          }
          sb_hash_words(&sums, &word, 1, (i - first) * fields[f].words + c, id, false, 1);
        }
    }
    if (sim->model->particle_count) add_particle_lists(sim, w, &sums);
    run = sb_hash_fold(run, sb_hash_world(sums));
  }
  return run;
}

uint64_t sb_sim_model_hash(const sb_sim *sim) { return sb_model_store_hash(sim->store); }
uint64_t sb_sim_setup_hash(const sb_sim *sim) { return sim->setup_hash; }

/* One list of contacts, word by word. body, other: of each element, the first one that is there is named; or NULL. */
static void dump_list(FILE *file, const char *name, uint32_t count, const contact_field *fields, size_t field_count, const int32_t *body,
                      const int32_t *other)
{
  fprintf(file, "%s.count 0 0 %08x -1\n", name, count);
  for (uint32_t i = 0; i < count; i++)
    for (size_t f = 0; f < field_count; f++)
      for (uint32_t c = 0; c < fields[f].words; c++) {
        uint32_t word;
        memcpy(&word, (const uint32_t *)fields[f].data + (size_t)i * fields[f].words + c, sizeof word);
        if (!strcmp(fields[f].name, "contacts.key")) { /* low word first, whatever the byte order */
          uint64_t key;
          memcpy(&key, (const uint64_t *)fields[f].data + i, sizeof key);
          word = (uint32_t)(key >> (32 * c));
        }
        fprintf(file, "%s %u %u %08x %d\n", fields[f].name, i, c, word, !body ? -1 : body[i] >= 0 || !other ? (int)body[i] : (int)other[i]);
      }
}

static void dump_contacts(const sb_sim *sim, FILE *file)
{
  contact_field fields[MAX_CONTACT_FIELDS];
  const sb_contacts *contacts = sb_sim_contacts(sim);
  dump_list(file, "contacts", contacts->count, fields, list_contact_fields(contacts, fields), contacts->body_a, contacts->body_b);
  if (!sim->model->particle_count) return;
  const sb_particle_contacts *touches = sb_sim_particle_contacts(sim);
  dump_list(file, "particle_contacts", touches->count, fields, list_particle_fields(touches, fields), touches->body, NULL);
  const sb_near_pairs *nears = sb_collision_near_pairs(sim->collision);
  dump_list(file, "near_pairs", nears->count, fields, list_near_fields(nears, fields), NULL, NULL);
}

void sb_sim_dump(const sb_sim *sim, FILE *file)
{
  if (sb_sim_pull(sim, true, NULL)) return;
  dump_contacts(sim, file);
  for (size_t i = 0; i < sim->registry.count; i++) {
    const sb_array *a = &sim->registry.arrays[i];
    for (uint32_t e = 0; e < sb_array_live(a, sim->model->world_count); e++)
      for (uint32_t c = 0; c < a->components; c++)
        fprintf(file, "%s %u %u %08x %d\n", a->name, e, c, a->data[sb_array_word(a, e, c)], (int)sb_array_body(&sim->registry, a, e));
  }
}

bool sb_sim_hash_history(const sb_sim *sim, uint64_t tick, uint64_t *hash)
{
  if (sim->history_tick[tick % SB_HASH_HISTORY] != tick) return false;
  *hash = sim->history[tick % SB_HASH_HISTORY];
  return true;
}

/* ---- snapshot: magic, version, model hash, tick, dt, array and world count, setup hash; then for each array id, elements, components, words;
 * then the number of touching pairs, or NO_EVENTS, and world, shape a, shape b of each ---- */

#define SNAPSHOT_MAGIC 0x4e534253u /* "SBSN" */
#define SNAPSHOT_VERSION 2u
#define NO_EVENTS 0xffffffffu
#define SNAPSHOT_HEADER_WORDS 12u

static void put_word(uint8_t *at, uint32_t word)
{
  for (int i = 0; i < 4; i++) at[i] = (uint8_t)(word >> (8 * i));
}

static uint32_t get_word(const uint8_t *at)
{
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint32_t live_count(const sb_sim *sim, const sb_array *a) { return sb_array_live(a, sim->model->world_count); }

static bool is_contact_count(const sb_sim *sim, const sb_array *a)
{
  for (uint32_t p = 0; p < sim->part_count; p++)
    if (sim->parts[p].contact_count == a->data) return true;
  return false;
}

static void fill_header(const sb_sim *sim, uint32_t header[SNAPSHOT_HEADER_WORDS])
{
  uint64_t model = sb_model_store_hash(sim->store);
  uint32_t words[SNAPSHOT_HEADER_WORDS] = {SNAPSHOT_MAGIC, SNAPSHOT_VERSION, (uint32_t)model, (uint32_t)(model >> 32),
                                           (uint32_t)sim->tick, (uint32_t)(sim->tick >> 32), sim->dt_numerator,
                                           sim->dt_denominator, (uint32_t)sim->registry.count, sim->model->world_count,
                                           (uint32_t)sim->setup_hash, (uint32_t)(sim->setup_hash >> 32)};
  memcpy(header, words, sizeof words);
}

sb_status sb_sim_snapshot(const sb_sim *sim, void **bytes, size_t *size, sb_diagnostics *diag)
{
  size_t words = SNAPSHOT_HEADER_WORDS + 1 + 3 * (size_t)sim->touching_count;
  sb_status status = sb_sim_pull(sim, true, diag);
  if (status) return status;
  for (size_t i = 0; i < sim->registry.count; i++)
    words += 3 + (size_t)live_count(sim, &sim->registry.arrays[i]) * sim->registry.arrays[i].components;
  uint8_t *out = malloc(words * 4), *at = out;
  if (!out) return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, "snapshot", "no memory for %zu bytes", words * 4);
  uint32_t header[SNAPSHOT_HEADER_WORDS];
  fill_header(sim, header);
  for (size_t i = 0; i < SNAPSHOT_HEADER_WORDS; i++, at += 4) put_word(at, header[i]);
  for (size_t i = 0; i < sim->registry.count; i++) {
    const sb_array *a = &sim->registry.arrays[i];
    uint32_t live = live_count(sim, a);
    put_word(at, a->id);
    put_word(at + 4, live);
    put_word(at + 8, a->components);
    at += 12;
    for (uint32_t e = 0; e < live; e++)
      for (uint32_t c = 0; c < a->components; c++, at += 4) put_word(at, a->data[sb_array_word(a, e, c)]);
  }
  put_word(at, sim->events ? sim->touching_count : NO_EVENTS);
  at += 4;
  for (uint32_t i = 0; i < sim->touching_count; i++, at += 12) {
    put_word(at, sim->touching[i].world);
    put_word(at + 4, (uint32_t)sim->touching[i].shape_a);
    put_word(at + 8, (uint32_t)sim->touching[i].shape_b);
  }
  *bytes = out;
  *size = words * 4;
  return SB_OK;
}

/* Of the touching pairs at the end. Pairs are sorted, as events rely on it. */
static const char *find_touching_fault(const sb_sim *sim, const uint8_t *at, size_t size)
{
  if (size < 4) return "it is truncated";
  uint32_t count = get_word(at);
  if (count == NO_EVENTS) return size == 4 ? NULL : "it has bytes after its end";
  if (count > sb_collision_get_usage(sim->collision).contact_capacity) return "it has more contacts than this simulation holds";
  if ((size - 4) / 12 < count) return "it is truncated";
  if (size - 4 != 12 * (size_t)count) return "it has bytes after its end";
  for (uint32_t i = 0; i < count; i++)
    for (int k = 0, decided = i == 0; k < 3 && !decided; k++) {
      uint32_t before = get_word(at + 4 + 12 * (size_t)(i - 1) + 4 * k), now = get_word(at + 4 + 12 * (size_t)i + 4 * k);
      if (now < before || (k == 2 && now == before)) return "its touching pairs are not sorted";
      decided = now > before;
    }
  return NULL;
}

static void restore_touching(sb_sim *sim, const uint8_t *at)
{
  uint32_t count = get_word(at);
  sb_events_reset(sim);
  if (!sim->events || count == NO_EVENTS) return; /* what touches begins anew */
  for (uint32_t i = 0; i < count; i++) {
    const uint8_t *pair = at + 4 + 12 * (size_t)i;
    sim->touching[i] = (sim_touch){get_word(pair), (int32_t)get_word(pair + 4), (int32_t)get_word(pair + 8)};
  }
  sim->touching_count = count;
}

/* What does not fit, or NULL. */
static const char *find_snapshot_fault(const sb_sim *sim, const uint8_t *bytes, size_t size)
{
  uint32_t header[SNAPSHOT_HEADER_WORDS];
  fill_header(sim, header);
  if (size < SNAPSHOT_HEADER_WORDS * 4 || get_word(bytes) != SNAPSHOT_MAGIC) return "this is not a snapshot";
  if (get_word(bytes + 4) != SNAPSHOT_VERSION) return "the snapshot is of another format version";
  if (get_word(bytes + 8) != header[2] || get_word(bytes + 12) != header[3]) return "it was taken of another model";
  if (get_word(bytes + 24) != header[6] || get_word(bytes + 28) != header[7]) return "it was taken with another dt";
  if (get_word(bytes + 32) != header[8] || get_word(bytes + 36) != header[9])
    return "it was taken with other solvers or another number of worlds";
  if (get_word(bytes + 40) != header[10] || get_word(bytes + 44) != header[11])
    return "it was taken with other solvers, parameters, bodies, seed or coupling";
  const uint8_t *at = bytes + SNAPSHOT_HEADER_WORDS * 4, *end = bytes + size;
  uint64_t contacts = 0;
  for (size_t i = 0; i < sim->registry.count; i++) {
    const sb_array *a = &sim->registry.arrays[i];
    /* contact arrays come after the counts of their part, which say how long they are */
    uint64_t expected = a->domain == SB_DOMAIN_CONTACT ? contacts : a->count;
    if (expected > a->count) return "it has more contacts than this simulation holds";
    size_t need = 12 + (size_t)expected * a->components * 4;
    if ((size_t)(end - at) < need) return "it is truncated";
    if (get_word(at) != a->id || get_word(at + 4) != expected || get_word(at + 8) != a->components)
      return "its arrays are not those of these solvers";
    if (is_contact_count(sim, a)) {
      contacts = 0;
      for (uint32_t w = 0; w < a->count; w++) contacts += get_word(at + 12 + 4 * (size_t)w);
    }
    at += need;
  }
  return find_touching_fault(sim, at, (size_t)(end - at));
}

sb_status sb_sim_restore(sb_sim *sim, const void *data, size_t size, sb_diagnostics *diag)
{
  const uint8_t *bytes = data;
  const char *fault = find_snapshot_fault(sim, bytes, size);
  if (fault)
    return sb_report(diag, SB_ERROR, SB_CODE_SNAPSHOT_MISMATCH, "snapshot", "cannot restore: %s", fault);
  const uint8_t *at = bytes + SNAPSHOT_HEADER_WORDS * 4;
  for (size_t i = 0; i < sim->registry.count; i++) {
    sb_array *a = &sim->registry.arrays[i];
    uint32_t count = get_word(at + 4);
    at += 12;
    for (uint32_t e = 0; e < count; e++)
      for (uint32_t c = 0; c < a->components; c++, at += 4) a->data[sb_array_word(a, e, c)] = get_word(at);
    if (is_contact_count(sim, a))
      for (uint32_t p = 0; p < sim->part_count; p++)
        if (sim->parts[p].contact_count == a->data) sb_contact_cache_refresh(&sim->parts[p]);
  }
  sb_sim_claim(sim, true);
  restore_touching(sim, at);
  sim->tick = (uint64_t)get_word(bytes + 16) | (uint64_t)get_word(bytes + 20) << 32;
  sim->failed = false;
  sim->owed_seconds = 0;
  memset(sim->history_tick, 0xff, SB_HASH_HISTORY * sizeof *sim->history_tick);
  sim->history[sim->tick % SB_HASH_HISTORY] = sb_sim_hash(sim);
  sim->history_tick[sim->tick % SB_HASH_HISTORY] = sim->tick;
  return SB_OK;
}

/* ---- compare ---- */

/* The first difference of two lists with the same arrays. */
static bool compare_lists(const contact_field *fa, const contact_field *fb, size_t fields, uint32_t count_a, uint32_t count_b,
                          const char *count_name, sb_difference *d)
{
  uint32_t common = count_a < count_b ? count_a : count_b;
  for (uint32_t i = 0; i < common; i++)
    for (size_t f = 0; f < fields; f++)
      for (uint32_t c = 0; c < fa[f].words; c++) {
        uint32_t wa, wb;
        memcpy(&wa, (const uint32_t *)fa[f].data + (size_t)i * fa[f].words + c, 4);
        memcpy(&wb, (const uint32_t *)fb[f].data + (size_t)i * fb[f].words + c, 4);
        if (wa == wb) continue;
        *d = (sb_difference){SB_STAGE_CONTACTS, fa[f].name, i, c, -1, wa, wb};
        return true;
      }
  if (count_a == count_b) return false;
  *d = (sb_difference){SB_STAGE_CONTACTS, count_name, 0, 0, -1, count_a, count_b};
  return true;
}

static bool compare_contacts(const sb_sim *a, const sb_sim *b, sb_difference *d)
{
  const sb_contacts *ca = sb_collision_contacts(a->collision), *cb = sb_collision_contacts(b->collision);
  const sb_particle_contacts *pa = sb_sim_particle_contacts(a), *pb = sb_sim_particle_contacts(b);
  const sb_near_pairs *na = sb_collision_near_pairs(a->collision), *nb = sb_collision_near_pairs(b->collision);
  contact_field fa[MAX_CONTACT_FIELDS], fb[MAX_CONTACT_FIELDS];
  size_t fields = list_contact_fields(ca, fa);
  list_contact_fields(cb, fb);
  if (compare_lists(fa, fb, fields, ca->count, cb->count, "contacts.count", d)) {
    if (d->element < ca->count) d->body = ca->body_a[d->element] >= 0 ? ca->body_a[d->element] : ca->body_b[d->element];
    return true;
  }
  fields = list_particle_fields(pa, fa);
  list_particle_fields(pb, fb);
  if (compare_lists(fa, fb, fields, pa->count, pb->count, "particle_contacts.count", d)) return true;
  fields = list_near_fields(na, fa);
  list_near_fields(nb, fb);
  return compare_lists(fa, fb, fields, na->count, nb->count, "near_pairs.count", d);
}

static bool compare_state(const sb_sim *a, const sb_sim *b, sb_difference *d)
{
  for (size_t i = 0; i < a->registry.count && i < b->registry.count; i++) {
    const sb_array *x = &a->registry.arrays[i], *y = &b->registry.arrays[i];
    uint32_t live = sb_array_live(x, a->model->world_count), other = sb_array_live(y, b->model->world_count);
    uint32_t count = live < other ? live : other;
    for (uint32_t e = 0; e < count; e++)
      for (uint32_t c = 0; c < x->components && c < y->components; c++) {
        uint32_t wa = x->data[sb_array_word(x, e, c)], wb = y->data[sb_array_word(y, e, c)];
        if (wa == wb) continue;
        *d = (sb_difference){SB_STAGE_STATE, x->name, e, c, sb_array_body(&a->registry, x, e), wa, wb};
        return true;
      }
  }
  return false;
}

bool sb_sim_compare(const sb_sim *a, const sb_sim *b, sb_difference *difference)
{
  if (sb_sim_pull(a, true, NULL) || sb_sim_pull(b, true, NULL)) return true;
  return compare_contacts(a, b, difference) || compare_state(a, b, difference);
}
