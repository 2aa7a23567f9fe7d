/* The CPU's side of the probe: operands, expected words, comparison. */
#include "device_probe.h"

#include "device_probe_spv.h"
#include "fp_env.h"

#include "samebit/maths.h"

#include "device_probe.kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANDOM_OPERANDS 1024u /* of each check, besides all pairs of special words */
#define INVOCATIONS (PROBE_GROUPS * PROBE_GROUP)

typedef enum word_kind { WORD_INTEGER, WORD_FLOAT } word_kind; /* payload and sign of NaN are outside the contract */

static const struct {
  const char *name;
  word_kind kind;
} checks[PROBE_CHECKS] = {[PROBE_PRODUCT] = {"product", WORD_FLOAT},
                          [PROBE_SUM] = {"sum", WORD_FLOAT},
                          [PROBE_DIFFERENCE] = {"difference", WORD_FLOAT},
                          [PROBE_CONTRACTION] = {"contraction", WORD_FLOAT},
                          [PROBE_ORDER] = {"order", WORD_FLOAT},
                          [PROBE_ROUNDING] = {"rounding", WORD_FLOAT},
                          [PROBE_CONSTANT] = {"constant", WORD_FLOAT},
                          [PROBE_SELECTION] = {"selection", WORD_FLOAT},
                          [PROBE_NEGATION] = {"negation", WORD_FLOAT},
                          [PROBE_COMPARISON] = {"comparison", WORD_INTEGER},
                          [PROBE_DIVISION] = {"division", WORD_FLOAT},
                          [PROBE_ROOT] = {"root", WORD_FLOAT},
                          [PROBE_TO_INTEGER] = {"to_integer", WORD_INTEGER},
                          [PROBE_FROM_INTEGER] = {"from_integer", WORD_FLOAT},
                          [PROBE_INTEGER] = {"integer", WORD_INTEGER},
                          [PROBE_SIGNED] = {"signed", WORD_INTEGER},
                          [PROBE_QUOTIENT] = {"quotient", WORD_INTEGER},
                          [PROBE_BITS] = {"bits", WORD_INTEGER},
                          [PROBE_WIDE] = {"wide_product", WORD_INTEGER},
                          [PROBE_EXTENDED] = {"extended_product", WORD_INTEGER},
                          [PROBE_HASH] = {"hash", WORD_INTEGER},
                          [PROBE_ATOMICS] = {"atomics", WORD_INTEGER},
                          [PROBE_SLOTS] = {"slots", WORD_INTEGER},
                          [PROBE_SHARED] = {"shared", WORD_INTEGER}};

_Static_assert(PROBE_CHECKS <= SB_PROBE_CHECKS_MAX, "the result has room for every check");

const char *sb_probe_check_name(uint32_t check) { return check < PROBE_CHECKS ? checks[check].name : NULL; }

/* --- operands --- */

/* Words at which arithmetic changes its ways; each also with the other sign. 0x00ffffff halved rounds up to the
 * smallest normal number. */
static const uint32_t specials[] = {0x00000000, 0x00000001, 0x00000002, 0x003fffff, 0x007fffff, 0x00800000, 0x00800001,
                                    0x00ffffff, 0x01000000, 0x01800001, 0x1f800000, 0x20000000, 0x33800000, 0x3effffff,
                                    0x3f000000, 0x3f7fffff, 0x3f800000, 0x3f800001, 0x3fc00000, 0x40200000, 0x40490fdb,
                                    0x4b000000, 0x4b000001, 0x4b7fffff, 0x4effffff, 0x4f000000, 0x4f800000, 0x5f800000,
                                    0x7e800000, 0x7f7fffff, 0x7f800000, 0x7fc00000};
#define SPECIALS ((uint32_t)(sizeof specials / sizeof *specials) * 2u)
#define OPERANDS (SPECIALS * SPECIALS + RANDOM_OPERANDS) /* of each check */

static uint32_t special(uint32_t i) { return specials[i / 2 % (SPECIALS / 2)] | (i & 1u) << 31; }

static uint32_t random_word(uint32_t check, uint32_t n, uint32_t k)
{
  return hash_mix_a(n * 4u + k, check * 0x9e3779b9u + 1u);
}

/* A random significand and sign at a biased exponent, cut to what there is. */
static uint32_t at_exponent(uint32_t bits, int exponent)
{
  uint32_t e = exponent < 0 ? 0u : exponent > 254 ? 254u : (uint32_t)exponent;
  return (bits & 0x807fffffu) | e << 23;
}

/* Operands whose product, quotient or sum lies around the smallest normal number. */
static void border_operands(uint32_t check, uint32_t n, uint32_t *u)
{
  int e = 1 + (int)(random_word(check, n, 3) % 126u), result = -24 + (int)(n / 4 % 30u); /* biased */
  u[0] = at_exponent(u[0], check == PROBE_DIVISION ? e / 2 + 1 : e);
  u[1] = at_exponent(u[1], check == PROBE_DIVISION ? e / 2 + 1 + 127 - result : 127 + result - e);
  u[2] = at_exponent(u[2], (int)(u[2] >> 9 & 3u));
  if (check == PROBE_SUM || check == PROBE_DIFFERENCE)
    for (int k = 0; k < 2; k++) u[k] = at_exponent(u[k], (int)(random_word(check, n, 3) >> (8 * k) & 3u));
}

static void operands(uint32_t check, uint32_t n, uint32_t *u)
{
  if (n < SPECIALS * SPECIALS) {
    u[0] = special(n / SPECIALS), u[1] = special(n % SPECIALS), u[2] = special(random_word(check, n, 2));
    return;
  }
  for (uint32_t k = 0; k < 3; k++) u[k] = random_word(check, n, k);
  if (checks[check].kind == WORD_INTEGER && check != PROBE_COMPARISON && check != PROBE_TO_INTEGER) return;
  if (check == PROBE_CONTRACTION || check == PROBE_ORDER) {
    /* The sum cancels all but what a fused operation would keep, or another order lose. */
    for (uint32_t k = 0; k < 3; k++) u[k] = at_exponent(u[k], 127 + (int)(n % 3u) - 1);
    F product = f_from_bits(u[0]) * f_from_bits(u[1]);
    if (check == PROBE_CONTRACTION) u[2] = f_bits(-product) + n / 2 % 3u;
  } else if (n % 4 == 1) {
    border_operands(check, n, u);
  } else if (n % 4 >= 2) {
    for (uint32_t k = 0; k < 3; k++) u[k] = at_exponent(u[k], 117 + (int)(u[k] >> 9 & 31u));
  }
}

/* --- comparison --- */

static uint32_t comparable(uint32_t u, word_kind kind)
{
  return kind == WORD_FLOAT && (u & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : u;
}

static void compare_word(sb_probe_result *result, uint32_t check, const uint32_t *of, uint32_t expected, uint32_t found)
{
  result->words++;
  if (comparable(expected, checks[check].kind) == comparable(found, checks[check].kind)) return;
  uint32_t k = 0;
  while (k < result->failure_count && result->failures[k].check != checks[check].name) k++;
  if (k == result->failure_count)
    result->failures[result->failure_count++] =
        (sb_probe_failure){checks[check].name, {of[0], of[1], of[2]}, expected, found, 0};
  result->failures[k].word_count++;
}

/* --- the three parts --- */

typedef struct probe {
  sb_vulkan *device;
  sb_vulkan_pipeline *pipeline;
  sb_vulkan_buffer *buffers[3]; /* operands, words, counters */
} probe;

static sb_status run_part(probe *p, uint32_t part, uint32_t count, sb_diagnostics *diag)
{
  const uint32_t push[2] = {part, count};
  return sb_vulkan_run(p->device, p->pipeline, p->buffers, push, (count + PROBE_GROUP - 1) / PROBE_GROUP, diag);
}

static sb_status probe_over_words(probe *p, sb_probe_result *result, sb_diagnostics *diag)
{
  const uint32_t count = PROBE_WORD_CHECKS * OPERANDS;
  uint32_t *in = sb_vulkan_buffer_data(p->buffers[0]);
  for (uint32_t i = 0; i < count; i++) {
    in[i * 4] = i / OPERANDS;
    operands(i / OPERANDS, i % OPERANDS, in + i * 4 + 1);
  }
  sb_status status = run_part(p, PROBE_PART_WORDS, count, diag);
  if (status != SB_OK) return status;
  const uint32_t *out = sb_vulkan_buffer_data(p->buffers[1]);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t of[3], check = i / OPERANDS;
    operands(check, i % OPERANDS, of);
    ProbeWords want = probe_check(check, of[0], of[1], of[2]);
    compare_word(result, check, of, want.first, out[i * 2]);
    compare_word(result, check, of, want.second, out[i * 2 + 1]);
  }
  return SB_OK;
}

static sb_status probe_atomics(probe *p, sb_probe_result *result, sb_diagnostics *diag)
{
  uint32_t want[PROBE_COUNTERS] = {0};
  want[PROBE_COUNTER_MIN] = 0xffffffffu;
  uint32_t *counters = sb_vulkan_buffer_data(p->buffers[2]);
  memcpy(counters, want, sizeof want);
  uint32_t *slots = sb_vulkan_buffer_data(p->buffers[1]);
  memset(slots, 0xff, INVOCATIONS * 2 * sizeof *slots);
  sb_status status = run_part(p, PROBE_PART_ATOMICS, INVOCATIONS, diag);
  if (status != SB_OK) return status;
  for (uint32_t i = 0; i < INVOCATIONS; i++) {
    uint32_t value = probe_value(i);
    want[PROBE_COUNTER_SUM] += value;
    want[PROBE_COUNTER_OR] |= value & (value << 3) & (value >> 5) & (i << 7);
    want[PROBE_COUNTER_XOR] ^= value;
    if (value > want[PROBE_COUNTER_MAX]) want[PROBE_COUNTER_MAX] = value;
    if (value < want[PROBE_COUNTER_MIN]) want[PROBE_COUNTER_MIN] = value;
    if (i % PROBE_SWAPS == 0) want[PROBE_COUNTER_SWAP] += value;
  }
  want[PROBE_COUNTER_SLOT] = INVOCATIONS;
  for (uint32_t k = 0; k < PROBE_COUNTERS; k++)
    compare_word(result, PROBE_ATOMICS, (const uint32_t[3]){k, 0, 0}, want[k], counters[k]);
  /* Each invocation has taken a slot of its own: seen[i] counts the slots that hold i. */
  uint8_t *seen = calloc(INVOCATIONS, 1);
  if (!seen) return sb_report(diag, SB_ERROR, SB_CODE_MEMORY, "probe", "No memory was left for the device probe.");
  for (uint32_t s = 0; s < INVOCATIONS; s++)
    if (slots[s * 2] < INVOCATIONS && seen[slots[s * 2]] < 255) seen[slots[s * 2]]++;
  for (uint32_t i = 0; i < INVOCATIONS; i++)
    compare_word(result, PROBE_SLOTS, (const uint32_t[3]){i, 0, 0}, 1, seen[i]);
  free(seen);
  return SB_OK;
}

/* What a workgroup's exchange through shared memory comes to. */
static void expected_group(uint32_t group, uint32_t *value, uint32_t *total, F *sum)
{
  uint32_t exchanged[PROBE_GROUP];
  F parts[PROBE_GROUP];
  for (uint32_t l = 0; l < PROBE_GROUP; l++) value[l] = probe_value(group * PROBE_GROUP + l);
  for (uint32_t r = 0; r < PROBE_ROUNDS; r++) {
    memcpy(exchanged, value, sizeof exchanged);
    for (uint32_t l = 0; l < PROBE_GROUP; l++)
      value[l] = hash_mix_a(value[l], exchanged[(l * 37u + 11u + r * 64u) % PROBE_GROUP]);
  }
  *total = 0;
  for (uint32_t l = 0; l < PROBE_GROUP; l++) {
    *total += value[l];
    parts[l] = f_from_bits((value[l] >> 9) | 0x3f800000u);
  }
  for (uint32_t n = PROBE_GROUP / 2; n > 0; n /= 2)
    for (uint32_t l = 0; l < n; l++) parts[l] = parts[l] + parts[l + n];
  *sum = parts[0];
}

static sb_status probe_shared(probe *p, sb_probe_result *result, sb_diagnostics *diag)
{
  sb_status status = run_part(p, PROBE_PART_SHARED, INVOCATIONS, diag);
  if (status != SB_OK) return status;
  const uint32_t *out = sb_vulkan_buffer_data(p->buffers[1]);
  for (uint32_t g = 0; g < PROBE_GROUPS; g++) {
    uint32_t value[PROBE_GROUP], total;
    F sum;
    expected_group(g, value, &total, &sum);
    for (uint32_t l = 0; l < PROBE_GROUP; l++) {
      const uint32_t i = g * PROBE_GROUP + l, of[3] = {i, 0, 0};
      compare_word(result, PROBE_SHARED, of, value[l], out[i * 2]);
      compare_word(result, PROBE_SHARED, of, l == 0 ? total : l == 1 ? f_bits(sum) : 0, out[i * 2 + 1]);
    }
  }
  return SB_OK;
}

/* --- the whole --- */

sb_status sb_device_probe_with(sb_vulkan *device, const uint32_t *words, size_t count, sb_probe_result *result,
                               sb_diagnostics *diag)
{
  const size_t elements = (size_t)PROBE_WORD_CHECKS * OPERANDS;
  const size_t sizes[3] = {elements * 4 * sizeof(uint32_t), elements * 2 * sizeof(uint32_t),
                           PROBE_COUNTERS * sizeof(uint32_t)};
  _Static_assert(INVOCATIONS <= PROBE_WORD_CHECKS * OPERANDS, "the words' buffer serves the other parts too");
  *result = (sb_probe_result){0};
  probe p = {.device = device};
  sb_fp_env caller = sb_fp_env_enter();
  sb_status status = sb_vulkan_pipeline_create(device, words, count, 3, 2 * sizeof(uint32_t), &p.pipeline, diag);
  for (int k = 0; k < 3 && status == SB_OK; k++)
    status = sb_vulkan_buffer_create(device, sizes[k], &p.buffers[k], diag);
  if (status == SB_OK) status = probe_over_words(&p, result, diag);
  if (status == SB_OK) status = probe_atomics(&p, result, diag);
  if (status == SB_OK) status = probe_shared(&p, result, diag);
  for (int k = 0; k < 3; k++) sb_vulkan_buffer_destroy(p.buffers[k]);
  sb_vulkan_pipeline_destroy(p.pipeline);
  sb_fp_env_leave(caller);
  result->passed = status == SB_OK && result->failure_count == 0;
  return status;
}

sb_status sb_device_probe(sb_vulkan *device, sb_probe_result *result, sb_diagnostics *diag)
{
  return sb_device_probe_with(device, device_probe_spv, sizeof device_probe_spv / sizeof *device_probe_spv, result,
                              diag);
}

void sb_probe_text(const sb_probe_result *result, char *text, size_t size)
{
  int n = snprintf(text, size,
                   result->passed          ? "probe passed"
                   : result->failure_count ? "probe failed: "
                                           : "probe not run");
  for (uint32_t k = 0; k < result->failure_count && n >= 0 && (size_t)n < size; k++)
    n += snprintf(text + n, size - (size_t)n, "%s%s", k ? ", " : "", result->failures[k].check);
}

void sb_probe_report(const sb_probe_result *result, sb_severity severity, const char *where, sb_diagnostics *diag)
{
  for (uint32_t k = 0; k < result->failure_count; k++) {
    const sb_probe_failure *f = &result->failures[k];
    sb_report(diag, severity, SB_CODE_VULKAN_PROBE, where,
              "%s: for the words %08x %08x %08x the CPU gives %08x, the device %08x; %u words of this check differ",
              f->check, f->operands[0], f->operands[1], f->operands[2], f->expected, f->found, f->word_count);
  }
}
