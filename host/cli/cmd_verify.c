/* verify: runs the golden pack here and prints a certificate that others can compare with theirs. */
#include "cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "golden_hashes.h"
#include "golden_pack.h"
#include "state_hash.h"

static const char *const outcome_names[] = {"matched", "differs", "failed", "left out"};

/* One number for everything that ran: folded in the order of the pack. */
static uint64_t fold_pack(const sb_golden_pack *pack)
{
  uint64_t hash = 0;
  for (size_t i = 0; i < pack->run_count; i++)
    if (pack->runs[i].outcome <= SB_GOLDEN_DIFFERS) hash = sb_hash_fold(hash, pack->runs[i].found);
  return hash;
}

static void print_certificate(const sb_catalogue *catalogue, const sb_golden_pack *pack, const char *domain, const size_t count[4])
{
  printf("certificate 1\ndomain   %s\n", domain);
  for (size_t i = 0; i < catalogue->module_count; i++) {
    const sb_module *m = &catalogue->modules[i];
    printf("module   %s, XXH3 %016" PRIx64 "\n", m->path, m->file_hash);
  }
  printf("\n%-14s %-14s %6s  %-16s  %-16s  %s\n", "scene", "solver", "ticks", "model", "hash", "outcome");
  for (size_t i = 0; i < pack->run_count; i++) {
    const sb_golden_run *r = &pack->runs[i];
    char found[20] = "-", model[20] = "-";
    if (r->outcome <= SB_GOLDEN_DIFFERS) snprintf(found, sizeof found, "%016" PRIx64, r->found);
    if (r->model) snprintf(model, sizeof model, "%016" PRIx64, r->model);
    printf("%-14s %-14s %6" PRIu64 "  %-16s  %-16s  %s%s%s\n", r->scene, r->solver, r->ticks, model, found, outcome_names[r->outcome],
           r->reason[0] ? ": " : "", r->reason);
  }
  printf("\npack     %016" PRIx64 ": %zu matched, %zu differ, %zu failed, %zu left out\n", fold_pack(pack), count[0], count[1], count[2], count[3]);
}

static void add_certificate(cJSON *data, const sb_catalogue *catalogue, const sb_golden_pack *pack, const char *domain, const size_t count[4])
{
  cJSON_AddNumberToObject(data, "certificate", 1);
  cJSON_AddStringToObject(data, "domain", domain);
  cJSON_AddNumberToObject(data, "numerics", SB_NUMERICS_VERSION);
  cJSON *modules = cJSON_AddArrayToObject(data, "modules");
  for (size_t i = 0; i < catalogue->module_count; i++) {
    cJSON *module = cJSON_CreateObject();
    cJSON_AddItemToArray(modules, module);
    cJSON_AddStringToObject(module, "path", catalogue->modules[i].path);
    cli_add_hash(module, "hash", catalogue->modules[i].file_hash);
  }
  cJSON *runs = cJSON_AddArrayToObject(data, "runs");
  for (size_t i = 0; i < pack->run_count; i++) {
    const sb_golden_run *r = &pack->runs[i];
    cJSON *run = cJSON_CreateObject();
    cJSON_AddItemToArray(runs, run);
    cJSON_AddStringToObject(run, "scene", r->scene);
    cJSON_AddStringToObject(run, "solver", r->solver);
    cJSON_AddNumberToObject(run, "ticks", (double)r->ticks);
    cli_add_hash(run, "model_hash", r->model);
    cli_add_hash(run, "golden", r->golden);
    cli_add_hash(run, "hash", r->found);
    cJSON_AddStringToObject(run, "outcome", outcome_names[r->outcome]);
    cJSON_AddStringToObject(run, "reason", r->reason);
  }
  cli_add_hash(data, "pack_hash", fold_pack(pack));
  for (int o = 0; o < 4; o++) cJSON_AddNumberToObject(data, o == SB_GOLDEN_LEFT_OUT ? "left_out" : outcome_names[o], (double)count[o]);
}

static int verify(cli *c, sb_catalogue *catalogue, sb_golden_pack *pack)
{
  size_t count[4] = {0};
  char domain[256];
  for (size_t i = 0; i < pack->run_count; i++) {
    sb_golden_run *r = &pack->runs[i];
    sb_module *module;
    const sb_solver_api *api;
    if (sb_catalogue_find_solver(catalogue, r->solver, "golden pack", NULL, &module, &api, &c->diag)) return CLI_USAGE;
    sb_golden_pack_run(pack, r, api);
    count[r->outcome]++;
    if (r->outcome == SB_GOLDEN_DIFFERS)
      sb_report(&c->diag, SB_ERROR, SB_CODE_HASH_DIFFER, r->scene, "%s ends with %016" PRIx64 " after %" PRIu64 " ticks, the pack has %016" PRIx64,
                r->solver, r->found, r->ticks, r->golden);
    if (r->outcome == SB_GOLDEN_FAILED) sb_report(&c->diag, SB_ERROR, SB_CODE_LEG_FAILED, r->scene, "under %s: %s", r->solver, r->reason);
  }
  if (!count[SB_GOLDEN_MATCHED] && !c->diag.error_count)
    sb_report(&c->diag, SB_ERROR, SB_CODE_LEG_FAILED, "golden pack",
              "none of its %zu hashes was compared, so nothing is verified", pack->run_count);
  sb_domain_text(domain, sizeof domain);
  if (c->json)
    add_certificate(c->data, catalogue, pack, domain, count);
  else
    print_certificate(catalogue, pack, domain, count);
  return count[SB_GOLDEN_MATCHED] && !count[SB_GOLDEN_DIFFERS] && !count[SB_GOLDEN_FAILED] ? CLI_DONE : CLI_BAD_ANSWER;
}

int cmd_verify(cli *c)
{
  sb_session_options options = cli_session_options(c);
  sb_catalogue catalogue;
  sb_golden_pack pack = {0};
  if (sb_catalogue_init(&catalogue, options.plugin_dirs, options.plugin_dir_count, &c->diag)) return CLI_USAGE;
  int code = CLI_USAGE;
  if (!sb_golden_pack_open(cli_value(c, "--pack"), &pack, &c->diag)) code = verify(c, &catalogue, &pack);
  sb_golden_pack_close(&pack);
  sb_catalogue_free(&catalogue);
  return code;
}
