/* Libraries that a module needs: found as the loader would, without the environment, and judged like the module itself. The host
 * loads the sealed copies first, so the loader finds them by name and takes no other. */
#define _GNU_SOURCE
#include "audit_parts.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The C library, its loader, and the runtimes of compilers and sanitizers. */
static bool is_systems_own(const char *name)
{
  static const char *const known[] = {"libc.so.", "libm.so.", "ld-linux", "ld64.so.", "ld.so.", "libpthread.so.", "librt.so.", "libdl.so.", "libgcc_s.so.",
                                      "libatomic.so.", "linux-vdso", "libasan.so.", "libubsan.so.", "libtsan.so.", "liblsan.so.", "libclang_rt."};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (!strncmp(name, known[i], strlen(known[i]))) return true;
  return false;
}

/* What this program has already is what the loader takes, wherever else a file of that name lies. */
static bool is_loaded(const char *name)
{
  void *handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
  if (handle) dlclose(handle);
  return handle != NULL;
}

typedef struct needs {
  const char *names[64];
  size_t count;
  const char *search; /* DT_RUNPATH, or DT_RPATH; "" */
  const char *own;    /* DT_SONAME; "" */
} needs;

static void read_needs(Elf *elf, needs *n)
{
  *n = (needs){.search = "", .own = ""};
  for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
    GElf_Shdr header;
    Elf_Data *data;
    if (!gelf_getshdr(s, &header) || header.sh_type != SHT_DYNAMIC || !header.sh_entsize || !(data = elf_getdata(s, NULL))) continue;
    for (size_t i = 0; i < header.sh_size / header.sh_entsize; i++) {
      GElf_Dyn dyn;
      if (!gelf_getdyn(data, (int)i, &dyn)) break;
      const char *text = elf_strptr(elf, header.sh_link, dyn.d_un.d_val);
      bool needed =
          dyn.d_tag == DT_NEEDED || dyn.d_tag == DT_FILTER || dyn.d_tag == DT_AUXILIARY; /* the loader loads each */
      if (needed && text && n->count < sizeof n->names / sizeof n->names[0]) n->names[n->count++] = text;
      if (dyn.d_tag == DT_SONAME && text) n->own = text;
      if (dyn.d_tag == DT_RUNPATH && text) n->search = text;
      if (dyn.d_tag == DT_RPATH && text && !*n->search) n->search = text;
    }
  }
}

/* DIR/NAME, with $ORIGIN as the folder of the file that needs it. */
static bool try_place(const char *dir, size_t length, const char *origin, const char *name, char path[PATH_MAX])
{
  bool from_origin = length >= 7 && !strncmp(dir, "$ORIGIN", 7), braces = length >= 9 && !strncmp(dir, "${ORIGIN}", 9);
  size_t cut = from_origin ? 7 : braces ? 9 : 0;
  int n = snprintf(path, PATH_MAX, "%s%.*s/%s", cut ? origin : "", (int)(length - cut), dir + cut, name);
  return n > 0 && n < PATH_MAX && path[0] == '/' && !access(path, R_OK);
}

/* In the folders that the file itself names. */
static bool find_brought(const char *name, const char *needed_by, const char *search, char path[PATH_MAX])
{
  char origin[PATH_MAX];
  const char *slash = strrchr(needed_by, '/');
  snprintf(origin, sizeof origin, "%.*s", (int)(slash ? slash - needed_by : 0), needed_by);
  while (*search) {
    size_t n = strcspn(search, ":");
    if (n && try_place(search, n, origin, name, path)) return true;
    search += n + (search[n] == ':');
  }
  return false;
}

static bool find_library(const char *name, const char *needed_by, const char *search, char path[PATH_MAX])
{
  if (find_brought(name, needed_by, search, path)) return true;
  static const char *const places[] = {
#if defined(__x86_64__)
      "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu",
#elif defined(__aarch64__)
      "/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
#elif defined(__riscv)
      "/lib/riscv64-linux-gnu", "/usr/lib/riscv64-linux-gnu",
#elif defined(__s390x__)
      "/lib/s390x-linux-gnu", "/usr/lib/s390x-linux-gnu",
#elif defined(__i386__)
      "/lib/i386-linux-gnu", "/usr/lib/i386-linux-gnu",
#endif
      "/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib"};
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
    if (try_place(places[i], strlen(places[i]), "", name, path)) return true;
  return false;
}

static void judge_library(const char *path, const char *name, sb_audit *audit)
{
  sb_sealed_file file;
  sb_diagnostics diag = {0};
  if (sb_sealed_file_open(path, &file, &diag)) {
    sb_audit_add(audit, SB_AUDIT_RULE_library, "the library %s that it needs (%.100s): %.80s", name, path, diag.count ? diag.items[0].message : "cannot be read");
    sb_diagnostics_clear(&diag);
    return;
  }
  for (size_t i = 0; i < audit->library_count; i++)
    if (!strcmp(audit->libraries[i].path, file.path)) {
      sb_sealed_file_close(&file);
      return;
    }
  Elf *elf = elf_memory(file.bytes, file.size);
  needs own = {.own = ""};
  if (elf) read_needs(elf, &own);
  if (strcmp(own.own, name)) /* the loader would not know the copy, and load the file */
    sb_audit_add(audit, SB_AUDIT_RULE_library,
                 "the library %s that it needs calls itself \"%.80s\"; link that library with -Wl,-soname,%.80s", name,
                 own.own, name);
  audit->depth++;
  if (elf && audit->depth <= 16) sb_audit_one(elf, file.path, false, audit); /* what it needs comes before it */
  if (audit->depth > 16) sb_audit_add(audit, SB_AUDIT_RULE_library, "its libraries need each other in a circle, or more than 16 deep");
  audit->depth--;
  elf_end(elf);
  if (audit->library_count < SB_MAX_LIBRARIES) {
    audit->libraries[audit->library_count++] = file;
    return;
  }
  sb_audit_add(audit, SB_AUDIT_RULE_library, "it needs more than %d libraries", SB_MAX_LIBRARIES);
  sb_sealed_file_close(&file);
}

void sb_audit_libraries(Elf *elf, const char *path, sb_audit *audit)
{
  needs n;
  read_needs(elf, &n);
  for (size_t i = 0; i < n.count; i++) {
    char place[PATH_MAX];
    /* A file that brings its own copy of such a library has it judged like any other. */
    if (is_systems_own(n.names[i]) && (is_loaded(n.names[i]) || !find_brought(n.names[i], path, n.search, place)))
      continue;
    if (find_library(n.names[i], path, n.search, place))
      judge_library(place, n.names[i], audit);
    else
      sb_audit_add(audit, SB_AUDIT_RULE_library, "it needs %s, which is in no folder of its RUNPATH nor of the system; link it with -Wl,-rpath,'$ORIGIN'",
                   n.names[i]);
  }
}
