/* Tables and JSON that several commands print. */
#include "cli.h"

#include <stdio.h>

void cli_report_parts(cli *c, const sb_session *s)
{
  char domain[1024];
  sb_session_domain(s, domain, sizeof domain);
  if (!c->json) {
    printf("%-12s %-14s %-7s %-14s %-14s %-14s %-14s %s\n", "part", "plugin", "backend", "asked", "declared", "verified", "granted", "reason");
    for (uint32_t p = 0; p < s->part_count; p++) {
      const sb_session_part *part = &s->parts[p];
      printf("%-12s %-14s %-7s %-14s %-14s %-14s %-14s %s\n", part->name, part->plugin, sb_backend_name(part->backend),
             sb_mode_name(part->asked), sb_mode_name(part->declared), sb_mode_name(part->verified), sb_mode_name(part->granted), part->reason);
      if (part->module) printf("%-12s module %s, XXH3 %016llx\n", "", part->module->path, (unsigned long long)part->module->file_hash);
    }
    printf("mode    %s\ndomain  %s\n", sb_mode_name(s->mode), domain);
    return;
  }
  cJSON_AddStringToObject(c->data, "mode", sb_mode_name(s->mode));
  cJSON_AddStringToObject(c->data, "domain", domain);
  cJSON *host = cJSON_AddObjectToObject(c->data, "host");
  cJSON_AddStringToObject(host, "version", SAMEBIT_VERSION);
  cJSON_AddStringToObject(host, "compiler", __VERSION__);
  cJSON_AddNumberToObject(host, "fp_flags", SB_FP_BUILD_FLAGS);
  cJSON_AddNumberToObject(host, "lanes", sb_cpu_lanes());
  cli_add_hash(c->data, "model_hash", sb_model_store_hash(s->one));
  cJSON *parts = cJSON_AddArrayToObject(c->data, "parts");
  for (uint32_t p = 0; p < s->part_count; p++) {
    const sb_session_part *part = &s->parts[p];
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "part", part->name);
    cJSON_AddStringToObject(item, "plugin", part->plugin);
    cJSON_AddStringToObject(item, "backend", sb_backend_name(part->backend));
    cJSON_AddStringToObject(item, "asked", sb_mode_name(part->asked));
    cJSON_AddStringToObject(item, "declared", sb_mode_name(part->declared));
    cJSON_AddStringToObject(item, "verified", sb_mode_name(part->verified));
    cJSON_AddStringToObject(item, "granted", sb_mode_name(part->granted));
    cJSON_AddStringToObject(item, "reason", part->reason);
    if (part->module) {
      cJSON_AddStringToObject(item, "module", part->module->path);
      cli_add_hash(item, "module_hash", part->module->file_hash);
      cJSON_AddStringToObject(item, "compiler", part->module->entry->compiler);
      cJSON_AddNumberToObject(item, "fp_flags", part->module->entry->fp_flags);
      cJSON_AddNumberToObject(item, "lanes", part->module->entry->lanes);
      const sb_trial *trial = &part->module->trial;
      cJSON_AddStringToObject(item, "trial", !trial->ran ? "none" : trial->cached ? "cached" : "done");
      cJSON_AddStringToObject(item, "sandbox", !trial->ran ? "none" : trial->sandbox[0] ? trial->sandbox : "seccomp");
      cJSON *findings = cJSON_AddArrayToObject(item, "audit");
      for (size_t i = 0; i < part->module->audit.count; i++) {
        cJSON *finding = cJSON_CreateObject();
        cJSON_AddStringToObject(finding, "rule", sb_audit_rule_name(part->module->audit.findings[i].rule));
        cJSON_AddStringToObject(finding, "text", part->module->audit.findings[i].text);
        cJSON_AddItemToArray(findings, finding);
      }
    }
    cJSON_AddItemToArray(parts, item);
  }
}
