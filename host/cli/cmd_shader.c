/* shader check: a compute shader against the number rules, as the host judges it at load. */
#define _POSIX_C_SOURCE 200809L
#include "cli.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "install_root.h"
#include "shader_build.h"
#include "spirv_audit.h"

#define FOLDERS_MAX 64
#define FROM_STDIN "<stdin>" /* what the compiler calls the text that it gets from us */

typedef struct shader_file {
  const char *path;
  char *bytes;
  size_t length;
  bool glsl;
} shader_file;

/* The program of that name on the PATH; false when there is none. */
static bool find_program(const char *name, char path[PATH_MAX])
{
  const char *at = getenv("PATH");
  while (at && *at) {
    size_t n = strcspn(at, ":");
    if (n && snprintf(path, PATH_MAX, "%.*s/%s", (int)n, at, name) < PATH_MAX && !access(path, X_OK)) return true;
    at += n + (at[n] == ':');
  }
  return false;
}

/* Folders beside bin: prelude.glsl and the shared headers. */
static void find_own_folders(char shaders[PATH_MAX], char headers[PATH_MAX])
{
  char root[PATH_MAX];
  sb_install_root(root);
  snprintf(shaders, PATH_MAX, "%.4000s/share/samebit/shaders", root);
  snprintf(headers, PATH_MAX, "%.4000s/include", root);
}

static bool ends_with(const char *text, const char *end)
{
  size_t n = strlen(text), m = strlen(end);
  return n >= m && !strcmp(text + n - m, end);
}

/* SPIR-V by its first word, in either byte order, or by its name; GLSL by its name. */
static sb_status read_shader(cli *c, shader_file *file)
{
  uint32_t first = 0;
  sb_status status = sb_shader_read_file(file->path, &file->bytes, &file->length, &c->diag);
  if (status != SB_OK) return status;
  if (file->length >= sizeof first) memcpy(&first, file->bytes, sizeof first);
  if (first == 0x07230203u || first == 0x03022307u || ends_with(file->path, ".spv")) return SB_OK;
  file->glsl = ends_with(file->path, ".comp") || ends_with(file->path, ".glsl");
  if (file->glsl) return SB_OK;
  return sb_report(&c->diag, SB_ERROR, SB_CODE_CLI_USAGE, file->path,
                   "expected SPIR-V (.spv), or the GLSL of a compute shader (.comp, .glsl)");
}

/* The values of an option that may be repeated. */
static const cli_option *repeated(const cli *c, const char *name)
{
  const cli_option *o = c->command->options;
  while (strcmp(o->name, name)) o++;
  return o;
}

static sb_status build_glsl(cli *c, const shader_file *file, sb_spirv *module)
{
  char glslc[PATH_MAX], optimiser[PATH_MAX], shaders[PATH_MAX], headers[PATH_MAX];
  const cli_option *given = repeated(c, "--include"), *defines = repeated(c, "--define");
  const char *dirs[FOLDERS_MAX + 2];
  sb_shader_macro macros[FOLDERS_MAX];
  sb_shader_options options = {.include_dirs = dirs, .macros = macros, .glslc = glslc, .lines = true};
  if (given->count > FOLDERS_MAX || defines->count > FOLDERS_MAX)
    return sb_report(&c->diag, SB_ERROR, SB_CODE_CLI_USAGE, "shader check", "expected at most %d folders and %d macros",
                     FOLDERS_MAX, FOLDERS_MAX);
  if (!find_program("glslc", glslc))
    return sb_report(&c->diag, SB_ERROR, SB_CODE_SHADER_COMPILE, file->path,
                     "GLSL needs the compiler glslc on the PATH (Debian's package glslc); there is none. A .spv file needs no compiler");
  if (!cli_flag(c, "--no-optimise")) {
    if (find_program("spirv-opt", optimiser))
      options.spirv_opt = optimiser;
    else
      sb_report(&c->diag, SB_NOTE, SB_CODE_SHADER_OPTIMISE, file->path, "spirv-opt is not on the PATH: judged without optimisation");
  }
  for (size_t i = 0; i < given->count; i++) dirs[options.include_dir_count++] = given->given[i];
  find_own_folders(shaders, headers);
  dirs[options.include_dir_count++] = shaders;
  dirs[options.include_dir_count++] = headers;
  for (size_t i = 0; i < defines->count; i++) {
    char *value = strchr(defines->given[i], '=');
    if (value) *value = 0; /* argv may be written to */
    macros[options.macro_count++] = (sb_shader_macro){defines->given[i], value ? value + 1 : "1"};
  }
  return sb_shader_translate(file->bytes, file->length, file->path, &options, module, &c->diag);
}

static sb_status take_words(cli *c, const shader_file *file, sb_spirv *module)
{
  module->count = file->length / 4;
  module->words = calloc(module->count + 1, sizeof *module->words);
  if (!module->words) return sb_report(&c->diag, SB_ERROR, SB_CODE_MEMORY, file->path, "no memory was left for the shader");
  memcpy(module->words, file->bytes, module->count * 4);
  return SB_OK;
}

static void report_finding(cli *c, cJSON *list, const char *path, sb_spirv_finding *f)
{
  const char *rule = sb_spirv_rule_name(f->rule);
  if (!strcmp(f->file, FROM_STDIN)) snprintf(f->file, sizeof f->file, "%.100s", path);
  if (!c->json) {
    char place[256];
    sb_spirv_place(f, place, sizeof place);
    printf("%s: %s [%s]\n  to mend it: %s\n", place, f->text, rule, f->advice);
    return;
  }
  cJSON *item = cJSON_CreateObject();
  cJSON_AddStringToObject(item, "rule", rule);
  cJSON_AddStringToObject(item, "text", f->text);
  cJSON_AddStringToObject(item, "advice", f->advice);
  cJSON_AddStringToObject(item, "file", f->file);
  cJSON_AddNumberToObject(item, "line", f->line);
  cJSON_AddStringToObject(item, "function", f->function);
  cJSON_AddNumberToObject(item, "word", (double)f->word);
  cJSON_AddNumberToObject(item, "opcode", f->opcode);
  cJSON_AddNumberToObject(item, "detail", f->detail);
  cJSON_AddItemToArray(list, item);
}

/* What SPIRV-Tools says against a module that the audit has let pass; false when it says nothing. */
static bool report_invalid(cli *c, cJSON *list, const char *path, const sb_spirv *module)
{
  sb_diagnostics diag = {0};
  bool invalid = sb_shader_validate(module->words, module->count, path, &diag) != SB_OK;
  const char *text = diag.count ? diag.items[0].message : "not valid";
  if (invalid && c->json) {
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "rule", "invalid");
    cJSON_AddStringToObject(item, "text", text);
    cJSON_AddStringToObject(item, "advice", sb_code_advice(SB_CODE_SHADER_INVALID));
    cJSON_AddItemToArray(list, item);
  } else if (invalid) {
    printf("%s [invalid]\n  to mend it: %s\n", text, sb_code_advice(SB_CODE_SHADER_INVALID));
  }
  sb_diagnostics_clear(&diag);
  return invalid;
}

static int judge(cli *c, const shader_file *file, const sb_spirv *module)
{
  cJSON *list = NULL;
  if (c->json) {
    cJSON_AddStringToObject(c->data, "file", file->path);
    cJSON_AddStringToObject(c->data, "language", file->glsl ? "glsl" : "spirv");
    cJSON_AddNumberToObject(c->data, "words", (double)module->count);
    list = cJSON_AddArrayToObject(c->data, "findings");
  }
  sb_spirv_findings findings = {0};
  bool clean = sb_spirv_audit(module->words, module->count, &findings), whole = file->glsl || file->length % 4 == 0;
  size_t count = findings.count + findings.left_out;
  if (!whole) {
    sb_spirv_finding ragged = {.rule = SB_SPIRV_DAMAGED, .word = module->count, .text = "the file ends inside a word",
                               .advice = "Build the shader again, or copy it whole."};
    report_finding(c, list, file->path, &ragged);
    clean = false, count++;
  }
  for (size_t i = 0; i < findings.count; i++) {
    report_finding(c, list, file->path, &findings.items[i]);
    whole = whole && findings.items[i].rule != SB_SPIRV_DAMAGED;
  }
  if (whole && report_invalid(c, list, file->path, module)) clean = false, count++;
  bool memory = !findings.out_of_memory;
  sb_spirv_findings_clear(&findings);
  if (!memory) {
    sb_report(&c->diag, SB_ERROR, SB_CODE_MEMORY, file->path, "no memory was left for the findings");
    return CLI_USAGE;
  }
  if (!clean) {
    sb_report(&c->diag, SB_ERROR, SB_CODE_SHADER_RULE, file->path, "%zu finding%s; no mode above Off", count, count == 1 ? "" : "s");
    return CLI_BAD_ANSWER;
  }
  if (!c->json) printf("%s keeps the number rules: %zu words\n", file->path, module->count);
  return CLI_DONE;
}

int cmd_shader_check(cli *c)
{
  shader_file file = {.path = c->words[0]};
  sb_spirv module = {0};
  int code = CLI_USAGE;
  if (read_shader(c, &file) == SB_OK && (file.glsl ? build_glsl(c, &file, &module) : take_words(c, &file, &module)) == SB_OK)
    code = judge(c, &file, &module);
  free(file.bytes);
  free(module.words);
  return code;
}
