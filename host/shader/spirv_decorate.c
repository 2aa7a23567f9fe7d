/* Insertion of decorations and execution modes at the places that the logical layout of SPIR-V gives them
 * (section 2.4): capabilities, extensions, imports, memory model, entry points, execution modes, debug, annotations,
 * types. */
#include "spirv_decorate.h"

#include "spirv_audit.h"

#include <spirv/unified1/spirv.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_WORDS 5

static bool is_module_setup(uint32_t op)
{
  return op == SpvOpExtension || op == SpvOpExtInstImport || op == SpvOpMemoryModel || op == SpvOpEntryPoint;
}
static bool is_debug_or_annotation(uint32_t op)
{
  switch (op) {
  case SpvOpString:
  case SpvOpSourceExtension:
  case SpvOpSource:
  case SpvOpSourceContinued:
  case SpvOpName:
  case SpvOpMemberName:
  case SpvOpModuleProcessed:
  case SpvOpDecorate:
  case SpvOpDecorateId:
  case SpvOpDecorateString:
  case SpvOpMemberDecorate:
  case SpvOpMemberDecorateString:
  case SpvOpDecorationGroup:
  case SpvOpGroupDecorate:
  case SpvOpGroupMemberDecorate:
    return true;
  default:
    return false;
  }
}

typedef struct writer {
  uint32_t *words;
  size_t count;
} writer;

static void put(writer *w, uint32_t opcode, uint32_t n, const uint32_t *operands)
{
  w->words[w->count++] = (n + 1) << 16 | opcode;
  memcpy(w->words + w->count, operands, n * sizeof *operands);
  w->count += n;
}

static void put_modes(writer *w, const uint32_t *words, size_t count)
{
  for (size_t at = HEADER_WORDS; at < count; at += words[at] >> 16) {
    if ((words[at] & 0xffffu) != SpvOpEntryPoint) continue;
    put(w, SpvOpExecutionMode, 3, (uint32_t[]){words[at + 2], SpvExecutionModeSignedZeroInfNanPreserve, 32});
    put(w, SpvOpExecutionMode, 3, (uint32_t[]){words[at + 2], SpvExecutionModeRoundingModeRTE, 32});
  }
}

static void put_decorations(writer *w, const uint32_t *words, size_t count)
{
  for (size_t at = HEADER_WORDS; at < count; at += words[at] >> 16)
    if (sb_spirv_is_float_arithmetic(words[at] & 0xffffu))
      put(w, SpvOpDecorate, 2, (uint32_t[]){words[at + 2], SpvDecorationNoContraction});
}

sb_status sb_spirv_decorate(const uint32_t *words, size_t count, uint32_t parts, sb_spirv *out)
{
  if (!words || count < HEADER_WORDS || words[0] != SpvMagicNumber) return SB_E_FORMAT;
  size_t room = count + 16;
  for (size_t at = HEADER_WORDS; at < count; at += words[at] >> 16) {
    uint32_t n = words[at] >> 16, op = words[at] & 0xffffu;
    if (n == 0 || n > count - at) return SB_E_FORMAT;
    if ((sb_spirv_is_float_arithmetic(op) || op == SpvOpEntryPoint) && n < 3) return SB_E_FORMAT;
    room += sb_spirv_is_float_arithmetic(op) ? 3 : op == SpvOpEntryPoint ? 8 : 0;
  }
  writer w = {malloc(room * sizeof *words), 0};
  if (!w.words) return SB_E_MEMORY;
  memcpy(w.words, words, HEADER_WORDS * sizeof *words);
  w.count = HEADER_WORDS;
  bool capabilities = !(parts & SB_SPIRV_SET_MODES), modes = capabilities, decorations = !(parts & SB_SPIRV_DECORATE);
  for (size_t at = HEADER_WORDS; at < count; at += words[at] >> 16) {
    uint32_t n = words[at] >> 16, op = words[at] & 0xffffu;
    if (!capabilities && op != SpvOpCapability) {
      /* In words, the low byte first: the encoding of a SPIR-V string. */
      static const uint32_t name[] = {0x5f565053u, 0x5f52484bu, 0x616f6c66u, 0x6f635f74u, 0x6f72746eu, 0x0000736cu};
      put(&w, SpvOpCapability, 1, (uint32_t[]){SpvCapabilitySignedZeroInfNanPreserve});
      put(&w, SpvOpCapability, 1, (uint32_t[]){SpvCapabilityRoundingModeRTE});
      put(&w, SpvOpExtension, 6, name); /* SPV_KHR_float_controls */
      capabilities = true;
    }
    if (!modes && op != SpvOpCapability && !is_module_setup(op)) {
      put_modes(&w, words, count);
      modes = true;
    }
    if (!decorations && op != SpvOpCapability && !is_module_setup(op) && op != SpvOpExecutionMode &&
        op != SpvOpExecutionModeId && !is_debug_or_annotation(op)) {
      put_decorations(&w, words, count);
      decorations = true;
    }
    memcpy(w.words + w.count, words + at, n * sizeof *words);
    w.count += n;
  }
  *out = (sb_spirv){w.words, w.count};
  return SB_OK;
}
