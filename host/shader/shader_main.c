/* Command for the build: samebit_shader_build [-I folder]... [-D name[=value]]... --glslc program [--spirv-opt program]
 * [--array name] [--depfile FILE] IN.comp -o OUT. With --array, OUT is a C header with the words; else it is SPIR-V. */
#include "shader_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT 64

static int usage(const char *why)
{
  fprintf(stderr,
          "samebit_shader_build: %s\n"
          "usage: samebit_shader_build [-I folder]... [-D name[=value]]... --glslc program [--spirv-opt program]\n"
          "       [--array name] [--depfile FILE] IN.comp -o OUT\n"
          "Example: samebit_shader_build -I plugin_api/include --glslc /usr/bin/glslc step.comp -o step.spv\n",
          why);
  return 2;
}

static int written(FILE *file, int ok, const char *path, sb_diagnostics *diag)
{
  ok = ok && file && !ferror(file);
  if (file && fclose(file)) ok = 0;
  if (!ok) sb_report(diag, SB_ERROR, SB_CODE_FILE_SHADER, path, "Expected to write this file.");
  return ok;
}

static int write_words(const char *path, const sb_spirv *module, sb_diagnostics *diag)
{
  FILE *file = fopen(path, "wb");
  int ok = file && fwrite(module->words, sizeof *module->words, module->count, file) == module->count;
  return written(file, ok, path, diag);
}

static int write_array(const char *path, const char *array, const char *in, const sb_spirv *module,
                       sb_diagnostics *diag)
{
  const char *slash = strrchr(in, '/');
  FILE *file = fopen(path, "w");
  if (file) {
    fprintf(file, "/* Made from %s by samebit_shader_build. */\n#include <stdint.h>\n\nstatic const uint32_t %s[] = {",
            slash ? slash + 1 : in, array);
    for (size_t i = 0; i < module->count; i++) fprintf(file, "%s0x%08x,", i % 8 ? " " : "\n  ", module->words[i]);
    fprintf(file, "\n};\n");
  }
  return written(file, file != NULL, path, diag);
}

/* The compiler reads our text from its standard input and says so in the rule; put the file's name there. */
static int mend_depfile(const char *path, const char *in, sb_diagnostics *diag)
{
  static const char unnamed[] = "<stdin>";
  char *text;
  size_t length;
  if (sb_shader_read_file(path, &text, &length, diag) != SB_OK) return 0;
  char *at = strstr(text, unnamed);
  FILE *file = at ? fopen(path, "w") : NULL;
  if (file) fprintf(file, "%.*s%s%s", (int)(at - text), text, in, at + sizeof unnamed - 1);
  free(text);
  return at ? written(file, file != NULL, path, diag) : 1;
}

int main(int argc, char **argv)
{
  const char *dirs[LIMIT], *in = NULL, *out = NULL, *array = NULL;
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
    } else if (!strcmp(argv[i], "--array") && more) {
      array = argv[++i];
    } else if (!strcmp(argv[i], "--depfile") && more) {
      options.depfile = argv[++i];
    } else if (!strcmp(argv[i], "-o") && more) {
      out = argv[++i];
    } else if (argv[i][0] == '-' || in) {
      return usage(argv[i]);
    } else {
      in = argv[i];
    }
  }
  if (!in || !out || !options.glslc) return usage("an input file, -o with an output file, and --glslc are needed");
  options.depfile_target = out;
  sb_diagnostics diag = {0};
  sb_spirv module = {0};
  char *text = NULL;
  size_t length = 0;
  if (sb_shader_read_file(in, &text, &length, &diag) == SB_OK &&
      sb_shader_build(text, length, in, &options, &module, &diag) == SB_OK &&
      (!options.depfile || mend_depfile(options.depfile, in, &diag))) {
    if (array)
      write_array(out, array, in, &module, &diag);
    else
      write_words(out, &module, &diag);
  }
  for (size_t i = 0; i < diag.count; i++)
    fprintf(stderr, "%s: %s: %s\n", diag.items[i].where, sb_code_name(diag.items[i].code), diag.items[i].message);
  int failed = diag.error_count != 0;
  free(text);
  free(module.words);
  sb_diagnostics_clear(&diag);
  return failed;
}
