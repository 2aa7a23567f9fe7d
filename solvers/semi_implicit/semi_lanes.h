/* What the lane sources of semi_implicit share: host arrays to and from lanes. Included after the width is known. */
#ifndef SAMEBIT_SEMI_LANES_H
#define SAMEBIT_SEMI_LANES_H

#include "semi_implicit_data.h"

#include "samebit/joint_law.h"
#include "samebit/maths.h"
#include "samebit/penalty_contact.h"
#include "samebit/solver_tools.h"

#include "maximal.kernel.h"
#include "semi_implicit.kernel.h"

#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)
#define LANED(name) CONCAT(name##_lanes, SB_LANES)

/* ---- host arrays to and from lanes; an index of UINT32_MAX reads zeros ---- */

static inline F gather(const float *from, const uint32_t *index, uint32_t stride, uint32_t add)
{
  float lane[SB_LANES];
  for (int l = 0; l < SB_LANES; l++) lane[l] = index[l] == UINT32_MAX ? 0.0f : from[(size_t)index[l] * stride + add];
  return f_load(lane);
}

static inline V3 gather_v3(const float *from, const uint32_t *index, uint32_t stride, uint32_t add)
{
  return v3(gather(from, index, stride, add), gather(from, index, stride, add + 1), gather(from, index, stride, add + 2));
}

static inline X7 gather_x7(const float *from, const uint32_t *index)
{
  X7 x;
  x.p = gather_v3(from, index, 7, 0);
  x.q = q4(gather(from, index, 7, 3), gather(from, index, 7, 4), gather(from, index, 7, 5), gather(from, index, 7, 6));
  float none[SB_LANES];
  for (int l = 0; l < SB_LANES; l++) none[l] = index[l] == UINT32_MAX ? 1.0f : 0.0f;
  x.q.w = x.q.w + f_load(none);
  return x;
}

static inline S33 gather_s33(const float *from, const uint32_t *index)
{
  return s33(gather(from, index, 6, 0), gather(from, index, 6, 1), gather(from, index, 6, 2), gather(from, index, 6, 3),
             gather(from, index, 6, 4), gather(from, index, 6, 5));
}

static inline void scatter(float *to, const uint32_t *index, uint32_t stride, uint32_t add, F value, uint32_t used)
{
  float lane[SB_LANES];
  f_store(lane, value);
  for (uint32_t l = 0; l < used; l++) to[(size_t)index[l] * stride + add] = lane[l];
}

static inline void scatter_v3(float *to, const uint32_t *index, uint32_t stride, uint32_t add, V3 v, uint32_t used)
{
  scatter(to, index, stride, add, v.x, used);
  scatter(to, index, stride, add + 1, v.y, used);
  scatter(to, index, stride, add + 2, v.z, used);
}

static inline void scatter_pair(si_wrench_pair *to, const uint32_t *index, SiPair p, uint32_t used)
{
  float *out = (float *)to;
  scatter_v3(out, index, 12, 0, p.b.f, used);
  scatter_v3(out, index, 12, 3, p.b.t, used);
  scatter_v3(out, index, 12, 6, p.a.f, used);
  scatter_v3(out, index, 12, 9, p.a.t, used);
}

static inline SiBody gather_body(const si_tick *t, const uint32_t *body)
{
  const sb_state *s = t->state;
  return si_body(gather_x7(s->body_q, body), gather_v3(t->model->body_com, body, 3, 0), gather_v3(s->body_qd, body, 6, 0),
                 gather_v3(s->body_qd, body, 6, 3), gather(t->inv_mass, body, 1, 0), gather_s33(t->inv_inertia, body),
                 gather(t->share, body, 1, 0));
}

#endif
