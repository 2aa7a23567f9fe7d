/* The shader build: GLSL text in, SPIR-V that keeps the number rules out. Knows the programs glslc (of shaderc) and
 * spirv-opt (of SPIRV-Tools) and SPIRV-Tools' validator, not Vulkan.
 *
 * Order: compile without optimisation; comparisons of floats as integer operations; NoContraction on every float
 * operation; execution modes; optimise (if a program for it is given); audit; validate. Optimising earlier would fuse
 * operations before anything could forbid it.
 *
 * Programs and not libraries, because Debian 12's libshaderc.so leaves symbols of a glslang that Debian does not ship
 * to whoever links it, and its SPIRV-Tools has no C interface to the optimiser. A compiler that crashes on hostile text
 * then also costs one diagnostic, not the process. */
#ifndef SAMEBIT_HOST_SHADER_BUILD_H
#define SAMEBIT_HOST_SHADER_BUILD_H

#include "diagnostic.h"
#include "spirv_decorate.h"

typedef struct sb_shader_macro {
  const char *name;
  const char *value;
} sb_shader_macro;

typedef struct sb_shader_options {
  const char *const *include_dirs; /* searched in order, after the folders of the including file and of the source */
  size_t include_dir_count;
  const sb_shader_macro *macros;
  size_t macro_count;
  const char *glslc;     /* path of the glslc program */
  const char *spirv_opt; /* path of the spirv-opt program, or NULL to leave the module unoptimised */
  /* A file for the names of all files that were read, as a rule of make for `depfile_target`; or NULL. The text itself
   * is called <stdin> there. */
  const char *depfile, *depfile_target;
  bool lines; /* keep the source's lines in the module, for findings */
} sb_shader_options;

/* The whole build of a compute shader, audit and validation included. `name` stands in messages; its folder, if it has
 * one, is where #include looks first. On failure at least one diagnostic is added and `out` is untouched. [setup] */
sb_status sb_shader_build(const char *source, size_t length, const char *name, const sb_shader_options *options,
                          sb_spirv *out, sb_diagnostics *diag);

/* The same without audit and validation. */
sb_status sb_shader_translate(const char *source, size_t length, const char *name, const sb_shader_options *options,
                              sb_spirv *out, sb_diagnostics *diag);

/* The steps on their own. */
sb_status sb_shader_compile(const char *source, size_t length, const char *name, const sb_shader_options *options,
                            sb_spirv *out, sb_diagnostics *diag);
sb_status sb_shader_optimise(const char *spirv_opt, const char *name, const sb_spirv *in, sb_spirv *out,
                             sb_diagnostics *diag);
/* Whether the words are SPIR-V that Vulkan 1.2 takes, by SPIRV-Tools: what any module must be before a driver sees it,
 * in every mode. SB_E_FORMAT and SB-SHADER-INVALID if not. */
sb_status sb_shader_validate(const uint32_t *words, size_t count, const char *name, sb_diagnostics *diag);
/* Audit and validation: what a module must pass in a mode above Off. A diagnostic for each finding, up to ten. Any
 * words may come. */
sb_status sb_shader_verify(const uint32_t *words, size_t count, const char *name, sb_diagnostics *diag);

/* A whole file, with a 0 byte after its end; free() it. */
sb_status sb_shader_read_file(const char *path, char **text, size_t *length, sb_diagnostics *diag);

#endif
