/* Holds the cases of one file to the rule of one text: scalar C, 4 lanes, 8 lanes and GLSL on the first Vulkan device
 * give the same bits. Options: --elements N, --differ (success is that every case differs on the device: for mutants),
 * --without CASE (leave one out, for a mutant that only some devices show), --save DIR (write each case's shader there
 * and stop), --load DIR (take the shaders from there, so that a machine without compilers can run them), and case
 * names. */
#include "parity_batch.h"

#include "shader_build.h"
#include "vulkan_compute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SKIP 77 /* ctest's SKIP_RETURN_CODE */
#define GROUP 64u

typedef struct parity_options {
  uint32_t elements;
  bool differ;
  bool named;
  const char *without;
  const char *save, *load; /* folders */
} parity_options;

/* Values where arithmetic changes its ways; each also with the other sign. */
static const uint32_t specials[] = {0x00000000, 0x00000001, 0x00000002, 0x007fffff, 0x00800000, 0x00800001, 0x0d000000,
                                    0x1a000000, 0x20000000, 0x2b800000, 0x33800000, 0x38800000, 0x3a800000, 0x3e800000,
                                    0x3ed413cd, 0x3effffff, 0x3f000000, 0x3f000001, 0x3f3504f3, 0x3f490fdb, 0x3f7fffff,
                                    0x3f800000, 0x3f800001, 0x3fc00000, 0x3fc90fdb, 0x40000000, 0x40200000, 0x40490fdb,
                                    0x42b17218, 0x42cff1b5, 0x44c80000, 0x4affffff, 0x4b000000, 0x4b000001, 0x4b7fffff,
                                    0x4effffff, 0x4f000000, 0x4f800000, 0x5d5e0b6b, 0x5f800000, 0x7149f2ca, 0x7e800000,
                                    0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000};
#define SPECIALS ((uint32_t)(sizeof specials / sizeof *specials) * 2u)

static uint32_t special(uint32_t i) { return specials[i / 2 % (SPECIALS / 2)] | (i & 1u) << 31; }

static uint32_t mix(uint32_t v)
{
  v ^= v >> 16, v *= 0x7feb352du;
  v ^= v >> 15, v *= 0x846ca68bu;
  return v ^ v >> 16;
}

/* An ordinary number in [-scale, scale). */
static uint32_t ordinary(uint32_t h, float scale)
{
  float x = ((float)(h >> 8) / 8388608.0f - 1.0f) * scale;
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}

/* Word k of element i: first all pairs of special values in neighbouring words, then by turns random bits, ordinary
 * numbers of two sizes, and a mixture. */
static uint32_t input_word(uint32_t i, uint32_t k)
{
  uint32_t h = mix(i * 64u + k + 1u), pairs = SPECIALS * SPECIALS;
  if (i < pairs) return k < 2 ? special(k ? i % SPECIALS : i / SPECIALS) : special(mix(i * 7u + k) % SPECIALS);
  switch (i % 4) {
  case 0:
    return h;
  case 1:
    return ordinary(h, 1.5f);
  case 2:
    return ordinary(h, 40.0f);
  default:
    return h % 5 == 0 ? special(h / 8 % SPECIALS) : h % 5 == 1 ? h : ordinary(h, 4.0f);
  }
}

/* NaN payloads are not part of the contract. */
static uint32_t normalised(uint32_t u) { return (u & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : u; }

static uint32_t compare(const parity_case *c, const char *what, uint32_t count, const uint32_t *in,
                        const uint32_t *want, const uint32_t *got, bool quiet)
{
  uint32_t bad = 0;
  for (uint32_t w = 0; w < count * c->out_words; w++) {
    if (normalised(want[w]) == normalised(got[w])) continue;
    if (bad++ || quiet) continue;
    uint32_t i = w / c->out_words;
    printf("  %s, %s: element %u, output word %u is %08x, scalar C has %08x; input", c->name, what, i, w % c->out_words,
           got[w], want[w]);
    for (uint32_t k = 0; k < c->in_words; k++) printf(" %08x", in[i * c->in_words + k]);
    printf("\n");
  }
  if (bad && !quiet) printf("  %s, %s: %u of %u words differ\n", c->name, what, bad, count * c->out_words);
  return bad;
}

/* The shader of one case, from text made here: prelude, harness, the case file and an entry point. */
static sb_status build_case(const char *name, bool audited, sb_spirv *out, sb_diagnostics *diag)
{
  static const char *const dirs[] = {PARITY_INCLUDE_DIRS};
  sb_shader_options options = {.include_dirs = dirs,
                               .include_dir_count = sizeof dirs / sizeof *dirs,
                               .glslc = PARITY_GLSLC,
                               .spirv_opt = PARITY_SPIRV_OPT[0] ? PARITY_SPIRV_OPT : NULL};
  char text[2048];
  int n = snprintf(text, sizeof text,
                   "#version 450\n#extension GL_GOOGLE_include_directive : require\n"
                   "#include \"prelude.glsl\"\n#include \"parity.h\"\n#include \"%s\"\n"
                   "void main()\n{\n  uint i = gl_GlobalInvocationID.x;\n"
                   "  if (i < parity_push.count) %s(i * parity_push.in_words, i * parity_push.out_words);\n}\n",
                   PARITY_FILE, name);
  if (audited) return sb_shader_build(text, (size_t)n, name, &options, out, diag);
  sb_spirv plain = {0};
  sb_status status = sb_shader_compile(text, (size_t)n, name, &options, &plain, diag);
  if (status == SB_OK)
    status = sb_spirv_decorate(plain.words, plain.count, SB_SPIRV_DECORATE | SB_SPIRV_SET_MODES, out);
  free(plain.words);
  return status;
}

static FILE *open_shader(const char *dir, const char *name, const char *mode)
{
  char path[1024];
  snprintf(path, sizeof path, "%s/%s.spv", dir, name);
  FILE *f = fopen(path, mode);
  if (!f) printf("  cannot open %s\n", path);
  return f;
}

/* Words in the byte order of this machine, as Vulkan takes them. */
static sb_status load_case(const char *name, const char *dir, sb_spirv *out)
{
  enum { MOST = 1 << 20 };
  FILE *f = open_shader(dir, name, "rb");
  out->words = f ? malloc(MOST * sizeof *out->words) : NULL;
  out->count = out->words ? fread(out->words, sizeof *out->words, MOST, f) : 0;
  if (f) fclose(f);
  return out->count > 5 ? SB_OK : SB_E_IO;
}

static bool save_case(const char *name, bool audited, const char *dir, sb_diagnostics *diag)
{
  sb_spirv code = {0};
  bool ok = build_case(name, audited, &code, diag) == SB_OK;
  FILE *f = ok ? open_shader(dir, name, "wb") : NULL;
  ok = f && fwrite(code.words, sizeof *code.words, code.count, f) == code.count;
  if (f && fclose(f)) ok = false;
  free(code.words);
  printf("%s %s\n", ok ? "saved " : "FAILED", name);
  return ok;
}

static sb_status run_on_device(sb_vulkan *vulkan, const parity_case *c, const parity_options *o, const uint32_t *in,
                               uint32_t *out, sb_diagnostics *diag)
{
  size_t in_size = (size_t)o->elements * c->in_words * sizeof *in,
         out_size = (size_t)o->elements * c->out_words * sizeof *out;
  sb_spirv code = {0};
  sb_vulkan_buffer *buffers[2] = {NULL, NULL};
  sb_vulkan_pipeline *pipeline = NULL;
  uint32_t push[3] = {o->elements, c->in_words, c->out_words};
  sb_status status = o->load ? load_case(c->name, o->load, &code) : build_case(c->name, !o->differ, &code, diag);
  if (status == SB_OK) status = sb_vulkan_buffer_create(vulkan, in_size, &buffers[0], diag);
  if (status == SB_OK) status = sb_vulkan_buffer_create(vulkan, out_size, &buffers[1], diag);
  if (status == SB_OK)
    status = sb_vulkan_pipeline_create(vulkan, code.words, code.count, 2, sizeof push, &pipeline, diag);
  if (status == SB_OK) {
    memcpy(sb_vulkan_buffer_data(buffers[0]), in, in_size);
    memset(sb_vulkan_buffer_data(buffers[1]), 0xa5, out_size);
    status = sb_vulkan_run(vulkan, pipeline, buffers, push, (o->elements + GROUP - 1) / GROUP, diag);
  }
  if (status == SB_OK) memcpy(out, sb_vulkan_buffer_data(buffers[1]), out_size);
  sb_vulkan_pipeline_destroy(pipeline);
  sb_vulkan_buffer_destroy(buffers[0]);
  sb_vulkan_buffer_destroy(buffers[1]);
  free(code.words);
  return status;
}

static bool has_eight_lanes(void)
{
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2");
#else
  return true;
#endif
}

/* True when the case holds. */
static bool run_case(sb_vulkan *vulkan, uint32_t number, const parity_case *c, const parity_options *o,
                     sb_diagnostics *diag)
{
  if (c->in_words > PARITY_WORDS_MAX || c->out_words > PARITY_WORDS_MAX || !c->in_words || !c->out_words) {
    printf("  %s: 1 to %d words in and out are possible\n", c->name, PARITY_WORDS_MAX);
    return false;
  }
  uint32_t n = o->elements;
  uint32_t *in = malloc((size_t)n * c->in_words * sizeof *in);
  uint32_t *want = malloc((size_t)n * c->out_words * sizeof *want),
           *got = malloc((size_t)n * c->out_words * sizeof *got);
  bool ok = in && want && got;
  if (!ok) printf("  %s: out of memory\n", c->name);
  if (ok) {
    for (uint32_t i = 0; i < n; i++)
      for (uint32_t k = 0; k < c->in_words; k++) in[i * c->in_words + k] = input_word(i, k);
    parity_batch_lanes1(number, n, in, want);
    parity_batch_lanes4(number, n, in, got);
    ok &= compare(c, "4 lanes", n, in, want, got, false) == 0;
    if (has_eight_lanes()) {
      parity_batch_lanes8(number, n, in, got);
      ok &= compare(c, "8 lanes", n, in, want, got, false) == 0;
    }
    if (vulkan) {
      bool ran = run_on_device(vulkan, c, o, in, got, diag) == SB_OK;
      uint32_t bad = ran ? compare(c, "device", n, in, want, got, o->differ) : 1;
      ok &= ran && (bad != 0) == o->differ;
    }
  }
  free(in);
  free(want);
  free(got);
  printf("%s %s\n", ok ? "ok    " : "FAILED", c->name);
  return ok;
}

int main(int argc, char **argv)
{
  parity_options o = {.elements = 24576};
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--elements") && i + 1 < argc)
      o.elements = ((uint32_t)strtoul(argv[++i], NULL, 10) + 7u) & ~7u;
    else if (!strcmp(argv[i], "--differ"))
      o.differ = true;
    else if (!strcmp(argv[i], "--without") && i + 1 < argc)
      o.without = argv[++i];
    else if (!strcmp(argv[i], "--save") && i + 1 < argc)
      o.save = argv[++i];
    else if (!strcmp(argv[i], "--load") && i + 1 < argc)
      o.load = argv[++i];
    else
      o.named = true;
  }
  sb_diagnostics diag = {0};
  const parity_case *cases = parity_cases();
  if (o.save) {
    bool all = true;
    for (uint32_t c = 0; cases[c].name; c++) all &= save_case(cases[c].name, !o.differ, o.save, &diag);
    sb_diagnostics_clear(&diag);
    return all ? 0 : 1;
  }
  sb_vulkan *vulkan = NULL;
  bool device = sb_vulkan_open(&vulkan, &diag) == SB_OK;
  if (device) {
    const sb_vulkan_info *info = sb_vulkan_about(vulkan);
    printf("device: %s, %s %s\n", info->device, info->driver, info->driver_version);
  } else {
    printf("skipping the device: %s\n", diag.count ? diag.items[0].message : "");
    sb_diagnostics_clear(&diag);
  }
  int failed = 0;
  for (uint32_t c = 0; cases[c].name && (device || !o.differ); c++) {
    bool chosen = !o.named;
    for (int i = 1; i < argc; i++) chosen |= !strcmp(argv[i], cases[c].name);
    if (o.without && !strcmp(o.without, cases[c].name)) chosen = false;
    if (chosen && !run_case(vulkan, c, &cases[c], &o, &diag)) failed = 1;
    for (size_t i = 0; i < diag.count; i++)
      printf("  %s: %s\n", sb_code_name(diag.items[i].code), diag.items[i].message);
    sb_diagnostics_clear(&diag);
  }
  sb_vulkan_close(vulkan);
  return failed ? 1 : device ? 0 : SKIP;
}
