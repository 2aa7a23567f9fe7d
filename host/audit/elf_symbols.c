/* Symbols of an ELF file: what it exports and imports, what runs while it is loaded. */
#include "audit_parts.h"

#include <stdlib.h>
#include <string.h>

#include "samebit/abi.h"

/* ---- imports ---- */

/* Functions of libm whose last bits differ between C libraries. An f or l behind the name is another precision of the same, as are f32, f64x and so on. */
static const char *const transcendentals[] = {
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp",
    "exp2", "exp10", "expm1", "log", "log2", "log10", "log1p", "pow", "cbrt", "hypot", "erf", "erfc", "tgamma",
    "lgamma", "sincos", "j0", "j1", "jn", "y0", "y1", "yn", "fma", "gamma", "pow10", "scalb", "sinpi", "cospi", "tanpi",
    "asinpi", "acospi", "atanpi", "atan2pi", "exp2m1", "exp10m1", "log2p1", "log10p1", "logp1", "powr", "pown", "rootn",
    "compoundn", "rsqrt",
    /* of complex numbers */
    "csin", "ccos", "ctan", "casin", "cacos", "catan", "csinh", "ccosh", "ctanh", "casinh", "cacosh", "catanh", "cexp",
    "clog", "clog10", "cpow", "csqrt", "cabs", "carg"};

/* The length of a name without the suffix of a type of IEC 60559: f16 to f128, f32x to f128x. */
static size_t without_type(const char *name, size_t n)
{
  size_t end = n > 0 && name[n - 1] == 'x' ? n - 1 : n, digits = end;
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') digits--;
  return digits < end && digits > 1 && name[digits - 1] == 'f' ? digits - 1 : n;
}

static bool is_transcendental(const char *symbol)
{
  char name[32];
  if (!strncmp(symbol, "__", 2)) symbol += 2; /* __expf_finite */
  size_t n = strcspn(symbol, "_@");
  if (n == 0 || n >= sizeof name || (symbol[n] == '_' && strncmp(symbol + n, "_finite", 7) && strncmp(symbol + n, "_r", 2))) return false;
  n = without_type(symbol, n);
  memcpy(name, symbol, n);
  name[n] = 0;
  for (int cut = 0; cut < 2; cut++) {
    for (size_t i = 0; i < sizeof transcendentals / sizeof transcendentals[0]; i++)
      if (!strcmp(name, transcendentals[i])) return true;
    if (name[n - 1] != 'f' && name[n - 1] != 'l') return false;
    name[--n] = 0;
    if (n == 0) return false;
  }
  return false;
}

static bool is_in(const char *name, const char *const *list)
{
  for (; *list; list++)
    if (!strcmp(name, *list)) return true;
  return false;
}

/* What finds functions that no table of the file names. */
static const char *const finders[] = {"dlopen", "dlmopen", "dlsym", "dlvsym", NULL};

/* What differs from one run, machine or user to the next, or belongs to the whole process. */
static const char *const outsiders[] = {
    "time",      "clock",       "clock_gettime",   "gettimeofday",      "timespec_get", "ftime",          "times",
    "rand",      "random",      "rand_r",          "drand48",           "lrand48",      "mrand48",        "arc4random",
    "getrandom", "getentropy",  "getenv",          "secure_getenv",     "setlocale",    "uselocale",      "signal",
    "sigaction", "sigprocmask", "pthread_sigmask", "setitimer",         "alarm",        "pthread_create", "thrd_create",
    "fork",      "vfork",       "posix_spawn",     "posix_spawnp",      "execve",       "execv",          "execvp",
    "system",    "popen",       "getpid",          "getppid",           "gettid",       "gethostname",    "uname",
    "sysconf",   "get_nprocs",  "sched_getcpu",    "sched_getaffinity", "getauxval",    "prctl",          "ptrace",
    "syscall",   "srand",       "srandom",         "erand48",           "nrand48",      "jrand48",        "srand48",
    "environ",   "_environ",    "__environ",       "putenv",            "setenv",       "localeconv",     "newlocale",
    "open",      "open64",      "openat",          "openat64",          "creat",        "fopen",          "fopen64",
    "freopen",   "fdopen",      "tmpfile",         "mmap",              "mmap64",       "read",           "pread",
    "pread64",   "readv",       "fread",           "fgets",             "fgetc",        "getc",           "getline",
    "getchar",   "scanf",       "fscanf",          "stat",              "lstat",        "fstat",          "access",
    "readlink",  "opendir",     "getcwd",          "chdir",             "close",        "fclose",         "dup",
    "dup2",      "fcntl",       "socket",          "getuid",            "geteuid",      "dl_iterate_phdr", "_r_debug",
    "dladdr",    "_dl_find_object", "localtime",   "localtime_r",       "mktime",       "ioctl",          "getrusage",
    NULL};

/* What writes the floating-point environment. */
static const char *const environment_writers[] = {"fesetround", "fesetenv", "feupdateenv", "feholdexcept", "fesetmode", "fesetexceptflag",
                                                  "feenableexcept", "fedisableexcept", NULL};

/* ---- constructors ---- */

const char *sb_elf_function_name(Elf *elf, uint64_t address)
{
  for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
    GElf_Shdr header;
    Elf_Data *data;
    if (!gelf_getshdr(s, &header) || header.sh_type != SHT_SYMTAB || !header.sh_entsize || !(data = elf_getdata(s, NULL))) continue;
    for (size_t i = 0; i < header.sh_size / header.sh_entsize; i++) {
      GElf_Sym symbol;
      if (gelf_getsym(data, (int)i, &symbol) && GELF_ST_TYPE(symbol.st_info) == STT_FUNC && (symbol.st_value & ~(uint64_t)1) == (address & ~(uint64_t)1))
        return elf_strptr(elf, header.sh_link, symbol.st_name);
    }
  }
  return NULL;
}

/* What compilers and their runtimes put there themselves. */
static bool is_compilers_own(const char *name)
{
  static const char *const known[] = {"frame_dummy", "register_tm_clones", "__cpu_indicator_init", "init_cpu_features"};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (!strcmp(name, known[i])) return true;
  return !strncmp(name, "_sub_I_", 7) || !strncmp(name, "asan.module_ctor", 16) || !strncmp(name, "tsan.module_ctor", 16);
}

static void note_constructor(Elf *elf, const char *file, uint64_t address, sb_audit *audit)
{
  const char *name = sb_elf_function_name(elf, address);
  if (name && is_compilers_own(name)) return;
  sb_audit_add(audit, SB_AUDIT_RULE_constructor, "%s has a constructor, %s at 0x%llx: code that runs while it is loaded", file,
               name ? name : "without a name", (unsigned long long)address);
}

/* Addresses that the loader writes into a section of pointers: addends of relative relocations, or the words themselves. */
static void list_pointers(Elf *elf, const char *file, const GElf_Shdr *array, Elf_Scn *array_section, sb_audit *audit)
{
  size_t word = gelf_getclass(elf) == ELFCLASS64 ? 8 : 4, seen = 0;
  for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
    GElf_Shdr header;
    Elf_Data *data;
    if (!gelf_getshdr(s, &header) || header.sh_type != SHT_RELA || !header.sh_entsize || !(data = elf_getdata(s, NULL))) continue;
    for (size_t i = 0; i < header.sh_size / header.sh_entsize; i++) {
      GElf_Rela r;
      if (!gelf_getrela(data, (int)i, &r) || r.r_offset < array->sh_addr || r.r_offset >= array->sh_addr + array->sh_size) continue;
      note_constructor(elf, file, (uint64_t)r.r_addend, audit);
      seen++;
    }
  }
  /* REL and RELR relocations: the addend is the word in place. */
  Elf_Data *data = elf_getdata(array_section, NULL);
  if (seen || !data || !data->d_buf) return;
  for (size_t i = 0; i + word <= data->d_size; i += word) {
    uint64_t address = 0;
    uint32_t half = 0;
    if (word == 8)
      memcpy(&address, (const char *)data->d_buf + i, 8);
    else
      memcpy(&half, (const char *)data->d_buf + i, 4), address = half;
    if (address) note_constructor(elf, file, address, audit);
  }
}

static void judge_constructors(Elf *elf, const char *file, sb_audit *audit)
{
  size_t names;
  if (elf_getshdrstrndx(elf, &names)) return;
  for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
    GElf_Shdr header;
    if (!gelf_getshdr(s, &header)) continue;
    const char *name = elf_strptr(elf, names, header.sh_name);
    if (header.sh_type == SHT_INIT_ARRAY || header.sh_type == SHT_PREINIT_ARRAY || (name && !strncmp(name, ".ctors", 6)))
      list_pointers(elf, file, &header, s, audit);
    /* crti.o and crtn.o make a short .init; anything longer was put there. */
    if (name && !strcmp(name, ".init") && header.sh_size > 64)
      sb_audit_add(audit, SB_AUDIT_RULE_constructor, "%s has %llu bytes of its own in .init: code that runs while it is loaded", file,
                   (unsigned long long)header.sh_size);
  }
}

/* ---- exports and imports ---- */

static bool is_linkers_own(const char *name)
{
  static const char *const known[] = {"_init", "_fini", "__bss_start", "_edata", "_end", "__end__", "_bss_end__", "__bss_start__", "__bss_end__", ""};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (!strcmp(name, known[i])) return true;
  return !strncmp(name, "__asan_", 7) || !strncmp(name, "__odr_asan", 10) || !strncmp(name, "__start_", 8) || !strncmp(name, "__stop_", 7);
}

static void judge_symbol(const GElf_Sym *symbol, const char *name, const char *file, bool plugin, sb_audit *audit)
{
  unsigned binding = GELF_ST_BIND(symbol->st_info), type = GELF_ST_TYPE(symbol->st_info);
  if (type == STT_GNU_IFUNC && plugin)
    sb_audit_add(audit, SB_AUDIT_RULE_resolver, "%s chooses %s by the CPU while it is loaded (ifunc, target_clones); choose by sb_bind.lanes instead",
                 file, name);
  if (binding == STB_LOCAL) return;
  if (symbol->st_shndx == SHN_UNDEF) {
    if (is_transcendental(name))
      sb_audit_add(audit, SB_AUDIT_RULE_libm, "%s calls %s of the C library, whose last bits differ between systems; use samebit/maths.h", file, name);
    if (is_in(name, finders))
      sb_audit_add(audit, SB_AUDIT_RULE_late_code,
                   "%s calls %s, so functions that nobody has judged may run in it; link it with what it needs", file,
                   name);
    if (is_in(name, environment_writers))
      sb_audit_add(audit, SB_AUDIT_RULE_control_word, "%s calls %s, which changes the floating-point environment; leave it to the host", file, name);
    if (plugin && is_in(name, outsiders))
      sb_audit_add(
          audit, SB_AUDIT_RULE_outside,
          "%s calls %s, on which no result may depend; take what it needs from the model, from sb_host and from "
          "samebit/random.h",
          file, name);
  } else if (plugin && type != STT_SECTION && type != STT_FILE && strcmp(name, SB_PLUGIN_SYMBOL) && !is_linkers_own(name)) {
    sb_audit_add(audit, SB_AUDIT_RULE_export, "%s exports %s beside %s; compile it with -fvisibility=hidden", file, name, SB_PLUGIN_SYMBOL);
  }
}

void sb_audit_symbols(Elf *elf, const char *file, bool plugin, sb_audit *audit)
{
  bool has_entry = false;
  for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
    GElf_Shdr header;
    Elf_Data *data;
    if (!gelf_getshdr(s, &header) || (header.sh_type != SHT_DYNSYM && header.sh_type != SHT_SYMTAB) || !header.sh_entsize ||
        !(data = elf_getdata(s, NULL)))
      continue;
    for (size_t i = 1; i < header.sh_size / header.sh_entsize; i++) {
      GElf_Sym symbol;
      if (!gelf_getsym(data, (int)i, &symbol)) break;
      const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
      if (!name) continue;
      if (header.sh_type == SHT_DYNSYM || GELF_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC) judge_symbol(&symbol, name, file, plugin, audit);
      has_entry = has_entry || (header.sh_type == SHT_DYNSYM && symbol.st_shndx != SHN_UNDEF && !strcmp(name, SB_PLUGIN_SYMBOL));
    }
  }
  if (plugin && !has_entry)
    sb_audit_add(audit, SB_AUDIT_RULE_entry, "it does not export \"%s\": is it a Samebit plugin?", SB_PLUGIN_SYMBOL);
  judge_constructors(elf, file, audit);
}

/* ---- functions ---- */

static int compare_functions(const void *a, const void *b)
{
  const sb_elf_function *x = a, *y = b;
  return x->address < y->address ? -1 : x->address > y->address;
}

size_t sb_elf_functions(Elf *elf, Elf_Scn *section, sb_elf_function **list)
{
  GElf_Shdr place;
  *list = NULL;
  if (!gelf_getshdr(section, &place)) return 0;
  uint64_t end = place.sh_addr + place.sh_size;
  size_t count = 0, capacity = 0;
  sb_elf_function *known = NULL;
  for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
    GElf_Shdr header;
    Elf_Data *data;
    if (!gelf_getshdr(s, &header) || header.sh_type != SHT_SYMTAB || !header.sh_entsize || !(data = elf_getdata(s, NULL))) continue;
    for (size_t i = 0; i < header.sh_size / header.sh_entsize; i++) {
      GElf_Sym symbol;
      if (!gelf_getsym(data, (int)i, &symbol) || GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_size == 0) continue;
      uint64_t address = symbol.st_value & ~(uint64_t)(gelf_getclass(elf) == ELFCLASS32 ? 1 : 0); /* Thumb marks its functions */
      if (address < place.sh_addr || address >= end || symbol.st_size > end - address) continue;
      if (count == capacity) {
        capacity = capacity ? 2 * capacity : 64;
        sb_elf_function *grown = realloc(known, capacity * sizeof *known);
        if (!grown) break;
        known = grown;
      }
      known[count++] = (sb_elf_function){address, symbol.st_size, elf_strptr(elf, header.sh_link, symbol.st_name)};
    }
  }
  if (count) qsort(known, count, sizeof *known, compare_functions);
  /* Code that no symbol covers is looked at as well. */
  sb_elf_function *all = malloc((2 * count + 1) * sizeof *all);
  size_t n = 0;
  uint64_t at = place.sh_addr;
  for (size_t i = 0; all && i < count; i++) {
    if (known[i].address > at) all[n++] = (sb_elf_function){at, known[i].address - at, NULL};
    if (known[i].address + known[i].size <= at) continue; /* an alias */
    all[n++] = known[i];
    at = known[i].address + known[i].size;
  }
  if (all && at < end) all[n++] = (sb_elf_function){at, end - at, NULL};
  free(known);
  *list = all;
  return n;
}
