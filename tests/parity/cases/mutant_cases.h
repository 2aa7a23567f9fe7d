/* Kernels that break the rules: each has to be seen to differ on the device, or the harness is blind. The audit, which is
 * switched off for them, refuses all but the first. mutant_raw_compare shows only on devices whose comparisons take
 * subnormals for zeros (NVIDIA H200; not lavapipe), so ctest leaves it out and tests/gpu/check.sh shows it. */
#define PARITY_CASES(X)                                                                                                \
  X(mutant_order, 3, 1)                                                                                                \
  X(mutant_plus_zero, 1, 1)                                                                                            \
  X(mutant_zero_minus, 1, 1)                                                                                           \
  X(mutant_zero_times, 1, 1)                                                                                           \
  X(mutant_sine, 1, 1)                                                                                                 \
  X(mutant_raw_compare, 2, 1)

#ifdef SB_GLSL
PARITY_KERNEL(mutant_order) { OUT(0, IN(0) + (IN(1) + IN(2))); }
PARITY_KERNEL(mutant_sine) { OUT(0, sin(IN(0))); }
#else
PARITY_KERNEL(mutant_order) { OUT(0, (IN(0) + IN(1)) + IN(2)); }
PARITY_KERNEL(mutant_sine) { OUT(0, f_sin(IN(0))); }
#endif

/* One text, and still not the same bits: lavapipe folds them. */
PARITY_KERNEL(mutant_plus_zero) { OUT(0, IN(0) + 0.0f); }
PARITY_KERNEL(mutant_zero_minus) { OUT(0, 0.0f - IN(0)); }
PARITY_KERNEL(mutant_zero_times) { OUT(0, 0.0f * IN(0)); }

/* One text; mutants skip the step of the shader build that makes integers of comparisons. */
PARITY_KERNEL(mutant_raw_compare) { MOUT(0, IN(0) < IN(1)); }
