/* The audit of SPIR-V words. Two passes: decorations, entry points, modes and names first, then every instruction. */
#include "spirv_audit.h"

#include "spirv_rules.h"

#include <spirv/unified1/spirv.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_WORDS 5
#define FINDINGS_LIMIT 4096u /* hostile words could have millions */
#define OLDEST_VERSION 0x00010000u
#define NEWEST_VERSION 0x00010500u /* what Vulkan 1.2 takes */
/* The universal limit of the SPIR-V specification (2.17) on ids. */
#define ID_LIMIT 4194304u
/* Bits noted for each id */
#define ID_NO_CONTRACTION 1u
#define ID_GLSL_SET 2u
#define ID_NEUTRAL_SET 4u
#define ID_ENTRY 8u
#define ID_KEEPS_SPECIALS 16u
#define ID_ROUNDS_TO_EVEN 32u
#define ID_FLOAT 64u        /* a type: float, or vector or matrix of floats */
#define ID_ZERO 128u        /* a float constant that is +0 or -0, or a composite with one */
#define ID_FLOAT_VALUE 256u /* a value of such a type */
#define ID_FUNCTION 512u    /* a function that the module defines */

typedef struct audit {
  const uint32_t *words;
  size_t count;
  uint32_t bound;
  uint16_t *ids;
  uint32_t *names; /* of each id: where its OpName or OpString begins, or 0 */
  sb_spirv_findings *out;
  /* where the second pass is */
  uint32_t function; /* id, or 0 outside */
  uint32_t file;     /* id of the string, or 0 */
  uint32_t line;
} audit;

/* Copies the string at words[0..n) for display: up to its end, or to `stop`; what no terminal should get becomes '?'.
 */
static void copy_string(const uint32_t *words, size_t n, char stop, char *text, size_t size)
{
  size_t used = 0;
  for (size_t k = 0; k < n * 4 && used + 1 < size; k++) {
    char c = (char)(words[k / 4] >> (8 * (k % 4)) & 0xffu);
    if (!c || c == stop) break;
    text[used++] = c >= ' ' && c < 127 ? c : '?';
  }
  text[used] = 0;
}

/* The string that belongs to an id, `skip` words into its instruction. */
static void copy_name(const audit *a, uint32_t id, char stop, char *text, size_t size)
{
  text[0] = 0;
  uint32_t at = id < a->bound && a->names ? a->names[id] : 0;
  if (at) copy_string(a->words + at + 2, (a->words[at] >> 16) - 2, stop, text, size);
}

static void find(const audit *a, sb_spirv_rule rule, size_t word, uint32_t detail, const char *text, const char *advice)
{
  sb_spirv_findings *f = a->out;
  if (f->count >= FINDINGS_LIMIT) {
    f->left_out++;
    return;
  }
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
  sb_spirv_finding *found = &f->items[f->count++];
  *found = (sb_spirv_finding){rule, word, 0, detail, text, advice, "", "", 0};
  if (word < a->count && word >= HEADER_WORDS) found->opcode = a->words[word] & 0xffffu;
  /* The compiler's names of functions go on with their parameters' types. */
  if (a->function) copy_name(a, a->function, '(', found->function, sizeof found->function);
  if (!a->line) return;
  copy_name(a, a->file, 0, found->file, sizeof found->file);
  found->line = a->line;
}

static void find_damage(const audit *a, size_t word, uint32_t detail, const char *text)
{
  find(a, SB_SPIRV_DAMAGED, word, detail, text, "Build the shader again; a file from elsewhere may be damaged.");
}

static void find_verdict(const audit *a, size_t word, uint32_t detail, spirv_verdict v)
{
  if (v.text) find(a, v.rule, word, detail, v.text, v.advice);
}

void sb_spirv_findings_clear(sb_spirv_findings *findings)
{
  free(findings->items);
  *findings = (sb_spirv_findings){0};
}

const char *sb_spirv_rule_name(sb_spirv_rule rule)
{
  static const char *const names[] = {
#define SB_SPIRV_X(rule_name, name, text) name,
      SB_SPIRV_RULES(SB_SPIRV_X)
#undef SB_SPIRV_X
  };
  return rule < SB_SPIRV_RULE_COUNT ? names[rule] : "?";
}

void sb_spirv_place(const sb_spirv_finding *finding, char *text, size_t size)
{
  char line[160] = "", function[80] = "";
  if (finding->line)
    snprintf(line, sizeof line, "%s:%u, ", finding->file[0] ? finding->file : "line", (unsigned)finding->line);
  if (finding->function[0]) snprintf(function, sizeof function, "in %s, ", finding->function);
  snprintf(text, size, "%s%sword %zu", line, function, finding->word);
}

static uint16_t flags_of(const audit *a, uint32_t id) { return id < a->bound ? a->ids[id] : 0; }

static void note(const audit *a, size_t word, uint32_t id, uint16_t flag)
{
  if (id == 0 || id >= a->bound)
    find_damage(a, word, id, "an id is outside the bound that the header gives");
  else
    a->ids[id] |= flag;
}

static void note_name(const audit *a, size_t at, uint32_t id)
{
  if (id < a->bound && at <= UINT32_MAX) a->names[id] = (uint32_t)at;
}

static void note_decoration(const audit *a, size_t at, uint32_t id, uint32_t decoration, uint32_t value)
{
  if (decoration == SpvDecorationNoContraction) note(a, at, id, ID_NO_CONTRACTION);
  find_verdict(a, at, decoration, spirv_decoration_verdict(decoration));
  if (decoration == SpvDecorationBuiltIn && !spirv_built_in_is_known(value))
    find(a, SB_SPIRV_DECORATION, at, value, "a built-in value that nobody has checked against the number rules",
         "Use those of workgroups, invocations and subgroups.");
}

static void note_mode(const audit *a, size_t at, uint32_t entry, uint32_t mode, uint32_t width)
{
  if (mode == SpvExecutionModeSignedZeroInfNanPreserve && width == 32) note(a, at, entry, ID_KEEPS_SPECIALS);
  if (mode == SpvExecutionModeRoundingModeRTE && width == 32) note(a, at, entry, ID_ROUNDS_TO_EVEN);
  find_verdict(a, at, mode, spirv_mode_verdict(mode));
}

/* First pass: what later instructions are judged by. Lengths have been checked. */
static void note_instruction(audit *a, size_t at, uint32_t op, uint32_t n)
{
  const uint32_t *w = a->words + at;
  char name[24];
  switch (op) {
  case SpvOpName:
  case SpvOpString:
    note_name(a, at, w[1]);
    break;
  case SpvOpDecorate:
  case SpvOpDecorateId:
  case SpvOpDecorateString:
    note_decoration(a, at, w[1], w[2], n > 3 ? w[3] : 0);
    break;
  case SpvOpMemberDecorate:
  case SpvOpMemberDecorateString:
    find_verdict(a, at, w[3], spirv_decoration_verdict(w[3]));
    break;
  case SpvOpGroupDecorate: /* a group is decorated before it is applied */
    for (uint32_t k = 2; k < n; k++)
      if (flags_of(a, w[1]) & ID_NO_CONTRACTION) note(a, at, w[k], ID_NO_CONTRACTION);
    break;
  case SpvOpExtInstImport:
    copy_string(w + 2, n - 2, 0, name, sizeof name);
    if (!strcmp(name, "GLSL.std.450")) note(a, at, w[1], ID_GLSL_SET);
    if (!strncmp(name, "NonSemantic.", 12)) note(a, at, w[1], ID_NEUTRAL_SET);
    break;
  case SpvOpEntryPoint:
    note(a, at, w[2], ID_ENTRY);
    break;
  case SpvOpExecutionMode:
    note_mode(a, at, w[1], w[2], n >= 4 ? w[3] : 0);
    break;
  case SpvOpExecutionModeId:
    find_verdict(a, at, w[2], spirv_mode_verdict(w[2]));
    break;
  case SpvOpTypeFloat:
    note(a, at, w[1], ID_FLOAT);
    break;
  case SpvOpTypeVector:
  case SpvOpTypeMatrix:
    if (flags_of(a, w[2]) & ID_FLOAT) note(a, at, w[1], ID_FLOAT);
    break;
  case SpvOpConstant:
    if (n == 4 && flags_of(a, w[1]) & ID_FLOAT && !(w[3] & 0x7fffffffu)) note(a, at, w[2], ID_ZERO);
    break;
  case SpvOpConstantNull:
    if (flags_of(a, w[1]) & ID_FLOAT) note(a, at, w[2], ID_ZERO);
    break;
  case SpvOpConstantComposite:
    for (uint32_t k = 3; k < n; k++)
      if (flags_of(a, w[k]) & ID_ZERO) note(a, at, w[2], ID_ZERO);
    break;
  case SpvOpFunction:
    if (a->function) find_damage(a, at, w[2], "a function begins inside another");
    a->function = w[2];
    note(a, at, w[2], ID_FUNCTION);
    break;
  case SpvOpFunctionEnd:
    if (!a->function) find_damage(a, at, 0, "a function ends that has not begun");
    a->function = 0;
    break;
  default:
    break;
  }
}

/* Form and lengths, before anything is read. */
static bool check_form(const audit *a, size_t at, uint32_t op, uint32_t n)
{
  const uint32_t *w = a->words + at;
  uint32_t least;
  spirv_form form = spirv_form_of(op, &least);
  if (form == SPIRV_NOT_KNOWN) {
    find(a, SB_SPIRV_UNKNOWN, at, op, "an operation that nobody has checked against the number rules",
         "Write it with integers, decorated + - * and the shared routines.");
    return false;
  }
  if (n < least) {
    find_damage(a, at, n, "an instruction has too few words");
    return false;
  }
  if (form == SPIRV_PLAIN) return true;
  uint32_t result = form == SPIRV_TYPED ? w[2] : w[1];
  if (result && result < a->bound && (form == SPIRV_RESULT || (w[1] && w[1] < a->bound))) return true;
  find_damage(a, at, result, "an id is outside the bound that the header gives");
  return false;
}

/* Drivers fold x + 0, 0 - x and 0 * x whatever is decorated (lavapipe does), and get the sign of zero, or NaN, wrong.
 * x - 0 is x everywhere. */
static bool invites_folding(const audit *a, const uint32_t *w, uint32_t op)
{
  if (op != SpvOpFAdd && op != SpvOpFSub && op != SpvOpFMul && op != SpvOpVectorTimesScalar) return false;
  bool left = flags_of(a, w[3]) & ID_ZERO, right = flags_of(a, w[4]) & ID_ZERO;
  return op == SpvOpFSub ? left : left || right;
}

static void judge_entry(const audit *a, size_t at, const uint32_t *w)
{
  static const char advice[] = "Build with samebit_shader_build, which writes the modes.";
  uint16_t flags = flags_of(a, w[2]);
  if (w[1] != SpvExecutionModelGLCompute)
    find(a, SB_SPIRV_MODE, at, w[1], "an entry point that is no compute shader", "Hand over compute shaders alone.");
  if (!(flags & ID_FUNCTION)) find_damage(a, at, w[2], "the entry point's function is not in the module");
  if (!(flags & ID_KEEPS_SPECIALS))
    find(a, SB_SPIRV_MODE, at, w[2], "the entry point lacks SignedZeroInfNanPreserve 32", advice);
  if (!(flags & ID_ROUNDS_TO_EVEN))
    find(a, SB_SPIRV_MODE, at, w[2], "the entry point lacks RoundingModeRTE 32", advice);
}

static void judge_extended(const audit *a, size_t at, const uint32_t *w)
{
  if (flags_of(a, w[3]) & ID_NEUTRAL_SET) return;
  if (flags_of(a, w[3]) & ID_GLSL_SET)
    find_verdict(a, at, w[4], spirv_extended_verdict(w[4]));
  else
    find(a, SB_SPIRV_EXTENDED, at, w[4], "an extended instruction of a set that nobody has checked",
         "Use the shared routine of samebit/maths.h.");
}

/* Values of floats, and what is done to them. */
static void judge_floats(const audit *a, size_t at, uint32_t op, uint32_t n)
{
  const uint32_t *w = a->words + at;
  find_verdict(a, at, n >= 3 ? w[2] : 0, spirv_operation_verdict(op));
  if (sb_spirv_is_float_arithmetic(op) && !(flags_of(a, w[2]) & ID_NO_CONTRACTION))
    find(a, SB_SPIRV_UNDECORATED, at, w[2], "a float operation lacks NoContraction: devices may fuse it",
         "Build with samebit_shader_build, which decorates before anything optimises; or write precise in GLSL.");
  if (invites_folding(a, w, op))
    find(a, SB_SPIRV_CONSTANT, at, w[2], "arithmetic that drivers fold because an operand is the constant 0",
         "Write what it stands for: x for x + 0, f_neg(x) for 0 - x.");
  bool exchanges = op == SpvOpAtomicExchange || op == SpvOpAtomicCompareExchange;
  if (exchanges && flags_of(a, w[1]) & ID_FLOAT)
    find(a, SB_SPIRV_ATOMIC, at, w[2], "float atomics work in the order of arrival",
         "Gather in a fixed order, or sum integers.");
  if (op == SpvOpGroupNonUniformAllEqual && flags_of(a, w[4]) & ID_FLOAT_VALUE)
    find(a, SB_SPIRV_COMPARISON, at, w[2], "a comparison of floats: devices may take subnormals for zeros",
         "Compare their bits.");
  if (op == SpvOpSpecConstant && flags_of(a, w[1]) & ID_FLOAT)
    find(a, SB_SPIRV_CONSTANT, at, w[2], "a float that is specialised: the driver folds with it, and it may be 0",
         "Hand it over in a buffer or as a push constant.");
  if (op == SpvOpSpecConstantOp && !spirv_may_specialise(w[3]))
    find(a, SB_SPIRV_OPERATION, at, w[2], "float operations on specialisation constants run in the driver",
         "Compute them in the shader.");
}

/* Second pass. */
static void judge_instruction(audit *a, size_t at, uint32_t op, uint32_t n)
{
  const uint32_t *w = a->words + at;
  if (op == SpvOpLine) a->file = w[1], a->line = w[2];
  if (op == SpvOpNoLine) a->line = 0;
  if (op == SpvOpFunction) a->function = w[2];
  judge_floats(a, at, op, n);
  uint32_t least;
  if (spirv_form_of(op, &least) == SPIRV_TYPED && flags_of(a, w[1]) & ID_FLOAT) note(a, at, w[2], ID_FLOAT_VALUE);
  switch (op) {
  case SpvOpCapability:
    if (!spirv_capability_is_known(w[1]))
      find(a, SB_SPIRV_CAPABILITY, at, w[1], "a capability that nobody has checked against the number rules",
           "Do without it; docs/numbers.md lists the rules.");
    break;
  case SpvOpMemoryModel:
    if (w[2] != SpvMemoryModelGLSL450 && w[2] != SpvMemoryModelVulkan)
      find(a, SB_SPIRV_MODE, at, w[2], "a memory model that is not Vulkan's", "Compile for Vulkan 1.2.");
    break;
  case SpvOpTypeFloat:
    if (w[2] != 32 || n != 3)
      find(a, SB_SPIRV_TYPE, at, w[2], "state and arithmetic are 32-bit floats only", "Use float.");
    break;
  case SpvOpExtInst:
    judge_extended(a, at, w);
    break;
  case SpvOpEntryPoint:
    judge_entry(a, at, w);
    break;
  default:
    break;
  }
  if (spirv_ends_block(op)) a->line = 0;
  if (op == SpvOpFunctionEnd) a->function = 0;
}

typedef void each_instruction(audit *, size_t, uint32_t, uint32_t);

/* Calls `each` for every instruction that has its form; false when lengths do not add up. */
static bool walk(audit *a, each_instruction *each, bool tell)
{
  audit silent = *a;
  sb_spirv_findings ignored = {0};
  silent.out = &ignored;
  bool whole = true;
  a->function = a->line = a->file = 0;
  for (size_t at = HEADER_WORDS; at < a->count && whole;) {
    uint32_t n = a->words[at] >> 16, op = a->words[at] & 0xffffu;
    whole = n != 0 && n <= a->count - at;
    if (whole && check_form(tell ? a : &silent, at, op, n)) each(a, at, op, n);
    at += n;
  }
  sb_spirv_findings_clear(&ignored);
  return whole;
}

static bool check_header(audit *a)
{
  const uint32_t *w = a->words;
  if (!w || a->count < HEADER_WORDS || w[0] != SpvMagicNumber)
    find_damage(a, 0, 0,
                w && a->count && w[0] == 0x03022307u ? "SPIR-V in the other byte order"
                                                     : "not SPIR-V: the header is missing or different");
  else if (w[1] < OLDEST_VERSION || w[1] > NEWEST_VERSION || (w[1] & 0xffu))
    find_damage(a, 1, w[1], "not a version of SPIR-V from 1.0 to 1.5");
  else if (w[3] == 0 || w[3] > ID_LIMIT)
    find_damage(a, 3, w[3], "the header's id bound is 0 or above the limit of SPIR-V");
  else
    return true;
  return false;
}

bool sb_spirv_audit(const uint32_t *words, size_t count, sb_spirv_findings *findings)
{
  size_t before = findings->count;
  audit a = {.words = words, .count = count, .out = findings};
  if (!check_header(&a)) return false;
  a.bound = words[3];
  a.ids = calloc(a.bound, sizeof *a.ids);
  a.names = calloc(a.bound, sizeof *a.names);
  if (!a.ids || !a.names) {
    findings->out_of_memory = true;
  } else {
    bool whole = walk(&a, note_instruction, false);
    if (whole && a.function) find_damage(&a, count, 0, "the module ends inside a function");
    if (whole)
      walk(&a, judge_instruction, true);
    else
      find_damage(&a, count, 0, "an instruction is longer than the module, or has no length");
    a.function = a.line = 0;
    /* A module without an entry point passes vacuously, so it is refused. */
    bool entry = false;
    for (uint32_t id = 0; id < a.bound && !entry; id++) entry = (a.ids[id] & ID_ENTRY) != 0;
    if (!entry) find_damage(&a, count, 0, "the module has no entry point");
  }
  free(a.ids);
  free(a.names);
  return findings->count == before && !findings->left_out && !findings->out_of_memory;
}
