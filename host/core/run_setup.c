/* Writing and reading setups. */
#include "run_setup.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PARTS 64u

/* ---- writing ---- */

static void write_ranges(FILE *file, const char *key, const uint32_t *list, uint32_t count)
{
  uint32_t ranges = 0;
  for (uint32_t i = 0; i < count; i++) ranges += i == 0 || list[i] != list[i - 1] + 1;
  fprintf(file, "%s %u", key, ranges);
  for (uint32_t i = 0, first; i < count; i++) {
    first = list[i];
    while (i + 1 < count && list[i + 1] == list[i] + 1) i++;
    fprintf(file, " %u-%u", first, list[i]);
  }
  fputc('\n', file);
}

/* A name as one word: what is not printable ASCII, and %, becomes %XX. */
static void write_word(FILE *file, const char *name)
{
  for (const unsigned char *c = (const unsigned char *)name; *c; c++) {
    if (*c > 0x20 && *c < 0x7f && *c != '%')
      fputc(*c, file);
    else
      fprintf(file, "%%%02x", *c);
  }
}

void sb_setup_write(FILE *file, const sb_sim_config *c, const sb_model_store *one, const char *model_file)
{
  const sb_model *m = sb_model_store_view(c->model);
  uint32_t margin;
  memcpy(&margin, &c->speculative_margin, sizeof margin);
  fprintf(file, "samebit-setup 1\nmodel %s %016" PRIx64 "\nworlds %u %u\ndt %u %u\nseed %" PRIu64 "\nmode %u\ncoupling %d\nmargin %08x\n", model_file,
          sb_model_store_hash(one), m->world_count, m->world_count ? m->world_key[0] : 0, c->dt_numerator, c->dt_denominator, c->seed, c->mode,
          (int)c->coupling, margin);
  fprintf(file, "capacities %u %u %u %u\n", c->contact_capacity, c->pair_capacity, c->particle_contact_capacity, c->near_pair_capacity);
  write_ranges(file, "ccd", c->ccd_bodies, c->ccd_body_count);
  for (uint32_t p = 0; p < c->part_count; p++) {
    const sb_sim_part *part = &c->parts[p];
    const sb_solver_desc *desc = part->api->desc;
    fputs("part ", file);
    write_word(file, part->name);
    fprintf(file, " %s ", desc->id);
    write_word(file, desc->version);
    fprintf(file, " %u\nparams %u", part->mode, desc->param_count);
    for (uint32_t i = 0; i < desc->param_count; i++) {
      uint64_t bits;
      memcpy(&bits, &part->params[i], sizeof bits);
      fprintf(file, " %016" PRIx64, bits);
    }
    fputc('\n', file);
    write_ranges(file, "bodies", part->bodies, part->body_count);
    write_ranges(file, "particles", part->particles, part->particle_count);
  }
  fputs("end\n", file);
}

/* ---- reading ---- */

/* The text and where reading stands in it; `failed` stays once something did not fit. */
typedef struct reader {
  const char *path;
  const char *at;
  unsigned line;
  bool failed;
  sb_diagnostics *diag;
} reader;

static void fail(reader *r, const char *expected, const char *found)
{
  if (!r->failed)
    sb_report(r->diag, SB_ERROR, SB_CODE_SETUP_FILE, r->path, "line %u: expected %s, found \"%.40s\"", r->line, expected, found);
  r->failed = true;
}

/* The next word, up to 255 characters, "" at the end. */
static void next_word(reader *r, char word[256])
{
  size_t n = 0;
  for (; *r->at && isspace((unsigned char)*r->at); r->at++) r->line += *r->at == '\n';
  while (*r->at && !isspace((unsigned char)*r->at) && n < 255) word[n++] = *r->at++;
  word[n] = 0;
}

static void next_name(reader *r, char word[256])
{
  next_word(r, word);
  char *to = word;
  unsigned code;
  for (const char *c = word; *c; c++) {
    if (*c == '%' && sscanf(c + 1, "%2x", &code) == 1)
      *to++ = (char)code, c += 2;
    else
      *to++ = *c;
  }
  *to = 0;
}

static void expect(reader *r, const char *key)
{
  char word[256];
  next_word(r, word);
  if (strcmp(word, key)) fail(r, key, word);
}

static uint64_t read_number(reader *r, int base, uint64_t most)
{
  char word[256], *end;
  next_word(r, word);
  errno = 0;
  uint64_t value = isxdigit((unsigned char)word[0]) ? strtoull(word, &end, base) : (end = word, 0);
  if (end == word || *end || errno || value > most) {
    fail(r, "a whole number in range", word);
    return 0;
  }
  return value;
}

static uint32_t read_u32(reader *r) { return (uint32_t)read_number(r, 10, UINT32_MAX); }

/* Ranges below `limit`, spread out; free() the list. */
static uint32_t *read_ranges(reader *r, const char *key, uint32_t limit, uint32_t *count)
{
  expect(r, key);
  uint32_t ranges = read_u32(r);
  uint32_t *list = malloc(((size_t)limit + 1) * sizeof *list);
  *count = 0;
  if (!list) r->failed = true;
  for (uint32_t i = 0; i < ranges && !r->failed; i++) {
    char word[256];
    unsigned first, last;
    char extra;
    next_word(r, word);
    bool good = sscanf(word, "%u-%u%c", &first, &last, &extra) == 2 && first <= last && last < limit && (*count == 0 || first > list[*count - 1]);
    if (!good) {
      fail(r, "an ascending range A-B inside the model", word);
      break;
    }
    for (uint32_t b = first; b <= last; b++) list[(*count)++] = b;
  }
  return list;
}

static void *read_file(const char *path, size_t *size)
{
  FILE *file = fopen(path, "rb");
  char *bytes = NULL;
  size_t capacity = 0;
  *size = 0;
  while (file && !ferror(file) && !feof(file)) {
    if (*size + 1 >= capacity) {
      char *grown = realloc(bytes, capacity = capacity ? 2 * capacity : 65536);
      if (!grown) break;
      bytes = grown;
    }
    *size += fread(bytes + *size, 1, capacity - *size - 1, file);
  }
  bool ok = file && feof(file) && bytes;
  if (file) fclose(file);
  if (ok) {
    bytes[*size] = 0;
    return bytes;
  }
  free(bytes);
  return NULL;
}

static sb_status read_model(reader *r, sb_setup *out)
{
  char name[256], path[4096];
  expect(r, "model");
  next_word(r, name);
  uint64_t hash = read_number(r, 16, UINT64_MAX);
  expect(r, "worlds");
  uint32_t worlds = read_u32(r), first = read_u32(r);
  if (strchr(name, '/')) fail(r, "the name of a file beside the setup", name);
  if (r->failed) return SB_E_CONFIG;
  const char *slash = strrchr(r->path, '/');
  snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash + 1 - r->path) : 0, r->path, name);
  size_t size;
  void *bytes = read_file(path, &size);
  if (!bytes) return sb_report(r->diag, SB_ERROR, SB_CODE_FILE_OPEN, path, "the model that %s names cannot be read", r->path);
  sb_status status = sb_model_store_from_bytes(bytes, size, path, &out->one, r->diag);
  free(bytes);
  if (!status && sb_model_store_hash(out->one) != hash)
    status = sb_report(r->diag, SB_ERROR, SB_CODE_SETUP_FILE, path, "the model has hash %016" PRIx64 ", the setup names %016" PRIx64,
                       sb_model_store_hash(out->one), hash);
  return status ? status : sb_model_store_replicate(out->one, worlds, first, &out->model, r->diag);
}

static char *copy_text(const char *text)
{
  size_t size = strlen(text) + 1;
  char *copy = malloc(size);
  return copy ? memcpy(copy, text, size) : NULL;
}

static void read_part(reader *r, const sb_solver_api *(*find)(const char *), const sb_model *m, sb_sim_part *part)
{
  char name[256], id[256], version[256];
  next_name(r, name);
  next_word(r, id);
  next_name(r, version);
  part->mode = read_u32(r);
  part->name = copy_text(name);
  part->api = find(id);
  if (!part->api) {
    fail(r, "a solver that is linked into this program", id);
    return;
  }
  if (strcmp(part->api->desc->version, version)) fail(r, part->api->desc->version, version);
  expect(r, "params");
  uint32_t count = read_u32(r);
  if (count != part->api->desc->param_count) fail(r, "as many parameters as the solver has", id);
  double *params = r->failed ? NULL : calloc((size_t)count + 1, sizeof *params);
  part->params = params;
  for (uint32_t i = 0; params && i < count; i++) {
    uint64_t bits = read_number(r, 16, UINT64_MAX);
    memcpy(&params[i], &bits, sizeof bits);
    const sb_param_desc *desc = &part->api->desc->params[i];
    if (!(params[i] >= desc->minimum && params[i] <= desc->maximum)) fail(r, "a parameter in its range", desc->name);
  }
  part->bodies = read_ranges(r, "bodies", m->body_count, &part->body_count);
  part->particles = read_ranges(r, "particles", m->particle_count, &part->particle_count);
  if (!part->name || !part->params) r->failed = true;
}

static sb_status read_setup(reader *r, const sb_solver_api *(*find)(const char *), sb_setup *out)
{
  sb_sim_config *c = &out->config;
  expect(r, "samebit-setup");
  if (read_u32(r) != 1) fail(r, "version 1", "another");
  sb_status status = read_model(r, out);
  if (status) return status;
  const sb_model *m = sb_model_store_view(out->model);
  c->model = out->model;
  expect(r, "dt");
  c->dt_numerator = read_u32(r);
  c->dt_denominator = read_u32(r);
  expect(r, "seed");
  c->seed = read_number(r, 10, UINT64_MAX);
  expect(r, "mode");
  c->mode = (uint32_t)read_number(r, 10, SB_MODE_CROSS_PLATFORM);
  expect(r, "coupling");
  c->coupling = (sb_coupling)read_number(r, 10, SB_COUPLING_ONE_WAY);
  expect(r, "margin");
  uint32_t margin = (uint32_t)read_number(r, 16, UINT32_MAX);
  memcpy(&c->speculative_margin, &margin, sizeof margin);
  expect(r, "capacities");
  c->contact_capacity = read_u32(r);
  c->pair_capacity = read_u32(r);
  c->particle_contact_capacity = read_u32(r);
  c->near_pair_capacity = read_u32(r);
  c->ccd_bodies = out->ccd_bodies = read_ranges(r, "ccd", m->body_count, &c->ccd_body_count);
  char word[256];
  for (next_word(r, word); !r->failed && !strcmp(word, "part"); next_word(r, word)) {
    if (c->part_count == MAX_PARTS) fail(r, "at most 64 parts", word);
    if (!r->failed) read_part(r, find, m, &out->parts[c->part_count++]);
  }
  if (strcmp(word, "end")) fail(r, "part or end", word);
  c->parts = out->parts;
  return r->failed ? SB_E_CONFIG : SB_OK;
}

sb_status sb_setup_read(const char *path, const sb_solver_api *(*find)(const char *), sb_setup *out, sb_diagnostics *diag)
{
  *out = (sb_setup){0};
  size_t size, errors = diag->error_count;
  char *text = read_file(path, &size);
  out->parts = calloc(MAX_PARTS, sizeof *out->parts);
  reader r = {.path = path, .at = text, .line = 1, .diag = diag};
  sb_status status = SB_E_MEMORY;
  if (!text)
    status = sb_report(diag, SB_ERROR, SB_CODE_FILE_OPEN, path, "the setup cannot be read");
  else if (out->parts)
    status = read_setup(&r, find, out);
  if (status && diag->error_count == errors) sb_report(diag, SB_ERROR, SB_CODE_MEMORY, path, "no memory for the setup");
  free(text);
  if (status) sb_setup_free(out);
  return status;
}

void sb_setup_free(sb_setup *s)
{
  for (uint32_t p = 0; s->parts && p < MAX_PARTS; p++) {
    free((char *)s->parts[p].name);
    free((double *)s->parts[p].params);
    free((uint32_t *)s->parts[p].bodies);
    free((uint32_t *)s->parts[p].particles);
  }
  free(s->parts);
  free(s->ccd_bodies);
  sb_model_store_free(s->model);
  sb_model_store_free(s->one);
  *s = (sb_setup){0};
}
