/* Code for another architecture, as little as has an entry; with -ffp-contract=fast it holds a fused operation. */
extern const int samebit_plugin;
const int samebit_plugin = 1;
float fixture_sum(float a, float b, float c) __attribute__((visibility("hidden"), noinline));
float fixture_sum(float a, float b, float c)
{
#ifdef HALF_FLOAT
  __asm__ volatile(".byte 0x62, 0xf5, 0x7e, 0x08, 0x58, 0xc2"); /* vaddsh, of AVX512-FP16 */
#endif
  return a * b + c;
}
