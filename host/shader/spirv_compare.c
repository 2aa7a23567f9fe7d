/* Float comparisons as integer operations.
 *
 * Let u be the bits of a float x, and key(x) the signed integer u where that is not negative, 2^31 - u (modulo 2^32)
 * where it is. A float with the sign bit has u = 2^31 + m, m its magnitude bits, so key = -m; without it key = m. IEEE
 * 754 orders floats of one sign by magnitude bits, subnormals included, so for numbers x < y exactly if
 * key(x) < key(y); both zeros have key 0. Infinity has m = 0x7f800000 =: INF, and NaN larger m, so x is NaN exactly if
 * key(x) is outside [-INF, INF]. Then
 *     x <  y   is   -INF <= key(x) and key(x) <  key(y) and key(y) <= INF,
 *     x <= y   is   -INF <= key(x) and key(x) <= key(y) and key(y) <= INF:
 * the chain bounds both keys from both sides, so a NaN breaks it whatever its sign. With w the magnitude bits of u | v,
 *     x == y   is   (u == v or w == 0) and w <= INF:
 * w is 0 exactly if both are zeros, and where u == v it is the magnitude, which tells NaN. */
#include "spirv_compare.h"

#include "spirv_audit.h"

#include <spirv/unified1/spirv.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_WORDS 5
#define NEW_IDS 128u         /* at most this many for types, constants and functions */
#define NEW_WORDS 512u       /* the same for words */
#define CALL_WORDS (6u + 4u) /* of a call and a negation */

/* The functions that may be added. */
typedef enum relation { LESS, LESS_OR_EQUAL, EQUAL, APART, IS_NAN, IS_INFINITE, RELATIONS, NONE } relation;

/* How an opcode is said with them: with operands exchanged, and negated. APART is "less or greater". */
typedef struct phrase {
  relation base;
  bool exchange, negate;
} phrase;

static phrase phrase_of(uint32_t opcode)
{
  switch (opcode) {
  case SpvOpFOrdLessThan:
    return (phrase){LESS, false, false};
  case SpvOpFOrdGreaterThan:
    return (phrase){LESS, true, false};
  case SpvOpFOrdLessThanEqual:
    return (phrase){LESS_OR_EQUAL, false, false};
  case SpvOpFOrdGreaterThanEqual:
    return (phrase){LESS_OR_EQUAL, true, false};
  case SpvOpFOrdEqual:
    return (phrase){EQUAL, false, false};
  case SpvOpFOrdNotEqual:
    return (phrase){APART, false, false};
  case SpvOpFUnordLessThan:
    return (phrase){LESS_OR_EQUAL, true, true};
  case SpvOpFUnordGreaterThan:
    return (phrase){LESS_OR_EQUAL, false, true};
  case SpvOpFUnordLessThanEqual:
    return (phrase){LESS, true, true};
  case SpvOpFUnordGreaterThanEqual:
    return (phrase){LESS, false, true};
  case SpvOpFUnordEqual:
    return (phrase){APART, false, true};
  case SpvOpFUnordNotEqual:
    return (phrase){EQUAL, false, true};
  case SpvOpIsNan:
    return (phrase){IS_NAN, false, false};
  case SpvOpIsInf:
    return (phrase){IS_INFINITE, false, false};
  default:
    return (phrase){NONE, false, false};
  }
}

static uint32_t operand_count(relation r) { return r == IS_NAN || r == IS_INFINITE ? 1 : 2; }

typedef struct rewriter {
  const uint32_t *in;
  size_t in_count;
  uint32_t *words;
  size_t count;
  uint32_t bound;
  bool wanted[RELATIONS];
  uint32_t functions[RELATIONS];
  uint32_t type_bool, type_float, type_uint, type_function[3]; /* ids, 0 where the module has none; last by operands */
  uint32_t zero, sign, magnitude, infinity, minus_infinity;    /* ids of constants */
} rewriter;

static void put(rewriter *r, uint32_t opcode, uint32_t n, const uint32_t *operands)
{
  r->words[r->count++] = (n + 1) << 16 | opcode;
  memcpy(r->words + r->count, operands, n * sizeof *operands);
  r->count += n;
}

/* opcode type a b [c], under a new id, which is returned. */
static uint32_t put_value(rewriter *r, uint32_t opcode, uint32_t type, uint32_t a, uint32_t b)
{
  uint32_t id = r->bound++;
  put(r, opcode, 4, (uint32_t[]){type, id, a, b});
  return id;
}
static uint32_t put_bool(rewriter *r, uint32_t opcode, uint32_t a, uint32_t b)
{
  return put_value(r, opcode, r->type_bool, a, b);
}
static uint32_t put_uint(rewriter *r, uint32_t opcode, uint32_t a, uint32_t b)
{
  return put_value(r, opcode, r->type_uint, a, b);
}
static uint32_t put_constant(rewriter *r, uint32_t value)
{
  uint32_t id = r->bound++;
  put(r, SpvOpConstant, 3, (uint32_t[]){r->type_uint, id, value});
  return id;
}

/* --- functions --- */

static uint32_t put_key(rewriter *r, uint32_t bits)
{
  uint32_t mirrored = put_uint(r, SpvOpISub, r->sign, bits);
  uint32_t negative = put_bool(r, SpvOpSLessThan, bits, r->zero), id = r->bound++;
  put(r, SpvOpSelect, 5, (uint32_t[]){r->type_uint, id, negative, mirrored, bits});
  return id;
}

static uint32_t put_order(rewriter *r, uint32_t opcode, uint32_t a, uint32_t b)
{
  uint32_t low = put_key(r, a), high = put_key(r, b);
  uint32_t above = put_bool(r, SpvOpSLessThanEqual, r->minus_infinity, low);
  uint32_t between = put_bool(r, opcode, low, high);
  uint32_t below = put_bool(r, SpvOpSLessThanEqual, high, r->infinity);
  return put_bool(r, SpvOpLogicalAnd, put_bool(r, SpvOpLogicalAnd, above, between), below);
}

/* Equal bits or both zeros; `magnitude` is that of a | b. */
static uint32_t put_same(rewriter *r, uint32_t a, uint32_t b, uint32_t magnitude)
{
  uint32_t bits = put_bool(r, SpvOpIEqual, a, b), zeros = put_bool(r, SpvOpIEqual, magnitude, r->zero);
  return put_bool(r, SpvOpLogicalOr, bits, zeros);
}

static uint32_t put_relation(rewriter *r, relation base, uint32_t a, uint32_t b)
{
  if (base == LESS || base == LESS_OR_EQUAL)
    return put_order(r, base == LESS ? SpvOpSLessThan : SpvOpSLessThanEqual, a, b);
  if (base == EQUAL) {
    uint32_t either = put_uint(r, SpvOpBitwiseAnd, put_uint(r, SpvOpBitwiseOr, a, b), r->magnitude);
    uint32_t same = put_same(r, a, b, either), number = put_bool(r, SpvOpULessThanEqual, either, r->infinity);
    return put_bool(r, SpvOpLogicalAnd, same, number);
  }
  uint32_t size_a = put_uint(r, SpvOpBitwiseAnd, a, r->magnitude);
  if (base == IS_NAN) return put_bool(r, SpvOpULessThan, r->infinity, size_a);
  if (base == IS_INFINITE) return put_bool(r, SpvOpIEqual, r->infinity, size_a);
  uint32_t size_b = put_uint(r, SpvOpBitwiseAnd, b, r->magnitude);
  uint32_t number_a = put_bool(r, SpvOpULessThanEqual, size_a, r->infinity);
  uint32_t number_b = put_bool(r, SpvOpULessThanEqual, size_b, r->infinity);
  uint32_t numbers = put_bool(r, SpvOpLogicalAnd, number_a, number_b);
  uint32_t same = put_same(r, a, b, put_uint(r, SpvOpBitwiseOr, size_a, size_b)), differ = r->bound++;
  put(r, SpvOpLogicalNot, 3, (uint32_t[]){r->type_bool, differ, same});
  return put_bool(r, SpvOpLogicalAnd, numbers, differ);
}

static void put_function(rewriter *r, relation base)
{
  uint32_t n = operand_count(base), bits[2] = {0, 0}, first = r->bound;
  r->bound += n;
  put(r, SpvOpFunction, 4,
      (uint32_t[]){r->type_bool, r->functions[base], SpvFunctionControlMaskNone, r->type_function[n]});
  for (uint32_t k = 0; k < n; k++) put(r, SpvOpFunctionParameter, 2, (uint32_t[]){r->type_float, first + k});
  put(r, SpvOpLabel, 1, (uint32_t[]){r->bound++});
  for (uint32_t k = 0; k < n; k++) {
    bits[k] = r->bound++;
    put(r, SpvOpBitcast, 3, (uint32_t[]){r->type_uint, bits[k], first + k});
  }
  put(r, SpvOpReturnValue, 1, (uint32_t[]){put_relation(r, base, bits[0], bits[1])});
  put(r, SpvOpFunctionEnd, 0, (uint32_t[]){0});
}

/* --- the module --- */

static bool is_call(const rewriter *r, size_t at)
{
  return phrase_of(r->in[at] & 0xffffu).base != NONE && r->in[at + 1] == r->type_bool;
}

/* Notes types and which functions are wanted; false where lengths do not add up. `calls` counts the comparisons. */
static bool survey(rewriter *r, size_t *calls, bool *other_floats)
{
  bool in_function = false;
  for (size_t at = HEADER_WORDS; at < r->in_count; at += r->in[at] >> 16) {
    const uint32_t *w = r->in + at;
    uint32_t n = w[0] >> 16, op = w[0] & 0xffffu;
    if (n == 0 || n > r->in_count - at) return false;
    relation base = phrase_of(op).base;
    if (base != NONE && (n != 3 + operand_count(base) || !in_function)) return false;
    if (op == SpvOpFunction) in_function = true;
    if (op == SpvOpTypeBool && n == 2) r->type_bool = w[1];
    if (op == SpvOpTypeInt && n == 4 && w[2] == 32 && w[3] == 0) r->type_uint = w[1];
    if (op == SpvOpTypeFloat && n >= 3 && w[2] == 32) r->type_float = w[1];
    if (op == SpvOpTypeFloat && (n != 3 || w[2] != 32)) *other_floats = true;
    if (op == SpvOpTypeFunction && (n == 4 || n == 5) && r->type_bool && w[2] == r->type_bool &&
        w[3] == r->type_float && w[n - 1] == r->type_float)
      r->type_function[n - 3] = w[1];
    if (base == NONE || !is_call(r, at)) continue;
    r->wanted[base] = true;
    ++*calls;
  }
  return true;
}

/* Types that the module lacks, and the constants, at the end of the section of types. */
static void put_types(rewriter *r)
{
  if (!r->type_uint) {
    r->type_uint = r->bound++;
    put(r, SpvOpTypeInt, 3, (uint32_t[]){r->type_uint, 32, 0});
  }
  bool used[3] = {false};
  for (relation base = 0; base < RELATIONS; base++)
    if (r->wanted[base]) {
      used[operand_count(base)] = true;
      r->functions[base] = r->bound++;
    }
  for (uint32_t n = 1; n < 3; n++)
    if (used[n] && !r->type_function[n]) {
      r->type_function[n] = r->bound++;
      put(r, SpvOpTypeFunction, 2 + n, (uint32_t[]){r->type_function[n], r->type_bool, r->type_float, r->type_float});
    }
  r->zero = put_constant(r, 0);
  r->sign = put_constant(r, 0x80000000u);
  r->magnitude = put_constant(r, 0x7fffffffu);
  r->infinity = put_constant(r, 0x7f800000u);
  r->minus_infinity = put_constant(r, 0u - 0x7f800000u);
}

static void put_call(rewriter *r, const uint32_t *w)
{
  phrase p = phrase_of(w[0] & 0xffffu);
  uint32_t n = operand_count(p.base), result = p.negate ? r->bound++ : w[2];
  uint32_t a = w[3], b = n == 2 ? w[4] : 0;
  put(r, SpvOpFunctionCall, 3 + n,
      (uint32_t[]){r->type_bool, result, r->functions[p.base], p.exchange ? b : a, p.exchange ? a : b});
  if (p.negate) put(r, SpvOpLogicalNot, 3, (uint32_t[]){r->type_bool, w[2], result});
}

sb_status sb_spirv_compare(const uint32_t *words, size_t count, sb_spirv *out)
{
  if (!words || count < HEADER_WORDS || words[0] != SpvMagicNumber) return SB_E_FORMAT;
  rewriter r = {.in = words, .in_count = count, .bound = words[3]};
  size_t calls = 0;
  bool other_floats = false;
  if (!survey(&r, &calls, &other_floats)) return SB_E_FORMAT;
  if (calls > UINT32_MAX / 2 || r.bound > UINT32_MAX / 2 - NEW_IDS) return SB_E_FORMAT;
  bool work = calls && !other_floats && r.type_float;
  r.words = malloc((count + NEW_WORDS + calls * CALL_WORDS) * sizeof *words);
  if (!r.words) return SB_E_MEMORY;
  memcpy(r.words, words, HEADER_WORDS * sizeof *words);
  r.count = HEADER_WORDS;
  bool typed = !work;
  for (size_t at = HEADER_WORDS; at < count; at += words[at] >> 16) {
    if (!typed && (words[at] & 0xffffu) == SpvOpFunction) {
      put_types(&r);
      typed = true;
    }
    if (work && is_call(&r, at)) {
      put_call(&r, words + at);
      continue;
    }
    memcpy(r.words + r.count, words + at, (words[at] >> 16) * sizeof *words);
    r.count += words[at] >> 16;
  }
  for (relation base = 0; work && base < RELATIONS; base++)
    if (r.wanted[base]) put_function(&r, base);
  r.words[3] = r.bound;
  *out = (sb_spirv){r.words, r.count};
  return SB_OK;
}
