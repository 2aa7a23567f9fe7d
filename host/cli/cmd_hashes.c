/* hashes diff: the first tick in which two runs, perhaps of two machines, are not the same. */
#include "cli.h"

#include <inttypes.h>
#include <stdio.h>

#include "hash_file.h"

static void report_shared(cli *c, const sb_hash_file *a, const sb_hash_file *b, uint64_t shared)
{
  if (c->json) {
    cJSON_AddNumberToObject(c->data, "shared_ticks", (double)shared);
    cJSON_AddStringToObject(c->data, "domain_a", a->domain);
    cJSON_AddStringToObject(c->data, "domain_b", b->domain);
    return;
  }
  printf("A: %zu ticks, %s\nB: %zu ticks, %s\n", a->count, a->domain, b->count, b->domain);
  printf("%" PRIu64 " ticks the same\n", shared);
}

static int compare(cli *c, const sb_hash_file *a, const sb_hash_file *b)
{
  if (a->model != b->model || a->setup != b->setup) {
    sb_report(&c->diag, SB_ERROR, SB_CODE_HASH_UNRELATED, c->words[1],
              "the runs have %s: model %016" PRIx64 " and %016" PRIx64 ", setup %016" PRIx64 " and %016" PRIx64,
              a->model != b->model ? "different models" : "different solvers, versions, parameters, bodies or seeds", a->model, b->model, a->setup,
              b->setup);
    return CLI_USAGE;
  }
  sb_hash_difference d;
  uint64_t shared;
  bool differ = sb_hash_file_compare(a, b, &d, &shared);
  report_shared(c, a, b, shared);
  if (differ) {
    if (c->json) {
      cJSON_AddNumberToObject(c->data, "tick", (double)d.tick);
      cJSON_AddStringToObject(c->data, "stage", sb_stage_name(d.stage));
    }
    sb_report(&c->diag, SB_ERROR, SB_CODE_HASH_DIFFER, c->words[1], "tick %" PRIu64 ", stage %s: A has %016" PRIx64 ", B has %016" PRIx64, d.tick,
              sb_stage_name(d.stage), d.a, d.b);
    return CLI_BAD_ANSWER;
  }
  if (shared) return CLI_DONE;
  sb_report(&c->diag, SB_ERROR, SB_CODE_HASH_UNRELATED, c->words[1], "the files have no tick in common, so nothing was compared");
  return CLI_BAD_ANSWER;
}

int cmd_hashes_diff(cli *c)
{
  sb_hash_file a = {0}, b = {0};
  int code = CLI_USAGE;
  if (!sb_hash_file_read(c->words[0], &a, &c->diag) && !sb_hash_file_read(c->words[1], &b, &c->diag)) code = compare(c, &a, &b);
  sb_hash_file_free(&a);
  sb_hash_file_free(&b);
  return code;
}
