/* The file audit: each rule finds its fixture and leaves good plugins alone; files that change are not taken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gelf.h>

#include "audit_parts.h"
#include "catalogue.h"

static void audit_path(const char *path, sb_audit *audit)
{
  sb_sealed_file file;
  sb_diagnostics diag = {0};
  if (sb_sealed_file_open(path, &file, &diag)) fail_msg("%s: %s", path, diag.items[0].message);
  sb_audit_file(&file, audit);
  sb_audit_code(&file, audit);
  sb_sealed_file_close(&file);
}

static void check_finding(const char *name, sb_audit_rule rule, const char *text)
{
  char path[512];
  sb_audit audit;
  snprintf(path, sizeof path, "%s/%s.so", SAMEBIT_FIXTURES, name);
  audit_path(path, &audit);
  const sb_finding *f = sb_audit_find(&audit, rule);
  if (!f || !strstr(f->text, text) || audit.count != 1)
    fail_msg("%s: %zu findings, expected one of %s with \"%s\", found \"%s\"", name, audit.count, sb_audit_rule_name(rule), text,
             audit.count ? audit.findings[0].text : "");
  sb_audit_clear(&audit);
}

static void each_rule_finds_its_fixture(void **state)
{
  (void)state;
  check_finding("two_exports", SB_AUDIT_RULE_export, "fixture_second_export");
  check_finding("calls_sinf", SB_AUDIT_RULE_libm, "sinf");
  check_finding("constructor", SB_AUDIT_RULE_constructor, "count_loads");
  check_finding("not_relro", SB_AUDIT_RULE_relro, "relro");
  check_finding("exec_stack", SB_AUDIT_RULE_stack, "executable stack");
  check_finding("switches", SB_AUDIT_RULE_switches, "-ffp-contract=fast");
  check_finding("fast_switches", SB_AUDIT_RULE_fast_math, "-fassociative-math");
  check_finding("resolver", SB_AUDIT_RULE_resolver, "disturb");
  check_finding("lost_library", SB_AUDIT_RULE_library, "fixture_library");
  check_finding("good_library", SB_AUDIT_RULE_libm, "libfixture_library.so calls cosf");
  check_finding("no_symbol", SB_AUDIT_RULE_entry, "samebit_plugin");
#if defined(__x86_64__)
  check_finding("fused", SB_AUDIT_RULE_fused, "solver_step+0x");
  check_finding("estimate", SB_AUDIT_RULE_estimate, "rsqrtss");
  check_finding("long_double", SB_AUDIT_RULE_long_double, "x87");
#endif
}

static void good_plugins_have_no_findings(void **state)
{
  (void)state;
  static const char *const names[] = {SAMEBIT_PLUGINS "/featherstone.so", SAMEBIT_PLUGINS "/semi_implicit.so", SAMEBIT_PLUGINS "/steel.so",
                                      SAMEBIT_FIXTURES "/no_golden.so"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    sb_audit audit;
    const sb_finding *worst;
    audit_path(names[i], &audit);
    if (audit.count) fail_msg("%s: %s", names[i], audit.findings[0].text);
    assert_int_equal(sb_audit_mode(&audit, &worst), SB_MODE_CROSS_PLATFORM);
    sb_audit_clear(&audit);
  }
}

/* What a look at the machine code of a file gives, of whatever architecture. */
static sb_audit read_code(const char *path)
{
  sb_sealed_file file;
  sb_audit audit = {0};
  assert_int_equal(sb_sealed_file_open(path, &file, NULL), SB_OK);
  elf_version(EV_CURRENT);
  Elf *elf = elf_memory(file.bytes, file.size);
  sb_audit_opcodes(elf, "plugin.so", true, &audit);
  elf_end(elf);
  sb_sealed_file_close(&file);
  return audit;
}

/* The machine code of each architecture that a cross compiler is there for, with and without contraction. */
static void other_architectures_are_read(void **state)
{
  (void)state;
  static const struct {
    const char *compiler, *flags;
    bool fuses; /* the target has fused operations at these flags */
  } targets[] = {{"aarch64-linux-gnu-gcc", "", true},
                 {"riscv64-linux-gnu-gcc", "", true},
                 {"s390x-linux-gnu-gcc", "", true},
                 {"i686-linux-gnu-gcc", "-msse2 -mfpmath=sse -mfma", true},
                 {"gcc", "-mfma", true}};
  char folder[] = "/tmp/samebit_audit_XXXXXX", command[1024], path[64];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/plugin.so", folder);
  int tried = 0;
  for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
    for (int fast = 0; fast < 2; fast++) {
      snprintf(command, sizeof command, "%s -O2 -shared -fPIC %s -ffp-contract=%s '%s' -nostdlib -o %s 2>/dev/null", targets[i].compiler, targets[i].flags,
               fast ? "fast" : "off", SAMEBIT_AUDIT_SOURCE, path);
      if (system(command)) continue;
      sb_audit audit = read_code(path);
      const sb_finding *f = sb_audit_find(&audit, SB_AUDIT_RULE_fused);
      bool found = f && strstr(f->text, "fixture_sum");
      if (found != (fast && targets[i].fuses)) fail_msg("%s, contraction %s: \"%s\"", targets[i].compiler, fast ? "fast" : "off", f ? f->text : "nothing found");
      tried++;
    }
  print_message("  %d files\n", tried);
  unlink(path);
  rmdir(folder);
}

/* Code that is newer than what reads it may hold anything. */
static void code_that_cannot_be_read_is_found(void **state)
{
  (void)state;
#ifdef __x86_64__
  char folder[] = "/tmp/samebit_audit_XXXXXX", command[1024], path[64];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/plugin.so", folder);
  snprintf(command, sizeof command, "gcc -O2 -shared -fPIC -DHALF_FLOAT '%s' -nostdlib -o %s", SAMEBIT_AUDIT_SOURCE, path);
  assert_int_equal(system(command), 0);
  sb_audit audit = read_code(path);
  const sb_finding *f = sb_audit_find(&audit, SB_AUDIT_RULE_fused);
  assert_non_null(f);
  assert_non_null(strstr(f->text, "an instruction that cannot be read, .byte, in fixture_sum"));
  unlink(path);
  rmdir(folder);
#endif
}

/* No section says any more that it holds code. */
static void hide_code(unsigned char *bytes)
{
  const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)(void *)bytes;
  ElfW(Shdr) *sections = (ElfW(Shdr) *)(void *)(bytes + header->e_shoff);
  for (int i = 0; i < header->e_shnum; i++) sections[i].sh_flags ^= sections[i].sh_flags & SHF_EXECINSTR;
}

static void files_of_other_machines_are_refused(void **state)
{
  (void)state;
  char folder[] = "/tmp/samebit_audit_XXXXXX", path[64];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/plugin.so", folder);
  sb_sealed_file good, file;
  assert_int_equal(sb_sealed_file_open(SAMEBIT_FIXTURES "/no_golden.so", &good, NULL), SB_OK);
  unsigned char *bytes = malloc(good.size);
  assert_non_null(bytes);
  for (int fault = 0; fault < 4; fault++) {
    memcpy(bytes, good.bytes, good.size);
    size_t size = good.size;
    if (fault == 0) bytes[18] = 0x28, bytes[19] = 0; /* ARM */
    if (fault == 1) bytes[16] = 2;                   /* an executable */
    if (fault == 2) size = 40;                       /* cut short */
    if (fault == 3) hide_code(bytes);
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, size, out), size);
    fclose(out);
    sb_audit audit;
    assert_int_equal(sb_sealed_file_open(path, &file, NULL), SB_OK);
    sb_audit_file(&file, &audit);
    sb_audit_code(&file, &audit);
    assert_non_null(sb_audit_find(&audit, SB_AUDIT_RULE_elf));
    sb_audit_clear(&audit);
    sb_sealed_file_close(&file);
  }
  free(bytes);
  sb_sealed_file_close(&good);
  unlink(path);
  rmdir(folder);
}

/* A plugin of one function, built as the switches say, and what its audit says of a rule. NULL: nothing. */
static void build_and_audit(const char *folder, const char *body, const char *switches, sb_audit_rule rule,
                            const char *text)
{
  char source[80], path[80], command[1024];
  sb_audit audit;
  snprintf(source, sizeof source, "%s/x.c", folder);
  snprintf(path, sizeof path, "%s/x.so", folder);
  FILE *out = fopen(source, "w");
  assert_non_null(out);
  fprintf(out,
          "#define _GNU_SOURCE\n#include <complex.h>\n#include <dlfcn.h>\n#include <signal.h>\n#include "
          "<stdlib.h>\n#include <time.h>\n"
          "extern const int samebit_plugin;\n__attribute__((visibility(\"default\"))) const int samebit_plugin = 1;\n"
          "float brought(float x);\nvoid *work(float x);\nvoid *work(float x) { static float y; %s; return &y; }\n",
          body);
  fclose(out);
  snprintf(command, sizeof command, "cc -O1 -shared -fPIC -fvisibility=hidden -Wl,-z,relro,-z,now %s -o %s -L%s %s",
           source, path, folder, switches);
  assert_int_equal(system(command), 0);
  audit_path(path, &audit);
  const sb_finding *f = sb_audit_find(&audit, rule);
  if (text ? !f || !strstr(f->text, text) : audit.count != 0)
    fail_msg("%s %s: \"%s\", %zu findings", body, switches, f ? f->text : "", audit.count);
  sb_audit_clear(&audit);
}

static void what_a_solver_may_not_ask_for_is_found(void **state)
{
  (void)state;
  char folder[] = "/tmp/samebit_audit_XXXXXX", command[64];
  assert_non_null(mkdtemp(folder));
  build_and_audit(folder, "y = x * 2", "", SB_AUDIT_RULE_elf, NULL);
  build_and_audit(folder, "y = cimagf(cexpf(x * I))", "-lm", SB_AUDIT_RULE_libm, "cexpf");
  build_and_audit(folder, "y = dlsym(RTLD_DEFAULT, \"sinf\") != 0", "", SB_AUDIT_RULE_late_code, "dlsym");
  build_and_audit(folder, "y = dlopen(\"libm.so.6\", RTLD_NOW) != 0", "", SB_AUDIT_RULE_late_code, "dlopen");
  build_and_audit(folder, "struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); y = t.tv_nsec", "",
                  SB_AUDIT_RULE_outside, "clock_gettime");
  build_and_audit(folder, "signal(SIGSEGV, SIG_IGN); y = x", "", SB_AUDIT_RULE_outside, "signal");
  build_and_audit(folder, "y = rand()", "", SB_AUDIT_RULE_outside, "rand");
  build_and_audit(folder, "extern char **environ; y = environ != 0", "", SB_AUDIT_RULE_outside, "environ");
  build_and_audit(folder, "extern void *fopen(const char *, const char *); y = fopen(\"wind.txt\", \"r\") != 0", "", SB_AUDIT_RULE_outside, "fopen");
  build_and_audit(folder, "extern float sinf32(float), logf32x(float); y = sinf32(x)", "-lm", SB_AUDIT_RULE_libm, "sinf32");
  build_and_audit(folder, "extern double powf64(double, double); y = powf64(x, x)", "-lm", SB_AUDIT_RULE_libm, "powf64");
  build_and_audit(folder, "extern int fesetround(int); y = fesetround(0)", "-lm", SB_AUDIT_RULE_control_word, "fesetround");
#if defined(__x86_64__)
  build_and_audit(folder, "y = __builtin_ia32_rdtsc()", "", SB_AUDIT_RULE_outside, "rdtsc, in work");
#endif
  snprintf(command, sizeof command, "rm -r %s", folder);
  assert_int_equal(system(command), 0);
}

/* A library under a name of the C library's is judged when the file brings it; one that calls itself otherwise would be
 * loaded from the file, not from the copy that was judged. */
static void brought_libraries_are_judged(void **state)
{
  (void)state;
  char folder[] = "/tmp/samebit_audit_XXXXXX", command[512];
  assert_non_null(mkdtemp(folder));
  static const struct {
    const char *file, *name;
    sb_audit_rule rule;
    const char *text;
  } list[] = {{"librt.so.9", "librt.so.9", SB_AUDIT_RULE_libm, "librt.so.9 calls sinf"},
              {"libown.so", "libown.so", SB_AUDIT_RULE_libm, "libown.so calls sinf"},
              {"libbare.so", "", SB_AUDIT_RULE_library, "link that library with -Wl,-soname,libbare.so"}};
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    snprintf(
        command, sizeof command,
        "printf '#include <math.h>\nfloat brought(float x) { return sinf(x); }\n' > %s/b.c && cc -O1 -shared -fPIC "
        "-Wl,-z,relro,-z,now %s%s %s/b.c -o %s/%s -lm",
        folder, *list[i].name ? "-Wl,-soname," : "", list[i].name, folder, folder, list[i].file);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "-l:%s -Wl,-rpath,%s", list[i].file, i ? "'$ORIGIN'" : folder);
    build_and_audit(folder, "y = brought(x)", command, list[i].rule, list[i].text);
  }
  snprintf(command, sizeof command, "rm -r %s", folder);
  assert_int_equal(system(command), 0);
}

/* Damaged files must not bring the audit down: bytes are changed at random places, always the same ones. */
static void damaged_files_are_survived(void **state)
{
  (void)state;
  sb_sealed_file good;
  assert_int_equal(sb_sealed_file_open(SAMEBIT_FIXTURES "/no_golden.so", &good, NULL), SB_OK);
  unsigned char *bytes = malloc(good.size);
  assert_non_null(bytes);
  uint64_t seed = 1;
  for (int round = 0; round < 300; round++) {
    memcpy(bytes, good.bytes, good.size);
    for (int k = 0; k < 12; k++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      size_t at = (seed >> 33) % (k < 6 ? 512 : good.size); /* headers, and anywhere */
      bytes[k < 6 && round & 1 ? good.size - 1 - at : at + 4] = (unsigned char)(seed >> 20);
    }
    sb_sealed_file file = {.path = (char *)"/tmp/damaged.so", .fd = -1, .bytes = bytes, .size = good.size};
    sb_audit audit;
    sb_audit_file(&file, &audit);
    sb_audit_code(&file, &audit);
    sb_audit_clear(&audit);
  }
  free(bytes);
  sb_sealed_file_close(&good);
}

static int count_code(const sb_diagnostics *diag, sb_code code, const char *text)
{
  int n = 0;
  for (size_t i = 0; i < diag->count; i++) n += diag->items[i].code == code && strstr(diag->items[i].message, text);
  return n;
}

static void refused(const char *path, const char *text)
{
  sb_sealed_file file;
  sb_diagnostics diag = {0};
  assert_int_not_equal(sb_sealed_file_open(path, &file, &diag), SB_OK);
  if (count_code(&diag, SB_CODE_PLUGIN_FILE, text) != 1) fail_msg("%s: \"%s\"", path, diag.count ? diag.items[0].message : "");
  sb_diagnostics_clear(&diag);
}

static void files_in_bad_places_are_refused(void **state)
{
  (void)state;
  char folder[] = "/tmp/samebit_audit_XXXXXX", path[64], command[256];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/plugin.so", folder);
  snprintf(command, sizeof command, "cp '%s/no_golden.so' %s", SAMEBIT_FIXTURES, path);
  assert_int_equal(system(command), 0);
  sb_sealed_file file;
  assert_int_equal(sb_sealed_file_open(path, &file, NULL), SB_OK);
  /* the copy is sealed: nobody can write it, and a changed file is another hash */
  uint64_t before = file.hash;
  assert_int_equal(write(file.fd, "x", 1), -1);
  assert_int_equal(ftruncate(file.fd, 1), -1);
  assert_true(mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, file.fd, 0) == MAP_FAILED);
  sb_sealed_file_close(&file);
  int fd = open(path, O_WRONLY | O_APPEND);
  assert_int_equal(write(fd, "x", 1), 1);
  close(fd);
  assert_int_equal(sb_sealed_file_open(path, &file, NULL), SB_OK);
  assert_true(file.hash != before);
  sb_sealed_file_close(&file);
  chmod(path, 0666);
  refused(path, "everybody may write this plugin;");
  chmod(path, 0644);
  chmod(folder, 0777);
  refused(path, "everybody may write this plugin directory");
  chmod(folder, 01777);
  refused(path, "everybody may write this plugin directory");
  chmod(folder, 0700);
  unlink(path);
  assert_int_equal(mkfifo(path, 0600), 0);
  refused(path, "regular file"); /* and does not wait for a writer */
  unlink(path);
  refused(path, "cannot find");
  refused(folder, "regular file");
  rmdir(folder);
}

static void write_rights_above_the_folder_are_found(void **state)
{
  (void)state;
  char folder[] = "/tmp/samebit_audit_XXXXXX", path[80], command[256];
  sb_audit audit;
  const sb_finding *worst;
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/a/b/plugin.so", folder);
  snprintf(command, sizeof command, "mkdir -p -m 755 %s/a/b && cp '%s/no_golden.so' %s", folder, SAMEBIT_FIXTURES,
           path);
  assert_int_equal(system(command), 0);
  static const struct {
    mode_t mode;
    bool found;
  } list[] = {{0755, false}, {0777, true}, {01777, false}, {0775, false}};
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    assert_int_equal(chmod(folder, list[i].mode), 0);
    audit_path(path, &audit);
    const sb_finding *f = sb_audit_find(&audit, SB_AUDIT_RULE_folder);
    assert_int_equal(f != NULL, list[i].found);
    if (f) assert_non_null(strstr(f->text, folder));
    assert_int_equal(sb_audit_mode(&audit, &worst), list[i].found ? SB_MODE_OFF : SB_MODE_CROSS_PLATFORM);
    sb_audit_clear(&audit);
  }
  snprintf(command, sizeof command, "rm -r %s", folder);
  assert_int_equal(system(command), 0);
}

/* A symbolic link is followed once, before the file is opened: what it points to later does not matter. */
static void links_are_followed_once(void **state)
{
  (void)state;
  char folder[] = "/tmp/samebit_audit_XXXXXX", link[64];
  assert_non_null(mkdtemp(folder));
  snprintf(link, sizeof link, "%s/plugin.so", folder);
  assert_int_equal(symlink(SAMEBIT_FIXTURES "/no_golden.so", link), 0);
  sb_catalogue catalogue;
  sb_module *module, *again;
  assert_int_equal(sb_catalogue_init(&catalogue, NULL, 0, NULL), SB_OK);
  assert_int_equal(sb_catalogue_load_file(&catalogue, link, &module, NULL), SB_OK);
  assert_null(strstr(module->path, "plugin.so"));
  uint64_t hash = module->file_hash;
  unlink(link);
  assert_int_equal(symlink(SAMEBIT_FIXTURES "/fails.so", link), 0);
  assert_string_equal(module->solvers->solvers[0]->desc->id, "no_golden");
  assert_int_equal(sb_catalogue_load_file(&catalogue, link, &again, NULL), SB_OK);
  assert_string_equal(again->solvers->solvers[0]->desc->id, "fails");
  assert_true(again->file_hash != hash);
  /* a link into a folder that everybody may write is judged by where it leads */
  char open_folder[] = "/tmp/samebit_audit_XXXXXX", path[64], command[256];
  assert_non_null(mkdtemp(open_folder));
  chmod(open_folder, 0777);
  snprintf(path, sizeof path, "%s/x.so", open_folder);
  snprintf(command, sizeof command, "cp '%s/local_one.so' %s", SAMEBIT_FIXTURES, path);
  assert_int_equal(system(command), 0);
  unlink(link);
  assert_int_equal(symlink(path, link), 0);
  refused(link, "everybody may write this plugin directory");
  /* so is a link that lies in one: the last part of the path, or a folder on the way; with the sticky bit it is its owner's */
  char inside[80], through[96];
  snprintf(inside, sizeof inside, "%s/link", open_folder);
  assert_int_equal(symlink(SAMEBIT_FIXTURES, inside), 0);
  snprintf(through, sizeof through, "%s/no_golden.so", inside);
  refused(through, "everybody may replace this symbolic link");
  unlink(link);
  assert_int_equal(symlink(through, link), 0);
  refused(link, "everybody may replace this symbolic link");
  sb_diagnostics diag = {0};
  assert_int_equal(sb_judge_plugin_dir(inside, &diag), SB_E_CONFIG);
  sb_diagnostics_clear(&diag);
  chmod(open_folder, 01777);
  assert_int_equal(sb_judge_plugin_dir(inside, &diag), SB_OK);
  chmod(open_folder, 0777);
  unlink(inside);
  sb_catalogue_free(&catalogue);
  unlink(link);
  unlink(path);
  rmdir(open_folder);
  rmdir(folder);
}

/* Between the moment when links are resolved and that when the file is opened, somebody puts a link in the place of a
 * part of the path. */
char *__real_realpath(const char *path, char *resolved);
char *__wrap_realpath(const char *path, char *resolved);
static const char *swapped, *swapped_for; /* a part of the path, and what the link leads to; NULL for nothing */

char *__wrap_realpath(const char *path, char *resolved)
{
  char *result = __real_realpath(path, resolved), aside[128];
  if (!swapped) return result;
  snprintf(aside, sizeof aside, "%s.aside", swapped);
  assert_int_equal(rename(swapped, aside), 0);
  assert_int_equal(symlink(swapped_for, swapped), 0);
  return result;
}

static void links_that_come_in_between_are_refused(void **state)
{
  (void)state;
  char good[] = "/tmp/samebit_audit_XXXXXX", evil[] = "/tmp/samebit_audit_XXXXXX", path[80], part[3][80], other[3][80],
       command[400];
  assert_non_null(mkdtemp(good));
  assert_non_null(mkdtemp(evil));
  snprintf(path, sizeof path, "%s/a/b/x.so", good);
  snprintf(command, sizeof command, "mkdir -p %s/a/b %s/a/b && cp '%s/no_golden.so' %s && cp '%s/fails.so' %s/a/b/x.so",
           good, evil, SAMEBIT_FIXTURES, path, SAMEBIT_FIXTURES, evil);
  assert_int_equal(system(command), 0);
  static const char *const parts[] = {"a/b/x.so", "a/b", "a"}, *const texts[] = {"the plugin became a symbolic link",
                                                                                 "a directory on the way",
                                                                                 "a directory on the way"};
  for (int i = 0; i < 3; i++) {
    char aside[100];
    snprintf(part[i], sizeof part[i], "%s/%s", good, parts[i]);
    snprintf(other[i], sizeof other[i], "%s/%s", evil, parts[i]);
    swapped = part[i], swapped_for = other[i];
    refused(path, texts[i]);
    swapped = NULL;
    snprintf(aside, sizeof aside, "%s.aside", part[i]);
    assert_int_equal(unlink(part[i]), 0);
    assert_int_equal(rename(aside, part[i]), 0);
    sb_sealed_file file;
    assert_int_equal(sb_sealed_file_open(path, &file, NULL), SB_OK);
    sb_sealed_file_close(&file);
  }
  snprintf(command, sizeof command, "rm -r %s %s", good, evil);
  assert_int_equal(system(command), 0);
}

/* A link that is turned to another module is refused by the hash that was pinned. */
static void links_to_another_module_do_not_fit_the_pin(void **state)
{
  (void)state;
  char folder[] = "/tmp/samebit_audit_XXXXXX", link[64];
  sb_catalogue catalogue;
  sb_module *module;
  sb_diagnostics diag = {0};
  assert_non_null(mkdtemp(folder));
  snprintf(link, sizeof link, "%s/x.so", folder);
  assert_int_equal(symlink(SAMEBIT_FIXTURES "/no_golden.so", link), 0);
  assert_int_equal(sb_catalogue_init(&catalogue, NULL, 0, NULL), SB_OK);
  assert_int_equal(sb_catalogue_load_file(&catalogue, link, &module, NULL), SB_OK);
  uint64_t hash = module->file_hash;
  assert_int_equal(unlink(link), 0);
  assert_int_equal(symlink(SAMEBIT_FIXTURES "/fails.so", link), 0);
  assert_int_not_equal(sb_catalogue_load_pinned(&catalogue, link, &hash, &module, &diag), SB_OK);
  assert_int_equal(count_code(&diag, SB_CODE_PLUGIN_HASH, "module_hash asks for"), 1);
  sb_diagnostics_clear(&diag);
  sb_catalogue_free(&catalogue);
  unlink(link);
  rmdir(folder);
}

static void pinned_hashes_are_held(void **state)
{
  (void)state;
  sb_catalogue catalogue;
  sb_diagnostics diag = {0};
  sb_module *module;
  uint64_t hash = 0x1234;
  assert_int_equal(sb_catalogue_init(&catalogue, NULL, 0, NULL), SB_OK);
  assert_int_not_equal(sb_catalogue_load_pinned(&catalogue, SAMEBIT_FIXTURES "/no_golden.so", &hash, &module, &diag), SB_OK);
  assert_int_equal(count_code(&diag, SB_CODE_PLUGIN_HASH, "0000000000001234"), 1);
  assert_int_equal(sb_catalogue_load_file(&catalogue, SAMEBIT_FIXTURES "/no_golden.so", &module, &diag), SB_OK);
  hash = module->file_hash;
  assert_int_equal(sb_catalogue_load_pinned(&catalogue, SAMEBIT_FIXTURES "/no_golden.so", &hash, &module, &diag), SB_OK);
  hash++;
  assert_int_not_equal(sb_catalogue_load_pinned(&catalogue, SAMEBIT_FIXTURES "/no_golden.so", &hash, &module, &diag), SB_OK);
  sb_diagnostics_clear(&diag);
  sb_catalogue_free(&catalogue);
}

/* A library beside the plugin is judged, loaded from its sealed copy, and found by the loader. */
static void libraries_are_loaded_sealed(void **state)
{
  (void)state;
  sb_catalogue catalogue;
  sb_module *module;
  sb_diagnostics diag = {0};
  assert_int_equal(sb_catalogue_init(&catalogue, NULL, 0, NULL), SB_OK);
  if (sb_catalogue_load_file(&catalogue, SAMEBIT_FIXTURES "/good_library.so", &module, &diag)) fail_msg("%s", diag.items[0].message);
  assert_int_equal(module->audit.library_count, 1);
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[1024];
  int sealed = 0, file = 0;
  while (fgets(line, sizeof line, maps)) {
    sealed += strstr(line, "memfd:libfixture_library.so") != NULL;
    file += strstr(line, "fixtures/lib/libfixture_library.so") != NULL;
  }
  fclose(maps);
  assert_true(sealed > 0);
  assert_int_equal(file, 0);
  assert_int_not_equal(sb_catalogue_load_file(&catalogue, SAMEBIT_FIXTURES "/lost_library.so", &module, &diag), SB_OK);
  assert_int_equal(count_code(&diag, SB_CODE_PLUGIN_AUDIT, "rpath"), 1);
  sb_diagnostics_clear(&diag);
  sb_catalogue_free(&catalogue);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_rule_finds_its_fixture),
                                     cmocka_unit_test(good_plugins_have_no_findings),
                                     cmocka_unit_test(other_architectures_are_read), cmocka_unit_test(code_that_cannot_be_read_is_found),
                                     cmocka_unit_test(files_of_other_machines_are_refused),
                                     cmocka_unit_test(what_a_solver_may_not_ask_for_is_found),
                                     cmocka_unit_test(brought_libraries_are_judged),
                                     cmocka_unit_test(damaged_files_are_survived),
                                     cmocka_unit_test(files_in_bad_places_are_refused),
                                     cmocka_unit_test(links_are_followed_once),
                                     cmocka_unit_test(pinned_hashes_are_held),
                                     cmocka_unit_test(libraries_are_loaded_sealed),
                                     cmocka_unit_test(write_rights_above_the_folder_are_found),
                                     cmocka_unit_test(links_that_come_in_between_are_refused),
                                     cmocka_unit_test(links_to_another_module_do_not_fit_the_pin)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
