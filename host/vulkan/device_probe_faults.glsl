/* What faulty devices would answer, so that the probe can be seen to see it. Without a PROBE_FAULT_NAME nothing
 * changes. Every fault is worked out with sound operations: it looks the same on every device, and the audit has
 * nothing against it. */

bool fault_on(uint check, uint first, uint last) { return check >= first && check <= last; }

uint fault_flushed(uint u) { return (u & 0x7f800000u) == 0u ? u & 0x80000000u : u; }

/* The neighbour of u towards zero. */
uint fault_shorter(uint u) { return (u & 0x7fffffffu) == 0u ? u : u - 1u; }

/* The sum rounded towards zero: the rounded sum, less one unit where it went beyond the true one. */
uint fault_truncated_sum(float a, float b)
{
  F2 s = f2_sum(a, b);
  bool beyond = s.lo != 0.0 && (f_bits(s.hi) >> 31) != (f_bits(s.lo) >> 31);
  return beyond ? fault_shorter(f_bits(s.hi)) : f_bits(s.hi);
}

/* a * b + c with one rounding, as near as pairs come: the lost parts of product and sum are added at the end. */
float fault_fused(float a, float b, float c)
{
  F2 p = f2_product(a, b);
  F2 s = f2_sum(p.hi, c);
  float r = s.hi + (s.lo + p.lo);
  return f_is_finite(r) ? r : a * b + c;
}

ProbeWords probe_fault(uint check, uint ua, uint ub, uint uc, ProbeWords w)
{
  float a = f_from_bits(ua), b = f_from_bits(ub), c = f_from_bits(uc);
#ifdef PROBE_FAULT_FLUSH_RESULT
  if (fault_on(check, PROBE_PRODUCT, PROBE_DIFFERENCE))
    w = probe_words(fault_flushed(w.first), fault_flushed(w.second));
#endif
#ifdef PROBE_FAULT_FLUSH_OPERAND
  if (check <= PROBE_DIFFERENCE) w = probe_check(check, fault_flushed(ua), fault_flushed(ub), fault_flushed(uc));
#endif
#ifdef PROBE_FAULT_FLUSH_DIFFERENCE
  if (check == PROBE_DIFFERENCE) w = probe_words(fault_flushed(w.first), fault_flushed(w.second));
#endif
#ifdef PROBE_FAULT_FLUSH_EARLY
  /* Tiny before rounding: a product that rounds up to the smallest normal number becomes zero. */
  if (check == PROBE_PRODUCT && (w.first & 0x7fffffffu) == 0x00800000u) {
    float scaled = f_abs(a) > f_abs(b) ? a * (b * 16777216.0) : (a * 16777216.0) * b;
    if (f_abs(scaled) < f_from_bits(0x0c800000u)) w.first &= 0x80000000u;
  }
#endif
#ifdef PROBE_FAULT_ROUND_TO_ZERO
  if (check == PROBE_SUM && f_is_finite(a + b)) w.first = fault_truncated_sum(a, b);
#endif
#ifdef PROBE_FAULT_FUSED
  if (check == PROBE_CONTRACTION) w = probe_reals(fault_fused(a, b, c), fault_fused(-a, b, c));
#endif
#ifdef PROBE_FAULT_REASSOCIATE
  if (check == PROBE_SUM) w.second = f_bits(a + (b + c));
#endif
#ifdef PROBE_FAULT_CANCEL
  if (check == PROBE_ORDER) w.first = ub;
#endif
#ifdef PROBE_FAULT_DISTRIBUTE
  if (check == PROBE_ORDER) w.second = f_bits(a * (b + c));
#endif
#ifdef PROBE_FAULT_FOLD_ROUNDING
  if (check == PROBE_ROUNDING) w.first = ua;
#endif
#ifdef PROBE_FAULT_FLUSH_CONSTANT
  if (check == PROBE_CONSTANT) w = probe_words(ua, ua & 0x80000000u);
#endif
#ifdef PROBE_FAULT_MINIMUM
  /* A minimum that knows -0 below +0, in place of a selection. */
  if (check == PROBE_SELECTION && ((ua | ub) << 1) == 0u) w = probe_words(ua | ub, ua & ub);
#endif
#ifdef PROBE_FAULT_NEGATE_BY_SUBTRACTION
  if (check == PROBE_NEGATION && ua == 0u) w.first = 0u;
#endif
#ifdef PROBE_FAULT_COMPARE_FLUSHED
  if (check == PROBE_COMPARISON)
    w.first = probe_relations(f_from_bits(fault_flushed(ua)), f_from_bits(fault_flushed(ub)));
#endif
#ifdef PROBE_FAULT_COMPARE_REGISTER
  if (check == PROBE_COMPARISON) w.second = probe_relations(f_from_bits(fault_flushed(f_bits(a * b))), c);
#endif
#ifdef PROBE_FAULT_RECIPROCAL
  if (check == PROBE_DIVISION) w.first = f_bits(a * f_div(1.0, b));
#endif
#ifdef PROBE_FAULT_ROOT_ESTIMATE
  if (check == PROBE_ROOT) w.first = f_bits(f_abs(a) * f_div(1.0, f_sqrt(f_abs(a))));
#endif
#ifdef PROBE_FAULT_CONVERT_WRAPS
  /* What x86 gives outside the range. */
  if (check == PROBE_TO_INTEGER && (w.first == 0x7fffffffu || f_is_nan(a))) w.first = 0x80000000u;
#endif
#ifdef PROBE_FAULT_CONVERT_UNSIGNED
  if (check == PROBE_FROM_INTEGER && (w.first >> 31) != 0u) w.first = 0x4f800000u;
#endif
#ifdef PROBE_FAULT_MULTIPLY_24
  if (check == PROBE_INTEGER) w.first = (ua & 0xffffffu) * (ub & 0xffffffu) + uc;
#endif
#ifdef PROBE_FAULT_UNSIGNED_COMPARE
  if (check == PROBE_SIGNED) w.first = ua < ub ? ua : ub;
#endif
#ifdef PROBE_FAULT_QUOTIENT_BY_FLOAT
  if (check == PROBE_QUOTIENT) w.first = uint(f_to_i(f_div(float(ua >> 8) * 256.0, float(ub >> 8) * 256.0)));
#endif
#ifdef PROBE_FAULT_LEADING_BIT
  if (check == PROBE_BITS && ua == 0u) w.first = 31u;
#endif
#ifdef PROBE_FAULT_CARRY
  if (check == PROBE_WIDE) w.first = (ua >> 16) * (ub >> 16);
#endif
#ifdef PROBE_FAULT_HIGH_WORD
  if (check == PROBE_EXTENDED) w.first &= 0xffffu;
#endif
#ifdef PROBE_FAULT_HASH
  if (check == PROBE_HASH) w.second ^= w.second >> 31;
#endif
  return w;
}
