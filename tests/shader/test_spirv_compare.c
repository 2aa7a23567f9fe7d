/* Comparisons as integer operations: the functions that the pass adds are interpreted here, word by word, and held to
 * C's comparisons over all pairs of special values, neighbours and random bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "shader_build.h"
#include "spirv_audit.h"
#include "spirv_compare.h"

#include <spirv/unified1/spirv.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_WORDS 5
#define IDS 256
#define COUNT(a) (sizeof(a) / sizeof *(a))

/* What each opcode means, in C. */
static bool meaning(uint32_t opcode, float a, float b)
{
  bool ordered = !isnan(a) && !isnan(b);
  switch (opcode) {
  case SpvOpFOrdEqual:
    return a == b;
  case SpvOpFUnordEqual:
    return !ordered || a == b;
  case SpvOpFOrdNotEqual:
    return ordered && a != b;
  case SpvOpFUnordNotEqual:
    return a != b;
  case SpvOpFOrdLessThan:
    return a < b;
  case SpvOpFUnordLessThan:
    return !ordered || a < b;
  case SpvOpFOrdGreaterThan:
    return a > b;
  case SpvOpFUnordGreaterThan:
    return !ordered || a > b;
  case SpvOpFOrdLessThanEqual:
    return a <= b;
  case SpvOpFUnordLessThanEqual:
    return !ordered || a <= b;
  case SpvOpFOrdGreaterThanEqual:
    return a >= b;
  case SpvOpFUnordGreaterThanEqual:
    return !ordered || a >= b;
  case SpvOpIsNan:
    return isnan(a);
  case SpvOpIsInf:
    return isinf(a);
  default:
    fail_msg("no meaning for opcode %u", opcode);
    return false;
  }
}

static const uint32_t opcodes[] = {SpvOpFOrdEqual,
                                   SpvOpFUnordEqual,
                                   SpvOpFOrdNotEqual,
                                   SpvOpFUnordNotEqual,
                                   SpvOpFOrdLessThan,
                                   SpvOpFUnordLessThan,
                                   SpvOpFOrdGreaterThan,
                                   SpvOpFUnordGreaterThan,
                                   SpvOpFOrdLessThanEqual,
                                   SpvOpFUnordLessThanEqual,
                                   SpvOpFOrdGreaterThanEqual,
                                   SpvOpFUnordGreaterThanEqual,
                                   SpvOpIsNan,
                                   SpvOpIsInf};

/* --- a module with one comparison of each kind --- */

enum { ID_MAIN = 1, ID_VOID, ID_PROC, ID_BOOL, ID_FLOAT, ID_A, ID_B, ID_LABEL, ID_UINT, ID_PAIR, ID_FIRST };

typedef struct module {
  uint32_t words[512];
  size_t count;
} module;

static void put(module *m, uint32_t opcode, uint32_t n, const uint32_t *operands)
{
  m->words[m->count++] = (n + 1) << 16 | opcode;
  memcpy(m->words + m->count, operands, n * sizeof *operands);
  m->count += n;
}

static bool unary(uint32_t opcode) { return opcode == SpvOpIsNan || opcode == SpvOpIsInf; }

/* With `types`, the types that the pass needs are there already, and must not be declared twice. */
static module all_comparisons(bool types)
{
  module m = {{SpvMagicNumber, 0x00010500, 0, ID_FIRST + COUNT(opcodes), 0}, HEADER_WORDS};
  put(&m, SpvOpCapability, 1, (uint32_t[]){SpvCapabilityShader});
  put(&m, SpvOpMemoryModel, 2, (uint32_t[]){SpvAddressingModelLogical, SpvMemoryModelGLSL450});
  put(&m, SpvOpEntryPoint, 4, (uint32_t[]){SpvExecutionModelGLCompute, ID_MAIN, 0x6e69616d /* main */, 0});
  put(&m, SpvOpExecutionMode, 5, (uint32_t[]){ID_MAIN, SpvExecutionModeLocalSize, 1, 1, 1});
  put(&m, SpvOpTypeVoid, 1, (uint32_t[]){ID_VOID});
  put(&m, SpvOpTypeFunction, 2, (uint32_t[]){ID_PROC, ID_VOID});
  put(&m, SpvOpTypeBool, 1, (uint32_t[]){ID_BOOL});
  put(&m, SpvOpTypeFloat, 2, (uint32_t[]){ID_FLOAT, 32});
  put(&m, SpvOpConstant, 3, (uint32_t[]){ID_FLOAT, ID_A, 0x3f800000});
  put(&m, SpvOpConstant, 3, (uint32_t[]){ID_FLOAT, ID_B, 0x40000000});
  if (types) {
    put(&m, SpvOpTypeInt, 3, (uint32_t[]){ID_UINT, 32, 0});
    put(&m, SpvOpTypeFunction, 4, (uint32_t[]){ID_PAIR, ID_BOOL, ID_FLOAT, ID_FLOAT});
  }
  put(&m, SpvOpFunction, 4, (uint32_t[]){ID_VOID, ID_MAIN, SpvFunctionControlMaskNone, ID_PROC});
  put(&m, SpvOpLabel, 1, (uint32_t[]){ID_LABEL});
  for (uint32_t k = 0; k < COUNT(opcodes); k++)
    put(&m, opcodes[k], unary(opcodes[k]) ? 3 : 4, (uint32_t[]){ID_BOOL, ID_FIRST + k, ID_A, ID_B});
  put(&m, SpvOpReturn, 0, (uint32_t[]){0});
  put(&m, SpvOpFunctionEnd, 0, (uint32_t[]){0});
  return m;
}

/* --- an interpreter of straight code --- */

typedef struct machine {
  const sb_spirv *code;
  uint32_t values[IDS]; /* of each id: its bits, or 0 and 1 */
} machine;

static uint32_t call(machine *v, uint32_t function, const uint32_t *arguments, uint32_t n);

static void step(machine *v, const uint32_t *w)
{
  uint32_t n = w[0] >> 16;
  for (uint32_t k = 2; k < n; k++) assert_true((w[0] & 0xffffu) == SpvOpConstant || w[k] < IDS);
  uint32_t *x = v->values, a = x[w[3] % IDS], b = n > 4 ? x[w[4] % IDS] : 0, result = 0;
  switch (w[0] & 0xffffu) {
  case SpvOpConstant:
    result = w[3];
    break;
  case SpvOpBitcast:
    result = a;
    break;
  case SpvOpISub:
    result = a - b;
    break;
  case SpvOpBitwiseAnd:
  case SpvOpLogicalAnd:
    result = a & b;
    break;
  case SpvOpBitwiseOr:
  case SpvOpLogicalOr:
    result = a | b;
    break;
  case SpvOpLogicalNot:
    result = !a;
    break;
  case SpvOpSelect:
    result = a ? b : x[w[5]];
    break;
  case SpvOpIEqual:
    result = a == b;
    break;
  case SpvOpULessThan:
    result = a < b;
    break;
  case SpvOpULessThanEqual:
    result = a <= b;
    break;
  case SpvOpSLessThan:
    result = (int32_t)a < (int32_t)b;
    break;
  case SpvOpSLessThanEqual:
    result = (int32_t)a <= (int32_t)b;
    break;
  case SpvOpFunctionCall:
    result = call(v, w[3], (uint32_t[]){b, n > 5 ? x[w[5]] : 0}, n - 4);
    break;
  default:
    fail_msg("opcode %u is not expected here", w[0] & 0xffffu);
  }
  v->values[w[2]] = result;
}

/* Runs the function's one block; its value. */
static uint32_t call(machine *v, uint32_t function, const uint32_t *arguments, uint32_t n)
{
  const uint32_t *words = v->code->words;
  bool inside = false;
  uint32_t parameters = 0;
  for (size_t at = HEADER_WORDS; at < v->code->count; at += words[at] >> 16) {
    const uint32_t *w = words + at;
    uint32_t op = w[0] & 0xffffu;
    if (op == SpvOpFunction)
      inside = w[2] == function;
    else if (!inside || op == SpvOpLabel)
      continue;
    else if (op == SpvOpFunctionParameter)
      v->values[w[2]] = arguments[parameters++];
    else if (op == SpvOpReturnValue) {
      assert_int_equal(parameters, n);
      return v->values[w[1]];
    } else
      step(v, w);
  }
  fail_msg("function %u returned nothing", function);
  return 0;
}

static uint32_t bits_of(float x)
{
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}
static float from_bits(uint32_t u)
{
  float x;
  memcpy(&x, &u, sizeof x);
  return x;
}

static void hold(machine *v, const uint32_t *instructions[], uint32_t a, uint32_t b)
{
  v->values[ID_A] = a, v->values[ID_B] = b;
  for (uint32_t k = 0; k < COUNT(opcodes); k++) {
    const uint32_t *w = instructions[k];
    step(v, w);
    if (w[2] != ID_FIRST + k) step(v, w + (w[0] >> 16)); /* the negation */
    if (v->values[ID_FIRST + k] != meaning(opcodes[k], from_bits(a), from_bits(b)))
      fail_msg("opcode %u of %08x and %08x gives %u", opcodes[k], a, b, v->values[ID_FIRST + k]);
  }
}

static const uint32_t specials[] = {0x00000000, 0x00000001, 0x00000002, 0x00400000, 0x007ffffe, 0x007fffff, 0x00800000,
                                    0x00800001, 0x33800000, 0x3effffff, 0x3f7fffff, 0x3f800000, 0x3f800001, 0x40000000,
                                    0x4b800000, 0x7f7ffffe, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fa00000, 0x7fbfffff,
                                    0x7fc00000, 0x7fc00001, 0x7ffffffe, 0x7fffffff};

static void test_every_relation(void **state)
{
  (void)state;
  module m = all_comparisons(false);
  sb_spirv code = {0};
  assert_int_equal(sb_spirv_compare(m.words, m.count, &code), SB_OK);
  machine v = {&code, {0}};
  /* Constants once; where each comparison was, by the result's id: a call, then perhaps a negation of it. */
  const uint32_t *instructions[COUNT(opcodes)] = {NULL}, *before = NULL;
  for (size_t at = HEADER_WORDS; at < code.count; at += code.words[at] >> 16) {
    const uint32_t *w = code.words + at;
    uint32_t op = w[0] & 0xffffu;
    if (op == SpvOpConstant) step(&v, w);
    if ((op == SpvOpFunctionCall || op == SpvOpLogicalNot) && w[2] >= ID_FIRST && w[2] < ID_FIRST + COUNT(opcodes))
      instructions[w[2] - ID_FIRST] = op == SpvOpLogicalNot ? before : w;
    before = w;
  }
  for (uint32_t k = 0; k < COUNT(opcodes); k++) assert_non_null(instructions[k]);
  uint32_t n = 2 * COUNT(specials);
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t j = 0; j < n; j++)
      hold(&v, instructions, specials[i / 2] | (i & 1u) << 31, specials[j / 2] | (j & 1u) << 31);
  uint32_t random = 1, last = bits_of(1.0f);
  for (uint32_t i = 0; i < 60000; i++) {
    random = random * 1664525u + 1013904223u;
    uint32_t a = random ^ random >> 15;
    hold(&v, instructions, a, last);                             /* any bits */
    hold(&v, instructions, a, a + i % 3 - 1);                    /* neighbours and equals */
    hold(&v, instructions, a & 0x80ffffffu, last & 0x80ffffffu); /* subnormals and the smallest normals */
    last = a;
  }
  free(code.words);
}

static bool has_comparison(const sb_spirv *code)
{
  for (size_t at = HEADER_WORDS; at < code->count; at += code->words[at] >> 16)
    if (sb_spirv_is_float_comparison(code->words[at] & 0xffffu)) return true;
  return false;
}

static void test_module_is_valid(void **state)
{
  (void)state;
  for (int types = 0; types < 2; types++) {
    module m = all_comparisons(types);
    sb_spirv raw = {0}, code = {0}, ruled = {0};
    sb_diagnostics diag = {0};
    assert_int_equal(sb_spirv_decorate(m.words, m.count, SB_SPIRV_DECORATE | SB_SPIRV_SET_MODES, &raw), SB_OK);
    assert_true(has_comparison(&raw));
    assert_int_equal(sb_shader_verify(raw.words, raw.count, "raw", &diag), SB_E_FORMAT);
    assert_int_equal(diag.items[0].code, SB_CODE_SHADER_RULE);
    assert_non_null(strstr(diag.items[0].message, "comparison"));
    sb_diagnostics_clear(&diag);
    assert_int_equal(sb_spirv_compare(m.words, m.count, &code), SB_OK);
    assert_int_equal(sb_spirv_decorate(code.words, code.count, SB_SPIRV_DECORATE | SB_SPIRV_SET_MODES, &ruled), SB_OK);
    assert_false(has_comparison(&ruled));
    if (sb_shader_verify(ruled.words, ruled.count, "compared", &diag) != SB_OK) fail_msg("%s", diag.items[0].message);
    sb_diagnostics_clear(&diag);
    /* A second time there is nothing to do. */
    sb_spirv again = {0};
    assert_int_equal(sb_spirv_compare(ruled.words, ruled.count, &again), SB_OK);
    assert_int_equal(again.count, ruled.count);
    assert_memory_equal(again.words, ruled.words, ruled.count * sizeof *again.words);
    free(again.words);
    free(raw.words);
    free(code.words);
    free(ruled.words);
  }
}

static void test_damage_is_told(void **state)
{
  (void)state;
  module m = all_comparisons(false);
  sb_spirv code = {0};
  assert_int_equal(sb_spirv_compare(NULL, 0, &code), SB_E_FORMAT);
  assert_int_equal(sb_spirv_compare(m.words, m.count - 1, &code), SB_OK); /* cut between instructions */
  free(code.words);
  assert_int_equal(sb_spirv_compare(m.words, m.count - 3, &code), SB_E_FORMAT);
  uint32_t random = 7;
  for (int round = 0; round < 4000; round++) {
    module bent = m;
    for (int k = 0; k < 3; k++) {
      random = random * 1664525u + 1013904223u;
      size_t at = (random >> 4) % m.count;
      random = random * 1664525u + 1013904223u;
      bent.words[at] = random & 1 ? random : bent.words[at] ^ 1u << (random >> 8 & 31u);
    }
    uint32_t *heap = malloc(m.count * sizeof *heap); /* sanitizers watch its end */
    assert_non_null(heap);
    memcpy(heap, bent.words, m.count * sizeof *heap);
    if (sb_spirv_compare(heap, m.count, &code) == SB_OK) free(code.words);
    free(heap);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_relation), cmocka_unit_test(test_module_is_valid),
                                     cmocka_unit_test(test_damage_is_told)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
