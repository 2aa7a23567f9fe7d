/* Reading a module's interface. One pass notes where each id is defined and what decorates it, a second looks at the
 * variables. */
#include "spirv_interface.h"

#include <spirv/unified1/spirv.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_WORDS 5
#define ID_LIMIT 4194304u /* as in spirv_audit.c */

typedef struct id_notes {
  uint32_t at;           /* word of the instruction that defines it, or 0 */
  uint32_t set, binding; /* one more than they are; 0 where there is none */
  uint32_t stride;
  uint64_t size; /* bytes of a value of this type; 0 where it has no size */
  /* of a structure: one more than the member that lies last, and what decorates it */
  uint32_t last_member, last_offset, last_stride;
  bool buffer_block;
} id_notes;

typedef struct reader {
  const uint32_t *words;
  size_t count;
  uint32_t bound;
  id_notes *ids;
  uint32_t main_id; /* 0 until it is found */
  sb_spirv_interface *out;
} reader;

static void problem(reader *r, const char *text)
{
  if (!r->out->problem) r->out->problem = text;
}

static id_notes *notes(const reader *r, uint32_t id) { return id && id < r->bound ? &r->ids[id] : NULL; }

/* The instruction that defines an id, if it is `opcode` (0 for any) and has at least `least` words; else NULL. */
static const uint32_t *definition(const reader *r, uint32_t id, uint32_t opcode, uint32_t least)
{
  const id_notes *n = notes(r, id);
  if (!n || !n->at) return NULL;
  const uint32_t *w = r->words + n->at;
  return (!opcode || (w[0] & 0xffffu) == opcode) && w[0] >> 16 >= least ? w : NULL;
}

/* Result ids of what the second pass asks for. */
static uint32_t defined_id(const uint32_t *w, uint32_t n)
{
  switch (w[0] & 0xffffu) {
  case SpvOpTypeBool:
  case SpvOpTypeInt:
  case SpvOpTypeFloat:
  case SpvOpTypeVector:
  case SpvOpTypeMatrix:
  case SpvOpTypeArray:
  case SpvOpTypeRuntimeArray:
  case SpvOpTypeStruct:
  case SpvOpTypePointer:
    return n > 1 ? w[1] : 0;
  case SpvOpConstant:
  case SpvOpConstantComposite:
  case SpvOpSpecConstant:
    return n > 2 ? w[2] : 0;
  default:
    return 0;
  }
}

static void note_decoration(const reader *r, const uint32_t *w, uint32_t n)
{
  id_notes *id = n > 2 ? notes(r, w[1]) : NULL;
  if (!id) return;
  const uint32_t value = n > 3 ? w[3] : 0;
  if (w[2] == SpvDecorationDescriptorSet) id->set = value + 1;
  if (w[2] == SpvDecorationBinding) id->binding = value + 1;
  if (w[2] == SpvDecorationArrayStride) id->stride = value;
  if (w[2] == SpvDecorationBufferBlock) id->buffer_block = true;
}

static void note_member(const reader *r, const uint32_t *w, uint32_t n)
{
  id_notes *id = n > 4 ? notes(r, w[1]) : NULL;
  if (!id) return;
  if (w[3] == SpvDecorationOffset && (!id->last_member || w[4] >= id->last_offset))
    id->last_member = w[2] + 1, id->last_offset = w[4], id->last_stride = 0;
  if (w[3] == SpvDecorationMatrixStride && w[2] + 1 == id->last_member) id->last_stride = w[4];
}

/* The value of an integer constant of 32 bits; 0 where it is none. */
static uint32_t constant(const reader *r, uint32_t id)
{
  const uint32_t *w = definition(r, id, SpvOpConstant, 4);
  if (!w) w = definition(r, id, SpvOpSpecConstant, 4);
  return w ? w[3] : 0;
}

static uint64_t size_of(const reader *r, uint32_t type)
{
  const id_notes *n = notes(r, type);
  return n ? n->size : 0;
}

/* Saturates at 2^32 - 1: hostile arrays multiply. */
static uint64_t limited(uint64_t size) { return size > UINT32_MAX ? UINT32_MAX : size; }

/* Without offsets, as in workgroup memory, the members add up; matrices lie by their stride. */
static uint64_t structure_size(const reader *r, const id_notes *id, const uint32_t *w, uint32_t n)
{
  uint64_t sum = 0;
  for (uint32_t k = 2; k < n; k++) sum = limited(sum + size_of(r, w[k]));
  if (id->last_member == 0 || id->last_member > n - 2) return sum;
  uint32_t type = w[1 + id->last_member];
  const uint32_t *matrix = definition(r, type, SpvOpTypeMatrix, 4);
  uint64_t member = size_of(r, type), strided = matrix ? limited((uint64_t)id->last_stride * matrix[3]) : 0;
  uint64_t end = limited(id->last_offset + (member > strided ? member : strided));
  return end > sum ? end : sum;
}

static uint64_t type_size(const reader *r, const id_notes *id, const uint32_t *w, uint32_t n)
{
  uint64_t element;
  switch (w[0] & 0xffffu) {
  case SpvOpTypeBool:
    return 4;
  case SpvOpTypeInt:
  case SpvOpTypeFloat:
    return n > 2 ? w[2] / 8 : 0;
  case SpvOpTypeVector:
  case SpvOpTypeMatrix:
    return n > 3 ? limited(size_of(r, w[2]) * w[3]) : 0;
  case SpvOpTypeArray:
    element = n > 3 ? size_of(r, w[2]) : 0;
    return element ? limited((id->stride > element ? id->stride : element) * constant(r, w[3])) : 0;
  case SpvOpTypeStruct:
    return structure_size(r, id, w, n);
  default:
    return 0;
  }
}

/* A compute entry point with the name "main": in words, the low byte first. */
static bool is_main(const uint32_t *w, uint32_t n)
{
  return n > 4 && w[1] == SpvExecutionModelGLCompute && w[3] == 0x6e69616du && (w[4] & 0xffu) == 0;
}

static void note_capability(reader *r, uint32_t capability)
{
  sb_spirv_interface *out = r->out;
  for (uint32_t i = 0; i < out->capability_count; i++)
    if (out->capabilities[i] == capability) return;
  if (out->capability_count == SB_SPIRV_CAPABILITIES_MAX)
    problem(r, "it wants more than 32 capabilities");
  else
    out->capabilities[out->capability_count++] = capability;
}

static bool note_all(reader *r)
{
  for (size_t at = HEADER_WORDS; at < r->count;) {
    const uint32_t *w = r->words + at;
    uint32_t n = w[0] >> 16, op = w[0] & 0xffffu;
    if (n == 0 || n > r->count - at || at > UINT32_MAX) return false;
    id_notes *id = notes(r, defined_id(w, n));
    if (id) id->at = (uint32_t)at, id->size = type_size(r, id, w, n);
    if (op == SpvOpCapability && n > 1) note_capability(r, w[1]);
    if (op == SpvOpDecorate) note_decoration(r, w, n);
    if (op == SpvOpMemberDecorate) note_member(r, w, n);
    if (op == SpvOpEntryPoint && is_main(w, n)) r->main_id = w[2];
    at += n;
  }
  return true;
}

static void read_buffer(reader *r, uint32_t variable, bool storage)
{
  const id_notes *n = notes(r, variable);
  if (!n || !n->set || !n->binding)
    problem(r, "a buffer has no set and binding");
  else if (!storage)
    problem(r, "it wants a uniform buffer; only storage buffers are given");
  else if (n->set != 1)
    problem(r, "it wants a descriptor set other than 0");
  else if (n->binding > 64)
    problem(r, "it wants a binding above 63");
  else
    r->out->bindings |= UINT64_C(1) << (n->binding - 1);
}

static void read_variable(reader *r, const uint32_t *w, uint32_t n)
{
  const uint32_t *pointer = n > 3 ? definition(r, w[1], SpvOpTypePointer, 4) : NULL;
  if (!pointer) {
    problem(r, "a variable has no type");
    return;
  }
  uint32_t type = pointer[3];
  switch (w[3]) {
  case SpvStorageClassStorageBuffer:
  case SpvStorageClassUniform: {
    /* An array of buffers has its blocks inside. */
    if (definition(r, type, SpvOpTypeArray, 4) || definition(r, type, SpvOpTypeRuntimeArray, 3)) {
      problem(r, "it wants an array of buffers");
      return;
    }
    const id_notes *block = notes(r, type);
    read_buffer(r, w[2], w[3] == SpvStorageClassStorageBuffer || (block && block->buffer_block));
    break;
  }
  case SpvStorageClassPushConstant: {
    uint64_t size = size_of(r, type);
    if (size > r->out->push_bytes) r->out->push_bytes = (uint32_t)size;
    break;
  }
  case SpvStorageClassWorkgroup:
    r->out->shared_bytes += size_of(r, type);
    break;
  case SpvStorageClassInput:
  case SpvStorageClassPrivate:
  case SpvStorageClassFunction:
    break;
  default:
    problem(r, "it wants images, samplers or other resources than storage buffers");
    break;
  }
}

static void read_local_size(reader *r, const uint32_t *w, uint32_t n)
{
  if (n < 6 || w[1] != r->main_id) return;
  for (int k = 0; k < 3; k++) {
    if (w[2] == SpvExecutionModeLocalSize) r->out->local_size[k] = w[3 + k];
    if (w[2] == SpvExecutionModeLocalSizeId) r->out->local_size[k] = constant(r, w[3 + k]);
  }
}

/* A constant that is decorated as the workgroup's size takes the execution mode's place. */
static void read_built_in_size(reader *r, const uint32_t *w, uint32_t n)
{
  if (n < 4 || w[2] != SpvDecorationBuiltIn || w[3] != SpvBuiltInWorkgroupSize) return;
  const uint32_t *size = definition(r, w[1], SpvOpConstantComposite, 6);
  for (int k = 0; size && k < 3; k++) r->out->local_size[k] = constant(r, size[3 + k]);
}

static void read_all(reader *r)
{
  for (int pass = 0; pass < 2; pass++) /* the constant counts, whatever stands first */
    for (size_t at = HEADER_WORDS; at < r->count; at += r->words[at] >> 16) {
      const uint32_t *w = r->words + at;
      uint32_t n = w[0] >> 16, op = w[0] & 0xffffu;
      if (pass == 0 && op == SpvOpVariable) read_variable(r, w, n);
      if (pass == 0 && (op == SpvOpExecutionMode || op == SpvOpExecutionModeId)) read_local_size(r, w, n);
      if (pass == 1 && op == SpvOpDecorate) read_built_in_size(r, w, n);
    }
  const uint32_t *size = r->out->local_size;
  if (!size[0] || !size[1] || !size[2]) problem(r, "its workgroup has no size");
}

bool sb_spirv_interface_read(const uint32_t *words, size_t count, sb_spirv_interface *out)
{
  *out = (sb_spirv_interface){0};
  reader r = {.words = words, .count = count, .out = out};
  if (!words || count < HEADER_WORDS || words[0] != SpvMagicNumber || words[3] == 0 || words[3] > ID_LIMIT) {
    problem(&r, "it is not SPIR-V");
    return false;
  }
  r.bound = words[3];
  r.ids = calloc(r.bound, sizeof *r.ids);
  if (!r.ids)
    problem(&r, "no memory was left to read it");
  else if (!note_all(&r))
    problem(&r, "it is cut off");
  else if (!r.main_id)
    problem(&r, "it has no compute entry point \"main\"");
  else
    read_all(&r);
  free(r.ids);
  return !out->problem;
}

bool sb_spirv_interface_fits(const sb_spirv_interface *interface, uint32_t buffer_count, uint32_t push_bytes,
                             char *text, size_t size)
{
  uint32_t wanted = 0; /* the number of buffers that reaches the last binding */
  while (wanted < 64 && interface->bindings >> wanted) wanted++;
  if (interface->problem)
    snprintf(text, size, "the shader cannot be bound: %s", interface->problem);
  else if (wanted > buffer_count)
    snprintf(text, size, "the shader wants a storage buffer at binding %u, so %u of them; the pipeline has %u",
             (unsigned)wanted - 1, (unsigned)wanted, (unsigned)buffer_count);
  else if (interface->push_bytes > push_bytes)
    snprintf(text, size, "the shader wants %u bytes of push constants; the pipeline has %u",
             (unsigned)interface->push_bytes, (unsigned)push_bytes);
  else
    return true;
  return false;
}
