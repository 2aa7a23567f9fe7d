/* Cooked bytes of a model: writing and reading. Knows the C library only.
 *
 * Layout, every number little-endian:
 *   8 bytes magic, u32 version, u32 domains, u32 arrays, u32 name kinds, u32 dt numerator, u32 dt denominator,
 *   u32 count of each domain, u32 bytes of name text of each kind,
 *   the arrays in list order, 4 bytes an element,
 *   the name texts in the order of the kinds, each name closed by a NUL,
 *   u64 content hash of all bytes before it. */
#include "content_hash.h"
#include "fp_env.h"
#include "model_store_parts.h"

#include <stdlib.h>
#include <string.h>

#define FORMAT_VERSION 1u
#define HEADER_WORDS (8u + SB_DOMAIN_COUNT + SB_NAME_KINDS)
#define HEADER_BYTES (4u * HEADER_WORDS)

static const unsigned char magic[8] = {'S', 'B', 'M', 'O', 'D', 'E', 'L', '\n'};

static void put32(unsigned char *p, uint32_t v)
{
  for (int i = 0; i < 4; i++) p[i] = (unsigned char)(v >> (8 * i));
}

static uint32_t get32(const unsigned char *p)
{
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t cooked_size(const uint32_t counts[SB_DOMAIN_COUNT], const uint32_t text[SB_NAME_KINDS])
{
  uint64_t size = HEADER_BYTES + 8u;
  for (int a = 0; a < SB_ARRAY_COUNT; a++)
    size += 4u * (uint64_t)counts[sb_array_table[a].domain] * sb_array_table[a].components;
  for (int k = 0; k < SB_NAME_KINDS; k++) size += text[k];
  return size;
}

static void write_header(const sb_model_store *store, const uint32_t counts[SB_DOMAIN_COUNT], unsigned char *p)
{
  memcpy(p, magic, sizeof magic);
  const uint32_t head[6] = {FORMAT_VERSION, SB_DOMAIN_COUNT,     SB_ARRAY_COUNT,
                            SB_NAME_KINDS,  store->dt_numerator, store->dt_denominator};
  for (int i = 0; i < 6; i++) put32(p + 8 + 4 * i, head[i]);
  for (int d = 0; d < SB_DOMAIN_COUNT; d++) put32(p + 32 + 4 * d, counts[d]);
  for (int k = 0; k < SB_NAME_KINDS; k++) put32(p + 32 + 4 * (SB_DOMAIN_COUNT + k), store->names[k].size);
}

/* Where cooked bytes go: into memory, into a hash, or both. */
typedef struct sink {
  unsigned char *at; /* NULL when they are hashed only */
  sb_content_hasher hasher;
} sink;

static void write_bytes(sink *s, const void *bytes, size_t size)
{
  sb_content_hash_add(&s->hasher, bytes, size);
  if (!s->at || !size) return;
  memcpy(s->at, bytes, size);
  s->at += size;
}

/* All of the file but the hash at its end. */
static void write_cooked(const sb_model_store *store, sink *s)
{
  uint32_t counts[SB_DOMAIN_COUNT];
  unsigned char header[HEADER_BYTES], piece[4096];
  for (int d = 0; d < SB_DOMAIN_COUNT; d++) counts[d] = sb_model_domain_count(&store->view, d);
  write_header(store, counts, header);
  write_bytes(s, header, sizeof header);
  for (int a = 0; a < SB_ARRAY_COUNT; a++) {
    size_t words = (size_t)counts[sb_array_table[a].domain] * sb_array_table[a].components;
    const uint32_t *from = sb_model_array(&store->view, a);
    for (size_t i = 0; i < words;) {
      size_t n = 0;
      for (; n < sizeof piece / 4 && i < words; n++, i++) put32(piece + 4 * n, from[i]);
      write_bytes(s, piece, 4 * n);
    }
  }
  for (int k = 0; k < SB_NAME_KINDS; k++) write_bytes(s, store->names[k].text, store->names[k].size);
}

sb_status sb_model_store_to_bytes(const sb_model_store *store, void **bytes, size_t *size, sb_diagnostics *diag)
{
  *bytes = NULL;
  *size = 0;
  if (store->view.world_count != 1)
    return sb_report(diag, SB_ERROR, SB_CODE_SCENE_LIMIT, NULL,
                     "cooked bytes hold one world, this model has %u; cook the model before replication",
                     store->view.world_count);
  uint32_t counts[SB_DOMAIN_COUNT], text[SB_NAME_KINDS];
  for (int d = 0; d < SB_DOMAIN_COUNT; d++) counts[d] = sb_model_domain_count(&store->view, d);
  for (int k = 0; k < SB_NAME_KINDS; k++) text[k] = store->names[k].size;
  uint64_t total = cooked_size(counts, text);
  unsigned char *out = total > SIZE_MAX / 2 ? NULL : malloc((size_t)total);
  if (!out) return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, NULL, "no memory for the cooked bytes of the model");
  sink s = {out, sb_content_hash_start()};
  write_cooked(store, &s);
  uint64_t hash = sb_content_hash_end(&s.hasher);
  put32(s.at, (uint32_t)hash);
  put32(s.at + 4, (uint32_t)(hash >> 32));
  *bytes = out;
  *size = (size_t)total;
  return SB_OK;
}

void sb_store_hash(sb_model_store *store)
{
  sink s = {NULL, sb_content_hash_start()};
  write_cooked(store, &s);
  store->hash = sb_content_hash_end(&s.hasher);
}

/* Checks everything that must hold before memory is asked for. */
static sb_status read_header(const unsigned char *p, size_t size, const char *where, uint32_t counts[SB_DOMAIN_COUNT],
                             uint32_t text[SB_NAME_KINDS], sb_diagnostics *diag)
{
  if (size < sizeof magic || memcmp(p, magic, sizeof magic) != 0)
    return sb_report(diag, SB_ERROR, SB_CODE_COOKED_FORMAT, where,
                     "expected cooked model bytes (first line SBMODEL), found something else");
  if (size < HEADER_BYTES + 8u)
    return sb_report(diag, SB_ERROR, SB_CODE_COOKED_DAMAGED, where, "the file ends inside its header (%zu bytes)",
                     size);
  uint32_t version = get32(p + 8);
  if (version != FORMAT_VERSION || get32(p + 12) != SB_DOMAIN_COUNT || get32(p + 16) != SB_ARRAY_COUNT ||
      get32(p + 20) != SB_NAME_KINDS)
    return sb_report(diag, SB_ERROR, SB_CODE_COOKED_VERSION, where,
                     "expected format %u with %d arrays, found format %u with %u; cook the scene again", FORMAT_VERSION,
                     (int)SB_ARRAY_COUNT, version, get32(p + 16));
  for (int d = 0; d < SB_DOMAIN_COUNT; d++) {
    counts[d] = get32(p + 32 + 4 * d);
    if (counts[d] > SB_MODEL_MAX_COUNT)
      return sb_report(diag, SB_ERROR, SB_CODE_COOKED_DAMAGED, where, "a count of %u is above the limit of %u",
                       counts[d], SB_MODEL_MAX_COUNT);
  }
  for (int k = 0; k < SB_NAME_KINDS; k++) text[k] = get32(p + 32 + 4 * (SB_DOMAIN_COUNT + k));
  uint64_t expected = cooked_size(counts, text);
  if (expected != size)
    return sb_report(diag, SB_ERROR, SB_CODE_COOKED_DAMAGED, where,
                     "the header describes %llu bytes, the file has %zu; it is truncated or damaged",
                     (unsigned long long)expected, size);
  uint64_t stored = get32(p + size - 8) | (uint64_t)get32(p + size - 4) << 32;
  uint64_t found = sb_content_hash(p, size - 8);
  if (stored != found)
    return sb_report(diag, SB_ERROR, SB_CODE_COOKED_DAMAGED, where,
                     "the bytes have the hash %016llx, the file says %016llx; it is damaged", (unsigned long long)found,
                     (unsigned long long)stored);
  return SB_OK;
}

static sb_status read_names(sb_model_store *store, const unsigned char *p, const uint32_t counts[SB_DOMAIN_COUNT],
                            const uint32_t text[SB_NAME_KINDS], const char *where, sb_diagnostics *diag)
{
  for (int k = 0; k < SB_NAME_KINDS; k++) {
    sb_name_table *table = &store->names[k];
    table->text = malloc((size_t)text[k] + 1);
    table->offset = calloc((size_t)counts[sb_name_domain[k]] + 1, sizeof *table->offset);
    if (!table->text || !table->offset)
      return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, where, "no memory for the names of the model");
    memcpy(table->text, p, text[k]);
    p += text[k];
    table->size = text[k];
    table->count = counts[sb_name_domain[k]];
    if (!sb_name_table_index(table))
      return sb_report(diag, SB_ERROR, SB_CODE_COOKED_DAMAGED, where, "the table of names is damaged");
  }
  return SB_OK;
}

sb_status sb_model_store_from_bytes(const void *bytes, size_t size, const char *where, sb_model_store **out,
                                    sb_diagnostics *diag)
{
  *out = NULL;
  uint32_t counts[SB_DOMAIN_COUNT], text[SB_NAME_KINDS];
  const unsigned char *p = bytes;
  sb_status status = read_header(p, size, where, counts, text, diag);
  if (status != SB_OK) return status;
  sb_model_store *store;
  status = sb_store_allocate(counts, &store, diag);
  if (status != SB_OK) return status;
  store->dt_numerator = get32(p + 24);
  store->dt_denominator = get32(p + 28);
  store->hash = get32(p + size - 8) | (uint64_t)get32(p + size - 4) << 32;
  p += HEADER_BYTES;
  for (int a = 0; a < SB_ARRAY_COUNT; a++) {
    size_t words = (size_t)counts[sb_array_table[a].domain] * sb_array_table[a].components;
    char *to = sb_store_array(store, a);
    for (size_t i = 0; i < words; i++, p += 4) {
      uint32_t word = get32(p);
      memcpy(to + 4 * i, &word, 4);
    }
  }
  status = read_names(store, p, counts, text, where, diag);
  sb_fp_env saved = sb_fp_env_enter(); /* the rules compute */
  if (status == SB_OK) status = sb_model_check(store, where, diag);
  sb_fp_env_leave(saved);
  if (status != SB_OK) {
    sb_model_store_free(store);
    return status;
  }
  *out = store;
  return SB_OK;
}
