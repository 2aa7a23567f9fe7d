/* The cases of PARITY_FILE as C at one lane width: elements are transposed into lanes and back. */
#include "parity_batch.h"

#include "parity.h"

#include PARITY_FILE

/* Scalar text is compiled three times at one lane, so that the harness finds its three widths. */
#ifndef PARITY_WIDTH
#define PARITY_WIDTH SB_LANES
#endif

#define NAME_OF(lanes) NAME_PASTE(parity_batch_lanes, lanes)
#define NAME_PASTE(name, lanes) name##lanes

static U gather(const uint32_t *words, uint32_t stride)
{
#if SB_LANES == 1
  (void)stride;
  return *words;
#else
  U r;
  for (uint32_t l = 0; l < SB_LANES; l++) r[l] = words[l * stride];
  return r;
#endif
}

static void scatter(U value, uint32_t *words, uint32_t stride)
{
#if SB_LANES == 1
  (void)stride;
  *words = value;
#else
  for (uint32_t l = 0; l < SB_LANES; l++) words[l * stride] = value[l];
#endif
}

void NAME_OF(PARITY_WIDTH)(uint32_t c, uint32_t count, const uint32_t *in, uint32_t *out)
{
  typedef void kernel(const U *, U *);
  static const struct {
    kernel *run;
    uint32_t in_words, out_words;
  } kernels[] = {
#define PARITY_X(name, in_n, out_n) {name, in_n, out_n},
      PARITY_CASES(PARITY_X)
#undef PARITY_X
  };
  const uint32_t ni = kernels[c].in_words, no = kernels[c].out_words;
  for (uint32_t i = 0; i < count; i += SB_LANES) {
    U words_in[PARITY_WORDS_MAX], words_out[PARITY_WORDS_MAX];
    for (uint32_t k = 0; k < ni; k++) words_in[k] = gather(in + i * ni + k, ni);
    for (uint32_t k = 0; k < no; k++) words_out[k] = KU(0xdeadbeefu);
    kernels[c].run(words_in, words_out);
    for (uint32_t k = 0; k < no; k++) scatter(words_out[k], out + i * no + k, no);
  }
}

#if PARITY_WIDTH == 1
const parity_case *parity_cases(void)
{
  static const parity_case cases[] = {
#define PARITY_X(name, in_n, out_n) {#name, in_n, out_n},
      PARITY_CASES(PARITY_X)
#undef PARITY_X
          {0, 0, 0}};
  return cases;
}
#endif
