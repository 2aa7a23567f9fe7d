/* Machine code: instructions that break the number rules, found by disassembling every executable section from its functions. */
#include "audit_parts.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <capstone/capstone.h>

/* What to look for in one architecture that capstone reads. Each list holds prefixes of mnemonics, ended by NULL. */
typedef struct opcode_table {
  unsigned machine;
  cs_arch arch;
  cs_mode mode;
  const char *const *fused, *const *estimate, *const *control, *const *outside;
} opcode_table;

static const char *const x86_fused[] = {"vfmadd", "vfmsub", "vfnmadd", "vfnmsub", "v4fmadd", "v4fnmadd", "vdpbf16", NULL};
static const char *const x86_estimate[] = {"rcpss", "rcpps", "rsqrtss", "rsqrtps", "vrcp", "vrsqrt", "vexp2", "pfrcp", "pfrsqrt", NULL};
static const char *const x86_control[] = {"ldmxcsr", "vldmxcsr", "fldcw", "fldenv", "frstor", "fninit", "fxrstor", "xrstor", NULL};
/* The clock, random numbers, which CPU this is, and the system itself. */
static const char *const x86_outside[] = {"rdtsc", "rdrand", "rdseed", "rdpid", "cpuid", "xgetbv", "rdfsbase", "rdgsbase", "syscall", "sysenter", NULL};
static const char *const arm_outside[] = {"svc", NULL};
static const char *const s390_outside[] = {"stck", "svc", NULL};
static const char *const arm64_fused[] = {"fmadd", "fmsub", "fnmadd", "fnmsub", "fmla", "fmls", NULL};
static const char *const arm64_estimate[] = {"frecpe", "frecps", "frecpx", "frsqrte", "frsqrts", "urecpe", "ursqrte", NULL};
static const char *const arm_fused[] = {"vfma", "vfms", "vfnma", "vfnms", NULL};
static const char *const arm_estimate[] = {"vrecpe", "vrecps", "vrsqrte", "vrsqrts", NULL};
static const char *const arm_control[] = {"vmsr", NULL};
static const char *const s390_fused[] = {"maeb", "madb", "mseb", "msdb", "maxbr", "wfma", "wfms", "vfma", "vfms", NULL};
static const char *const s390_control[] = {"sfpc", "lfpc", "lfas", "sfasr", "srnm", NULL};
static const char *const nothing[] = {NULL};

static const opcode_table tables[] = {
    {EM_X86_64, CS_ARCH_X86, CS_MODE_64, x86_fused, x86_estimate, x86_control, x86_outside},
    {EM_386, CS_ARCH_X86, CS_MODE_32, x86_fused, x86_estimate, x86_control, x86_outside},
    {EM_AARCH64, CS_ARCH_ARM64, CS_MODE_ARM, arm64_fused, arm64_estimate, nothing, arm_outside},
    {EM_ARM, CS_ARCH_ARM, CS_MODE_ARM, arm_fused, arm_estimate, arm_control, arm_outside},
    {EM_S390, CS_ARCH_SYSZ, CS_MODE_BIG_ENDIAN, s390_fused, nothing, s390_control, s390_outside},
};

static bool begins_with_one(const char *mnemonic, const char *const *prefixes)
{
  for (; *prefixes; prefixes++)
    if (!strncmp(mnemonic, *prefixes, strlen(*prefixes))) return true;
  return false;
}

/* x87 arithmetic and loads; waits, saves and control words do not count. */
static bool is_x87(const char *m)
{
  static const char *const list[] = {"fld", "fild", "fadd", "fiadd", "fmul", "fimul", "fsub", "fisub", "fdiv", "fidiv", "fsqrt", "fsin", "fcos", "fptan", "fpatan", "fyl2x", "f2xm1", NULL};
  return begins_with_one(m, list) && strcmp(m, "fldcw") && strcmp(m, "fldenv");
}

static void judge_instruction(const opcode_table *t, const cs_insn *i, const sb_elf_function *f, const char *file,
                              bool plugin, sb_audit *audit)
{
  sb_audit_rule rule;
  const char *advice;
  const char *what;
  if (begins_with_one(i->mnemonic, t->fused)) {
    rule = SB_AUDIT_RULE_fused, what = "a fused multiply-add", advice = "build it with -ffp-contract=off and without -mfma";
  } else if (begins_with_one(i->mnemonic, t->estimate)) {
    rule = SB_AUDIT_RULE_estimate, what = "an estimate", advice = "divide and take roots with sb_div and sb_sqrt, without -mrecip";
  } else if (begins_with_one(i->mnemonic, t->control) || (!strcmp(i->mnemonic, "msr") && strstr(i->op_str, "fpcr"))) {
    rule = SB_AUDIT_RULE_control_word, what = "a write to the floating-point control register", advice = "leave it to the host";
  } else if (t->machine == EM_X86_64 && is_x87(i->mnemonic)) {
    rule = SB_AUDIT_RULE_long_double, what = "x87 arithmetic", advice = "use no long double";
  } else if (plugin && begins_with_one(i->mnemonic, t->outside)) {
    rule = SB_AUDIT_RULE_outside, what = "a look outside",
    advice = "take what it needs from the model and from samebit/random.h";
  } else if (i->id == 0 && (t->machine == EM_X86_64 || t->machine == EM_386)) { /* elsewhere constants lie between functions' instructions */
    rule = SB_AUDIT_RULE_fused, what = "an instruction that cannot be read",
    advice = "so a fused operation cannot be ruled out: build it without switches for newer processors (-march=native, -mavx512fp16)";
  } else {
    return;
  }
  sb_audit_add(audit, rule, "%s holds %s, %.20s, in %.60s+0x%llx; %s", file, what, i->mnemonic, f->name ? f->name : "code without a name",
               (unsigned long long)(i->address - f->address), advice);
}

/* Capstone 4 knows no RISC-V. Its fused operations are four opcodes (R4 type), its control registers the CSRs 1 to 3. */
static void judge_riscv(const uint8_t *code, size_t size, const sb_elf_function *f, const char *file, sb_audit *audit)
{
  const char *name = f->name ? f->name : "code without a name";
  for (size_t at = 0, length; at + 2 <= size; at += length) {
    length = (code[at] & 3) != 3 ? 2 : 4;
    if (length == 2 || at + 4 > size) continue;
    uint32_t word = (uint32_t)code[at] | (uint32_t)code[at + 1] << 8 | (uint32_t)code[at + 2] << 16 | (uint32_t)code[at + 3] << 24;
    uint32_t opcode = word & 0x7f, csr = word >> 20, kind = word >> 12 & 7, source = word >> 15 & 31;
    if (opcode == 0x43 || opcode == 0x47 || opcode == 0x4b || opcode == 0x4f)
      sb_audit_add(audit, SB_AUDIT_RULE_fused, "%s holds a fused multiply-add, opcode 0x%02x, in %.60s+0x%llx; build it with -ffp-contract=off", file,
                   opcode, name, (unsigned long long)at);
    if (opcode == 0x73 && csr >= 1 && csr <= 3 && (kind == 1 || kind == 5 || (kind && source)))
      sb_audit_add(audit, SB_AUDIT_RULE_control_word,
                   "%s holds a write to the floating-point control register, in %.60s+0x%llx; leave it to the host", file, name,
                   (unsigned long long)at);
  }
}

static void judge_section(csh handle, const opcode_table *t, Elf *elf, Elf_Scn *section, const char *file, bool plugin,
                          sb_audit *audit)
{
  GElf_Shdr header;
  Elf_Data *data = elf_rawdata(section, NULL);
  if (!gelf_getshdr(section, &header) || !data || !data->d_buf) return;
  sb_elf_function *functions;
  size_t count = sb_elf_functions(elf, section, &functions);
  cs_insn *insn = t ? cs_malloc(handle) : NULL;
  for (size_t f = 0; f < count; f++) {
    uint64_t offset = functions[f].address - header.sh_addr, address = functions[f].address;
    if (offset >= data->d_size) continue;
    const uint8_t *code = (const uint8_t *)data->d_buf + offset;
    size_t left = functions[f].size < data->d_size - offset ? functions[f].size : data->d_size - offset;
    if (!t) judge_riscv(code, left, &functions[f], file, audit);
    while (insn && left && cs_disasm_iter(handle, &code, &left, &address, insn))
      judge_instruction(t, insn, &functions[f], file, plugin, audit);
  }
  if (insn) cs_free(insn, 1);
  free(functions);
}

static void read_code(Elf *elf, const char *file, bool plugin, sb_audit *audit)
{
  GElf_Ehdr header;
  const opcode_table *t = NULL;
  if (!gelf_getehdr(elf, &header)) return;
  for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
    if (tables[i].machine == header.e_machine) t = &tables[i];
  csh handle = 0;
  if (header.e_machine != EM_RISCV && (!t || cs_open(t->arch, t->mode, &handle))) {
    sb_audit_add(audit, SB_AUDIT_RULE_fused, "%s: its machine code cannot be read on this architecture, so fused operations cannot be ruled out", file);
    return;
  }
  if (t) cs_option(handle, CS_OPT_SKIPDATA, CS_OPT_ON);
  for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
    GElf_Shdr section;
    if (gelf_getshdr(s, &section) && section.sh_flags & SHF_EXECINSTR && section.sh_type == SHT_PROGBITS)
      judge_section(handle, t, elf, s, file, plugin, audit);
  }
  if (t) cs_close(&handle);
}

/* Capstone sorts and fills tables of its own when it first needs them, so one file at a time is read. */
void sb_audit_opcodes(Elf *elf, const char *file, bool plugin, sb_audit *audit)
{
  static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&reading);
  read_code(elf, file, plugin, audit);
  pthread_mutex_unlock(&reading);
}
