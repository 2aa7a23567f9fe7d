/* GLSL to checked SPIR-V by the glslc program, our rewriters, the spirv-opt program, our audit and SPIRV-Tools'
 * validator. */
#define _POSIX_C_SOURCE 200809L
#include "shader_build.h"

#include "spirv_audit.h"
#include "spirv_compare.h"

#include <spirv-tools/libspirv.h>

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define FINDINGS_SHOWN 10
#define FIXED_ARGUMENTS 7

static sb_status out_of_memory(const char *name, sb_diagnostics *diag)
{
  return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, name, "No memory was left while building the shader.");
}

sb_status sb_shader_read_file(const char *path, char **text, size_t *length, sb_diagnostics *diag)
{
  FILE *file = fopen(path, "rb");
  char *bytes = NULL;
  size_t used = 0, room = 0;
  bool memory = true;
  while (file && memory) {
    if (room - used < 2) {
      char *more = realloc(bytes, room = room ? room * 2 : 8192);
      memory = more != NULL;
      if (!memory) break;
      bytes = more;
    }
    size_t n = fread(bytes + used, 1, room - used - 1, file);
    used += n;
    if (n == 0) break;
  }
  bool failed = !file || ferror(file);
  int reason = errno;
  if (file) fclose(file);
  if (!memory || failed) {
    free(bytes);
    if (!memory) return out_of_memory(path, diag);
    return sb_report(diag, SB_ERROR, SB_CODE_FILE_SHADER, path, "Expected a readable shader file: %s.",
                     strerror(reason));
  }
  bytes[used] = 0;
  *text = bytes;
  *length = used;
  return SB_OK;
}

/* option text[0..length) or option text=value, as one argument. */
static char *join_text(const char *option, const char *text, size_t length, const char *value)
{
  size_t n = strlen(option) + length + (value ? strlen(value) + 1 : 0) + 1;
  char *joined = malloc(n);
  if (joined) snprintf(joined, n, "%s%.*s%s%s", option, (int)length, text, value ? "=" : "", value ? value : "");
  return joined;
}

/* --- programs --- */

typedef struct program_files {
  FILE *in, *out, *errors;
} program_files;

static void close_files(program_files *f)
{
  if (f->in) fclose(f->in);
  if (f->out) fclose(f->out);
  if (f->errors) fclose(f->errors);
}

static bool open_files(program_files *f, const void *bytes, size_t size)
{
  *f = (program_files){tmpfile(), tmpfile(), tmpfile()};
  return f->in && f->out && f->errors && fwrite(bytes, 1, size, f->in) == size && !fflush(f->in) &&
         !fseek(f->in, 0, SEEK_SET);
}

/* Runs arguments[0] with the files as its standard streams and an empty environment; false unless it exits with 0. */
static bool run_program(const char *const *arguments, program_files *f)
{
  char *environment[] = {NULL};
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions)) return false;
  pid_t child;
  int state = 0;
  bool ok = !posix_spawn_file_actions_adddup2(&actions, fileno(f->in), 0) &&
            !posix_spawn_file_actions_adddup2(&actions, fileno(f->out), 1) &&
            !posix_spawn_file_actions_adddup2(&actions, fileno(f->errors), 2) &&
            !posix_spawn(&child, arguments[0], &actions, NULL, (char *const *)arguments, environment);
  if (ok) {
    pid_t waited;
    do waited = waitpid(child, &state, 0);
    while (waited < 0 && errno == EINTR);
    ok = waited == child && WIFEXITED(state) && WEXITSTATUS(state) == 0;
  }
  posix_spawn_file_actions_destroy(&actions);
  return ok;
}

/* What the program wrote as words; false when it is not a whole number of them, or none. */
static bool read_words(FILE *file, sb_spirv *out)
{
  if (fseek(file, 0, SEEK_END)) return false;
  long size = ftell(file);
  if (size <= 0 || size % 4 || fseek(file, 0, SEEK_SET)) return false;
  uint32_t *words = malloc((size_t)size);
  if (!words) return false;
  if (fread(words, 1, (size_t)size, file) != (size_t)size) {
    free(words);
    return false;
  }
  *out = (sb_spirv){words, (size_t)size / sizeof *words};
  return true;
}

static void read_errors(FILE *file, char *text, size_t size)
{
  size_t n = fseek(file, 0, SEEK_SET) ? 0 : fread(text, 1, size - 1, file);
  while (n && text[n - 1] == '\n') n--;
  text[n] = 0;
}

/* --- steps --- */

/* Appends include folders and macros to the fixed arguments; the caller frees them. */
static bool compiler_arguments(const sb_shader_options *options, const char *name, char **list)
{
  const char *slash = strrchr(name, '/');
  size_t n = FIXED_ARGUMENTS;
  char *own_folder = slash ? join_text("-I", name, (size_t)(slash - name), NULL) : NULL;
  if (slash && !own_folder) return false;
  if (own_folder) list[n++] = own_folder;
  for (size_t i = 0; i < options->include_dir_count; i++, n++)
    if (!(list[n] = join_text("-I", options->include_dirs[i], strlen(options->include_dirs[i]), NULL))) return false;
  for (size_t i = 0; i < options->macro_count; i++, n++)
    if (!(list[n] =
              join_text("-D", options->macros[i].name, strlen(options->macros[i].name), options->macros[i].value)))
      return false;
  if (options->lines && !(list[n++] = join_text("", "-g", 2, NULL))) return false;
  if (!options->depfile) return true;
  const char *rule[5] = {"-MD", "-MF", options->depfile, "-MT", options->depfile_target};
  for (size_t i = 0; i < 5; i++, n++)
    if (!(list[n] = join_text("", rule[i], strlen(rule[i]), NULL))) return false;
  return true;
}

sb_status sb_shader_compile(const char *source, size_t length, const char *name, const sb_shader_options *options,
                            sb_spirv *out, sb_diagnostics *diag)
{
  if (!options->glslc)
    return sb_report(diag, SB_ERROR, SB_CODE_SHADER_COMPILE, name, "Expected the path of glslc; none was given.");
  static const char *const fixed[FIXED_ARGUMENTS] = {
      "", "-O0", "--target-env=vulkan1.2", "-fshader-stage=compute", "-o", "-", "-"};
  char **arguments = calloc(FIXED_ARGUMENTS + options->include_dir_count + options->macro_count + 8, sizeof *arguments);
  if (!arguments) return out_of_memory(name, diag);
  memcpy(arguments, fixed, sizeof fixed);
  arguments[0] = (char *)options->glslc;
  program_files files = {0};
  sb_status status = SB_OK;
  if (!compiler_arguments(options, name, arguments)) {
    status = out_of_memory(name, diag);
  } else if (!open_files(&files, source, length) || !run_program((const char *const *)arguments, &files) ||
             !read_words(files.out, out)) {
    char errors[4096] = "";
    if (files.errors) read_errors(files.errors, errors, sizeof errors);
    status = sb_report(diag, SB_ERROR, SB_CODE_SHADER_COMPILE, name,
                       "Expected a GLSL 4.50 compute shader that \"%s\" compiles:\n%s", options->glslc,
                       errors[0] ? errors : "it could not be run, or crashed");
  }
  for (size_t i = FIXED_ARGUMENTS; arguments[i]; i++) free(arguments[i]);
  free(arguments);
  close_files(&files);
  return status;
}

sb_status sb_shader_optimise(const char *spirv_opt, const char *name, const sb_spirv *in, sb_spirv *out,
                             sb_diagnostics *diag)
{
  const char *const arguments[] = {spirv_opt, "-O", "--target-env=vulkan1.2", "-", "-o", "-", NULL};
  program_files files;
  sb_status status = SB_OK;
  if (!open_files(&files, in->words, in->count * sizeof *in->words) || !run_program(arguments, &files) ||
      !read_words(files.out, out)) {
    char errors[1024] = "";
    if (files.errors) read_errors(files.errors, errors, sizeof errors);
    status =
        sb_report(diag, SB_ERROR, SB_CODE_SHADER_OPTIMISE, name, "Expected \"%s\" to return an optimised module: %s",
                  spirv_opt, errors[0] ? errors : "it could not be run, or crashed");
  }
  close_files(&files);
  return status;
}

sb_status sb_shader_validate(const uint32_t *words, size_t count, const char *name, sb_diagnostics *diag)
{
  spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_2);
  if (!context) return out_of_memory(name, diag);
  spv_const_binary_t binary = {words, count};
  spv_diagnostic message = NULL;
  sb_status status = SB_OK;
  if (spvValidate(context, &binary, &message) != SPV_SUCCESS)
    status = sb_report(diag, SB_ERROR, SB_CODE_SHADER_INVALID, name, "Expected valid SPIR-V for Vulkan 1.2: %s",
                       message && message->error ? message->error : "the validator gave no reason");
  spvDiagnosticDestroy(message);
  spvContextDestroy(context);
  return status;
}

sb_status sb_shader_verify(const uint32_t *words, size_t count, const char *name, sb_diagnostics *diag)
{
  sb_spirv_findings findings = {0};
  sb_status status = SB_OK;
  if (!sb_spirv_audit(words, count, &findings)) {
    if (findings.out_of_memory) status = out_of_memory(name, diag);
    for (size_t i = 0; i < findings.count && i < FINDINGS_SHOWN; i++) {
      const sb_spirv_finding *f = &findings.items[i];
      char place[256];
      sb_spirv_place(f, place, sizeof place);
      status = sb_report(diag, SB_ERROR, SB_CODE_SHADER_RULE, name, "%s: %s (%s). %s", place, f->text,
                         sb_spirv_rule_name(f->rule), f->advice);
    }
    if (findings.count > FINDINGS_SHOWN)
      sb_report(diag, SB_NOTE, SB_CODE_SHADER_RULE, name, "%zu more findings; `samebit shader check` lists all.",
                findings.count - FINDINGS_SHOWN + findings.left_out);
  }
  sb_spirv_findings_clear(&findings);
  return status == SB_OK ? sb_shader_validate(words, count, name, diag) : status;
}

/* What the path writes into a module. The planted faults leave a part out; tests/shader/CMakeLists.txt builds them. */
#if defined(SAMEBIT_MUTANT_SHADER_UNDECORATED)
#define PARTS_WRITTEN SB_SPIRV_SET_MODES
#elif defined(SAMEBIT_MUTANT_SHADER_MODELESS)
#define PARTS_WRITTEN SB_SPIRV_DECORATE
#else
#define PARTS_WRITTEN (SB_SPIRV_DECORATE | SB_SPIRV_SET_MODES)
#endif

/* Puts the outcome of a step in the module's place. */
static sb_status next_module(sb_spirv *module, sb_status status, sb_spirv next, const char *name, sb_diagnostics *diag)
{
  if (status == SB_E_MEMORY) return out_of_memory(name, diag);
  if (status != SB_OK)
    return sb_report(diag, SB_ERROR, SB_CODE_SHADER_INVALID, name,
                     "The compiler returned a module that cannot be read.");
  free(module->words);
  *module = next;
  return SB_OK;
}

static sb_status optimised(sb_spirv *module, const char *spirv_opt, const char *name, sb_diagnostics *diag)
{
  sb_spirv next = {0};
  if (!spirv_opt) return SB_OK;
  sb_status status = sb_shader_optimise(spirv_opt, name, module, &next, diag);
  return status == SB_OK ? next_module(module, status, next, name, diag) : status;
}

sb_status sb_shader_translate(const char *source, size_t length, const char *name, const sb_shader_options *options,
                              sb_spirv *out, sb_diagnostics *diag)
{
  sb_spirv module = {0}, next = {0};
  sb_status status = sb_shader_compile(source, length, name, options, &module, diag);
#ifdef SAMEBIT_MUTANT_SHADER_EARLY /* the planted fault: fuses what the later steps come too late to forbid */
  if (status == SB_OK) status = optimised(&module, options->spirv_opt, name, diag);
#endif
#ifndef SAMEBIT_MUTANT_SHADER_COMPARING /* the planted fault: comparisons stay the device's */
  if (status == SB_OK) {
    sb_status compared = sb_spirv_compare(module.words, module.count, &next);
    status = next_module(&module, compared, next, name, diag);
  }
#endif
  if (status == SB_OK) {
    sb_status written = sb_spirv_decorate(module.words, module.count, PARTS_WRITTEN, &next);
    status = next_module(&module, written, next, name, diag);
  }
  if (status == SB_OK) status = optimised(&module, options->spirv_opt, name, diag);
  if (status == SB_OK)
    *out = module;
  else
    free(module.words);
  return status;
}

sb_status sb_shader_build(const char *source, size_t length, const char *name, const sb_shader_options *options,
                          sb_spirv *out, sb_diagnostics *diag)
{
  sb_spirv module = {0};
  sb_status status = sb_shader_translate(source, length, name, options, &module, diag);
  if (status == SB_OK) status = sb_shader_verify(module.words, module.count, name, diag);
  if (status == SB_OK)
    *out = module;
  else
    free(module.words);
  return status;
}
