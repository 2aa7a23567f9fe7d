/* Command for the build: samebit_shader_build [-I folder]... [-D name[=value]]... --glslc program [--spirv-opt program]
 * IN.comp -o OUT.spv */
#include "shader_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT 64

static int usage(const char *why)
{
  fprintf(stderr,
          "samebit_shader_build: %s\n"
          "usage: samebit_shader_build [-I folder]... [-D name[=value]]... --glslc program [--spirv-opt program] "
          "IN.comp -o OUT.spv\n"
          "Example: samebit_shader_build -I plugin_api/include --glslc /usr/bin/glslc step.comp -o step.spv\n",
          why);
  return 2;
}

static int write_words(const char *path, const sb_spirv *module, sb_diagnostics *diag)
{
  FILE *file = fopen(path, "wb");
  int ok = file && fwrite(module->words, sizeof *module->words, module->count, file) == module->count;
  if (file && fclose(file)) ok = 0;
  if (!ok) sb_report(diag, SB_ERROR, SB_CODE_FILE_SHADER, path, "Expected to write %zu words here.", module->count);
  return ok;
}

int main(int argc, char **argv)
{
  const char *dirs[LIMIT], *in = NULL, *out = NULL;
  sb_shader_macro macros[LIMIT];
  sb_shader_options options = {.include_dirs = dirs, .macros = macros};
  for (int i = 1; i < argc; i++) {
    int more = i + 1 < argc;
    if (!strcmp(argv[i], "-I") && more && options.include_dir_count < LIMIT) {
      dirs[options.include_dir_count++] = argv[++i];
    } else if (!strcmp(argv[i], "-D") && more && options.macro_count < LIMIT) {
      char *value = strchr(argv[++i], '=');
      if (value) *value++ = 0;
      macros[options.macro_count++] = (sb_shader_macro){argv[i], value ? value : "1"};
    } else if (!strcmp(argv[i], "--spirv-opt") && more) {
      options.spirv_opt = argv[++i];
    } else if (!strcmp(argv[i], "--glslc") && more) {
      options.glslc = argv[++i];
    } else if (!strcmp(argv[i], "-o") && more) {
      out = argv[++i];
    } else if (argv[i][0] == '-' || in) {
      return usage(argv[i]);
    } else {
      in = argv[i];
    }
  }
  if (!in || !out || !options.glslc) return usage("an input file, -o with an output file, and --glslc are needed");
  sb_diagnostics diag = {0};
  sb_spirv module = {0};
  char *text = NULL;
  size_t length = 0;
  if (sb_shader_read_file(in, &text, &length, &diag) == SB_OK &&
      sb_shader_build(text, length, in, &options, &module, &diag) == SB_OK)
    write_words(out, &module, &diag);
  for (size_t i = 0; i < diag.count; i++)
    fprintf(stderr, "%s: %s: %s\n", diag.items[i].where, sb_code_name(diag.items[i].code), diag.items[i].message);
  int failed = diag.error_count != 0;
  free(text);
  free(module.words);
  sb_diagnostics_clear(&diag);
  return failed;
}
