/* What the opcode tests must find: a fused operation and an estimate. Compiled for x86-64 with what it needs. */
#include <immintrin.h>

void opcode_fixture(float *x);

void opcode_fixture(float *x)
{
#ifdef FIXTURE_FUSED
  _mm_storeu_ps(x, _mm_fmadd_ps(_mm_loadu_ps(x), _mm_loadu_ps(x + 4), _mm_loadu_ps(x + 8)));
#else
  _mm_storeu_ps(x, _mm_rsqrt_ps(_mm_loadu_ps(x)));
#endif
}
