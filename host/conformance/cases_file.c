/* Cases of the file: the rules of the audit, without loading anything. */
#include "case_list.h"

bool case_file_place(sb_case_context *c)
{
  sb_sealed_file again;
  sb_diagnostics diag = {0};
  if (sb_sealed_file_open(c->file->path, &again, &diag)) return sb_case_fail(c, "%s", diag.count ? diag.items[0].message : "it cannot be read");
  sb_sealed_file_close(&again);
  return true;
}

static bool check_rule(sb_case_context *c, sb_audit_rule rule)
{
  static sb_audit audit;
  sb_audit_file(c->file, &audit);
  sb_audit_code(c->file, &audit);
  const sb_finding *f = sb_audit_find(&audit, rule);
  if (f) sb_case_fail(c, "%s", f->text);
  sb_audit_clear(&audit);
  return !f;
}

#define RULE(name, limit, text)                                                                                        \
  bool case_file_##name(sb_case_context *c) { return check_rule(c, SB_AUDIT_RULE_##name); }
SB_AUDIT_RULES(RULE)
