/* What a shader wants to be bound, read from its words: of GLSL, and of modules that are damaged or want what nobody
 * gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "spirv_interface.h"
#include "spirv_text.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static sb_spirv compiled(const char *declarations, const char *statements)
{
  char text[2048];
  int n = snprintf(text, sizeof text, "#version 450\n%s\nvoid main()\n{\n%s\n}\n", declarations, statements);
  sb_shader_options options = {.glslc = SHADER_GLSLC};
  sb_spirv out = {0};
  sb_diagnostics diag = {0};
  if (sb_shader_compile(text, (size_t)n, "test", &options, &out, &diag) != SB_OK) fail_msg("%s", diag.items[0].message);
  return out;
}

#define SIZE "layout(local_size_x = 64) in;\n"
#define STORAGE(k) "layout(std430, binding = " #k ") buffer B" #k " { uint b" #k "[]; };\n"
#define PUSH(members) "layout(push_constant) uniform P { " members " } p;\n"

static const struct {
  const char *name, *declarations, *statements;
  uint64_t bindings;
  uint32_t push_bytes, shared_bytes, local_size[3];
} shaders[] = {
    {"one buffer", SIZE STORAGE(0), "b0[0] = 1;", 1, 0, 0, {64, 1, 1}},
    {"a gap", SIZE STORAGE(0) STORAGE(5), "b0[0] = b5[0];", 1 | 32, 0, 0, {64, 1, 1}},
    {"three dimensions",
     "layout(local_size_x = 4, local_size_y = 8, local_size_z = 2) in;\n" STORAGE(3),
     "b3[0] = 1;",
     8,
     0,
     0,
     {4, 8, 2}},
    {"a word pushed", SIZE STORAGE(0) PUSH("uint k;"), "b0[0] = p.k;", 1, 4, 0, {64, 1, 1}},
    {"vectors pushed", SIZE STORAGE(0) PUSH("uint k; uvec4 v; uint l;"), "b0[0] = p.l + p.v.x;", 1, 36, 0, {64, 1, 1}},
    {"an array pushed", SIZE STORAGE(0) PUSH("uint k; uint l[5];"), "b0[0] = p.l[p.k];", 1, 24, 0, {64, 1, 1}},
    {"a matrix pushed",
     SIZE STORAGE(0) PUSH("uint k; mat3 m;"),
     "b0[0] = floatBitsToUint(p.m[1][p.k]);",
     1,
     64,
     0,
     {64, 1, 1}},
    {"structures pushed",
     "struct S { uvec2 u; uint w; };\n" SIZE STORAGE(0) PUSH("uint k; S s[3];"),
     "b0[0] = p.s[p.k].w;",
     1,
     56,
     0,
     {64, 1, 1}},
    {"an offset", SIZE STORAGE(0) PUSH("layout(offset = 96) uint k;"), "b0[0] = p.k;", 1, 100, 0, {64, 1, 1}},
    {"shared memory",
     SIZE STORAGE(0) "shared uint s[256];\nshared vec4 t[8];\n",
     "s[gl_LocalInvocationIndex] = 1; t[0] = vec4(1); b0[0] = s[0];",
     1,
     0,
     1024 + 128,
     {64, 1, 1}},
};

static void test_shaders(void **state)
{
  (void)state;
  for (size_t k = 0; k < COUNT(shaders); k++) {
    sb_spirv module = compiled(shaders[k].declarations, shaders[k].statements);
    sb_spirv_interface i;
    if (!sb_spirv_interface_read(module.words, module.count, &i)) fail_msg("%s: %s", shaders[k].name, i.problem);
    if (i.bindings != shaders[k].bindings || i.push_bytes != shaders[k].push_bytes ||
        i.shared_bytes != shaders[k].shared_bytes || memcmp(i.local_size, shaders[k].local_size, sizeof i.local_size))
      fail_msg("%s: bindings %llx, %u bytes pushed, %llu shared, size %u %u %u", shaders[k].name,
               (unsigned long long)i.bindings, i.push_bytes, (unsigned long long)i.shared_bytes, i.local_size[0],
               i.local_size[1], i.local_size[2]);
    /* As many buffers as the last binding needs, and no fewer; the same for push constants. */
    uint32_t buffers = 0;
    while (i.bindings >> buffers) buffers++;
    char text[128] = "";
    assert_true(sb_spirv_interface_fits(&i, buffers, i.push_bytes, text, sizeof text));
    assert_true(sb_spirv_interface_fits(&i, buffers + 2, i.push_bytes + 8, text, sizeof text));
    assert_string_equal(text, "");
    assert_false(sb_spirv_interface_fits(&i, buffers - 1, i.push_bytes, text, sizeof text));
    assert_non_null(strstr(text, "wants a storage buffer at binding"));
    if (i.push_bytes) assert_false(sb_spirv_interface_fits(&i, buffers, i.push_bytes - 1, text, sizeof text));
    if (i.push_bytes) assert_non_null(strstr(text, "bytes of push constants"));
    free(module.words);
  }
}

static void expect_problem(const char *name, const sb_spirv *module, const char *problem)
{
  sb_spirv_interface i;
  if (sb_spirv_interface_read(module->words, module->count, &i)) fail_msg("%s: nothing was found", name);
  if (!strstr(i.problem, problem)) fail_msg("%s: found \"%s\"", name, i.problem);
  char text[128];
  assert_false(sb_spirv_interface_fits(&i, 16, 128, text, sizeof text));
  assert_non_null(strstr(text, problem));
}

static void test_what_nobody_gives(void **state)
{
  (void)state;
  static const struct {
    const char *declarations, *statements, *problem;
  } rows[] = {
      {SIZE "layout(std430, set = 1, binding = 0) buffer B { uint b[]; };", "b[0] = 1;",
       "a descriptor set other than 0"},
      {SIZE STORAGE(0) "layout(std140, binding = 1) uniform V { uint v; };", "b0[0] = v;", "a uniform buffer"},
      {SIZE STORAGE(64), "b64[0] = 1;", "a binding above 63"},
      {SIZE STORAGE(0) "layout(binding = 1, r32ui) uniform uimage2D image;", "b0[0] = imageLoad(image, ivec2(0)).x;",
       "images"},
      {SIZE "layout(std430, binding = 0) buffer B { uint b[]; } all[2];", "all[0].b[0] = 1;", "an array of buffers"},
  };
  for (size_t k = 0; k < COUNT(rows); k++) {
    sb_spirv module = compiled(rows[k].declarations, rows[k].statements);
    expect_problem(rows[k].statements, &module, rows[k].problem);
    free(module.words);
  }
  static const struct {
    const char *from, *to, *problem;
  } texts[] = {
      {"\"main\" %index", "\"mains\" %index", "no compute entry point \"main\""},
      {"OpEntryPoint GLCompute", "OpEntryPoint Fragment", "no compute entry point \"main\""},
      {"OpExecutionMode %main LocalSize 64 1 1\n", "", "its workgroup has no size"},
      {"LocalSize 64 1 1", "LocalSize 64 0 1", "its workgroup has no size"},
      {"OpDecorate %data Binding 0\n", "", "no set and binding"},
      {"OpDecorate %data DescriptorSet 0\n", "", "no set and binding"},
      {"%data = OpVariable %block_at", "%data = OpVariable %block", "a variable has no type"},
  };
  for (size_t k = 0; k < COUNT(texts); k++) {
    sb_spirv module = with_fault(&(spirv_fault){texts[k].problem, texts[k].from, texts[k].to, SB_SPIRV_DAMAGED, ""});
    expect_problem(texts[k].problem, &module, texts[k].problem);
    free(module.words);
  }
}

/* Every cut, and many changed words, in memory of their own: a sanitizer sees what is read beyond. Sizes that multiply
 * saturate. */
static void test_damage(void **state)
{
  (void)state;
  sb_spirv module = compiled("struct S { uvec2 u; uint w; };\n" SIZE STORAGE(0)
                                 PUSH("uint k; S s[3]; mat3 m;") "shared uint s[256];\n",
                             "s[0] = 1; b0[0] = p.s[p.k].w + floatBitsToUint(p.m[0][0]) + s[1];");
  sb_spirv_interface i;
  for (size_t n = 0; n < module.count; n++) {
    uint32_t *cut = malloc((n + 1) * sizeof *cut);
    assert_non_null(cut);
    memcpy(cut, module.words, n * sizeof *cut);
    cut = realloc(cut, n ? n * sizeof *cut : 1);
    assert_non_null(cut);
    assert_true(sb_spirv_interface_read(cut, n, &i) == (i.problem == NULL));
    free(cut);
  }
  uint32_t random = 1;
  for (int round = 0; round < 20000; round++) {
    uint32_t *bent = malloc(module.count * sizeof *bent);
    assert_non_null(bent);
    memcpy(bent, module.words, module.count * sizeof *bent);
    for (int k = 0; k < 3; k++) {
      random = random * 1664525u + 1013904223u;
      size_t at = (random >> 4) % module.count;
      random = random * 1664525u + 1013904223u;
      bent[at] = random & 1 ? random >> 8 : random & 2 ? bent[at] ^ 1u << (random >> 8 & 31u) : random >> 8 & 63u;
    }
    assert_true(sb_spirv_interface_read(bent, module.count, &i) == (i.problem == NULL));
    free(bent);
  }
  assert_false(sb_spirv_interface_read(NULL, 0, &i));
  free(module.words);
  /* 2^32 bytes and more of push constants: more than any pipeline has. */
  sb_spirv huge = compiled(SIZE STORAGE(0) PUSH("uint a[16];"), "b0[0] = p.a[1];");
  for (size_t at = 5; at < huge.count; at += huge.words[at] >> 16)
    if ((huge.words[at] & 0xffffu) == 43u /* OpConstant */ && huge.words[at + 3] == 16)
      huge.words[at + 3] = 0x7fffffffu;
  assert_true(sb_spirv_interface_read(huge.words, huge.count, &i));
  assert_int_equal(i.push_bytes, UINT32_MAX);
  free(huge.words);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_shaders), cmocka_unit_test(test_what_nobody_gives),
                                     cmocka_unit_test(test_damage)};
  return cmocka_run_group_tests(tests, read_good, free_good);
}
