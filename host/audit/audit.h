/* The file audit: what a shared object is, judged before any of its code runs. Reads ELF files of x86-64, i386, AArch64, RISC-V,
 * s390x and ARM. Layer of its own over libelf and capstone. */
#ifndef SAMEBIT_HOST_AUDIT_H
#define SAMEBIT_HOST_AUDIT_H

#include "sealed_file.h"

/* The rules. SB_AUDIT(name, limit, text): limit is the strongest mode left, or REFUSED (the file is not loaded) or
 * NOTE. */
#define SB_AUDIT_RULES(SB_AUDIT)                                                                                       \
  SB_AUDIT(elf, REFUSED, "is a whole ELF shared object of this machine")                                               \
  SB_AUDIT(entry, REFUSED, "exports samebit_plugin")                                                                   \
  SB_AUDIT(export, RUN_TO_RUN,                                                                                         \
           "exports nothing beside samebit_plugin, so that no other library can stand in for its functions")           \
  SB_AUDIT(stack, REFUSED, "does not ask for an executable stack")                                                     \
  SB_AUDIT(writable_code, REFUSED, "has no memory that is both writable and executable")                               \
  SB_AUDIT(relro, NOTE, "is linked with -z relro -z now")                                                              \
  SB_AUDIT(constructor, NOTE, "runs no code of its own while it is loaded")                                            \
  SB_AUDIT(resolver, RUN_TO_RUN, "chooses no function by the CPU while it is loaded (ifunc)")                          \
  SB_AUDIT(libm, RUN_TO_RUN, "calls no transcendental of the C library")                                               \
  SB_AUDIT(late_code, RUN_TO_RUN, "finds no code by name while it runs (dlopen, dlsym), which could be any")           \
  SB_AUDIT(outside, RUN_TO_RUN, "asks for no clock, random number, environment, file, locale, signal, thread or process")\
  SB_AUDIT(fused, RUN_TO_RUN, "holds no fused multiply-add")                                                           \
  SB_AUDIT(estimate, LOCAL, "holds no estimate of a reciprocal or root, which differs between makes of CPU")           \
  SB_AUDIT(long_double, RUN_TO_RUN, "computes nothing in x87 registers on x86-64")                                     \
  SB_AUDIT(control_word, RUN_TO_RUN, "writes no floating-point control register")                                      \
  SB_AUDIT(fast_math, OFF, "was compiled without fast-math, by its recorded switches")                                 \
  SB_AUDIT(switches, NOTE, "was compiled without -mfma and -ffp-contract=fast, by its recorded switches")              \
  SB_AUDIT(library, REFUSED, "needs no library that cannot be found and judged")                                       \
  SB_AUDIT(folder, OFF, "lies below no folder that everybody may write, unless that has the sticky bit")

typedef enum sb_audit_rule {
#define SB_AUDIT_X(name, limit, text) SB_AUDIT_RULE_##name,
  SB_AUDIT_RULES(SB_AUDIT_X)
#undef SB_AUDIT_X
  SB_AUDIT_RULE_COUNT
} sb_audit_rule;

/* Limits: SB_MODE_OFF to SB_MODE_RUN_TO_RUN, or one of these. */
#define SB_AUDIT_NOTE 3u
#define SB_AUDIT_REFUSED 4u

typedef struct sb_finding {
  sb_audit_rule rule;
  char text[240]; /* what was found and where, and what to do */
} sb_finding;

#define SB_MAX_FINDINGS 32
#define SB_MAX_LIBRARIES 32

typedef struct sb_audit {
  sb_finding findings[SB_MAX_FINDINGS]; /* at most one for each rule and file */
  size_t count;
  sb_sealed_file libraries[SB_MAX_LIBRARIES]; /* needed beyond the C library, in the order in which to load them */
  size_t library_count;
  unsigned depth; /* of libraries that need libraries, while it is made */
} sb_audit;

const char *sb_audit_rule_name(sb_audit_rule rule);
const char *sb_audit_rule_text(sb_audit_rule rule);
uint32_t sb_audit_rule_limit(sb_audit_rule rule);

/* Judges a file and the libraries that it needs, but for their machine code. */
void sb_audit_file(const sb_sealed_file *file, sb_audit *audit);
/* Adds what the machine code of the file and its libraries gives; this takes the longest. */
void sb_audit_code(const sb_sealed_file *file, sb_audit *audit);
void sb_audit_clear(sb_audit *audit);
/* The first finding of a rule, or NULL. */
const sb_finding *sb_audit_find(const sb_audit *audit, sb_audit_rule rule);
/* Strongest mode that the findings leave (SB_MODE_*); *worst is the finding behind it, NULL when there is none. */
uint32_t sb_audit_mode(const sb_audit *audit, const sb_finding **worst);

/* For the parts of the audit. Keeps the first finding of a rule in each file. */
void sb_audit_add(sb_audit *audit, sb_audit_rule rule, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
