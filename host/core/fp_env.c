/* Reads and writes the control word of each supported architecture. */
#include "fp_env.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#define STATUS_MASK 0x3fu     /* sticky exception flags */
#define STANDARD_WORD 0x1f80u /* all exceptions masked, nearest, FTZ and DAZ off */
#define FLUSH_MASK 0x8040u
#define ROUND_MASK 0x6000u
#define ROUND_UP 0x4000u
static uint64_t read_word(void) { return _mm_getcsr(); }
static void write_word(uint64_t word) { _mm_setcsr((unsigned)word); }
#elif defined(__aarch64__)
#define STATUS_MASK 0u
#define STANDARD_WORD 0u
#define FLUSH_MASK 0x1080000u /* FZ, FZ16 */
#define ROUND_MASK 0xc00000u
#define ROUND_UP 0x400000u
static uint64_t read_word(void)
{
  uint64_t word;
  __asm__ volatile("mrs %0, fpcr" : "=r"(word));
  return word & 0x7ff9f00u;
}
static void write_word(uint64_t word) { __asm__ volatile("msr fpcr, %0" : : "r"(word)); }
#elif defined(__riscv) && defined(__riscv_flen)
#define STATUS_MASK 0x1fu
#define STANDARD_WORD 0u
#define FLUSH_MASK 0u
#define ROUND_MASK 0xe0u
#define ROUND_UP 0x60u
static uint64_t read_word(void)
{
  unsigned long word;
  __asm__ volatile("frcsr %0" : "=r"(word));
  return word;
}
static void write_word(uint64_t word)
{
  unsigned long value = (unsigned long)word;
  __asm__ volatile("fscsr %0" : : "r"(value));
}
#elif defined(__s390x__)
#define STATUS_MASK 0x00f8ff00u
#define STANDARD_WORD 0u
#define FLUSH_MASK 0u
#define ROUND_MASK 0x7u
#define ROUND_UP 0x2u
static uint64_t read_word(void)
{
  uint32_t word;
  __asm__ volatile("efpc %0" : "=d"(word));
  return word;
}
static void write_word(uint64_t word)
{
  uint32_t value = (uint32_t)word;
  __asm__ volatile("sfpc %0" : : "d"(value));
}
#elif defined(__powerpc64__)
#define STATUS_MASK 0xfffff000u /* sticky exception flags and result class */
#define STANDARD_WORD 0u
#define FLUSH_MASK 0x4u /* non-IEEE mode */
#define ROUND_MASK 0x3u
#define ROUND_UP 0x2u
static uint64_t read_word(void)
{
  double word;
  uint64_t bits;
  __asm__ volatile("mffs %0" : "=d"(word));
  __builtin_memcpy(&bits, &word, sizeof bits);
  return bits & 0xffffffffu;
}
static void write_word(uint64_t word)
{
  double value;
  __builtin_memcpy(&value, &word, sizeof value);
  __asm__ volatile("mtfsf 255, %0" : : "d"(value));
}
#elif defined(__SOFTFP__) || defined(__riscv_float_abi_soft) || defined(__wasm__) /* nothing to set */
#define STATUS_MASK 0u
#define STANDARD_WORD 0u
#define FLUSH_MASK 0u
#define ROUND_MASK 0u
#define ROUND_UP 0u
static uint64_t read_word(void) { return 0; }
static void write_word(uint64_t word) { (void)word; }
#else
#error "Samebit: fp_env.c does not know this processor's floating-point control word"
#endif

sb_fp_env sb_fp_env_enter(void)
{
  sb_fp_env saved = {read_word()};
  if ((saved.control & ~(uint64_t)STATUS_MASK) != STANDARD_WORD) write_word(STANDARD_WORD);
  return saved;
}

void sb_fp_env_leave(sb_fp_env saved)
{
  if ((read_word() ^ saved.control) & ~(uint64_t)STATUS_MASK) write_word(saved.control);
}

void sb_fp_env_make_hostile(void) { write_word(STANDARD_WORD | FLUSH_MASK | ROUND_UP); }

bool sb_fp_env_is_standard(void) { return (read_word() & ~(uint64_t)STATUS_MASK) == STANDARD_WORD; }

const char *sb_fp_env_fault(void)
{
  uint64_t word = read_word();
  bool flush = (word & FLUSH_MASK) != 0;
  bool round = (word & ROUND_MASK) != 0;
  if (flush && round) return "subnormals flushed, rounding mode";
  if (flush) return "subnormals flushed";
  if (round) return "rounding mode";
  return sb_fp_env_is_standard() ? "none" : "exception traps";
}
