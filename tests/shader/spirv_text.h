/* The good module and its faults as words, for the tests of the audit and of the command. */
#ifndef SAMEBIT_TESTS_SPIRV_TEXT_H
#define SAMEBIT_TESTS_SPIRV_TEXT_H

#include "shader_build.h"
#include "spirv_faults.h"

/* The header defines a constant in every file that includes it. */
#define kDefaultMaxIdBound spirv_text_unused_bound
#include <spirv-tools/libspirv.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *good_text;

static int read_good(void **state)
{
  (void)state;
  size_t length;
  return sb_shader_read_file(SHADER_FAULTS "/good.spvasm", &good_text, &length, NULL) == SB_OK ? 0 : -1;
}
static int free_good(void **state)
{
  (void)state;
  free(good_text);
  return 0;
}

static sb_spirv assemble(const char *text, const char *name)
{
  spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_2);
  spv_binary binary = NULL;
  spv_diagnostic message = NULL;
  if (spvTextToBinary(context, text, strlen(text), &binary, &message) != SPV_SUCCESS)
    fail_msg("%s: %s", name, message ? message->error : "does not assemble");
  sb_spirv out = {malloc(binary->wordCount * sizeof *out.words), binary->wordCount};
  assert_non_null(out.words);
  memcpy(out.words, binary->code, out.count * sizeof *out.words);
  spvBinaryDestroy(binary);
  spvContextDestroy(context);
  return out;
}

/* The good text with one piece exchanged. */
static sb_spirv with_fault(const spirv_fault *fault)
{
  char *at = strstr(good_text, fault->from);
  if (!at || strstr(at + 1, fault->from)) fail_msg("%s: \"%s\" is not once in the good text", fault->name, fault->from);
  size_t n = strlen(good_text) + strlen(fault->to) + 1;
  char *text = malloc(n);
  assert_non_null(text);
  snprintf(text, n, "%.*s%s%s", (int)(at - good_text), good_text, fault->to, at + strlen(fault->from));
  sb_spirv out = assemble(text, fault->name);
  free(text);
  return out;
}

#endif
