/* The audit of one file and of what it needs. */
#define _XOPEN_SOURCE 700
#include "audit_parts.h"

#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "samebit/abi.h"

static const char *const rule_names[] = {
#define X(name, limit, text) #name,
    SB_AUDIT_RULES(X)
#undef X
};
static const char *const rule_texts[] = {
#define X(name, limit, text) text,
    SB_AUDIT_RULES(X)
#undef X
};
#define LIMIT_OFF SB_MODE_OFF
#define LIMIT_LOCAL SB_MODE_LOCAL
#define LIMIT_RUN_TO_RUN SB_MODE_RUN_TO_RUN
#define LIMIT_NOTE SB_AUDIT_NOTE
#define LIMIT_REFUSED SB_AUDIT_REFUSED
static const uint32_t rule_limits[] = {
#define X(name, limit, text) LIMIT_##limit,
    SB_AUDIT_RULES(X)
#undef X
};

const char *sb_audit_rule_name(sb_audit_rule rule) { return rule_names[rule]; }
const char *sb_audit_rule_text(sb_audit_rule rule) { return rule_texts[rule]; }
uint32_t sb_audit_rule_limit(sb_audit_rule rule) { return rule_limits[rule]; }

void sb_audit_add(sb_audit *audit, sb_audit_rule rule, const char *format, ...)
{
  if (sb_audit_find(audit, rule) || audit->count == SB_MAX_FINDINGS) return;
  sb_finding *f = &audit->findings[audit->count++];
  f->rule = rule;
  va_list args;
  va_start(args, format);
  vsnprintf(f->text, sizeof f->text, format, args);
  va_end(args);
}

const sb_finding *sb_audit_find(const sb_audit *audit, sb_audit_rule rule)
{
  for (size_t i = 0; i < audit->count; i++)
    if (audit->findings[i].rule == rule) return &audit->findings[i];
  return NULL;
}

uint32_t sb_audit_mode(const sb_audit *audit, const sb_finding **worst)
{
  uint32_t mode = SB_MODE_CROSS_PLATFORM;
  *worst = NULL;
  for (size_t i = 0; i < audit->count; i++) {
    uint32_t limit = rule_limits[audit->findings[i].rule];
    if (limit == SB_AUDIT_REFUSED) limit = SB_MODE_OFF;
    if (limit >= mode) continue;
    mode = limit;
    *worst = &audit->findings[i];
  }
  return mode;
}

/* The file's own folder is judged when it is opened. Above it, whoever may write a folder without the sticky bit may
 * put another folder in the place of the one that leads here. */
void sb_audit_folders(const char *path, sb_audit *audit)
{
  char dir[PATH_MAX];
  struct stat info;
  snprintf(dir, sizeof dir, "%s", path);
  char *slash = strrchr(dir, '/');
  if (!slash || slash == dir) return;
  *slash = 0;
  while ((slash = strrchr(dir, '/')) != NULL) {
    slash[slash == dir] = 0;
    if (!stat(dir, &info) && info.st_mode & S_IWOTH && !(info.st_mode & S_ISVTX))
      sb_audit_add(audit, SB_AUDIT_RULE_folder,
                   "everybody may write the folder %.120s above %.40s and put another folder in its place; take that "
                   "right away (chmod o-w, or chmod +t)",
                   dir, strrchr(path, '/') + 1);
    if (slash == dir) return;
  }
}

void sb_audit_one(Elf *elf, const char *path, bool plugin, sb_audit *audit)
{
  const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
  sb_audit_folders(path, audit);
  if (!sb_audit_layout(elf, file, audit)) return;
  sb_audit_symbols(elf, file, plugin, audit);
  sb_audit_switches(elf, file, audit);
  sb_audit_libraries(elf, path, audit);
}

/* Libelf keeps the version in a variable of its own; files are audited side by side. */
static void set_elf_version(void) { elf_version(EV_CURRENT); }
static void start_libelf(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, set_elf_version);
}

void sb_audit_file(const sb_sealed_file *file, sb_audit *audit)
{
  *audit = (sb_audit){0};
  start_libelf();
  Elf *elf = elf_memory(file->bytes, file->size);
  if (elf)
    sb_audit_one(elf, file->path, true, audit);
  else
    sb_audit_add(audit, SB_AUDIT_RULE_elf, "this is no shared object: it does not begin as an ELF file");
  elf_end(elf);
}

static void audit_code_of(const sb_sealed_file *file, bool plugin, sb_audit *audit)
{
  const char *slash = strrchr(file->path, '/');
  Elf *elf = elf_memory(file->bytes, file->size);
  if (elf) sb_audit_opcodes(elf, slash ? slash + 1 : file->path, plugin, audit);
  elf_end(elf);
}

void sb_audit_code(const sb_sealed_file *file, sb_audit *audit)
{
  start_libelf();
  if (sb_audit_find(audit, SB_AUDIT_RULE_elf)) return;
  audit_code_of(file, true, audit);
  for (size_t i = 0; i < audit->library_count; i++) audit_code_of(&audit->libraries[i], false, audit);
}

void sb_audit_clear(sb_audit *audit)
{
  for (size_t i = 0; i < audit->library_count; i++) sb_sealed_file_close(&audit->libraries[i]);
  *audit = (sb_audit){0};
}
