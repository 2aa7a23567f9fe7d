/* Particles against bodies and against each other, in the kernel dialect: attachments, and what keeps two features (samebit/near_pair.h) apart. */
#ifndef SAMEBIT_XPBD_CONTACT_KERNEL_H
#define SAMEBIT_XPBD_CONTACT_KERNEL_H

#ifndef SB_GLSL
#include "samebit/maths.h"
#include "samebit/near_pair.h"
#endif

/* d lambda of an attachment: c = x - point (m), dc its change since the substep began, r what both answer, kt = kh2 + ch > 0. */
FN V3 xp_attach(V3 c, V3 dc, S33 r, F kh2, F ch, V3 lambda)
{
  F soft = f_div(K(1.0f), kh2 + ch);
  F kc = kh2 * soft;
  F kd = ch * soft;
  V3 e = v3_add(v3_add_scaled(v3_scale(c, kc), dc, kd), v3_scale(lambda, soft));
  S33 a = s33(r.xx + soft, r.yy + soft, r.zz + soft, r.xy, r.xz, r.yz);
  F size = f_max((a.xx + a.yy) + a.zz, K(1.0e-20f));
  F s = f_div(K(1.0f), size);
  S33 unit = s33((a.xx * s) + 1.0e-7f, (a.yy * s) + 1.0e-7f, (a.zz * s) + 1.0e-7f, a.xy * s, a.xz * s, a.yz * s);
  return v3_scale(s33_mul_v3(s33_inverse(unit), e), -s);
}

/* A pair that overlaps should move apart by this part of the overlap in a substep, and at most by that of its thickness; it gets this share of what it lacks. Had it all at
 * once, layers that cannot all have their room would push each other forever. */
#define XP_NEAR_SHARE 0.1f
#define XP_NEAR_MOST 0.01f
#define XP_NEAR_SOFT 0.3f

/* Keeps features `thickness` apart: particle k moves by w_k a_k times this in the substep. f: where the substep began, d = sum of a_k m_k, how far they have
 * moved since. The part of d along the normal may use up what is free between them and no more; friction takes back the rest of d, by at most mu times that push. Each makes
 * the movement smaller in the norm of the masses, since no movement at all is always allowed: however many pairs pull at a particle, they add no energy. Only
 * what moves an overlap apart does. w: sum of w_k a_k^2. */
FN V3 xp_apart(NearPair f, V3 d, F w, F thickness, F mu)
{
  M can = m_and(v3_len2(f.n) > 0.5f, w > 0.0f);
  F answer = f_div(K(1.0f), f_sel(can, f_max(w, K(1.0e-20f)), K(1.0f)));
  F overlap = thickness - f.distance;
  F along = v3_dot(f.n, d);
  F push = f_max(f_min(overlap, K(0.0f)) - along, K(0.0f));
  V3 slid = v3_add_scaled(d, f.n, -along);
  F far = f_sqrt(v3_len2(slid));
  F limit = mu * push;
  F back = f_sel(far > limit, f_div(limit, f_max(far, K(1.0e-20f))), K(1.0f));
  back = f_sel(limit > 0.0f, back, K(0.0f));
  F share = f_sel(can, answer, K(0.0f));
  F way = f_min(f_max(overlap, K(0.0f)) * K(XP_NEAR_SHARE), thickness * K(XP_NEAR_MOST));
  F soft = f_max(way - f_max(along, K(0.0f)), K(0.0f)) * K(XP_NEAR_SOFT);
  return v3_scale(v3_add_scaled(v3_scale(f.n, push + soft), slid, -back), share);
}

#endif
