/* The audit of SPIR-V words. Two passes: decorations, entry points and modes first, then every instruction. */
#include "spirv_audit.h"

#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/spirv.h>

#include <stdlib.h>
#include <string.h>

#define HEADER_WORDS 5
/* The universal limit of the SPIR-V specification (2.17) on ids. */
#define ID_LIMIT 4194304u
/* Bits noted for each id */
#define ID_NO_CONTRACTION 1u
#define ID_GLSL_SET 2u
#define ID_NEUTRAL_SET 4u
#define ID_ENTRY 8u
#define ID_KEEPS_SPECIALS 16u
#define ID_ROUNDS_TO_EVEN 32u
#define ID_FLOAT 64u /* a type: float, or vector or matrix of floats */
#define ID_ZERO 128u /* a float constant that is +0 or -0, or a composite with one */

typedef struct audit {
  const uint32_t *words;
  size_t count;
  uint32_t bound;
  uint8_t *ids;
  sb_spirv_findings *out;
} audit;

bool sb_spirv_is_float_arithmetic(uint32_t opcode)
{
  switch (opcode) {
  case SpvOpFNegate:
  case SpvOpFAdd:
  case SpvOpFSub:
  case SpvOpFMul:
  case SpvOpFDiv:
  case SpvOpFRem:
  case SpvOpFMod:
  case SpvOpVectorTimesScalar:
  case SpvOpMatrixTimesScalar:
  case SpvOpVectorTimesMatrix:
  case SpvOpMatrixTimesVector:
  case SpvOpMatrixTimesMatrix:
  case SpvOpOuterProduct:
  case SpvOpDot:
    return true;
  default:
    return false;
  }
}

bool sb_spirv_is_float_comparison(uint32_t opcode)
{
  return (opcode >= SpvOpFOrdEqual && opcode <= SpvOpFUnordGreaterThanEqual) ||
         (opcode >= SpvOpIsNan && opcode <= SpvOpUnordered);
}

static void find(const audit *a, sb_spirv_rule rule, size_t word, uint32_t detail, const char *text)
{
  sb_spirv_findings *f = a->out;
  if (f->count == f->capacity) {
    size_t capacity = f->capacity ? f->capacity * 2 : 16;
    sb_spirv_finding *items = realloc(f->items, capacity * sizeof *items);
    if (!items) {
      f->out_of_memory = true;
      return;
    }
    f->items = items;
    f->capacity = capacity;
  }
  uint32_t opcode = word < a->count && word >= HEADER_WORDS ? a->words[word] & 0xffffu : 0;
  f->items[f->count++] = (sb_spirv_finding){rule, word, opcode, detail, text};
}

void sb_spirv_findings_clear(sb_spirv_findings *findings)
{
  free(findings->items);
  *findings = (sb_spirv_findings){0};
}

static uint8_t flags_of(const audit *a, uint32_t id) { return id < a->bound ? a->ids[id] : 0; }

static void note(const audit *a, size_t word, uint32_t id, uint8_t flag)
{
  if (id == 0 || id >= a->bound)
    find(a, SB_SPIRV_DAMAGED, word, id, "an id is outside the bound the header gives");
  else
    a->ids[id] |= flag;
}

/* The name of an extended instruction set, if its string ends inside the instruction. */
static const char *set_name(const uint32_t *instruction, uint32_t length)
{
  const char *name = (const char *)(instruction + 2);
  return length > 2 && memchr(name, 0, (length - 2) * sizeof *instruction) ? name : "";
}

static void note_decoration(const audit *a, size_t at, uint32_t id, uint32_t decoration)
{
  switch (decoration) {
  case SpvDecorationNoContraction:
    note(a, at, id, ID_NO_CONTRACTION);
    break;
  case SpvDecorationRelaxedPrecision:
    find(a, SB_SPIRV_DECORATION, at, decoration, "RelaxedPrecision lets a device compute in 16 bits");
    break;
  case SpvDecorationFPFastMathMode:
    find(a, SB_SPIRV_DECORATION, at, decoration, "FPFastMathMode lets a device change results");
    break;
  case SpvDecorationFPRoundingMode:
    find(a, SB_SPIRV_DECORATION, at, decoration, "FPRoundingMode changes how a conversion rounds");
    break;
  default:
    break;
  }
}

static void note_mode(const audit *a, size_t at, uint32_t entry, uint32_t mode, uint32_t width)
{
  if (mode == SpvExecutionModeSignedZeroInfNanPreserve && width == 32)
    note(a, at, entry, ID_KEEPS_SPECIALS);
  else if (mode == SpvExecutionModeRoundingModeRTE && width == 32)
    note(a, at, entry, ID_ROUNDS_TO_EVEN);
  else if (mode == SpvExecutionModeDenormFlushToZero)
    find(a, SB_SPIRV_MODE, at, mode, "DenormFlushToZero makes subnormals zero");
  else if (mode == SpvExecutionModeRoundingModeRTZ)
    find(a, SB_SPIRV_MODE, at, mode, "RoundingModeRTZ rounds towards zero");
}

/* First pass: what later instructions are judged by. */
static void note_instruction(const audit *a, size_t at, uint32_t op, uint32_t n)
{
  const uint32_t *w = a->words + at;
  switch (op) {
  case SpvOpDecorate:
  case SpvOpDecorateId:
    if (n >= 3) note_decoration(a, at, w[1], w[2]);
    break;
  case SpvOpMemberDecorate:
    if (n >= 4 && w[3] != SpvDecorationNoContraction) note_decoration(a, at, w[1], w[3]);
    break;
  case SpvOpGroupDecorate: /* a group is decorated before it is applied */
    for (uint32_t k = 2; n >= 2 && k < n; k++)
      if (flags_of(a, w[1]) & ID_NO_CONTRACTION) note(a, at, w[k], ID_NO_CONTRACTION);
    break;
  case SpvOpExtInstImport:
    if (n >= 3 && !strcmp(set_name(w, n), "GLSL.std.450"))
      note(a, at, w[1], ID_GLSL_SET);
    else if (n >= 3 && !strncmp(set_name(w, n), "NonSemantic.", 12))
      note(a, at, w[1], ID_NEUTRAL_SET);
    break;
  case SpvOpEntryPoint:
    if (n >= 4) note(a, at, w[2], ID_ENTRY);
    break;
  case SpvOpExecutionMode:
    if (n >= 3) note_mode(a, at, w[1], w[2], n >= 4 ? w[3] : 0);
    break;
  case SpvOpTypeFloat:
    if (n >= 3) note(a, at, w[1], ID_FLOAT);
    break;
  case SpvOpTypeVector:
  case SpvOpTypeMatrix:
    if (n >= 4 && flags_of(a, w[2]) & ID_FLOAT) note(a, at, w[1], ID_FLOAT);
    break;
  case SpvOpConstant:
    if (n == 4 && flags_of(a, w[1]) & ID_FLOAT && !(w[3] & 0x7fffffffu)) note(a, at, w[2], ID_ZERO);
    break;
  case SpvOpConstantNull:
    if (n >= 3 && flags_of(a, w[1]) & ID_FLOAT) note(a, at, w[2], ID_ZERO);
    break;
  case SpvOpConstantComposite:
    for (uint32_t k = 3; k < n; k++)
      if (flags_of(a, w[k]) & ID_ZERO) note(a, at, w[2], ID_ZERO);
    break;
  default:
    break;
  }
}

/* Integer instructions of GLSL.std.450: exact everywhere. All others work on floats, with device-made rounding. */
static bool extended_is_exact(uint32_t instruction)
{
  switch (instruction) {
  case GLSLstd450SAbs:
  case GLSLstd450SSign:
  case GLSLstd450UMin:
  case GLSLstd450SMin:
  case GLSLstd450UMax:
  case GLSLstd450SMax:
  case GLSLstd450UClamp:
  case GLSLstd450SClamp:
  case GLSLstd450FindILsb:
  case GLSLstd450FindSMsb:
  case GLSLstd450FindUMsb:
    return true;
  default:
    return false;
  }
}

static bool capability_is_known(uint32_t capability)
{
  switch (capability) {
  case SpvCapabilityMatrix:
  case SpvCapabilityShader:
  case SpvCapabilityInt64:
  case SpvCapabilityInt64Atomics:
  case SpvCapabilityInt16:
  case SpvCapabilityInt8:
  case SpvCapabilityGroupNonUniform:
  case SpvCapabilityGroupNonUniformVote:
  case SpvCapabilityGroupNonUniformArithmetic:
  case SpvCapabilityGroupNonUniformBallot:
  case SpvCapabilityGroupNonUniformShuffle:
  case SpvCapabilityGroupNonUniformShuffleRelative:
  case SpvCapabilityStorageBuffer16BitAccess:
  case SpvCapabilityStorageBuffer8BitAccess:
  case SpvCapabilityVulkanMemoryModel:
  case SpvCapabilityVulkanMemoryModelDeviceScope:
  case SpvCapabilityPhysicalStorageBufferAddresses:
  case SpvCapabilityDenormPreserve:
  case SpvCapabilitySignedZeroInfNanPreserve:
  case SpvCapabilityRoundingModeRTE:
    return true;
  default:
    return false;
  }
}

/* Why an operation may not be used at all, or NULL. */
static const char *forbidden_operation(uint32_t op)
{
  switch (op) {
  case SpvOpFDiv:
    return "OpFDiv is not correctly rounded on every device; use f_div";
  case SpvOpFRem:
  case SpvOpFMod:
    return "OpFRem and OpFMod differ between devices; use f_fmod";
  case SpvOpDot:
    return "OpDot leaves the order of its sum open; write the sum out";
  case SpvOpMatrixTimesScalar:
  case SpvOpVectorTimesMatrix:
  case SpvOpMatrixTimesVector:
  case SpvOpMatrixTimesMatrix:
  case SpvOpOuterProduct:
    return "matrix products leave the order of their sums open; write them out";
  case SpvOpConvertFToU:
  case SpvOpConvertFToS:
    return "float to integer conversion differs between devices; use f_to_i";
  case SpvOpFConvert:
  case SpvOpQuantizeToF16:
    return "conversion between float widths leaves binary32";
  case SpvOpDPdx:
  case SpvOpDPdy:
  case SpvOpFwidth:
  case SpvOpDPdxFine:
  case SpvOpDPdyFine:
  case SpvOpFwidthFine:
  case SpvOpDPdxCoarse:
  case SpvOpDPdyCoarse:
  case SpvOpFwidthCoarse:
    return "derivatives depend on the device";
  case SpvOpAtomicFAddEXT:
  case SpvOpAtomicFMinEXT:
  case SpvOpAtomicFMaxEXT:
    return "float atomics sum in an open order";
  case SpvOpGroupNonUniformFAdd:
  case SpvOpGroupNonUniformFMul:
  case SpvOpGroupNonUniformFMin:
  case SpvOpGroupNonUniformFMax:
    return "float reductions over a subgroup sum in an open order";
  default:
    return NULL;
  }
}

/* Drivers fold x + 0, 0 - x and 0 * x whatever is decorated (lavapipe does), and get the sign of zero, or NaN, wrong.
 * x - 0 is x everywhere. */
static bool invites_folding(const audit *a, const uint32_t *w, uint32_t op, uint32_t n)
{
  if (n < 5) return false;
  bool left = flags_of(a, w[3]) & ID_ZERO, right = flags_of(a, w[4]) & ID_ZERO;
  if (op == SpvOpFSub) return left;
  return (op == SpvOpFAdd || op == SpvOpFMul || op == SpvOpVectorTimesScalar) && (left || right);
}

/* Second pass. */
static void judge_instruction(const audit *a, size_t at, uint32_t op, uint32_t n)
{
  const uint32_t *w = a->words + at;
  const char *why = forbidden_operation(op);
  if (why) find(a, SB_SPIRV_OPERATION, at, n >= 3 ? w[2] : 0, why);
  if (sb_spirv_is_float_arithmetic(op) && (n < 3 || !(flags_of(a, w[2]) & ID_NO_CONTRACTION)))
    find(a, SB_SPIRV_UNDECORATED, at, n >= 3 ? w[2] : 0, "a float operation lacks NoContraction: devices may fuse it");
  if (sb_spirv_is_float_comparison(op))
    find(a, SB_SPIRV_OPERATION, at, n >= 3 ? w[2] : 0,
         "a comparison of floats: devices may take subnormals for zeros; compare scalars and let the shader build "
         "write them as integer operations");
  if (invites_folding(a, w, op, n))
    find(a, SB_SPIRV_OPERATION, at, w[2],
         "arithmetic that drivers fold because an operand is the constant 0; write what it stands for");
  switch (op) {
  case SpvOpCapability:
    if (n < 2 || !capability_is_known(w[1]))
      find(a, SB_SPIRV_CAPABILITY, at, n >= 2 ? w[1] : 0, "a capability that is not known to keep the number rules");
    break;
  case SpvOpTypeFloat:
    if (n < 3 || w[2] != 32)
      find(a, SB_SPIRV_TYPE, at, n >= 3 ? w[2] : 0, "state and arithmetic are 32-bit floats only");
    break;
  case SpvOpExtInst:
    if (n < 5)
      find(a, SB_SPIRV_DAMAGED, at, 0, "an extended instruction is cut off");
    else if (flags_of(a, w[3]) & ID_NEUTRAL_SET)
      break;
    else if (!(flags_of(a, w[3]) & ID_GLSL_SET) || !extended_is_exact(w[4]))
      find(a, SB_SPIRV_EXTENDED, at, w[4],
           "an extended instruction whose result devices differ in; use the shared routine");
    break;
  case SpvOpSpecConstantOp:
    if (n >= 4 &&
        (sb_spirv_is_float_arithmetic(w[3]) || sb_spirv_is_float_comparison(w[3]) || forbidden_operation(w[3])))
      find(a, SB_SPIRV_OPERATION, at, w[2], "float operations on specialisation constants run in the driver");
    break;
  case SpvOpEntryPoint:
    if (n < 4) break;
    if (!(flags_of(a, w[2]) & ID_KEEPS_SPECIALS))
      find(a, SB_SPIRV_MODE, at, w[2], "the entry point lacks SignedZeroInfNanPreserve 32");
    if (!(flags_of(a, w[2]) & ID_ROUNDS_TO_EVEN))
      find(a, SB_SPIRV_MODE, at, w[2], "the entry point lacks RoundingModeRTE 32");
    break;
  default:
    break;
  }
}

/* Calls `each` for every instruction; false when lengths do not add up. */
static bool walk(const audit *a, void (*each)(const audit *, size_t, uint32_t, uint32_t))
{
  size_t at = HEADER_WORDS;
  while (at < a->count) {
    uint32_t n = a->words[at] >> 16;
    if (n == 0 || n > a->count - at) return false;
    each(a, at, a->words[at] & 0xffffu, n);
    at += n;
  }
  return true;
}

bool sb_spirv_audit(const uint32_t *words, size_t count, sb_spirv_findings *findings)
{
  size_t before = findings->count;
  audit a = {words, count, 0, NULL, findings};
  if (!words || count < HEADER_WORDS || words[0] != SpvMagicNumber) {
    find(&a, SB_SPIRV_DAMAGED, 0, 0, "not SPIR-V in this machine's byte order: the header is missing or different");
    return false;
  }
  a.bound = words[3];
  if (a.bound == 0 || a.bound > ID_LIMIT) {
    find(&a, SB_SPIRV_DAMAGED, 3, a.bound, "the header's id bound is 0 or above the limit of SPIR-V");
    return false;
  }
  a.ids = calloc(a.bound, 1);
  if (!a.ids) {
    findings->out_of_memory = true;
    return false;
  }
  if (walk(&a, note_instruction))
    walk(&a, judge_instruction);
  else
    find(&a, SB_SPIRV_DAMAGED, 0, 0, "an instruction is longer than the module, or has no length");
  /* A module without an entry point passes vacuously, so it is refused. */
  bool entry = false;
  for (uint32_t id = 0; id < a.bound; id++) entry |= (a.ids[id] & ID_ENTRY) != 0;
  if (!entry) find(&a, SB_SPIRV_DAMAGED, 0, 0, "the module has no entry point");
  free(a.ids);
  return findings->count == before && !findings->out_of_memory;
}
