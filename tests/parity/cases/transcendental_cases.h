/* Parity of transcendental.h. */
#define PARITY_CASES(X)                                                                                                \
  X(case_sincos, 1, 2)                                                                                                 \
  X(case_tan, 1, 1)                                                                                                    \
  X(case_asin_acos, 1, 2)                                                                                              \
  X(case_atan2, 2, 2)                                                                                                  \
  X(case_exp_log, 1, 2)

PARITY_KERNEL(case_sincos)
{
  SinCos r = f_sincos(IN(0));
  OUT(0, r.s); OUT(1, r.c);
}
PARITY_KERNEL(case_tan) { OUT(0, f_tan(IN(0))); }
PARITY_KERNEL(case_asin_acos) { OUT(0, f_asin(IN(0))); OUT(1, f_acos(IN(0))); }
PARITY_KERNEL(case_atan2) { OUT(0, f_atan2(IN(0), IN(1))); OUT(1, f_atan(IN(0))); }
PARITY_KERNEL(case_exp_log) { OUT(0, f_exp(IN(0))); OUT(1, f_log(IN(0))); }
