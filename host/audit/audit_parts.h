/* Steps of the file audit, each in its own file. */
#ifndef SAMEBIT_HOST_AUDIT_PARTS_H
#define SAMEBIT_HOST_AUDIT_PARTS_H

#include <gelf.h>

#include "audit.h"

/* A function of an ELF file: where its bytes lie. */
typedef struct sb_elf_function {
  uint64_t address, size;
  const char *name; /* NULL for code that no symbol covers */
} sb_elf_function;

/* elf_symbols.c: exports, imports, resolvers, constructors. `plugin`: the file itself, not one of its libraries. */
void sb_audit_symbols(Elf *elf, const char *file, bool plugin, sb_audit *audit);
/* Functions by address, gaps between them included, of one executable section; free() the list. */
size_t sb_elf_functions(Elf *elf, Elf_Scn *section, sb_elf_function **list);
/* Name of the function that begins at an address, or NULL. */
const char *sb_elf_function_name(Elf *elf, uint64_t address);

/* elf_layout.c: header, segments, recorded compiler switches. False when the file is no shared object of this machine. */
bool sb_audit_layout(Elf *elf, const char *file, sb_audit *audit);
void sb_audit_switches(Elf *elf, const char *file, sb_audit *audit);

/* opcode_audit.c; `plugin` as above. */
void sb_audit_opcodes(Elf *elf, const char *file, bool plugin, sb_audit *audit);

/* library_audit.c: finds, judges and keeps the libraries that a file needs beyond the C library, deepest first. */
void sb_audit_libraries(Elf *elf, const char *path, sb_audit *audit);

/* audit.c: the folders on the way to a file. */
void sb_audit_folders(const char *path, sb_audit *audit);

/* audit.c: one file, and the libraries that it needs. */
void sb_audit_one(Elf *elf, const char *path, bool plugin, sb_audit *audit);

#endif
