/* Parity of linear.h and rotation.h. */
#define PARITY_CASES(X)                                                                                                \
  X(case_v3, 7, 19)                                                                                                    \
  X(case_v3_lengths, 6, 8)                                                                                             \
  X(case_q4, 8, 15)                                                                                                    \
  X(case_q4_step, 8, 12)                                                                                               \
  X(case_m33, 21, 30)                                                                                                  \
  X(case_s33, 18, 15)                                                                                                  \
  X(case_x7, 17, 20)                                                                                                   \
  X(case_axis_angle, 4, 8)                                                                                             \
  X(case_rotation_vector, 4, 3)                                                                                        \
  X(case_rpy, 7, 7)                                                                                                    \
  X(case_matrix_forms, 13, 13)

PARITY_KERNEL(case_v3)
{
  V3 a = IN_V3(0); V3 b = IN_V3(3); F s = IN(6);
  OUT_V3(0, v3_add(a, b)) OUT_V3(3, v3_sub(a, b)) OUT_V3(6, v3_neg(a)) OUT_V3(9, v3_scale(a, s))
  OUT_V3(12, v3_add_scaled(a, b, s)) OUT_V3(15, v3_cross(a, b)) OUT(18, v3_dot(a, b));
}
PARITY_KERNEL(case_v3_lengths)
{
  V3 a = IN_V3(0);
  OUT(0, v3_len2(a)); OUT(1, v3_len(a)); OUT_V3(2, v3_normalize_or(a, IN_V3(3))) OUT_V3(5, v3_orthogonal(a))
}
PARITY_KERNEL(case_q4)
{
  Q4 a = IN_Q4(0); Q4 b = IN_Q4(4);
  V3 v = v3(b.x, b.y, b.z);
  OUT_Q4(0, q4_mul(a, b)) OUT_Q4(4, q4_conj(a)) OUT_V3(8, q4_rotate(a, v)) OUT_Q4(11, q4_normalize(b))
}
PARITY_KERNEL(case_q4_step)
{
  Q4 a = IN_Q4(0);
  OUT_Q4(0, q4_integrate(a, IN_V3(4), IN(7))) OUT_V3(4, q4_rotate_inv(a, IN_V3(4))) OUT(7, K(1.0f));
  OUT_Q4(8, q4_integrate_local(a, IN_V3(4), IN(7)))
}
PARITY_KERNEL(case_m33)
{
  M33 a = IN_M33(0); M33 b = IN_M33(9); V3 v = IN_V3(18);
  OUT_M33(0, m33_mul(a, b)) OUT_V3(9, m33_mul_v3(a, v)) OUT_V3(12, m33_tmul_v3(a, v)) OUT_V3(15, v3_mul_m33(v, b))
  OUT_M33(18, m33_transpose(a)) OUT_V3(27, v3_zero())
}
PARITY_KERNEL(case_s33)
{
  S33 a = IN_S33(0);
  OUT_V3(0, s33_mul_v3(a, IN_V3(6))) OUT_S33(3, s33_add(a, IN_S33(6))) OUT_S33(9, s33_rotate(IN_M33(9), a))
}
PARITY_KERNEL(case_x7)
{
  X7 a = IN_X7(0); X7 b = IN_X7(7); V3 v = IN_V3(14);
  X7 c = x7_mul(a, b); X7 d = x7_inv(a);
  OUT_V3(0, c.p) OUT_Q4(3, c.q) OUT_V3(7, d.p) OUT_Q4(10, d.q) OUT_V3(14, x7_point(a, v)) OUT_V3(17, x7_point_inv(a, v))
}
PARITY_KERNEL(case_axis_angle)
{
  OUT_Q4(0, q4_from_axis_angle(IN_V3(0), IN(3))) OUT_Q4(4, q4_from_rotation_vector(IN_V3(0)))
}
PARITY_KERNEL(case_rotation_vector) { OUT_V3(0, rotation_vector_from_q4(IN_Q4(0))) }
PARITY_KERNEL(case_rpy) { OUT_Q4(0, q4_from_rpy(IN_V3(0))) OUT_V3(4, rpy_from_q4(q4_normalize(IN_Q4(3)))) }
PARITY_KERNEL(case_matrix_forms) { OUT_M33(0, q4_to_m33(IN_Q4(0))) OUT_Q4(9, q4_from_m33(IN_M33(4))) }
