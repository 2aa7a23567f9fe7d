/* ELF header, segments, and the compiler switches that some builds record. */
#define _POSIX_C_SOURCE 200809L
#include "audit_parts.h"

#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#define HOST_MACHINE EM_X86_64
#elif defined(__i386__)
#define HOST_MACHINE EM_386
#elif defined(__aarch64__)
#define HOST_MACHINE EM_AARCH64
#elif defined(__riscv)
#define HOST_MACHINE EM_RISCV
#elif defined(__s390x__)
#define HOST_MACHINE EM_S390
#elif defined(__arm__)
#define HOST_MACHINE EM_ARM
#else
#define HOST_MACHINE EM_NONE
#endif

static const char *machine_name(unsigned machine)
{
  switch (machine) {
  case EM_X86_64: return "x86-64";
  case EM_386: return "i386";
  case EM_AARCH64: return "AArch64";
  case EM_RISCV: return "RISC-V";
  case EM_S390: return "s390x";
  case EM_ARM: return "ARM";
  default: return "another architecture";
  }
}

static bool is_bound_now(Elf *elf)
{
  for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
    GElf_Shdr header;
    Elf_Data *data;
    if (!gelf_getshdr(s, &header) || header.sh_type != SHT_DYNAMIC || !header.sh_entsize || !(data = elf_getdata(s, NULL))) continue;
    for (size_t i = 0; i < header.sh_size / header.sh_entsize; i++) {
      GElf_Dyn dyn;
      if (!gelf_getdyn(data, (int)i, &dyn)) break;
      if (dyn.d_tag == DT_BIND_NOW || (dyn.d_tag == DT_FLAGS && dyn.d_un.d_val & DF_BIND_NOW) ||
          (dyn.d_tag == DT_FLAGS_1 && dyn.d_un.d_val & DF_1_NOW))
        return true;
    }
  }
  return false;
}

/* Machine code is found by sections, and loaded by segments. */
static bool has_code_section(Elf *elf, const GElf_Phdr *p)
{
  for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
    GElf_Shdr header;
    if (gelf_getshdr(s, &header) && header.sh_type == SHT_PROGBITS && header.sh_flags & SHF_EXECINSTR &&
        header.sh_addr >= p->p_vaddr && header.sh_addr - p->p_vaddr < p->p_memsz)
      return true;
  }
  return false;
}

bool sb_audit_layout(Elf *elf, const char *file, sb_audit *audit)
{
  GElf_Ehdr header;
  size_t segments;
  if (elf_kind(elf) != ELF_K_ELF) {
    sb_audit_add(audit, SB_AUDIT_RULE_elf, "this is no shared object: it does not begin as an ELF file");
    return false;
  }
  if (!gelf_getehdr(elf, &header) || elf_getphdrnum(elf, &segments)) {
    sb_audit_add(audit, SB_AUDIT_RULE_elf, "%s is damaged: its ELF header cannot be read; build it again", file);
    return false;
  }
  if (header.e_type != ET_DYN) {
    sb_audit_add(audit, SB_AUDIT_RULE_elf, "%s is no shared object; link it with -shared", file);
    return false;
  }
  if (HOST_MACHINE != EM_NONE && header.e_machine != HOST_MACHINE) {
    sb_audit_add(audit, SB_AUDIT_RULE_elf, "%s was built for %s, this host for %s; build it for this machine", file,
                 machine_name(header.e_machine), machine_name(HOST_MACHINE));
    return false;
  }
  bool relro = false;
  for (size_t i = 0; i < segments; i++) {
    GElf_Phdr p;
    if (!gelf_getphdr(elf, (int)i, &p)) continue;
    relro = relro || p.p_type == PT_GNU_RELRO;
    if (p.p_type == PT_GNU_STACK && p.p_flags & PF_X)
      sb_audit_add(audit, SB_AUDIT_RULE_stack, "%s asks for an executable stack; link it with -z noexecstack", file);
    if (p.p_type == PT_LOAD && p.p_flags & PF_X && !has_code_section(elf, &p))
      sb_audit_add(
          audit, SB_AUDIT_RULE_elf,
          "%s has machine code that no section names, so it cannot be judged; leave its section headers in place",
          file);
    if (p.p_type == PT_LOAD && (p.p_flags & (PF_W | PF_X)) == (PF_W | PF_X))
      sb_audit_add(audit, SB_AUDIT_RULE_writable_code, "%s has memory that is writable and executable; link it without -z execstack, -N or -Wl,--omagic", file);
  }
  if (!relro || !is_bound_now(elf)) sb_audit_add(audit, SB_AUDIT_RULE_relro, "%s is linked without -z relro -z now", file);
  return true;
}

/* ---- recorded switches ---- */

static bool has_switch(const char *text, const char *option)
{
  size_t n = strlen(option);
  for (const char *at = strstr(text, option); at; at = strstr(at + 1, option))
    if ((at == text || at[-1] == ' ') && (at[n] == 0 || at[n] == ' ')) return true;
  return false;
}

static void judge_switches(const char *text, const char *file, const char *section, sb_audit *audit)
{
  static const char *const fast[] = {"-ffast-math", "-Ofast", "-funsafe-math-optimizations", "-ffinite-math-only", "-fassociative-math",
                                     "-freciprocal-math"};
  static const char *const fused[] = {"-ffp-contract=fast", "-mfma", "-mfma4"};
  for (size_t i = 0; i < sizeof fast / sizeof fast[0]; i++)
    if (has_switch(text, fast[i]))
      sb_audit_add(audit, SB_AUDIT_RULE_fast_math, "%s was compiled with %s (%s); build it without", file, fast[i], section);
  for (size_t i = 0; i < sizeof fused / sizeof fused[0]; i++)
    if (has_switch(text, fused[i]))
      sb_audit_add(audit, SB_AUDIT_RULE_switches, "%s was compiled with %s (%s); build it with -ffp-contract=off and without -mfma", file,
                   fused[i], section);
}

/* A section of NUL-ended strings: each is looked at. In debug strings only those by which a compiler names itself count. */
static void judge_strings(const char *bytes, size_t size, bool producer, const char *file, const char *section, sb_audit *audit)
{
  for (size_t at = 0; at < size;) {
    size_t n = strnlen(bytes + at, size - at);
    if (at + n == size) break; /* not ended */
    const char *text = bytes + at;
    if (!producer || !strncmp(text, "GNU C", 5) || !strncmp(text, "clang ", 6) || strstr(text, " clang version "))
      judge_switches(text, file, section, audit);
    at += n + 1;
  }
}

void sb_audit_switches(Elf *elf, const char *file, sb_audit *audit)
{
  size_t names;
  if (elf_getshdrstrndx(elf, &names)) return;
  for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
    GElf_Shdr header;
    if (!gelf_getshdr(s, &header)) continue;
    const char *name = elf_strptr(elf, names, header.sh_name);
    bool line = name && !strcmp(name, ".GCC.command.line");
    bool debug = name && (!strcmp(name, ".debug_str") || !strcmp(name, ".debug_line_str"));
    if (!line && !debug) continue;
    if (header.sh_flags & SHF_COMPRESSED && elf_compress(s, 0, 0) < 0) continue;
    Elf_Data *data = elf_getdata(s, NULL);
    if (data && data->d_buf) judge_strings(data->d_buf, data->d_size, debug, file, name, audit);
  }
}
