/* The audit as judge of modules from elsewhere: one fault of each kind is found once, at its place; what is damaged is
 * refused and never crashes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "shader_build.h"
#include "spirv_audit.h"
#include "spirv_compare.h"
#include "spirv_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define HEADER_WORDS 5

static void test_good_module(void **state)
{
  (void)state;
  sb_spirv good = assemble(good_text, "good");
  sb_diagnostics diag = {0};
  sb_spirv_findings findings = {0};
  bool clean = sb_spirv_audit(good.words, good.count, &findings);
  if (!clean) fail_msg("word %zu: %s", findings.items[0].word, findings.items[0].text);
  if (sb_shader_verify(good.words, good.count, "good", &diag) != SB_OK) fail_msg("%s", diag.items[0].message);
  free(good.words);
}

static void test_each_fault_is_found(void **state)
{
  (void)state;
  bool seen[SB_SPIRV_RULE_COUNT] = {false};
  for (size_t k = 0; k < COUNT(spirv_faults); k++) {
    const spirv_fault *fault = &spirv_faults[k];
    sb_spirv module = with_fault(fault);
    sb_spirv_findings findings = {0};
    if (sb_spirv_audit(module.words, module.count, &findings)) fail_msg("%s was not found", fault->name);
    const sb_spirv_finding *f = &findings.items[0];
    char place[256];
    sb_spirv_place(f, place, sizeof place);
    if (findings.count != 1)
      fail_msg("%s: %zu findings, the second: %s", fault->name, findings.count, findings.items[1].text);
    if (f->rule != fault->rule) fail_msg("%s was found as %s: %s", fault->name, sb_spirv_rule_name(f->rule), f->text);
    if (strncmp(place, fault->place, strlen(fault->place))) fail_msg("%s was found at %s", fault->name, place);
    assert_true(f->word <= module.count);
    assert_true(strlen(f->text) > 10 && f->advice[strlen(f->advice) - 1] == '.');
    seen[f->rule] = true;
    /* The same as diagnostics. */
    sb_diagnostics diag = {0};
    assert_int_equal(sb_shader_verify(module.words, module.count, fault->name, &diag), SB_E_FORMAT);
    assert_int_equal(diag.error_count, 1);
    assert_int_equal(diag.items[0].code, SB_CODE_SHADER_RULE);
    assert_non_null(strstr(diag.items[0].message, place));
    assert_non_null(strstr(diag.items[0].message, f->advice));
    sb_diagnostics_clear(&diag);
    sb_spirv_findings_clear(&findings);
    free(module.words);
  }
  for (int r = 0; r < SB_SPIRV_RULE_COUNT; r++)
    if (!seen[r]) fail_msg("no fault shows the rule %s", sb_spirv_rule_name((sb_spirv_rule)r));
}

static sb_spirv_rule first_rule(const uint32_t *words, size_t count)
{
  sb_spirv_findings findings = {0};
  assert_false(sb_spirv_audit(words, count, &findings));
  assert_true(findings.count > 0);
  sb_spirv_rule rule = findings.items[0].rule;
  sb_spirv_findings_clear(&findings);
  return rule;
}

/* Words of the header, and of instructions, that no assembler writes. */
static void test_damage(void **state)
{
  (void)state;
  sb_spirv good = assemble(good_text, "good");
  static const struct {
    size_t word;
    uint32_t value;
  } bent[] = {{0, 0},
              {0, 0x03022307u},
              {1, 0x00010600u},
              {1, 0x00000900u},
              {1, 0x00010501u},
              {3, 0},
              {3, UINT32_MAX},
              {3, 4194305u},
              {HEADER_WORDS, 0x00000011u},
              {HEADER_WORDS, 0xffff0011u},
              {HEADER_WORDS, 0x00010011u}};
  for (size_t k = 0; k < COUNT(bent); k++) {
    uint32_t kept = good.words[bent[k].word];
    good.words[bent[k].word] = bent[k].value;
    if (first_rule(good.words, good.count) != SB_SPIRV_DAMAGED)
      fail_msg("word %zu as %08x", bent[k].word, bent[k].value);
    good.words[bent[k].word] = kept;
  }
  /* A bound below the ids that are used. */
  uint32_t bound = good.words[3];
  good.words[3] = 12;
  assert_int_equal(first_rule(good.words, good.count), SB_SPIRV_DAMAGED);
  good.words[3] = bound;
  assert_int_equal(first_rule(NULL, 0), SB_SPIRV_DAMAGED);
  assert_int_equal(first_rule(good.words, 0), SB_SPIRV_DAMAGED);
  /* However much is cut off, something is missing. In memory of its own, so that a sanitizer sees a read beyond. */
  for (size_t n = 1; n < good.count; n++) {
    uint32_t *cut = malloc(n * sizeof *cut);
    assert_non_null(cut);
    memcpy(cut, good.words, n * sizeof *cut);
    sb_spirv_findings findings = {0};
    if (sb_spirv_audit(cut, n, &findings)) fail_msg("the first %zu words pass", n);
    sb_spirv_findings_clear(&findings);
    free(cut);
  }
  free(good.words);
}

/* Names and files with what a terminal should not get, without an end, and longer than a finding holds. */
static void test_names(void **state)
{
  (void)state;
  sb_spirv module = with_fault(&(spirv_fault){"name", "\"step.comp\"",
                                              "\"0123456789012345678901234567890123456789012345678901234567890123"
                                              "45678901234567890123456789012345678901234567890123456789012345678"
                                              "9\x1b[31m\"",
                                              SB_SPIRV_DAMAGED, ""});
  for (size_t at = HEADER_WORDS; at < module.count; at += module.words[at] >> 16)
    if ((module.words[at] & 0xffffu) == 129u /* OpFAdd */)
      module.words[at] = (module.words[at] & 0xffff0000u) | 136u /* OpFDiv */;
  sb_spirv_findings findings = {0};
  assert_false(sb_spirv_audit(module.words, module.count, &findings));
  assert_int_equal(findings.count, 1);
  assert_int_equal(strlen(findings.items[0].file), sizeof findings.items[0].file - 1);
  for (const char *c = findings.items[0].file; *c; c++) assert_true(*c >= ' ' && *c < 127);
  char place[20];
  sb_spirv_place(&findings.items[0], place, sizeof place);
  assert_int_equal(strlen(place), sizeof place - 1);
  sb_spirv_findings_clear(&findings);
  free(module.words);
}

/* Thousands of findings end in a bounded list and still in a refusal. */
static void test_many_findings(void **state)
{
  (void)state;
  enum { MANY = 20000 };
  uint32_t *words = calloc(HEADER_WORDS + 2 * MANY, sizeof *words);
  assert_non_null(words);
  memcpy(words, (const uint32_t[]){0x07230203u, 0x00010500u, 0, 10, 0}, HEADER_WORDS * sizeof *words);
  for (size_t k = 0; k < MANY; k++) words[HEADER_WORDS + 2 * k] = 0x00020011u, words[HEADER_WORDS + 2 * k + 1] = 9999;
  sb_spirv_findings findings = {0};
  assert_false(sb_spirv_audit(words, HEADER_WORDS + 2 * MANY, &findings));
  assert_int_equal(findings.count + findings.left_out, MANY + 1);
  assert_true(findings.count < MANY / 2);
  sb_diagnostics diag = {0};
  assert_int_equal(sb_shader_verify(words, HEADER_WORDS + 2 * MANY, "many", &diag), SB_E_FORMAT);
  assert_true(diag.count < 20);
  sb_diagnostics_clear(&diag);
  sb_spirv_findings_clear(&findings);
  free(words);
}

/* --- mutated modules --- */

static uint32_t random_state;
static uint32_t random_word(void)
{
  random_state ^= random_state << 13, random_state ^= random_state >> 17, random_state ^= random_state << 5;
  return random_state;
}

/* What a mutation does: bits, words, lengths of instructions, whole instructions moved, doubled or taken away, the end.
 */
static size_t mutate(uint32_t *words, size_t count, size_t room)
{
  for (uint32_t changes = 1 + random_word() % 4; changes && count > HEADER_WORDS; changes--) {
    size_t at = random_word() % count, other = random_word() % count;
    switch (random_word() % 9) {
    case 0:
      words[at] ^= 1u << random_word() % 32;
      break;
    case 1:
      words[at] = random_word();
      break;
    case 2:
      words[at] = random_word() % 64;
      break;
    case 3:
      words[at] = words[other];
      break;
    case 4:
      words[at] = (words[at] & 0xffffu) | random_word() % 12 << 16;
      break;
    case 5:
      words[at] = (words[at] & 0xffff0000u) | random_word() % 450;
      break;
    case 6:
      count = at + 1;
      break;
    case 7: {
      size_t n = 1 + random_word() % 6;
      if (at + n < count) memmove(words + at, words + at + n, (count - at - n) * sizeof *words), count -= n;
      break;
    }
    default: {
      size_t n = 1 + random_word() % 6;
      if (at + n < count && count + n <= room)
        memmove(words + at + n, words + at, (count - at) * sizeof *words), count += n;
      break;
    }
    }
  }
  return count;
}

static void judge_all(const uint32_t *words, size_t count)
{
  sb_spirv_findings findings = {0};
  sb_spirv out = {0};
  bool clean = sb_spirv_audit(words, count, &findings);
  assert_true(clean == (findings.count == 0));
  for (size_t k = 0; k < findings.count; k++) {
    char place[256];
    sb_spirv_place(&findings.items[k], place, sizeof place);
    assert_true(findings.items[k].word <= count);
  }
  sb_spirv_findings_clear(&findings);
  if (sb_spirv_compare(words, count, &out) == SB_OK) free(out.words);
  if (sb_spirv_decorate(words, count, SB_SPIRV_DECORATE | SB_SPIRV_SET_MODES, &out) == SB_OK) free(out.words);
}

static void test_mutated_modules(void **state)
{
  (void)state;
  enum { MODULES = COUNT(spirv_faults) + 1, ROUNDS = 500 };
  for (size_t m = 0; m < MODULES; m++) {
    sb_spirv module = m ? with_fault(&spirv_faults[m - 1]) : assemble(good_text, "good");
    random_state = (uint32_t)m + 1;
    for (int round = 0; round < ROUNDS; round++) {
      size_t room = module.count + 64;
      uint32_t *bent = calloc(room, sizeof *bent);
      assert_non_null(bent);
      memcpy(bent, module.words, module.count * sizeof *bent);
      size_t count = mutate(bent, module.count, room);
      uint32_t *exact = malloc(count * sizeof *exact);
      assert_non_null(exact);
      memcpy(exact, bent, count * sizeof *exact);
      judge_all(exact, count);
      free(exact);
      free(bent);
    }
    free(module.words);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_good_module),   cmocka_unit_test(test_each_fault_is_found),
      cmocka_unit_test(test_damage),        cmocka_unit_test(test_names),
      cmocka_unit_test(test_many_findings), cmocka_unit_test(test_mutated_modules),
  };
  return cmocka_run_group_tests(tests, read_good, free_good);
}
