/* What each step of the shader path is for. Every row builds a shader without one of them: the audit has to refuse it,
 * by the rule that is meant for it; then the shader runs, unaudited, and its words are compared with the CPU's, which
 * tells on which devices the step shows. With all steps nothing is refused and no word differs. Options: --save DIR
 * (write the modules there and stop), --load DIR (take them from there: no compilers needed). */
#include "shader_build.h"
#include "spirv_audit.h"
#include "spirv_compare.h"
#include "vulkan_compute.h"

#include "samebit/maths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SKIP 77 /* ctest's SKIP_RETURN_CODE */
#define OPERANDS 65536u
#define GROUP 64u

typedef enum left_out { NOTHING, COMPARISON, DECORATION, MODES, ORDER } left_out;

typedef struct shader_step {
  const char *name;
  left_out what;
  sb_spirv_rule rule;     /* that has to find it; for NOTHING without meaning */
  const char *expression; /* of the floats a, b, c, in GLSL */
  F (*on_cpu)(F a, F b, F c);
} shader_step;

static F fused(F a, F b, F c) { return a * b + c; }
static F chosen(F a, F b, F c) { return f_min(a * b, c); }
static F compared(F a, F b, F c)
{
  (void)c;
  return f_sel(a < b, K(1.0f), K(2.0f));
}
static F divided(F a, F b, F c)
{
  (void)c;
  return f_div(a, b);
}
static F rooted(F a, F b, F c)
{
  (void)b, (void)c;
  return f_sqrt(f_abs(a));
}
static F converted(F a, F b, F c)
{
  (void)b, (void)c;
  return f_from_bits(u_from_i(f_to_i(a)) & 0xff7fffffu);
}

static const shader_step steps[] = {
    {"all steps: sum of products", NOTHING, SB_SPIRV_DAMAGED, "a * b + c", fused},
    {"all steps: selection", NOTHING, SB_SPIRV_DAMAGED, "f_min(a * b, c)", chosen},
    {"all steps: comparison", NOTHING, SB_SPIRV_DAMAGED, "f_sel(a < b, 1.0, 2.0)", compared},
    {"all steps: division", NOTHING, SB_SPIRV_DAMAGED, "f_div(a, b)", divided},
    {"all steps: root", NOTHING, SB_SPIRV_DAMAGED, "f_sqrt(f_abs(a))", rooted},
    {"all steps: conversion", NOTHING, SB_SPIRV_DAMAGED, "f_from_bits(uint(f_to_i(a)) & 0xff7fffffu)", converted},
    {"without decoration", DECORATION, SB_SPIRV_UNDECORATED, "a * b + c", fused},
    {"without execution modes", MODES, SB_SPIRV_MODE, "f_min(a * b, c)", chosen},
    {"optimised before decoration", ORDER, SB_SPIRV_EXTENDED, "a * b + c", fused},
    {"comparisons as they are", COMPARISON, SB_SPIRV_COMPARISON, "f_sel(a < b, 1.0, 2.0)", compared},
    {"the device's own division", NOTHING, SB_SPIRV_OPERATION, "a / b", divided},
    {"the device's own root", NOTHING, SB_SPIRV_EXTENDED, "sqrt(f_abs(a))", rooted},
    {"the device's own conversion", NOTHING, SB_SPIRV_OPERATION, "f_from_bits(uint(int(a)) & 0xff7fffffu)", converted},
};
#define STEPS (sizeof steps / sizeof *steps)

static bool is_control(const shader_step *s) { return s->rule == SB_SPIRV_DAMAGED; }

/* --- the path, less one step --- */

static void replace(sb_spirv *module, sb_spirv by)
{
  free(module->words);
  *module = by;
}

static sb_status build(const shader_step *s, sb_spirv *module, sb_diagnostics *diag)
{
  static const char *const dirs[] = {SHADER_INCLUDE_DIRS};
  sb_shader_options options = {
      .include_dirs = dirs, .include_dir_count = sizeof dirs / sizeof *dirs, .glslc = SHADER_GLSLC};
  const char *optimiser = SHADER_SPIRV_OPT[0] ? SHADER_SPIRV_OPT : NULL;
  char text[1024];
  int n =
      snprintf(text, sizeof text,
               "#version 450\n#extension GL_GOOGLE_include_directive : require\n#include \"prelude.glsl\"\n"
               "layout(local_size_x = %u) in;\nlayout(std430, binding = 0) readonly buffer A { uint words_in[]; };\n"
               "layout(std430, binding = 1) writeonly buffer B { float words_out[]; };\n"
               "void main()\n{\n  uint i = gl_GlobalInvocationID.x;\n  float a = f_from_bits(words_in[3 * i]);\n"
               "  float b = f_from_bits(words_in[3 * i + 1]), c = f_from_bits(words_in[3 * i + 2]);\n"
               "  words_out[i] = %s;\n}\n",
               GROUP, s->expression);
  sb_spirv next = {0};
  sb_status status = sb_shader_compile(text, (size_t)n, s->name, &options, module, diag);
  if (status == SB_OK && optimiser && s->what == ORDER) {
    status = sb_shader_optimise(optimiser, s->name, module, &next, diag);
    if (status == SB_OK) replace(module, next);
  }
  if (status == SB_OK && s->what != COMPARISON) {
    status = sb_spirv_compare(module->words, module->count, &next);
    if (status == SB_OK) replace(module, next);
  }
  if (status == SB_OK) {
    uint32_t parts = (s->what == DECORATION ? 0 : SB_SPIRV_DECORATE) | (s->what == MODES ? 0 : SB_SPIRV_SET_MODES);
    status = sb_spirv_decorate(module->words, module->count, parts, &next);
    if (status == SB_OK) replace(module, next);
  }
  if (status == SB_OK && optimiser && s->what != ORDER) {
    status = sb_shader_optimise(optimiser, s->name, module, &next, diag);
    if (status == SB_OK) replace(module, next);
  }
  return status;
}

/* Whether the audit says of the module what it should; prints what it says. */
static bool judge(const shader_step *s, const sb_spirv *module)
{
  sb_spirv_findings findings = {0};
  bool clean = sb_spirv_audit(module->words, module->count, &findings), found = false;
  for (size_t k = 0; k < findings.count; k++) found |= findings.items[k].rule == s->rule;
  sb_spirv_findings_clear(&findings);
  printf("%-28s %-18s", s->name, clean ? "passes the audit" : found ? sb_spirv_rule_name(s->rule) : "another rule");
  return is_control(s) ? clean : found;
}

/* --- operands and comparison --- */

static uint32_t mix(uint32_t v)
{
  v ^= v >> 16, v *= 0x7feb352du;
  v ^= v >> 15, v *= 0x846ca68bu;
  return v ^ v >> 16;
}

static void operands(uint32_t i, uint32_t *u)
{
  static const uint32_t specials[] = {0x00000000, 0x00000001, 0x007fffff, 0x00800000, 0x00ffffff, 0x33800000,
                                      0x3f000000, 0x3f7fffff, 0x3f800000, 0x3fc00000, 0x40490fdb, 0x4b000001,
                                      0x4f000000, 0x5f800000, 0x7f7fffff, 0x7f800000};
  for (uint32_t k = 0; k < 3; k++) u[k] = mix(3 * i + k + 1);
  if (i < 8192) { /* all pairs, two signs each, and a third */
    u[0] = specials[i & 15u] | (i >> 8 & 1u) << 31, u[1] = specials[i >> 4 & 15u] | (i >> 9 & 1u) << 31;
    u[2] = specials[u[2] & 15u] | (u[2] & 16u) << 27;
  } else if (i % 3 == 1) { /* numbers whose sum cancels */
    for (uint32_t k = 0; k < 2; k++) u[k] = (u[k] & 0x807fffffu) | 0x3f800000u;
    u[2] = f_bits(-(f_from_bits(u[0]) * f_from_bits(u[1])));
  } else if (i % 3 == 2) { /* products around the smallest normal number */
    u[0] = (u[0] & 0x80ffffffu) | 0x1f000000u, u[1] = (u[1] & 0x80ffffffu) | 0x1f000000u;
    u[2] &= 0x80ffffffu;
  }
}

static uint32_t comparable(uint32_t u) { return (u & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : u; }

/* Counts the words that differ from the CPU's. */
static sb_status run(sb_vulkan *vulkan, const shader_step *s, const sb_spirv *module, uint32_t *differ,
                     sb_diagnostics *diag)
{
  sb_vulkan_buffer *buffers[2] = {NULL, NULL};
  sb_vulkan_pipeline *pipeline = NULL;
  sb_status status = sb_vulkan_buffer_create(vulkan, OPERANDS * 3 * sizeof(uint32_t), &buffers[0], diag);
  if (status == SB_OK) status = sb_vulkan_buffer_create(vulkan, OPERANDS * sizeof(uint32_t), &buffers[1], diag);
  if (status == SB_OK) status = sb_vulkan_pipeline_create(vulkan, module->words, module->count, 2, 0, &pipeline, diag);
  if (status == SB_OK) {
    uint32_t *in = sb_vulkan_buffer_data(buffers[0]);
    for (uint32_t i = 0; i < OPERANDS; i++) operands(i, in + 3 * i);
    status = sb_vulkan_run(vulkan, pipeline, buffers, NULL, OPERANDS / GROUP, diag);
  }
  *differ = 0;
  const uint32_t *out = status == SB_OK ? sb_vulkan_buffer_data(buffers[1]) : NULL;
  for (uint32_t i = 0; out && i < OPERANDS; i++) {
    uint32_t u[3];
    operands(i, u);
    uint32_t want = f_bits(s->on_cpu(f_from_bits(u[0]), f_from_bits(u[1]), f_from_bits(u[2])));
    *differ += comparable(out[i]) != comparable(want);
  }
  sb_vulkan_pipeline_destroy(pipeline);
  sb_vulkan_buffer_destroy(buffers[0]);
  sb_vulkan_buffer_destroy(buffers[1]);
  return status;
}

/* --- modules in files --- */

static bool move_module(const char *dir, size_t number, const char *mode, sb_spirv *module)
{
  enum { MOST = 1 << 18 };
  char path[1024];
  snprintf(path, sizeof path, "%s/step%zu.spv", dir, number);
  FILE *f = fopen(path, mode);
  bool ok = f != NULL;
  if (ok && mode[0] == 'w') ok = fwrite(module->words, sizeof *module->words, module->count, f) == module->count;
  if (ok && mode[0] == 'r') {
    module->words = malloc(MOST * sizeof *module->words);
    module->count = module->words ? fread(module->words, sizeof *module->words, MOST, f) : 0;
    ok = module->count > 5;
  }
  if (f && fclose(f)) ok = false;
  if (!ok) printf("cannot read or write %s\n", path);
  return ok;
}

int main(int argc, char **argv)
{
  const char *save = NULL, *load = NULL;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--save")) save = argv[i + 1];
    if (!strcmp(argv[i], "--load")) load = argv[i + 1];
  }
  sb_diagnostics diag = {0};
  sb_vulkan *vulkan = NULL;
  if (!save && sb_vulkan_open(&vulkan, &diag) == SB_OK)
    printf("device: %s, %s %s\n", sb_vulkan_about(vulkan)->device, sb_vulkan_about(vulkan)->driver,
           sb_vulkan_about(vulkan)->driver_version);
  bool device = vulkan != NULL;
  sb_diagnostics_clear(&diag);
  printf("%-28s %-18s words of %u that differ on the device\n", "step", "audit", OPERANDS);
  int failed = 0;
  for (size_t k = 0; k < STEPS; k++) {
    const shader_step *s = &steps[k];
    if (s->what == ORDER && !load && !SHADER_SPIRV_OPT[0]) continue;
    sb_spirv module = {0};
    bool ok = load ? move_module(load, k, "rb", &module) : build(s, &module, &diag) == SB_OK;
    if (ok) ok = judge(s, &module);
    if (ok && save) ok = move_module(save, k, "wb", &module);
    uint32_t differ = 0;
    if (ok && device) {
      ok = run(vulkan, s, &module, &differ, &diag) == SB_OK && !(is_control(s) && differ);
      printf(" %u", differ);
    }
    printf("%s\n", ok ? "" : " FAILED");
    for (size_t i = 0; i < diag.count; i++)
      printf("  %s: %s\n", sb_code_name(diag.items[i].code), diag.items[i].message);
    sb_diagnostics_clear(&diag);
    failed |= !ok;
    free(module.words);
  }
  sb_vulkan_close(vulkan);
  return failed ? 1 : device || save ? 0 : SKIP;
}
